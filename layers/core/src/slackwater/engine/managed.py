"""Resources that something else manages: which the policy names, and that every finding about one says whose it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from slackwater.model.fleet import Fleet
from slackwater.model.ownership import tagged_as_managed
from slackwater.model.resources import Record, Resource
from slackwater.model.verdicts import Flagged


def with_managers(fleet: Fleet, managed_tags: Sequence[str]) -> Fleet:
    """The fleet, in which each resource that carries one of the policy's `managed_tags` names its manager."""
    if not managed_tags:
        return fleet

    def told(record: Record) -> Record:
        if not isinstance(record, Resource):
            return record
        owner = tagged_as_managed(record.tags, managed_tags)
        return replace(record, manager=owner) if owner and not record.managed_by else record

    return fleet.mapped(told)


def naming_the_manager(flagged: Flagged, resource: Resource) -> Flagged:
    """The verdict, with a caveat that says who manages the resource, where neither its caveats nor its advice do."""
    owner = resource.managed_by
    if owner is None or any(owner in words for words in (*flagged.caveats, *(one.summary for one in flagged.advice))):
        return flagged
    return replace(flagged, caveats=(*flagged.caveats, f"It is managed by {owner}: change it there."))
