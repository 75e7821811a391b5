"""The faults that can happen to a call."""

from dataclasses import replace
from typing import Any, Final

from explorer.wire import Dies, Point
from explorer.world import Small

LAGS_S: Final = 60
"""How old the answer of a stale read is, in seconds."""

FAULTS: Final = ("crash before", "crash after", "lost answer", "repeated", "throttled", "denied", "stale read")


def applies(fault: str, point: Point, *, first: bool) -> bool:
    """Return whether the fault leads to another state here than at the point before. Only writes change the state."""
    match fault:
        case "crash before":
            return first
        case "crash after":
            return point.writes
        case "lost answer":
            return point.writes or point.aws
        case "repeated":
            return point.writes and point.aws
        case "throttled" | "denied":
            return point.aws
    return point.aws and not point.writes


def faulty(world: Small, fault: str, point: Point) -> Any:
    """Return the point's answer under this fault."""
    faults = world.simulator.faults
    match fault:
        case "crash before":
            raise Dies
        case "crash after":
            point.ask()
            raise Dies
        case "lost answer":
            if point.writes:
                point.ask()
            raise point.lost()
        case "repeated":
            point.ask()
            return point.ask()
        case "throttled":
            faults.error(point.name, "ThrottlingException", 400, times=1)
        case "denied":  # stays until the execution ends
            faults.deny(point.name)
            world.position = replace(world.position, denied=(*world.position.denied, point.name))
        case "stale read":
            faults.lagging(point.name, times=1, seconds=LAGS_S)
    try:
        return point.ask()
    finally:
        faults._limited["lagging"].clear()
        faults._limited["error"].clear()
