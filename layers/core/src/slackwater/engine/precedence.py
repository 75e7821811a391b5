"""One trouble, one finding: where two detectors see the same cause, the stronger one speaks and names the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from slackwater.engine.docket import FlaggedResource


def settle(flagged: Iterable[FlaggedResource]) -> tuple[list[FlaggedResource], list[FlaggedResource]]:
    """Those that speak, each naming whom it speaks for, and those that it silences.

    A detector silences what it `outranks` on its own resource, and on those that its verdict `covers`. One that is silenced
    itself still silences: of three in a row only the first speaks.
    """
    everything = [*flagged]
    by_resource: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for place, one in enumerate(everything):
        by_resource[one.enabled.id, one.resource.id].append(place)
    silenced_by: dict[int, int] = {
        weaker: place
        for place, one in enumerate(everything)
        for detector in one.enabled.detector.outranks
        for resource in (one.resource.id, *one.verdict.covers)
        for weaker in by_resource[detector, resource]
        if weaker != place
    }
    named: defaultdict[int, list[int]] = defaultdict(list)
    for weaker in silenced_by:
        named[_first(weaker, silenced_by)].append(weaker)
    speaking = [
        _naming(one, [everything[weaker] for weaker in named[place]])
        for place, one in enumerate(everything)
        if place not in silenced_by
    ]
    return speaking, [everything[weaker] for weaker in sorted(silenced_by)]


def _first(place: int, silenced_by: dict[int, int]) -> int:
    while place in silenced_by:
        place = silenced_by[place]
    return place


def _naming(stronger: FlaggedResource, weaker: list[FlaggedResource]) -> FlaggedResource:
    """The stronger one's verdict, with the weaker ones' ids where there are any."""
    if not weaker:
        return stronger
    others = ", ".join(
        one.enabled.id if one.resource.id == stronger.resource.id else f"{one.enabled.id} of {one.resource.id}"
        for one in weaker
    )
    said = f"It is the same trouble that {others} would tell of; that is silent meanwhile."
    verdict = replace(stronger.verdict, caveats=(*stronger.verdict.caveats, said))
    return replace(stronger, verdict=verdict)
