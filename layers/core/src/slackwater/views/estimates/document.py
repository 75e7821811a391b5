"""The estimate document, `slackwater.estimate/1`, as types. Money is a string of US dollars, and null means unknown."""

from typing import Any, Final, Literal, TypedDict

from slackwater.views.scan.document import PriceBasisDocument

SCHEMA: Final = "slackwater.estimate/1"


class EstimateGapDocument(TypedDict):
    """A call that was denied, failed or had no answer, and why. What is packaged stands in for it, or it is unknown."""

    what: str
    reason: str


class EstimateDocument[R](TypedDict):
    """A worked estimate: what was asked, the answer in words and figures, and what it rests on.

    `inputs` can be sent again as they are; `unpriced` are the items whose price is not known. An assumption begins with
    what it is: assumed, calibrated, measured, or a rule.
    """

    schema: Literal["slackwater.estimate/1"]
    kind: str
    inputs: dict[str, Any]
    summary: str
    assumptions: list[str]
    sources: list[str]
    price_basis: list[PriceBasisDocument]
    unpriced: list[str]
    gaps: list[EstimateGapDocument]
    result: R
