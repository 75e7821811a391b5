"""Which installation a backup belongs to: two installations in one account, a redeployed one, and people's copies.

Every undo restores its own clean-up's backup, and every sweeper deletes only its own expired backups.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from slackwater.app.cleanup.cleanups import not_undoable
from slackwater.model.cleanup import EXPIRES_AT, TOKEN, Cleanup
from slackwater.model.cleanup import INSTALLATION as MADE_BY
from support.cleanup_world import INSTALLATION, World, wired, world

DAY = 86_400
FORGOTTEN_S = {"ebs": 0, "efs": 40 * DAY, "openzfs": 0}
"""How long to wait until the reads by the first installation's backup no longer count as use of the resource."""
KINDS = ["ebs", "efs", "openzfs"]
CREATE = {"ebs": "ec2:CreateSnapshot", "efs": "backup:StartBackupJob", "openzfs": "fsx:CreateBackup"}
OTHERS = ["another", INSTALLATION]
"""A second installation, and the same one redeployed with an empty table."""


@contextmanager
def two(kind: str, other: str) -> Iterator[tuple[World, World]]:
    """Provide two installations in one account, each with its own findings and records."""
    with world(kind) as first:
        yield first, wired(first.simulator, first.policy, installation=other)


def before(there: World, function: str, step: str, act: Callable[[], Any]) -> None:
    """Run an action once, right before a step is taken for the first time."""
    inner, done = there.functions[function], list[str]()

    def hooked(payload: Any) -> Any:
        if payload["step"] == step and not done:
            done.append(step)
            act()
        return inner(payload)

    there.functions = {**there.functions, function: hooked}


def backed_up_only(there: World, kind: str) -> Cleanup:
    """Run a clean-up that a person stops once its backup is verified."""
    before(there, "DeleteFunction", "delete", there.stop)
    there.cleaned(kind)
    cleanup = there.cleanup(kind)
    assert (cleanup.stage, cleanup.backups[0].state) == ("called-off", "verified")
    return cleanup


def backup_ids(there: World) -> set[str]:
    return {made.id for made in there.account.backups()}


def deleted(there: World) -> list[str]:
    swept = there.sweep.sweep()
    assert not swept.troubles
    return [id_ for id_, _ in swept.deleted]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_that_was_made_before_is_never_taken_for_the_new_one(kind: str, other: str) -> None:
    with two(kind, other) as (first, second):
        id_ = first.finding(kind).sighting.resource.id
        stale = backed_up_only(first, kind).backups[0]
        first.account.fill(id_, "what was written since")
        first.simulator.advance(FORGOTTEN_S[kind])
        assert second.cleaned(kind).status == "SUCCEEDED"
        mine = second.cleanup(kind).prior_backups[0]
        assert mine.id != stale.id
        assert second.account.contents(mine.id) == "what was written since"
        assert second.undone(kind).status == "SUCCEEDED"
        restored = second.cleanup(kind).restored
        assert restored
        assert second.account.contents(restored.id) == "what was written since"


@pytest.mark.parametrize("kind", KINDS)
def test_two_installations_that_both_backed_it_up_each_bring_back_their_own(kind: str) -> None:
    with two(kind, "another") as (first, second):
        id_ = first.finding(kind).sighting.resource.id
        held = first.account.contents(id_)

        def others_delete_it() -> None:
            first.account.fill(id_, "what was written since")
            first.simulator.advance(FORGOTTEN_S[kind])
            assert second.cleaned(kind).status == "SUCCEEDED"

        before(first, "DeleteFunction", "delete", others_delete_it)
        assert first.cleaned(kind).status == "SUCCEEDED"
        assert (first.cleanup(kind).stage, second.cleanup(kind).stage) == ("done", "done")
        came: list[str] = []
        for there, contents in ((second, "what was written since"), (first, held)):
            assert there.undone(kind).status == "SUCCEEDED"
            restored = there.cleanup(kind).restored
            assert restored
            came.append(restored.id or "")
            assert there.account.contents(came[-1]) == contents
        assert len({*came}) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_no_sweeper_takes_the_backup_of_another_installation(kind: str) -> None:
    with two(kind, "another") as (first, second):
        assert first.cleaned(kind).status == "SUCCEEDED"
        second.cleaned(kind)  # the same finding and attempt; it is cancelled, because the resource is gone
        assert second.cleanup(kind).stage == "called-off"
        mine = [one.id for one in first.cleanup(kind).backups]
        first.simulator.advance(3 * DAY)
        assert deleted(second) == []
        for id_ in mine:
            first.account.tag(id_, EXPIRES_AT, "2026-11-01T00:00:00Z")
        assert deleted(second) == []
        assert backup_ids(first) == {*mine}
        assert deleted(first) == mine


