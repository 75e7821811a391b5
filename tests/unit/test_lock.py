"""The lock holds every declared dependency, within its bounds, and no download address."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
OURS = {"slackwater", "slackwater-cli", "slackwater-simulator"}
LOCK = (ROOT / "requirements.txt").read_text()
PINNED = {
    canonicalize_name(name): version for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", LOCK, re.MULTILINE)
}


def declared() -> list[str]:
    found: list[str] = []
    for path in (ROOT / "pyproject.toml", *(ROOT / p / "pyproject.toml" for p in ("layers/core", "cli", "simulator"))):
        project = tomllib.loads(path.read_text())
        found += project["project"].get("dependencies", [])
        found += [one for group in project.get("dependency-groups", {}).values() for one in group]
    return sorted({one for one in found if canonicalize_name(Requirement(one).name) not in OURS})


@pytest.mark.parametrize("dependency", declared())
def test_the_lock_holds_it_within_its_bounds(dependency: str) -> None:
    requirement = Requirement(dependency)

    assert requirement.specifier.contains(PINNED[canonicalize_name(requirement.name)], prereleases=True)


def test_every_version_has_hashes_and_no_address() -> None:
    assert "://" not in LOCK
    lines = [line for line in LOCK.splitlines() if line and not line.startswith("#")]
    assert [before for before, after in pairwise([*lines, ""]) if not before.startswith(" ") and "--hash=" not in after] == []
