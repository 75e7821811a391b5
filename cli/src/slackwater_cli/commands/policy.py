"""`slackwater policy`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from slackwater.app.policy import DEFAULT_POLICY, check_regions, load_policy, policy_schema
from slackwater.aws.meter import CallMeter
from slackwater.aws.regions import known_regions
from slackwater.aws.session import AwsSession, Endpoint
from slackwater.engine.registry import registry
from slackwater.views.scan_json import dump
from slackwater_cli.streams import write

NOWHERE: Final = Endpoint("http://127.0.0.1:0", "", "")
"""A session that reads no AWS configuration, which may be broken, and is asked nothing."""

app = typer.Typer(help="What operators may change.", no_args_is_help=True)


@app.command()
def check(file: Annotated[Path, typer.Argument(metavar="FILE")] = DEFAULT_POLICY) -> None:
    """Check a policy file, without asking AWS; leave with status 2 if it is wrong."""
    policy = load_policy(file, registry())
    check_regions(policy, file, known_regions(AwsSession(meter=CallMeter(), endpoint=NOWHERE)))
    write(f"{file}: good; {len(policy.limits)} of {len(registry())} detectors are on.\n")


@app.command()
def schema() -> None:
    """Print the policy file's JSON Schema, for editors."""
    write(dump(policy_schema(registry())))
