"""Scans one target of an audit: the state machine's task for each."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict

from slackwater.app.settings import Deployed
from slackwater.app.telemetry import LOGGER
from slackwater.app.wiring import scanning
from slackwater.model.resources import Target

SCANNER = scanning(Deployed.of(os.environ))


class Event(BaseModel):
    """One of the plan's targets."""

    model_config = ConfigDict(extra="forbid")

    audit_id: str
    target: Target


@LOGGER.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 -- Lambda gives it
    """Whether the target was seen whole; what was seen is in the bucket."""
    asked = Event.model_validate(event)
    account, region = asked.target.account, asked.target.region
    LOGGER.append_keys(audit_id=asked.audit_id, account=account, region=region)
    complete = SCANNER.scan(asked.audit_id, asked.target)
    LOGGER.info("scanned", complete=complete)
    return {"account": account, "region": region, "complete": complete}
