"""The evaluation queue: rounds, resource groups, failures, and requests of detectors that it refuses."""

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from slackwater.engine import evaluation
from slackwater.engine.evaluation import Enabled, EvaluationQueue, silence
from slackwater.engine.plan import MetricCall, MetricQuery
from slackwater.model.detector import CASE_NOW, Detector, Limits, Seen, unless_decided
from slackwater.model.findings import CEILING
from slackwater.model.fleet import Fleet, Late, Rest, UnreadableRecord
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.resources import (
    AgentMetric,
    Attachment,
    AttachmentEvent,
    DiskMetric,
    EfsFileSystem,
    Instance,
    Record,
    Target,
    Volume,
)
from slackwater.model.units import DAY_S, HOUR_S, MINUTE_S
from slackwater.model.verdicts import Fine, Flagged, Unknown, Verdict

TARGET = Target("123456789012", "us-east-1")
VOLUME = Volume(
    id="vol-1", arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-1", target=TARGET, tags={}, volume_type="gp3",
    size_gib=8, iops=3000, throughput_mib_s=125, state="in-use", created_at=CASE_NOW - timedelta(days=90),
    availability_zone="us-east-1a", multi_attach=False,
)  # fmt: skip
READ = Metric("AWS/EBS", "VolumeReadOps", "Sum", "operations")
FLAG = Flagged(summary="flagged", confidence="high", evidence=(), advice=(), fingerprint_inputs=())


def enabled(judge: Callable[[Volume, Seen, Limits], Verdict], name: str = "ebs-test", **more: Any) -> Enabled:
    detector = Detector(title="", kind="waste", resource=Volume, limits=Limits, judge=judge, cases=(), **more)
    return Enabled(name, detector, Limits())


def reads(days: float, period_s: int = DAY_S) -> Need:
    return READ.need(("VolumeId", "vol-1"), period_s=period_s, days=days)


def asks_for(need: Need) -> Callable[[Volume, Seen, Limits], Verdict]:
    return lambda _volume, seen, _limits: Fine(f"{len(seen.read(need)[0])} points")


def reads_all(*needs: Need) -> Callable[[Volume, Seen, Limits], Verdict]:
    """Return a judge function that reads these metrics one after another."""

    def judge(_volume: Volume, seen: Seen, _limits: Limits) -> Verdict:
        return Fine(f"{sum(len(series) for need in needs for series in seen.read(need))} points")

    return judge


def notes_failures(need: Need, failed: list[bool]) -> Callable[[Volume, Seen, Limits], Verdict]:
    """Return a judge function that reads an optional metric and appends whether its call failed."""

    def judge(_volume: Volume, seen: Seen, _limits: Limits) -> Verdict:
        seen.read(need)
        failed.append(seen.could_not_read(need))
        return FLAG

    return judge


def drain(queue: EvaluationQueue, answer: Callable[[MetricQuery], Series | str] | None = None) -> list[MetricCall]:
    calls = []
    while call := queue.next_call(idle=True):
        calls.append(call)
        answers = {query: answer(query) if answer else zeros(query) for query in call.queries}
        queue.receive(
            {query: one for query, one in answers.items() if isinstance(one, Series)},
            {query: one for query, one in answers.items() if isinstance(one, str)},
        )
    return calls


def zeros(query: MetricQuery) -> Series:
    return Series.of(query.window.start_s, query.period_s, [0.0] * query.points)


def test_two_detectors_that_want_one_metric_ask_once_as_far_back_as_the_more_patient() -> None:
    lengths: list[int] = []

    def measuring(need: Need) -> Callable[[Volume, Seen, Limits], Verdict]:
        def judge(_volume: Volume, seen: Seen, _limits: Limits) -> Verdict:
            lengths.append(len(seen.read(need)[0]))
            return Fine("")

        return judge

    queue = EvaluationQueue(
        Fleet([VOLUME]), [enabled(measuring(reads(14)), "a"), enabled(measuring(reads(30)), "b")], CASE_NOW
    )
    calls = drain(queue)

    assert [len(call.queries) for call in calls] == [1]
    assert sorted(lengths) == [15, 31]


