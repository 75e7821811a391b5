"""An estimate as JSON: the contract that other programs read."""

from typing import Any

from slackwater.model.estimated import Estimated
from slackwater.views.estimates.document import SCHEMA, EstimateDocument
from slackwater.views.scan.to_json import price_basis


def document(done: Estimated) -> EstimateDocument[dict[str, Any]]:
    """Return the document of a finished estimate."""
    return {
        "schema": SCHEMA,
        "kind": done.kind,
        "inputs": dict(done.inputs),
        "summary": done.answer.summary,
        "assumptions": [*done.answer.assumptions],
        "sources": [*done.answer.sources],
        "price_basis": [price_basis(one) for one in done.price_basis],
        "unpriced": [item.id for item in done.unpriced],
        "gaps": [{"what": gap.what, "reason": gap.reason} for gap in done.gaps],
        "result": done.answer.result.model_dump(mode="json"),
    }
