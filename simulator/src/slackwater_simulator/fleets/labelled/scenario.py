"""Define scenarios, and the tables in which this package's modules list theirs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType

from slackwater_simulator.fleets.builder import Resource
from slackwater_simulator.series import Floats

from .draw import Draw, Range

type One = Callable[[Draw], Resource]
"""Plants a resource with everything it needs, and returns the labelled one."""
type Rows = Mapping[str, One]
"""Functions that plant scenarios, by "name: story"."""
type Starts = Callable[[Draw], list[int]]
"""Draws the starts of a job, such as `Draw.daily`."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One mechanism, drawn repeatedly with other parameters.

    The file's detector should report a resource if `issue`, and no other one unless `also` names it. `full` says that
    CloudWatch has all its data except for scattered or late points.
    """

    name: str
    story: str
    plant: One
    issue: bool
    also: tuple[str, ...] = ()
    full: bool = True


def listed(file: ModuleType) -> Iterator[tuple[str, tuple[Scenario, ...]]]:
    """Return a file's detectors with their scenarios. Those of `efs-idle` are in `EFS_IDLE_ISSUES` and so on."""
    for table in vars(file):
        if prefix := table.endswith("_ISSUES") and table.removesuffix("ISSUES"):
            yield prefix.strip("_").lower().replace("_", "-"), tuple(_of(file, prefix))


def _of(file: ModuleType, prefix: str) -> Iterator[Scenario]:
    """Return the scenarios of tables with this prefix: issues, controls, and controls that lack whole hours of data.

    `ALSO` has, by name, the other detectors that should report a scenario.
    """
    also = getattr(file, f"{prefix}ALSO", {})
    for table, issue, full in (("ISSUES", True, True), ("CONTROLS", False, True), ("UNKNOWN", False, False)):
        rows: Rows = getattr(file, prefix + table, {})
        for row, one in rows.items():
            name, _, story = row.partition(": ")
            yield Scenario(name, story, one, issue, also.get(name, ()), full)


_IN_FULL: tuple[tuple[str, Starts], ...] = (
    ("nightly: Used in full for minutes every night.", Draw.daily),
    ("weekly: Used in full once a week.", Draw.weekly),
    ("monthly: Used in full for half an hour or more once a month.", Draw.monthly),
    ("first-weekday: Used in full on the first Monday of the month, or so.", Draw.first_weekday),
)


def in_full(one: Callable[[Draw, list[int], float], Resource], *minutes: Range) -> dict[str, One]:
    """Return negative controls that a job uses fully, for a number of minutes (minimum, maximum) each time.

    `minutes` are those of a nightly, a weekly and a monthly job, and optionally of one on a first weekday.
    """

    def job(starts: Starts, minutes: Range) -> One:
        return lambda d: one(d, starts(d), d.uniform(*minutes))

    return {row: job(starts, each) for (row, starts), each in zip(_IN_FULL, minutes, strict=False)}


def quiet(use: Callable[[Draw, Floats, int], Resource]) -> dict[str, One]:
    """Return negative controls that a job with some clients uses for minutes or hours each night, week or month."""

    def job(starts: Starts, minutes: Range, unevenness: Callable[[Draw], Floats | float] = Draw.wobble) -> One:
        return lambda d: use(d, d.runs(starts(d), d.uniform(*minutes)) * unevenness(d), d.integer(1, 9))

    return {
        "monthly-by-date: Used for minutes on one day of the month.": job(Draw.monthly, (10, 300)),
        "monthly-by-weekday: Used on the first Monday, say, of the month.": job(Draw.first_weekday, (10, 300)),
        "weekly: Used for minutes once a week.": job(Draw.weekly, (2, 120), lambda _: 1.0),
        "nightly: Used for minutes every night.": job(Draw.daily, (1, 15)),
    }
