"""Measures what a scan of a large account costs, on an easy and a hard fleet, against the lowest possible cost.

`make bench` runs this script.

Each figure covers a whole `slackwater scan` process. The simulated account runs in a separate process and delays each
answer. The script prints a Markdown table. `--write FILE` writes it between the bench markers of the file.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from markers import write_between

AS_INSTALLED: Final = Path(__file__).parents[1] / ".tools/slackwater/bin/slackwater"
"""The command without development packages, which botocore would import (`make .tools/slackwater/ready`)."""
BEGIN, END = "<!-- bench -->\n", "<!-- /bench -->\n"
FLEETS: Final = {"easy": "mixed", "hard": "hard"}
"""The simulator's names of the fleets."""


@contextmanager
def simulator(*options: str) -> Iterator[dict[str, Any]]:
    """Run a simulated account in its own process while the context lasts, and yield its description."""
    command = [sys.executable, "-m", "slackwater_simulator", *options, "--exit-with-stdin"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        yield json.loads(process.stdout.readline())
        process.stdin.close()


def scan(
    account: dict[str, Any], home: Path, policy: str = "", *flags: str
) -> tuple[dict[str, Any], float, float, float]:
    """Run a scan as a process. Return its document, wall seconds, CPU seconds, and peak MiB. `policy` is TOML text."""
    document = home / "scan.json"
    measured = timed(command_of(account, home, document, policy, *flags), account, home)
    return json.loads(document.read_text()), *measured


def command_of(account: dict[str, Any], home: Path, document: Path, policy: str, *flags: str) -> list[str]:
    """Return the command line of a scan. Write `policy` to a file in `home` and use it, unless it is empty."""
    slackwater = AS_INSTALLED if AS_INSTALLED.exists() else Path(sys.executable).with_name("slackwater")
    command = [str(slackwater), "scan", "--now", account["now"], "--format", "json", "--output", str(document)]
    command += [*flags, *(flag for region in account["regions"] for flag in ("--region", region))]
    if policy:
        (home / "policy.toml").write_text(policy)
        command += ["--policy", str(home / "policy.toml")]
    return command


def timed(command: list[str], account: dict[str, Any], home: Path) -> tuple[float, float, float]:
    """Run a command against a simulated account, without other AWS settings. Return wall s, CPU s and peak MiB.

    The kernel counts the parent's memory at the fork as the child's, so this process must use little memory.

    Raises:
        SystemExit: The command failed.
    """
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "AWS_ENDPOINT_URL": account["url"],
        "AWS_ACCESS_KEY_ID": "simulated",
        "AWS_SECRET_ACCESS_KEY": "simulated",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    started = time.monotonic()
    stderr_path = home / "stderr.txt"
    with stderr_path.open("w") as stderr:
        process = subprocess.Popen(command, env=environment, cwd=home, stderr=stderr)
        _, status, used = os.wait4(process.pid, 0)
    wall_s = time.monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command[0]} ended with {process.returncode}:\n{stderr_path.read_text()}")
    return wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def reset_simulator(account: dict[str, Any], latency_ms: float | None = None) -> None:
    """Reset the simulator's counts, and delay its answers from now on; None delays them as at its start."""
    _post(account, "reset", {})
    if latency_ms is not None:
        _post(account, "faults", {"latency_ms": latency_ms})


def call_counts(account: dict[str, Any]) -> dict[str, Any]:
    """Return the simulator's counts since its last reset: HTTP requests by action, and metrics."""
    with urllib.request.urlopen(f"{account['url']}/_simulator/calls") as answer:
        return dict(json.load(answer))


def _post(account: dict[str, Any], what: str, body: dict[str, Any]) -> None:
    request = urllib.request.Request(
        f"{account['url']}/_simulator/{what}", data=json.dumps(body).encode(), method="POST"
    )
    urllib.request.urlopen(request).close()


def floor(resources: int, questions: str = "all", fleet: str = "easy") -> int:
    """Return the lowest possible number of calls for the questions named `questions`, as `floor.py` computes it."""
    return sum(_floor(resources, questions, fleet)["calls"].values())


