"""Recommendations: sentences and checks that do not depend on the service."""

from __future__ import annotations

from slackwater.model.resources import Resource
from slackwater.model.settings import Setting


def by_program[S: Setting](resource: Resource, to: S, *, sure: bool = True) -> S | None:
    """The setting, where a program may change the resource to it; else None.

    It may not where another program manages the resource, where its tags could not be read, and where only somebody who looks
    could tell whether it does (`sure` is false).
    """
    return to if sure and resource.tags is not None and resource.managed_by is None else None
