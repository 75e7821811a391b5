"""A slice of the explorer, and that it finds what is wrong: a bug planted for each invariant. `make explore` runs all of it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import pytest

from explorer.coverage import Coverage, Found
from explorer.facts import Violation
from explorer.kinds import EXPLORED
from explorer.report import failures, table, violations
from explorer.search import Explorer, Node
from explorer.wire import Dice, determined
from slackwater.app.cleanup.back_up import BackUp
from slackwater.app.cleanup.case import Cases, wait
from slackwater.aws.cleanup.ebs.restore import EbsRestorer
from slackwater.aws.cleanup.ebs.snapshots import STATES
from slackwater.model.cleanup import Restored

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
"""The steps of each kind that are interrupted here; each kind runs to its ends undisturbed as well."""


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def explored(kind: str, *steps: str) -> Coverage:
    """A kind, with everything that may happen at each call of these steps."""

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
    wrong = Coverage("ebs", found={("lost", ""): violation})
    assert failures([wrong], whole=False) == ["ebs: I1 lost: why"]
    assert failures([Coverage("ebs")]) == []
    assert failures([Coverage("ebs", singles=2, covered=1)]) == ["ebs: 1 of 2 singles"]


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
    monkeypatch.setattr("slackwater.app.cleanup.sweep.expired", lambda *_: "it is there")
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
    """Explored twice, it is the same: what is found, what is covered, how many states there are."""
    once, twice = (replace(explored("gp3", "Record"), seconds=0.0) for _ in range(2))
    assert once == twice
