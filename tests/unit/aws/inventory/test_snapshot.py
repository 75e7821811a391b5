"""Inventory snapshots give the same records in memory and in a file, whole and in chunks."""

import pickle
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from threading import Event
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.aws.inventory import snapshot as snapshot_module
from slackwater.aws.inventory.inventory import READERS, AwsInventory, Reader
from slackwater.aws.inventory.snapshot import KINDS, Earlier, SnapshotError, SnapshotWriter, open_snapshot
from slackwater.model.findings import Gap
from slackwater.model.fleet import Fleet, Late, RecordNeededError, Rest, UnreadableRecord, UnreadableRecordError
from slackwater.model.resources import (
    AgentMetric,
    Attachment,
    AttachmentEvent,
    DiskMetric,
    EfsFileSystem,
    EfsLifecycle,
    EfsMountTarget,
    EfsReplication,
    FsxFileSystem,
    FsxVolume,
    IdleRecommendation,
    Instance,
    InstanceType,
    NfsClients,
    OptimizerEnrollment,
    Record,
    Target,
    Volume,
    VolumeOption,
    VolumeRecommendation,
)
from slackwater.ports.inventory import InventorySnapshot
from support.effort import effort

HERE = Target("123456789012", "eu-west-1")
AT = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)


def of_here(id_: str) -> dict:
    return {"id": id_, "arn": f"arn:aws:x:eu-west-1:123456789012:{id_}", "target": HERE, "tags": {"Name": id_}}


def instance(id_: str, kind: str = "t3.micro") -> Instance:
    return Instance(
        **of_here(id_), instance_type=kind, state="running", launched_at=AT, stopped_at=None, detailed_monitoring=False,
        root_device="/dev/xvda",
    )  # fmt: skip


def volume(id_: str, *on: str) -> Volume:
    return Volume(
        **of_here(id_), volume_type="io2", size_gib=8, iops=3000, throughput_mib_s=None,
        state="in-use" if on else "available", created_at=AT, availability_zone="eu-west-1a", multi_attach=len(on) > 1,
        attachments=tuple(Attachment(instance_id=one, device="/dev/sdf", attached_at=AT) for one in on),
    )  # fmt: skip


def efs(id_: str) -> EfsFileSystem:
    return EfsFileSystem(
        **of_here(id_), state="available", created_at=AT, throughput_mode="elastic", provisioned_mib_s=None,
        performance_mode="generalPurpose", availability_zone=None, stored_bytes={"Standard": 1, "IA": 0, "Archive": 0},
        mount_targets=1, is_replica=False,
    )  # fmt: skip


def fsx(id_: str) -> FsxFileSystem:
    return FsxFileSystem(
        **of_here(id_), file_system_type="OPENZFS", deployment_type="SINGLE_AZ_2", state="AVAILABLE", created_at=AT,
        storage_type="SSD", storage_gib=64, throughput_mb_s=160, iops=None, iops_mode=None,
    )  # fmt: skip


def fsx_volume(id_: str, of: str) -> FsxVolume:
    return FsxVolume(
        **of_here(id_), file_system_id=of, volume_type="OPENZFS", state="AVAILABLE", created_at=AT, path="/fsx",
        nfs_export=(NfsClients(clients="*", options=("rw", "sync")),),
    )  # fmt: skip


def recommendations_of(id_: str) -> list[Record]:
    """Return Compute Optimizer's recommendations for a volume."""
    recommendation = {
        "finding": "Idle",
        "monthly_savings_usd": Decimal("1.20"),
        "look_back_days": 14,
        "refreshed_at": AT,
    }
    option = VolumeOption(volume_type="gp3", size_gib=8, iops=3000, throughput_mib_s=125, performance_risk=0.0)
    return [IdleRecommendation(id=id_, **recommendation), VolumeRecommendation(id=id_, option=option, **recommendation)]


