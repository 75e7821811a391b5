"""What else there is: healthy servers and file systems."""

from __future__ import annotations

from slackwater_simulator.instance_types import TYPES

from .builder import Builder
from .demo_ebs import stopped_server
from .demo_fsx import other_file_servers
from .demo_parts import MB, cpu, io, server, tags, volume_on


def background(build: Builder) -> None:
    """Servers and file systems with nothing wrong."""
    for number, (name, kind) in enumerate(
        (
            ("web-1", "m6i.large"),
            ("web-2", "m6i.large"),
            ("web-3", "m7g.large"),
            ("api-1", "c6i.large"),
            ("api-2", "c6i.large"),
            ("batch-1", "c7g.xlarge"),
            ("jenkins", "t3.large"),
            ("bastion", "t3.nano"),
            ("monitoring", "t3a.medium"),
            ("legacy-erp", "m4.large"),
            ("vpn", "t4g.small"),
            ("analytics", "r6i.2xlarge"),
        )
    ):
        share = TYPES[kind].baseline_bytes * 0.22 / MB
        instance = server(
            build,
            name,
            kind,
            "web" if number < 5 else "platform",
            60 + 17 * number,
            (share, number),
            (share * 0.7, number + 1),
            cpu(build, top=30 + 4 * number, variant=number),
            zone="acd"[number % 3],
            detailed=number % 4 == 0,
        )
        if number % 3 == 0:
            build.volume(
                f"{name}-data",
                100 + 40 * number,
                on=instance,
                type="gp2" if number == 9 else "gp3",
                activity=io(build, "office", 15, 9, variant=number),
                tags=tags("web"),
            )
    old = stopped_server(build, "qa-windows", "m5.large", tags("web", "staging"), 300, 76)
    volume_on(build, old, "qa-data", 120, used=old.intervals, activity=io(build, "office", 5, 5))
    other_file_servers(build)
