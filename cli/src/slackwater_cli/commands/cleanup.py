"""`slackwater cleanup`."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from slackwater.model.listing import PAGE
from slackwater_cli.dates import minute
from slackwater_cli.deployment import Deployment, deployment
from slackwater_cli.exits import ExitStatus, UsageError
from slackwater_cli.listing import first_items
from slackwater_cli.options import LISTED, STACK, FormatOption, Output, ProfileOption, StackOption, StackRegionOption
from slackwater_cli.streams import WIDEST_LIST, note, rendered, write
from slackwater_cli.targets import refuse_unknown

if TYPE_CHECKING:
    from slackwater.app.cleanup.cleanups import Cleanups
    from slackwater.views.cleanup.document import CandidateDocument, SaidDocument
    from slackwater.wiring.service import Serving

RUN: Final = """\b
Exit status:
0 done, or nothing to do
2 nothing started: wrong usage, no such finding, over the cap, or not enabled
3 some did not start, or AWS did not confirm it
4 no credentials, not allowed by AWS or by the policy, or nothing reachable
"""
BACKUPS: Final = """\b
Exit status:
0 all listed
2 wrong usage
3 some could not be listed
4 no credentials, not allowed, or nothing reachable
"""
DECIDED: Final = """\b
Exit status:
0 done, now or before
2 wrong usage, no such finding or clean-up, or its state does not allow it
4 no credentials, not allowed by AWS or by the policy, or nothing reachable
"""

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The finding's id.")]
IdsArgument = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Only these findings.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
RegionsOption = Annotated[
    list[str] | None, typer.Option("--region", metavar="R", help="Only this region; repeatable.", show_default=False)
]
WhyOption = Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason; it is stored with the clean-up.")]

app = typer.Typer(
    rich_markup_mode=None,
    help="Approve, run, stop and undo clean-ups.",
    no_args_is_help=True,
)


@app.command(epilog=LISTED)
def plan(
    ids: IdsArgument = None,
    format: FormatOption = Output.TABLE,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Show what `slackwater cleanup run` would start now. Starts nothing."""
    from slackwater.app.cleanup import responses
    from slackwater.views.scan.to_json import dump
    from slackwater.wiring.scan import clock
    from slackwater_cli.cleanup_table import draw_plan

    plan = responses.plan(_cleanups(deployment(stack, stack_region, profile)).plan(ids or None, now=clock()))
    write(dump(plan) if format is Output.JSON else rendered(partial(draw_plan, plan), widest=WIDEST_LIST))


