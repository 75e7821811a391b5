"""EFS file systems that keep in Standard what nobody touches.

## What it finds
A file system of 30 days or more with at least 100 GiB in Standard and no lifecycle policy, at least half of which was neither
read nor written in the last 36 days. EFS does not say how old which file is, so the answer is a bound: a byte that was read or
written is one byte at most, and what is stored beyond all of them lay untouched. How much more is cold, nobody can know.

## Why it matters
Infrequent Access costs about a tenth of Standard. Without a policy nothing ever moves there.

## When it is wrong
Files move whole: of a few huge files that are read in part, less moves than lay untouched, and less is saved. A file below
128 KiB is billed as 128 KiB. Data that is needed at once, once a year, is slower then: tens of milliseconds to the first byte,
and a charge by the GiB. A file system that reads as much in a month as it stores may be cold all the same: that is not found.

CloudWatch may publish nothing instead of zeros while no client is connected. That counts as nothing read or written if it is so
all the time and `StorageBytes` shows that CloudWatch was watching; the confidence is lower. There is no finding where tiering
would take throughput that is used: what a file system may burst, and what provisioned throughput includes, go by what is in
Standard.

## What to do
Set a lifecycle policy: to Infrequent Access after 30 days, and back at the first access, so that nothing is charged for again
and again. Elastic file systems may add Archive. Files move in the days that follow; an empty policy stops it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, NamedTuple

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import EFS_IA_READ, EFS_IA_TIERING, Change, amount, difference, size_class
from slackwater.model.quantities import binary_rate_words
from slackwater.model.resources import EfsFileSystem, EfsLifecycle, EfsReplication, Target
from slackwater.model.settings import EfsLifecycleSetting
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, GIB, MIB, TIB
from slackwater.model.verdicts import Advice, Ask, Confidence, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import efs
from slackwater.rules.advice import by_program
from slackwater.rules.efs import one_way_caveat, put_command

READ = Metric("AWS/EFS", "DataReadIOBytes", "Sum", "bytes")
WRITTEN = Metric("AWS/EFS", "DataWriteIOBytes", "Sum", "bytes")
METERED = Metric("AWS/EFS", "MeteredIOBytes", "Sum", "bytes")
STORED = Metric("AWS/EFS", "StorageBytes", "Average", "bytes")

DAYS_A_MONTH: Final = 365 / 12

LEFT_BYTES: Final = efs.LEAST_BYTES_PER_S / efs.EARNED_BYTES_PER_S_PER_GIB * GIB
"""What earns the least baseline there is: a file system is taken to be no faster once its cold files have moved."""

SCATTERED: Final = 0.01
"""The share of five-minute points that may be missing: CloudWatch loses some, and the last ones come late."""


class ColdDataLimits(Limits):
    """How much must lie untouched, and for how long."""

    standard_gib: int = limit(
        100, unit="GiB", ge=EfsLifecycle.LEAST_STANDARD_GIB, why="below, policies are not read: EFS answers one at a time"
    )
    window_days: int = limit(36, unit="days", ge=31, le=60, why="covers a job on the first Monday of every month")
    quiet_days: int = limit(30, unit="days", ge=30, le=60, why="must be seen whole: the policy's own 30 days")
    cold_percent: float = limit(50, unit="percent", gt=0, le=100, why="files move whole, so the bound needs room")
    headroom_percent: float = limit(20, unit="percent", ge=0, le=400, why="kept above what it uses of what would be left")


class _Touched(NamedTuple):
    """What was read and written, by day; `sure` where every day has a point and the window is whole."""

    read: Series
    written: Series
    days: int
    sure: bool

    @property
    def total_bytes(self) -> float:
        return sum(self.read.present) + sum(self.written.present)

    @property
    def monthly_read_gib(self) -> float:
        return sum(self.read.present) / GIB / self.days * DAYS_A_MONTH


def judge(file_system: EfsFileSystem, seen: Seen, limits: ColdDataLimits) -> Verdict:
    """Flag a file system without a lifecycle policy that stores far more than it reads and writes in a month."""
    standard = file_system.stored_bytes.get("Standard", 0)
    replication = seen.fleet.get(EfsReplication, file_system.id)
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    if standard < limits.standard_gib * GIB:
        return Fine(f"it has less than {limits.standard_gib} GiB in Standard")
    if file_system.is_replica or (replication and replication.role == "destination"):
        return Fine("it is the destination of a replication")
    if seen.age(file_system.created_at) < timedelta(days=limits.quiet_days):
        return Fine(f"it is younger than {limits.quiet_days} days")
    lifecycle = seen.fleet.get(EfsLifecycle, file_system.id)
    if lifecycle is None:
        return Unknown("its lifecycle policies were not read")
    if lifecycle.transition_to_ia or lifecycle.transition_to_archive:
        return Fine("its lifecycle policy moves what is cold")

    warm_bytes = standard * (1 - limits.cold_percent / 100)
    read = _need(file_system, READ, limits)
    if lacking := seen.lacking([read]):
        return Ask(lacking)
    if sum(seen[read].present) > warm_bytes:
        return Fine("it reads so much that most of it may be in use")

    written, stored = _need(file_system, WRITTEN, limits), _need(file_system, STORED, limits, ("StorageClass", "Total"))
    metered = _metered(file_system, limits)
    if lacking := seen.lacking([written, *metered, *((stored,) if _silent(file_system, seen, read) else ())]):
        return Ask(lacking)
    if _silent(file_system, seen, written) and (lacking := seen.lacking([stored])):
        return Ask(lacking)
    touched = _touched(file_system, seen, limits, read, written, stored)
    if isinstance(touched, Unknown):
        return touched
    if touched.total_bytes > warm_bytes:
        return Fine("it reads and writes so much that most of it may be in use")
    for need in metered:
        if answer := _needs_its_throughput(file_system, seen, seen[need], limits, touched):
            return answer
    return _flag(file_system, lifecycle, touched, [seen[need] for need in metered])


def _need(file_system: EfsFileSystem, metric: Metric, limits: ColdDataLimits, *dimensions: tuple[str, str]) -> Need:
    return metric.need(("FileSystemId", file_system.id), *dimensions, period_s=DAY_S, days=limits.window_days)


def _metered(file_system: EfsFileSystem, limits: ColdDataLimits) -> tuple[Need, ...]:
    """What tells whether it needs the throughput that its size gives it: by five minutes where its peaks count, too."""
    if not efs.bursts(file_system):
        return ()
    period_s = FIVE_MINUTES_S if _ceiling(file_system) else DAY_S
    return (METERED.need(("FileSystemId", file_system.id), period_s=period_s, days=limits.window_days),)


def _ceiling(file_system: EfsFileSystem) -> float | None:
    """The bytes a second that it would be held to, where they are fewer than today's: above 1 TiB a burst goes by the size."""
    if file_system.throughput_mode == "provisioned":
        return (file_system.provisioned_mib_s or 0) * MIB
    return efs.burst_bytes_per_s(LEFT_BYTES) if file_system.stored_bytes.get("Standard", 0) > TIB else None


