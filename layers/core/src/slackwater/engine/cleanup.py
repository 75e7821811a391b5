"""The rails of cleaning up that need no AWS to know: what is allowed, what is never done, how much at once, and when."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from slackwater.engine.authority import named
from slackwater.model.cleanup import BACKUP_OF, ONTAP_STAYS, Backup, Begun, Cleanup, Control, Copy, Marked, Subject
from slackwater.model.fleet import Fleet, UnreadableRecordError, is_root
from slackwater.model.ownership import restored_by
from slackwater.model.policy import CleanupSection, Policy, UnattendedTag
from slackwater.model.resources import EfsFileSystem, EfsReplication, FsxFileSystem, Resource, Volume
from slackwater.model.tracking import Sighting
from slackwater.rules.efs import EMPTY_BYTES
from slackwater.rules.fsx import NAMES

UNATTENDED: Final = ("efs-abandoned",)
"""Detectors whose findings a policy may have cleaned up without an approval: of file systems that a job made for itself."""

CLEANABLE: Final = frozenset(
    {
        *("ebs-outdated-type", "ebs-surplus-iops", "ebs-surplus-throughput", "ebs-unattached"),
        *("efs-abandoned", "efs-cold-data", "efs-idle", "efs-orphaned", "efs-throughput-mismatch"),
        "fsx-idle",
    }
)
"""Detectors that advise anything that a program may do."""

RUN_WINDOW: Final = timedelta(hours=24)
"""What a run is counted together with: many small runs are one large one."""

LOOK_AGAIN: Final = timedelta(days=1)
"""How often a marked resource is looked at for signs of use, at least."""

CLOCKS_DIFFER: Final = timedelta(minutes=1)
"""Our clock may be ahead of AWS's by so much. It lets nothing older in: what was made before a request cannot carry the random
token that was made for it."""

LEAST_OF_METERED: Final = 0.9
"""Of what EFS meters, a recovery point has to hold so much: metering rounds each file up."""


def not_allowed(sighting: Sighting, cleanup: CleanupSection) -> str | None:
    """Why this finding may not be approved; None where it may. Nothing is allowed that is not listed."""
    if why := not_listed(sighting, cleanup):
        return why
    named = cleanup.approvers or cleanup.approver_identities
    return None if named else "the policy's cleanup.approvers names nobody"


def not_listed(sighting: Sighting, cleanup: CleanupSection) -> str | None:
    """Why this finding may not be cleaned up, whoever approves; None where it may."""
    resource = sighting.resource
    # A stored finding does not hold the file system's type, but its summary begins with it.
    if sighting.detector == "fsx-idle" and sighting.summary.startswith(NAMES["ONTAP"]):
        return ONTAP_STAYS
    if not sighting.deletes and sighting.setting is None:
        return "nothing that it advises may be done by a program"
    if sighting.confidence == "low":
        return "its confidence is low"
    for key, value, allowed in (
        ("detectors", sighting.detector, cleanup.detectors),
        ("resource_types", resource.type, cleanup.resource_types),
        ("accounts", resource.account, cleanup.accounts),
        ("regions", resource.region, cleanup.regions),
    ):
        if value not in allowed:
            return f"the policy's cleanup.{key} does not name {value}"
    return None


def elsewhere(account: str, own: str | None) -> str | None:
    """Why nothing of this account is cleaned up, whatever the policy names; None where it is, or `own` is not known.

    Accounts whose storage is audited by a role of theirs let nobody delete anything.
    """
    if own is None or account == own:
        return None
    return f"clean-up works in account {own} only, which Slackwater is deployed in"


def unattended(sighting: Sighting, tags: Mapping[str, str] | None, cleanup: CleanupSection) -> UnattendedTag | None:
    """What the policy says of this finding, if it lets it be cleaned up without an approval; the first that fits."""
    if sighting.detector not in UNATTENDED or not sighting.deletes or tags is None or not_listed(sighting, cleanup):
        return None
    if restored(tags):
        return None
    for one in cleanup.unattended:
        key, sign, value = one.tag.partition("=")
        if key in tags and (not sign or tags[key] == value):
            return one
    return None


def restored(tags: Mapping[str, str] | None) -> str | None:
    """Why nothing that was restored from a backup is deleted; None where no tag says that it was."""
    who = restored_by(tags)
    return f"{who} restored it from a backup: somebody may be about to need it" if who else None


def may_approve(who: str, cleanup: CleanupSection) -> bool:
    """Whether the policy lets somebody approve: `slack:U…`, an ARN as STS says it, or what a token says.

    An assumed role's ARN may be named without its session's name.
    """
    if who.startswith("slack:"):
        return who.removeprefix("slack:") in cleanup.approvers
    return named(who, cleanup.approver_identities)


def may_stop(who: str, policy: Policy) -> bool:
    """Whether the policy lets somebody stop clean-ups: whoever may approve them, and Slack's deciders."""
    return may_approve(who, policy.cleanup) or (
        who.startswith("slack:") and who.removeprefix("slack:") in policy.slack.deciders
    )


