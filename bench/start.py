"""Measure how long commands take to start: `make bench-start`.

Times are ratios to `python -c "import typer, rich.console"` in the same run. Prints the CPU ratio, the wall ratio, the
limit and the seconds of each command, then the times of the demo and of scans of dead endpoints. Exits with status 1 if
a limit is exceeded.
"""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROUNDS: Final = 7
COMMAND: Final = str(Path(sys.executable).with_name("slackwater"))
IMPORTS: Final = (sys.executable, "-c", "import typer, rich.console")
LIMITS: Final = {
    ("--version",): 0.5,
    ("--help",): 2.5,
    ("scna",): 2.5,
    ("estimate", "efs-credits", "--offline", "--region", "us-east-1", "--write-per-day", "10GiB"): 6,
}
DEMO_FIRST_S: Final = 1
DEMO_S: Final = 8
DEAD_S: Final = 8


def main() -> int:
    """Measure, print, and return the exit status."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.environ["PATH"], "HOME": home, "AWS_EC2_METADATA_DISABLED": "true", "COLUMNS": "80"}
        return 1 if [*_ratios(environment), *_demo(environment), *_dead(environment)].count(False) else 0


def _ratios(environment: Mapping[str, str]) -> Iterator[bool]:
    """Yield whether each command is within its limit, by its lowest time of several rounds.

    Commands take turns in each round, so that a busy machine slows all of them equally.
    """
    commands = {IMPORTS: IMPORTS, **{arguments: (COMMAND, *arguments) for arguments in LIMITS}}
    least = dict.fromkeys(commands, (9e9, 9e9))
    for _ in range(ROUNDS):
        for name, command in commands.items():
            cpu_s, wall_s = _timed(command, environment)
            least[name] = min(least[name][0], cpu_s), min(least[name][1], wall_s)
    base = least[IMPORTS]
    print(f"import typer, rich.console: {base[0]:.2f} s of CPU, {base[1]:.2f} s")
    for name, limit in LIMITS.items():
        cpu, wall = (mine / its for mine, its in zip(least[name], base, strict=True))
        print(
            f"{' '.join(name)}: {cpu:.2f} / {wall:.2f} times (CPU / wall), at most {limit}; {least[name][0]:.2f} s of "
            "CPU"
        )
        yield cpu <= limit


def _timed(command: tuple[str, ...], environment: Mapping[str, str]) -> tuple[float, float]:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=environment, capture_output=True, check=False)
    wall_s, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall_s


def _demo(environment: Mapping[str, str]) -> Iterator[bool]:
    first_s, end_s, status = _watched((COMMAND, "demo", "--output", f"{environment['HOME']}/demo"), environment)
    print(
        f"demo: first word after {first_s:.2f} s (at most {DEMO_FIRST_S}), end after {end_s:.2f} s (at most {DEMO_S})"
    )
    yield status == 0 and first_s <= DEMO_FIRST_S and end_s <= DEMO_S


def _dead(environment: Mapping[str, str]) -> Iterator[bool]:
    keys = {"AWS_ACCESS_KEY_ID": "AKIADUMMY", "AWS_SECRET_ACCESS_KEY": "dummy", "AWS_REGION": "eu-west-1"}
    with _silent_port() as silent, socket.socket() as refusing:
        refusing.bind(("127.0.0.1", 0))  # bound but not listening, so that it refuses connections
        ports = {"silent": silent, "refusing": refusing.getsockname()[1]}
        for kind, port in ports.items():
            for arguments in (("scan",), ("findings", "list")):
                there = {**environment, **keys, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
                first_s, end_s, status = _watched((COMMAND, *arguments), there)
                name = " ".join(arguments)
                print(
                    f"{name} at a {kind} endpoint: first word after {first_s:.2f} s, end after {end_s:.2f} s (at most "
                    f"{DEAD_S})"
                )
                yield status == 4 and end_s <= DEAD_S


@contextmanager
def _silent_port() -> Iterator[int]:
    """Yield a port that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def _watched(command: tuple[str, ...], environment: Mapping[str, str]) -> tuple[float, float, int]:
    """Run a command, and return the seconds to its first output and to its end, and its exit status."""
    start = time.perf_counter()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout
        process.stdout.readline()
        first_s = time.perf_counter() - start
        process.stdout.read()
    return first_s, time.perf_counter() - start, process.returncode


if __name__ == "__main__":
    sys.exit(main())
