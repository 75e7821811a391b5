"""The lock contains every declared dependency within its bounds, and no download URL."""

import re
import tomllib
from importlib import metadata
from itertools import pairwise
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[3]
WORKSPACE = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = WORKSPACE["project"]
ENGINE = [
    line
    for line in (ROOT / "layers/core/requirements.in").read_text().splitlines()
    if line and not line.startswith("#")
]
LOCK = (ROOT / "requirements.txt").read_text()
PINNED = {
    canonicalize_name(name): version
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", LOCK, re.MULTILINE)
}


def declared() -> list[str]:
    groups = (*PROJECT["optional-dependencies"].values(), *WORKSPACE["dependency-groups"].values())
    return sorted({*PROJECT["dependencies"], *(one for group in groups for one in group)})


@pytest.mark.parametrize("dependency", declared())
def test_the_lock_holds_it_within_its_bounds(dependency: str) -> None:
    requirement = Requirement(dependency)

    assert requirement.specifier.contains(PINNED[canonicalize_name(requirement.name)], prereleases=True)


def test_every_version_has_hashes_and_no_address() -> None:
    assert "://" not in LOCK
    lines = [line for line in LOCK.splitlines() if line and not line.startswith("#")]
    assert [
        before for before, after in pairwise([*lines, ""]) if not before.startswith(" ") and "--hash=" not in after
    ] == []


LAYER = (ROOT / "layers" / "core" / "requirements.txt").read_text()


def entries(lock: str) -> dict[str, tuple[str, set[str]]]:
    """Return the version and hashes of each package in a lock."""
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)[^\n]*((?:\n    --hash=\S+ ?\\?)+)", lock, re.MULTILINE)
    return {
        canonicalize_name(name): (version, set(re.findall(r"--hash=(\S+)", hashes))) for name, version, hashes in found
    }


def needed(names: list[str]) -> set[str]:
    """Return these packages and all their installed dependencies."""
    found: set[str] = set()
    todo = [canonicalize_name(name) for name in names]
    while todo:
        if (name := todo.pop()) in found:
            continue
        found.add(name)
        requirements = map(Requirement, metadata.requires(name) or [])
        todo += [
            canonicalize_name(one.name) for one in requirements if not one.marker or one.marker.evaluate({"extra": ""})
        ]
    return found


def test_the_layers_lock_is_what_it_needs_of_this_one_the_sdk_too() -> None:
    assert PROJECT["dependencies"][: len(ENGINE)] == ENGINE
    names = [Requirement(one).name for one in ENGINE]

    assert set(entries(LAYER)) == needed(names) > {"boto3", "botocore"}
    assert {name: entries(LOCK)[name] for name in entries(LAYER)} == entries(LAYER)
    assert "://" not in LAYER