def test_a_record_that_could_not_be_read_makes_those_unknown_that_need_it_and_no_other() -> None:
    on = {
        name: replace(VOLUME, id=name, attachments=(Attachment(instance_id=host, device="", attached_at=None),))
        for name, host in (("vol-1", "i-1"), ("vol-2", "i-2"))
    }
    broken = UnreadableRecord(Instance, "i-2", "it lacks 'State'")

    def judge(volume: Volume, seen: Seen, _limits: Limits) -> Verdict:
        seen.fleet.get(Instance, volume.attachments[0].instance_id)
        return Flagged(summary="", confidence="high", evidence=(), advice=(), fingerprint_inputs=())

    queue = EvaluationQueue(Fleet([*on.values()], broken=[broken]), [enabled(judge, reads=(Instance,))], CASE_NOW)
    drain(queue)

    assert [one.resource.id for one in queue.flagged] == ["vol-1"]
    assert [(one.resource.id, one.reason) for one in queue.unknown] == [("vol-2", str(broken))]
    assert not queue.failures


@pytest.mark.parametrize(
    ("kind", "needs", "unknown"),
    [
        (DiskMetric, "reads", True),
        (AttachmentEvent, "reads", True),
        (AttachmentEvent, "reads_if_allowed", True),
        (DiskMetric, "reads_if_allowed", False),
        (AgentMetric, "reads_if_allowed", False),
    ],
)
def test_what_belongs_to_a_resource_and_could_not_be_read_makes_it_unknown_but_for_an_agents_metrics(
    kind: type[Record], needs: str, unknown: bool
) -> None:
    broken = UnreadableRecord(kind, "disk", "a dimension has no name", ("vol-1",))
    fine = enabled(lambda *_: Fine("it is"))
    queue = EvaluationQueue(
        Fleet([VOLUME, replace(VOLUME, id="vol-2")], broken=[broken]),
        [replace(fine, detector=replace(fine.detector, **{needs: (kind,)}))],
        CASE_NOW,
    )
    drain(queue)

    assert [(one.resource.id, one.reason) for one in queue.unknown] == ([("vol-1", str(broken))] if unknown else [])


def test_a_metric_that_could_not_be_read_is_unknown_with_the_reason_and_a_failure() -> None:
    queue = EvaluationQueue(Fleet([VOLUME]), [enabled(asks_for(reads(14)))], CASE_NOW)
    drain(queue, lambda _query: "ThrottlingException")

    assert [(one.resource.id, one.reason) for one in queue.unknown] == [
        ("vol-1", "VolumeReadOps could not be read: ThrottlingException")
    ]
    assert queue.failures == {("cloudwatch:GetMetricData", "ThrottlingException", False): 1}


def test_a_metric_that_the_ceiling_held_back_is_unknown_in_the_words_of_the_ceiling_alone() -> None:
    queue = EvaluationQueue(Fleet([VOLUME]), [enabled(asks_for(reads(14)))], CASE_NOW)
    drain(queue, lambda _query: f"{CEILING}: 25 of 25 USD were spent")

    assert [one.reason for one in queue.unknown] == [f"{CEILING}: 25 of 25 USD were spent"]


def test_a_kind_that_could_not_be_read_makes_its_dependants_unknown_without_a_call() -> None:
    queue = EvaluationQueue(
        Fleet([VOLUME], {Instance: "AccessDenied"}), [enabled(asks_for(reads(14)), reads=(Instance,))], CASE_NOW
    )

    assert drain(queue) == []
    assert queue.unknown[0].reason == "ec2-instance records could not be read: AccessDenied"


HOST = Instance(
    id="i-1", arn="", target=TARGET, tags={}, instance_type="t3.micro", state="running", launched_at=CASE_NOW,
    stopped_at=None, detailed_monitoring=False, root_device="",
)  # fmt: skip


