"""Restoring a setting: differences that remain are recorded and reported."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, Final

from slackwater.app.cleanup.change import Change
from slackwater.app.cleanup.recheck import Rechecked
from slackwater.app.cleanup.watch import undone_words
from slackwater.model.cleanup import ActorNote, Cleanup
from slackwater.model.detector import CASE_NOW
from slackwater.model.settings import EfsLifecycleSetting
from slackwater.model.tracking import TrackedResource

TIERED: Final = EfsLifecycleSetting(transition_to_ia="AFTER_30_DAYS")
NEVER: Final = EfsLifecycleSetting(transition_to_ia=None)
STAYS: Final = "30.0 GiB stay in Infrequent Access"
ARN: Final = "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-1"
CLEANUP: Final = Cleanup(
    finding_id="f1",
    attempt=1,
    execution="f1-1",
    detector="efs-cold-data",
    resource=TrackedResource(
        arn=ARN, id="fs-1", type="efs-file-system", name="x", account="123456789012", region="us-east-1"
    ),
    owner=None,
    fingerprint="p",
    setting=TIERED,
    requested_by="x",
    started_at=CASE_NOW,
    promised_monthly_usd=None,
    stage="undoing",
    was=NEVER,
    undone=ActorNote(who="x", why="", at=CASE_NOW),
    undo_execution="f1-1-undo-1",
)


@dataclass
class OneCase:
    """The records of one clean-up."""

    cleanup: Cleanup
    writes: int = 0

    def get(self, finding_id: str, execution: str) -> Cleanup:
        return self.cleanup

    short = get

    def finding(self, cleanup: Cleanup) -> None:
        return None

    def objection(self, cleanup: Cleanup, finding: Any, policy: Any) -> None:
        return None

    def over(self, cleanup: Cleanup, why: str) -> SimpleNamespace:
        return SimpleNamespace(outcome="over", why=why)

    def write(self, cleanup: Cleanup) -> Cleanup:
        self.cleanup, self.writes = cleanup, self.writes + 1
        return cleanup


@dataclass
class Lifecycle:
    """A Changer for a file system that has files in Infrequent Access."""

    now: EfsLifecycleSetting
    asked: list[tuple[Any, Any]] = field(default_factory=list)

    def setting(self, resource: Any, like: Any) -> tuple[Any, bool]:
        return self.now, False

    def refusal(self, resource: Any, to: Any) -> None:
        return None

    def change(self, resource: Any, to: Any) -> None:
        self.now = to

    def left_behind(self, resource: Any, changed: Any, was: Any) -> list[str]:
        self.asked.append((changed, was))
        return [STAYS]


def put_back(cases: OneCase, changer: Lifecycle) -> str:
    changers: Any = {"efs-file-system": changer}
    change: Any = Change(cases=cases, policy=None, rechecker=None, changers=changers)  # type: ignore[arg-type]
    return str(change.step("put_back", "f1", "f1-1-undo-1")["outcome"])


def test_differences_that_remain_after_an_undo_are_recorded() -> None:
    cases, changer = OneCase(CLEANUP), Lifecycle(now=TIERED)

    assert put_back(cases, changer) == "wait"
    assert cases.cleanup.restored is None
    assert put_back(cases, changer) == "go"
    restored = cases.cleanup.restored
    assert restored
    assert (restored.state, restored.id, restored.arn, restored.differences) == ("done", "fs-1", ARN, (STAYS,))
    assert changer.asked == [(TIERED, NEVER)]
    assert undone_words(cases.cleanup) == f"changed back to no tiering; {STAYS}"


def test_taken_again_it_writes_nothing_more() -> None:
    cases, changer = OneCase(CLEANUP), Lifecycle(now=NEVER)

    assert [put_back(cases, changer), put_back(cases, changer)] == ["go", "go"]
    assert cases.writes == 1


def test_a_recheck_that_objects_without_words_stops_the_change() -> None:
    cases, changer = OneCase(replace(CLEANUP, stage="working", was=None)), Lifecycle(now=NEVER)
    rechecker = SimpleNamespace(recheck=lambda *_: Rechecked(state="unknown"))
    change: Any = Change(
        cases=cases,  # type: ignore[arg-type]
        policy=lambda: None,  # type: ignore[arg-type, return-value]
        rechecker=rechecker,  # type: ignore[arg-type]
        changers={"efs-file-system": changer},  # type: ignore[dict-item]
    )

    assert change._change(cases.cleanup, TIERED).outcome == "over"
    assert changer.now == NEVER
