"""The scan document: its values, and its schema."""

import copy
import json
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from jsonschema import Draft202012Validator, ValidationError

from slackwater.model.findings import Gap, PriceBasis
from slackwater.model.metrics import Series
from slackwater.model.money import EBS_GP3_THROUGHPUT, Price
from slackwater.model.settings import EfsLifecycleSetting, EfsThroughputSetting, VolumeSetting
from slackwater.model.verdicts import Evidence, Line
from slackwater.views.scan import to_json as scan_json
from slackwater.views.scan.document import (
    EfsLifecycleSettingDocument,
    EfsThroughputSettingDocument,
    GapDocument,
    VolumeSettingDocument,
)


@pytest.fixture
def full(make):
    """Return a document with at least one of everything."""
    doc = json.loads(
        scan_json.render(
            make.scan(make.finding(), gaps=(make.gap(), make.gap(optional=True)), unknown=(make.unknown(),), kept=2)
        )
    )
    account = {"id": "123456789012", "name": "Tides", "organizational_unit": "Root/Sea"}
    before = {
        "audit_id": "a-0", "as_of": "2026-11-09T09:00:00Z", "complete": False, "findings": 2,
        "monthly_savings_usd": "7.00",
    }  # fmt: skip
    doc["scan"] |= {"accounts": [account], "trend": [before], "more": True}
    return doc


def test_a_scan_fits_its_schema(full) -> None:
    Draft202012Validator.check_schema(scan_json.schema())
    Draft202012Validator(scan_json.schema()).validate(full)


@pytest.mark.parametrize(
    ("value", "its_document"),
    [
        (Gap, GapDocument),
        (VolumeSetting, VolumeSettingDocument),
        (EfsThroughputSetting, EfsThroughputSettingDocument),
        (EfsLifecycleSetting, EfsLifecycleSettingDocument),
    ],
)
def test_what_is_copied_whole_has_the_fields_of_its_document(value: type, its_document: type) -> None:
    assert [(one.name, one.type) for one in fields(value)] == [*its_document.__annotations__.items()]


def test_an_empty_scan_fits_its_schema_too(make) -> None:
    Draft202012Validator(scan_json.schema()).validate(scan_json.document(make.scan(resources={})))


def test_a_scan_says_as_of_when_it_judged_and_one_from_before_it_did_is_still_a_scan(full) -> None:
    assert full["scan"]["as_of"] == "2026-11-15T23:00:00Z"
    older = copy.deepcopy(full)
    del older["scan"]["as_of"]
    Draft202012Validator(scan_json.schema()).validate(older)


BREAKS = {
    "a number for money": lambda doc: doc["totals"].update(monthly_savings_usd=12.3),
    "a number in a finding's money": lambda doc: doc["findings"][0].update(monthly_savings_usd=12.3),
    "a field nobody knows": lambda doc: doc["findings"][0].update(colour="red"),
    "a finding without tags": lambda doc: doc["findings"][0]["resource"].pop("tags"),
    "a severity nobody knows": lambda doc: doc["findings"][0].update(severity="urgent"),
    "words in a series": lambda doc: doc["findings"][0]["evidence"][1]["series"]["values"].append("NaN"),
    "a time as of which it cannot be": lambda doc: doc["scan"].update(as_of="2026-11-15"),
    "a local time": lambda doc: doc["scan"].update(started_at="2026-11-16T09:07:00+09:00"),
    "a total without kept": lambda doc: doc["totals"].pop("kept"),
    "a gap without its reason": lambda doc: doc["scan"]["gaps"][0].pop("reason"),
    "a kind nobody knows": lambda doc: doc["totals"]["by_kind"].update(fun=doc["totals"]["by_kind"]["waste"]),
    "words for a line": lambda doc: doc["findings"][0]["evidence"][1]["lines"][0].update(value="high"),
    "a line without a name": lambda doc: doc["findings"][0]["evidence"][1]["lines"][0].pop("label"),
    "a line with a colour": lambda doc: doc["findings"][0]["evidence"][1]["lines"][0].update(colour="red"),
    "no line at all": lambda doc: doc["findings"][0]["evidence"][1].update(lines=[]),
    "lines across nothing": lambda doc: doc["findings"][0]["evidence"][0].update(
        lines=[{"label": "Baseline", "value": 1}]
    ),
    "a forecast of words": lambda doc: doc["findings"][0]["evidence"][1]["forecast"]["values"].append("soon"),
    "a forecast without a point": lambda doc: doc["findings"][0]["evidence"][1]["forecast"].update(values=[]),
    "a forecast of more than 200 points": lambda doc: doc["findings"][0]["evidence"][1]["forecast"].update(
        values=[0.0] * 201
    ),
    "a forecast of nothing": lambda doc: [doc["findings"][0]["evidence"][1].pop(key) for key in ("series", "lines")],
    "a forecast without its period": lambda doc: doc["findings"][0]["evidence"][1]["forecast"].pop("period_s"),
    "words for a scale": lambda doc: doc["findings"][0]["evidence"][1].update(scale="high"),
    "a policy without its hash": lambda doc: doc["scan"]["policy"].pop("sha256"),
    "a detector that cannot be": lambda doc: doc["scan"]["detectors"].append("Efs Idle"),
    "a number for an owner's money": lambda doc: doc["totals"]["by_owner"]["data"].update(monthly_savings_usd=12.3),
    "an account without its name": lambda doc: doc["scan"]["accounts"][0].pop("name"),
    "a number for an account": lambda doc: doc["scan"]["accounts"][0].update(id=123456789012),
    "an audit before without its time": lambda doc: doc["scan"]["trend"][0].pop("as_of"),
    "words for whether it was complete": lambda doc: doc["scan"]["trend"][0].update(complete="yes"),
    "a last part that says so": lambda doc: doc["scan"].update(more=False),
    "another version": lambda doc: doc.update(schema="slackwater.scan/2"),
    "a call without its service": lambda doc: doc["scan"]["usage"]["api_calls"].update(DescribeVolumes=1),
}


