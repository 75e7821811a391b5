"""Regions that an account cannot use: one gap replaces the failed calls, and known findings there are not resolved."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from slackwater.aws.inventory.inventory import READERS
from slackwater.engine.disabled_region import LISTED, summarize_gaps
from slackwater.engine.merge import merge_one
from slackwater.engine.observed import observed
from slackwater.model.cleanup import Cleanup
from slackwater.model.findings import NOT_ENABLED, REGION_DISABLED, Gap, TargetScan
from slackwater.model.resources import (
    RESOURCE_KINDS,
    EfsFileSystem,
    FsxFileSystem,
    Instance,
    InstanceType,
    Target,
    Volume,
)
from slackwater.model.tracking import Decision, FindingRecord, TargetReport, TrackedFinding, TrackedResource

HERE = Target("123456789012", "eu-south-1")
WHO = "User: arn:aws:sts::123456789012:assumed-role/SlackwaterMember/slackwater is not authorized to perform:"
EC2 = (
    f"UnauthorizedOperation: You are not authorized to perform this operation. {WHO} ec2:DescribeVolumes with an"
    " explicit deny in a service control policy"
)
JSON = f"AccessDeniedException: {WHO} fsx:DescribeFileSystems with an explicit deny in a service control policy"
NAMED = "arn:aws:organizations::987654321098:policy/o-qv5af4abcd/service_control_policy/p-2kgnabcd"
NOBODY = (
    f"AccessDenied: {WHO} fsx:DescribeFileSystems because no identity-based policy allows the"
    " fsx:DescribeFileSystems action"
)
ALL = (Volume, Instance, EfsFileSystem, FsxFileSystem)
CALLS = (
    "ec2:DescribeVolumes",
    "ec2:DescribeInstances",
    "elasticfilesystem:DescribeFileSystems",
    "fsx:DescribeFileSystems",
)
METRICS = Gap(HERE.account, HERE.region, "cloudwatch:ListMetrics", "AccessDenied: no", optional=True)


def gaps(*reasons: str, calls: tuple[str, ...] = CALLS) -> list[Gap]:
    """Return a required gap for each call. The last reason applies to all remaining calls."""
    every = [*reasons, *[reasons[-1]] * (len(calls) - len(reasons))]
    return [Gap(HERE.account, HERE.region, call, why) for call, why in zip(calls, every, strict=True)]


def test_a_region_that_a_service_control_policy_closes_is_one_optional_gap() -> None:
    assert summarize_gaps(HERE, ALL, [*gaps(EC2, EC2, JSON), METRICS], 0) == [
        Gap(HERE.account, HERE.region, REGION_DISABLED, "region closed by a service control policy", optional=True)
    ]


@pytest.mark.parametrize(
    "message",
    [
        f"{JSON}: {NAMED}",
        f"AccessDenied: {WHO} fsx:X because no service control policy allows the fsx:X action: {NAMED}",
    ],
)
def test_it_names_the_policy_where_aws_does(message: str) -> None:
    (gap,) = summarize_gaps(HERE, ALL, gaps(EC2, message), 0)
    assert gap.reason == f"region closed by a service control policy: {NAMED}"


@pytest.mark.parametrize(
    "failed",
    [
        gaps(EC2, EC2, EC2, NOBODY),
        gaps(EC2, EC2, EC2, "ThrottlingException: Rate exceeded"),
        gaps(EC2, EC2, EC2, f"AccessDeniedException: {WHO} fsx:X with an explicit deny in a permissions boundary"),
        gaps(EC2, calls=CALLS[:3]),
        [*gaps(EC2), Gap(HERE.account, HERE.region, "cloudwatch:GetMetricData", "BrokenAnswer: it lacks 'X'")],
        [METRICS],
        [],
    ],
)
def test_where_another_thing_is_missing_or_something_was_read_the_gaps_stay(failed: list[Gap]) -> None:
    assert summarize_gaps(HERE, ALL, failed, 0) == failed
    assert summarize_gaps(HERE, ALL, gaps(EC2), 1) == gaps(EC2)  # it was disabled while it was read
    assert summarize_gaps(HERE, ALL, gaps("AuthFailure: AWS was not able to validate"), 1)[0].what == CALLS[0]


def test_a_region_is_disabled_if_all_its_calls_say_so() -> None:
    files = gaps(JSON, calls=("elasticfilesystem:DescribeFileSystems",))
    assert [gap.what for gap in summarize_gaps(HERE, {EfsFileSystem}, files, 0)] == [REGION_DISABLED]
    assert summarize_gaps(HERE, {EfsFileSystem, Volume}, files, 0) == files
    assert summarize_gaps(HERE, {InstanceType}, files, 0) == files


def test_every_kind_of_resource_has_its_listing_which_needs_no_other() -> None:
    assert {*LISTED} == {*RESOURCE_KINDS}
    roots = {reader.action for reader in READERS.values() if not reader.after}
    assert {*LISTED.values()} == roots
    for kind, call in LISTED.items():
        assert call == READERS[kind].action


NOT_THERE = (
    "AuthFailure: AWS was not able to validate the provided access credentials",
    "UnrecognizedClientException: The security token included in the request is invalid",
)


def test_a_region_that_is_not_enabled_is_one_required_gap_with_the_remedy() -> None:
    (gap,) = summarize_gaps(HERE, ALL, [*gaps(NOT_THERE[0], *NOT_THERE), METRICS], 0)
    assert (gap.what, gap.optional) == (NOT_ENABLED, False)
    assert all(message in gap.reason for message in ("not enabled", "enable it there, or leave it out (", NOT_THERE[0]))


def test_a_region_with_mixed_refusals_does_not_count_as_disabled() -> None:
    mixed = gaps(EC2, EC2, NOT_THERE[1])
    assert summarize_gaps(HERE, ALL, mixed, 0) == mixed


def test_a_disabled_target_is_complete_and_reported_as_disabled() -> None:
    scan = TargetScan(
        target=HERE, findings=(), unknown=(), gaps=tuple(summarize_gaps(HERE, ALL, gaps(EC2), 0)), resources={}
    )
    assert (scan.complete, scan.closed) == (True, True)
    other = replace(scan, gaps=(METRICS,))
    assert (other.complete, other.closed) == (True, False)


# --- Findings in disabled regions -------------------------------------------------------------------------------------

MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)
DAY = timedelta(days=1)
VOLUME = TrackedResource(
    arn="arn:vol-1", id="vol-1", type="ebs-volume", name="db", account=HERE.account, region=HERE.region
)
SEEN = FindingRecord(
    id="f-1", detector="ebs-unattached", kind="waste", severity="low", confidence="high", resource=VOLUME, owner=None,
    summary="on no instance", monthly_savings_usd=Decimal("4.50"), fingerprint="a",
)  # fmt: skip
KNOWN = TrackedFinding(
    sighting=SEEN, status="open", decision=None, opened_at=MONDAY - DAY, last_seen_at=MONDAY, resolved_at=None,
    audit_id="monday", revision=1,
)  # fmt: skip
REPORT = TargetReport(
    account=HERE.account, region=HERE.region, complete=True, detectors=frozenset({"ebs-unattached"}), records=(),
    unknown=frozenset(), region_disabled=True,
)  # fmt: skip


def test_findings_of_a_disabled_region_are_not_resolved() -> None:
    assert merge_one(KNOWN, None, REPORT, "tuesday", MONDAY + DAY) is None
    gone = merge_one(KNOWN, None, replace(REPORT, region_disabled=False), "tuesday", MONDAY + DAY)
    assert gone is not None
    assert gone.finding.status == "resolved"


@pytest.mark.parametrize("status", ["snoozed", "dismissed", "approved"])
def test_a_decision_expires_in_a_disabled_region_too(status: str) -> None:
    decision = Decision(status=status, who="jane", why="", at=MONDAY, until=MONDAY + DAY / 2)  # type: ignore[arg-type]
    decided = replace(KNOWN, status=status, decision=decision)  # type: ignore[arg-type]
    lapsed = merge_one(decided, None, REPORT, "tuesday", MONDAY + DAY)
    assert lapsed is not None
    assert lapsed.finding.status == "open"


def test_a_disabled_region_does_not_show_what_a_clean_up_saved() -> None:
    done = Cleanup(
        finding_id="f-1", attempt=1, execution="f-1-1", detector="ebs-unattached", resource=VOLUME, owner=None,
        fingerprint="a", setting=None, requested_by="ada", started_at=MONDAY - 30 * DAY,
        promised_monthly_usd=Decimal(10), stage="done", ended_at=MONDAY,
    )  # fmt: skip
    assert observed(done, REPORT, "tuesday", MONDAY + DAY) is None
    assert observed(done, replace(REPORT, region_disabled=False), "tuesday", MONDAY + DAY) is not None
