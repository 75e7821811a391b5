"""Functions that the docs name beside links to files exist there: `[file.py](path) `name`, `other``."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NAMED = re.compile(r"\]\((?P<file>[^)#]+\.py)\)(?P<names>(?:,? `\w+`)+)")
PAGES = [page for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")) if NAMED.search(page.read_text())]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_name_beside_a_file_is_in_that_file(page: Path) -> None:
    missing = [
        f"{found['file']}: {name}"
        for found in NAMED.finditer(page.read_text())
        for name in re.findall(r"\w+", found["names"])
        if not re.search(rf"\b{name}\b", (page.parent / found["file"]).read_text())
    ]

    assert not missing


def test_there_are_such_pages() -> None:
    assert "cleanup-rails.md" in {page.name for page in PAGES}