def test_what_another_installation_made_is_not_swept_though_it_be_on_record() -> None:
    with two("ebs", "another") as (first, second):
        assert first.cleaned("ebs").status == "SUCCEEDED"
        second.cleanups.cleanups |= first.cleanups.cleanups
        second.simulator.advance(400 * DAY)
        assert deleted(second) == []


def test_a_redeployed_installation_keeps_what_is_on_no_record_of_its() -> None:
    with two("ebs", INSTALLATION) as (first, second):
        assert first.cleaned("ebs").status == "SUCCEEDED"
        second.cleaned("ebs")
        second.simulator.advance(400 * DAY)
        assert deleted(second) == []
        assert len(backup_ids(first)) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_copies_that_people_make_are_neither_taken_for_a_backup_nor_swept(kind: str) -> None:
    with world(kind) as there:
        copies: list[str] = []
        there.simulator.faults.lost_answer(CREATE[kind], times=1)

        def copy() -> None:
            there.simulator.advance(1_300)
            copies.append(there.account.copy_backup(there.account.backups()[0].id))

        before(there, "BackUpFunction", "look", copy)
        assert there.cleaned(kind).status == "SUCCEEDED"
        backups = there.cleanup(kind).backups
        ids = [one.id for one in backups]
        assert ({*ids}, {one.spares for one in backups}) == (backup_ids(there) - {*copies}, {()})
        for id_ in (*ids, copies[0]):
            there.account.tag(id_, EXPIRES_AT, "2026-11-01T00:00:00Z")
        assert deleted(there) == ids
        there.simulator.advance(DAY)
        assert backup_ids(there) == {*copies}


@pytest.mark.parametrize("kind", ["ebs", "openzfs"])  # AWS Backup expires its recovery points itself
def test_a_later_date_in_its_tag_keeps_a_backup(kind: str) -> None:
    with world(kind) as there:
        assert there.cleaned(kind).status == "SUCCEEDED"
        ids = [one.id for one in there.cleanup(kind).backups]
        for id_ in ids:
            there.account.tag(id_, EXPIRES_AT, "2028-01-01T00:00:00Z")
        there.simulator.advance(400 * DAY)
        assert deleted(there) == []
        assert backup_ids(there) == {*ids}


def test_a_request_that_was_heard_twice_leaves_a_spare_that_is_swept_with_it() -> None:
    with world("ebs") as there:
        there.simulator.faults.lost_answer(CREATE["ebs"], times=1)
        there.simulator.faults.lagging("ec2:DescribeSnapshots", times=2, seconds=3_600)
        assert there.cleaned("ebs").status == "SUCCEEDED"
        (backup,) = there.cleanup("ebs").backups
        assert there.simulator.calls[CREATE["ebs"]] == 2
        assert {backup.id, *backup.spares} == backup_ids(there)
        there.simulator.advance(400 * DAY)
        assert set(deleted(there)) == {backup.id, *backup.spares}


@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_whose_clean_up_was_stopped_before_its_id_was_on_record_is_swept_on_its_day(kind: str) -> None:
    with world(kind) as there:
        there.simulator.faults.lost_answer(CREATE[kind], times=1)
        before(there, "BackUpFunction", "look", there.stop)
        there.cleaned(kind)
        assert (there.cleanup(kind).stage, there.cleanup(kind).backups[0].id) == ("called-off", None)
        there.simulator.advance(2 * DAY)
        (made,) = backup_ids(there)
        assert deleted(there) == []
        assert there.cleanup(kind).backups[0].id == made
        there.simulator.advance(400 * DAY)
        deleted(there)
        assert backup_ids(there) == set()


def test_a_backup_without_a_recorded_id_is_swept_although_another_attempt_began() -> None:
    with world("ebs") as there:
        there.simulator.faults.lost_answer(CREATE["ebs"], times=1)
        before(there, "BackUpFunction", "look", there.stop)
        there.cleaned("ebs")
        (lost,) = there.cleanup("ebs").backups
        assert lost.id is None
        there.cleanups.control_ = replace(there.cleanups.control_, stopped=None)
        there.simulator.advance(DAY)
        (made,) = backup_ids(there)
        assert there.cleaned("ebs").status == "SUCCEEDED"
        assert there.cleanup("ebs").earlier == (lost,)
        there.simulator.advance(400 * DAY)
        assert made in deleted(there)
        assert there.cleanup("ebs").earlier == ()


def test_a_request_that_aws_never_received_is_not_kept_on_record_for_ever() -> None:
    with world("ebs") as there:
        there.simulator.faults.drop(CREATE["ebs"], times=1)
        before(there, "BackUpFunction", "look", there.stop)
        there.cleaned("ebs")
        there.cleanups.control_ = replace(there.cleanups.control_, stopped=None)
        assert there.cleaned("ebs").status == "SUCCEEDED"
        assert len(there.cleanup("ebs").earlier) == 1
        there.simulator.advance(9 * DAY)
        deleted(there)
        assert there.cleanup("ebs").earlier == ()