def _silent(file_system: EfsFileSystem, seen: Seen, need: Need) -> bool:
    """Whether a metric was never published."""
    return not seen.finished(seen[need], file_system.created_at).present


def _touched(
    file_system: EfsFileSystem, seen: Seen, limits: ColdDataLimits, read: Need, written: Need, stored: Need
) -> _Touched | Unknown:
    """What was read and written, or why nobody knows."""
    complete = len(seen.finished(seen[read], seen[read].start))
    days = seen.finished(seen[read], file_system.created_at)
    sure = len(days) == complete
    for need in (read, written):
        silent = _silent(file_system, seen, need)
        watched = stored if silent else need
        of_days = seen.finished(seen[watched], file_system.created_at)
        unseen = of_days.since(of_days.end_s - limits.quiet_days * DAY_S).missing
        if unseen or not len(of_days):
            named = f"{need.metric.name} was never published, and StorageBytes" if silent else need.metric.name
            return Unknown(f"{named} has no point on {unseen} of {limits.quiet_days} days")
        sure = sure and not silent and not of_days.missing
    return _Touched(seen[read], seen[written], len(days), sure)


def _needs_its_throughput(
    file_system: EfsFileSystem, seen: Seen, metered: Series, limits: ColdDataLimits, touched: _Touched
) -> Fine | Unknown | None:
    """Why it needs what its size gives it; None where it does not."""
    newest = seen.finished(metered, max(file_system.created_at, seen.now - timedelta(days=limits.quiet_days)))
    if newest.missing > SCATTERED * len(newest) and (newest.present or touched.total_bytes):
        return Unknown(f"MeteredIOBytes has no point in {newest.missing} of {len(newest)} periods: nobody knows what it needs")
    used = metered.present
    average, peak = sum(used) / max(1, len(used)) / metered.period_s, max(used, default=0) / metered.period_s
    room = 1 + limits.headroom_percent / 100
    if (ceiling := _ceiling(file_system)) and peak * room > ceiling:
        return Fine("it bursts faster than it could with less in Standard")
    if file_system.throughput_mode == "provisioned":
        return None
    full, earned = efs.full_credits_bytes(LEFT_BYTES), efs.baseline_bytes_per_s(LEFT_BYTES)
    if average * room > earned or efs.lowest_credits(used, metered.period_s, LEFT_BYTES, full) < full / 2:
        return Fine(f"it uses {binary_rate_words(average)}, on credits that it earns by what is in Standard")
    return None


