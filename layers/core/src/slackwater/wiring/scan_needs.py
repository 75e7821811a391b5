"""Lists every IAM action that a scan uses, and what happens without it."""

from collections.abc import Iterator

from slackwater.aws.client import identity, regions
from slackwater.aws.inventory.inventory import READERS, with_foundations
from slackwater.aws.metrics import cloudwatch
from slackwater.aws.pricing import price_list as pricing
from slackwater.engine.cross_check import recommendation_kinds
from slackwater.engine.registry import Registry
from slackwater.model.access import Need
from slackwater.model.detector import AnyDetector
from slackwater.model.resources import Record


def needs(detectors: Registry) -> list[Need]:
    """Return every action that a scan with these detectors uses, sorted by name."""
    found = [Need(action=action, optional=False, without="no scan starts") for action in identity.ACTIONS]
    found += [Need(action=action, optional=True, without="--all-regions does not start") for action in regions.ACTIONS]
    found += [Need(action=action, optional=True, without="prices come from the snapshot") for action in pricing.ACTIONS]
    # Every detector that reads metrics has a worked case with metrics.
    measuring = tuple(id_ for id_, detector in detectors.items() if any(case.metrics for case in detector.cases))
    found += [Need(action=action, optional=False, blind=measuring) for action in cloudwatch.ACTIONS if measuring]
    return sorted([*found, *_of_inventory(detectors)], key=lambda need: need.action)


def _of_inventory(detectors: Registry) -> Iterator[Need]:
    for action in dict.fromkeys(reader.action for reader in READERS.values()):
        kinds = {kind for kind, reader in READERS.items() if reader.action == action}
        blind = tuple(id_ for id_, detector in detectors.items() if kinds & _required(detector))
        weaker = tuple(id_ for id_, detector in detectors.items() if kinds & _optional(detector))
        if blind or weaker:
            yield Need(action=action, optional=not blind, blind=blind, weaker=weaker)


def _required(detector: AnyDetector) -> set[type[Record]]:
    return with_foundations({detector.resource, *detector.reads})


def _optional(detector: AnyDetector) -> set[type[Record]]:
    return with_foundations({*detector.reads_if_allowed, *recommendation_kinds(detector)}) - _required(detector)
