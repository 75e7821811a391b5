"""EFS file systems whose burst credits are gone, or soon will be.

## What it finds
- A file system without credits whose clients use all of the baseline that remains.
- One that was without credits on 3 or more of the last 7 days, even if it refilled in between.
- One whose credits will be gone within 7 days if the last week repeats.

It is fine if a batch lowers the credits by night, or from Monday to Friday, and they refill before they reach zero. So
is a job that drains for an hour. With less than a day of points the answer is unknown.

## Why it matters
Without credits a small file system has 1 MiB/s, and opening a file takes seconds. No AWS message says why. It starts
with 2.1 TiB of credits, so it is fast for weeks and then slow ("Can Amazon EFS replace EBS?", 2025-02-19).

## When it is wrong
- A load younger than three days may stop by itself. One that ran for days and has stopped is still reported for a day.
- The date on which the credits end is calculated twice: from the fall of the balance over a week (or a day), and from
  the use above the baseline. If the two differ by more than a quarter, it is a range; trust the earlier date.
- Below 20 GiB, AWS does not say whether credits are earned at 1 MiB/s or by size. The balance is more reliable there.
- Without credits, metrics show the baseline and not the demand. The busiest hour of the week is only a first step.
- With less than 16 days of points, a week that drained on three days or more is assumed to repeat, with low
  confidence. If it drained on fewer, the answer is unknown.

## What to do
Change online to Elastic, or to Provisioned in steps. Jobs that need a fast file system for hours may create one each,
with its own credits, and delete it afterwards. Dummy data raises the baseline, but 1 MiB/s takes 20 GiB in Standard,
and you write them at the rate that is too slow. One Zone has the same credits and the same baseline.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import batched, islice
from math import ceil, inf, isnan
from typing import Final, NamedTuple

from slackwater.model.detector import Case, Detector, Limits, Seen, limit, unless_decided
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import size_class
from slackwater.model.quantities import binary_rate_words, duration_words
from slackwater.model.resources import EfsFileSystem
from slackwater.model.units import DAY_S, GIB, HOUR_S, KIB, MIB
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import efs as formulas
from slackwater.rules import efs, efs_throughput, examples
from slackwater.rules.advice import caveats
from slackwater.rules.efs import METERED
from slackwater.rules.efs_throughput import BALANCE, HOURLY_DAYS, LOOK_BACK_DAYS, MOVED, PERMITTED, Month
from slackwater.rules.examples import Cases, days_ago

DAY, WEEK = 24, 7 * 24  # in hours
LATE: Final = 3  # how many of the newest hours may have no data yet
DAILY: Final = 3  # days: a job shorter than a day lowers the credits of at most two
FULL, AT_LIMIT = 0.99, 0.95
"""Shares that count as all credits, because of rounding, and as the whole limit, at which metrics hide the demand."""
LOSES, NEVER_EMPTY = 0.01, 0.5
"""Shares of all credits. A week or a day that takes less than the first can repeat forever. If the lowest balance of a
week is above the second, the next week cannot use up the credits."""
APART: Final = 0.25  # if two dates differ by more than this share, the finding shows a range
HEADROOM: Final = 1.2  # provision the busiest hour times this, because hourly averages hide shorter peaks
GONE, GOING = "gone", "going"  # part of stored fingerprints: never change them


class DrainingLimits(Limits):
    """When credits count as gone, or as going."""

    horizon_days: int = limit(7, unit="days", ge=1, le=7, why="time to act; beyond a week, the rhythm is unknown")
    empty_percent: float = limit(1, unit="percent", gt=0, le=10, why="of all; under four minutes of a burst")
    empty_days: int = limit(3, unit="days", ge=1, le=7, why="of the last seven; that often is no accident")
    least_hours: int = limit(24, unit="hours", ge=24, le=168, why="every job drains; a day shows whether it ends")


class Course(NamedTuple):
    """Hourly credits, as shares of all credits, newest last; NaN for a missing point."""

    shares: Sequence[float]

    def lost(self, hours: int, *, ago: int = 0, mean_of: int = DAY) -> float | None:
        """Return the average fall over `hours`, of the `mean_of` hours that ended `ago` hours ago; None if unknown."""
        end = len(self.shares) - ago
        pairs = ((self.shares[i - hours], self.shares[i]) for i in range(max(hours, end - mean_of), end))
        falls = [before - after for before, after in pairs if not isnan(before - after)]
        return sum(falls) / len(falls) if len(falls) >= mean_of / 2 else None

    def by_day(self, days: int) -> list[float]:
        """Return the fall of each of the last days, newest first; 0 if unknown."""
        return [self.lost(DAY, ago=day * DAY, mean_of=LATE) or 0.0 for day in range(days)]

    def ahead(self, rhythm: int) -> Iterator[float]:
        """Yield a week of hourly credits if the last `rhythm` hours repeat; nothing if these used hardly any."""
        lost, last = self.lost(rhythm), self.shares[-rhythm:]
        for hour in range(WEEK if lost and lost >= LOSES else 0):
            rounds, phase = divmod(hour, rhythm)
            yield last[phase] - (lost or 0) * (rounds + 1)


class Going(NamedTuple):
    """How many `hours` credits last if the last `rhythm` hours repeat. `repeated` says whether they did so before."""

    course: Course
    hours: int
    rhythm: int
    repeated: bool


class State(NamedTuple):
    """A week by the hour: credits in bytes, and the metered and permitted bytes per second.

    `full` are all credits that it can have, and `baseline` are the bytes per second without credits. `slow` says for
    each hour of whole days whether it had no credits and used all of the baseline. `slow_days` counts the days with
    such an hour. `last_day` has the metered bytes per second of the last day.
    """

    file_system: EfsFileSystem
    balance: Series
    metered: Series
    permitted: Series
    full: int
    baseline: float
    slow: Sequence[bool]
    slow_days: int
    last_day: Series


def judge(file_system: EfsFileSystem, seen: Seen, limits: DrainingLimits) -> Verdict:
    """Flag a file system without burst credits, or one that will have none soon."""
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    if not formulas.bursts(file_system):
        return Fine(f"it does not need credits: its throughput is {file_system.throughput_mode}")
    full = formulas.full_credits_bytes(file_system.standard_bytes)
    balance = unless_decided(_balance(file_system, seen, limits, full))
    going = _going([held / full for held in balance.values], limits)
    week, empty = balance.newest(7), full * limits.empty_percent / 100
    if min(week.present) > empty:
        unless_decided(going)

    gone = week.present[-1] <= empty
    month = efs.daily(file_system, LOOK_BACK_DAYS, *MOVED) if isinstance(going, Going) and not gone else []
    metered, permitted, *_ = seen.read(*efs.needs(file_system, HOUR_S, HOURLY_DAYS, METERED, PERMITTED), *month)
    state = _state(file_system, week, empty, metered, permitted)
    if not state.last_day.present:
        return Unknown("MeteredIOBytes has no data on the last day: whether anyone waits is unknown")
    if (gone and any(state.slow[-DAY:])) or state.slow_days >= limits.empty_days:
        return _flag_gone(state, gone=gone)
    if gone:
        return Fine("its credits are gone, and nothing needs more than its baseline")
    still_going = unless_decided(going)
    moved = efs_throughput.month(file_system, seen, demanded_days=1, mean_of_days=7)
    return _flag_going(seen, state, still_going, None if isinstance(moved, Unknown) else moved)


def _balance(file_system: EfsFileSystem, seen: Seen, limits: DrainingLimits, full: float) -> Series | Fine | Unknown:
    """Return its credits since the first point, before which it had none or did not exist, or the verdict."""
    (by_day,) = seen.read(*efs.daily(file_system, HOURLY_DAYS, BALANCE))
    # All hours of these days are in the window. The first day and today may have points outside.
    if seen.finished(by_day, seen.now - timedelta(HOURLY_DAYS)).present and min(by_day.present) >= FULL * full:
        return Fine("it has all its credits")
    (series,) = seen.read(*efs.needs(file_system, HOUR_S, HOURLY_DAYS, BALANCE))
    begins = next((i for i, value in enumerate(series.values) if not isnan(value)), len(series))
    balance = series.since(series.start_s + begins * series.period_s)
    if not balance.present:
        return Unknown(f"BurstCreditBalance has no data in {HOURLY_DAYS} days")
    if min(balance.present) >= FULL * full:
        return Fine("it has all its credits")
    if len(balance.present) < limits.least_hours:
        return Unknown(f"its credits are known for {len(balance.present)} hours, and every job drains them")
    if not balance.since(balance.end_s - LATE * HOUR_S).present:
        return Unknown(f"BurstCreditBalance has no data in the last {LATE} hours")
    return balance


def _state(file_system: EfsFileSystem, week: Series, empty: float, metered: Series, permitted: Series) -> State:
    baseline = formulas.baseline_bytes_per_s(file_system.standard_bytes)
    full = formulas.full_credits_bytes(file_system.standard_bytes)
    rates = metered.since(week.start_s).over(HOUR_S)
    hours = zip(week.values, rates.values, strict=True)  # NaN, a missing point, is neither empty nor at the limit
    slow = [held <= empty and rate >= AT_LIMIT * baseline for held, rate in hours]
    slow = [False] * (-len(slow) % DAY) + slow  # pads the first day, so that the last day is whole
    slow_days = sum(map(any, batched(slow, DAY)))
    allowed = permitted.since(week.start_s)
    return State(file_system, week, rates, allowed, full, baseline, slow, slow_days, rates.newest(1))


def _going(shares: Sequence[float], limits: DrainingLimits) -> Going | Fine | Unknown:
    """Return when the credits end if the last week repeats (without a week, the last day), or the verdict."""
    course, horizon = Course(shares), limits.horizon_days * DAY
    rhythm, name = (WEEK, "week") if len(shares) >= WEEK + DAY else (DAY, "day")
    lowest = min(share for share in shares if not isnan(share))
    if rhythm == WEEK and lowest > NEVER_EMPTY:
        return Fine(f"{100 * lowest:.0f} % of its credits were left at the lowest")
    hours = next((hour for hour, left in enumerate(course.ahead(rhythm), 1) if left <= 0), None)
    if course.lost(rhythm) is None:
        return Unknown(f"BurstCreditBalance has too few points of the last day, or of a {name} before")
    if hours is None or hours > horizon:
        return Fine(f"its credits last, if the last {name} repeats")
    before = course.lost(WEEK, ago=WEEK + DAY) if rhythm == WEEK else None
    fell_daily = min(course.by_day(DAILY)) > 0  # a single job cannot do that
    if fell_daily or (before is not None and before >= LOSES):
        return Going(course, hours, rhythm, repeated=rhythm == WEEK)
    if rhythm == DAY:
        return Unknown("it drains, and is known for too short a time to say whether that continues")
    if before is not None:
        return Fine("what drained it is over, and did not happen the week before")
    if sum(fall >= LOSES for fall in course.by_day(7)) >= DAILY:
        return Going(course, hours, WEEK, repeated=False)
    return Unknown("it drained within the last week, and whether it did the week before is unknown")


def _evidence(state: State, going: Going | None = None) -> tuple[Evidence, ...]:
    balance, rates, baseline = state.balance, state.last_day, round(state.baseline / MIB, 3)
    left, ahead = balance.present[-1], None
    if going:
        shares = islice(going.course.ahead(going.rhythm), going.hours - 1)
        ahead = Series.of(balance.end_s, HOUR_S, [*(share * state.full for share in shares), 0.0])
    mean, line = round(sum(rates.present) / len(rates.present) / MIB, 3), (Line("Baseline", baseline),)
    now = state.permitted.present[-1:]
    return (
        Evidence("Credits left", left, "bytes", balance, state.full, forecast=ahead),
        Evidence("Part of all credits", round(100 * left / state.full, 1), "percent"),
        Evidence("Baseline, without credits", baseline, "MiB/s"),
        *(Evidence("Permitted in the last hour", round(rate / MIB, 3), "MiB/s") for rate in now),
        Evidence("Metered on the last day", mean, "MiB/s", rates.over(MIB), lines=line),
    )


def _flag_gone(state: State, *, gone: bool) -> Flagged:
    hours, today = sum(state.slow), sum(state.slow[-DAY:])
    often = f"{hours} hours on {state.slow_days} of the last 7 days"
    used = f"{today} of the last {DAY} hours" if gone and today else often
    confirmed = min(state.permitted.present, default=inf) <= state.baseline / AT_LIMIT
    reached = HEADROOM * max(state.metered.present)
    at_baseline = Evidence("Hours of the last week without credits, at the baseline", hours, "hours")
    return Flagged(
        summary=(
            f"Its burst credits {'are gone' if gone else 'run out again and again'}. It then has"
            f" {binary_rate_words(state.baseline)} (metered; reads get three times that), and used all of it in {used}"
        ),
        severity="high" if hours >= DAY else "medium",
        confidence="high" if confirmed else "medium",
        evidence=(*_evidence(state), at_baseline),
        advice=efs_throughput.more_throughput(state.file_system, state.baseline, 2, reached_bytes_per_s=reached),
        fingerprint_inputs=(GONE, size_class(state.baseline)),
        caveats=("The metered throughput is the limit, not the demand. No mode or amount follows from it.",),
    )


def _flag_going(seen: Seen, state: State, going: Going, moved: Month | None) -> Flagged:
    left, standard = state.balance.present[-1], state.file_system.standard_bytes
    # The average rate of the last day; if it has no data, of the week.
    rates = (sum(one.present) / len(one.present) for one in (state.last_day, state.metered))
    seconds = (formulas.seconds_to_empty(left, rate, standard) for rate in rates)
    by_rate_s = next((one for one in seconds if one is not None), None)
    by_balance_s = going.hours * HOUR_S
    first_s, last_s = sorted([by_balance_s, by_balance_s if by_rate_s is None else by_rate_s])
    agree = by_rate_s is not None and last_s <= first_s * (1 + APART)
    first, last = (f"{seen.now + timedelta(seconds=seconds):%Y-%m-%d}" for seconds in (first_s, last_s))
    when = f"around {first}" if agree or first == last else f"between {first} and {last}"
    rhythm = "week" if going.rhythm == WEEK else "day"
    rate = "never: it needs no more than the baseline" if by_rate_s is None else f"in {duration_words(by_rate_s)}"
    return Flagged(
        summary=(
            f"{100 * left / state.full:.0f} % of its burst credits are left. If the last {rhythm}"
            f" repeats, they are gone {when}, and it has {binary_rate_words(state.baseline)}"
        ),
        kind="risk",
        severity="medium",
        confidence="low" if not going.repeated else "high" if agree else "medium",
        evidence=(
            *_evidence(state, going),
            Evidence(f"Gone, by the balance a {rhythm} before", f"in {duration_words(by_balance_s)}", "words"),
            Evidence("Gone, by what is metered above the baseline", rate, "words"),
        ),
        advice=_options(state, moved),
        fingerprint_inputs=(GOING, size_class(state.baseline)),
        caveats=caveats(
            (f"Only one {rhythm} is known, and assumed to repeat.", not going.repeated),
            ("The two ways to the date differ by more than a quarter. Trust the earlier date.", not agree),
        ),
        cheapest_first=True,
    )


def _options(state: State, moved: Month | None) -> tuple[Advice, ...]:
    """Recommend a size for the busiest hour, unless the burst was its limit, and Elastic, with a price if known."""
    file_system, busiest = state.file_system, max(state.metered.present)
    burst = formulas.metered_ceiling("bursting", file_system)
    if busiest >= AT_LIMIT * burst:
        return efs_throughput.more_throughput(file_system, burst, HEADROOM)
    mib_s = min(formulas.PROVISIONED_MIB_S[1], ceil(busiest * HEADROOM / MIB))
    provisioned = efs_throughput.to_amount(file_system, mib_s, "a fifth above the busiest hour of the week")
    general = file_system.performance_mode == efs_throughput.GENERAL_PURPOSE
    return (*((efs_throughput.to_elastic(file_system, moved),) if general else ()), provisioned)


ALL: Final = formulas.full_credits_bytes(0)
SHARE = examples.efs(created_at=days_ago(90), availability_zone=None, stored_bytes={"Standard": 40 * GIB})


def by_hour(mib_s: Sequence[float], start: float = 1.0) -> Mapping[tuple[Metric, int], Sequence[float | None]]:
    """Return the metrics of 40 GiB (a baseline of 2 MiB/s) if clients need this much by the hour, newest last."""
    baseline, held, balance, metered = formulas.baseline_bytes_per_s(40 * GIB), start * ALL, [], []
    for needed in mib_s:
        rate = min(needed * MIB, baseline + held / HOUR_S)
        held = min(ALL, held + (baseline - rate) * HOUR_S)
        balance.append(held)
        metered.append(rate * HOUR_S)
    days = [sum(metered[max(0, end - DAY) : end]) for end in range(len(metered), 0, -DAY)][::-1]
    parts = (1.5, 1.5 / 256 / KIB, 0.5, 0.5 / 256 / KIB)  # of the metered bytes: read, reads, written and writes
    moved = [*([part * day for day in days] for part in parts), *([n] * len(days) for n in (1e8, 25_600.0, 6e7))]
    return {
        (BALANCE, HOUR_S): balance,
        (METERED, HOUR_S): metered,
        (PERMITTED, HOUR_S): [100 * MIB if held > 0 else baseline for held in balance],
        **{(metric, DAY_S): values for metric, values in zip(MOVED, moved, strict=True)},
    }


def share(title: str, expect: type[Verdict], says: str, mib_s: list[float], start: float = 1) -> Case:
    """Return a case with this much needed by the hour. Its age is that time if it is less than two weeks."""
    age = 90 if len(mib_s) >= 14 * DAY else len(mib_s) / DAY
    return case(title, expect, says, metrics=by_hour(mib_s, start), created_at=days_ago(age))


case = Cases(SHARE, period_s=HOUR_S)
gone = Cases(SHARE, by_hour([12.0] * (15 * DAY), start=0.5), period_s=HOUR_S)
WORKDAY, WEEKEND, NIGHT = [5.0] * 12 + [1.0] * 12, [0.2] * (2 * DAY), [0.5] * 20 + [8.0] * 3 + [0.5]
LESS_BACK = [0.2] * DAY + [*(WORKDAY * 5), *WEEKEND] * 2 + WORKDAY
TEN_DAYS = "ten days old, drained from Monday to Friday, and seen at the end of the weekend"
FASTER = [3.0] * (13 * DAY) + [6.0] * (2 * DAY)
FULL_CREDITS = {BALANCE: float(ALL), (BALANCE, DAY_S): float(ALL)}
EMPTY = {BALANCE: [0.0] * (15 * DAY), METERED: [0.1 * MIB * HOUR_S] * (15 * DAY)}

DETECTOR = Detector(
    title="EFS burst credits that run out",
    kind="performance",
    resource=EfsFileSystem,
    limits=DrainingLimits,
    judge=judge,
    outranks=("efs-throughput-mismatch",),
    cases=(
        gone("gone for days, and all of the baseline is used", Flagged, "are gone. It then has 1.95 MiB/s (metered;"),
        share("empty every night, and back by day", Flagged, "run out again", ([60.0] * 6 + [0.0] * 18) * 15, 0.05),
        share("more than the baseline, day and night", Flagged, "repeats, they are gone around", [3.2] * (15 * DAY)),
        share("faster of late: the two ways to the date differ", Flagged, "are gone between 2026-11-", FASTER),
        share("less comes back at each weekend than each week takes", Flagged, "If the last week", LESS_BACK, 0.25),
        share("five days old, and draining since it was created", Flagged, "If the last day", [5.0] * (5 * DAY)),
        share(TEN_DAYS, Flagged, "If the last week repeats", [5.0] * DAY + WEEKEND + [6.0] * (5 * DAY) + WEEKEND),
        share("a batch every night that is earned again by day", Fine, "left at the lowest", NIGHT * 15),
        case("gone, and nobody asks for more than the baseline", Fine, "needs more than its baseline", metrics=EMPTY),
        share("twenty hours old, and draining", Unknown, "known for 20 hours", [30.0] * 20),
        share("two days old, and half empty", Unknown, "too short a time", [8.0] * 50),
        gone("gone, and no metered throughput", Unknown, "whether anyone waits", metrics={METERED: None}),
        case("no data at all", Unknown, "no data in 16 days"),
        case("all its credits", Fine, "all its credits", metrics=FULL_CREDITS),
        case("Elastic, which has no credits", Fine, "its throughput is elastic", throughput_mode="elastic"),
        case("being deleted", Fine, "deleting", state="deleting"),
    ),
)
