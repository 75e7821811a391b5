"""FSx file systems that no client reads or writes.

## What it finds
A file system of any of the four types that has stood for at least a week, and whose last 30 days (or all its life, if that is
shorter) show no read, no write and no client. OpenZFS, Lustre, and Windows from 32 MB/s on publish how many clients are
connected; of ONTAP and small Windows file systems the metadata operations have to be zero as well. Every day must have its
points: FSx publishes zeros while nothing happens, so that a day without any means that nobody watched.

## Why it matters
FSx bills what is provisioned, storage, throughput and IOPS, whether or not a client ever comes.

## When it is wrong
Data that is kept on purpose and read once a year looks the same: tag it `keep`. A job that runs less often than `window_days`
is not seen. Replicas are written without any client: an ONTAP file system with a volume that replication writes (type DP or LS)
is never called idle, nor is an OpenZFS one whose used space grows meanwhile; an OpenZFS replica whose source does not change is
not told apart, nor is the source of a replication. Of ONTAP and small Windows file systems a client that is mounted and asks
for nothing does not show, so the confidence is medium at most; monitoring that lists their files keeps them from being found.

## What to do
Ask the owner. Then back up, wait until the backup is available, and delete the file system by hand, in the order that its type
demands; or keep the data in reach, on the smallest file server. Where FSx lists no volume of an ONTAP file system there is
nothing to back up, and no way back: look with ONTAP's own command line whether it really is empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import accumulate
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import difference
from slackwater.model.ownership import restored_by
from slackwater.model.resources import FsxFileSystem, FsxVolume, Target
from slackwater.model.units import DAY_S, GIB, MIB
from slackwater.model.verdicts import Advice, Ask, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import fsx
from slackwater.rules.fsx import NAMES, USED, update, used_by_day
from slackwater.rules.series import gaps

READS = Metric("AWS/FSx", "DataReadOperations", "Sum", "operations")
WRITES = Metric("AWS/FSx", "DataWriteOperations", "Sum", "operations")
METADATA = Metric("AWS/FSx", "MetadataOperations", "Sum", "operations")
CLIENTS = Metric("AWS/FSx", "ClientConnections", "Maximum", "connections")

SURE_DAYS: Final = 30
"""Shorter silence is never of high confidence, whatever the policy says: a monthly job needs this long to show."""
WINDOWS_TELLS_CLIENTS_MB_S: Final = 32
"""Smaller Windows file systems publish operations and free space only (FSx for Windows, "CloudWatch metrics")."""
REPLICATED: Final = frozenset({"DP", "LS"})
"""Types of ONTAP volumes that replication writes, not clients."""


class IdleLimits(Limits):
    """When silence counts."""

    quiet_days: int = limit(30, unit="days", ge=7, le=450, why="every one of them must have points, or nobody watched")
    window_days: int = limit(36, unit="days", ge=7, le=450, why="by the calendar a monthly job's runs lie up to 35 days apart")
    minimum_age_days: int = limit(7, unit="days", ge=1, why="a new file system may wait for its first client")
    growth_mib: float = limit(10, unit="MiB", ge=0, why="OpenZFS space that grows by more is written by replication")


def judge(file_system: FsxFileSystem, seen: Seen, limits: IdleLimits) -> Verdict:
    """Flag a file system without operations and clients, if CloudWatch was watching all the time."""
    if file_system.state.startswith("MISCONFIGURED"):
        return Unknown(f"it is {file_system.state}: that may be why nobody uses it")
    if file_system.state != "AVAILABLE":
        return Fine(f"it is {file_system.state.lower()}")
    if seen.age(file_system.created_at) < timedelta(days=limits.minimum_age_days):
        return Fine(f"it is younger than {limits.minimum_age_days} days")
    is_ontap = file_system.file_system_type == "ONTAP"
    if is_ontap and FsxVolume in seen.fleet.unreadable:
        return Unknown(f"whether replication writes it is not known: {seen.fleet.unreadable[FsxVolume]}")
    if is_ontap and (written := REPLICATED & {one.ontap_volume_type or "" for one in _volumes(file_system, seen)}):
        return Fine(f"it holds a {min(written)} volume, which replication writes")

    reads, writes, metadata = (_need(file_system, metric, limits) for metric in (READS, WRITES, METADATA))
    clients = _need(file_system, CLIENTS, limits) if _tells_clients(file_system) else None
    space = used_by_day(file_system, reads.days) if file_system.file_system_type == "OPENZFS" else None
    witnesses = [need for need in (reads, writes, clients or metadata) if need]

    for round_ in ([reads], witnesses):
        if lacking := seen.lacking(round_):
            return Ask(lacking)
        for need in round_:
            if there := _there(file_system, seen[need], need.metric, seen, limits):
                return there
    if lacking := seen.lacking([one for one in (metadata, space) if one]):
        return Ask(lacking)
    if space:
        grown = _grown(seen[space].since(file_system.created_at.timestamp()))
        if grown > limits.growth_mib * MIB:
            return Fine(f"its data grew by {grown / MIB:,.0f} MiB without a client: something replicates to it")
        if holes := gaps(seen.finished(seen[space], file_system.created_at), limits.quiet_days).holes:
            return Unknown(f"{USED.name} has no point on {holes} days: whether something replicates to it is not known")
    days = [seen.finished(seen[need], file_system.created_at) for need in witnesses]
    unwatched = max(gaps(one, limits.quiet_days).before for one in days)
    return _flag(
        _Silence(
            reads=seen[reads],
            days=len(days[0]) - unwatched,
            unwatched=unwatched,
            tells_clients=clients is not None,
            metadata=sum(seen[metadata].present),
        ),
        file_system,
        seen,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Silence:
    """How a file system was found silent."""

    reads: Series
    days: int
    unwatched: int
    """Older days without a point; they are not among `days`."""
    tells_clients: bool
    metadata: float

    @property
    def is_sure(self) -> bool:
        """That nobody came, for a month, as far as AWS's metrics tell."""
        return self.is_whole and self.tells_clients

    @property
    def is_whole(self) -> bool:
        """That nothing was heard for a month, by all that its type publishes."""
        return self.days >= SURE_DAYS and not self.unwatched and not self.metadata


