"""Fixtures and settings for all tests."""

import gc
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from samcli.yamlhelper import yaml_parse

from support.effort import THOROUGH
from support.in_process import answered_in_process, transport

# The objects of thousands of tests stay alive. With Python's default thresholds, garbage collection takes a tenth of
# the time.
gc.set_threshold(50_000, 20, 50)

# The duration of an example depends on the load of the machine, so there is no deadline.
settings.register_profile("untimed", deadline=None)
settings.register_profile(THOROUGH, deadline=None)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that sends each request to a simulator over HTTP."""
    parser.addoption("--over-http", action="store_true", help="send requests to simulators through sockets")


@pytest.fixture(scope="session", autouse=True)
def _transport(pytestconfig: pytest.Config) -> Iterator[None]:
    """Answer requests to the simulators in this process, unless `--over-http` is given."""
    with nullcontext() if pytestconfig.getoption("--over-http") else answered_in_process():
        yield


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let the tests marked `over_http` use sockets."""
    transport["sockets"] = item.get_closest_marker("over_http") is not None


def pytest_collection_finish() -> None:
    """Exclude the objects that stay alive until the end from garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def table_properties() -> dict[str, Any]:
    """Return the template's properties of the table that CreateTable accepts."""
    template = yaml_parse((Path(__file__).parents[1] / "template.yaml").read_text())
    (declared,) = [one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::DynamoDB::Table"]
    return {
        name: declared[name] for name in ("BillingMode", "KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes")
    }
