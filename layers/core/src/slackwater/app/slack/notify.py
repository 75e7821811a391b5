"""Posts an audit to Slack: a digest for each channel, which is recorded before it is sent.

Running it again records the same posts. Posts about clean-ups are already recorded. They are delivered with the audit's
posts, or alone.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice
from typing import Final

from pydantic import TypeAdapter

from slackwater.app.audit.publish import NoAuditError, changes_of
from slackwater.app.policy.file import PolicyError, parse_policy
from slackwater.app.policy.stored import Policies
from slackwater.app.slack.delivery import Delivery, Notified
from slackwater.engine.cleanup import approval_blocker
from slackwater.engine.routes import default, route
from slackwater.model import object_keys
from slackwater.model.audits import AuditRecord
from slackwater.model.findings import Gap
from slackwater.model.policy import Policy, SlackSection
from slackwater.model.posts import Message, Post
from slackwater.model.rank import rank
from slackwater.model.tracking import LedgerEntry
from slackwater.ports.clock import Clock
from slackwater.ports.slack import Channel, Outbox
from slackwater.ports.store import AuditStore, Documents
from slackwater.views.scan.document import ScanDocument, SomeTotals, TrendPointDocument
from slackwater.views.scan.organization import Organization, organized
from slackwater.views.slack.blocks import message_of
from slackwater.views.slack.digest import digest, nothing
from slackwater.views.slack.news import FindingChange, News

CHANGES: Final = TypeAdapter(list[FindingChange])

VERSIONS: Final = 10
"""How many versions of the policy to try if the audit's own cannot be read."""

LAG_S: Final = 2.0
"""Seconds between two reads of the list of waiting posts. One read may miss recent posts, so no post waits only if both
find none.
"""


class NoNewsError(Exception):
    """An audit has not ended, or did not store its changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifier:
    """Posts audits, with the adapters that this needs.

    Attributes:
        channel: Returns the channel. Called for each run, because the secret may have changed.
        cleans_up: Whether clean-up is deployed, so that approvals have an effect.
    """

    documents: Documents
    audits: AuditStore
    policies: Policies
    outbox: Outbox
    channel: Callable[[], Channel]
    clock: Clock
    sleep: Callable[[float], None]
    cleans_up: bool = False

    def notify(self, audit_id: str) -> Notified:
        """Record the posts of an audit, unless they are recorded, and deliver all waiting posts.

        The result has the problems of single posts.

        Raises:
            NoAuditError, NoNewsError: There is no such audit, or it has not ended.
            AwsError, SecretError: The audit, the posts or the secret cannot be read.
        """
        record = self.audits.get(audit_id)
        if record is None:
            raise NoAuditError(f"audit {audit_id} is not on record")
        policy = self._policy(record)
        channel = self.channel()
        posts, troubles = self._composed(record, policy, buttons=channel.can_read)
        self.outbox.record(posts)
        return self._delivery(policy, channel, troubles).deliver(audit_id, [post.id for post in posts])

    def deliver(self) -> Notified:
        """Deliver all waiting posts, and return how many of those that belong to no audit still wait.

        The result has the problems of single posts.

        Raises:
            AwsError, SecretError: The posts or the secret cannot be read.
        """
        delivery = self._delivery(self._newest(), self.channel(), [])
        notified = delivery.deliver(None)
        if notified.waiting:
            return notified
        self.sleep(LAG_S)
        return delivery.deliver(None)

    def _delivery(self, policy: Policy, channel: Channel, troubles: list[str]) -> Delivery:
        return Delivery(
            outbox=self.outbox,
            channel=channel,
            fallback=policy.slack.fallback_channel,
            clock=self.clock,
            sleep=self.sleep,
            default=default(policy.slack) if channel.can_read else None,
            troubles=troubles,
        )

    def _policy(self, record: AuditRecord) -> Policy:
        """Return the audit's policy. If it is invalid, which may be why the audit failed, the newest valid one."""
        if record.policy:
            try:
                return self.policies.at(record.policy)
            except PolicyError:
                pass
        return self._newest()

    def _newest(self) -> Policy:
        """Return the newest policy that is valid."""
        for version in islice(self.policies.history(), VERSIONS):
            try:
                if version.size_bytes is not None and (found := self.policies.pull(version.id)):
                    return parse_policy(found[0].removeprefix("\ufeff"), self.policies.place, self.policies.registry)
            except PolicyError:
                continue
        return parse_policy(None, self.policies.place, self.policies.registry)

    # -- News

    def _composed(self, record: AuditRecord, policy: Policy, *, buttons: bool) -> tuple[list[Post], list[str]]:
        """Return all posts of an audit, each channel's digest before its thread, and what cannot be posted."""
        routed = [one.channel for one in policy.slack.routes] if buttons else []
        channels = list(dict.fromkeys([default(policy.slack) if buttons else None, *routed]))
        stored = self._news_of_channels(record, policy, channels, buttons=buttons)
        posts, troubles = [], []
        for slot, (channel, news) in enumerate(zip(channels, stored, strict=True)):
            messages = _messages(news, f"{record.id}.{slot}.0", policy.slack, first=slot == 0)
            if messages and buttons and channel is None:
                troubles.append("the policy names no channel, so nothing was posted; set slack.channel")
                continue
            for n, message in enumerate(messages if buttons else messages[:1]):  # a webhook has no threads
                posts.append(_post(record, f"{record.id}.{slot}", n, channel, message))
        return posts, troubles

    def _news_of_channels(
        self, record: AuditRecord, policy: Policy, channels: Sequence[str | None], *, buttons: bool
    ) -> list[News]:
        """Return the news for each channel. An audit that failed may have stored only a part, or none."""
        if record.state == "running":
            raise NoNewsError(f"audit {record.id} has not ended")
        stored = self.documents.read(object_keys.changes(record.id))
        # `validate_json` needs twice the memory, because it keeps its own tree of the whole text.
        changes = (
            CHANGES.validate_python(json.loads(stored[0])) if stored else _previous_changes(self.documents, record.id)
        )
        gaps: tuple[Gap, ...] = ()
        unknown = 0
        waste: SomeTotals = {"findings": 0, "monthly_savings_usd": "0", "unpriced": 0}
        organization: Organization | None = None
        trend: tuple[TrendPointDocument, ...] = ()
        head = self.documents.read(object_keys.head(record.id))
        if changes is not None and head is not None:
            document: ScanDocument = json.loads(head[0])
            gaps = tuple(Gap(**gap) for gap in document["scan"]["gaps"])
            unknown = document["totals"].get("unknown", 0)
            waste = document["totals"]["by_kind"].get("waste", waste)
            organization, trend = organized(document), tuple(document["scan"].get("trend", ()))
        elif record.state != "failed":
            raise NoNewsError(f"audit {record.id} did not store its changes")
        of: dict[str | None, list[FindingChange]] = {channel: [] for channel in channels}
        approvable = set[str]()
        for change in sorted(changes or (), key=lambda change: rank(change.entry.evidence)):
            seen = change.entry.evidence
            of[(route(seen, policy.slack) if buttons else None) or channels[0]].append(change)
            if approval_blocker(seen, policy.cleanup) is None:
                approvable.add(seen.id)
        return [
            News(
                audit=record,
                new=tuple(change for change in of[channel] if change.kind == "new"),
                changed=tuple(change for change in of[channel] if change.kind == "changed"),
                gone=tuple(change.entry for change in of[channel] if change.kind == "gone"),
                others=sum(map(len, of.values())) - len(of[channel]),
                gaps=gaps,
                unknown=unknown,
                waste_usd=Decimal(waste["monthly_savings_usd"]),
                waste_unpriced=waste["unpriced"],
                top=policy.slack.top_findings,
                buttons=buttons,
                may_decide=buttons and bool(policy.slack.deciders),
                approvable=frozenset(approvable),
                grace_days=policy.cleanup.grace_days if self.cleans_up else None,
                organization=organization,
                trend=trend,
                people=policy.slack.people,
            )
            for channel in channels
        ]


