"""Draw the list of backups on a terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from slackwater.model.units import GIB
from slackwater.views.cleanup.backups import BackupListDocument, ListedBackupDocument
from slackwater.views.text.one_line import one_line
from slackwater.views.text.words import count
from slackwater_cli.dates import minute
from slackwater_cli.grid import draw_first_that_fits, grid_of

WHOSE = {"own": "this installation", "other": "another installation", "older": "an older version"}


def draw_backups(found: BackupListDocument, console: Console) -> None:
    """Draw the total cost, then one line for each backup, oldest first."""
    backups = found["backups"]
    for gap in found["gaps"]:
        console.print(Text(one_line(f"Could not list: {gap}"), "bold red"))
    if not backups:
        console.print("There are no backups with Slackwater's tags.")
        return
    unpriced = f" ({found['unpriced']:,} unpriced)" if found["unpriced"] else ""
    console.print(
        Text(f"{count(len(backups), 'backup')}: at most {found['monthly_usd']} USD a month{unpriced}", "bold")
    )
    console.print()
    draw_first_that_fits(console, _grid(backups))
    console.print()
    console.print(
        "`slackwater cleanup undo FINDING` restores a backup. For a backup without a finding, use "
        "`slackwater cleanup adopt BACKUP`."
    )


def _grid(backups: list[ListedBackupDocument]) -> Table:
    right = ("GiB", "USD a month")
    grid = grid_of(
        "Backup", "Resource", "Created (UTC)", "Expires (UTC)", "GiB", "USD a month", "Made by", "Finding", right=right
    )
    for one in backups:
        size = one["size_bytes"]
        grid.add_row(
            Text(one_line(one["id"] or "")),
            Text(one_line(f"{one['of'].rpartition('/')[2]} in {one['region']}")),
            minute(one["created_at"]),
            minute(one["expires_at"]) if one["expires_at"] else "unknown",
            "unknown" if size is None else f"{size / GIB:,.1f}",
            one["monthly_usd"] or "unknown",
            WHOSE[one["whose"]],
            Text(one["finding_id"] or ""),
        )
    return grid
