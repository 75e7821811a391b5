"""Plant volumes of an outdated type, volumes that run out of burst credits, and ones that need no other type.

A gp2 volume is of an outdated type even if it keeps its credits. Not drawn, because the truth is in doubt:
- `ebs-outdated-type`: gp2 volumes of 171 to 300 GiB that move between 100 and 210 MiB/s, where gp3 costs the same;
  magnetic volumes near their limit, or at it on few days; and gp2 volumes out of credits, whose need is unknown;
- `ebs-burst-draining`: 10 to 70 minutes a day without credits, a single day without them, and a balance that falls
  for days and has a day or two left.
"""

from typing import Any

import numpy as np

from slackwater_simulator.mechanisms import Allowance, bursting, volume_allowance
from slackwater_simulator.resources import KIB, MIB, Activity, Instance, Volume, given
from slackwater_simulator.series import DAY, HOUR, MINUTE, Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from . import carriers
from .carriers import XEN, restarted, stopped_host
from .draw import Draw, Range
from .scenario import One, Rows, Starts

_MIB = 100
"""With headroom, less than gp3 includes."""


def _volume(d: Draw, type_: str, gib: int, on: Instance | None = None, **more: Any) -> Volume:
    more.setdefault("tags", d.tags())
    return d.build.volume(d.name, gib, on=on or carriers.host(d), type=type_, **more)


def _gp2(d: Draw, values: Floats, gib: float, **more: Any) -> Volume:
    """Plant a gp2 volume that is never faster than its baseline."""
    baseline, size = max(100, 3 * int(gib)), d.spread(16, 256)
    mib = min(_MIB, baseline * size / 1024) * d.uniform(0.1, 0.9)
    return _volume(d, "gp2", int(gib), activity=carriers.work(d, values, mib, size), **more)


def _gib(d: Draw) -> int:
    return d.whole(20, 990)


def _large(d: Draw) -> Volume:
    gib = d.whole(1_010, 6_000)
    size = d.spread(4, 16)
    iops = min(16_000, 3 * gib) * d.uniform(0.05, 0.9)
    return _volume(d, "gp2", gib, activity=carriers.work(d, d.demand(), iops * size / 1024, size))


def _fast(d: Draw) -> Volume:
    """Plant a gp2 volume that moves nearly 250 MiB/s once a month, and is so large that gp3 costs less even then."""
    gib, starts = d.whole(350, 990), d.monthly()
    values = np.clip(d.runs(starts, d.uniform(30, 600), 1.0, 0.05) * d.wobble(), 0, 1)
    return _volume(d, "gp2", gib, activity=carriers.work(d, values, d.uniform(215, 245), 256))


def _io1(d: Draw) -> Volume:
    gib = d.whole(50, 4_000)
    iops = int(min(20_000, 50 * gib, d.spread(500, 20_000)))
    used = iops * d.spread(0.05, 0.95)
    size = d.spread(4, max(4.0, min(32.0, _MIB * 1024 / used)))
    return _volume(d, "io1", gib, iops=iops, activity=carriers.work(d, d.demand(), used * size / 1024, size))


def _requests(d: Draw, iops: Range, gib: Range) -> Volume:
    wanted, size_gib = d.uniform(*iops), d.whole(*gib)
    values = d.working_days() if d.chance(0.5) else np.clip(0.6 * d.wobble(), 0, 1)
    size = d.spread(4, 64)
    return _volume(d, "standard", size_gib, activity=carriers.work(d, values, wanted * size / 1024, size))


def _magnetic_slow(d: Draw) -> Volume:
    """Plant a job that wants more every night than the limit of 200 IOPS or 90 MiB/s."""
    values = np.clip(d.runs(d.daily(), d.uniform(30, 300), d.uniform(1.3, 4), 0.05) * d.wobble(), 0, 1)
    size = d.spread(4, 64) if d.chance(0.7) else 1_024.0
    activity = carriers.work(d, values, min(90.0, 200 * size / 1024), size)
    return _volume(d, "standard", d.whole(10, 1_000), activity=activity)


def _needs_250(starts: Starts, minutes: Range) -> One:
    """Return a function that plants a gp2 volume. At its size, gp3 with as many MiB/s costs more. Its credits last."""

    def one(d: Draw) -> Volume:
        values = np.clip(d.runs(starts(d), d.uniform(*minutes), 1.0, 0.05) * d.wobble(), 0, 1)
        activity = carriers.work(d, values, d.uniform(215, 245), 256)
        return _volume(d, "gp2", d.integer(175, 236), activity=activity)

    return one


