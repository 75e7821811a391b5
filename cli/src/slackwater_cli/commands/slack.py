"""`slackwater slack`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from slackwater.views.text.one_line import one_line
from slackwater_cli.deployment import Deployment, deployment
from slackwater_cli.exits import ExitStatus, UsageError
from slackwater_cli.options import STACK, FormatOption, Output, ProfileOption, StackOption, StackRegionOption
from slackwater_cli.streams import note, rendered, write

if TYPE_CHECKING:
    from rich.console import Console

    from slackwater.app.slack.check import Step

PLACEHOLDER: Final = "https://API.execute-api.REGION.amazonaws.com"
"""Placeholder in the manifest for the address of the deployed API."""
EVENTS: Final = "/slack/events"

STYLES: Final = {"good": "green", "bad": "bold red", "note": "yellow"}
WIDTH: Final = 20

app = typer.Typer(rich_markup_mode=None, help="Set up and test Slack.", no_args_is_help=True)


@app.command()
def manifest(stack: StackOption = STACK, stack_region: StackRegionOption = None, profile: ProfileOption = None) -> None:
    """Print the manifest to create the Slack app from.

    It has the address of the deployed service.

    \b
    Exit status:
    0 printed
    2 wrong usage
    4 no credentials, not allowed, or nothing reachable
    """  # noqa: D301 -- the mark that keeps the lines apart
    from importlib.resources import files

    from slackwater.app.slack.check import PAGE

    there = deployment(stack, stack_region, profile)
    text = (files("slackwater_cli") / "slack-app-manifest.yaml").read_text(encoding="utf-8")
    write(text.replace(PLACEHOLDER, _api_url(there, stack)))
    note(f"At https://api.slack.com/apps: Create New App, From a manifest. What comes next is in {PAGE}.")


@app.command("test")
def check(
    channel: Annotated[
        str | None, typer.Option(metavar="C…", help="Id of the channel to post to, instead of the policy's.")
    ] = None,
    format: FormatOption = Output.TABLE,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Check the Slack setup and post a test message.

    It reads the secret and the policy of the deployed service with your own credentials.

    \b
    Exit status:
    0 the message arrived, and nothing is missing
    2 wrong usage or policy
    3 something is missing
    4 no credentials, not allowed, or nothing reachable
    """  # noqa: D301 -- the mark that keeps the lines apart
    from slackwater.app.slack.check import PAGE
    from slackwater.model.policy import CHANNEL, CHANNEL_LOOKS
    from slackwater.views.scan.to_json import dump

    if channel is not None and not re.fullmatch(CHANNEL, channel):
        raise UsageError(f"--channel {channel!r} is no channel's id; {CHANNEL_LOOKS}")
    steps = _drawn(_steps(deployment(stack, stack_region, profile), stack, channel), format)
    bad = any(step.state == "bad" for step in steps)
    if format is Output.JSON:
        write(dump({"ready": not bad, "steps": [asdict(step) for step in steps]}))
    elif bad:
        note(f"Slack is not set up: {PAGE} goes through it step by step.")
    raise typer.Exit(ExitStatus.INCOMPLETE if bad else ExitStatus.COMPLETE)


def _steps(there: Deployment, stack: str, channel: str | None) -> Iterator[Step]:
    from slackwater.app.slack.check import SlackCheck, Step
    from slackwater.aws.deployment.secrets import Secret
    from slackwater.slack.bot import BotChannel
    from slackwater.slack.endpoint_check import check_endpoint
    from slackwater.slack.secret import SecretError, parse
    from slackwater.slack.webhook import WebhookChannel
    from slackwater.wiring.scan import clock
    from slackwater.wiring.service import policies

    arn = there.deployed.slack_secret_arn
    if arn is None:
        missing = f"the stack {stack} has none: deploy it with --parameter-overrides SlackSecretArn=…"
        yield Step(what="secret", state="bad", said=missing)
        return
    try:
        secret = parse(Secret(there.session, arn)())
    except SecretError as error:
        yield Step(what="secret", state="bad", said=str(error))
        return
    if channel and secret.webhook_url:
        raise UsageError("--channel is for a bot: a webhook has a channel of its own")
    address = f"{_api_url(there, stack)}{EVENTS}"
    looking = SlackCheck(
        secret=secret,
        slack=policies(there.deployed, there.session).current().slack,
        bot=lambda token: BotChannel(token, base_url=os.environ.get("SLACK_API_URL") or None),
        webhook=WebhookChannel,
        check_endpoint=lambda signing_secret: check_endpoint(address, signing_secret, clock()),
        clock=clock,
    )
    yield from looking.steps(channel)


def _api_url(there: Deployment, stack: str) -> str:
    try:
        return there.outputs["ApiUrl"]
    except KeyError as error:
        raise UsageError(f"The stack {stack} has no output {error}") from error


def _drawn(steps: Iterable[Step], format: Output) -> list[Step]:
    """Draw each step as soon as it is done, and return all."""
    done = []
    for step in steps:
        done.append(step)
        if format is Output.TABLE:
            write(rendered(partial(_draw, step)))
    return done


def _draw(step: Step, console: Console) -> None:
    from rich.text import Text

    word = step.state.upper() if step.state == "bad" else step.state
    console.print(
        Text.assemble((f"{word:6}", STYLES[step.state]), f"{step.what:{WIDTH}}", one_line(step.said)), soft_wrap=True
    )
