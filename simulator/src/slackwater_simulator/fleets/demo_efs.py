"""Add the demo's EFS: leftovers of jobs, throughput modes, and data in the wrong class, zone or service."""

from typing import Any

import numpy as np

from slackwater_simulator.mechanisms import nfs_writes
from slackwater_simulator.resources import GIB, KIB, MIB, Activity, ElasticFileSystem, Flow, instant
from slackwater_simulator.series import HOUR, MINUTE, Floats
from slackwater_simulator.shapes import DAY_MINUTES, MINUTES, noise

from .builder import Builder
from .demo_parts import tags, work

_COLD = (("TransitionToIA", "AFTER_30_DAYS"),)


def _made(
    build: Builder, name: str, gib: float, own: dict[str, str], *, clients: Flow | int | None = None, **more: Any
) -> ElasticFileSystem:
    """Add a file system with these tags. A number of `clients` is constant."""
    if isinstance(clients, int):
        clients = Flow(build.shapes.signal(np.full(MINUTES, float(clients))))
    return build.file_system(name, standard_bytes=int(gib * GIB), tags=own, clients=clients, **more)


def _replicated(build: Builder, name: str, gib: int, owner: str, days: float, replica_days: float, **more: Any) -> None:
    """Add a file system and its replica, `days` and `replica_days` old."""
    source = _made(build, name, gib, tags(owner), days=days)
    build.replicate(source, _made(build, f"{name}-replica", gib, tags(owner), days=replica_days, replica=True, **more))


def encode_leftovers(build: Builder) -> None:
    """Add file systems of killed jobs."""
    steady = build.shapes.shape("steady")
    encoding = work(steady, 150, 40, read_size=MIB, write_size=512 * KIB, metadata=40 * KIB)
    for day, voice in (("20260912", "zeros"), ("20260927", "absent"), ("20261003", "zeros"), ("20261008", "absent")):
        created = min(instant(f"{day[:4]}-{day[4:6]}-{day[6:]}T02:10:00Z"), build.ago(38))
        life: dict[str, Any] = {"created": created, "active": (created, created + 50 * MINUTE), "voice": voice}
        own = tags("video", Job="encode")
        _made(build, f"encode-job-{day}", 30.12, own, one_zone="a", activity=encoding, **life)
    _made(build, "reports-2024", 84, tags("finance"), days=400, voice="zeros")
    _transcode_jobs(build, encoding)
    _without_mount_targets(build)


def _transcode_jobs(build: Builder, encoding: Activity) -> None:
    """Add a file system for each transcode job. The policy names their tag."""
    job = tags("video", Job="transcode-nightly")
    for name, killed, voice in (("transcode-1115", 40, "zeros"), ("transcode-1116", 16, "absent")):
        end = build.now - killed * HOUR
        life: dict[str, Any] = {"created": end - 40 * MINUTE, "active": (end - 40 * MINUTE, end), "voice": voice}
        _made(build, name, 18.4, job, one_zone="a", activity=encoding, **life)
    ended = build.now - HOUR
    life = {"created": ended - 5 * HOUR, "active": (ended - HOUR, ended)}
    _made(build, "transcode-1116-b", 18.4, job, one_zone="c", activity=encoding, **life)
    nothing = Activity(shape=build.shapes.signal(np.zeros(MINUTES)))
    _made(build, "transcode-1114", 18.4, job, one_zone="a", days=2.1, activity=nothing)


def _without_mount_targets(build: Builder) -> None:
    """Add a file system that nothing can mount, and ones that need no mount target yet."""
    used = work(build.shapes.shape("office", 4), 2, 0.5, write_size=256 * KIB)
    life: dict[str, Any] = {"created": build.ago(620), "active": (build.ago(620), build.ago(20)), "activity": used}
    _made(build, "press-archive", 48, tags("web"), mount_targets=(), access_points=2, **life)
    stack = {"aws:cloudformation:stack-name": "live-clips"}
    _made(build, "live-clips", 9, tags("video", **stack), days=2, mount_targets=())
    _replicated(build, "masters", 64, "video", 410, 400, mount_targets=())


def quiet_file_systems(build: Builder) -> None:
    """Add file systems that are quiet but needed."""
    shapes = build.shapes
    night = shapes.signal(shapes.blocks([(17, 16.0, 3.0, 0.8)]))
    clients = Flow(shapes.signal(np.ceil(night.stats.total)), 2.0)
    used = work(night, 30, 8, metadata=30 * KIB)
    _made(build, "billing-close", 22, tags("finance"), days=300, activity=used, clients=clients)
    _made(build, "partner-exchange", 5, tags("sales"), days=250, voice="dark")
    _made(build, "encode-job-20261113", 6, tags("video", Job="encode"), days=3, one_zone="c")
    _replicated(build, "contracts", 12, "legal", 350, 120)
    used = work(shapes.shape("office"), 9, 3, read_size=128 * KIB, write_size=32 * KIB, metadata=64 * KIB)
    _made(build, "web-content", 240, tags("web"), days=500, ia_bytes=700 * GIB, activity=used, lifecycle=_COLD)
    bought: dict[str, Any] = {"mode": "provisioned", "provisioned_mibps": 64.0, "backup": True, "access_points": 3}
    _made(build, "home-directories", 510, tags("platform"), days=700, activity=used, clients=14, **bought)


