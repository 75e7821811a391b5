"""Rules of clean-up that need no AWS call: what is allowed, what is never changed, how much at once, and when.

Functions named `..._blocker` return the reason why something must not happen, as a clause ("the finding's confidence is
low"), or None if it may.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from slackwater.engine.authority import named
from slackwater.model.cleanup import BACKUP_OF, ONTAP_STAYS, Backup, Begun, Cleanup, Control, Copy, Subject, Tagging
from slackwater.model.fleet import Fleet, UnreadableRecordError, is_root
from slackwater.model.ownership import restored_by
from slackwater.model.policy import CleanupSection, Policy, UnattendedTag
from slackwater.model.resources import EfsFileSystem, EfsReplication, FsxFileSystem, Resource, Volume
from slackwater.model.tracking import FindingRecord
from slackwater.rules.efs import EMPTY_BYTES
from slackwater.rules.fsx import NAMES

UNATTENDED: Final = ("efs-abandoned",)
"""Detectors whose findings a policy may allow to clean up without an approval. They find file systems that a job
created for itself.
"""

BY_HAND: Final = "Slackwater cannot carry out this finding's recommendation"
"""The start of the reason if people must do it. `app.findings.by_hand` adds the cause."""

CLEANABLE: Final = frozenset(
    {
        *("ebs-outdated-type", "ebs-surplus-iops", "ebs-surplus-throughput", "ebs-unattached"),
        *("efs-abandoned", "efs-cold-data", "efs-idle", "efs-orphaned", "efs-throughput-mismatch"),
        "fsx-idle",
    }
)
"""Detectors with a recommendation that Slackwater may carry out."""

RUN_WINDOW: Final = timedelta(hours=24)
"""The caps count every clean-up that began within this time, so that many small runs count as one large run."""

LOOK_AGAIN: Final = timedelta(days=1)
"""How often, at least, to check a tagged resource for signs of use."""

CLOCKS_DIFFER: Final = timedelta(minutes=1)
"""How far Slackwater's clock may be ahead of AWS's. An older backup is refused all the same, because it does not have
the random token of the request.
"""

LEAST_OF_METERED: Final = 0.9
"""The share of EFS's metered size that a recovery point must have. Metering rounds each file up."""


def approval_blocker(record: FindingRecord, cleanup: CleanupSection) -> str | None:
    """Return why this finding may not be approved; None if it may. Only what the policy lists is allowed."""
    if why := cleanup_blocker(record, cleanup):
        return why
    named = cleanup.approvers or cleanup.approver_identities
    return None if named else "the policy lists nobody in cleanup.approvers or cleanup.approver_identities"


def cleanup_blocker(record: FindingRecord, cleanup: CleanupSection) -> str | None:
    """Return why this finding may not be cleaned up, even with an approval; None if it may."""
    resource = record.resource
    # A stored finding does not have the file system's type, but its summary begins with it.
    if record.detector == "fsx-idle" and record.summary.startswith(NAMES["ONTAP"]):
        return ONTAP_STAYS
    if not record.deletes and record.setting is None:
        return f"{BY_HAND}: do it yourself"
    if record.confidence == "low":
        return "the finding's confidence is low"
    for key, value, allowed in (
        ("detectors", record.detector, cleanup.detectors),
        ("resource_types", resource.type, cleanup.resource_types),
        ("accounts", resource.account, cleanup.accounts),
        ("regions", resource.region, cleanup.regions),
    ):
        if value not in allowed:
            return f"the policy's cleanup.{key} does not name {value}"
    return None


def account_blocker(account: str, own: str | None) -> str | None:
    """Return why nothing in this account is cleaned up, even if the policy lists it; None if it may be.

    Roles that Slackwater assumes in other accounts allow audits only, no deletion.

    Args:
        account: The resource's account.
        own: The account in which Slackwater is deployed; None if unknown, which allows everything.
    """
    if own is None or account == own:
        return None
    return f"clean-up works only in account {own}, where Slackwater is deployed"


def unattended(record: FindingRecord, tags: Mapping[str, str] | None, cleanup: CleanupSection) -> UnattendedTag | None:
    """Return the policy's rule that lets this finding be cleaned up without an approval; None if there is none.

    Args:
        record: The finding.
        tags: The resource's tags; None if they could not be read.
        cleanup: The policy's section.
    """
    if record.detector not in UNATTENDED or not record.deletes or tags is None:
        return None
    if cleanup_blocker(record, cleanup) or restored_blocker(tags):
        return None
    for one in cleanup.unattended:
        key, sign, value = one.tag.partition("=")
        if key in tags and (not sign or tags[key] == value):
            return one
    return None


def restored_blocker(tags: Mapping[str, str] | None) -> str | None:
    """Return why a resource with these tags is not deleted: it was restored from a backup. None if no tag says so."""
    who = restored_by(tags)
    return f"{who} restored it from a backup, so somebody may need it" if who else None