def metric(kind: type[AgentMetric], of: str, path: str = "/") -> AgentMetric:
    dimensions = (("InstanceId", of), ("path", path))
    return kind(id=f"disk/{of}{path}", namespace="CWAgent", name="disk", instance_id=of, dimensions=dimensions)


KIND = InstanceType(
    id="t3.micro", vcpus=2, hypervisor="nitro", network_baseline_gbps=0.064, network_peak_gbps=5.0, network_cards=1,
    ebs_baseline_mbps=87.0, ebs_maximum_mbps=2085.0, ebs_baseline_iops=500, ebs_maximum_iops=11800, source="a test",
)  # fmt: skip
ENROLLED = OptimizerEnrollment(id=HERE.account)
FOR_ALL = [KIND, ENROLLED]
EACH: list[Sequence[Record]] = [
    [instance("i-1"), volume("vol-1", "i-1"), *recommendations_of("vol-1"), metric(AgentMetric, "i-1"),
     metric(DiskMetric, "i-1", "/data")],
    [instance("i-2"), volume("vol-2", "i-2"), volume("vol-3", "i-3", "i-2"), instance("i-3"),
     *recommendations_of("vol-3"), volume("vol-4", "i-3")],
    [volume("vol-5"), AttachmentEvent(id="vol-5", at=AT, instance_id="i-0", event_name="DetachVolume")],
    [
        efs("fs-1"),
        EfsLifecycle(id="fs-1", transition_to_ia="AFTER_30_DAYS", transition_to_archive=None,
                     transition_to_primary=None),
        EfsMountTarget(id="fsmt-1", file_system_id="fs-1", availability_zone="a", subnet_id="subnet-1",
                       state="available"),
        EfsReplication(id="fs-1", role="source", status="ENABLED"),
    ],
    [fsx("fs-9"), fsx_volume("fsvol-1", "fs-9"), fsx_volume("fsvol-2", "fs-9")],
]  # fmt: skip
"""Resource groups."""


def snapshot_of(records: Iterable[Record], most: int) -> InventorySnapshot:
    writer = SnapshotWriter(most)
    for record in records:
        writer.add([record])
    return writer.snapshot({EfsLifecycle: "AccessDenied"}, [Gap(*astuple_of(HERE), "a:B", "AccessDenied")])


def astuple_of(target: Target) -> tuple[str, str]:
    return target.account, target.region


def records(fleet: Fleet) -> list[Record]:
    return [record for kind in KINDS.values() for record in fleet.all(kind)]


def keys(some: Iterable[Record]) -> list[tuple[str, str]]:
    return sorted((record.KIND, record.id) for record in some)


def test_few_records_are_one_part_in_memory() -> None:
    with snapshot_of([*FOR_ALL, *EACH[1]], 10) as snapshot:
        assert (snapshot.parts, snapshot.file) == (1, None)
        assert keys(records(snapshot.fleet(1))) == keys([*FOR_ALL, *EACH[1]])
        assert snapshot.resources == {"ebs-volume": 3, "ec2-instance": 2}
        with pytest.raises(ValueError, match="no chunk 2"):
            snapshot.fleet(2)


def test_every_kind_that_is_read_has_a_resource_group() -> None:
    assert {type(record) for record in [*FOR_ALL, *(one for each in EACH for one in each)]} == set(READERS)


