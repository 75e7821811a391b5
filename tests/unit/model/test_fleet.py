"""Relations between a target's records, and records that could not be read."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from slackwater.model.detector import CASE_NOW
from slackwater.model.fleet import (
    Fleet,
    Late,
    RecordNeededError,
    Rest,
    UnreadableRecord,
    UnreadableRecordError,
    is_root,
)
from slackwater.model.resources import Attachment, DiskMetric, EfsLifecycle, Instance, Record, Target, Volume
from slackwater.rules import examples

HERE = Target("123456789012", "us-east-1")
UNATTACHED = Volume(
    id="vol-1", arn="", target=HERE, tags={}, volume_type="gp3", size_gib=8, iops=3000, throughput_mib_s=125,
    state="in-use", created_at=CASE_NOW - timedelta(days=90), availability_zone="us-east-1a", multi_attach=False,
)  # fmt: skip
HOST = Instance(
    id="i-1", arn="", target=HERE, tags={}, instance_type="t3.micro", state="running", launched_at=CASE_NOW,
    stopped_at=None, detailed_monitoring=False, root_device="/dev/xvda",
)  # fmt: skip


@pytest.mark.parametrize(
    ("places", "root"),
    [
        ([("i-1", "/dev/xvda")], True),
        ([("i-1", "/dev/sdf")], False),
        ([("i-1", "/dev/xvda1")], False),
        ([], False),
        ([("i-unknown", "/dev/xvda")], None),
        ([("i-1", "")], None),
        ([("i-unknown", "/dev/sdf"), ("i-1", "/dev/xvda")], True),
        ([("i-unknown", "/dev/sdf"), ("i-1", "/dev/sdf")], None),
    ],
)
def test_a_root_volume_is_attached_as_the_root_device_of_an_instance_that_is_known(
    places: list[tuple[str, str]], root: bool | None
) -> None:
    volume = replace(
        UNATTACHED,
        attachments=tuple(Attachment(instance_id=i, device=device, attached_at=None) for i, device in places),
    )

    assert is_root(volume, Fleet([volume, HOST])) is root


def test_an_instance_that_does_not_say_its_root_device_leaves_it_open() -> None:
    volume = replace(UNATTACHED, attachments=(Attachment(instance_id="i-1", device="/dev/sdf", attached_at=None),))

    assert is_root(volume, Fleet([volume, replace(HOST, root_device="")])) is None


def test_a_fleet_has_the_volumes_of_an_instance() -> None:
    shared = replace(
        UNATTACHED,
        id="vol-2",
        attachments=tuple(Attachment(instance_id=i, device="", attached_at=None) for i in ("i-1", "i-2")),
    )
    fleet = Fleet([HOST, UNATTACHED, shared])

    assert list(fleet.volumes_of("i-1")) == [shared] == list(fleet.volumes_of("i-2"))
    assert not fleet.volumes_of("i-3")


def test_a_fleet_with_another_record_still_awaits_the_rest() -> None:
    fleet = Fleet([UNATTACHED], rest=Rest(frozenset({Instance}), lambda: Late([HOST], {}, []))).with_(
        replace(UNATTACHED, id="vol-2")
    )

    assert fleet.awaited == {Instance}
    with pytest.raises(RecordNeededError):
        fleet.all(Instance)
    assert (fleet.whole().awaited, fleet.whole().all(Instance)) == (frozenset(), [HOST])
    assert [one.id for one in fleet.whole().all(Volume)] == ["vol-1", "vol-2"]


def broken(kind: type[Record], id: str, *owners: str) -> UnreadableRecord:
    return UnreadableRecord(kind, id, "it lacks 'State'", owners)


def test_a_record_that_could_not_be_read_is_not_taken_for_one_that_does_not_exist() -> None:
    fleet = Fleet([UNATTACHED, HOST], broken=[broken(Instance, "i-2")])

    with pytest.raises(UnreadableRecordError, match="ec2-instance i-2 could not be read: it lacks 'State'"):
        fleet.get(Instance, "i-2")
    assert (fleet.get(Instance, "i-1"), fleet.get(Instance, "i-3"), fleet.unreadable) == (HOST, None, {})
    assert is_root(UNATTACHED, fleet) is False
    on_it = replace(UNATTACHED, attachments=(Attachment(instance_id="i-2", device="/dev/sdf", attached_at=None),))
    with pytest.raises(UnreadableRecordError):
        is_root(on_it, fleet)


def test_a_record_that_could_not_be_read_and_is_there_after_all_is_there() -> None:
    assert Fleet([HOST], broken=[broken(Instance, "i-1")]).get(Instance, "i-1") is HOST


@pytest.mark.parametrize(("kind", "of"), [(Volume, Fleet.volumes_of), (DiskMetric, Fleet.disks_of)])
def test_what_belongs_to_an_instance_is_not_known_where_one_of_it_could_not_be_read(
    kind: type[Record], of: Callable[[Fleet, str], object]
) -> None:
    fleet = Fleet([HOST], broken=[broken(kind, "x", "i-1")])

    with pytest.raises(UnreadableRecordError):
        of(fleet, "i-1")
    assert not of(fleet, "i-2")
    with pytest.raises(UnreadableRecordError):  # it may belong to any instance
        of(Fleet([HOST], broken=[UnreadableRecord(kind, "x", "it lacks 'State'", None)]), "i-2")
    assert fleet.broken_of(HOST, {kind}) == broken(kind, "x", "i-1")
    assert fleet.broken_of(HOST, {Instance}) is None


@pytest.mark.parametrize(
    "one", [broken(Volume, ""), UnreadableRecord(Volume, "vol-2", "it is in use, and on nothing", None)]
)
def test_a_record_that_may_be_any_makes_its_kind_partial(one: UnreadableRecord) -> None:
    assert Fleet([UNATTACHED], broken=[one]).unreadable == {Volume: str(one)}
    assert Fleet([UNATTACHED], {Volume: "AccessDenied"}, broken=[one]).unreadable == {Volume: "AccessDenied"}


def test_unreadable_records_stay_with_the_fleet() -> None:
    late = broken(Instance, "i-2")
    rest = Rest(frozenset({Instance}), lambda: Late([HOST], {}, [], [late]))
    fleet = Fleet([UNATTACHED], rest=rest, broken=[broken(Volume, "vol-2")])

    for one in (fleet, fleet.with_(replace(UNATTACHED, id="vol-3")), fleet.mapped(lambda record: record)):
        assert list(one.broken) == [broken(Volume, "vol-2")]
        assert list(one.whole().broken) == [broken(Volume, "vol-2"), late]


def test_what_was_requested_is_not_read_again_with_the_rest() -> None:
    begun: list[list[str]] = []
    rest = Rest(
        frozenset(),
        lambda: Late([], {}, []),
        frozenset({EfsLifecycle}),
        lambda _, fleet: begun.append([one.id for one in fleet.records()]),
    )
    systems = [examples.efs(id=f"fs-{n}") for n in range(3)]
    fleet = Fleet(systems, rest=rest)
    fleet.request(RecordNeededError(EfsLifecycle, "fs-1"), systems[1])

    fleet.whole()
    for again in (fleet, fleet.with_(systems[0]), fleet.mapped(lambda one: one)):
        again.whole()
    assert begun == [["fs-1"], ["fs-0", "fs-2"], [], [], []]
