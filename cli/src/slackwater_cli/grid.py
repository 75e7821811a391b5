"""Lists as columns, none of which is ever cut."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

ANY: Final = 10_000
"""Columns: more than any list needs."""


def grid_of(*names: str, right: Sequence[str] = ()) -> Table:
    """A grid with these heads; `right` are flush right."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for name in names:
        grid.add_column(name, justify="right" if name in right else "left", no_wrap=True)
    return grid


def draw_grid(console: Console, *grids: Table, indent: int = 0) -> None:
    """The first of them that fits. If none does, the last one: its lines are longer than the terminal's."""
    options = console.options.update(width=ANY)
    widths = [indent + console.measure(grid, options=options).maximum for grid in grids]
    grid, width = next(
        (fit for fit in zip(grids, widths, strict=True) if fit[1] <= console.width), (grids[-1], widths[-1])
    )
    terminal, console.width = console.width, max(console.width, width)
    console.print(Padding(grid, (0, 0, 0, indent)))
    console.width = terminal
