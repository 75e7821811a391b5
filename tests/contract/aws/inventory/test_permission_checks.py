"""`slackwater doctor` checks each action of a scan once, and distinguishes all outcomes."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from slackwater.app.audit.doctor import examined
from slackwater.aws.client import identity, regions
from slackwater.aws.inventory import inventory, permission_checks
from slackwater.aws.inventory.permission_checks import AwsPermissionChecks
from slackwater.aws.metrics import cloudwatch
from slackwater.aws.pricing import price_list as pricing
from slackwater.engine.registry import registry
from slackwater.model.access import UNNAMED, Answer, Check, Examination, Need, Refusal
from slackwater.model.policy import Policy
from slackwater.model.resources import AgentMetric, DiskMetric, FsxFileSystem, FsxVolume, Instance, Record, Volume
from slackwater.views.scan import doctor_to_json as doctor_json
from slackwater.wiring.scan import audit
from slackwater.wiring.scan_needs import needs
from slackwater_simulator import Fleet, demo_fleet

NOW = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)
REGION = "ap-northeast-1"

ONE_BY_ONE = frozenset({"elasticfilesystem:DescribeLifecycleConfiguration", "elasticfilesystem:DescribeMountTargets"})
"""Actions that EFS answers for one file system at a time."""


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return demo_fleet()


@pytest.fixture
def demo(simulate: Callable[..., Any], fleet: Fleet) -> Any:
    account = simulate(fleet)
    account.sim.faults.unthrottle("cloudtrail:LookupEvents")
    return account


def examine(account: Any, *in_regions: str) -> Examination:
    who = identity.identity(account.session)
    return examined(
        who, in_regions or (REGION,), needs(registry()), AwsPermissionChecks(account.session, account.meter, NOW)
    )


def test_there_is_a_call_for_each_action_of_a_scan_and_no_other() -> None:
    of_a_scan = inventory.ACTIONS | cloudwatch.ACTIONS | pricing.ACTIONS | identity.ACTIONS | regions.ACTIONS

    assert of_a_scan == permission_checks.ACTIONS
    assert {need.action for need in needs(registry())} == of_a_scan


@pytest.mark.parametrize("action", sorted(ONE_BY_ONE))
def test_of_what_efs_answers_one_by_one_it_asks_about_a_file_system_that_is_none(demo: Any, action: str) -> None:
    ask = AwsPermissionChecks(demo.session, demo.meter, NOW).ask

    assert ask(action, REGION).access == "allowed"
    demo.sim.faults.deny(action)
    assert ask(action, REGION).access == "denied"


def test_a_healthy_account_is_ready_and_was_asked_as_little_as_can_be(demo: Any) -> None:
    seen = examine(demo, REGION, "us-east-1")

    assert seen.ready
    assert seen.missing == ()
    assert {action for action, calls in demo.sim.calls.items() if calls == 2} == permission_checks.ACTIONS - {
        "ec2:DescribeRegions",
        "pricing:GetProducts",
    }
    assert demo.sim.calls["ec2:DescribeRegions"] == demo.sim.calls["pricing:GetProducts"] == 1
    assert demo.meter.metrics_requested() == demo.sim.metrics_requested == 2


@pytest.mark.parametrize("action", sorted(permission_checks.ACTIONS - identity.ACTIONS))
def test_a_denied_action_is_reported_with_its_fix_and_as_required_as_in_a_scan(demo: Any, action: str) -> None:
    demo.sim.faults.deny(action)
    seen = examine(demo)
    (need,) = [check.need for check in seen.missing]
    concerned = next(iter(need.blind or need.weaker), "efs-idle")
    policy = Policy(limits={concerned: registry()[concerned].limits()})
    use_case = audit(
        demo.session, demo.meter, registry=registry(), policy=policy, cache_dir=None, progress=lambda *_: None
    )

    assert [(check.need.action, check.answer.access) for check in seen.missing] == [(action, "denied")]
    assert seen.lacking == (action,)
    assert seen.ready == use_case.run([demo.target], NOW).complete
    assert doctor_json.document(seen)["statement"] == {
        "Sid": "SlackwaterScan",
        "Effect": "Allow",
        "Action": [action],
        "Resource": "*",
    }


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("fault", "settings", "access"),
    [
        ("drop", {}, "unreachable"),
        ("truncate", {}, "failed"),
        ("error", {"code": "InternalFailure"}, "failed"),
        ("throttle", {"per_second": 0, "burst": 0}, "failed"),
    ],
)
def test_what_is_not_an_answer_is_not_taken_for_one(
    demo: Any, fault: str, settings: dict[str, Any], access: str
) -> None:
    getattr(demo.sim.faults, fault)(action="fsx:DescribeVolumes", **settings)
    seen = examine(demo)

    assert [(check.need.action, check.answer.access) for check in seen.missing] == [("fsx:DescribeVolumes", access)]
    assert seen.missing[0].answer.reason
    assert not seen.ready
    assert seen.lacking == ()


def stub(resource: type[Record], reads_if_allowed: tuple[type[Record], ...] = ()) -> Any:
    """Return a detector that reads no metrics."""
    return SimpleNamespace(kind="risk", resource=resource, reads=(), reads_if_allowed=reads_if_allowed, cases=())


def test_the_metric_is_asked_of_the_last_hour(demo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    client = demo.session.client("cloudwatch", REGION)
    monkeypatch.setattr(client, "get_metric_data", lambda **what: asked.append(what) or {"MetricDataResults": []})
    AwsPermissionChecks(demo.session, demo.meter, NOW).ask("cloudwatch:GetMetricData", REGION)

    assert [(what["StartTime"], what["EndTime"]) for what in asked] == [(NOW - timedelta(hours=1), NOW)]


def test_where_nothing_measures_no_metric_is_needed() -> None:
    assert [need.action for need in needs({"stub": stub(FsxVolume)}) if need.action.startswith("cloudwatch:")] == []


def test_what_blinds_one_detector_may_weaken_another() -> None:
    both = {"one": stub(FsxFileSystem), "other": stub(FsxVolume, reads_if_allowed=(FsxFileSystem,))}
    (need,) = [need for need in needs(both) if need.action == "fsx:DescribeFileSystems"]

    assert (need.optional, need.blind, need.weaker) == (False, ("one",), ("other",))
    assert doctor_json.consequence(need) == "one cannot judge; other can say less"


def test_an_action_that_two_kinds_need_is_asked_once() -> None:
    both = {
        "one": stub(Instance, reads_if_allowed=(AgentMetric,)),
        "other": stub(Instance, reads_if_allowed=(DiskMetric,)),
    }
    (need,) = [need for need in needs(both) if need.action == "cloudwatch:ListMetrics"]

    assert (need.optional, need.weaker) == (True, ("one", "other"))


@pytest.mark.parametrize(
    ("heard", "silent"), [("allowed", ()), ("denied", ()), ("failed", ()), ("unreachable", (REGION,))]
)
def test_a_region_that_refuses_is_not_silent(heard: Any, silent: tuple[str, ...]) -> None:
    checks = [
        Check(need=Need(action="x", optional=False), region=region, answer=Answer(access=access))
        for region, access in ((None, "allowed"), (REGION, "unreachable"), (REGION, heard))
    ]
    seen = Examination(account="1", arn="", partition="aws", regions=(REGION,), checks=tuple(checks))

    assert seen.silent_regions == silent


def test_that_there_is_no_replication_is_an_answer(demo: Any) -> None:
    demo.sim.faults.error("elasticfilesystem:DescribeReplicationConfigurations", "ReplicationNotFound", 404)

    assert examine(demo).missing == ()


def test_a_region_that_is_not_enabled_is_named_and_the_other_is_not(demo: Any) -> None:
    seen = examine(demo, REGION, "af-south-1")

    assert seen.silent_regions == ("af-south-1",)
    assert [hint for hint in doctor_json.hints(seen) if "af-south-1" in hint]
    assert {check.region for check in seen.missing} == {"af-south-1"}
    assert seen.lacking == ()


def test_a_region_without_compute_optimizer_lacks_nothing(demo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo.session, "regions_of", lambda service: [REGION] if service == "compute-optimizer" else [])
    seen = examine(demo, REGION, "us-east-1")

    assert seen.missing == ()
    optimizer = [check for check in seen.checks if check.need.action.startswith("compute-optimizer:")]
    assert {check.region for check in optimizer} == {REGION}


def test_what_can_say_less_without_compute_optimizer_is_waste_on_volumes_and_instances() -> None:
    weaker = {need.action: need.weaker for need in needs(registry()) if need.action.startswith("compute-optimizer:")}

    waste = {id_: one.resource for id_, one in registry().items() if one.kind == "waste"}
    of_volumes, of_instances = (
        tuple(id_ for id_, kind in waste.items() if kind is each) for each in (Volume, Instance)
    )

    assert {"ebs-surplus-throughput", "ebs-unattached"} <= {*of_volumes}
    assert {*weaker["compute-optimizer:GetIdleRecommendations"]} == {*of_volumes, *of_instances}
    assert weaker["compute-optimizer:GetEBSVolumeRecommendations"] == of_volumes


WHO = "User: arn:aws:sts::123456789012:assumed-role/AWSReservedSSO_ViewOnly_0123456789abcdef/somebody@example.com"
WHAT = (
    "is not authorized to perform: fsx:DescribeVolumes on resource: arn:aws:fsx:ap-northeast-1:123456789012:volume/*/*"
)


@pytest.mark.parametrize(
    ("because", "refusal", "lacking"),
    [
        (
            "because no identity-based policy allows the fsx:DescribeVolumes action",
            Refusal("identity-based policy", False),
            1,
        ),
        ("with an explicit deny in an identity-based policy", Refusal("identity-based policy", True), 0),
        ("with an explicit deny in a service control policy", Refusal("service control policy", True), 0),
        (
            (
                "with an explicit deny in a resource control policy: "
                "arn:aws:organizations::1:policy/o-1/resource_control_policy/p-1"
            ),
            Refusal("resource control policy", True),
            0,
        ),
        (
            "because no service control policy allows the fsx:DescribeVolumes action",
            Refusal("service control policy", False),
            0,
        ),
        (
            "because no permissions boundary allows the fsx:DescribeVolumes action",
            Refusal("permissions boundary", False),
            0,
        ),
        ("because no session policy allows the fsx:DescribeVolumes action", Refusal("session policy", False), 0),
        ("with an explicit deny in a VPC endpoint policy", Refusal("VPC endpoint policy", True), 0),
        ("due to an explicit deny in a Service Control Policy", Refusal("Service Control Policy", True), 0),
        ("with an explicit deny", Refusal(UNNAMED, True), 0),
        ("; Explicitly denied by the session policy", Refusal("session policy", True), 0),
        ("because of a role policy", None, 1),
        ("", None, 1),
    ],
)
def test_what_refused_is_read_from_the_end_of_a_long_message(
    because: str, refusal: Refusal | None, lacking: int, demo: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: Any) -> None:
        error = {"Code": "AccessDeniedException", "Message": f"{WHO} {WHAT} {because}"}
        raise ClientError({"Error": error}, "DescribeVolumes")  # type: ignore[arg-type]

    monkeypatch.setattr(demo.session.client("fsx", REGION), "describe_volumes", refuse)
    seen = examine(demo)

    assert [check.answer.refusal for check in seen.missing] == [refusal]
    assert len(seen.lacking) == lacking
    assert seen.sure == (refusal is not None)
    hints = doctor_json.hints(seen)
    assert len(hints) == 1 - lacking
    for hint in hints:
        assert refusal
        assert refusal.policy_type in hint
        assert "fsx:DescribeVolumes" in hint
        assert ("wins over every Allow" in hint) == refusal.explicit
        assert ("organization's administrators" in hint) == ("control" in refusal.policy_type.lower())
