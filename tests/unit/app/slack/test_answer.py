"""Requests of people in Slack and their results, with fakes for Slack, the stores and the executions."""

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.app.audit.audits import Audits
from slackwater.app.cleanup.cleanups import Cleanups
from slackwater.app.findings.findings import Findings
from slackwater.app.policy.file import PolicyError
from slackwater.app.slack.answer import LATER, Answerer, UnfinishedError
from slackwater.engine.registry import registry
from slackwater.model.audits import AuditRecord, AuditRequest
from slackwater.model.cleanup import Cleanup
from slackwater.model.listing import FindingQuery, Page
from slackwater.model.policy import CleanupSection, Policy, SlackSection
from slackwater.model.posts import Message, Post, Sent
from slackwater.model.settings import VolumeSetting
from slackwater.model.slack_requests import Asked, Asker, ButtonPress, Command, Dismissal
from slackwater.model.tracking import Decision, FindingRecord, LedgerEntry, TrackedFinding, TrackedResource, Write
from slackwater.ports.errors import AccessDeniedError, AwsError, UnreachableError
from slackwater.ports.slack import ChannelBusyError, ChannelRefusedError, DeliveryUnknownError
from slackwater.views.slack import finding as shown_in_slack
from slackwater.views.slack.blocks import message_of
from support.audit_places import Places, limits
from support.slack_world import KeptCleanups

NOW = datetime(2026, 11, 16, 9, 7, 42, tzinfo=UTC)
DAY = timedelta(days=1)
ACCOUNT = "123456789012"
POST = "monday.0.0"
URL = "https://hooks.slack.com/actions/T0TEAM/1/2"
JANE, JOE, EVE = (Asker(user=user, team="T0TEAM") for user in ("U0JANE", "U0JOE", "U0EVE"))
POLICY = Policy(
    limits={},
    slack=SlackSection(deciders=["U0JANE", "U0JOE"], auditors=["U0JANE"]),
    cleanup=CleanupSection(
        accounts=[ACCOUNT], regions=["eu-west-1"], resource_types=["ebs-volume"], detectors=["ebs-unattached"],
        approvers=["U0JANE", "U0JOE"], approval_days=7,
    ),
)  # fmt: skip


def finding(id: str, **changed: Any) -> TrackedFinding:
    """Return an open finding."""
    sighting = FindingRecord(
        id=id, detector="ebs-unattached", kind="waste", severity="medium", confidence="high", owner="data",
        summary="Unattached.",
        resource=TrackedResource(
            arn=f"arn:{id}", id=f"vol-{id}", type="ebs-volume", name=f"disk-{id}", account=ACCOUNT, region="eu-west-1"
        ),
        monthly_savings_usd=Decimal("12.30"), fingerprint="abc123", deletes=True,
    )  # fmt: skip
    open_ = TrackedFinding(
        sighting=sighting, status="open", decision=None, opened_at=NOW - DAY, last_seen_at=NOW - DAY, resolved_at=None,
        audit_id="monday", revision=1,
    )  # fmt: skip
    return replace(open_, **changed)


def post(*findings: TrackedFinding) -> Post:
    """Return the posted digest of these findings."""
    blocks = [
        block
        for one in findings
        for block in (
            *shown_in_slack.shown(one.sighting),
            shown_in_slack.choices(POST, one.sighting, may_decide=True, may_approve=True),
        )
    ]
    return Post(
        id=POST, audit_id="monday", created_at=NOW - DAY, channel="C0DEFAULT", thread_of=None,
        message=message_of(*blocks), findings=tuple(one.id for one in findings), state="sent",
        sent=Sent(channel="C0DEFAULT", ts="1.2"),
    )  # fmt: skip


@dataclass
class Store:
    """Findings, as thread-safe as DynamoDB. If `meet` is set, each thread's first read waits for the other threads."""

    findings: dict[str, TrackedFinding]
    entries: list[LedgerEntry] = field(default_factory=list)
    meet: threading.Barrier | None = None
    broken: Exception | None = None

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._met = threading.local()

    def get(self, id: str) -> TrackedFinding | None:
        if self.broken:
            raise self.broken
        with self._lock:
            found = self.findings.get(id)
        if self.meet and not hasattr(self._met, "once"):
            self._met.once = True
            self.meet.wait(10)
        return found

    def write(self, write: Write) -> bool:
        with self._lock:
            if write.expects != self.findings[write.finding.id].revision:
                return False
            assert write.entry
            self.findings[write.finding.id] = write.finding
            self.entries.append(write.entry)
            return True

    def ledger(self, id: str) -> Iterator[LedgerEntry]:
        with self._lock:
            return iter([entry for entry in self.entries if entry.evidence.id == id])

    def list(self, query: FindingQuery) -> Page[TrackedFinding]:
        found = tuple(one for one in self.findings.values() if one.status == query.status)
        return Page(items=found[: query.limit], cursor="more" if len(found) > query.limit else None)

    def unresolved(self, account: str, region: str) -> Any:
        raise NotImplementedError


@dataclass
class Bucket:
    """Documents: the reports of some audits, and one target's scan."""

    reports: tuple[str, ...] = ()

    def has(self, key: str) -> bool:
        return any(key == f"audits/{one}/report.html" for one in self.reports)

    def link(self, key: str, for_seconds: int) -> str:
        return f"https://bucket/{key}?for={for_seconds}"

    def read(self, key: str, version: str | None = None) -> tuple[str, str] | None:
        found = {
            "id": "f00d",
            "resource": {"tags": {}},
            "monthly_savings_usd": "12.30",
            "evidence": [{"label": "Idle for", "value": 9, "unit": "days"}],
            "recommendations": [],
            "caveats": [],
        }
        document = {"scan": {"targets": [{"complete": True}]}, "findings": [found]}
        return (json.dumps(document), "1") if key.startswith("audits/monday/targets/") else None


