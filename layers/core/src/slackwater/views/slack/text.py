"""Foreign words in Slack: names, tags, owners and reasons are data, and must never mention anybody, link, or format
anything.

Blocks carry them as plain text or rich text, where Slack parses nothing: `literal`. A message's `text` is mrkdwn, and
so is what mentions a person: `mrkdwn`.
"""

import re
from typing import Final
from unicodedata import bidirectional

from slackwater.views.text.one_line import one_line

NAME: Final = 100
"""Characters of a name, a tag or an id."""
SENTENCE: Final = 500
"""Characters of a sentence, or of a reason that somebody gave."""

JOINER: Final = "\u2060"
"""Takes no room, and parts what would mean something together."""

_SPACES: Final = re.compile(r"[ \t\r\n]+")
"""Spaces and line breaks, as people write them."""
OPEN, CLOSE = "\u2068", "\u2069"
"""What is between them has its own direction, and the sentence around them keeps its."""
_CALL: Final = re.compile(r"<(?=[!@#])|@(?=(?:here|channel|everyone|group)\b)", re.IGNORECASE)
"""What calls people where it is parsed. Slack does not parse it in plain text; whatever passes messages on may."""

_ESCAPED: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "*": "∗", "~": "∼", "`": "ˋ"})
"""mrkdwn knows no escape for its marks: a sign that looks the same stands in."""
_EDGE: Final = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
"""Within a word an underscore means nothing."""
_SHORTCODE: Final = re.compile(r":(?=[\w+'-]+(?::|$))")
_LINK: Final = re.compile(r":(?=//)|@(?=\w)|(?<=\w)\.(?=[^\W\d_])|(?<!\w)#(?=\w)")


def literal(words: str, most: int = NAME) -> str:
    """The words where Slack parses nothing: one line of at most `most` characters, whatever they hold.

    Right-to-left words are kept from turning what is around them. Nothing to see is "(empty)", and a character that
    nobody can see shows as its code point.
    """
    line = _CALL.sub(lambda mark: mark[0] + JOINER, one_line(_SPACES.sub(" ", words).strip(" ")))
    if any(bidirectional(one) in {"R", "AL"} for one in line):
        return f"{OPEN}{shortened(line, most - 2)}{CLOSE}"
    return shortened(line, most) or "(empty)"


def shortened(words: str, most: int) -> str:
    """At most `most` characters; what is cut off shows as an ellipsis."""
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


def mrkdwn(words: str) -> str:
    """Literal words where mrkdwn is parsed: they come out as they are, at most five times as long."""
    unmarked = _EDGE.sub("ˍ", words).translate(_ESCAPED)
    return _LINK.sub(lambda mark: mark[0] + JOINER, _SHORTCODE.sub(f":{JOINER}", unmarked))
