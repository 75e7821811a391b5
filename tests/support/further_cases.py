"""Situations at the edge of what detectors flag. The worked cases on their pages have the usual ones."""

from collections.abc import Sequence
from dataclasses import replace
from math import pi, sin
from typing import Any, Final

from slackwater.detectors import ebs_burst_draining as burst
from slackwater.detectors import ebs_outdated_type as outdated
from slackwater.detectors import ebs_surplus_iops as iops
from slackwater.detectors import ebs_surplus_throughput as surplus
from slackwater.detectors import efs_credits_draining as draining
from slackwater.detectors import efs_serial_small_writes as serial
from slackwater.detectors import efs_throughput_mismatch as mismatch
from slackwater.detectors import fsx_sync_export as export
from slackwater.model.detector import AnyDetector, Case
from slackwater.model.units import FIVE_MINUTES_S, GIB, HOUR_S, MIB
from slackwater.model.verdicts import Fine, Flagged, Unknown
from slackwater.rules import ebs, ebs_peaks
from slackwater.rules.ebs_peaks import IOPS_EXCEEDED, READ_BYTES, READS, THROUGHPUT_EXCEEDED, WRITES, WRITTEN_BYTES
from slackwater.rules.efs import METERED
from slackwater.rules.efs_throughput import BALANCE, LEAST_PERMITTED, METADATA_OPERATIONS
from slackwater.rules.efs_throughput import WRITES as EFS_WRITES
from slackwater.rules.examples import (
    ON_NITRO,
    READING_ON_XEN,
    Cases,
    Metrics,
    Points,
    and_hourly,
    days,
    days_ago,
    in_turns,
)

# ebs-burst-draining

FULL, DOWN = burst.FULL, burst.DOWN
balance, down, gp2 = burst.balance, burst.down, burst.gp2


def by_five_minutes(*runs: tuple[float | None, int]) -> Metrics:
    """Return runs, each of a level and its number of points."""
    return {(burst.MEAN, FIVE_MINUTES_S): [level for level, points in runs for _ in range(points)]}


LATE = {
    **balance([100.0] * 13 + [0.0] * 4 + [None] + [0.0] * 4 + [None] * 2),
    **by_five_minutes((100.0, 2_172), (0.0, 50), (None, 3), (0.0, 76), (None, 3)),
}
ENDS_EMPTY = {**balance(*[burst.dip(0, 1)] * 8), **by_five_minutes(*[(100.0, 80), (0.0, 2), (50.0, 206)] * 8)}
LOST_HOUR: Final[list[Points]] = [[*FULL[1:], None], *[FULL] * 4, *DOWN]
SEVEN_DAYS: Final[list[Points]] = [burst.UNSEEN, *[FULL] * 4, *DOWN]
WEEKDAYS = (down(40, 20), FULL, FULL, FULL, down(100, 80), down(80, 60), down(60, 40), down(40, 20))
TWO_DAYS = ([0.0] * 20 + [100.0] * 4, FULL, [0.0] * 20 + [100.0] * 4, FULL)

NO_WORK = [9.0] * 72 + [0.0] * 48 + [9.0] * 72
IDLE_DAYS = {**burst.DARK_DAYS, (READS.total, HOUR_S): NO_WORK, (WRITES.total, HOUR_S): NO_WORK}

BURST = (
    gp2("gone for six hours once a week", Fine, "too short", metrics=balance(burst.dip(0, 6), *[FULL] * 6)),
    gp2("a batch that has just begun", Fine, metrics=balance([100.0] * 22 + [60.0, 20.0])),
    gp2("two days without I/O and metrics", Fine, "come back", metrics=IDLE_DAYS),
    gp2("gone for eleven hours, with lost and late points", Flagged, "the last 11.0 hours", metrics=LATE),
    gp2("gone for 20 hours on two of the seven days", Fine, "too short", metrics=balance(*TWO_DAYS)),
    gp2("a little less every day, and no data of a week ago", Flagged, "about 8", metrics=balance(*LOST_HOUR)),
    gp2("a little less every day, of which seven are known", Flagged, "about 8 more", metrics=balance(*SEVEN_DAYS)),
    gp2("a nightly batch whose last ten minutes have none", Fine, "too short", metrics=ENDS_EMPTY),
    gp2("less from day to day in the working week, and full after it", Fine, metrics=balance(*WEEKDAYS)),
)

