"""What a scenario is, and the rows in which the files of this package write theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from slackwater_simulator.fleets.builder import Resource

from .draw import Draw

type One = Callable[[Draw], Resource]
"""Plants a resource, with what belongs to it, and returns the one that is labelled."""


@dataclass(frozen=True, slots=True)
class Together:
    """Plants many resources at once and returns the labelled ones, in order."""

    plant: Callable[[Sequence[Draw]], Iterable[Resource]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One mechanism, drawn again and again with other parameters.

    The file's detector should report a resource if `trouble`, and no other one unless `also` names it. `full` says that
    CloudWatch has all its data but for scattered or late points.
    """

    name: str
    story: str
    one: One | Together
    trouble: bool
    also: tuple[str, ...] = ()
    full: bool = True

    def plant(self, draws: Sequence[Draw]) -> Iterable[Resource]:
        """Plant a resource for each draw, in order."""
        return self.one.plant(draws) if isinstance(self.one, Together) else [self.one(d) for d in draws]


def issue(name: str, story: str, one: One | Together, *also: str, full: bool = True) -> Scenario:
    """Return a scenario that the file's detector should report."""
    return Scenario(name, story, one, True, also, full)


def control(name: str, story: str, one: One | Together, *also: str, full: bool = True) -> Scenario:
    """Return a negative control: a scenario that the file's detector should not report."""
    return Scenario(name, story, one, False, also, full)
