"""The packaged instance types match the EC2 user guide's figures. EC2's own descriptions override them."""

import re
from datetime import timedelta

import pytest
from botocore.session import Session

from slackwater.aws.client.deadline import Deadline
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.aws.inventory.types import instance_type
from slackwater.aws.pricing import instance_types
from slackwater.aws.pricing.instance_types import DescribedTypes
from slackwater.aws.pricing.packaged import PackagedTypes
from slackwater.aws.pricing.packaged import type_snapshot as snapshot
from slackwater.engine.evaluation import Enabled, EvaluationQueue
from slackwater.engine.registry import registry
from slackwater.model.detector import CASE_NOW
from slackwater.model.findings import Gap
from slackwater.model.fleet import Fleet as Records
from slackwater.model.metrics import Series
from slackwater.model.resources import Attachment, Instance, Target, Volume
from slackwater_simulator import Fleet, instant

TYPES = {kind.id: kind for kind in snapshot()}


@pytest.mark.parametrize(
    ("name", "network", "ebs_mbps", "ebs_iops"),
    [
        ("t3.micro", (0.064, 5.0), (87, 2_085), (500, 11_800)),
        ("t3.large", (0.512, 5.0), (695, 2_780), (4_000, 15_700)),
        ("m5.large", (0.75, 10.0), (650, 4_750), (3_600, 18_750)),
        ("m6i.8xlarge", (12.5, 12.5), (10_000, 10_000), (40_000, 40_000)),
        ("c6gn.large", (3.0, 25.0), (1_235, 9_500), (5_000, 40_000)),
    ],
)
def test_published_limits_are_in_the_snapshot(name, network, ebs_mbps, ebs_iops):
    kind = TYPES[name]
    assert (kind.network_baseline_gbps, kind.network_peak_gbps) == network
    assert (kind.ebs_baseline_mbps, kind.ebs_maximum_mbps) == ebs_mbps
    assert (kind.ebs_baseline_iops, kind.ebs_maximum_iops) == ebs_iops


def test_what_ec2_does_not_publish_is_none_and_not_zero():
    assert TYPES["t2.micro"].ebs_maximum_mbps is None
    assert (TYPES["t2.micro"].hypervisor, TYPES["t3.micro"].hypervisor, TYPES["c5.metal"].hypervisor) == (
        "xen",
        "nitro",
        "other",
    )


def test_network_cards_add_up():
    cards = [{"BaselineBandwidthInGbps": 100.0, "PeakBandwidthInGbps": 100.0}] * 2
    found = {"InstanceType": "big", "VCpuInfo": {"DefaultVCpus": 128}, "NetworkInfo": {"NetworkCards": cards}}
    kind = instance_type(found)
    assert (kind.network_baseline_gbps, kind.network_cards) == (200.0, 2)
    assert kind.ebs_baseline_mbps is None


def test_one_card_without_a_figure_leaves_the_sum_unknown():
    cards = [{"BaselineBandwidthInGbps": 100.0}, {}]
    found = {"InstanceType": "big", "VCpuInfo": {"DefaultVCpus": 128}, "NetworkInfo": {"NetworkCards": cards}}
    assert instance_type(found).network_baseline_gbps is None


def test_the_snapshot_holds_a_thousand_types_and_says_its_date():
    assert len(TYPES) > 1_000
    assert {kind.source for kind in TYPES.values()} == {TYPES["t3.micro"].source}
    assert TYPES["t3.micro"].source.startswith("snapshot 2026-")


CALL = "ec2:DescribeInstanceTypes"
TOKYO = "ap-northeast-1"


@pytest.fixture
def account(simulate):
    return simulate(Fleet(now=instant("2026-11-16T09:07:00Z")))


def described(account, *families):
    """Return the described types by name, and the access errors."""
    found, gaps = DescribedTypes(account.session, Deadline()).of(families, TOKYO)
    return {kind.id: kind for kind in found}, gaps


