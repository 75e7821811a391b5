"""Starts audits: executions of the state machine."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from slackwater.aws.client.errors import code_of, remedies

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.model.audits import AuditRequest
    from slackwater.ports.executions import ExecutionState

ACTIONS: Final = frozenset({"states:StartExecution"})
LOOK_ACTIONS: Final = frozenset({"states:DescribeExecution"})
"""For checking whether an execution has ended without reporting it."""


class StateMachineStarter:
    """Starts executions of one state machine, named after their audits. A name can be used once in 90 days."""

    def __init__(self, session: AwsSession, state_machine_arn: str) -> None:
        """Make no call."""
        self._session = session
        self._arn = state_machine_arn

    def start(self, audit_id: str, request: AuditRequest) -> None:
        """Start an audit with this id. A second call with the same id starts nothing.

        Raises:
            AwsError: It is not started, or it is unknown whether it is.
        """
        client = self._session.client("stepfunctions", self._session.home)
        with remedies():
            try:
                client.start_execution(stateMachineArn=self._arn, name=audit_id, input=json.dumps(asdict(request)))
            except ClientError as error:
                if code_of(error) != "ExecutionAlreadyExists":
                    raise

    def state(self, audit_id: str) -> ExecutionState:
        """Return whether the execution of an audit is running. One that can be redriven has ended.

        Raises:
            AwsError: The Step Functions call failed.
        """
        return execution_state(self._session, self._arn, audit_id)


def execution_state(session: AwsSession, machine_arn: str, name: str) -> ExecutionState:
    """Return whether the execution of a state machine with this name is running. One that can be redriven has ended.

    Raises:
        AwsError: The Step Functions call failed.
    """
    arn = f"{machine_arn.replace(':stateMachine:', ':execution:', 1)}:{name}"
    with remedies():
        try:
            found = session.client("stepfunctions", session.home).describe_execution(executionArn=arn)
        except ClientError as error:
            if code_of(error) != "ExecutionDoesNotExist":
                raise
            return "none"
        return "running" if found["status"] == "RUNNING" else "ended"
