"""Acknowledges requests from Slack (buttons, forms and the slash command), and hands them to AnswerFunction."""

import json
import os
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.utilities.typing import LambdaContext

from slackwater.app.telemetry import LOGGER, emit
from slackwater.ports.errors import AwsError
from slackwater.slack.secret import SecretError
from slackwater.wiring.service import acknowledging
from slackwater.wiring.settings import DeploymentSettings

ACKNOWLEDGER = acknowledging(DeploymentSettings.of(os.environ))


@LOGGER.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_HTTP, clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 -- Lambda gives it
    """Return the response to one request. Of its content, only who asked for what is logged."""
    try:
        reply = ACKNOWLEDGER.acknowledge(event)
    except (AwsError, SecretError):
        LOGGER.exception("not taken")
        return answer(HTTPStatus.SERVICE_UNAVAILABLE, "Slackwater cannot take this now. Try again in a minute.")
    if reply.status >= HTTPStatus.BAD_REQUEST:
        LOGGER.warning("refused", status=reply.status, reason=reply.note)
        emit({"SlackRequestsRefused": 1})
    elif reply.asked:
        asked = reply.asked
        LOGGER.info("handed over", request=asked.id, kind=asked.kind, user=asked.asker.user, note=reply.note)
    else:
        LOGGER.info("answered", note=reply.note)
    return answer(reply.status, reply.content)


def answer(status: HTTPStatus, content: Any) -> dict[str, Any]:
    """Return a response for API Gateway: plain text for a string, JSON for anything else."""
    text = isinstance(content, str)
    return {
        "statusCode": int(status),
        "headers": {"content-type": "text/plain; charset=utf-8" if text else "application/json"},
        "body": content if text else json.dumps(content),
    }
