"""The documented policy is what the adapters use, no more and no less."""

import json
import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from slackwater import aws

PAGE = (Path(__file__).parents[2] / "docs" / "permissions.md").read_text()


def used() -> set[str]:
    modules = [import_module(f"{aws.__name__}.{module.name}") for module in iter_modules(aws.__path__)]
    return set().union(*(getattr(module, "ACTIONS", ()) for module in modules))


def test_the_documented_policy_allows_just_what_the_adapters_use() -> None:
    found = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert found
    (statement,) = json.loads(found[1])["Statement"]

    assert set(statement["Action"]) == used() - {"sts:AssumeRole"}
    assert statement["Action"] == sorted(statement["Action"])


def test_every_adapter_that_makes_a_client_lists_its_actions() -> None:
    for module in iter_modules(aws.__path__):
        source = (Path(aws.__path__[0]) / f"{module.name}.py").read_text()
        if ".client(" in source:
            assert "ACTIONS" in source, module.name


def test_a_scan_can_only_read() -> None:
    verbs = {action.partition(":")[2] for action in used() - {"sts:AssumeRole"}}

    assert [verb for verb in verbs if not re.match(r"(Describe|Get|List|Lookup)[A-Z]", verb)] == []
