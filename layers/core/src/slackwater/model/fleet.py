"""The inventory of one target, with lookups."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from slackwater.model.findings import Gap
from slackwater.model.resources import DiskMetric, FsxVolume, Instance, Record, Volume


@dataclass(frozen=True, slots=True)
class UnreadableRecord:
    """A record that AWS returned and that Slackwater cannot use. The other records of the answer are usable.

    Attributes:
        kind: The kind of record.
        id: Its id; empty if the id is unknown too.
        reason: Why it cannot be used.
        owners: The ids of the resources that it belongs to, such as a volume's instances; None if they are unknown.
    """

    kind: type[Record]
    id: str
    reason: str
    owners: tuple[str, ...] | None = ()

    @property
    def identified(self) -> bool:
        """Whether its id and owners are known. If not, it may be any record of its kind, or belong to any resource."""
        return bool(self.id) and self.owners is not None

    def __str__(self) -> str:
        """Return the record and the reason, for people."""
        return f"{self.kind.KIND} {self.id or 'without an id'} could not be read: {self.reason}"


class UnreadableRecordError(Exception):
    """A judgement needs a record that could not be read."""


class Late(NamedTuple):
    """The result of the kinds that were still being read: records, unreadable kinds with the reason, failed calls."""

    records: Sequence[Record]
    unreadable: Mapping[type[Record], str]
    gaps: Sequence[Gap]
    broken: Sequence[UnreadableRecord] = ()


@dataclass(frozen=True, slots=True)
class Rest:
    """The kinds of a fleet that are still being read. `wait` returns their result, and may be called more than once."""

    kinds: frozenset[type[Record]]
    wait: Callable[[], Late]


class Fleet:
    """All records of one target, and which kinds could not be read completely."""

    def __init__(
        self,
        records: Iterable[Record],
        unreadable: Mapping[type[Record], str] | None = None,
        rest: Rest | None = None,
        broken: Iterable[UnreadableRecord] = (),
    ) -> None:
        """Index `records`.

        Args:
            records: The records that were read.
            unreadable: Kinds that are missing or partial, with the reason.
            rest: The kinds that are still being read.
            broken: Single records that could not be read. If one of them is not identified, its kind is partial.
        """
        self._by_kind: dict[type[Record], dict[str, Record]] = {}
        for record in records:
            self._by_kind.setdefault(type(record), {})[record.id] = record
        self.broken: Sequence[UnreadableRecord] = tuple(broken)
        partial = {one.kind: str(one) for one in self.broken if not one.identified}
        self.unreadable: Mapping[type[Record], str] = partial | dict(unreadable or {})
        self._rest = rest

    def all[R: Record](self, kind: type[R]) -> Sequence[R]:
        """Return all records of a kind, in the order in which they were read."""
        return list(self._by_kind.get(kind, {}).values())  # type: ignore[arg-type]

    def get[R: Record](self, kind: type[R], id: str) -> R | None:
        """Return the record with this id; None if it is not there.

        None means that the resource does not exist only if its kind was read completely.

        Raises:
            UnreadableRecordError: AWS returned this record, but it could not be read.
        """
        found = self._by_kind.get(kind, {}).get(id)
        if found is None and self.broken:
            self._require(one for one in self.broken if one.kind is kind and one.id == id)
        return found  # type: ignore[return-value]

    def broken_of(self, resource: Record, kinds: Collection[type[Record]]) -> UnreadableRecord | None:
        """Return the first unreadable record of these kinds that belongs to a resource; None if there is none."""
        return next((one for one in self.broken if one.kind in kinds and resource.id in (one.owners or ())), None)

    @staticmethod
    def _require(broken: Iterable[UnreadableRecord]) -> None:
        for one in broken:
            raise UnreadableRecordError(str(one))

    def _require_all_of(self, kind: type[Record], owner: str) -> None:
        """Raise UnreadableRecordError if an unreadable record of this kind belongs, or may belong, to the owner."""
        self._require(one for one in self.broken if one.kind is kind and (one.owners is None or owner in one.owners))

    @property
    def awaited(self) -> frozenset[type[Record]]:
        """The kinds that are still being read. This fleet has none of their records."""
        return self._rest.kinds if self._rest else frozenset()

    def whole(self) -> "Fleet":
        """Wait for the kinds that are still being read, and return the fleet with them."""
        if self._rest is None:
            return self
        late = self._rest.wait()
        broken = (*self.broken, *late.broken)
        return Fleet((*self._every(), *late.records), {**self.unreadable, **late.unreadable}, broken=broken)

    def late_gaps(self) -> Sequence[Gap]:
        """Wait for the kinds that are still being read, and return their failed calls."""
        return self._rest.wait().gaps if self._rest else ()

    def with_(self, record: Record) -> "Fleet":
        """Return the same fleet with one record replaced, or added."""
        return Fleet((*self._every(), record), self.unreadable, self._rest, self.broken)

    def mapped(self, change: Callable[[Record], Record]) -> "Fleet":
        """Return the same fleet with each record changed, including those that are still being read.

        `change` must not change kinds and ids.
        """
        rest = self._rest
        late = (
            Rest(rest.kinds, lambda: (came := rest.wait())._replace(records=[*map(change, came.records)]))
            if rest
            else None
        )
        return Fleet(map(change, self._every()), self.unreadable, late, self.broken)

    def records(self) -> Iterable[Record]:
        """Return every record that was read so far, kind by kind."""
        return self._every()

    def _every(self) -> Iterable[Record]:
        return (one for kind in self._by_kind.values() for one in kind.values())

    def volumes_of(self, instance_id: str) -> Sequence[Volume]:
        """Return the volumes that are attached to an instance.

        Raises:
            UnreadableRecordError: One of them could not be read.
        """
        self._require_all_of(Volume, instance_id)
        return self._volumes.get(instance_id, ())

    @cached_property
    def _volumes(self) -> Mapping[str, Sequence[Volume]]:
        found: dict[str, list[Volume]] = {}
        for volume in self.all(Volume):
            for attachment in volume.attachments:
                found.setdefault(attachment.instance_id, []).append(volume)
        return found

    def fsx_volumes_of(self, file_system_id: str) -> Sequence[FsxVolume]:
        """Return the volumes of an FSx file system.

        Raises:
            UnreadableRecordError: One of them could not be read.
        """
        self._require_all_of(FsxVolume, file_system_id)
        return self._fsx_volumes.get(file_system_id, ())

    @cached_property
    def _fsx_volumes(self) -> Mapping[str, Sequence[FsxVolume]]:
        found: dict[str, list[FsxVolume]] = {}
        for volume in self.all(FsxVolume):
            found.setdefault(volume.file_system_id, []).append(volume)
        return found

    def disks_of(self, instance_id: str) -> Sequence[DiskMetric]:
        """Return the file systems that an instance's CloudWatch agent reports.

        Raises:
            UnreadableRecordError: One of them could not be read.
        """
        self._require_all_of(DiskMetric, instance_id)
        return self._disks.get(instance_id, ())

    @cached_property
    def _disks(self) -> Mapping[str, Sequence[DiskMetric]]:
        found: dict[str, list[DiskMetric]] = {}
        for disk in self.all(DiskMetric):
            found.setdefault(disk.instance_id, []).append(disk)
        return found


def is_root(volume: Volume, fleet: Fleet) -> bool | None:
    """Return whether the volume is attached as an instance's root device; None if that cannot be known."""
    devices = [(fleet.get(Instance, one.instance_id), one.device) for one in volume.attachments]
    if any(instance and device and device == instance.root_device for instance, device in devices):
        return True
    known = all(instance and device and instance.root_device for instance, device in devices)
    return False if known else None
