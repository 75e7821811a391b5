"""The digest of an audit's changes for a channel, and its thread."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, get_args

from slackwater.model.audits import AuditOutcome, AuditRecord
from slackwater.model.findings import REGION_DISABLED, Gap, UnlistedReason
from slackwater.model.posts import Block, Message
from slackwater.model.rank import rank
from slackwater.model.tracking import LedgerEntry
from slackwater.views.scan.document import TrendPointDocument
from slackwater.views.scan.organization import Organization
from slackwater.views.scan.to_json import rfc3339
from slackwater.views.scan.trend import since
from slackwater.views.slack import finding
from slackwater.views.slack.blocks import (
    BLOCKS,
    ROOM,
    actions,
    button,
    header,
    mention,
    message_of,
    paragraph,
    run,
    small,
    weight,
)
from slackwater.views.slack.news import FindingChange, News
from slackwater.views.slack.text import SENTENCE, literal
from slackwater.views.text.words import ceiling, count, disabled_regions, inconclusive, is_held_back

MESSAGES, OF_DETAILS = 5, 3
"""Maximum number of messages in a thread, and how many of them details may use."""

NAMED: Final = 3
"""Maximum entries named of resolved findings, incomplete targets and highest savings. The rest is counted."""
MIXED: Final = 2
"""If the digest has at least this many places, one is for a performance issue."""
MENTIONED: Final = 10
"""Maximum number of people and groups that are mentioned."""
GONE: Final = 20
"""Maximum number of resolved findings listed in the thread."""
ACCOUNTS: Final = 5
"""Maximum number of incomplete accounts that are named. The rest is counted."""

UNLISTED: Final = frozenset(get_args(UnlistedReason.__value__))
"""Reasons for which a finding is no longer listed, although nothing was saved."""

ELSEWHERE: Final = "slackwater findings list --limit 0 and the report have all."


def digest(news: News, post_id: str) -> tuple[Message, ...]:
    """Return the digest and the messages of its thread, at most five; only `nothing` if nothing is new or changed.

    `post_id` is the digest's id, which its buttons send back.
    """
    changes = (*news.new, *news.changed)
    if not changes or news.audit.state == "failed":
        return (nothing(news),)
    top, rest = _chosen(news, changes, post_id)
    return (_digest(news, top, len(rest), post_id), *_thread(news, top, rest))


def nothing(news: News) -> Message:
    """Return one line: nothing is new, or the audit failed and why."""
    audit = news.audit
    if audit.state == "failed":
        why = literal(audit.error or "unknown reason", SENTENCE)
        return message_of(paragraph(run(f"The audit of {time(audit.started_at)} failed", "bold"), run(f": {why}")))
    elsewhere = f"{count(news.others, 'change')} posted to other channels." if news.others else ""
    parts = (
        "Nothing new here." if news.others else "Nothing new.",
        elsewhere,
        _gone(news.gone),
        _unseen(news),
        _undecided(news),
        _whole(news),
    )
    return message_of(paragraph(run(" ".join(part for part in parts if part))))


def _chosen(
    news: News, changes: Sequence[FindingChange], post_id: str
) -> tuple[Sequence[FindingChange], Sequence[FindingChange]]:
    """Return the findings for the digest itself, and the others.

    The digest has as many as the policy sets, or fewer if they are long. The last place is for the most severe
    performance issue if no other place has it.
    """
    most = min(news.top, len(changes))
    while True:
        top = _with_performance(changes, most)
        rest = [one for one in changes if all(one is not other for other in top)]
        if not most or weight(_digest(news, top, len(rest), post_id).blocks) <= ROOM:
            return top, rest
        most -= 1


def _with_performance(changes: Sequence[FindingChange], most: int) -> Sequence[FindingChange]:
    top, gravest = changes[:most], _gravest(changes)
    if most < MIXED or gravest is None or any(one is gravest for one in top):
        return top
    return (*changes[: most - 1], gravest)


def _gravest(changes: Iterable[FindingChange]) -> FindingChange | None:
    """Return the performance issue that ranks first. New findings come before changed ones, so it may not be first."""
    issues = (one for one in changes if one.entry.evidence.kind == "performance")
    return min(issues, key=lambda one: rank(one.entry.evidence), default=None)


def _digest(news: News, top: Sequence[FindingChange], more: int, post_id: str) -> Message:
    head = [header(_headline(news)), small(_about(news)), *_mentions(news)]
    if not_seen := _unseen(news):
        head.append(paragraph(run("Could not read", "bold"), run(f": {not_seen}")))
    if most_expensive := _most_expensive(news.organization):
        head.append(paragraph(run("Highest savings in", "bold"), run(f": {most_expensive}")))
    body = [block for one in top for block in _finding(news, one, post_id)]
    gone = _gone(news.gone)
    foot = [paragraph(run(gone))] if gone else []
    if rest := _rest(news, more):
        foot.append(small(rest))
    report = [actions(f"{post_id}/report", [button("report", "Open the report")])] if news.buttons else []
    return message_of(*head, *body, *foot, *report)


def _finding(news: News, one: FindingChange, post_id: str) -> tuple[Block, ...]:
    sighting = one.entry.evidence
    shown = finding.shown(sighting, _aside(one.entry), _accounts(news), one.found, _label(news, one))
    if not news.buttons:
        return shown
    may_approve = sighting.id in news.approvable
    return (
        *shown,
        finding.choices(post_id, sighting, may_decide=news.may_decide, may_approve=may_approve, acts=_acts(news)),
    )


def _label(news: News, one: FindingChange) -> str:
    """Return why a performance issue has its place: it is the most severe one, whatever the waste beside it saves."""
    changes = (*news.new, *news.changed)
    issues = [other for other in changes if other.entry.evidence.kind == "performance"]
    if one is not _gravest(issues) or one is changes[0]:
        return ""
    return "Gravest performance issue" if len(issues) > 1 else "Performance issue"


def _mentions(news: News) -> list[Block]:
    """Return one paragraph that mentions the owners of new findings, each person or group once. Empty without any."""
    findings = Counter(
        news.people[owner] for one in news.new if (owner := one.entry.evidence.owner) and owner in news.people
    )
    if not findings:
        return []
    runs = [run("For ")]
    for number, (id_, many) in enumerate(findings.most_common(MENTIONED)):
        runs += [run(", ")] if number else []
        runs += [mention(id_), run(f" ({many:,})")]
    others, unowned = len(findings) - MENTIONED, len(news.new) - findings.total()
    runs += [run(f", {count(others, 'other owner')}")] if others > 0 else []
    runs += [run(f", {count(unowned, 'finding')} without an owner in Slack")] if unowned else []
    return [paragraph(*runs)]


def _headline(news: News) -> str:
    new = [(one.entry.evidence, one.found) for one in news.new]
    changed = [(one.entry.evidence, one.found) for one in news.changed]
    what = count(len(new), "new finding") if new else f"{count(len(changed), 'finding')} changed"
    incomplete = "Incomplete: at least " if news.audit.state == "incomplete" else ""
    return f"{incomplete}{what}: {finding.comes_to(new or changed)}"


def _about(news: News) -> str:
    changed = [f"{count(len(news.changed), 'finding')} changed"] if news.new and news.changed else []
    about = " · ".join((f"Audit of {time(news.audit.started_at)}", *changed, _beyond(news)))
    return f"{about} {_since(news)}".rstrip()


def _beyond(news: News) -> str:
    """Return what the whole audit found beyond the headline: if all of it is new, only where it is."""
    outcome = news.audit.outcome
    if outcome is None or outcome.findings > len(news.new):
        return _whole(news)
    return f"In {_where(news, outcome)}."


def _since(news: News) -> str:
    """Return how an organization's findings changed since the previous audit; empty for a single account."""
    outcome = news.audit.outcome
    if outcome is None or not news.trend or news.organization is None:
        return ""
    this = TrendPointDocument(
        audit_id=news.audit.id,
        as_of=rfc3339(news.audit.started_at),
        complete=news.audit.state == "complete",
        findings=outcome.findings,
        monthly_savings_usd=f"{outcome.monthly_savings_usd:.2f}",
    )
    return f"{since(news.trend[-1], this)}."


