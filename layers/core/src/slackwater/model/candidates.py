"""Findings as candidates for clean-up."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from slackwater.model.cleanup import Cleanup
from slackwater.model.policy import UnattendedTag
from slackwater.model.tracking import TrackedFinding

type State = Literal["ready", "begun", "under-way", "refused", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A finding, and what a run does with it.

    Attributes:
        state: "ready": a run would start its clean-up. "begun": this run started it. "under-way": an earlier run did.
            "refused", "failed": see `why`.
        rule: The policy's rule that allows the clean-up without an approval; None if there is none.
        acts_after: When the clean-up may act if it is started now.
        backup_monthly_usd: What its backup would cost a month while it is kept: zero without a backup, None if unknown.
        cleanup: The newest clean-up of the finding.
    """

    finding: TrackedFinding
    state: State
    why: str = ""
    rule: UnattendedTag | None = None
    acts_after: datetime | None = None
    backup_monthly_usd: Decimal | None = None
    cleanup: Cleanup | None = None

    @property
    def scratch(self) -> bool:
        """Whether the policy says that the data needs no backup."""
        return self.rule is not None and self.rule.its_data_is_scratch_and_needs_no_backup

    @property
    def net_monthly_usd(self) -> Decimal | None:
        """What the clean-up would save a month while its backup is kept, in USD; None if unknown."""
        saving, backup = self.finding.sighting.monthly_savings_usd, self.backup_monthly_usd
        return None if saving is None or backup is None else saving - backup
