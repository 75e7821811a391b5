"""FSx file systems that no client uses.

## What it finds
A file system of any type that is at least a week old and had no read, write or client in the last 36 days, or in its
whole life if it is younger. ONTAP and Windows below 32 MB/s do not publish their clients: there, the metadata
operations must be zero. FSx publishes zeros while nothing happens, so a missing day makes the answer unknown.

## Why it matters
AWS bills the provisioned storage, throughput and IOPS, whether a client comes or not.

## When it is wrong
- Data that you keep on purpose and read once a year looks the same. Tag it `keep`.
- Replication writes without a client. ONTAP with a replicated volume (DP or LS) and OpenZFS whose used space grows are
  never flagged. An OpenZFS replica whose source does not change is not recognized, nor is a source.
- On ONTAP and small Windows file systems, a mounted client that does nothing is not visible: medium confidence.

## What to do
Ask the owner. Then back up the file system, wait until the backup is available, and delete it in the order that its
type requires. Or keep the data on the smallest file server.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.metrics import Metric, Series
from slackwater.model.resources import FsxFileSystem, FsxVolume
from slackwater.model.units import GIB, MIB
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import fsx as formulas
from slackwater.rules import advice, examples, fsx
from slackwater.rules.examples import Cases, days, days_ago
from slackwater.rules.fsx import USED
from slackwater.rules.series import gaps

READS, WRITES, METADATA = (
    Metric("AWS/FSx", f"{name}Operations", "Sum", "operations") for name in ("DataRead", "DataWrite", "Metadata")
)
CLIENTS = Metric("AWS/FSx", "ClientConnections", "Maximum", "connections")
SAMPLES = {one: replace(one, stat="SampleCount", unit="points") for one in (READS, WRITES, METADATA, CLIENTS)}

SURE_DAYS: Final = 30  # a shorter silence never has high confidence: a monthly job needs this long to show
WINDOWS_CLIENTS_MB_S: Final = 32
"""Smaller Windows file systems do not publish their clients (FSx for Windows User Guide, "CloudWatch metrics")."""
REPLICATED: Final = frozenset({"DP", "LS"})  # types of ONTAP volumes that replication writes, not clients
DELETABLE: Final = "OPENZFS"
"""The type that Slackwater may delete. The backups of others lack shares, LUNs, a domain, or links to S3."""


class IdleLimits(Limits):
    """When a file system counts as idle."""

    quiet_days: int = limit(30, unit="days", ge=7, le=450, why="each of them must have points, or CloudWatch lost some")
    window_days: int = limit(36, unit="days", ge=7, le=450, why="a monthly job can pause for 35 days")
    minimum_age_days: int = limit(7, unit="days", ge=1, why="a new file system may wait for its first client")
    growth_mib: float = limit(10, unit="MiB", ge=0, why="replication writes OpenZFS space that grows by more")


def judge(file_system: FsxFileSystem, seen: Seen, limits: IdleLimits) -> Verdict:
    """Flag a file system without operations and clients while CloudWatch was recording."""
    volumes = [one for one in seen.fleet.all(FsxVolume) if one.file_system_id == file_system.id]
    unless_decided(_exempt(file_system, volumes, seen, limits))
    kind, window = file_system.file_system_type, max(limits.quiet_days, limits.window_days)
    is_openzfs, large = kind == "OPENZFS", (file_system.throughput_mb_s or 0) >= WINDOWS_CLIENTS_MB_S
    clients_published = is_openzfs or kind == "LUSTRE" or (kind == "WINDOWS" and large)
    metrics = (READS, WRITES, CLIENTS if clients_published else METADATA)
    for known in (metrics[:1], metrics):
        silent = seen.read(*fsx.daily(file_system, window, *known))
        for metric, series in zip(known, silent, strict=True):
            unless_decided(_not_silent(metric, series, seen.finished(series, file_system.created_at), limits))
    rest = (METADATA, *(SAMPLES[one] for one in metrics), *([USED] if is_openzfs else []))
    metadata, *more = seen.read(*fsx.daily(file_system, window, *rest))
    samples, space = more[: len(metrics)], more[len(metrics) :]
    for used in space:
        unless_decided(_replicated(used, file_system, seen, limits))

    recorded = [seen.finished(one, file_system.created_at) for one in silent]
    lost = max(gaps(one, limits.quiet_days).before for one in recorded)
    counts = [seen.finished(one, file_system.created_at) for one in samples]
    lost_minutes = max(unless_decided(fsx.lost_minutes(*pair)) for pair in zip(recorded, counts, strict=True))
    sparse = any(min(one.present, default=0) < fsx.DAY_MINUTES for one in counts) and not (lost or lost_minutes)
    quiet, probes, reads = len(recorded[0]) - lost, sum(metadata.present), silent[0]
    whole = quiet >= SURE_DAYS and not (lost or lost_minutes or sparse or probes)
    kept_days = file_system.automatic_backup_days
    doubts = advice.caveats(
        (f"CloudWatch did not record {lost} earlier days, when a monthly job may have run.", lost),
        (f"CloudWatch did not record it for {lost_minutes:,.0f} minutes, when a client may have come.", lost_minutes),
        ("CloudWatch has less than one point a minute, so a client may have come in between.", sparse),
        (f"{probes:,.0f} metadata operations came without a client, probably from FSx's own health checks.", probes),
    )
    return Flagged(
        summary=f"{_describe(file_system)}, and no {'client' if clients_published else 'operation'} for {quiet} days",
        confidence="high" if whole and clients_published else "medium",
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
        caveats=(*doubts, *advice.protection(file_system)),
    )


def _exempt(
    file_system: FsxFileSystem, volumes: Sequence[FsxVolume], seen: Seen, limits: IdleLimits
) -> Fine | Unknown | None:
    """The verdict that needs no metrics: on its state, its age, or an ONTAP volume that replication writes."""
    if file_system.state.startswith("MISCONFIGURED"):
        return Unknown(f"it is {file_system.state}, which may be why nobody uses it")
    if file_system.state != "AVAILABLE":
        return Fine(f"it is {file_system.state.lower()}")
    if seen.is_younger(file_system.created_at, days=limits.minimum_age_days):
        return Fine(f"it is younger than {limits.minimum_age_days} days")
    if file_system.file_system_type != "ONTAP":
        return None
    if why := seen.fleet.unreadable.get(FsxVolume):
        return Unknown(f"its volumes, which replication may write, are unknown: {why}")
    types = REPLICATED & {one.ontap_volume_type or "" for one in volumes}
    return Fine(f"replication writes its {min(types)} volume") if types else None


def _replicated(used: Series, file_system: FsxFileSystem, seen: Seen, limits: IdleLimits) -> Fine | Unknown | None:
    """The verdict if replication writes an OpenZFS file system, or may do so."""
    points = used.since(file_system.created_at.timestamp()).present
    growth = max((now - lowest for now, lowest in zip(points, accumulate(points, min), strict=True)), default=0.0)
    if growth > limits.growth_mib * MIB:
        return Fine(f"its data grew by {growth / MIB:,.0f} MiB without a client, so replication writes it")
    if holes := gaps(seen.finished(used, file_system.created_at), limits.quiet_days).holes:
        return Unknown(f"{USED.name} has no point on {holes} days, so replication may write it")
    return None


def _not_silent(metric: Metric, series: Series, recorded: Series, limits: IdleLimits) -> Fine | Unknown | None:
    """The verdict if something happened, or if CloudWatch was not recording. None if the metric was always zero."""
    if not any(series.present):
        return fsx.hole(metric, recorded, limits.quiet_days)
    if metric is CLIENTS:
        return Fine(f"clients were connected, at most {max(series.present):,.0f} at once")
    return Fine(f"it had {sum(series.present):,.0f} {metric.name} in {len(series)} days")


def _describe(file_system: FsxFileSystem) -> str:
    """`FSx for OpenZFS, 1,024 GiB and 320 MB/s`. Clean-up recognizes ONTAP by the name at the start."""
    kind = file_system.file_system_type
    storage = f"{file_system.storage_gib:,} GiB" if file_system.storage_gib else "Intelligent-Tiering"
    throughput = f" and {file_system.throughput_mb_s:,} MB/s" if file_system.throughput_mb_s else ""
    return f"{fsx.NAMES.get(kind, kind)}, {storage}{throughput}"


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
    """The command only backs up: it deletes nothing. `sure` says that nothing is left for a person to check."""
    kind, command = file_system.file_system_type, _backup(file_system, volumes)
    first, steps = "Back it up and wait until the backup is AVAILABLE", STEPS.get(kind, "delete it")
    risk = "Its automatic backups are deleted with it. AWS bills other backups. A restore has another ID and address."
    match kind, command:
        case "ONTAP", None:
            first = "FSx lists no volume of it: check with ONTAP's own command line whether it is empty"
            steps = "delete its storage virtual machines, then the file system"
            risk = "Without a volume there is nothing to back up: whatever it holds is lost."
        case _, None:
            first = "It can have no backup, so copy what you need or export to S3"
            risk = "What you do not copy is lost."
        case "ONTAP", _:
            risk += (
                " Backups hold volumes, not the settings of its storage virtual machines, such as shares, users and"
                " export policies. The saving does not include its capacity pool."
            )
        case "LUSTRE", _:
            risk += " FSx takes no backup of a file system that is linked to S3: export it there instead."
    more = f" and {len(volumes) - 5} more" if len(volumes) > 5 else ""
    held = f" It holds {'; '.join(one.path or one.id for one in volumes[:5])}{more}." if volumes else ""
    return Advice(
        action="back-up-and-delete" if command else "delete",
        summary=f"Ask the owner, also about replications. {first}. Then {steps}.{held}",
        changes=formulas.monthly_units(file_system),
        risk=risk,
        reversible=command is not None,
        command=command,
        deletes=bool(command) and sure and kind == DELETABLE and not advice.is_protected(file_system),
    )


def _backup(file_system: FsxFileSystem, volumes: Sequence[FsxVolume]) -> str | None:
    """The command. ONTAP is backed up volume by volume. A scratch Lustre has no backup."""
    kind, create = file_system.file_system_type, f"aws fsx create-backup --region {file_system.target.region}"
    if kind == "LUSTRE" and file_system.deployment_type.startswith("SCRATCH"):
        return None
    if kind != "ONTAP":
        return f"{create} --file-system-id {file_system.id}"
    return f'for id in {" ".join(one.id for one in volumes)}; do {create} --volume-id "$id"; done' if volumes else None


def _smallest(file_system: FsxFileSystem) -> Iterator[Advice]:
    """Recommend to keep the data on the smallest file server, if AWS's table of sizes is built in."""
    table, present = formulas.deployment(file_system), file_system.throughput_mb_s or 0
    least = table.file_servers[0].throughput_mb_s if table else present
    saved = fsx.saved(file_system, replace(file_system, throughput_mb_s=least))
    if least < present and saved is not None:
        instead = f"{least} MB/s instead of {present:,}"
        yield Advice(
            action="smallest-file-server",
            summary=f"Keep the data with {instead}, and raise it when someone needs it again.",
            changes=saved,
            risk=f"{fsx.interruption(file_system)} FSx needs at least 6 hours between two changes.",
            reversible=True,
            command=fsx.update(file_system, f"ThroughputCapacity={least}"),
        )


