"""`network-transfer`: the published proxy, the types that support its load, and refused inputs."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.app.estimates.estimates import Estimated, EstimateError
from slackwater.aws.pricing.packaged import type_snapshot as snapshot
from slackwater.estimates.network_transfer import ESTIMATE, Transfer
from slackwater.model.estimates import InputError, Known
from slackwater.model.money import VPC_ENDPOINT_GIB, VPC_ENDPOINT_HOUR, Change, ec2_hour
from slackwater.performance import network
from slackwater.wiring.scan import estimating

ESTIMATES = estimating(None, None, "us-east-1", ["ap-northeast-1", "us-east-1"])
TYPES = {one.id: one for one in snapshot()}
PROXY = {"instance_type": "t3.micro", "needed_rate": "350MB/s"}


def estimated(**inputs: Any) -> Estimated:
    return ESTIMATES.answer("network-transfer", inputs)


def asked(**inputs: Any) -> Transfer:
    result = estimated(**inputs).answer.result
    assert isinstance(result, Transfer)
    return result


def types(result: Transfer) -> list[tuple[str, bool]]:
    return [(one.instance_type, one.carries) for one in result.instance_types]


def test_the_published_proxy_has_8_mb_a_second_and_bursts_to_5_gbps() -> None:
    result = asked(**PROXY)

    assert (result.baseline_mb_per_s, result.peak_mb_per_s, result.needed_mb_per_s) == (8, 625, 350)
    assert (result.seconds_at_baseline, result.seconds_range) == (None, None)


def test_no_t3_carries_350_mb_a_second_m6i_2xlarge_does_and_m6i_8xlarge_never_drops() -> None:
    result = asked(**PROXY)
    (steady,) = result.without_burst

    assert types(result) == [("t3.2xlarge", False), ("m6i.2xlarge", True)]
    assert result.instance_types[0].baseline_mb_per_s == 256
    assert (steady.instance_type, steady.carries) == ("m6i.8xlarge", True)
    assert steady.baseline_mb_per_s == steady.peak_mb_per_s == 1562.5
    assert [str(one.hourly_usd) for one in result.instance_types] == ["0.3328", "0.384"]


def test_a_transfer_takes_long_with_the_burst_gone_and_less_with_5_to_60_minutes_of_it_first() -> None:
    result = asked(bytes="2TB", **PROXY)

    assert result.seconds_at_baseline == 2e12 / 8e6
    assert result.seconds_range == (
        3600 + (2e12 - 3600 * 350e6) / 8e6,
        300 + (2e12 - 300 * 350e6) / 8e6,
    )
    assert asked(bytes="1GB", **PROXY).seconds_range == (1e9 / 350e6, 1e9 / 350e6)


def test_without_a_rate_it_transfers_at_its_peak_and_says_so() -> None:
    done = estimated(instance_type="t3.micro", bytes="1TB")

    assert done.answer.result.needed_mb_per_s == 625
    assert done.answer.result.seconds_range == (1600, 300 + (1e12 - 300 * 625e6) / 8e6)
    assert any("you gave no rate" in one for one in done.answer.assumptions)
    assert not any("you gave no rate" in one for one in estimated(bytes="1TB", **PROXY).answer.assumptions)


def test_a_rate_below_the_baseline_is_what_the_transfer_has() -> None:
    result = asked(instance_type="t3.micro", bytes="4MB", needed_rate="4MB/s")

    assert (result.seconds_at_baseline, result.seconds_range) == (1, (1, 1))
    assert types(result) == [("t3.nano", True), ("m6i.large", True)]


def test_what_does_not_burst_takes_the_same_time_first_and_last() -> None:
    result = asked(instance_type="m6i.8xlarge", bytes="1TB")

    assert result.seconds_at_baseline == 640
    assert result.seconds_range == (640, 640)
    assert types(result) == [("m6i.8xlarge", True)]


@pytest.mark.parametrize(
    ("instance_type", "families"),
    [
        ("t3.micro", ["t3", "m6i"]),
        ("t3a.micro", ["t3a", "m6i"]),
        ("t4g.micro", ["t4g", "m7g"]),
        ("c6gn.medium", ["c6gn", "m7g"]),
        ("m6i.large", ["m6i"]),
        ("r6i.large", ["r6i"]),
    ],
)
def test_the_own_family_comes_first_and_a_general_one_after_it(instance_type: str, families: list[str]) -> None:
    assert [
        one.instance_type.partition(".")[0] for one in asked(instance_type=instance_type).instance_types
    ] == families


def test_families_are_looked_through_as_they_are_named_and_once_each() -> None:
    assert types(asked(families=["m5", "t3", "m5"], **PROXY)) == [("m5.4xlarge", True), ("t3.2xlarge", False)]


def test_a_type_of_a_family_that_nobody_named_has_no_fewer_vcpus() -> None:
    small = asked(instance_type="t3.2xlarge", needed_rate="10MB/s")

    assert types(small) == [("t3.small", True), ("m6i.2xlarge", True)]


def test_every_family_that_is_named_has_its_row_however_small_its_types_are() -> None:
    done = estimated(instance_type="m5.24xlarge", needed_rate="5GB/s", families=["t3", "c7g"])

    assert types(done.answer.result) == [("t3.2xlarge", False), ("c7g.16xlarge", False)]
    assert done.answer.summary.endswith("It does not reach 5 GB/s. Without credits, no t3 or c7g does.")
    assert types(asked(instance_type="t3.2xlarge", needed_rate="10MB/s", families=["m6i"])) == [("m6i.large", True)]


@settings(deadline=None)
@given(
    st.sampled_from(sorted(TYPES)),
    st.lists(st.sampled_from(sorted({one.family for one in TYPES.values()})), min_size=1, max_size=4, unique=True),
)
def test_the_rows_are_the_families_that_are_named_in_their_order(instance_type: str, families: list[str]) -> None:
    result = asked(instance_type=instance_type, families=families)

    assert [one.instance_type.partition(".")[0] for one in result.instance_types] == families


def test_the_interface_endpoint_costs_by_the_hour_and_gib_and_the_gateway_endpoint_nothing() -> None:
    endpoints = asked(
        instance_type="t3.micro", bytes="100GiB", hours_per_month=720.0, region="ap-northeast-1"
    ).endpoints

    assert (endpoints.interface.hourly_usd, endpoints.interface.per_gib_usd) == (Decimal("0.014"), Decimal("0.01"))
    assert (endpoints.interface.monthly_usd, endpoints.interface.transfer_usd) == (Decimal("10.08"), Decimal(1))
    assert (endpoints.gateway.hourly_usd, endpoints.gateway.monthly_usd, endpoints.gateway.transfer_usd) == (0, 0, 0)
    assert "Not for on-premises traffic" in endpoints.gateway.helps
    assert "from on premises" in endpoints.interface.helps
    assert asked(instance_type="t3.micro").endpoints.interface.transfer_usd is None


def test_the_hours_of_an_interface_endpoint_count_in_every_zone_and_its_data_once() -> None:
    done = estimated(instance_type="t3.micro", bytes="100GiB", zones=3, region="ap-northeast-1")
    interface = done.answer.result.endpoints.interface
    way = next(one for one in done.answer.alternatives if one.id == "interface-endpoint")

    assert (interface.hourly_usd, interface.monthly_usd, interface.transfer_usd) == (
        Decimal("0.014"),
        Decimal("30.66"),
        1,
    )
    assert way.summary.startswith("an interface endpoint in 3 zones takes")
    assert way.changes == (Change(VPC_ENDPOINT_HOUR, Decimal(-2190)), Change(VPC_ENDPOINT_GIB, Decimal(-100)))


def test_it_can_be_found_by_the_word_endpoint() -> None:
    assert "endpoint" in ESTIMATE.title
    assert "endpoint" in (ESTIMATE.inputs.model_fields["zones"].description or "")


def test_an_unknown_price_is_null() -> None:
    far = estimating(None, None, "eu-north-1", ["eu-north-1"]).answer("network-transfer", {**PROXY, "bytes": "1GB"})
    result = far.answer.result

    assert {one.hourly_usd for one in result.instance_types} == {None}
    assert (result.endpoints.interface.monthly_usd, result.endpoints.interface.transfer_usd) == (None, None)
    assert far.price_basis == ()


def test_the_alternatives_are_types_that_carry_it_then_the_largest_that_do_not_then_the_endpoints() -> None:
    ways = estimated(bytes="100GiB", **PROXY).answer.alternatives

    assert [(one.id, one.solves) for one in ways] == [
        ("m6i.2xlarge", True),
        ("m6i.8xlarge", True),
        ("t3.2xlarge", False),
        ("interface-endpoint", True),
        ("gateway-endpoint", True),
    ]
    assert ways[0].summary == "m6i.2xlarge, the smallest m6i that carries 350 MB/s: 391 MB/s without credits"
    assert "has no burst that could run dry: 1.56 GB/s" in ways[1].summary
    assert "the largest t3, which does not carry 350 MB/s: 256 MB/s" in ways[2].summary
    assert ways[0].changes == (
        Change(ec2_hour("t3.micro"), Decimal(730)),
        Change(ec2_hour("m6i.2xlarge"), Decimal(-730)),
    )
    assert ways[3].changes == (Change(VPC_ENDPOINT_HOUR, Decimal(-730)), Change(VPC_ENDPOINT_GIB, Decimal(-100)))
    assert ways[4].changes == ()


def test_without_a_size_nobody_can_know_what_an_interface_endpoint_comes_to() -> None:
    assert next(one for one in estimated(**PROXY).answer.alternatives if one.id == "interface-endpoint").changes is None


def test_it_is_no_alternative_to_itself() -> None:
    assert [one.id for one in estimated(instance_type="m6i.8xlarge").answer.alternatives] == [
        "interface-endpoint",
        "gateway-endpoint",
    ]


@pytest.mark.parametrize(
    ("inputs", "summary"),
    [
        (
            {"bytes": "2TB", **PROXY},
            (
                "t3.micro sustains 8 MB/s, and bursts to up to 625 MB/s while its network credits last."
                " Transferring 2 TB takes 2 d 21 h without credits, or 1 d 3 h to 2 d 18 h if it starts with a"
                " burst. It does not sustain 350 MB/s without credits: m6i.2xlarge does, no t3 does."
            ),
        ),
        (
            {"instance_type": "m6i.8xlarge", "bytes": "1TB"},
            "m6i.8xlarge sustains 1.56 GB/s. Transferring 1 TB takes 10 min 40 s.",
        ),
        (
            {"instance_type": "r5.large", "bytes": "1GB", "needed_rate": "50Gbps"},
            (
                "r5.large sustains 93.8 MB/s, and bursts to up to 1.25 GB/s while its network credits last."
                " Transferring 1 GB takes 11 s without credits, or 0.8 s if it starts with a burst. It does not"
                " reach 6.25 GB/s even in a burst. Without credits, no r5 does."
            ),
        ),
        (
            {"instance_type": "t3.micro", "bytes": "1TB", "needed_rate": "1GB/s"},
            (
                "t3.micro sustains 8 MB/s, and bursts to up to 625 MB/s while its network credits last."
                " Transferring 1 TB takes 1 d 11 h without credits, or 26 min 40 s to 1 d 4 h if it starts with a"
                " burst. It does not reach 1 GB/s even in a burst. Without credits, m6i.8xlarge does, no t3 does."
            ),
        ),
        (
            {"instance_type": "t3.small", "bytes": "5TiB"},
            (
                "t3.small sustains 16 MB/s, and bursts to up to 625 MB/s while its network credits last."
                " Transferring 5 TiB takes 3 d 23 h without credits, or 2 d 9 h to 3 d 20 h if it starts with a"
                " burst."
            ),
        ),
        (
            {"instance_type": "m5.large", "bytes": "1TB", "needed_rate": "10MB/s"},
            (
                "m5.large sustains the 10 MB/s you need without credits. Its baseline is 93.8 MB/s. At 10 MB/s,"
                " transferring 1 TB takes 1 d 4 h."
            ),
        ),
        (
            {"instance_type": "t3.micro", "needed_rate": "8MB/s"},
            "t3.micro sustains the 8 MB/s you need without credits. Its baseline is 8 MB/s.",
        ),
        (
            {"instance_type": "t3.micro"},
            "t3.micro sustains 8 MB/s, and bursts to up to 625 MB/s while its network credits last.",
        ),
    ],
)
def test_the_summary_answers_the_question(inputs: dict[str, Any], summary: str) -> None:
    assert estimated(**inputs).answer.summary == summary


@pytest.mark.parametrize(
    ("words", "where", "elsewhere"),
    [
        (
            "a burst lasts 5 to 60 minutes",
            {"instance_type": "t3.micro"},
            {"instance_type": "m5.large", "needed_rate": "10MB/s"},
        ),
        ("never exceeds the required rate", {"bytes": "1TB", **PROXY}, PROXY),
        (
            "one flow reaches at most 5 Gbps",
            {"instance_type": "t3.micro", "needed_rate": "5.1Gbps"},
            {"instance_type": "t3.micro", "needed_rate": "5Gbps"},
        ),
        ("at least as many vCPUs as t3.micro", PROXY, {"families": ["m6i"], **PROXY}),
        (
            "the price of the first petabyte",
            {"instance_type": "t3.micro", "bytes": "1.1PB"},
            {"instance_type": "t3.micro", "bytes": "1PB"},
        ),
    ],
)
def test_an_assumption_is_listed_only_if_it_was_made(
    words: str, where: dict[str, Any], elsewhere: dict[str, Any]
) -> None:
    assert any(words in one for one in estimated(**where).answer.assumptions)
    assert not any(words in one for one in estimated(**elsewhere).answer.assumptions)


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"instance_type": "t3.mirco"}, "instance_type", "no instance type 't3.mirco'; did you mean t3.micro?"),
        ({"instance_type": "T3.micro"}, "instance_type", "did you mean t3.micro?"),
        ({"families": ["t3", "m6j"]}, "families", "no instance family 'm6j'; did you mean m6a?"),
        ({"families": ["T3"]}, "families", "did you mean t3?"),
        ({"needed_rate": "0B/s"}, "needed_rate", "must be above 0"),
        ({"needed_rate": "350MB"}, "needed_rate", "did you mean MB/s?"),
        ({"zones": 0}, "zones", "at least 1 is needed"),
        ({"zones": 7}, "zones", "at most 6 is allowed"),
        ({"bytes": "-1GB"}, "bytes", "a size cannot be negative"),
    ],
)
def test_what_cannot_be_is_refused_with_what_could(changes: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(EstimateError) as refused:
        estimated(**{**PROXY, **changes})

    ((where, words),) = refused.value.problems
    assert where == field
    assert says in words


NAMES = st.sampled_from(sorted(TYPES))


@settings(deadline=None)
@given(NAMES, st.integers(0, 10**14), st.integers(0, 10**14), st.integers(1, 10**12))
def test_more_bytes_never_take_less_time(instance_type: str, one: int, other: int, rate: int) -> None:
    less, more = (
        asked(instance_type=instance_type, bytes=f"{size}B", needed_rate=f"{rate}B/s") for size in sorted((one, other))
    )

    assert less.seconds_at_baseline <= more.seconds_at_baseline
    assert less.seconds_range[0] <= more.seconds_range[0] * (1 + 1e-9)
    assert less.seconds_range[1] <= more.seconds_range[1] * (1 + 1e-9)


@settings(deadline=None)
@given(NAMES, st.integers(0, 10**14))
def test_a_burst_never_makes_it_longer_and_a_longer_one_never_either(instance_type: str, size: int) -> None:
    result = asked(instance_type=instance_type, bytes=f"{size}B")
    best, worst = result.seconds_range

    assert best <= worst * (1 + 1e-9)
    assert worst <= result.seconds_at_baseline * (1 + 1e-9)


@settings(deadline=None)
@given(NAMES, st.integers(1, 10**12))
def test_a_type_carries_a_rate_if_and_only_if_its_baseline_is_as_high_and_none_smaller_of_its_family_is(
    instance_type: str, rate: int
) -> None:
    result = asked(instance_type=instance_type, needed_rate=f"{rate}B/s")
    own = result.instance_types[0]
    family = [network.baseline(one) for one in TYPES.values() if one.family == TYPES[instance_type].family]

    assert own.carries == any(baseline >= rate for baseline in family)
    expected = min(baseline for baseline in family if baseline >= rate) if own.carries else max(family)
    assert own.baseline_mb_per_s * 1e6 == pytest.approx(expected)
    for steady in result.without_burst:
        assert steady.carries
        assert steady.peak_mb_per_s == steady.baseline_mb_per_s


def test_a_general_family_that_a_region_does_not_have_is_left_out_unless_it_is_named() -> None:
    known = Known("ap-northeast-1", [one for one in snapshot() if one.family == "t3"], {})

    def result(**inputs: Any) -> Transfer:
        worked: Transfer = ESTIMATE.work(ESTIMATE.inputs.model_validate(PROXY | inputs), known).result
        return worked

    assert types(result()) == [("t3.2xlarge", False)]
    with pytest.raises(InputError, match="no instance family 'm6i'"):
        result(families=["m6i"])
