"""Sizes, rates and durations as people write them: a number with a unit. A number without a unit is an error.

KB, MB, GB are powers of 1000; KiB, MiB, GiB are powers of 1024; kbps, Mbps, Gbps are decimal bits a second. A duration
may have several parts: `1 h 30 min`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Final

from pydantic import BeforeValidator, WithJsonSchema

from slackwater.model.nearest import did_you_mean
from slackwater.model.units import DAY_S, GIB, HOUR_S, KIB, MIB, MINUTE_S, PIB, TIB

_FRACTION: Final = r"(?:\.[0-9]{1,100})?"
NUMBER: Final = rf"(?:[0-9]{{1,15}}{_FRACTION}(?:[eE]-[0-9]{{1,3}})?|[0-9]{_FRACTION}[eE]\+?0?(?:[0-9]|1[0-4]))"
"""Matches a decimal below 10^15 with as many digits as a program prints for a float: `0.9833333333333333`, `1e-05`."""
LEAST: Final = 1e-9
"""A smaller value, in a quantity's first unit, counts as zero, so that no estimate divides by a tiny number."""
PART: Final = re.compile(r" ?([0-9](?:[0-9.,_' ]*[0-9.,_'])?(?:[eE][+-]?[0-9]+)?) ?([^\s0-9]*)")
"""Matches a number, or something that was meant as a number, and the unit after it."""

