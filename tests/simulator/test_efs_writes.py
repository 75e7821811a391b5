"""Write calls for EFS work and answer as on AWS."""

import json
from datetime import UTC, datetime

import pytest
from botocore.exceptions import ClientError

from slackwater_simulator import AccessPoint, ElasticFileSystem, Fleet, MountTarget, Replication, Simulator, instant

NOW = instant("2026-11-16T09:07:00Z")
THEN = NOW - 86_400 * 30
REGION = "ap-northeast-1"
TARGET, OTHER = "fsmt-0000000a", "fsmt-0000000b"
POINT = "fsap-0123456789abcdef0"
USER = {"Uid": 1000, "Gid": 1001, "SecondaryGids": [7]}
ROOT = {"Path": "/data", "CreationInfo": {"OwnerUid": 1000, "OwnerGid": 1001, "Permissions": "0750"}}


@pytest.fixture
def simulator():
    def system(id_, **more):
        return ElasticFileSystem(id=id_, region=more.pop("region", REGION), created=THEN, **more)

    fleet = Fleet(
        now=NOW,
        efs=[
            system("fs-bare", tags={"Name": "bare"}),
            system(
                "fs-held",
                mount_targets=(
                    MountTarget(
                        id=TARGET, az="ap-northeast-1a", subnet="subnet-0000mine", security_groups=("sg-1", "sg-2")
                    ),
                    MountTarget(id=OTHER, az="ap-northeast-1c"),
                ),
                given_points=(AccessPoint(id=POINT, token="t", user=USER, root=ROOT, tags={"Name": "data"}),),
                lifecycle=(("TransitionToIA", "AFTER_30_DAYS"), ("TransitionToPrimaryStorageClass", "AFTER_1_ACCESS")),
            ),
            system("fs-counted", access_points=2, mode="provisioned", provisioned_mibps=100.0),
            system("fs-source"),
            system("fs-copy", region="us-east-1", replica=True),
            system("fs-one", one_zone="ap-northeast-1a"),
        ],
        replications=[
            Replication(
                source_id="fs-source",
                source_region=REGION,
                destination_id="fs-copy",
                destination_region="us-east-1",
                created=THEN,
            )
        ],
        regions=(REGION, "us-east-1"),
    )
    with Simulator(fleet) as running:
        yield running


@pytest.fixture
def efs(simulator, clients):
    return clients(simulator, "efs")


def _refused(code, status, method, **arguments):
    with pytest.raises(ClientError) as caught:
        method(**arguments)
    assert caught.value.response["Error"]["Code"] == code
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == status
    return caught.value.response


def _system(efs, id_):
    return efs.describe_file_systems(FileSystemId=id_)["FileSystems"][0]


# --- Tags -------------------------------------------------------------------------------------------------------------


def test_file_systems_and_access_points_are_tagged(efs, simulator):
    for each in ("fs-bare", POINT, f"arn:aws:elasticfilesystem:{REGION}:123456789012:access-point/{POINT}"):
        efs.tag_resource(ResourceId=each, Tags=[{"Key": "mark", "Value": "1"}, {"Key": "b/c", "Value": "2"}])
        assert {"Key": "mark", "Value": "1"} in efs.list_tags_for_resource(ResourceId=each)["Tags"]
    assert {tag["Key"] for tag in _system(efs, "fs-bare")["Tags"]} == {"Name", "mark", "b/c"}
    efs.untag_resource(ResourceId="fs-bare", TagKeys=["mark", "b/c", "none"])
    assert _system(efs, "fs-bare")["Tags"] == [{"Key": "Name", "Value": "bare"}]
    efs.untag_resource(ResourceId=POINT, TagKeys=["mark"])
    assert dict(simulator.account.find("fs-held").points[0].tags) == {"Name": "data", "b/c": "2"}


def test_tags_of_what_there_is_not(efs):
    tags = [{"Key": "a", "Value": "1"}]
    _refused("FileSystemNotFound", 404, efs.tag_resource, ResourceId="fs-none", Tags=tags)
    _refused("AccessPointNotFound", 404, efs.tag_resource, ResourceId="fsap-0123456789abcdef9", Tags=tags)
    _refused("FileSystemNotFound", 404, efs.untag_resource, ResourceId="fs-copy", TagKeys=["a"])
    _refused("BadRequest", 400, efs.tag_resource, ResourceId="fs-bare", Tags=[{"Key": "aws:a", "Value": "1"}])


