"""CloudWatch metrics: what a detector needs, and the series that answers it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import ceil, floor, isnan, nan

type Dimensions = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric and the statistic asked of it. `unit` is what one point means, for people.

    Without an optional one a detector can still judge: where it cannot be read it has no points.
    """

    namespace: str
    name: str
    stat: str
    unit: str
    optional: bool = False

    def optionally(self) -> Metric:
        """The same metric, which a detector can do without."""
        return replace(self, optional=True)

    def need(self, *dimensions: tuple[str, str], period_s: int, days: float) -> Need:
        """This metric of one resource, as far back as `days`."""
        return Need(self, tuple(sorted(dimensions)), period_s, days)


@dataclass(frozen=True, slots=True)
class Need:
    """One metric of one resource, by `period_s`, over the last `days`."""

    metric: Metric
    dimensions: Dimensions
    period_s: int
    days: float

    def __hash__(self) -> int:
        """Of what tells most needs apart: a need is looked up many times, and all of its fields take four times as long."""
        return hash((self.dimensions, self.metric.name, self.period_s))


@dataclass(frozen=True, slots=True)
class Series:
    """Evenly spaced points; a point nobody published is missing, never zero.

    `start_s` is the epoch second of the first point; `values` holds NaN where there is no point (8 bytes each: a fleet has
    millions of them). Callers see None.
    """

    start_s: int
    period_s: int
    values: array[float]

    @classmethod
    def of(cls, start_s: int, period_s: int, values: Iterable[float | None]) -> Series:
        """A series from plain values, None for a missing point."""
        return cls(start_s, period_s, array("d", [nan if v is None else v for v in values]))

    def __len__(self) -> int:
        """How many points, published or not."""
        return len(self.values)

    @property
    def start(self) -> datetime:
        """Time of the first point."""
        return datetime.fromtimestamp(self.start_s, UTC)

    @property
    def end_s(self) -> int:
        """Epoch second just after the last point."""
        return self.start_s + self.period_s * len(self.values)

    @property
    def present(self) -> Sequence[float]:
        """The points that were published."""
        return [v for v in self.values if v == v]  # noqa: PLR0124 -- not NaN; millions of times, so not a call to isnan

    @property
    def missing(self) -> int:
        """How many points were not published."""
        return sum(map(isnan, self.values))

    def points(self) -> Iterator[tuple[datetime, float | None]]:
        """Every point with its time."""
        for i, v in enumerate(self.values):
            yield datetime.fromtimestamp(self.start_s + i * self.period_s, UTC), None if isnan(v) else v

    def optional(self) -> list[float | None]:
        """The values, None where missing."""
        return [None if isnan(v) else v for v in self.values]

    def over(self, divisor: float) -> Series:
        """The same in another unit: every point divided; a missing one stays missing."""
        return Series(self.start_s, self.period_s, array("d", [value / divisor for value in self.values]))

    def since(self, start_s: float) -> Series:
        """The part from `start_s` on: points that begin at or after it."""
        return self.between(start_s, self.end_s)

    def between(self, start_s: float, end_s: float) -> Series:
        """The points that begin at or after `start_s` and end at or before `end_s` (epoch seconds)."""
        first = max(0, ceil((start_s - self.start_s) / self.period_s))
        last = max(first, floor((end_s - self.start_s) / self.period_s))
        return Series(self.start_s + first * self.period_s, self.period_s, self.values[first:last])
