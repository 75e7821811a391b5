"""FSx clean-up against a simulated account: restoring deleted file systems with their data."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from slackwater.aws.cleanup.fsx.requests import system_differences, system_request, tags_request, volume_differences
from slackwater.model.cleanup import ACT_AFTER, CLEANUP_TAG, RESTORED_FROM, Restored, SubResource
from slackwater.ports.errors import AccessDeniedError, AwsError, UnreachableError
from slackwater_simulator import Simulator
from support.fsx_world import FLEET, REGION, ZFS, ZFS_CHILD, World, removing, sessions


@pytest.fixture
def world() -> Iterator[World]:
    with Simulator(FLEET) as sim:
        yield sessions(sim)


def described(world: World, id: str) -> Any:
    return world.reading.client("fsx", REGION).describe_file_systems(FileSystemIds=[id])["FileSystems"][0]


def volumes(world: World, id: str) -> dict[str, Any]:
    """Return the volumes of a file system by name."""
    return {one.name: one for one in world.account.fleet.fsx_volumes if one.file_system_id == id}


# --- OpenZFS


def test_an_openzfs_file_system_comes_back_with_what_was_in_it(world: World) -> None:
    was, held = described(world, ZFS.id), world.account.contents(ZFS.id)
    child = world.account.contents(ZFS_CHILD.id)
    cleanup = world.without(world.begun(ZFS))
    assert not world.account.exists(ZFS.id)

    restored = world.back(cleanup)

    assert restored.state == "done"
    assert restored.id is not None
    assert restored.id != ZFS.id
    assert restored.arn == f"arn:aws:fsx:{REGION}:123456789012:file-system/{restored.id}"
    assert world.account.contents(restored.id) == held
    assert world.account.contents(volumes(world, restored.id)["shots"].id) == child
    now = described(world, restored.id)
    for name in ("StorageCapacity", "StorageType", "SubnetIds", "KmsKeyId", "FileSystemType"):
        assert now[name] == was[name]
    others = {"RootVolumeId", "EndpointIpAddress"}
    assert {k: v for k, v in now["OpenZFSConfiguration"].items() if k not in others} == {
        k: v for k, v in was["OpenZFSConfiguration"].items() if k not in others
    }
    assert {tag["Key"]: tag["Value"] for tag in now["Tags"]} == {**ZFS.tags, RESTORED_FROM: cleanup.backups[0].id}
    assert world.watcher.record(replace(cleanup.resource, id=restored.id))["security_group_ids"] == ["sg-0a", "sg-0b"]
    reported = " | ".join(restored.differences)
    for word in (restored.id, ZFS.id, "DNS name", "snapshots", RESTORED_FROM):
        assert word in reported


def test_an_openzfs_file_system_that_is_there_is_as_it_was(world: World) -> None:
    cleanup = world.begun(ZFS)

    assert world.restorer.restore(cleanup) == Restored(state="done", id=ZFS.id, arn=cleanup.resource.arn)
    assert world.asked("CreateFileSystemFromBackup") == 0


def test_one_that_was_asked_to_go_and_shows_is_looked_at_again(world: World) -> None:
    """FSx can still show a file system that it has just deleted."""
    cleanup = world.begun(ZFS)
    part = SubResource(kind="file-system", id=ZFS.id, arn=cleanup.resource.arn)
    cleanup = removing(cleanup, part)
    world.remover.remove(cleanup.resource, part)
    world.sim.faults.lagging("fsx:DescribeFileSystems", times=1)

    restored = world.restorer.restore(cleanup)

    assert (restored.state, restored.id) == ("running", ZFS.id)
    end = world.back(replace(cleanup, restored=restored))
    assert end.state == "done"
    assert end.id != ZFS.id


def test_one_whose_removal_was_never_heard_is_there(world: World) -> None:
    cleanup = removing(world.begun(ZFS), SubResource(kind="file-system", id=ZFS.id, arn="arn"))

    restored = world.back(cleanup)

    assert (restored.state, restored.id, restored.differences) == ("done", ZFS.id, ())
    assert world.systems("OPENZFS") == [ZFS.id]


def test_one_that_is_going_is_waited_for(world: World) -> None:
    cleanup = removing(world.begun(ZFS), SubResource(kind="file-system", id=ZFS.id, arn="arn"))
    world.remover.remove(cleanup.resource, cleanup.removals[0].part)

    assert world.restorer.restore(cleanup) == Restored(state="running")
    assert world.asked("CreateFileSystemFromBackup") == 0


def test_asked_again_before_it_was_recorded_it_is_made_once(world: World) -> None:
    cleanup = world.without(world.begun(ZFS))

    first = world.restorer.restore(cleanup)
    again = world.restorer.restore(cleanup)
    world.sim.advance(2_000)
    late = world.restorer.restore(cleanup)

    assert first.id == again.id == late.id
    assert late.state == "done"
    assert world.systems("OPENZFS") == [first.id]


@pytest.mark.parametrize("lagging", [False, True])
def test_an_answer_that_was_lost_makes_nothing_twice(world: World, *, lagging: bool) -> None:
    cleanup = world.without(world.begun(ZFS))
    world.sim.faults.lost_answer("fsx:CreateFileSystemFromBackup", times=1)

    with pytest.raises(UnreachableError):
        world.restorer.restore(cleanup)
    assert world.asked("CreateFileSystemFromBackup") == 1, "it asks once"
    if lagging:  # FSx then recognizes the second request by its token, as the tag cannot be read yet
        world.sim.faults.lagging("fsx:DescribeFileSystems", times=2)
    restored = world.back(cleanup)

    assert restored.state == "done"
    assert world.systems("OPENZFS") == [restored.id]
    assert world.asked("CreateFileSystemFromBackup") == (2 if lagging else 1)


def test_a_token_is_one_clean_ups_and_one_attempts(world: World) -> None:
    cleanup = world.without(world.begun(ZFS))
    first = world.back(cleanup)
    assert first.id is not None
    world.account.untag(first.id, RESTORED_FROM)

    other = world.back(replace(cleanup, attempt=2))

    assert other.state == "done"
    assert other.id != first.id


def test_without_a_verified_backup_nothing_is_made(world: World) -> None:
    cleanup = world.without(world.begun(ZFS))
    verification_error = replace(cleanup, backups=tuple(replace(one, state="complete") for one in cleanup.backups))

    assert world.restorer.restore(verification_error).why == "there is no verified backup of it"
    assert world.restorer.restore(replace(cleanup, backups=(), scratch=True)).why == "it was deleted without a backup"
    assert world.restorer.restore(replace(cleanup, recorded=None)).why == "what it was like was not recorded"
    assert world.systems("OPENZFS") == []


def test_a_deleted_backup_is_reported(world: World) -> None:
    cleanup = world.without(world.begun(ZFS))
    world.account.drop_backup(cleanup.backups[0].id)

    restored = world.restorer.restore(cleanup)

    assert restored.state == "failed"
    assert "BackupNotFound" in str(restored.why)


def test_a_temporary_or_fixable_problem_is_an_error_and_nothing_is_lost(world: World) -> None:
    cleanup = world.without(world.begun(ZFS))
    world.sim.faults.deny("fsx:CreateFileSystemFromBackup")
    with pytest.raises(AccessDeniedError):
        world.restorer.restore(cleanup)
    world.sim.faults.allow("fsx:CreateFileSystemFromBackup")
    world.sim.faults.error("fsx:CreateFileSystemFromBackup", "InternalServerError", 500, times=1)
    with pytest.raises(AwsError):
        world.restorer.restore(cleanup)

    assert world.back(cleanup).state == "done"


def test_a_restore_that_fsx_gave_up_is_reported_and_the_next_undo_starts_another(world: World) -> None:
    cleanup = world.without(world.begun(ZFS))
    begun = world.restorer.restore(cleanup)
    assert begun.id is not None
    world.put(world.account.find(begun.id), phase="FAILED")

    failed = world.restorer.restore(replace(cleanup, restored=begun))

    assert (failed.state, failed.id) == ("failed", begun.id)
    assert f"{begun.id} was made, and is failed" in str(failed.why)
    second = world.back(replace(cleanup, restored=failed))
    assert second.state == "done"
    assert second.id != begun.id


def test_a_file_system_that_was_deleted_while_fsx_made_it_is_reported(world: World) -> None:
    cleanup = world.without(world.begun(ZFS))
    begun = world.restorer.restore(cleanup)
    assert begun.id is not None
    world.account.remove(begun.id)

    failed = world.restorer.restore(replace(cleanup, restored=begun))

    assert (failed.state, failed.id) == ("failed", begun.id)
    second = world.back(replace(cleanup, restored=failed))
    assert second.state == "done"
    assert second.id != begun.id


# --- What the requests contain ----------------------------------------------------------------------------------------


RECORDED: dict[str, Any] = {
    "system": {
        "FileSystemType": "OPENZFS",
        "StorageType": "SSD",
        "SubnetIds": ["subnet-1"],
        "KmsKeyId": "key",
        "Tags": {"Name": "x", CLEANUP_TAG: "f", ACT_AFTER: "t", "aws:cloudformation:stack-name": "s"},
        "OpenZFSConfiguration": {
            "DeploymentType": "SINGLE_AZ_1",
            "ThroughputCapacity": 64,
            "PreferredSubnetId": "subnet-1",
            "AutomaticBackupRetentionDays": 0,
            "DailyAutomaticBackupStartTime": "18:00",
            "DiskIopsConfiguration": {"Mode": "AUTOMATIC", "Iops": 192},
            "ReadCacheConfiguration": {"SizingMode": "NO_CACHE", "SizeGiB": 0},
        },
    },
    "security_group_ids": [],
}


def test_what_fsx_refuses_is_not_asked_for() -> None:
    assert system_request(RECORDED, "fs-1") == {
        "SubnetIds": ["subnet-1"],
        "StorageType": "SSD",
        "KmsKeyId": "key",
        "Tags": [{"Key": "Name", "Value": "x"}, {"Key": RESTORED_FROM, "Value": "fs-1"}],
        "OpenZFSConfiguration": {
            "DeploymentType": "SINGLE_AZ_1",
            "ThroughputCapacity": 64,
            "AutomaticBackupRetentionDays": 0,
            "DiskIopsConfiguration": {"Mode": "AUTOMATIC"},
            "ReadCacheConfiguration": {"SizingMode": "NO_CACHE"},
        },
    }


def test_what_was_chosen_is_asked_for() -> None:
    chosen = {
        "DeploymentType": "MULTI_AZ_1",
        "ThroughputCapacity": 160,
        "PreferredSubnetId": "subnet-1",
        "EndpointIpAddressRange": "10.0.0.0/28",
        "RouteTableIds": ["rtb-1"],
        "AutomaticBackupRetentionDays": 7,
        "DailyAutomaticBackupStartTime": "18:00",
        "DiskIopsConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 5_000},
        "ReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED", "SizeGiB": 64},
    }
    system = RECORDED["system"] | {"OpenZFSConfiguration": chosen, "NetworkType": "DUAL"}
    asked = system_request(RECORDED | {"system": system, "security_group_ids": ["sg-1"]}, "fs-1")

    assert asked["OpenZFSConfiguration"] == chosen
    assert (asked["SecurityGroupIds"], asked["NetworkType"]) == (["sg-1"], "DUAL")


def test_what_is_lost_with_the_file_system_is_reported() -> None:
    reported = list(system_differences(RECORDED, "fs-1", {"FileSystemId": "fs-2", "DNSName": "fs-2.fsx"}))

    assert any("aws:cloudformation:stack-name" in one for one in reported)
    assert any("security groups were not known" in one for one in reported)


def test_the_cleanup_tag_is_not_restored() -> None:
    assert tags_request({CLEANUP_TAG: "f", ACT_AFTER: "t", "aws:x": "y", "keep": "1"}, "fs-1") == [
        {"Key": "keep", "Value": "1"},
        {"Key": RESTORED_FROM, "Value": "fs-1"},
    ]


def test_a_volume_that_did_not_come_back_or_has_other_exports_is_named() -> None:
    exports = [{"ClientConfigurations": [{"Clients": "10.0.0.0/16", "Options": ["rw"]}]}]
    recorded = {
        "volume_settings": {"/fsx": {}, "/fsx/home": {"NfsExports": exports}, "/fsx/old": {"RecordSizeKiB": 128}}
    }
    back = [
        {"OpenZFSConfiguration": {"VolumePath": "/fsx", "NfsExports": []}},
        {"OpenZFSConfiguration": {"VolumePath": "/fsx/home", "UserAndGroupQuotas": [{"Type": "USER", "Id": 1}]}},
    ]

    assert list(volume_differences(recorded, back)) == [
        "its volume /fsx/home has other settings than before: NFS exports, user and group quotas",
        "its volume /fsx/old is not there",
    ]
    assert list(volume_differences({}, back)) == []
