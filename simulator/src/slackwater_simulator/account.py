"""Hold one simulated account: its resources, the changes to them, and the answers rendered from them.

Everything that exists is in one frozen `State`. A change replaces the state. A reading call uses one state from start
to end, so it needs no lock. Answers rendered from a state are cached until the state is replaced.
"""

import copy
import heapq
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from .busy import busy, worked
from .clock import Clock
from .resources import LISTS, Attachment, Backup, Fleet, Instance, Resource, TrailEvent, Volume
from .telemetry import Telemetry

type Checkpoint = Mapping[str, Any]
"""An account at one time, with its pending actions. `Account.restore` goes back to it."""
type Tables = Mapping[str, Mapping[str, Any]]

CLIENT: Final = "client"
"""Writer of data: anyone who uses a resource."""
SERVICE: Final = "aws"
"""Writer of data: AWS, which creates a resource empty or restores a backup into it."""
_REMEMBERED: Final = 256
"""How many former states are kept."""
GOING: Final = frozenset({"deleting", "deleted", "DELETING"})
"""States of resources that are being deleted or are deleted."""


@dataclass(frozen=True, slots=True)
class Version:
    """The data that a resource holds from `at` (epoch seconds) on, as a text that stands for it, and who wrote it."""

    contents: str
    who: str
    at: int


