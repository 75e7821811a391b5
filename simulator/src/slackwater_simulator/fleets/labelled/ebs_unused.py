"""Plant unused volumes, forgotten unattached ones, and quiet or unattached ones that somebody needs.

Not drawn, because the truth is in doubt:
- `ebs-idle`: volumes that were used until 1 to 35 days ago, jobs that run less often than once a month, and intended
  spares (swap space, a RAID's);
- `ebs-on-stopped-instance`: instances stopped 26 to 32 days ago, and machines that are started once a year. One volume
  of a stopped instance is labelled. If it is not the root volume, the root volume is tagged `keep`;
- `ebs-unattached`: volumes unattached for 5 to 10 days, rhythms longer than a month, and rhythms with one or two
  overdue runs. A volume that somebody attaches in a rhythm is in use, even while no instance has it. Also volumes whose
  instance was stopped for at least a week before it was terminated in the last week: an account publishes nothing that
  distinguishes them from volumes that have been unattached since the stop.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from slackwater_simulator.resources import KIB, MIB, Activity, Attachment, Instance, Volume, given, rfc3339
from slackwater_simulator.series import DAY, FOREVER, HOUR, MINUTE, Floats, Track
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from .carriers import FAST
from .draw import Draw
from .scenario import Rows

_XEN = ("m4.large", "m4.2xlarge", "c4.4xlarge")
_METRICS = ("VolumeReadOps", "VolumeWriteOps", "VolumeReadBytes", "VolumeWriteBytes")


def _host(d: Draw, kinds: tuple[str, ...] = FAST, **more: Any) -> Instance:
    more.setdefault("days", d.uniform(60, 400))
    more.setdefault("tags", d.tags())
    return d.build.instance(d.name, d.pick(*kinds), cpu=d.cpu(), **more)


def _volume(d: Draw, on: Instance | None = None, **more: Any) -> Volume:
    """Plant a data volume of a running instance. Without an activity it is idle."""
    more.setdefault("tags", d.tags())
    return d.build.volume(d.name, d.whole(20, 4_000), on=on or _host(d.named("host")), **more)


def _work(d: Draw, values: Floats, *, write: float = 1.0) -> Activity:
    """Return reads and writes of any size. With `write` 0 there are only reads."""
    size = d.spread(4, 256) * KIB
    peak = min(2_000 * size, d.spread(0.5, 40) * MIB)
    return Activity(shape=d.published(values), read=peak / 2, write=peak / 2 * write, read_size=size, write_size=size)


def _done_with(d: Draw) -> Volume:
    left = d.ago(d.uniform(37, 200))
    busy, zeros = d.published(d.working_days()), d.signal(np.zeros(MINUTES))
    track: Track = (*given(busy, scale=d.spread(100, 30_000), digits=0, until=left), *given(zeros, since=left))
    host = _host(d.named("host"), days=d.uniform(210, 500))
    return _volume(d, host, telemetry=dict.fromkeys(_METRICS, track))


def _looked_at(d: Draw) -> Volume:
    """Plant a volume with a few reads, once or twice."""
    starts = [d.ago(d.uniform(0.5, 34)) for _ in range(d.integer(1, 3))]
    reads = given(d.signal(d.runs(starts, 1, float(d.integer(3, 9)))), digits=0)
    return _volume(d, telemetry={"VolumeReadOps": reads})


def _stopped_between(d: Draw, stopped: int, started: int) -> Volume:
    host = _host(d.named("host"))
    spans = ((host.launched, stopped), (started, FOREVER))
    d.build.change(host, launched=started, running=spans)
    return _volume(d, host, used=spans)


def _both(d: Draw, volume: Volume, one: Instance, other: Instance) -> Volume:
    """Attach the volume to two instances."""
    since = max(one.launched, other.launched)
    both = tuple(Attachment(instance_id=host.id, since=since) for host in (one, other))
    until = max(end for host in (one, other) for _, end in host.intervals)
    return d.build.change(volume, created=since, attachments=both, used=((since, until),))


def _shared(d: Draw, activity: Activity | None = None, iops: int = 100) -> Volume:
    """Plant a Multi-Attach volume of two instances."""
    one, other = (_host(d.named(f"host-{letter}")) for letter in "ab")
    return _both(d, _volume(d, one, type="io2", iops=iops, multi_attach=True, activity=activity), one, other)


def _shared_by_one(d: Draw) -> Volume:
    iops, shape = d.integer(1, 3) * 1_000, d.published(np.clip(0.8 * d.wobble(), 0, 1))
    rate = iops * d.uniform(0.7, 0.9) * 16 * KIB / 2
    return _shared(d, Activity(shape=shape, read=rate, write=rate, read_size=16 * KIB, write_size=16 * KIB), iops)


def _in_runs(d: Draw, starts: list[int]) -> Volume:
    return _volume(d, activity=_work(d, d.runs(starts, d.uniform(2, 300)) * d.wobble()))


def _heartbeat(d: Draw) -> Volume:
    values = np.where(np.arange(MINUTES) % d.integer(5, 360) == 0, 1.0, 0.0)
    shape, size = d.published(values), 4 * KIB
    return _volume(d, activity=Activity(shape=shape, write=size * d.random.integers(1, 9) / MINUTE, write_size=size))


def _back_today(d: Draw) -> Volume:
    values = np.zeros(MINUTES)
    values[d.now_minute - d.integer(10, 600) : d.now_minute + 1] = 1.0
    return _volume(d, activity=_work(d, values))


def _root(d: Draw) -> Volume:
    """Plant the root volume of an instance that has all its data in memory."""
    _host(d)
    return d.build.change(d.build.volumes[-1], activity=None)


def _gappy(d: Draw) -> Volume:
    """Plant a volume with missing hours, in which a job may have run."""
    values = np.zeros(MINUTES)
    last = d.now_minute - int(d.uniform(1, 12) * DAY_MINUTES)
    values[max(0, last - d.integer(10, 600)) : last] = np.nan
    return _volume(d, telemetry=dict.fromkeys(_METRICS, given(d.signal(values))))


def _hidden(d: Draw) -> Volume:
    start = d.ago(d.uniform(16, 33))
    values = d.runs([start], d.uniform(10, 200)) * d.wobble()
    first = d.build.shapes.minute(d.now // DAY - start // DAY)
    values[first : first + 2 * DAY // MINUTE] = np.nan
    return _volume(d, activity=_work(d, values))


EBS_IDLE_ISSUES: Rows = {
    "never-used: Attached, and never used.": _volume,
    # On Xen, operations are published all the time, bytes and times only while there are some.
    "on-xen: Never used, on a Xen instance.": lambda d: _volume(
        d, telemetry=dict.fromkeys(("VolumeReadBytes", "VolumeWriteBytes"), d.silent()), on=_host(d.named("host"), _XEN)
    ),
    "done-with: Used until more than five weeks ago.": _done_with,
    "looked-at: Somebody listed the devices.": _looked_at,
    "restarted: Its instance was stopped for minutes.": lambda d: _stopped_between(
        d, stopped := d.ago(d.uniform(0.5, 30)), stopped + int(d.uniform(3, 300)) * MINUTE
    ),
    "stopped-for-days: Its instance was stopped for days.": lambda d: _stopped_between(
        d, started=(started := d.ago(d.uniform(16, 28))), stopped=int(started - d.uniform(1, 12) * DAY)
    ),
    "since-weeks: Attached weeks ago, and idle since.": lambda d: _volume(d, created=d.ago(d.uniform(17, 34))),
    "shared: Two instances share it, none uses it.": _shared,
}
EBS_IDLE_CONTROLS: Rows = {
    "shared-by-one: Of two that share it, one uses it.": _shared_by_one,
    "nightly: Used every night.": lambda d: _in_runs(d, d.daily()),
    "weekly: Used once a week.": lambda d: _in_runs(d, d.daily(7)),
    "monthly-by-date: Used on one date of the month.": lambda d: _in_runs(d, d.monthly()),
    "monthly-by-weekday: Used on the first of a weekday.": lambda d: _in_runs(d, d.first_weekday()),
    "heartbeat: A small write every few minutes or hours.": _heartbeat,
    "read-only: Read, and never written.": lambda d: _volume(d, activity=_work(d, d.working_days(), write=0.0)),
    "back-today: In use since today.": _back_today,
    "new: Attached within two weeks.": lambda d: _volume(d, created=d.ago(d.uniform(0.02, 13))),
    "instance-stopped: On an instance that was stopped of late.": lambda d: _volume(
        d, _host(d.named("host"), days=120, **d.off())
    ),
    "root: A root volume that nothing reads.": _root,
    "kept: Tagged keep.": lambda d: _volume(d, tags={"keep": "true"}),
}
EBS_IDLE_UNKNOWN: Rows = {
    "dark: No metrics: inconclusive.": lambda d: _volume(d, telemetry=dict.fromkeys(_METRICS, d.silent())),
    "holes: Days without metrics: inconclusive.": lambda d: _volume(
        d, telemetry=dict.fromkeys(_METRICS, d.zeros(holes=True))
    ),
    "gappy-zeros: Zeros, with hours of a day lost.": _gappy,
    "hidden: A monthly job on days that CloudWatch lost.": _hidden,
}


# --- ebs-on-stopped-instance ------------------------------------------------------------------------------------------
_KINDS = ("t3.medium", "m6i.large", "m5.xlarge", "m7g.large", "c6i.2xlarge")
_TYPES = ("gp3", "gp3", "gp2", "st1", "io1")


def _kept_host(d: Draw, *, keep_root: bool = True, **more: Any) -> Instance:
    """Plant an instance. Its root volume is tagged `keep`, unless `keep_root` is False."""
    more.setdefault("tags", d.tags())
    host = d.build.instance(d.name, d.pick(*_KINDS), cpu=d.cpu(), **more)
    if keep_root:
        root = d.build.volumes[-1]
        d.build.change(root, tags={**root.tags, "keep": "true"})
    return host


def _stopped(d: Draw, days: float, **more: Any) -> Instance:
    launched = d.ago(days + d.uniform(5, 300))
    return _kept_host(d, launched=launched, state="stopped", stopped=d.ago(days), **more)


def _long(d: Draw, host: str = "host", **more: Any) -> Instance:
    return _stopped(d.named(host), d.spread(33, 900), **more)


def _worked(d: Draw, on: Instance, kind: str = "gp3", **more: Any) -> Volume:
    """Plant a data volume that was in use while its instance ran."""
    more.setdefault("tags", d.tags())
    size = d.whole(125 if kind == "st1" else 20, 2_000)
    values = d.working_days() if d.chance(0.5) else d.wobble() / 2
    work = Activity(shape=d.published(values), read=d.spread(0.5, 10) * MIB, write=d.spread(0.5, 10) * MIB)
    more.setdefault("used", on.intervals)
    more.setdefault("iops", min(3_000, size * 10) if kind == "io1" else None)
    return d.build.volume(d.name, size, on=on, type=kind, activity=work, **more)


def _stopped_root(d: Draw) -> Volume:
    _stopped(d, d.spread(33, 900), keep_root=False)
    return d.build.volumes[-1]


def _shared_stopped(d: Draw) -> Volume:
    days = d.spread(33, 900)
    one, other = (_stopped(d.named(f"host-{letter}"), days + d.uniform(0, 3)) for letter in "ab")
    return _both(d, _worked(d, one, "io2", iops=1_000, multi_attach=True), one, other)


def _half_shared(d: Draw) -> Volume:
    """Plant a volume of a stopped and a running instance, which uses the volume's IOPS."""
    one = _long(d, "host-a")
    other = _kept_host(d.named("host-b"), days=d.uniform(60, 300))
    volume = _worked(d, other, "io2", iops=1_000, multi_attach=True)
    shape = d.published(np.clip(0.7 * d.wobble(), 0, 0.95))
    work = Activity(shape=shape, read=8 * MIB, write=8 * MIB, read_size=16_384, write_size=16_384)
    return _both(d, d.build.change(volume, activity=work), one, other)


