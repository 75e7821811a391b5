"""Compare Cloud Custodian and Slackwater in five faults that Custodian handles wrongly: `make bench-faults`.

Each tool runs in its own copy of the same simulated account. The same checks judge what is left in the account.
Custodian and Slackwater's scans run as processes with default settings. Slackwater's clean-ups run through the deployed
state machine definition. Prints all results; `--write FILE` puts them between the file's markers.
"""

import argparse
import base64
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from markers import write_between

from slackwater_simulator import Account, Clock, Fleet, Simulator
from support.cleanup_world import REGION
from support.five_faults import (
    DELETE,
    METRICS,
    ToolResult,
    denied,
    file_systems,
    files_words,
    halves,
    idle_in,
    mounted,
    refused_by_slack,
    tagged_without_days,
    throttled,
    unattached,
    used_since,
    volumes,
    volumes_left,
)
from support.slack_server import Fault

ROOT: Final = Path(__file__).parents[1]
CUSTODIAN: Final = ROOT / ".tools/custodian/bin/custodian"
POLICIES: Final = Path(__file__).with_name("custodian_faults")
BEGIN, END = "<!-- faults -->\n", "<!-- /faults -->\n"

IDLE_VOLUMES, BUSY_VOLUMES, FILE_SYSTEMS, RESOURCES = 53, 147, 14, 7
TWO_A_SECOND: Final = {"*": 2.0}
NONE_AT_ALL: Final = dict.fromkeys(METRICS, 0.0)
SPEED: Final = 60.0
"""Simulated seconds per real second, so that deletions finish while Custodian waits for them."""


@dataclass(frozen=True, slots=True)
class CustodianRun:
    """A run of Custodian: its exit status, the resources that its policy matched, and its output."""

    status: int
    matched: list[dict[str, Any]]
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A situation, and the result of each tool in it."""

    fault: int
    title: str
    situation: str
    theirs: ToolResult
    ours: ToolResult


# -- AWS APIs that Custodian calls and the simulator lacks


@dataclass
class ExtraAwsApis:
    """Fakes of the AWS APIs that the simulator lacks: tagging, account aliases, and an SQS queue with `messages`."""

    account: Account
    messages: list[str] = field(default_factory=list)

    def answer(self, target: str, body: bytes) -> tuple[str, str]:
        """Return the content type and the body of the response."""
        asked = json.loads(body) if target else {}
        match target.rpartition(".")[2]:
            case "TagResources":
                for arn in asked["ResourceARNList"]:
                    for key, value in asked["Tags"].items():
                        self.account.tag(arn.rpartition("/")[2], key, value)
                return "application/x-amz-json-1.1", json.dumps({"FailedResourcesMap": {}})
            case "SendMessage":
                self.messages.append(asked["MessageBody"])
                digest = hashlib.md5(asked["MessageBody"].encode(), usedforsecurity=False).hexdigest()
                return "application/x-amz-json-1.0", json.dumps({"MessageId": "1", "MD5OfMessageBody": digest})
            case "":
                result = "<AccountAliases/><IsTruncated>false</IsTruncated>"
                aliases = f"<ListAccountAliasesResult>{result}</ListAccountAliasesResult>"
                return "text/xml", f"<ListAccountAliasesResponse>{aliases}</ListAccountAliasesResponse>"
        raise NotImplementedError(target)

    @contextmanager
    def served(self) -> Iterator[str]:
        """Serve the APIs on a local port, and yield the URL."""
        extra_apis = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                kind, answer = extra_apis.answer(self.headers.get("x-amz-target", ""), body)
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(answer.encode())))
                self.end_headers()
                self.wfile.write(answer.encode())

            def log_message(self, format: str, *args: Any) -> None:
                """Log nothing."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_address[1]}"
            server.shutdown()


@dataclass(frozen=True, slots=True)
class Custodian:
    """Cloud Custodian, and an account in which it runs."""

    simulator: Simulator
    extra_apis: ExtraAwsApis
    environment: Mapping[str, str]

    def run(self, name: str) -> CustodianRun:
        """Run one policy once."""
        with tempfile.TemporaryDirectory() as folder:
            command = [str(CUSTODIAN), "run", "--output-dir", folder, "--region", REGION, "--cache-period", "0"]
            done = subprocess.run(
                [*command, str(POLICIES / f"{name}.yml")],
                env=dict(self.environment) | {"HOME": folder},
                capture_output=True,
                text=True,
                check=False,
            )
            matched = Path(folder) / name / "resources.json"
            return CustodianRun(
                done.returncode, json.loads(matched.read_text()) if matched.exists() else [], done.stdout + done.stderr
            )

    @property
    def account(self) -> Account:
        """The account in which it runs."""
        return self.simulator.account


