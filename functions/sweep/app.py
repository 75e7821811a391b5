"""Deletes backups of clean-ups that are no longer needed, once a day."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from slackwater.app.telemetry import LOGGER, emit
from slackwater.wiring.cleanup import sweeping
from slackwater.wiring.settings import DeploymentSettings

SWEEP = sweeping(DeploymentSettings.of(os.environ))


@LOGGER.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001 -- Lambda gives them
    """Return how many backups were deleted, and the problems with others."""
    swept = SWEEP.sweep()
    for id_, why in swept.deleted:
        LOGGER.info("deleted a backup", backup=id_, reason=why)
    for id_, why in swept.kept:
        LOGGER.info("kept a backup", backup=id_, reason=why)
    for problem in swept.troubles:
        LOGGER.error("not swept", problem=problem)
    emit({"BackupsSwept": len(swept.deleted), "SweepTroubles": len(swept.troubles)})
    return {"deleted": len(swept.deleted), "troubles": list(swept.troubles)}
