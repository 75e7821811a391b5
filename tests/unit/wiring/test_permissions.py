"""The documented IAM policies allow exactly the actions that the code uses."""

import inspect
import json
import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

from slackwater import aws
from slackwater.aws.inventory import permission_checks
from slackwater.engine.registry import registry
from slackwater.wiring import permissions
from slackwater.wiring.scan_needs import needs

PAGE = (Path(__file__).parents[3] / "docs" / "permissions.md").read_text()
PAGE_OF_SECURITY = Path(__file__).parents[3] / "SECURITY.md"
(SCAN,) = (json.loads(policy)["Statement"] for policy in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
OPERATE = json.loads((Path(__file__).parents[3] / "iam/operate.json").read_text())["Statement"]

ADAPTERS = [import_module(module.name) for module in walk_packages(aws.__path__, f"{aws.__name__}.")]


def listed() -> set[str]:
    lists = (value for module in ADAPTERS for name, value in vars(module).items() if name.endswith("ACTIONS"))
    return set().union(*lists)


def test_the_documented_policy_allows_just_what_a_scan_uses() -> None:
    (statement,) = SCAN

    assert set(statement["Action"]) == permission_checks.ACTIONS
    assert statement["Action"] == sorted(statement["Action"])


def test_the_page_shows_the_file_of_the_policy() -> None:
    assert json.loads((Path(__file__).parents[3] / "iam/scan.json").read_text())["Statement"] == SCAN


def test_the_documented_policy_of_a_person_allows_just_what_the_commands_use() -> None:
    allowed = [action for statement in OPERATE for action in statement["Action"]]

    assert sorted(allowed) == sorted(permissions.OPERATE)
    assert [statement["Sid"] for statement in OPERATE if statement["Resource"] == "*"] == ["WhoAmI", "ListBackups"]


def test_the_page_names_each_statement_of_a_person_or_counts_it() -> None:
    (section,) = re.findall(r"^## What a person may do .*?\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)

    assert "| the first five |" in section
    assert {statement["Sid"] for statement in OPERATE[5:]} == set(re.findall(r"`([A-Z][a-z]\w+)`", section))


def test_the_page_says_of_each_action_what_its_want_means() -> None:
    optional = set(re.findall(r"^\| `(\S+)` \| optional access error", PAGE, re.MULTILINE))

    assert optional | {"ec2:DescribeRegions"} == {need.action for need in needs(registry()) if need.optional}


def test_the_page_says_what_an_estimate_asks() -> None:
    (section,) = re.findall(r"^## What an estimate asks\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)

    assert set(re.findall(r"`(\w+:\w+)`", section)) == permissions.ESTIMATE


def test_the_page_says_by_which_rights_somebody_can_act_as_another() -> None:
    (warning,) = re.findall(
        r"^(- `states:StartExecution` on .*^- \*\*`lambda:InvokeFunction` can impersonate any caller\*\*.*?)^In Slack",
        PAGE,
        re.MULTILINE | re.DOTALL,
    )

    assert {"lambda:UpdateFunctionCode", "iam:PassRole", "states:StartExecution", "occasion"} <= set(
        re.findall(r"`([\w:]+)`", warning)
    )


def test_who_reports_a_vulnerability_finds_how_what_for_and_for_which_versions() -> None:
    headings = re.findall(r"^## (.*)$", PAGE_OF_SECURITY.read_text(), re.MULTILINE)

    assert headings[:3] == ["Supported versions", "Report a vulnerability", "What is in scope"]


def test_every_action_of_an_adapter_is_used_by_somebody() -> None:
    functions = (
        permissions.PLAN, permissions.SCAN, permissions.PUBLISH, permissions.NOTIFY, permissions.ANNOUNCE,
        permissions.SERVE, permissions.ACKNOWLEDGE, permissions.ANSWER, permissions.WATCH, permissions.BACK_UP,
        permissions.DELETE, permissions.CHANGE, permissions.RESTORE, permissions.SWEEP, permissions.RUN,
    )  # fmt: skip

    assert listed() == permission_checks.ACTIONS.union(permissions.OPERATE, *functions)


def test_every_adapter_that_makes_a_client_lists_its_actions() -> None:
    clients = [module for module in ADAPTERS if ".client(" in inspect.getsource(module)]

    assert [module.__name__ for module in clients if "ACTIONS" not in inspect.getsource(module)] == []
    assert len(clients) > 20


def test_a_scan_can_only_read() -> None:
    verbs = {action.partition(":")[2] for action in permission_checks.ACTIONS}

    assert [verb for verb in verbs if not re.match(r"(Describe|Get|List|Lookup)[A-Z]", verb)] == []
