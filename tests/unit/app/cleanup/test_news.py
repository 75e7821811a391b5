"""Slack messages about clean-ups: each is recorded once, for the channel of its finding."""

import json
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest

from slackwater.app.cleanup.news import CleanupNews
from slackwater.model.cleanup import ActorNote, Cleanup, Restored, Tagging
from slackwater.model.policy import CleanupSection, ExemptSection, Policy, SlackRoute, SlackSection
from slackwater.model.posts import Post
from slackwater.model.tracking import TrackedFinding
from support.slack_world import ACCOUNT, NOW, FakeClock, MemoryOutbox, sighting

DAY = timedelta(days=1)
SEEN = sighting("f00d", owner="data")
SLACK = SlackSection(
    channel="C0DEFAULT", fallback_channel="C0FALLBACK", deciders=["U0ADA"],
    routes=[SlackRoute(channel="C0ARCHIVE", owner="archive"),
            SlackRoute(channel="C0IDLE", detector="efs-idle", account="210987654321")],
)  # fmt: skip
ALLOWED = CleanupSection(
    accounts=[ACCOUNT], regions=["eu-west-1"], resource_types=["efs-file-system"], detectors=["efs-idle"],
    approvers=["U0ADA"], backup_days=14, approval_days=3,
)  # fmt: skip
POLICY = Policy(limits={}, slack=SLACK, cleanup=ALLOWED, exempt=ExemptSection(keep_tags=["Hold"]))
FINDING = TrackedFinding(
    sighting=SEEN,
    status="open",
    decision=None,
    opened_at=NOW,
    last_seen_at=NOW,
    resolved_at=None,
    audit_id="a",
    revision=1,
)
CLEANUP = Cleanup(
    finding_id="f00d", attempt=2, execution="f00d-2", detector="efs-idle", resource=SEEN.resource, owner="data",
    fingerprint="a", setting=None, requested_by="ada", started_at=NOW, promised_monthly_usd=SEEN.monthly_savings_usd,
    stage="waiting", marked=Tagging(at=NOW, act_after=NOW + 30 * DAY, tagged=True),
)  # fmt: skip


class World:
    """The recorded posts, with a clock that advances."""

    def __init__(self) -> None:
        self.outbox, self.clock = MemoryOutbox(), FakeClock()
        self.news = CleanupNews(outbox=self.outbox, clock=self.clock)

    def announce(
        self, what: Any, cleanup: Cleanup = CLEANUP, finding: TrackedFinding = FINDING, policy: Policy = POLICY
    ) -> Post:
        self.news.announce(what, cleanup, finding, policy)
        self.clock.sleep(60)
        return list(self.outbox.posts.values())[-1]

    @property
    def ids(self) -> list[str]:
        return list(self.outbox.posts)


@pytest.fixture
def announced() -> World:
    return World()


def test_a_post_is_recorded_for_its_findings_channel_and_its_buttons_name_both(announced) -> None:
    post = announced.announce("marked")

    assert (post.id, post.audit_id, post.channel, post.thread_of) == ("cleanup.f00d.2.marked", None, "C0DEFAULT", None)
    assert (post.created_at, post.findings, post.state) == (NOW, ("f00d",), "pending")
    (buttons,) = [block for block in post.message.blocks if block["type"] == "actions"]
    assert buttons["block_id"] == "cleanup.f00d.2.marked/f00d"
    assert [one["action_id"] for one in buttons["elements"]] == ["details", "snooze", "dismiss", "approve", "stop"]
    assert "kept for 14 days" in post.message.text
    assert "add the tag Hold (any value)" in post.message.text


def test_a_repeated_announcement_is_the_same_post(announced) -> None:
    first = announced.announce("marked")
    again = announced.announce("marked", replace(CLEANUP, owner="somebody else"))

    assert again == first
    assert announced.ids == ["cleanup.f00d.2.marked"]


def digest(words: str) -> str:
    return sha256(words.encode()).hexdigest()[:8]


def test_each_warning_each_undo_each_failure_and_each_attempt_is_a_post_of_its_own(announced) -> None:
    marked = CLEANUP.marked
    assert marked
    for days in ((30,), (30, 7), (30, 7, 1), (30, 7, 1)):
        announced.announce("warned", replace(CLEANUP, marked=replace(marked, warned_days=days)))
    announced.announce("asked")
    failed = replace(CLEANUP, stage="failed", why="x")
    announced.announce("failed", failed)
    announced.announce("failed", replace(failed, why="not restored: mount-target fsmt-1"))
    announced.announce("failed", failed)
    undone = ActorNote(who="ada", why="", at=NOW)
    for n in (1, 2, 2):
        announced.announce("failed", replace(failed, undone=undone, undo_execution=f"f00d-2-undo-{n}"))
    announced.announce(
        "undone", replace(CLEANUP, undone=undone, undo_execution="f00d-2-undo-3", restored=Restored(state="done"))
    )
    announced.announce("marked", replace(CLEANUP, attempt=3))

    assert announced.ids == [
        *(f"cleanup.f00d.2.warned.{days}" for days in (30, 7, 1)),
        "cleanup.f00d.2.asked",
        f"cleanup.f00d.2.failed.{digest('x')}",
        f"cleanup.f00d.2.failed.{digest('not restored: mount-target fsmt-1')}",
        f"cleanup.f00d.2.failed.1.{digest('x')}",
        f"cleanup.f00d.2.failed.2.{digest('x')}",
        "cleanup.f00d.2.undone.3",
        "cleanup.f00d.3.marked",
    ]


