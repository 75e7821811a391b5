"""The messages in docs/slack/messages."""

import json
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