FILES = EfsFileSystem(
    id="fs-1", arn="", target=TARGET, tags={}, state="available", created_at=CASE_NOW, throughput_mode="elastic",
    provisioned_mib_s=None, performance_mode="generalPurpose", availability_zone=None, stored_bytes={"Standard": 1},
    mount_targets=1, is_replica=False,
)  # fmt: skip


def needs_host(*needs: Need) -> Callable[[Volume, Seen, Limits], Verdict]:
    """Return a judge function that reads these metrics one after another, and then needs an instance."""

    def judge(volume: Volume, seen: Seen, limits: Limits) -> Verdict:
        reads_all(*needs)(volume, seen, limits)
        return FLAG if seen.fleet.get(Instance, "i-1") else Unknown("there is no instance")

    return judge


@pytest.mark.parametrize("reads_it", ["reads", "reads_if_allowed"])
def test_a_judgement_that_needs_a_record_that_is_still_being_read_continues_at_the_end(reads_it: str) -> None:
    evaluated: list[int] = []

    def wait() -> Late:
        evaluated.append(queue.evaluated)
        return Late([HOST], {}, [])

    awaiting = enabled(needs_host(), "ebs-a", **{reads_it: (Instance,)})
    fleet = Fleet([VOLUME], rest=Rest(frozenset({Instance}), wait))
    queue = EvaluationQueue(fleet, [awaiting, enabled(asks_for(reads(14)), "ebs-b")], CASE_NOW)
    assert queue.next_call(idle=False) is None  # it does not wait for an answer while more questions may come
    assert (queue.questions, evaluated) == (2, [])

    calls = drain(queue)
    assert ([len(call.queries) for call in calls], evaluated, len(queue.flagged)) == ([1], [1], 1)
    assert (queue.evaluated, queue.fleet.awaited) == (2, frozenset())


def test_it_continues_with_all_series_that_were_read_before() -> None:
    fleet = Fleet([VOLUME], rest=Rest(frozenset({Instance}), lambda: Late([HOST], {}, [])))
    day, hour = reads(14), reads(14, HOUR_S)
    queue = EvaluationQueue(fleet, [enabled(needs_host(day, hour)), enabled(reads_all(day, hour))], CASE_NOW)
    calls = drain(queue)

    assert [query.period_s for call in calls for query in call.queries] == [DAY_S, HOUR_S]
    assert (queue.evaluated, len(queue.flagged)) == (2, 1)


def test_a_question_that_waits_for_a_record_and_read_no_metric_keeps_no_long_series() -> None:
    fleet = Fleet([VOLUME], rest=Rest(frozenset({Instance}), lambda: Late([HOST], {}, [])))
    queue = EvaluationQueue(fleet, [enabled(needs_host()), enabled(reads_all(reads(14, HOUR_S)))], CASE_NOW)
    kept: list[Series] = []
    call = queue.next_call(idle=True)
    assert call
    kept.extend(zeros(query) for query in call.queries)
    queue.receive(dict(zip(call.queries, kept, strict=True)), {})

    assert (queue.evaluated, len(kept)) == (1, 1)
    assert references(kept) == [2]
    assert (drain(queue), len(queue.flagged)) == ([], 1)


def test_a_kind_that_is_listed_is_not_taken_for_empty_before() -> None:
    fleet = Fleet([VOLUME], rest=Rest(frozenset({Instance}), lambda: Late([HOST], {}, [])))
    queue = EvaluationQueue(fleet, [enabled(lambda _v, at, _l: Fine(f"{len(at.fleet.all(Instance))}"))], CASE_NOW)

    assert (drain(queue), queue.evaluated, queue.fleet.all(Instance)) == ([], 1, [HOST])


