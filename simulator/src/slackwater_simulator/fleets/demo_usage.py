"""EC2: servers that nobody needs any more, and T instances that pay for surplus CPU credits."""

from __future__ import annotations

import numpy as np

from slackwater_simulator.resources import Flow, Instance
from slackwater_simulator.series import Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES, noise

from .builder import Builder
from .demo_parts import MB, tags


def usage(build: Builder) -> None:
    """Both, with their look-alikes."""
    _idle(build)
    _surcharged(build)


def _chores(build: Builder, name: str) -> Floats:
    """Percent of the CPU that an empty system takes: its timers, every hour."""
    values = 0.3 * noise(build.shapes.random(name, "cpu"), 0.2)
    values[17::60] = 1.8
    return values


def _heartbeat(build: Builder, name: str, mb_a_day: float) -> Flow:
    return Flow(build.shapes.signal(mb_a_day * MB / DAY_MINUTES * noise(build.shapes.random(name, "network"), 0.5)))


def _idle(build: Builder) -> None:
    signal = build.shapes.signal

    def quiet(
        name: str, kind: str, days: float, mb_in: float, mb_out: float, own: dict[str, str], used: Floats | None = None
    ) -> Instance:
        """Add a server that does next to nothing, or uses this percentage of its CPU; megabytes are a day's."""
        percent = _chores(build, name) if used is None else used
        return build.instance(
            name,
            kind,
            days=days,
            cpu=Flow(signal(percent)),
            net_in=_heartbeat(build, name, mb_in),
            net_out=_heartbeat(build, f"{name}-out", mb_out),
            tags=own,
        )

    for name, kind, days, owner in (
        ("codec-trial", "c6i.4xlarge", 210, "video"),
        ("book-fair-site", "t3.large", 75, "web"),
    ):
        quiet(name, kind, days, 1.1, 0.7, tags(owner, "staging"))
    busy = _chores(build, "audience-report")
    busy[build.shapes.minute(26, 2) : build.shapes.minute(26, 5)] = 74.0
    quiet("audience-report", "m6i.large", 400, 1.5, 1.0, tags("finance"), busy)
    quiet("font-licences", "t3.small", 500, 0.4, 0.4, tags("platform", keep="licence server"))


def _surcharged(build: Builder) -> None:
    shapes = build.shapes

    def server(name: str, kind: str, percent: Floats, owner: str, days: float) -> Instance:
        used = np.clip(percent * noise(shapes.random(name, "cpu"), 0.06), 0, 100)
        return build.instance(name, kind, days=days, unlimited=True, cpu=Flow(shapes.signal(used)), tags=tags(owner))

    server("caption-queue", "t3.xlarge", np.full(MINUTES, 84.0), "video", 190)
    sundays = shapes.blocks([(day, 0.0, 22.0, 92.0) for day in range(34) if day % 7 == 1], 1.5)
    server("sales-cubes", "t3.medium", sundays, "finance", 320)
    server("preview-web", "t3.small", np.full(MINUTES, 38.0), "web", 150)
    looped = np.where(shapes.blocks([(19, 3.0, 50.0, 1.0)]) > 0, 98.0, 6.0)
    server("mail-relay", "t3.medium", looped, "platform", 260)
