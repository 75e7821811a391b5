"""FSx: tags, backups, deletions, and restored file systems."""

import json
import urllib.request
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from slackwater_simulator import Export, Fleet, FsxFileSystem, FsxVolume, Simulator, StorageVirtualMachine, instant
from slackwater_simulator.writes_fsx import automatic_backup, fail_backup

NOW = instant("2026-11-16T09:07:00Z")
THEN = NOW - 86_400 * 90
REGION = "ap-northeast-1"
ZFS, ONTAP, WINDOWS, SCRATCH = (f"fs-{number}123456789abcdef0" for number in "1234")
ROOT, CHILD, GRANDCHILD = "fsvol-1123456789abcdef0", "fsvol-00000000000000c01", "fsvol-00000000000000c02"
DATA, LOGS, REPLICA = (f"fsvol-000000000000000a{number}" for number in "123")
SVM = "svm-0123456789abcdef0"


def system(id: str, kind: str, deployment: str, **more: Any) -> FsxFileSystem:
    given = {"storage_gib": 1_024, "throughput": 256, "tags": {"Name": "one"}} | more
    return FsxFileSystem(id=id, region=REGION, created=THEN, kind=kind, deployment=deployment, **given)


def volume(id: str, of: str, name: str, **more: Any) -> FsxVolume:
    return FsxVolume(id=id, file_system_id=of, region=REGION, created=THEN, name=name, **more)


@pytest.fixture
def simulator():
    fleet = Fleet(
        now=NOW,
        fsx=[
            system(ZFS, "OPENZFS", "SINGLE_AZ_2", storage_gib=100, throughput=160, backup_days=3),
            system(ONTAP, "ONTAP", "MULTI_AZ_1"),
            system(WINDOWS, "WINDOWS", "SINGLE_AZ_2"),
            system(SCRATCH, "LUSTRE", "SCRATCH_2"),
        ],
        fsx_volumes=[
            volume(ROOT, ZFS, "fsx"),
            volume(CHILD, ZFS, "child", path="/fsx/child", parent=ROOT, exports=(Export("*", ("rw", "sync")),)),
            volume(GRANDCHILD, ZFS, "grandchild", path="/fsx/child/grandchild", parent=CHILD),
            volume(DATA, ONTAP, "data", kind="ONTAP", path="/data", svm_id=SVM, size_gib=200),
            volume(LOGS, ONTAP, "logs", kind="ONTAP", path="/logs", svm_id=SVM),
            volume(REPLICA, ONTAP, "replica", kind="ONTAP", path="/replica", svm_id=SVM, ontap_type="DP"),
        ],
        svms=[StorageVirtualMachine(id=SVM, file_system_id=ONTAP, region=REGION, created=THEN, name="svm1")],
    )
    with Simulator(fleet) as running:
        yield running


@pytest.fixture
def fsx(simulator, clients):
    return clients(simulator, "fsx")


def refusal(call, **asked: Any) -> str:
    with pytest.raises(ClientError) as caught:
        call(**asked)
    return caught.value.response["Error"]["Code"]


def described(fsx, system_id: str) -> dict[str, Any]:
    return fsx.describe_file_systems(FileSystemIds=[system_id])["FileSystems"][0]


def backup_of(simulator, fsx, **subject: str) -> str:
    """Create a backup, let it finish, and return its id."""
    backup = fsx.create_backup(**subject)["Backup"]["BackupId"]
    simulator.advance(900)
    return backup


def restore(fsx, backup: str, subnets: list[str], **more: Any) -> dict[str, Any]:
    return fsx.create_file_system_from_backup(BackupId=backup, SubnetIds=subnets, **more)["FileSystem"]


# --- Tags -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "describe",
    [
        lambda fsx: fsx.describe_file_systems(FileSystemIds=[ONTAP])["FileSystems"],
        lambda fsx: fsx.describe_volumes(VolumeIds=[DATA])["Volumes"],
        lambda fsx: [
            fsx.create_backup(VolumeId=DATA, ClientRequestToken="b", Tags=[{"Key": "Name", "Value": "x"}])["Backup"]
        ],
    ],
)
def test_all_that_has_an_arn_carries_tags(fsx, describe):
    arn = describe(fsx)[0]["ResourceARN"]
    fsx.tag_resource(
        ResourceARN=arn, Tags=[{"Key": "slackwater:marked", "Value": "f-1"}, {"Key": "other", "Value": ""}]
    )
    fsx.untag_resource(ResourceARN=arn, TagKeys=["other", "never there"])
    tags = fsx.list_tags_for_resource(ResourceARN=arn)["Tags"]
    assert {"Key": "slackwater:marked", "Value": "f-1"} in tags
    assert "other" not in {tag["Key"] for tag in tags}
    shown = describe(fsx)[0]
    assert {tag["Key"]: tag["Value"] for tag in shown["Tags"]}["slackwater:marked"] == "f-1"


def test_tags_of_what_is_not_there_are_an_error(fsx):
    there = described(fsx, ZFS)["ResourceARN"]
    asked = {"Tags": [{"Key": "a", "Value": "b"}]}
    assert refusal(fsx.tag_resource, ResourceARN=there.replace(ZFS, "fs-0f"), **asked) == "ResourceNotFound"
    assert refusal(fsx.tag_resource, ResourceARN=there.replace(REGION, "us-east-1"), **asked) == "ResourceNotFound"
    assert refusal(fsx.tag_resource, ResourceARN="arn:aws:ec2:x:1:volume/vol-1", **asked) == "NotServiceResourceError"
    assert refusal(fsx.tag_resource, ResourceARN=there, Tags=[{"Key": "aws:a", "Value": "b"}]) == "BadRequest"
    many = [{"Key": str(number), "Value": ""} for number in range(50)]
    assert refusal(fsx.tag_resource, ResourceARN=there, Tags=many) == "BadRequest"


# --- Backups ----------------------------------------------------------------------------------------------------------


def test_a_backup_of_a_file_system_is_available_in_fifteen_minutes(simulator, fsx):
    begun = fsx.create_backup(FileSystemId=ZFS, Tags=[{"Key": "slackwater:token", "Value": "t"}])["Backup"]
    assert (begun["Lifecycle"], begun["Type"], begun["ResourceType"]) == ("CREATING", "USER_INITIATED", "FILE_SYSTEM")
    assert "SizeInBytes" not in begun
    simulator.advance(899)
    assert fsx.describe_backups(BackupIds=[begun["BackupId"]])["Backups"][0]["Lifecycle"] == "CREATING"
    simulator.advance(1)
    (done,) = fsx.describe_backups(BackupIds=[begun["BackupId"]])["Backups"]
    assert (done["Lifecycle"], done["SizeInBytes"]) == ("AVAILABLE", int(0.4 * (100 << 30)))
    assert (done["FileSystem"]["FileSystemId"], done["FileSystem"]["StorageCapacity"]) == (ZFS, 100)
    assert done["Tags"] == [{"Key": "slackwater:token", "Value": "t"}]
    assert simulator.account.contents(done["BackupId"]) == simulator.account.contents(ZFS)


def test_a_backup_of_a_volume_names_the_volume(simulator, fsx):
    backup = backup_of(simulator, fsx, VolumeId=DATA)
    (done,) = fsx.describe_backups(Filters=[{"Name": "volume-id", "Values": [DATA]}])["Backups"]
    assert (done["BackupId"], done["ResourceType"], done["Volume"]["VolumeId"]) == (backup, "VOLUME", DATA)
    assert done["Volume"]["OntapConfiguration"]["SizeInBytes"] == 200 << 30
    assert done["FileSystem"]["FileSystemId"] == ONTAP
    assert done["Tags"] == []


def test_tags_are_copied_to_a_backup_that_is_given_none(simulator, fsx):
    (backup,) = fsx.describe_backups(BackupIds=[backup_of(simulator, fsx, FileSystemId=ZFS)])["Backups"]
    assert backup["Tags"] == [{"Key": "Name", "Value": "one"}]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"FileSystemId": "fs-00000000000000000"}, "FileSystemNotFound"),
        ({"VolumeId": "fsvol-00000000000000000"}, "VolumeNotFound"),
        ({"FileSystemId": ONTAP}, "BadRequest"),
        ({"FileSystemId": SCRATCH}, "BadRequest"),
        ({"VolumeId": CHILD}, "BadRequest"),
        ({"VolumeId": REPLICA}, "BadRequest"),
        ({"VolumeId": DATA, "FileSystemId": ONTAP}, "BadRequest"),
        ({}, "BadRequest"),
    ],
)
def test_a_backup_that_cannot_be_is_refused(simulator, fsx, asked, code):
    assert refusal(fsx.create_backup, **asked) == code
    assert simulator.account.backups() == []


