"""Texts that several views share."""

import sys
from dataclasses import replace
from unicodedata import category

import pytest

from slackwater.engine.cases import play
from slackwater.engine.registry import registry
from slackwater.model.findings import CEILING, REGION_DISABLED, Gap
from slackwater.model.resources import Target
from slackwater.model.verdicts import Flagged
from slackwater.views.scan import to_json as scan_json
from slackwater.views.text import words
from slackwater.views.text.one_line import one_line


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1_000, "MiB/s", "1,000 MiB/s"),
        (7.96, "MB/s", "7.96 MB/s"),
        (1_234.56, "MiB/s", "1,235 MiB/s"),
        (12.25, "percent", "12.25 %"),
        (3, "count", "3"),
        (0, "bytes", "0 bytes"),
        (1023, "bytes", "1,023 bytes"),
        (3 * 1024**3, "bytes", "3 GiB"),
        (0.000012345, "s", "1.234e-05 s"),
        ("2026-11-16", "date", "2026-11-16"),
        ("all of it", "words", "all of it"),
    ],
)
def test_values_are_shown_with_their_unit(value: float | str, unit: str, text: str) -> None:
    assert words.measure(value, unit) == text


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        ("1234.50", "saves $1,234.50 a month"),
        ("-12.00", "+$12.00 a month"),
        ("0.00", "costs nothing"),
        (None, "saving unknown"),
    ],
)
def test_savings_are_formatted(usd: str | None, text: str) -> None:
    assert words.saving(usd) == text


def test_questions_without_an_answer_are_grouped_the_most_frequent_first(make) -> None:
    doc = scan_json.document(
        make.scan(
            unknown=(make.unknown("vol-1", "denied"), *(make.unknown(f"vol-{n}", "no data") for n in range(2, 7)))
        )
    )

    assert words.reasons(doc["unknown"]) == [
        words.Reason("ebs-unattached", "no data", 5, ("vol-2", "vol-3", "vol-4")),
        words.Reason("ebs-unattached", "denied", 1, ("vol-1",)),
    ]


def test_what_was_flagged_and_left_out_is_counted(make) -> None:
    doc = scan_json.document(make.scan(kept=2, below_minimum=1))

    assert "Flagged but not listed: 2 kept by their tags, 1 below the least saving worth reporting." in words.facts(doc)


def headline(make, *findings, **changes) -> str:
    return words.headline(scan_json.document(make.scan(*findings, **changes)))


def of(make, number: int, usd: str | None, **changes: str):
    return make.finding(usd, resource=make.volume(f"vol-{number}"), id=f"{number}", **changes)


def test_the_headline_names_what_has_no_price(make) -> None:
    priced, unpriced = of(make, 1, "3.00"), of(make, 2, None)

    assert headline(make, unpriced) == "1 finding of waste, saving unknown."
    assert (
        headline(make, priced, unpriced)
        == "$3 a month ($3 with high confidence) in 2 findings, 1 without a known price."
    )


def test_the_headline_counts_no_performance_issue_as_savings(make) -> None:
    slow = [of(make, n, "9.00", kind="performance") for n in (1, 2)]
    waste, risk = of(make, 3, "3.00"), of(make, 4, "9.00", kind="risk")

    assert (
        headline(make, waste, *slow, risk)
        == "$3 a month ($3 with high confidence) in 1 finding; 2 performance issues; 1 risk."
    )
    assert headline(make, slow[0]) == "1 performance issue."
    assert headline(make) == "Nothing found in 3 EBS volumes."


def test_the_headline_does_not_say_nothing_found_if_a_check_could_not_decide(make) -> None:
    undecided = (make.unknown(), make.unknown("vol-2"))

    assert headline(make, unknown=undecided) == "No findings, but 2 checks are inconclusive."
    assert headline(make, of(make, 1, "3.00"), unknown=undecided).endswith(" in 1 finding.")
    sentences = words.completeness(scan_json.document(make.scan(unknown=undecided)))
    assert sentences == "Scan complete: every required AWS call succeeded."


def test_the_headline_of_an_incomplete_scan_says_so_first(make) -> None:
    gaps = (make.gap(), make.gap(optional=True))

    assert headline(make, gaps=gaps) == "INCOMPLETE: nothing can be said; 1 required call failed."
    assert (
        headline(make, of(make, 1, "3.00"), gaps=gaps)
        == "INCOMPLETE: at least $3 a month ($3 with high confidence) in 1 finding; 1 required call failed."
    )