@pytest.mark.parametrize("most", [1, 2, 5, 9])
def test_a_resource_group_is_in_one_chunk_and_shared_records_are_in_each(most: int) -> None:
    everything = [*FOR_ALL, *(one for each in EACH for one in each)]
    with snapshot_of(reversed(everything), most) as snapshot:
        parts = [snapshot.fleet(part) for part in range(1, snapshot.parts + 1)]
        assert snapshot.parts > 1
        for each in EACH:
            (home,) = [part for part in parts if part.get(type(each[0]), each[0].id)]
            assert set(keys(each)) <= set(keys(records(home)))
        seen = Counter(key for part in parts for key in keys(records(part)))
        assert seen == Counter(keys(everything)) + Counter(keys(FOR_ALL) * (snapshot.parts - 1))
        assert all(part.get(InstanceType, "t3.micro") == KIND for part in parts)
        assert snapshot.resources == {
            "ebs-volume": 5, "ec2-instance": 3, "efs-file-system": 1, "fsx-file-system": 1, "fsx-volume": 2
        }  # fmt: skip
        for part in (0, snapshot.parts + 1):
            with pytest.raises(ValueError, match="no part"):
                snapshot.fleet(part)


def test_records_come_back_as_they_went() -> None:
    everything = [*FOR_ALL, *(one for each in EACH for one in each)]
    with snapshot_of(everything, 3) as snapshot:
        back = [record for part in range(1, snapshot.parts + 1) for record in records(snapshot.fleet(part))]

    assert all(record in back for record in everything)


