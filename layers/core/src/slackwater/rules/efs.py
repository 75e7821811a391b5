"""EFS: metrics, guards, evidence and recommendations that several detectors share.

Sources: Amazon EFS User Guide, "CloudWatch metrics for Amazon EFS", "Metering: How Amazon EFS reports file system and object
sizes", "Deleting EFS file systems", "Replicating EFS file systems", "Availability and durability of EFS file systems"; Amazon
EFS API Reference, "PutLifecycleConfiguration".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.model.metrics import Metric
from slackwater.model.money import difference
from slackwater.model.ownership import restored_by
from slackwater.model.resources import EfsFileSystem
from slackwater.model.settings import EfsLifecycleSetting
from slackwater.model.units import GIB, KIB
from slackwater.model.verdicts import Advice, Evidence
from slackwater.performance import efs

EMPTY_BYTES: Final = 12 * KIB
"""No more than this is no file: an empty file system is metered at 6 KiB ("Metering: How Amazon EFS reports file system and
object sizes")."""

KEPT_DAYS: Final = 90
"""How long the recovery point stays: whoever comes once a quarter misses the data within that time."""

SEE_THE_SAME: Final = ("efs-cold-data", "efs-single-client", "efs-single-zone-use", "efs-throughput-mismatch")
"""Detectors that would make a file system cheaper which nobody uses: they see less of the same trouble."""


def left_words(file_system: EfsFileSystem) -> str:
    """`30.1 GiB (One Zone in ap-northeast-1a)`: what lies there."""
    zone = f"One Zone in {file_system.availability_zone}" if file_system.availability_zone else "Regional"
    size = "No file" if is_empty(file_system) else f"{file_system.total_bytes / GIB:,.1f} GiB"
    return f"{size} ({zone})"


def is_empty(file_system: EfsFileSystem) -> bool:
    """Whether there is no file in it."""
    return file_system.total_bytes <= EMPTY_BYTES


def left(file_system: EfsFileSystem) -> tuple[Evidence, ...]:
    """What there is of it."""
    return (
        Evidence(label="Stored", value=round(file_system.total_bytes / GIB, 3), unit="GiB"),
        Evidence(label="Mount targets", value=file_system.mount_targets, unit="count"),
        Evidence(label="Created", value=f"{file_system.created_at:%Y-%m-%d}", unit="date"),
    )


def ways_out(file_system: EfsFileSystem, *, sure: bool) -> tuple[Advice, ...]:
    """Back it up and delete it; or keep the data in a colder class, where there is any in Standard.

    `sure` says that nobody doubts what was seen. What a program manages, or may be protected, none may delete all the same.
    """
    delete = _back_up_and_delete(file_system, deletes=sure and not protecting_caveats(file_system))
    if is_empty(file_system) or not file_system.stored_bytes.get("Standard"):
        return (delete,)
    return delete, _tier(file_system)


def protecting_caveats(file_system: EfsFileSystem) -> tuple[str, ...]:
    """Why nobody may simply delete it: another service manages it, it was restored, or its tags could not be read."""
    owner, who = file_system.managed_by, restored_by(file_system.tags)
    return (
        *((f"It is managed by {owner}: change it there.",) if owner else ()),
        *((f"{who} restored it from a backup: somebody may be about to need it.",) if who else ()),
        *(("Its tags could not be read: it may be protected.",) if file_system.tags is None else ()),
    )


def _back_up_and_delete(file_system: EfsFileSystem, *, deletes: bool) -> Advice:
    target = file_system.target
    hanging = "access points and mount targets" if file_system.mount_targets else "access points"
    colder = bool(file_system.stored_bytes.get("IA") or file_system.stored_bytes.get("Archive"))
    more = ": more than Infrequent Access or Archive costs, so that less is saved until it expires" if colder else ""
    return Advice(
        action="back-up-and-delete",
        summary=(
            f"Ask the owner. Take an AWS Backup recovery point, which is kept for {KEPT_DAYS} days; once it is completed"
            f" delete the {hanging}, wait until they are gone, and delete the file system."
        ),
        changes=efs.monthly_units(file_system),
        risk=(
            f"The recovery point expires after {KEPT_DAYS} days, and the data with it: name more days to keep it for longer."
            f" Until then all that is stored is billed as warm backup storage (us-east-1: 0.05 USD a GiB-month){more}; the"
            " saving leaves that out. A restore gets a new file system id. The vault Default and the role"
            " AWSBackupDefaultServiceRole have to exist: the console of AWS Backup makes them at its first use."
        ),
        reversible=True,
        command=(
            f"aws backup start-backup-job --region {target.region} --backup-vault-name Default --resource-arn {file_system.arn}"
            f" --iam-role-arn arn:{target.partition}:iam::{target.account}:role/service-role/AWSBackupDefaultServiceRole"
            f" --lifecycle DeleteAfterDays={KEPT_DAYS}"
        ),
        deletes=deletes,
    )


def _tier(file_system: EfsFileSystem) -> Advice:
    stored = file_system.stored_bytes
    tiered = replace(file_system, stored_bytes={**stored, "Standard": 0, "IA": stored.get("IA", 0) + stored.get("Standard", 0)})
    return Advice(
        action="tier-to-infrequent-access",
        summary="Keep the data, and let files that nobody read for 30 days move to Infrequent Access (priced as if all did).",
        changes=difference(efs.monthly_units(file_system), efs.monthly_units(tiered)),
        risk=(
            "Reading it back is charged by the GiB, and a file below 128 KiB is billed as 128 KiB; a bursting file system's"
            " baseline shrinks with its Standard data. The command replaces the lifecycle policies that are there."
        ),
        reversible=True,
        command=put_command(file_system, EfsLifecycleSetting(transition_to_ia="AFTER_30_DAYS")),
    )


CLIENTS: Final = Metric("AWS/EFS", "ClientConnections", "Sum", "connection-minutes", optional=True)
METERED: Final = Metric("AWS/EFS", "MeteredIOBytes", "Sum", "bytes", optional=True)
"""All I/O, metadata too: reads count a third ("CloudWatch metrics for Amazon EFS", EFS User Guide)."""
WRITTEN: Final = Metric("AWS/EFS", "DataWriteIOBytes", "Sum", "bytes", optional=True)
METADATA_WRITTEN: Final = Metric("AWS/EFS", "MetadataWriteIOBytes", "Sum", "bytes", optional=True)
STORED: Final = Metric("AWS/EFS", "StorageBytes", "Average", "bytes", optional=True)
"""Published every 15 minutes, used or not: the witness that CloudWatch was watching."""
TOTAL: Final = ("StorageClass", "Total")
"""The dimension of `STORED` that counts every class."""


def put_command(file_system: EfsFileSystem, to: EfsLifecycleSetting) -> str:
    """Set these transitions, and no others."""
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


WAYS: Final = ("efs-cold-data", "efs-single-client", "efs-single-zone-use")
"""Detectors of a colder class, of a volume, and of One Zone."""


def one_way_caveat(detector_id: str) -> str:
    """What to do where others of them speak of the same file system."""
    others = " or ".join(way for way in WAYS if way != detector_id)
    return f"If {others} also speaks of it: do one of them, the savings do not add up."


GIVEN_UP: Final = (
    "One Zone is 99.9 % available, not 99.99 %, and the loss of its zone loses the data: keep backups. It has no Archive class,"
    " and clients in other zones pay for the traffic between zones."
)


def in_one_zone(file_system: EfsFileSystem, zone: str) -> EfsFileSystem:
    """The same data in one zone; what is in Archive goes to Infrequent Access."""
    stored = file_system.stored_bytes
    cold = stored.get("IA", 0) + stored.get("Archive", 0)
    return replace(
        file_system, availability_zone=zone, stored_bytes={"Standard": stored.get("Standard", 0), "IA": cold, "Archive": 0}
    )


def to_one_zone(file_system: EfsFileSystem, zone: str | None) -> Advice:
    """Replicate it to a new one; without a command where nobody knows in which zone its clients are."""
    region = file_system.target.region
    return Advice(
        action="move-to-one-zone",
        summary=(
            f"Replicate it to a new One Zone file system in {zone or 'the zone of its clients'}, stop the writers until the"
            " last sync is through, delete the replication (which makes the new one writable), mount that one, and delete the"
            " old one when nobody misses it. Throughput mode, lifecycle, access points, policy and backups are to be set anew;"
            " a KMS key of its own has to be named (KmsKeyId)."
        ),
        changes=difference(efs.monthly_units(file_system), efs.monthly_units(in_one_zone(file_system, zone or f"{region}a"))),
        risk=f"{GIVEN_UP} Both are billed until the old one is deleted.",
        reversible=True,
        command=zone
        and (
            f"aws efs create-replication-configuration --region {region} --source-file-system-id {file_system.id}"
            f" --destinations Region={region},AvailabilityZoneName={zone}"
        ),
    )
