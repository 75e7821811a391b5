"""Recommendations: sentences and checks that do not depend on the service.

Detectors do not say who manages a resource: the engine adds that to each finding that does not name the manager yet.
"""

from slackwater.model.ownership import restored_by
from slackwater.model.resources import Resource
from slackwater.model.settings import Setting


def caveats(*found: tuple[str, object]) -> tuple[str, ...]:
    """The sentences whose second part holds."""
    return tuple(words for words, holds in found if holds)


def protection(resource: Resource) -> tuple[str, ...]:
    """The caveats of a deletion: why someone may still need a resource that nothing uses."""
    who = restored_by(resource.tags)
    return (
        *((f"{who} restored it from a backup, so someone may need it soon.",) if who else ()),
        *(("Its tags could not be read, so it may be protected.",) if resource.tags is None else ()),
    )


def is_protected(resource: Resource) -> bool:
    """Whether Slackwater must not delete a resource: another service manages it, or `protection` has a reason."""
    return resource.managed_by is not None or bool(protection(resource))


def by_program[S: Setting](resource: Resource, to: S, *, sure: bool = True) -> S | None:
    """The setting, if Slackwater may change the resource to it, else None.

    It does not change what another program manages, what has unreadable tags, or what a person must check (not `sure`).
    """
    return to if sure and resource.tags is not None and resource.managed_by is None else None
