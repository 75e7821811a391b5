"""The environment of a Notifier without AWS: audits with findings, an outbox, a clock and a policy."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from slackwater.app.audit.publish import changes_json
from slackwater.app.policy.stored import Policies
from slackwater.app.slack.notify import Notifier
from slackwater.engine.registry import registry
from slackwater.model import object_keys
from slackwater.model.audits import AuditOutcome, AuditRecord, AuditRequest
from slackwater.model.cleanup import Cleanup, Control
from slackwater.model.listing import Page
from slackwater.model.policy import Policy
from slackwater.model.policy_version import PolicyVersion
from slackwater.model.posts import Post
from slackwater.model.tracking import (
    SERVICE,
    FindingRecord,
    Happening,
    LedgerEntry,
    Status,
    TrackedResource,
    Write,
)
from slackwater.ports.slack import Channel
from slackwater.ports.store import Version

NOW = datetime(2026, 11, 16, 9, 7, 42, tzinfo=UTC)
ACCOUNT = "123456789012"


@dataclass
class FakeClock:
    """A clock that advances only in `sleep`."""

    now: datetime = NOW
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> datetime:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)


@dataclass
class MemoryOutbox:
    """An Outbox in a dictionary. With `behind`, its list is always one read behind, as an index may be."""

    posts: dict[str, Post] = field(default_factory=dict)
    behind: bool = False
    _listed: list[str] = field(default_factory=list)

    def record(self, posts: Sequence[Post]) -> None:
        for post in posts:
            self.posts.setdefault(post.id, post)

    def get(self, id: str) -> Post | None:
        return self.posts.get(id)

    def waiting(self) -> Iterator[Post]:
        now = sorted(self.posts, key=lambda one: (self.posts[one].created_at, _in_order(one)))
        shown, self._listed = (self._listed if self.behind else now), now
        return iter([self.posts[one] for one in shown if self.posts[one].state in {"pending", "sending"}])

    def write(self, post: Post) -> bool:
        if post.id not in self.posts or self.posts[post.id].revision != post.revision - 1:
            return False
        self.posts[post.id] = post
        return True


def _in_order(id: str) -> tuple[str, ...]:
    return tuple(part.zfill(4) for part in id.split("."))


@dataclass
class KeptCleanups:
    """A CleanupStore in a dictionary, for clean-ups that do not change their findings.

    A page has two clean-ups. If `broken` is set, `list` raises it.
    """

    cleanups: dict[str, Cleanup] = field(default_factory=dict)
    switch: Control = field(default_factory=Control)
    broken: Exception | None = None
    writes: int = 0

    def get(self, finding_id: str) -> Cleanup | None:
        return self.cleanups.get(finding_id)

    def write(self, cleanup: Cleanup, finding: Write | None = None) -> bool:
        assert finding is None
        known = self.cleanups.get(cleanup.finding_id)
        if cleanup.revision != (known.revision if known else 0) + 1:
            return False
        self.cleanups[cleanup.finding_id] = cleanup
        self.writes += 1
        return True

    def holder(self, arn: str) -> str | None:
        return next((id_ for id_, one in self.cleanups.items() if one.resource.arn == arn and not one.ended), None)

    def list(self, limit: int, cursor: str | None) -> Page[Cleanup]:
        if self.broken:
            raise self.broken
        start, every = int(cursor or 0), list(self.cleanups.values())
        return Page(items=tuple(every[start : start + 2]), cursor=str(start + 2) if start + 2 < len(every) else None)

    def control(self) -> Control:
        return self.switch

    def write_control(self, control: Control) -> bool:
        if control.revision != self.switch.revision + 1:
            return False
        self.switch = control
        return True


@dataclass
class Bucket:
    """Texts by key, with their versions, the oldest first."""

    texts: dict[str, list[str | None]] = field(default_factory=dict)

    def read(self, key: str, version: str | None = None) -> tuple[str, str] | None:
        versions = self.texts.get(key, [])
        which = len(versions) if version is None else int(version)
        text = versions[which - 1] if 0 < which <= len(versions) else None
        return None if text is None else (text, str(which))

    def has(self, key: str) -> bool:
        return self.read(key) is not None

    def write(self, key: str, text: str | None) -> str:
        self.texts.setdefault(key, []).append(text)
        return str(len(self.texts[key]))

    def write_once(self, key: str, text: str) -> bool:
        raise NotImplementedError

    def write_file(self, key: str, file: Path) -> None:
        raise NotImplementedError

    def read_file(self, key: str, file: Path) -> bool:
        raise NotImplementedError

    def versions(self, key: str) -> Iterable[Version]:
        texts = enumerate(self.texts.get(key, []), start=1)
        return [
            Version(str(number), NOW, None if text is None else len(text)) for number, text in reversed(list(texts))
        ]

    def link(self, key: str, for_seconds: int) -> str:
        raise NotImplementedError


@dataclass
class Audits:
    """The stored audits."""

    records: dict[str, AuditRecord] = field(default_factory=dict)

    def get(self, id: str) -> AuditRecord | None:
        return self.records.get(id)

    def claim(self, occasion: str, audit_id: str) -> str:
        raise NotImplementedError

    def begin(self, record: AuditRecord) -> bool:
        raise NotImplementedError

    def end(self, record: AuditRecord) -> bool:
        raise NotImplementedError

    def list(self, limit: int, cursor: str | None) -> Page[AuditRecord]:
        raise NotImplementedError


def sighting(id_: str = "f-1", usd: str | None = "12.30", **changes: Any) -> FindingRecord:
    resource = TrackedResource(
        arn=f"arn:{id_}",
        id=f"fs-{id_}",
        type="efs-file-system",
        name=f"data-{id_}",
        account=ACCOUNT,
        region="eu-west-1",
    )
    seen = FindingRecord(
        id=id_, detector="efs-idle", kind="waste", severity="medium", confidence="high", owner=None,
        summary=f"{id_} is idle", resource=replace(resource, **changes.pop("resource", {})),
        monthly_savings_usd=None if usd is None else Decimal(usd), fingerprint="a", deletes=True,
    )  # fmt: skip
    return replace(seen, **changes)


def entry(seen: FindingRecord, happening: Happening = "opened", **changes: Any) -> LedgerEntry:
    ends: dict[str, Status] = {"resolved": "resolved", "snoozed": "snoozed", "dismissed": "dismissed"}
    now = ends.get(happening, "open")
    was: Status | None = None if happening == "opened" else "open"
    made = LedgerEntry(
        happening=happening, at=NOW, who=SERVICE, was=was, now=now, why="new", revision=1, audit_id="a", evidence=seen
    )
    return replace(made, **changes)


def found(seen: FindingRecord) -> dict[str, Any]:
    """Return a finding record in the format of the scan document."""
    resource = seen.resource
    return {
        "id": seen.id, "detector": seen.detector, "severity": seen.severity, "kind": seen.kind,
        "confidence": seen.confidence,
        "resource": {
            "arn": resource.arn, "id": resource.id, "type": resource.type, "name": resource.name,
            "account": resource.account, "region": resource.region, "tags": {},
        },
        "owner": seen.owner, "summary": seen.summary, "evidence": [{"label": "Idle for", "value": 30, "unit": "days"}],
        "monthly_savings_usd": None if seen.monthly_savings_usd is None else f"{seen.monthly_savings_usd:.2f}",
        "price_basis": [],
        "recommendations": [
            {
                "action": "delete", "summary": "Delete it", "risk": "Its data is gone.", "reversible": False,
                "monthly_savings_usd": None if seen.monthly_savings_usd is None else f"{seen.monthly_savings_usd:.2f}",
            }
        ],
        "caveats": [], "fingerprint": seen.fingerprint,
    }  # fmt: skip


RECORD = AuditRecord(
    id="a",
    state="complete",
    started_at=NOW - timedelta(minutes=5),
    finished_at=NOW,
    request=AuditRequest(requested_by="schedule"),
    policy=None,
    outcome=AuditOutcome(
        targets=1, incomplete_targets=0, incomplete=(), gaps=0, findings=3, monthly_savings_usd=Decimal(40), unpriced=0,
        opened=3, changed=0, resolved=0, api_calls=3, metrics_requested=3, estimated_usd=Decimal("0.01"),
        incomplete_in_a_row=0,
    ),
    error=None,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPolicies(Policies):
    """Policies that read each version only once, because reading takes most of a test's time."""

    kept: dict[PolicyVersion, Policy] = field(default_factory=dict)

    def at(self, version: PolicyVersion, only: Collection[str] = ()) -> Policy:
        if version not in self.kept:
            self.kept[version] = Policies.at(self, version, only)
        return self.kept[version]


