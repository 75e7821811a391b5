"""EC2 network: the traffic of instances that burst, and the options if their baseline is too low.

Most instances stay far below their baseline. So five-minute points are read only if the hours do not decide.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from math import isnan
from typing import Final, NamedTuple

from slackwater.model.detector import Seen
from slackwater.model.estimates import Alternative
from slackwater.model.metrics import Metric, Series
from slackwater.model.resources import Instance, InstanceType
from slackwater.model.units import DAY_S, DAYS_PER_MONTH, FIVE_MINUTES_S, GIB, HOUR_S, bytes_per_s_of_gbps
from slackwater.model.verdicts import Advice, Evidence, Fine, Remedy, Unknown
from slackwater.performance import network
from slackwater.rules import ec2
from slackwater.rules.series import baseline_and_burst


class Direction(NamedTuple):
    """Inbound or outbound traffic. Each has its own allowance and its own credits."""

    word: str  # for people and for fingerprints, so it must never change
    traffic: Metric
    shaped: str  # the CloudWatch agent's name of the ENA counter of delayed or dropped packets


IN: Final = Direction("in", Metric("AWS/EC2", "NetworkIn", "Sum", "bytes"), "ethtool_bw_in_allowance_exceeded")
OUT: Final = Direction("out", Metric("AWS/EC2", "NetworkOut", "Sum", "bytes"), "ethtool_bw_out_allowance_exceeded")
DIRECTIONS: Final = (IN, OUT)
QUARTER_HOUR_S: Final = 900


class Traffic(NamedTuple):
    """The traffic of an instance whose type bursts, since its last start."""

    instance_type: InstanceType
    baseline_gbps: float
    near: tuple[Direction, ...]  # came near the baseline in an hour
    calm: bool  # no hour was at the baseline, so quarter hours may decide without five-minute points
    read: Callable[[int, Iterable[Direction]], dict[Direction, Series]]  # returns the bytes of each period


def traffic(instance: Instance, seen: Seen, days: int, screen_percent: float) -> Traffic | Fine | Unknown:
    """Return the traffic of an instance whose type bursts, or the verdict if the instance is not judged.

    A direction is near its baseline if one of its hours has `screen_percent` of the bytes of an hour at the baseline.
    """
    kind = seen.fleet.get(InstanceType, instance.instance_type)
    if instance.state != "running":
        return Fine(f"it is {instance.state}")
    if kind is None or kind.network_baseline_gbps is None:
        return Unknown(f"EC2 publishes no bandwidth for {instance.instance_type}")
    if not network.can_burst(kind):
        return Fine(f"{kind.id} has no burst: its baseline is its peak")

    def read(s: int, ways: Iterable[Direction]) -> dict[Direction, Series]:
        metrics = (way.traffic for way in ways)
        return dict(zip(ways, ec2.read_since_start(instance, seen, s, days, *metrics), strict=True))

    by_hour = read(HOUR_S, DIRECTIONS)
    if not any(series.present for series in by_hour.values()):
        return Unknown("NetworkIn and NetworkOut have no data since it was started")
    full = bytes_per_s_of_gbps(kind.network_baseline_gbps) * HOUR_S
    most = {way: max(series.present, default=0) for way, series in by_hour.items()}
    near = tuple(way for way in DIRECTIONS if most[way] >= full * screen_percent / 100)
    calm = max(most.values()) < full * network.PLATEAU_RATIOS[0]
    return Traffic(kind, kind.network_baseline_gbps, near, calm, read)


def days_above(sums: Series, baseline_gbps: float, days: int, *, if_missing: int = 12) -> int:
    """Return the most days that may have a half hour above the baseline, at whatever time a day begins.

    `sums` are bytes per hour or quarter hour. Six points above the baseline, with pauses of at most two, span at most
    16 points, and a third of those in the periods between. `if_missing` is for a period without a point. The period of
    a start within these days counts as full. After the last hour is one more day, after a quarter hour two points.
    """
    above = network.PLATEAU_RATIOS[1] * bytes_per_s_of_gbps(baseline_gbps) * FIVE_MINUTES_S
    size, a_day = sums.period_s // FIVE_MINUTES_S, DAY_S // sums.period_s
    inside = (if_missing if isnan(value) else min(size, int(value / above + 1e-6)) for value in sums.values)
    most, width = [size * (len(sums) < a_day * days), *inside, 0 if size == 12 else 2], 2 + 14 // size
    continues = [points >= size // 3 for points in most]
    held = {run.start + after for run in network.touched(most, continues, width, 6) for after in range(width)}
    firsts = {i % a_day for i in held}  # the number only changes where a day begins at one of them
    return (size == 12) + max((len({(i - first) // a_day for i in held}) for first in firsts), default=0)


def chart(label: str, mb_s: float, sums: Series, span: tuple[float, float], kind: InstanceType) -> Iterator[Evidence]:
    """Yield a chart from an hour before a span (epoch seconds) to an hour after it, at most a day, and the baseline."""
    start_s, end_s = span[0] - HOUR_S, span[1] + HOUR_S
    part = sums.between(start_s, min(end_s, start_s + DAY_S))
    levels = baseline_and_burst(network.baseline(kind) / 1e6, network.peak(kind) / 1e6)
    yield Evidence(label, round(mb_s, 2), "MB/s", part.over(part.period_s * 1e6), lines=levels)
    yield Evidence(f"Baseline of {kind.id}", round(network.baseline(kind) / 1e6, 2), "MB/s")


def may_differ(instance: Instance, kind: InstanceType) -> bool:
    """Return whether the instance's baseline may differ from the one that EC2 publishes."""
    return kind.network_cards > 1 or instance.bandwidth_weighting != "default"


def options(instance: Instance, traffic: Series, needed_bytes_per_s: float, when: str) -> Remedy:
    """Return the options: types that carry a rate without credits, and endpoints that bypass the instance.

    `traffic` is scaled to a month to price it. `when` says when to change the type ("If the slow hours hurt").
    """
    monthly_gib = sum(traffic.present) / GIB / (len(traffic) * traffic.period_s / DAY_S) * DAYS_PER_MONTH
    return Remedy(
        kind="network-transfer",
        inputs={
            "instance_type": instance.instance_type,
            "needed_rate": f"{max(1.0, needed_bytes_per_s):.0f}B/s",  # a rate of 0 means no need
            "bytes": f"{monthly_gib:.3f}GiB",
        },
        advise=partial(_advice, instance, monthly_gib, when),
    )


def _advice(instance: Instance, monthly_gib: float, when: str, way: Alternative) -> Advice:
    if way.id == "interface-endpoint":
        summary = (
            "If the traffic goes to an AWS service, create an interface endpoint in one zone, so that it bypasses the"
            f" instance (priced with {monthly_gib:,.0f} GiB a month, as now)."
        )
        risk = "AWS bills the endpoint per hour, zone and GiB. Clients must resolve its name."
    elif way.id == "gateway-endpoint":
        to_s3 = "If it goes to S3 from clients inside the VPC, create a gateway endpoint."
        summary = f"{to_s3} It is free, and they need no proxy."
        risk = "It does not help on-premises clients: only clients inside its VPC reach a gateway endpoint."
    else:
        return ec2.change_type(instance, way.id, f"{when}: {way.summary}.", way.changes)
    return Advice(action=way.id, summary=summary, changes=way.changes, risk=risk, reversible=True)
