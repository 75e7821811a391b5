"""Network bandwidth of instances: the published numbers, and the types that support a rate."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.aws.pricing.packaged import type_snapshot as snapshot
from slackwater.model.metrics import Series
from slackwater.performance import UnpublishedError, network

TYPES = {one.id: one for one in snapshot()}
MINUTE = 60


@pytest.mark.parametrize("family", ["t3", "t3a", "t4g"])
@pytest.mark.parametrize(
    ("size", "mb_per_s"),
    [("nano", 4), ("micro", 8), ("small", 16), ("medium", 32), ("large", 64), ("xlarge", 128), ("2xlarge", 256)],
)
def test_the_baselines_of_the_t_families_are_as_published_and_their_peak_is_625_mb_a_second(
    family: str, size: str, mb_per_s: int
) -> None:
    one = TYPES[f"{family}.{size}"]

    assert (network.baseline(one), network.peak(one)) == (mb_per_s * 1e6, 625e6)
    assert network.can_burst(one)


@pytest.mark.parametrize(
    ("size", "gbps", "peak_gbps"),
    [
        ("nano", 0.032, 0.512),
        ("micro", 0.064, 1.024),
        ("small", 0.128, 1.024),
        ("medium", 0.256, 1.024),
        ("large", 0.512, 1.024),
        ("xlarge", 0.75, 1.024),
        ("2xlarge", 1.0, 1.024),
    ],
)
def test_the_baselines_of_t2_are_as_published(size: str, gbps: float, peak_gbps: float) -> None:
    one = TYPES[f"t2.{size}"]

    assert (network.baseline(one), network.peak(one)) == (gbps * 125e6, peak_gbps * 125e6)


def test_a_baseline_is_in_whole_bytes_so_that_a_type_carries_just_what_is_published() -> None:
    one = TYPES["m5n.xlarge"]

    assert one.network_baseline_gbps == 4.1
    assert network.baseline(one) == 512_500_000
    assert network.smallest_that_carries([one], 512_500_000) is one
    assert network.smallest_that_carries([one], 512_500_001) is None


def test_what_a_type_without_a_published_bandwidth_carries_is_unknown_and_not_nothing() -> None:
    silent = replace(TYPES["t3.micro"], network_baseline_gbps=None, network_peak_gbps=None)

    for figure in (network.baseline, network.peak):
        with pytest.raises(UnpublishedError, match=r"no network bandwidth for t3\.micro"):
            figure(silent)
    assert not network.can_burst(silent)
    assert network.largest([silent]) is None
    assert network.smallest_that_carries([silent], 0) is None


def test_the_smallest_that_carries_is_the_one_with_the_lowest_baseline_and_the_largest_the_one_with_the_highest() -> (
    None
):
    m6i = [one for one in TYPES.values() if one.family == "m6i"]
    r5 = [one for one in TYPES.values() if one.family == "r5"]

    assert network.smallest_that_carries(m6i, 350e6) is TYPES["m6i.2xlarge"]
    assert network.smallest_that_carries(m6i, 1e12) is None
    assert network.largest(one for one in TYPES.values() if one.family == "t3") is TYPES["t3.2xlarge"]
    assert network.largest(r5) is TYPES["r5.24xlarge"], "the metal one has the same"
    assert network.largest([]) is None


@pytest.mark.parametrize(
    ("instance_type", "family"),
    [
        ("t3.micro", "m6i"),
        ("t3a.micro", "m6i"),
        ("c7i-flex.large", "m6i"),
        ("m5zn.large", "m6i"),
        ("t4g.micro", "m7g"),
        ("m7gd.large", "m7g"),
        ("c6gn.large", "m7g"),
        ("r6i.large", None),
        ("mac1.metal", None),
        ("g5.xlarge", None),
    ],
)
def test_only_burstable_general_and_compute_types_have_a_general_family_of_their_own_architecture(
    instance_type: str, family: str | None
) -> None:
    assert network.general_family(instance_type) == family


def test_a_transfer_bursts_first_and_then_has_the_baseline() -> None:
    assert network.transfer_s(350e6 * 60, 8e6, 350e6, 5 * MINUTE) == 60
    assert network.transfer_s(350e6 * 300 + 8e6 * 100, 8e6, 350e6, 5 * MINUTE) == 400
    assert network.transfer_s(0, 8e6, 350e6, 5 * MINUTE) == 0


RATES = st.floats(1, 1e11)


@settings(deadline=None)
@given(st.floats(0, 1e15), st.floats(0, 1e15), RATES, RATES, st.floats(0, 7200))
def test_more_bytes_never_take_less_time(one: float, other: float, slow: float, fast: float, burst_s: float) -> None:
    slow, fast = sorted((slow, fast))
    less, more = (network.transfer_s(size, slow, fast, burst_s) for size in sorted((one, other)))

    assert less <= more * (1 + 1e-9)


@settings(deadline=None)
@given(st.floats(0, 1e15), RATES, RATES, RATES, st.floats(0, 7200))
def test_a_higher_baseline_or_burst_or_a_longer_burst_is_never_slower(
    size: float, slow: float, fast: float, faster: float, burst_s: float
) -> None:
    slow, fast, faster = sorted((slow, fast, faster))
    now = network.transfer_s(size, slow, fast, burst_s)

    for better in ((fast, fast, burst_s), (slow, faster, burst_s), (slow, fast, 2 * burst_s)):
        assert network.transfer_s(size, *better) <= now * (1 + 1e-9)


def by_five_minutes(*mb_s: float | None) -> Series:
    return Series.of(0, 300, [None if one is None else one * 1e6 * 300 for one in mb_s])


def test_a_run_above_the_baseline_is_more_than_noise_and_outlives_two_points_that_are_lost_or_dip() -> None:
    # 0.8 Gbps are 100 MB/s. A rate up to 5 % above it may still be limited by the baseline.
    series = by_five_minutes(50, 104, 106, 300, None, 300, 300, 300, 90, 90, 300, 50, None, 50, 300)

    assert network.runs_above(series, 0.8, min_points=2) == [range(2, 11)]
    assert network.runs_above(series, 0.8, min_points=6) == [range(2, 11)]
    assert network.runs_above(series, 0.8, min_points=7) == []  # missing points and dips do not count


def test_credits_are_drawn_above_the_baseline_and_come_back_below_it() -> None:
    # Five minutes at 200 MB/s use the credits for 100 MB/s above the baseline. The peak is 400 MB/s above it.
    assert network.drawn_s(by_five_minutes(200, 200), 100e6, 500e6) == pytest.approx(150)
    assert network.drawn_s(by_five_minutes(200, 0, 200), 100e6, 500e6) == pytest.approx(75)
    assert network.drawn_s(by_five_minutes(200, 50, 200), 100e6, 500e6) == pytest.approx(112.5)
    assert network.drawn_s(by_five_minutes(200, None, 200), 100e6, 500e6) == pytest.approx(75)
    assert network.drawn_s(by_five_minutes(100, 20), 100e6, 500e6) == 0
