"""Reads and validates the policy file, and reports everything that is wrong with it at once."""

import hashlib
import json
import re
import tomllib
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from slackwater.app.policy.model import SECTIONS, policy_model, section_at
from slackwater.app.policy.names import LIST_DETECTORS, LIST_REGIONS
from slackwater.app.policy.toml_lines import KeyLines, KeyPath
from slackwater.engine.registry import Registry
from slackwater.model.nearest import did_you_mean
from slackwater.model.policy import (
    ACCOUNT,
    CHANNEL,
    CHANNEL_LOOKS,
    GROUP,
    TAG,
    TAG_KEY,
    UNIT,
    USER,
    USER_LOOKS,
    Policy,
)
from slackwater.model.policy_version import PolicyVersion
from slackwater.views.text.one_line import one_line

TAGS: Final = {
    TAG: ("tag", "write a key, or key=value, without wildcards"),
    TAG_KEY: ("tag key", "write a key, without a value or wildcards"),
}
"""For each pattern of a tag: what it matches, and how to write it."""
IDS: Final = {
    CHANNEL: ("channel's", CHANNEL_LOOKS),
    USER: ("member's", USER_LOOKS),
    ACCOUNT: ("account's", "it has twelve digits"),
    UNIT: ("unit's", "it looks like ou-ab12-34cd56ef, or the root's like r-ab12"),
}
"""For each pattern of an id: whose id it matches, and what that looks like."""
DEEPEST: Final = 16
"""How many levels of tables and lists a policy may nest. The deepest key, a price override, is on the fourth."""
INTEGER_BITS: Final = 64
TOO_LARGE: Final = f"has an integer of more than {INTEGER_BITS} bits"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and how to fix it. `line` is None without a file or line.

    Positions in a list are counted from one: `slack.routes[1].channel`.
    """

    file: str
    line: int | None
    key: str
    problem: str
    remedy: str = ""

    def __str__(self) -> str:
        """Return a line such as `slackwater.toml:7: detectors.efs-idel: no such detector; did you mean efs-idle?`."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        message = ": ".join(filter(None, (place, self.key, self.problem)))
        return one_line(f"{message}; {self.remedy}" if self.remedy else message)


class PolicyError(Exception):
    """The policy is invalid; the message has one problem a line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Create the error with all problems."""
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def load_policy(
    path: Path | None, registry: Registry, only: Collection[str] = (), regions: Collection[str] = ()
) -> Policy:
    """Return the policy in a TOML file, or the defaults without a file. Arguments as in `parse_policy`.

    Raises:
        PolicyError: The file cannot be read, or as in `parse_policy`.
    """
    try:
        text = None if path is None else policy_text(path)
    except PolicyError as error:
        raise PolicyError([*_no_such(only, registry), *error.problems]) from error
    return parse_policy(text, str(path), registry, only, regions)


def parse_policy(
    text: str | None,
    name: str,
    registry: Registry,
    only: Collection[str] = (),
    regions: Collection[str] = (),
) -> Policy:
    """Return the policy in a TOML text, or the defaults without a text.

    A region that is not in `regions` is not an error by itself, because it may be new: `check_regions` checks that. It
    is only reported together with other errors.

    Args:
        text: The policy; None is the defaults.
        name: Its name in messages.
        registry: The detectors that exist.
        only: The detectors to run, even if the policy turns them off; empty means those of the policy.
        regions: The known regions; empty reports none.

    Raises:
        PolicyError: The text is invalid, a name in `only` is unknown, or no detector is left.
    """
    problems = _no_such(only, registry)
    model = policy_model(registry)
    read = model()
    if text is not None:
        try:
            data = _parsed(name, text)
        except PolicyError as error:
            raise PolicyError([*problems, *error.problems]) from error
        of_text = []
        try:
            read = model.model_validate(data)
        except ValidationError as error:
            lines = KeyLines(text)
            of_text = [_problem(name, lines, model, details) for details in error.errors()]
        if (of_text or problems) and regions:
            of_text += _wrong_regions(name, text, data, regions)
        problems += sorted(of_text, key=lambda problem: problem.line or 0)
    if problems:
        raise PolicyError(problems)
    sections = {id_: getattr(read.detectors, id_) for id_ in registry}
    limits = {
        id_: detector.limits.model_validate(sections[id_].model_dump(exclude={"enabled"}))
        for id_, detector in registry.items()
        if (id_ in only if only else sections[id_].enabled and not sections[id_].lacks)
    }
    if not limits:
        raise PolicyError([Problem(name, None, "detectors", "every detector is off", "leave one of them on")])
    sha256 = None if text is None else hashlib.sha256(text.encode()).hexdigest()
    # The sections' own classes, without the stricter types that validated them.
    of_file: dict[str, Any] = {
        key: section.model_validate(getattr(read, key).model_dump()) for key, section in SECTIONS.items()
    }
    return Policy(
        limits=limits,
        version=PolicyVersion(version=None, sha256=sha256),
        **of_file,
    )