def test_a_warning_that_is_announced_again_is_another_post(announced) -> None:
    marked = replace(CLEANUP.marked, repeats=2)
    announced.announce("marked", replace(CLEANUP, marked=marked))
    announced.announce("warned", replace(CLEANUP, marked=replace(marked, warned_days=(7,))))

    assert announced.ids == ["cleanup.f00d.2.marked.2", "cleanup.f00d.2.warned.7.2"]


def test_how_it_ended_is_tried_for_two_weeks_and_a_warning_for_a_day(announced) -> None:
    assert announced.announce("marked").until is None
    for what in ("called-off", "done", "failed", "undone"):
        post = announced.announce(what)
        assert post.until == post.created_at + timedelta(days=14)


@pytest.mark.parametrize(
    ("changes", "channel"),
    [
        ({}, "C0DEFAULT"),
        ({"owner": "archive"}, "C0ARCHIVE"),
        ({"resource": replace(SEEN.resource, account="210987654321")}, "C0IDLE"),
        ({"resource": replace(SEEN.resource, account="210987654321"), "detector": "efs-orphaned"}, "C0DEFAULT"),
    ],
)
def test_it_is_posted_to_the_channel_of_its_finding(announced, changes, channel) -> None:
    finding = replace(FINDING, sighting=replace(SEEN, **changes))

    assert announced.announce("marked", finding=finding).channel == channel


def test_without_a_channel_it_is_recorded_for_whichever_there_will_be(announced) -> None:
    bare = replace(POLICY, slack=SlackSection())
    assert announced.announce("marked", policy=bare).channel is None
    fallback = replace(POLICY, slack=SlackSection(fallback_channel="C0FALLBACK"))
    assert announced.announce("asked", policy=fallback).channel == "C0FALLBACK"


def test_the_policy_says_who_may_press(announced) -> None:
    def buttons(policy: Policy, n: int) -> list[str]:
        blocks = announced.announce("marked", replace(CLEANUP, attempt=n), policy=policy).message.blocks
        return [one["action_id"] for block in blocks if block["type"] == "actions" for one in block["elements"]]

    nobody = SLACK.model_copy(update={"deciders": []})
    assert buttons(replace(POLICY, slack=nobody), 3) == ["details", "approve", "stop"]
    elsewhere = ALLOWED.model_copy(update={"regions": ["us-east-1"]})
    assert buttons(replace(POLICY, cleanup=elsewhere), 4) == ["details", "snooze", "dismiss", "stop"]
    by_api = ALLOWED.model_copy(update={"approvers": [], "approver_identities": ["arn:aws:iam::123456789012:user/ada"]})
    assert buttons(replace(POLICY, cleanup=by_api), 5) == ["details", "snooze", "dismiss", "stop"]
    assert buttons(replace(POLICY, cleanup=by_api, slack=nobody), 6) == ["details"]


def test_a_breach_of_the_cap_is_reported_once_a_day_for_the_same_run(announced) -> None:
    for wanted in (11, 11, 12):
        announced.news.cap(
            "11 clean-ups in 24 hours: the policy's cleanup.most_resources allows 10",
            wanted,
            POLICY,
        )
    announced.clock.sleep(86_400)
    announced.news.cap("11 clean-ups in 24 hours: the policy's cleanup.most_resources allows 10", 11, POLICY)

    posts = list(announced.outbox.posts.values())
    assert len(posts) == 3
    assert {post.channel for post in posts} == {"C0DEFAULT"}
    assert [post.id.rpartition(".")[0] for post in posts] == [
        "cleanup.cap.20261116", "cleanup.cap.20261116", "cleanup.cap.20261117"
    ]  # fmt: skip
    assert all(post.findings == () and "nothing was cleaned up" in post.message.text for post in posts)


@pytest.mark.parametrize("what", ["marked", "warned", "asked", "called-off", "done", "failed", "undone"])
def test_only_warnings_mention_the_owner_and_only_the_right_one(announced: World, what: str) -> None:
    people = {FINDING.sighting.owner: "U0OWNER", "somebody-else": "U0ELSE"}
    policy = replace(POLICY, slack=POLICY.slack.model_copy(update={"people": people}))
    blocks = json.dumps(announced.announce(what, policy=policy).message.blocks)

    assert blocks.count("<@U0OWNER>") == (what in {"marked", "warned", "asked"})
    assert "U0ELSE" not in blocks
