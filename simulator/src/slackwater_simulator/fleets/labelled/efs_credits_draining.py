"""Burst credits that run out, and credits that dip by night, by week or for a job, and come back.

The mechanism itself, run a week further than now, says when they are gone. Left out, because even the truth is in doubt: a load
that has begun or ended within the last three days, credits that will be gone in five to ten days, a bucket that a weekly job
empties for an hour, and one that is nearly empty and stays so.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.mechanisms import efs_allowance
from slackwater_simulator.resources import GIB, MIB, Activity, ElasticFileSystem, given
from slackwater_simulator.series import DAY, HOUR, MINUTE, Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES, noise

from .rhythms import Random, monthly, runs, spread, without_days
from .scenario import Scenario, each
from .shared_files import made, work

_AHEAD = 7 * DAY_MINUTES
_TIME = np.arange(MINUTES + _AHEAD)
_TRIES = 1_000


def _baseline(gib: float) -> float:
    return efs_allowance(gib * GIB).baseline / MIB


def _wobble(random: Random) -> Floats:
    return noise(random, random.uniform(0.05, 0.3), len(_TIME))


def _since(build: Builder, days: float) -> Floats:
    """1 from so many days ago on."""
    return (_now(build) - days * DAY_MINUTES <= _TIME).astype(float)


def _now(build: Builder) -> int:
    return (build.now - build.shapes.origin) // MINUTE


def _by_day(random: Random, hours: float) -> Floats:
    """1 for so many hours of every day, a few minutes late."""
    start, late = random.uniform(0, 24), random.uniform(0, 10 / 60, len(_TIME) // DAY_MINUTES + 1)
    hour = (_TIME / 60 - start - late[_TIME // DAY_MINUTES]) % 24
    return (hour < hours).astype(float)


def _weekdays(random: Random, build: Builder, hours: float) -> Floats:
    """1 for so many hours of every working day."""
    start = random.uniform(0, 24 - hours)
    weekday = (build.shapes.origin // DAY + _TIME // DAY_MINUTES + 4) % 7  # epoch day 0 was a Thursday; 0 is Sunday
    hour = _TIME / 60 % 24
    return ((hour >= start) & (hour < start + hours) & (weekday > 0) & (weekday < 6)).astype(float)


def _left(activity: Activity, ahead: Floats, gib: float) -> Floats:
    """Credits left by the minute, a share of all; below 0 it would owe. `ahead` is what is wanted (MiB/s) after the cycle."""
    allowance = efs_allowance(gib * GIB)
    peak = activity.write + activity.read / 3 + activity.metadata
    wanted = np.concatenate([activity.shape.stats.total * peak, ahead * MIB])
    spent = np.cumsum((wanted - allowance.baseline) * MINUTE)
    return 1 - (spent - np.minimum(np.minimum.accumulate(spent), 0.0)) / allowance.most


type Draw = tuple[float, Floats]
"""GiB in Standard, and MiB/s wanted by the minute."""


def _drawn(
    random: Random, build: Builder, name: str, draw: Callable[[], Draw], good: Callable[[Floats], bool], **more: object
) -> ElasticFileSystem:
    """Drawn until its credits, from a full bucket on and a week ahead, go the way of the scenario."""
    for _ in range(_TRIES):
        gib, wanted = draw()
        if float(wanted.max()) <= efs_allowance(gib * GIB).burst / MIB * 0.9:
            activity = work(random, build, wanted[:MINUTES])
            if good(_left(activity, wanted[MINUTES:], gib)):
                return made(random, build, name, gib, activity, **more)
    raise ValueError(f"{name}: nothing drawn goes that way")


def _ends_soon(build: Builder) -> Callable[[Floats], bool]:
    """Never empty so far, and empty within a quarter of a day to five days."""
    now = _now(build)

    def good(left: Floats) -> bool:
        gone = np.flatnonzero(left[now:] <= 0)
        return float(left[:now].min()) > 0.03 and len(gone) > 0 and DAY_MINUTES / 4 < gone[0] < 5 * DAY_MINUTES

    return good


def _lasts(build: Builder, least: float, most: float = 1.0) -> Callable[[Floats], bool]:
    """The lowest of the past, and of the week ahead, lie between these shares."""
    return lambda left: least < float(left[: _now(build) + _AHEAD].min()) <= most


def _takes(gib: float, days: float) -> float:
    """MiB/s above the baseline that take all credits in so many days."""
    return efs_allowance(gib * GIB).most / MIB / days / DAY


# Troubles


def _steady(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    def draw() -> Draw:
        gib, since = spread(random, 0.5, 400), random.uniform(9, 30)
        rate = _baseline(gib) + _takes(gib, since + random.uniform(0.3, 5))
        return gib, (0.3 * _baseline(gib) + _since(build, since) * (rate - 0.3 * _baseline(gib))) * _wobble(random)

    return _drawn(random, build, name, draw, _ends_soon(build))


def _nightly_loss(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    def draw() -> Draw:
        gib, since, hours = spread(random, 0.5, 200), random.uniform(9, 30), random.uniform(0.5, 6)
        lost = _takes(gib, since + random.uniform(0.3, 5)) + 0.8 * _baseline(gib)
        rest = 0.2 * _baseline(gib)
        job = _by_day(random, hours) * _since(build, since) * lost * 24 / hours
        return gib, (rest + job) * _wobble(random)

    return _drawn(random, build, name, draw, _ends_soon(build))


def _weekly_loss(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    def draw() -> Draw:
        gib, since, hours = spread(random, 5, 400), random.uniform(14, 33), random.uniform(6, 14)
        lost = _takes(gib, since + random.uniform(0.3, 5)) + 0.9 * _baseline(gib)
        days = _weekdays(random, build, hours) * _since(build, since) * lost * 24 / hours * 7 / 5
        return gib, (0.1 * _baseline(gib) + days) * _wobble(random)

    return _drawn(random, build, name, draw, _ends_soon(build))


def _gone(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """It wants more than the baseline, and has had no credits for a day to weeks."""

    def draw() -> Draw:
        gib, since = spread(random, 0.5, 400), random.uniform(4, 33)
        rate = _baseline(gib) * 1.2 + _takes(gib, since * random.uniform(0.3, 0.7))
        return gib, (0.3 * _baseline(gib) + _since(build, since) * rate) * _wobble(random)

    return _drawn(random, build, name, draw, lambda left: float(left[_now(build) - DAY_MINUTES]) < 0)


def _every_night(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Each night's job wants more than a day earns, and what was saved is long gone; by day it earns a little."""

    def draw() -> Draw:
        gib, hours = spread(random, 0.5, 400), random.uniform(3, 8)
        job = _by_day(random, hours) * _baseline(gib) * 24 / hours * random.uniform(2, 5)
        return gib, (0.1 * _baseline(gib) + job) * _wobble(random)

    return _drawn(random, build, name, draw, lambda left: float(left[_now(build) - _AHEAD]) < 0)


