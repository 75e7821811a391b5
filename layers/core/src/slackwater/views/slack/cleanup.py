"""What clean-ups do, told in Slack: each message says what happened, what comes next, and what anybody can do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Literal, assert_never

from slackwater.model.cleanup import NOT_PUT_BACK, Backup, Cleanup, SubResource
from slackwater.model.posts import Block, Message
from slackwater.model.settings import in_words
from slackwater.model.tracking import TrackedFinding
from slackwater.views.slack.blocks import bullets, note, paragraph, rich, run, said, section, small
from slackwater.views.slack.decided import date, who
from slackwater.views.slack.digest import time
from slackwater.views.slack.finding import GOES_TOO, WAYS_BACK, choices, money, named, place
from slackwater.views.slack.text import SENTENCE, literal, shortened
from slackwater.views.text.words import NOUNS, count, measure, saving

type What = Literal["marked", "warned", "asked", "called-off", "done", "failed", "undone"]
"""What is told of a clean-up. "asked": its grace is over, and it waits for an approval."""

BAD: Final = "🔴"
"""For the eye; the word is always said, too."""

COMES_BACK: Final = {
    "efs-file-system": ". Its files come back in a new file system, in its directory /aws-backup-restore_<date and time>",
}
"""What is not where it was, after an undo, by type of resource."""

SHOWN: Final = 10
"""Of children, backups, differences and troubles; the others are counted."""
CHILD: Final = 200
"""Characters of one."""

CHILDREN: Final = {"access_points": "access point", "mount_targets": "mount target"}
"""What is recorded of a file system beside its volumes, and what people call it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A clean-up with its finding as it is now, and what the policy says of both. `keep_tag` protects; None where none does.

    `may_decide`, `may_approve` and `may_stop` say that the policy lets somebody snooze and dismiss, approve, or stop it.
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


def told(what: What, case: Case) -> Message:
    """What is said of it."""
    match what:
        case "marked":
            return _coming(case, "Marked for clean-up", _when(case))
        case "warned":
            warned = case.cleanup.marked.warned_days if case.cleanup.marked else ()
            return _coming(case, f"{count(warned[-1], 'day')} left" if warned else "Soon", _when(case))
        case "asked":
            return _coming(case, "Waits for an approval", _asked(case))
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
    """That a run was to begin more than the policy allows, and began nothing."""
    return said(
        paragraph(
            run(f"{BAD} Over the cap: nothing at all was cleaned up", "bold"),
            run(f"\nA run was to begin {count(wanted, 'clean-up')}. {literal(why, SENTENCE)}."),
        ),
        _list(
            [
                "slackwater cleanup plan says what they are, and what each would save.",
                "slackwater cleanup run ID begins some of them.",
                "Whoever looks after the policy can raise cleanup.most_resources or cleanup.most_monthly_usd.",
            ]
        ),
    )


# -- Before it happens


def _coming(case: Case, title: str, when: str) -> Message:
    """What is about to happen, and everything that may keep somebody from letting it."""
    cleanup = case.cleanup
    facts = [f"Owner: {literal(cleanup.owner) if cleanup.owner else 'nobody is named'}"]
    if cleanup.deletes:
        facts.append(_backup_to_come(case))
        if cleanup.resource.type in GOES_TOO:
            facts.append(GOES_TOO[cleanup.resource.type])
        if children := _children(cleanup):
            facts.append(f"Goes with it: {_some(children)}")
    else:
        facts.append("Its data stays as it is, and the old setting can be put back.")
    worth = f" It {money(case.finding.sighting)}." if case.finding.sighting.monthly_savings_usd else ""
    return said(_title(case, title, f"{when}{worth}"), _list(facts), small(_to_keep(case)), *_foot(case))


def _when(case: Case) -> str:
    """`It is approved, and deleted after 2026-12-16 09:00 UTC if it is not used until then and its backup holds.`"""
    cleanup = case.cleanup
    marked, approved = cleanup.marked, case.finding.status == "approved"
    if cleanup.setting is not None:
        return f"It is changed to {in_words(cleanup.setting)}{'' if approved else ', once somebody approves it'}."
    after = f" after {time(marked.act_after)}" if marked else ""
    if not approved and not cleanup.unattended:
        return f"No approval of it stands: it is deleted{after} only if somebody approves it, and it is not used until then."
    let = "It is approved" if approved else "It needs no approval: the policy says so of its tag. It is"
    holds = "" if cleanup.scratch else " and its backup holds"
    return f"{let}{', and' if approved else ''} deleted{after}, if it is not used until then{holds}."


def _asked(case: Case) -> str:
    cleanup = case.cleanup
    until = f" until {time(cleanup.marked.act_after + timedelta(days=case.approval_days))}" if cleanup.marked else ""
    does = "It is deleted" if cleanup.setting is None else f"It is changed to {in_words(cleanup.setting)}"
    since = f" No use was seen since {time(cleanup.marked.at)}." if cleanup.marked and cleanup.deletes else ""
    return f"{does} once somebody approves it{until}; after that nothing happens.{since}"


