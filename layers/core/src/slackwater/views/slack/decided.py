"""What became of the findings that a message is about: decisions show in the place of the buttons."""

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
"""A decision's `who`, where it was made in Slack."""

UNDER_WAY: Final[tuple[Status, ...]] = ("approved", "cleaning")
"""What a finding can be, beside open, while its clean-up goes on."""


def decided(
    message: Message, findings: Mapping[str, TrackedFinding], stops: Mapping[str, ActorNote] | None = None
) -> Message:
    """The message as it reads now, out of the one that was posted first.

    `findings` are by id. What became of one that is not open stands where its buttons were; one that is open has them
    back. The button that stops its clean-up stays until there is nothing to stop, or somebody has: `stops` has who, by
    finding.
    """
    return message_of(*(now for block in message.blocks for now in _now(block, findings, stops or {})))


def stoppable(message: Message) -> list[str]:
    """Ids of the findings whose clean-up a message offers to stop."""
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
    """Of the finding that buttons are about."""
    id_: str = block["block_id"].rpartition("/")[2]
    return id_


def _offers(block: Block, actions: Collection[str]) -> list[Element]:
    return [one for one in block["elements"] if one["action_id"] in actions]


def _without(block: Block, actions: Collection[str]) -> Block:
    return {**block, "elements": [one for one in block["elements"] if one["action_id"] not in actions]}


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
