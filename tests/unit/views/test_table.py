"""A scan for people at a terminal."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from slackwater.views import scan_json
from slackwater_cli.table import draw_scan


@pytest.fixture
def drawn(make):
    def draw(*findings, width: int = 80, terminal: bool = False, **changes) -> str:
        file = io.StringIO()
        console = Console(file=file, width=width, force_terminal=terminal, color_system="standard" if terminal else None)
        draw_scan(scan_json.document(make.scan(*findings, **changes)), console)
        return file.getvalue()

    return draw


def test_money_is_the_first_line_and_what_was_seen_the_second(drawn, make) -> None:
    lines = drawn(make.finding("1234.50"), unknown=(make.unknown(),)).splitlines()

    assert lines[0] == "1,234.50 USD a month could be saved: 1 finding."
    assert lines[1].startswith("Complete: all that is required could be read; 1 question without an answer.")


def test_a_finding_has_name_money_summary_evidence_and_the_first_way_out(drawn, make) -> None:
    text = drawn(make.finding("12.30", "-5.00"))

    for part in (
        "HIGH    ebs-unattached",
        "saves 12.30 USD a month",
        "scratch  vol-1",
        "100 GiB on no instance",
        "█·▁  Read by day: 0.5 MiB/s",
        "! It may be wanted.",
        "→ Delete it. This cannot be undone. (Or 1 other way.)",
        "        aws ec2 delete-volume",
    ):
        assert part in text
    assert "5.00" not in text


def test_what_could_not_be_seen_is_loud_at_both_ends(drawn, make) -> None:
    text = drawn(gaps=(make.gap(), make.gap(optional=True)))

    assert "INCOMPLETE: 1 required call failed" in text.splitlines()[1]
    assert "INCOMPLETE: this could not be read" in text
    assert "ap-northeast-1: fsx:DescribeVolumes: AccessDenied: not yours" in text
    assert "fsx:DescribeVolumes (optional)" in text


def test_questions_without_an_answer_are_counted_by_reason_and_the_list_is_short(drawn, make) -> None:
    text = drawn(unknown=tuple(make.unknown(f"vol-{n}", f"reason {n % 20}") for n in range(100)))

    assert "100 questions without an answer:" in text
    assert "5 × ebs-unattached: reason 0 (vol-0, vol-20, vol-40, …)" in text
    assert "and 12 other reasons" in text
    assert text.count("×") == 8


def test_markup_in_a_name_is_only_letters(drawn, make) -> None:
    name = "[bold red]x[/] [link=http://evil.example]y[/link] :warning:"
    text = drawn(make.finding(resource=make.volume(tags={"Name": name}), summary=name), width=120)

    assert text.count(name) == 2


def test_a_name_cannot_move_the_cursor_or_change_colours(drawn, make) -> None:
    name = "x\x1b[2J\x1b]8;;http://evil.example\x07y\r\nz"
    text = drawn(make.finding(resource=make.volume(tags={"Name": name})), unknown=(make.unknown(reason="a\x1b[1mb"),))

    assert "\x1b" not in text
    assert "\r" not in text


def test_a_command_stays_one_line_so_that_it_can_be_copied(drawn, make) -> None:
    command = "aws ec2 modify-volume " + "--some-option value " * 12 + "--end"
    text = drawn(make.finding(recommendations=(make.recommendation("1", command),)))

    assert f"        {command}\n" in text


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_nothing_else_is_wider_than_the_terminal(width: int, drawn, make) -> None:
    long = "a" * 250
    text = drawn(
        make.finding(resource=make.volume(tags={"Name": long}), summary="word " * 90, recommendations=()),
        gaps=(make.gap(),),
        unknown=(make.unknown(reason="why " * 50),),
        width=width,
    )

    assert max(map(cell_len, text.splitlines())) <= width
    assert text.replace("\n", "").replace(" ", "").count(long) == 1


def test_colours_are_for_terminals(drawn, make) -> None:
    assert "\x1b[" in drawn(make.finding(), terminal=True)
    assert "\x1b[" not in drawn(make.finding())
