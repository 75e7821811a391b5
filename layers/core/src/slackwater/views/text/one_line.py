"""Shows untrusted text so that different names look different. Imports little, because Slack's endpoint loads it."""

import re
from typing import Final

INVISIBLE: Final = re.compile(
    # Control characters, terminal sequences among them.
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029"
    # Spaces that look like a plain one.
    r"\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
    # Format characters: they have no width, or change the reading direction.
    r"\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\ufeff\ufff0-\ufffb"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    # Letters, marks and symbols that show nothing.
    r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    # Halves of surrogate pairs, which cannot be encoded in a file.
    r"\ud800-\udfff]"
)
"""Characters that people cannot see, or cannot tell from a space."""


def one_line(words: str) -> str:
    """Return untrusted text on one line, so that different names look different.

    A control character or an invisible one shows as its code point: `prod<U+200B>`.
    """
    return INVISIBLE.sub(code_point, words)


def code_point(found: re.Match[str]) -> str:
    """Return a found character as its code point: `<U+200B>`."""
    return f"<U+{ord(found[0]):04X}>"
