"""Build a large mixed account for measurements: mostly ordinary, about 3 % issues and 2 % negative controls a kind."""

from collections.abc import Sequence
from itertools import batched
from typing import Any

import numpy as np

from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.mechanisms import network_buckets, nfs_writes
from slackwater_simulator.resources import (
    ACCOUNT,
    GIB,
    KIB,
    MIB,
    Activity,
    Disk,
    ElasticFileSystem,
    Export,
    Fleet,
    Flow,
    Instance,
    Volume,
    given,
    instant,
    rfc3339,
)
from slackwater_simulator.series import DAY, MINUTE, Floats, Signal
from slackwater_simulator.shapes import MINUTES, noise

from .builder import Builder, joined
from .demo_parts import NOW, REGION

_ISSUES, _CONTROLS = 0.03, 0.02
_KINDS = (
    *("t3.micro", "t3.small", "t3.medium", "t3.large", "t4g.small", "t3a.medium", "m5.large", "m6i.large"),
    *("m6i.xlarge", "m7g.large", "m7i.xlarge", "c6i.large", "c7g.xlarge", "r6i.large", "r6i.xlarge", "m4.large"),
    *("c5.xlarge", "m6i.8xlarge", "c5.9xlarge"),
)
_THROTTLED = ["t3.micro", "t3.small", "t3.medium", "t3a.medium", "t4g.small"]
_SHAPES = ("office", "steady", "bursty", "trickle")
_OWNERS = ("web", "data", "video", "orders", "platform", "search", "finance")
_SYNC, _ASYNC = ("rw", "crossmnt"), ("rw", "crossmnt", "async")
_CHUNK = 96
_MB = 1e6