def test_points_that_were_only_counted_can_be_tagged_one_by_one(efs, simulator):
    first, second = efs.describe_access_points(FileSystemId="fs-counted")["AccessPoints"]
    efs.tag_resource(ResourceId=first["AccessPointId"], Tags=[{"Key": "a", "Value": "1"}])
    again = efs.describe_access_points(FileSystemId="fs-counted")["AccessPoints"]
    assert [each["AccessPointId"] for each in again] == [first["AccessPointId"], second["AccessPointId"]]
    assert {"Key": "a", "Value": "1"} in again[0]["Tags"]
    assert again[1] == second


# --- Access points ----------------------------------------------------------------------------------------------------


def test_an_access_point_is_described_as_it_was_made(efs):
    (point,) = efs.describe_access_points(AccessPointId=POINT)["AccessPoints"]
    assert (point["FileSystemId"], point["PosixUser"], point["RootDirectory"]) == ("fs-held", USER, ROOT)
    assert (point["Name"], point["Tags"], point["ClientToken"]) == ("data", [{"Key": "Name", "Value": "data"}], "t")
    _refused("AccessPointNotFound", 404, efs.describe_access_points, AccessPointId="fsap-0123456789abcdef9")
    assert len(efs.describe_access_points()["AccessPoints"]) == 3


def test_an_access_point_is_made_once_by_its_token(efs, simulator):
    wanted = {
        "ClientToken": "undo-1",
        "FileSystemId": "fs-bare",
        "PosixUser": USER,
        "RootDirectory": ROOT,
        "Tags": [{"Key": "Name", "Value": "again"}],
    }
    made = efs.create_access_point(**wanted)
    assert (made["LifeCycleState"], made["Name"]) == ("creating", "again")
    answer = _refused("AccessPointAlreadyExists", 409, efs.create_access_point, **wanted)
    assert answer["AccessPointId"] == made["AccessPointId"]
    simulator.advance(5)
    (point,) = efs.describe_access_points(FileSystemId="fs-bare")["AccessPoints"]
    assert (point["LifeCycleState"], point["PosixUser"], point["RootDirectory"]) == ("available", USER, ROOT)
    _refused("FileSystemNotFound", 404, efs.create_access_point, ClientToken="x", FileSystemId="fs-none")


def test_an_access_point_is_deleted(efs, simulator):
    efs.delete_access_point(AccessPointId=POINT)
    assert not simulator.account.exists(POINT)
    assert efs.describe_access_points(AccessPointId=POINT)["AccessPoints"][0]["LifeCycleState"] == "deleting"
    efs.delete_access_point(AccessPointId=POINT)
    simulator.advance(5)
    _refused("AccessPointNotFound", 404, efs.delete_access_point, AccessPointId=POINT)
    assert efs.describe_access_points(FileSystemId="fs-held")["AccessPoints"] == []


# --- Mount targets ----------------------------------------------------------------------------------------------------


def test_a_mount_target_has_its_subnet_and_security_groups(efs):
    (target,) = efs.describe_mount_targets(MountTargetId=TARGET)["MountTargets"]
    assert (target["SubnetId"], target["AvailabilityZoneName"]) == ("subnet-0000mine", "ap-northeast-1a")
    assert efs.describe_mount_target_security_groups(MountTargetId=TARGET)["SecurityGroups"] == ["sg-1", "sg-2"]
    assert len(efs.describe_mount_target_security_groups(MountTargetId=OTHER)["SecurityGroups"]) == 1
    assert len(efs.describe_mount_targets(AccessPointId=POINT)["MountTargets"]) == 2
    _refused("MountTargetNotFound", 404, efs.describe_mount_target_security_groups, MountTargetId="fsmt-99999999")