class Demand:
    """Reads instances on demand, and records in which order it is asked and awaited."""

    def __init__(self, late: Late) -> None:
        self.order: list[str] = []
        self.late = late

    def fleet(self, *records: Record) -> Fleet:
        return Fleet(records, rest=Rest(frozenset(), self.wait, frozenset({Instance}), self.begin))

    def begin(self, kind: type[Record], fleet: Fleet) -> None:
        assert kind is Instance
        self.order += [f"begin {one.id}" for one in fleet.all(Volume)]

    def wait(self) -> Late:
        self.order.append("wait")
        return self.late


def test_a_record_on_demand_is_requested_once_metrics_leave_the_question_open() -> None:
    busy, open_ = replace(VOLUME, id="vol-2"), replace(VOLUME, id="vol-1")
    other = replace(VOLUME, id="vol-3")

    def judge(volume: Volume, seen: Seen, limits: Limits) -> Verdict:
        if volume.id == other.id:
            return reads_all(nth(1), nth(2))(volume, seen, limits)
        need = READ.need(("VolumeId", volume.id), period_s=DAY_S, days=14)
        if sum(seen.read(need)[0].present):
            return Fine("busy")
        return FLAG if seen.fleet.get(Instance, "i-1") else Unknown("there is no instance")

    demand = Demand(Late([HOST], {}, []))
    both = [enabled(judge, "ebs-a", reads=(Instance,)), enabled(judge, "ebs-b", reads=(Instance,))]
    queue = EvaluationQueue(demand.fleet(busy, open_, other), both, CASE_NOW)
    answered: list[MetricQuery] = []

    def answer(query: MetricQuery) -> Series:
        demand.order.append(query.metric.name if query.metric.name != READ.name else "reads")
        answered.append(query)
        return Series.of(
            query.window.start_s, query.period_s, [float(("VolumeId", "vol-2") in query.dimensions)] * query.points
        )

    drain(queue, answer)
    assert demand.order[-1] == "wait"
    assert [one for one in demand.order if one.startswith("begin")] == ["begin vol-1"]  # once, for both detectors
    assert demand.order.index("begin vol-1") < len(demand.order) - 2  # other metrics are read meanwhile
    assert len(answered) == len(set(answered))
    assert ([one.resource.id for one in queue.flagged], queue.unknown) == (["vol-1", "vol-1"], [])


@pytest.mark.parametrize(
    ("late", "reason"),
    [
        (Late([], {Instance: "AccessDenied"}, []), "ec2-instance records could not be read: AccessDenied"),
        (Late([], {}, [], [UnreadableRecord(Instance, "i-1", "odd")]), "ec2-instance i-1 could not be read: odd"),
        (Late([], {}, []), "there is no instance"),
    ],
)
def test_only_questions_that_needed_a_record_are_unknown_if_it_cannot_be_read(late: Late, reason: str) -> None:
    def decided(_volume: Volume, _seen: Seen, _limits: Limits) -> Verdict:
        return Fine("its metrics decide")

    both = [enabled(needs_host(reads(14)), "ebs-a", reads=(Instance,)), enabled(decided, "ebs-b", reads=(Instance,))]
    queue = EvaluationQueue(Demand(late).fleet(VOLUME), both, CASE_NOW)
    drain(queue)

    assert [(one.detector, one.reason) for one in queue.unknown] == [("ebs-a", reason)]
    assert queue.evaluated == 2


def test_groups_that_may_need_a_record_on_demand_are_opened_first() -> None:
    opened: list[str] = []

    def noting(name: str) -> Callable[[Instance | Volume, Seen, Limits], Verdict]:
        return lambda _one, _seen, _limits: opened.append(name) or Fine("")  # type: ignore[func-returns-value]

    first = replace(enabled(noting("b"), "ebs-b", reads=(Instance,)).detector, resource=Volume)
    host = replace(enabled(noting("a")).detector, resource=EfsFileSystem)
    on = [Enabled("a", host, Limits()), Enabled("b", first, Limits())]
    drain(EvaluationQueue(Demand(Late([], {}, [])).fleet(FILES, VOLUME), on, CASE_NOW))

    assert opened == ["b", "a"]


