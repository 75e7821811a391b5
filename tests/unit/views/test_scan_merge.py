"""Documents of single targets, put together: the same as one document of them all."""

from dataclasses import replace
from decimal import Decimal

from jsonschema import Draft202012Validator

from slackwater.model.findings import Usage
from slackwater.model.policy_version import PolicyVersion
from slackwater.model.resources import Target
from slackwater.views.scan_json import document, schema
from slackwater.views.scan_merge import merged


def two(make):
    """A scan of two targets, and the scans of each."""
    there = Target("123456789012", "us-east-1")
    elsewhere = replace(make.volume("vol-7"), target=there, arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-7")
    whole = make.scan(
        make.finding("10", id="a"), make.finding("10", id="b", detector="ebs-surplus-throughput"), make.finding(None, id="c"),
        unknown=(make.unknown(),), kept=2, gaps=(make.gap(optional=True),),
    )  # fmt: skip
    whole = replace(whole, detectors=("ebs-unattached",), policy=PolicyVersion(version="v1", sha256="0" * 64))
    (here,) = whole.targets
    other = replace(
        here, target=there, findings=(make.finding("12", resource=elsewhere, id="d", kind="performance"),), gaps=(make.gap(),), unlisted=here.unlisted[:1],
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