def _seconds(d: Draw) -> Volume:
    values, check = carriers.bursts(d, "VolumeThroughputExceededCheck")
    activity = carriers.work(d, values, d.uniform(100, 250), 256)
    return _volume(d, "gp2", d.integer(175, 236), activity=activity, telemetry=check)


def _shared(d: Draw) -> Volume:
    """Plant an io1 volume on two instances. gp3 cannot replace it, and io2 costs the same."""
    iops = d.whole(500, 20_000)
    activity = carriers.work(d, d.demand(), iops * d.uniform(0.7, 0.95) * 4 / 1024, 4)
    return carriers.shared(d, _volume(d, "io1", 1_000, iops=iops, activity=activity, multi_attach=True))


def _present(d: Draw) -> Volume:
    values, gib = d.demand(), d.whole(500, 4_000)
    match d.integer(4):
        case 0:
            return _volume(d, "gp3", gib, activity=carriers.work(d, values, d.spread(1, 100), 64))
        case 1:
            activity = carriers.work(d, np.maximum(values, 0.7), 2_000 * 0.9 * 8 / 1024, 8)
            return _volume(d, "io2", gib, iops=2_000, activity=activity)
        case 2:
            return _volume(d, "st1", gib, activity=carriers.work(d, values, 30 * gib / 1024, 1_024))
    return _volume(d, "sc1", gib, activity=carriers.work(d, values, 9 * gib / 1024, 1_024))


EBS_OUTDATED_TYPE_ISSUES: Rows = {
    "gp2: gp2, and less is used than gp3 includes.": lambda d: _gp2(d, d.demand(), _gib(d)),
    "gp2-large: gp2 with more IOPS than gp3 includes.": _large,
    "gp2-fast: gp2 that needs its 250 MiB/s, and large.": _fast,
    "io1: io1, and gp3 would carry it.": _io1,
    "magnetic-slow: Magnetic, and at its limit every night.": _magnetic_slow,
    # The many I/O requests cost more than gp3 does. No minute is at the limit.
    "magnetic: Magnetic, with many I/O requests.": lambda d: _requests(d, (60, 150), (10, 40)),
    "on-xen: gp2 on a Xen instance.": lambda d: _gp2(d, on=carriers.host(d, XEN), values=d.demand(), gib=_gib(d)),
    "restarted: gp2 whose instance was stopped and started.": lambda d: restarted(d, _gp2(d, d.demand(), _gib(d))),
    **carriers.interrupted(_gp2, _gib),
}
EBS_OUTDATED_TYPE_CONTROLS: Rows = {
    # The I/O requests are so few for its size that gp3 costs more.
    "magnetic-quiet: Magnetic, with few I/O requests a month.": lambda d: _requests(d, (1, 10), (250, 1_000)),
    "nightly: gp2 of 200 GiB that needs 250 MiB/s every night.": _needs_250(Draw.daily, (5, 60)),
    "weekly: gp2 of 200 GiB that needs 250 MiB/s once a week.": _needs_250(Draw.weekly, (5, 120)),
    "monthly: gp2 of 200 GiB that needs 250 MiB/s once a month.": _needs_250(Draw.monthly, (30, 120)),
    "first-weekday: gp2 that needs 250 MiB/s on a first Monday.": _needs_250(Draw.first_weekday, (30, 120)),
    "seconds: gp2 that needs 250 MiB/s for seconds, which minutes hide.": _seconds,
    "shared: io1 shared by two instances.": _shared,
    "present: gp3, io2, st1 and sc1.": _present,
    "stopped: On an instance that was stopped of late.": lambda d: _volume(
        d, on=stopped_host(d), type_="gp2", gib=_gib(d)
    ),
}
EBS_OUTDATED_TYPE_UNKNOWN: Rows = carriers.without_data(_gp2, _gib)


# --- ebs-burst-draining -----------------------------------------------------------------------------------------------
_CARRIER = "m6i.8xlarge"
_RESERVE = 0.02
"""The load at rest, as a fraction of the baseline."""


def _drawn(d: Draw, type_: str, size_gib: int = 0) -> tuple[int, Allowance]:
    """Return the size in GiB, drawn unless given, and its allowance. A gp2 of a drawn size costs more than gp3."""
    if not size_gib and type_ == "gp2":
        size_gib = d.whole(20, 165) if d.chance(0.7) else d.whole(400, 600)
    size_gib = size_gib or d.whole(200, 6_000)
    return size_gib, volume_allowance(type_, size_gib) or Allowance(1, 1, 1)


