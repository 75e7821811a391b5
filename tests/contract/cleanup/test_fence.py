"""If a resource is used after its backup, it is not deleted, and its removed sub-resources are restored."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest

from slackwater_simulator.resources import MountTarget
from support.cleanup_world import World, world
from support.sub_resources import sub_resources

LATE_S: Final = 600
"""How late CloudWatch publishes metrics, in seconds."""


def before_step(there: World, function: str, step: str, act: Callable[[], None]) -> None:
    """Run an action once, right before a step is taken for the first time."""
    inner, done = there.functions[function], list[str]()

    def hooked(payload: Any) -> Any:
        if payload["step"] == step and not done:
            done.append(step)
            act()
        return inner(payload)

    there.functions = {**there.functions, function: hooked}


def stays(there: World, kind: str, before: tuple[object, ...]) -> None:
    """Check that the resource, its sub-resources and the written data are there, and that the finding is open again."""
    id_ = there.finding(kind).sighting.resource.id
    assert there.account.exists(id_)
    assert sub_resources(there.account, id_) == before
    assert there.account.versions(id_)[-1].who in {"client", "service"}
    assert there.cleanup(kind).stage == "called-off"
    assert there.finding(kind).status == "open"


@pytest.mark.parametrize("how", ["client", "service"])
@pytest.mark.parametrize("step", ["look", "verify"])
@pytest.mark.parametrize("kind", ["efs", "efs-orphaned", "efs-abandoned"])
def test_what_is_written_while_it_is_backed_up_keeps_it(kind: str, step: str, how: str) -> None:
    with world(kind) as there:
        id_ = there.finding(kind).sighting.resource.id
        before = sub_resources(there.account, id_)
        before_step(there, "BackUpFunction", step, lambda: there.account.work(id_, how))
        assert there.cleaned(kind).status == "SUCCEEDED"
        stays(there, kind, before)
        assert "it is in use" in there.cleanup(kind).why
        if step == "look":  # CloudWatch may not have published this use by the first removal
            assert there.cleanup(kind).removals == ()


@pytest.mark.parametrize(
    ("kind", "action", "how"),
    [
        ("efs", "elasticfilesystem:DeleteAccessPoint", "client"),
        ("efs", "elasticfilesystem:DeleteMountTarget", "client"),
        ("efs", "elasticfilesystem:DeleteMountTarget", "service"),
        ("efs-orphaned", "elasticfilesystem:DeleteAccessPoint", "client"),
        ("efs-orphaned", "elasticfilesystem:DeleteAccessPoint", "service"),
        ("efs-abandoned", "elasticfilesystem:DeleteMountTarget", "client"),
    ],
)
def test_what_was_written_until_nothing_could_mount_it_keeps_it_though_cloudwatch_is_late(
    kind: str, action: str, how: str
) -> None:
    with world(kind) as there:
        id_ = there.finding(kind).sighting.resource.id
        before, done = sub_resources(there.account, id_), list[str]()
        there.account.late.metrics = LATE_S

        def work() -> None:
            if not done:
                done.append(how)
                there.account.work(id_, how)

        there.simulator.before(action, work)
        assert there.cleaned(kind).status == "SUCCEEDED"
        stays(there, kind, before)


def test_a_mount_target_created_and_deleted_within_the_grace_period_shows_by_its_client() -> None:
    with world("efs-orphaned") as there:
        id_ = there.finding("efs-orphaned").sighting.resource.id
        before = sub_resources(there.account, id_)
        before_step(there, "WatchFunction", "grace", lambda: there.account.work(id_))
        assert there.cleaned("efs-orphaned").status == "SUCCEEDED"
        stays(there, "efs-orphaned", before)
        assert there.account.backups() == []


@pytest.mark.parametrize(("kind", "late_s"), [("efs", LATE_S), ("efs-orphaned", 0), ("efs-abandoned", LATE_S)])
def test_our_own_backup_is_no_use_and_cloudwatch_has_its_time_once_nothing_can_mount_it(
    kind: str, late_s: float
) -> None:
    with world(kind) as there:
        id_, deleted = there.finding(kind).sighting.resource.id, list[Any]()
        there.account.late.metrics = late_s
        there.simulator.before("elasticfilesystem:DeleteFileSystem", lambda: deleted.append(there.now()))
        execution = there.cleaned(kind)
        assert execution.status == "SUCCEEDED", (execution.error, there.cleanup(kind).why)
        cleanup = there.cleanup(kind)
        assert cleanup.stage == "done", cleanup.why
        assert not there.account.exists(id_)
        assert cleanup.fenced_at
        assert deleted[0] - cleanup.fenced_at >= timedelta(minutes=15)
        assert execution.events < 1_000


@pytest.mark.parametrize("kind", [pytest.param("efs", marks=pytest.mark.slow), "efs-orphaned"])
def test_where_cloudwatch_does_not_catch_up_it_stays(kind: str) -> None:
    with world(kind) as there:
        id_ = there.finding(kind).sighting.resource.id
        before = sub_resources(there.account, id_)
        there.account.late.metrics = timedelta(hours=6).total_seconds()
        assert there.cleaned(kind).status == "SUCCEEDED"
        assert there.account.exists(id_)
        assert sub_resources(there.account, id_) == before
        assert there.cleanup(kind).stage == "called-off"
        assert "cannot tell whether it was used since its clean-up started: CloudWatch has" in there.cleanup(kind).why


def test_a_mount_target_that_somebody_makes_after_the_fence_keeps_it() -> None:
    with world("efs") as there:
        id_ = there.finding("efs").sighting.resource.id
        delete, done = there.functions["DeleteFunction"], list[str]()

        def hooked(payload: Any) -> Any:
            if there.cleanup("efs").fenced_at and not done:
                system = there.account.find(id_)
                there.account.put(replace(system, mount_targets=(MountTarget(id="fsmt-0a", az=f"{system.region}b"),)))
                done.append("mounted")
            return delete(payload)

        there.functions = {**there.functions, "DeleteFunction": hooked}
        there.cleaned("efs")
        assert done
        assert there.account.exists(id_)
        assert "something new depends on it" in there.cleanup("efs").why


class TestVolumes:
    """EBS has no fence. A use that CloudTrail and CloudWatch do not show yet goes unnoticed."""

    def borrowed(self, there: World, seconds_ago: float) -> None:
        """Attach the volume and detach it after a minute. Then let `seconds_ago` pass."""
        id_ = there.finding("ebs").sighting.resource.id
        there.account.attach(id_, there.account.fleet.instances[0].id)
        there.simulator.advance(60)
        there.account.detach(id_)
        there.simulator.advance(seconds_ago)

    @pytest.mark.parametrize("late", ["events", "metrics", "nothing"])
    def test_one_that_was_attached_since_its_backup_stays(self, late: str) -> None:
        with world("ebs") as there:
            if late != "nothing":
                # The other source shows the use in time.
                setattr(there.account.late, late, timedelta(hours=1).total_seconds())
            before_step(there, "DeleteFunction", "delete", lambda: self.borrowed(there, 0))
            assert there.cleaned("ebs").status == "SUCCEEDED"
            assert there.account.exists(there.finding("ebs").sighting.resource.id)
            assert "it is in use" in there.cleanup("ebs").why

    @pytest.mark.parametrize(("minutes_ago", "stays"), [(13, False), (16, True)])
    def test_the_window_that_is_left_is_as_long_as_both_are_late(self, minutes_ago: int, stays: bool) -> None:
        with world("ebs") as there:
            there.account.late.events = there.account.late.metrics = 900
            before_step(there, "DeleteFunction", "delete", lambda: self.borrowed(there, minutes_ago * 60))
            assert there.cleaned("ebs").status == "SUCCEEDED"
            assert there.account.exists(there.finding("ebs").sighting.resource.id) is stays
