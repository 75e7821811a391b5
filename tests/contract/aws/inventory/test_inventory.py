"""An account's inventory is read completely, or the access errors are reported."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from botocore.loaders import Loader

from slackwater.aws.client.identity import identity
from slackwater.aws.inventory import cloudtrail as inventory_cloudtrail
from slackwater.aws.inventory import cloudwatch as inventory_cloudwatch
from slackwater.aws.inventory import ec2 as inventory_ec2
from slackwater.aws.inventory import efs as inventory_efs
from slackwater.aws.inventory.inventory import ACTIONS, READERS, AwsInventory
from slackwater.engine.registry import registry
from slackwater.model import resources as kinds
from slackwater.model.fleet import Fleet as Read
from slackwater.model.policy import Policy
from slackwater.model.resources import Target
from slackwater.wiring.scan import audit
from slackwater_simulator import (
    Attachment,
    Disk,
    ElasticFileSystem,
    Export,
    Fleet,
    Flow,
    FsxFileSystem,
    FsxVolume,
    IdleRecommendation,
    Instance,
    MountTarget,
    Replication,
    Shapes,
    TrailEvent,
    Volume,
    VolumeRecommendation,
    demo_fleet,
    given,
    instant,
)

NOW = instant("2026-11-16T09:07:00Z")
DAY = 86_400
ZONE, REGION = "ap-northeast-1a", "ap-northeast-1"


def volumes(count, **options):
    return [Volume(id=f"vol-{n:05}", az=ZONE, created=NOW - 90 * DAY, size_gib=10, **options) for n in range(count)]


def instances(count, type_="t3.micro", **options):
    return [Instance(id=f"i-{n:05}", type=type_, az=ZONE, launched=NOW - 30 * DAY, **options) for n in range(count)]


def file_systems(count, **options):
    return [ElasticFileSystem(id=f"fs-{n:05}", region=REGION, created=NOW - 40 * DAY, **options) for n in range(count)]


def zfs(**options):
    return FsxFileSystem(
        **{
            "id": "fs-zfs",
            "region": REGION,
            "created": NOW - 50 * DAY,
            "kind": "OPENZFS",
            "deployment": "MULTI_AZ_1",
            "storage_gib": 64,
            "throughput": 160,
            **options,
        }
    )


EVERYTHING = Fleet(
    now=NOW,
    volumes=volumes(1),
    instances=instances(1),
    efs=file_systems(1),
    fsx=[zfs()],
    fsx_volumes=[
        FsxVolume(id="fsvol-1", file_system_id="fs-zfs", region=REGION, created=NOW - 50 * DAY, name="content")
    ],
)


def test_thousands_are_read_in_the_largest_pages_there_are(simulate):
    fleet = Fleet(now=NOW, volumes=volumes(2_001), instances=instances(1_001), efs=file_systems(201))
    account = simulate(fleet)
    found, gaps = account.read({kinds.Volume, kinds.Instance, kinds.EfsFileSystem})
    assert [len(found.all(k)) for k in (kinds.Volume, kinds.Instance, kinds.EfsFileSystem)] == [2_001, 1_001, 201]
    assert gaps == []
    assert account.sim.calls == {
        "ec2:DescribeInstances": 2,
        "ec2:DescribeVolumes": 3,
        "elasticfilesystem:DescribeFileSystems": 3,
    }


def test_only_what_is_asked_for_is_read(simulate):
    account = simulate(EVERYTHING)
    account.read({kinds.FsxVolume})
    assert account.sim.calls == {"fsx:DescribeVolumes": 1}


def test_a_kind_brings_along_what_it_builds_on(simulate):
    account = simulate(EVERYTHING)
    found, _ = account.read({kinds.InstanceType})
    assert account.sim.calls == {"ec2:DescribeInstanceTypes": 1, "ec2:DescribeInstances": 1}
    assert len(found.all(kinds.Instance)) == 1


def test_an_empty_account_is_empty_and_asks_nothing_twice(simulate):
    account = simulate(Fleet(now=NOW))
    found, gaps = account.read(set(READERS))
    assert gaps == []
    assert found.unreadable == {}
    assert not any(found.all(kind) for kind in READERS)
    assert set(account.sim.calls) == {
        "ec2:DescribeInstances",
        "ec2:DescribeVolumes",
        "elasticfilesystem:DescribeFileSystems",
        "fsx:DescribeFileSystems",
    }


def test_ec2_says_which_service_manages_a_volume_and_an_instance(simulate):
    eks = {"operator": "eks.amazonaws.com"}
    other = [replace(one, id=f"{one.id}-2") for one in (*volumes(1), *instances(1))]
    account = simulate(
        Fleet(now=NOW, volumes=[*volumes(1, **eks), other[0]], instances=[*instances(1, **eks), other[1]])
    )
    found, _ = account.read({kinds.Volume, kinds.Instance})
    for kind in (kinds.Volume, kinds.Instance):
        assert [one.managed_by for one in found.all(kind)] == ["eks.amazonaws.com", None]


@pytest.mark.parametrize(("kind", "asked"), [("OPENZFS", 1), ("ONTAP", 1), ("WINDOWS", 0), ("LUSTRE", 0)])
def test_fsx_is_asked_for_volumes_only_where_a_file_system_has_some(simulate, kind, asked):
    account = simulate(Fleet(now=NOW, fsx=[zfs(kind=kind)]))
    account.read({kinds.FsxVolume}, {kinds.FsxFileSystem})
    assert account.sim.calls.get("fsx:DescribeVolumes", 0) == asked


def test_fsx_is_asked_for_volumes_where_its_file_systems_could_not_be_listed(simulate, impatient):
    account = simulate(EVERYTHING)
    account.sim.faults.deny("fsx:DescribeFileSystems")
    _, (gap,) = account.read({kinds.FsxVolume}, {kinds.FsxFileSystem})
    assert (gap.what, gap.optional) == ("fsx:DescribeFileSystems", True)
    assert account.sim.calls["fsx:DescribeVolumes"] == 1


FIRST_CALLS = {reader.action: kind for kind, reader in READERS.items() if not reader.after}


@pytest.mark.parametrize("action", FIRST_CALLS)
def test_a_denied_call_is_a_gap_and_holds_nothing_else_back(simulate, action):
    account = simulate(EVERYTHING)
    account.sim.faults.deny(action)
    found, (gap,) = account.read(set(FIRST_CALLS.values()))
    assert (gap.what, gap.optional, gap.account, gap.region) == (action, False, "123456789012", REGION)
    assert action in gap.reason
    assert found.unreadable == {FIRST_CALLS[action]: gap.reason}
    assert all(found.all(kind) for kind in FIRST_CALLS.values() if kind is not FIRST_CALLS[action])


def test_the_gap_of_an_optional_kind_is_optional(simulate):
    account = simulate(EVERYTHING)
    account.sim.faults.deny("cloudtrail:LookupEvents")
    found, (gap,) = account.read({kinds.Volume}, {kinds.AttachmentEvent})
    assert gap.optional
    assert kinds.AttachmentEvent in found.unreadable


def test_what_only_an_optional_kind_builds_on_is_optional_too(simulate):
    account = simulate(EVERYTHING)
    account.sim.faults.deny("ec2:DescribeInstances")
    _, gaps = account.read({kinds.Volume}, {kinds.AgentMetric})
    assert [(gap.what, gap.optional) for gap in gaps] == [("ec2:DescribeInstances", True)]


@pytest.mark.parametrize("action", FIRST_CALLS)
def test_a_truncated_answer_is_a_gap_and_not_an_empty_account(simulate, impatient, action):
    account = simulate(EVERYTHING)
    account.sim.faults.truncate(action)
    _, (gap,) = account.read({FIRST_CALLS[action]})
    assert (gap.what, gap.optional) == (action, False)


@pytest.mark.parametrize("action", FIRST_CALLS)
def test_a_call_throttled_to_the_end_is_a_gap_and_not_an_empty_account(simulate, impatient, action):
    account = simulate(EVERYTHING)
    account.sim.faults.throttle(action, per_second=0, burst=0)
    _, (gap,) = account.read({FIRST_CALLS[action]})
    assert "xceeded" in gap.reason


@pytest.mark.parametrize("action", FIRST_CALLS)
def test_a_connection_that_drops_once_is_tried_again(simulate, action):
    account = simulate(EVERYTHING)
    account.sim.faults.drop(action, times=1)
    found, gaps = account.read({FIRST_CALLS[action]})
    assert gaps == []
    assert found.all(FIRST_CALLS[action])


def test_what_was_read_before_a_failure_is_kept(simulate, impatient, monkeypatch):
    account = simulate(Fleet(now=NOW, efs=file_systems(150)))
    whole = inventory_efs.pages

    def second_page_denied(call, key, **parameters):
        for count, item in enumerate(whole(call, key, **parameters)):
            if count == 99:
                account.sim.faults.deny("elasticfilesystem:DescribeFileSystems")
            yield item

    monkeypatch.setattr(inventory_efs, "pages", second_page_denied)
    found, (gap,) = account.read({kinds.EfsFileSystem})
    assert len(found.all(kinds.EfsFileSystem)) == 100
    assert gap.what == "elasticfilesystem:DescribeFileSystems"
    assert kinds.EfsFileSystem in found.unreadable


def test_terminated_instances_are_left_out(simulate):
    fleet = Fleet(
        now=NOW,
        instances=[
            *instances(1),
            Instance(id="i-gone", type="t3.micro", az=ZONE, launched=NOW - DAY, state="terminated"),
        ],
    )
    found, _ = simulate(fleet).read({kinds.Instance})
    assert [i.id for i in found.all(kinds.Instance)] == ["i-00000"]


def test_a_stopped_instance_says_since_when(simulate):
    fleet = Fleet(now=NOW, instances=instances(1, state="stopped", stopped=NOW - 5 * DAY))
    (instance,) = simulate(fleet).read({kinds.Instance})[0].all(kinds.Instance)
    assert instance.state == "stopped"
    assert instance.stopped_at == datetime(2026, 11, 11, 9, 7, tzinfo=UTC)


def test_a_spot_instance_differs_from_an_on_demand_one(simulate):
    spot = Instance(id="i-spot", type="t3.micro", az=ZONE, launched=NOW - DAY, spot=True)
    found, _ = simulate(Fleet(now=NOW, instances=[*instances(1), spot])).read({kinds.Instance})
    assert {one.id: one.lifecycle for one in found.all(kinds.Instance)} == {"i-00000": None, "i-spot": "spot"}


def test_a_volume_is_read_with_all_that_detectors_ask_of_it(simulate):
    attached = (Attachment(instance_id="i-00000", since=NOW - DAY),)
    bought = volumes(1, throughput=500, iops=4_000, tags={"Name": "data & more"}, attachments=attached)
    fleet = Fleet(now=NOW, instances=instances(1), volumes=bought)
    (volume,) = simulate(fleet).read({kinds.Volume})[0].all(kinds.Volume)
    assert volume.arn == f"arn:aws:ec2:{REGION}:123456789012:volume/vol-00000"
    assert (volume.volume_type, volume.size_gib, volume.iops, volume.throughput_mib_s) == ("gp3", 10, 4_000, 500)
    assert (volume.state, volume.name, volume.resource_group) == ("in-use", "data & more", "i-00000")
    assert volume.attachments[0].attached_at == datetime(2026, 11, 15, 9, 7, tzinfo=UTC)


def test_arns_name_the_partition(simulate):
    account = simulate(EVERYTHING)
    found, _ = AwsInventory(account.session).read(Target("123456789012", REGION, "aws-cn"), {kinds.Volume}, set())
    assert found.all(kinds.Volume)[0].arn.startswith("arn:aws-cn:ec2:")


def test_an_efs_file_system_is_read_by_storage_class(simulate):
    fleet = Fleet(
        now=NOW,
        efs=file_systems(
            1, standard_bytes=3 << 30, ia_bytes=2 << 30, one_zone=ZONE, replica=True, tags={"Job": "encode"}
        ),
    )
    (system,) = simulate(fleet).read({kinds.EfsFileSystem})[0].all(kinds.EfsFileSystem)
    assert system.stored_bytes == {"Standard": 3 << 30, "IA": 2 << 30, "Archive": 0}
    assert (system.is_replica, system.availability_zone) == (True, ZONE)
    assert system.tags["Job"] == "encode"


def test_both_sides_of_a_replication_are_known_from_one_call(simulate):
    link = Replication(
        source_id="fs-00000",
        source_region=REGION,
        destination_id="fs-00001",
        destination_region=REGION,
        created=NOW - DAY,
    )
    account = simulate(Fleet(now=NOW, efs=file_systems(2), replications=[link]))
    found, _ = account.read({kinds.EfsReplication})
    assert {r.id: r.role for r in found.all(kinds.EfsReplication)} == {"fs-00000": "source", "fs-00001": "destination"}
    assert account.sim.calls["elasticfilesystem:DescribeReplicationConfigurations"] == 1


def test_no_replication_is_none_even_where_efs_calls_it_not_found(simulate):
    account = simulate(Fleet(now=NOW, efs=file_systems(1)))
    account.sim.faults.error("elasticfilesystem:DescribeReplicationConfigurations", "ReplicationNotFound", 404)
    found, gaps = account.read({kinds.EfsReplication})
    assert (found.all(kinds.EfsReplication), gaps) == ([], [])


def large(name="fs-large", gib=100, **options):
    return ElasticFileSystem(id=name, region=REGION, created=NOW - 40 * DAY, standard_bytes=gib << 30, **options)


POLICIES = (
    ("TransitionToIA", "AFTER_30_DAYS"),
    ("TransitionToArchive", "AFTER_90_DAYS"),
    ("TransitionToPrimaryStorageClass", "AFTER_1_ACCESS"),
)


def test_lifecycle_policies_are_asked_only_where_much_is_in_standard(simulate):
    cold = large("fs-cold", gib=99, ia_bytes=500 << 30)
    account = simulate(Fleet(now=NOW, efs=[large(lifecycle=POLICIES), large("fs-none"), cold, *file_systems(5)]))
    found, gaps = account.read({kinds.EfsFileSystem}, {kinds.EfsLifecycle})
    read = {one.id: one for one in found.all(kinds.EfsLifecycle)}
    assert gaps == []
    assert read["fs-large"] == kinds.EfsLifecycle(
        id="fs-large",
        transition_to_ia="AFTER_30_DAYS",
        transition_to_archive="AFTER_90_DAYS",
        transition_to_primary="AFTER_1_ACCESS",
    )
    assert read["fs-none"] == kinds.EfsLifecycle(
        id="fs-none", transition_to_ia=None, transition_to_archive=None, transition_to_primary=None
    )
    assert account.sim.calls["elasticfilesystem:DescribeLifecycleConfiguration"] == len(read) == 2


def test_a_mount_target_is_asked_only_where_a_regional_file_system_has_just_one(simulate):
    one, other = MountTarget(id="fsmt-1", az=ZONE), MountTarget(id="fsmt-2", az="ap-northeast-1c")
    systems = [
        large("fs-single", mount_targets=(one,)),
        large("fs-two", mount_targets=(one, other)),
        large("fs-zonal", mount_targets=(one,), one_zone=ZONE),
        *file_systems(3),
    ]
    account = simulate(Fleet(now=NOW, efs=systems))
    found, gaps = account.read({kinds.EfsFileSystem}, {kinds.EfsMountTarget})
    (target,) = found.all(kinds.EfsMountTarget)
    assert gaps == []
    assert (target.id, target.file_system_id, target.availability_zone) == ("fsmt-1", "fs-single", ZONE)
    assert (target.subnet_id.partition("-")[0], target.state) == ("subnet", "available")
    assert account.sim.calls["elasticfilesystem:DescribeMountTargets"] == 1


ONE_BY_ONE = {
    kinds.EfsLifecycle: "elasticfilesystem:DescribeLifecycleConfiguration",
    kinds.EfsMountTarget: "elasticfilesystem:DescribeMountTargets",
}


@pytest.mark.parametrize(("kind", "action"), ONE_BY_ONE.items())
def test_a_file_system_deleted_since_it_was_listed_is_no_gap_and_has_no_record(simulate, kind, action):
    systems = [large(name, mount_targets=(MountTarget(id=f"fsmt-{name}", az=ZONE),)) for name in ("fs-gone", "fs-here")]
    account = simulate(Fleet(now=NOW, efs=systems))
    account.sim.faults.error(action, "FileSystemNotFound", 404, times=1)
    found, gaps = account.read(set(), {kind})
    assert (len(found.all(kind)), gaps) == (1, [])
    assert account.sim.calls[action] == 2


@pytest.mark.parametrize(("kind", "action"), ONE_BY_ONE.items())
def test_what_efs_answers_one_by_one_may_be_denied_or_break_off(simulate, impatient, kind, action):
    account = simulate(Fleet(now=NOW, efs=[large(mount_targets=(MountTarget(id="fsmt-1", az=ZONE),))]))
    account.sim.faults.truncate(action)
    _, (gap,) = account.read({kinds.EfsFileSystem}, {kind})
    assert (gap.what, gap.optional) == (action, True)
    account.sim.faults.deny(action)
    found, (gap,) = account.read({kinds.EfsFileSystem}, {kind})
    assert (gap.what, gap.optional) == (action, True)
    assert kind in found.unreadable


def test_a_mount_target_may_come_without_a_zone_or_be_on_its_way_out():
    answers = [
        {"MountTargetId": "fsmt-1", "FileSystemId": "fs-1", "SubnetId": "subnet-1", "LifeCycleState": "available"},
        {"MountTargetId": "fsmt-2", "FileSystemId": "fs-1", "SubnetId": "subnet-1", "LifeCycleState": "deleting"},
    ]
    found = {"FileSystemId": "fs-1", "FileSystemArn": "arn", "LifeCycleState": "available", "NumberOfMountTargets": 1}
    shape = {"SizeInBytes": {"Value": 1}, "CreationTime": datetime(2026, 1, 1, tzinfo=UTC), "ThroughputMode": "elastic"}
    target = Target("123456789012", REGION)
    system = inventory_efs._file_system({**found, **shape, "PerformanceMode": "generalPurpose", "Tags": []}, target)
    session = SimpleNamespace(
        client=lambda *_: SimpleNamespace(describe_mount_targets=lambda **_: {"MountTargets": answers})
    )
    (read,) = inventory_efs.mount_targets(session, target, Read([system]))
    assert (read.id, read.availability_zone) == ("fsmt-1", None)


def test_what_is_read_is_in_the_shapes_that_efs_answers():
    service = Loader().load_service_model("efs", "service-2")
    shapes = {name: set(service["shapes"][name]["members"]) for name in ("LifecyclePolicy", "MountTargetDescription")}
    assert shapes["LifecyclePolicy"] == {name for name, _ in POLICIES}
    wanted = {"MountTargetId", "FileSystemId", "SubnetId", "LifeCycleState", "AvailabilityZoneName"}
    assert wanted <= shapes["MountTargetDescription"]
    listing = service["shapes"]["DescribeMountTargetsRequest"]["members"]
    assert {"MaxItems", "Marker", "FileSystemId"} <= set(listing)


def test_a_scan_asks_file_system_by_file_system_only_where_the_answer_counts(simulate):
    one, other = MountTarget(id="fsmt-1", az=ZONE), MountTarget(id="fsmt-2", az="ap-northeast-1c")
    systems = [large(mount_targets=(one,)), large("fs-small", gib=1, mount_targets=(one, other))]
    account = simulate(Fleet(now=NOW, instances=instances(2), efs=systems))
    limits = {id_: detector.limits() for id_, detector in registry().items()}
    audit(
        account.session,
        account.meter,
        registry=registry(),
        policy=Policy(limits=limits),
        cache_dir=None,
        progress=lambda *_: None,
    ).run([account.target], datetime.fromtimestamp(NOW, UTC))
    assert account.sim.calls["elasticfilesystem:DescribeFileSystems"] == 1
    assert [account.sim.calls[action] for action in ONE_BY_ONE.values()] == [1, 1]
    assert account.sim.calls["cloudwatch:ListMetrics"] == len(
        inventory_cloudwatch.ALLOWANCES + inventory_cloudwatch.DISKS
    )


def test_an_export_is_read_with_every_client_entry(simulate):
    exports = (Export("10.0.0.0/16", ("rw", "crossmnt")), Export("*", ("ro", "async")))
    volume = FsxVolume(
        id="fsvol-1",
        file_system_id="fs-zfs",
        region=REGION,
        created=NOW - DAY,
        name="content",
        exports=exports,
        path="/fsx/content",
    )
    found, _ = simulate(Fleet(now=NOW, fsx=[zfs()], fsx_volumes=[volume])).read({kinds.FsxVolume, kinds.FsxFileSystem})
    read = found.get(kinds.FsxVolume, "fsvol-1")
    assert [(c.clients, c.options, c.is_sync) for c in read.nfs_export] == [
        ("10.0.0.0/16", ("rw", "crossmnt"), True),
        ("*", ("ro", "async"), False),
    ]
    assert (read.path, read.file_system_id) == ("/fsx/content", "fs-zfs")
    system = found.get(kinds.FsxFileSystem, "fs-zfs")
    assert (system.deployment_type, system.throughput_mb_s, system.storage_gib) == ("MULTI_AZ_1", 160, 64)
    assert (system.automatic_backup_days, system.root_volume_id) == (7, "fsvol-zfs")
    assert read.ontap_volume_type is None


@pytest.mark.parametrize("kind", ["OPENZFS", "ONTAP", "WINDOWS", "LUSTRE"])
def test_backups_are_read_of_every_type_and_a_root_volume_where_there_is_one(simulate, kind):
    account = simulate(Fleet(now=NOW, fsx=[zfs(kind=kind, backup_days=0)]))
    (system,) = account.read({kinds.FsxFileSystem})[0].all(kinds.FsxFileSystem)
    assert system.automatic_backup_days == 0
    assert (system.root_volume_id is not None) == (kind == "OPENZFS")


@pytest.mark.parametrize("ontap_type", ["RW", "DP", "LS"])
def test_a_volume_of_ontap_says_what_it_is_for(simulate, ontap_type):
    volume = FsxVolume(
        id="fsvol-1",
        file_system_id="fs-1",
        region=REGION,
        created=NOW - DAY,
        name="copy",
        kind="ONTAP",
        ontap_type=ontap_type,
        path="/copy",
    )
    fleet = Fleet(now=NOW, fsx=[zfs(id="fs-1", kind="ONTAP")], fsx_volumes=[volume])
    (read,) = simulate(fleet).read({kinds.FsxVolume})[0].all(kinds.FsxVolume)
    assert (read.ontap_volume_type, read.volume_type, read.path) == (ontap_type, "ONTAP", "/copy")


def test_types_come_from_ec2_and_their_siblings_from_the_dated_snapshot(simulate):
    account = simulate(Fleet(now=NOW, instances=instances(3, "t3.micro")))
    found, _ = account.read({kinds.InstanceType})
    assert found.get(kinds.InstanceType, "t3.micro").source == "ec2:DescribeInstanceTypes"
    assert found.get(kinds.InstanceType, "t3.small").source.startswith("snapshot 20")
    assert found.get(kinds.InstanceType, "m6i.8xlarge").source.startswith("snapshot 20")
    assert found.get(kinds.InstanceType, "r5.large") is None


def test_a_denied_type_is_a_gap_and_the_snapshot_still_helps_those_who_need_no_certainty(simulate):
    account = simulate(Fleet(now=NOW, instances=instances(1)))
    account.sim.faults.deny("ec2:DescribeInstanceTypes")
    found, (gap,) = account.read({kinds.InstanceType})
    assert gap.what == "ec2:DescribeInstanceTypes"
    assert kinds.InstanceType in found.unreadable
    assert found.get(kinds.InstanceType, "t3.micro").source.startswith("snapshot")


def detached(volume_id, days_ago, name="DetachVolume", instance_id="i-00000"):
    request = {"volumeId": volume_id}
    return TrailEvent(
        name=name,
        at=NOW - days_ago * DAY,
        region=REGION,
        user="anna",
        resources=(("AWS::EC2::Volume", volume_id), ("AWS::EC2::Instance", instance_id)),
        request=request,
        response={},
    )


def test_the_last_event_of_a_volume_counts_whichever_it_is(simulate):
    events = [
        *(detached("vol-00000", days) for days in (9, 40)),
        detached("vol-00000", 20, "AttachVolume"),
        detached("vol-00001", 40),
        detached("vol-00001", 5, "AttachVolume"),
        detached("vol-gone", 3),
    ]
    account = simulate(Fleet(now=NOW, volumes=volumes(2), events=events))
    found, gaps = account.read({kinds.Volume}, {kinds.AttachmentEvent})
    assert gaps == []
    assert {d.id: (d.event_name, (NOW - d.at.timestamp()) / DAY) for d in found.all(kinds.AttachmentEvent)} == {
        "vol-00000": ("DetachVolume", 9),
        "vol-00001": ("AttachVolume", 5),
    }
    assert account.sim.calls["cloudtrail:LookupEvents"] == 2


def test_without_an_unattached_volume_cloudtrail_is_not_asked(simulate):
    attached = volumes(3, attachments=(Attachment(instance_id="i-00000", since=NOW - DAY),))
    account = simulate(Fleet(now=NOW, volumes=attached, instances=instances(1)))
    account.read({kinds.Volume}, {kinds.AttachmentEvent})
    assert "cloudtrail:LookupEvents" not in account.sim.calls


def test_a_history_that_is_too_long_is_reported_and_what_was_read_is_kept(simulate, monkeypatch):
    monkeypatch.setattr(inventory_cloudtrail, "MAX_PAGES", 1)
    events = [detached("vol-00000", 1), *[detached(f"vol-x{n}", 2) for n in range(60)]]
    account = simulate(Fleet(now=NOW, volumes=volumes(2), events=events))
    account.sim.faults.unthrottle("cloudtrail:LookupEvents")
    found, (gap,) = account.read({kinds.Volume}, {kinds.AttachmentEvent})
    assert [d.id for d in found.all(kinds.AttachmentEvent)] == ["vol-00000"]
    assert gap.optional
    assert "more than 1 pages of Events" in gap.reason


@pytest.mark.usefixtures("impatient")
def test_when_the_second_kind_of_event_fails_the_first_is_kept(simulate):
    account = simulate(Fleet(now=NOW, volumes=volumes(2), events=[detached("vol-00000", 9)]))
    account.sim.faults.throttle("cloudtrail:LookupEvents", per_second=0.0001, burst=1)
    found, (gap,) = account.read({kinds.Volume}, {kinds.AttachmentEvent})
    assert [event.id for event in found.all(kinds.AttachmentEvent)] == ["vol-00000"]
    assert gap.optional


def test_history_is_read_no_further_back_than_it_can_matter(simulate):
    events = [detached("vol-00000", 1), *[detached(f"vol-x{n}", 2) for n in range(120)]]
    account = simulate(Fleet(now=NOW, volumes=volumes(1), events=events))
    account.sim.faults.unthrottle("cloudtrail:LookupEvents")
    account.read({kinds.Volume}, {kinds.AttachmentEvent})
    assert account.sim.calls["cloudtrail:LookupEvents"] == 2


class Dying:
    """A session in which every resource is being deleted."""

    def client(self, service, region):
        return self

    def describe_volumes(self, **_):
        return {"Volumes": [{"VolumeId": "vol-1", "State": "deleting"}]}

    def describe_instances(self, **_):
        return {"Reservations": [{"Instances": [{"InstanceId": "i-1", "State": {"Name": "shutting-down"}}]}]}

    def describe_file_systems(self, **_):
        return {"FileSystems": [{"FileSystemId": "fs-1", "LifeCycleState": "deleting", "Lifecycle": "DELETING"}]}


@pytest.mark.parametrize("kind", [kinds.Volume, kinds.Instance, kinds.EfsFileSystem, kinds.FsxFileSystem])
def test_what_is_being_deleted_is_left_out(kind):
    assert list(READERS[kind].read(Dying(), Target("123456789012", REGION), Read([]))) == []


class ReplayedTrail:
    """A session whose CloudTrail gives fixed answers."""

    def __init__(self, *events):
        self.events = list(events)

    def client(self, service, region):
        return self

    def lookup_events(self, **parameters):
        asked = parameters["LookupAttributes"][0]["AttributeValue"]
        return {"Events": [event for event in self.events if event["EventName"] == asked]}


def test_a_detachment_that_was_refused_is_none(simulate):
    found, _ = simulate(Fleet(now=NOW, volumes=volumes(1))).read({kinds.Volume})
    at = datetime(2026, 11, 1, tzinfo=UTC)
    record = {"requestParameters": {"volumeId": "vol-00000", "instanceId": "i-1"}}
    worked = {"EventName": "DetachVolume", "EventTime": at, "CloudTrailEvent": json.dumps(record)}
    refused = {**worked, "CloudTrailEvent": json.dumps({**record, "errorCode": "Client.UnauthorizedOperation"})}
    target = Target("123456789012", REGION)
    assert list(inventory_cloudtrail.attachment_events(ReplayedTrail(refused), target, found)) == []
    (one,) = inventory_cloudtrail.attachment_events(ReplayedTrail(worked), target, found)
    assert (one.id, one.instance_id) == ("vol-00000", "i-1")


def test_agent_metrics_come_with_the_dimensions_their_agent_chose(simulate):
    names = ("ethtool_bw_in_allowance_exceeded", "ethtool_bw_out_allowance_exceeded")
    counters = {name: given(Shapes(NOW).shape("steady")) for name in names}
    silent = Instance(id="i-plain", type="t3.small", az=ZONE, launched=NOW - DAY)
    account = simulate(Fleet(now=NOW, instances=[*instances(1, agent="typed", telemetry=counters), silent]))
    found, _ = account.read(set(), {kinds.AgentMetric})
    metrics = found.all(kinds.AgentMetric)
    assert {m.name for m in metrics} == set(names)
    assert {m.instance_id for m in metrics} == {"i-00000"}
    assert dict(metrics[0].dimensions)["InstanceType"] == "t3.micro"


def test_where_no_network_bursts_no_agent_metric_is_listed(simulate):
    account = simulate(Fleet(now=NOW, instances=instances(2, "m6i.8xlarge", agent="plain")))
    account.read(set(), {kinds.AgentMetric})
    assert "cloudwatch:ListMetrics" not in account.sim.calls


def disk_of(volume_id, instance_id, key="VolumeId"):
    disk = Disk(used=Flow(Shapes(NOW).shape("steady"), 20.0), volume_key=key)
    carried = (Attachment(instance_id=instance_id, since=NOW - DAY),)
    return Volume(id=volume_id, az=ZONE, created=NOW - DAY, size_gib=8, attachments=carried, disk=disk)


@pytest.mark.parametrize(("key", "volume_id"), [("VolumeId", "vol-00000"), ("DiskId", "vol-00000"), ("", None)])
def test_how_full_a_file_system_is_comes_with_its_dimensions_and_its_volume_where_the_agent_names_it(
    simulate, key, volume_id
):
    other = Instance(id="i-ended", type="t3.micro", az=ZONE, launched=NOW - DAY, state="terminated")
    carried = [disk_of("vol-00000", "i-00000", key), disk_of("vol-foreign", "i-ended")]
    account = simulate(Fleet(now=NOW, instances=[*instances(1), other], volumes=carried))
    found, gaps = account.read(set(), {kinds.DiskMetric})
    (metric,) = found.all(kinds.DiskMetric)
    assert gaps == []
    assert (metric.namespace, metric.name, metric.instance_id) == ("CWAgent", "disk_used_percent", "i-00000")
    assert (metric.path, metric.volume_id) == ("/data", volume_id)
    assert {"device", "fstype", "path", "InstanceId"} <= dict(metric.dimensions).keys()
    assert account.sim.calls["cloudwatch:ListMetrics"] == 1


def test_where_there_is_no_instance_no_disk_is_listed(simulate):
    account = simulate(Fleet(now=NOW, volumes=volumes(1)))
    account.read(set(), {kinds.DiskMetric})
    assert "cloudwatch:ListMetrics" not in account.sim.calls


def test_two_kinds_of_one_action_are_one_gap(simulate):
    account = simulate(Fleet(now=NOW, instances=instances(1)))
    account.sim.faults.deny("cloudwatch:ListMetrics")
    found, gaps = account.read(set(), {kinds.AgentMetric, kinds.DiskMetric})
    assert [(gap.what, gap.optional) for gap in gaps] == [("cloudwatch:ListMetrics", True)]
    assert {kinds.AgentMetric, kinds.DiskMetric} <= found.unreadable.keys()


def test_a_reader_that_breaks_is_a_gap_too(simulate, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("a bug")
        yield

    monkeypatch.setitem(READERS, kinds.Volume, type(READERS[kinds.Volume])("ec2:DescribeVolumes", broken))
    _, (gap,) = simulate(EVERYTHING).read({kinds.Volume})
    assert "ZeroDivisionError" in gap.reason


def whole_fleet():
    """Return the demo account, and one resource of each kind that it lacks."""
    demo = demo_fleet()
    single = large(mount_targets=(MountTarget(id="fsmt-1", az=ZONE),))
    disk = disk_of("vol-full", demo.instances[0].id)
    judged = VolumeRecommendation(volume_id=disk.id, region=REGION, finding="Optimized", refreshed=NOW - DAY)
    idle = IdleRecommendation(resource_id=demo.instances[0].id, region=REGION, refreshed=NOW - DAY)
    return replace(
        demo,
        efs=[*demo.efs, single],
        volumes=[*demo.volumes, disk],
        enrollment="Active",
        volume_recommendations=[judged],
        idle_recommendations=[idle],
    )


def test_a_whole_inventory_uses_only_the_actions_it_names(simulate):
    account = simulate(whole_fleet())
    found, gaps = account.read(set(READERS))
    assert gaps == []
    assert set(account.meter.api_calls()) == ACTIONS
    assert account.meter.api_calls() == account.sim.calls
    assert all(found.all(kind) for kind in READERS)
    assert isinstance(found, Read)
    assert identity(account.session).account == "123456789012"


def test_an_attachment_that_is_over_is_none():
    volume = {
        "VolumeId": "vol-1", "VolumeType": "gp2", "Size": 8, "State": "available", "AvailabilityZone": "us-east-1a",
        "CreateTime": datetime(2026, 1, 1, tzinfo=UTC), "Attachments": [{"InstanceId": "i-1", "State": "detached"}],
    }  # fmt: skip
    assert inventory_ec2._volume(volume, Target("123456789012", "us-east-1")).attachments == ()
