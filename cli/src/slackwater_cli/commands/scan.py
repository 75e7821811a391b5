"""`slackwater scan`."""

from __future__ import annotations

import os
import re
from contextlib import nullcontext
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from slackwater.app.policy import DEFAULT_POLICY, load_policy
from slackwater.app.settings import cache_dir
from slackwater.app.wiring import clock
from slackwater.aws.meter import CallMeter
from slackwater.aws.session import AwsSession
from slackwater.engine.registry import registry
from slackwater.model.findings import Scan
from slackwater.model.rank import SEVERITIES
from slackwater.views import scan_csv, scan_json, scan_markdown
from slackwater.views.words import completeness, facts, gaps_title, headline
from slackwater_cli.exits import ExitStatus, UsageError
from slackwater_cli.moment import moment
from slackwater_cli.output import output_file
from slackwater_cli.run import run_scan
from slackwater_cli.streams import note, rendered, write
from slackwater_cli.table import draw_scan
from slackwater_cli.targets import targets_to_scan


class Format(StrEnum):
    """How a scan is shown."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    HTML = "html"
    MARKDOWN = "markdown"
    SLACK = "slack"


class Severity(StrEnum):
    """A finding's severity, for --fail-on."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"


LATER: Final = (Format.HTML, Format.SLACK)
ROLE_ARN: Final = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/\S+")


def scan(
    region: Annotated[list[str] | None, typer.Option(metavar="R", help="Scan this region; may be repeated.")] = None,
    all_regions: Annotated[bool, typer.Option("--all-regions", help="Scan every region that is enabled.")] = False,
    detector: Annotated[list[str] | None, typer.Option(metavar="ID", help="Ask only this question; may be repeated.")] = None,
    policy: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"Policy file; ./{DEFAULT_POLICY} is taken if it is there.")
    ] = None,
    now: Annotated[
        str | None, typer.Option(metavar="RFC3339", help="Judge as of this time, such as 2026-11-16T09:00:00Z.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How to show it; html and slack come with a later release.")] = Format.TABLE,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", readable=False, help="Write there instead of to standard output.")
    ] = None,
    fail_on: Annotated[Severity | None, typer.Option(help="Leave with status 1 if a finding is at least as severe.")] = None,
    profile: Annotated[str | None, typer.Option(metavar="P", help="AWS profile.")] = None,
    role_arn: Annotated[str | None, typer.Option(metavar="ARN", help="Scan as this role.")] = None,
    external_id: Annotated[str | None, typer.Option(metavar="X", help="External id that the role asks for.")] = None,
) -> None:
    """Find storage that stands still and machines whose burst has run dry. Reads only.

    Exit status:

    0 complete
    1 complete, and --fail-on was met
    2 wrong usage or policy
    3 incomplete: something required could not be read
    4 no credentials, or nothing reachable
    70 an error of our own
    """
    if format in LATER:
        raise UsageError(f"--format {format} comes with a later release; there are table, json, csv and markdown")
    if external_id and not role_arn:
        raise UsageError("--external-id goes with --role-arn")
    if role_arn and not ROLE_ARN.fullmatch(role_arn):
        raise UsageError(f"--role-arn {role_arn!r}: a role's ARN looks like arn:aws:iam::123456789012:role/Name")
    as_of = moment(now) if now else clock()
    if policy is None and DEFAULT_POLICY.exists():
        policy = DEFAULT_POLICY
        note(f"Policy: ./{policy}")
    rules = load_policy(policy, registry(), detector or ())
    with output_file(output) if output else nullcontext(write) as deliver:
        meter = CallMeter()
        session = AwsSession(profile, role_arn, external_id, meter=meter)
        targets = targets_to_scan(session, region or [], rules, policy, every=all_regions)
        done = run_scan(session, meter, policy=rules, targets=targets, now=as_of, cache_dir=cache_dir(os.environ))
        deliver(_shown(done, format, to_terminal=output is None))
    if output or format is not Format.TABLE:
        _say_what_was_found(done)
    raise typer.Exit(status(done, fail_on))


def status(scan: Scan, fail_on: Severity | None) -> ExitStatus:
    """The exit status for a scan."""
    if not scan.complete:
        return ExitStatus.INCOMPLETE
    severe_enough = SEVERITIES[: SEVERITIES.index(fail_on.value) + 1] if fail_on else ()
    met = any(finding.severity in severe_enough for target in scan.targets for finding in target.findings)
    return ExitStatus.FAIL_ON_MET if met else ExitStatus.COMPLETE


def _shown(scan: Scan, format: Format, *, to_terminal: bool) -> str:
    match format:
        case Format.JSON:
            return scan_json.render(scan)
        case Format.CSV:
            return scan_csv.render(scan)
        case Format.MARKDOWN:
            return scan_markdown.render(scan)
        case _:
            return rendered(partial(draw_scan, scan_json.document(scan)), to_terminal=to_terminal)


def _say_what_was_found(scan: Scan) -> None:
    """The gist on standard error, where the result itself goes to a program or a file."""
    doc = scan_json.document(scan)
    for sentence in (headline(doc), completeness(doc), *facts(doc)):
        note(sentence)
    if gaps := doc["scan"]["gaps"]:
        note(f"{gaps_title(doc)}:")
        for gap in gaps:
            note(f"  {gap['region']}: {gap['what']}: {gap['reason']}")
