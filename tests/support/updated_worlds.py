"""Clean-ups that one version of Slackwater begins and another ends, with the first one's items and state machine.

`PYTHONPATH=tests python -m support.updated_worlds FORMAT` runs some of them in the code on the path, and prints the
result of each. The rollback test runs it in the code of the previous version.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from slackwater.app.cleanup.cleanups import not_undoable
from slackwater.aws.store.cleanups import DynamoCleanups
from slackwater.aws.store.findings import DynamoFindings
from slackwater.model.cleanup import Cleanup
from support.asl import Execution
from support.cleanup_world import World, line
from support.stored_stages import SCENARIOS, Entry, Past, account_of, logs
from support.sub_resources import sub_resources

COMPLETE: Final = {"completed", "COMPLETED", "AVAILABLE"}


TELLING: Final = {"waiting", "done", "failed"}


def stops(log: list[Entry]) -> list[int]:
    """Return the entries after which the update may happen.

    These are each state that was entered and each transaction that stores a clean-up.
    """
    found = []
    for n, entry in enumerate(log, start=1):
        if "state" in entry or "ended" in entry:
            found.append(n)
        elif entry.get("put", {}).get("sk") == "CLEANUP":
            while n < len(log) and log[n].get("put", {}).get("sk", "").startswith(("HOLD", "LEDGER")):
                n += 1  # noqa: PLW2901 -- continues to the end of the transaction
            found.append(n)
    return found


def telling(log: list[Entry]) -> list[int]:
    """Return the most relevant stops: the first one of some stages, and two right before a change to the account."""
    stages = {entry["put"]["document"]["stage"]: n for n, entry in enumerate(log, start=1) if stage_of(entry)}
    calls = [n for n, entry in enumerate(log) if "call" in entry]
    before = [max(one for one in stops(log) if one <= call) for call in (calls[len(calls) // 2], calls[-1])]
    return [*(min(one for one in stops(log) if one >= n) for stage, n in stages.items() if stage in TELLING), *before]


def stage_of(entry: Entry) -> bool:
    """Return whether an entry moves a clean-up to another stage."""
    put = entry.get("put", {})
    return put.get("sk") == "CLEANUP" and "stage" in put["document"]


class Updated:
    """A world in the state in which another version left it."""

    def __init__(self, there: World, name: str, log: list[Entry], at: int) -> None:
        self.there, self.was = there, ""
        self.undo: Execution | None = None
        fleet = there.account.fleet
        whole = [*fleet.volumes, *fleet.efs, *(one for one in fleet.fsx if one.kind != "ONTAP")]
        volumes = [one for one in fleet.fsx_volumes if one.kind == "ONTAP" and not one.name.endswith("_root")]
        self.data = {one.id: there.account.contents(one.id) for one in (*whole, *volumes)}
        self.past = Past(there)
        self.past.play(log, until=at)
        self.finding_id = next(pk for pk, sk in self.past.items if sk == "CLEANUP").partition("#")[2]
        stored = self.past.stored
        cleanup, finding = self.read(stored)
        self.resource = cleanup.resource.id
        self.parts = hanging_before(name)
        self.was_there, self.left = there.account.exists(self.resource), sub_resources(there.account, self.resource)
        there.cleanups.cleanups[self.finding_id] = cleanup
        there.cleanups.holds = {
            pk.partition("#")[2]: one["holder"]["S"]
            for (pk, sk), one in stored.items.items()
            if sk == "HOLD" and "holder" in one
        }
        there.findings.findings[self.finding_id] = finding

    def read(self, stored: Any) -> tuple[Cleanup, Any]:
        """Read the stored clean-up and finding with the current adapters."""
        cleanup = DynamoCleanups(stored.table).get(self.finding_id)
        finding = DynamoFindings(stored.table).get(self.finding_id)
        assert cleanup
        assert finding
        return cleanup, finding

    @property
    def cleanup(self) -> Cleanup:
        return self.there.cleanups.cleanups[self.finding_id]

    def still_has(self) -> set[str]:
        """Return the data that exists, live or in a complete backup."""
        account = self.there.account
        fleet = account.fleet
        live = [
            one.id for one in (*fleet.volumes, *fleet.efs, *fleet.fsx, *fleet.fsx_volumes) if account.exists(one.id)
        ]
        return {account.contents(id_) for id_ in live} | {
            one.contents for one in account.backups() if one.state in COMPLETE
        }

    def check(self) -> None:
        """Check that the clean-up ended correctly, or that nothing that it removed is missing."""
        cleanup, there = self.cleanup, self.there
        assert cleanup.ended
        assert there.cleanups.holds.get(cleanup.resource.arn) is None
        if not cleanup.scratch:
            assert set(self.data.values()) <= self.still_has(), "data is lost"
        if (
            getattr(cleanup, "not_restored", None) and cleanup.stage != "done"
        ):  # the current code no longer deletes or restores such a resource
            assert there.account.exists(self.resource) == self.was_there
            assert sub_resources(there.account, self.resource) == self.left
        elif not cleanup.deletes:
            assert there.account.exists(self.resource)
        elif cleanup.stage == "done":
            assert not there.account.exists(self.resource)
            assert cleanup.scratch or all(one.state == "verified" for one in cleanup.backups)
        elif there.account.exists(self.resource):
            assert sub_resources(there.account, self.resource) == self.parts or not_undoable(cleanup) is None, (
                cleanup.why
            )
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
        return sub_resources(there.account, id_)


@contextmanager
def updated(name: str, log: list[Entry], at: int) -> Iterator[Updated]:
    hanging_before(name)
    with account_of(SCENARIOS[name]) as there:
        try:
            yield Updated(there, name, log, at)
        finally:
            line().meter.notify = lambda _: None


def ended(format_: int, name: str, log: list[Entry], at: int) -> Updated:
    """End a clean-up that was stored in a format, up to an entry of its log, and undo it if possible.

    Raises:
        AssertionError: it did not end correctly, and it removed something.
    """
    with updated(name, log, at) as world:
        if not world.past.ended and world.past.name:
            world.past.resumed(format_).run()
            world.check()
        world.was = world.cleanup.stage
        if world.cleanup.ended and not_undoable(world.cleanup) is None and not world.past.name.endswith("-undo-1"):
            world.there.ask_undo(world.there.findings.findings[world.finding_id])
            world.undo = world.there.execution(world.there.findings.findings[world.finding_id]).run()
            world.check()
        return world


if __name__ == "__main__":
    number = int(sys.argv[1])
    for name, log in logs(number).items():
        for at in sorted({*telling(log), *stops(log)[::8]}):
            problem, world = "", None
            try:
                world = ended(number, name, log, at)
            except AssertionError as error:
                problem = str(error) or "it did not end right"
            undo = world.undo.status if world and world.undo else None
            print(json.dumps({"name": name, "at": at, "stage": world and world.was, "undo": undo, "problem": problem}))
