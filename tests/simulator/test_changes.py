"""How a simulated account changes: by calls, by other people, and as time passes."""

import json
import threading
import urllib.error
import urllib.request
from datetime import UTC, datetime

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from slackwater_simulator import (
    Attachment,
    Clock,
    ElasticFileSystem,
    Fleet,
    FsxFileSystem,
    FsxVolume,
    Instance,
    MountTarget,
    Simulator,
    StorageVirtualMachine,
    Volume,
    instant,
)
from slackwater_simulator.telemetry import Telemetry

NOW = instant("2026-11-16T09:07:00Z")
THEN = NOW - 86_400 * 30
REGION = "ap-northeast-1"
CLEANUP_TAG = [{"Key": "mark", "Value": "1"}]


@pytest.fixture
def fleet():
    return Fleet(
        now=NOW,
        volumes=[
            Volume(id="vol-1", az="ap-northeast-1a", created=THEN, size_gib=8, tags={"Name": "one"}),
            Volume(
                id="vol-2",
                az="ap-northeast-1a",
                created=THEN,
                size_gib=8,
                attachments=(Attachment(instance_id="i-1", since=THEN),),
            ),
        ],
        instances=[Instance(id="i-1", type="m5.large", az="ap-northeast-1a", launched=THEN)],
        efs=[
            ElasticFileSystem(
                id="fs-1",
                region=REGION,
                created=THEN,
                mount_targets=(MountTarget(id="fsmt-00000001", az="ap-northeast-1a"),),
                access_points=1,
            )
        ],
        fsx=[
            FsxFileSystem(
                id="fs-0f",
                region=REGION,
                created=THEN,
                kind="ONTAP",
                deployment="SINGLE_AZ_1",
                storage_gib=1_024,
                throughput=128,
            )
        ],
        fsx_volumes=[
            FsxVolume(id="fsvol-1", file_system_id="fs-0f", region=REGION, created=THEN, name="v", kind="ONTAP")
        ],
        svms=[StorageVirtualMachine(id="svm-1", file_system_id="fs-0f", region=REGION, created=THEN, name="s")],
    )


@pytest.fixture
def simulator(fleet):
    with Simulator(fleet) as running:
        yield running


def _ids(ec2, **arguments):
    return [volume["VolumeId"] for volume in ec2.describe_volumes(**arguments)["Volumes"]]


