"""The simulated mechanisms match the arithmetic of AWS's own tables."""

import numpy as np
import pytest

from slackwater_simulator.mechanisms import (
    bursting,
    cpu_credits,
    cpu_surplus,
    efs_allowance,
    efs_credits,
    instance_allowance,
    let_through,
    network_buckets,
    nfs_writes,
    stepped,
    volume_allowance,
)

MIB, GIB, TIB = 1 << 20, 1 << 30, 1 << 40


def test_a_full_bucket_lasts_as_long_as_its_burst_at_the_peak():
    passed = network_buckets(np.full(120, 1e9), 8e6, 625e6, 10).passed / 60
    assert passed[:10] == pytest.approx(625e6)
    assert passed[11:] == pytest.approx(8e6)


def test_a_bucket_refills_at_its_baseline_and_no_further_than_full():
    demand = np.zeros(10_000)
    demand[:20] = demand[-20:] = 1e9
    passed = network_buckets(demand, 8e6, 625e6, 10).passed
    assert passed[:20] == pytest.approx(passed[-20:])


def test_a_small_bursting_file_system_drains_in_six_hours_of_full_burst():
    credit = efs_credits(np.full(600, 100.0 * MIB), 10 * GIB)
    assert int(np.argmin(credit.balance > 0)) / 60 == pytest.approx(6.18, rel=0.01)
    assert credit.done[-1] / 60 == pytest.approx(MIB)
    assert credit.permitted[-1] == MIB


def test_credits_that_never_run_out_are_the_same_stepped_or_not():
    demand = np.random.default_rng(1).uniform(0, 20, 2_000) * MIB
    quick = efs_credits(demand, 100 * GIB)
    slow = stepped(demand, 5_000.0 * 1024, 100.0 * MIB, 2_308_974_418_330.0)
    assert quick.balance == pytest.approx(slow.balance)
    assert quick.done == pytest.approx(slow.done)


@pytest.mark.parametrize(("gib", "seconds"), [(33, 1_862), (100, 2_000), (334, 2_703), (750, 7_200)])
def test_a_gp2_volume_bursts_as_long_as_its_credits_last(gib, seconds):
    credit = bursting(np.full(200, 3000.0), *volume_allowance("gp2", gib))
    assert int(np.argmin(credit.balance > 0)) == pytest.approx(seconds / 60, abs=1)
    assert credit.done[-1] / 60 == pytest.approx(max(100, 3 * gib))


@pytest.mark.parametrize(("tib", "hours", "base"), [(1, 1.39, 40), (2, 1.39, 80), (5, 4.85, 200)])
def test_an_st1_volume_bursts_as_long_as_its_credits_last(tib, hours, base):
    credit = bursting(np.full(600, 500.0 * MIB), *volume_allowance("st1", tib * 1024))
    assert int(np.argmin(credit.balance > 0)) / 60 == pytest.approx(hours, rel=0.02)
    assert credit.done[-1] / 60 == pytest.approx(base * MIB)


@pytest.mark.parametrize(("type_", "gib"), [("gp2", 1_000), ("st1", 12_800), ("gp3", 100), ("io2", 100)])
def test_where_nothing_bursts_there_are_no_credits(type_, gib):
    assert volume_allowance(type_, gib) is None


def test_credits_that_are_gone_are_gone_to_the_last_digit():
    for wanted in np.random.default_rng(2).uniform(1.1, 15, 50):
        credit = bursting(np.full(20_000, wanted * 0.1), *instance_allowance(0.1, 1.7))
        assert credit.balance[-1] == 0
        assert credit.permitted[-1] == 0.1


def test_an_instance_holds_its_maximum_for_half_an_hour():
    credit = bursting(np.full(60, 1e9), *instance_allowance(10.9e6, 260.6e6))
    assert int(np.argmin(credit.balance > 0)) == pytest.approx(30, abs=1)
    assert credit.done[-1] / 60 == pytest.approx(10.9e6)


def test_what_an_instance_let_through_shows_the_same_credits_as_what_was_wanted():
    allowed, minute = instance_allowance(81e6, 1.25e9), np.arange(2_880)
    for times in np.random.default_rng(3).uniform(1.6, 3.9, 50):
        demand = np.where((minute >= 700) & (minute < 1_500), times * 81e6, 1e6)
        asked, passed = bursting(demand, *allowed), let_through(demand, 81e6, 1.25e9)
        seen = bursting(passed, *allowed)
        assert passed[700] == pytest.approx(times * 81e6)
        assert passed[1_499] == pytest.approx(81e6)
        assert seen.balance == pytest.approx(asked.balance, abs=1e4)
        assert np.array_equal(seen.permitted, asked.permitted)


def test_a_provisioned_file_system_does_what_is_provisioned_or_what_its_size_allows():
    demand = np.full(10, 200.0 * MIB)
    assert efs_credits(demand, 100 * GIB, 64.0).done / 60 == pytest.approx(64 * MIB)
    assert efs_credits(demand, 2 * TIB, 64.0).done / 60 == pytest.approx(200 * MIB)


def test_one_writer_waiting_2_9_milliseconds_makes_345_writes_a_second():
    done = nfs_writes(np.full(60, 500.0), acknowledgement_s=0.0029, writers=1, jitter=np.ones(60))
    assert done == pytest.approx(344.8, rel=0.001)


def test_without_cpu_credits_a_t3_medium_runs_at_a_fifth():
    work = cpu_credits(np.ones(600), vcpus=2, an_hour=24, start=60)
    assert work.used[-1] == pytest.approx(0.2)
    assert work.balance[-1] == 0


def test_an_unlimited_t3_medium_borrows_a_day_of_credits_and_is_charged_for_the_rest():
    hours = 48
    held = cpu_surplus(np.ones(hours * 12), vcpus=2, an_hour=24, start=0, step=300)
    spent, earned = hours * 2 * 60, hours * 24
    assert held.surplus[-1] == pytest.approx(24 * 24)
    assert held.charged.sum() == pytest.approx(spent - earned - 24 * 24)
    assert held.balance.max() == 0


def test_what_an_unlimited_instance_borrowed_its_earnings_pay_back():
    demand = np.concatenate([np.ones(12), np.zeros(600)])
    held = cpu_surplus(demand, vcpus=2, an_hour=24, start=0, step=300)
    assert held.surplus[11] == pytest.approx(96)
    assert held.surplus[-1] == held.charged.sum() == 0
    assert held.balance[-1] == pytest.approx(576)


@pytest.mark.parametrize(
    ("gib", "baseline", "burst", "held"),
    [(1, 1, 100, 2.1), (100, 4.8828, 100, 2.1), (1024, 50, 100, 2.1), (4096, 200, 400, 8.4)],
)
def test_an_efs_file_system_earns_and_bursts_by_what_it_holds(gib, baseline, burst, held):
    allowance = efs_allowance(gib * GIB)
    assert allowance.baseline / MIB == pytest.approx(baseline, rel=1e-4)
    assert allowance.burst / MIB == pytest.approx(burst)
    assert allowance.most / TIB == pytest.approx(held)
