"""Whom to ask about a resource, as its tags say."""

from __future__ import annotations

from slackwater.model.policy import OwnersSection
from slackwater.model.resources import Resource


def owner_of(resource: Resource, owners: OwnersSection) -> str | None:
    """The value of the first owner tag that is there and not empty; None where nobody is named."""
    tags = resource.tags or {}
    return next((tags[key] for key in owners.tags if tags.get(key)), None)
