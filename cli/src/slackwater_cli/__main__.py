"""The `slackwater` command."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib.metadata import version
from io import TextIOWrapper
from typing import NoReturn

from slackwater_cli.commands import app
from slackwater_cli.exits import ExitStatus, InterruptedByUserError, status_of
from slackwater_cli.streams import note


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command line and leave the process with its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")
    try:
        app(args=arguments, prog_name="slackwater")
    except InterruptedByUserError:
        sys.stdout.flush()
        # Threads that wait for AWS would be waited for; nothing they could still bring is wanted.
        os._exit(ExitStatus.INTERRUPTED)
    except Exception as error:  # noqa: BLE001 -- the last resort: whatever it is, the shell gets a status
        _explain(error)
        sys.exit(status_of(error))
    raise AssertionError("typer leaves the process itself")


def _explain(error: Exception) -> None:
    match status_of(error):
        case ExitStatus.OUTPUT_CLOSED:
            pass
        case ExitStatus.OUR_ERROR:
            note(f"slackwater {version('slackwater-cli')} failed, and that is our mistake: {type(error).__name__}: {error}")
            if os.environ.get("SLACKWATER_DEBUG") == "1":
                traceback.print_exception(error)
            else:
                note(
                    "Please open an issue with the command and what it prints under SLACKWATER_DEBUG=1, account ids taken out."
                )
        case _:
            note(str(error))


if __name__ == "__main__":
    main()
