"""EFS throughput: how much a file system moves in a month, and recommendations to change its throughput mode.

Sources: Amazon EFS User Guide, "CloudWatch metrics for Amazon EFS", "Amazon EFS performance" and "Metering"; Amazon EFS
API Reference, "UpdateFileSystem".
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil, inf, isnan, nan
from typing import Final, NamedTuple

from slackwater.model.detector import Seen
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import Change, difference
from slackwater.model.quantities import binary_rate_words, duration_words, size_words
from slackwater.model.resources import EfsFileSystem
from slackwater.model.settings import EfsThroughputSetting
from slackwater.model.units import DAY_S, DAYS_PER_MONTH, FIVE_MINUTES_S, GIB, HOUR_S, HOURS_PER_MONTH, MIB
from slackwater.model.verdicts import Advice, Unknown
from slackwater.performance import efs as formulas
from slackwater.performance.efs import EfsMode, Load, Moved
from slackwater.rules import efs
from slackwater.rules.advice import by_program
from slackwater.rules.efs import METERED, READ, WRITTEN
from slackwater.rules.series import LONGEST_HOLE_S, bridged, longest_gap

BALANCE: Final = Metric("AWS/EFS", "BurstCreditBalance", "Minimum", "bytes")
PERMITTED: Final = Metric("AWS/EFS", "PermittedThroughput", "Average", "bytes a second")
LEAST_PERMITTED: Final = Metric("AWS/EFS", "PermittedThroughput", "Minimum", "bytes a second")
READS: Final = Metric("AWS/EFS", "DataReadIOBytes", "SampleCount", "operations")
WRITES: Final = Metric("AWS/EFS", "DataWriteIOBytes", "SampleCount", "operations")
METADATA: Final = Metric("AWS/EFS", "MetadataIOBytes", "Sum", "bytes")
METADATA_OPERATIONS: Final = Metric("AWS/EFS", "MetadataIOBytes", "SampleCount", "operations")
METADATA_READ: Final = Metric("AWS/EFS", "MetadataReadIOBytes", "Sum", "bytes")
MOVED: Final = (READ, READS, WRITTEN, WRITES, METADATA, METADATA_OPERATIONS, METADATA_READ)
"""The metrics that `month` reads."""

LOOK_BACK_DAYS: Final = 36  # daily points: 35 days can pass between first Mondays, and a job may start late
HOURLY_DAYS: Final = 16  # hourly points: two weeks, and a day on each side to compare

BRIDGED: Final = 2  # up to this many missing five-minute points in a row are interpolated
GENERAL_PURPOSE: Final = "generalPurpose"  # the performance mode that Elastic throughput requires

WAIT: Final = (
    "Within 24 hours of the last change, AWS refuses to leave Provisioned mode or to lower the amount"
    " (TooManyRequests). EFS does not report when that change was."
)


class Month(NamedTuple):
    """The data that clients read and wrote in a month, and the metadata, both ways."""

    read: Moved
    written: Moved
    metadata: Moved
    metadata_read_share: float | None  # the share of its bytes that are reads; None if unknown

    def elastic(self, *, most: bool) -> tuple[Change, ...]:
        """Return Elastic throughput's bill: the highest for any sizes, or the lowest, with operations of one size."""
        kinds = (self.read, self.written, self.metadata)
        read, written, metadata = (one.billed_at_most if most else one.billed_at_least for one in kinds)
        share = self.metadata_read_share
        if share is None:
            share = 0.0 if most else 1.0  # writes cost more than reads
        return formulas.elastic_units(read + metadata * share, written + metadata * (1 - share))

    def load(self, peak_metered_bytes_per_s: float) -> Load:
        """Return the month as a load with this peak. The peak has the month's mix of reads, writes and operations."""
        moved = self.read.size_bytes + self.written.size_bytes + self.metadata.size_bytes
        operations = self.read.operations + self.written.operations + self.metadata.operations
        read = self.read.size_bytes + self.metadata.size_bytes * (self.metadata_read_share or 0.0)
        peak = peak_metered_bytes_per_s / (formulas.metered_bytes(moved - read, read) / moved) if moved else 0.0
        return Load(
            read_bytes=read,
            write_bytes=moved - read,
            month_s=HOURS_PER_MONTH * HOUR_S,
            peak_bytes_per_s=peak,
            operations_per_s=peak * operations / moved if moved else 0.0,
        )


