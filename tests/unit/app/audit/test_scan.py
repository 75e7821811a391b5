"""The audit use case, with fakes for inventory, metrics and prices."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Self

import pytest

from slackwater.app.audit.scan import Audit, Sources
from slackwater.app.policy.file import parse_policy
from slackwater.engine.plan import MetricCall
from slackwater.engine.registry import registry
from slackwater.model.detector import CASE_NOW, Detector, Limits
from slackwater.model.findings import Gap, Scan, TargetScan
from slackwater.model.fleet import Fleet, Late, Rest
from slackwater.model.metrics import Series
from slackwater.model.money import Change, Price, PriceItem, PriceTable
from slackwater.model.policy import OwnersSection, Policy, ScanSection
from slackwater.model.policy_version import PolicyVersion
from slackwater.model.resources import (
    AttachmentEvent,
    EfsReplication,
    IdleRecommendation,
    Instance,
    InstanceType,
    Record,
    Target,
    Volume,
    VolumeRecommendation,
)
from slackwater.model.snapshot import WholeSnapshot
from slackwater.model.verdicts import Advice, FindingKind, Flagged, JointChange
from slackwater.ports.metrics import MetricAnswer
from slackwater.views.scan.to_json import document

HERE, THERE = Target("123456789012", "us-east-1"), Target("123456789012", "eu-west-1")
UNATTACHED = Volume(
    id="vol-1", arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-1", target=HERE, tags={}, volume_type="gp3",
    size_gib=100, iops=3000, throughput_mib_s=125, state="available", created_at=CASE_NOW - timedelta(days=90),
    availability_zone="us-east-1a", multi_attach=False,
)  # fmt: skip


@dataclass
class World:
    """Inventory, metrics, prices and meter of a few resources."""

    records: Mapping[Target, Iterable[Record]]
    gaps: Mapping[Target, list[Gap]] = field(default_factory=dict)
    metrics_fail: str = ""
    concurrency: int = 2
    asked: list[tuple[set[type[Record]], set[type[Record]]]] = field(default_factory=list)

    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        self.asked.append((set(required), set(optional)))
        return Fleet(self.records[target]), list(self.gaps.get(target, []))

    def fetch(self, call: MetricCall) -> MetricAnswer:
        if self.metrics_fail:
            return MetricAnswer({}, dict.fromkeys(call.queries, self.metrics_fail))
        return MetricAnswer({q: Series.of(q.window.start_s, q.period_s, [None] * q.points) for q in call.queries}, {})

    def of(self, items: Iterable[PriceItem], region: str) -> tuple[PriceTable, list[Gap]]:
        price = Price(Decimal("0.08"), f"a test in {region}", date(2026, 9, 1))
        return dict.fromkeys(items, price), [Gap("", "", "pricing:GetProducts", "AccessDenied", optional=True)]

    def api_calls(self) -> Mapping[str, int]:
        return {"ec2:DescribeVolumes": 1}

    def metrics_requested(self) -> int:
        return 1_230

    def datapoints(self) -> int:
        return 0


def scan(world: World, targets: list[Target], minimum: float = 1) -> Scan:
    policy = Policy(limits={"ebs-unattached": registry()["ebs-unattached"].limits()})
    policy = replace(policy, scan=policy.scan.model_copy(update={"minimum_monthly_savings_usd": minimum}))
    audit = Audit(
        registry=registry(), policy=policy, sources=lambda _target: Sources(world, world), prices=world, meter=world,
        clock=lambda: CASE_NOW, progress=lambda *_: None,
    )  # fmt: skip
    return audit.run(targets, CASE_NOW)


def test_a_flagged_resource_comes_out_priced() -> None:
    (found,) = scan(World({HERE: [replace(UNATTACHED, tags={"Owner": "data"})]}), [HERE]).targets[0].findings

    assert scan(World({}), []).as_of == CASE_NOW
    assert found.owner == "data"
    assert (found.detector, found.resource.id, found.monthly_savings_usd) == (
        "ebs-unattached",
        "vol-1",
        Decimal("8.00"),
    )
    assert found.price_basis[0].price.source == "a test in us-east-1"


def test_what_carries_a_tag_that_the_policy_names_is_managed_and_nothing_deletes_it() -> None:
    """It was detached for two months. Without the policy's tag, Slackwater may delete it."""
    since = AttachmentEvent(id="vol-1", at=CASE_NOW - timedelta(days=60), instance_id="i-1", event_name="DetachVolume")
    world = World({HERE: [replace(UNATTACHED, tags={"ManagedBy": "Terraform"}), since]})
    named = parse_policy(
        '[owners]\nmanaged_tags = ["ManagedBy=terraform"]\n', "mine.toml", registry(), ["ebs-unattached"]
    )
    unnamed = replace(named, owners=OwnersSection())
    (alone,), (found,) = (
        replace(auditing(world), policy=policy).scan_target(HERE, CASE_NOW).findings for policy in (unnamed, named)
    )

    assert [one.advice.deletes for one in alone.recommendations] == [True, False]
    assert not any(one.advice.deletes for one in found.recommendations)
    assert any("managed by the program that its tag ManagedBy=terraform names" in one for one in found.caveats)
    assert found.fingerprint != alone.fingerprint


