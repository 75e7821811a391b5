"""Volumes that run out of burst credits, and volumes that spend them and earn them back.

Left out, because even the truth is in doubt: 10 to 70 minutes a day without credits, a day without them that happens once, and
a balance that falls for days and has a day or two left. Every gp2 that keeps its credits is of an outdated type all the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.mechanisms import Allowance, bursting, volume_allowance
from slackwater_simulator.resources import KIB, MIB, Activity, Instance, Volume, given
from slackwater_simulator.series import DAY, HOUR, MINUTE, Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from . import carriers
from .draw import Draw
from .scenario import Rows

_HOST = "m6i.8xlarge"
_RESERVE = 0.02
"""Of the baseline, at rest."""


def _size(d: Draw, type_: str) -> int:
    """GiB; a gp2 of a size at which gp3 with the same throughput costs less."""
    if type_ == "gp2":
        return int(d.spread(20, 165) if d.chance(0.7) else d.spread(400, 600))
    return int(d.spread(200, 6_000))


def _drawn(d: Draw, type_: str, size_gib: int = 0) -> tuple[int, Allowance]:
    """Draw a size, unless it is given, and return what it allows."""
    size_gib = size_gib or _size(d, type_)
    return size_gib, volume_allowance(type_, size_gib) or Allowance(1, 1, 1)


def _st1(d: Draw) -> tuple[int, Allowance]:
    return _drawn(d, "st1", int(d.spread(200, 3_000)))


def _volume(d: Draw, type_: str, size_gib: int, wanted: Floats, on: Instance | None = None, **more: Any) -> Volume:
    """It wants so many operations a second (gp2) or bytes a second (st1, sc1); points of its balance are lost, or late."""
    top, share = float(wanted.max()), d.uniform(0, 1)
    size = d.spread(4, 32) * KIB if type_ == "gp2" else MIB
    rate = top * size if type_ == "gp2" else top
    read, write = share * rate, (1 - share) * rate
    activity = Activity(shape=d.signal(wanted / top), read=read, write=write, read_size=size, write_size=size)
    if allowed := volume_allowance(type_, size_gib):
        left = d.published(100 * bursting(wanted, *allowed).balance / allowed.most)
        more.setdefault("telemetry", {"BurstBalance": given(left)})
    host = on or carriers.host(d, _HOST)
    return d.build.volume(d.name, size_gib, on=host, type=type_, activity=activity, tags=d.tags(), **more)


def _lasts(allowed: Allowance, rate: float) -> float:
    """Minutes until full credits are gone."""
    return allowed.most / (rate - allowed.baseline) / 60


def _rate(d: Draw, allowed: Allowance) -> float:
    """Such that a full bucket lasts for ten hours at most, and never more than the burst."""
    slowest = allowed.baseline + allowed.most / (10 * HOUR)
    return d.uniform(min(slowest, allowed.burst), allowed.burst)


def _outlasting(d: Draw, type_: str) -> Volume:
    """A daily job goes on for an hour and a half to six after the credits are gone."""
    size_gib, allowed = _drawn(d, type_)
    rate = _rate(d, allowed)
    minutes = min(_lasts(allowed, rate) + d.uniform(90, 360), 20 * 60)
    wanted = d.runs(d.daily(), minutes, rate, allowed.baseline * _RESERVE)
    return _volume(d, type_, size_gib, wanted * d.noise(0.03))


def _overloaded(d: Draw) -> Volume:
    size_gib, allowed = _drawn(d, "gp2")
    wanted = min(allowed.baseline * d.spread(1.3, 4), allowed.burst) * d.noise(d.uniform(0.05, 0.3))
    return _volume(d, "gp2", size_gib, wanted)


def _since_yesterday(d: Draw) -> Volume:
    """A load that has come to stay, and used up the credits 14 to 40 hours ago."""
    size_gib, allowed = _drawn(d, "st1")
    rate = _rate(d, allowed)
    start = d.now - int(d.uniform(14, 40) * HOUR + _lasts(allowed, rate) * MINUTE)
    minute = np.arange(MINUTES) * MINUTE + d.origin
    wanted = np.where(minute >= start, rate, allowed.baseline * _RESERVE)
    return _volume(d, "st1", size_gib, wanted * d.noise(0.03))


def _soon(d: Draw) -> Volume:
    """For days it has wanted a little more than its baseline, by day more than by night; gone within 18 hours."""
    size_gib, allowed = _drawn(d, "st1", int(d.spread(2_000, 6_000)))
    minute = np.arange(MINUTES) * MINUTE + d.origin
    start, end = d.now - d.uniform(3.5, 6.5) * DAY, d.now + d.uniform(3, 18) * HOUR
    rhythm = 1 + d.uniform(0, 0.5) * np.sin(2 * np.pi * (np.arange(MINUTES) / DAY_MINUTES + d.uniform(0, 1)))
    moments = np.arange(start, end, MINUTE) - d.origin
    excess = allowed.most / float(rhythm[(moments // MINUTE).astype(int) % MINUTES].sum() * MINUTE)
    wanted = np.where(minute >= start, allowed.baseline + excess * rhythm, allowed.baseline * _RESERVE)
    return _volume(d, "st1", size_gib, wanted * (1 + d.random.normal(0, 0.03, MINUTES)))


def _refilled(d: Draw, type_: str) -> Volume:
    """A nightly batch takes a tenth to six tenths of the credits, and the day brings them back."""
    size_gib, allowed = _drawn(d, type_)
    rate = _rate(d, allowed)
    earned = allowed.baseline * 12 * HOUR / allowed.most  # share of the credits that half a day at rest brings back
    minutes = max(1, int(_lasts(allowed, rate) * min(d.uniform(0.1, 0.6), earned)))
    wanted = d.runs(d.daily(), minutes, rate, allowed.baseline * _RESERVE)
    return _volume(d, type_, size_gib, wanted * d.noise(0.03))


def _now_and_then(d: Draw, starts: list[int]) -> Volume:
    """A job that goes on for an hour to eight after the credits are gone, and they come back in a day."""
    size_gib, allowed = _st1(d)
    rate = _rate(d, allowed)
    wanted = d.runs(starts, _lasts(allowed, rate) + d.uniform(60, 480), rate, allowed.baseline * _RESERVE)
    return _volume(d, "st1", size_gib, wanted)


def _just_enough(d: Draw) -> Volume:
    size_gib, allowed = _st1(d)
    rate = max(_rate(d, allowed), 3 * allowed.baseline)
    return _volume(d, "st1", size_gib, d.runs(d.daily(), int(_lasts(allowed, rate)) + 1 + d.integer(0, 8), rate))


def _working_week(d: Draw) -> Volume:
    """From Monday to Friday it spends a little more than it earns, day and night; the weekend brings all of it back."""
    size_gib, allowed = _st1(d)
    minute = np.arange(MINUTES)
    weekday = (d.origin // DAY + (minute + d.uniform(0, DAY_MINUTES)) // DAY_MINUTES + 4) % 7
    rate = allowed.baseline + d.uniform(0.10, 0.17) * allowed.most / DAY
    wanted = np.where((weekday == 0) | (weekday == 6), allowed.baseline * _RESERVE, rate)
    return _volume(d, "st1", size_gib, wanted * d.noise(0.03))


def _new(d: Draw) -> Volume:
    """At work since it was attached."""
    size_gib, allowed = _st1(d)
    wanted = allowed.baseline * np.minimum(0.6 * d.noise(0.2), 0.95)
    return _volume(d, "st1", size_gib, wanted, created=d.ago(d.uniform(0.01, 3)))


def _stopped(d: Draw) -> Volume:
    """Its instance was stopped with the credits gone."""
    stopped = d.ago(d.uniform(0.5, 20))
    host = carriers.host(d, _HOST, days=120, state="stopped", stopped=stopped)
    size_gib, allowed = _st1(d)
    return _volume(d, "st1", size_gib, np.full(MINUTES, allowed.burst), host, used=((host.launched, stopped),))


def _holes(d: Draw) -> Volume:
    """It never wants more than half of what it earns."""
    size_gib, allowed = _st1(d)
    wanted = allowed.baseline * np.minimum(0.3 * d.noise(0.2), 0.5)
    balance = {"BurstBalance": given(d.signal(d.without_days(np.full(MINUTES, 100.0))))}
    return _volume(d, "st1", size_gib, wanted, telemetry=balance)


EBS_BURST_DRAINING_ISSUES: Rows = {
    "nightly-gp2: A job outlasts the credits.": lambda d: _outlasting(d, "gp2"),
    "nightly-disk: A scan outlasts the credits.": lambda d: _outlasting(d, "st1" if d.chance(0.6) else "sc1"),
    "overloaded: Always above its baseline.": _overloaded,
    "since-yesterday: Gone since yesterday.": _since_yesterday,
    "soon: Less every day, and soon gone.": _soon,
}
EBS_BURST_DRAINING_CONTROLS: Rows = {
    "refilled-gp2: Half spent each night, and earned back.": lambda d: _refilled(d, "gp2"),
    "refilled-disk: The same on disks.": lambda d: _refilled(d, "st1" if d.chance(0.6) else "sc1"),
    "weekly: Gone for hours once a week.": lambda d: _now_and_then(d, d.daily(7)),
    "once: Gone for hours, once.": lambda d: _now_and_then(d, [d.ago(d.uniform(2, 7))]),
    "just-enough: Gone in the last minutes of a batch.": _just_enough,
    "working-week: Less every day, until the weekend.": _working_week,
    # A gp2 of 1,000 GiB or more has its burst for good.
    "large: A gp2 that needs no credits.": lambda d: _volume(
        d, "gp2", int(d.spread(1_000, 5_000)), 3_000 * d.uniform(0.5, 1) * np.minimum(d.noise(0.1), 1)
    ),
    "new: Attached within three days.": _new,
    "stopped: On an instance that is stopped.": _stopped,
}
EBS_BURST_DRAINING_UNKNOWN: Rows = {"holes: Days without metrics.": _holes}
EBS_BURST_DRAINING_ALSO = dict.fromkeys(("refilled-gp2", "large"), ("ebs-outdated-type",))