def _started_again(d: Draw) -> Volume:
    host = _kept_host(d.named("host"), days=d.uniform(150, 400))
    started = d.ago(d.uniform(0.5, 20))
    spans = ((host.launched, int(started - d.uniform(35, 100) * DAY)), (started, FOREVER))
    d.build.change(host, launched=started, running=spans)
    d.build.change(d.build.volumes[-1], used=spans)
    return _worked(d, host, used=spans)


EBS_ON_STOPPED_INSTANCE_ISSUES: Rows = {
    "data: Its instance was stopped a month ago or longer.": lambda d: _worked(d, kind=d.pick(*_TYPES), on=_long(d)),
    "root: The root volume of such an instance.": _stopped_root,
    "bought: With throughput and IOPS paid for.": lambda d: _worked(
        d, _long(d), throughput=d.integer(200, 1_000), iops=8_000
    ),
    "shared: Two instances share it, both stopped.": _shared_stopped,
}
EBS_ON_STOPPED_INSTANCE_CONTROLS: Rows = {
    "half-shared: Of two that share it, one runs.": _half_shared,
    "of-late: Its instance was stopped within 25 days.": lambda d: _worked(
        d, _stopped(d.named("host"), d.uniform(0.02, 25))
    ),
    "running: Its instance runs.": lambda d: _worked(d, _kept_host(d.named("host"), days=d.uniform(60, 400))),
    "started-again: Its instance was stopped for months, and runs.": _started_again,
    "lately-attached: Attached of late to a stopped instance.": lambda d: _worked(
        d, _long(d), created=d.ago(d.uniform(0.1, 20)), used=((0, 1),)
    ),
    "warm-pool: In an Auto Scaling group's warm pool.": lambda d: _worked(
        d, _long(d, tags={"aws:autoscaling:groupName": "render", "Owner": "video"})
    ),
    "kept: Tagged keep.": lambda d: _worked(d, _long(d), tags={"keep": "true"}),
}
EBS_ON_STOPPED_INSTANCE_UNKNOWN: Rows = {
    "nobody-says: EC2 does not say since when.": lambda d: _worked(
        d, d.build.change(host := _long(d), stopped=None, running=host.intervals)
    )
}