def may_approve(who: str, cleanup: CleanupSection) -> bool:
    """Return whether the policy lets this person or role approve.

    Args:
        who: `slack:U…`, an ARN from STS, or the e-mail address or subject of a token. The policy may name an assumed
            role without its session name.
        cleanup: The policy's section.
    """
    if who.startswith("slack:"):
        return who.removeprefix("slack:") in cleanup.approvers
    return named(who, cleanup.approver_identities)


def may_stop(who: str, policy: Policy) -> bool:
    """Return whether the policy lets this person or role stop clean-ups. Approvers and Slack's deciders may."""
    return may_approve(who, policy.cleanup) or (
        who.startswith("slack:") and who.removeprefix("slack:") in policy.slack.deciders
    )


def manager_blocker(owner: str | None) -> str | None:
    """Return why a resource that `owner` manages must not be touched; None if nobody manages it."""
    return f"{owner} manages it: change it there" if owner else None


def change_blocker(resource: Resource, fleet: Fleet, *, deletes: bool) -> str | None:
    """Return why this resource must not be touched, even with an approval; None if it may.

    Slackwater does not change what another service manages.

    Args:
        resource: The resource.
        fleet: The inventory as it is now.
        deletes: Whether the resource would be deleted, rather than a setting changed.
    """
    try:
        return _change_blocker(resource, fleet, deletes=deletes)
    except UnreadableRecordError as error:
        return str(error)


def _change_blocker(resource: Resource, fleet: Fleet, *, deletes: bool) -> str | None:
    if resource.tags is None:
        return "Slackwater could not read its tags, which may protect it"
    if why := manager_blocker(resource.managed_by):
        return why
    if not deletes:
        return None
    return restored_blocker(resource.tags) or _deletion_blocker(resource, fleet)


def _deletion_blocker(resource: Resource, fleet: Fleet) -> str | None:
    """Return why a resource of this type is not deleted in its current state; None if it may be."""
    match resource:
        case Volume() if is_root(resource, fleet) is not False:
            return "it is, or may be, the root volume of an instance"
        case Volume() if resource.attachments:
            return "it is attached, and Slackwater does not detach volumes"
        case EfsFileSystem() if resource.is_replica or fleet.get(EfsReplication, resource.id):
            return "it is part of a replication"
        case FsxFileSystem(file_system_type="ONTAP"):
            return ONTAP_STAYS
    return None


def cap_blocker(wanted: Sequence[Begun], control: Control, cleanup: CleanupSection, now: datetime) -> str | None:
    """Return why this run must not start any clean-up; None if it may start all of them.

    A clean-up without a price counts as zero USD, and so does one that costs more than it saves. Both count towards the
    cap on the number of clean-ups.

    Args:
        wanted: What the run would start.
        control: What earlier runs started.
        cleanup: The policy's section, with the caps.
        now: The current time, with a time zone.
    """
    new = {begun.finding_id for begun in wanted}
    before = [one for one in control.begun if now - one.at < RUN_WINDOW and one.finding_id not in new]
    both = [*before, *wanted]
    with_before = f" ({len(before)} of them started already)" if before else ""
    if len(both) > cleanup.most_resources:
        return (
            f"{len(both)} clean-ups in 24 hours{with_before}: the policy's "
            f"cleanup.most_resources allows {cleanup.most_resources}"
        )
    usd = _sum(both)
    if usd > Decimal(str(cleanup.most_monthly_usd)):
        return (
            f"{usd:,.2f} USD a month of clean-ups in 24 hours{with_before}: the policy's "
            f"cleanup.most_monthly_usd allows {cleanup.most_monthly_usd:,.2f}"
        )
    return None


def recent(begun: Iterable[Begun], now: datetime) -> tuple[Begun, ...]:
    """Return the clean-ups that count towards the caps of a run that starts now."""
    return tuple(one for one in begun if now - one.at < RUN_WINDOW)


def act_after(tagged_at: datetime, cleanup: CleanupSection, rule: UnattendedTag | None, *, deletes: bool) -> datetime:
    """Return when a resource that the clean-up tagged may be deleted or changed, at the earliest.

    A change needs no grace period, because it can be undone.

    Args:
        tagged_at: When the clean-up tagged the resource.
        cleanup: The policy's section.
        rule: The policy's rule if no approval is needed, with its own grace period; else None.
        deletes: Whether the resource is deleted, rather than a setting changed.
    """
    if not deletes:
        return tagged_at
    return tagged_at + (timedelta(hours=rule.grace_hours) if rule else timedelta(days=cleanup.grace_days))


def due(tagging: Tagging, cleanup: CleanupSection, rule: UnattendedTag | None, *, deletes: bool) -> datetime:
    """Return when a tagged resource may be deleted or changed, at the earliest.

    That is the later of the announced time and the time under the current policy. The grace period starts when the
    first warning is delivered.
    """
    return max(tagging.act_after, act_after(tagging.delivered_at or tagging.at, cleanup, rule, deletes=deletes))