@pytest.mark.parametrize("what", BREAKS)
def test_the_schema_refuses(what: str, full) -> None:
    broken = copy.deepcopy(full)
    BREAKS[what](broken)
    with pytest.raises(ValidationError):
        Draft202012Validator(scan_json.schema()).validate(broken)


def test_money_is_a_string_to_the_cent_and_unknown_money_is_null(make) -> None:
    doc = scan_json.document(make.scan(make.finding(None, "-3.5", id="a"), make.finding("12.3", id="b")))

    assert [f["monthly_savings_usd"] for f in doc["findings"]] == ["12.30", None]
    assert [r["monthly_savings_usd"] for r in doc["findings"][1]["recommendations"]] == [None, "-3.50"]
    assert doc["findings"][0]["price_basis"][0]["usd"] == "0.048"
    assert doc["scan"]["usage"]["estimated_usd"] == "0.00007"


def test_a_missing_point_is_null_not_zero(full) -> None:
    assert full["findings"][0]["evidence"][1]["series"] == {
        "start": "2026-11-16T09:07:00Z", "period_s": 86_400, "values": [1.0, None, 0.0],
    }  # fmt: skip
    assert "series" not in full["findings"][0]["evidence"][0]


def test_tags_that_could_not_be_read_are_null_and_no_tags_are_empty(make) -> None:
    unread, none = make.volume("vol-1", tags=None), make.volume("vol-2", tags={})
    doc = scan_json.document(make.scan(make.finding(resource=unread, id="a"), make.finding(resource=none, id="b")))

    assert [f["resource"]["tags"] for f in doc["findings"]] == [None, {}]


def test_totals_count_a_resource_once_and_name_what_has_no_price(make) -> None:
    one, other = make.volume("vol-1", tags={}), make.volume("vol-2", tags={})
    doc = scan_json.document(
        make.scan(
            make.finding("10", resource=one, detector="ebs-unattached"),
            make.finding("30", resource=one, detector="ebs-surplus-throughput"),
            make.finding(None, resource=other, detector="ebs-unattached", owner=None),
            below_minimum=4,
            unknown=(make.unknown(), make.unknown("vol-8")),
        )
    )

    assert doc["totals"] == {
        "findings": 3, "monthly_savings_usd": "30.00", "waste_monthly_savings_usd": "30.00",
        "high_confidence_usd": "30.00", "unpriced": 1, "kept": 0, "below_minimum": 4, "unknown": 2,
        "by_detector": {
            "ebs-surplus-throughput": {"findings": 1, "monthly_savings_usd": "30.00", "unpriced": 0},
            "ebs-unattached": {"findings": 2, "monthly_savings_usd": "10.00", "unpriced": 1},
        },
        "by_kind": {"waste": {"findings": 3, "monthly_savings_usd": "30.00", "unpriced": 1}},
        "by_account": {"123456789012": {"findings": 3, "monthly_savings_usd": "30.00", "unpriced": 1}},
        "by_owner": {
            "": {"findings": 1, "monthly_savings_usd": "0.00", "unpriced": 1},
            "data": {"findings": 2, "monthly_savings_usd": "30.00", "unpriced": 0},
        },
    }  # fmt: skip


def test_what_costs_nothing_to_change_has_a_price(make) -> None:
    free = replace(make.finding(), recommendations=(make.recommendation("0", changes=()),))

    assert scan_json.document(make.scan(free))["totals"]["unpriced"] == 0


def test_a_required_gap_makes_the_scan_incomplete_and_an_optional_one_does_not(make) -> None:
    for gaps, complete in (((make.gap(),), False), ((make.gap(optional=True),), True)):
        doc = scan_json.document(make.scan(gaps=gaps))
        assert (doc["scan"]["complete"], doc["scan"]["targets"][0]["complete"]) == (complete, complete)
        assert doc["scan"]["gaps"][0]["what"] == "fsx:DescribeVolumes"


def test_a_command_is_there_only_where_there_is_one(make) -> None:
    silent = make.recommendation("1", command=None)
    doc = scan_json.document(make.scan(make.finding(recommendations=(silent,))))

    assert "command" not in doc["findings"][0]["recommendations"][0]


