"""FSx file systems that no client uses.

## What it finds
A file system of any type, at least a week old, without a read, write or client for 36 days, or since its creation if it
is younger. FSx publishes no clients of ONTAP, nor of Windows below 32 MB/s: there, metadata operations must be zero
(medium confidence). FSx publishes zeros while nothing happens, so a missing day makes the check inconclusive.

## Why it matters
AWS bills the provisioned storage, throughput and IOPS, whether a client comes or not.

## When it is wrong
- Data that you keep on purpose and read once a year looks the same. Tag it `keep`.
- Replication writes without a client. Slackwater never flags ONTAP with a replicated volume (DP or LS), or OpenZFS
  whose used space grows. It does not recognize an OpenZFS source, or a replica whose data does not change.

## What to do
Ask the owner. Then back it up, wait until the backup is available, and delete it in the order that its type requires.
Or keep the data on the smallest file server.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from math import inf
from typing import Any, Final

from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.metrics import Metric, Series
from slackwater.model.resources import FsxFileSystem, FsxVolume
from slackwater.model.units import GIB, MIB
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import fsx as formulas
from slackwater.rules import advice, examples, fsx
from slackwater.rules.examples import Cases, days, days_ago
from slackwater.rules.fsx import METADATA, READS, SURE_DAYS, USED, WRITES
from slackwater.rules.series import gaps

CLIENTS = Metric("AWS/FSx", "ClientConnections", "Maximum", "connections")
CLIENTS_FROM_MB_S: Final = {"OPENZFS": 0, "LUSTRE": 0, "WINDOWS": 32}
"""The MB/s from which a type publishes its clients (FSx for Windows User Guide, "CloudWatch metrics")."""


class IdleLimits(Limits):
    """When a file system counts as idle."""

    quiet_days: int = limit(30, unit="days", ge=7, le=450, why="each of them must have points, or CloudWatch lost some")
    window_days: int = limit(36, unit="days", ge=7, le=450, why="a monthly job can pause for 35 days")
    minimum_age_days: int = limit(7, unit="days", ge=1, why="a new file system may wait for its first client")
    growth_mib: float = limit(10, unit="MiB", ge=0, why="OpenZFS that grows by more is a replica")


def judge(file_system: FsxFileSystem, seen: Seen, limits: IdleLimits) -> Verdict:
    """Flag a file system without operations and clients while CloudWatch was recording."""
    volumes = [one for one in seen.fleet.all(FsxVolume) if one.file_system_id == file_system.id]
    kind, since = file_system.file_system_type, file_system.created_at
    if file_system.state.startswith("MISCONFIGURED"):
        return Unknown(f"it is {file_system.state}, which may be why nobody uses it")
    if file_system.state != "AVAILABLE":
        return Fine(f"it is {file_system.state.lower()}")
    if seen.is_younger(since, days=limits.minimum_age_days):
        return Fine(f"it is younger than {limits.minimum_age_days} days")
    if kind == "ONTAP":
        unless_decided(_ontap_replica(volumes, seen))

    window = max(limits.quiet_days, limits.window_days)
    shows_clients = (file_system.throughput_mb_s or 0) >= CLIENTS_FROM_MB_S.get(kind, inf)
    metrics = (READS, WRITES, CLIENTS if shows_clients else METADATA)
    for known in (metrics[:1], metrics):
        silent = seen.read(*fsx.daily(file_system, window, *known))
        for metric, series in zip(known, silent, strict=True):
            if any(series.present) and metric is CLIENTS:
                return Fine(f"clients were connected, at most {max(series.present):,.0f} at once")
            if any(series.present):
                return Fine(f"it had {sum(series.present):,.0f} {metric.name} in {len(series)} days")
            unless_decided(fsx.hole(metric.name, seen.finished(series, since), limits.quiet_days))
    rest = (METADATA, *map(fsx.samples, metrics), *([USED] if kind == "OPENZFS" else []))
    found = dict(zip(rest, seen.read(*fsx.daily(file_system, window, *rest)), strict=True))
    if USED in found:
        unless_decided(_replicated(found[USED], file_system, seen, limits))

    recorded = [seen.finished(one, since) for one in silent]
    lost = max(gaps(one, limits.quiet_days).before for one in recorded)
    counts = [seen.finished(found[fsx.samples(one)], since) for one in metrics]
    lost_minutes = max(unless_decided(fsx.lost_minutes(*pair)) for pair in zip(recorded, counts, strict=True))
    sparse = any(min(one.present, default=0) < fsx.DAY_MINUTES for one in counts) and not (lost or lost_minutes)
    quiet, checks, reads = len(recorded[0]) - lost, sum(found[METADATA].present), silent[0]
    caveats = advice.caveats(
        (f"CloudWatch did not record {lost} earlier days, when a monthly job may have run.", lost),
        (f"CloudWatch did not record it for {lost_minutes:,.0f} minutes, when a client may have come.", lost_minutes),
        ("CloudWatch has less than one point a minute, so a client may have come in between.", sparse),
        (f"{checks:,.0f} metadata operations came without a client, probably from FSx's own health checks.", checks),
    )
    whole, kept_days = quiet >= SURE_DAYS and not caveats, file_system.automatic_backup_days
    return Flagged(
        summary=f"{fsx.describe(file_system)}, and no {'client' if shows_clients else 'operation'} for {quiet} days",
        confidence="high" if whole and shows_clients else "medium",
        evidence=(
            Evidence("Days without an operation or a client", quiet, "days"),
            Evidence("Read operations per day", sum(reads.present), "operations", reads),
            fsx.deployment(file_system),
            Evidence("Created", f"{file_system.created_at:%Y-%m-%d}", "date"),
            *([Evidence("Volumes", len(volumes), "count")] if volumes else []),
            *([] if kept_days is None else [Evidence("Automatic backups kept", kept_days, "days")]),
        ),
        advice=(_delete(file_system, volumes, sure=whole), *_smallest(file_system)),
        fingerprint_inputs=(file_system.storage_gib, file_system.throughput_mb_s or 0, file_system.iops or 0),
        caveats=(*caveats, *advice.protection(file_system)),
    )


def _ontap_replica(volumes: Sequence[FsxVolume], seen: Seen) -> Fine | Unknown | None:
    """Return the verdict if replication writes, or may write, a volume of an ONTAP file system; else None."""
    if why := seen.fleet.unreadable.get(FsxVolume):
        return Unknown(f"its volumes, which replication may write, are unknown: {why}")
    types = {"DP", "LS"} & {one.ontap_volume_type or "" for one in volumes}
    return Fine(f"replication writes its {min(types)} volume") if types else None


def _replicated(used: Series, file_system: FsxFileSystem, seen: Seen, limits: IdleLimits) -> Fine | Unknown | None:
    """Return the verdict if replication writes, or may write, an OpenZFS file system; else None."""
    points = used.since(file_system.created_at.timestamp()).present
    growth = max((now - lowest for now, lowest in zip(points, accumulate(points, min), strict=True)), default=0.0)
    if growth > limits.growth_mib * MIB:
        return Fine(f"its data grew by {growth / MIB:,.0f} MiB without a client, so replication writes it")
    holes = gaps(seen.finished(used, file_system.created_at), limits.quiet_days).holes
    return Unknown(f"{USED.name} has no data on {holes} days, so replication may write it") if holes else None


STEPS: Final[Mapping[str, str]] = {
    "OPENZFS": (
        "detach the S3 access points of its volumes, and delete it with its child volumes and snapshots"
        " (DELETE_CHILD_VOLUMES_AND_SNAPSHOTS)"
    ),
    "ONTAP": "delete its volumes (SnapLock may forbid that), then its storage virtual machines, then the file system",
    "WINDOWS": "stop using its aliases and mapped drives, and delete it with a final backup",
    "LUSTRE": "unmount it everywhere, and delete it; by default FSx takes no final backup of Lustre",
}


def _delete(file_system: FsxFileSystem, volumes: Sequence[FsxVolume], *, sure: bool) -> Advice:
    """Recommend a backup and a deletion. The command only backs up. `sure` says that a person has nothing to check."""
    kind, create = file_system.file_system_type, f"aws fsx create-backup --region {file_system.target.region}"
    command: str | None = f"{create} --file-system-id {file_system.id}"
    first, steps = "Back it up and wait until the backup is AVAILABLE", STEPS.get(kind, "delete it")
    risk = "Its automatic backups are deleted with it. AWS bills other backups. A restore has another ID and address."
    match kind:
        case "ONTAP" if volumes:
            command = f'for id in {" ".join(one.id for one in volumes)}; do {create} --volume-id "$id"; done'
            risk += " Backups hold volumes, not the settings of its storage virtual machines, such as shares, users and"
            risk += " export policies. The saving does not include its capacity pool."
        case "ONTAP":
            command, first = None, "FSx lists no volume of it: check with ONTAP's own command line whether it is empty"
            steps = "delete its storage virtual machines, then the file system"
            risk = "Without a volume there is nothing to back up: whatever it holds is lost."
        case "LUSTRE" if file_system.deployment_type.startswith("SCRATCH"):
            command, first = None, "It can have no backup, so copy what you need or export to S3"
            risk = "What you do not copy is lost."
        case "LUSTRE":
            risk += " FSx takes no backup of a file system that is linked to S3: export it there instead."
    more = f" and {len(volumes) - 5} more" if len(volumes) > 5 else ""
    held = f" Its volumes: {', '.join(one.path or one.id for one in volumes[:5])}{more}." if volumes else ""
    return Advice(
        action="back-up-and-delete" if command else "delete",
        summary=f"Ask the owner whether it can go and whether it is replicated. {first}. Then {steps}.{held}",
        changes=formulas.monthly_units(file_system),
        risk=risk,
        reversible=command is not None,
        command=command,
        # Backups of other types do not include shares, LUNs, a domain, or links to S3.
        deletes=sure and kind == "OPENZFS" and not advice.is_protected(file_system),
    )


def _smallest(file_system: FsxFileSystem) -> Iterator[Advice]:
    """Recommend to keep the data on the smallest file server, if Slackwater has AWS's table of sizes."""
    table, now = formulas.deployment(file_system), file_system.throughput_mb_s or 0
    least = table.file_servers[0].throughput_mb_s if table and file_system.storage_type == "SSD" else now
    if least < now:
        summary = f"Keep the data with {least} MB/s instead of {now:,}, and raise it when someone needs it again."
        risk = "FSx needs at least 6 hours between two changes."
        yield fsx.set_throughput(file_system, least, action="smallest-file-server", summary=summary, risk=risk)


