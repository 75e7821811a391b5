"""`python -m slackwater_simulator`: serve a fleet until told to stop."""

import argparse
import json
import signal
import sys
import threading

from . import (
    MEMBER_EXTERNAL_ID,
    MEMBER_ROLE,
    Organization,
    Simulator,
    demo_fleet,
    hard_fleet,
    labelled_fleet,
    mixed_fleet,
    organization,
)
from .clock import Clock
from .ec2_query import ENABLED
from .resources import Fleet, rfc3339

_NUMBERS = (
    ("--resources", 20_000, "of the mixed or hard fleet, or of each large account"),
    ("--accounts", 1_000, "of the organization"),
    ("--issues", 30, "issues of the labelled fleet, for each detector"),
    ("--controls", 6, "resources of the labelled fleet, for each negative control"),
    ("--ordinary-of-a-kind", 1_250, "of the labelled fleet"),
    ("--seed", 7, "of what the fleets draw"),
    ("--port", 0, "to listen at; without it any that is free"),
    ("--latency-ms", 0.0, "delay of every answer"),
    ("--speed", 1.0, "simulated seconds for each real one, when ticking"),
)


def _fleet(options: argparse.Namespace) -> tuple[Fleet, Organization | None]:
    chosen = {"now": options.now} if options.now else {}
    if options.fleet == "demo":
        own = demo_fleet(seed=options.seed, **chosen)
        if options.members is None:
            return own, None
        # One of some size, and a last one that nobody can enter.
        regions = (*own.regions, "us-east-1")
        now = rfc3339(own.now)
        return own, organization(options.members, regions, large=1, resources=100, denied=1, closed=1, now=now)[1]
    if options.fleet == "labelled":
        drawn = {"issues": options.issues, "controls": options.controls}
        return labelled_fleet(options.seed, ordinary_of_a_kind=options.ordinary_of_a_kind, **drawn), None
    regions = tuple(options.regions.split(",")) if options.regions else ()
    if options.fleet == "organization":
        drawn = {"resources": options.resources, "seed": options.seed}
        return organization(options.accounts, regions or ENABLED, **drawn, **chosen)
    if options.fleet == "hard":
        return hard_fleet(options.resources, seed=options.seed, **chosen), None
    return mixed_fleet(options.resources, seed=options.seed, regions=regions or ("ap-northeast-1",), **chosen), None


def _until_closed(stop: threading.Event) -> None:
    sys.stdin.buffer.read()
    stop.set()


def main() -> int:
    """Serve; the first line of standard output says where."""
    parser = argparse.ArgumentParser(prog="slackwater-simulator", description=__doc__)
    parser.add_argument("--fleet", choices=["demo", "mixed", "hard", "labelled", "organization"], default="demo")
    for name, usual, meaning in _NUMBERS:
        parser.add_argument(name, type=type(usual), default=usual, help=meaning)
    parser.add_argument("--regions", help="of the mixed fleet (ap-northeast-1) or the organization (all), by commas")
    parser.add_argument("--members", type=int, help="accounts around the demo's; one of them cannot be entered")
    parser.add_argument("--now", help="the account's present moment, RFC 3339, UTC; a labelled fleet draws its own")
    parser.add_argument("--ticking", action="store_true", help="the account's clock goes on with real time")
    parser.add_argument("--exit-with-stdin", action="store_true", help="stop when standard input closes")
    options = parser.parse_args()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    fleet, around = _fleet(options)
    clock = Clock(options.speed if options.ticking else 0.0)
    how = {"latency_ms": options.latency_ms, "port": options.port}
    with Simulator(fleet, organization=around, clock=clock, **how) as simulator:
        where: dict[str, object] = {
            "url": simulator.url,
            "now": rfc3339(fleet.now),
            "account": fleet.account,
            "regions": list(fleet.regions),
        }
        if around:
            where["organization"] = {"root": around.root, "role_name": MEMBER_ROLE, "external_id": MEMBER_EXTERNAL_ID}
        sys.stdout.write(json.dumps(where) + "\n")
        sys.stdout.flush()
        if options.exit_with_stdin:
            threading.Thread(target=_until_closed, args=(stop,), daemon=True).start()
        stop.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
