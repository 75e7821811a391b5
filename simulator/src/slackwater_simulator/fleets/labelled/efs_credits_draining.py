"""Burst credits that run out, and credits that dip by night, by week or for a job, and come back.

The mechanism itself, run a week further than now, says when they are gone. Left out, because even the truth is in doubt: a load
that has begun or ended within the last three days, credits that will be gone in five to ten days, a bucket that a weekly job
empties for an hour, and one that is nearly empty and stays so.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from slackwater_simulator.fleets.builder import Resource
from slackwater_simulator.mechanisms import efs_allowance
from slackwater_simulator.resources import GIB, MIB, Activity, ElasticFileSystem, given
from slackwater_simulator.series import DAY, HOUR, MINUTE, Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from .draw import Draw
from .scenario import One, Rows
from .shared_files import made, work

_AHEAD = 7 * DAY_MINUTES
_TIME = np.arange(MINUTES + _AHEAD)
_TRIES = 1_000


def _baseline(gib: float) -> float:
    return efs_allowance(gib * GIB).baseline / MIB


def _wobble(d: Draw) -> Floats:
    return d.noise(d.uniform(0.05, 0.3), len(_TIME))


def _since(d: Draw, days: float) -> Floats:
    """1 from so many days ago on."""
    return (d.now_minute - days * DAY_MINUTES <= _TIME).astype(float)


def _by_day(d: Draw, hours: float) -> Floats:
    """1 for so many hours of every day, a few minutes late."""
    start, late = d.uniform(0, 24), d.random.uniform(0, 10 / 60, len(_TIME) // DAY_MINUTES + 1)
    hour = (_TIME / 60 - start - late[_TIME // DAY_MINUTES]) % 24
    return (hour < hours).astype(float)


def _weekdays(d: Draw, hours: float) -> Floats:
    """1 for so many hours of every working day."""
    start = d.uniform(0, 24 - hours)
    weekday = (d.origin // DAY + _TIME // DAY_MINUTES + 4) % 7  # epoch day 0 was a Thursday; 0 is Sunday
    hour = _TIME / 60 % 24
    return ((hour >= start) & (hour < start + hours) & (weekday > 0) & (weekday < 6)).astype(float)


def _left(activity: Activity, ahead: Floats, gib: float) -> Floats:
    """Credits left by the minute, a share of all; below 0 it would owe. `ahead` is what is wanted (MiB/s) after the cycle."""
    allowance = efs_allowance(gib * GIB)
    peak = activity.write + activity.read / 3 + activity.metadata
    wanted = np.concatenate([activity.shape.stats.total * peak, ahead * MIB])
    spent = np.cumsum((wanted - allowance.baseline) * MINUTE)
    return 1 - (spent - np.minimum(np.minimum.accumulate(spent), 0.0)) / allowance.most


type Load = tuple[float, Floats]
"""GiB in Standard, and MiB/s wanted by the minute."""
type Good = Callable[[Floats], bool]
"""Whether credits, from a full bucket on and a week ahead, go the way of a scenario."""


def _drawn(draw: Callable[[Draw], Load], way: Callable[[Draw], Good]) -> One:
    """Return what draws until its credits go that way."""

    def one(d: Draw) -> ElasticFileSystem:
        good = way(d)
        for _ in range(_TRIES):
            gib, wanted = draw(d)
            if float(wanted.max()) <= efs_allowance(gib * GIB).burst / MIB * 0.9:
                activity = work(d, wanted[:MINUTES])
                if good(_left(activity, wanted[MINUTES:], gib)):
                    return made(d, gib, activity)
        raise ValueError(f"{d.name}: nothing drawn goes that way")

    return one


def _ends_soon(d: Draw) -> Good:
    """Never empty so far, and empty within a quarter of a day to five days."""
    now = d.now_minute

    def good(left: Floats) -> bool:
        gone = np.flatnonzero(left[now:] <= 0)
        return float(left[:now].min()) > 0.03 and len(gone) > 0 and DAY_MINUTES / 4 < gone[0] < 5 * DAY_MINUTES

    return good


def _lasts(least: float) -> Callable[[Draw], Good]:
    """The lowest of the past, and of the week ahead, is above this share."""
    return lambda d: lambda left: least < float(left[: d.now_minute + _AHEAD].min()) <= 1.0


def _empty(minutes_ago: int) -> Callable[[Draw], Good]:
    """It had no credits so long ago."""
    return lambda d: lambda left: float(left[d.now_minute - minutes_ago]) < 0


def _takes(gib: float, days: float) -> float:
    """MiB/s above the baseline that take all credits in so many days."""
    return efs_allowance(gib * GIB).most / MIB / days / DAY


def _steady(d: Draw) -> Load:
    gib, since = d.spread(0.5, 400), d.uniform(9, 30)
    rate = _baseline(gib) + _takes(gib, since + d.uniform(0.3, 5))
    return gib, (0.3 * _baseline(gib) + _since(d, since) * (rate - 0.3 * _baseline(gib))) * _wobble(d)


def _nightly_loss(d: Draw) -> Load:
    gib, since, hours = d.spread(0.5, 200), d.uniform(9, 30), d.uniform(0.5, 6)
    lost = _takes(gib, since + d.uniform(0.3, 5)) + 0.8 * _baseline(gib)
    rest = 0.2 * _baseline(gib)
    job = _by_day(d, hours) * _since(d, since) * lost * 24 / hours
    return gib, (rest + job) * _wobble(d)


def _weekly_loss(d: Draw) -> Load:
    gib, since, hours = d.spread(5, 400), d.uniform(14, 33), d.uniform(6, 14)
    lost = _takes(gib, since + d.uniform(0.3, 5)) + 0.9 * _baseline(gib)
    days = _weekdays(d, hours) * _since(d, since) * lost * 24 / hours * 7 / 5
    return gib, (0.1 * _baseline(gib) + days) * _wobble(d)


def _gone(d: Draw) -> Load:
    """For a day to weeks."""
    gib, since = d.spread(0.5, 400), d.uniform(4, 33)
    rate = _baseline(gib) * 1.2 + _takes(gib, since * d.uniform(0.3, 0.7))
    return gib, (0.3 * _baseline(gib) + _since(d, since) * rate) * _wobble(d)


def _every_night(d: Draw) -> Load:
    """Each night's job wants more than a day earns, and what was saved is long gone."""
    gib, hours = d.spread(0.5, 400), d.uniform(3, 8)
    job = _by_day(d, hours) * _baseline(gib) * 24 / hours * d.uniform(2, 5)
    return gib, (0.1 * _baseline(gib) + job) * _wobble(d)


