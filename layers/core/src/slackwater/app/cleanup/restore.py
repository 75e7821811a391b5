"""The step that restores the resources that a clean-up deleted, even if it was cancelled or failed afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from slackwater.app.cleanup.back_up import ended_final_backup, final_backup, with_backup
from slackwater.app.cleanup.case import GO, Answer, Cases, UnsafeError, some, wait_since
from slackwater.model.cleanup import Cleanup
from slackwater.ports.cleanup import BackupTaker, Keys, Restorer

LOOK_AT_RESTORE_S: Final = 600
"""The first interval, in seconds, between checks."""
LONGEST_RESTORE: Final = timedelta(days=14)
"""After this time the undo fails. A new request continues from there."""
ADOPTED: Final = "only what the backup records is restored: other settings and tags may differ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """The step and its dependencies."""

    cases: Cases
    restorers: Mapping[str, Restorer]
    backup_takers: Mapping[str, BackupTaker]
    keys: Keys

    def restore(self, finding_id: str, execution: str) -> Answer:
        """Run the step once.

        Returns:
            "wait" while AWS works, "go" once everything possible is restored, "failed" if it cannot be restored.

        Raises:
            NotMineError, UnsafeError: Nothing may be restored.
            MovedError, AwsError: The step may run again.
        """
        cleanup = self.cases.get(finding_id, execution)
        undoing = cleanup.stage == "undoing"
        if not cleanup.deletes or not (undoing or cleanup.stage in {"called-off", "failed"}):
            raise UnsafeError(f"the clean-up is {cleanup.stage}: there is nothing to restore")
        if cleanup.undone and not undoing:
            raise UnsafeError(
                "its last undo failed: Slackwater restores nothing more until somebody requests another undo"
            )
        if cleanup.restored and cleanup.restored.state == "done":
            return GO
        if why := cleanup.not_restored:
            return self.cases.failed(cleanup, why)
        if final := final_backup(cleanup):  # its execution ended before the result was recorded
            now = self.cases.clock()
            ended = ended_final_backup(cleanup, final, self.backup_takers[cleanup.resource.type], self.keys, now)
            if ended is None:
                return wait_since(final.asked_at, now, LOOK_AT_RESTORE_S)
            cleanup = self.cases.write(with_backup(cleanup, ended))
        return self._restore(cleanup, undoing=undoing)

    def _restore(self, cleanup: Cleanup, *, undoing: bool) -> Answer:
        """Restore as much as is possible now, and record the progress."""
        restored = self.restorers[cleanup.resource.type].restore(cleanup)
        if cleanup.adopted and restored.state == "done":
            restored = replace(restored, differences=(*restored.differences, ADOPTED))
        known = replace(cleanup, restored=restored)
        if restored.state == "failed":
            return self.cases.failed(known, restored.why or "AWS gave no reason")
        if restored.state == "running":
            now = self.cases.clock()
            since = (cleanup.undone.at if undoing and cleanup.undone else cleanup.ended_at) or now
            if now - since >= LONGEST_RESTORE:
                return self.cases.failed(known, f"AWS has not finished after {LONGEST_RESTORE.days} days")
            if restored != cleanup.restored:
                self.cases.write(known)
            return wait_since(since, now, LOOK_AT_RESTORE_S)
        known = replace(known, has_turn=False)  # nothing is missing any more
        if undoing:
            self.cases.write(known)
        else:
            differences = f": {some(restored.differences, between='; ')}" if restored.differences else ""
            self.cases.record_event(known, "undone", f"the deleted sub-resources are restored{differences}")
        return GO