def test_only_what_the_detectors_that_are_on_need_is_read() -> None:
    world = World({HERE: []})
    scan(world, [HERE])

    assert world.asked == [({Volume}, {AttachmentEvent, IdleRecommendation, VolumeRecommendation})]
    assert not {Instance, InstanceType, EfsReplication} & set.union(*world.asked[0])


def test_a_finding_of_waste_says_whether_compute_optimizer_agrees_and_is_the_same_for_all_else() -> None:
    seen = IdleRecommendation(
        id="vol-1", finding="Unattached", monthly_savings_usd=Decimal("7.90"), look_back_days=32,
        refreshed_at=CASE_NOW - timedelta(days=1),
    )  # fmt: skip
    (alone,) = scan(World({HERE: [UNATTACHED]}), [HERE]).targets[0].findings
    (found,) = scan(World({HERE: [UNATTACHED, seen]}), [HERE]).targets[0].findings

    *before, last = found.evidence
    assert (last.label, last.value) == (
        "Compute Optimizer", "agrees: Unattached (32 days to 2026-11-15), saves 7.90 USD a month",
    )  # fmt: skip
    assert replace(found, evidence=tuple(before)) == alone


def test_a_finding_is_judged_once_everything_has_been_read() -> None:
    reported = IdleRecommendation(
        id="vol-1", finding="Unattached", monthly_savings_usd=Decimal("7.90"), look_back_days=32,
        refreshed_at=CASE_NOW - timedelta(days=11),
    )  # fmt: skip
    since = AttachmentEvent(id="vol-1", at=CASE_NOW - timedelta(days=10), instance_id="i-1", event_name="DetachVolume")
    late = Rest(
        frozenset({AttachmentEvent}), lambda: Late([since], {}, [Gap("123456789012", "us-east-1", "a:B", "late")])
    )
    snapshot = WholeSnapshot(
        Fleet([UNATTACHED, reported], rest=late), [Gap("123456789012", "us-east-1", "a:A", "early")]
    )
    (part,) = auditing(World({})).parts(HERE, CASE_NOW, snapshot)

    (found,) = part.targets[0].findings
    assert "detached from i-1" in found.summary
    assert "Compute Optimizer" not in [one.label for one in found.evidence]  # it is older than the detach event
    assert {gap.what for gap in part.targets[0].gaps} >= {"a:A", "a:B"}


def test_a_required_gap_makes_its_target_incomplete_and_no_other() -> None:
    gap = Gap("123456789012", "eu-west-1", "ec2:DescribeVolumes", "UnauthorizedOperation")
    done = scan(World({HERE: [UNATTACHED], THERE: []}, {THERE: [gap]}), [HERE, THERE])

    assert [one.complete for one in done.targets] == [True, False]
    assert not done.complete
    assert len(done.targets[0].findings) == 1


def test_metrics_that_could_not_be_read_are_a_gap_and_the_question_is_unknown() -> None:
    (target,) = scan(World({HERE: [UNATTACHED]}, metrics_fail="ThrottlingException: Rate exceeded"), [HERE]).targets

    assert not target.complete
    assert target.findings == ()
    assert [gap.what for gap in target.gaps if not gap.optional] == ["cloudwatch:GetMetricData"]
    assert "Rate exceeded" in target.unknown[0].reason


