"""Draw a finished estimate on a terminal."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from textwrap import wrap
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from slackwater.model.estimated import Estimated
from slackwater.model.estimates import Result, usd_text
from slackwater.model.quantities import duration_words, size_words
from slackwater.model.units import HOUR_S, KIB, MINUTE_S
from slackwater.views.estimates.to_json import document
from slackwater.views.text.one_line import one_line
from slackwater.views.text.words import count, number
from slackwater_cli.grid import draw_first_that_fits, grid_of
from slackwater_cli.options import option_of

STEP: Final = 2
LABEL: Final = 44
"""Maximum width of a label, in columns. A longer one takes several lines."""
TEXT: Final = 20
HEAD: Final = 10
"""Minimum widths of a text and of a heading in a list, in columns.

Longer ones take several lines if the list is too wide.
"""
BETWEEN: Final = re.compile(r" (?=\(|to )")
"""Where a line break in a figure is allowed: `75 to 168 (1 min 15 s to 2 min 48 s)`."""
GAP: Final = 2
UNKNOWN: Final = "unknown"
SECONDS: Final = {"s": 1, "min": MINUTE_S, "h": HOUR_S}
BYTES: Final = {"B", "bytes"}
MUCH_MORE: Final = 10
"""US dollars from which a tenth of a cent does not matter."""


def draw_estimate(done: Estimated, given: Collection[str], console: Console) -> None:
    """Draw the answer in a sentence or two, its figures, and their sources. `given` are the inputs that were typed."""
    doc = document(done)
    console.print(Text(one_line(doc["summary"]), "bold"))
    console.print()
    _draw_result(done.answer.result, console, 0)
    console.print()
    console.print(Text("Assumptions", "bold underline"))
    _draw_items(doc["assumptions"], console)
    console.print(Text("Sources", "bold"))
    _draw_items(doc["sources"], console)
    if basis := doc["price_basis"]:
        console.print(Text("Prices", "bold"))
        rows = [(one["item"], one["usd"], one["unit"], one["source"], one["as_of"]) for one in basis]
        _draw_list(("Item", "USD", "Unit", "Source", "As of"), rows, console, STEP, right=(1,))
    console.print(Text("Inputs", "bold"))
    _draw_inputs(doc["inputs"], given, console)


def _draw_result(result: Result, console: Console, indent: int) -> None:
    """Draw figures beside their labels, then nested results below their labels, indented."""
    kind, figures, parts = type(result), _labelled(), list[tuple[str, Any]]()
    for name, field in kind.model_fields.items():
        label, value, null = field.description or name, getattr(result, name), _description_of(kind, name, "null")
        if _has_parts(value):
            parts.append((label, value))
        elif value not in (None, []) or null:
            figures.add_row(Text(label), _words(value, _description_of(kind, name, "unit"), null))
    console.print(_indented(figures, indent))
    for label, value in parts:
        if not indent:
            console.print()
        console.print(_indented(Text(label, "" if indent else "bold"), indent))
        if _are_alike(value):
            _draw_beside(value, console, indent + STEP)
        elif isinstance(value, Result):
            _draw_result(value, console, indent + STEP)
        else:
            _draw_results(value, console, indent + STEP)


def _has_parts(value: Any) -> bool:
    return isinstance(value, Result) or (
        isinstance(value, list | tuple) and any(isinstance(one, Result) for one in value)
    )


def _are_alike(value: Any) -> bool:
    """Return whether a result contains several results of one type, and nothing else."""
    return isinstance(value, Result) and len({type(part) for _, part in value}) == 1 < len(type(value).model_fields)


def _draw_beside(result: Result, console: Console, indent: int) -> None:
    """Draw a column for each part of a result. All parts are of one type."""
    parts = [part for _, part in result]
    kind = type(parts[0])
    rows = [
        [field.description or name, *(_cell(part, name) for part in parts)]
        for name, field in kind.model_fields.items()
        if _description_of(kind, name, "null") or any(getattr(part, name) is not None for part in parts)
    ]
    heads = [field.description or name for name, field in type(result).model_fields.items()]
    _draw_list(["", *heads], rows, console, indent)


def _cell(result: Result, name: str) -> str:
    kind = type(result)
    return _words(
        getattr(result, name), _description_of(kind, name, "unit"), _description_of(kind, name, "null") or "-"
    ).plain


def _draw_results(results: Sequence[Result], console: Console, indent: int) -> None:
    """Draw a line for each result. All are of one type."""
    kind = type(results[0])
    units = {name: _description_of(kind, name, "unit") for name in kind.model_fields}
    shown = {name: "" if unit in SECONDS else unit for name, unit in units.items()}
    heads = [
        f"{field.description or name}{shown[name] and f', {shown[name]}'}" for name, field in kind.model_fields.items()
    ]
    rows = [
        [
            _words(getattr(one, name), unit, _description_of(kind, name, "null"), in_list=True).plain
            for name, unit in units.items()
        ]
        for one in results
    ]
    right = [n for n, name in enumerate(units) if units[name] or any(_is_number(getattr(one, name)) for one in results)]
    _draw_list(heads, rows, console, indent, right)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _description_of(kind: type[Result], name: str, what: str) -> str:
    extra = kind.model_fields[name].json_schema_extra
    return str(extra.get(what, "")) if isinstance(extra, dict) else ""


def _words(value: Any, unit: str, null: str, *, in_list: bool = False) -> Text:
    """Return a value with its unit, and beside it an easier form if there is one.

    In a list, the heading has the unit.
    """
    match value:
        case None:
            return Text("price unknown" if unit.startswith("USD") and null == UNKNOWN else null, "italic")
        case bool():
            return Text("yes" if value else "no")
        case str():
            return Text(one_line(value))
        case list():
            lines = [_words(one, unit, null, in_list=in_list) for one in value] or [Text("none")]
            return (
                Text(", ").join(lines) if in_list or not value else Text("\n").join(Text("- ") + one for one in lines)
            )
    ends = value if isinstance(value, tuple) else (value,)
    if in_list and unit in SECONDS:
        return Text(_range(duration_words(end * SECONDS[unit]) for end in ends))
    exact = _range(_number(end) for end in ends) + (f" {unit}" if unit and not in_list else "")
    easier = _easier(ends, unit)
    return Text.assemble(exact, (f" ({easier})", "dim") if easier and easier != exact else "")


def _number(value: float | Decimal) -> str:
    """Format a number with up to four significant digits. Money has at least whole cents."""
    if isinstance(value, Decimal):
        return f"{value:,.2f}" if abs(value) >= MUCH_MORE else usd_text(Decimal(f"{value:.4g}"))
    return number(value)


def _easier(values: Sequence[float], unit: str) -> str:
    """Return times and sizes in units that fit; empty if the unit fits already."""
    if unit in SECONDS and max(values) * SECONDS[unit] >= MINUTE_S:
        return _range(duration_words(value * SECONDS[unit]) for value in values)
    if unit in BYTES and max(values) >= KIB:
        return _range(map(size_words, values))
    return ""


def _range(ends: Iterable[str]) -> str:
    return " to ".join(dict.fromkeys(ends))


def _draw_list(
    heads: Sequence[str], rows: Sequence[Sequence[str]], console: Console, indent: int, right: Collection[int] = ()
) -> None:
    """Draw each row on one line if all fit; else break long cells.

    Texts are broken between words, figures before the part that explains them.
    """
    parts = [[BETWEEN.sub("\n", cell) if n in right else cell for n, cell in enumerate(row)] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*parts, strict=True)]
    names = ["\n".join(wrap(head, max(HEAD, width, _longest(head)))) for head, width in zip(heads, widths, strict=True)]
    least = {
        n: max(TEXT, *map(_longest, column))
        for n, column in enumerate(zip(*rows, strict=True))
        if n not in right and widths[n] > max(TEXT, *map(_longest, column))
    }
    narrow = _list(names, parts, right)
    taken = sum(
        max(width, _width(name)) for n, (width, name) in enumerate(zip(widths, names, strict=True)) if n not in least
    )
    room = console.width - indent - taken - GAP * len(heads)
    for n, width in least.items():
        column = narrow.columns[n]
        column.no_wrap, column.width = False, min(widths[n], max(width, room // len(least)))
    draw_first_that_fits(console, _list(heads, rows, right), narrow, indent=indent)


def _width(words: str) -> int:
    return max(map(len, words.split("\n")))


def _longest(words: str) -> int:
    return max(map(len, words.split(" ")))


def _list(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int]) -> Table:
    names = [escape(head) for head in heads]
    grid = grid_of(*names, right=[names[n] for n in right])
    for row in rows:
        grid.add_row(*map(Text, row))
    return grid


def _labelled() -> Table:
    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(max_width=LABEL, overflow="fold")
    grid.add_column(overflow="fold")
    return grid


def _draw_items(lines: Iterable[str], console: Console) -> None:
    items = Table.grid(padding=(0, 1, 0, 0))
    items.add_column()
    items.add_column(overflow="fold")
    for line in lines:
        items.add_row("-", Text(one_line(line)))
    console.print(_indented(items, STEP))


def _draw_inputs(inputs: Mapping[str, Any], given: Collection[str], console: Console) -> None:
    """Draw the inputs as options, typed ones first. Inputs without a value are left out."""
    options = _labelled()
    for name in dict.fromkeys((*given, *inputs)):
        if (value := inputs[name]) is False or value in (None, "", []):
            continue
        words = (
            f"{count(len(value.splitlines()), 'line')}"
            if isinstance(value, str) and "\n" in value
            else _one_line(value)
        )
        if name in given:
            options.add_row(option_of(name), Text(words))
        else:
            options.add_row(Text(option_of(name), "dim"), Text(f"{words} (default)", "dim"))
    console.print(_indented(options, STEP))


def _one_line(value: Any) -> str:
    """Return an input in the form in which a user could type it."""
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return one_line(",".join(map(str, value)))
        case _:
            return one_line(str(value))


def _indented(what: Table | Text, by: int) -> Padding:
    return Padding(what, (0, 0, 0, by))
