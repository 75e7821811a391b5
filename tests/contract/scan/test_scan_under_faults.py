"""Whole scans against a failing account: the same findings, or the scan is reported as incomplete."""

from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.engine.registry import registry
from slackwater.model.findings import STRONGER_FINDING, Scan
from slackwater.model.policy import Policy
from slackwater.model.resources import Target
from slackwater.wiring.scan import audit
from slackwater_simulator import Fleet, Simulator, demo_fleet

pytestmark = pytest.mark.over_http

NOW = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)


def scan(account: Any) -> Scan:
    policy = Policy(limits={id_: detector.limits() for id_, detector in registry().items()})
    use_case = audit(
        account.session, account.meter, registry=registry(), policy=policy, cache_dir=None, progress=lambda *_: None
    )
    return use_case.run([account.target], NOW)


def found(done: Scan) -> set[tuple[str, str, str]]:
    return {(f.detector, f.resource.id, f.fingerprint) for target in done.targets for f in target.findings}


def suppressed(done: Scan) -> set[tuple[str, str]]:
    return {
        (one.detector, one.resource.id)
        for target in done.targets
        for one in target.unlisted
        if one.reason == STRONGER_FINDING
    }


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return demo_fleet()


@pytest.fixture
def demo(simulate: Callable[..., Any], fleet: Fleet) -> Any:
    account = simulate(fleet)
    account.sim.faults.unthrottle("cloudtrail:LookupEvents")
    return account


@pytest.fixture(scope="module")
def healthy(fleet: Fleet) -> Scan:
    with Simulator(fleet) as sim:
        meter = CallMeter()
        session = AwsSession(meter=meter, endpoint=Endpoint(sim.url, "AKIADUMMY", "dummy"))
        return scan(SimpleNamespace(session=session, meter=meter, target=Target(fleet.account, fleet.regions[0])))


@pytest.mark.slow  # the test of the five faults is a quick version of this one
def test_a_cloudwatch_of_two_calls_a_second_gives_the_same_findings(demo: Any, healthy: Scan) -> None:
    demo.sim.faults.throttle("cloudwatch:GetMetricData", per_second=2)
    throttled = scan(demo)

    assert throttled.complete
    assert found(throttled) == found(healthy)
    assert len(found(healthy)) >= 18


BREAK = [
    pytest.param("deny", {"action": action}, action, id=f"denied {action}", marks=notes)
    for action, notes in [
        ("ec2:DescribeVolumes", ()),
        ("ec2:DescribeInstances", pytest.mark.slow),
        ("ec2:DescribeInstanceTypes", pytest.mark.slow),
        ("elasticfilesystem:DescribeFileSystems", pytest.mark.slow),
        ("elasticfilesystem:DescribeReplicationConfigurations", pytest.mark.slow),
        ("fsx:DescribeVolumes", pytest.mark.slow),
        ("cloudwatch:GetMetricData", ()),
    ]
] + [
    pytest.param(
        "partial", {"every": 3}, "cloudwatch:GetMetricData", id="every third metric fails", marks=pytest.mark.slow
    ),
    pytest.param("truncate", {"action": "ec2:DescribeVolumes"}, "ec2:DescribeVolumes", id="truncated volumes"),
    pytest.param(
        "truncate", {"action": "cloudwatch:GetMetricData"}, "cloudwatch:GetMetricData", id="truncated metrics"
    ),
]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("fault", "settings", "what"), BREAK)
def test_what_cannot_be_read_is_a_named_gap_and_nothing_is_made_up(
    demo: Any, healthy: Scan, fault: str, settings: dict[str, Any], what: str
) -> None:
    getattr(demo.sim.faults, fault)(**settings)
    done = scan(demo)

    assert not done.complete
    assert what in {gap.what for target in done.targets for gap in target.gaps if not gap.optional}
    # If the stronger detector cannot judge, the weaker one reports the issue, which is equally true.
    assert {one for one in found(done) if one[:2] not in suppressed(healthy)} <= found(healthy)
    assert found(healthy) - found(done)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("action", "blind"),
    [
        ("pricing:GetProducts", set()),
        pytest.param("cloudtrail:LookupEvents", set(), marks=pytest.mark.slow),
        ("cloudwatch:ListMetrics", {"ebs-surplus-size"}),  # only an agent reports how full a file system is
        pytest.param("compute-optimizer:GetEnrollmentStatus", set(), marks=pytest.mark.slow),
    ],
)
def test_an_optional_source_that_is_denied_loses_no_finding_that_another_can_show(
    demo: Any, healthy: Scan, action: str, blind: set[str]
) -> None:
    demo.sim.faults.deny(action)
    done = scan(demo)

    assert done.complete
    assert [(gap.what, gap.optional) for target in done.targets for gap in target.gaps] == [(action, True)]
    before, after = ({one[:2] for one in found(scan)} for scan in (healthy, done))
    assert {one for one in before if one[0] not in blind} <= after
    # Without prices Slackwater cannot know that a change costs more. It shows the finding with a caveat.
    more = [f for target in done.targets for f in target.findings if (f.detector, f.resource.id) in after - before]
    assert all(one.monthly_savings_usd is None and "no price is known" in " ".join(one.caveats) for one in more)
    assert not more or action == "pricing:GetProducts"
