"""`python tools/slack_pictures.py DIR`: draws messages of Slack as SVG, from the same blocks that Slack gets."""

import json
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

PICTURES: Final = {"digest": ("digest-owners", 0), "thread": ("digest-owners", -1), "warning": ("cleanup-warned", 0)}
"""The picture's name, and the message: its file in docs/slack/messages, and its place in it."""
WIDTH: Final = 760
COLUMNS: Final = 96
"""Characters in a line of the common size: measured for the fonts below, with room to spare."""
LINE_HEIGHT: Final = 21
STYLES: Final = {
    "header": (18, "700", "#1d1c1d"),
    "text": (15, "400", "#1d1c1d"),
    "bold": (15, "700", "#1d1c1d"),
    "small": (12, "400", "#616061"),
    "code": (12, "400", "#1d1c1d"),
    "button": (13, "700", "#1264a3"),
}
"""Size, weight and color."""


@dataclass(frozen=True)
class Drawn:
    """One line of text: its style, and how far it is indented, in pixels."""

    text: str
    style: str
    indent: int = 0


def wrapped(text: str, style: str, indent: int = 0, columns: int = COLUMNS) -> Iterator[Drawn]:
    """Yield a paragraph in lines that fit."""
    wide = columns * 15 // STYLES[style][0] - indent // 7
    for line in text.splitlines():
        for part in textwrap.wrap(line, wide) or [""]:
            yield Drawn(part, style, indent)


def spoken(element: Mapping[str, Any]) -> str:
    """Return the text of an element of rich text; a mention is shown by its id."""
    return str(element.get("text") or "@" + str(element.get("user_id") or element.get("usergroup_id")))


def rich(part: Mapping[str, Any], indent: int = 0) -> Iterator[Drawn]:
    """Yield the lines of a part of rich text. A first run in bold gets a line of its own."""
    match part["type"]:
        case "rich_text_list":
            for item in part["elements"]:
                yield from wrapped("• " + "".join(map(spoken, item["elements"])), "text", indent + 14)
        case "rich_text_preformatted":
            yield from wrapped("".join(map(spoken, part["elements"])), "code", indent + 14)
        case _:
            first, *others = part["elements"]
            bold = first.get("style", {}).get("bold", False)
            head, _, rest = "".join(map(spoken, part["elements"])).partition("\n")
            yield from wrapped(head, "bold" if bold or (not others and bold) else "text", indent)
            yield from wrapped(rest, "text", indent)


def block_lines(block: Mapping[str, Any]) -> Iterator[Drawn]:
    """Yield the lines of a block."""
    match block["type"]:
        case "header":
            yield from wrapped(block["text"]["text"], "header")
        case "section" if "fields" in block:
            for one in block["fields"]:
                label, _, value = one["text"].partition("\n")
                yield from wrapped(f"{label.strip('*')}: {value}", "text")
        case "section":
            yield from wrapped(block["text"]["text"], "text")
        case "context":
            yield from wrapped(" ".join(one["text"] for one in block["elements"]), "small")
        case "rich_text":
            for part in block["elements"]:
                yield from rich(part)
        case "actions":
            labels = (one.get("text", one.get("placeholder"))["text"] for one in block["elements"])
            yield Drawn("   ".join(f"[ {label} ]" for label in labels), "button")
            yield Drawn("", "small")


def picture(message: Mapping[str, Any]) -> str:
    """Return the message as an SVG document."""
    lines = [line for block in message["blocks"] for line in block_lines(block)]
    height = LINE_HEIGHT * len(lines) + 76
    texts = []
    for number, line in enumerate(lines):
        size, weight, color = STYLES[line.style]
        family = (
            "ui-monospace, Menlo, monospace" if line.style == "code" else "Lato, 'Helvetica Neue', Arial, sans-serif"
        )
        texts.append(
            f'<text x="{64 + line.indent}" y="{66 + LINE_HEIGHT * number}" font-size="{size}" font-weight="{weight}"'
            f' fill="{color}" font-family="{family}" xml:space="preserve">{escape(line.text)}</text>'
        )
    return "\n".join(
        [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
                f' viewBox="0 0 {WIDTH} {height}">'
            ),
            f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff" stroke="#dddddd"/>',
            '<rect x="16" y="18" width="36" height="36" rx="6" fill="#0b6e99"/>',
            (
                '<text x="34" y="42" font-size="18" font-weight="700" fill="#ffffff" text-anchor="middle"'
                ' font-family="Arial, sans-serif">S</text>'
            ),
            (
                '<text x="64" y="34" font-size="15" font-weight="700" fill="#1d1c1d"'
                ' font-family="Lato, Arial, sans-serif">'
                "Slackwater</text>"
            ),
            *texts,
            "</svg>\n",
        ]
    )


def main(folder: Path) -> None:
    """Write all pictures."""
    for name, (file, place) in PICTURES.items():
        stored = json.loads((folder / "messages" / f"{file}.json").read_text())
        message = stored[place] if isinstance(stored, list) else stored
        (folder / f"{name}.svg").write_text(picture(message))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