@dataclass
class Runs(Places):
    """Stored and started audits. `spent_usd` is what today's audits cost."""

    records: tuple[AuditRecord, ...] = ()
    started: dict[str, AuditRequest] = field(default_factory=dict)
    spent_usd: Decimal = Decimal("3.217")

    def list(self, limit: int, cursor: str | None) -> Page[AuditRecord]:
        return Page(items=self.records[:limit], cursor=None)

    def get(self, id: str) -> AuditRecord | None:
        return next((one for one in self.records if one.id == id), None)

    def start(self, audit_id: str, request: AuditRequest) -> None:
        self.started[audit_id] = request


@dataclass
class Slack:
    """A channel with one message, and the answers to people.

    Updates raise the exceptions in `faults` first. `meanwhile` runs before the next update.
    """

    message: Message
    updates: int = 0
    answered: list[tuple[str, Message]] = field(default_factory=list)
    faults: list[Exception | None] = field(default_factory=list)
    deaf: list[Exception | None] = field(default_factory=list)
    meanwhile: Callable[[], None] | None = None

    def update(self, sent: Sent, message: Message) -> None:
        assert sent == Sent(channel="C0DEFAULT", ts="1.2")
        if self.faults and (fault := self.faults.pop(0)):
            raise fault
        if self.meanwhile:
            meanwhile, self.meanwhile = self.meanwhile, None
            meanwhile()
        self.updates += 1
        self.message = message

    def respond(self, url: str, message: Message) -> None:
        if self.deaf and (fault := self.deaf.pop(0)):
            raise fault
        self.answered.append((url, message))


@dataclass
class Starter:
    """Starts clean-ups. While it is `down`, AWS cannot be reached."""

    started: list[tuple[str, str]] = field(default_factory=list)
    down: bool = False

    def state(self, execution: str, *, undo: bool = False) -> str:
        return "none" if execution.endswith("unknown") else "running"

    def start(self, finding_id: str, execution: str) -> None:
        if self.down:
            raise UnreachableError("states.eu-west-1.amazonaws.com")
        if (finding_id, execution) not in self.started:
            self.started.append((finding_id, execution))

    def undo(self, finding_id: str, execution: str) -> None:
        raise NotImplementedError


@dataclass
class World:
    """Everything that an Answerer needs. Without a `starter`, clean-up is not enabled."""

    findings: list[TrackedFinding] = field(default_factory=lambda: [finding("f00d")])
    policy: Policy | Exception = POLICY
    home: str | None = "T0TEAM"
    origin: str | None = None
    bucket: Bucket = field(default_factory=Bucket)
    runs: Runs = field(default_factory=Runs)
    pauses: list[float] = field(default_factory=list)
    answered: dict[str, str | None] = field(default_factory=dict)
    starter: Any = None
    policies_read: int = 0

    def __post_init__(self) -> None:
        self.store = Store({one.id: one for one in self.findings})
        self.kept = KeptCleanups()
        self.post: Post | None = post(*self.findings)
        self.slack = Slack(self.post.message)

    def get(self, id: str) -> Post | None:
        return self.post if id == POST else None

    def record(self, posts: Any) -> None:
        raise NotImplementedError

    def waiting(self) -> Any:
        raise NotImplementedError

    def write(self, post: Post) -> bool:
        raise NotImplementedError

    def _policy(self) -> Policy:
        if isinstance(self.policy, Exception):
            raise self.policy
        self.policies_read += 1
        return self.policy

    def answer(self, asked: Asked) -> str:
        """Return the text that the person receives."""
        documents: Any = self.bucket
        runs: Any = self.runs
        findings = Findings(store=self.store, documents=documents)
        return (
            Answerer(
                findings=findings,
                cleanups=Cleanups(store=self.kept, findings=findings, starter=self.starter, policy=self._policy),
                audits=Audits(
                    audits=runs,
                    documents=documents,
                    starter=runs,
                    registry=registry,
                    clock=lambda: NOW,
                    policy=self._policy,
                    limits=limits(runs, lambda: NOW, spent_usd=lambda _: self.runs.spent_usd),
                ),
                outbox=self,
                channel=lambda: self.slack,
                respond=self.slack.respond,
                origin=self.origin,
                home=lambda: self.home,
                policy=self._policy,
                registry=registry,
                account=lambda: ACCOUNT,
                known_regions=lambda: ["eu-west-1", "us-east-1"],
                pause=self.pauses.append,
                sent_texts=self.answered,
            )
            .answer(asked)
            .text
        )

    @property
    def started(self) -> list[tuple[str, str]]:
        """Return the clean-ups that were started."""
        return self.starter.started

    @property
    def cleanups(self) -> dict[str, Cleanup]:
        """Return the stored clean-ups."""
        return self.kept.cleanups

    @property
    def seen(self) -> str:
        """Return the current content of the message in the channel."""
        return json.dumps(self.slack.message.blocks, ensure_ascii=False)

    def buttons(self, id: str = "f00d") -> list[str]:
        """Return the buttons that the message still has for a finding."""
        blocks = [block for block in self.slack.message.blocks if block.get("block_id") == f"{POST}/{id}"]
        return [one["action_id"] for block in blocks for one in block["elements"]]


def press(
    action: str, value: str = "f00d", who: Asker = JANE, about: str = "f00d", at: datetime = NOW, **more: Any
) -> ButtonPress:
    more = {"id": f"{who.user}-{action}-{value}-{at}", "response_url": URL} | more
    return ButtonPress(at=at, asker=who, action=action, post=POST, about=about, value=value, **more)


def approve(who: Asker = JANE, fingerprint: str = "abc123", **more: Any) -> ButtonPress:
    return press("approve", f"f00d:{fingerprint}", who, **more)


