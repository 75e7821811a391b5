"""Write the JSON of every kind of Slack message, with invented findings: `python tools/slack_messages.py DIR`."""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, cast
from unicodedata import category

from slackwater.engine.registry import documentation, registry
from slackwater.model.audits import AuditOutcome, AuditRecord, AuditRequest, IncompleteTarget
from slackwater.model.cleanup import (
    ActorNote,
    Backup,
    BackupState,
    Cleanup,
    Removal,
    Restored,
    Subject,
    SubResource,
    Tagging,
)
from slackwater.model.findings import Gap
from slackwater.model.listing import Page
from slackwater.model.posts import Message
from slackwater.model.settings import VolumeSetting
from slackwater.model.tracking import Decided, Decision, FindingRecord, LedgerEntry, TrackedFinding, TrackedResource
from slackwater.views.scan.document import FindingDocument, ScanDocument, SomeTotals, TrendPointDocument
from slackwater.views.scan.organization import organized
from slackwater.views.slack import answers
from slackwater.views.slack.cleanup import Case, cleanup_message, over_cap
from slackwater.views.slack.decided import decided
from slackwater.views.slack.digest import digest
from slackwater.views.slack.finding import total_waste
from slackwater.views.slack.modals import dismissal
from slackwater.views.slack.news import FindingChange, News
from slackwater.views.text.words import count

NOW: Final = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
AUDIT: Final = "20261116T090000Z-5f3c2a1b"
POST: Final = f"{AUDIT}.0.0"
ACCOUNT: Final = "123456789012"
DECIDER: Final = "slack:U0123ABCDEF"
PEOPLE: Final = {"video": "U0VIDEO", "platform": "S0PLATFORM"}
"""Slack ids of users and user groups by owner."""

HOSTILE: Final = {
    "<!channel> <img src=x onerror=alert(1)>": "@here",
    "*bold* _slanted_ ~gone~ `code` ```block``` :tada:": "<@U0123ABCDEF>",
    "n" * 300: "https://evil.example www.evil.example #general",
    "מחיר: 100 \u202eשקל": "\u200bzero\u200bwidth\u2060",
    "two\nlines\r\n\x1b[31mred": "🚀 rocket",
}
"""Malicious names, each with an owner."""

KINDS: Final[tuple[tuple[Any, ...], ...]] = (
    (
        "ebs-unattached",
        "waste",
        "medium",
        "ebs-volume",
        "vol",
        "scratch",
        "500 GiB gp3 on no instance for {n} days",
        "54.00",
    ),
    (
        "efs-idle",
        "waste",
        "high",
        "efs-file-system",
        "fs",
        "archive",
        "1,024 GiB and not one client in {n} days",
        "368.64",
    ),
    (
        "ec2-network-throttled",
        "performance",
        "high",
        "ec2-instance",
        "i",
        "ingest",
        "Network throttled for {n} h",
        "-61.32",
    ),
    ("fsx-oversized", "waste", "low", "fsx-file-system", "fs", "shares", "12 % of 1,024 GiB used in {n} days", None),
)
"""Detector, kind, severity, resource type, prefix of the resource id, name, summary, saving in US dollars a month."""


FIXES: Final = {
    "ebs-unattached": "Ask the owner; back it up, wait until the backup is completed, delete it.",
    "efs-idle": "Ask the owner; make a recovery point, then delete the file system.",
    "ec2-network-throttled": "Change it to m6i.2xlarge, whose baseline carries the load.",
    "fsx-oversized": "Move the files to a file system of 160 GiB.",
}
"""The first recommendation of each detector."""

SIZES: Final = {"ebs-volume": 500 << 30, "efs-file-system": 1 << 40, "fsx-file-system": 1 << 40}
"""Bytes of the resources that are cleaned up; their summaries state the same sizes."""


