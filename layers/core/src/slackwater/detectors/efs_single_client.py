"""EFS file systems that only one client uses.

## What it finds
A file system with all data in Standard that never had more than one client in the last 36 days, and had one in at least
90 % of the minutes. The daily sum of `ClientConnections` decides most cases, the sum of five minutes the others. The
proposed volume fits the stored data, and the bytes and operations of the busiest five minutes.

## Why it matters
EBS bills the allocated size, EFS the used one: One Zone costs about as much as a volume of twice the used size, and
Regional about four times as much ("Can Amazon EFS replace EBS?", 2025-02-19). Small files also take a volume a fraction
of the time ("The speed of EFS at small capacity", 2021-07-26).

## When it is wrong
- It may not always be the same client. Instances that take turns, Lambda and Fargate cannot use a volume.
- Two mounts on one host count as two clients, so such a host is not found. Two clients for two minutes, and none for
  the next three, look like one. A standby that mounts only at a failover is not seen.
- Five-minute averages hide shorter peaks, and the I/O of metadata on a volume is unknown.
- EBS has no colder class, so file systems with data in one are left out. So are those of a replication.

## What to do
If one instance uses it for good, create a gp3 volume in the zone of that instance, copy the data, and mount it. Other
instances and zones lose access, and you grow the volume. It does not survive its zone: take snapshots.
"""

from dataclasses import replace
from functools import partial
from math import ceil
from typing import Final, NamedTuple

from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.estimates import Alternative
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import difference, size_class
from slackwater.model.resources import EfsFileSystem, EfsReplication
from slackwater.model.units import DAY_S, DAYS_PER_MONTH, FIVE_MINUTES_S, GIB, KIB, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Remedy, Unknown, Verdict
from slackwater.performance import ebs
from slackwater.performance import efs as formulas
from slackwater.rules import efs, examples
from slackwater.rules.ebs_peaks import added
from slackwater.rules.efs import CLIENTS, READ, WRITTEN
from slackwater.rules.efs_throughput import READS, WRITES
from slackwater.rules.examples import Cases, Points, days_ago

A_DAY, FIVE_MINUTES = DAY_S // MINUTE_S, FIVE_MINUTES_S // MINUTE_S
"""The connection-minutes, in a day and in five minutes, of one client that is always connected."""

SCATTERED: Final = 0.01  # the share of points that may be missing: CloudWatch loses some, and the last are late


class SingleClientLimits(Limits):
    """When a file system counts as used by one client, and how much room a volume needs."""

    window_days: int = limit(36, unit="days", ge=31, le=60, why="covers another client on each first Monday")
    watched_days: int = limit(30, unit="days", ge=14, le=60, why="a month without a missing day")
    connected_percent: float = limit(90, unit="percent", gt=0, le=100, why="an instance may restart or be replaced")
    headroom_percent: float = limit(50, unit="percent", ge=0, le=900, why="a volume cannot shrink or grow by itself")


class Work(NamedTuple):
    """What clients moved in the busiest five minutes (None if it was not published) and in a month."""

    peak_mib_s: float | None
    peak_iops: float | None
    monthly_read_bytes: float
    monthly_written_bytes: float


