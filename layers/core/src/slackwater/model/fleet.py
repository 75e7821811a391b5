"""One target's inventory, to look things up in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from slackwater.model.findings import Gap
from slackwater.model.resources import DiskMetric, Instance, Record, Volume


class Late(NamedTuple):
    """What came of the rest: its records, the kinds that could not be read, and why, and the gaps that this leaves."""

    records: Sequence[Record]
    unreadable: Mapping[type[Record], str]
    gaps: Sequence[Gap]


@dataclass(frozen=True, slots=True)
class Rest:
    """What of a fleet is still being read: these kinds. `wait` gives what came of it, as often as it is asked."""

    kinds: frozenset[type[Record]]
    wait: Callable[[], Late]


class Fleet:
    """Every record that was read of one target, and which kinds could not be read to the end."""

    def __init__(
        self, records: Iterable[Record], unreadable: Mapping[type[Record], str] | None = None, rest: Rest | None = None
    ) -> None:
        """Index `records`; `unreadable` maps a kind to the reason it is missing or partial."""
        self._by_kind: dict[type[Record], dict[str, Record]] = {}
        for record in records:
            self._by_kind.setdefault(type(record), {})[record.id] = record
        self.unreadable: Mapping[type[Record], str] = dict(unreadable or {})
        self._rest = rest

    def all[R: Record](self, kind: type[R]) -> Sequence[R]:
        """All records of a kind, in the order they were read."""
        return list(self._by_kind.get(kind, {}).values())  # type: ignore[arg-type]

    def get[R: Record](self, kind: type[R], id: str) -> R | None:
        """The record with this id, or None. None means "does not exist" only if the kind is readable."""
        return self._by_kind.get(kind, {}).get(id)  # type: ignore[return-value]

    @property
    def awaited(self) -> frozenset[type[Record]]:
        """Kinds that are still being read: nothing is known of them here."""
        return self._rest.kinds if self._rest else frozenset()

    def whole(self) -> Fleet:
        """The fleet with what is awaited, too: waits for it."""
        if self._rest is None:
            return self
        late = self._rest.wait()
        return Fleet((*self._every(), *late.records), {**self.unreadable, **late.unreadable})

    def late_gaps(self) -> Sequence[Gap]:
        """The gaps of what is awaited: waits for it."""
        return self._rest.wait().gaps if self._rest else ()

    def with_(self, record: Record) -> Fleet:
        """The same fleet, with another record of the same kind and id."""
        return Fleet((*self._every(), record), self.unreadable, self._rest)

    def mapped(self, change: Callable[[Record], Record]) -> Fleet:
        """The same fleet with each record changed, those too that are awaited. Kinds and ids have to stay as they are."""
        rest = self._rest
        late = Rest(rest.kinds, lambda: (came := rest.wait())._replace(records=[*map(change, came.records)])) if rest else None
        return Fleet(map(change, self._every()), self.unreadable, late)

    def _every(self) -> Iterable[Record]:
        return (one for kind in self._by_kind.values() for one in kind.values())

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
