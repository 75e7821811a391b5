"""One target's inventory, to look things up in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from slackwater.model.resources import DiskMetric, Instance, Record, Volume


class Fleet:
    """Every record that was read of one target, and which kinds could not be read to the end."""

    def __init__(self, records: Iterable[Record], unreadable: Mapping[type[Record], str] | None = None) -> None:
        """Index `records`; `unreadable` maps a kind to the reason it is missing or partial."""
        self._by_kind: dict[type[Record], dict[str, Record]] = {}
        for record in records:
            self._by_kind.setdefault(type(record), {})[record.id] = record
        self.unreadable: Mapping[type[Record], str] = dict(unreadable or {})

    def all[R: Record](self, kind: type[R]) -> Sequence[R]:
        """All records of a kind, in the order they were read."""
        return list(self._by_kind.get(kind, {}).values())  # type: ignore[arg-type]

    def get[R: Record](self, kind: type[R], id: str) -> R | None:
        """The record with this id, or None. None means "does not exist" only if the kind is readable."""
        return self._by_kind.get(kind, {}).get(id)  # type: ignore[return-value]

    def with_(self, record: Record) -> Fleet:
        """The same fleet, with another record of the same kind and id."""
        every = (one for kind in self._by_kind.values() for one in kind.values())
        return Fleet((*every, record), self.unreadable)

    def volumes_of(self, instance_id: str) -> Sequence[Volume]:
        """The volumes that an instance carries."""
        return self._volumes.get(instance_id, ())

    @cached_property
    def _volumes(self) -> Mapping[str, Sequence[Volume]]:
        found: dict[str, list[Volume]] = {}
        for volume in self.all(Volume):
            for attachment in volume.attachments:
                found.setdefault(attachment.instance_id, []).append(volume)
        return found

    def disks_of(self, instance_id: str) -> Sequence[DiskMetric]:
        """The file systems that an instance's agent tells of."""
        return self._disks.get(instance_id, ())

    @cached_property
    def _disks(self) -> Mapping[str, Sequence[DiskMetric]]:
        found: dict[str, list[DiskMetric]] = {}
        for disk in self.all(DiskMetric):
            found.setdefault(disk.instance_id, []).append(disk)
        return found


def is_root(volume: Volume, fleet: Fleet) -> bool | None:
    """Whether an instance starts from this volume: it is attached as the root device. None where that cannot be told."""
    devices = [(fleet.get(Instance, one.instance_id), one.device) for one in volume.attachments]
    if any(instance and device and device == instance.root_device for instance, device in devices):
        return True
    known = all(instance and device and instance.root_device for instance, device in devices)
    return False if known else None
