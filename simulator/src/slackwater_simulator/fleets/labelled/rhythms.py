"""When things happen, and how unevenly: calendars, noise, missing and late points."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import Flow, Tags
from slackwater_simulator.series import CYCLE, DAY, MINUTE, Floats, Signal
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES, noise

type Random = np.random.Generator

_OWNERS = ("web", "data", "video", "orders", "platform", "search", "finance")
_REACH = CYCLE // DAY - 1
"""Days before now whose moments have a minute of their own in the cycle."""


def tags(random: Random) -> Tags:
    """An owner and an environment; one resource in eight has neither."""
    if random.random() < 1 / 8:
        return {}
    return {
        "Owner": _OWNERS[int(random.integers(len(_OWNERS)))],
        "Env": "production" if random.random() < 0.75 else "staging",
    }


def spread(random: Random, low: float, high: float) -> float:
    """A number whose logarithm is even between the bounds: sizes and rates are of every order."""
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def chance(random: Random, share: float) -> bool:
    """True in that share of draws."""
    return bool(random.random() < share)


def daily(random: Random, build: Builder, every: int = 1) -> list[int]:
    """Moments of a job that runs every so many days at its hour, a few minutes late."""
    start = build.now // DAY * DAY + int(random.integers(DAY)) - int(random.integers(every)) * DAY
    return [start - day * DAY + int(random.integers(600)) for day in range(0, _REACH, every)]


def monthly(random: Random, build: Builder) -> list[int]:
    """Moments of a calendar's job: on the same day of every month (1 to 28) at its hour. 28 to 31 days lie between two."""
    day, second = int(random.integers(1, 29)), int(random.integers(DAY))
    return _on(build, second, lambda date: date.tm_mday == day)


def first_weekday(random: Random, build: Builder) -> list[int]:
    """Moments of "the first Monday of the month", or another weekday: 28 or 35 days lie between two."""
    weekday, second = int(random.integers(5)), int(random.integers(DAY))
    return _on(build, second, lambda date: date.tm_wday == weekday and date.tm_mday <= 7)


def _on(build: Builder, second: int, chosen: Callable[[time.struct_time], bool]) -> list[int]:
    midnights = (build.now // DAY * DAY - day * DAY for day in range(CYCLE // DAY + 1))
    moments = [midnight + second for midnight in midnights if chosen(time.gmtime(midnight))]
    return [moment for moment in moments if build.now - CYCLE < moment <= build.now]


def runs(build: Builder, starts: Iterable[int], minutes: float, level: float = 1.0, rest: float = 0.0) -> Floats:
    """A cycle that is at `level` for some minutes from each start (epoch seconds), and at `rest` otherwise."""
    values = np.full(MINUTES, rest)
    for start in starts:
        first = (start - build.shapes.origin) // MINUTE
        values[np.arange(first, first + max(1, round(minutes))) % MINUTES] = level
    return values


def working_days(random: Random, build: Builder) -> Floats:
    """Busy by day on weekdays, a tenth of it at night and on weekends; noise of 5 to 30 %."""
    minute = np.arange(MINUTES)
    hour = (minute / 60 - random.uniform(0, 24)) % 24
    weekday = (build.shapes.origin // DAY + minute // DAY_MINUTES + 4) % 7  # epoch day 0 was a Thursday; 0 is Sunday
    day = np.where((weekday == 0) | (weekday == 6), 0.1, 1.0)
    return np.minimum(1.0, (0.1 + 0.9 * np.exp(-((hour - 10) ** 2) / 18)) * day * wobble(random) / 1.5)


def wobble(random: Random) -> Floats:
    """Factors around 1 that vary by 5 to 30 % from minute to minute."""
    return noise(random, random.uniform(0.05, 0.30))


def demand(random: Random, build: Builder) -> Floats:
    """Any ordinary rhythm between 0 and 1: steady, working days, a batch by day or week."""
    match int(random.integers(4)):
        case 0:
            values = 0.6 * wobble(random)
        case 1:
            values = working_days(random, build)
        case 2:
            values = runs(build, daily(random, build), random.uniform(5, 180), 0.8, 0.03) * wobble(random)
        case _:
            values = runs(build, daily(random, build, 7), random.uniform(10, 300), 0.8, 0.05) * wobble(random)
    return np.clip(values, 0.0, 1.0)


def published(random: Random, build: Builder, values: Floats, *, together: int = 1) -> Signal:
    """What CloudWatch gets of it: in half of the metrics up to one point in 200 is missing, in half the last ones are late.

    `together` minutes make one point, which is there or not as a whole.
    """
    values = values.copy()
    if chance(random, 0.5):
        lost = np.repeat(random.random(MINUTES // together) < random.uniform(0, 0.005), together)
        values[lost] = np.nan
    if chance(random, 0.5):
        now = (build.now - build.shapes.origin) // MINUTE // together * together
        values[max(0, now - together * int(random.integers(1, 4))) : now + together] = np.nan
    return build.shapes.signal(values)


def without_days(random: Random, build: Builder, values: Floats) -> Floats:
    """The same with one to five whole days missing, of the last twelve."""
    values = values.copy()
    for day in random.choice(np.arange(1, 13), int(random.integers(1, 6)), replace=False).tolist():
        first = build.shapes.minute(day)
        values[first : first + DAY_MINUTES] = np.nan
    return values


def cpu(random: Random, build: Builder) -> Flow:
    """Processor use of no interest."""
    return Flow(build.shapes.shape("office", int(random.integers(6))), random.uniform(20, 80))
