"""If use begins in the moment before a deletion, the resource stays and its sub-resources are restored."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pytest

from slackwater.model.cleanup import CLEANUP_TAG
from slackwater_simulator.resources import MountTarget
from support.cleanup_world import APPROVER, DELETED, World, world

NEW: Final = "fsmt-0123456789abcdef0"
"""The id of the mount target that a person adds."""

type Race = Callable[[World, str], None]

DELETES: Final = {
    "ebs": ("ec2:DeleteVolume",),
    "efs": (
        "elasticfilesystem:DeleteAccessPoint",
        "elasticfilesystem:DeleteMountTarget",
        "elasticfilesystem:DeleteFileSystem",
    ),
    "efs-orphaned": ("elasticfilesystem:DeleteAccessPoint", "elasticfilesystem:DeleteFileSystem"),
    "efs-abandoned": ("elasticfilesystem:DeleteMountTarget", "elasticfilesystem:DeleteFileSystem"),
    "openzfs": ("fsx:DeleteFileSystem",),
}


def attached(there: World, id_: str) -> None:
    there.account.attach(id_, there.account.fleet.instances[0].id)


def kept(there: World, id_: str) -> None:
    there.account.tag(id_, "keep", "")


def used(there: World, id_: str) -> None:
    there.account.use(id_)


def mounted(there: World, id_: str) -> None:
    system = there.account.find(id_)
    target = MountTarget(id=NEW, az=f"{system.region}b")
    there.account.put(replace(system, mount_targets=(*system.mount_targets, target)))


def child_kept(there: World, id_: str) -> None:
    there.account.tag(children(there, id_)[-1], "keep", "")


def child_made(there: World, id_: str) -> None:
    volume = there.account.find(children(there, id_)[0])
    there.account.put(replace(volume, id="fsvol-0123456789abcdef0", name="new", path="/fsx/new"))


def children(there: World, id_: str) -> list[str]:
    """Return the ids of a resource's sub-resources that can have tags."""
    fleet = there.account.fleet
    points = [point.id for system in fleet.efs if system.id == id_ for point in system.points]
    return points + [one.id for one in fleet.fsx_volumes if one.file_system_id == id_]


def replaced(there: World, id_: str) -> None:
    marked = there.account.find(id_).tags[CLEANUP_TAG]
    there.account.replace(id_)
    there.account.tag(id_, CLEANUP_TAG, marked)  # only its creation date shows that it is another resource


def vetoed(there: World, id_: str) -> None:
    there.account.untag(id_, "slackwater:marked")


def taken_over(there: World, id_: str) -> None:
    there.account.tag(id_, "kubernetes.io/cluster/shop", "owned")


def operated(there: World, id_: str) -> None:
    there.account.put(replace(there.account.find(id_), operator="eks.amazonaws.com"))


def taken_over_as_the_policy_says(there: World, id_: str) -> None:
    there.account.tag(id_, "ManagedBy", "terraform")
    owners = there.policy.owners.model_copy(update={"managed_tags": ["ManagedBy=terraform"]})
    there.change_policy(replace(there.policy, owners=owners))


def child_taken_over(there: World, id_: str) -> None:
    there.account.tag(children(there, id_)[-1], "efs.csi.aws.com/cluster", "true")


def stopped(there: World, _: str) -> None:
    there.stop()


TRIED: Final[tuple[tuple[str, Race], ...]] = (
    ("ebs", attached), ("ebs", kept), ("ebs", taken_over_as_the_policy_says), ("ebs", operated),
    ("efs", used), ("efs", child_kept), ("efs", child_taken_over),
    ("efs-orphaned", mounted), ("efs-orphaned", stopped),
    ("efs-abandoned", vetoed),
    ("openzfs", replaced), ("openzfs", child_made), ("openzfs", taken_over),
)  # fmt: skip
"""Each kind and each race at least once. The explorer tries the others too, before every call."""


def test_each_kind_is_tried() -> None:
    assert {kind for kind, _ in TRIED} == {*DELETED}


def shape(there: World, id_: str) -> dict[str, Any]:
    """Return a resource's sub-resources without their ids."""
    fleet = there.account.fleet
    for system in fleet.efs:
        if system.id == id_:
            zones = sorted(one.az for one in system.mount_targets if one.id != NEW)
            return {"zones": zones, "points": len(system.points)}
    names = sorted(one.name for one in fleet.fsx_volumes if one.file_system_id == id_)
    return {"volumes": [name for name in names if name != "new"]}