ONCE = days(0.0, {34: 90.0})
FROM_NOON = {READS: [0.0] * 32, fsx.samples(READS): [720.0] + [1_440.0] * 31}
LOST_HOURS = {hours: days(1_440.0, {20: 1_440.0 - 60 * hours}) for hours in (2, 4)}
ZEROS = dict.fromkeys((READS, WRITES, METADATA, CLIENTS), 0.0)
SILENT = ZEROS | {fsx.samples(metric): 1_440.0 for metric in ZEROS}
VOLUME = examples.fsx_volume(volume_type="ONTAP", ontap_volume_type="RW", path="/projects")
LUSTRE: dict[str, Any] = {"file_system_type": "LUSTRE", "deployment_type": "SCRATCH_2", "throughput_mb_s": None}
BOUGHT = {"storage_gib": 1_024, "iops": 3_072, "automatic_backup_days": 7}

openzfs = Cases(examples.fsx(**BOUGHT, throughput_mb_s=320), {**SILENT, USED: 300.0 * GIB})
unread = Cases(openzfs.resource)
ontap = Cases(examples.fsx(**BOUGHT, throughput_mb_s=512, file_system_type="ONTAP"), SILENT, records=(VOLUME,))
windows = Cases(examples.fsx(storage_gib=1_024, file_system_type="WINDOWS", iops=None, iops_mode=None), SILENT)

