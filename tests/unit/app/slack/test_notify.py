"""The posts of an audit and their delivery under all kinds of faults, with fakes for Slack and the stores."""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

import pytest
from pydantic import TypeAdapter

from slackwater.app.audit.publish import NoAuditError, changes_json
from slackwater.app.slack.delivery import Delivery, Notified
from slackwater.app.slack.notify import NoNewsError, fail_posts_without_slack
from slackwater.app.telemetry import of_posts
from slackwater.model import object_keys
from slackwater.model.policy_version import DEFAULTS, PolicyVersion
from slackwater.model.posts import Message, Post, Sent
from slackwater.model.tracking import LedgerEntry
from slackwater.ports.slack import ChannelBusyError, ChannelRefusedError, DeliveryUnknownError
from slackwater.views.slack.blocks import ROOM, weight
from support.slack_world import ACCOUNT, NOW, MemoryOutbox, World, entry, found, sighting

POLICY = """
[slack]
channel = "C0DEFAULT"
fallback_channel = "C0FALLBACK"
"""
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)


@dataclass
class FakeChannel:
    """A channel that answers with the next item in `answers`. When none is left, it accepts every post."""

    can_read: bool = True
    answers: list[Exception | Callable[[Post], None] | None] = field(default_factory=list)
    looks: list[Exception | Sent | None] = field(default_factory=list)
    sent: list[tuple[Post, Sent | None]] = field(default_factory=list)
    looked_for: list[str] = field(default_factory=list)

    def send(self, post: Post, thread: Sent | None) -> Sent:
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, BaseException):
            raise answer
        if answer:
            answer(post)
        self.sent.append((post, thread))
        if not self.can_read:
            return Sent(channel=None, ts=None)
        return Sent(channel=thread.channel if thread else post.channel, ts=f"{len(self.sent)}.000000")

    def find(self, post: Post, thread: Sent | None) -> Sent | None:
        self.looked_for.append(post.id)
        answer = self.looks.pop(0) if self.looks else None
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def ids(self) -> list[str]:
        return [post.id for post, _ in self.sent]


@pytest.fixture
def world() -> World:
    made = World(channel=FakeChannel())
    made.policy(POLICY)
    return made


def notify(world: World, audit_id: str = "a") -> Notified:
    return world.notifier().notify(audit_id)


def texts(world: World, channel: str | None = "C0DEFAULT") -> list[str]:
    """Return the text of each digest in a channel."""
    return [post.message.text for post, thread in world.channel.sent if post.channel == channel and thread is None]


def post(world: World, id_: str = "a.0.0") -> Post:
    return world.outbox.get(id_)


# -- The content of posts


def test_a_digest_and_its_thread_are_recorded_and_sent(world) -> None:
    world.audit("a", entry(sighting("f-1")), entry(sighting("f-2", usd="99")))

    assert notify(world) == Notified(waiting=0, wait_s=0)
    assert world.channel.ids == ["a.0.0", "a.0.1"]
    (digest, _), (_, thread) = world.channel.sent
    assert "2 new findings: $111.30 a month" in digest.message.text
    assert thread == Sent(channel="C0DEFAULT", ts="1.000000")
    assert post(world).state == post(world, "a.0.1").state == "sent"
    assert post(world).sent == thread
    assert post(world, "a.0.1").thread_of == "a.0.0"


def test_what_the_whole_audit_comes_to_is_the_waste_of_its_scan_document(world) -> None:
    waste = {"findings": 3, "monthly_savings_usd": "1234.50", "unpriced": 2}
    world.audit("a", entry(sighting("f-1")), waste=waste)
    notify(world)

    assert (
        "In all 3 findings in 1 region of account 123456789012: $1,234.50 a month can be saved (2 unpriced)."
        in texts(world)[0]
    )


def test_changes_of_an_audit_that_failed_are_posted_without_their_findings(world) -> None:
    entries = [entry(sighting("f-1"))]
    world.audit("a", *entries, state="failed", error="Sandbox.Timedout", outcome=None)
    world.bucket.write(object_keys.changes("a"), "".join(changes_json(entries)))
    notify(world)

    assert "failed" in texts(world)[0]
    assert "1 new finding" in texts(world)[0]


@pytest.mark.parametrize("stores", ["both", "ledger entries"])
def test_an_audit_that_the_previous_version_ended_is_posted_alike(world, stores) -> None:
    entries = [
        entry(sighting("f-1")),
        entry(sighting("f-2"), "changed", revision=2),
        entry(sighting("f-3"), "resolved", was="dismissed", revision=2),
        entry(sighting("f-4", usd="900")),
        entry(sighting("f-5"), "resolved", revision=2),
    ]
    findings: Any = [found(one.evidence) for one in entries if one.now == "open"] if stores == "both" else []
    world.audit("a", *entries)
    world.bucket.write(object_keys.changes("a"), "".join(changes_json(entries, findings)))
    notify(world)
    posted = dict(world.outbox.posts)

    world.outbox.posts.clear()
    ledger_key, findings_key = object_keys.previous_changes("a")
    world.bucket.write(object_keys.changes("a"), None)
    world.bucket.write(ledger_key, TypeAdapter(list[LedgerEntry]).dump_json(entries).decode())
    world.bucket.write(findings_key, json.dumps(findings) if findings else None)
    notify(world)

    assert ("Idle for" in json.dumps(post(world, "a.0.1").message.blocks)) == bool(findings)
    assert {id_: one.message for id_, one in world.outbox.posts.items()} == {
        id_: one.message for id_, one in posted.items()
    }


def test_a_repeated_notification_posts_nothing_more(world) -> None:
    world.audit("a", entry(sighting("f-1")))
    notify(world)
    stored = dict(world.outbox.posts)
    world.clock.sleep(600)

    assert notify(world) == Notified(waiting=0, wait_s=0)
    assert world.outbox.posts == stored
    assert len(world.channel.sent) == 2


def test_what_was_recorded_is_what_is_sent_whatever_would_be_composed_now(world) -> None:
    world.channel.answers = [ChannelBusyError(30)]
    world.audit("a", entry(sighting("f-1")))
    notify(world)
    world.bucket.write(object_keys.changes("a"), "[]")
    world.clock.sleep(30)
    notify(world)

    assert "1 new finding" in texts(world)[0]


def test_its_buttons_are_of_the_findings_that_the_digest_shows(world) -> None:
    world.policy(f"{POLICY}top_findings = 2\n")
    world.audit("a", *[entry(sighting(f"f-{n}", usd=f"{n}")) for n in range(1, 5)])
    notify(world)

    assert post(world).findings == ("f-4", "f-3")
    assert post(world, "a.0.1").findings == ()
    places = [block["block_id"] for block in post(world).message.blocks if block["type"] == "actions"]
    assert places == ["a.0.0/f-4", "a.0.0/f-3", "a.0.0/report"]


