"""Checks every locked version against known vulnerabilities, without a network.

    python tools/audit.py [--advisories PATH]... [--most-days N]

PATH is a copy of OSV's records: a folder or a zip, such as
https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip (and npm/all.zip). Without PATH, the locks are checked
against safety-db. Its last release is from 2021, and it has no advisories for npm. The output names each source and its
age. Exit status: 0 no known vulnerability, 1 vulnerable, 2 not checked.
"""

import argparse
import json
import re
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ROOT: Final = Path(__file__).parents[1]
PYTHON, NODE = "PyPI", "npm"
PINNED: Final = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*])?==([^\s;\\]+)", re.MULTILINE)
SEMVER: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?")


@dataclass(frozen=True, slots=True, order=True)
class Locked:
    """A package version in a lock file."""

    ecosystem: str
    name: str
    version: str
    file: str


@dataclass(frozen=True, slots=True)
class Source:
    """Advisories by ecosystem and package name. `newest` is the time of the latest change to one of them."""

    name: str
    newest: datetime
    ecosystems: frozenset[str]
    advisories: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]]

    def found(self, locked: Locked) -> list[str]:
        """Return the ids of the advisories that affect a version."""
        known = self.advisories.get((locked.ecosystem, locked.name), ())
        return sorted({str(one["id"]) for one in known if _is_affected(one, locked)})


def locks(root: Path) -> list[Path]:
    """Return every lock file of the project."""
    return sorted(
        path
        for pattern in (
            "requirements.txt",
            "layers/*/requirements.txt",
            "tools/requirements/*.txt",
            "t*/*/package-lock.json",
        )
        for path in root.glob(pattern)
    )


def locked_in(path: Path, root: Path) -> Iterator[Locked]:
    """Yield every package version in a lock file."""
    file = str(path.relative_to(root))
    if path.name == "package-lock.json":
        for place, one in json.loads(path.read_text())["packages"].items():
            if place:
                yield Locked(NODE, one.get("name") or place.rpartition("node_modules/")[2], one["version"], file)
    else:
        for name, version in PINNED.findall(path.read_text()):
            yield Locked(PYTHON, canonicalize_name(name), version, file)


def osv(path: Path) -> Source:
    """Read OSV's records from a folder or a zip.

    Raises:
        ValueError: There are none.
    """
    advisories = defaultdict[tuple[str, str], list[dict[str, Any]]](list)
    newest = datetime.min.replace(tzinfo=UTC)
    for text in _texts(path):
        record = json.loads(text)
        if record.get("withdrawn"):
            continue
        newest = max(newest, datetime.fromisoformat(record["modified"]))
        for affected in record.get("affected", ()):
            package = affected["package"]
            name = canonicalize_name(package["name"]) if package["ecosystem"] == PYTHON else package["name"]
            advisories[package["ecosystem"], name].append({"id": record["id"], **affected})
    if not advisories:
        raise ValueError(f"{path} holds no advisories: it has to be a folder or a zip of OSV's JSON records")
    return Source(f"OSV ({path})", newest, frozenset(ecosystem for ecosystem, _ in advisories), advisories)


def safety_db() -> Source:
    """Read the data of the PyPI package safety-db, without importing it: its module looks for data in another folder.

    Raises:
        ValueError: The package is not installed.
    """
    spec = find_spec("safety_db")
    if spec is None or spec.origin is None:
        raise ValueError("safety-db is not installed: run `make audit`, or name --advisories")
    known = json.loads((Path(spec.origin).parent / "insecure_full.json").read_text())
    newest = datetime.fromtimestamp(known.pop("$meta")["timestamp"], UTC)
    advisories = {
        (PYTHON, canonicalize_name(name)): [{"id": one.get("cve") or one["id"], "specs": one["specs"]} for one in some]
        for name, some in known.items()
    }
    return Source("safety-db", newest, frozenset({PYTHON}), advisories)


def _texts(path: Path) -> Iterator[str]:
    if path.is_dir():
        yield from (file.read_text() for file in sorted(path.rglob("*.json")))
    elif path.exists():
        with zipfile.ZipFile(path) as archive:
            yield from (archive.read(name).decode() for name in sorted(archive.namelist()) if name.endswith(".json"))


