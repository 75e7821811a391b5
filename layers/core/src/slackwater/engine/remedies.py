"""Resolves the remedies that detectors name: calculates the estimate, and turns its alternatives into advice."""

from collections.abc import Iterable
from dataclasses import replace

from slackwater.engine.registry import estimates
from slackwater.model.estimates import Known
from slackwater.model.resources import InstanceType
from slackwater.model.verdicts import Advice, Flagged, Remedy


def resolved(flagged: Flagged, region: str, types: Iterable[InstanceType]) -> Flagged:
    """Return the verdict with its remedies' advice after its own. Like all advice, it gets its prices later.

    Args:
        flagged: The verdict.
        region: The resource's region.
        types: The instance types of the region.
    """
    if not flagged.remedies:
        return flagged
    known = Known(region, types, prices={})
    options = (advice for remedy in flagged.remedies for advice in _advice(remedy, known))
    return replace(flagged, advice=(*flagged.advice, *options), remedies=())


def _advice(remedy: Remedy, known: Known) -> list[Advice]:
    estimate = estimates()[remedy.kind]
    answer = estimate.work(estimate.inputs.model_validate(dict(remedy.inputs)), known)
    return [advice for alternative in answer.alternatives if (advice := remedy.advise(alternative)) is not None]
