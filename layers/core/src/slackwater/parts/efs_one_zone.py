"""From Regional to One Zone: what it saves, what it takes away, and the way there, which is a second file system.

Amazon EFS User Guide, "Availability and durability of EFS file systems" and "Replicating EFS file systems". A file system is of
one type for life.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.model.money import difference
from slackwater.model.resources import EfsFileSystem
from slackwater.model.verdicts import Advice
from slackwater.performance import efs

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
