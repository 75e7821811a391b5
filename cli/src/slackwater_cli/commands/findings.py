"""`slackwater findings`."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from slackwater.app.policy.names import LIST_DETECTORS
from slackwater.model.listing import FINDING_ORDERS, PAGE, FindingOrder, FindingQuery
from slackwater.model.nearest import unknown
from slackwater.model.tracking import LONGEST_SNOOZE, STATUSES, Status
from slackwater_cli.dates import parse_end
from slackwater_cli.deployment import Deployment, deployment
from slackwater_cli.exits import UsageError
from slackwater_cli.listing import first_items
from slackwater_cli.options import (
    DECIDED,
    LISTED,
    STACK,
    FormatOption,
    Output,
    ProfileOption,
    Severity,
    StackOption,
    StackRegionOption,
    one_of,
)
from slackwater_cli.streams import WIDEST_LIST, note, rendered, write
from slackwater_cli.targets import check_named_regions

if TYPE_CHECKING:
    from slackwater.app.findings.findings import Action, Findings

ACCOUNT: Final = re.compile("[0-9]{12}")

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The finding's id, as the list shows it.")]
WhyOption = Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason. It is stored permanently.")]
UntilOption = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="TIME",
        help="When it expires, in UTC: the end of a day (2026-12-01) or a time (2026-12-01T09:00:00Z).",
    ),
]

app = typer.Typer(
    rich_markup_mode=None, help="List the deployed service's findings, and decide about them.", no_args_is_help=True
)


@app.command("list", epilog=LISTED)
def list_(
    status: Annotated[
        Status,
        typer.Option(
            parser=one_of("--status", STATUSES), metavar="|".join(STATUSES), help="Only findings with this status."
        ),
    ] = "open",
    detector: Annotated[str | None, typer.Option(metavar="ID", help="Only findings of this detector.")] = None,
    account: Annotated[str | None, typer.Option(metavar="A", help="Only findings in this account.")] = None,
    region: Annotated[str | None, typer.Option(metavar="R", help="Only findings in this region.")] = None,
    severity: Annotated[
        Severity | None,
        typer.Option(
            parser=one_of("--severity", Severity), metavar="|".join(Severity), help="Only findings of this severity."
        ),
    ] = None,
    min_saving: Annotated[
        str | None, typer.Option(metavar="USD", help="Only findings that save at least this much a month.")
    ] = None,
    sort: Annotated[
        FindingOrder,
        typer.Option(
            parser=one_of("--sort", FINDING_ORDERS),
            metavar="ORDER",
            help=f"{', '.join(FINDING_ORDERS)}; a leading minus sorts the largest or newest first.",
        ),
    ] = "-monthly_savings_usd",
    limit: Annotated[int, typer.Option(metavar="N", min=0, help="Show at most N; 0 shows all.")] = PAGE,
    format: FormatOption = Output.TABLE,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """List findings, by default the open ones."""
    from slackwater.engine.registry import registry
    from slackwater.views.api import to_json as service_json
    from slackwater.views.scan.to_json import dump
    from slackwater_cli.findings_table import draw_findings

    if detector is not None and (problem := unknown("detector", [detector], registry(), LIST_DETECTORS)):
        raise UsageError(f"--detector: {problem[0]}")
    if account is not None and not ACCOUNT.fullmatch(account):
        raise UsageError(f"--account {account!r}: an account has twelve digits")
    query = FindingQuery(
        status=status,
        detector=detector,
        account=account,
        region=region,
        severity=severity.value if severity else None,
        minimum_monthly_savings_usd=None if min_saving is None else _usd(min_saving),
        order=sort,
    )
    there = deployment(stack, stack_region, profile)
    if region is not None:
        check_named_regions(there.session, [region])
    findings = _findings(there)
    found = first_items(limit, lambda size, cursor: findings.store.list(replace(query, limit=size, cursor=cursor)))
    shown, more = [service_json.tracked_finding(finding) for finding in found.items], found.cursor is not None
    if format is Output.JSON:
        write(dump({"findings": shown, "more": more}))
    else:
        filtered = query != FindingQuery(status=status, order=sort)
        write(rendered(partial(draw_findings, shown, status, more=more, filtered=filtered), widest=WIDEST_LIST))


@app.command()
def show(
    id: IdArgument,
    format: FormatOption = Output.TABLE,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Show a finding: its evidence, what to do, and its history."""
    from slackwater.views.api import to_json as service_json
    from slackwater.views.scan.to_json import dump
    from slackwater_cli.findings_table import draw_detail

    shown = _findings(deployment(stack, stack_region, profile)).shown(id)
    detail = service_json.finding_detail(shown.finding, shown.ledger, shown.evidence)
    write(dump(detail) if format is Output.JSON else rendered(partial(draw_detail, detail)))


