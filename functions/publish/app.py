"""Ends an audit: the state machine's last task, whether its scans went well or not."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict, TypeAdapter

from slackwater.app.audit_publish import StepError, TargetResult
from slackwater.app.audit_request import request_of
from slackwater.app.settings import Deployed
from slackwater.app.telemetry import LOGGER, emit, of_audit
from slackwater.app.wiring import publishing

PUBLISHER = publishing(Deployed.of(os.environ))


class Scanned(BaseModel):
    """Every target was tried."""

    model_config = ConfigDict(extra="forbid")

    audit_id: str
    results: list[TargetResult]


class Failed(BaseModel):
    """The audit itself failed; its request may be why."""

    model_config = ConfigDict(extra="forbid")

    audit_id: str
    request: Any
    error: StepError


EVENT: TypeAdapter[Scanned | Failed] = TypeAdapter(Scanned | Failed)


@LOGGER.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 -- Lambda gives it
    """How the audit ended."""
    asked = EVENT.validate_python(event)
    LOGGER.append_keys(audit_id=asked.audit_id)
    if isinstance(asked, Failed):
        record = PUBLISHER.fail(asked.audit_id, request_of(asked.request), asked.error)
    else:
        record = PUBLISHER.publish(asked.audit_id, asked.results)
    emit(of_audit(record))
    LOGGER.info(record.state, error=record.error)
    return {"audit_id": record.id, "state": record.state}
