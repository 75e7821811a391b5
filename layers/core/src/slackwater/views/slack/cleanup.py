"""Slack messages about clean-ups: what happened, what comes next, and what you can do about it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Literal, assert_never

from slackwater.model.cleanup import NOT_RESTORED_STARTS, Backup, Cleanup, SubResource
from slackwater.model.posts import Block, Message
from slackwater.model.settings import in_words
from slackwater.model.tracking import TrackedFinding
from slackwater.views.slack.blocks import (
    bullets,
    fields,
    mention_text,
    message_of,
    note,
    paragraph,
    rich,
    run,
    section,
    small,
)
from slackwater.views.slack.decided import date, who
from slackwater.views.slack.digest import date_and_time
from slackwater.views.slack.finding import (
    DELETED_WITH_IT,
    KEEP,
    WAYS_BACK,
    choices,
    dollars,
    money,
    named,
    place,
    saves,
)
from slackwater.views.slack.text import SENTENCE, literal, mrkdwn, shortened
from slackwater.views.text.words import NOUNS, count, measure

type What = Literal["marked", "warned", "asked", "called-off", "done", "failed", "undone"]
"""Kinds of messages about a clean-up. "asked": its grace period is over, and it waits for an approval."""

BAD: Final = "🔴"
"""A visual sign only: the text says the same."""

COMES_BACK: Final = {
    "efs-file-system": (
        ". Its files come back in a new file system, in its directory /aws-backup-restore_<date and time>"
    ),
}
"""What is in another place after an undo, by type of resource."""

SHOWN: Final = 10
"""Maximum number of entries in a list. The rest is counted."""
CHILD: Final = 200
"""Maximum characters of a sub-resource."""

CHILDREN: Final = {"access_points": "access point", "mount_targets": "mount target"}
"""Recorded sub-resources of a file system other than volumes, with their nouns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A clean-up with its finding as it is now, and what the policy says about both.

    Attributes:
        keep_tag: The tag, `key` or `key=value`, that protects the resource; None if the policy has none.
        may_decide: Whether the policy lets anyone snooze and dismiss.
        may_approve: Whether the policy lets anyone approve.
        may_stop: Whether the policy lets anyone stop the clean-up.
        person: Slack id of the user or user group that a warning mentions; None mentions nobody.
    """

    post_id: str
    cleanup: Cleanup
    finding: TrackedFinding
    backup_days: int
    approval_days: int
    keep_tag: str | None
    may_decide: bool
    may_approve: bool
    may_stop: bool
    person: str | None = None


def cleanup_message(what: What, case: Case) -> Message:  # noqa: PLR0911 -- one return a message
    """Return the message of this kind about a clean-up."""
    match what:
        case "marked":
            return _coming(case, "Marked for clean-up", _when(case))
        case "warned":
            warned = case.cleanup.marked.warned_days if case.cleanup.marked else ()
            return _coming(case, f"{count(warned[-1], 'day')} left" if warned else "Soon", _when(case))
        case "asked":
            return _coming(case, "Waiting for approval", _asked(case))
        case "called-off":
            return _called_off(case)
        case "done":
            return _done(case)
        case "failed":
            return _failed(case)
        case "undone":
            return _undone(case)
        case _:
            assert_never(what)


def over_cap(why: str, wanted: int) -> Message:
    """Say that a run would exceed the policy's cap, and that it started nothing."""
    return message_of(
        paragraph(
            run(f"{BAD} Over the cap: nothing was cleaned up", "bold"),
            run(f"\nA run would have started {count(wanted, 'clean-up')}. {literal(why, SENTENCE)}."),
        ),
        _list(
            [
                "slackwater cleanup plan lists them with their savings.",
                "slackwater cleanup run ID starts some of them.",
                "To raise the cap, set cleanup.most_resources or cleanup.most_monthly_usd in the policy.",
            ]
        ),
    )


# -- Before it happens


def _coming(case: Case, title: str, when: str) -> Message:
    """Return what will happen, when, who owns the resource, what is backed up, and how to prevent it."""
    cleanup = case.cleanup
    facts = []
    if cleanup.resource.type in DELETED_WITH_IT and cleanup.deletes:
        facts.append(DELETED_WITH_IT[cleanup.resource.type])
    if cleanup.deletes and (children := _children(cleanup)):
        facts.append(f"Slackwater also deletes: {_some(children)}")
    saving = f" It {money(case.finding.sighting)}." if case.finding.sighting.monthly_savings_usd else ""
    return message_of(
        _title(case, title, f"{when}{saving}"),
        fields({label: value if _is_mention(case, value) else mrkdwn(value) for label, value in _fields(case)}),
        *([_list(facts)] if facts else []),
        *_foot(case),
    )


