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
    """A finding, and what a run does about it.

    Attributes:
        state: "ready": a run would start it. "begun": this run started it. "under-way": an earlier run did. "refused",
            "failed": see `why`.
        rule: The policy's rule that needs no approval; None if there is none.
        acts_after: When it may act if it is started now.
        backup_monthly_usd: What its backup would cost while it is kept: zero without one, None if unknown.
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
        """What it would save a month while its backup is kept; None if unknown."""
        saving, backup = self.finding.sighting.monthly_savings_usd, self.backup_monthly_usd
        return None if saving is None or backup is None else saving - backup
