"""A detector's manual page, from its docstring, its limits and its worked cases."""

import json
from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap
from typing import Any, Final

from slackwater.model.detector import AnyDetector, Case
from slackwater.views.text.markdown import section, table, text

COLUMNS: Final = 120
CASES_PAGE: Final = "cases.md"
BOUNDS: Final = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def render_page(id: str, detector: AnyDetector, doc: str, *, cases: bool = False) -> str:
    """Render the page of a detector.

    Args:
        id: The detector's id.
        detector: The detector.
        doc: The docstring of its module.
        cases: Whether the worked cases are on the page. In the docs they are on a page of their own.
    """
    first, _, rest = doc.partition("\n")
    limits = detector.limits.model_json_schema().get("properties", {})
    reads = ", ".join(kind.KIND for kind in (detector.resource, *detector.reads, *detector.reads_if_allowed))
    where = "" if cases else f" [{len(detector.cases)} worked cases]({CASES_PAGE}#{id})."
    lines = [
        f"# {id}",
        "",
        first,
        "",
        *_wrapped(f"Kind: {detector.kind}. Looks at: {reads}.{where}"),
        rest.rstrip(),
        *section("Limits"),
        *_limits(id, limits),
    ]
    if cases:
        lines += [*section("Worked cases"), *_cases(detector.cases)]
    return "\n".join(lines) + "\n"


def render_cases(detectors: Mapping[str, AnyDetector]) -> str:
    """Render the page of all worked cases."""
    lines = ["# Worked cases", "", "What each detector answers to simulated resources. Every case is a test."]
    for id_, detector in detectors.items():
        lines += [*section(id_), f"[What it finds]({id_}.md).", "", *_cases(detector.cases)]
    return "\n".join(lines) + "\n"


def render_index(detectors: Mapping[str, AnyDetector]) -> str:
    """Render the index of all detector pages."""
    rows = (
        (f"[{id_}]({id_}.md)", text(detector.title), detector.kind, detector.resource.KIND)
        for id_, detector in detectors.items()
    )
    lines = [
        "# Detectors",
        "",
        "Each page takes a minute. [Worked cases](cases.md) show what a detector flags and what it does not. All need",
        "[the same read permissions](../permissions.md); metrics cost money ([how much](../performance.md)).",
        "",
        "*Kind* is the usual one. A finding can have another: `ebs-outdated-type` and `efs-throughput-mismatch` are",
        "performance issues where a resource is at its limit, and detectors of credits a risk before these run out.",
        "",
        *table(("Id", "Finds", "Kind", "Looks at"), rows),
    ]
    return "\n".join(lines) + "\n"


def _wrapped(paragraph: str) -> list[str]:
    return wrap(paragraph, COLUMNS, break_long_words=False, break_on_hyphens=False)


def _limits(id_: str, limits: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield from (f"Set them, or `enabled = false`, under `[detectors.{id_}]` in the policy.", "")
    yield from table(
        ("Limit", "Default", "Range", "Why this default, or what it means"),
        (
            (f"`{name}`", _default(limit), text(allowed_range(limit)), text(limit["description"]))
            for name, limit in limits.items()
        ),
        right=("Default",),
    )


def allowed_range(value: Mapping[str, Any]) -> str:
    """Return the bounds that a JSON schema sets for a number, such as `≥ 7, ≤ 450`; "" if it sets none."""
    return ", ".join(f"{sign} {value[bound]:g}" for bound, sign in BOUNDS.items() if bound in value)


def _default(limit: Mapping[str, Any]) -> str:
    """Return the default with its unit, or examples if the limit has no default."""
    if limit["default"] is None:
        return text(f"none, such as {' or '.join(map(_toml, limit['examples']))}")
    return text(f"{_toml(limit['default'])} {limit['unit']}")


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
