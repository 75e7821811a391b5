"""AWS Backup: recovery points of EFS file systems, and restores from them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from slackwater_simulator import ElasticFileSystem, Fleet, MountTarget, Simulator, instant
from slackwater_simulator.backup_jobs import fail_backup_job, fail_restore_job

NOW = instant("2026-11-16T09:07:00Z")
REGION = "ap-northeast-1"
SYSTEM, ZONAL = "fs-0123456789abcdef0", "fs-0123456789abcdef1"
ARN = f"arn:aws:elasticfilesystem:{REGION}:123456789012:file-system/"
ROLE = "arn:aws:iam::123456789012:role/backup"
BYTES = 5 << 30


@pytest.fixture
def simulator():
    systems = [
        ElasticFileSystem(
            id=SYSTEM,
            region=REGION,
            created=NOW - 86_400 * 90,
            standard_bytes=BYTES - (1 << 30),
            ia_bytes=1 << 30,
            tags={"Name": "shared", "slackwater:marked": "f-1"},
        ),
        ElasticFileSystem(
            id=ZONAL,
            region=REGION,
            created=NOW - 86_400 * 90,
            one_zone=f"{REGION}a",
            encrypted=False,
            mount_targets=(MountTarget(id="fsmt-1", az=f"{REGION}a"),),
        ),
    ]
    with Simulator(Fleet(now=NOW, efs=systems)) as running:
        yield running


@pytest.fixture
def backup(simulator, clients):
    return clients(simulator, "backup")


def start(backup, system: str = SYSTEM, **more: Any) -> dict[str, Any]:
    asked = {"BackupVaultName": "Default", "ResourceArn": ARN + system, "IamRoleArn": ROLE} | more
    return backup.start_backup_job(**asked)


def point_of(simulator, backup, system: str = SYSTEM, **more: Any) -> str:
    """Create a recovery point, let it finish, and return its ARN."""
    arn = start(backup, system, **more)["RecoveryPointArn"]
    simulator.advance(1_200)
    return arn


def restore(backup, point: str, metadata: dict[str, str] | None = None, **more: Any) -> str:
    asked = {"newFileSystem": "true", "CreationToken": "again", "Encrypted": "true"} | (metadata or {})
    return backup.start_restore_job(RecoveryPointArn=point, IamRoleArn=ROLE, Metadata=asked, **more)["RestoreJobId"]


def refusal(call, **asked: Any) -> str:
    with pytest.raises(ClientError) as caught:
        call(**asked)
    return caught.value.response["Error"]["Code"]


def test_a_backup_completes_within_twenty_minutes(simulator, backup):
    job = start(backup)["BackupJobId"]
    assert backup.describe_backup_job(BackupJobId=job)["State"] == "CREATED"
    simulator.advance(60)
    running = backup.describe_backup_job(BackupJobId=job)
    assert running["State"] == "RUNNING"
    assert "BackupSizeInBytes" not in running
    simulator.advance(1_139)
    assert backup.describe_backup_job(BackupJobId=job)["State"] == "RUNNING"
    simulator.advance(1)
    done = backup.describe_backup_job(BackupJobId=job)
    assert (done["State"], done["BackupSizeInBytes"], done["ResourceArn"]) == ("COMPLETED", BYTES, ARN + SYSTEM)
    assert done["CompletionDate"] - done["CreationDate"] == timedelta(seconds=1_200)
    assert done["ResourceType"] == "EFS"


def test_a_recovery_point_is_being_created_until_its_job_is_done(simulator, backup):
    arn = start(backup, Lifecycle={"DeleteAfterDays": 30})["RecoveryPointArn"]
    asked = {"BackupVaultName": "Default", "RecoveryPointArn": arn}
    early = backup.describe_recovery_point(**asked)
    assert early["Status"] == "CREATING"
    assert "BackupSizeInBytes" not in early
    simulator.advance(1_200)
    point = backup.describe_recovery_point(**asked)
    assert (point["Status"], point["BackupSizeInBytes"], point["Lifecycle"]) == (
        "COMPLETED",
        BYTES,
        {"DeleteAfterDays": 30},
    )
    assert point["CalculatedLifecycle"]["DeleteAt"] - point["CreationDate"] == timedelta(days=30)


def test_the_same_token_is_the_same_job(simulator, backup):
    first = start(backup, IdempotencyToken="once")
    simulator.advance(600)
    assert start(backup, IdempotencyToken="once")["BackupJobId"] == first["BackupJobId"]
    assert start(backup, IdempotencyToken="twice")["BackupJobId"] != first["BackupJobId"]
    assert len(simulator.account.backups()) == 2
    assert (
        refusal(start, backup=backup, IdempotencyToken="once", StartWindowMinutes=90)
        == "InvalidParameterValueException"
    )


def test_a_job_whose_answer_was_lost_is_learned_by_its_token(simulator, backup):
    simulator.faults.lost_answer("backup:StartBackupJob", times=1)
    with pytest.raises(Exception, match="Connection was closed"):
        start(backup, IdempotencyToken="lost")
    (begun,) = backup.list_backup_jobs()["BackupJobs"]
    assert start(backup, IdempotencyToken="lost")["BackupJobId"] == begun["BackupJobId"]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"BackupVaultName": "nowhere"}, "ResourceNotFoundException"),
        ({"system": "fs-00000000000000000"}, "ResourceNotFoundException"),
        ({"ResourceArn": "arn:aws:ec2:ap-northeast-1:123456789012:volume/vol-1"}, "InvalidParameterValueException"),
        ({"IamRoleArn": "backup"}, "InvalidParameterValueException"),
        ({"IamRoleArn": ""}, "MissingParameterValueException"),
        ({"BackupVaultName": ""}, "MissingParameterValueException"),
        ({"StartWindowMinutes": 59}, "InvalidParameterValueException"),
        ({"Lifecycle": {"DeleteAfterDays": 0}}, "InvalidParameterValueException"),
        ({"RecoveryPointTags": {"aws:own": "x"}}, "InvalidParameterValueException"),
    ],
)
def test_a_backup_that_cannot_be_is_refused(simulator, backup, asked, code):
    assert refusal(start, backup=backup, **asked) == code
    assert simulator.account.backups() == []


def test_a_backup_of_a_deleted_file_system_fails_and_leaves_no_recovery_point(simulator, backup, clients):
    job = start(backup)
    simulator.advance(100)
    clients(simulator, "efs").delete_file_system(FileSystemId=SYSTEM)
    simulator.advance(1_200)
    described = backup.describe_backup_job(BackupJobId=job["BackupJobId"])
    assert (described["State"], SYSTEM in described["StatusMessage"]) == ("FAILED", True)
    assert simulator.account.backups() == []
    asked = {"BackupVaultName": "Default", "RecoveryPointArn": job["RecoveryPointArn"]}
    assert refusal(backup.describe_recovery_point, **asked) == "ResourceNotFoundException"


def test_a_file_system_that_is_being_deleted_is_not_backed_up(simulator, backup, clients):
    clients(simulator, "efs").delete_file_system(FileSystemId=SYSTEM)
    assert refusal(start, backup=backup) == "InvalidRequestException"


def test_a_job_can_be_made_to_fail(simulator, backup):
    job = start(backup)["BackupJobId"]
    fail_backup_job(simulator.account, job, "The role may not.")
    simulator.advance(1_200)
    described = backup.describe_backup_job(BackupJobId=job)
    assert (described["State"], described["StatusMessage"]) == ("FAILED", "The role may not.")


def test_a_second_backup_transfers_the_difference_and_holds_all(simulator, backup):
    point_of(simulator, backup)
    second = start(backup)
    elsewhere = start(backup, BackupVaultName="slackwater")
    simulator.advance(1_200)
    assert backup.describe_backup_job(BackupJobId=second["BackupJobId"])["BackupSizeInBytes"] == 0
    point = backup.describe_recovery_point(BackupVaultName="Default", RecoveryPointArn=second["RecoveryPointArn"])
    assert point["BackupSizeInBytes"] == BYTES
    assert backup.describe_backup_job(BackupJobId=elsewhere["BackupJobId"])["BackupSizeInBytes"] == BYTES


def test_recovery_points_are_listed_by_vault_and_by_resource_in_pages(simulator, backup):
    points = [point_of(simulator, backup), point_of(simulator, backup), point_of(simulator, backup, ZONAL)]
    point_of(simulator, backup, BackupVaultName="slackwater")
    paginator = backup.get_paginator("list_recovery_points_by_backup_vault")
    pages = list(paginator.paginate(BackupVaultName="Default", PaginationConfig={"PageSize": 2}))
    assert [len(page["RecoveryPoints"]) for page in pages] == [2, 1]
    assert [point["RecoveryPointArn"] for page in pages for point in page["RecoveryPoints"]] == points
    one = backup.list_recovery_points_by_backup_vault(BackupVaultName="Default", ByResourceArn=ARN + ZONAL)
    assert [point["RecoveryPointArn"] for point in one["RecoveryPoints"]] == points[2:]
    mine = backup.list_recovery_points_by_resource(ResourceArn=ARN + SYSTEM)["RecoveryPoints"]
    assert {(point["BackupVaultName"], point["BackupSizeBytes"]) for point in mine} == {
        ("Default", BYTES),
        ("slackwater", BYTES),
    }


def test_jobs_are_listed_the_newest_first_by_resource_and_state(simulator, backup):
    jobs = [start(backup)["BackupJobId"], start(backup, ZONAL)["BackupJobId"]]
    assert [job["BackupJobId"] for job in backup.list_backup_jobs()["BackupJobs"]] == jobs[::-1]
    mine = backup.list_backup_jobs(ByResourceArn=ARN + SYSTEM, ByState="CREATED")["BackupJobs"]
    assert [job["BackupJobId"] for job in mine] == jobs[:1]
    assert backup.list_backup_jobs(ByState="COMPLETED")["BackupJobs"] == []
    assert refusal(backup.list_backup_jobs, ByAccountId="123456789012") == "InvalidParameterValueException"


def test_another_region_does_not_have_it(simulator, backup, clients):
    job = start(backup)
    abroad = clients(simulator, "backup", "us-east-1")
    assert abroad.list_backup_jobs()["BackupJobs"] == []
    assert refusal(abroad.describe_backup_job, BackupJobId=job["BackupJobId"]) == "ResourceNotFoundException"
    assert (
        refusal(start, backup=abroad, ResourceArn=(ARN + SYSTEM).replace(REGION, "us-east-1"))
        == "ResourceNotFoundException"
    )
    assert abroad.list_recovery_points_by_backup_vault(BackupVaultName="Default")["RecoveryPoints"] == []


def test_a_recovery_point_carries_its_sources_tags_and_those_given(simulator, backup):
    arn = point_of(simulator, backup, RecoveryPointTags={"slackwater:token": "t"})
    assert backup.list_tags(ResourceArn=arn)["Tags"] == {
        "Name": "shared",
        "slackwater:marked": "f-1",
        "slackwater:token": "t",
    }
    backup.tag_resource(ResourceArn=arn, Tags={"slackwater:expires-at": "2027-01-01T00:00:00Z"})
    backup.untag_resource(ResourceArn=arn, TagKeyList=["Name", "slackwater:marked"])
    assert set(backup.list_tags(ResourceArn=arn)["Tags"]) == {"slackwater:token", "slackwater:expires-at"}


def test_a_deleted_recovery_point_is_gone_in_a_minute(simulator, backup):
    arn = point_of(simulator, backup)
    asked = {"BackupVaultName": "Default", "RecoveryPointArn": arn}
    assert (
        refusal(backup.delete_recovery_point, **asked | {"BackupVaultName": "slackwater"})
        == "ResourceNotFoundException"
    )
    backup.delete_recovery_point(**asked)
    assert backup.describe_recovery_point(**asked)["Status"] == "DELETING"
    assert not simulator.account.exists(arn)
    simulator.advance(60)
    assert refusal(backup.describe_recovery_point, **asked) == "ResourceNotFoundException"
    assert refusal(backup.delete_recovery_point, **asked) == "ResourceNotFoundException"


def test_a_recovery_point_that_is_being_made_is_not_deleted(simulator, backup):
    arn = start(backup)["RecoveryPointArn"]
    asked = {"BackupVaultName": "Default", "RecoveryPointArn": arn}
    assert refusal(backup.delete_recovery_point, **asked) == "InvalidResourceStateException"


def test_aws_backup_deletes_what_is_past_its_days(simulator, backup):
    arn = point_of(simulator, backup, Lifecycle={"DeleteAfterDays": 7})
    simulator.advance(7 * 86_400 - 1_201)
    assert simulator.account.exists(arn)
    simulator.advance(1)
    assert not simulator.account.exists(arn)


def test_the_automatic_vault_lets_nobody_delete_or_restore(simulator, backup):
    vault = "aws/efs/automatic-backup-vault"
    arn = point_of(simulator, backup)
    (point,) = simulator.account.backups()
    simulator.account.put_backup(replace(point, detail={**point.detail, "vault": vault}))
    assert refusal(backup.delete_recovery_point, BackupVaultName=vault, RecoveryPointArn=arn) == "AccessDeniedException"
    assert refusal(restore, backup=backup, point=arn) == "AccessDeniedException"


def test_a_restore_is_a_new_file_system_with_the_same_contents_in_a_directory(simulator, backup, clients):
    held = simulator.account.contents(SYSTEM)
    arn = point_of(simulator, backup, RecoveryPointTags={"slackwater:token": "t"})
    clients(simulator, "efs").delete_file_system(FileSystemId=SYSTEM)
    simulator.advance(60)
    job = restore(backup, arn, {"PerformanceMode": "maxIO"}, CopySourceTagsToRestoredResource=True)
    assert backup.describe_restore_job(RestoreJobId=job)["Status"] == "PENDING"
    simulator.advance(1_499)
    running = backup.describe_restore_job(RestoreJobId=job)
    assert (running["Status"], "CreatedResourceArn" in running) == ("RUNNING", False)
    simulator.advance(1)
    done = backup.describe_restore_job(RestoreJobId=job)
    assert (done["Status"], done["SourceResourceArn"]) == ("COMPLETED", ARN + SYSTEM)
    fresh = done["CreatedResourceArn"].rpartition("/")[2]
    assert simulator.account.contents(fresh) == held
    (system,) = clients(simulator, "efs").describe_file_systems(FileSystemId=fresh)["FileSystems"]
    assert system["SizeInBytes"]["ValueInStandard"] == BYTES
    assert (system["PerformanceMode"], system["CreationToken"], system["Encrypted"]) == ("maxIO", "again", True)
    tags = {tag["Key"]: tag["Value"] for tag in system["Tags"]}
    assert tags["aws:backup:source-resource"] == ARN + SYSTEM
    assert tags["slackwater:token"] == "t"


def test_what_is_restored_is_empty_until_it_is_done(simulator, backup):
    arn = point_of(simulator, backup)
    restore(backup, arn)
    simulator.advance(61)
    (fresh,) = (system for system in simulator.account.fleet.efs if system.id not in (SYSTEM, ZONAL))
    assert simulator.account.contents(fresh.id) == ""
    assert fresh.tags == {"aws:backup:source-resource": ARN + SYSTEM}


def test_what_a_backup_holds_is_what_was_there_when_it_began(simulator, backup):
    was = simulator.account.contents(SYSTEM)
    arn = start(backup)["RecoveryPointArn"]
    simulator.advance(100)
    simulator.account.replace(SYSTEM)
    simulator.advance(1_200)
    assert simulator.account.contents(arn) == was != simulator.account.contents(SYSTEM)


def test_the_same_token_restores_once(simulator, backup):
    arn = point_of(simulator, backup)
    first = restore(backup, arn, IdempotencyToken="once")
    simulator.advance(2_000)
    assert restore(backup, arn, IdempotencyToken="once") == first
    assert len(simulator.account.fleet.efs) == 3


def test_two_restores_with_one_creation_token_make_one_file_system(simulator, backup):
    arn = point_of(simulator, backup)
    jobs = [restore(backup, arn), restore(backup, arn)]
    simulator.advance(1_500)
    assert [backup.describe_restore_job(RestoreJobId=job)["Status"] for job in jobs] == ["COMPLETED", "FAILED"]
    assert len(simulator.account.fleet.efs) == 3


def test_a_restore_can_be_made_to_fail_and_leaves_what_it_began(simulator, backup):
    job = restore(backup, point_of(simulator, backup))
    simulator.advance(100)
    fail_restore_job(simulator.account, job, "No space.")
    simulator.advance(1_500)
    described = backup.describe_restore_job(RestoreJobId=job)
    assert (described["Status"], described["StatusMessage"], "CreatedResourceArn" in described) == (
        "FAILED",
        "No space.",
        False,
    )
    assert len(simulator.account.fleet.efs) == 3


def test_restore_metadata_say_how_it_was(simulator, backup):
    described = backup.get_recovery_point_restore_metadata(
        BackupVaultName="Default", RecoveryPointArn=point_of(simulator, backup, ZONAL)
    )["RestoreMetadata"]
    assert described["file-system-id"] == ZONAL
    assert (described["Encrypted"], described["singleAzFilesystem"], described["availabilityZoneName"]) == (
        "false",
        "true",
        f"{REGION}a",
    )
    assert "KmsKeyId" not in described


def test_a_one_zone_restore_is_in_its_zone(simulator, backup):
    arn = point_of(simulator, backup, ZONAL)
    zone = {"singleAzFilesystem": "true", "availabilityZoneName": f"{REGION}c", "Encrypted": "false"}
    restore(backup, arn, zone)
    simulator.advance(1_500)
    fresh = simulator.account.fleet.efs[-1]
    assert (fresh.one_zone, fresh.encrypted) == (f"{REGION}c", False)


@pytest.mark.parametrize(
    "metadata",
    [
        {"newFileSystem": "false"},
        {"CreationToken": ""},
        {"Encrypted": ""},
        {"Encrypted": "false", "KmsKeyId": "arn:aws:kms:ap-northeast-1:123456789012:key/1"},
        {"singleAzFilesystem": "true"},
        {"singleAzFilesystem": "true", "availabilityZoneName": "us-east-1a"},
        {"PerformanceMode": "fast"},
        {"made-up": "x"},
    ],
)
def test_a_restore_that_cannot_be_is_refused(simulator, backup, metadata):
    arn = point_of(simulator, backup)
    assert refusal(restore, backup=backup, point=arn, metadata=metadata) == "InvalidParameterValueException"


def test_a_recovery_point_is_not_restored_before_it_is_whole_or_deleted_while_it_is_restored(simulator, backup):
    arn = start(backup)["RecoveryPointArn"]
    assert refusal(restore, backup=backup, point=arn) == "InvalidRequestException"
    simulator.advance(1_200)
    restore(backup, arn)
    asked = {"BackupVaultName": "Default", "RecoveryPointArn": arn}
    assert refusal(backup.delete_recovery_point, **asked) == "InvalidResourceStateException"
    simulator.advance(1_500)
    backup.delete_recovery_point(**asked)
    assert refusal(restore, backup=backup, point="arn:aws:backup:none") == "ResourceNotFoundException"


def test_a_new_recovery_point_may_not_show_yet(simulator, backup):
    simulator.advance(10)
    start(backup)
    simulator.advance(5)
    simulator.faults.lagging("backup:ListBackupJobs", times=1)
    assert backup.list_backup_jobs()["BackupJobs"] == []
    assert len(backup.list_backup_jobs()["BackupJobs"]) == 1


def test_a_denied_call_is_denied_as_aws_backup_denies(simulator, backup):
    simulator.faults.deny("backup:StartBackupJob")
    assert refusal(start, backup=backup) == "AccessDeniedException"
    assert simulator.account.backups() == []
