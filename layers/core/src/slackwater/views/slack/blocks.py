"""Elements of messages in Block Kit. All text in them is literal, unless a docstring says mrkdwn.

Slack's limits: https://docs.slack.dev/reference/block-kit/blocks and /reference/block-kit/composition-objects.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from slackwater.model.posts import Block, Message
from slackwater.views.slack.text import CLOSE, OPEN, mrkdwn, shortened

type Element = Mapping[str, Any]
"""An element of a block."""

HEADER: Final = 150
LABEL: Final = 75
TEXT: Final = 3_000
FIELD: Final = 2_000
BLOCKS: Final = 50
"""Maximum characters of a header, a button, any other text and a field, and maximum blocks of a message."""

ROOM: Final = 10_000
"""Maximum `weight` of a message. Slack rejects messages with 12,000 to 13,000 in all (`msg_blocks_too_long`).

Slack does not document how it counts: https://github.com/slackapi/bolt-js/issues/2509.
"""
CONTAINER: Final = 20
"""Weight of an object in addition to its text."""

SPOKEN: Final = 3_000
"""Maximum characters of a message's `text`. Slack splits text of more than 4,000 into several messages."""
_HALF: Final = re.compile(r"(&[a-z]*|<[^>]*)$")
"""The rest of an escaped character or a mention after a cut."""


def message_of(*blocks: Block) -> Message:
    """Return a message of these blocks. Its `text` has the same content for screen readers, shortened if needed."""
    spoken = "\n".join(line for block in blocks for line in _spoken(block))
    if len(spoken) > SPOKEN:
        cut = _HALF.sub("", spoken[: SPOKEN - 2]).rstrip()
        spoken = f"{cut}…{CLOSE * (cut.count(OPEN) - cut.count(CLOSE))}"
    return Message(text=spoken, blocks=blocks)


def weight(blocks: Iterable[Block]) -> int:
    """Return an upper bound of the size of blocks as Slack counts it: their text, and a constant for each object."""
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
    """Return text in which Slack parses nothing."""
    return {"type": "plain_text", "text": text, "emoji": False}


def header(text: str) -> Block:
    """Return a title."""
    return {"type": "header", "text": plain(shortened(text, HEADER))}


def lines(text: str) -> Block:
    """Return plain lines."""
    return {"type": "section", "text": plain(shortened(text, TEXT))}


def small(text: str) -> Block:
    """Return small text for secondary information."""
    return {"type": "context", "elements": [plain(shortened(text, TEXT))]}


def note(text: str, why: str = "") -> Block:
    """Return a status line: `text` is Slackwater's own mrkdwn, `why` is a person's reason as literal text."""
    own = {"type": "mrkdwn", "text": text, "verbatim": True}
    return {"type": "context", "elements": [own, *([plain(why)] if why else [])]}


def run(text: str, *styles: str) -> Element:
    """Return text in a paragraph. Styles are bold, italic and code."""
    return {"type": "text", "text": text, **({"style": dict.fromkeys(styles, True)} if styles else {})}


def link(url: str, text: str) -> Element:
    """Return a link in a paragraph."""
    return {"type": "link", "url": url, "text": text}


def section(*runs: Element) -> Element:
    """Return a paragraph in rich text."""
    return {"type": "rich_text_section", "elements": list(runs)}


def bullets(items: Iterable[Element], style: str = "bullet") -> Element:
    """Return a list of paragraphs in rich text. The style "ordered" numbers them."""
    return {"type": "rich_text_list", "style": style, "elements": list(items)}


def code(text: str) -> Element:
    """Return a code block in rich text. No text in it can end the block."""
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
    """Return labelled values, two in a row. Labels are Slackwater's own text; values are mrkdwn."""
    labelled = [shortened(f"*{label}*\n{value}", FIELD) for label, value in values.items()]
    return {"type": "section", "fields": [{"type": "mrkdwn", "text": one, "verbatim": True} for one in labelled]}


def rich(*elements: Element) -> Block:
    """Return rich text."""
    return {"type": "rich_text", "elements": list(elements)}


def paragraph(*runs: Element) -> Block:
    """Return rich text of one paragraph."""
    return rich(section(*runs))


def actions(block_id: str, elements: Sequence[Element]) -> Block:
    """Return a row of buttons and menus."""
    return {"type": "actions", "block_id": block_id, "elements": list(elements)}


def button(
    action_id: str, label: str, value: str | None = None, *, of: str | None = None, confirm: Element | None = None
) -> Element:
    """Return a button. Screen readers add what it is `of`. `confirm` is a dialog that Slack shows first."""
    return {
        "type": "button",
        "action_id": action_id,
        "text": plain(label),
        **({} if value is None else {"value": value}),
        **({} if of is None else {"accessibility_label": shortened(f"{label}: {of}", LABEL)}),
        **({} if confirm is None else {"confirm": confirm}),
    }


def menu(action_id: str, placeholder: str, choices: Mapping[str, str]) -> Element:
    """Return a menu. `choices` maps values to labels."""
    options = [option(value, label) for value, label in choices.items()]
    return {"type": "static_select", "action_id": action_id, "placeholder": plain(placeholder), "options": options}


def option(value: str, label: str) -> Element:
    """Return a choice of a menu."""
    return {"text": plain(label), "value": value}


def _spoken(block: Block) -> Iterator[str]:
    """Yield a block as lines of mrkdwn, without buttons and menus."""
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