@pytest.mark.parametrize(("kind", "race"), TRIED)
def test_it_stays_if_anything_changes_right_before(kind: str, race: Race) -> None:
    with world(kind) as there:
        id_ = there.finding(kind).sighting.resource.id
        before = shape(there, id_)
        delete = there.functions["DeleteFunction"]
        functions = dict(there.functions)

        def first(payload: Any) -> Any:
            functions["DeleteFunction"] = delete
            race(there, id_)
            return delete(payload)

        functions["DeleteFunction"] = first
        there.functions = functions
        execution = there.cleaned(kind)
        assert execution.status == "SUCCEEDED"
        assert not any(action in there.simulator.calls for action in DELETES[kind])
        stays(there, kind, id_, before)
        assert there.cleanup(kind).stage == "called-off"


@pytest.mark.parametrize(
    ("kind", "race", "earlier"),
    [
        (kind, race, earlier)
        for kind, race in TRIED
        # Children are deleted before anything else.
        for earlier in DELETES[kind][
            : 1 if race in {child_kept, child_made, child_taken_over} and len(DELETES[kind]) > 1 else -1
        ]
    ],
)
def test_it_stays_if_anything_changes_between_two_parts(kind: str, race: Race, earlier: str) -> None:
    with world(kind) as there:
        id_ = there.finding(kind).sighting.resource.id
        before = shape(there, id_)
        done: list[str] = []

        def once(action: str) -> None:
            done.append(action)
            if action == earlier and done.count(earlier) == 1:
                race(there, id_)

        for action in DELETES[kind]:
            there.simulator.before(action, partial(once, action))
        execution = there.cleaned(kind)
        assert done[-1] == earlier, f"asked for after it: {done}"
        assert done.count(earlier) == 1
        if race is replaced:  # nothing is restored to another resource
            assert execution.error == "NotPutBack"
            assert there.finding(kind).status == "failed"
            assert "not restored" in there.cleanup(kind).why
            assert there.account.exists(id_)
            return
        assert execution.status == "SUCCEEDED", (execution.error, execution.cause, there.cleanup(kind).why)
        stays(there, kind, id_, before)


def stays(there: World, kind: str, id_: str, before: dict[str, Any]) -> None:
    """Check that the resource and its sub-resources are there, and that the ledger has the reason for cancelling."""
    assert there.account.exists(id_)
    assert shape(there, id_) == before
    assert there.finding(kind).status == "open"
    entry = next(one for one in there.findings.ledger(there.finding(kind).id) if one.happening == "called-off")
    assert entry.why
    assert "cleaned" not in there.ledger_events(kind)


@pytest.mark.parametrize("kind", ["ebs"])
def test_ec2_itself_refuses_a_volume_that_is_attached_after_the_last_check(kind: str) -> None:
    with world(kind) as there:
        id_ = there.finding(kind).sighting.resource.id
        there.simulator.before("ec2:DeleteVolume", lambda: attached(there, id_))
        execution = there.cleaned(kind)
        assert there.account.exists(id_)
        assert execution.status in {"FAILED", "SUCCEEDED"}
        assert there.finding(kind).status != "resolved"


def test_an_older_second_answer_does_not_hide_a_veto() -> None:
    with world("ebs") as there:
        id_, delete = there.finding("ebs").sighting.resource.id, there.functions["DeleteFunction"]
        looks = list[str]()

        def look() -> None:
            looks.append("")
            if len(looks) == 2:  # all later answers are as old as this one
                there.simulator.faults.lagging("ec2:DescribeVolumes")

        def deleting(payload: Any) -> Any:
            kept(there, id_)
            there.simulator.before("ec2:DescribeVolumes", look)
            return delete(payload)

        there.functions = {**there.functions, "DeleteFunction": deleting}
        there.cleaned("ebs")
        assert len(looks) >= 1
        assert "ec2:DeleteVolume" not in there.simulator.calls
        assert there.account.exists(id_)
        assert there.cleanup("ebs").stage == "called-off"


def kept_until(there: World, id_: str) -> None:
    there.account.tag(id_, "keep-until", "2099-01-01")


def one_stopped(there: World, _: str) -> None:
    there.people.stop(there.finding("ebs").id, who=APPROVER, now=there.now())


def disallowed(there: World, _: str) -> None:
    there.change_policy(replace(there.policy, cleanup=there.policy.cleanup.model_copy(update={"regions": []})))


@pytest.mark.parametrize("race", [kept_until, stopped, one_stopped, disallowed])
def test_who_objects_while_the_last_check_runs_is_heard(race: Race) -> None:
    with world("ebs") as there:
        id_, delete = there.finding("ebs").sighting.resource.id, there.functions["DeleteFunction"]
        raced = list[str]()

        def once() -> None:
            if not raced:
                raced.append(id_)
                race(there, id_)

        def deleting(payload: Any) -> Any:
            there.simulator.before("cloudtrail:LookupEvents", once)
            return delete(payload)

        there.functions = {**there.functions, "DeleteFunction": deleting}
        there.cleaned("ebs")
        assert raced
        assert "ec2:DeleteVolume" not in there.simulator.calls
        assert there.account.exists(id_)
        assert there.cleanup("ebs").stage == "called-off"