def judge(file_system: EfsFileSystem, seen: Seen, limits: SingleClientLimits) -> Verdict:
    """Flag a file system that only one client uses, and uses all the time."""
    unless_decided(efs.exempt(file_system, seen, limits.watched_days))
    if not file_system.mount_targets:
        return Fine("nothing can mount it")
    if file_system.stored_bytes.get("IA", 0) or file_system.stored_bytes.get("Archive", 0):
        return Fine("it has data in a colder class, and EBS has none")

    days = unless_decided(_by_day(file_system, seen, limits))
    clients, *moved = seen.read(*efs.needs(file_system, FIVE_MINUTES_S, limits.window_days, CLIENTS, READ, WRITTEN))
    if max(clients.present, default=0) > FIVE_MINUTES:
        return Fine("two clients were connected at once")
    whole = seen.finished(clients, file_system.created_at)
    newest = whole.newest(limits.watched_days)
    if newest.missing > SCATTERED * len(newest):
        return Unknown(f"ClientConnections has no data in {newest.missing} of {len(newest)} periods of five minutes")
    connected = sum(newest.present) / FIVE_MINUTES / len(newest.present)
    if connected < limits.connected_percent / 100:
        return Fine("no client was connected all the time")
    moved += seen.read(*efs.needs(file_system, FIVE_MINUTES_S, limits.window_days, READS, WRITES))
    work = _work(*(seen.finished(series, file_system.created_at) for series in moved))
    setting = unless_decided(_setting(file_system, work, limits))
    sure = len(whole) == len(clients) and whole.missing <= SCATTERED * len(whole)
    often = f"connected {connected:.0%} of {limits.watched_days} days"
    share = Evidence("Connected", round(100 * connected, 1), "percent of the time", days.over(A_DAY / 100))
    return replace(_flag(file_system, often, share, work, setting), confidence="medium" if sure else "low")


def _by_day(file_system: EfsFileSystem, seen: Seen, limits: SingleClientLimits) -> Series | Fine | Unknown:
    """Return the connection-minutes of the days that must have points, or the verdict if they decide."""
    (by_day,) = seen.read(*efs.daily(file_system, limits.window_days, CLIENTS))
    if max(by_day.present, default=0) > A_DAY:
        return Fine("more than one client was connected")
    days = seen.finished(by_day, file_system.created_at).newest(limits.watched_days)
    if sum(days.present) < A_DAY * limits.connected_percent / 100 * len(days.present):
        return Fine("no client was connected all the time")
    if days.missing or not len(days):
        return Unknown(f"ClientConnections has no data on {days.missing} of {limits.watched_days} days")
    return days


def _work(read: Series, written: Series, reads: Series, writes: Series) -> Work:
    """Return the load on a volume. EBS splits operations, so it counts at most one more than EFS for each 256 KiB."""
    moved, done = added((read, written)), added((reads, writes))
    split = moved.over(ebs.VOLUME_TYPES["gp3"].operation_bytes).plus(done)
    months = len(read) * FIVE_MINUTES_S / DAY_S / DAYS_PER_MONTH  # a missing point counts as zero
    return Work(
        peak_mib_s=max(moved.over(FIVE_MINUTES_S * MIB).present, default=None),
        peak_iops=max(split.over(FIVE_MINUTES_S).present, default=None),
        monthly_read_bytes=sum(read.present) / months,
        monthly_written_bytes=sum(written.present) / months,
    )


def _setting(file_system: EfsFileSystem, work: Work, limits: SingleClientLimits) -> tuple[int, ebs.Gp3] | Fine:
    """Return GiB and settings of the smallest gp3 volume with headroom for the data and the busiest five minutes."""
    gp3, room = ebs.VOLUME_TYPES["gp3"], limits.headroom_percent
    gib, largest = max(1, ebs.with_headroom(file_system.total_bytes / GIB, room)), gp3.gib[1]
    if gib > largest:
        return Fine("no gp3 volume is as large")
    iops, mib_s = (ebs.with_headroom(peak or 0, room) for peak in (work.peak_iops, work.peak_mib_s))
    speed = ebs.gp3_for(largest, iops, mib_s)
    if speed is None:
        return Fine("no gp3 volume is as fast")
    if speed.iops > gp3.most_iops(gib):
        gib = ceil(speed.iops / (gp3.iops_per_gib or 1))
    return gib, speed


