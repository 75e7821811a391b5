"""`slackwater detectors`."""

from __future__ import annotations

from html import unescape
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from slackwater.app.policy.names import LIST_DETECTORS
from slackwater.model.nearest import unknown
from slackwater_cli.exits import UsageError
from slackwater_cli.streams import rendered, write

if TYPE_CHECKING:
    from rich.console import Console


class Commands(TyperGroup):
    """The commands. A detector's id instead of a command is a likely mistake."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of this name; None if there is none.

        Raises:
            UsageError: The name is the id of a detector.
        """
        found = super().get_command(ctx, cmd_name)
        if found is None:
            from slackwater.engine.registry import registry

            if cmd_name in registry():
                raise UsageError(f"{cmd_name} is a detector: use `slackwater detectors show {cmd_name}`")
        return found


app = typer.Typer(
    cls=Commands, rich_markup_mode=None, help="List the detectors, or show one.", invoke_without_command=True
)


@app.callback()
def _default(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_()


@app.command("list")
def list_() -> None:
    """List the detectors."""
    write(rendered(_draw_list))


@app.command()
def show(id: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Show a detector's page: what it finds, when it errs, limits, cases."""
    from rich.markdown import Markdown

    from slackwater.engine.registry import documentation, registry
    from slackwater.views.docs.detector_page import render_page

    if problem := unknown("detector", [id], registry(), LIST_DETECTORS):
        raise UsageError(*problem)
    page = render_page(id, registry()[id], documentation(id), cases=True)

    def draw(console: Console) -> None:
        if console.is_terminal:
            console.print(Markdown(page))
        else:
            console.out(unescape(page), end="", highlight=False)

    write(rendered(draw))


def _draw_list(console: Console) -> None:
    from rich.table import Table

    from slackwater.engine.registry import registry

    table = Table(box=None, pad_edge=False)
    for head in ("ID", "FINDS", "KIND", "LOOKS AT"):
        table.add_column(head, no_wrap=head == "ID")  # users have to type the id
    for id_, detector in registry().items():
        table.add_row(id_, detector.title, detector.kind, detector.resource.KIND)
    console.print(table)
