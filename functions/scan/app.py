"""Scans a batch of an audit's targets, or one target, or chunks of a large one: the state machine's task for each."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from slackwater.app.telemetry import LOGGER
from slackwater.aws.inventory.snapshot import discard_left_behind
from slackwater.model.audits import ScanTask
from slackwater.model.resources import Target
from slackwater.wiring.garbage import reduce_garbage_collection
from slackwater.wiring.service import scanning
from slackwater.wiring.settings import DeploymentSettings

reduce_garbage_collection()
SCANNER = scanning(DeploymentSettings.of(os.environ))


class Batch(BaseModel):
    """Some of the plan's targets, and the chunk of each to begin with."""

    model_config = ConfigDict(extra="forbid")

    audit_id: str
    todo: tuple[ScanTask, ...] = Field(min_length=1)


class One(BaseModel):
    """One of the plan's targets, and the chunk to begin with.

    The state machine sends it for each target that a batch left. Executions of older versions send only this.
    """

    model_config = ConfigDict(extra="forbid")

    audit_id: str
    target: Target
    part: int


EVENT: TypeAdapter[Batch | One] = TypeAdapter(Batch | One)
TASKS: TypeAdapter[list[ScanTask]] = TypeAdapter(list[ScanTask])


@LOGGER.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Return what is left to scan: the next chunk of one target (0 if there is none), or what remains of a batch.

    The scan documents are in the bucket.
    """
    asked = EVENT.validate_python(event)
    discard_left_behind()  # /tmp survives a killed invocation; an environment runs one invocation at a time

    def left_s() -> float:
        return context.get_remaining_time_in_millis() / 1_000

    LOGGER.append_keys(audit_id=asked.audit_id)
    if isinstance(asked, Batch):
        rest, complete = SCANNER.scan_batch(asked.audit_id, asked.todo, left_s)
        LOGGER.info("scanned", targets=len(asked.todo), complete=complete, rest=len(rest))
        return {"todo": TASKS.dump_python(rest, mode="json"), "left": len(rest)}
    account, region = asked.target.account, asked.target.region
    LOGGER.append_keys(account=account, region=region, part=asked.part)
    scanned = SCANNER.scan(asked.audit_id, asked.target, asked.part, left_s)
    LOGGER.info("scanned", complete=scanned.complete, next_part=scanned.next_part)
    return {"account": account, "region": region, "complete": scanned.complete, "next_part": scanned.next_part}
