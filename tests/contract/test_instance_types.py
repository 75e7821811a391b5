"""The packaged instance types, against figures that the EC2 user guide publishes."""

import pytest

from slackwater.aws.inventory_types import instance_type, snapshot

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
