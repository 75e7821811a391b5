"""Simulate how AWS limits work: token buckets, credits, and writes that wait for an acknowledgement.

Simulation steps are a minute or longer, with published parameters. No closed formula decides what a metric shows.
"""

from typing import NamedTuple

import numpy as np

from .series import MINUTE, Floats

MIB, GIB, TIB = 1 << 20, 1 << 30, 1 << 40


class Shaped(NamedTuple):
    """Bytes a minute that passed, and held packets, which ENA counts as allowance exceeded."""

    passed: Floats
    held: Floats


def network_buckets(demand: Floats, baseline: float, peak: float, burst_minutes: float) -> Shaped:
    """Return an instance's traffic in one direction, as limited by its network credits.

    `demand`, `baseline` and `peak` are bytes/s. A full bucket lasts for `burst_minutes` at the peak. It starts full and
    fills at the baseline. Source: Amazon EC2 instance network bandwidth, EC2 user guide (bursts last 5 to 60 minutes;
    AWS publishes no credit size, so it is a parameter).
    """
    passed = bursting(demand, baseline, peak, burst_minutes * MINUTE * (peak - baseline)).done
    held = demand * MINUTE - passed
    return Shaped(passed, np.rint(np.where(held > 0.01 * baseline * MINUTE, held / 1500, 0.0)))


def nfs_writes(offered: Floats, *, acknowledgement_s: float, writers: float, jitter: Floats) -> Floats:
    """Return writes a second when each of `writers` waits for an acknowledgement before it sends the next write.

    `offered` is the wanted writes/s in each step. Writes above the capacity wait. `jitter` multiplies the capacity. A
    sync export acknowledges after stable storage, about 2.9 ms: 342 writes/s for one writer (report "Sharing WordPress
    content on FSx for OpenZFS", 2025-03).
    """
    done, waiting = np.empty_like(offered), 0.0
    capacity = writers / acknowledgement_s * jitter
    for now, (arrived, room) in enumerate(zip(offered.tolist(), capacity.tolist(), strict=True)):
        waiting += arrived
        done[now] = min(waiting, room)
        waiting -= done[now]
    return done


class Credits(NamedTuple):
    """Work done in each step, and the credit balance and the permitted rate (a second) after each step."""

    done: Floats
    balance: Floats
    permitted: Floats


def bursting(demand: Floats, baseline: float, burst: float, most: float) -> Credits:
    """Return the work that credits allow. The rates are a second; the balance starts at `most`."""
    spent = np.cumsum((demand - baseline) * MINUTE)
    owed = spent - np.minimum(np.minimum.accumulate(spent), 0.0)
    # No steps are needed if the limits never apply. Demand that was limited before owes `most`, within rounding.
    if float(owed.max()) < most * (1 - 1e-9) and float(demand.max()) <= burst:
        return Credits(demand * MINUTE, most - owed, np.full_like(demand, burst))
    return stepped(demand, baseline, burst, most)


def stepped(demand: Floats, baseline: float, burst: float, most: float) -> Credits:
    """Simulate credits minute by minute. Without credits, work is done at the baseline."""
    balance = most
    done, balances = [], []
    for wanted in np.minimum(demand, burst).tolist():
        rate = min(wanted, baseline + balance / MINUTE)
        left = balance + (baseline - rate) * MINUTE
        balance = min(most, left) if left > most * 1e-12 else 0.0  # less is a rounding error, not a credit
        done.append(rate * MINUTE)
        balances.append(balance)
    held = np.array(balances)
    return Credits(np.array(done), held, np.where(held > 0, burst, baseline))


def efs_credits(demand: Floats, standard_bytes: float, provisioned_mibps: float | None = None) -> Credits:
    """Return the work of an EFS file system, limited by its credits or its provisioned throughput.

    `demand` is metered bytes/s. Provisioned throughput is a hard limit, unless the size allows more. Source: Amazon EFS
    performance, EFS user guide.
    """
    allowance = efs_allowance(standard_bytes)
    if provisioned_mibps is None or 50 * 1024 * standard_bytes / GIB > provisioned_mibps * MIB:
        return bursting(demand, *allowance)
    permitted = np.full_like(demand, provisioned_mibps * MIB)
    return Credits(np.minimum(demand, permitted) * MINUTE, np.full_like(demand, allowance.most), permitted)


class Allowance(NamedTuple):
    """Baseline and burst rates a second, and the maximum number of credits."""

    baseline: float
    burst: float
    most: float