def _is_affected(advisory: Mapping[str, Any], locked: Locked) -> bool:
    if "specs" in advisory:
        return any(SpecifierSet(spec).contains(locked.version, prereleases=True) for spec in advisory["specs"])
    if locked.version in advisory.get("versions", ()):
        return True
    return any(_in_range(one["events"], locked) for one in advisory.get("ranges", ()) if one["type"] != "GIT")


def _in_range(events: Iterable[Mapping[str, str]], locked: Locked) -> bool:
    """Return whether a version is affected, by OSV's schema: from `introduced` to before `fixed` or to `last_affected`.

    `last_affected` itself is affected.
    """
    version, affected = _sortable(locked.ecosystem, locked.version), False
    order = {"introduced": 0, "fixed": 0, "last_affected": 1}
    steps = [
        (_sortable(locked.ecosystem, bound), order[kind], kind)
        for one in events
        for kind, bound in one.items()
        if kind in order
    ]
    for at, _, kind in sorted(steps, key=lambda step: step[:2]):
        if kind == "introduced" and version >= at:
            affected = True
        elif (kind == "fixed" and version >= at) or (kind == "last_affected" and version > at):
            affected = False
    return affected


def _sortable(ecosystem: str, version: str) -> Any:
    """Return a sort key for a version, in its ecosystem's order. OSV's version 0 comes before all others."""
    if ecosystem == PYTHON:
        try:
            return Version("0.dev0" if version == "0" else version)
        except InvalidVersion:
            return Version("0.dev0")
    found = SEMVER.match(version)
    if not found:
        return (0, 0, 0), ((0, 0, ""),)
    parts = tuple((0, int(one), "") if one.isdigit() else (1, 0, one) for one in (found[4] or "").split(".") if one)
    return tuple(map(int, found.groups()[:3])), parts or ((2, 0, ""),)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the sources, their age and the vulnerable versions. Return the exit status."""
    parser = argparse.ArgumentParser(description="Check every locked version against known vulnerabilities, offline.")
    parser.add_argument(
        "--advisories", metavar="PATH", type=Path, action="append", default=[], help="OSV's records: folder or zip"
    )
    parser.add_argument("--most-days", metavar="N", type=int, help="not checked, if the advisories are older")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    try:
        sources = [osv(path) for path in options.advisories] or [safety_db()]
    except (ValueError, zipfile.BadZipFile) as error:
        print(f"not checked: {error}", file=sys.stderr)
        return 2
    every = sorted({one for path in locks(options.root) for one in locked_in(path, options.root)})
    status, unchecked = 0, False
    for source in sources:
        days = (datetime.now(UTC) - source.newest).days
        of = ", ".join(sorted(source.ecosystems))
        print(f"{source.name}: newest advisory of {source.newest:%Y-%m-%d}, {days:,} days old; {of}")
        if options.most_days is not None and days > options.most_days:
            print(f"not checked: it is older than {options.most_days} days", file=sys.stderr)
            status = 2
    for ecosystem in sorted({one.ecosystem for one in every}):
        some = [one for one in every if one.ecosystem == ecosystem]
        if not any(ecosystem in source.ecosystems for source in sources):
            print(f"{ecosystem}: {len(some)} versions NOT CHECKED, as no source knows of them")
            unchecked = bool(options.advisories)  # named sources are expected to cover all ecosystems
            continue
        vulnerable = [(one, ids) for one in some if (ids := [id_ for source in sources for id_ in source.found(one)])]
        newest = max(source.newest for source in sources if ecosystem in source.ecosystems)
        known = f"with a vulnerability known by {newest:%Y-%m-%d}"
        print(f"{ecosystem}: {len(some)} versions, {len(vulnerable)} {known}")
        for one, ids in vulnerable:
            print(f"  {one.file}: {one.name} {one.version}: {', '.join(ids)}")
        status = 1 if vulnerable else status
    return 2 if unchecked and not status else status


if __name__ == "__main__":
    raise SystemExit(main())
