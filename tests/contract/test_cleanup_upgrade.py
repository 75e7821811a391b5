"""An update in the middle of a clean-up: what the previous version stored, its backups, and its execution, go on with new code.

The execution keeps its definition. Each clean-up ends right, or removes nothing more than what it then puts back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import pytest

from cleanup_faults import hanging
from cleanup_world import World, line
from slackwater.app.cleanups import not_undoable
from slackwater.aws import table
from slackwater.aws.cleanup_store import DynamoCleanups
from slackwater.aws.finding_store import DynamoFindings
from slackwater.model.cleanup import Cleanup
from stored_stages import SCENARIOS, Entry, Past, account_of, logs, says

FORMAT: Final = 1
LOGS: Final = logs(FORMAT)
COMPLETE: Final = {"completed", "COMPLETED", "AVAILABLE"}


TELLING: Final = {"waiting", "done", "failed"}


def stops(log: list[Entry]) -> list[int]:
    """After which entries the update may come: each state that was entered, and each transaction with a clean-up."""
    found = []
    for n, entry in enumerate(log, start=1):
        if "state" in entry or "ended" in entry:
            found.append(n)
        elif entry.get("put", {}).get("sk") == "CLEANUP":
            while n < len(log) and log[n].get("put", {}).get("sk", "").startswith(("HOLD", "LEDGER")):
                n += 1  # noqa: PLW2901 -- to the end of the transaction
            found.append(n)
    return found


def telling(log: list[Entry]) -> list[int]:
    """Of these the first of some stages, and two right before a call that changes something."""
    stages = {entry["put"]["document"]["stage"]: n for n, entry in enumerate(log, start=1) if _stage(entry)}
    calls = [n for n, entry in enumerate(log) if "call" in entry]
    before = [max(one for one in stops(log) if one <= call) for call in (calls[len(calls) // 2], calls[-1])]
    return [*(min(one for one in stops(log) if one >= n) for stage, n in stages.items() if stage in TELLING), *before]


def _stage(entry: Entry) -> bool:
    put = entry.get("put", {})
    return put.get("sk") == "CLEANUP" and "stage" in put["document"]


CASES: Final = [
    pytest.param(name, at, marks=() if at in telling(log) else pytest.mark.slow, id=f"{name}-{at}")
    for name, log in LOGS.items()
    for at in sorted({*telling(log), *stops(log)[::2]})
]


class Updated:
    """A world in which everything is as the previous version left it."""

    def __init__(self, there: World, name: str, at: int) -> None:
        self.there, self.log = there, LOGS[name]
        fleet = there.account.fleet
        whole = [*fleet.volumes, *fleet.efs, *(one for one in fleet.fsx if one.kind != "ONTAP")]
        volumes = [one for one in fleet.fsx_volumes if one.kind == "ONTAP" and not one.name.endswith("_root")]
        self.data = {one.id: there.account.contents(one.id) for one in (*whole, *volumes)}
        self.past = Past(there)
        self.past.play(self.log, until=at)
        self.finding_id = next(pk for pk, sk in self.past.items if sk == "CLEANUP").partition("#")[2]
        stored = self.past.stored
        cleanup, finding = self.read(stored)
        self.resource = cleanup.resource.id
        self.parts = hanging_before(name)
        self.was_there, self.left = there.account.exists(self.resource), hanging(there, self.resource)
        there.cleanups.cleanups[self.finding_id] = cleanup
        there.cleanups.holds = {
            pk.partition("#")[2]: one["holder"]["S"]
            for (pk, sk), one in stored.items.items()
            if sk == "HOLD" and "holder" in one
        }
        there.findings.findings[self.finding_id] = finding

    def read(self, stored: Any) -> tuple[Cleanup, Any]:
        """By the adapters as they are now."""
        cleanup = DynamoCleanups(stored.table).get(self.finding_id)
        finding = DynamoFindings(stored.table).get(self.finding_id)
        assert cleanup
        assert finding
        return cleanup, finding

    @property
    def cleanup(self) -> Cleanup:
        return self.there.cleanups.cleanups[self.finding_id]

    def still_has(self) -> set[str]:
        """The data that there is, live or in a complete backup."""
        account = self.there.account
        fleet = account.fleet
        live = [one.id for one in (*fleet.volumes, *fleet.efs, *fleet.fsx, *fleet.fsx_volumes) if account.exists(one.id)]
        return {account.contents(id_) for id_ in live} | {one.contents for one in account.backups() if one.state in COMPLETE}

    def check(self) -> None:
        """It has ended right, or has removed nothing that is missing now."""
        cleanup, there = self.cleanup, self.there
        assert cleanup.ended
        assert there.cleanups.holds.get(cleanup.resource.arn) is None
        if not cleanup.scratch:
            assert set(self.data.values()) <= self.still_has(), "data is lost"
        if cleanup.not_restored and cleanup.stage != "done":  # there is no more code that deletes or restores it
            assert there.account.exists(self.resource) == self.was_there
            assert hanging(there, self.resource) == self.left
        elif not cleanup.deletes:
            assert there.account.exists(self.resource)
        elif cleanup.stage == "done":
            assert not there.account.exists(self.resource)
            assert cleanup.scratch or all(one.state == "verified" for one in cleanup.backups)
        elif there.account.exists(self.resource):
            assert hanging(there, self.resource) == self.parts or not_undoable(cleanup) is None, cleanup.why
        else:
            assert cleanup.stage == "undone" or not_undoable(cleanup) is None, cleanup.why


@cache
def hanging_before(name: str) -> tuple[object, ...]:
    with account_of(SCENARIOS[name]) as there:
        (id_,) = {
            one.sighting.resource.id
            for one in there.findings.findings.values()
            if one.sighting.detector == SCENARIOS[name].detector
        }
        return hanging(there, id_)


@contextmanager
def updated(name: str, at: int) -> Iterator[Updated]:
    hanging_before(name)
    with account_of(SCENARIOS[name]) as there:
        try:
            yield Updated(there, name, at)
        finally:
            line().meter.told = lambda _: None


@pytest.mark.parametrize(("name", "at"), CASES)
def test_it_ends_right_or_removes_nothing(name: str, at: int) -> None:
    with updated(name, at) as world:
        if not world.past.ended and world.past.name:
            world.past.resumed(FORMAT).run()
            world.check()
        if world.cleanup.ended and not_undoable(world.cleanup) is None and not world.past.name.endswith("-undo-1"):
            world.there.ask_undo(world.there.findings.findings[world.finding_id])
            undo = world.there.execution(world.there.findings.findings[world.finding_id]).run()
            assert undo.status == "SUCCEEDED", (undo.error, undo.cause)
            world.check()
            assert world.cleanup.stage == "undone"


def test_every_stage_of_a_clean_up_is_there() -> None:
    stages = {entry["put"]["document"]["stage"] for log in LOGS.values() for entry in log if _stage(entry)}

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
