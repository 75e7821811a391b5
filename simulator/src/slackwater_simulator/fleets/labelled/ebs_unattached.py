"""Volumes that were left behind, and loose ones that are not forgotten.

Left out, because even the truth is in doubt: volumes loose for 5 to 10 days, rhythms of more than a month, and rhythms of which
one or two turns are overdue. A volume that somebody attaches in a rhythm is in use, though no instance has it at the moment.
Left out too: volumes whose instance was stopped a week or longer before it was terminated, within the last week. Nothing that
an account publishes tells them from volumes that have been loose since the stop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import MIB, Activity, Instance, Volume, rfc3339
from slackwater_simulator.series import DAY, HOUR

from .rhythms import Random, chance, cpu, published, spread, tags, wobble, working_days
from .scenario import Scenario, each

_TYPES = ("gp3", "gp3", "gp3", "gp2", "gp2", "io1", "st1")
_TRAIL_DAYS = 90
_HISTORY_DAYS = 200
_CSI = {
    "CSIVolumeName": "pvc-1f2e",
    "kubernetes.io/created-for/pvc/name": "data-db-0",
    "kubernetes.io/created-for/pvc/namespace": "shop",
}


def _volume(random: Random, build: Builder, name: str, **more: object) -> Volume:
    """A volume of any size and type, and its work while it has an instance."""
    kind = more.pop("type", None) or _TYPES[int(random.integers(len(_TYPES)))]
    size = int(spread(random, 125 if kind == "st1" else 4, 4_000))
    more.setdefault("tags", dict(tags(random)))
    more.setdefault("iops", min(3_000, max(100, size * 10)) if kind == "io1" else None)
    values = working_days(random, build) if chance(random, 0.5) else wobble(random) / 2
    activity = Activity(
        shape=published(random, build, values),
        read=spread(random, 0.05, 50) * MIB,
        write=spread(random, 0.05, 50) * MIB,
    )
    return build.volume(name, size, type=kind, activity=activity, **more)  # type: ignore[arg-type]


def _was_on(random: Random, build: Builder, name: str, spans: Sequence[tuple[int, int]], **more: object) -> Volume:
    """A loose volume that was attached for these intervals, the newest last."""
    created = more.pop("created", None) or int(min(start for start, _ in spans) - random.uniform(0, 30) * DAY)
    return _volume(random, build, name, created=created, used=tuple(spans), **more)


def _once(random: Random, left: int) -> tuple[int, int]:
    return int(left - spread(random, 0.2, 300) * DAY), left


def _gone(build: Builder, name: str) -> str:
    return build.id("i", f"gone-{name}")


def _detached(random: Random, build: Builder, name: str, days: float, **more: object) -> Volume:
    left = build.ago(days)
    volume = _was_on(random, build, name, [_once(random, left)], **more)
    if days < _TRAIL_DAYS:
        build.detached(volume.id, _gone(build, name), left)
    return volume


def _terminated(random: Random, build: Builder, name: str, days: float, stopped_days: float = 0) -> Volume:
    """DeleteOnTermination was off; no event names the volume. Its instance may have been stopped for days before."""
    left = build.ago(days)
    if days < _TRAIL_DAYS:
        build.terminated(_gone(build, name), left)
    return _was_on(random, build, name, [_once(random, int(left - stopped_days * DAY))])


def _by_hand(random: Random, build: Builder, name: str) -> Volume:
    return _detached(random, build, name, random.uniform(10, 89))


def _with_its_instance(random: Random, build: Builder, name: str) -> Volume:
    return _terminated(
        random, build, name, random.uniform(10, 89), spread(random, 0.1, 60) if chance(random, 0.4) else 0
    )


def _long_ago(random: Random, build: Builder, name: str) -> Volume:
    days = random.uniform(91, 600)
    return _detached(random, build, name, days) if chance(random, 0.5) else _terminated(random, build, name, days)


def _never(random: Random, build: Builder, name: str) -> Volume:
    days = spread(random, 10, 400)
    volume = _volume(random, build, name, created=build.ago(days))
    if days < _TRAIL_DAYS:
        build.created(volume)
    return volume


def _moved_and_lost(random: Random, build: Builder, name: str) -> Volume:
    """Detached from one instance, attached to another, which was terminated, some days after it was stopped perhaps."""
    left = build.ago(random.uniform(10, 70))
    moved = int(left - random.uniform(0.5, 15) * DAY)
    stopped = int(left - random.uniform(0, 0.9) * (left - moved - HOUR)) if chance(random, 0.4) else left
    volume = _was_on(random, build, name, [_once(random, moved), (moved + HOUR, stopped)])
    build.detached(volume.id, _gone(build, name), moved)
    build.attached(volume.id, _gone(build, f"{name}-2"), moved + HOUR)
    build.terminated(_gone(build, f"{name}-2"), left)
    return volume


def _claim(random: Random, build: Builder, name: str) -> Volume:
    """Of a cluster of EKS Auto Mode, EC2 alone says so: nobody put tags on it."""
    days = random.uniform(10, 300)
    whose: dict[str, object] = {"operator": "eks.amazonaws.com"} if days < _TRAIL_DAYS else {"tags": dict(_CSI)}
    return _detached(random, build, name, days, **whose)


def _fresh(random: Random, build: Builder, name: str) -> Volume:
    return _detached(random, build, name, random.uniform(0.02, 5))


def _fresh_with_its_instance(random: Random, build: Builder, name: str) -> Volume:
    days = random.uniform(0.02, 5)
    return _terminated(random, build, name, days, random.uniform(0, 5 - days) if chance(random, 0.4) else 0)


def _new(random: Random, build: Builder, name: str) -> Volume:
    volume = _volume(random, build, name, created=build.ago(random.uniform(0.02, 5)))
    build.created(volume)
    return volume


def _kept(random: Random, build: Builder, name: str) -> Volume:
    return _detached(random, build, name, random.uniform(10, 300), tags={"keep": "true"})


def _kept_until(random: Random, build: Builder, name: str) -> Volume:
    until = rfc3339(int(build.now + random.uniform(1, 300) * DAY))
    return _detached(random, build, name, random.uniform(10, 300), tags={"keep-until": until})


def _moments(random: Random, build: Builder, chosen: Callable[[time.struct_time], bool]) -> list[int]:
    """When a job ran, at its hour on the chosen days, the newest first."""
    second = int(random.integers(DAY))
    midnights = (build.now // DAY * DAY - day * DAY for day in range(_HISTORY_DAYS))
    moments = [midnight + second + int(random.integers(600)) for midnight in midnights if chosen(time.gmtime(midnight))]
    return [moment for moment in moments if moment < build.now - HOUR]


def _weekly(random: Random, build: Builder) -> list[int]:
    weekday = int(random.integers(7))
    return _moments(random, build, lambda date: date.tm_wday == weekday)


def _monthly(random: Random, build: Builder) -> list[int]:
    """On the same day of every month, or on its first Monday or another weekday: up to 31 or 35 days lie between two."""
    day, weekday = int(random.integers(1, 29)), int(random.integers(5))
    if chance(random, 0.5):
        return _moments(random, build, lambda date: date.tm_mday == day)
    return _moments(random, build, lambda date: date.tm_wday == weekday and date.tm_mday <= 7)


def _in_rhythm(random: Random, build: Builder, name: str, starts: list[int], hours: float | None = None) -> Volume:
    """Attached for hours, by a program, each time; then detached, or let go of by an instance that ends."""
    hours = hours or random.uniform(0.5, 12)
    spans = sorted((start, min(build.now - HOUR // 2, int(start + hours * HOUR))) for start in starts)
    volume = _was_on(random, build, name, spans, created=build.ago(500))
    ends_with_it = chance(random, 0.3)
    for start, end in spans:
        if start > build.ago(_TRAIL_DAYS):
            gone = _gone(build, f"{name}-{start}")
            build.attached(volume.id, gone, start)
            (build.terminated if ends_with_it else _detach(build, volume))(gone, end)
    return volume


def _detach(build: Builder, volume: Volume) -> Callable[[str, int], None]:
    return lambda instance_id, at: build.detached(volume.id, instance_id, at)


def _weekend(random: Random, build: Builder, name: str) -> Volume:
    return _in_rhythm(random, build, name, _weekly(random, build))


def _by_turns(random: Random, build: Builder, name: str) -> Volume:
    """One of two that take turns every other week."""
    return _in_rhythm(random, build, name, _weekly(random, build)[int(random.integers(2)) :: 2])


def _holiday(random: Random, build: Builder, name: str) -> Volume:
    """A weekly copy that left out one of its last six weeks."""
    runs = _weekly(random, build)
    del runs[int(random.integers(6))]
    return _in_rhythm(random, build, name, runs)


def _once_a_month(random: Random, build: Builder, name: str) -> Volume:
    return _in_rhythm(random, build, name, _monthly(random, build))


def _restore_test(random: Random, build: Builder, name: str) -> Volume:
    """For days, once a month."""
    hours = random.uniform(24, 96)
    starts = [start for start in _monthly(random, build) if start + hours * HOUR < build.now]
    return _in_rhythm(random, build, name, starts, hours)


def _given_up(random: Random, build: Builder, name: str) -> Volume:
    """Weekly for months, and for a month or longer not any more; monthly, and for two months not any more."""
    if chance(random, 0.5):
        starts, over = _weekly(random, build), build.ago(random.uniform(30, 85))
    else:
        starts, over = _monthly(random, build), build.ago(random.uniform(75, 89))
    return _in_rhythm(random, build, name, [start for start in starts if start < over])


def _back_and_gone(random: Random, build: Builder, name: str) -> Volume:
    """On one instance for weeks, loose for a while, on another for weeks, and loose since."""
    left = build.ago(random.uniform(10, 30))
    back = int(left - random.uniform(16, 25) * DAY)
    before = int(back - random.uniform(5, 20) * DAY)
    volume = _was_on(random, build, name, [_once(random, before), (back, left)])
    build.detached(volume.id, _gone(build, name), before)
    build.attached(volume.id, _gone(build, f"{name}-2"), back)
    build.detached(volume.id, _gone(build, f"{name}-2"), left)
    return volume


def _host(random: Random, build: Builder, name: str, **more: object) -> Instance:
    kind = ("t3.medium", "m6i.large", "m5.xlarge", "m7g.large", "m4.large")[int(random.integers(5))]
    return build.instance(f"{name}-host", kind, cpu=cpu(random, build), **more)  # type: ignore[arg-type]


def _in_use(random: Random, build: Builder, name: str) -> Volume:
    return _volume(random, build, name, type="gp3", on=_host(random, build, name, days=random.uniform(0.1, 300)))


def _on_a_stopped_one(random: Random, build: Builder, name: str) -> Volume:
    stopped = build.ago(random.uniform(1, 25))
    host = _host(random, build, name, days=110, state="stopped", stopped=stopped)
    return _volume(random, build, name, type="gp3", on=host, used=((host.launched, stopped),))


SCENARIOS = (
    Scenario(name="detached", story="Detached weeks ago.", plant=each(_by_hand), trouble=True),
    Scenario(
        name="instance-terminated", story="Its instance was terminated.", plant=each(_with_its_instance), trouble=True
    ),
    Scenario(name="long-ago", story="Loose for longer than CloudTrail remembers.", plant=each(_long_ago), trouble=True),
    Scenario(name="never-attached", story="Made, and never attached.", plant=each(_never), trouble=True),
    Scenario(
        name="moved-and-lost",
        story="Moved to another instance, and lost with it.",
        plant=each(_moved_and_lost),
        trouble=True,
    ),
    Scenario(name="claim-released", story="A Kubernetes claim let go of it.", plant=each(_claim), trouble=True),
    Scenario(
        name="rotation-given-up", story="A weekly or monthly job that is no more.", plant=each(_given_up), trouble=True
    ),
    Scenario(name="back-and-gone", story="Twice attached for weeks.", plant=each(_back_and_gone), trouble=True),
    Scenario(name="fresh", story="Detached within five days.", plant=each(_fresh)),
    Scenario(
        name="fresh-terminated", story="Its instance ended within five days.", plant=each(_fresh_with_its_instance)
    ),
    Scenario(name="new", story="Made within five days.", plant=each(_new)),
    Scenario(name="kept", story="Tagged keep.", plant=each(_kept)),
    Scenario(name="kept-until", story="Tagged keep-until, and the day is to come.", plant=each(_kept_until)),
    Scenario(name="weekly-rotation", story="Attached for hours once a week.", plant=each(_weekend)),
    Scenario(name="by-turns", story="Attached every other week, in turn with another.", plant=each(_by_turns)),
    Scenario(name="holiday", story="Attached once a week, but for one.", plant=each(_holiday)),
    Scenario(name="monthly-rotation", story="Attached for hours once a month.", plant=each(_once_a_month)),
    Scenario(name="restore-test", story="Attached for days once a month.", plant=each(_restore_test)),
    Scenario(name="in-use", story="On a running instance.", plant=each(_in_use)),
    Scenario(name="instance-stopped", story="On an instance that was stopped of late.", plant=each(_on_a_stopped_one)),
)
