"""Levels to compare a picture with, of what has a baseline and a burst."""

from __future__ import annotations

from slackwater.model.verdicts import Line


def baseline_and_burst(baseline: float, burst: float) -> tuple[Line, ...]:
    """Both, in the picture's unit; one where there is no burst."""
    if burst == baseline:
        return (Line("At most", round(baseline, 2)),)
    return Line("Baseline", round(baseline, 2)), Line("Burst", round(burst, 2))
