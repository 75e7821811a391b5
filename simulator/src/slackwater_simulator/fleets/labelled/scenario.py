"""What a scenario is: a mechanism that plants resources, and which detectors rightly speak of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from slackwater_simulator.fleets.builder import Builder, Resource

from .rhythms import Random

type One = Callable[[Random, Builder, str], Resource]
"""Plants one resource of this name, and returns the one that is labelled."""
type Plant = Callable[[Builder, Mapping[str, Random]], Iterable[Resource]]
"""Plants a resource for each name, in order; every name has randomness of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One mechanism, drawn again and again with other parameters.

    A trouble is what the file's detector should flag; a twin is innocent. Of every other detector a resource is innocent
    unless `also` names it. `full` says that CloudWatch has all its data but for scattered or late points.
    """

    name: str
    story: str
    plant: Plant
    trouble: bool = False
    full: bool = True
    also: tuple[str, ...] = ()


def each(one: One) -> Plant:
    """A scenario whose resources have nothing to do with each other."""
    return lambda build, randoms: [one(random, build, name) for name, random in randoms.items()]