def test_the_same_token_is_the_same_backup(simulator, fsx):
    asked = {"FileSystemId": ZFS, "ClientRequestToken": "once"}
    first = fsx.create_backup(**asked)["Backup"]["BackupId"]
    assert refusal(fsx.create_backup, FileSystemId=ZFS, ClientRequestToken="twice") == "BackupInProgress"
    simulator.advance(900)
    assert fsx.create_backup(**asked)["Backup"]["BackupId"] == first
    assert refusal(fsx.create_backup, **asked, Tags=[{"Key": "a", "Value": "b"}]) == "IncompatibleParameterError"
    assert fsx.create_backup(FileSystemId=ZFS, ClientRequestToken="twice")["Backup"]["BackupId"] != first


def test_a_backup_whose_answer_was_lost_is_found_by_its_token(simulator, fsx):
    simulator.faults.lost_answer("fsx:CreateBackup", times=1)
    asked = {"FileSystemId": ZFS, "ClientRequestToken": "once"}
    with pytest.raises(ConnectionClosedError):
        fsx.create_backup(**asked)
    (begun,) = fsx.describe_backups()["Backups"]
    assert fsx.create_backup(**asked)["Backup"]["BackupId"] == begun["BackupId"]
    assert len(simulator.account.backups()) == 1


def test_backups_are_found_by_file_system_and_type_in_pages(simulator, fsx):
    ids = [backup_of(simulator, fsx, FileSystemId=ZFS), backup_of(simulator, fsx, VolumeId=DATA)]
    ids += [backup_of(simulator, fsx, VolumeId=LOGS), automatic_backup(simulator.account, ZFS)]

    def found(**filters: str) -> list[str]:
        asked = [{"Name": name.replace("_", "-"), "Values": [value]} for name, value in filters.items()]
        return [backup["BackupId"] for backup in fsx.describe_backups(Filters=asked)["Backups"]]

    assert found(file_system_id=ONTAP) == ids[1:3]
    assert found(file_system_id=ZFS, backup_type="AUTOMATIC") == ids[3:]
    assert found(backup_type="USER_INITIATED") == ids[:3]
    assert found(file_system_type="OPENZFS") == [ids[0], ids[3]]
    pages = list(fsx.get_paginator("describe_backups").paginate(PaginationConfig={"PageSize": 3}))
    assert [[backup["BackupId"] for backup in page["Backups"]] for page in pages] == [ids[:3], ids[3:]]
    assert refusal(fsx.describe_backups, BackupIds=["backup-00000000"]) == "BackupNotFound"
    assert refusal(fsx.describe_backups, BackupIds=["backup-00000000"] * 51) == "BadRequest"
    assert refusal(fsx.describe_backups, Filters=[{"Name": "data-repository-type", "Values": ["x"]}]) == "BadRequest"


def test_backups_are_described_over_http(simulator, fsx):
    backup = backup_of(simulator, fsx, FileSystemId=ZFS)
    with urllib.request.urlopen(f"{simulator.url}/_simulator/backups", timeout=5) as answer:
        (found,) = json.load(answer)["backups"]
    assert (found["id"], found["of"], found["state"]) == (backup, ZFS, "AVAILABLE")
    assert (found["tags"], found["contents"]) == ({"Name": "one"}, simulator.account.contents(ZFS))


def test_a_backup_is_deleted_at_once_but_not_while_it_is_made(simulator, fsx):
    backup = fsx.create_backup(FileSystemId=ZFS)["Backup"]["BackupId"]
    assert refusal(fsx.delete_backup, BackupId=backup) == "BackupInProgress"
    simulator.advance(900)
    assert fsx.delete_backup(BackupId=backup)["Lifecycle"] == "DELETED"
    assert refusal(fsx.delete_backup, BackupId=backup) == "BackupNotFound"
    assert simulator.account.backups() == []