def _most_expensive(organization: Organization | None) -> str:
    """Return the organizational units, or accounts, with the highest savings; empty for a single account."""
    most_expensive = organization.most_expensive(NAMED) if organization else []
    return ", ".join(f"{literal(name)} ({finding.dollars(usd)} a month)" for name, usd in most_expensive)


def _accounts(news: News) -> finding.Accounts:
    """Return the names of accounts; None if all findings are in one account, which the head names."""
    if news.organization:
        return news.organization.names
    return None if _only_account(news) else finding.NAMELESS


def _only_account(news: News) -> str:
    """Return the account of all findings; empty if there are none, or if they are in several."""
    accounts = {one.entry.evidence.resource.account for one in (*news.new, *news.changed)}
    return accounts.pop() if len(accounts) == 1 else ""


def _whole(news: News) -> str:
    """Return the totals of the whole audit, whichever channels its findings went to."""
    saving = (
        finding.could_be_saved(news.waste_usd, news.waste_unpriced) if news.waste_usd or news.waste_unpriced else ""
    )
    outcome = news.audit.outcome
    return whole(news.audit, saving, _where(news, outcome)) if outcome else ""


def _where(news: News, outcome: AuditOutcome) -> str:
    """Return the places of the findings: regions of one account, or accounts."""
    if (organization := news.organization) is None:
        of = f" of account {literal(only)}" if (only := _only_account(news)) else ""
        return f"{count(outcome.targets, 'region')}{of}"
    return f"{organization.found_in:,} of {count(len(organization.names), 'account')}"


