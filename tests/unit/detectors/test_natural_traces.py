"""`ec2-network-throttled` on natural traces near a baseline, with and without a token bucket."""

from collections.abc import Iterator
from functools import cache
from typing import Final

import numpy as np
import pytest

from slackwater.aws.pricing.packaged import type_snapshot as snapshot
from slackwater.detectors.ec2_network_throttled import CREDIT_BALANCE, SURPLUS_BALANCE
from slackwater.engine.cases import play, words
from slackwater.engine.registry import registry
from slackwater.model.detector import Case
from slackwater.model.units import FIVE_MINUTES_S, bytes_per_s_of_gbps
from slackwater.model.verdicts import Fine, Flagged, Unknown, Verdict
from slackwater.performance import network
from slackwater.rules import examples
from slackwater.rules.ec2_network import OUT
from support import natural_traces
from support.natural_traces import KINDS, Floats, Kind, Random

TYPES: Final = {one.id: one for one in snapshot()}
BURSTING: Final = ("m6i.4xlarge", "t3.2xlarge", "m5.xlarge", "c6gn.large", "m5.large", "t3.micro")
"""Instance types whose peaks are 2 to 78 times their baselines."""
QUANTILES: Final = (0.05, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.995)
QUICK: Final = range(2)
MANY: Final = range(100, 150)
RECALL: Final = 0.9
THROTTLED_POINTS: Final = 12
"""The rule must find a throttle that lasts an hour without a break: 12 points of five minutes."""

by_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def judged(rates: Floats, instance_type: str) -> Verdict:
    """Return the verdict on an instance that sends these rates, in multiples of its baseline, one for five minutes."""
    sums = rates * network.baseline(TYPES[instance_type]) * FIVE_MINUTES_S
    credits_left = {
        (CREDIT_BALANCE, FIVE_MINUTES_S): [100.0] * len(sums),
        (SURPLUS_BALANCE, FIVE_MINUTES_S): [0.0] * len(sums),
    }
    case = Case(
        title="a natural trace",
        resource=examples.instance(instance_type=instance_type, launched_at=examples.days_ago(100)),
        expect=Fine,
        metrics={**examples.and_hourly(OUT.traffic, sums.tolist(), 3), **credits_left},
        records=(TYPES[instance_type],),
    )
    return play(registry()["ec2-network-throttled"], case)


def drawn(kind: Kind, seed: int) -> tuple[Random, Floats]:
    random = np.random.default_rng([seed, KINDS.index(kind)])
    return random, kind(random)


def near_the_baseline(kind: Kind, seed: int) -> Iterator[tuple[str, Floats, str]]:
    """Yield a trace scaled so that each of its quantiles is at the baseline. Each one has the next instance type."""
    random, by_minute = drawn(kind, seed)
    trace = natural_traces.metered(by_minute, random)
    for i, quantile in enumerate(QUANTILES):
        instance_type = BURSTING[(seed + i) % len(BURSTING)]
        yield (
            f"{kind.__name__} {seed}, quantile {quantile} on {instance_type}",
            trace / np.quantile(trace, quantile),
            instance_type,
        )


def with_a_limit_of_its_own(kind: Kind, seed: int) -> Iterator[tuple[str, Floats, str]]:
    """Yield traces with the application's own limit below, at and above the baseline."""
    random, by_minute = drawn(kind, seed)
    for i, (share, limited) in enumerate((share, limited) for share in (0.85, 0.98, 1.1) for limited in LIMITED):
        cap = float(np.quantile(by_minute, random.uniform(0.5, 0.95)))
        trace = natural_traces.metered(limited(by_minute, cap, random), random) / cap * share
        yield f"{kind.__name__} {seed}, {limited.__name__} at {share}", trace, BURSTING[(seed + i) % len(BURSTING)]


LIMITED: Final = (natural_traces.capped, natural_traces.waiting)


def false_alarms(traces: Iterator[tuple[str, Floats, str]]) -> list[str]:
    verdicts = [(title, judged(rates, instance_type)) for title, rates, instance_type in traces]
    assert verdicts
    return [f"{title}: {words(verdict)}" for title, verdict in verdicts if isinstance(verdict, Flagged)]


@by_kind
@pytest.mark.parametrize("seed", QUICK)
def test_natural_traffic_near_a_baseline_is_no_throttle(kind: Kind, seed: int) -> None:
    assert false_alarms(near_the_baseline(kind, seed)) == []