SIZES: Final[Mapping[str, int]] = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "PB": 10**15,
    "KiB": KIB,
    "MiB": MIB,
    "GiB": GIB,
    "TiB": TIB,
    "PiB": PIB,
}
RATES: Final[Mapping[str, Decimal]] = {
    **{f"{unit}/s": Decimal(factor) for unit, factor in SIZES.items()},
    "bps": Decimal("0.125"),
    "kbps": Decimal(125),
    "Mbps": Decimal(125_000),
    "Gbps": Decimal(125_000_000),
}
AS_AWS_WRITES: Final[Mapping[str, Decimal]] = {
    f"{unit}ps": RATES[f"{unit}/s"] for unit in ("MB", "GB", "KiB", "MiB", "GiB")
}
"""Bytes a second as some AWS pages write them. `KBps` is not accepted because it looks like `kbps`."""
BITS_OR_BYTES: Final = re.compile(r"([kmg])b(?:it|yte)?s?(?:ps|/s)?", re.IGNORECASE)
BITS_AND_BYTES: Final = {"k": ("kbps", "KB/s"), "m": ("Mbps", "MB/s"), "g": ("Gbps", "GB/s")}
DURATIONS: Final[Mapping[str, int]] = {"s": 1, "min": MINUTE_S, "h": HOUR_S, "d": DAY_S}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One kind of quantity.

    Attributes:
        noun: Its name in messages.
        units: Its units, each as a multiple of the first one.
        aliases: Units that are also accepted, but that messages do not suggest.
        most_parts: How many numbers with units it may have at most.
    """

    noun: str
    example: str
    units: Mapping[str, int | Decimal]
    aliases: Mapping[str, int | Decimal] = field(default_factory=dict)
    most_parts: int = 1

    def read(self, words: object) -> float:
        """Read a quantity, and return it in its first unit.

        Raises:
            ValueError: `words` is not such a quantity. The message says what is valid.
        """
        if not isinstance(words, str):
            raise ValueError(f"{self.noun} is a text with a unit, such as {self.example!r}")  # noqa: TRY004
        if not re.fullmatch(self.pattern, words):
            raise ValueError(self._problem(words))
        units = {**self.units, **self.aliases}
        amount = float(sum(Decimal(number) * units[unit] for number, unit in PART.findall(words)))
        return amount if amount >= LEAST else 0.0

    @property
    def pattern(self) -> str:
        """A regular expression that matches everything that `read` accepts."""
        part = f"{NUMBER} ?(?:{'|'.join((*self.units, *self.aliases))})"
        more = f"(?: ?{part}){{0,{self.most_parts - 1}}}" if self.most_parts > 1 else ""
        return f"^{part}{more}$"

    def _problem(self, words: str) -> str:
        """Return why `read` does not accept these words."""
        if words.startswith("-"):
            return f"{self.noun} cannot be negative"
        parts = [] if PART.sub("", words) else PART.findall(words)
        for number, unit in parts:
            if not re.fullmatch(NUMBER, number):
                return f"{number} is no plain number below 10^15, such as 1500, 0.983 or 1e-05"
            if not unit:
                return f"{self.noun} needs a unit: {', '.join(f'{number}{known}' for known in self.units)}"
            if unit not in self.units and unit not in self.aliases:
                return f"no unit {unit!r} of {self.noun}; {self._nearest(unit)}"
        return f"not {self.noun}, such as {self.example}"

    def _nearest(self, unit: str) -> str:
        """Return the unit that was probably meant; both if it may be bits or bytes; all units if none is similar."""
        if self.units is RATES and unit not in SIZES and (found := BITS_OR_BYTES.fullmatch(unit)):
            bits, of_bytes = BITS_AND_BYTES[found[1].lower()]
            return f"{bits} are bits, {of_bytes} bytes"
        near = did_you_mean(unit, self.units, "")
        return near if near.endswith("?") else f"there are {', '.join(self.units)}"


SIZE: Final = Quantity(noun="a size", example="30GiB", units=SIZES)
RATE: Final = Quantity(noun="a rate", example="100MiB/s", units=RATES, aliases=AS_AWS_WRITES)
DURATION: Final = Quantity(noun="a duration", example="30min", units=DURATIONS, most_parts=len(DURATIONS))


def _schema(quantity: Quantity) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": quantity.pattern, "examples": [quantity.example]})


Size = Annotated[float, BeforeValidator(SIZE.read), _schema(SIZE)]
"""Bytes."""
Rate = Annotated[float, BeforeValidator(RATE.read), _schema(RATE)]
"""Bytes a second."""
Duration = Annotated[float, BeforeValidator(DURATION.read), _schema(DURATION)]
"""Seconds."""


def size_words(size_bytes: float) -> str:
    """Return bytes for people, in binary units: `30.1 GiB`."""
    return _scaled(size_bytes, {"PiB": PIB, "TiB": TIB, "GiB": GIB, "MiB": MIB, "KiB": KIB, "B": 1})


def decimal_size_words(size_bytes: float) -> str:
    """Return bytes for people, in decimal units, as networks count them: `5 TB`."""
    return _scaled(size_bytes, {"PB": 10**15, "TB": 10**12, "GB": 10**9, "MB": 10**6, "KB": 10**3, "B": 1})


def own_size_words(size_bytes: float) -> str:
    """Return bytes as a person would have typed them: `5 TB`, or `400 GiB` if only binary units are exact."""
    decimal, binary = decimal_size_words(size_bytes), size_words(size_bytes)
    return next((words for words in (decimal, binary) if _bytes(words) == size_bytes), decimal)


def _bytes(words: str) -> Decimal:
    """Convert the output of `_scaled` back to bytes."""
    number, unit = words.replace(",", "").split(" ")
    return Decimal(number) * SIZES[unit]


def binary_rate_words(bytes_per_s: float) -> str:
    """Return bytes a second for people, in binary units, as EFS states throughput: `100 MiB/s`."""
    return f"{size_words(bytes_per_s)}/s"


def rate_words(bytes_per_s: float) -> str:
    """Return bytes a second for people, in decimal units, as networks and disks state them: `62.5 MB/s`."""
    return f"{decimal_size_words(bytes_per_s)}/s"


def duration_words(seconds: float) -> str:
    """Return seconds for people: `6 h 55 min`, `13 min 56 s`, `4.2 s`."""
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
    """Return a value in the largest unit that it reaches when rounded to the next smaller unit."""
    for (unit, factor), smaller in pairwise(units.items()):
        if round(value / smaller[1]) * smaller[1] >= factor:
            return _three_digits(value / factor, unit)
    return _three_digits(value, [*units][-1])


def _three_digits(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}" if value >= 99.95 or value == int(value) else f"{value:.3g} {unit}"
