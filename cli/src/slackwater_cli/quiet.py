"""The option `--quiet`, which every command has."""

from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from slackwater_cli.streams import set_quiet

QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Write only results and errors.",
        expose_value=False,
        callback=set_quiet,
    ),
]


def add_quiet(command: Any) -> None:
    """Add the option to a command, or to each command of a group."""
    if isinstance(command, TyperGroup):
        for one in command.commands.values():
            add_quiet(one)
    else:
        command.params.append(_option())


@cache
def _option() -> Any:
    """Return the option. Typer builds it from a function's signature."""

    def template(quiet: QuietOption = False) -> None:
        """Take the option."""

    single = typer.Typer(add_completion=False)
    single.command()(template)
    return get_command(single).params[0]
