"""Which throughput mode an EFS file system should have: what each costs, and whether it carries the peak and the month.

Bursting lives on credits, Provisioned is paid for whether it is used or not, and Elastic bills every GiB that moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

from pydantic import Field

from slackwater.model.estimates import (
    Alternative,
    Answer,
    Estimate,
    Figure,
    InputError,
    Inputs,
    Known,
    Result,
    Usd,
    of,
    usd_words,
)
from slackwater.model.money import (
    EFS_ELASTIC_READ,
    EFS_ELASTIC_WRITE,
    EFS_PROVISIONED_THROUGHPUT,
    Change,
    amount,
    ebs_storage,
    efs_storage,
)
from slackwater.model.quantities import Rate, Size, binary_rate_words, duration_words, size_words
from slackwater.model.units import GIB, HOUR_S, MIB
from slackwater.performance import efs
from slackwater.performance.efs import Allowance, EfsMode

REPORT: Final = 'report "Can Amazon EFS replace EBS?" (2025-02-19)'
NOISE: Final = 1e-9
"""Binary noise: a share of 1 is still all that is allowed."""


class EfsThroughputMode(Inputs):
    """What a file system holds, what its clients move in a month, and at most at a time."""

    stored: Size = Field(description="What the file system holds")
    read_per_month: Size = Field(default="0B", validate_default=True, description="Read in a month")
    write_per_month: Size = Field(default="0B", validate_default=True, description="Written in a month")
    peak: Rate | None = Field(
        default=None, description="What clients move at most, reads and writes as in the month; its average without it"
    )
    provisioned: Rate | None = Field(default=None, description="What to provision; what the peak needs without it")
    efs: Literal["one-zone", "regional"] = Field(default="regional", description="Type of the file system")
    operation_size: Size | None = Field(default=None, description="Mean size of an operation; 32 KiB or more without it")


class Mode(Result):
    """One mode: its price, and what it carries."""

    storage_usd: Usd | None = of("Storage", "USD/month")
    throughput_usd: Usd | None = of("Throughput", "USD/month")
    monthly_usd: Usd | None = of("Together", "USD/month")
    carries_peak: bool = of("Carries the peak")
    sustains_month: bool = of("Carries the month")
    why_not: str | None = of("Why not", null="")
    read_ceiling_mib_s: Figure = of("Reading at most", "MiB/s")
    write_ceiling_mib_s: Figure = of("Writing at most", "MiB/s")
    clients_at_least: int = of("Clients that the peak needs")
    throughput_as_gp3_gib: Figure | None = of("Throughput's price in gp3", "GiB-months")


class Modes(Result):
    """All three."""

    bursting: Mode = of("Bursting")
    provisioned: Mode = of("Provisioned")
    elastic: Mode = of("Elastic")


class Choice(Result):
    """The modes, and the cheapest that does."""

    recommended: EfsMode | None = of("The cheapest that carries it", null="none")
    modes: Modes = of("Modes")
    peak_mib_s: Figure = of("Peak", "MiB/s")
    average_mib_s: Figure = of("Average of the month", "MiB/s")
    provisioned_mib_s: Figure = of("Provisioned, as priced", "MiB/s")
    break_even_average_percent: Figure | None = of("Average use above which Elastic is dearer", "%")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Load:
    """What moves, in bytes a second: at most, and on average over the month."""

    peak_read: float
    peak_write: float
    average_read: float
    average_write: float

    @property
    def peak(self) -> float:
        return self.peak_read + self.peak_write

    @property
    def average(self) -> float:
        return self.average_read + self.average_write

    @property
    def peak_metered(self) -> float:
        return efs.metered_bytes(self.peak_write, self.peak_read)

    @property
    def average_metered(self) -> float:
        return efs.metered_bytes(self.average_write, self.average_read)


def work(inputs: EfsThroughputMode, known: Known) -> Answer[Choice]:
    """Every mode under the same load."""
    if inputs.operation_size is not None and inputs.operation_size < 1:
        raise InputError("operation_size", "an operation moves 1B at least")
    load = _load(inputs, known)
    provisioned_mib_s = _provisioned_mib_s(inputs, load)
    units = _units(inputs, provisioned_mib_s)
    modes: dict[EfsMode, Mode] = {
        mode: _mode(mode, inputs, load, provisioned_mib_s, throughput, known) for mode, throughput in units.items()
    }
    recommended = _recommended(modes)
    result = Choice(
        recommended=recommended,
        modes=Modes(bursting=modes["bursting"], provisioned=modes["provisioned"], elastic=modes["elastic"]),
        peak_mib_s=load.peak / MIB,
        average_mib_s=load.average / MIB,
        provisioned_mib_s=provisioned_mib_s,
        break_even_average_percent=_break_even_percent(inputs, known),
    )
    return Answer(
        summary=_summary(modes, recommended),
        result=result,
        assumptions=_assumptions(inputs, load),
        sources=(
            'Amazon EFS User Guide, "Amazon EFS performance"',
            'Amazon EFS User Guide, "Amazon EFS quotas"',
            'Amazon EFS User Guide, "Metering"',
            "Amazon EFS pricing",
            REPORT,
        ),
        alternatives=tuple(_alternative(mode, modes[mode], (_stored(inputs), *units[mode])) for mode in modes),
    )


def _load(inputs: EfsThroughputMode, known: Known) -> _Load:
    month_s = float(known.hours_per_month) * HOUR_S
    average = (inputs.read_per_month + inputs.write_per_month) / month_s
    peak = average if inputs.peak is None else inputs.peak
    if peak < average:
        raise InputError(
            "peak", f"is below the month's average, {average / MIB:,.4g} MiB/s; at least {ceil(average / MIB)}MiB/s"
        )
    read_share = _read_share(inputs)
    return _Load(
        peak_read=peak * read_share,
        peak_write=peak * (1 - read_share),
        average_read=average * read_share,
        average_write=average * (1 - read_share),
    )


def _read_share(inputs: EfsThroughputMode) -> float:
    moved = inputs.read_per_month + inputs.write_per_month
    return inputs.read_per_month / moved if moved else 0.0


def _provisioned_mib_s(inputs: EfsThroughputMode, load: _Load) -> float:
    least, most = efs.PROVISIONED_MIB_S
    if inputs.provisioned is None:
        return min(most, max(least, ceil(round(load.peak_metered / MIB, 6))))
    if not least <= inputs.provisioned / MIB <= most:
        raise InputError("provisioned", f"{inputs.provisioned / MIB:,.4g} MiB/s; from {least}MiB/s to {most}MiB/s can be had")
    return inputs.provisioned / MIB


def _stored(inputs: EfsThroughputMode) -> Change:
    one_zone = inputs.efs == "one-zone"
    return Change(efs_storage("Standard", one_zone=one_zone, elastic=False), amount(inputs.stored / GIB))


def _units(inputs: EfsThroughputMode, provisioned_mib_s: float) -> dict[EfsMode, tuple[Change, ...]]:
    """What each mode bills for throughput in a month."""
    return {
        "bursting": (),
        "provisioned": (efs.provisioned_units(provisioned_mib_s, inputs.stored),),
        "elastic": efs.elastic_units(inputs.read_per_month, inputs.write_per_month, inputs.operation_size),
    }


def _mode(
    mode: EfsMode,
    inputs: EfsThroughputMode,
    load: _Load,
    provisioned_mib_s: float,
    throughput: tuple[Change, ...],
    known: Known,
) -> Mode:
    one_zone, provisioned = inputs.efs == "one-zone", provisioned_mib_s * MIB
    allowed = efs.allows(
        mode, known.region, one_zone=one_zone, standard_bytes=inputs.stored, provisioned_bytes_per_s=provisioned
    )
    limits = efs.limits(mode, one_zone=one_zone)
    bursts = mode == "bursting" or (mode == "provisioned" and efs.is_bursting(provisioned, inputs.stored))
    too_fast = [
        *_excess(allowed, binary_rate_words, load.peak_read, load.peak_write),
        *_excess(limits.operations, _operations_words, *_operations(inputs, load)),
    ]
    runs_dry = _runs_dry(inputs, load, allowed) if bursts else []
    throughput_usd = known.usd(*throughput)
    gp3 = known.price(ebs_storage("gp3"))
    return Mode(
        storage_usd=known.usd(_stored(inputs)),
        throughput_usd=throughput_usd,
        monthly_usd=known.usd(_stored(inputs), *throughput),
        carries_peak=not too_fast,
        sustains_month=not runs_dry,
        why_not="; ".join([*too_fast, *runs_dry]) or None,
        read_ceiling_mib_s=allowed.read / MIB,
        write_ceiling_mib_s=allowed.write / MIB,
        clients_at_least=max(1, ceil(load.peak / limits.client_bytes_per_s)),
        throughput_as_gp3_gib=float(throughput_usd / gp3) if throughput_usd is not None and gp3 else None,
    )


def _operations(inputs: EfsThroughputMode, load: _Load) -> tuple[float, float]:
    """Reads and writes a second at the peak; none where their size is not known."""
    if not inputs.operation_size:
        return 0.0, 0.0
    return load.peak_read / inputs.operation_size, load.peak_write / inputs.operation_size


def _excess(allowed: Allowance, words: Callable[[float], str], read: float, write: float) -> list[str]:
    used = allowed.used(read, write)
    if used <= 1 + NOISE:
        return []
    return [f"the peak is {used:,.2f} times what it allows, {words(allowed.read)} read or {words(allowed.write)} written"]


def _operations_words(per_s: float) -> str:
    return f"{per_s:,.0f} operations/s"


def _runs_dry(inputs: EfsThroughputMode, load: _Load, allowed: Allowance) -> list[str]:
    """What to say where the month's average is more than a file system that bursts has for good."""
    average = min(load.average_metered, allowed.write)
    dry_s = efs.seconds_to_empty(efs.full_credits_bytes(inputs.stored), average, inputs.stored)
    if dry_s is None:
        return []
    return [
        (
            f"the month's average is {binary_rate_words(load.average_metered)} metered and its baseline"
            f" {binary_rate_words(efs.baseline_bytes_per_s(inputs.stored))}, so its credits are gone after"
            f" {duration_words(dry_s)}"
        )
    ]


