"""What a scan would see, before the first scan: every action that it uses is asked once, as cheaply as can be."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from slackwater.aws import cloudwatch, identity, pricing, regions
from slackwater.aws.identity import Identity
from slackwater.aws.inventory import READERS, with_foundations
from slackwater.aws.probes import AwsProbes, once
from slackwater.engine.corroborate import witnesses
from slackwater.engine.registry import Registry
from slackwater.model.access import Check, Examination, Need
from slackwater.model.detector import AnyDetector
from slackwater.model.resources import Record

AT_ONCE: Final = 16


def needs(detectors: Registry) -> list[Need]:
    """Every action that a scan with these detectors uses, by name."""
    found = [Need(action=action, optional=False, without="no scan starts") for action in identity.ACTIONS]
    found += [Need(action=action, optional=True, without="--all-regions does not start") for action in regions.ACTIONS]
    found += [Need(action=action, optional=True, without="prices come from the snapshot") for action in pricing.ACTIONS]
    # A detector that asks for metrics has a worked case with some.
    measuring = tuple(id_ for id_, detector in detectors.items() if any(case.metrics for case in detector.cases))
    found += [Need(action=action, optional=False, blind=measuring) for action in cloudwatch.ACTIONS if measuring]
    return sorted([*found, *_of_inventory(detectors)], key=lambda need: need.action)


def examined(who: Identity, in_regions: Sequence[str], needed: Collection[Need], probes: AwsProbes) -> Examination:
    """Ask for every action, in each region unless one answer holds for all."""
    asked = [
        (need, region)
        for need in needed
        for region in ([None] if once(need.action) else in_regions)
        if region is None or probes.is_there(need.action, region)
    ]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = pool.map(lambda one: probes.ask(one[0].action, one[1]), asked)
        checks = tuple(
            Check(need=need, region=region, answer=answer) for (need, region), answer in zip(asked, answers, strict=True)
        )
    return Examination(account=who.account, arn=who.arn, partition=who.partition, regions=tuple(in_regions), checks=checks)


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
    return with_foundations({*detector.reads_if_allowed, *witnesses(detector)}) - _required(detector)