def efs_allowance(standard_bytes: float) -> Allowance:
    """Return the allowance of a bursting EFS file system in metered bytes.

    Baseline 50 KiB/s per GiB in Standard and at least 1 MiB/s; burst 100 MiB/s per TiB and at least 100 MiB/s; credits
    up to 2.1 TiB, per TiB from 1 TiB. Source: Amazon EFS performance, EFS user guide. Below 20 GiB, the simulator
    accrues credits at 1 MiB/s.
    """
    tib = max(1.0, standard_bytes / TIB)
    return Allowance(max(MIB, 50 * 1024 * standard_bytes / GIB), 100 * MIB * tib, 2_308_974_418_330.0 * tib)


def volume_allowance(type_: str, size_gib: int) -> Allowance | None:
    """Return a volume's allowance: operations for gp2, bytes for st1 and sc1. None if it has or needs no credits.

    Sources: EBS general purpose volumes; EBS throughput optimized and cold HDD volumes, EBS user guide.
    """
    tib = size_gib / 1024
    match type_:
        case "gp2":
            held = Allowance(float(min(16_000, max(100, 3 * size_gib))), 3_000.0, 5_400_000.0)
        case "st1":
            held = Allowance(min(500.0, 40 * tib) * MIB, min(500.0, 250 * tib) * MIB, tib * TIB)
        case "sc1":
            held = Allowance(min(192.0, 12 * tib) * MIB, min(250.0, 80 * tib) * MIB, tib * TIB)
        case _:
            return None
    return held if held.baseline < held.burst else None


def instance_allowance(baseline: float, maximum: float) -> Allowance:
    """Return an allowance that lasts half an hour at the maximum, for an instance's EBS bandwidth or FSx's disks.

    Source: Amazon EBS-optimized instances, EC2 user guide. AWS publishes no refill rate, so the unused part of the
    baseline refills the credits. AWS publishes no bucket size for FSx either.
    """
    return Allowance(baseline, maximum, (maximum - baseline) * 1800)


def let_through(wanted: Floats, baseline: float, maximum: float) -> Floats:
    """Return what an instance allows of its volumes' demand, a second. It allows its maximum while it has credits."""
    return bursting(wanted, *instance_allowance(baseline, maximum)).done / MINUTE


class CpuWork(NamedTuple):
    """CPU used (fraction of all vCPUs) and the credit balance after each step."""

    used: Floats
    balance: Floats


def cpu_credits(demand: Floats, *, vcpus: int, an_hour: float, start: float, step: int = MINUTE) -> CpuWork:
    """Simulate a T instance in `standard` mode. Without credits it runs at its baseline and gets no surplus credits.

    One credit is one vCPU at 100 % for a minute. The balance is limited to a day's earnings. Source: CPU credits and
    baseline utilization for burstable instances, EC2 user guide.
    """
    most, earned = 24 * an_hour, an_hour * step / 3600
    baseline = an_hour / 60 / vcpus
    balance = start
    used, balances = np.empty_like(demand), np.empty_like(demand)
    for now, wanted in enumerate(demand.tolist()):
        fraction = min(wanted, baseline + balance * 60 / step / vcpus)
        balance = min(most, max(0.0, balance + earned - fraction * vcpus * step / 60))
        used[now], balances[now] = fraction, balance
    return CpuWork(used, balances)


class Surplus(NamedTuple):
    """CPU credits after each step: earned and left, borrowed, and charged in the step."""

    balance: Floats
    surplus: Floats
    charged: Floats


def cpu_surplus(demand: Floats, *, vcpus: int, an_hour: float, start: float, step: int = MINUTE) -> Surplus:
    """Simulate a T instance in `unlimited` mode that uses `demand` (fraction of all vCPUs).

    Without credits it borrows, and earned credits repay that. Borrowing beyond a day's earnings is charged. Source:
    unlimited mode for burstable performance instances, EC2 user guide.
    """
    most, earned = 24 * an_hour, an_hour * step / 3600
    balance, owed = start, 0.0
    balances, surplus, charged = np.empty_like(demand), np.empty_like(demand), np.empty_like(demand)
    for now, wanted in enumerate(demand.tolist()):
        left = balance - owed + earned - wanted * vcpus * step / 60
        balance, owed = min(most, max(0.0, left)), max(0.0, -left)
        charged[now] = max(0.0, owed - most)
        owed -= charged[now]
        balances[now], surplus[now] = balance, owed
    return Surplus(balances, surplus, charged)
