"""The `slackwater` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Final, NoReturn

from slackwater_cli import VERSION
from slackwater_cli.streams import drop_unwritten, note, set_quiet, write

if TYPE_CHECKING:
    from slackwater_cli.exits import ExitStatus

VERSION_OPTIONS: Final = ("--version", "-V")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command line and exit the process with its status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")
    set_quiet(False)
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        status = _run(given)
    except Exception as error:  # noqa: BLE001 -- the last resort: the shell gets a status for every error
        status = _explain(_translated(error))
    drop_unwritten()
    sys.exit(status)


def _run(arguments: list[str]) -> int | None:
    """Run the command. `--version` skips the command tree, which is slow to build."""
    if arguments and arguments[0] in VERSION_OPTIONS:
        write(f"slackwater {VERSION}\n")
        return 0
    import os

    from slackwater.wiring.garbage import reduce_garbage_collection
    from slackwater_cli.memory import configure_malloc
    from slackwater_cli.stopping import Stopped, stoppable

    configure_malloc()
    reduce_garbage_collection()
    try:
        with stoppable():
            status: int | None = _command()(args=arguments, prog_name="slackwater", standalone_mode=False)
    except Stopped as stopped:
        note(f"{stopped.status.name.lower()}; {stopped.written}")
        # A normal exit would wait for threads that wait for AWS. Nobody needs their results.
        os._exit(stopped.status)
    return status


@cache
def _command() -> Any:
    """Return the command tree. It is cached, because Typer would build it again for each command line."""
    from slackwater_cli.commands import command_tree

    return command_tree()


def _translated(error: Exception) -> Exception:
    """Convert an error of botocore to one of Slackwater's. Return any other error unchanged."""
    if "botocore.exceptions" not in sys.modules:
        return error
    from botocore.exceptions import BotoCoreError, ClientError

    from slackwater.aws.client.errors import translated

    return translated(error) if isinstance(error, BotoCoreError | ClientError) else error


def _explain(error: Exception) -> ExitStatus:
    """Write what went wrong to standard error, and return the exit status."""
    from slackwater_cli.exits import ExitStatus, status_of

    match status := status_of(error):
        case ExitStatus.OUTPUT_CLOSED:
            pass
        case ExitStatus.INTERNAL_ERROR:
            _report_bug(error)
        case _:
            note(_message(error), always=True)
    return status


def _message(error: Exception) -> str:
    """Return one line for each problem, and a command to try if the command line is wrong.

    If the command line names no command, return the help.
    """
    from typer import TyperException

    if not isinstance(error, TyperException):
        return "\n".join(f"Error: {line}" for line in str(error).split("\n"))
    if type(error).__name__ == "NoArgsIsHelpError":  # Typer does not export this class
        return error.format_message()
    context = getattr(error, "ctx", None)
    hint = ""
    if context:
        takes_format = any(one.name == "format" for one in context.command.params)
        is_json = getattr(error, "option_name", "") == "--json" and takes_format
        hint = f" Try `{context.command_path} {'--format json' if is_json else '--help'}`."
    problem = error.format_message()
    return f"Error: {problem}{'' if problem.endswith(('.', '?')) else '.'}{hint}"


def _report_bug(error: Exception) -> None:
    import os
    import traceback

    note(f"Error: slackwater {VERSION} has a bug: {type(error).__name__}: {error}", always=True)
    if os.environ.get("SLACKWATER_DEBUG") == "1":
        traceback.print_exception(error)
    else:
        note(
            "Please open an issue. Include the command and its output with SLACKWATER_DEBUG=1, without account ids.",
            always=True,
        )


if __name__ == "__main__":
    main()