def test_what_an_earlier_attempt_left_is_swept_on_its_day() -> None:
    with world("ebs") as there:
        leftover = backed_up_only(there, "ebs").backups[0]
        there.cleanups.control_ = replace(there.cleanups.control_, stopped=None)
        there.simulator.advance(DAY)
        assert there.cleaned("ebs").status == "SUCCEEDED"
        (backup,) = there.cleanup("ebs").backups
        assert there.cleanup("ebs").earlier == (leftover,)
        assert deleted(there) == []
        there.simulator.advance((leftover.expires_at - there.now()).total_seconds() + 60)
        assert deleted(there) == [leftover.id]
        assert there.cleanup("ebs").earlier == ()
        assert backup_ids(there) == {backup.id}


class TestTheOnlyCopy:
    def test_of_what_somebody_else_deleted_is_never_swept(self) -> None:
        with world("ebs") as there:
            id_ = there.finding("ebs").sighting.resource.id
            before(there, "DeleteFunction", "delete", lambda: there.account.remove(id_))
            assert there.cleaned("ebs").status == "SUCCEEDED"
            self.kept(there)

    def test_of_what_went_after_the_clean_up_was_called_off_is_never_swept(self) -> None:
        with world("ebs") as there:
            backed_up_only(there, "ebs")
            there.account.remove(there.finding("ebs").sighting.resource.id)
            self.kept(there)

    def test_of_what_was_restored_and_is_gone_again_is_never_swept(self) -> None:
        with world("ebs") as there:
            assert there.cleaned("ebs").status == "SUCCEEDED"
            assert there.undone("ebs").status == "SUCCEEDED"
            restored = there.cleanup("ebs").restored
            assert restored
            there.account.remove(restored.id)
            self.kept(there)

    def test_is_none_once_a_deletion_that_was_called_off_half_done_has_restored_it(self) -> None:
        with world("ebs") as there:
            assert there.cleaned("ebs").status == "SUCCEEDED"
            assert there.undone("ebs").status == "SUCCEEDED"
            undone = there.cleanup("ebs")
            there.cleanups.write(replace(undone, stage="called-off", revision=undone.revision + 1))
            there.simulator.advance(400 * DAY)
            assert deleted(there) == [undone.backups[0].id]

    def test_of_what_is_there_under_the_same_id_but_is_another_is_never_swept(self) -> None:
        with world("ebs") as there:
            backed_up_only(there, "ebs")
            there.account.replace(there.finding("ebs").sighting.resource.id)
            self.kept(there)

    def test_is_none_while_it_is_there(self) -> None:
        with world("ebs") as there:
            leftover = backed_up_only(there, "ebs").backups[0]
            there.simulator.advance(400 * DAY)
            assert deleted(there) == [leftover.id]

    def kept(self, there: World) -> None:
        there.simulator.advance(400 * DAY)
        swept = there.sweep.sweep()
        assert (swept.deleted, swept.troubles) == ((), ())
        ((id_, why),) = swept.kept
        assert {id_} == backup_ids(there)
        assert "it may be the only copy of" in why


class TestTheTag:
    def test_a_change_just_before_the_deletion_stops_it(self) -> None:
        with world("ebs") as there:
            assert there.cleaned("ebs").status == "SUCCEEDED"
            (backup,) = there.cleanup("ebs").backups
            there.simulator.advance(400 * DAY)
            listed = there.sweep.sweepers["ebs-volume"].copies

            def then_changed(account: str, region: str) -> Any:
                yield from list(listed(account, region))
                there.account.tag(backup.id, EXPIRES_AT, "2099-01-01T00:00:00Z")

            there.sweep.sweepers["ebs-volume"].copies = then_changed  # type: ignore[method-assign]
            assert deleted(there) == []


