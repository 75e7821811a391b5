"""Options that several commands share, and how their values are parsed."""

import re
import shlex
from collections.abc import Callable, Collection, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from slackwater.app.policy.names import DEFAULT_POLICY
from slackwater_cli.exits import UsageError
from slackwater_cli.streams import note

ROLE_ARN: Final = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/\S+")


class Severity(StrEnum):
    """A finding's severity."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"


class Output(StrEnum):
    """How a command shows its result."""

    TABLE = "table"
    JSON = "json"


def one_of[C: str](option: str, choices: Iterable[C]) -> Callable[[str], C]:
    """Return a parser for an option's value, which ignores upper and lower case."""
    words = {str(choice): choice for choice in choices}

    def read(word: str) -> C:
        if word.lower() not in words:
            raise UsageError(f"{option} {word!r}: there are {', '.join(words)}")
        return words[word.lower()]

    return read


ProfileOption = Annotated[str | None, typer.Option("--profile", metavar="P", help="AWS profile.")]
PolicyOption = Annotated[
    Path | None,
    typer.Option("--policy", metavar="FILE", help=f"Policy file; ./{DEFAULT_POLICY} is used if present."),
]
RoleOption = Annotated[str | None, typer.Option("--role-arn", metavar="ARN", help="Assume this role.")]
ExternalIdOption = Annotated[
    str | None, typer.Option("--external-id", metavar="X", help="External id that the role requires.")
]
FormatOption = Annotated[
    Output,
    typer.Option("--format", parser=one_of("--format", Output), metavar="|".join(Output), help="Output format."),
]
StackOption = Annotated[str, typer.Option("--stack", metavar="NAME", help="CloudFormation stack that was deployed.")]
StackRegionOption = Annotated[
    str | None,
    typer.Option("--stack-region", metavar="R", help="Region of that stack, instead of AWS_REGION or the profile's."),
]
DetailsOption = Annotated[bool, typer.Option("--details", help="Show evidence, commands and caveats of each finding.")]
ResourceOption = Annotated[
    str | None,
    typer.Option("--resource", metavar="NAME", help="Show only this resource, in detail: its name, id or ARN."),
]
STACK: Final = "slackwater"

LISTED: Final = """\b
Exit status:
0 listed, if there is none too
2 wrong usage
4 no credentials, not allowed, or nothing reachable
"""
DECIDED: Final = """\b
Exit status:
0 decided, or so already
2 wrong usage, no such finding, or its status does not allow it
4 no credentials, not allowed, or nothing reachable
"""
"""Epilogs of several commands' help. The \\b keeps the line breaks."""

STANDARD_OUTPUT: Final = "-"


def option_of(name: str) -> str:
    """Return the option of an input: `--io-size` for `io_size`."""
    return f"--{name.replace('_', '-')}"


def as_typed(context: typer.Context, *, without: Collection[str] = ()) -> str:
    """Return the command with the options that the user typed, except `without`, as a command line to run again.

    A placeholder replaces an external id.
    """
    words = context.command_path.split()
    for one in context.command.params:
        source = context.get_parameter_source(one.name or "")
        if one.name in without or one.name not in context.params or source is None or source.name != "COMMANDLINE":
            continue
        given = "EXTERNAL_ID" if one.name == "external_id" else context.params[one.name]  # it works like a password
        for value in given if isinstance(given, list | tuple) else (given,):
            words += [one.opts[0]] if value is True else [one.opts[0], str(value)]
    return shlex.join(words)


def check_role(role_arn: str | None, external_id: str | None) -> None:
    """Check the options that name a role.

    Raises:
        UsageError: There is an external id without a role, or the ARN is not a role's.
    """
    if external_id is not None and role_arn is None:
        raise UsageError("--external-id goes with --role-arn")
    if role_arn is not None and not ROLE_ARN.fullmatch(role_arn):
        raise UsageError(f"--role-arn {role_arn!r}: a role's ARN looks like arn:aws:iam::123456789012:role/Name")


def policy_file(named: Path | None) -> Path | None:
    """Return the named policy file, or the default one if it exists here, with a note. None if there is neither."""
    if named is None and DEFAULT_POLICY.exists():
        note(f"Policy: ./{DEFAULT_POLICY}")
        return DEFAULT_POLICY
    return named


def check_resource(resource: str | None, top: int | None, *, details: bool) -> None:
    """Check that --resource names something, and that no option is given that it replaces.

    Raises:
        UsageError: One of these does not hold.
    """
    if resource == "":
        raise UsageError("--resource: names no resource")
    if resource is not None and (details or top is not None):
        raise UsageError("--resource shows everything about one resource; leave out --details and --top")
