"""Draw clean-ups on a terminal."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from slackwater.model.cleanup import Stage
from slackwater.views.cleanup.document import (
    BackupDocument,
    CandidateDocument,
    CleanupDetailDocument,
    CleanupDocument,
    CleanupPageDocument,
    PlanDocument,
    SaidDocument,
)
from slackwater.views.cleanup.words import backup_words, event_words, stage_words
from slackwater.views.text.one_line import one_line
from slackwater.views.text.words import count
from slackwater_cli.dates import minute
from slackwater_cli.grid import draw_first_that_fits, grid_of

INDENT: Final = 4
STYLES: Final[dict[Stage, str]] = {
    "starting": "bold",
    "waiting": "bold",
    "working": "bold yellow",
    "done": "bold green",
    "called-off": "bold",
    "failed": "bold red",
    "undoing": "bold yellow",
    "undone": "bold",
}
UNKNOWN: Final = "unknown"
NOTHING_APPROVED: Final = (
    "No approved clean-ups. Approve a finding: `slackwater findings list`, then `slackwater cleanup approve ID`."
)


def draw_plan(plan: PlanDocument, console: Console) -> None:
    """Draw what a run would start, and why it would not start the rest. What blocks the whole run comes first."""
    ready = [one for one in plan["candidates"] if one["state"] == "ready"]
    new = [one for one in ready if not one["why"]]  # one with a reason was requested before
    earlier = len(ready) - len(new)
    starting = f" It would request {count(earlier, 'start')} again." if earlier else ""
    head = f"A run now would start {_number(new)}.{starting}" if plan["candidates"] else NOTHING_APPROVED
    console.print(Text(head, "bold"))
    for against in _against(plan):
        console.print(Text(one_line(against), "bold red"))
    _draw_candidates(plan["candidates"], console, good="Would start", bad="Would not start", first="ready")


def draw_run(candidates: Sequence[CandidateDocument], console: Console) -> None:
    """Draw what a run started, and why it did not start the rest."""
    started = [one for one in candidates if one["state"] == "begun"]
    console.print(Text(f"Started {_number(started)}." if candidates else NOTHING_APPROVED, "bold"))
    _draw_candidates(candidates, console, good="Started", bad="Not started", first="begun")


def draw_approval(one: CandidateDocument, console: Console) -> None:
    """Draw what the user is about to approve."""
    console.print(Text(f"{one_line(one['resource']['name'])}: {deed(one)}", "bold"))
    resource = one["resource"]
    facts = [
        ("Resource", f"{resource['id']} ({resource['type']}), {resource['region']} of {resource['account']}"),
        ("Found by", one["detector"]),
        ("Owner", one["owner"] or UNKNOWN),
        ("Not before", f"{minute(one['acts_after'])} UTC" if one["acts_after"] else UNKNOWN),
        ("Backup", _backup_words(one)),
        ("Expected saving", _saving_words(one)),
    ]
    _draw_facts(facts, console)


def deed(one: CandidateDocument | CleanupDocument) -> str:
    """Return what a clean-up does: `delete`, or `change to gp3, 3,000 IOPS`."""
    return "delete" if one["does"] == "delete" else f"change to {one['setting']}"


def draw_cleanups(page: CleanupPageDocument, console: Console) -> None:
    """Draw the totals, then one line for each clean-up, newest first."""
    if stopped := page["stopped"]:
        console.print(Text(one_line(_stopped(stopped)), "bold red"))
    cleanups = page["cleanups"]
    if not cleanups:
        console.print("No clean-ups yet. To see what a run would start: `slackwater cleanup plan`.")
        return
    totals, of = (page["totals"], "") if page["totals"] else (page, " of this page")
    number = page["totals"]["cleanups"] if page["totals"] else len(cleanups)
    unknown = f" ({totals['unknown']:,} unknown)" if totals["unknown"] else ""
    expected, actual = _usd(totals["promised_monthly_usd"]), _usd(totals["realised_monthly_usd"])
    sums = f"expected saving {expected}, actual saving {actual} USD a month{unknown}"
    newest = f"; {len(cleanups):,} shown" if len(cleanups) < number else ""
    console.print(Text(f"{count(number, 'clean-up')}{of}: {sums}{newest}", "bold"))
    console.print()
    draw_first_that_fits(console, _cleanups(cleanups, wide=True), _cleanups(cleanups, wide=False))
    if page["cursor"]:
        console.print()
        console.print(Text("There are older ones: --limit 0 shows all.", "bold"))


def draw_cleanup(one: CleanupDetailDocument, console: Console) -> None:
    """Draw everything that a clean-up did to a resource, and its savings."""
    head = Text.assemble(
        (f"{one_line(one['resource']['name'])}: {deed(one)}, ", "bold"),
        (stage_words(one["stage"]), STYLES[one["stage"]]),
    )
    console.print(head)
    if one["why"]:
        reason = "Reason: " if one["stage"] in {"called-off", "failed"} else ""
        console.print(_indented(Text(one_line(f"{reason}{one['why']}"))))
    _draw_facts(_facts(one), console)
    for backup in one["backups"]:
        console.print(_indented(Text(one_line(_backup(backup)))))
    if removals := one["removals"]:
        parts = ", ".join(f"{gone['kind']} {gone['id']}" for gone in removals)
        more = f" and {one['removed'] - len(removals):,} more" if one["removed"] > len(removals) else ""
        console.print(_indented(Text(one_line(f"Asked AWS to delete: {parts}{more}"))))
    if restored := one["restored"]:
        came = f" as {restored['id']}" if restored["id"] else ""
        console.print(_indented(Text(one_line(f"Restored{came}: {restored['state']}"))))
        for words in (*restored["differences"], *filter(None, [restored["why"]])):
            console.print(_indented(Text(one_line(words)), 2 * INDENT))
    undo = f"To undo it: {one['undo']}" if one["undo"] else f"It cannot be undone: {one['not_undoable']}"
    console.print(_indented(Text(one_line(undo), "bold" if one["undo"] else "")))
    console.print()
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for name in ("When (UTC)", "What"):
        grid.add_column(name, no_wrap=True)
    for name in ("Why", "Who"):
        grid.add_column(name, overflow="fold")
    for entry in one["ledger"]:
        grid.add_row(
            minute(entry["at"]),
            event_words(entry["happening"]),
            Text(one_line(entry["why"])),
            Text(one_line(entry["who"])),
        )
    console.print(grid)


def _facts(one: CleanupDetailDocument) -> Iterable[tuple[str, str]]:
    resource, tagging, observed = one["resource"], one["marked"], one["observed"]
    yield "Finding", f"{one['finding_id']} by {one['detector']}, {one['status'] or UNKNOWN}"
    yield "Resource", f"{resource['id']} ({resource['type']}), {resource['region']} of {resource['account']}"
    yield "Owner", one["owner"] or UNKNOWN
    yield "Started", f"{minute(one['started_at'])} UTC by {one['requested_by']}, attempt {one['attempt']}"
    approved = one["approved_by"] or (
        "nobody: a rule of the policy needs no approval" if one["unattended"] else "nobody yet"
    )
    yield "Approved by", approved
    if one["was"]:
        yield "Old setting", one["was"]
    if tagging:
        yield "Tagged", f"{minute(tagging['at'])} UTC"
        yield "Not before", f"{minute(tagging['act_after'])} UTC"
    for what, note in (("Stopped", one["stopped"]), ("Undo requested", one["undone"])):
        if note:
            yield what, f"{minute(note['at'])} UTC by {note['who']}{_because(note)}"
    yield "Expected saving", f"{_usd(one['promised_monthly_usd'])} USD a month"
    if one["backups"]:
        yield "Backup cost", f"{_usd(one['backup_monthly_usd'])} USD a month while it is kept"
    seen = f", as of audit {observed['audit_id']} at {minute(observed['at'])} UTC" if observed else ""
    yield (
        "Actual saving",
        f"{_usd(one['realised_monthly_usd'])}{' USD a month' if one['realised_monthly_usd'] else ''}{seen}",
    )


def _cleanups(cleanups: Sequence[CleanupDocument], *, wide: bool) -> Table:
    extra = ("Detector", "Started (UTC)") if wide else ()
    money = ("Expected saving", "Actual saving") if wide else ("Expected", "Actual")
    grid = grid_of("Finding", "Stage", "Action", "Resource", *extra, *money, right=money)
    for one in cleanups:
        grid.add_row(
            Text(one_line(one["finding_id"])),
            Text(stage_words(one["stage"]), STYLES[one["stage"]]),
            one["does"],
            Text(one_line(one["resource"]["name"])),
            *((one_line(one["detector"]), minute(one["started_at"])) if wide else ()),
            _usd(one["promised_monthly_usd"]),
            _usd(one["realised_monthly_usd"]),
        )
    return grid


def _draw_candidates(
    candidates: Sequence[CandidateDocument], console: Console, *, good: str, bad: str, first: str
) -> None:
    starts = [one for one in candidates if one["state"] == first and not one["why"]]
    if starts:
        console.print()
        console.print(Text(good, "bold underline"))
        draw_first_that_fits(console, _candidates(starts, wide=True), _candidates(starts, wide=False))
    titles = (
        ("ready", "Starting, requested again by a run"),
        ("failed", "Start not confirmed"),
        ("under-way", "Already running"),
        ("refused", bad),
    )
    for state, title in titles:
        others = [one for one in candidates if one["state"] == state and (one["why"] or state != first)]
        if others:
            console.print()
            console.print(Text(title, "bold underline"))
        for one in others:
            console.print(Text(one_line(f"{one['finding_id']}  {one['resource']['name']}: {deed(one)}")))
            console.print(_indented(Text(one_line(one["why"]), "red" if state == "failed" else "")))


def _candidates(candidates: Sequence[CandidateDocument], *, wide: bool) -> Table:
    """Return the table. The last column is the saving less the cost of the backup, while that is kept."""
    money = ("Expected saving", "After backup cost") if wide else ("Expected", "After backup")
    grid = grid_of("Finding", "Action", "Resource", "Not before (UTC)", *money, right=money)
    for one in candidates:
        grid.add_row(
            Text(one_line(one["finding_id"])),
            Text(one_line(deed(one))),
            Text(one_line(one["resource"]["name"])),
            minute(one["acts_after"]) if one["acts_after"] else "",
            _usd(one["monthly_savings_usd"]),
            _usd(one["net_monthly_usd"]),
        )
    return grid


def _against(plan: PlanDocument) -> Iterable[str]:
    if not plan["enabled"]:
        yield "Clean-up is not enabled. To enable it, deploy with CleanupEnabled=true."
    if plan["stopped"]:
        yield _stopped(plan["stopped"])
    if plan["over_cap"]:
        yield f"Over the cap, so a run would start nothing: {plan['over_cap']}."


def _stopped(note: SaidDocument) -> str:
    lift = "To allow them again: `slackwater cleanup stop --all --lift`."
    return f"{note['who']} stopped all clean-ups at {minute(note['at'])} UTC{_because(note)}. {lift}"


def _because(note: SaidDocument) -> str:
    return f": {note['why']}" if note["why"] else ""


def _backup_words(one: CandidateDocument) -> str:
    if one["does"] == "change":
        return "none: the old setting is stored, and an undo restores it"
    if not one["backed_up"]:
        return "none: the policy declares its data scratch"
    cost = f", {_usd(one['backup_monthly_usd'])} USD a month" if one["backup_monthly_usd"] else ", at an unknown cost"
    gone = "; AWS deletes its automatic backups with it" if one["resource"]["type"] == "fsx-file-system" else ""
    return f"made before the deletion{cost}{gone}"


def _backup(backup: BackupDocument) -> str:
    size = f", {backup['size_bytes']:,} bytes" if backup["size_bytes"] is not None else ""
    why = f": {backup['why']}" if backup["why"] else ""
    return (
        f"Backup {backup['id'] or '(no id yet)'} of {backup['of']}: {backup_words(backup['state'])}{why}{size},"
        f" expires {minute(backup['expires_at'])} UTC"
    )


def _number(candidates: Sequence[CandidateDocument]) -> str:
    """Return `no clean-ups`, or `2 clean-ups, expected saving 24.60 USD a month, 14.60 while the backups are kept`."""
    known = [Decimal(one["monthly_savings_usd"]) for one in candidates if one["monthly_savings_usd"] is not None]
    unpriced = f" ({len(candidates) - len(known):,} unpriced)" if len(known) < len(candidates) else ""
    saving = f"expected saving {sum(known):,.2f} USD a month{unpriced}{_while_kept(candidates)}"
    return f"{count(len(candidates), 'clean-up')}, {saving}" if candidates else "no clean-ups"


def _while_kept(candidates: Sequence[CandidateDocument]) -> str:
    """Return what backups leave of the saving: `, 14.60 while the backups are kept`. Empty if they cost nothing."""
    priced = [one for one in candidates if one["monthly_savings_usd"] is not None]
    nets = [Decimal(one["net_monthly_usd"]) for one in priced if one["net_monthly_usd"] is not None]
    if len(nets) < len(priced):
        return ", less while the backups are kept"
    if sum(nets) == sum(Decimal(one["monthly_savings_usd"] or 0) for one in priced):
        return ""
    return f", {sum(nets):,.2f} while the backups are kept"


def _saving_words(one: CandidateDocument) -> str:
    gross = f"{_usd(one['monthly_savings_usd'])} USD a month"
    return f"{gross}, {_usd(one['net_monthly_usd'])} after the cost of the backup" if one["net_monthly_usd"] else gross


def _usd(amount: str | None) -> str:
    return UNKNOWN if amount is None else f"{Decimal(amount):,.2f}"


def _draw_facts(facts: Iterable[tuple[str, str]], console: Console) -> None:
    grid = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, words in facts:
        grid.add_row(Text(name, "dim"), Text(one_line(words)))
    console.print(_indented(grid))


def _indented(what: RenderableType, by: int = INDENT) -> Padding:
    return Padding(what, (0, 0, 0, by))