def test_a_mount_target_is_deleted_and_created_again(efs, simulator):
    before = efs.describe_mount_targets(MountTargetId=OTHER)["MountTargets"][0]
    wanted = {
        "FileSystemId": "fs-held",
        "SubnetId": before["SubnetId"],
        "IpAddress": before["IpAddress"],
        "SecurityGroups": ["sg-00000009"],
    }
    _refused("MountTargetConflict", 409, efs.create_mount_target, **wanted)
    efs.delete_mount_target(MountTargetId=OTHER)
    assert efs.describe_mount_targets(MountTargetId=OTHER)["MountTargets"][0]["LifeCycleState"] == "deleting"
    _refused("IncorrectMountTargetState", 409, efs.describe_mount_target_security_groups, MountTargetId=OTHER)
    _refused("MountTargetConflict", 409, efs.create_mount_target, **wanted)
    simulator.advance(89)
    assert len(efs.describe_mount_targets(FileSystemId="fs-held")["MountTargets"]) == 2
    simulator.advance(1)
    assert len(efs.describe_mount_targets(FileSystemId="fs-held")["MountTargets"]) == 1
    assert _system(efs, "fs-held")["NumberOfMountTargets"] == 1
    made = efs.create_mount_target(**wanted)
    assert (made["LifeCycleState"], made["IpAddress"], made["AvailabilityZoneName"]) == (
        "creating",
        before["IpAddress"],
        "ap-northeast-1c",
    )
    simulator.advance(90)
    (back,) = efs.describe_mount_targets(MountTargetId=made["MountTargetId"])["MountTargets"]
    assert (back["LifeCycleState"], back["SubnetId"]) == ("available", before["SubnetId"])
    assert efs.describe_mount_target_security_groups(MountTargetId=made["MountTargetId"])["SecurityGroups"] == [
        "sg-00000009"
    ]


def test_a_subnet_outlives_its_mount_target(efs, simulator):
    efs.delete_mount_target(MountTargetId=TARGET)
    simulator.advance(90)
    made = efs.create_mount_target(FileSystemId="fs-held", SubnetId="subnet-0000mine")
    assert made["AvailabilityZoneName"] == "ap-northeast-1a"


def test_mount_targets_that_aws_would_not_make(efs):
    subnet = efs.describe_mount_targets(MountTargetId=OTHER)["MountTargets"][0]["SubnetId"]
    address = efs.describe_mount_targets(MountTargetId=OTHER)["MountTargets"][0]["IpAddress"]
    make = efs.create_mount_target
    _refused("SubnetNotFound", 400, make, FileSystemId="fs-bare", SubnetId="subnet-0123456789abcdef0")
    _refused("FileSystemNotFound", 404, make, FileSystemId="fs-none", SubnetId=subnet)
    _refused("AvailabilityZonesMismatch", 400, make, FileSystemId="fs-one", SubnetId=subnet)
    _refused("IpAddressInUse", 409, make, FileSystemId="fs-bare", SubnetId=subnet, IpAddress=address)
    too_many = [f"sg-{number:08}" for number in range(6)]
    _refused("SecurityGroupLimitExceeded", 400, make, FileSystemId="fs-bare", SubnetId=subnet, SecurityGroups=too_many)


# --- File systems -----------------------------------------------------------------------------------------------------


def test_a_file_system_is_deleted_if_nothing_depends_on_it(efs, simulator):
    for each in ("fs-held", "fs-counted", "fs-source"):
        _refused("FileSystemInUse", 409, efs.delete_file_system, FileSystemId=each)
    for target in (TARGET, OTHER):
        efs.delete_mount_target(MountTargetId=target)
    simulator.advance(90)
    _refused("FileSystemInUse", 409, efs.delete_file_system, FileSystemId="fs-held")
    efs.delete_access_point(AccessPointId=POINT)
    _refused("FileSystemInUse", 409, efs.delete_file_system, FileSystemId="fs-held")
    simulator.advance(5)
    efs.delete_file_system(FileSystemId="fs-held")
    assert not simulator.account.exists("fs-held")
    assert _system(efs, "fs-held")["LifeCycleState"] == "deleting"
    _refused("IncorrectFileSystemLifeCycleState", 409, efs.delete_file_system, FileSystemId="fs-held")
    simulator.advance(30)
    _refused("FileSystemNotFound", 404, efs.describe_file_systems, FileSystemId="fs-held")
    _refused("FileSystemNotFound", 404, efs.describe_lifecycle_configuration, FileSystemId="fs-held")
    assert "fs-held" not in [each["FileSystemId"] for each in efs.describe_file_systems()["FileSystems"]]


