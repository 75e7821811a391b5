"""Compute the metrics of EBS volumes."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from . import mechanisms
from .resources import MIB, Activity, Volume
from .series import MINUTE, MINUTELY, Floats, Signal, Track, alive

_EBS = (
    *("VolumeReadBytes", "VolumeWriteBytes", "VolumeReadOps", "VolumeWriteOps", "VolumeIdleTime"),
    *("VolumeQueueLength", "VolumeTotalReadTime", "VolumeTotalWriteTime"),
)
CHECKS = ("VolumeIOPSExceededCheck", "VolumeThroughputExceededCheck")
_SECONDS_AN_OPERATION = {"standard": 0.005}
"""Seconds an operation takes. A magnetic volume does at most 200 a second; the others answer within 1 ms."""
_CREDIT_UNITS = {"gp2": "operations", "st1": "bytes", "sc1": "bytes"}


def ebs_names(volume: Volume) -> tuple[str, ...]:
    """Return metrics with only the dimension VolumeId. Without bursts, Nitro has no balance and Xen has 100 %."""
    bursts = mechanisms.volume_allowance(volume.type, volume.size_gib) is not None
    balanced = bursts or (volume.type in _CREDIT_UNITS and not volume.nitro)
    return (*_EBS, "BurstBalance") if balanced else _EBS


def ebs_track(volume: Volume, metric: str) -> Track | None:
    """Return a metric, published only while attached. A sample is a minute on Nitro, and an operation on Xen."""
    if metric in volume.telemetry:
        return volume.telemetry[metric]
    activity, spans = volume.activity, volume.intervals
    if activity is None:
        idle = metric == "VolumeIdleTime"
        known = metric in ebs_names(volume)
        return alive(spans, MINUTELY, 60.0 if idle else 100.0 if metric == "BurstBalance" else 0.0) if known else None
    if metric == "BurstBalance":
        return _balance(volume, activity) if metric in ebs_names(volume) else None
    reads, writes = activity.read / activity.read_size, activity.write / activity.write_size
    busy, takes_s = reads + writes, _SECONDS_AN_OPERATION.get(volume.type, 0.0008)
    sizes = (None, None) if volume.nitro else (activity.read_size, activity.write_size)
    published: dict[str, tuple[float, dict[str, Any]]] = {
        "VolumeReadBytes": (activity.read * 60, {"op_size": sizes[0]}),
        "VolumeWriteBytes": (activity.write * 60, {"op_size": sizes[1]}),
        "VolumeReadOps": (reads * 60, {}),
        "VolumeWriteOps": (writes * 60, {}),
        "VolumeIdleTime": (-60 * min(1.0, busy * takes_s), {"offset": 60.0, "digits": 3}),
        "VolumeQueueLength": (busy * takes_s, {"digits": 4}),
        "VolumeTotalReadTime": (reads * 60 * takes_s, {"digits": 4}),
        "VolumeTotalWriteTime": (writes * 60 * takes_s, {"digits": 4}),
    }
    if metric not in published:
        return None
    scale, more = published[metric]
    return alive(spans, _delivered(activity, volume.type, volume.size_gib).shape, scale, **more)


def _balance(volume: Volume, activity: Activity) -> Track:
    allowance = mechanisms.volume_allowance(volume.type, volume.size_gib)
    credit = _credits(activity, volume.type, volume.size_gib)
    if allowance is None or credit is None:
        return alive(volume.intervals, MINUTELY, 100.0)
    percent = 100 * credit.balance / allowance.most
    return alive(volume.intervals, Signal.sampled(activity.shape.origin, MINUTE, percent), 1.0, digits=4)


def _demand(activity: Activity, unit: str) -> Floats:
    """Return the requested operations or bytes a second."""
    operations = activity.read / activity.read_size + activity.write / activity.write_size
    return activity.shape.stats.total * (operations if unit == "operations" else activity.read + activity.write)


@lru_cache(maxsize=16)
def _credits(activity: Activity, type_: str, size_gib: int) -> mechanisms.Credits | None:
    allowance = mechanisms.volume_allowance(type_, size_gib)
    return mechanisms.bursting(_demand(activity, _CREDIT_UNITS[type_]), *allowance) if allowance else None


@lru_cache(maxsize=128)
def _delivered(activity: Activity, type_: str, size_gib: int) -> Activity:
    """Return the work that the burst credits allow. It is all of the work unless they run out."""
    credit = _credits(activity, type_, size_gib)
    if credit is None:
        return activity
    wanted, stats = _demand(activity, _CREDIT_UNITS[type_]) * MINUTE, activity.shape.stats
    if np.allclose(credit.done, wanted):
        return activity
    share = np.divide(credit.done, wanted, out=np.zeros_like(wanted), where=wanted > 0)
    values = np.where(stats.samples > 0, stats.total * share, np.nan)
    return replace(activity, shape=Signal.sampled(activity.shape.origin, MINUTE, values))


def disk_track(volume: Volume, running: tuple[tuple[int, int], ...]) -> Track | None:
    """Return how full the volume's file system is, while its instance runs and so does the agent."""
    if volume.disk is None:
        return None
    both = tuple((max(a, c), min(b, d)) for a, b in volume.intervals for c, d in running)
    return alive(both, volume.disk.used.signal, volume.disk.used.scale, digits=4)


def ebs_check(volume: Volume, metric: str) -> Track | None:
    """Return a check: 1 in the minutes in which demand reached the provisioned limit or what credits allow."""
    if metric in volume.telemetry:
        return volume.telemetry[metric]
    if metric not in CHECKS or volume.type == "standard" or volume.multi_attach or not volume.nitro:
        return None
    activity = volume.activity
    if activity is None:
        return alive(volume.intervals, MINUTELY, 0.0)
    unit = "operations" if metric == "VolumeIOPSExceededCheck" else "bytes"
    credit = _credits(activity, volume.type, volume.size_gib)
    limit: Floats | float
    if credit is not None and unit == _CREDIT_UNITS[volume.type]:
        limit = credit.permitted
    elif unit == "operations":
        limit = float(volume.iops_limit or 500)
    else:
        limit = (volume.throughput_limit or 250) * float(MIB)
    over = (_demand(activity, unit) >= limit * 0.96).astype(np.float64)
    if not over.any():
        return alive(volume.intervals, MINUTELY, 0.0)
    return alive(volume.intervals, Signal.sampled(activity.shape.origin, MINUTE, over), 1.0)
