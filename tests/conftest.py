"""What tests of every kind share."""

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

# The objects of thousands of tests stay alive. Looking for garbage among them as often as Python does costs a tenth of
# the time.
gc.set_threshold(50_000, 20, 50)

# How long an example takes says how busy the machine is.
settings.register_profile("untimed", deadline=None)
settings.register_profile(THOROUGH, deadline=None)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let each request to a simulator go through HTTP."""
    parser.addoption("--over-http", action="store_true", help="send requests to simulators through sockets")


@pytest.fixture(scope="session", autouse=True)
def _transport(pytestconfig: pytest.Config) -> Iterator[None]:
    """How requests reach the simulators of this process."""
    with nullcontext() if pytestconfig.getoption("--over-http") else answered_in_process():
        yield


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let the tests marked `over_http` use sockets."""
    transport["sockets"] = item.get_closest_marker("over_http") is not None


def pytest_collection_finish() -> None:
    """Never look for garbage among what stays until the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def table_properties() -> dict[str, Any]:
    """What the template says of the table, as far as CreateTable takes it."""
    template = yaml_parse((Path(__file__).parents[1] / "template.yaml").read_text())
    (declared,) = [one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::DynamoDB::Table"]
    return {
        name: declared[name] for name in ("BillingMode", "KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes")
    }