def whole(audit: AuditRecord, saving: str = "", where: str = "") -> str:
    """Return how much the whole audit found, where, and how much that saves. Empty without an outcome.

    Args:
        audit: The audit.
        saving: What its findings save, in words.
        where: The places in words; if empty, the number of targets.
    """
    outcome = audit.outcome
    if outcome is None:
        return ""
    found = f"In all {count(outcome.findings, 'finding')} in {where or count(outcome.targets, 'target')}"
    return f"{found}: {saving}." if saving else f"{found}."


def _acts(news: News) -> str | None:
    """Return when Slackwater deletes what is approved; None if nothing acts on approvals."""
    return None if news.grace_days is None else f"after {count(news.grace_days, 'day')}"


def _gone(gone: Iterable[LedgerEntry]) -> str:
    """Return the resolved findings and their savings, then how many are only no longer listed, and why."""
    entries = list(gone)
    whys = Counter(entry.why for entry in entries if entry.why in UNLISTED)
    solved = [entry.evidence for entry in entries if entry.why not in whys]
    parts = []
    if solved:
        usd, unpriced = finding.total_waste((one, None) for one in solved)
        saved = f", {finding.dollars(usd)} a month" if usd else ""
        of_unknown = f" ({unpriced:,} unpriced)" if unpriced else ""
        parts.append(
            f"{count(len(solved), 'finding')}{saved}{of_unknown}: "
            f"{_some([finding.named(one.resource) for one in solved])}"
        )
    if whys:
        reasons = ", ".join(f"{many:,} {why}" for why, many in whys.most_common())
        parts.append(f"no longer listed: {reasons}")
    return f"Resolved: {'; '.join(parts)}." if parts else ""


def _gone_in_lines(gone: Sequence[LedgerEntry]) -> Iterator[finding.Line]:
    """Yield the resolved findings, if the digest cannot name them all."""
    solved = [entry for entry in gone if entry.why not in UNLISTED]
    if len(solved) <= NAMED:
        return
    yield "Resolved since the last audit:", 0
    for entry in solved[:GONE]:
        yield f"{finding.named(entry.evidence.resource, 50)} · {literal(entry.evidence.detector, 40)}", 0
    if (left := len(solved) - GONE) > 0:
        yield f"{left:,} more", 0


def _unseen(news: News) -> str:
    return unseen(news.audit, news.gaps, news.organization, place="region")


def unseen(
    audit: AuditRecord,
    gaps: Sequence[Gap],
    organization: Organization | None = None,
    place: str = "target",
) -> str:
    """Return what the audit could not read; empty if it read everything.

    For an organization, incomplete accounts are listed instead of regions. Calls that the ceiling on metrics held back
    do not count as failed.
    """
    parts = []
    outcome = audit.outcome
    if outcome and outcome.incomplete_targets:
        if organization:
            many, of = len(organization.unseen), count(len(organization.names), "account")
            named = _blind(organization)
        else:
            some = [f"{literal(one.region)}/{literal(one.account)} ({_why(one.why)})" for one in outcome.incomplete]
            many, of = outcome.incomplete_targets, count(outcome.targets, place)
            named = _some(some, outcome.incomplete_targets)
        again = (
            f" This is incomplete audit {outcome.incomplete_in_a_row:,} in a row."
            if outcome.incomplete_in_a_row > 1
            else ""
        )
        parts.append(f"{many:,} of {of} incomplete, and findings there may be missing: {named}.{again}")
    held = [gap for gap in gaps if is_held_back(gap.reason)]
    if required := [gap for gap in gaps if not gap.optional and not is_held_back(gap.reason)]:
        calls = dict.fromkeys(f"{literal(gap.what)}: {literal(gap.reason, 150)}" for gap in required)
        which = "" if parts else f": {_some([*calls])}"  # the incomplete targets already say what failed
        parts.append(f"{count(len(required), 'required call')} failed{which}.")
    incomplete = outcome.incomplete if outcome else ()
    if reached := ceiling([*(gap.reason for gap in held), *(one.why for one in incomplete)]):
        parts.append(f"{reached[0].upper()}{reached[1:]}.")
    shut = [(gap.account, gap.region) for gap in gaps if gap.what == REGION_DISABLED]
    parts += [literal(one, SENTENCE) for one in disabled_regions(shut)]
    if optional := len(gaps) - len(required) - len(held) - len(shut):
        parts.append(f"{count(optional, 'call')} failed that the audit does not require.")
    return " ".join(parts)


