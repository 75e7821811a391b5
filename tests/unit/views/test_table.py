"""The table of a scan for a terminal."""

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from slackwater.views.scan import to_json as scan_json
from slackwater_cli.table import TOP, draw_scan


@pytest.fixture
def drawn(make):
    def draw(
        *findings, width: int = 80, terminal: bool = False, top: int = TOP, details: bool = False, **changes
    ) -> str:
        file = io.StringIO()
        console = Console(
            file=file, width=width, force_terminal=terminal, color_system="standard" if terminal else None
        )
        draw_scan(scan_json.document(make.scan(*findings, **changes)), console, top=top, details=details)
        return file.getvalue()

    return draw


def test_money_is_the_first_line_and_what_was_seen_the_second(drawn, make) -> None:
    lines = drawn(make.finding("1234.50"), unknown=(make.unknown(),)).splitlines()

    assert lines[0] == "$1,234 a month ($1,234 with high confidence) in 1 finding."
    assert lines[1] == "Scan complete: every required AWS call succeeded. Scan cost: under $0.01."
    assert "1 inconclusive check" in lines
    assert (
        " ".join("\n".join(lines[2:4]).split())
        == "Do first (largest saving): EBS volume scratch, saves $1,234/mo: delete (owner data)"
    )


def test_what_to_do_first_says_if_that_is_not_sure_and_a_title_how_many_more_there_are(drawn, make) -> None:
    findings = [make.finding(f"{usd}.00", id=f"{usd}", confidence="medium") for usd in range(99, 69, -1)]
    text = drawn(*findings, make.finding("-1.00", id="p", kind="performance"))

    assert "saves $99/mo, medium confidence: " in text
    assert "Waste: 19 of 30 shown   ~: medium confidence\n" in text
    assert "Performance issues and risks   Bill/mo: + costs more, - saves\n" in text


def test_a_finding_has_name_money_summary_evidence_and_every_option(drawn, make) -> None:
    text = drawn(make.finding("12.30", "-5.00", caveats=("It may be wanted.", "Two.", "Three.")), details=True)

    for part in (
        "ebs-unattached  severity high, high confidence",
        "saves $12/mo",
        "https://console.aws.amazon.com/ec2/home?region=ap-northeast-1#VolumeDetails:volumeId=vol-1",
        "! 1 more caveat: slackwater detectors show ebs-unattached",
        "scratch  vol-1",
        "100 GiB on no instance",
        "█·▁  Read by day: 0.5 MiB/s",
        "! It may be wanted.",
        "→ Delete it. You cannot undo this.",
        "          Risk: It is gone.",
        "        Or (fix: +$5/mo): Delete it. You cannot undo this.",
        "        aws ec2 delete-volume",
    ):
        assert part in text
    assert text.count("Risk: ") == 1
    assert "Three." not in text


def test_what_could_not_be_seen_is_loud_at_both_ends(drawn, make) -> None:
    text = drawn(gaps=(make.gap(), make.gap(optional=True)))

    assert text.splitlines()[0] == "INCOMPLETE: nothing can be said; 1 required call failed."
    assert "INCOMPLETE: these calls failed" in text
    assert "ap-northeast-1: fsx:DescribeVolumes: AccessDenied: not yours" in text
    assert "fsx:DescribeVolumes (optional)" in text


def test_questions_without_an_answer_are_counted_by_reason_and_the_list_is_short(drawn, make) -> None:
    text = drawn(unknown=tuple(make.unknown(f"vol-{n}", f"reason {n % 20}") for n in range(100)))

    assert "100 inconclusive checks" in text
    assert "5 × ebs-unattached: reason 0 (vol-0, vol-20, vol-40, …)" in text
    assert "and 90 checks for 18 other reasons" in text
    assert text.count("×") == 2


def test_a_long_reason_is_cut_where_it_is_repeated_for_every_detector(drawn, make) -> None:
    text = drawn(unknown=(make.unknown(reason="why " * 50),), width=200, details=True)

    assert f": {'why ' * 19}why… (vol-9)" in text


def test_optional_gaps_are_labelled_once(drawn, make) -> None:
    text = drawn(gaps=(make.gap(optional=True),))

    assert "Optional calls that failed" in text
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


def test_waste_is_ordered_by_money_then_unpriced_then_performance_issues(drawn, make) -> None:
    text = drawn(
        *many(make, 1, "5", kind="performance", detector="ec2-slow"),
        *many(make, 1, None), *many(make, 1, "2", severity="low"), *many(make, 1, "1"),
    )  # fmt: skip

    table = text.partition("\nWaste")[2]
    wanted = ["waste-2-0", "waste-1-0", "waste-None-0", "Performance issues and risks", "performance-5-0"]
    assert sorted(wanted, key=table.index) == wanted


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

    table = text.partition("\nWaste")[2]
    assert (table.count("waste-2-"), table.count("performance-0-")) == shown
    more = waste + slow - sum(shown)
    assert bool(re.search(f"--top 0 +the other {more} findings", text)) == bool(more)


