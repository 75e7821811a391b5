"""Volumes that were left behind, and unattached ones that are not forgotten.

Not drawn, because the truth is in doubt: volumes unattached for 5 to 10 days, rhythms of more than a month, and rhythms
of which one or two turns are overdue. A volume that somebody attaches in a rhythm is in use, though no instance has it
at the moment. Not drawn either: volumes whose instance was stopped a week or longer before it was terminated, within
the last week. Nothing that an account publishes tells them from volumes that have been unattached since the stop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from slackwater_simulator.resources import MIB, Activity, Volume, rfc3339
from slackwater_simulator.series import DAY, HOUR

from .draw import Draw
from .scenario import Rows

_TYPES = ("gp3", "gp3", "gp3", "gp2", "gp2", "io1", "st1")
_TRAIL_DAYS = 90
_HISTORY_DAYS = 200
_CSI = {
    "CSIVolumeName": "pvc-1f2e",
    "kubernetes.io/created-for/pvc/name": "data-db-0",
    "kubernetes.io/created-for/pvc/namespace": "shop",
}


def _volume(d: Draw, **more: Any) -> Volume:
    """A volume of any size and type, and its work while it has an instance."""
    kind = more.pop("type", None) or d.pick(*_TYPES)
    size = d.whole(125 if kind == "st1" else 4, 4_000)
    more.setdefault("tags", d.tags())
    more.setdefault("iops", min(3_000, max(100, size * 10)) if kind == "io1" else None)
    values = d.working_days() if d.chance(0.5) else d.wobble() / 2
    activity = Activity(shape=d.published(values), read=d.spread(0.05, 50) * MIB, write=d.spread(0.05, 50) * MIB)
    return d.build.volume(d.name, size, type=kind, activity=activity, **more)


def _was_on(d: Draw, spans: Sequence[tuple[int, int]], **more: Any) -> Volume:
    """An unattached volume that was attached for these intervals, the newest last."""
    created = more.pop("created", None) or int(min(start for start, _ in spans) - d.uniform(0, 30) * DAY)
    return _volume(d, created=created, used=tuple(spans), **more)


def _once(d: Draw, left: int) -> tuple[int, int]:
    return int(left - d.spread(0.2, 300) * DAY), left


def _gone(d: Draw, suffix: str = "") -> str:
    return d.build.id("i", f"gone-{d.name}{suffix}")


def _detached(d: Draw, days: float, **more: Any) -> Volume:
    left = d.ago(days)
    volume = _was_on(d, [_once(d, left)], **more)
    if days < _TRAIL_DAYS:
        d.build.detached(volume.id, _gone(d), left)
    return volume


def _terminated(d: Draw, days: float, stopped_days: float = 0) -> Volume:
    """DeleteOnTermination was off; no event names the volume. Its instance may have been stopped for days before."""
    left = d.ago(days)
    if days < _TRAIL_DAYS:
        d.build.terminated(_gone(d), left)
    return _was_on(d, [_once(d, int(left - stopped_days * DAY))])


def _long_ago(d: Draw) -> Volume:
    days = d.uniform(91, 600)
    return _detached(d, days) if d.chance(0.5) else _terminated(d, days)


def _never(d: Draw, days: float) -> Volume:
    volume = _volume(d, created=d.ago(days))
    if days < _TRAIL_DAYS:
        d.build.created(volume)
    return volume


def _moved_and_lost(d: Draw) -> Volume:
    """Detached from one instance, attached to another, which was terminated, some days after it was stopped perhaps."""
    left = d.ago(d.uniform(10, 70))
    moved = int(left - d.uniform(0.5, 15) * DAY)
    stopped = int(left - d.uniform(0, 0.9) * (left - moved - HOUR)) if d.chance(0.4) else left
    volume = _was_on(d, [_once(d, moved), (moved + HOUR, stopped)])
    d.build.detached(volume.id, _gone(d), moved)
    d.build.attached(volume.id, _gone(d, "-2"), moved + HOUR)
    d.build.terminated(_gone(d, "-2"), left)
    return volume


def _moments(d: Draw, chosen: Callable[[time.struct_time], bool]) -> list[int]:
    """When a job ran, at its hour on the chosen days, the newest first."""
    second = d.integer(DAY)
    midnights = (d.now // DAY * DAY - day * DAY for day in range(_HISTORY_DAYS))
    moments = [midnight + second + d.integer(600) for midnight in midnights if chosen(time.gmtime(midnight))]
    return [moment for moment in moments if moment < d.now - HOUR]


def _weekly(d: Draw) -> list[int]:
    weekday = d.integer(7)
    return _moments(d, lambda date: date.tm_wday == weekday)


def _monthly(d: Draw) -> list[int]:
    """On the same day of every month, or on its first Monday or another weekday, up to 35 days apart."""
    day, weekday = d.integer(1, 29), d.integer(5)
    if d.chance(0.5):
        return _moments(d, lambda date: date.tm_mday == day)
    return _moments(d, lambda date: date.tm_wday == weekday and date.tm_mday <= 7)


def _in_rhythm(d: Draw, starts: list[int], hours: float | None = None) -> Volume:
    """Attached for hours, by a program, each time; then detached, or let go of by an instance that ends."""
    hours = hours or d.uniform(0.5, 12)
    spans = sorted((start, min(d.now - HOUR // 2, int(start + hours * HOUR))) for start in starts)
    volume = _was_on(d, spans, created=d.ago(500))
    ends_with_it = d.chance(0.3)
    for start, end in spans:
        if start > d.ago(_TRAIL_DAYS):
            gone = _gone(d, f"-{start}")
            d.build.attached(volume.id, gone, start)
            if ends_with_it:
                d.build.terminated(gone, end)
            else:
                d.build.detached(volume.id, gone, end)
    return volume


def _holiday(d: Draw) -> Volume:
    """A weekly copy that left out one of its last six weeks."""
    runs = _weekly(d)
    del runs[d.integer(6)]
    return _in_rhythm(d, runs)


def _restore_test(d: Draw) -> Volume:
    hours = d.uniform(24, 96)
    return _in_rhythm(d, [start for start in _monthly(d) if start + hours * HOUR < d.now], hours)


def _given_up(d: Draw) -> Volume:
    """Weekly for months, and for a month or longer not any more; monthly, and for two months not any more."""
    if d.chance(0.5):
        starts, over = _weekly(d), d.ago(d.uniform(30, 85))
    else:
        starts, over = _monthly(d), d.ago(d.uniform(75, 89))
    return _in_rhythm(d, [start for start in starts if start < over])


def _back_and_gone(d: Draw) -> Volume:
    """On one instance for weeks, unattached for a while, on another for weeks, and unattached since."""
    left = d.ago(d.uniform(10, 30))
    back = int(left - d.uniform(16, 25) * DAY)
    before = int(back - d.uniform(5, 20) * DAY)
    volume = _was_on(d, [_once(d, before), (back, left)])
    d.build.detached(volume.id, _gone(d), before)
    d.build.attached(volume.id, _gone(d, "-2"), back)
    d.build.detached(volume.id, _gone(d, "-2"), left)
    return volume


def _in_use(d: Draw, **more: Any) -> Volume:
    kind = d.pick("t3.medium", "m6i.large", "m5.xlarge", "m7g.large", "m4.large")
    on = d.build.instance(f"{d.name}-host", kind, cpu=d.cpu(), **more)
    return _volume(d, type="gp3", on=on, **({"used": on.intervals} if on.stopped else {}))


EBS_UNATTACHED_ISSUES: Rows = {
    "detached: Detached weeks ago.": lambda d: _detached(d, d.uniform(10, 89)),
    "instance-terminated: Its instance was terminated.": lambda d: _terminated(
        d, d.uniform(10, 89), d.spread(0.1, 60) if d.chance(0.4) else 0
    ),
    "long-ago: Loose for longer than CloudTrail remembers.": _long_ago,
    "never-attached: Made, and never attached.": lambda d: _never(d, d.spread(10, 400)),
    "moved-and-lost: Moved to another instance, and lost with it.": _moved_and_lost,
    # Of a cluster of EKS Auto Mode, EC2 alone says so: nobody put tags on it.
    "claim-released: A Kubernetes claim let go of it.": lambda d: _detached(
        d,
        days := d.uniform(10, 300),
        **{"operator": "eks.amazonaws.com"} if days < _TRAIL_DAYS else {"tags": dict(_CSI)},
    ),
    "rotation-given-up: A weekly or monthly job that is no more.": _given_up,
    "back-and-gone: Twice attached for weeks.": _back_and_gone,
}
EBS_UNATTACHED_CONTROLS: Rows = {
    "fresh: Detached within five days.": lambda d: _detached(d, d.uniform(0.02, 5)),
    "fresh-terminated: Its instance ended within five days.": lambda d: _terminated(
        d, days := d.uniform(0.02, 5), d.uniform(0, 5 - days) if d.chance(0.4) else 0
    ),
    "new: Made within five days.": lambda d: _never(d, d.uniform(0.02, 5)),
    "kept: Tagged keep.": lambda d: _detached(d, d.uniform(10, 300), tags={"keep": "true"}),
    "kept-until: Tagged keep-until, and the day is to come.": lambda d: _detached(
        d, tags={"keep-until": rfc3339(int(d.now + d.uniform(1, 300) * DAY))}, days=d.uniform(10, 300)
    ),
    "weekly-rotation: Attached for hours once a week.": lambda d: _in_rhythm(d, _weekly(d)),
    "by-turns: Attached every other week, in turn with another.": lambda d: _in_rhythm(
        d, _weekly(d)[d.integer(2) :: 2]
    ),
    "holiday: Attached once a week, but for one.": _holiday,
    "monthly-rotation: Attached for hours once a month.": lambda d: _in_rhythm(d, _monthly(d)),
    "restore-test: Attached for days once a month.": _restore_test,
    "in-use: On a running instance.": lambda d: _in_use(d, days=d.uniform(0.1, 300)),
    "instance-stopped: On an instance that was stopped of late.": lambda d: _in_use(
        d, days=110, state="stopped", stopped=d.ago(d.uniform(1, 25))
    ),
}
