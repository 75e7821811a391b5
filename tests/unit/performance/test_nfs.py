"""Many small files: the measurements in the reports, and properties that hold for all numbers."""

from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.performance import nfs

WRITES = [
    ("efs-one-zone", 1, 13 * 60 + 51),
    ("efs-one-zone", 2, 9 * 60 + 9),
    ("efs-one-zone", 4, 6 * 60 + 23),
    ("efs-regional", 1, 25 * 60 + 58),
    ("efs-regional", 2, 16 * 60 + 35),
    ("efs-regional", 4, 11 * 60 + 28),
]
GP3_WRITES = [(1, 54), (2, 42), (4, 39)]
READS = [
    ("ebs-gp3", 1, 46),
    ("ebs-gp3", 2, 24),
    ("ebs-gp3", 4, 17),
    ("ebs-gp3", 8, 16),
    ("efs-one-zone", 1, 2 * 60 + 43),
    ("efs-one-zone", 2, 65),
    ("efs-one-zone", 4, 36),
    ("efs-one-zone", 8, 28),
    ("efs-regional", 1, 2 * 60 + 47),
    ("efs-regional", 2, 70),
    ("efs-regional", 4, 35),
    ("efs-regional", 8, 26),
]


def of_the_report(storage: nfs.Storage, operation: nfs.Operation, workers: int) -> nfs.Timing:
    found = nfs.timing(storage, operation, files=40_000, size_bytes=1.1e9, workers=workers)
    assert found
    return found


@pytest.mark.parametrize(("storage", "workers", "published_s"), WRITES)
def test_every_efs_write_of_the_report_is_met_within_5_percent(
    storage: nfs.Storage, workers: int, published_s: float
) -> None:
    assert of_the_report(storage, "write", workers).seconds == pytest.approx(published_s, rel=0.05)


@pytest.mark.parametrize("storage", ["efs-one-zone", "efs-regional"])
def test_the_calibrated_latency_has_the_smallest_largest_error_as_documented(storage: nfs.Storage) -> None:
    errors = [
        of_the_report(one, "write", workers).seconds / published_s - 1
        for one, workers, published_s in WRITES
        if one == storage
    ]

    assert max(errors) == pytest.approx(-min(errors), abs=0.0005)  # same size, opposite signs
    assert max(errors) < 0.024


@pytest.mark.parametrize(("storage", "workers", "published_s"), READS)
def test_every_published_read_is_shown_as_it_was_measured(
    storage: nfs.Storage, workers: int, published_s: float
) -> None:
    assert of_the_report(storage, "read", workers).seconds == pytest.approx(published_s, rel=0.01)


@pytest.mark.parametrize(("workers", "published_s"), GP3_WRITES)
def test_gp3_writes_in_the_order_of_what_was_measured(workers: int, published_s: float) -> None:
    assert published_s / 3 < of_the_report("ebs-gp3", "write", workers).seconds < published_s * 3


@pytest.mark.parametrize(("storage", "published_s"), [("openzfs-sync", 17 * 60), ("openzfs-async", 100)])
def test_the_document_root_is_copied_in_the_published_time(storage: nfs.Storage, published_s: float) -> None:
    found = nfs.timing(storage, "write", files=38_000, size_bytes=800e6, workers=1)

    assert found
    assert found.seconds == pytest.approx(published_s, rel=0.15)


def test_openzfs_makes_the_operations_that_were_measured() -> None:
    sync, fast = (
        nfs.timing(kind, "write", files=100, size_bytes=0, workers=1) for kind in ("openzfs-sync", "openzfs-async")
    )

    assert sync
    assert fast
    assert (sync.operations_per_s, fast.operations_per_s) == (pytest.approx(342), pytest.approx(3_768))


def test_the_measured_iops_are_those_of_the_published_table() -> None:
    assert [(one.storage, one.provisioned, one.iops_4_kib, one.iops_1_mib) for one in nfs.MEASURED_IOPS] == [
        ("EFS", "Elastic throughput", 87, 32),
        ("OpenZFS, sync", "192 IOPS, 160 MB/s", 342, 87),
        ("OpenZFS, sync", "960 IOPS, 320 MB/s", 327, 92),
        ("OpenZFS, async", "192 IOPS, 160 MB/s", 3_768, 256),
        ("OpenZFS, async", "960 IOPS, 320 MB/s", 3_906, 360),
    ]


def test_nobody_measured_how_openzfs_reads() -> None:
    assert nfs.timing("openzfs-sync", "read", files=1, size_bytes=1, workers=1) is None
    assert nfs.timing("openzfs-async", "read", files=1, size_bytes=1, workers=1) is None


def test_a_balanced_tree_scales_with_its_workers_and_an_unequal_one_less() -> None:
    one, four = of_the_report("efs-regional", "write", 1), of_the_report("efs-regional", "write", 4)

    assert one.best_s == one.seconds
    assert four.best_s == pytest.approx(one.seconds / 4)
    assert four.seconds == pytest.approx(one.seconds / 4**0.58)


def test_readers_between_measured_points_are_on_a_log_scale_and_beyond_the_last_no_faster() -> None:
    three = of_the_report("efs-regional", "read", 3).seconds

    assert 35 < three < 70
    assert of_the_report("ebs-gp3", "read", 256).seconds == pytest.approx(16)
    geometric_mean_of_1_and_4 = nfs.FileRate(
        file_s=1, operations=1, bytes_per_s=1, iops=1, measured_s={1: 400, 4: 100}
    ).speed_up(2)
    assert geometric_mean_of_1_and_4 == pytest.approx(2)