def test_markup_in_a_name_is_only_letters(drawn, make) -> None:
    name = "[bold red]x[/] [link=http://evil.example]y[/link] :warning:"
    text = drawn(make.finding(resource=make.volume(tags={"Name": name}), summary=name), width=120, details=True)

    assert text.count(name) == 2


def test_a_name_cannot_move_the_cursor_or_change_colours(drawn, make) -> None:
    name = "x\x1b[2J\x1b]8;;http://evil.example\x07y\r\nz"
    text = drawn(make.finding(resource=make.volume(tags={"Name": name})), unknown=(make.unknown(reason="a\x1b[1mb"),))

    assert "\x1b" not in text
    assert "\r" not in text


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("details", [False, True])
def test_nothing_is_wider_than_the_terminal(width: int, details: bool, drawn, make) -> None:
    long = "a" * 250
    text = drawn(
        make.finding(
            resource=make.volume(id="v", tags={"Name": long}), owner=long, summary="word " * 90,
            recommendations=(make.recommendation("1", "aws ec2 modify-volume " + "--some-option value " * 12),),
        ),
        gaps=(make.gap(),), unknown=(make.unknown(reason="why " * 50),), width=width, details=details,
    )  # fmt: skip

    lines = [line for line in text.splitlines() if "https://" not in line]
    assert max(map(cell_len, lines)) <= width


def test_the_severity_and_the_sign_of_low_confidence_are_explained_above_the_rows(drawn, make) -> None:
    text = drawn(make.finding("12.30", confidence="low"), make.finding("-352.15", id="b", kind="performance"))

    waste, issues = text.split("Performance issues and risks")
    assert waste.index("?: low confidence") < waste.index("Sev.") < waste.index("?$12")
    assert "~" not in text
    assert issues.split("\n", 1)[1].split()[:8] == [
        "Sev.",
        "Bill/mo",
        "What",
        "Name",
        "Owner",
        "Fix",
        "high",
        "+$352",
    ]


def test_detectors_and_names_differ_in_a_narrow_table(drawn, make) -> None:
    """These names and detectors differ only after their first words."""
    rows = [
        make.finding(
            "-4",
            id=f"{number}",
            resource=make.volume(tags={"Name": f"wordpress-{place}-wordpress"}),
            owner="platform-engineering",
            kind="performance",
            detector=f"ec2-network-{detector}",
        )
        for number, (place, detector) in enumerate([("staging", "over-baseline"), ("content", "throttled")])
    ]
    text = drawn(*rows)

    for start in ("wordpress-stag", "wordpress-cont", "ec2-network-ov", "ec2-network-th"):
        assert f" {start}" in text


def test_a_fix_that_saves_lowers_the_bill_and_a_free_one_leaves_it(drawn, make) -> None:
    text = drawn(make.finding("2.74", kind="performance"), make.finding("0", id="b", kind="performance"))

    rows = [line.split()[:2] for line in text.splitlines() if line.startswith("high")]
    assert rows == [["high", "-$2.74"], ["high", "$0"]]


def test_fifty_findings_fit_in_45_lines(drawn, make) -> None:
    text = drawn(
        *many(make, 42, "2"), *many(make, 12, "0", kind="performance", detector="ec2-slow"),
        unknown=tuple(make.unknown(f"vol-{n}", f"reason {n}") for n in range(9)), gaps=(make.gap(),),
    )  # fmt: skip

    assert len(text.splitlines()) <= 45


def test_colours_are_for_terminals(drawn, make) -> None:
    assert "\x1b[" in drawn(make.finding(), terminal=True)
    assert "\x1b[" not in drawn(make.finding())


def test_an_instance_type_keeps_its_hyphen_in_the_table(drawn, make) -> None:
    finding = make.finding("12.30")
    advice = replace(finding.recommendations[0].advice, action="change-instance-type-to-m7i-flex.large")
    changed = replace(finding, recommendations=(replace(finding.recommendations[0], advice=advice),))

    assert "use m7i-flex.large" in drawn(changed)


def test_a_large_amount_to_provision_is_not_cut_off(drawn, make) -> None:
    finding = make.finding("12.30")
    advice = replace(finding.recommendations[0].advice, action="raise-provisioned-in-steps", new_value="1,024 MiB/s")
    text = drawn(replace(finding, recommendations=(replace(finding.recommendations[0], advice=advice),)))

    assert "set 1,024 MiB/s" in text
