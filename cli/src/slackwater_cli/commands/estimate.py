"""`slackwater estimate`: a command for each estimate."""

from typing import Any

import typer
from typer.core import TyperGroup


class EstimateGroup(TyperGroup):
    """A group with one command for each estimate. Builds a command when it is first used."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return every kind of estimate, for shell completion."""
        from slackwater.engine.registry import estimates

        return list(estimates())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return the command of a kind of estimate.

        Raises:
            UnknownKindError: There is no such kind.
        """
        from slackwater.app.estimates.estimates import UnknownKindError
        from slackwater.engine.registry import estimates
        from slackwater.model.nearest import unknown
        from slackwater_cli.estimate_command import command

        for problem in unknown("estimate", [cmd_name], estimates(), "slackwater estimate --help"):
            raise UnknownKindError([("", problem)])
        return command(cmd_name, estimates()[cmd_name])

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """List every estimate with its full title."""
        from slackwater.engine.registry import estimates

        with formatter.section("Commands"):
            formatter.write_dl([(kind, one.title) for kind, one in estimates().items()])


app = typer.Typer(
    cls=EstimateGroup,
    rich_markup_mode=None,
    help="Estimate times, limits and costs before you build. Needs no AWS account.",
    no_args_is_help=True,
)


@app.callback()
def _kinds() -> None:
    pass
