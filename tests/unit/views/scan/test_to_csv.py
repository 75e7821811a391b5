"""A scan as CSV."""

import csv
from dataclasses import replace
from io import StringIO
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.model.resources import Target
from slackwater.views.scan import to_csv as scan_csv
from slackwater.views.scan import to_json as scan_json
from slackwater.views.text.one_line import one_line


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text, newline="")))


def test_a_finding_is_a_row_with_its_first_recommendation(make) -> None:
    (row,) = rows(scan_csv.render(make.scan(make.finding("12.30", "99"))))

    assert tuple(row) == scan_csv.COLUMNS
    assert (row["resource"], row["name"], row["monthly_savings_usd"]) == ("vol-1", "scratch", "12.30")
    assert (row["recommendation"], row["command"]) == ("Delete it.", "aws ec2 delete-volume")


def test_the_accounts_of_an_organization_have_columns_of_their_own_at_the_end(make) -> None:
    elsewhere = replace(make.volume("vol-2"), target=Target("210987654321", "eu-west-1"))
    found = scan_json.document(make.scan(make.finding(id="a"), make.finding(id="b", resource=elsewhere)))["findings"]
    account = {"id": "123456789012", "name": "=Tides", "organizational_unit": "Root/Sea"}
    known, unknown = rows("".join(scan_csv.lines(found, [account])))

    assert tuple(known) == (*scan_csv.COLUMNS, "account_name", "organizational_unit")
    assert (known["account_name"], known["organizational_unit"]) == ("'=Tides", "Root/Sea")
    assert (unknown["account_name"], unknown["organizational_unit"]) == ("", "")
    assert "".join(scan_csv.lines(found)).splitlines()[0] == ",".join(scan_csv.COLUMNS)


def test_no_findings_are_a_head_alone(make) -> None:
    assert scan_csv.render(make.scan()) == ",".join(scan_csv.COLUMNS) + "\n"


def test_unknown_money_is_an_empty_cell_and_negative_money_stays_a_number(make) -> None:
    found = rows(scan_csv.render(make.scan(make.finding(None, id="a"), make.finding("-3.50", id="b"))))

    assert [row["monthly_savings_usd"] for row in found] == ["", "-3.50"]


def test_a_finding_without_advice_has_empty_cells(make) -> None:
    (row,) = rows(scan_csv.render(make.scan(make.finding(recommendations=()))))

    assert (row["recommendation"], row["command"], row["monthly_savings_usd"]) == ("", "", "0.00")


@pytest.mark.parametrize(
    "name",
    ["=cmd|'/c calc'!A1", "+1", "-1+1", "@SUM(1)", "＝1", "＋1", "－1", "＠A", "﹢1", "﹦1"],
)
def test_a_name_that_is_a_formula_is_made_harmless(name: str, make) -> None:
    (row,) = rows(scan_csv.render(make.scan(make.finding(resource=make.volume(tags={"Name": name})))))

    assert row["name"] == f"'{name}"


@pytest.mark.parametrize("mark", ["\t", "\n", "\u200b", "\u3000", "\x1b"])
def test_names_that_look_alike_are_different_cells(mark: str, make) -> None:
    (row,) = rows(scan_csv.render(make.scan(make.finding(resource=make.volume(tags={"Name": f"{mark}=prod"})))))

    assert row["name"] == f"<U+{ord(mark):04X}>=prod"


@given(name=st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1))
def test_whatever_the_name_no_cell_is_a_formula_and_every_cell_is_read_back(make, name: str) -> None:
    (row,) = rows(scan_csv.render(make.scan(make.finding(resource=make.volume(tags={"Name": name}), summary=name))))

    for column in ("name", "summary"):
        assert row[column].removeprefix("'") == one_line(name).removeprefix("'")
        assert normalize("NFKC", row[column][0])[:1] not in {*"=+-@\t\r\n"}
