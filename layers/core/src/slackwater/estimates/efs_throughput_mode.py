"""Which throughput mode an EFS file system should have: what each costs, and whether it carries the peak and the month.

Bursting lives on credits, Provisioned is paid for whether it is used or not, and Elastic bills every GiB that moves.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
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
    EFS_PROVISIONED_THROUGHPUT,
    Change,
    amount,
    ebs_storage,
    efs_storage,
)
from slackwater.model.quantities import Rate, Size, size_words
from slackwater.model.units import DAY_S, GIB, HOUR_S, MIB
from slackwater.performance import efs
from slackwater.performance.efs import EfsMode, Fit, Load

REPORT: Final = 'report "Can Amazon EFS replace EBS?" (2025-02-19)'


class EfsThroughputMode(Inputs):
    """What a file system holds, what its clients move in a month, and at most at a time."""

    stored: Size = Field(description="Data in the file system")
    read_per_month: Size = Field(default="0B", validate_default=True, description="Data read per month")
    write_per_month: Size = Field(default="0B", validate_default=True, description="Data written per month")
    peak: Rate | None = Field(
        default=None,
        description="Peak throughput of all clients (default: the month's average)",
    )
    provisioned: Rate | None = Field(
        default=None, description="Throughput to provision (default: what the peak requires)"
    )
    efs: Literal["one-zone", "regional"] = Field(default="regional", description="Type of the file system")
    operation_size: Size | None = Field(
        default=None, description="Average size of an operation (default: at least 32 KiB)"
    )


class Mode(Result):
    """One mode: its price, and what it carries."""

    storage_usd: Usd | None = of("Storage cost", "USD/month")
    throughput_usd: Usd | None = of("Throughput cost", "USD/month")
    monthly_usd: Usd | None = of("Total cost", "USD/month")
    carries_peak: bool = of("Supports the peak")
    sustains_month: bool = of("Supports the month's load")
    why_not: str | None = of("Reason", null="")
    credits_last_days: Figure | None = of("Credits last at average load", "d", null="")
    read_ceiling_mib_s: Figure = of("Maximum read throughput", "MiB/s")
    write_ceiling_mib_s: Figure = of("Maximum write throughput", "MiB/s")
    clients_at_least: int = of("Clients needed to reach the peak")
    throughput_as_gp3_gib: Figure | None = of("gp3 storage at the same cost as throughput", "GiB-months")


class Modes(Result):
    """All three."""

    bursting: Mode = of("Bursting")
    provisioned: Mode = of("Provisioned")
    elastic: Mode = of("Elastic")


class Choice(Result):
    """The modes, and the cheapest that does."""

    recommended: EfsMode | None = of(
        "Lowest-cost mode for this load", null="none, or it depends on prices or the data per month"
    )
    modes: Modes = of("Throughput modes")
    peak_mib_s: Figure = of("Peak throughput", "MiB/s")
    average_mib_s: Figure = of("Average throughput of the month", "MiB/s")
    provisioned_mib_s: Figure = of("Throughput of Provisioned", "MiB/s")
    break_even_average_percent: Figure | None = of("Average use above which Elastic costs more", "%")


def work(inputs: EfsThroughputMode, known: Known) -> Answer[Choice]:
    """Calculate the cost and the fit of every mode under the same load."""
    if inputs.operation_size is not None and inputs.operation_size < 1:
        raise InputError("operation_size", "an operation moves 1B at least")
    load = _load(inputs, known)
    provisioned_mib_s = _provisioned_mib_s(inputs, load)
    fits = efs.fits(
        load,
        known.region,
        one_zone=inputs.efs == "one-zone",
        standard_bytes=inputs.stored,
        provisioned_mib_s=provisioned_mib_s,
    )
    modes = {mode: _mode(mode, fit, inputs, load, known) for mode, fit in fits.items()}
    cheapest = efs.cheapest(fits, known.usd)
    depends = (
        fits["elastic"].carries
        and fits["elastic"].units is None
        and not (cheapest and not modes[cheapest].throughput_usd)
    )
    unpriced = cheapest is None or modes[cheapest].throughput_usd is None
    result = Choice(
        recommended=None if depends or unpriced else cheapest,
        modes=Modes(bursting=modes["bursting"], provisioned=modes["provisioned"], elastic=modes["elastic"]),
        peak_mib_s=load.peak_bytes_per_s / MIB,
        average_mib_s=load.moved_bytes / load.month_s / MIB,
        provisioned_mib_s=provisioned_mib_s,
        break_even_average_percent=_break_even_percent(load, known),
    )
    return Answer(
        summary=_summary(
            fits,
            modes,
            None if unpriced else cheapest,
            _elastic_words(inputs, modes, cheapest, known) if depends else None,
            known.region,
        ),
        result=result,
        assumptions=_assumptions(inputs, load),
        sources=(
            'Amazon EFS User Guide, "Amazon EFS performance"',
            'Amazon EFS User Guide, "Amazon EFS quotas"',
            'Amazon EFS User Guide, "Metering"',
            "Amazon EFS pricing",
            REPORT,
        ),
        alternatives=tuple(_alternative(mode, fit, _stored(inputs)) for mode, fit in fits.items()),
    )


def _load(inputs: EfsThroughputMode, known: Known) -> Load:
    month_s = float(known.hours_per_month) * HOUR_S
    average = (inputs.read_per_month + inputs.write_per_month) / month_s
    peak = average if inputs.peak is None else inputs.peak
    if peak < average:
        raise InputError(
            "peak", f"is below the month's average, {average / MIB:,.4g} MiB/s; at least {ceil(average / MIB)}MiB/s"
        )
    return Load(
        read_bytes=inputs.read_per_month,
        write_bytes=inputs.write_per_month,
        month_s=month_s,
        peak_bytes_per_s=peak,
        operations_per_s=peak / inputs.operation_size if inputs.operation_size else 0,
        operation_bytes=inputs.operation_size,
    )


def _provisioned_mib_s(inputs: EfsThroughputMode, load: Load) -> float:
    if inputs.provisioned is None:
        return load.provisioned_mib_s
    least, most = efs.PROVISIONED_MIB_S
    if not least <= inputs.provisioned / MIB <= most:
        raise InputError(
            "provisioned", f"{inputs.provisioned / MIB:,.4g} MiB/s; from {least}MiB/s to {most}MiB/s can be had"
        )
    return inputs.provisioned / MIB


def _stored(inputs: EfsThroughputMode) -> Change:
    one_zone = inputs.efs == "one-zone"
    return Change(efs_storage("Standard", one_zone=one_zone, elastic=False), amount(inputs.stored / GIB))


def _mode(mode: EfsMode, fit: Fit, inputs: EfsThroughputMode, load: Load, known: Known) -> Mode:
    clients = load.peak_bytes_per_s / efs.limits(mode, one_zone=inputs.efs == "one-zone").client_bytes_per_s
    throughput_usd = None if fit.units is None else known.usd(*fit.units)
    gp3 = known.price(ebs_storage("gp3"))
    return Mode(
        storage_usd=known.usd(_stored(inputs)),
        throughput_usd=throughput_usd,
        monthly_usd=None if fit.units is None else known.usd(_stored(inputs), *fit.units),
        carries_peak=not fit.too_fast,
        sustains_month=fit.runs_dry is None,
        why_not=fit.why_not or (UNSAID if fit.units is None else None),
        credits_last_days=None if fit.credits_last_s is None else fit.credits_last_s / DAY_S,
        read_ceiling_mib_s=fit.allowed.read / MIB,
        write_ceiling_mib_s=fit.allowed.write / MIB,
        clients_at_least=max(1, ceil(clients)),
        throughput_as_gp3_gib=float(throughput_usd / gp3) if throughput_usd is not None and gp3 else None,
    )


LEAST_KNOWN: Final = "has the lowest cost of the modes that support this load and have a known price"
UNSAID: Final = "its cost is unknown without read-per-month and write-per-month"


def break_even_share(
    provisioned_usd: Decimal, elastic_usd_per_gib: Decimal, metered_per_byte: float, hours_per_month: Decimal
) -> float:
    """Return the average use, as a share of the provisioned throughput, above which Elastic costs more.

    `provisioned_usd` is the price of 1 MiB/s for a month. `metered_per_byte` is what a byte of the mix of reads and
    writes is metered as: 1 for writes only, a third for reads only.
    """
    moved_gib = float(hours_per_month) * HOUR_S * MIB / metered_per_byte / GIB
    return float(provisioned_usd) / (float(elastic_usd_per_gib) * moved_gib)


def _break_even_percent(load: Load, known: Known) -> float | None:
    """Return the use, in percent of provisioned throughput, above which Elastic costs more; None if a price is unknown.

    It is for the month's mix of reads and writes. It does not count the throughput that the size includes.
    """
    provisioned = known.price(EFS_PROVISIONED_THROUGHPUT)
    elastic = known.usd(*efs.elastic_units(GIB * load.read_share, GIB * (1 - load.read_share), load.operation_bytes))
    if provisioned is None or not elastic:
        return None
    return break_even_share(provisioned, elastic, load.metered_per_byte, known.hours_per_month) * 100


def _elastic_words(
    inputs: EfsThroughputMode, modes: Mapping[EfsMode, Mode], cheapest: EfsMode | None, known: Known
) -> str:
    """Return a sentence about which mode costs least by the bytes of a month, for inputs that do not say how many."""
    words = "The lowest-cost mode depends on the data per month"
    if cheapest and (other := modes[cheapest].throughput_usd) is not None:
        most = efs.elastic_for(other, known.usd, inputs.operation_size)
        if most:
            words += (
                f". Below {size_words(most.write)} written or {size_words(most.read)} read, it is Elastic. Above, it is"
                f" {cheapest.capitalize()}, which {_cost_words(modes[cheapest])}"
            )
    return f"{words}. The peak counts as writes. For a definite answer, give read-per-month and write-per-month."


def _summary(
    fits: Mapping[EfsMode, Fit],
    modes: Mapping[EfsMode, Mode],
    cheapest: EfsMode | None,
    depends: str | None,
    region: str,
) -> str:
    """Return the answer in sentences.

    Args:
        fits: Whether each mode supports the load.
        modes: The figures of each mode.
        cheapest: The mode with the lowest cost; None if no price of a mode that supports the load is known.
        depends: What to say if the lowest-cost mode depends on the data per month; None if it does not.
        region: The Region of the prices.
    """
    words, covered = [], set[EfsMode]()
    if depends:
        words.append(depends)
    elif cheapest:
        unknown = any(fit.carries and fit.units and modes[mode].throughput_usd is None for mode, fit in fits.items())
        # No mode can cost less than one that bills only the storage, so unknown prices do not matter.
        least = (
            "is the lowest-cost mode that supports this load"
            if not unknown or not modes[cheapest].throughput_usd
            else LEAST_KNOWN
        )
        is_priced = modes[cheapest].monthly_usd is not None
        cost = f"It {_cost_words(modes[cheapest])}." if is_priced else f"The storage price in {region} is unknown."
        words.append(f"{cheapest.capitalize()} {least}. {cost}")
        if note := fits[cheapest].note:
            words.append(f"{note}.")
    elif able := [mode for mode, fit in fits.items() if fit.carries]:
        covered = {*able}
        words.append(_unpriced_words(able, region))
    else:
        words.append("No mode supports this load.")
    for mode, fit in fits.items():
        if not fit.carries:
            words.append(f"{mode.capitalize()} does not support it: {fit.why_not}.")
        elif mode != cheapest and mode not in covered and fit.units is not None:
            words.append(f"{mode.capitalize()} {_cost_words(modes[mode])}.")
    return " ".join(words)


def _unpriced_words(able: Sequence[EfsMode], region: str) -> str:
    """Return which modes support the load, and that their prices are unknown."""
    *others, last = (mode.capitalize() for mode in able)
    if not others:
        return f"{last} supports this load, but its price in {region} is unknown."
    return f"{', '.join(others)} and {last} support this load, but their prices in {region} are unknown."


def _cost_words(mode: Mode) -> str:
    return "has no known price" if mode.monthly_usd is None else f"costs {usd_words(mode.monthly_usd)} per month"


def _assumptions(inputs: EfsThroughputMode, load: Load) -> tuple[str, ...]:
    lines = [
        (
            f"assumed: all {size_words(inputs.stored)} are in Standard storage. Colder storage classes cost less and "
            "earn no "
            "throughput."
        ),
        "rule: EFS meters a read byte as a third of a written byte. Elastic bills every byte.",
        (
            "rule: for a mix of reads and writes, the shares used of the read limit and of the write limit add up to "
            "at "
            "most "
            "100 %."
        ),
        (
            "rule: Provisioned includes 1 MiB/s per 20 GiB in Standard storage. If you provision less than this "
            "baseline, "
            "the file system bursts instead."
        ),
        (
            "rule: one client transfers at most 500 MiB/s, or 1,500 MiB/s with Elastic on a Regional file system and "
            "amazon-efs-utils 2.0 or later."
        ),
        "assumed: metadata operations are not counted. Elastic bills at least 4 KiB for each.",
    ]
    if inputs.peak is None:
        lines.append("assumed: the peak equals the month's average, because you gave no peak.")
    if not load.moved_bytes and load.peak_bytes_per_s:
        lines.append("assumed: the peak consists of writes, because you gave no data per month.")
    if inputs.provisioned is None:
        lines.append("assumed: the provisioned throughput is the metered rate of the peak, rounded up to whole MiB/s.")
    if inputs.operation_size is None:
        lines.append(
            "assumed: each operation has at least 32 KiB, so Elastic bills only the data. The operations do not reach "
            "the IOPS limit."
        )
    else:
        lines.append("rule: Elastic bills at least 32 KiB per operation, and larger operations in steps of 1 KiB.")
        lines.append(
            "assumed: Elastic reads frequently accessed data, at up to 250,000 operations per second (the default "
            "quota)."
        )
    if inputs.efs == "one-zone":
        lines.append("rule: EFS One Zone stores data in one Availability Zone. If the zone is lost, the data is lost.")
    return tuple(lines)


def _alternative(mode: EfsMode, fit: Fit, stored: Change) -> Alternative:
    return Alternative(
        id=mode,
        summary=f"{mode} throughput" if fit.carries else f"{mode} throughput does not carry it: {fit.why_not}",
        solves=fit.carries,
        changes=None
        if fit.units is None
        else tuple(Change(unit.item, -unit.quantity) for unit in (stored, *fit.units) if unit.quantity),
    )


ESTIMATE = Estimate(
    title="Which throughput mode an EFS file system should have",
    inputs=EfsThroughputMode,
    result=Choice,
    work=work,
)