def test_a_judgement_after_the_record_sees_that_an_optional_metric_failed_before() -> None:
    optional = replace(READ, optional=True).need(("VolumeId", "vol-1"), period_s=DAY_S, days=14)
    failed: list[bool] = []
    notes = notes_failures(optional, failed)

    def judge(volume: Volume, seen: Seen, limits: Limits) -> Verdict:
        notes(volume, seen, limits)
        return needs_host()(volume, seen, limits)

    fleet = Fleet([VOLUME], rest=Rest(frozenset({Instance}), lambda: Late([HOST], {}, [])))
    drain(EvaluationQueue(fleet, [enabled(judge, reads=(Instance,))], CASE_NOW), lambda _query: "InternalError")

    assert failed == [True, True]


def test_in_the_end_the_fleet_is_whole_though_no_question_looks_at_what_came_late() -> None:
    fleet = Fleet([VOLUME], rest=Rest(frozenset({Instance}), lambda: Late([HOST], {}, [])))
    queue = EvaluationQueue(fleet, [enabled(asks_for(reads(14)))], CASE_NOW)
    drain(queue)

    assert queue.fleet.all(Instance) == [HOST]


def test_a_kind_that_was_awaited_in_vain_makes_its_dependants_unknown() -> None:
    fleet = Fleet([VOLUME], rest=Rest(frozenset({Instance}), lambda: Late([], {Instance: "AccessDenied"}, [])))
    queue = EvaluationQueue(fleet, [enabled(needs_host(), reads=(Instance,))], CASE_NOW)

    assert drain(queue) == []
    assert queue.unknown[0].reason == "ec2-instance records could not be read: AccessDenied"


def test_a_period_no_longer_kept_is_unknown_never_a_silent_empty_series() -> None:
    queue = EvaluationQueue(Fleet([VOLUME]), [enabled(asks_for(reads(30, MINUTE_S)))], CASE_NOW)

    assert drain(queue) == []
    assert "kept for 15 days" in queue.unknown[0].reason


def test_a_detector_may_ask_three_times_and_not_a_fourth() -> None:
    def greedy(rounds: int) -> Callable[[Volume, Seen, Limits], Verdict]:
        def judge(_volume: Volume, seen: Seen, _limits: Limits) -> Verdict:
            for days in range(1, rounds + 1):
                seen.read(Metric("N", f"M{days}", "Sum", "").need(period_s=DAY_S, days=1))
            return FLAG

        return judge

    queue = EvaluationQueue(Fleet([VOLUME]), [enabled(greedy(3))], CASE_NOW)
    drain(queue)
    assert len(queue.flagged) == 1

    queue = EvaluationQueue(Fleet([VOLUME]), [enabled(greedy(4))], CASE_NOW)
    drain(queue)
    assert "it needs more than 3 rounds of metrics: " in queue.unknown[0].reason


def nth(number: int) -> Need:
    return replace(READ, name=f"M{number}").need(("VolumeId", "vol-1"), period_s=DAY_S, days=14)


def test_a_judgement_that_reads_metrics_stops_until_the_engine_has_collected_them() -> None:
    queue = EvaluationQueue(Fleet([VOLUME]), [enabled(reads_all(nth(1), nth(2), nth(3)))], CASE_NOW)
    calls = drain(queue)

    assert [[query.metric.name for query in call.queries] for call in calls] == [["M1"], ["M2"], ["M3"]]
    assert (queue.evaluated, queue.unknown, queue.failures) == (1, [], {})


def test_metrics_that_are_read_together_are_collected_together_and_returned_in_order() -> None:
    got: list[tuple[int, int]] = []

    def judge(_volume: Volume, seen: Seen, _limits: Limits) -> Verdict:
        first, second = seen.read(reads(14), reads(1, HOUR_S))
        got.append((first.period_s, second.period_s))
        return FLAG

    queue = EvaluationQueue(Fleet([VOLUME]), [enabled(judge)], CASE_NOW)

    assert sum(len(call.queries) for call in drain(queue)) == 2
    assert got == [(DAY_S, HOUR_S)]