def _fields(case: Case) -> Iterator[tuple[str, str]]:
    """Yield the labelled facts that you need to decide within a minute."""
    cleanup = case.cleanup
    if cleanup.setting is not None:
        yield "Changes to", in_words(cleanup.setting)
        yield "Backup", "None is needed: the data stays, and an undo restores the old setting."
    else:
        yield (
            "Deletes on",
            f"{date_and_time(cleanup.marked.act_after)} or later" if cleanup.marked else "the end of the days of grace",
        )
        yield "Backup", _backup_to_come(case)
    yield (
        "Owner",
        mention_text(case.person) if case.person else literal(cleanup.owner) if cleanup.owner else "no owner tag",
    )
    yield "To keep it", _to_keep(case)


def _is_mention(case: Case, value: str) -> bool:
    return case.person is not None and value == mention_text(case.person)


def _when(case: Case) -> str:
    """Return `Approved. If it stays unused, Slackwater deletes it.`; a field has the date."""
    cleanup = case.cleanup
    approved = case.finding.status == "approved"
    if cleanup.setting is not None:
        to = in_words(cleanup.setting)
        return (
            f"Approved. Slackwater changes it to {to}."
            if approved
            else (f"Not approved. If someone approves it, Slackwater changes it to {to}.")
        )
    if not approved and not cleanup.unattended:
        return "Not approved. If someone approves it and it stays unused, Slackwater deletes it."
    why = "Approved" if approved else "The policy allows this for its tag, without an approval"
    holds = "" if cleanup.scratch else " and its backup is verified"
    return f"{why}. If it stays unused{holds}, Slackwater deletes it."


def _asked(case: Case) -> str:
    cleanup = case.cleanup
    until = (
        f" by {date_and_time(cleanup.marked.act_after + timedelta(days=case.approval_days))}" if cleanup.marked else ""
    )
    does = "deletes it" if cleanup.setting is None else f"changes it to {in_words(cleanup.setting)}"
    since = f" Nobody used it since {date_and_time(cleanup.marked.at)}." if cleanup.marked and cleanup.deletes else ""
    return f"If someone approves it{until}, Slackwater {does}. Otherwise nothing happens.{since}"


def _backup_to_come(case: Case) -> str:
    cleanup = case.cleanup
    if cleanup.scratch:
        return "None: the policy says that the data of its tag is scratch. You cannot get it back."
    backup, way_back = WAYS_BACK.get(cleanup.resource.type, ("a backup", "a new one"))
    size = f" of {measure(cleanup.size_bytes, 'bytes')}" if cleanup.size_bytes else ""
    kept = f"First {backup}{size}, kept for {count(case.backup_days, 'day')}."
    return f"{kept} To get it back, an approver runs {_command('undo', case)}: {way_back}."


def _to_keep(case: Case) -> str:
    """Return the ways to cancel the clean-up."""
    ways = ["use it"] if case.cleanup.deletes else []
    ways += [_keep_tag(case.keep_tag)] if case.keep_tag else []
    ways += ["snooze or dismiss the finding"] if case.finding.status == "open" else []
    ways += [f"press {KEEP}"] if case.may_stop else []
    sentence = ", ".join([*ways, f"or {_command('stop', case)}"])
    return f"{sentence[0].upper()}{sentence[1:]}"


def _keep_tag(named: str) -> str:
    """Return what to add, for the policy's `key` or `key=value`."""
    key, has_value, value = named.partition("=")
    if not has_value:
        return f"add the tag {literal(key)} (any value)"
    return f"add the tag {literal(key)} with the value {literal(value)}"


# -- Afterwards


def _called_off(case: Case) -> Message:
    cleanup = case.cleanup
    facts = [_done_so_far(cleanup)]
    if cleanup.removals:
        back = f"Slackwater restores the parts that it had removed: {_command('status', case)} shows the progress."
        facts.append(_not_restored(cleanup) or back)
    elif made := [backup for backup in cleanup.backups if backup.id]:
        facts += [*_first(_kept(made)), "The sweeper deletes its backup in a day or two."]
    return message_of(_title(case, "Cancelled", _why(cleanup)), _list(facts), *_foot(case, over=True))


def _done(case: Case) -> Message:
    cleanup = case.cleanup
    if cleanup.setting is not None:
        was = f" from {in_words(cleanup.was)}" if cleanup.was else ""
        title, what = "Changed", f"It was changed{was} to {in_words(cleanup.setting)}."
    else:
        more = " and its sub-resources" if _had_more(cleanup) else ""
        title, what = "Deleted", f"Slackwater deleted it{more}."
    facts = [_saves(cleanup), *_first(_kept(cleanup.backups))]
    if cleanup.deletes and cleanup.scratch:
        facts.append("There is no backup, because the policy says so for its tag. You cannot undo this.")
    else:
        comes_back = COMES_BACK.get(cleanup.resource.type, "") if cleanup.deletes else ""
        facts.append(_not_restored(cleanup) or f"To undo it: {_command('undo', case)}{comes_back}")
    by = [note(f"Approved by {who(cleanup.approved_by)}.")] if cleanup.approved_by else []
    return message_of(_title(case, title, what), _list(facts), *by, *_foot(case, over=True))


