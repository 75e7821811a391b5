"""Scattered and late points: what a series most likely had where CloudWatch has none."""

from __future__ import annotations

from itertools import groupby
from math import isnan
from typing import Final

from slackwater.model.metrics import Series

FEW: Final = 3
"""Points without one between them; more of them are a hole, of which nobody knows."""


def filled(series: Series) -> Series:
    """The same, with what was there before in each gap of up to three points; missing points at the start stay missing."""
    values: list[float] = []
    for missing, run in groupby(series.values, isnan):
        points = list(run)
        values += [values[-1]] * len(points) if missing and values and len(points) <= FEW else points
    return Series.of(series.start_s, series.period_s, values)
