"""EFS file systems whose throughput mode or amount does not suit their load.

## What it finds
- Provisioned or Elastic throughput, if another mode or a lower amount is enough and costs less.
- As a performance issue, not as waste: a file system at its limit (95 % of the permitted throughput) for an hour or
  more on 5 of 14 days, or at its provisioned throughput for 24 hours in total or for the last 6.

The other mode must carry the busiest five minutes of two weeks with 20 % more. Bursting is proposed only if a quarter
of the credits is always left. That is simulated in five-minute steps for two weeks, and in daily steps for 36 days.

## Why it matters
AWS bills provisioned throughput by the hour, used or not. Elastic bills each GiB, at least 32 KiB per operation.
Bursting is free ("Can Amazon EFS replace EBS?", 2025-02-19). At a limit, metrics show the limit and not the demand.
After one such point, nothing that costs less is proposed.

## When it is wrong
- Five-minute averages hide shorter peaks. The confidence is high only if five times as much fits too.
- A load that comes less often than every 36 days is not visible. Nor is an older peak, unless its day moved at least a
  fifth more data than the busiest day of the last two weeks.
- Holes of up to three hours (at most 5 % of all points) are filled from other weeks. This lowers the confidence.
- Credits count as earned by size alone. Elastic's bill is the highest possible after a move to it, the lowest before.
- Data in Archive needs Elastic, and a replication moves the bytes of a replica. Neither is judged.

## What to do
Change it online, and watch BurstCreditBalance or the bill for a week. 24 hours after its last change, you can switch
away from Provisioned or lower it. Raise a limit in steps, until the metered throughput stays below it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Final

from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.metrics import Series
from slackwater.model.money import Change, size_class
from slackwater.model.quantities import binary_rate_words, duration_words
from slackwater.model.resources import EfsFileSystem
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, GIB, HOUR_S, KIB, MIB, MINUTE_S, TIB
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import efs as formulas
from slackwater.rules import efs, efs_throughput, examples
from slackwater.rules.advice import by_program
from slackwater.rules.efs import METERED
from slackwater.rules.efs_throughput import BALANCE, LEAST_PERMITTED, LOOK_BACK_DAYS, MOVED, Demand, Month, Window
from slackwater.rules.examples import Cases, Metrics, and_hourly, days, days_ago
from slackwater.rules.series import grouped

LESS_BELOW_GIB, MORE_ABOVE_GIB = 80, 125
"""The GiB written a month for which Elastic surely costs less, or more, than 1 MiB/s provisioned. That costs as much as
100 GiB written. A GiB read costs half (us-east-1; 103 GiB and 57 % in Tokyo; Amazon EFS pricing)."""
LATE: Final = 3  # how many of the newest five-minute points may be missing
BUSY: Final = 0.25  # with less than this share of its limit in an hour, it was not at the limit for long
AT_LIMIT: Final = "at its limit"  # part of stored fingerprints: never change it
SHORTER: Final = (
    "Single minutes may have reached {}. Before you choose an option that carries less, check MeteredIOBytes by the"
    " minute (Period 60, Sum / 60; CloudWatch keeps 15 days)."
)
FREE: Final = "its throughput costs nothing, and it was not at its limit for long"


class MismatchLimits(Limits):
    """What another mode must carry, and what counts as being at a limit."""

    window_days: int = limit(14, unit="days", ge=7, le=35, why="two weeks of five-minute points")
    headroom_percent: float = limit(20, unit="percent", ge=0, le=400, why="above the busiest five minutes must fit")
    spare_credits_percent: float = limit(25, unit="percent", ge=0, lt=100, why="of the credits always stay: loads grow")
    lower_percent: float = limit(20, unit="percent", gt=0, lt=100, why="a smaller cut is not worth a change")
    least_gib: float = limit(10, unit="GiB", ge=0, why="metered per month; Elastic bills about $1 for it at most")
    at_limit_percent: float = limit(95, unit="percent", gt=50, le=100, why="of the permitted rate; it hides the demand")
    at_limit_minutes: int = limit(60, unit="minutes", ge=5, le=1440, why="a day; shorter batches are normal")
    at_limit_days: int = limit(5, unit="days", ge=1, le=36, why="of the window; a weekly job past midnight takes four")
    at_provisioned_hours: int = limit(24, unit="hours", ge=1, le=336, why="in total, on however few days")
    now_at_provisioned_hours: int = limit(6, unit="hours", ge=1, le=24, why="until now; most nightly jobs are shorter")

    @property
    def times(self) -> float:
        """The headroom as a factor."""
        return 1 + self.headroom_percent / 100


def judge(file_system: EfsFileSystem, seen: Seen, limits: MismatchLimits) -> Verdict:
    """Flag a file system that costs less in another throughput mode or amount, or that is at its limit."""
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    if file_system.is_replica:
        return Fine("it is the destination of a replication, which moves its bytes")
    if file_system.stored_bytes.get("Archive"):
        return Fine("it has data in Archive, which needs Elastic throughput")
    if seen.is_younger(file_system.created_at, days=limits.window_days):
        return Fine(f"it is younger than {limits.window_days} days")
    (metered,) = seen.read(*efs.daily(file_system, LOOK_BACK_DAYS, METERED))
    by_day = seen.finished(metered, file_system.created_at)
    elastic = file_system.throughput_mode == "elastic"
    provisioned = 0.0 if formulas.bursts(file_system) else file_system.provisioned_mib_s or 0.0
    ceiling = formulas.metered_ceiling("provisioned" if provisioned else "bursting", file_system, provisioned)
    paid = formulas.paid_mib_s(file_system, provisioned)
    free = not elastic and not paid
    long_bytes = ceiling * limits.at_limit_percent / 100 * limits.at_limit_minutes * MINUTE_S
    unless_decided(_decided_by_day(by_day, limits, long_bytes, elastic=elastic, free=free))

    window = Window(file_system, seen, by_day, limits.window_days, limits.times)
    hours = efs.needs(file_system, HOUR_S, max(efs_throughput.HOURLY_DAYS, window.back), METERED, LEAST_PERMITTED)
    five_minutes = efs.needs(file_system, FIVE_MINUTES_S, window.back, METERED)
    by_hour, *_ = seen.read(*(hours[:1] if free else hours))
    if free and not _may_be_at_limit(by_hour, limits, ceiling, long_bytes):
        return Fine(FREE)
    unless_decided(window.hole(by_hour))
    _, permitted, *_ = seen.read(*hours, *(five_minutes if free else ()))
    answer = window.demand(permitted, by_hour)
    if free or isinstance(answer, Unknown) or not _is_calm(answer, limits):
        month = () if free else MOVED if elastic else (*MOVED, BALANCE)
        metered, *_ = seen.read(*five_minutes, *efs.daily(file_system, LOOK_BACK_DAYS, *month))
        answer = window.demand(permitted, metered)
    demand = unless_decided(answer)
    if not elastic and (at_limit_s := _at_limit_s(demand, limits, ceiling, paid=paid > 0)) is not None:
        return _flag_limit(demand, limits.window_days, ceiling, at_limit_s)
    if free:
        return Fine(FREE)
    if limited := demand.at_limit(limits.at_limit_percent / 100).count(True):
        why = f"for {duration_words(limited * demand.metered.period_s)}, so its demand is unknown"
        return Unknown(f"it was at a limit {why}") if elastic else Fine(f"it used all of its throughput {why}")
    return _judge_cost(demand, seen, limits, ceiling, paid)


def _decided_by_day(
    by_day: Series, limits: MismatchLimits, long_bytes: float, *, elastic: bool, free: bool
) -> Fine | Unknown | None:
    """Return the verdict if the days decide; else None. A day that is long at the limit moves `long_bytes` or more."""
    recent = by_day.newest(limits.window_days)
    if not recent.present:
        return Unknown(f"MeteredIOBytes has no data in {limits.window_days} days")
    if recent.missing and not free:
        return Unknown(f"MeteredIOBytes has no data on {recent.missing} of the last {len(recent)} days")
    if elastic and efs_throughput.a_month(by_day) < limits.least_gib * GIB:
        return Fine(f"less than {limits.least_gib:g} GiB are metered per month")
    often = sum(moved >= long_bytes for moved in recent.present) + recent.missing >= limits.at_limit_days
    return Fine(FREE) if free and not often else None


def _may_be_at_limit(by_hour: Series, limits: MismatchLimits, ceiling: float, long_bytes: float) -> bool:
    """Return whether enough days moved at least `long_bytes` in their busy hours."""
    full = ceiling * HOUR_S  # a missing hour may have moved as much
    busy = [full if isnan(moved) else moved if moved >= BUSY * full else 0.0 for moved in by_hour.values]
    return sum(sum(busy[i : i + 24]) >= long_bytes for i in range(0, len(busy), 24)) >= limits.at_limit_days


def _is_calm(by_hour: Demand, limits: MismatchLimits) -> bool:
    """Return whether bursting carries it even if each hour moved in one minute, at less than the permitted rate."""
    permitted = min(by_hour.permitted.present) * limits.at_limit_percent / 100
    burst = formulas.metered_ceiling("bursting", by_hour.file_system)
    calm = by_hour.peak * FIVE_MINUTES_S / MINUTE_S * limits.times <= min(permitted, burst)
    return calm and by_hour.bursting_carries(limits.times, limits.spare_credits_percent)


def _at_limit_s(demand: Demand, limits: MismatchLimits, ceiling: float, *, paid: bool) -> list[int] | None:
    """Return the seconds at the limit on each day with enough of them; None if it was at the limit too rarely."""
    period_s, day = demand.metered.period_s, DAY_S // demand.metered.period_s
    at_limit = demand.at_limit(limits.at_limit_percent / 100, ceiling * limits.at_limit_percent / 100)
    window, newest = at_limit[-limits.window_days * day :], at_limit[-limits.now_at_provisioned_hours * day // 24 :]
    each = [window[i : i + day].count(True) * period_s for i in range(0, len(window), day)]
    long = [seconds for seconds in each if seconds >= limits.at_limit_minutes * MINUTE_S]
    now = False not in newest and newest.count(None) <= LATE
    for_long = now or sum(long) >= limits.at_provisioned_hours * HOUR_S
    return long if len(long) >= limits.at_limit_days or (paid and for_long) else None


def _judge_cost(demand: Demand, seen: Seen, limits: MismatchLimits, ceiling: float, paid: float) -> Verdict:
    """Flag throughput that costs more than another mode or amount that carries the load."""
    file_system, elastic = demand.file_system, demand.file_system.throughput_mode == "elastic"
    bursting = demand.bursting_carries(limits.times, limits.spare_credits_percent)
    amount = formulas.provisioned_for(file_system, demand.peak * limits.times)
    most = (file_system.provisioned_mib_s or 0) * (1 - limits.lower_percent / 100)
    if demand.at_most or (amount and not elastic and amount > most):
        amount = None
    general = file_system.performance_mode == efs_throughput.GENERAL_PURPOSE
    to_elastic = not elastic and general and demand.month_gib < MORE_ABOVE_GIB * paid
    suits = "Elastic costs less than provisioning its peak" if elastic else "its throughput suits what it uses"
    if not bursting and amount is None and not to_elastic:
        return Fine(suits)

    *_, last = seen.read(*efs.daily(file_system, LOOK_BACK_DAYS, *(MOVED if elastic else (*MOVED, BALANCE))))
    moved = unless_decided(efs_throughput.month(file_system, seen, limits.window_days))
    bill, slow = moved.elastic(most=False) if elastic else (), demand.too_slow(moved, limits.times, amount)
    minute = min(ceiling, demand.peak * FIVE_MINUTES_S / MINUTE_S)  # if one minute moved the bytes of all five
    carried, options = [minute], dict[formulas.EfsMode, Advice]()
    if bursting and "bursting" not in slow:
        carried.append(formulas.metered_ceiling("bursting", file_system))
        held = () if elastic else last.newest(3).present
        options["bursting"] = _to_bursting(demand, limits, bill, held, sure=minute <= carried[-1])
    too_little = LESS_BELOW_GIB * formulas.paid_mib_s(file_system, amount or 0)
    peak = f"at least {limits.headroom_percent:g} % above the busiest five minutes"
    if amount is not None and not (elastic and ("provisioned" in slow or formulas.as_written_gib(bill) < too_little)):
        carried.append(amount * MIB)
        options["provisioned"] = efs_throughput.to_amount(file_system, amount, peak, bill, lower=not elastic)
    most_gib = formulas.as_written_gib(moved.elastic(most=True))
    if to_elastic and "elastic" not in slow and most_gib < MORE_ABOVE_GIB * paid:
        options["elastic"] = efs_throughput.to_elastic(file_system, moved, sure=True)
    if not options:
        return Fine(slow.get("provisioned", suits) if elastic else next(iter(slow.values()), suits))
    flagged, holes = _flag_cost(demand, options, moved, amount), demand.holes
    if elastic:
        return replace(flagged, confidence="low" if holes else "medium", caveats=holes)
    shorter = (SHORTER.format(binary_rate_words(minute)),) if minute > min(carried) else ()
    unsure = shorter or holes or demand.by_day.missing or len(demand.by_day) < LOOK_BACK_DAYS
    return replace(flagged, confidence="medium" if unsure else "high", caveats=(*holes, *shorter, efs_throughput.WAIT))


def _to_bursting(
    demand: Demand, limits: MismatchLimits, bill: tuple[Change, ...], held: Sequence[float], *, sure: bool
) -> Advice:
    """Recommend bursting, which begins with the newest of the balances that it `held`, in bytes."""
    file_system, standard = demand.file_system, demand.file_system.standard_bytes
    burst, full = formulas.metered_ceiling("bursting", file_system), formulas.full_credits_bytes(standard)
    left = formulas.credits_left(file_system, (demand.by_day, demand.metered), limits.times)
    begins = f"the present credits, {100 * held[-1] / full:.0f} % of all" if held else "an unknown number of credits"
    advised = efs_throughput.change_to(
        file_system,
        efs_throughput.BURSTING,
        f"Change to bursting, up to {binary_rate_words(burst)} metered. With {limits.headroom_percent:g} % more load,"
        f" at least {100 * left / full:.0f} % of the credits would have stayed.",
        f"It begins with {begins}. A load that grows, or less data in Standard, empties the credits; then it has"
        f" {binary_rate_words(formulas.baseline_bytes_per_s(standard))}. Set an alarm on BurstCreditBalance.",
        (bill, ()),
    )
    sure = sure and bool(held) and held[-1] - (full - left) >= full * limits.spare_credits_percent / 100
    return replace(advised, setting=by_program(file_system, efs_throughput.BURSTING, sure=sure))


def _mode_and_peaks(demand: Demand, scale: float | None, *lines: Line) -> tuple[Evidence, Evidence]:
    """Return evidence: the mode, and a chart of the busiest five minutes of each day."""
    label, peak = f"Busiest five minutes, metered{demand.at_most}", round(demand.peak / MIB, 2)
    chart = grouped(demand.metered.over(FIVE_MINUTES_S * MIB), DAY_S)
    mode = Evidence("Throughput mode", _mode_words(demand.file_system), "words")
    return mode, Evidence(label, peak, "MiB/s", chart, scale, lines)


def _mode_words(file_system: EfsFileSystem) -> str:
    mib_s = file_system.provisioned_mib_s if file_system.throughput_mode == "provisioned" else None
    mode = f"{file_system.throughput_mode.capitalize()} throughput"
    return f"{binary_rate_words(mib_s * MIB)} provisioned" if mib_s else mode


def _flag_cost(demand: Demand, options: Mapping[formulas.EfsMode, Advice], moved: Month, amount: int | None) -> Flagged:
    file_system, read, written = demand.file_system, moved.read, moved.written
    present, proposed = file_system.provisioned_mib_s, amount if "provisioned" in options else None
    burst = round(formulas.metered_ceiling("bursting", file_system) / MIB, 2) if "bursting" in options else None
    levels = (("Provisioned", present), ("Proposed", proposed), ("Bursting at most", burst))
    names = {"bursting": "bursting", "provisioned": f"{amount} MiB/s provisioned", "elastic": "Elastic throughput"}
    window = len(demand.metered) * demand.metered.period_s // DAY_S
    actions, operations = sorted(one.action for one in options.values()), read.operations + written.operations
    mean_kib = (read.size_bytes + written.size_bytes) / operations / KIB if operations else 0
    return Flagged(
        summary=(
            f"{_mode_words(file_system)}, and the busiest five minutes of {window} days metered{demand.at_most}"
            f" {demand.peak / MIB:,.3g} MiB/s: {' or '.join(names[mode] for mode in options)} is enough"
        ),
        confidence="medium",
        evidence=(
            *_mode_and_peaks(demand, present, *(Line(label, level) for label, level in levels if level)),
            efs.gib("Metered per month", demand.month_gib * GIB),
            efs.gib("Read per month", read.size_bytes),
            efs.gib("Written per month", written.size_bytes),
            efs.gib("Stored in Standard", file_system.standard_bytes),
            *([Evidence("Average size of a read or write", round(mean_kib, 1), "KiB")] if operations else []),
        ),
        advice=tuple(options.values()),
        fingerprint_inputs=(file_system.throughput_mode, size_class(present or 0), *actions),
        cheapest_first=True,
    )


def _flag_limit(demand: Demand, window_days: int, ceiling: float, at_limit_s: list[int]) -> Flagged:
    which, lasted = "burst" if formulas.bursts(demand.file_system) else "provisioned", sum(at_limit_s)
    when = f"{duration_words(lasted)} on {len(at_limit_s)} of {window_days} days"
    return Flagged(
        summary=f"At its limit of {binary_rate_words(ceiling)} ({which}) for {when}: the demand is unknown",
        kind="performance",
        severity="medium" if lasted >= window_days * 2 * HOUR_S else "low",
        confidence="high",
        evidence=(
            *_mode_and_peaks(demand, ceiling / MIB, Line(f"{which.capitalize()} limit", round(ceiling / MIB, 2))),
            Evidence("Time at its limit", round(lasted / HOUR_S, 1), "hours"),
            Evidence("Days at its limit for long", len(at_limit_s), "days"),
        ),
        advice=efs_throughput.more_throughput(demand.file_system, ceiling, 1.5),
        fingerprint_inputs=(AT_LIMIT, size_class(ceiling)),
        caveats=("Ask first whether anyone waits. A batch that ends in time needs no change.",),
    )


def moving(
    *spans: tuple[float, int], permitted: float = 256, read_share: float = 0.5, kib: float = 256, older_tib: float = 0
) -> Metrics:
    """Return the same (MiB/s metered, minutes) every day, in `kib` operations, and `older_tib` more 3 weeks ago."""
    day = [rate * MIB * FIVE_MINUTES_S for rate, minutes in spans for _ in range(minutes // 5)]
    metered, first = day * 36, 15 * 288
    metered[first : first + 36] = [older_tib * TIB / 36] * 36 if older_tib else day[:36]
    written, size = sum(day) * (1 - read_share), kib * KIB
    read = (sum(day) - written) * formulas.READ_DISCOUNT
    moved = (read, read / size, written, written / size, 200.0 * MIB, 51_200.0, 150.0 * MIB)
    return {
        METERED: days(sum(day), {20: sum(day) + older_tib * TIB}),
        **and_hourly(METERED, metered),
        (LEAST_PERMITTED, HOUR_S): permitted * MIB,
        **dict(zip(MOVED, moved, strict=True)),
        BALANCE: [float(formulas.full_credits_bytes(0))] * 3,
    }


def changed(days_ago: int, before: tuple[float, float], since: tuple[float, float]) -> Metrics:
    """Return MiB/s metered and permitted, by five minutes, before and since a day."""
    spans = ((before, (36 - days_ago) * 24), (since, days_ago * 24))
    metered = [one[0] * MIB * FIVE_MINUTES_S for one, hours in spans for _ in range(12 * hours)]
    permitted = [one[1] * MIB for one, hours in spans for _ in range(hours)]
    return {**and_hourly(METERED, metered), (LEAST_PERMITTED, HOUR_S): permitted}


BURSTS = examples.efs(availability_zone=None, stored_bytes={"Standard": 300 * GIB})
SHARE = replace(BURSTS, throughput_mode="provisioned", provisioned_mib_s=256)
CALM, NIGHTLY, STEADY = ((4.0, 600), (8.0, 480), (4.0, 360)), ((0.5, 120), (200.0, 10), (0.5, 1310)), (60.0, 1440)
SMALL = moving((1.0, 1380), (40.0, 60), permitted=5120, read_share=0.1, kib=4)
MORE_SMALL = moving((1.0, 1380), (99.0, 60), permitted=5120, read_share=0.0, kib=4)
ONE, MONTHLY = moving((1.0, 1440)), moving((30.0, 1440), older_tib=1.9)
NEWLY_ELASTIC, FOUR_DAYS = changed(3, (0.99, 1.0), (9.0, 5120)), changed(4, (3.0, 64), (64.0, 64))
TWENTY, TWO_HOURS = moving((256.0, 20), (3.0, 1420)), moving((100.0, 120), (1.0, 1320), permitted=100)
FULL_BURST = "at full burst for two hours every day, with credits left"

paid = Cases(SHARE, moving(*CALM))
paid64 = Cases(replace(SHARE, provisioned_mib_s=64), moving((64.0, 180), (3.0, 1260), permitted=64))
paid512 = Cases(replace(SHARE, provisioned_mib_s=512), moving(STEADY, permitted=512))
bursting = Cases(BURSTS, moving(*CALM, permitted=100))
elastic = Cases(replace(BURSTS, throughput_mode="elastic"), moving(*CALM, permitted=5120))
large = Cases(replace(BURSTS, throughput_mode="elastic", stored_bytes={"Standard": 3_000 * GIB}))

DETECTOR = Detector(
    title="EFS throughput mode that does not suit the load",
    kind="waste",
    resource=EfsFileSystem,
    limits=MismatchLimits,
    judge=judge,
    cases=(
        paid("256 MiB/s provisioned, and 8 used", Flagged, "metered 8 MiB/s: bursting or Elastic throughput is enough"),
        paid("256 MiB/s provisioned, and 1 used", Flagged, "metered, at most 12 MiB/s: bursting", metrics=ONE),
        paid512("512 MiB/s provisioned, and a steady 60 used", Flagged, "metered 60 MiB/s: 72 MiB/s provisioned is"),
        paid("256 MiB/s provisioned for ten minutes a night", Flagged, "200 MiB/s: Elastic", metrics=moving(*NIGHTLY)),
        paid("provisioned, and a monthly job that needs it", Fine, "suits", metrics=MONTHLY),
        paid64("at what is provisioned for hours every night", Flagged, "(provisioned) for 1 d 18 h on 14 of 14 days"),
        paid64("at what is provisioned for the last four days", Flagged, "for 4 d on 4 of 14 days", metrics=FOUR_DAYS),
        paid("at what is provisioned twenty minutes a night: of no known size", Fine, "for 4 h 40 min", metrics=TWENTY),
        paid("less provisioned than its size earns: it bursts, and pays nothing", Fine, "costs", provisioned_mib_s=10),
        bursting("bursting, and calm", Fine, "costs nothing"),
        bursting(FULL_BURST, Flagged, "limit of 100 MiB/s (burst) for 1 d 4 h", metrics=TWO_HOURS),
        elastic("Elastic, and so calm that bursting carries it", Flagged, "metered 8 MiB/s: bursting is enough"),
        elastic("Elastic, and always the same", Flagged, "72 MiB/s provisioned is", metrics=moving(STEADY)),
        elastic("Elastic, and minutes a day that are faster than a burst", Fine, "less", metrics=moving(*NIGHTLY)),
        elastic("Elastic, and more writes a second than bursting allows", Flagged, "40 MiB/s: 48 MiB/s", metrics=SMALL),
        large("Elastic, and more writes a second than any other mode allows", Fine, "operations/s", metrics=MORE_SMALL),
        elastic("Elastic, and hardly anything moves", Fine, "less than 10 GiB", metrics=moving((0.003, 1440))),
        elastic("Elastic for three days, and out of burst credits before", Unknown, "limit", metrics=NEWLY_ELASTIC),
        elastic("Elastic, with data in Archive", Fine, "Archive", stored_bytes={"Standard": 50 * GIB, "Archive": GIB}),
        paid("a replica", Fine, "replication", is_replica=True),
        paid("a week old", Fine, "younger than 14 days", created_at=days_ago(7)),
        paid("being created", Fine, "creating", state="creating"),
        paid("a day without metrics", Unknown, "1 of the last 14 days", metrics={METERED: days(GIB, {6: None})}),
        paid("no PermittedThroughput", Unknown, "no data for 14 d", metrics={(LEAST_PERMITTED, HOUR_S): None}),
        paid("no number of operations", Unknown, "MetadataIOBytes has no data on 14", metrics={MOVED[5]: None}),
        Cases(SHARE)("no metrics", Unknown, "no data in 14 days"),
    ),
)
