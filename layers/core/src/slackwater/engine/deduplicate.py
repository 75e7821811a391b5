"""Reports one finding for each issue: if two detectors flag the same cause, only the stronger one."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from slackwater.engine.evaluation import FlaggedResource
from slackwater.model.findings import ALSO_FOUND


def deduplicate(flagged: Iterable[FlaggedResource]) -> tuple[list[FlaggedResource], list[FlaggedResource]]:
    """Return the findings to report, and those that they suppress.

    A detector suppresses the detectors of its `outranks` on its own resource, and on the resources that its verdict
    `covers`. A suppressed finding still suppresses others: if A suppresses B, and B suppresses C, only A is reported.
    A reported finding gets a caveat that names the findings that it suppresses.
    """
    everything = [*flagged]
    by_resource: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for place, one in enumerate(everything):
        by_resource[one.enabled.id, one.resource.id].append(place)
    suppressed_by: dict[int, int] = {
        weaker: place
        for place, one in enumerate(everything)
        for detector in one.enabled.detector.outranks
        for resource in (one.resource.id, *one.verdict.covers)
        for weaker in by_resource[detector, resource]
        if weaker != place
    }
    named: defaultdict[int, list[int]] = defaultdict(list)
    for weaker in suppressed_by:
        named[_first(weaker, suppressed_by)].append(weaker)
    reported = [
        _naming(one, [everything[weaker] for weaker in named[place]])
        for place, one in enumerate(everything)
        if place not in suppressed_by
    ]
    return reported, [everything[weaker] for weaker in sorted(suppressed_by)]


def _first(place: int, suppressed_by: dict[int, int]) -> int:
    while place in suppressed_by:
        place = suppressed_by[place]
    return place


def _naming(stronger: FlaggedResource, weaker: list[FlaggedResource]) -> FlaggedResource:
    """Add a caveat that names the suppressed findings, if there are any."""
    if not weaker:
        return stronger
    others = ", ".join(
        one.enabled.id if one.resource.id == stronger.resource.id else f"{one.enabled.id} of {one.resource.id}"
        for one in weaker
    )
    verdict = replace(stronger.verdict, caveats=(*stronger.verdict.caveats, ALSO_FOUND.format(others)))
    return replace(stronger, verdict=verdict)