def waiting(**changed: Any) -> Cleanup:
    """Return a waiting clean-up of f00d."""
    seen = finding("f00d").sighting
    one = Cleanup(
        finding_id="f00d", attempt=1, execution="f00d-1", detector=seen.detector, resource=seen.resource, owner="data",
        fingerprint="abc123", setting=None, requested_by="slack:U0JOE", started_at=NOW - DAY,
        promised_monthly_usd=seen.monthly_savings_usd, stage="waiting", revision=1,
    )  # fmt: skip
    return replace(one, **changed)


def marked(status: Any = "approved", **changed: Any) -> World:
    """Return a world whose message is about a tagged resource and has a stop button."""
    by = Decision(
        status="approved", who="slack:U0JOE", why="", at=NOW - DAY, until=NOW + 40 * DAY, fingerprint="abc123"
    )
    one = finding("f00d", status=status, decision=by if status == "approved" else None)
    world = World(starter=Starter(), findings=[one], **changed)
    world.kept.cleanups["f00d"] = waiting()
    row = shown_in_slack.choices(POST, one.sighting, may_decide=True, may_approve=True, may_stop=True)
    assert world.post
    world.post = replace(world.post, message=message_of(row))
    world.slack.message = world.post.message
    return world


def dismissal(why: str = "a museum", days: int | None = None, who: Asker = JANE, at: datetime = NOW) -> Dismissal:
    return Dismissal(
        id=f"{who.user}-{at}", at=at, asker=who, response_url=URL, post=POST, about="f00d", why=why, days=days
    )


def command(text: str, who: Asker = JANE, id: str = "c0ffee") -> Command:
    return Command(id=id, at=NOW, asker=who, response_url=URL, text=text)


# -- Stopping


@pytest.mark.parametrize("who", [JANE, JOE])
@pytest.mark.parametrize("status", ["approved", "open"])
def test_a_stop_is_on_record_shown_in_the_message_and_confirmed(who: Asker, status: str) -> None:
    world = marked(status)
    answered = world.answer(press("stop", who=who))

    stopped = world.cleanups["f00d"].stopped
    assert stopped
    assert (stopped.who, stopped.why, stopped.at) == (f"slack:{who.user}", "", NOW)
    assert f"Stopped by <@{who.user}> on 2026-11-16." in world.seen
    assert f"Stopped by <@{who.user}> on 2026-11-16." in answered
    assert "Its next step cancels it" in answered
    assert world.buttons() == (["details", "snooze", "dismiss"] if status == "open" else [])


def test_who_only_decides_may_stop_and_who_only_approves() -> None:
    for slack, approvers in ((SlackSection(deciders=["U0JOE"]), []), (SlackSection(), ["U0JOE"])):
        cleanup = POLICY.cleanup.model_copy(update={"approvers": approvers})
        world = marked(policy=replace(POLICY, slack=slack, cleanup=cleanup))
        assert "Stopped by <@U0JOE>" in world.answer(press("stop", who=JOE))
        assert world.cleanups["f00d"].stopped


def test_whom_the_policy_does_not_name_stops_nothing() -> None:
    world = marked()
    elsewhere = Asker(user="U0JANE", team="T0OTHER")

    assert "cleanup.\u2060approvers or slack.\u2060deciders does not name you" in world.answer(press("stop", who=EVE))
    assert "not for this workspace" in world.answer(press("stop", who=elsewhere))
    assert world.cleanups["f00d"] == waiting()


def test_where_the_policy_cannot_be_read_anybody_of_the_workspace_stops() -> None:
    world = marked(policy=PolicyError([]))

    assert "Stopped by <@U0EVE>" in world.answer(press("stop", who=EVE))
    assert "not for this workspace" in marked(policy=PolicyError([])).answer(
        press("stop", who=Asker(user="U0X", team="T0X"))
    )


def test_a_stop_that_comes_again_says_the_same_and_another_that_it_had_ended() -> None:
    world = marked()
    first = world.answer(press("stop"))
    assert "Stopped by <@U0JANE>" in world.answer(press("stop", who=JOE))  # Jane was first
    world.kept.cleanups["f00d"] = replace(world.cleanups["f00d"], stage="called-off")

    assert "Stopped by <@U0JANE>" in world.answer(press("stop"))
    assert "has ended (cancelled)" in world.answer(press("stop", at=NOW + DAY))
    assert "Stopped by <@U0JANE>" in first
    world.kept.cleanups.clear()
    assert "there is no clean-up of finding f00d" in world.answer(press("stop", at=NOW + DAY))


def test_a_stop_of_another_finding_than_its_buttons_stops_nothing() -> None:
    world = marked()

    assert "another version" in world.answer(press("stop", "beef"))
    assert world.cleanups["f00d"].stopped is None


def test_an_approval_in_the_tagging_message_leaves_the_stop_button() -> None:
    world = marked("open")
    world.answer(approve())

    assert "Approved by <@U0JANE>" in world.seen
    assert world.buttons() == ["stop"]


# -- Decisions


@pytest.mark.parametrize("days", [7, 30, 90])
def test_a_snooze_is_stored_shown_in_the_message_and_confirmed(days: int) -> None:
    world = World()
    answered = world.answer(press("snooze", str(days)))

    decision = world.store.findings["f00d"].decision
    assert decision
    assert (decision.status, decision.who, decision.until) == ("snoozed", "slack:U0JANE", NOW + days * DAY)
    until = f"{NOW + days * DAY:%Y-%m-%d}"
    assert f"Snoozed until {until} by <@U0JANE>" in world.seen
    assert f"Snoozed until {until} by <@U0JANE>" in answered
    assert world.buttons() == []
    assert [url for url, _ in world.slack.answered] == [URL]


