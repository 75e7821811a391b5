"""Progress bars, if standard error is a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from slackwater.app.audit.scan import Progress as ScanProgress
from slackwater.model.resources import Target


def _silent(target: Target, stage: str, done: int, total: int) -> None:
    """Do nothing: no terminal shows progress."""


@contextmanager
def progress() -> Iterator[ScanProgress]:
    """Show progress bars while the context lasts, and yield the callback that updates them."""
    if not sys.stderr.isatty():
        yield _silent
        return
    bars = Progress(
        SpinnerColumn(),
        BarColumn(bar_width=24),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    tasks: dict[Target, TaskID] = {}

    def on_progress(target: Target, stage: str, done: int, total: int) -> None:
        if target not in tasks:
            tasks[target] = bars.add_task("")
        checks = f", {done:,} of {total:,} checks" if total else ""
        bars.update(tasks[target], description=f"{target.region}: {stage}{checks}", completed=done, total=total or None)

    with bars:
        yield on_progress


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Show what the command waits for, and for how long, while the context lasts."""
    if not sys.stderr.isatty():
        yield
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        shown.add_task(words, total=None)
        yield