@dataclass
class World:
    """Everything around a Notifier. A policy applies to the audits that are added after it."""

    channel: Channel | None = None
    clock: FakeClock = field(default_factory=FakeClock)
    outbox: Any = field(default_factory=MemoryOutbox)
    bucket: Bucket = field(default_factory=Bucket)
    audits: Audits = field(default_factory=Audits)
    version: PolicyVersion | None = None

    def policy(self, text: str) -> None:
        import hashlib

        version = self.bucket.write(object_keys.POLICY, text)
        self.version = PolicyVersion(version=version, sha256=hashlib.sha256(text.encode()).hexdigest())

    def audit(
        self, id_: str, *entries: LedgerEntry, gaps: Sequence[Any] = (), waste: Any = None, **changes: Any
    ) -> AuditRecord:
        """Add an audit that ended now, with the findings that it changed. `waste` has the totals of waste findings."""
        record = replace(
            RECORD, id=id_, policy=self.version, started_at=self.clock.now, finished_at=self.clock.now, **changes
        )
        self.audits.records[id_] = record
        if record.state not in {"failed", "running"} or entries:
            findings: Any = [found(one.evidence) for one in entries if one.now != "resolved"]
            totals = {"by_kind": {"waste": waste} if waste else {}, "unknown": 0}
            document = {"scan": {"targets": [], "gaps": list(gaps)}, "findings": [], "unknown": [], "totals": totals}
            self.bucket.write(object_keys.head(id_), json.dumps(document))
            self.bucket.write(object_keys.changes(id_), "".join(changes_json(entries, findings)))
        return record

    def __post_init__(self) -> None:
        self.policies = KeptPolicies(
            documents=self.bucket,
            registry=registry(),
            place="s3://b/p",
            known_regions=lambda: (),
            enabled_regions=lambda: (),
        )

    def notifier(self, **changes: Any) -> Notifier:
        given = {
            "documents": self.bucket, "audits": self.audits, "policies": self.policies, "outbox": self.outbox,
            "channel": lambda: self.channel, "clock": self.clock, "sleep": self.clock.sleep,
        }  # fmt: skip
        return Notifier(**(given | changes))