# Twins


def _below(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    def draw() -> Draw:
        gib = spread(random, 0.5, 2_000)
        return gib, np.full(len(_TIME), _baseline(gib) * random.uniform(0.2, 0.9)) * _wobble(random)

    return _drawn(random, build, name, draw, _lasts(build, 0.5))


def _nightly_dip(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Each night takes much of the credits, and each day earns it again."""

    def draw() -> Draw:
        gib, hours = spread(random, 1, 2_000), random.uniform(0.3, 6)
        job = _by_day(random, hours) * _baseline(gib) * 24 / hours * random.uniform(0.3, 0.85)
        return gib, (0.05 * _baseline(gib) + job) * _wobble(random)

    return _drawn(random, build, name, draw, _lasts(build, 0.1))


def _weekly_dip(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Working days take most of the credits, and each weekend earns them again."""

    def draw() -> Draw:
        gib, hours = spread(random, 150, 900), random.uniform(8, 16)
        days = _weekdays(random, build, hours) * _baseline(gib) * 24 / hours * random.uniform(1.05, 1.3)
        return gib, (0.05 * _baseline(gib) + days) * _wobble(random)

    def good(left: Floats) -> bool:
        weeks = left[: 5 * _AHEAD].reshape(5, _AHEAD)
        return 0.1 < float(left[: _now(build) + _AHEAD].min()) < 0.75 and float(weeks.max(axis=1).min()) > 0.99

    return _drawn(random, build, name, draw, good)


def _once(random: Random, build: Builder, name: str, starts: list[int], most_hours: float) -> ElasticFileSystem:
    """A job that takes up to three quarters of the credits, at other times little."""

    def draw() -> Draw:
        gib = spread(random, 0.5, 400)
        rate = random.uniform(40, 80)
        minutes = min(most_hours * 60, random.uniform(0.2, 0.75) * efs_allowance(0).most / MIB / rate / 60)
        wanted = np.full(len(_TIME), 0.3 * _baseline(gib))
        wanted[:MINUTES] += runs(build, starts, minutes) * (rate - 0.3 * _baseline(gib))
        return gib, wanted * noise(random, 0.05, len(_TIME))

    return _drawn(random, build, name, draw, _lasts(build, 0.1))


def _import(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _once(random, build, name, [build.ago(random.uniform(3.5, 12))], 24)


def _running(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """A job that began within the last three hours and a half."""
    since = random.uniform(0.3, 3.5)
    return _once(random, build, name, [int(build.now - since * HOUR)], since)


def _closing(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    return _once(random, build, name, monthly(random, build), 24)


def _new(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Made within a day, and at work since."""
    age = random.uniform(0.05, 0.95)
    wanted = _since(build, age)[:MINUTES] * random.uniform(5, 20)
    return made(random, build, name, spread(random, 1, 100), work(random, build, wanted), days=age)


def _dark(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    activity = work(random, build, np.full(MINUTES, 5.0))
    return made(random, build, name, spread(random, 1, 100), activity, voice="dark")


def _holes(random: Random, build: Builder, name: str) -> ElasticFileSystem:
    """Days without a point of the balance, of one that falls by day and is back by night."""
    dips = 1 - random.uniform(0.1, 0.7) * _by_day(random, 8)[:MINUTES]
    balance = given(build.shapes.signal(without_days(random, build, dips)), scale=efs_allowance(0).most, digits=0)
    activity = work(random, build, np.full(MINUTES, 0.5))
    return made(random, build, name, spread(random, 1, 100), activity, telemetry={"BurstCreditBalance": balance})


SCENARIOS = (
    Scenario(
        name="steady", story="More than its baseline day and night, for weeks.", plant=each(_steady), trouble=True
    ),
    Scenario(
        name="nightly-loss",
        story="A job takes more each night than the day earns.",
        plant=each(_nightly_loss),
        trouble=True,
    ),
    Scenario(
        name="weekly-loss", story="Each week takes more than its weekend earns.", plant=each(_weekly_loss), trouble=True
    ),
    Scenario(name="gone", story="No credits left, and more wanted than the baseline.", plant=each(_gone), trouble=True),
    Scenario(
        name="every-night", story="Empty every night, and a little back by day.", plant=each(_every_night), trouble=True
    ),
    Scenario(name="below", story="Always below its baseline.", plant=each(_below)),
    Scenario(name="nightly-dip", story="A job takes by night what the day earns.", plant=each(_nightly_dip)),
    Scenario(name="weekly-dip", story="Working days take what the weekend earns.", plant=each(_weekly_dip)),
    Scenario(name="import", story="An import took much of the credits, and is over.", plant=each(_import)),
    Scenario(name="running", story="A job has drained for up to three hours.", plant=each(_running)),
    Scenario(name="closing", story="A closing takes much of the credits once a month.", plant=each(_closing)),
    Scenario(name="new", story="Made within a day, and at work.", plant=each(_new), full=False),
    Scenario(name="dark", story="No metric at all.", plant=each(_dark), full=False),
    Scenario(name="holes", story="Days without a point of the balance.", plant=each(_holes), full=False),
)
