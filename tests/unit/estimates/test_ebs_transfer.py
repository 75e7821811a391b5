"""`ebs-transfer`: published runs, limits, the smallest type that is no limit, and refused inputs."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.app.estimates.estimates import Estimated, EstimateError
from slackwater.aws.pricing.packaged import type_snapshot as snapshot
from slackwater.estimates.ebs_transfer import EbsTransferred
from slackwater.model.money import ec2_hour
from slackwater.model.units import MIB
from slackwater.performance import ebs
from slackwater.wiring.scan import estimating

ESTIMATES = estimating(None, None, "us-east-1", ["ap-northeast-1", "us-east-1"])
TYPES = {one.id: one for one in snapshot()}
THEN = {"volume_type": "gp2", "size": "220GiB", "volume_throughput": "160MiB/s"}
"""The volume in the report. In 2017, gp2 had at most 160 MiB/s."""


def estimated(**inputs: Any) -> Estimated:
    return ESTIMATES.answer("ebs-transfer", inputs)


def asked(**inputs: Any) -> EbsTransferred:
    result = estimated(**inputs).answer.result
    assert isinstance(result, EbsTransferred)
    return result


def problem(**inputs: Any) -> tuple[str, str]:
    with pytest.raises(EstimateError) as refused:
        estimated(**inputs)
    (one,) = refused.value.problems
    return one


def test_the_published_run_on_c4_large_is_bound_by_the_instance_and_c4_4xlarge_would_not_bind() -> None:
    result = asked(instance_type="c4.large", bytes="232303771648B", **THEN)

    assert result.seconds == pytest.approx(3763.15, rel=0.03)
    assert result.seconds == pytest.approx(232_303_771_648 / 62.5e6)
    assert (result.mb_per_s, result.instance_mb_per_s) == (62.5, 62.5)
    assert (result.bound_by, result.limit) == ("instance", "throughput")
    assert result.volume_mb_per_s == 167.77216
    assert result.smallest_unbound_instance_type == "c4.4xlarge"
    assert result.unbound_seconds == pytest.approx(1384.638, abs=0.001)


def test_the_published_run_on_c4_4xlarge_is_bound_by_the_volume() -> None:
    result = asked(instance_type="c4.4xlarge", bytes="232303767552B", **THEN)

    assert result.seconds == pytest.approx(1354.88, rel=0.05)
    assert result.mb_per_s == pytest.approx(167.8, abs=0.1)
    assert result.mb_per_s == pytest.approx(171, rel=0.05)
    assert (result.bound_by, result.limit) == ("volume", "throughput")
    assert result.instance_mb_per_s == 250
    assert result.smallest_unbound_instance_type == "c4.4xlarge"


def test_the_naive_sum_of_the_report_is_23_minutes() -> None:
    assert round(220 * 1000 / 160 / 60) == 23
    assert round(asked(instance_type="c4.8xlarge", bytes="220GiB", **THEN).seconds / 60) == 23


def test_today_gp2_has_250_mib_a_second_and_the_same_instance_has_not_become_faster() -> None:
    today = {"volume_type": "gp2", "size": "220GiB", "bytes": "220GiB"}

    assert asked(instance_type="c4.8xlarge", **today).mb_per_s == 262.144
    assert asked(instance_type="c4.large", **today).mb_per_s == 62.5
    assert asked(instance_type="c4.large", **today).smallest_unbound_instance_type == "c4.8xlarge"


def test_gp3_has_3000_iops_and_125_mib_a_second_unless_more_is_provisioned() -> None:
    included = asked(instance_type="m6i.8xlarge", size="500GiB", bytes="125GiB")
    provisioned = asked(
        instance_type="m6i.8xlarge", size="500GiB", bytes="500GiB", volume_throughput="500MiB/s", volume_iops=8000
    )

    assert (included.seconds, provisioned.seconds) == (1024, 1024)
    assert included.volume_refill_seconds is None
    assert asked(instance_type="m6i.8xlarge", size="500GiB", bytes="1GiB", io_size="4KiB").mb_per_s == 12.288


def test_two_bursts_make_phases_and_the_summary_says_what_binds_most_of_the_time() -> None:
    answer = estimated(instance_type="m5.xlarge", volume_type="st1", size="1TiB", bytes="4TiB").answer
    result = answer.result

    assert [(one.bound_by, round(one.mb_per_s, 2)) for one in result.phases] == [
        ("volume", 262.14),
        ("instance", 143.75),
        ("volume", 41.94),
    ]
    assert sum(one.seconds for one in result.phases) == pytest.approx(result.seconds)
    assert sum(one.seconds * one.mb_per_s for one in result.phases) == pytest.approx(4 * 2**40 / 1e6)
    assert result.mb_per_s == pytest.approx(4 * 2**40 / 1e6 / result.seconds)
    assert result.bound_by == "volume"
    assert result.volume_refill_seconds == 2**20 / 40
    assert answer.summary == (
        "Transferring 4 TiB takes 21 h 51 min at 55.9 MB/s on average. The limit most of the time is the volume's"
        " throughput. m5.xlarge sustains 144 MB/s, and bursts to 594 MB/s for 30 minutes. The volume sustains 41.9"
        " MB/s, and bursts to 262 MB/s while its burst credits last. m5.2xlarge is the smallest m5 that does not limit"
        " the volume."
    )


def test_a_volume_that_is_the_limit_only_during_a_burst_is_shown_with_the_burst() -> None:
    answer = estimated(instance_type="m5.large", size="500GiB", bytes="400GB", volume_throughput="500MiB/s").answer

    assert answer.result.bound_by == "volume"
    assert "m5.large sustains 81.2 MB/s, and bursts to 594 MB/s for 30 minutes. " in answer.summary
    assert "The volume sustains 524 MB/s. " in answer.summary


def test_the_summary_says_how_long_what_binds_and_on_what_it_would_not() -> None:
    bound = estimated(instance_type="c4.large", bytes="232303771648B", **THEN).answer.summary
    none = estimated(instance_type="t3.micro", size="500GiB", bytes="400GiB").answer

    assert bound == (
        "Transferring 232 GB takes 1 h 2 min at 62.5 MB/s. The limit is c4.large's EBS throughput. c4.large sustains"
        " 62.5 MB/s. The volume sustains 168 MB/s. c4.4xlarge is the smallest c4 that does not limit the volume. The"
        " transfer then takes 23 min 5 s."
    )
    assert none.summary.endswith("No t3 sustains the volume's maximum throughput.")
    assert (none.result.smallest_unbound_instance_type, none.result.smallest_unbound_hourly_usd) == (None, None)
    assert none.alternatives == ()


def test_an_assumption_is_listed_only_if_it_was_made() -> None:
    plain = estimated(instance_type="c4.large", size="100GiB", bytes="1GiB").answer.assumptions
    bursting = estimated(instance_type="m5.large", volume_type="gp2", size="100GB", bytes="1GiB").answer.assumptions
    magnetic = estimated(instance_type="c4.large", volume_type="standard", size="1GiB", bytes="1GiB").answer.assumptions
    on_xen = estimated(
        instance_type="c4.large", volume_type="io1", size="9GiB", bytes="1GiB", volume_iops=200
    ).answer.assumptions

    def says(words: str, inputs: tuple[str, ...]) -> bool:
        return any(words in one for one in inputs)

    assert all(
        one.startswith(("rule:", "assumed:")) for inputs in (plain, bursting, magnetic, on_xen) for one in inputs
    )
    for words, where in (
        ("m5.large reaches its maximum for 30 minutes", bursting),
        ("burst bucket is full", bursting),
        ("This one has 94 GiB.", bursting),
        ("a magnetic volume has 40 to 200 IOPS", magnetic),
        ("not built on Nitro, so it supports at most 32,000 IOPS", on_xen),
    ):
        assert [says(words, inputs) for inputs in (plain, bursting, magnetic, on_xen)].count(True) == 1
        assert says(words, where)


def test_the_prices_are_those_of_the_instance_and_of_the_smallest_that_never_binds() -> None:
    done = estimated(instance_type="m6i.large", volume_type="gp2", size="220GiB", bytes="1TiB")
    result = done.answer.result

    assert str(result.hourly_usd) == "0.096"
    assert (result.smallest_unbound_instance_type, str(result.smallest_unbound_hourly_usd)) == ("m6i.2xlarge", "0.384")
    assert [one.item.id for one in done.price_basis] == [
        "ebs.gp2.storage",
        "ec2.m6i.2xlarge.hour",
        "ec2.m6i.large.hour",
    ]
    assert asked(instance_type="m6i.large", size="1TiB", bytes="1B", region="ap-northeast-1").hourly_usd is None
    assert asked(instance_type="r5n.large", size="1TiB", bytes="1B").hourly_usd is None, "no price is packaged for it"


@pytest.mark.parametrize(
    ("volume", "usd"),
    [
        ({"size": "500GiB"}, "40.00"),
        ({"size": "499.5GiB"}, "40.00"),
        ({"size": "500GiB", "volume_iops": 3_000, "volume_throughput": "125MiB/s"}, "40.00"),
        ({"size": "500GiB", "volume_iops": 4_000, "volume_throughput": "500MiB/s"}, "60.00"),
        ({"size": "500GiB", "volume_throughput": "500MB/s"}, "54.08"),
        ({"size": "500GiB", "volume_type": "gp2", "volume_throughput": "160MiB/s"}, "50.00"),
        ({"size": "500GiB", "volume_type": "st1"}, "22.50"),
        ({"size": "500GiB", "volume_type": "io2", "volume_iops": 33_000}, "2188.00"),
    ],
)
def test_the_volume_costs_its_storage_and_what_is_provisioned_above_what_is_included(
    volume: dict[str, Any], usd: str
) -> None:
    assert asked(instance_type="m5.large", bytes="1GiB", region="us-east-1", **volume).volume_monthly_usd == Decimal(
        usd
    )


def test_a_volume_with_an_unknown_price_has_none() -> None:
    far = estimating(None, None, "eu-north-1", ["eu-north-1"])

    assert far.answer("ebs-transfer", ASKED).answer.result.volume_monthly_usd is None


def test_the_smallest_is_so_by_its_ebs_bandwidth_and_then_by_its_vcpus() -> None:
    slow = {"volume_type": "gp2", "size": "100GiB", "bytes": "1TiB"}

    assert (
        asked(instance_type="t3.2xlarge", volume_throughput="20MiB/s", **slow).smallest_unbound_instance_type
        == "t3.small"
    )
    assert (
        asked(instance_type="t3.2xlarge", volume_throughput="60MiB/s", **slow).smallest_unbound_instance_type
        == "t3.large"
    )


def test_the_alternative_is_the_smallest_that_never_binds_and_solves_it_where_the_instance_binds() -> None:
    (bound,) = estimated(instance_type="c4.large", bytes="1TiB", **THEN).answer.alternatives
    (bursting,) = estimated(instance_type="m5.large", size="500GiB", bytes="1GiB").answer.alternatives

    assert (bound.id, bound.solves) == ("c4.4xlarge", True)
    assert [(one.item, one.quantity) for one in bound.changes or ()] == [
        (ec2_hour("c4.large"), 730),
        (ec2_hour("c4.4xlarge"), -730),
    ]
    assert (bursting.id, bursting.solves) == ("m5.xlarge", False)
    assert estimated(instance_type="c4.4xlarge", bytes="1TiB", **THEN).answer.alternatives == ()


ASKED: dict[str, Any] = {"instance_type": "m6i.large", "size": "100GiB", "bytes": "1GiB"}


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"instance_type": "t3.mirco"}, "instance_type", "did you mean t3.micro?"),
        ({"instance_type": "t2.micro"}, "instance_type", "no EBS bandwidth for t2.micro; did you mean t3.micro?"),
        ({"instance_type": "r3.8xlarge"}, "instance_type", "did you mean r4.8xlarge?"),
        ({"instance_type": "m1.small"}, "instance_type", "EC2 publishes no EBS bandwidth for m1.small"),
        ({"volume_type": "gp4"}, "volume_type", "did you mean gp"),
        ({"size": "0B"}, "size", "a volume of type gp3 has 1GiB to 65536GiB"),
        ({"size": "64.1TiB"}, "size", "has 1GiB to 65536GiB"),
        ({"size": "124GiB", "volume_type": "st1"}, "size", "has 125GiB to 16384GiB"),
        ({"size": "-1GiB"}, "size", "cannot be negative"),
        ({"bytes": "1"}, "bytes", "needs a unit"),
        ({"io_size": "0B"}, "io_size", "an I/O has at least 512B"),
        ({"volume_iops": 0}, "volume_iops", "at least 1 is needed"),
        ({"volume_iops": 2_999}, "volume_iops",
         "a volume of type gp3 and 100 GiB has 3000 to 50000 IOPS, up to 500 for each GiB"),
        ({"volume_iops": 50_001}, "volume_iops", "3000 to 50000 IOPS"),
        ({"volume_iops": 3_001, "size": "1GiB"}, "volume_iops", "a volume of type gp3 and 1 GiB has 3000 IOPS"),
        ({"volume_type": "io2"}, "volume_iops",
         "io2 has what is provisioned, 100 to 100000 IOPS for 100 GiB: say how many"),
        ({"volume_type": "io1"}, "volume_iops", "100 to 5000 IOPS for 100 GiB"),
        ({"volume_type": "io1", "volume_iops": 5_001}, "volume_iops", "100 to 5000 IOPS, up to 50 for each GiB"),
        ({"volume_type": "gp2", "volume_iops": 16_001}, "volume_iops",
         "a volume of type gp2 and 100 GiB has 100 to 3000 IOPS"),
        ({"volume_type": "gp2", "volume_iops": 3_001}, "volume_iops", "has 100 to 3000 IOPS"),
        ({"volume_type": "gp2", "volume_iops": 6_001, "size": "2000GiB"}, "volume_iops",
         "and 2000 GiB has 100 to 6000 IOPS"),
        ({"volume_type": "st1", "volume_iops": 251, "size": "1TiB"}, "volume_iops", "and 1024 GiB has 1 to 250 IOPS"),
        ({"volume_type": "st1", "volume_throughput": "251MiB/s", "size": "1TiB"}, "volume_throughput",
         "at most 250MiB/s with 1024 GiB"),
        ({"volume_throughput": "124MiB/s"}, "volume_throughput",
         "has 125MiB/s to 750MiB/s with 3000 IOPS, 0.25 for each of them"),
        ({"volume_throughput": "751MiB/s"}, "volume_throughput", "125MiB/s to 750MiB/s"),
        ({"volume_throughput": "1001MiB/s", "volume_iops": 4_000}, "volume_throughput", "125MiB/s to 1000MiB/s"),
        ({"volume_throughput": "2001MiB/s", "volume_iops": 8_000}, "volume_throughput", "125MiB/s to 2000MiB/s"),
        ({"volume_throughput": "2001MiB/s", "volume_iops": 9_000}, "volume_throughput", "125MiB/s to 2000MiB/s"),
        ({"volume_throughput": "0B/s", "volume_type": "gp2"}, "volume_throughput",
         "more than nothing, and at most 250MiB/s"),
        ({"volume_throughput": "251MiB/s", "volume_type": "gp2"}, "volume_throughput", "at most 250MiB/s"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_what_could(changes: dict[str, Any], field: str, says: str) -> None:
    where, words = problem(**{**ASKED, **changes})

    assert where == field
    assert says in words


@pytest.mark.parametrize(
    "changes",
    [
        {"volume_iops": 50_000, "volume_throughput": "2000MiB/s"},
        {"volume_iops": 3_000, "volume_throughput": "750MiB/s"},
        {"volume_throughput": "125MiB/s"},
        {"volume_type": "io1", "volume_iops": 5_000},
        {"volume_type": "gp2", "volume_throughput": "250MiB/s", "volume_iops": 3_000},
        {"volume_type": "gp2", "size": "6TiB", "volume_iops": 16_000},
        {"volume_type": "sc1", "size": "1TiB", "volume_throughput": "80MiB/s", "volume_iops": 80},
        {"volume_type": "standard", "volume_throughput": "90MiB/s", "volume_iops": 200},
        {"size": "64TiB"},
        {"size": "0.5GiB"},
        {"bytes": "0B"},
        {"io_size": "512B"},
    ],
)
def test_what_is_just_within_the_limits_is_answered(changes: dict[str, Any]) -> None:
    assert asked(**{**ASKED, **changes}).seconds >= 0


KNOWN = sorted(one.id for one in TYPES.values() if one.ebs_baseline_mbps)


@settings(deadline=None)
@given(st.sampled_from(KNOWN), st.integers(1, 16_384), st.sampled_from(["4KiB", "16KiB", "1MiB"]))
def test_the_smallest_unbound_type_never_binds_and_no_smaller_one_of_the_family_does_as_well(
    instance_type: str, size_gib: int, io_size: str
) -> None:
    result = asked(instance_type=instance_type, volume_type="gp2", size=f"{size_gib}GiB", bytes="1TiB", io_size=io_size)
    family = [one for one in TYPES.values() if one.family == TYPES[instance_type].family]
    volume = ebs.volume_limits("gp2", size_gib)
    operation = volume.operation_bytes({"4KiB": 4096, "16KiB": 16_384, "1MiB": MIB}[io_size])
    carrying = [
        (one.ebs_baseline_mbps, one.vcpus)
        for one in family
        if (limits := ebs.instance_limits(one, "gp2"))
        and limits.baseline.rate(operation) >= volume.burst.rate(operation)
    ]

    assert result.unbound_seconds <= result.seconds * (1 + 1e-9)
    if result.smallest_unbound_instance_type is None:
        assert not carrying
    else:
        smallest = TYPES[result.smallest_unbound_instance_type]
        assert (smallest.ebs_baseline_mbps, smallest.vcpus) == min(carrying)
        there = asked(
            instance_type=smallest.id, volume_type="gp2", size=f"{size_gib}GiB", bytes="1TiB", io_size=io_size
        )
        assert {phase.bound_by for phase in there.phases} == {"volume"}
        assert there.seconds == pytest.approx(result.unbound_seconds)
