"""Plant EFS throughput modes that cost too much or limit the load, and burst credits that run out.

Not drawn, because the truth is in doubt:
- `efs-throughput-mismatch`: a load that is slightly too high for bursting, prices of two modes within a third of each
  other, a limit that is reached for half an hour to an hour and a half a day or on one to four days of 14, and a
  migration that ended within five weeks, which looks like a monthly job;
- `efs-credits-draining`: a load that began or ended within the last three days, credits that run out in five to ten
  days, a bucket that a weekly job empties for an hour, and one that is nearly empty and stays so. Running the
  simulated credits for a week beyond now shows when they run out.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from slackwater_simulator.fleets.builder import Resource
from slackwater_simulator.mechanisms import efs_allowance
from slackwater_simulator.resources import GIB, MIB, Activity, ElasticFileSystem, given
from slackwater_simulator.series import DAY, HOUR, MINUTE, Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from .draw import Draw
from .scenario import One, Rows
from .shared_files import replicated, sized_file_system, work

_INCLUDED_GIB = 20
"""Provisioned throughput includes a MiB/s for each of these GiB in Standard."""


def _baseline(gib: float) -> float:
    return efs_allowance(gib * GIB).baseline / MIB


def _burst(gib: float) -> float:
    return efs_allowance(gib * GIB).burst / MIB


def _provisioned(d: Draw, gib: float, mibps: float, wanted: Floats, **more: Any) -> ElasticFileSystem:
    return sized_file_system(d, gib, work(d, wanted), mode="provisioned", provisioned_mibps=float(round(mibps)), **more)


def _elastic(d: Draw, gib: float, wanted: Floats, **more: Any) -> ElasticFileSystem:
    return sized_file_system(d, gib, work(d, wanted), mode="elastic", **more)


def _bursting(d: Draw, gib: float, wanted: Floats) -> ElasticFileSystem:
    return sized_file_system(d, gib, work(d, wanted))


def _flat(d: Draw, level: float) -> Floats:
    """Return a steady load with the noise of many clients."""
    return np.clip(level * (1 + (d.wobble() - 1) / 4), 0, 1.15 * level)


def _bought(d: Draw, gib: float) -> float:
    """Return MiB/s to provision, most of them paid for."""
    return max(d.spread(48, 512), 4 * gib / _INCLUDED_GIB)


def _batch(d: Draw, minutes: float, rate: float, rest: float, every: int = 1) -> Floats:
    """Return a job at nearly the same rate each time."""
    level = np.clip(1 + (d.wobble() - 1) / 8, 0.9, 1.05) / 1.05
    return np.asarray(d.runs(d.daily(every), minutes, rate, rest) * level)


def _calm(d: Draw, gib: float, least: float) -> Floats:
    """Return a load with a mean of at most half the baseline."""
    shape = d.demand()
    return shape * min(_baseline(gib) * d.uniform(least, 0.5) / float(shape.mean()), 0.6 * _burst(gib))


def _batches(d: Draw, gib: float, bought: float, minutes: float, share: float, rest: float) -> ElasticFileSystem:
    """Plant a nightly job that wants this share of the provisioned throughput."""
    return _provisioned(d, gib, bought, _batch(d, minutes, bought * share, rest * bought))


def _at_burst(d: Draw, gib: float, minutes: float, share: float, every: int = 1) -> ElasticFileSystem:
    """Plant a job that wants this share of the burst throughput."""
    return _bursting(d, gib, _batch(d, minutes, _burst(gib) * share, 0.1 * _baseline(gib), every))


def _well_used(d: Draw) -> ElasticFileSystem:
    gib = d.spread(5, 200)
    bought = max(3 * _baseline(gib), d.spread(20, 400))
    return _provisioned(d, gib, bought, np.clip(_flat(d, 0.85 * bought), 0, 0.92 * bought))


def _by_day(d: Draw) -> ElasticFileSystem:
    gib = d.spread(5, 100)
    shape = d.working_days()
    shape = shape / float(np.quantile(shape, 0.999))
    bought = max(1.3 * _baseline(gib) / float(shape.mean()), d.spread(40, 300))
    return _provisioned(d, gib, bought, np.clip(shape, 0, 1) * 0.92 * bought)


def _closing(d: Draw) -> ElasticFileSystem:
    """Plant a monthly load of several hours near the limit. Otherwise the load is above the baseline of its size."""
    gib = d.spread(5, 60)
    bought = d.spread(130, 512)
    rest = max(0.12 * bought, 1.5 * _baseline(gib))
    often = d.runs(d.monthly(), d.uniform(240, 900), 0.92 * bought, rest)
    return _provisioned(d, gib, bought, often * np.clip(d.wobble(), 0.9, 1.0))


def _elastic_spikes(d: Draw) -> ElasticFileSystem:
    gib = d.spread(5, 1_000)
    rate = _burst(gib) * d.uniform(1.4, 4)
    return _elastic(d, gib, _batch(d, d.uniform(10, 20), rate, 0.0005 * rate))


def _elastic_monthly(d: Draw) -> ElasticFileSystem:
    gib = d.spread(5, 300)
    rate = _burst(gib) * d.uniform(1.4, 4)
    return _elastic(d, gib, d.runs(d.monthly(), d.uniform(60, 240), rate, 0.0005 * rate))


def _elastic_trickle(d: Draw) -> ElasticFileSystem:
    wanted = d.demand()
    return _elastic(d, d.spread(1, 500), wanted * d.uniform(0.1, 0.8) * 0.0015 / float(wanted.mean()))


def _archive(d: Draw) -> ElasticFileSystem:
    gib = d.spread(30, 1_000)
    wanted = d.demand() * 0.3 * _baseline(gib)
    cold = (("TransitionToIA", "AFTER_30_DAYS"), ("TransitionToArchive", "AFTER_90_DAYS"))
    archive = d.gib(1, 1_000)
    return _elastic(d, gib, wanted, archive_bytes=archive, ia_bytes=10 * GIB, lifecycle=cold)


def _replica(d: Draw) -> ElasticFileSystem:
    gib = d.spread(5, 99)
    source = _well_used(d.named("source"))
    replica = _provisioned(d, gib, source.provisioned_mibps or 64, 0.5 * d.wobble(), replica=True)
    return replicated(d, source, replica)


EFS_THROUGHPUT_MISMATCH_ISSUES: Rows = {
    "hardly-used: A sixth of what is provisioned at most.": lambda d: _provisioned(
        d, gib := d.spread(5, 400), bought := _bought(d, gib), d.demand() * bought * d.spread(0.01, 0.17)
    ),
    "bought-for-more: Steady at half of what is provisioned, or less.": lambda d: _provisioned(
        d, d.spread(5, 100), bought := d.spread(100, 512), _flat(d, bought * d.uniform(0.1, 0.5))
    ),
    "for-minutes: Provisioned for minutes a day.": lambda d: _batches(
        d, d.spread(5, 200), d.spread(200, 600), d.uniform(2, 8), d.uniform(0.65, 0.88), 0.002
    ),
    "elastic-calm: Elastic, where bursting would do.": lambda d: _elastic(
        d, gib := d.spread(30, 2_000), _calm(d, gib, 0.15)
    ),
    "elastic-always: Elastic, and a steady load.": lambda d: _elastic(
        d, gib := d.spread(5, 300), _flat(d, max(10, _baseline(gib) * d.uniform(1.5, 10)))
    ),
    "at-its-amount: Hours a day at all that is provisioned.": lambda d: _batches(
        d,
        gib := d.spread(5, 200),
        max(2 * _baseline(gib), d.spread(20, 256)),
        d.uniform(150, 700),
        d.uniform(1.3, 4),
        0.05,
    ),
    "at-its-burst: Hours a day at all that a burst is.": lambda d: _at_burst(
        d, gib := d.spread(400, 3_000), 60 * d.uniform(2, 20 * _baseline(gib) / _burst(gib)), d.uniform(1.3, 4)
    ),
}
EFS_THROUGHPUT_MISMATCH_CONTROLS: Rows = {
    "well-used: Steady near what is provisioned.": _well_used,
    "by-day: Working days near what is provisioned.": _by_day,
    # More than the burst throughput, and more than the size earns.
    "nightly: Hours a night near what is provisioned.": lambda d: _batches(
        d, d.spread(5, 60), d.spread(130, 512), 60 * d.uniform(2.5, 6), 0.92, 0.02
    ),
    "closing: Near what is provisioned once a month.": _closing,
    # Its load with a higher or a lower limit is unknown.
    "briefly: At all that is provisioned for minutes a night.": lambda d: _batches(
        d, gib := d.spread(5, 200), _bought(d, gib), d.uniform(12, 30), 1.3, 0.02
    ),
    # It costs nothing, because its size includes more than is provisioned, and it can burst.
    "below-its-size: Less provisioned than its size earns, for nothing.": lambda d: _provisioned(
        d, gib := d.spread(200, 3_000), wanted=_calm(d, gib, 0.1), mibps=max(1, _baseline(gib) * d.uniform(0.1, 0.9))
    ),
    "in-bursts: Bursting, below its limits.": lambda d: _at_burst(
        d,
        gib := d.spread(30, 3_000),
        60 * d.uniform(0.2, 0.7 * 24 * _baseline(gib) / _burst(gib)),
        d.uniform(0.5, 0.85),
    ),
    "short-bursts: At the limit of a burst for minutes a night.": lambda d: _at_burst(
        d, d.spread(150, 3_000), d.uniform(3, 28), d.uniform(1.2, 3)
    ),
    "weekly-burst: At the limit of a burst once a week.": lambda d: _at_burst(
        d, d.spread(300, 3_000), d.uniform(60, 300), d.uniform(1.2, 2), every=7
    ),
    "elastic-spikes: Elastic, faster than a burst for minutes a day.": _elastic_spikes,
    "elastic-monthly: Elastic, faster than a burst once a month.": _elastic_monthly,
    "elastic-trickle: Elastic, and next to nothing moves.": _elastic_trickle,
    "archive: Elastic, with data in Archive.": _archive,
    "replica: Provisioned, and written by replication alone.": _replica,
}
EFS_THROUGHPUT_MISMATCH_UNKNOWN: Rows = {
    "holes: Days without metrics: inconclusive.": lambda d: _provisioned(
        d, gib := d.spread(5, 200), bought := _bought(d, gib), d.without_days(_flat(d, 0.05 * bought))
    ),
    "dark: No metric at all.": lambda d: _provisioned(d, 50, 64, np.ones(MINUTES), voice="dark"),
    "young: Made within two weeks.": lambda d: _provisioned(
        d, 20, bought := d.spread(48, 512), _flat(d, 0.05 * bought), days=d.uniform(0.2, 12)
    ),
}


# --- efs-credits-draining ---------------------------------------------------------------------------------------------
_AHEAD = 7 * DAY_MINUTES
_TIME = np.arange(MINUTES + _AHEAD)
_TRIES = 1_000


def _wobble(d: Draw) -> Floats:
    return d.noise(d.uniform(0.05, 0.3), len(_TIME))


def _since(d: Draw, days: float) -> Floats:
    """Return 1 from `days` days ago on, and 0 before."""
    return (d.now_minute - days * DAY_MINUTES <= _TIME).astype(float)


def _hours_a_day(d: Draw, hours: float) -> Floats:
    """Return 1 for some hours of every day, up to ten minutes late."""
    start, late = d.uniform(0, 24), d.random.uniform(0, 10 / 60, len(_TIME) // DAY_MINUTES + 1)
    hour = (_TIME / 60 - start - late[_TIME // DAY_MINUTES]) % 24
    return (hour < hours).astype(float)


def _weekdays(d: Draw, hours: float) -> Floats:
    """Return 1 for some hours of every working day."""
    start = d.uniform(0, 24 - hours)
    weekday = (d.origin // DAY + _TIME // DAY_MINUTES + 4) % 7  # epoch day 0 was a Thursday; 0 is Sunday
    hour = _TIME / 60 % 24
    return ((hour >= start) & (hour < start + hours) & (weekday > 0) & (weekday < 6)).astype(float)


def _left(activity: Activity, ahead: Floats, gib: float) -> Floats:
    """Return the share of credits left in each minute; below 0 means owed. `ahead` is MiB/s after the cycle."""
    allowance = efs_allowance(gib * GIB)
    peak = activity.write + activity.read / 3 + activity.metadata
    wanted = np.concatenate([activity.shape.stats.total * peak, ahead * MIB])
    spent = np.cumsum((wanted - allowance.baseline) * MINUTE)
    return 1 - (spent - np.minimum(np.minimum.accumulate(spent), 0.0)) / allowance.most


type Load = tuple[float, Floats]
"""GiB in Standard, and the wanted MiB/s in each minute."""
type Good = Callable[[Floats], bool]
"""Whether credits, from a full bucket to a week from now, develop as a scenario requires."""


def _drawn(draw: Callable[[Draw], Load], way: Callable[[Draw], Good]) -> One:
    """Return a function that draws loads until the credits develop as required."""

    def one(d: Draw) -> ElasticFileSystem:
        good = way(d)
        for _ in range(_TRIES):
            gib, wanted = draw(d)
            if float(wanted.max()) <= efs_allowance(gib * GIB).burst / MIB * 0.9:
                activity = work(d, wanted[:MINUTES])
                if good(_left(activity, wanted[MINUTES:], gib)):
                    return sized_file_system(d, gib, activity)
        raise ValueError(f"{d.name}: nothing drawn goes that way")

    return one


def _ends_soon(d: Draw) -> Good:
    """Return a check: credits never ran out so far, and run out within a quarter of a day to five days."""
    now = d.now_minute

    def good(left: Floats) -> bool:
        gone = np.flatnonzero(left[now:] <= 0)
        return float(left[:now].min()) > 0.03 and len(gone) > 0 and DAY_MINUTES / 4 < gone[0] < 5 * DAY_MINUTES

    return good


def _lasts(least: float) -> Callable[[Draw], Good]:
    """Return a check: the minimum until a week from now is above this share."""
    return lambda d: lambda left: least < float(left[: d.now_minute + _AHEAD].min()) <= 1.0


def _empty(minutes_ago: int) -> Callable[[Draw], Good]:
    """Return a check: there were no credits this long ago."""
    return lambda d: lambda left: float(left[d.now_minute - minutes_ago]) < 0


def _takes(gib: float, days: float) -> float:
    """Return the MiB/s above the baseline that use up all credits in `days` days."""
    return efs_allowance(gib * GIB).most / MIB / days / DAY


def _steady(d: Draw) -> Load:
    gib, since = d.spread(0.5, 400), d.uniform(9, 30)
    rate = _baseline(gib) + _takes(gib, since + d.uniform(0.3, 5))
    return gib, (0.3 * _baseline(gib) + _since(d, since) * (rate - 0.3 * _baseline(gib))) * _wobble(d)


def _nightly_loss(d: Draw) -> Load:
    gib, since, hours = d.spread(0.5, 200), d.uniform(9, 30), d.uniform(0.5, 6)
    lost = _takes(gib, since + d.uniform(0.3, 5)) + 0.8 * _baseline(gib)
    rest = 0.2 * _baseline(gib)
    job = _hours_a_day(d, hours) * _since(d, since) * lost * 24 / hours
    return gib, (rest + job) * _wobble(d)


def _weekly_loss(d: Draw) -> Load:
    gib, since, hours = d.spread(5, 400), d.uniform(14, 33), d.uniform(6, 14)
    lost = _takes(gib, since + d.uniform(0.3, 5)) + 0.9 * _baseline(gib)
    days = _weekdays(d, hours) * _since(d, since) * lost * 24 / hours * 7 / 5
    return gib, (0.1 * _baseline(gib) + days) * _wobble(d)


def _all_spent(d: Draw) -> Load:
    gib, since = d.spread(0.5, 400), d.uniform(4, 33)
    rate = _baseline(gib) * 1.2 + _takes(gib, since * d.uniform(0.3, 0.7))
    return gib, (0.3 * _baseline(gib) + _since(d, since) * rate) * _wobble(d)


def _every_night(d: Draw) -> Load:
    """Return a load whose nightly job wants more than a day earns. Saved credits are long gone."""
    gib, hours = d.spread(0.5, 400), d.uniform(3, 8)
    job = _hours_a_day(d, hours) * _baseline(gib) * 24 / hours * d.uniform(2, 5)
    return gib, (0.1 * _baseline(gib) + job) * _wobble(d)


def _always_below(d: Draw) -> Load:
    gib = d.spread(0.5, 2_000)
    return gib, np.full(len(_TIME), _baseline(gib) * d.uniform(0.2, 0.9)) * _wobble(d)


def _nightly_dip(d: Draw) -> Load:
    gib, hours = d.spread(1, 2_000), d.uniform(0.3, 6)
    job = _hours_a_day(d, hours) * _baseline(gib) * 24 / hours * d.uniform(0.3, 0.85)
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
    """Plant a job that uses at most three quarters of the credits, with little load at other times."""

    def draw(_: Draw) -> Load:
        gib = d.spread(0.5, 400)
        rate = d.uniform(40, 80)
        minutes = min(most_hours * 60, d.uniform(0.2, 0.75) * efs_allowance(0).most / MIB / rate / 60)
        wanted = np.full(len(_TIME), 0.3 * _baseline(gib))
        wanted[:MINUTES] += d.runs(starts, minutes) * (rate - 0.3 * _baseline(gib))
        return gib, wanted * d.noise(0.05, len(_TIME))

    return _drawn(draw, _lasts(0.1))(d)


def _new(d: Draw) -> ElasticFileSystem:
    age = d.uniform(0.05, 0.95)
    wanted = _since(d, age)[:MINUTES] * d.uniform(5, 20)
    return sized_file_system(d, d.spread(1, 100), work(d, wanted), days=age)


def _missing_balance(d: Draw) -> ElasticFileSystem:
    """Plant a balance that falls by day and recovers by night, with days without points."""
    dips = 1 - d.uniform(0.1, 0.7) * _hours_a_day(d, 8)[:MINUTES]
    balance = given(d.signal(d.without_days(dips)), scale=efs_allowance(0).most, digits=0)
    activity = work(d, np.full(MINUTES, 0.5))
    return sized_file_system(d, d.spread(1, 100), activity, telemetry={"BurstCreditBalance": balance})


EFS_CREDITS_DRAINING_ISSUES: Rows = {
    "steady: More than its baseline day and night, for weeks.": _drawn(_steady, _ends_soon),
    "nightly-loss: A job takes more each night than the day earns.": _drawn(_nightly_loss, _ends_soon),
    "weekly-loss: Each week takes more than its weekend earns.": _drawn(_weekly_loss, _ends_soon),
    "gone: No credits left, and more wanted than the baseline.": _drawn(_all_spent, _empty(DAY_MINUTES)),
    "every-night: Empty every night, and a little back by day.": _drawn(_every_night, _empty(_AHEAD)),
}
EFS_CREDITS_DRAINING_CONTROLS: Rows = {
    "below: Always below its baseline.": _drawn(_always_below, _lasts(0.5)),
    "nightly-dip: A job takes by night what the day earns.": _drawn(_nightly_dip, _lasts(0.1)),
    "weekly-dip: Working days take what the weekend earns.": _drawn(_weekly_dip, _back_each_week),
    "import: An import took much of the credits, and is over.": lambda d: _once(d, [d.ago(d.uniform(3.5, 12))], 24),
    "running: A job has drained for up to three hours.": lambda d: _once(
        d, [int(d.now - (since := d.uniform(0.3, 3.5)) * HOUR)], since
    ),
    "closing: A closing takes much of the credits once a month.": lambda d: _once(d, d.monthly(), 24),
}
EFS_CREDITS_DRAINING_UNKNOWN: Rows = {
    "new: Made within a day, and at work.": _new,
    "dark: No metric at all.": lambda d: sized_file_system(
        d, activity=work(d, np.full(MINUTES, 5.0)), stored_gib=d.spread(1, 100), voice="dark"
    ),
    "holes: Days without a point of the balance.": _missing_balance,
}
