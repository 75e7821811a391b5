"""The template and the state machine as data: CloudFormation's tags become the functions that they stand for."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from samcli.yamlhelper import yaml_parse

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def template() -> dict[str, Any]:
    return yaml_parse((ROOT / "template.yaml").read_text())


@pytest.fixture(scope="session")
def resources(template: dict[str, Any]) -> dict[str, Any]:
    return template["Resources"]


@pytest.fixture(scope="session")
def functions(resources: dict[str, Any]) -> dict[str, Any]:
    """The functions' properties, by the name of their folder."""
    found = [one["Properties"] for one in resources.values() if one["Type"] == "AWS::Serverless::Function"]
    return {properties["CodeUri"].removeprefix("functions/"): properties for properties in found}


@pytest.fixture(scope="session")
def definition() -> str:
    return (ROOT / "statemachines" / "audit.asl.yaml").read_text()


@pytest.fixture(scope="session")
def states(definition: str) -> dict[str, Any]:
    """Every state by its name, those inside the Map too."""
    top = yaml.safe_load(definition)["States"]
    return top | top["ScanTargets"]["ItemProcessor"]["States"]