@contextmanager
def custodian(fleet: Callable[[int], Fleet]) -> Iterator[Custodian]:
    """Run Custodian in an account whose time starts now, because Custodian uses the system clock."""
    with Simulator(fleet(int(time.time()) // 60 * 60), clock=Clock(SPEED)) as simulator:
        extra_apis = ExtraAwsApis(simulator.account)
        with extra_apis.served() as url:
            services = ("RESOURCE_GROUPS_TAGGING_API", "IAM", "SQS")
            environment = {
                "PATH": os.environ["PATH"],
                "AWS_ENDPOINT_URL": simulator.url,
                "AWS_ACCESS_KEY_ID": "simulated",
                "AWS_SECRET_ACCESS_KEY": "simulated",
                "AWS_DEFAULT_REGION": REGION,
                "AWS_EC2_METADATA_DISABLED": "true",
                **{f"AWS_ENDPOINT_URL_{service}": url for service in services},
            }
            yield Custodian(simulator, extra_apis, environment)


# -- Custodian's runs


def custodian_throttled(rate: Mapping[str, float]) -> ToolResult:
    """Find idle volumes while AWS limits each action to its `rate`, in calls per second."""
    with custodian(lambda now: volumes(now, IDLE_VOLUMES, BUSY_VOLUMES)) as there:
        idle = idle_in(there.account.fleet)
        for action, per_second in rate.items():
            there.simulator.faults.throttle(action, per_second=per_second)
        ran = there.run("idle-volumes")
    found = {one["VolumeId"] for one in ran.matched}
    found_all, fails = found == idle and not ran.status, ran.status != 0
    warnings = ran.output.count("CW Retrieval error")
    return ToolResult(
        asked="`custodian run idle-volumes.yml`",
        before=f"{len(idle)} idle volumes",
        after=f"{len(found)} of {len(idle)} found; in its log, {warnings} warnings of batches that were lost",
        status=str(ran.status),
        verdict="finds them all"
        if found_all
        else "fails"
        if fails
        else f"reports {len(found)} of {len(idle)} as if these were all",
        right=found <= idle and (found_all or fails),
    )


def custodian_denied() -> ToolResult:
    """Delete idle file systems without the permission to do so."""
    with custodian(lambda now: file_systems(now, FILE_SYSTEMS)) as there:
        before = mounted(there.account)
        there.simulator.faults.deny(DELETE)
        ran = there.run("delete-idle-files")
        there.simulator.advance(3_600)
        after = mounted(there.account)
        calls = there.simulator.calls
    lost = len(halves(after))
    tried = calls.get(DELETE, 0)
    return ToolResult(
        asked="`custodian run delete-idle-files.yml`",
        before=files_words(before),
        after=f"{files_words(after)}; it tried to delete {tried} of them",
        status=f"{ran.status}: {'AccessDeniedException' if 'AccessDeniedException' in ran.output else 'not reported'}",
        verdict=f"{lost} file systems are left unmounted and undeleted" if lost else "leaves nothing half done",
        right=not lost,
    )


def custodian_tagged() -> ToolResult:
    """Tag volumes for deletion without a delay; then delete the tagged ones on the same day."""
    with custodian(lambda now: unattached(now, RESOURCES)) as there:
        before = volumes_left(there.account)
        tagging = there.run("mark-volumes")
        deletes = there.run("delete-marked-volumes")
        left = volumes_left(there.account)
    return ToolResult(
        asked="`custodian run mark-volumes.yml` without `days`; then `custodian run delete-marked-volumes.yml`",
        before=f"{before} volumes",
        after=f"{left} volumes on the same day",
        status=f"{tagging.status}, then {deletes.status}",
        verdict=f"deletes {before - left} of {before} with the next run" if left < before else "leaves them for later",
        right=left == before,
    )


def custodian_used() -> ToolResult:
    """Tag idle file systems for deletion in four days, use them, then delete the tagged ones."""
    with custodian(lambda now: file_systems(now, RESOURCES)) as there:
        tagging = there.run("mark-idle-files")
        before = mounted(there.account)
        marked = sum("maid_status" in one.tags for one in there.account.fleet.efs)
        for id_ in before:
            there.account.use(id_)
        asked_before = there.simulator.metrics_requested
        deletes = there.run("delete-marked-files")
        asked = there.simulator.metrics_requested - asked_before
        there.simulator.advance(3_600)
        after = mounted(there.account)
    gone = len(before) - len(after)
    return ToolResult(
        asked=(
            "`custodian run mark-idle-files.yml` with `days: 4`; then `custodian run delete-marked-files.yml`, four "
            "days on"
        ),
        before=f"{marked} marked file systems, all of them in use since",
        after=f"{files_words(after)}; {'metrics were' if asked else 'no metric was'} asked for again",
        status=f"{tagging.status}, then {deletes.status}",
        verdict=f"deletes {gone} of {len(before)} that are in use" if gone else "leaves what is in use",
        right=before == after,
    )


def custodian_notifies() -> ToolResult:
    """Notify Slack, up to the point where Custodian hands over to c7n-mailer."""
    with custodian(lambda now: unattached(now, RESOURCES)) as there:
        ran = there.run("notify")
        queued = [json.loads(zlib.decompress(base64.b64decode(one))) for one in there.extra_apis.messages]
    to = ", ".join(f"`{address}`" for one in queued for address in one["action"]["to"])
    return ToolResult(
        asked="`custodian run notify.yml`",
        before=f"{RESOURCES} volumes to report",
        after=f"{len(queued)} message in the queue, for {to}; Slack received nothing",
        status=str(ran.status),
        verdict="not run to the end: c7n-mailer sends the message, and [its code loses the message](#what-was-not-run)",
        right=None,
    )


# -- All comparisons


def compare_all(home: Path, report_progress: Callable[[str], None]) -> Iterator[Comparison]:
    """Yield every comparison, in the order of the faults."""
    for title, situation, rate in (
        (
            "Throttled to two calls a second",
            (
                f"{IDLE_VOLUMES + BUSY_VOLUMES} attached volumes, {IDLE_VOLUMES} of them without an operation for 14 "
                "days; AWS answers two calls a second."
            ),
            TWO_A_SECOND,
        ),
        ("CloudWatch refuses every call", "The same volumes; CloudWatch throttles whatever it is asked.", NONE_AT_ALL),
    ):
        report_progress(title)
        with Simulator(volumes(int(time.time()) // 60 * 60, IDLE_VOLUMES, BUSY_VOLUMES)) as simulator:
            ours = throttled(home, simulator, rate)
        yield Comparison(fault=1, title=title, situation=situation, theirs=custodian_throttled(rate), ours=ours)
    report_progress("One denied permission")
    theirs = custodian_denied()
    for title, situation, foreseen in (
        (
            "One denied permission",
            (
                f"{FILE_SYSTEMS} idle file systems, each with three mount targets, are to be deleted by a role that "
                f"lacks `{DELETE}`."
            ),
            True,
        ),
        (
            "One denied permission that IAM's policy simulation misses",
            "The same, but AWS denies only the call that deletes.",
            False,
        ),
    ):
        report_progress(title)
        yield Comparison(
            fault=2, title=title, situation=situation, theirs=theirs, ours=denied(FILE_SYSTEMS, foreseen=foreseen)
        )
    report_progress("A deletion tag without a delay")
    yield Comparison(
        fault=3,
        title="A deletion tag without a delay",
        situation=f"{RESOURCES} unattached volumes are tagged for deletion, without a delay.",
        theirs=custodian_tagged(),
        ours=tagged_without_days(home, RESOURCES),
    )
    report_progress("In use since it was tagged")
    yield Comparison(
        fault=4,
        title="In use since it was tagged",
        situation=(
            f"{RESOURCES} idle file systems are tagged for deletion. Then clients use them, and the grace period ends."
        ),
        theirs=custodian_used(),
        ours=used_since(RESOURCES),
    )
    report_progress("Slack refuses a message")
    theirs = custodian_notifies()
    for title, situation, fault in (
        (
            "Slack answers 429",
            "Slack answers the first try with 429 and `Retry-After: 30`.",
            Fault("busy", retry_after_s=30),
        ),
        (
            "Slack answers `ok: false`",
            "Slack answers the first try with `ok: false` and `internal_error`, and has posted nothing.",
            Fault("refused", error="internal_error"),
        ),
    ):
        report_progress(title)
        yield Comparison(fault=5, title=title, situation=situation, theirs=theirs, ours=refused_by_slack(fault))


def verdict(result: ToolResult) -> str:
    """Return the verdict in Markdown, such as `**right**: finds them all`."""
    if result.right is None:
        return result.verdict
    return f"**{'right' if result.right else 'wrong'}**: {result.verdict}"


def page(comparisons: list[Comparison], version: str) -> str:
    """Return the summary, then every comparison, in Markdown. `version` is Custodian's."""
    text = f"| | Situation | Cloud Custodian {version} | Slackwater |\n|-|-|-|-|\n"
    for comparison in comparisons:
        text += (
            f"| {comparison.fault} | {comparison.title} | {verdict(comparison.theirs)} | {verdict(comparison.ours)} |\n"
        )
    for comparison in comparisons:
        text += f"\n### {comparison.fault}. {comparison.title}\n\n{comparison.situation}\n\n"
        text += f"| | Cloud Custodian {version} | Slackwater |\n|-|-|-|\n"
        for name, pick in ROWS.items():
            text += f"| {name} | {pick(comparison.theirs)} | {pick(comparison.ours)} |\n"
    return text


ROWS: Final[Mapping[str, Callable[[ToolResult], str]]] = {
    "Asked": lambda result: result.asked,
    "Before": lambda result: result.before,
    "After": lambda result: result.after,
    "Exit status": lambda result: result.status,
    "Verdict": verdict,
}


def main() -> None:
    """Run the comparisons, print them, and write them to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="a file with markers")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        comparisons = list(compare_all(Path(home), lambda title: print(title, file=sys.stderr)))
    text = page(comparisons, subprocess.check_output([str(CUSTODIAN), "version"], text=True).strip())
    sys.stdout.write(text)
    if options.write:
        write_between(options.write, BEGIN, END, text)
    if any(comparison.ours.right is not True for comparison in comparisons):
        raise SystemExit("Error: Slackwater handled a fault wrongly. See its column in the output.")


if __name__ == "__main__":
    main()
