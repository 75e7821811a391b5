"""Write the pages about estimates, with published figures and real output: `python tools/estimate_pages.py DIR`."""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

from published_figures import Figure, figures, usage_csv, verdicts
from slackwater.engine.registry import estimates
from slackwater.views.text.markdown import fenced, section, table, text
from slackwater_cli.__main__ import main as slackwater
from worked_questions import QUESTIONS

CSV = "encode.csv"


def main(into: Path) -> None:
    """Write every page."""
    into.mkdir(parents=True, exist_ok=True)
    (into / CSV).write_text(usage_csv(ramp=True), encoding="utf-8")
    for name, lines in (
        ("README.md", kinds()),
        ("published-figures.md", published()),
        ("questions.md", questions(into)),
    ):
        (into / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def kinds() -> Iterator[str]:
    """Yield the lines of the page of all kinds and their inputs."""
    yield from (
        "# Estimates",
        "",
        "`slackwater estimate KIND` estimates times and costs before you build. It uses the detectors' formulas and",
        "shows its assumptions.",
        "",
        "- [Worked questions](questions.md), with their real output",
        "- [Published figures](published-figures.md) of five field reports, compared with Slackwater's estimates",
        "- [The API](../api.md#estimates) returns the same estimates: `POST /estimates/{kind}`",
        "",
        (
            "Write a size as `30GiB` or `30.12GB`, a rate as `147Mbps`, `100MiB/s` or `160MB/s`, and a duration as "
            "`30min` or"
        ),
        (
            "`1.5h`. A number needs a unit. KB, MB and GB are powers of 1000. KiB, MiB and GiB are powers of 1024. "
            "kbps, "
            "Mbps"
        ),
        "and Gbps are bits. For storage, AWS's GB are GiB. Costs are US dollars at list prices. All kinds accept",
        "`--region`, `--hours-per-month` (730), `--format table|json`, `--offline` and `--profile`.",
        (
            "[openapi.json](../openapi.json) describes the fields of each result. The exit status is 0, or 2 if an "
            "input "
            "is"
        ),
        "invalid, or 4 if Slackwater cannot use the profile.",
    )
    for kind, estimate in estimates().items():
        yield from section(f"`{kind}`")
        yield f"{text(estimate.title)}."
        yield ""
        schema = estimate.inputs.model_json_schema()["properties"]
        common = {"region", "hours_per_month"}
        rows = (
            (
                f"`--{name.replace('_', '-')}`",
                f"{text(schema_of['description'])}{_choices(schema_of)}",
                _default(schema_of),
            )
            for name, schema_of in schema.items()
            if name not in common
        )
        yield from table(("Input", "What it is", "Default"), rows)


def _choices(schema_of: dict[str, Any]) -> str:
    named = schema_of.get("enum", [schema_of["const"]] if "const" in schema_of else [])
    return f": {', '.join(f'`{choice}`' for choice in named)}" if named else ""


def _default(schema_of: dict[str, Any]) -> str:
    if "default" not in schema_of:
        return "required"
    value = schema_of["default"]
    return "" if value in (None, []) else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def published() -> Iterator[str]:
    """Yield the lines of the page of published figures."""
    all_figures, all_verdicts = figures(), verdicts()
    if missed := [one.what for one in (*all_figures, *all_verdicts) if not one.holds]:
        sys.exit(f"not as published: {missed}")
    yield from (
        "# Published figures and ours",
        "",
        (
            "Written by `python tools/estimate_pages.py docs/estimates`. Slackwater calculates every figure under "
            "*Ours* with"
        ),
        (
            "the report's inputs, packaged prices of ap-northeast-1 and a month of 720 hours. *Basis* says where it "
            "comes from."
        ),
        "*Formula* means AWS's documentation. *Order only* means that the report measured a page cache.",
    )
    for report in dict.fromkeys(one.report for one in all_figures):
        yield from section(report)
        yield from table(
            ("Figure", "Published", "Ours", "Difference", "Allowed", "Basis"),
            (_row(one) for one in all_figures if one.report == report),
            right=("Published", "Ours", "Difference", "Allowed"),
        )
        if concluded := [one for one in all_verdicts if one.report == report]:
            yield ""
            yield from table(
                ("Conclusion", "Published", "Ours"), ((text(one.what), one.published, one.ours) for one in concluded)
            )


def _row(one: Figure) -> tuple[str, ...]:
    allowed = "order only" if one.tolerance is None else "exact" if not one.tolerance else f"{one.tolerance * 100:g} %"
    difference = "none" if abs(one.difference) < 5e-10 else f"{one.difference * 100:+.1f} %"
    return (
        text(one.what),
        f"{_number(one.published)} {one.unit}".strip(),
        f"{_number(one.ours)} {one.unit}".strip(),
        difference,
        allowed,
        one.rests_on,
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def questions(beside: Path) -> Iterator[str]:
    """Yield the lines of the page of worked questions. Commands run in the folder `beside`, which has their files."""
    yield from (
        "# Worked questions",
        "",
        (
            "Real output, written by `python tools/estimate_pages.py docs/estimates`, which runs each command in that "
            "folder."
        ),
        ("`--offline` asks AWS nothing. Without it, the command uses the region's current prices and instance types."),
    )
    for one in QUESTIONS:
        yield from section(one.question)
        if one.about:
            yield from (one.about, "")
        yield from fenced(f"$ {one.command}\n{run(one.command, beside, one.status)}", "console")


def run(command: str, beside: Path, status: int) -> str:
    """Run a command without AWS settings, and return what it prints.

    It runs in this process, because a new process takes a second to start.
    """
    bare = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")} | {"COLUMNS": "100"}
    out, err = StringIO(), StringIO()
    with patch.dict(os.environ, bare, clear=True), chdir(beside), redirect_stdout(out), redirect_stderr(err):
        try:
            slackwater(shlex.split(command)[1:])
        except SystemExit as left:
            ended = int(left.code or 0)
    if ended != status:
        sys.exit(f"{command}: status {ended}, not {status}\n{out.getvalue()}{err.getvalue()}")
    return out.getvalue() + err.getvalue()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/estimate_pages.py DIR")
    main(Path(sys.argv[1]))
