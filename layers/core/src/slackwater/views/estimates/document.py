"""The estimate document, `slackwater.estimate/1`, as types. Money is a string of US dollars, and null means unknown."""

from typing import Any, Final, Literal, TypedDict

from slackwater.views.scan.document import PriceBasisDocument

SCHEMA: Final = "slackwater.estimate/1"


class EstimateGapDocument(TypedDict):
    """A call that was denied, failed or had no answer, and the reason. Packaged data replaces it, or the value is
    unknown.
    """

    what: str
    reason: str


class EstimateDocument[R](TypedDict):
    """An estimate: the inputs, the answer in words and figures, and its assumptions.

    You can send `inputs` again as they are. `unpriced` has the items of unknown price. An assumption begins with its
    kind: assumed, calibrated, measured, or a rule.
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
