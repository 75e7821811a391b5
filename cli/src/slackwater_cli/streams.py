"""Standard output is for results, standard error for everything else."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from slackwater.views.text.one_line import one_line
from slackwater_cli.exits import OutputClosedError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

FILE_WIDTH: Final = 100
WIDEST: Final = 120
"""Columns: longer lines are hard to read, however wide the terminal."""
WIDEST_LIST: Final = 240
"""Columns: what is in a list is looked up, not read."""


_quiet = False


def set_quiet(wanted: bool = True) -> None:
    """Drop notes from now on, or write them again. Errors are always written."""
    global _quiet  # noqa: PLW0603 -- like the streams, it belongs to the process
    _quiet = wanted


def note(words: str, *, always: bool = False) -> None:
    """Write notes to standard error, one a line.

    They may hold untrusted text. `--quiet` drops all but errors (`always`).
    """
    if (_quiet and not always) or sys.stderr is None:  # None: it was closed before we started
        return
    sys.stderr.write("".join(f"{one_line(line)}\n" for line in words.split("\n")))
    sys.stderr.flush()


def write(text: str | Iterable[str]) -> None:
    """Write results, at once or piece by piece.

    Raises:
        OutputClosedError: nobody reads them any more.
        UsageError: they cannot be written at all.
    """
    if sys.stdout is None:  # it was closed before we started
        raise UsageError("standard output cannot be written: it is closed")
    with _unwritable():
        sys.stdout.writelines([text] if isinstance(text, str) else text)
        sys.stdout.flush()


def drop_unwritten() -> None:
    """Forget what standard output did not take: Python would try again as it leaves, and change the exit status."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _unwritable() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise OutputClosedError from error
    except OSError as error:
        raise UsageError(f"standard output cannot be written: {error.strerror}") from error


def rendered(draw: Callable[[Console], None], *, to_terminal: bool = True, widest: int = WIDEST) -> str:
    """What `draw` prints: coloured and as wide as the terminal, or plain text where it does not go to one."""
    from rich.console import Console

    console = (
        Console(highlight=False) if to_terminal else Console(highlight=False, force_terminal=False, width=FILE_WIDTH)
    )
    console.width = min(console.width, widest)
    with _unwritable(), console.capture() as captured:  # rich flushes even what it only captures
        draw(console)
    text = captured.get()
    return text if console.is_terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines())
