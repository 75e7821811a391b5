"""The steps of a clean-up that back up a resource: request the backup, check its progress, verify it."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict

from slackwater.app.cleanup.back_up import BackUpStep
from slackwater.app.telemetry import LOGGER
from slackwater.wiring.cleanup import backing_up
from slackwater.wiring.settings import DeploymentSettings

BACK_UP = backing_up(DeploymentSettings.of(os.environ))


class Event(BaseModel):
    """A step of an execution."""

    model_config = ConfigDict(extra="forbid")

    step: BackUpStep
    finding_id: str
    execution: str


@LOGGER.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 -- Lambda gives it
    """Return the result of the step."""
    asked = Event.model_validate(event)
    LOGGER.append_keys(finding_id=asked.finding_id, execution=asked.execution, step=asked.step)
    answer = BACK_UP.step(asked.step, asked.finding_id, asked.execution)
    LOGGER.info("taken", outcome=answer["outcome"])
    return answer
