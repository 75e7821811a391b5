"""`slackwater demo`."""

from functools import partial
from pathlib import Path
from textwrap import indent
from typing import Annotated, Final

import typer

from slackwater_cli.exits import ExitStatus, UsageError
from slackwater_cli.options import DetailsOption, ResourceOption, as_typed, check_resource
from slackwater_cli.output import output_file
from slackwater_cli.streams import note, rendered, write

POLICY: Final = """\
[detectors.efs-abandoned]
tag = "Job=transcode-nightly"    # the file systems that this company's jobs make, one each
"""
NOTICE: Final = "A SIMULATED account, made for slackwater demo: nothing below is real."
"""Notice above the report and the messages, because people may pass both on."""
DUMMY_KEYS: Final = ("AKIASIMULATED0000000", "simulated")


def demo(
    context: typer.Context,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Folder for findings.json, report.html and slack.json."),
    ] = Path("demo-output"),
    top: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Findings to show (default 20, all with --details; 0 shows all)."),
    ] = None,
    details: DetailsOption = False,
    resource: ResourceOption = None,
) -> None:
    """Scan a simulated account. Touches no AWS account.

    \b
    Exit status:
    0 the scan found every simulated issue, and flagged no healthy resource
    1 it missed an issue, or flagged a healthy resource
    3 incomplete
    """  # noqa: D301 -- the mark that keeps the lines apart
    check_resource(resource, top, details=details)
    write("A SIMULATED account on this machine: nothing below is real.\n")
    from slackwater.app.policy.file import parse_policy
    from slackwater.aws.client.meter import CallMeter
    from slackwater.aws.client.session import AwsSession, Endpoint
    from slackwater.engine.registry import registry
    from slackwater.model.resources import Target
    from slackwater.views.report import render_report
    from slackwater.views.scan import to_json as scan_json
    from slackwater_cli import demo_slack
    from slackwater_cli.run import run_scan
    from slackwater_cli.simulated import simulated_account
    from slackwater_cli.table import TOP, draw_resource, draw_scan
    from slackwater_cli.verdicts import compared, draw_comparisons

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--output {output}: cannot be made: {error.strerror}") from error
    with (
        output_file(output / "findings.json") as deliver,
        output_file(output / "report.html") as deliver_report,
        output_file(output / "slack.json") as deliver_slack,
        simulated_account() as account,
    ):
        if details:
            write(f"\nIts policy:\n\n{indent(POLICY, '    ')}\n")
        meter = CallMeter()
        session = AwsSession(meter=meter, endpoint=Endpoint(account.url, *DUMMY_KEYS))
        policy = parse_policy(POLICY, "the demo's policy", registry())
        targets = [Target(account.account, region) for region in account.regions]
        # No cache: later scans must not use simulated prices.
        done = run_scan(session, meter, policy=policy, targets=targets, now=account.now, cache_dir=None)
        doc = scan_json.document(done)
        comparisons = compared(account.planted(), doc, registry())
        deliver(scan_json.dump(doc))
        deliver_report(render_report(doc, notice=NOTICE))
        deliver_slack(scan_json.dump(demo_slack.messages(doc, account.now, NOTICE)))
    shown = (0 if details else TOP) if top is None else top
    command = as_typed(context, without=("top", "details", "resource"))
    agrees = all(one.agrees for one in comparisons)
    if resource is not None:
        write(rendered(partial(draw_resource, doc, name=resource, command=command)))
    else:
        write(rendered(partial(draw_scan, doc, top=shown, details=details, command=command)))
    if resource is None or not agrees:
        write(rendered(partial(draw_comparisons, comparisons, details=details and not shown)))
    note(f"Wrote {output}: report.html (open it in a browser), findings.json, slack.json")
    if not done.complete:
        raise typer.Exit(ExitStatus.INCOMPLETE)
    raise typer.Exit(ExitStatus.COMPLETE if agrees else ExitStatus.FAIL_ON_MET)
