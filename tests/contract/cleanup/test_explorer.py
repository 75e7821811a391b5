"""Run a slice of the explorer, and check that it finds a planted bug for each invariant.

`make explore` runs all of it.
"""

import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest

from explorer.coverage import Coverage, Found
from explorer.events import ended_in_silence, kept, policy_loses_approver, policy_narrowed, resource_removed
from explorer.facts import Violation
from explorer.kinds import EXPLORED
from explorer.report import failures, table, violations
from explorer.search import Explorer, Node
from explorer.wire import Dice, Ends, Point, determined
from explorer.world import Small
from slackwater.app.cleanup import back_up, case, cleanups, delete
from slackwater.app.cleanup.back_up import BackUp
from slackwater.app.cleanup.case import Cases, wait
from slackwater.app.cleanup.cleanups import Cleanups
from slackwater.app.cleanup.recheck import Rechecked, Rechecker
from slackwater.app.cleanup.sweep import Sweep, Swept
from slackwater.aws.cleanup.ebs.restore import EbsRestorer
from slackwater.aws.cleanup.ebs.snapshots import STATES
from slackwater.aws.cleanup.efs.change import EfsChanger
from slackwater.aws.cleanup.efs.missing import MissingPartCreator
from slackwater.aws.cleanup.keys import KmsKeys
from slackwater.engine import cleanup as rails
from slackwater.engine.cleanup import expiry_reason
from slackwater.model.cleanup import Cleanup, Restored
from slackwater.model.policy import Policy
from slackwater.model.posts import Post
from support.cleanup_world import ACCOUNT, REGION

SLICE: Final = {
    "ebs": ("RecheckBackedUp", "sweep almost"),
    "efs": (),
    "efs-orphaned": ("Record",),
    "efs-abandoned": (),
    "openzfs": ("VerifyBackup",),
    "gp3": ("Record",),
    "efs-throughput": ("Record",),
    "efs-lifecycle": ("Record",),
}
"""The steps of each kind that are interrupted here. Each kind also runs to its end undisturbed."""


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def explored(kind: str, *steps: str) -> Coverage:
    """Explore a kind, with each event at each call of these steps."""

    def chosen(node: Node) -> bool:
        return node.step in steps

    with determined(dice := Dice()):
        return Explorer(kind, dice=dice).explore(singles=chosen)


@pytest.mark.parametrize("kind", EXPLORED)
def test_in_a_slice_nothing_is_wrong(kind: str) -> None:
    one = explored(kind, *SLICE[kind])
    assert not failures([one], whole=False), "\n".join([*violations([one]), *table([one], 0)])


def test_it_fails_on_a_violation_and_on_what_was_not_covered() -> None:
    violation = Found("ebs", Violation("I1", "lost", "why"), ("undisturbed",))
    ends = {"done", "undone"}
    wrong = Coverage("ebs", stages=ends, found={("lost", ""): violation})
    assert failures([wrong], whole=False) == ["ebs: I1 lost: why"]
    assert failures([Coverage("ebs", stages=ends)]) == []
    assert failures([Coverage("ebs", stages=ends, singles=2, covered=1)]) == ["ebs: 1 of 2 singles"]
    assert failures([Coverage("ebs", stages={"done"})], whole=False) == ["ebs: undisturbed, it is never undone"]


def found(kind: str, *steps: str) -> set[tuple[str, str, tuple[str, ...]]]:
    return {(one.violation.invariant, one.violation.check, one.trace) for one in explored(kind, *steps).found.values()}


def test_it_finds_a_backup_that_is_taken_for_complete_too_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STATES, "pending", "complete")  # type: ignore[index]
    monkeypatch.setattr("slackwater_simulator.ec2_snapshots.SECONDS", 7_200)
    assert ("I1", "deleted/not-complete", ("undisturbed",)) in found("ebs")


def test_it_finds_an_objection_that_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cases, "objection", lambda *_: None)
    assert {check for invariant, check, _ in found("ebs", "RecheckBackedUp") if invariant == "I2"} >= {"acted/stopped"}


def test_it_finds_a_sweeper_that_takes_what_it_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slackwater.app.cleanup.sweep.expiry_reason", lambda *_: "it is there")
    assert ("I3", "swept/not-expired", ("undisturbed",)) in found("ebs")