def _recommended(modes: dict[EfsMode, Mode]) -> EfsMode | None:
    """The cheapest of those that do; all pay the same for storage, so its price need not be known."""
    fitting = {mode: one.throughput_usd for mode, one in modes.items() if _carries(one) and one.throughput_usd is not None}
    return min(fitting, key=lambda mode: fitting[mode], default=None)


def _break_even_percent(inputs: EfsThroughputMode, known: Known) -> float | None:
    """For the month's mix of reads and writes, without what the size includes."""
    read_share = _read_share(inputs)
    provisioned = known.price(EFS_PROVISIONED_THROUGHPUT)
    elastic = known.usd(
        *(Change(item, amount(share)) for item, share in ((EFS_ELASTIC_READ, read_share), (EFS_ELASTIC_WRITE, 1 - read_share)))
    )
    if provisioned is None or not elastic:
        return None
    metered_per_byte = efs.metered_bytes(1 - read_share, read_share)
    return efs.break_even_share(provisioned, elastic, metered_per_byte, known.hours_per_month) * 100


def _summary(modes: dict[EfsMode, Mode], recommended: EfsMode | None) -> str:
    if recommended:
        monthly = usd_words(modes[recommended].monthly_usd)
        words = [f"{recommended.capitalize()} is the cheapest that carries this: {monthly} a month."]
    elif any(_carries(one) for one in modes.values()):
        words = ["No price is known of what carries this."]
    else:
        words = ["No mode carries this."]
    for mode, one in modes.items():
        if mode != recommended:
            others = f"costs {usd_words(one.monthly_usd)}" if _carries(one) else f"does not: {one.why_not}"
            words.append(f"{mode.capitalize()} {others}.")
    return " ".join(words)


