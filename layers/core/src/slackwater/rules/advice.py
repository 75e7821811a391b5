"""Recommendations: sentences and checks that do not depend on the service.

Detectors do not say who manages a resource. The engine adds that to each finding that does not name the manager yet.
"""

from slackwater.model.ownership import restored_by
from slackwater.model.resources import Resource
from slackwater.model.settings import Setting


def caveats(*found: tuple[str, object]) -> tuple[str, ...]:
    """Return the sentences that are paired with a true value."""
    return tuple(words for words, holds in found if holds)


def protection(resource: Resource) -> tuple[str, ...]:
    """Return the caveats of a deletion: why someone may still need a resource that nothing uses."""
    who = restored_by(resource.tags)
    return (
        *((f"{who} restored it from a backup, so someone may need it soon.",) if who else ()),
        *(("Its tags could not be read, so it may be protected.",) if resource.tags is None else ()),
    )


def is_protected(resource: Resource) -> bool:
    """Return whether Slackwater must not delete a resource: a service manages it, or `protection` has a reason."""
    return resource.managed_by is not None or bool(protection(resource))


def by_program[S: Setting](resource: Resource, to: S, *, sure: bool = True) -> S | None:
    """Return the setting if Slackwater may apply it; else None.

    It may not if another program manages the resource, the tags are unreadable, or a person must check (not `sure`).
    """
    return to if sure and resource.tags is not None and resource.managed_by is None else None
