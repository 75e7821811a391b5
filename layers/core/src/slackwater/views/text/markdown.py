"""Foreign words in Markdown: names and tags are data, and must never become markup, a link or HTML."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from slackwater.views.text.one_line import one_line

_ESCAPED: Final = {ord(c): f"\\{c}" for c in "\\`*_[]#|~$"} | {
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord("@"): "&#64;",
}
_LIST_MARKER: Final = re.compile(r"^(?:[-+](?=\s|$)|\d+[.)](?=\s|$)|[-=]+$)")
_AUTOLINK: Final = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


def text(words: str) -> str:
    """The words as they are, whatever they hold: one line without markup, links or HTML."""
    escaped = one_line(words).strip().translate(_ESCAPED)
    unlinked = _AUTOLINK.sub(lambda mark: f"&#{ord(mark[0])};", escaped)
    return _LIST_MARKER.sub(lambda mark: f"{mark[0][:-1]}\\{mark[0][-1]}", unlinked)


def section(title: str, level: int = 2) -> tuple[str, ...]:
    """The lines of a heading; the title is Markdown already."""
    return ("", f"{'#' * level} {title}", "")


def fenced(code: str, language: str = "") -> list[str]:
    """The lines of a code block whose fence is longer than any run of backticks in it."""
    longest = max(map(len, re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *code.splitlines(), fence]


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()) -> list[str]:
    """The lines of a table; the cells are Markdown already, columns in `right` hold numbers."""
    rule = ["---:" if name in right else "---" for name in head]
    return [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]
