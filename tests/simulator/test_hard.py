"""The hard fleet is as hard as documented."""

import argparse
from math import ceil

import numpy as np
import pytest

from slackwater_simulator import hard_fleet, organization
from slackwater_simulator.__main__ import _fleet

MIB, NEAR = 1 << 20, 0.25


@pytest.fixture(scope="module")
def fleet():
    return hard_fleet(1_000)


def peak_and_threshold(volume) -> tuple[float, float]:
    """Return the busiest minute's rate, and the threshold that AWS or the recommendation compares it with."""
    work = volume.activity
    bytes_per_s = (work.read + work.write) * np.nanmax(work.shape.stats.total)
    if volume.type in ("gp2", "io1"):
        limit = max(100, 3 * volume.size_gib) if volume.type == "gp2" else 0.4 * volume.iops
        return bytes_per_s / work.read_size, limit
    return bytes_per_s, (0.4 * volume.throughput if volume.throughput else 125) * MIB


def are_near(pairs) -> float:
    near = [abs(peak / threshold - 1) <= NEAR + 1e-9 for peak, threshold in pairs]
    return sum(near) / len(near)


def test_most_peaks_are_near_a_threshold(fleet):
    of_instances = [
        (i.net_out.signal.at(300).total.max() * i.net_out.scale / 300, i.kind.baseline_bytes) for i in fleet.instances
    ]
    metered = [
        ((one.activity.write + one.activity.read / 3), (one.provisioned_mibps or 100) * MIB) for one in fleet.efs[::2]
    ]
    writes = [(one.activity.write / one.activity.write_size, 50) for one in fleet.efs[1::2]]
    assert are_near([*map(peak_and_threshold, fleet.volumes), *of_instances, *metered, *writes]) >= 0.6
    for pairs in (map(peak_and_threshold, fleet.volumes), of_instances, metered, writes):
        assert are_near(pairs) >= 0.6


def test_loads_are_noisy(fleet):
    shapes = {one.activity.shape for one in (*fleet.volumes, *fleet.efs, *fleet.fsx)}
    for shape in shapes:
        values = shape.stats.total[shape.stats.samples > 0]
        assert 0.5 <= values.std() / values.mean() <= 2
        hours = values[: len(values) // 60 * 60].reshape(-1, 60).mean(1)
        assert hours.std() / hours.mean() >= 0.1  # hourly means vary too, not only the minutes within an hour


def test_some_loads_have_holes(fleet):
    all_ = [one.activity.shape.stats.samples for one in (*fleet.volumes, *fleet.efs, *fleet.fsx)]
    assert 0.15 <= np.mean([(samples == 0).any() for samples in all_]) <= 0.35
    assert max(_longest(samples == 0) for samples in all_) >= 60


def _longest(missing) -> int:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], missing.astype(int), [0]))))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def test_a_third_of_the_volumes_are_gp2_and_half_of_efs_is_busy(fleet):
    assert sum(one.type == "gp2" for one in fleet.volumes) == pytest.approx(len(fleet.volumes) / 3, abs=3)
    busy = sum(
        (one.activity.read + one.activity.write) * np.nanmean(one.activity.shape.stats.total) >= MIB
        for one in fleet.efs
    )
    assert busy >= ceil(len(fleet.efs) * 0.4)


def test_it_has_as_many_resources_as_asked(fleet):
    counted = len(fleet.volumes) + len(fleet.instances) + len(fleet.efs) + len(fleet.fsx) + len(fleet.fsx_volumes)
    assert counted == pytest.approx(1_000, abs=30)


def test_the_same_seed_makes_the_same_fleet():
    one, same, other = hard_fleet(50), hard_fleet(50), hard_fleet(50, seed=12)
    assert [v.activity.read for v in one.volumes] == [v.activity.read for v in same.volumes]
    assert [v.activity.read for v in one.volumes] != [v.activity.read for v in other.volumes]


def test_the_served_fleet_is_the_one_that_the_bench_compares_with():
    options = argparse.Namespace(fleet="hard", resources=50, seed=7, now=None, regions=None)
    served, _ = _fleet(options)
    assert [one.id for one in served.volumes] == [one.id for one in hard_fleet(50).volumes]


def test_an_organization_of_hard_accounts_has_them_where_the_mixed_one_has_its_accounts():
    (_, mixed), (_, hard) = (organization(10, large=1, resources=400, hard=hard) for hard in (False, True))
    for place in ("300000000000", "300000000001", "300000000002"):
        accounts = [around.fleet_of(place) for around in (mixed, hard)]
        zones = [{volume.az[:-1] for volume in account.volumes} for account in accounts]
        assert zones[0] == zones[1]
        assert len({len(account.volumes) > 0 for account in accounts}) == 1
    large = hard.fleet_of("300000000000")
    assert {volume.tags["Name"] for volume in large.volumes} >= {"data-00000", "unattached-00007"}
