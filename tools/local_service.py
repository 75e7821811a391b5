"""Deploy Slackwater to a replacement for AWS on this machine, and keep it until Ctrl-C: `make local-service`.

The account is the simulated one of `slackwater demo`, and messages to Slack appear in this terminal. Nothing is real.
"""

import json
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bundle import bundle
from local_aws import AWS_CLI, BIN, REGION, LocalAws, build, must, scratch
from support.slack_server import Posted, SlackServer

POLICY = f"""[scan]
regions = ["{REGION}"]

[slack]
channel = "C0DEFAULT"
"""
NOT_YOURS = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
"""Keeps a profile of the user from being used with the replacement."""
MOST_DAYS = 1_000
STEPS = 40
"""How often to advance the simulated account by five minutes, so that backups and deletions finish."""


def main(folder: Path) -> None:
    """Deploy, write the environment and the policy into a folder, and print Slack's messages until Ctrl-C."""
    say("Building Slackwater (about half a minute) …")
    with scratch() as home, SlackServer() as slack:
        template = build(home / "build")
        packed = home / "bundle"
        bundle(template, packed)
        say("Starting the replacement for AWS, and deploying to it …")
        with LocalAws(home, slack.url) as aws:
            secret = aws.keep_secret("slackwater/slack", slack.secret())
            aws.deploy(packed, SlackSecretArn=secret, CleanupEnabled="true")
            policy, variables = folder / "local-service.toml", folder / "local-service.env"
            folder.mkdir(exist_ok=True)
            policy.write_text(POLICY)
            must("slackwater", "policy", "push", policy, environment=aws.environment())
            ended = threading.Event()
            try:
                variables.write_text(exports(aws.environment()))
                say(f"""
Deployed. Nothing here is real: a simulated account in {REGION}, and a stand-in for Slack.

In another terminal:
  . {variables}
  slackwater audits start --wait
  slackwater policy push {policy}        # after you change the policy

Messages to Slack appear below. Type a number of days to let this time pass for the clean-ups that wait, so that they
delete. Ctrl-C deletes everything.
""")
                threading.Thread(target=let_time_pass, args=(aws, ended), daemon=True).start()
                follow(slack)
            finally:
                ended.set()
                variables.unlink(missing_ok=True)  # its addresses are dead from now on


def exports(environment: dict[str, str]) -> str:
    """Return shell commands that set these variables, without the scratch folders, and with the commands in PATH."""
    own = {key: value for key, value in environment.items() if key not in {"PATH", "HOME", "TMPDIR"}} | NOT_YOURS
    lines = [f"export {key}={shlex.quote(value)}" for key, value in own.items()]
    return "\n".join(
        (
            *lines,
            f'export PATH={shlex.quote(f"{BIN}:{AWS_CLI.parent}")}:"$PATH"',
            "unset AWS_PROFILE AWS_DEFAULT_PROFILE AWS_SESSION_TOKEN",
            "",
        )
    )


def follow(slack: SlackServer) -> None:
    """Print each message of each channel once, until Ctrl-C."""
    seen = set[tuple[str, str]]()
    while True:
        for channel in slack.channels.values():
            for message in list(channel.messages):
                if (channel.id, message.ts) not in seen:
                    seen.add((channel.id, message.ts))
                    print_message(channel.name, message)
        time.sleep(0.5)


def let_time_pass(aws: LocalAws, ended: threading.Event) -> None:
    """Read numbers of days from standard input. For each, let waiting clean-ups be that much older, and finish."""
    aws.simulate("hide_backups", arguments=[])  # or a backup's reads, an hour in the future, would count as use
    for line in sys.stdin:
        days = float(line) if line.strip().isdecimal() else 0
        if not 0 < days < MOST_DAYS:
            say("Type a number of days, such as 30.")
            continue
        listed = json.loads(must("slackwater", "cleanup", "status", "--format", "json", environment=aws.environment()))
        moved = [one["resource"]["name"] for one in listed["cleanups"] if aws.days_pass(one["finding_id"], days)]
        who = ", ".join(moved) or "no clean-up: none waits, or Slack has not accepted its warning yet"
        say(f"{days:g} days pass for {who}.")
        for _ in range(STEPS if moved else 0):
            if ended.wait(1):
                return
            aws.simulate("advance", seconds=300)  # a backup takes minutes


def print_message(channel: str, message: Posted) -> None:
    """Print the texts of a message's blocks."""
    say(f"--- #{channel}{', in the thread' if message.thread_ts else ''}")
    say("\n".join(texts(message.blocks)) or message.text)


def texts(block: Any) -> Iterator[str]:
    """Yield every text in Slack's blocks, in order. Buttons are in brackets."""
    if isinstance(block, list):
        for one in block:
            yield from texts(one)
    elif isinstance(block, dict):
        if block.get("type") == "button":
            yield f"  [{block['text']['text']}]"
        elif isinstance(block.get("text"), str):
            yield block["text"]
        else:
            yield from texts([value for key, value in block.items() if key != "accessory"])


def say(text: str) -> None:
    """Print text at once, even if a program reads it."""
    print(text, flush=True)


if __name__ == "__main__":
    for ends in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ends, signal.default_int_handler)
    try:
        main(Path(sys.argv[1]))
    except KeyboardInterrupt:
        say("Everything is deleted.")
