"""FSx under clean-up, against a simulated account, and against answers that it does not give: look, mark, record, delete."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fsx_world import (
    ACCOUNT,
    BUILDS,
    DATA,
    DEEP,
    EARLIER,
    FLEET,
    HOME,
    ONTAP,
    REGION,
    WINDOWS,
    WORK,
    ZFS,
    ZFS_CHILD,
    Canned,
    World,
    sessions,
    tracked,
)
from slackwater.aws.cleanup_fsx import REMOVER_ACTIONS, FsxRemover, FsxWatcher
from slackwater.aws.errors import AccessDeniedError, AwsError, BrokenAnswerError, UnreachableError
from slackwater.aws.fsx_parts import FsxParts, held
from slackwater.model.cleanup import ACT_AFTER, MARK, Part
from slackwater.model.units import GIB
from slackwater_simulator import Simulator

MARKED = {MARK: "0123456789abcdef", ACT_AFTER: "2026-12-01T00:00:00Z"}


@pytest.fixture
def world() -> Iterator[World]:
    with Simulator(FLEET) as sim:
        yield sessions(sim)


def ids(parts: tuple[Part, ...]) -> list[str]:
    return [part.id for part in parts]


def refusal(code: str, operation: str = "DescribeFileSystems") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": 400}}, operation)  # type: ignore[arg-type]


# --- Look


def test_an_openzfs_file_system_goes_as_one(world: World) -> None:
    look = world.watcher.look(tracked(ZFS.id))

    assert look is not None
    assert look.parts == (Part(kind="file-system", id=ZFS.id, arn=tracked(ZFS.id).arn),)
    assert look.born_at == datetime.fromtimestamp(EARLIER, UTC)
    assert look.tags == {"Name": "render-farm", "Team": "films"}
    assert look.size_bytes == 128 * GIB
    assert look.held is None


def test_an_ontap_file_system_goes_part_by_part_what_is_mounted_below_others_first(world: World) -> None:
    look = world.watcher.look(tracked(ONTAP.id))

    assert look is not None
    assert ids(look.parts) == [DEEP.id, DATA.id, BUILDS.id, HOME.id, WORK.id, ONTAP.id]
    assert [part.kind for part in look.parts] == ["fsx-volume"] * 3 + ["storage-virtual-machine"] * 2 + ["file-system"]
    assert look.parts[0].arn == f"arn:aws:fsx:{REGION}:{ACCOUNT}:volume/{ONTAP.id}/{DEEP.id}"
    assert look.size_bytes == 170 * GIB, "what is to be backed up, not what the file system could hold"
    assert look.held is None


def test_what_is_on_its_way_out_is_going_and_not_counted(world: World) -> None:
    world.put(DEEP, phase="DELETING")

    look = world.watcher.look(tracked(ONTAP.id))

    assert look is not None
    assert [part.id for part in look.parts if part.going] == [DEEP.id]
    assert look.size_bytes == 150 * GIB
    assert look.held is None


@pytest.mark.parametrize("system", [ZFS, ONTAP])
def test_of_a_file_system_that_is_being_deleted_only_itself_is_left(world: World, system: Any) -> None:
    world.put(system, phase="DELETING")

    look = world.watcher.look(tracked(system.id))

    assert look is not None
    assert look.parts == (Part(kind="file-system", id=system.id, arn=tracked(system.id).arn, going=True),)
    assert look.held is None


def test_one_that_is_gone_is_none(world: World) -> None:
    assert world.watcher.look(tracked("fs-00000000000000000")) is None


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        ({"FileSystems": []}, BrokenAnswerError),
        ({}, BrokenAnswerError),
        ({"FileSystems": [{"FileSystemId": "fs-1", "Lifecycle": "AVAILABLE"}]}, BrokenAnswerError),
        (refusal("ThrottlingException"), AwsError),
        (refusal("AccessDeniedException"), AccessDeniedError),
    ],
)
def test_what_fsx_does_not_say_is_never_gone(broken: Any, error: type[Exception]) -> None:
    watcher = FsxWatcher(Canned(describe_file_systems=broken))  # type: ignore[arg-type]

    with pytest.raises(error):
        watcher.look(tracked(ZFS.id))


def test_without_its_volumes_there_is_no_look(world: World) -> None:
    world.sim.faults.deny("fsx:DescribeVolumes")

    with pytest.raises(AccessDeniedError):
        world.watcher.look(tracked(ONTAP.id))


def test_windows_can_be_looked_at(world: World) -> None:
    look = world.watcher.look(tracked(WINDOWS.id))

    assert look is not None
    assert ids(look.parts) == [WINDOWS.id]


# --- Held


@pytest.mark.parametrize(
    ("one", "changed", "why"),
    [
        (ZFS, {"phase": "UPDATING"}, "it is updating"),
        (ZFS, {"phase": "MISCONFIGURED"}, "it is misconfigured"),
        (ZFS, {"phase": "FAILED"}, "it is failed"),
        (
            ZFS,
            {"detail": {"actions": [{"AdministrativeActionType": "STORAGE_OPTIMIZATION", "Status": "IN_PROGRESS"}]}},
            f"an administrative action is under way on {ZFS.id}: STORAGE_OPTIMIZATION",
        ),
        (ZFS_CHILD, {"phase": "CREATING"}, f"its volume {ZFS_CHILD.id} is creating"),
    ],
)
def test_openzfs_is_held(world: World, one: Any, changed: dict[str, Any], why: str) -> None:
    world.put(one, **changed)

    look = world.watcher.look(tracked(ZFS.id))

    assert look is not None
    assert look.held == why


@pytest.mark.parametrize(
    ("one", "changed", "why"),
    [
        (DATA, {"ontap_type": "DP"}, f"its volume {DATA.id} is of type DP: replication writes it, and it has no backup"),
        (DATA, {"ontap_type": "LS"}, f"its volume {DATA.id} is of type LS: replication writes it, and it has no backup"),
        (DATA, {"phase": "MISCONFIGURED"}, f"its volume {DATA.id} is misconfigured"),
        (HOME, {"phase": "MISCONFIGURED"}, f"its storage virtual machine {HOME.id} is misconfigured"),
    ],
)
def test_ontap_is_held(world: World, one: Any, changed: dict[str, Any], why: str) -> None:
    world.put(one, **changed)

    look = world.watcher.look(tracked(ONTAP.id))

    assert look is not None
    assert look.held == why


@pytest.mark.parametrize(
    ("system", "part", "name"),
    [(ZFS, ZFS_CHILD, "volume"), (ONTAP, DATA, "volume"), (ONTAP, HOME, "storage virtual machine")],
)
def test_what_a_program_manages_holds_what_it_hangs_on(world: World, system: Any, part: Any, name: str) -> None:
    world.account.tag(part.id, "aws:cloudformation:stack-name", "films")

    look = world.watcher.look(tracked(system.id))

    assert look is not None
    assert look.held == f"its {name} {part.id} is managed by CloudFormation stack films: it has to be changed there"


SYSTEM = {"FileSystemId": "fs-1", "FileSystemType": "ONTAP", "Lifecycle": "AVAILABLE"}
VOLUME = {"VolumeId": "fsvol-1", "VolumeType": "ONTAP", "Lifecycle": "CREATED", "OntapConfiguration": {"OntapVolumeType": "RW"}}
MACHINE = {"StorageVirtualMachineId": "svm-1", "Lifecycle": "CREATED"}


def test_an_ordinary_one_is_not_held() -> None:
    done = {"AdministrativeActions": [{"AdministrativeActionType": "FILE_SYSTEM_UPDATE", "Status": "COMPLETED"}]}

    assert held(FsxParts(SYSTEM | done, (VOLUME,), (MACHINE,))) is None


@pytest.mark.parametrize(
    ("volume", "why"),
    [
        (
            {"OntapConfiguration": {"OntapVolumeType": "RW", "SnaplockConfiguration": {"SnaplockType": "ENTERPRISE"}}},
            "SnapLock",
        ),
        ({"OntapConfiguration": {"OntapVolumeType": "RW", "FlexCacheEndpointType": "ORIGIN"}}, "takes part in a FlexCache"),
        ({"OntapConfiguration": {}}, "is of type unknown"),
        ({"VolumeType": "OPENZFS", "OpenZFSConfiguration": {"SourceSnapshotARN": "arn"}}, "is written by replication"),
        (
            {"VolumeType": "OPENZFS", "OpenZFSConfiguration": {"OriginSnapshot": {"CopyStrategy": "INCREMENTAL_COPY"}}},
            "is written by replication",
        ),
        (
            {"AdministrativeActions": [{"AdministrativeActionType": "VOLUME_UPDATE_WITH_SNAPSHOT", "Status": "PENDING"}]},
            "under way on fsvol-1: VOLUME_UPDATE_WITH_SNAPSHOT",
        ),
    ],
)
def test_volumes_that_are_not_for_us_hold_it(volume: dict[str, Any], why: str) -> None:
    assert why in str(held(FsxParts(SYSTEM, (VOLUME | volume,), (MACHINE,))))


def test_a_storage_virtual_machine_that_replicates_holds_it() -> None:
    replica = MACHINE | {"Subtype": "DP_DESTINATION"}

    assert held(FsxParts(SYSTEM, (VOLUME,), (replica,))) == "its storage virtual machine svm-1 takes part in a replication"


DESCRIBED = {
    **SYSTEM,
    "FileSystemId": ZFS.id,
    "FileSystemType": "OPENZFS",
    "ResourceARN": tracked(ZFS.id).arn,
    "CreationTime": datetime(2026, 1, 1, tzinfo=UTC),
    "StorageCapacity": 64,
    "OpenZFSConfiguration": {"RootVolumeId": "fsvol-1"},
}


def canned(**more: Any) -> Canned:
    answers: dict[str, Any] = {
        "describe_file_systems": {"FileSystems": [DESCRIBED]},
        "describe_volumes": {"Volumes": []},
        "describe_s3_access_point_attachments": {"S3AccessPointAttachments": []},
    }
    return Canned(**answers | more)


def test_attached_s3_access_points_hold_it() -> None:
    attached = {"S3AccessPointAttachments": [{"Name": "in-use", "Lifecycle": "AVAILABLE"}]}

    look = FsxWatcher(canned(describe_s3_access_point_attachments=attached)).look(tracked(ZFS.id))  # type: ignore[arg-type]

    assert look is not None
    assert look.held == "S3 access points are attached to it: in-use"


@pytest.mark.parametrize("code", ["UnsupportedOperation", "S3AccessPointAttachmentNotFound"])
def test_where_there_are_no_s3_access_points_none_are_attached(code: str) -> None:
    look = FsxWatcher(canned(describe_s3_access_point_attachments=refusal(code))).look(tracked(ZFS.id))  # type: ignore[arg-type]

    assert look is not None
    assert look.held is None


def test_whether_s3_access_points_are_attached_has_to_be_known(world: World) -> None:
    world.sim.faults.deny("fsx:DescribeS3AccessPointAttachments")

    with pytest.raises(AccessDeniedError):
        world.watcher.look(tracked(ZFS.id))


def test_intelligent_tiering_provisions_nothing() -> None:
    tiering = {key: value for key, value in DESCRIBED.items() if key != "StorageCapacity"} | {
        "StorageType": "INTELLIGENT_TIERING"
    }
    look = FsxWatcher(canned(describe_file_systems={"FileSystems": [tiering]})).look(tracked(ZFS.id))  # type: ignore[arg-type]

    assert look is not None
    assert look.size_bytes == 0


def test_a_size_that_is_not_there_is_no_size() -> None:
    broken = {key: value for key, value in DESCRIBED.items() if key != "StorageCapacity"}

    with pytest.raises(BrokenAnswerError):
        FsxWatcher(canned(describe_file_systems={"FileSystems": [broken]})).look(tracked(ZFS.id))  # type: ignore[arg-type]


# --- Mark


def tags_of(world: World, *ids: str) -> list[dict[str, str]]:
    return [dict(world.account.find(one).tags) for one in ids]


def test_all_that_is_deleted_by_itself_carries_the_mark(world: World) -> None:
    look = world.watcher.look(tracked(ONTAP.id))
    assert look is not None

    world.watcher.mark(tracked(ONTAP.id), look, MARKED)
    world.watcher.mark(tracked(ONTAP.id), look, MARKED)

    for tags in tags_of(world, ONTAP.id, HOME.id, WORK.id, DATA.id, DEEP.id, BUILDS.id):
        assert tags.items() >= MARKED.items()
    assert world.account.find(DATA.id).tags["Name"] == "data"
    assert MARK not in world.account.find("fsvol-00000000000000000").tags

    world.watcher.unmark(tracked(ONTAP.id), (MARK, ACT_AFTER))

    assert tags_of(world, ONTAP.id, HOME.id, DATA.id) == [dict(ONTAP.tags), dict(HOME.tags), dict(DATA.tags)]


def test_a_mark_that_is_not_on_all_is_an_error(world: World) -> None:
    look = world.watcher.look(tracked(ONTAP.id))
    assert look is not None
    world.sim.faults.error("fsx:TagResource", "BadRequest", 400, times=1)

    with pytest.raises(AwsError):
        world.watcher.mark(tracked(ONTAP.id), look, MARKED)


def test_unmarking_goes_on_where_one_is_refused_and_says_so(world: World) -> None:
    look = world.watcher.look(tracked(ONTAP.id))
    assert look is not None
    world.watcher.mark(tracked(ONTAP.id), look, MARKED)
    world.sim.faults.error("fsx:UntagResource", "BadRequest", 400, times=1)

    with pytest.raises(AwsError):
        world.watcher.unmark(tracked(ONTAP.id), MARKED)

    all_of_it = (ONTAP, HOME, WORK, DATA, DEEP, BUILDS)
    still = [one.id for one in all_of_it if MARK in world.account.find(one.id).tags]
    assert still == [DEEP.id]


def test_unmarking_takes_marks_off_that_do_not_show_yet(world: World) -> None:
    look = world.watcher.look(tracked(ZFS.id))
    assert look is not None
    world.watcher.mark(tracked(ZFS.id), look, MARKED)
    world.sim.faults.lagging("fsx:DescribeFileSystems")

    world.watcher.unmark(tracked(ZFS.id), MARKED)

    assert tags_of(world, ZFS.id) == [dict(ZFS.tags)]


def test_unmarking_what_is_gone_or_going_is_fine(world: World) -> None:
    world.sim.before("fsx:UntagResource", lambda: world.account.remove(DEEP.id))
    world.put(WORK, phase="DELETING")

    world.watcher.unmark(tracked(ONTAP.id), MARKED)
    world.watcher.unmark(tracked("fs-00000000000000000"), MARKED)

    assert world.asked("UntagResource") == 5


# --- Record


def test_the_record_is_json_and_lists_the_children(world: World) -> None:
    recorded = world.watcher.record(tracked(ZFS.id))

    assert json.loads(json.dumps(recorded)) == recorded
    assert recorded["children"] == [{"id": ZFS_CHILD.id, "name": "shots", "path": "/fsx/shots", "size_bytes": None}]
    assert recorded["security_group_ids"] == ["sg-0a", "sg-0b"]
    assert len(recorded["system"]["SubnetIds"]) == 2
    assert recorded["system"]["OpenZFSConfiguration"]["ThroughputCapacity"] == 320
    assert recorded["volumes"] == recorded["machines"] == []


def test_the_record_of_ontap_holds_its_volumes_and_machines(world: World) -> None:
    recorded = world.watcher.record(tracked(ONTAP.id))

    assert json.loads(json.dumps(recorded)) == recorded
    assert [one["Name"] for one in recorded["machines"]] == ["home", "work"]
    assert {one["VolumeId"]: one["OntapConfiguration"]["JunctionPath"] for one in recorded["volumes"]} == {
        DATA.id: "/data",
        DEEP.id: "/data/x/deep",
        BUILDS.id: "/data",
    }
    assert [(one["path"], one["size_bytes"]) for one in recorded["children"]] == [
        ("/data/x/deep", 20 * GIB),
        ("/data", 100 * GIB),
        ("/data", 50 * GIB),
    ]


def test_an_openzfs_volume_with_a_quota_has_a_size() -> None:
    child = {
        "VolumeId": "fsvol-2",
        "FileSystemId": ZFS.id,
        "Name": "small",
        "VolumeType": "OPENZFS",
        "Lifecycle": "AVAILABLE",
        "OpenZFSConfiguration": {"VolumePath": "/fsx/small", "StorageCapacityQuotaGiB": 10},
    }
    recorded = FsxWatcher(canned(describe_volumes={"Volumes": [child]})).record(tracked(ZFS.id))  # type: ignore[arg-type]

    assert recorded["children"] == [{"id": "fsvol-2", "name": "small", "path": "/fsx/small", "size_bytes": 10 * GIB}]


def test_a_directory_that_was_joined_is_recorded(world: World) -> None:
    joined = {"SelfManagedActiveDirectoryConfiguration": {"DomainName": "corp.example"}, "NetBiosName": "HOME"}
    machine = {
        "StorageVirtualMachineId": "svm-1",
        "FileSystemId": ZFS.id,
        "Name": "home",
        "Lifecycle": "CREATED",
        "ActiveDirectoryConfiguration": joined,
    }
    ontap = DESCRIBED | {"FileSystemType": "ONTAP"}
    session = canned(
        describe_file_systems={"FileSystems": [ontap]},
        describe_storage_virtual_machines={"StorageVirtualMachines": [machine]},
    )

    recorded = FsxWatcher(session).record(tracked(ZFS.id))  # type: ignore[arg-type]

    assert recorded["machines"][0]["joined"] == "corp.example"


def test_security_groups_that_cannot_be_read_are_an_error(world: World) -> None:
    world.sim.faults.deny("ec2:DescribeNetworkInterfaces")

    with pytest.raises(AccessDeniedError):
        world.watcher.record(tracked(ZFS.id))


def test_of_windows_there_is_advice_only(world: World) -> None:
    part = Part(kind="file-system", id=WINDOWS.id, arn=tracked(WINDOWS.id).arn)

    for call in (world.watcher.record, world.taker.subjects, lambda resource: world.remover.remove(resource, part)):
        with pytest.raises(AwsError, match="advice only"):
            call(tracked(WINDOWS.id))
    assert world.account.exists(WINDOWS.id)


# --- Permissions


def test_each_part_takes_one_action_on_its_own_arn(world: World) -> None:
    world.put(DEEP, phase="DELETING")
    look = world.watcher.look(tracked(ONTAP.id))
    assert look is not None

    actions = world.watcher.removal_actions(tracked(ONTAP.id), look)

    assert actions == {
        f"arn:aws:fsx:{REGION}:{ACCOUNT}:volume/{ONTAP.id}/{DATA.id}": {"fsx:DeleteVolume"},
        f"arn:aws:fsx:{REGION}:{ACCOUNT}:volume/{ONTAP.id}/{BUILDS.id}": {"fsx:DeleteVolume"},
        f"arn:aws:fsx:{REGION}:{ACCOUNT}:storage-virtual-machine/{ONTAP.id}/{HOME.id}": {"fsx:DeleteStorageVirtualMachine"},
        f"arn:aws:fsx:{REGION}:{ACCOUNT}:storage-virtual-machine/{ONTAP.id}/{WORK.id}": {"fsx:DeleteStorageVirtualMachine"},
        tracked(ONTAP.id).arn: {"fsx:DeleteFileSystem"},
    }
    assert set().union(*actions.values()) < REMOVER_ACTIONS


# --- Remove


def test_openzfs_is_removed_with_its_children_and_without_a_final_backup(world: World) -> None:
    resource = tracked(ZFS.id)

    world.remover.remove(resource, Part(kind="file-system", id=ZFS.id, arn=resource.arn))

    assert not world.account.exists(ZFS.id)
    assert not world.account.exists(ZFS_CHILD.id)
    assert world.account.backups() == []
    world.sim.advance(700)
    assert world.watcher.look(resource) is None


def test_ontap_is_removed_part_by_part_without_final_backups(world: World) -> None:
    resource = tracked(ONTAP.id)
    for kind in ("fsx-volume", "storage-virtual-machine", "file-system"):
        look = world.watcher.look(resource)
        assert look is not None
        for part in [one for one in look.parts if one.kind == kind]:
            world.remover.remove(resource, part)
        world.sim.advance(700)

    assert world.watcher.look(resource) is None
    assert world.account.backups() == []


def test_a_machine_is_not_removed_before_its_volumes(world: World) -> None:
    part = Part(kind="storage-virtual-machine", id=HOME.id, arn="arn")

    with pytest.raises(AwsError, match="has volumes"):
        world.remover.remove(tracked(ONTAP.id), part)
    assert world.account.exists(HOME.id)


GONE = [
    Part(kind="fsx-volume", id="fsvol-0123456789abcdef9", arn=None),
    Part(kind="storage-virtual-machine", id="svm-0123456789abcdef9", arn=None),
]


@pytest.mark.parametrize("part", GONE, ids=lambda part: part.kind)
def test_removing_what_is_gone_is_fine(world: World, part: Part) -> None:
    world.remover.remove(tracked(ONTAP.id), part)


def test_removing_a_file_system_that_is_gone_is_fine(world: World) -> None:
    world.remover.remove(tracked("fs-00000000000000000"), Part(kind="file-system", id="fs-00000000000000000", arn=None))

    assert world.asked("DeleteFileSystem") == 0


@pytest.mark.parametrize(
    ("one", "kind", "action"),
    [(DATA, "fsx-volume", "DeleteVolume"), (HOME, "storage-virtual-machine", "DeleteStorageVirtualMachine")],
)
def test_removing_what_is_going_is_fine(world: World, one: Any, kind: str, action: str) -> None:
    world.put(one, phase="DELETING")
    part = Part(kind=kind, id=one.id, arn="arn")

    world.remover.remove(tracked(ONTAP.id), part)
    assert world.asked(action) == 1, "it was not known to be going"

    world.remover.remove(tracked(ONTAP.id), replace(part, going=True))
    assert world.asked(action) == 1


def test_a_file_system_is_asked_to_go_once(world: World) -> None:
    part = Part(kind="file-system", id=ZFS.id, arn="arn")
    world.remover.remove(tracked(ZFS.id), part)
    world.remover.remove(tracked(ZFS.id), part)

    assert world.asked("DeleteFileSystem") == 1


@pytest.mark.parametrize("action", ["DeleteVolume", "DeleteStorageVirtualMachine", "DeleteFileSystem"])
def test_a_removal_that_was_not_answered_is_no_success(world: World, action: str) -> None:
    part = {
        "DeleteVolume": Part(kind="fsx-volume", id=DATA.id, arn="arn"),
        "DeleteStorageVirtualMachine": Part(kind="storage-virtual-machine", id=HOME.id, arn="arn"),
        "DeleteFileSystem": Part(kind="file-system", id=ONTAP.id, arn="arn"),
    }[action]
    world.sim.faults.drop(f"fsx:{action}")

    with pytest.raises(UnreachableError):
        world.remover.remove(tracked(ONTAP.id), part)
    assert world.asked(action) == 1, "it asks once"


def test_a_removal_that_is_denied_is_no_success(world: World) -> None:
    world.sim.faults.deny("fsx:DeleteVolume")

    with pytest.raises(AccessDeniedError):
        world.remover.remove(tracked(ONTAP.id), Part(kind="fsx-volume", id=DATA.id, arn="arn"))
    assert world.account.exists(DATA.id)


@pytest.mark.parametrize(
    "part",
    [
        Part(kind="file-system", id=ONTAP.id, arn="arn"),
        Part(kind="volume", id="vol-1", arn="arn"),
        Part(kind="mount-target", id="fsmt-1", arn=None),
    ],
)
def test_what_is_no_part_of_it_is_not_removed(world: World, part: Part) -> None:
    with pytest.raises(AwsError, match="is no part of"):
        world.remover.remove(tracked(ZFS.id), part)
    assert world.account.exists(ONTAP.id)


def test_snaplock_is_never_bypassed_and_no_final_backup_asked_for() -> None:
    session = canned(delete_volume={}, delete_file_system={})
    remover = FsxRemover(session, session)  # type: ignore[arg-type]

    remover.remove(tracked(ZFS.id), Part(kind="fsx-volume", id="fsvol-1", arn="arn"))
    remover.remove(tracked(ZFS.id), Part(kind="file-system", id=ZFS.id, arn="arn"))

    whole = {"SkipFinalBackup": True, "Options": ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"]}
    assert [asked for asked in session.asked if asked[0].startswith("delete")] == [
        ("delete_volume", {"VolumeId": "fsvol-1", "OntapConfiguration": {"SkipFinalBackup": True}}),
        ("delete_file_system", {"FileSystemId": ZFS.id, "OpenZFSConfiguration": whole}),
    ]