@settings(max_examples=effort(60, 20), deadline=None)
@given(st.data())
def test_what_hangs_together_stays_together_and_parts_are_about_even(data: st.DataObject) -> None:
    hosts = [f"i-{n}" for n in range(data.draw(st.integers(1, 12)))]
    some = st.lists(st.sampled_from([*hosts, "i-gone"]), unique=True, max_size=3)
    volumes = [volume(f"vol-{n}", *on) for n, on in enumerate(data.draw(st.lists(some, max_size=30)))]
    recommendation = [one for each in volumes for one in recommendations_of(each.id)]
    everything = data.draw(
        st.permutations([*map(instance, hosts), *volumes, *recommendation, *(metric(DiskMetric, one) for one in hosts)])
    )
    most = data.draw(st.integers(1, 20))
    with snapshot_of([*FOR_ALL, *everything], most) as snapshot:
        parts = [snapshot.fleet(part) for part in range(1, snapshot.parts + 1)]
        whole = Fleet(everything)
        largest = 0
        for part in parts:
            for one in part.all(Instance):
                assert [*part.volumes_of(one.id)] == [v for v in whole.all(Volume) if v in whole.volumes_of(one.id)]
                assert [*part.disks_of(one.id)] == [*whole.disks_of(one.id)]
            for one in part.all(Volume):
                assert all(
                    (whole.get(Instance, a.instance_id) is None) == (part.get(Instance, a.instance_id) is None)
                    for a in one.attachments
                )
                assert part.get(IdleRecommendation, one.id)
                assert part.get(VolumeRecommendation, one.id)
            largest = max(largest, *map(len, resource_groups(part)))
        assert snapshot.parts <= max(1, -(-len(everything) // most))
        own = [len(records(part)) - len(FOR_ALL) for part in parts]
        assert sum(own) == len(everything)
        assert snapshot.parts == 1 or all(0 < count < most + largest for count in own)  # fmt: skip


def resource_groups(fleet: Fleet) -> list[set[str]]:
    """Return the resource groups, found in another way than in the snapshot's code.

    A group has the ids of all connected instances and volumes, and an id for each of their other records.
    """
    found: list[set[str]] = [set()]
    for one in [*fleet.all(Instance), *fleet.all(Volume)]:
        ids = (
            {one.id, f"disk of {one.id}"}
            if isinstance(one, Instance)
            else {one.id, f"{one.id} idle", f"{one.id} option"}
        )
        ids |= {a.instance_id for a in one.attachments} if isinstance(one, Volume) else set()
        joined = [each for each in found if each & ids]
        found = [each for each in found if not each & ids] + [ids.union(*joined)]
    return found


def test_another_process_continues_with_the_file_which_is_kept() -> None:
    everything = [*FOR_ALL, *(one for each in EACH for one in each)]
    with snapshot_of(everything, 5) as snapshot:
        assert snapshot.file is not None
        with open_snapshot(snapshot.file) as same:
            assert (same.parts, same.resources, same.gaps) == (snapshot.parts, snapshot.resources, snapshot.gaps)
            assert same.gaps == [Gap(*astuple_of(HERE), "a:B", "AccessDenied")]
            for part in range(1, snapshot.parts + 1):
                assert records(same.fleet(part)) == records(snapshot.fleet(part))
                assert same.fleet(part).unreadable == {EfsLifecycle: "AccessDenied"}
        assert snapshot.file.exists()
    assert not snapshot.file.parent.exists()


@pytest.mark.parametrize("most", [1, 99])
def test_an_unreadable_record_is_reported_in_every_chunk(most: int) -> None:
    writer = SnapshotWriter(most)
    writer.add([instance("i-1"), instance("i-2")])
    broken = [
        UnreadableRecord(Volume, "vol-9", "it lacks 'Size'", ("i-1",)),
        UnreadableRecord(Instance, "i-9", "odd", None),
    ]
    late = UnreadableRecord(AttachmentEvent, "vol-1", "it lacks 'EventTime'")
    rest = Rest(frozenset({AttachmentEvent}), lambda: Late([], {}, [], [late]))
    with writer.snapshot({}, [], rest, broken=broken) as snapshot:
        for part in range(1, snapshot.parts + 1):
            assert [*snapshot.fleet(part).whole().broken] == [*broken, late]


def test_a_kind_that_could_not_be_read_is_unreadable_in_memory_too() -> None:
    assert snapshot_of(EACH[0], 99).fleet(1).unreadable == {EfsLifecycle: "AccessDenied"}


@pytest.mark.parametrize("most", [1, 99])
def test_a_record_that_comes_again_takes_the_place_of_the_first(most: int) -> None:
    moved = replace(instance("i-1"), state="stopped")
    with snapshot_of([instance("i-1"), instance("i-2"), moved], most) as snapshot:
        found = [one for part in range(1, snapshot.parts + 1) for one in snapshot.fleet(part).all(Instance)]

    assert sorted((one.id, one.state) for one in found) == [("i-1", "stopped"), ("i-2", "running")]


def test_what_was_read_before_can_be_gone_through_from_memory_and_from_the_file() -> None:
    writer = SnapshotWriter(20)
    earlier = writer.earlier({Volume: "denied"})
    few, many = [instance(f"i-{n}") for n in range(9)], [instance(f"i-{n}") for n in range(1_200)]
    writer.add(few)
    assert list(earlier.all(Instance)) == few
    assert earlier.get(Instance, "i-8") == few[8]
    writer.add(many[9:])

    assert list(earlier.all(Instance)) == many
    assert list(earlier.all(Instance)) == many  # it can be read again
    assert earlier.get(Instance, "i-1199") == many[-1]
    assert earlier.get(Instance, "i-1200") is None
    assert list(earlier.all(Volume)) == []
    assert earlier.unreadable == {Volume: "denied"}
    writer.close()


def test_a_snapshot_keeps_no_record_in_memory_once_it_has_a_file() -> None:
    writer = SnapshotWriter(2)
    writer.add([instance("i-1"), instance("i-2")])
    assert writer._by_kind
    writer.add([instance("i-3")])
    assert not writer._by_kind
    assert not isinstance(writer.all(Instance), list)
    writer.close()


def test_a_full_disk_is_reported_and_nothing_is_lost_silently() -> None:
    writer = SnapshotWriter(1)
    writer.add([instance("i-1"), instance("i-2")])
    assert writer._file is not None
    writer._file._db.execute("PRAGMA max_page_count = 20")
    with pytest.raises(SnapshotError, match=r"cannot be kept in .*full"):
        writer.add([instance(f"i-{n}") for n in range(3, 2_000)])
    writer.close()


def test_a_file_that_is_no_snapshot_or_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database at all, but long enough to be one" * 20)
    for name in ("text", "none"):
        with pytest.raises(SnapshotError, match=name):
            open_snapshot(tmp_path / name)
    with snapshot_of(EACH[1], 2) as snapshot:
        assert snapshot.file is not None
        db = sqlite3.connect(snapshot.file)
        db.execute("UPDATE notes SET value = '\"0\"' WHERE name = 'records'")
        db.commit()
        db.close()
        with pytest.raises(SnapshotError, match="another version"):
            open_snapshot(snapshot.file)


def test_a_field_of_another_type_makes_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_module, "_records_version", snapshot_module._records_version.__wrapped__)  # no cache
    with snapshot_of(EACH[1], 2) as snapshot:
        assert snapshot.file is not None
        with open_snapshot(snapshot.file) as same:
            assert same.parts == snapshot.parts
        monkeypatch.setattr(fields(Attachment)[0], "type", "bytes")
        with pytest.raises(SnapshotError, match="another version"):
            open_snapshot(snapshot.file)


class Evil:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple:
        return Path.touch, (self.mark,)


def test_nothing_but_records_is_brought_to_life(tmp_path: Path) -> None:
    for planted in (Evil(tmp_path / "mark"), {"a": 1}):
        with snapshot_of(EACH[1], 2) as snapshot:
            assert snapshot.file is not None
            db = sqlite3.connect(snapshot.file)
            db.execute("UPDATE records SET record = ?", (pickle.dumps(planted),))
            db.commit()
            db.close()
            with pytest.raises(SnapshotError, match=r"no part of a record|no record"):
                snapshot.fleet(1)
    assert not (tmp_path / "mark").exists()


# -- Slow kinds of records


def test_no_reader_needs_what_is_slow() -> None:
    slow = {kind for kind, reader in READERS.items() if reader.slow}
    assert slow
    assert not slow & {kind for reader in READERS.values() for kind in (*reader.after, *reader.hinted_by)}


@pytest.mark.parametrize("part_records", [100, 1])
def test_only_chunks_that_need_slow_records_wait_for_them(part_records: int) -> None:
    go_on, left = Event(), AttachmentEvent(id="vol-1", at=AT, instance_id="i-1", event_name="DetachVolume")

    def events(*_: object) -> Iterator[AttachmentEvent]:
        assert go_on.wait(60)
        yield left
        raise PermissionError("denied half-way")

    readers = {
        Volume: Reader("ec2:DescribeVolumes", lambda *_: iter([volume("vol-1"), volume("vol-2")])),
        AttachmentEvent: Reader("cloudtrail:LookupEvents", events, after=(Volume,), slow=True),
    }
    if part_records == 1:  # a snapshot in chunks waits for slow records, so they must not be blocked
        go_on.set()
    session: Any = None
    with AwsInventory(session, readers, part_records).snapshot(HERE, {Volume}, {AttachmentEvent}) as snapshot:
        fleets = [snapshot.fleet(part) for part in range(1, snapshot.parts + 1)]
        known = sum(isinstance(one, AttachmentEvent) for fleet in fleets for one in fleet.records())
        awaited = frozenset[type[Record]]().union(*(fleet.awaited for fleet in fleets))
        assert (len(fleets), known, awaited) == ((2, 1, set()) if part_records == 1 else (1, 0, {AttachmentEvent}))
        go_on.set()
        wholes = [fleet.whole() for fleet in fleets]
        assert [one for whole in wholes for one in whole.all(AttachmentEvent)] == [left]
        assert all("denied half-way" in whole.unreadable[AttachmentEvent] and not whole.awaited for whole in wholes)
        assert [(gap.what, gap.optional) for gap in snapshot.gaps] == [("cloudtrail:LookupEvents", True)]


@pytest.mark.parametrize("part_records", [100, 1])
@pytest.mark.parametrize("reopened", [False, True])
def test_a_kind_on_demand_is_read_only_for_what_is_requested_in_each_chunk(part_records: int, reopened: bool) -> None:
    asked, ids = list[str](), ("fs-1", "fs-2", "fs-odd", "fs-3")

    def lifecycles(_session: object, _target: object, before: Earlier) -> Iterator[EfsLifecycle | UnreadableRecord]:
        for one in before.all(EfsFileSystem):
            asked.append(one.id)
            odd = UnreadableRecord(EfsLifecycle, one.id, "odd")
            yield odd if one.id == "fs-odd" else replace(LIFECYCLE, id=one.id)

    inventory = AwsInventory(cast("Any", None), on_demand(lifecycles, *ids), part_records)
    with inventory.snapshot(HERE, {EfsLifecycle}, set()) as listed, ExitStack() as stack:
        snapshot = listed
        if reopened and listed.file:
            snapshot = stack.enter_context(inventory.open(HERE, {EfsLifecycle}, set(), listed.file))
        for part in range(1, snapshot.parts + 1):
            fleet = snapshot.fleet(part)
            for id_ in {one.id for one in fleet.all(EfsFileSystem)} - {"fs-3"}:
                request(fleet, id_)
                request(fleet, id_)
            after = fleet.caught_up()
            for one in after.all(EfsFileSystem):
                if one.id == "fs-odd":
                    with pytest.raises(UnreadableRecordError, match="fs-odd could not be read: odd"):
                        after.get(EfsLifecycle, one.id)
                elif one.id == "fs-3":
                    with pytest.raises(RecordNeededError):
                        after.get(EfsLifecycle, one.id)
                else:
                    assert after.get(EfsLifecycle, one.id) == replace(LIFECYCLE, id=one.id)
        assert (snapshot.parts, sorted(asked)) == (4 if part_records == 1 else 1, ["fs-1", "fs-2", "fs-odd"])
        assert [gap.reason for gap in snapshot.gaps] == ["fs-odd: odd"]
        whole = [one for part in range(1, snapshot.parts + 1) for one in snapshot.fleet(part).whole().records()]
        assert {one.id for one in whole if isinstance(one, EfsLifecycle)} == {"fs-1", "fs-2", "fs-3"}


def test_after_a_failed_call_a_kind_on_demand_is_not_read_any_more() -> None:
    asked = list[str]()

    def lifecycles(_session: object, _target: object, before: Earlier) -> Iterator[EfsLifecycle]:
        asked.extend(one.id for one in before.all(EfsFileSystem))
        raise PermissionError("denied")

    inventory = AwsInventory(cast("Any", None), on_demand(lifecycles, "fs-1", "fs-2"))
    with inventory.snapshot(HERE, {EfsFileSystem}, {EfsLifecycle}) as snapshot:
        fleet = snapshot.fleet(1)
        for id_ in ("fs-1", "fs-2"):
            request(fleet, id_)
            assert "denied" in fleet.caught_up().unreadable[EfsLifecycle]
        assert fleet.whole().unreadable == fleet.caught_up().unreadable
        assert [(gap.what, gap.optional) for gap in snapshot.gaps] == [("efs:Lifecycle", True)]
    assert asked == ["fs-1"]


LIFECYCLE = next(one for one in EACH[3] if isinstance(one, EfsLifecycle))


def on_demand(lifecycles: Any, *ids: str) -> dict[type[Record], Reader]:
    return {
        EfsFileSystem: Reader("efs:List", lambda *_: map(efs, ids)),
        EfsLifecycle: Reader("efs:Lifecycle", lifecycles, after=(EfsFileSystem,), on_demand=True),
    }


def request(fleet: Fleet, id_: str) -> None:
    """Request a lifecycle, as the evaluation does."""
    resource = fleet.get(EfsFileSystem, id_)
    assert resource is not None
    with pytest.raises(RecordNeededError) as needed:
        fleet.get(EfsLifecycle, id_)
    fleet.request(needed.value, resource)
