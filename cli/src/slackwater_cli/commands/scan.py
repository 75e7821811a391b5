"""`slackwater scan`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from datetime import timedelta
from enum import StrEnum
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from slackwater.model.nearest import unknown
from slackwater_cli.dates import parse_time
from slackwater_cli.exits import ExitStatus, UsageError
from slackwater_cli.options import (
    STANDARD_OUTPUT,
    DetailsOption,
    ExternalIdOption,
    PolicyOption,
    ProfileOption,
    ResourceOption,
    RoleOption,
    Severity,
    as_typed,
    check_resource,
    check_role,
    one_of,
    policy_file,
)
from slackwater_cli.output import output_file
from slackwater_cli.streams import note, rendered, write
from slackwater_cli.targets import regions_without_asking, targets_to_scan

if TYPE_CHECKING:
    from rich.console import Console

    from slackwater.app.audit.document_file import ScanFile
    from slackwater.views.scan.document import ScanDocument


TOP: Final = 20
HOW_SHOWN: Final = ("format", "top", "details", "resource", "output", "record")
"""Options that the hints at the end leave out, because they add their own."""


class Format(StrEnum):
    """Output formats of a scan."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    HTML = "html"
    MARKDOWN = "markdown"


def scan(
    context: typer.Context,
    region: Annotated[list[str] | None, typer.Option(metavar="R", help="Scan this region; may be repeated.")] = None,
    all_regions: Annotated[bool, typer.Option("--all-regions", help="Scan every region that is enabled.")] = False,
    detector: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Run only this detector; may be repeated.")
    ] = None,
    policy: PolicyOption = None,
    now: Annotated[
        str | None, typer.Option(metavar="RFC3339", help="Evaluate as of this time, such as 2026-11-16T09:00:00Z.")
    ] = None,
    format: Annotated[
        Format, typer.Option(parser=one_of("--format", Format), metavar="|".join(Format), help="Output format.")
    ] = Format.TABLE,
    top: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help=f"Findings to show in the table (default {TOP}; 0 shows all).",
        ),
    ] = None,
    details: DetailsOption = False,
    resource: ResourceOption = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file; - is standard output.")
    ] = None,
    fail_on: Annotated[
        Severity | None,
        typer.Option(
            parser=one_of("--fail-on", Severity),
            metavar="|".join(Severity),
            help="Exit with status 1 if a finding is at least as severe.",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Record what the scan reads to this file, without names, to replay it later."
        ),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Scan a recording instead of an account, without calling AWS."),
    ] = None,
    profile: ProfileOption = None,
    role_arn: RoleOption = None,
    external_id: ExternalIdOption = None,
) -> None:
    """Scan an account for waste and throttling. Only reads.

    \b
    Exit status:
    0 complete
    1 complete, and --fail-on was met
    2 wrong usage or policy
    3 incomplete: something required could not be read
    4 no credentials, or nothing reachable
    70 an internal error
    130 interrupted by Ctrl-C; 143 by SIGTERM
    """  # noqa: D301 -- the mark that keeps the lines apart
    from slackwater.app.audit.document_file import ScanFile
    from slackwater.app.policy.file import load_policy
    from slackwater.aws.client.meter import CallMeter
    from slackwater.aws.client.session import TERMINAL_RETRIES, AwsSession
    from slackwater.engine.registry import registry
    from slackwater.wiring.scan import clock
    from slackwater.wiring.settings import cache_dir
    from slackwater_cli.run import one_folder, scan_into

    _check_output(output, format, top, details=details, resource=resource)
    check_role(role_arn, external_id)
    if replay is not None:
        only_of_an_account = {
            "--all-regions": all_regions, "--now": now, "--record": record, "--profile": profile, "--role-arn": role_arn
        }  # fmt: skip
        if wrong := [option for option, given in only_of_an_account.items() if given]:
            raise UsageError(f"{wrong[0]} does not go with --replay, which asks no account; leave it out")
    as_of = clock() if now is None else parse_time(now, "--now")
    if as_of > clock() + timedelta(days=1):
        note(
            f"--now {now} lies in the future, where nothing has been measured yet: ages are too high, and much is "
            "unknown"
        )
    file = None if output in (None, STANDARD_OUTPUT) else Path(output)
    with output_file(file) if file else nullcontext(write) as deliver, one_folder(), ScanFile() as scan_file:
        if replay is not None:
            _replay(scan_file, replay, policy, detector or [], region or [])
        else:
            path = policy_file(policy)
            rules = load_policy(path, registry(), detector or (), regions_without_asking())
            meter = CallMeter()
            home = next(iter(region or rules.scan.regions), None)
            session = AwsSession(profile, role_arn, external_id, meter=meter, home=home, retries=TERMINAL_RETRIES)
            targets = targets_to_scan(session, region or [], rules, path, every=all_regions)
            if targets and rules.organization.names_any:
                looked_at = f"this looks at account {targets[0].account} alone"
                note(f"The policy's [organization] is for the deployed service: {looked_at}.")
            kept = cache_dir(os.environ)
            scan_into(
                session, meter, scan_file, policy=rules, targets=targets, now=as_of, cache_dir=kept, record=record
            )
            if record is not None:
                note(f"Recorded in {record}; `slackwater recording show {record}` lists every string in it")
        shown = TOP if top is None else top
        command = as_typed(context, without=HOW_SHOWN)
        draw = partial(_draw, scan_file, resource=resource, top=shown, details=details, command=command)
        deliver(_shown(scan_file, format, draw, to_terminal=file is None))
        doc = scan_file.document()
        if file or format is not Format.TABLE:
            _say_what_was_found(doc)
        ended = status(doc, fail_on)
    raise typer.Exit(ended)