def _carries(one: Mode) -> bool:
    return one.carries_peak and one.sustains_month


def _assumptions(inputs: EfsThroughputMode, load: _Load) -> tuple[str, ...]:
    said = [
        f"assumed: all of {size_words(inputs.stored)} is in Standard; colder classes cost less and earn no throughput",
        "rule: a byte read is metered as a third of one written; Elastic bills it whole",
        "rule: a mix may use its share of reading and its share of writing, up to one together",
        "rule: provisioned throughput includes 1 MiB/s for each 20 GiB in Standard, and below the baseline it bursts instead",
        "rule: one client moves at most 500 MiB/s, with Elastic Regional and amazon-efs-utils 2.0 or later 1,500",
        "assumed: metadata operations are not counted; Elastic bills 4 KiB at least for each",
    ]
    if inputs.peak is None:
        said.append("assumed: the peak is the month's average, as none was named")
    if not inputs.read_per_month + inputs.write_per_month and load.peak:
        said.append("assumed: the peak is all writes, as nothing was said of the month")
    if inputs.provisioned is None:
        said.append("assumed: provisioned is what the peak is metered as, in whole MiB/s")
    if inputs.operation_size is None:
        said.append("assumed: operations are of 32 KiB or more, so that Elastic bills no more than their data, and few enough")
    else:
        said.append("rule: Elastic bills 32 KiB at least for an operation, and above in steps of 1 KiB")
        said.append("assumed: Elastic reads data that is used often: 250,000 operations a second before the quota is raised")
    if inputs.efs == "one-zone":
        said.append("rule: One Zone keeps its data in one Availability Zone and loses it with the zone")
    return tuple(said)


def _alternative(mode: EfsMode, one: Mode, units: tuple[Change, ...]) -> Alternative:
    solves = _carries(one)
    return Alternative(
        id=mode,
        summary=f"{mode} throughput" if solves else f"{mode} throughput does not carry it: {one.why_not}",
        solves=solves,
        changes=tuple(Change(unit.item, -unit.quantity) for unit in units if unit.quantity),
    )


ESTIMATE = Estimate(
    title="Which throughput mode an EFS file system should have",
    inputs=EfsThroughputMode,
    result=Choice,
    work=work,
)