def test_a_judgement_may_read_in_three_rounds_and_not_in_a_fourth() -> None:
    queue = EvaluationQueue(Fleet([VOLUME]), [enabled(reads_all(nth(1), nth(2), nth(3), nth(4)))], CASE_NOW)
    drain(queue)

    assert "it needs more than 3 rounds of metrics: " in queue.unknown[0].reason


def test_a_metric_that_a_judgement_reads_and_that_fails_is_unknown() -> None:
    queue = EvaluationQueue(Fleet([VOLUME]), [enabled(reads_all(reads(14)))], CASE_NOW)
    drain(queue, lambda _query: "ThrottlingException")

    assert queue.unknown[0].reason == "VolumeReadOps could not be read: ThrottlingException"


def asks_without_end(_volume: Volume, seen: Seen, _limits: Limits) -> Verdict:
    for days in range(1, 100):
        seen.read(reads(days))
    return FLAG


def broken(*_: object) -> Verdict:
    raise ZeroDivisionError("division by zero")


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        (asks_without_end, "it needs more than 3 rounds of metrics: VolumeReadOps"),
        (broken, "ZeroDivisionError: division by zero"),
    ],
)
def test_an_error_in_one_detector_is_reported_and_the_others_are_not_affected(
    judge: Callable[[Volume, Seen, Limits], Verdict], message: str
) -> None:
    queue = EvaluationQueue(
        Fleet([VOLUME]), [enabled(judge, "ebs-broken"), enabled(lambda *_: FLAG, "ebs-sound")], CASE_NOW
    )
    drain(queue)

    assert [one.enabled.id for one in queue.flagged] == ["ebs-sound"]
    assert [(one.detector, message in one.reason) for one in queue.unknown] == [("ebs-broken", True)]
    assert [(what, optional) for what, _, optional in queue.failures] == [("detector:ebs-broken", False)]


def test_an_optional_metric_that_fails_is_silence_and_an_optional_failure() -> None:
    optional = replace(READ, optional=True).need(("VolumeId", "vol-1"), period_s=DAY_S, days=14)

    def judge(_volume: Volume, seen: Seen, _limits: Limits) -> Verdict:
        (series,) = seen.read(optional)
        return Fine("") if series.present else FLAG

    queue = EvaluationQueue(Fleet([VOLUME]), [enabled(judge)], CASE_NOW)
    drain(queue, lambda _query: "InternalError")

    assert len(queue.flagged) == 1
    assert queue.failures == {("cloudwatch:GetMetricData", "InternalError", True): 1}


def test_a_metric_that_failed_once_and_is_read_later_counts_as_read() -> None:
    answers = iter(["InternalError", None])
    first, second = (enabled(asks_for(reads(days)), name) for days, name in ((14, "a"), (14, "b")))
    late = Metric("AWS/EBS", "VolumeWriteOps", "Sum", "operations").need(("VolumeId", "vol-1"), period_s=DAY_S, days=14)

    def judge(volume: Volume, seen: Seen, limits: Limits) -> Verdict:
        seen.read(late)
        return asks_for(reads(14))(volume, seen, limits)

    queue = EvaluationQueue(Fleet([VOLUME]), [first, replace(second, detector=enabled(judge).detector)], CASE_NOW)
    drain(queue, lambda query: next(answers) or zeros(query) if query.metric == READ else zeros(query))

    assert [one.detector for one in queue.unknown] == ["a"]