@by_kind
def test_a_limit_of_the_application_without_a_burst_is_no_throttle(kind: Kind) -> None:
    assert false_alarms(with_a_limit_of_its_own(kind, 0)) == []


@pytest.mark.slow
@by_kind
def test_hundreds_of_natural_traces_raise_no_false_alarm(kind: Kind) -> None:
    assert false_alarms(one for seed in MANY for one in near_the_baseline(kind, seed)) == []


@pytest.mark.slow
@by_kind
def test_many_traces_with_a_limit_of_the_application_raise_no_false_alarm(kind: Kind) -> None:
    assert false_alarms(one for seed in MANY[:15] for one in with_a_limit_of_its_own(kind, seed)) == []


@cache
def throttled(kind: Kind, seed: int, level: float = 1.0) -> Verdict | None:
    """Return the verdict on natural demand that exceeds the credits. `level` is the bucket's fill at the start, 0 to 1.

    None if the credits are enough for the demand.
    """
    random, demand = drawn(kind, 1_000 + seed)
    instance_type = BURSTING[int(random.integers(len(BURSTING)))]
    baseline, peak = (bytes_per_s_of_gbps(gbps or 0) for gbps in _bandwidth(instance_type))
    shortest, longest = natural_traces.BURSTS_LAST_MINUTES
    by_hour = demand.reshape(-1, 60).mean(axis=1)
    through = natural_traces.throttled(
        demand / np.quantile(by_hour, random.uniform(0.5, 0.97)) * random.uniform(1.5, 20),
        1.0,
        peak / baseline,
        shortest * (longest / shortest) ** random.random(),
        level=level,
        retried=bool(random.integers(2)),
    )
    held = through.held.reshape(-1, natural_traces.TOGETHER).all(axis=1)
    if _longest(held) < THROTTLED_POINTS:
        return None
    return judged(natural_traces.metered(through.passed, random), instance_type)


@pytest.mark.parametrize("level", [0.0, 0.5, 1.0])
def test_no_throttled_trace_is_fine_however_full_the_bucket_was(level: float) -> None:
    verdicts = [verdict for kind in KINDS for seed in range(4) if (verdict := throttled(kind, seed, level))]

    assert len(verdicts) >= 20
    assert [words(verdict) for verdict in verdicts if isinstance(verdict, Fine)] == []


@by_kind
def test_few_natural_traces_near_a_baseline_are_unknown(kind: Kind) -> None:
    verdicts = [judged(rates, instance_type) for _, rates, instance_type in near_the_baseline(kind, 3)]

    assert sum(isinstance(verdict, Unknown) for verdict in verdicts) <= 1


def _bandwidth(instance_type: str) -> tuple[float | None, float | None]:
    return TYPES[instance_type].network_baseline_gbps, TYPES[instance_type].network_peak_gbps


def _longest(held: np.ndarray) -> int:
    longest = now = 0
    for one in held.tolist():
        now = now + 1 if one else 0
        longest = max(longest, now)
    return longest


def recall(seeds: range) -> tuple[int, int]:
    """Return how many throttled traces are flagged, and how many there are."""
    verdicts = [verdict for kind in KINDS for seed in seeds if (verdict := throttled(kind, seed))]
    return sum(isinstance(verdict, Flagged) for verdict in verdicts), len(verdicts)


def test_throttled_natural_demand_is_found() -> None:
    found, of = recall(range(8))

    assert of >= 20
    assert found >= RECALL * of, f"{found} of {of}"


@pytest.mark.slow
def test_hundreds_of_throttled_traces_are_found() -> None:
    found, of = recall(range(50))

    assert of >= 200
    assert found >= RECALL * of, f"{found} of {of}"


def test_a_throttled_finding_shows_the_budget_that_was_spent() -> None:
    found = next(
        verdict for kind in KINDS for seed in range(8) if isinstance(verdict := throttled(kind, seed), Flagged)
    )
    budget = {one.unit: one.value for one in found.evidence if one.label.startswith("Budget")}

    assert found.confidence in {"medium", "low"}, "no ENA counter confirms it"
    assert isinstance(budget["GB"], float)
    assert isinstance(budget["minutes"], float)
    assert budget["GB"] > 0
    assert 5 * 0.75 <= budget["minutes"] <= 60 * 1.25
