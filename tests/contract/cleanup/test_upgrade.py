"""An update during a clean-up: new code continues the previous version's stored items, backups and execution.

The execution keeps its definition. Each clean-up ends correctly, or restores everything that it removes.
"""

import json
from typing import Final

import pytest

from slackwater.aws.store import table
from support.stored_stages import Past, logs, says
from support.updated_worlds import ended, stage_of, stops, telling

FORMAT: Final = 1
LOGS: Final = logs(FORMAT)

CASES: Final = [
    pytest.param(name, at, marks=() if at in telling(log) else pytest.mark.slow, id=f"{name}-{at}")
    for name, log in LOGS.items()
    for at in sorted({*telling(log), *stops(log)[::2]})
]


@pytest.mark.parametrize(("name", "at"), CASES)
def test_it_ends_right_or_removes_nothing(name: str, at: int) -> None:
    world = ended(FORMAT, name, LOGS[name], at)

    if world.undo:
        assert world.undo.status == "SUCCEEDED", (world.undo.error, world.undo.cause)
        assert world.cleanup.stage == "undone"


def test_every_stage_of_a_clean_up_is_there() -> None:
    stages = {entry["put"]["document"]["stage"] for log in LOGS.values() for entry in log if stage_of(entry)}

    assert stages == {"starting", "waiting", "working", "done", "called-off", "failed", "undoing", "undone"}


@pytest.mark.parametrize("name", LOGS)
def test_every_item_that_was_ever_stored_is_read_and_says_the_same(name: str) -> None:
    past = Past(there=None)  # type: ignore[arg-type]
    adapters = {"CLEANUP": table.CLEANUP, "FINDING": table.FINDING, "LEDGER": table.LEDGER}
    read = 0
    for entry in LOGS[name]:
        if "put" not in entry:
            continue
        past.put(entry["put"])
        item = past.items[entry["put"]["pk"], entry["put"]["sk"]]
        if "document" not in item:
            continue
        adapter = adapters[item["sk"]["S"].partition("#")[0]]
        again = json.loads(adapter.dump_json(table.parsed(item, adapter)))
        assert says(again, json.loads(item["document"]["S"]))
        read += 1
    assert read > 10
