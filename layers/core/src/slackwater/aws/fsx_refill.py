"""FSx for ONTAP: how storage virtual machines and volumes that are gone are made again, on the old file system or a new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.errors import AwsError
from slackwater.aws.fsx_parts import THERE, advice_only, ontap, parts_of, under_way
from slackwater.aws.fsx_requests import (
    RESTORED_FROM,
    SETTLING,
    LostError,
    ask,
    machine_differences,
    machine_request,
    token,
    verified,
    volume_differences,
    volume_request,
)
from slackwater.aws.inventory_ec2 import tags_of

if TYPE_CHECKING:
    from slackwater.aws.fsx_parts import FsxParts
    from slackwater.aws.session import AwsSession
    from slackwater.model.cleanup import Cleanup

REFILL_ACTIONS: Final = frozenset({"fsx:CreateStorageVirtualMachine", "fsx:CreateVolumeFromBackup", "fsx:TagResource"})
"""TagResource as each Create call asks for it."""


@dataclass(slots=True)
class Refilled:
    """How far they are back: what is there now by the id of what was. `waits` says that FSx is at it still."""

    machines: dict[str, str] = field(default_factory=dict)
    volumes: dict[str, str] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    waits: bool = False

    def complain(self) -> None:
        """Say what cannot come back, once all else has.

        Raises:
            LostError: there is such a volume.
        """
        if self.lost and not self.waits:
            raise LostError(f"there is no verified backup of {', '.join(self.lost)}; all else is there")

    def differences(self, recorded: Mapping[str, Any], *, anew: bool) -> Iterator[str]:
        """What is not as it was; `anew` says that the file system is another one, too."""
        for one in recorded["machines"]:
            was = one["StorageVirtualMachineId"]
            if self.machines.get(was, was) != was:
                yield from machine_differences(one, self.machines[was])
        for one in recorded["volumes"]:
            was = one["VolumeId"]
            if self.volumes.get(was, was) != was:
                yield from volume_differences(one, self.volumes[was], anew=anew)


@dataclass(frozen=True, slots=True)
class Refill:
    """Puts them onto one file system. `asking` asks once."""

    reading: AwsSession
    asking: AwsSession
    cleanup: Cleanup
    system: Any

    def step(self) -> Refilled:
        """Look which of them are there, and ask for those that are not and can be asked for now.

        Of a file system that was not deleted only what the clean-up asked to delete is made again, and what that needs.

        Raises:
            LostError: one of them cannot come back as things are.
        """
        recorded = self.cleanup.recorded
        if recorded is None:
            raise LostError("what hung on it was not recorded")
        advice_only(self.system)
        here = replace(self.cleanup.resource, id=self.system["FileSystemId"], arn=self.system["ResourceARN"])
        parts = parts_of(self.reading, here)
        if parts is None:
            raise AwsError(f"FSx shows {here.id}, and says that it is not there")
        asked = {one.part.id for one in self.cleanup.removals}
        volumes = [one for one in recorded["volumes"] if self.anew or one["VolumeId"] in asked]
        needed = asked | {_host(one) for one in volumes}
        done = Refilled()
        for one in recorded["machines"]:
            if self.anew or one["StorageVirtualMachineId"] in needed:
                self._machine(parts, one, done)
        if not done.waits:
            for one in sorted(volumes, key=_path):  # what others are mounted below comes first
                self._volume(parts, one, volumes, done)
        return done

    @property
    def anew(self) -> bool:
        """Whether the file system is another one than the clean-up's."""
        return bool(self.system["FileSystemId"] != self.cleanup.resource.id)

    def _machine(self, parts: FsxParts, machine: Mapping[str, Any], done: Refilled) -> None:
        was = machine["StorageVirtualMachineId"]
        there = [one for one in parts.machines if one["StorageVirtualMachineId"] == was or one["Name"] == machine["Name"]]
        if not there:
            asked = machine_request(machine) | {"FileSystemId": self.system["FileSystemId"]}
            call = self._client.create_storage_virtual_machine
            ask(call, "StorageVirtualMachine", ClientRequestToken=token(self.cleanup, was), **asked)
        if there and _is_ready(there[0], there[0]["StorageVirtualMachineId"]):
            done.machines[was] = there[0]["StorageVirtualMachineId"]
        else:
            done.waits = True

    def _volume(self, parts: FsxParts, volume: Mapping[str, Any], volumes: Sequence[Mapping[str, Any]], done: Refilled) -> None:
        was, host = volume["VolumeId"], done.machines.get(_host(volume))
        there = [one for one in parts.volumes if one["VolumeId"] == was or _stands_for(one, was)]
        backup = verified(self.cleanup).get(was)
        if there:
            if _is_ready(there[0], there[0]["VolumeId"]) and under_way(there[0]) is None:
                done.volumes[was] = there[0]["VolumeId"]
            else:  # where file systems are of the second generation, the data comes after the volume
                done.waits = True
        elif backup is None or host is None:
            done.lost.append(f"{volume['Name']} ({was})")
        else:
            done.waits = True
            over = [one["VolumeId"] for one in volumes if _host(one) == _host(volume) and _is_below(volume, one)]
            if all(one in done.volumes for one in over):
                asked = volume_request(volume, host, anew=self.anew) | {"BackupId": backup}
                call = self._client.create_volume_from_backup
                ask(call, "Volume", ClientRequestToken=token(self.cleanup, was), **asked)

    @property
    def _client(self) -> Any:
        return self.asking.client("fsx", self.cleanup.resource.region)


def _is_ready(described: Any, id: str) -> bool:
    if described["Lifecycle"] in THERE:
        return True
    if described["Lifecycle"] in SETTLING:
        return False
    said = described.get("LifecycleTransitionReason", {}).get("Message", "FSx does not say why")
    raise LostError(f"{id} is {described['Lifecycle'].lower()}: {said}; delete it, and ask again")


def _stands_for(volume: Any, was: str) -> bool:
    return bool(tags_of(volume.get("Tags")).get(RESTORED_FROM) == was)


def _host(volume: Mapping[str, Any]) -> str:
    return str(ontap(volume)["StorageVirtualMachineId"])


def _path(volume: Mapping[str, Any]) -> str:
    return str(ontap(volume).get("JunctionPath") or "")


def _is_below(volume: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    path, above = _path(volume), _path(other)
    return bool(above) and path != above and path.startswith(f"{above.rstrip('/')}/")
