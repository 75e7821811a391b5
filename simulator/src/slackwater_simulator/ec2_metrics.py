"""Compute the metrics of EC2 instances."""

import numpy as np

from . import mechanisms
from .ebs_metrics import ebs_track
from .resources import Flow, Instance, Volume
from .series import FIVE, MINUTE, MINUTELY, Signal, Track, added, alive

_EC2 = ("NetworkIn", "NetworkOut", "NetworkPacketsIn", "NetworkPacketsOut", "CPUUtilization")
_CREDITS = ("CPUCreditBalance", "CPUSurplusCreditBalance", "CPUSurplusCreditsCharged", "CPUCreditUsage")
_EBS_TOTALS = {f"EBS{what}": f"Volume{what}" for what in ("ReadBytes", "WriteBytes", "ReadOps", "WriteOps")}
_BALANCES = ("EBSIOBalance%", "EBSByteBalance%")
_INSTANCE_CHECKS = ("InstanceEBSIOPSExceededCheck", "InstanceEBSThroughputExceededCheck")
_BYTES, _OPERATIONS = ("VolumeReadBytes", "VolumeWriteBytes"), ("VolumeReadOps", "VolumeWriteOps")
_PACKET = 1_100
_NEARLY = 0.96
"""The share of a limit from which on a minute counts as being at the limit."""
_CREDITS_AN_HOUR = {"nano": 6, "micro": 12, "small": 24, "medium": 24, "large": 36, "xlarge": 96, "2xlarge": 192}
_CREDITS_AN_HOUR_T2 = {"nano": 3, "micro": 6, "small": 12, "medium": 24, "large": 36, "xlarge": 54, "2xlarge": 81.6}


def ec2_names(instance: Instance) -> tuple[str, ...]:
    """Return the metrics that have only the dimension InstanceId."""
    kind = instance.kind
    names: tuple[str, ...] = _EC2
    if kind.cpu_credits:
        names += _CREDITS
    if kind.nitro:
        names += (*_EBS_TOTALS, *_INSTANCE_CHECKS)
        if kind.ebs and kind.ebs.maximum_mbps > kind.ebs.baseline_mbps:
            names += _BALANCES
    return names


def _flow(instance: Instance, flow: Flow | None, scale: float, step: int, digits: int) -> Track:
    if flow is None:
        return alive(instance.intervals, MINUTELY if step == MINUTE else FIVE, 0.0)
    signal = flow.signal if flow.signal.step >= step else flow.signal.coarsened(step)
    return alive(instance.intervals, signal, flow.scale * scale, digits=digits)


def ec2_track(instance: Instance, metric: str, volumes: list[Volume]) -> Track | None:
    """Return a metric. Basic monitoring publishes five one-minute samples every five minutes, detailed one a minute."""
    if metric in instance.telemetry:
        return instance.telemetry[metric]
    if metric not in ec2_names(instance):
        return None
    if metric in (*_BALANCES, *_INSTANCE_CHECKS):
        return _ebs_limit(instance, metric, volumes)
    if metric in _CREDITS[:3]:
        family, _, size = instance.type.partition(".")
        return _cpu_credits(instance, metric, (_CREDITS_AN_HOUR_T2 if family == "t2" else _CREDITS_AN_HOUR)[size])
    step = MINUTE if instance.detailed else 300
    flows: dict[str, tuple[Flow | None, float, int, int]] = {
        "NetworkIn": (instance.net_in, 1.0, step, 0),
        "NetworkOut": (instance.net_out, 1.0, step, 0),
        "NetworkPacketsIn": (instance.net_in, 1 / _PACKET, 300, 0),
        "NetworkPacketsOut": (instance.net_out, 1 / _PACKET, 300, 0),
        "CPUUtilization": (instance.cpu, 1.0, step, 4),
        "CPUCreditUsage": (instance.cpu, instance.kind.vcpus / 100, 300, 4),
    }
    if metric in flows:
        return _flow(instance, *flows[metric])
    total = _carried(volumes, (_EBS_TOTALS[metric],))
    return _flow(instance, Flow(total) if total else None, 1.0, step, 0)


def _carried(volumes: list[Volume], metrics: tuple[str, ...]) -> Signal | None:
    """Return the volumes' combined work each minute. None means that they do no work."""
    tracks = [ebs_track(volume, metric) for volume in volumes for metric in metrics]
    parts = [(track[-1].signal, track[-1].scale) for track in tracks if track and track[-1].scale]
    return added(parts) if parts else None


def _ebs_limit(instance: Instance, metric: str, volumes: list[Volume]) -> Track:
    """Return the instance's EBS burst balance, or a check of the minutes at the instance's EBS limit."""
    by_bytes = metric in ("EBSByteBalance%", "InstanceEBSThroughputExceededCheck")
    balance, limit = metric in _BALANCES, instance.kind.ebs
    work = _carried(volumes, _BYTES if by_bytes else _OPERATIONS)
    quiet = alive(instance.intervals, FIVE if balance else MINUTELY, 100.0 if balance else 0.0)
    if work is None or limit is None:
        return quiet
    allowance = (
        mechanisms.instance_allowance(limit.baseline_mbps * 125_000, limit.maximum_mbps * 125_000)
        if by_bytes
        else mechanisms.instance_allowance(limit.baseline_iops, limit.maximum_iops)
    )
    wanted = work.stats.total / MINUTE
    # Most instances never get near the limit and need no simulation of credits.
    if wanted.max() <= allowance.baseline * _NEARLY or (balance and not allowance.most):
        return quiet
    credit = mechanisms.bursting(wanted, *allowance)
    if balance:
        left = Signal.sampled(work.origin, MINUTE, 100 * credit.balance / allowance.most)
        return alive(instance.intervals, left.coarsened(300), 1.0, digits=4)
    over = wanted >= credit.permitted * _NEARLY
    shown = Signal.sampled(work.origin, MINUTE, over.astype(np.float64))
    return alive(instance.intervals, shown, 1.0) if over.any() else quiet


def _cpu_credits(instance: Instance, metric: str, an_hour: float) -> Track:
    most = 24.0 * an_hour
    if not instance.unlimited or instance.cpu is None:
        return alive(instance.intervals, FIVE, most if metric == "CPUCreditBalance" else 0.0)
    signal = instance.cpu.signal if instance.cpu.signal.step == 300 else instance.cpu.signal.coarsened(300)
    used = signal.stats.total / np.maximum(signal.stats.samples, 1) * instance.cpu.scale / 100
    held = mechanisms.cpu_surplus(used, vcpus=instance.kind.vcpus, an_hour=an_hour, start=most, step=300)
    values = {"CPUCreditBalance": held.balance, "CPUSurplusCreditBalance": held.surplus}.get(metric, held.charged)
    return alive(instance.intervals, Signal.sampled(signal.origin, 300, values), 1.0, digits=4)
