"""The parts of messages, as Block Kit has them. Every text in them is literal, except where it says mrkdwn.

What Slack allows: https://docs.slack.dev/reference/block-kit/blocks and /composition-objects beside it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from slackwater.model.posts import Block, Message
from slackwater.views.slack.text import CLOSE, OPEN, mrkdwn, shortened

type Element = Mapping[str, Any]
"""A part of a block."""

HEADER: Final = 150
LABEL: Final = 75
TEXT: Final = 3_000
FIELD: Final = 2_000
BLOCKS: Final = 50
"""Characters of a header, of a button, of any other text and of a field; blocks of a message."""

ROOM: Final = 10_000
"""What `weight` may come to. Slack refuses blocks of 12,000 to 13,000 in all (`msg_blocks_too_long`), and does not say
how it
counts: https://github.com/slackapi/bolt-js/issues/2509."""
CONTAINER: Final = 20
"""What an object adds to a message beside its text."""

SPOKEN: Final = 3_000
"""Characters of a message's `text`: Slack makes several messages of more than 4,000."""
_HALF: Final = re.compile(r"(&[a-z]*|<[^>]*)$")
"""What a cut may leave of an escaped character or a mention."""


def message_of(*blocks: Block) -> Message:
    """A message of these blocks; its `text` says the same, as far as it goes, to those who hear it."""
    spoken = "\n".join(line for block in blocks for line in _spoken(block))
    if len(spoken) > SPOKEN:
        cut = _HALF.sub("", spoken[: SPOKEN - 2]).rstrip()
        spoken = f"{cut}…{CLOSE * (cut.count(OPEN) - cut.count(CLOSE))}"
    return Message(text=spoken, blocks=blocks)


def weight(blocks: Iterable[Block]) -> int:
    """How much of Slack's patience blocks take, at most: their text, and something for every object."""
    return sum(map(_weight, blocks))


def _weight(part: object) -> int:
    match part:
        case Mapping():
            text = part.get("text")
            return CONTAINER + sum(map(_weight, part.values())) + (len(text) if isinstance(text, str) else 0)
        case list() | tuple():
            return sum(map(_weight, part))
        case _:
            return 0


def plain(text: str) -> Element:
    """Text in which nothing is parsed."""
    return {"type": "plain_text", "text": text, "emoji": False}


def header(text: str) -> Block:
    """A title."""
    return {"type": "header", "text": plain(shortened(text, HEADER))}


def lines(text: str) -> Block:
    """Plain lines."""
    return {"type": "section", "text": plain(shortened(text, TEXT))}


def small(text: str) -> Block:
    """What is beside the point."""
    return {"type": "context", "elements": [plain(shortened(text, TEXT))]}


def note(text: str, why: str = "") -> Block:
    """What became of something: mrkdwn of our own, and a reason of somebody's."""
    own = {"type": "mrkdwn", "text": text, "verbatim": True}
    return {"type": "context", "elements": [own, *([plain(why)] if why else [])]}


def run(text: str, *styles: str) -> Element:
    """Words in a paragraph; styles are bold, italic, code."""
    return {"type": "text", "text": text, **({"style": dict.fromkeys(styles, True)} if styles else {})}


def link(url: str, text: str) -> Element:
    """A way to somewhere else in a paragraph."""
    return {"type": "link", "url": url, "text": text}


def section(*runs: Element) -> Element:
    """A paragraph in rich text."""
    return {"type": "rich_text_section", "elements": list(runs)}


def bullets(items: Iterable[Element], style: str = "bullet") -> Element:
    """A list of paragraphs in rich text; style "ordered" numbers them."""
    return {"type": "rich_text_list", "style": style, "elements": list(items)}


def code(text: str) -> Element:
    """A code block in rich text: nothing in it can end it."""
    return {"type": "rich_text_preformatted", "elements": [run(text)]}


def mention(id_: str) -> Element:
    """Return a mention of a person (`U…` or `W…`) or of a user group (`S…`) in a paragraph."""
    if id_.startswith("S"):
        return {"type": "usergroup", "usergroup_id": id_}
    return {"type": "user", "user_id": id_}


def mention_text(id_: str) -> str:
    """Return the same mention as mrkdwn."""
    return f"<!subteam^{id_}>" if id_.startswith("S") else f"<@{id_}>"


def fields(values: Mapping[str, str]) -> Block:
    """Return labelled values, two in a row. Labels are words of ours; values are mrkdwn."""
    labelled = [shortened(f"*{label}*\n{value}", FIELD) for label, value in values.items()]
    return {"type": "section", "fields": [{"type": "mrkdwn", "text": one, "verbatim": True} for one in labelled]}


def rich(*elements: Element) -> Block:
    """Rich text."""
    return {"type": "rich_text", "elements": list(elements)}


def paragraph(*runs: Element) -> Block:
    """Rich text of one paragraph."""
    return rich(section(*runs))


def actions(block_id: str, elements: Sequence[Element]) -> Block:
    """Buttons and menus in a row."""
    return {"type": "actions", "block_id": block_id, "elements": list(elements)}


def button(
    action_id: str, label: str, value: str | None = None, *, of: str | None = None, confirm: Element | None = None
) -> Element:
    """A button; those who hear it are told what it is `of`. With `confirm` it asks once more."""
    return {
        "type": "button",
        "action_id": action_id,
        "text": plain(label),
        **({} if value is None else {"value": value}),
        **({} if of is None else {"accessibility_label": shortened(f"{label}: {of}", LABEL)}),
        **({} if confirm is None else {"confirm": confirm}),
    }


def menu(action_id: str, placeholder: str, choices: Mapping[str, str]) -> Element:
    """A menu of choices: label by value."""
    options = [option(value, label) for value, label in choices.items()]
    return {"type": "static_select", "action_id": action_id, "placeholder": plain(placeholder), "options": options}


def option(value: str, label: str) -> Element:
    """A choice of a menu."""
    return {"text": plain(label), "value": value}


def _spoken(block: Block) -> Iterator[str]:
    """A block as lines of mrkdwn; buttons and menus are silent."""
    match block["type"]:
        case "section" if "fields" in block:
            yield from (one["text"].replace("*\n", ": ", 1).removeprefix("*") for one in block["fields"])
        case "header" | "section":
            yield mrkdwn(block["text"]["text"])
        case "context":
            yield " ".join(one["text"] if one["type"] == "mrkdwn" else mrkdwn(one["text"]) for one in block["elements"])
        case "rich_text":
            for part in block["elements"]:
                if part["type"] == "rich_text_list":
                    yield from (f"• {_paragraph(item)}" for item in part["elements"])
                else:
                    yield _paragraph(part)


def _paragraph(part: Element) -> str:
    return "".join(_spoken_run(one) for one in part["elements"])


def _spoken_run(element: Element) -> str:
    if (id_ := element.get("user_id") or element.get("usergroup_id")) is not None:
        return mention_text(id_)
    return mrkdwn(element["text"])