def test_a_price_gap_is_optional_and_carries_its_target() -> None:
    (target,) = scan(World({HERE: [UNATTACHED]}), [HERE]).targets

    assert target.complete
    assert target.gaps == (Gap("123456789012", "us-east-1", "pricing:GetProducts", "AccessDenied", optional=True),)


def test_kept_and_small_findings_are_counted_not_listed() -> None:
    kept = replace(UNATTACHED, id="vol-2", tags={"keep": "yes"})
    small = replace(UNATTACHED, id="vol-3", size_gib=2)
    (target,) = scan(World({HERE: [UNATTACHED, kept, small]}), [HERE]).targets

    assert [f.resource.id for f in target.findings] == ["vol-1"]
    assert [(one.detector, one.resource.id, one.reason) for one in target.unlisted] == [
        ("ebs-unattached", "vol-2", "kept by a tag"),
        ("ebs-unattached", "vol-3", "saves less than the policy's minimum"),
    ]


def scan_with(kind: FindingKind, advice: tuple[Advice, ...], world: World) -> TargetScan:
    declared = Detector(
        title="test", kind=kind, resource=Volume, limits=Limits, cases=(), reads=(Instance,),
        reads_if_allowed=(Instance,),
        judge=lambda *_: Flagged(
            summary="found", severity="medium", confidence="high", evidence=(), advice=advice, fingerprint_inputs=()
        ),
    )  # fmt: skip
    audit = Audit(
        registry={"ebs-test": declared}, policy=Policy(limits={"ebs-test": Limits()}),
        sources=lambda _: Sources(world, world), prices=world, meter=world, clock=lambda: CASE_NOW,
        progress=lambda *_: None,
    )  # fmt: skip
    return audit.run([HERE], CASE_NOW).targets[0]


def test_keep_tags_and_the_least_saving_do_not_silence_performance_findings() -> None:
    world = World({HERE: [replace(UNATTACHED, tags={"keep": ""})]})
    target = scan_with("performance", (), world)

    assert [f.summary for f in target.findings] == ["found"]
    assert target.unlisted == ()
    assert world.asked == [({Volume, Instance}, set())]


def test_waste_that_it_would_cost_more_to_change_is_counted_not_listed_and_another_kind_is_listed() -> None:
    more_expensive = (
        Advice(
            action="change", summary="", changes=(Change(PriceItem("a", "b"), Decimal(-100)),), risk="", reversible=True
        ),
    )
    world = World({HERE: [UNATTACHED]})
    target = scan_with("waste", more_expensive, world)

    assert target.findings == ()
    assert [one.reason for one in target.unlisted] == ["to change it would cost more"]
    assert [f.monthly_savings_usd for f in scan_with("performance", more_expensive, world).findings] == [
        Decimal("-8.00")
    ]


def test_waste_with_unknown_savings_is_listed() -> None:
    unknown = Advice(action="delete", summary="", changes=None, risk="", reversible=False)
    target = scan_with("waste", (unknown,), World({HERE: [UNATTACHED]}))

    assert [f.monthly_savings_usd for f in target.findings] == [None]


def test_a_scan_says_what_it_cost_itself() -> None:
    assert scan(World({HERE: []}), [HERE]).usage.estimated_usd == Decimal("0.0123")


def test_a_scan_says_what_it_asked_and_by_which_policy() -> None:
    version = PolicyVersion(version="v7", sha256="0" * 64)
    policy = replace(parse_policy(None, "", registry(), ["ebs-unattached"]), version=version)
    world = World({HERE: []})
    audit = Audit(
        registry=registry(), policy=policy, sources=lambda _: Sources(world, world), prices=world, meter=world,
        clock=lambda: CASE_NOW, progress=lambda *_: None,
    )  # fmt: skip
    head = document(audit.run([HERE], CASE_NOW))["scan"]

    assert (head["detectors"], head["policy"]) == (["ebs-unattached"], {"version": "v7", "sha256": "0" * 64})


def test_a_finding_suppressed_by_a_stronger_one_is_not_listed() -> None:
    verdict = Flagged(summary="so", confidence="high", evidence=(), advice=(), fingerprint_inputs=(), severity="low")
    weak = Detector(title="", kind="performance", resource=Volume, limits=Limits, judge=lambda *_: verdict, cases=())
    both = {"ebs-loose": replace(weak, outranks=("ebs-slow",)), "ebs-slow": weak}
    world = World({HERE: [UNATTACHED]})
    audit = Audit(
        registry=both, policy=Policy(limits=dict.fromkeys(both, Limits())), sources=lambda _: Sources(world, world),
        prices=world, meter=world, clock=lambda: CASE_NOW, progress=lambda *_: None,
    )  # fmt: skip
    (target,) = audit.run([HERE], CASE_NOW).targets

    assert [one.detector for one in target.findings] == ["ebs-loose"]
    assert [(one.detector, one.resource.id, one.reason) for one in target.unlisted] == [
        ("ebs-slow", "vol-1", "a stronger finding tells of it")
    ]