def _tells_clients(file_system: FsxFileSystem) -> bool:
    """Whether its type publishes how many clients are connected."""
    if file_system.file_system_type == "WINDOWS":
        return (file_system.throughput_mb_s or 0) >= WINDOWS_TELLS_CLIENTS_MB_S
    return file_system.file_system_type in ("OPENZFS", "LUSTRE")


def _need(file_system: FsxFileSystem, metric: Metric, limits: IdleLimits) -> Need:
    days = max(limits.quiet_days, limits.window_days)
    return metric.need(("FileSystemId", file_system.id), period_s=DAY_S, days=days)


def _there(file_system: FsxFileSystem, series: Series, metric: Metric, seen: Seen, limits: IdleLimits) -> Verdict | None:
    """That something happened, or that nobody knows; None where a metric was zero all the time."""
    if any(series.present):
        if metric is CLIENTS:
            return Fine(f"clients were connected, up to {max(series.present):,.0f} at once")
        return Fine(f"it had {sum(series.present):,.0f} {metric.name} in {len(series)} days")
    days = seen.finished(series, file_system.created_at)
    if not len(days):
        return Unknown("CloudWatch has not watched it for a whole day yet")
    holes, before = gaps(days, limits.quiet_days)
    if holes:
        return Unknown(f"{metric.name} has no point on {holes} of {len(days) - before} days")
    return None


def _grown(space: Series) -> float:
    """By how many bytes the used space rose at most, from any day to a later one."""
    lowest = accumulate(space.present, min)
    return max((now - low for now, low in zip(space.present, lowest, strict=True)), default=0.0)


def _volumes(file_system: FsxFileSystem, seen: Seen) -> list[FsxVolume]:
    return [volume for volume in seen.fleet.all(FsxVolume) if volume.file_system_id == file_system.id]


