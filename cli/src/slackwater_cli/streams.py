"""Writes results to standard output, and everything else to standard error."""

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
"""Columns. Longer lines are hard to read, however wide the terminal is."""
WIDEST_LIST: Final = 240
"""Columns. Lists may be wider, because people look up single entries in them."""


_quiet = False


def set_quiet(wanted: bool = True) -> None:
    """Drop notes from now on, or write them again. Errors are always written."""
    global _quiet  # noqa: PLW0603 -- like the streams, it belongs to the process
    _quiet = wanted


def note(words: str, *, always: bool = False) -> None:
    """Write notes to standard error, one a line.

    They may contain untrusted text. `--quiet` drops all notes but errors (`always`).
    """
    if (_quiet and not always) or sys.stderr is None:  # None: it was closed before Slackwater started
        return
    sys.stderr.write("".join(f"{one_line(line)}\n" for line in words.split("\n")))
    sys.stderr.flush()


def write(text: str | Iterable[str]) -> None:
    """Write results, at once or piece by piece.

    Raises:
        OutputClosedError: The reader closed standard output.
        UsageError: Standard output cannot be written at all.
    """
    if sys.stdout is None:  # it was closed before Slackwater started
        raise UsageError("standard output cannot be written: it is closed")
    with _unwritable():
        sys.stdout.writelines([text] if isinstance(text, str) else text)
        sys.stdout.flush()


def drop_unwritten() -> None:
    """Drop unwritten output. Python would otherwise write it again at exit, fail, and change the exit status."""
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
    """Return what `draw` prints: coloured and as wide as the terminal, or plain text if there is no terminal."""
    from rich.console import Console

    console = (
        Console(highlight=False) if to_terminal else Console(highlight=False, force_terminal=False, width=FILE_WIDTH)
    )
    console.width = min(console.width, widest)
    with _unwritable(), console.capture() as captured:  # rich flushes standard output even if it captures
        draw(console)
    text = captured.get()
    return text if console.is_terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines())