@app.command(epilog=DECIDED)
def approve(
    id: IdArgument,
    yes: YesOption = False,
    format: FormatOption = Output.TABLE,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Approve the clean-up of a finding, and start it."""
    from slackwater.app.cleanup import responses
    from slackwater.app.cleanup.cleanups import ENABLE
    from slackwater.views.api import to_json as service_json
    from slackwater.views.cleanup import to_json as cleanup_json
    from slackwater.views.cleanup.words import NOTHING_STARTED
    from slackwater.views.scan.to_json import dump
    from slackwater.wiring.scan import clock
    from slackwater_cli.findings_table import state

    there = deployment(stack, stack_region, profile)
    cleanups = _cleanups(there)
    cleanups = replace(cleanups, policy=cache(cleanups.policy))  # the same policy for what is shown and what happens
    (seen,) = responses.plan(cleanups.plan([id], now=clock()))["candidates"]
    if not yes:
        _ask(seen)
    approved = cleanups.approve(id, who=_who(there), fingerprint=seen["fingerprint"], now=clock())
    if format is Output.JSON:
        write(dump(responses.approved(approved)))
        return
    write(f"{id}: {state(service_json.tracked_finding(approved.finding))}\n")
    if approved.candidate is None:
        note(f"No clean-up started: {ENABLE}.")
        return
    came = cleanup_json.candidate(approved.candidate)
    then = "deletes" if came["does"] == "delete" else "changes"
    after = f", and {then} it after {minute(came['acts_after'])} UTC" if came["acts_after"] else ""
    if came["state"] == "begun":
        note(f"The clean-up has started. It tags the resource{after}. To follow it: `slackwater cleanup status {id}`.")
    else:
        state_words = {"under-way": "Already running", "failed": "Approved"}.get(
            came["state"], "Approved, but not started"
        )
        note(f"{state_words}: {came['why'].removeprefix(NOTHING_STARTED)}.")


@app.command(epilog=RUN)
def run(
    ids: IdsArgument = None,
    yes: YesOption = False,
    format: FormatOption = Output.TABLE,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Start all clean-ups that are approved or need no approval. Above the policy's cap, start none.

    At a terminal, it asks before it starts more than one. Elsewhere, it starts them without asking.
    """
    from slackwater.app.cleanup import responses
    from slackwater.views.scan.to_json import dump
    from slackwater.wiring.scan import clock
    from slackwater_cli.cleanup_table import draw_run

    there = deployment(stack, stack_region, profile)
    cleanups = _cleanups(there)
    seen = None if yes or not sys.stdin.isatty() else _ask_of_all(cleanups, ids)
    came = responses.run(cleanups.run(seen or ids or None, who=_who(there), now=clock()))
    write(dump(came) if format is Output.JSON else rendered(partial(draw_run, came["candidates"]), widest=WIDEST_LIST))
    amiss = {"failed", "refused"} if ids else {"failed"}
    if any(one["state"] in amiss for one in came["candidates"]):
        raise typer.Exit(ExitStatus.INCOMPLETE)


@app.command(epilog=LISTED)
def status(
    id: Annotated[str | None, typer.Argument(metavar="[ID]", help="The finding's id. Without it, lists all.")] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=0, help="List at most N; 0 lists all.")] = PAGE,
    format: FormatOption = Output.TABLE,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """List clean-ups, or show the history of one.

    The list is newest first and shows expected and actual savings.
    """
    from slackwater.app.cleanup import responses
    from slackwater.views.scan.to_json import dump
    from slackwater.wiring.scan import clock
    from slackwater_cli.cleanup_table import draw_cleanup, draw_cleanups

    cleanups, now = _cleanups(deployment(stack, stack_region, profile)), clock()
    if id is not None:
        detail = responses.cleanup_detail(cleanups.shown(id, now=now), now)
        write(dump(detail) if format is Output.JSON else rendered(partial(draw_cleanup, detail)))
        return
    found = first_items(limit, cleanups.listed)
    page = responses.page(found, cleanups.totals(found, now), cleanups.control().stopped, now)
    if format is Output.JSON:
        shown = {name: value for name, value in page.items() if name != "cursor"}
        write(dump(shown | {"more": page["cursor"] is not None}))
    else:
        write(rendered(partial(draw_cleanups, page), widest=WIDEST_LIST))


