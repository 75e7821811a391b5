"""FSx clean-up (watch, tag, record, delete) against a simulated account, and with answers that it never gives."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from slackwater.aws.cleanup.fsx.cleanup import REMOVER_ACTIONS, FsxRemover, FsxWatcher
from slackwater.aws.cleanup.fsx.sub_resources import FsxParts, held
from slackwater.model.cleanup import ACT_AFTER, CLEANUP_TAG, ONTAP_STAYS, SubResource
from slackwater.model.units import GIB
from slackwater.ports.errors import AccessDeniedError, AwsError, BrokenAnswerError, UnreachableError
from slackwater_simulator import Simulator
from support.fsx_world import (
    BUILDS,
    DATA,
    DEEP,
    EARLIER,
    FLEET,
    HOME,
    ONTAP,
    WINDOWS,
    WORK,
    ZFS,
    ZFS_CHILD,
    Canned,
    World,
    sessions,
    tracked,
)

TAGS = {CLEANUP_TAG: "0123456789abcdef", ACT_AFTER: "2026-12-01T00:00:00Z"}


@pytest.fixture
def world() -> Iterator[World]:
    with Simulator(FLEET) as sim:
        yield sessions(sim)


def refusal(code: str, operation: str = "DescribeFileSystems") -> ClientError:
    return ClientError(
        {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": 400}}, operation
    )  # type: ignore[arg-type]


# --- Look


def test_an_openzfs_file_system_is_deleted_in_one_request(world: World) -> None:
    look = world.watcher.look(tracked(ZFS.id))

    assert look is not None
    assert look.parts == (SubResource(kind="file-system", id=ZFS.id, arn=tracked(ZFS.id).arn),)
    assert look.born_at == datetime.fromtimestamp(EARLIER, UTC)
    assert look.tags == {"Name": "render-farm", "Team": "films"}
    assert look.size_bytes == 128 * GIB
    assert look.held is None


def test_of_a_file_system_that_is_being_deleted_only_itself_is_left(world: World) -> None:
    world.put(ZFS, phase="DELETING")

    look = world.watcher.look(tracked(ZFS.id))

    assert look is not None
    assert look.parts == (SubResource(kind="file-system", id=ZFS.id, arn=tracked(ZFS.id).arn, going=True),)
    assert look.children == {}
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
        world.watcher.look(tracked(ZFS.id))


@pytest.mark.parametrize(
    ("system", "why"), [(ONTAP, ONTAP_STAYS), (WINDOWS, "it is of type WINDOWS: of these there is advice only")]
)
def test_only_openzfs_is_cleaned_up(world: World, system: Any, why: str) -> None:
    resource = tracked(system.id)
    part = SubResource(kind="file-system", id=system.id, arn=resource.arn)

    look = world.watcher.look(resource)

    assert look is not None
    assert (look.parts, look.held) == ((part,), why)
    for call in (world.watcher.record, world.taker.subject, lambda resource: world.remover.remove(resource, part)):
        with pytest.raises(AwsError, match=why):
            call(resource)
    assert world.account.exists(system.id)
    assert not [call for call in world.sim.calls if "Delete" in call or "Create" in call]


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


def test_what_a_program_manages_holds_what_it_hangs_on(world: World) -> None:
    world.account.tag(ZFS_CHILD.id, "aws:cloudformation:stack-name", "films")

    look = world.watcher.look(tracked(ZFS.id))

    assert look is not None
    assert look.held == f"CloudFormation stack films manages its volume {ZFS_CHILD.id}: change it there"


SYSTEM = {"FileSystemId": "fs-1", "FileSystemType": "OPENZFS", "Lifecycle": "AVAILABLE"}
VOLUME = {"VolumeId": "fsvol-1", "VolumeType": "OPENZFS", "Lifecycle": "AVAILABLE"}


def test_an_ordinary_one_is_not_held() -> None:
    done = {"AdministrativeActions": [{"AdministrativeActionType": "FILE_SYSTEM_UPDATE", "Status": "COMPLETED"}]}

    assert held(FsxParts(SYSTEM | done, (VOLUME,))) is None


@pytest.mark.parametrize(
    ("volume", "why"),
    [
        ({"OpenZFSConfiguration": {"SourceSnapshotARN": "arn"}}, "is written by replication"),
        (
            {"OpenZFSConfiguration": {"OriginSnapshot": {"CopyStrategy": "INCREMENTAL_COPY"}}},
            "is written by replication",
        ),
        (
            {
                "AdministrativeActions": [
                    {"AdministrativeActionType": "VOLUME_UPDATE_WITH_SNAPSHOT", "Status": "PENDING"}
                ]
            },
            "under way on fsvol-1: VOLUME_UPDATE_WITH_SNAPSHOT",
        ),
    ],
)
def test_volumes_that_are_not_for_us_hold_it(volume: dict[str, Any], why: str) -> None:
    assert why in str(held(FsxParts(SYSTEM, (VOLUME | volume,))))


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

    session = canned(describe_s3_access_point_attachments=attached)
    look = FsxWatcher(session).look(tracked(ZFS.id))  # type: ignore[arg-type]

    assert look is not None
    assert look.held == "S3 access points are attached to it: in-use"


@pytest.mark.parametrize("code", ["UnsupportedOperation", "S3AccessPointAttachmentNotFound"])
def test_where_there_are_no_s3_access_points_none_are_attached(code: str) -> None:
    session = canned(describe_s3_access_point_attachments=refusal(code))
    look = FsxWatcher(session).look(tracked(ZFS.id))  # type: ignore[arg-type]

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
    session = canned(describe_file_systems={"FileSystems": [tiering]})
    look = FsxWatcher(session).look(tracked(ZFS.id))  # type: ignore[arg-type]

    assert look is not None
    assert look.size_bytes == 0


def test_a_size_that_is_not_there_is_no_size() -> None:
    broken = {key: value for key, value in DESCRIBED.items() if key != "StorageCapacity"}

    watcher = FsxWatcher(canned(describe_file_systems={"FileSystems": [broken]}))  # type: ignore[arg-type]
    with pytest.raises(BrokenAnswerError):
        watcher.look(tracked(ZFS.id))


# --- Tag --------------------------------------------------------------------------------------------------------------


def tags_of(world: World, *ids: str) -> list[dict[str, str]]:
    return [dict(world.account.find(one).tags) for one in ids]


def test_the_file_system_is_tagged_and_its_volumes_are_not(world: World) -> None:
    look = world.watcher.look(tracked(ZFS.id))
    assert look is not None

    world.watcher.add_tags(tracked(ZFS.id), look, TAGS)
    world.watcher.add_tags(tracked(ZFS.id), look, TAGS)

    assert tags_of(world, ZFS.id, ZFS_CHILD.id) == [{**ZFS.tags, **TAGS}, dict(ZFS_CHILD.tags)]

    world.watcher.remove_tags(tracked(ZFS.id), (CLEANUP_TAG, ACT_AFTER))

    assert tags_of(world, ZFS.id) == [dict(ZFS.tags)]


def test_a_tag_that_was_not_added_is_an_error(world: World) -> None:
    look = world.watcher.look(tracked(ZFS.id))
    assert look is not None
    world.sim.faults.error("fsx:TagResource", "BadRequest", 400, times=1)

    with pytest.raises(AwsError):
        world.watcher.add_tags(tracked(ZFS.id), look, TAGS)


def tagged_by_an_older_version(world: World) -> list[str]:
    """Tag an ONTAP file system as an older version did: itself, its volumes and its SVMs. Return their ids."""
    ids = [one.id for one in (ONTAP, HOME, WORK, DATA, DEEP, BUILDS)]
    for id_ in ids:
        for key, value in TAGS.items():
            world.account.tag(id_, key, value)
    return ids


def test_unmarking_ontap_takes_off_all_that_an_older_version_put_on(world: World) -> None:
    ids = tagged_by_an_older_version(world)

    world.watcher.remove_tags(tracked(ONTAP.id), (CLEANUP_TAG, ACT_AFTER))

    assert tags_of(world, *ids) == [dict(one.tags) for one in (ONTAP, HOME, WORK, DATA, DEEP, BUILDS)]


def test_untagging_continues_after_a_refusal_and_reports_it(world: World) -> None:
    ids = tagged_by_an_older_version(world)
    world.sim.faults.error("fsx:UntagResource", "BadRequest", 400, times=1)

    with pytest.raises(AwsError):
        world.watcher.remove_tags(tracked(ONTAP.id), TAGS)

    assert [id_ for id_ in ids if CLEANUP_TAG in world.account.find(id_).tags] == [ONTAP.id]


def test_untagging_removes_tags_that_are_not_listed_yet(world: World) -> None:
    look = world.watcher.look(tracked(ZFS.id))
    assert look is not None
    world.watcher.add_tags(tracked(ZFS.id), look, TAGS)
    world.sim.faults.lagging("fsx:DescribeFileSystems")

    world.watcher.remove_tags(tracked(ZFS.id), TAGS)

    assert tags_of(world, ZFS.id) == [dict(ZFS.tags)]


def test_unmarking_what_is_gone_or_going_is_fine(world: World) -> None:
    world.account.remove(WORK.id)
    world.sim.before("fsx:UntagResource", lambda: world.account.remove(DEEP.id))

    world.watcher.remove_tags(tracked(ONTAP.id), TAGS)

    asked = world.asked("UntagResource")
    assert asked == 7, "the file system, four volumes (one of them a root), two machines"

    world.put(ZFS, phase="DELETING")
    world.watcher.remove_tags(tracked(ZFS.id), TAGS)
    world.watcher.remove_tags(tracked("fs-00000000000000000"), TAGS)

    assert world.asked("UntagResource") == asked


# --- Record


def test_the_record_is_json_and_lists_the_children(world: World) -> None:
    recorded = world.watcher.record(tracked(ZFS.id))

    assert json.loads(json.dumps(recorded)) == recorded
    assert recorded["children"] == [{"id": ZFS_CHILD.id, "name": "shots", "path": "/fsx/shots", "size_bytes": None}]
    assert recorded["security_group_ids"] == ["sg-0a", "sg-0b"]
    assert len(recorded["system"]["SubnetIds"]) == 2
    assert recorded["system"]["OpenZFSConfiguration"]["ThroughputCapacity"] == 320


def test_an_openzfs_volume_with_a_quota_has_a_size() -> None:
    child = {
        "VolumeId": "fsvol-2",
        "FileSystemId": ZFS.id,
        "Name": "small",
        "VolumeType": "OPENZFS",
        "Lifecycle": "AVAILABLE",
        "OpenZFSConfiguration": {"VolumePath": "/fsx/small", "StorageCapacityQuotaGiB": 10},
    }
    watcher = FsxWatcher(canned(describe_volumes={"Volumes": [child]}))  # type: ignore[arg-type]
    recorded = watcher.record(tracked(ZFS.id))

    assert recorded["children"] == [{"id": "fsvol-2", "name": "small", "path": "/fsx/small", "size_bytes": 10 * GIB}]


def test_security_groups_that_cannot_be_read_are_an_error(world: World) -> None:
    world.sim.faults.deny("ec2:DescribeNetworkInterfaces")

    with pytest.raises(AccessDeniedError):
        world.watcher.record(tracked(ZFS.id))


# --- Permissions


def test_it_takes_two_actions_on_its_arn(world: World) -> None:
    look = world.watcher.look(tracked(ZFS.id))
    assert look is not None

    actions = world.watcher.removal_actions(tracked(ZFS.id), look)

    assert actions == {tracked(ZFS.id).arn: {"fsx:CreateBackup", "fsx:DeleteFileSystem"}}
    assert set().union(*actions.values()) < REMOVER_ACTIONS


# --- Remove


def test_openzfs_is_removed_with_its_children_and_without_a_final_backup(world: World) -> None:
    resource = tracked(ZFS.id)

    world.remover.remove(resource, SubResource(kind="file-system", id=ZFS.id, arn=resource.arn))

    assert not world.account.exists(ZFS.id)
    assert not world.account.exists(ZFS_CHILD.id)
    assert world.account.backups() == []
    world.sim.advance(700)
    assert world.watcher.look(resource) is None


def test_removing_a_file_system_that_is_gone_is_fine(world: World) -> None:
    world.remover.remove(
        tracked("fs-00000000000000000"), SubResource(kind="file-system", id="fs-00000000000000000", arn=None)
    )

    assert world.asked("DeleteFileSystem") == 0


def test_a_file_system_is_asked_to_go_once(world: World) -> None:
    part = SubResource(kind="file-system", id=ZFS.id, arn="arn")
    world.remover.remove(tracked(ZFS.id), part)
    world.remover.remove(tracked(ZFS.id), part)

    assert world.asked("DeleteFileSystem") == 1


def test_a_file_system_that_is_going_is_not_asked_to_go(world: World) -> None:
    world.remover.remove(tracked(ZFS.id), SubResource(kind="file-system", id=ZFS.id, arn="arn", going=True))

    assert world.asked("DeleteFileSystem") == 0


@pytest.mark.parametrize("code", ["BadRequest", "IncompatibleParameterError", "FileSystemNotFound"])
def test_a_refusal_of_one_that_is_going_already_is_fine(code: str) -> None:
    gone = {"FileSystems": [DESCRIBED | {"Lifecycle": "DELETING"}]}
    session: Any = canned(
        describe_file_systems=({"FileSystems": [DESCRIBED]}, gone), delete_file_system=refusal(code, "DeleteFileSystem")
    )

    FsxRemover(session, session).remove(tracked(ZFS.id), SubResource(kind="file-system", id=ZFS.id, arn="arn"))


def test_a_refusal_of_one_that_is_there_is_no_success() -> None:
    session: Any = canned(delete_file_system=refusal("BadRequest", "DeleteFileSystem"))

    with pytest.raises(AwsError):
        FsxRemover(session, session).remove(tracked(ZFS.id), SubResource(kind="file-system", id=ZFS.id, arn="arn"))


def test_a_removal_that_was_not_answered_is_no_success(world: World) -> None:
    world.sim.faults.drop("fsx:DeleteFileSystem")

    with pytest.raises(UnreachableError):
        world.remover.remove(tracked(ZFS.id), SubResource(kind="file-system", id=ZFS.id, arn="arn"))
    assert world.asked("DeleteFileSystem") == 1, "it asks once"


def test_a_removal_that_is_denied_is_no_success(world: World) -> None:
    world.sim.faults.deny("fsx:DeleteFileSystem")

    with pytest.raises(AccessDeniedError):
        world.remover.remove(tracked(ZFS.id), SubResource(kind="file-system", id=ZFS.id, arn="arn"))
    assert world.account.exists(ZFS.id)


@pytest.mark.parametrize(
    "part",
    [
        SubResource(kind="file-system", id=ONTAP.id, arn="arn"),
        SubResource(kind="volume", id="vol-1", arn="arn"),
        SubResource(kind="fsx-volume", id=DATA.id, arn="arn"),
        SubResource(kind="storage-virtual-machine", id=HOME.id, arn="arn"),
        SubResource(kind="mount-target", id="fsmt-1", arn=None),
    ],
)
def test_what_is_no_part_of_it_is_not_removed(world: World, part: SubResource) -> None:
    with pytest.raises(AwsError, match="is no part of"):
        world.remover.remove(tracked(ZFS.id), part)
    assert world.account.exists(ONTAP.id)
