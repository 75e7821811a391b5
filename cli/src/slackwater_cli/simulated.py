"""The simulated account: a separate process, used only through its output and its HTTP API."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from subprocess import PIPE, Popen
from typing import Any, Final, NoReturn
from urllib.request import ProxyHandler, build_opener

from slackwater.ports.errors import UnreachableError
from slackwater_cli.exits import ExitStatus, UsageError

MODULE: Final = "slackwater_simulator"
TIMEOUT_S: Final = 30
MISSING_EXTRA: Final = (
    "The simulated account needs numpy: install Slackwater with the extra `demo`, as docs/install.md shows"
)


@dataclass(frozen=True, slots=True)
class Planted:
    """A planted resource.

    The detectors in `issues` must flag it. `control_of` must not flag it, although it looks like a case for it.
    """

    resource_id: str
    name: str
    story: str
    why: str
    issues: tuple[str, ...]
    control_of: str | None


@dataclass(frozen=True, slots=True)
class SimulatedAccount:
    """The simulated account's address, its simulated time, its account id and its regions."""

    url: str
    now: datetime
    account: str
    regions: tuple[str, ...]

    def planted(self) -> list[Planted]:
        """Return the planted resources."""
        with build_opener(ProxyHandler({})).open(f"{self.url}/_simulator/truth", timeout=TIMEOUT_S) as answer:
            cases: list[dict[str, Any]] = json.load(answer)["planted"]
        return [
            Planted(c["resource_id"], c["name"], c["story"], c["why"], tuple(c["issues"]), c["control_of"])
            for c in cases
        ]


@contextmanager
def simulated_account() -> Iterator[SimulatedAccount]:
    """Run the demo fleet while the context lasts. It also ends if this process ends in any other way.

    Raises:
        UsageError: The extra `demo` is not installed.
        UnreachableError: The simulator does not start.
    """
    if find_spec("numpy") is None:
        raise UsageError(MISSING_EXTRA)
    # -P: Python must not run a folder of that name in the working directory instead.
    command = (sys.executable, "-P", "-m", MODULE, "--fleet", "demo", "--port", "0", "--exit-with-stdin")
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:  # noqa: S603 -- our own words only
        if process.stdin is None or process.stdout is None:
            raise AssertionError("asked for with PIPE")
        try:
            line = process.stdout.readline()
            if not line:
                raise UnreachableError("The simulated account did not start; what it said is above")
            where = json.loads(line)
            yield SimulatedAccount(
                where["url"], datetime.fromisoformat(where["now"]), where["account"], tuple(where["regions"])
            )
        finally:
            process.stdin.close()
            process.wait(TIMEOUT_S)


def main() -> NoReturn:
    """Run the command `slackwater-simulator`. Exit with status 2 if the extra `demo` is not installed."""
    if find_spec("numpy") is None:
        sys.stderr.write(f"Error: {MISSING_EXTRA}.\n")
        sys.exit(ExitStatus.WRONG_USAGE)
    os.execv(sys.executable, [sys.executable, "-P", "-m", MODULE, *sys.argv[1:]])  # noqa: S606 -- our own interpreter
