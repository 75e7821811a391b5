"""Protocols that start audits and clean-ups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:  # the endpoint that Slack calls imports this, and not pydantic
    from slackwater.model.audits import AuditRequest


class AuditStarter(Protocol):
    """Sets audits going."""

    def start(self, audit_id: str, request: AuditRequest) -> None:
        """Start an audit under this id; the same id again starts nothing."""
        ...


type ExecutionState = Literal["running", "ended", "none"]
"""Of an execution of this name: it has not ended, it has (however it did), there is none."""


class CleanupStarter(Protocol):
    """Sets clean-ups and undos going."""

    def state(self, execution: str, *, undo: bool = False) -> ExecutionState:
        """Whether the execution of this name still works, of a clean-up or of an undo.

        Raises:
            AwsError: nobody said.
        """
        ...

    def start(self, finding_id: str, execution: str) -> None:
        """Start the clean-up of a finding under this name; the same name again starts nothing."""
        ...

    def undo(self, finding_id: str, execution: str) -> None:
        """Start the undo of one; the same name again starts nothing."""
        ...
