"""What comes of a clean-up in which AWS refuses, throttles, answers nobody, or shows yesterday's picture: call by call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from cleanup_world import CHANGED, READS, World, world

type Fault = Literal["denied", "throttled", "answer lost", "lags behind"]

THROTTLED: Final = {"ec2": "RequestLimitExceeded"}
"""What services call it; the others say ThrottlingException."""
TIMES: Final = 3
"""An action is throttled or lags so often, one after the other."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a clean-up with one fault in it. `left` is what there is afterwards, `said` why it ended as it did."""

    kind: str
    action: str
    fault: Fault
    ended: str
    left: str
    said: str
    deleted: bool
    whole: bool
    """Everything that hung on it still does, where it is still there."""
    verified: bool
    """There is a backup of all of it that the clean-up verified."""


def actions(kind: str) -> list[str]:
    """Every call of a clean-up in which nothing goes wrong."""
    with world(kind) as there:
        before = there.simulator.calls
        assert there.cleaned(kind).status == "SUCCEEDED"
        return sorted(one for one, count in there.simulator.calls.items() if count > before.get(one, 0))


def faults(action: str) -> Iterator[Fault]:
    """Those that can happen to an action: a read whose answer is lost is asked again, and only reads lag behind."""
    yield "denied"
    yield "throttled"
    reads = action.partition(":")[2].startswith(READS)
    yield "lags behind" if reads else "answer lost"


def outcome(kind: str, action: str, fault: Fault) -> Outcome:
    """Of one clean-up, from its beginning to its end."""
    with world(kind) as there:
        finding = there.finding(kind)
        id_ = finding.sighting.resource.id
        before = hanging(there, id_)
        trouble = there.simulator.faults
        match fault:
            case "denied":
                trouble.deny(action)
            case "throttled":
                trouble.error(action, THROTTLED.get(action.partition(":")[0], "ThrottlingException"), 400, times=TIMES)
            case "answer lost":
                trouble.lost_answer(action, times=1)
            case "lags behind":
                trouble.lagging(action, times=TIMES)
        calls = there.simulator.calls.get(action, 0)
        there.cleaned(kind)
        assert there.simulator.calls.get(action, 0) > calls, f"the clean-up of {kind} never called {action}"
        cleanup = there.cleanup(kind)
        there_still = there.account.exists(id_)
        backups = there.account.backups()
        parts = hanging(there, id_) if there_still else ()
        return Outcome(
            kind=kind,
            action=action,
            fault=fault,
            ended=cleanup.stage,
            left=_left(kind, there_still, parts == before, len(backups)),
            said=cleanup.why,
            deleted=not there_still,
            whole=parts == before,
            verified=bool(cleanup.backups) and all(one.state == "verified" for one in cleanup.backups),
        )


def outcomes(kind: str) -> list[Outcome]:
    """Of every fault of every call."""
    return [outcome(kind, action, fault) for action in actions(kind) for fault in faults(action)]


def hanging(there: World, id_: str) -> tuple[object, ...]:
    """What hangs on a resource, but for ids and what FSx itself makes of a virtual machine; nothing where it is gone."""
    fleet = there.account.fleet
    names = (one.name for one in fleet.fsx_volumes if one.file_system_id == id_)
    systems = [one for one in fleet.efs if one.id == id_]
    return (
        sorted(target.az for one in systems for target in one.mount_targets),
        sum(len(one.points) for one in systems),
        sorted(name for name in names if not name.endswith("_root")),
    )


def _left(kind: str, there_still: bool, whole: bool, backups: int) -> str:
    with_backups = f", {backups} {'backup' if backups == 1 else 'backups'}" if backups else ""
    if kind in CHANGED:
        return "the resource"
    if not there_still:
        return f"gone{with_backups}"
    return f"{'whole' if whole else 'not whole'}{with_backups}"
