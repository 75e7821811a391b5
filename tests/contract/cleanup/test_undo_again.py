"""An undo can be repeated as long as a backup exists, no matter who deleted the resource."""

from typing import Any

import pytest

from slackwater.app.cleanup.cleanups import Cleanups, not_undoable
from slackwater.app.findings.findings import Findings
from support.cleanup_world import ACCOUNT, APPROVER, World, world

DAY_S = 86_400
RESTORES = {"ebs": "ec2:CreateVolume", "efs": "backup:StartRestoreJob", "openzfs": "fsx:CreateFileSystemFromBackup"}


class Starts:
    """A CleanupStarter that starts nothing, because the tests run the executions themselves."""

    def start(self, finding_id: str, execution: str) -> None:
        pass

    def undo(self, finding_id: str, execution: str) -> None:
        pass


def asked_to_undo(there: World, kind: str) -> Any:
    """Request an undo as a person does, and run it to its end."""
    use = Cleanups(
        store=there.cleanups,
        findings=Findings(store=there.findings, documents=there.documents),
        starter=Starts(),
        policy=lambda: there.policy,
        account=ACCOUNT,
    )
    use.undo(there.finding(kind).id, who=APPROVER, now=there.now())
    return there.execution(there.finding(kind)).run()


def removed_by_its_owner_after_the_backup(there: World, kind: str) -> str:
    """Run a clean-up whose resource its owner deletes after the backup. Return the resource's id."""
    id_, delete = there.finding(kind).sighting.resource.id, there.functions["DeleteFunction"]

    def removed(payload: Any) -> Any:
        there.account.remove(id_)
        return delete(payload)

    there.functions = {**there.functions, "DeleteFunction": removed}
    assert there.cleaned(kind).status == "SUCCEEDED"
    assert (there.cleanup(kind).stage, there.cleanup(kind).removals) == ("done", ())
    return id_


@pytest.mark.parametrize("kind", RESTORES)
def test_an_undo_that_failed_of_what_its_owner_had_deleted_is_tried_again(kind: str) -> None:
    with world(kind) as there:
        contents = there.account.contents(there.finding(kind).sighting.resource.id)
        removed_by_its_owner_after_the_backup(there, kind)
        there.simulator.faults.deny(RESTORES[kind])
        assert asked_to_undo(there, kind).status == "FAILED"
        assert there.cleanup(kind).stage == "failed"
        assert not_undoable(there.cleanup(kind)) is None

        there.simulator.advance(3 * DAY_S)
        assert there.sweep.sweep().deleted == ()
        there.simulator.faults.allow(RESTORES[kind])
        assert asked_to_undo(there, kind).status == "SUCCEEDED"
        restored = there.cleanup(kind).restored
        assert restored
        assert there.account.contents(restored.id or "") == contents


@pytest.mark.parametrize("kind", ["ebs", "openzfs"])
def test_what_an_undo_made_and_aws_gave_up_is_made_again_by_the_next(kind: str) -> None:
    with world(kind) as there:
        assert there.cleaned(kind).status == "SUCCEEDED"
        there.ask_undo(there.finding(kind))
        first = there.execution(there.finding(kind))
        while not (there.cleanup(kind).restored and there.cleanup(kind).restored.id):
            first.step()
        there.account.remove(there.cleanup(kind).restored.id)
        assert first.run().status == "FAILED"

        assert asked_to_undo(there, kind).status == "SUCCEEDED"
        assert there.account.exists(there.cleanup(kind).restored.id)


def test_what_its_owner_deletes_between_two_looks_of_the_deleting_step_can_be_undone() -> None:
    with world("ebs") as there:
        id_, delete, looks = there.finding("ebs").sighting.resource.id, there.functions["DeleteFunction"], list[str]()

        def look() -> None:
            looks.append("")
            if len(looks) == 2:
                there.account.remove(id_)

        def deleting(payload: Any) -> Any:
            there.simulator.before("ec2:DescribeVolumes", look)
            return delete(payload)

        there.functions = {**there.functions, "DeleteFunction": deleting}
        assert there.cleaned("ebs").status == "SUCCEEDED"
        assert len(looks) >= 2
        assert "ec2:DeleteVolume" not in there.simulator.calls
        assert (there.cleanup("ebs").stage, not_undoable(there.cleanup("ebs"))) == ("done", None)


def test_a_backup_of_what_was_restored_and_deleted_again_stays_and_no_second_undo_is_promised() -> None:
    with world("ebs") as there:
        assert there.cleaned("ebs").status == "SUCCEEDED"
        assert there.undone("ebs").status == "SUCCEEDED"
        there.account.remove(there.cleanup("ebs").restored.id)
        there.simulator.advance(400 * DAY_S)
        swept = there.sweep.sweep()
        assert swept.deleted == ()
        ((id_, why),) = swept.kept
        assert id_ == there.cleanup("ebs").backups[0].id
        assert why.endswith(": restore it, or delete it yourself")
        assert not_undoable(there.cleanup("ebs"))