@pytest.mark.parametrize(("days", "until"), [(None, None), (30, NOW + 30 * DAY)])
def test_a_dismissal_is_stored_with_its_reason_and_shown(days: int | None, until: datetime | None) -> None:
    world = World()
    world.answer(dismissal(days=days))

    decision = world.store.findings["f00d"].decision
    assert decision
    assert (decision.status, decision.why, decision.until) == ("dismissed", "a museum", until)
    assert "Dismissed" in world.seen
    assert "a museum" in world.seen


def test_an_approval_is_for_what_was_seen_and_lapses() -> None:
    world = World()
    answered = world.answer(approve())

    found = world.store.findings["f00d"]
    assert found.decision
    assert (found.status, found.decision.who, found.decision.until) == (
        "approved",
        "slack:U0JANE",
        NOW + (30 + 7) * DAY,
    )
    assert found.decision.fingerprint == "abc123"
    assert [(entry.happening, entry.was, entry.now, entry.who) for entry in world.store.entries] == [
        ("approved", "open", "approved", "slack:U0JANE")
    ]
    assert "Approved by <@U0JANE> until 2026-12-23" in world.seen
    assert "Nothing started: clean-up is not enabled here" in answered


def enabled(**changes: Any) -> World:
    """Return a world where clean-up is deployed."""
    return World(starter=Starter(), **changes)


def test_an_approval_begins_the_clean_up_and_says_when_it_deletes() -> None:
    world = enabled()
    answered = world.answer(approve())

    assert world.started == [("f00d", "f00d-1")]
    assert world.cleanups["f00d"].requested_by == "slack:U0JANE"
    assert "backs it up and deletes it after 16 Dec 2026, 09:07 UTC, unless someone uses it before" in answered
    assert "slackwater cleanup stop f00d" in answered
    assert world.store.findings["f00d"].status == "approved"


def test_an_approval_of_a_change_begins_it_and_says_how_to_put_the_old_setting_back() -> None:
    setting = VolumeSetting(volume_type="gp3", iops=3_000, throughput_mib_s=125)
    one = finding("f00d")
    world = enabled(findings=[replace(one, sighting=replace(one.sighting, deletes=False, setting=setting))])
    answered = world.answer(approve())

    decision = world.store.findings["f00d"].decision
    assert decision
    assert decision.setting == setting == world.cleanups["f00d"].setting
    assert (
        "Slackwater changes it to gp3, 3,000 IOPS, 125 MiB/s. To restore the old setting: slackwater cleanup undo f00d"
        in answered
    )


def test_an_approval_that_is_delivered_twice_starts_one_clean_up_and_is_answered_once() -> None:
    world = enabled()
    first, again = world.answer(approve()), world.answer(approve())

    assert len(world.slack.answered) == 1
    assert set(world.started) == {("f00d", "f00d-1")}
    assert len(world.cleanups) == 1
    assert first.splitlines()[:2] == again.splitlines()[:2]


def test_an_approval_whose_clean_up_did_not_begin_the_first_time_begins_it_the_second() -> None:
    world = enabled()
    world.starter.down = True
    answered = world.answer(approve())
    assert "AWS did not confirm the start. If it did not start, the next run starts it" in answered
    assert "Nothing started" not in answered
    world.starter.down = False
    world.answered.clear()
    world.answer(approve())

    assert world.started == [("f00d", "f00d-1")]


def test_an_approval_is_valid_even_if_the_cap_lets_nothing_start() -> None:
    strict = replace(POLICY, cleanup=POLICY.cleanup.model_copy(update={"most_monthly_usd": 1.0}))
    world = enabled(policy=strict)
    answered = world.answer(approve()).replace("\u2060", "")

    assert world.started == []
    assert world.store.findings["f00d"].status == "approved"
    assert (
        "Nothing started: 12.30 USD a month of clean-ups in 24 hours: the policy's cleanup.most_monthly_usd allows 1.00"
        in answered
    )


def test_a_pressed_button_reads_the_policy_once() -> None:
    for who in (JANE, EVE):
        world = enabled()
        world.answer(approve(who))
        assert world.policies_read == 1


def test_who_may_not_approve_begins_nothing() -> None:
    world = enabled()

    assert "Not allowed" in world.answer(approve(EVE))
    assert "has changed since" in world.answer(approve(fingerprint="01d"))
    assert (world.started, world.cleanups) == ([], {})


def test_an_earlier_approval_stays_valid_under_a_new_policy_but_starts_nothing_more() -> None:
    world = enabled()
    world.starter.down = True
    world.answer(approve())
    world.starter.down = False
    world.policy = replace(POLICY, cleanup=POLICY.cleanup.model_copy(update={"approvers": []}))
    answered = world.answer(approve()).replace("\u2060", "")

    assert world.started == []
    assert world.store.findings["f00d"].status == "approved"
    assert "Nothing started: the policy's cleanup.approvers does not name U0JANE" in answered


def test_the_button_carries_what_an_approval_is_for() -> None:
    world = World()
    button = next(
        one
        for block in world.slack.message.blocks
        if block["type"] == "actions"
        for one in block["elements"]
        if one["action_id"] == "approve"
    )
    world.answer(press("approve", button["value"]))

    assert world.store.findings["f00d"].status == "approved"


def test_an_approval_of_what_has_changed_since_changes_nothing_and_shows_what_it_is_now() -> None:
    world = World()
    answered = world.answer(approve(fingerprint="0ld"[:2] + "d"))

    assert "another version" in answered  # it is not a fingerprint of Slackwater
    answered = world.answer(approve(fingerprint="01d"))
    assert "has changed since" in answered
    assert "disk-f00d" in answered
    assert world.store.findings["f00d"].status == "open"
    assert "approve" in world.buttons()


