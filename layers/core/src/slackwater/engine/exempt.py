"""Decides which resources a tag protects from waste findings and from clean-up."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from slackwater.model.ownership import has_tag
from slackwater.model.policy import ExemptSection
from slackwater.model.resources import Resource

DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d")
LAST_HOUR_OF_A_DAY: Final = timedelta(days=1, hours=12)
"""How long after the start of a date in UTC it is over everywhere: the last time zone is 12 hours behind UTC."""


def is_exempt(resource: Resource, exempt: ExemptSection, now: datetime) -> bool:
    """Return whether the resource has a keep tag, or a keep-until tag that has not expired."""
    return tags_exempt(resource.tags, exempt, now)


def tags_exempt(tags: Mapping[str, str] | None, exempt: ExemptSection, now: datetime) -> bool:
    """Return whether these tags protect their resource.

    Tags that could not be read (None) protect it, and so does a time that is not RFC 3339. A date without a time
    protects it until that day is over in every time zone.
    """
    if tags is None:
        return True
    keep_until = {key.casefold() for key in exempt.keep_until_tags}
    return any(has_tag(tags, named) for named in exempt.keep_tags) or any(
        key.casefold() in keep_until and not _has_passed(value, now) for key, value in tags.items()
    )


def _has_passed(value: str, now: datetime) -> bool:
    value = value.strip()
    try:
        if DATE.fullmatch(value):
            return datetime.fromisoformat(value).replace(tzinfo=UTC) + LAST_HOUR_OF_A_DAY <= now
        until = datetime.fromisoformat(value)
    except ValueError:
        return False
    return until.tzinfo is not None and TIME.match(value) is not None and until <= now
