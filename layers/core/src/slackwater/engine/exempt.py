"""Which resources their owners protect by a tag."""

from __future__ import annotations

from datetime import UTC, datetime

from slackwater.model.policy import ExemptSection
from slackwater.model.resources import Resource


def is_kept(resource: Resource, exempt: ExemptSection, now: datetime) -> bool:
    """True when a keep tag, or a keep-until tag that has not run out, is on the resource. A date nobody can read protects."""
    keep = {key.casefold() for key in exempt.keep_tags}
    keep_until = {key.casefold() for key in exempt.keep_until_tags}
    return any(
        key.casefold() in keep or (key.casefold() in keep_until and not _has_passed(value, now))
        for key, value in (resource.tags or {}).items()
    )


def _has_passed(value: str, now: datetime) -> bool:
    try:
        until = datetime.fromisoformat(value.strip())
    except ValueError:
        return False
    return (until if until.tzinfo else until.replace(tzinfo=UTC)) <= now
