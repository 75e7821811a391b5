"""The Slack messages of the demo, as the service would send them.

Every finding is new, and the policy allows every button. The only difference is a line above the first message, which
says that the account is simulated.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from slackwater.engine.cleanup import approval_blocker
from slackwater.engine.merge import merge_one
from slackwater.model.audits import AuditOutcome, AuditRecord, AuditRequest
from slackwater.model.findings import Gap
from slackwater.model.policy import CleanupSection, SlackSection
from slackwater.model.rank import rank
from slackwater.model.tracking import LedgerEntry, TargetReport
from slackwater.views.api.to_json import finding_record
from slackwater.views.scan.document import ScanDocument, SomeTotals
from slackwater.views.slack.blocks import message_of, small
from slackwater.views.slack.digest import digest
from slackwater.views.slack.news import FindingChange, News

SLACK: Final = SlackSection(channel="C0STORAGE", deciders=["U0OPERATOR"])


def messages(doc: ScanDocument, now: datetime, notice: str) -> list[Mapping[str, Any]]:
    """Return the messages, each with its channel and whether it belongs to the thread of the first.

    The first message begins with `notice`. The same scan gives the same messages.
    """
    audit = _audit(doc, now)
    first, *thread = digest(_news(doc, audit, now), f"{audit.id}.0.0")
    posts = (message_of(small(notice), *first.blocks), *thread)
    return [
        {"channel": SLACK.channel, "thread": number > 0, "message": {"text": post.text, "blocks": list(post.blocks)}}
        for number, post in enumerate(posts)
    ]


def _news(doc: ScanDocument, audit: AuditRecord, now: datetime) -> News:
    found = {finding["id"]: finding for finding in doc["findings"]}
    entries = sorted(_opened(doc, audit.id, now), key=lambda entry: rank(entry.evidence))
    cleanup = CleanupSection(
        accounts=sorted({target["account"] for target in doc["scan"]["targets"]}),
        regions=sorted({target["region"] for target in doc["scan"]["targets"]}),
        resource_types=["ebs-volume", "efs-file-system", "fsx-file-system"],
        detectors=sorted({finding["detector"] for finding in doc["findings"]}),
        approvers=SLACK.deciders,
    )
    nothing: SomeTotals = {"findings": 0, "monthly_savings_usd": "0", "unpriced": 0}
    waste = doc["totals"]["by_kind"].get("waste", nothing)
    return News(
        audit=audit,
        new=tuple(FindingChange(kind="new", entry=entry, found=found[entry.evidence.id]) for entry in entries),
        changed=(),
        gone=(),
        others=0,
        gaps=tuple(Gap(**gap) for gap in doc["scan"]["gaps"]),
        unknown=len(doc["unknown"]),
        waste_usd=Decimal(waste["monthly_savings_usd"]),
        waste_unpriced=waste["unpriced"],
        top=SLACK.top_findings,
        buttons=True,
        may_decide=bool(SLACK.deciders),
        approvable=frozenset(
            entry.evidence.id for entry in entries if approval_blocker(entry.evidence, cleanup) is None
        ),
        grace_days=cleanup.grace_days,
    )


def _opened(doc: ScanDocument, audit_id: str, now: datetime) -> list[LedgerEntry]:
    """Return the first ledger entry of every finding."""
    nothing_known = TargetReport(
        account="", region="", complete=True, detectors=frozenset(), records=(), unknown=frozenset()
    )
    writes = (merge_one(None, finding_record(finding), nothing_known, audit_id, now) for finding in doc["findings"])
    return [write.entry for write in writes if write and write.entry]


def _audit(doc: ScanDocument, now: datetime) -> AuditRecord:
    """Return the record of an audit with the demo's results."""
    head, totals = doc["scan"], doc["totals"]
    incomplete = sum(not target["complete"] for target in head["targets"])
    return AuditRecord(
        id=f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-demo",
        state="incomplete" if incomplete else "complete",
        started_at=now,
        finished_at=now,
        request=AuditRequest(requested_by="demo"),
        policy=None,
        outcome=AuditOutcome(
            targets=len(head["targets"]),
            incomplete_targets=incomplete,
            incomplete=(),
            gaps=len(head["gaps"]),
            findings=totals["findings"],
            monthly_savings_usd=Decimal(totals["monthly_savings_usd"]),
            unpriced=totals["unpriced"],
            opened=totals["findings"],
            changed=0,
            resolved=0,
            api_calls=sum(head["usage"]["api_calls"].values()),
            metrics_requested=head["usage"]["metrics_requested"],
            estimated_usd=Decimal(head["usage"]["estimated_usd"]),
            incomplete_in_a_row=0,
        ),
        error=None,
    )