def month(
    file_system: EfsFileSystem, seen: Seen, demanded_days: int, mean_of_days: int = LOOK_BACK_DAYS
) -> Month | Unknown:
    """Return a month at the average of the newest days. None of the newest `demanded_days` may be missing."""
    daily = seen.read(*efs.daily(file_system, LOOK_BACK_DAYS, *MOVED))
    finished = (seen.finished(one, file_system.created_at) for one in daily)
    series = [one.since(one.end_s - mean_of_days * DAY_S) for one in finished]
    for one, metric in zip(series[:-1], MOVED, strict=False):
        if missing := _missing(one, demanded_days):
            return Unknown(f"{metric.name} has no data on {missing} of the last {demanded_days} days")
    read, reads, written, writes, metadata, operations, metadata_read = map(a_month, series)
    separate = metadata > 0 and not _missing(series[-1], demanded_days)
    return Month(
        Moved(read, reads if read else 0.0),  # a minute without operations also counts as a sample
        Moved(written, writes if written else 0.0),
        Moved(metadata, operations if metadata else 0.0, formulas.LEAST_METADATA_BYTES),
        min(1.0, metadata_read / metadata) if separate else None,
    )


def _missing(days: Series, demanded: int) -> int:
    """Return how many of the newest days have no data. A younger file system has fewer days."""
    return sum(map(isnan, days.values[-demanded:])) if days.present else demanded


def a_month(days: Series) -> float:
    """Return the average day times the days of a month; 0 without points."""
    present = days.present
    return sum(present) / len(present) * DAYS_PER_MONTH if present else 0.0


HOLE_S, SCATTERED = HOUR_S, 0.02  # an hour without a point is a hole; otherwise, 2 % may be missing


