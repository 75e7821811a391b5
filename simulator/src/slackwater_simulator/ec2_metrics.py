"""Instances' metrics."""

from __future__ import annotations

from .ebs_metrics import ebs_track
from .published import FIVE, MINUTELY, alive
from .resources import Flow, Instance, Volume
from .series import MINUTE, Track, added

_EC2 = ("NetworkIn", "NetworkOut", "NetworkPacketsIn", "NetworkPacketsOut", "CPUUtilization")
_CREDITS = ("CPUCreditBalance", "CPUSurplusCreditBalance", "CPUSurplusCreditsCharged", "CPUCreditUsage")
_EBS_TOTALS = {
    "EBSReadBytes": "VolumeReadBytes",
    "EBSWriteBytes": "VolumeWriteBytes",
    "EBSReadOps": "VolumeReadOps",
    "EBSWriteOps": "VolumeWriteOps",
}
_BALANCES = ("EBSIOBalance%", "EBSByteBalance%")
_PACKET = 1_100
_CREDITS_AN_HOUR = {"nano": 6, "micro": 12, "small": 24, "medium": 24, "large": 36, "xlarge": 96, "2xlarge": 192}
_INSTANCE_CHECKS = ("InstanceEBSIOPSExceededCheck", "InstanceEBSThroughputExceededCheck")


def ec2_names(instance: Instance) -> tuple[str, ...]:
    """Metrics with the dimension InstanceId."""
    kind = instance.kind
    names: tuple[str, ...] = _EC2
    if kind.cpu_credits:
        names += _CREDITS
    if kind.nitro:
        names += (*_EBS_TOTALS, *_INSTANCE_CHECKS)
        if kind.ebs and kind.ebs.maximum_mbps > kind.ebs.baseline_mbps:
            names += _BALANCES
    return names


def _flow(instance: Instance, flow: Flow | None, *, scale: float = 1.0, step: int, digits: int = 0) -> Track:
    if flow is None:
        return alive(instance.intervals, MINUTELY if step == MINUTE else FIVE, 0.0)
    signal = flow.signal if flow.signal.step >= step else flow.signal.coarsened(step)
    return alive(instance.intervals, signal, flow.scale * scale, digits=digits)


def ec2_track(instance: Instance, metric: str, volumes: list[Volume]) -> Track | None:
    """Basic monitoring publishes five one-minute samples every five minutes; detailed one each minute."""
    if metric in instance.telemetry:
        return instance.telemetry[metric]
    if metric not in ec2_names(instance):
        return None
    step = MINUTE if instance.detailed else 300
    size = instance.type.partition(".")[2]
    match metric:
        case "NetworkIn":
            return _flow(instance, instance.net_in, step=step)
        case "NetworkOut":
            return _flow(instance, instance.net_out, step=step)
        case "NetworkPacketsIn":
            return _flow(instance, instance.net_in, scale=1 / _PACKET, step=300)
        case "NetworkPacketsOut":
            return _flow(instance, instance.net_out, scale=1 / _PACKET, step=300)
        case "CPUUtilization":
            return _flow(instance, instance.cpu, step=step, digits=4)
        case "CPUCreditBalance":
            return alive(instance.intervals, FIVE, 24.0 * _CREDITS_AN_HOUR[size])
        case "CPUSurplusCreditBalance" | "CPUSurplusCreditsCharged":
            return alive(instance.intervals, FIVE, 0.0)
        case "CPUCreditUsage":
            return _flow(instance, instance.cpu, scale=instance.kind.vcpus / 100, step=300, digits=4)
        case "EBSIOBalance%" | "EBSByteBalance%":
            return alive(instance.intervals, FIVE, 100.0)
        case "InstanceEBSIOPSExceededCheck" | "InstanceEBSThroughputExceededCheck":
            return alive(instance.intervals, MINUTELY, 0.0)
    tracks = [ebs_track(volume, _EBS_TOTALS[metric]) for volume in volumes]
    parts = [(track[-1].signal, track[-1].scale) for track in tracks if track and track[-1].scale]
    if not parts:
        return alive(instance.intervals, FIVE if step == 300 else MINUTELY, 0.0)
    total = added(parts)
    return alive(instance.intervals, total if step == MINUTE else total.coarsened(step), 1.0)
