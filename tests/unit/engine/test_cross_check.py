"""Compute Optimizer's statement in a finding: it is text, never money, and only about the current state."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from slackwater.engine.cross_check import cross_check, recommendation_kinds
from slackwater.engine.evaluation import Enabled, FlaggedResource
from slackwater.engine.price import price
from slackwater.model.detector import CASE_NOW, Detector, Limits
from slackwater.model.fleet import Fleet
from slackwater.model.resources import (
    Attachment,
    AttachmentEvent,
    EfsFileSystem,
    IdleRecommendation,
    Instance,
    OptimizerRecommendation,
    Record,
    Resource,
    Target,
    Volume,
    VolumeOption,
    VolumeRecommendation,
)
from slackwater.model.verdicts import Evidence, FindingKind, Fine, Flagged

TARGET = Target("123456789012", "us-east-1")
UNATTACHED = Volume(
    id="vol-1", arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-1", target=TARGET, tags={}, volume_type="gp3",
    size_gib=100, iops=3_000, throughput_mib_s=500, state="available", created_at=CASE_NOW - timedelta(days=90),
    availability_zone="us-east-1a", multi_attach=False,
)  # fmt: skip
ATTACHED = replace(
    UNATTACHED,
    state="in-use",
    attachments=(Attachment(instance_id="i-1", device="/dev/sdf", attached_at=CASE_NOW - timedelta(days=20)),),
)
INSTANCE = Instance(
    id="i-1", arn="arn:aws:ec2:us-east-1:123456789012:instance/i-1", target=TARGET, tags={}, instance_type="t3.micro",
    state="running", launched_at=CASE_NOW - timedelta(days=20), stopped_at=None, detailed_monitoring=False,
    root_device="/dev/xvda",
)  # fmt: skip
OPTION = VolumeOption(volume_type="gp3", size_gib=100, iops=3_000, throughput_mib_s=125, performance_risk=1)
SAVES = VolumeRecommendation(
    id="vol-1", finding="NotOptimized", monthly_savings_usd=Decimal("3.20"), look_back_days=14.0,
    refreshed_at=CASE_NOW - timedelta(days=1), option=OPTION,
)  # fmt: skip
OPTIMIZED = replace(SAVES, finding="Optimized", monthly_savings_usd=None, option=None)
IDLE = IdleRecommendation(
    id="vol-1", finding="Idle", monthly_savings_usd=Decimal("1234.5"), look_back_days=14.0,
    refreshed_at=CASE_NOW - timedelta(days=1),
)  # fmt: skip
BEFORE = Evidence(label="size", value=100, unit="GiB")


def flagged(resource: Resource, kind: FindingKind = "waste") -> FlaggedResource:
    declared = Detector(
        title="", kind=kind, resource=type(resource), limits=Limits, judge=lambda *_: Fine(""), cases=()
    )
    verdict = Flagged(
        summary="s", confidence="high", evidence=(BEFORE,), advice=(), fingerprint_inputs=("gp3",), caveats=("one",)
    )
    return FlaggedResource(Enabled("ebs-test", declared, Limits()), resource, verdict)


def heard(resource: Resource, *records: Record, kind: FindingKind = "waste") -> Flagged:
    return cross_check(flagged(resource, kind), Fleet(records), CASE_NOW).verdict


def says(resource: Resource, *records: Record) -> str | None:
    """Return the added evidence; None if there is none."""
    first, *more = heard(resource, *records).evidence
    assert first == BEFORE
    assert [fact.label for fact in more] == ["Compute Optimizer"] * len(more)
    assert len(more) <= 1
    return str(more[0].value) if more else None


HOW = "with gp3, 100 GiB, 3,000 IOPS, 125 MiB/s, performance risk 1 of 4"


@pytest.mark.parametrize(
    ("resource", "recommendation", "words"),
    [
        (ATTACHED, SAVES, f"agrees: NotOptimized (14 days to 2026-11-15), saves 3.20 USD a month {HOW}"),
        (ATTACHED, replace(SAVES, option=None), "agrees: NotOptimized (14 days to 2026-11-15), saves 3.20 USD a month"),
        # Compute Optimizer proposes a newer type for an optimized volume.
        (ATTACHED, replace(SAVES, finding="Optimized"),
         f"agrees: Optimized (14 days to 2026-11-15), saves 3.20 USD a month {HOW}"),
        (ATTACHED, OPTIMIZED, "does not see it: Optimized (14 days to 2026-11-15)"),
        (
            ATTACHED,
            replace(SAVES, monthly_savings_usd=Decimal(0)),
            "does not see it: NotOptimized (14 days to 2026-11-15), but would change it without saving anything",
        ),
        (ATTACHED, IDLE, "agrees: Idle (14 days to 2026-11-15), saves 1,234.50 USD a month"),
        (INSTANCE, replace(IDLE, id="i-1", monthly_savings_usd=None), "agrees: Idle (14 days to 2026-11-15)"),
        (
            UNATTACHED,
            replace(IDLE, finding="Unattached", look_back_days=32.0),
            "agrees: Unattached (32 days to 2026-11-15), saves 1,234.50 USD a month",
        ),
    ],
)  # fmt: skip
def test_it_agrees_or_does_not_see_it_in_its_own_words(
    resource: Resource, recommendation: OptimizerRecommendation, words: str
) -> None:
    assert says(resource, recommendation) == words


@pytest.mark.parametrize(
    ("resource", "recommendation"),
    [
        pytest.param(ATTACHED, replace(SAVES, id="vol-2"), id="of another volume"),
        pytest.param(ATTACHED, replace(SAVES, monthly_savings_usd=None), id="not optimized, too slow or too dear"),
        pytest.param(ATTACHED, replace(IDLE, finding="Unattached"), id="attached since"),
        pytest.param(UNATTACHED, IDLE, id="detached since"),
        pytest.param(UNATTACHED, SAVES, id="how a volume on no instance is configured"),
        pytest.param(UNATTACHED, OPTIMIZED, id="that it was well configured once"),
        pytest.param(UNATTACHED, replace(IDLE, finding="Unused"), id="a word of other resources"),
    ],
)
def test_a_recommendation_for_another_state_of_the_resource_is_ignored(
    resource: Resource, recommendation: OptimizerRecommendation
) -> None:
    assert says(resource, recommendation) is None


@pytest.mark.parametrize(("days", "counts"), [(29, True), (31, False)])
def test_a_recommendation_lasts_thirty_days(days: int, counts: bool) -> None:
    recommendation = replace(IDLE, finding="Unattached", refreshed_at=CASE_NOW - timedelta(days=days))

    assert (says(UNATTACHED, recommendation) is not None) == counts


@pytest.mark.parametrize("resource", [ATTACHED, INSTANCE])
@pytest.mark.parametrize(("days", "counts"), [(19, True), (21, False)])
def test_a_recommendation_from_before_the_attachment_or_the_start_does_not_count(
    resource: Resource, days: int, counts: bool
) -> None:
    recommendation = replace(IDLE, id=resource.id, refreshed_at=CASE_NOW - timedelta(days=days))

    assert (says(resource, recommendation) is not None) == counts


@pytest.mark.parametrize(("days", "counts"), [(2, True), (0.5, False)])
def test_a_recommendation_from_before_the_last_detachment_does_not_count(days: float, counts: bool) -> None:
    event = AttachmentEvent(
        id="vol-1", at=CASE_NOW - timedelta(days=days), instance_id="i-1", event_name="DetachVolume"
    )

    assert (says(UNATTACHED, event, replace(IDLE, finding="Unattached")) is not None) == counts


def test_an_instance_that_was_stopped_since_is_not_judged_by_what_it_did_before() -> None:
    stopped = replace(INSTANCE, state="stopped", stopped_at=CASE_NOW - timedelta(hours=1))

    assert says(stopped, replace(IDLE, id="i-1")) is None


def test_that_it_idles_is_heard_before_how_it_is_configured() -> None:
    assert "agrees: Idle" in (says(ATTACHED, OPTIMIZED, IDLE) or "")


def test_an_old_view_of_idling_leaves_the_word_to_the_newer_one_of_the_configuration() -> None:
    old = replace(IDLE, refreshed_at=CASE_NOW - timedelta(days=40))

    assert "Optimized" in (says(ATTACHED, OPTIMIZED, old) or "")


def test_only_disagreement_is_a_caveat() -> None:
    assert heard(ATTACHED, SAVES).caveats == ("one",)
    assert heard(ATTACHED, OPTIMIZED).caveats == (
        "one", "AWS Compute Optimizer does not see this waste: Optimized (14 days to 2026-11-15). Find out why first.",
    )  # fmt: skip


@pytest.mark.parametrize("recommendation", [SAVES, OPTIMIZED, IDLE])
def test_a_finding_keeps_its_confidence_its_fingerprint_its_severity_and_its_saving(
    recommendation: OptimizerRecommendation,
) -> None:
    alone = price(flagged(ATTACHED), {})
    found = price(cross_check(flagged(ATTACHED), Fleet([recommendation]), CASE_NOW), {})

    assert found.evidence != alone.evidence
    assert replace(found, evidence=alone.evidence, caveats=alone.caveats) == alone


def test_only_waste_on_volumes_and_instances_is_compared() -> None:
    file_system = EfsFileSystem(
        id="vol-1", arn="", target=TARGET, tags={}, state="available", created_at=CASE_NOW, throughput_mode="elastic",
        provisioned_mib_s=None, performance_mode="generalPurpose", availability_zone=None, stored_bytes={},
        mount_targets=0, is_replica=False,
    )  # fmt: skip

    assert recommendation_kinds(flagged(ATTACHED).enabled.detector) == (IdleRecommendation, VolumeRecommendation)
    assert recommendation_kinds(flagged(INSTANCE).enabled.detector) == (IdleRecommendation,)
    assert recommendation_kinds(flagged(file_system).enabled.detector) == ()
    assert recommendation_kinds(flagged(ATTACHED, "performance").enabled.detector) == ()
    assert heard(ATTACHED, SAVES, kind="performance").evidence == (BEFORE,)
    assert heard(file_system, IDLE).evidence == (BEFORE,)