def test_what_is_never_answered_is_unknown_in_the_end_and_a_failure() -> None:
    queue = EvaluationQueue(Fleet([VOLUME]), [enabled(asks_for(reads(14)))], CASE_NOW)
    while queue.next_call(idle=True):
        queue.receive({}, {})
    queue.close()

    assert queue.evaluated == queue.questions == 1
    assert queue.unknown[0].reason == "a metric it asked for was never answered"
    assert [what for what, _, _ in queue.failures] == ["detector:ebs-test"]


def test_a_call_that_is_not_full_waits_until_nothing_is_on_its_way() -> None:
    queue = EvaluationQueue(Fleet([VOLUME]), [enabled(asks_for(reads(14)))], CASE_NOW)

    assert queue.next_call(idle=False) is None
    assert queue.next_call(idle=True) is not None


def test_the_fleet_is_opened_no_further_than_full_calls_need() -> None:
    opened: list[str] = []

    def judge(volume: Volume, seen: Seen, _limits: Limits) -> Verdict:
        opened.append(volume.id)
        need = READ.need(("VolumeId", volume.id), period_s=DAY_S, days=14)
        seen.read(need)
        return Fine("")

    volumes = [replace(VOLUME, id=f"vol-{n}") for n in range(2_000)]
    queue = EvaluationQueue(Fleet(volumes), [enabled(judge)], CASE_NOW)

    assert queue.next_call(idle=True) is not None
    assert len(opened) == 500


def references(kept: list[Series]) -> list[int]:
    """Count the references to each: two if only the list and this call have one."""
    return [sys.getrefcount(kept[n]) for n in range(len(kept))]


def own_metric(volume: Volume, seen: Seen, _limits: Limits) -> Verdict:
    return Fine(f"{len(seen.read(READ.need(('VolumeId', volume.id), period_s=DAY_S, days=14))[0])} points")


def test_only_so_many_groups_wait_and_the_rest_is_opened_once_they_are_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(evaluation, "MOST_WAITING", 2)
    volumes = [replace(VOLUME, id=f"vol-{n}") for n in range(5)]
    queue = EvaluationQueue(Fleet(volumes), [enabled(own_metric)], CASE_NOW)

    assert queue.next_call(idle=False) is None
    assert [len(call.queries) for call in drain(queue)] == [2, 2, 1]
    assert queue.evaluated == 5


def test_the_metrics_of_a_group_are_not_kept_after_its_verdicts() -> None:
    queue = EvaluationQueue(Fleet([VOLUME, replace(VOLUME, id="vol-2")]), [enabled(own_metric)], CASE_NOW)
    kept: list[Series] = []

    def answer(query: MetricQuery) -> Series:
        kept.append(zeros(query))
        return kept[-1]

    drain(queue, answer)

    assert queue.evaluated == len(kept) == 2
    assert references(kept) == [2, 2]


def test_volumes_of_one_instance_that_ask_for_its_metric_ask_once() -> None:
    need = Metric("AWS/EC2", "EBSReadBytes", "Sum", "bytes").need(("InstanceId", "i-1"), period_s=DAY_S, days=14)
    on_i1 = (Attachment(instance_id="i-1", device="/dev/sdf", attached_at=None),)
    volumes = [replace(VOLUME, id=f"vol-{n}", attachments=on_i1) for n in range(5)]
    queue = EvaluationQueue(Fleet(volumes), [enabled(asks_for(need))], CASE_NOW)

    assert [len(call.queries) for call in drain(queue)] == [1]
    assert queue.evaluated == queue.questions == 5


def test_resource_groups_that_need_the_same_metric_share_one_query() -> None:
    shared = Metric("AWS/FSx", "DiskIopsUtilization", "Maximum", "percent").need(
        ("FileSystemId", "fs-1"), period_s=DAY_S, days=14
    )
    volumes = [replace(VOLUME, id=f"vol-{n}") for n in range(3)]
    queue = EvaluationQueue(Fleet(volumes), [enabled(asks_for(shared))], CASE_NOW)

    assert [len(call.queries) for call in drain(queue)] == [1]
    assert queue.evaluated == 3


