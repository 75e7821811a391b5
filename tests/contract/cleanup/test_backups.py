"""`slackwater cleanup backups` and `adopt`: list all backups with Slackwater's tags, and undo without a record."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from slackwater.app.cleanup import responses
from slackwater.app.cleanup.backups import Backups
from slackwater.app.cleanup.cleanups import not_undoable
from slackwater.app.findings.findings import BadDecisionError, ConflictError, NotAllowedError, NotFoundError
from slackwater.aws.cleanup.adopted import EbsBackupLister, EfsBackupLister, FsxBackupLister
from slackwater.model.cleanup import INSTALLATION as MADE_BY
from slackwater.model.cleanup import ActorNote, Cleanup
from slackwater.model.resources import EfsFileSystem, FsxFileSystem, Volume
from slackwater.model.units import GIB
from support.cleanup_world import ACCOUNT, APPROVER, INSTALLATION, REGION, World, line, wired, world

DAY = 86_400
KINDS = ["ebs", "efs", "openzfs"]
TYPES = {"ebs": Volume.KIND, "efs": EfsFileSystem.KIND, "openzfs": FsxFileSystem.KIND}


@contextmanager
def two(kind: str, other: str = "another") -> Iterator[tuple[World, World]]:
    """Provide two installations in one account. The first has deleted a resource after a backup."""
    with world(kind) as first:
        second = wired(first.simulator, first.policy, installation=other)
        assert first.cleaned(kind).status == "SUCCEEDED"
        yield first, second


def backups(there: World, installation: str | None = INSTALLATION) -> Backups:
    """Return the use case as `wiring` builds it, at 0.05 USD a GiB-month."""
    session = line().patient
    return Backups(
        store=there.cleanups,
        listers={
            Volume.KIND: EbsBackupLister(session),
            EfsFileSystem.KIND: EfsBackupLister(session),
            FsxFileSystem.KIND: FsxBackupLister(session),
        },
        regions=lambda: [REGION],
        account=ACCOUNT,
        installation=lambda: installation,
        price=lambda kind, region, size: Decimal("0.05") * size / GIB,
        policy=lambda: there.policy,
    )


def newest(there: World) -> Any:
    """Return the newest backup. An FSx file system has two, of which the final one is newer."""
    return max(there.account.backups(), key=lambda one: one.made)


def adopted(there: World, installation: str = "another", places: tuple[str, ...] = (f"{REGION}a",)) -> Cleanup:
    return backups(there, installation).adopt(
        newest(there).id, ActorNote(who=APPROVER, why="their stack is gone", at=there.now()), places=places
    )


def places(there: World, kind: str) -> tuple[str, ...]:
    """Return where to restore the resource: its original zone or subnets. Empty for EFS."""
    recorded = there.cleanup(kind).recorded or {}
    return {"ebs": (f"{REGION}a",), "efs": (), "openzfs": tuple(recorded.get("system", {}).get("SubnetIds", ()))}[kind]


def undone(there: World, cleanup: Cleanup) -> Cleanup:
    """Undo a clean-up as the state machine does."""
    undoing = there.people.undo(cleanup.finding_id, who=APPROVER, why="needed", now=there.now())
    finding = there.findings.findings[undoing.finding_id]
    assert there.execution(finding).run().status == "SUCCEEDED"
    return there.cleanups.cleanups[undoing.finding_id]


@pytest.mark.parametrize("kind", KINDS)
def test_each_installation_sees_every_backup_whose_it_is_and_what_it_costs(kind: str) -> None:
    with two(kind) as (first, second):
        cleanup = first.cleanup(kind)
        mine = responses.backups(backups(first).listed())
        theirs = responses.backups(backups(second, "another").listed())
        assert [one["id"] for one in mine["backups"]] == [one.id for one in cleanup.backups]
        for one, same, backup in zip(mine["backups"], theirs["backups"], cleanup.backups, strict=True):
            assert one["id"] == same["id"]
            assert (one["type"], one["of"], one["region"]) == (TYPES[kind], cleanup.resource.arn, REGION)
            assert (one["whose"], same["whose"]) == ("own", "other")
            assert one["installation"] == same["installation"] == INSTALLATION
            assert (one["finding_id"], same["finding_id"]) == (cleanup.finding_id, None)
            assert (one["undo"], same["undo"]) == (f"slackwater cleanup undo {cleanup.finding_id}", None)
            assert one["expires_at"] == f"{backup.expires_at:%Y-%m-%dT%H:%M:%SZ}"
            assert (
                one["monthly_usd"] == same["monthly_usd"] == f"{Decimal('0.05') * (one['size_bytes'] or 0) / GIB:.2f}"
            )
        assert Decimal(mine["monthly_usd"]) == sum(Decimal(one["monthly_usd"] or 0) for one in mine["backups"])
        assert (mine["complete"], mine["unpriced"], theirs["installation"]) == (True, 0, "another")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", ["another", INSTALLATION])
def test_an_adopted_backup_is_restored_and_only_its_maker_sweeps_it(kind: str, other: str) -> None:
    """Another installation adopts the backup, or the same one after it was redeployed with an empty table."""
    with two(kind, other) as (first, second):
        made = newest(first)
        held = first.account.contents(made.id)
        cleanup = adopted(second, other, places(first, kind))
        assert (cleanup.stage, not_undoable(cleanup)) == ("done", None)
        (listed,) = [
            one for one in responses.backups(backups(second, other).listed())["backups"] if one["id"] == made.id
        ]
        assert (listed["finding_id"], listed["undo"]) == (
            cleanup.finding_id,
            f"slackwater cleanup undo {cleanup.finding_id}",
        )
        assert [entry.happening for entry in second.findings.ledger(cleanup.finding_id)] == ["adopted"]

        after = undone(second, cleanup)
        assert (after.stage, after.restored and after.restored.state) == ("undone", "done")
        restored = after.restored
        assert restored
        assert second.account.contents(restored.id) == held
        assert any("only what the backup records" in one for one in restored.differences)

        first.simulator.advance(400 * DAY)
        if first.account.backups():  # AWS Backup deletes expired recovery points itself
            assert second.sweep.sweep().deleted == ()
            assert [id_ for id_, _ in first.sweep.sweep().deleted] == [one.id for one in first.cleanup(kind).backups]


def test_an_adopted_backup_that_is_gone_cannot_be_undone_any_more() -> None:
    with two("ebs") as (first, second):
        cleanup = adopted(second)
        first.account.drop_backup(first.account.backups()[0].id)
        first.simulator.advance(DAY)
        second.sweep.sweep()
        assert "its backup no longer exists" in str(not_undoable(second.cleanups.cleanups[cleanup.finding_id]))


def test_a_backup_of_an_older_version_can_be_adopted_and_is_never_swept_by_who_adopts_it() -> None:
    with two("ebs") as (first, second):
        (made,) = first.account.backups()
        first.account.untag(made.id, MADE_BY)
        (listed,) = responses.backups(backups(second, "another").listed())["backups"]
        assert listed["whose"] == "older"
        adopted(second)
        first.simulator.advance(400 * DAY)
        assert second.sweep.sweep().deleted == ()


def test_adopting_it_again_changes_nothing() -> None:
    with two("ebs") as (_, second):
        before = adopted(second)
        assert adopted(second) == before
        assert len(second.findings.entries) == 1


def test_an_adopted_backup_saved_nothing() -> None:
    with two("ebs") as (_, second):
        adopted(second)
        assert second.people.totals(second.cleanups.list(10, None), second.now()).savings.promised_monthly_usd == 0


class TestRefused:
    def test_by_whom_the_policy_does_not_name(self) -> None:
        with two("ebs") as (_, second), pytest.raises(NotAllowedError, match="joe"):
            backups(second).adopt("snap-1", ActorNote(who="arn:aws:iam::1:user/joe", why="mine now", at=second.now()))

    def test_without_a_reason(self) -> None:
        with two("ebs") as (_, second), pytest.raises(BadDecisionError, match="why"):
            backups(second).adopt("snap-1", ActorNote(who=APPROVER, why=" ", at=second.now()))

    def test_what_is_on_record(self) -> None:
        with two("ebs") as (first, _), pytest.raises(ConflictError, match="is already on record"):
            adopted(first, INSTALLATION)

    def test_what_does_not_carry_our_tags(self) -> None:
        with two("ebs") as (_, second), pytest.raises(NotFoundError, match="no backup snap-1"):
            backups(second).adopt("snap-1", ActorNote(who=APPROVER, why="mine now", at=second.now()))

    @pytest.mark.parametrize("kind", ["ebs", "openzfs"])
    def test_without_a_place_where_one_is_needed(self, kind: str) -> None:
        with two(kind) as (first, second), pytest.raises(BadDecisionError, match="place"):
            backups(second, "another").adopt(newest(first).id, ActorNote(who=APPROVER, why="mine now", at=second.now()))

    def test_what_is_not_complete(self) -> None:
        with two("ebs") as (first, second):
            (made,) = first.account.backups()
            first.account.put_backup(replace(made, state="error"))
            with pytest.raises(ConflictError, match="is failed"):
                adopted(second)


def test_what_cannot_be_listed_is_a_gap_and_not_an_empty_list() -> None:
    with two("ebs") as (first, _):
        first.simulator.faults.deny("fsx:DescribeBackups")
        found = responses.backups(backups(first).listed())
        assert (len(found["backups"]), found["complete"]) == (1, False)
        (gap,) = found["gaps"]
        assert gap.startswith(f"fsx-file-system in {REGION}: ")


def test_the_oldest_is_first() -> None:
    with two("ebs") as (first, second):
        first.simulator.advance(timedelta(days=1).total_seconds())
        (made,) = first.account.backups()
        copy = first.account.copy_backup(made.id)
        assert [one.copy.id for one in backups(second).listed().backups] == [made.id, copy]
