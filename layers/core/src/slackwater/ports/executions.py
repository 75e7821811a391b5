"""Protocols that start audits and clean-ups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:  # the function that Slack calls imports this module and must not load pydantic
    from slackwater.model.audits import AuditRequest


class AuditStarter(Protocol):
    """Starts audits."""

    def start(self, audit_id: str, request: AuditRequest) -> None:
        """Start an audit with this id. Starting the same id again does nothing."""
        ...


type ExecutionState = Literal["running", "ended", "none"]
"""The state of an execution: it has not ended, it has ended (in any way), or it does not exist."""


class CleanupStarter(Protocol):
    """Starts clean-ups and undos."""

    def state(self, execution: str, *, undo: bool = False) -> ExecutionState:
        """Return whether the execution with this name, of a clean-up or an undo, still runs.

        Raises:
            AwsError: AWS did not answer.
        """
        ...

    def start(self, finding_id: str, execution: str) -> None:
        """Start the clean-up of a finding, as an execution of this name. Starting the same name again does nothing."""
        ...

    def undo(self, finding_id: str, execution: str) -> None:
        """Start the undo of a clean-up, as an execution of this name. Starting the same name again does nothing."""
        ...