def test_it_finds_an_undo_that_says_what_is_not_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def restore(self: EbsRestorer, cleanup: Any) -> Restored:
        return Restored(state="done", id="vol-00000000000000000", arn=cleanup.resource.arn)

    monkeypatch.setattr(EbsRestorer, "restore", restore)
    assert ("I4", "undone/without-its-data", ("undisturbed",)) in found("ebs")


def test_it_finds_a_wait_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BackUp, "_look", lambda *_: wait(900))
    assert ("I5", "endless", ("undisturbed",)) in found("ebs")


def test_a_branch_leaves_nothing_behind() -> None:
    """Two explorations of the same kind have the same violations, coverage and number of states."""
    once, twice = (replace(explored("gp3", "Record"), seconds=0.0) for _ in range(2))
    assert once == twice


def test_a_volume_that_its_owner_removes_while_an_undo_finds_it_is_no_false_report() -> None:
    with determined(dice := Dice()):
        world = Small("ebs", dice)
        while not (cleanup := world.cleanup()) or not any(one.state == "verified" for one in cleanup.backups):
            world.step()
        kept(world)
        world.oracle.others_did()
        while (world.position.machine, world.position.state) != ("undo", "Restore"):
            if not world.position.machine and world.position.plan[0] == "fork":
                world.position = world.branches()[0]
            world.step()

        def gate(point: Point) -> Any:
            if point.name == "cleanups.write":
                resource_removed(world)
                world.oracle.others_did()
            return point.ask()

        world.gate = gate
        while world.position.machine == "undo":
            world.step()
    stage = world.cleanup().stage
    assert (stage, world.oracle.there(world.resource.id), world.oracle.found) == ("undone", False, [])


def test_a_policy_that_its_owner_narrows_while_access_points_come_back_is_no_false_report() -> None:
    with determined(dice := Dice()):
        world = Small("efs-orphaned", dice)
        while not (cleanup := world.cleanup()) or not cleanup.removals:
            world.step()
        kept(world)
        world.oracle.others_did()
        while world.position.state != "PutBack":
            world.step()
        policy_narrowed(world)
        world.oracle.others_did()
        while world.position.machine:
            world.step()
    cleanup = world.cleanup()
    assert (cleanup.stage, cleanup.restored.state, world.oracle.found) == ("called-off", "done", [])


def test_an_approver_of_the_current_policy_can_stop_a_clean_up_that_died_silently() -> None:
    with determined(dice := Dice()):
        world = Small("gp3", dice)
        world.step()
        policy_loses_approver(world)
        with pytest.raises(Ends):
            ended_in_silence(world)
        while not (cleanup := world.cleanup()) or not cleanup.ended:
            world.step()
    assert (cleanup.stage, world.oracle.found) == ("called-off", [])


def test_it_finds_clean_ups_that_never_come_to_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        BackUp, "_keep", lambda *_: None
    )  # so that no backup is kept long enough, and nothing is deleted
    assert failures([explored("ebs")], whole=False) == [
        "ebs: undisturbed, it is never done",
        "ebs: undisturbed, it is never undone",
    ]


# -- Fixes, each reverted alone


def sweep_what_is_listed(self: Sweep) -> Swept:
    """Delete each expired backup of this installation, even if no record names it."""
    for sweeper in self.sweepers.values():
        for copy in list(sweeper.copies(ACCOUNT, REGION)):
            if expiry_reason(copy, self.installation(), self.cases.clock()):
                sweeper.delete(ACCOUNT, REGION, copy)
    return Swept(deleted=(), kept=(), troubles=())


def recheck_once(self: Rechecker, cleanup: Cleanup, policy: Policy) -> Rechecked:
    """After the backup, check only whether the resource still exists."""
    if not cleanup.backups:
        return recheck(self, cleanup, policy)
    look = self.watchers[cleanup.resource.type].look(cleanup.resource)
    return Rechecked(state="same" if look else "gone", look=look)


recheck: Final = Rechecker.recheck

type Patches = tuple[tuple[Any, str, Any], ...]