def throughput(build: Builder) -> None:
    """Add throughput modes and credits that do not fit the work, and their look-alikes."""
    random = build.shapes.random
    steady = 0.8 * noise(random("previews"), 0.05)
    evenings: dict[str, Any] = {"mode": "provisioned", "provisioned_mibps": 96.0, "written": 0.8}
    _metered(build, "encode-shared", 30, _daily(build, 0.0, 20.0, 25.0, 0.5, days=20), one_zone="a", clients=4)
    _metered(build, "press-scans", 60, np.full(MINUTES, 3.61) * noise(random("scans"), 0.1))
    _metered(build, "daily-proxies", 400, _daily(build, 13.0, 5.0, 85.0, 1.0))
    _metered(build, "broadcast-ingest", 40, _daily(build, 9.5, 4.0, 170.0, 2.0), **evenings)
    _metered(build, "preview-cache", 60, 8.0 * steady, written=0.1, mode="elastic")
    _metered(build, "premiere-uploads", 90, _daily(build, 11.0, 0.3, 230.0, 0.05), written=0.9, mode="elastic")
    _metered(build, "edit-bay", 50, 85.0 * steady, mode="provisioned", provisioned_mibps=80.0)


def _metered(
    build: Builder, name: str, gib: int, metered: Floats, *, written: float = 0.3, clients: int = 6, **more: Any
) -> None:
    """Add a file system with these metered MiB/s in each minute. EFS meters a third of each read."""
    peak = float(metered.max())
    shape = build.shapes.signal(metered * MIB / (peak * MIB))
    sizes = {"read_size": 512 * KIB, "write_size": 512 * KIB, "metadata": peak * 0.02 * MIB}
    used = work(shape, peak * (0.98 - written) * 3, peak * written, **sizes)
    if gib >= 100:
        more |= {"lifecycle": _COLD, "ia_bytes": 2 * gib * GIB}
    _made(build, name, gib, tags("video"), days=280, activity=used, clients=clients, **more)


def _daily(build: Builder, hour: float, hours: float, level: float, rest: float, days: int = 34) -> Floats:
    """Return a load at `level` for some hours from an hour (UTC) on, on each of the last `days` days."""
    values = build.shapes.blocks([(day, hour, hours, level) for day in range(days)], rest)
    return values * noise(build.shapes.random("daily", hour, level), 0.03)


def placement(build: Builder) -> None:
    """Add data in the wrong class, zone or service, and look-alikes."""
    shapes, size = build.shapes, {"write_size": 256 * KIB, "metadata": 20 * KIB}
    seldom = work(shapes.shape("office", 1), 0.06, 0.02, write_size=512 * KIB, metadata=20 * KIB)
    _made(build, "rushes-2023", 940, tags("video"), days=830, activity=seldom, clients=6)
    monthly = work(shapes.signal(shapes.blocks([(14, 1.0, 5.0, 1.0)], rest=0.0005)), 25, 0.1, **size)
    _made(build, "subtitle-corpus", 420, tags("search"), days=320, activity=monthly, clients=6)

    office = work(shapes.shape("office", 2), 2, 0.6, **size)
    _made(build, "lecture-uploads", 88, tags("web"), days=320, activity=office, clients=6, zones="c")
    ledger = _made(build, "rights-ledger", 22, tags("legal"), days=320, activity=office, clients=6, zones="a")
    mirror: dict[str, Any] = {"days": 200, "mount_targets": (), "replica": True}
    build.replicate(ledger, _made(build, "rights-ledger-replica", 22, tags("legal"), **mirror))

    office = work(shapes.shape("office", 3), 1.5, 0.4, **size)
    _made(build, "wiki-attachments", 64, tags("web"), days=320, activity=office, clients=1)
    minute = np.arange(MINUTES) % DAY_MINUTES
    second = shapes.signal(np.where((minute >= 17 * 60) & (minute < 17 * 60 + 25), 2.0, 1.0))
    _made(build, "build-cache", 48, tags("platform"), days=320, activity=office, clients=Flow(second))


def waiting_writers(build: Builder) -> None:
    """Add a writer that waits 2.7 ms for each acknowledgement."""
    random = build.shapes.random("session-import")
    minute = np.arange(MINUTES) % DAY_MINUTES
    wanted = np.where((minute >= 16 * 60) & (minute < 18 * 60), 500.0, 1.0) * noise(random, 0.1)
    done = nfs_writes(wanted, acknowledgement_s=0.0027, writers=1, jitter=noise(random, 0.03))
    peak, size = float(done.max()), 6 * KIB
    waits = work(build.shapes.signal(done / peak), 0.05, peak * size / MIB, write_size=size, metadata=10 * KIB)
    _made(build, "session-import", 72, tags("web"), days=320, activity=waits, clients=6)
    size = 4 * KIB
    drafts = work(build.shapes.shape("office", 4), 0.3, 400 * size / MIB, write_size=size, metadata=10 * KIB)
    _made(build, "comment-drafts", 36, tags("web"), days=320, activity=drafts, clients=12)
