"""Shell commands, formatted for people who copy them line by line."""

from collections.abc import Iterator
from typing import Final

WIDEST: Final = 160
INDENT: Final = "  "


def lines(command: str, width: int = WIDEST) -> list[str]:
    """Return a command as lines of at most `width` columns, if its words allow it.

    Each step of a chain (`&&`) is a line of its own. A longer line continues after a backslash.
    """
    return [line for step in _split(command, " && ") for line in _wrapped(step, min(width, WIDEST))]


def _wrapped(step: str, width: int) -> Iterator[str]:
    line, *words = _options(step)
    for word in words:
        if len(f"{line} {word} \\") > width and line.strip():
            yield f"{line} \\"
            line = f"{INDENT}{word}"
        else:
            line = f"{line} {word}"
    yield line


def _options(step: str) -> Iterator[str]:
    """Yield the words of a step, each option together with its values."""
    piece = list[str]()
    for word in _split(step, " "):
        if piece and (word.startswith("--") or not piece[0].startswith("--")):
            yield " ".join(piece)
            piece = []
        piece.append(word)
    yield " ".join(piece)


def _split(text: str, separator: str) -> list[str]:
    """Split at separators, except in quotes. A loop is one step, so `&&` in it does not split."""
    parts, start, quote, at = list[str](), 0, "", 0
    while at < len(text):
        if quote:
            quote = "" if text[at] == quote else quote
        elif text[at] in "'\"":
            quote = text[at]
        elif text.startswith(separator, at) and not (separator != " " and text[start:].lstrip().startswith("for ")):
            parts.append(text[start:at])
            start = at = at + len(separator)
            continue
        at += 1
    return [*parts, text[start:]]
