"""Recovery points of EFS file systems are requested once, recognized later, and swept only if they are Slackwater's."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from slackwater.aws.cleanup.efs.recovery_points import BACKUP_ACTIONS, SWEEPER_ACTIONS, EfsBackupTaker, EfsSweeper
from slackwater.aws.cleanup.efs.restore import EfsRestorer
from slackwater.engine.cleanup import verification_error
from slackwater.model.cleanup import EXPIRES_AT, TOKEN, Copy, Subject
from slackwater.ports.errors import AwsError
from slackwater_simulator.ec2_query import key_arn
from support.efs_world import GIB, REGION, SYSTEM, VAULT, World


@pytest.fixture
def of() -> Iterator[Callable[..., World]]:
    with ExitStack() as stack:
        yield lambda *systems, **fleet: stack.enter_context(World(*systems, **fleet))


@pytest.fixture
def world(of) -> World:
    return of(SYSTEM)


# -- Backups


def test_what_is_backed_up_is_the_file_system_with_the_bytes_that_efs_meters(world) -> None:
    assert world.taker.subject(world.resource) == Subject(id="fs-1", size_bytes=7 * GIB)
    with pytest.raises(AwsError, match="no file system fs-9"):
        world.taker.subject(replace(world.resource, id="fs-9"))


def test_a_backup_runs_and_is_complete_and_says_what_it_is(world) -> None:
    backup = world.backup()
    begun = world.taker.start(world.resource, backup, world.tags(backup))
    assert (begun.of, begun.state, begun.size_bytes, begun.made_at, begun.token) == (
        "fs-1",
        "running",
        None,
        world.now,
        "f-1-1-0",
    )
    backup = replace(backup, id=begun.id, job=begun.job, state="running")
    (running,) = world.taker.copies(world.resource, backup)
    assert (running.id, running.job, running.state, running.size_bytes) == (begun.id, begun.job, "running", None)

    world.sim.advance(1_300)
    (copy,) = world.taker.copies(world.resource, backup)
    assert copy == Copy(
        id=begun.id,
        of="fs-1",
        state="complete",
        size_bytes=7 * GIB,
        made_at=begun.made_at,
        job=begun.job,
        expires_at=backup.expires_at,
        token=backup.token,
        deletes_at=backup.expires_at,
        key=key_arn(REGION, world.fleet.account),
        vault=VAULT,
    )
    (kept,) = world.account.backups()
    assert kept.id == copy.id
    assert kept.tags == SYSTEM.tags | world.tags(backup)
    assert kept.detail["vault"] == VAULT
    assert kept.detail["days"] == 30, "AWS Backup deletes it by itself"
    assert world.asked <= BACKUP_ACTIONS


def test_a_backup_whose_answer_was_lost_is_found_by_its_token_and_asked_for_again_is_the_same(world) -> None:
    backup = world.backup()
    world.sim.faults.lost_answer("backup:StartBackupJob", times=1)
    with pytest.raises(AwsError):
        world.taker.start(world.resource, backup, world.tags(backup))
    assert world.sim.calls["backup:StartBackupJob"] == 1

    (found,) = world.taker.copies(world.resource, backup)
    again = world.taker.start(world.resource, replace(backup, asked=2), world.tags(backup))
    assert (again.id, again.job) == (found.id, found.job)
    assert len(world.account.backups()) == 1


def test_of_several_backups_the_token_names_ones_own(world) -> None:
    first, second = world.backup(), world.backup(token="f-2-1-0")
    begun = [world.taker.start(world.resource, one, world.tags(one)) for one in (first, second)]
    world.sim.advance(1_300)
    assert [copy.id for copy in world.taker.copies(world.resource, second)] == [begun[1].id]
    (copy,) = world.taker.copies(world.resource, replace(first, id=begun[0].id))
    assert copy.size_bytes == 7 * GIB
    assert world.taker.copies(world.resource, world.backup(token="f-3-1-0")) == []


def test_a_second_backup_holds_everything_too_though_its_job_moved_nothing(world) -> None:
    world.backed_up()
    second = world.backup(token="f-1-2-0")
    begun = world.taker.start(world.resource, second, world.tags(second))
    world.sim.advance(1_300)
    (copy,) = world.taker.copies(world.resource, replace(second, id=begun.id, job=begun.job))
    assert copy.size_bytes == 7 * GIB


@pytest.mark.parametrize(("before", "why"), [(False, "it has 0 of 7,516,192,768 bytes"), (True, None)])
def test_a_size_counts_only_where_no_earlier_backup_may_hold_the_rest(world, before: bool, why: str | None) -> None:
    if before:
        world.backed_up()
    backup = world.backup(token="f-1-2-0")
    begun = world.taker.start(world.resource, backup, world.tags(backup))
    world.sim.advance(1_300)
    world.account.put_backup(replace(world.account.backup(begun.id), bytes=0))
    (copy,) = world.taker.copies(world.resource, replace(backup, id=begun.id, job=begun.job))
    assert (copy.state, copy.incremental) == ("complete", before)
    assert verification_error(copy, Subject(id="fs-1", size_bytes=7 * GIB), metered=True) == why


def test_a_backup_that_failed_says_why(world) -> None:
    backup = world.backup()
    begun = world.taker.start(world.resource, backup, world.tags(backup))
    world.account.remove("fs-1")
    world.sim.advance(1_300)
    (copy,) = world.taker.copies(world.resource, replace(backup, id=begun.id, job=begun.job))
    assert (copy.state, copy.why) == ("failed", "FAILED: File system fs-1 does not exist.")


def test_a_backup_that_is_not_there_is_not_complete(world) -> None:
    backup = world.backed_up()
    world.account.drop_backup(backup.id)
    (copy,) = world.taker.copies(world.resource, backup)
    assert copy.state == "failed"
    assert "not there" in copy.why


def test_a_job_that_aws_forgot_leaves_its_recovery_point(world) -> None:
    backup = world.backed_up()
    world.account.forget("backup-jobs", backup.job)
    (copy,) = world.taker.copies(world.resource, backup)
    assert (copy.id, copy.state, copy.size_bytes, copy.token) == (backup.id, "complete", 7 * GIB, backup.token)


@pytest.mark.parametrize("action", ["ListBackupJobs", "DescribeRecoveryPoint", "ListTags"])
def test_what_aws_backup_does_not_say_is_an_error(world, action) -> None:
    backup = world.backed_up()
    world.sim.faults.deny(f"backup:{action}")
    with pytest.raises(AwsError, match="Not allowed"):
        world.taker.copies(world.resource, backup)


def test_a_backup_is_asked_for_once(world) -> None:
    world.sim.faults.drop("backup:StartBackupJob")
    with pytest.raises(AwsError):
        world.taker.start(world.resource, world.backup(), {})
    assert world.sim.calls == {"backup:StartBackupJob": 1}


@pytest.mark.parametrize(
    ("kept", "days"), [(timedelta(days=30), 30), (timedelta(days=30, seconds=1), 31), (timedelta(hours=1), 1)]
)
def test_aws_backup_keeps_it_for_no_fewer_days(world, kept, days) -> None:
    backup = world.backup(expires_at=world.now + kept)
    world.taker.start(world.resource, backup, {})
    assert world.account.backups()[0].detail["days"] == days


WHEN = datetime(2026, 11, 16, tzinfo=UTC)


class BackupAnswers:
    """A session whose AWS Backup gives fixed answers."""

    def __init__(self, job: dict[str, Any], point: dict[str, Any] | None = None) -> None:
        arn = "arn:aws:backup:r:1:recovery-point:p"
        made = {
            "CreationDate": WHEN,
            "ResourceArn": "arn:aws:elasticfilesystem:r:1:file-system/fs-1",
            "RecoveryPointArn": arn,
        }
        self.job = made | {"BackupJobId": "j", "State": "COMPLETED"} | job
        self.point = None if point is None else made | {"Status": "COMPLETED", "BackupSizeInBytes": 5} | point
        self.asked: list[str] = []

    def client(self, service: str, region: str) -> "BackupAnswers":
        return self

    def list_backup_jobs(self, **_: Any) -> Any:
        return {"BackupJobs": [self.job]}

    def describe_recovery_point(self, **_: Any) -> Any:
        if self.point is None:
            raise ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "DescribeRecoveryPoint")
        return self.point

    def list_tags(self, ResourceArn: str, NextToken: str | None = None) -> Any:
        self.asked.append(ResourceArn)
        return {"Tags": {TOKEN: "f-1-1-0"}} if NextToken else {"Tags": {"team": "web"}, "NextToken": "more"}

    def update_recovery_point_lifecycle(self, Lifecycle: Any, **_: Any) -> None:
        self.updated = Lifecycle

    def list_recovery_points_by_resource(self, **_: Any) -> Any:
        return {"RecoveryPoints": [self.point]}

    def list_recovery_points_by_backup_vault(self, **_: Any) -> Any:
        return {"RecoveryPoints": [self.point]}


@pytest.mark.parametrize(
    ("job", "point", "state", "why"),
    [
        ({}, {}, "complete", None),
        ({"MessageCategory": "SUCCESS"}, {"Status": "AVAILABLE"}, "complete", None),
        ({"MessageCategory": "PARTIAL", "StatusMessage": "3 files were left out"}, {}, "failed",
         "COMPLETED: 3 files were left out"),
        ({}, {"Status": "PARTIAL", "StatusMessage": "cut"}, "failed", "PARTIAL: cut"),
        ({}, {"Status": "EXPIRED"}, "failed", "EXPIRED: AWS Backup does not say why"),
        ({}, {"Status": "DELETING"}, "failed", "DELETING: AWS Backup does not say why"),
        ({}, {"Status": "CREATING"}, "running", None),
        ({}, None, "failed", "COMPLETED: its recovery point is not there"),
        ({"State": "PENDING"}, None, "running", None),
        ({"State": "RUNNING"}, {}, "running", None),
        ({"State": "ABORTING"}, {}, "failed", "ABORTING: its recovery point is not there"),
        ({"State": "EXPIRED", "StatusMessage": "late"}, {}, "failed", "EXPIRED: late"),
        ({"State": "PARTIAL"}, {}, "failed", "PARTIAL: its recovery point is not there"),
    ],
)  # fmt: skip
def test_only_a_whole_recovery_point_of_a_whole_job_is_complete(world, job, point, state, why) -> None:
    taker = EfsBackupTaker(BackupAnswers(job, point), BackupAnswers(job, point), vault=VAULT, role_arn="r")
    (copy,) = taker.copies(world.resource, world.backup(job="j"))
    assert (copy.state, copy.why) == (state, why)


def test_jobs_of_a_backup_plan_are_not_ours_and_cost_no_calls(world) -> None:
    backup_service = BackupAnswers({"CreatedBy": {"BackupPlanId": "daily"}}, {})
    assert (
        EfsBackupTaker(backup_service, backup_service, vault=VAULT, role_arn="r").copies(world.resource, world.backup())
        == []
    )
    assert backup_service.asked == []


def test_tags_are_read_over_all_pages(world) -> None:
    backup_service = BackupAnswers({}, {})
    (copy,) = EfsBackupTaker(backup_service, backup_service, vault=VAULT, role_arn="r").copies(
        world.resource, world.backup()
    )
    assert copy.token == "f-1-1-0"


# -- Extend the retention


def seen(world: World, backup: Any) -> Copy:
    (copy,) = world.taker.copies(world.resource, backup)
    return copy


def test_a_recovery_point_is_kept_for_longer_by_its_lifecycle_and_by_its_tag(world) -> None:
    backup = world.backed_up()
    until = world.now + timedelta(days=90, hours=5)
    world.taker.keep(world.resource, seen(world, backup), until)
    copy = seen(world, backup)
    assert copy.expires_at == until
    assert until <= copy.deletes_at < until + timedelta(days=1)
    assert copy.kept_until == until


def test_what_is_kept_for_longer_stays_so(world) -> None:
    backup = world.backed_up()
    before = seen(world, backup)
    world.taker.keep(world.resource, before, before.expires_at - timedelta(days=1))
    assert seen(world, backup) == before
    assert not {"backup:TagResource", "backup:UpdateRecoveryPointLifecycle"} & world.asked


def test_a_vault_lock_refuses_and_the_tag_stays_as_it_was(world) -> None:
    backup = world.backed_up()
    before = seen(world, backup)
    world.account.lock_vault(VAULT)
    with pytest.raises(AwsError, match="locked"):
        world.taker.keep(world.resource, before, world.now + timedelta(days=90))
    assert seen(world, backup) == before


@pytest.mark.parametrize(
    ("point", "at"),
    [
        ({}, None),
        ({"Lifecycle": {"DeleteAfterDays": 30}, "CalculatedLifecycle": {"DeleteAt": WHEN + timedelta(days=30)}}, 30),
        ({"Lifecycle": {"DeleteAfterDays": 30}}, 30),
        ({"Lifecycle": {"DeleteAfterDays": -1}}, None),
        ({"Lifecycle": {"DeleteAfterDays": 30, "DeleteAfterEvent": "DELETE_AFTER_COPY"}}, 0),
    ],
)
def test_when_aws_backup_deletes_a_recovery_point_by_itself(world, point, at) -> None:
    backup_service = BackupAnswers({}, point)
    (copy,) = EfsBackupTaker(backup_service, backup_service, vault=VAULT, role_arn="r").copies(
        world.resource, world.backup()
    )
    assert copy.deletes_at == (None if at is None else WHEN + timedelta(days=at))


@pytest.mark.parametrize(
    ("point", "key"),
    [
        ({"IsEncrypted": True, "EncryptionKeyArn": "arn:aws:kms:r:1:key/k"}, "arn:aws:kms:r:1:key/k"),
        (
            {
                "IsEncrypted": True,
                "EncryptionKeyArn": "arn:aws:kms:r:9:key/k",
                "EncryptionKeyType": "AWS_OWNED_KMS_KEY",
            },
            None,
        ),
        ({"IsEncrypted": False}, None),
        ({"IsEncrypted": True}, ""),
        ({}, ""),
    ],
)
def test_which_key_a_recovery_point_depends_on(world, point, key) -> None:
    backup_service = BackupAnswers({}, point)
    (copy,) = EfsBackupTaker(backup_service, backup_service, vault=VAULT, role_arn="r").copies(
        world.resource, world.backup()
    )
    assert copy.key == key


def test_what_hangs_on_a_lifecycle_is_sent_along(world) -> None:
    lifecycle = {"DeleteAfterDays": 120, "MoveToColdStorageAfterDays": 7, "DeleteAfterEvent": "x"}
    backup_service = BackupAnswers({}, {"Lifecycle": lifecycle})
    taker = EfsBackupTaker(backup_service, backup_service, vault=VAULT, role_arn="r")
    (copy,) = taker.copies(world.resource, world.backup())
    taker.keep(world.resource, copy, WHEN + timedelta(days=200, seconds=1))
    assert backup_service.updated == {"DeleteAfterDays": 201, "MoveToColdStorageAfterDays": 7}


# -- Sweep


def swept(world: World) -> list[Copy]:
    return list(world.sweeper.copies(world.fleet.account, REGION))


def test_the_sweeper_sees_recovery_points_of_ours_and_no_others(world) -> None:
    backup = world.backed_up()
    others = world.backup(token="theirs")
    world.taker.start(world.resource, others, {"team": "web"})
    world.sim.advance(1_300)

    (copy,) = swept(world)
    assert (copy.id, copy.of, copy.state, copy.token) == (backup.id, "fs-1", "complete", backup.token)
    assert copy.expires_at == backup.expires_at
    assert world.sweeper.look(world.fleet.account, REGION, copy) == copy
    assert world.sweeper.born_at(world.resource) == datetime.fromtimestamp(SYSTEM.created, UTC)
    assert world.asked <= SWEEPER_ACTIONS | BACKUP_ACTIONS


def test_without_a_vault_the_sweeper_sees_those_of_all(world) -> None:
    backup = world.backed_up()
    sweeper = EfsSweeper(world.reading, world.asking)
    (copy,) = sweeper.copies(world.fleet.account, REGION)
    assert (copy.id, copy.vault) == (backup.id, VAULT)
    sweeper.delete(world.fleet.account, REGION, copy)
    assert sweeper.look(world.fleet.account, REGION, copy) is None, "it is being deleted"


def test_a_backup_in_the_vault_of_before_is_found_and_restored(world) -> None:
    backup = replace(world.backed_up(), vault=VAULT)
    world.account.forget("backup-jobs", backup.job)
    elsewhere = EfsBackupTaker(world.reading, world.asking, vault="Default", role_arn="r")
    (copy,) = elsewhere.copies(world.resource, backup)
    assert copy.id == backup.id
    undo = world.undo(backup)
    world.delete()
    restorer = EfsRestorer(
        world.reading, world.asking, vault="Default", role_arn=f"arn:aws:iam::{world.fleet.account}:role/b"
    )
    assert restorer.restore(undo).state == "running"


def test_the_sweeper_deletes_the_requested_recovery_point_and_accepts_one_that_is_gone(world) -> None:
    backup = world.backed_up()
    world.taker.start(world.resource, world.backup(token="theirs"), {})
    (copy,) = swept(world)
    world.sweeper.delete(world.fleet.account, REGION, copy)
    assert swept(world) == [], "it is being deleted"
    world.sim.advance(120)
    world.sweeper.delete(world.fleet.account, REGION, copy)
    assert [one.id for one in world.account.backups()] != [backup.id]
    assert len(world.account.backups()) == 1


def test_an_expiry_that_nobody_can_read_is_none(world) -> None:
    backup = world.backed_up()
    for text in ("soon", "2027-01-01", ""):
        world.account.tag(backup.id, EXPIRES_AT, text)
        assert swept(world)[0].expires_at is None
    world.account.tag(backup.id, EXPIRES_AT, "2027-01-01T00:00:00+09:00")
    assert f"{swept(world)[0].expires_at:%Y-%m-%d %z}" == "2027-01-01 +0900"


def test_where_there_is_no_vault_there_are_none_and_no_answer_is_an_error(world) -> None:
    world.backed_up()
    elsewhere = EfsSweeper(world.reading, world.asking, vault="nowhere")
    assert list(elsewhere.copies(world.fleet.account, REGION)) == []

    for action in ("ListRecoveryPointsByBackupVault", "ListTags"):
        world.sim.faults.deny(f"backup:{action}")
        with pytest.raises(AwsError, match="Not allowed"):
            swept(world)
        world.sim.faults.clear()


def test_what_is_refused_is_not_deleted_and_what_is_no_recovery_point_is_not_asked_for(world) -> None:
    world.backed_up()
    (copy,) = swept(world)
    world.sim.faults.deny("backup:DeleteRecoveryPoint")
    with pytest.raises(AwsError, match="Not allowed"):
        world.sweeper.delete(world.fleet.account, REGION, copy)
    with pytest.raises(AwsError, match="no recovery point"):
        world.sweeper.delete(world.fleet.account, REGION, replace(copy, id=None))
    assert world.sim.calls["backup:DeleteRecoveryPoint"] == 1


def test_recovery_points_of_a_backup_plan_are_never_ours(world) -> None:
    backup_service = BackupAnswers({}, {"CreatedBy": {"BackupPlanId": "daily"}})
    assert list(EfsSweeper(backup_service, backup_service, vault=VAULT).copies("1", "r")) == []
    assert backup_service.asked == []
