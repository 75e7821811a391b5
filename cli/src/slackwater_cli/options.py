"""Options that several commands share, and how their words are read."""

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
    """How something is shown."""

    TABLE = "table"
    JSON = "json"


def one_of[C: str](option: str, choices: Iterable[C]) -> Callable[[str], C]:
    """What reads an option's word, in any case."""
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
"""What the help of several commands ends with. The \\b keeps the lines apart."""

STANDARD_OUTPUT: Final = "-"


def option_of(name: str) -> str:
    """The option of an input: `--io-size` of `io_size`."""
    return f"--{name.replace('_', '-')}"


def as_typed(context: typer.Context, *, without: Collection[str] = ()) -> str:
    """The command with the options that the user gave, except some, to be typed again. An external id is left out."""
    words = context.command_path.split()
    for one in context.command.params:
        source = context.get_parameter_source(one.name or "")
        if one.name in without or one.name not in context.params or source is None or source.name != "COMMANDLINE":
            continue
        given = "EXTERNAL_ID" if one.name == "external_id" else context.params[one.name]  # it is a kind of password
        for value in given if isinstance(given, list | tuple) else (given,):
            words += [one.opts[0]] if value is True else [one.opts[0], str(value)]
    return shlex.join(words)


def check_role(role_arn: str | None, external_id: str | None) -> None:
    """Refuse a role that cannot be one.

    Raises:
        UsageError: an external id without a role, or no ARN of a role.
    """
    if external_id is not None and role_arn is None:
        raise UsageError("--external-id goes with --role-arn")
    if role_arn is not None and not ROLE_ARN.fullmatch(role_arn):
        raise UsageError(f"--role-arn {role_arn!r}: a role's ARN looks like arn:aws:iam::123456789012:role/Name")


def policy_file(named: Path | None) -> Path | None:
    """The policy file that was named, or the one that lies here, if any; that is told."""
    if named is None and DEFAULT_POLICY.exists():
        note(f"Policy: ./{DEFAULT_POLICY}")
        return DEFAULT_POLICY
    return named


def check_resource(resource: str | None, top: int | None, *, details: bool) -> None:
    """Check that --resource names something, and comes without options that it replaces.

    Raises:
        UsageError: it does not.
    """
    if resource == "":
        raise UsageError("--resource: names no resource")
    if resource is not None and (details or top is not None):
        raise UsageError("--resource shows everything about one resource; leave out --details and --top")
