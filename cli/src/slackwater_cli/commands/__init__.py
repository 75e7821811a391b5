"""The commands, one file each."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

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
from slackwater_cli.streams import write

app = typer.Typer(
    help="Finds AWS storage that is paid for and stands still, and machines whose burst has run dry.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
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


def _print_version(wanted: bool) -> None:
    if wanted:
        write(f"slackwater {version('slackwater-cli')}\n")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass
