"""Carries out requests from Slack. AcknowledgeFunction calls it."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import ConfigDict, TypeAdapter

from slackwater.app.telemetry import LOGGER
from slackwater.model.slack_requests import Asked, ButtonPress, Command, Dismissal
from slackwater.wiring.service import answering
from slackwater.wiring.settings import DeploymentSettings

ANSWERER = answering(DeploymentSettings.of(os.environ))

EVENT: TypeAdapter[Asked] = TypeAdapter(ButtonPress | Dismissal | Command, config=ConfigDict(hide_input_in_errors=True))
"""Errors hide their input, because an event has people's text and response URLs, which must not be in a log."""


@LOGGER.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, str]:  # noqa: ARG001 -- Lambda gives it
    """Return the answer that the person received.

    Raises:
        UnfinishedError: A message to Slack failed. Lambda then retries; nothing is decided or posted twice.
    """
    asked = EVENT.validate_python(event)
    LOGGER.append_keys(request=asked.id, kind=asked.kind, user=asked.asker.user)
    reply = ANSWERER.answer(asked)
    LOGGER.info("answered", action=asked.action if isinstance(asked, ButtonPress) else None)
    return {"said": reply.text}
