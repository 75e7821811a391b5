"""Untrusted text in Markdown. Names and tags are data: they must never become markup, a link or HTML."""

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
    """Escape untrusted text, so that it shows unchanged on one line, without markup, links or HTML."""
    escaped = one_line(words).strip().translate(_ESCAPED)
    unlinked = _AUTOLINK.sub(lambda mark: f"&#{ord(mark[0])};", escaped)
    return _LIST_MARKER.sub(lambda mark: f"{mark[0][:-1]}\\{mark[0][-1]}", unlinked)


def section(title: str, level: int = 2) -> tuple[str, ...]:
    """Return the lines of a heading. The title is Markdown already."""
    return ("", f"{'#' * level} {title}", "")


def fenced(code: str, language: str = "") -> list[str]:
    """Return the lines of a code block. Its fence is longer than any run of backticks in the code."""
    longest = max(map(len, re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *code.splitlines(), fence]


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()) -> list[str]:
    """Return the lines of a table. The cells are Markdown already. Columns named in `right` are right-aligned."""
    rule = ["---:" if name in right else "---" for name in head]
    return [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]