def test_what_the_ceiling_held_back_did_not_fail(make) -> None:
    held = replace(make.gap(), reason=f"{CEILING}: 24.99 of 25 USD were spent (7 times)")
    reached = "the ceiling of 25 USD on metrics is reached (scan.most_metrics_usd in the policy raises it)."

    assert headline(make, gaps=(held,)) == f"INCOMPLETE: nothing can be said; {reached}"
    assert (
        headline(make, gaps=(make.gap(), held, replace(held, region="eu-west-1")))
        == f"INCOMPLETE: nothing can be said; 1 required call failed, and {reached}"
    )
    assert headline(make, gaps=(make.gap(), replace(held, optional=True))).endswith("; 1 required call failed.")


def test_resources_are_called_what_people_call_them(make) -> None:
    doc = scan_json.document(make.scan(resources={"ebs-volume": 48, "ec2-instance": 1, "new-kind": 2}))

    assert words.facts(doc)[0].startswith("Looked at 48 EBS volumes, 1 EC2 instance, 2 new-kinds in ")


def test_control_characters_show_as_their_code_points() -> None:
    assert one_line("a\x1b[31mb\r\nc\u2028d") == "a<U+001B>[31mb<U+000D><U+000A>c<U+2028>d"


@pytest.mark.parametrize(
    "mark",
    [
        "\x00",
        "\t",
        "\x9b",
        "\u3000",
        "\u200b",
        "\u200e",
        "\u202e",
        "\xa0",
        "\xad",
        "\ufeff",
        "\u3164",
        "\u2800",
        "\ufe0f",
        "\U000e0041",
        "\ud800",
    ],
)
def test_an_invisible_character_shows_as_its_code_point(mark: str) -> None:
    assert one_line(f"prod{mark}-db") == f"prod<U+{ord(mark):04X}>-db"


def test_no_character_without_a_shape_is_left() -> None:
    """Unicode's categories define the invisible characters. Among them, only the plain space may remain."""
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"}
    for one in map(chr, range(sys.maxunicode + 1)):
        if category(one) in hidden and one != " ":
            assert one not in one_line(one), f"U+{ord(one):04X}"


# --- Disabled regions -------------------------------------------------------------------------------------------------


def test_a_region_that_is_disabled_in_many_accounts_is_reported_once() -> None:
    many = [(f"{number:012}", region) for number in range(312) for region in ("eu-south-1", "af-south-1")]
    assert words.disabled_regions([*many, ("123456789012", "me-south-1")]) == [
        "A service control policy disables af-south-1, eu-south-1 in 312 accounts: Slackwater read nothing there.",
        "A service control policy disables me-south-1 in account 123456789012: Slackwater read nothing there.",
    ]
    assert words.disabled_regions([]) == []


def _disabled(make, **changes):
    shut = Gap(
        "123456789012", "ap-northeast-1", REGION_DISABLED, "region closed by a service control policy", optional=True
    )
    return make.scan(resources={}, gaps=(shut,), **changes)


def test_a_disabled_region_is_neither_scanned_nor_listed_as_failed(make) -> None:
    scan = _disabled(make)
    open_one = replace(
        make.scan().targets[0], target=Target("123456789012", "eu-west-1"), gaps=(make.gap(optional=True),)
    )
    doc = scan_json.document(replace(scan, targets=(*scan.targets, open_one)))

    facts = words.facts(doc)
    assert facts[0] == "Looked at 3 EBS volumes in eu-west-1 of account 123456789012."
    assert facts[1].startswith("A service control policy disables ap-northeast-1 in account 123456789012")
    assert [gap["what"] for gap in words.not_read(doc)] == ["fsx:DescribeVolumes"]
    assert words.completeness(doc).startswith("Scan complete, except for disabled regions: ")
    assert words.headline(doc) == "Nothing found in 3 EBS volumes."


def test_if_every_region_is_disabled_the_headline_does_not_say_that_nothing_was_found(make) -> None:
    doc = scan_json.document(_disabled(make))
    assert words.headline(doc) == "Unknown: a service control policy disables every region in this scan."
    assert words.completeness(doc) == "A service control policy disables every region in this scan. Nothing was read."
    assert words.not_read(doc) == []


def test_the_deletions_are_those_that_detectors_recommend() -> None:
    verdicts = (play(one, case) for one in registry().values() for case in one.cases if case.expect is Flagged)
    every = [to_do for verdict in verdicts if isinstance(verdict, Flagged) for to_do in verdict.advice]
    deleting = {
        to_do.action
        for to_do in every
        if to_do.deletes
        or (to_do.reversible and to_do.action.endswith(("delete", "terminate", "snapshot")))
        or (to_do.reversible and "delete" in to_do.summary and not to_do.action.startswith("move-to-"))
    }

    assert deleting == words.DELETIONS
