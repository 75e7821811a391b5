"""What every service's metrics share: constant signals, lifetimes, units."""

from __future__ import annotations

from .series import MINUTE, Series, Signal, Track, constant

MINUTELY, FIVE, QUARTER = constant(MINUTE), constant(300), constant(900)
SPACE = frozenset({"StorageCapacity", "UsedStorageCapacity", "StorageUsed", "FreeStorageCapacity"})
PERCENT = frozenset(
    {"BurstBalance", "PercentIOLimit", "EBSIOBalance%", "EBSByteBalance%", "disk_used_percent"}
    | {"FileServerDiskThroughputBalance", "FileServerDiskIopsBalance"}
)


def unit(metric: str) -> str:
    """The unit CloudWatch shows for a metric; CPU credits are counts, EFS credits bytes."""
    if metric.startswith("ethtool_"):
        return "None"
    if metric in {"NetworkIn", "NetworkOut", "BurstCreditBalance"} or metric in SPACE:
        return "Bytes"
    if metric == "PermittedThroughput":
        return "Bytes/Second"
    if metric in PERCENT or metric.endswith("Utilization"):
        return "Percent"
    if metric.endswith("Bytes"):
        return "Bytes"
    return "Seconds" if metric.endswith("Time") else "Count"


def alive(
    intervals: tuple[tuple[int, int], ...],
    signal: Signal,
    scale: float,
    *,
    offset: float = 0.0,
    op_size: float | None = None,
    digits: int = 0,
) -> Track:
    """A metric published in some intervals."""
    return tuple(Series(signal, scale, offset, since, until, op_size, digits) for since, until in intervals)
