"""A finding in Slack: as blocks of a digest, as one line, and with its details."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Final, NamedTuple

from slackwater.model.posts import Block
from slackwater.model.settings import in_words
from slackwater.model.tracking import FindingRecord, TrackedResource
from slackwater.model.verdicts import FindingKind, Severity
from slackwater.views.scan.document import FindingDocument, RecommendationDocument
from slackwater.views.scan.savings import Ways, total_savings, ways
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
from slackwater.views.text.words import NOUNS, count, evidence_text, undo

SEVERITY_ICONS: Final[dict[Severity, str]] = {"high": "🔴", "medium": "🟠", "low": "🟡", "info": "⚪"}
"""Visual signs only: the text says the same."""

SNOOZES: Final = {"7": "7 days", "30": "30 days", "90": "90 days"}

STOP, KEEP = "stop", "Keep it"
"""Action id and label of the button that stops a clean-up. Its value is the finding's id."""

EVIDENCE, ADVICE, CAVEATS = 8, 3, 4
"""Maximum entries of each in the details. The report has all."""
RISK, CAVEAT, COMMAND = 400, 350, 600
"""Maximum characters. A longer command is only in the report, because half a command is worse than none."""

LINE: Final = 540
"""Maximum characters of a line."""
FIX: Final = 160
"""Maximum characters of a fix in a line."""

NAMELESS: Final[Mapping[str, str]] = MappingProxyType({})
"""Accounts without known names: messages show their ids."""

type Accounts = Mapping[str, str] | None
"""Names of accounts by id. None leaves accounts out, because everything is in the same one."""

type Shown = tuple[FindingRecord, FindingDocument | None]
"""A finding, and its entry in the scan document; None if that is not available."""

ASK: Final = "Ask the owner"
"""Start of a recommendation that needs the owner."""

WAYS_BACK: Final = {
    "ebs-volume": ("a snapshot", "a new volume, with a new ID"),
    "efs-file-system": ("a recovery point in AWS Backup", "a new file system, with a new ID"),
    "fsx-file-system": ("a backup in FSx", "a new file system, with a new ID and address"),
    "fsx-volume": ("a backup in FSx", "a new volume, with a new ID"),
}
"""The backup that Slackwater creates before it deletes a resource, and how to get the resource back."""
DELETED_WITH_IT: Final = {"fsx-file-system": "Its automatic backups go with it."}
"""What else AWS deletes with a resource, although it is not listed as a sub-resource."""
CONFIRM_TEXT, CONFIRM_NAME = 300, 24
"""Maximum characters. A longer name is cut, so that the sentences after it fit."""


def named(resource: TrackedResource, most: int = NAME) -> str:
    """Return a resource as `name (id)`, or its id alone if it has no name."""
    name, id_ = literal(resource.name, most), literal(resource.id, most)
    return id_ if name == id_ else f"{name} ({id_})"


def place(resource: TrackedResource, accounts: Accounts = NAMELESS) -> str:
    """Return `eu-west-1, account 123456789012`. `accounts` has the names of accounts."""
    if accounts is None:
        return literal(resource.region)
    return f"{literal(resource.region)}, account {literal(accounts.get(resource.account, resource.account))}"


def money(sighting: FindingRecord) -> str:
    """Return `saves $12.30 a month`."""
    return saves(sighting.monthly_savings_usd)


def saves(usd: Decimal | None) -> str:
    """Return what a recommendation does to the monthly bill; None is unknown."""
    if usd is None:
        return "saving unknown"
    if not usd:
        return "no change in cost"
    return f"the fix costs {dollars(-usd)} a month" if usd < 0 else f"saves {dollars(usd)} a month"


def dollars(usd: Decimal) -> str:
    """Return `$1,012.30`, or `-$3.00`."""
    return f"{'-' if usd < 0 else ''}${abs(usd):,.2f}"


def total_waste(pairs: Iterable[Shown]) -> tuple[Decimal, int]:
    """Add up the savings of the waste among these findings, by the rule of the scan document's totals.

    Returns:
        US dollars a month, and the number of resources whose saving is unknown.
    """
    return total_savings(_ways(one, found) for one, found in pairs if one.kind == "waste")


def _ways(sighting: FindingRecord, found: FindingDocument | None) -> Ways:
    return ways(found) if found else (sighting.resource.arn, (sighting.monthly_savings_usd,))


def could_be_saved(usd: Decimal, unpriced: int) -> str:
    """Return `$41.20 a month can be saved (1 unpriced)`."""
    if not usd:
        return "saving unknown" if unpriced else "no saving"
    return f"{dollars(usd)} a month can be saved{f' ({unpriced:,} unpriced)' if unpriced else ''}"


def comes_to(pairs: Sequence[Shown]) -> str:
    """Return `$41.20 a month can be saved (1 unpriced), 2 performance issues`; empty if there is neither."""
    kinds = Counter(one.kind for one, _ in pairs)
    parts = [could_be_saved(*total_waste(pairs))] if kinds["waste"] else []
    nouns: dict[FindingKind, str] = {"performance": "performance issue", "risk": "risk"}
    parts += [count(kinds[kind], noun) for kind, noun in nouns.items() if kinds[kind]]
    return ", ".join(parts)


