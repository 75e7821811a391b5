"""An estimate as JSON: the contract that other programs read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from slackwater.model.estimates import Answer
from slackwater.model.findings import Gap, PriceBasis
from slackwater.views.estimate_document import SCHEMA, EstimateDocument
from slackwater.views.scan_json import price_basis


def document(
    kind: str, inputs: Mapping[str, Any], answer: Answer[Any], basis: Iterable[PriceBasis], gaps: Iterable[Gap]
) -> EstimateDocument[dict[str, Any]]:
    """The document of a worked estimate."""
    return {
        "schema": SCHEMA,
        "kind": kind,
        "inputs": dict(inputs),
        "summary": answer.summary,
        "assumptions": [*answer.assumptions],
        "sources": [*answer.sources],
        "price_basis": [price_basis(one) for one in basis],
        "gaps": [{"what": gap.what, "reason": gap.reason} for gap in gaps],
        "result": answer.result.model_dump(mode="json"),
    }
