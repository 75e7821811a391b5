"""Starts clean-ups and undos: executions of their state machines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from slackwater.aws.client.errors import code_of, remedies
from slackwater.aws.deployment.audit_starter import execution_state

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.ports.executions import ExecutionState

ACTIONS: Final = frozenset({"states:StartExecution"})
LOOK_ACTIONS: Final = frozenset({"states:DescribeExecution"})
"""For checking whether an execution has ended without reporting it."""


class StateMachineCleanups:
    """Starts executions whose only input is a finding's id. A name can be used once in 90 days."""

    def __init__(self, session: AwsSession, cleanup_arn: str, undo_arn: str | None) -> None:
        """Make no call. Without `undo_arn`, undos cannot be started or checked."""
        self._session = session
        self._cleanup_arn = cleanup_arn
        self._undo_arn = undo_arn

    def state(self, execution: str, *, undo: bool = False) -> ExecutionState:
        """Return whether the execution of a clean-up or of an undo with this name is running.

        One that can be redriven has ended.

        Raises:
            AwsError: The Step Functions call failed.
        """
        machine = self._of_undos if undo else self._cleanup_arn
        return execution_state(self._session, machine, execution)

    def start(self, finding_id: str, execution: str) -> None:
        """Start the clean-up of a finding under this name. A second call with the same name starts nothing.

        Raises:
            AwsError: It is not started, or it is unknown whether it is.
        """
        self._start(self._cleanup_arn, finding_id, execution)

    def undo(self, finding_id: str, execution: str) -> None:
        """Start the undo of a clean-up under this name. A second call with the same name starts nothing.

        Raises:
            AwsError: It is not started, or it is unknown whether it is.
        """
        self._start(self._of_undos, finding_id, execution)

    @property
    def _of_undos(self) -> str:
        if self._undo_arn is None:
            raise ValueError("the state machine of undos is not known")
        return self._undo_arn

    def _start(self, machine_arn: str, finding_id: str, execution: str) -> None:
        client = self._session.client("stepfunctions", self._session.home)
        with remedies():
            try:
                client.start_execution(
                    stateMachineArn=machine_arn, name=execution, input=json.dumps({"finding_id": finding_id})
                )
            except ClientError as error:
                if code_of(error) != "ExecutionAlreadyExists":
                    raise