def test_an_approval_whose_value_is_about_another_finding_than_its_block_is_none() -> None:
    world = World([finding("f00d"), finding("beef")])

    assert "another version" in world.answer(press("approve", "beef:abc123"))
    assert not world.store.entries


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        (press("snooze", "30", EVE), "slack.deciders"),
        (dismissal(who=EVE), "slack.deciders"),
        (approve(EVE), "cleanup.approvers"),
        (press("report", who=EVE), "slack.deciders, slack.auditors or cleanup.approvers"),
        (command("audit", EVE), "slack.auditors"),
    ],
)
def test_a_person_who_is_not_listed_learns_the_policy_key_and_nothing_happens(asked: Asked, key: str) -> None:
    world = World()
    answered = world.answer(asked)

    assert "Not allowed" in answered
    assert "U0EVE" in answered
    assert key in json.dumps(world.slack.answered[0][1].blocks)
    assert not world.store.entries
    assert not world.runs.started


def test_a_list_is_for_what_it_says_and_for_nothing_else() -> None:
    only_snoozes = replace(POLICY, slack=SlackSection(deciders=["U0EVE"]), cleanup=POLICY.cleanup)
    world = World(policy=only_snoozes)

    assert "Not allowed" in world.answer(approve(EVE))
    assert "Not allowed" in world.answer(command("audit", EVE))
    assert "Not allowed" in world.answer(press("snooze", "30", JANE))
    assert "Snoozed" in world.answer(press("snooze", "30", EVE))


def test_nobody_can_approve_what_the_policy_excludes() -> None:
    world = World(policy=replace(POLICY, cleanup=POLICY.cleanup.model_copy(update={"regions": ["us-east-1"]})))

    assert "cleanup.regions does not name eu-west-1" in world.answer(approve()).replace("\u2060", "")
    assert world.store.findings["f00d"].status == "open"


def test_without_a_policy_that_can_be_read_nobody_may_do_anything() -> None:
    world = World(policy=PolicyError([]))

    assert "policy cannot be read" in world.answer(approve())
    assert not world.store.entries


@pytest.mark.parametrize(
    ("home", "asker", "good"),
    [
        ("T0TEAM", Asker(user="U0JANE", team="T0TEAM"), True),
        ("T0TEAM", Asker(user="U0JANE", team="T0OTHER"), False),
        ("T0TEAM", Asker(user="U0JANE", team="T0TEAN"), False),
        ("T0TEAM", Asker(user="U0JANE", team=None), False),
        ("T0TEAM", Asker(user="U0JANE", team=""), False),
        (None, Asker(user="U0JANE", team=None), False),
        ("", Asker(user="U0JANE", team=""), False),
    ],
)
def test_a_user_of_another_workspace_may_have_the_same_id_and_may_do_nothing(
    home: str | None, asker: Asker, good: bool
) -> None:
    world = World(home=home)
    answered = world.answer(press("snooze", "30", asker))

    assert ("Snoozed" in answered) is good
    assert ("not for this workspace" in answered) is not good
    assert bool(world.store.entries) is good


def test_the_second_person_learns_who_was_faster_and_nothing_is_decided_twice() -> None:
    world = World()
    world.answer(press("snooze", "30", JANE))
    for second in (
        press("snooze", "7", JOE, at=NOW + DAY),
        dismissal(who=JOE),
        approve(JOE),
        press("snooze", "7", JANE, at=NOW + DAY),
    ):
        answered = world.answer(second)
        assert "Nothing was changed" in answered
        assert "Snoozed until 2026-12-16 by <@U0JANE>" in answered
        assert "16 Nov" in answered or "2026-11-16" in answered
    assert len(world.store.entries) == 1


def test_a_finding_that_is_resolved_cannot_be_decided() -> None:
    world = World([finding("f00d", status="resolved", resolved_at=NOW - DAY)])

    assert "Resolved on 2026-11-15" in world.answer(approve())
    assert "Resolved on 2026-11-15" in world.seen
    assert not world.store.entries


def test_an_unknown_finding_is_reported() -> None:
    world = World()
    world.store.findings.clear()

    assert "there is no finding f00d" in world.answer(press("snooze", "30"))


# -- Repeated requests


@pytest.mark.parametrize("asked", [press("snooze", "30"), dismissal(days=30), approve()])
def test_the_same_event_again_decides_nothing_and_says_the_same(asked: Asked) -> None:
    world = World()
    once, again = world.answer(asked), world.answer(asked)

    assert once == again
    assert len(world.store.entries) == 1


@pytest.mark.parametrize("asked", [press("snooze", "30"), dismissal(), approve()])
def test_the_same_event_after_it_was_taken_back_does_not_decide_again(asked: Asked) -> None:
    world = World()
    world.answer(asked)
    documents: Any = world.bucket
    Findings(store=world.store, documents=documents).store.write(
        Write(
            finding=replace(world.store.findings["f00d"], status="open", decision=None, revision=3),
            entry=replace(world.store.entries[0], who="joe", now="open", revision=3),
            expects=2,
        )
    )
    world.answer(asked)

    assert world.store.findings["f00d"].status == "open"
    assert len(world.store.entries) == 2
    assert "approve" in world.buttons()


@pytest.mark.parametrize("asked", [press("snooze", "30"), dismissal(), approve()])
@pytest.mark.parametrize("forgets", [False, True])
def test_an_answer_is_sent_once_however_often_the_message_update_fails(asked: Asked, forgets: bool) -> None:
    world = World()
    world.slack.faults = [DeliveryUnknownError("hang")] * 6
    for _ in range(2):
        with pytest.raises(UnfinishedError):
            world.answer(asked)
        if forgets:  # as in another process
            world.answered.clear()
    world.answer(asked)

    assert len(world.slack.answered) == 1
    assert world.slack.updates == 1
    assert not world.answered


