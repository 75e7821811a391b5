"""`python -m slackwater_simulator`: serve a fleet until the process is stopped."""

import argparse
import json
import signal
import sys
import threading
from collections.abc import Sequence

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

_DESCRIPTION = """\
Serve a simulated AWS account on this machine, until you press Ctrl-C.

The first line of standard output is JSON: the address, the account's present
moment, its id and its regions. Standard error gets the commands that scan it.
You need no AWS account."""
_EPILOG = """\
example, with a scan in another terminal:
  slackwater-simulator --fleet mixed --resources 500 --port 4599"""
_NUMBERS = (
    ("--resources", 20_000, "resources in the mixed or hard fleet, or in each large account of the organization"),
    ("--accounts", 1_000, "accounts in the organization"),
    ("--issues", 30, "issues in the labelled fleet for each detector"),
    ("--controls", 6, "resources in the labelled fleet for each negative control"),
    ("--ordinary-of-a-kind", 1_250, "ordinary resources of each kind in the labelled fleet"),
    ("--seed", 7, "seed of the random numbers; the same seed makes the same fleet"),
    ("--port", 0, "port on 127.0.0.1; 0 takes a free one"),
    ("--latency-ms", 0.0, "milliseconds by which every answer is delayed"),
    ("--speed", 1.0, "with --ticking: simulated seconds for each real one"),
)
_FLEETS = """\
the account to serve. demo: a small company with an issue for every detector; mixed: a large account; hard: a large
account whose loads lie near the limits; labelled: issues and look-alikes for the score; organization: many mixed
accounts; hard-organization: many hard ones (default: demo)"""


def _fleet(options: argparse.Namespace) -> tuple[Fleet, Organization | None]:
    chosen = {"now": options.now} if options.now else {}
    if options.fleet == "demo":
        own = demo_fleet(seed=options.seed, **chosen)
        if options.members is None:
            return own, None
        # One ordinary account, and a last one whose role nobody can assume.
        regions = (*own.regions, "us-east-1")
        now = rfc3339(own.now)
        return own, organization(options.members, regions, large=1, resources=100, denied=1, closed=1, now=now)[1]
    if options.fleet == "labelled":
        drawn = {"issues": options.issues, "controls": options.controls}
        return labelled_fleet(options.seed, ordinary_of_a_kind=options.ordinary_of_a_kind, **drawn), None
    regions = tuple(options.regions.split(",")) if options.regions else ()
    if options.fleet in {"organization", "hard-organization"}:
        drawn = {"resources": options.resources, "seed": options.seed, "hard": options.fleet.startswith("hard")}
        return organization(options.accounts, regions or ENABLED, **drawn, **chosen)
    make = hard_fleet if options.fleet == "hard" else mixed_fleet
    return make(options.resources, seed=options.seed, regions=regions or ("ap-northeast-1",), **chosen), None


def _until_stdin_ends(stop: threading.Event) -> None:
    sys.stdin.buffer.read()
    stop.set()


def _how_to_scan(url: str, now: str, regions: Sequence[str]) -> str:
    """Return the commands that scan the account. Without `--now`, the scan looks for metrics after its last one."""
    every = " --all-regions" if len(regions) > 1 else ""
    return f"""Scan it with:
  export AWS_ENDPOINT_URL={url} AWS_REGION={regions[0]}
  export AWS_ACCESS_KEY_ID=simulated AWS_SECRET_ACCESS_KEY=simulated
  slackwater scan --now {now}{every}
"""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="slackwater-simulator",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    fleets = ["demo", "mixed", "hard", "labelled", "organization", "hard-organization"]
    parser.add_argument("--fleet", choices=fleets, default="demo", metavar="NAME", help=_FLEETS)
    for name, usual, text in _NUMBERS:
        parser.add_argument(name, type=type(usual), default=usual, metavar="N", help=f"{text} (default: {usual:g})")
    parser.add_argument(
        "--regions",
        metavar="R,R",
        help="regions of the mixed or hard fleet (default: ap-northeast-1) or the organization (default: all)",
    )
    parser.add_argument(
        "--members",
        type=int,
        metavar="N",
        help="put the demo's account into an organization with this many others, one of which cannot be entered",
    )
    parser.add_argument(
        "--now",
        metavar="RFC3339",
        help="the account's present moment (default: 2026-11-16T09:07:00Z; the labelled fleet draws its own)",
    )
    parser.add_argument("--ticking", action="store_true", help="let the account's clock run (default: it stands still)")
    parser.add_argument(
        "--exit-with-stdin", action="store_true", help="for programs: stop when standard input closes, print only JSON"
    )
    return parser.parse_args()


def main() -> int:
    """Serve the fleet. The first line of standard output has the address."""
    options = _options()
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
            threading.Thread(target=_until_stdin_ends, args=(stop,), daemon=True).start()
        else:
            sys.stderr.write(_how_to_scan(simulator.url, rfc3339(fleet.now), fleet.regions))
            sys.stderr.flush()
        stop.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
