"""What happens to existing backups: keys, lifecycles, a Vault Lock, and copies that people make."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from slackwater_simulator import ElasticFileSystem, Fleet, Simulator, Volume, instant
from slackwater_simulator.ec2_query import key_arn

NOW = instant("2026-11-16T09:07:00Z")
REGION, ACCOUNT = "ap-northeast-1", "123456789012"
ARN = f"arn:aws:elasticfilesystem:{REGION}:{ACCOUNT}:file-system/fs-1"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/backup"
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/mine"


@pytest.fixture
def simulator():
    fleet = Fleet(
        now=NOW,
        efs=[ElasticFileSystem(id="fs-1", region=REGION, created=NOW - 86_400, standard_bytes=1 << 30)],
        volumes=[Volume(id="vol-1", az=f"{REGION}a", created=NOW - 86_400, size_gib=8, kms_key=KEY)],
    )
    with Simulator(fleet) as running:
        yield running


def refusal(call: Any, **asked: Any) -> str:
    with pytest.raises(ClientError) as caught:
        call(**asked)
    return str(caught.value.response["Error"]["Code"])


def point(simulator: Any, backup: Any, days: int | None = 7) -> str:
    lifecycle = {"Lifecycle": {"DeleteAfterDays": days}} if days else {}
    started = backup.start_backup_job(BackupVaultName="Default", ResourceArn=ARN, IamRoleArn=ROLE, **lifecycle)
    simulator.advance(1_300)
    return str(started["RecoveryPointArn"])


def test_a_key_is_enabled_until_somebody_changes_its_state(simulator, clients):
    kms = clients(simulator, "kms")
    assert kms.describe_key(KeyId=KEY)["KeyMetadata"]["KeyState"] == "Enabled"
    simulator.account.set_key(KEY, "PendingDeletion")
    described = kms.describe_key(KeyId=KEY)["KeyMetadata"]
    assert (described["KeyState"], described["Enabled"], described["Arn"]) == ("PendingDeletion", False, KEY)
    assert refusal(kms.describe_key, KeyId=KEY.replace(ACCOUNT, "210987654321")) == "AccessDeniedException"
    assert refusal(kms.describe_key, KeyId=KEY.replace(REGION, "eu-west-1")) == "NotFoundException"


def test_nothing_is_made_from_a_snapshot_whose_key_is_disabled(simulator, clients):
    ec2 = clients(simulator, "ec2")
    snapshot = ec2.create_snapshot(VolumeId="vol-1")["SnapshotId"]
    simulator.advance(300)
    simulator.account.set_key(KEY, "Disabled")
    made = ec2.create_volume(SnapshotId=snapshot, AvailabilityZone=f"{REGION}a")["VolumeId"]
    simulator.advance(10)
    assert not simulator.account.exists(made)


def test_a_restore_fails_where_the_key_is_disabled(simulator, clients):
    backup = clients(simulator, "backup")
    arn = point(simulator, backup)
    simulator.account.set_key(key_arn(REGION, ACCOUNT), "Disabled")
    metadata = {"newFileSystem": "true", "CreationToken": "again", "Encrypted": "true"}
    job = backup.start_restore_job(RecoveryPointArn=arn, IamRoleArn=ROLE, Metadata=metadata)["RestoreJobId"]
    simulator.advance(2_000)
    assert backup.describe_restore_job(RestoreJobId=job)["Status"] == "FAILED"


@pytest.mark.parametrize(("days", "kept"), [(3, 3), (30, 30)])
def test_a_lifecycle_that_is_changed_decides_the_day(simulator, clients, days, kept):
    backup = clients(simulator, "backup")
    arn = point(simulator, backup)
    described = backup.update_recovery_point_lifecycle(
        BackupVaultName="Default", RecoveryPointArn=arn, Lifecycle={"DeleteAfterDays": days}
    )
    assert described["Lifecycle"] == {"DeleteAfterDays": days}
    simulator.advance(kept * 86_400 - 1_400)
    assert simulator.account.backup(arn)
    simulator.advance(200)
    assert simulator.account.backup(arn) is None


def test_a_lifecycle_may_be_taken_away(simulator, clients):
    backup = clients(simulator, "backup")
    arn = point(simulator, backup)
    backup.update_recovery_point_lifecycle(
        BackupVaultName="Default", RecoveryPointArn=arn, Lifecycle={"DeleteAfterDays": -1}
    )
    assert "Lifecycle" not in backup.describe_recovery_point(BackupVaultName="Default", RecoveryPointArn=arn)
    simulator.advance(400 * 86_400)
    assert simulator.account.backup(arn)


def test_what_a_vault_lock_protects_is_neither_changed_nor_deleted(simulator, clients):
    backup = clients(simulator, "backup")
    arn = point(simulator, backup)
    simulator.account.lock_vault("Default")
    named = {"BackupVaultName": "Default", "RecoveryPointArn": arn}
    assert (
        refusal(backup.update_recovery_point_lifecycle, **named, Lifecycle={"DeleteAfterDays": 30})
        == "InvalidRequestException"
    )
    assert refusal(backup.delete_recovery_point, **named) == "InvalidRequestException"


def test_every_vault_is_listed(simulator, clients):
    found = clients(simulator, "backup").list_backup_vaults()["BackupVaultList"]
    assert "Default" in [each["BackupVaultName"] for each in found]


def test_a_copy_has_the_tags_and_the_contents_and_says_that_it_is_one(simulator, clients):
    ec2 = clients(simulator, "ec2")
    tags = [{"ResourceType": "snapshot", "Tags": [{"Key": "a", "Value": "b"}]}]
    first = ec2.create_snapshot(VolumeId="vol-1", TagSpecifications=tags)["SnapshotId"]
    simulator.advance(600)
    second = simulator.account.copy_backup(first)
    (described,) = ec2.describe_snapshots(SnapshotIds=[second])["Snapshots"]
    assert (described["VolumeId"], described["Tags"]) == ("vol-ffffffff", [{"Key": "a", "Value": "b"}])
    assert simulator.account.contents(second) == simulator.account.contents(first)
