"""Draw one resource: `Draw` has its random numbers, and the curves made from them.

A curve has one value for each minute of a cycle. Every scenario takes a `Draw`, always named `d`.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import GIB, KIB, MIB, Activity, Flow, Voice, given
from slackwater_simulator.series import CYCLE, DAY, FOREVER, MINUTE, Floats, Signal, Track
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES, VARIANTS, noise

type Range = tuple[float, float]
type Rate = Range | float
"""The bounds of a drawn rate, or the rate itself."""

_OWNERS = ("web", "data", "video", "orders", "platform", "search", "finance")
_SHAPES = ("steady", "office", "nightly", "bursty", "trickle")
_REACH = CYCLE // DAY - 1
"""Days before now whose times have a minute of their own in the cycle."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A resource's own random numbers, the fleet that it is added to, and its name.

    The order of draws is part of a fleet. Another order gives another fleet.
    """

    random: np.random.Generator
    build: Builder
    name: str

    def named(self, suffix: str) -> "Draw":
        """Return the same draw for a resource beside this one, such as its instance."""
        return replace(self, name=f"{self.name}-{suffix}")

    @property
    def now(self) -> int:
        """The fleet's present time, epoch seconds."""
        return self.build.now

    @property
    def now_minute(self) -> int:
        """The index of the present minute in a curve."""
        return (self.now - self.origin) // MINUTE

    @property
    def origin(self) -> int:
        """The time of a curve's first minute, epoch seconds."""
        return self.build.shapes.origin

    def ago(self, days: float) -> int:
        """Return the time `days` days before now."""
        return self.build.ago(days)

    # --- Numbers ------------------------------------------------------------------------------------------------------

    def uniform(self, low: float, high: float) -> float:
        """Draw a number uniformly between the bounds."""
        return self.random.uniform(low, high)

    def spread(self, low: float, high: float) -> float:
        """Draw a number whose logarithm is uniform between the bounds, as sizes and rates of all orders occur."""
        return float(np.exp(self.random.uniform(np.log(low), np.log(high))))

    def whole(self, low: float, high: float) -> int:
        """Draw a whole number as `spread` does."""
        return int(self.spread(low, high))

    def gib(self, low: float, high: float) -> int:
        """Draw a size in bytes as `spread` does, between bounds in GiB."""
        return int(self.spread(low, high) * GIB)

    def integer(self, low: int, high: int | None = None) -> int:
        """Draw a whole number from `low` to below `high`. Without `high`, draw from 0 to below `low`."""
        return int(self.random.integers(low, high))

    def chance(self, share: float) -> bool:
        """Return True in this share of draws."""
        return bool(self.random.random() < share)

    def pick[T](self, *choices: T) -> T:
        """Draw one of the choices."""
        return choices[self.integer(len(choices))]

    def zone(self, share: float) -> str | None:
        """Draw a zone for One Zone, which this share of file systems use. None for the others."""
        return self.pick(*"acd") if self.chance(share) else None

    def voice(self, absent: float = 0.4) -> Voice:
        """Draw what EFS publishes of an unused file system: no metrics in this share of draws, otherwise zeros."""
        return "absent" if self.chance(absent) else "zeros"

    def tags(self) -> dict[str, str]:
        """Draw an owner and an environment; one resource in eight has neither."""
        if self.chance(1 / 8):
            return {}
        return {"Owner": self.pick(*_OWNERS), "Env": "production" if self.chance(0.75) else "staging"}

    # --- Times (epoch seconds) ----------------------------------------------------------------------------------------

    def daily(self, every: int = 1) -> list[int]:
        """Draw the starts of a job that runs every `every` days at its hour, up to ten minutes late, newest first."""
        start = self.now // DAY * DAY + self.integer(DAY) - self.integer(every) * DAY
        return [start - day * DAY + self.integer(600) for day in range(0, _REACH, every)]

    def weekly(self) -> list[int]:
        """Draw the starts of a job that runs once a week."""
        return self.daily(7)

    def monthly(self) -> list[int]:
        """Draw the starts of a job on the same day (1 to 28) of every month, 28 to 31 days apart."""
        day, second = self.integer(1, 29), self.integer(DAY)
        return self._on(second, lambda date: date.tm_mday == day)

    def first_weekday(self) -> list[int]:
        """Draw the starts of a job on "the first Monday of the month", or another weekday: 28 or 35 days apart."""
        weekday, second = self.integer(5), self.integer(DAY)
        return self._on(second, lambda date: date.tm_wday == weekday and date.tm_mday <= 7)

    def once_a_month(self) -> list[int]:
        """Draw the starts of a job that runs on a date of the month, or on a first weekday."""
        return self.monthly() if self.chance(0.5) else self.first_weekday()

    def starts(self, *every: int, since: float = 1.0) -> list[int]:
        """Draw the starts of a job that runs every `every` days (one of them), or once, `since` to twelve days ago."""
        days = self.pick(*every, 0)
        return self.daily(days) if days else [self.ago(self.uniform(since, 12))]

    def off(self, most_days: float = 25) -> dict[str, Any]:
        """Draw settings of an instance that was stopped within the last `most_days` days."""
        return {"state": "stopped", "stopped": self.ago(self.uniform(1, most_days))}

    def started(self, at: int, *, days: float = 200, off_s: int = 600) -> dict[str, Any]:
        """Return settings of an instance, launched `days` days ago, that was stopped for `off_s` seconds until `at`."""
        return {"launched": at, "running": ((self.ago(days), at - off_s), (at, FOREVER))}

    def visits(self) -> list[int]:
        """Draw times of the last 33 days at which somebody looks something up, about ten days apart."""
        visits = [self.ago(self.uniform(0.01, 29))]
        while visits[-1] > self.ago(29):
            visits.append(int(visits[-1] - self.random.exponential(10) * DAY))
        return [visit for visit in visits if visit > self.ago(33)]

    def _on(self, second: int, chosen: Callable[[time.struct_time], bool]) -> list[int]:
        midnights = (self.now // DAY * DAY - day * DAY for day in range(CYCLE // DAY + 1))
        moments = [midnight + second for midnight in midnights if chosen(time.gmtime(midnight))]
        return [time for time in moments if self.now - CYCLE < time <= self.now]

    # --- Curves -------------------------------------------------------------------------------------------------------

    def runs(self, starts: Iterable[int], minutes: float, level: float = 1.0, rest: float = 0.0) -> Floats:
        """Return a curve that is at `level` for some minutes from each start, and at `rest` otherwise."""
        values = np.full(MINUTES, rest)
        for start in starts:
            first = (start - self.origin) // MINUTE
            values[np.arange(first, first + max(1, round(minutes))) % MINUTES] = level
        return values

    def back(self, most_days: float) -> Floats:
        """Draw a curve that is 0 until something started, within the last `most_days` days."""
        since = int(self.uniform(0.02, most_days) * DAY)
        return self.runs([self.now - since], since / MINUTE)

    def wobble(self) -> Floats:
        """Draw factors around 1 that vary by 5 to 30 % from minute to minute."""
        return self.noise(self.uniform(0.05, 0.30))

    def noise(self, deviation: float, size: int = MINUTES) -> Floats:
        """Draw factors around 1 with this standard deviation, never below 0."""
        return noise(self.random, deviation, size)

    def around(self, deviation: float) -> Floats:
        """Draw factors around 1 with this standard deviation. They can be negative."""
        return 1 + self.random.normal(0, deviation, MINUTES)

    def working_days(self) -> Floats:
        """Draw a curve that is busy by day on weekdays, and a tenth of that at night and on weekends."""
        minute = np.arange(MINUTES)
        hour = (minute / 60 - self.random.uniform(0, 24)) % 24
        weekday = (self.origin // DAY + minute // DAY_MINUTES + 4) % 7  # epoch day 0 was a Thursday; 0 is Sunday
        day = np.where((weekday == 0) | (weekday == 6), 0.1, 1.0)
        return np.minimum(1.0, (0.1 + 0.9 * np.exp(-((hour - 10) ** 2) / 18)) * day * self.wobble() / 1.5)

    def demand(self) -> Floats:
        """Draw any ordinary curve between 0 and 1: steady, working days, a daily or a weekly batch."""
        match self.integer(4):
            case 0:
                values = 0.6 * self.wobble()
            case 1:
                values = self.working_days()
            case 2:
                values = self.runs(self.daily(), self.uniform(5, 180), 0.8, 0.03) * self.wobble()
            case _:
                values = self.runs(self.daily(7), self.uniform(10, 300), 0.8, 0.05) * self.wobble()
        return np.clip(values, 0.0, 1.0)

    @staticmethod
    def full(values: Floats) -> Floats:
        """Return the curve with a peak of 1."""
        return np.clip(values / values.max(), 0.0, 1.0)

    def without_days(self, values: Floats) -> Floats:
        """Remove one to five whole days of the last twelve."""
        return self._without(values, np.arange(1, 13))

    def old_holes(self, values: Floats) -> Floats:
        """Remove one to five whole days, all more than two weeks ago."""
        return self._without(values, np.arange(16, 33))

    def _without(self, values: Floats, days: np.ndarray) -> Floats:
        values = values.copy()
        for day in self.random.choice(days, self.integer(1, 6), replace=False).tolist():
            first = self.build.shapes.minute(day)
            values[first : first + DAY_MINUTES] = np.nan
        return values

    # --- Signals ------------------------------------------------------------------------------------------------------

    def signal(self, values: Floats, step: int = MINUTE) -> Signal:
        """Return a curve as CloudWatch has it when no point is lost."""
        return self.build.shapes.signal(values, step)

    def silent(self) -> Track:
        """Return a metric without points."""
        return given(self.signal(np.full(MINUTES, np.nan)))

    def zeros(self, *, holes: bool = False) -> Track:
        """Return a metric that is always 0. With `holes`, whole days of the last twelve are missing."""
        values = np.zeros(MINUTES)
        return given(self.signal(self.without_days(values) if holes else values))

    def published(self, values: Floats, *, together: int = 1) -> Signal:
        """Remove points as CloudWatch may: up to one in 200 in half of the metrics, and the newest ones in half.

        `together` minutes make one point, which is there or missing as a whole.
        """
        values = values.copy()
        if self.chance(0.5):
            lost = np.repeat(self.random.random(MINUTES // together) < self.random.uniform(0, 0.005), together)
            values[lost] = np.nan
        if self.chance(0.5):
            now = self.now_minute // together * together
            values[max(0, now - together * self.integer(1, 4)) : now + together] = np.nan
        return self.signal(values)

    def always(self, *, together: int = 1) -> Signal:
        """Return a shape that is always 1, with the points that CloudWatch has."""
        return self.published(np.ones(MINUTES), together=together)

    def never(self, *, together: int = 1) -> Signal:
        """Return a shape that is always 0, with the points that CloudWatch has."""
        return self.published(np.zeros(MINUTES), together=together)

    def shape(self, *kinds: str) -> Signal:
        """Draw a variant of a shared shape, of one of these kinds or of any."""
        kind = kinds[0] if len(kinds) == 1 else self.pick(*(kinds or _SHAPES))
        return self.build.shapes.shape(kind, self.integer(VARIANTS))

    def work(
        self, shape: Signal, read: Rate, write: Rate, read_size: Rate, write_size: Rate, metadata: Rate, unit: int = 1
    ) -> Activity:
        """Return an activity at these rates, drawn or given: MiB/s, operation sizes in KiB, and metadata in `unit`."""

        def drawn(rate: Rate, unit: int) -> float:
            return (self.spread(*rate) if isinstance(rate, tuple) else rate) * unit

        return Activity(
            shape=shape,
            read=drawn(read, MIB),
            write=drawn(write, MIB),
            read_size=drawn(read_size, KIB),
            write_size=drawn(write_size, KIB),
            metadata=drawn(metadata, unit),
        )

    def cpu(self) -> Flow:
        """Draw an ordinary CPU use, in percent."""
        return Flow(self.shape("office"), self.random.uniform(20, 80))
