"""What tests of every kind share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from samcli.yamlhelper import yaml_parse


@pytest.fixture(scope="session")
def table_properties() -> dict[str, Any]:
    """What the template says of the table, as far as CreateTable takes it."""
    template = yaml_parse((Path(__file__).parents[1] / "template.yaml").read_text())
    (declared,) = [one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::DynamoDB::Table"]
    return {name: declared[name] for name in ("BillingMode", "KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes")}
