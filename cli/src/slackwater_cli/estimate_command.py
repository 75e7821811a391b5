"""Builds the command of an estimate from the estimate's inputs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, Signature
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from pydantic.fields import FieldInfo

from slackwater.app.estimates.estimates import EstimateError
from slackwater.aws.client.offline import FALLBACK_REGION, configured_region
from slackwater.aws.pricing.packaged import DESCRIBE_TYPES, packaged_regions, snapshot, snapshot_date
from slackwater.model.estimated import Estimated
from slackwater.model.estimates import AnyEstimate, Inputs
from slackwater.model.quantities import DURATION, NUMBER, RATE, SIZE
from slackwater.ports.errors import AwsError
from slackwater.views.estimates.to_json import document
from slackwater.views.scan.to_json import dump
from slackwater.wiring.scan import estimating
from slackwater.wiring.settings import cache_dir
from slackwater_cli.estimate_table import draw_estimate
from slackwater_cli.exits import UsageError
from slackwater_cli.options import STANDARD_OUTPUT, FormatOption, Output, ProfileOption, option_of
from slackwater_cli.quiet import add_quiet
from slackwater_cli.slow import waiting_for
from slackwater_cli.stopping import interruptible
from slackwater_cli.streams import note, rendered, write
from slackwater_cli.targets import refuse_unknown, regions_without_asking

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession

EPILOG: Final = f"""\b
SIZE, such as {SIZE.example}: {", ".join(SIZE.units)}
RATE, such as {RATE.example}:
{fill(", ".join(RATE.units), 74, initial_indent="  ", subsequent_indent="  ")}
DURATION, such as {DURATION.example}: {", ".join(DURATION.units)}

