"""What the scenarios of FSx performance that nobody needs share; `use(d, values, share)` plants a file system."""

from __future__ import annotations

from collections.abc import Callable

from slackwater_simulator.resources import FsxFileSystem
from slackwater_simulator.series import Floats

from .draw import Draw
from .scenario import One, in_full

type Use = Callable[..., FsxFileSystem]
type Share = Callable[[Draw], float]

SMALLEST = {"SINGLE_AZ_1": 64, "SINGLE_AZ_2": 160, "MULTI_AZ_1": 160}
"""MB/s of the smallest file server, by deployment."""


def full(d: Draw) -> Floats:
    """Draw any ordinary curve with a peak of 1."""
    return d.full(d.demand())


def nightly_little(use: Use, little: Share) -> One:
    """Return what plants a file system in little use by a job of every night."""

    def one(d: Draw) -> FsxFileSystem:
        values = d.runs(d.daily(), d.uniform(5, 200), 1.0, 0.02)
        return use(d, values, little(d))

    return one


def in_runs(use: Use, much: Share) -> dict[str, One]:
    """Return negative controls that a job uses in full."""
    return in_full(
        lambda d, starts, minutes: use(d, d.runs(starts, minutes, 1.0, 0.01), much(d)),
        nightly=(3, 120),
        weekly=(3, 300),
        monthly=(30, 600),
    )


def without_data(use: Use, little: Share) -> dict[str, One]:
    """Return negative controls that are too new to judge, or miss whole days."""
    return {
        "new: Made within two weeks: nobody knows yet.": lambda d: use(d, full(d), little(d), days=d.uniform(0.5, 12)),
        "holes: Days without metrics: nobody knows.": lambda d: use(d, d.without_days(full(d)), little(d)),
    }
