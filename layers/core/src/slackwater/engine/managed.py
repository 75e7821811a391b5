"""Finds resources that another program manages, by the policy's tags, and names the manager in each finding."""

from collections.abc import Sequence
from dataclasses import replace

from slackwater.model.fleet import Fleet
from slackwater.model.ownership import tagged_as_managed
from slackwater.model.resources import Record, Resource
from slackwater.model.verdicts import Flagged


def with_managers(fleet: Fleet, managed_tags: Sequence[str]) -> Fleet:
    """Return the fleet with the manager set on each resource that has one of the policy's `managed_tags`."""
    if not managed_tags:
        return fleet

    def with_manager(record: Record) -> Record:
        if not isinstance(record, Resource):
            return record
        owner = tagged_as_managed(record.tags, managed_tags)
        return replace(record, manager=owner) if owner and not record.managed_by else record

    return fleet.mapped(with_manager)


def naming_the_manager(flagged: Flagged, resource: Resource) -> Flagged:
    """Return the verdict with a caveat that names the resource's manager, unless its caveats or advice already do."""
    owner = resource.managed_by
    if owner is None or any(owner in words for words in (*flagged.caveats, *(one.summary for one in flagged.advice))):
        return flagged
    return replace(flagged, caveats=(*flagged.caveats, f"It is managed by {owner}: change it there."))
