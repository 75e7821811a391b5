"""Posts the results of audits and clean-ups to Slack.

It is a task of their state machines, which repeat it while a post waits.
"""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict

from slackwater.app.telemetry import LOGGER, emit, of_posts
from slackwater.wiring.service import notifying, without_slack
from slackwater.wiring.settings import DeploymentSettings

DEPLOYED = DeploymentSettings.of(os.environ)
NOTIFIER = notifying(DEPLOYED)


class Ended(BaseModel):
    """The id of an audit that has ended, with or without success. Without an id, waiting posts are delivered."""

    model_config = ConfigDict(extra="forbid")

    audit_id: str | None = None


@LOGGER.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 -- Lambda gives it
    """Return how many posts wait, and how many seconds to wait before the next try. Both are 0 without Slack."""
    ended = Ended.model_validate(event)
    LOGGER.append_keys(audit_id=ended.audit_id)
    if NOTIFIER is None:
        if ended.audit_id is None:
            without_slack(DEPLOYED)
        return {"waiting": 0, "wait_s": 0}
    notified = NOTIFIER.deliver() if ended.audit_id is None else NOTIFIER.notify(ended.audit_id)
    for problem in notified.troubles:
        LOGGER.error("not posted", problem=problem)
    emit(of_posts(notified))
    return {"waiting": notified.waiting, "wait_s": notified.wait_s}
