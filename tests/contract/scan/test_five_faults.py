"""The five faults that Cloud Custodian does not handle, with few resources (docs/faults.md compares both tools)."""

from pathlib import Path

import pytest

from slackwater_simulator import Account, Simulator
from slackwater_simulator.resources import instant
from support.cleanup_world import NOW
from support.five_faults import (
    METRICS,
    ToolResult,
    denied,
    halves,
    refused_by_slack,
    tagged_without_days,
    throttled,
    unattached,
    used_since,
    volumes,
    volumes_left,
)
from support.slack_server import Fault


def right(result: ToolResult) -> None:
    assert result.right, result


@pytest.fixture(scope="module")
def simulator():
    with Simulator(volumes(instant(NOW), 9, 21)) as running:
        running.faults.unthrottle("cloudtrail:LookupEvents")
        yield running


def scanned(simulator: Simulator, home: Path, per_second: float, **environment: str) -> ToolResult:
    simulator.reset()
    return throttled(home, simulator, dict.fromkeys(METRICS, per_second), environment)


def test_throttled_to_two_calls_a_second_a_scan_finds_as_much_as_ever(simulator, tmp_path) -> None:
    result = scanned(simulator, tmp_path, per_second=2)
    right(result)
    assert (result.status, result.after) == ("0", "9 of 9 found, `complete: true`")


def test_throttled_to_the_end_a_scan_leaves_with_3_and_names_what_is_missing(simulator, tmp_path) -> None:
    result = scanned(simulator, tmp_path, per_second=0, AWS_MAX_ATTEMPTS="1")
    right(result)
    assert (result.status, result.after) == ("3", "0 of 9 found, `complete: false`, gap `cloudwatch:GetMetricData`")


def test_a_permission_that_the_deleting_role_lacks_shows_before_anything_is_begun() -> None:
    result = denied(2, foreseen=True)
    right(result)
    assert result.after == "2 file systems, 6 mount targets; none was ever deleted"
    assert result.status.startswith(
        "2 cancelled: IAM does not allow the deletion role: elasticfilesystem:DeleteFileSystem"
    )


def test_a_denial_that_comes_out_only_when_asked_leaves_nothing_half_done() -> None:
    result = denied(2, foreseen=False)
    right(result)
    assert result.after.startswith("2 file systems, 6 mount targets; up to 1 at once had none")
    assert result.status.startswith("1 cancelled, 1 failed: AccessDeniedError")


def test_no_resource_is_tagged_for_today(tmp_path) -> None:
    result = tagged_without_days(tmp_path, 2)
    right(result)
    assert result.after.startswith("2 volumes on the next day, 2 on the 29th; marked for 30 days later")


def test_the_clean_up_of_a_resource_that_is_used_after_its_tagging_is_cancelled() -> None:
    result = used_since(2)
    right(result)
    assert result.status.startswith("2 cancelled: ")
    assert result.after.startswith("2 file systems, 6 mount targets; metrics were asked for again; ")


@pytest.mark.parametrize(
    "fault",
    [
        Fault("busy", retry_after_s=30),
        Fault("refused", error="ratelimited"),
        Fault("refused", error="internal_error"),
        Fault("refused", error="invalid_auth"),
    ],
    ids=lambda fault: f"{fault.kind} {fault.error}",
)
def test_what_slack_refuses_is_kept_and_sent_again(fault, monkeypatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    right(refused_by_slack(fault))


# -- The measurement detects what Custodian leaves behind


def test_the_measure_counts_what_is_going_as_gone() -> None:
    assert halves({"fs-1": 3, "fs-2": 0, "fs-3": 2}) == ["fs-2", "fs-3"]
    account = Account(unattached(instant(NOW), 3))
    assert volumes_left(account) == 3
    account.remove(account.fleet.volumes[0].id)
    assert volumes_left(account) == 2
