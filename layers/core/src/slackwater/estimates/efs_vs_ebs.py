"""What EFS costs, which bills what is used, beside an EBS volume, which bills what is allocated.

A volume has room to spare for the largest job, and is paid for all the time; a file system is as large as what is on
it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from math import ceil
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from slackwater.model.estimates import (
    MICRO_USD,
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
from slackwater.model.money import Change, amount, difference, ebs_storage, efs_storage
from slackwater.model.quantities import DURATION, NUMBER, Size, duration_words, size_words
from slackwater.model.units import GIB, HOUR_S, MINUTE_S

REPORT: Final = 'report "Can Amazon EFS replace EBS?" (2025-02-19)'
LEAST_HOURS: Final = 1 / 3_600
MOST_HOURS: Final = 100_000
LONGEST_CSV: Final = 2_000_000
ONE_LINE: Final = 40
"""How many characters of a wrong line a message repeats."""


def _hours(value: object) -> float:
    """Read hours from a number, or from a duration with its unit.

    Raises:
        ValueError: The value is neither, or AWS could not bill such a time.
    """
    if isinstance(value, str):
        hours = float(value) if re.fullmatch(NUMBER, value) else DURATION.read(value) / HOUR_S
    elif isinstance(value, int | float) and not isinstance(value, bool):
        hours = value
    else:
        raise ValueError("hours are a number, or a text with a unit, such as '59min'")  # noqa: TRY004 -- pydantic's
    if not LEAST_HOURS <= hours <= MOST_HOURS:
        raise ValueError(f"at least a second and at most {MOST_HOURS:,} hours")
    return float(hours)


Hours = Annotated[
    float,
    BeforeValidator(_hours),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": LEAST_HOURS, "maximum": MOST_HOURS},
                {"type": "string", "pattern": rf"{DURATION.pattern}|^{NUMBER}$"},
            ],
            "examples": ["59min", 720],
        }
    ),
]


class EfsVsEbs(Inputs):
    """What is used, and what would be allocated for it."""

    used: Size | None = Field(default=None, description="Storage used, if it is constant")
    usage_csv: str | None = Field(
        default=None,
        max_length=LONGEST_CSV,
        description="CSV file of the storage used over time, with lines of minute,GiB",
        json_schema_extra={"file": True},
    )
    hours: Hours | None = Field(
        default=None,
        description="Hours or duration of use (default: a month, or what the CSV file covers)",
    )
    allocated: Size | None = Field(default=None, description="Size of the EBS volume to compare with")
    efs: Literal["one-zone", "regional"] = Field(default="regional", description="Type of the file system")
    ebs: Literal["gp3"] = Field(default="gp3", description="Type of the volume")


class Costs(Result):
    """What both cost. A price that is not known is null, and so is what depends on it."""

    efs_usd: Usd | None = of("Cost on EFS", "USD")
    ebs_usd: Usd | None = of("Cost of the volume", "USD", null="")
    break_even_allocated_gib: Figure | None = of("Volume size at the same cost as EFS", "GiB")
    break_even_ratio: Figure | None = of("That size, as a multiple of average usage", "")
    cheaper: Literal["efs", "ebs", "equal"] | None = of("Lower-cost option", null="")
    efs_hours: Figure = of("Hours billed on EFS", "h")
    ebs_hours: Figure = of("Hours billed for the volume", "h")
    used_mean_gib: Figure = of("Average usage", "GiB")
    used_most_gib: Figure = of("Maximum usage", "GiB")
    allocated_gib: int | None = of("Size of the volume", "GiB", null="")
    allocated_suffices: bool | None = of("Volume is large enough", null="")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Use:
    """What is stored on EFS: the average over `hours`, and the most."""

    mean_gib: Decimal
    most_gib: float
    hours: Decimal


def work(inputs: EfsVsEbs, known: Known) -> Answer[Costs]:
    """Calculate the cost of the stored data on EFS, and of a volume for its own hours or as long."""
    use = _use(inputs, known)
    ebs_hours = amount(inputs.hours) if inputs.hours else use.hours
    allocated = None if inputs.allocated is None else ceil(inputs.allocated / GIB)
    if allocated == 0:
        raise InputError("allocated", "no volume is smaller than 1GiB")
    efs_item = efs_storage("Standard", one_zone=inputs.efs == "one-zone", elastic=False)
    ebs_item = ebs_storage(inputs.ebs)
    on_efs = Change(efs_item, use.mean_gib * use.hours / known.hours_per_month)
    efs_usd = known.usd(on_efs)
    ebs_gib_usd = known.usd(Change(ebs_item, ebs_hours / known.hours_per_month))
    ebs_usd = None if allocated is None or ebs_gib_usd is None else allocated * ebs_gib_usd
    even = float(efs_usd / ebs_gib_usd) if efs_usd is not None and ebs_gib_usd else None
    suffices = None if allocated is None else allocated >= use.most_gib
    result = Costs(
        efs_usd=efs_usd,
        ebs_usd=ebs_usd,
        break_even_allocated_gib=even,
        break_even_ratio=even / float(use.mean_gib) if even is not None and use.mean_gib else None,
        cheaper=_lower_cost(efs_usd, ebs_usd) if suffices else None,
        efs_hours=float(use.hours),
        ebs_hours=float(ebs_hours),
        used_mean_gib=float(use.mean_gib),
        used_most_gib=use.most_gib,
        allocated_gib=allocated,
        allocated_suffices=suffices,
    )
    return Answer(
        summary=_summary(inputs, result),
        result=result,
        assumptions=tuple(_assumptions(inputs, known)),
        sources=("Amazon EFS pricing", "Amazon EBS pricing", 'Amazon EFS User Guide, "Metering"', REPORT),
        alternatives=tuple(_volume(inputs, result, on_efs, ebs_hours / known.hours_per_month)),
    )


def _volume(inputs: EfsVsEbs, result: Costs, on_efs: Change, ebs_months: Decimal) -> Iterator[Alternative]:
    """Yield the volume as an alternative to EFS, if its size was given."""
    if result.allocated_gib is not None:
        yield Alternative(
            id=inputs.ebs,
            summary=(
                f"A {inputs.ebs} volume of {result.allocated_gib:,} GiB for {size_words(result.used_most_gib * GIB)}"
            ),
            solves=bool(result.allocated_suffices),
            changes=difference((on_efs,), (Change(ebs_storage(inputs.ebs), result.allocated_gib * ebs_months),)),
        )


def _use(inputs: EfsVsEbs, known: Known) -> _Use:
    if inputs.used is not None and inputs.usage_csv is not None:
        raise InputError("usage_csv", "give used or usage-csv, not both")
    if inputs.usage_csv is not None:
        return _integrated(_points(inputs.usage_csv))
    if inputs.used is None:
        raise InputError("used", "give used or usage-csv")
    gib = inputs.used / GIB
    return _Use(
        mean_gib=amount(gib), most_gib=gib, hours=amount(inputs.hours) if inputs.hours else known.hours_per_month
    )


def _points(csv: str) -> list[tuple[float, float]]:
    """Return pairs of minutes, which never decrease, and the GiB at that time."""
    points: list[tuple[float, float]] = []
    lines = [
        (number, line) for number, line in enumerate(csv.removeprefix("\ufeff").splitlines(), start=1) if line.strip()
    ]
    if lines and not any(_is_number(cell) for cell in _cells(lines[0][1])):
        del lines[0]  # the header
    for number, line in lines:
        cells = _cells(line)
        if len(cells) != 2 or not all(_is_number(cell) for cell in cells):
            raise InputError("usage_csv", f"line {number}: {_short(line)} is not minute,GiB, such as 5.5,30.1")
        minute, gib = (float(cell) for cell in cells)
        if points and minute < points[-1][0]:
            raise InputError(
                "usage_csv",
                f"line {number}: minute {minute:g} comes after minute {points[-1][0]:g}; sort the lines by minute",
            )
        points.append((minute, gib))
    if not points or points[-1][0] == points[0][0]:
        problem = "one point is not enough" if len(points) == 1 else "no time passes in it"
        raise InputError("usage_csv", f"{problem}; give lines minute,GiB of two different minutes at least")
    if points[-1][0] > MOST_HOURS * HOUR_S / MINUTE_S:
        raise InputError("usage_csv", f"minute {points[-1][0]:g} is after {MOST_HOURS:,} hours; give less at a time")
    return points


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split(",")]


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[0-9]{1,15}(?:\.[0-9]{1,30})?", cell) is not None


def _short(line: str) -> str:
    return repr(line if len(line) <= ONE_LINE else f"{line[:ONE_LINE]}…")


def _integrated(points: list[tuple[float, float]]) -> _Use:
    minutes = points[-1][0] - points[0][0]
    gib_minutes = sum((end - start) * (before + after) / 2 for (start, before), (end, after) in pairwise(points))
    return _Use(
        mean_gib=amount(gib_minutes / minutes),
        most_gib=max(gib for _, gib in points),
        hours=amount(minutes * MINUTE_S / HOUR_S),
    )


def _lower_cost(efs_usd: Decimal | None, ebs_usd: Decimal | None) -> Literal["efs", "ebs", "equal"] | None:
    if efs_usd is None or ebs_usd is None:
        return None
    if efs_usd.quantize(MICRO_USD) == ebs_usd.quantize(MICRO_USD):
        return "equal"
    return "efs" if efs_usd < ebs_usd else "ebs"


NAMES: Final = {"one-zone": "EFS One Zone", "regional": "EFS Regional"}


def _summary(inputs: EfsVsEbs, result: Costs) -> str:
    used, volume = size_words(result.used_mean_gib * GIB), f"{inputs.ebs} volume"
    mean = " on average" if inputs.usage_csv is not None else ""
    same_hours = result.efs_hours == result.ebs_hours
    words, its_hours = "", "" if same_hours else f" for {duration_words(result.ebs_hours * HOUR_S)}"
    if result.allocated_suffices is False:
        words = f"The volume is too small for the peak usage of {size_words(result.used_most_gib * GIB)}. "
    efs_hours = duration_words(result.efs_hours * HOUR_S)
    words += f"{NAMES[inputs.efs]} {_costs(result.efs_usd, f' to store {used}{mean} for {efs_hours}')}"
    if result.allocated_gib is not None:
        words += f". A {volume} of {result.allocated_gib:,} GiB {_costs(result.ebs_usd, its_hours)}"
    match result.cheaper:
        case "equal":
            words += ", the same"
        case "efs" | "ebs":
            words += f". {'EFS' if result.cheaper == 'efs' else 'The volume'} costs less"
    words += "."
    if result.break_even_allocated_gib is not None and result.break_even_ratio is not None:
        times = f" ({result.break_even_ratio:.3g} times the average usage)" if same_hours else its_hours
        words += f" A {volume} of {size_words(result.break_even_allocated_gib * GIB)}{times} would cost the same."
    return words


def _costs(usd: Decimal | None, what_for: str) -> str:
    return "has no known price" if usd is None else f"costs {usd_words(usd)}{what_for}"


def _assumptions(inputs: EfsVsEbs, known: Known) -> Iterator[str]:
    yield f"rule: AWS bills GiB and calls them GB. A month has {known.hours_per_month.normalize():f} hours."
    yield "rule: AWS bills EFS for the storage you use. It bills a volume for its size in whole GiB, per second."
    if inputs.usage_csv is not None:
        yield "assumed: usage changes linearly between two points. Two points with the same minute are a step."
    else:
        yield "assumed: usage is constant."
    if inputs.hours is None and inputs.usage_csv is None:
        yield "assumed: the storage is used for one month, because you gave no hours."
    if inputs.usage_csv is not None and inputs.hours is not None:
        yield "assumed: the hours that you gave apply to the volume. EFS is used for as long as the usage file covers."
    yield "assumed: all data stays in Standard storage, in Bursting mode, which has no charge for throughput."
    yield "assumed: the volume has only the IOPS and throughput that its price includes."
    if inputs.efs == "one-zone":
        yield "rule: EFS One Zone and EBS store data in one Availability Zone. If the zone is lost, the data is lost."
    else:
        yield "rule: EFS Regional stores data in at least three Availability Zones. A volume is in one."


ESTIMATE = Estimate(
    title="What EFS costs compared with an EBS volume",
    inputs=EfsVsEbs,
    result=Costs,
    work=work,
)