def _st1(d: Draw) -> tuple[int, Allowance]:
    return _drawn(d, "st1", d.whole(200, 3_000))


def _on_credits(d: Draw, type_: str, size_gib: int, wanted: Floats, on: Instance | None = None, **more: Any) -> Volume:
    """Plant a volume that wants these operations (gp2) or bytes (st1, sc1) a second. Its balance may lack points."""
    top, share = float(wanted.max()), d.uniform(0, 1)
    size = d.spread(4, 32) * KIB if type_ == "gp2" else MIB
    rate = top * size if type_ == "gp2" else top
    read, write = share * rate, (1 - share) * rate
    activity = Activity(shape=d.signal(wanted / top), read=read, write=write, read_size=size, write_size=size)
    if allowed := volume_allowance(type_, size_gib):
        left = d.published(100 * bursting(wanted, *allowed).balance / allowed.most)
        more.setdefault("telemetry", {"BurstBalance": given(left)})
    host = on or carriers.host(d, _CARRIER)
    return d.build.volume(d.name, size_gib, on=host, type=type_, activity=activity, tags=d.tags(), **more)


def _lasts(allowed: Allowance, rate: float) -> float:
    """Return the minutes until full credits are used up."""
    return allowed.most / (rate - allowed.baseline) / 60


def _rate(d: Draw, allowed: Allowance) -> float:
    """Draw a rate that uses up a full bucket in at most ten hours, and never exceeds the burst."""
    slowest = allowed.baseline + allowed.most / (10 * HOUR)
    return d.uniform(min(slowest, allowed.burst), allowed.burst)


def _outlasting(d: Draw, type_: str) -> Volume:
    """Plant a daily job that continues for 1.5 to 6 hours after the credits are used up."""
    size_gib, allowed = _drawn(d, type_)
    rate = _rate(d, allowed)
    minutes = min(_lasts(allowed, rate) + d.uniform(90, 360), 20 * 60)
    wanted = d.runs(d.daily(), minutes, rate, allowed.baseline * _RESERVE)
    return _on_credits(d, type_, size_gib, wanted * d.noise(0.03))


def _overloaded(d: Draw) -> Volume:
    size_gib, allowed = _drawn(d, "gp2")
    wanted = min(allowed.baseline * d.spread(1.3, 4), allowed.burst) * d.noise(d.uniform(0.05, 0.3))
    return _on_credits(d, "gp2", size_gib, wanted)


def _since_yesterday(d: Draw) -> Volume:
    """Plant a permanent load that used up the credits 14 to 40 hours ago."""
    size_gib, allowed = _drawn(d, "st1")
    rate = _rate(d, allowed)
    start = d.now - int(d.uniform(14, 40) * HOUR + _lasts(allowed, rate) * MINUTE)
    minute = np.arange(MINUTES) * MINUTE + d.origin
    wanted = np.where(minute >= start, rate, allowed.baseline * _RESERVE)
    return _on_credits(d, "st1", size_gib, wanted * d.noise(0.03))


