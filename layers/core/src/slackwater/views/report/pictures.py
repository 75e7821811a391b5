"""Data of the report's charts: series in a readable unit, downsampled so that a browser opens the page quickly."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from math import log
from typing import Final, NotRequired, TypedDict

from slackwater.views.scan.document import EvidenceDocument, FindingDocument, SeriesDocument
from slackwater.views.text.sparkline import DECADES, LOGARITHMIC_FROM, is_logarithmic
from slackwater.views.text.words import BYTES

POINTS: Final = 120_000
"""Points in all charts of a report, about 700 kB."""
MOST: Final = (720, 480, 360, 288, 240, 192, 144, 96, 72, 48)
"""Maximum points of a series: the first of these that fits the budget.

No screen shows more than the largest, and a chart with fewer than the smallest shows nothing useful.
"""
DIGITS: Final = 4
HIDDEN: Final = 100
"""If the full height is more than this many times the series' peak, the series would be less than two pixels high."""

SPARK_POINTS: Final = 40
SPARK_WIDTH: Final = 96
SPARK_HEIGHT: Final = 20


class Curve(TypedDict):
    """Points from `start` (seconds since 1970), `period` seconds apart.

    If points were left out, `at` has each point's distance from the previous point, in periods.
    """

    start: int
    period: int
    values: list[float | None]
    at: NotRequired[list[int]]


class Chart(Curve):
    """A curve with its unit.

    Attributes:
        of: Number of points before downsampling.
        top: Value at the full height of the picture.
        full: Replaces `top` if that is so far above the curve that the picture does not reach it.
        log: The height is logarithmic.
        part: The period of the last point was not over.
    """

    unit: str
    log: NotRequired[bool]
    of: NotRequired[int]
    top: NotRequired[float]
    full: NotRequired[float]
    part: NotRequired[bool]
    lines: NotRequired[list[tuple[str, float]]]
    forecast: NotRequired[Curve]


@dataclass(frozen=True, slots=True)
class Album:
    """The charts of all findings, by the indexes of finding and fact. `left_out` counts series beyond the budget."""

    charts: Mapping[tuple[int, int], Chart]
    left_out: int


def album(findings: Sequence[FindingDocument], points: int = POINTS, *, until: str | None = None) -> Album:
    """Return the charts, with at most `points` points in all. If not all fit, the first findings have charts.

    `until` is the time (RFC 3339) at which the data ends; None if unknown.
    """
    pictures = [
        (place, number, fact, series)
        for place, finding in enumerate(findings)
        for number, fact in enumerate(finding["evidence"])
        if (series := drawn(fact)) is not None
    ]
    lengths = [len(each["values"]) for *_, fact, series in pictures for each in (series, fact.get("forecast")) if each]
    most = next((most for most in MOST if sum(min(length, most) for length in lengths) <= points), MOST[-1])
    charts: dict[tuple[int, int], Chart] = {}
    for place, number, fact, series in pictures:
        chart = _chart(fact, series, most, until)
        points -= len(chart["values"]) + len(chart["forecast"]["values"] if "forecast" in chart else ())
        if points < 0:
            break
        charts[place, number] = chart
    return Album(charts, len(pictures) - len(charts))


def drawn(fact: EvidenceDocument) -> SeriesDocument | None:
    """Return the series of a fact; None if it has no data to draw."""
    series = fact.get("series")
    return series if series and any(value is not None for value in series["values"]) else None