@app.command(epilog=DECIDED)
def snooze(
    id: IdArgument,
    days: Annotated[
        int | None, typer.Option(metavar="N", min=1, help=f"For N days, at most {LONGEST_SNOOZE.days}.")
    ] = None,
    until: UntilOption = None,
    why: WhyOption = "",
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Snooze a finding. It reopens when the time is over, if the issue still exists."""
    from slackwater.wiring.scan import clock

    if (days is None) == (until is None):
        raise UsageError("Say for how long: either --days or --until")
    if days is not None and days > LONGEST_SNOOZE.days:
        raise UsageError(f"--days: at most {LONGEST_SNOOZE.days}")
    until_time = (
        (clock() + timedelta(days=days or 0)).replace(microsecond=0) if until is None else parse_end(until, "--until")
    )
    _decide(deployment(stack, stack_region, profile), id, "snooze", why, until_time)


@app.command(epilog=DECIDED)
def dismiss(
    id: IdArgument,
    why: WhyOption,
    until: UntilOption = None,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Dismiss a finding as intended: for good, or until a time."""
    until_time = None if until is None else parse_end(until, "--until")
    _decide(deployment(stack, stack_region, profile), id, "dismiss", why, until_time)


@app.command(epilog=DECIDED)
def reopen(
    id: IdArgument,
    why: WhyOption = "",
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Withdraw a decision, or retry a failed clean-up."""
    _decide(deployment(stack, stack_region, profile), id, "reopen", why, None)


def _decide(there: Deployment, id_: str, action: Action, why: str, until: datetime | None) -> None:
    from slackwater.app.findings.findings import BadDecisionError
    from slackwater.app.policy.authority import check_decider
    from slackwater.aws.client.identity import identity
    from slackwater.model.cleanup import ActorNote
    from slackwater.views.api import to_json as service_json
    from slackwater.wiring.scan import clock
    from slackwater.wiring.service import policies
    from slackwater_cli.findings_table import decision_text, state

    who, findings = identity(there.session).arn, _findings(there)
    check_decider(who, policies(there.deployed, there.session).current())
    before = findings.store.get(id_)
    try:
        decided = findings.decided(id_, action, ActorNote(who=who, why=why, at=clock()), until=until)
    except BadDecisionError as error:
        raise UsageError(f"--{error.part}: {error.problem}") from error
    write(f"{id_}: {state(service_json.tracked_finding(decided))}\n")
    if before and before.revision == decided.revision:
        note(f"The finding is already {decided.status}.")
    elif before and before.decision:
        note(f"Before: {decision_text(service_json.tracked_finding(before))}")


def _findings(there: Deployment) -> Findings:
    from slackwater.wiring.service import serving

    return serving(there.deployed, there.session).findings


def _usd(words: str) -> Decimal:
    try:
        usd = Decimal(words)
    except InvalidOperation:
        usd = Decimal("NaN")
    if not usd.is_finite() or usd < 0:
        raise UsageError(f"--min-saving {words!r}: must be an amount of US dollars, such as 5 or 12.50")
    return usd
