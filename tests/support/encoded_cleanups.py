"""Clean-ups stored as DynamoDB and S3 would store them: by the real adapter, in a table and a bucket in memory."""

from dataclasses import dataclass, field

from slackwater.aws.store import findings as finding_store
from slackwater.aws.store.cleanups import DynamoCleanups
from slackwater.model.cleanup import Cleanup, Control
from slackwater.model.tracking import Write
from support.cleanup_world import MemoryCleanups
from support.memory_table import MemoryTable
from support.slack_world import Bucket


@dataclass
class EncodedCleanups(MemoryCleanups):
    """A store that decodes each clean-up from its item, and also stores ledger entries as items."""

    memory: MemoryTable = field(default_factory=MemoryTable)
    bucket: Bucket = field(default_factory=Bucket)

    @property
    def store(self) -> DynamoCleanups:
        """Return a new adapter each time, as a new process would."""
        return DynamoCleanups(self.memory.table, self.bucket)

    def get(self, finding_id: str) -> Cleanup | None:
        return self.store.get(finding_id)

    def whole(self, cleanup: Cleanup) -> Cleanup:
        return self.store.whole(cleanup)

    def unchanged(self, cleanup: Cleanup) -> bool:
        return self.store.unchanged(cleanup)

    def write(self, cleanup: Cleanup, finding: Write | None = None) -> bool:
        if finding and not self.findings.fits(finding):
            return False
        self.before_write()
        if not self.store.write(cleanup):
            return False
        if finding:
            _, *entries = finding_store.puts(finding)
            assert self.memory.table.put(*entries)
            self.findings.write(finding)
        stored = self.get(cleanup.finding_id)
        assert stored
        self.cleanups[cleanup.finding_id] = stored
        self.after_write()
        return True

    def holder(self, place: str) -> str | None:
        return self.store.holder(place)

    def control(self) -> Control:
        return self.store.control()

    def write_control(self, control: Control) -> bool:
        self.control_ = control
        return self.store.write_control(control)