def _undecided(news: News) -> str:
    """Return how many checks had too little data to decide. Nothing failed there."""
    return f"{inconclusive(news.unknown)}." if news.unknown else ""


def _blind(organization: Organization) -> str:
    """Return the first incomplete accounts, each with what is missing and why. A reason that all share appears once."""
    blind, names = organization.unseen, organization.names
    alike = {_why(one.why.replace(one.account, "{account}")) for one in blind}
    if len(alike) == 1:
        of_all = [f"{literal(names[one.account])} ({literal(one.extent)})" for one in blind]
        return f"{_some(of_all, most=ACCOUNTS)}; {alike.pop()}"
    each = [f"{literal(names[one.account])} ({literal(one.extent)}: {_why(one.why)})" for one in blind]
    return _some(each, most=ACCOUNTS)


def _why(why: str) -> str:
    """Return why something is incomplete.

    The ceiling on metrics has a fixed short text: reasons differ in the amount spent, and another sentence states it.
    """
    return "the ceiling on metrics" if is_held_back(why) else literal(why, 150)


def _rest(news: News, more: int) -> str:
    """Return what this message leaves out, and where to find it."""
    parts = []
    if news.buttons:
        parts.append(f"Details{f' and {more:,} more' if more else ''} are in the thread.")
    elif more:
        parts.append(f"{more:,} more: {ELSEWHERE}")
    if news.others:
        parts.append(f"{count(news.others, 'change')} posted to other channels.")
    if news.unknown:
        parts.append(_undecided(news))
    return " ".join(parts)


def _thread(news: News, top: Sequence[FindingChange], rest: Sequence[FindingChange]) -> list[Message]:
    """Return the thread: details of the findings in the digest, a line for each other one by owner, resolved findings.

    What does not fit is counted.
    """
    packed, left_out = _packed([finding.details(one.entry.evidence, one.found) for one in top], OF_DETAILS)
    listed = [
        finding.ListedFinding(one.entry.evidence, finding.fix(one.found, finding.FIX), _aside(one.entry), one.found)
        for one in rest
    ]
    tail = [*finding.in_lines(finding.by_owner(listed, _accounts(news))), *finding.in_lines(_gone_in_lines(news.gone))]
    of_tail, too_much = _packed([(block,) for block, _ in tail], MESSAGES - len(packed))
    untold = sum(findings for _, findings in tail[len(tail) - too_much :])
    notes = [
        *([f"Details of {count(left_out, 'finding')} more: {ELSEWHERE}"] if left_out else []),
        *([f"{untold:,} more: {ELSEWHERE}"] if untold else []),
    ]
    messages = [*packed, *of_tail]
    if notes:
        messages[-1] = [*messages[-1], small(" ".join(notes))]
    return [message_of(*blocks) for blocks in messages]


def _packed(units: Iterable[Sequence[Block]], most: int) -> tuple[list[list[Block]], int]:
    """Pack units into as few messages as possible, at most `most`, without splitting one.

    Returns:
        The messages, and the number of units that did not fit.
    """
    messages: list[list[Block]] = []
    left = 0
    for unit in units:
        fits = messages and len(messages[-1]) + len(unit) < BLOCKS and weight([*messages[-1], *unit]) <= ROOM
        if left or (not fits and len(messages) == most):
            left += 1
        elif fits:
            messages[-1].extend(unit)
        else:
            messages.append([*unit])
    return messages, left


def _some(names: Sequence[str], of: int | None = None, most: int = NAMED) -> str:
    """Return the first names, and how many more there are. `of` is the total if `names` has only some."""
    more = (len(names) if of is None else of) - len(names[:most])
    return f"{', '.join(names[:most])}{f' and {more:,} more' if more else ''}"


def _aside(entry: LedgerEntry) -> str:
    """Return the reason of a change; empty for a new finding."""
    return "" if entry.why == "new" else entry.why


def time(at: datetime) -> str:
    """Return a time such as `2026-11-16 09:07 UTC`."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def date_and_time(at: datetime) -> str:
    """Return a time such as `16 Nov 2026, 09:07 UTC`, for future times that people put into a calendar."""
    at = at.astimezone(UTC)
    return f"{at.day} {at:%b %Y, %H:%M} UTC"
