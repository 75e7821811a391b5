"""FSx for OpenZFS volumes whose NFS clients wait for every small write.

## What it finds
A volume with a `sync` NFS export: FSx's default, unless the options include `async`. For half an hour or more of the
last 14 days, its clients made at least 100 small writes a second (64 KiB or less on average) while the disks were less
than half busy. The rate stayed at a ceiling, because each write waits until it is on stable storage.

## Why it matters
More IOPS or throughput do not help: 342 operations a second at 192 IOPS, 327 at 960, but 3,768 with `async` ("Sharing
WordPress content on FSx for OpenZFS", 2025-03).

## When it is wrong
- The application may not want to write faster: a steady demand looks like a wait. Ask whether anyone waits.
- If CloudWatch has no operations by volume, the writes of the file system count. If clients can write to several of its
  volumes, one finding names them all and does not recommend `async`.

## What to do
Start at the clients, which costs nothing: more writers in parallel, larger writes, `nconnect`, fewer fsync calls. Only
for data whose last seconds you can lose, such as a cache, consider `async`. A file server that fails loses writes that
it has acknowledged, so `async` is not for databases or data that you cannot recreate. Slackwater never sets it.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import batched
from math import isnan
from operator import attrgetter
from typing import Final

from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.estimates import Alternative
from slackwater.model.fleet import Fleet
from slackwater.model.metrics import Series
from slackwater.model.resources import FsxFileSystem, FsxVolume, NfsClients
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S, KIB, MINUTE_S
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Line, Remedy, Unknown, Verdict
from slackwater.performance import nfs
from slackwater.rules import examples
from slackwater.rules.examples import Cases, Metrics
from slackwater.rules.fsx import DISK_IOPS, SERVER_DISK_IOPS, SERVER_DISK_THROUGHPUT, WRITES, WRITTEN

DISKS: Final = (DISK_IOPS, SERVER_DISK_IOPS, SERVER_DISK_THROUGHPUT)
DEMAND: Final = Fine("its writes were few, or rose and fell with the demand, without a ceiling")


class SyncExportLimits(Limits):
    """Which writes make a sync export an issue."""

    window_days: int = limit(14, unit="days", ge=2, le=60, why="two weekly rhythms; CloudWatch keeps points 63 days")
    busy_writes_per_s: float = limit(100, unit="writes/s", gt=0, why="below it, nobody waits; 342 were measured")
    small_write_kib: float = limit(64, unit="KiB", gt=0, why="throughput limits larger writes, not the wait")
    busy_minutes: int = limit(30, unit="minutes", ge=5, le=1440, why="six points: more than one slow deployment")
    disk_percent: float = limit(50, unit="percent", gt=0, le=100, why="AWS advises to stay below it")
    ceiling_percent: float = limit(10, unit="percent", gt=0, le=50, why="latency varies less, demand varies more")


def judge(volume: FsxVolume, seen: Seen, limits: SyncExportLimits) -> Verdict:
    """Flag a volume with many small writes at a ceiling through a sync export while its disks are not busy."""
    if volume.volume_type != "OPENZFS":
        return Fine(f"it is {volume.volume_type}, not OpenZFS")
    if not _waiting(volume):
        return Fine("no entry of its NFS export is sync")
    own, on_server = _of(volume), (("FileSystemId", volume.file_system_id),)
    by, days, others = own, limits.window_days, tuple[FsxVolume, ...]()

    (by_hour,) = seen.read(WRITES.need(*own, period_s=HOUR_S, days=days))
    busy, needed = limits.busy_writes_per_s * FIVE_MINUTES_S, limits.busy_minutes * MINUTE_S // FIVE_MINUTES_S
    if not by_hour.present:
        by, others = on_server, _other_exports(volume, seen.fleet)
        by_hour = unless_decided(_by_file_system(volume, others, seen, days))
        days = min(days, seen.age(volume.created_at).days)
    if not _may_hold(by_hour.present, busy, needed):
        return Fine("it has few writes")

    metrics = (WRITES, by), (WRITTEN, by), *((disk, on_server) for disk in DISKS)
    needs = [metric.need(*of, period_s=FIVE_MINUTES_S, days=days) for metric, of in metrics]
    writes, *_ = seen.read(*(needs[:1] if by == own else needs))  # for a file system, this round is the last
    held = nfs.held_at_ceiling(writes.values, busy, limits.ceiling_percent / 100)
    many = [i for i in held if writes.values[i] >= busy]
    if len(many) < needed and not _may_hold(_hidden(by_hour, writes, writes), busy, needed):
        return DEMAND
    _, written, *disks = seen.read(*needs)
    largest, sizes = limits.small_write_kib * KIB, enumerate(zip(writes.values, written.values, strict=True))
    # The comparisons are False for NaN, a missing point.
    small = {i for i, (count, size) in sizes if count >= busy and size / count <= largest}
    if len(small) < needed:
        hidden = _hidden(by_hour, writes, written)
        if _may_hold(hidden, busy, needed):
            return Unknown(f"no five-minute points show when {sum(hidden):,.0f} writes came, or how large they were")
        return Fine("it never had many small writes for long")
    idle = {i for i in small if not any(one.values[i] >= limits.disk_percent for one in disks)}
    if len(idle) < needed:
        return Fine("its disks were busy: they are the limit, not the export")
    waited = unless_decided(_waited([i for i in many if i in idle], disks, needed))
    server = seen.fleet.get(FsxFileSystem, volume.file_system_id)
    iops = server.iops if server else None
    return _flag(volume, iops, [writes, written, *disks], waited, None if by == own else others)


def _waited(held: Sequence[int], disks: Sequence[Series], needed: int) -> Sequence[int] | Fine | Unknown:
    """Return the points at the ceiling with all metrics of the disks; the verdict if there are too few."""
    if len(held) < needed:
        return DEMAND
    waited = [i for i in held if not any(isnan(one.values[i]) for one in disks)]
    if len(waited) >= needed:
        return waited
    missing = [sum(isnan(one.values[i]) for i in held) for one in disks]
    most = max(missing)
    return Unknown(f"{DISKS[missing.index(most)].name} has no data in {most} of {len(held)} busy five minutes")


def _waiting(volume: FsxVolume) -> list[NfsClients]:
    """Return the entries of its export whose clients wait for each write. Clients of read-only entries do not write."""
    return [entry for entry in volume.nfs_export if entry.is_sync and "ro" not in entry.options]


def _of(volume: FsxVolume) -> tuple[tuple[str, str], ...]:
    return ("FileSystemId", volume.file_system_id), ("VolumeId", volume.id)


def _other_exports(volume: FsxVolume, fleet: Fleet) -> tuple[FsxVolume, ...]:
    """Return the other volumes of its file system that clients can write to through the volume's own export.

    Clients write to a volume without an export through one that has an export.

    Raises:
        UnreadableRecordError: A volume of the file system could not be read.
    """
    siblings = (one for one in fleet.fsx_volumes_of(volume.file_system_id) if one.id != volume.id)
    return tuple(one for one in siblings if any("ro" not in entry.options for entry in one.nfs_export))


def _by_file_system(volume: FsxVolume, others: Sequence[FsxVolume], seen: Seen, days: int) -> Series | Fine | Unknown:
    """Return the hourly writes of a volume's file system, for a volume without its own series, or the verdict.

    If another volume has a series, all writes of the file system may be that volume's. If none has one, only the
    oldest child volume is judged, so that there is one finding.
    """
    if why := seen.fleet.unreadable.get(FsxVolume):
        return Unknown(f"{WRITES.name} has no data by volume, and the list of volumes is incomplete: {why}")
    unpublished = Unknown(f"{WRITES.name} has no data in {days} days")
    by_volume = [WRITES.need(*_of(one), period_s=HOUR_S, days=days) for one in others]
    waiting = [one for one in (volume, *others) if _waiting(one)]
    # Judge the oldest volume. The root volume comes last, because it rarely has data.
    judged = min(waiting, key=lambda one: (one.path == "/fsx", one.created_at, one.id))
    if judged != volume:
        (own,) = seen.read(by_volume[others.index(judged)])
        if own.present:  # that volume is judged by its own series, which excludes the writes of this one
            return unpublished
        return Fine(f"{WRITES.name} has no data by volume: the writes of its file system are judged at {judged.id}")
    if not (since_created := min(days, seen.age(volume.created_at).days)):
        return unpublished
    all_writes = WRITES.need(("FileSystemId", volume.file_system_id), period_s=HOUR_S, days=since_created)
    by_file_system, *rest = seen.read(all_writes, *by_volume)
    return unpublished if not by_file_system.present or any(one.present for one in rest) else by_file_system


def _may_hold(hours: Iterable[float], least: float, points: int) -> bool:
    """Return whether these hours have enough writes for this many five-minute points of at least `least` each."""
    return sum(hour for hour in hours if hour >= least) >= points * least


def _hidden(by_hour: Series, writes: Series, written: Series) -> list[float]:
    """Return for each hour the number of writes that no five-minute point shows with their size."""
    shown = defaultdict[float, float](float)
    for i, (count, size) in enumerate(zip(writes.values, written.values, strict=True)):
        if not isnan(count + size):
            shown[(writes.start_s + i * FIVE_MINUTES_S) // HOUR_S] += count
    hours = ((by_hour.start_s + i * HOUR_S, count) for i, count in enumerate(by_hour.values) if not isnan(count))
    return [count - shown[start_s // HOUR_S] for start_s, count in hours if start_s >= writes.start_s]


def _flag(
    volume: FsxVolume, iops: int | None, points: list[Series], waited: Sequence[int], others: Sequence[FsxVolume] | None
) -> Flagged:
    """Flag the volume. `points` are writes, bytes and disk metrics. `waited` are the indexes of the points that count.

    `others` are other volumes that the writes may go to; None if the volume was judged by its own writes.
    """
    writes, written, *disks = points
    counts = [writes.values[i] for i in waited]
    per_s = sum(counts) / len(waited) / FIVE_MINUTES_S
    kib = sum(written.values[i] for i in waited) / KIB
    disk = max(one.values[i] for one in disks for i in waited)
    hours = len(waited) * FIVE_MINUTES_S / HOUR_S
    busiest_s = writes.start_s + max(waited, key=lambda i: writes.values[i]) * FIVE_MINUTES_S
    its_day = writes.between(busiest_s - DAY_S / 2, busiest_s + DAY_S / 2)
    ceiling = (Line("Ceiling", round(nfs.ceiling(counts) / FIVE_MINUTES_S, 1)),)
    entries = [entry.clients for entry in _waiting(volume)]
    clients = ", ".join(entries)
    candidates = sorted((volume, *others), key=attrgetter("id")) if others else []
    names = [f"{one.id} ({one.path})" for one in candidates]
    source = f"file system {volume.file_system_id}, which has no other export that clients can write to"
    meant = Evidence("Volumes that may be meant", ", ".join(names), "words")
    more = f" and {len(names) - NAMED_CANDIDATES} more" if len(names) > NAMED_CANDIDATES else ""
    shown = ", ".join(names[:NAMED_CANDIDATES]) + more
    which = f"The writes may be those of any of these volumes: {shown}. Check at the clients."
    async_export = Remedy(
        kind="small-files",
        inputs={  # for five minutes
            "files": max(1, round(sum(counts) / len(waited) / nfs.OPENZFS_OPERATIONS)),
            "bytes": f"{kib / len(waited):.0f}KiB",
            "storage": "openzfs-sync",
        },
        advise=partial(_async_export, volume, clients),
    )
    return Flagged(
        summary=(
            f"clients {clients} made {per_s:,.0f} writes a second of {kib / sum(counts):,.0f} KiB through a"
            f" sync export while the disks were at most {disk:.0f} % busy: each write waits for stable storage"
            + (f"; one of {len(names)} volumes, because CloudWatch has no writes by volume" if names else "")
        ),
        severity="high" if hours >= 24 else "medium",
        confidence="medium",
        evidence=(
            Evidence("Writes, per five minutes", round(per_s), "writes/s", its_day.over(FIVE_MINUTES_S), lines=ceiling),
            Evidence("Average size of a write", round(kib / sum(counts), 1), "KiB"),
            Evidence("Disks at most", round(disk, 1), "percent busy"),
            Evidence("Duration", round(hours, 1), "hours"),
            Evidence("Client entries that are sync", clients, "words"),
            *([Evidence("Provisioned SSD IOPS", iops, "IOPS")] if iops else []),
            *([Evidence("Writes of", source, "words")] if others == () else [meant] if others else []),
        ),
        advice=(AT_THE_CLIENTS,),
        fingerprint_inputs=(*sorted(entries), *(one.id for one in candidates)),
        covers=(volume.file_system_id,),
        caveats=(which if names else nfs.ASYNC_CAVEAT, "More IOPS or throughput do not help while the export is sync."),
        remedies=() if names else (async_export,),  # async on the wrong volume risks data and does not help
    )


NAMED_CANDIDATES: Final = 5  # how many a caveat names; the evidence names all of them
AT_THE_CLIENTS: Final = Advice(
    action="client-side-first",
    summary=(
        "Change the clients: several writers in parallel (rsync or tar), larger writes (wsize=1048576), nconnect=16, no"
        " fsync after each file."
    ),
    changes=(),
    risk="None for the data.",
    reversible=True,
)


def _async_export(volume: FsxVolume, clients: str, way: Alternative) -> Advice | None:
    """Recommend `async`. The command has the whole export list, because UpdateVolume replaces it."""
    if way.id != "openzfs-async":
        return None
    entries = [
        {"Clients": one.clients, "Options": [*(kept for kept in one.options if kept not in {"sync", "async"}), "async"]}
        for one in volume.nfs_export
    ]
    export = json.dumps({"NfsExports": [{"ClientConfigurations": entries}]})
    command = f"aws fsx update-volume --volume-id {volume.id} --region {volume.target.region}"
    return Advice(
        action="async-export",
        summary=(
            f"If you can lose the last seconds of writes, set async for {clients}. {way.summary}, for one writer, as"
            " measured with 4 KiB. The command sets the whole export list, because UpdateVolume replaces it."
        ),
        changes=way.changes,
        risk="Acknowledged writes are lost when the file server fails or fails over.",
        reversible=True,
        command=f"{command} --open-zfs-configuration '{export}'",
    )


def nightly(per_s: Sequence[float], *, kib: float = 4, disk_percent: float = 8) -> Metrics:
    """Return this many writes a second each night, by five minutes, and one a second for the rest of the day."""
    counts = [rate * FIVE_MINUTES_S for rate in ([*per_s] + [1.0] * (288 - len(per_s))) * 14]
    return {
        (WRITES, HOUR_S): [sum(hour) for hour in batched(counts, 12)],
        (WRITES, FIVE_MINUTES_S): counts,
        (WRITTEN, FIVE_MINUTES_S): [count * kib * KIB for count in counts],
        **{(metric, FIVE_MINUTES_S): [disk_percent] * len(counts) for metric in DISKS},
    }


SYNC = NfsClients(clients="10.0.0.0/16", options=("rw", "crossmnt", "no_root_squash"))
ASYNC = NfsClients(clients="10.1.0.0/16", options=("async", "rw", "crossmnt"))
TWO_HOURS = [342.0] * 24
RISES_AND_FALLS = [100 + 300 * (1 - abs(i - 144) / 144) for i in range(288)]

OTHER = examples.fsx_volume(id="fsvol-0123456789abcdef1", path="/fsx/cache", nfs_export=(ASYNC,))
READ_ONLY = replace(OTHER, nfs_export=(replace(SYNC, options=("ro", "crossmnt")),))
NO_DISKS = [(metric, FIVE_MINUTES_S) for metric in DISKS]

waits = Cases(examples.fsx_volume(nfs_export=(SYNC,)), nightly(TWO_HOURS))
by_server = partial(waits, unpublished=("VolumeId",))
unread = Cases(waits.resource)

DETECTOR = Detector(
    title="FSx for OpenZFS export that makes small writes wait",
    kind="performance",
    resource=FsxVolume,
    limits=SyncExportLimits,
    reads_if_allowed=(FsxFileSystem,),
    outranks=("fsx-surplus-iops", "fsx-surplus-throughput"),
    judge=judge,
    cases=(
        waits("4 KiB writes to a document root", Flagged, "342 writes a second of 4 KiB through a sync export"),
        waits("one client entry of two is sync", Flagged, "clients 10.0.0.0/16 made", nfs_export=(ASYNC, SYNC)),
        waits("two writers, and later one", Flagged, "375 writes", metrics=nightly([600.0] * 6 + [300.0] * 18)),
        waits("a demand that rises and falls over the day", Fine, "rose and fell", metrics=nightly(RISES_AND_FALLS)),
        unread("async", Fine, "no entry", nfs_export=(ASYNC,)),
        unread("few writes", Fine, "few writes", metrics={(WRITES, HOUR_S): [3_600.0] * 336}),
        waits("large writes", Fine, "many small", metrics=nightly([150.0] * 24, kib=1024)),
        waits("the disk at its limit", Fine, "were busy", metrics=nightly(TWO_HOURS, disk_percent=96)),
        waits("no metrics of the disks", Unknown, "DiskIopsUtilization has no data", metrics=dict.fromkeys(NO_DISKS)),
        waits("no metrics of the server's own disks", Unknown, f"{DISKS[2].name} has", metrics={NO_DISKS[2]: None}),
        waits("busy hours without five-minute points", Unknown, "show when", metrics={(WRITES, FIVE_MINUTES_S): None}),
        unread("no metrics", Unknown, "no data in 14 days"),
        by_server("operations by file system only, and no other export to write to", Flagged, records=(READ_ONLY,)),
        by_server("operations by file system only, and two exports", Flagged, "one of 2 volumes", records=(OTHER,)),
        unread("sync for clients that only read", Fine, "no entry", nfs_export=READ_ONLY.nfs_export),
        unread("an ONTAP volume", Fine, "ONTAP", volume_type="ONTAP", nfs_export=()),
        unread("no export", Fine, "no entry", nfs_export=()),
    ),
)
