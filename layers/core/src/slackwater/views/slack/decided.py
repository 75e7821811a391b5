"""Updates a message after decisions on its findings: each decision replaces the finding's buttons."""

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from slackwater.model.cleanup import ActorNote
from slackwater.model.posts import Block, Message
from slackwater.model.tracking import Decision, Status, TrackedFinding
from slackwater.views.slack.blocks import Element, message_of, note
from slackwater.views.slack.finding import STOP
from slackwater.views.slack.text import SENTENCE, literal, mrkdwn

SLACK_USER: Final = re.compile(r"slack:([UW][A-Z0-9]{2,})")
"""The `who` of a decision that was made in Slack."""

UNDER_WAY: Final[tuple[Status, ...]] = ("approved", "cleaning")
"""Statuses of a finding, other than open, while its clean-up is under way."""


def decided(
    message: Message, findings: Mapping[str, TrackedFinding], stops: Mapping[str, ActorNote] | None = None
) -> Message:
    """Return the present version of a message, made from the version that was posted first.

    A finding that is not open shows its status instead of its buttons. A finding that is open again shows its buttons
    again. The button that stops its clean-up stays until the clean-up is over or stopped.

    Args:
        message: The message as first posted.
        findings: The findings by id.
        stops: Who stopped clean-ups, by finding id.
    """
    return message_of(*(now for block in message.blocks for now in _now(block, findings, stops or {})))


def stoppable(message: Message) -> list[str]:
    """Return the ids of the findings whose clean-up a message offers to stop."""
    return [_id(block) for block in message.blocks if block["type"] == "actions" and _offers(block, {STOP})]


def _now(block: Block, findings: Mapping[str, TrackedFinding], stops: Mapping[str, ActorNote]) -> Iterator[Block]:
    if block["type"] != "actions":
        yield block
        return
    finding, offered = findings.get(_id(block)), _offers(block, {STOP})
    stopped = stops.get(_id(block)) if offered else None
    if stopped:
        yield note(
            f"Stopped by {who(stopped.who)} on {date(stopped.at)}.",
            literal(stopped.why, SENTENCE) if stopped.why.strip() else "",
        )
    if finding is None or finding.status == "open":
        left = _without(block, {STOP, "approve"}) if stopped else block
        if left["elements"]:
            yield left
        return
    yield note(*became(finding))
    if offered and not stopped and finding.status in UNDER_WAY:
        yield {**block, "elements": offered}


def _id(block: Block) -> str:
    """Return the id of the finding that a row of buttons is about."""
    id_: str = block["block_id"].rpartition("/")[2]
    return id_


def _offers(block: Block, actions: Collection[str]) -> list[Element]:
    return [one for one in block["elements"] if one["action_id"] in actions]


def _without(block: Block, actions: Collection[str]) -> Block:
    return {**block, "elements": [one for one in block["elements"] if one["action_id"] not in actions]}


def became(finding: TrackedFinding) -> tuple[str, str]:
    """Return the status of a finding that is not open, in mrkdwn, and the reason as literal text."""
    decision = finding.decision
    match finding.status:
        case "snoozed" | "dismissed" | "approved" if decision and decision.status == finding.status:
            return _decided(decision), literal(decision.why, SENTENCE) if decision.why.strip() else ""
        case "resolved":
            return f"Resolved{_on(finding.resolved_at)}: it was cleaned up, or the audit no longer finds it.", ""
        case "cleaning":
            return "Being cleaned up.", ""
        case "failed":
            return "Its clean-up failed.", ""
        case status:
            return f"{status.capitalize()}.", ""


def _decided(decision: Decision) -> str:
    until = "for good" if decision.until is None else f"until {date(decision.until)}"
    by = f"by {who(decision.who)}"
    if decision.status == "approved":
        return f"Approved {by} {until}, for what it was on {date(decision.at)}."
    return f"{decision.status.capitalize()} {until} {by}{':' if decision.why.strip() else '.'}"


def who(who: str) -> str:
    """Return a person in mrkdwn: a Slack user as a mention, anyone else by name."""
    user = SLACK_USER.fullmatch(who)
    return f"<@{user[1]}>" if user else mrkdwn(literal(who))


def date(at: datetime) -> str:
    """Return a date in UTC, such as `2026-12-01`."""
    return f"{at.astimezone(UTC):%Y-%m-%d}"


def _on(at: datetime | None) -> str:
    return "" if at is None else f" on {date(at)}"
