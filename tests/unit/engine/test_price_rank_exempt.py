"""Savings of findings, their order, and the tags with which owners protect resources."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

from slackwater.engine.evaluation import Enabled, FlaggedResource
from slackwater.engine.exempt import is_exempt
from slackwater.engine.owner import owner_of
from slackwater.engine.price import items_of, price, savings
from slackwater.model.detector import CASE_NOW, Detector, Limits
from slackwater.model.findings import Finding
from slackwater.model.money import Change, Price, PriceItem
from slackwater.model.policy import ExemptSection, OwnersSection
from slackwater.model.rank import ranked, totals
from slackwater.model.resources import Target, Volume
from slackwater.model.settings import Setting, VolumeSetting
from slackwater.model.verdicts import Advice, FindingKind, Fine, Flagged

STORAGE = PriceItem("ebs.gp3.storage", "GiB-month")
SNAPSHOT = PriceItem("ebs.snapshot.storage", "GiB-month")
TABLE = {
    STORAGE: Price(Decimal("0.08"), "a test", date(2026, 9, 1)),
    SNAPSHOT: Price(Decimal("0.05"), "a test", date(2026, 9, 1)),
}
VOLUME = Volume(
    id="vol-1", arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-1", target=Target("123456789012", "us-east-1"),
    tags={}, volume_type="gp3", size_gib=100, iops=3000, throughput_mib_s=125, state="available",
    created_at=CASE_NOW - timedelta(days=90), availability_zone="us-east-1a", multi_attach=False,
)  # fmt: skip


def advice(*changes: Change, action: str = "delete", known: bool = True) -> Advice:
    return Advice(action=action, summary="", changes=changes if known else None, risk="", reversible=True)


def flagged(
    *advices: Advice, volume: Volume = VOLUME, kind: FindingKind = "waste", detector: str = "ebs-test", **more: object
) -> FlaggedResource:
    declared = Detector(title="", kind=kind, resource=Volume, limits=Limits, judge=lambda *_: Fine(""), cases=())
    verdict = Flagged(summary="s", confidence="high", evidence=(), advice=advices, fingerprint_inputs=("gp3",))
    return FlaggedResource(Enabled(detector, declared, Limits()), volume, replace(verdict, **more))


def finding(gib: int, **more: object) -> Finding:
    return price(flagged(advice(Change(STORAGE, Decimal(gib))), **more), TABLE)  # type: ignore[arg-type]


def test_a_saving_is_units_times_price_to_the_cent() -> None:
    assert savings(advice(Change(STORAGE, Decimal(100)), Change(SNAPSHOT, Decimal(-100))), TABLE) == Decimal("3.00")


def test_a_saving_with_one_unknown_price_is_unknown_not_smaller() -> None:
    unknown = PriceItem("ebs.io9.storage", "GiB-month")

    assert savings(advice(Change(STORAGE, Decimal(100)), Change(unknown, Decimal(1))), TABLE) is None
    assert savings(advice(known=False), TABLE) is None
    assert savings(advice(), TABLE) == Decimal(0)


def test_a_finding_with_an_unknown_price_says_which_and_compares_what_is_known() -> None:
    unknown = Change(PriceItem("ebs.io9.storage", "GiB-month"), Decimal(1))
    partly = price(flagged(advice(Change(STORAGE, Decimal(100)), unknown)), TABLE)

    assert partly.monthly_savings_usd is None
    assert partly.caveats == (
        "The saving is unknown: no price is known for ebs.io9.storage. Without that, it is 8.00 USD a month.",
    )
    assert price(flagged(advice(unknown)), TABLE).caveats == (
        "The saving is unknown: no price is known for ebs.io9.storage.",
    )
    assert finding(10).caveats == price(flagged(advice(known=False)), TABLE).caveats == ()


def test_a_finding_rests_on_the_prices_it_used_and_no_other() -> None:
    assert [basis.item for basis in finding(10).price_basis] == [STORAGE]
    assert items_of([flagged(advice(Change(SNAPSHOT, Decimal(1))))]) == {SNAPSHOT}


@pytest.mark.parametrize(("gib", "severity"), [(1_250, "high"), (1_249, "medium"), (125, "medium"), (124, "low")])
def test_the_money_decides_how_severe_waste_is(gib: int, severity: str) -> None:
    assert finding(gib).severity == severity


def test_waste_of_unknown_price_is_medium() -> None:
    assert price(flagged(advice(known=False)), TABLE).severity == "medium"


def test_an_id_is_the_same_in_every_scan_and_differs_by_detector_and_region() -> None:
    there = replace(VOLUME, target=Target("123456789012", "eu-west-1"))

    assert finding(1).id == finding(2).id
    assert len({finding(1).id, finding(1, detector="ebs-other").id, finding(1, volume=there).id}) == 3


def test_a_fingerprint_ignores_age_and_cents_and_sees_what_matters() -> None:
    assert finding(1).fingerprint == finding(2, summary="8 days").fingerprint
    assert finding(1).fingerprint != finding(1, fingerprint_inputs=("gp2",)).fingerprint
    assert finding(1).fingerprint == finding(1, confidence="low").fingerprint
    assert (
        finding(1).fingerprint
        == price(flagged(advice(Change(STORAGE, Decimal(1)), action="snapshot")), TABLE).fingerprint
    )
    assert finding(1).fingerprint != finding(1, detector="ebs-other").fingerprint


def test_findings_are_ordered_by_severity_and_then_by_cost() -> None:
    findings = [finding(10), finding(2_000), finding(200), finding(3_000), finding(1, severity="high")]

    assert [f.monthly_savings_usd for f in ranked(findings)] == [
        Decimal("240.00"), Decimal("160.00"), Decimal("0.08"), Decimal("16.00"), Decimal("0.80"),
    ]  # fmt: skip


def test_a_resource_counts_once_with_its_best_recommendation() -> None:
    other = replace(VOLUME, id="vol-2", arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-2")
    two_ways = flagged(advice(Change(STORAGE, Decimal(10))), advice(Change(STORAGE, Decimal(50))))
    total = totals([price(two_ways, TABLE), finding(20, detector="ebs-other"), finding(5, volume=other)])

    assert (total.findings, total.monthly_savings_usd, total.unpriced) == (3, Decimal("4.40"), 0)


def test_a_cure_that_costs_more_takes_nothing_from_the_total_and_an_unpriced_one_is_named() -> None:
    other = replace(VOLUME, arn="other")
    total = totals([finding(-100), price(flagged(advice(known=False), volume=other), TABLE)])

    assert (total.monthly_savings_usd, total.unpriced) == (Decimal(0), 1)


def test_an_advice_that_costs_and_saves_nothing_does_not_make_a_resource_priced() -> None:
    total = totals([price(flagged(advice(known=False), advice()), TABLE)])

    assert total.unpriced == 1


@pytest.mark.parametrize(
    ("tags", "kept"),
    [
        ({"keep": ""}, True),
        ({"Keep": "false"}, True),
        ({"keep-until": "2026-12-01"}, True),
        ({"keep-until": "2026-11-16T10:00:00Z"}, True),
        ({"keep-until": "2026-11-16T08:00:00+00:00"}, False),
        ({"keep-until": "2026-11-01"}, False),
        ({"keep-until": "2026-11-16"}, True),
        ({"keep-until": "2026-11-15"}, True),  # 09:00 UTC on the 16th is still the 15th at UTC-12
        ({"keep-until": "2026-11-14"}, False),
        ({"keep-until": "2026-W10"}, True),
        ({"keep-until": "20261101"}, True),
        ({"keep-until": "2026-11-01T00:00:00"}, True),
        ({"keep-until": "the audit is over"}, True),
        ({"keeper": "yes"}, False),
        ({}, False),
        (None, True),
    ],
)
def test_keep_tags_protect_and_a_date_nobody_can_read_protects(tags: dict[str, str] | None, kept: bool) -> None:
    assert is_exempt(replace(VOLUME, tags=tags), ExemptSection(), CASE_NOW) is kept


@pytest.mark.parametrize("key", ["HandsOff", "handsoff", "Spare-Until", "SPARE-UNTIL"])
def test_the_policys_own_tags_protect_whatever_their_case(key: str) -> None:
    exempt = ExemptSection(keep_tags=["HandsOff"], keep_until_tags=["Spare-Until"])
    assert is_exempt(replace(VOLUME, tags={key: "for good"}), exempt, CASE_NOW)


@pytest.mark.parametrize(
    ("tags", "kept"),
    [
        ({"DoNotDelete": "yes"}, True),
        ({"donotdelete": "YES"}, True),
        ({"DoNotDelete": "no"}, False),
        ({"DoNotDelete": ""}, False),
        ({"DoNotDelete=yes": ""}, True),
        ({"Other": "DoNotDelete=yes"}, False),
    ],
)
def test_a_keep_tag_may_ask_for_a_value(tags: dict[str, str], kept: bool) -> None:
    assert is_exempt(replace(VOLUME, tags=tags), ExemptSection(keep_tags=["DoNotDelete=yes"]), CASE_NOW) is kept


@pytest.mark.parametrize(
    ("tags", "owner"),
    [
        ({"Team": "web", "Owner": "data"}, "data"),
        ({"Owner": "", "team": "web"}, "web"),
        ({"Project": "x"}, None),
        (None, None),
    ],
)
def test_the_first_owner_tag_that_says_something_names_whom_to_ask(
    tags: dict[str, str] | None, owner: str | None
) -> None:
    assert owner_of(replace(VOLUME, tags=tags), OwnersSection()) == owner


def test_the_lowest_cost_advice_comes_first_if_the_verdict_asks_for_it_and_unpriced_advice_last() -> None:
    some, more, unknown = (
        advice(Change(STORAGE, Decimal(10)), action="some"), advice(Change(STORAGE, Decimal(20)), action="more"),
        advice(action="unknown", known=False),
    )  # fmt: skip

    def actions(**how: bool) -> list[str]:
        priced = price(flagged(unknown, some, more, **how), TABLE)  # type: ignore[arg-type]
        return [one.advice.action for one in priced.recommendations]

    assert actions() == ["unknown", "some", "more"]
    assert actions(cheapest_first=True) == ["more", "some", "unknown"]


def test_a_program_may_do_only_what_the_findings_saving_is_of() -> None:
    slow, fast = (VolumeSetting(volume_type="gp3", iops=iops, throughput_mib_s=125) for iops in (3_000, 6_000))
    some = replace(advice(Change(STORAGE, Decimal(10)), action="some"), setting=slow)
    more = replace(advice(Change(STORAGE, Decimal(20)), action="more"), setting=fast)
    by_people = advice(Change(STORAGE, Decimal(30)), action="by people")

    def settings(*ways: Advice, **how: bool) -> list[Setting | None]:
        priced = price(flagged(*ways, **how), TABLE)  # type: ignore[arg-type]
        return [one.advice.setting for one in priced.recommendations]

    assert settings(some, more) == [slow, None]
    assert settings(some, more, cheapest_first=True) == [fast, None]
    assert settings(some, by_people, cheapest_first=True) == [None, None]
    assert settings() == []


def test_a_verdict_of_another_kind_than_its_detectors_makes_a_finding_of_that_kind() -> None:
    assert finding(100).kind == "waste"
    assert finding(100, kind="performance").kind == "performance"
    one = flagged(advice(Change(STORAGE, Decimal(1))))
    assert price(replace(one, verdict=replace(one.verdict, kind="risk")), TABLE).kind == "risk"
