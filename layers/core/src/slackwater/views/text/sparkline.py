"""A series as a row of bars."""

from collections.abc import Sequence
from itertools import pairwise
from math import log
from statistics import median
from typing import Final

BARS: Final = "▁▂▃▄▅▆▇█"
MISSING: Final = "·"
"""Stands for a missing point. A low bar would look like a small number."""

LOGARITHMIC_FROM: Final = 20
"""Ratio of peak to median above which the scale is logarithmic.

A linear scale would show only the peak, and a throttled rate would look like none.
"""
DECADES: Final = 10_000
"""A logarithmic scale goes down to the peak divided by this."""


def sparkline(values: Sequence[float | None], width: int, top: float | None = None) -> str:
    """Return at most `width` bars, each the maximum of its part of the series.

    The scale goes from zero, or from the minimum if that is negative, to `top`. Without `top` it goes to the maximum,
    and is logarithmic if `is_logarithmic` says so.
    """
    parts = min(width, len(values))
    edges = [len(values) * i // parts for i in range(parts + 1)] if parts else []
    peaks = [
        max((value for value in values[start:end] if value is not None), default=None) for start, end in pairwise(edges)
    ]
    present = [peak for peak in peaks if peak is not None]
    low, high = min([0, *present]), max([0, *present]) if top is None else top
    if top is None and is_logarithmic(values):
        floor = max(min(peak for peak in present if peak > 0), high / DECADES)
        span = log(high / floor) or 1
        return "".join(
            _bar(None if p is None else 0 if p <= 0 else (1 + 6 * log(max(p, floor) / floor) / span) / 7) for p in peaks
        )
    return "".join(_bar(None if peak is None else (peak - low) / ((high - low) or 1)) for peak in peaks)


def is_logarithmic(values: Sequence[float | None]) -> bool:
    """Return whether no value is negative, and the peak is far above the median of the positive values."""
    present = [value for value in values if value is not None]
    positive = [value for value in present if value > 0]
    return bool(positive) and min(present) >= 0 and max(positive) > LOGARITHMIC_FROM * median(positive)


def _bar(height: float | None) -> str:
    return MISSING if height is None else BARS[round(min(height, 1) * (len(BARS) - 1))]
