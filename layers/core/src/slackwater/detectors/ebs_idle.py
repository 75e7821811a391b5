"""EBS volumes that are attached, and that nothing reads or writes.

## What it finds
A data volume on a running instance with less than one operation a day on average over the last 35 days, so a monthly
job shows. CloudWatch must have recorded each of the last 14 days, and all of each day since the last start of the
instance. The confidence is high only if it recorded all of the window and there was not one operation.

## Why it matters
AWS bills the size, the provisioned IOPS and the throughput of a volume, used or not.

## When it is wrong
- A job that runs less often than once a month does not show. A few writes may be a job.
- A start of the instance reads and writes a little, which can hide an idle volume for five weeks.
- Unused swap space, a spare of a RAID and an emergency journal wait until they are needed. Tag them `keep`.
- Programs may read a volume from memory, and may not start again without it.
- On Xen, CloudWatch may publish nothing instead of zeros. The answer is unknown then.

## What to do
Ask the owner. Unmount and detach the volume, and wait a week. If nobody misses it, take a snapshot and delete it. If a
template creates the volume, change the template first.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from math import isnan
from typing import Final

from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.fleet import is_root
from slackwater.model.metrics import Metric, Series
from slackwater.model.resources import Instance, Volume
from slackwater.model.units import MIB
from slackwater.model.verdicts import Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.rules import advice, ebs, examples
from slackwater.rules.ebs_peaks import READ_BYTES, READS, WRITES, WRITTEN_BYTES
from slackwater.rules.examples import Cases, Metrics, days, days_ago
from slackwater.rules.series import hole_words, whole_days

READ, WRITTEN = READS.total, WRITES.total
LARGEST: Final = {READ_BYTES: MIB, WRITTEN_BYTES: MIB, READS: 1, WRITES: 1}  # by one (EBS, "I/O characteristics")
SAMPLES = Metric("AWS/EBS", "VolumeWriteOps", "SampleCount", "points")
"""How many points CloudWatch has for a day (on Nitro). A day with fewer points than the fullest day lacks data."""

STEPS: Final = (
    "Ask the owner. Unmount it, remove it from the file system table, detach it and wait a week. Then take a snapshot,"
    " wait until it is complete, and delete the volume by hand."
)


class IdleLimits(Limits):
    """When a volume counts as idle."""

    window_days: int = limit(35, unit="days", ge=14, le=450, why="covers a monthly job; CloudWatch keeps 455 days")
    least_days: int = limit(14, unit="days", ge=7, le=450, why="two weekly rhythms without a missing day")
    operations_per_day: float = limit(1, unit="operations per day", gt=0, le=100, why="as in AWS Compute Optimizer")


def judge(volume: Volume, seen: Seen, limits: IdleLimits) -> Verdict:
    """Flag a data volume on a running instance that CloudWatch recorded doing nothing."""
    running = unless_decided(ebs.running(volume, seen))
    if (root := is_root(volume, seen.fleet)) is not False:
        return Fine("an instance boots from it") if root else Unknown("whether an instance boots from it is unknown")
    attached = ebs.attached_at(volume)
    if seen.is_younger(attached, days=limits.least_days + 1):
        return Fine(f"it was attached less than {limits.least_days} whole days ago")

    window = max(limits.window_days, limits.least_days)
    for need, most in zip(ebs.daily(volume, window, *(part.peak for part in LARGEST)), LARGEST.values(), strict=True):
        if (peak := seen.if_read(need)) and sum(peak.present) / most >= limits.operations_per_day * (window + 1):
            return Fine("it is read or written")
    (writes,) = seen.read(*ebs.daily(volume, window, WRITTEN))
    if _used([writes], limits):
        return Fine("it is written")
    (reads,) = seen.read(*ebs.daily(volume, window, READ))
    if _used([writes, reads], limits):
        return Fine("it is read or written")
    operations = writes.plus(reads)
    finished = seen.finished(operations, operations.start)
    began = max(attached, *(one.launched_at for one in running))
    if words := hole_words(finished, limits.least_days, began):
        return Unknown(f"VolumeReadOps or VolumeWriteOps {words}: CloudWatch did not record, or it is idle on Xen")
    if seen.now.hour and isnan(operations.values[-1]):
        return Unknown("CloudWatch has no data for today yet")
    (samples,) = seen.read(*ebs.daily(volume, window, SAMPLES))
    partial, counted = _partial(samples, operations, seen, began)
    if partial:
        return Unknown(f"CloudWatch recorded only a part of {partial} of {counted} days: there may have been I/O")
    stopped, _ = _partial(samples, operations, seen, operations.start)

    known_days, done = len(finished) - finished.missing, sum(operations.present)
    recorded = f"{known_days} of {len(finished)} days"
    caveats = advice.caveats(
        (f"A job of so few operations looks the same. Find out what made these {done:,.0f}.", done),
        (f"CloudWatch recorded only {recorded}. A monthly job may be missing.", finished.missing),
        (f"Before its instance last started, CloudWatch recorded only a part of {stopped} days.", stopped),
    )
    attached_to = ", ".join(f"{one.instance_id} as {one.device or 'unknown device'}" for one in volume.attachments)
    return Flagged(
        summary=(
            f"{ebs.billed_words(volume)} on {' and '.join(instance.name for instance in running)},"
            f" {f'{done:,.0f} operations' if done else 'not one operation'} in {known_days} days"
        ),
        confidence="medium" if done or finished.missing or stopped else "high",
        evidence=(
            Evidence("Reads and writes", done, "operations", series=operations),
            Evidence("Recorded days", known_days, "days"),
            Evidence("Attached to", attached_to, "words"),
            Evidence("Size", volume.size_gib, "GiB"),
        ),
        advice=(ebs.snapshot_and_delete(volume, STEPS, may_delete=False), ebs.keep_as_snapshot(volume)),
        fingerprint_inputs=(volume.volume_type, volume.size_gib, *(one.instance_id for one in volume.attachments)),
        caveats=(*advice.protection(volume), *ebs.managed_instances(running), *caveats),
    )


def _used(series: Sequence[Series], limits: IdleLimits) -> bool:
    """Return whether it did more than an idle volume, on the recorded days and today together."""
    watched = min(len(one.present) for one in series)
    return sum(sum(one.present) for one in series) >= limits.operations_per_day * max(1, watched)


def _partial(samples: Series, operations: Series, seen: Seen, since: datetime) -> tuple[int, int]:
    """Return how many finished days with operations have fewer points than the fullest, and how many there are."""
    counts, known = (seen.finished(one, since) for one in (samples, operations))
    return whole_days(known, counts).missing - known.missing, len(known) - known.missing


HOST = examples.instance(tags={"Name": "reports"})
PEER = replace(HOST, id="i-0ffffffffffffffff", tags={"Name": "reports-standby"})
TODAY = replace(HOST, launched_at=days_ago(0.1))
NAMELESS, RESTARTED = replace(HOST, root_device=""), replace(HOST, launched_at=days_ago(20))
STAGING = examples.volume(HOST)
ON_HOST = STAGING.attachments[0]
AS_ROOT, ON_PEER = replace(ON_HOST, device="/dev/xvda"), replace(ON_HOST, instance_id=PEER.id)
YOUNG, OLDER = (replace(ON_HOST, attached_at=days_ago(age)) for age in (10, 21.5))
OFF = dict.fromkeys((READ, WRITTEN), days(0.0, {range(21, 28): None}))
NEW = dict.fromkeys((READ, WRITTEN), [0.0] * 22)


def wrote(days_ago: int | range, operations: float | None) -> Metrics:
    """Return zeros, except for this many writes on these days."""
    return {WRITTEN: days(0.0, {days_ago: operations})}


AN_HOUR_LOST = {SAMPLES: days(1_440.0, {7: 1_380.0})}
idle = Cases(STAGING, {READ: 0.0, WRITTEN: 0.0, SAMPLES: 1_440.0}, records=(HOST,))
shared = Cases(replace(STAGING, multi_attach=True, attachments=(ON_HOST, ON_PEER)), records=(HOST, PEER))
bare = Cases(STAGING, records=(HOST,))

DETECTOR = Detector(
    title="EBS volume that nothing reads or writes",
    kind="waste",
    resource=Volume,
    limits=IdleLimits,
    reads=(Instance,),
    judge=judge,
    judge_last=True,
    outranks=("ebs-outdated-type", "ebs-surplus-iops", "ebs-surplus-size", "ebs-surplus-throughput"),
    cases=(
        idle("five weeks of zeros", Flagged, "500 GiB gp3 on reports, not one operation in 35 days"),
        idle("twenty reads when someone listed its devices", Flagged, "20 op", metrics={READ: days(0.0, {15: 20.0})}),
        idle("thirty writes on one day", Flagged, "30 operations in 35 days", metrics=wrote(15, 30.0)),
        idle("its instance was stopped for a week", Flagged, "one operation in 28", records=(RESTARTED,), metrics=OFF),
        idle("read, and never written", Fine, "read or written", metrics={READ: 3_000.0}),
        idle("a copy on the first Monday, almost five weeks ago", Fine, "it is written", metrics=wrote(33, 40_000.0)),
        idle("in use since this morning", Fine, "it is written", metrics=wrote(0, 500.0)),
        idle("a day without metrics four weeks ago", Unknown, "1 of the 35 days since", metrics=wrote(28, None)),
        idle("an hour without metrics last week", Unknown, "a part of 1 of 35 days", metrics=AN_HOUR_LOST),
        idle("restarted today, an hour lost", Flagged, "operation in 35", records=(TODAY,), metrics=AN_HOUR_LOST),
        idle("no data for today, when a job may have begun", Unknown, "no data for today", metrics=wrote(0, None)),
        bare("no data at all, as an idle volume on Xen may have it", Unknown, "no data on 14 of the last 14 days"),
        idle("attached ten days ago", Fine, "attached less than 14 whole days ago", attachments=(YOUNG,)),
        idle("attached three weeks ago, and nothing since", Flagged, "in 21 days", attachments=(OLDER,), metrics=NEW),
        shared("shared by two instances: the operations of both count", Fine, "written", metrics={WRITTEN: 50.0}),
        idle("a root volume", Fine, "boots from it", attachments=(AS_ROOT,)),
        idle("the root device of its instance is unknown", Unknown, "boots from it is unknown", records=(NAMELESS,)),
        *examples.without_io(bare),
    ),
)
