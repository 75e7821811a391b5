"""Mechanisms against the arithmetic of AWS's own tables."""

import numpy as np
import pytest

from slackwater_simulator.mechanisms import cpu_credits, efs_bursting, efs_stepped, gp2_balance, network_buckets, nfs_writes

MIB, GIB = 1 << 20, 1 << 30


def test_a_full_bucket_lasts_as_long_as_its_burst_at_the_peak():
    demand = np.full((1, 120), 1e9)
    passed = network_buckets(demand, np.array([8e6]), np.array([625e6]), np.array([600.0])).passed[0] / 60
    assert passed[:10] == pytest.approx(625e6)
    assert passed[11:] == pytest.approx(8e6)


def test_a_bucket_refills_at_its_baseline_and_no_further_than_full():
    demand = np.zeros((1, 10_000))
    demand[0, :20] = demand[0, -20:] = 1e9
    passed = network_buckets(demand, np.array([8e6]), np.array([625e6]), np.array([600.0])).passed[0]
    assert passed[:20] == pytest.approx(passed[-20:])


def test_a_small_bursting_file_system_drains_in_six_hours_of_full_burst():
    credit = efs_bursting(np.full(600, 100.0 * MIB), 10 * GIB)
    assert int(np.argmin(credit.balance > 0)) / 60 == pytest.approx(6.18, rel=0.01)
    assert credit.metered[-1] / 60 == pytest.approx(MIB)
    assert credit.permitted[-1] == MIB


def test_credits_that_never_run_out_are_the_same_stepped_or_not():
    demand = np.random.default_rng(1).uniform(0, 20, 2_000) * MIB
    quick = efs_bursting(demand, 100 * GIB)
    stepped = efs_stepped(demand, 5_000.0 * 1024, 100.0 * MIB, 2_308_974_418_330.0)
    assert quick.balance == pytest.approx(stepped.balance)
    assert quick.metered == pytest.approx(stepped.metered)


def test_a_gp2_volume_of_a_hundred_gibibytes_bursts_for_two_thousand_seconds():
    percent = gp2_balance(np.full(60, 3000.0), 100)
    assert int(np.argmin(percent > 0)) == pytest.approx(2000 / 60, abs=1)


def test_one_writer_waiting_2_9_milliseconds_makes_345_writes_a_second():
    done = nfs_writes(np.full(60, 500.0), acknowledgement_s=0.0029, writers=1, jitter=np.ones(60))
    assert done == pytest.approx(344.8, rel=0.001)


def test_without_cpu_credits_a_t3_medium_runs_at_a_fifth():
    work = cpu_credits(np.ones(600), vcpus=2, an_hour=24, start=60)
    assert work.used[-1] == pytest.approx(0.2)
    assert work.balance[-1] == 0
