"""`slackwater audits`."""

from __future__ import annotations

import re
import time
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from slackwater.model.listing import PAGE
from slackwater_cli.deployment import Deployment, deployment
from slackwater_cli.exits import ExitStatus, UsageError
from slackwater_cli.listing import first_items
from slackwater_cli.options import LISTED, STACK, FormatOption, Output, ProfileOption, StackOption, StackRegionOption
from slackwater_cli.stopping import Stopped
from slackwater_cli.streams import WIDEST_LIST, note, rendered, write
from slackwater_cli.targets import refuse_unknown

if TYPE_CHECKING:
    from slackwater.app.audit.audits import Audits
    from slackwater.views.api.document import AuditDetailDocument

POLL_S: Final = 5
TO_END_S: Final = 12 * 3_600
"""Seconds within which every region ends, with all retries. An audit that has not ended by then was stopped."""
TO_BEGIN_S: Final = 300
"""Seconds within which the first state stores the audit. If it does not, the state machine has raised an alarm."""
STATUS: Final = {
    "complete": ExitStatus.COMPLETE,
    "incomplete": ExitStatus.INCOMPLETE,
    "failed": ExitStatus.INCOMPLETE,
}

app = typer.Typer(rich_markup_mode=None, help="Start and show audits of the deployed service.", no_args_is_help=True)


@app.command()
def start(
    region: Annotated[list[str] | None, typer.Option(metavar="R", help="Audit this region; may be repeated.")] = None,
    detector: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Run only this detector; may be repeated.")
    ] = None,
    account: Annotated[
        list[str] | None,
        typer.Option(metavar="N", help="Audit this account of the policy; may be repeated."),
    ] = None,
    retry_of: Annotated[
        str | None,
        typer.Option(
            "--retry-of",
            metavar="AUDIT",
            help="Audit again what that audit could not read completely.",
        ),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until it ends, for at most twelve hours, and show it.")
    ] = False,
    format: FormatOption = Output.TABLE,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Start an audit and print its id. By default, it covers the policy's accounts, regions and detectors.

    \b
    Exit status with --wait:
    0 complete
    3 incomplete, failed, or not to be seen to begin or to end
    """  # noqa: D301 -- the mark that keeps the lines apart
    from slackwater.app.policy.authority import check_auditor
    from slackwater.aws.client.identity import identity
    from slackwater.aws.client.regions import known_regions
    from slackwater.model.audits import AuditRequest
    from slackwater.model.policy import ACCOUNT
    from slackwater.views.scan.to_json import dump
    from slackwater_cli.progress import waiting

    if retry_of and (region or detector or account):
        raise UsageError(
            "--retry-of uses that audit's accounts, regions and detectors; leave out --account, --region, --detector"
        )
    if wrong := [one for one in account or () if not re.fullmatch(ACCOUNT, one)]:
        raise UsageError(f"--account {wrong[0]!r}: an account's id has twelve digits")
    there = deployment(stack, stack_region, profile)
    refuse_unknown("--region", region or [], known_regions(there.session))
    audits, who = _audits(there), identity(there.session).arn
    check_auditor(who, audits.policy)
    request = AuditRequest(
        requested_by=who,
        regions=tuple(region or ()),
        detectors=tuple(detector or ()),
        accounts=tuple(account or ()),
        retry_of=retry_of,
    )
    id_ = audits.start(request)
    if not wait:
        write(dump({"id": id_}) if format is Output.JSON else f"{id_}\n")
        note(f"The audit has started. `slackwater audits show {id_}` shows its state.")
        return
    note(f"Audit {id_} is on its way.")
    try:
        with waiting("Auditing"):
            ended = _ended(audits, id_)
    except Stopped as stopped:
        stopped.written = f"the audit continues; `slackwater audits show {id_}` shows its state"
        raise
    _write(ended, format)
    raise typer.Exit(STATUS[ended["state"]])


@app.command("list", epilog=LISTED)
def list_(
    limit: Annotated[int, typer.Option(metavar="N", min=0, help="Show at most N; 0 shows all.")] = PAGE,
    format: FormatOption = Output.TABLE,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """List audits, the newest first, and the money left for today."""
    from slackwater.views.api import to_json as service_json
    from slackwater.views.scan.to_json import dump
    from slackwater_cli.audits_table import draw_audits

    audits = _audits(deployment(stack, stack_region, profile))
    found, left = first_items(limit, audits.listed), audits.allowance()
    shown, more = [service_json.audit(record) for record in found.items], found.cursor is not None
    if format is Output.JSON:
        write(dump({"audits": shown, "more": more, "allowance": left and service_json.allowance(left)}))
    else:
        write(rendered(partial(draw_audits, shown, left, more=more), widest=WIDEST_LIST))


@app.command()
def show(
    id: Annotated[str, typer.Argument(metavar="ID", help="The audit's id, as the list shows it.")],
    format: FormatOption = Output.TABLE,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Show an audit: its result, and what it could not read."""
    _write(_audits(deployment(stack, stack_region, profile)).shown(id), format)


@app.command()
def report(
    format: FormatOption = Output.TABLE,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Print a link to the newest report. Anyone who has it can open the report, for 15 minutes."""
    from slackwater.views.scan.to_json import dump

    found = _audits(deployment(stack, stack_region, profile)).latest_report()
    write(dump(found) if format is Output.JSON else f"{found['url']}\n")


def _audits(there: Deployment) -> Audits:
    from slackwater.wiring.service import serving

    return serving(there.deployed, there.session).audits


def _write(audit: AuditDetailDocument, format: Output) -> None:
    from slackwater.views.scan.to_json import dump
    from slackwater_cli.audits_table import draw_audit

    write(dump(audit) if format is Output.JSON else rendered(partial(draw_audit, audit)))


def _ended(audits: Audits, id_: str) -> AuditDetailDocument:
    """Wait until the audit has ended, and return it.

    Raises:
        typer.Exit: The audit does not start or end in time.
    """
    from slackwater.app.findings.findings import NotFoundError

    waited_s = 0
    while True:
        try:
            if (audit := audits.shown(id_))["state"] != "running":
                return audit
        except NotFoundError as error:
            if waited_s >= TO_BEGIN_S:
                note(f"Audit {id_} has not begun after {waited_s} seconds: its execution in Step Functions shows why")
                raise typer.Exit(ExitStatus.INCOMPLETE) from error
        if waited_s >= TO_END_S:
            note(
                f"Audit {id_} has not ended after {TO_END_S // 3_600} hours: its execution in Step Functions shows why"
            )
            raise typer.Exit(ExitStatus.INCOMPLETE)
        time.sleep(POLL_S)
        waited_s += POLL_S
