"""OpenZFS exports whose clients wait for every small write.

## What it finds
A volume with an NFS export that is `sync` (FSx's default: `async` is not among the options), into which its clients wrote at
least 100 small writes a second (64 KiB or less on average) for half an hour or more of the last 14 days, while the disks
were less than half busy, at a rate that stuck to a ceiling, or to two of them when a writer came or went. Then it is not the
disk that is slow: each write waits to be acknowledged by stable storage, and so many waits fit into a second.

## Why it matters
IOPS and throughput bought for such a file system change nothing: 342 operations a second at 192 IOPS, 327 at 960; with
`async` 3,768 ("Sharing WordPress content on FSx for OpenZFS", 2025-03).

## When it is wrong
The rate may be all that the application wants to write: demand rises and falls, and a rate that does is not found, but a
steady demand looks the same as a wait; ask whether anybody waits. Writes by other volumes of the same file system share its
disks; minutes in which those were busy do not count.

## What to do
First at the clients, which costs nothing: more writers side by side, larger writes, `nconnect`, fewer fsyncs. Then, only for
data that may lose its last seconds (a cache, a deployed document root), `async`. It is never set for you: an acknowledged
write can be lost when the file server fails. Not for databases, not for anything that cannot be made again.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import groupby
from math import isnan
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.estimates import Alternative
from slackwater.model.metrics import Metric, Series
from slackwater.model.resources import FsxFileSystem, FsxVolume, NfsClients, Target
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S, KIB
from slackwater.model.verdicts import Advice, Ask, Evidence, Fine, Flagged, Line, Remedy, Unknown, Verdict
from slackwater.performance import nfs

WRITES = Metric("AWS/FSx", "DataWriteOperations", "Sum", "operations")
WRITTEN = Metric("AWS/FSx", "DataWriteBytes", "Sum", "bytes")
BUSY: Final = tuple(
    Metric("AWS/FSx", name, "Maximum", "percent")
    for name in ("DiskIopsUtilization", "FileServerDiskIopsUtilization", "FileServerDiskThroughputUtilization")
)


class SyncExportLimits(Limits):
    """What write load makes a sync export matter."""

    window_days: int = limit(14, unit="days", ge=2, le=60, why="two weekly rhythms; five-minute points are kept 63 days")
    busy_writes_per_s: float = limit(100, unit="writes/s", gt=0, why="below that nobody waits: 342 a second were measured sync")
    small_write_kib: float = limit(64, unit="KiB", gt=0, why="larger writes are bound by throughput, not by the wait")
    busy_minutes: int = limit(30, unit="minutes", ge=5, le=1440, why="six five-minute points: not one deployment's hiccup")
    disk_percent: float = limit(
        50, unit="percent", gt=0, le=100, why="AWS advises to stay below; above, the disk may be the limit"
    )
    ceiling_percent: float = limit(
        10, unit="percent", gt=0, le=50, why="latency hardly varies over five minutes of writes; demand does"
    )


def judge(volume: FsxVolume, seen: Seen, limits: SyncExportLimits) -> Verdict:
    """Flag a volume whose clients write small and often through a sync export while its disks are at rest."""
    waiting = [entry for entry in volume.nfs_export if entry.is_sync]
    if volume.volume_type != "OPENZFS":
        return Fine(f"it is {volume.volume_type}, not OpenZFS")
    if not volume.nfs_export:
        return Fine("it exports nothing")
    if not waiting:
        return Fine("every client entry is async")
    points_wanted = limits.busy_minutes * 60 // FIVE_MINUTES_S

    by_hour = WRITES.need(*_dimensions(volume), period_s=HOUR_S, days=limits.window_days)
    if lacking := seen.lacking([by_hour]):
        return Ask(lacking)
    if not seen[by_hour].present:
        return Unknown(f"DataWriteOperations has no point in {limits.window_days} days")
    one_point = limits.busy_writes_per_s * FIVE_MINUTES_S
    if not _may_be_busy(seen[by_hour].present, one_point, points_wanted):
        return Fine("hardly anything is written")

    writes_need, written_need = (
        metric.need(*_dimensions(volume), period_s=FIVE_MINUTES_S, days=limits.window_days) for metric in (WRITES, WRITTEN)
    )
    busy_needs = [
        metric.need(("FileSystemId", volume.file_system_id), period_s=FIVE_MINUTES_S, days=limits.window_days)
        for metric in BUSY
    ]
    if lacking := seen.lacking([writes_need, written_need, *busy_needs]):
        return Ask(lacking)
    writes, written = seen[writes_need], seen[written_need]
    busy = [seen[need] for need in busy_needs]
    small = [
        i
        for i, (count, size) in enumerate(zip(writes.values, written.values, strict=True))
        if count >= one_point and size / count <= limits.small_write_kib * KIB  # NaN, a missing point, is neither
    ]
    if len(small) < points_wanted:
        hidden = _hidden(seen[by_hour], writes, written)
        if _may_be_busy(hidden, one_point, points_wanted):
            return Unknown(f"of {sum(hidden):,.0f} writes no five minutes tell when they came, or how large they were")
        return Fine("it never wrote many small files for long")
    quiet = [i for i in small if not any(series.values[i] >= limits.disk_percent for series in busy)]
    if len(quiet) < points_wanted:
        return Fine("its disks were busy: they are the limit, not the export")
    held = _at_a_ceiling(writes, quiet, one_point, limits.ceiling_percent / 100)
    if len(held) < points_wanted:
        return Fine("its writes rose and fell with the demand: nothing held them at a ceiling")
    waited = [i for i in held if not any(isnan(series.values[i]) for series in busy)]
    if len(waited) < points_wanted:
        holes = {metric.name: sum(isnan(series.values[i]) for i in held) for metric, series in zip(BUSY, busy, strict=True)}
        name = max(holes, key=lambda name: holes[name])
        return Unknown(f"{name} has no point in {holes[name]} of {len(held)} busy five minutes")
    return _flag(volume, waiting, writes, written, busy, waited, seen)


def _dimensions(volume: FsxVolume) -> tuple[tuple[str, str], ...]:
    return ("FileSystemId", volume.file_system_id), ("VolumeId", volume.id)


def _may_be_busy(hours: Iterable[float], one_point: float, points: int) -> bool:
    """Whether so many five-minute points can be among the writes of these hours."""
    return sum(hour for hour in hours if hour >= one_point) >= points * one_point


def _hidden(by_hour: Series, writes: Series, written: Series) -> list[float]:
    """Of the writes of each hour, those that no five minutes show with their size."""
    shown = defaultdict[float, float](float)
    for i, (count, size) in enumerate(zip(writes.values, written.values, strict=True)):
        if not isnan(count + size):
            shown[(writes.start_s + i * FIVE_MINUTES_S) // HOUR_S] += count
    hours = ((by_hour.start_s + i * HOUR_S, count) for i, count in enumerate(by_hour.values) if not isnan(count))
    return [count - shown[start_s // HOUR_S] for start_s, count in hours if start_s >= writes.start_s]


ONE_CEILING: Final = 0.6
"""Of the points of a run, so many lie at its ceiling; the others are its start, its end and noise."""
TWO_CEILINGS: Final = 0.8
"""So many lie at one of two: two prove less than one."""


def _at_a_ceiling(writes: Series, at_rest: list[int], one_point: float, width: float) -> list[int]:
    """Those of `at_rest` at the ceilings of their runs.

    A run goes on while at least half as much is written as counts, so that a demand that rises and falls shows its slopes.
    """
    counted = set(at_rest)
    busy = (i for i, count in enumerate(writes.values) if not count < one_point / 2)  # a missing point ends no run
    found: list[int] = []
    for _, grouped in groupby(enumerate(busy), key=lambda at: at[1] - at[0]):
        run = [i for _, i in grouped if not isnan(writes.values[i])]
        if run:
            found += [i for i in _held(writes, run, width) if i in counted]
    return found


def _held(writes: Series, run: list[int], width: float) -> list[int]:
    """The points of a run within `width` of its ceiling, or of its two: a writer more or fewer moves it. None of a demand.

    A demand that falls passes through what lies between; a second ceiling stands clear of the first.
    """
    high = _ceiling(writes, run)
    near = [i for i in run if abs(writes.values[i] / high - 1) <= width]
    if len(near) >= ONE_CEILING * len(run):
        return near
    rest = sorted(set(run) - set(near))
    low = _ceiling(writes, rest)
    near += [i for i in rest if abs(writes.values[i] / low - 1) <= width]
    is_clear = low * (1 + width) < high * (1 - width)
    return near if is_clear and len(near) >= TWO_CEILINGS * len(run) else []


def _ceiling(writes: Series, points: list[int]) -> float:
    """What a tenth of the points reach."""
    rates = sorted(writes.values[i] for i in points)
    return rates[round(0.9 * (len(rates) - 1))]


def _flag(
    volume: FsxVolume,
    waiting: list[NfsClients],
    writes: Series,
    written: Series,
    busy: Sequence[Series],
    at_rest: list[int],
    seen: Seen,
) -> Flagged:
    file_system = seen.fleet.get(FsxFileSystem, volume.file_system_id)
    count = sum(writes.values[i] for i in at_rest)
    per_s = count / len(at_rest) / FIVE_MINUTES_S
    kib = sum(written.values[i] for i in at_rest) / KIB
    disk = max(series.values[i] for series in busy for i in at_rest if not isnan(series.values[i]))
    slow_hours = len(at_rest) * FIVE_MINUTES_S / HOUR_S
    clients = ", ".join(entry.clients for entry in waiting)
    evidence = [
        Evidence(
            label="Writes by five minutes",
            value=round(per_s),
            unit="writes/s",
            series=_around(writes, at_rest),
            lines=(Line("Ceiling", round(_ceiling(writes, at_rest) / FIVE_MINUTES_S, 1)),),
        ),
        Evidence(label="Mean size of a write", value=round(kib / count, 1), unit="KiB"),
        Evidence(label="Disks at most", value=round(disk, 1), unit="percent busy"),
        Evidence(label="So for", value=round(slow_hours, 1), unit="hours"),
        Evidence(label="Client entries that are sync", value=clients, unit="words"),
    ]
    if file_system and file_system.iops:
        evidence.append(Evidence(label="SSD IOPS provisioned", value=file_system.iops, unit="IOPS"))
    return Flagged(
        summary=(
            f"clients {clients} made {per_s:,.0f} writes a second of {kib / count:,.0f} KiB through a sync export while the"
            f" disks were at most {disk:.0f} % busy: each write waits for its acknowledgement"
        ),
        severity="high" if slow_hours >= 24 else "medium",
        confidence="medium",
        evidence=tuple(evidence),
        advice=(AT_THE_CLIENTS,),
        gist=tuple(sorted(entry.clients for entry in waiting)),
        covers=(volume.file_system_id,),
        caveats=(
            nfs.ASYNC_CAVEAT,
            "More IOPS or throughput will not help while the export is sync.",
        ),
        remedies=(
            Remedy(
                kind="small-files",
                inputs={  # of five minutes
                    "files": max(1, round(count / len(at_rest) / nfs.OPENZFS_OPERATIONS)),
                    "bytes": f"{kib / len(at_rest):.0f}KiB",
                    "storage": "openzfs-sync",
                },
                advise=lambda way: _async_export(volume, waiting, way) if way.id == "openzfs-async" else None,
            ),
        ),
    )


def _around(writes: Series, at_rest: list[int]) -> Series:
    """Writes a second over the day of the busiest point."""
    busiest = max(at_rest, key=lambda i: writes.values[i])
    middle_s = writes.start_s + busiest * FIVE_MINUTES_S
    part = writes.between(middle_s - DAY_S / 2, middle_s + DAY_S / 2)
    return part.over(FIVE_MINUTES_S)


AT_THE_CLIENTS: Final = Advice(
    action="client-side-first",
    summary=(
        "At the clients, without risk: several writers side by side (rsync or tar in parallel), larger writes (wsize=1048576),"
        " nconnect=16, no fsync after each file."
    ),
    changes=(),
    risk="None for the data.",
    reversible=True,
)


def _async_export(volume: FsxVolume, waiting: list[NfsClients], way: Alternative) -> Advice:
    return Advice(
        action="async-export",
        summary=(
            f"Where the last seconds may be lost: async for {', '.join(entry.clients for entry in waiting)}. {way.summary},"
            " for one writer, by what was measured with 4 KiB. The command carries the whole export list, because UpdateVolume"
            " replaces it."
        ),
        changes=way.changes,
        risk="Acknowledged writes are lost when the file server fails or fails over.",
        reversible=True,
        command=(
            f"aws fsx update-volume --volume-id {volume.id} --region {volume.target.region}"
            f" --open-zfs-configuration '{_all_async(volume)}'"
        ),
    )


def _all_async(volume: FsxVolume) -> str:
    options = [
        {"Clients": entry.clients, "Options": [*(o for o in entry.options if o not in {"sync", "async"}), "async"]}
        for entry in volume.nfs_export
    ]
    return json.dumps({"NfsExports": [{"ClientConfigurations": options}]})


_TARGET = Target("123456789012", "ap-northeast-1")
_SYNC = NfsClients(clients="10.0.0.0/16", options=("rw", "crossmnt", "no_root_squash"))
_ASYNC = NfsClients(clients="10.1.0.0/16", options=("async", "rw", "crossmnt"))
_VOLUME = FsxVolume(
    id="fsvol-0123456789abcdef0",
    arn="arn:aws:fsx:ap-northeast-1:123456789012:volume/fs-0123456789abcdef0/fsvol-0123456789abcdef0",
    target=_TARGET,
    tags={"Name": "wordpress-content"},
    file_system_id="fs-0123456789abcdef0",
    volume_type="OPENZFS",
    state="AVAILABLE",
    created_at=CASE_NOW - timedelta(days=250),
    path="/fsx/wordpress",
    nfs_export=(_SYNC,),
)


def _writing(per_s: float, kib: float, disk_percent: float | None) -> Mapping[tuple[Metric, int], Sequence[float | None]]:
    """Two hours of such writes every night, and what the disks did meanwhile."""
    ops = ([per_s * 300] * 24 + [300.0] * 264) * 14
    return {
        (WRITES, HOUR_S): [sum(ops[i : i + 12]) for i in range(0, len(ops), 12)],
        (WRITES, FIVE_MINUTES_S): ops,
        (WRITTEN, FIVE_MINUTES_S): [n * kib * KIB for n in ops],
        **{(metric, FIVE_MINUTES_S): [disk_percent] * len(ops) for metric in BUSY},
    }


def _two_writers_then_one() -> Mapping[tuple[Metric, int], Sequence[float | None]]:
    """Two writers for half an hour, and one of them for 90 minutes more, every night."""
    return _by_five_minutes(([600.0] * 6 + [300.0] * 18 + [1.0] * 264) * 14)


def _by_five_minutes(per_s: Sequence[float]) -> Mapping[tuple[Metric, int], Sequence[float | None]]:
    """So many writes of 4 KiB a second; the disks are at rest."""
    ops = [rate * 300 for rate in per_s]
    return {
        (WRITES, HOUR_S): [sum(ops[i : i + 12]) for i in range(0, len(ops), 12)],
        (WRITES, FIVE_MINUTES_S): ops,
        (WRITTEN, FIVE_MINUTES_S): [n * 4 * KIB for n in ops],
        **{(metric, FIVE_MINUTES_S): [8.0] * len(ops) for metric in BUSY},
    }


def _over_the_day() -> Mapping[tuple[Metric, int], Sequence[float | None]]:
    """From 100 to 400 writes a second and back, every day."""
    return _by_five_minutes([100 + 300 * (1 - abs(i - 144) / 144) for i in range(288)] * 14)


DETECTOR = Detector(
    title="FSx for OpenZFS export that makes small writes wait",
    kind="performance",
    resource=FsxVolume,
    limits=SyncExportLimits,
    reads_if_allowed=(FsxFileSystem,),
    outranks=("fsx-surplus-iops", "fsx-surplus-throughput"),
    judge=judge,
    cases=(
        Case(
            title="a document root on a sync export, 4 KiB writes, disks at rest",
            resource=_VOLUME,
            metrics=_writing(342, 4, 8),
            expect=Flagged,
            says="342 writes a second of 4 KiB through a sync export",
        ),
        Case(
            title="one client entry of two is sync",
            resource=replace(_VOLUME, nfs_export=(_ASYNC, _SYNC)),
            metrics=_writing(342, 4, 8),
            expect=Flagged,
            says="clients 10.0.0.0/16 made",
        ),
        Case(
            title="two writers, and later one",
            resource=_VOLUME,
            metrics=_two_writers_then_one(),
            expect=Flagged,
            says="375 writes a second",
        ),
        Case(
            title="many writers, each at its own pace, over the day",
            resource=_VOLUME,
            metrics=_over_the_day(),
            expect=Fine,
            says="rose and fell",
        ),
        Case(title="async", resource=replace(_VOLUME, nfs_export=(_ASYNC,)), expect=Fine, says="async"),
        Case(title="hardly any writes", resource=_VOLUME, metrics=_writing(1, 4, 3), expect=Fine, says="hardly"),
        Case(title="large writes", resource=_VOLUME, metrics=_writing(150, 1024, 30), expect=Fine, says="many small"),
        Case(title="the disk at its limit", resource=_VOLUME, metrics=_writing(342, 4, 96), expect=Fine, says="were busy"),
        Case(
            title="nobody knows what the disks did",
            resource=_VOLUME,
            metrics=_writing(342, 4, None),
            expect=Unknown,
            says="DiskIopsUtilization has no point",
        ),
        Case(
            title="nobody knows what the file server's own disks did",
            resource=_VOLUME,
            metrics={**_writing(342, 4, 8), (BUSY[2], FIVE_MINUTES_S): []},
            expect=Unknown,
            says="FileServerDiskThroughputUtilization has no point",
        ),
        Case(
            title="busy hours whose five minutes are missing",
            resource=_VOLUME,
            metrics={**_writing(342, 4, 8), (WRITES, FIVE_MINUTES_S): []},
            expect=Unknown,
            says="writes no five minutes tell",
        ),
        Case(title="no metrics", resource=_VOLUME, expect=Unknown, says="no point in 14 days"),
        Case(title="an ONTAP volume", resource=replace(_VOLUME, volume_type="ONTAP", nfs_export=()), expect=Fine, says="ONTAP"),
        Case(title="no export", resource=replace(_VOLUME, nfs_export=()), expect=Fine, says="exports nothing"),
    ),
)