def finding_record(number: int) -> FindingRecord:
    """Return an invented finding. The same number gives the same finding."""
    detector, kind, severity, type_, prefix, name, summary, usd = KINDS[number % len(KINDS)]
    id_ = f"{prefix}-{number * 7919 + 1:017x}"
    return FindingRecord(
        id=f"{number:016x}",
        detector=detector,
        kind=kind,
        severity=severity,
        confidence="high" if number % 3 else "medium",
        resource=TrackedResource(
            arn=f"arn:aws:invented:eu-west-1:{ACCOUNT}:{type_}/{id_}",
            id=id_,
            type=type_,
            name=f"{name}-{number:02}",
            account=ACCOUNT,
            region=("eu-west-1", "ap-northeast-1")[number % 2],
        ),
        owner=("video", "platform", None)[number % 3],
        summary=summary.format(n=36 + number % 60),
        monthly_savings_usd=None if usd is None else Decimal(usd),
        fingerprint=f"{number * 7919:016x}",
    )


def entry(seen: FindingRecord, why: str = "new", **changes: Any) -> LedgerEntry:
    """Return a change of a finding: its opening, unless `changes` has other values."""
    opened = {
        "happening": "opened",
        "at": NOW,
        "who": "slackwater",
        "was": None,
        "now": "open",
        "revision": 1,
        "audit_id": AUDIT,
    }
    return LedgerEntry(**{**opened, **changes}, why=why, evidence=seen)


def found(seen: FindingRecord) -> FindingDocument:
    """Return the finding's entry in a scan document."""
    usd = None if seen.monthly_savings_usd is None else f"{seen.monthly_savings_usd:.2f}"
    resource = seen.resource
    return {
        "id": seen.id,
        "detector": seen.detector,
        "severity": seen.severity,
        "kind": seen.kind,
        "confidence": seen.confidence,
        "resource": {
            "arn": resource.arn,
            "id": resource.id,
            "type": resource.type,
            "name": resource.name,
            "account": resource.account,
            "region": resource.region,
            "tags": {"Name": resource.name},
        },
        "owner": seen.owner,
        "summary": seen.summary,
        "evidence": [
            {"label": "Size", "value": 500, "unit": "GiB"},
            {
                "label": "Operations by day",
                "value": 0,
                "unit": "operations",
                "series": {"start": "2026-10-17T00:00:00Z", "period_s": 86_400, "values": [0.0] * 30},
            },
            {"label": "Created", "value": "2025-07-04", "unit": "date"},
        ],
        "monthly_savings_usd": usd,
        "price_basis": [],
        "recommendations": [
            {
                "action": "back-up-and-delete",
                "summary": FIXES.get(seen.detector, FIXES["ebs-unattached"]),
                "monthly_savings_usd": usd,
                "risk": "The backup is billed as long as it is kept; what is made of it has a new id.",
                "reversible": True,
                "command": f"aws ec2 create-snapshot --region {resource.region} --volume-id {resource.id}",
            },
            {
                "action": "keep",
                "summary": "Keep it, and tag it keep.",
                "monthly_savings_usd": "0.00",
                "risk": "It is paid for as before.",
                "reversible": True,
            },
        ],
        "caveats": ["What was asked of it in the last minutes is not published yet."],
        "fingerprint": seen.fingerprint,
    }


def change(seen: FindingRecord, why: str = "new") -> FindingChange:
    """Return the change of a finding that is new, or changed if there is another reason."""
    return FindingChange(kind="new" if why == "new" else "changed", entry=entry(seen, why), found=found(seen))


def audit(**outcome: Any) -> AuditRecord:
    """Return an audit that has ended: complete, unless `outcome` has other values."""
    ended = {
        "targets": 4,
        "incomplete_targets": 0,
        "incomplete": (),
        "gaps": 0,
        "findings": 54,
        "monthly_savings_usd": Decimal("4391.08"),
        "unpriced": 3,
        "opened": 0,
        "changed": 0,
        "resolved": 0,
        "api_calls": 97,
        "metrics_requested": 3_120,
        "estimated_usd": Decimal("0.0312"),
        "incomplete_in_a_row": 0,
    }
    return AuditRecord(
        id=AUDIT,
        state="incomplete" if outcome.get("incomplete_targets") else "complete",
        started_at=NOW,
        finished_at=NOW + timedelta(minutes=3),
        request=AuditRequest(requested_by="schedule", occasion="weekly/2026-11-16T09:00:00Z"),
        policy=None,
        outcome=AuditOutcome(**{**ended, **outcome}),
        error=None,
    )


