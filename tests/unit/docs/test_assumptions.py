"""docs/assumptions.md lists every metric that verdicts use. Each row has a source or says that it is unverified."""

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import slackwater.detectors
import slackwater.engine
import slackwater.rules
from slackwater.aws.inventory.cloudwatch import ALLOWANCES, DISKS
from slackwater.engine.registry import registry
from slackwater.model.metrics import Metric

PAGE = Path(__file__).parents[3] / "docs" / "assumptions.md"
UNVERIFIED = re.compile(r"unverified", re.IGNORECASE)


def tables() -> dict[str, list[list[str]]]:
    """Return the rows of each table, by heading."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("## "):
            heading = line[3:]
        elif line.startswith("| ") and not line.startswith(("| Where |", "| Metric |")):
            found.setdefault(heading, []).append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def in_value(value: Any, depth: int = 4) -> Iterator[Metric]:
    if isinstance(value, Metric):
        yield value
    elif depth and isinstance(value, Mapping):
        for one in (*value, *value.values()):
            yield from in_value(one, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from in_value(one, depth - 1)
    elif depth and hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        for name in value.__dataclass_fields__:
            yield from in_value(getattr(value, name, None), depth - 1)


def metrics_in_use() -> set[tuple[str, str]]:
    """Return the namespace and name of every metric in the modules of detectors, rules and the engine."""
    found = {("CWAgent", name) for name in (*ALLOWANCES, *DISKS)}
    for package in (slackwater.detectors, slackwater.rules, slackwater.engine):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(module.name)).values():
                found |= {(one.namespace, one.name) for one in in_value(value)}
    return found


def documented() -> set[tuple[str, str]]:
    found = set()
    for row in tables()["Metrics"]:
        namespace, _, names = row[0].partition(" ")
        found |= {(namespace, name.strip()) for name in names.split(",")}
    return found


def test_every_metric_that_a_verdict_rests_on_is_in_the_page_and_no_other() -> None:
    used = metrics_in_use()
    assert len(used) > 40
    assert used - documented() == set()
    assert documented() - used == set()


def test_every_row_has_a_source_or_says_that_there_is_none() -> None:
    rows = [row for some in tables().values() for row in some]
    assert all(len(row) == 4 and all(row) for row in rows), [row for row in rows if len(row) != 4]
    unverified = [row[0] for row in rows if UNVERIFIED.search(row[1])]
    counts = {heading: len(some) for heading, some in tables().items()}
    print(
        f"{counts}; {len(documented())} metrics; {len(registry())} rules; {len(rows) - len(unverified)} rows with a "
        "source,"
    )
    print(f"{len(unverified)} unverified in whole or in part: {unverified}")
    assert 0 < len(unverified) < len(rows) / 4