def policy_schema(registry: Registry) -> dict[str, Any]:
    """Return the JSON Schema of the policy file, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **policy_model(registry).model_json_schema()}


def check_regions(path: Path, valid: Collection[str]) -> None:
    """Check that all regions in a valid policy file exist.

    Raises:
        PolicyError: Names each that is not in `valid`.
    """
    check_regions_in(policy_text(path), str(path), valid)


def check_regions_in(text: str, name: str, valid: Collection[str]) -> None:
    """Check the regions in a text, as `check_regions` does for a file."""
    if problems := _wrong_regions(name, text, _parsed(name, text), valid):
        raise PolicyError(problems)


def _no_such(only: Iterable[str], registry: Registry) -> list[Problem]:
    return [
        Problem("--detector", None, id_, "no such detector", did_you_mean(id_, registry, LIST_DETECTORS))
        for id_ in only
        if id_ not in registry
    ]


def _wrong_regions(name: str, text: str, data: Mapping[str, Any], valid: Collection[str]) -> list[Problem]:
    """Return the unknown regions in a text, which may have other errors."""
    overrides = _at(data, "prices", "overrides")
    named: list[tuple[KeyPath, str]] = [
        *(
            ((section, "regions"), region)
            for section in ("scan", "cleanup")
            for region in _listed(_at(data, section, "regions"))
        ),
        *((("prices", "overrides", region), region) for region in (overrides if isinstance(overrides, dict) else ())),
    ]
    lines = KeyLines(text)
    return [
        Problem(name, lines[where], key_of(where), f"no region {region!r}", did_you_mean(region, valid, LIST_REGIONS))
        for where, region in named
        if region not in valid
    ]


def _at(data: Mapping[str, Any], section: str, key: str) -> object:
    found = data.get(section)
    return found.get(key) if isinstance(found, dict) else None


def _listed(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def policy_text(path: Path) -> str:
    """Return the text of a policy file.

    Raises:
        PolicyError: It cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise PolicyError([Problem(str(path), None, "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise PolicyError([Problem(str(path), None, "", "is not UTF-8 text")]) from error


def _parsed(name: str, text: str) -> dict[str, Any]:
    """Parse a policy text. Refuse what Python cannot handle: deep nesting, and integers of thousands of digits.

    Raises:
        PolicyError: The text is not TOML, is nested too deeply, or has an integer of more than 64 bits.
    """
    too_deep = f"nests more than {DEEPEST} levels of tables and lists"
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError([_broken(name, text, error)]) from error
    except RecursionError:
        raise PolicyError([Problem(name, _unreadable_line(text), "", too_deep)]) from None
    except ValueError:  # int() refuses so many digits
        raise PolicyError([Problem(name, _unreadable_line(text), "", TOO_LARGE)]) from None
    for where, value in _nested(data):
        if len(where) > DEEPEST:
            raise PolicyError([Problem(name, KeyLines(text)[where], str(where[0]), too_deep)])
        if isinstance(value, int) and value.bit_length() > INTEGER_BITS:
            raise PolicyError([Problem(name, KeyLines(text)[where], key_of(where), TOO_LARGE)])
    return data


def _unreadable_line(text: str) -> int:
    """Return the line at which tomllib fails with an error other than its own.

    It is the last line of the shortest beginning of the text that fails like this.
    """
    lines = text.split("\n")

    def gives_up(count: int) -> bool:
        try:
            tomllib.loads("\n".join(lines[:count]))
        except tomllib.TOMLDecodeError:
            return False
        except (RecursionError, ValueError):
            return True
        return False

    return bisect_left(range(len(lines)), True, key=gives_up)


def _nested(data: Mapping[str, Any]) -> Iterator[tuple[KeyPath, object]]:
    """Yield each value with its path, in any order. Not recursive, because a policy may nest thousands of levels."""
    waiting: list[tuple[KeyPath, object]] = [((key,), value) for key, value in data.items()]
    while waiting:
        where, value = waiting.pop()
        yield where, value
        inner: Iterable[tuple[str | int, object]] = ()
        if isinstance(value, dict):
            inner = value.items()
        elif isinstance(value, list):
            inner = enumerate(value)
        waiting.extend(((*where, key), each) for key, each in inner)


def _broken(name: str, text: str, error: tomllib.TOMLDecodeError) -> Problem:
    message, _, where = str(error).partition(" (at ")
    place = re.match(r"line (\d+), column (\d+)", where)
    if place is None:  # at the end
        return Problem(name, text.count("\n") + 1, "", f"not valid TOML: {message}")
    line, column = map(int, place.groups())
    written = text.split("\n")[line - 1]
    bare = re.match(r"[#@\w][^\s,\]}]*", written[column - 1 :])
    remedy = ""
    if message == "Invalid value" and bare and bare[0].casefold() not in {"true", "false"}:
        remedy = f"text is in quotes: {json.dumps(bare[0])}"
    elif account := re.match(r"0\d{11}\b", written[max(column - 2, 0) :]):  # a number in TOML ends after a first zero
        remedy = f"an account's id is in quotes: {json.dumps(account[0])}"
    return Problem(name, line, "", f"not valid TOML: {message}", remedy)


def _problem(name: str, lines: KeyLines, model: type[BaseModel], details: ErrorDetails) -> Problem:
    where = tuple(part for part in details["loc"] if part != "[key]")
    if details["type"] == "missing":
        return Problem(name, lines[where], key_of(where[:-1]), f"{where[-1]} is missing")
    return Problem(name, lines[where], key_of(where), *_problem_and_remedy(where, model, details))


def _problem_and_remedy(where: KeyPath, model: type[BaseModel], details: ErrorDetails) -> tuple[str, str]:
    """Return what is wrong with a key or its value, and how to fix it."""
    given = json.dumps(details["input"], default=str)
    match details["type"]:
        case "extra_forbidden":
            noun = "detector" if where[:-1] == ("detectors",) else "section" if len(where) == 1 else "key"
            there_are = section_at(model, where[:-1]).model_fields
            return f"no such {noun}", did_you_mean(str(where[-1]), there_are, "slackwater policy schema")
        case "string_pattern_mismatch" if (pattern := details["ctx"]["pattern"]) in IDS:
            whose, looks = IDS[pattern]
            is_group = pattern == USER and re.match(GROUP, details["input"])
            return f"{given} is {"a group's, and " if is_group else ''}no {whose} id", looks
        case "string_pattern_mismatch" if (pattern := details["ctx"]["pattern"]) in TAGS:
            what, looks = TAGS[pattern]
            return f"{given} is no {what}", looks
        case "string_type" if re.fullmatch(ACCOUNT, given):
            return "must be text, not a number", f"put it in quotes: {json.dumps(given)}"
        case "value_error":
            return str(details["ctx"]["error"]), ""
        case _:
            must = re.sub(r"^(Input|String) should", "must", details["msg"])
            field = _field(model, where)
            return f"{must}{_unit(field)}, not {given}", _examples(field)


def key_of(where: KeyPath) -> str:
    """Return a path as people write it: `slack.routes[1].channel`."""
    return "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in where).removeprefix(".")


def _field(model: type[BaseModel], where: KeyPath) -> FieldInfo | None:
    try:
        return section_at(model, where[:-1]).model_fields[str(where[-1])]
    except (AttributeError, LookupError):  # within a list or a table of the user's own keys
        return None


def _unit(field: FieldInfo | None) -> str:
    extra = field.json_schema_extra if field else None
    return f" ({extra['unit']})" if isinstance(extra, dict) and "unit" in extra else ""


def _examples(field: FieldInfo | None) -> str:
    examples = (field.examples if field else None) or ()
    return f"such as {' or '.join(map(json.dumps, examples))}" if examples else ""
