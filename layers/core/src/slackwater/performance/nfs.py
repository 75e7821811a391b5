"""Many small files on network file systems. Latency decides there, because each operation waits for its answer.

Based on two measured reports:

- "The speed of EFS at small capacity" (2021-07-26): 1.1 GB of /usr on an m5.large, written by rsync, read by `find` and
  `cat`. EFS is in Bursting mode, with less than 1 TiB.
- "Sharing WordPress content on FSx for OpenZFS" (2025-03): Multi-AZ, from a t3a.small. With a `sync` export, a client
  waits for stable storage after every write. More IOPS do not help unless the export is `async`.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from math import isnan, log
from operator import itemgetter
from typing import Final, Literal, NamedTuple

from slackwater.model.units import MIB
from slackwater.performance import efs, fsx
from slackwater.performance.ebs import GP3_INCLUDED_IOPS, GP3_INCLUDED_MIB_S

Storage = Literal["ebs-gp3", "efs-one-zone", "efs-regional", "openzfs-sync", "openzfs-async"]
Operation = Literal["write", "read"]
Bound = Literal["latency", "throughput", "iops"]

REPORT_FILES: Final = 40_000  # assumed: the 2021 report copies 1.1 GB, and does not say how many files

PARALLEL_EXPONENT: Final = 0.58
"""Calibrated: P workers were P^0.58 times as fast, with one worker for each directory of /usr. The directories have
very different sizes. The report says that a balanced tree scales linearly."""
MEASURED_WORKERS: Final = 4  # the largest number of writing workers with which the exponent was measured

EFS_ONE_ZONE_FILE_S: Final = 0.02095
EFS_REGIONAL_FILE_S: Final = 0.03805
"""Calibrated: the seconds that one worker takes to write a file. Together with the exponent, it reproduces the six
published times within 2.4%. No other two values have a smaller maximum error."""

EFS_OPS_PER_S: Final = 87
SYNC_OPS_PER_S: Final = 342
ASYNC_OPS_PER_S: Final = 3_768
"""Measured in 2025 from one client with 4 KiB blocks: EFS in Elastic mode, and OpenZFS Multi-AZ at 160 MB/s and 192
IOPS."""
OPENZFS_OPERATIONS: Final = 9
"""NFS operations to write one file. Derived: 38,000 files took about 17 minutes at 342 operations a second."""
OPENZFS_SERVER: Final = fsx.OPENZFS["MULTI_AZ_1"].file_servers[0]
"""The measured file server. Its 192 provisioned IOPS are no limit here: far more operations were measured."""

ASYNC_CAVEAT: Final = (
    "async acknowledges before the data is on stable storage: writes of the last seconds are lost if the file server "
    "fails. Not for mission-critical data."
)


class MeasuredIops(NamedTuple):
    """Writes a second from one client, as measured in the 2025 report."""

    storage: str
    provisioned: str
    iops_4_kib: int
    iops_1_mib: int


MEASURED_IOPS: Final = (
    MeasuredIops("EFS", "Elastic throughput", EFS_OPS_PER_S, 32),
    MeasuredIops("OpenZFS, sync", "192 IOPS, 160 MB/s", SYNC_OPS_PER_S, 87),
    MeasuredIops("OpenZFS, sync", "960 IOPS, 320 MB/s", 327, 92),
    MeasuredIops("OpenZFS, async", "192 IOPS, 160 MB/s", ASYNC_OPS_PER_S, 256),
    MeasuredIops("OpenZFS, async", "960 IOPS, 320 MB/s", 3_906, 360),
)


class FileRate(NamedTuple):
    """How fast a storage processes files: what each file costs one worker, and the limits that all workers share.

    `measured_s` are the seconds for the report's files, by workers. No formula explains them: two workers read more
    than twice as fast as one, and EBS writes into the page cache. So Slackwater uses the measured values.
    """

    file_s: float  # what one worker takes for a file
    operations: float  # NFS operations for a file
    bytes_per_s: float  # of all workers together
    iops: float  # of all workers together
    measured_s: Mapping[int, int] | None = None  # None if the speed-up follows the exponent

    def speed_up(self, workers: int) -> float:
        """Return how many times as fast as one worker this many `workers` are.

        This interpolates measured points on a logarithmic scale, and does not extrapolate beyond the last point.
        """
        if self.measured_s is None:
            return float(workers**PARALLEL_EXPONENT)
        one = self.measured_s[1]
        for (fewer, slow), (more, fast) in pairwise(self.measured_s.items()):
            if fewer <= workers < more:
                part = log(workers / fewer) / log(more / fewer)
                return float(one / slow * (slow / fast) ** part)
        return one / min(self.measured_s.values())


def _gp3(measured_s: Mapping[int, int]) -> FileRate:
    bytes_per_s, file_s = GP3_INCLUDED_MIB_S * MIB, measured_s[1] / REPORT_FILES
    return FileRate(file_s=file_s, operations=1, bytes_per_s=bytes_per_s, iops=GP3_INCLUDED_IOPS, measured_s=measured_s)


def _efs_write(file_s: float, *, one_zone: bool) -> FileRate:
    limits = efs.limits("bursting", one_zone=one_zone)
    return FileRate(file_s, file_s * 1000 / limits.write_ms, efs.BURST_BYTES_PER_S, limits.operations.write)


def _efs_read(measured_s: Mapping[int, int], *, one_zone: bool) -> FileRate:
    limits, file_s = efs.limits("bursting", one_zone=one_zone), measured_s[1] / REPORT_FILES
    operations, bytes_per_s = file_s * 1000 / limits.read_ms, efs.READ_DISCOUNT * efs.BURST_BYTES_PER_S
    return FileRate(file_s, operations, bytes_per_s, limits.operations.read, measured_s)


def _openzfs_write(operations_per_s: int) -> FileRate:
    bytes_per_s, file_s = OPENZFS_SERVER.write_mb_s * fsx.MB, OPENZFS_OPERATIONS / operations_per_s
    return FileRate(file_s, OPENZFS_OPERATIONS, bytes_per_s, OPENZFS_SERVER.disk_iops)


FILE_RATES: Final[Mapping[tuple[Storage, Operation], FileRate]] = {
    ("ebs-gp3", "write"): _gp3({1: 54, 2: 42, 4: 39}),
    ("ebs-gp3", "read"): _gp3({1: 46, 2: 24, 4: 17, 8: 16}),
    ("efs-one-zone", "write"): _efs_write(EFS_ONE_ZONE_FILE_S, one_zone=True),
    ("efs-one-zone", "read"): _efs_read({1: 163, 2: 65, 4: 36, 8: 28}, one_zone=True),
    ("efs-regional", "write"): _efs_write(EFS_REGIONAL_FILE_S, one_zone=False),
    ("efs-regional", "read"): _efs_read({1: 167, 2: 70, 4: 35, 8: 26}, one_zone=False),
    ("openzfs-sync", "write"): _openzfs_write(SYNC_OPS_PER_S),
    ("openzfs-async", "write"): _openzfs_write(ASYNC_OPS_PER_S),
}
"""The rates by storage and operation. The report did not measure reading from OpenZFS."""


def waiting_writers(writes_per_s: float, *, one_zone: bool) -> float:
    """Return how many writers make this many writes a second on EFS if each waits for an answer before the next."""
    return writes_per_s * efs.limits("bursting", one_zone=one_zone).write_ms / 1000


class Timing(NamedTuple):
    """The time that files take on a storage, and what limits it."""

    seconds: float
    best_s: float  # if all workers have the same amount to do
    bound_by: Bound
    operations_per_s: float
    files_per_s: float


def timing(storage: Storage, operation: Operation, *, files: int, size_bytes: float, workers: int) -> Timing | None:
    """Return how long workers take to read or write files of this total size; None if nobody measured this.

    One worker processes a file, so more workers than files do not help. There is at least one of each.
    """
    rate = FILE_RATES.get((storage, operation))
    if rate is None:
        return None
    workers = min(workers, files)
    speed_up = rate.speed_up(workers)
    # A reader takes the next file of a list, so the measured times already have a balanced load.
    balanced = max(speed_up, workers) if operation == "write" else speed_up
    times: dict[Bound, float] = {
        "latency": rate.file_s * max(1, files / speed_up),
        "throughput": size_bytes / rate.bytes_per_s,
        "iops": files * rate.operations / rate.iops,
    }
    bound_by, seconds = max(times.items(), key=itemgetter(1))
    best_s = max(rate.file_s * max(1, files / balanced), times["throughput"], times["iops"])
    return Timing(seconds, best_s, bound_by, files * rate.operations / seconds, files / seconds)


ONE_CEILING: Final = 0.6  # the share of a run's points that must be near it; the others are noise, or its ends
TWO_CEILINGS: Final = 0.8  # the same for two ceilings, which prove less than one


def held_at_ceiling(writes: Sequence[float], least: float, width: float) -> list[int]:
    """Return which points of busy runs are at a ceiling, above which clients that wait for answers cannot write.

    A run continues while a point has at least half of the `least` writes of a busy one, so that it includes the slopes
    of a rising and falling demand. A missing point (NaN) does not end a run. `width` is a fraction of the ceiling.
    """
    busy = (i for i, count in enumerate(writes) if not count < least / 2)
    runs = ([i for _, i in run] for _, run in groupby(enumerate(busy), key=lambda at: at[1] - at[0]))
    return [at for run in runs for at in _held(writes, [i for i in run if not isnan(writes[i])], width)]


def _held(writes: Sequence[float], run: Sequence[int], width: float) -> list[int]:
    """Return the points of a run near its one or two ceilings: the ceiling moves if a writer starts or stops.

    A falling demand passes through the values between two ceilings. Waiting clients do not.
    """
    if not run:
        return []
    high = ceiling([writes[i] for i in run])
    near = [i for i in run if abs(writes[i] / high - 1) <= width]
    if len(near) >= ONE_CEILING * len(run):
        return near
    rest = sorted(set(run) - set(near))
    low = ceiling([writes[i] for i in rest])
    near += [i for i in rest if abs(writes[i] / low - 1) <= width]
    is_clear = low * (1 + width) < high * (1 - width)
    return near if is_clear and len(near) >= TWO_CEILINGS * len(run) else []


def ceiling(writes: Sequence[float]) -> float:
    """Return the rate that a tenth of these points reach or exceed."""
    return sorted(writes)[round(0.9 * (len(writes) - 1))]