def _commands_that_collide(policy: Policy, kind_of_b: FindingKind) -> list[str | None]:
    """Return the commands of two detectors that flag one volume.

    Neither finding saves money, and `a` has the kind "performance".
    """

    def judged(name: str) -> Flagged:
        change = Advice(
            action=name,
            summary="",
            changes=(),
            risk="",
            reversible=True,
            command=name,
            joint=JointChange("set", {name: 1}),
        )
        return Flagged(
            summary="so", confidence="high", evidence=(), advice=(change,), fingerprint_inputs=(), severity="low"
        )

    slow = Detector(
        title="", kind="performance", resource=Volume, limits=Limits, judge=lambda *_: judged("a"), cases=()
    )
    both = {"ebs-a": slow, "ebs-b": replace(slow, kind=kind_of_b, judge=lambda *_: judged("b"))}
    world = World({HERE: [UNATTACHED]})
    audit = Audit(
        registry=both, policy=replace(policy, limits=dict.fromkeys(both, Limits())),
        sources=lambda _: Sources(world, world), prices=world, meter=world, clock=lambda: CASE_NOW,
        progress=lambda *_: None,
    )  # fmt: skip
    (target,) = audit.run([HERE], CASE_NOW).targets
    return [one.advice.command for finding in target.findings for one in finding.recommendations]


def test_changes_that_collide_are_listed_with_one_command() -> None:
    assert _commands_that_collide(Policy(limits={}), "performance") == ["""set '{"a": 1, "b": 1}'"""] * 2


def test_a_command_does_not_make_the_change_of_a_finding_that_is_not_listed() -> None:
    policy = Policy(limits={}, scan=ScanSection(minimum_monthly_savings_usd=10))

    assert _commands_that_collide(policy, "waste") == ["a"]


class Parts:
    """An inventory snapshot with one unattached volume in each chunk. `closed` counts how often it was closed."""

    file = None

    def __init__(self, volumes: list[Volume], gaps: tuple[Gap, ...] = ()) -> None:
        self.volumes, self.gaps, self.parts, self.closed = volumes, gaps, len(volumes), 0
        self.resources = {"ebs-volume": len(volumes)} if volumes else {}

    def fleet(self, part: int) -> Fleet:
        return Fleet([self.volumes[part - 1]])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.closed += 1


@dataclass
class Counted(World):
    """A world whose meter counts the requested metrics, and whose snapshots have chunks."""

    stocks: Mapping[Target, Parts] = field(default_factory=dict)
    count: int = 0

    def snapshot(self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]) -> Parts:
        self.count += 100  # as if listing took a hundred calls
        return self.stocks[target]

    def fetch(self, call: MetricCall) -> MetricAnswer:
        self.count += len(call.queries)
        return super().fetch(call)

    def metrics_requested(self) -> int:
        return self.count

    def api_calls(self) -> Mapping[str, int]:
        return {"ec2:DescribeVolumes": self.count}


def auditing(world: World, reported: list[tuple[str, str, int, int]] | None = None) -> Audit:
    def report(target: Target, stage: str, done: int, total: int) -> None:
        if reported is not None:
            reported.append((target.region, stage, done, total))

    policy = Policy(limits={"ebs-unattached": registry()["ebs-unattached"].limits()})
    return Audit(
        registry=registry(), policy=policy, sources=lambda _target: Sources(world, world), prices=world, meter=world,
        clock=lambda: CASE_NOW, progress=report,
    )  # fmt: skip


THREE = [replace(UNATTACHED, id=f"vol-{n}") for n in (1, 2, 3)]


