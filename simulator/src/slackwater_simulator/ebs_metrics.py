"""Volumes' metrics."""

from __future__ import annotations

import numpy as np

from . import mechanisms
from .published import MINUTELY, alive
from .resources import MIB, Volume
from .series import MINUTE, Signal, Track

_EBS = (
    "VolumeReadBytes",
    "VolumeWriteBytes",
    "VolumeReadOps",
    "VolumeWriteOps",
    "VolumeIdleTime",
    "VolumeQueueLength",
    "VolumeTotalReadTime",
    "VolumeTotalWriteTime",
)
CHECKS = ("VolumeIOPSExceededCheck", "VolumeThroughputExceededCheck")
_SECONDS_AN_OPERATION = 0.0008


def ebs_names(volume: Volume) -> tuple[str, ...]:
    """Metrics with the dimension VolumeId alone."""
    return (*_EBS, "BurstBalance") if volume.type == "gp2" and volume.iops_limit != 16_000 else _EBS


def ebs_track(volume: Volume, metric: str) -> Track | None:
    """A volume publishes only while attached. On Nitro a minute is one sample; on Xen an operation is."""
    if metric in volume.telemetry:
        return volume.telemetry[metric]
    activity, spans = volume.activity, volume.intervals
    if activity is None:
        idle = metric == "VolumeIdleTime"
        known = metric in ebs_names(volume)
        return alive(spans, MINUTELY, 60.0 if idle else 100.0 if metric == "BurstBalance" else 0.0) if known else None
    shape = activity.shape
    reads, writes = activity.read / activity.read_size, activity.write / activity.write_size
    match metric:
        case "VolumeReadBytes":
            return alive(spans, shape, activity.read * 60, op_size=None if volume.nitro else activity.read_size)
        case "VolumeWriteBytes":
            return alive(spans, shape, activity.write * 60, op_size=None if volume.nitro else activity.write_size)
        case "VolumeReadOps":
            return alive(spans, shape, reads * 60)
        case "VolumeWriteOps":
            return alive(spans, shape, writes * 60)
        case "VolumeIdleTime":
            busy = min(1.0, (reads + writes) * _SECONDS_AN_OPERATION)
            return alive(spans, shape, -60 * busy, offset=60.0, digits=3)
        case "VolumeQueueLength":
            return alive(spans, shape, (reads + writes) * _SECONDS_AN_OPERATION, digits=4)
        case "VolumeTotalReadTime":
            return alive(spans, shape, reads * 60 * _SECONDS_AN_OPERATION, digits=4)
        case "VolumeTotalWriteTime":
            return alive(spans, shape, writes * 60 * _SECONDS_AN_OPERATION, digits=4)
        case "BurstBalance" if volume.type == "gp2":
            percent = mechanisms.gp2_balance(shape.stats.total * (reads + writes), volume.size_gib)
            return alive(spans, Signal.sampled(shape.origin, MINUTE, percent), 1.0, digits=4)
    return None


def ebs_check(volume: Volume, metric: str) -> Track | None:
    """1 in the minutes in which demand reached what is provisioned."""
    if metric in volume.telemetry:
        return volume.telemetry[metric]
    if metric not in CHECKS or volume.type == "standard" or volume.multi_attach or not volume.nitro:
        return None
    activity = volume.activity
    if activity is None:
        return alive(volume.intervals, MINUTELY, 0.0)
    if metric == "VolumeIOPSExceededCheck":
        limit = float(volume.iops_limit or 500)
        peak = activity.read / activity.read_size + activity.write / activity.write_size
    else:
        limit = (volume.throughput_limit or 250) * float(MIB)
        peak = activity.read + activity.write
    if peak < limit * 0.96:
        return alive(volume.intervals, MINUTELY, 0.0)
    over = (activity.shape.stats.total * peak >= limit * 0.96).astype(np.float64)
    return alive(volume.intervals, Signal.sampled(activity.shape.origin, MINUTE, over), 1.0)
