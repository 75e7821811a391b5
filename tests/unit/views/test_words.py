"""The words that views share."""

import pytest

from slackwater.views import scan_json, words


@pytest.mark.parametrize(
    ("value", "unit", "said"),
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
def test_values_are_said_with_their_unit(value: float | str, unit: str, said: str) -> None:
    assert words.measure(value, unit) == said


@pytest.mark.parametrize(
    ("usd", "said"),
    [
        ("1234.50", "saves 1,234.50 USD a month"),
        ("-12.00", "costs 12.00 USD a month more"),
        ("0.00", "costs nothing"),
        (None, "saving unknown"),
    ],
)
def test_savings_are_said(usd: str | None, said: str) -> None:
    assert words.saving(usd) == said


def test_questions_without_an_answer_are_grouped_the_most_frequent_first(make) -> None:
    doc = scan_json.document(
        make.scan(unknown=(make.unknown("vol-1", "denied"), *(make.unknown(f"vol-{n}", "no points") for n in range(2, 7))))
    )

    assert words.reasons(doc["unknown"]) == [
        words.Reason("ebs-unattached", "no points", 5, ("vol-2", "vol-3", "vol-4")),
        words.Reason("ebs-unattached", "denied", 1, ("vol-1",)),
    ]


def test_what_was_flagged_and_left_out_is_counted(make) -> None:
    doc = scan_json.document(make.scan(kept=2, below_minimum=1))

    assert "Flagged but not listed: 2 kept by their tags, 1 below the least saving worth reporting." in words.facts(doc)


def test_the_headline_names_what_has_no_price(make) -> None:
    doc = scan_json.document(make.scan(make.finding(None)))

    assert words.headline(doc) == "0.00 USD a month could be saved: 1 finding; 1 resource of unknown price."


def test_control_characters_and_marks_of_direction_are_gone() -> None:
    assert words.one_line("a\x1b[31mb\nc\u202ed") == "a [31mb c d"
