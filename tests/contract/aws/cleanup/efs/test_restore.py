"""Restoring an EFS file system recreates its sub-resources and its deleted data, and nothing is created twice."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import timedelta
from operator import itemgetter

import pytest

from slackwater.aws.cleanup.efs.restore import RESTORER_ACTIONS
from slackwater.model.cleanup import ACT_AFTER, CLEANUP_TAG, RESTORED_FROM, ActorNote, Removal, Restored
from slackwater.ports.errors import AwsError
from slackwater_simulator import AccessPoint, ElasticFileSystem, MountTarget
from support.efs_world import REGION, SYSTEM, World

PARTS = ("access-point", "mount-target")


@pytest.fixture
def of() -> Iterator[Callable[..., World]]:
    with ExitStack() as stack:
        yield lambda *systems, **fleet: stack.enter_context(World(*systems, **fleet))


@pytest.fixture
def world(of) -> World:
    return of(SYSTEM)


def without_pending(record):
    """Return a record without ids and ARNs, which change with each restore."""
    points = [
        {k: v for k, v in one.items() if k not in {"id", "arn", "client_token"}} for one in record["access_points"]
    ]
    targets = [{k: v for k, v in one.items() if k != "id"} for one in record["mount_targets"]]
    return {
        **record,
        "access_points": points,
        "mount_targets": sorted(targets, key=itemgetter("subnet_id")),
        "policy": None,
    }


def only_policy(world: World, file_system_id: str = "fs-1") -> dict[str, object]:
    return json.loads(world.watcher.record(replace(world.resource, id=file_system_id))["policy"])


def with_policy(world: World) -> dict[str, object]:
    """Return a policy that names the file system and one of its access points."""
    point = world.arn.replace("file-system/fs-1", "access-point/fsap-1")
    statement = {
        "Effect": "Allow",
        "Principal": {"AWS": "*"},
        "Action": "elasticfilesystem:ClientMount",
        "Resource": world.arn,
        "Condition": {"StringEquals": {"elasticfilesystem:AccessPointArn": point}},
    }
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    world.asking.client("efs", REGION).put_file_system_policy(FileSystemId="fs-1", Policy=json.dumps(policy))
    return policy


# -- The file system still exists


def test_what_was_taken_off_a_file_system_that_is_there_is_put_back(world) -> None:
    cleanup = world.undo()
    before = world.watcher.record(world.resource)
    world.delete(*PARTS)
    assert world.watcher.look(world.resource).parts[:-1] == ()

    restored = world.restored(cleanup)
    after = world.watcher.record(world.resource)
    assert without_pending(after) == without_pending(before), (
        "addresses, security groups, users, directories and tags with them"
    )
    points, targets = ([one["id"] for one in after[kind]] for kind in ("access_points", "mount_targets"))
    assert restored == Restored(
        state="done",
        id="fs-1",
        arn=world.arn,
        differences=(
            f"its access point fsap-1 is {points[0]} now",
            f"its access point fsap-2 is {points[1]} now",
            f"its mount target in {after['mount_targets'][0]['subnet_id']} is {targets[0]}, not fsmt-1",
            f"its mount target in {after['mount_targets'][1]['subnet_id']} is {targets[1]}, not fsmt-2",
        ),
    )


def test_only_what_is_missing_is_put_back_and_done_again_nothing_is(world) -> None:
    cleanup = world.undo()
    world.delete("access-point")
    restored = world.restored(cleanup)
    assert len(restored.differences) == 2
    assert "elasticfilesystem:CreateMountTarget" not in world.asked

    calls = world.sim.calls["elasticfilesystem:CreateAccessPoint"]
    again = world.restored(replace(cleanup, restored=restored))
    assert (again.state, again.differences) == ("done", restored.differences)
    assert world.sim.calls["elasticfilesystem:CreateAccessPoint"] == calls == 2


def test_where_nothing_had_gone_nothing_is_done(world) -> None:
    assert world.restored(world.undo()) == Restored(state="done", id="fs-1", arn=world.arn)
    assert not [action for action in world.asked if "Create" in action or "Put" in action]


def test_what_is_still_going_is_waited_for(world) -> None:
    cleanup = world.undo()
    for part in world.watcher.look(world.resource).parts[:-1]:
        world.remover.remove(world.resource, part)
    assert world.restorer.restore(cleanup).state == "running", "the old ones hold the zones and the addresses"
    assert "elasticfilesystem:CreateMountTarget" not in world.asked
    world.sim.advance(120)
    restored = world.restored(cleanup)
    assert restored.state == "done"
    assert without_pending(world.watcher.record(world.resource)) == without_pending(cleanup.recorded)


def test_it_is_done_only_when_it_can_be_mounted(world) -> None:
    cleanup = world.undo()
    world.delete("mount-target")
    assert world.restorer.restore(cleanup).state == "running"
    world.sim.advance(10)
    assert world.restorer.restore(cleanup).state == "running", "they are being made"
    world.sim.advance(120)
    assert world.restorer.restore(cleanup).state == "done"


@pytest.mark.parametrize("action", ["CreateAccessPoint", "CreateMountTarget"])
@pytest.mark.parametrize("dies", ["lost_answer", "drop"])
def test_dying_at_any_point_it_makes_nothing_twice(world, action, dies) -> None:
    cleanup = world.undo()
    world.delete(*PARTS)
    for _ in range(4):
        getattr(world.sim.faults, dies)(f"elasticfilesystem:{action}", times=1)
        with suppress(AwsError):
            world.restorer.restore(cleanup)
        world.sim.faults.clear()
    assert world.restored(cleanup).state == "done"
    assert without_pending(world.watcher.record(world.resource)) == without_pending(cleanup.recorded)
    assert len(world.account.find("fs-1").points) == len(world.account.find("fs-1").mount_targets) == 2


@pytest.mark.parametrize("action", ["DescribeAccessPoints", "DescribeMountTargets", "DescribeFileSystems"])
def test_what_does_not_show_yet_is_not_made_twice(world, action) -> None:
    cleanup = world.undo()
    world.delete(*PARTS)
    assert world.restorer.restore(cleanup).state == "running"
    world.sim.advance(30)
    world.sim.faults.lagging(f"elasticfilesystem:{action}", seconds=60)
    assert world.restorer.restore(cleanup).state == "running"
    world.sim.faults.clear()
    assert world.restored(cleanup).state == "done"
    assert without_pending(world.watcher.record(world.resource)) == without_pending(cleanup.recorded)


def test_another_file_system_of_the_same_id_is_not_touched(world) -> None:
    cleanup = world.undo()
    world.delete(*PARTS)
    world.sim.advance(60)
    world.account.replace("fs-1")
    restored = world.restorer.restore(cleanup)
    assert restored == Restored(state="failed", why="another file system has the id fs-1")
    assert not [action for action in world.asked if "Create" in action or "StartRestore" in action]


def test_an_ip_address_that_somebody_else_uses_is_replaced_and_reported(world) -> None:
    cleanup = world.undo()
    world.delete("mount-target")
    taken = MountTarget(id="fsmt-x", az=f"{REGION}a", address="10.0.1.7")
    world.account.put(ElasticFileSystem(id="fs-x", region=REGION, created=world.account.now, mount_targets=(taken,)))
    restored = world.restored(cleanup)
    (target, _) = world.watcher.record(world.resource)["mount_targets"]
    assert restored.state == "done"
    assert (
        f"is {target['id']}, not fsmt-1, at {target['ip_address']} in the place of 10.0.1.7" in restored.differences[0]
    )
    assert target["security_groups"] == ["sg-1", "sg-2"]


def test_somebody_elses_mount_target_in_the_zone_fails_the_undo_which_can_be_continued(world) -> None:
    cleanup = world.undo()
    world.delete(*PARTS)
    stranger = MountTarget(id="fsmt-x", az=f"{REGION}a", subnet="subnet-other")
    world.account.put(replace(world.account.find("fs-1"), mount_targets=(stranger,)))
    restored = world.restored(cleanup)
    assert restored.state == "failed"
    assert "MountTargetConflict" in restored.why
    assert restored.why.count("could not be restored") == 1
    now = world.watcher.record(world.resource)
    assert len(now["access_points"]) == 2, "all else is done all the same"
    assert len(now["mount_targets"]) == 2

    world.account.put(replace(world.account.find("fs-1"), mount_targets=world.account.find("fs-1").mount_targets[1:]))
    assert world.restored(replace(cleanup, restored=restored)).state == "done"
    assert without_pending(world.watcher.record(world.resource)) == without_pending(cleanup.recorded)


def test_a_denied_step_is_reported_and_all_others_are_done(world) -> None:
    cleanup = world.undo()
    world.delete(*PARTS)
    world.sim.faults.deny("elasticfilesystem:CreateAccessPoint")
    restored = world.restored(cleanup)
    assert restored.state == "failed"
    assert "its access point fsap-1 could not be restored: AccessDenied" in restored.why
    assert len(world.account.find("fs-1").mount_targets) == 2
    world.sim.faults.clear()
    assert world.restored(replace(cleanup, restored=restored)).state == "done"


def test_throttling_is_no_refusal(world) -> None:
    cleanup = world.undo()
    world.delete(*PARTS)
    world.sim.faults.throttle("elasticfilesystem:CreateMountTarget", per_second=0, burst=0)
    with pytest.raises(AwsError):
        world.restorer.restore(cleanup)


# -- The file system is deleted


def test_a_file_system_that_is_gone_comes_back_from_its_backup_as_it_was(of) -> None:
    world = of(replace(SYSTEM, mode="provisioned", provisioned_mibps=50, protected=False, backup=True))
    policy = with_policy(world)
    world.watcher.add_tags(
        world.resource, world.watcher.look(world.resource), {CLEANUP_TAG: "f-1", ACT_AFTER: "2026-12-01T00:00:00Z"}
    )
    contents = world.account.contents("fs-1")
    cleanup = world.undo(world.backed_up())
    world.delete()
    assert world.watcher.look(world.resource) is None

    before = world.asked
    restored = world.restored(cleanup)
    assert world.asked - before <= RESTORER_ACTIONS
    new = restored.id
    assert restored.state == "done"
    assert new not in {None, "fs-1"}
    assert restored.arn == world.arn.replace("fs-1", new)
    assert world.account.contents(new) == contents

    was, now = cleanup.recorded, world.watcher.record(replace(world.resource, id=new))
    own = {key: value for key, value in now["tags"].items() if not key.startswith("aws:")}
    assert own == {**SYSTEM.tags, RESTORED_FROM: "fs-1"}, "without the mark"
    assert [one["tags"] for one in now["access_points"]] == [{"Name": "web"}, {}], "nor is it on these"
    was["access_points"][0]["tags"], was["access_points"][1]["tags"] = {"Name": "web"}, {}
    assert without_pending({**now, "tags": SYSTEM.tags}) == without_pending({**was, "tags": SYSTEM.tags})
    names = {world.arn: restored.arn, was["access_points"][0]["arn"]: now["access_points"][0]["arn"]}
    renamed = json.dumps(policy)
    for old, one in names.items():
        renamed = renamed.replace(old, one)
    assert only_policy(world, new) == json.loads(renamed)

    reported = "; ".join(restored.differences)
    assert f"its id is {new}, not fs-1" in reported
    assert "/aws-backup-restore_<date and time>" in reported
    assert "its access points show nothing" in reported
    assert f"its access point fsap-2 is {now['access_points'][1]['id']} now" in reported
    assert f"is {now['mount_targets'][0]['id']}, not fsmt-1" in reported


def test_a_one_zone_file_system_comes_back_in_its_zone_with_its_key(of) -> None:
    zone, key = f"{REGION}c", f"arn:aws:kms:{REGION}:111122223333:key/k"
    target = MountTarget(id="fsmt-1", az=zone)
    world = of(
        replace(
            SYSTEM, one_zone=zone, kms_key=key, mount_targets=(target,), given_points=(), lifecycle=(), mode="bursting"
        )
    )
    cleanup = world.undo(world.backed_up())
    world.delete()
    restored = world.restored(cleanup)
    system = world.account.find(restored.id)
    assert (system.one_zone, system.kms_key, system.backup) == (zone, key, False)
    assert not any("access point" in one for one in restored.differences)


def test_an_unencrypted_file_system_comes_back_unencrypted(of) -> None:
    world = of(replace(SYSTEM, encrypted=False, performance="maxIO", mode="bursting"))
    cleanup = world.undo(world.backed_up())
    world.delete()
    system = world.account.find(world.restored(cleanup).id)
    assert (system.encrypted, system.performance) == (False, "maxIO")


@pytest.mark.parametrize(
    "action",
    [
        "backup:StartRestoreJob",
        "elasticfilesystem:TagResource",
        "elasticfilesystem:PutFileSystemPolicy",
        "elasticfilesystem:UpdateFileSystem",
        "elasticfilesystem:PutLifecycleConfiguration",
        "elasticfilesystem:CreateAccessPoint",
        "elasticfilesystem:CreateMountTarget",
    ],
)
def test_answers_that_are_lost_make_nothing_twice(world, action) -> None:
    with_policy(world)
    cleanup = world.undo(world.backed_up())
    world.delete()
    systems = len(world.account.fleet.efs)
    world.sim.faults.lost_answer(action, times=1)
    lost, restored = 0, None
    for _ in range(12):
        try:
            restored = world.restorer.restore(cleanup)
        except AwsError:
            lost += 1
        else:
            cleanup = replace(cleanup, restored=restored)
            if restored.state != "running":
                break
        world.sim.advance(600)
    assert lost == 1, "nobody knows whether it was heard"
    assert restored.state == "done"
    assert len(world.account.fleet.efs) == systems + 1
    now = world.watcher.record(replace(world.resource, id=restored.id))
    assert without_pending({**now, "tags": {}}) == without_pending({**cleanup.recorded, "tags": {}})


def test_dying_after_each_answer_it_restores_once(world) -> None:
    """A restore whose state was not stored finds the job by its token, and everything else by reading the account."""
    cleanup = world.undo(world.backed_up())
    world.delete()
    for _ in range(3):
        first = world.restorer.restore(cleanup)
        assert (first.state, first.id) == ("running", None)
    cleanup = replace(cleanup, restored=first)
    world.sim.advance(1_600)
    for _ in range(6):
        restored = world.restorer.restore(cleanup)
        world.sim.advance(600)
    assert restored.state == "done"
    assert [system.id for system in world.account.fleet.efs] == [restored.id]


def test_while_it_is_being_deleted_it_is_waited_for(world) -> None:
    cleanup = world.undo(world.backed_up())
    world.delete(*PARTS)
    world.remover.remove(world.resource, world.watcher.look(world.resource).parts[-1])
    assert world.restorer.restore(cleanup) == Restored(state="running")
    assert "backup:StartRestoreJob" not in world.asked
    world.sim.advance(60)
    assert world.restorer.restore(cleanup).job
    assert world.sim.calls["backup:StartRestoreJob"] == 1


def test_a_restore_that_fails_says_why_and_another_undo_begins_anew(world) -> None:
    cleanup = world.undo(world.backed_up())
    world.delete()
    begun = world.restorer.restore(cleanup)
    world.sim.advance(120)
    (made,) = world.account.fleet.efs
    world.account.remove(made.id)
    world.sim.advance(1_600)
    failed = world.restorer.restore(replace(cleanup, restored=begun))
    assert (failed.state, failed.id, failed.job) == ("failed", None, begun.job)
    assert f"restore job {begun.job} is FAILED: File system {made.id} does not exist." in failed.why

    later = ActorNote(who="slack:U1", why="again", at=cleanup.undone.at + timedelta(hours=1))
    again = replace(cleanup, undone=later, restored=failed)
    assert world.restorer.restore(again).job != begun.job
    assert world.restored(again).state == "done"
    assert world.sim.calls["backup:StartRestoreJob"] == 3
    assert len(world.account.fleet.efs) == 1, "the second and third request have the same token"


def test_a_refused_undo_does_not_forget_the_job_that_had_failed(world) -> None:
    cleanup = world.undo(world.backed_up())
    world.delete()
    begun = world.restorer.restore(cleanup)
    failed = replace(begun, state="failed", why="its job failed")
    world.sim.faults.deny("backup:StartRestoreJob")
    refused = world.restorer.restore(replace(cleanup, restored=failed))
    world.sim.faults.clear()

    assert (refused.state, refused.job) == ("failed", begun.job)
    assert world.restorer.restore(replace(cleanup, restored=refused)).job != begun.job


def test_an_undo_that_dies_before_its_job_is_on_record_does_not_restore_twice(world) -> None:
    cleanup = world.undo(world.backed_up())
    world.delete()
    begun = world.restorer.restore(cleanup)
    later = ActorNote(who="slack:U1", why="again", at=cleanup.undone.at + timedelta(hours=1))
    again = replace(cleanup, undone=later)
    assert world.restorer.restore(again).job == begun.job
    assert world.restored(again).state == "done"
    assert len(world.account.fleet.efs) == 1


def test_a_list_that_still_shows_a_deleted_access_point_is_not_believed(world) -> None:
    looked, point = world.watcher.look(world.resource), world.watcher.look(world.resource).parts[0]
    cleanup = world.undo(removals=(Removal(part=point, asked_at=world.now),))
    world.remover.remove(world.resource, point)
    world.sim.faults.lagging("elasticfilesystem:DescribeAccessPoints", times=1)
    assert world.restorer.restore(cleanup).state == "running"
    assert world.restored(cleanup).state == "done"
    assert len(world.watcher.look(world.resource).parts) == len(looked.parts)


def test_without_a_backup_that_holds_it_nothing_is_restored(world) -> None:
    backup = world.backed_up()
    cleanup = world.undo(backup)
    world.delete()

    def why(cleanup):
        restored = world.restorer.restore(cleanup)
        assert restored.state == "failed"
        return restored.why

    assert "no verified backup" in why(replace(cleanup, backups=()))
    assert "no verified backup" in why(replace(cleanup, backups=(replace(backup, state="complete"),)))
    assert "was not recorded" in why(replace(cleanup, recorded=None))
    other = replace(world.resource, id="fs-9", arn=world.arn.replace("fs-1", "fs-9"))
    assert f"of {world.arn}" in why(replace(cleanup, resource=other)), "it is another file system's"
    world.sim.faults.deny("backup:StartRestoreJob")
    assert "does not restore it: AccessDenied" in why(cleanup)
    world.account.put_backup(replace(world.account.backups()[0], state="DELETING"))
    assert f"its backup {backup.id} is DELETING" in why(cleanup)
    world.account.drop_backup(backup.id)
    assert "not in the vault slackwater any more" in why(cleanup)
    assert "backup:StartRestoreJob" not in world.asked or world.sim.calls["backup:StartRestoreJob"] == 1


def test_without_its_policy_nobody_can_mount_it(world) -> None:
    with_policy(world)
    cleanup = world.undo(world.backed_up())
    world.delete()
    world.sim.faults.deny("elasticfilesystem:PutFileSystemPolicy")
    restored = world.restored(cleanup)
    assert restored.state == "failed"
    assert "its policy could not be restored" in restored.why
    assert "its mount targets were not made" in restored.why
    assert world.account.find(restored.id).mount_targets == ()

    world.sim.faults.clear()
    assert world.restored(replace(cleanup, restored=restored)).state == "done"
    assert len(world.account.find(restored.id).mount_targets) == 2


def test_its_policy_is_there_before_the_first_mount_target(world) -> None:
    with_policy(world)
    cleanup = world.undo(world.backed_up())
    world.delete()
    before: list[int] = []
    world.sim.before(
        "elasticfilesystem:CreateMountTarget",
        lambda: before.append(world.sim.calls.get("elasticfilesystem:PutFileSystemPolicy", 0)),
    )  # fmt: skip
    world.restored(cleanup)
    assert min(before) > 1, "once by the test itself"


def test_a_restored_file_system_that_somebody_deleted_comes_back_once_more(world) -> None:
    cleanup = world.undo(world.backed_up())
    world.delete()
    world.sim.faults.deny("elasticfilesystem:CreateAccessPoint")
    restored = world.restored(cleanup)
    assert restored.state == "failed"
    world.account.remove(restored.id)
    world.sim.faults.clear()
    later = ActorNote(who="slack:U1", why="again", at=cleanup.undone.at + timedelta(hours=1))
    again = world.restored(replace(cleanup, undone=later, restored=restored))
    assert again.state == "done"
    assert again.id != restored.id


def test_a_restored_file_system_that_somebody_deletes_at_once_is_not_waited_for(world) -> None:
    cleanup = world.undo(world.backed_up())
    world.delete()
    begun = world.restorer.restore(cleanup)
    world.sim.advance(1_600)
    (made,) = world.account.fleet.efs
    world.account.remove(made.id)
    ended = world.restored(replace(cleanup, restored=begun))
    assert (ended.state, ended.id) == ("failed", made.id)
    assert f"restored {made.id}, and EFS does not list it: somebody deleted it; another undo" in ended.why
    assert world.sim.calls["backup:StartRestoreJob"] == 1
    assert world.restored(replace(cleanup, restored=ended)).id not in {None, made.id}


def test_files_that_may_be_in_archive_need_elastic_throughput_first(of) -> None:
    tiers = (("TransitionToIA", "AFTER_30_DAYS"), ("TransitionToArchive", "AFTER_90_DAYS"))
    world = of(replace(SYSTEM, lifecycle=tiers, given_points=(AccessPoint(id="fsap-1", token="t"),)))
    cleanup = world.undo(world.backed_up())
    world.delete()
    restored = world.restored(cleanup)
    assert restored.state == "done"
    assert world.account.find(restored.id).lifecycle == tiers


def test_a_file_system_that_nothing_hangs_on_has_its_throughput_and_then_its_lifecycle(of) -> None:
    world = of(replace(SYSTEM, mount_targets=(), given_points=()))
    cleanup = world.undo(world.backed_up())
    world.delete()
    system = world.account.find(world.restored(cleanup).id)
    assert (system.mode, system.lifecycle) == ("elastic", SYSTEM.lifecycle)


def test_an_access_point_that_does_not_show_yet_is_no_refusal(world) -> None:
    cleanup = world.undo()
    world.delete("access-point")
    assert world.restorer.restore(cleanup).state == "running"
    world.sim.advance(30)
    world.sim.faults.lagging("elasticfilesystem:DescribeAccessPoints", seconds=60)
    assert world.restorer.restore(cleanup).state == "running"


# -- The tag that identifies a restored file system and protects it from clean-up


def writes(world: World) -> list[tuple[str, bool]]:
    """Record each write to a file system from now on, and whether the restored one carried the tag by then."""
    requests: list[tuple[str, bool]] = []

    def count(action: str) -> None:
        made = [one for one in world.account.fleet.efs if one.id != "fs-1"]
        requests.append((action, any(one.tags.get(RESTORED_FROM) == "fs-1" for one in made)))

    for action in sorted(RESTORER_ACTIONS):
        name = action.partition(":")[2]
        if action.startswith("elasticfilesystem:") and not name.startswith("Describe"):
            world.sim.before(action, lambda action=action: count(action))
    return requests


def test_what_aws_backup_made_is_tagged_before_anything_else_is_written(world: World) -> None:
    cleanup = world.undo(world.backed_up())
    world.delete()
    requests = writes(world)
    assert world.restored(cleanup).state == "done"
    assert requests[0] == ("elasticfilesystem:TagResource", False)
    assert len(requests) > 3
    assert all(tagged for _, tagged in requests[1:])


def test_without_the_tag_nothing_is_written(world: World) -> None:
    cleanup = world.undo(world.backed_up())
    world.delete()
    world.sim.faults.deny("elasticfilesystem:TagResource")
    requests = writes(world)
    restored = world.restored(cleanup)
    assert restored.state == "failed"
    assert restored.why
    assert restored.why.startswith("its origin could not be restored")
    assert {action for action, _ in requests} == {"elasticfilesystem:TagResource"}


def test_what_was_never_deleted_is_not_reported_as_restored(world: World) -> None:
    cleanup = world.undo(removals=())
    world.delete("access-point", "mount-target")
    requests = writes(world)
    assert world.restored(cleanup).state == "done"
    assert "elasticfilesystem:TagResource" not in {action for action, _ in requests}
    assert RESTORED_FROM not in world.account.find("fs-1").tags
