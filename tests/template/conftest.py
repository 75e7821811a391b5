"""The templates and the state machine as data: as written, and as CloudFormation would deploy them."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from samcli.yamlhelper import yaml_parse

ROOT = Path(__file__).parents[2]

ACCOUNT = "123456789012"

type Deploy = Callable[..., Stack]


class Stack(dict[str, dict[str, Any]]):
    """Properties of resources, by logical name."""

    def __init__(self, properties: dict[str, dict[str, Any]], types: dict[str, str]) -> None:
        super().__init__(properties)
        self.types = types

    def of(self, type_: str) -> dict[str, dict[str, Any]]:
        """Return the resources of one type."""
        return {name: properties for name, properties in self.items() if self.types[name] == type_}


@pytest.fixture(scope="session")
def template() -> dict[str, Any]:
    return yaml_parse((ROOT / "template.yaml").read_text())


@pytest.fixture(scope="session")
def resources(template: dict[str, Any]) -> dict[str, Any]:
    return template["Resources"]


@pytest.fixture(scope="session")
def cleanup_template() -> dict[str, Any]:
    """Return the template of the nested clean-up stack."""
    return yaml_parse((ROOT / "template-cleanup.yaml").read_text())


@pytest.fixture(scope="session")
def member_template() -> dict[str, Any]:
    """Return the template of the role in an organization's member accounts."""
    return yaml_parse((ROOT / "template-member.yaml").read_text())


@pytest.fixture(scope="session")
def deploy_member(member_template: dict[str, Any]) -> Deploy:
    """Return a function that resolves the member template.

    ACCOUNT is the auditor account, and the external id is "tide".
    """

    def deployed(**parameters: str) -> Stack:
        given = {"AWS::Partition": "aws", "AuditorAccountId": ACCOUNT, "ExternalId": "tide"}
        return resolve(member_template, given | parameters)

    return deployed


@pytest.fixture(scope="session")
def deploy(template: dict[str, Any]) -> Deploy:
    """Return a function that resolves the main template.

    `!Ref Table` becomes "Table", and `!GetAtt Table.Arn` "Table.Arn".
    """

    def deployed(**parameters: str) -> Stack:
        return resolve(template, parameters)

    return deployed


@pytest.fixture(scope="session")
def deploy_cleanup(deploy: Deploy, cleanup_template: dict[str, Any]) -> Deploy:
    """Return a function that resolves the nested stack from the main template's parameters, in the partition `aws`."""

    def deployed(**parameters: str) -> Stack:
        around = deploy(**{"CleanupEnabled": "true", **parameters})["Cleanup"]["Parameters"]
        return resolve(cleanup_template, around | {"AWS::Partition": "aws", "AWS::AccountId": ACCOUNT})

    return deployed


def resolve(template: dict[str, Any], parameters: Mapping[str, Any]) -> Stack:
    """Resolve a template with parameters, or their defaults, as far as these give values."""
    values = {name: one["Default"] for name, one in template["Parameters"].items() if "Default" in one} | dict(
        parameters
    )

    def substituted(argument: Any) -> str:
        text, own = argument if isinstance(argument, list) else (argument, {})
        return re.sub(r"\$\{([\w.:]+)}", lambda found: str((values | resolved(own)).get(found[1], found[1])), text)

    functions: dict[str, Callable[[Any], Any]] = {
        "Ref": lambda name: values.get(name, name),
        "Condition": lambda name: resolved(template["Conditions"][name]),
        "Fn::GetAtt": ".".join,
        "Fn::Sub": substituted,
        "Fn::If": lambda one: resolved(one[1] if functions["Condition"](one[0]) else one[2]),
        "Fn::Equals": lambda two: str(resolved(two[0])) == str(resolved(two[1])),
        "Fn::Not": lambda one: not resolved(one[0]),
        "Fn::And": lambda some: all(resolved(some)),
        "Fn::Join": lambda two: two[0].join(resolved(two[1])),
        "Fn::Split": lambda two: resolved(two[1]).split(two[0]),
    }

    def resolved(value: Any) -> Any:
        if isinstance(value, list):
            return [found for one in value if (found := resolved(one)) != "AWS::NoValue"]
        if not isinstance(value, dict):
            return value
        if len(value) == 1 and (name := next(iter(value))) in functions:
            return functions[name](value[name])
        return {key: found for key, one in value.items() if (found := resolved(one)) != "AWS::NoValue"}

    there = {
        name: one
        for name, one in template["Resources"].items()
        if "Condition" not in one or functions["Condition"](one["Condition"])
    }
    found = Stack(
        {name: resolved(one.get("Properties", {})) for name, one in there.items()},
        {name: one["Type"] for name, one in there.items()},
    )
    everywhere = resolved(template.get("Globals", {}).get("Function"))
    for properties in found.of("AWS::Serverless::Function").values():
        variables = everywhere["Environment"]["Variables"] | properties.get("Environment", {}).get("Variables", {})
        properties.update(everywhere | properties | {"Environment": {"Variables": variables}})
    return found


@pytest.fixture(scope="session")
def stack(deploy: Deploy) -> Stack:
    """Return the stack with default parameters."""
    return deploy()


@pytest.fixture(scope="session")
def with_slack(deploy: Deploy) -> Stack:
    """Return the stack with a secret for Slack."""
    return deploy(SlackSecretArn="secret")


@pytest.fixture(scope="session")
def cleanup(deploy_cleanup: Deploy) -> Stack:
    """Return the nested stack with clean-up enabled and no other parameters."""
    return deploy_cleanup()


@pytest.fixture(scope="session")
def functions(resources: dict[str, Any], cleanup_template: dict[str, Any]) -> dict[str, Any]:
    """Return the functions' properties in both templates, by folder name."""
    everything = [*resources.values(), *cleanup_template["Resources"].values()]
    found = [one["Properties"] for one in everything if one["Type"] == "AWS::Serverless::Function"]
    return {properties["CodeUri"].removeprefix("functions/"): properties for properties in found}


@pytest.fixture(scope="session")
def definition() -> str:
    return (ROOT / "statemachines" / "audit.asl.yaml").read_text()


@pytest.fixture(scope="session")
def states(definition: str) -> dict[str, Any]:
    """Return all states by name, including those inside the Maps."""
    top = yaml.safe_load(definition)["States"]
    batch = top["ScanTargets"]["ItemProcessor"]["States"]
    return top | batch | batch["ScanEach"]["ItemProcessor"]["States"]
