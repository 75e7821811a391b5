"""Checks a resource again before it is deleted or changed: its state and tags, then the detector with its metrics."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal

from slackwater.app.audit.scan import Audit, Sources
from slackwater.app.cleanup.case import some
from slackwater.engine import efs_use
from slackwater.engine.cleanup import change_blocker, manager_blocker
from slackwater.engine.exempt import tags_exempt
from slackwater.engine.plan import MetricCall
from slackwater.model.cleanup import CLEANUP_TAG, Cleanup, CurrentState, SubResource
from slackwater.model.detector import Limits
from slackwater.model.findings import Finding, Gap, TargetScan
from slackwater.model.fleet import Fleet, UnreadableRecordError
from slackwater.model.metrics import Series
from slackwater.model.ownership import managed_by
from slackwater.model.policy import Policy
from slackwater.model.resources import (
    AttachmentEvent,
    EfsFileSystem,
    EfsReplication,
    FsxFileSystem,
    Instance,
    Record,
    Target,
    Volume,
)
from slackwater.model.snapshot import WholeSnapshot
from slackwater.model.tracking import TrackedResource
from slackwater.ports.cleanup import Watcher
from slackwater.ports.clock import Clock
from slackwater.ports.inventory import Inventory, InventorySnapshot
from slackwater.ports.metrics import MetricAnswer, Metrics

KINDS: Final[Mapping[str, type[Record]]] = {kind.KIND: kind for kind in (Volume, EfsFileSystem, FsxFileSystem)}
RAILS_READ: Final[Mapping[str, tuple[type[Record], ...]]] = {
    Volume.KIND: (Volume, Instance),
    EfsFileSystem.KIND: (EfsFileSystem, EfsReplication),
    FsxFileSystem.KIND: (FsxFileSystem,),
}
"""Record types that the safety checks need, whatever the detector reads."""


VETO: Final = "somebody removed its tag"
VETOES: Final = (VETO, "somebody took its mark off")
"""The start of the reason if a person removed a tag, now and in records of older versions."""
PRICES: Final = "pricing:GetProducts"
"""The only failed call that does not matter for the check."""


class NotSeenError(Exception):
    """Something that must be known before any action could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rechecked:
    """The result of a check.

    Attributes:
        state: "gone": the resource does not exist. "changed": Slackwater must not touch it, see `why`. "unknown": AWS
            did not publish what is needed. "same": the resource is as the audit found it.
        look: The resource's state; None if it does not exist.
        finding: What an audit would report now.
        detached: What CloudTrail has recorded about a volume's detachment.
        use_unknown: Why use of an EFS file system cannot be ruled out before its deletion; empty if it can.
    """

    state: Literal["same", "changed", "unknown", "gone"]
    why: str = ""
    look: CurrentState | None = None
    finding: Finding | None = None
    detached: AttachmentEvent | None = None
    use_unknown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rechecker:
    """Checks a resource again. `audit` creates the audit of an inventory, with a policy of one detector."""

    watchers: Mapping[str, Watcher]
    inventory: Callable[[TrackedResource], Inventory]
    audit: Callable[[Policy, Inventory], Audit]
    clock: Clock

    def recheck(self, cleanup: Cleanup, policy: Policy) -> Rechecked:
        """Compare the resource as it is now with what the clean-up recorded.

        Raises:
            NotSeenError: Something required could not be read. Slackwater does not know of any change.
            AwsError: AWS did not answer.
        """
        now = self.clock()
        look = self.watchers[cleanup.resource.type].look(cleanup.resource)
        if look is None:
            return Rechecked(state="gone", why="it no longer exists")
        if why := objection(cleanup, look, policy, now):
            return Rechecked(state="changed", why=why, look=look)
        return replace(self._asked_again(cleanup, policy, now), look=look)

    def _asked_again(self, cleanup: Cleanup, policy: Policy, now: datetime) -> Rechecked:
        limits: Limits | None = policy.limits.get(cleanup.detector)
        if limits is None:
            return Rechecked(state="changed", why=f"the policy disables {cleanup.detector}")
        resource = cleanup.resource
        inventory = _Kept(self.inventory(resource), cleanup)
        audit = self.audit(replace(policy, limits={cleanup.detector: limits}), inventory)
        target = Target(resource.account, resource.region, resource.arn.split(":")[1])
        start = efs_use.began(cleanup) if cleanup.deletes and resource.type == EfsFileSystem.KIND else None
        scan = (_as_of(audit, start) if start else audit).scan_target(target, start or now)
        checked = self._compared(cleanup, scan, inventory.fleet)
        seen = checked.state == "same" and not scan.closed
        unseen = [gap for gap in scan.gaps if not gap.optional or (not seen and gap.what != PRICES)]
        if unseen:
            raise NotSeenError("; ".join(f"{gap.what}: {gap.reason}" for gap in unseen))
        if checked.state == "same" and start:
            return self._used_since(checked, cleanup, audit.sources(target).metrics, start, now)
        return checked

    def _used_since(
        self, checked: Rechecked, cleanup: Cleanup, metrics: Metrics, start: datetime, now: datetime
    ) -> Rechecked:
        """Return "changed" if the file system was used since the clean-up began to work on it."""
        during = efs_use.period(cleanup, start, now)
        answer = metrics.fetch(efs_use.question(cleanup.resource.id, during.start, now))
        if answer.failed:
            raise NotSeenError("; ".join(f"{query.metric.name}: {why}" for query, why in answer.failed.items()))
        answered = {query.metric: series for query, series in answer.series.items()}
        if why := efs_use.use(answered, during):
            return Rechecked(state="changed", why=why)
        return replace(checked, use_unknown=efs_use.unknown(answered, during, cleanup.fenced_at) or "")

    def _compared(self, cleanup: Cleanup, scan: TargetScan, fleet: Fleet) -> Rechecked:
        """Compare the scan with the clean-up. If optional data is missing, the detector may be less confident."""
        if scan.unknown:
            return Rechecked(state="unknown", why=scan.unknown[0].reason)
        finding = next((found for found in scan.findings if found.id == cleanup.finding_id), None)
        if finding is None:
            why = next(
                (str(one.reason) for one in scan.unlisted),
                f"{cleanup.detector} no longer reports it: it is in use",
            )
            return Rechecked(state="changed", why=why)
        if protected := change_blocker(finding.resource, fleet, deletes=cleanup.deletes):
            return Rechecked(state="changed", why=protected)
        advice = [one.advice for one in finding.recommendations]
        if finding.confidence == "low" or not any(one.deletes if cleanup.deletes else one.setting for one in advice):
            return Rechecked(state="changed", why="Slackwater can no longer carry out the recommendation")
        if not cleanup.deletes and all(one.setting != cleanup.setting for one in advice):
            return Rechecked(state="changed", why="the recommended setting is different now")
        return Rechecked(state="same", finding=finding, detached=fleet.get(AttachmentEvent, cleanup.resource.id))


