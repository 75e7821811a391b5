"""`slackwater policy`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slackwater.app.policy.names import DEFAULT_POLICY
from slackwater_cli.dates import minute
from slackwater_cli.deployment import deployment
from slackwater_cli.exits import ExitStatus, UsageError
from slackwater_cli.options import (
    STACK,
    STANDARD_OUTPUT,
    FormatOption,
    Output,
    ProfileOption,
    StackOption,
    StackRegionOption,
)
from slackwater_cli.output import output_file
from slackwater_cli.streams import note, rendered, write
from slackwater_cli.targets import regions_without_asking
from slackwater_cli.trust_policies import TrustPolicies

if TYPE_CHECKING:
    from rich.console import Console

    from slackwater.app.policy.file import Problem
    from slackwater.app.policy.stored import Policies
    from slackwater.model.policy import Policy
    from slackwater.ports.store import Version

app = typer.Typer(rich_markup_mode=None, help="Check, store and show policies.", no_args_is_help=True)


@app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE")] = DEFAULT_POLICY,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with status 2 also for warnings.")] = False,
    format: FormatOption = Output.TABLE,
    profile: ProfileOption = None,
) -> None:
    """Check a policy file.

    Calls AWS only if the policy lists an identity with a role's session name: it reads that role's trust policy.

    \b
    Exit status:
    0 valid
    2 wrong usage or policy; with --strict also a warning
    """  # noqa: D301 -- the mark that keeps the lines apart
    from slackwater.app.policy.file import PolicyError, check_regions_in, policy_text
    from slackwater.engine.registry import registry
    from slackwater.views.scan.to_json import dump

    try:
        text, regions = policy_text(file), regions_without_asking()
        policy, warnings = _parsed(text, file, regions, profile)
        check_regions_in(text, str(file), regions)
    except PolicyError as error:
        if format is not Output.JSON:
            raise
        write(dump({"valid": False, "problems": [_problem(one) for one in error.problems], "warnings": []}))
        raise typer.Exit(ExitStatus.WRONG_USAGE) from error
    if format is Output.JSON:
        write(dump({"valid": True, "problems": [], "warnings": [_problem(one) for one in warnings]}))
    else:
        _write_warnings(warnings)
        off = [id_ for id_ in registry() if id_ not in policy.limits]
        but = f" (disabled: {', '.join(off)})" if off else ""
        many = "s" if len(warnings) > 1 else ""
        verdict = f"refused by --strict, because of {len(warnings)} warning{many}" if strict and warnings else "valid"
        write(f"{file}: {verdict}; {len(policy.limits)} of {len(registry())} detectors are enabled{but}.\n")
    if strict and warnings:
        raise typer.Exit(ExitStatus.WRONG_USAGE)


@app.command()
def schema() -> None:
    """Print the policy file's JSON Schema, for editors."""
    from slackwater.app.policy.file import policy_schema
    from slackwater.engine.registry import registry
    from slackwater.views.scan.to_json import dump

    write(dump(policy_schema(registry())))


@app.command()
def push(
    file: Annotated[Path, typer.Argument(metavar="FILE")] = DEFAULT_POLICY,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Check a policy file, and store it for the deployed service.

    The next audit uses it. A running clean-up uses it from its next step. A push replaces the whole policy.
    `slackwater policy history` lists every version.

    \b
    Exit status:
    0 stored
    2 wrong usage or policy; nothing was stored
    4 no credentials, not allowed, or nothing reachable
    """  # noqa: D301 -- the mark that keeps the lines apart
    from slackwater.app.policy.file import policy_text

    text = policy_text(file)
    _checked(text, file, regions_without_asking(), profile)
    stored = _policies(stack, stack_region, profile).push(text, str(file))
    write(f"{stored.version}\n")
    note(
        f"{file}: valid, and stored as this version. The next audit uses it. Running clean-ups use it from their next "
        "step."
    )


@app.command()
def pull(
    version: Annotated[str | None, typer.Option(metavar="V", help="This version instead of the newest.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file; - is standard output.")
    ] = None,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """Print the policy of the deployed service."""
    with nullcontext(write) if output in (None, Path(STANDARD_OUTPUT)) else output_file(output) as deliver:
        stored = _policies(stack, stack_region, profile).pull(version)
        if stored is None:
            raise UsageError(
                f"There is no policy version {version!r}"
                if version is not None
                else "No policy is stored, so the defaults apply"
            )
        text, found = stored
        deliver(text)
    note(f"Version {found}")


@app.command()
def history(
    format: FormatOption = Output.TABLE,
    stack: StackOption = STACK,
    stack_region: StackRegionOption = None,
    profile: ProfileOption = None,
) -> None:
    """List every version and deletion of the policy, the newest first."""
    from slackwater.views.scan.to_json import dump, rfc3339

    versions = [*_policies(stack, stack_region, profile).history()]
    if format is Output.JSON:
        write(
            dump(
                [
                    {"version": v.id, "at": rfc3339(v.at), "deleted": v.size_bytes is None, "size_bytes": v.size_bytes}
                    for v in versions
                ]
            )
        )
        return
    write(rendered(lambda console: _draw_history(versions, console)))


def _problem(one: Problem) -> dict[str, str | int | None]:
    return {"file": one.file, "line": one.line, "key": one.key, "problem": one.problem, "remedy": one.remedy}


def _write_warnings(warnings: Iterable[Problem]) -> None:
    for warning in warnings:
        note(f"Warning: {warning}")


def _checked(text: str, file: Path, regions: Collection[str], profile: str | None) -> Policy:
    """Return the policy, after writing its warnings.

    Raises:
        PolicyError: The policy is not valid. The error has all problems.
    """
    policy, warnings = _parsed(text, file, regions, profile)
    _write_warnings(warnings)
    return policy


def _parsed(text: str, file: Path, regions: Collection[str], profile: str | None) -> tuple[Policy, list[Problem]]:
    """Return the policy and its warnings. An unknown region alone is no error here, because AWS may have newer ones.

    Raises:
        PolicyError: The policy is not valid. The error has all problems.
    """
    from slackwater.app.policy.file import parse_policy
    from slackwater.app.policy.warnings import find_warnings
    from slackwater.engine.registry import registry

    policy = parse_policy(text, str(file), registry(), regions=regions)
    return policy, find_warnings(text, str(file), policy, TrustPolicies(profile).pins_session_name)


def _policies(stack: str, stack_region: str | None, profile: str | None) -> Policies:
    from slackwater.wiring.service import policies

    there = deployment(stack, stack_region, profile)
    return policies(there.deployed, there.session)


def _draw_history(versions: list[Version], console: Console) -> None:
    from slackwater.views.scan.to_json import rfc3339
    from slackwater_cli.grid import draw_first_that_fits, grid_of

    if not versions:
        console.print("No policy is stored, so the defaults apply.")
        return
    grid = grid_of("Version", "Stored (UTC)", "Bytes", right=("Bytes",))
    for version in versions:
        size = "deleted" if version.size_bytes is None else f"{version.size_bytes:,}"
        grid.add_row(version.id, minute(rfc3339(version.at)), size)
    draw_first_that_fits(console, grid)