def _below(d: Draw) -> Load:
    gib = d.spread(0.5, 2_000)
    return gib, np.full(len(_TIME), _baseline(gib) * d.uniform(0.2, 0.9)) * _wobble(d)


def _nightly_dip(d: Draw) -> Load:
    gib, hours = d.spread(1, 2_000), d.uniform(0.3, 6)
    job = _by_day(d, hours) * _baseline(gib) * 24 / hours * d.uniform(0.3, 0.85)
    return gib, (0.05 * _baseline(gib) + job) * _wobble(d)


def _weekly_dip(d: Draw) -> Load:
    gib, hours = d.spread(150, 900), d.uniform(8, 16)
    days = _weekdays(d, hours) * _baseline(gib) * 24 / hours * d.uniform(1.05, 1.3)
    return gib, (0.05 * _baseline(gib) + days) * _wobble(d)


def _back_each_week(d: Draw) -> Good:
    def good(left: Floats) -> bool:
        weeks = left[: 5 * _AHEAD].reshape(5, _AHEAD)
        return 0.1 < float(left[: d.now_minute + _AHEAD].min()) < 0.75 and float(weeks.max(axis=1).min()) > 0.99

    return good


def _once(d: Draw, starts: list[int], most_hours: float) -> Resource:
    """A job that takes up to three quarters of the credits, at other times little."""

    def draw(_: Draw) -> Load:
        gib = d.spread(0.5, 400)
        rate = d.uniform(40, 80)
        minutes = min(most_hours * 60, d.uniform(0.2, 0.75) * efs_allowance(0).most / MIB / rate / 60)
        wanted = np.full(len(_TIME), 0.3 * _baseline(gib))
        wanted[:MINUTES] += d.runs(starts, minutes) * (rate - 0.3 * _baseline(gib))
        return gib, wanted * d.noise(0.05, len(_TIME))

    return _drawn(draw, _lasts(0.1))(d)


def _running(d: Draw) -> Resource:
    """A job that began within the last three hours and a half."""
    since = d.uniform(0.3, 3.5)
    return _once(d, [int(d.now - since * HOUR)], since)


def _new(d: Draw) -> ElasticFileSystem:
    """Made within a day, and at work since."""
    age = d.uniform(0.05, 0.95)
    wanted = _since(d, age)[:MINUTES] * d.uniform(5, 20)
    return made(d, d.spread(1, 100), work(d, wanted), days=age)


def _dark(d: Draw) -> ElasticFileSystem:
    activity = work(d, np.full(MINUTES, 5.0))
    return made(d, d.spread(1, 100), activity, voice="dark")


def _holes(d: Draw) -> ElasticFileSystem:
    """Days without a point of the balance, of one that falls by day and is back by night."""
    dips = 1 - d.uniform(0.1, 0.7) * _by_day(d, 8)[:MINUTES]
    balance = given(d.signal(d.without_days(dips)), scale=efs_allowance(0).most, digits=0)
    activity = work(d, np.full(MINUTES, 0.5))
    return made(d, d.spread(1, 100), activity, telemetry={"BurstCreditBalance": balance})


EFS_CREDITS_DRAINING_ISSUES: Rows = {
    "steady: More than its baseline day and night, for weeks.": _drawn(_steady, _ends_soon),
    "nightly-loss: A job takes more each night than the day earns.": _drawn(_nightly_loss, _ends_soon),
    "weekly-loss: Each week takes more than its weekend earns.": _drawn(_weekly_loss, _ends_soon),
    "gone: No credits left, and more wanted than the baseline.": _drawn(_gone, _empty(DAY_MINUTES)),
    "every-night: Empty every night, and a little back by day.": _drawn(_every_night, _empty(_AHEAD)),
}
EFS_CREDITS_DRAINING_CONTROLS: Rows = {
    "below: Always below its baseline.": _drawn(_below, _lasts(0.5)),
    "nightly-dip: A job takes by night what the day earns.": _drawn(_nightly_dip, _lasts(0.1)),
    "weekly-dip: Working days take what the weekend earns.": _drawn(_weekly_dip, _back_each_week),
    "import: An import took much of the credits, and is over.": lambda d: _once(d, [d.ago(d.uniform(3.5, 12))], 24),
    "running: A job has drained for up to three hours.": _running,
    "closing: A closing takes much of the credits once a month.": lambda d: _once(d, d.monthly(), 24),
}
EFS_CREDITS_DRAINING_UNKNOWN: Rows = {
    "new: Made within a day, and at work.": _new,
    "dark: No metric at all.": _dark,
    "holes: Days without a point of the balance.": _holes,
}