def test_families_that_are_asked_for_are_as_ec2_describes_them_and_all_others_as_packaged(account):
    found, gaps = described(account, "t3", "m6i")
    assert gaps == []
    assert {kind.family for kind in found.values() if kind.source == CALL} == {"t3", "m6i"}
    assert {name for name in found if name.startswith("t3.")} == {name for name in TYPES if name.startswith("t3.")}
    assert found["m5.large"] is TYPES["m5.large"]
    assert found["t3.micro"].network_baseline_gbps == 0.064
    assert account.sim.calls == {CALL: 1}


def test_a_family_is_not_another_that_begins_alike(account):
    found, _ = described(account, "t3")
    assert found["t3a.micro"].source != CALL


def test_types_that_are_newer_than_the_snapshot_are_known_where_there_is_an_account(account, monkeypatch):
    monkeypatch.setattr(instance_types, "type_snapshot", lambda: (TYPES["m5.large"],))
    found, gaps = described(account, "t3")
    assert gaps == []
    assert {"m5.large", "t3.micro", "t3.2xlarge"} <= set(found)


def test_more_types_than_a_page_holds_are_read_to_the_last(account, monkeypatch):
    families = {kind.family for kind in snapshot()}
    found, gaps = described(account, *families)
    assert gaps == []
    assert account.sim.calls[CALL] > 1
    assert sum(kind.source == CALL for kind in found.values()) > 100


@pytest.mark.parametrize("families", [(), ("*",), ("t?",), ("T3",), ("",), ("x" * 33,)])
def test_without_the_name_of_a_family_ec2_is_not_asked(account, families):
    assert described(account, *families) == (TYPES, [])
    assert account.sim.calls == {}


def test_a_family_that_ec2_does_not_know_has_no_types(account):
    assert described(account, "z9") == (TYPES, [])


def test_a_type_that_the_region_does_not_have_is_not_there(account):
    found, gaps = described(account, "t3", "u7in-32tb")
    assert gaps == []
    assert any(kind.family == "u7in-32tb" for kind in TYPES.values())
    assert not any(kind.family == "u7in-32tb" for kind in found.values())


def test_when_there_is_no_time_left_nobody_is_asked_and_that_is_a_gap(account):
    found, (gap,) = DescribedTypes(account.session, Deadline(-1)).of({"t3"}, TOKYO)
    assert {kind.id: kind for kind in found} == TYPES
    assert (gap.what, gap.reason, gap.optional) == (CALL, "TookTooLongError: AWS took too long", True)
    assert account.sim.calls == {}


def test_what_may_not_be_described_is_packaged_and_an_optional_gap_and_not_asked_again(account):
    account.sim.faults.deny(CALL)
    types = DescribedTypes(account.session, Deadline())
    found, (gap,) = types.of({"t3"}, TOKYO)
    assert {kind.id: kind for kind in found} == TYPES
    assert gap == Gap("", TOKYO, CALL, gap.reason, optional=True)
    assert "UnauthorizedOperation" in gap.reason
    assert types.of({"t3", "m6i"}, TOKYO)[1] == [gap]
    assert types.of((), TOKYO)[1] == []
    assert account.sim.calls == {CALL: 1}
    assert len(types.of({"t3"}, "us-east-1")[1]) == 1
    assert account.sim.calls == {CALL: 2}


@pytest.mark.usefixtures("impatient")
def test_a_region_that_is_out_of_reach_is_asked_once():
    meter = CallMeter()
    types = DescribedTypes(AwsSession(meter=meter, endpoint=Endpoint("http://127.0.0.1:9", "k", "s")), Deadline())
    gaps = [types.of({family}, TOKYO)[1] for family in ("t3", "m6i", "c6i")]
    assert gaps[0] == gaps[1] == gaps[2]
    assert "EndpointConnectionError" in gaps[0][0].reason
    assert meter.api_calls() == {CALL: 1}


