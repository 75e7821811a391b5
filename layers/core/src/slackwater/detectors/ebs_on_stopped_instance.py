"""EBS volumes of instances that were stopped a month ago or longer.

## What it finds
A volume all of whose instances have been stopped for at least 30 days. EC2 says since when an instance is stopped; where it
does not, the answer is unknown. A volume that was attached to a stopped instance counts from then on. Root volumes count too:
an instance that is not started again costs nothing but its volumes.

## Why it matters
Stopping an instance ends its own bill and nothing else: its volumes are billed for their size, their provisioned IOPS and
their throughput as before.

## When it is wrong
An instance may be stopped on purpose: a machine for a yearly close, a cold standby, a licence server. Tag its volumes `keep`.
A hibernated instance has its memory on its root volume, and loses it with that. What an Auto Scaling group keeps stopped is a
warm pool, and left alone.

## What to do
Ask the owner. What only the data matters of: take a snapshot, wait until it is completed, detach the volume by hand and delete
it. What may be needed whole: make an image of the instance, which holds all of its volumes, and terminate it. One image does
for all of the instance's findings. Its snapshots stay billed: they are counted as if every block were in use. What several
instances share is never what they start from, and has no image. No command here detaches, deletes or terminates anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.fleet import is_root
from slackwater.model.resources import Attachment, Instance, Target, Volume
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import ebs
from slackwater.rules import ebs as ebs_removal

AUTO_SCALING_TAG = "aws:autoscaling:groupName"


class OnStoppedInstanceLimits(Limits):
    """When a stopped instance counts as given up."""

    stopped_days: int = limit(30, unit="days", ge=1, le=3_650, why="a machine that is used once a month was started meanwhile")


def judge(volume: Volume, seen: Seen, limits: OnStoppedInstanceLimits) -> Verdict:
    """Flag a volume that is on nothing but instances that have been stopped for long enough."""
    if not volume.attachments:
        return Fine("it is on no instance")
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
        nameless = next(instance.id for instance in instances if not instance.stopped_at)
        return Unknown(f"EC2 does not say since when its instance {nameless} is stopped")
    attached = [attachment.attached_at for attachment in volume.attachments if attachment.attached_at]
    since = max([*stops, *attached])
    if seen.age(since) < timedelta(days=limits.stopped_days):
        return Fine(f"it has been on a stopped instance for less than {limits.stopped_days} days")
    return _flag(volume, instances, since, seen)


def _flag(volume: Volume, instances: Sequence[Instance], since: datetime, seen: Seen) -> Flagged:
    names = " and ".join(instance.name for instance in instances)
    days, root = seen.age(since).days, is_root(volume, seen.fleet)
    replaceable = root is False or volume.multi_attach  # EBS User Guide, "Multi-Attach": never a boot volume
    caveats = [*ebs_removal.protecting_caveats(volume, "change it there, never behind its back")]
    owners = {owner for instance in instances if (owner := instance.managed_by)}
    caveats += [f"Its instance is managed by {owner}: change it there." for owner in sorted(owners)]
    if not replaceable:
        caveats.append("A hibernated instance has its memory on its root volume: start it once before you make its image.")
    return Flagged(
        summary=f"{ebs_removal.billed_words(volume)} on {names}, stopped for {days} days",
        confidence="high",
        evidence=(
            Evidence(label="On a stopped instance for", value=days, unit="days"),
            Evidence(label="Stopped since", value=f"{since:%Y-%m-%d}", unit="date"),
            Evidence(label="Instances", value=", ".join(instance.id for instance in instances), unit="words"),
            Evidence(label="Root volume", value="yes" if root else "no" if replaceable else "not known", unit="words"),
            Evidence(label="Size", value=volume.size_gib, unit="GiB"),
        ),
        advice=(
            *(_data_advice(volume) if replaceable else ()),
            *((_image(volume, instances[0]),) if len(instances) == 1 else ()),
        ),
        # Started and stopped again is another case.
        gist=(volume.volume_type, volume.size_gib, *(instance.id for instance in instances), f"{since:%Y-%m-%d}"),
        caveats=tuple(caveats),
    )


def _data_advice(volume: Volume) -> tuple[Advice, ...]:
    steps = (
        "Ask the owner; take a snapshot, wait until it is completed, detach the volume by hand and delete it. Take it out of"
        " the instance's file system table before, or the instance may not start again."
    )
    return (
        ebs_removal.snapshot_and_delete(volume, steps, may_delete=False),
        ebs_removal.keep_as_snapshot(volume),
        ebs_removal.keep_archived(volume),
    )


def _image(volume: Volume, instance: Instance) -> Advice:
    """The whole machine, as far as this volume is concerned; the others have findings of their own."""
    return Advice(
        action="image-and-terminate",
        summary=(
            f"Ask the owner; make an image of {instance.name}, which takes a snapshot of every volume that it has, wait until"
            " it is available, and terminate the instance by hand. One image is for all volumes of the instance: make it once"
            " (priced as if every block were in use). Volumes that do not end with the instance are left behind: look."
        ),
        changes=(*ebs.monthly_units(volume), ebs_removal.stored_whole(volume)),
        risk="The image's snapshots are billed for the blocks in use; what is launched from it has new ids and addresses.",
        reversible=True,
        command=(
            f"aws ec2 create-image --region {instance.target.region} --instance-id {instance.id} --no-reboot"
            f" --name {instance.id}-before-termination"
        ),
    )


_TARGET = Target("123456789012", "us-east-1")
_STOPPED = Instance(
    id="i-0cccccccccccccccc",
    arn="arn:aws:ec2:us-east-1:123456789012:instance/i-0cccccccccccccccc",
    target=_TARGET,
    tags={"Name": "qa-windows"},
    instance_type="m5.large",
    state="stopped",
    launched_at=CASE_NOW - timedelta(days=200),
    stopped_at=CASE_NOW - timedelta(days=76),
    detailed_monitoring=False,
    root_device="/dev/xvda",
)
_OTHER = replace(_STOPPED, id="i-0dddddddddddddddd", tags={"Name": "qa-linux"})
_DATA = Volume(
    id="vol-0aaaabbbbccccdddd",
    arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-0aaaabbbbccccdddd",
    target=_TARGET,
    tags={"Name": "qa-data"},
    volume_type="gp3",
    size_gib=120,
    iops=3000,
    throughput_mib_s=125,
    state="in-use",
    created_at=CASE_NOW - timedelta(days=300),
    availability_zone="us-east-1a",
    multi_attach=False,
    attachments=(Attachment(instance_id=_STOPPED.id, device="/dev/sdf", attached_at=CASE_NOW - timedelta(days=300)),),
)
_SHARED = replace(
    _DATA,
    volume_type="io2",
    multi_attach=True,
    attachments=(*_DATA.attachments, replace(_DATA.attachments[0], instance_id=_OTHER.id)),
)


def _since(days: float) -> Instance:
    return replace(_STOPPED, stopped_at=CASE_NOW - timedelta(days=days))


DETECTOR = Detector(
    title="EBS volume on a stopped instance",
    kind="waste",
    resource=Volume,
    limits=OnStoppedInstanceLimits,
    reads=(Instance,),
    judge=judge,
    outranks=("ebs-idle", "ebs-outdated-type", "ebs-surplus-iops", "ebs-surplus-size", "ebs-surplus-throughput"),
    cases=(
        Case(
            title="its instance was stopped 76 days ago",
            resource=_DATA,
            records=(_STOPPED,),
            expect=Flagged,
            says="120 GiB gp3 on qa-windows, stopped for 76 days",
        ),
        Case(
            title="the root volume of that instance",
            resource=replace(_DATA, attachments=(replace(_DATA.attachments[0], device="/dev/xvda"),)),
            records=(_STOPPED,),
            expect=Flagged,
            says="stopped for 76 days",
        ),
        Case(
            title="shared by two instances, both stopped",
            resource=_SHARED,
            records=(_STOPPED, replace(_OTHER, stopped_at=CASE_NOW - timedelta(days=40))),
            expect=Flagged,
            says="on qa-windows and qa-linux, stopped for 40 days",
        ),
        Case(
            title="shared by two stopped instances, and nobody says as which device",
            resource=replace(_SHARED, attachments=tuple(replace(one, device="") for one in _SHARED.attachments)),
            records=(_STOPPED, _OTHER),
            expect=Flagged,
            says="on qa-windows and qa-linux, stopped for 76 days",
        ),
        Case(
            title="shared by two instances, one of which runs",
            resource=_SHARED,
            records=(_STOPPED, replace(_OTHER, state="running", stopped_at=None)),
            expect=Fine,
            says="is running",
        ),
        Case(title="stopped four weeks ago", resource=_DATA, records=(_since(28),), expect=Fine, says="less than 30 days"),
        Case(
            title="attached last week to an instance that has long been stopped",
            resource=replace(_DATA, attachments=(replace(_DATA.attachments[0], attached_at=CASE_NOW - timedelta(days=6)),)),
            records=(_STOPPED,),
            expect=Fine,
            says="less than 30 days",
        ),
        Case(
            title="in the warm pool of an Auto Scaling group",
            resource=_DATA,
            records=(replace(_STOPPED, tags={AUTO_SCALING_TAG: "render"}),),
            expect=Fine,
            says="warm pool of Auto Scaling group render",
        ),
        Case(
            title="EC2 does not say since when it is stopped",
            resource=_DATA,
            records=(replace(_STOPPED, stopped_at=None),),
            expect=Unknown,
            says="does not say since when",
        ),
        Case(
            title="its instance runs",
            resource=_DATA,
            records=(replace(_STOPPED, state="running", stopped_at=None),),
            expect=Fine,
            says="is running",
        ),
        Case(title="its instance is being terminated", resource=_DATA, expect=Unknown, says="not in the inventory"),
        Case(
            title="on no instance",
            resource=replace(_DATA, state="available", attachments=()),
            expect=Fine,
            says="on no instance",
        ),
        Case(
            title="instances could not be read",
            resource=_DATA,
            unreadable={Instance: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
    ),
)