def _floor(resources: int, questions: str, fleet: str) -> dict[str, Any]:
    """Run `floor.py` in its own process: the kernel would count its memory as that of each later scan process."""
    script = Path(__file__).with_name("floor.py")
    return dict(
        json.loads(subprocess.check_output([sys.executable, str(script), str(resources), questions, FLEETS[fleet]]))
    )


def row(fleet: str, resources: int, latency_ms: float) -> str:
    """Measure a scan, and return a line of the table."""
    options = ("--fleet", FLEETS[fleet], "--resources", str(resources), "--latency-ms", str(latency_ms))
    with tempfile.TemporaryDirectory() as folder, simulator(*options) as account:
        home = Path(folder)
        scan(account, home)  # fills the price cache and the simulator's caches
        reset_simulator(account)
        document, wall_s, cpu_s, peak_mib = scan(account, home)
    usage = document["scan"]["usage"]
    calls, least = sum(usage["api_calls"].values()), floor(resources, "all", fleet)
    return (
        f"| {fleet} | {resources:,} | {latency_ms:g} | {calls} | {least} | {calls / least - 1:+.1%}"
        f" | {usage['metrics_requested']:,} | {usage['datapoints']:,} | ${usage['estimated_usd']}"
        f" | {wall_s:.1f} | {cpu_s:.1f} | {peak_mib:.0f} |\n"
    )


def by_detector(resources: int) -> str:
    """Return a table of what each detector requests when it runs alone, and the lowest possible number of points.

    When all detectors run, Slackwater requests data that several of them need only once.
    """
    read = {fleet: _requests_by_detector(fleet, resources) for fleet in FLEETS}
    floors = {fleet: _floor(resources, "all", fleet)["questions"] for fleet in FLEETS}
    head = [f"{fleet}: {words}" for fleet in FLEETS for words in ("metrics", "points", "floor of points")]
    table = f"| Detector, alone, {resources:,} resources | {' | '.join(head)} |\n{'|-' * (len(head) + 1)}|\n"
    for detector in sorted(read["hard"], key=lambda one: read["hard"][one][::-1], reverse=True):
        cells = [f"| {detector}"]
        for fleet in FLEETS:
            metrics, points = read[fleet][detector]
            least = floors[fleet].get(detector)
            cells += [f"{metrics:,}", f"{points:,}", "" if least is None else f"{least[1]:,}"]
        table += " | ".join(cells) + " |\n"
    return table


def _requests_by_detector(fleet: str, resources: int) -> dict[str, tuple[int, int]]:
    """Return the numbers of metrics and data points for each detector alone, and for all detectors together."""
    with (
        tempfile.TemporaryDirectory() as folder,
        simulator("--fleet", FLEETS[fleet], "--resources", str(resources)) as account,
    ):
        document, *_ = scan(account, Path(folder))
        read = {"all together": _requests(document)}
        for detector in document["scan"]["detectors"]:
            alone, *_ = scan(account, Path(folder), "", "--detector", detector)
            read[detector] = _requests(alone)
    return read


def _requests(document: dict[str, Any]) -> tuple[int, int]:
    usage = document["scan"]["usage"]
    return usage["metrics_requested"], usage["datapoints"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resources", type=int, nargs="*", default=[5_000, 20_000])
    parser.add_argument("--fleet", choices=FLEETS, nargs="*", default=[*FLEETS])
    parser.add_argument("--latency-ms", type=float, nargs="*", default=[0, 50])
    parser.add_argument(
        "--by-detector", type=int, default=5_000, help="resources for the table by detector; 0 omits it"
    )
    parser.add_argument("--write", type=Path, help="the file to update; it needs bench markers")
    options = parser.parse_args()
    table = (
        "| Fleet | Resources | Latency, ms"
        " | Calls | Floor | Above | Metrics | Points | CloudWatch | Wall, s | CPU, s | Peak, MiB |\n"
        "|-|-|-|-|-|-|-|-|-|-|-|-|\n"
    )
    for resources in options.resources:
        for latency_ms in options.latency_ms:
            for fleet in options.fleet:
                table += row(fleet, resources, latency_ms)
    if options.by_detector:
        table += "\n" + by_detector(options.by_detector)
    sys.stdout.write(table)
    if options.write:
        write_between(options.write, BEGIN, END, table)


if __name__ == "__main__":
    main()
