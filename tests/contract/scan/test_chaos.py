"""Scans while calls fail at random: the same findings, or a report of what is missing (docs/chaos.md: all 200)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from chaos_page import HEAD, PAGE
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.aws.inventory.inventory import READERS, AwsInventory
from slackwater.aws.metrics.cloudwatch import CloudWatchMetrics
from slackwater.engine.plan import MetricCall, query_of
from slackwater.model.findings import Gap
from slackwater.model.metrics import Metric
from slackwater.model.resources import InstanceType, Record, Target
from slackwater.model.units import DAY_S, FIVE_MINUTES_S
from slackwater_simulator import Simulator, demo_fleet
from slackwater_simulator.malformed import OF_METRICS
from support.chaos import HASTY, KINDS, NOW, PAGE_ITEMS, PAGE_POINTS, SCANS, Chaos, chaos, plan, problems_of

SAMPLE = range(0, SCANS, 6)
SLICE = (6, 56, 63)
"""Scans that together include every kind of fault. The others are slow."""
ANY = ("garbage", "html", "empty", "type", "missing", "null")


@pytest.fixture(scope="module")
def storm() -> Iterator[Chaos]:
    with chaos() as running:
        yield running


@pytest.mark.parametrize(
    "number",
    [pytest.param(number, marks=() if number in SLICE else pytest.mark.slow) for number in sorted({*SAMPLE, *SLICE})],
)
def test_under_any_faults_the_findings_are_the_same_or_the_scan_names_what_is_missing(
    storm: Chaos, number: int
) -> None:
    outcome = storm.outcome(number)
    assert not outcome.problems, outcome


def test_the_scans_are_of_every_kind_and_of_one_to_four_faults(storm: Chaos) -> None:
    plans = [plan(number, storm.actions) for number in range(SCANS)]
    assert {fault.kind for faults in plans for fault in faults} == {*KINDS}
    assert {fault.kind for number in SLICE for fault in plans[number]} == {*KINDS}
    assert {len(faults) for faults in plans} <= {1, 2, 3, 4}


def test_the_page_reports_all_scans_and_no_problem() -> None:
    text = PAGE.read_text("utf-8")
    assert text.startswith(HEAD)
    assert f"| all {SCANS} scans |" in text
    assert "**0 anything else**" in text


WRONG = {
    "a finding made up": lambda one: (replace(one, detector="ebs-idle"), False, "made up"),
    "another saving": lambda one: (
        replace(one, recommendations=tuple(replace(each, monthly_savings_usd=None) for each in one.recommendations)),
        True,
        "saves",
    ),
    "surer than without faults": lambda one: (replace(one, confidence="high"), True, "surer"),
    "another case": lambda one: (replace(one, fingerprint="0" * 16), False, "differs"),
    "another resource": lambda one: (replace(one, resource=replace(one.resource, tags={})), True, "another one"),
    "lost": lambda _: (None, True, "is lost"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_must_not_be_is_seen(storm: Chaos, wrong: str) -> None:
    """Without this check, a judge that accepts everything would pass."""
    (target,) = storm.healthy.targets
    one = next(f for f in target.findings if f.confidence == "medium" and f.monthly_savings_usd and f.resource.tags)
    changed, optional, says = WRONG[wrong](one)
    gap = Gap(target.target.account, target.target.region, "ec2:DescribeVolumes", "it broke", optional=optional)
    findings = tuple(f for f in (changed if f is one else f for f in target.findings) if f)
    done = replace(storm.healthy, targets=(replace(target, findings=findings, gaps=(gap,)),))
    text = [*problems_of(storm.healthy, done, frozenset({"ec2:DescribeVolumes"}))]
    assert any(says in problem for problem in text), text
    assert any("was not hit" in problem for problem in problems_of(storm.healthy, done, frozenset()))


@pytest.fixture(scope="module")
def account() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch, Simulator(demo_fleet()) as sim:
        patch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda _: None))
        meter = CallMeter()
        session = AwsSession(meter=meter, endpoint=Endpoint(sim.url, "AKIADUMMY", "dummy"), retries=HASTY)
        yield SimpleNamespace(
            sim=sim, session=session, meter=meter, target=Target(sim.fleet.account, sim.fleet.regions[0])
        )


@pytest.fixture
def read(account: Any) -> Callable[..., tuple[dict[tuple[type[Record], str], Record], list[Gap]]]:
    def reading(**fault: Any) -> tuple[dict[tuple[type[Record], str], Record], list[Gap]]:
        account.sim.reset()
        account.sim.faults.unthrottle("cloudtrail:LookupEvents")
        account.sim.faults.short_pages(PAGE_ITEMS, PAGE_POINTS)
        if fault:
            account.sim.faults.malformed(**fault)
        fleet, gaps = AwsInventory(account.session).read(account.target, {*READERS}, set())
        # A packaged instance type is equal, except for its source.
        records = (
            replace(one, source="") if isinstance(one, InstanceType) else one
            for kind in READERS
            for one in fleet.all(kind)
        )
        return {(type(one), one.id): one for one in records}, gaps

    return reading


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("action", sorted({reader.action for reader in READERS.values()} - {"cloudtrail:LookupEvents"}))
def test_a_record_is_what_it_is_or_its_action_is_a_gap(read: Any, action: str, seed: int) -> None:
    truth, no_gaps = read()
    assert not no_gaps
    for how in ANY:
        found, gaps = read(action=action, how=how, seed=seed)
        assert {gap.what for gap in gaps} <= {action}, gaps
        assert {key: one for key, one in found.items() if one != truth.get(key)} == {}, how
        assert gaps or found == truth, how
        assert not [gap for gap in gaps if "mistake" in gap.reason]


@pytest.mark.parametrize("how", [*ANY, *OF_METRICS])
def test_a_series_is_what_it_is_or_it_failed(account: Any, how: str) -> None:
    needs = [
        Metric("AWS/EBS", "VolumeReadOps", "Sum", "operations").need(("VolumeId", volume.id), period_s=period_s, days=2)
        for volume in account.sim.fleet.volumes[:20]
        for period_s in (DAY_S, FIVE_MINUTES_S)
    ]
    queries = [query_of(need, NOW) for need in needs]
    calls = [
        MetricCall(window, tuple(query for query in queries if query.window == window))
        for window in dict.fromkeys(query.window for query in queries)
    ]
    metrics = CloudWatchMetrics(account.session, account.target, account.meter)
    account.sim.reset()
    truth = [metrics.fetch(call).series for call in calls]
    assert [len(each) for each in truth] == [20, 20]
    failed = 0
    for seed in range(6):
        account.sim.faults.malformed("cloudwatch:GetMetricData", how, seed=seed)
        for call, true in zip(calls, truth, strict=True):
            # A new reader each time, because a reader stops asking after failures.
            answer = CloudWatchMetrics(account.session, account.target, account.meter).fetch(call)
            assert {*answer.series} | {*answer.failed} == {*call.queries}
            for query, series in answer.series.items():
                assert series.values.tobytes() == true[query].values.tobytes(), (query, seed)
            failed += bool(answer.failed)
    # Results in another order, or an additional result, change nothing.
    assert bool(failed) == (how not in ("unordered", "unasked"))