@pytest.mark.parametrize(
    ("storage", "operation", "mib_s"),
    [
        ("efs-one-zone", "write", 100),
        ("efs-regional", "write", 100),
        ("efs-regional", "read", 300),
        ("ebs-gp3", "write", 125),
        ("ebs-gp3", "read", 125),
        ("openzfs-sync", "write", 160e6 / 1024**2),
    ],
)
def test_large_files_are_bound_by_throughput(storage: nfs.Storage, operation: nfs.Operation, mib_s: float) -> None:
    found = nfs.timing(storage, operation, files=1, size_bytes=100 * 1024**3, workers=8)

    assert found
    assert found.bound_by == "throughput"
    assert found.seconds == found.best_s == pytest.approx(100 * 1024 / mib_s)


@pytest.mark.parametrize(
    ("storage", "operation", "per_s"),
    [
        ("efs-one-zone", "write", 7_000),
        ("efs-regional", "write", 7_000),
        ("ebs-gp3", "write", 3_000),
        ("openzfs-sync", "write", 6_250),
        ("openzfs-async", "write", 6_250),
    ],
)
def test_workers_on_a_balanced_tree_share_the_operations_a_second(
    storage: nfs.Storage, operation: nfs.Operation, per_s: float
) -> None:
    found = nfs.timing(storage, operation, files=40_000, size_bytes=0, workers=256)

    assert found
    assert 40_000 * nfs.FILE_RATES[storage, operation].operations / found.best_s == pytest.approx(per_s)


def test_the_operations_that_were_measured_of_openzfs_are_within_what_its_server_has() -> None:
    assert nfs.OPENZFS_SERVER.disk_iops > nfs.ASYNC_OPS_PER_S


@pytest.mark.parametrize(("storage", "operation"), sorted(nfs.FILE_RATES))
def test_one_file_takes_many_workers_as_long_as_one(storage: nfs.Storage, operation: nfs.Operation) -> None:
    one, many = (nfs.timing(storage, operation, files=1, size_bytes=1e3, workers=workers) for workers in (1, 256))

    assert one
    assert one == many
    assert one.best_s == one.seconds


@pytest.mark.parametrize("storage", ["efs-one-zone", "efs-regional"])
def test_two_readers_of_two_files_are_no_faster_than_one_of_one(storage: nfs.Storage) -> None:
    one, two = (nfs.timing(storage, "read", files=count, size_bytes=0, workers=count) for count in (1, 2))

    assert one
    assert two
    assert two.seconds == one.seconds


MEASURED = st.sampled_from(sorted(nfs.FILE_RATES))
FILES = st.one_of(st.integers(1, 300), st.integers(1, 10**9))
BYTES = st.floats(0, 1e15)
WORKERS = st.integers(1, 256)


@given(path=MEASURED, files=FILES, more_files=FILES, size=BYTES, more=BYTES, workers=WORKERS)
def test_more_files_or_more_bytes_never_take_less_time(
    path: tuple[nfs.Storage, nfs.Operation], files: int, more_files: int, size: float, more: float, workers: int
) -> None:
    least = nfs.timing(*path, files=files, size_bytes=size, workers=workers)
    most = nfs.timing(*path, files=files + more_files, size_bytes=size + more, workers=workers)

    assert least
    assert most
    assert most.seconds >= least.seconds
    assert most.best_s >= least.best_s


@given(path=MEASURED, files=FILES, size=BYTES, workers=st.integers(1, 255))
def test_more_workers_are_never_slower(
    path: tuple[nfs.Storage, nfs.Operation], files: int, size: float, workers: int
) -> None:
    fewer, more = (nfs.timing(*path, files=files, size_bytes=size, workers=count) for count in (workers, workers + 1))

    assert fewer
    assert more
    assert more.seconds <= fewer.seconds or isclose(more.seconds, fewer.seconds)
    assert more.best_s <= fewer.best_s or isclose(more.best_s, fewer.best_s)


@given(path=MEASURED, files=FILES, size=BYTES, workers=WORKERS)
def test_the_best_time_is_no_longer_than_the_time(
    path: tuple[nfs.Storage, nfs.Operation], files: int, size: float, workers: int
) -> None:
    found = nfs.timing(*path, files=files, size_bytes=size, workers=workers)

    assert found
    assert 0 < found.best_s <= found.seconds
    assert found.files_per_s == pytest.approx(files / found.seconds)


@pytest.mark.parametrize(
    ("writes", "held"),
    [
        ([0, 300, 300, 300, 0], [1, 2, 3]),
        ([0, 300, 310, 290, 0], [1, 2, 3]),
        ([0, 60, 300, 300, 300, 60, 0], [2, 3, 4]),
        ([0, *[600] * 3, *[300] * 5, 0], [*range(1, 9)]),
        ([0, *[600] * 3, *[300] * 4, 420, 450, 0], []),
        ([0, 100, 200, 300, 400, 300, 200, 100, 0], []),
        ([300, 300, float("nan"), 200], [0, 1]),
        ([40] * 9, []),
        ([], []),
    ],
    ids=[
        "one ceiling",
        "noise",
        "a start and an end",
        "two ceilings",
        "much between two",
        "a demand",
        "a hole",
        "quiet",
        "none",
    ],
)
def test_writes_that_wait_have_one_ceiling_or_two(writes: list[float], held: list[int]) -> None:
    assert sorted(nfs.held_at_ceiling(writes, least=100, width=0.1)) == held
