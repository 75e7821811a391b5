"""How long many small files take, and on what they would take less.

Small files wait: each of a file's operations is answered before the next one goes out. Throughput hardly matters;
workers side by side do, and so does how long an answer takes.
"""

from collections.abc import Iterator
from decimal import Decimal
from math import ceil
from typing import Final, get_args

from pydantic import Field

from slackwater.model.estimates import Alternative, Answer, Estimate, Figure, Inputs, Known, Result, Usd, of
from slackwater.model.money import Change, amount, difference, ebs_storage, efs_storage
from slackwater.model.quantities import Size, binary_rate_words, duration_words, rate_words, size_words
from slackwater.model.units import GIB
from slackwater.performance import ebs, efs, fsx, nfs

EFS_REPORT: Final = 'report "The speed of EFS at small capacity" (2021-07-26)'
OPENZFS_REPORT: Final = 'report "Sharing WordPress content on FSx for OpenZFS" (2025-03)'
STORAGES: Final[tuple[nfs.Storage, ...]] = get_args(nfs.Storage)
MORE_WORKERS: Final = (4, 16)

NAMES: Final[dict[nfs.Storage, str]] = {
    "ebs-gp3": "EBS gp3",
    "efs-one-zone": "EFS One Zone",
    "efs-regional": "EFS Regional",
    "openzfs-sync": "OpenZFS (sync)",
    "openzfs-async": "OpenZFS (async)",
}
ONE_INSTANCE: Final = "not shared: one instance"
CAVEATS: Final[dict[tuple[nfs.Storage, nfs.Operation], str]] = {
    ("ebs-gp3", "write"): f"{ONE_INSTANCE}; rough estimate",
    ("ebs-gp3", "read"): ONE_INSTANCE,
    ("efs-one-zone", "write"): "data in one zone only",
    ("efs-one-zone", "read"): "data in one zone only",
    ("openzfs-async", "write"): "an acknowledged write can be lost",
}
NO_CREDITS: Final = "burst credits run out"
OUT_OF_CREDITS: Final = (
    f"This transfer uses up the burst credits of EFS ({size_words(efs.full_credits_bytes(0))} at the start). After "
    "that, EFS is slower than estimated."
)
ON_WRITING: Final = (
    f"{nfs.ASYNC_CAVEAT[0].upper()}{nfs.ASYNC_CAVEAT[1:]}",
    (
        "The times for EFS and for OpenZFS come from different tests, so the comparison is rough. A test of both "
        "measured"
        f" {nfs.EFS_OPS_PER_S} writes of 4 KiB per second on EFS and {nfs.SYNC_OPS_PER_S} on OpenZFS (sync)."
    ),
    "Parallel workers can conflict. Make sure that no two write the same file or create the same directory.",
)
ON_WORKERS: Final = (
    "Each worker may open its own connections. Check the number of database connections (RDS) and of sockets in "
    "TIME_WAIT. Some NFS clients, such as RHEL 6, run the requests of all workers one after another."
)


class SmallFiles(Inputs):
    """Files that one client writes or reads."""

    files: int = Field(ge=1, le=10**12, description="Number of files")
    bytes: Size = Field(description="Total size of the files")
    workers: int = Field(default=1, ge=1, le=256, description="Number of parallel workers")
    storage: nfs.Storage = Field(default="efs-regional", description="Storage to write to or read from")
    operation: nfs.Operation = Field(default="write", description="Operation to estimate")


class Option(Result):
    """The same files with more workers, or on another storage."""

    storage: nfs.Storage = of("Storage")
    workers: int = of("Workers")
    seconds: Figure = of("At worst", "s")
    seconds_range: tuple[Figure, Figure] = of("Best to worst", "s")
    bound_by: nfs.Bound = of("Limit")
    monthly_usd: Usd | None = of("Storage cost", "USD/month")
    caveat: str = of("Note")


class SmallFilesTime(Result):
    """How long the files take, what decides it, and what else there is."""

    seconds: Figure | None = of("At worst", "s")
    seconds_range: tuple[Figure, Figure] | None = of("Best to worst case", "s")
    bound_by: nfs.Bound | None = of("Limit")
    files_per_second: Figure | None = of("Files per second", "files/s")
    operations_per_second: Figure | None = of("Operations per second", "operations/s")
    monthly_usd: Usd | None = of("Storage cost", "USD/month")
    alternatives: list[Option] = of("Alternatives")
    warnings: list[str] = of("Warnings")


