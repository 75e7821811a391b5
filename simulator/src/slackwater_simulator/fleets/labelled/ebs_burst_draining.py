"""Volumes that run out of burst credits, and volumes that spend them and earn them back.

Left out, because even the truth is in doubt: 10 to 70 minutes a day without credits, a day without them that happens once, and
a balance that falls for days and has a day or two left. Every gp2 that keeps its credits is of an outdated type all the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.mechanisms import Allowance, bursting, volume_allowance
from slackwater_simulator.resources import KIB, MIB, Activity, Instance, Volume, given
from slackwater_simulator.series import DAY, HOUR, MINUTE, Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES, noise

from .rhythms import Random, chance, cpu, daily, published, runs, spread, tags, without_days
from .scenario import Scenario, each

_OUTDATED = ("ebs-outdated-type",)
_RESERVE = 0.02
"""Of the baseline, at rest."""


def _size(random: Random, type_: str) -> int:
    """GiB; a gp2 of a size at which gp3 with the same throughput costs less."""
    if type_ == "gp2":
        return int(spread(random, 20, 165) if chance(random, 0.7) else spread(random, 400, 600))
    return int(spread(random, 200, 6_000))


def _allowed(type_: str, size_gib: int) -> Allowance:
    return volume_allowance(type_, size_gib) or Allowance(1, 1, 1)


def _host(random: Random, build: Builder, name: str, **more: Any) -> Instance:
    more.setdefault("days", random.uniform(40, 400))
    return build.instance(f"{name}-host", "m6i.8xlarge", cpu=cpu(random, build), tags=dict(tags(random)), **more)


def _volume(
    random: Random,
    build: Builder,
    name: str,
    type_: str,
    size_gib: int,
    wanted: Floats,
    on: Instance | None = None,
    **more: Any,
) -> Volume:
    """It wants so many operations a second (gp2) or bytes a second (st1, sc1); points of its balance are lost, or late."""
    top, share = float(wanted.max()), random.uniform(0, 1)
    size = spread(random, 4, 32) * KIB if type_ == "gp2" else MIB
    rate = top * size if type_ == "gp2" else top
    activity = Activity(
        shape=build.shapes.signal(wanted / top),
        read=share * rate,
        write=(1 - share) * rate,
        read_size=size,
        write_size=size,
    )
    if allowed := volume_allowance(type_, size_gib):
        left = published(random, build, 100 * bursting(wanted, *allowed).balance / allowed.most)
        more.setdefault("telemetry", {"BurstBalance": given(left)})
    host = on or _host(random, build, name)
    return build.volume(name, size_gib, on=host, type=type_, activity=activity, tags=dict(tags(random)), **more)


def _lasts(allowed: Allowance, rate: float) -> float:
    """Minutes until full credits are gone."""
    return allowed.most / (rate - allowed.baseline) / 60


def _rate(random: Random, allowed: Allowance) -> float:
    """Such that a full bucket lasts for ten hours at most, and never more than the burst."""
    slowest = allowed.baseline + allowed.most / (10 * HOUR)
    return random.uniform(min(slowest, allowed.burst), allowed.burst)


def _outlasting(random: Random, build: Builder, name: str, type_: str) -> Volume:
    """A daily job goes on for an hour and a half to six after the credits are gone."""
    size_gib = _size(random, type_)
    allowed = _allowed(type_, size_gib)
    rate = _rate(random, allowed)
    minutes = min(_lasts(allowed, rate) + random.uniform(90, 360), 20 * 60)
    wanted = runs(build, daily(random, build), minutes, rate, allowed.baseline * _RESERVE)
    return _volume(random, build, name, type_, size_gib, wanted * noise(random, 0.03))


def _gp2(random: Random, build: Builder, name: str) -> Volume:
    return _outlasting(random, build, name, "gp2")


def _disk(random: Random, build: Builder, name: str) -> Volume:
    return _outlasting(random, build, name, "st1" if chance(random, 0.6) else "sc1")


def _overloaded(random: Random, build: Builder, name: str) -> Volume:
    """All day and all night it wants more than its baseline."""
    size_gib = _size(random, "gp2")
    allowed = _allowed("gp2", size_gib)
    wanted = min(allowed.baseline * spread(random, 1.3, 4), allowed.burst) * noise(random, random.uniform(0.05, 0.3))
    return _volume(random, build, name, "gp2", size_gib, wanted)


def _since_yesterday(random: Random, build: Builder, name: str) -> Volume:
    """A load that has come to stay, and used up the credits 14 to 40 hours ago."""
    size_gib = _size(random, "st1")
    allowed = _allowed("st1", size_gib)
    rate = _rate(random, allowed)
    start = build.now - int(random.uniform(14, 40) * HOUR + _lasts(allowed, rate) * MINUTE)
    minute = np.arange(MINUTES) * MINUTE + build.shapes.origin
    wanted = np.where(minute >= start, rate, allowed.baseline * _RESERVE)
    return _volume(random, build, name, "st1", size_gib, wanted * noise(random, 0.03))


def _soon(random: Random, build: Builder, name: str) -> Volume:
    """For days it has wanted a little more than its baseline, by day more than by night; gone within 18 hours."""
    size_gib = int(spread(random, 2_000, 6_000))
    allowed = _allowed("st1", size_gib)
    minute = np.arange(MINUTES) * MINUTE + build.shapes.origin
    start, end = build.now - random.uniform(3.5, 6.5) * DAY, build.now + random.uniform(3, 18) * HOUR
    rhythm = 1 + random.uniform(0, 0.5) * np.sin(2 * np.pi * (np.arange(MINUTES) / DAY_MINUTES + random.uniform(0, 1)))
    moments = np.arange(start, end, MINUTE) - build.shapes.origin
    excess = allowed.most / float(rhythm[(moments // MINUTE).astype(int) % MINUTES].sum() * MINUTE)
    wanted = np.where(minute >= start, allowed.baseline + excess * rhythm, allowed.baseline * _RESERVE)
    return _volume(random, build, name, "st1", size_gib, wanted * (1 + random.normal(0, 0.03, MINUTES)))


def _refilled(random: Random, build: Builder, name: str, type_: str) -> Volume:
    """A nightly batch takes a tenth to six tenths of the credits, and the day brings them back."""
    size_gib = _size(random, type_)
    allowed = _allowed(type_, size_gib)
    rate = _rate(random, allowed)
    earned = allowed.baseline * 12 * HOUR / allowed.most  # share of the credits that half a day at rest brings back
    minutes = max(1, int(_lasts(allowed, rate) * min(random.uniform(0.1, 0.6), earned)))
    wanted = runs(build, daily(random, build), minutes, rate, allowed.baseline * _RESERVE)
    return _volume(random, build, name, type_, size_gib, wanted * noise(random, 0.03))


def _refilled_gp2(random: Random, build: Builder, name: str) -> Volume:
    return _refilled(random, build, name, "gp2")


def _refilled_disk(random: Random, build: Builder, name: str) -> Volume:
    return _refilled(random, build, name, "st1" if chance(random, 0.6) else "sc1")


def _now_and_then(random: Random, build: Builder, name: str, starts: list[int]) -> Volume:
    """A job that goes on for an hour to eight after the credits are gone, and they come back in a day."""
    size_gib = int(spread(random, 200, 3_000))
    allowed = _allowed("st1", size_gib)
    rate = _rate(random, allowed)
    wanted = runs(build, starts, _lasts(allowed, rate) + random.uniform(60, 480), rate, allowed.baseline * _RESERVE)
    return _volume(random, build, name, "st1", size_gib, wanted)


def _weekly(random: Random, build: Builder, name: str) -> Volume:
    return _now_and_then(random, build, name, daily(random, build, 7))


def _once(random: Random, build: Builder, name: str) -> Volume:
    return _now_and_then(random, build, name, [build.ago(random.uniform(2, 7))])


def _just_enough(random: Random, build: Builder, name: str) -> Volume:
    """The last minutes of a nightly batch have none."""
    size_gib = int(spread(random, 200, 3_000))
    allowed = _allowed("st1", size_gib)
    rate = max(_rate(random, allowed), 3 * allowed.baseline)
    wanted = runs(build, daily(random, build), int(_lasts(allowed, rate)) + 1 + int(random.integers(0, 8)), rate)
    return _volume(random, build, name, "st1", size_gib, wanted)


def _working_week(random: Random, build: Builder, name: str) -> Volume:
    """From Monday to Friday it spends a little more than it earns, day and night; the weekend brings all of it back."""
    size_gib = int(spread(random, 200, 3_000))
    allowed = _allowed("st1", size_gib)
    minute = np.arange(MINUTES)
    weekday = (build.shapes.origin // DAY + (minute + random.uniform(0, DAY_MINUTES)) // DAY_MINUTES + 4) % 7
    rate = allowed.baseline + random.uniform(0.10, 0.17) * allowed.most / DAY
    wanted = np.where((weekday == 0) | (weekday == 6), allowed.baseline * _RESERVE, rate)
    return _volume(random, build, name, "st1", size_gib, wanted * noise(random, 0.03))


def _large(random: Random, build: Builder, name: str) -> Volume:
    """A gp2 of 1,000 GiB or more has its burst for good."""
    size_gib = int(spread(random, 1_000, 5_000))
    wanted = 3_000 * random.uniform(0.5, 1) * np.minimum(noise(random, 0.1), 1)
    return _volume(random, build, name, "gp2", size_gib, wanted)


def _new(random: Random, build: Builder, name: str) -> Volume:
    """Attached within three days, and at work since."""
    size_gib = int(spread(random, 200, 3_000))
    allowed = _allowed("st1", size_gib)
    wanted = allowed.baseline * np.minimum(0.6 * noise(random, 0.2), 0.95)
    return _volume(random, build, name, "st1", size_gib, wanted, created=build.ago(random.uniform(0.01, 3)))


def _stopped(random: Random, build: Builder, name: str) -> Volume:
    """Its instance was stopped with the credits gone."""
    stopped = build.ago(random.uniform(0.5, 20))
    host = _host(random, build, name, days=120, state="stopped", stopped=stopped)
    size_gib = int(spread(random, 200, 3_000))
    wanted = np.full(MINUTES, _allowed("st1", size_gib).burst)
    return _volume(random, build, name, "st1", size_gib, wanted, host, used=((host.launched, stopped),))


def _holes(random: Random, build: Builder, name: str) -> Volume:
    """It never wants more than half of what it earns, and days are missing."""
    size_gib = int(spread(random, 200, 3_000))
    wanted = _allowed("st1", size_gib).baseline * np.minimum(0.3 * noise(random, 0.2), 0.5)
    balance = {"BurstBalance": given(build.shapes.signal(without_days(random, build, np.full(MINUTES, 100.0))))}
    return _volume(random, build, name, "st1", size_gib, wanted, telemetry=balance)


SCENARIOS = (
    Scenario(name="nightly-gp2", story="A job outlasts the credits.", plant=each(_gp2), trouble=True),
    Scenario(name="nightly-disk", story="A scan outlasts the credits.", plant=each(_disk), trouble=True),
    Scenario(name="overloaded", story="Always above its baseline.", plant=each(_overloaded), trouble=True),
    Scenario(name="since-yesterday", story="Gone since yesterday.", plant=each(_since_yesterday), trouble=True),
    Scenario(name="soon", story="Less every day, and soon gone.", plant=each(_soon), trouble=True),
    Scenario(
        name="refilled-gp2", story="Half spent each night, and earned back.", plant=each(_refilled_gp2), also=_OUTDATED
    ),
    Scenario(name="refilled-disk", story="The same on disks.", plant=each(_refilled_disk)),
    Scenario(name="weekly", story="Gone for hours once a week.", plant=each(_weekly)),
    Scenario(name="once", story="Gone for hours, once.", plant=each(_once)),
    Scenario(name="just-enough", story="Gone in the last minutes of a batch.", plant=each(_just_enough)),
    Scenario(name="working-week", story="Less every day, until the weekend.", plant=each(_working_week)),
    Scenario(name="large", story="A gp2 that needs no credits.", plant=each(_large), also=_OUTDATED),
    Scenario(name="new", story="Attached within three days.", plant=each(_new)),
    Scenario(name="stopped", story="On an instance that is stopped.", plant=each(_stopped)),
    Scenario(name="holes", story="Days without metrics.", plant=each(_holes), full=False),
)