def _flag(silence: _Silence, file_system: FsxFileSystem, seen: Seen) -> Flagged:
    volumes = _volumes(file_system, seen)
    name = NAMES.get(file_system.file_system_type, file_system.file_system_type)
    throughput = f" and {file_system.throughput_mb_s:,} MB/s" if file_system.throughput_mb_s else ""
    bought = f"{file_system.storage_gib:,} GiB{throughput}" if file_system.storage_gib else f"Intelligent-Tiering{throughput}"
    owner = file_system.managed_by
    caveats = []
    if silence.metadata:
        caveats.append(
            f"{silence.metadata:,.0f} metadata operations came without any client: probably FSx's own checks of the server."
        )
    if not silence.tells_clients:
        caveats.append("How many clients are connected is not published here: one that asks for nothing does not show.")
    if silence.unwatched:
        caveats.append(f"CloudWatch began to watch {silence.unwatched} days later: a monthly job may lie before.")
    if file_system.file_system_type in ("OPENZFS", "ONTAP"):
        caveats.append("Ask whether replication reads it, or writes it now and then: its metrics do not show that.")
    if file_system.file_system_type == "ONTAP":
        caveats.append("What lies in its capacity pool is billed as well, and is not in the figure.")
    if owner:
        caveats.append(f"It is managed by {owner}: change it there.")
    if who := restored_by(file_system.tags):
        caveats.append(f"{who} restored it from a backup: somebody may be about to need it.")
    evidence = [
        Evidence(label="Days without an operation or a client", value=silence.days, unit="days"),
        Evidence(label="Read operations by day", value=sum(silence.reads.present), unit="operations", series=silence.reads),
        Evidence(label="Deployment", value=f"{name}, {file_system.deployment_type}", unit="words"),
        Evidence(label="Created", value=f"{file_system.created_at:%Y-%m-%d}", unit="date"),
    ]
    if volumes:
        evidence.append(Evidence(label="Volumes", value=len(volumes), unit="count"))
    if file_system.automatic_backup_days is not None:
        evidence.append(Evidence(label="Automatic backups kept", value=file_system.automatic_backup_days, unit="days"))
    return Flagged(
        summary=(
            f"{name}, {bought}, and "
            + (
                f"not one client in {silence.days} days"
                if silence.tells_clients
                else f"not one operation in {silence.days} days"
            )
        ),
        confidence="high" if silence.is_sure else "medium",
        evidence=tuple(evidence),
        advice=(_delete(file_system, volumes, silence), *_smallest(file_system)),
        gist=(file_system.storage_gib, file_system.throughput_mb_s or 0, file_system.iops or 0),
        caveats=tuple(caveats),
    )


EMPTY_ONTAP: Final = "ONTAP without a volume"
STEPS: Final[Mapping[str, str]] = {
    "OPENZFS": (
        "detach the S3 access points of its volumes, if any, and delete it with its child volumes and snapshots"
        " (DELETE_CHILD_VOLUMES_AND_SNAPSHOTS)"
    ),
    "ONTAP": "delete its volumes (SnapLock may forbid that), then its storage virtual machines, then the file system",
    EMPTY_ONTAP: "delete its storage virtual machines, if any, then the file system",
    "WINDOWS": "take its aliases and mapped drives out of use, and delete it with a final backup",
    "LUSTRE": "unmount it everywhere, and delete it; unless told otherwise that takes no final backup of Lustre",
}


DELETABLE: Final = "OPENZFS"
"""The type that a program may delete.

Backups of ONTAP hold no shares, LUNs or quotas. Windows is joined to a domain. No backup holds what links Lustre to S3.
"""


def _delete(file_system: FsxFileSystem, volumes: Sequence[FsxVolume], silence: _Silence) -> Advice:
    command = _backup(file_system, volumes)
    kind, kept = file_system.file_system_type, "back it up and wait until the backup is AVAILABLE"
    risk = (
        "Automatic backups are deleted with it, the others stay and are billed; a restore gets another id and another address."
    )
    if command is None and _is_scratch(file_system):
        kept = "copy away or export to S3 what is still needed: it can have no backup"
        risk = "What was not copied away is lost."
    elif command is None:
        kind, kept = EMPTY_ONTAP, "FSx lists no volume of it: look with ONTAP's own command line whether it is empty"
        risk = "Without a volume there is nothing to back up: whatever it holds is lost."
    elif kind == "ONTAP":
        risk += " Backups hold volumes, not what its storage virtual machines were set to: shares, users, export policies."
    elif kind == "LUSTRE":
        risk += " FSx takes no backup of a file system that is linked to S3: export it there instead."
    what = "; ".join(f"{one.path or one.id}" for one in volumes[:5]) + (
        f" and {len(volumes) - 5} more" if len(volumes) > 5 else ""
    )
    return Advice(
        action="back-up-and-delete" if command else "delete",
        summary=(f"Ask the owner; {kept}; {STEPS.get(kind, 'then delete it')}." + (f" It holds {what}." if volumes else "")),
        changes=fsx.monthly_units(file_system),
        risk=risk,
        reversible=command is not None,
        command=command,
        deletes=(
            command is not None
            and silence.is_whole
            and file_system.file_system_type == DELETABLE
            and file_system.tags is not None
            and file_system.managed_by is None
            and restored_by(file_system.tags) is None
        ),
    )


