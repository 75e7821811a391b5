"""What became of the findings that a message is about: decisions show in the place of the buttons."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from slackwater.model.posts import Block, Message
from slackwater.model.tracking import Decision, TrackedFinding
from slackwater.views.slack.blocks import note, said
from slackwater.views.slack.text import SENTENCE, literal, mrkdwn

SLACK_USER: Final = re.compile(r"slack:([UW][A-Z0-9]{2,})")
"""A decision's `who`, where it was made in Slack."""


def decided(message: Message, findings: Mapping[str, TrackedFinding]) -> Message:
    """The message as it reads now, out of the one that was posted first.

    `findings` are by id. What became of one that is not open stands where its buttons were; one that is open has them back.
    """
    return said(*(_now(block, findings) for block in message.blocks))


def _now(block: Block, findings: Mapping[str, TrackedFinding]) -> Block:
    if block["type"] != "actions":
        return block
    finding = findings.get(block["block_id"].rpartition("/")[2])
    if finding is None or finding.status == "open":
        return block
    return note(*became(finding))


def became(finding: TrackedFinding) -> tuple[str, str]:
    """What became of a finding that is not open: in mrkdwn, and, literally, why."""
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
    """A person in mrkdwn: a Slack user as a mention, anybody else by name."""
    user = SLACK_USER.fullmatch(who)
    return f"<@{user[1]}>" if user else mrkdwn(literal(who))


def date(at: datetime) -> str:
    """`2026-12-01`, in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d}"


def _on(at: datetime | None) -> str:
    return "" if at is None else f" on {date(at)}"