def test_a_refusal_is_sent_once_however_often_the_message_update_fails() -> None:
    world = World()
    world.slack.faults = [DeliveryUnknownError("hang")] * 6
    for _ in range(2):
        with pytest.raises(UnfinishedError):
            world.answer(press("snooze", "30", EVE))
    world.answer(press("snooze", "30", EVE))

    assert ["Not allowed" in message.text for _, message in world.slack.answered] == [True]


def test_an_answer_that_slack_lost_is_sent_at_the_next_attempt() -> None:
    world = World()
    world.slack.deaf = [DeliveryUnknownError("hang")] * 3
    with pytest.raises(UnfinishedError, match="hang"):
        world.answer(approve())
    assert "Approved" in world.seen
    world.answer(approve())

    assert ["Approved by <@U0JANE>" in message.text for _, message in world.slack.answered] == [True]
    assert len(world.store.entries) == 1


def test_people_hear_before_the_message_changes() -> None:
    world = World()
    world.slack.meanwhile = lambda: world.pauses.append(len(world.slack.answered))
    world.answer(press("snooze", "30"))

    assert world.pauses == [1]


@pytest.mark.parametrize("asked", [press("snooze", "30"), dismissal(), approve()])
def test_a_decision_stays_valid_at_the_next_attempt_under_a_new_policy(asked: Asked) -> None:
    world = World()
    world.slack.faults = [DeliveryUnknownError("hang")] * 3
    with pytest.raises(UnfinishedError):
        world.answer(asked)
    world.policy, world.home = PolicyError([]), "T0OTHER"
    world.answer(asked)

    assert "by <@U0JANE>" in world.seen
    assert [("did not work" in message.text, "Not allowed" in message.text) for _, message in world.slack.answered] == [
        (False, False)
    ]


def test_a_table_error_after_decision_and_answer_is_not_reported_to_the_person() -> None:
    world = World()
    before = Slack.respond

    def respond(self: Slack, url: str, message: Message) -> None:
        before(self, url, message)
        world.store.broken = OSError("throttled")

    world.slack.respond = respond.__get__(world.slack)  # type: ignore[method-assign]
    with pytest.raises(OSError, match="throttled"):
        world.answer(press("snooze", "30"))
    world.store.broken = None
    world.slack.respond = before.__get__(world.slack)  # type: ignore[method-assign]
    world.answer(press("snooze", "30"))

    assert ["Snoozed" in message.text for _, message in world.slack.answered] == [True]
    assert "Snoozed" in world.seen


def test_an_audit_that_is_asked_for_twice_by_one_event_starts_once() -> None:
    world = World()
    assert world.answer(command("audit")) == world.answer(command("audit"))
    world.answer(command("audit", id="another"))

    assert len(world.runs.started) == 2


