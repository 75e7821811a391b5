"""Slack's limits, written from its documentation and not from Slackwater's code.

- https://docs.slack.dev/reference/block-kit/blocks (50 blocks in a message, 100 in a modal) and its pages:
  actions-block (25 elements), context-block (10), header-block (150 characters, plain_text), input-block (label 2,000),
  rich-text-block, section-block (text 3,000; 10 fields of 2,000); block_id 255 characters, unique in a message.
- https://docs.slack.dev/reference/block-kit/block-elements and its pages: button-element (text 75, value 2,000,
  action_id 255, accessibility_label 75), select-menu-element (placeholder 150, 100 options), plain-text-input-element
  (max_length 3,000).
- https://docs.slack.dev/reference/block-kit/composition-objects and its pages: text-object (1 to 3,000 characters),
  option-object (text 75, value 150), confirmation-dialog-object (title 100, text 300, buttons 30).
- https://docs.slack.dev/reference/views (title, submit, close 24; private_metadata 3,000; callback_id 255).
- https://docs.slack.dev/reference/methods/chat.postMessage (text: 4,000 recommended, cut above 40,000;
  `msg_blocks_too_long`) and https://github.com/slackapi/bolt-js/issues/2509 (that error means 12,000 characters of
  text, plus an amount for every container).
- https://docs.slack.dev/messaging/formatting-message-text (what is parsed in mrkdwn).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

MENTION = re.compile(r"<@[UW][A-Z0-9]{2,}>|<!subteam\^S[A-Z0-9]{2,}>")
LABEL = re.compile(r"^\*[A-Z][a-z ]+\*\n")
"""The label of a field, in bold."""
PARSED = {
    "mention, link or date": re.compile(r"<[^>]*>|[<>]"),
    "no entity": re.compile(r"&(?!amp;|lt;|gt;)"),
    "bold, italics, strike or code": re.compile(r"(?:^|(?<=[^\w]))([*_~`])(?=\S)[^\n]*?(?<=\S)\1(?!\w)"),
    "emoji": re.compile(r":[\w+'-]+:"),
    "link": re.compile(r"\b[a-z]+://|\bwww\.\w|\b[a-z0-9-]+\.[a-z]{2,}\b", re.IGNORECASE),
    "call": re.compile(r"@(?:here|channel|everyone)\b", re.IGNORECASE),
    "line of a quotation": re.compile(r"^>", re.MULTILINE),
}
"""Patterns that mrkdwn does not show as plain text."""


def markup(text: str) -> list[str]:
    """Return the parts that mrkdwn does not show as plain text, except mentions of people."""
    left = MENTION.sub("somebody", text)
    return [f"{what}: {found[0]!r}" for what, pattern in PARSED.items() if (found := pattern.search(left))]


def of_message(message: Mapping[str, Any]) -> list[str]:
    """Return every part of a message that Slack would refuse, cut, split or parse."""
    blocks = message["blocks"]
    return [
        *_length(message["text"], 1, 4_000, "text"),
        *_unicode(message["text"], "text"),
        *(f"text: {one}" for one in markup(message["text"])),
        *_blocks(blocks, 50),
        *(["too long in all"] if _characters(blocks) > 12_000 else []),
    ]


def of_view(view: Mapping[str, Any]) -> list[str]:
    """Return every part of a modal that Slack would refuse."""
    View(**view).to_dict()  # raises if it is invalid
    return [
        *(problem for name in ("title", "submit", "close") for problem in _plain(view[name], 24, name)),
        *_length(view["private_metadata"], 0, 3_000, "private_metadata"),
        *_length(view["callback_id"], 1, 255, "callback_id"),
        *_blocks(view["blocks"], 100),
    ]


def _blocks(blocks: list[Mapping[str, Any]], most: int) -> Iterator[str]:
    if not 1 <= len(blocks) <= most:
        yield f"{len(blocks)} blocks"
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    if len(set(ids)) < len(ids):
        yield f"block_id not unique: {ids}"
    for number, block in enumerate(blocks):
        where = f"block {number}, {block['type']}"
        if Block.parse(dict(block)).to_dict() != block:  # the SDK's own validation raises
            yield f"{where}: the SDK knows it otherwise"
        yield from _length(block.get("block_id", "-"), 1, 255, where)
        yield from _block(block, where)


def _block(block: Mapping[str, Any], where: str) -> Iterator[str]:
    match block:
        case {"type": "header", "text": text}:
            yield from _plain(text, 150, where)
        case {"type": "section", "fields": fields}:
            yield from _fields(fields, where)
        case {"type": "section", "text": text}:
            yield from _text(text, 3_000, where)
        case {"type": "context", "elements": elements}:
            yield from _number(elements, 10, f"{where}: elements")
            for one in elements:
                yield from _text(one, 3_000, where)
        case {"type": "actions", "elements": elements}:
            yield from _actions(elements, where)
        case {"type": "input", "label": label, "element": element}:
            yield from _plain(label, 2_000, where)
            yield from _element(element, where)
        case {"type": "rich_text", "elements": elements}:
            yield from _number(elements, len(elements), f"{where}: elements")
            for one in elements:
                yield from _rich(one, where)
        case _:
            yield f"{where}: unknown"


def _fields(fields: Sequence[Mapping[str, Any]], where: str) -> Iterator[str]:
    yield from _number(fields, 10, f"{where}: fields")
    for one in fields:
        yield from _text({**one, "text": LABEL.sub("", one["text"])}, 2_000, where)


def _actions(elements: Sequence[Mapping[str, Any]], where: str) -> Iterator[str]:
    yield from _number(elements, 25, f"{where}: elements")
    if len({one["action_id"] for one in elements}) < len(elements):
        yield f"{where}: action_id not unique"
    for one in elements:
        yield from _element(one, where)


def _number(parts: Sequence[Any], most: int, where: str) -> Iterator[str]:
    if not 1 <= len(parts) <= most:
        yield f"{where}: {len(parts)}, not 1 to {most}"


def _rich(part: Mapping[str, Any], where: str) -> Iterator[str]:
    match part:
        case {"type": "rich_text_section" | "rich_text_preformatted", "elements": elements}:
            if not elements:
                yield f"{where}: an empty {part['type']}"
            for one in elements:
                if one["type"] in {"user", "usergroup"}:
                    continue
                if one["type"] not in {"text", "link"}:
                    yield f"{where}: {one['type']} in rich text"
                if not 1 <= len(one["text"]) <= 3_000:
                    yield f"{where}: {len(one['text'])} characters"
                yield from _unicode(one["text"], where)
        case {"type": "rich_text_list", "style": "bullet" | "ordered", "elements": elements}:
            for one in elements:
                yield from _rich(one, where)
        case _:
            yield f"{where}: {part['type']} in rich text"


def _element(element: Mapping[str, Any], where: str) -> Iterator[str]:
    where = f"{where}, {element['action_id']}"
    yield from _length(element["action_id"], 1, 255, where)
    match element["type"]:
        case "button":
            yield from _plain(element["text"], 75, where)
            yield from _length(element.get("value", ""), 0, 2_000, where)
            yield from _length(element.get("accessibility_label", ""), 0, 75, where)
        case "static_select":
            yield from _plain(element["placeholder"], 150, where)
            if not 1 <= len(element["options"]) <= 100:
                yield f"{where}: {len(element['options'])} options"
            if "initial_option" in element and element["initial_option"] not in element["options"]:
                yield f"{where}: begins with what is no option"
            for one in element["options"]:
                yield from _plain(one["text"], 75, where)
                yield from _length(one["value"], 1, 150, where)
        case "plain_text_input":
            if not 0 <= element["min_length"] <= element["max_length"] <= 3_000:
                yield f"{where}: lengths"
        case other:
            yield f"{where}: {other}"
    if confirm := element.get("confirm"):
        for name, most in (("title", 100), ("text", 300), ("confirm", 30), ("deny", 30)):
            yield from _plain(confirm[name], most, f"{where}, confirm, {name}")


def _text(text: Mapping[str, Any], most: int, where: str) -> Iterator[str]:
    if text["type"] == "mrkdwn":
        yield from _length(text["text"], 1, most, where)
        if not text.get("verbatim"):
            yield f"{where}: channels and addresses in it would become links"
        yield from (f"{where}: {one}" for one in markup(text["text"]))
    else:
        yield from _plain(text, most, where)


def _plain(text: Mapping[str, Any], most: int, where: str) -> Iterator[str]:
    if text["type"] != "plain_text" or text["emoji"]:
        yield f"{where}: shortcodes in it would become emoji"
    yield from _length(text["text"], 1, most, where)
    yield from _unicode(text["text"], where)


def _length(text: str, least: int, most: int, where: str) -> Iterator[str]:
    if not least <= len(text) <= most or (least and not text.strip()):
        yield f"{where}: {len(text)} characters"


def _unicode(text: str, where: str) -> Iterator[str]:
    try:
        text.encode()
    except UnicodeEncodeError:
        yield f"{where}: half of a surrogate pair"
    if re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u200b\u202a-\u202e\ufeff]", text):
        yield f"{where}: a control character"
    if text.count("\u2068") != text.count("\u2069"):
        yield f"{where}: an isolate that does not end"


def _characters(part: object) -> int:
    match part:
        case Mapping():
            return sum(
                len(one) if key == "text" and isinstance(one, str) else _characters(one) for key, one in part.items()
            )
        case list() | tuple():
            return sum(map(_characters, part))
        case _:
            return 0
