"""A scan for people at a terminal."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from slackwater.views.scan import to_json as scan_json
from slackwater_cli.table import TOP, draw_scan


@pytest.fixture
def drawn(make):
    def draw(*findings, width: int = 80, terminal: bool = False, top: int = TOP, **changes) -> str:
        file = io.StringIO()
        console = Console(
            file=file, width=width, force_terminal=terminal, color_system="standard" if terminal else None
        )
        draw_scan(scan_json.document(make.scan(*findings, **changes)), console, top=top)
        return file.getvalue()

    return draw


def test_money_is_the_first_line_and_what_was_seen_the_second(drawn, make) -> None:
    lines = drawn(make.finding("1234.50"), unknown=(make.unknown(),)).splitlines()

    assert lines[0] == "1,234.50 USD a month could be saved in 1 case."
    assert lines[1].startswith("Complete: all that is required could be read; 1 question without an answer.")


def test_a_detector_that_finds_two_kinds_shows_the_money_of_its_waste(drawn, make) -> None:
    text = drawn(
        make.finding("12.00", detector="efs-mode"),
        make.finding("0", detector="efs-mode", kind="performance", id="b"),
        make.finding("1.00", id="c"),
    )

    (row,) = [line for line in text.splitlines() if line.startswith("efs-mode ")]
    assert "waste, performance" in row
    assert "12.00" in row


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

    assert text.splitlines()[0] == "INCOMPLETE: nothing can be said; 1 required call failed."
    assert "INCOMPLETE: this could not be read" in text
    assert "ap-northeast-1: fsx:DescribeVolumes: AccessDenied: not yours" in text
    assert "fsx:DescribeVolumes (optional)" in text


def test_questions_without_an_answer_are_counted_by_reason_and_the_list_is_short(drawn, make) -> None:
    text = drawn(unknown=tuple(make.unknown(f"vol-{n}", f"reason {n % 20}") for n in range(100)))

    assert "100 questions without an answer:" in text
    assert "5 × ebs-unattached: reason 0 (vol-0, vol-20, vol-40, …)" in text
    assert "and 12 other reasons" in text
    assert text.count("×") == 8


def test_a_long_reason_is_cut_where_it_is_repeated_for_every_detector(drawn, make) -> None:
    text = drawn(unknown=(make.unknown(reason="why " * 50),), width=200)

    assert f": {'why ' * 19}why… (vol-9)" in text


def test_that_a_gap_is_optional_is_said_once(drawn, make) -> None:
    text = drawn(gaps=(make.gap(optional=True),))

    assert "Could not be read, and is optional" in text
    assert "(optional)" not in text


def test_an_incomplete_scan_is_never_green(drawn, make) -> None:
    assert drawn(gaps=(make.gap(),), terminal=True).startswith("\x1b[1;31mINCOMPLETE")


def many(make, count: int, usd: str | None, **changes: str) -> list:
    return [
        make.finding(
            usd, resource=make.volume(f"{changes.get('kind', 'waste')}-{usd}-{n}", tags={}), id=f"{usd}{n}", **changes
        )
        for n in range(count)
    ]


def test_waste_comes_first_by_money_then_what_has_no_price_then_trouble(drawn, make) -> None:
    text = drawn(
        *many(make, 1, "5", kind="performance", detector="ec2-slow"),
        *many(make, 1, None), *many(make, 1, "2", severity="low"), *many(make, 1, "1"),
    )  # fmt: skip

    wanted = ["Waste", "waste-2-0", "waste-1-0", "waste-None-0", "Performance and risk", "performance-5-0"]
    assert sorted(wanted, key=text.index) == wanted


@pytest.mark.parametrize(
    ("waste", "slow", "top", "shown"),
    [
        (50, 50, 20, (12, 8)),
        (50, 3, 20, (17, 3)),
        (4, 50, 20, (4, 16)),
        (50, 50, 0, (50, 50)),
        (2, 2, 20, (2, 2)),
        (9, 9, 1, (1, 0)),
    ],
)
def test_a_screen_has_room_for_both(waste: int, slow: int, top: int, shown: tuple[int, int], drawn, make) -> None:
    text = drawn(*many(make, waste, "2"), *many(make, slow, "0", kind="performance", detector="ec2-slow"), top=top)

    assert (text.count("waste-2-"), text.count("performance-0-")) == shown
    more = waste + slow - sum(shown)
    assert (f"… {more} more: --top 0 shows all, --format markdown or json has everything" in text) == bool(more)


def test_the_head_has_a_line_for_each_detector(drawn, make) -> None:
    head = drawn(
        *many(make, 3, "2"), *many(make, 1, None), *many(make, 2, "0", kind="performance", detector="ec2-slow")
    )

    lines = [line.split() for line in head.splitlines()]
    assert ["ebs-unattached", "waste", "4", "6.00", "1", "unpriced"] in lines
    assert ["ec2-slow", "performance", "2"] in lines


def test_after_more_than_a_screenful_the_gist_is_said_again(drawn, make) -> None:
    long, short = drawn(*many(make, 6, "2")).splitlines(), drawn(*many(make, 5, "2")).splitlines()

    assert long[-2:] == long[:2]
    assert short[0] not in short[1:]


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
