"""The inventory of one target, with lookups."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from slackwater.model.findings import Gap
from slackwater.model.resources import DiskMetric, FsxVolume, Instance, Record, Resource, Volume


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


class RecordNeededError(Exception):
    """Interrupts a judgement that needs a record of a kind that the fleet's `Rest` still reads."""

    def __init__(self, kind: type[Record], id: str = "") -> None:
        """Create the error for one record, or for all records of the kind."""
        super().__init__(kind, id)
        self.kind, self.id = kind, id


class Late(NamedTuple):
    """What a `Rest` has read: records, unreadable kinds with the reason, failed calls."""

    records: Sequence[Record]
    unreadable: Mapping[type[Record], str]
    gaps: Sequence[Gap]
    broken: Sequence[UnreadableRecord] = ()


@dataclass(frozen=True, slots=True)
class Rest:
    """The kinds of record that are read while the fleet is evaluated.

    Attributes:
        kinds: Those that are being listed. The fleet has none of their records.
        wait: Waits for all records that are being read, and returns them. May be called more than once.
        on_demand: Those that are read only for the resources of which a detector needs them.
        begin: Begins to read one of these for all resources of a fleet. Does not wait.
    """

    kinds: frozenset[type[Record]]
    wait: Callable[[], Late]
    on_demand: frozenset[type[Record]] = frozenset()
    begin: Callable[[type[Record], "Fleet"], None] = lambda *_: None


class Fleet:
    """All records of one target, and which kinds could not be read completely."""

    def __init__(
        self,
        records: Iterable[Record],
        unreadable: Mapping[type[Record], str] | None = None,
        rest: Rest | None = None,
        broken: Iterable[UnreadableRecord] = (),
        requested: Collection[tuple[type[Record], str]] = (),
    ) -> None:
        """Index `records`.

        Args:
            records: The records that were read.
            unreadable: Kinds that are missing or partial, with the reason.
            rest: The kinds that are still being read.
            broken: Single records that could not be read. If one of them is not identified, its kind is partial.
            requested: The records that were read on demand, by kind and id.
        """
        self._by_kind: dict[type[Record], dict[str, Record]] = {}
        for record in records:
            self._by_kind.setdefault(type(record), {})[record.id] = record
        self.broken: Sequence[UnreadableRecord] = tuple(broken)
        partial = {one.kind: str(one) for one in self.broken if not one.identified}
        self.unreadable: Mapping[type[Record], str] = partial | dict(unreadable or {})
        self._rest = rest
        self._answered = frozenset(requested)
        self._requested = set(requested)

    def all[R: Record](self, kind: type[R]) -> Sequence[R]:
        """Return all records of a kind, in the order in which they were read; of one on demand, those requested.

        Raises:
            RecordNeededError: The kind is still being listed.
        """
        if kind in self.awaited:
            raise RecordNeededError(kind)
        return list(self._by_kind.get(kind, {}).values())  # type: ignore[arg-type]

    def get[R: Record](self, kind: type[R], id: str) -> R | None:
        """Return the record with this id; None if it is not there.

        None means that the resource does not exist only if its kind was read completely.

        Raises:
            RecordNeededError: The record was not read yet.
            UnreadableRecordError: AWS returned this record, but it could not be read.
        """
        found = self._by_kind.get(kind, {}).get(id)
        if found is None:
            if kind in self.awaited or (kind in self.on_demand and (kind, id) not in self._answered):
                raise RecordNeededError(kind, id)
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
        """The kinds that are still being listed. This fleet has none of their records."""
        return self._rest.kinds if self._rest else frozenset()

    @property
    def on_demand(self) -> frozenset[type[Record]]:
        """The kinds of which this fleet has only those records that were requested."""
        return self._rest.on_demand if self._rest else frozenset()

    def request(self, needed: RecordNeededError, resource: Resource) -> None:
        """Begin to read what the judgement of a resource needs, unless that has begun. Does not wait."""
        if self._rest and needed.kind in self.on_demand and (needed.kind, needed.id) not in self._requested:
            self._requested.add((needed.kind, needed.id))
            self._rest.begin(needed.kind, Fleet([resource]))

    def caught_up(self) -> "Fleet":
        """Wait for the kinds that are still being listed and for what was requested. Return the fleet with them."""
        return self._with_late(replace(self._rest, kinds=frozenset()) if self._rest else None)

    def whole(self) -> "Fleet":
        """Read everything that is still missing, and return the fleet with it."""
        if self._rest:
            for kind in self._rest.on_demand:
                missing = [one for one in self._every() if (kind, one.id) not in self._requested]
                self._requested.update((kind, one.id) for one in missing)
                self._rest.begin(kind, Fleet(missing))
        return self._with_late(None)

    def _with_late(self, rest: Rest | None) -> "Fleet":
        if self._rest is None:
            return self
        late = self._rest.wait()
        records, broken = (*self._every(), *late.records), dict.fromkeys((*self.broken, *late.broken))
        return Fleet(records, {**self.unreadable, **late.unreadable}, rest, broken, self._requested)

    def late_gaps(self) -> Sequence[Gap]:
        """Wait for all records that are being read, and return the failed calls."""
        return self._rest.wait().gaps if self._rest else ()

    def with_(self, record: Record) -> "Fleet":
        """Return the same fleet with one record replaced, or added."""
        return Fleet((*self._every(), record), self.unreadable, self._rest, self.broken, self._requested)

    def mapped(self, change: Callable[[Record], Record]) -> "Fleet":
        """Return the same fleet with each record changed, except those that are still to be read.

        `change` must not change kinds and ids.
        """
        return Fleet(map(change, self._every()), self.unreadable, self._rest, self.broken, self._requested)

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
