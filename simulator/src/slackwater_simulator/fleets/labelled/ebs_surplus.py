"""Plant IOPS, throughput and space that nobody needs, or that are needed for minutes a night, a week or a month.

Not drawn, because the truth is in doubt:
- a busiest minute between a third and a half of the provisioned limit, large operations at such a rate of IOPS, and a
  restore or a migration that ended within five weeks, which looks like a monthly job. An io1 volume belongs to another
  detector: its type is the larger waste;
- `ebs-surplus-size`: file systems whose maximum is between a third and a half, and those that reach it within half a
  year to two years. Also copies of the last nine days, because more may follow.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from slackwater_simulator.resources import MIB, Activity, Disk, Flow, Instance, Volume
from slackwater_simulator.series import FOREVER, MINUTE, Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES

from . import carriers
from .carriers import FAST
from .draw import Draw
from .scenario import One, Rows, in_full

_GP3 = (4_000, 5_000, 6_000, 8_000, 10_000, 12_000, 16_000, 20_000)
_IO2 = (500, 1_000, 2_000, 3_000, 5_000, 10_000, 20_000)
_MIB = 100
"""The most MiB/s that small operations move, of the 125 that a gp3 volume includes."""
_BOUGHT = (200, 250, 300, 400, 500, 600, 750, 1000)
"""MiB/s."""
_ON_XEN = (160, 180, 200, 225)
"""MiB/s that a Xen instance carries."""

type Use = Callable[..., Volume]
"""`use(d, values, share)` plants a volume that uses `share` of its provisioned limit where `values` are 1."""


def _volume(d: Draw, on: Instance | None = None, **more: Any) -> Volume:
    more.setdefault("tags", d.tags())
    return d.build.volume(d.name, on=on or carriers.host(d), size_gib=d.whole(50, 8_000), **more)


def _little(d: Draw) -> float:
    return d.spread(0.02, 0.33)


def _rarely(use: Use) -> One:
    """Return a function that plants volumes with any work that uses at most a third of the provisioned limit."""
    return lambda d: use(d, d.demand(), _little(d))


def _restarted(use: Use) -> One:
    return lambda d: carriers.restarted(d, use(d, d.demand(), _little(d)))


def _needed(use: Use, check: str) -> dict[str, One]:
    """Return negative controls that use nearly all of the limit: in runs, by day, always, or for seconds."""

    def in_runs(d: Draw, starts: list[int], minutes: float) -> Volume:
        return use(d, np.clip(d.runs(starts, minutes, d.uniform(0.7, 1.0), 0.02) * d.wobble(), 0, 1), 1.0)

    def seconds(d: Draw) -> Volume:
        values, exceeded = carriers.bursts(d, check)
        return use(d, values, d.uniform(0.6, 1.0), telemetry=exceeded)

    return {
        **in_full(in_runs, (3, 60), (3, 240), (30, 600), (30, 600)),
        "by-day: Used by day.": lambda d: use(d, np.clip(d.working_days() * 1.3, 0, 1), d.uniform(0.7, 1.0)),
        "steady: Used always.": lambda d: use(d, np.clip(0.8 * d.wobble(), 0, 1), d.uniform(0.6, 1.0)),
        "seconds: Seconds at the limit, which minutes hide.": seconds,
    }


def _stopped(bought: Callable[[Draw], dict[str, Any]]) -> One:
    """Return a function that plants volumes on an instance that was stopped recently."""
    return lambda d: _volume(d, carriers.stopped_host(d), **bought(d))


def _kind(d: Draw) -> dict[str, Any]:
    """Draw a type and its IOPS."""
    gp3 = d.chance(0.6)
    return {"type": "gp3" if gp3 else "io2", "iops": d.pick(*(_GP3 if gp3 else _IO2))}


def _page_kib(d: Draw, iops: float) -> float:
    """Draw the page size of a database in KiB."""
    return d.spread(4, max(4.0, min(32.0, _MIB * 1024 / iops)))


def _iops(d: Draw, values: Floats, used: float, kind: dict[str, Any] | None = None, **more: Any) -> Volume:
    """Plant a volume that uses this share of its IOPS at its peak, with small operations."""
    kind = kind or _kind(d)
    iops = kind["iops"] * used
    size = _page_kib(d, iops)
    return _volume(d, activity=carriers.work(d, values, iops * size / 1024, size), **kind, **more)


def _iops_on_xen(d: Draw) -> Volume:
    kind = _kind(d)
    on = carriers.host(d, carriers.XEN)
    return _iops(d, d.demand(), _little(d), {**kind, "iops": min(kind["iops"], 12_000)}, on=on)


def _iops_by_turns(d: Draw) -> Volume:
    kind = _kind(d)
    iops = kind["iops"] * d.uniform(0.2, 0.33)
    size = _page_kib(d, iops)
    return _volume(d, telemetry=carriers.by_turns(d, iops * size / 1024, size), **kind)


def _large(d: Draw) -> Volume:
    """Plant a volume with few operations of a MiB each, near the throughput that io2 allows for its IOPS."""
    iops = d.pick(500, 1_000, 2_000, 3_000, 4_000)
    values = np.clip(d.runs(d.daily(), d.uniform(5, 300), 1.0, 0.02) * d.wobble(), 0, 1)
    work = carriers.work(d, values, 0.256 * iops * d.uniform(0.7, 1.0), 1_024)
    return _volume(d, type="io2", iops=iops, activity=work)


def _for_throughput(d: Draw) -> Volume:
    """Plant a volume with the fewest IOPS for its throughput, which MiB operations use in full at night."""
    bought = d.pick(800, 900)
    values = np.clip(d.runs(d.daily(), d.uniform(5, 60), 0.95, 0.02) * d.wobble(), 0, 1)
    return _volume(d, **_throughput(bought), activity=carriers.work(d, values, float(bought), 1_024))


EBS_SURPLUS_IOPS_ISSUES: Rows = {
    "rarely-many: A third of them is used at most.": _rarely(_iops),
    "on-xen: On Xen, little is used.": _iops_on_xen,
    "by-turns: Reads by day, writes by night.": _iops_by_turns,
    "restarted: Its instance was stopped and started.": _restarted(_iops),
    **carriers.interrupted(_iops, _little),
    "shared: Shared by two instances.": lambda d: carriers.shared(
        d,
        _iops(
            d,
            kind={"type": "io2", "iops": d.pick(*_IO2)},
            values=d.demand(),
            used=d.spread(0.02, 0.15),
            multi_attach=True,
        ),
    ),
}
EBS_SURPLUS_IOPS_CONTROLS: Rows = {
    **_needed(_iops, "VolumeIOPSExceededCheck"),
    "large-operations: Few operations, each of which counts four times.": _large,
    "for-throughput: The IOPS that its throughput must have.": _for_throughput,
    "stopped: On an instance that was stopped of late.": _stopped(_kind),
    "included: The IOPS that every gp3 includes.": lambda d: _iops(
        d, d.demand(), d.uniform(0.01, 1), {"type": "gp3", "iops": 3_000}
    ),
}
EBS_SURPLUS_IOPS_UNKNOWN: Rows = carriers.without_data(_iops, _little)


# --- ebs-surplus-throughput -------------------------------------------------------------------------------------------
def _throughput(bought: int) -> dict[str, Any]:
    """Return settings with this throughput (MiB/s) and the fewest IOPS that AWS requires for it."""
    return {"throughput": bought, "iops": max(3_000, 4 * bought)}


def _size_kib(d: Draw, bought: int, peak_mib: float) -> float:
    """Draw an operation size in KiB that the IOPS allow."""
    return d.spread(min(256, max(16, peak_mib * 1024 / max(3_000, 4 * bought))), 256)


def _mib(
    d: Draw, values: Floats, used: float, choices: tuple[int, ...] = _BOUGHT, kinds: tuple[str, ...] = (), **more: Any
) -> Volume:
    """Plant a volume that uses this share of its provisioned throughput at its peak."""
    bought = d.pick(*choices)
    activity = carriers.work(d, values, bought * used, _size_kib(d, bought, bought * used))
    return _volume(d, carriers.host(d, *kinds), activity=activity, **_throughput(bought), **more)


def _mib_by_turns(d: Draw) -> Volume:
    bought = d.pick(*_BOUGHT)
    peak = bought * d.uniform(0.2, 0.33)
    turns = carriers.by_turns(d, peak, _size_kib(d, bought, peak))
    return _volume(d, telemetry=turns, **_throughput(bought))


EBS_SURPLUS_THROUGHPUT_ISSUES: Rows = {
    "rarely-much: A third of it is used at most.": _rarely(_mib),
    "on-xen: On Xen, little is used.": lambda d: _mib(d, d.demand(), _little(d), _ON_XEN, (carriers.XEN,)),
    "by-turns: Reads by day, writes by night.": _mib_by_turns,
    "restarted: Its instance was stopped and started.": _restarted(_mib),
    **carriers.interrupted(_mib, _little),
}
EBS_SURPLUS_THROUGHPUT_CONTROLS: Rows = {
    "idle: Attached, and idle, which is the stronger finding.": lambda d: _volume(d, **_throughput(d.pick(*_BOUGHT))),
    **_needed(_mib, "VolumeThroughputExceededCheck"),
    "stopped: On an instance that was stopped of late.": _stopped(lambda d: _throughput(d.pick(*_BOUGHT))),
    "included: The throughput that every gp3 includes.": lambda d: _mib(d, d.demand(), d.uniform(0.01, 1), (125,)),
}
EBS_SURPLUS_THROUGHPUT_UNKNOWN: Rows = carriers.without_data(_mib, _little)
EBS_SURPLUS_THROUGHPUT_ALSO = {"idle": ("ebs-idle",)}


# --- ebs-surplus-size -------------------------------------------------------------------------------------------------
_KEYS = ("VolumeId", "VolumeId", "VolumeId", "DiskId")


def _host(d: Draw, **more: Any) -> Instance:
    """Plant an instance whose agent also reports its root volume, by path only."""
    more.setdefault("days", d.uniform(60, 400))
    kind = d.pick(*FAST)
    agent: Any = "typed" if d.chance(0.3) else ""
    host = d.build.instance(d.name, kind, cpu=d.cpu(), tags=d.tags(), agent=agent, **more)
    used = Flow(d.shape("steady"), d.uniform(20, 60))
    d.build.change(d.build.volumes[-1], disk=Disk(path="/", device="nvme0n1p1", used=used, volume_key=""))
    return host


def _level(d: Draw, percent: float) -> Floats:
    """Return a nearly constant level. Logs and temporary files come and go."""
    return np.clip(percent * (1 + 0.02 * (d.wobble() - 1)), 0, 100)


def _nearly_empty(d: Draw) -> Floats:
    return _level(d, d.spread(1, 33))


def _filled(d: Draw) -> Floats:
    return _level(d, d.uniform(50, 95))


def _disk(d: Draw, percents: Floats, key: Any = None) -> Disk:
    """Return an agent's report. It names the volume in one of the ways that agents do, or as `key` says."""
    name: Any = d.pick(*_KEYS) if key is None else key
    return Disk(used=Flow(d.published(np.clip(percents, 0, 100))), volume_key=name)