def timing_blocker(one: Cleanup, cleanup: CleanupSection, now: datetime) -> str | None:
    """Return why the policy's current rules for warnings and grace do not let a deletion continue; None if they do."""
    tagging = one.marked
    if tagging is None or not one.deletes:
        return None
    if tagging.unwarned and not cleanup.delete_without_warning:
        return "Slackwater warned nobody, and the policy's cleanup.delete_without_warning is now false"
    until = due(tagging, cleanup, None, deletes=True)
    if one.unattended or now >= until:
        return None
    return f"the policy's cleanup.grace_days is higher now: it must not be deleted before {until:%Y-%m-%d %H:%M} UTC"


def warning_due(tagging: Tagging, cleanup: CleanupSection, now: datetime) -> int | None:
    """Return which warning of `cleanup.warn_days` is due now, in days before the deletion.

    None if no warning is due, or the owner already received it.
    """
    since, until = tagging.delivered_at or tagging.at, tagging.act_after
    passed = [days for days in cleanup.warn_days if since < until - timedelta(days=days) <= now < until]
    return min(passed) if passed and min(passed) not in tagging.warned_days else None


def look_next(tagging: Tagging, cleanup: CleanupSection, now: datetime) -> datetime:
    """Return when to check a tagged resource again: at the next warning, the end of its grace period, or in a day."""
    warnings = (tagging.act_after - timedelta(days=days) for days in cleanup.warn_days)
    return min([one for one in (*warnings, tagging.act_after) if one > now] + [now + LOOK_AGAIN])


def verification_error(copy: Copy, subject: Subject, *, metered: bool) -> str | None:
    """Return why a backup does not restore the resource; None if it does.

    Args:
        copy: The backup, as AWS describes it.
        subject: What it must contain.
        metered: Whether the sizes are metered, and so may differ; else they must be equal to the byte.
    """
    if copy.state != "complete":
        return f"it is {copy.state}{f': {copy.why}' if copy.why else ''}"
    if copy.of != subject.id:
        return f"it is a backup of {copy.of}, not of {subject.id}"
    if metered and copy.incremental:
        return None  # AWS calls it complete; its size may count only what has changed since the backup before it
    if copy.size_bytes is None:
        return "its size is unknown"
    if metered and subject.size_bytes <= EMPTY_BYTES:
        return None  # there is no file to restore
    enough = (
        copy.size_bytes >= LEAST_OF_METERED * subject.size_bytes if metered else copy.size_bytes == subject.size_bytes
    )
    return None if enough else f"it has {copy.size_bytes:,} of {subject.size_bytes:,} bytes"


def merge_recorded(
    before: Mapping[str, Any] | None, newest: Mapping[str, Any], taken: Collection[str]
) -> Mapping[str, Any]:
    """Return the newest record of a resource, plus the sub-resources that the clean-up itself has deleted since.

    Sub-resources that somebody else deleted are not in the newest record, and are not added again.

    Args:
        before: The last record; None if there is none.
        newest: The newest record.
        taken: Ids of the sub-resources that the clean-up deleted.
    """
    lists = {name: one for name, one in newest.items() if isinstance(one, list)}
    lost = {
        name: [one for one in (before or {}).get(name, ()) if _id(one) in taken and _id(one) not in {*map(_id, there)}]
        for name, there in lists.items()
    }
    return {**newest, **{name: [*lost[name], *there] for name, there in lists.items()}}


def _id(recorded: object) -> str | None:
    return recorded.get("id") if isinstance(recorded, Mapping) else None


def expiry_reason(copy: Copy, installation: str | None, now: datetime) -> str | None:
    """Return why a backup on this installation's record has expired; None if it has not, or must be kept.

    A backup with unreadable tags is kept, and so is one that another installation made. Backups of older versions do
    not name an installation.
    """
    if copy.state == "running" or copy.installation not in {None, installation}:
        return None
    if copy.expires_at is None or copy.expires_at > now:
        return None
    return f"it expired at {copy.expires_at:%Y-%m-%d %H:%M} UTC"


def identity_error(copy: Copy, backup: Backup, of_arn: str) -> str | None:
    """Return why a backup may not be the one that was requested; None if it is.

    Args:
        copy: The backup, as AWS describes it.
        backup: The request on record.
        of_arn: The resource's ARN.
    """
    if backup.installation is None:
        return "an older version of Slackwater requested it, without a token to identify it"
    if copy.token != backup.token:
        return "it does not have the token of the request"
    if copy.copied:
        return "it is a copy of another backup"
    if copy.of != backup.subject.id:  # EC2 does not mark a copy of a snapshot, but a copy names another volume
        return f"it is a backup of {copy.of}, not of {backup.subject.id}"
    return _request_mismatch(copy, backup, of_arn)


def _request_mismatch(copy: Copy, backup: Backup, of_arn: str) -> str | None:
    """Return why a backup of the right resource is not of this request; None if it is."""
    if copy.tags.get(BACKUP_OF) != of_arn:
        return f"its tag {BACKUP_OF} does not name {of_arn}"
    if copy.made_at < backup.asked_at - CLOCKS_DIFFER:
        return f"it started at {copy.made_at:%Y-%m-%d %H:%M} UTC, before Slackwater requested it"
    return None


def _sum(begun: Iterable[Begun]) -> Decimal:
    return sum((max(one.monthly_usd, Decimal(0)) for one in begun if one.monthly_usd), Decimal(0))
