"""Starts audits: executions of the state machine."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from slackwater.aws.client.errors import remedies

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.model.audits import AuditRequest

ACTIONS: Final = frozenset({"states:StartExecution"})


class StateMachineStarter:
    """Starts executions of one state machine, named after their audits: a name is good for one execution in 90 days."""

    def __init__(self, session: AwsSession, state_machine_arn: str) -> None:
        """Makes no call."""
        self._session = session
        self._arn = state_machine_arn

    def start(self, audit_id: str, request: AuditRequest) -> None:
        """Start an audit under this id; the same id again starts nothing.

        Raises:
            AwsError: it was not started, or Step Functions did not say.
        """
        client = self._session.client("stepfunctions", self._session.home)
        with remedies():
            try:
                client.start_execution(stateMachineArn=self._arn, name=audit_id, input=json.dumps(asdict(request)))
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") != "ExecutionAlreadyExists":
                    raise
