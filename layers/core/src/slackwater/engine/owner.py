"""Names the owner of a resource, from its tags."""

from slackwater.model.policy import OwnersSection
from slackwater.model.resources import Resource


def owner_of(resource: Resource, owners: OwnersSection) -> str | None:
    """Return the value of the first owner tag that is set and not empty; None if there is none."""
    tags = resource.tags or {}
    return next((tags[key] for key in owners.tags if tags.get(key)), None)