REVERTED: Final[dict[str, tuple[str, tuple[str, ...], tuple[str, str], Patches]]] = {
    "a backup's token is random, and the backup started after the request": (
        "openzfs",
        ("VerifyBackup",),
        ("I4", "took-an-older-backup"),
        ((back_up, "random_token", lambda: "0" * 32), (rails, "CLOCKS_DIFFER", timedelta(days=400))),
    ),
    "the sweeper deletes what is on record": (
        "ebs",
        ("RecheckBackedUp",),
        ("I3", "swept/others-by-ours"),
        ((Sweep, "sweep", sweep_what_is_listed),),
    ),
    "the sweeper keeps the only copy of what others removed": (
        "ebs",
        ("RecheckBackedUp",),
        ("I3", "swept/the-only-copy"),
        ((Sweep, "_is_the_only_copy", lambda *_: False),),
    ),
    "an undo is refused by what was promised, and not by what was removed": (
        "ebs",
        ("RecheckBackedUp",),
        ("I4", "undo-refused"),
        ((cleanups, "_touched", lambda cleanup: bool(cleanup.removals)),),
    ),
    "it can be undone as long as a backup exists": (
        "ebs",
        (),
        ("I4", "undoable-without-a-backup"),
        ((Sweep, "_lost_at", lambda *_: None),),
    ),
    "a file system of FSx is backed up once more as it is deleted": (
        "openzfs",
        ("VerifyBackup",),
        ("I1", "deleted/written-since-its-backup"),
        ((delete, "_final_of", lambda *_: ()),),
    ),
    "everything is checked again after the backup: attachments": (
        "ebs",
        ("BackUp",),
        ("I1", "deleted/written-since-its-backup"),
        ((Rechecker, "recheck", recheck_once),),
    ),
    "the retention counts from the deletion": (
        "ebs",
        (),
        ("I1", "deleted/expires-too-soon"),
        ((BackUp, "_keep", lambda *_: None), (back_up, "_ends_before", lambda *_: False)),
    ),
    "a backup counts while its key is usable": (
        "ebs",
        ("RecheckBackedUp",),
        ("I1", "deleted/key-not-usable"),
        ((KmsKeys, "unusable", lambda *_: None),),
    ),
    "an approver stays one until the deletion": (
        "ebs",
        ("RecheckBackedUp",),
        ("I2", "acted/approver-not-named"),
        ((case, "may_approve", lambda *_: True),),
    ),
    "a warning counts when Slack took it": (
        "ebs",
        ("LoadFinding",),
        ("I2", "unwarned"),
        ((Post, "delivered_at", property(lambda post: post.created_at)),),
    ),
    "an undo says what data stays in colder storage": (
        "efs-lifecycle",
        ("Record",),
        ("I4", "undone/says-nothing-of-moved-data"),
        ((EfsChanger, "left_behind", lambda *_: ()),),
    ),
    "a restored EFS file system is tagged first": (
        "efs",
        (),
        ("I2", "restored-untagged"),
        ((MissingPartCreator, "put_origin", lambda *_: True),),
    ),
    "a stop sees to an execution that has ended": (
        "ebs",
        ("RecheckBackedUp",),
        ("I5", "stuck"),
        ((Cleanups, "_at_work", lambda _, stopped: stopped),),
    ),
}
"""By fix: a kind, the steps to interrupt, and the violation that the explorer finds if the fix is reverted."""


class First(Explorer):
    """Explores until it finds a violation of this name."""

    until: tuple[str, str]

    def _report(self, path: tuple[str, ...], last: str) -> None:
        super()._report(path, last)
        if self.until in self.coverage.found:
            raise StopIteration


@pytest.mark.parametrize(
    "fix", [pytest.param(fix, marks=[pytest.mark.slow] if of[1] else []) for fix, of in REVERTED.items()]
)
def test_it_finds_a_fix_that_is_reverted(monkeypatch: pytest.MonkeyPatch, fix: str) -> None:
    kind, steps, violation, patches = REVERTED[fix]
    for of, name, instead in patches:
        monkeypatch.setattr(of, name, instead)
    with determined(dice := Dice()):
        explorer = First(kind, dice=dice)
        explorer.until = violation
        with pytest.raises(StopIteration):
            explorer.explore(singles=lambda node: node.step in steps)