def _flag(file_system: EfsFileSystem, often: str, share: Evidence, work: Work, to: tuple[int, ebs.Gp3]) -> Flagged:
    used_bytes, zone = file_system.total_bytes, file_system.availability_zone
    peaks = ((work.peak_mib_s, 1, "MiB/s"), (work.peak_iops, None, "operations/s"))
    used, efs_type = f"{used_bytes / GIB:.9f}GiB", "one-zone" if zone else "regional"
    inputs = {"used": used, "allocated": f"{to[0]}GiB", "efs": efs_type}
    return Flagged(
        summary=(
            f"{used_bytes / GIB:,.1f} GiB on EFS {'One Zone' if zone else 'Regional'}, and never more than one client,"
            f" {often}: a gp3 volume of {to[0]:,} GiB is enough"
        ),
        confidence="low",
        evidence=(
            Evidence("Most clients at once", 1, "count"),
            share,
            efs.gib("Stored", used_bytes, digits=3),
            *(Evidence("Busiest five minutes", round(v, digits), unit) for v, digits, unit in peaks if v is not None),
            Evidence("Mount targets", file_system.mount_targets, "count"),
        ),
        advice=(),
        fingerprint_inputs=(zone is not None, size_class(used_bytes)),
        caveats=(
            "It may not always be the same client. A Lambda function or a Fargate task cannot use a volume.",
            efs.one_way_caveat("efs-single-client"),
        ),
        remedies=(Remedy(kind="efs-vs-ebs", inputs=inputs, advise=partial(_volume, file_system, to, work)),),
    )


def _volume(file_system: EfsFileSystem, to: tuple[int, ebs.Gp3], work: Work, way: Alternative) -> Advice:
    gib, (iops, mib_s) = to
    provisioned = formulas.provisioned_units(file_system.provisioned_mib_s or 0, file_system.standard_bytes)
    elastic = formulas.elastic_units(work.monthly_read_bytes, work.monthly_written_bytes)  # at least: no metadata
    throughput = elastic if file_system.throughput_mode == "elastic" else (provisioned,)
    plain = ebs.units("gp3", gib, ebs.GP3_INCLUDED_IOPS, ebs.GP3_INCLUDED_MIB_S)
    faster = difference(plain, ebs.units("gp3", gib, iops, mib_s))
    unknown = {"bytes": work.peak_mib_s, "operations": work.peak_iops}
    missing = " or ".join(what for what, peak in unknown.items() if peak is None)
    unseen = f" CloudWatch published no {missing}, so watch those of the volume." if missing else ""
    return Advice(
        action="move-to-gp3",
        summary=(
            f"{way.summary}, with {iops:,} IOPS and {mib_s:,} MiB/s: `aws ec2 create-volume --region"
            f" {file_system.target.region} --volume-type gp3 --size {gib} --iops {iops} --throughput {mib_s}"
            " --encrypted --availability-zone` and the zone of the instance that mounts it. Attach it there, copy the"
            " data, stop the writers, copy what changed, and mount the volume. Take snapshots of it. Delete the file"
            " system if nobody misses it for a month."
        ),
        changes=way.changes and (*way.changes, *(unit for unit in throughput if unit.quantity), *faster),
        risk=(
            "Other instances cannot read it, and you cannot attach it in another zone. You must grow a full volume by"
            f" hand. The copy reads all data once. AWS bills both until you delete the file system.{unseen}"
        ),
        reversible=True,
    )


POINTS = 36 * 288


def connected(points: Points, mib_s: float = 4, kib: float = 64, hours: int = 24) -> dict[tuple[Metric, int], Points]:
    """Return 36 days of connection-minutes by five minutes, with reads of `mib_s` in `kib` operations `hours` a day.

    The current day has 108 points.
    """
    minutes = [0.0 if value is None else value for value in points]
    ends = [len(minutes) - 108 - 288 * n for n in range(36)]
    days = [sum(minutes[max(0, end - 288) : end]) for end in reversed(ends)]
    busy, quiet = 12 * hours, [None] * (288 - 12 * hours)
    per_s = {READ: mib_s * MIB, WRITTEN: 0.5 * MIB, READS: mib_s * MIB / KIB / kib, WRITES: 8.0}
    return {
        (CLIENTS, DAY_S): [*days, sum(minutes[-108:])],
        (CLIENTS, FIVE_MINUTES_S): points,
        **{(metric, FIVE_MINUTES_S): ([rate * FIVE_MINUTES_S] * busy + quiet) * 36 for metric, rate in per_s.items()},
    }