def managed_elsewhere(owner: str | None) -> str | None:
    """Why what `owner` manages must not be touched; None where nobody does."""
    return f"it is managed by {owner}: it has to be changed there" if owner else None


def never(resource: Resource, fleet: Fleet, *, deletes: bool) -> str | None:
    """Why this must not be touched, whoever approves; None where it may be.

    What another service manages is not changed behind its back, either. `fleet` holds what is there now.
    """
    try:
        return _never(resource, fleet, deletes=deletes)
    except UnreadableRecordError as error:
        return str(error)


def _never(resource: Resource, fleet: Fleet, *, deletes: bool) -> str | None:
    if resource.tags is None:
        return "its tags could not be read: it may be protected"
    if why := managed_elsewhere(resource.managed_by):
        return why
    if not deletes:
        return None
    if why := restored(resource.tags):
        return why
    match resource:
        case Volume():
            if is_root(resource, fleet) is not False:
                return "it is, or may be, the root volume of an instance"
            if resource.attachments:
                return "it is attached, and nothing is detached in order to delete it"
        case EfsFileSystem():
            if resource.is_replica or fleet.get(EfsReplication, resource.id):
                return "it takes part in a replication"
        case FsxFileSystem(file_system_type="ONTAP"):
            return ONTAP_STAYS
    return None


def over_cap(wanted: Sequence[Begun], control: Control, cleanup: CleanupSection, now: datetime) -> str | None:
    """Why this run must not begin anything at all; None where it may begin all of it.

    What has no price counts as nothing, and so does what would cost more: the number of resources still holds for it.
    """
    new = {begun.finding_id for begun in wanted}
    before = [one for one in control.begun if now - one.at < RUN_WINDOW and one.finding_id not in new]
    both = [*before, *wanted]
    with_before = f", {len(before)} of them begun in the last 24 hours" if before else ""
    if len(both) > cleanup.most_resources:
        return f"{len(both)} resources{with_before}: the policy's cleanup.most_resources is {cleanup.most_resources}"
    usd = _sum(both)
    if usd > Decimal(str(cleanup.most_monthly_usd)):
        return f"{usd:,.2f} USD a month{with_before}: the policy's cleanup.most_monthly_usd is {cleanup.most_monthly_usd:,.2f}"
    return None


def recent(begun: Iterable[Begun], now: datetime) -> tuple[Begun, ...]:
    """Those that a run now is counted together with."""
    return tuple(one for one in begun if now - one.at < RUN_WINDOW)


def act_after(marked_at: datetime, cleanup: CleanupSection, rule: UnattendedTag | None, *, deletes: bool) -> datetime:
    """From when on something that is marked now may be acted upon. A change waits for nothing: it can be taken back."""
    if not deletes:
        return marked_at
    return marked_at + (timedelta(hours=rule.grace_hours) if rule else timedelta(days=cleanup.grace_days))


def due(marked: Marked, cleanup: CleanupSection, rule: UnattendedTag | None, *, deletes: bool) -> datetime:
    """From when on it may be acted upon: the later of what was announced and of what the policy says now.

    The grace period counts from when the first warning was delivered.
    """
    return max(marked.act_after, act_after(marked.delivered_at or marked.at, cleanup, rule, deletes=deletes))


def too_early(one: Cleanup, cleanup: CleanupSection, now: datetime) -> str | None:
    """Why a deletion that has begun must not go on, as the policy's warnings and grace period are now; None where it may."""
    marked = one.marked
    if marked is None or not one.deletes:
        return None
    if marked.unwarned and not cleanup.delete_without_warning:
        return "nobody was warned, and the policy's cleanup.delete_without_warning is false now"
    until = due(marked, cleanup, None, deletes=True)
    if one.unattended or now >= until:
        return None
    return f"the policy's cleanup.grace_days was raised: it may be deleted after {until:%Y-%m-%d %H:%M} UTC"


