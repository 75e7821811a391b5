"""Watch, tag, delete piece by piece, and change EFS file systems by EFS's rules, against a simulated account."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from slackwater.aws.cleanup.efs.change import CHANGER_ACTIONS, EfsChanger
from slackwater.aws.cleanup.efs.cleanup import REMOVER_ACTIONS, WATCHER_ACTIONS
from slackwater.aws.pricing.packaged import PackagedPrices
from slackwater.model.cleanup import ACT_AFTER, CLEANUP_TAG, SubResource
from slackwater.model.settings import EfsLifecycleSetting, EfsThroughputSetting, VolumeSetting
from slackwater.ports.errors import AwsError, BusyError
from slackwater_simulator import MountTarget, Replication
from support.efs_world import DAY, GIB, NOW, POINT, REGION, SYSTEM, World


@pytest.fixture
def of() -> Iterator[Callable[..., World]]:
    with ExitStack() as stack:
        yield lambda *systems, **fleet: stack.enter_context(World(*systems, **fleet))


@pytest.fixture
def world(of) -> World:
    return of(SYSTEM, replace(SYSTEM, id="fs-2", mount_targets=(), given_points=()))


# -- Look


def test_a_look_names_what_has_to_go_access_points_first_and_the_file_system_last(world) -> None:
    look = world.watcher.look(world.resource)

    assert [(part.kind, part.id, part.going) for part in look.parts] == [
        ("access-point", "fsap-1", False),
        ("access-point", "fsap-2", False),
        ("mount-target", "fsmt-1", False),
        ("mount-target", "fsmt-2", False),
        ("file-system", "fs-1", False),
    ]
    assert [part.arn for part in look.parts[2:]] == [None, None, world.arn]
    assert look.parts[0].arn == world.arn.replace("file-system/fs-1", "access-point/fsap-1")
    assert look.born_at == datetime.fromtimestamp(NOW - 40 * DAY, UTC)
    assert look.tags == {"Name": "content", "team": "web"}
    assert look.size_bytes == 7 * GIB, "what EFS meters, in all classes"
    assert look.held is None
    assert world.asked <= WATCHER_ACTIONS


def test_what_is_not_there_is_none_and_what_cannot_be_read_is_an_error(world) -> None:
    assert world.watcher.look(replace(world.resource, id="fs-9")) is None

    for action in (
        "DescribeFileSystems",
        "DescribeMountTargets",
        "DescribeAccessPoints",
        "DescribeReplicationConfigurations",
    ):
        world.sim.faults.deny(f"elasticfilesystem:{action}")
        with pytest.raises(AwsError, match=r"Not allowed"):
            world.watcher.look(world.resource)
        world.sim.faults.clear()


def test_a_file_system_that_is_deleted_between_two_calls_is_gone(world) -> None:
    world.sim.before("elasticfilesystem:DescribeMountTargets", lambda: world.account.remove("fs-1"))
    assert world.watcher.look(world.resource) is None


def test_what_aws_is_deleting_is_going_and_not_held(world) -> None:
    world.remover.remove(world.resource, SubResource(kind="mount-target", id="fsmt-1", arn=None))
    world.remover.remove(world.resource, SubResource(kind="access-point", id="fsap-2", arn=None))
    look = world.watcher.look(world.resource)
    assert {part.id for part in look.parts if part.going} == {"fsmt-1", "fsap-2"}
    assert look.held is None

    world.account.put(replace(world.account.find("fs-1"), mount_targets=(), given_points=(), phase="deleting"))
    look = world.watcher.look(world.resource)
    assert [(part.id, part.going) for part in look.parts] == [("fs-1", True)]
    assert look.held is None

    world.account.remove("fs-1")
    assert world.watcher.look(world.resource) is None


def replicating(source: str, destination: str) -> dict[str, object]:
    one = Replication(
        source_id=source, source_region=REGION, destination_id=destination, destination_region=REGION, created=NOW - DAY
    )
    return {"replications": [one]}


@pytest.mark.parametrize(
    ("system", "fleet", "says"),
    [
        (replace(SYSTEM, phase="updating"), {}, "its state is updating"),
        (replace(SYSTEM, phase="error"), {}, "its state is error"),
        (replace(SYSTEM, replica=True), {}, "replication"),
        (SYSTEM, replicating("fs-1", "fs-8"), "replication"),
        (SYSTEM, replicating("fs-8", "fs-1"), "replication"),
        (replace(SYSTEM, mount_targets=(MountTarget(id="fsmt-3", az=f"{REGION}a", phase="creating"),)), {},
         "mount target fsmt-3 is creating"),
        (replace(SYSTEM, given_points=(replace(POINT, phase="creating"),)), {}, "access point fsap-1 is creating"),
    ],
)  # fmt: skip
def test_what_must_not_be_touched_is_held(of, system, fleet, says) -> None:
    world = of(system, **fleet)
    assert says in world.watcher.look(world.resource).held


def test_all_pages_are_read(of) -> None:
    world = of(replace(SYSTEM, access_points=250))
    assert len(world.watcher.look(world.resource).parts) == 250 + 2 + 2 + 1


# -- Tag and record


def test_the_file_system_and_its_access_points_are_tagged_and_untagged(world) -> None:
    tags = {CLEANUP_TAG: "f-1", ACT_AFTER: "2026-12-16T09:07:00Z"}
    for _ in range(2):
        world.watcher.add_tags(world.resource, world.watcher.look(world.resource), tags)
    marked = world.account.find("fs-1")
    assert marked.tags == SYSTEM.tags | tags
    assert [point.tags for point in marked.points] == [{"Name": "web"} | tags, tags]
    assert world.account.find("fs-2").tags == SYSTEM.tags

    for _ in range(2):
        world.watcher.remove_tags(world.resource, (CLEANUP_TAG, ACT_AFTER))
    assert world.account.find("fs-1").tags == SYSTEM.tags
    assert [point.tags for point in world.account.find("fs-1").points] == [{"Name": "web"}, {}]
    assert world.asked <= WATCHER_ACTIONS


def test_a_partial_tagging_is_an_error_and_the_file_system_is_tagged_last(world) -> None:
    look = world.watcher.look(world.resource)
    world.sim.faults.deny("elasticfilesystem:TagResource")
    with pytest.raises(AwsError, match="Not allowed"):
        world.watcher.add_tags(world.resource, look, {CLEANUP_TAG: "f-1"})

    world.sim.faults.clear()
    tagged: list[set[str]] = []
    world.sim.before(
        "elasticfilesystem:TagResource",
        lambda: tagged.append({p.id for p in world.account.find("fs-1").points if CLEANUP_TAG in p.tags}),
    )
    world.watcher.add_tags(world.resource, look, {CLEANUP_TAG: "f-1"})
    assert tagged[-1] == {"fsap-1", "fsap-2"}


def test_deleted_access_points_need_no_tag_and_a_deleted_file_system_no_untagging(world) -> None:
    look = world.watcher.look(world.resource)
    world.account.put(SYSTEM.with_points([POINT]))
    world.watcher.add_tags(world.resource, look, {CLEANUP_TAG: "f-1"})
    assert CLEANUP_TAG in world.account.find("fs-1").points[0].tags

    world.account.remove("fs-1")
    world.watcher.remove_tags(world.resource, (CLEANUP_TAG,))
    with pytest.raises(AwsError, match="FileSystemNotFound"):
        world.watcher.add_tags(world.resource, look, {CLEANUP_TAG: "f-1"})


def test_everything_that_a_restore_needs_is_recorded_as_json_holds_it(world) -> None:
    efs = world.asking.client("efs", REGION)
    policy = {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": world.arn}],
    }
    efs.put_file_system_policy(FileSystemId="fs-1", Policy=json.dumps(policy))
    efs.put_backup_policy(FileSystemId="fs-1", BackupPolicy={"Status": "ENABLED"})
    before = world.asked
    record = world.watcher.record(world.resource)

    assert world.asked - before <= WATCHER_ACTIONS
    assert json.loads(json.dumps(record)) == record
    assert json.loads(record.pop("policy")) == policy
    points, targets = record.pop("access_points"), record.pop("mount_targets")
    assert record.pop("kms_key_id").startswith("arn:aws:kms:")
    assert record == {
        "performance_mode": "generalPurpose",
        "throughput_mode": "elastic",
        "provisioned_mib_s": None,
        "encrypted": True,
        "availability_zone": None,
        "overwrite_protection": "ENABLED",
        "tags": SYSTEM.tags,
        "lifecycle": [{"TransitionToIA": "AFTER_30_DAYS"}, {"TransitionToPrimaryStorageClass": "AFTER_1_ACCESS"}],
        "backed_up_daily": True,
    }
    assert points[0] == {
        "id": "fsap-1",
        "arn": world.arn.replace("file-system/fs-1", "access-point/fsap-1"),
        "client_token": "theirs",
        "posix_user": POINT.user,
        "root_directory": POINT.root,
        "tags": {"Name": "web"},
    }
    assert [(one["id"], one["availability_zone"]) for one in targets] == [
        ("fsmt-1", f"{REGION}a"),
        ("fsmt-2", f"{REGION}c"),
    ]
    assert targets[0]["subnet_id"].startswith("subnet-")
    assert (targets[0]["ip_address"], targets[0]["security_groups"]) == ("10.0.1.7", ["sg-1", "sg-2"])


@pytest.mark.parametrize(
    "action",
    ["DescribeFileSystemPolicy", "DescribeBackupPolicy", "DescribeLifecycleConfiguration",
     "DescribeMountTargetSecurityGroups"],
)  # fmt: skip
def test_a_record_with_a_gap_is_none(world, action) -> None:
    world.sim.faults.deny(f"elasticfilesystem:{action}")
    with pytest.raises(AwsError, match="Not allowed"):
        world.watcher.record(world.resource)


def test_what_it_takes_to_remove_is_named_by_what_iam_asks_for(world) -> None:
    needed = world.watcher.removal_actions(world.resource, world.watcher.look(world.resource))
    point = world.arn.replace("file-system/fs-1", "access-point/")
    assert {arn: set(actions) for arn, actions in needed.items()} == {
        f"{point}fsap-1": {"elasticfilesystem:DeleteAccessPoint"},
        f"{point}fsap-2": {"elasticfilesystem:DeleteAccessPoint"},
        f"arn:aws:ec2:{REGION}:{world.fleet.account}:network-interface/*": {"ec2:DeleteNetworkInterface"},
        world.arn: {"elasticfilesystem:DeleteMountTarget", "elasticfilesystem:DeleteFileSystem"},
    }
    assert set().union(*needed.values()) == REMOVER_ACTIONS

    bare = replace(
        world.watcher.look(world.resource), parts=(SubResource(kind="file-system", id="fs-1", arn=world.arn),)
    )
    assert world.watcher.removal_actions(world.resource, bare) == {world.arn: {"elasticfilesystem:DeleteFileSystem"}}


# -- Remove


def test_parts_go_one_by_one_and_what_is_gone_is_fine(world) -> None:
    parts = world.watcher.look(world.resource).parts
    before = world.asked
    with pytest.raises(AwsError, match="FileSystemInUse"):
        world.remover.remove(world.resource, parts[-1])
    for part in parts[:-1]:
        world.remover.remove(world.resource, part)
    world.sim.advance(120)
    world.remover.remove(world.resource, parts[-1])
    world.sim.advance(60)
    assert not world.account.exists("fs-1")
    assert world.account.exists("fs-2")

    for part in parts:
        world.remover.remove(world.resource, part)
    assert world.asked - before <= REMOVER_ACTIONS


@pytest.mark.parametrize(
    "part",
    [SubResource(kind="file-system", id="fs-2", arn=None), SubResource(kind="volume", id="vol-1", arn=None),
     SubResource(kind="file-system", id="fs-9", arn=None)],
)  # fmt: skip
def test_what_is_no_part_of_the_resource_is_never_named_in_a_delete(world, part) -> None:
    with pytest.raises(AwsError, match="no part"):
        world.remover.remove(world.resource, part)
    assert world.asked == set()


def test_a_delete_is_asked_for_once_and_no_answer_is_no_success(world) -> None:
    world.sim.faults.drop("elasticfilesystem:DeleteMountTarget")
    with pytest.raises(AwsError):
        world.remover.remove(world.resource, SubResource(kind="mount-target", id="fsmt-1", arn=None))
    assert world.sim.calls == {"elasticfilesystem:DeleteMountTarget": 1}


# -- Change

ELASTIC = EfsThroughputSetting(mode="elastic")
BURSTING = EfsThroughputSetting(mode="bursting")
FAST = EfsThroughputSetting(mode="provisioned", provisioned_mib_s=100)
SLOW = EfsThroughputSetting(mode="provisioned", provisioned_mib_s=50)
TIERED = EfsLifecycleSetting(
    transition_to_ia="AFTER_30_DAYS", transition_to_archive="AFTER_90_DAYS", transition_to_primary="AFTER_1_ACCESS"
)
NEVER = EfsLifecycleSetting(transition_to_ia=None)


@pytest.mark.parametrize("to", [BURSTING, FAST])
def test_the_throughput_is_changed_and_is_what_is_asked_for_once_it_is_over(world, to) -> None:
    assert world.changer.setting(world.resource, to) == (ELASTIC, False)
    assert world.changer.refusal(world.resource, to) is None
    world.changer.change(world.resource, to)
    assert world.changer.setting(world.resource, to)[1], "EFS is at it"
    assert world.changer.refusal(world.resource, to) == "its state is updating"
    world.sim.advance(60)
    assert world.changer.setting(world.resource, to) == (to, False)
    assert world.asked <= CHANGER_ACTIONS


def test_a_throughput_that_was_changed_today_is_a_change_for_later(of) -> None:
    world = of(SYSTEM)
    world.changer.change(world.resource, FAST)
    world.sim.advance(60)
    with pytest.raises(BusyError, match=r"fs-1 be changed once in 24 hours.*TooManyRequests"):
        world.changer.change(world.resource, SLOW)
    assert world.changer.setting(world.resource, FAST) == (FAST, False)
    world.sim.advance(DAY)
    world.changer.change(world.resource, SLOW)


def test_the_lifecycle_is_changed_and_taken_off(world) -> None:
    was, changing = world.changer.setting(world.resource, TIERED)
    assert was == EfsLifecycleSetting(transition_to_ia="AFTER_30_DAYS", transition_to_primary="AFTER_1_ACCESS")
    assert not changing
    for to in (TIERED, NEVER, was):
        world.changer.change(world.resource, to)
        assert world.changer.setting(world.resource, to) == (to, False)
    assert world.asked <= CHANGER_ACTIONS


@pytest.mark.parametrize(
    ("system", "to", "says"),
    [
        (replace(SYSTEM, performance="maxIO", mode="bursting"), ELASTIC, "maxIO"),
        (replace(SYSTEM, archive_bytes=GIB), BURSTING, "in Archive"),
        (replace(SYSTEM, archive_bytes=GIB), SLOW, "in Archive"),
        (replace(SYSTEM, mode="bursting"), TIERED, "Archive takes elastic"),
        (replace(SYSTEM, one_zone=f"{REGION}a"), TIERED, "Archive takes elastic"),
    ],
)
def test_what_efs_would_refuse_is_reported_before_the_request(of, system, to, says) -> None:
    world = of(system)
    assert says in world.changer.refusal(world.resource, to)
    assert of(SYSTEM).changer.refusal(world.resource, to) is None


class VirginiaPrices(PackagedPrices):
    """The packaged prices of us-east-1 for every region, because they include Infrequent Access."""

    def of(self, items: Any, _region: str) -> Any:
        return super().of(items, "us-east-1")


def test_a_lifecycle_that_is_put_back_leaves_files_where_they_are_and_says_what_that_costs(of) -> None:
    world = of(replace(SYSTEM, mode="bursting", ia_bytes=30 * GIB, archive_bytes=2 * GIB))
    changer = EfsChanger(world.reading, world.asking, VirginiaPrices)
    (cold, archived) = changer.left_behind(world.resource, TIERED, NEVER)
    assert cold.startswith("30 GiB stay in Infrequent Access, at $")
    assert re.search(r"at \$0\.\d+ \(as of \d{4}-\d\d-\d\d\) a GiB-month and .* for each GiB that is read back", cold)
    assert cold.endswith("EFS moves none of it back to Standard by itself")
    assert archived.startswith("2 GiB stay in Archive, at ")
    (kept, _) = changer.left_behind(world.resource, NEVER, TIERED)
    assert kept.endswith("EFS moves a file back to Standard when it is read")
    assert world.asked == {"elasticfilesystem:DescribeFileSystems"}


def test_nothing_is_left_behind_without_colder_files_nor_by_another_setting(of) -> None:
    warm = of(replace(SYSTEM, ia_bytes=0))
    assert list(warm.changer.left_behind(warm.resource, TIERED, NEVER)) == []
    cold = of(SYSTEM)
    assert list(cold.changer.left_behind(cold.resource, ELASTIC, FAST)) == []
    (unpriced,) = cold.changer.left_behind(cold.resource, TIERED, NEVER)
    assert "at a price that is not known here a GiB-month" in unpriced


def test_a_setting_of_something_else_and_a_file_system_that_is_gone_are_errors(world) -> None:
    volume = VolumeSetting(volume_type="gp3", iops=None, throughput_mib_s=None)
    with pytest.raises(AwsError, match="no setting of an EFS"):
        world.changer.setting(world.resource, volume)
    with pytest.raises(AwsError, match="no setting of an EFS"):
        world.changer.change(world.resource, volume)
    gone = replace(world.resource, id="fs-9")
    for call in (world.changer.setting, world.changer.refusal):
        with pytest.raises(AwsError, match="there is no file system fs-9"):
            call(gone, ELASTIC)


def test_a_change_is_asked_for_once(world) -> None:
    world.sim.faults.drop("elasticfilesystem:UpdateFileSystem")
    with pytest.raises(AwsError):
        world.changer.change(world.resource, FAST)
    assert world.sim.calls == {"elasticfilesystem:UpdateFileSystem": 1}
