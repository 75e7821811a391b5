"""Write calls for EC2's volumes, snapshots and tags work and answer as on AWS."""

from datetime import UTC, datetime

import pytest
from botocore.exceptions import ClientError

from slackwater_simulator import Attachment, Fleet, Instance, Simulator, Volume, instant

NOW = instant("2026-11-16T09:07:00Z")
THEN = NOW - 86_400 * 30
ZONE = "ap-northeast-1a"
KEY = "arn:aws:kms:ap-northeast-1:123456789012:key/11111111-2222-4333-8444-555555555555"


@pytest.fixture
def simulator():
    fleet = Fleet(
        now=NOW,
        volumes=[
            Volume(
                id="vol-free", az=ZONE, created=THEN, size_gib=500, type="gp2", tags={"Name": "free", "env": "test"}
            ),
            Volume(
                id="vol-busy",
                az=ZONE,
                created=THEN,
                size_gib=8,
                attachments=(Attachment(instance_id="i-1", since=THEN),),
            ),
            Volume(id="vol-far", az="us-east-1a", created=THEN, size_gib=8),
            Volume(id="vol-io", az=ZONE, created=THEN, size_gib=100, type="io2", iops=4_000, encrypted=False),
        ],
        instances=[Instance(id="i-1", type="m5.large", az=ZONE, launched=THEN)],
    )
    with Simulator(fleet) as running:
        yield running


@pytest.fixture
def ec2(simulator, clients):
    return clients(simulator, "ec2")