def test_a_backup_fails_if_its_file_system_is_deleted_or_a_test_asks_for_it(simulator, fsx):
    first = fsx.create_backup(VolumeId=DATA)["Backup"]["BackupId"]
    second = fsx.create_backup(FileSystemId=ZFS)["Backup"]["BackupId"]
    third = fsx.create_backup(VolumeId=LOGS)["Backup"]["BackupId"]
    simulator.account.remove(DATA)
    fail_backup(simulator.account, second, "No space.")
    simulator.advance(900)
    found = {backup["BackupId"]: backup for backup in fsx.describe_backups()["Backups"]}
    assert [found[backup]["Lifecycle"] for backup in (first, second, third)] == ["FAILED", "FAILED", "AVAILABLE"]
    assert found[second]["FailureDetails"]["Message"] == "No space."


# --- Deletions --------------------------------------------------------------------------------------------------------


def test_an_openzfs_file_system_is_deleted_with_its_children_only_on_request(simulator, fsx):
    automatic = automatic_backup(simulator.account, ZFS)
    simulator.advance(900)
    kept = backup_of(simulator, fsx, FileSystemId=ZFS)
    skip = {"SkipFinalBackup": True}
    assert refusal(fsx.delete_file_system, FileSystemId=ZFS, OpenZFSConfiguration=skip) == "BadRequest"
    assert described(fsx, ZFS)["Lifecycle"] == "AVAILABLE"
    found = {"FileSystemId": ZFS, "OpenZFSConfiguration": skip | {"Options": ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"]}}
    answer = fsx.delete_file_system(**found, ClientRequestToken="once")
    assert (answer["Lifecycle"], "OpenZFSResponse" in answer) == ("DELETING", False)
    assert fsx.delete_file_system(**found, ClientRequestToken="once")["Lifecycle"] == "DELETING"
    assert refusal(fsx.delete_file_system, **found, ClientRequestToken="twice") == "BadRequest"
    assert described(fsx, ZFS)["Lifecycle"] == "DELETING"
    assert not simulator.account.exists(ZFS)
    simulator.advance(599)
    assert fsx.describe_volumes(VolumeIds=[CHILD])["Volumes"][0]["Lifecycle"] == "DELETING"
    simulator.advance(1)
    assert refusal(fsx.describe_file_systems, FileSystemIds=[ZFS]) == "FileSystemNotFound"
    assert refusal(fsx.describe_volumes, VolumeIds=[CHILD]) == "VolumeNotFound"
    assert automatic != kept
    assert [backup.id for backup in simulator.account.backups()] == [kept]


def test_openzfs_makes_a_final_backup_unless_asked_not_to(simulator, fsx):
    options = {"Options": ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"]}
    answer = fsx.delete_file_system(FileSystemId=ZFS, OpenZFSConfiguration=options)
    simulator.advance(900)
    (final,) = fsx.describe_backups()["Backups"]
    assert (answer["OpenZFSResponse"]["FinalBackupId"], final["Lifecycle"]) == (final["BackupId"], "AVAILABLE")


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"FileSystemId": "fs-00000000000000000"}, "FileSystemNotFound"),
        ({"FileSystemId": ZFS, "WindowsConfiguration": {"SkipFinalBackup": True}}, "BadRequest"),
        ({"FileSystemId": ONTAP, "OpenZFSConfiguration": {"SkipFinalBackup": True}}, "BadRequest"),
        ({"FileSystemId": ONTAP}, "BadRequest"),
    ],
)
def test_a_deletion_that_cannot_be_is_refused(simulator, fsx, asked, code):
    assert refusal(fsx.delete_file_system, **asked) == code
    simulator.advance(600)
    assert len(simulator.account.fleet.fsx) == 4