def _flag(file_system: EfsFileSystem, lifecycle: EfsLifecycle, touched: _Touched, metered: Sequence[Series]) -> Flagged:
    standard = file_system.stored_bytes["Standard"]
    cold_bytes = standard - touched.total_bytes
    confidence: Confidence = "high" if touched.sure and not touched.total_bytes else "medium"
    evidence = [
        Evidence(label="In Standard", value=round(standard / GIB, 1), unit="GiB"),
        Evidence(label="Untouched, at least", value=round(cold_bytes / GIB, 1), unit="GiB"),
        Evidence(
            label="Read by day", value=round(sum(touched.read.present) / GIB, 3), unit="GiB", series=touched.read.over(GIB)
        ),
        Evidence(label="Written", value=round(sum(touched.written.present) / GIB, 3), unit="GiB"),
        Evidence(label="Seen", value=touched.days, unit="days"),
    ]
    caveats = [
        (
            f"Between {cold_bytes / GIB:,.0f} and {standard / GIB:,.0f} GiB are cold: EFS does not say which. The saving is of"
            f" {cold_bytes / GIB:,.0f} GiB, with all that is read in a month read from Infrequent Access. It is more where more"
            " is cold, and less where files are huge and partly in use, because they move whole, or below 128 KiB, because each"
            " is billed as 128 KiB."
        ),
        one_way_caveat("efs-cold-data"),
    ]
    if metered:
        caveats.append(
            f"Its baseline goes by what is in Standard: {binary_rate_words(efs.baseline_bytes_per_s(standard))} now, as little"
            f" as {binary_rate_words(efs.baseline_bytes_per_s(0))} then. It used {_average_words(metered[0])} on average."
        )
    if not touched.read.present or not touched.written.present:
        caveats.append("CloudWatch published nothing instead of zeros; StorageBytes shows that it was watching.")
    if owner := file_system.managed_by:
        caveats.append(f"It is managed by {owner}: change it there.")
    return Flagged(
        summary=(
            f"{standard / GIB:,.0f} GiB in Standard without a lifecycle policy, of which at least {cold_bytes / GIB:,.0f} GiB"
            f" were neither read nor written in {touched.days} days"
        ),
        confidence=confidence,
        evidence=tuple(evidence),
        advice=tuple(_advice(file_system, lifecycle, cold_bytes, touched.monthly_read_gib)),
        gist=(size_class(standard), size_class(cold_bytes)),
        caveats=tuple(caveats),
    )


def _average_words(metered: Series) -> str:
    return binary_rate_words(sum(metered.present) / metered.period_s / max(1, len(metered.present)))