def fix(found: FindingDocument | None, most: int = SENTENCE) -> str:
    """Return `Fix: …`, the summary of the first recommendation; empty if no recommendation is known."""
    if found is None or not found["recommendations"]:
        return ""
    return f"Fix: {literal(_advice(found['recommendations'][0], found['owner']), most)}"


def _advice(to_do: RecommendationDocument, owner: str | None) -> str:
    """Return what to do. If the owner is unknown, the first step is to find the owner."""
    if owner or not to_do["summary"].startswith(ASK):
        return to_do["summary"]
    return f"Find and ask the owner{to_do['summary'].removeprefix(ASK)}"


def shown(
    sighting: FindingRecord,
    aside: str = "",
    accounts: Accounts = NAMELESS,
    found: FindingDocument | None = None,
    label: str = "",
) -> tuple[Block, ...]:
    """Return a finding in two blocks: what it is, its saving and its fix; then its confidence, owner and place.

    `label` says in bold before its name why it is shown.
    """
    facts = (
        f"{sighting.severity.capitalize()} severity",
        f"{sighting.confidence} confidence",
        f"owner {literal(sighting.owner)}" if sighting.owner else "no owner",
        NOUNS.get(sighting.resource.type, literal(sighting.resource.type)),
        place(sighting.resource, accounts),
        literal(sighting.detector),
    )
    more = (literal(aside, SENTENCE),) if aside else ()
    to_do = f"\n{fix(found)}" if fix(found) else ""
    about = title(sighting, f"\n{literal(sighting.summary, SENTENCE)}{to_do}", f"{label}: " if label else "")
    return (about, small(" · ".join((*facts, *more))))


def title(sighting: FindingRecord, rest: str = "", label: str = "") -> Block:
    """Return a finding's resource and saving."""
    name = f"{SEVERITY_ICONS[sighting.severity]} {label}{named(sighting.resource)}"
    return paragraph(run(name, "bold"), run(f" · {money(sighting)}{rest}"))


def line(sighting: FindingRecord) -> str:
    """Return a finding as one line of at most LINE characters."""
    owner = (f"owner {literal(sighting.owner, 40)}",) if sighting.owner else ()
    return shortened(" · ".join((*_facts(sighting), _where(sighting.resource, NAMELESS), *owner)), LINE)


def _facts(sighting: FindingRecord) -> tuple[str, ...]:
    return (
        f"{SEVERITY_ICONS[sighting.severity]} {named(sighting.resource, 50)}",
        money(sighting),
        f"{literal(sighting.detector, 40)}, {sighting.severity}",
    )


def _where(resource: TrackedResource, accounts: Accounts) -> str:
    if accounts is None:
        return literal(resource.region, 30)
    return f"{literal(resource.region, 30)}/{literal(accounts.get(resource.account, resource.account), 45)}"


type Line = tuple[str, int]
"""A line of text, and how many findings it is about: 0 or 1."""


def in_lines(listed: Iterable[Line]) -> Iterator[tuple[Block, int]]:
    """Yield lines packed into as few blocks as possible, each block with its number of findings."""
    text, findings = "", 0
    for words, many in listed:
        if text and len(text) + 1 + len(words) > TEXT:
            yield lines(text), findings
            text, findings = "", 0
        text, findings = f"{text}\n{words}" if text else words.lstrip("\n"), findings + many
    if text:
        yield lines(text), findings


class ListedFinding(NamedTuple):
    """A finding to list. Its fix and its remark may be empty; `found` is None if it is not in the scan document."""

    sighting: FindingRecord
    fix: str
    aside: str
    found: FindingDocument | None = None


def by_owner(listed: Sequence[ListedFinding], accounts: Accounts = NAMELESS) -> Iterator[Line]:
    """Yield a line for each finding, and one for its fix, by owner. The owner with the highest savings comes first.

    Account and region appear once if all findings share them.
    """
    places = {_where(one.sighting.resource, accounts) for one in listed}
    one_place = len(places) == 1
    if one_place:
        yield f"All in {places.pop()}:", 0
    groups: dict[str | None, list[ListedFinding]] = {}
    for one in listed:
        groups.setdefault(one.sighting.owner or None, []).append(one)
    for owner, of_owner in sorted(groups.items(), key=_by_savings):
        usd, _ = total_waste((one.sighting, one.found) for one in of_owner)
        saving = f", {dollars(usd)} a month" if usd else ""
        first = f"\n{literal(owner, 60) if owner else 'No owner tag'}: {count(len(of_owner), 'finding')}{saving}\n"
        for one in of_owner:
            where = () if one_place else (_where(one.sighting.resource, accounts),)
            aside = (literal(one.aside, 60),) if one.aside else ()
            about = shortened(" · ".join((*_facts(one.sighting), *where, *aside)), LINE)
            yield f"{first}{about}\n{one.fix}".rstrip("\n"), 1
            first = ""


