"""What AWS Compute Optimizer says of a resource that a detector calls waste: agreement or disagreement, in words.

It adds evidence and, where they disagree, a caveat. Nothing else changes: no confidence, no order, and no saving, for what
Compute Optimizer would save is what the detector's own advice saves, seen by somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from slackwater.engine.docket import FlaggedResource
from slackwater.model.detector import AnyDetector
from slackwater.model.fleet import Fleet, UnreadableRecordError
from slackwater.model.resources import (
    AttachmentEvent,
    IdleRecommendation,
    Instance,
    OptimizerRecommendation,
    Resource,
    Volume,
    VolumeOption,
    VolumeRecommendation,
)
from slackwater.model.verdicts import Evidence

LABEL: Final = "Compute Optimizer"
SERVICE: Final = f"AWS {LABEL}"

LASTS: Final = timedelta(days=30)
"""How long a recommendation that is not refreshed counts. Compute Optimizer refreshes them daily."""

WITNESSES: Final[Mapping[type[Resource], tuple[type[OptimizerRecommendation], ...]]] = {
    Volume: (IdleRecommendation, VolumeRecommendation),
    Instance: (IdleRecommendation,),
}
"""What it has a view of, and which kind is heard first: what idles need not be configured better."""


@dataclass(frozen=True, slots=True)
class _Opinion:
    agrees: bool
    words: str


def witnesses(detector: AnyDetector) -> tuple[type[OptimizerRecommendation], ...]:
    """The kinds of record that tell whether Compute Optimizer agrees with a detector; none where it has no view."""
    return WITNESSES.get(detector.resource, ()) if detector.kind == "waste" else ()


def corroborated(flagged: FlaggedResource, fleet: Fleet, now: datetime) -> FlaggedResource:
    """The same with one more piece of evidence; unchanged where Compute Optimizer says nothing of the resource as it is now.

    A recommendation or an event that could not be read is the same as none here: a gap names it.
    """
    try:
        return _corroborated(flagged, fleet, now)
    except UnreadableRecordError:
        return flagged


def _corroborated(flagged: FlaggedResource, fleet: Fleet, now: datetime) -> FlaggedResource:
    resource = flagged.resource
    for kind in witnesses(flagged.enabled.detector):
        told = fleet.get(kind, resource.id)
        if told is None or told.refreshed_at < max(now - LASTS, *_changes(resource, fleet)):
            continue
        if (opinion := _opinion(told, resource)) is not None:
            verdict = flagged.verdict
            says = f"{'agrees' if opinion.agrees else 'does not see it'}: {opinion.words}"
            evidence = (*verdict.evidence, Evidence(label=LABEL, value=says, unit=""))
            doubt = () if opinion.agrees else (f"{SERVICE} does not see this waste: {_seen(told)}. Find out why first.",)
            return replace(flagged, verdict=replace(verdict, evidence=evidence, caveats=(*verdict.caveats, *doubt)))
    return flagged


def _changes(resource: Resource, fleet: Fleet) -> list[datetime]:
    """When it came to be what it is: made, attached, detached, started, stopped."""
    match resource:
        case Volume():
            event = fleet.get(AttachmentEvent, resource.id)
            attached = (attachment.attached_at for attachment in resource.attachments)
            known = (resource.created_at, event.at if event else None, *attached)
        case Instance():
            known = (resource.launched_at, resource.stopped_at)
        case _:
            known = ()
    return [moment for moment in known if moment is not None]


def _opinion(told: OptimizerRecommendation, resource: Resource) -> _Opinion | None:
    """What it comes to; None where it tells of the resource as it was, or nobody can say which way it points."""
    loose = isinstance(resource, Volume) and not resource.attachments
    saves = told.monthly_savings_usd
    if isinstance(told, IdleRecommendation):
        if told.finding != ("Unattached" if loose else "Idle"):
            return None
        return _Opinion(True, _seen(told) if saves is None else f"{_seen(told)}, saves {saves:,.2f} USD a month")
    if loose:  # what is configured how does not matter on no instance
        return None
    if saves is not None and saves > 0:
        how = told.option if isinstance(told, VolumeRecommendation) else None
        return _Opinion(True, f"{_seen(told)}, saves {saves:,.2f} USD a month{_with(how)}")
    if told.finding == "Optimized":
        return _Opinion(False, _seen(told))
    # Not optimized may be too slow: only what it would cost tells.
    return None if saves is None else _Opinion(False, f"{_seen(told)}, but would change it without saving anything")


def _seen(told: OptimizerRecommendation) -> str:
    return f"{told.finding} ({told.look_back_days:g} days to {told.refreshed_at:%Y-%m-%d})"


def _with(option: VolumeOption | None) -> str:
    if option is None:
        return ""
    parts = [option.volume_type, f"{option.size_gib:,} GiB"]
    parts += [f"{option.iops:,} IOPS"] if option.iops is not None else []
    parts += [f"{option.throughput_mib_s:,} MiB/s"] if option.throughput_mib_s is not None else []
    risk = "" if option.performance_risk is None else f", performance risk {option.performance_risk:g} of 4"
    return f" with {', '.join(parts)}{risk}"
