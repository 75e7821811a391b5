"""Standard output is for results, standard error for everything else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from rich.console import Console

from slackwater_cli.exits import OutputClosedError

FILE_WIDTH: Final = 100
WIDEST: Final = 120
"""Columns: longer lines are hard to read, however wide the terminal."""


def note(words: str) -> None:
    """Say something beside the results."""
    sys.stderr.write(f"{words}\n")
    sys.stderr.flush()


def write(text: str) -> None:
    """Write results.

    Raises:
        OutputClosedError: nobody reads them any more.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError as error:
        raise OutputClosedError from error


def rendered(draw: Callable[[Console], None], *, to_terminal: bool = True) -> str:
    """What `draw` prints: coloured and as wide as the terminal, or plain text where it does not go to one."""
    console = Console(highlight=False) if to_terminal else Console(highlight=False, force_terminal=False, width=FILE_WIDTH)
    console.width = min(console.width, WIDEST)
    with console.capture() as captured:
        draw(console)
    text = captured.get()
    return text if console.is_terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines())
