"""Resolves the remedies that detectors name: an estimate is worked out, and its alternatives become advice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from slackwater.engine.registry import estimates
from slackwater.model.estimates import Known
from slackwater.model.resources import InstanceType
from slackwater.model.verdicts import Advice, Flagged, Remedy


def resolved(flagged: Flagged, region: str, types: Iterable[InstanceType]) -> Flagged:
    """The verdict with its remedies' advice after its own. They state what changes; prices come later, to all advice alike."""
    if not flagged.remedies:
        return flagged
    known = Known(region, types, prices={})
    ways_out = (advice for remedy in flagged.remedies for advice in _advice(remedy, known))
    return replace(flagged, advice=(*flagged.advice, *ways_out), remedies=())


def _advice(remedy: Remedy, known: Known) -> list[Advice]:
    estimate = estimates()[remedy.kind]
    answer = estimate.work(estimate.inputs.model_validate(dict(remedy.inputs)), known)
    return [advice for alternative in answer.alternatives if (advice := remedy.advise(alternative)) is not None]
