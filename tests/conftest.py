"""What tests of every kind share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from samcli.yamlhelper import yaml_parse

# How long an example takes says how busy the machine is.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_configure(config: pytest.Config) -> None:
    """Tests that take long have a mark by which they are left out."""
    config.addinivalue_line("markers", "slow: takes more than five seconds")


@pytest.fixture(scope="session")
def table_properties() -> dict[str, Any]:
    """What the template says of the table, as far as CreateTable takes it."""
    template = yaml_parse((Path(__file__).parents[1] / "template.yaml").read_text())
    (declared,) = [one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::DynamoDB::Table"]
    return {name: declared[name] for name in ("BillingMode", "KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes")}