def objection(cleanup: Cleanup, look: CurrentState, policy: Policy, now: datetime) -> str | None:
    """Return why a resource's state does not let the clean-up continue; None if it does.

    This compares only what the clean-up has already recorded.
    """
    if cleanup.born_at and look.born_at != cleanup.born_at:
        return "it is a different resource with the same id"
    if why := _tags_objection(cleanup, look, policy, now):
        return why
    return _deletion_objection(cleanup, look, policy.owners.managed_tags) if cleanup.deletes else None


def _tags_objection(cleanup: Cleanup, look: CurrentState, policy: Policy, now: datetime) -> str | None:
    """Return why tags of the resource or its sub-resources do not let the clean-up continue; None if they do."""
    if tags_exempt(look.tags, policy.exempt, now):
        return "a tag protects it, or Slackwater could not read its tags"
    for id_, tags in look.children.items():
        if tags_exempt(tags, policy.exempt, now):
            return f"a tag protects {id_}, which depends on it, or Slackwater could not read the tags of {id_}"
    tagged = cleanup.marked is not None and cleanup.marked.tagged
    if tagged and (look.tags or {}).get(CLEANUP_TAG) != cleanup.finding_id:
        return f"{VETO}: {CLEANUP_TAG}"
    return manager_blocker(managed_by(look.tags, policy.owners.managed_tags))