def work(inputs: SmallFiles, known: Known) -> Answer[SmallFilesTime]:
    """Calculate the time as asked, with more workers where that helps, and on every other measured storage."""
    now = _timing(inputs, inputs.storage, inputs.workers)
    rows = [
        *((inputs.storage, workers, then) for workers, then in _more_workers(inputs, now)),
        *((storage, _at_work(inputs), then) for storage, then in _others(inputs)),
    ]
    options = [_option(inputs, storage, workers, then, known) for storage, workers, then in rows]
    writes = inputs.operation == "write"
    out_of_credits = _is_out_of_credits(inputs, inputs.storage, now)
    any_out_of_credits = out_of_credits or any(_is_out_of_credits(inputs, storage, then) for storage, _, then in rows)
    summary = _summary(inputs, now, options)
    return Answer(
        summary=f"{summary} {OUT_OF_CREDITS}" if out_of_credits else summary,
        result=SmallFilesTime(
            seconds=now and now.seconds,
            seconds_range=None if now is None else _range(now),
            bound_by=now and now.bound_by,
            files_per_second=now and now.files_per_s,
            operations_per_second=now and now.operations_per_s,
            monthly_usd=_usd(_holding(inputs.storage, inputs.bytes), known),
            alternatives=options,
            warnings=[
                *((OUT_OF_CREDITS,) if any_out_of_credits else ()),
                *(ON_WRITING if writes else ()),
                ON_WORKERS,
            ],
        ),
        assumptions=_assumptions(inputs, side_by_side=any(one.workers > 1 for one in options)),
        sources=(
            EFS_REPORT,
            'Amazon EFS User Guide, "Amazon EFS performance"',
            'Amazon EBS User Guide, "Amazon EBS General Purpose SSD volumes"',
            *((OPENZFS_REPORT, 'Amazon FSx for OpenZFS User Guide, "Performance for SSD storage"') if writes else ()),
        ),
        alternatives=tuple(_alternatives(inputs, now)),
    )


def _timing(inputs: SmallFiles, storage: nfs.Storage, workers: int) -> nfs.Timing | None:
    return nfs.timing(storage, inputs.operation, files=inputs.files, size_bytes=inputs.bytes, workers=workers)


def _at_work(inputs: SmallFiles) -> int:
    """Return how many of the workers have a file to process."""
    return min(inputs.workers, inputs.files)


def _more_workers(inputs: SmallFiles, now: nfs.Timing | None) -> Iterator[tuple[int, nfs.Timing]]:
    """Yield higher numbers of workers that have files, while each step is faster than the one before."""
    before = now
    for count in MORE_WORKERS:
        workers = min(count, inputs.files)
        then = _timing(inputs, inputs.storage, workers)
        if then and before and then.seconds < before.seconds:
            yield workers, then
            before = then


def _others(inputs: SmallFiles) -> Iterator[tuple[nfs.Storage, nfs.Timing]]:
    """Yield the same workers on every other storage that was measured."""
    for storage in STORAGES:
        if storage != inputs.storage and (then := _timing(inputs, storage, inputs.workers)):
            yield storage, then


def _is_out_of_credits(inputs: SmallFiles, storage: nfs.Storage, timing: nfs.Timing | None) -> bool:
    """Return whether a write uses more credits than a new file system has and earns; False for a read."""
    if timing is None or not storage.startswith("efs") or inputs.operation == "read":
        return False
    earned_bytes = efs.baseline_bytes_per_s(0) * timing.best_s
    return inputs.bytes - earned_bytes > efs.full_credits_bytes(0)


def _range(timing: nfs.Timing) -> tuple[float, float]:
    return timing.best_s, timing.seconds


def _option(inputs: SmallFiles, storage: nfs.Storage, workers: int, then: nfs.Timing, known: Known) -> Option:
    caveats = [
        CAVEATS.get((storage, inputs.operation)),
        NO_CREDITS if _is_out_of_credits(inputs, storage, then) else None,
    ]
    return Option(
        storage=storage,
        workers=workers,
        seconds=then.seconds,
        seconds_range=_range(then),
        bound_by=then.bound_by,
        monthly_usd=_usd(_holding(storage, inputs.bytes), known),
        caveat="; ".join(filter(None, caveats)),
    )