def _failed(case: Case) -> Message:
    """Say first what was done and what was not, because the reader may have to act."""
    cleanup = case.cleanup
    undo = cleanup.undone is not None
    title = f"{BAD} {'Undo' if undo else 'Clean-up'} failed"
    facts = [_done_so_far(cleanup), *_first(_kept(cleanup.backups))]
    if undo:
        came = cleanup.restored.id if cleanup.restored else None
        facts.append(f"Restored so far: {literal(came)}." if came else "Nothing is known to be restored.")
        facts.append(_not_restored(cleanup) or f"To continue the undo: {_command('undo', case)}")
    elif cleanup.removals:
        facts.append(_putting_back(case))
    elif cleanup.changed_at:
        facts.append(f"To restore the old setting: {_command('undo', case)}")
    else:
        facts.append(f"After you fix the cause: slackwater findings reopen {_id(case)}, and approve it again.")
    facts.append(f"Details: {_command('status', case)}")
    return message_of(_title(case, title, _why(cleanup)), _list(facts), *_foot(case, over=True))


def _putting_back(case: Case) -> str:
    """Return how much of what was removed is restored, as far as that is known."""
    restored, undo = case.cleanup.restored, _command("undo", case)
    if restored and restored.state == "done":
        return "Slackwater restored the parts that it had removed."
    if why := _not_restored(case.cleanup):
        return why
    if (restored and restored.state == "failed") or case.cleanup.why.startswith(NOT_RESTORED_STARTS):
        return f"Slackwater could not restore all parts that it had removed. To try again: {undo}"
    next_ = "If the resource itself still exists, Slackwater now restores the parts that it had removed"
    return f"{next_}. If that fails, you get another message. By hand: {undo}"


def _not_restored(cleanup: Cleanup) -> str | None:
    """Return why an undo cannot restore it; None if it can."""
    return f"{literal(cleanup.not_restored, SENTENCE)}." if cleanup.not_restored else None


def _undone(case: Case) -> Message:
    cleanup, restored = case.cleanup, case.cleanup.restored
    if cleanup.setting is not None:
        what = f"It was changed back to {in_words(cleanup.was)}." if cleanup.was else "Nothing had been changed."
    elif restored is None:
        what = "Nothing had been removed."
    elif restored.id in {None, cleanup.resource.id}:
        what = "Slackwater restored the parts that it had removed."
    else:
        what = f"It is restored as {literal(restored.id or '')}."
    differences = [f"Different now: {literal(one, SENTENCE)}" for one in (restored.differences if restored else ())]
    asked, by = cleanup.undone, []
    if asked:
        why = literal(asked.why, SENTENCE) if asked.why.strip() else ""
        by = [note(f"{who(asked.who)} asked for it{':' if why else '.'}", why)]
    facts = _list(differences or ["Restored. No differences found."])
    return message_of(_title(case, "Undone", what), facts, *by, *_foot(case, over=True))


# -- Parts of these


def _title(case: Case, title: str, rest: str) -> Block:
    return paragraph(run(f"{title}: {named(case.cleanup.resource)}", "bold"), run(f"\n{rest}"))


def _list(facts: Sequence[str]) -> Block:
    return rich(bullets(section(run(fact)) for fact in _first(facts)))


def _foot(case: Case, *, over: bool = False) -> tuple[Block, ...]:
    """Return what the message is about, and its buttons.

    After the clean-up, only Details is left. Once someone has decided on the finding, only Details and Keep it are.
    """
    sighting = case.finding.sighting
    resource = case.cleanup.resource
    about = (
        NOUNS.get(resource.type, literal(resource.type)),
        place(resource),
        f"{literal(case.cleanup.detector)}: {literal(sighting.summary, SENTENCE)}",
        f"finding {_id(case)}",
    )
    may = case.finding.status == "open" and not over
    buttons = choices(
        case.post_id,
        sighting,
        may_decide=may and case.may_decide,
        may_approve=may and case.may_approve and not case.cleanup.unattended,
        may_stop=not over and case.may_stop,
        acts=_acts(case.cleanup),
    )
    return (small(" · ".join(about)), buttons)


def _acts(cleanup: Cleanup) -> str:
    """Return when Slackwater acts on an approval that is given now."""
    return f"after {date_and_time(cleanup.marked.act_after)}" if cleanup.marked else "after its days of grace"


