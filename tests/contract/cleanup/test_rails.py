"""Safety checks from the tagging to the end of the backup: grace period, approval, preflight and backup."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from slackwater.model.cleanup import ACT_AFTER, CLEANUP_TAG, EXPIRES_AT
from slackwater.model.resources import Volume
from slackwater.wiring.cleanup import watching
from slackwater.wiring.settings import DeploymentSettings
from support.cleanup_world import ACCOUNT, DELETED, REGION, World, world


def before_step(there: World, function: str, step: str, act: Callable[[], None]) -> None:
    """Run an action once, right before a step is taken for the first time."""
    inner, done = there.functions[function], list[str]()

    def hooked(payload: Any) -> Any:
        if payload["step"] == step and not done:
            done.append(step)
            act()
        return inner(payload)

    there.functions = {**there.functions, function: hooked}


def untouched(there: World, kind: str) -> None:
    """Check that the clean-up was cancelled, its tags are removed, and nothing was backed up or deleted."""
    id_ = there.finding(kind).sighting.resource.id
    assert there.cleanup(kind).stage == "called-off"
    assert there.account.exists(id_)
    assert not {CLEANUP_TAG, ACT_AFTER} & tags(there, id_).keys()
    assert there.account.backups() == []
    assert not [call for call in there.simulator.calls if ":Delete" in call and not call.endswith("Tags")]


def tags(there: World, id_: str) -> dict[str, str]:
    return dict(there.account.find(id_).tags)


@pytest.mark.parametrize("kind", ["ebs", "efs", "openzfs"])
def test_it_is_tagged_its_owner_is_warned_and_nothing_is_done_before_the_grace_period_ends(kind: str) -> None:
    with world(kind) as there:
        id_, seen = there.finding(kind).sighting.resource.id, list[dict[str, str]]()
        before_step(there, "WatchFunction", "grace", lambda: seen.append(tags(there, id_)))
        begun = there.now()
        began: list[timedelta] = []
        before_step(there, "BackUpFunction", "start", lambda: began.append(there.now() - begun))
        assert there.cleaned(kind).status == "SUCCEEDED"
        marked = there.cleanup(kind).marked
        assert marked
        assert (
            seen[0] | {CLEANUP_TAG: there.finding(kind).id, ACT_AFTER: f"{marked.act_after:%Y-%m-%dT%H:%M:%SZ}"}
            == seen[0]
        )
        assert began[0] >= timedelta(days=there.policy.cleanup.grace_days)
        assert there.ledger_events(kind).count("warned") == 1
        assert {"marked", "warned.1", "done"} == {post.id.split(".", 3)[3] for post in there.outbox.posts.values()}


@pytest.mark.parametrize("kind", ["efs", "openzfs"])
def test_any_sign_of_use_within_the_grace_period_removes_the_tag(kind: str) -> None:
    with world(kind) as there:
        id_ = there.finding(kind).sighting.resource.id
        before_step(there, "WatchFunction", "grace", lambda: there.account.use(id_))
        assert there.cleaned(kind).status == "SUCCEEDED"
        untouched(there, kind)
        assert there.now() < there.cleanup(kind).marked.act_after  # type: ignore[union-attr]  # the first check cancels it


@pytest.mark.parametrize("kind", DELETED)
def test_an_approval_that_lapses_comes_to_nothing(kind: str) -> None:
    with world(kind) as there:
        finding = there.finding(kind)
        there.approve(finding, until=timedelta(days=1))
        there.begin(finding)
        assert there.execution(finding).run().status == "SUCCEEDED"
        untouched(there, kind)
        assert "nobody approved it by" in there.cleanup(kind).why


def test_the_function_works_in_the_account_that_it_is_deployed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", REGION)
    role = "arn:aws-us-gov:iam::210987654321:role/path/delete"
    deployed = DeploymentSettings(
        table_name="t",
        bucket_name="b",
        retention_days=1,
        state_machine_arn=None,
        event_bus_name=None,
        delete_role_arn=role,
    )
    assert watching(deployed).account == "210987654321"


def test_what_is_in_another_account_is_called_off_before_anything_is_asked_of_it() -> None:
    with world("ebs") as there:
        found, other = there.finding("ebs"), "210987654321"
        resource = replace(found.sighting.resource, account=other)
        there.findings.findings[found.id] = replace(found, sighting=replace(found.sighting, resource=resource))
        named = there.policy.cleanup.model_copy(update={"accounts": [ACCOUNT, other]})
        there.policies[-1] = replace(there.policy, cleanup=named)
        there.approve(there.finding("ebs"))
        there.begin(there.finding("ebs"))
        asked = dict(there.simulator.calls)
        assert there.execution(found).run().status == "SUCCEEDED"
        assert there.simulator.calls == asked
        cleanup = there.cleanup("ebs")
        assert cleanup.stage == "called-off"
        why = f"clean-up works only in account {ACCOUNT}, where Slackwater is deployed"
        assert cleanup.why == why


@pytest.mark.parametrize(
    ("kind", "action"),
    [
        ("ebs", "ec2:DeleteVolume"),
        ("efs", "elasticfilesystem:DeleteMountTarget"),
        ("efs", "ec2:DeleteNetworkInterface"),
        ("efs-orphaned", "elasticfilesystem:DeleteFileSystem"),
        ("openzfs", "fsx:DeleteFileSystem"),
    ],
)
def test_what_the_deleting_role_may_not_do_shows_before_anything_is_touched(kind: str, action: str) -> None:
    with world(kind) as there:
        there.simulator.faults.deny(f"iam-simulated:{action}")
        assert there.cleaned(kind).status == "SUCCEEDED"
        untouched(there, kind)
        assert f"IAM does not allow the deletion role: {action} on arn:aws:" in there.cleanup(kind).why


def test_a_backup_that_is_gone_by_then_deletes_nothing() -> None:
    with world("ebs") as there:
        sweeper = there.sweep.sweepers[Volume.KIND]

        def lose() -> None:
            for copy in list(sweeper.copies(ACCOUNT, REGION)):
                sweeper.delete(ACCOUNT, REGION, copy)

        before_step(there, "DeleteFunction", "delete", lose)
        assert there.cleaned("ebs").status == "SUCCEEDED"
        assert "ec2:DeleteVolume" not in there.simulator.calls
        assert there.cleanup("ebs").stage == "called-off"
        assert "does not exist" in there.cleanup("ebs").why


@pytest.mark.parametrize("kind", ["ebs", "efs", "openzfs"])
def test_the_sweeper_deletes_a_backup_on_the_day_that_its_tag_names_and_not_before(kind: str) -> None:
    with world(kind) as there:
        assert there.cleaned(kind).status == "SUCCEEDED"
        backups = there.cleanup(kind).backups
        assert len(backups) == (2 if kind == "openzfs" else 1)  # FSx makes a final one too
        made = {one.id: one.tags[EXPIRES_AT] for one in there.account.backups()}
        assert made == {one.id: f"{one.expires_at:%Y-%m-%dT%H:%M:%SZ}" for one in backups}
        there.simulator.advance((backups[0].expires_at - there.now()).total_seconds() - 60)
        assert there.sweep.sweep().deleted == ()
        there.simulator.advance((backups[-1].expires_at - there.now()).total_seconds() + 60)
        swept = there.sweep.sweep()
        assert not swept.troubles
        assert [id_ for id_, _ in swept.deleted] == [one.id for one in backups]
        there.simulator.advance(120)
        assert there.account.backups() == []


def test_who_keeps_a_backup_for_longer_changes_its_tag() -> None:
    with world("ebs") as there:
        assert there.cleaned("ebs").status == "SUCCEEDED"
        (backup,) = there.cleanup("ebs").backups
        there.account.tag(backup.id, EXPIRES_AT, "2099-01-01T00:00:00Z")
        there.simulator.advance(400 * 86_400)
        assert there.sweep.sweep().deleted == ()
        there.account.tag(backup.id, EXPIRES_AT, "when nobody needs it")
        assert there.sweep.sweep().deleted == ()