def _by_savings(group: tuple[str | None, list[ListedFinding]]) -> tuple[bool, Decimal, str]:
    owner, of_owner = group
    return (
        owner is None,
        -sum((one.sighting.monthly_savings_usd or Decimal(0) for one in of_owner), Decimal(0)),
        owner or "",
    )


def choices(  # noqa: PLR0913 -- each flag adds a button
    post_id: str,
    sighting: FindingRecord,
    *,
    may_decide: bool,
    may_approve: bool,
    may_stop: bool = False,
    acts: str | None = None,
) -> Block:
    """Return the buttons for a finding in a message.

    The approve button carries the finding's fingerprint, so that it approves only what is shown.

    Args:
        post_id: Id of the message's post.
        sighting: The finding.
        may_decide: Whether to offer snooze and dismiss.
        may_approve: Whether to offer approval, if Slackwater can act on the finding.
        may_stop: Whether there is a clean-up to stop.
        acts: When Slackwater deletes what is approved, such as "after 30 days"; None if nothing acts on approvals. A
            setting is changed without a grace period.
    """
    id_, name = sighting.id, named(sighting.resource, 20)
    elements = [button("details", "Details", id_, of=name)]
    if may_decide:
        elements += [menu("snooze", "Snooze", SNOOZES), button("dismiss", "Dismiss…", id_, of=name)]
    if may_approve and (sighting.setting or sighting.resource.type in WAYS_BACK):
        seen = f"{id_}:{sighting.fingerprint}"
        elements.append(button("approve", "Approve clean-up", seen, of=name, confirm=_confirm(sighting, acts)))
    if may_stop:
        elements.append(button(STOP, KEEP, id_, of=name, confirm=_confirm_stop(sighting)))
    return actions(f"{post_id}/{id_}", elements)


def _confirm_stop(sighting: FindingRecord) -> Element:
    text = (
        f"{named(sighting.resource, CONFIRM_NAME)} stays as it is: its clean-up is cancelled at its next step, within "
        "a day while it waits. To clean it up after all takes a new approval."
    )
    return {
        "title": plain("Keep the resource?"),
        "text": plain(shortened(text, CONFIRM_TEXT)),
        "confirm": plain(KEEP),
        "deny": plain("Cancel"),
    }


def _confirm(sighting: FindingRecord, acts: str | None) -> Element:
    """Return the dialog before an approval: what it does, the saving, and how to undo it, in 300 characters."""
    resource, to = sighting.resource, sighting.setting
    what = f"changed to {in_words(to)}" if to else f"deleted {acts}, unless it is used" if acts else "deleted"
    if to:
        back = "Undo: slackwater cleanup undo."
    else:
        backup, way_back = WAYS_BACK[resource.type]
        gone = f" {DELETED_WITH_IT[resource.type]}" if resource.type in DELETED_WITH_IT else ""
        back = f"Backup, first: {backup}. Undo: {way_back}.{gone}"
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
    """Return a finding with its evidence, options and caveats. Without `found`, say that the evidence has expired."""
    about = title(sighting, f"\n{literal(sighting.summary, SENTENCE)}")
    if found is None:
        return about, small("Its evidence has expired.")
    facts = [f"{literal(fact['label'])}: {literal(evidence_text(fact))}" for fact in found["evidence"]]
    parts: list[Element] = [*_list("Evidence", facts, EVIDENCE)]
    for number, to_do in enumerate(found["recommendations"][:ADVICE], start=1):
        parts += _recommendation(number, to_do, found["owner"])
    if (left := len(found["recommendations"]) - ADVICE) > 0:
        parts.append(section(run(f"{count(left, 'other option')}: see the report.")))
    parts += _list("Before you act", [literal(caveat, CAVEAT) for caveat in found["caveats"]], CAVEATS)
    return about, *((rich(*parts),) if parts else ())


def _list(name: str, items: Sequence[str], most: int) -> Iterator[Element]:
    if items:
        shown = [*items[:most], *([f"{len(items) - most} more: see the report"] if len(items) > most else [])]
        yield section(run(name, "bold"))
        yield bullets(section(run(item)) for item in shown)


def _recommendation(number: int, to_do: RecommendationDocument, owner: str | None) -> Iterator[Element]:
    usd = to_do["monthly_savings_usd"]
    yield section(
        run(f"{number}. {literal(_advice(to_do, owner), SENTENCE)}", "bold"),
        run(f" ({saves(None if usd is None else Decimal(usd))}; {undo(to_do)})\n{literal(to_do['risk'], RISK)}"),
    )
    command = to_do.get("command", "")
    if command and len(command) <= COMMAND and _typed(command):
        yield code(command)
    elif command:
        yield section(run("Its command is in the report.", "italic"))


def _typed(command: str) -> bool:
    """Return whether a command has no invisible characters. People copy it, so it is shown unchanged or not at all."""
    return all(literal(part, COMMAND) == part for part in command.replace("\n", " ").split(" ") if part)