def _refused(code, method, **arguments):
    with pytest.raises(ClientError) as caught:
        method(**arguments)
    assert caught.value.response["Error"]["Code"] == code
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def _tags(tags, kind):
    return [{"ResourceType": kind, "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}]


def _volume(ec2, volume_id):
    return ec2.describe_volumes(VolumeIds=[volume_id])["Volumes"][0]


# --- Tags -------------------------------------------------------------------------------------------------------------


def test_tags_are_put_on_all_or_on_none(ec2, simulator):
    _refused(
        "InvalidVolume.NotFound", ec2.create_tags, Resources=["vol-free", "vol-none"], Tags=[{"Key": "a", "Value": "1"}]
    )
    assert dict(simulator.account.find("vol-free").tags) == {"Name": "free", "env": "test"}
    ec2.create_tags(
        Resources=["vol-free", "vol-busy", "i-1"], Tags=[{"Key": "a", "Value": "1"}, {"Key": "env", "Value": ""}]
    )
    assert dict(simulator.account.find("vol-free").tags) == {"Name": "free", "env": "", "a": "1"}
    assert dict(simulator.account.find("i-1").tags) == {"a": "1", "env": ""}


def test_tags_that_aws_would_not_take(ec2):
    def put(*tags):
        ec2.create_tags(Resources=["vol-free"], Tags=[{"Key": key, "Value": value} for key, value in tags])

    for tags, code in {
        (("aws:own", "1"),): "InvalidParameterValue",
        (("k" * 128, "1"),): "InvalidParameterValue",
        (("k", "v" * 256),): "InvalidParameterValue",
        tuple((f"k{number}", "") for number in range(49)): "TagLimitExceeded",
    }.items():
        with pytest.raises(ClientError, match=code):
            put(*tags)
    put(*((f"k{number}", "") for number in range(48)))
    _refused("InvalidID", ec2.create_tags, Resources=["lt-1"], Tags=[{"Key": "a", "Value": "1"}])
    _refused("InvalidVolume.NotFound", ec2.create_tags, Resources=["vol-far"], Tags=[{"Key": "a", "Value": "1"}])


def test_tags_go_by_key_or_by_key_and_value(ec2, simulator):
    ec2.delete_tags(Resources=["vol-free"], Tags=[{"Key": "env", "Value": "prod"}, {"Key": "none"}])
    assert "env" in simulator.account.find("vol-free").tags
    ec2.delete_tags(Resources=["vol-free"], Tags=[{"Key": "env", "Value": "test"}])
    assert dict(simulator.account.find("vol-free").tags) == {"Name": "free"}
    ec2.delete_tags(Resources=["vol-free"], Tags=[{"Key": "Name"}])
    assert "Tags" not in _volume(ec2, "vol-free")


# --- Snapshots --------------------------------------------------------------------------------------------------------


def test_a_snapshot_is_pending_until_it_is_completed(ec2, simulator):
    simulator.advance(60)
    made = ec2.create_snapshot(
        VolumeId="vol-free",
        Description="before it goes",
        TagSpecifications=_tags({"of": "vol-free", "n": "1"}, "snapshot"),
    )
    assert (made["State"], made["VolumeSize"], made["Encrypted"], made["Progress"]) == ("pending", 500, True, "0%")
    assert made["Tags"] == [{"Key": "of", "Value": "vol-free"}, {"Key": "n", "Value": "1"}]
    simulator.advance(150)
    (half,) = ec2.describe_snapshots(SnapshotIds=[made["SnapshotId"]])["Snapshots"]
    assert (half["State"], half["Progress"]) == ("pending", "50%")
    assert "CompletionTime" not in half
    simulator.advance(149)
    assert ec2.describe_snapshots(SnapshotIds=[made["SnapshotId"]])["Snapshots"][0]["State"] == "pending"
    simulator.advance(1)
    (done,) = ec2.describe_snapshots(SnapshotIds=[made["SnapshotId"]])["Snapshots"]
    assert (done["State"], done["Progress"], done["Description"]) == ("completed", "100%", "before it goes")
    assert done["StartTime"].replace(microsecond=0) == datetime.fromtimestamp(NOW + 60, UTC)
    assert done["FullSnapshotSizeInBytes"] < 500 << 30
    (backup,) = simulator.account.backups()
    assert (backup.of, backup.bytes, backup.contents) == ("vol-free", 500 << 30, simulator.account.contents("vol-free"))


def test_asked_twice_there_are_two(ec2):
    first, second = (ec2.create_snapshot(VolumeId="vol-free")["SnapshotId"] for _ in range(2))
    assert first != second
    assert len(ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"]) == 2


def test_a_snapshot_holds_what_the_volume_held_then_and_outlives_it(ec2, simulator):
    held = simulator.account.contents("vol-free")
    snapshot = ec2.create_snapshot(VolumeId="vol-free")["SnapshotId"]
    simulator.account.replace("vol-free")
    ec2.delete_volume(VolumeId="vol-free")
    simulator.advance(300)
    assert ec2.describe_snapshots(SnapshotIds=[snapshot])["Snapshots"][0]["State"] == "completed"
    assert simulator.account.contents(snapshot) == held


def test_snapshots_are_found_by_filter_and_in_pages(ec2, clients, simulator):
    for number in range(7):
        ec2.create_snapshot(VolumeId="vol-free", TagSpecifications=_tags({"token": f"t{number}"}, "snapshot"))
    ec2.create_snapshot(VolumeId="vol-busy")
    simulator.advance(301)
    ec2.create_snapshot(VolumeId="vol-busy", TagSpecifications=_tags({"token": "t0"}, "snapshot"))

    def count(**filters):
        wanted = [{"Name": name, "Values": values} for name, values in filters.items()]
        return len(ec2.describe_snapshots(OwnerIds=["self"], Filters=wanted)["Snapshots"])

    assert count(**{"tag:token": ["t0"]}) == 2
    assert count(**{"tag:token": ["t0"], "volume-id": ["vol-free"]}) == 1
    assert count(**{"tag-key": ["token"]}) == 8
    assert count(**{"volume-id": ["vol-busy"], "status": ["pending"]}) == 1
    _refused("InvalidParameterValue", ec2.describe_snapshots, Filters=[{"Name": "colour", "Values": ["red"]}])
    pages = list(ec2.get_paginator("describe_snapshots").paginate(OwnerIds=["self"], MaxResults=5))
    assert [len(page["Snapshots"]) for page in pages] == [5, 4]
    assert ec2.describe_snapshots(OwnerIds=["amazon"])["Snapshots"] == []
    assert clients(simulator, "ec2", "us-east-1").describe_snapshots(OwnerIds=["self"])["Snapshots"] == []


def test_a_deleted_snapshot_is_gone(ec2):
    kept, gone = (ec2.create_snapshot(VolumeId="vol-free")["SnapshotId"] for _ in range(2))
    ec2.delete_snapshot(SnapshotId=gone)
    assert [each["SnapshotId"] for each in ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"]] == [kept]
    _refused("InvalidSnapshot.NotFound", ec2.describe_snapshots, SnapshotIds=[gone])
    _refused("InvalidSnapshot.NotFound", ec2.delete_snapshot, SnapshotId=gone)
    _refused("InvalidSnapshot.NotFound", ec2.create_tags, Resources=[gone], Tags=[{"Key": "a", "Value": "1"}])


# --- Deleting ---------------------------------------------------------------------------------------------------------


def test_a_volume_is_deleting_and_then_gone(ec2, simulator, clients):
    ec2.delete_volume(VolumeId="vol-free")
    assert _volume(ec2, "vol-free")["State"] == "deleting"
    _refused("IncorrectState", ec2.delete_volume, VolumeId="vol-free")
    _refused("IncorrectState", ec2.create_snapshot, VolumeId="vol-free")
    simulator.advance(5)
    _refused("InvalidVolume.NotFound", ec2.describe_volumes, VolumeIds=["vol-free"])
    _refused("InvalidVolume.NotFound", ec2.delete_volume, VolumeId="vol-free")
    assert [each["VolumeId"] for each in ec2.describe_volumes()["Volumes"]] == ["vol-busy", "vol-io"]
    assert ec2.describe_volumes(Filters=[{"Name": "volume-id", "Values": ["vol-free"]}])["Volumes"] == []


def test_a_volume_in_use_is_not_deleted(ec2, simulator):
    _refused("VolumeInUse", ec2.delete_volume, VolumeId="vol-busy")
    _refused("InvalidVolume.NotFound", ec2.delete_volume, VolumeId="vol-far")
    simulator.advance(10)
    assert simulator.account.exists("vol-busy")
    assert simulator.account.exists("vol-far")


# --- Creating ---------------------------------------------------------------------------------------------------------


def test_a_volume_is_made_from_a_snapshot_as_asked(ec2, simulator):
    held = simulator.account.contents("vol-io")
    snapshot = ec2.create_snapshot(VolumeId="vol-io")["SnapshotId"]
    wanted = {
        "AvailabilityZone": ZONE,
        "SnapshotId": snapshot,
        "VolumeType": "io2",
        "Iops": 4_000,
        "MultiAttachEnabled": True,
        "Encrypted": True,
        "KmsKeyId": KEY,
        "ClientToken": "undo-1",
        "TagSpecifications": _tags({"Name": "back"}, "volume"),
    }
    _refused("IncorrectState", ec2.create_volume, **wanted)
    simulator.advance(300)
    made = ec2.create_volume(**wanted)
    assert (made["State"], made["Size"], made["SnapshotId"]) == ("creating", 100, snapshot)
    assert ec2.create_volume(**wanted)["VolumeId"] == made["VolumeId"]
    _refused("IdempotentParameterMismatch", ec2.create_volume, **wanted | {"Iops": 5_000})
    simulator.advance(5)
    volume = _volume(ec2, made["VolumeId"])
    assert (volume["State"], volume["VolumeType"], volume["Iops"], volume["Encrypted"]) == (
        "available",
        "io2",
        4_000,
        True,
    )
    assert (volume["KmsKeyId"], volume["MultiAttachEnabled"]) == (KEY, True)
    assert volume["Tags"] == [{"Key": "Name", "Value": "back"}]
    assert volume["CreateTime"].replace(microsecond=0) == datetime.fromtimestamp(NOW + 300, UTC)
    assert simulator.account.contents(volume["VolumeId"]) == held
    assert len(ec2.describe_volumes()["Volumes"]) == 4


def test_without_a_token_each_request_makes_one(ec2, simulator):
    made = {ec2.create_volume(AvailabilityZone=ZONE, Size=8, VolumeType="gp3")["VolumeId"] for _ in range(2)}
    assert len(made) == 2
    assert {simulator.account.contents(each) for each in made} == {""}


def test_what_is_restored_of_an_encrypted_snapshot_is_encrypted_with_its_key(ec2, simulator):
    snapshot = ec2.create_snapshot(VolumeId="vol-free")["SnapshotId"]
    simulator.advance(300)
    made = ec2.create_volume(AvailabilityZone="ap-northeast-1c", SnapshotId=snapshot, VolumeType="gp3", Throughput=250)
    assert made["Encrypted"]
    assert made["KmsKeyId"] == _volume(ec2, "vol-free")["KmsKeyId"]
    assert (made["Iops"], made["Throughput"]) == (3_000, 250)


def test_a_new_volume_has_no_metrics(ec2, simulator, clients):
    made = ec2.create_volume(AvailabilityZone=ZONE, Size=8)["VolumeId"]
    simulator.advance(3_600)
    watch = clients(simulator, "cloudwatch")
    dimensions = [{"Name": "VolumeId", "Value": made}]
    assert watch.list_metrics(Namespace="AWS/EBS", Dimensions=dimensions)["Metrics"] == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"AvailabilityZone": "us-east-1a", "Size": 8}, "InvalidZone.NotFound"),
        ({"AvailabilityZone": "ap-northeast-1x", "Size": 8}, "InvalidZone.NotFound"),
        ({"AvailabilityZone": ZONE}, "MissingParameter"),
        ({"AvailabilityZone": ZONE, "SnapshotId": "snap-none"}, "InvalidSnapshot.NotFound"),
        ({"AvailabilityZone": ZONE, "Size": 8, "VolumeType": "io2"}, "MissingParameter"),
        ({"AvailabilityZone": ZONE, "Size": 8, "VolumeType": "gp2", "Iops": 3_000}, "InvalidParameterCombination"),
        ({"AvailabilityZone": ZONE, "Size": 8, "VolumeType": "io2", "Iops": 50}, "InvalidParameterValue"),
        ({"AvailabilityZone": ZONE, "Size": 8, "VolumeType": "gp2", "Throughput": 250}, "InvalidParameterCombination"),
        ({"AvailabilityZone": ZONE, "Size": 8, "VolumeType": "gp3", "Throughput": 800}, "InvalidParameterValue"),
        (
            {"AvailabilityZone": ZONE, "Size": 8, "VolumeType": "gp3", "MultiAttachEnabled": True},
            "InvalidParameterCombination",
        ),
        ({"AvailabilityZone": ZONE, "Size": 8, "VolumeType": "st1"}, "InvalidParameterValue"),
        ({"AvailabilityZone": ZONE, "Size": 8, "KmsKeyId": KEY}, "InvalidParameterDependency"),
        (
            {"AvailabilityZone": ZONE, "Size": 8, "TagSpecifications": _tags({"a": "1"}, "snapshot")},
            "InvalidParameterValue",
        ),
    ],
)
def test_a_volume_that_aws_would_not_make(ec2, arguments, code):
    _refused(code, ec2.create_volume, **arguments)
    assert len(ec2.describe_volumes()["Volumes"]) == 3


