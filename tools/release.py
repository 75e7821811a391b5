"""Build the release of the tagged commit: `python tools/release.py FOLDER`, run by `make release`.

FOLDER gets the wheel, the bundle as a zip file, and SHA256SUMS. The wheel is built twice, from two fresh exports of the
commit, and both must be equal byte by byte. Anyone who builds the tag gets the wheel that you install.
"""

import argparse
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from datetime import date
from pathlib import Path

from bundle import zipped
from slackwater_cli import VERSION

ROOT = Path(__file__).resolve().parents[1]


def git(*arguments: str) -> bytes:
    """Run a git command in the repository, and return its output."""
    return subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout  # noqa: S607


def problems(version: str, changelog: str, tags: list[str], changed: str) -> list[str]:
    """Return the problems that prevent the release, each with its fix; an empty list if there are none.

    Args:
        version: The version to release.
        changelog: The text of CHANGELOG.md.
        tags: The tags of the commit.
        changed: The output of `git status --porcelain`.
    """
    found = []
    if changed:
        found.append(f"The working tree has changes. Commit or remove them:\n{changed.rstrip()}")
    if f"v{version}" not in tags:
        has = f"it has {', '.join(tags)}" if tags else "it has no tag"
        found.append(
            f"slackwater_cli/__init__.py: VERSION is {version}, so the commit needs the tag v{version}; {has}."
        )
    heading = re.search(rf"^## {re.escape(version)}(?![\d.])(.*)$", changelog, re.MULTILINE)
    wanted = f"## {version} - YYYY-MM-DD"
    if not heading:
        found.append(f'CHANGELOG.md: no section for {version}. Add "{wanted}" below "## Unreleased".')
    elif not _is_dated(heading[1]):
        found.append(f'CHANGELOG.md: the section for {version} has no date. Write "{wanted}".')
    return found


def _is_dated(rest: str) -> bool:
    written = re.fullmatch(r" - (\d{4}-\d{2}-\d{2})", rest)
    try:
        return written is not None and bool(date.fromisoformat(written[1]))
    except ValueError:
        return False


def build(commit: str, folder: Path) -> Path:
    """Build the wheel from a fresh export of a commit, and return its path. Uses this environment's build backend."""
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(fileobj=io.BytesIO(git("archive", commit))) as archive:
            archive.extractall(scratch, filter="data")
        environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder.resolve())]
        subprocess.run(command, cwd=scratch, env=environment, stdout=subprocess.DEVNULL, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def build_twice(commit: str, folder: Path) -> Path:
    """Build the wheel into an empty folder, and check that a second build gives the same bytes.

    Raises:
        SystemExit: The two wheels differ.
    """
    wheel = build(commit, folder)
    with tempfile.TemporaryDirectory() as again:
        second = build(commit, Path(again))
        for one in (wheel, second):
            print(f"built {sha256(one)}  {one.name}", file=sys.stderr)
        if second.read_bytes() != wheel.read_bytes():
            raise SystemExit("Error: two builds of the same commit differ. Nothing is released.")
    return wheel


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> None:
    """Check the version, build, and write the checksums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files go")
    parser.add_argument(
        "--draft",
        action="store_true",
        help="build HEAD without the release checks; do not publish the result",
    )
    options = parser.parse_args()
    version = VERSION
    tags = git("tag", "--points-at", "HEAD").decode().split()
    found = problems(version, (ROOT / "CHANGELOG.md").read_text(), tags, git("status", "--porcelain").decode())
    if found and not options.draft:
        raise SystemExit("\n".join(f"Error: {one}" for one in found))
    options.folder.mkdir(parents=True, exist_ok=True)
    for old in (
        *options.folder.glob("*.whl"),
        *options.folder.glob("*-bundle.zip"),
        *options.folder.glob("SHA256SUMS"),
    ):
        old.unlink()
    wheel = build_twice("HEAD", options.folder)
    subprocess.run(["make", "--no-print-directory", "bundle"], cwd=ROOT, stdout=sys.stderr, check=True)  # noqa: S607
    packed = options.folder / f"slackwater-{version}-bundle.zip"
    packed.write_bytes(zipped(ROOT / "build/bundle"))
    sums = "".join(f"{sha256(file)}  {file.name}\n" for file in (wheel, packed))
    (options.folder / "SHA256SUMS").write_text(sums)
    print(sums, end="")


if __name__ == "__main__":
    main()
