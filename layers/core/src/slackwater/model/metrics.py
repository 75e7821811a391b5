"""CloudWatch metrics: what a detector needs, and the series that it receives."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import ceil, floor, isnan, nan
from typing import NamedTuple

from slackwater.model.units import DAY_S

type Dimensions = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric and its statistic.

    Attributes:
        unit: What one point means, for people.
        optional: A detector can judge without it. If it cannot be read, it has no data.
    """

    namespace: str
    name: str
    stat: str
    unit: str
    optional: bool = False

    def __hash__(self) -> int:
        """Hash the fields that differ between most metrics, because every lookup of a need hashes its metric."""
        return hash((self.name, self.stat))

    def optionally(self) -> "Metric":
        """Return the same metric as an optional one."""
        return replace(self, optional=True)

    def need(self, *dimensions: tuple[str, str], period_s: int, days: float) -> "Need":
        """Return the need for this metric of one resource over the last `days`."""
        return Need(self, tuple(sorted(dimensions)) if len(dimensions) > 1 else dimensions, period_s, days)


class Need(NamedTuple):
    """One metric of one resource over the last `days`, with one point for each `period_s` seconds.

    A tuple, because a scan creates needs more often than anything else. A frozen dataclass takes twice as long.
    """

    metric: Metric
    dimensions: Dimensions
    period_s: int
    days: float


@dataclass(slots=True)
class Series:
    """Evenly spaced points. A point that was not published is missing, not zero.

    Do not change one. It is not frozen, because creating a frozen one takes three times as long, and detectors cut
    many.

    Attributes:
        start_s: The epoch second of the first point.
        period_s: The seconds between two points.
        values: NaN for a missing point, because a fleet has millions of points (8 bytes each). Callers get None.
    """

    start_s: int
    period_s: int
    values: array[float]

    @classmethod
    def of(cls, start_s: int, period_s: int, values: Iterable[float | None]) -> "Series":
        """Create a series from plain values, with None for a missing point."""
        return cls(start_s, period_s, array("d", [nan if v is None else v for v in values]))

    def __len__(self) -> int:
        """Return the number of points, including missing ones."""
        return len(self.values)

    @property
    def start(self) -> datetime:
        """The time of the first point."""
        return datetime.fromtimestamp(self.start_s, UTC)

    @property
    def end_s(self) -> int:
        """The epoch second just after the last point."""
        return self.start_s + self.period_s * len(self.values)

    @property
    def present(self) -> Sequence[float]:
        """The points that were published."""
        return [v for v in self.values if v == v]  # noqa: PLR0124 -- v != v for NaN; faster than isnan for millions of points

    @property
    def missing(self) -> int:
        """The number of points that were not published."""
        return sum(map(isnan, self.values))

    def points(self) -> Iterator[tuple[datetime, float | None]]:
        """Yield every point with its time."""
        for i, v in enumerate(self.values):
            yield datetime.fromtimestamp(self.start_s + i * self.period_s, UTC), None if isnan(v) else v

    def optional(self) -> list[float | None]:
        """Return the values, with None for missing points."""
        return [None if isnan(v) else v for v in self.values]

    def over(self, divisor: float) -> "Series":
        """Return the series with every point divided, such as in another unit. A missing point stays missing."""
        return Series(self.start_s, self.period_s, array("d", [value / divisor for value in self.values]))

    def plus(self, other: "Series") -> "Series":
        """Return the sums of both series, point by point. A point is missing if either one is missing."""
        return Series(
            self.start_s, self.period_s, array("d", [a + b for a, b in zip(self.values, other.values, strict=True)])
        )

    def since(self, start_s: float) -> "Series":
        """Return the points that begin at or after `start_s` (epoch seconds)."""
        return self.between(start_s, self.end_s)

    def newest(self, days: float) -> "Series":
        """Return the points of the last `days` of the series."""
        return self.since(self.end_s - days * DAY_S)

    def between(self, start_s: float, end_s: float) -> "Series":
        """Return the points that begin at or after `start_s` and end at or before `end_s` (epoch seconds)."""
        if start_s <= self.start_s and end_s >= self.end_s:
            return self
        first = max(0, ceil((start_s - self.start_s) / self.period_s))
        last = max(first, floor((end_s - self.start_s) / self.period_s))
        return Series(self.start_s + first * self.period_s, self.period_s, self.values[first:last])
