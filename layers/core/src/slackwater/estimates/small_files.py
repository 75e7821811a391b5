"""How long many small files take, and on what they would take less.

Small files wait: each of a file's operations is answered before the next one goes out. Throughput hardly matters; workers side
by side do, and so does how long an answer takes.
"""

from __future__ import annotations

from decimal import Decimal
from math import ceil
from typing import Final, get_args

from pydantic import Field

from slackwater.model.estimates import Alternative, Answer, Estimate, Figure, Inputs, Known, Result, Usd, of
from slackwater.model.money import Change, amount, difference, ebs_storage, efs_storage
from slackwater.model.quantities import Size, duration_words, size_words
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
CAVEATS: Final[dict[nfs.Storage, str]] = {
    "ebs-gp3": "for one instance; an order of magnitude",
    "efs-one-zone": "lost if its zone is lost",
    "efs-regional": "",
    "openzfs-sync": "",
    "openzfs-async": "an acknowledged write can be lost",
}
WARNINGS: Final = (
    "Workers race: see to it that no two of them write the same file or make the same directory.",
    "Every worker may open connections of its own: count those to a database (RDS), and the sockets left in TIME_WAIT.",
    "Some NFS clients serialise what workers ask for, such as RHEL 6: more workers gain nothing there.",
)
TWO_REPORTS: Final = (
    "EFS and OpenZFS were measured by different people with different tools: compare them roughly. Side by side, EFS made"
    f" {nfs.EFS_OPS_PER_S} writes a second of 4 KiB where sync OpenZFS made {nfs.SYNC_OPS_PER_S}."
)
ON_WRITING: Final = (
    f"{nfs.ASYNC_CAVEAT[0].upper()}{nfs.ASYNC_CAVEAT[1:]}",
    "EBS's times are an order of magnitude only: writes end in the page cache. A volume belongs to one instance.",
    TWO_REPORTS,
)


class SmallFiles(Inputs):
    """Files that one client writes or reads."""

    files: int = Field(ge=1, le=10**12, description="How many files")
    bytes: Size = Field(description="How large they are, all together")
    workers: int = Field(default=1, ge=1, le=256, description="How many work side by side")
    storage: nfs.Storage = Field(default="efs-regional", description="What they are on, or go to")
    operation: nfs.Operation = Field(default="write", description="Whether they are written or read")


class Option(Result):
    """The same files with more workers, or on another storage."""

    storage: nfs.Storage = of("Storage")
    workers: int = of("Workers")
    seconds: Figure | None = of("Time", "s")
    seconds_range: tuple[Figure, Figure] | None = of("Range", "s")
    bound_by: nfs.Bound | None = of("Bound by")
    monthly_usd: Usd | None = of("Holding them", "USD/month")
    caveat: str = of("But")


class SmallFilesTime(Result):
    """How long the files take, what decides it, and what else there is."""

    seconds: Figure | None = of("Time", "s")
    seconds_range: tuple[Figure, Figure] | None = of("Range, from a balanced tree to /usr", "s")
    bound_by: nfs.Bound | None = of("Bound by")
    files_per_second: Figure | None = of("Files", "files/s")
    operations_per_second: Figure | None = of("Operations", "operations/s")
    monthly_usd: Usd | None = of("The least that holds them", "USD/month")
    alternatives: list[Option] = of("Other ways")
    warnings: list[str] = of("Mind")


def work(inputs: SmallFiles, known: Known) -> Answer[SmallFilesTime]:
    """The files as asked, then with more workers, then on every other storage."""
    now = _passage(inputs, inputs.storage, inputs.workers)
    others = [
        *((inputs.storage, workers) for workers in MORE_WORKERS if workers > inputs.workers),
        *((storage, inputs.workers) for storage in STORAGES if storage != inputs.storage),
    ]
    options = [_option(inputs, storage, workers, known) for storage, workers in others]
    return Answer(
        summary=_summary(inputs, now, options),
        result=SmallFilesTime(
            seconds=now and now.seconds,
            seconds_range=_range(now),
            bound_by=now and now.bound_by,
            files_per_second=now and now.files_per_s,
            operations_per_second=now and now.operations_per_s,
            monthly_usd=_usd(_holding(inputs.storage, inputs.bytes), known),
            alternatives=options,
            warnings=[*(ON_WRITING if inputs.operation == "write" else ()), *WARNINGS],
        ),
        assumptions=(*(WRITING if inputs.operation == "write" else READING), *ALWAYS),
        sources=(
            EFS_REPORT,
            OPENZFS_REPORT,
            'Amazon EFS User Guide, "Amazon EFS performance"',
            'Amazon EBS User Guide, "Amazon EBS General Purpose SSD volumes"',
            'Amazon FSx for OpenZFS User Guide, "Performance for SSD storage"',
        ),
        alternatives=tuple(_alternatives(inputs, now)),
    )