def mixed_fleet(resources: int = 20_000, seed: int = 7, now: str = NOW, regions: tuple[str, ...] = (REGION,)) -> Fleet:
    """Return half volumes, three tenths instances, an eighth EFS, the rest FSx, spread evenly over the Regions."""
    made = (_Mixed(Builder(instant(now), region, seed), resources // len(regions)).make() for region in regions)
    return joined(list(made))


class _Mixed:
    """One Region of the fleet."""

    def __init__(self, build: Builder, resources: int) -> None:
        self.build = build
        self.random = build.shapes.random("mixed", build.region)
        self.volumes = resources // 2
        self.instances = resources * 3 // 10
        self.efs = resources // 8
        self.served = resources * 3 // 100
        self.exported = resources - self.volumes - self.instances - self.efs - self.served

    def make(self) -> Fleet:
        """Return the Region's resources."""
        self._instances()
        self._volumes()
        self._file_systems()
        self._file_servers()
        return self.build.fleet(ACCOUNT)

    # --- Helpers ------------------------------------------------------------------------------------------------------

    def _tags(self, number: int) -> dict[str, str]:
        owner, environment = _OWNERS[number % len(_OWNERS)], "production" if number % 4 else "staging"
        return {"Owner": owner, "Env": environment, "Project": f"project-{number % 23}"}

    def _between(self, low: float, high: float) -> float:
        return float(self.random.uniform(low, high))

    def _flow(self, number: int, megabytes: float) -> Flow:
        return Flow(self.build.shapes.shape(_SHAPES[number % 3], number), megabytes * _MB * 60)

    def _cpu(self, number: int) -> Flow:
        return Flow(self.build.shapes.shape(_SHAPES[number % 4], number), self._between(15, 80))

    def _io(self, number: int, read_mib: float, write_mib: float, shape: str = "", size: float = 64 * KIB) -> Activity:
        signal = self.build.shapes.shape(shape or _SHAPES[number % 4], number)
        return Activity(shape=signal, read=read_mib * MIB, write=write_mib * MIB, read_size=size, write_size=size)

    # --- Instances ----------------------------------------------------------------------------------------------------

    def _instance(self, name: str, number: int, kind: str, **more: Any) -> Instance:
        named = f"{name}-{number:05}"
        return self.build.instance(named, kind, cpu=self._cpu(number), tags=self._tags(number), **more)

    def _instances(self) -> None:
        issues, controls = round(self.instances * _ISSUES), round(self.instances * _CONTROLS)
        for numbers in batched(range(issues), _CHUNK):
            self._throttled(numbers)
        for number in range(0, controls, 5):
            self._shaped(number)
        for number in range(3, controls, 5):
            self._silent(number)
        for number in range(4, controls, 5):
            self._flat(number)
        self._bursting_controls([*range(1, controls, 5), *range(2, controls, 5)])
        for number in range(self.instances - issues - controls):
            kind = _KINDS[int(self.random.integers(len(_KINDS)))]
            stopped = self.build.ago(self._between(3, 80)) if number % 40 == 7 else None
            share = TYPES[kind].baseline_bytes / _MB * self._between(0.01, 0.2)
            more: dict[str, Any] = {"days": self._between(85, 400), "zone": "acd"[number % 3], "stopped": stopped}
            more |= {"net_in": self._flow(number, share), "net_out": self._flow(number + 1, share * 0.8)}
            more |= {"state": "stopped" if stopped else "running", "detailed": number % 10 == 3}
            self._instance("node", number, kind, unlimited=kind.startswith("t") and number % 4 == 0, **more)

    def _through(self, kind: str, demand: Floats, minutes: float) -> tuple[Flow, Signal]:
        """Return five-minute traffic after the instance's token bucket, and the counter of held packets."""
        signal = self.build.shapes.signal
        passed, held = network_buckets(demand, TYPES[kind].baseline_bytes, TYPES[kind].peak_bytes, minutes)
        meter = np.clip(self.random.normal(0.995, 0.005, MINUTES), 0.98, 1.01)
        return Flow(signal(np.round(passed * meter)).coarsened(300)), signal(np.cumsum(held))

    def _throttled(self, numbers: Sequence[int]) -> None:
        kinds, demands = [_THROTTLED[number % len(_THROTTLED)] for number in numbers], []
        for kind in kinds:
            base = TYPES[kind].baseline_bytes
            rate, hour, hours = base * self._between(6, 12) + 100 * _MB, self._between(0, 14), self._between(4, 8)
            days = [(day, hour, hours, min(rate, 500 * _MB)) for day in range(int(self.random.integers(2)), 35, 2)]
            demands.append(self.build.shapes.blocks(days, base * 0.02) * noise(self.random, 0.03))
        bursts = self.random.uniform(5, 20, len(numbers)).tolist()
        flows = list(map(self._through, kinds, demands, bursts))
        for number, kind, (flow, held) in zip(numbers, kinds, flows, strict=True):
            agent = "typed" if number % 6 == 0 else "plain" if number % 6 == 3 else ""
            ways = ("in", "out") if agent else ()
            counters = {f"ethtool_bw_{way}_allowance_exceeded": given(held, digits=0) for way in ways}
            more: dict[str, Any] = {"net_in": flow, "net_out": flow, "agent": agent, "telemetry": counters}
            made = self._instance("relay", number, kind, days=90, **more)
            story = "A T instance forwards more than its baseline for hours."
            self.build.plant(made, story, "ec2-network-throttled", why="Pinned at its baseline after each burst.")

    def _control(self, made: Instance, story: str, why: str) -> None:
        self.build.plant(made, story, control_of="ec2-network-throttled", why=why)

    def _shaped(self, number: int) -> None:
        kind = _THROTTLED[number % len(_THROTTLED)]
        steady = self.build.shapes.signal(noise(self.random, 0.004)).coarsened(300)
        flow = Flow(steady, TYPES[kind].baseline_bytes * 60 * 0.99)
        made = self._instance("shaped", number, kind, net_out=flow, net_in=Flow(steady, flow.scale * 0.1))
        self._control(made, "A shaper sends at the baseline, always.", "It never burst.")

    def _bursting_controls(self, numbers: Sequence[int]) -> None:
        """Add one TCP flow at 5 Gbps (instances 1, 6, 11 and so on), and short bursts that recover."""
        steady = self.build.shapes.blocks([(day, 3.0, 5.0, 625 * _MB) for day in range(35)], 2 * _MB)
        kinds, demands = ["m6i.4xlarge" if number % 5 == 1 else "t3.small" for number in numbers], []
        for number in numbers:
            bursts = np.where((np.arange(MINUTES) - number % 50) % 60 < 3, 150 * _MB, 1.0 * _MB)
            uneven = np.clip(self.random.normal(1.0, 0.02, MINUTES), 0.9, 1.1)
            demands.append((steady if number % 5 == 1 else bursts) * uneven)
        flows = list(map(self._through, kinds, demands, [30.0] * len(kinds)))
        for number, kind, (flow, _) in zip(numbers, kinds, flows, strict=True):
            name, back, story, why = (
                ("loader", 0.02, "One TCP flow at 5 Gbps.", "The plateau is a flow's limit, below the baseline.")
                if number % 5 == 1
                else ("cron", 0.2, "Three minutes of burst each hour.", "The credits come back in time.")
            )
            self._control(self._instance(name, number, kind, net_in=flow, net_out=Flow(flow.signal, back)), story, why)

    def _silent(self, number: int) -> None:
        values = 3 * _MB * 60 * noise(self.random, 0.2)
        for hour in self.random.integers(0, MINUTES // 60 - 12, 12).tolist():
            values[hour * 60 : (hour + int(self.random.integers(2, 12))) * 60] = np.nan
        flow = Flow(self.build.shapes.signal(values).coarsened(300))
        made = self._instance("edge", number, "t3.medium", net_out=flow, net_in=flow)
        self._control(made, "Telemetry with holes.", "No plateau was ever measured.")

    def _flat(self, number: int) -> None:
        made = self._instance("trunk", number, "m6i.8xlarge", net_in=self._flow(1, 1400), net_out=self._flow(1, 1300))
        self._control(made, "Busy, on a type without burst.", "Peak equals baseline.")

    # --- Volumes ------------------------------------------------------------------------------------------------------

    def _volumes(self) -> None:
        """Add the data volumes. The root volumes exist already."""
        wanted = self.volumes
        issues, controls = round(wanted * _ISSUES), round(wanted * _CONTROLS)
        for number in range(issues):
            self._left_behind(number)
            self._overbought(number)
        for number in range(controls):
            self._spared(number)
            self._used_at_night(number)
        hosts = [instance for instance in self.build.instances if instance.state == "running"]
        for number in range(max(0, wanted - len(self.build.volumes))):
            self._ordinary(number, hosts[number * 7 % len(hosts)])

    def _ordinary(self, number: int, host: Instance) -> None:
        size = int(self.random.integers(20, 1500))
        kind = ("gp3", "gp3", "gp3", "gp2", "gp3", "gp3", "gp2", "io1", "gp3", "st1")[number % 10]
        more: dict[str, Any] = {"type": kind}
        read, write = self._between(2, 40), self._between(1, 25)
        if kind == "gp3" and number % 4 == 0:
            more["throughput"] = 250
            read, write = self._between(90, 110), self._between(60, 90)
        if kind == "io1":
            more["iops"] = min(3000, size * 30)
        if kind == "st1":
            size = max(size, 125)
        if number % 25 == 3:  # an agent reports how full it is
            more["disk"] = Disk(used=Flow(self.build.shapes.shape("steady", 0), 15.0 + number % 60))
        self._attached(f"data-{number:05}", size, host, number, activity=self._io(number, read, write), **more)

    def _attached(self, name: str, size: int, host: Instance, number: int, **more: Any) -> Volume:
        device = f"/dev/sd{chr(102 + number % 20)}"
        return self.build.volume(name, size, on=host, device=device, tags=self._tags(number), **more)

    def _host(self, number: int) -> Instance:
        """Return a Nitro instance for a volume that must publish minima and maxima."""
        hosts = self.build.instances
        for offset in range(len(hosts)):
            host = hosts[(number * 13 + offset) % len(hosts)]
            if host.state == "running" and host.kind.nitro:
                return host
        flow = self._flow(0, 5)
        return self.build.instance(f"host-{number:05}", "m6i.large", net_in=flow, net_out=flow, cpu=self._cpu(0))

    def _overbought(self, number: int) -> None:
        bought = (250, 500, 750, 1000)[number % 4]
        used = bought * self._between(0.03, 0.25)
        more = {"throughput": bought, "iops": 4000, "activity": self._io(number, used * 0.6, used * 0.4)}
        volume = self._attached(f"over-{number:05}", 400, self._host(number), number, **more)
        story, why = f"{bought} MiB/s bought, a quarter used at most.", f"At most {used:.0f} MiB/s in any minute."
        self.build.plant(volume, story, "ebs-surplus-throughput", why=why)

    def _used_at_night(self, number: int) -> None:
        bought = (250, 500)[number % 2]
        activity = self._io(number, 0.0, bought * 0.97, "nightly", 256 * KIB)
        more = {"throughput": bought, "iops": 4000, "activity": activity}
        volume = self._attached(f"dump-{number:05}", 500, self._host(number + 5), number, **more)
        story, why = "Ten minutes at full throughput every night.", "The greatest minute is at the limit."
        self.build.plant(volume, story, control_of="ebs-surplus-throughput", why=why)

    def _unattached(self, name: str, number: int, days: float, **more: Any) -> Volume:
        at, age = self.build.ago(days), days + self._between(20, 300)
        tags, size = self._tags(number) | more.pop("tags", {}), int(self.random.integers(20, 800))
        created, work = self.build.ago(age), self._io(number, 8, 5)
        life: dict[str, Any] = {"created": created, "used": ((created, at),), "activity": work}
        volume = self.build.volume(name, size, tags=tags, **life, **more)
        if days < 90:
            self.build.detached(volume.id, self.build.id("i", f"gone-{name}"), at)
        return volume

    def _left_behind(self, number: int) -> None:
        days = self._between(100, 300) if number % 10 == 9 else self._between(9, 85)
        gp2, name = number % 3 == 1, f"unattached-{number:05}"
        more = {"type": "gp2" if gp2 else "gp3", "throughput": 500 if number % 8 == 0 and not gp2 else None}
        volume, why = self._unattached(name, number, days, **more), f"Detached {days:.0f} days ago."
        self.build.plant(volume, "Left when its instance was replaced.", "ebs-unattached", why=why)

    def _spared(self, number: int) -> None:
        until = rfc3339(self.build.now + 90 * DAY)
        name, days, tags, why = (
            ("kept", (10, 80), {"keep": "true"}, "Tagged keep."),
            ("kept", (10, 80), {"keep-until": until}, "keep-until lies in the future."),
            ("fresh", (0.5, 5), {}, "Detached less than seven days ago."),
        )[number % 3]
        volume = self._unattached(f"{name}-{number:05}", number, self._between(*days), tags=tags)
        self.build.plant(volume, "Unattached, and meant to be.", control_of="ebs-unattached", why=why)

    # --- EFS ----------------------------------------------------------------------------------------------------------

    def _file_systems(self) -> None:
        issues, controls = round(self.efs * _ISSUES), round(self.efs * _CONTROLS)
        for number in range(issues):
            created, work = self.build.ago(self._between(40, 300)), self._io(number, 80, 30)
            active, voice = (created, created + 55 * MINUTE), ("zeros", "absent")[number % 2]
            life: dict[str, Any] = {"created": created, "active": active, "voice": voice}
            size, zone = int(self._between(4, 200) * GIB), "acd"[number % 3]
            system = self._file_system("encode", number, one_zone=zone, standard_bytes=size, activity=work, **life)
            self.build.plant(system, "Left behind by a killed job.", "efs-idle", why="Silent since its first hour.")
        for number in range(controls):
            self._quiet_control(number)
        for number in range(self.efs - len(self.build.efs)):
            self._share(number)

    def _share(self, number: int) -> None:
        """Add a file system with ordinary work."""
        work, cold = self._io(number, self._between(0.2, 12), self._between(0.1, 5)), number % 3 == 0
        more: dict[str, Any] = {
            "days": self._between(2, 700) if number % 25 == 0 else self._between(30, 700),
            "mode": ("bursting", "elastic", "bursting", "provisioned")[number % 4],
            "provisioned_mibps": 64.0 if number % 4 == 3 else None,
            "standard_bytes": int(self._between(30, 900) * GIB),
            "ia_bytes": int(self._between(0, 900) * GIB) if cold else 0,
            "lifecycle": (("TransitionToIA", "AFTER_30_DAYS"),) if cold else (),
            "clients": Flow(self.build.shapes.shape("steady", 0), self._between(2, 30)),
        }
        zones, one_zone = "a" if number % 40 == 2 else "acd", "a" if number % 4 == 1 else None
        self._file_system("share", number, one_zone=one_zone, zones=zones, activity=work, **more)

    def _file_system(self, name: str, number: int, **more: Any) -> ElasticFileSystem:
        return self.build.file_system(f"{name}-{number:05}", tags=self._tags(number), **more)

    def _quiet_control(self, number: int) -> None:
        shapes = self.build.shapes

        def control(name: str, story: str, why: str, **more: Any) -> ElasticFileSystem:
            system = self._file_system(name, number, standard_bytes=20 * GIB, **more)
            self.build.plant(system, story, control_of="efs-idle", why=why)
            return system

        match number % 5:
            case 0:
                night = shapes.signal(shapes.blocks([(2 + number % 25, 16.0, 3.0, 1.0)]))
                work, clients = Activity(shape=night, read=20.0 * MIB, write=5.0 * MIB), Flow(night, 2.0)
                story, why = "Used one night a month.", "Use within thirty days."
                control("monthly", story, why, activity=work, clients=clients)
            case 1:
                control("dark", "No metrics at all.", "No telemetry proves nothing.", voice="dark")
            case 2:
                control("young", "Three days old.", "Younger than seven days.", days=3)
            case _:
                source = control("source", "Source of a replication.", "A member of a replication.")
                protected = "ReplicationOverwriteProtection is REPLICATING."
                self.build.replicate(source, control("replica", "A replica.", protected, replica=True))

    # --- FSx ----------------------------------------------------------------------------------------------------------

    def _file_servers(self) -> None:
        """Add file systems. A third are OpenZFS with a root volume and a child; the others are ONTAP and Lustre."""
        systems, volumes = self.served, self.exported
        zfs = min(systems, round(volumes * 0.35))
        issues, controls = max(1, round(zfs * _ISSUES * 2)), max(4, round(zfs * _CONTROLS * 2))
        for number in range(zfs):
            self._openzfs(number, issues, controls)
        rest, count = max(0, volumes - 2 * zfs), systems - zfs
        for number in range(count):
            self._other_server(number, rest * min(count, number + 2) // count - rest * number // count)

    def _writes(self, offered: float, ack: float, size: float) -> Activity:
        shapes = self.build.shapes
        runs = shapes.blocks([(day, self._between(0, 6), 2.0, offered) for day in range(35)], 1.0)
        wanted = runs * noise(self.random, 0.2)
        jitter = np.clip(noise(self.random, 0.015), 0.95, 1.05)
        done = nfs_writes(wanted, acknowledgement_s=ack, writers=1, jitter=jitter)
        peak = float(done.max())
        rates: dict[str, float] = {"write": peak * size, "write_size": size, "read": 0.5 * MIB, "metadata": 50.0}
        return Activity(shape=shapes.signal(done / peak), **rates)

    def _openzfs(self, number: int, issues: int, controls: int) -> None:
        detector, build = "fsx-sync-export", self.build
        options: tuple[str, ...] = _ASYNC
        disk, story, why = 20.0, "", ""
        work = self._io(number, self._between(5, 60), self._between(2, 30))
        if number < issues:
            options, disk, work = _SYNC, 12.0, self._writes(450, 0.0029, 8 * KIB)
            story, why = "Small writes through a sync export.", "Each write waits 2.9 ms; the disk is nearly idle."
        elif number < issues + controls:
            story = "An export that looks slow in one metric."
            options, disk, writes, why = (
                (_SYNC, 99.5, (430, 0.0029, 16 * KIB), "The disk is at its limit."),
                (_SYNC, 20.0, (8, 0.0029, 16 * KIB), "Hardly any writes."),
                (_SYNC, 20.0, (80, 0.0115, MIB), "It writes a mebibyte at a time."),
                (_ASYNC, 20.0, (3000, 0.0003, 8 * KIB), "Already async."),
            )[number % 4]
            work = self._writes(*writes)
        tags, iops = self._tags(number), 1_000 if number % 8 == 5 else None
        more: dict[str, Any] = {"iops": iops, "deployment": ("MULTI_AZ_1", "SINGLE_AZ_2")[number % 2], "tags": tags}
        system = build.openzfs(f"zfs-{number:05}", activity=work, clients=4.0, disk_iops_peak=disk, **more)
        volume = build.export(system, "share", Export("10.0.0.0/16", options), activity=work, tags=tags)
        if story:
            issue = number < issues
            build.plant(volume, story, *([detector] if issue else []), control_of=None if issue else detector, why=why)

    def _other_server(self, number: int, volumes: int) -> None:
        """Add ONTAP with volumes, or Lustre."""
        build, ontap = self.build, number % 2 == 0
        work = self._io(number, self._between(10, 80), self._between(5, 40))
        kind, deployment = ("ONTAP", "MULTI_AZ_1") if ontap else ("LUSTRE", "PERSISTENT_2")
        storage_gib, throughput = (2048, 512) if ontap else (4800, 250)
        size: dict[str, Any] = {"storage_gib": storage_gib, "throughput": throughput}
        size |= {"days": self._between(60, 500), "activity": work, "clients": 8.0, "tags": self._tags(number)}
        system = build.served(f"server-{number}", f"server-{number:05}", kind, deployment, **size)
        if ontap:
            svm = build.machine(system, f"{number}")
            for place in range(volumes):
                name, tags = f"vol{place}", self._tags(place)
                build.ontap(svm, f"{number}/{place}", name, size_gib=500, activity=work, tags=tags)