@dataclass(frozen=True, slots=True)
class State:
    """Everything that exists from `since` (epoch seconds) on. `tables` has services' other data, by table and key."""

    fleet: Fleet
    since: float = float("-inf")
    backups: Mapping[str, Backup] = field(default_factory=dict)
    tables: Tables = field(default_factory=dict)
    contents: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, tuple[Version, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class Late:
    """Delay in seconds until a metric shows in CloudWatch or an event in CloudTrail.

    Metrics and events from before the clock moved on show at once.
    """

    metrics: float = 0.0
    events: float = 0.0


class Account:
    """An account now, or a read-only view of it at one time (`shown`)."""

    _made: dict[object, Any]
    _shown: "Account"

    def __init__(self, fleet: Fleet, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.usage: Counter[str] = Counter()
        self.late = Late()
        self.backups_show = True
        self.lock = threading.RLock()
        self._action_due_at: float | None = None
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = 0
        self._former: deque[State] = deque(maxlen=_REMEMBERED)
        self._live = True
        self._take(State(fleet))

    # --- Reading ------------------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        return self.fleet.account

    @property
    def now(self) -> int:
        return int(self.fleet.now + self.clock.elapsed if self._action_due_at is None else self._action_due_at)

    @property
    def fleet(self) -> Fleet:
        return self._state.fleet

    def find(self, resource_id: str) -> Resource | None:
        return self.fleet.by_id.get(resource_id)

    def all[T](self, kind: type[T], region: str) -> list[T]:
        """Return the resources of one type in a Region."""
        return self.fleet.by_region.get((kind, region), [])

    def backup(self, backup_id: str) -> Backup | None:
        return self._state.backups.get(backup_id)

    def table(self, name: str) -> Mapping[str, Any]:
        """Return one service table, by key."""
        return self._state.tables.get(name, {})

    def kept[T](self, key: object, make: Callable[[], T]) -> T:
        """Return a value computed from this state. Compute it on the first request and cache it."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]  # type: ignore[no-any-return]

    def shown(self, seconds_ago: float = 0.0) -> "Account":
        """Return a read-only view of the account as it was `seconds_ago`."""
        if not seconds_ago:
            return self._shown
        with self.lock:
            limit = self.now - seconds_ago
            states = [*self._former, self._state]
            state = next((state for state in reversed(states) if state.since <= limit), states[0])
            return self._shown if state is self._state else self._as(state)

    # --- Changing -----------------------------------------------------------------------------------------------------

    def put(self, resource: Resource) -> None:
        """Add a resource, or replace the one with its id."""
        name = LISTS[type(resource)]
        held = [resource if item.id == resource.id else item for item in getattr(self.fleet, name)]
        if resource.id not in self.fleet.by_id:
            held.append(resource)
        changed: dict[str, Any] = {name: held}
        self.change(fleet=replace(self.fleet, **changed))

    def remove(self, resource_id: str) -> None:
        """Remove a resource and its contents. Do nothing if it does not exist."""
        resource = self.find(resource_id)
        if resource is None:
            return
        name = LISTS[type(resource)]
        left: dict[str, Any] = {name: [item for item in getattr(self.fleet, name) if item.id != resource_id]}
        contents = {key: text for key, text in self._state.contents.items() if key != resource_id}
        self.change(fleet=replace(self.fleet, **left), contents=contents)

    def keep(self, table: str, key: str, value: Any) -> None:
        """Store a value in a table. Callers must not change the value in place."""
        self.change(tables={**self._state.tables, table: {**self.table(table), key: value}})

    def forget(self, table: str, key: str) -> None:
        """Remove a value from a table, if it is there."""
        left = {name: value for name, value in self.table(table).items() if name != key}
        self.change(tables={**self._state.tables, table: left})

    def put_backup(self, backup: Backup) -> None:
        """Add a backup, or replace the one with its id."""
        self.change(backups={**self._state.backups, backup.id: backup})

    def drop_backup(self, backup_id: str) -> None:
        """Remove a backup. Do nothing if it does not exist."""
        self.change(backups={key: backup for key, backup in self._state.backups.items() if key != backup_id})

    def fill(self, resource_id: str, contents: str, who: str = SERVICE) -> None:
        """Replace a resource's contents, as written by `who`."""
        version = Version(contents, who, self.now)
        self.change(
            contents={**self._state.contents, resource_id: contents},
            versions={**self._state.versions, resource_id: (*self.versions(resource_id), version)},
        )

    def change(self, **parts: Any) -> None:
        """Replace parts of the state, from now on."""
        if not self._live:
            raise RuntimeError("a state that is shown does not change: only a writing operation may change the account")
        with self.lock:
            self._former.append(self._state)
            self._take(replace(self._state, since=self.now, **parts))

    def after(self, seconds: float, action: Callable[[], object]) -> None:
        """Run an action after `seconds` of simulated time. During the action, `now` is the time at which it was due."""
        with self.lock:
            heapq.heappush(self._due, (self.now + seconds, self.number(), action))

    def run_due(self) -> None:
        """Run all actions that are due by now, in the order of their due times."""
        if not self._due or self._due[0][0] > self.now:
            return
        with self.lock:
            limit = self.now
            try:
                while self._due and self._due[0][0] <= limit:
                    self._action_due_at, _, action = heapq.heappop(self._due)
                    action()
            finally:
                self._action_due_at = None

    def checkpoint(self) -> Checkpoint:
        """Return the account's present state, without the clock. Costs microseconds."""
        with self.lock:
            present = {name: vars(self)[name] for name in ("_state", "telemetry", "_made", "_shown", "_numbers")}
            return present | {"_due": self._due.copy(), "_former": self._former.copy()}

    def restore(self, before: Checkpoint) -> None:
        """Go back to a checkpoint of this account."""
        with self.lock:
            vars(self).update(before, _due=before["_due"].copy(), _former=before["_former"].copy())

    def number(self) -> int:
        """Return a number that was not returned before, for use in ids."""
        self._numbers += 1
        return self._numbers

    # --- Actions of other people --------------------------------------------------------------------------------------

    def attach(self, volume_id: str, instance_id: str) -> None:
        """Attach a volume to an instance."""
        with self.lock:
            volume, _ = self._there(volume_id, Volume), self._there(instance_id, Instance)
            device = f"/dev/sd{'fghijklmnop'[self.number() % 11]}"
            attachment = Attachment(instance_id=instance_id, since=self.now, device=device)
            used = (*volume.used, (self.now, 1 << 40)) if volume.used else ()
            self.put(replace(volume, attachments=(*volume.attachments, attachment), used=used))
            self._moved("AttachVolume", volume, instance_id)

    def detach(self, volume_id: str) -> None:
        """Detach a volume from every instance."""
        with self.lock:
            volume = self._there(volume_id, Volume)
            used = tuple((since, min(until, self.now)) for since, until in volume.intervals)
            self.put(replace(volume, attachments=(), used=used))
            for attachment in volume.attachments:
                self._moved("DetachVolume", volume, attachment.instance_id)

    def tag(self, resource_id: str, key: str, value: str) -> None:
        """Add a tag to a resource or a backup."""
        self.retag(resource_id, lambda tags: {**tags, key: value})

    def untag(self, resource_id: str, *keys: str) -> None:
        """Remove tags."""
        self.retag(resource_id, lambda tags: {name: value for name, value in tags.items() if name not in keys})

    def retag(self, resource_id: str, edit: Callable[[Mapping[str, str]], Mapping[str, str]]) -> None:
        """Change the tags of a resource, a backup or an access point."""
        with self.lock:
            if resource_id in self._state.backups:
                backup = self._state.backups[resource_id]
                return self.put_backup(replace(backup, tags=edit(backup.tags)))
            if (resource := self.find(resource_id)) is not None:
                return self.put(replace(resource, tags=edit(resource.tags)))
            for system in self.fleet.efs:
                if point := next((each for each in system.points if each.id == resource_id), None):
                    changed = replace(point, tags=edit(point.tags))
                    return self.put(
                        system.with_points(changed if each.id == resource_id else each for each in system.points)
                    )
            raise KeyError(resource_id)

    def use(self, resource_id: str) -> None:
        """Add I/O to the metrics, and clients where such metrics exist, from two hours before the fleet's present."""
        with self.lock:
            self.put(busy(self._there(resource_id, object), self.fleet.now - 7_200))

    def write(self, resource_id: str, who: str = CLIENT) -> str:
        """Overwrite some of a resource's data without changing its size. Return the new contents."""
        with self.lock:
            self._there(resource_id, object)
            contents = f"version {self.number()} of {resource_id}"
            self.fill(resource_id, contents, who)
            return contents

    def work(self, resource_id: str, how: str = "client", seconds: float = 60) -> None:
        """Add work to an EFS file system's metrics from now on, for `seconds`. Its size does not change.

        `how` is "client", "service" (needs no mount target and is no connection) or "backup" (only reads).
        """
        with self.lock:
            self.put(worked(self._there(resource_id, object), self.now, self.now + int(seconds), how))
            if how != "backup":
                self.write(resource_id, how)

    def replace(self, resource_id: str) -> None:
        """Replace a resource by a new one with the same id and name, created now, with other contents."""
        with self.lock:
            resource: Any = self._there(resource_id, object)
            times = {"launched": self.now} if isinstance(resource, Instance) else {"created": self.now}
            self.put(replace(resource, **times))
            self.fill(resource_id, f"what the {self.number()}. to be called {resource_id} holds")

    def set_key(self, key_arn: str, state: str) -> None:
        """Set the state of a KMS key, such as `Disabled` or `PendingDeletion`."""
        with self.lock:
            if state == "Enabled":
                self.forget("kms-disabled", key_arn)
            else:
                self.keep("kms-disabled", key_arn, state)

    def key_state(self, key_arn: str) -> str:
        """Return the state of a KMS key: enabled, unless somebody changed it."""
        state = self.table("kms-disabled").get(key_arn, "Enabled")
        return state if isinstance(state, str) else "Disabled"

    def lock_vault(self, vault: str) -> None:
        """Put a Vault Lock on a backup vault. Nobody can delete its recovery points or change their lifecycle."""
        with self.lock:
            self.keep("locked-vaults", vault, True)

    def copy_backup(self, backup_id: str) -> str:
        """Copy a backup with all of its tags, as CopySnapshot, CopyBackup and StartCopyJob do. Return the copy's id."""
        with self.lock:
            source = self._state.backups[backup_id]
            number = f"{self.number():017x}"
            ids = {"snapshot": f"snap-{number}", "fsx-backup": f"backup-{number}"}
            copied = replace(
                source,
                id=ids.get(source.kind) or f"{backup_id.rpartition(':')[0]}:{number}",
                of="vol-ffffffff" if source.kind == "snapshot" else source.of,  # EC2 names an arbitrary volume
                made=self.now,
                detail={**source.detail, "source": source.id},
            )
            self.put_backup(copied)
            return copied.id

    def exists(self, resource_id: str) -> bool:
        """Return whether a resource, sub-resource or backup exists and is not being deleted."""
        resource: Any = self.find(resource_id)
        if resource is not None:
            return getattr(resource, "phase", "") not in GOING
        if resource_id in self._state.backups:
            return self._state.backups[resource_id].state not in GOING
        parts: list[Any] = [part for each in self.fleet.efs for part in (*each.mount_targets, *each.points)]
        return any(part.id == resource_id and part.phase not in GOING for part in parts)

    def contents(self, resource_id: str) -> str:
        """Return the text that stands for the data of a resource or a backup."""
        if resource_id in self._state.backups:
            return self._state.backups[resource_id].contents
        self._there(resource_id, object)
        return self._state.contents.get(resource_id, f"what {resource_id} holds")

    def versions(self, resource_id: str) -> tuple[Version, ...]:
        """Return every version of a resource's data, oldest first. Versions outlive the resource."""
        kept = self._state.versions.get(resource_id)
        resource: Any = self.find(resource_id)
        if kept is None and resource is not None and not isinstance(resource, Instance):
            return (Version(self.contents(resource_id), CLIENT, resource.created),)
        return kept or ()

    def holding(self, contents: str) -> list[Backup]:
        """Return the backups that hold this version, complete or not."""
        return [each for each in self.backups() if each.contents == contents]

    def backups(self) -> list[Backup]:
        """Return every snapshot, recovery point and FSx backup."""
        return list(self._state.backups.values())

    def _take(self, state: State) -> None:
        self.telemetry = self._telemetry(state)
        self._state = state
        self._made = {}
        self._shown = self._as(state)

    def _as(self, state: State) -> "Account":
        """Return a read-only view of this account with another state. Views of the present state share its cache."""
        present = state is self._state
        shown = copy.copy(self)
        shown.__dict__.update(
            _state=state,
            telemetry=self._telemetry(state),
            _made=self._made if present else {},
            _live=False,
            _action_due_at=None,
            _shown=shown,
        )
        return shown

    def _telemetry(self, state: State) -> Telemetry:
        before: Telemetry | None = getattr(self, "telemetry", None)
        return before if before and before.fleet is state.fleet else Telemetry(state.fleet)

    def _there[T](self, resource_id: str, kind: type[T]) -> T:
        resource = self.find(resource_id)
        if resource is None or not isinstance(resource, kind):
            raise KeyError(resource_id)
        return resource

    def hide_backups(self) -> None:
        """Stop publishing metrics of AWS Backup's reads. AWS does not document whether it publishes them."""
        self.backups_show = False

    def _moved(self, name: str, volume: Volume, instance_id: str) -> None:
        """Record CloudTrail's event of an attachment or a detachment."""
        event = TrailEvent(
            name=name,
            at=self.now,
            region=volume.region,
            user="somebody",
            resources=(("AWS::EC2::Volume", volume.id), ("AWS::EC2::Instance", instance_id)),
            request={"volumeId": volume.id, "instanceId": instance_id},
            response={},
        )
        self.change(fleet=replace(self.fleet, events=[*self.fleet.events, event]))