# -- Two people at once


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (approve(JANE), approve(JOE)),
        (press("snooze", "30", JANE), dismissal(who=JOE)),
        (approve(JANE), press("snooze", "7", JOE)),
    ],
)
def test_of_two_people_at_once_one_wins_both_are_answered_and_the_message_names_the_winner(
    one: Asked, other: Asked
) -> None:
    wins = {"U0JANE": 0, "U0JOE": 0}
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for turn in range(50):
            world = World()
            world.store.meet = threading.Barrier(2)
            answered: dict[str, str] = {}

            def answer(asked: Asked, world: World = world, answered: dict[str, str] = answered) -> None:
                answered[asked.asker.user] = world.answer(asked)

            threads = [
                threading.Thread(target=answer, args=(asked,)) for asked in ((one, other), (other, one))[turn % 2]
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(10)

            assert len(world.store.entries) == 1
            winner = world.store.entries[0].who.removeprefix("slack:")
            loser = ({"U0JANE", "U0JOE"} - {winner}).pop()
            assert "Nothing was changed" not in answered[winner]
            assert "Nothing was changed" in answered[loser]
            assert f"<@{winner}>" in answered[winner]
            assert f"<@{winner}>" in answered[loser]
            assert f"<@{winner}>" in world.seen
            assert f"<@{loser}>" not in world.seen
            assert world.buttons() == []
            wins[winner] += 1
    finally:
        sys.setswitchinterval(interval)
    assert sum(wins.values()) == 50


def test_an_update_that_lands_late_is_put_right() -> None:
    world = World([finding("f00d"), finding("beef")])
    # Joe decides about the other finding before Jane's update of the message arrives. His update arrives first.
    world.slack.meanwhile = lambda: world.answer(press("snooze", "7", JOE, "beef")) and None
    world.answer(press("snooze", "30", JANE))

    assert "by <@U0JANE>" in world.seen
    assert "by <@U0JOE>" in world.seen
    assert world.slack.updates == 3


def test_a_message_whose_findings_never_rest_is_left_for_another_time() -> None:
    world = World([finding("f00d"), finding("beef")])

    def again() -> None:
        known = world.store.findings["beef"]
        world.store.findings["beef"] = replace(known, status="cleaning" if known.status == "open" else "open")
        world.slack.meanwhile = again

    world.slack.meanwhile = again
    with pytest.raises(UnfinishedError, match="others keep deciding"):
        world.answer(press("snooze", "30", JANE))
    assert len(world.slack.answered) == 1


# -- Faults of Slack


def test_slack_is_retried_when_it_asks_for_it_and_after_an_unknown_delivery() -> None:
    world = World()
    world.slack.faults = [ChannelBusyError(3), DeliveryUnknownError("reset")]
    world.slack.deaf = [ChannelBusyError(2)]
    world.answer(press("snooze", "30"))

    assert world.pauses == [2, 3]
    assert world.slack.updates == 1
    assert len(world.slack.answered) == 1


@pytest.mark.parametrize("fault", [ChannelBusyError(11), DeliveryUnknownError("hang")])
def test_a_message_that_cannot_be_updated_now_is_updated_later_and_the_user_is_answered(fault: Exception) -> None:
    world = World()
    world.slack.faults = [fault] * 3
    with pytest.raises(UnfinishedError):
        world.answer(press("snooze", "30"))
    assert "Snoozed" in world.slack.answered[0][1].text
    assert world.slack.updates == 0
    assert not world.pauses

    world.slack.faults = []
    world.answer(press("snooze", "30"))
    assert "Snoozed" in world.seen
    assert len(world.store.entries) == 1


def test_a_message_that_is_gone_is_no_reason_to_try_again() -> None:
    world = World()
    world.slack.faults = [ChannelRefusedError("message_not_found")]

    assert "Snoozed" in world.answer(press("snooze", "30"))
    world.post = None
    assert "Nothing was changed" in world.answer(press("snooze", "30", JOE))
    assert world.slack.updates == 0


def test_a_press_before_the_post_is_known_to_have_arrived_is_done_and_shown_later() -> None:
    world = World()
    assert world.post
    world.post = replace(world.post, state="sending", sent=None)

    with pytest.raises(UnfinishedError, match="arrived"):
        world.answer(press("snooze", "30"))
    assert world.store.findings["f00d"].status == "snoozed"


def test_an_answer_that_cannot_be_sent_is_sent_later() -> None:
    world = World()
    world.slack.deaf = [DeliveryUnknownError("hang")] * 3
    with pytest.raises(UnfinishedError, match="hang"):
        world.answer(command("help"))

    world.slack.deaf = [ChannelRefusedError("used_url")]
    world.answer(command("help"))
    assert not world.slack.answered


@pytest.mark.parametrize("broken", [OSError("throttled"), AwsError("throttled"), AccessDeniedError("throttled")])
def test_an_error_is_raised_after_the_user_was_informed(broken: Exception) -> None:
    world = World()
    world.store.broken = broken
    for _ in range(3):
        with pytest.raises(type(broken), match="throttled"):
            world.answer(press("snooze", "30"))

    [(_, answered)] = world.slack.answered
    assert LATER in answered.text.replace("\u2060", "")
    assert "twice" not in answered.text  # nobody knows which attempt it is

    world.store.broken = None
    world.answer(press("snooze", "30"))
    assert ["Snoozed" in message.text for _, message in world.slack.answered] == [False, True]


def test_a_message_that_another_person_decides_meanwhile_with_the_same_status_is_changed_again() -> None:
    world = World()
    known = world.answer(press("snooze", "30")) and world.store.findings["f00d"]
    assert known.decision

    def other() -> None:
        assert known.decision
        world.store.findings["f00d"] = replace(known, decision=replace(known.decision, who="slack:U0JOE"))

    world.slack.meanwhile = other
    world.answer(press("snooze", "7", JOE, at=NOW + DAY))

    assert "by <@U0JOE>" in world.seen
    assert "by <@U0JANE>" not in world.seen


def test_a_finding_that_was_resolved_anew_is_shown_so() -> None:
    world = World([finding("f00d", status="resolved", resolved_at=NOW - DAY)])

    def later() -> None:
        world.store.findings["f00d"] = finding("f00d", status="resolved", resolved_at=NOW)

    world.slack.meanwhile = later
    world.answer(approve())

    assert "Resolved on 2026-11-16" in world.seen


@pytest.mark.parametrize(
    ("url", "origin", "good"),
    [
        (URL, None, True),
        ("http://127.0.0.1:99/response/one", "http://127.0.0.1:99", True),
        ("http://127.0.0.1:99/response/one", None, False),
        ("http://127.0.0.1:98/response/one", "http://127.0.0.1:99", False),
        ("http://hooks.slack.com/actions", None, False),
        ("https://hooks.slack.com.evil.test/actions", None, False),
        ("https://hooks.slack.com@evil.test/actions", None, False),
        ("https://evil.test/https://hooks.slack.com/", None, False),
        ("https://hooks.slack.com:8443/actions", None, False),
        ("http://[", None, False),
        ("", None, False),
        (None, None, False),
    ],
)
def test_answers_go_to_slack_and_to_nobody_else(url: str | None, origin: str | None, good: bool) -> None:
    world = World(origin=origin)
    world.answer(press("snooze", "30", response_url=url))

    assert [sent_to for sent_to, _ in world.slack.answered] == ([url] if good else [])
    assert world.store.findings["f00d"].status == "snoozed"


# -- Details, reports and the command


def test_details_are_the_findings_evidence_and_its_history() -> None:
    world = World()
    world.answer(press("snooze", "30"))
    updates = world.slack.updates
    answered = world.answer(press("details", who=EVE))

    assert "Idle for" in answered
    assert "by <@U0JANE>" in answered
    assert world.slack.updates == updates
    assert "there is no finding" in world.answer(press("details", "beef", about="beef"))


def ended(id: str, state: Any = "complete") -> AuditRecord:
    return AuditRecord(
        id=id, state=state, started_at=NOW - DAY, finished_at=None, request=AuditRequest(requested_by="weekly"),
        policy=None, outcome=None, error="broken" if state == "failed" else None,
    )  # fmt: skip


def test_the_report_is_a_link_to_the_newest_for_a_quarter_of_an_hour() -> None:
    world = World(runs=Runs((ended("tuesday", "running"), ended("monday"))), bucket=Bucket(("monday",)))
    world.answer(press("report", about="report"))

    assert "https://bucket/audits/monday/report.html?for=900" in json.dumps(world.slack.answered[0][1].blocks)
    assert "15 minutes" in world.slack.answered[0][1].text
    assert "no audit has left a report" in World().answer(press("report", about="report"))


def test_status_shows_the_last_audit_and_the_running_one() -> None:
    answered = World(runs=Runs((ended("tuesday", "running"), ended("monday", "failed")))).answer(command("status"))

    assert "failed: broken" in answered
    assert "1 finding" in answered
    assert "Running" in answered
    assert "Left today: 46.78 of 50.00 USD for metrics; 0 of 3 audits are running" in answered
    assert "none has ended yet" in World().answer(command("STATUS", EVE))


def test_where_viewers_are_named_others_may_not_read() -> None:
    world = World(runs=Runs((ended("monday"),)), policy=replace(POLICY, slack=SlackSection(viewers=["U0VIEW"])))
    viewer = replace(EVE, user="U0VIEW")

    for ask in (
        lambda who: command("status", who),
        lambda who: command("top", who),
        lambda who: press("details", who=who),
    ):
        assert "viewers does not name you" in world.answer(replace(ask(EVE), id="e"))
        assert "Not allowed" not in world.answer(replace(ask(viewer), id="v"))
    assert "Not allowed" not in world.answer(command("help", EVE))
    assert "Not allowed" not in world.answer(command("explain efs-idle", EVE))


def test_of_a_hundred_audits_requested_in_slack_three_run_and_the_others_learn_why() -> None:
    members = [replace(JANE, user=f"U0{number}") for number in range(5)]
    slack = POLICY.slack.model_copy(update={"auditors": [one.user for one in members]})
    world = World(policy=replace(POLICY, slack=slack))
    answered = [world.answer(command("audit", members[number % 5], f"t-{number}")) for number in range(100)]

    assert len(world.runs.started) == 3
    assert [one for one in answered[:3] if "No audit was started" in one] == []
    assert {one.split(": ")[1] for one in answered[3:]} == {answered[3].split(": ")[1]}
    assert all(id_ in answered[99] for id_ in world.runs.started)
    assert world.answer(command("audit", members[0], "t-0")) == answered[0]  # Lambda delivers it twice


def test_top_lists_as_many_findings_as_requested() -> None:
    world = World([finding(f"{number:x}") for number in range(30)])

    assert [
        world.answer(command(text)).count("•") or world.answer(command(text)).count("disk-")
        for text in ("top", "top 7")
    ] == [5, 7]
    for text in ("top 0", "top 21", "top -1", "top many", "top ٣", "top 9999"):
        assert "is no number from 1 to 20" in world.answer(command(text))


@pytest.mark.parametrize(
    ("text", "regions"),
    [("audit", ()), (f"audit {ACCOUNT}", ()), ("audit eu-west-1", ("eu-west-1",)),
     (f"Audit  {ACCOUNT} us-east-1 ", ("us-east-1",)), (f"audit us-east-1 {ACCOUNT}", ("us-east-1",))],
)  # fmt: skip
def test_an_audit_is_started_for_the_user(text: str, regions: tuple[str, ...]) -> None:
    world = World()
    answered = world.answer(command(text))

    [(audit_id, request)] = world.runs.started.items()
    assert request == AuditRequest(requested_by="slack:U0JANE", regions=regions)
    assert audit_id in answered
    assert "has started" in answered


@pytest.mark.parametrize(
    ("text", "answered"),
    [
        ("audit 210987654321", f"deployed in, {ACCOUNT}: the policy names no other"),
        ("audit eu-west-9", "no region 'eu-west-9'; did you mean eu-west-1?"),
        ("audit eu-west-1 us-east-1", "one account and one region"),
        (f"audit {ACCOUNT} {ACCOUNT}", "one account and one region"),
        ("audit a b c", "does not understand"),
        ("explain ebs-unatached", "did you mean ebs-unattached?"),
        ("explain", "does not understand"),
        ("dance <!channel>", "does not understand"),
        ("", "/slackwater status"),
        ("help", "/slackwater explain"),
    ],
)
def test_an_invalid_command_is_answered_with_the_usage(text: str, answered: str) -> None:
    world = World()

    assert answered in world.answer(command(text)).replace("\u2060", "").replace("ˍ", "_")
    assert "<!channel>" not in world.slack.answered[0][1].text
    assert not world.runs.started


def test_every_detector_is_explained() -> None:
    for id_ in registry():
        answered = World().answer(command(f"explain {id_.upper()}"))
        assert "What it finds" in answered


def test_an_unknown_button_and_an_unopened_form_are_reported() -> None:
    world = World()

    assert "expired" in world.answer(press("dismiss", "expired_trigger_id"))
    assert "another version" in world.answer(press("dance"))
    assert "another version" in world.answer(press("snooze", "31"))
    assert "another version" in world.answer(press("snooze", "٣"))
    assert not world.store.entries


# -- Text that people write


HOSTILE = st.text(max_size=300) | st.sampled_from(
    ["<!channel>", "@here", "*b* _i_ `c` <https://evil.test|x>", "\u202egnp.exe", "\0", "&lt;"]
)


@given(
    why=HOSTILE,
    text=HOSTILE,
    value=HOSTILE,
    action=st.sampled_from(["snooze", "approve", "dismiss", "details", "dance"]),
)
def test_whatever_people_write_is_answered_and_calls_nobody(why: str, text: str, value: str, action: str) -> None:
    asked: tuple[Asked, ...] = (
        dismissal(why),
        command(text),
        press(action, value, about=value),
        press(action, f"f00d:{value}"),
    )
    for one in asked:
        world = World()
        assert world.answer(one)
        shown: list[Message] = [world.slack.message, *(message for _, message in world.slack.answered)]
        for message in shown:
            assert "<!" not in message.text
            for part in mrkdwn_parts(message.blocks):
                assert "<!" not in part
                assert "<http" not in part


def mrkdwn_parts(blocks: Any) -> Iterator[str]:
    if isinstance(blocks, Mapping):
        if blocks.get("type") == "mrkdwn":
            yield str(blocks["text"])
        for value in blocks.values():
            yield from mrkdwn_parts(value)
    elif isinstance(blocks, list | tuple):
        for value in blocks:
            yield from mrkdwn_parts(value)
