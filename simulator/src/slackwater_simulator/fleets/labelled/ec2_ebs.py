"""Plant instances whose volumes want or pay for more than the instance carries, and instances that look like that.

Not drawn, because the truth is in doubt:
- `ebs-instance-bound`: settings up to a fifth above what the instance carries, and several volumes whose busiest
  minutes together come near it;
- `ec2-ebs-throttled`: 30 to 100 minutes a day at the limit, for which a batch can probably wait.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from slackwater_simulator.instance_types import TYPES, EbsLimit
from slackwater_simulator.mechanisms import bursting, instance_allowance, let_through
from slackwater_simulator.resources import KIB, MIB, Activity, Attachment, Instance, Telemetry, Volume, given
from slackwater_simulator.series import DAY, MINUTE, Floats
from slackwater_simulator.shapes import MINUTES

from . import carriers
from .draw import Draw
from .scenario import One, Rows

_T3 = ("t3.micro", "t3.small", "t3.medium", "t3.large", "t3a.xlarge", "t4g.small", "t4g.2xlarge")
_M5 = ("m5.large", "m5.xlarge", "m5.2xlarge", "c5.large", "r5.large", "c6g.large")
_M6 = ("m6i.large", "m6i.xlarge", "m7g.large", "r6i.large", "c6i.large", "m8g.large")
_XEN = ("m4.large", "m4.2xlarge", "c4.large", "c4.4xlarge", "i3.2xlarge")


def _bound_host(d: Draw, kinds: tuple[str, ...], **more: Any) -> Instance:
    return carriers.host(d, *kinds, name=d.name, **more)


def _published(host: Instance) -> EbsLimit:
    return host.kind.ebs or EbsLimit(0, 0, 0, 0)


def _most_mib(host: Instance) -> float:
    return _published(host).maximum_mbps * 1e6 / 8 / MIB


def _busy(d: Draw, mib_s: float, starts: list[int] | None = None, size_kib: int = 128) -> Activity:
    """Return work at this rate for minutes a day, within the half hour that an instance has its maximum."""
    values = d.runs(starts or d.daily(), d.uniform(4, 10), 1.0, 0.002) * np.minimum(d.wobble(), 1.0)
    return carriers.work(d, values, mib_s, size_kib)


def _volume(d: Draw, name: str, host: Instance, letter: str = "f", **more: Any) -> Volume:
    size_gib = int(d.spread(max(50, (more.get("iops") or 0) / 100), 4_000))
    device = f"/dev/sd{letter}"
    return d.build.volume(f"{d.name}-{name}", size_gib, on=host, device=device, tags=d.tags(), **more)


def _fast(d: Draw, name: str, host: Instance, bought: int, activity: Activity, letter: str = "f") -> None:
    _volume(d, name, host, letter, throughput=bought, iops=max(3_000, 4 * bought), activity=activity)


def _on(kinds: tuple[str, ...], volumes: Callable[[Draw, Instance], None]) -> One:
    """Return a function that plants instances of these types with these volumes."""

    def one(d: Draw) -> Instance:
        host = _bound_host(d, kinds)
        volumes(d, host)
        return host

    return one


def _throughput(d: Draw, host: Instance) -> None:
    """Add one volume with at least 1.25 times the throughput that the instance carries."""
    most = _most_mib(host)
    bought = int(min(2_000, max(most, 125) * d.spread(1.25, 4)))
    _fast(d, "data", host, bought, _busy(d, min(most * 0.9, bought * d.spread(0.05, 0.9))))


def _operations(d: Draw, host: Instance) -> None:
    """Add a gp3 or io2 volume with more IOPS than the instance carries. It uses many of them for minutes a day."""
    most = _published(host).maximum_iops
    bought = int(most * d.spread(1.25, 3))
    activity = _busy(d, most * d.uniform(0.1, 0.9) * 4 * KIB / MIB, size_kib=4)
    _volume(d, "data", host, iops=bought, type=d.pick("gp3", "io2"), activity=activity)


def _together(d: Draw, host: Instance) -> None:
    """Add two to four volumes. Each is within what the instance carries, but together they are far above it."""
    count, most = d.integer(2, 5), _most_mib(host)
    bought = int(min(0.95 * most, max(150, most * d.uniform(1.4, 2.0) / count)))
    for number, letter in enumerate("fghi"[:count]):
        _fast(d, f"{number}", host, bought, _busy(d, min(0.3 * bought, most * 0.25 / count)), letter)


def _included(d: Draw, host: Instance) -> None:
    for number, letter in enumerate("fghijklm"[: d.integer(2, 9)]):
        _volume(d, f"{number}", host, letter, activity=_busy(d, d.spread(1, 20)))


def _carried(d: Draw, host: Instance) -> None:
    bought = int(min(750, d.uniform(0.35, 0.9) * _most_mib(host)))
    _volume(d, "data", host, throughput=bought, activity=_busy(d, bought * d.uniform(0.7, 1.0)))
    for number, letter in enumerate("ghi"[: d.integer(0, 4)]):
        _volume(d, f"{number}", host, letter, activity=_busy(d, 5))


def _by_turns(d: Draw, host: Instance) -> None:
    bought = int(min(d.uniform(0.7, 0.95) * _most_mib(host), 750))
    if 2 * bought < 1.2 * _most_mib(host):
        bought = int(0.7 * _most_mib(host))
    morning = d.daily()
    for letter, starts in (("f", morning), ("g", [start - DAY // 2 for start in morning])):
        _fast(d, letter, host, bought, _busy(d, bought * d.uniform(0.85, 1.0), starts), letter)


def _disks(d: Draw, host: Instance) -> None:
    """Add large st1 volumes that burst far above what the instance carries."""
    for letter in "fg"[: d.integer(1, 3)]:
        size_gib, activity = d.whole(2_000, 8_000), _busy(d, d.spread(5, 60), size_kib=1_024)
        more: dict[str, Any] = {"device": f"/dev/sd{letter}", "type": "st1", "activity": activity}
        d.build.volume(f"{d.name}-{letter}", size_gib, on=host, **more)


def _unpublished(d: Draw, host: Instance) -> None:
    shape = d.published(np.minimum(0.8 * d.wobble(), 1.0))
    activity = Activity(shape=shape, read=230.0 * MIB, read_size=256 * KIB, write_size=256 * KIB)
    _volume(d, "data", host, throughput=250, activity=activity)


def _stopped(d: Draw) -> Instance:
    host = _bound_host(d, _T3, days=120, **d.off())
    _volume(d, "data", host, throughput=1_000, iops=4_000)
    return host


def _carried_by_two(d: Draw) -> Instance:
    """Plant an io2 volume of two instances (Multi-Attach), which carry it together."""
    host, other = (_bound_host(each, ("m5.large",), days=100) for each in (d, d.named("other")))
    activity = _busy(d, 16_000 * d.uniform(0.6, 0.9) * 4 * KIB / MIB, size_kib=4)
    volume = _volume(d, "data", host, type="io2", iops=24_000, multi_attach=True, activity=activity)
    both = (*volume.attachments, Attachment(instance_id=other.id, since=other.launched))
    d.build.change(volume, attachments=both, used=((host.launched, d.now + DAY),))
    return host


EBS_INSTANCE_BOUND_ISSUES: Rows = {
    "throughput: More MiB/s than the instance carries.": _on((*_T3, *_M5), _throughput),
    "cannot-carry: Three times what it carries, unused.": _on(
        _T3, lambda d, host: _fast(d, "data", host, 1_000, _busy(d, d.spread(5, 60)))
    ),
    "on-xen: More MiB/s than a Xen instance carries.": _on(_XEN, _throughput),
    "operations: More IOPS than the instance carries.": _on((*_T3, *_M5), _operations),
    "together: Several volumes at rest, too fast together.": _on((*_T3, *_M5, *_M6), _together),
}
EBS_INSTANCE_BOUND_CONTROLS: Rows = {
    # On instances that carry one or two of these volumes.
    "included: What every gp3 has, several times.": _on((*_T3, "m4.large", "c4.large"), _included),
    "carried: Above its baseline, below its maximum.": _on((*_M5, *_M6), _carried),
    "by-turns: Two volumes that take turns.": _on((*_M5, *_M6), _by_turns),
    "disks: Disks, which pay for their size.": _on(_T3, _disks),
    "stopped: Stopped for less than a month.": _stopped,
    "shared: A volume of two instances.": _carried_by_two,
}
EBS_INSTANCE_BOUND_UNKNOWN: Rows = {
    "unpublished: A type without published limits.": _on(("t2.small", "t2.medium", "t2.large"), _unpublished),
}


# --- ec2-ebs-throttled ------------------------------------------------------------------------------------------------
_BURSTING = (
    *("t3.micro", "t3.small", "t3.medium", "t3.large", "t3.xlarge", "t4g.small", "t4g.large", "t3a.medium", "m5.large"),
    *("m5.xlarge", "c5.large", "m6i.large", "m6i.xlarge", "c6i.large", "m7g.large", "r6i.large", "m8g.large"),
)
_FLAT = ("m5.4xlarge", "c5.4xlarge", "r5.4xlarge")
_A_VOLUME_MIB, _A_VOLUME_IOPS = 100.0, 2_400.0
"""Below what every gp3 includes."""
_CHECKS = ("InstanceEBSThroughputExceededCheck", "InstanceEBSIOPSExceededCheck")


@dataclass(frozen=True, slots=True)
class _Limit:
    """The limits of a type in bytes a second, and the operation size in bytes."""

    baseline: float
    most: float
    size: float

    def lasts(self, rate: float) -> float:
        """Return the minutes of work at this rate after which the burst is used up."""
        return 30 * (self.most - self.baseline) / (rate - self.baseline)

    def batch(self, d: Draw, minutes: float, rate: float) -> Floats:
        """Return a daily job at this rate, with almost nothing at other times."""
        return d.runs(d.daily(), minutes, rate, self.baseline * 0.02)

    def between(self, share: float) -> float:
        """Return a rate above the baseline by this share of the burst."""
        return self.baseline + share * (self.most - self.baseline)


def _bytes(kind: str) -> _Limit:
    """Return the limit of throughput with large operations."""
    ebs = TYPES[kind].ebs or EbsLimit(0, 0, 0, 0)
    return _Limit(ebs.baseline_mbps * 125_000, ebs.maximum_mbps * 125_000, 256 * KIB)


def _limit(d: Draw, kind: str) -> _Limit:
    """Return the limit of throughput with large operations, or of IOPS with small ones. The other limit is far away."""
    if d.chance(0.6):
        return _bytes(kind)
    ebs = TYPES[kind].ebs or EbsLimit(0, 0, 0, 0)
    size = min(ebs.baseline_mbps / ebs.baseline_iops, ebs.maximum_mbps / ebs.maximum_iops) * 125_000 / 3
    return _Limit(ebs.baseline_iops * size, ebs.maximum_iops * size, size)


def _asks(kinds: tuple[str, ...], wanted: Callable[[Draw, _Limit], Floats]) -> One:
    """Return a function that plants instances of these types whose volumes want these bytes a second in each minute."""

    def one(d: Draw) -> Instance:
        kind = d.pick(*kinds)
        limit = _limit(d, kind)
        return _working(d, kind, limit, wanted(d, limit))

    return one


def _working(d: Draw, kind: str, limit: _Limit, wanted: Floats, **more: Any) -> Instance:
    """Plant an instance whose volumes together want these bytes a second and get what the instance allows."""
    host, top = carriers.host(d, kind, name=d.name, **more), float(wanted.max())
    share, (asked, samples, *_) = d.uniform(0, 1), d.published(wanted / top).stats
    # Apply limits after `published` removes points: the balances' metrics count missing points as no work too.
    carried = let_through(asked * top, limit.baseline, limit.most) / top
    shape = d.signal(np.where(samples > 0, carried, np.nan))
    count = int(np.ceil(max(top / MIB / _A_VOLUME_MIB, top / limit.size / _A_VOLUME_IOPS)))
    read, write, size = share * top / count, (1 - share) * top / count, limit.size
    activity = Activity(shape=shape, read=read, write=write, read_size=size, write_size=size)
    for number in range(count):
        gib, device = d.whole(50, 2_000), f"/dev/sd{chr(ord('f') + number)}"
        d.build.volume(f"{d.name}-{number}", gib, on=host, device=device, activity=activity, tags=d.tags())
    return host


def _one_volume(d: Draw, host: Instance, busy: Floats, mib_s: float, size: int) -> Instance:
    """Add one volume to an instance. It reads at this rate while it is busy."""
    shape = d.published(busy)
    activity = Activity(shape=shape, read=mib_s * MIB, read_size=size, write_size=size)
    d.build.volume(f"{d.name}-data", d.whole(50, 2_000), on=host, activity=activity, tags=d.tags())
    return host


def _long_batch(d: Draw, every: int = 0, **more: Any) -> Instance:
    """Plant a batch that continues for two to six hours after the burst is used up."""
    kind = d.pick(*_BURSTING)
    limit = _limit(d, kind)
    rate = limit.between(d.spread(0.05, 0.33))
    minutes = limit.lasts(rate) + d.uniform(120, 360)
    wanted = d.runs(d.daily(every or d.integer(1, 3)), minutes, rate, limit.baseline * 0.02) * d.around(0.03)
    return _working(d, kind, limit, np.maximum(wanted, 0), **more)


def _in_time(d: Draw, limit: _Limit) -> Floats:
    """Return a batch that takes a tenth to eight tenths of the burst, and leaves a day to refill it."""
    rate = limit.between(d.spread(0.2, 1.0))
    return limit.batch(d, min(max(1, int(limit.lasts(rate) * d.uniform(0.1, 0.8))), 180), rate)


def _minutes(d: Draw, limit: _Limit) -> Floats:
    starts = [start for _ in range(d.integer(1, 6)) for start in d.daily()]
    return d.runs(starts, 1, limit.most, limit.baseline * 0.05)


def _below(d: Draw, limit: _Limit) -> Floats:
    rhythm = d.working_days() if d.chance(0.5) else np.minimum(0.7 * d.wobble(), 1.0)
    return rhythm * limit.baseline * d.uniform(0.1, 0.85)


def _volume_bound(d: Draw) -> Instance:
    """Plant an instance whose one volume is at the 125 MiB/s that every gp3 has. The instance carries more."""
    host = carriers.host(d, d.pick("m5.2xlarge", "m6i.2xlarge", "c5.4xlarge", "m7g.2xlarge"), name=d.name)
    minutes = d.uniform(150, 700)
    return _one_volume(d, host, d.runs(d.daily(), minutes, 1.0, 0.01), 125.0, 256 * KIB)


def _resized(d: Draw) -> Instance:
    small, large = d.pick("m5.large", "c5.large", "m6i.large", "t3.large"), "m6i.8xlarge"
    limit = _bytes(small)
    rate = limit.between(d.uniform(0.1, 0.33))
    wanted = d.runs(d.daily(), limit.lasts(rate) + d.uniform(120, 300), rate, limit.baseline * 0.02)
    started = d.ago(d.uniform(0.5, 5))
    credit = bursting(wanted, *instance_allowance(limit.baseline, limit.most))
    old = {
        _CHECKS[0]: (wanted >= credit.permitted * 0.96).astype(np.float64),
        "EBSByteBalance%": 100 * credit.balance / ((limit.most - limit.baseline) * 1_800),
    }
    telemetry = _until(d, old, started, {_CHECKS[0]: 0.0})
    done = np.where(np.arange(MINUTES) < (started - d.origin) // MINUTE, credit.done / MINUTE, wanted)
    return _working(d, large, _bytes(large), done, telemetry=telemetry, **d.started(started))


def _until(d: Draw, old: Mapping[str, Floats], change: int, then: Mapping[str, float]) -> Telemetry:
    """Return metrics of an instance's former type, then constant ones of its new type if it publishes them."""
    ones = d.signal(np.ones(MINUTES))
    before = {name: given(d.signal(values), until=change - 600) for name, values in old.items()}
    after = {name: given(ones, scale=value, since=change) for name, value in then.items()}
    return {name: (*before[name], *after.get(name, ())) for name in before}


