"""A message after decisions about its findings."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slack_messages as invented
from slackwater.model.cleanup import ActorNote
from slackwater.views.slack.decided import decided, stoppable
from slackwater.views.slack.digest import digest
from support.effort import effort

POSTED, *_ = digest(invented.news(1), invented.POST)
SEEN = invented.finding_record(0)


def after(decision=None, **changes):
    """Return the message after a decision about its only finding."""
    return decided(POSTED, {SEEN.id: invented.tracked(SEEN, decision, **changes)})


def ids(message) -> list[str]:
    return [block["block_id"] for block in message.blocks if block["type"] == "actions"]


TAGGING_MESSAGE = invented.cleanup_message("marked", invented.case(invented.cleanup(SEEN), SEEN))
NOTE = ActorNote(who=invented.DECIDER, why="not yet", at=invented.NOW)


def offered(message) -> list[str]:
    return [one["action_id"] for block in message.blocks if block["type"] == "actions" for one in block["elements"]]


def test_the_button_that_stops_stays_while_there_is_something_to_stop() -> None:
    assert stoppable(TAGGING_MESSAGE) == [SEEN.id]
    assert stoppable(POSTED) == []
    for status, left in (
        ("approved", ["stop"]),
        ("cleaning", ["stop"]),
        ("resolved", []),
        ("failed", []),
        ("dismissed", []),
    ):
        decision = invented.decision(status) if status in {"approved", "dismissed"} else None
        message = decided(TAGGING_MESSAGE, {SEEN.id: invented.tracked(SEEN, decision, status=status)})
        assert offered(message) == left
        assert decided(TAGGING_MESSAGE, {SEEN.id: invented.tracked(SEEN)}) == TAGGING_MESSAGE


@pytest.mark.parametrize("status", ["open", "approved", "cleaning"])
def test_a_stop_replaces_its_button(status, limits) -> None:
    decision = invented.decision("approved", days=7) if status == "approved" else None
    message = decided(TAGGING_MESSAGE, {SEEN.id: invented.tracked(SEEN, decision, status=status)}, {SEEN.id: NOTE})

    assert "Stopped by <@U0123ABCDEF> on 2026-11-16. not yet" in message.text
    silent = decided(TAGGING_MESSAGE, {}, {SEEN.id: replace(NOTE, why="")})
    assert "Stopped by <@U0123ABCDEF> on 2026-11-16." in silent.text
    assert "(empty)" not in silent.text
    assert offered(message) == (["details", "snooze", "dismiss"] if status == "open" else [])
    assert limits.of_message(json.loads(json.dumps({"text": message.text, "blocks": message.blocks}))) == []
    open_ = {SEEN.id: invented.tracked(SEEN)}
    assert decided(POSTED, open_, {SEEN.id: NOTE}) == POSTED


BUTTONS = [f"{invented.POST}/{SEEN.id}", f"{invented.POST}/report"]


@pytest.mark.parametrize(
    ("decision", "changes", "shown"),
    [
        (invented.decision("snoozed", days=30), {}, ["Snoozed until 2026-12-16 by <@U0123ABCDEF>."]),
        (invented.decision("dismissed", "ours"), {}, ["Dismissed for good by <@U0123ABCDEF>:", "ours"]),
        (invented.decision("dismissed", "ours", 365), {}, ["Dismissed until 2027-11-16 by <@U0123ABCDEF>:", "ours"]),
        (
            invented.decision("approved", days=7),
            {},
            ["Approved by <@U0123ABCDEF> until 2026-11-23, for what it was on 2026-11-16."],
        ),
        (
            None,
            {"status": "resolved", "resolved_at": invented.NOW},
            ["Resolved on 2026-11-16: it was cleaned up, or the audit no longer finds it."],
        ),
        (
            invented.decision("snoozed", days=30),
            {"status": "resolved"},
            ["Resolved: it was cleaned up, or the audit no longer finds it."],
        ),
        (None, {"status": "cleaning"}, ["Being cleaned up."]),
        (None, {"status": "failed"}, ["Its clean-up failed."]),
    ],
)
def test_a_decision_replaces_the_buttons(decision, changes, shown, limits) -> None:
    message = after(decision, **changes)

    assert [one["text"] for one in message.blocks[4]["elements"]] == shown
    assert ids(message) == BUTTONS[1:]
    assert message.blocks[:4] == POSTED.blocks[:4]
    assert " ".join(shown) in message.text.replace("\u2060", "")
    assert limits.of_message(json.loads(json.dumps({"text": message.text, "blocks": message.blocks}))) == []


def test_an_open_finding_keeps_its_buttons_and_gets_them_back() -> None:
    assert after() == POSTED
    assert decided(POSTED, {}) == POSTED
    assert ids(after(invented.decision("snoozed", days=30))) == BUTTONS[1:]
    assert after(None, revision=3) == POSTED


def test_each_finding_has_its_own_fate() -> None:
    message = invented.after_decisions()
    seen = [one.entry.evidence.id for one in invented.news(5).new]

    assert ids(message) == [f"{invented.POST}/{seen[4]}", f"{invented.POST}/report"]
    for fate in ("Snoozed until", "Dismissed for good by", "Approved by", "Resolved on"):
        assert message.text.count(fate) == 1


def test_somebody_who_is_not_in_slack_is_named() -> None:
    decision = replace(invented.decision("snoozed", days=7), who="arn:aws:sts::123456789012:assumed-role/<!here>/ann")
    shown = after(decision).blocks[4]["elements"][0]["text"]

    assert shown.replace("\u2060", "") == (
        "Snoozed until 2026-11-23 by arn:aws:sts::123456789012:assumed-role/&lt;!here&gt;/ann."
    )


@pytest.mark.parametrize("who", ["slack:", "slack:U1|<!channel>", "slack:u123", "xslack:U0123", "slack:U0123\n"])
def test_what_only_looks_like_a_slack_user_is_no_mention(who: str) -> None:
    decision = replace(invented.decision("snoozed", days=7), who=who)

    assert "<@" not in after(decision).text


def test_a_time_is_shown_in_utc() -> None:
    decision = invented.decision("snoozed", days=30)
    east = replace(
        decision, until=decision.until.astimezone(invented.datetime.now().astimezone().tzinfo) + timedelta(0)
    )

    assert after(east) == after(decision)


@settings(max_examples=effort(200, 50), deadline=None)
@given(why=st.text(max_size=1_000), who=st.text(max_size=60))
def test_whatever_the_reason_it_is_only_ever_text(why: str, who: str, limits) -> None:
    message = after(replace(invented.decision("dismissed", why), who=who))

    assert limits.of_message(json.loads(json.dumps({"text": message.text, "blocks": message.blocks}))) == []