def _soon(d: Draw) -> Volume:
    """Plant a load that has been slightly above its baseline for days. The credits last for 3 to 18 more hours."""
    size_gib, allowed = _drawn(d, "st1", d.whole(2_000, 6_000))
    minute = np.arange(MINUTES) * MINUTE + d.origin
    start, end = d.now - d.uniform(3.5, 6.5) * DAY, d.now + d.uniform(3, 18) * HOUR
    rhythm = 1 + d.uniform(0, 0.5) * np.sin(2 * np.pi * (np.arange(MINUTES) / DAY_MINUTES + d.uniform(0, 1)))
    moments = np.arange(start, end, MINUTE) - d.origin
    excess = allowed.most / float(rhythm[(moments // MINUTE).astype(int) % MINUTES].sum() * MINUTE)
    wanted = np.where(minute >= start, allowed.baseline + excess * rhythm, allowed.baseline * _RESERVE)
    return _on_credits(d, "st1", size_gib, wanted * d.around(0.03))


def _refilled(d: Draw, type_: str) -> Volume:
    """Plant a nightly batch that uses a tenth to six tenths of the credits, which refill by day."""
    size_gib, allowed = _drawn(d, type_)
    rate = _rate(d, allowed)
    earned = allowed.baseline * 12 * HOUR / allowed.most  # share of the credits that half a day at rest refills
    minutes = max(1, int(_lasts(allowed, rate) * min(d.uniform(0.1, 0.6), earned)))
    wanted = d.runs(d.daily(), minutes, rate, allowed.baseline * _RESERVE)
    return _on_credits(d, type_, size_gib, wanted * d.noise(0.03))


def _now_and_then(d: Draw, starts: list[int]) -> Volume:
    """Plant a job that continues for one to eight hours after the credits are used up. They refill afterwards."""
    size_gib, allowed = _st1(d)
    rate = _rate(d, allowed)
    wanted = d.runs(starts, _lasts(allowed, rate) + d.uniform(60, 480), rate, allowed.baseline * _RESERVE)
    return _on_credits(d, "st1", size_gib, wanted)


def _just_enough(d: Draw) -> Volume:
    size_gib, allowed = _st1(d)
    rate = max(_rate(d, allowed), 3 * allowed.baseline)
    return _on_credits(d, "st1", size_gib, d.runs(d.daily(), int(_lasts(allowed, rate)) + 1 + d.integer(0, 8), rate))


def _working_week(d: Draw) -> Volume:
    """Plant a load that uses slightly more than it earns from Monday to Friday. The weekend refills the credits."""
    size_gib, allowed = _st1(d)
    minute = np.arange(MINUTES)
    weekday = (d.origin // DAY + (minute + d.uniform(0, DAY_MINUTES)) // DAY_MINUTES + 4) % 7
    rate = allowed.baseline + d.uniform(0.10, 0.17) * allowed.most / DAY
    wanted = np.where((weekday == 0) | (weekday == 6), allowed.baseline * _RESERVE, rate)
    return _on_credits(d, "st1", size_gib, wanted * d.noise(0.03))


def _new(d: Draw) -> Volume:
    size_gib, allowed = _st1(d)
    wanted = allowed.baseline * np.minimum(0.6 * d.noise(0.2), 0.95)
    return _on_credits(d, "st1", size_gib, wanted, created=d.ago(d.uniform(0.01, 3)))


def _stopped_empty(d: Draw) -> Volume:
    """Plant a volume whose instance was stopped when the credits were used up."""
    stopped = d.ago(d.uniform(0.5, 20))
    host = carriers.host(d, _CARRIER, days=120, state="stopped", stopped=stopped)
    size_gib, allowed = _st1(d)
    return _on_credits(d, "st1", size_gib, np.full(MINUTES, allowed.burst), host)


def _holes(d: Draw) -> Volume:
    """Plant a volume that never wants more than half of what it earns."""
    size_gib, allowed = _st1(d)
    wanted = allowed.baseline * np.minimum(0.3 * d.noise(0.2), 0.5)
    balance = {"BurstBalance": given(d.signal(d.without_days(np.full(MINUTES, 100.0))))}
    return _on_credits(d, "st1", size_gib, wanted, telemetry=balance)


EBS_BURST_DRAINING_ISSUES: Rows = {
    "nightly-gp2: A job outlasts the credits.": lambda d: _outlasting(d, "gp2"),
    "nightly-disk: A scan outlasts the credits.": lambda d: _outlasting(d, "st1" if d.chance(0.6) else "sc1"),
    "overloaded: Always above its baseline.": _overloaded,
    "since-yesterday: Gone since yesterday.": _since_yesterday,
    "soon: Less every day, and soon gone.": _soon,
}
EBS_BURST_DRAINING_CONTROLS: Rows = {
    "refilled-gp2: Half spent each night, and earned back.": lambda d: _refilled(d, "gp2"),
    "refilled-disk: Half spent each night, on disks.": lambda d: _refilled(d, "st1" if d.chance(0.6) else "sc1"),
    "weekly: Gone for hours once a week.": lambda d: _now_and_then(d, d.daily(7)),
    "once: Gone for hours, once.": lambda d: _now_and_then(d, [d.ago(d.uniform(2, 7))]),
    "just-enough: Gone in the last minutes of a batch.": _just_enough,
    "working-week: Less every day, until the weekend.": _working_week,
    # A gp2 volume of 1,000 GiB or more always has its burst.
    "large: A gp2 that needs no credits.": lambda d: _on_credits(
        d, "gp2", d.whole(1_000, 5_000), 3_000 * d.uniform(0.5, 1) * np.minimum(d.noise(0.1), 1)
    ),
    "new: Attached within three days.": _new,
    "stopped: On an instance that is stopped.": _stopped_empty,
}
EBS_BURST_DRAINING_UNKNOWN: Rows = {"holes: Days without metrics.": _holes}
EBS_BURST_DRAINING_ALSO = dict.fromkeys(("refilled-gp2", "large"), ("ebs-outdated-type",))
