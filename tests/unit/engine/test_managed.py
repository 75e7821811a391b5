"""The resources that the policy declares as managed, and the findings that name their manager."""

from dataclasses import replace

from slackwater.engine.managed import naming_the_manager, with_managers
from slackwater.engine.registry import registry
from slackwater.model.fleet import Fleet, Late, Rest
from slackwater.model.resources import AttachmentEvent, EfsFileSystem, Volume
from slackwater.model.verdicts import Advice, Flagged

(VOLUME,) = {
    case.resource.id: case.resource for case in registry()["ebs-unattached"].cases if case.resource.tags
}.values()
TERRAFORM = "the program that its tag terraform names"
TAGGED = replace(VOLUME, id="vol-1", tags={"terraform": "yes"})
EVENT = AttachmentEvent(id="vol-1", at=VOLUME.created_at, instance_id=None, event_name="DetachVolume")


def test_only_what_carries_the_tag_is_changed() -> None:
    other = replace(VOLUME, id="vol-2")
    group = replace(TAGGED, id="vol-3", tags={"terraform": "yes", "aws:autoscaling:groupName": "web"})
    fleet = with_managers(Fleet([TAGGED, other, group, EVENT], {EfsFileSystem: "denied"}), ["terraform"])

    assert fleet.all(Volume) == [replace(TAGGED, manager=TERRAFORM), other, group]
    assert fleet.all(AttachmentEvent) == [EVENT]
    assert fleet.unreadable == {EfsFileSystem: "denied"}
    assert [one.managed_by for one in fleet.all(Volume)] == [TERRAFORM, None, "Auto Scaling group web"]


def test_what_ec2_says_of_the_operator_stays() -> None:
    fleet = with_managers(Fleet([replace(TAGGED, manager="eks.amazonaws.com")]), ["terraform"])

    assert [one.managed_by for one in fleet.all(Volume)] == ["eks.amazonaws.com"]


def test_without_such_tags_the_fleet_is_the_same() -> None:
    fleet = Fleet([TAGGED])

    assert with_managers(fleet, []) is fleet


def test_kinds_that_are_still_being_read_stay_so() -> None:
    rest = Rest(frozenset({AttachmentEvent}), lambda: Late([EVENT], {AttachmentEvent: "slow"}, ()))
    fleet = with_managers(Fleet([TAGGED], rest=rest), ["terraform"])

    assert fleet.awaited == {AttachmentEvent}
    assert fleet.whole().all(Volume) == [replace(TAGGED, manager=TERRAFORM)]
    assert fleet.whole().all(AttachmentEvent) == [EVENT]
    assert fleet.whole().unreadable == {AttachmentEvent: "slow"}


def flagged(**changes: object) -> Flagged:
    advice = Advice(action="stop", summary="Stop it.", changes=None, risk="", reversible=True)
    plain = Flagged(summary="x", confidence="high", evidence=(), advice=(advice,), fingerprint_inputs=())
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_a_finding_about_a_managed_resource_names_its_manager_once() -> None:
    managed = replace(VOLUME, manager="eks.amazonaws.com")
    verdict = flagged(caveats=("It is managed by eks.amazonaws.com: change it there, or it is made again.",))
    advised = flagged(advice=(replace(flagged().advice[0], summary="Take it out of eks.amazonaws.com."),))

    assert naming_the_manager(flagged(caveats=("First.",)), managed).caveats == (
        "First.",
        "It is managed by eks.amazonaws.com: change it there.",
    )
    assert naming_the_manager(verdict, managed) == verdict
    assert naming_the_manager(advised, managed) == advised
    assert naming_the_manager(flagged(), VOLUME) == flagged()