def news(findings: int, **changes: Any) -> News:
    """Return news with this number of new findings, for a channel with buttons. `changes` replaces values.

    The highest saving comes first. The audit found exactly these findings, unless the number is 0. The policy allows
    approvals only for unattached volumes.
    """
    seen = sorted(map(finding_record, range(findings)), key=lambda one: (-(one.monthly_savings_usd or 0), one.id))
    new = tuple(map(change, seen))
    usd, unpriced = total_waste((one.entry.evidence, one.found) for one in new) if new else (Decimal("4391.08"), 3)
    defaults = {
        "audit": audit(**({"findings": findings} if findings else {})),
        "waste_usd": usd,
        "waste_unpriced": unpriced,
        "new": new,
        "changed": (),
        "gone": (),
        "others": 0,
        "gaps": (),
        "unknown": 0,
        "top": 5,
        "buttons": True,
        "may_decide": True,
        "grace_days": 30,
    }
    given = {**defaults, **changes}
    seen = [one.entry.evidence for one in (*given["new"], *given["changed"])]
    return News(**{"approvable": frozenset(one.id for one in seen if one.detector == "ebs-unattached"), **given})


def incomplete() -> dict[str, Any]:
    """Return changes of `news` for an incomplete audit."""
    why = "ec2:DescribeVolumes: UnauthorizedOperation: not authorized to perform this operation"
    target = IncompleteTarget(account=ACCOUNT, region="eu-west-1", why=why)
    return {
        "audit": audit(incomplete_targets=1, incomplete=(target,), gaps=2, incomplete_in_a_row=3),
        "gaps": (
            Gap(ACCOUNT, "eu-west-1", "ec2:DescribeVolumes", "UnauthorizedOperation: not authorized"),
            Gap(ACCOUNT, "eu-west-1", "pricing:GetProducts", "AccessDenied", optional=True),
        ),
        "unknown": 17,
    }


def organization(accounts: int = 1_000, denied: int = 7) -> dict[str, Any]:
    """Return changes of `news` for an audit of an organization that had an earlier audit.

    The audit could not access `denied` of its accounts.
    """
    others = [f"{200_000_000_000 + number}" for number in range(accounts - 1)]
    blind = [f"{300_000_000_000 + number}" for number in range(denied)]
    why = "AccessDenied: not authorized to perform: sts:AssumeRole"
    names = {ACCOUNT: "media-live", **{id_: f"team-{id_[-3:]}" for id_ in (*others[denied:], *blind)}}
    units = ("Root/Media/Production", "Root/Media/Staging", "Root/Research", "Root/Sandbox")
    spent = {id_: Decimal(4_000 - 90 * place) for place, id_ in enumerate([ACCOUNT, *others[denied:]][:38])}
    gaps = tuple(Gap(id_, "eu-west-1", "sts:AssumeRole", why) for id_ in blind)
    head = {
        "accounts": [
            {"id": id_, "name": name, "organizational_unit": units[place % len(units)]}
            for place, (id_, name) in enumerate(names.items())
        ],
        "targets": [{"account": id_, "region": "eu-west-1", "complete": id_ not in blind} for id_ in names],
        "gaps": [asdict(gap) for gap in gaps],
    }
    by_account = {
        id_: SomeTotals(findings=2, monthly_savings_usd=f"{usd:.2f}", unpriced=0) for id_, usd in spent.items()
    }
    return {
        "audit": audit(
            targets=len(names),
            incomplete_targets=denied,
            findings=76,
            monthly_savings_usd=sum(spent.values(), Decimal(0)),
        ),
        "gaps": gaps,
        "waste_usd": sum(spent.values(), Decimal(0)),
        "waste_unpriced": 0,
        "organization": organized(cast("ScanDocument", {"scan": head, "totals": {"by_account": by_account}})),
        "trend": (
            TrendPointDocument(
                audit_id="20261109T090000Z-0b1c2d3e",
                as_of="2026-11-09T09:00:00Z",
                complete=True,
                findings=73,
                monthly_savings_usd=f"{sum(spent.values(), Decimal(120)):.2f}",
            ),
        ),
    }