\b
Exit status:
0 the estimate was calculated
2 wrong usage; the message says what is valid
4 Slackwater cannot use the profile in --profile
"""
METAVARS: Final = {SIZE.pattern: "SIZE", RATE.pattern: "RATE", DURATION.pattern: "DURATION"}
A_NUMBER: Final = re.compile(f"-?{NUMBER}")
GIVE: Final = re.compile("(give|needs) [^;]*")
"""The part of an error message that names inputs."""

OURS: Final = (
    Parameter("format", Parameter.KEYWORD_ONLY, default=Output.TABLE, annotation=FormatOption),
    Parameter(
        "offline",
        Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[
            bool, typer.Option("--offline", help="Use packaged prices and limits, without calls to AWS.")
        ],
    ),
    Parameter("profile", Parameter.KEYWORD_ONLY, default=None, annotation=ProfileOption),
)
"""Options that every estimate has in addition to its inputs."""


def command(kind: str, estimate: AnyEstimate) -> Any:
    """Return the command that calculates this kind of estimate."""
    inputs = {one.name: one for one in _inputs(estimate.inputs)}

    def answer(*, format: Output, offline: bool, profile: str | None, **words: Any) -> None:
        given = {name: inputs[name].value(given) for name, given in words.items() if given is not None}
        try:
            _answer(kind, given, format, _account(profile, offline=offline))
        except EstimateError as error:
            raise EstimateError(_of_options(error.problems, inputs)) from error

    parameters = [*(one.parameter for one in inputs.values()), *OURS]
    answer.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    answer.__annotations__ = {one.name: one.annotation for one in parameters}
    single = typer.Typer(rich_markup_mode=None, add_completion=False)
    single.command(kind, help=f"{estimate.title}.", epilog=EPILOG)(answer)
    made = typer.main.get_command(single)
    add_quiet(made)
    return made


@dataclass(frozen=True, slots=True)
class Input:
    """An input of an estimate, as an option. `accepts` has the JSON Schemas of its alternatives, without null."""

    name: str
    field: FieldInfo
    accepts: tuple[Mapping[str, Any], ...]

    @property
    def is_file(self) -> bool:
        """Whether the option names a file whose text is the input."""
        extra = self.field.json_schema_extra
        return isinstance(extra, dict) and extra.get("file") is True

    @property
    def types(self) -> set[str]:
        """The JSON types that the input accepts."""
        return {one.get("type", "string") for one in self.accepts}

    @property
    def parameter(self) -> Parameter:
        """The parameter from which Typer makes the option. Its default is None; the model then uses its own default."""
        annotation: Any
        option, metavar = option_of(self.name), "|".join(map(_metavar, self.accepts))
        if self.types == {"boolean"}:
            negative = "" if self.field.default is False else f"/--no-{option.removeprefix('--')}"
            annotation = Annotated[bool | None, typer.Option(f"{option}{negative}", help=self._help)]
        elif self.types == {"array"}:
            annotation = Annotated[list[str] | None, typer.Option(option, metavar=metavar, help=self._help)]
        else:
            named = "FILE" if self.is_file else metavar
            annotation = Annotated[str | None, typer.Option(option, metavar=named, help=self._help)]
        return Parameter(self.name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)

    @property
    def _help(self) -> str:
        if self.field.is_required():
            return f"{self.field.description}.  [required]"
        default = DEFAULTS.get(self.name, self.field.default)
        has_none = isinstance(default, bool) or default in (None, "", [])
        return f"{self.field.description}." + ("" if has_none else f"  [default: {default}]")

    def value(self, given: Any) -> Any:
        """Return the input in the form in which a program would send it.

        Raises:
            UsageError: It names a file that cannot be read.
        """
        if self.is_file:
            return _text_of(given, option_of(self.name))
        if self.types == {"array"}:
            return [word.strip() for words in given for word in words.split(",")]
        if self.types <= {"integer", "number"} and A_NUMBER.fullmatch(given):
            return float(given) if re.search("[.eE]", given) else int(given)
        return given


DEFAULTS: Final = {"region": f"AWS_REGION's or the profile's, else {FALLBACK_REGION}"}
"""Defaults to show in the help, for inputs whose default is not in the model."""


def _inputs(model: type[Inputs]) -> Iterator[Input]:
    """Yield the inputs of an estimate: its own first, then those that every estimate has."""
    whole = model.model_json_schema()
    for name in sorted(model.model_fields, key=lambda name: name in Inputs.model_fields):
        accepts = _alternatives(whole["properties"][name], whole.get("$defs", {}))
        yield Input(name, model.model_fields[name], tuple(one for one in accepts if one.get("type") != "null"))


def _alternatives(schema: Mapping[str, Any], named: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "$ref" in schema:
        yield from _alternatives(named[schema["$ref"].rpartition("/")[2]], named)
    elif "anyOf" in schema:
        for one in schema["anyOf"]:
            yield from _alternatives(one, named)
    else:
        yield schema


def _metavar(schema: Mapping[str, Any]) -> str:
    if choices := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return "|".join(map(str, choices))
    match schema.get("type"):
        case "integer" | "number":
            return "N"
        case "array":
            return "NAMES"
        case _:
            return next((word for pattern, word in METAVARS.items() if pattern in schema.get("pattern", "")), "NAME")


def _text_of(file: str, option: str) -> str:
    try:
        if file != STANDARD_OUTPUT:
            raw = Path(file).read_bytes()
        elif sys.stdin is not None:
            raw = sys.stdin.buffer.read()
        else:
            raise UsageError(f"{option} {file}: standard input is closed")
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{option} {file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{option} {file}: is not UTF-8 at byte {error.start}") from error


@dataclass(frozen=True, slots=True)
class Account:
    """The account to read from.

    Attributes:
        session: The session to use; None for packaged data only.
        region: The configured region; None if there is none.
        why: Why there is no session; empty if there is one.
    """

    session: AwsSession | None
    region: str | None
    why: str = ""


def _account(profile: str | None, *, offline: bool) -> Account:
    """Return the account of the credentials. An error counts only if a profile was named.

    Raises:
        AwsError: The named profile cannot be used.
    """
    if offline and profile is None:
        return Account(None, configured_region(), "Offline")
    from slackwater.aws.client.meter import CallMeter
    from slackwater.aws.client.session import API_RETRIES, AwsSession

    region = None
    try:
        session = AwsSession(profile, meter=CallMeter(), retries=API_RETRIES)
        region = session.region
        if offline:
            return Account(None, region, "Offline")
        with waiting_for("AWS credentials"):
            known = session.has_credentials()
        return Account(session, region) if known else Account(None, region, "No AWS credentials")
    except AwsError as error:
        if profile is not None:
            raise
        return Account(None, region, str(error))


def _answer(kind: str, given: Mapping[str, Any], format: Output, account: Account) -> None:
    regions = regions_without_asking()
    if account.region and "region" not in given:
        refuse_unknown("AWS_REGION or the profile", [account.region], regions)
    use_case = estimating(account.session, cache_dir(os.environ), account.region or FALLBACK_REGION, regions)
    done = interruptible(lambda: use_case.answer(kind, given))
    if format is Output.JSON:
        write(dump(document(done)))
    else:
        write(rendered(partial(draw_estimate, done, given)))
    for line in _notes(done, account, named="region" in given):
        note(line)


def _of_options(problems: Iterable[tuple[str, str]], inputs: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Rewrite problems with inputs to name options: `--stored is needed`, `give --input or --input-rate`."""
    names = "|".join(option_of(name).removeprefix("--") for name in inputs)
    for field, problem in problems:
        if problem.startswith("is needed: "):
            yield "", f"{option_of(field)} {problem}"
            continue
        named = GIVE.sub(lambda part: re.sub(rf"(?<![\w-])({names})(?![\w-])", r"--\1", part[0]), problem)
        yield field and option_of(field), named


def _notes(done: Estimated, account: Account, *, named: bool) -> Iterator[str]:
    """Yield notes about the answer: a region by default, packaged figures, and what could not be read."""
    region = done.inputs["region"]
    if not named and account.region is None:
        yield f"No region is configured. This estimate is for {region}; choose another with --region"
    if account.session is not None:
        yield from (f"Not read from AWS: {gap.what}: {gap.reason}" for gap in done.gaps)
    if used := [*_packaged(done)]:
        yield f"{f'{account.why}; p' if account.why else 'P'}ackaged {' and '.join(used)} are used"
    if done.unpriced:
        there_are = "" if snapshot(region) else f" (packaged prices: {' and '.join(packaged_regions())})"
        ids = ", ".join(item.id for item in done.unpriced)
        how = "" if account.session else ". To read prices from AWS, use credentials and no --offline"
        yield f"No price is known in {region}{there_are}: {ids}{how}"


def _packaged(done: Estimated) -> Iterator[str]:
    if any(gap.what == DESCRIBE_TYPES for gap in done.gaps):
        yield f"instance limits of {snapshot_date()}"
    if dates := sorted({f"{one.price.as_of}" for one in done.price_basis if one.price.source.startswith("snapshot")}):
        yield f"prices of {' to '.join(dict.fromkeys((dates[0], dates[-1])))}"