@pytest.mark.usefixtures("impatient")
def test_half_an_answer_is_none(account):
    account.sim.faults.truncate(CALL)
    found, (gap,) = described(account, "t3")
    assert found == TYPES
    assert gap.optional


def test_without_an_account_the_packaged_types_are_used_and_reported_as_such():
    found, (gap,) = PackagedTypes().of({"t3"}, TOKYO)
    assert {kind.id: kind for kind in found} == TYPES
    assert (gap.what, gap.reason, gap.optional) == (CALL, "not requested: packaged values are used", True)
    assert PackagedTypes().of((), TOKYO)[1] == []


HERE = Target("123456789012", TOKYO)
FAMILIES = sorted(
    {name.partition(".")[0] for name in Session().get_service_model("ec2").shape_for("InstanceType").enum}
)


def of_family(family):
    """Return a family's packaged types. If there are none, return a type of which EC2 publishes only the vCPUs."""
    bare = {"InstanceType": f"{family}.large", "VCpuInfo": {"DefaultVCpus": 2}}
    return [one for one in TYPES.values() if one.family == family] or [instance_type(bare)]


def judged(kind, value):
    """Return all detectors' results for an instance of a type with its volume, if every metric point is `value`."""
    since = CASE_NOW - timedelta(days=90)
    host = Instance(
        id="i-1", arn="", target=HERE, tags={}, instance_type=kind.id, state="running", launched_at=since,
        stopped_at=None, detailed_monitoring=True, root_device="/dev/xvda",
    )  # fmt: skip
    attached = (Attachment(instance_id="i-1", device="/dev/sdf", attached_at=since),)
    volume = Volume(
        id="vol-1", arn="", target=HERE, tags={}, volume_type="gp3", size_gib=500, iops=9_000, throughput_mib_s=500,
        state="in-use", created_at=since, availability_zone="a", multi_attach=False, attachments=attached,
    )  # fmt: skip
    asked = [Enabled(id_, one, one.limits()) for id_, one in registry().items() if one.resource in (Instance, Volume)]
    queue = EvaluationQueue(Records([host, volume, *of_family(kind.family)]), asked, CASE_NOW)
    while call := queue.next_call(idle=True):
        queue.receive(
            {one: Series.of(one.window.start_s, one.period_s, [value] * one.points) for one in call.queries}, {}
        )
    return queue


@pytest.mark.parametrize("value", [1.0, 90.0, pytest.param(1e9, marks=pytest.mark.slow)])
def test_every_family_of_botocore_has_limits(value):
    assert {"t8i", "m6i", "mac2"} <= {*FAMILIES}
    assert len(FAMILIES) > 200
    levels = 0
    for family in FAMILIES:
        queue = judged(of_family(family)[0], value)
        assert not queue.failures, (family, queue.failures)
        for one in queue.flagged:
            evidence = [*one.verdict.evidence, *(line for each in one.verdict.evidence for line in each.lines)]
            limits = [
                each
                for each in evidence
                if re.search("aseline|imit|aximum", each.label) and not isinstance(each.value, str)
            ]
            assert all(each.value for each in limits), (family, one.enabled.id, one.verdict.evidence)
            assert not re.search(r"(baseline|limit)[^.]* (is|of) 0 ", one.verdict.summary), (
                family,
                one.verdict.summary,
            )
            levels += len(limits)
    assert levels


def test_surplus_credits_of_a_family_without_a_table_are_unknown():
    queue = judged(TYPES["t8i.small"], 90.0)
    (why,) = [one.reason for one in queue.unknown if one.detector == "ec2-cpu-credits-surcharged"]
    assert why == "the CPU credits that t8i.small earns are not in the table of the EC2 User Guide"
    assert any(one.enabled.id == "ec2-cpu-credits-surcharged" for one in judged(TYPES["t3.small"], 90.0).flagged)
