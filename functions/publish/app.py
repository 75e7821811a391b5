"""Ends an audit: the state machine's last task, whether or not its scans failed. Also stores a failed scan's error."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict, TypeAdapter

from slackwater.app.audit.request import request_of
from slackwater.app.audit.step_error import StepError, error_text
from slackwater.app.audit.target_documents import put_error
from slackwater.app.telemetry import LOGGER, emit, of_audit
from slackwater.model.resources import Target
from slackwater.wiring.service import publishing
from slackwater.wiring.settings import DeploymentSettings

PUBLISHER = publishing(DeploymentSettings.of(os.environ))


class Scanned(BaseModel):
    """The scan of every target has ended, with or without a document."""

    model_config = ConfigDict(extra="forbid")

    audit_id: str


class Unscanned(BaseModel):
    """The scan of one target ended without a document."""

    model_config = ConfigDict(extra="forbid")

    audit_id: str
    target: Target
    error: StepError


class Failed(BaseModel):
    """The audit itself failed. An invalid request may be the reason."""

    model_config = ConfigDict(extra="forbid")

    audit_id: str
    request: Any
    error: StepError


EVENT: TypeAdapter[Scanned | Unscanned | Failed] = TypeAdapter(Scanned | Unscanned | Failed)


@LOGGER.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 -- Lambda gives it
    """Return the audit's id, and its state if the audit has ended."""
    asked = EVENT.validate_python(event)
    LOGGER.append_keys(audit_id=asked.audit_id)
    if isinstance(asked, Unscanned):
        put_error(PUBLISHER.documents, asked.audit_id, asked.target, asked.error)
        LOGGER.info(
            "not scanned", account=asked.target.account, region=asked.target.region, error=error_text(asked.error)
        )
        return {"audit_id": asked.audit_id}
    if isinstance(asked, Failed):
        record = PUBLISHER.fail(asked.audit_id, request_of(asked.request), asked.error)
    else:
        record = PUBLISHER.publish(asked.audit_id)
    emit(of_audit(record))
    LOGGER.info(record.state, error=record.error)
    return {"audit_id": record.id, "state": record.state}
