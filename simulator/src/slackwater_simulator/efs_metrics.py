"""Compute the metrics of EFS file systems."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from . import mechanisms
from .resources import GIB, KIB, MIB, Activity, ElasticFileSystem
from .series import FOREVER, MINUTE, MINUTELY, QUARTER, Signal, Track, alive

WORK = ("MeteredIOBytes", "TotalIOBytes", "DataReadIOBytes", "DataWriteIOBytes", "MetadataIOBytes")
_EFS_IO = (*WORK, "MetadataReadIOBytes", "MetadataWriteIOBytes", "ClientConnections")
LIMITS = ("PercentIOLimit", "PermittedThroughput", "BurstCreditBalance")
STORAGE_CLASSES = ("Total", "Standard", "IA", "IASizeOverhead", "Archive", "ArchiveSizeOverhead")
_ELASTIC_WRITE = 5_000 * MIB


def efs_names(system: ElasticFileSystem) -> tuple[str, ...]:
    """Return the metrics that have only the dimension FileSystemId."""
    given = tuple(name for name in system.telemetry if not name.startswith("StorageBytes"))
    if system.voice == "dark" or (system.activity is None and system.voice == "absent"):
        return given
    limits = LIMITS[:2] if system.mode == "elastic" else LIMITS
    return tuple(dict.fromkeys((*_EFS_IO, *limits, *given)))


def efs_track(system: ElasticFileSystem, metric: str) -> Track | None:
    """Return a metric. While nobody uses the file system, it is zeros or absent, as the file system's `voice` says."""
    if metric in system.telemetry:
        return system.telemetry[metric]
    if metric not in efs_names(system):
        return None
    if system.active is None:
        return _efs_during(system, metric, system.activity, (system.created, FOREVER))
    begin, end = system.active
    silent = [(system.created, begin), (end, FOREVER)] if system.voice == "zeros" else []
    parts = [(system.activity, system.active), *((None, span) for span in silent)]
    return tuple(series for activity, span in parts for series in _efs_during(system, metric, activity, span))


def _efs_during(system: ElasticFileSystem, metric: str, activity: Activity | None, span: tuple[int, int]) -> Track:
    since = (span,)
    limited = activity is not None and system.mode != "elastic" and system.active is None
    limit = system.provisioned_mibps if system.mode == "provisioned" else None
    if activity and limited and metric in ("PermittedThroughput", "BurstCreditBalance"):
        credit = _efs_credits(activity, system.standard_bytes, limit)
        values = credit.permitted if metric == "PermittedThroughput" else credit.balance
        return alive(since, Signal.sampled(activity.shape.origin, MINUTE, values), 1.0)
    burst = max(100 * MIB, 100 * MIB * system.standard_bytes // (GIB * KIB))
    if metric == "PermittedThroughput":
        bought = (system.provisioned_mibps or 0) * MIB
        level = {"elastic": _ELASTIC_WRITE, "provisioned": bought, "bursting": burst}[system.mode]
        return alive(since, MINUTELY, float(level))
    if metric == "BurstCreditBalance":
        return alive(since, MINUTELY, 2_308_974_418_330.0 * max(1.0, system.standard_bytes / (GIB * KIB)))
    if metric == "ClientConnections" and activity and system.clients:
        return alive(since, system.clients.signal, system.clients.scale)
    if activity is None or metric == "ClientConnections":
        return alive(since, MINUTELY, 1.0 if activity else 0.0)
    return _efs_work(_efs_delivered(activity, system.standard_bytes, limit) if limited else activity, metric, since)


def _efs_metered(activity: Activity) -> float:
    """Return the metered bytes a second at the peak. Reads count a third."""
    return activity.write + activity.read / 3 + activity.metadata


def _efs_credits(activity: Activity, standard_bytes: int, provisioned_mibps: float | None) -> mechanisms.Credits:
    demand = activity.shape.stats.total * _efs_metered(activity)
    return mechanisms.efs_credits(demand, standard_bytes, provisioned_mibps)


@lru_cache(maxsize=512)
def _efs_delivered(activity: Activity, standard_bytes: int, provisioned_mibps: float | None) -> Activity:
    """Return the work that credits or provisioned throughput allow. It is all of the work unless they limit it."""
    peak = _efs_metered(activity) * MINUTE
    done = _efs_credits(activity, standard_bytes, provisioned_mibps).done
    if np.allclose(done, activity.shape.stats.total * peak):
        return activity
    return replace(activity, shape=Signal.sampled(activity.shape.origin, MINUTE, done / peak))


def _efs_work(activity: Activity, metric: str, since: tuple[tuple[int, int], ...]) -> Track:
    read, write, metadata = activity.read, activity.write, activity.metadata
    operations = read / activity.read_size + write / activity.write_size + metadata / (4 * KIB)
    mean = (read + write + metadata) / operations if operations else 4.0 * KIB
    reading = read / (read + write) if read + write else 1.0
    rate, size = {
        "MeteredIOBytes": (write + read / 3 + metadata, mean),
        "TotalIOBytes": (write + read + metadata, mean),
        "DataReadIOBytes": (read, activity.read_size),
        "DataWriteIOBytes": (write, activity.write_size),
        "MetadataIOBytes": (metadata, 4.0 * KIB),
        "MetadataReadIOBytes": (metadata * reading, 4.0 * KIB),
        "MetadataWriteIOBytes": (metadata * (1 - reading), 4.0 * KIB),
        "PercentIOLimit": (operations / 35_000 * 100 / 60, None),
    }[metric]
    return alive(since, activity.shape, rate * 60, op_size=size, digits=0 if size else 4)


def efs_storage(system: ElasticFileSystem, storage_class: str) -> Track | None:
    """Return StorageBytes of one class, every fifteen minutes."""
    if system.voice == "dark":
        return system.telemetry.get("StorageBytes")
    if storage_class not in STORAGE_CLASSES:
        return None
    standard, cold, archive = system.standard_bytes, system.ia_bytes, system.archive_bytes
    sizes = {"Total": standard + cold + archive, "Standard": standard, "IA": cold, "Archive": archive}
    return alive(((system.created, FOREVER),), QUARTER, float(sizes.get(storage_class, 0)))
