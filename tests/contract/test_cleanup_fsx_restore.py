"""FSx under clean-up, against a simulated account: how what was deleted comes back, and with what in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from fsx_world import BUILDS, DATA, DEEP, FLEET, HOME, ONTAP, REGION, WORK, ZFS, ZFS_CHILD, Canned, World, removing, sessions
from slackwater.aws.errors import AccessDeniedError, AwsError, UnreachableError
from slackwater.aws.fsx_refill import Refill
from slackwater.aws.fsx_requests import RESTORED_FROM, system_differences, system_request, tags_request, volume_request
from slackwater.model.cleanup import ACT_AFTER, MARK, Cleanup, Part, Restored
from slackwater_simulator import Simulator


@pytest.fixture
def world() -> Iterator[World]:
    with Simulator(FLEET) as sim:
        yield sessions(sim)


def described(world: World, id: str) -> Any:
    return world.reading.client("fsx", REGION).describe_file_systems(FileSystemIds=[id])["FileSystems"][0]


def volumes(world: World, id: str) -> dict[tuple[str, str], Any]:
    """Volumes of a file system by the names of their machine (or none) and their own, without the roots of machines."""
    machines = {one.id: one.name for one in world.account.fleet.svms}
    return {
        (machines.get(one.svm_id, ""), one.name): one
        for one in world.account.fleet.fsx_volumes
        if one.file_system_id == id and not one.detail.get("root")
    }


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
    assert world.account.contents(volumes(world, restored.id)["", "shots"].id) == child
    now = described(world, restored.id)
    for name in ("StorageCapacity", "StorageType", "SubnetIds", "KmsKeyId", "FileSystemType"):
        assert now[name] == was[name]
    others = {"RootVolumeId", "EndpointIpAddress"}
    assert {k: v for k, v in now["OpenZFSConfiguration"].items() if k not in others} == {
        k: v for k, v in was["OpenZFSConfiguration"].items() if k not in others
    }
    assert {tag["Key"]: tag["Value"] for tag in now["Tags"]} == {**ZFS.tags, RESTORED_FROM: ZFS.id}
    assert world.watcher.record(replace(cleanup.resource, id=restored.id))["security_group_ids"] == ["sg-0a", "sg-0b"]
    said = " | ".join(restored.differences)
    for word in (restored.id, ZFS.id, "DNS name", "snapshots", RESTORED_FROM):
        assert word in said


def test_an_openzfs_file_system_that_is_there_is_as_it_was(world: World) -> None:
    cleanup = world.begun(ZFS)

    assert world.restorer.restore(cleanup) == Restored(state="done", id=ZFS.id, arn=cleanup.resource.arn)
    assert world.asked("CreateFileSystemFromBackup") == 0


def test_one_that_was_asked_to_go_and_shows_is_looked_at_again(world: World) -> None:
    """FSx may show what it deleted a moment ago."""
    cleanup = world.begun(ZFS)
    part = Part(kind="file-system", id=ZFS.id, arn=cleanup.resource.arn)
    cleanup = removing(cleanup, part)
    world.remover.remove(cleanup.resource, part)
    world.sim.faults.lagging("fsx:DescribeFileSystems", times=1)

    restored = world.restorer.restore(cleanup)

    assert (restored.state, restored.id) == ("running", ZFS.id)
    end = world.back(replace(cleanup, restored=restored))
    assert end.state == "done"
    assert end.id != ZFS.id


def test_one_whose_removal_was_never_heard_is_there(world: World) -> None:
    cleanup = removing(world.begun(ZFS), Part(kind="file-system", id=ZFS.id, arn="arn"))

    restored = world.back(cleanup)

    assert (restored.state, restored.id, restored.differences) == ("done", ZFS.id, ())
    assert world.systems("OPENZFS") == [ZFS.id]


def test_one_that_is_going_is_waited_for(world: World) -> None:
    cleanup = removing(world.begun(ZFS), Part(kind="file-system", id=ZFS.id, arn="arn"))
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
    if lagging:  # then the token tells, not the tag
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
    unverified = replace(cleanup, backups=tuple(replace(one, state="complete") for one in cleanup.backups))

    assert world.restorer.restore(unverified).why == "there is no verified backup of it"
    assert world.restorer.restore(replace(cleanup, backups=(), scratch=True)).why == "it was deleted without a backup"
    assert world.restorer.restore(replace(cleanup, recorded=None)).why == "what it was like was not recorded"
    assert world.systems("OPENZFS") == []


def test_a_backup_that_is_gone_is_said(world: World) -> None:
    cleanup = world.without(world.begun(ZFS))
    world.account.drop_backup(cleanup.backups[0].id)

    restored = world.restorer.restore(cleanup)

    assert restored.state == "failed"
    assert "BackupNotFound" in str(restored.why)


def test_what_may_pass_or_be_mended_is_an_error_and_nothing_is_lost(world: World) -> None:
    cleanup = world.without(world.begun(ZFS))
    world.sim.faults.deny("fsx:CreateFileSystemFromBackup")
    with pytest.raises(AccessDeniedError):
        world.restorer.restore(cleanup)
    world.sim.faults.allow("fsx:CreateFileSystemFromBackup")
    world.sim.faults.error("fsx:CreateFileSystemFromBackup", "InternalServerError", 500, times=1)
    with pytest.raises(AwsError):
        world.restorer.restore(cleanup)

    assert world.back(cleanup).state == "done"


def test_one_that_fsx_gave_up_is_said_and_another_is_made_when_asked_again(world: World) -> None:
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


def test_one_that_vanished_while_it_was_made_is_said(world: World) -> None:
    cleanup = world.without(world.begun(ZFS))
    begun = world.restorer.restore(cleanup)
    assert begun.id is not None
    world.account.remove(begun.id)

    failed = world.restorer.restore(replace(cleanup, restored=begun))

    assert (failed.state, failed.id) == ("failed", begun.id)
    second = world.back(replace(cleanup, restored=failed))
    assert second.state == "done"
    assert second.id != begun.id


# --- ONTAP, gone


def contents(world: World) -> dict[str, str]:
    return {one.id: world.account.contents(one.id) for one in (DATA, DEEP, BUILDS)}


def test_an_ontap_file_system_comes_back_with_its_machines_and_volumes(world: World) -> None:
    was, held = described(world, ONTAP.id), contents(world)
    cleanup = world.without(world.begun(ONTAP))
    assert not world.account.exists(ONTAP.id)

    restored = world.back(cleanup)

    assert restored.state == "done", restored.why
    assert restored.id is not None
    now = described(world, restored.id)
    for name in ("StorageCapacity", "StorageType", "SubnetIds", "KmsKeyId"):
        assert now[name] == was[name]
    for name in ("DeploymentType", "ThroughputCapacityPerHAPair", "HAPairs", "AutomaticBackupRetentionDays"):
        assert now["OntapConfiguration"][name] == was["OntapConfiguration"][name]
    there = volumes(world, restored.id)
    assert {names: (one.path, one.size_gib, one.ontap_type) for names, one in there.items()} == {
        ("home", "data"): ("/data", 100, "RW"),
        ("home", "deep"): ("/data/x/deep", 20, "RW"),
        ("work", "builds"): ("/data", 50, "RW"),
    }
    assert {names[1]: world.account.contents(one.id) for names, one in there.items()} == {
        "data": held[DATA.id],
        "deep": held[DEEP.id],
        "builds": held[BUILDS.id],
    }
    assert there["home", "data"].tags == {"Name": "data", RESTORED_FROM: DATA.id}
    (home,) = [one for one in world.account.fleet.svms if one.name == "home"]
    assert home.tags == {"Team": "a", RESTORED_FROM: HOME.id}
    said = " | ".join(restored.differences)
    for word in (restored.id, "fsxadmin", "storage virtual machine work", "export policies", DATA.id, "snapshots"):
        assert word in said


def test_a_volume_below_another_waits_for_it(world: World) -> None:
    cleanup = world.without(world.begun(ONTAP))
    asked = []
    world.sim.before("fsx:CreateVolumeFromBackup", lambda: asked.append(world.account.now))

    assert world.back(cleanup).state == "done"

    assert len(asked) == 3
    assert asked[0] == asked[1]
    assert asked[2] >= asked[0] + 1_800


@pytest.mark.parametrize("action", ["CreateFileSystem", "CreateStorageVirtualMachine", "CreateVolumeFromBackup"])
@pytest.mark.parametrize("lagging", [False, True])
def test_an_answer_that_was_lost_makes_no_part_twice(world: World, action: str, *, lagging: bool) -> None:
    cleanup = world.without(world.begun(ONTAP))
    world.sim.faults.lost_answer(f"fsx:{action}", times=1)
    lost = 0
    for _ in range(14):
        try:
            restored = world.restorer.restore(cleanup)
        except UnreachableError:
            lost += 1
            if lagging:
                for describe in ("FileSystems", "StorageVirtualMachines", "Volumes"):
                    world.sim.faults.lagging(f"fsx:Describe{describe}", times=1)
            continue
        cleanup = replace(cleanup, restored=restored)
        if restored.state != "running":
            break
        world.sim.advance(600)

    assert lost == 1
    assert cleanup.restored is not None
    assert cleanup.restored.state == "done", cleanup.restored.why
    assert len(world.systems("ONTAP")) == 1
    assert sorted(one.name for one in world.account.fleet.svms) == ["home", "work"]
    assert len(volumes(world, str(cleanup.restored.id))) == 3


def test_every_step_of_it_may_be_taken_twice(world: World) -> None:
    cleanup = world.without(world.begun(ONTAP))
    for _ in range(14):
        restored = world.restorer.restore(cleanup)
        assert world.restorer.restore(cleanup) == restored
        if restored.state != "running":
            break
        cleanup = replace(cleanup, restored=restored)
        world.sim.advance(600)

    assert restored.state == "done"
    assert len(world.systems("ONTAP")) == 1
    assert len(volumes(world, str(restored.id))) == 3


def test_a_volume_without_a_backup_is_said_once_all_else_is_there(world: World) -> None:
    cleanup = world.without(world.begun(ONTAP))
    kept = tuple(one for one in cleanup.backups if one.subject.id != BUILDS.id)

    restored = world.back(replace(cleanup, backups=kept))

    assert restored.state == "failed"
    assert f"no verified backup of builds ({BUILDS.id}); all else is there" in str(restored.why)
    assert sorted(names[1] for names in volumes(world, str(restored.id))) == ["data", "deep"]


# --- ONTAP, still there


def test_volumes_that_were_removed_are_put_back_and_no_others(world: World) -> None:
    held = contents(world)
    cleanup = world.begun(ONTAP)
    for volume in (DEEP, DATA):
        part = Part(kind="fsx-volume", id=volume.id, arn="arn")
        cleanup = removing(cleanup, part)
        world.remover.remove(cleanup.resource, part)
    world.sim.advance(700)

    restored = world.back(cleanup)

    assert (restored.state, restored.id) == ("done", ONTAP.id), restored.why
    there = volumes(world, ONTAP.id)
    assert there["work", "builds"].id == BUILDS.id
    assert world.account.contents(there["home", "data"].id) == held[DATA.id]
    assert world.account.contents(there["home", "deep"].id) == held[DEEP.id]
    assert there["home", "data"].svm_id == HOME.id
    assert world.asked("CreateStorageVirtualMachine") == world.asked("CreateFileSystem") == 0
    assert world.systems("ONTAP") == [ONTAP.id]
    assert len(restored.differences) == 2
    assert all("fsvol-" in one and "snapshots" in one for one in restored.differences)


def test_what_is_going_is_waited_for_and_not_made_beside(world: World) -> None:
    cleanup = world.begun(ONTAP)
    part = Part(kind="fsx-volume", id=BUILDS.id, arn="arn")
    cleanup = removing(cleanup, part)
    world.remover.remove(cleanup.resource, part)

    restored = world.restorer.restore(cleanup)

    assert restored.state == "running"
    assert world.asked("CreateVolumeFromBackup") == 0
    assert world.back(replace(cleanup, restored=restored)).state == "done"


def test_machines_that_were_removed_are_put_back_with_their_volumes(world: World) -> None:
    held = contents(world)
    cleanup = world.without(world.begun(ONTAP), "fsx-volume", "storage-virtual-machine")

    restored = world.back(cleanup)

    assert (restored.state, restored.id) == ("done", ONTAP.id), restored.why
    there = volumes(world, ONTAP.id)
    assert sorted(there) == [("home", "data"), ("home", "deep"), ("work", "builds")]
    assert world.account.contents(there["work", "builds"].id) == held[BUILDS.id]
    assert there["work", "builds"].svm_id != WORK.id
    assert any("export policies" in one for one in restored.differences)


def test_a_volume_whose_removal_was_never_heard_is_as_it_was(world: World) -> None:
    cleanup = removing(world.begun(ONTAP), Part(kind="fsx-volume", id=DATA.id, arn="arn"))

    first = world.restorer.restore(cleanup)

    assert first.state == "running", "it may be on its way out, and not show it yet"
    assert world.back(replace(cleanup, restored=first)) == Restored(state="done", id=ONTAP.id, arn=cleanup.resource.arn)


def test_a_volume_that_somebody_else_deleted_is_not_ours_to_bring_back(world: World) -> None:
    cleanup = removing(world.begun(ONTAP), Part(kind="fsx-volume", id=DEEP.id, arn="arn"))
    world.account.remove(BUILDS.id)
    world.account.remove(DEEP.id)

    assert world.back(cleanup).state == "done"
    assert sorted(volumes(world, ONTAP.id)) == [("home", "data"), ("home", "deep")]


def test_a_volume_of_somebody_elses_in_its_place_is_not_taken_for_it(world: World) -> None:
    cleanup = removing(world.begun(ONTAP), Part(kind="fsx-volume", id=BUILDS.id, arn="arn"))
    world.account.remove(BUILDS.id)
    world.put(replace(BUILDS, id="fsvol-0fffffffffffffff1"))

    restored = world.back(cleanup)

    assert restored.state == "failed"
    assert "has a volume builds" in str(restored.why)


@pytest.mark.parametrize("one", ["machine", "volume"])
def test_what_cannot_be_made_is_said(world: World, one: str) -> None:
    cleanup = world.without(world.begun(ONTAP), "fsx-volume", "storage-virtual-machine")
    name = "fsx:CreateStorageVirtualMachine" if one == "machine" else "fsx:CreateVolumeFromBackup"
    world.sim.faults.error(name, "ServiceLimitExceeded", 400, times=1)

    restored = world.back(cleanup)

    assert restored.state == "failed"
    assert "ServiceLimitExceeded" in str(restored.why)
    assert world.back(replace(cleanup, restored=restored)).state == "done", "once it is asked again"


def test_a_volume_that_fsx_gave_up_is_said(world: World) -> None:
    cleanup = world.without(world.begun(ONTAP), "fsx-volume")
    restored = world.restorer.restore(cleanup)
    world.put(volumes(world, ONTAP.id)["home", "data"], phase="FAILED")

    failed = world.restorer.restore(replace(cleanup, restored=restored))

    assert failed.state == "failed"
    assert "is failed: FSx does not say why; delete it, and ask again" in str(failed.why)


@pytest.mark.parametrize(("status", "waits"), [("IN_PROGRESS", True), ("COMPLETED", False)])
def test_a_volume_is_back_once_its_data_is(world: World, status: str, *, waits: bool) -> None:
    cleanup = removing(world.begun(ONTAP), Part(kind="fsx-volume", id=DATA.id, arn="arn"))
    machine = {"StorageVirtualMachineId": HOME.id, "FileSystemId": ONTAP.id, "Name": "home", "Lifecycle": "CREATED"}
    volume = {
        "VolumeId": "fsvol-1",
        "FileSystemId": ONTAP.id,
        "Lifecycle": "CREATED",
        "Tags": [{"Key": RESTORED_FROM, "Value": DATA.id}],
        "AdministrativeActions": [{"AdministrativeActionType": "DOWNLOAD_DATA_FROM_BACKUP", "Status": status}],
    }
    system = described(world, ONTAP.id)
    session: Any = Canned(
        describe_file_systems={"FileSystems": [system]},
        describe_storage_virtual_machines={"StorageVirtualMachines": [machine]},
        describe_volumes={"Volumes": [volume]},
    )

    refilled = Refill(session, session, cleanup, system).step()

    assert refilled.waits is waits
    assert refilled.volumes == ({} if waits else {DATA.id: "fsvol-1"})


# --- What is asked for


RECORDED: dict[str, Any] = {
    "system": {
        "FileSystemType": "OPENZFS",
        "StorageType": "SSD",
        "SubnetIds": ["subnet-1"],
        "KmsKeyId": "key",
        "Tags": {"Name": "x", MARK: "f", ACT_AFTER: "t", "aws:cloudformation:stack-name": "s"},
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


def test_of_ontaps_throughput_one_figure_is_asked_for() -> None:
    settings = {
        "DeploymentType": "SINGLE_AZ_2",
        "ThroughputCapacity": 3_072,
        "ThroughputCapacityPerHAPair": 1_536,
        "HAPairs": 2,
    }
    system = RECORDED["system"] | {"FileSystemType": "ONTAP", "OntapConfiguration": settings}

    asked = system_request(RECORDED | {"system": system}, "fs-1")

    assert asked["OntapConfiguration"] == {key: settings[key] for key in settings if key != "ThroughputCapacity"}


def test_what_is_lost_with_the_file_system_is_said() -> None:
    said = list(system_differences(RECORDED, "fs-1", {"FileSystemId": "fs-2", "DNSName": "fs-2.fsx"}))

    assert any("aws:cloudformation:stack-name" in one for one in said)
    assert any("security groups were not known" in one for one in said)


VOLUME: dict[str, Any] = {
    "VolumeId": "fsvol-1",
    "Name": "big",
    "Tags": {},
    "OntapConfiguration": {
        "StorageVirtualMachineId": "svm-1",
        "JunctionPath": "/big",
        "SizeInMegabytes": 1_024,
        "TieringPolicy": {"Name": "ALL", "CoolingPeriod": 31},
        "SnapshotPolicy": "hourly-of-ours",
        "VolumeStyle": "FLEXGROUP",
        "AggregateConfiguration": {"Aggregates": ["aggr1", "aggr2"], "TotalConstituents": 16},
    },
}


def test_a_volume_is_asked_for_as_fsx_takes_it() -> None:
    assert volume_request(VOLUME, "svm-2", anew=True) == {
        "Name": "big",
        "OntapConfiguration": {
            "StorageVirtualMachineId": "svm-2",
            "JunctionPath": "/big",
            "SizeInMegabytes": 1_024,
            "OntapVolumeType": "RW",
            "TieringPolicy": {"Name": "ALL"},
            "SnapshotPolicy": "default",
            "VolumeStyle": "FLEXGROUP",
            "AggregateConfiguration": {"Aggregates": ["aggr1", "aggr2"], "ConstituentsPerAggregate": 8},
        },
        "Tags": [{"Key": RESTORED_FROM, "Value": "fsvol-1"}],
    }


def test_on_the_same_file_system_a_volume_keeps_its_snapshot_policy() -> None:
    settings = VOLUME["OntapConfiguration"] | {"SizeInBytes": 1 << 30, "TieringPolicy": {"Name": "AUTO", "CoolingPeriod": 31}}

    asked = volume_request(VOLUME | {"OntapConfiguration": settings}, "svm-1", anew=False)["OntapConfiguration"]

    assert asked["SnapshotPolicy"] == "hourly-of-ours"
    assert asked["TieringPolicy"] == {"Name": "AUTO", "CoolingPeriod": 31}
    assert asked["SizeInBytes"] == 1 << 30
    assert "SizeInMegabytes" not in asked


def test_the_mark_does_not_come_back() -> None:
    assert tags_request({MARK: "f", ACT_AFTER: "t", "aws:x": "y", "keep": "1"}, "fs-1") == [
        {"Key": "keep", "Value": "1"},
        {"Key": RESTORED_FROM, "Value": "fs-1"},
    ]


def test_a_joined_machine_says_so(world: World) -> None:
    cleanup: Cleanup = world.begun(ONTAP)
    assert cleanup.recorded is not None
    joined = [{**one, "joined": "corp.example"} for one in cleanup.recorded["machines"]]
    cleanup = replace(cleanup, recorded={**cleanup.recorded, "machines": joined})

    restored = world.back(world.without(cleanup))

    assert sum("has not joined the Active Directory corp.example" in one for one in restored.differences) == 2
