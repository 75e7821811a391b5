"""EFS: metrics, guards, evidence and recommendations that several detectors share.

Sources: Amazon EFS User Guide, "CloudWatch metrics for Amazon EFS", "Metering: How Amazon EFS reports file system and
object sizes", "Deleting EFS file systems", "Replicating EFS file systems", "Availability and durability of EFS file
systems"; Amazon EFS API Reference, "PutLifecycleConfiguration".
"""

from dataclasses import replace
from typing import Any, Final

from slackwater.model.detector import Seen
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import Change, difference
from slackwater.model.resources import EfsFileSystem, EfsReplication
from slackwater.model.settings import EfsLifecycleSetting
from slackwater.model.units import GIB, KIB
from slackwater.model.verdicts import Advice, Evidence, Fine
from slackwater.performance import efs
from slackwater.rules import advice
from slackwater.rules.series import Reader, whole_days

CLIENTS: Final = Metric("AWS/EFS", "ClientConnections", "Sum", "connection-minutes")
METADATA_WRITTEN: Final = Metric("AWS/EFS", "MetadataWriteIOBytes", "Sum", "bytes")
METERED: Final = Metric("AWS/EFS", "MeteredIOBytes", "Sum", "bytes")
"""All I/O, metadata included. Reads count as a third of their size."""
READ: Final = Metric("AWS/EFS", "DataReadIOBytes", "Sum", "bytes")
WRITTEN: Final = Metric("AWS/EFS", "DataWriteIOBytes", "Sum", "bytes")
STORED: Final = Metric("AWS/EFS", "StorageBytes", "Average", "bytes")
SAMPLES: Final = replace(STORED, stat="SampleCount", unit="points")
"""EFS publishes it every 15 minutes, used or not, so it shows that CloudWatch was recording."""
TOTAL: Final = ("StorageClass", "Total")  # the dimension of `STORED` for the sum of all storage classes
_READER: Final = Reader("FileSystemId", {(metric.name, metric.stat): (TOTAL,) for metric in (STORED, SAMPLES)})
daily, needs = _READER.daily, _READER.needs

EMPTY_BYTES: Final = 12 * KIB  # the most without any file: EFS meters an empty file system at 6 KiB

KEPT_DAYS: Final = 90
"""How long a recovery point is kept: someone who needs the data once a quarter notices within that time."""

SAVERS: Final = ("efs-cold-data", "efs-single-client", "efs-single-zone-use", "efs-throughput-mismatch")
"""Detectors that lower the cost of a file system. They are suppressed if nobody uses it at all."""


def recorded(file_system: EfsFileSystem, seen: Seen, stored: Series, samples: Series) -> Series:
    """Return the stored bytes of each finished day that CloudWatch recorded whole. Others may hide a client.

    The 15-minute points are not aligned with the day, so the counts of whole days may differ by one.
    """
    days, counts = (seen.finished(one, file_system.created_at) for one in (stored, samples))
    return whole_days(days, counts, slack=1)


def exempt(file_system: EfsFileSystem, seen: Seen, minimum_age_days: float = 0, *, sources: bool = True) -> Fine | None:
    """Return the verdict if the state, a replication (as a source only with `sources`) or the age decides it."""
    replication = seen.fleet.get(EfsReplication, file_system.id)
    if file_system.state != "available":
        return Fine(f"it is {file_system.state}")
    if file_system.is_replica or (replication and (sources or replication.role != "source")):
        return Fine(f"it is the {replication.role if replication else 'destination'} of a replication")
    if seen.is_younger(file_system.created_at, days=minimum_age_days):
        return Fine(f"it is younger than {minimum_age_days:g} days")
    return None


def describe(file_system: EfsFileSystem) -> str:
    """Return what it holds and where: `30.1 GiB (One Zone in ap-northeast-1a)`."""
    zone = f"One Zone in {file_system.availability_zone}" if file_system.availability_zone else "Regional"
    is_empty = file_system.total_bytes <= EMPTY_BYTES
    return f"{'No file' if is_empty else f'{file_system.total_bytes / GIB:,.1f} GiB'} ({zone})"


def facts(file_system: EfsFileSystem) -> tuple[Evidence, ...]:
    """Return evidence: its size, its mount targets and its age."""
    return (
        gib("Stored", file_system.total_bytes, digits=3),
        Evidence(label="Mount targets", value=file_system.mount_targets, unit="count"),
        Evidence(label="Created", value=f"{file_system.created_at:%Y-%m-%d}", unit="date"),
    )


def gib(label: str, size_bytes: float, *, digits: int = 1) -> Evidence:
    """Return evidence: a size in GiB."""
    return Evidence(label=label, value=round(size_bytes / GIB, digits), unit="GiB")


def sum_of(label: str, series: Series, unit: str) -> Evidence:
    """Return evidence: a metric with its sum, or that CloudWatch published no data."""
    if series.present:
        return Evidence(label=label, value=sum(series.present), unit=unit, series=series)
    return Evidence(label=label, value="no data published", unit="words", series=series)