def _backup_to_come(case: Case) -> str:
    cleanup = case.cleanup
    if cleanup.scratch:
        return "Not backed up: the policy says that the data of its tag is scratch. Nothing brings it back."
    backup, way_back = WAYS_BACK.get(cleanup.resource.type, ("a backup", "a restore from the backup"))
    size = f" of {measure(cleanup.size_bytes, 'bytes')}" if cleanup.size_bytes else ""
    return f"Backed up first: {backup}{size}, kept for {count(case.backup_days, 'day')}. Way back: {way_back}."


def _to_keep(case: Case) -> str:
    """How to have it called off."""
    ways = ["use it"] if case.cleanup.deletes else []
    ways += [f"tag it {literal(case.keep_tag)}"] if case.keep_tag else []
    ways += ["snooze or dismiss the finding"] if case.finding.status == "open" else []
    ways += ["press Stop"] if case.may_stop else []
    return f"To keep it as it is: {', '.join([*ways, f'or {_command("stop", case)}'])}."


# -- Afterwards


def _called_off(case: Case) -> Message:
    cleanup = case.cleanup
    facts = [_done_so_far(cleanup)]
    if cleanup.removals:
        back = f"What had been taken off it is put back: {_command('status', case)} says how far that is."
        facts.append(_not_restored(cleanup) or back)
    elif made := [backup for backup in cleanup.backups if backup.id]:
        facts += [*_first(_kept(made)), "The sweeper deletes what is left over in a day or two."]
    return said(_title(case, "Called off", _why(cleanup)), _list(facts), *_foot(case, over=True))


def _done(case: Case) -> Message:
    cleanup = case.cleanup
    if cleanup.setting is not None:
        was = f" from {in_words(cleanup.was)}" if cleanup.was else ""
        title, what = "Changed", f"It was changed{was} to {in_words(cleanup.setting)}."
    else:
        title, what = "Deleted", "It is gone, with all that hung on it."
    facts = [_saves(cleanup), *_first(_kept(cleanup.backups))]
    if cleanup.deletes and cleanup.scratch:
        facts.append("It was not backed up, as the policy says of its tag: it cannot be undone.")
    else:
        comes_back = COMES_BACK.get(cleanup.resource.type, "") if cleanup.deletes else ""
        facts.append(_not_restored(cleanup) or f"To undo it: {_command('undo', case)}{comes_back}")
    by = [note(f"Approved by {who(cleanup.approved_by)}.")] if cleanup.approved_by else []
    return said(_title(case, title, what), _list(facts), *by, *_foot(case, over=True))


def _failed(case: Case) -> Message:
    """What was done and what was not, before all else: whoever reads it may have to act."""
    cleanup = case.cleanup
    undo = cleanup.undone is not None
    title = f"{BAD} {'Undo' if undo else 'Clean-up'} failed"
    facts = [_done_so_far(cleanup), *_first(_kept(cleanup.backups))]
    if undo:
        came = cleanup.restored.id if cleanup.restored else None
        facts.append(f"What came back so far: {literal(came)}." if came else "Nothing is known to have come back.")
        facts.append(_not_restored(cleanup) or f"To go on from where it is: {_command('undo', case)}")
    elif cleanup.removals:
        facts.append(_putting_back(case))
    elif cleanup.changed_at:
        facts.append(f"To put the old one back: {_command('undo', case)}")
    else:
        facts.append(
            f"Once what stood in the way is mended: slackwater findings reopen {_id(case)}, and approve it again."
        )
    facts.append(f"The whole story: {_command('status', case)}")
    return said(_title(case, title, _why(cleanup)), _list(facts), *_foot(case, over=True))


def _putting_back(case: Case) -> str:
    """How far what was taken off it is back, as far as that is known."""
    restored, undo = case.cleanup.restored, _command("undo", case)
    if restored and restored.state == "done":
        return "What was taken off it is put back."
    if why := _not_restored(case.cleanup):
        return why
    if (restored and restored.state == "failed") or case.cleanup.why.startswith(NOT_PUT_BACK):
        return f"What was taken off it is not all put back; to try again: {undo}"
    next_ = "What was taken off it is put back next, if it itself stays"
    return f"{next_}; if that fails, another message says so. By hand: {undo}"


def _not_restored(cleanup: Cleanup) -> str | None:
    """Why no undo brings it back; None where one does."""
    return f"{literal(cleanup.not_restored, SENTENCE)}." if cleanup.not_restored else None


def _undone(case: Case) -> Message:
    cleanup, restored = case.cleanup, case.cleanup.restored
    if cleanup.setting is not None:
        what = f"It was changed back to {in_words(cleanup.was)}." if cleanup.was else "Nothing had been changed."
    elif restored is None:
        what = "Nothing had been removed."
    elif restored.id in {None, cleanup.resource.id}:
        what = "What had been taken off it was put back."
    else:
        what = f"It came back as {literal(restored.id or '')}."
    differences = [f"Not as it was: {literal(one, SENTENCE)}" for one in (restored.differences if restored else ())]
    asked, by = cleanup.undone, []
    if asked:
        why = literal(asked.why, SENTENCE) if asked.why.strip() else ""
        by = [note(f"{who(asked.who)} asked for it{':' if why else '.'}", why)]
    facts = _list(differences or ["Nothing is known that is not as it was."])
    return said(_title(case, "Undone", what), facts, *by, *_foot(case, over=True))


# -- Parts of these


def _title(case: Case, title: str, rest: str) -> Block:
    return paragraph(run(f"{title}: {named(case.cleanup.resource)}", "bold"), run(f"\n{rest}"))


def _list(facts: Sequence[str]) -> Block:
    return rich(bullets(section(run(fact)) for fact in _first(facts)))


def _foot(case: Case, *, over: bool = False) -> tuple[Block, ...]:
    """What it is about, and the buttons: only Details, where it is over; Stop as well, where somebody has decided."""
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
    """When what is approved now is done."""
    return f"after {time(cleanup.marked.act_after)}" if cleanup.marked else "after its days of grace"


def _done_so_far(cleanup: Cleanup) -> str:
    """What was deleted or changed until it ended: the one thing that must not be guessed at."""
    if cleanup.removals:
        parts = [f"{_kind(one.part)} {literal(one.part.id)}" for one in cleanup.removals]
        gone = {one.part.id for one in cleanup.removals}
        itself = "" if cleanup.resource.id in gone else f" {literal(cleanup.resource.id)} itself was not deleted."
        whether = "whether it is" if cleanup.removed == 1 else "whether each of them is"
        return f"AWS was asked to delete {_some(parts, cleanup.removed)}; {whether} gone is to be seen in AWS.{itself}"
    if cleanup.changed_at and cleanup.setting is not None:
        return f"AWS was asked to change it to {in_words(cleanup.setting)}; whether it did is to be seen in AWS."
    return "Nothing was deleted." if cleanup.deletes else "Nothing was changed."


def _kept(backups: Sequence[Backup]) -> list[str]:
    """`Backup of vol-1: snap-1, verified, kept until 2027-02-20`; until when only where there is something to keep."""
    return [
        f"Backup of {literal(one.subject.id)}: {literal(one.id) if one.id else 'one that AWS may or may not have begun'},"
        f" {one.state}{f', kept until {date(one.expires_at)}' if one.state in {'complete', 'verified'} else ''}"
        for one in backups
    ]


def _saves(cleanup: Cleanup) -> str:
    """What was promised, less what its backups cost while they are kept."""
    promised, backup = cleanup.promised_monthly_usd, cleanup.backup_monthly_usd
    words = saving(None if promised is None else f"{promised:.2f}")
    words = f"It {words}" if promised is not None else "What it saves is not known"
    if not cleanup.backups or cleanup.scratch:
        return f"{words}."
    until = date(max(one.expires_at for one in cleanup.backups))
    if backup is None:
        return f"{words}, less what its backup costs until {until}: that price is not known here."
    net = f": {promised - backup:,.2f} USD a month until then" if promised is not None else ""
    return f"{words}, less {backup:,.2f} USD a month for its backup until {until}{net}."


def _children(cleanup: Cleanup) -> list[str]:
    """What hangs on it, by what was recorded; by its parts, where that says nothing."""
    recorded = cleanup.recorded or {}
    found = [
        f"{noun} {_child(one)}"
        for kind, noun in CHILDREN.items()
        for one in recorded.get(kind, ())
        if isinstance(one, Mapping)
    ]
    found += [f"volume {_child(one)}" for one in recorded.get("children", ()) if isinstance(one, Mapping)]
    return found or [f"{_kind(one)} {literal(one.id)}" for one in cleanup.parts if one.id != cleanup.resource.id]


def _kind(part: SubResource) -> str:
    return part.kind.replace("-", " ")


def _child(recorded: Mapping[str, Any]) -> str:
    """`fsvol-1 (home, /fsx/home, 100 GiB)`."""
    root = recorded.get("root_directory")
    told = (
        recorded.get("name") or recorded.get("Name"),
        recorded.get("path") or (root.get("Path") if isinstance(root, Mapping) else None) or recorded.get("ip_address"),
    )
    facts = [literal(str(one)) for one in told if one]
    if size := recorded.get("size_bytes"):
        facts.append(measure(size, "bytes"))
    id_ = literal(str(recorded.get("id") or "?"))
    return shortened(f"{id_} ({', '.join(facts)})" if facts else id_, CHILD)


def _some(things: Sequence[str], of: int | None = None) -> str:
    """The first of them, and how many more there are; `of` is how many if not all are here."""
    return ", ".join(_first(things, of))


def _first(things: Sequence[str], of: int | None = None) -> list[str]:
    shown = things[:SHOWN]
    left = (len(things) if of is None else of) - len(shown)
    where = ": slackwater cleanup status has all" if of in {None, len(things)} else ""
    return [*shown, *([f"{left:,} more{where}"] if left > 0 else [])]


def _why(cleanup: Cleanup) -> str:
    return f"Why: {literal(cleanup.why, SENTENCE) if cleanup.why.strip() else 'nobody said so'}"


def _command(name: str, case: Case) -> str:
    return f"slackwater cleanup {name} {_id(case)}"


def _id(case: Case) -> str:
    return literal(case.cleanup.finding_id)
