"""A series as a row of bars."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

BARS: Final = "▁▂▃▄▅▆▇█"
MISSING: Final = "·"
"""Nobody published a point: not a low bar, which would be a small number."""


def sparkline(values: Sequence[float | None], width: int) -> str:
    """At most `width` bars, each the greatest value of its part. The scale runs from zero, or from the least value below it."""
    parts = min(width, len(values))
    edges = [len(values) * i // parts for i in range(parts + 1)] if parts else []
    peaks = [max((value for value in values[start:end] if value is not None), default=None) for start, end in pairwise(edges)]
    present = [peak for peak in peaks if peak is not None]
    low, high = min([0, *present]), max([0, *present])
    span = (high - low) or 1
    return "".join(MISSING if peak is None else BARS[round((peak - low) / span * (len(BARS) - 1))] for peak in peaks)
