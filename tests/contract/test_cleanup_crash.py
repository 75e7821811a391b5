"""The worker dies after everything that changes anything, is started again, and finishes what it began.

It dies after each request that changes the account, and after each write of what is on record. Between two of these nothing
changes, so that to die before one is to die after the one before it; once it dies before the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import pytest

from cleanup_world import CHANGED, DELETED, KINDS, World, line, world
from slackwater.app.cleanups import not_undoable

MOST_POINTS: Final = 400


class Dies(BaseException):
    """The worker is gone: nothing catches it."""


@dataclass
class Reaper:
    """Kills at the n-th point, once."""

    at: int = -1
    points: int = 0
    armed: bool = False
    where: list[str] = field(default_factory=list)

    def point(self, where: str) -> None:
        """Here something has changed, or is about to for the first time."""
        if not self.armed or (self.points and where.startswith("before")):
            return
        self.points += 1
        self.where.append(where)
        if self.points == self.at:
            raise Dies(where)


def dying(kind: str, at: int, act: Callable[[World, Reaper], None]) -> Reaper:
    """An account, and what is done there with a reaper about."""
    reaper = Reaper(at)
    with world(kind) as there:
        line().meter.told = reaper.point
        there.cleanups.before_write = lambda: reaper.point("before a write")
        there.cleanups.after_write = lambda: reaper.point("after a write")
        act(there, reaper)
    return reaper


def run(there: World, kind: str, reaper: Reaper) -> None:
    """The execution to its end. A task whose worker died is tried again, as Step Functions does."""
    execution = there.execution(there.finding(kind))
    reaper.armed = True
    try:
        execution.run()
    except Dies:
        execution.run()
    reaper.armed = False
    assert execution.status == "SUCCEEDED", (execution.error, execution.cause)


def deletes(kind: str) -> Callable[[World, Reaper], None]:
    def act(there: World, reaper: Reaper) -> None:
        finding = there.finding(kind)
        id_ = finding.sighting.resource.id
        contents = there.account.contents(id_)
        unsafe: list[str] = []

        def look(action: str) -> Callable[[], None]:
            def looked() -> None:
                whole = [one for one in there.account.backups() if one.state in {"completed", "COMPLETED", "AVAILABLE"}]
                if not whole:
                    unsafe.append(action)

            return looked

        for action in ("ec2:DeleteVolume", "elasticfilesystem:DeleteAccessPoint", "elasticfilesystem:DeleteMountTarget",
                       "elasticfilesystem:DeleteFileSystem", "fsx:DeleteFileSystem"):  # fmt: skip
            there.simulator.before(action, look(action))
        there.approve(finding)
        there.begin(finding)
        run(there, kind, reaper)
        assert not unsafe, f"asked for without a backup: {unsafe}"
        cleanup = there.cleanup(kind)
        assert cleanup.stage == "done"
        assert there.finding(kind).status == "resolved"
        assert not there.account.exists(id_)
        assert there.happenings(kind).count("cleaned") == 1
        assert {part.id for part in cleanup.parts} == {one.part.id for one in cleanup.removals}
        assert not_undoable(cleanup) is None
        # The sweeper takes what is left over, a day later.
        there.simulator.advance(2 * 86_400)
        swept = there.sweep.sweep()
        assert not swept.troubles
        left = there.account.backups()
        assert [one.id for one in left] == [backup.id for backup in cleanup.backups]
        assert [one.contents for one in left] == [contents]

    return act


def undoes(kind: str) -> Callable[[World, Reaper], None]:
    def act(there: World, reaper: Reaper) -> None:
        id_ = there.finding(kind).sighting.resource.id
        contents = there.account.contents(id_)
        assert there.cleaned(kind).status == "SUCCEEDED"
        there.ask_undo(there.finding(kind))
        before = len(resources(there))
        run(there, kind, reaper)
        cleanup = there.cleanup(kind)
        assert cleanup.stage == "undone"
        assert cleanup.restored
        assert cleanup.restored.id
        assert there.account.contents(cleanup.restored.id) == contents
        assert len(resources(there)) == before + 1, "made twice"

    return act


def changes(kind: str) -> Callable[[World, Reaper], None]:
    def act(there: World, reaper: Reaper) -> None:
        there.approve(there.finding(kind))
        there.begin(there.finding(kind))
        run(there, kind, reaper)
        cleanup = there.cleanup(kind)
        assert cleanup.stage == "done"
        assert cleanup.was
        assert cleanup.was != cleanup.setting
        assert there.happenings(kind).count("cleaned") == 1
        there.simulator.advance(2 * 86_400)
        there.ask_undo(there.finding(kind))
        run(there, kind, reaper)
        assert there.cleanup(kind).stage == "undone"

    return act


def resources(there: World) -> list[str]:
    """Every volume and file system that is there."""
    fleet = there.account.fleet
    return [one.id for one in (*fleet.volumes, *fleet.efs, *fleet.fsx) if there.account.exists(one.id)]


def every_point(kind: str, act: Callable[[World, Reaper], None]) -> int:
    """Die once at each point; return the number of points."""
    points = dying(kind, -1, act).points
    assert 0 < points < MOST_POINTS
    for at in range(1, points + 1):
        died = dying(kind, at, act)
        assert died.points >= at, "it died where it had not been"
    return points


@pytest.mark.slow
@pytest.mark.parametrize("kind", DELETED)
def test_a_clean_up_that_dies_anywhere_deletes_once_with_one_verified_backup(kind: str) -> None:
    assert every_point(kind, deletes(kind)) > 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", DELETED)
def test_an_undo_that_dies_anywhere_brings_it_back_once(kind: str) -> None:
    assert every_point(kind, undoes(kind)) > 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", CHANGED)
def test_a_change_that_dies_anywhere_is_made_and_taken_back(kind: str) -> None:
    assert every_point(kind, changes(kind)) > 6


ACTS: Final = [*((kind, deletes) for kind in DELETED), ("ebs", undoes), ("efs", undoes), *((kind, changes) for kind in CHANGED)]
MOMENTS: Final = frozenset(
    f"after {operation}"
    for operation in (
        "CreateSnapshot", "StartBackupJob", "CreateBackup",
        "DeleteVolume", "DeleteMountTarget", "DeleteFileSystem",
        "CreateVolume", "StartRestoreJob", "ModifyVolume", "UpdateFileSystem",
    )
)  # fmt: skip
"""The requests after which a worker dies in the quick test: those that back up, delete, restore and change."""


@pytest.mark.parametrize(("kind", "act"), ACTS)
def test_a_worker_that_dies_right_after_a_decisive_request_finishes_what_it_began(
    kind: str, act: Callable[[str], Callable[[World, Reaper], None]]
) -> None:
    """A slice of the three tests above."""
    where = dying(kind, -1, act(kind)).where
    points = [where.index(moment) + 1 for moment in MOMENTS if moment in where]
    assert len(points) >= (2 if act is deletes else 1), where
    for at in points:
        assert dying(kind, at, act(kind)).points >= at


def test_every_kind_is_here() -> None:
    assert {*DELETED, *CHANGED} == {*KINDS}