def _with_disk(d: Draw, disk: Disk | None, on: Instance | None = None, **more: Any) -> Volume:
    """Plant a data volume with ordinary work."""
    more.setdefault("tags", d.tags())
    size = more.pop("size", None) or d.whole(60, 8_000)
    work = Activity(shape=d.published(d.working_days()), read=d.spread(0.5, 12) * MIB, write=d.spread(0.5, 12) * MIB)
    return d.build.volume(d.name, size, on=on or _host(d.named("host")), activity=work, disk=disk, **more)


def _used(d: Draw, percents: Floats, key: str | None = None) -> Volume:
    return _with_disk(d, _disk(d, percents, key))


def _one_copy(d: Draw) -> Volume:
    before, after = d.uniform(1, 15), d.uniform(16, 32)
    copied = MINUTES - int(d.uniform(10, 30) * DAY_MINUTES)
    return _used(d, np.where(np.arange(MINUTES) < copied, before, after) * (1 + 0.01 * (d.wobble() - 1)))


def _resized(d: Draw) -> Volume:
    host = _host(d.named("host"))
    stopped = d.ago(d.uniform(0.5, 30))
    started = stopped + int(d.uniform(3, 300)) * MINUTE
    spans = ((host.launched, stopped), (started, FOREVER))
    d.build.change(host, launched=started, running=spans)
    return _with_disk(d, _disk(d, _nearly_empty(d)), host, used=spans)