def _advice(file_system: EfsFileSystem, lifecycle: EfsLifecycle, cold_bytes: float, monthly_read_gib: float) -> list[Advice]:
    stored = file_system.stored_bytes
    cold = round(cold_bytes)
    tiered = replace(
        file_system, stored_bytes={**stored, "Standard": stored["Standard"] - cold, "IA": stored.get("IA", 0) + cold}
    )
    charged = Change(EFS_IA_READ, -amount(monthly_read_gib)), Change(EFS_IA_TIERING, -amount(2 * monthly_read_gib))
    to = EfsLifecycleSetting(
        transition_to_ia="AFTER_30_DAYS",
        transition_to_archive=lifecycle.transition_to_archive,
        transition_to_primary=lifecycle.transition_to_primary or "AFTER_1_ACCESS",
    )
    ways = [
        Advice(
            action="tier-to-infrequent-access",
            summary="Let files that nobody touched for 30 days move to Infrequent Access, and back when they are read.",
            changes=(
                *difference(efs.monthly_units(file_system), efs.monthly_units(tiered)),
                *(one for one in charged if one.quantity),
            ),
            risk=(
                "Moving is charged by the GiB, once; so is reading back. The first byte of a cold file takes tens of"
                " milliseconds. The command replaces the whole lifecycle configuration."
            ),
            reversible=True,
            command=put_command(file_system, to),
            setting=by_program(file_system, to),
        )
    ]
    if file_system.throughput_mode == "elastic" and file_system.availability_zone is None:
        ways.append(
            Advice(
                action="tier-to-archive-too",
                summary="The same, and on to Archive what nobody touched for 90 days. How much that is, nothing says.",
                changes=None,
                risk=(
                    "Archive is billed for 90 days at least, and reading from it costs about three times as much. While data is"
                    " there, the throughput mode stays Elastic. The command replaces the whole lifecycle configuration."
                ),
                reversible=True,
                command=put_command(file_system, replace(to, transition_to_archive="AFTER_90_DAYS")),
            )
        )
    return ways


_FILES = EfsFileSystem(
    id="fs-0d4e5f60718293a4b",
    arn="arn:aws:elasticfilesystem:ap-northeast-1:123456789012:file-system/fs-0d4e5f60718293a4b",
    target=Target("123456789012", "ap-northeast-1"),
    tags={"Name": "photo-library"},
    state="available",
    created_at=CASE_NOW - timedelta(days=400),
    throughput_mode="bursting",
    provisioned_mib_s=None,
    performance_mode="generalPurpose",
    availability_zone=None,
    stored_bytes={"Standard": 800 * GIB, "IA": 0, "Archive": 0},
    mount_targets=3,
    is_replica=False,
)
_NO_POLICY = EfsLifecycle(id=_FILES.id, transition_to_ia=None, transition_to_archive=None, transition_to_primary=None)
_LARGE = replace(_FILES, stored_bytes={"Standard": 6 * TIB, "IA": 0, "Archive": 0})
_FIVE_MINUTE_POINTS: Final = 36 * 288

type _Metrics = Mapping[tuple[Metric, int], Sequence[float | None]]


def _moving(read_gib: float, written_gib: float, metered_mib_s: float = 0.01) -> _Metrics:
    """So much every day."""
    return {
        (READ, DAY_S): [read_gib * GIB] * 37,
        (WRITTEN, DAY_S): [written_gib * GIB] * 37,
        (METERED, DAY_S): [metered_mib_s * MIB * DAY_S] * 37,
    }


_LITTLE: Final = _moving(1, 0.5)
_WATCHED: Final = {(STORED, DAY_S): [800.0 * GIB] * 37}

