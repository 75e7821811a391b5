"""Draw Slack messages as SVG, from the same blocks that Slack receives: `python tools/slack_pictures.py DIR`."""

import json
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from itertools import groupby
from pathlib import Path
from typing import Any, Final

PICTURES: Final = {"digest": ("digest-owners", 0), "thread": ("digest-owners", -1), "warning": ("cleanup-warned", 0)}
"""The picture's name, and the message: its file in docs/slack/messages, and its place in it."""
NAMES: Final = {"U0VIDEO": "video", "S0PLATFORM": "platform"}
"""What Slack shows for the ids of people and groups."""
MENTION: Final = re.compile(r"<(?:@|!subteam\^)([A-Z0-9]+)>")
DOTS: Final = {"🔴": "#e01e5a", "🟠": "#e8912d", "🟡": "#ecc22e", "⚪": "#b8b8b8"}
"""The colors of severity icons."""
JOINER: Final = "\u2060"
"""Invisible in Slack. Fonts without this character draw a box."""
WIDTH, LEFT = 760, 64
COLUMNS: Final = 80
"""Characters in a line of the common size. This also fits fonts that are wider than the first two below."""
LINE_HEIGHT: Final = 21
FONTS: Final = "Lato, 'Helvetica Neue', Arial, sans-serif"
STYLES: Final = {
    "header": (18, "#1d1c1d"),
    "text": (15, "#1d1c1d"),
    "small": (12, "#616061"),
    "code": (12, "#1d1c1d"),
    "button": (13, "#1264a3"),
}
"""Font size in pixels, and color."""


type Span = tuple[str, bool]
"""Text in a line, and whether it is bold."""


@dataclass(frozen=True)
class Drawn:
    """One line: its text in spans, its style, how far it is indented in pixels, and the color of the dot before it."""

    spans: tuple[Span, ...]
    style: str
    indent: int = 0
    dot: str = ""


def wrapped(spans: Iterable[Span], style: str, indent: int = 0) -> Iterator[Drawn]:
    """Yield a paragraph in lines that fit. A severity icon at its start becomes a dot, because some fonts lack it."""
    spans = [(text.replace(JOINER, ""), bold) for text, bold in spans]
    text = "".join(text for text, _ in spans)
    bold = [is_bold for text, is_bold in spans for _ in text]
    begin = 0
    for line in text.splitlines(keepends=True):
        yield from _lines(line.rstrip("\n"), bold[begin : begin + len(line)], style, indent)
        begin += len(line)


def _lines(text: str, bold: Sequence[bool], style: str, indent: int) -> Iterator[Drawn]:
    dot = DOTS.get(text[:1], "")
    at = 2 if dot else 0
    wide = COLUMNS * 15 // STYLES[style][0] - indent // 7 - sum(bold) // 7  # bold characters are wider
    for part in textwrap.wrap(text[at:], wide, break_on_hyphens=False) or [""]:
        at = text.index(part, at)
        of_part = zip(part, bold[at : at + len(part)], strict=True)
        spans = (
            ("".join(one for one, _ in group), is_bold)
            for is_bold, group in groupby(of_part, key=lambda character: character[1])
        )
        yield Drawn(tuple(spans), style, indent, dot)
        at, dot = at + len(part), ""


def span(element: Mapping[str, Any]) -> Span:
    """Return an element of rich text as a span; a mention is shown by its name."""
    id_ = element.get("user_id") or element.get("usergroup_id")
    return (f"@{NAMES[id_]}", True) if id_ else (element["text"], element.get("style", {}).get("bold", False))


def field(text: str) -> Iterator[Span]:
    """Yield the spans of a field: its label in bold, and its value, in which mentions are shown by their names."""
    label, _, value = text.partition("\n")
    yield f"{label.strip('*')}: ", True
    for number, part in enumerate(MENTION.split(value)):
        if part:
            yield (f"@{NAMES[part]}", True) if number % 2 else (unescape(part), False)


def rich(part: Mapping[str, Any]) -> Iterator[Drawn]:
    """Yield the lines of a part of rich text."""
    match part["type"]:
        case "rich_text_list":
            for item in part["elements"]:
                yield from wrapped([("• ", False), *map(span, item["elements"])], "text", 14)
        case "rich_text_preformatted":
            yield from wrapped(map(span, part["elements"]), "code", 14)
        case _:
            yield from wrapped(map(span, part["elements"]), "text")


def block_lines(block: Mapping[str, Any]) -> Iterator[Drawn]:
    """Yield the lines of a block."""
    match block["type"]:
        case "header":
            yield from wrapped([(block["text"]["text"], True)], "header")
        case "section" if "fields" in block:
            for one in block["fields"]:
                yield from wrapped(field(one["text"]), "text")
        case "section":
            yield from wrapped([(block["text"]["text"], False)], "text")
        case "context":
            yield from wrapped([(" ".join(one["text"] for one in block["elements"]), False)], "small")
        case "rich_text":
            for part in block["elements"]:
                yield from rich(part)
        case "actions":
            labels = (one.get("text", one.get("placeholder"))["text"] for one in block["elements"])
            yield Drawn((("   ".join(f"[ {label} ]" for label in labels), True),), "button")
            yield Drawn((), "small")


def drawn(line: Drawn, y: int) -> Iterator[str]:
    """Yield a line as SVG."""
    size, color = STYLES[line.style]
    x = LEFT + line.indent
    if line.dot:
        yield f'<circle cx="{x + 6}" cy="{y - 5}" r="6" fill="{line.dot}"/>'
        x += 18
    family = "ui-monospace, Menlo, monospace" if line.style == "code" else FONTS
    spans = "".join(
        f'<tspan font-weight="700">{escape(text)}</tspan>' if bold else escape(text) for text, bold in line.spans
    )
    yield (
        f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}" font-family="{family}" xml:space="preserve">'
        f"{spans}</text>"
    )


def picture(message: Mapping[str, Any]) -> str:
    """Return the message as an SVG document."""
    lines = [line for block in message["blocks"] for line in block_lines(block)]
    height = LINE_HEIGHT * len(lines) + 76
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
            *drawn(Drawn((("Slackwater", True),), "text"), 34),
            *(svg for number, line in enumerate(lines) for svg in drawn(line, 66 + LINE_HEIGHT * number)),
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
