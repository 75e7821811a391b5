"""`Draw`: one resource in the making, its random numbers, and the curves that they give.

A curve holds one value for each minute of a cycle. Every scenario takes a `Draw`, always named `d`.
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
"""Bounds between which it is drawn, or the rate itself."""

_OWNERS = ("web", "data", "video", "orders", "platform", "search", "finance")
_SHAPES = ("steady", "office", "nightly", "bursty", "trickle")
_REACH = CYCLE // DAY - 1
"""Days before now whose moments have a minute of their own in the cycle."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A resource's own random numbers, the fleet that it joins, and its name.

    The order of draws is part of a fleet: another order is another fleet.
    """

    random: np.random.Generator
    build: Builder
    name: str

    def named(self, suffix: str) -> "Draw":
        """Return the same draw for a resource beside this one, such as its instance."""
        return replace(self, name=f"{self.name}-{suffix}")

    @property
    def now(self) -> int:
        """The fleet's present moment, epoch seconds."""
        return self.build.now

    @property
    def now_minute(self) -> int:
        """The present moment's place in a curve."""
        return (self.now - self.origin) // MINUTE

    @property
    def origin(self) -> int:
        """The moment of a curve's first minute, epoch seconds."""
        return self.build.shapes.origin

    def ago(self, days: float) -> int:
        """Return the moment that many days before now."""
        return self.build.ago(days)

    # --- Numbers ------------------------------------------------------------------------------------------------------

    def uniform(self, low: float, high: float) -> float:
        """Draw a number, even between the bounds."""
        return self.random.uniform(low, high)

    def spread(self, low: float, high: float) -> float:
        """Draw a number whose logarithm is even between the bounds: sizes and rates are of every order."""
        return float(np.exp(self.random.uniform(np.log(low), np.log(high))))

    def whole(self, low: float, high: float) -> int:
        """Draw a whole number of every order between the bounds."""
        return int(self.spread(low, high))

    def gib(self, low: float, high: float) -> int:
        """Draw a size, bytes, of every order between so many GiB."""
        return int(self.spread(low, high) * GIB)

    def integer(self, low: int, high: int | None = None) -> int:
        """Draw a whole number from `low` to below `high`, or below `low` without one."""
        return int(self.random.integers(low, high))

    def chance(self, share: float) -> bool:
        """Return True in that share of draws."""
        return bool(self.random.random() < share)

    def pick[T](self, *choices: T) -> T:
        """Draw one of the choices."""
        return choices[self.integer(len(choices))]

    def zone(self, share: float) -> str | None:
        """Draw a zone of One Zone file systems, which that share of file systems have."""
        return self.pick(*"acd") if self.chance(share) else None

    def voice(self, absent: float = 0.4) -> Voice:
        """Draw what EFS publishes of a file system that nobody uses: no metrics in that share of draws, or zeros."""
        return "absent" if self.chance(absent) else "zeros"

    def tags(self) -> dict[str, str]:
        """Draw an owner and an environment; one resource in eight has neither."""
        if self.chance(1 / 8):
            return {}
        return {"Owner": self.pick(*_OWNERS), "Env": "production" if self.chance(0.75) else "staging"}

    # --- Moments (epoch seconds) --------------------------------------------------------------------------------------

    def daily(self, every: int = 1) -> list[int]:
        """Draw the starts of a job that runs every so many days at its hour, a few minutes late; newest first."""
        start = self.now // DAY * DAY + self.integer(DAY) - self.integer(every) * DAY
        return [start - day * DAY + self.integer(600) for day in range(0, _REACH, every)]

    def weekly(self) -> list[int]:
        """Draw the starts of a job that runs once a week."""
        return self.daily(7)

    def monthly(self) -> list[int]:
        """Draw the starts of a job on the same day (1 to 28) of every month. 28 to 31 days lie between two."""
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
        """Draw the starts of a job that runs every so many days, or once, between `since` and twelve days ago."""
        days = self.pick(*every, 0)
        return self.daily(days) if days else [self.ago(self.uniform(since, 12))]

    def off(self, most_days: float = 25) -> dict[str, Any]:
        """Draw settings of an instance that was stopped within so many days."""
        return {"state": "stopped", "stopped": self.ago(self.uniform(1, most_days))}

    def started(self, at: int, *, days: float = 200, off_s: int = 600) -> dict[str, Any]:
        """Return settings of an instance that was launched so many days ago, and stopped for a while until a moment."""
        return {"launched": at, "running": ((self.ago(days), at - off_s), (at, FOREVER))}

    def visits(self) -> list[int]:
        """Draw moments of the last 33 days at which somebody looks something up, ten days or so apart."""
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
        """Draw a curve that is 0 until something began, within so many days of now."""
        since = int(self.uniform(0.02, most_days) * DAY)
        return self.runs([self.now - since], since / MINUTE)

    def wobble(self) -> Floats:
        """Draw factors around 1 that vary by 5 to 30 % from minute to minute."""
        return self.noise(self.uniform(0.05, 0.30))

    def noise(self, deviation: float, size: int = MINUTES) -> Floats:
        """Draw factors around 1 with this standard deviation, never below 0."""
        return noise(self.random, deviation, size)

    def around(self, deviation: float) -> Floats:
        """Draw factors around 1 with this standard deviation, however low."""
        return 1 + self.random.normal(0, deviation, MINUTES)

    def working_days(self) -> Floats:
        """Draw a curve that is busy by day on weekdays, with a tenth of it at night and on weekends."""
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
        """Remove one to five whole days, of the last twelve."""
        return self._without(values, np.arange(1, 13))

    def old_holes(self, values: Floats) -> Floats:
        """Remove one to five whole days, all of them more than two weeks ago."""
        return self._without(values, np.arange(16, 33))

    def _without(self, values: Floats, days: np.ndarray) -> Floats:
        values = values.copy()
        for day in self.random.choice(days, self.integer(1, 6), replace=False).tolist():
            first = self.build.shapes.minute(day)
            values[first : first + DAY_MINUTES] = np.nan
        return values

    # --- Signals ------------------------------------------------------------------------------------------------------

    def signal(self, values: Floats, step: int = MINUTE) -> Signal:
        """Return a curve as CloudWatch gets it when no point is lost."""
        return self.build.shapes.signal(values, step)

    def silent(self) -> Track:
        """Return a metric without a point."""
        return given(self.signal(np.full(MINUTES, np.nan)))

    def zeros(self, *, holes: bool = False) -> Track:
        """Return a metric that is always 0; with `holes`, but for whole days of the last twelve."""
        values = np.zeros(MINUTES)
        return given(self.signal(self.without_days(values) if holes else values))

    def published(self, values: Floats, *, together: int = 1) -> Signal:
        """Lose what CloudWatch may lose: in half of the metrics up to one point in 200, in half the newest ones.

        `together` minutes make one point, which is there or not as a whole.
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
        """Return a shape that is 1 all the time, as far as CloudWatch gets it."""
        return self.published(np.ones(MINUTES), together=together)

    def never(self, *, together: int = 1) -> Signal:
        """Return a shape that is 0 all the time, as far as CloudWatch gets it."""
        return self.published(np.zeros(MINUTES), together=together)

    def shape(self, *kinds: str) -> Signal:
        """Draw a variant of a shape that many resources share, of one of these kinds or of any."""
        kind = kinds[0] if len(kinds) == 1 else self.pick(*(kinds or _SHAPES))
        return self.build.shapes.shape(kind, self.integer(VARIANTS))

    def work(
        self, shape: Signal, read: Rate, write: Rate, read_size: Rate, write_size: Rate, metadata: Rate, unit: int = 1
    ) -> Activity:
        """Return an activity at these rates, drawn or given: MiB/s, operations in KiB, and metadata in `unit`."""

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
        """Draw an ordinary processor use, percent."""
        return Flow(self.shape("office"), self.random.uniform(20, 80))
