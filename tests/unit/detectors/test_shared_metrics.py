"""Detectors of idle resources ask for no metric if what other detectors read proves use."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from slackwater.engine.cases import answer
from slackwater.engine.evaluation import Enabled, EvaluationQueue
from slackwater.engine.registry import registry
from slackwater.model.detector import CASE_NOW, Case
from slackwater.model.fleet import Fleet
from slackwater.model.metrics import Metric
from slackwater.model.units import DAY_S, HOUR_S, MIB
from slackwater.rules import examples
from slackwater.rules.ebs_peaks import READ_BYTES, WRITES, WRITTEN_BYTES
from slackwater.rules.ec2_network import DIRECTIONS

type Points = Mapping[tuple[Metric, int], Sequence[float | None]]


def asked(case: Case, points: Points, *ids: str, **resource: Any) -> tuple[set[str], set[tuple[str, int]]]:
    """Return the detectors that flag a case's resource, and each metric that they ask for with its period."""
    case = replace(case, resource=replace(case.resource, **resource), metrics={**case.metrics, **points})
    enabled = [Enabled(id_, registry()[id_], registry()[id_].limits()) for id_ in ids]
    queue = EvaluationQueue(Fleet([case.resource, *case.records]), enabled, CASE_NOW)
    queries = set[tuple[str, int]]()
    while call := queue.next_call(idle=True):
        queries |= {(query.metric.name, query.period_s) for query in call.queries}
        queue.receive({query: answer(query, case) for query in call.queries}, {})
    assert queue.evaluated == len(ids)
    return {one.enabled.id for one in queue.flagged}, queries


IDLE_INSTANCE = next(one for one in registry()["ec2-idle"].cases if "next to nothing" in one.title)
CPU = ("CPUUtilization", DAY_S)


@pytest.mark.parametrize(("mb_a_day", "is_asked"), [(5.4, False), (5.3, True)])
def test_network_traffic_of_two_weeks_decides_before_the_cpu(mb_a_day: float, is_asked: bool) -> None:
    """Fifteen days may share the hours of fourteen: one of them has 5 MB for sure if all have 75."""
    types = [one for one in examples.BURSTING if one not in IDLE_INSTANCE.records]
    case = replace(IDLE_INSTANCE, records=(*IDLE_INSTANCE.records, *types))
    hourly = {(way.traffic, HOUR_S): [mb_a_day * 1e6 / 24 / 2] * 14 * 24 for way in DIRECTIONS}
    _, queries = asked(case, hourly, "ec2-idle", "ec2-network-throttled", instance_type="m5.large")

    assert ("NetworkIn", HOUR_S) in queries
    assert (CPU in queries) is is_asked


def test_an_instance_that_nobody_else_asks_about_is_judged_by_its_cpu_at_once() -> None:
    flagged, queries = asked(IDLE_INSTANCE, {}, "ec2-idle")

    assert flagged == {"ec2-idle"}
    assert queries == {CPU, ("NetworkIn", DAY_S), ("NetworkOut", DAY_S)}


IDLE_VOLUME = next(one for one in registry()["ebs-idle"].cases if one.title == "five weeks of zeros")
FAST = {"volume_type": "gp3", "iops": 3_000, "throughput_mib_s": 1_000}


@pytest.mark.parametrize(("mib_a_day", "is_asked"), [(1.0, False), (0.9, True)])
def test_the_bytes_of_a_busiest_minute_prove_operations(mib_a_day: float, is_asked: bool) -> None:
    _, m5 = examples.ON_NITRO
    case = replace(IDLE_VOLUME, records=(*IDLE_VOLUME.records, m5))
    peaks = {(READ_BYTES.peak, DAY_S): [0.0] * 36, (WRITTEN_BYTES.peak, DAY_S): [mib_a_day * MIB] * 36}
    _, queries = asked(case, peaks, "ebs-idle", "ebs-surplus-throughput", **FAST)

    assert ("VolumeWriteBytes", DAY_S) in queries
    assert ((WRITES.name, DAY_S) in queries) is is_asked


def test_bytes_of_a_few_days_do_not_prove_that_it_is_used_every_day() -> None:
    """On Xen, bytes have no point on idle days. After a move to Nitro, the first days are not all days."""
    _, m5 = examples.ON_NITRO
    case = replace(IDLE_VOLUME, records=(*IDLE_VOLUME.records, m5))
    few = {(part.peak, DAY_S): [5.0 * MIB, 0.0, 0.0] for part in (READ_BYTES, WRITTEN_BYTES)}
    flagged, queries = asked(case, few, "ebs-idle", "ebs-surplus-throughput", **FAST)

    assert (WRITES.name, DAY_S) in queries
    assert "ebs-idle" in flagged