# --- ebs-unattached ---------------------------------------------------------------------------------------------------
_LEFT_TYPES = ("gp3", "gp3", "gp3", "gp2", "gp2", "io1", "st1")
_TRAIL_DAYS = 90
_HISTORY_DAYS = 200
_CSI = {
    "CSIVolumeName": "pvc-1f2e",
    "kubernetes.io/created-for/pvc/name": "data-db-0",
    "kubernetes.io/created-for/pvc/namespace": "shop",
}


def _left(d: Draw, **more: Any) -> Volume:
    """Plant a volume of any size and type, with work while it has an instance."""
    kind = more.pop("type", None) or d.pick(*_LEFT_TYPES)
    size = d.whole(125 if kind == "st1" else 4, 4_000)
    more.setdefault("tags", d.tags())
    more.setdefault("iops", min(3_000, max(100, size * 10)) if kind == "io1" else None)
    values = d.working_days() if d.chance(0.5) else d.wobble() / 2
    activity = Activity(shape=d.published(values), read=d.spread(0.05, 50) * MIB, write=d.spread(0.05, 50) * MIB)
    return d.build.volume(d.name, size, type=kind, activity=activity, **more)


def _was_on(d: Draw, spans: Sequence[tuple[int, int]], **more: Any) -> Volume:
    """Plant an unattached volume that was attached in these intervals, newest last."""
    created = more.pop("created", None) or int(min(start for start, _ in spans) - d.uniform(0, 30) * DAY)
    return _left(d, created=created, used=tuple(spans), **more)


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
    """Plant a volume, DeleteOnTermination off, of a terminated instance, perhaps stopped before. No event names it."""
    left = d.ago(days)
    if days < _TRAIL_DAYS:
        d.build.terminated(_gone(d), left)
    return _was_on(d, [_once(d, int(left - stopped_days * DAY))])


