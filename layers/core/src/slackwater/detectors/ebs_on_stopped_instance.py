"""EBS volumes of instances that have been stopped for a month or longer.

## What it finds
A volume whose instances have all been stopped for at least 30 days, and that has been attached for as long. Root
volumes count too. The answer is unknown if EC2 does not return since when an instance is stopped.

## Why it matters
A stop ends the bill of the instance. AWS still bills the size, the provisioned IOPS and the throughput of its volumes.

## When it is wrong
- Someone stopped it on purpose: a yearly close, a cold standby, a license server. Tag its volumes `keep`.
- A hibernated instance keeps its memory on its root volume. Start it once before you create its image.

## What to do
Ask the owner. If only the data matters, take a snapshot, detach the volume by hand and delete it. If you may need the
instance, create an image of all its volumes and terminate it. No command here detaches, deletes or terminates anything.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from slackwater.model.detector import Detector, Limits, Seen, limit
from slackwater.model.fleet import is_root
from slackwater.model.resources import Instance, Volume
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import ebs as formulas
from slackwater.rules import advice, ebs, examples
from slackwater.rules.examples import Cases, days_ago

AUTO_SCALING_TAG = "aws:autoscaling:groupName"

STEPS: Final = (
    "Ask the owner. Remove the volume from the instance's file system table, or the instance may not start again."
    " Take a snapshot, wait until it is complete, detach the volume by hand and delete it."
)


class OnStoppedInstanceLimits(Limits):
    """When a stopped instance counts as given up."""

    stopped_days: int = limit(30, unit="days", ge=1, le=3_650, why="a monthly machine was started meanwhile")


def judge(volume: Volume, seen: Seen, limits: OnStoppedInstanceLimits) -> Verdict:
    """Flag a volume whose instances have all been stopped for long enough."""
    if not volume.attachments:
        return Fine("it is not attached")
    instances = []
    for attachment in volume.attachments:
        instance = seen.fleet.get(Instance, attachment.instance_id)
        if instance is None:
            return Unknown(f"its instance {attachment.instance_id} is not in the inventory")
        if instance.state != "stopped":
            return Fine(f"its instance {instance.id} is {instance.state}")
        if group := (instance.tags or {}).get(AUTO_SCALING_TAG):
            return Fine(f"its instance {instance.id} is in the warm pool of Auto Scaling group {group}")
        instances.append(instance)
    stops = [instance.stopped_at for instance in instances if instance.stopped_at]
    if len(stops) < len(instances):
        unknown = next(instance.id for instance in instances if not instance.stopped_at)
        return Unknown(f"EC2 did not return since when its instance {unknown} is stopped")
    since = max([*stops, *(one.attached_at for one in volume.attachments if one.attached_at)])
    if seen.is_younger(since, days=limits.stopped_days):
        return Fine(f"it has been on a stopped instance for less than {limits.stopped_days} days")
    return _flag(volume, instances, since, seen)


def _flag(volume: Volume, instances: Sequence[Instance], since: datetime, seen: Seen) -> Flagged:
    names, days = " and ".join(instance.name for instance in instances), seen.age(since).days
    root = is_root(volume, seen.fleet)
    is_data = root is False or volume.multi_attach  # Amazon EBS User Guide, "Multi-Attach": never a boot volume
    hibernated = "A hibernated instance has its memory on its root volume. Start it once before you create its image."
    delete = ebs.snapshot_and_delete(volume, STEPS, may_delete=False)
    data = (delete, ebs.keep_as_snapshot(volume), ebs.keep_archived(volume))
    return Flagged(
        summary=f"{ebs.billed_words(volume)} on {names}, stopped for {days} days",
        confidence="high",
        evidence=(
            Evidence("On a stopped instance for", days, "days"),
            Evidence("Stopped since", f"{since:%Y-%m-%d}", "date"),
            Evidence("Instances", ", ".join(instance.id for instance in instances), "words"),
            Evidence("Root volume", "yes" if root else "no" if is_data else "unknown", "words"),
            Evidence("Size", volume.size_gib, "GiB"),
        ),
        advice=(*(data if is_data else ()), *((_image(volume, instances[0]),) if len(instances) == 1 else ())),
        # If an instance was started and stopped again, that is another finding.
        fingerprint_inputs=(volume.volume_type, volume.size_gib, *(one.id for one in instances), f"{since:%Y-%m-%d}"),
        caveats=(*advice.protection(volume), *ebs.managed_instances(instances), *(() if is_data else (hibernated,))),
    )


def _image(volume: Volume, instance: Instance) -> Advice:
    """Recommend an image of the whole machine, priced for this volume only: other volumes have their own findings."""
    return Advice(
        action="image-and-terminate",
        summary=(
            f"Ask the owner. Create an image of {instance.name}, wait until it is available, and terminate the"
            " instance by hand. One image is for all volumes of the instance, so create it once. Look for volumes"
            " that remain afterwards. The saving assumes that the image stores every block."
        ),
        changes=(*formulas.monthly_units(volume), ebs.stored_whole(volume)),
        risk="AWS bills the used blocks of its snapshots. A new instance has another ID and other addresses.",
        reversible=True,
        command=(
            f"aws ec2 create-image --region {instance.target.region} --instance-id {instance.id} --no-reboot"
            f" --name {instance.id}-before-termination"
        ),
    )


QA = examples.instance(id="i-0cccccccccccccccc", tags={"Name": "qa-windows"}, state="stopped", stopped_at=days_ago(76))
OTHER = replace(QA, id="i-0dddddddddddddddd", tags={"Name": "qa-linux"})
DATA = examples.volume(QA, id="vol-0aaaabbbbccccdddd", size_gib=120, created_at=days_ago(300))
DISK = DATA.attachments[0]
ON_BOTH = (DISK, replace(DISK, instance_id=OTHER.id))
AS_ROOT, LAST_WEEK = replace(DISK, device="/dev/xvda"), replace(DISK, attached_at=days_ago(6))
LATER, STARTED = replace(OTHER, stopped_at=days_ago(40)), replace(OTHER, state="running", stopped_at=None)
NAMELESS = tuple(replace(one, device="") for one in ON_BOTH)
TIMELESS, FOUR_WEEKS = replace(QA, stopped_at=None), replace(QA, stopped_at=days_ago(28))
WARM, RUNNING = replace(QA, tags={AUTO_SCALING_TAG: "render"}), replace(QA, state="running", stopped_at=None)

stopped = Cases(DATA, records=(QA,))
shared = Cases(replace(DATA, volume_type="io2", multi_attach=True, attachments=ON_BOTH), records=(QA, OTHER))

DETECTOR = Detector(
    title="EBS volume on a stopped instance",
    kind="waste",
    resource=Volume,
    limits=OnStoppedInstanceLimits,
    reads=(Instance,),
    judge=judge,
    outranks=("ebs-idle", "ebs-outdated-type", "ebs-surplus-iops", "ebs-surplus-size", "ebs-surplus-throughput"),
    cases=(
        stopped("its instance was stopped 76 days ago", Flagged, "120 GiB gp3 on qa-windows, stopped for 76 days"),
        stopped("the root volume of that instance", Flagged, "stopped for 76 days", attachments=(AS_ROOT,)),
        shared("shared by two stopped instances", Flagged, "and qa-linux, stopped for 40 days", records=(QA, LATER)),
        shared("the same, as an unknown device", Flagged, "and qa-linux, stopped for 76 days", attachments=NAMELESS),
        shared("shared by two instances, one of which runs", Fine, "is running", records=(QA, STARTED)),
        stopped("stopped four weeks ago", Fine, "less than 30 days", records=(FOUR_WEEKS,)),
        stopped("attached to it last week", Fine, "less than 30 days", attachments=(LAST_WEEK,)),
        stopped("in a warm pool", Fine, "warm pool of Auto Scaling group render", records=(WARM,)),
        stopped("the time of the stop is unknown", Unknown, "did not return since", records=(TIMELESS,)),
        stopped("its instance runs", Fine, "is running", records=(RUNNING,)),
        stopped("its instance is being terminated", Unknown, "not in the inventory", records=()),
        stopped("on no instance", Fine, "not attached", state="available", attachments=()),
        stopped("instances could not be read", Unknown, "denied", records=(), unreadable={Instance: "denied"}),
    ),
)
