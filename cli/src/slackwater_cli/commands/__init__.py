"""The commands, one file each.

A command module declares its options, and imports what it needs when it runs. So `--help` and mistyped commands do not
wait for the AWS SDK. `bench/start.py` measures it.
"""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from slackwater_cli.commands import (
    audits,
    cleanup,
    demo,
    detectors,
    doctor,
    estimate,
    findings,
    policy,
    recording,
    scan,
    slack,
)
from slackwater_cli.quiet import add_quiet


class Root(TyperGroup):
    """The root command. Its flags default to False, because Typer imports pydantic if the default is None."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, with Typer's own for help and completion."""
        params = super().get_params(ctx)
        for one in params:
            one.default = one.default or False
        return params


app = typer.Typer(
    cls=Root,
    help="Find AWS storage that you pay for and do not use, and resources that AWS throttles.",
    epilog="Try `slackwater demo` first: it needs no AWS account.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command()(scan.scan)
app.command()(demo.demo)
app.command()(doctor.doctor)
app.add_typer(estimate.app, name="estimate")
app.add_typer(detectors.app, name="detectors")
app.add_typer(findings.app, name="findings")
app.add_typer(cleanup.app, name="cleanup")
app.add_typer(audits.app, name="audits")
app.add_typer(policy.app, name="policy")
app.add_typer(slack.app, name="slack")
app.add_typer(recording.app, name="recording")


@app.callback()
def _options(
    _version: Annotated[bool, typer.Option("--version", "-V", help="Show the version and exit.")] = False,
) -> None:
    """`__main__` handles `--version`, because it needs no command tree."""


def command_tree() -> Any:
    """Build the command tree, in which every command takes `--quiet`."""
    root = get_command(app)
    add_quiet(root)
    return root
