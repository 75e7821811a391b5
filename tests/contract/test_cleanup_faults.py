"""AccessDenied, throttling, an answer that is lost after the call took effect, and reads that lag behind: for every call."""

from __future__ import annotations

from typing import Final

import pytest

from cleanup_fault_page import HEAD, PAGE, TITLES, section
from cleanup_faults import Fault, Outcome, outcome, outcomes
from cleanup_world import CHANGED, KINDS

SLICE: Final[list[tuple[str, str, Fault]]] = [
    ("ebs", "ec2:CreateSnapshot", "denied"),
    ("ebs", "ec2:DeleteVolume", "answer lost"),
    ("efs", "backup:StartBackupJob", "answer lost"),
    ("efs", "elasticfilesystem:DeleteMountTarget", "throttled"),
    ("efs-orphaned", "elasticfilesystem:DescribeMountTargets", "lags behind"),
    ("efs-abandoned", "elasticfilesystem:DeleteFileSystem", "denied"),
    ("openzfs", "fsx:CreateBackup", "answer lost"),
    ("gp3", "ec2:ModifyVolume", "answer lost"),
    ("efs-throughput", "elasticfilesystem:UpdateFileSystem", "throttled"),
]
"""Each kind and each fault at least once, at the calls that matter most."""


@pytest.mark.parametrize(("kind", "action", "fault"), SLICE)
def test_a_fault_loses_nothing_and_is_reported(kind: str, action: str, fault: Fault) -> None:
    holds(outcome(kind, action, fault))


def test_the_slice_has_every_kind_and_every_fault() -> None:
    assert {kind for kind, _, _ in SLICE} == {*KINDS}
    assert {fault for _, _, fault in SLICE} == {*Fault.__value__.__args__}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_goes_wrong_nothing_is_lost_and_it_is_said(kind: str) -> None:
    found = outcomes(kind)
    assert len(found) > 20
    for one in found:
        holds(one)
    assert {one.fault for one in found} == {"denied", "throttled", "answer lost", "lags behind"}
    written = section(kind, found)
    assert f"\n{written}\n## " in f"{PAGE.read_text('utf-8')}\n## ", f"{PAGE.name} is stale: run 'make docs'\n{written}"


def test_the_page_has_every_kind_and_nothing_else() -> None:
    assert {*TITLES} == {*KINDS}
    told = PAGE.read_text("utf-8")
    assert told.startswith(HEAD)
    assert [line.removeprefix("## ") for line in told.splitlines() if line.startswith("## ")] == [
        TITLES[kind] for kind in KINDS
    ]


def holds(one: Outcome) -> None:
    assert one.said, one
    if one.deleted:
        assert one.verified, one
        assert one.ended in {"done", "failed"}, one
    elif one.kind not in CHANGED:
        assert one.whole or one.ended == "failed", one
        assert one.ended in {"called-off", "failed"}, one
    if one.fault != "denied":  # it passes, and the clean-up gets to its end
        assert one.ended == "done", one
