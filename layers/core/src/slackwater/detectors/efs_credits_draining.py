"""EFS file systems whose burst credits are gone, or soon will be.

## What it finds
A file system in bursting mode that has no credits left and whose clients use all of the baseline that remains; one that was
empty on three or more of the last seven days, even if it refilled in between; and one whose credits will be gone within seven
days if the last week repeats. It is the *rhythm* that counts: a batch that drains by night, or from Monday to Friday, and is
back to full in time is no trouble, and neither is a job that drains for an hour. With less than a day of points the answer is
unknown.

## Why it matters
Without credits a small file system has 1 MiB/s, and opening a file takes seconds; nothing in AWS says why. A new file system
starts with 2.1 TiB, so that it is fast for weeks, and then is not ("Can Amazon EFS replace EBS?", 2025-02-19).

## When it is wrong
A load that has begun within the last three days is not known to last, and one that has ended after several still counts for a
day. The date is found in two ways, by the balance a week (or a day) before and by what is metered above the baseline; where
they differ by more than a quarter it is a range. Below 20 GiB AWS does not say whether credits are earned at the floor of 1
MiB/s or by size: there the balance is the better witness. Without credits the meter shows the baseline, and not what the
clients want: nothing is sized from it, and the busiest hour that the week did see is only where the steps begin. With less
than 16 days of points nobody knows what the week before took: a week that drained on three days or more is taken to repeat,
at low confidence, and one that drained on fewer is unknown.

## What to do
Elastic, or Provisioned in steps, online. Neither dummy data nor One Zone helps. Jobs that need a fast file system for hours
may make one each, with credits of its own, and delete it afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice
from math import ceil, isnan
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import size_class
from slackwater.model.quantities import binary_rate_words, duration_words
from slackwater.model.resources import EfsFileSystem, Target
from slackwater.model.units import DAY_S, GIB, HOUR_S, KIB, MIB
from slackwater.model.verdicts import Advice, Ask, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import efs
from slackwater.rules.efs_throughput import (
    GENERAL_PURPOSE,
    HOURLY_DAYS,
    METADATA,
    METADATA_OPERATIONS,
    METADATA_READ,
    METERED,
    NO_DUMMY_DATA,
    PERMITTED,
    READ,
    READS,
    WAIT,
    WRITES,
    WRITTEN,
    Month,
    changed,
    command,
    managed_caveats,
    month,
    month_needs,
    more_throughput,
    need,
    setting,
)

BALANCE = Metric("AWS/EFS", "BurstCreditBalance", "Minimum", "bytes")

DAY: Final = 24
WEEK: Final = 7 * DAY
"""In hours."""

LATE: Final = 3
"""Hours at the end that may have no point yet."""

AT_LIMIT: Final = 0.95
"""Of what is permitted: above, the meter shows the limit and not the demand."""

FULL: Final = 0.99
"""Of all credits: what rounding may lack."""

DAILY: Final = 3
"""Days: a job of less than a day ends on two of them at most."""

LOSES: Final = 0.01
"""Of all credits: a week or a day that takes less than this repeats for ever."""

APART: Final = 0.25
"""Two dates that differ by more are a range."""

NEVER_EMPTY: Final = 0.5
"""A week that repeats takes no more than it has taken: with more than half left at the lowest, the next one does not end it."""

HEADROOM: Final = 1.2
"""What to provision, of the busiest hour: hours hide shorter peaks, and raising it is always allowed."""


class DrainingLimits(Limits):
    """When a balance counts as gone, or as going."""

    horizon_days: int = limit(7, unit="days", ge=1, le=7, why="time to act; beyond a week nobody knows the rhythm")
    empty_percent: float = limit(1, unit="percent", gt=0, le=10, why="of all credits: less than four minutes of a full burst")
    empty_days: int = limit(3, unit="days", ge=1, le=7, why="of the last seven, even if it refills: that often is no accident")
    least_hours: int = limit(24, unit="hours", ge=24, le=168, why="every job drains while it runs; a day shows whether it ends")


@dataclass(frozen=True, slots=True)
class Course:
    """Credits by the hour, as shares of all there can be; the newest last, NaN where there is no point."""

    shares: Sequence[float]

    def lost(self, hours: int, *, ago: int = 0, mean_of: int = DAY) -> float | None:
        """How much less there was than so many hours before, by the mean of the hours that ended so many hours `ago`."""
        end = len(self.shares) - ago
        pairs = ((self.shares[i - hours], self.shares[i]) for i in range(max(hours, end - mean_of), end))
        falls = [before - after for before, after in pairs if not isnan(before - after)]
        return sum(falls) / len(falls) if len(falls) >= mean_of / 2 else None

    @property
    def fell_daily(self) -> bool:
        """Whether each of the last days ended with less than it began with: more than one job has done that."""
        falls = [self.lost(DAY, ago=day * DAY, mean_of=LATE) for day in range(DAILY)]
        return all(fall is not None and fall > 0 for fall in falls)

    @property
    def days_that_took(self) -> int:
        """How many of the last seven days ended with clearly less than they began with."""
        return sum((self.lost(DAY, ago=day * DAY, mean_of=LATE) or 0) >= LOSES for day in range(7))

    def ahead(self, rhythm: int) -> Iterator[float]:
        """What will be left, a week by the hour, if the last `rhythm` hours repeat and take again what they took.

        Nothing where they took next to nothing; NaN where an hour had no point.
        """
        lost, last = self.lost(rhythm), self.shares[-rhythm:]
        if lost is None or lost < LOSES:
            return
        for hour in range(WEEK):
            rounds, phase = divmod(hour, rhythm)
            yield last[phase] - lost * (rounds + 1)

    def empty_after(self, rhythm: int) -> int | None:
        """In how many hours nothing is left then; None for never."""
        return next((hour for hour, left in enumerate(self.ahead(rhythm), 1) if left <= 0), None)  # NaN is not


@dataclass(frozen=True, slots=True)
class Going:
    """In how many hours the credits are gone by the balance, and how many hours were taken to repeat."""

    course: Course
    hours: int
    rhythm: int
    repeated: bool
    """Whether that has been seen more than once."""

    def forecast(self, balance: Series, full: int) -> Series:
        """The balance, bytes, from where it ends until nothing is left."""
        shares = islice(self.course.ahead(self.rhythm), self.hours - 1)
        return Series.of(balance.end_s, HOUR_S, [*(share * full for share in shares), 0.0])


@dataclass(frozen=True, slots=True)
class State:
    """A week by the hour: credits (bytes), metered and permitted (bytes a second); and what the size gives."""

    balance: Series
    metered: Series
    permitted: Series
    full: int
    baseline: float
    burst: float
    slow: Sequence[bool]
    """Whether an hour had no credits and used all of the baseline."""

    @property
    def left(self) -> float:
        """The newest balance."""
        return self.balance.present[-1]

    @property
    def slow_days(self) -> int:
        """Days with such an hour."""
        return sum(any(self.slow[i : i + DAY]) for i in range(0, len(self.slow), DAY))

    @property
    def slow_today(self) -> int:
        """Such hours among the last 24."""
        return sum(self.slow[-DAY:])

    @property
    def last_day(self) -> Series:
        """What was metered."""
        return self.metered.since(self.metered.end_s - DAY_S)


def judge(file_system: EfsFileSystem, seen: Seen, limits: DrainingLimits) -> Verdict:
    """Flag a file system without burst credits, or on its way there."""
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    if not efs.bursts(file_system):
        return Fine(f"it does not live on credits: its throughput is {file_system.throughput_mode}")
    full = efs.full_credits_bytes(_standard(file_system))
    balance_need = need(file_system, BALANCE, HOUR_S, HOURLY_DAYS)
    if lacking := seen.lacking([balance_need]):
        return Ask(lacking)
    balance = _begun(seen[balance_need])
    if not balance.present:
        return Unknown(f"BurstCreditBalance has no point in {HOURLY_DAYS} days")
    if min(balance.present) >= FULL * full:
        return Fine("it has all its credits")
    if len(balance.present) < limits.least_hours:
        return Unknown(f"its credits are known for {len(balance.present)} hours: every job drains them while it runs")
    if not balance.since(balance.end_s - LATE * HOUR_S).present:
        return Unknown(f"BurstCreditBalance has no point in the last {LATE} hours")
    going = _going([held / full for held in balance.values], limits)
    week = balance.since(balance.end_s - WEEK * HOUR_S)
    empty_bytes = full * limits.empty_percent / 100
    if min(week.present) > empty_bytes and not isinstance(going, Going):
        return going

    metered_need, permitted_need = (need(file_system, metric, HOUR_S, HOURLY_DAYS) for metric in (METERED, PERMITTED))
    if lacking := seen.lacking([metered_need, permitted_need]):
        return Ask(lacking)
    state = _state(file_system, week, seen[metered_need], seen[permitted_need], empty_bytes)
    if not state.last_day.present:
        return Unknown("MeteredIOBytes has no point on the last day: nobody knows whether anybody waits")
    gone = state.left <= empty_bytes
    if (gone and state.slow_today) or state.slow_days >= limits.empty_days:
        return _flag_gone(file_system, state, gone=gone)
    if gone:
        return Fine("its credits are gone, and no more than its baseline is asked of it")
    if not isinstance(going, Going):
        return going
    if lacking := seen.lacking(month_needs(file_system)):
        return Ask(lacking)
    moved = month(file_system, seen, demanded_days=1, mean_of_days=7)
    return _flag_going(file_system, seen, state, going, None if isinstance(moved, Unknown) else moved)


def _standard(file_system: EfsFileSystem) -> int:
    return file_system.stored_bytes.get("Standard", 0)


def _begun(series: Series) -> Series:
    """From the first point on: it has none from before its file system was made, or lived on credits."""
    first = next((i for i, value in enumerate(series.values) if not isnan(value)), len(series))
    return series.since(series.start_s + first * series.period_s)


def _state(file_system: EfsFileSystem, balance: Series, metered: Series, permitted: Series, empty_bytes: float) -> State:
    standard = _standard(file_system)
    rates = Series.of(balance.start_s, HOUR_S, [moved / HOUR_S for moved in metered.since(balance.start_s).values])
    baseline = efs.baseline_bytes_per_s(standard)
    slow = [
        held <= empty_bytes and rate >= AT_LIMIT * baseline  # NaN, a missing point, is neither
        for held, rate in zip(balance.values, rates.values, strict=True)
    ]
    first = len(slow) % DAY  # so that the last day is whole
    return State(
        balance=balance,
        metered=rates,
        permitted=permitted.since(balance.start_s),
        full=efs.full_credits_bytes(standard),
        baseline=baseline,
        burst=efs.metered_ceiling("bursting", file_system),
        slow=[False] * (DAY - first if first else 0) + slow,
    )


def _going(shares: Sequence[float], limits: DrainingLimits) -> Going | Fine | Unknown:
    """Whether the credits end within the horizon if the last week repeats, or the last day where there is no week yet."""
    course, horizon = Course(shares), limits.horizon_days * DAY
    lowest = min(share for share in shares if not isnan(share))
    if len(shares) >= WEEK + DAY:
        if lowest > NEVER_EMPTY:
            return Fine(f"{100 * lowest:.0f} % of its credits were left at the lowest")
        if course.lost(WEEK) is None:
            return Unknown("BurstCreditBalance has too few points of the last day, or of the same day a week before")
        hours = course.empty_after(WEEK)
        if hours is None or hours > horizon:
            return Fine("its credits last, if the last week repeats")
        before = course.lost(WEEK, ago=WEEK + DAY)
        if course.fell_daily or (before is not None and before >= LOSES):
            return Going(course, hours, WEEK, repeated=True)
        if before is not None:
            return Fine("what drained it is over, and was not there the week before")
        if course.days_that_took >= DAILY:
            return Going(course, hours, WEEK, repeated=False)
        return Unknown("it was drained within the last week, and nobody knows whether the week before was so too")
    hours = course.empty_after(DAY)
    if course.lost(DAY) is None or (hours is not None and hours <= horizon and not course.fell_daily):
        return Unknown("it drains, and is known for too short a time to say whether that goes on")
    if hours is None or hours > horizon:
        return Fine("its credits last, if the last day repeats")
    return Going(course, hours, DAY, repeated=False)


def _evidence(state: State, going: Going | None = None) -> list[Evidence]:
    evidence = [
        Evidence(
            label="Credits left",
            value=state.left,
            unit="bytes",
            series=state.balance,
            scale=state.full,
            forecast=going.forecast(state.balance, state.full) if going else None,
        ),
        Evidence(label="Of all there can be", value=round(100 * state.left / state.full, 1), unit="percent"),
        Evidence(label="Baseline, without credits", value=round(state.baseline / MIB, 3), unit="MiB/s"),
    ]
    if state.permitted.present:
        now = state.permitted.present[-1] / MIB
        evidence.append(Evidence(label="Permitted in the last hour", value=round(now, 3), unit="MiB/s"))
    rates = state.last_day.present
    mean = sum(rates) / len(rates) / MIB
    evidence.append(
        Evidence(
            label="Metered, mean of the last day",
            value=round(mean, 3),
            unit="MiB/s",
            series=state.last_day.over(MIB),
            lines=(Line("Baseline", round(state.baseline / MIB, 3)),),
        )
    )
    return evidence


def _flag_gone(file_system: EfsFileSystem, state: State, *, gone: bool) -> Flagged:
    rate, slow_hours = binary_rate_words(state.baseline), sum(state.slow)
    now = f"used all of it in {state.slow_today} of the last {DAY} hours"
    often = f"used all of it in {slow_hours} hours on {state.slow_days} of the last 7 days"
    confirmed = bool(state.permitted.present) and min(state.permitted.present) <= state.baseline / AT_LIMIT
    return Flagged(
        summary=(
            f"its burst credits {'are gone: it has' if gone else 'run out again and again: then it has'} {rate} (metered; three"
            f" times that to read), and it {now if gone and state.slow_today else often}"
        ),
        severity="high" if slow_hours >= DAY else "medium",
        confidence="high" if confirmed else "medium",
        evidence=(
            *_evidence(state),
            Evidence(label="Hours of the last week without credits, at the baseline", value=slow_hours, unit="hours"),
        ),
        advice=more_throughput(file_system, state.baseline, 2, reached_bytes_per_s=HEADROOM * max(state.metered.present)),
        gist=("gone", size_class(state.baseline)),
        caveats=(
            "What is metered meanwhile is the limit, and not the demand: no mode or amount can be sized from it.",
            *_caveats(file_system),
        ),
    )


def _caveats(file_system: EfsFileSystem) -> tuple[str, ...]:
    one_zone = () if file_system.availability_zone else ("One Zone has the same credits and the same baseline.",)
    return NO_DUMMY_DATA, *one_zone, WAIT, *managed_caveats(file_system)


def _flag_going(file_system: EfsFileSystem, seen: Seen, state: State, going: Going, moved: Month | None) -> Flagged:
    by_formula = _by_formula(state, _standard(file_system))
    both = sorted([going.hours, *([by_formula] if by_formula is not None else [])])
    agree = by_formula is not None and both[-1] <= both[0] * (1 + APART)
    dates = [f"{seen.now + timedelta(hours=hours):%Y-%m-%d}" for hours in both]
    when = f"around {dates[0]}" if agree or len(both) == 1 or dates[0] == dates[1] else f"between {dates[0]} and {dates[1]}"
    rhythm = "week" if going.rhythm == WEEK else "day"
    formula = duration_words(by_formula * HOUR_S) if by_formula is not None else "never: no more is metered than the baseline"
    return Flagged(
        summary=(
            f"{100 * state.left / state.full:.0f} % of its burst credits are left, and if the last {rhythm} repeats they are"
            f" gone {when}: then it has {binary_rate_words(state.baseline)}"
        ),
        kind="risk",
        severity="medium",
        confidence="low" if not going.repeated else "high" if agree else "medium",
        evidence=(
            *_evidence(state, going),
            Evidence(
                label=f"Gone, by the balance a {rhythm} before",
                value=f"in {duration_words(going.hours * HOUR_S)}",
                unit="words",
            ),
            Evidence(
                label="Gone, by what is metered above the baseline",
                value=f"in {formula}" if by_formula is not None else formula,
                unit="words",
            ),
        ),
        advice=_ways_out(file_system, state, moved),
        gist=("going", size_class(state.baseline)),
        caveats=(
            "It is the rhythm that is projected: a load that ends, or grows, makes it another date.",
            *(() if going.repeated else (f"It is one {rhythm} that is taken to repeat: nothing is known of the one before.",)),
            *(() if agree else ("The two ways to the date differ by more than a quarter: trust the earlier.",)),
            *_caveats(file_system),
        ),
        cheapest_first=True,
    )


def _by_formula(state: State, standard_bytes: int) -> float | None:
    """In how many hours they are gone at the mean rate of the last day, or else of the week; None for never."""
    for rates in (state.last_day.present, state.metered.present):
        seconds = efs.seconds_to_empty(state.left, sum(rates) / len(rates), standard_bytes)
        if seconds is not None:
            return seconds / HOUR_S
    return None


def _ways_out(file_system: EfsFileSystem, state: State, moved: Month | None) -> tuple[Advice, ...]:
    """Sized by the busiest hour, and priced where the bytes were counted, unless the burst itself was the limit."""
    busiest = max(state.metered.present)
    if busiest >= AT_LIMIT * state.burst:
        return more_throughput(file_system, state.burst, HEADROOM)
    amount = min(efs.PROVISIONED_MIB_S[1], ceil(busiest * HEADROOM / MIB))
    provisioned = Advice(
        action="change-to-provisioned",
        summary=f"Change to Provisioned with {amount:,} MiB/s: the busiest hour of the week and a fifth more.",
        changes=changed(file_system, "provisioned", amount),
        risk="Paid by the hour, used or not; peaks shorter than an hour, which now burst, wait. Raise it where they may not.",
        reversible=True,
        command=command(file_system, setting("provisioned", amount)),
    )
    elastic = Advice(
        action="change-to-elastic",
        summary="Change to Elastic: it bills what moves, each read or write as 32 KiB at least.",
        changes=changed(file_system, "elastic", elastic_after=moved.elastic_at_most) if moved else None,
        risk="The bill has no ceiling: it follows the load.",
        reversible=True,
        command=command(file_system, setting("elastic")),
    )
    return (elastic, provisioned) if file_system.performance_mode == GENERAL_PURPOSE else (provisioned,)


_SHARE = EfsFileSystem(
    id="fs-0123456789abcdef2",
    arn="arn:aws:elasticfilesystem:ap-northeast-1:123456789012:file-system/fs-0123456789abcdef2",
    target=Target("123456789012", "ap-northeast-1"),
    tags={"Name": "encode-shared"},
    state="available",
    created_at=CASE_NOW - timedelta(days=90),
    throughput_mode="bursting",
    provisioned_mib_s=None,
    performance_mode=GENERAL_PURPOSE,
    availability_zone=None,
    stored_bytes={"Standard": 40 * GIB, "IA": 0, "Archive": 0},
    mount_targets=3,
    is_replica=False,
)
_FULL: Final = efs.full_credits_bytes(0)

type _Metrics = Mapping[tuple[Metric, int], Sequence[float | None]]


def _hours(mib_s: Sequence[float], start: float = 1.0) -> _Metrics:
    """What a file system of 40 GiB (a baseline of 2 MiB/s) publishes when so much is wanted by the hour, the newest last."""
    baseline, held = efs.baseline_bytes_per_s(40 * GIB), start * _FULL
    balance, metered, permitted = [], [], []
    for wanted in mib_s:
        rate = min(wanted * MIB, baseline + held / HOUR_S)
        held = min(_FULL, held + (baseline - rate) * HOUR_S)
        balance.append(held)
        metered.append(rate * HOUR_S)
        permitted.append(100 * MIB if held > 0 else baseline)
    days = [sum(metered[max(0, end - DAY) : end]) for end in range(len(metered), 0, -DAY)][::-1]
    return {
        (BALANCE, HOUR_S): balance,
        (METERED, HOUR_S): metered,
        (PERMITTED, HOUR_S): permitted,
        (READ, DAY_S): [1.5 * moved for moved in days],
        (READS, DAY_S): [1.5 * moved / (256 * KIB) for moved in days],
        (WRITTEN, DAY_S): [0.5 * moved for moved in days],
        (WRITES, DAY_S): [0.5 * moved / (256 * KIB) for moved in days],
        (METADATA, DAY_S): [100.0 * MIB for _ in days],
        (METADATA_OPERATIONS, DAY_S): [25_600.0 for _ in days],
        (METADATA_READ, DAY_S): [60.0 * MIB for _ in days],
    }


def _without(metrics: _Metrics, metric: Metric) -> _Metrics:
    return {key: values for key, values in metrics.items() if key[0] != metric}


_WORKDAY: Final = [5.0] * 12 + [1.0] * 12
_WEEKEND: Final = [0.2] * (2 * DAY)

DETECTOR = Detector(
    title="EFS burst credits that run out",
    kind="performance",
    resource=EfsFileSystem,
    limits=DrainingLimits,
    judge=judge,
    outranks=("efs-throughput-mismatch",),
    cases=(
        Case(
            title="gone for days, and all of the baseline is used",
            resource=_SHARE,
            metrics=_hours([12.0] * (15 * DAY), start=0.5),
            expect=Flagged,
            says="its burst credits are gone: it has 1.95 MiB/s (metered; three times that to read), and it used all",
        ),
        Case(
            title="empty every night, and back by day",
            resource=_SHARE,
            metrics=_hours(([60.0] * 6 + [0.0] * 18) * 15, start=0.05),
            expect=Flagged,
            says="run out again and again",
        ),
        Case(
            title="more than the baseline, day and night",
            resource=_SHARE,
            metrics=_hours([3.2] * (15 * DAY)),
            expect=Flagged,
            says="of its burst credits are left, and if the last week repeats they are gone around 2026-11-",
        ),
        Case(
            title="faster of late: the two ways to the date differ",
            resource=_SHARE,
            metrics=_hours([3.0] * (13 * DAY) + [6.0] * (2 * DAY)),
            expect=Flagged,
            says="they are gone between 2026-11-",
        ),
        Case(
            title="less comes back at each weekend than each week takes",
            resource=_SHARE,
            metrics=_hours([0.2] * DAY + [*(_WORKDAY * 5), *_WEEKEND] * 2 + _WORKDAY, start=0.25),
            expect=Flagged,
            says="if the last week repeats",
        ),
        Case(
            title="five days old, and draining since it was made",
            resource=replace(_SHARE, created_at=CASE_NOW - timedelta(days=5)),
            metrics=_hours([5.0] * (5 * DAY)),
            expect=Flagged,
            says="if the last day repeats",
        ),
        Case(
            title="ten days old, drained from Monday to Friday, and seen at the end of the weekend",
            resource=replace(_SHARE, created_at=CASE_NOW - timedelta(days=10)),
            metrics=_hours([5.0] * DAY + _WEEKEND + [6.0] * (5 * DAY) + _WEEKEND),
            expect=Flagged,
            says="if the last week repeats",
        ),
        Case(
            title="ten days old, and filled within a day",
            resource=replace(_SHARE, created_at=CASE_NOW - timedelta(days=10)),
            metrics=_hours([0.5] * (5 * DAY) + [90.0] * 5 + [0.5] * (5 * DAY - 5)),
            expect=Unknown,
            says="whether the week before was so too",
        ),
        Case(
            title="drained by day from Monday to Friday, and full again at the weekend",
            resource=_SHARE,
            metrics=_hours([*(([4.5] * 12 + [0.2] * 12) * 5), *_WEEKEND] * 2 + [4.5] * 12),
            expect=Fine,
            says="left at the lowest",
        ),
        Case(
            title="a batch every night that is earned again by day",
            resource=_SHARE,
            metrics=_hours(([0.5] * 20 + [8.0] * 3 + [0.5]) * 15, start=1.0),
            expect=Fine,
            says="left at the lowest",
        ),
        Case(
            title="low, and no lower than a week ago",
            resource=_SHARE,
            metrics=_hours(([0.9] * 20 + [7.0] * 4) * 15, start=0.3),
            expect=Fine,
            says="last, if the last week repeats",
        ),
        Case(
            title="an import that is over",
            resource=_SHARE,
            metrics=_hours([0.5] * (12 * DAY) + [90.0] * 5 + [0.5] * (4 * DAY - 5)),
            expect=Fine,
            says="what drained it is over",
        ),
        Case(
            title="a job that has drained for three hours",
            resource=_SHARE,
            metrics=_hours([0.5] * (15 * DAY - 3) + [95.0] * 3),
            expect=Fine,
            says="left at the lowest",
        ),
        Case(
            title="gone, and nobody asks for more than the baseline",
            resource=_SHARE,
            metrics={(BALANCE, HOUR_S): [0.0] * (15 * DAY), (METERED, HOUR_S): [0.1 * MIB * HOUR_S] * (15 * DAY)},
            expect=Fine,
            says="no more than its baseline",
        ),
        Case(
            title="twenty hours old, and draining",
            resource=replace(_SHARE, created_at=CASE_NOW - timedelta(hours=20)),
            metrics=_hours([30.0] * 20),
            expect=Unknown,
            says="known for 20 hours",
        ),
        Case(
            title="two days old, and half empty",
            resource=replace(_SHARE, created_at=CASE_NOW - timedelta(hours=50)),
            metrics=_hours([8.0] * 50),
            expect=Unknown,
            says="too short a time",
        ),
        Case(
            title="low, and without points of a week ago",
            resource=_SHARE,
            metrics={(BALANCE, HOUR_S): [0.9 * _FULL] * 160 + [None] * 40 + [0.3 * _FULL] * 160},
            expect=Unknown,
            says="too few points",
        ),
        Case(
            title="gone, and nobody knows what is metered",
            resource=_SHARE,
            metrics=_without(_hours([12.0] * (15 * DAY), start=0.5), METERED),
            expect=Unknown,
            says="whether anybody waits",
        ),
        Case(title="no point at all", resource=_SHARE, expect=Unknown, says="no point in 16 days"),
        Case(
            title="all its credits",
            resource=_SHARE,
            metrics={(BALANCE, HOUR_S): [float(_FULL)] * (15 * DAY)},
            expect=Fine,
            says="all its credits",
        ),
        Case(
            title="Elastic, which has no credits",
            resource=replace(_SHARE, throughput_mode="elastic"),
            expect=Fine,
            says="its throughput is elastic",
        ),
        Case(title="being deleted", resource=replace(_SHARE, state="deleting"), expect=Fine, says="deleting"),
    ),
)
