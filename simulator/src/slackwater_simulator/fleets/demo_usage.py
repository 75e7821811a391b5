"""EC2: servers that nobody needs any more, and T instances that pay for surplus CPU credits."""

from __future__ import annotations

import numpy as np

from slackwater_simulator.resources import Flow, Instance
from slackwater_simulator.series import Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES, noise

from .builder import Builder
from .demo_parts import MB, tags


def usage(build: Builder) -> None:
    """Both, with their twins."""
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
    trouble, signal = "ec2-idle", build.shapes.signal

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

    for name, kind, days, owner, story in (
        ("codec-trial", "c6i.4xlarge", 210, "video", "A codec was tried on it; the trial ended in the spring."),
        ("book-fair-site", "t3.large", 75, "web", "The site of a book fair that is over."),
    ):
        forgotten = quiet(name, kind, days, 1.1, 0.7, tags(owner, "staging"))
        build.plant(forgotten, story, trouble, why="Its own timers, and two megabytes a day.")
    busy = _chores(build, "audience-report")
    busy[build.shapes.minute(26, 2) : build.shapes.minute(26, 5)] = 74.0
    build.plant(
        quiet("audience-report", "m6i.large", 400, 1.5, 1.0, tags("finance"), busy),
        "It writes the audience report, once a month.",
        twin_of=trouble,
        why="Three hours of work 26 days ago.",
    )
    licences = quiet("font-licences", "t3.small", 500, 0.4, 0.4, tags("platform", keep="licence server"))
    build.plant(licences, "A licence server, which waits.", twin_of=trouble, why="Tagged keep.")


def _surcharged(build: Builder) -> None:
    trouble, shapes = "ec2-cpu-credits-surcharged", build.shapes

    def server(name: str, kind: str, percent: Floats, owner: str, days: float) -> Instance:
        used = np.clip(percent * noise(shapes.random(name, "cpu"), 0.06), 0, 100)
        return build.instance(name, kind, days=days, unlimited=True, cpu=Flow(shapes.signal(used)), tags=tags(owner))

    captions = server("caption-queue", "t3.xlarge", np.full(MINUTES, 84.0), "video", 190)
    build.plant(
        captions,
        "Captions are made all day and night, on a type that is cheap for those who rest.",
        trouble,
        why="84 % on a baseline of 40 %: an m6i.xlarge costs less than its surcharge.",
    )
    sundays = shapes.blocks([(day, 0.0, 22.0, 92.0) for day in range(34) if day % 7 == 1], 1.5)
    sales = server("sales-cubes", "t3.medium", sundays, "finance", 320)
    build.plant(
        sales,
        "It counts the week's sales on Sundays, until late.",
        trouble,
        why="22 hours at 92 % a week use up more than it earns and may borrow; the week together would fit.",
    )
    preview = server("preview-web", "t3.small", np.full(MINUTES, 38.0), "web", 150)
    build.plant(
        preview,
        "Always a little too busy for its size.",
        twin_of=trouble,
        why="Every other type costs more than what it is charged.",
    )
    looped = np.where(shapes.blocks([(19, 3.0, 50.0, 1.0)]) > 0, 98.0, 6.0)
    relay = server("mail-relay", "t3.medium", looped, "platform", 260)
    build.plant(
        relay, "A process ran in circles for two days.", twin_of=trouble, why="Charged on three days, three weeks ago."
    )
