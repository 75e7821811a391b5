"""AWS may take seven days for any operation. The execution waits within its history limit, and then continues.

An execution's history ends at 25,000 events. A check takes 9 (Wait 2, Task 5, Choice 2), and intervals grow, so a wait
of a time T with a first interval of `least` takes 9 × (20 + ln(T / (20 least)) / ln(21/20)) events.
"""

import math
from datetime import timedelta
from functools import cache
from typing import Final

import pytest

from slackwater.app.cleanup.back_up import LOOK_AT_BACKUP_S
from slackwater.app.cleanup.delete import LOOK_AT_PARTS_S
from slackwater.app.cleanup.restore import LOOK_AT_RESTORE_S
from slackwater_simulator import backup_jobs, ec2_snapshots, writes_efs, writes_fsx
from support.cleanup_world import World, world

DAY: Final = timedelta(days=1)
WEEK: Final = 7 * DAY
TOO_LONG: Final = 40 * DAY
"""More than the 8 days that a step may take and the 14 days in which removed sub-resources are restored."""
SLOW: Final = {
    "EBS's snapshot": ("ebs", ec2_snapshots, "SECONDS", LOOK_AT_BACKUP_S),
    "AWS Backup's job": ("efs", backup_jobs, "BACKUP_SECONDS", LOOK_AT_BACKUP_S),
    "FSx's backup": ("openzfs", writes_fsx, "BACKUP_SECONDS", LOOK_AT_BACKUP_S),
    "an access point": ("efs", writes_efs, "POINT_REMOVAL_S", LOOK_AT_PARTS_S),
    "a mount target": ("efs", writes_efs, "TARGET_REMOVAL_S", LOOK_AT_PARTS_S),
    "an EFS file system": ("efs", writes_efs, "REMOVAL_S", LOOK_AT_PARTS_S),
    "an FSx file system": ("openzfs", writes_fsx, "DELETION_SECONDS", LOOK_AT_PARTS_S),
}
"""By slow AWS operation: the kind, the simulated account's setting of its duration, and the first interval (s)."""


def events(span: timedelta, least_s: int) -> float:
    """Return the most events that a wait adds to the history, with one more check before and after it."""
    return 9 * (22 + math.log(span.total_seconds() / (20 * least_s)) / math.log(21 / 20))


@cache
def usual(kind: str) -> int:
    """Return the number of events of a clean-up for which AWS takes its usual time."""
    with world(kind) as there:
        return there.cleaned(kind).events


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(one, marks=[pytest.mark.slow] if one in {"an access point", "a mount target"} else [])
        for one in SLOW
    ],
)
def test_seven_days_are_waited_for_within_the_history(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    kind, module, name, least_s = SLOW[what]
    before = usual(kind)
    monkeypatch.setattr(module, name, WEEK.total_seconds())
    with world(kind) as there:
        id_, began = there.finding(kind).sighting.resource.id, there.now()
        execution = there.cleaned(kind)
        assert (execution.status, there.cleanup(kind).stage) == ("SUCCEEDED", "done")
        assert not there.account.exists(id_)
        assert there.now() - began >= WEEK
        waits = {"an access point": 2, "a mount target": 3, "FSx's backup": 2}.get(
            what, 1
        )  # FSx's final backup is the second one
        assert execution.events - before <= waits * events(WEEK, least_s) < 25_000 / 4


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("EBS's snapshot", "longer than 8 days"),
        # A mount target can only be restored once AWS has deleted the old one.
        pytest.param(
            "a mount target",
            "AWS has not finished after 14 days; to try again: `slackwater cleanup undo",
            marks=pytest.mark.slow,
        ),
        ("an FSx file system", "8 days"),
    ],
)
def test_what_aws_never_finishes_ends_as_a_failure_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, what: str, why: str
) -> None:
    kind, module, name, _ = SLOW[what]
    monkeypatch.setattr(module, name, TOO_LONG.total_seconds())
    with world(kind) as there:
        began = there.now()
        assert there.cleaned(kind).status == "FAILED"
        assert there.cleanup(kind).stage == "failed"
        assert why in there.cleanup(kind).why
        assert there.now() - began < TOO_LONG


def restored_in(monkeypatch: pytest.MonkeyPatch, there: World, span: timedelta) -> int:
    """Undo a clean-up for which AWS Backup takes this long. Return the number of events of the undo."""
    monkeypatch.setattr(backup_jobs, "RESTORE_SECONDS", span.total_seconds())
    return there.undone("efs").events


def test_seven_days_of_a_restore_are_waited_for_within_the_history(monkeypatch: pytest.MonkeyPatch) -> None:
    with world("efs") as there:
        assert there.cleaned("efs").status == "SUCCEEDED"
        assert restored_in(monkeypatch, there, WEEK) <= 100 + events(WEEK, LOOK_AT_RESTORE_S)
        assert there.cleanup("efs").stage == "undone"


def test_a_restore_that_takes_too_long_fails_and_the_next_undo_waits_for_the_same_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with world("efs") as there:
        assert there.cleaned("efs").status == "SUCCEEDED"
        restored_in(monkeypatch, there, 16 * DAY)
        assert (there.cleanup("efs").stage, "14 days" in there.cleanup("efs").why) == ("failed", True)
        there.people.undo(there.finding("efs").id, who=there.policy.cleanup.approver_identities[0], now=there.now())
        assert there.execution(there.finding("efs")).run().status == "SUCCEEDED"
        assert there.simulator.calls["backup:StartRestoreJob"] == 1
        assert there.cleanup("efs").stage == "undone"
