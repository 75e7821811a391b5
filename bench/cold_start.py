"""Measure how long each function takes to start, and how large its package is: `make bench-cold-start`.

The built artefacts run in the Lambda runtime interface emulator of aws-sam-cli. Their interpreter has only the runtime
client and boto3. They run against a deployment to ministack, the simulated account, and a fake Slack server.
Prints a Markdown table; `--write FILE` puts it between the file's markers.
"""

import argparse
import io
import json
import statistics
import time
import zipfile
from pathlib import Path

from markers import write_between

from bundle import bundle
from lambda_emulator import FUNCTIONS, LAYER, deployed
from local_aws import ROOT, LocalAws, build, scratch
from support.slack_server import SIGNING_SECRET, SlackServer, signed

BEGIN, END = "<!-- cold start -->\n", "<!-- /cold start -->\n"
STARTS = 5
CHOSEN = {
    "ServeFunction": "serve-list.json",
    "AcknowledgeFunction": "acknowledge-command.json",
    "AnswerFunction": "answer-command.json",
}
"""The event to use, for functions that have several."""
POLICY = '[slack]\nchannel = "C0DEFAULT"\n'
EVENTS = ROOT / "events"

type Times = tuple[float, float, float, float]


def zipped_bytes(folder: Path) -> int:
    """Return the size of a folder as the zip archive that Lambda receives."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for file in sorted(folder.rglob("*")):
            out.write(file, file.relative_to(folder))
    return archive.getbuffer().nbytes


def event_of(name: str, turn: float) -> object:
    """Return a function's event, different for each `turn`.

    Each turn has its own audit or request, because a function answers a repeated one without doing the work.
    """
    file = EVENTS / CHOSEN.get(name, f"{name.removesuffix('Function').lower()}.json")
    event = json.loads(
        file.read_text().replace('"audit_id": "', f'"audit_id": "{turn}-').replace("weekly/", f"{turn}/")
    )
    if name == "AcknowledgeFunction":
        event["body"] += f"&turn={turn}"
        event["headers"] |= signed(SIGNING_SECRET, event["body"].encode(), time.time())
    return event


def start(aws: LocalAws, template: Path, name: str, turn: int) -> Times:
    """Return the milliseconds of one start: start alone, first request alone, both together, and next request."""
    with deployed(aws, template, name) as function:
        answer, both_ms = function.timed(event_of(name, turn))
        if "errorType" in answer or answer.get("statusCode", 200) != 200:
            raise SystemExit(f"{name}: {answer}")
        _, next_ms = function.timed(event_of(name, turn + 0.5 if name == "AcknowledgeFunction" else turn))
        return function.init_ms, both_ms - function.init_ms, both_ms, next_ms


def table() -> str:
    """Return a Markdown table of all functions, in the order in which an audit uses them."""
    with scratch() as home, SlackServer() as slack:
        template = build(home / "build")
        bundle(template, home / "bundle")
        with LocalAws(home, slack.url) as aws:
            aws.deploy(home / "bundle", SlackSecretArn=aws.keep_secret("slackwater/slack", slack.secret()))
            aws.client("s3").put_object(
                Bucket=aws.outputs["BucketName"], Key="policy/slackwater.toml", Body=POLICY.encode()
            )
            times = [{name: start(aws, template, name, turn) for name in FUNCTIONS} for turn in range(STARTS)]
        rows = [
            "| Function | Start, ms | First request, ms | Both, ms | Next request, ms | Zipped, KiB |",
            "|-|-|-|-|-|-|",
        ]
        for name in FUNCTIONS:
            medians = (statistics.median(column) for column in zip(*(turn[name] for turn in times), strict=True))
            size_kib = zipped_bytes(template.parent / name) / 1024
            rows.append(f"| {name} | {' | '.join(f'{ms:,.0f}' for ms in medians)} | {size_kib:.1f} |")
        layer_mib = zipped_bytes(template.parent / LAYER) / 1024**2
        return "\n".join([*rows, f"\nThe layer that they share is {layer_mib:.1f} MiB zipped.", ""])


def main() -> None:
    """Measure, print, and with `--write` write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="a file with the marks")
    options = parser.parse_args()
    text = table()
    print(text)
    if options.write:
        write_between(options.write, BEGIN, END, text)


if __name__ == "__main__":
    main()