def test_each_verdict_counts_as_evaluated() -> None:
    verdicts: dict[str, Verdict] = {"vol-0": FLAG, "vol-1": Fine(""), "vol-2": Unknown("why")}
    volumes = [replace(VOLUME, id=id_) for id_ in verdicts]
    queue = EvaluationQueue(Fleet(volumes), [enabled(lambda volume, _seen, _limits: verdicts[volume.id])], CASE_NOW)
    drain(queue)

    assert queue.evaluated == 3
    assert [one.resource.id for one in queue.flagged] == ["vol-0"]
    assert [one.resource.id for one in queue.unknown] == ["vol-2"]


def test_a_detector_can_distinguish_a_failed_optional_metric_from_an_empty_one() -> None:
    optional = replace(READ, optional=True).need(("VolumeId", "vol-1"), period_s=DAY_S, days=14)
    answers: list[bool] = []
    judge = notes_failures(optional, answers)
    for answer in (lambda _query: "InternalError", silence):
        drain(EvaluationQueue(Fleet([VOLUME]), [enabled(judge)], CASE_NOW), answer)

    assert answers == [True, False]


@pytest.mark.parametrize("verdict", [Fine("it is stopped"), Unknown("nobody knows")])
def test_a_verdict_of_a_guard_stops_the_judgement(verdict: Fine | Unknown) -> None:
    def judge(_volume: Volume, seen: Seen, _limits: Limits) -> Verdict:
        assert unless_decided(3) == 3
        unless_decided(verdict)
        seen.read(reads(1))
        return FLAG

    queue = EvaluationQueue(Fleet([VOLUME]), [enabled(judge)], CASE_NOW)
    calls = drain(queue)

    assert not calls
    assert not queue.flagged
    assert [one.reason for one in queue.unknown] == ([verdict.reason] if isinstance(verdict, Unknown) else [])
    assert not queue.failures


def uses_or_reads(other: Need, own: Need) -> Callable[[Volume, Seen, Limits], Verdict]:
    """Return a judge function that is content with points of another detector, else reads its own."""

    def judge(_volume: Volume, seen: Seen, _limits: Limits) -> Verdict:
        series = seen.if_read(other)
        if series and max(series.present, default=0) > 0:
            return Flagged(summary="other", confidence="high", evidence=(), advice=(), fingerprint_inputs=())
        seen.read(own)
        return FLAG

    return judge


OTHER, OWN = reads(14, HOUR_S), reads(35)


def judged_last(other: Need, answer: Callable[[MetricQuery], Series | str]) -> tuple[list[str], list[int]]:
    """Return the summaries of the last detector, and the periods of all queries, if the first one reads `other`."""
    last = enabled(uses_or_reads(OTHER, OWN), "a-last", judge_last=True)
    queue = EvaluationQueue(Fleet([VOLUME]), [last, enabled(asks_for(other), "b-first")], CASE_NOW)
    calls = drain(queue, answer)
    found = [one.verdict.summary for one in queue.flagged if one.enabled is last]
    return found, [query.period_s for call in calls for query in call.queries]


def ones(query: MetricQuery) -> Series:
    return Series.of(query.window.start_s, query.period_s, [1.0] * query.points)


def test_a_detector_that_is_judged_last_uses_what_another_one_reads() -> None:
    assert judged_last(OTHER, ones) == (["other"], [HOUR_S])


@pytest.mark.parametrize("answer", [zeros, lambda query: "denied" if query.period_s == HOUR_S else zeros(query)])
def test_it_reads_its_own_metric_if_that_does_not_decide_or_failed(
    answer: Callable[[MetricQuery], Series | str],
) -> None:
    assert judged_last(OTHER, answer) == (["flagged"], [HOUR_S, DAY_S])


def test_it_reads_its_own_metric_at_once_if_nobody_reads_the_other() -> None:
    found, periods = judged_last(OWN, ones)

    assert (found, periods) == (["flagged"], [DAY_S])