def warning_due(marked: Marked, cleanup: CleanupSection, now: datetime) -> int | None:
    """For how many days ahead the owner has to be warned now; None where they have been."""
    since, until = marked.delivered_at or marked.at, marked.act_after
    passed = [days for days in cleanup.warn_days if since < until - timedelta(days=days) <= now < until]
    return min(passed) if passed and min(passed) not in marked.warned_days else None


def look_next(marked: Marked, cleanup: CleanupSection, now: datetime) -> datetime:
    """When to look at something marked again: at the next warning, at the end of its grace, in a day at the latest."""
    warnings = (marked.act_after - timedelta(days=days) for days in cleanup.warn_days)
    return min([one for one in (*warnings, marked.act_after) if one > now] + [now + LOOK_AGAIN])


def unverified(copy: Copy, subject: Subject, *, metered: bool) -> str | None:
    """Why a backup does not bring back what it was asked for; None where it does.

    `metered` says that the sizes are metered, and differ by how each is counted; else they are the same to the byte.
    """
    if copy.state != "complete":
        return f"it is {copy.state}{f': {copy.why}' if copy.why else ''}"
    if copy.of != subject.id:
        return f"it is of {copy.of}, not of {subject.id}"
    if metered and copy.incremental:
        return None  # AWS calls it complete; its size may count only what has changed since the backup before it
    if copy.size_bytes is None:
        return "its size is not known"
    if metered and subject.size_bytes <= EMPTY_BYTES:
        return None  # there is no file to bring back
    enough = copy.size_bytes >= LEAST_OF_METERED * subject.size_bytes if metered else copy.size_bytes == subject.size_bytes
    return None if enough else f"it holds {copy.size_bytes:,} bytes of {subject.size_bytes:,}"


def recorded_anew(before: Mapping[str, Any] | None, newest: Mapping[str, Any], taken: Collection[str]) -> Mapping[str, Any]:
    """The newest record of a resource, and of what the clean-up itself has taken off it the last one. `taken` are their ids.

    What somebody else took off it is not in the newest record, and stays away.
    """
    lists = {name: one for name, one in newest.items() if isinstance(one, list)}
    lost = {
        name: [one for one in (before or {}).get(name, ()) if _id(one) in taken and _id(one) not in {*map(_id, there)}]
        for name, there in lists.items()
    }
    return {**newest, **{name: [*lost[name], *there] for name, there in lists.items()}}


def _id(recorded: object) -> str | None:
    return recorded.get("id") if isinstance(recorded, Mapping) else None


def expired(copy: Copy, installation: str | None, now: datetime) -> str | None:
    """Why a backup on this installation's record is over, by what is on it; None where it is not.

    What cannot be read is kept, and what another installation made. Those of older versions do not say who made them.
    """
    if copy.state == "running" or copy.installation not in {None, installation}:
        return None
    if copy.expires_at is None or copy.expires_at > now:
        return None
    return f"it expired at {copy.expires_at:%Y-%m-%d %H:%M} UTC"


def unproven(copy: Copy, backup: Backup, of_arn: str) -> str | None:
    """Why a backup may be another than the one that was asked for; None where it is that one. `of_arn` is the resource's."""
    if backup.installation is None:
        return "an older version asked for it, and could not tell it from others like it"
    if copy.token != backup.token:
        return "it does not carry the token of the request"
    if copy.copied:
        return "it is a copy of another backup"
    if copy.of != backup.subject.id:  # EC2 does not say what is a copy, but names another volume
        return f"it is of {copy.of}, not of {backup.subject.id}"
    if copy.tags.get(BACKUP_OF) != of_arn:
        return f"its tag {BACKUP_OF} does not name {of_arn}"
    if copy.made_at < backup.asked_at - CLOCKS_DIFFER:
        return f"it was started {copy.made_at:%Y-%m-%d %H:%M} UTC, before it was asked for"
    return None


def _sum(begun: Iterable[Begun]) -> Decimal:
    return sum((max(one.monthly_usd, Decimal(0)) for one in begun if one.monthly_usd), Decimal(0))