def _is_scratch(file_system: FsxFileSystem) -> bool:
    return file_system.file_system_type == "LUSTRE" and file_system.deployment_type.startswith("SCRATCH")


def _backup(file_system: FsxFileSystem, volumes: Sequence[FsxVolume]) -> str | None:
    """ONTAP is backed up volume by volume; a scratch Lustre has no backup. The command deletes nothing."""
    create = f"aws fsx create-backup --region {file_system.target.region}"
    if _is_scratch(file_system):
        return None
    if file_system.file_system_type != "ONTAP":
        return f"{create} --file-system-id {file_system.id}"
    if not volumes:
        return None
    return f'for id in {" ".join(one.id for one in volumes)}; do {create} --volume-id "$id"; done'


def _smallest(file_system: FsxFileSystem) -> tuple[Advice, ...]:
    """The data stays where it is, on the file server with the least throughput; only where AWS's table is known."""
    table, before = fsx.deployment(file_system), fsx.monthly_units(file_system)
    if table is None or before is None:
        return ()
    least = table.file_servers[0].throughput_mb_s
    after = fsx.monthly_units(replace(file_system, throughput_mb_s=least))
    if after is None or (file_system.throughput_mb_s or 0) <= least:
        return ()
    return (
        Advice(
            action="smallest-file-server",
            summary=(
                f"Keep the data in reach, with {least} MB/s instead of {file_system.throughput_mb_s:,}, and raise it when"
                " somebody comes back."
            ),
            changes=difference(before, after),
            risk="It fails over meanwhile, or is down for minutes where it has no standby; changes are 6 hours apart at least.",
            reversible=True,
            command=update(file_system, f"ThroughputCapacity={least}"),
        ),
    )


_TARGET = Target("123456789012", "ap-northeast-1")
_OLD = FsxFileSystem(
    id="fs-0a1b2c3d4e5f60718",
    arn="arn:aws:fsx:ap-northeast-1:123456789012:file-system/fs-0a1b2c3d4e5f60718",
    target=_TARGET,
    tags={"Name": "render-farm"},
    file_system_type="OPENZFS",
    deployment_type="MULTI_AZ_1",
    state="AVAILABLE",
    created_at=CASE_NOW - timedelta(days=200),
    storage_type="SSD",
    storage_gib=1_024,
    throughput_mb_s=320,
    iops=3_072,
    iops_mode="AUTOMATIC",
    automatic_backup_days=7,
    root_volume_id="fsvol-0a1b2c3d4e5f60718",
)
_ONTAP = replace(_OLD, file_system_type="ONTAP", throughput_mb_s=512, root_volume_id=None)
_WINDOWS = replace(
    _OLD, file_system_type="WINDOWS", deployment_type="SINGLE_AZ_2", iops=None, iops_mode=None, root_volume_id=None
)
_LUSTRE = replace(_WINDOWS, file_system_type="LUSTRE", deployment_type="SCRATCH_2", throughput_mb_s=None)
_VOLUME = FsxVolume(
    id="fsvol-0123456789abcdef0",
    arn="arn:aws:fsx:ap-northeast-1:123456789012:volume/fs-0a1b2c3d4e5f60718/fsvol-0123456789abcdef0",
    target=_TARGET,
    tags={},
    file_system_id=_OLD.id,
    volume_type="ONTAP",
    state="CREATED",
    created_at=_OLD.created_at,
    path="/projects",
    ontap_volume_type="RW",
)
_ZEROS = [0.0] * 37
_ONCE = [0.0] * 2 + [90.0] + [0.0] * 34
"""34 days ago."""
type _Given = Mapping[tuple[Metric, int], Sequence[float | None]]
_NOBODY: _Given = {(metric, DAY_S): _ZEROS for metric in (READS, WRITES, METADATA, CLIENTS)}
_SILENT: _Given = {**_NOBODY, (USED, DAY_S): [300.0 * GIB] * 37}

