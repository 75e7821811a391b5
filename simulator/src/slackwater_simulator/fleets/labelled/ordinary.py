"""Plant ordinary resources, of which an account mostly consists, with nothing to report.

They share a few shapes, because there are many of them.
"""

from typing import Any

from slackwater_simulator.resources import GIB, MIB, Activity, ElasticFileSystem, Flow, FsxFileSystem
from slackwater_simulator.series import Signal

from .draw import Draw
from .shared_files import IA_AFTER_30_DAYS

_FULL_BURST_MIB = 60
"""Far below the 100 MiB/s that every bursting file system has while it has credits."""


def file_system(d: Draw) -> ElasticFileSystem:
    """Plant a file system that several clients use, in several zones, in the throughput mode that fits it."""
    stored_gib = d.spread(0.1, 2_000)
    if d.chance(0.1):
        mode, shape, metered = ("elastic", _batches(d), d.uniform(130, 300) * max(1.0, stored_gib / 1_024))
    else:
        mode, shape = "bursting", d.shape()
        earned = max(1.0, 50 * stored_gib / 1024) / float(shape.stats.total.mean())
        metered = min(_FULL_BURST_MIB, earned * d.spread(0.02, 0.5))
    written, days, large = d.uniform(0.05, 0.6), d.uniform(10, 900), stored_gib >= 100
    cold: dict[str, Any] = (
        {"ia_bytes": int(stored_gib * d.uniform(0.5, 3) * GIB), "lifecycle": IA_AFTER_30_DAYS} if large else {}
    )
    read, write = metered * (1 - written) * 3 * 0.95, metered * written * 0.95
    more: dict[str, Any] = {
        "activity": d.work(shape, read, write, (32, 1_024), (100, 1_024), metered * 0.02, MIB),
        "clients": Flow(d.shape("steady"), d.integer(4, 30)),
        "tags": d.tags(),
    }
    return d.build.file_system(d.name, days=days, standard_bytes=int(stored_gib * GIB), mode=mode, **cold, **more)


def _batches(d: Draw) -> Signal:
    """Return a load faster than the burst for minutes a day, for which Elastic throughput is made."""
    return d.signal(d.runs(d.daily(), d.uniform(10, 15), 1.0, 0.001))


def volumes(d: Draw, count: int) -> None:
    """Plant volumes with the settings that every gp3 includes, on one instance that carries them."""
    host = d.build.instance(f"{d.name}-host", "m6i.8xlarge", days=d.uniform(40, 400), cpu=d.cpu(), tags=d.tags())
    for number in range(count):
        shape, size = d.shape(), d.whole(8, 2_000)
        work = Activity(shape=shape, read=d.spread(0.1, 40) * MIB, write=d.spread(0.1, 40) * MIB)
        d.build.volume(f"{d.name}-{number}", size, on=host, activity=work, tags=d.tags())


def server(d: Draw) -> FsxFileSystem:
    """Plant an FSx file system of any type, well filled. Its busiest minutes need more than half of its server."""
    work = d.spread(5, 200)
    written, days = d.uniform(0.05, 0.6), d.uniform(10, 900)
    read, write = work * (1 - written), work * written
    settings: dict[str, Any] = {
        "days": days,
        "activity": d.work(d.shape(), read, write, (32, 1_024), (100, 1_024), (1, 300)),
        "clients": float(d.integer(2, 30)),
        "disk_iops_peak": d.uniform(20, 90),
        "server_peak": d.uniform(55, 95),
        "used": d.uniform(0.25, 0.9),
        "tags": d.tags(),
    }
    match d.integer(4):
        case 0:
            return d.build.openzfs(d.name, storage_gib=d.whole(64, 16_000), **settings)
        case 1:
            settings |= {"storage_gib": d.whole(1_024, 20_000), "volumes": ("home", "projects")[: d.integer(1, 3)]}
            return d.build.server(d.name, "ONTAP", "MULTI_AZ_1", throughput=512, **settings)
        case 2:
            size = d.whole(32, 8_000)
            return d.build.server(d.name, "WINDOWS", "MULTI_AZ_1", storage_gib=size, throughput=64, **settings)
    size = d.integer(1, 20) * 2_400
    return d.build.server(d.name, "LUSTRE", "PERSISTENT_2", storage_gib=size, throughput=250, **settings)
