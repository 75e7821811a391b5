"""EFS file systems in a throughput mode that another one beats, or that does not carry what they do.

## What it finds
Provisioned throughput whose busiest five minutes of two weeks, with a fifth more, another amount or another mode would carry;
Elastic throughput that bursting or a provisioned amount would carry. The bucket of burst credits is simulated over all those
five minutes, and over 36 days by the day: bursting is named only where a quarter of the credits would always have been left.
And, as slowness, a file system that was at its limit (95 % of what is permitted) for an hour or more on five of 14 days; or
at what is provisioned for 24 hours in all, or for the last six.

## Why it matters
Provisioned throughput is billed by the hour, used or not; Elastic by every GiB, at least 32 KiB for each operation, and reads
are not discounted as they are under a limit. Bursting costs nothing ("Can Amazon EFS replace EBS?", 2025-02-19). At a limit the
meter shows the limit and not the demand: nothing is sized from such points, and one of them is enough to say nothing of money.

## When it is wrong
Five-minute means hide shorter peaks: what takes a minute now may take five afterwards, so the confidence is high only where
five times as much would be carried as well. A load that comes less often than
every 36 days is not seen, and neither are the five minutes of an older day that moved less than a fifth more than the last 14
did. Credits are counted as earned by size alone, without the floor of 1 MiB/s that throughput has. What Elastic will bill is
bounded by operations and bytes, and stated at its most; what it bills now, at its least. Archive needs Elastic, so a file
system with data there is left alone; so is a replica, whose bytes come from replication.

## What to do
Change the mode, or the amount, online. Leave Provisioned, or lower it, 24 hours after its last change at the earliest.
Afterwards watch BurstCreditBalance, or the bill, for a week. A file system at its limit gets more in steps, until what is
metered stays below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import groupby
from math import ceil, isnan
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import Change, size_class
from slackwater.model.quantities import binary_rate_words, duration_words, size_words
from slackwater.model.resources import EfsFileSystem, Target
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, GIB, HOUR_S, KIB, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Ask, Confidence, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import efs
from slackwater.rules.advice import by_program
from slackwater.rules.efs_throughput import (
    DAYS_A_MONTH,
    GENERAL_PURPOSE,
    HOURLY_DAYS,
    LOOK_BACK_DAYS,
    METADATA,
    METADATA_OPERATIONS,
    METADATA_READ,
    METERED,
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
    mode_words,
    month,
    month_needs,
    more_throughput,
    need,
    setting,
)

METERED_OPERATIONS = Metric("AWS/EFS", "MeteredIOBytes", "SampleCount", "operations")
CREDITS_BY_DAY = Metric("AWS/EFS", "BurstCreditBalance", "Minimum", "bytes")

SURELY_CHEAPER_GIB: Final = 80
SURELY_DEARER_GIB: Final = 125
"""A MiB/s provisioned for a month costs as much as Elastic does for 100 GiB written, and a GiB that is read half as much as one
that is written (Amazon EFS pricing; 100 and 50 % in us-east-1, 103 and 57 % in Tokyo). So much less, or more, settles without
prices that Elastic is cheaper, or dearer."""

HOLE: Final = 12
"""Five-minute points missing in a row, an hour, that make a hole; scattered ones, and the last ones that are late, do not."""

LATE: Final = 3
"""Five-minute points at the end that may not be there yet."""

POINTS_A_DAY: Final = DAY_S // FIVE_MINUTES_S
HOURS_A_DAY: Final = DAY_S // HOUR_S

BUSY: Final = 0.25
"""The share of its limit that an hour moves in which the file system may have been at it for long."""

SCATTERED: Final = 0.02
"""The share of points that may be missing without any hole."""


SPIKY: Final = "it is billed for less than it would take to provision its busiest five minutes"
SUITS: Final = "what it pays for suits what it uses"


class MismatchLimits(Limits):
    """What another mode must carry, and what counts as held at a limit."""

    window_days: int = limit(14, unit="days", ge=7, le=35, why="two weekly rhythms, by five minutes")
    headroom_percent: float = limit(20, unit="percent", ge=0, le=400, why="more than the busiest five minutes must be carried")
    spare_credits_percent: float = limit(
        25, unit="percent", ge=0, lt=100, why="of the credits have to be left at their lowest, should the load grow"
    )
    lower_percent: float = limit(20, unit="percent", gt=0, lt=100, why="a smaller cut of the amount is not worth the trouble")
    least_gib: float = limit(10, unit="GiB", ge=0, why="metered a month; Elastic bills about a dollar for it at most")
    at_limit_percent: float = limit(
        95, unit="percent", gt=50, le=100, why="of what is permitted: above, the meter shows the limit and not the demand"
    )
    at_limit_minutes: int = limit(60, unit="minutes", ge=5, le=1440, why="a day; a batch of minutes at full speed hurts nobody")
    at_limit_days: int = limit(
        5, unit="days", ge=1, le=36, why="of the window: a weekly job that lasts past the end of a day comes on four"
    )
    at_provisioned_hours: int = limit(24, unit="hours", ge=1, le=336, why="in all: a day of waiting, on however few days")
    now_at_provisioned_hours: int = limit(6, unit="hours", ge=1, le=24, why="until now: longer than most jobs of one night")


@dataclass(frozen=True, slots=True)
class Demand:
    """What was metered (bytes), what was permitted (bytes a second), and for how long all of that was used."""

    by_day: Series
    by_five_minutes: Series
    permitted: Series
    limited_s: int

    @property
    def peak_bytes_per_s(self) -> float:
        """The busiest five minutes."""
        return max(self.by_five_minutes.present) / FIVE_MINUTES_S

    @property
    def month_gib(self) -> float:
        """By the mean of the days."""
        return sum(self.by_day.present) / len(self.by_day.present) * DAYS_A_MONTH / GIB


def judge(file_system: EfsFileSystem, seen: Seen, limits: MismatchLimits) -> Verdict:
    """Flag a file system that another throughput mode or amount carries for less, or that its own does not carry."""
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    if file_system.is_replica:
        return Fine("it is the destination of a replication, which moves its bytes")
    if file_system.stored_bytes.get("Archive"):
        return Fine("it has data in Archive, which needs Elastic throughput")
    if seen.age(file_system.created_at) < timedelta(days=limits.window_days):
        return Fine(f"it is younger than {limits.window_days} days")

    daily = need(file_system, METERED, DAY_S, LOOK_BACK_DAYS)
    if lacking := seen.lacking([daily]):
        return Ask(lacking)
    by_day = seen.finished(seen[daily], file_system.created_at)
    recent = by_day.since(by_day.end_s - limits.window_days * DAY_S)
    if not recent.present:
        return Unknown(f"MeteredIOBytes has no point in {limits.window_days} days")
    if file_system.throughput_mode == "elastic":
        return _judge_elastic(file_system, seen, limits, by_day, recent)
    return _judge_limited(file_system, seen, limits, by_day, recent)


def _judge_elastic(file_system: EfsFileSystem, seen: Seen, limits: MismatchLimits, by_day: Series, recent: Series) -> Verdict:
    """Everything that moves is billed: would a mode with a limit carry it for less?"""
    if recent.missing:
        return _holes(recent)
    if sum(by_day.present) / len(by_day.present) * DAYS_A_MONTH < limits.least_gib * GIB:
        return Fine(f"less than {limits.least_gib:g} GiB are metered a month")
    operations_need = need(file_system, METERED_OPERATIONS, DAY_S, LOOK_BACK_DAYS)
    demand = _demand(file_system, seen, limits, by_day, recent, operations_need)
    if not isinstance(demand, Demand):
        return demand
    if demand.limited_s:
        return Unknown("it was at a limit within the window, which Elastic throughput has not: its demand is not known")
    bursting, amount = _bursting_carries(file_system, demand, limits), _amount(file_system, demand, limits)
    operations = seen.finished(seen[operations_need], file_system.created_at).present
    if amount is not None and operations:
        small_gib = sum(operations) / len(operations) * DAYS_A_MONTH * efs.LEAST_DATA_BYTES / GIB
        most_gib = 2 * demand.month_gib + small_gib  # what is metered as one GiB was written, or three were read
        if most_gib < SURELY_CHEAPER_GIB * _paid_mib_s(file_system, amount):
            amount = None
    if not bursting and amount is None:
        return Fine(SPIKY)

    if lacking := seen.lacking(month_needs(file_system)):
        return Ask(lacking)
    moved = month(file_system, seen, limits.window_days)
    if isinstance(moved, Unknown):
        return moved
    fits = _Fits(file_system, demand, moved, limits, amount)
    bill = moved.elastic_at_least
    ways = dict[str, Advice]()
    if bursting and fits.carries("bursting"):
        ways["bursting"] = _to_bursting(file_system, demand, limits, bill)
    dear = amount is not None and _as_written_gib(bill) >= SURELY_CHEAPER_GIB * _paid_mib_s(file_system, amount)
    if amount is not None and dear and fits.carries("provisioned"):
        ways[f"{amount:,} MiB/s provisioned"] = _to_amount(file_system, amount, limits, bill)
    if not ways:
        return Fine(fits.why_not or SPIKY)
    return _flag_waste(
        file_system,
        demand,
        ways,
        moved,
        amount,
        confidence="medium",
        caveats=("AWS does not say how many credits a file system has when it comes from Elastic.",) if bursting else (),
    )


def _judge_limited(file_system: EfsFileSystem, seen: Seen, limits: MismatchLimits, by_day: Series, recent: Series) -> Verdict:
    """It may go up to a limit: is it held there, and is it paid for and not used?"""
    provisioned = 0.0 if efs.bursts(file_system) else file_system.provisioned_mib_s or 0.0
    ceiling = efs.metered_ceiling("provisioned" if provisioned else "bursting", file_system, provisioned)
    paid = _paid_mib_s(file_system, provisioned)
    at_limit_bytes = ceiling * limits.at_limit_percent / 100 * limits.at_limit_minutes * MINUTE_S
    busy_days = sum(moved >= at_limit_bytes for moved in recent.present)
    if not paid and busy_days + recent.missing < limits.at_limit_days:
        return Fine("it costs nothing, and was not held at its limit")
    if paid and recent.missing:
        return _holes(recent)

    if not paid:
        by_hour = need(file_system, METERED, HOUR_S, max(HOURLY_DAYS, limits.window_days))
        if lacking := seen.lacking([by_hour]):
            return Ask(lacking)
        if not _may_be_held(seen[by_hour], ceiling, limits):
            return Fine("it costs nothing, and was not held at its limit")
    demand = _demand(file_system, seen, limits, by_day, recent)
    if not isinstance(demand, Demand):
        return demand
    held = _held_at(demand, ceiling, limits)
    for_long = sum(held) >= limits.at_provisioned_hours * HOUR_S or _held_now(demand, ceiling, limits)
    if len(held) >= limits.at_limit_days or (paid and for_long):
        return _flag_limit(file_system, demand, limits, ceiling, held)
    if not paid:
        return Fine("it costs nothing, and was not held at its limit")
    if demand.limited_s:
        return Fine(f"it used all that it pays for, for {duration_words(demand.limited_s)}: its demand is not known")
    bursting, amount = _bursting_carries(file_system, demand, limits), _amount(file_system, demand, limits)
    if amount is not None and amount > provisioned * (1 - limits.lower_percent / 100):
        amount = None
    elastic = file_system.performance_mode == GENERAL_PURPOSE and demand.month_gib < SURELY_DEARER_GIB * paid
    if not bursting and amount is None and not elastic:
        return Fine(SUITS)

    # As far back as all that is asked by the day: in a window of its own it would wait long for a full call.
    credits_need = need(file_system, CREDITS_BY_DAY, DAY_S, LOOK_BACK_DAYS)
    if lacking := seen.lacking([*month_needs(file_system), *([credits_need] if bursting else [])]):
        return Ask(lacking)
    moved = month(file_system, seen, limits.window_days)
    if isinstance(moved, Unknown):
        return moved
    fits = _Fits(file_system, demand, moved, limits, amount)
    ways = dict[str, Advice]()
    balance = _newest(seen[credits_need]) if bursting else None
    if bursting and fits.carries("bursting"):
        sure = _bursts_for_sure(file_system, demand, limits, ceiling, balance)
        ways["bursting"] = _to_bursting(file_system, demand, limits, sure=sure)
    if amount is not None:
        ways[f"{amount:,} MiB/s"] = _to_amount(file_system, amount, limits)
    if elastic and fits.carries("elastic") and _as_written_gib(moved.elastic_at_most) < SURELY_DEARER_GIB * paid:
        ways["Elastic"] = _to_elastic(file_system, moved)
    if not ways:
        return Fine(fits.why_not or SUITS)
    most = {"bursting": efs.metered_ceiling("bursting", file_system), "Elastic": ceiling}
    slowest = min(most.get(way, (amount or 0) * MIB) for way in ways)
    shorter = _shorter_peaks(demand, ceiling, slowest)
    watched = not by_day.missing and len(by_day) >= LOOK_BACK_DAYS
    return _flag_waste(
        file_system,
        demand,
        ways,
        moved,
        amount,
        confidence="high" if watched and not shorter else "medium",
        caveats=(*shorter, WAIT, *_credits_caveat(file_system, balance)),
    )


def _holes(recent: Series) -> Unknown:
    return Unknown(f"MeteredIOBytes has no point on {recent.missing} of the last {len(recent)} days")


def _standard(file_system: EfsFileSystem) -> int:
    return file_system.stored_bytes.get("Standard", 0)


def _paid_mib_s(file_system: EfsFileSystem, amount: float) -> float:
    """Of what is provisioned, what is not included."""
    return float(efs.provisioned_units(amount, _standard(file_system)).quantity)


def _as_written_gib(elastic: tuple[Change, ...]) -> float:
    """What Elastic throughput bills, as GiB written for the same money."""
    read, written = elastic
    return float(read.quantity) / 2 + float(written.quantity)


def _demand(
    file_system: EfsFileSystem, seen: Seen, limits: MismatchLimits, by_day: Series, recent: Series, *more: Need
) -> Demand | Ask | Unknown:
    """The window by five minutes, or as far as by the day where an older day was busier by more than the headroom covers."""
    older = by_day.between(by_day.start_s, recent.start_s)
    busier = max(older.present, default=0) > max(recent.present) * _with_headroom(limits)
    days = LOOK_BACK_DAYS if busier else limits.window_days + 1  # whole days begin before as many times 24 hours do
    needs = [need(file_system, metric, FIVE_MINUTES_S, days) for metric in (METERED, PERMITTED)]
    if lacking := seen.lacking([*needs, *more]):
        return Ask(lacking)
    metered, permitted = (seen.finished(seen[one], file_system.created_at) for one in needs)
    within = metered.end_s - limits.window_days * DAY_S
    for one, metric in ((metered.since(within), METERED), (permitted.since(within), PERMITTED)):
        if _longest_hole(one) >= HOLE or one.missing > SCATTERED * len(one):
            lost = duration_words(one.missing * FIVE_MINUTES_S)
            return Unknown(f"{metric.name} has no point for {lost} of the last {limits.window_days} days")
    if not busier:
        metered, permitted = metered.since(recent.start_s), permitted.since(recent.start_s)
    limited_s = sum(_at_limit(metered, permitted, 0, limits)) * FIVE_MINUTES_S
    return Demand(by_day, metered, permitted, limited_s)


def _longest_hole(series: Series) -> int:
    return max((sum(1 for _ in run) for missing, run in groupby(series.values, isnan) if missing), default=0)


def _at_limit(metered: Series, permitted: Series, least_permitted: float, limits: MismatchLimits) -> list[bool]:
    """At which points all that is permitted was used, where at least so much was permitted."""
    share = limits.at_limit_percent / 100
    return [
        most >= least_permitted and used >= most * share * FIVE_MINUTES_S  # NaN, a missing point, is neither
        for used, most in zip(metered.values, permitted.values, strict=True)
    ]


def _held_at(demand: Demand, ceiling: float, limits: MismatchLimits) -> list[int]:
    """For how many seconds it was at its present limit, on each day of the window on which that was for long."""
    metered, permitted = (
        series.since(series.end_s - limits.window_days * DAY_S) for series in (demand.by_five_minutes, demand.permitted)
    )
    at_limit = _at_limit(metered, permitted, ceiling * limits.at_limit_percent / 100, limits)
    days = [sum(at_limit[i : i + POINTS_A_DAY]) * FIVE_MINUTES_S for i in range(0, len(at_limit), POINTS_A_DAY)]
    return [seconds for seconds in days if seconds >= limits.at_limit_minutes * MINUTE_S]


def _held_now(demand: Demand, ceiling: float, limits: MismatchLimits) -> bool:
    """Whether it has been at its present limit for hours, but for points that are late."""
    hours_s = limits.now_at_provisioned_hours * HOUR_S
    metered, permitted = (series.since(series.end_s - hours_s) for series in (demand.by_five_minutes, demand.permitted))
    known = sum(not isnan(used + most) for used, most in zip(metered.values, permitted.values, strict=True))
    at_limit = sum(_at_limit(metered, permitted, ceiling * limits.at_limit_percent / 100, limits))
    return at_limit == known >= len(metered) - LATE


def _shorter_peaks(demand: Demand, ceiling: float, carried: float) -> tuple[str, ...]:
    """What to look at where one of the busiest five minutes may have been too fast, had it moved all that they did."""
    minute = min(ceiling, demand.peak_bytes_per_s * FIVE_MINUTES_S / MINUTE_S)
    if minute <= carried:
        return ()
    fastest = binary_rate_words(minute)
    look = "look at MeteredIOBytes by the minute (Period 60, Sum / 60), which CloudWatch keeps for 15 days."
    return (f"Single minutes are not seen, and may have reached {fastest}: before choosing what carries less, {look}",)


def _may_be_held(by_hour: Series, ceiling: float, limits: MismatchLimits) -> bool:
    """Whether enough days have busy hours that moved as much as the limit allows for so long; a missing hour may be one."""
    hour_bytes = ceiling * HOUR_S
    busy = [hour_bytes if isnan(moved) else moved if moved >= BUSY * hour_bytes else 0.0 for moved in by_hour.values]
    at_limit_bytes = ceiling * limits.at_limit_percent / 100 * limits.at_limit_minutes * MINUTE_S
    days = [sum(busy[i : i + HOURS_A_DAY]) for i in range(0, len(busy), HOURS_A_DAY)]
    return sum(moved >= at_limit_bytes for moved in days) >= limits.at_limit_days


def _with_headroom(limits: MismatchLimits) -> float:
    return 1 + limits.headroom_percent / 100


def _bursting_carries(file_system: EfsFileSystem, demand: Demand, limits: MismatchLimits) -> bool:
    """Whether the peak is within a burst, the credits never come near their end, and they are earned again."""
    more = _with_headroom(limits)
    if demand.peak_bytes_per_s * more > efs.metered_ceiling("bursting", file_system):
        return False
    standard = _standard(file_system)
    if demand.month_gib * GIB * more > efs.earned_bytes_per_s(standard) * DAYS_A_MONTH * DAY_S:
        return False
    return _lowest_of_all(file_system, demand, limits) >= efs.full_credits_bytes(standard) * limits.spare_credits_percent / 100


def _lowest_of_all(file_system: EfsFileSystem, demand: Demand, limits: MismatchLimits) -> float:
    """The fewest credits, by the day and by five minutes, with the headroom and from full."""
    more = _with_headroom(limits)
    return min(_lowest_credits(file_system, series, more) for series in (demand.by_day, demand.by_five_minutes))


def _lowest_credits(file_system: EfsFileSystem, metered: Series, more: float) -> float:
    standard = _standard(file_system)
    full = efs.full_credits_bytes(standard)
    return efs.lowest_credits((used * more for used in _filled(metered)), metered.period_s, standard, full)


def _filled(series: Series) -> list[float]:
    """A missing point is as the one before it."""
    filled, last = [], 0.0
    for value in series.values:
        last = last if isnan(value) else value
        filled.append(last)
    return filled


def _amount(file_system: EfsFileSystem, demand: Demand, limits: MismatchLimits) -> int | None:
    """The MiB/s to provision for the peak; None where that cannot be had, or where the size earns more."""
    least, _ = efs.PROVISIONED_MIB_S
    amount = max(least, ceil(demand.peak_bytes_per_s * _with_headroom(limits) / MIB * (1 - efs.NOISE)))
    carries = efs.metered_ceiling("provisioned", file_system, amount) >= amount * MIB
    most = efs.PROVISIONED_MIB_S[1]
    if amount > most or not carries or efs.is_bursting(amount * MIB, _standard(file_system)):
        return None
    return amount


class _Fits:
    """Whether the other modes carry the peak in bytes and in operations, the month's mix taken for the peak's."""

    def __init__(
        self, file_system: EfsFileSystem, demand: Demand, moved: Month, limits: MismatchLimits, amount: int | None
    ) -> None:
        load = moved.load(demand.peak_bytes_per_s * _with_headroom(limits))
        one_zone = file_system.availability_zone is not None
        self._from_elastic = file_system.throughput_mode == "elastic"
        self._client = efs.limits("bursting", one_zone=one_zone).client_bytes_per_s
        self._peak = load.peak_bytes_per_s
        self._fits = efs.fits(
            load,
            file_system.target.region,
            one_zone=one_zone,
            standard_bytes=_standard(file_system),
            provisioned_mib_s=amount or file_system.provisioned_mib_s or 0,
        )

    def carries(self, mode: efs.EfsMode) -> bool:
        """True where it does; one client may be all that there is."""
        return not self._fits[mode].too_fast and not (self._from_elastic and self._peak > self._client)

    @property
    def why_not(self) -> str | None:
        """In words; None where all carry it."""
        if self._from_elastic and self._peak > self._client:
            return f"other modes carry it only with several clients: each may move {binary_rate_words(self._client)}"
        return next((reason for fit in self._fits.values() for reason in fit.too_fast), None)


def _bursts_for_sure(
    file_system: EfsFileSystem, demand: Demand, limits: MismatchLimits, ceiling: float, held: Series | None
) -> bool:
    """Whether nobody has to look first: single minutes are carried, too, and the credits that it has now suffice."""
    if held is None or not held.present or _shorter_peaks(demand, ceiling, efs.metered_ceiling("bursting", file_system)):
        return False
    full = efs.full_credits_bytes(_standard(file_system))
    taken = full - _lowest_of_all(file_system, demand, limits)
    return held.present[-1] - taken >= full * limits.spare_credits_percent / 100


def _to_bursting(
    file_system: EfsFileSystem,
    demand: Demand,
    limits: MismatchLimits,
    elastic_before: tuple[Change, ...] = (),
    *,
    sure: bool = False,
) -> Advice:
    standard = _standard(file_system)
    full, lowest = efs.full_credits_bytes(standard), _lowest_of_all(file_system, demand, limits)
    fill_s = efs.seconds_to_fill(full - lowest, efs.earned_bytes_per_s(standard))
    from_empty = f" From none it takes {duration_words(fill_s)} at rest to earn what they need." if fill_s else ""
    to = setting("bursting")
    return Advice(
        action="change-to-bursting",
        summary=(
            f"Change to bursting: up to {binary_rate_words(efs.metered_ceiling('bursting', file_system))} are metered, and with"
            f" {limits.headroom_percent:g} % more load {100 * lowest / full:.0f} % of its credits would have been left at the"
            " lowest."
        ),
        changes=changed(file_system, "bursting", elastic_before=elastic_before),
        risk=(
            "A load that grows, or a Standard class that shrinks, empties the credits; then it has"
            f" {binary_rate_words(efs.baseline_bytes_per_s(standard))}. Set an alarm on BurstCreditBalance.{from_empty}"
        ),
        reversible=True,
        command=command(file_system, to),
        setting=by_program(file_system, to, sure=sure),
    )


def _to_amount(
    file_system: EfsFileSystem, amount: int, limits: MismatchLimits, elastic_before: tuple[Change, ...] = ()
) -> Advice:
    """Single minutes are not seen, and may want more than this amount: somebody looks, and then does it."""
    lower = file_system.throughput_mode == "provisioned"
    return Advice(
        action="lower-provisioned" if lower else "change-to-provisioned",
        summary=(
            f"{'Lower it to' if lower else 'Change to Provisioned with'} {amount:,} MiB/s: the busiest five minutes and"
            f" {limits.headroom_percent:g} % more."
        ),
        changes=changed(file_system, "provisioned", amount, elastic_before=elastic_before),
        risk="A peak above it, even of a minute, waits until the amount is raised; raising is always allowed.",
        reversible=True,
        command=command(file_system, setting("provisioned", amount)),
    )


def _to_elastic(file_system: EfsFileSystem, moved: Month) -> Advice:
    billed, to = sum(float(unit.quantity) for unit in moved.elastic_at_most), setting("elastic")
    return Advice(
        action="change-to-elastic",
        summary=(
            f"Change to Elastic: it bills what moves, {size_words(billed * GIB)} a month at most, counted with 32 KiB more for"
            " each read or write and 4 KiB for metadata."
        ),
        changes=changed(file_system, "elastic", elastic_after=moved.elastic_at_most),
        risk="The bill has no ceiling: a load that grows, or a full scan of the files, is paid by the GiB.",
        reversible=True,
        command=command(file_system, to),
        setting=by_program(file_system, to),
    )


def _newest(by_day: Series) -> Series:
    """Today and the two days before."""
    return by_day.since(by_day.end_s - 3 * DAY_S)


def _credits_caveat(file_system: EfsFileSystem, held: Series | None) -> tuple[str, ...]:
    """How many credits it would begin with; nothing where bursting is no way out."""
    if held is None:
        return ()
    if not held.present:
        return ("CloudWatch has no BurstCreditBalance: nobody knows how many credits it would begin with.",)
    full = efs.full_credits_bytes(_standard(file_system))
    return (f"It would begin with the credits that it has now, {100 * held.present[-1] / full:.0f} % of all.",)


def _peaks_by_day(demand: Demand) -> Series:
    """The busiest five minutes of each day, in MiB/s."""
    metered, starts = demand.by_five_minutes, range(0, len(demand.by_five_minutes), POINTS_A_DAY)
    days = [[used for used in metered.values[i : i + POINTS_A_DAY] if not isnan(used)] for i in starts]
    return Series.of(metered.start_s, DAY_S, [max(day) / FIVE_MINUTES_S / MIB if day else None for day in days])


def _levels(file_system: EfsFileSystem, ways: Mapping[str, Advice], amount: int | None) -> tuple[Line, ...]:
    """What is provisioned, and what the ways would let through."""
    found = []
    if file_system.provisioned_mib_s:
        found.append(Line("Provisioned", file_system.provisioned_mib_s))
    if amount is not None and set(ways) - {"bursting", "Elastic"}:
        found.append(Line("Proposed", amount))
    if "bursting" in ways:
        found.append(Line("Bursting at most", round(efs.metered_ceiling("bursting", file_system) / MIB, 2)))
    return tuple(found)


def _flag_waste(
    file_system: EfsFileSystem,
    demand: Demand,
    ways: Mapping[str, Advice],
    moved: Month,
    amount: int | None,
    *,
    confidence: Confidence,
    caveats: tuple[str, ...],
) -> Flagged:
    peak = demand.peak_bytes_per_s / MIB
    operations = moved.read.operations + moved.written.operations
    evidence = [
        Evidence(label="Throughput mode", value=mode_words(file_system), unit="words"),
        Evidence(
            label="Busiest five minutes, as metered",
            value=round(peak, 2),
            unit="MiB/s",
            series=_peaks_by_day(demand),
            scale=file_system.provisioned_mib_s,
            lines=_levels(file_system, ways, amount),
        ),
        Evidence(label="Metered a month", value=round(demand.month_gib, 1), unit="GiB"),
        Evidence(label="Read a month", value=round(moved.read.size_bytes / GIB, 1), unit="GiB"),
        Evidence(label="Written a month", value=round(moved.written.size_bytes / GIB, 1), unit="GiB"),
        Evidence(label="In Standard", value=round(_standard(file_system) / GIB, 1), unit="GiB"),
    ]
    if operations:
        mean = (moved.read.size_bytes + moved.written.size_bytes) / operations / KIB
        evidence.append(Evidence(label="Mean size of a read or write", value=round(mean, 1), unit="KiB"))
    days = len(demand.by_five_minutes) // POINTS_A_DAY
    return Flagged(
        summary=(
            f"{mode_words(file_system)}, and the busiest five minutes of {days} days metered {peak:,.3g} MiB/s:"
            f" {' or '.join(ways)} would carry it"
        ),
        confidence=confidence,
        evidence=tuple(evidence),
        advice=tuple(ways.values()),
        gist=(
            file_system.throughput_mode,
            size_class(file_system.provisioned_mib_s or 0),
            *sorted(way.action for way in ways.values()),
        ),
        caveats=(
            "Peaks are five-minute means: shorter ones are higher, and would take longer.",
            *caveats,
            *managed_caveats(file_system),
        ),
        cheapest_first=True,
    )


def _flag_limit(file_system: EfsFileSystem, demand: Demand, limits: MismatchLimits, ceiling: float, held: list[int]) -> Flagged:
    which = "burst" if efs.bursts(file_system) else "provisioned"
    return Flagged(
        summary=(
            f"it was at its limit of {binary_rate_words(ceiling)} ({which}) for {duration_words(sum(held))} on {len(held)} of"
            f" {limits.window_days} days: what it moved is the limit, and the demand is not known"
        ),
        kind="performance",
        severity="medium" if sum(held) >= limits.window_days * 2 * HOUR_S else "low",
        confidence="high",
        evidence=(
            Evidence(label="Throughput mode", value=mode_words(file_system), unit="words"),
            Evidence(
                label="Busiest five minutes, as metered",
                value=round(demand.peak_bytes_per_s / MIB, 2),
                unit="MiB/s",
                series=_peaks_by_day(demand),
                scale=ceiling / MIB,
                lines=(Line(f"{which.capitalize()}, its limit", round(ceiling / MIB, 2)),),
            ),
            Evidence(label="At its limit", value=round(sum(held) / HOUR_S, 1), unit="hours"),
            Evidence(label="On", value=len(held), unit="days"),
        ),
        advice=more_throughput(file_system, ceiling, 1.5),
        gist=("at its limit", size_class(ceiling)),
        caveats=(
            "Ask first whether anybody waits: a batch that ends in time needs nothing.",
            *((WAIT,) if which == "provisioned" else ()),
            *managed_caveats(file_system),
        ),
    )


_SHARE = EfsFileSystem(
    id="fs-0123456789abcdef1",
    arn="arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef1",
    target=Target("123456789012", "us-east-1"),
    tags={"Name": "render-scratch"},
    state="available",
    created_at=CASE_NOW - timedelta(days=400),
    throughput_mode="provisioned",
    provisioned_mib_s=256,
    performance_mode=GENERAL_PURPOSE,
    availability_zone=None,
    stored_bytes={"Standard": 300 * GIB, "IA": 0, "Archive": 0},
    mount_targets=3,
    is_replica=False,
)
_ELASTIC = replace(_SHARE, throughput_mode="elastic", provisioned_mib_s=None)
_BURSTING = replace(_SHARE, throughput_mode="bursting", provisioned_mib_s=None)

type _Metrics = Mapping[tuple[Metric, int], Sequence[float | None]]


def _moving(
    *spans: tuple[float, int],
    permitted: float = 256,
    read_share: float = 0.5,
    operation_bytes: float = 256 * KIB,
    older: float = 0,
) -> _Metrics:
    """Every day the same spans of MiB/s metered and minutes; of `older` TiB, a day three weeks ago moved more."""
    day = [rate * MIB * FIVE_MINUTES_S for rate, minutes in spans for _ in range(minutes // 5)]
    assert len(day) == POINTS_A_DAY
    metered, old_day = sum(day), older * 1024 * GIB
    days = [metered] * 16 + [metered + old_day] + [metered] * 20
    written = metered * (1 - read_share)
    read = (metered - written) * efs.READ_DISCOUNT
    by_five_minutes = day * 36
    if older:
        first = 15 * POINTS_A_DAY
        by_five_minutes[first : first + 36] = [old_day / 36] * 36
    return {
        (METERED, DAY_S): days,
        (METERED, HOUR_S): [sum(by_five_minutes[i : i + 12]) for i in range(0, len(by_five_minutes), 12)],
        (METERED, FIVE_MINUTES_S): by_five_minutes,
        (PERMITTED, FIVE_MINUTES_S): [permitted * MIB] * len(by_five_minutes),
        (METERED_OPERATIONS, DAY_S): [(read + written) / operation_bytes] * 37,
        (READ, DAY_S): [read] * 37,
        (READS, DAY_S): [read / operation_bytes] * 37,
        (WRITTEN, DAY_S): [written] * 37,
        (WRITES, DAY_S): [written / operation_bytes] * 37,
        (METADATA, DAY_S): [200.0 * MIB] * 37,
        (METADATA_OPERATIONS, DAY_S): [51_200.0] * 37,
        (METADATA_READ, DAY_S): [150.0 * MIB] * 37,
        (CREDITS_BY_DAY, DAY_S): [float(efs.full_credits_bytes(0))] * 3,
    }


def _until(metrics: _Metrics, metric: Metric, days_ago: int, value: float) -> _Metrics:
    """Another value of a metric by five minutes until so long ago."""
    values = list(metrics[metric, FIVE_MINUTES_S])
    changed_at = len(values) - days_ago * POINTS_A_DAY
    return {**metrics, (metric, FIVE_MINUTES_S): [value] * changed_at + values[changed_at:]}


_CALM = ((4.0, 600), (8.0, 480), (4.0, 360))
_NIGHTLY = ((0.5, 120), (200.0, 10), (0.5, 1310))
_STEADY = ((60.0, 1440),)

DETECTOR = Detector(
    title="EFS throughput mode that does not suit the load",
    kind="waste",
    resource=EfsFileSystem,
    limits=MismatchLimits,
    judge=judge,
    cases=(
        Case(
            title="256 MiB/s provisioned, and 8 used",
            resource=_SHARE,
            metrics=_moving(*_CALM),
            expect=Flagged,
            says="metered 8 MiB/s: bursting or Elastic would carry it",
        ),
        Case(
            title="512 MiB/s provisioned, and a steady 60 used",
            resource=replace(_SHARE, provisioned_mib_s=512),
            metrics=_moving(*_STEADY, permitted=512),
            expect=Flagged,
            says="metered 60 MiB/s: 72 MiB/s would carry it",
        ),
        Case(
            title="256 MiB/s provisioned for ten minutes a night",
            resource=_SHARE,
            metrics=_moving(*_NIGHTLY),
            expect=Flagged,
            says="metered 200 MiB/s: Elastic would carry it",
        ),
        Case(
            title="64 MiB/s provisioned, and a steady 60 used",
            resource=replace(_SHARE, provisioned_mib_s=64),
            metrics=_moving(*_STEADY, permitted=68),
            expect=Fine,
            says="suits what it uses",
        ),
        Case(
            title="provisioned, and a closing once a month that needs it",
            resource=_SHARE,
            metrics=_moving((30.0, 1440), older=1.9),
            expect=Fine,
            says="suits what it uses",
        ),
        Case(
            title="at what is provisioned for hours every night",
            resource=replace(_SHARE, provisioned_mib_s=64),
            metrics=_moving((64.0, 180), (3.0, 1260), permitted=64),
            expect=Flagged,
            says="at its limit of 64 MiB/s (provisioned) for 1 d 18 h on 14 of 14 days",
        ),
        Case(
            title="at what is provisioned day and night for the last four days",
            resource=replace(_SHARE, provisioned_mib_s=64),
            metrics=_until(_moving((64.0, 1440), permitted=64), METERED, 4, 3.0 * MIB * FIVE_MINUTES_S),
            expect=Flagged,
            says="at its limit of 64 MiB/s (provisioned) for 4 d on 4 of 14 days",
        ),
        Case(
            title="at what is provisioned for twenty minutes every night: nothing can be sized",
            resource=_SHARE,
            metrics=_moving((256.0, 20), (3.0, 1420)),
            expect=Fine,
            says="used all that it pays for, for 4 h 40 min",
        ),
        Case(
            title="less provisioned than its size earns: it bursts, and pays nothing",
            resource=replace(_SHARE, provisioned_mib_s=10),
            metrics=_moving(*_CALM, permitted=100),
            expect=Fine,
            says="costs nothing",
        ),
        Case(
            title="bursting, and calm",
            resource=_BURSTING,
            metrics=_moving(*_CALM, permitted=100),
            expect=Fine,
            says="costs nothing",
        ),
        Case(
            title="at full burst for two hours every day, with credits left",
            resource=_BURSTING,
            metrics=_moving((100.0, 120), (1.0, 1320), permitted=100),
            expect=Flagged,
            says="at its limit of 100 MiB/s (burst) for 1 d 4 h",
        ),
        Case(
            title="a batch of forty minutes at full burst",
            resource=_BURSTING,
            metrics=_moving((100.0, 40), (5.0, 1400), permitted=100),
            expect=Fine,
            says="costs nothing",
        ),
        Case(
            title="Elastic, and so calm that bursting carries it",
            resource=_ELASTIC,
            metrics=_moving(*_CALM, permitted=5120),
            expect=Flagged,
            says="metered 8 MiB/s: bursting would carry it",
        ),
        Case(
            title="Elastic, and always the same",
            resource=_ELASTIC,
            metrics=_moving(*_STEADY, permitted=5120),
            expect=Flagged,
            says="72 MiB/s provisioned would carry it",
        ),
        Case(
            title="Elastic, and minutes a day that are faster than a burst",
            resource=_ELASTIC,
            metrics=_moving(*_NIGHTLY, permitted=5120),
            expect=Fine,
            says="less than it would take",
        ),
        Case(
            title="Elastic, and more writes a second than bursting allows",
            resource=_ELASTIC,
            metrics=_moving((1.0, 1380), (40.0, 60), permitted=5120, read_share=0.1, operation_bytes=4 * KIB),
            expect=Flagged,
            says="metered 40 MiB/s: 48 MiB/s provisioned would carry it",
        ),
        Case(
            title="Elastic, and more writes a second than any other mode allows",
            resource=replace(_ELASTIC, stored_bytes={"Standard": 3_000 * GIB, "IA": 0, "Archive": 0}),
            metrics=_moving((1.0, 1380), (99.0, 60), permitted=5120, read_share=0.0, operation_bytes=4 * KIB),
            expect=Fine,
            says="operations/s",
        ),
        Case(
            title="Elastic, and hardly anything moves",
            resource=_ELASTIC,
            metrics=_moving((0.003, 1440), permitted=5120),
            expect=Fine,
            says="less than 10 GiB",
        ),
        Case(
            title="Elastic for three days, and out of burst credits before",
            resource=_ELASTIC,
            metrics=_until(
                _until(_moving((9.0, 1440), permitted=5120), PERMITTED, 3, 1.0 * MIB), METERED, 3, 0.99 * MIB * FIVE_MINUTES_S
            ),
            expect=Unknown,
            says="was at a limit within the window",
        ),
        Case(
            title="Elastic, with data in Archive",
            resource=replace(_ELASTIC, stored_bytes={"Standard": 50 * GIB, "IA": 0, "Archive": GIB}),
            metrics=_moving(*_CALM, permitted=5120),
            expect=Fine,
            says="Archive",
        ),
        Case(
            title="a replica",
            resource=replace(_SHARE, is_replica=True),
            metrics=_moving(*_CALM),
            expect=Fine,
            says="replication",
        ),
        Case(
            title="a week old",
            resource=replace(_SHARE, created_at=CASE_NOW - timedelta(days=7)),
            metrics=_moving(*_CALM),
            expect=Fine,
            says="younger than 14 days",
        ),
        Case(title="being made", resource=replace(_SHARE, state="creating"), expect=Fine, says="creating"),
        Case(
            title="a day without metrics",
            resource=_SHARE,
            metrics={**_moving(*_CALM), (METERED, DAY_S): [GIB] * 30 + [None] + [GIB] * 6},
            expect=Unknown,
            says="1 of the last 14 days",
        ),
        Case(
            title="nobody knows what was permitted",
            resource=_SHARE,
            metrics={key: values for key, values in _moving(*_CALM).items() if key[0] != PERMITTED},
            expect=Unknown,
            says="PermittedThroughput has no point for 14 d",
        ),
        Case(
            title="nobody knows in how many operations",
            resource=_SHARE,
            metrics={key: values for key, values in _moving(*_CALM).items() if key[0] != METADATA_OPERATIONS},
            expect=Unknown,
            says="MetadataIOBytes has no point on 14",
        ),
        Case(title="no metrics", resource=_SHARE, expect=Unknown, says="no point in 14 days"),
    ),
)
