"""Plans an audit: the state machine's first task."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict

from slackwater.app.policy.file import PolicyError
from slackwater.app.telemetry import LOGGER, emit
from slackwater.model.audits import AuditRequest
from slackwater.wiring.service import planning
from slackwater.wiring.settings import DeploymentSettings

PLANNER = planning(DeploymentSettings.of(os.environ))


class Event(BaseModel):
    """The execution's name and input."""

    model_config = ConfigDict(extra="forbid")

    audit_id: str
    request: AuditRequest
    machine: str | None = None
    """The state machine's ARN; None for executions that an older version started."""


@LOGGER.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 -- Lambda gives it
    """Return how many targets to scan. The plan is in the bucket.

    The audit is a duplicate, with nothing to scan, if another audit has the same occasion.
    """
    asked = Event.model_validate(event)
    LOGGER.append_keys(audit_id=asked.audit_id)
    try:
        plan = PLANNER.plan(asked.audit_id, asked.request, asked.machine)
    except PolicyError:
        emit({"PolicyInvalid": 1})
        raise
    if plan:
        emit({"PolicyInvalid": 0})
    to_scan = len(plan.to_scan) if plan else 0
    LOGGER.info(
        "planned" if plan else "duplicate",
        targets=len(plan.targets) if plan else 0,
        to_scan=to_scan,
        accounts=len(plan.accounts) if plan else 0,
        occasion=asked.request.occasion,
    )
    return {"audit_id": asked.audit_id, "duplicate": plan is None, "to_scan": to_scan}