DETECTOR = Detector(
    title="FSx file system that nobody uses",
    kind="waste",
    resource=FsxFileSystem,
    limits=IdleLimits,
    reads_if_allowed=(FsxVolume,),
    outranks=("fsx-oversized", "fsx-surplus-throughput", "fsx-surplus-iops"),
    judge=judge,
    cases=(
        Case(title="a month of zeros", resource=_OLD, metrics=_SILENT, expect=Flagged, says="not one client in 36 days"),
        Case(
            title="ONTAP, a month of zeros",
            resource=_ONTAP,
            records=(_VOLUME,),
            metrics=_NOBODY,
            expect=Flagged,
            says="operation",
        ),
        Case(title="Windows, a month of zeros", resource=_WINDOWS, metrics=_NOBODY, expect=Flagged, says="client"),
        Case(
            title="scratch Lustre, a month of zeros",
            resource=_LUSTRE,
            metrics=_NOBODY,
            expect=Flagged,
            says="Lustre, 1,024 GiB",
        ),
        Case(
            title="metadata operations without a client",
            resource=_OLD,
            metrics={**_SILENT, (METADATA, DAY_S): [12.0] * 37},
            expect=Flagged,
        ),
        Case(title="no metric at all", resource=_OLD, expect=Unknown, says="no point on 30 of 30 days"),
        Case(
            title="a day on which nobody watched",
            resource=_OLD,
            metrics={**_SILENT, (WRITES, DAY_S): [0.0] * 20 + [None] + [0.0] * 16},
            expect=Unknown,
            says="DataWriteOperations has no point on 1 of 36 days",
        ),
        Case(
            title="watched for a month, and not before",
            resource=_OLD,
            metrics={**_SILENT, (READS, DAY_S): [None] * 5 + [0.0] * 32},
            expect=Flagged,
        ),
        Case(
            title="nobody knows whether its data grew",
            resource=_OLD,
            metrics=_NOBODY,
            expect=Unknown,
            says="whether something replicates",
        ),
        Case(
            title="a job that runs on the first Monday of the month",
            resource=_OLD,
            metrics={**_SILENT, (READS, DAY_S): _ONCE, (CLIENTS, DAY_S): [min(1.0, n) for n in _ONCE]},
            expect=Fine,
            says="90 DataReadOperations",
        ),
        Case(
            title="written, and never read",
            resource=_OLD,
            metrics={**_SILENT, (WRITES, DAY_S): [4_000.0] * 37, (CLIENTS, DAY_S): [1.0] * 37},
            expect=Fine,
            says="DataWriteOperations",
        ),
        Case(
            title="mounted, and not read for a month",
            resource=_OLD,
            metrics={**_SILENT, (CLIENTS, DAY_S): [3.0] * 37},
            expect=Fine,
            says="up to 3 at once",
        ),
        Case(
            title="ONTAP, where somebody lists files",
            resource=_ONTAP,
            records=(_VOLUME,),
            metrics={**_NOBODY, (METADATA, DAY_S): _ONCE},
            expect=Fine,
            says="90 MetadataOperations",
        ),
        Case(
            title="a small Windows file system, where somebody lists files",
            resource=replace(_WINDOWS, throughput_mb_s=16),
            metrics={**_NOBODY, (METADATA, DAY_S): _ONCE},
            expect=Fine,
            says="MetadataOperations",
        ),
        Case(
            title="ONTAP that replication writes",
            resource=_ONTAP,
            records=(_VOLUME, replace(_VOLUME, id="fsvol-1", ontap_volume_type="DP")),
            metrics=_NOBODY,
            expect=Fine,
            says="DP volume",
        ),
        Case(
            title="ONTAP whose volumes could not be read",
            resource=_ONTAP,
            metrics=_NOBODY,
            unreadable={FsxVolume: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
        Case(
            title="an OpenZFS replica: its data grows, and no client writes",
            resource=_OLD,
            metrics={**_NOBODY, (USED, DAY_S): [(300 + day / 10) * GIB for day in range(37)]},
            expect=Fine,
            says="something replicates",
        ),
        Case(
            title="three days old",
            resource=replace(_OLD, created_at=CASE_NOW - timedelta(days=3)),
            metrics=_SILENT,
            expect=Fine,
            says="younger than 7 days",
        ),
        Case(
            title="quiet since it was made, two weeks ago",
            resource=replace(_OLD, created_at=CASE_NOW - timedelta(days=14)),
            metrics=_SILENT,
            expect=Flagged,
            says="13 days",
        ),
        Case(title="being made", resource=replace(_OLD, state="CREATING"), metrics=_SILENT, expect=Fine, says="creating"),
        Case(
            title="misconfigured: its clients cannot come",
            resource=replace(_WINDOWS, state="MISCONFIGURED_UNAVAILABLE"),
            metrics=_NOBODY,
            expect=Unknown,
            says="MISCONFIGURED",
        ),
    ),
)
