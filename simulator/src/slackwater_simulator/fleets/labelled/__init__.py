"""Build labelled fleets: accounts drawn from mechanisms with random parameters, to score a program's findings.

Each detector's table of scenarios has its name, such as `EFS_IDLE_ISSUES`. No list needs an entry for it.
"""

import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.fleets.demo_parts import NOW, REGION
from slackwater_simulator.resources import ACCOUNT, Fleet, instant
from slackwater_simulator.series import DAY, MINUTE

from . import ordinary
from .draw import Draw
from .scenario import Scenario, listed

__all__ = ["Scenario", "labelled_fleet", "scenarios"]

_VOLUMES_A_HOST = 20
_SEASON_DAYS = 45


@cache
def scenarios() -> dict[str, tuple[Scenario, ...]]:
    """Return every detector's scenarios, by detector id."""
    modules = (import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    return dict(sorted(each for module in modules for each in listed(module)))


def labelled_fleet(seed: int, *, issues: int = 30, controls: int = 6, ordinary_of_a_kind: int = 1_250) -> Fleet:
    """Draw a fleet: `issues` issues of each detector, from its scenarios in turn, and `controls` of each control.

    Around them are ordinary file systems, file servers and volumes. The seed determines everything, also the present
    time: a minute of the 45 days before the demo's. The planted cases do not depend on the other numbers.
    """
    season = np.random.default_rng([seed, 0])
    now = instant(NOW) // DAY * DAY - int(season.integers(_SEASON_DAYS * DAY // MINUTE)) * MINUTE
    build = Builder(now, REGION, seed)
    for detector, ones in scenarios().items():
        positive = [one for one in ones if one.issue]
        for place, one in enumerate(positive):
            _plant(build, detector, one, len(range(place, issues, len(positive))))
        for one in ones:
            if not one.issue:
                _plant(build, detector, one, controls)
    for number in range(ordinary_of_a_kind):
        ordinary.file_system(_draw(build, f"ordinary-{number:05}", "efs"))
        ordinary.server(_draw(build, f"ordinary-{number:05}", "fsx"))
    for number in range(0, ordinary_of_a_kind, _VOLUMES_A_HOST):
        count = min(_VOLUMES_A_HOST, ordinary_of_a_kind - number)
        ordinary.volumes(_draw(build, f"ordinary-{number:05}", "ebs"), count)
    return build.fleet(ACCOUNT)


def _draw(build: Builder, name: str, *kind: str) -> Draw:
    """Return the draw of a name. It does not depend on how many other names there are."""
    return Draw(build.shapes.random(name, *kind), build, name)


def _plant(build: Builder, detector: str, scenario: Scenario, count: int) -> None:
    issues, control = ((detector,), None) if scenario.issue else ((), detector)
    more: dict[str, Any] = {"control_of": control, "scenario": scenario.name, "full": scenario.full}
    for number in range(count):
        resource = scenario.plant(_draw(build, f"{detector}-{scenario.name}-{number:04}"))
        build.plant(resource, scenario.story, *issues, *scenario.also, **more)
