"""The answers to people in Slack."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import slack_messages as invented
from slackwater.engine.registry import documentation, registry
from slackwater.model.cleanup import ActorNote
from slackwater.model.listing import Page
from slackwater.model.settings import VolumeSetting
from slackwater.views.slack import answers
from slackwater.views.slack.blocks import ROOM, weight
from support.effort import effort

SEEN = invented.finding_record(0)
SNOOZED = invented.tracked(SEEN, invented.decision("snoozed", "moves in spring", 30))


def page(many: int, cursor: str | None = None):
    return Page(items=tuple(invented.tracked(one.entry.evidence) for one in invented.news(many).new), cursor=cursor)


def problems(message, limits) -> list[str]:
    return limits.of_message(json.loads(json.dumps({"text": message.text, "blocks": message.blocks})))


def test_the_status_shows_the_last_audit_open_findings_and_the_running_audit() -> None:
    last = invented.audit(**invented.incomplete_outcome())
    text = answers.status(last, page(8), invented.audit()).text.replace("\u2060", "")

    assert text == (
        "Last audit: 2026-11-16 09:00 UTC, incomplete. In all 54 findings in 4 targets.\n"
        "Could not read: 1 of 4 targets incomplete, and findings there may be missing:"
        " eu-west-1/123456789012 (ec2:DescribeVolumes: UnauthorizedOperation).\n"
        "Open now: 8 findings: $845.28 a month can be saved (2 unpriced), 2 performance issues\n"
        "Running: the audit of 2026-11-16 09:00 UTC"
    )


def test_the_status_without_an_audit_after_a_failure_and_of_many_findings() -> None:
    assert answers.status(None, page(0)).text == "Last audit: none has ended yet\nOpen now: no finding"
    assert "failed: No target could be scanned" in answers.status(invented.failed(), page(0)).text
    assert "Open now: at least 200 findings: " in answers.status(invented.audit(), page(200, "more")).text


def test_the_top_is_a_line_each_and_says_whether_there_are_more() -> None:
    assert answers.top(page(0)).text == "No finding is open."
    assert len(answers.top(page(3)).text.splitlines()) == 3
    assert "There are more" not in answers.top(page(20)).text
    for more in (page(3, "cursor"), page(21)):
        assert answers.top(more).text.splitlines()[-1] == "There are more: slackwater findings list has all."
    assert sum(len(block["text"]["text"].splitlines()) for block in answers.top(page(30)).blocks[:-1]) == answers.TOP


@pytest.mark.parametrize("id_", registry())
def test_every_detector_can_be_explained(id_: str, limits) -> None:
    message = answers.explain(id_, registry()[id_].title, documentation(id_))

    assert problems(message, limits) == []
    assert weight(message.blocks) <= ROOM
    shown = json.dumps(message.blocks, ensure_ascii=False)
    for heading in ("What it finds", "Why it matters", "When it is wrong", "What to do"):
        assert heading in shown
    assert "…" not in shown
    assert "`" not in shown


def test_what_is_code_in_a_page_is_code() -> None:
    message = answers.explain("x-y", "X", "X.\n\n## What it finds\nTag it `keep`,\nor not.\n\nTwo.")

    assert message.blocks[1]["elements"][0]["elements"][1:] == [
        {"type": "text", "text": "Tag it "},
        {"type": "text", "text": "keep", "style": {"code": True}},
        {"type": "text", "text": ", or not.\nTwo."},
    ]


def test_details_hold_the_evidence_the_decision_and_the_last_changes() -> None:
    changes = [invented.entry(SEEN, f"change {number}", who=invented.DECIDER) for number in range(9)]
    text = answers.details(SNOOZED, invented.found(SEEN), changes).text.replace("\u2060", "")

    for part in (
        "Size: 500 GiB",
        "aws ec2 create-snapshot",
        "Snoozed until 2026-12-16 by <@U0123ABCDEF>: moves in spring",
    ):
        assert part in text
    assert [number for number in range(9) if f"opened by <@U0123ABCDEF>: change {number}" in text] == [4, 5, 6, 7, 8]
    assert text.splitlines()[-1].endswith(f"ebs-unattached · finding {SEEN.id}")
    assert "has expired" in answers.details(SNOOZED, None).text


def test_the_answer_names_who_decided_first_and_when() -> None:
    assert answers.already_decided(SNOOZED).text.splitlines() == [
        "Nothing was changed: scratch-00 (vol-00000000000000001) is already decided. That was on 2026-11-16 10:00 UTC.",
        "Snoozed until 2026-12-16 by <@U0123ABCDEF>: moves in spring",
    ]


def test_a_refusal_names_the_policys_key_and_the_users_own_id() -> None:
    message = answers.not_allowed("cleanup.approvers", "U0123ABCDEF")

    assert "the policy's cleanup.\u2060approvers does not name you." in message.text
    assert "Your id is U0123ABCDEF;" in message.text


def test_what_was_decided_is_confirmed() -> None:
    assert answers.done(SNOOZED).text.splitlines() == [
        "scratch-00 (vol-00000000000000001)",
        "Snoozed until 2026-12-16 by <@U0123ABCDEF>: moves in spring",
    ]
    assert answers.done(invented.tracked(SEEN)).text.endswith("Open again.")


APPROVED = invented.tracked(SEEN, invented.decision("approved", days=7))


def test_an_approval_that_begins_a_deletion_says_when_and_how_to_stop_it() -> None:
    changes = (
        answers.approved(APPROVED, acts_after=invented.NOW + timedelta(days=30)).text.replace("\u2060", "").splitlines()
    )

    assert changes[:2] == [
        "scratch-00 (vol-00000000000000001)",
        "Approved by <@U0123ABCDEF> until 2026-11-23, for what it was on 2026-11-16.",
    ]
    assert changes[2] == (
        "Slackwater backs it up and deletes it after 16 Dec 2026, 09:00 UTC, unless someone uses it before. To stop"
        f" this, press Keep it in the message about its tag, or run: slackwater cleanup stop {SEEN.id}"
    )


def test_a_stop_says_who_stopped_it_and_what_comes_of_it() -> None:
    stopped = replace(invented.cleanup(SEEN), stopped=ActorNote(who=invented.DECIDER, why="", at=invented.NOW))

    assert answers.stopped(stopped).text.replace("\u2060", "").splitlines() == [
        "scratch-00 (vol-00000000000000001)",
        "Stopped by <@U0123ABCDEF> on 2026-11-16.",
        (
            "Its next step cancels it: at once if it is working, within a day if it is waiting."
            " To clean it up later, approve it again."
        ),
    ]
    assert "next step" not in answers.stopped(replace(stopped, stage="called-off")).text


def test_an_approval_that_begins_a_change_says_to_what_and_how_to_put_it_back() -> None:
    setting = VolumeSetting(volume_type="gp3", iops=3_000, throughput_mib_s=125)
    changed = replace(APPROVED, sighting=replace(SEEN, setting=setting))
    changes = answers.approved(changed, acts_after=invented.NOW).text.splitlines()

    assert changes[2] == (
        "Slackwater changes it to gp3, 3,000 IOPS, 125 MiB/s. To restore the old setting: "
        f"slackwater cleanup undo {SEEN.id}"
    )


def test_an_approval_that_begins_nothing_says_so_and_why() -> None:
    not_enabled = answers.approved(APPROVED, acts_after=None).text.replace("\u2060", "")
    assert not_enabled.endswith(
        "Nothing started: clean-up is not enabled here (CleanupEnabled), and nothing acts on approvals."
    )
    over = answers.approved(
        APPROVED, acts_after=invented.NOW, why_not="no clean-up started: 11 resources: the cap is 10"
    ).text
    assert over.endswith("Nothing started: 11 resources: the cap is 10")
    assert "deleted after" not in over


def test_what_a_problem_has_between_backticks_is_no_code() -> None:
    [block] = answers.problem("There is no detector `ls`; `א").blocks

    assert "code" not in json.dumps(block)
    assert "`ls`" in block["elements"][0]["elements"][1]["text"]


def test_a_changed_finding_is_shown_as_it_is_now() -> None:
    text = answers.changed(invented.tracked(replace(SEEN, summary="600 GiB"))).text

    assert "has changed since" in text
    assert "600 GiB" in text


def test_the_report_is_a_link_and_the_help_names_every_command() -> None:
    message = answers.report("https://bucket.example/report?X=1&Y=2", invented.audit(), 15)

    assert message.blocks[0]["elements"][0]["elements"][0]["url"] == "https://bucket.example/report?X=1&Y=2"
    assert "15 minutes" in message.text
    text = answers.usage("There is no such command.").text
    assert text.startswith("There is no such command.")
    assert all(f"/slackwater {one}" in text for one in ("status", "top", "audit", "explain"))


@settings(max_examples=effort(100, 30), deadline=None)
@given(words=st.text(max_size=400), many=st.integers(0, 25))
@example(words="`א", many=0)
def test_whatever_the_words_slack_takes_every_answer(words: str, many: int, limits) -> None:
    resource = replace(SEEN.resource, name=words, region=words)
    seen = replace(SEEN, resource=resource, owner=words, summary=words)
    shown = invented.tracked(seen, replace(invented.decision("dismissed", words), who=words))
    found = {**invented.found(seen), "caveats": [words]}
    findings = Page(items=(shown,) * many, cursor=None)
    changes = (
        answers.details(shown, found, [invented.entry(seen, words, who=words)] * 7),
        answers.done(shown),
        answers.approved(shown, acts_after=None, why_not=words),
        answers.approved(shown, acts_after=invented.NOW),
        answers.already_decided(shown),
        answers.changed(shown),
        answers.top(findings),
        answers.status(replace(invented.failed(), error=words), findings, invented.audit()),
        answers.problem(words),
        answers.not_allowed(words, words),
        answers.usage(words),
        answers.started(words, words, (words,)),
    )

    assert [problem for message in changes for problem in problems(message, limits)] == []