def _now_and_then(d: Draw, starts: list[int]) -> Volume:
    """Plant a nearly empty volume that is full while a job stores its files there."""
    return _used(d, d.runs(starts, d.uniform(10, 600), d.uniform(55, 98), d.uniform(1, 25)))


def _filling(d: Draw) -> Volume:
    now, left = d.uniform(12, 38), d.uniform(40, 150)
    grown = now + (np.arange(MINUTES) - MINUTES) / DAY_MINUTES * (100 - now) / left
    return _used(d, np.maximum(grown, 0.5))


def _which_one(d: Draw) -> Volume:
    """Plant two volumes that the agent does not name, one of them nearly full."""
    host = _host(d.named("host"))
    other = replace(_disk(d, _filled(d), ""), path="/other", device="nvme2n1")
    _with_disk(d.named("other"), other, host, device="/dev/sdg")
    return _with_disk(d, _disk(d, _nearly_empty(d), ""), host)


def _unnamed(d: Draw, disk: Disk | None) -> Volume:
    """Plant a volume that the agent does not name, with a nearly empty /home on the root volume."""
    host = _host(d.named("host"))
    home = Disk(path="/home", device="nvme0n1p3", used=Flow(d.published(_nearly_empty(d))), volume_key="")
    d.build.change(d.build.volumes[-1], disk=home)
    return _with_disk(d, disk, host)


