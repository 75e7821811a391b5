"""What a scenario is, and the rows in which the files of this package write theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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


def in_full(
    one: Callable[[Draw, list[int], float], Resource],
    *,
    nightly: tuple[float, float],
    weekly: tuple[float, float],
    monthly: tuple[float, float],
    first_weekday: tuple[float, float] | None = None,
) -> Iterator[Scenario]:
    """Return negative controls that a job uses in full, for so many minutes (at least, at most) each time."""
    yield control("nightly", "Used in full for minutes every night.", lambda d: one(d, d.daily(), d.uniform(*nightly)))
    yield control("weekly", "Used in full once a week.", lambda d: one(d, d.daily(7), d.uniform(*weekly)))
    story = "Used in full for half an hour or more once a month."
    yield control("monthly", story, lambda d: one(d, d.monthly(), d.uniform(*monthly)))
    if minutes := first_weekday:
        story = "The same on the first Monday of the month, or so."
        yield control("first-weekday", story, lambda d: one(d, d.first_weekday(), d.uniform(*minutes)))


def issue(name: str, story: str, one: One | Together, *also: str, full: bool = True) -> Scenario:
    """Return a scenario that the file's detector should report."""
    return Scenario(name, story, one, True, also, full)


def control(name: str, story: str, one: One | Together, *also: str, full: bool = True) -> Scenario:
    """Return a negative control: a scenario that the file's detector should not report."""
    return Scenario(name, story, one, False, also, full)
