"""Publishes changes in the table as events. Lambda calls it with batches from the table's stream."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from slackwater.app.findings.announce import NotAnnouncedError
from slackwater.app.telemetry import LOGGER
from slackwater.wiring.service import announcing
from slackwater.wiring.settings import DeploymentSettings

ANNOUNCER = announcing(DeploymentSettings.of(os.environ))


@LOGGER.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 -- Lambda gives it
    """Return the first record that was not announced, from which Lambda retries the batch; none if all were announced.

    Raises:
        NotAnnouncedError: No record was announced. Lambda then splits the batch, until a record that cannot be
            announced is alone.
    """
    records = event["Records"]
    try:
        announced = ANNOUNCER.announce(records)
    except NotAnnouncedError as error:
        LOGGER.exception("not announced")
        if error.sequence_number == records[0]["dynamodb"]["SequenceNumber"]:
            raise
        return {"batchItemFailures": [{"itemIdentifier": error.sequence_number}]}
    LOGGER.info("announced", events=announced)
    return {"batchItemFailures": []}
