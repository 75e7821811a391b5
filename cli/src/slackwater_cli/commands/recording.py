"""`slackwater recording`."""

from pathlib import Path
from typing import Annotated

import typer

from slackwater_cli.streams import write

app = typer.Typer(rich_markup_mode=None, help="Show a recording of `slackwater scan --record`.", no_args_is_help=True)


@app.command()
def show(file: Annotated[Path, typer.Argument(metavar="FILE")]) -> None:
    """List every string in a recording, and how often it occurs.

    Look through the list before you share the recording.
    """
    from slackwater.app.recording.show import remaining

    found = remaining(file)
    write(f"{file}: {found.size_bytes:,} bytes; {found.lines:,} lines, {found.points:,} metric data points.\n")
    for title, counts in (
        ("Strings that were not replaced: expect only AWS and Slackwater terms", found.words),
        ("Placeholders", found.placeholders),
    ):
        write(f"\n{title} ({len(counts):,}):\n")
        write("".join(f"{count:>9,}  {text}\n" for text, count in sorted(counts.items())))


@app.callback()
def _group() -> None:
    pass