OPENED = entry(sighting("f-1"))
NEW = "1 new finding"
CHANGED = "1 finding changed"
GONE = "Resolved"
NOTHING = "Nothing new"


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([OPENED], NEW),
        ([entry(sighting("f-1"), "reopened", was="snoozed", revision=3)], NEW),
        ([entry(sighting("f-1"), "opened", was="resolved", revision=3)], NEW),
        ([entry(sighting("f-1"), "changed", revision=2)], CHANGED),
        ([entry(sighting("f-1"), "changed", was="approved", revision=4)], CHANGED),
        ([OPENED, entry(sighting("f-1", summary="more"), "changed", revision=2)], NEW),
        ([entry(sighting("f-1"), "resolved", revision=2)], GONE),
        ([entry(sighting("f-1"), "resolved", was="snoozed", revision=2)], GONE),
        ([entry(sighting("f-1"), "resolved", was="dismissed", revision=2)], NOTHING),
        ([entry(sighting("f-1"), "changed", was="snoozed", now="snoozed", revision=2)], NOTHING),
        ([entry(sighting("f-1"), "changed", was="dismissed", now="dismissed", revision=2)], NOTHING),
        (
            [
                entry(sighting("f-1"), "resolved", revision=2),
                entry(sighting("f-1"), "opened", was="resolved", revision=3),
            ],
            NEW,
        ),
        ([], NOTHING),
    ],
)
def test_news_is_what_is_open_and_was_not_or_is_not_the_same(world, entries, expected) -> None:
    world.audit("a", *entries)
    notify(world)

    (text,) = texts(world)
    assert [one for one in (NEW, CHANGED) if one in text] == ([expected] if expected in (NEW, CHANGED) else [])
    assert (GONE in text) == (expected == GONE)
    assert expected in text


def test_findings_are_ordered_by_severity_and_then_by_cost_as_in_a_scan(world) -> None:
    world.policy(f"{POLICY}top_findings = 10\n")
    seen = {
        "f-1": ("low", None), "f-2": ("medium", "-3"), "f-3": ("low", "9"), "f-4": ("high", "-352.15"),
        "f-5": ("high", "100"), "f-6": ("medium", "50"), "f-7": ("low", "0"), "f-8": ("info", "-1"),
        "f-9": ("medium", None),
    }  # fmt: skip
    world.audit("a", *[entry(sighting(id_, usd, severity=severity)) for id_, (severity, usd) in seen.items()])
    notify(world)

    assert post(world).findings == ("f-5", "f-4", "f-6", "f-9", "f-2", "f-3", "f-1", "f-7", "f-8")


ROUTES = f"""{POLICY}
[[slack.routes]]
channel = "C0BOTH"
owner = "storage"
detector = "efs-idle"
[[slack.routes]]
channel = "C0OWNER"
owner = "storage"
[[slack.routes]]
channel = "C0ACCOUNT"
account = "{ACCOUNT}"
detector = "ebs-idle"
[[slack.routes]]
channel = "C0DEFAULT"
detector = "ec2-idle"
[[slack.routes]]
channel = "C0OWNER"
account = "210987654321"
"""


@pytest.mark.parametrize(
    ("changes", "channel"),
    [
        ({"owner": "storage"}, "C0BOTH"),
        ({"owner": "storage", "detector": "ebs-idle"}, "C0OWNER"),
        ({"detector": "ebs-idle"}, "C0ACCOUNT"),
        ({"detector": "ebs-idle", "resource": {"account": "210987654321"}}, "C0OWNER"),
        ({"detector": "ec2-idle"}, "C0DEFAULT"),
        ({"owner": "Storage"}, "C0DEFAULT"),
        ({}, "C0DEFAULT"),
    ],
)
def test_a_finding_is_posted_to_the_channel_of_the_first_matching_route(world, changes, channel) -> None:
    world.policy(ROUTES)
    world.audit("a", entry(sighting("f-1", **changes)))
    notify(world)

    assert NEW in texts(world, channel)[0]
    others = {post.channel for post, _ in world.channel.sent} - {channel}
    assert others == ({"C0DEFAULT"} - {channel})  # it gets its summary line


def test_each_channel_receives_its_own_findings_and_the_number_of_the_others(world) -> None:
    world.policy(ROUTES)
    world.audit(
        "a", entry(sighting("f-1", owner="storage")), entry(sighting("f-2")), entry(sighting("f-3"), "resolved")
    )
    notify(world)

    assert world.channel.ids == ["a.0.0", "a.0.1", "a.1.0", "a.1.1"]
    assert "f-1" not in texts(world)[0]
    assert "1 change posted to other channels" in json.dumps(post(world).message.blocks)
    assert "2 changes posted to other channels" in json.dumps(post(world, "a.1.0").message.blocks)


def test_the_people_of_the_policy_are_mentioned_in_their_channel_alone(world) -> None:
    world.policy(f'{ROUTES}[slack.people]\nstorage = "S0STORAGE"\nothers = "U0OTHER"\n')
    world.audit("a", entry(sighting("f-1", owner="storage")), entry(sighting("f-2")))
    notify(world)

    assert "S0STORAGE" not in json.dumps(post(world).message.blocks)
    assert json.dumps(post(world, "a.1.0").message.blocks).count('"usergroup_id": "S0STORAGE"') == 1
    assert "U0OTHER" not in json.dumps([one.message.blocks for one in world.outbox.posts.values()])


@pytest.mark.parametrize(
    ("policy", "entries", "changes", "lines"),
    [
        ("", [], {}, 1),
        ("when_nothing_is_new = 'silence'", [], {}, 0),
        ("when_nothing_is_new = 'silence'", [entry(sighting("f-1"), "resolved", revision=2)], {}, 1),
        ("when_nothing_is_new = 'silence'", [], {"state": "incomplete"}, 1),
        ("when_nothing_is_new = 'silence'", [], {"state": "failed", "outcome": None, "error": "PolicyError: x"}, 1),
    ],
)
def test_without_news_the_policy_decides_whether_a_line_is_posted(world, policy, entries, changes, lines) -> None:
    world.policy(f"{POLICY}{policy}\n")
    world.audit("a", *entries, **changes)
    notify(world)

    assert len(world.channel.sent) == lines


def test_a_channel_without_news_receives_the_number_of_findings_elsewhere(world) -> None:
    world.policy(ROUTES)
    world.audit("a", entry(sighting("f-1", owner="storage")))
    notify(world)

    assert texts(world)[0].startswith("Nothing new here. 1 change posted to other channels.")


