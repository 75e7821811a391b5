"""Watch, tag, back up, delete and change EBS volumes by EC2's rules, against a simulated account."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from slackwater.aws.cleanup.ebs.cleanup import (
    CHANGER_ACTIONS,
    REMOVER_ACTIONS,
    WATCHER_ACTIONS,
    EbsChanger,
    EbsRemover,
    EbsWatcher,
)
from slackwater.aws.cleanup.ebs.snapshots import BACKUP_ACTIONS, SWEEPER_ACTIONS, EbsBackupTaker
from slackwater.model.cleanup import ACT_AFTER, BACKUP_OF, CLEANUP_TAG, EXPIRES_AT, TOKEN
from slackwater.model.settings import EfsThroughputSetting, VolumeSetting
from slackwater.ports.errors import AwsError, BrokenAnswerError
from slackwater_simulator import Attachment
from support.ebs_world import DAY, GIB, ID, INSTANCE, KEY, NOW, REGION, VOLUME, ZONE, World

CREATE = "ec2:CreateSnapshot"


@pytest.fixture
def of() -> Iterator[Callable[..., World]]:
    with ExitStack() as stack:
        yield lambda *volumes: stack.enter_context(World(*volumes))


@pytest.fixture
def world(of) -> World:
    return of()


class Answering:
    """A session whose EC2 gives fixed answers, and which records the calls."""

    def __init__(self, **answers: Any) -> None:
        self.answers, self.asked = answers, []

    def client(self, service, region):
        assert (service, region) == ("ec2", REGION)
        return SimpleNamespace(**{name: self.call(name) for name in self.answers})

    def call(self, name):
        def answer(**parameters):
            self.asked.append((name, parameters))
            if isinstance(self.answers[name], Exception):
                raise self.answers[name]
            return self.answers[name]

        return answer


def refused(code, operation="DescribeVolumes"):
    return ClientError({"Error": {"Code": code, "Message": "no"}}, operation)


def described(**more):
    found = {
        "VolumeId": ID,
        "State": "available",
        "CreateTime": datetime(2026, 9, 1, tzinfo=UTC),
        "Size": 1,
        "VolumeType": "gp3",
    }
    return {"Volumes": [{**found, **more}]}


# -- Look


def test_a_look_at_an_unattached_volume_reports_all_that_a_deletion_depends_on(world) -> None:
    look = world.watcher.look(world.resource)
    assert look.born_at.timestamp() == pytest.approx(NOW - 90 * DAY, abs=1)
    assert look.tags == {"Name": "old database", "team": "web"}
    assert look.size_bytes == 200 * GIB
    assert look.parts == (world.part,)
    assert look.held is None
    assert world.asked <= WATCHER_ACTIONS
    assert world.watcher.removal_actions(world.resource, look) == {world.arn: {"ec2:DeleteVolume"}}


def test_what_is_attached_is_held(world) -> None:
    world.account.attach(ID, INSTANCE.id)
    assert world.watcher.look(world.resource).held == "it is attached to i-1"


def test_what_is_being_changed_is_held_and_no_longer_once_that_is_completed(world) -> None:
    world.changer.change(world.resource, VolumeSetting(volume_type="gp3", iops=3_000, throughput_mib_s=125))
    assert world.watcher.look(world.resource).held == "its last change is still modifying (0 %)"
    world.sim.advance(900)
    assert world.watcher.look(world.resource).held == "its last change is still optimizing (50 %)"
    world.sim.advance(900)
    assert world.watcher.look(world.resource).held is None


@pytest.mark.parametrize(
    ("more", "held"),
    [
        ({"State": "creating"}, "it is creating"),
        ({"State": "error"}, "it is error"),
        ({"State": "in-use"}, "it is in-use"),
        ({"Operator": {"Managed": True, "Principal": "eks.amazonaws.com"}}, "eks.amazonaws.com manages it"),
        ({"Attachments": [{"InstanceId": "i-9", "State": "detaching"}]}, "it is attached to i-9"),
        ({"Attachments": [{"State": "attaching"}]}, "it is attached to something"),
        ({"Attachments": [{"InstanceId": "i-9", "State": "detached"}]}, None),
    ],
)
def test_whatever_is_not_simply_there_is_held(world, more, held) -> None:
    session = Answering(describe_volumes=described(**more), describe_volumes_modifications={"VolumesModifications": []})
    assert EbsWatcher(session).look(world.resource).held == held


def test_what_ec2_deletes_is_going_then_gone(world) -> None:
    world.remover.remove(world.resource, world.part)
    look = world.watcher.look(world.resource)
    assert [part.going for part in look.parts] == [True]
    assert look.held is None
    world.sim.advance(60)
    assert world.watcher.look(world.resource) is None
    assert EbsWatcher(Answering(describe_volumes=described(State="deleted"))).look(world.resource) is None


@pytest.mark.parametrize("action", sorted(WATCHER_ACTIONS - {"ec2:CreateTags", "ec2:DeleteTags"}))
def test_what_cannot_be_read_is_an_error_and_never_gone(world, action) -> None:
    world.sim.faults.deny(action)
    with pytest.raises(AwsError, match="Not allowed"):
        world.watcher.look(world.resource)


@pytest.mark.parametrize("answer", [{}, {"Volumes": []}, described(VolumeId="vol-other")])
def test_an_answer_about_nothing_is_an_error_and_never_gone(world, answer) -> None:
    with pytest.raises(BrokenAnswerError):
        EbsWatcher(Answering(describe_volumes=answer)).look(world.resource)


def test_changes_that_cannot_be_read_are_no_sign_that_there_are_none(world) -> None:
    session = Answering(describe_volumes=described(), describe_volumes_modifications={})
    with pytest.raises(BrokenAnswerError):
        EbsWatcher(session).look(world.resource)


# -- Tag and record


def test_tagging_and_untagging_leaves_other_tags_unchanged(world) -> None:
    look = world.watcher.look(world.resource)
    for _ in range(2):
        world.watcher.add_tags(world.resource, look, {CLEANUP_TAG: "f-1", ACT_AFTER: "2026-12-01T00:00:00Z"})
    assert world.watcher.look(world.resource).tags == {
        **VOLUME.tags,
        CLEANUP_TAG: "f-1",
        ACT_AFTER: "2026-12-01T00:00:00Z",
    }
    for _ in range(2):
        world.watcher.remove_tags(world.resource, (CLEANUP_TAG, ACT_AFTER))
    assert world.watcher.look(world.resource).tags == VOLUME.tags
    assert world.asked <= WATCHER_ACTIONS


def test_a_deleted_volume_cannot_be_tagged_and_need_not_be_untagged(world) -> None:
    look = world.watcher.look(world.resource)
    world.account.remove(ID)
    world.watcher.remove_tags(world.resource, (CLEANUP_TAG,))
    with pytest.raises(AwsError, match="NotFound"):
        world.watcher.add_tags(world.resource, look, {CLEANUP_TAG: "f-1"})


def test_a_tag_that_cannot_be_removed_is_an_error(world) -> None:
    world.sim.faults.deny("ec2:DeleteTags")
    with pytest.raises(AwsError, match="Not allowed"):
        world.watcher.remove_tags(world.resource, (CLEANUP_TAG,))


def test_what_is_recorded_is_all_that_it_takes_to_make_it_again(of) -> None:
    assert of(replace(VOLUME, type="io2", throughput=None, multi_attach=True)).watcher.record(of().resource) == {
        "availability_zone": ZONE,
        "size_gib": 200,
        "volume_type": "io2",
        "iops": 4_000,
        "throughput_mib_s": None,
        "multi_attach": True,
        "encrypted": True,
        "kms_key_id": KEY,
        "outpost_arn": None,
        "tags": {"Name": "old database", "team": "web"},
    }


def test_nothing_is_recorded_of_what_is_gone(world) -> None:
    world.account.remove(ID)
    with pytest.raises(AwsError, match="there is no volume"):
        world.watcher.record(world.resource)


# -- Back up


def test_a_backup_is_a_snapshot_of_its_size_that_carries_its_tags(world) -> None:
    subject = world.taker.subject(world.resource)
    assert (subject.id, subject.size_bytes) == (ID, 200 * GIB)
    backup = world.backup()
    begun = world.taker.start(world.resource, backup, world.tags(backup))
    assert (begun.of, begun.state, begun.token, begun.size_bytes) == (ID, "running", backup.token, 200 * GIB)
    assert begun.expires_at == backup.expires_at
    (made,) = world.account.backups()
    assert made.tags == {"Name": "old database", **world.tags(backup)}
    assert [copy.state for copy in world.taker.copies(world.resource, backup)] == ["running"]
    world.sim.advance(300)
    (copy,) = world.taker.copies(world.resource, backup)
    assert copy == replace(begun, state="complete", stored_bytes=copy.stored_bytes)
    assert world.asked == BACKUP_ACTIONS - {"ec2:CreateTags"}


def test_a_backup_whose_answer_was_lost_is_asked_for_once_and_found_by_its_token(world) -> None:
    backup, other = world.backup(), world.backup(token="f-2-1-0")
    world.sim.faults.lost_answer(CREATE)
    with pytest.raises(AwsError):
        world.taker.start(world.resource, backup, world.tags(backup))
    assert world.sim.calls[CREATE] == 1
    world.sim.faults.clear()
    world.taker.start(world.resource, other, world.tags(other))
    (copy,) = world.taker.copies(world.resource, backup)
    assert copy.token == backup.token


def test_the_snapshot_of_the_recorded_id_counts_even_without_its_tag_and_only_once_with_it(world) -> None:
    backup = world.backup()
    begun = world.taker.start(world.resource, backup, world.tags(backup))
    known = replace(backup, id=begun.id)
    assert [copy.id for copy in world.taker.copies(world.resource, known)] == [begun.id]
    world.account.untag(begun.id, TOKEN)
    assert [copy.id for copy in world.taker.copies(world.resource, known)] == [begun.id]
    world.account.drop_backup(begun.id)
    assert world.taker.copies(world.resource, known) == ()


def test_a_token_with_a_wildcard_finds_no_other_backup(world) -> None:
    other = world.backup()
    world.taker.start(world.resource, other, world.tags(other))
    assert world.taker.copies(world.resource, world.backup(token="f-*")) == ()


def test_a_snapshot_that_cannot_be_looked_up_is_an_error_and_not_missing(world) -> None:
    world.sim.faults.deny("ec2:DescribeSnapshots")
    with pytest.raises(AwsError, match="Not allowed"):
        world.taker.copies(world.resource, world.backup(id="snap-1"))


@pytest.mark.parametrize(
    ("state", "comes_to"),
    [
        ("pending", "running"),
        ("recovering", "running"),
        ("completed", "complete"),
        ("recoverable", "failed"),
        ("new", "failed"),
    ],
)
def test_only_a_completed_snapshot_is_complete(world, state, comes_to) -> None:
    found = {"SnapshotId": "snap-1", "VolumeId": ID, "State": state, "VolumeSize": 8, "StartTime": world.now}
    tags = [{"Key": TOKEN, "Value": "f-1-1-0"}]
    session = Answering(describe_snapshots={"Snapshots": [{**found, "Tags": tags, "StateMessage": "because"}]})
    (copy,) = EbsBackupTaker(session, session).copies(world.resource, world.backup())
    assert copy.state == comes_to
    assert copy.why == (f"EC2 says: {state}; because" if comes_to == "failed" else None)


@pytest.mark.parametrize("archived", [{"StorageTier": "archive"}, {"RestoreExpiryTime": "2026-12-01T00:00:00Z"}])
def test_a_snapshot_that_somebody_archived_is_no_backup_to_delete_for(world, archived) -> None:
    found = {"SnapshotId": "snap-1", "VolumeId": ID, "State": "completed", "VolumeSize": 8, "StartTime": world.now}
    tags = [{"Key": TOKEN, "Value": "f-1-1-0"}]
    session = Answering(
        describe_snapshots={"Snapshots": [{"StorageTier": "standard", **found, **archived, "Tags": tags}]}
    )
    (copy,) = EbsBackupTaker(session, session).copies(world.resource, world.backup())
    assert (copy.state, copy.why) == ("failed", "EC2 says: completed; archived")


def test_a_snapshot_is_kept_for_longer_by_its_tag_and_never_for_less(world) -> None:
    backup = world.backup()
    begun = world.taker.start(world.resource, backup, world.tags(backup))
    assert begun.kept_until == backup.expires_at
    world.taker.keep(world.resource, begun, backup.expires_at - timedelta(days=1))
    assert "ec2:CreateTags" not in world.asked
    world.taker.keep(world.resource, begun, backup.expires_at + timedelta(days=9))
    (copy,) = world.taker.copies(world.resource, backup)
    assert (copy.expires_at, copy.token) == (backup.expires_at + timedelta(days=9), backup.token)


def test_a_copy_that_somebody_made_of_a_snapshot_is_of_another_volume(world) -> None:
    backup = world.backed_up()
    world.account.copy_backup(backup.id)
    assert sorted(copy.of for copy in world.taker.copies(world.resource, backup)) == sorted([ID, "vol-ffffffff"])


@pytest.mark.parametrize(
    ("encrypted", "key"), [({}, None), ({"Encrypted": True}, ""), ({"Encrypted": True, "KmsKeyId": KEY}, KEY)]
)
def test_which_key_a_snapshot_depends_on(world, encrypted, key) -> None:
    found = {"SnapshotId": "snap-1", "VolumeId": ID, "State": "completed", "VolumeSize": 8, "StartTime": world.now}
    session = Answering(
        describe_snapshots={"Snapshots": [{**found, **encrypted, "Tags": [{"Key": TOKEN, "Value": "f-1-1-0"}]}]}
    )
    (copy,) = EbsBackupTaker(session, session).copies(world.resource, world.backup())
    assert copy.key == key


def test_what_is_gone_has_nothing_to_back_up(world) -> None:
    world.account.remove(ID)
    with pytest.raises(AwsError, match="there is no volume"):
        world.taker.subject(world.resource)


# -- Delete


def test_a_volume_is_deleted_and_a_second_time_is_fine(world) -> None:
    world.remover.remove(world.resource, world.part)
    assert not world.account.exists(ID)
    world.remover.remove(world.resource, world.part)  # EC2 is deleting it, and answers IncorrectState
    world.sim.advance(60)
    world.remover.remove(world.resource, world.part)
    assert world.asked == REMOVER_ACTIONS


def test_what_is_going_is_not_asked_for_again(world) -> None:
    world.remover.remove(world.resource, replace(world.part, going=True))
    assert world.asked == set()


def test_ec2_itself_refuses_what_is_attached(world) -> None:
    world.account.attach(ID, INSTANCE.id)
    with pytest.raises(AwsError, match="VolumeInUse"):
        world.remover.remove(world.resource, world.part)
    assert world.account.exists(ID)


def test_a_wrong_state_that_is_no_deletion_is_an_error(world) -> None:
    session = Answering(
        delete_volume=refused("IncorrectState", "DeleteVolume"), describe_volumes=described(State="creating")
    )
    with pytest.raises(AwsError, match="IncorrectState"):
        EbsRemover(session).remove(world.resource, world.part)


@pytest.mark.parametrize("fault", ["drop", "lost_answer"])
def test_a_deletion_that_was_not_answered_is_an_error_asked_once(world, fault) -> None:
    getattr(world.sim.faults, fault)("ec2:DeleteVolume")
    with pytest.raises(AwsError):
        world.remover.remove(world.resource, world.part)
    assert world.sim.calls == {"ec2:DeleteVolume": 1}


@pytest.mark.parametrize("change", [{"id": "vol-other"}, {"kind": "file-system"}])
def test_nothing_but_the_volume_is_ever_deleted(world, change) -> None:
    with pytest.raises(AwsError, match="it is not deleted"):
        world.remover.remove(world.resource, replace(world.part, **change))
    assert world.asked == set()


# -- Sweep


def test_the_sweeper_sees_backups_of_ours_and_no_other_snapshot(world) -> None:
    ours = world.backup()
    begun = world.taker.start(world.resource, ours, world.tags(ours))
    theirs = world.taker.start(world.resource, ours, {"Name": "somebody's"})
    (copy,) = world.sweeper.copies(world.fleet.account, REGION)
    assert (copy.id, copy.token, copy.expires_at) == (begun.id, ours.token, ours.expires_at)
    assert world.sweeper.look(world.fleet.account, REGION, copy) == copy
    world.sweeper.delete(world.fleet.account, REGION, copy)
    world.sweeper.delete(world.fleet.account, REGION, copy)
    assert world.sweeper.look(world.fleet.account, REGION, copy) is None
    assert [backup.id for backup in world.account.backups()] == [theirs.id]
    assert world.sweeper.born_at(world.resource) == world.watcher.look(world.resource).born_at
    world.remover.remove(world.resource, world.part)
    assert world.sweeper.born_at(world.resource) is None, "it is going"
    assert world.asked >= SWEEPER_ACTIONS


@pytest.mark.parametrize("tag", [None, "", "soon", "2026-11-01", "2026-11-01T00:00:00", "20261101"])
def test_a_time_that_nobody_can_read_is_none_so_that_nothing_expires_by_it(world, tag) -> None:
    backup = world.backup()
    begun = world.taker.start(
        world.resource, backup, {BACKUP_OF: world.arn} | ({} if tag is None else {EXPIRES_AT: tag})
    )
    assert begun.expires_at is None
    assert [copy.expires_at for copy in world.sweeper.copies(world.fleet.account, REGION)] == [None]


def test_a_sweep_that_is_refused_is_an_error(world) -> None:
    backup = world.backup()
    world.taker.start(world.resource, backup, world.tags(backup))
    (copy,) = world.sweeper.copies(world.fleet.account, REGION)
    world.sim.faults.deny("ec2:DeleteSnapshot")
    with pytest.raises(AwsError, match="Not allowed"):
        world.sweeper.delete(world.fleet.account, REGION, copy)
    with pytest.raises(AwsError, match="has no id"):
        world.sweeper.delete(world.fleet.account, REGION, replace(copy, id=None))
    world.sim.faults.deny("ec2:DescribeSnapshots")
    with pytest.raises(AwsError, match="Not allowed"):
        list(world.sweeper.copies(world.fleet.account, REGION))


# -- Change

SMALLER = VolumeSetting(volume_type="gp3", iops=3_000, throughput_mib_s=125)
GP2 = VolumeSetting(volume_type="gp2", iops=None, throughput_mib_s=None)


def test_a_setting_holds_only_what_its_type_lets_one_choose(of) -> None:
    kinds = {"gp3": VOLUME, "gp2": replace(VOLUME, type="gp2", iops=None, throughput=None)}
    kinds["io2"] = replace(VOLUME, type="io2", throughput=None)
    kinds["st1"] = replace(VOLUME, type="st1", iops=None, throughput=None)
    found = {kind: of(volume) for kind, volume in kinds.items()}
    assert {kind: world.changer.setting(world.resource, GP2) for kind, world in found.items()} == {
        "gp3": (VolumeSetting(volume_type="gp3", iops=4_000, throughput_mib_s=250), False),
        "gp2": (GP2, False),
        "io2": (VolumeSetting(volume_type="io2", iops=4_000, throughput_mib_s=None), False),
        "st1": (VolumeSetting(volume_type="st1", iops=None, throughput_mib_s=None), False),
    }


def test_a_change_is_under_way_until_it_is_completed_and_can_be_reverted_the_same_way(world) -> None:
    was, _ = world.changer.setting(world.resource, SMALLER)
    for to in (SMALLER, was):
        assert world.changer.refusal(world.resource, to) is None
        world.changer.change(world.resource, to)
        assert world.changer.setting(world.resource, to)[1]
        world.sim.advance(60)
        assert world.changer.setting(world.resource, to) == (to, True)
        world.sim.advance(1_800)
        assert world.changer.setting(world.resource, to) == (to, False)
    assert world.asked == CHANGER_ACTIONS


def test_a_gp2_volume_becomes_gp3_with_the_requested_settings_instead_of_ec2s_defaults_and_back(of) -> None:
    world = of(
        replace(
            VOLUME,
            type="gp2",
            iops=None,
            throughput=None,
            attachments=(Attachment(instance_id="i-1", since=NOW - DAY),),
        )
    )
    world.changer.change(world.resource, SMALLER)
    world.sim.advance(2_000)
    assert world.changer.setting(world.resource, GP2) == (SMALLER, False)
    world.changer.change(world.resource, GP2)
    world.sim.advance(2_000)
    assert world.changer.setting(world.resource, GP2) == (GP2, False)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (replace(SMALLER, iops=None), "gp3 needs Iops"),
        (replace(SMALLER, throughput_mib_s=None), "gp3 needs Throughput"),
        (replace(GP2, iops=3_000), "gp2 takes no Iops"),
        (VolumeSetting(volume_type="io2", iops=3_000, throughput_mib_s=125), "io2 takes no Throughput"),
        (EfsThroughputSetting(mode="elastic"), "a volume has no efs-throughput setting"),
    ],
)
def test_a_setting_that_leaves_something_to_ec2_is_not_asked_for(world, setting, words) -> None:
    with pytest.raises(AwsError, match=words):
        world.changer.change(world.resource, setting)
    assert world.asked == set()


def test_ec2_refuses_and_so_do_we_while_a_change_is_under_way(world) -> None:
    world.changer.change(world.resource, SMALLER)
    assert world.changer.refusal(world.resource, SMALLER) == "its last change is still modifying (0 %)"
    with pytest.raises(AwsError, match="IncorrectModificationState"):
        world.changer.change(world.resource, SMALLER)


def test_ec2_refuses_the_fifth_change_within_a_day_and_describes_only_the_newest(world) -> None:
    was, _ = world.changer.setting(world.resource, SMALLER)
    for to in (SMALLER, was, SMALLER, was):
        world.changer.change(world.resource, to)
        world.sim.advance(1_800)
    with pytest.raises(AwsError, match="VolumeModificationRateExceeded"):
        world.changer.change(world.resource, SMALLER)


def test_four_changes_within_a_day_are_known_if_ec2_describes_them(world) -> None:
    at = [world.now - timedelta(hours=hours) for hours in (30, 23, 20, 10, 2)]
    changes = [{"ModificationState": "completed", "StartTime": one} for one in at]
    answers = {"describe_volumes": described(), "describe_volumes_modifications": {"VolumesModifications": changes}}
    session = Answering(**answers)
    changer = EbsChanger(session, session, lambda: world.now)
    assert (
        changer.refusal(world.resource, SMALLER)
        == "EC2 takes four changes in 24 hours: the next from 2026-11-16 10:07 UTC on"
    )
    changes.pop()
    assert changer.refusal(world.resource, SMALLER) is None
    assert all(earlier < later for earlier, later in pairwise(at))


@pytest.mark.parametrize(
    ("more", "to", "words"),
    [
        ({"State": "creating"}, SMALLER, "it is creating"),
        ({"Operator": {"Managed": True, "Principal": "eks"}}, SMALLER, "eks manages it"),
        ({"MultiAttachEnabled": True}, SMALLER, "several instances may attach it, and gp3 does not let them"),
        ({"MultiAttachEnabled": True}, replace(SMALLER, volume_type="io2"), None),
        ({"State": "in-use", "Attachments": [{"InstanceId": "i-1", "State": "attached"}]}, SMALLER, None),
    ],
)
def test_what_ec2_would_refuse_is_known_before(world, more, to, words) -> None:
    session = Answering(describe_volumes=described(**more), describe_volumes_modifications={"VolumesModifications": []})
    assert EbsChanger(session, session).refusal(world.resource, to) == words


def test_what_is_gone_has_no_setting(world) -> None:
    world.account.remove(ID)
    assert world.changer.refusal(world.resource, SMALLER) == "the volume no longer exists"
    with pytest.raises(AwsError, match="there is no volume"):
        world.changer.setting(world.resource, SMALLER)


def test_a_change_that_was_not_answered_is_an_error_asked_once(world) -> None:
    world.sim.faults.lost_answer("ec2:ModifyVolume")
    with pytest.raises(AwsError):
        world.changer.change(world.resource, SMALLER)
    assert world.sim.calls == {"ec2:ModifyVolume": 1}
    assert world.changer.setting(world.resource, SMALLER)[1]
