"""Endings that nobody had foreseen. Each clean-up here once ended wrongly."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from slackwater.app.cleanup.case import BY_POLICY, NotMineError, UnsafeError
from slackwater.app.policy.file import PolicyError, Problem
from slackwater.model.policy import UnattendedTag
from slackwater_simulator.resources import GIB
from support.cleanup_world import APPROVER, POLICY, World, world
from support.sub_resources import sub_resources

UNATTENDED = POLICY + '\n[[cleanup.unattended]]\ntag = "Job=encode"\ngrace_hours = 6\n'
SCRATCH = UNATTENDED + "its_data_is_scratch_and_needs_no_backup = true\n"
DELETES = ("ec2:DeleteVolume", "elasticfilesystem:DeleteFileSystem", "fsx:DeleteFileSystem")


def begun(there: World, kind: str) -> Any:
    """Begin a clean-up without an approval, and return its execution."""
    finding = there.finding(kind)
    there.begin(finding)
    return there.execution(finding)


def before(there: World, function: str, act: Any) -> None:
    """Run an action right before a function is called for the first time."""
    called, done = there.functions[function], []

    def once(payload: Any) -> Any:
        if not done:
            done.append(act())
        return called(payload)

    there.functions = {**there.functions, function: once}


def change_policy(there: World, **changes: Any) -> None:
    there.change_policy(replace(there.policy, cleanup=there.policy.cleanup.model_copy(update=changes)))


class TestUnattended:
    def test_it_is_deleted_without_an_approval_after_its_hours_and_with_a_backup(self) -> None:
        with world("efs-abandoned", policy=UNATTENDED) as there:
            id_ = there.finding("efs-abandoned").sighting.resource.id
            assert begun(there, "efs-abandoned").run().status == "SUCCEEDED"
            cleanup = there.cleanup("efs-abandoned")
            assert (cleanup.stage, cleanup.approved_by, cleanup.unattended, cleanup.scratch) == (
                "done",
                BY_POLICY,
                True,
                False,
            )
            assert cleanup.marked
            assert cleanup.marked.act_after - cleanup.marked.at == timedelta(hours=6)
            assert not there.account.exists(id_)
            assert len(there.account.backups()) == 1

    def test_scratch_has_no_backup_and_nothing_to_undo(self) -> None:
        with world("efs-abandoned", policy=SCRATCH) as there:
            id_ = there.finding("efs-abandoned").sighting.resource.id
            assert begun(there, "efs-abandoned").run().status == "SUCCEEDED"
            assert not there.account.exists(id_)
            assert there.account.backups() == []
            assert "without a backup: the policy declares" in there.cleanup("efs-abandoned").why

    def test_without_a_rule_it_waits_for_an_approval_until_that_lapses(self) -> None:
        with world("efs-abandoned") as there:
            assert begun(there, "efs-abandoned").run().status == "SUCCEEDED"
            assert there.cleanup("efs-abandoned").stage == "called-off"
            assert "nobody approved it" in there.cleanup("efs-abandoned").why

    @pytest.mark.parametrize("policy", [UNATTENDED, SCRATCH])
    @pytest.mark.parametrize("what", ["the tag", "the rule"])
    def test_the_rule_is_asked_again_before_anything_is_deleted(self, policy: str, what: str) -> None:
        with world("efs-abandoned", policy=policy) as there:
            id_ = there.finding("efs-abandoned").sighting.resource.id
            if what == "the tag":
                before(there, "DeleteFunction", lambda: there.account.tag(id_, "Job", "precious"))
            else:
                before(there, "DeleteFunction", lambda: change_policy(there, unattended=[]))
            assert begun(there, "efs-abandoned").run().status == "SUCCEEDED"
            assert there.account.exists(id_)
            assert there.cleanup("efs-abandoned").stage == "called-off"

    def test_data_that_is_no_longer_scratch_is_not_deleted_without_a_backup_even_if_approved(self) -> None:
        with world("efs-abandoned", policy=SCRATCH) as there:
            id_ = there.finding("efs-abandoned").sighting.resource.id
            change_policy(there, grace_days=1)
            kept = [UnattendedTag(tag="Job=encode", grace_hours=6)]
            before(there, "DeleteFunction", lambda: change_policy(there, unattended=kept))
            there.cleaned("efs-abandoned")
            assert there.account.exists(id_)
            assert "scratch" in there.cleanup("efs-abandoned").why

    def test_the_hours_of_a_rule_do_not_stand_for_a_persons_grace(self) -> None:
        with world("efs-abandoned", policy=UNATTENDED) as there:
            id_ = there.finding("efs-abandoned").sighting.resource.id
            finding = there.finding("efs-abandoned")
            execution = begun(there, "efs-abandoned")
            while "MarkAndWarn" not in execution.trace:
                execution.step()
            there.approve(finding)
            change_policy(there, unattended=[])
            execution.run()
            assert there.account.exists(id_)
            assert "short grace" in there.cleanup("efs-abandoned").why


class TestTheApprover:
    def test_somebody_struck_off_the_policy_since_has_approved_nothing(self) -> None:
        with world("ebs") as there:
            before(
                there, "DeleteFunction", lambda: change_policy(there, approver_identities=["arn:aws:iam::1:user/eve"])
            )
            there.cleaned("ebs")
            assert there.account.exists(there.finding("ebs").sighting.resource.id)
            assert APPROVER in there.cleanup("ebs").why

    def test_a_clean_up_does_not_wait_for_an_approval_once_the_resource_is_used(self) -> None:
        with world("efs") as there:
            execution = begun(there, "efs")
            while "CheckApproval" not in execution.trace:
                execution.step()
            there.account.use(there.finding("efs").sighting.resource.id)
            began = there.now()
            execution.run()
            assert there.cleanup("efs").stage == "called-off"
            assert there.now() - began <= timedelta(days=2)


class TestGone:
    def test_a_resource_that_somebody_else_deleted_is_not_reported_as_deleted_by_slackwater(self) -> None:
        with world("ebs") as there:
            id_ = there.finding("ebs").sighting.resource.id
            before(there, "DeleteFunction", lambda: there.account.remove(id_))
            assert there.cleaned("ebs").status == "SUCCEEDED"
            assert there.cleanup("ebs").why.startswith("it no longer existed")
            assert there.undone("ebs").status == "SUCCEEDED"
            restored = there.cleanup("ebs").restored
            assert restored
            assert restored.id
            assert there.account.exists(restored.id)

    def test_a_backup_of_what_went_meanwhile_is_kept_for_its_time(self) -> None:
        with world("ebs") as there:
            id_ = there.finding("ebs").sighting.resource.id
            verify = there.functions["BackUpFunction"]

            def verified(payload: Any) -> Any:
                answer = verify(payload)
                if payload["step"] == "verify":
                    there.account.remove(id_)
                return answer

            there.functions = {**there.functions, "BackUpFunction": verified}
            there.cleaned("ebs")
            there.simulator.advance(3 * 86_400)
            assert there.sweep.sweep().deleted == ()
            assert len(there.account.backups()) == 1

    def test_a_deletion_that_cannot_be_confirmed_is_not_undone_unasked(self) -> None:
        with world("ebs") as there:
            watch = there.functions["WatchFunction"]

            def unsure(payload: Any) -> Any:
                if payload["step"] == "confirm":
                    raise RuntimeError("AWS does not say")
                return watch(payload)

            there.functions = {**there.functions, "WatchFunction": unsure}
            execution = there.cleaned("ebs")
            assert execution.status == "FAILED"
            assert "asked AWS to delete volume" in there.cleanup("ebs").why
            assert (
                len([one for one in there.account.fleet.volumes if there.account.exists(one.id)]) == 1
            )  # the root volume of an instance
            assert there.undone("ebs").status == "SUCCEEDED"


class TestHeld:
    def test_a_file_system_that_grew_since_its_backup_stays(self) -> None:
        with world("efs") as there:
            id_ = there.finding("efs").sighting.resource.id

            def grow() -> None:
                there.account.put(replace(there.account.find(id_), standard_bytes=31 * GIB))

            before(there, "DeleteFunction", grow)
            there.cleaned("efs")
            assert there.account.exists(id_)
            assert "when Slackwater made its backup" in there.cleanup("efs").why

    def test_what_is_over_stays_over(self) -> None:
        with world("ebs") as there:
            finding = there.finding("ebs")
            there.approve(finding)
            there.begin(finding)
            cleanup = there.cleanup("ebs")
            there.account.tag(cleanup.resource.id, "keep", "")
            payload = {"finding_id": finding.id, "execution": cleanup.execution}
            watch = there.functions["WatchFunction"]
            assert watch({**payload, "step": "load"})["outcome"] == "go"
            assert watch({**payload, "step": "recheck"})["outcome"] == "over"
            there.account.untag(cleanup.resource.id, "keep")
            assert watch({**payload, "step": "recheck"})["outcome"] == "over"

    def test_a_broken_policy_leaves_neither_tag_nor_lock(self) -> None:
        with world("ebs") as there:
            finding = there.finding("ebs")
            there.approve(finding)
            there.begin(finding)
            execution = there.execution(finding)
            while "MarkAndWarn" not in execution.trace:
                execution.step()
            there.change_policy(PolicyError([Problem("slackwater.toml", 1, "", "is not TOML")]))
            execution.run()
            assert execution.status == "FAILED"
            assert there.cleanup("ebs").stage == "failed"
            assert there.cleanups.holds == {}
            assert "slackwater:marked" not in there.account.find(finding.sighting.resource.id).tags

    def test_a_stop_during_the_backup_makes_no_more_of_them(self) -> None:
        with world("ebs") as there:
            before(there, "BackUpFunction", there.stop)
            assert there.cleaned("ebs").status == "SUCCEEDED"
            assert there.account.backups() == []
            assert there.cleanup("ebs").stage == "called-off"

    def test_an_execution_that_has_ended_does_nothing_while_its_clean_up_is_undone(self) -> None:
        with world("ebs") as there:
            there.cleaned("ebs")
            old = there.cleanup("ebs").execution
            there.ask_undo(there.finding("ebs"))
            for step in ("call_off", "fail", "record"):
                with pytest.raises(NotMineError):
                    there.functions["WatchFunction"](
                        {"step": step, "finding_id": there.finding("ebs").id, "execution": old}
                    )
            assert there.cleanup("ebs").stage == "undoing"

    def test_a_failed_undo_is_reported_once(self) -> None:
        with world("efs") as there:
            there.simulator.faults.deny("elasticfilesystem:CreateMountTarget")
            id_ = there.finding("efs").sighting.resource.id
            done: list[str] = []

            def keep() -> None:
                done.append("")
                there.account.tag(id_, "keep", "")

            there.simulator.before("elasticfilesystem:DeleteMountTarget", keep)
            assert there.cleaned("efs").error == "NotPutBack"
            why, entries = there.cleanup("efs").why, len(there.ledger_events("efs"))
            payload = {"finding_id": there.finding("efs").id, "execution": there.cleanup("efs").execution}
            there.functions["WatchFunction"]({**payload, "step": "not_put_back", "error": {"Error": "NotPutBack"}})
            assert (there.cleanup("efs").why, len(there.ledger_events("efs"))) == (why, entries)
            there.simulator.faults.allow("elasticfilesystem:CreateMountTarget")
            there.account.untag(id_, "keep")
            assert there.undone("efs").status == "SUCCEEDED"
            assert there.finding("efs").status == "open"

    @pytest.mark.parametrize("kind", ["efs", "efs-orphaned", "efs-abandoned"])
    def test_parts_that_are_missing_are_on_record_where_aws_denies_every_look_at_them(self, kind: str) -> None:
        with world(kind) as there:
            id_ = there.finding(kind).sighting.resource.id
            before, faults = sub_resources(there.account, id_), there.simulator.faults
            first = (
                "elasticfilesystem:DeleteMountTarget"
                if kind == "efs-abandoned"
                else "elasticfilesystem:DeleteAccessPoint"
            )
            there.simulator.before(first, lambda: faults.deny("elasticfilesystem:DescribeFileSystems"))
            assert there.cleaned(kind).error == "AccessDeniedError"
            cleanup = there.cleanup(kind)
            (part,) = [one.part for one in cleanup.removals]
            assert cleanup.why.startswith(f"not restored: {part.kind} {part.id}; ")
            assert cleanup.why.count("Not allowed") == 1
            assert f"to try again: `slackwater cleanup undo {cleanup.finding_id}`" in cleanup.why
            assert there.finding(kind).status == "failed"
            faults.allow("elasticfilesystem:DescribeFileSystems")
            assert there.undone(kind).status == "SUCCEEDED"
            assert sub_resources(there.account, id_) == before

    def test_an_undo_that_fails_says_what_is_still_missing(self) -> None:
        with world("efs") as there:
            id_, faults = there.finding("efs").sighting.resource.id, there.simulator.faults
            faults.deny("elasticfilesystem:CreateAccessPoint")
            there.simulator.before("elasticfilesystem:DeleteMountTarget", lambda: there.account.tag(id_, "keep", ""))
            assert there.cleaned("efs").error == "NotPutBack"
            faults.deny("elasticfilesystem:DescribeFileSystems")
            assert there.undone("efs").status == "FAILED"
            why = there.cleanup("efs").why
            assert why.startswith("not restored: access-point ")
            assert "the undo failed: " in why
            assert why.count("not restored") == 1
            payload = {"finding_id": there.finding("efs").id, "execution": there.cleanup("efs").undo_execution}
            with pytest.raises(UnsafeError):  # a late duplicate of a step must not restore what nobody asked to restore
                there.functions["RestoreFunction"](payload)

    def test_a_denied_look_before_any_part_was_removed_says_nothing_of_missing_parts(self) -> None:
        with world("efs") as there:
            there.simulator.before(
                "backup:StartBackupJob", lambda: there.simulator.faults.deny("elasticfilesystem:DescribeFileSystems")
            )
            assert there.cleaned("efs").error == "AccessDeniedError"
            assert "nothing was deleted" in there.cleanup("efs").why
            assert "not restored" not in there.cleanup("efs").why


def test_failing_before_anything_was_done_is_not_tried_again_by_itself() -> None:
    with world("ebs") as there:
        there.simulator.faults.deny("ec2:CreateTags")
        there.cleaned("ebs")
        assert there.finding("ebs").status == "failed"
        assert there.finding("ebs").decision is None


def test_answers_for_the_state_machine_are_valid_json() -> None:
    with world("ebs") as there:
        execution = there.cleaned("ebs")
        assert json.loads(json.dumps([call.answer for call in execution.calls]))