# ebs-outdated-type

IN_TURNS = {**outdated.operations(120, 120, outdated.DAY, outdated.NIGHT), **outdated.LONG_QUEUE}
SILENT = {
    READ_BYTES.peak: days(outdated.READ, {range(3, 9): 0.0}),
    WRITTEN_BYTES.peak: days(outdated.WRITTEN, {range(3, 9): 0.0}),
    ebs.BALANCE: days(90.0, {range(3, 9): None}),
}
EXCEEDED = {**outdated.reading(40, 1_000), ebs_peaks.IOPS_EXCEEDED: outdated.RAISED}
SHORT_QUEUE = {key: [0.3] * len(values) for key, values in outdated.LONG_QUEUE.items()}
CHOSEN = {**outdated.AT_LIMIT_NIGHTLY, **SHORT_QUEUE}
NO_QUEUE = outdated.operations(120, 80, outdated.DAY)

OUTDATED = (
    outdated.magnetic("magnetic, and a program that chooses 200 IOPS", Fine, "I/O", metrics=CHOSEN),
    outdated.gp2("gp2 without I/O and BurstBalance for six days", Flagged, "and 125 MiB/s is", metrics=SILENT),
    outdated.large("3,000 GiB gp2 whose IOPS exceeded check raised once", Flagged, "9,000 IOPS", metrics=EXCEEDED),
    outdated.magnetic("magnetic, and the queue is unknown", Unknown, "on 35 days", metrics=NO_QUEUE),
    outdated.magnetic("magnetic, reads by day and writes by night", Fine, "I/O", metrics=IN_TURNS),
)

# ebs-surplus-iops

ON_TWO = (iops.IO2.attachments[0], replace(iops.IO2.attachments[0], instance_id="i-2"))
TWO = (*ON_NITRO, replace(ON_NITRO[0], id="i-2"))
SHARED: dict[str, Any] = {"multi_attach": True, "attachments": ON_TWO, "records": TWO}
UNCHECKED = {IOPS_EXCEEDED: None, THROUGHPUT_EXCEEDED: None}
IN_AN_HOUR = in_turns(range(3), range(6, 9), reads=4_000, writes=3_000)

RAISED_ONCE = days(0.0, {15: 1.0})
COUNTED_ONCE = iops.by_minute(3_000, 0, 256)

IOPS = (
    iops.gp3("an exceeded check was raised once", Fine, "exceed", metrics={IOPS_EXCEEDED: RAISED_ONCE}),
    iops.io2("the throughput check was raised once", Fine, "exceed", metrics={THROUGHPUT_EXCEEDED: RAISED_ONCE}),
    iops.io2("operations of 256 KiB, counted once", Flagged, "at most 6,000 used", metrics=COUNTED_ONCE),
    iops.gp3("reads and writes in turns within an hour", Flagged, "4,000 used in", metrics=IN_AN_HOUR),
    # Counts twice, because CloudWatch's maximum may be that of one instance.
    iops.io2("on two instances, without exceeded checks", Flagged, "at most 3,094 used", metrics=UNCHECKED, **SHARED),
)

# ebs-surplus-throughput

