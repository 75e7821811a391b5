"""Removed sub-resources are restored as they were right before their removal, not as they were at the first check."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from support.cleanup_world import World, world

NARROW: Final = ("sg-0123456789abcdef0",)
POLICY: Final = '{"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Principal": "*", "Action": "*"}]}'


def narrowed(there: World) -> None:
    """Restrict the file system to fewer clients, by security groups and by its policy, and add a tag."""
    id_ = there.finding("efs").sighting.resource.id
    system = there.account.find(id_)
    targets = tuple(replace(one, security_groups=NARROW) for one in system.mount_targets)
    there.account.put(replace(system, mount_targets=targets))
    there.account.keep("efs-policies", id_, POLICY)
    there.account.tag(id_, "data-class", "secret")


def when(there: World, action: str, act: Callable[[], None], nth: int = 1) -> None:
    """Run an action right before a call is answered for the n-th time."""
    asked: list[str] = []

    def hooked() -> None:
        asked.append(action)
        if len(asked) == nth:
            act()

    there.simulator.before(action, hooked)


def stopped_half_way(there: World) -> None:
    """Add the `keep` tag to the file system once its first mount target is being deleted."""
    id_ = there.finding("efs").sighting.resource.id
    when(there, "elasticfilesystem:DeleteMountTarget", lambda: there.account.tag(id_, "keep", ""))


def groups(there: World, id_: str) -> set[tuple[str, ...]]:
    return {one.security_groups for one in there.account.find(id_).mount_targets}


@pytest.mark.parametrize(
    "action",
    ["backup:StartBackupJob", "elasticfilesystem:DeleteAccessPoint"],
    ids=["during the backup", "between two parts"],
)
def test_a_security_group_that_was_narrowed_meanwhile_comes_back_narrow(action: str) -> None:
    with world("efs") as there:
        id_ = there.finding("efs").sighting.resource.id
        when(there, action, lambda: narrowed(there))
        stopped_half_way(there)
        assert there.cleaned("efs").status == "SUCCEEDED"
        assert there.cleanup("efs").stage == "called-off"
        assert groups(there, id_) == {NARROW}


def test_each_mount_target_comes_back_as_it_was_right_before_it_went() -> None:
    with world("efs") as there:
        id_ = there.finding("efs").sighting.resource.id
        when(there, "elasticfilesystem:DeleteMountTarget", lambda: narrowed(there))

        def keep() -> None:
            there.account.tag(id_, "keep", "")

        when(there, "elasticfilesystem:DeleteMountTarget", keep, nth=2)
        there.cleaned("efs")
        assert there.cleanup("efs").stage == "called-off"
        recorded: Any = there.cleanup("efs").recorded
        assert [one["security_groups"] == [*NARROW] for one in recorded["mount_targets"]].count(True) >= 1
        assert groups(there, id_) - {NARROW}, "the first one was taken off before it was narrowed"


@pytest.mark.parametrize("action", ["backup:StartBackupJob", "elasticfilesystem:DeleteMountTarget"])
def test_a_restored_file_system_has_the_policy_and_the_tags_from_just_before_the_deletion(action: str) -> None:
    with world("efs") as there:
        when(there, action, lambda: narrowed(there))
        assert there.cleaned("efs").status == "SUCCEEDED"
        assert there.cleanup("efs").stage == "done", there.cleanup("efs").why
        assert there.undone("efs").status == "SUCCEEDED"
        restored = there.cleanup("efs").restored
        assert restored
        made = there.account.find(restored.id or "")
        assert made.tags["data-class"] == "secret"
        assert "Deny" in there.account.table("efs-policies")[made.id]
        if action == "backup:StartBackupJob":
            assert groups(there, made.id) == {NARROW}


def test_a_mount_target_that_somebody_took_off_meanwhile_is_not_put_back() -> None:
    with world("efs") as there:
        id_ = there.finding("efs").sighting.resource.id
        system = there.account.find(id_)
        assert len(system.mount_targets) > 1
        left = system.mount_targets[1:]
        when(
            there,
            "backup:StartBackupJob",
            lambda: there.account.put(replace(there.account.find(id_), mount_targets=left)),
        )
        stopped_half_way(there)
        there.cleaned("efs")
        assert there.cleanup("efs").stage == "called-off"
        assert {one.az for one in there.account.find(id_).mount_targets} == {one.az for one in left}