class Demand(NamedTuple):
    """What a file system moved: metered bytes by the day and by five minutes, and the permitted bytes per second.

    `metered` covers the window, or 36 days if an older day was busier. It is hourly if the hours decide the verdict.
    `permitted` is the lowest of each hour. So throughput seems to be at its limit too often rather than too rarely.
    `peak` is bytes per second in the busiest five minutes; an upper bound if only hours are known.
    """

    file_system: EfsFileSystem
    by_day: Series
    metered: Series
    permitted: Series
    peak: float
    holes: tuple[str, ...] = ()  # caveats about points that are from the same time of another week

    @property
    def at_most(self) -> str:
        """The words that qualify the peak: `, at most` if it is an upper bound."""
        return ", at most" if self.metered.period_s > FIVE_MINUTES_S else ""

    @property
    def month_gib(self) -> float:
        """The GiB metered in a month."""
        return a_month(self.by_day) / GIB

    def at_limit(self, share: float, least_permitted: float = 0) -> list[bool | None]:
        """Return for each point whether it used this share of at least `least_permitted` permitted; None if missing."""
        metered, hours = self.metered, self.permitted.values
        if all(self.peak < hour * share * (1 - formulas.NOISE) for hour in hours):
            return [None if isnan(used) else False for used in metered.values]
        offset_s, last = metered.start_s - self.permitted.start_s, len(hours) - 1  # the present hour: as the last one
        least = [hours[min(last, max(0, (offset_s + i * metered.period_s) // HOUR_S))] for i in range(len(metered))]
        return [
            None if isnan(used + most) else most >= least_permitted and used >= most * share * metered.period_s
            for used, most in zip(metered.values, least, strict=True)
        ]

    def bursting_carries(self, times: float, spare_percent: float) -> bool:
        """Return whether bursting carries `times` as much: it fits the burst, is earned again, and leaves credits."""
        standard = self.file_system.standard_bytes
        return (
            self.peak * times <= formulas.metered_ceiling("bursting", self.file_system)
            and self.month_gib * GIB * times <= formulas.earned_bytes_per_s(standard) * DAYS_PER_MONTH * DAY_S
            and formulas.credits_left(self.file_system, (self.by_day, self.metered), times)
            >= formulas.full_credits_bytes(standard) * spare_percent / 100
        )

    def too_slow(self, moved: Month, times: float, amount: int | None) -> dict[EfsMode, str]:
        """Return why a mode does not carry the peak in bytes or operations. The peak has the month's mix of them."""
        region, one_zone = self.file_system.target.region, self.file_system.availability_zone is not None
        load, client = moved.load(self.peak * times), formulas.limits("bursting", one_zone=one_zone).client_bytes_per_s
        if self.file_system.throughput_mode == "elastic" and load.peak_bytes_per_s > client:
            why = f"in other modes, a client moves at most {binary_rate_words(client)}"
            return dict.fromkeys(formulas.REGIONAL, why)
        standard, mib_s = self.file_system.standard_bytes, amount or self.file_system.provisioned_mib_s or 0
        fits = formulas.fits(load, region, one_zone=one_zone, standard_bytes=standard, provisioned_mib_s=mib_s)
        return {mode: fit.too_fast[0] for mode, fit in fits.items() if fit.too_fast}


def without_holes(
    whole: Series, metric: Metric, window_days: int, pick: Callable[[Iterable[float]], float] = max
) -> tuple[Series, tuple[str, ...]] | Unknown:
    """Return the series without holes, and a caveat about them; unknown if a hole is too long for `bridged`."""
    window = whole.since(whole.end_s - window_days * DAY_S)
    if longest_gap(window) * whole.period_s < HOLE_S and window.missing <= SCATTERED * len(window):
        return whole, ()
    missing = f"{metric.name} has no data for {duration_words(window.missing * whole.period_s)} of the last"
    filled = bridged(whole, pick)
    if filled is None:
        return Unknown(f"{missing} {window_days} days")
    return filled, (f"{missing} {window_days} days. The same time of another week stands for it.",)


class Window(NamedTuple):
    """The last `days` of a file system. `by_day` is the metered bytes of finished days; expect `times` as much."""

    file_system: EfsFileSystem
    seen: Seen
    by_day: Series
    days: int
    times: float

    @property
    def back(self) -> int:
        """How many days to read: the window, or 36 days if an older day moved more than `times` its busiest day."""
        recent = self.by_day.since(self.by_day.end_s - self.days * DAY_S)
        older = self.by_day.between(self.by_day.start_s, recent.start_s)
        busier = max(older.present, default=0) > max(recent.present) * self.times
        return LOOK_BACK_DAYS if busier else self.days + 1  # the first whole day begins before the window

    def hole(self, by_hour: Series) -> Unknown | None:
        """Return the verdict if the hours show a hole that is too long for `bridged`, whatever five minutes show."""
        hours = by_hour.newest(self.days - HOUR_S / DAY_S)  # the first hour may begin before the window
        lost = duration_words(hours.missing * HOUR_S)
        why = f"{METERED.name} has no data for at least {lost} of the last {self.days} days"
        return Unknown(why) if longest_gap(hours) * HOUR_S > LONGEST_HOLE_S else None

    def demand(self, permitted: Series, metered: Series) -> Demand | Unknown:
        """Return the demand from hourly permitted and five-minute or hourly metered throughput."""
        created_at = self.file_system.created_at
        moved = without_holes(self.seen.finished(metered, created_at), METERED, self.days)
        allowed = without_holes(self.seen.finished(permitted, created_at), LEAST_PERMITTED, self.days, min)
        if isinstance(moved, Unknown):
            return moved
        if isinstance(allowed, Unknown):
            return allowed
        whole = self.back > self.days + 1
        metered = moved[0] if whole else moved[0].since(self.by_day.end_s - self.days * DAY_S)
        peak = max(metered.present) / FIVE_MINUTES_S
        return Demand(self.file_system, self.by_day, metered, allowed[0], peak, (*moved[1], *allowed[1]))


def change_to(
    file_system: EfsFileSystem,
    to: EfsThroughputSetting,
    summary: str,
    risk: str,
    elastic: tuple[tuple[Change, ...], tuple[Change, ...] | None] = ((), ()),
) -> Advice:
    """Recommend a change by hand. `elastic` is Elastic's bill of a month, before and after it; None if unknown."""
    after = replace(file_system, throughput_mode=to.mode, provisioned_mib_s=to.provisioned_mib_s)
    bill, bill_then = elastic
    amount = "" if to.provisioned_mib_s is None else f" --provisioned-throughput-in-mibps {to.provisioned_mib_s:g}"
    units, then = (*formulas.monthly_units(file_system), *bill), formulas.monthly_units(after)
    return Advice(
        action=f"change-to-{to.mode}",
        summary=summary,
        changes=None if bill_then is None else difference(units, (*then, *bill_then)),
        risk=risk,
        reversible=True,
        new_value=None if to.provisioned_mib_s is None else f"{to.provisioned_mib_s:,g} MiB/s",
        command=(
            f"aws efs update-file-system --file-system-id {file_system.id} --region {file_system.target.region}"
            f" --throughput-mode {to.mode}{amount}"
        ),
    )


BURSTING: Final = EfsThroughputSetting(mode="bursting")
ELASTIC: Final = EfsThroughputSetting(mode="elastic")


def to_amount(
    file_system: EfsFileSystem, mib_s: int, peak: str, elastic_bill: tuple[Change, ...] = (), *, lower: bool = False
) -> Advice:
    """Recommend to provision for a peak. A person checks first whether shorter peaks need more."""
    change = f"Change from {file_system.throughput_mode.capitalize()} to Provisioned with"
    summary = f"{'Lower it to' if lower else change} {mib_s:,} MiB/s, {peak}."
    risk = "AWS bills it by the hour, used or not. Shorter peaks above it wait. You can raise it at any time."
    setting = EfsThroughputSetting(mode="provisioned", provisioned_mib_s=mib_s)
    advised = change_to(file_system, setting, summary, risk, (elastic_bill, ()))
    return replace(advised, action="lower-provisioned") if lower else advised


def to_elastic(file_system: EfsFileSystem, moved: Month | None, *, sure: bool = False) -> Advice:
    """Recommend Elastic, priced at its highest bill. If `moved` is None, the price is unknown."""
    after = moved.elastic(most=True) if moved else None
    most = f"at most {size_words(sum(float(unit.quantity) for unit in after) * GIB)} a month: " if after else ""
    summary = f"Change to Elastic. It bills {most}what moves, and up to 32 KiB more per operation."
    risk = "The bill has no limit: a load that grows, or a scan of all files, is billed per GiB."
    advised = change_to(file_system, ELASTIC, summary, risk, ((), after))
    return replace(advised, setting=by_program(file_system, ELASTIC, sure=sure))


def more_throughput(
    file_system: EfsFileSystem, limit_bytes_per_s: float, times: float, *, reached_bytes_per_s: float = 0
) -> tuple[Advice, ...]:
    """Recommend Provisioned in steps and Elastic, for a file system whose limit hides the demand.

    The first step is `times` the limit, or `reached_bytes_per_s` of the busiest hour if that is more.
    """
    _, most = formulas.PROVISIONED_MIB_S
    step = min(most, ceil(max(times * limit_bytes_per_s, reached_bytes_per_s) / MIB))
    reached = reached_bytes_per_s > times * limit_bytes_per_s
    hour = "a fifth above the busiest hour of the week, while there were credits"
    no_burst = " It has no burst, so peaks that used credits wait." if formulas.bursts(file_system) else ""
    wait = f" {WAIT}" if file_system.throughput_mode == "provisioned" else ""
    steps = change_to(
        file_system,
        EfsThroughputSetting(mode="provisioned", provisioned_mib_s=step),
        f"Provision {step:,} MiB/s, {hour if reached else f'{times:g} times the limit'}. Raise it again while the"
        " metered throughput stays at the limit. The price is that of the first step.",
        "AWS bills it by the hour, used or not. If you raise it too far, you can lower it after 24 hours." + no_burst,
    )
    elastic = change_to(
        file_system,
        ELASTIC,
        "Change to Elastic. You choose no size, and no limit hides the demand. Its cost is unknown.",
        "AWS bills each GiB that moves. One measured load rose fourteenfold without the limit. Check MeteredIOBytes"
        f" after an hour and after a day.{wait}",
        ((), None),
    )
    steps = replace(steps, action="raise-provisioned-in-steps")
    return (steps, elastic) if file_system.performance_mode == GENERAL_PURPOSE else (steps,)


class Writes(NamedTuple):
    """Five-minute points: writes a second, and their hour's average size and index. NaN if missing."""

    start_s: int
    per_s: Sequence[float]
    mean_bytes: Sequence[float]
    hours: Sequence[int]

    def used(self, i: int, written: Series, allowed: Series, metered: Series, *io: Series) -> tuple[float, float]:
        """Return the used percent of the permitted throughput and of the I/O limit (0 without one); NaN if unknown."""
        hour = self.hours[i]  # other I/O is assumed to be even within the hour
        used = self.per_s[i] * self.mean_bytes[i] + max(metered.values[hour] - written.values[hour], 0) / HOUR_S
        percent = 100 * used / allowed.values[hour] if allowed.values[hour] else inf
        return percent, sum(one.values[hour] for one in io)


def five_minute_writes(by_hour: Series, size: Series, count: Series) -> Writes:
    """Return the five-minute writes with their hour's average size. The present hour has that of the hour before."""
    means = [both / one if one else nan for one, both in zip(by_hour.values, size.values, strict=True)]
    first = count.start_s - by_hour.start_s
    hours = [min((first + i * FIVE_MINUTES_S) // HOUR_S, len(by_hour) - 1) for i in range(len(count))]
    per_s = [one / FIVE_MINUTES_S for one in count.values]
    there = pairwise([i for i, rate in enumerate(per_s) if not isnan(rate)])
    for before, after in [pair for pair in there if 1 < pair[1] - pair[0] <= BRIDGED + 1]:
        for i in range(before + 1, after):
            share = (i - before) / (after - before)
            per_s[i] = per_s[before] * (1 - share) + per_s[after] * share
    return Writes(count.start_s, per_s, [means[hour] for hour in hours], hours)