def _deletion_objection(cleanup: Cleanup, look: CurrentState, managed_tags: Sequence[str]) -> str | None:
    """Return why the resource must not be deleted in its current state; None if it may."""
    for id_, tags in look.children.items():
        if owner := managed_by(tags, managed_tags):
            return f"{owner} manages {id_}, which depends on it: change it there"
    if look.held:
        return look.held
    known = {*(part.id for part in cleanup.parts), *cleanup.children}
    if known and (new := {*(part.id for part in look.parts), *look.children} - known):
        return f"something new depends on it: {some(sorted(new))}"
    backed_up = sum(backup.subject.size_bytes for backup in cleanup.prior_backups)
    if cleanup.backups and look.size_bytes > backed_up:
        return f"it has {look.size_bytes:,} bytes, but had {backed_up:,} when Slackwater made its backup"
    return None


def _as_of(audit: Audit, at: datetime) -> Audit:
    """Return the audit with metrics that end at this time: later, Slackwater's own backup reads the file system."""

    def sources(target: Target) -> Sources:
        now = audit.sources(target)
        return replace(now, metrics=_MetricsUntil(now.metrics, at, now.metrics.concurrency))

    return replace(audit, sources=sources)


@dataclass(slots=True)
class _MetricsUntil:
    """Metrics without the points that end after a time. CloudWatch returns whole days, whatever end is requested."""

    inner: Metrics
    at: datetime
    concurrency: int

    def fetch(self, call: MetricCall) -> MetricAnswer:
        answer = self.inner.fetch(call)
        return replace(answer, series={query: self._cut(series) for query, series in answer.series.items()})

    def _cut(self, series: Series) -> Series:
        whole = len(series.between(series.start_s, self.at.timestamp()))
        return Series.of(series.start_s, series.period_s, [*series.optional()[:whole], *[None] * (len(series) - whole)])


def part_objection(
    cleanup: Cleanup, part: SubResource, tags: Mapping[str, str], policy: Policy, now: datetime
) -> str | None:
    """Return why the tags of one sub-resource do not let it be deleted; None if they do."""
    name = f"{part.kind} {part.id}"
    if tags_exempt(tags, policy.exempt, now):
        return f"a tag protects {name}, which depends on it"
    if owner := managed_by(tags, policy.owners.managed_tags):
        return f"{owner} manages its {name}: change it there"
    return None if tags.get(CLEANUP_TAG) == cleanup.finding_id else f"{VETO}: {CLEANUP_TAG} of its {name}"


@dataclass(slots=True)
class _Kept:
    """An inventory that keeps the records that it read, and also reads those that the safety checks need.

    It hides the changes of the clean-up itself: it counts the mount targets that the clean-up deleted as present. It
    also keeps the time of a volume's detachment, because CloudTrail drops it after 90 days.
    """

    inner: Inventory
    cleanup: Cleanup
    fleet: Fleet = field(default_factory=lambda: Fleet(()))

    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        rails = RAILS_READ[self.cleanup.resource.type]
        read, gaps = self.inner.read(target, {*required, *rails}, optional)
        with suppress(UnreadableRecordError):  # then an access error names the record, and the clean-up waits
            for was in self._remembered(read):
                read = read.with_(was)
        self.fleet = read
        return read, gaps

    def snapshot(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> InventorySnapshot:
        return WholeSnapshot(*self.read(target, required, optional))

    def _remembered(self, read: Fleet) -> Iterator[Record]:
        cleanup = self.cleanup
        taken = {one.part.id for one in cleanup.removals}
        targets = [part.id for part in cleanup.parts if part.kind == "mount-target"]
        if (system := read.get(EfsFileSystem, cleanup.resource.id)) and taken.intersection(targets):
            yield replace(system, mount_targets=len(targets))
        detached = cleanup.detached
        if detached and AttachmentEvent not in read.unreadable and read.get(AttachmentEvent, detached.id) is None:
            yield detached