DETECTOR = Detector(
    title="FSx file system that nobody uses",
    kind="waste",
    resource=FsxFileSystem,
    limits=IdleLimits,
    reads_if_allowed=(FsxVolume,),
    outranks=("fsx-oversized", "fsx-surplus-throughput", "fsx-surplus-iops"),
    judge=judge,
    cases=(
        openzfs("a month of zeros", Flagged, "no client for 36 days"),
        ontap("ONTAP, a month of zeros", Flagged, "no operation for 36 days"),
        windows("Windows, a month of zeros", Flagged, "no client"),
        windows("scratch Lustre, a month of zeros", Flagged, "Lustre, 1,024 GiB, and no client", **LUSTRE),
        openzfs("metadata operations without a client", Flagged, metrics={METADATA: 12.0}),
        openzfs("quiet since it was created two weeks ago", Flagged, "13 days", created_at=days_ago(14)),
        unread("no metric at all", Unknown, "no data on 30 of 30 days"),
        openzfs("a day without a point", Unknown, "1 of 36 days", metrics={WRITES: days(0.0, {16: None})}),
        openzfs("two hours of a day are missing", Flagged, metrics={fsx.samples(CLIENTS): LOST_HOURS[2]}),
        openzfs("four hours of a day are missing", Unknown, "240 minutes", metrics={fsx.samples(READS): LOST_HOURS[4]}),
        openzfs("every second minute is missing", Flagged, metrics={fsx.samples(WRITES): 720.0}),
        openzfs("recorded for a month, from a noon on", Flagged, "31 days", metrics=FROM_NOON),
        openzfs("its used space is not published", Unknown, "replication may write", metrics={USED: None}),
        openzfs("an OpenZFS replica that grows", Fine, metrics={USED: [(300 + day / 10) * GIB for day in range(37)]}),
        openzfs("a job on the first Monday of the month", Fine, "90 DataReadOperations", metrics={READS: ONCE}),
        openzfs("written, and never read", Fine, "DataWriteOperations", metrics={WRITES: 4_000.0}),
        openzfs("mounted, and not read for a month", Fine, "at most 3 at once", metrics={CLIENTS: 3.0}),
        ontap("ONTAP whose files someone lists", Fine, "90 MetadataOperations", metrics={METADATA: ONCE}),
        windows("a small Windows one whose files someone lists", Fine, metrics={METADATA: ONCE}, throughput_mb_s=16),
        ontap("ONTAP that replication writes", Fine, "DP volume", records=(replace(VOLUME, ontap_volume_type="DP"),)),
        ontap("ONTAP whose volumes could not be read", Unknown, "AccessDenied", unreadable={FsxVolume: "AccessDenied"}),
        unread("three days old", Fine, "younger than 7 days", created_at=days_ago(3)),
        unread("being created", Fine, "creating", state="CREATING"),
        unread("misconfigured", Unknown, "MISCONFIGURED", state="MISCONFIGURED_UNAVAILABLE"),
    ),
)