def _root(d: Draw) -> Volume:
    """Plant a root volume that the agent names."""
    _host(d)
    disk = replace(_disk(d, _nearly_empty(d), "VolumeId"), path="/", device="nvme0n1p1")
    return d.build.change(d.build.volumes[-1], disk=disk, size_gib=d.whole(60, 1_000))


EBS_SURPLUS_SIZE_ISSUES: Rows = {
    "nearly-empty: A third full at most, always.": lambda d: _used(d, _nearly_empty(d)),
    "only-one: The only data volume; the agent names none.": lambda d: _used(d, _nearly_empty(d), ""),
    "temporary: Files come and go; a third full at most.": lambda d: _used(
        d, d.runs(d.daily(7 if d.chance(0.5) else 1), d.uniform(10, 300), d.uniform(15, 33), d.uniform(1, 12))
    ),
    "slow-growth: It takes years to fill.": lambda d: _used(
        d, d.uniform(3, 15) + (np.arange(MINUTES) - MINUTES) / DAY_MINUTES * (100 / d.uniform(4, 15) / 365)
    ),
    "one-copy: One copy weeks ago, and nothing since.": _one_copy,
    "restarted: Its instance was stopped and started.": _resized,
    "since-weeks: Attached weeks ago.": lambda d: _with_disk(
        d, _disk(d, _nearly_empty(d)), created=d.ago(d.uniform(17, 34))
    ),
}
EBS_SURPLUS_SIZE_CONTROLS: Rows = {
    "full: More than half full.": lambda d: _used(d, _filled(d)),
    "nightly: Filled every night.": lambda d: _now_and_then(d, d.daily()),
    "weekly: Filled once a week.": lambda d: _now_and_then(d, d.daily(7)),
    "monthly-by-date: Filled on one date of the month.": lambda d: _now_and_then(d, d.monthly()),
    "monthly-by-weekday: Filled on the first of a weekday.": lambda d: _now_and_then(d, d.first_weekday()),
    "filling: Full within five months.": _filling,
    "unseen: No agent looks into it.": lambda d: _with_disk(d, None),
    "which-one: Two data volumes; the agent names none.": _which_one,
    "pool: In a zfs pool, well filled; the agent names none.": lambda d: _unnamed(
        d, replace(_disk(d, _filled(d), ""), path="/tank", device="tank", fstype="zfs")
    ),
    "lvm: In a volume group, well filled; the agent names none.": lambda d: _unnamed(
        d, replace(_disk(d, _filled(d), ""), device="mapper/data-all")
    ),
    # A database keeps its pages on it without a file system.
    "raw: Without a file system; the agent reports the root disk.": lambda d: _unnamed(d, None),
    "root: A root volume, nearly empty.": _root,
    "new: Attached within two weeks.": lambda d: _with_disk(
        d, _disk(d, _nearly_empty(d)), created=d.ago(d.uniform(0.1, 13))
    ),
    "small: As small as a volume gets.": lambda d: _with_disk(d, _disk(d, _nearly_empty(d)), size=d.integer(1, 9)),
    "instance-stopped: On an instance that was stopped of late.": lambda d: _with_disk(
        d, on=_host(d.named("host"), days=120, **d.off()), disk=_disk(d, _nearly_empty(d))
    ),
    "kept: Tagged keep.": lambda d: _with_disk(d, _disk(d, _nearly_empty(d)), tags={"keep": "true"}),
}
EBS_SURPLUS_SIZE_UNKNOWN: Rows = {
    "holes: Days without the agent: inconclusive.": lambda d: _used(d, d.without_days(_nearly_empty(d)))
}
