"""Sizes, rates and durations as people write them: a number and a unit, never a bare number.

KB, MB, GB are powers of 1000 and KiB, MiB, GiB of 1024; kbps, Mbps, Gbps are decimal bits a second.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Final

from pydantic import BeforeValidator, WithJsonSchema

from slackwater.model.nearest import did_you_mean
from slackwater.model.units import DAY_S, GIB, HOUR_S, KIB, MIB, MINUTE_S, TIB

NUMBER: Final = r"[0-9]{1,15}(?:\.[0-9]{1,9})?"
WORD: Final = re.compile(r"([0-9][0-9.]*) ?(\S*)")

SIZES: Final[Mapping[str, int]] = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": KIB,
    "MiB": MIB,
    "GiB": GIB,
    "TiB": TIB,
}
RATES: Final[Mapping[str, Decimal]] = {
    **{f"{unit}/s": Decimal(factor) for unit, factor in SIZES.items()},
    "bps": Decimal("0.125"),
    "kbps": Decimal(125),
    "Mbps": Decimal(125_000),
    "Gbps": Decimal(125_000_000),
}
DURATIONS: Final[Mapping[str, int]] = {"s": 1, "min": MINUTE_S, "h": HOUR_S, "d": DAY_S}


@dataclass(frozen=True, slots=True)
class Quantity:
    """One kind of quantity: what it is called, an example, and its units in terms of the first."""

    noun: str
    example: str
    units: Mapping[str, int | Decimal]

    def read(self, words: object) -> float:
        """The quantity in its first unit.

        Raises:
            ValueError: it says what would be one.
        """
        if not isinstance(words, str):
            raise ValueError(f"{self.noun} is a text with a unit, such as {self.example!r}")  # noqa: TRY004 -- pydantic's
        if words.startswith("-"):
            raise ValueError(f"{self.noun} cannot be negative")
        found = WORD.fullmatch(words)
        if not found:
            raise ValueError(f"not {self.noun}, such as {self.example}")
        number, unit = found.groups()
        if not re.fullmatch(NUMBER, number):
            raise ValueError(f"{number} is no number of at most 15 digits, and 9 after the point")
        if not unit:
            raise ValueError(f"{self.noun} needs a unit: {', '.join(f'{number}{known}' for known in self.units)}")
        if unit not in self.units:
            raise ValueError(f"no unit {unit!r} of {self.noun}; {did_you_mean(unit, self.units, 'the documentation')}")
        return float(Decimal(number) * self.units[unit])

    @property
    def pattern(self) -> str:
        """What `read` takes, as a regular expression."""
        return f"^{NUMBER} ?(?:{'|'.join(self.units)})$"


SIZE: Final = Quantity("a size", "30GiB", SIZES)
RATE: Final = Quantity("a rate", "100MiB/s", RATES)
DURATION: Final = Quantity("a duration", "30min", DURATIONS)


def _schema(quantity: Quantity) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": quantity.pattern, "examples": [quantity.example]})


Size = Annotated[float, BeforeValidator(SIZE.read), _schema(SIZE)]
"""Bytes."""
Rate = Annotated[float, BeforeValidator(RATE.read), _schema(RATE)]
"""Bytes a second."""
Duration = Annotated[float, BeforeValidator(DURATION.read), _schema(DURATION)]
"""Seconds."""


def size_words(size_bytes: float) -> str:
    """Bytes for people: `30.1 GiB`."""
    return _scaled(size_bytes, {"TiB": TIB, "GiB": GIB, "MiB": MIB, "KiB": KIB, "B": 1})


def binary_rate_words(bytes_per_s: float) -> str:
    """Bytes a second for people, in binary units as EFS states throughput: `100 MiB/s`."""
    return f"{size_words(bytes_per_s)}/s"


def rate_words(bytes_per_s: float) -> str:
    """Bytes a second for people, in decimal units as networks and disks state them: `62.5 MB/s`."""
    return _scaled(bytes_per_s, {"GB/s": 10**9, "MB/s": 10**6, "KB/s": 10**3, "B/s": 1})


def duration_words(seconds: float) -> str:
    """Seconds for people: `6 h 55 min`, `13 min 56 s`, `4.2 s`."""
    if 0 < seconds < 0.001:
        return "under 1 ms"
    if seconds < 9.95:
        return f"{seconds:.2g} s"
    parts_of = ((DAY_S, "d", HOUR_S, "h"), (HOUR_S, "h", MINUTE_S, "min"), (MINUTE_S, "min", 1, "s"))
    for unit_s, unit, part_s, part in parts_of:
        whole, rest = divmod(round(seconds / part_s), unit_s // part_s)
        if whole:
            return f"{whole:,} {unit} {rest} {part}" if rest else f"{whole:,} {unit}"
    return f"{seconds:.0f} s"


def _scaled(value: float, units: Mapping[str, int]) -> str:
    """In the largest unit that it comes to, after rounding to whole ones of the next smaller."""
    for (unit, factor), smaller in pairwise(units.items()):
        if round(value / smaller[1]) * smaller[1] >= factor:
            return _three_digits(value / factor, unit)
    return _three_digits(value, [*units][-1])


def _three_digits(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}" if value >= 99.95 or value == int(value) else f"{value:.3g} {unit}"