class TestGone:
    def test_a_backup_that_others_delete_is_reported_once_and_there_is_no_undo(self) -> None:
        with world("ebs") as there:
            assert there.cleaned("ebs").status == "SUCCEEDED"
            (backup,) = there.cleanup("ebs").backups
            assert not_undoable(there.cleanup("ebs")) is None
            there.account.drop_backup(backup.id)
            there.simulator.advance(DAY)
            (problem,) = there.sweep.sweep().troubles
            assert backup.id in problem
            assert there.sweep.sweep().troubles == ()
            assert "its backup no longer exists" in str(not_undoable(there.cleanup("ebs")))
            assert there.ledger_events("ebs").count("backup-gone") == 1

    def test_what_shows_again_can_be_undone_again(self) -> None:
        with world("ebs") as there:
            assert there.cleaned("ebs").status == "SUCCEEDED"
            (made,) = there.account.backups()
            there.account.drop_backup(made.id)
            there.simulator.advance(DAY)
            there.sweep.sweep()
            there.account.put_backup(made)
            assert deleted(there) == []
            assert not_undoable(there.cleanup("ebs")) is None

    def test_no_undo_is_offered_from_a_leftover_that_is_gone(self) -> None:
        with world("ebs") as there:
            leftover = backed_up_only(there, "ebs").backups[0]
            assert "restores it" in str(not_undoable(there.cleanup("ebs")))
            there.account.drop_backup(leftover.id)
            there.simulator.advance(DAY)
            there.sweep.sweep()
            assert not_undoable(there.cleanup("ebs")) == "it did not delete or change anything"

    def test_it_stays_gone_where_another_sweep_deletes_it_after_this_one_has_listed_it(self) -> None:
        with world("ebs") as there:
            assert there.cleaned("ebs").status == "SUCCEEDED"
            there.simulator.advance(400 * DAY)
            sweeper = there.sweep.sweepers["ebs-volume"]
            listed = sweeper.copies

            def then_swept(account: str, region: str) -> Any:
                found = list(listed(account, region))
                sweeper.copies = listed  # type: ignore[method-assign]
                assert len(deleted(there)) == 1
                return found

            sweeper.copies = then_swept  # type: ignore[method-assign]
            assert deleted(there) == []
            assert "its backup no longer exists" in str(not_undoable(there.cleanup("ebs")))

    @pytest.mark.parametrize("kind", KINDS)
    def test_after_its_time_it_is_gone_quietly(self, kind: str) -> None:
        with world(kind) as there:
            assert there.cleaned(kind).status == "SUCCEEDED"
            there.simulator.advance(400 * DAY)
            deleted(there)
            assert there.account.backups() == []
            assert "its backup no longer exists" in str(not_undoable(there.cleanup(kind)))
            assert "backup-gone" not in there.ledger_events(kind)

    def test_a_backup_that_aws_does_not_list_yet_is_not_gone(self) -> None:
        with world("ebs") as there:
            before(there, "DeleteFunction", "delete", there.stop)
            there.cleaned("ebs")
            there.simulator.faults.lagging("ec2:DescribeSnapshots", seconds=7_200)
            cleanup = there.cleanup("ebs")
            young = replace(cleanup.backups[0], asked_at=there.now() - timedelta(minutes=59))
            there.cleanups.cleanups[cleanup.finding_id] = replace(cleanup, backups=(young,))
            there.sweep.sweep()
            assert there.cleanup("ebs").backups[0].gone_at is None


class TestOlderVersions:
    """Their tokens were the finding's id, the attempt and a number. Their backups carry no installation tag."""

    def as_before(self, there: World, kind: str) -> None:
        """Change a clean-up and its backup to what an older version stored."""
        cleanup = there.cleanup(kind)
        backup = cleanup.prior_backups[0]  # older versions made no final backup
        for final in cleanup.backups[1:]:
            there.account.drop_backup(final.id)
        token = f"{cleanup.execution}-0"
        there.account.tag(backup.id, TOKEN, token)
        there.account.untag(backup.id, MADE_BY)
        older = replace(backup, token=token, installation=None, started_at=None, vault=None)
        there.cleanups.cleanups[cleanup.finding_id] = replace(cleanup, backups=(older,))

    @pytest.mark.parametrize(
        ("function", "step"), [("BackUpFunction", "look"), ("BackUpFunction", "verify"), ("DeleteFunction", "delete")]
    )
    def test_a_clean_up_that_is_under_way_is_called_off(self, function: str, step: str) -> None:
        with world("efs") as there:
            before(there, function, step, lambda: self.as_before(there, "efs"))
            assert there.cleaned("efs").status == "SUCCEEDED"
            assert there.cleanup("efs").stage == "called-off"
            assert "older version" in there.cleanup("efs").why
            assert there.account.exists(there.finding("efs").sighting.resource.id)

    @pytest.mark.parametrize("kind", KINDS)
    def test_what_is_on_record_can_be_undone_and_is_swept_on_its_day(self, kind: str) -> None:
        with world(kind) as there:
            assert there.cleaned(kind).status == "SUCCEEDED"
            self.as_before(there, kind)
            (backup,) = there.cleanup(kind).backups
            assert deleted(there) == []
            assert there.undone(kind).status == "SUCCEEDED"
            there.account.tag(backup.id, EXPIRES_AT, "2026-11-01T00:00:00Z")
            assert deleted(there) == [backup.id]

    def test_what_is_on_no_record_is_kept(self) -> None:
        with world("ebs") as there:
            assert there.cleaned("ebs").status == "SUCCEEDED"
            self.as_before(there, "ebs")
            there.cleanups.cleanups.clear()
            there.simulator.advance(400 * DAY)
            assert deleted(there) == []
