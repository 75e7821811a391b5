"""Tells Slack of an audit: the state machine's last task, again and again while a post waits."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict

from slackwater.app.settings import Deployed
from slackwater.app.telemetry import LOGGER, emit, of_posts
from slackwater.app.wiring import notifying

NOTIFIER = notifying(Deployed.of(os.environ))


class Ended(BaseModel):
    """An audit has ended, well or not."""

    model_config = ConfigDict(extra="forbid")

    audit_id: str


@LOGGER.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 -- Lambda gives it
    """How many posts wait, and for how many seconds; none where there is no Slack."""
    ended = Ended.model_validate(event)
    LOGGER.append_keys(audit_id=ended.audit_id)
    if NOTIFIER is None:
        return {"waiting": 0, "wait_s": 0}
    notified = NOTIFIER.notify(ended.audit_id)
    for trouble in notified.troubles:
        LOGGER.error("not posted", trouble=trouble)
    emit(of_posts(notified))
    return {"waiting": notified.waiting, "wait_s": notified.wait_s}