def failed() -> AuditRecord:
    """Return an audit that failed."""
    error = "No target could be scanned: sts:AssumeRole: AccessDenied: not authorized"
    return replace(audit(), state="failed", outcome=None, error=error)


def gone() -> tuple[LedgerEntry, ...]:
    """Return the findings that were resolved since the previous audit."""
    whys = ("no longer flagged", "no longer flagged", "kept by a tag")
    return tuple(
        entry(finding_record(number), why, happening="resolved", was="open", now="resolved", revision=2)
        for number, why in enumerate(whys, start=100)
    )


def resolved() -> tuple[LedgerEntry, ...]:
    """Return more findings that were resolved."""
    return tuple(
        entry(finding_record(number), "no longer flagged", happening="resolved", was="open", now="resolved", revision=2)
        for number in range(110, 114)
    )


def hostile() -> tuple[FindingChange, ...]:
    """Return findings with malicious names and tags."""
    return tuple(
        change(
            replace(
                seen,
                owner=owner,
                summary=f"500 GiB of {name[:200]} on no instance",
                resource=replace(seen.resource, name=name),
            )
        )
        for seen, (name, owner) in zip(map(finding_record, range(0, 20, 4)), HOSTILE.items(), strict=True)
    )


def tracked(seen: FindingRecord, decision: Decision | None = None, **changes: Any) -> TrackedFinding:
    """Return a stored finding: open, or with the status of the decision."""
    known = {
        "status": decision.status if decision else "open",
        "opened_at": NOW,
        "last_seen_at": NOW,
        "resolved_at": None,
        "audit_id": AUDIT,
        "revision": 2 if decision else 1,
    }
    return TrackedFinding(sighting=seen, decision=decision, **{**known, **changes})


def decision(status: Decided, why: str = "", days: int | None = None) -> Decision:
    """Return a decision one hour after the audit, for a number of days; None is for good."""
    at = NOW + timedelta(hours=1)
    until = None if days is None else at + timedelta(days=days)
    return Decision(
        status=status, who=DECIDER, why=why, at=at, until=until, fingerprint="f" if status == "approved" else None
    )


def cleanup(seen: FindingRecord, **changes: Any) -> Cleanup:
    """Return a clean-up right after its resource was tagged. `changes` replaces values."""
    marked_at = NOW + timedelta(hours=1)
    begun = {
        "finding_id": seen.id,
        "attempt": 1,
        "execution": f"{seen.id}-1",
        "detector": seen.detector,
        "resource": seen.resource,
        "owner": seen.owner,
        "fingerprint": seen.fingerprint,
        "setting": seen.setting,
        "requested_by": DECIDER,
        "started_at": marked_at,
        "promised_monthly_usd": seen.monthly_savings_usd,
        "stage": "waiting",
        "born_at": NOW - timedelta(days=500),
        "size_bytes": SIZES[seen.resource.type],
        "marked": Tagging(at=marked_at, act_after=marked_at + timedelta(days=0 if seen.setting else 30), tagged=True),
    }
    return Cleanup(**{**begun, **changes})


def backup(of: str, id_: str | None, state: BackupState = "verified", size_bytes: int = 500 << 30) -> Backup:
    """Return a backup that was created after the grace period."""
    at = NOW + timedelta(days=30)
    return Backup(
        subject=Subject(id=of, size_bytes=size_bytes),
        token="t",  # noqa: S106 -- a name
        asked_at=at,
        expires_at=at + timedelta(days=90),
        state=state,
        id=id_,
    )