def test_silence_is_of_the_whole_audit_where_only_others_have_news(world) -> None:
    route = '[[slack.routes]]\nchannel = "C0BOTH"'
    world.policy(ROUTES.replace(route, f"when_nothing_is_new = 'silence'\n{route}", 1))
    world.audit("a", entry(sighting("f-1", owner="storage")))
    notify(world)

    assert {post.channel for post, _ in world.channel.sent} == {"C0BOTH"}


def test_a_failed_audit_is_posted_as_one_line_with_the_reason(world) -> None:
    world.policy(ROUTES)
    world.audit("a", state="failed", outcome=None, error="States.Timeout: too long")
    notify(world)

    (text,) = texts(world)
    assert "failed: States." in text
    assert "too long" in text
    assert len(world.channel.sent) == 1


def test_changes_before_a_failure_are_listed_below_the_line_that_reports_it(world) -> None:
    world.policy(ROUTES)
    world.audit(
        "a",
        entry(sighting("f-1", usd="900")),
        entry(sighting("f-2", owner="storage")),
        state="failed",
        outcome=None,
        error="States.Timeout: long",
    )
    notify(world)

    assert world.channel.ids == ["a.0.0", "a.0.1", "a.1.0", "a.1.1"]
    for text, usd in ((texts(world)[0], "$900.00"), (texts(world, "C0BOTH")[0], "$12.30")):
        failed, whole, *_ = text.split("\n")
        assert "failed: States." in failed
        assert whole == f"Incomplete: at least 1 new finding: {usd} a month can be saved"
    assert post(world).findings == ("f-1",)
    assert weight(post(world).message.blocks) <= ROOM + 1_000


def test_findings_resolved_by_a_failed_audit_are_posted_too(world) -> None:
    world.audit("a", entry(sighting("f-1"), "resolved", revision=2), state="failed", outcome=None, error="x")
    notify(world)

    (text,) = texts(world)
    assert "failed: x" in text
    assert GONE in text


def test_access_errors_are_posted(world) -> None:
    gap = {
        "account": ACCOUNT,
        "region": "eu-west-1",
        "what": "fsx:DescribeVolumes",
        "reason": "Denied",
        "optional": False,
    }
    world.audit("a", entry(sighting("f-1")), gaps=[gap])
    notify(world)

    assert "1 required call failed: fsx:DescribeVolumes: Denied" in json.dumps(post(world).message.blocks)


def test_only_what_the_policy_allows_may_be_approved_or_decided(world) -> None:
    approvable = entry(sighting("f-1"))
    world.audit("plain", approvable)
    world.policy(
        f'{POLICY}deciders = ["U0123"]\n[cleanup]\naccounts = ["{ACCOUNT}"]\nregions = ["eu-west-1"]\nresource_types = '
        f'["efs-file-system"]\ndetectors = ["efs-idle"]\napprovers = ["U0123"]\n'
    )
    world.audit("allowed", approvable, entry(sighting("f-2", resource={"region": "us-east-1"})))
    notify(world, "plain")
    notify(world, "allowed")

    def ways(id_: str) -> list[list[str]]:
        blocks = [block for block in post(world, id_).message.blocks if block["type"] == "actions"]
        return [[one["action_id"] for one in block["elements"]] for block in blocks]

    assert ways("plain.0.0") == [["details"], ["report"]]
    assert ways("allowed.0.0") == [
        ["details", "snooze", "dismiss", "approve"],
        ["details", "snooze", "dismiss"],
        ["report"],
    ]


def test_a_webhook_gets_the_digest_alone_without_buttons_and_all_in_its_own_channel(world) -> None:
    world.channel = FakeChannel(can_read=False)
    world.policy(ROUTES)
    world.audit("a", entry(sighting("f-1", owner="storage")), entry(sighting("f-2")))

    assert notify(world).waiting == 0
    ((only, thread),) = world.channel.sent
    assert (only.channel, thread) == (None, None)
    assert "2 new findings" in only.message.text
    assert not [block for block in only.message.blocks if block["type"] == "actions"]


# -- The policy that applies, and missing documents


def test_the_policy_is_the_one_that_the_audit_went_by(world) -> None:
    world.audit("a", entry(sighting("f-1")))
    world.policy('[slack]\nchannel = "C0ANOTHER"\n')
    notify(world)

    assert texts(world, "C0ANOTHER") == []
    assert len(texts(world)) == 1


@pytest.mark.parametrize("version", [None, PolicyVersion(version="77", sha256="0")])
def test_where_the_audits_policy_cannot_be_read_the_newest_that_can_names_the_channel(world, version) -> None:
    world.policy('[slack]\nchannel = "C0NEWER"\n')
    world.bucket.write(object_keys.POLICY, "[detectors.efs-idel]\n")
    world.bucket.write(object_keys.POLICY, None)
    world.bucket.write(object_keys.POLICY, "[[[")
    record = world.audit("a", state="failed", outcome=None, error="PolicyError: no such detector")
    world.audits.records["a"] = replace(record, policy=version)
    notify(world)

    assert "no such detector" in texts(world, "C0NEWER")[0]


@pytest.mark.parametrize("entries", [[], [entry(sighting("f-1"))]])
def test_a_policy_that_names_no_channel_is_a_problem_and_nothing_is_queued(world, entries) -> None:
    record = world.audit("a", *entries)
    world.audits.records["a"] = replace(record, policy=DEFAULTS)
    notified = notify(world)

    assert (notified.waiting, notified.wait_s) == (0, 0)
    assert [problem for problem in notified.troubles if "slack.channel" in problem]
    assert world.channel.sent == []


def test_a_fallback_alone_is_a_channel_too(world) -> None:
    world.policy('[slack]\nfallback_channel = "C0FALLBACK"\n')
    world.audit("a", entry(sighting("f-1")))
    notify(world)

    assert len(texts(world, "C0FALLBACK")) == 1


def test_an_audit_that_is_not_there_or_has_not_ended_or_left_no_news_is_an_error(world) -> None:
    with pytest.raises(NoAuditError, match="nowhere"):
        notify(world, "nowhere")
    world.audit("running", state="running")
    with pytest.raises(NoNewsError, match="running"):
        notify(world, "running")
    for key in (object_keys.changes("a"), object_keys.head("a")):
        world.audit("a", entry(sighting("f-1")))
        del world.bucket.texts[key]
        with pytest.raises(NoNewsError, match="changes"):
            notify(world)
    assert world.outbox.posts == {}


# -- Sending


@pytest.fixture
def audited(world) -> World:
    """Add an audit with a digest and one message in its thread."""
    world.audit("a", entry(sighting("f-1")))
    return world