def test_a_volume_is_no_smaller_than_its_snapshot(ec2, simulator):
    snapshot = ec2.create_snapshot(VolumeId="vol-io")["SnapshotId"]
    simulator.advance(300)
    _refused("InvalidParameterValue", ec2.create_volume, AvailabilityZone=ZONE, SnapshotId=snapshot, Size=99)
    assert ec2.create_volume(AvailabilityZone=ZONE, SnapshotId=snapshot, Size=101)["Size"] == 101


# --- Changing ---------------------------------------------------------------------------------------------------------


def test_a_change_is_modifying_then_optimizing_then_completed(ec2, simulator):
    _refused("InvalidVolumeModification.NotFound", ec2.describe_volumes_modifications, VolumeIds=["vol-free"])
    made = ec2.modify_volume(VolumeId="vol-free", VolumeType="gp3", Iops=3_000, Throughput=125)["VolumeModification"]
    assert (made["ModificationState"], made["OriginalVolumeType"], made["OriginalIops"]) == ("modifying", "gp2", 1_500)
    assert (made["TargetVolumeType"], made["TargetIops"], made["TargetThroughput"]) == ("gp3", 3_000, 125)
    assert _volume(ec2, "vol-free")["VolumeType"] == "gp2"
    simulator.advance(60)
    volume = _volume(ec2, "vol-free")
    assert (volume["VolumeType"], volume["Iops"], volume["Throughput"]) == ("gp3", 3_000, 125)

    def newest():
        return ec2.describe_volumes_modifications(VolumeIds=["vol-free"])["VolumesModifications"][0]

    assert newest()["ModificationState"] == "optimizing"
    _refused("IncorrectModificationState", ec2.modify_volume, VolumeId="vol-free", VolumeType="gp2")
    simulator.advance(1_739)
    assert (newest()["ModificationState"], newest()["Progress"]) == ("optimizing", 99)
    simulator.advance(1)
    assert (newest()["ModificationState"], newest()["Progress"]) == ("completed", 100)
    assert newest()["EndTime"] == datetime.fromtimestamp(NOW + 1_800, UTC)
    assert newest()["StartTime"] == datetime.fromtimestamp(NOW, UTC)
    by_state = [{"Name": "modification-state", "Values": ["completed"]}]
    assert len(ec2.describe_volumes_modifications(Filters=by_state)["VolumesModifications"]) == 1