throughput, xen = surplus.gp3, surplus.xen
HOST, M5 = ON_NITRO
RESTARTED, METAL = (replace(HOST, launched_at=days_ago(21)), M5), (HOST, replace(M5, hypervisor="other"))
AGES = (1 / 24, 4, 21)
HOUR_OLD, FOUR_OLD, OLD = (replace(surplus.FAST.attachments[0], attached_at=days_ago(age)) for age in AGES)
LOST_NIGHT = {WRITTEN_BYTES.peak: days(surplus.WRITTEN, {27: None})}
ONCE = {WRITTEN_BYTES.peak: days(surplus.WRITTEN, {27: 35 * surplus.WRITTEN})}
STOPPED_WEEK = {READ_BYTES.peak: days(surplus.READ, {range(22, 27): None})}
FEW_DAYS = {key: [value] * (15 * 288) for key, value in READING_ON_XEN.items()}
NO_BYTES = {next(iter(READING_ON_XEN)): None}
TEN_MINUTES: Metrics = {
    (WRITTEN_BYTES.total, FIVE_MINUTES_S): [None] * 7_000 + [900.0 * MIB * FIVE_MINUTES_S] * 2 + [None] * 3_078,
    (WRITES.total, FIVE_MINUTES_S): [0.0] * 7_000 + [3_600.0 * FIVE_MINUTES_S] * 2 + [0.0] * 3_078,
}

THROUGHPUT = (
    throughput("a busy night four weeks ago, without a point", Unknown, "1 of the 35 days since", metrics=LOST_NIGHT),
    throughput("attached four days ago", Unknown, "less than 14 whole days ago", attachments=(FOUR_OLD,)),
    throughput("one busy night a month, four weeks ago", Fine, metrics=ONCE),
    throughput("stopped for five days", Flagged, "of 30 days", records=RESTARTED, metrics=STOPPED_WEEK),
    throughput("attached three weeks ago", Flagged, "minute of 20 days", attachments=(OLD,)),
    throughput("on bare metal, which publishes as Nitro does", Flagged, "busiest minute", records=METAL),
    xen("on a Xen instance, watched for 15 days", Flagged, "five minutes of 15 days", metrics=FEW_DAYS),
    xen("on a Xen instance for an hour", Unknown, "attached less than 14 days ago", attachments=(HOUR_OLD,)),
    xen("on a Xen instance, busy for ten minutes", Fine, "used its", metrics=TEN_MINUTES),
    xen("on a Xen instance, without bytes of operations", Unknown, "five-minute points", metrics=NO_BYTES),
)

# efs-credits-draining

DAY, EARNED, share = 24, draining.ALL, draining.share
WITHIN_A_DAY = [0.5] * (5 * DAY) + [90.0] * 5 + [0.5] * (5 * DAY - 5)
IMPORT = [0.5] * (12 * DAY) + [90.0] * 5 + [0.5] * (4 * DAY - 5)
NO_LOWER = ([0.9] * 20 + [7.0] * 4) * 15
THREE_HOURS = [0.5] * (15 * DAY - 3) + [95.0] * 3
HOLES = {BALANCE: [0.9 * EARNED] * 160 + [None] * 40 + [0.3 * EARNED] * 160}

CREDITS = (
    share("ten days old, and filled within a day", Unknown, "whether it did the week before", WITHIN_A_DAY),
    share("low, and no lower than a week ago", Fine, "last, if the last week repeats", NO_LOWER, start=0.3),
    share("an import that is over", Fine, "what drained it is over", IMPORT),
    share("a job that has drained for three hours", Fine, "left at the lowest", THREE_HOURS),
    draining.case("low, and without points of a week ago", Unknown, "too few points", metrics=HOLES),
)

# efs-serial-small-writes

