"""Giving up an EFS file system: what is left in it, how to let go of it so that it can come back, and how to keep it for less.

No command deletes. A deletion takes several steps, cannot be undone, and the AWS CLI cannot wait for a backup job: the command
ends with starting that, and a person does the rest (Amazon EFS User Guide, "Deleting EFS file systems"). A program that can
wait may do it too, once a person approved, where nothing is in doubt.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.model.money import difference
from slackwater.model.ownership import restored_by
from slackwater.model.resources import EfsFileSystem
from slackwater.model.settings import EfsLifecycleSetting
from slackwater.model.units import GIB, KIB
from slackwater.model.verdicts import Advice, Evidence
from slackwater.parts.efs_lifecycle import put_command
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
