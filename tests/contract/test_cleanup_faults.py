"""AccessDenied, throttling, an answer that is lost after the call took effect, and reads that lag behind: for every call."""

from __future__ import annotations

import pytest

from cleanup_fault_page import HEAD, PAGE, TITLES, section
from cleanup_faults import Outcome, outcomes
from cleanup_world import CHANGED, KINDS


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
