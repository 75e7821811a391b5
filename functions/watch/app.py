"""The steps of a clean-up that delete and change no data: check whether to continue, tag, wait, end."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict

from slackwater.app.audit.step_error import StepError
from slackwater.app.cleanup.watch import WatchStep
from slackwater.app.telemetry import LOGGER, emit
from slackwater.wiring.cleanup import watching
from slackwater.wiring.settings import DeploymentSettings

WATCH = watching(DeploymentSettings.of(os.environ))


class Event(BaseModel):
    """A step of an execution, and the error of the previous step, if there was one.

    The event for a stopped execution has only the execution's name, which begins with the finding's id.
    """

    model_config = ConfigDict(extra="forbid")

    step: WatchStep
    finding_id: str | None
    execution: str
    error: StepError | None = None

    @property
    def finding(self) -> str:
        """The finding's id."""
        return self.finding_id or self.execution.partition("-")[0]


@LOGGER.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 -- Lambda gives it
    """Return the result of the step."""
    asked = Event.model_validate(event)
    LOGGER.append_keys(finding_id=asked.finding, execution=asked.execution, step=asked.step)
    answer = WATCH.step(asked.step, asked.finding, asked.execution, asked.error)
    LOGGER.info("taken", outcome=answer["outcome"])
    if "failed" in answer:
        emit({"CleanupFailed": 1})
    return answer