def test_a_new_file_system_is_empty_and_made_once_by_its_token(efs, simulator, clients):
    wanted = {
        "CreationToken": "undo-1",
        "PerformanceMode": "generalPurpose",
        "Encrypted": True,
        "KmsKeyId": "11111111-2222-4333-8444-555555555555",
        "ThroughputMode": "provisioned",
        "ProvisionedThroughputInMibps": 20.0,
        "Tags": [{"Key": "Name", "Value": "back"}],
    }
    made = efs.create_file_system(**wanted)
    assert (made["LifeCycleState"], made["CreationToken"], made["Name"]) == ("creating", "undo-1", "back")
    assert made["ResponseMetadata"]["HTTPStatusCode"] == 201
    answer = _refused("FileSystemAlreadyExists", 409, efs.create_file_system, **wanted)
    assert answer["FileSystemId"] == made["FileSystemId"]
    point = {"ClientToken": "p", "FileSystemId": made["FileSystemId"]}
    _refused("IncorrectFileSystemLifeCycleState", 409, efs.create_access_point, **point)
    simulator.advance(5)
    efs.create_access_point(**point)
    (system,) = efs.describe_file_systems(CreationToken="undo-1")["FileSystems"]
    assert (system["LifeCycleState"], system["ThroughputMode"], system["ProvisionedThroughputInMibps"]) == (
        "available",
        "provisioned",
        20.0,
    )
    assert system["KmsKeyId"] == f"arn:aws:kms:{REGION}:123456789012:key/{wanted['KmsKeyId']}"
    assert system["CreationTime"] == datetime.fromtimestamp(NOW, UTC)
    assert simulator.account.contents(made["FileSystemId"]) == ""
    dimensions = [{"Name": "FileSystemId", "Value": made["FileSystemId"]}]
    assert clients(simulator, "cloudwatch").list_metrics(Dimensions=dimensions)["Metrics"] == []


def test_file_systems_that_aws_would_not_make(efs):
    make = efs.create_file_system
    _refused("BadRequest", 400, make, CreationToken="x", ThroughputMode="provisioned")
    _refused("BadRequest", 400, make, CreationToken="x", ThroughputMode="elastic", ProvisionedThroughputInMibps=5.0)
    _refused("BadRequest", 400, make, CreationToken="x", KmsKeyId="11111111-2222-4333-8444-555555555555")
    _refused("UnsupportedAvailabilityZone", 400, make, CreationToken="x", AvailabilityZoneName="us-east-1a")


def test_throughput_changes_and_is_updating_meanwhile(efs, simulator):
    answer = efs.update_file_system(FileSystemId="fs-bare", ThroughputMode="elastic")
    assert (answer["LifeCycleState"], answer["ThroughputMode"]) == ("updating", "elastic")
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 202
    again = {"FileSystemId": "fs-bare", "ThroughputMode": "bursting"}
    _refused("IncorrectFileSystemLifeCycleState", 409, efs.update_file_system, **again)
    simulator.advance(30)
    assert _system(efs, "fs-bare")["LifeCycleState"] == "available"
    assert efs.update_file_system(**again)["ThroughputMode"] == "bursting"


def test_provisioned_throughput_stays_for_a_day(efs, simulator):
    def update(**arguments):
        efs.update_file_system(FileSystemId="fs-bare", **arguments)
        simulator.advance(30)

    refused = {"FileSystemId": "fs-bare", "ThroughputMode": "elastic"}
    update(ThroughputMode="provisioned", ProvisionedThroughputInMibps=10.0)
    assert _system(efs, "fs-bare")["ProvisionedThroughputInMibps"] == 10.0
    _refused("TooManyRequests", 429, efs.update_file_system, **refused)
    _refused("TooManyRequests", 429, efs.update_file_system, FileSystemId="fs-bare", ProvisionedThroughputInMibps=9.0)
    simulator.advance(3_600)
    update(ProvisionedThroughputInMibps=11.0)
    simulator.advance(86_400 - 31)
    _refused("TooManyRequests", 429, efs.update_file_system, **refused)
    simulator.advance(1)
    update(ThroughputMode="elastic")
    assert "ProvisionedThroughputInMibps" not in _system(efs, "fs-bare")


