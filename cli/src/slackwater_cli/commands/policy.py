"""`slackwater policy`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slackwater.app.policy import DEFAULT_POLICY, check_regions, load_policy, policy_schema
from slackwater.engine.registry import registry
from slackwater.views.scan_json import dump
from slackwater_cli.streams import write
from slackwater_cli.targets import regions_without_asking

app = typer.Typer(rich_markup_mode=None, help="What operators may change.", no_args_is_help=True)


@app.command()
def check(file: Annotated[Path, typer.Argument(metavar="FILE")] = DEFAULT_POLICY) -> None:
    """Check a policy file, without asking AWS; leave with status 2 if it is wrong."""
    regions = regions_without_asking()
    policy = load_policy(file, registry(), regions=regions)
    check_regions(file, regions)
    write(f"{file}: good; {len(policy.limits)} of {len(registry())} detectors are on.\n")


@app.command()
def schema() -> None:
    """Print the policy file's JSON Schema, for editors."""
    write(dump(policy_schema(registry())))
