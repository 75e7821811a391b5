"""Untrusted text in Slack. Names, tags, owners and reasons are data: they must never mention, link or format.

In blocks they are plain text or rich text, where Slack parses nothing: use `literal`. A message's `text` is mrkdwn, and
so is a line that mentions a person: use `mrkdwn`.
"""

import re
from typing import Final
from unicodedata import bidirectional

from slackwater.views.text.one_line import one_line

NAME: Final = 100
"""Maximum characters of a name, a tag or an id."""
SENTENCE: Final = 500
"""Maximum characters of a sentence, or of a person's reason."""

JOINER: Final = "\u2060"
"""A zero-width character that separates characters which Slack would otherwise parse together."""

_SPACES: Final = re.compile(r"[ \t\r\n]+")
"""Spaces and line breaks, as people write them."""
OPEN, CLOSE = "\u2068", "\u2069"
"""Text between them has its own direction, and does not change the direction of the sentence around them."""
_CALL: Final = re.compile(r"<(?=[!@#])|@(?=(?:here|channel|everyone|group)\b)", re.IGNORECASE)
"""Text that mentions people if it is parsed. Slack does not parse plain text, but a program that forwards it may."""

_ESCAPED: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "*": "∗", "~": "∼", "`": "ˋ"})
"""mrkdwn has no escape for its formatting characters, so similar characters replace them."""
_EDGE: Final = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
"""An underscore at the edge of a word. Slack does not parse one inside a word."""
_SHORTCODE: Final = re.compile(r":(?=[\w+'-]+(?::|$))")
_LINK: Final = re.compile(r":(?=//)|@(?=\w)|(?<=\w)\.(?=[^\W\d_])|(?<!\w)#(?=\w)")


def literal(words: str, most: int = NAME) -> str:
    """Return untrusted text for places where Slack parses nothing: one line of at most `most` characters.

    Right-to-left text does not change the direction of the text around it. Text that is empty, or has only spaces and
    line breaks, becomes "(empty)". An invisible character shows as its code point.
    """
    line = _CALL.sub(lambda mark: mark[0] + JOINER, one_line(_SPACES.sub(" ", words).strip(" ")))
    if any(bidirectional(one) in {"R", "AL"} for one in line):
        return f"{OPEN}{shortened(line, most - 2)}{CLOSE}"
    return shortened(line, most) or "(empty)"


def shortened(words: str, most: int) -> str:
    """Cut text to at most `most` characters, with an ellipsis at the end."""
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


def mrkdwn(words: str) -> str:
    """Escape literal text for mrkdwn, so that Slack shows it unchanged. The result is at most five times as long."""
    unmarked = _EDGE.sub("ˍ", words).translate(_ESCAPED)
    return _LINK.sub(lambda mark: mark[0] + JOINER, _SHORTCODE.sub(f":{JOINER}", unmarked))