def test_what_was_provisioned_long_ago_may_change(efs):
    assert efs.update_file_system(FileSystemId="fs-counted", ThroughputMode="elastic")["ThroughputMode"] == "elastic"
    _refused("BadRequest", 400, efs.update_file_system, FileSystemId="fs-bare", ProvisionedThroughputInMibps=5.0)


def test_protection_is_switched(efs, clients, simulator):
    answer = efs.update_file_system_protection(FileSystemId="fs-bare", ReplicationOverwriteProtection="DISABLED")
    assert answer["ReplicationOverwriteProtection"] == "DISABLED"
    assert _system(efs, "fs-bare")["FileSystemProtection"] == {"ReplicationOverwriteProtection": "DISABLED"}
    far = clients(simulator, "efs", "us-east-1")
    assert _system(far, "fs-copy")["FileSystemProtection"] == {"ReplicationOverwriteProtection": "REPLICATING"}
    wanted = {"FileSystemId": "fs-copy", "ReplicationOverwriteProtection": "ENABLED"}
    _refused("ReplicationAlreadyExists", 409, far.update_file_system_protection, **wanted)


# --- Policies and replication -----------------------------------------------------------------------------------------


def test_a_file_system_policy_is_put(efs):
    policy = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "*"}]})
    _refused("PolicyNotFound", 404, efs.describe_file_system_policy, FileSystemId="fs-bare")
    _refused("InvalidPolicyException", 400, efs.put_file_system_policy, FileSystemId="fs-bare", Policy="{}")
    efs.put_file_system_policy(FileSystemId="fs-bare", Policy=policy)
    assert efs.describe_file_system_policy(FileSystemId="fs-bare")["Policy"] == policy


def test_lifecycle_is_put_as_a_whole(efs):
    put = efs.put_lifecycle_configuration
    put(FileSystemId="fs-held", LifecyclePolicies=[{"TransitionToIA": "AFTER_7_DAYS"}])
    found = efs.describe_lifecycle_configuration(FileSystemId="fs-held")["LifecyclePolicies"]
    assert found == [{"TransitionToIA": "AFTER_7_DAYS"}]
    two = [{"TransitionToIA": "AFTER_7_DAYS", "TransitionToPrimaryStorageClass": "AFTER_1_ACCESS"}]
    _refused("BadRequest", 400, put, FileSystemId="fs-held", LifecyclePolicies=two)
    archive = [{"TransitionToArchive": "AFTER_90_DAYS"}]
    _refused("BadRequest", 400, put, FileSystemId="fs-held", LifecyclePolicies=archive)
    efs.update_file_system(FileSystemId="fs-held", ThroughputMode="elastic")
    _refused("IncorrectFileSystemLifeCycleState", 409, put, FileSystemId="fs-held", LifecyclePolicies=archive)
    put(FileSystemId="fs-bare", LifecyclePolicies=[])
    assert efs.describe_lifecycle_configuration(FileSystemId="fs-bare")["LifecyclePolicies"] == []


def test_the_backup_policy_is_switched(efs):
    assert efs.describe_backup_policy(FileSystemId="fs-bare")["BackupPolicy"]["Status"] == "DISABLED"
    efs.put_backup_policy(FileSystemId="fs-bare", BackupPolicy={"Status": "ENABLED"})
    assert efs.describe_backup_policy(FileSystemId="fs-bare")["BackupPolicy"]["Status"] == "ENABLED"


def test_what_takes_part_in_a_replication_is_not_deleted(efs, simulator, clients):
    far = clients(simulator, "efs", "us-east-1")
    _refused("ReplicationNotFound", 404, efs.describe_replication_configurations, FileSystemId="fs-bare")
    (found,) = efs.describe_replication_configurations(FileSystemId="fs-source")["Replications"]
    assert found["Destinations"][0]["Status"] == "ENABLED"
    assert far.describe_replication_configurations()["Replications"] == [found]
    _refused("FileSystemInUse", 409, efs.delete_file_system, FileSystemId="fs-source")
    _refused("FileSystemInUse", 409, far.delete_file_system, FileSystemId="fs-copy")