def _long_ago(d: Draw) -> Volume:
    days = d.uniform(91, 600)
    return _detached(d, days) if d.chance(0.5) else _terminated(d, days)


def _never(d: Draw, days: float) -> Volume:
    volume = _left(d, created=d.ago(days))
    if days < _TRAIL_DAYS:
        d.build.created(volume)
    return volume


def _moved_and_lost(d: Draw) -> Volume:
    """Plant a volume that moved to another instance, which was terminated, perhaps some days after it was stopped."""
    left = d.ago(d.uniform(10, 70))
    moved = int(left - d.uniform(0.5, 15) * DAY)
    stopped = int(left - d.uniform(0, 0.9) * (left - moved - HOUR)) if d.chance(0.4) else left
    volume = _was_on(d, [_once(d, moved), (moved + HOUR, stopped)])
    d.build.detached(volume.id, _gone(d), moved)
    d.build.attached(volume.id, _gone(d, "-2"), moved + HOUR)
    d.build.terminated(_gone(d, "-2"), left)
    return volume


def _moments(d: Draw, chosen: Callable[[time.struct_time], bool]) -> list[int]:
    """Return a job's times at its hour on the chosen days, newest first."""
    second = d.integer(DAY)
    midnights = (d.now // DAY * DAY - day * DAY for day in range(_HISTORY_DAYS))
    moments = [midnight + second + d.integer(600) for midnight in midnights if chosen(time.gmtime(midnight))]
    return [time for time in moments if time < d.now - HOUR]


def _weekly(d: Draw) -> list[int]:
    weekday = d.integer(7)
    return _moments(d, lambda date: date.tm_wday == weekday)


def _monthly(d: Draw) -> list[int]:
    """Return times on the same day of every month, or on a first weekday of the month, up to 35 days apart."""
    day, weekday = d.integer(1, 29), d.integer(5)
    if d.chance(0.5):
        return _moments(d, lambda date: date.tm_mday == day)
    return _moments(d, lambda date: date.tm_wday == weekday and date.tm_mday <= 7)


def _rotated(d: Draw, starts: list[int], hours: float | None = None) -> Volume:
    """Plant a volume that a program attaches for hours each time. Then it is detached, or its instance ends."""
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
    runs = _weekly(d)
    del runs[d.integer(6)]
    return _rotated(d, runs)


def _given_up(d: Draw) -> Volume:
    """Plant a volume of a weekly job that ended a month or more ago, or of a monthly job that ended two months ago."""
    if d.chance(0.5):
        starts, over = _weekly(d), d.ago(d.uniform(30, 85))
    else:
        starts, over = _monthly(d), d.ago(d.uniform(75, 89))
    return _rotated(d, [start for start in starts if start < over])


def _back_and_gone(d: Draw) -> Volume:
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
    return _left(d, type="gp3", on=on)


EBS_UNATTACHED_ISSUES: Rows = {
    "detached: Detached weeks ago.": lambda d: _detached(d, d.uniform(10, 89)),
    "instance-terminated: Its instance was terminated.": lambda d: _terminated(
        d, d.uniform(10, 89), d.spread(0.1, 60) if d.chance(0.4) else 0
    ),
    "long-ago: Unattached for longer than CloudTrail remembers.": _long_ago,
    "never-attached: Made, and never attached.": lambda d: _never(d, d.spread(10, 400)),
    "moved-and-lost: Moved to another instance, and lost with it.": _moved_and_lost,
    # In an EKS Auto Mode cluster only EC2's operator shows that, because the volume has no tags.
    "claim-released: A Kubernetes claim let go of it.": lambda d: _detached(
        d,
        days := d.uniform(10, 300),
        **{"operator": "eks.amazonaws.com"} if days < _TRAIL_DAYS else {"tags": dict(_CSI)},
    ),
    "rotation-given-up: A weekly or monthly job that has ended.": _given_up,
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
    "weekly-rotation: Attached for hours once a week.": lambda d: _rotated(d, _weekly(d)),
    "by-turns: Attached every other week, in turn with another.": lambda d: _rotated(d, _weekly(d)[d.integer(2) :: 2]),
    "holiday: Attached once a week, but for one.": _holiday,
    "monthly-rotation: Attached for hours once a month.": lambda d: _rotated(d, _monthly(d)),
    "restore-test: Attached for days once a month.": lambda d: _rotated(
        d, hours=(hours := d.uniform(24, 96)), starts=[at for at in _monthly(d) if at + hours * HOUR < d.now]
    ),
    "in-use: On a running instance.": lambda d: _in_use(d, days=d.uniform(0.1, 300)),
    "instance-stopped: On an instance that was stopped of late.": lambda d: _in_use(d, days=110, **d.off()),
}
