"""What an instance that bursts moves through its network, each way, and the ways out where its baseline is too little.

Hours are asked first: most instances never come near their baseline. Only the directions that do are asked by five minutes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from slackwater.model.detector import Seen
from slackwater.model.estimates import Alternative
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.resources import Instance, InstanceType
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, GIB, HOUR_S, bytes_per_s_of_gbps
from slackwater.model.verdicts import Advice, Ask, Evidence, Fine, Remedy, Unknown
from slackwater.performance import network
from slackwater.rules.ec2 import change_type
from slackwater.rules.series import baseline_and_burst

DAYS_A_MONTH: Final = 365 / 12


@dataclass(frozen=True, slots=True)
class Direction:
    """In and out have their own allowance and their own credits."""

    word: str
    traffic: Metric
    shaped: str
    """The ENA counter of what was held back, as the CloudWatch agent names it."""


IN: Final = Direction("in", Metric("AWS/EC2", "NetworkIn", "Sum", "bytes"), "ethtool_bw_in_allowance_exceeded")
OUT: Final = Direction("out", Metric("AWS/EC2", "NetworkOut", "Sum", "bytes"), "ethtool_bw_out_allowance_exceeded")


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes since the instance was last started: before that it may have been of another type."""

    instance_type: InstanceType
    baseline_gbps: float
    by_hour: Mapping[Direction, Series]
    by_five_minutes: Mapping[Direction, Series]
    """Only of the directions that were worth a look."""


def need(instance: Instance, metric: Metric, period_s: int, days: int) -> Need:
    """A metric of an instance."""
    return metric.need(("InstanceId", instance.id), period_s=period_s, days=days)


def traffic(instance: Instance, seen: Seen, *, days: int, screen_percent: float) -> Traffic | Fine | Unknown | Ask:
    """What it moved, where its type bursts. `screen_percent` of an hour at baseline makes a direction worth a look."""
    instance_type = seen.fleet.get(InstanceType, instance.instance_type)
    if instance.state != "running":
        return Fine(f"it is {instance.state}")
    if instance_type is None or instance_type.network_baseline_gbps is None:
        return Unknown(f"EC2 publishes no bandwidth for {instance.instance_type}")
    if not network.can_burst(instance_type):
        return Fine(f"{instance_type.id} has no burst: its baseline is its peak")
    baseline, started = instance_type.network_baseline_gbps, instance.launched_at.timestamp()

    by_hour = {way: need(instance, way.traffic, HOUR_S, days) for way in (IN, OUT)}
    if lacking := seen.lacking(by_hour.values()):
        return Ask(lacking)
    hourly = {way: seen[one].since(started) for way, one in by_hour.items()}
    if not any(series.present for series in hourly.values()):
        return Unknown("NetworkIn and NetworkOut have no point since it was started")
    worth_a_look = bytes_per_s_of_gbps(baseline) * HOUR_S * screen_percent / 100
    busy = [way for way, series in hourly.items() if max(series.present, default=0) >= worth_a_look]

    by_five_minutes = {way: need(instance, way.traffic, FIVE_MINUTES_S, days) for way in busy}
    if lacking := seen.lacking(by_five_minutes.values()):
        return Ask(lacking)
    closer = {way: seen[one].since(started) for way, one in by_five_minutes.items()}
    return Traffic(instance_type, baseline, hourly, closer)


def picture(label: str, value: float, traffic: Series, start_s: float, end_s: float, instance_type: InstanceType) -> Evidence:
    """MB/s by five minutes from an hour before to an hour after, a day at most; `value` is what to say of it, in MB/s."""
    start_s -= HOUR_S
    part = traffic.between(start_s, min(end_s + HOUR_S, start_s + DAY_S))
    rates = part.over(part.period_s * 1e6)
    levels = baseline_and_burst(network.baseline(instance_type) / 1e6, network.peak(instance_type) / 1e6)
    return Evidence(label=label, value=value, unit="MB/s", series=rates, lines=levels)


def baseline_of(instance_type: InstanceType) -> Evidence:
    """The baseline in MB/s."""
    mb_s = bytes_per_s_of_gbps(instance_type.network_baseline_gbps or 0) / 1e6
    return Evidence(label=f"Baseline of {instance_type.id}", value=round(mb_s, 2), unit="MB/s")


def may_differ(instance: Instance, instance_type: InstanceType) -> bool:
    """Whether the baseline that EC2 publishes may not be this instance's."""
    return instance_type.network_cards > 1 or instance.bandwidth_weighting != "default"


def ways_out(instance: Instance, traffic: Series, needed_bytes_per_s: float, when: str) -> Remedy:
    """Types that carry a rate without credits, and endpoints past the instance; `when` says when to change the type."""
    monthly_gib = sum(traffic.present) / GIB / (len(traffic) * traffic.period_s / DAY_S) * DAYS_A_MONTH
    return Remedy(
        kind="network-transfer",
        inputs={
            "instance_type": instance.instance_type,
            "needed_rate": f"{needed_bytes_per_s:.0f}B/s",
            "bytes": f"{monthly_gib:.3f}GiB",
        },
        advise=partial(_advice, instance, monthly_gib, when),
    )


def _advice(instance: Instance, monthly_gib: float, when: str, way: Alternative) -> Advice:
    match way.id:
        case "interface-endpoint":
            return Advice(
                action=way.id,
                summary=(
                    "If the traffic goes to an AWS service: an interface endpoint in one zone takes it past the instance"
                    f" (priced with {monthly_gib:,.0f} GiB a month, as now)."
                ),
                changes=way.changes,
                risk="Billed by the hour, zone and GiB; clients must resolve the endpoint's name.",
                reversible=True,
            )
        case "gateway-endpoint":
            return Advice(
                action=way.id,
                summary="If it goes to S3 from clients inside the VPC: a gateway endpoint is free, and they need no proxy.",
                changes=way.changes,
                risk="Of no use to on-premises clients: a gateway endpoint is reached only from inside its VPC.",
                reversible=True,
            )
        case instance_type:
            return change_type(instance, instance_type, f"{when}: {way.summary}.", way.changes)