def test_a_change_does_not_undo_what_others_did_meanwhile(ec2, simulator):
    ec2.modify_volume(VolumeId="vol-free", VolumeType="gp3", Iops=3_000, Throughput=125)
    simulator.account.tag("vol-free", "keep", "yes")
    simulator.account.attach("vol-free", "i-1")
    simulator.advance(60)
    volume = _volume(ec2, "vol-free")
    assert (volume["VolumeType"], volume["State"]) == ("gp3", "in-use")
    assert {"Key": "keep", "Value": "yes"} in volume["Tags"]


def test_four_changes_a_day(ec2, simulator):
    for number in range(4):
        ec2.modify_volume(VolumeId="vol-io", Iops=1_000 + number)
        simulator.advance(1_800)
    _refused("VolumeModificationRateExceeded", ec2.modify_volume, VolumeId="vol-io", Iops=2_000)
    simulator.advance(86_400 - 4 * 1_800 - 1)
    _refused("VolumeModificationRateExceeded", ec2.modify_volume, VolumeId="vol-io", Iops=2_000)
    simulator.advance(1)
    ec2.modify_volume(VolumeId="vol-io", Iops=2_000)


@pytest.mark.parametrize(
    ("volume_id", "arguments", "expected"),
    [
        ("vol-free", {"VolumeType": "gp3"}, ("gp3", 3_000, 250)),
        ("vol-io", {"VolumeType": "gp3"}, ("gp3", 4_000, 125)),
        ("vol-io", {"Iops": 2_000}, ("io2", 2_000, None)),
        ("vol-busy", {"Throughput": 200}, ("gp3", 3_000, 200)),
        ("vol-busy", {"VolumeType": "gp2"}, ("gp2", 100, None)),
    ],
)
def test_what_a_change_leaves_out(ec2, simulator, volume_id, arguments, expected):
    ec2.modify_volume(VolumeId=volume_id, **arguments)
    simulator.advance(60)
    volume = _volume(ec2, volume_id)
    assert (volume["VolumeType"], volume["Iops"], volume.get("Throughput")) == expected


