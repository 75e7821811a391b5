"""A release needs a clean tree, a tag, and a dated section in the changelog, all for one version."""

from pathlib import Path

import pytest

import release

DATED = "# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-11-23\n\n- One thing.\n"


def test_a_version_with_its_tag_and_dated_section_is_released() -> None:
    assert release.problems("1.2.3", DATED, ["v1.2.3"], "") == []


@pytest.mark.parametrize(
    ("changelog", "tags", "changed", "message"),
    [
        (DATED, [], "", "the commit needs the tag v1.2.3; it has no tag."),
        (DATED, ["v1.2.4"], "", "the commit needs the tag v1.2.3; it has v1.2.4."),
        (DATED, ["v1.2.3"], " M README.md\n", "The working tree has changes. Commit or remove them:\n M README.md"),
        ("## Unreleased\n", ["v1.2.3"], "", "no section for 1.2.3"),
        (DATED.replace("1.2.3", "1.2.30"), ["v1.2.3"], "", "no section for 1.2.3"),
        (DATED.replace(" - 2026-11-23", ""), ["v1.2.3"], "", "has no date"),
        (DATED.replace("11-23", "13-23"), ["v1.2.3"], "", "has no date"),
    ],
)
def test_missing_release_parts_are_listed(changelog: str, tags: list[str], changed: str, message: str) -> None:
    (problem,) = release.problems("1.2.3", changelog, tags, changed)

    assert message in problem


def test_two_builds_that_differ_are_no_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(_: str, folder: Path) -> Path:
        (folder / "a.whl").write_text(str(folder))
        return folder / "a.whl"

    monkeypatch.setattr(release, "build", build)
    with pytest.raises(SystemExit, match="two builds of the same commit differ"):
        release.build_twice("HEAD", tmp_path)
