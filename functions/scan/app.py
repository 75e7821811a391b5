"""Scans one target of an audit, or parts of a large one: the state machine's task for each."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict

from slackwater.app.telemetry import LOGGER
from slackwater.aws.inventory.snapshot import discard_left_behind
from slackwater.model.resources import Target
from slackwater.wiring.garbage import collect_seldom
from slackwater.wiring.service import scanning
from slackwater.wiring.settings import Deployed

collect_seldom()
SCANNER = scanning(Deployed.of(os.environ))


class Event(BaseModel):
    """One of the plan's targets, and the part of it to begin with."""

    model_config = ConfigDict(extra="forbid")

    audit_id: str
    target: Target
    part: int


@LOGGER.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """The part that comes next, 0 where the target is scanned; what was seen is in the bucket."""
    asked = Event.model_validate(event)
    account, region = asked.target.account, asked.target.region
    LOGGER.append_keys(audit_id=asked.audit_id, account=account, region=region, part=asked.part)
    discard_left_behind()  # /tmp outlives an invocation that is killed, and an environment has one at a time
    scanned = SCANNER.scan(
        asked.audit_id, asked.target, asked.part, lambda: context.get_remaining_time_in_millis() / 1_000
    )
    LOGGER.info("scanned", complete=scanned.complete, next_part=scanned.next_part)
    return {"account": account, "region": region, "complete": scanned.complete, "next_part": scanned.next_part}
