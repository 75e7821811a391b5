"""The sub-resources of a file system in the simulated account."""

from typing import Any


def sub_resources(account: Any, id_: str) -> tuple[object, ...]:
    """Return the zones of the mount targets, the number of access points, and the names of the volumes.

    Ids are left out: what an undo creates has new ones. The result is empty if the resource is gone.
    """
    fleet = account.fleet
    names = (one.name for one in fleet.fsx_volumes if one.file_system_id == id_)
    systems = [one for one in fleet.efs if one.id == id_]
    return (
        sorted(target.az for one in systems for target in one.mount_targets),
        sum(len(one.points) for one in systems),
        sorted(name for name in names if not name.endswith("_root")),
    )