def _ask(simulator, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{simulator.url}/_simulator/{path}", data)) as answer:
        return json.loads(answer.read())


# --- Time -------------------------------------------------------------------------------------------------------------


def test_time_does_not_pass_until_it_is_advanced(simulator):
    assert simulator.account.now == NOW
    simulator.advance(90.5)
    simulator.advance(10)
    assert simulator.account.now == NOW + 100
    assert simulator.account.fleet.now == NOW
    with pytest.raises(ValueError, match="backwards"):
        simulator.advance(-1)


def test_a_ticking_clock_follows_real_time_at_its_factor():
    real = [1_000.0]
    clock = Clock(speed=60, real=lambda: real[0])
    assert clock.elapsed == 0
    real[0] += 2
    clock.advance(5)
    assert clock.elapsed == 125


def test_due_events_happen_in_order_each_at_its_own_time(simulator):
    done = []

    def first():
        done.append(("first", simulator.account.now))
        simulator.account.after(5, lambda: done.append(("second", simulator.account.now)))

    simulator.account.after(30, lambda: done.append(("last", simulator.account.now)))
    simulator.account.after(10, first)
    simulator.advance(9)
    assert done == []
    simulator.advance(1_000)
    assert done == [("first", NOW + 10), ("second", NOW + 15), ("last", NOW + 30)]
    assert simulator.account.now == NOW + 1_009


def test_what_is_due_by_a_clock_that_ticks_shows_in_the_next_answer(fleet, clients):
    real = [0.0]
    with Simulator(fleet, clock=Clock(speed=1, real=lambda: real[0])) as simulator:
        ec2 = clients(simulator, "ec2")
        ec2.delete_volume(VolumeId="vol-1")
        assert ec2.describe_volumes(VolumeIds=["vol-1"])["Volumes"][0]["State"] == "deleting"
        real[0] = 5.0
        assert _ids(ec2) == ["vol-2"]


# --- States -----------------------------------------------------------------------------------------------------------


def test_a_page_that_was_kept_is_not_shown_after_a_change(simulator, clients):
    ec2, efs, watch = clients(simulator, "ec2"), clients(simulator, "efs"), clients(simulator, "cloudwatch")
    assert "Tags" not in ec2.describe_volumes()["Volumes"][1]
    assert efs.describe_file_systems()["FileSystems"][0]["Tags"] == []
    assert [
        each["MetricName"] for each in watch.list_metrics(Namespace="AWS/EBS")["Metrics"] if _of(each, "vol-1")
    ] == []
    simulator.account.tag("vol-2", "mark", "1")
    simulator.account.tag("fs-1", "mark", "1")
    simulator.account.attach("vol-1", "i-1")
    assert ec2.describe_volumes()["Volumes"][1]["Tags"] == CLEANUP_TAG
    assert efs.describe_file_systems()["FileSystems"][0]["Tags"] == CLEANUP_TAG
    assert [each["MetricName"] for each in watch.list_metrics(Namespace="AWS/EBS")["Metrics"] if _of(each, "vol-1")]


def _of(metric, resource_id):
    return any(each["Value"] == resource_id for each in metric["Dimensions"])


def test_pages_and_metrics_are_kept_for_as_long_as_nothing_changes(simulator, clients):
    ec2 = clients(simulator, "ec2")
    ec2.describe_volumes()
    telemetry, made = simulator.account.telemetry, simulator.account.kept("thing", object)
    ec2.describe_volumes()
    assert simulator.account.telemetry is telemetry
    assert simulator.account.kept("thing", object) is made
    ec2.create_snapshot(VolumeId="vol-1")
    assert simulator.account.telemetry is telemetry
    assert simulator.account.kept("thing", object) is not made
    simulator.account.tag("vol-1", "a", "b")
    assert simulator.account.telemetry is not telemetry
    assert isinstance(simulator.account.telemetry, Telemetry)


def test_the_fleet_that_was_given_stays_as_it_was(simulator, clients, fleet):
    clients(simulator, "ec2").delete_volume(VolumeId="vol-1")
    simulator.advance(60)
    assert [volume.id for volume in fleet.volumes] == ["vol-1", "vol-2"]
    assert [volume.id for volume in simulator.account.fleet.volumes] == ["vol-2"]


def test_what_is_shown_does_not_change(simulator):
    shown = simulator.account.shown()
    simulator.account.tag("vol-1", "mark", "1")
    assert dict(shown.find("vol-1").tags) == {"Name": "one"}
    assert simulator.account.find("vol-1").tags["mark"] == "1"
    with pytest.raises(RuntimeError, match="does not change"):
        shown.tag("vol-1", "mark", "2")


def test_many_may_change_it_at_once(simulator, clients):
    ec2 = clients(simulator, "ec2")
    threads = [
        threading.Thread(target=lambda: [ec2.create_snapshot(VolumeId="vol-1") for _ in range(20)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({backup.id for backup in simulator.account.backups()}) == 80


# --- Other people -----------------------------------------------------------------------------------------------------


def test_a_volume_is_attached_and_detached(simulator, clients):
    ec2 = clients(simulator, "ec2")
    simulator.advance(60)
    simulator.account.attach("vol-1", "i-1")
    volume = ec2.describe_volumes(VolumeIds=["vol-1"])["Volumes"][0]
    assert volume["State"] == "in-use"
    assert volume["Attachments"][0]["InstanceId"] == "i-1"
    assert volume["Attachments"][0]["AttachTime"] == datetime.fromtimestamp(NOW + 60, UTC)
    mapped = ec2.describe_instances()["Reservations"][0]["Instances"][0]["BlockDeviceMappings"]
    assert {each["Ebs"]["VolumeId"] for each in mapped} == {"vol-1", "vol-2"}
    with pytest.raises(ClientError, match="VolumeInUse"):
        ec2.delete_volume(VolumeId="vol-1")
    simulator.account.detach("vol-1")
    assert ec2.describe_volumes(VolumeIds=["vol-1"])["Volumes"][0]["State"] == "available"
    with pytest.raises(KeyError):
        simulator.account.attach("vol-1", "i-none")
    with pytest.raises(KeyError):
        simulator.account.attach("fs-1", "i-1")


def test_tags_come_and_go_on_whatever_carries_them(simulator, clients):
    ec2 = clients(simulator, "ec2")
    snapshot = ec2.create_snapshot(VolumeId="vol-1")["SnapshotId"]
    point = simulator.account.find("fs-1").points[0].id
    for each in ("vol-1", "i-1", "fs-1", point, "fs-0f", "fsvol-1", "svm-1", snapshot):
        simulator.account.tag(each, "keep", "yes")
        simulator.account.tag(each, "later", "no")
        simulator.account.untag(each, "later")
    efs = clients(simulator, "efs")
    assert {"Key": "keep", "Value": "yes"} in efs.list_tags_for_resource(ResourceId=point)["Tags"]
    assert ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"][0]["Tags"] == [{"Key": "keep", "Value": "yes"}]
    assert dict(simulator.account.find("svm-1").tags) == {"keep": "yes"}
    with pytest.raises(KeyError):
        simulator.account.tag("vol-none", "keep", "yes")


IN_USE = [
    ("vol-1", "AWS/EBS", {"VolumeId": "vol-1"}, ("VolumeReadOps", "VolumeWriteBytes")),
    ("vol-2", "AWS/EBS", {"VolumeId": "vol-2"}, ("VolumeReadOps", "VolumeWriteBytes")),
    (
        "fs-1",
        "AWS/EFS",
        {"FileSystemId": "fs-1"},
        ("ClientConnections", "DataReadIOBytes", "MeteredIOBytes", "TotalIOBytes"),
    ),
    ("fs-0f", "AWS/FSx", {"FileSystemId": "fs-0f"}, ("DataReadBytes", "DataWriteOperations")),
    ("fsvol-1", "AWS/FSx", {"FileSystemId": "fs-0f", "VolumeId": "fsvol-1"}, ("DataReadBytes", "MetadataOperations")),
]


@pytest.mark.parametrize(("resource_id", "namespace", "dimensions", "names"), IN_USE, ids=[case[0] for case in IN_USE])
def test_use_shows_in_metrics_from_two_hours_ago_on(simulator, clients, resource_id, namespace, dimensions, names):
    simulator.account.use(resource_id)
    watch = clients(simulator, "cloudwatch")
    for name in names:
        metric = {
            "Namespace": namespace,
            "MetricName": name,
            "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
        }
        listed = watch.list_metrics(**metric)["Metrics"]
        assert metric in listed
        answer = watch.get_metric_data(
            MetricDataQueries=[{"Id": "m", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"}}],
            StartTime=NOW - 4 * 3_600,
            EndTime=NOW,
        )["MetricDataResults"][0]
        busy = [at.timestamp() for at, value in zip(answer["Timestamps"], answer["Values"], strict=True) if value > 0]
        assert (min(busy), max(busy)) == (NOW - 7_200, NOW - 60)
        assert len(busy) == 120


def test_use_takes_the_place_of_what_there_was(simulator, clients):
    simulator.account.use("vol-2")
    metric = {
        "Namespace": "AWS/EBS",
        "MetricName": "VolumeIdleTime",
        "Dimensions": [{"Name": "VolumeId", "Value": "vol-2"}],
    }
    answer = clients(simulator, "cloudwatch").get_metric_data(
        MetricDataQueries=[{"Id": "m", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"}}],
        StartTime=NOW - 7_200 - 120,
        EndTime=NOW - 7_200 + 120,
        ScanBy="TimestampAscending",
    )["MetricDataResults"][0]
    assert answer["Values"] == [60.0, 60.0, 58.0, 58.0]


def _minutes(simulator, clients, name):
    """Return the minutes, counted from the fleet's present, in which an EFS metric was above zero."""
    metric = {"Namespace": "AWS/EFS", "MetricName": name, "Dimensions": [{"Name": "FileSystemId", "Value": "fs-1"}]}
    answer = clients(simulator, "cloudwatch").get_metric_data(
        MetricDataQueries=[{"Id": "m", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"}}],
        StartTime=NOW - 600,
        EndTime=NOW + 86_400,
    )["MetricDataResults"][0]
    found = zip(answer["Timestamps"], answer["Values"], strict=True)
    return sorted((int(at.timestamp()) - NOW) // 60 for at, value in found if value > 0)


@pytest.mark.parametrize(
    ("how", "connected", "wrote"),
    [("client", True, True), ("service", False, True), ("backup", False, False)],
)
def test_work_shows_for_as_long_as_it_takes(simulator, clients, how, connected, wrote):
    simulator.advance(600)
    size, held = simulator.account.find("fs-1").standard_bytes, simulator.account.contents("fs-1")
    simulator.account.work("fs-1", how, 120)
    simulator.advance(600)
    assert _minutes(simulator, clients, "ClientConnections") == ([10, 11] if connected else [])
    assert _minutes(simulator, clients, "DataWriteIOBytes") == ([10, 11] if wrote else [])
    assert _minutes(simulator, clients, "MeteredIOBytes") == [10, 11]
    assert (simulator.account.contents("fs-1") != held) == wrote
    assert simulator.account.find("fs-1").standard_bytes == size


def test_cloudwatch_may_be_late(simulator, clients):
    simulator.account.late.metrics = 600
    simulator.account.work("fs-1", seconds=120)
    simulator.advance(660)
    assert _minutes(simulator, clients, "ClientConnections") == [0]
    simulator.advance(60)
    assert _minutes(simulator, clients, "ClientConnections") == [0, 1]


def test_what_the_backup_reads_is_published(simulator, clients):
    backup = clients(simulator, "backup")
    arn = f"arn:aws:elasticfilesystem:{REGION}:{simulator.account.id}:file-system/fs-1"
    backup.start_backup_job(
        BackupVaultName="Default", ResourceArn=arn, IamRoleArn="arn:aws:iam::123456789012:role/backup"
    )
    simulator.advance(3_600)
    assert len(_minutes(simulator, clients, "DataReadIOBytes")) > 10
    assert _minutes(simulator, clients, "DataWriteIOBytes") == _minutes(simulator, clients, "ClientConnections") == []


def test_cloudtrail_shows_an_attachment_and_its_end_and_may_be_late(simulator, clients):
    simulator.faults.unthrottle("cloudtrail:LookupEvents")
    trail = clients(simulator, "cloudtrail")
    named = [{"AttributeKey": "ResourceName", "AttributeValue": "vol-1"}]
    simulator.account.late.events = 900
    simulator.advance(1)
    simulator.account.attach("vol-1", "i-1")
    simulator.advance(60)
    simulator.account.detach("vol-1")
    assert trail.lookup_events(LookupAttributes=named)["Events"] == []
    simulator.advance(840)
    assert [one["EventName"] for one in trail.lookup_events(LookupAttributes=named)["Events"]] == ["AttachVolume"]
    simulator.advance(60)
    event_names = [one["EventName"] for one in trail.lookup_events(LookupAttributes=named)["Events"]]
    assert event_names == ["DetachVolume", "AttachVolume"]


def test_what_fell_silent_altogether_is_heard_of_again(clients):
    silent = ElasticFileSystem(id="fs-1", region=REGION, created=THEN, voice="absent", active=(THEN, NOW - 20 * 86_400))
    with Simulator(Fleet(now=NOW, efs=[silent])) as simulator:
        watch = clients(simulator, "cloudwatch")
        before = {each["MetricName"] for each in watch.list_metrics(Namespace="AWS/EFS")["Metrics"]}
        simulator.account.use("fs-1")
        after = {each["MetricName"] for each in watch.list_metrics(Namespace="AWS/EFS")["Metrics"]}
        assert after - before >= {"ClientConnections", "DataReadIOBytes"}


def test_another_resource_may_take_an_id_and_a_name(simulator, clients):
    account = simulator.account
    held = account.contents("vol-1")
    simulator.advance(3_600)
    account.replace("vol-1")
    volume = clients(simulator, "ec2").describe_volumes(VolumeIds=["vol-1"])["Volumes"][0]
    assert volume["CreateTime"].replace(microsecond=0) == datetime.fromtimestamp(NOW + 3_600, UTC)
    assert volume["Tags"] == [{"Key": "Name", "Value": "one"}]
    assert account.contents("vol-1") != held
    assert account.contents("vol-2") != held


def test_what_is_being_deleted_does_not_exist(simulator, clients):
    account, ec2, efs = simulator.account, clients(simulator, "ec2"), clients(simulator, "efs")
    assert account.exists("vol-1")
    assert account.exists("fsmt-00000001")
    ec2.delete_volume(VolumeId="vol-1")
    efs.delete_mount_target(MountTargetId="fsmt-00000001")
    assert ec2.describe_volumes(VolumeIds=["vol-1"])["Volumes"]
    assert efs.describe_mount_targets(FileSystemId="fs-1")["MountTargets"]
    assert not account.exists("vol-1")
    assert not account.exists("fsmt-00000001")
    assert not account.exists("vol-none")
    simulator.advance(90)
    with pytest.raises(KeyError):
        account.contents("vol-1")


# --- Hooks and faults -------------------------------------------------------------------------------------------------


def test_something_may_happen_right_before_a_call_is_answered(simulator, clients):
    ec2 = clients(simulator, "ec2")
    simulator.before("ec2:DeleteVolume", lambda: simulator.account.attach("vol-1", "i-1"))
    simulator.before("ec2:DeleteVolume", lambda: simulator.advance(10))
    with pytest.raises(ClientError, match="VolumeInUse"):
        ec2.delete_volume(VolumeId="vol-1")
    assert simulator.account.now == NOW + 10
    simulator.account.detach("vol-1")
    simulator.reset()
    ec2.delete_volume(VolumeId="vol-1")


def test_a_lost_answer_took_effect(simulator, clients):
    ec2 = clients(simulator, "ec2")
    simulator.faults.lost_answer("ec2:CreateSnapshot", times=1)
    with pytest.raises(ConnectionClosedError):
        ec2.create_snapshot(VolumeId="vol-1")
    assert len(ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"]) == 1
    simulator.faults.drop("ec2:CreateSnapshot", times=1)
    with pytest.raises(ConnectionClosedError):
        ec2.create_snapshot(VolumeId="vol-1")
    assert len(ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"]) == 1
    ec2.create_snapshot(VolumeId="vol-1")
    assert len(ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"]) == 2


def test_a_refused_call_takes_no_effect(simulator, clients):
    ec2 = clients(simulator, "ec2")
    simulator.faults.deny("ec2:DeleteVolume")
    with pytest.raises(ClientError, match="UnauthorizedOperation"):
        ec2.delete_volume(VolumeId="vol-1")
    assert simulator.account.exists("vol-1")
    simulator.faults.allow("ec2:DeleteVolume")
    ec2.delete_volume(VolumeId="vol-1")


def test_a_lagging_answer_shows_what_was_a_minute_ago(simulator, clients):
    ec2 = clients(simulator, "ec2")
    ec2.create_tags(Resources=["vol-1"], Tags=[{"Key": "first", "Value": "1"}])
    simulator.advance(61)
    ec2.create_tags(Resources=["vol-1"], Tags=[{"Key": "second", "Value": "1"}])
    ec2.delete_volume(VolumeId="vol-1")
    simulator.faults.lagging("ec2:DescribeVolumes", times=2)
    for _ in range(2):
        volume = ec2.describe_volumes(VolumeIds=["vol-1"])["Volumes"][0]
        assert volume["State"] == "available"
        assert {tag["Key"] for tag in volume["Tags"]} == {"Name", "first"}
    assert ec2.describe_volumes(VolumeIds=["vol-1"])["Volumes"][0]["State"] == "deleting"


def test_a_lagging_answer_misses_what_was_just_created(simulator, clients):
    ec2 = clients(simulator, "ec2")
    snapshot = ec2.create_snapshot(VolumeId="vol-1")["SnapshotId"]
    simulator.faults.lagging("ec2:DescribeSnapshots", times=1)
    assert ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"] == []
    simulator.advance(61)
    simulator.faults.lagging("ec2:DescribeSnapshots", times=1)
    assert [each["SnapshotId"] for each in ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"]] == [snapshot]


# --- Over HTTP --------------------------------------------------------------------------------------------------------


def test_other_people_act_over_http_too(simulator, clients):
    ec2 = clients(simulator, "ec2")
    ec2.create_snapshot(VolumeId="vol-1")
    _ask(simulator, "advance", {"seconds": 300})
    assert _ask(simulator, "clock") == {"now": NOW + 300, "text": "2026-11-16T09:12:00Z"}
    (backup,) = _ask(simulator, "backups")["backups"]
    assert (backup["of"], backup["state"], backup["kind"]) == ("vol-1", "completed", "snapshot")
    assert _ask(simulator, "contents?id=vol-1") == {"contents": backup["contents"]}
    _ask(simulator, "tag", {"arguments": ["vol-1", "keep", "yes"]})
    _ask(simulator, "before", {"action": "ec2:DeleteVolume", "do": "attach", "arguments": ["vol-1", "i-1"]})
    with pytest.raises(ClientError, match="VolumeInUse"):
        ec2.delete_volume(VolumeId="vol-1")
    assert _ask(simulator, "exists?id=vol-1") == {"exists": True}
    assert simulator.account.find("vol-1").tags["keep"] == "yes"
    _ask(simulator, "faults", {"lost-answer": [{"action": "ec2:CreateTags", "times": 1}]})
    with pytest.raises(ConnectionClosedError):
        ec2.create_tags(Resources=["vol-2"], Tags=CLEANUP_TAG)
    assert dict(simulator.account.find("vol-2").tags) == {"mark": "1"}
    _ask(simulator, "faults", {"lagging": [{"action": "ec2:DescribeVolumes", "times": 1}]})
    assert "Tags" not in ec2.describe_volumes(VolumeIds=["vol-2"])["Volumes"][0]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("attach", {"arguments": ["vol-1", "i-none"]}),
        ("before", {"action": "ec2:DeleteVolume", "do": "change", "arguments": []}),
        ("advance", {"seconds": -1}),
        ("advance", {}),
        ("contents?id=vol-none", None),
        ("clock?account=999999999999", None),
    ],
)
def test_refusals_are_answered_over_http(simulator, path, body):
    with pytest.raises(urllib.error.HTTPError) as caught:
        _ask(simulator, path, body)
    assert caught.value.code == 400
    caught.value.close()


@pytest.mark.parametrize("deed", ["remove", "put", "change", "_take"])
def test_only_what_other_people_do_is_done_over_http(simulator, deed):
    with pytest.raises(urllib.error.HTTPError) as caught:
        _ask(simulator, deed, {"arguments": ["vol-1"]})
    assert caught.value.code == 404
    caught.value.close()
    assert simulator.account.exists("vol-1")
