"""A backup stays readable for the policy's retention, counted from the deletion. Otherwise nothing is deleted."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from slackwater.model.cleanup import EXPIRES_AT
from slackwater_simulator.ec2_query import key_arn
from support.cleanup_world import POLICY, VAULT, World, world

A_WEEK = POLICY + "backup_days = 7\n"
DAY = 86_400
KINDS = ["ebs", "efs", "openzfs"]


def before(there: World, function: str, step: str, act: Callable[[], Any]) -> None:
    """Run an action once, right before a step is taken for the first time."""
    inner, done = there.functions[function], list[str]()

    def hooked(payload: Any) -> Any:
        if payload["step"] == step and not done:
            done.append(step)
            act()
        return inner(payload)

    there.functions = {**there.functions, function: hooked}


def resource(there: World, kind: str) -> str:
    return there.finding(kind).sighting.resource.id


def key_of(there: World, kind: str) -> str:
    """Return the ARN of the key of the only backup."""
    (made,) = there.account.backups()
    return str(made.detail["kms_key"]) if kind == "ebs" else key_arn(made.region, there.account.id)


@pytest.mark.parametrize("kind", KINDS)
def test_the_days_of_a_backup_that_took_almost_as_long_count_from_the_deletion(kind: str) -> None:
    with world(kind, policy=A_WEEK) as there:
        before(there, "BackUpFunction", "verify", lambda: there.simulator.advance(6.9 * DAY - 900))
        assert there.cleaned(kind).status == "SUCCEEDED"
        backups = there.cleanup(kind).backups
        gone_at = there.cleanup(kind).removals[-1].asked_at
        assert min(backup.expires_at for backup in backups) >= gone_at + timedelta(days=7)
        made = {one.id: one.tags[EXPIRES_AT] for one in there.account.backups()}
        assert made == {one.id: f"{one.expires_at:%Y-%m-%dT%H:%M:%SZ}" for one in backups}
        there.simulator.advance(7 * DAY)
        assert there.sweep.sweep().deleted == ()
        assert there.undone(kind).status == "SUCCEEDED"


def test_a_file_system_that_waits_for_its_turn_for_a_week_is_deleted_with_all_of_its_days() -> None:
    with world("efs", policy=A_WEEK) as there:
        before(there, "DeleteFunction", "delete", lambda: there.simulator.advance(7.9 * DAY))
        assert there.cleaned("efs").status == "SUCCEEDED"
        cleanup = there.cleanup("efs")
        assert cleanup.stage == "done", cleanup.why
        assert cleanup.backups[0].expires_at >= cleanup.removals[-1].asked_at + timedelta(days=7)


def test_a_vault_lock_that_keeps_the_days_from_being_extended_keeps_the_file_system() -> None:
    kind = "efs"
    with world(kind, policy=A_WEEK) as there:
        before(there, "BackUpFunction", "verify", lambda: there.account.lock_vault(VAULT))
        assert there.cleaned(kind).error == "BackupFailed"
        assert there.account.exists(resource(there, kind))
        why = there.cleanup(kind).why
        assert "is kept only until" in why
        assert "AWS refused to keep it until" in why
        assert "locked" in why


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_more_than_asked_for_is_extended_or_nothing_is_deleted(kind: str) -> None:
    action = {"ebs": "ec2:CreateTags", "efs": "backup:UpdateRecoveryPointLifecycle", "openzfs": "fsx:TagResource"}[kind]
    with world(kind, policy=A_WEEK) as there:
        before(there, "BackUpFunction", "verify", lambda: there.simulator.faults.deny(action))
        assert there.cleaned(kind).status == "FAILED"
        assert there.account.exists(resource(there, kind))
        assert "is kept only until" in there.cleanup(kind).why


@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_whose_days_somebody_cut_short_deletes_nothing(kind: str) -> None:
    with world(kind) as there:

        def cut() -> None:
            (made,) = there.account.backups()
            there.account.tag(made.id, EXPIRES_AT, f"{there.now() + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}")

        before(there, "DeleteFunction", "delete", cut)
        assert there.cleaned(kind).status == "SUCCEEDED"
        assert there.account.exists(resource(there, kind))
        assert there.cleanup(kind).stage == "called-off"
        assert "is kept only until" in there.cleanup(kind).why


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("function", "step", "state"),
    [("BackUpFunction", "verify", "Disabled"), ("DeleteFunction", "delete", "PendingDeletion")],
)
def test_a_backup_whose_key_cannot_be_used_deletes_nothing(kind: str, function: str, step: str, state: str) -> None:
    with world(kind) as there:
        before(there, function, step, lambda: there.account.set_key(key_of(there, kind), state))
        there.cleaned(kind)
        assert there.account.exists(resource(there, kind))
        assert there.cleanup(kind).stage in {"failed", "called-off"}
        assert f"cannot be used: it is {state}" in there.cleanup(kind).why


def test_a_key_that_may_not_be_looked_at_deletes_nothing() -> None:
    with world("ebs") as there:
        there.simulator.faults.deny("kms:DescribeKey")
        there.cleaned("ebs")
        assert there.account.exists(resource(there, "ebs"))
        assert "is not known" in there.cleanup("ebs").why


def test_an_answer_that_does_not_show_the_new_expiry_yet_is_asked_for_again() -> None:
    with world("ebs") as there:
        before(
            there, "BackUpFunction", "verify", lambda: there.simulator.faults.lagging("ec2:DescribeSnapshots", times=3)
        )
        assert there.cleaned("ebs").status == "SUCCEEDED"
        assert not there.account.exists(resource(there, "ebs"))
