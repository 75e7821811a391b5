"""Prints lists as tables whose cells are never truncated."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

UNLIMITED_WIDTH: Final = 10_000
"""A width, in characters, that no list reaches."""


def grid_of(*names: str, right: Sequence[str] = ()) -> Table:
    """Return an empty table with these column headings. Columns named in `right` are right-aligned."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for name in names:
        grid.add_column(name, justify="right" if name in right else "left", no_wrap=True)
    return grid


def draw_first_that_fits(console: Console, *grids: Table, indent: int = 0) -> None:
    """Print the first table that fits the terminal. If none fits, print the last one, wider than the terminal."""
    options = console.options.update(width=UNLIMITED_WIDTH)
    widths = [indent + console.measure(grid, options=options).maximum for grid in grids]
    grid, width = next(
        (pair for pair in zip(grids, widths, strict=True) if pair[1] <= console.width), (grids[-1], widths[-1])
    )
    terminal_width, console.width = console.width, max(console.width, width)
    console.print(Padding(grid, (0, 0, 0, indent)))
    console.width = terminal_width
