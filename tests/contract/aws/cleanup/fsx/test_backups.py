"""FSx clean-up against a simulated account: making backups and sweeping them."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from slackwater.aws.cleanup.fsx.backups import FsxBackupTaker
from slackwater.engine.cleanup import verification_error
from slackwater.model.cleanup import BACKUP_OF, EXPIRES_AT, TOKEN, Backup, Subject
from slackwater.model.units import GIB
from slackwater.ports.errors import AccessDeniedError, AwsError, BusyError, UnreachableError
from slackwater_simulator import Simulator
from support.fsx_world import AT, DATA, FLEET, ONTAP, REGION, ZFS, Canned, World, sessions, tags, tracked

OF_ZFS = Backup(
    subject=Subject(id=ZFS.id, size_bytes=128 * GIB),
    token="0123456789abcdef-1-0",
    asked_at=AT,
    expires_at=AT + timedelta(days=30),
)
OF_DATA = replace(OF_ZFS, subject=Subject(id=DATA.id, size_bytes=100 * GIB))


@pytest.fixture
def world() -> Iterator[World]:
    with Simulator(FLEET) as sim:
        yield sessions(sim)


def test_openzfs_is_backed_up_as_one(world: World) -> None:
    subject = world.taker.subject(tracked(ZFS.id))

    assert subject == Subject(id=ZFS.id, size_bytes=128 * GIB)
    look = world.watcher.look(tracked(ZFS.id))
    assert look is not None
    assert look.size_bytes == subject.size_bytes


def test_what_is_gone_has_no_subject(world: World) -> None:
    with pytest.raises(AwsError, match="no file system"):
        world.taker.subject(tracked("fs-00000000000000000"))


def test_a_backup_is_asked_for_seen_and_verified(world: World) -> None:
    resource, backup = tracked(ZFS.id), OF_ZFS

    begun = world.taker.start(resource, backup, tags(resource, backup))

    assert (begun.of, begun.state, begun.token) == (backup.subject.id, "running", backup.token)
    assert begun.expires_at == backup.expires_at
    (running,) = world.taker.copies(resource, backup)
    assert running == begun
    assert verification_error(running, backup.subject, metered=False) == "it is running"

    world.sim.advance(1_000)

    (complete,) = world.taker.copies(resource, replace(backup, id=begun.id))
    assert complete.state == "complete"
    assert verification_error(complete, backup.subject, metered=False) is None
    (kept,) = world.account.backups()
    assert kept.tags[BACKUP_OF] == resource.arn
    assert kept.contents == world.account.contents(backup.subject.id)


def test_a_backup_of_another_size_is_not_verified(world: World) -> None:
    resource = tracked(ZFS.id)
    world.put(ZFS, storage_gib=127)
    world.taker.start(resource, OF_ZFS, tags(resource, OF_ZFS))
    world.sim.advance(1_000)

    (copy,) = world.taker.copies(resource, OF_ZFS)

    why = verification_error(copy, OF_ZFS.subject, metered=False)
    assert why == "it has 136,365,211,648 of 137,438,953,472 bytes"


def test_asked_for_again_it_is_the_same(world: World) -> None:
    resource = tracked(ZFS.id)

    first = world.taker.start(resource, OF_ZFS, tags(resource, OF_ZFS))
    again = world.taker.start(resource, OF_ZFS, tags(resource, OF_ZFS))

    assert first == again
    assert len(world.account.backups()) == 1


def test_one_whose_answer_was_lost_is_found_by_its_token(world: World) -> None:
    resource = tracked(ZFS.id)
    world.sim.faults.lost_answer("fsx:CreateBackup", times=1)

    with pytest.raises(UnreachableError):
        world.taker.start(resource, OF_ZFS, tags(resource, OF_ZFS))

    (copy,) = world.taker.copies(resource, OF_ZFS)
    assert world.asked("CreateBackup") == 1, "it asks once"
    assert copy.id == world.account.backups()[0].id


def test_another_backup_under_way_may_pass(world: World) -> None:
    resource = tracked(ZFS.id)
    other = replace(OF_ZFS, token="somebody-else")
    world.taker.start(resource, other, tags(resource, other))

    with pytest.raises(BusyError):
        world.taker.start(resource, OF_ZFS, tags(resource, OF_ZFS))
    assert world.taker.copies(resource, OF_ZFS) == ()


def test_a_backup_outlives_what_it_is_of(world: World) -> None:
    cleanup = world.without(world.begun(ZFS))
    (backup,) = cleanup.backups

    (copy,) = world.taker.copies(cleanup.resource, backup)

    assert (copy.id, copy.state) == (backup.id, "complete")


def test_a_backup_that_is_gone_is_no_copy(world: World) -> None:
    backup = replace(OF_ZFS, id="backup-00000000000000000")

    assert world.taker.copies(tracked(ZFS.id), backup) == ()


def test_a_backup_is_kept_for_longer_by_its_tag_and_never_for_less(world: World) -> None:
    resource = tracked(ZFS.id)
    begun = world.taker.start(resource, OF_ZFS, tags(resource, OF_ZFS))

    world.taker.keep(resource, begun, OF_ZFS.expires_at - timedelta(days=1))
    assert world.asked("TagResource") == 0
    world.taker.keep(resource, begun, OF_ZFS.expires_at + timedelta(days=9))

    (copy,) = world.taker.copies(resource, OF_ZFS)
    assert copy.kept_until == OF_ZFS.expires_at + timedelta(days=9)
    assert copy.key


def test_a_backup_that_somebody_else_made_is_recognized(world: World) -> None:
    resource = tracked(ZFS.id)
    begun = world.taker.start(resource, OF_ZFS, tags(resource, OF_ZFS))
    world.sim.advance(1_000)
    copied = world.account.copy_backup(begun.id)

    assert {one.id: one.copied for one in world.taker.copies(resource, OF_ZFS)} == {begun.id: False, copied: True}


def test_a_filter_that_finds_no_file_system_leaves_the_id(world: World) -> None:
    missing: Any = ClientError({"Error": {"Code": "FileSystemNotFound", "Message": "no"}}, "DescribeBackups")
    found = {
        "BackupId": "backup-1",
        "Lifecycle": "AVAILABLE",
        "Type": "USER_INITIATED",
        "CreationTime": AT,
        "FileSystem": {"FileSystemId": ZFS.id, "StorageCapacity": 128},
    }
    session: Any = Canned(describe_backups=(missing, {"Backups": [found]}))

    (copy,) = FsxBackupTaker(session, session).copies(tracked(ZFS.id), replace(OF_ZFS, id="backup-1"))

    assert (copy.id, copy.state, copy.size_bytes) == ("backup-1", "complete", 128 * GIB)


@pytest.mark.parametrize(
    ("lifecycle", "state"),
    [
        ("PENDING", "running"),
        ("CREATING", "running"),
        ("TRANSFERRING", "running"),
        ("COPYING", "running"),
        ("AVAILABLE", "complete"),
        ("FAILED", "failed"),
        ("DELETED", "failed"),
        ("UNHEARD_OF", "failed"),
    ],
)
def test_only_an_available_backup_is_complete(lifecycle: str, state: str) -> None:
    found = {
        "BackupId": "backup-1",
        "Lifecycle": lifecycle,
        "FailureDetails": {"Message": "the key is gone"},
        "Type": "USER_INITIATED",
        "CreationTime": AT,
        "FileSystem": {"FileSystemId": ZFS.id},
        "Tags": [{"Key": TOKEN, "Value": OF_ZFS.token}],
    }
    session: Any = Canned(describe_backups={"Backups": [found]})

    (copy,) = FsxBackupTaker(session, session).copies(tracked(ZFS.id), OF_ZFS)

    assert copy.state == state
    assert copy.size_bytes is None, "what the answer does not say"
    assert copy.why == (f"FSx says: {lifecycle}; the key is gone" if state == "failed" else None)


def test_intelligent_tiering_is_verified_by_being_available() -> None:
    found = {
        "BackupId": "backup-1",
        "Lifecycle": "AVAILABLE",
        "CreationTime": AT,
        "FileSystem": {"FileSystemId": ZFS.id, "StorageType": "INTELLIGENT_TIERING"},
        "Tags": [{"Key": TOKEN, "Value": OF_ZFS.token}],
    }
    session: Any = Canned(describe_backups={"Backups": [found]})

    (copy,) = FsxBackupTaker(session, session).copies(tracked(ZFS.id), OF_ZFS)

    assert verification_error(copy, Subject(id=ZFS.id, size_bytes=0), metered=False) is None


def test_backups_that_cannot_be_read_are_an_error(world: World) -> None:
    world.sim.faults.deny("fsx:DescribeBackups")

    with pytest.raises(AccessDeniedError):
        world.taker.copies(tracked(ZFS.id), OF_ZFS)
    with pytest.raises(AccessDeniedError):
        list(world.sweeper.copies("123456789012", REGION))


# --- Sweep


def test_the_sweeper_sees_backups_of_ours_alone(world: World) -> None:
    resource = tracked(ZFS.id)
    ours = world.taker.start(resource, OF_ZFS, tags(resource, OF_ZFS))
    world.sim.advance(1_000)
    client: Any = world.asking.client("fsx", REGION)
    client.create_backup(FileSystemId=ZFS.id, Tags=[{"Key": TOKEN, "Value": "x"}])
    world.sim.advance(1_000)

    (copy,) = world.sweeper.copies("123456789012", REGION)

    assert (copy.id, copy.of, copy.token, copy.expires_at) == (ours.id, ZFS.id, OF_ZFS.token, OF_ZFS.expires_at)
    assert copy.made_at == AT

    assert world.sweeper.look("123456789012", REGION, copy) == copy
    world.sweeper.delete("123456789012", REGION, copy)
    world.sweeper.delete("123456789012", REGION, copy)
    assert world.sweeper.look("123456789012", REGION, copy) is None
    assert world.sweeper.born_at(tracked(ZFS.id)) == datetime.fromtimestamp(ZFS.created, UTC)
    world.put(ZFS, phase="DELETING")
    assert world.sweeper.born_at(tracked(ZFS.id)) is None

    assert [one.of for one in world.account.backups()] == [ZFS.id]
    assert BACKUP_OF not in world.account.backups()[0].tags


def test_a_backup_of_a_volume_by_an_older_version_is_listed_verified_and_swept(world: World) -> None:
    """Older versions backed up ONTAP file systems volume by volume."""
    resource, client = tracked(ONTAP.id), world.asking.client("fsx", REGION)
    put_on: Any = [{"Key": key, "Value": value} for key, value in tags(resource, OF_DATA).items()]
    made = client.create_backup(VolumeId=DATA.id, ClientRequestToken=OF_DATA.token, Tags=put_on)["Backup"]
    world.sim.advance(1_000)

    (copy,) = world.taker.copies(resource, OF_DATA)
    (listed,) = world.sweeper.copies("123456789012", REGION)

    assert listed == copy
    assert (listed.id, listed.of, listed.state) == (made["BackupId"], DATA.id, "complete")
    assert (listed.token, listed.expires_at) == (OF_DATA.token, OF_DATA.expires_at)
    assert verification_error(copy, OF_DATA.subject, metered=False) is None

    world.sweeper.delete("123456789012", REGION, listed)

    assert world.account.backups() == []


@pytest.mark.parametrize("value", ["never", "2026-12-01", "2026-12-01T00:00:00", ""])
def test_an_expiry_that_nobody_can_read_is_none(world: World, value: str) -> None:
    resource = tracked(ZFS.id)
    begun = world.taker.start(resource, OF_ZFS, tags(resource, OF_ZFS))
    world.account.tag(begun.id, EXPIRES_AT, value)

    (copy,) = world.sweeper.copies("123456789012", REGION)

    assert copy.expires_at is None


def test_an_expiry_that_the_owner_moved_is_what_holds(world: World) -> None:
    resource = tracked(ZFS.id)
    begun = world.taker.start(resource, OF_ZFS, tags(resource, OF_ZFS))
    world.account.tag(begun.id, EXPIRES_AT, "2031-01-01T00:00:00+09:00")

    (copy,) = world.sweeper.copies("123456789012", REGION)

    assert copy.expires_at == datetime(2030, 12, 31, 15, tzinfo=UTC)


def test_an_automatic_backup_that_copied_the_tag_is_left_to_fsx(world: World) -> None:
    from slackwater_simulator.writes_fsx import automatic_backup

    world.account.tag(ZFS.id, BACKUP_OF, "arn")
    automatic_backup(world.account, ZFS.id)

    assert list(world.sweeper.copies("123456789012", REGION)) == []


def test_a_backup_without_an_id_is_not_deleted(world: World) -> None:
    resource = tracked(ZFS.id)
    copy = world.taker.start(resource, OF_ZFS, tags(resource, OF_ZFS))

    with pytest.raises(AwsError, match="no id"):
        world.sweeper.delete("123456789012", REGION, replace(copy, id=None))
    with pytest.raises(AwsError, match="BackupInProgress"):
        world.sweeper.delete("123456789012", REGION, copy)