def _passage(inputs: SmallFiles, storage: nfs.Storage, workers: int) -> nfs.Passage | None:
    return nfs.passage(storage, inputs.operation, files=inputs.files, size_bytes=inputs.bytes, workers=workers)


def _range(passage: nfs.Passage | None) -> tuple[float, float] | None:
    return None if passage is None else (passage.best_s, passage.seconds)


def _option(inputs: SmallFiles, storage: nfs.Storage, workers: int, known: Known) -> Option:
    passage = _passage(inputs, storage, workers)
    return Option(
        storage=storage,
        workers=workers,
        seconds=passage and passage.seconds,
        seconds_range=_range(passage),
        bound_by=passage and passage.bound_by,
        monthly_usd=_usd(_holding(storage, inputs.bytes), known),
        caveat=CAVEATS[storage],
    )


def _holding(storage: nfs.Storage, size_bytes: float) -> tuple[Change, ...] | None:
    """What the least that holds them is billed for; None where nothing of the kind does."""
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


def _summary(inputs: SmallFiles, now: nfs.Passage | None, options: list[Option]) -> str:
    what = f"{'Writing' if inputs.operation == 'write' else 'Reading'} {inputs.files:,} files ({size_words(inputs.bytes)})"
    where = f"{'to' if inputs.operation == 'write' else 'from'} {NAMES[inputs.storage]}"
    if now is None:
        return (
            f"{what} {where}: nobody measured how OpenZFS reads, so there is no figure. Sync and async exports differ only in"
            " writing."
        )
    answer = f"{what} {where} takes {_workers(inputs.workers)} {duration_words(now.seconds)}: {_why(inputs, now)}."
    more = [one for one in options if one.storage == inputs.storage][:1]
    shared = [one for one in options if one.storage not in {inputs.storage, "ebs-gp3"} and one.seconds is not None]
    faster = sorted((one for one in shared if (one.seconds or 0) < now.seconds), key=lambda one: one.seconds or 0)[:1]
    ways = [f"{_workers(one.workers)} would take {duration_words(one.seconds or 0)}" for one in more]
    ways += [f"{NAMES[one.storage]} {'' if ways else 'would take '}{duration_words(one.seconds or 0)}" for one in faster]
    return f"{answer} {_sentence(', '.join(ways))}" if ways else answer


def _workers(count: int) -> str:
    return f"{count} workers" if count > 1 else "one worker"


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _why(inputs: SmallFiles, now: nfs.Passage) -> str:
    match now.bound_by:
        case "latency":
            each_ms = now.seconds / inputs.files * 1000
            return f"{each_ms:.2g} ms a file, spent on waiting for answers; throughput is not the limit"
        case "throughput":
            pace = nfs.PACES[inputs.storage, inputs.operation]
            return f"its throughput of {size_words(pace.bytes_per_s)}/s is the limit"
        case "iops":
            pace = nfs.PACES[inputs.storage, inputs.operation]
            return f"its {pace.iops:,.0f} operations a second are the limit"


def _alternatives(inputs: SmallFiles, now: nfs.Passage | None) -> list[Alternative]:
    """More workers first: they cost nothing, neither money nor safety."""
    ways = [
        Alternative(
            id="more-workers",
            summary=f"{workers} workers side by side are {_gain(now, then)}",
            solves=_is_faster(now, then),
            changes=(),
        )
        for workers in MORE_WORKERS
        if workers > inputs.workers and (then := _passage(inputs, inputs.storage, workers))
    ][:1]
    held = _holding(inputs.storage, inputs.bytes)
    for storage in STORAGES:
        holding = _holding(storage, inputs.bytes)
        if storage != inputs.storage and held is not None and holding is not None:
            then = _passage(inputs, storage, inputs.workers)
            ways.append(
                Alternative(
                    id=storage,
                    summary=f"{NAMES[storage]} is {_gain(now, then)}",
                    solves=_is_faster(now, then),
                    changes=difference(held, holding),
                )
            )
    return ways


def _is_faster(now: nfs.Passage | None, then: nfs.Passage | None) -> bool:
    return now is not None and then is not None and then.seconds < now.seconds