def test_a_large_target_comes_part_by_part_each_with_what_it_asked_itself() -> None:
    snapshot = Parts(THREE, (Gap("123456789012", "us-east-1", "ec2:DescribeInstances", "denied"),))
    world = Counted({}, stocks={HERE: snapshot})
    parts = [*auditing(world).parts(HERE, CASE_NOW)]

    assert [[finding.resource.id for finding in part.targets[0].findings] for part in parts] == [
        ["vol-1"],
        ["vol-2"],
        ["vol-3"],
    ]
    assert [part.more for part in parts] == [True, True, False]
    assert len({part.id for part in parts}) == 1
    assert all(not part.complete and part.targets[0].gaps[0].reason == "denied" for part in parts)
    assert [part.targets[0].resources for part in parts] == [{"ebs-volume": 1}] * 3
    per_part = (world.count - 100) // 3
    assert per_part > 0
    assert [part.usage.metrics_requested for part in parts] == [100 + per_part, per_part, per_part]
    assert [part.usage.api_calls for part in parts] == [
        {"ec2:DescribeVolumes": n} for n in (100 + per_part, per_part, per_part)
    ]
    assert sum(part.usage.estimated_usd for part in parts) == world.count * Decimal("0.00001")
    assert (parts[0].detectors, snapshot.closed) == (("ebs-unattached",), 1)


def test_another_process_continues_from_a_later_chunk() -> None:
    snapshot, world = Parts(THREE), Counted({}, {})
    parts = [*auditing(world).parts(HERE, CASE_NOW, snapshot, first=2)]

    assert [part.targets[0].findings[0].resource.id for part in parts] == ["vol-2", "vol-3"]
    assert snapshot.closed == 0  # the caller closes it
    assert parts[0].usage.metrics_requested == world.count // 2


def test_a_part_is_made_only_when_it_is_wanted() -> None:
    world = Counted({}, stocks={HERE: Parts(THREE)})
    parts = auditing(world).parts(HERE, CASE_NOW)
    assert next(parts).more
    asked = world.count
    next(parts)
    assert world.count > asked
    parts.close()
    assert world.stocks[HERE].closed == 1


def test_the_progress_bar_covers_all_chunks_and_never_decreases() -> None:
    reported: list[tuple[str, str, int, int]] = []
    [*auditing(Counted({}, stocks={HERE: Parts(THREE)}), reported).parts(HERE, CASE_NOW)]

    assert [stage for _, stage, _, _ in reported].count("inventory") == 1
    assert reported[-1][1:] == ("done", 3, 3)
    assert [total for _, stage, _, total in reported if stage == "metrics"] == [3] * len(
        [one for one in reported if one[1] == "metrics"]
    )
    done = [done for _, _, done, _ in reported]
    assert done == sorted(done)


def test_all_targets_are_handed_over_once_at_a_time_and_in_the_order_of_their_parts() -> None:
    world = Counted({}, stocks={HERE: Parts(THREE), THERE: Parts(THREE[:1])})
    taken: list[Scan] = []
    inside = []

    def take(part: Scan) -> None:
        inside.append(len(inside))
        assert len(inside) == 1
        taken.append(part)
        inside.clear()

    auditing(world).hand_over([HERE, THERE], CASE_NOW, take)

    of_here = [part.targets[0].findings[0].resource.id for part in taken if part.targets[0].target == HERE]
    assert (of_here, len(taken)) == (["vol-1", "vol-2", "vol-3"], 4)
    assert sum(part.usage.metrics_requested for part in taken) == world.count


def test_a_mistake_in_one_target_ends_it_all_aloud() -> None:
    world = Counted({}, stocks={HERE: Parts(THREE)})
    with pytest.raises(KeyError):
        auditing(world).hand_over([HERE, THERE], CASE_NOW, lambda _: None)
    assert world.stocks[HERE].closed == 1


def test_of_large_targets_one_part_is_in_memory_at_a_time_and_small_ones_wait_for_nobody() -> None:
    held: list[tuple[str, bool]] = []

    class Watched(Parts):
        def fleet(self, part: int) -> Fleet:
            held.append((self.volumes[0].target.region, use_case.large.locked()))
            return super().fleet(part)

    world = Counted({}, stocks={HERE: Watched(THREE), THERE: Watched([replace(UNATTACHED, target=THERE)])})
    use_case = auditing(world)
    use_case.hand_over([HERE], CASE_NOW, lambda _: None)
    use_case.hand_over([THERE], CASE_NOW, lambda _: None)

    assert held == [("us-east-1", True)] * 3 + [("eu-west-1", False)]