ALWAYS = connected([5.0] * POINTS)
NO_OPERATIONS = {(READS, FIVE_MINUTES_S): None, (WRITES, FIVE_MINUTES_S): None}
TOO_FAST = connected([5.0] * POINTS, mib_s=400, kib=4)
HALF_DAYS = connected(([5.0] * 144 + [0.0] * 144) * 36)
REBOOTS = connected(([5.0] * 2013 + [0.0] * 3) * 5 + [5.0] * 288)
NIGHTLY = connected(([10.0] * 6 + [5.0] * 282) * 36)
HALF_HOURS = connected(([10.0] * 6 + [0.0] * 6) * 864)
WEEKS_AGO = connected([5.0] * 288 + [10.0] * 2 + [0.0] * 4 + [5.0] * (POINTS - 294))
SIX_HOURS = {(CLIENTS, FIVE_MINUTES_S): [5.0] * 9000 + [None] * 96 + [5.0] * 1272}
A_LOST_DAY = {(CLIENTS, DAY_S): [1440.0] * 30 + [None] + [1440.0] * 6}

WIKI = examples.efs(created_at=days_ago(250), stored_bytes={"Standard": 80 * GIB})

alone = Cases(WIKI, ALWAYS)
regional = Cases(replace(WIKI, availability_zone=None, mount_targets=3), ALWAYS)
bare = Cases(WIKI)

DETECTOR = Detector(
    title="EFS file system that one client has for itself",
    kind="waste",
    resource=EfsFileSystem,
    limits=SingleClientLimits,
    reads=(EfsReplication,),
    judge=judge,
    cases=(
        alone("one client, always", Flagged, "connected 100% of 30 days: a gp3 volume of 120 GiB is enough"),
        regional("one client, which restarts every week", Flagged, "EFS Regional", metrics=REBOOTS),
        alone("one client, which reads for an hour a day", Flagged, metrics=connected([5.0] * POINTS, 40, hours=1)),
        alone("one client, and operations that are not published", Flagged, metrics=NO_OPERATIONS),
        alone("one client that does more than a volume can", Fine, "no gp3 volume is as fast", metrics=TOO_FAST),
        alone("two clients", Fine, "more than one", metrics=connected([10.0] * POINTS)),
        alone("a second client for half an hour every night", Fine, "more than one", metrics=NIGHTLY),
        alone("two clients for half of every hour, and none for the other", Fine, "at once", metrics=HALF_HOURS),
        alone("a second client five weeks ago", Fine, "two clients", metrics=WEEKS_AGO),
        alone("one client, by day only", Fine, "no client was connected all the time", metrics=HALF_DAYS),
        alone("scattered points are missing", Flagged, metrics=connected(([5.0] * 199 + [None]) * 51 + [5.0] * 168)),
        alone("six hours without points", Unknown, "96 of 8640 periods", metrics=SIX_HOURS),
        alone("a day without a point", Unknown, "1 of 30 days", metrics=A_LOST_DAY),
        bare("no metrics", Unknown, "30 of 30 days"),
        bare("data in Infrequent Access", Fine, "colder class", stored_bytes={"Standard": 80 * GIB, "IA": 4 * KIB}),
        bare("no mount target", Fine, "nothing can mount", mount_targets=0),
        alone("two weeks old", Fine, "younger than 30 days", created_at=days_ago(14)),
        alone("too large for a volume", Fine, "no gp3 volume is as large", stored_bytes={"Standard": 60_000 * GIB}),
        *examples.exempt_efs(bare),
    ),
)