def test_what_may_be_deleted_says_so_and_nothing_else_does(make) -> None:
    both = (make.recommendation("2", deletes=True), make.recommendation("1"))
    doc = scan_json.document(make.scan(make.finding(recommendations=both)))
    shown = doc["findings"][0]["recommendations"]

    assert [one.get("deletes") for one in shown] == [True, None]
    assert "deletes" not in shown[1]
    Draft202012Validator(scan_json.schema()).validate(doc)
    shown[1]["deletes"] = False  # type: ignore[typeddict-item]
    with pytest.raises(ValidationError):
        Draft202012Validator(scan_json.schema()).validate(doc)


SETTINGS = [
    VolumeSetting(volume_type="gp3", iops=3_000, throughput_mib_s=125),
    VolumeSetting(volume_type="io2", iops=792, throughput_mib_s=None),
    EfsThroughputSetting(mode="bursting"),
    EfsThroughputSetting(mode="provisioned", provisioned_mib_s=72),
    EfsLifecycleSetting(transition_to_ia="AFTER_30_DAYS", transition_to_primary="AFTER_1_ACCESS"),
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_a_program_may_change_a_setting_to_is_in_the_document_in_full(make, setting) -> None:
    both = (make.recommendation("2", setting=setting), make.recommendation("1"))
    doc = scan_json.document(make.scan(make.finding(recommendations=both)))
    shown = doc["findings"][0]["recommendations"]

    assert shown[0]["setting"] == asdict(setting)
    assert "setting" not in shown[1]
    Draft202012Validator(scan_json.schema()).validate(doc)
    for broken in (
        {**shown[0]["setting"], "kind": "other"},
        {"kind": setting.kind},
        {**shown[0]["setting"], "size_gib": 1},
        None,
    ):
        shown[0]["setting"] = broken
        with pytest.raises(ValidationError):
            Draft202012Validator(scan_json.schema()).validate(doc)


def test_a_series_stays_on_one_line_and_the_text_is_what_json_reads(make) -> None:
    text = scan_json.render(make.scan(make.finding()))

    assert '"values": [1.0, null, 0.0]\n' in text
    assert json.loads(text) == scan_json.document(make.scan(make.finding()))


def test_a_number_that_json_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        scan_json.dump({"value": float("nan")})


def test_times_are_utc() -> None:
    tokyo = datetime(2026, 11, 16, 18, 7, tzinfo=timezone(timedelta(hours=9)))

    assert scan_json.rfc3339(tokyo) == scan_json.rfc3339(tokyo.astimezone(UTC)) == "2026-11-16T09:07:00Z"


def test_a_picture_has_its_levels_and_a_forecast_where_it_ends(make) -> None:
    series, ahead = Series.of(0, 3_600, [4.0, 2.0]), Series.of(7_200, 3_600, [1.0, None, 0.0])
    fact = Evidence(
        label="Credits",
        value=2.0,
        unit="MiB/s",
        series=series,
        lines=(Line("Baseline", 0.5), Line("Burst", 9.0)),
        forecast=ahead,
    )

    (shown,) = scan_json.document(make.scan(make.finding(evidence=(fact,))))["findings"][0]["evidence"]

    assert shown["lines"] == [{"label": "Baseline", "value": 0.5}, {"label": "Burst", "value": 9.0}]
    assert shown["forecast"] == {"start": "1970-01-01T02:00:00Z", "period_s": 3_600, "values": [1.0, None, 0.0]}


def test_no_levels_and_no_forecast_are_no_keys(make) -> None:
    series = Series.of(0, 60, [1.0])
    facts = (
        Evidence(label="Busiest", value=1.0, unit="MiB/s", series=series),
        Evidence(label="Busiest", value=1.0, unit="MiB/s", series=series, forecast=Series.of(60, 60, [])),
    )

    for fact in scan_json.document(make.scan(make.finding(evidence=facts)))["findings"][0]["evidence"]:
        assert fact.keys() == {"label", "value", "unit", "series"}


def test_a_picture_may_have_a_scale(make) -> None:
    series = Series.of(0, 60, [1.0])
    fact = Evidence(label="Busiest", value=1.0, unit="MiB/s", series=series, scale=500.0)
    doc = scan_json.document(make.scan(make.finding(evidence=(fact,))))

    Draft202012Validator(scan_json.schema()).validate(doc)
    assert doc["findings"][0]["evidence"][0]["scale"] == 500.0


def test_a_price_has_no_exponent_and_no_idle_zeros(make) -> None:
    bases = tuple(
        PriceBasis(EBS_GP3_THROUGHPUT, Price(Decimal(usd), "list", make.now.date()))
        for usd in ("0.0740000000", "20.00", "1E-7")
    )
    doc = scan_json.document(make.scan(make.finding(price_basis=bases)))

    assert [basis["usd"] for basis in doc["findings"][0]["price_basis"]] == ["0.074", "20", "0.0000001"]


def test_a_document_without_a_policy_is_still_valid(full) -> None:
    del full["scan"]["detectors"], full["scan"]["policy"]
    Draft202012Validator(scan_json.schema()).validate(full)
