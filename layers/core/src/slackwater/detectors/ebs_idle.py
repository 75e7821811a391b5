"""EBS volumes that are attached and that nothing reads or writes.

## What it finds
A data volume on a running instance with less than one operation a day, reads and writes together, on average over the last 35
days: that is longer than any calendar month, so a job that runs once a month is seen. CloudWatch must have watched every one of
the last 14 days, and every day since the instance was last started and it began to watch. Days before that may be missing,
because a stopped instance publishes nothing. The confidence is high only where all of them were seen, and there was not one
operation. On a Multi-Attach volume the operations of all instances count.

## Why it matters
A volume is billed for its size, its provisioned IOPS and its throughput, used or not. One that was made for a migration, or by
a template that nobody looks at, stays mounted for years.

## When it is wrong
A job that runs less often than once a month is not seen, and one of a few writes looks like somebody who listed the devices:
the confidence is medium then. The other way round, a start of the instance mounts the volume, which reads and writes a little:
that alone can hide an idle volume for five weeks. Swap space that was never needed, a spare of a RAID and an emergency
journal do nothing until they are needed: tag them `keep`. A volume without operations may still be read from memory: what
depends on it may not start again without it. On a Xen instance CloudWatch may publish nothing instead of zeros; then the answer
is unknown.

## What to do
Ask the owner. Unmount it, detach it, and wait a week for somebody to miss it; then take a snapshot and delete it. All of that
is a person's work: the command takes the snapshot and nothing else. What a template makes is made again: change that first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from math import isnan
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.fleet import is_root
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.resources import Attachment, Instance, Target, Volume
from slackwater.model.units import DAY_S
from slackwater.model.verdicts import Ask, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.rules import ebs as ebs_removal
from slackwater.rules.series import hole_words

READ = Metric("AWS/EBS", "VolumeReadOps", "Sum", "operations")
WRITTEN = Metric("AWS/EBS", "VolumeWriteOps", "Sum", "operations")


class IdleLimits(Limits):
    """When silence counts."""

    window_days: int = limit(35, unit="days", ge=14, le=450, why="covers a monthly job; CloudWatch keeps 455 days")
    least_days: int = limit(14, unit="days", ge=7, le=450, why="two weekly rhythms without a gap are needed to judge at all")
    operations_per_day: float = limit(
        1, unit="operations per day", gt=0, le=100, why="AWS Compute Optimizer calls a volume with fewer idle"
    )


def judge(volume: Volume, seen: Seen, limits: IdleLimits) -> Verdict:
    """Flag a data volume on a running instance that CloudWatch watched doing nothing."""
    if not volume.attachments:
        return Fine("it is on no instance")
    instances = [seen.fleet.get(Instance, attachment.instance_id) for attachment in volume.attachments]
    known = [instance for instance in instances if instance]
    if len(known) < len(instances):
        return Unknown("an instance that has it is not in the inventory")
    running = [instance for instance in known if instance.state == "running"]
    if not running:
        return Fine(f"its instance {known[0].id} is {known[0].state}")
    match is_root(volume, seen.fleet):
        case True:
            return Fine("an instance starts from it")
        case None:
            return Unknown("nobody says whether an instance starts from it")
    attached = max([volume.created_at, *(one.attached_at for one in volume.attachments if one.attached_at)])
    if seen.age(attached) < timedelta(days=limits.least_days + 1):
        return Fine(f"it was attached less than {limits.least_days} whole days ago")

    writes, reads = (_need(volume, metric, limits) for metric in (WRITTEN, READ))
    if lacking := seen.lacking([writes]):
        return Ask(lacking)
    if _used([seen[writes]], limits):
        return Fine("it is written")
    if lacking := seen.lacking([reads]):
        return Ask(lacking)
    both = [seen[writes], seen[reads]]
    if _used(both, limits):
        return Fine("it is read or written")
    operations = _added(*both)
    started = max(attached, *(instance.launched_at for instance in running))
    finished = seen.finished(operations, operations.start)
    if words := hole_words(finished, limits.least_days, started):
        return Unknown(f"VolumeReadOps or VolumeWriteOps {words}: that is no telemetry, a stopped instance, or idleness on Xen")
    if seen.now.hour and isnan(operations.values[-1]):
        return Unknown("CloudWatch has nothing of today yet")
    return _flag(volume, running, operations, finished)


def _need(volume: Volume, metric: Metric, limits: IdleLimits) -> Need:
    return metric.need(("VolumeId", volume.id), period_s=DAY_S, days=max(limits.window_days, limits.least_days))


def _used(series: Sequence[Series], limits: IdleLimits) -> bool:
    """Whether it did more than an idle volume, on the days that were watched and today together."""
    watched = min(len(one.present) for one in series)
    return sum(sum(one.present) for one in series) >= limits.operations_per_day * max(1, watched)


def _added(writes: Series, reads: Series) -> Series:
    """Operations by day; a day on which one of the two is missing is missing."""
    return Series.of(
        writes.start_s,
        writes.period_s,
        [None if isnan(w) or isnan(r) else w + r for w, r in zip(writes.values, reads.values, strict=True)],
    )


def _flag(volume: Volume, instances: Sequence[Instance], operations: Series, finished: Series) -> Flagged:
    watched, done = len(finished) - finished.missing, sum(operations.present)
    names = " and ".join(instance.name for instance in instances)
    caveats = [*ebs_removal.protecting_caveats(volume, "change it there, or it is made again")]
    owners = {owner for instance in instances if (owner := instance.managed_by)}
    caveats += [f"Its instance is managed by {owner}: change it there, or it is made again." for owner in sorted(owners)]
    if done:
        caveats.append(f"A job of so few operations looks the same: who made these {done:,.0f}?")
    if finished.missing:
        caveats.append(f"Only {watched} of the last {len(finished)} days were seen: a monthly job may be missing.")
    return Flagged(
        summary=(
            f"{ebs_removal.billed_words(volume)} on {names}, and {done:,.0f} operations in {watched} days"
            if done
            else f"{ebs_removal.billed_words(volume)} on {names}, and not one operation in {watched} days"
        ),
        confidence="medium" if done or finished.missing else "high",
        evidence=(
            Evidence(label=f"Reads and writes in {watched} days", value=done, unit="operations", series=operations),
            Evidence(label="Days seen", value=watched, unit="days"),
            Evidence(
                label="Attached to",
                value=", ".join(f"{one.instance_id} as {one.device or 'unknown device'}" for one in volume.attachments),
                unit="words",
            ),
            Evidence(label="Size", value=volume.size_gib, unit="GiB"),
        ),
        advice=(
            ebs_removal.snapshot_and_delete(
                volume,
                "Ask the owner. Unmount it, take it out of the file system table and detach it; wait a week; take a snapshot,"
                " wait until it is completed, and delete the volume by hand.",
                may_delete=False,
            ),
            ebs_removal.keep_as_snapshot(volume),
        ),
        gist=(volume.volume_type, volume.size_gib, *(attachment.instance_id for attachment in volume.attachments)),
        caveats=tuple(caveats),
    )


_TARGET = Target("123456789012", "us-east-1")
_HOST = Instance(
    id="i-0eeeeeeeeeeeeeeee",
    arn="arn:aws:ec2:us-east-1:123456789012:instance/i-0eeeeeeeeeeeeeeee",
    target=_TARGET,
    tags={"Name": "reports"},
    instance_type="m6i.large",
    state="running",
    launched_at=CASE_NOW - timedelta(days=200),
    stopped_at=None,
    detailed_monitoring=False,
    root_device="/dev/xvda",
)
_PEER = replace(_HOST, id="i-0ffffffffffffffff", tags={"Name": "reports-standby"})
_OLD: Final = Attachment(instance_id=_HOST.id, device="/dev/sdf", attached_at=CASE_NOW - timedelta(days=200))
_VOLUME = Volume(
    id="vol-0123123123123123a",
    arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-0123123123123123a",
    target=_TARGET,
    tags={"Name": "reports-staging"},
    volume_type="gp3",
    size_gib=500,
    iops=3000,
    throughput_mib_s=125,
    state="in-use",
    created_at=CASE_NOW - timedelta(days=200),
    availability_zone="us-east-1a",
    multi_attach=False,
    attachments=(_OLD,),
)


def _operations(
    writes: Sequence[float | None], reads: Sequence[float | None] = (0.0,) * 36
) -> dict[tuple[Metric, int], Sequence[float | None]]:
    return {(WRITTEN, DAY_S): writes, (READ, DAY_S): reads}


def _attached(days: float) -> Volume:
    return replace(_VOLUME, attachments=(replace(_OLD, attached_at=CASE_NOW - timedelta(days=days)),))


def _started(days: float) -> Instance:
    return replace(_HOST, launched_at=CASE_NOW - timedelta(days=days))


_NOTHING: Final = [0.0] * 36

DETECTOR = Detector(
    title="EBS volume that nothing reads or writes",
    kind="waste",
    resource=Volume,
    limits=IdleLimits,
    reads=(Instance,),
    judge=judge,
    outranks=("ebs-outdated-type", "ebs-surplus-iops", "ebs-surplus-size", "ebs-surplus-throughput"),
    cases=(
        Case(
            title="five weeks of zeros",
            resource=_VOLUME,
            records=(_HOST,),
            metrics=_operations(_NOTHING),
            expect=Flagged,
            says="500 GiB gp3 on reports, and not one operation in 35 days",
        ),
        Case(
            title="twenty reads when somebody listed its devices",
            resource=_VOLUME,
            records=(_HOST,),
            metrics=_operations(_NOTHING, [0.0] * 20 + [20.0] + [0.0] * 15),
            expect=Flagged,
            says="20 operations in 35 days",
        ),
        Case(
            title="thirty writes on one day: a small job, or somebody who looked",
            resource=_VOLUME,
            records=(_HOST,),
            metrics=_operations([0.0] * 20 + [30.0] + [0.0] * 15),
            expect=Flagged,
            says="30 operations in 35 days",
        ),
        Case(
            title="its instance was stopped for a week, three weeks ago",
            resource=_VOLUME,
            records=(_started(20),),
            metrics=_operations([0.0] * 8 + [None] * 7 + [0.0] * 21, [0.0] * 8 + [None] * 7 + [0.0] * 21),
            expect=Flagged,
            says="not one operation in 28 days",
        ),
        Case(
            title="written every night",
            resource=_VOLUME,
            records=(_HOST,),
            metrics=_operations([900.0] * 36),
            expect=Fine,
            says="it is written",
        ),
        Case(
            title="read, and never written",
            resource=_VOLUME,
            records=(_HOST,),
            metrics=_operations(_NOTHING, [3_000.0] * 36),
            expect=Fine,
            says="read or written",
        ),
        Case(
            title="a copy on the first Monday of the month, almost five weeks ago",
            resource=_VOLUME,
            records=(_HOST,),
            metrics=_operations([0.0] * 2 + [40_000.0] + [0.0] * 33),
            expect=Fine,
            says="it is written",
        ),
        Case(
            title="in use since this morning",
            resource=_VOLUME,
            records=(_HOST,),
            metrics=_operations([0.0] * 35 + [500.0]),
            expect=Fine,
            says="it is written",
        ),
        Case(
            title="a day without metrics",
            resource=_VOLUME,
            records=(_HOST,),
            metrics=_operations([0.0] * 28 + [None] + [0.0] * 7),
            expect=Unknown,
            says="no point on 1 of the last 14 days",
        ),
        Case(
            title="a day without metrics four weeks ago, while its instance ran",
            resource=_VOLUME,
            records=(_HOST,),
            metrics=_operations([0.0] * 7 + [None] + [0.0] * 28),
            expect=Unknown,
            says="no point on 1 of the 35 days since 2026-10-12",
        ),
        Case(
            title="nothing of today, where something may have begun",
            resource=_VOLUME,
            records=(_HOST,),
            metrics=_operations([0.0] * 35 + [None]),
            expect=Unknown,
            says="nothing of today",
        ),
        Case(
            title="no point at all, as an idle volume on Xen may have it",
            resource=_VOLUME,
            records=(_HOST,),
            expect=Unknown,
            says="no point on 14 of the last 14 days",
        ),
        Case(
            title="attached ten days ago",
            resource=_attached(10),
            records=(_HOST,),
            metrics=_operations([0.0] * 10, [0.0] * 10),
            expect=Fine,
            says="attached less than 14 whole days ago",
        ),
        Case(
            title="attached three weeks ago, and nothing since",
            resource=_attached(21.5),
            records=(_HOST,),
            metrics=_operations([0.0] * 22, [0.0] * 22),
            expect=Flagged,
            says="not one operation in 21 days",
        ),
        Case(
            title="shared by two instances: what either does counts",
            resource=replace(_VOLUME, multi_attach=True, attachments=(_OLD, replace(_OLD, instance_id=_PEER.id))),
            records=(_HOST, _PEER),
            metrics=_operations([50.0] * 36),
            expect=Fine,
        ),
        Case(
            title="a root volume",
            resource=replace(_VOLUME, attachments=(replace(_OLD, device="/dev/xvda"),)),
            records=(_HOST,),
            metrics=_operations(_NOTHING),
            expect=Fine,
            says="starts from it",
        ),
        Case(
            title="nobody says which device its instance starts from",
            resource=_VOLUME,
            records=(replace(_HOST, root_device=""),),
            metrics=_operations(_NOTHING),
            expect=Unknown,
            says="whether an instance starts from it",
        ),
        Case(
            title="on a stopped instance",
            resource=_VOLUME,
            records=(replace(_HOST, state="stopped"),),
            expect=Fine,
            says="is stopped",
        ),
        Case(
            title="on no instance",
            resource=replace(_VOLUME, state="available", attachments=()),
            expect=Fine,
            says="on no instance",
        ),
        Case(title="its instance is being terminated", resource=_VOLUME, expect=Unknown, says="not in the inventory"),
        Case(
            title="instances could not be read",
            resource=_VOLUME,
            unreadable={Instance: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
    ),
)
