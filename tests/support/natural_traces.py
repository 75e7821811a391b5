"""Natural network traffic, generated from textbook models, and a token bucket that throttles it.

Neither code nor parameters come from the simulator. Sources of the models:

- Daily and weekly cycles with multiplicative, autocorrelated noise: Box and Jenkins, "Time Series Analysis".
- Many on-off sources with Pareto durations: Willinger et al., "Self-similarity through high-variability" (1997).
- Jobs with Pareto sizes, each at its own rate: Crovella and Bestavros, "Self-similarity in World Wide Web traffic"
  (1997).
- Regimes: Hamilton, "A new approach to the economic analysis of nonstationary time series" (1989).

All traces are seeded and have one value a minute. Rates are relative: the caller scales them.
"""

from collections.abc import Callable
from math import exp, log
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]
type Random = np.random.Generator

DAYS: Final = 14
MINUTES: Final = DAYS * 24 * 60
TOGETHER: Final = 5
"""Minutes that one data point of basic monitoring covers."""
BURSTS_LAST_MINUTES: Final = (5, 60)
"""Typical range by instance size (EC2 User Guide, "Amazon EC2 instance network bandwidth")."""


def diurnal(random: Random) -> Floats:
    """Generate interactive use: a daily cycle with its second harmonic, and quieter weekends."""
    hours = np.arange(MINUTES) / 60
    phase, swing = random.uniform(0, 24), random.uniform(0.3, 2.0)
    day = np.cos((hours - phase) * np.pi / 12) + random.uniform(0, 0.5) * np.cos((hours - phase) * np.pi / 6)
    rest = np.where((hours // 24 + random.integers(7)) % 7 >= 5, random.uniform(0.2, 1.0), 1.0)
    return np.exp(swing * day + _wandering(random, random.uniform(0.02, 0.3))) * rest


def sessions(random: Random) -> Floats:
    """Generate many on-off sources whose durations have infinite variance: bursts on every time scale."""
    total = np.full(MINUTES, random.uniform(0.001, 0.3))
    for _ in range(int(random.integers(100, 1_500))):
        start, lasts = random.integers(MINUTES), 2 * (1 + random.pareto(random.uniform(1.1, 1.8)))
        total[start : start + int(lasts)] += random.lognormal(0, 0.8)
    return total * random.lognormal(0, random.uniform(0.01, 0.1), MINUTES)


def heavy_tails(random: Random) -> Floats:
    """Generate a volume for each minute with a Pareto tail, on a level that drifts."""
    return (1 + random.pareto(random.uniform(1.3, 3.0), MINUTES)) * np.exp(_wandering(random, random.uniform(0.1, 0.8)))


def weekly(random: Random) -> Floats:
    """Generate office hours on weekdays, with a batch job on one of them."""
    minute = np.arange(MINUTES)
    opens, closes = random.uniform(6, 10) * 60, random.uniform(15, 20) * 60
    steepness = random.uniform(5, 60)
    in_day = minute % 1440
    open_ = 1 / (1 + np.exp(-(in_day - opens) / steepness)) / (1 + np.exp((in_day - closes) / steepness))
    weekday = (minute // 1440 + random.integers(7)) % 7
    level = np.where(weekday < 5, open_, random.uniform(0, 0.3)) + random.uniform(0.01, 0.2)
    batch = (weekday == random.integers(5)) & (np.abs(in_day - random.uniform(300, 1_200)) < random.uniform(20, 180))
    return (level + batch * random.uniform(0.5, 8)) * np.exp(_wandering(random, random.uniform(0.02, 0.2)))


def regimes(random: Random) -> Floats:
    """Generate random switches between a few states, each with its own level and noise."""
    states = [(random.lognormal(0, 1.0), random.uniform(0.01, 0.4)) for _ in range(int(random.integers(2, 7)))]
    total, at = np.empty(MINUTES), 0
    while at < MINUTES:
        level, noise = states[int(random.integers(len(states)))]
        end = min(MINUTES, at + 1 + int(random.lognormal(log(180), 1.2)))
        total[at:end] = level * np.exp(random.normal(0, noise, end - at))
        at = end
    return total


def level_shifts(random: Random) -> Floats:
    """Generate a level that stays for hours or days, then jumps by a factor."""
    total, at, level, noise = np.empty(MINUTES), 0, 0.0, random.uniform(0.02, 0.3)
    while at < MINUTES:
        end = min(MINUTES, at + 1 + int(random.exponential(random.uniform(300, 3_000))))
        total[at:end] = level
        at, level = end, level * 0.7 + random.normal(0, 0.8)
    return np.exp(total + _wandering(random, noise))


def jobs(random: Random) -> Floats:
    """Generate overlapping transfers with Pareto sizes. Each peer limits its transfer to a constant rate."""
    total = np.full(MINUTES, random.uniform(0.001, 0.1))
    spread = random.uniform(0.2, 1.2)
    for _ in range(int(random.integers(5, 120))):
        start, rate = random.integers(MINUTES), random.lognormal(0, spread)
        lasts = int(20 * (1 + random.pareto(1.2)) / rate)
        total[start : start + lasts] += rate
    return total * np.exp(_wandering(random, random.uniform(0.01, 0.1)))


type Kind = Callable[[Random], Floats]
KINDS: Final[tuple[Kind, ...]] = (diurnal, sessions, heavy_tails, weekly, regimes, level_shifts, jobs)


def _wandering(random: Random, deviation: float) -> Floats:
    """Generate first-order autoregressive noise with one value a minute."""
    memory = exp(-1 / random.uniform(3, 300))
    steps = random.normal(0, deviation * (1 - memory**2) ** 0.5, MINUTES).tolist()
    values, now = [], 0.0
    for step in steps:
        now = memory * now + step
        values.append(now)
    return np.array(values)


def capped(rates: Floats, cap: float, random: Random) -> Floats:
    """Limit the rates as an application would. Traffic above the limit is lost."""
    return np.minimum(rates, cap * (1 + random.normal(0, 0.005, len(rates))))


def waiting(rates: Floats, cap: float, random: Random) -> Floats:
    """Limit the rates as an application would. Traffic above the limit waits in a queue."""
    done, queue = np.empty(len(rates)), 0.0
    limits = cap * (1 + random.normal(0, 0.005, len(rates)))
    for i, (offered, limit) in enumerate(zip(rates.tolist(), limits.tolist(), strict=True)):
        done[i] = min(limit, queue + offered)
        queue += offered - done[i]
    return done


class Throttled(NamedTuple):
    """Traffic after a token bucket: the rate in each minute, and whether the bucket held traffic back."""

    passed: Floats
    held: NDArray[np.bool_]


def throttled(
    demand: Floats, baseline: float, peak: float, burst_minutes: float, *, level: float = 1.0, retried: bool = False
) -> Throttled:
    """Pass demand through network credits. A full bucket lasts `burst_minutes` at the peak and refills at the baseline.

    Args:
        demand: Demand by the minute.
        baseline: Rate without credits.
        peak: Maximum rate with credits.
        burst_minutes: How long a full bucket lasts at the peak, in minutes.
        level: Fill level of the bucket at the start, as a fraction of a full one.
        retried: Whether traffic that is held back waits, as the bytes of a transfer do. Otherwise it is lost.
    """
    capacity = burst_minutes * (peak - baseline)
    tokens, queue = capacity * level, 0.0
    passed, held = [], []
    for offered in demand.tolist():
        wanted = offered + queue
        through = min(wanted, peak, baseline + tokens)
        tokens = min(capacity, tokens + baseline - through)
        queue = wanted - through if retried else 0.0
        passed.append(through)
        held.append(through < min(wanted, peak))
    return Throttled(np.array(passed), np.array(held))


def metered(passed: Floats, random: Random) -> Floats:
    """Return five-minute averages as CloudWatch counts them.

    CloudWatch does not count part of the frame headers, and its values vary slightly.
    """
    share = random.uniform(0.955, 1.0)
    return (passed * share).reshape(-1, TOGETHER).mean(axis=1) * (1 + random.normal(0, 0.003, MINUTES // TOGETHER))