def test_changes_that_aws_would_not_make(ec2):
    _refused("InvalidParameterValue", ec2.modify_volume, VolumeId="vol-free", Size=499)
    _refused("InvalidParameterCombination", ec2.modify_volume, VolumeId="vol-free", Iops=3_000)
    _refused("InvalidVolume.NotFound", ec2.modify_volume, VolumeId="vol-none", Size=499)
    _refused("InvalidVolume.NotFound", ec2.describe_volumes_modifications, VolumeIds=["vol-none"])
    assert ec2.describe_volumes_modifications()["VolumesModifications"] == []


# --- Reading ----------------------------------------------------------------------------------------------------------


def test_instances_are_found_by_id(ec2):
    assert ec2.describe_instances(InstanceIds=["i-1"])["Reservations"][0]["Instances"][0]["InstanceId"] == "i-1"
    _refused("InvalidInstanceID.NotFound", ec2.describe_instances, InstanceIds=["i-1", "i-none"])
    _refused("InvalidInstanceID.NotFound", ec2.describe_instances, InstanceIds=["vol-free"])


def test_volumes_are_found_by_tag(ec2):
    found = ec2.describe_volumes(Filters=[{"Name": "tag:env", "Values": ["te*"]}])["Volumes"]
    assert [each["VolumeId"] for each in found] == ["vol-free"]


def test_events_of_one_volume_are_looked_up(clients, demo):
    trail = clients(demo, "cloudtrail")
    demo.reset()
    demo.faults.unthrottle("cloudtrail:LookupEvents")
    everything = [each for page in trail.get_paginator("lookup_events").paginate() for each in page["Events"]]
    name = next(each["ResourceName"] for each in everything[0]["Resources"] if each["ResourceName"].startswith("vol-"))
    answer = trail.lookup_events(LookupAttributes=[{"AttributeKey": "ResourceName", "AttributeValue": name}])["Events"]
    of_it = [each for each in everything if any(other["ResourceName"] == name for other in each["Resources"])]
    assert [each["EventId"] for each in answer] == [each["EventId"] for each in of_it]
    assert 0 < len(answer) < len(everything)