def case(cleanup: Cleanup, seen: FindingRecord, finding: TrackedFinding | None = None, **changes: Any) -> Case:
    """Return a clean-up with its finding, for a policy that allows every button."""
    given = {
        "post_id": f"cleanup.{seen.id}.1",
        "cleanup": cleanup,
        "finding": finding or tracked(seen),
        "backup_days": 90,
        "approval_days": 7,
        "keep_tag": "keep",
        "may_decide": True,
        "may_approve": True,
        "may_stop": True,
    }
    return Case(**{**given, **changes})


def cleanups() -> dict[str, tuple[str, Message]]:
    """Return the messages about clean-ups: title and message by name."""
    volume, archive = finding_record(0), finding_record(1)
    shares = replace(
        finding_record(3),
        detector="fsx-idle",
        confidence="high",
        summary="FSx for OpenZFS, 1,024 GiB, and not one client in 42 days",
    )
    job = replace(
        finding_record(1),
        detector="efs-abandoned",
        summary="1,024 GiB of a job (Job=render-7), and not one client in 72 hours",
    )
    gp3 = VolumeSetting(volume_type="gp3", iops=3_000, throughput_mib_s=125)
    dated = replace(
        finding_record(4),
        detector="ebs-outdated-type",
        summary="500 GiB gp2: gp3 would do",
        fingerprint="2",
        setting=gp3,
    )
    gp2 = VolumeSetting(volume_type="gp2", iops=None, throughput_mib_s=None)
    yes = decision("approved", days=37)
    approved, approved_shares = tracked(volume, yes), tracked(shares, yes)
    hanging = {
        "access_points": [{"id": "fsap-00000000000000001", "root_directory": {"Path": "/press"}}],
        "mount_targets": [{"id": f"fsmt-0000000000000000{n}", "ip_address": f"10.0.{n}.7"} for n in range(3)],
    }
    volumes = [
        {"id": f"fsvol-{n:017x}", "name": f"team-{n}", "path": f"/fsx/team-{n}", "size_bytes": 64 << 30}
        for n in range(14)
    ]
    snapshot = backup(volume.resource.id, "snap-0123456789abcdef0")
    targets = [SubResource(kind="mount-target", id=one["id"], arn=None) for one in hanging["mount_targets"]]
    ended = {"ended_at": NOW + timedelta(days=31), "approved_by": DECIDER}
    gone = Removal(
        part=SubResource(kind="volume", id=volume.resource.id, arn=volume.resource.arn),
        asked_at=NOW + timedelta(days=31),
    )
    deleted = cleanup(
        volume, stage="done", backups=(snapshot,), backup_monthly_usd=Decimal("25.00"), removals=(gone,), **ended
    )
    back = Restored(
        state="done",
        id="vol-0fedcba9876543210",
        differences=("it has a new id", "its blocks are fetched as they are read: it is slow at first"),
    )
    taken = tuple(Removal(part=part, asked_at=NOW + timedelta(days=30)) for part in targets[:2])
    why = "elasticfilesystem:DeleteMountTarget: AccessDenied: not authorized to perform this operation"
    point = f"arn:aws:backup:{archive.resource.region}:{ACCOUNT}:recovery-point:0d5c5a1e-2f6e-4b7c-9a39-6f1f6f0a7c11"
    kept = (backup(archive.resource.id, point, size_bytes=1 << 40),)
    half = cleanup(archive, stage="failed", removals=taken, backups=kept)
    itself = SubResource(kind="file-system", id=archive.resource.id, arn=archive.resource.arn)
    all_of_it = tuple(Removal(part=part, asked_at=NOW + timedelta(days=30)) for part in (*targets, itself))
    asked = ActorNote(who=DECIDER, why="the press office wants it back", at=NOW + timedelta(days=40))
    resolved = tracked(volume, status="resolved", resolved_at=NOW + timedelta(days=31))
    scratch = cleanup(
        job,
        unattended=True,
        scratch=True,
        recorded=hanging,
        requested_by="slackwater",
        marked=Tagging(at=NOW, act_after=NOW + timedelta(hours=24), tagged=True),
    )
    tagging = cleanup(volume).marked
    warned = replace(tagging, warned_days=(7,)) if tagging else None
    return {
        "cleanup-marked": (
            "A file system was marked whose approval has been taken back since",
            cleanup_message("marked", case(cleanup(archive, recorded=hanging), archive)),
        ),
        "cleanup-marked-approved": (
            "An approved volume was marked",
            cleanup_message("marked", case(cleanup(volume), volume, approved)),
        ),
        "cleanup-marked-many-children": (
            "A file system with many volumes was marked",
            cleanup_message("marked", case(cleanup(shares, recorded={"children": volumes}), shares, approved_shares)),
        ),
        "cleanup-marked-scratch": (
            "What needs neither approval nor backup was marked",
            cleanup_message("marked", case(scratch, job)),
        ),
        "cleanup-marked-change": ("A change was asked for", cleanup_message("marked", case(cleanup(dated), dated))),
        "cleanup-warned": (
            "Its owner is warned",
            cleanup_message("warned", case(cleanup(volume, marked=warned), volume, approved, person=PEOPLE["video"])),
        ),
        "cleanup-asked": ("Its days of grace are over", cleanup_message("asked", case(cleanup(volume), volume))),
        "cleanup-called-off": (
            "It was called off",
            cleanup_message(
                "called-off",
                case(cleanup(volume, stage="called-off", why="it is attached to i-0123456789abcdef0"), volume),
            ),
        ),
        "cleanup-called-off-late": (
            "It was called off with a part gone",
            cleanup_message(
                "called-off", case(replace(half, stage="called-off", why="something reads from it"), archive)
            ),
        ),
        "cleanup-deleted": ("It was deleted", cleanup_message("done", case(deleted, volume, resolved))),
        "cleanup-deleted-efs": (
            "A file system was deleted",
            cleanup_message(
                "done",
                case(
                    cleanup(archive, stage="done", backups=kept, removals=all_of_it, **ended),
                    archive,
                    tracked(archive, status="resolved", resolved_at=NOW + timedelta(days=31)),
                ),
            ),
        ),
        "cleanup-changed": (
            "A setting was changed",
            cleanup_message("done", case(cleanup(dated, stage="done", was=gp2, changed_at=NOW, **ended), dated)),
        ),
        "cleanup-failed": (
            "It failed before anything was deleted",
            cleanup_message(
                "failed",
                case(
                    cleanup(
                        volume,
                        stage="failed",
                        why="the backup of its data failed",
                        backups=(replace(snapshot, state="failed"),),
                    ),
                    volume,
                    tracked(volume, status="failed"),
                ),
            ),
        ),
        "cleanup-failed-half": (
            "It failed with a part gone",
            cleanup_message("failed", case(replace(half, why=why), archive, tracked(archive, status="failed"))),
        ),
        "cleanup-undone": (
            "What was deleted is back",
            cleanup_message(
                "undone", case(replace(deleted, stage="undone", restored=back, undone=asked), volume, resolved)
            ),
        ),
        "cleanup-undone-change": (
            "An old setting is back",
            cleanup_message(
                "undone", case(cleanup(dated, stage="undone", was=gp2, changed_at=NOW, undone=asked), dated)
            ),
        ),
        "cleanup-undo-failed": (
            "An undo failed",
            cleanup_message(
                "failed",
                case(
                    replace(deleted, stage="failed", undone=asked, why="the undo failed: InsufficientCapacity"), volume
                ),
            ),
        ),
        "cleanup-stopped": ("A mark after somebody stopped it", after_a_stop()),
        "cleanup-over-cap": (
            "A run over the cap",
            over_cap(
                "11 clean-ups in 24 hours (4 of them started already): the policy's cleanup.most_resources allows 10", 7
            ),
        ),
    }


