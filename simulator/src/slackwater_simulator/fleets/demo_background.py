"""What else there is: healthy servers and file systems."""

from __future__ import annotations

from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.resources import MIB, Activity, FsxFileSystem, Instance

from .builder import Builder
from .demo_parts import MB, REGION, cpu, io, server, tags, volume_on


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
    stopped = build.ago(76)
    old: Instance = build.instance(
        "qa-windows",
        "m5.large",
        days=300,
        state="stopped",
        stopped=stopped,
        cpu=cpu(build),
        tags=tags("web", "staging"),
    )
    volume_on(build, old, "qa-data", 120, used=((old.launched, stopped),), activity=io(build, "office", 5, 5))
    _other_file_servers(build)


def _other_file_servers(build: Builder) -> None:
    work = Activity(shape=build.shapes.shape("office", 2), read=40.0 * MIB, write=12.0 * MIB, metadata=200.0)
    for name, kind, deployment, storage, throughput in (
        ("erp-shares", "ONTAP", "MULTI_AZ_1", 2048, 512),
        ("training-data", "LUSTRE", "PERSISTENT_2", 4800, 250),
        ("office-files", "WINDOWS", "SINGLE_AZ_2", 1000, 64),
    ):
        system = FsxFileSystem(
            id=build.id("fs", name),
            region=REGION,
            created=build.ago(220),
            kind=kind,  # type: ignore[arg-type]
            deployment=deployment,
            storage_gib=storage,
            throughput=throughput,
            activity=work,
            clients=12.0,
            disk_iops_peak=30.0,
            server_peak=25.0,
            tags=tags("platform", Name=name),
        )
        build.fsx.append(system)
        if kind == "ONTAP":
            svm = build.machine(system, name, "erp")
            for volume in ("documents", "scans"):
                build.ontap(svm, volume, volume, size_gib=800, activity=work, tags=tags("platform"))