def _check_output(output: str | None, format: Format, top: int | None, *, details: bool, resource: str | None) -> None:
    """Check that the options about the output go together.

    Raises:
        UsageError: Two of them conflict.
    """
    if output == "":
        raise UsageError(f"--output: names no file; {STANDARD_OUTPUT} is standard output")
    if top is not None and format is not Format.TABLE:
        raise UsageError("--top goes with --format table; the others have everything")
    if details and format is not Format.TABLE:
        raise UsageError("--details goes with --format table; the other formats have every detail")
    check_resource(resource, top, details=details)
    if resource is not None and format is not Format.TABLE:
        raise UsageError("--resource goes with --format table; the other formats have every finding")


def _replay(scan_file: ScanFile, path: Path, policy: Path | None, detectors: list[str], regions: list[str]) -> None:
    """Scan a recording, with the recorded policy unless another is named.

    Raises:
        RecordingError: The file is not a recording, or not one of this version.
        UsageError: The recording does not have a named region.
    """
    from slackwater.app.policy.file import load_policy
    from slackwater.app.recording.replay import Recording
    from slackwater.engine.registry import registry
    from slackwater.wiring.recording import replaying
    from slackwater_cli.run import audit_into

    recording = Recording.read(path)
    if policy is not None:
        rules = load_policy(policy_file(policy), registry(), detectors, regions_without_asking())
    else:
        rules = recording.policy_as_recorded(registry())
        if detectors:
            chosen = load_policy(None, registry(), detectors).limits
            rules = dataclasses.replace(rules, limits={id_: rules.limits.get(id_, one) for id_, one in chosen.items()})
    recorded_regions = sorted({target.region for target in recording.targets})
    for problem in unknown("region", regions, recorded_regions, f"recorded: {', '.join(recorded_regions)}"):
        raise UsageError(f"--region: {problem}")
    targets = [target for target in recording.targets if not regions or target.region in regions]
    audit_into(
        scan_file, lambda on_progress: replaying(recording, registry(), rules, on_progress), targets, recording.now
    )


def status(doc: ScanDocument, fail_on: Severity | None) -> ExitStatus:
    """Return the exit status for a scan. Its findings must be ranked, the most severe first."""
    from slackwater.model.rank import SEVERITIES
    from slackwater.views.text.words import all_disabled

    if all_disabled(doc) or not doc["scan"]["complete"]:
        return ExitStatus.INCOMPLETE
    severe_enough = SEVERITIES[: SEVERITIES.index(fail_on.value) + 1] if fail_on else ()
    met = any(finding["severity"] in severe_enough for finding in islice(doc["findings"], 1))
    return ExitStatus.FAIL_ON_MET if met else ExitStatus.COMPLETE


def _shown(
    scan_file: ScanFile, format: Format, draw: Callable[[Console], None], *, to_terminal: bool
) -> str | Iterable[str]:
    """Return the scan in a format: all findings for programs, in pieces, and the most severe ones for people.

    `draw` draws the table.
    """
    from slackwater.views.report import REPORT_FINDINGS, render_report
    from slackwater.views.scan import to_csv as scan_csv
    from slackwater.views.scan import to_markdown as scan_markdown

    match format:
        case Format.JSON:
            return scan_file.chunks()
        case Format.CSV:
            return scan_csv.lines(scan_file.findings())
        case Format.HTML:
            return render_report(scan_file.document(REPORT_FINDINGS))
        case Format.MARKDOWN:
            return scan_markdown.render_document(scan_file.document(REPORT_FINDINGS))
        case _:
            return rendered(draw, to_terminal=to_terminal)


def _draw(
    scan_file: ScanFile, console: Console, *, resource: str | None, top: int, details: bool, command: str
) -> None:
    from slackwater.views.report import REPORT_FINDINGS
    from slackwater_cli.table import draw_resource, draw_scan

    if resource is None:
        draw_scan(scan_file.document(REPORT_FINDINGS), console, top=top, details=details, command=command)
    else:
        draw_resource(scan_file.document(), console, name=resource, command=command)


def _say_what_was_found(doc: ScanDocument) -> None:
    """Summarize the scan on standard error if its result goes to a program or a file.

    With `--quiet`, only the headline of an incomplete scan is written.
    """
    from slackwater.views.text.words import completeness, facts, gap_sentences, gaps_title, headline

    note(headline(doc), always=status(doc, None) is ExitStatus.INCOMPLETE)
    for sentence in (completeness(doc), *facts(doc)):
        note(sentence)
    if gaps := gap_sentences(doc):
        note(f"{gaps_title(doc)}:")
        for gap in gaps:
            note(f"  {gap}")