def removal(file_system: EfsFileSystem, *, sure: bool) -> tuple[Advice, ...]:
    """Recommend to back up and delete the file system, or to move its data from Standard to a colder class.

    `sure` says that nothing is left for a person to check. Slackwater deletes nothing that `advice.is_protected`.
    The command only starts the backup: the AWS CLI cannot wait for it, and a deletion cannot be undone.
    """
    target = file_system.target
    dependents = "access points and mount targets" if file_system.mount_targets else "access points"
    colder = file_system.stored_bytes.get("IA") or file_system.stored_bytes.get("Archive")
    more = ", which costs more than Infrequent Access or Archive" if colder else ""
    delete = Advice(
        action="back-up-and-delete",
        summary=(
            f"Ask the owner. Create an AWS Backup recovery point that is kept for {KEPT_DAYS} days. When it is"
            f" complete, delete the {dependents}, wait until they are gone, and delete the file system."
        ),
        changes=efs.monthly_units(file_system),
        risk=(
            f"The recovery point and its data expire after {KEPT_DAYS} days; set more days to keep them longer. Until"
            f" then AWS bills warm backup storage (us-east-1: $0.05 per GiB-month){more}. The saving does not include"
            " that. A restore creates a file system with another ID. The backup vault Default and the role"
            " AWSBackupDefaultServiceRole must exist; the AWS Backup console creates them at first use."
        ),
        reversible=True,
        command=(
            f"aws backup start-backup-job --region {target.region} --backup-vault-name Default --resource-arn"
            f" {file_system.arn} --iam-role-arn"
            f" arn:{target.partition}:iam::{target.account}:role/service-role/AWSBackupDefaultServiceRole --lifecycle"
            f" DeleteAfterDays={KEPT_DAYS}"
        ),
        deletes=sure and not advice.is_protected(file_system),
    )
    can_tier = file_system.standard_bytes and file_system.total_bytes > EMPTY_BYTES
    return (delete, _tier(file_system)) if can_tier else (delete,)


def saved(file_system: EfsFileSystem, **changed: Any) -> tuple[Change, ...]:
    """Return what AWS no longer bills a month, and what it bills instead, if these fields change."""
    return difference(efs.monthly_units(file_system), efs.monthly_units(replace(file_system, **changed)))


def _tier(file_system: EfsFileSystem) -> Advice:
    stored = file_system.stored_bytes
    tiered = {**stored, "Standard": 0, "IA": stored.get("IA", 0) + file_system.standard_bytes}
    return Advice(
        action="tier-to-infrequent-access",
        summary=(
            "Keep the data, and move files that nobody reads for 30 days to Infrequent Access. The saving assumes that"
            " all files move."
        ),
        changes=saved(file_system, stored_bytes=tiered),
        risk=(
            "Reads from Infrequent Access are charged per GiB, and a file below 128 KiB is billed as 128 KiB. In"
            " bursting mode the baseline shrinks with the data in Standard. The command replaces the lifecycle"
            " policies."
        ),
        reversible=True,
        command=put_command(file_system, EfsLifecycleSetting(transition_to_ia="AFTER_30_DAYS")),
    )


def put_command(file_system: EfsFileSystem, to: EfsLifecycleSetting) -> str:
    """Return the command that sets these lifecycle transitions. EFS removes all others."""
    moves = (
        ("TransitionToIA", to.transition_to_ia),
        ("TransitionToArchive", to.transition_to_archive),
        ("TransitionToPrimaryStorageClass", to.transition_to_primary),
    )
    policies = " ".join(f"{transition}={when}" for transition, when in moves if when)
    return (
        f"aws efs put-lifecycle-configuration --file-system-id {file_system.id} --region {file_system.target.region}"
        f" --lifecycle-policies {policies}"
    )


ALTERNATIVES: Final = ("efs-cold-data", "efs-single-client", "efs-single-zone-use")
"""Detectors that propose a colder class, a volume, and One Zone. Each prices its own as if it were the only change."""


def one_way_caveat(detector_id: str) -> str:
    """Return the caveat that savings of several detectors do not add up."""
    others = " or ".join(one for one in ALTERNATIVES if one != detector_id)
    return f"If {others} also flags this file system, follow only one of them: their savings do not add up."


def to_one_zone(file_system: EfsFileSystem, zone: str | None) -> Advice:
    """Recommend a replication to a One Zone file system: the type is fixed. No command if the zone is unknown."""
    region, stored = file_system.target.region, file_system.stored_bytes
    cold = stored.get("IA", 0) + stored.get("Archive", 0)  # One Zone has no Archive
    moved = {"Standard": stored.get("Standard", 0), "IA": cold, "Archive": 0}
    return Advice(
        action="move-to-one-zone",
        summary=(
            f"Replicate it to a new One Zone file system in {zone or 'the zone of its clients'}. Stop the writers,"
            " wait for the last sync, delete the replication so that the new file system is writable, and mount that"
            " one. Set the throughput mode, lifecycle, access points, policy and backups again, and name the KMS key"
            " if it has its own (KmsKeyId). Delete the old file system when nobody needs it."
        ),
        changes=saved(file_system, availability_zone=zone or f"{region}a", stored_bytes=moved),
        risk=(
            "One Zone has 99.9 % availability instead of 99.99 %, and the loss of its zone loses the data, so keep"
            " backups. It has no Archive class, and clients in other zones pay for traffic between zones. AWS bills"
            " both until you delete the old one."
        ),
        reversible=True,
        command=zone
        and (
            f"aws efs create-replication-configuration --region {region} --source-file-system-id {file_system.id}"
            f" --destinations Region={region},AvailabilityZoneName={zone}"
        ),
    )
