"""Small charts of findings and savings from audit to audit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from slackwater.views.scan.document import TrendPointDocument
from slackwater.views.scan.trend import day

WIDTH: Final = 320
HEIGHT: Final = 56


@dataclass(frozen=True, slots=True)
class Dot:
    """An audit in a chart; hollow if the audit was incomplete."""

    x: float
    y: float
    hollow: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """One number over time. The vertical axis goes from zero to the maximum; the horizontal one is the audit's time."""

    label: str
    path: str
    dots: tuple[Dot, ...]
    first: str
    last: str
    description: str


def pictures(points: Sequence[TrendPointDocument]) -> list[Picture]:
    """Return the charts of savings and of findings; empty for fewer than two audits."""
    if len(points) < 2:
        return []
    usd = [float(point["monthly_savings_usd"]) for point in points]
    return [
        _picture("USD a month", points, usd, [f"{value:,.2f}" for value in usd]),
        _picture(
            "Findings", points, [point["findings"] for point in points], [f"{point['findings']:,}" for point in points]
        ),
    ]


def _picture(
    label: str, points: Sequence[TrendPointDocument], values: Sequence[float], labels: Sequence[str]
) -> Picture:
    top = max(values) or 1
    places = list(zip(_across(points), (HEIGHT * (1 - max(value, 0) / top) for value in values), strict=True))
    dots = (Dot(round(x, 1), round(y, 1), not point["complete"]) for (x, y), point in zip(places, points, strict=True))
    description = (
        f"{day(point)} {value}{'' if point['complete'] else ' (incomplete)'}"
        for point, value in zip(points, labels, strict=True)
    )
    return Picture(label, _path(places), tuple(dots), labels[0], labels[-1], f"{label}: {', '.join(description)}")


def _across(points: Sequence[TrendPointDocument]) -> list[float]:
    times = [datetime.fromisoformat(point["as_of"]).timestamp() for point in points]
    span = times[-1] - times[0]
    if span <= 0:
        return [WIDTH * at / (len(times) - 1) for at in range(len(times))]
    return [min(max(WIDTH * (time - times[0]) / span, 0), WIDTH) for time in times]


def _path(places: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
