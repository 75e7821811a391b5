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
"""What it takes to see that an execution is over that did not say so."""


class StateMachineCleanups:
    """Starts executions that are given nothing but a finding's id. A name is good for one execution in 90 days."""

    def __init__(self, session: AwsSession, cleanup_arn: str, undo_arn: str | None) -> None:
        """Makes no call. Who undoes nothing has no `undo_arn`."""
        self._session = session
        self._cleanup_arn = cleanup_arn
        self._undo_arn = undo_arn

    def state(self, execution: str, *, undo: bool = False) -> ExecutionState:
        """Whether the execution of this name still works, of a clean-up or of an undo.

        One that may be redriven has ended.

        Raises:
            AwsError: Step Functions did not say.
        """
        machine = self._of_undos if undo else self._cleanup_arn
        return execution_state(self._session, machine, execution)

    def start(self, finding_id: str, execution: str) -> None:
        """Start the clean-up of a finding under this name; the same name again starts nothing.

        Raises:
            AwsError: it was not started, or Step Functions did not say.
        """
        self._start(self._cleanup_arn, finding_id, execution)

    def undo(self, finding_id: str, execution: str) -> None:
        """Start the undo of one; the same name again starts nothing.

        Raises:
            AwsError: it was not started, or Step Functions did not say.
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