def after_a_stop() -> Message:
    """Return the message about a tagged, approved resource, after someone stopped its clean-up."""
    seen = finding_record(0)
    approved = tracked(seen, decision("approved", days=37))
    first = cleanup_message("marked", case(cleanup(seen), seen, approved))
    return decided(first, {seen.id: approved}, {seen.id: ActorNote(who=DECIDER, why="", at=NOW + timedelta(days=2))})


def after_decisions() -> Message:
    """Return a digest of five findings, each of which then got a different status."""
    example = news(5)
    first, *_ = digest(example, POST)
    seen = [one.entry.evidence for one in example.new]
    fates = (
        tracked(seen[0], decision("snoozed", "moves in spring", 30)),
        tracked(seen[1], decision("dismissed", "the archive of the press office")),
        tracked(seen[2], decision("approved", days=7)),
        tracked(seen[3], status="resolved", resolved_at=NOW + timedelta(days=7)),
        tracked(seen[4]),
    )
    return decided(first, {one.id: one for one in fates})


def kinds() -> dict[str, tuple[str, object]]:
    """Return all files by name: what each shows, and its content.

    The content is the messages of a post and its thread, one message, or a form.
    """
    volume = finding_record(0)
    snoozed = tracked(volume, decision("snoozed", "moves in spring", 30))
    most_expensive = Page(items=tuple(tracked(one.entry.evidence) for one in news(8).new), cursor=None)
    entries = [
        entry(volume),
        entry(volume, "moves in spring", happening="snoozed", who=DECIDER, was="open", now="snoozed"),
    ]
    digests = {
        f"digest-{many}-{by}": (
            f"{count(many, 'new finding')}, by {by}",
            digest(news(many, buttons=by == "bot"), POST)[:most],
        )
        for many in (0, 1, 49, 51, 5_000)
        for by, most in (("bot", None), ("webhook", 1))
    }
    changed = (
        change(finding_record(40), "it has changed"),
        change(finding_record(41), "the snooze ended 2026-11-15 09:00 UTC"),
    )
    return digests | {
        "digest-everything": (
            "New, changed and gone findings of an incomplete audit, some told to other channels",
            digest(news(12, changed=changed, gone=gone(), others=3, **incomplete()), POST),
        ),
        "digest-owners": (
            "Owners whom the policy maps to people, and more resolved findings than the digest names",
            digest(news(12, people=PEOPLE, gone=gone() + resolved()), POST),
        ),
        "digest-organization": (
            "1,000 accounts of an organization, of which some could not be entered",
            digest(news(4, **organization()), POST),
        ),
        "digest-hostile-names": ("Names and tags that would like to do harm", digest(news(0, new=hostile()), POST)),
        "digest-nobody-decides": (
            "The policy lets nobody decide",
            digest(news(2, approvable=frozenset(), may_decide=False), POST),
        ),
        "nothing-new": ("Nothing new, something gone", digest(news(0, gone=gone(), unknown=17), POST)),
        "nothing-new-incomplete": ("Nothing new in an incomplete audit", digest(news(0, **incomplete()), POST)),
        "failed": ("An audit that failed", digest(news(0, audit=failed()), POST)),
        "decided": ("A digest after people decided, and an audit came", after_decisions()),
        "modal-dismissal": (
            "The form that asks why",
            dismissal(POST, volume.id, "https://hooks.slack.com/actions/T0/1/a"),
        ),
        "answer-details": ("Details", answers.details(snoozed, found(volume), entries)),
        "answer-details-expired": (
            "Details of a finding whose evidence has expired",
            answers.details(tracked(volume), None),
        ),
        "answer-report": (
            "Open the report",
            answers.report(
                "https://bucket.s3.amazonaws.com/audits/report.html?X-Amz-Expires=900&X-Amz-Signature=0", audit(), 15
            ),
        ),
        "answer-done": ("A decision was taken", answers.done(snoozed)),
        "answer-already-decided": ("Somebody was faster", answers.already_decided(snoozed)),
        "answer-changed": ("The finding is another than was seen", answers.changed(tracked(volume))),
        "answer-not-allowed": (
            "The policy does not name the user",
            answers.not_allowed("slack.deciders", "U0123ABCDEF"),
        ),
        "answer-problem": ("Something did not work", answers.problem("There is no account 210987654321 here.")),
        "answer-approved": (
            "An approval that begins a clean-up",
            answers.approved(tracked(volume, decision("approved", days=37)), acts_after=NOW + timedelta(days=30)),
        ),
        "answer-stopped": (
            "A clean-up was stopped",
            answers.stopped(cleanup(volume, stopped=ActorNote(who=DECIDER, why="", at=NOW + timedelta(days=2)))),
        ),
        "answer-approved-nothing-acts": (
            "An approval where clean-up is not enabled",
            answers.approved(tracked(volume, decision("approved", days=37)), acts_after=None),
        ),
        **cleanups(),
        "slash-status": ("/slackwater status", answers.status(audit(**incomplete_outcome()), most_expensive, audit())),
        "slash-status-first": (
            "/slackwater status before the first audit",
            answers.status(None, Page(items=(), cursor=None)),
        ),
        "slash-top": ("/slackwater top", answers.top(most_expensive)),
        "slash-explain": ("/slackwater explain efs-idle", _explained("efs-idle")),
        "slash-audit": ("/slackwater audit", answers.started(AUDIT, ACCOUNT, ("eu-west-1",))),
        "slash-help": ("/slackwater help", answers.usage()),
    }


