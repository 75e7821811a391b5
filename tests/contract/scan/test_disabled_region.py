"""Regions that are disabled, or denied by a service control policy: few calls, one report, and no finding resolved."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from botocore.exceptions import ClientError

from slackwater.app.cleanup.recheck import NotSeenError, Rechecker
from slackwater.aws.client.errors import reason
from slackwater.engine.merge import merge_one, pairs
from slackwater.engine.registry import registry
from slackwater.model.cleanup import Cleanup
from slackwater.model.findings import NOT_ENABLED, REGION_DISABLED, Gap, Scan, TargetScan
from slackwater.model.policy import Policy
from slackwater.model.resources import Target
from slackwater.model.tracking import TrackedFinding
from slackwater.ports.errors import MAX_REASON
from slackwater.views.api.to_json import report
from slackwater.views.scan.merge import merged
from slackwater.views.scan.to_json import document, schema
from slackwater.wiring.scan import audit
from slackwater_simulator import Fleet, mixed_fleet

NOW = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)
LISTINGS = {
    "ec2:DescribeInstances": 1,
    "ec2:DescribeVolumes": 1,
    "elasticfilesystem:DescribeFileSystems": 1,
    "fsx:DescribeFileSystems": 1,
}


def auditing(account: Any, *detectors: str) -> Any:
    policy = Policy(
        limits={id_: detector.limits() for id_, detector in registry().items() if not detectors or id_ in detectors}
    )
    return audit(
        account.session, account.meter, registry=registry(), policy=policy, cache_dir=None, progress=lambda *_: None
    )


def scan(account: Any, *detectors: str, target: Target | None = None) -> Scan:
    done: Scan = auditing(account, *detectors).run([target or account.target], NOW)
    return done


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return mixed_fleet(60)


@pytest.fixture
def account(simulate: Callable[..., Any], fleet: Fleet) -> Any:
    return simulate(fleet)


def test_a_disabled_region_is_reported_once_and_costs_only_its_listing_calls(account: Any) -> None:
    account.sim.faults.close(account.target.region)
    done = scan(account)

    (target,) = done.targets
    assert [(gap.what, gap.optional) for gap in target.gaps] == [(REGION_DISABLED, True)]
    assert (target.complete, target.closed, target.resources, target.findings, target.unknown) == (
        True,
        True,
        {},
        (),
        (),
    )
    assert (
        account.sim.calls.items() - {("fsx:DescribeVolumes", 1)} == LISTINGS.items()
    )  # called because file systems were denied
    doc = document(done)
    jsonschema.validate(doc, schema())
    here = {"account": account.target.account, "region": account.target.region, "complete": True, "closed": True}
    assert doc["scan"]["targets"] == [here]
    assert merged([doc])["scan"]["targets"] == [here]
    assert report(doc).region_disabled


def test_parts_say_it_as_the_whole_does(account: Any) -> None:
    account.sim.faults.close(account.target.region)
    (part,) = auditing(account).parts(account.target, NOW)
    assert (part.targets[0].closed, part.more) == (True, False)


@pytest.mark.parametrize(
    "detector", ["fsx-sync-export", "efs-idle", "ec2-idle", "efs-single-zone-use", "ebs-outdated-type"]
)
def test_every_call_finds_the_region_disabled(account: Any, detector: str) -> None:
    account.sim.faults.close(account.target.region)
    (target,) = scan(account, detector).targets
    assert [gap.what for gap in target.gaps] == [REGION_DISABLED]


@pytest.mark.parametrize("calls", [1, 3])
def test_where_only_some_calls_are_denied_by_the_policy_each_stays_a_required_gap(account: Any, calls: int) -> None:
    for action in [*LISTINGS][:calls]:
        account.sim.faults.close(f"{account.target.region}/{action}")
    (target,) = scan(account, "ebs-unattached", "ec2-idle", "efs-idle", "fsx-idle").targets

    assert not target.closed
    assert {gap.what for gap in target.gaps if not gap.optional} >= {*[*LISTINGS][:calls]}
    assert all("service control policy" in gap.reason for gap in target.gaps if gap.what in [*LISTINGS][:calls])


def test_what_somebody_else_denies_does_not_close_a_region(account: Any) -> None:
    for action in LISTINGS:
        account.sim.faults.deny(action)
    (target,) = scan(account).targets
    assert (target.complete, target.closed) == (False, False)


def test_a_region_that_is_not_enabled_is_one_required_gap(account: Any) -> None:
    (target,) = scan(account, target=Target(account.target.account, "eu-south-1")).targets

    assert [(gap.what, gap.optional) for gap in target.gaps] == [(NOT_ENABLED, False)]
    assert (target.complete, target.closed) == (False, False)
    assert "leave it out (" in target.gaps[0].reason
    assert (
        account.sim.calls.items() - {("fsx:DescribeVolumes", 1)} == LISTINGS.items()
    )  # called because file systems were denied


def test_findings_of_a_disabled_region_stay_open_and_are_resolved_once_they_are_gone(
    account: Any,
) -> None:
    seen = report(document(scan(account, "ebs-unattached")))
    known = [
        TrackedFinding(
            sighting=sighting, status="open", decision=None, opened_at=NOW, last_seen_at=NOW, resolved_at=None,
            audit_id="monday", revision=1,
        )
        for sighting in seen.records
    ]  # fmt: skip
    assert known
    later = NOW + timedelta(days=1)
    account.sim.faults.close(account.target.region)
    closed = report(document(scan(account, "ebs-unattached")))
    assert [merge_one(*pair, closed, "tuesday", later) for pair in pairs(known, closed)] == [None] * len(known)

    account.sim.faults.clear()
    gone = replace(report(document(scan(account, "ebs-unattached"))), records=())
    resolved = [merge_one(*pair, gone, "wednesday", later) for pair in pairs(known, gone)]
    assert {write.finding.status for write in resolved if write} == {"resolved"}


def test_a_clean_up_in_a_disabled_region_cannot_check_the_resource() -> None:
    """A scan of the region without a finding does not prove that the finding is resolved."""
    place = SimpleNamespace(
        account="123456789012", region="eu-south-1", type="ebs-volume", arn="arn:aws:ec2:r:1:volume/v", id="v"
    )
    shut = Gap(
        "123456789012", "eu-south-1", REGION_DISABLED, "region closed by a service control policy", optional=True
    )

    class Audit:
        def scan_target(self, target: Target, now: datetime) -> TargetScan:
            return TargetScan(target=target, findings=(), unknown=(), gaps=(shut,), resources={})

    look = SimpleNamespace(born_at=NOW, tags={}, children={}, held=None, parts=(), size_bytes=0)
    cleanup = Cleanup(
        finding_id="f-1", attempt=1, execution="f-1-1", detector="ebs-unattached",
        resource=place,  # type: ignore[arg-type]
        owner=None, fingerprint="a", setting=None, requested_by="ada", started_at=NOW, promised_monthly_usd=None,
    )  # fmt: skip
    rechecker = Rechecker(
        watchers={"ebs-volume": SimpleNamespace(look=lambda _: look)},  # type: ignore[dict-item]
        inventory=lambda _: SimpleNamespace(),  # type: ignore[arg-type,return-value]
        audit=lambda *_: Audit(),  # type: ignore[arg-type,return-value]
        clock=lambda: NOW,
    )
    policy = Policy(limits={"ebs-unattached": registry()["ebs-unattached"].limits()})
    with pytest.raises(NotSeenError, match="service control policy"):
        rechecker.recheck(cleanup, policy)


@pytest.mark.parametrize(
    "policy", ["", ": arn:aws:organizations::987654321098:policy/o-qv5af4abcd/service_control_policy/p-2kgnabcd"]
)
def test_who_denies_is_never_cut_off(policy: str) -> None:
    denial = "with an explicit deny in a service control policy"
    message = (
        f"User: arn:aws:sts::123456789012:assumed-role/{'R' * 64}/{'s' * 64} is not authorized to perform:"
        " elasticfilesystem:DescribeFileSystems on resource:"
        f" arn:aws:elasticfilesystem:ap-southeast-1:123456789012:file-system/* {denial}{policy}"
    )
    error = ClientError({"Error": {"Code": "AccessDeniedException", "Message": message}}, "DescribeFileSystems")
    assert len(f"AccessDeniedException: {message}") > MAX_REASON >= len(reason(error))
    assert reason(error).endswith(f"… {denial}{policy}")
    short = ClientError({"Error": {"Code": "AccessDenied", "Message": f"no {denial}. {'x' * 300}"}}, "X")
    assert reason(short).count(denial) == 1
