"""Share helpers between the demo account's modules."""

from typing import Any

from slackwater_simulator.resources import KIB, MIB, Activity, Flow, Instance, Volume
from slackwater_simulator.series import Signal

from .builder import Builder

REGION = "ap-northeast-1"
NOW = "2026-11-16T09:07:00Z"
MB = 1e6


def tags(owner: str, env: str = "production", **more: str) -> dict[str, str]:
    """Return tags in this company's scheme."""
    return {"Owner": owner, "Env": env, **more}


def cpu(build: Builder, kind: str = "office", top: float = 45.0, variant: int = 0) -> Flow:
    """Return CPU use of at most `top` percent."""
    return Flow(build.shapes.shape(kind, variant), top)


def io(build: Builder, shape: str, read: float, write: float, *, variant: int = 0, size: float = 128 * KIB) -> Activity:
    """Return reads and writes in a shape that many resources share, MiB/s at the peak."""
    return work(build.shapes.shape(shape, variant), read, write, read_size=size, write_size=size)


def work(shape: Signal, read_mib: float, write_mib: float, **more: float) -> Activity:
    """Return reads and writes, MiB/s at the peak."""
    return Activity(shape=shape, read=read_mib * MIB, write=write_mib * MIB, **more)


def office(build: Builder, mb: float, variant: int = 0) -> Flow:
    """Return the traffic of a working day, at most `mb` megabytes a second."""
    return Flow(build.shapes.shape("office", variant), mb * MB * 60)


type Traffic = Flow | tuple[float, int]
"""A given flow, or a working day's traffic: megabytes a second at its peak, and the variant of its shape."""


def server(
    build: Builder, name: str, kind: str, owner: str, days: float, into: Traffic, out: Traffic, use: Flow, **more: Any
) -> Instance:
    """Add an instance with its traffic and processor use."""
    net_in, net_out = (flow if isinstance(flow, Flow) else office(build, *flow) for flow in (into, out))
    return build.instance(name, kind, days=days, net_in=net_in, net_out=net_out, cpu=use, tags=tags(owner), **more)


def volume_on(build: Builder, host: Instance, name: str, size_gib: int, **more: Any) -> Volume:
    """Add a data volume with its instance's tags."""
    own = {key: value for key, value in host.tags.items() if key != "Name"}
    return build.volume(name, size_gib, on=host, tags=own, **more)