def test_a_post_says_that_it_is_being_sent_before_it_is(audited) -> None:
    seen = []
    audited.channel.answers = [lambda sent: seen.append((sent, audited.outbox.get(sent.id)))]
    notify(audited)

    ((sent, stored),) = seen
    assert sent == stored
    assert (stored.state, stored.attempts, stored.tried_at) == ("sending", 1, NOW)


def test_posts_keep_to_a_message_a_second(audited) -> None:
    notify(audited)

    assert audited.clock.slept == [1.0, 1.0]


def test_a_busy_channel_is_left_alone_as_long_as_it_asks(audited) -> None:
    audited.audit("b", entry(sighting("f-2")))
    audited.channel.answers = [ChannelBusyError(90)]

    assert notify(audited) == Notified(waiting=2, wait_s=90)
    assert (post(audited).state, post(audited).not_before) == ("pending", NOW + timedelta(seconds=90))
    assert notify(audited, "b") == Notified(waiting=0, wait_s=0)
    assert audited.channel.ids == ["b.0.0", "b.0.1"]
    audited.clock.now = NOW + timedelta(seconds=89)
    assert notify(audited) == Notified(waiting=2, wait_s=1)
    audited.clock.sleep(1)
    assert notify(audited) == Notified(waiting=0, wait_s=0)
    assert audited.channel.ids == ["b.0.0", "b.0.1", "a.0.0", "a.0.1"]