def thinned(values: Sequence[float | None], most: int) -> list[tuple[int, float | None]]:
    """Return at most `most` points (10 or more) with their indexes.

    Keeps both ends, the minimum and maximum of each stretch, and gaps.
    """
    if len(values) <= most:
        return list(enumerate(values))
    gaps = sum(value is None and (at == 0 or values[at - 1] is not None) for at, value in enumerate(values))
    stretches = max(
        (most - 2) // 2 - gaps, (most - 4) // 6
    )  # a gap takes two points; between two kept points at most one gap is kept
    edges = [len(values) * i // stretches for i in range(stretches + 1)]
    kept = {at for start, end in pairwise(edges) for at in _extremes(values, start, end)} | {0, len(values) - 1}
    missing = (
        [at for at in range(before + 1, after) if values[at] is None] for before, after in pairwise(sorted(kept))
    )
    return [(at, values[at]) for at in sorted(kept.union(*(run[:1] + run[-1:] for run in missing)))]


def _extremes(values: Sequence[float | None], start: int, end: int) -> Iterator[int]:
    present = [(value, at) for at in range(start, end) if (value := values[at]) is not None]
    if present:
        yield min(present)[1]
        yield max(present)[1]


def sparkline(fact: EvidenceDocument, until: str | None = None) -> str:
    """Return the SVG path of a fact's series as a sparkline, with gaps and the scale of other views.

    Empty without a point. A last period that was not over at `until` is left out, because there is no room for a note.
    """
    series = drawn(fact)
    if series is None:
        return ""
    values = series["values"]
    if _is_part(series, until) and any(value is not None for value in values[:-1]):
        values = values[:-1]
    present = [value for value in values if value is not None]
    low, peak = min(0.0, *present), max(0.0, *present)
    high, span = max(fact.get("scale") or 0.0, peak), 0.0
    floor = min((value for value in present if value > peak / DECADES), default=0.0)
    if _is_logarithmic(fact, values):
        high = max(high, _highest(fact))
        span = log(high / floor)
    across = SPARK_WIDTH / max(len(values) - 1, 1)
    path, pen = "", False
    for at, value in thinned(values, SPARK_POINTS):
        if value is None:
            pen = False
            continue
        height = (value - low) / ((high - low) or 1)
        if span:
            height = (1 + 6 * log(max(value, floor) / floor) / span) / 7 if value > 0 else 0
        depth = SPARK_HEIGHT * (1 - height)
        path += f"{'L' if pen else 'M'}{at * across:.0f} {max(depth, 0):.0f}" + ("" if pen else "h0")
        pen = True
    return path


def _chart(fact: EvidenceDocument, series: SeriesDocument, most: int, until: str | None) -> Chart:
    lines, forecast, top = fact.get("lines", []), fact.get("forecast"), fact.get("scale")
    present = [value for value in (*series["values"], *(forecast["values"] if forecast else ())) if value is not None]
    peak, largest = max(present), max(map(abs, present))
    factor, unit = _unit(fact["unit"], largest or max(_highest(fact), top or 0))
    curve = _curve(series, factor, most)
    chart: Chart = {"unit": unit, "start": curve["start"], "period": curve["period"], "values": curve["values"]}
    if "at" in curve:
        chart["at"], chart["of"] = curve["at"], len(series["values"])
    logarithmic = _is_logarithmic(fact, series["values"])
    if logarithmic:
        chart["log"] = True
    if top is not None:
        beyond = not logarithmic and 0 < HIDDEN * peak < top and _highest(fact) < top
        chart["full" if beyond else "top"] = _rounded(top / factor)
    if _is_part(series, until):
        chart["part"] = True
    if lines:
        chart["lines"] = [(line["label"], _rounded(line["value"] / factor)) for line in lines]
    if forecast:
        chart["forecast"] = _curve(forecast, factor, most)
    return chart


def _is_logarithmic(fact: EvidenceDocument, values: Sequence[float | None]) -> bool:
    """Return whether a linear height would show only the peak, or only a line far above the whole series."""
    if "scale" not in fact and is_logarithmic(values):
        return True
    present = [value for value in values if value is not None]
    far = HIDDEN if "scale" in fact else LOGARITHMIC_FROM
    return min(present) >= 0 and 0 < far * max(present) < _highest(fact)


def _highest(fact: EvidenceDocument) -> float:
    return max((line["value"] for line in fact.get("lines", ())), default=0)


def _is_part(series: SeriesDocument, until: str | None) -> bool:
    """Return whether the period of the last point was not over at `until`."""
    if until is None or series["values"][-1] is None:
        return False
    end = datetime.fromisoformat(series["start"]) + timedelta(seconds=series["period_s"] * len(series["values"]))
    return end > datetime.fromisoformat(until)


def _curve(series: SeriesDocument, factor: int, most: int) -> Curve:
    points = thinned(series["values"], most)
    curve: Curve = {
        "start": int(datetime.fromisoformat(series["start"]).timestamp()),
        "period": series["period_s"],
        "values": [None if value is None else _rounded(value / factor) for _, value in points],
    }
    if len(points) < len(series["values"]):
        curve["at"] = [after - before for before, after in pairwise((0, *(at for at, _ in points)))]
    return curve


def _unit(unit: str, peak: float) -> tuple[int, str]:
    """Return the divisor for the axis, and the name of the unit. Bytes get the binary unit that fits the peak."""
    if unit != "bytes":
        return 1, {"count": "", "words": ""}.get(unit, unit.replace("percent", "%"))
    factor = next((factor for factor in BYTES if peak >= factor), 1)
    return factor, BYTES.get(factor, unit)


def _rounded(value: float) -> float:
    """Round to four significant digits. Whole numbers become int, because their JSON is shorter."""
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded
