"""A finding in Slack: as some blocks of a digest, as one line, and with all that is known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import batched
from types import MappingProxyType
from typing import Final

from slackwater.model.posts import Block
from slackwater.model.settings import in_words
from slackwater.model.tracking import FindingRecord, TrackedResource
from slackwater.model.verdicts import FindingKind, Severity
from slackwater.views.scan.document import FindingDocument, RecommendationDocument
from slackwater.views.scan.savings import Ways, ways
from slackwater.views.scan.savings import worth as worth_of
from slackwater.views.slack.blocks import (
    TEXT,
    Element,
    actions,
    bullets,
    button,
    code,
    lines,
    menu,
    paragraph,
    plain,
    rich,
    run,
    section,
    small,
)
from slackwater.views.slack.text import NAME, SENTENCE, literal, shortened
from slackwater.views.text.words import NOUNS, count, saving, told

MARKS: Final[dict[Severity, str]] = {"high": "🔴", "medium": "🟠", "low": "🟡", "info": "⚪"}
"""For the eye; the word is always said, too."""

SNOOZES: Final = {"7": "7 days", "30": "30 days", "90": "90 days"}

STOP: Final = "stop"
"""The button that stops a clean-up; its value is the finding's id."""

EVIDENCE, ADVICE, CAVEATS = 8, 3, 4
"""Of each in the details; the report has all."""
RISK, CAVEAT, COMMAND = 400, 350, 600
"""Characters; a longer command is in the report alone, since half of one is worse than none."""

LINE: Final = 400
LINES: Final = (TEXT + 1) // (LINE + 1)
"""Characters of a line, and lines of a block."""

NAMELESS: Final[Mapping[str, str]] = MappingProxyType({})
"""Accounts of which nobody knows more than their ids."""

type Told = tuple[FindingRecord, FindingDocument | None]
"""A finding, and how the scan document has it, where that is known."""

WAYS_BACK: Final = {
    "ebs-volume": ("a snapshot", "a volume made of the snapshot; it gets a new id"),
    "efs-file-system": ("a recovery point in AWS Backup", "a restore to a new file system; it gets a new id"),
    "fsx-file-system": ("a backup in FSx", "a restore; it gets a new id and address"),
    "fsx-volume": ("a backup in FSx", "a new volume made of the backup; it gets a new id"),
}
"""What is made before a resource is deleted, and how to have it back from that."""
GOES_TOO: Final = {"fsx-file-system": "Its automatic backups go with it."}
"""What a deletion takes that nobody sees hang on the resource."""
CONFIRM_TEXT, CONFIRM_NAME = 300, 24
"""Characters. A name that is longer is cut, so that no sentence after it is."""


def named(resource: TrackedResource, most: int = NAME) -> str:
    """A resource as `name (id)`, or its id alone where it has no name."""
    name, id_ = literal(resource.name, most), literal(resource.id, most)
    return id_ if name == id_ else f"{name} ({id_})"


def place(resource: TrackedResource, accounts: Mapping[str, str] = NAMELESS) -> str:
    """`eu-west-1, account 123456789012`; `accounts` has what to call an account."""
    return f"{literal(resource.region)}, account {literal(accounts.get(resource.account, resource.account))}"


def money(sighting: FindingRecord) -> str:
    """`saves 12.30 USD a month`."""
    usd = sighting.monthly_savings_usd
    return saving(None if usd is None else f"{usd:.2f}")


def worth(told: Iterable[Told]) -> tuple[Decimal, int]:
    """What the waste among them comes to, as in the scan document's totals; of how many resources that is not known."""
    return worth_of(_ways(one, found) for one, found in told if one.kind == "waste")


def _ways(sighting: FindingRecord, found: FindingDocument | None) -> Ways:
    return ways(found) if found else (sighting.resource.arn, (sighting.monthly_savings_usd,))


def could_be_saved(usd: Decimal, unpriced: int) -> str:
    """`41.20 USD a month could be saved (1 unpriced)`."""
    if not usd:
        return "saving unknown" if unpriced else "no saving"
    return f"{usd:,.2f} USD a month could be saved{f' ({unpriced:,} unpriced)' if unpriced else ''}"


def comes_to(told: Sequence[Told]) -> str:
    """`41.20 USD a month could be saved (1 unpriced), 2 performance troubles`; empty where there is neither."""
    kinds = Counter(one.kind for one, _ in told)
    said = [could_be_saved(*worth(told))] if kinds["waste"] else []
    nouns: dict[FindingKind, str] = {"performance": "performance trouble", "risk": "risk"}
    said += [count(kinds[kind], noun) for kind, noun in nouns.items() if kinds[kind]]
    return ", ".join(said)


def shown(sighting: FindingRecord, aside: str = "", accounts: Mapping[str, str] = NAMELESS) -> tuple[Block, ...]:
    """A finding in two blocks: what it is and what it comes to; how sure that is, and whose."""
    told_of = (
        f"{sighting.severity.capitalize()} severity",
        f"{sighting.confidence} confidence",
        f"owner {literal(sighting.owner)}" if sighting.owner else "no owner",
        NOUNS.get(sighting.resource.type, literal(sighting.resource.type)),
        place(sighting.resource, accounts),
        literal(sighting.detector),
    )
    more = (literal(aside, SENTENCE),) if aside else ()
    return (title(sighting, f"\n{literal(sighting.summary, SENTENCE)}"), small(" · ".join((*told_of, *more))))


def title(sighting: FindingRecord, rest: str = "") -> Block:
    """What a finding is about, and what it comes to."""
    name = f"{MARKS[sighting.severity]} {named(sighting.resource)}"
    return paragraph(run(name, "bold"), run(f" · {money(sighting)}{rest}"))


def line(sighting: FindingRecord, aside: str = "", accounts: Mapping[str, str] = NAMELESS) -> str:
    """A finding in a line, of LINE characters at most."""
    resource = sighting.resource
    parts = (
        f"{MARKS[sighting.severity]} {named(resource, 50)}",
        money(sighting),
        f"{literal(sighting.detector, 40)}, {sighting.severity}",
        f"{literal(resource.region, 30)}/{literal(accounts.get(resource.account, resource.account), 45)}",
        *((f"owner {literal(sighting.owner, 40)}",) if sighting.owner else ()),
        *((literal(aside, 60),) if aside else ()),
    )
    return shortened(" · ".join(parts), LINE)


def in_lines(told: Iterable[str]) -> Iterator[Block]:
    """Lines in as few blocks as hold them whole."""
    return (lines("\n".join(some)) for some in batched(told, LINES, strict=False))


def choices(
    post_id: str,
    sighting: FindingRecord,
    *,
    may_decide: bool,
    may_approve: bool,
    may_stop: bool = False,
    acts: str | None = None,
) -> Block:
    """What people can do about a finding in a message. An approval is for the finding as it is shown: by its fingerprint.

    `acts` says when what is approved is deleted, such as "after 30 days"; None where nothing acts on an approval. `may_stop`
    where there is a clean-up to stop.
    """
    id_, name = sighting.id, named(sighting.resource, 20)
    elements = [button("details", "Details", id_, of=name)]
    if may_decide:
        elements += [menu("snooze", "Snooze", SNOOZES), button("dismiss", "Dismiss…", id_, of=name)]
    if may_approve and (sighting.setting or sighting.resource.type in WAYS_BACK):
        seen = f"{id_}:{sighting.fingerprint}"
        elements.append(button("approve", "Approve clean-up", seen, of=name, confirm=_confirm(sighting, acts)))
    if may_stop:
        elements.append(button(STOP, "Stop", id_, of=name, confirm=_confirm_stop(sighting)))
    return actions(f"{post_id}/{id_}", elements)


def _confirm_stop(sighting: FindingRecord) -> Element:
    text = (
        f"{named(sighting.resource, CONFIRM_NAME)} stays as it is: its clean-up is called off at its next step, within a day"
        " while it waits. To clean it up after all takes a new approval."
    )
    return {
        "title": plain("Stop the clean-up?"),
        "text": plain(shortened(text, CONFIRM_TEXT)),
        "confirm": plain("Stop it"),
        "deny": plain("Cancel"),
    }


def _confirm(sighting: FindingRecord, acts: str | None) -> Element:
    """What the press does, how much of it, and the way back: in 300 characters."""
    resource, to = sighting.resource, sighting.setting
    what = f"changed to {in_words(to)}" if to else f"deleted {acts}, unless it is used" if acts else "deleted"
    if to:
        back = "Way back: slackwater cleanup undo."
    else:
        backup, way_back = WAYS_BACK[resource.type]
        gone = f" {GOES_TOO[resource.type]}" if resource.type in GOES_TOO else ""
        back = f"Backup, first: {backup}. Way back: {way_back}.{gone}"
    but = " If it changes, that takes a new approval." if acts else " Nothing acts on it yet: clean-up is not enabled."
    text = f"{named(resource, CONFIRM_NAME)} {'is then' if acts else 'may be'} {what}: {money(sighting)}. {back}{but}"
    return {
        "title": plain("Approve clean-up?"),
        "text": plain(shortened(text, CONFIRM_TEXT)),
        "confirm": plain("Approve"),
        "deny": plain("Cancel"),
        **({"style": "danger"} if sighting.setting is None else {}),
    }


def details(sighting: FindingRecord, found: FindingDocument | None) -> tuple[Block, ...]:
    """A finding with its evidence, what to do and what to mind; that it is no longer kept, where `found` is None."""
    about = title(sighting, f"\n{literal(sighting.summary, SENTENCE)}")
    if found is None:
        return about, small("Its evidence is no longer kept.")
    facts = [f"{literal(fact['label'])}: {literal(told(fact))}" for fact in found["evidence"]]
    parts: list[Element] = [*_list("Evidence", facts, EVIDENCE)]
    for number, to_do in enumerate(found["recommendations"][:ADVICE], start=1):
        parts += _recommendation(number, to_do)
    if (left := len(found["recommendations"]) - ADVICE) > 0:
        parts.append(section(run(f"{count(left, 'other way')} to go about it: see the report.")))
    parts += _list("Mind", [literal(caveat, CAVEAT) for caveat in found["caveats"]], CAVEATS)
    return about, *((rich(*parts),) if parts else ())


def _list(name: str, items: Sequence[str], most: int) -> Iterator[Element]:
    if items:
        shown = [*items[:most], *([f"{len(items) - most} more: see the report"] if len(items) > most else [])]
        yield section(run(name, "bold"))
        yield bullets(section(run(item)) for item in shown)


def _recommendation(number: int, to_do: RecommendationDocument) -> Iterator[Element]:
    undo = "can be undone" if to_do["reversible"] else "cannot be undone"
    yield section(
        run(f"{number}. {literal(to_do['summary'], SENTENCE)}", "bold"),
        run(f" ({saving(to_do['monthly_savings_usd'])}; {undo})\n{literal(to_do['risk'], RISK)}"),
    )
    command = to_do.get("command", "")
    if command and len(command) <= COMMAND and _typed(command):
        yield code(command)
    elif command:
        yield section(run("Its command is in the report.", "italic"))


def _typed(command: str) -> bool:
    """Whether a command holds nothing that cannot be seen: it is shown as it is, to be copied, or not at all."""
    return all(literal(part, COMMAND) == part for part in command.replace("\n", " ").split(" ") if part)
