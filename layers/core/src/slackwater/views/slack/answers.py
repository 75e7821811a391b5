"""Answers to the slash command and to buttons. Only the person who asked sees them."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from slackwater.model.audits import Allowance, AuditRecord
from slackwater.model.cleanup import Cleanup
from slackwater.model.listing import Page
from slackwater.model.posts import Message
from slackwater.model.settings import in_words
from slackwater.model.tracking import SERVICE, LedgerEntry, TrackedFinding
from slackwater.views.cleanup.words import NOTHING_STARTED, UNCONFIRMED
from slackwater.views.scan.document import FindingDocument
from slackwater.views.slack import finding
from slackwater.views.slack.blocks import Element, bullets, link, message_of, note, paragraph, rich, run, section, small
from slackwater.views.slack.decided import became, date, who
from slackwater.views.slack.digest import date_and_time, time, unseen, whole
from slackwater.views.slack.text import SENTENCE, literal, mrkdwn
from slackwater.views.text.words import allowance, count

COMMANDS: Final = {
    "/slackwater status": "The last audit, what it found, and what it could not read.",
    "/slackwater top [n]": "The open findings with the highest savings: 5, or up to 20.",
    "/slackwater audit [account] [region]": "Start an audit, if the policy names you.",
    "/slackwater explain <detector>": "What a detector finds, when it can be wrong, and what to do.",
}

TOP: Final = 20
"""Maximum number of findings that `top` shows."""
HISTORY: Final = 5
"""Number of the last changes of a finding that are shown."""
PARAGRAPH: Final = 2_000
"""Maximum characters of a paragraph of documentation."""

NOT_ENABLED: Final = "clean-up is not enabled here (CleanupEnabled), and nothing acts on approvals."

_HEADING: Final = re.compile(r"^## (.+)$", re.MULTILINE)


def status(
    last: AuditRecord | None,
    findings: Page[TrackedFinding],
    running: AuditRecord | None = None,
    left: Allowance | None = None,
) -> Message:
    """Return the state of the installation.

    Args:
        last: The last audit that ended; None if there is none.
        findings: The page of open findings with the highest savings.
        running: The audit that is running, if any.
        left: What audits may still do today; None leaves it out.
    """
    parts = [section(run("Last audit", "bold"), run(f": {_ended(last)}"))]
    if last and (not_seen := unseen(last, ())):
        parts.append(section(run("Could not read", "bold"), run(f": {not_seen}")))
    parts.append(section(run("Open now", "bold"), run(f": {_open(findings)}")))
    if running:
        parts.append(section(run("Running", "bold"), run(f": the audit of {time(running.started_at)}")))
    if left:
        parts.append(section(run("Left today", "bold"), run(f": {allowance(left)}")))
    return message_of(rich(*parts))


def top(findings: Page[TrackedFinding]) -> Message:
    """Return the first of these findings, one line each. `findings` come with the highest saving first."""
    shown_findings = findings.items[:TOP]
    if not shown_findings:
        return message_of(paragraph(run("No finding is open.")))
    more = findings.cursor is not None or len(findings.items) > len(shown_findings)
    note_of_more = [small("There are more: slackwater findings list has all.")] if more else []
    listed = finding.in_lines((finding.line(one.sighting), 1) for one in shown_findings)
    return message_of(*(block for block, _ in listed), *note_of_more)


def explain(id: str, title: str, documentation: str) -> Message:
    """Return what a detector finds. `documentation` is its page, from `engine.registry.documentation`."""
    _, *parts = _HEADING.split(documentation)
    sections = zip(parts[::2], parts[1::2], strict=True)
    return message_of(
        paragraph(run(f"{title} ", "bold"), run(id, "code")),
        *(paragraph(run(f"{heading}\n", "bold"), *_runs(body)) for heading, body in sections),
    )


def details(shown: TrackedFinding, evidence: FindingDocument | None, ledger: Sequence[LedgerEntry] = ()) -> Message:
    """Return a finding with its evidence, status and last changes. `evidence` is None if it has expired."""
    status = [note(*became(shown))] if shown.status != "open" else []
    history = (note(*_change(entry)) for entry in ledger[-HISTORY:])
    return message_of(*finding.details(shown.sighting, evidence), *status, *history, small(_where(shown)))


def report(url: str, record: AuditRecord, minutes: int) -> Message:
    """Return the link to a report. It works for some minutes."""
    where = (
        link(url, f"The report of {time(record.started_at)}"),
        run(f". The link works for {count(minutes, 'minute')}."),
    )
    return message_of(paragraph(*where))


def started(audit_id: str, account: str | None, regions: Sequence[str]) -> Message:
    """Say that an audit has started. Without an account or regions, it covers those that the policy names."""
    where = f"account {literal(account)}" if account else "the policy's accounts"
    place = ", ".join(literal(region) for region in regions) or "the policy's regions"
    return message_of(paragraph(run(f"Audit {literal(audit_id)} of {where}, {place}, has started.")))


def usage(problem: str = "") -> Message:
    """Return the list of commands. `problem` says what was wrong with the command that was sent."""
    first = [paragraph(run(literal(problem, SENTENCE)))] if problem else []
    items = (section(run(command, "code"), run(f" {what}")) for command, what in COMMANDS.items())
    return message_of(*first, rich(bullets(items)))


def done(shown: TrackedFinding) -> Message:
    """Return the status of a finding, for the person who just decided on it."""
    status = became(shown) if shown.status != "open" else ("Open again.", "")
    return message_of(paragraph(run(finding.named(shown.sighting.resource), "bold")), note(*status))


def approved(shown: TrackedFinding, *, acts_after: datetime | None, why_not: str = "") -> Message:
    """Say what happens after an approval.

    Args:
        shown: The approved finding.
        acts_after: When the deletion may start; None if no clean-up started.
        why_not: Why no clean-up started; empty if one did, or if clean-up is not enabled.
    """
    setting, id_ = shown.sighting.setting, literal(shown.id)
    if why_not or acts_after is None:
        why = (why_not or NOT_ENABLED).removeprefix(NOTHING_STARTED)
        next_ = f"{'' if why.startswith(UNCONFIRMED) else 'Nothing started: '}{literal(why, SENTENCE)}"
    elif setting is not None:
        next_ = (
            f"Slackwater changes it to {in_words(setting)}. To restore the old setting: slackwater cleanup undo {id_}"
        )
    else:
        next_ = (
            f"Slackwater backs it up and deletes it after {date_and_time(acts_after)}, unless someone uses it before."
            f" To stop this, press {finding.KEEP} in the message about its tag, or run: slackwater cleanup stop {id_}"
        )
    message = done(shown)
    return message_of(*message.blocks, small(next_))


def stopped(cleanup: Cleanup) -> Message:
    """Say that a clean-up is stopped, by whom, and what happens next."""
    by = f" by {who(cleanup.stopped.who)} on {date(cleanup.stopped.at)}" if cleanup.stopped else ""
    next_ = (
        "The clean-up ended."
        if cleanup.ended
        else "Its next step cancels it: at once if it is working, within a day if it is waiting."
    )
    return message_of(
        paragraph(run(finding.named(cleanup.resource), "bold")),
        note(f"Stopped{by}."),
        small(f"{next_} To clean it up later, approve it again."),
    )


def already_decided(shown: TrackedFinding) -> Message:
    """Say that someone else has already decided: who, and when."""
    decision = shown.decision
    at = f" That was on {time(decision.at)}." if decision else ""
    about = paragraph(
        run("Nothing was changed", "bold"), run(f": {finding.named(shown.sighting.resource)} is already decided.{at}")
    )
    return message_of(about, note(*became(shown))) if shown.status != "open" else message_of(about)


def changed(shown: TrackedFinding) -> Message:
    """Say that a finding has changed since the message showed it, because an approval is only for what was shown."""
    why = f": {finding.named(shown.sighting.resource)} has changed since then. This is its current state:"
    return message_of(paragraph(run("Nothing was changed", "bold"), run(why)), *finding.shown(shown.sighting))


def not_allowed(key: str, user: str) -> Message:
    """Say that the policy does not name the user. `key` is the policy key that would, such as slack.deciders."""
    own = f"Your id is {mrkdwn(literal(user))}; ask an owner of the policy to add it."
    return message_of(
        paragraph(
            run("Not allowed", "bold"), run(": the policy's "), run(literal(key), "code"), run(" does not name you.")
        ),
        note(own),
    )


def problem(words: str) -> Message:
    """Say that something did not work, and why."""
    return message_of(paragraph(run("That did not work", "bold"), run(f": {literal(words, SENTENCE)}")))


def _ended(last: AuditRecord | None) -> str:
    if last is None:
        return "none has ended yet"
    if last.state == "failed":
        return f"{time(last.started_at)}, failed: {literal(last.error or 'unknown reason', SENTENCE)}"
    return f"{time(last.started_at)}, {last.state}. {whole(last)}"


def _open(findings: Page[TrackedFinding]) -> str:
    if not findings.items:
        return "no finding"
    comes_to = finding.comes_to([(one.sighting, None) for one in findings.items])
    at_least = "at least " if findings.cursor else ""
    return f"{at_least}{count(len(findings.items), 'finding')}: {comes_to}"


def _change(entry: LedgerEntry) -> tuple[str, str]:
    by = "" if entry.who == SERVICE else f" by {who(entry.who)}"
    why = literal(entry.why, SENTENCE) if entry.why.strip() else ""
    return f"{date(entry.at)}: {entry.happening}{by}{':' if why else ''}", why


def _where(shown: TrackedFinding) -> str:
    return (
        f"{finding.place(shown.sighting.resource)} · {literal(shown.sighting.detector)} · finding {literal(shown.id)}"
    )


def _runs(body: str) -> Iterator[Element]:
    """Yield text of the documentation: paragraphs, with text between backticks as code."""
    paragraphs = "\n".join(literal(part, PARAGRAPH) for part in body.strip().split("\n\n"))
    for number, part in enumerate(paragraphs.split("`")):
        if part:
            yield run(part, "code") if number % 2 else run(part)
