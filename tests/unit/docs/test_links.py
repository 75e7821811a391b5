"""Every relative link in Markdown has a target, and docs/index.md leads to every page in two clicks."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import pytest

ROOT: Final = Path(__file__).parents[3]
PAGES: Final = sorted(
    ROOT / name
    for name in subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split("\0")
    if name and (ROOT / name).exists()
)
LINK: Final = re.compile(r"\]\(([^()\s]+)\)")
CODE: Final = re.compile(r"^( *)(```+).*?^\1\2$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
HEADING: Final = re.compile(r"^#+ +(.*)$", re.MULTILINE)


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Yield the target and the anchor (or "") of each link of a page that does not lead to the web."""
    for link in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
        if not re.match(r"[a-z]+:", link):
            path, _, anchor = link.partition("#")
            yield (page.parent / unquote(path)).resolve() if path else page, anchor


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    text = re.sub(r"^( *)(```+).*?^\1\2$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    seen: dict[str, int] = {}
    found = set()
    for heading in HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        found.add(slug if slug not in seen else f"{slug}-{seen[slug]}")
        seen[slug] = seen.get(slug, 0) + 1
    return frozenset(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_and_anchor_of_a_page_has_a_target(page: Path) -> None:
    wrong = [
        f"{target.relative_to(ROOT)}#{anchor}"
        for target, anchor in links(page)
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target))
    ]
    assert wrong == []


def test_the_index_leads_to_every_page_of_the_docs_in_two_clicks() -> None:
    index = ROOT / "docs/index.md"
    first = {target for target, _ in links(index)}
    second = {target for page in first if page.suffix == ".md" for target, _ in links(page)}
    docs = {page for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert docs - first - second - {index} == set()


def test_the_readme_starts_with_the_two_commands_and_fits_the_screen() -> None:
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    start = lines.index("```")
    assert [line.partition("#")[0].strip() for line in lines[start + 1 : start + 3]] == ["make demo", "make test"]
    assert len(lines) <= 120
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_of_prose_is_wider_than_120_columns(page: Path) -> None:
    """Tables, code, pictures and links cannot be wrapped."""
    prose = CODE.sub(lambda code: "\n" * code[0].count("\n") if "\n" in code[0] else code[0], page.read_text("utf-8"))
    wide = [
        f"{number}: {line}"
        for number, line in enumerate(prose.splitlines(), start=1)
        if len(line) > 120 and " " in line.strip().removeprefix("- ") and not line.startswith(("|", "!["))
    ]

    assert not wide
