"""`stop` and `undo` still work after an execution was aborted, timed out, or ran out of history without a message."""

from collections.abc import Callable

import pytest

from slackwater.app.cleanup.cleanups import not_undoable
from slackwater.model.cleanup import ACT_AFTER, CLEANUP_TAG
from support.asl import Execution
from support.cleanup_world import APPROVER, World, world

WHERE = ("Recheck", "WaitForGrace", "BackUp", "VerifyBackup", "Delete")


def dies(there: World, kind: str, before: Callable[[Execution], bool]) -> Execution:
    """Run a clean-up until its execution dies, which no event reports."""
    there.approve(there.finding(kind))
    there.begin(there.finding(kind))
    execution = there.execution(there.finding(kind))
    while not before(execution):
        assert execution.step()
    there.starter.running = lambda name: name != execution.name
    return execution


def stop(there: World, kind: str) -> None:
    """Stop the clean-up as a person does, and run the new execution to its end."""
    there.people.stop(there.finding(kind).id, who=APPROVER, now=there.now())
    cleanup = there.cleanup(kind)
    assert there.starter.started == [(cleanup.finding_id, cleanup.execution)]
    assert there.execution(there.finding(kind)).run().status == "SUCCEEDED"
    assert there.cleanup(kind).stage == "called-off"


def undo(there: World, kind: str) -> None:
    """Undo the clean-up as a person does, and run the undo to its end."""
    there.people.undo(there.finding(kind).id, who=APPROVER, now=there.now())
    assert there.execution(there.finding(kind)).run().status == "SUCCEEDED"


@pytest.mark.parametrize("kind", ["ebs", "efs", "openzfs"])
@pytest.mark.parametrize("state", WHERE)
def test_stop_calls_off_what_died_before_anything_was_deleted(kind: str, state: str) -> None:
    with world(kind) as there:
        dies(there, kind, lambda one: one.checkpoint is not None and one.checkpoint.state == state)
        stop(there, kind)
        id_ = there.finding(kind).sighting.resource.id
        assert there.account.exists(id_)
        assert not {CLEANUP_TAG, ACT_AFTER} & set(there.account.find(id_).tags)
        assert there.cleanups.holds == {}
        assert there.finding(kind).status == "open"


def test_stop_puts_back_what_had_been_taken_off() -> None:
    with world("efs") as there:
        targets = len(there.account.find(there.finding("efs").sighting.resource.id).mount_targets)
        dies(there, "efs", lambda _: any(one.part.kind == "mount-target" for one in there.cleanup("efs").removals))
        stop(there, "efs")
        found = there.account.find(there.finding("efs").sighting.resource.id)
        assert len(found.mount_targets) == targets
        assert "are already restored" in str(not_undoable(there.cleanup("efs")))


def test_what_its_owner_deletes_after_it_was_put_back_is_restored_from_the_backup() -> None:
    with world("efs") as there:
        id_ = there.finding("efs").sighting.resource.id
        contents = there.account.contents(id_)
        dies(there, "efs", lambda _: any(one.part.kind == "mount-target" for one in there.cleanup("efs").removals))
        stop(there, "efs")
        there.account.remove(id_)
        undo(there, "efs")
        restored = there.cleanup("efs").restored
        assert restored
        assert restored.id != id_
        assert contents in there.account.contents(restored.id or "")


@pytest.mark.parametrize("kind", ["ebs", "efs", "openzfs"])
def test_stop_then_undo_bring_back_what_was_deleted_before_it_died(kind: str) -> None:
    with world(kind) as there:
        id_ = there.finding(kind).sighting.resource.id
        if kind == "openzfs":
            there.simulator.before("fsx:DeleteFileSystem", lambda: there.account.fill(id_, "what was written at last"))
        dies(there, kind, lambda _: any(one.part.id == id_ for one in there.cleanup(kind).removals))
        contents = there.account.contents(id_)
        there.simulator.advance(86_400)
        assert not there.account.exists(id_)
        stop(there, kind)
        undo(there, kind)
        restored = there.cleanup(kind).restored
        assert restored
        assert there.account.contents(restored.id or "") == contents


def test_an_execution_that_was_given_up_may_do_nothing_any_more() -> None:
    with world("ebs") as there:
        dead = dies(there, "ebs", lambda one: one.checkpoint is not None and one.checkpoint.state == "Delete")
        stop(there, "ebs")
        dead.run()  # a person redrives the execution
        assert dead.status == "FAILED"
        assert there.account.exists(there.finding("ebs").sighting.resource.id)


def test_an_undo_that_died_is_begun_again() -> None:
    with world("ebs") as there:
        assert there.cleaned("ebs").status == "SUCCEEDED"
        there.people.undo(there.finding("ebs").id, who=APPROVER, now=there.now())
        first = there.execution(there.finding("ebs"))
        while there.cleanup("ebs").restored is None:
            first.step()
        there.starter.running = lambda name: name != first.name
        undo(there, "ebs")
        assert there.cleanup("ebs").stage == "undone"
        assert there.simulator.calls["ec2:CreateVolume"] == 1
