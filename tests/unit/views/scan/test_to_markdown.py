"""A scan as Markdown."""

import re
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from slackwater.model.findings import PriceBasis
from slackwater.model.metrics import Series
from slackwater.model.money import EBS_GP3_THROUGHPUT, Price
from slackwater.model.verdicts import Evidence, Line
from slackwater.views.scan import to_markdown as scan_markdown
from slackwater.views.text import markdown
from support.effort import effort

PARSER = MarkdownIt("commonmark").enable("table").enable("strikethrough")


def inline_tokens(text: str) -> list[str]:
    """Return the types of all inline tokens in a text's paragraphs and cells."""
    return [child.type for token in PARSER.parse(text) if token.type == "inline" for child in token.children or ()]


def test_money_comes_first_and_every_finding_has_its_evidence(make) -> None:
    text = scan_markdown.render(make.scan(make.finding("12.30")))

    assert text.startswith("# \\$12 a month (\\$12 with high confidence) in 1 finding.\n")
    assert "| high | ebs-unattached | scratch (vol-1) | 12.30 | 100 GiB on no instance |" in text
    assert "- Read by day: 0.5 MiB/s\n  `█·▁`" in text
    assert "1. Delete it. (saves \\$12/mo; cannot be undone)" in text
    assert "   ```sh\n   aws ec2 delete-volume\n   ```" in text
    assert "- It may be wanted." in text
    assert "ebs.gp3.throughput: 0.048 USD per MiB/s-month (AWS Price List, 2026-11-01)" in text


def test_what_could_not_be_seen_is_loud(make) -> None:
    text = scan_markdown.render(make.scan(gaps=(make.gap(),), unknown=(make.unknown(),)))

    assert text.startswith("# INCOMPLETE: nothing can be said; 1 required call failed.\n")
    assert "## INCOMPLETE" in text
    assert "| fsx:DescribeVolumes | 123456789012 | ap-northeast-1 | AccessDenied: not yours | **yes** |" in text
    assert "| ebs-unattached | 0 of 14 days | 1 | vol-9 |" in text


def test_a_packaged_price_is_named_in_the_head_with_one_date(make) -> None:
    price = Price(Decimal("0.05"), "snapshot: a public table, August 2026", date(2026, 8, 1))
    text = scan_markdown.render(make.scan(make.finding(price_basis=(PriceBasis(EBS_GP3_THROUGHPUT, price),))))

    assert "- Prices: packaged snapshot, not live.\n" in text
    assert "(snapshot: a public table, August 2026)\n" in text
    assert "packaged snapshot" not in scan_markdown.render(make.scan(make.finding()))


def test_a_series_without_points_has_no_number_and_a_scale_is_shown(make) -> None:
    silent = Evidence(label="Read", value=0, unit="bytes", series=Series.of(0, 60, [None, None]))
    scaled = Evidence(label="Busiest", value=50.0, unit="MiB/s", series=Series.of(0, 60, [50.0, 0.0]), scale=100.0)
    text = scan_markdown.render(make.scan(make.finding(evidence=(silent, scaled))))

    assert "- Read: no data published\n  `··`\n" in text
    assert "- Busiest: 50 MiB/s\n  `▅▁` (full bar 100 MiB/s)\n" in text


def test_the_reference_of_a_picture_is_named_once(make) -> None:
    points, lines = Series.of(0, 60, [50.0, 0.0]), (Line("Provisioned", 100.0), Line("Proposed", 60.0))
    scaled = Evidence(label="Busiest", value=50.0, unit="MiB/s", series=points, scale=100.0, lines=lines)
    peaked = Evidence(
        label="Stuck", value=1.0, unit="MB/s", series=Series.of(0, 60, [1.0] * 9 + [90.0]), lines=lines[:1]
    )
    plain = Evidence(label="Moved", value=50.0, unit="MiB/s", series=points, lines=lines[1:])
    text = scan_markdown.render(make.scan(make.finding(evidence=(scaled, peaked, plain))))

    assert "(full bar 100 MiB/s; Proposed 60 MiB/s)\n" in text
    assert "(logarithmic; Provisioned 100 MB/s)\n" in text
    assert "(Proposed 60 MiB/s)\n" in text


def test_an_optional_gap_is_shown_without_alarm(make) -> None:
    text = scan_markdown.render(make.scan(gaps=(make.gap(optional=True),)))

    assert "INCOMPLETE" not in text
    assert "AccessDenied: not yours | no |" in text


@pytest.mark.parametrize(
    "name",
    [
        "<script>alert(1)</script>",
        "a | b",
        "`code`",
        "*bold* _it_ ~~gone~~",
        "[link](http://evil.example)",
        "![image](http://evil.example)",
        "<http://evil.example>",
        "http://evil.example www.evil.example",
        "# heading",
        "- item",
        "1. item",
        "> quote",
        "&lt;b&gt;",
        "\\",
        "line\nbreak\r\n\r\nparagraph",
    ],
)
def test_a_name_is_only_ever_text(name: str, make) -> None:
    text = scan_markdown.render(make.scan(make.finding(resource=make.volume(tags={"Name": name}))))
    plain = scan_markdown.render(make.scan(make.finding(resource=make.volume(tags={"Name": "name"}))))

    assert [token.type for token in PARSER.parse(text)] == [token.type for token in PARSER.parse(plain)]
    assert set(inline_tokens(text)) == set(inline_tokens(plain))
    assert "<script" not in text
    assert "http://" not in text


@settings(max_examples=effort(300, 60))
@given(words=st.text(st.characters(codec="utf-8")) | st.text("<>&|`*_[]()!#\\~-+=.:1 \n\tahtpw/", max_size=30))
def test_whatever_the_words_they_come_out_as_one_paragraph_of_text(words: str) -> None:
    tokens = PARSER.parse(markdown.text(words))

    assert [token.type for token in tokens] in (["paragraph_open", "inline", "paragraph_close"], [])
    assert set(inline_tokens(markdown.text(words))) <= {"text", "text_special"}
    assert not re.search(r"\w://|www\.", markdown.text(words), re.IGNORECASE)


@settings(max_examples=effort(200, 50))
@given(words=st.text(st.characters(codec="utf-8")) | st.text("|\\`", max_size=12))
def test_whatever_the_words_a_cell_stays_a_cell(words: str) -> None:
    text = "\n".join(markdown.table(("a", "b"), [(markdown.text(words), "the next cell")]))

    cells = [token.content for token in PARSER.parse(text) if token.type == "inline"]
    assert cells == ["a", "b", cells[2], "the next cell"]


@given(code=st.text("`ab\n"))
def test_code_never_leaves_its_fence(code: str) -> None:
    tokens = PARSER.parse("\n".join([*markdown.fenced(code, "sh"), "after"]))

    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
