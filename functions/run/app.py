"""Starts clean-ups on a schedule: all that are approved or need no approval."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict

from slackwater.app.cleanup.cleanups import CapError, StoppedError
from slackwater.app.telemetry import LOGGER, emit
from slackwater.model.tracking import SERVICE
from slackwater.wiring.scan import clock
from slackwater.wiring.service import running
from slackwater.wiring.settings import DeploymentSettings

CLEANUPS = running(DeploymentSettings.of(os.environ))


class Asked(BaseModel):
    """The findings to clean up; empty for all that the policy allows."""

    model_config = ConfigDict(extra="forbid")

    finding_ids: list[str] = []


class NotStartedError(Exception):
    """It is unknown whether some clean-ups have started. The next run starts them."""


@LOGGER.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 -- Lambda gives it
    """Return how many clean-ups were started and how many were refused.

    None is started if the run would exceed the policy's cap, or if someone has stopped all clean-ups.

    Raises:
        NotStartedError: It is unknown whether some have started.
    """
    asked = Asked.model_validate(event)
    try:
        candidates = CLEANUPS.run(asked.finding_ids or None, who=SERVICE, now=clock())
    except (CapError, StoppedError) as error:
        LOGGER.warning("nothing begun", reason=str(error))
        return {"begun": 0, "refused": 0, "why": str(error)}
    emit({"CleanupCapBreached": 0})
    for one in candidates:
        LOGGER.info(one.state, finding_id=one.finding.id, reason=one.why)
    if failed := [f"{one.finding.id}: {one.why}" for one in candidates if one.state == "failed"]:
        raise NotStartedError("; ".join(failed))
    states = [one.state for one in candidates]
    return {"begun": states.count("begun"), "refused": states.count("refused")}
