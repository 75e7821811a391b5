"""Details of findings, as JSON for the page's script. Each text is stored once, however often it is used."""

import json
import re
from typing import Any, Final

from slackwater.views.report.pictures import Album
from slackwater.views.scan.document import FindingDocument, PriceBasisDocument, RecommendationDocument
from slackwater.views.text.one_line import code_point
from slackwater.views.text.words import evidence_text, saving, undo

_INERT: Final = {ord(c): f"\\u{ord(c):04x}" for c in "<>&"}
"""Escapes, so that no text can end a script element or begin a comment in it."""
_UNSEEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that a page cannot contain, or that change the direction of the text around them."""


def visible(text: str) -> str:
    """Return untrusted text that shows such characters as their code points: `<U+202E>`. Emoji keep their joiners."""
    return _UNSEEN.sub(code_point, text)


class Texts:
    """Numbered texts: equal texts share a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of a text. A new text gets the next number."""
        return self._numbers.setdefault(visible(text), len(self._numbers))

    def all(self) -> list[str]:
        """Return all texts in the order of their numbers."""
        return list(self._numbers)


def details(findings: list[FindingDocument], album: Album) -> str:
    """Return the details of all findings by id, as JSON that is safe inside a script element."""
    texts = Texts()
    by_id = {finding["id"]: _finding(finding, place, album, texts) for place, finding in enumerate(findings)}
    return inert({"findings": by_id, "texts": texts.all()})


def inert(value: object) -> str:
    """Return a value as ASCII JSON without `<`, `>` and `&`."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).translate(_INERT)


def _finding(finding: FindingDocument, place: int, album: Album, texts: Texts) -> dict[str, Any]:
    tags = finding["resource"]["tags"]
    return {
        "arn": texts.number(finding["resource"]["arn"]),
        "tags": None if tags is None else [[texts.number(key), texts.number(value)] for key, value in tags.items()],
        "evidence": [
            [
                texts.number(fact["label"]),
                texts.number(evidence_text(fact)),
                *([chart] if (chart := album.charts.get((place, at))) else []),
            ]
            for at, fact in enumerate(finding["evidence"])
        ],
        "advice": [_recommendation(to_do, texts) for to_do in finding["recommendations"]],
        "caveats": [texts.number(caveat) for caveat in finding["caveats"]],
        "prices": [texts.number(_price(basis)) for basis in finding["price_basis"]],
        "fingerprint": finding["fingerprint"],
    }


def _recommendation(to_do: RecommendationDocument, texts: Texts) -> list[int]:
    sentences = (
        to_do["summary"],
        saving(to_do["monthly_savings_usd"]),
        undo(to_do),
        to_do["risk"],
        *([to_do["command"]] if "command" in to_do else []),
    )
    return [texts.number(words) for words in sentences]


def _price(basis: PriceBasisDocument) -> str:
    return f"{basis['item']}: {basis['usd']} USD per {basis['unit']} ({basis['source']}, as of {basis['as_of']})"