ALL_DAY, NO_RUN, case, nightly = serial.ALL_DAY, serial.NO_RUN, serial.case, serial.nightly
LOST = [None if i % 288 in {40, 41} else 340.0 * FIVE_MINUTES_S for i in range(4032)]
SWING = [340 * (1 + 0.3 * sin(2 * pi * i / 288)) for i in range(288 * 14)]
BY_CHANCE = nightly(*[340] * 6, *[120, 380, 90, 400] * 6)
AN_HOUR_FASTER = ([340.0] * 132 + [600.0] * 12 + [340.0] * 144) * 14
SLOW, DOUBLED = nightly(57, 170, 283, *[340] * 24, 600, 600), nightly(*[300] * 12, *[700] * 12)
TWO_POINTS, EARLIER = ({**ALL_DAY, (EFS_WRITES, FIVE_MINUTES_S): points} for points in (LOST, None))

SERIAL = (
    case("near the limit on operations", Fine, "operations may have been", serial.TWO_HOURS, io=90),
    serial.SHARED("all the time, but for two points a day", Flagged, metrics=TWO_POINTS),
    case("a job that takes a quarter of an hour to begin, and is faster for ten minutes", Flagged, "", SLOW),
    case("a job whose rate varies, and is the same for half an hour by chance", Fine, NO_RUN, BY_CHANCE),
    case("a job that goes faster in its second hour", Fine, NO_RUN, DOUBLED),
    case("a rate that swings by day", Fine, NO_RUN, SWING),
    case("the same all day, and faster for an hour", Fine, NO_RUN, AN_HOUR_FASTER),
    serial.SHARED("last written before the window", Unknown, "no data", metrics=EARLIER),
)

# fsx-sync-export

NO_DISKS = [(metric, FIVE_MINUTES_S) for metric in export.DISKS]

EXPORT = (
    export.waits("no metrics of the disks", Unknown, "DiskIopsUtilization has", metrics=dict.fromkeys(NO_DISKS)),
    export.waits("none of the server's own disks", Unknown, export.DISKS[2].name, metrics={NO_DISKS[2]: None}),
)

# efs-throughput-mismatch


def changed(days_ago: int, before: tuple[float, float], since: tuple[float, float]) -> Metrics:
    """Return MiB/s metered and permitted, by five minutes, before and since a day."""
    spans = ((before, (36 - days_ago) * 24), (since, days_ago * 24))
    metered = [one[0] * MIB * FIVE_MINUTES_S for one, hours in spans for _ in range(12 * hours)]
    permitted = [one[1] * MIB for one, hours in spans for _ in range(hours)]
    return {**and_hourly(METERED, metered, 3, 6), (LEAST_PERMITTED, HOUR_S): permitted}


MORE_SMALL = mismatch.moving((1.0, 1380), (99.0, 60), permitted=5120, read_share=0.0, kib=4)
NEWLY_ELASTIC, FOUR_DAYS = changed(3, (0.99, 1.0), (9.0, 5120)), changed(4, (3.0, 64), (64.0, 64))
large = Cases(replace(mismatch.BURSTS, throughput_mode="elastic", stored_bytes={"Standard": 3_000 * GIB}))

NO_OPERATIONS = {METADATA_OPERATIONS: None}

MISMATCH = (
    mismatch.paid("no number of operations", Unknown, "MetadataIOBytes has no data on 14", metrics=NO_OPERATIONS),
    mismatch.paid64("at what is provisioned for four days", Flagged, "for 4 d on 4 of 14 days", metrics=FOUR_DAYS),
    large("Elastic, and more writes a second than any other mode allows", Fine, "operations/s", metrics=MORE_SMALL),
    mismatch.elastic("Elastic for three days, after no burst credits", Unknown, "limit", metrics=NEWLY_ELASTIC),
)

FURTHER: Final[Sequence[tuple[AnyDetector, Sequence[Case]]]] = (
    (burst.DETECTOR, BURST),
    (outdated.DETECTOR, OUTDATED),
    (iops.DETECTOR, IOPS),
    (surplus.DETECTOR, THROUGHPUT),
    (draining.DETECTOR, CREDITS),
    (export.DETECTOR, EXPORT),
    (serial.DETECTOR, SERIAL),
    (mismatch.DETECTOR, MISMATCH),
)
