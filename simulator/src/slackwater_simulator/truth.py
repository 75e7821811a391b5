"""Describe the truth about a fleet, whatever a program finds in it: planted cases and counts of resources."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from .resources import ElasticFileSystem, Fleet, FsxFileSystem, FsxVolume, Instance, Volume, rfc3339
from .series import DAY


def is_sync(volume: FsxVolume) -> bool:
    """Return whether an OpenZFS export has a client whose writes are acknowledged only from stable storage."""
    return volume.kind == "OPENZFS" and any("async" not in export.options for export in volume.exports)


def counts(fleet: Fleet, region: str) -> dict[str, Any]:
    """Return counts of a Region's resources, including counts that decide how many metrics a scan needs."""
    types = (Volume, Instance, ElasticFileSystem, FsxFileSystem, FsxVolume)
    volumes, instances, systems, served, exported = (fleet.by_region.get((kind, region), []) for kind in types)
    bought = [volume for volume in volumes if (volume.throughput_limit or 0) > 125]
    attached = [volume for volume in bought if volume.attachments]
    running = [instance for instance in instances if instance.state == "running"]
    replicas = {each.destination_id for each in fleet.replications} | {each.id for each in systems if each.replica}
    old = [system for system in systems if fleet.now - system.created >= 7 * DAY]
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
            "gp3_above_125_attached": len(attached),
            "gp3_above_125_unattached": len(bought) - len(attached),
            "gp3_above_125_attached_xen": sum(not volume.nitro for volume in attached),
            "by_type": Counter(volume.type for volume in volumes),
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
            "older_than_7_days": len(old),
            "older_than_7_days_not_replicas": sum(system.id not in replicas for system in old),
            "replicas": len(replicas & {system.id for system in systems}),
            "one_zone": sum(system.one_zone is not None for system in systems),
        },
        "fsx": {
            "by_kind": Counter(system.kind for system in served),
            "openzfs_volumes": sum(volume.kind == "OPENZFS" for volume in exported),
            "sync_exports": sum(map(is_sync, exported)),
        },
        "events": Counter(event.name for event in fleet.events if event.region == region),
    }


def truth(fleet: Fleet) -> dict[str, Any]:
    """Return the truth document."""
    planted = [asdict(case) | {"issues": list(case.issues)} for case in fleet.planted]
    return {
        "now": rfc3339(fleet.now),
        "account": fleet.account,
        "regions": list(fleet.regions),
        "planted": planted,
        "counts": {region: counts(fleet, region) for region in fleet.regions},
    }