@app.command(epilog=DECIDED)
def undo(
    id: IdArgument,
    why: WhyOption = "",
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Restore what a clean-up deleted, or the setting that it changed."""
    from slackwater.app.findings.findings import BadDecisionError
    from slackwater.wiring.scan import clock

    there = deployment(stack, stack_region, profile)
    try:
        undoing = _cleanups(there).undo(id, who=_who(there), why=why, now=clock())
    except BadDecisionError as error:
        raise UsageError(f"--{error.part}: {error.problem}") from error
    write(f"{id}: {undoing.stage}\n")
    note(f"The undo has started. It can take hours. To follow it: `slackwater cleanup status {id}`.")


@app.command(epilog=BACKUPS)
def backups(
    region: RegionsOption = None,
    format: FormatOption = Output.TABLE,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """List Slackwater's backups in the account.

    Shows what each costs and which installation made it.
    """
    from slackwater.app.cleanup import responses
    from slackwater.aws.client.regions import known_regions
    from slackwater.views.scan.to_json import dump
    from slackwater_cli.backups_table import draw_backups

    there = deployment(stack, stack_region, profile)
    refuse_unknown("--region", region or [], known_regions(there.session))
    found = responses.backups(_serving(there).backups().listed(region or []))
    write(dump(found) if format is Output.JSON else rendered(partial(draw_backups, found), widest=WIDEST_LIST))
    if not found["complete"]:
        raise typer.Exit(ExitStatus.INCOMPLETE)


@app.command(epilog=DECIDED)
def adopt(
    backup: Annotated[
        str, typer.Argument(metavar="BACKUP", help="The backup's id, as `slackwater cleanup backups` lists it.")
    ],
    why: Annotated[
        str, typer.Option("--why", metavar="TEXT", help="The reason; it is stored with the backup's record.")
    ],
    place: Annotated[
        list[str] | None,
        typer.Option(
            "--place",
            metavar="P",
            help="Zone of a volume, or subnet of an FSx file system; repeatable.",
            show_default=False,
        ),
    ] = None,
    region: RegionsOption = None,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Record another installation's backup, to restore it.

    Restores nothing yet. The sweeper never deletes this backup.
    """
    from slackwater.app.findings.findings import BadDecisionError
    from slackwater.aws.client.regions import known_regions
    from slackwater.model.cleanup import ActorNote
    from slackwater.wiring.scan import clock

    there = deployment(stack, stack_region, profile)
    refuse_unknown("--region", region or [], known_regions(there.session))
    there_are = _serving(there).backups()
    try:
        note_of_person = ActorNote(who=_who(there), why=why, at=clock())
        adopted = there_are.adopt(backup, note_of_person, places=place or [], regions=region or [])
    except BadDecisionError as error:
        raise UsageError(f"--{error.part.removesuffix('s')}: {error.problem}") from error
    write(f"{adopted.finding_id}: adopted\n")
    note(f"To restore from it: `slackwater cleanup undo {adopted.finding_id}`.")


@app.command(epilog=DECIDED)
def stop(
    id: Annotated[str | None, typer.Argument(metavar="[ID]", help="The finding's id.")] = None,
    all: Annotated[bool, typer.Option("--all", help="Stop every clean-up, and start no new ones.")] = False,
    lift: Annotated[bool, typer.Option("--lift", help="With --all: let clean-ups start again.")] = False,
    why: WhyOption = "",
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Stop one clean-up, or all.

    Slackwater then requests no more deletions. If the resource still exists, it restores deleted sub-resources.
    """
    from slackwater.app.cleanup import responses
    from slackwater.app.findings.findings import BadDecisionError
    from slackwater.views.cleanup.words import stage_words
    from slackwater.wiring.scan import clock

    if (id is None) != all:
        raise UsageError("Give an ID or --all")
    if lift and not all:
        raise UsageError("--lift needs --all. To resume one stopped clean-up, approve it again")
    there = deployment(stack, stack_region, profile)
    cleanups, who = _cleanups(there), _who(there)
    try:
        if id is not None:
            stopped = cleanups.stop(id, who=who, why=why, now=clock())
            write(f"{id}: {stage_words(stopped.stage)}, stop requested\n")
            note("Slackwater cancels it at its next step, within a day.")
        elif lift:
            before = cleanups.resume(who=who)
            write("Clean-ups can start again.\n")
            note(_lifted(responses.switch(before)["stopped"]))
        else:
            everything = cleanups.stop_all(who=who, why=why, now=clock())
            write(f"All clean-ups are stopped, since {everything.at:%Y-%m-%d %H:%M} UTC.\n")
            note(
                "Slackwater cancels each one at its next step. To allow clean-ups again: `slackwater cleanup stop "
                "--all --lift`."
            )
    except BadDecisionError as error:
        raise UsageError(f"--{error.part}: {error.problem}") from error


def _ask(seen: CandidateDocument) -> None:
    """Show what is to be approved, and ask the user.

    Raises:
        UsageError: There is no terminal to ask at, or the user declines.
    """
    from slackwater_cli.cleanup_table import deed, draw_approval

    if not sys.stdin.isatty():
        raise UsageError(
            "This needs a terminal, to ask for confirmation. Or check `slackwater cleanup plan ID`, and add --yes"
        )
    note(rendered(partial(draw_approval, seen), to_terminal=False).rstrip())
    note(f"Approve this clean-up ({deed(seen)})? [y/N]")
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise UsageError("Not approved.")


def _ask_of_all(cleanups: Cleanups, ids: list[str] | None) -> list[str] | None:
    """If more than one clean-up would start, show them and ask the user.

    Returns:
        The ids of the findings that were shown; None if the user was not asked.

    Raises:
        UsageError: The user declines.
    """
    from slackwater.app.cleanup import responses
    from slackwater.wiring.scan import clock
    from slackwater_cli.cleanup_table import draw_plan

    plan = responses.plan(cleanups.plan(ids or None, now=clock()))
    ready = [one for one in plan["candidates"] if one["state"] == "ready"]
    if len(ready) < 2 or plan["over_cap"] or plan["stopped"] or not plan["enabled"]:
        return None
    note(rendered(partial(draw_plan, plan), to_terminal=False).rstrip())
    note(f"Start these {len(ready)} clean-ups? [y/N]")
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise UsageError("No clean-up started.")
    return [one["finding_id"] for one in plan["candidates"]]


def _lifted(before: SaidDocument | None) -> str:
    if before is None:
        return "They were not stopped."
    return (
        f"{before['who']} stopped them at {minute(before['at'])} UTC. To start those that are approved: "
        "`slackwater cleanup run`."
    )


def _cleanups(there: Deployment) -> Cleanups:
    return _serving(there).cleanups


def _serving(there: Deployment) -> Serving:
    from slackwater.wiring.service import serving

    return serving(there.deployed, there.session, notify=False)


def _who(there: Deployment) -> str:
    from slackwater.aws.client.identity import identity

    return identity(there.session).arn
