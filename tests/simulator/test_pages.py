"""Lists are divided into pages as on AWS."""

import pytest
from botocore.exceptions import ClientError

from slackwater_simulator import ElasticFileSystem, Fleet, FsxFileSystem, FsxVolume, Simulator, Volume, instant

pytestmark = pytest.mark.over_http

NOW = instant("2026-11-16T09:07:00Z")
THEN = NOW - 86_400 * 30


@pytest.fixture(scope="module")
def many():
    fleet = Fleet(
        now=NOW,
        volumes=[
            Volume(id=f"vol-{number:017x}", az="ap-northeast-1a", created=THEN, size_gib=8) for number in range(1_201)
        ],
        efs=[ElasticFileSystem(id=f"fs-{number:017x}", region="ap-northeast-1", created=THEN) for number in range(101)],
        fsx=[
            FsxFileSystem(
                id="fs-0f",
                region="ap-northeast-1",
                created=THEN,
                kind="OPENZFS",
                deployment="MULTI_AZ_1",
                storage_gib=64,
                throughput=160,
            )
        ],
        fsx_volumes=[
            FsxVolume(
                id=f"fsvol-{number:x}", file_system_id="fs-0f", region="ap-northeast-1", created=THEN, name=f"v{number}"
            )
            for number in range(51)
        ],
    )
    with Simulator(fleet) as simulator:
        yield simulator


def test_volumes_come_five_hundred_at_a_time_and_a_thousand_when_asked(many, clients):
    ec2 = clients(many, "ec2")
    assert [len(page["Volumes"]) for page in ec2.get_paginator("describe_volumes").paginate()] == [500, 500, 201]
    large = ec2.get_paginator("describe_volumes").paginate(MaxResults=1000)
    ids = [volume["VolumeId"] for page in large for volume in page["Volumes"]]
    assert len(ids) == len(set(ids)) == 1_201


def test_file_systems_come_a_hundred_at_a_time_whatever_is_asked(many, clients):
    efs = clients(many, "efs")
    first = efs.describe_file_systems(MaxItems=1000)
    assert len(first["FileSystems"]) == 100
    second = efs.describe_file_systems(Marker=first["NextMarker"])
    assert len(second["FileSystems"]) == 1
    assert "NextMarker" not in second


def test_fsx_volumes_follow_next_token(many, clients):
    fsx = clients(many, "fsx")
    pages = list(fsx.get_paginator("describe_volumes").paginate())
    assert [len(page["Volumes"]) for page in pages] == [50, 1]


def test_a_made_up_token_is_an_error(many, clients):
    with pytest.raises(ClientError, match="InvalidParameterValue"):
        clients(many, "ec2").describe_volumes(NextToken="made-up")


def test_volumes_can_be_asked_by_id_and_by_state(many, clients):
    ec2 = clients(many, "ec2")
    assert ec2.describe_volumes(VolumeIds=["vol-" + "0" * 16 + "a"])["Volumes"][0]["VolumeId"].endswith("a")
    assert ec2.describe_volumes(Filters=[{"Name": "status", "Values": ["in-use"]}])["Volumes"] == []
    with pytest.raises(ClientError, match=r"InvalidVolume\.NotFound"):
        ec2.describe_volumes(VolumeIds=["vol-missing"])


def test_instance_types_are_found_by_filters_and_by_names_that_exist(demo, clients):
    ec2 = clients(demo, "ec2")
    with pytest.raises(ClientError, match="InvalidInstanceType"):
        ec2.describe_instance_types(InstanceTypes=["t3.micro", "t3.missing"])
    (named,) = ec2.describe_instance_types(InstanceTypes=["t3.micro"])["InstanceTypes"]
    (micro,) = ec2.describe_instance_types(Filters=[{"Name": "instance-type", "Values": ["t3.micro"]}])["InstanceTypes"]
    assert named == micro
    card = micro["NetworkInfo"]["NetworkCards"][0]
    assert (card["BaselineBandwidthInGbps"], card["PeakBandwidthInGbps"]) == (0.064, 5.0)


def test_an_instance_carries_what_real_answers_carry(demo, clients):
    instances = [
        each
        for page in clients(demo, "ec2").get_paginator("describe_instances").paginate()
        for group in page["Reservations"]
        for each in group["Instances"]
    ]
    stopped = next(each for each in instances if each["State"]["Name"] == "stopped")
    assert stopped["StateTransitionReason"] == "User initiated (2026-09-01 09:07:00 GMT)"
    assert stopped["BlockDeviceMappings"][0]["Ebs"]["VolumeId"].startswith("vol-")
    assert stopped["Monitoring"]["State"] == "disabled"


def test_calls_are_counted_by_action(clients):
    with Simulator(Fleet(now=NOW)) as simulator:
        ec2 = clients(simulator, "ec2")
        ec2.describe_volumes()
        ec2.describe_volumes()
        clients(simulator, "efs").describe_file_systems()
        assert simulator.calls == {"ec2:DescribeVolumes": 2, "elasticfilesystem:DescribeFileSystems": 1}
        simulator.reset()
        assert simulator.calls == {}
