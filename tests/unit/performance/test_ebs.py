"""EBS volumes and their instances: the published limits, credits, and their effect on a transfer."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.aws.pricing.packaged import type_snapshot as snapshot
from slackwater.model.resources import Target, Volume
from slackwater.model.units import GIB, KIB, MIB, TIB
from slackwater.performance import ebs
from slackwater.performance.ebs import (
    Allowance,
    InstanceLimits,
    Phase,
    VolumeLimits,
    instance_limits,
    transfer,
    volume_limits,
)

TYPES = {one.id: one for one in snapshot()}
SSD_KIB, HDD_KIB = 256, 1024


def on(instance_type: str, volume_type: str = "gp3") -> InstanceLimits:
    limits = instance_limits(TYPES[instance_type], volume_type)
    assert limits is not None
    return limits


def mib_s(allowance: Allowance, io_kib: int) -> float:
    return allowance.rate(io_kib * KIB) / MIB


@pytest.mark.parametrize(
    ("volume_type", "gib", "most_iops", "most_mib_s", "io_kib", "iops_per_gib"),
    [
        ("gp3", (1, 65_536), 80_000, 2_000, 256, 500),
        ("gp2", (1, 16_384), 16_000, 250, 256, None),
        ("io2", (4, 65_536), 256_000, 4_000, 256, 1_000),
        ("io1", (4, 16_384), 64_000, 1_000, 256, 50),
        ("st1", (125, 16_384), 500, 500, 1_024, None),
        ("sc1", (125, 16_384), 250, 250, 1_024, None),
        ("standard", (1, 1_024), 200, 90, 1_024, None),
    ],
)
def test_a_volume_type_has_the_published_limits(
    volume_type: str, gib: tuple[int, int], most_iops: int, most_mib_s: int, io_kib: int, iops_per_gib: int | None
) -> None:
    kind = ebs.VOLUME_TYPES[volume_type]

    assert (kind.gib, kind.iops[1], kind.most_mib_s, kind.iops_per_gib) == (gib, most_iops, most_mib_s, iops_per_gib)
    assert kind.operation_bytes == io_kib * KIB


@pytest.mark.parametrize(
    ("volume_type", "size_gib", "iops"),
    [
        ("gp3", 1, 3_000),
        ("gp3", 6, 3_000),
        ("gp3", 16, 8_000),
        ("gp3", 159, 79_500),
        ("gp3", 160, 80_000),
        ("io1", 100, 5_000),
        ("io1", 1_280, 64_000),
        ("io1", 16_384, 64_000),
        ("io2", 4, 4_000),
        ("io2", 256, 256_000),
        ("io2", 65_536, 256_000),
        ("gp2", 1, 16_000),
    ],
)
def test_so_many_iops_may_be_provisioned_for_a_size(volume_type: str, size_gib: int, iops: int) -> None:
    assert ebs.VOLUME_TYPES[volume_type].most_iops(size_gib) == iops


@pytest.mark.parametrize(
    ("volume_type", "iops", "throughput"),
    [
        ("io1", 100, 25),
        ("io1", 2_000, 500),
        ("io1", 32_000, 500),
        ("io1", 48_000, 750),
        ("io1", 64_000, 1_000),
        ("io2", 1_000, 250),
        ("io2", 16_000, 4_000),
        ("io2", 256_000, 4_000),
        ("gp3", 3_000, 125),
        ("standard", 200, 40),
    ],
)
def test_throughput_follows_from_provisioned_iops_in_the_largest_operations(
    volume_type: str, iops: int, throughput: float
) -> None:
    volume = volume_limits(volume_type, 1_000, iops)

    assert volume.burst == volume.baseline
    assert volume.credits == 0
    assert mib_s(volume.baseline, volume.largest_operation_bytes // KIB) == throughput


def test_io2_has_its_throughput_ceiling_by_iops() -> None:
    assert ebs.included_mib_s("io2", 1_000) == 256
    assert ebs.included_mib_s("io2", 15_625) == 4_000


@pytest.mark.parametrize(
    ("size_gib", "base", "burst_s", "refill_s"),
    [(1, 100, 1_862, 54_000), (33, 100, 1_862, 54_000), (100, 300, 2_000, 18_000), (334, 1_002, 2_703, 5_389),
     (750, 2_250, 7_200, 2_400)],
)  # fmt: skip
def test_gp2_bursts_and_refills_as_published(size_gib: int, base: int, burst_s: int, refill_s: int) -> None:
    volume = volume_limits("gp2", size_gib)

    assert (volume.baseline.iops, volume.burst.iops) == (base, 3_000)
    assert round(volume.dry_after_s(volume.burst.iops)) == burst_s
    assert round(volume.refill_s) == refill_s
    assert volume.dry_after_s(3_000, balance=0.5) == volume.dry_after_s(3_000) / 2
    assert volume.dry_after_s(base) == float("inf")


@pytest.mark.parametrize(
    ("size_gib", "base", "burst"),
    [(34, 102, 3_000), (999, 2_997, 3_000), (1_000, 3_000, 3_000), (5_333, 15_999, 15_999), (5_334, 16_000, 16_000),
     (16_384, 16_000, 16_000)],
)  # fmt: skip
def test_gp2_has_three_iops_a_gib_and_no_burst_from_1000_gib(size_gib: int, base: int, burst: int) -> None:
    volume = volume_limits("gp2", size_gib)

    assert (volume.baseline.iops, volume.burst.iops) == (base, burst)
    assert bool(volume.credits) == (base < burst)


@pytest.mark.parametrize(
    ("size_gib", "with_credits", "without"),
    [(100, 128, 75), (170, 128, 127.5), (171, 250, 128.25), (333, 250, 249.75), (334, 250, 250), (16_384, 250, 250)],
)
def test_gp2_throughput_is_128_up_to_170_gib_and_250_above_as_far_as_its_iops_reach(
    size_gib: int, with_credits: float, without: float
) -> None:
    volume = volume_limits("gp2", size_gib)

    assert mib_s(volume.burst, SSD_KIB) == with_credits
    assert mib_s(volume.baseline, SSD_KIB) == without


@pytest.mark.parametrize(
    ("volume_type", "size_tib", "base", "burst"),
    [
        ("st1", 1, 40, 250),
        ("st1", 2, 80, 500),
        ("st1", 5, 200, 500),
        ("st1", 12.5, 500, 500),
        ("st1", 16, 500, 500),
        ("sc1", 1, 12, 80),
        ("sc1", 3.125, 37.5, 250),
        ("sc1", 16, 192, 250),
    ],
)
def test_hard_disk_throughput_follows_from_the_size(
    volume_type: str, size_tib: float, base: float, burst: float
) -> None:
    volume = volume_limits(volume_type, int(size_tib * 1024))

    assert (mib_s(volume.baseline, HDD_KIB), mib_s(volume.burst, HDD_KIB)) == (base, burst)
    assert volume.burst.limit(MIB) == volume.baseline.limit(MIB) == "throughput"
    assert bool(volume.credits) == (base < burst)


@pytest.mark.parametrize(("size_tib", "hours"), [(0.5, 1.39), (1, 1.39), (2, 1.39), (5, 4.85)])
def test_st1_bursts_as_long_as_published(size_tib: float, hours: float) -> None:
    volume = volume_limits("st1", int(size_tib * 1024))

    assert volume.dry_after_s(volume.burst.iops) / 3600 == pytest.approx(hours, abs=0.005)
    assert volume.credits * MIB == size_tib * TIB


def test_small_io_costs_a_hard_disk_volume_a_whole_operation() -> None:
    volume = volume_limits("st1", 1024)

    assert volume.operation_bytes(64 * KIB) == 64 * KIB
    assert mib_s(volume.burst, 64) == 250 / 16
    assert volume.burst.limit(64 * KIB) == "iops"


@pytest.mark.parametrize(
    ("volume_type", "io", "operation"),
    [
        ("gp3", 4 * KIB, 4 * KIB),
        ("gp3", 256 * KIB, 256 * KIB),
        ("gp3", 300 * KIB, 150 * KIB),
        ("gp3", MIB, 256 * KIB),
        ("st1", MIB, MIB),
        ("st1", 1.5 * MIB, 0.75 * MIB),
    ],
)
def test_io_is_split_into_operations_of_256_kib_on_ssd_and_1024_on_hard_disks(
    volume_type: str, io: float, operation: float
) -> None:
    assert volume_limits(volume_type, 1024).operation_bytes(io) == operation


def test_what_is_named_takes_the_place_of_what_the_type_has() -> None:
    then = volume_limits("gp2", 220, bytes_per_s=160 * MIB)

    assert mib_s(then.burst, SSD_KIB) == 160
    assert (then.baseline.iops, then.burst.iops) == (660, 3_000)
    assert volume_limits("gp2", 220, iops=1_000).burst.iops == 1_000
    assert volume_limits("gp2", 5_334, iops=10_000).baseline.iops == 10_000
    assert volume_limits("gp3", 500, 8_000, 500 * MIB).baseline == Allowance(500 * MIB, 8_000)
    assert volume_limits("st1", 1024, bytes_per_s=100 * MIB).baseline.rate(MIB) == 40 * MIB
    assert volume_limits("standard", 10).baseline == Allowance(40 * MIB, 40)


@pytest.mark.parametrize(
    ("instance_type", "vcpus", "gbps", "mbps", "mb_s", "iops"),
    [
        ("t3.nano", 2, (0.032, 5), (43, 2085), (5.4, 260.6), (250, 11_800)),
        ("t3.micro", 2, (0.064, 5), (87, 2085), (10.9, 260.6), (500, 11_800)),
        ("t3.small", 2, (0.128, 5), (174, 2085), (21.8, 260.6), (1_000, 11_800)),
        ("t3.medium", 2, (0.256, 5), (347, 2085), (43.4, 260.6), (2_000, 11_800)),
        ("t3.large", 2, (0.512, 5), (695, 2780), (86.9, 347.5), (4_000, 15_700)),
        ("t3.xlarge", 4, (1.024, 5), (695, 2780), (86.9, 347.5), (4_000, 15_700)),
        ("t3.2xlarge", 8, (2.048, 5), (695, 2780), (86.9, 347.5), (4_000, 15_700)),
        ("m5.large", 2, (0.75, 10), (650, 4750), (81.3, 593.8), (3_600, 18_750)),
        ("m5.xlarge", 4, (1.25, 10), (1150, 4750), (143.8, 593.8), (6_000, 18_750)),
        ("m5.2xlarge", 8, (2.5, 10), (2300, 4750), (287.5, 593.8), (12_000, 18_750)),
        ("m5.4xlarge", 16, (5, 10), (4750, 4750), (593.8, 593.8), (18_750, 18_750)),
        ("m5.8xlarge", 32, (10, 10), (6800, 6800), (850, 850), (30_000, 30_000)),
        ("m6i.large", 2, (0.781, 12.5), (650, 10000), (81.3, 1250), (3_600, 40_000)),
        ("m6i.4xlarge", 16, (6.25, 12.5), (5000, 10000), (625, 1250), (20_000, 40_000)),
        ("m6i.8xlarge", 32, (12.5, 12.5), (10000, 10000), (1250, 1250), (40_000, 40_000)),
        ("m7g.large", 2, (0.937, 12.5), (630, 10000), (78.8, 1250), (3_600, 40_000)),
        ("m8g.large", 2, (0.937, 12.5), (630, 10000), (78.8, 1250), (3_600, 40_000)),
        ("m8i.large", 2, (0.937, 12.5), (650, 10000), (81.3, 1250), (3_600, 40_000)),
        ("c5.large", 2, (0.75, 10), (650, 4750), (81.3, 593.8), (4_000, 20_000)),
        ("c6gn.large", 2, (3, 25), (1235, 9500), (154.4, 1187.5), (5_000, 40_000)),
        ("r6i.xlarge", 4, (1.562, 12.5), (1250, 10000), (156.3, 1250), (6_000, 40_000)),
        ("i4i.large", 2, (0.781, 10), (625, 10000), (78.1, 1250), (2_500, 40_000)),
        ("c4.large", 2, (0.625, 1.2), (500, 500), (62.5, 62.5), (4_000, 4_000)),
        ("c4.4xlarge", 16, (5, 10), (2000, 2000), (250, 250), (16_000, 16_000)),
    ],
)
def test_the_packaged_instance_types_are_as_published_and_mbps_are_decimal(
    instance_type: str,
    vcpus: int,
    gbps: tuple[float, float],
    mbps: tuple[int, int],
    mb_s: tuple[float, float],
    iops: tuple[int, int],
) -> None:
    one, limits = TYPES[instance_type], on(instance_type)

    assert (one.vcpus, one.network_baseline_gbps, one.network_peak_gbps) == (vcpus, *gbps)
    assert (one.ebs_baseline_mbps, one.ebs_maximum_mbps) == mbps
    assert (limits.baseline.iops, limits.burst.iops) == iops
    assert (limits.baseline.bytes_per_s, limits.burst.bytes_per_s) == tuple(one * 125_000 for one in mbps)
    assert (limits.baseline.bytes_per_s / 1e6, limits.burst.bytes_per_s / 1e6) == pytest.approx(mb_s, abs=0.051)


def test_an_instance_of_which_ec2_publishes_nothing_has_no_limits_that_are_known() -> None:
    assert instance_limits(TYPES["t2.micro"], "gp3") is None


def test_io1_and_io2_have_32000_iops_at_most_on_xen_and_io1_500_mib_a_second_then() -> None:
    assert on("i3.16xlarge", "io1").baseline == Allowance(500 * MIB, 32_000)
    assert on("i3.16xlarge", "io2").baseline == Allowance(1_750e6, 32_000)
    assert on("i3.16xlarge", "gp3").baseline == Allowance(1_750e6, 65_000)
    assert on("c4.large", "io1").baseline == Allowance(62.5e6, 4_000)
    assert on("r5b.24xlarge", "io2").baseline.iops > 32_000


def phases_of(
    size: float, volume: VolumeLimits, instance: InstanceLimits, io: float = MIB
) -> list[tuple[float, float, str, str]]:
    return [
        (round(one.seconds, 2), round(one.bytes_per_s / 1e6, 2), one.bound_by, one.limit)
        for one in transfer(size, io, volume, instance)
    ]


def test_a_transfer_slows_down_when_the_volume_has_no_credits_left() -> None:
    volume = volume_limits("gp2", 220)  # 250 MiB/s need 1,000 operations a second, and it earns 660
    spent_s = 5_400_000 / 340

    assert phases_of(8 * TIB, volume, on("m6i.8xlarge")) == [
        (round(spent_s, 2), 262.14, "volume", "throughput"),
        (round((8 * TIB - spent_s * 250 * MIB) / (165 * MIB), 2), 173.02, "volume", "iops"),
    ]


def test_a_transfer_slows_down_when_the_half_hour_of_the_instance_is_over() -> None:
    volume = volume_limits("gp3", 500)

    assert phases_of(400 * GIB, volume, on("t3.large")) == [
        (1800, 131.07, "volume", "throughput"),
        (round((400 * GIB - 1800 * 125 * MIB) / 86.875e6, 2), 86.88, "instance", "throughput"),
    ]
    assert phases_of(200 * GIB, volume, on("t3.large")) == [(1638.4, 131.07, "volume", "throughput")]


def test_both_bursts_end_one_after_the_other_and_the_slower_instance_spends_the_credits_more_slowly() -> None:
    volume, instance = volume_limits("st1", 1024), on("m5.xlarge")
    left = TIB / MIB - 1800 * (250 - 40)
    spent_s = left / (143.75e6 / MIB - 40)
    moved = 1800 * 250 * MIB + spent_s * 143.75e6

    assert phases_of(4 * TIB, volume, instance) == [
        (1800, 262.14, "volume", "throughput"),
        (round(spent_s, 2), 143.75, "instance", "throughput"),
        (round((4 * TIB - moved) / (40 * MIB), 2), 41.94, "volume", "throughput"),
    ]


def test_phases_that_do_not_differ_are_one() -> None:
    assert phases_of(TIB, volume_limits("gp3", 500), on("m5.xlarge")) == [(8388.61, 131.07, "volume", "throughput")]


def test_small_io_is_bound_by_operations() -> None:
    assert phases_of(3_000 * 4 * KIB * 60, volume_limits("gp3", 500), on("m5.4xlarge"), 4 * KIB) == [
        (60, 12.29, "volume", "iops")
    ]
    without_burst = replace(on("t3.micro"), burst=on("t3.micro").baseline)
    assert phases_of(500 * 4 * KIB * 60, volume_limits("gp3", 500), without_burst, 4 * KIB) == [
        (60, 2.05, "instance", "iops")
    ]


def test_a_tie_is_the_volumes_as_a_larger_instance_would_not_help() -> None:
    alike = volume_limits("gp3", 500)
    instance = InstanceLimits(baseline=alike.baseline, burst=alike.burst)

    assert {one.bound_by for one in transfer(GIB, MIB, alike, instance)} == {"volume"}


def test_nothing_is_transferred_in_no_time_and_the_limit_is_still_named() -> None:
    assert phases_of(0, volume_limits("gp3", 500), on("c4.large")) == [(0, 62.5, "instance", "throughput")]
    assert phases_of(0, volume_limits("gp3", 500), ebs.UNBOUND) == [(0, 131.07, "volume", "throughput")]


SIZES = st.floats(0, 1e16)
IOS = st.sampled_from([4 * KIB, 16 * KIB, 100 * KIB, 256 * KIB, 300 * KIB, MIB])
ALLOWANCES = st.builds(Allowance, st.floats(1e6, 1e11), st.floats(100, 1e6))


def larger(one: Allowance, other: Allowance) -> Allowance:
    return Allowance(max(one.bytes_per_s, other.bytes_per_s), max(one.iops, other.iops))


@st.composite
def instances(draw: st.DrawFn) -> InstanceLimits:
    baseline = draw(ALLOWANCES)
    return InstanceLimits(baseline=baseline, burst=larger(baseline, draw(ALLOWANCES)))


@st.composite
def volumes(draw: st.DrawFn) -> tuple[VolumeLimits, VolumeLimits]:
    """Return the limits of two volumes of one type. No limit of the second is lower."""
    volume_type = draw(st.sampled_from(sorted(ebs.VOLUME_TYPES)))
    kind = ebs.VOLUME_TYPES[volume_type]
    small, large = sorted(draw(st.integers(*kind.gib)) for _ in range(2))
    few = many = None
    if kind.iops_per_gib:
        least = kind.iops[0]
        few = draw(st.integers(least, kind.most_iops(small)))
        many = draw(st.integers(few, kind.most_iops(large)))
    slow = fast = None
    if volume_type == "gp3" and draw(st.booleans()):
        slow, fast = sorted(draw(st.integers(125, 2_000)) * MIB for _ in range(2))
    return volume_limits(volume_type, small, few, slow), volume_limits(volume_type, large, many, fast)


def seconds(phases: list[Phase]) -> float:
    return sum(one.seconds for one in phases)


@settings(deadline=None)
@given(SIZES, IOS, volumes(), instances())
def test_the_phases_move_all_of_it_and_no_two_neighbours_are_alike(
    size: float, io: float, pair: tuple[VolumeLimits, VolumeLimits], instance: InstanceLimits
) -> None:
    phases = transfer(size, io, pair[0], instance)

    assert sum(one.seconds * one.bytes_per_s for one in phases) == pytest.approx(size, rel=1e-9)
    assert all(one.seconds >= 0 and one.bytes_per_s > 0 for one in phases)
    assert 1 <= len(phases) <= 3
    assert all(replace(one, seconds=0) != replace(other, seconds=0) for one, other in pairwise(phases))
    rates = [one.bytes_per_s for one in phases]
    assert rates == sorted(rates, reverse=True), "it only ever gets slower"


@settings(deadline=None)
@given(SIZES, SIZES, IOS, volumes(), instances())
def test_more_bytes_never_take_less_time(
    one: float, other: float, io: float, pair: tuple[VolumeLimits, VolumeLimits], instance: InstanceLimits
) -> None:
    less, more = (seconds(transfer(size, io, pair[0], instance)) for size in sorted((one, other)))

    assert less <= more * (1 + 1e-9)


@settings(deadline=None)
@given(SIZES, IOS, volumes(), instances(), instances())
def test_an_instance_whose_every_limit_is_at_least_as_high_is_never_slower(
    size: float, io: float, pair: tuple[VolumeLimits, VolumeLimits], one: InstanceLimits, other: InstanceLimits
) -> None:
    better = InstanceLimits(baseline=larger(one.baseline, other.baseline), burst=larger(one.burst, other.burst))

    assert seconds(transfer(size, io, pair[0], better)) <= seconds(transfer(size, io, pair[0], one)) * (1 + 1e-9)
    assert seconds(transfer(size, io, pair[0], ebs.UNBOUND)) <= seconds(transfer(size, io, pair[0], better)) * (
        1 + 1e-9
    )


@settings(deadline=None)
@given(SIZES, IOS, volumes(), instances())
def test_a_larger_volume_or_one_with_more_provisioned_is_never_slower(
    size: float, io: float, pair: tuple[VolumeLimits, VolumeLimits], instance: InstanceLimits
) -> None:
    small, large = (seconds(transfer(size, io, volume, instance)) for volume in pair)

    assert large <= small * (1 + 1e-9)


@pytest.mark.parametrize(
    ("peak", "percent", "kept"),
    [(100, 20, 120), (100.1, 20, 121), (0, 20, 0), (300, 0, 300), (100, 10, 110), (105, 20, 126)],
)
def test_headroom_is_a_whole_number_and_no_more_than_was_asked_for(peak: float, percent: float, kept: int) -> None:
    assert ebs.with_headroom(peak, percent) == kept


@pytest.mark.parametrize(
    ("size_gib", "iops", "mib_s", "setting"),
    [
        (500, 0, 0, (3_000, 125)),
        (1, 3_000, 125, (3_000, 125)),
        (500, 3_000.5, 125.5, (3_001, 126)),
        (220, 3_000, 250, (3_000, 250)),
        (220, 3_000, 750, (3_000, 750)),
        (220, 3_000, 751, (3_004, 751)),
        (220, 3_000, 1_000, (4_000, 1_000)),
        (16, 3_000, 2_000, (8_000, 2_000)),
        (15, 3_000, 2_000, None),
        (500, 3_000, 2_001, None),
        (160, 80_000, 125, (80_000, 125)),
        (159, 80_000, 125, None),
        (500, 80_001, 125, None),
    ],
)
def test_gp3_is_set_to_what_is_needed_and_included_and_to_the_iops_that_its_throughput_takes(
    size_gib: int, iops: float, mib_s: float, setting: tuple[int, int] | None
) -> None:
    assert ebs.gp3_for(size_gib, iops, mib_s) == (ebs.Gp3(*setting) if setting else None)


@pytest.mark.parametrize(
    ("volume_type", "mib_s", "iops"),
    [
        ("gp3", 125, 3_000),
        ("gp3", 750, 3_000),
        ("gp3", 751, 3_004),
        ("gp3", 2_000, 8_000),
        ("io1", 500, 100),
        ("io1", 501, 32_064),
        ("io1", 1_000, 64_000),
        ("io2", 10, 100),
        ("io2", 4_000, 15_625),
    ],
)
def test_throughput_takes_so_many_iops(volume_type: str, mib_s: float, iops: int) -> None:
    assert ebs.least_iops(volume_type, mib_s) == iops


@pytest.mark.parametrize(("mib_s", "gib"), [(1, 125), (40, 1_024), (250, 6_400), (500, 12_800)])
def test_an_st1_volume_has_40_mib_a_second_for_each_tib(mib_s: float, gib: int) -> None:
    assert ebs.st1_gib_for(mib_s) == gib
    assert ebs.volume_limits("st1", gib).baseline.bytes_per_s >= mib_s * MIB


@pytest.mark.parametrize(
    ("volume_type", "gib", "iops", "mib_s", "most"),
    [
        ("gp3", 500, 3_000, 125, (125, 3_000)),
        ("gp3", 500, None, None, (2_000, 80_000)),
        ("gp2", 100, 300, None, (128, 3_000)),
        ("io1", 500, 20_000, None, (500, 20_000)),
        ("io2", 500, 1_000, None, (256, 1_000)),
        ("st1", 1_024, None, None, (250, 250)),
        ("standard", 100, None, None, (90, 200)),
        ("io9", 100, None, None, (float("inf"), float("inf"))),
    ],
)
def test_the_most_that_a_volume_can_ever_do(
    volume_type: str, gib: int, iops: int | None, mib_s: int | None, most: tuple[float, float]
) -> None:
    volume = Volume(
        id="vol-1", arn="", target=Target("123456789012", "us-east-1"), tags={}, volume_type=volume_type, size_gib=gib,
        iops=iops, throughput_mib_s=mib_s, state="in-use", created_at=datetime(2026, 1, 1, tzinfo=UTC),
        availability_zone="", multi_attach=False,
    )  # fmt: skip
    found = ebs.most_of(volume)

    assert (found.bytes_per_s / MIB, found.iops) == most


@pytest.mark.parametrize(("name", "bursts"), [("m6i.large", True), ("m6i.8xlarge", False), ("t2.micro", False)])
def test_an_instance_bursts_where_its_maximum_is_above_its_baseline(name: str, bursts: bool) -> None:
    assert ebs.can_burst(TYPES[name]) is bursts


@pytest.mark.parametrize(
    ("mb_s", "iops", "name"),
    [
        (81.25, 3_600, "m6i.large"),
        (81.26, 3_600, "m6i.xlarge"),
        (10, 3_601, "m6i.xlarge"),
        (1_250, 40_000, "m6i.8xlarge"),
        (1_251, 0, "m6i.12xlarge"),
        (100_000, 0, None),
    ],
)
def test_the_smallest_type_that_carries_it_without_a_burst(mb_s: float, iops: float, name: str | None) -> None:
    family = [one for one in TYPES.values() if one.family == "m6i"]
    found = ebs.smallest_that_carries(family, Allowance(mb_s * 1e6, iops))

    assert (found.id if found else None) == name