ONCE = days(0.0, {34: 90.0})
ZEROS, NOON = [0.0] * 32, [720.0] + [1_440.0] * 31
FOUR_HOURS_LOST = days(1_440.0, {20: 1_200.0})
SILENT = dict.fromkeys((READS, WRITES, METADATA, CLIENTS), 0.0) | dict.fromkeys(SAMPLES.values(), 1_440.0)
VOLUME = examples.fsx_volume(volume_type="ONTAP", ontap_volume_type="RW", path="/projects")
LUSTRE = {"file_system_type": "LUSTRE", "deployment_type": "SCRATCH_2", "throughput_mb_s": None, "iops": None}
BOUGHT = {"storage_gib": 1_024, "iops": 3_072, "automatic_backup_days": 7}

openzfs = Cases(examples.fsx(**BOUGHT, throughput_mb_s=320), {**SILENT, USED: 300.0 * GIB})
unread = Cases(openzfs.resource)
ontap = Cases(examples.fsx(**BOUGHT, throughput_mb_s=512, file_system_type="ONTAP"), SILENT, records=(VOLUME,))
windows = Cases(examples.fsx(storage_gib=1_024, file_system_type="WINDOWS", iops=None, iops_mode=None), SILENT)
lustre = Cases(examples.fsx(storage_gib=1_024, **LUSTRE), SILENT)

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
        lustre("scratch Lustre, a month of zeros", Flagged, "Lustre, 1,024 GiB, and no client"),
        openzfs("metadata operations without a client", Flagged, metrics={METADATA: 12.0}),
        openzfs("quiet since it was created two weeks ago", Flagged, "13 days", created_at=days_ago(14)),
        openzfs("recorded for a month, and not before", Flagged, "31 days", metrics={READS: [0.0] * 32}),
        unread("no metric at all", Unknown, "no point on 30 of 30 days"),
        openzfs("a day without a point", Unknown, "1 of 36 days", metrics={WRITES: days(0.0, {16: None})}),
        openzfs("two hours of a day are missing", Flagged, metrics={SAMPLES[CLIENTS]: days(1_440.0, {20: 1_320.0})}),
        openzfs("four hours of a day are missing", Unknown, "240 minutes", metrics={SAMPLES[READS]: FOUR_HOURS_LOST}),
        openzfs("every second minute is missing", Flagged, metrics={SAMPLES[WRITES]: 720.0}),
        openzfs(
            "recorded for a month, from a noon on", Flagged, "31 days", metrics={READS: ZEROS, SAMPLES[READS]: NOON}
        ),
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