DETECTOR = Detector(
    title="EFS file system that keeps cold data in Standard",
    kind="waste",
    resource=EfsFileSystem,
    limits=ColdDataLimits,
    reads=(EfsReplication, EfsLifecycle),
    judge=judge,
    cases=(
        Case(
            title="800 GiB of which 55 were touched",
            resource=_FILES,
            records=(_NO_POLICY,),
            metrics=_LITTLE,
            expect=Flagged,
            says="at least 744 GiB were neither read nor written in 36 days",
        ),
        Case(
            title="nothing published, while it was watched",
            resource=_FILES,
            records=(_NO_POLICY,),
            metrics=_WATCHED,
            expect=Flagged,
            says="at least 800 GiB",
        ),
        Case(
            title="nothing published at all",
            resource=_FILES,
            records=(_NO_POLICY,),
            expect=Unknown,
            says="and StorageBytes has no point",
        ),
        Case(
            title="a day on which nobody knows what was read",
            resource=_FILES,
            records=(_NO_POLICY,),
            metrics={**_LITTLE, (READ, DAY_S): [GIB] * 20 + [None] + [GIB] * 16},
            expect=Unknown,
            says="DataReadIOBytes has no point on 1 of 30 days",
        ),
        Case(
            title="a day that nobody watched, five weeks ago",
            resource=_FILES,
            records=(_NO_POLICY,),
            metrics={**_LITTLE, (READ, DAY_S): [GIB, None] + [GIB] * 35},
            expect=Flagged,
        ),
        Case(
            title="read from end to end on one night of the month",
            resource=_FILES,
            records=(_NO_POLICY,),
            metrics={**_LITTLE, (READ, DAY_S): [0.0, 0.0, 800.0 * GIB] + [0.0] * 34},
            expect=Fine,
            says="reads so much",
        ),
        Case(
            title="written anew every month",
            resource=_FILES,
            records=(_NO_POLICY,),
            metrics=_moving(1, 20),
            expect=Fine,
            says="reads and writes so much",
        ),
        Case(
            title="its policy moves cold files already",
            resource=_FILES,
            records=(replace(_NO_POLICY, transition_to_ia="AFTER_60_DAYS"),),
            expect=Fine,
            says="its lifecycle policy",
        ),
        Case(
            title="a policy that only brings files back",
            resource=_FILES,
            records=(replace(_NO_POLICY, transition_to_primary="AFTER_1_ACCESS"),),
            metrics=_LITTLE,
            expect=Flagged,
        ),
        Case(
            title="99 GiB in Standard",
            resource=replace(_FILES, stored_bytes={"Standard": 99 * GIB, "IA": 0, "Archive": 0}),
            expect=Fine,
            says="less than 100 GiB",
        ),
        Case(
            title="three weeks old",
            resource=replace(_FILES, created_at=CASE_NOW - timedelta(days=21)),
            records=(_NO_POLICY,),
            metrics=_LITTLE,
            expect=Fine,
            says="younger than 30 days",
        ),
        Case(title="being deleted", resource=replace(_FILES, state="deleting"), expect=Fine, says="deleting"),
        Case(
            title="a replica",
            resource=replace(_FILES, is_replica=True),
            records=(_NO_POLICY,),
            metrics=_LITTLE,
            expect=Fine,
            says="destination of a replication",
        ),
        Case(
            title="the source of a replication",
            resource=_FILES,
            records=(_NO_POLICY, EfsReplication(id=_FILES.id, role="source", status="ENABLED")),
            metrics=_LITTLE,
            expect=Flagged,
        ),
        Case(
            title="lists its directories all day: it lives on the credits that its size earns",
            resource=_FILES,
            records=(_NO_POLICY,),
            metrics=_moving(1, 0.5, metered_mib_s=5),
            expect=Fine,
            says="it uses 5 MiB/s, on credits",
        ),
        Case(
            title="6 TiB, and a burst of 400 MiB/s for ten minutes a week",
            resource=_LARGE,
            records=(_NO_POLICY,),
            metrics={
                **_moving(20, 10),
                (METERED, FIVE_MINUTES_S): ([400.0 * MIB * FIVE_MINUTES_S] * 2 + [MIB] * 2014) * 5 + [MIB] * 288,
            },
            expect=Fine,
            says="bursts faster",
        ),
        Case(
            title="6 TiB, never fast",
            resource=_LARGE,
            records=(_NO_POLICY,),
            metrics={**_moving(20, 10), (METERED, FIVE_MINUTES_S): [60.0 * MIB] * _FIVE_MINUTE_POINTS},
            expect=Flagged,
        ),
        Case(
            title="less provisioned than its size earns, and needed",
            resource=replace(_LARGE, throughput_mode="provisioned", provisioned_mib_s=64.0),
            records=(_NO_POLICY,),
            metrics={**_moving(20, 10), (METERED, FIVE_MINUTES_S): [60.0 * MIB * FIVE_MINUTES_S] * _FIVE_MINUTE_POINTS},
            expect=Fine,
            says="bursts faster",
        ),
        Case(
            title="nobody knows what it needs of its throughput",
            resource=_FILES,
            records=(_NO_POLICY,),
            metrics={**_LITTLE, (METERED, DAY_S): [MIB] * 30 + [None] * 3 + [MIB] * 4},
            expect=Unknown,
            says="nobody knows what it needs",
        ),
        Case(
            title="Elastic: no credits to lose",
            resource=replace(_FILES, throughput_mode="elastic"),
            records=(_NO_POLICY,),
            metrics=_moving(1, 0.5, metered_mib_s=5),
            expect=Flagged,
        ),
        Case(title="its policy is not among what was read", resource=_FILES, metrics=_LITTLE, expect=Unknown, says="not read"),
        Case(
            title="lifecycle policies could not be read",
            resource=_FILES,
            unreadable={EfsLifecycle: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
    ),
)
