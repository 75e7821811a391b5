"""The example messages in docs/slack/messages."""

import json
import re
from pathlib import Path

import pytest

import slack_messages
import slack_pictures

DOCS = Path(__file__).parents[4] / "docs/slack/messages"
FILES = sorted(DOCS.glob("*.json"))


def test_there_is_one_of_each_kind_and_they_are_as_they_would_be_sent(tmp_path: Path) -> None:
    slack_messages.main(tmp_path)

    assert {path.name for path in DOCS.iterdir()} == {path.name for path in tmp_path.iterdir()}
    stale = [path.name for path in DOCS.iterdir() if path.read_bytes() != (tmp_path / path.name).read_bytes()]
    assert not stale, f"run 'make docs': {stale}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_slack_takes_it(path: Path, limits) -> None:
    written = json.loads(path.read_text(encoding="utf-8"))
    for one in written if isinstance(written, list) else [written]:
        assert (limits.of_view if one.get("type") == "modal" else limits.of_message)(one) == []


@pytest.mark.parametrize("many", [0, 1, 49, 51, 5_000])
@pytest.mark.parametrize("by", ["bot", "webhook"])
def test_a_digest_is_one_message_and_five_in_its_thread_at_most(many: int, by: str) -> None:
    written = json.loads((DOCS / f"digest-{many}-{by}.json").read_text(encoding="utf-8"))

    assert 1 <= len(written) <= 6
    assert ("actions" in json.dumps(written)) == (by == "bot" and many > 0)


def test_names_that_would_like_to_do_harm_are_in_them_and_do_none() -> None:
    written = (DOCS / "digest-hostile-names.json").read_text(encoding="utf-8")

    assert "<img src=x onerror=alert(1)>" in written
    for harm in ("<!channel>", "@here", "<@U0123ABCDEF>", "\u202e", "n" * 201, "\x1b"):
        assert harm not in json.loads(json.dumps(written))


def test_the_pictures_show_the_messages_as_they_are() -> None:
    for name, (file, place) in slack_pictures.PICTURES.items():
        stored = json.loads((DOCS / f"{file}.json").read_text())
        drawn = slack_pictures.picture(stored[place] if isinstance(stored, list) else stored)

        assert (DOCS.parent / f"{name}.svg").read_text() == drawn, "run 'make docs'"
        assert "Fix: " in drawn or "To keep it: " in drawn


@pytest.mark.parametrize("name", slack_pictures.PICTURES)
def test_a_picture_has_names_for_ids_and_dots_for_icons_and_its_lines_are_short(name: str) -> None:
    svg = (DOCS.parent / f"{name}.svg").read_text()

    assert not re.search(r"@[US]0|[🔴🟠🟡⚪\u2060]", svg)
    assert ("<circle" in svg) == (name != "warning")
    assert ("@video" in svg) == (name != "thread")
    lines = re.findall(r'font-size="15".*?>(.*)</text>', svg)
    assert max(len(re.sub("<.*?>", "", line)) for line in lines) <= slack_pictures.COLUMNS


def test_a_picture_is_bold_only_where_the_message_is() -> None:
    digest, warning = ((DOCS.parent / f"{name}.svg").read_text() for name in ("digest", "warning"))

    assert '<tspan font-weight="700">archive-01 (fs-00000000000001ef0)</tspan> · saves $368.64 a month<' in digest
    assert '<tspan font-weight="700">Deletes on: </tspan>16 Dec 2026' in warning
    assert ">Resolved: 6 findings" in digest


def test_every_character_of_a_text_is_drawn_once() -> None:
    spans = [("🔴 a long name ", True), ("and words " * 40 + "\nthe end", False)]
    lines = [*slack_pictures.wrapped(spans, "text")]

    assert " ".join("".join(text for text, _ in line.spans) for line in lines) == "a long name " + "and words " * 40 + (
        "the end"
    )
    assert [line.dot for line in lines] == [slack_pictures.DOTS["🔴"], *[""] * (len(lines) - 1)]