def _gain(now: nfs.Passage | None, then: nfs.Passage | None) -> str:
    if now is None or then is None:
        return "not to be compared: nobody measured how OpenZFS reads"
    least, most = sorted((now.seconds / then.seconds, now.best_s / then.best_s))
    return f"{_times(1 / most, 1 / least)} slow" if most < 1 else f"{_times(least, most)} fast"


def _times(least: float, most: float) -> str:
    words = [f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}".removesuffix(".0") for ratio in (least, most)]
    return "as" if {*words} == {"1"} else f"{' to '.join(dict.fromkeys(words))} times as"


def _shared(storage: nfs.Storage, operation: nfs.Operation) -> str:
    pace = nfs.PACES[storage, operation]
    return f"{size_words(pace.bytes_per_s)}/s and {pace.iops:,.0f} operations a second"


ONE_ZONE, REGIONAL = (efs.limits("bursting", one_zone=one_zone) for one_zone in (True, False))
WRITING: Final = (
    (
        f"calibrated: a file takes one worker {nfs.EFS_ONE_ZONE_FILE_S * 1000:g} ms on EFS One Zone and"
        f" {nfs.EFS_REGIONAL_FILE_S * 1000:g} ms on EFS Regional, by the {EFS_REPORT}: 1.1 GB on an m5.large, met within 2.4 %"
    ),
    f"assumed: that 1.1 GB were {nfs.REPORT_FILES:,} files, as the report gives no count",
    (
        f"assumed: each of a file's operations takes EFS the documented {ONE_ZONE.write_ms:g} ms (One Zone) or"
        f" {REGIONAL.write_ms:g} ms (Regional), so that a file has {nfs.PACES['efs-one-zone', 'write'].operations:.0f} or"
        f" {nfs.PACES['efs-regional', 'write'].operations:.0f} of them"
    ),
    (
        f"calibrated: P workers are P^{nfs.PARALLEL_EXPONENT:g} times as fast, as on /usr, whose directories are of unequal"
        " size; on a balanced tree P times, as the report says: seconds_range begins with that"
    ),
    f"assumed: that goes on beyond the {nfs.MEASURED_WORKERS} workers that were measured, and is the same on OpenZFS",
    (
        f"measured: OpenZFS made {nfs.SYNC_OPS_PER_S} operations a second sync and {nfs.ASYNC_OPS_PER_S:,} async, in blocks of"
        f" 4 KiB at {nfs.OPENZFS_MB_S} MB/s and 192 IOPS, Multi-AZ, from a t3a.small ({OPENZFS_REPORT})"
    ),
    f"calibrated: {nfs.OPENZFS_OPERATIONS} operations a file on OpenZFS, as 38,000 files took about 17 minutes sync",
    (
        f"calibrated: gp3 takes {nfs.PACES['ebs-gp3', 'write'].file_s * 1000:.2g} ms a file, and workers speed it up as was"
        " measured, no more beyond 4: an order of magnitude only, as writes end in the page cache"
    ),
    (
        f"rule: all workers share EFS's burst of {_shared('efs-regional', 'write')}, gp3's {_shared('ebs-gp3', 'write')} (one"
        f" for a file at least), OpenZFS's {nfs.OPENZFS_MB_S} MB/s"
    ),
)
READING: Final = (
    (
        f"measured: the times of the {EFS_REPORT} for 1.1 GB on an m5.large, by file; between 1, 2, 4 and 8 workers on a log"
        " scale, and no faster beyond 8. Reading speeds up more than twice from one worker to two: no formula of ours says why"
    ),
    f"assumed: that 1.1 GB were {nfs.REPORT_FILES:,} files, as the report gives no count",
    f"assumed: each of a file's operations takes EFS the documented {REGIONAL.read_ms:g} ms; gp3 has one operation a file",
    f"rule: all workers share EFS's burst of {_shared('efs-regional', 'read')}, gp3's {_shared('ebs-gp3', 'read')}",
)
ALWAYS: Final = (
    "assumed: one client, nothing else on the storage, EFS below 1 TiB in Bursting mode with credits to the end",
    (
        "assumed: monthly_usd is the least that holds the bytes: EFS Standard by the byte, gp3 by whole GiB, OpenZFS Multi-AZ"
        " from 64 GiB with 160 MB/s; list prices"
    ),
)

ESTIMATE = Estimate(
    title="How long many small files take, and on what they would take less",
    inputs=SmallFiles,
    result=SmallFilesTime,
    work=work,
)