def _holding(storage: nfs.Storage, size_bytes: float) -> tuple[Change, ...] | None:
    """Return the billed units of the smallest storage that holds the files; None if this kind cannot hold them."""
    gib = size_bytes / GIB
    match storage:
        case "ebs-gp3":
            least_gib, most_gib = ebs.VOLUME_TYPES["gp3"].gib
            whole_gib = max(least_gib, ceil(gib))
            return (Change(ebs_storage("gp3"), Decimal(whole_gib)),) if whole_gib <= most_gib else None
        case "efs-one-zone" | "efs-regional":
            return (Change(efs_storage("Standard", one_zone=storage == "efs-one-zone", elastic=False), amount(gib)),)
        case _:
            openzfs = fsx.smallest(fsx.OPENZFS["MULTI_AZ_1"], stored_bytes=size_bytes)
            return None if openzfs is None else openzfs.monthly_units


def _usd(units: tuple[Change, ...] | None, known: Known) -> Decimal | None:
    return None if units is None else known.usd(*units)


def _summary(inputs: SmallFiles, now: nfs.Timing | None, options: list[Option]) -> str:
    files = "1 file" if inputs.files == 1 else f"{inputs.files:,} files"
    what = f"{'Writing' if inputs.operation == 'write' else 'Reading'} {files} ({size_words(inputs.bytes)})"
    where = f"{'to' if inputs.operation == 'write' else 'from'} {NAMES[inputs.storage]}"
    if now is None:
        return (
            f"{what} {where} has no estimate, because Slackwater has no measurements of reads from OpenZFS. Sync and "
            "async "
            "exports differ only for writes."
        )
    each = " (one per file)" if inputs.workers > inputs.files > 1 else ""
    best, worst = map(duration_words, _range(now))
    how_long = worst if best == worst else f"{best} (work evenly distributed) to {worst} (unevenly, as in /usr)"
    answer = f"{what} {where} takes {how_long} with {_workers(_at_work(inputs))}{each}. {_why(inputs, now)}."
    more = [one for one in options if one.storage == inputs.storage][:1]
    shared = [one for one in options if one.storage not in {inputs.storage, "ebs-gp3"} and one.seconds < now.seconds]
    faster = sorted(shared, key=lambda one: one.seconds)[:1]
    ways = [f"With {_workers(one.workers)}, it takes {_time(one)}." for one in more]
    ways += [f"On {NAMES[one.storage]}, it takes {_time(one)}." for one in faster]
    return " ".join([answer, *ways])


def _time(option: Option) -> str:
    return " to ".join(dict.fromkeys(map(duration_words, option.seconds_range)))


def _workers(count: int) -> str:
    return f"{count} workers" if count > 1 else "one worker"


def _why(inputs: SmallFiles, now: nfs.Timing) -> str:
    rate = nfs.FILE_RATES[inputs.storage, inputs.operation]
    match now.bound_by:
        case "latency":
            each_ms = rate.file_s * 1000
            return (
                f"The limit is latency, not throughput: one worker alone waits {each_ms:.2g} ms per file for responses"
            )
        case "throughput":
            return f"The limit is its throughput of {_rate_words(inputs.storage, rate)}"
        case "iops":
            return f"The limit is its {rate.iops:,.0f} operations per second"


def _rate_words(storage: nfs.Storage, rate: nfs.FileRate) -> str:
    """Return the rate in the units of its service. Slackwater reads FSx's MBps as decimal."""
    words = rate_words if storage.startswith("openzfs") else binary_rate_words
    return words(rate.bytes_per_s)


def _alternatives(inputs: SmallFiles, now: nfs.Timing | None) -> list[Alternative]:
    """Return the alternatives. More workers come first, because they cost no money and add no risk."""
    if now is None:
        return []
    ways = [
        Alternative(
            id="more-workers",
            summary=f"{workers} workers side by side are {_gain(now, then)}",
            solves=True,
            changes=(),
        )
        for workers, then in _more_workers(inputs, now)
    ][:1]
    held = _holding(inputs.storage, inputs.bytes)
    for storage, then in _others(inputs):
        holding = _holding(storage, inputs.bytes)
        if held is not None and holding is not None:
            ways.append(
                Alternative(
                    id=storage,
                    summary=f"{NAMES[storage]} is {_gain(now, then)}",
                    solves=then.seconds < now.seconds,
                    changes=difference(held, holding),
                )
            )
    return ways


def _gain(now: nfs.Timing, then: nfs.Timing) -> str:
    least, most = sorted((now.seconds / then.seconds, now.best_s / then.best_s))
    return f"{_times(1 / most, 1 / least)} slow" if most < 1 else f"{_times(least, most)} fast"