def _previous_changes(documents: Documents, audit_id: str) -> list[FindingChange] | None:
    """Return the changes of an audit that an older version ended; None if it stored none.

    It can be removed one release after the one that adds `changes.json`: until then, a stack may update from a version
    that stores two documents instead.
    """
    stored, findings = map(documents.read, object_keys.previous_changes(audit_id))
    if stored is None:
        return None
    entries = TypeAdapter(list[LedgerEntry]).validate_json(stored[0])
    found = {one["id"]: one for one in json.loads(findings[0])} if findings else {}
    return [replace(change, found=found.get(change.entry.evidence.id)) for change in changes_of(entries)]


def fail_posts_without_slack(outbox: Outbox) -> int:
    """Fail posts that belong to no audit if there is no Slack, so that they do not wait forever; return how many."""
    given_up = 0
    for post in outbox.waiting():
        failed = replace(post, state="failed", why="there is no Slack", nowhere=True, revision=post.revision + 1)
        given_up += post.audit_id is None and outbox.write(failed)
    return given_up


def _messages(news: News, post_id: str, slack: SlackSection, *, first: bool) -> tuple[Message, ...]:
    """Return a channel's digest with its thread; without news, a line for the first channel, and nothing for others.

    If the policy sets `when_nothing_is_new` to "silence", a complete audit without news posts nothing. A failed or
    incomplete audit without news posts the line even then, because it cannot tell that nothing is new. The changes of
    a failed audit are posted like those of an incomplete one, below a line that says that it failed.
    """
    if news.new or news.changed or news.gone:
        if news.audit.state != "failed":
            return digest(news, post_id)
        failed = nothing(news)
        whole, *thread = digest(replace(news, audit=replace(news.audit, state="incomplete")), post_id)
        return (message_of(*failed.blocks, *whole.blocks), *thread)
    silent = slack.when_nothing_is_new == "silence" and news.audit.state == "complete"
    return () if silent or not first else (nothing(news),)


def _post(record: AuditRecord, prefix: str, n: int, channel: str | None, message: Message) -> Post:
    """Return the post of a message. It is the same each time, because its time is the end of the audit."""
    id_ = f"{prefix}.{n}"
    buttons = [block["block_id"] for block in message.blocks if block["type"] == "actions" and "block_id" in block]
    findings = [place.removeprefix(f"{prefix}.0/") for place in buttons if not place.endswith("/report")]
    return Post(
        id=id_,
        audit_id=record.id,
        created_at=record.finished_at or record.started_at,
        channel=channel,
        thread_of=f"{prefix}.0" if n else None,
        message=message,
        findings=tuple(dict.fromkeys(findings)),
    )
