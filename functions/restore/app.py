"""The step that restores what a clean-up deleted."""

import os
from typing import Any, Literal

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict

from slackwater.app.telemetry import LOGGER
from slackwater.wiring.cleanup import restoring
from slackwater.wiring.settings import DeploymentSettings

RESTORE = restoring(DeploymentSettings.of(os.environ))


class Event(BaseModel):
    """The step of an execution."""

    model_config = ConfigDict(extra="forbid")

    step: Literal["restore"]
    finding_id: str
    execution: str


@LOGGER.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 -- Lambda gives it
    """Return the result of the step."""
    asked = Event.model_validate(event)
    LOGGER.append_keys(finding_id=asked.finding_id, execution=asked.execution)
    answer = RESTORE.restore(asked.finding_id, asked.execution)
    LOGGER.info("taken", outcome=answer["outcome"])
    return answer
