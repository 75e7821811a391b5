"""Cross-checks waste with AWS Compute Optimizer: adds whether its recommendation agrees with the detector.

This adds evidence and, if they disagree, a caveat. Confidence, order and savings stay the same, because the savings of
Compute Optimizer and of the detector's own advice are the same money.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from slackwater.engine.evaluation import FlaggedResource
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
"""How long a recommendation is valid without a refresh. Compute Optimizer refreshes recommendations daily."""

RECOMMENDATION_KINDS: Final[Mapping[type[Resource], tuple[type[OptimizerRecommendation], ...]]] = {
    Volume: (IdleRecommendation, VolumeRecommendation),
    Instance: (IdleRecommendation,),
}
"""The kinds of recommendation for each kind of resource, the most important first. An idle resource needs no better
configuration.
"""


@dataclass(frozen=True, slots=True)
class _Opinion:
    agrees: bool
    words: str


def recommendation_kinds(detector: AnyDetector) -> tuple[type[OptimizerRecommendation], ...]:
    """Return the kinds of record with which a detector's findings can be cross-checked; empty if there are none."""
    return RECOMMENDATION_KINDS.get(detector.resource, ()) if detector.kind == "waste" else ()


def cross_check(flagged: FlaggedResource, fleet: Fleet, now: datetime) -> FlaggedResource:
    """Add Compute Optimizer's recommendation as evidence, if there is one for the resource as it is now.

    A recommendation or an event that could not be read counts as missing. A gap of the scan reports it.
    """
    try:
        return _cross_check(flagged, fleet, now)
    except UnreadableRecordError:
        return flagged


def _cross_check(flagged: FlaggedResource, fleet: Fleet, now: datetime) -> FlaggedResource:
    resource = flagged.resource
    for kind in recommendation_kinds(flagged.enabled.detector):
        found = fleet.get(kind, resource.id)
        if found is None or found.refreshed_at < max(now - LASTS, *_changes(resource, fleet)):
            continue
        if (opinion := _opinion(found, resource)) is not None:
            verdict = flagged.verdict
            says = f"{'agrees' if opinion.agrees else 'does not see it'}: {opinion.words}"
            evidence = (*verdict.evidence, Evidence(label=LABEL, value=says, unit=""))
            caveats = verdict.caveats
            if not opinion.agrees:
                caveats += (f"{SERVICE} does not see this waste: {_summary(found)}. Find out why first.",)
            return replace(flagged, verdict=replace(verdict, evidence=evidence, caveats=caveats))
    return flagged


def _changes(resource: Resource, fleet: Fleet) -> list[datetime]:
    """Return the known times at which the resource was created, attached, detached, started or stopped."""
    match resource:
        case Volume():
            event = fleet.get(AttachmentEvent, resource.id)
            attached = (attachment.attached_at for attachment in resource.attachments)
            known = (resource.created_at, event.at if event else None, *attached)
        case Instance():
            known = (resource.launched_at, resource.stopped_at)
        case _:
            known = ()
    return [at for at in known if at is not None]


def _opinion(found: OptimizerRecommendation, resource: Resource) -> _Opinion | None:
    """Return whether a recommendation agrees; None if it is about an earlier state, or does not say."""
    unattached = isinstance(resource, Volume) and not resource.attachments
    saves = found.monthly_savings_usd
    if isinstance(found, IdleRecommendation):
        if found.finding != ("Unattached" if unattached else "Idle"):
            return None
        return _Opinion(
            True, _summary(found) if saves is None else f"{_summary(found)}, saves {saves:,.2f} USD a month"
        )
    if unattached:  # the configuration of a volume without an instance does not matter
        return None
    if saves is not None and saves > 0:
        option = found.option if isinstance(found, VolumeRecommendation) else None
        return _Opinion(True, f"{_summary(found)}, saves {saves:,.2f} USD a month{_with(option)}")
    if found.finding == "Optimized":
        return _Opinion(False, _summary(found))
    # "NotOptimized" can also mean too slow: only the costs show which.
    return None if saves is None else _Opinion(False, f"{_summary(found)}, but would change it without saving anything")


def _summary(found: OptimizerRecommendation) -> str:
    return f"{found.finding} ({found.look_back_days:g} days to {found.refreshed_at:%Y-%m-%d})"


def _with(option: VolumeOption | None) -> str:
    if option is None:
        return ""
    parts = [option.volume_type, f"{option.size_gib:,} GiB"]
    parts += [f"{option.iops:,} IOPS"] if option.iops is not None else []
    parts += [f"{option.throughput_mib_s:,} MiB/s"] if option.throughput_mib_s is not None else []
    risk = "" if option.performance_risk is None else f", performance risk {option.performance_risk:g} of 4"
    return f" with {', '.join(parts)}{risk}"
