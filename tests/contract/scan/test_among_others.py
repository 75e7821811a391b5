"""Whole scans respect the policy's rate and spending limits, and their share of the limits of the service."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import DEFAULT_RETRIES, AwsSession
from slackwater.engine.registry import registry
from slackwater.model.audits import AuditPlan, AuditRequest
from slackwater.model.policy import Policy, ScanSection
from slackwater.model.policy_version import DEFAULTS
from slackwater.model.resources import Target
from slackwater.model.services import CALLS_PER_SECOND
from slackwater.wiring.scan import audit
from slackwater.wiring.service import among_others
from slackwater.wiring.settings import DeploymentSettings
from slackwater_cli.table import REASON_WIDTH
from slackwater_simulator import demo_fleet

NOW = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)
TOKYO = Target("123456789012", "ap-northeast-1")
IRELAND = Target("123456789012", "eu-west-1")
DEPLOYED = DeploymentSettings(
    table_name="slackwater", bucket_name="b", retention_days=1, state_machine_arn=None, event_bus_name=None
)


def policy(**scan):
    limits = {id_: registry()[id_].limits() for id_ in ("efs-idle", "ebs-idle", "fsx-idle", "ebs-unattached")}
    return Policy(limits=limits, scan=ScanSection(**scan))


def planned(audit_id):
    return AuditPlan(
        audit_id=audit_id,
        now=NOW,
        request=AuditRequest(requested_by="schedule"),
        policy=DEFAULTS,
        detectors=(),
        targets=(TOKYO, IRELAND),
    )


def wired(session, meter, rules, **shared):
    return audit(session, meter, registry=registry(), policy=rules, cache_dir=None, progress=lambda *_: None, **shared)


@pytest.fixture(scope="module")
def fleet():
    return demo_fleet()


@pytest.fixture
def demo(simulate, fleet):
    return simulate(fleet)


def test_a_scan_that_may_spend_no_more_says_once_what_it_lacks_and_is_incomplete(demo):
    done = wired(demo.session, demo.meter, policy(most_metrics_usd=0.0001)).run([TOKYO], NOW)
    (gap,) = [gap for gap in done.targets[0].gaps if gap.what == "cloudwatch:GetMetricData"]
    why, _, times = gap.reason.partition(" (")
    assert not gap.optional
    assert why.startswith("scan.most_metrics_usd would be passed: ")
    assert why.endswith(" of 0.0001 USD were spent")
    assert times.endswith(" times)")
    assert not done.complete
    assert why in {one.reason for one in done.targets[0].unknown}
    assert len(why) <= REASON_WIDTH
    assert done.usage.metrics_requested <= 10


def test_regions_of_one_audit_share_its_ceiling(demo):
    asked = wired(demo.session, demo.meter, policy()).run([TOKYO], NOW).usage.metrics_requested
    use_case = wired(demo.session, CallMeter(), policy(most_metrics_usd=asked / 100_000))
    assert use_case.scan_target(TOKYO, NOW).complete
    assert not use_case.scan_target(TOKYO, NOW).complete


def test_every_call_of_a_scan_keeps_the_rate_limit_of_the_policy(demo, monkeypatch):
    buckets = []

    class Counted:
        def __init__(self, per_second, *, share, clock, sleep):
            self.per_second, self.share, self.taken = per_second, share, 0
            buckets.append(self)

        def take(self, count=1):
            self.taken += count

    monkeypatch.setattr("slackwater.aws.client.rate_limit.Bucket", Counted)
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_ENDPOINT_URL_EC2"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "dummy")
    # Unlike a simulator's endpoint, this one counts as AWS itself.
    monkeypatch.setenv("AWS_ENDPOINT_URL", demo.sim.url)
    meter = CallMeter()
    rules = policy(calls_per_second={"elasticfilesystem": 3}, datapoints_per_second=70_000)
    done = wired(AwsSession(meter=meter), meter, rules, share=lambda: 0.5).run([TOKYO], NOW)

    assert done.complete
    calls = Counter[float]()
    for action, count in meter.api_calls().items():
        service = action.partition(":")[0]
        if service in CALLS_PER_SECOND:
            calls[{**CALLS_PER_SECOND, "elasticfilesystem": 3}[service]] += count
    taken = Counter[float]()
    for bucket in buckets:
        taken[bucket.per_second] += bucket.taken
        assert bucket.share() == 0.5
    assert taken.pop(70_000) >= meter.datapoints() > 0
    assert taken == calls
    assert taken[3] > 0


def test_nobody_is_disturbed_in_a_simulated_account(demo):
    demo.session.rate_limit = "what was before"
    wired(demo.session, demo.meter, policy())
    assert demo.session.rate_limit is None


def test_no_thread_of_a_scan_waits_long_for_the_table_while_it_holds_up_the_others(monkeypatch):
    made = []

    def session(**options):
        made.append(options.get("retries", DEFAULT_RETRIES))
        return AwsSession(**options)

    monkeypatch.setattr("slackwater.wiring.service.AwsSession", session)
    among_others(DEPLOYED)
    assert len(made) == 2
    for retries in (one.for_service("dynamodb") for one in made):
        assert retries.max_attempts > 1
        assert retries.max_attempts * (retries.connect_timeout_s + retries.read_timeout_s) < 60


@pytest.mark.usefixtures("stored")
def test_scans_of_the_service_share_their_rate_limit_and_the_spending_limit_of_their_audit(monkeypatch):
    monkeypatch.setenv("AWS_REGION", "ap-northeast-1")
    rules = policy(most_metrics_usd=0.01)
    here, there = among_others(DEPLOYED), among_others(DEPLOYED)
    with here(rules, planned("a1"), TOKYO, "run-1") as (share, spending):
        with there(rules, planned("a1"), TOKYO, "run-2") as (other_share, other_spending):
            assert (share(), other_share()) == (1, 1 / 2)
            assert spending.take(600) is None
            assert other_spending.take(500)
            assert other_spending.take(400) is None
        with there(rules, planned("a2"), IRELAND, "run-3") as (elsewhere, of_another_audit):
            assert elsewhere() == 1
            assert of_another_audit.take(1_000) is None


@pytest.mark.usefixtures("stored")
def test_scans_of_the_service_share_the_days_ceiling_and_leave_each_account_its_share(monkeypatch):
    monkeypatch.setenv("AWS_REGION", "ap-northeast-1")
    other = Target("210987654321", "eu-west-1")
    others = among_others(DEPLOYED)

    with others(policy(most_metrics_usd_per_day=0.01), planned("a1"), TOKYO, "run-1") as (_, spending):
        assert spending.take(1_000) is None
    with others(policy(most_metrics_usd_per_day=0.01), planned("a2"), TOKYO, "run-2") as (_, spending):
        assert spending.take(1).startswith("scan.most_metrics_usd_per_day would be passed: 0.01 of 0.01 USD")

    two = replace(planned("a3"), targets=(TOKYO, IRELAND, other))
    with others(policy(most_metrics_usd=0.01), two, TOKYO, "run-3") as (_, spending):
        assert [spending.take(250) for _ in range(4)][:3] == [None] * 3
        assert spending.take(1).endswith("beside what is kept for other accounts")
    with others(policy(most_metrics_usd=0.01), two, other, "run-4") as (_, spending):
        assert spending.take(250) is None
