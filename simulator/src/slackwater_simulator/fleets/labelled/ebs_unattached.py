"""Volumes that were left behind, and loose ones that are not forgotten.

Left out, because even the truth is in doubt: volumes loose for 5 to 10 days. A volume that somebody attaches in a rhythm is
in use, though no instance has it at the moment.
"""

from __future__ import annotations

from collections.abc import Sequence

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import MIB, Activity, Instance, Volume, rfc3339
from slackwater_simulator.series import DAY, HOUR

from .rhythms import Random, chance, cpu, daily, monthly, published, spread, tags, wobble, working_days
from .scenario import Scenario, each

_TYPES = ("gp3", "gp3", "gp3", "gp2", "gp2", "io1", "st1")
_TRAIL_DAYS = 90
_CSI = {
    "CSIVolumeName": "pvc-1f2e",
    "kubernetes.io/created-for/pvc/name": "data-db-0",
    "kubernetes.io/created-for/pvc/namespace": "shop",
}


def _volume(random: Random, build: Builder, name: str, **more: object) -> Volume:
    """A volume of any size and type, and its work while it has an instance."""
    kind = _TYPES[int(random.integers(len(_TYPES)))]
    size = int(spread(random, 125 if kind == "st1" else 4, 4_000))
    more.setdefault("tags", dict(tags(random)))
    more.setdefault("iops", min(3_000, max(100, size * 10)) if kind == "io1" else None)
    values = working_days(random, build) if chance(random, 0.5) else wobble(random) / 2
    activity = Activity(
        shape=published(random, build, values), read=spread(random, 0.05, 50) * MIB, write=spread(random, 0.05, 50) * MIB
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


def _terminated(random: Random, build: Builder, name: str, days: float) -> Volume:
    """DeleteOnTermination was off; no event names the volume."""
    left = build.ago(days)
    if days < _TRAIL_DAYS:
        build.terminated(_gone(build, name), left)
    return _was_on(random, build, name, [_once(random, left)])


def _by_hand(random: Random, build: Builder, name: str) -> Volume:
    return _detached(random, build, name, random.uniform(10, 89))


def _with_its_instance(random: Random, build: Builder, name: str) -> Volume:
    return _terminated(random, build, name, random.uniform(10, 89))


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
    """Detached from one instance, attached to another, which was terminated."""
    left = build.ago(random.uniform(10, 70))
    moved = int(left - random.uniform(0.5, 15) * DAY)
    volume = _was_on(random, build, name, [_once(random, moved), (moved + HOUR, left)])
    build.detached(volume.id, _gone(build, name), moved)
    build.event(
        "AttachVolume",
        moved + HOUR,
        {"volumeId": volume.id, "instanceId": _gone(build, f"{name}-2"), "device": "/dev/sdf"},
        {"volumeId": volume.id, "instanceId": _gone(build, f"{name}-2"), "device": "/dev/sdf", "status": "attaching"},
        [("AWS::EC2::Volume", volume.id), ("AWS::EC2::Instance", _gone(build, f"{name}-2"))],
    )
    build.terminated(_gone(build, f"{name}-2"), left)
    return volume


def _claim(random: Random, build: Builder, name: str) -> Volume:
    return _detached(random, build, name, random.uniform(10, 300), tags=dict(_CSI))


def _fresh(random: Random, build: Builder, name: str) -> Volume:
    return _detached(random, build, name, random.uniform(0.02, 5))


def _fresh_with_its_instance(random: Random, build: Builder, name: str) -> Volume:
    return _terminated(random, build, name, random.uniform(0.02, 5))


def _new(random: Random, build: Builder, name: str) -> Volume:
    volume = _volume(random, build, name, created=build.ago(random.uniform(0.02, 5)))
    build.created(volume)
    return volume


def _kept(random: Random, build: Builder, name: str) -> Volume:
    return _detached(random, build, name, random.uniform(10, 300), tags={"keep": "true"})


def _kept_until(random: Random, build: Builder, name: str) -> Volume:
    until = rfc3339(int(build.now + random.uniform(1, 300) * DAY))
    return _detached(random, build, name, random.uniform(10, 300), tags={"keep-until": until})


def _in_rhythm(random: Random, build: Builder, name: str, starts: list[int]) -> Volume:
    """Attached for hours, by a program, and detached again each time."""
    hours = random.uniform(1, 12)
    latest = max(start for start in starts if start + hours * HOUR < build.now)
    gaps = range(12)
    step = 7 * DAY if len(starts) > 2 else 30 * DAY
    spans = sorted((latest - step * n, int(latest - step * n + hours * HOUR)) for n in gaps)
    volume = _was_on(random, build, name, spans, created=build.ago(500))
    for start, end in spans:
        if start > build.ago(_TRAIL_DAYS):
            build.detached(volume.id, _gone(build, f"{name}-{start}"), end)
    return volume


def _weekend(random: Random, build: Builder, name: str) -> Volume:
    return _in_rhythm(random, build, name, daily(random, build, 7))


def _monthly(random: Random, build: Builder, name: str) -> Volume:
    run = max([start for start in monthly(random, build) if start < build.ago(0.6)], default=build.ago(random.uniform(1, 30)))
    return _in_rhythm(random, build, name, [run])


def _host(random: Random, build: Builder, name: str, **more: object) -> Instance:
    kind = ("t3.medium", "m6i.large", "m5.xlarge", "m7g.large", "m4.large")[int(random.integers(5))]
    return build.instance(f"{name}-host", kind, cpu=cpu(random, build), **more)  # type: ignore[arg-type]


def _in_use(random: Random, build: Builder, name: str) -> Volume:
    return _volume(random, build, name, on=_host(random, build, name, days=random.uniform(0.1, 300)))


def _on_a_stopped_one(random: Random, build: Builder, name: str) -> Volume:
    stopped = build.ago(random.uniform(1, 100))
    host = _host(random, build, name, days=110, state="stopped", stopped=stopped)
    return _volume(random, build, name, on=host, used=((host.launched, stopped),))


SCENARIOS = (
    Scenario(name="detached", story="Detached weeks ago.", plant=each(_by_hand), trouble=True),
    Scenario(name="instance-terminated", story="Its instance was terminated.", plant=each(_with_its_instance), trouble=True),
    Scenario(name="long-ago", story="Loose for longer than CloudTrail remembers.", plant=each(_long_ago), trouble=True),
    Scenario(name="never-attached", story="Made, and never attached.", plant=each(_never), trouble=True),
    Scenario(
        name="moved-and-lost", story="Moved to another instance, and lost with it.", plant=each(_moved_and_lost), trouble=True
    ),
    Scenario(name="claim-released", story="A Kubernetes claim let go of it.", plant=each(_claim), trouble=True),
    Scenario(name="fresh", story="Detached within five days.", plant=each(_fresh)),
    Scenario(name="fresh-terminated", story="Its instance ended within five days.", plant=each(_fresh_with_its_instance)),
    Scenario(name="new", story="Made within five days.", plant=each(_new)),
    Scenario(name="kept", story="Tagged keep.", plant=each(_kept)),
    Scenario(name="kept-until", story="Tagged keep-until, and the day is to come.", plant=each(_kept_until)),
    Scenario(name="weekly-rotation", story="Attached for hours once a week.", plant=each(_weekend)),
    Scenario(name="monthly-rotation", story="Attached for hours once a month.", plant=each(_monthly)),
    Scenario(name="in-use", story="On a running instance.", plant=each(_in_use)),
    Scenario(name="instance-stopped", story="On an instance that is stopped.", plant=each(_on_a_stopped_one)),
)
