"""Slackwater deletes one resource of a type at a time. The others wait; they can still be warned of and stopped."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from slackwater.model.cleanup import CLEANUP_TAG, ActorNote
from slackwater_simulator.resources import instant
from support.asl import Execution
from support.cleanup_world import ACCOUNT, NOW, REGION, World
from support.five_faults import LONG, POLICY, Away, begin, file_systems, mounted, run, world_of

DAY = timedelta(days=1)
GRACE = timedelta(days=2)
POLICY_OF_DAYS = f"{POLICY}grace_days = {GRACE.days}\nwarn_days = [2, 1]\n"
"""A short grace period, because each of its days is simulated."""
NOW_ = datetime.fromisoformat(NOW)


@dataclass(frozen=True)
class Queue:
    """File systems whose clean-ups are due at once. Slackwater is deleting the first, and the others wait."""

    there: World
    first: Execution
    others: list[Execution]

    def go_on(self, span: timedelta, *executions: Execution) -> None:
        """Run these executions for this long, or the others. The first continues only if it is named."""
        since = self.there.now() - datetime.fromtimestamp(self.there.account.fleet.now, UTC)
        run(self.there, executions or self.others, since + span)

    def cleanup(self, execution: Execution):
        return self.there.cleanups.cleanups[execution.input["finding_id"]]


@contextmanager
def queue(number: int) -> Iterator[Queue]:
    with world_of(file_systems(instant(NOW), number), POLICY_OF_DAYS) as there:
        executions = begin(there)
        while not (apart := [one for one in executions if there.cleanups.cleanups[one.input["finding_id"]].removals]):
            due = min((one for one in executions), key=lambda one: one.clock.due or there.now())
            there.simulator.advance(max(0.0, ((due.clock.due or there.now()) - there.now()).total_seconds()))
            with suppress(Away):
                due.run()
        yield Queue(there, apart[0], [one for one in executions if one is not apart[0]])


def raised(execution: Execution) -> set[str | None]:
    return {call.raised for call in execution.calls}


def test_who_waits_for_its_turn_asks_for_nothing_and_errs_in_nothing() -> None:
    with queue(2) as one:
        (other,) = one.others
        one.go_on(timedelta(minutes=1))
        asked, before = one.there.simulator.metrics_requested, other.trace.count("Delete")
        one.go_on(timedelta(hours=3))
        assert raised(other) == {None}
        assert one.there.simulator.metrics_requested == asked
        assert 12 <= other.trace.count("Delete") - before <= 100, "an hour is waited for, and the history is finite"
        assert "ConfirmGone" not in other.trace
        assert sorted(mounted(one.there.account).values()) == [0, 3]

        one.go_on(LONG, one.first, other)
        assert [one.cleanup(each).stage for each in (one.first, other)] == ["done", "done"]
        assert one.there.cleanups.holds == {}


def test_what_is_gone_while_it_waits_is_waited_for_no_more() -> None:
    with queue(2) as one:
        (other,) = one.others
        one.there.account.remove(one.cleanup(other).resource.id)
        one.go_on(timedelta(hours=1))
        assert (one.cleanup(other).stage, one.cleanup(other).removals) == ("done", ())


def test_what_cannot_be_put_back_hurts_one_and_the_others_are_called_off() -> None:
    with world_of(file_systems(instant(NOW), 3), POLICY_OF_DAYS) as there:
        for action in ("elasticfilesystem:DeleteFileSystem", "elasticfilesystem:CreateMountTarget"):
            there.simulator.faults.deny(action)
        executions = begin(there)
        run(there, executions, LONG)
        assert sorted(mounted(there.account).values()) == [0, 3, 3]
        cleanups = there.cleanups.cleanups.values()
        (failed,) = [one for one in cleanups if one.stage == "failed"]
        off = [one for one in cleanups if one.stage == "called-off"]
        assert len(off) == 2
        assert all(f"the clean-up of finding {failed.finding_id} failed half-way" in one.why for one in off)

        for action in ("elasticfilesystem:DeleteFileSystem", "elasticfilesystem:CreateMountTarget"):
            there.simulator.faults.allow(action)
        finding = there.findings.findings[failed.finding_id]
        there.ask_undo(finding)
        assert there.execution(finding).run().status == "SUCCEEDED"
        assert sorted(mounted(there.account).values()) == [3, 3, 3]
        assert there.cleanups.holds == {}


def test_who_is_stopped_while_it_waits_is_called_off_at_its_next_look() -> None:
    with queue(2) as one:
        (other,) = one.others
        one.go_on(timedelta(minutes=1))
        one.there.stop()
        one.go_on(timedelta(minutes=6))
        assert one.cleanup(other).stage == "called-off"


def test_a_waiting_clean_up_reports_which_one_it_waits_for_and_gives_up_in_the_end() -> None:
    with queue(2) as one:
        (other,) = one.others
        one.go_on(timedelta(hours=1))
        waits = [entry for entry in one.there.findings.ledger(other.input["finding_id"]) if entry.happening == "queued"]
        assert len(waits) == 1
        assert one.cleanup(one.first).finding_id in waits[0].why
        one.go_on(6 * DAY)
        assert one.cleanup(other).stage == "working"
        one.go_on(9 * DAY)
        assert one.cleanup(other).stage == "called-off"
        assert one.cleanup(one.first).finding_id in one.cleanup(other).why


@pytest.mark.parametrize("end", ["deleted by hand", "not put back for a day", "being undone"])
def test_a_turn_that_nobody_can_let_go_any_more_does_not_stop_the_others_for_ever(end: str) -> None:
    with world_of(file_systems(instant(NOW), 2), POLICY_OF_DAYS) as there:
        for action in ("elasticfilesystem:DeleteFileSystem", "elasticfilesystem:CreateMountTarget"):
            there.simulator.faults.deny(action)
        executions = begin(there)
        run(there, executions, LONG)
        half, off = sorted(there.cleanups.cleanups.values(), key=lambda one: one.stage != "failed")
        assert (half.stage, off.stage, half.has_turn) == ("failed", "called-off", True)
        for action in ("elasticfilesystem:DeleteFileSystem", "elasticfilesystem:CreateMountTarget"):
            there.simulator.faults.allow(action)

        there.cleanups.write(
            replace(off, stage="working", why="", ended_at=None, waits_since=None, revision=off.revision + 1)
        )
        there.account.tag(off.resource.id, CLEANUP_TAG, off.finding_id)
        finding = there.findings.findings[off.finding_id]
        there.findings.findings[off.finding_id] = replace(finding, status="cleaning")
        if end == "deleted by hand":
            there.account.remove(half.resource.id)
            there.cleanups.write(replace(half, ended_at=there.now(), revision=half.revision + 1))
        elif end == "being undone":
            there.cleanups.write(replace(half, stage="undoing", revision=half.revision + 1))
        delete = there.functions["DeleteFunction"]
        payload = {"step": "delete", "finding_id": off.finding_id, "execution": off.execution}
        answers = [delete(payload), delete(payload)]
        if end == "being undone":
            assert answers[0] == {"outcome": "wait", "wait_s": 300}
            assert there.cleanups.get(half.finding_id).has_turn
            return
        assert answers[0] == {"outcome": "wait", "wait_s": 1}
        assert there.cleanups.get(half.finding_id).has_turn is False
        assert there.cleanups.get(off.finding_id).has_turn, answers


def test_where_one_failed_half_way_nothing_of_the_next_is_backed_up() -> None:
    with world_of(file_systems(instant(NOW), 2), POLICY_OF_DAYS) as there:
        for action in ("elasticfilesystem:DeleteFileSystem", "elasticfilesystem:CreateMountTarget"):
            there.simulator.faults.deny(action)
        first, other = begin(there)
        run(there, [first, other], GRACE - DAY)
        run(there, [first], GRACE + DAY / 2)
        assert there.cleanups.get(first.input["finding_id"]).stage == "failed"
        run(there, [other], GRACE + DAY)
        cleanup = there.cleanups.get(other.input["finding_id"])
        assert (cleanup.stage, cleanup.backups, "BackUp" in other.trace) == ("called-off", (), False)
        assert f"the clean-up of finding {first.input['finding_id']} failed half-way" in cleanup.why


def test_what_failed_before_its_first_part_went_lets_the_next_have_its_turn() -> None:
    with queue(2) as one:
        store, mine = one.there.cleanups, one.cleanup(one.first)
        store.write(replace(mine, removals=(), revision=mine.revision + 1))
        watch, had = one.there.functions["WatchFunction"], set[tuple[str, bool]]()
        store.after_write = lambda: had.add((store.get(mine.finding_id).stage, store.get(mine.finding_id).has_turn))
        watch(
            {
                "step": "fail",
                "finding_id": mine.finding_id,
                "execution": mine.execution,
                "error": {"Error": "X", "Cause": "y"},
            }
        )
        assert had == {("failed", False)}, "for a moment it would call off whoever waits"
        assert store.holder(mine.turn) is None


def test_what_was_begun_before_there_were_turns_waits_for_its_own() -> None:
    with queue(2) as one:
        (other,) = one.others
        store = one.there.cleanups
        mine, turn = one.cleanup(one.first), f"efs-file-system/{ACCOUNT}/{REGION}"
        store.cleanups[mine.finding_id] = replace(mine, has_turn=False, removals=mine.removals[:1])
        store.holds[turn] = one.cleanup(other).finding_id
        one.go_on(timedelta(hours=3), one.first)
        assert one.cleanup(one.first).stage == "working"
        del store.holds[turn]
        one.go_on(timedelta(hours=3), one.first)
        assert one.cleanup(one.first).stage == "done"


def test_the_next_has_its_turn_once_what_was_called_off_half_way_is_whole_again() -> None:
    with queue(2) as one:
        (other,) = one.others
        whole = list[int]()
        half = one.cleanup(one.first)
        one.there.cleanups.write(
            replace(half, stopped=ActorNote(who="ada", why="", at=NOW_), revision=half.revision + 1)
        )
        one.there.simulator.before(
            "elasticfilesystem:DeleteMountTarget", lambda: whole.append(mounted(one.there.account)[half.resource.id])
        )
        one.go_on(LONG, one.first, other)
        assert [one.cleanup(each).stage for each in (one.first, other)] == ["called-off", "done"]
        assert set(whole) == {3}
        assert one.there.cleanups.holds == {}


def test_who_is_called_off_before_its_first_part_went_lets_the_next_have_its_turn() -> None:
    with world_of(file_systems(instant(NOW), 2), POLICY_OF_DAYS) as there:
        executions = begin(there)
        delete, kept = there.functions["DeleteFunction"], list[str]()

        def tagged(payload):
            if not kept:
                kept.append(payload["finding_id"])
                there.account.tag(there.cleanups.cleanups[kept[0]].resource.id, "keep", "")
            return delete(payload)

        for execution in executions:
            execution.functions = {**there.functions, "DeleteFunction": tagged}
        run(there, executions, GRACE + DAY / 2)
        assert there.cleanups.cleanups[kept[0]].stage == "called-off"
        assert sorted(one.stage for one in there.cleanups.cleanups.values()) == ["called-off", "done"]
        assert there.cleanups.holds == {}
