"""What tests of every kind share."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from samcli.yamlhelper import yaml_parse

from support.effort import THOROUGH

# The objects of thousands of tests stay alive: to look for garbage among them as often as Python does costs a tenth of the time.
gc.set_threshold(50_000, 20, 50)

# How long an example takes says how busy the machine is.
settings.register_profile("untimed", deadline=None)
settings.register_profile(THOROUGH, deadline=None)
settings.load_profile("untimed")


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
