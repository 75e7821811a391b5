"""FSx makes a final backup of an OpenZFS file system when it deletes it, so data written until then can be restored."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from slackwater.model.cleanup import BACKUP_OF, EXPIRES_AT, TOKEN
from slackwater_simulator.writes_fsx import fail_backup
from support.cleanup_world import World, world

LAST: Final = "what was written in the last second"


def write_last(there: World) -> None:
    """Write data after the last check, right before Slackwater asks FSx to delete the file system."""
    id_ = there.finding("openzfs").sighting.resource.id
    there.simulator.before("fsx:DeleteFileSystem", lambda: there.account.fill(id_, LAST))


def after_the_call(there: World, act: Callable[[], None]) -> None:
    """Run an action after FSx was asked to delete the file system, and before Slackwater checks it again."""
    delete, done = there.functions["DeleteFunction"], list[str]()

    def hooked(payload: Any) -> Any:
        if "fsx:DeleteFileSystem" in there.simulator.calls and not done:
            done.append("")
            act()
        return delete(payload)

    there.functions = {**there.functions, "DeleteFunction": hooked}


def restored(there: World) -> tuple[str, tuple[str, ...]]:
    """Undo the clean-up. Return the restored contents and the reported differences."""
    execution = there.undone("openzfs")
    came = there.cleanup("openzfs").restored
    assert execution.status == "SUCCEEDED", there.cleanup("openzfs").why
    assert came
    assert came.id
    return there.account.contents(came.id), came.differences


@pytest.mark.parametrize("lost", [False, True])
def test_what_was_written_in_the_last_second_comes_back(lost: bool) -> None:
    with world("openzfs") as there:
        write_last(there)
        if lost:
            there.simulator.faults.lost_answer("fsx:DeleteFileSystem", times=1)
        assert there.cleaned("openzfs").status == "SUCCEEDED"
        cleanup = there.cleanup("openzfs")
        first, final = cleanup.backups
        assert (first.state, first.final, final.state, final.final) == ("verified", False, "verified", True)
        tags = {one.id: one.tags for one in there.account.backups()}[final.id]
        assert (tags[BACKUP_OF], tags[TOKEN]) == (cleanup.resource.arn, final.token)
        assert tags[EXPIRES_AT] == f"{final.expires_at:%Y-%m-%dT%H:%M:%SZ}"
        assert str(final.id) in cleanup.why
        contents, differences = restored(there)
        assert contents == LAST
        assert not [one for one in differences if "does not exist" in one]


def test_a_late_look_at_the_backups_leaves_the_final_one_alone() -> None:
    with world("openzfs") as there:
        write_last(there)
        delete, looks = there.functions["DeleteFunction"], list[Any]()

        def hooked(payload: Any) -> Any:
            if "fsx:DeleteFileSystem" in there.simulator.calls:
                looks.append(there.functions["BackUpFunction"]({**payload, "step": "look"}))
            return delete(payload)

        there.functions = {**there.functions, "DeleteFunction": hooked}
        assert there.cleaned("openzfs").status == "SUCCEEDED"
        assert looks
        assert [one.state for one in there.cleanup("openzfs").backups] == ["verified", "verified"]
        assert restored(there)[0] == LAST


def test_one_that_fails_is_reported_and_the_other_brings_back_the_rest() -> None:
    with world("openzfs") as there:
        id_ = there.finding("openzfs").sighting.resource.id
        before = there.account.contents(id_)
        write_last(there)
        account = there.account
        after_the_call(there, lambda: fail_backup(account, account.backups()[-1].id, "The key is disabled."))
        assert there.cleaned("openzfs").status == "SUCCEEDED"
        cleanup = there.cleanup("openzfs")
        assert cleanup.stage == "done"
        assert [one.state for one in cleanup.backups] == ["verified", "failed"]
        assert "the final backup failed" in cleanup.why
        assert "The key is disabled." in cleanup.why
        contents, differences = restored(there)
        assert contents == before
        assert differences[0].startswith("what was written to it since 2026-11-18 09:")
        assert "The key is disabled." in differences[0]


def test_where_somebody_deleted_it_the_other_brings_back_the_rest() -> None:
    with world("openzfs") as there:
        id_ = there.finding("openzfs").sighting.resource.id
        before = there.account.contents(id_)
        write_last(there)
        assert there.cleaned("openzfs").status == "SUCCEEDED"
        first, final = there.cleanup("openzfs").backups
        there.account.drop_backup(str(final.id))
        contents, differences = restored(there)
        assert contents == before
        assert f"{final.id} is deleted, and it was made from {first.id}" in differences[0]


def test_one_that_fsx_never_shows_is_not_waited_for() -> None:
    with world("openzfs") as there:
        account = there.account
        after_the_call(there, lambda: account.drop_backup(account.backups()[-1].id))
        execution = there.cleaned("openzfs")
        assert execution.status == "SUCCEEDED"
        assert there.cleanup("openzfs").backups[-1].why == "FSx lists no final backup"
        assert execution.events < 1_000


def test_that_it_may_not_be_taken_shows_before_anything_is_touched() -> None:
    with world("openzfs") as there:
        there.simulator.faults.deny("iam-simulated:fsx:CreateBackup")
        assert there.cleaned("openzfs").status == "SUCCEEDED"
        assert there.cleanup("openzfs").stage == "called-off"
        assert "IAM does not allow the deletion role: fsx:CreateBackup" in there.cleanup("openzfs").why