def test_who_is_always_busy_is_asked_less_and_less_often(audited) -> None:
    audited.channel.answers = [ChannelBusyError(2)] * 11
    waits = []
    while (notified := notify(audited)).waiting:
        waits.append(notified.wait_s)
        audited.clock.sleep(notified.wait_s)

    assert waits == [2, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


def test_in_one_run_nothing_else_is_sent_to_a_channel_that_is_busy(world) -> None:
    world.policy(ROUTES)
    world.channel.answers = [ChannelBusyError(9)]
    world.audit("a", entry(sighting("f-1")))
    world.outbox.record([])
    world.audit("b", entry(sighting("f-2")), entry(sighting("f-3", owner="storage")))
    notifier = world.notifier()
    world.outbox.record(
        notifier._composed(world.audits.get("a"), notifier._policy(world.audits.get("a")), buttons=True)[0]
    )

    assert notifier.notify("b") == Notified(waiting=2, wait_s=7)
    assert world.channel.ids == ["b.1.0", "b.1.1"]


def test_who_waits_longer_than_a_quarter_of_an_hour_is_asked_again_before(audited) -> None:
    audited.channel.answers = [ChannelBusyError(4_000)]

    assert notify(audited).wait_s == 900


def test_a_run_delivers_what_others_left_and_waits_for_its_own_alone(audited) -> None:
    audited.channel.answers = [ChannelRefusedError("token_revoked")]
    assert notify(audited).waiting == 2
    audited.clock.sleep(301)
    audited.audit("b", entry(sighting("f-2")))
    audited.channel.answers = [ChannelRefusedError("token_revoked"), None]

    assert replace(notify(audited, "b"), troubles=()) == Notified(waiting=0, wait_s=0)
    assert audited.channel.ids == ["b.0.0", "b.0.1"]
    audited.clock.sleep(301)
    assert notify(audited, "b") == Notified(waiting=0, wait_s=0)
    assert audited.channel.ids[2:] == ["a.0.0", "a.0.1"]


def test_when_to_come_again_is_when_its_own_posts_can_go_on(world) -> None:
    world.policy(ROUTES)
    world.audit("a", entry(sighting("f-1", owner="storage")))
    world.channel.answers = [None, ChannelBusyError(90)]
    assert notify(world) == Notified(waiting=2, wait_s=90)
    world.audit("b", entry(sighting("f-2")))
    world.channel.answers = [ChannelRefusedError("token_revoked")]

    assert notify(world, "b").wait_s == 300


def test_hourly_audits_with_a_dead_token_are_a_hundred_turns_each(world) -> None:
    """Each audit waits for its own posts for a day. The posts of others do not keep its execution alive."""
    world.channel.answers = [ChannelRefusedError("token_revoked")] * 100_000
    due = [(NOW + timedelta(hours=hour), f"a{hour:03d}") for hour in range(12)]
    heapify(due)
    turns: Counter[str] = Counter()
    while due:
        world.clock.now, audit_id = heappop(due)
        if not turns[audit_id]:
            world.audit(audit_id, entry(sighting(audit_id)))
        turns[audit_id] += 1
        if (notified := notify(world, audit_id)).waiting:
            heappush(due, (world.clock.now + timedelta(seconds=notified.wait_s), audit_id))

    assert max(turns.values()) <= 12 + 4 * 24
    assert {one.state for one in world.outbox.posts.values()} == {"failed"}
    assert world.clock.now - NOW < timedelta(hours=12 + 25)


UNINVITED = ["channel_not_found", "not_in_channel"]


@pytest.mark.parametrize("reason", UNINVITED)
def test_a_bot_that_was_not_invited_and_has_no_other_channel_is_heard_once_it_is(world, reason) -> None:
    world.policy('[slack]\nchannel = "C0DEFAULT"\n')
    world.audit("a", entry(sighting("f-1")))
    world.channel.answers = [ChannelRefusedError(reason)]

    notified = notify(world)
    assert (notified.waiting, notified.wait_s) == (2, 300)
    assert notified.troubles == (f"a.0.0: Slack refused it, and will be asked again: {reason}",)
    world.clock.sleep(300)
    assert notify(world) == Notified(waiting=0, wait_s=0)


def test_a_fallback_that_lacks_the_bot_waits_for_it_and_the_post_says_both_whys(audited) -> None:
    audited.channel.answers = [ChannelRefusedError("is_archived"), ChannelRefusedError("not_in_channel")]

    assert notify(audited).wait_s == 300
    assert post(audited).why == "C0DEFAULT did not take it: is_archived; not_in_channel"
    audited.clock.sleep(300)
    assert notify(audited).waiting == 0
    assert len(texts(audited, "C0FALLBACK")) == 1


@pytest.mark.parametrize("reason", ["no_service", "no_active_hooks", "invalid_token", "no_team", "action_prohibited"])
def test_a_webhook_that_was_removed_is_waited_for_until_there_is_another(audited, reason) -> None:
    audited.channel = FakeChannel(can_read=False, answers=[ChannelRefusedError(reason)])
    assert notify(audited).wait_s == 300
    audited.clock.sleep(300)

    assert notify(audited) == Notified(waiting=0, wait_s=0)
    assert audited.channel.ids == ["a.0.0"]


REFUSED = ["channel_not_found", "not_in_channel", "is_archived", "restricted_action"]


@pytest.mark.parametrize("reason", REFUSED)
def test_a_digest_that_its_channel_refuses_is_posted_to_the_fallback_with_a_note(audited, reason) -> None:
    audited.channel.answers = [ChannelRefusedError(reason)]

    assert notify(audited) == Notified(waiting=0, wait_s=0)
    (digest, _), (detail, thread) = audited.channel.sent
    assert digest.channel == detail.channel == thread.channel == "C0FALLBACK"
    line = f"This is for <#C0DEFAULT> (`C0DEFAULT`), which did not take it: `{reason}`"
    assert digest.message.text.startswith(f"{line}\n1 new finding")
    assert digest.message.blocks[0]["elements"][0]["text"] == line
    assert post(audited).message == digest.message
    assert post(audited).why == f"C0DEFAULT did not take it: {reason}"
    assert post(audited).findings == ("f-1",)


def test_the_fallback_is_tried_once(audited) -> None:
    audited.channel.answers = [ChannelRefusedError("is_archived"), ChannelRefusedError("restricted_action")]
    notified = notify(audited)

    assert notified.waiting == 0
    assert [post(audited).state, post(audited, "a.0.1").state] == ["failed", "failed"]
    assert notified.troubles == (
        "a.0.0: not posted to C0FALLBACK: C0DEFAULT did not take it: is_archived; restricted_action",
        "a.0.1: not posted to C0DEFAULT: its digest was not posted",
    )
    assert of_posts(notified) == {"SlackPostsFailed": 2, "SlackPostsWaiting": 0}


def test_without_a_fallback_it_fails(world) -> None:
    world.policy('[slack]\nchannel = "C0DEFAULT"\n')
    world.audit("a", entry(sighting("f-1")))
    world.channel.answers = [ChannelRefusedError("is_archived")]

    assert notify(world).troubles[0] == "a.0.0: not posted to C0DEFAULT: is_archived"


def test_an_invalid_message_fails_at_once_and_the_rest_of_the_thread_is_posted(world) -> None:
    world.audit("a", *[entry(sighting(f"f-{n:04}", summary="x" * 250)) for n in range(200)])
    world.channel.answers = [None, ChannelRefusedError("invalid_blocks")]
    notified = notify(world)

    assert notified.troubles == ("a.0.1: not posted to C0DEFAULT: invalid_blocks",)
    assert world.channel.ids[:2] == ["a.0.0", "a.0.2"]
    assert notified.waiting == 0


def test_a_thread_does_not_go_to_the_fallback_without_its_digest(audited) -> None:
    audited.channel.answers = [None, ChannelRefusedError("is_archived")]

    assert notify(audited).troubles == ("a.0.1: not posted to C0DEFAULT: is_archived",)


def test_an_invalid_token_is_reported_and_retried_until_it_is_replaced(audited) -> None:
    audited.channel.answers = [ChannelRefusedError("token_revoked"), ChannelRefusedError("invalid_auth")]
    notified = notify(audited)
    assert (notified.waiting, notified.wait_s) == (2, 300)
    assert notified.troubles == ("a.0.0: Slack refused it, and will be asked again: token_revoked",)
    assert notify(audited).troubles == ()
    audited.clock.sleep(300)
    assert notify(audited).troubles == ("a.0.0: Slack refused it, and will be asked again: invalid_auth",)
    audited.clock.sleep(300)
    assert notify(audited) == Notified(waiting=0, wait_s=0)


# -- Unknown deliveries


def test_what_was_not_answered_is_let_alone_for_a_minute_then_looked_for_and_not_sent_again(audited) -> None:
    audited.channel.answers = [DeliveryUnknownError("TimeoutError")]
    assert notify(audited) == Notified(waiting=2, wait_s=60)
    assert (post(audited).state, post(audited).tried_at) == ("sending", NOW)
    audited.clock.sleep(59)
    assert notify(audited) == Notified(waiting=2, wait_s=1)
    assert audited.channel.looked_for == []

    audited.clock.sleep(1)
    audited.channel.looks = [Sent(channel="C0DEFAULT", ts="7.000000")]
    assert notify(audited) == Notified(waiting=0, wait_s=0)
    assert post(audited).sent == Sent(channel="C0DEFAULT", ts="7.000000")
    ((detail, thread),) = audited.channel.sent
    assert (detail.id, thread.ts) == ("a.0.1", "7.000000")


def test_what_is_not_found_is_sent_again_at_once(audited) -> None:
    audited.channel.answers = [DeliveryUnknownError("TimeoutError")]
    notify(audited)
    audited.clock.sleep(60)

    assert notify(audited) == Notified(waiting=0, wait_s=0)
    assert audited.channel.looked_for == ["a.0.0"]
    assert audited.channel.ids == ["a.0.0", "a.0.1"]
    assert post(audited).attempts == 2


def test_who_keeps_not_answering_is_asked_less_and_less_often(audited) -> None:
    audited.channel.answers = [DeliveryUnknownError("HTTP 500") for _ in range(9)]
    tried = []
    while (notified := notify(audited)).waiting:
        tried.append(post(audited).tried_at)
        audited.clock.sleep(notified.wait_s)

    tried = sorted({*tried, post(audited).tried_at})
    waits = [(after - before).total_seconds() for before, after in pairwise(tried)]
    assert waits == [60, 120, 240, 480, 960, 2700, 2700, 2700, 2700]  # after an hour: multiples of 15 minutes


def test_somebody_who_was_killed_left_it_sending_and_it_is_looked_for(audited) -> None:
    audited.channel.answers = [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        notify(audited)

    assert notify(audited) == Notified(waiting=2, wait_s=60)
    audited.clock.sleep(60)
    audited.channel.looks = [Sent(channel="C0DEFAULT", ts="7.000000")]
    assert notify(audited).waiting == 0
    assert audited.channel.ids == ["a.0.1"]


@pytest.mark.parametrize(
    ("error", "wait_s", "troubles"),
    [
        (ChannelBusyError(20), 60, 0),
        (ChannelBusyError(200), 200, 0),
        (DeliveryUnknownError("TimeoutError"), 60, 0),
        (ChannelRefusedError("missing_scope"), 300, 1),
    ],
)
def test_what_cannot_be_looked_for_is_not_sent_again(audited, error, wait_s, troubles) -> None:
    audited.channel.answers = [DeliveryUnknownError("TimeoutError")]
    notify(audited)
    audited.clock.sleep(60)
    audited.channel.looks = [error]

    notified = notify(audited)
    assert (notified.waiting, notified.wait_s, len(notified.troubles)) == (2, wait_s, troubles)
    assert notify(audited).wait_s == wait_s
    assert len(audited.channel.looked_for) == 1
    assert audited.channel.sent == []
    audited.clock.sleep(wait_s)
    assert notify(audited).waiting == 0
    assert audited.channel.ids == ["a.0.0", "a.0.1"]


def test_by_webhook_what_was_not_answered_is_sent_again_after_a_minute(audited) -> None:
    audited.channel = FakeChannel(can_read=False, answers=[DeliveryUnknownError("TimeoutError")])
    assert notify(audited) == Notified(waiting=1, wait_s=60)
    audited.clock.sleep(60)

    assert notify(audited) == Notified(waiting=0, wait_s=0)
    assert audited.channel.ids == ["a.0.0"]
    assert audited.channel.looked_for == []


# -- Giving up


@pytest.mark.parametrize(
    ("answer", "expected"),
    [(ChannelBusyError(1), "given up after .* tries: Slack is throttling: retry in 1 s"),
     (ChannelRefusedError("token_revoked"), "token_revoked")],
)  # fmt: skip
def test_after_a_day_a_post_is_given_up_with_its_thread_and_it_comes_to_an_end(audited, answer, expected) -> None:
    audited.channel.answers = [answer] * 1_000
    turns = 0
    while (notified := notify(audited)).waiting:
        assert notified.wait_s == 900 or audited.clock.now - NOW <= timedelta(hours=1)
        audited.clock.sleep(notified.wait_s)
        turns += 1

    assert timedelta(hours=24) < audited.clock.now - NOW < timedelta(hours=25)
    assert turns < 130
    assert post(audited).state == "failed"
    assert len(notified.troubles) == 2
    assert re.search(expected, notified.troubles[0])


def test_what_nobody_could_look_for_is_given_up_after_a_day(audited) -> None:
    audited.channel.answers = [DeliveryUnknownError("TimeoutError")]
    audited.channel.looks = [ChannelRefusedError("missing_scope")] * 2_000
    notified = notify(audited)
    while notified.waiting:
        audited.clock.sleep(notified.wait_s)
        notified = notify(audited)

    assert audited.channel.sent == []
    assert notified.troubles[0] == (
        "a.0.0: not posted to C0DEFAULT: nobody can look whether it was posted: missing_scope"
    )


def test_an_audit_is_posted_even_if_late(audited) -> None:
    audited.clock.sleep(3 * 86_400)

    assert notify(audited) == Notified(waiting=0, wait_s=0)
    assert audited.channel.ids == ["a.0.0", "a.0.1"]


@pytest.mark.parametrize(
    "answer", [ChannelBusyError(2), ChannelRefusedError("token_revoked"), DeliveryUnknownError("TimeoutError")]
)
def test_a_post_that_nobody_came_back_for_in_days_has_more_tries_before_it_is_given_up(audited, answer) -> None:
    audited.channel.answers = [answer]
    notify(audited)
    audited.clock.sleep(2 * 86_400)
    audited.channel.answers = [answer]
    assert notify(audited).waiting == 2
    audited.clock.sleep(900)

    assert notify(audited) == Notified(waiting=0, wait_s=0)
    assert audited.channel.ids == ["a.0.0", "a.0.1"]


def test_what_was_sent_late_is_looked_for_for_a_day_too(audited) -> None:
    audited.clock.sleep(3 * 86_400)
    audited.channel.answers = [DeliveryUnknownError("TimeoutError")]
    audited.channel.looks = [DeliveryUnknownError("TimeoutError")]
    notify(audited)
    audited.clock.sleep(900)
    assert notify(audited).waiting == 2
    audited.clock.sleep(900)

    assert notify(audited) == Notified(waiting=0, wait_s=0)


@pytest.mark.parametrize("can_read", [True, False])
def test_what_is_never_answered_and_never_there_is_given_up_after_a_day(audited, can_read) -> None:
    audited.channel = FakeChannel(can_read=can_read, answers=[DeliveryUnknownError("HTTP 500")] * 1_000)
    while (notified := notify(audited)).waiting:
        audited.clock.sleep(notified.wait_s)

    assert timedelta(hours=24) < audited.clock.now - NOW < timedelta(hours=26)
    assert re.search("given up after .* tries: it is unknown whether it was posted: HTTP 500", notified.troubles[0])
    assert audited.channel.sent == []


def test_a_post_that_slack_delays_by_a_day_is_sent_after_it(audited) -> None:
    audited.channel.answers = [ChannelBusyError(86_400)]
    notify(audited)
    audited.clock.sleep(86_401)

    assert notify(audited) == Notified(waiting=0, wait_s=0)


# -- One broken post, and concurrent runs


def test_one_bad_post_holds_up_no_other(world) -> None:
    world.policy(ROUTES)
    world.audit("a", entry(sighting("f-1")), entry(sighting("f-2", owner="storage")))
    world.channel.answers = [TypeError("not JSON"), None, None]
    notified = notify(world)

    assert notified == Notified(waiting=2, wait_s=58, troubles=("a.0.0: TypeError: not JSON",))
    assert world.channel.ids == ["a.1.0", "a.1.1"]


def test_a_store_that_fails_for_one_post_holds_up_no_other(world, monkeypatch) -> None:
    world.policy(ROUTES)
    world.audit("a", entry(sighting("f-1")), entry(sighting("f-2", owner="storage")))
    works, broken = world.outbox.write, ["a.0.0"]

    def write(one: Post) -> bool:
        if one.id in broken:
            raise OSError("throttled")
        return works(one)

    monkeypatch.setattr(world.outbox, "write", write)
    assert notify(world).waiting == 2
    broken.clear()
    assert notify(world).waiting == 0
    assert sorted(world.channel.ids) == ["a.0.0", "a.0.1", "a.1.0", "a.1.1"]


def test_of_two_runs_at_once_one_sends(audited) -> None:
    inner = []

    def at_the_same_time(_: Post) -> None:
        inner.append(notify(audited))

    audited.channel.answers = [at_the_same_time]
    assert notify(audited) == Notified(waiting=0, wait_s=0)
    assert inner == [Notified(waiting=2, wait_s=60)]
    assert audited.channel.ids == ["a.0.0", "a.0.1"]


def test_who_reads_late_takes_nothing_from_who_was_first(audited, monkeypatch) -> None:
    works = audited.outbox.write

    def beaten(one: Post) -> bool:
        monkeypatch.setattr(audited.outbox, "write", works)
        works(replace(one, why="another run"))
        return works(one)

    monkeypatch.setattr(audited.outbox, "write", beaten)
    assert notify(audited) == Notified(waiting=2, wait_s=60)
    assert audited.channel.sent == []


@pytest.mark.parametrize("answer", [None, ChannelBusyError(5)])
def test_who_finds_that_another_run_went_on_with_a_post_leaves_it_to_that(audited, answer) -> None:
    """The write after the send is refused. The post does not count as sent, and the other run gets time to end."""

    def meanwhile(_: Post) -> None:
        audited.outbox.write(replace(post(audited), why="another run", revision=post(audited).revision + 1))
        if answer:
            raise answer

    audited.channel.answers = [meanwhile]
    assert notify(audited) == Notified(waiting=2, wait_s=60)
    assert (post(audited).state, post(audited).why) == ("sending", "another run")
    assert audited.clock.slept == []


def test_who_took_too_long_to_say_that_it_sends_does_not_send(audited, monkeypatch) -> None:
    """Another run may soon look for the post, not find it, and send it too."""
    works = audited.outbox.write

    def slow(one: Post) -> bool:
        monkeypatch.setattr(audited.outbox, "write", works)
        audited.clock.now += timedelta(seconds=21)
        return works(one)

    monkeypatch.setattr(audited.outbox, "write", slow)
    assert notify(audited) == Notified(waiting=2, wait_s=39)
    assert audited.channel.sent == []
    audited.clock.sleep(39)
    assert notify(audited).waiting == 0
    assert audited.channel.ids == ["a.0.0", "a.0.1"]


def test_what_the_list_does_not_show_yet_is_sent_all_the_same_and_in_order(world) -> None:
    world.outbox = MemoryOutbox(behind=True)
    world.audit("a", *[entry(sighting(f"f-{n:04}", summary="x" * 250)) for n in range(200)])

    assert notify(world) == Notified(waiting=0, wait_s=0)
    assert len(world.channel.ids) > 3
    assert world.channel.ids == [f"a.0.{n}" for n in range(len(world.channel.ids))]


def test_a_thread_waits_for_the_message_before_it_even_where_the_list_does_not_show_that(world, monkeypatch) -> None:
    world.audit("a", *[entry(sighting(f"f-{n:04}", summary="x" * 250)) for n in range(200)])
    world.audit("b")
    world.channel.answers = [None, ChannelBusyError(30)]
    notify(world)
    shown = [world.outbox.get(id_) for id_ in ("a.0.2", "a.0.3")]
    monkeypatch.setattr(world.outbox, "waiting", lambda: iter(shown))
    world.clock.sleep(5)
    notify(world, "b")

    assert world.channel.ids == ["a.0.0", "b.0.0"]


@pytest.mark.parametrize("first", [None, ChannelRefusedError("token_revoked")])
def test_a_run_ends_in_time_and_says_that_it_has_not_done(world, first) -> None:
    """The posts that it did not reach can be sent at once, even if others have to wait."""
    world.channel.answers = [first]
    owners = [f"team-{n}" for n in range(99)]
    routes = "".join(f'[[slack.routes]]\nchannel = "C{n:04}"\nowner = "{owner}"\n' for n, owner in enumerate(owners))
    world.policy(f"{POLICY}{routes}")
    world.audit("a", *[entry(sighting(f"f-{n:02}", owner=owner)) for n, owner in enumerate(owners)])
    notified = notify(world)

    assert len(world.channel.sent) == 60
    assert notified.wait_s == 1
    assert notified.waiting == len(world.outbox.posts) - 60
    while notified.waiting:
        world.clock.sleep(notified.wait_s)
        notified = notify(world)
    assert sorted(world.channel.ids) == sorted(world.outbox.posts)


# -- Posts without an audit


def of_cleanup(world: World, id_: str = "cleanup.f-1.1.marked", channel: str | None = "C0DEFAULT", **changes) -> Post:
    """Record a post of a clean-up."""
    made = Post(
        id=id_, audit_id=None, created_at=world.clock.now, channel=channel, thread_of=None, message=Message(text=id_),
        **changes,
    )  # fmt: skip
    world.outbox.record([made])
    return made


def test_whatever_waits_is_delivered_without_an_audit(world) -> None:
    of_cleanup(world)
    of_cleanup(world, "cleanup.f-1.1.warned.7")

    assert world.notifier().deliver() == Notified(waiting=0, wait_s=0)
    assert world.channel.ids == ["cleanup.f-1.1.marked", "cleanup.f-1.1.warned.7"]
    assert {one.state for one in world.outbox.posts.values()} == {"sent"}
    world.notifier().deliver()
    assert len(world.channel.ids) == 2


def test_an_audit_delivers_it_too_and_waits_only_for_its_own(world) -> None:
    of_cleanup(world)
    world.channel.answers = [ChannelBusyError(40)]
    world.audit("a", entry(sighting("f-1")))
    world.channel.can_read = True
    notified = notify(world)

    assert notified.waiting == 2  # its channel is busy
    assert world.outbox.get("cleanup.f-1.1.marked").state == "pending"
    world.clock.sleep(notified.wait_s)
    assert notify(world) == Notified(waiting=0, wait_s=0)
    assert world.channel.ids == ["cleanup.f-1.1.marked", "a.0.0", "a.0.1"]


def test_without_an_audit_only_what_is_no_audits_is_waited_for(world) -> None:
    world.audit("a", entry(sighting("f-1")))
    world.channel.answers = [ChannelBusyError(40)]
    notify(world)
    of_cleanup(world, channel="C0OTHER")

    assert world.notifier().deliver() == Notified(waiting=0, wait_s=0)
    assert world.channel.ids == ["cleanup.f-1.1.marked"]
    assert post(world).state == "pending"
    of_cleanup(world, "cleanup.f-1.1.asked", channel="C0OTHER")
    world.channel.answers = [ChannelBusyError(25)]
    assert world.notifier().deliver() == Notified(waiting=1, wait_s=25)


def test_a_post_that_was_just_recorded_is_not_missed(world) -> None:
    world.outbox = MemoryOutbox(behind=True)
    of_cleanup(world)

    assert world.notifier().deliver() == Notified(waiting=0, wait_s=0)
    assert world.channel.ids == ["cleanup.f-1.1.marked"]


def test_a_post_without_a_channel_is_sent_to_that_of_the_current_policy(world) -> None:
    of_cleanup(world, channel=None)
    world.policy("[slack]\n")
    waits = world.notifier().deliver()

    assert (waits.waiting, waits.wait_s) == (1, 300)
    assert waits.troubles == ("cleanup.f-1.1.marked: the policy names no channel; set slack.channel",)
    assert world.channel.sent == []
    world.policy(POLICY)
    world.clock.sleep(waits.wait_s)
    assert world.notifier().deliver() == Notified(waiting=0, wait_s=0)
    assert world.outbox.get("cleanup.f-1.1.marked").channel == "C0DEFAULT"


def test_a_post_for_which_nobody_names_a_channel_for_a_day_has_failed(world) -> None:
    of_cleanup(world, channel=None)
    world.policy("[slack]\n")
    world.notifier().deliver()
    world.clock.now += DAY + MINUTE
    notified = world.notifier().deliver()

    assert notified.waiting == 0
    assert world.outbox.get("cleanup.f-1.1.marked").state == "failed"
    assert "not posted" in notified.troubles[0]


def test_a_webhook_takes_what_names_no_channel(world) -> None:
    world.channel.can_read = False
    world.policy("[slack]\n")
    of_cleanup(world, channel=None)

    assert world.notifier().deliver() == Notified(waiting=0, wait_s=0)
    assert world.outbox.get("cleanup.f-1.1.marked").state == "sent"


def test_where_there_is_no_slack_what_is_no_audits_is_given_up_and_nothing_else(world) -> None:
    world.audit("a", entry(sighting("f-1")))
    world.channel.answers = [ChannelBusyError(40)]
    notify(world)
    of_cleanup(world)

    assert fail_posts_without_slack(world.outbox) == 1
    given_up = world.outbox.get("cleanup.f-1.1.marked")
    assert (given_up.state, given_up.why) == ("failed", "there is no Slack")
    assert post(world).state == "pending"
    assert fail_posts_without_slack(world.outbox) == 0


@pytest.mark.parametrize(
    ("cleans_up", "words"), [(True, "is then deleted after 30 days"), (False, "Nothing acts on it yet")]
)
def test_an_approval_is_asked_for_in_the_words_of_what_it_does(world, cleans_up, words) -> None:
    allowed = (
        f"accounts = ['{ACCOUNT}']\nregions = ['eu-west-1']\n"
        "resource_types = ['efs-file-system']\ndetectors = ['efs-idle']"
    )
    world.policy(f"{POLICY}\n[cleanup]\n{allowed}\napprovers = ['U0ADA']\n")
    world.audit("a", entry(sighting("f-1")))
    world.notifier(cleans_up=cleans_up).notify("a")

    (button,) = [
        one
        for block in post(world).message.blocks
        for one in block.get("elements", ())
        if one.get("action_id") == "approve"
    ]
    assert words in button["confirm"]["text"]["text"]


# -- Whether Slack accepted a post


def lone(**changes) -> Post:
    """Return a post of a clean-up."""
    message = Message(text="Marked for clean-up")
    return replace(
        Post(id="c", audit_id=None, created_at=NOW, channel="C0DEFAULT", thread_of=None, message=message), **changes
    )


@pytest.fixture
def default() -> list[str | None]:
    """Return a list whose only item is the channel of posts that name none. Tests may replace the item."""
    return ["C0DEFAULT"]


@pytest.fixture
def delivered(world, default) -> Callable[..., Post]:
    """Return a function that records a post, delivers once, and returns the stored post."""

    def once(**changes) -> Post:
        if world.outbox.get("c") is None:
            world.outbox.record([lone(**changes)])
        Delivery(
            outbox=world.outbox,
            channel=world.channel,
            fallback=None,
            clock=world.clock,
            sleep=lambda _: None,
            default=default[0],
        ).deliver(None)
        return world.outbox.get("c")

    return once


def test_a_post_that_slack_took_says_when(world, delivered) -> None:
    assert lone().delivered_at is None
    assert delivered().delivered_at == NOW


@pytest.mark.parametrize(
    ("changes", "delivered_at"),
    [
        ({"state": "sending", "sent": None}, None),
        ({"state": "failed", "sent": None}, None),
        ({"sent": Sent(channel="C1", ts="")}, None),
        ({"sent": Sent(channel=None, ts=None)}, None),
        ({"sent": Sent(channel=None, ts=None, ok=True)}, NOW + MINUTE),
        ({"sent": Sent(channel="C1", ts="1.0")}, NOW + MINUTE),
        ({"sent": Sent(channel="C1", ts="1.0"), "sent_at": None}, NOW),
    ],
)
def test_only_a_time_stamp_or_an_ok_is_a_delivery(changes, delivered_at) -> None:
    assert lone(**({"state": "sent", "tried_at": NOW, "sent_at": NOW + MINUTE} | changes)).delivered_at == delivered_at


def test_a_post_that_says_how_long_is_tried_for_so_long(world, delivered) -> None:
    world.channel.answers = [DeliveryUnknownError("HTTP 503")] * 1_000
    world.channel.looks = [DeliveryUnknownError("HTTP 503")] * 400
    post = delivered(until=NOW + 14 * DAY)
    while world.clock.now < NOW + 10 * DAY:
        world.clock.now += timedelta(hours=6)
        post = delivered()
    assert post.waits
    world.channel.answers, world.channel.looks = [], []
    world.clock.now += timedelta(hours=5)
    assert delivered().state == "sent"


def test_a_webhook_that_never_answers_is_not_sent_the_same_every_half_hour_for_two_weeks(world, delivered) -> None:
    world.channel = FakeChannel(can_read=False, answers=[DeliveryUnknownError("timed out")] * 10_000)
    post = delivered(until=NOW + 14 * DAY)
    while post.waits:
        world.clock.now += timedelta(hours=2)
        post = delivered()
    assert post.state == "failed"
    assert NOW + 14 * DAY < world.clock.now < NOW + 15 * DAY
    assert post.attempts < 100


@pytest.mark.parametrize("found", [True, False])
def test_a_post_that_is_withdrawn_is_not_sent_but_may_have_arrived(world, delivered, found) -> None:
    world.channel.answers = [DeliveryUnknownError("reset")]
    sending = delivered()
    assert sending.state == "sending"
    assert world.outbox.write(replace(sending, withdrawn=True, revision=sending.revision + 1))
    world.channel.looks = [Sent(channel="C0DEFAULT", ts="1.0") if found else None]
    world.clock.now += 5 * MINUTE
    assert (delivered().state, world.channel.ids) == ("sent" if found else "failed", [])


def test_a_post_that_is_withdrawn_before_anybody_sent_it_is_never_sent(world, delivered) -> None:
    assert (delivered(withdrawn=True).state, world.channel.ids) == ("failed", [])


def test_a_post_without_a_channel_says_so_until_there_is_one(world, delivered, default) -> None:
    default[0] = None
    post = delivered(channel=None)
    assert (post.state, post.nowhere) == ("pending", True)
    default[0] = "C0DEFAULT"
    world.clock.now += timedelta(hours=1)
    post = delivered()
    assert (post.state, post.nowhere) == ("sent", False)


def test_where_there_is_no_slack_a_post_says_so(world) -> None:
    world.outbox.record([lone()])
    assert fail_posts_without_slack(world.outbox) == 1
    assert (world.outbox.get("c").nowhere, world.outbox.get("c").delivered_at) == (True, None)