def _times(least: float, most: float) -> str:
    words = [f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}".removesuffix(".0") for ratio in (least, most)]
    return "as" if {*words} == {"1"} else f"{' to '.join(dict.fromkeys(words))} times as"


def _shared(storage: nfs.Storage, operation: nfs.Operation) -> str:
    rate = nfs.FILE_RATES[storage, operation]
    return f"{_rate_words(storage, rate)} and {rate.iops:,.0f} IOPS"


OPENZFS_LEAST: Final = (
    f" OpenZFS is Multi-AZ with at least {fsx.OPENZFS['MULTI_AZ_1'].min_gib} GiB and"
    f" {nfs.OPENZFS_SERVER.throughput_mb_s} MB/s."
)


def _assumptions(inputs: SmallFiles, *, side_by_side: bool) -> tuple[str, ...]:
    """Return the assumptions for this storage and the options. `side_by_side`: whether any has several workers."""
    writes = inputs.operation == "write"
    openzfs = OPENZFS_LEAST if writes or inputs.storage.startswith("openzfs") else ""
    return (
        *(WRITING if writes else READING),
        *((SIDE_BY_SIDE,) if writes and side_by_side else ()),
        (
            f"assumed: the 1.1 GB of /usr in the report are {nfs.REPORT_FILES:,} files. The report does not give the "
            "number."
        ),
        "assumed: one client uses the storage, and EFS has burst credits until the end.",
        (
            "rule: this estimate compares times and excludes no storage. In contrast, shared-storage excludes EFS if "
            "you "
            "set "
            "small-writes."
        ),
        (
            "assumed: storage costs are list prices of the smallest storage for the files. EFS Standard is billed per "
            f"byte, and gp3 per GiB.{openzfs}"
        ),
    )


ONE_ZONE, REGIONAL = (efs.limits("bursting", one_zone=one_zone) for one_zone in (True, False))
WRITING: Final = (
    (
        f"calibrated: one worker writes a file in {nfs.EFS_ONE_ZONE_FILE_S * 1000:g} ms on EFS One Zone,"
        f" {nfs.EFS_REGIONAL_FILE_S * 1000:g} ms on Regional (within 2.4 % of the 2021 report) and"
        f" {nfs.FILE_RATES['ebs-gp3', 'write'].file_s * 1000:.2g} ms on gp3 (rough, because of the page cache)."
    ),
    "measured: the report used rsync, which writes each file under a temporary name and renames it.",
    (
        f"assumed: an EFS write operation takes {ONE_ZONE.write_ms:g} ms (One Zone) or {REGIONAL.write_ms:g} ms, as "
        f"documented. So a file takes {nfs.FILE_RATES['efs-one-zone', 'write'].operations:.0f} or"
        f" {nfs.FILE_RATES['efs-regional', 'write'].operations:.0f} operations."
    ),
    (
        f"calibrated: a file takes {nfs.OPENZFS_OPERATIONS} operations on OpenZFS. A t3a.small measured"
        f" {nfs.SYNC_OPS_PER_S} (sync) and {nfs.ASYNC_OPS_PER_S:,} (async) operations of 4 KiB per second (2025 "
        "report)."
    ),
    (
        f"rule: all workers share the limits: {_shared('efs-regional', 'write')} on EFS,"
        f" {_shared('ebs-gp3', 'write')} on gp3, {_shared('openzfs-sync', 'write')} on OpenZFS."
    ),
)
SIDE_BY_SIDE: Final = (
    f"calibrated: P workers are P^{nfs.PARALLEL_EXPONENT:g} times as fast if the work is distributed as in /usr, and P "
    f"times if evenly. This is assumed above {nfs.MEASURED_WORKERS} workers and for OpenZFS."
)
READING: Final = (
    (
        "measured: times per file are those of find and cat in the report. They are interpolated on a log scale "
        "between "
        "1, 2, 4 and 8 workers. More workers are no faster."
    ),
    f"assumed: an EFS read operation takes {REGIONAL.read_ms:g} ms, as documented. A file on gp3 takes one operation.",
    (
        f"rule: all workers share the limits: {_shared('efs-regional', 'read')} on EFS, {_shared('ebs-gp3', 'read')} "
        "on "
        "gp3."
    ),
)

ESTIMATE = Estimate(
    title="How long many small files take, and which options are faster",
    inputs=SmallFiles,
    result=SmallFilesTime,
    work=work,
)