def incomplete_outcome() -> dict[str, Any]:
    """Return the outcome of an incomplete audit."""
    target = IncompleteTarget(account=ACCOUNT, region="eu-west-1", why="ec2:DescribeVolumes: UnauthorizedOperation")
    return {"incomplete_targets": 1, "incomplete": (target,)}


def _explained(id_: str) -> Message:
    return answers.explain(id_, registry()[id_].title, documentation(id_))


def as_json(value: object) -> Any:
    """Convert messages to the JSON values that Slack receives."""
    match value:
        case Message():
            return {"text": value.text, "blocks": list(value.blocks)}
        case tuple():
            return [as_json(one) for one in value]
        case _:
            return value


def text(value: object) -> str:
    """Return a value as JSON text, with invisible characters escaped."""
    dumped = json.dumps(as_json(value), indent=2, ensure_ascii=False)
    return "".join(f"\\u{ord(one):04x}" if category(one) == "Cf" else one for one in dumped) + "\n"


def index(written: Mapping[str, tuple[str, object]]) -> str:
    """Return the page that links to all files."""
    rows = (f"| [{name}.json]({name}.json) | {what} |" for name, (what, _) in written.items())
    return "\n".join(
        (
            "# Messages in Slack",
            "",
            (
                "Written by `python tools/slack_messages.py docs/slack/messages`, of invented findings. A list is a "
                "digest,"
            ),
            (
                "then its thread, which a webhook does not have. To see one as it looks, paste what this prints into "
                "Slack's"
            ),
            "[Block Kit Builder](https://app.slack.com/block-kit-builder):",
            "",
            "```",
            "jq '{blocks: .[0].blocks}' digest-49-bot.json      # .[1] and on: the thread",
            "jq '{blocks}' answer-details.json                  # one message",
            "```",
            "",
            "| File | Shows |",
            "| --- | --- |",
            *rows,
            "",
        )
    )


def main(into: Path) -> None:
    """Write all files."""
    into.mkdir(parents=True, exist_ok=True)
    written = kinds()
    for name, (_, value) in written.items():
        (into / f"{name}.json").write_text(text(value), encoding="utf-8")
    (into / "README.md").write_text(index(written), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/slack_messages.py DIR")
    main(Path(sys.argv[1]))
