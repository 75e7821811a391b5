"""Documents of single targets merge into the same document as a scan of all targets."""

from dataclasses import asdict, replace
from decimal import Decimal

from jsonschema import Draft202012Validator

from slackwater.model.findings import CEILING, Gap, Usage
from slackwater.model.policy_version import PolicyVersion
from slackwater.model.resources import Target
from slackwater.views.scan.merge import merged
from slackwater.views.scan.to_json import document, schema


def two(make):
    """Return a scan of two targets, and the scan of each target."""
    there = Target("123456789012", "us-east-1")
    elsewhere = replace(make.volume("vol-7"), target=there, arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-7")
    whole = make.scan(
        make.finding("10", id="a"), make.finding("10", id="b", detector="ebs-surplus-throughput"),
        make.finding(None, id="c"), unknown=(make.unknown(),), kept=2, gaps=(make.gap(optional=True),),
    )  # fmt: skip
    whole = replace(whole, detectors=("ebs-unattached",), policy=PolicyVersion(version="v1", sha256="0" * 64))
    (here,) = whole.targets
    other = replace(
        here, target=there, findings=(make.finding("12", resource=elsewhere, id="d", kind="performance"),),
        gaps=(make.gap(),), unlisted=here.unlisted[:1],
    )  # fmt: skip
    half = Usage(
        api_calls={"ec2:DescribeVolumes": 1, "fsx:DescribeVolumes": 2},
        metrics_requested=5,
        datapoints=1,
        estimated_usd=Decimal("0.00005"),
    )
    both = Usage(
        api_calls={"ec2:DescribeVolumes": 4, "fsx:DescribeVolumes": 2},
        metrics_requested=12,
        datapoints=71,
        estimated_usd=Decimal("0.00012"),
    )
    return (
        replace(whole, targets=(here, other), usage=both, finished_at=make.now.replace(microsecond=5)),
        [whole, replace(whole, targets=(other,), usage=half, finished_at=make.now.replace(microsecond=5))],
    )


def test_the_parts_come_to_the_whole(make) -> None:
    whole, parts = two(make)

    assert merged([document(part) for part in parts]) == document(whole)


def test_what_was_merged_fits_the_schema_and_merging_one_changes_nothing(make) -> None:
    whole, parts = two(make)
    Draft202012Validator(schema()).validate(merged([document(part) for part in parts]))

    assert merged([document(whole)]) == document(whole)


def test_the_earliest_start_and_the_latest_end_are_found_by_time_not_by_text(make) -> None:
    whole, _ = two(make)
    later = replace(whole, started_at=make.now.replace(microsecond=5))
    head = merged([document(later), document(replace(whole, finished_at=make.now))])["scan"]

    assert (head["started_at"], head["finished_at"]) == ("2026-11-16T09:07:00Z", "2026-11-16T09:07:00.000005Z")


def part(
    make,
    *findings,
    more: bool,
    complete: bool = True,
    reasons: tuple[str, ...] = (),
    what: str = "cloudwatch:GetMetricData",
):
    """Return a chunk of a large target."""
    gaps = tuple(Gap("123456789012", "ap-northeast-1", what, reason, optional=complete) for reason in reasons)
    return document(replace(make.scan(*findings, gaps=gaps), more=more))


def test_the_parts_of_a_large_target_are_one_target(make) -> None:
    whole = merged(
        [part(make, make.finding("10", id="a"), more=True), part(make, make.finding("11", id="b"), more=False)]
    )

    assert whole["scan"]["targets"] == [{"account": "123456789012", "region": "ap-northeast-1", "complete": True}]
    assert "more" not in whole["scan"]
    assert (whole["scan"]["complete"], whole["scan"]["resources"]) == (True, {"ebs-volume": 6})
    assert [finding["id"] for finding in whole["findings"]] == ["b", "a"]
    assert whole["totals"]["by_account"]["123456789012"]["monthly_savings_usd"] == "21.00"
    Draft202012Validator(schema()).validate(whole)


def test_a_large_target_is_complete_only_if_all_its_parts_are(make) -> None:
    good, bad = part(make, more=True), part(make, more=False, complete=False, reasons=("denied",))
    whole = merged([good, bad])

    assert (whole["scan"]["complete"], whole["scan"]["targets"][0]["complete"]) == (False, False)


def test_a_large_target_whose_last_part_is_missing_is_not_complete(make) -> None:
    whole = merged([part(make, more=True), part(make, more=True)])["scan"]

    assert (whole["complete"], whole["targets"][0]["complete"]) == (False, False)


def test_failures_are_added_over_the_chunks_and_listing_errors_are_reported_once(make) -> None:
    metrics = merged(
        [part(make, more=True, reasons=("slow (3 times)", "gone")), part(make, more=False, reasons=("slow", "gone"))]
    )
    listed = merged(
        [part(make, more=more, reasons=("slow",), what="ec2:DescribeVolumes") for more in (True, True, False)]
    )

    assert [gap["reason"] for gap in metrics["scan"]["gaps"]] == ["gone (2 times)", "slow (4 times)"]
    assert [gap["reason"] for gap in listed["scan"]["gaps"]] == ["slow"]


def test_what_the_ceiling_on_metrics_held_back_in_the_parts_is_one_gap_with_the_most_that_was_spent(make) -> None:
    spent = ("9.99 of 10 USD were spent (3 times)", "10 of 10 USD were spent", "9.98 of 10 USD were spent (2 times)")
    parts = [
        part(make, more=number < 2, complete=False, reasons=(f"{CEILING}: {reason}", "slow (2 times)"))
        for number, reason in enumerate(spent)
    ]
    reasons = [f"{CEILING}: 10 of 10 USD were spent (6 times)", "slow (6 times)"]

    for some in (parts, parts[::-1], [merged(parts[:2]), parts[2]]):
        assert [gap["reason"] for gap in merged(some)["scan"]["gaps"]] == reasons
    assert [gap["reason"] for gap in merged(parts[1:2])["scan"]["gaps"]] == [f"{CEILING}: {spent[1]}", "slow (2 times)"]


def test_what_the_ceiling_held_back_elsewhere_or_of_what_is_optional_is_another_gap(make) -> None:
    reason, elsewhere = f"{CEILING}: 10 of 10 USD were spent", f"{CEILING}: 9 of 10 USD were spent"
    here = Gap("123456789012", "ap-northeast-1", "cloudwatch:GetMetricData", reason)
    gaps = (here, replace(here, reason=elsewhere, optional=True), replace(here, reason=elsewhere, region="us-east-1"))
    whole = merged([document(make.scan(gaps=gaps))])

    assert whole["scan"]["gaps"] == [asdict(gap) for gap in gaps]


def test_accounts_and_trend_stay_and_unknown_are_counted_even_where_a_part_does_not(make) -> None:
    first, second = part(make, more=True), document(replace(make.scan(unknown=(make.unknown(),))))
    first["scan"] |= {"accounts": [{"id": "1", "name": "a", "organizational_unit": ""}], "trend": []}
    del second["totals"]["unknown"]
    whole = merged([first, second])

    assert whole["scan"]["accounts"][0]["name"] == "a"
    assert whole["scan"]["trend"] == []
    assert whole["totals"]["unknown"] == 1


def test_what_has_no_price_in_any_part_is_one_gap(make) -> None:
    reasons = (("b: 0 prices fit; c: 0 prices fit",), ("a: 0 prices fit; b: 0 prices fit",), ())
    parts = [
        part(make, more=number < 2, reasons=some, what="pricing:GetProducts") for number, some in enumerate(reasons)
    ]

    assert [gap["reason"] for gap in merged(parts)["scan"]["gaps"]] == [
        "a: 0 prices fit; b: 0 prices fit; c: 0 prices fit"
    ]
    assert [gap["reason"] for gap in merged(parts[:1])["scan"]["gaps"]] == [*reasons[0]]
