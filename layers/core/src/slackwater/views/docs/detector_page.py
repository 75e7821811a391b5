"""A detector's manual page, from its docstring, its limits and its worked cases."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from slackwater.model.detector import AnyDetector, Case
from slackwater.views.text.markdown import fenced, section, table, text

BOUNDS: Final = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def render_page(id: str, detector: AnyDetector, doc: str) -> str:
    """The page of the detector with this id; `doc` is its module's docstring."""
    first, _, rest = doc.partition("\n")
    limits = detector.limits.model_json_schema().get("properties", {})
    reads = ", ".join(kind.KIND for kind in (detector.resource, *detector.reads, *detector.reads_if_allowed))
    lines = [
        f"# {id}",
        "",
        first,
        "",
        f"Kind: {detector.kind}. Looks at: {reads}.",
        rest.rstrip(),
        *section("Limits"),
        *_limits(id, limits),
        *section("Worked cases"),
        *_cases(detector.cases),
    ]
    return "\n".join(lines) + "\n"


def render_index(detectors: Mapping[str, AnyDetector]) -> str:
    """The page that leads to all others."""
    rows = (
        (f"[{id_}]({id_}.md)", text(detector.title), detector.kind, detector.resource.KIND)
        for id_, detector in detectors.items()
    )
    return "\n".join(["# Detectors", "", *table(("Id", "Finds", "Kind", "Looks at"), rows)]) + "\n"


def _limits(id_: str, limits: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield from table(
        ("Limit", "Default", "Unit", "Allowed", "Why"),
        (
            (
                f"`{name}`",
                text(_toml(limit["default"])),
                text(limit["unit"]),
                text(_bounds(limit)),
                text(limit["description"]),
            )
            for name, limit in limits.items()
        ),
        right=("Default",),
    )
    yield from ("", "In the policy file, with the defaults:", "")
    defaults = (_setting(name, limit) for name, limit in limits.items())
    yield from fenced("\n".join((f"[detectors.{id_}]", "enabled = true", *defaults)), "toml")


def _bounds(limit: Mapping[str, Any]) -> str:
    if "examples" in limit:
        return f"such as {' or '.join(map(_toml, limit['examples']))}"
    return ", ".join(f"{sign} {limit[key]:g}" for key, sign in BOUNDS.items() if key in limit)


def _setting(name: str, limit: Mapping[str, Any]) -> str:
    """A line of the policy file; a limit that has no default is shown by an example."""
    if limit["default"] is None:
        return f"# {name} = {_toml(limit['examples'][0])}"
    return f"{name} = {_toml(limit['default'])}"


def _toml(value: object) -> str:
    match value:
        case None:
            return "none"
        case str():
            return json.dumps(value)
        case bool():
            return str(value).lower()
        case float():
            return f"{value:g}"
        case _:
            return str(value)


def _cases(cases: Iterable[Case]) -> Iterator[str]:
    yield from table(
        ("Case", "Answer", "Says"),
        (
            (
                f"{text(case.title)}{_with(case)}",
                case.expect.__name__.lower(),
                f"… {text(case.says)} …" if case.says else "",
            )
            for case in cases
        ),
    )


def _with(case: Case) -> str:
    limits = ", ".join(f"`{name} = {_toml(value)}`" for name, value in case.limits.items())
    return f" (with {limits})" if limits else ""
