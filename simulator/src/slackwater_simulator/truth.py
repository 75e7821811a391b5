"""What is true of a fleet, whatever a program may find in it: the planted cases, and counts from configuration alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from .resources import Fleet, FsxVolume, rfc3339
from .series import DAY


def is_sync(volume: FsxVolume) -> bool:
    """An OpenZFS export some client of which acknowledges only what is on stable storage."""
    return volume.kind == "OPENZFS" and any("async" not in export.options for export in volume.exports)


def counts(fleet: Fleet, region: str) -> dict[str, Any]:
    """Numbers of resources in a Region, and those that decide how many metrics a scan needs."""
    volumes = [volume for volume in fleet.volumes if volume.region == region]
    instances = [instance for instance in fleet.instances if instance.region == region]
    systems = [system for system in fleet.efs if system.region == region]
    served = [system for system in fleet.fsx if system.region == region]
    exported = [volume for volume in fleet.fsx_volumes if volume.region == region]
    bought = [volume for volume in volumes if (volume.throughput_limit or 0) > 125]
    running = [instance for instance in instances if instance.state == "running"]
    replicas = {replication.destination_id for replication in fleet.replications} | {
        system.id for system in systems if system.replica
    }
    return {
        "types": {
            "ebs-volume": len(volumes),
            "ec2-instance": len(instances),
            "efs-file-system": len(systems),
            "fsx-file-system": len(served),
            "fsx-volume": len(exported),
        },
        "volumes": {
            "unattached": sum(not volume.attachments for volume in volumes),
            "gp3_above_125_attached": sum(bool(volume.attachments) for volume in bought),
            "gp3_above_125_unattached": sum(not volume.attachments for volume in bought),
            "gp3_above_125_attached_xen": sum(bool(volume.attachments) and not volume.nitro for volume in bought),
            "by_type": dict(Counter(volume.type for volume in volumes)),
        },
        "instances": {
            "running": len(running),
            "running_that_burst": sum(instance.kind.bursts for instance in running),
            "bursting": sum(instance.kind.bursts for instance in instances),
            "with_agent": sum(bool(instance.agent) for instance in instances),
            "types_used": len({instance.type for instance in instances}),
            "by_type": dict(sorted(Counter(instance.type for instance in instances).items())),
        },
        "efs": {
            "older_than_7_days": sum(fleet.now - system.created >= 7 * DAY for system in systems),
            "older_than_7_days_not_replicas": sum(
                fleet.now - system.created >= 7 * DAY and system.id not in replicas for system in systems
            ),
            "replicas": len(replicas & {system.id for system in systems}),
            "one_zone": sum(system.one_zone is not None for system in systems),
        },
        "fsx": {
            "by_kind": dict(Counter(system.kind for system in served)),
            "openzfs_volumes": sum(volume.kind == "OPENZFS" for volume in exported),
            "sync_exports": sum(is_sync(volume) for volume in exported),
        },
        "events": dict(Counter(event.name for event in fleet.events if event.region == region)),
    }


def truth(fleet: Fleet) -> dict[str, Any]:
    """The truth document."""
    planted = [asdict(case) | {"issues": list(case.issues)} for case in fleet.planted]
    return {
        "now": rfc3339(fleet.now),
        "account": fleet.account,
        "regions": list(fleet.regions),
        "planted": planted,
        "counts": {region: counts(fleet, region) for region in fleet.regions},
    }