def test_a_deletion_whose_answer_was_lost_took_place(simulator, fsx):
    simulator.faults.lost_answer("fsx:DeleteFileSystem", times=1)
    with pytest.raises(ConnectionClosedError):
        fsx.delete_file_system(
            FileSystemId=ZFS, OpenZFSConfiguration={"Options": ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"]}
        )
    assert described(fsx, ZFS)["Lifecycle"] == "DELETING"


def test_what_is_deleted_may_still_show_for_a_while(simulator, fsx):
    simulator.advance(10)
    fsx.delete_file_system(FileSystemId=ZFS, OpenZFSConfiguration={"Options": ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"]})
    simulator.advance(5)
    simulator.faults.lagging("fsx:DescribeFileSystems", times=1)
    assert described(fsx, ZFS)["Lifecycle"] == "AVAILABLE"
    assert described(fsx, ZFS)["Lifecycle"] == "DELETING"


# --- Restores ---------------------------------------------------------------------------------------------------------


def test_an_openzfs_file_system_comes_back_with_its_volumes_and_contents(simulator, fsx, clients):
    held = {each: simulator.account.contents(each) for each in (ZFS, CHILD, GRANDCHILD)}
    was, backup = described(fsx, ZFS), backup_of(simulator, fsx, FileSystemId=ZFS)
    options = {"SkipFinalBackup": True, "Options": ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"]}
    fsx.delete_file_system(FileSystemId=ZFS, OpenZFSConfiguration=options)
    simulator.advance(600)
    begun = restore(
        fsx,
        backup,
        was["SubnetIds"],
        SecurityGroupIds=["sg-00000001", "sg-00000002"],
        KmsKeyId="arn:aws:kms:ap-northeast-1:123456789012:key/own",
        Tags=[{"Key": "Name", "Value": "back"}],
        OpenZFSConfiguration={"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 320},
    )
    fresh = begun["FileSystemId"]
    assert (begun["Lifecycle"], fresh == ZFS) == ("CREATING", False)
    assert refusal(fsx.delete_backup, BackupId=backup) == "BackupRestoring"
    assert refusal(fsx.delete_file_system, FileSystemId=fresh, OpenZFSConfiguration=options) == "BadRequest"
    assert simulator.account.contents(fresh) == ""
    simulator.advance(1_800)
    now = described(fsx, fresh)
    assert (now["Lifecycle"], now["StorageCapacity"], now["SubnetIds"]) == ("AVAILABLE", 100, was["SubnetIds"])
    assert (now["KmsKeyId"].endswith("key/own"), now["Tags"]) == (True, [{"Key": "Name", "Value": "back"}])
    settings = now["OpenZFSConfiguration"]
    assert (settings["DeploymentType"], settings["ThroughputCapacity"]) == ("SINGLE_AZ_HA_2", 320)
    assert settings["AutomaticBackupRetentionDays"] == 3
    volumes = {
        each["OpenZFSConfiguration"]["VolumePath"]: each
        for each in fsx.describe_volumes(Filters=[{"Name": "file-system-id", "Values": [fresh]}])["Volumes"]
    }
    assert set(volumes) == {"/fsx", "/fsx/child", "/fsx/child/grandchild"}
    assert volumes["/fsx"]["VolumeId"] == settings["RootVolumeId"]
    child, grandchild = volumes["/fsx/child"], volumes["/fsx/child/grandchild"]
    assert child["OpenZFSConfiguration"]["ParentVolumeId"] == settings["RootVolumeId"]
    assert grandchild["OpenZFSConfiguration"]["ParentVolumeId"] == child["VolumeId"] != CHILD
    assert child["OpenZFSConfiguration"]["NfsExports"]
    assert simulator.account.contents(fresh) == held[ZFS]
    assert simulator.account.contents(child["VolumeId"]) == held[CHILD]
    assert simulator.account.contents(grandchild["VolumeId"]) == held[GRANDCHILD]
    ec2 = clients(simulator, "ec2")
    shown = ec2.describe_network_interfaces(NetworkInterfaceIds=now["NetworkInterfaceIds"])["NetworkInterfaces"]
    assert [group["GroupId"] for group in shown[0]["Groups"]] == ["sg-00000001", "sg-00000002"]
    assert shown[0]["SubnetId"] == was["SubnetIds"][0]
    assert (
        refusal(ec2.describe_network_interfaces, NetworkInterfaceIds=["eni-0"]) == "InvalidNetworkInterfaceID.NotFound"
    )


def test_the_same_token_is_the_same_file_system(simulator, fsx):
    backup, subnets = backup_of(simulator, fsx, FileSystemId=ZFS), described(fsx, ZFS)["SubnetIds"]
    first = restore(fsx, backup, subnets, ClientRequestToken="once")["FileSystemId"]
    simulator.advance(1_800)
    again = restore(fsx, backup, subnets, ClientRequestToken="once")
    assert (again["FileSystemId"], again["Lifecycle"]) == (first, "AVAILABLE")
    with pytest.raises(ClientError, match="IncompatibleParameterError"):
        restore(fsx, backup, subnets, ClientRequestToken="once", StorageCapacity=200)
    assert restore(fsx, backup, subnets, ClientRequestToken="twice")["FileSystemId"] != first


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"StorageCapacity": 64}, "BadRequest"),
        ({"SubnetIds": ["subnet-00000000"]}, "InvalidNetworkSettings"),
        ({"SubnetIds": []}, "BadRequest"),
        ({"SecurityGroupIds": ["default-group"]}, "InvalidNetworkSettings"),
        ({"OpenZFSConfiguration": {"DeploymentType": "MULTI_AZ_1", "ThroughputCapacity": 160}}, "BadRequest"),
        ({"WindowsConfiguration": {"ThroughputCapacity": 160}}, "BadRequest"),
        ({"BackupId": "backup-00000000"}, "BackupNotFound"),
    ],
)
def test_a_restore_that_cannot_be_is_refused(simulator, fsx, more, code):
    asked = {"BackupId": backup_of(simulator, fsx, FileSystemId=ZFS), "SubnetIds": described(fsx, ZFS)["SubnetIds"]}
    assert refusal(fsx.create_file_system_from_backup, **asked | more) == code
    assert len(simulator.account.fleet.fsx) == 4


def test_only_a_whole_backup_of_a_file_system_is_restored_as_one(simulator, fsx):
    subnets = described(fsx, ZFS)["SubnetIds"]
    of_volume = backup_of(simulator, fsx, VolumeId=DATA)
    begun = fsx.create_backup(FileSystemId=ZFS)["Backup"]["BackupId"]
    for backup in (of_volume, begun):
        assert refusal(fsx.create_file_system_from_backup, BackupId=backup, SubnetIds=subnets) == "BadRequest"


# --- Other answers ----------------------------------------------------------------------------------------------------


def test_what_a_restore_needs_is_shown(fsx):
    shown = described(fsx, ONTAP)
    assert len(shown["SubnetIds"]) == len(shown["NetworkInterfaceIds"]) == 2
    assert shown["VpcId"].startswith("vpc-")
    assert shown["KmsKeyId"].startswith("arn:aws:kms:")
    needed = {"PreferredSubnetId", "ThroughputCapacity", "DeploymentType", "DiskIopsConfiguration", "RouteTableIds"}
    needed |= {"AutomaticBackupRetentionDays", "DailyAutomaticBackupStartTime", "WeeklyMaintenanceStartTime", "HAPairs"}
    assert needed | {"EndpointIpAddressRange"} <= set(shown["OntapConfiguration"])
    assert "EndpointIpAddressRange" not in described(fsx, ZFS)["OpenZFSConfiguration"]


def test_an_administrative_action_is_shown(simulator, fsx):
    action = {"AdministrativeActionType": "FILE_SYSTEM_UPDATE", "Status": "IN_PROGRESS"}
    found = simulator.account.find(ZFS)
    simulator.account.put(replace(found, detail={**found.detail, "actions": [action]}))
    assert described(fsx, ZFS)["AdministrativeActions"] == [action]


def test_nobody_attached_an_s3_access_point(fsx):
    asked = [{"Name": "file-system-id", "Values": [ZFS]}]
    assert fsx.describe_s3_access_point_attachments(Filters=asked)["S3AccessPointAttachments"] == []


def test_a_state_that_was_shown_does_not_change(simulator, fsx):
    assert described(fsx, ZFS)["Tags"] == [{"Key": "Name", "Value": "one"}]
    simulator.account.tag(ZFS, "keep", "yes")
    assert {tag["Key"] for tag in described(fsx, ZFS)["Tags"]} == {"Name", "keep"}
    simulator.account.replace(ZFS)
    assert described(fsx, ZFS)["CreationTime"].timestamp() == NOW