def _done_so_far(cleanup: Cleanup) -> str:
    """Return what was deleted or changed before it ended. Readers must not have to guess this."""
    if cleanup.removals:
        parts = [f"{_kind(one.part)} {literal(one.part.id)}" for one in cleanup.removals]
        gone = {one.part.id for one in cleanup.removals}
        itself = "" if cleanup.resource.id in gone else f" {literal(cleanup.resource.id)} itself was not deleted."
        what = "it still exists" if cleanup.removed == 1 else "each of them still exists"
        return f"AWS was asked to delete {_some(parts, cleanup.removed)}. Check in AWS whether {what}.{itself}"
    if cleanup.changed_at and cleanup.setting is not None:
        return f"AWS was asked to change it to {in_words(cleanup.setting)}. Check in AWS whether it did."
    return "Nothing was deleted." if cleanup.deletes else "Nothing was changed."


def _kept(backups: Sequence[Backup]) -> list[str]:
    """Return lines such as `Backup of vol-1: snap-1, verified, kept until 2027-02-20`.

    The date is left out for a backup that is not complete.
    """
    return [
        f"Backup of {literal(one.subject.id)}: "
        f"{literal(one.id) if one.id else 'one that AWS may or may not have begun'},"
        f" {one.state}{f', kept until {date(one.expires_at)}' if one.state in {'complete', 'verified'} else ''}"
        for one in backups
    ]


def _saves(cleanup: Cleanup) -> str:
    """Return the expected saving, less the cost of its backups while they are kept."""
    promised, backup = cleanup.promised_monthly_usd, cleanup.backup_monthly_usd
    words = saves(promised)
    words = f"It {words}" if promised is not None else "Its saving is unknown"
    if not cleanup.backups or cleanup.scratch:
        return f"{words}."
    until = date(max(one.expires_at for one in cleanup.backups))
    if backup is None:
        return f"{words}, less the cost of its backup until {until}, which is unknown."
    net = f": {dollars(promised - backup)} a month until then" if promised is not None else ""
    return f"{words}, less {dollars(backup)} a month for its backup until {until}{net}."


def _children(cleanup: Cleanup) -> list[str]:
    """Return its sub-resources from the record before deletion; if that has none, from the clean-up's own list."""
    recorded = cleanup.recorded or {}
    found = [
        f"{noun} {_child(one)}"
        for kind, noun in CHILDREN.items()
        for one in recorded.get(kind, ())
        if isinstance(one, Mapping)
    ]
    found += [f"volume {_child(one)}" for one in recorded.get("children", ()) if isinstance(one, Mapping)]
    return found or [f"{_kind(one)} {literal(one.id)}" for one in cleanup.parts if one.id != cleanup.resource.id]


def _had_more(cleanup: Cleanup) -> bool:
    """Return whether anything was deleted besides the resource itself, such as mount targets or child volumes."""
    itself = cleanup.resource.id
    ids = (*cleanup.children, *(gone.part.id for gone in cleanup.removals))
    return any(id_ != itself for id_ in ids) or bool(_children(cleanup))


def _kind(part: SubResource) -> str:
    return part.kind.replace("-", " ")


def _child(recorded: Mapping[str, Any]) -> str:
    """Return a recorded sub-resource as `fsvol-1 (home, /fsx/home, 100 GiB)`."""
    root = recorded.get("root_directory")
    removed = (
        recorded.get("name") or recorded.get("Name"),
        recorded.get("path") or (root.get("Path") if isinstance(root, Mapping) else None) or recorded.get("ip_address"),
    )
    facts = [literal(str(one)) for one in removed if one]
    if size := recorded.get("size_bytes"):
        facts.append(measure(size, "bytes"))
    id_ = literal(str(recorded.get("id") or "?"))
    return shortened(f"{id_} ({', '.join(facts)})" if facts else id_, CHILD)


def _some(things: Sequence[str], of: int | None = None) -> str:
    """Return the first of them, and how many more there are. `of` is the total if `things` has only some."""
    return ", ".join(_first(things, of))


def _first(things: Sequence[str], of: int | None = None) -> list[str]:
    shown = things[:SHOWN]
    left = (len(things) if of is None else of) - len(shown)
    where = ": slackwater cleanup status has all" if of in {None, len(things)} else ""
    return [*shown, *([f"{left:,} more{where}"] if left > 0 else [])]


def _why(cleanup: Cleanup) -> str:
    return f"Why: {literal(cleanup.why, SENTENCE) if cleanup.why.strip() else 'no reason given'}"


def _command(name: str, case: Case) -> str:
    return f"slackwater cleanup {name} {_id(case)}"


def _id(case: Case) -> str:
    return literal(case.cleanup.finding_id)
