"""The `slackwater` command."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from io import TextIOWrapper
from typing import Any, NoReturn

from botocore.exceptions import BotoCoreError, ClientError
from typer import TyperException
from typer.main import get_command

from slackwater.aws.client.errors import translated
from slackwater.wiring.garbage import collect_seldom
from slackwater_cli.commands import app
from slackwater_cli.exits import ExitStatus, status_of
from slackwater_cli.memory import share_arenas
from slackwater_cli.stopping import Stopped, stoppable
from slackwater_cli.streams import drop_unwritten, note


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command line and leave the process with its exit status."""
    share_arenas()
    collect_seldom()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")
    try:
        with stoppable():
            status = _command()(args=arguments, prog_name="slackwater", standalone_mode=False)
    except Stopped as stopped:
        note(f"{stopped.status.name.lower()}; {stopped.left}")
        # Threads that wait for AWS would be waited for; nothing they could still bring is wanted.
        os._exit(stopped.status)
    except Exception as error:  # noqa: BLE001 -- the last resort: whatever it is, the shell gets a status
        told = translated(error) if isinstance(error, BotoCoreError | ClientError) else error
        _explain(told)
        status = status_of(told)
    drop_unwritten()
    sys.exit(status)


@cache
def _command() -> Any:
    """The command tree. Typer would build it again for each command line, in a tenth of a second."""
    return get_command(app)


def _explain(error: Exception) -> None:
    match status_of(error):
        case ExitStatus.OUTPUT_CLOSED:
            pass
        case ExitStatus.OUR_ERROR:
            note(
                f"slackwater {version('slackwater-cli')} failed, and that is our mistake: {type(error).__name__}: {error}"
            )
            if os.environ.get("SLACKWATER_DEBUG") == "1":
                traceback.print_exception(error)
            else:
                note(
                    "Please open an issue with the command and what it prints under SLACKWATER_DEBUG=1, account ids taken out."
                )
        case _:
            note(error.format_message() if isinstance(error, TyperException) else str(error))


if __name__ == "__main__":
    main()
