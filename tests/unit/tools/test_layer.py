"""The layer contains the SDK's data for the services that the code calls, and no others."""

import ast
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import boto3
import botocore
import pytest

import trim_sdk
from slackwater.aws.client.services import SERVICES

ROOT = Path(__file__).parents[3]
CODE = (ROOT / "layers" / "core" / "src", ROOT / "functions")
FORWARDED = {("permission_checks.py", "check.service"), ("session.py", "service")}
"""Calls that receive the service from their caller. Their arguments have the type Service, which mypy checks."""
DATA = "botocore/data/"


def clients(path: Path) -> Iterator[str | tuple[str, str]]:
    """Yield the services for which a file creates clients.

    If the argument is not a string constant, yield the file's name and the expression.
    """
    tree = ast.parse(path.read_text())
    constants = {
        one.target.id: one.value
        for one in tree.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    }
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not call.args:
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in ("client", "create_client", "PermissionCheck"):
            argument = call.args[0]
            if isinstance(argument, ast.Name):
                argument = constants.get(argument.id) or argument
            is_text = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            yield argument.value if is_text else (path.name, ast.unparse(argument))


def test_the_layer_carries_the_services_of_which_the_code_makes_clients() -> None:
    found = {one for folder in CODE for path in folder.rglob("*.py") for one in clients(path)}

    assert {one for one in found if isinstance(one, tuple)} == FORWARDED
    assert {one for one in found if isinstance(one, str)} == SERVICES


@pytest.fixture(scope="module")
def trimmed(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], set[str]]:
    """Return the files of the installed SDK before and after trimming."""
    packages = tmp_path_factory.mktemp("layer")
    for package in (boto3, botocore):
        source = Path(package.__file__).parent
        shutil.copytree(
            source, packages / source.name, copy_function=os.symlink, ignore=shutil.ignore_patterns("__pycache__")
        )
    before = files(packages)
    trim_sdk.trim(packages)
    return before, files(packages)


def files(folder: Path) -> set[str]:
    return {str(Path(path, name).relative_to(folder)) for path, _, names in os.walk(folder) for name in names}


def test_of_each_service_the_newest_version_stays_without_its_examples(trimmed: tuple[set[str], set[str]]) -> None:
    before, after = ([path.split("/")[2:] for path in paths if path.startswith(DATA)] for paths in trimmed)

    assert {service for service, *below in after if below} == SERVICES
    for service in SERVICES:
        newest = max(version for name, version, *_ in (one for one in before if len(one) == 3) if name == service)
        whole = {one[2] for one in before if one[:2] == [service, newest]}
        assert {tuple(one) for one in after if one[0] == service} == {
            (service, newest, file) for file in whole - {"examples-1.json"}
        }


def test_all_code_stays_and_all_data_that_belongs_to_no_service(trimmed: tuple[set[str], set[str]]) -> None:
    before, after = trimmed
    gone = {path for path in before - after if not path.startswith(("boto3/data/", "boto3/examples/"))}

    assert {path for path in gone if not path.startswith(DATA)} == set()
    assert {path for path in gone if "/" not in path.removeprefix(DATA)} == set()


def test_a_service_that_botocore_does_not_know_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / DATA).mkdir(parents=True)

    with pytest.raises(SystemExit, match="botocore has no data of 'backup'"):
        trim_sdk.trim(tmp_path)
