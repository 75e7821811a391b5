"""Draw what the demo prints in a terminal: `python tools/terminal_picture.py docs/pictures/terminal.svg`."""

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

COLUMNS: Final = 110


def drawn(printed: str) -> str:
    """Return an SVG of what a program prints to a terminal of `COLUMNS` columns; `printed` may have ANSI colours."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(printed), highlight=False)
    return console.export_svg(title="slackwater demo")


def demo() -> str:
    """Run the demo and return what it prints, with colours.

    Raises:
        SystemExit: The demo failed, missed an issue or flagged a look-alike.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [Path(sys.executable).with_name("slackwater"), "demo", "--quiet"]
        colours = {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
        done = subprocess.run(
            command, check=False, cwd=folder, env=os.environ | colours, capture_output=True, text=True
        )
    if done.returncode:
        raise SystemExit(
            f"{done.stdout}{done.stderr}\nError: the demo exited with {done.returncode}. If a detector flags something"
            " else now, label it in simulator/src/slackwater_simulator/fleets/demo_labels.py, or correct the detector."
        )
    return done.stdout


if __name__ == "__main__":
    Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
    Path(sys.argv[1]).write_text(drawn(demo()), encoding="utf-8")
