"""People see each digest of 30 or 200 audits once, although calls fail and the Lambda is killed between calls.

A third of the calls fail. The server behaves and fails like Slack (tests/support/slack_server.py). The tests control
the clock. Audits end while others still deliver, and two runs can send the same posts at once.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from slackwater.model.posts import Post
from slackwater.slack.bot import BotChannel
from slackwater.slack.webhook import WebhookChannel
from support.slack_server import Fault, SeededFaults, SlackServer
from support.slack_world import MemoryOutbox, World, entry, sighting

ALL = 200
AUDITS = pytest.mark.parametrize("audits", [30, pytest.param(ALL, marks=pytest.mark.slow)])
"""The number of audits whose digests are sent. With ALL, every fault and every kill must happen several times."""
TIMEOUT_S = 0.1  # real time; must allow for a busy machine

POLICY = """
[slack]
channel = "C0DEFAULT"
fallback_channel = "C0FALLBACK"
top_findings = 1
deciders = ["U0123"]
[[slack.routes]]
channel = "G0PRIVATE"
owner = "storage"
[[slack.routes]]
channel = "C0ARCHIVED"
owner = "nobody"
"""

FAULTS = [
    Fault("busy", retry_after_s=2),
    Fault("busy", retry_after_s=40),
    Fault("refused", error="ratelimited"),
    Fault("refused", error="internal_error"),
    Fault("refused", after=True, error="internal_error"),
    Fault("refused", after=True, error="fatal_error"),
    Fault("500"),
    Fault("500", after=True),
    Fault("reset"),
    Fault("reset", after=True),
    Fault("hang"),
    Fault("hang", after=True),
    Fault("garbled", after=True),
    Fault("cut", after=True),
]
OF_A_WEBHOOK = [fault for fault in FAULTS if fault.kind not in {"refused", "garbled"}]
"""A webhook answers with one word, and its refusals are final."""


class Killed(BaseException):
    """The Lambda was killed. Nothing catches this."""


@dataclass
class Fate:
    """What happens at each point between the calls: nothing, a kill, or another run at the same time."""

    seed: int
    other: Callable[[], None] = lambda: None
    kills: Counter[str] = field(default_factory=Counter)
    others: int = 0
    _inside: bool = False

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def __call__(self, point: str) -> None:
        drawn = self._random.random()
        if drawn < 0.04:
            self.kills[point] += 1
            raise Killed(point)
        if drawn > 0.97 and not self._inside:
            self._inside = True
            try:
                self.other()
                self.others += 1
            except Killed:
                pass
            finally:
                self._inside = False


@dataclass
class Mortal:
    """An outbox or a channel. `fate` decides what happens before and after each call of it."""

    of: object
    fate: Fate
    calls: frozenset[str]

    def __getattr__(self, name: str):
        attribute = getattr(self.of, name)
        if name not in self.calls:
            return attribute

        def call(*arguments):
            self.fate(f"before {name}")
            result = attribute(*arguments)
            self.fate(f"after {name}")
            return result

        return call


def audited(world: World, number: int, rng: random.Random) -> str:
    """End another audit, with a random number of findings."""
    owners = [None, "storage", "nobody"]
    seen = [
        sighting(f"f-{number}-{one}", usd=f"{rng.randint(1, 900)}", owner=rng.choice(owners))
        for one in range(rng.choice([0, 1, 2, 14]))
    ]
    gone = [entry(sighting(f"f-{number}-gone"), "resolved", revision=2)] if number % 5 == 0 else []
    return world.audit(f"audit-{number:03d}", *map(entry, seen), *gone).id


def expected(world: World, audit_ids: list[str]) -> list[Post]:
    """Return the posts that an undisturbed outbox would hold."""

    class Sends:
        can_read = world.channel.can_read

        def send(self, post, thread):
            raise AssertionError

    outbox = MemoryOutbox()
    for audit_id in audit_ids:
        record = world.audits.records[audit_id]
        one = world.notifier(channel=Sends)
        posts, troubles = one._composed(record, one._policy(record), buttons=Sends.can_read)
        assert not troubles
        outbox.record(posts)
    return list(outbox.posts.values())


@dataclass
class Run:
    """Several audits. Each notifies until no post waits. New ones end while others still notify."""

    world: World
    seed: int
    audits: int
    fate: Fate = field(init=False)
    troubles: list[str] = field(default_factory=list)
    turns: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.fate = Fate(self.seed, self._other)
        self.live: list[str] = []

    def go(self) -> list[str]:
        ended = [audited(self.world, 0, self.random)]
        self.live = [*ended]
        while self.live:
            if len(ended) < self.audits and (len(self.live) < 2 or self.random.random() < 0.2):
                ended.append(audited(self.world, len(ended), self.random))
                self.live.append(ended[-1])
            audit_id = self.random.choice(self.live)
            self._turn(audit_id)
            assert self.turns[audit_id] < 500, "it must come to an end"
        return ended

    def _turn(self, audit_id: str) -> None:
        self.turns[audit_id] += 1
        try:
            notified = self._notify(audit_id)
        except Killed:  # Step Functions retries some time later
            self.world.clock.sleep(self.random.choice([1, 2, 30, 90]))
            return
        self.troubles += notified.troubles
        assert notified.waiting == 0 or 1 <= notified.wait_s <= 900
        if notified.waiting == 0:
            self.live.remove(audit_id)
            assert notified.wait_s == 0
        self.world.clock.sleep(notified.wait_s)

    def _notify(self, audit_id: str):
        outbox = Mortal(self.world.outbox, self.fate, frozenset({"record", "write"}))
        channel = Mortal(self.world.channel, self.fate, frozenset({"send", "find"}))
        return self.world.notifier(outbox=outbox, channel=lambda: channel).notify(audit_id)

    def _other(self) -> None:
        """Let another Lambda process the same posts while this one is between two calls."""
        self.troubles += self._notify(self.random.choice(self.live)).troubles


@pytest.fixture
def slack(monkeypatch) -> Iterator[SlackServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with SlackServer(page=3) as running:
        yield running


def met(faults: SeededFaults, run: Run, kinds: list[Fault], points: set[str], least: int) -> None:
    """Check that faults and kills happened. With ALL audits, each kind of both must happen several times."""
    assert faults.drawn.total() > 10
    assert run.fate.kills
    if run.audits < ALL:
        return
    assert set(faults.drawn) == {(fault.kind, fault.after) for fault in kinds}
    assert min(faults.drawn.values()) >= least, faults.drawn
    assert 0.28 < faults.drawn.total() / faults.calls < 0.38
    assert {f"{when} {what}" for when in ("before", "after") for what in points} <= set(run.fate.kills)
    assert min(run.fate.kills.values()) >= 3, run.fate.kills
    assert run.fate.others >= 30


@AUDITS
def test_with_a_bots_token_every_digest_and_every_thread_is_there_exactly_once_and_in_order(slack, audits: int) -> None:
    world = World(outbox=MemoryOutbox(behind=True))
    world.channel = BotChannel(slack.bot_token, base_url=slack.url, timeout_s=TIMEOUT_S)
    world.policy(POLICY)
    slack.clock = lambda: world.clock.now.timestamp() - 4  # Slack's clock is behind ours
    slack.lag_s = 30  # the history shows a message late
    slack.faults = faults = SeededFaults(7, 1 / 3, FAULTS)
    run = Run(world, seed=11, audits=audits)
    ended = run.go()

    posts = expected(world, ended)
    seen = [(channel, message) for channel in slack.channels.values() for message in channel.messages]
    arrived = Counter(message.metadata["event_payload"]["id"] for _, message in seen)
    assert arrived == Counter(post.id for post in posts)  # none is missing or duplicated
    by_id = {message.metadata["event_payload"]["id"]: (channel.id, message) for channel, message in seen}
    for post in posts:
        channel, message = by_id[post.id]
        assert channel == {"C0ARCHIVED": "C0FALLBACK"}.get(post.channel, post.channel)
        assert message.text.endswith(post.message.text)
        assert message.thread_ts == (by_id[post.thread_of][1].ts if post.thread_of else None)
    for channel in slack.channels.values():
        for digest in channel.seen():
            ids = [message.metadata["event_payload"]["id"] for message in channel.seen(digest.ts)]
            assert ids == sorted(ids)
    stored = world.outbox.posts
    assert {post.state for post in stored.values()} == {"sent"}
    assert {post.id: (post.sent.channel, post.sent.ts) for post in stored.values()} == {
        id_: (channel, message.ts) for id_, (channel, message) in by_id.items()
    }
    assert run.troubles == []
    met(faults, run, FAULTS, {"record", "write", "send", "find"}, least=20)
    assert len(ended) == audits
    assert len([post for post in posts if post.thread_of]) > audits
    assert len(slack.channels["C0FALLBACK"].seen()) > audits // 7


@AUDITS
def test_by_webhook_every_digest_is_there_at_least_once(slack, audits: int) -> None:
    world = World(outbox=MemoryOutbox(behind=True), channel=WebhookChannel(slack.webhook_url, timeout_s=TIMEOUT_S))
    world.policy(POLICY)
    slack.faults = faults = SeededFaults(3, 1 / 3, OF_A_WEBHOOK)
    run = Run(world, seed=5, audits=audits)
    ended = run.go()

    posts = expected(world, ended)
    seen = Counter(message.text for message in slack.channels["C0DEFAULT"].messages)
    assert set(seen) == {post.message.text for post in posts}
    assert len(posts) == audits
    assert seen.total() > audits + (20 if audits == ALL else 0)  # some digests arrive twice, as the documentation says
    assert {post.state for post in world.outbox.posts.values()} == {"sent"}
    assert run.troubles == []
    met(faults, run, OF_A_WEBHOOK, {"record", "write", "send"}, least=5)
