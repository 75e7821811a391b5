"""Scans one target of an audit, or as many of its chunks as time allows."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from slackwater.app.audit.plan import plan_of
from slackwater.app.audit.scan import TARGETS_AT_ONCE, Audit
from slackwater.app.audit.target_documents import parts_of
from slackwater.app.policy.stored import Policies
from slackwater.app.telemetry import LOGGER
from slackwater.model import object_keys
from slackwater.model.audits import AuditPlan, ScanTask
from slackwater.model.policy import Policy
from slackwater.model.resources import Target
from slackwater.ports.clock import Clock
from slackwater.ports.inventory import InventorySnapshot
from slackwater.ports.store import Documents
from slackwater.views.scan import to_json as scan_json

SLOWER: Final = 2
"""Another chunk is started only if there is time for one that takes this many times as long as the slowest so far."""

TO_HAND_OVER_S: Final = 60
"""Seconds to store the inventory snapshot for the next invocation."""

TO_BEGIN_S: Final = 600
"""How many seconds must be left to start another target of a batch. Otherwise it gets an invocation of its own."""


class NoSnapshotError(Exception):
    """A scan cannot be continued, because its inventory snapshot or its first chunk is missing."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """The progress: the next chunk (0 if there is none), and whether all chunks so far are complete."""

    next_part: int
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanner:
    """Scans targets, with the adapters that this needs.

    Attributes:
        audit: Composes the audit of a target, with its own meter. While it is open, other scans of this target share
            the rate limit.
    """

    documents: Documents
    policies: Policies
    audit: Callable[[Policy, AuditPlan, Target], AbstractContextManager[Audit]]
    clock: Clock

    def scan(self, audit_id: str, target: Target, part: int, left_s: Callable[[], float]) -> Scanned:
        """Scan a target as planned, starting with a chunk, and store the document of each chunk.

        A target whose documents are all stored is not scanned again. If the time is too short for another chunk, the
        inventory snapshot is stored for the next invocation.

        Args:
            audit_id: The audit.
            target: The target.
            part: The first chunk, counted from 1.
            left_s: Returns the seconds that are left.

        Raises:
            NoPlanError: There is no such audit.
            NoSnapshotError: The first chunk, or the inventory snapshot, is missing.
            PolicyError: The policy's version no longer exists.
        """
        task = ScanTask(target, part)
        if done := self._scanned_before(audit_id, task):
            return done
        plan = plan_of(self.documents, audit_id)
        return self._scan(plan, self.policies.at(plan.policy, plan.detectors), task, left_s)

    def scan_batch(
        self, audit_id: str, tasks: Sequence[ScanTask], left_s: Callable[[], float]
    ) -> tuple[list[ScanTask], bool]:
        """Scan several targets, a few at the same time, as planned. Skip those whose documents are all stored.

        Args:
            audit_id: The audit.
            tasks: The targets, and the chunk of each to begin with.
            left_s: Returns the seconds that are left.

        Returns:
            The tasks that need an invocation of their own, and whether all scanned targets are complete. A target whose
            scan failed starts again. One that was too large for the time left continues with its next chunk. The others
            were not started.

        Raises:
            NoPlanError: There is no such audit.
            PolicyError: The policy's version no longer exists.
        """
        plan = plan_of(self.documents, audit_id)
        policy = self.policies.at(plan.policy, plan.detectors)

        def scan(task: ScanTask) -> Scanned | None:
            """Return the progress of a target; None if it starts again in an invocation of its own."""
            if task is not tasks[0] and left_s() < TO_BEGIN_S:
                return None
            try:
                return self._scanned_before(audit_id, task) or self._scan(plan, policy, task, left_s)
            except Exception as error:  # noqa: BLE001 -- this target is tried again, and the others continue
                LOGGER.warning(f"{task.target.account} in {task.target.region} is tried again by itself: {error!r}")
                return None

        with ThreadPoolExecutor(TARGETS_AT_ONCE) as pool:
            progress = list(zip(tasks, pool.map(scan, tasks), strict=True))
        rest = [
            replace(task, part=scanned.next_part) if scanned else task
            for task, scanned in progress
            if scanned is None or scanned.next_part
        ]
        return rest, all(scanned.complete for _, scanned in progress if scanned)

    def _scanned_before(self, audit_id: str, task: ScanTask) -> Scanned | None:
        """Return the progress if all documents of a target are stored, because its batch ended early or is repeated.

        None if a document is missing, or if the task continues with a later chunk.
        """
        if task.part > 1:
            return None
        complete, target = True, task.target
        for document in parts_of(self.documents, audit_id, target.account, target.region):
            if document is None:
                return None
            complete = complete and all(one["complete"] for one in document["scan"]["targets"])
            del document  # a chunk of a large target has 50 MB
        return Scanned(0, complete)

    def _scan(self, plan: AuditPlan, policy: Policy, task: ScanTask, left_s: Callable[[], float]) -> Scanned:
        audit_id, target, part = plan.audit_id, task.target, task.part
        began = self.clock()
        # All chunks of a target have the same start time, so that chunks of two attempts cannot be mixed.
        started_at, complete, longest_s = began if part == 1 else self._started(audit_id, target), True, 0.0
        with ExitStack() as stack:
            audit = stack.enter_context(self.audit(policy, plan, target))
            snapshot = stack.enter_context(
                audit.snapshot(target) if part == 1 else self._stored_snapshot(audit, audit_id, target, stack)
            )
            for number, scan in enumerate(audit.parts(target, plan.now, snapshot, part), start=part):
                document = scan_json.render(replace(scan, id=audit_id, started_at=started_at))
                self.documents.write(object_keys.target_scan(audit_id, target.account, target.region, number), document)
                complete, more = complete and scan.complete, scan.more
                del scan, document  # otherwise they stay in memory while the next chunk is evaluated
                now = self.clock()
                longest_s, began = max(longest_s, (now - began).total_seconds()), now
                if more and left_s() < SLOWER * longest_s + TO_HAND_OVER_S:
                    if part == 1 and snapshot.file:
                        self.documents.write_file(
                            object_keys.snapshot(audit_id, target.account, target.region), snapshot.file
                        )
                    return Scanned(number + 1, complete)
        return Scanned(0, complete)

    def _started(self, audit_id: str, target: Target) -> datetime:
        """Return when the first chunk of a target was started."""
        stored = self.documents.read(object_keys.target_scan(audit_id, target.account, target.region))
        if stored is None:
            raise NoSnapshotError(f"nobody began with {target.account} in {target.region}")
        return datetime.fromisoformat(json.loads(stored[0])["scan"]["started_at"])

    def _stored_snapshot(self, audit: Audit, audit_id: str, target: Target, stack: ExitStack) -> InventorySnapshot:
        """Open the stored inventory snapshot of a target."""
        key = object_keys.snapshot(audit_id, target.account, target.region)
        file = Path(stack.enter_context(TemporaryDirectory(prefix="slackwater-"))) / "stock.sqlite"
        if not self.documents.read_file(key, file):
            raise NoSnapshotError(f"nobody left at {key} what {target.account} holds in {target.region}")
        return audit.open_snapshot(target, file)