def _xen(d: Draw) -> Instance:
    """Plant an instance that is at its limit for hours, which CloudWatch does not show for Xen."""
    host = carriers.host(d, d.pick("m4.large", "c4.large", "m4.xlarge"), name=d.name)
    return _one_volume(d, host, d.runs(d.daily(), d.uniform(150, 600), 1.0, 0.01), 100.0, 128 * KIB)


def _holes(d: Draw) -> Instance:
    """Plant a quiet instance of which CloudWatch has two to five of seven days at most."""
    kind = d.pick(*_BURSTING)
    values = np.zeros(MINUTES)
    for day in d.random.choice(np.arange(1, 7), d.integer(2, 6), replace=False).tolist():
        values[d.build.shapes.minute(day) : d.build.shapes.minute(day) + DAY // MINUTE] = np.nan
    checks = {check: given(d.signal(values), digits=0) for check in _CHECKS}
    limit = _limit(d, kind)
    return _working(d, kind, limit, limit.baseline * 0.3 * np.minimum(d.wobble(), 2), telemetry=checks)


EC2_EBS_THROTTLED_ISSUES: Rows = {
    "long-batch: A batch that outlasts the burst.": _long_batch,
    "weekly: A batch a week that outlasts the burst.": lambda d: _long_batch(d, 7),
    # The load is above the baseline for most of the day. `working_days` peaks at two thirds.
    "working-days: Its users want too much all day.": _asks(
        _BURSTING,
        lambda d, limit: (
            limit.baseline * 0.1 + np.minimum(d.working_days() * 1.5, 1.0) * limit.between(d.uniform(0.35, 0.6))
        ),
    ),
    "no-burst: A type without burst, at its limit for hours.": _asks(
        _FLAT, lambda d, limit: limit.batch(d, d.uniform(150, 600), limit.most * d.uniform(1.05, 1.3))
    ),
    "restarted: Throttled, restarted, throttled.": lambda d: _long_batch(d, 1, **d.started(d.ago(d.uniform(2, 6)))),
}
EC2_EBS_THROTTLED_CONTROLS: Rows = {
    "in-time: A batch that the burst carries.": _asks(_BURSTING, _in_time),
    # It takes almost the whole burst every night. The balance is low for an hour then, but nothing waits.
    "half-hour: A batch that takes the whole half hour.": _asks(
        ("t3.medium", "t3.large", "m5.large", "c5.large", "t4g.large"),
        lambda d, limit: limit.batch(d, 28, limit.most * 0.995),
    ),
    "below: Less than the baseline.": _asks((*_BURSTING, *_FLAT), _below),
    "volume-bound: Its volume is the limit.": _volume_bound,
    "minutes: Minutes at the limit, here and there.": _asks(_FLAT, _minutes),
    "resized: Throttled, until it was made larger.": _resized,
}
EC2_EBS_THROTTLED_UNKNOWN: Rows = {
    "xen: On Xen, where no metric shows it.": _xen,
    "holes: Days without metrics.": _holes,
}
