"""Create demand over time: what people and programs request, before any limit.

Shapes have values between 0 and 1, one a minute for one cycle, and reach 1 somewhere. A rate at the peak times a shape
is a demand. Ordinary resources share a few seeded variants of each shape, which differ only in scale.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .series import CYCLE, DAY, HOUR, MINUTE, Floats, Signal

MINUTES = CYCLE // MINUTE
DAY_MINUTES = DAY // MINUTE
VARIANTS = 6


@dataclass(slots=True)
class Shapes:
    """Seeded shapes for a fleet whose newest data ends at `now` (epoch seconds)."""

    now: int
    seed: int = 0
    _made: dict[tuple[str, int], Signal] = field(default_factory=dict)

    @property
    def origin(self) -> int:
        """The midnight (epoch seconds) at which the cycle starts, so that it ends with the day of `now`."""
        return self.now // DAY * DAY + DAY - CYCLE

    def random(self, *name: object) -> np.random.Generator:
        """Return a random generator that depends only on the seed and a name."""
        return np.random.default_rng([self.seed, zlib.crc32(repr(name).encode())])

    def signal(self, values: Floats, step: int = MINUTE) -> Signal:
        """Return values of one cycle as a signal."""
        return Signal.sampled(self.origin, step, values)

    def shape(self, kind: str, variant: int = 0) -> Signal:
        """Return a shared shape: steady, office, nightly, bursty or trickle."""
        key = kind, variant % VARIANTS
        if key not in self._made:
            self._made[key] = self.signal(_KINDS[kind](self.random(*key)))
        return self._made[key]

    def minute(self, days_ago: float, hour: float = 0.0) -> int:
        """Return the index of the minute `days_ago` days before now's midnight, at `hour` UTC."""
        return int(MINUTES - DAY_MINUTES - days_ago * DAY_MINUTES + hour * 60)

    def blocks(self, spans: Sequence[tuple[float, float, float, float]], rest: float = 0.0) -> Floats:
        """Return levels by (days ago, hour UTC, hours long, level). Everything else is `rest`."""
        values = np.full(MINUTES, rest)
        for days_ago, hour, hours, level in spans:
            start = self.minute(days_ago, hour)
            values[max(0, start) : max(0, start + int(hours * 60))] = level
        return values


def _grid() -> tuple[Floats, Floats]:
    """Return the hour of the day and the day of the cycle of each minute."""
    minute = np.arange(MINUTES, dtype=np.float64)
    return minute % DAY_MINUTES / 60, minute // DAY_MINUTES


def noise(random: np.random.Generator, spread: float, size: int = MINUTES) -> Floats:
    """Return factors around 1, never negative."""
    return np.maximum(0.0, random.normal(1.0, spread, size))


def _steady(random: np.random.Generator) -> Floats:
    return np.minimum(1.0, 0.8 * noise(random, 0.07))


def _office(random: np.random.Generator) -> Floats:
    hour, _ = _grid()
    offset = random.uniform(-1.0, 1.0)
    day = np.exp(-(((hour - 5.0 - offset + 12) % 24 - 12) ** 2) / 18)
    return np.minimum(1.0, (0.08 + 0.75 * day) * noise(random, 0.2))


def _nightly(random: np.random.Generator) -> Floats:
    """Return a ten-minute batch at full rate every night, with almost nothing in between."""
    values = 0.01 * noise(random, 0.5)
    start = int(random.integers(15 * 60, 19 * 60))
    for day in range(MINUTES // DAY_MINUTES):
        begin = day * DAY_MINUTES + start + int(random.integers(0, 10))
        values[begin : begin + 10] = 0.97 + 0.03 * random.random(10)
    return values


def _bursty(random: np.random.Generator) -> Floats:
    values = 0.05 * noise(random, 0.4)
    for start in random.integers(0, MINUTES - 30, 35 * 8):
        values[start : start + int(random.integers(2, 20))] += random.uniform(0.2, 0.9)
    return np.minimum(1.0, values)


def _trickle(random: np.random.Generator) -> Floats:
    values = np.where(random.random(MINUTES) < 0.15, random.random(MINUTES) * 0.2, 0.0)
    values[random.integers(0, MINUTES, 35)] = 1.0
    return values


_KINDS = {"steady": _steady, "office": _office, "nightly": _nightly, "bursty": _bursty, "trickle": _trickle}

__all__ = ["DAY_MINUTES", "HOUR", "MINUTES", "Shapes", "noise"]
