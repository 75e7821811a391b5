"""Remedies: an estimate's alternatives become advice. They follow the detector's own advice and are priced like it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

from slackwater.engine import remedies
from slackwater.engine.evaluation import Enabled, EvaluationQueue
from slackwater.engine.price import items_of, price
from slackwater.model.detector import CASE_NOW, Detector, Limits
from slackwater.model.estimates import Alternative, Answer, AnyEstimate, Estimate, InputError, Inputs, Known, Result
from slackwater.model.fleet import Fleet
from slackwater.model.money import Change, Price, ebs_storage
from slackwater.model.quantities import Size
from slackwater.model.resources import InstanceType, Target, Volume
from slackwater.model.units import GIB
from slackwater.model.verdicts import Advice, Flagged, Remedy

TARGET = Target("123456789012", "us-east-1")
VOLUMES = [
    Volume(
        id=id_, arn=f"arn:aws:ec2:us-east-1:123456789012:volume/{id_}", target=TARGET, tags={}, volume_type="gp3",
        size_gib=8, iops=3000, throughput_mib_s=125, state="in-use", created_at=CASE_NOW - timedelta(days=90),
        availability_zone="us-east-1a", multi_attach=False,
    )
    for id_ in ("vol-1", "vol-2")
]  # fmt: skip
TYPE = InstanceType(
    id="a1.large", vcpus=2, hypervisor="nitro", network_baseline_gbps=1, network_peak_gbps=1, network_cards=1,
    ebs_baseline_mbps=1, ebs_maximum_mbps=1, ebs_baseline_iops=1, ebs_maximum_iops=1, source="a test",
)  # fmt: skip
GP2 = ebs_storage("gp2")


class Asked(Inputs):
    """An instance type and a size."""

    instance_type: str
    size: Size


def work(inputs: Asked, known: Known) -> Answer[Result]:
    """Return three alternatives: a volume twice as large, the same instance type, and one with unknown costs."""
    this = known.instance_type(inputs.instance_type, "instance_type")
    gib = Decimal(int(inputs.size / GIB))
    if not gib:
        raise InputError("size", "too small")
    assert known.price(GP2) is None
    return Answer(
        summary="",
        result=Result(),
        assumptions=(),
        sources=(),
        alternatives=(
            Alternative(id="larger", summary=f"twice {gib:f} GiB", solves=True, changes=(Change(GP2, -gib),)),
            Alternative(id="another", summary=f"{this.id} in {known.region}", solves=False, changes=()),
            Alternative(id="unknown", summary="nobody knows", solves=True, changes=None),
        ),
    )


def advice(action: str, changes: tuple[Change, ...] | None = ()) -> Advice:
    return Advice(action=action, summary=action, changes=changes, risk="none", reversible=True)


def advise(one: Alternative) -> Advice | None:
    """Return advice only for an alternative that solves the issue."""
    return advice(f"{one.id}: {one.summary}", one.changes) if one.solves else None


type Judged = Callable[..., EvaluationQueue]


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Judged:
    """Return a function that evaluates two volumes. The first one's finding has these remedies."""
    made_up: AnyEstimate = Estimate(title="", inputs=Asked, result=Result, work=work)
    monkeypatch.setattr(remedies, "estimates", lambda: {"made-up": made_up})

    def judge(*named: Remedy) -> EvaluationQueue:
        def verdict(volume: Volume, *_: object) -> Flagged:
            own = named if volume.id == "vol-1" else ()
            return Flagged(
                summary="slow",
                confidence="high",
                evidence=(),
                advice=(advice("own"),),
                fingerprint_inputs=(),
                remedies=own,
            )

        detector = Detector(title="", kind="performance", resource=Volume, limits=Limits, judge=verdict, cases=())
        queue = EvaluationQueue(Fleet([*VOLUMES, TYPE]), [Enabled("ebs-test", detector, Limits())], CASE_NOW)
        assert queue.next_call(idle=True) is None
        return queue

    return judge


def remedy(kind: str = "made-up", **inputs: object) -> Remedy:
    return Remedy(kind=kind, inputs={"instance_type": "a1.large", "size": "8GiB"} | inputs, advise=advise)


def test_what_an_estimate_advises_comes_after_the_detectors_own_in_its_order(judged: Judged) -> None:
    both = judged(remedy(), remedy(size="100GiB"))
    assert [[one.action for one in flagged.verdict.advice] for flagged in both.flagged] == [
        ["own", "larger: twice 8 GiB", "unknown: nobody knows", "larger: twice 100 GiB", "unknown: nobody knows"],
        ["own"],
    ]
    assert [flagged.verdict.remedies for flagged in both.flagged] == [(), ()]


def test_it_is_priced_with_all_other_advice(judged: Judged) -> None:
    (flagged, _) = judged(remedy(size="100GiB")).flagged
    assert items_of([flagged]) == {GP2}
    finding = price(flagged, {GP2: Price(Decimal("0.10"), "a test", date(2026, 9, 1))})
    assert [one.monthly_savings_usd for one in finding.recommendations] == [0, Decimal("-10.00"), None]
    assert [basis.item for basis in finding.price_basis] == [GP2]


def test_it_has_the_instance_types_and_the_region_of_the_resource(judged: Judged) -> None:
    everything = replace(remedy(), advise=lambda one: advice(one.summary))
    (flagged, _) = judged(everything).flagged
    assert flagged.verdict.advice[2].action == "a1.large in us-east-1"


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (remedy("made-op"), "KeyError: 'made-op'"),
        (remedy(size="0B"), "InputError: size: too small"),
        (remedy(instance_type="a1.huge"), "InputError: instance_type: no instance type 'a1.huge'"),
        (remedy(size="8"), "a size needs a unit"),
        (remedy(colour="red"), "Extra inputs are not permitted"),
        (replace(remedy(), advise=lambda _: 1 / 0), "ZeroDivisionError"),  # type: ignore[arg-type, return-value]
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_remedy_that_cannot_be_is_a_mistake_of_ours_and_costs_no_finding(
    judged: Judged, broken: Remedy, why: str
) -> None:
    queue = judged(remedy(), broken)
    ((what, reason, optional),) = queue.failures
    assert (what, optional) == ("detector:ebs-test", False)
    assert reason.startswith("a mistake of ours, please report it: its advice: ")
    assert why in reason
    assert queue.unknown == []
    assert {flagged.resource.id: [one.action for one in flagged.verdict.advice] for flagged in queue.flagged} == {
        "vol-1": ["own"],
        "vol-2": ["own"],
    }
    assert queue.flagged[0].verdict.remedies == ()
    assert queue.evaluated == queue.questions == 2
