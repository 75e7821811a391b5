"""AWS partitions in the simulator, and Regions that a service control policy denies."""

from typing import Any

import botocore.session
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from slackwater_simulator import Fleet, Simulator, Volume, instant
from slackwater_simulator.ec2_query import zone_id
from slackwater_simulator.partitions import REGIONS, arn, global_arn, partition, suffix

NOW = instant("2026-11-16T09:07:00Z")
KNOWN = botocore.session.Session()


def client(sim: Simulator, service: str, region: str) -> Any:
    return botocore.session.Session().create_client(
        service,
        region,
        endpoint_url=sim.url,
        aws_access_key_id="AKIADUMMY",
        aws_secret_access_key="dummy",
        config=Config(retries={"total_max_attempts": 1}),
    )


@pytest.mark.parametrize("region", [region for regions in REGIONS.values() for region in regions])
def test_regions_are_in_the_partition_that_botocore_says_and_end_as_it_says(region: str) -> None:
    there = partition(region)
    assert KNOWN.get_partition_for_region(region) == there
    assert region in REGIONS[there]
    assert region in KNOWN.get_available_regions("ec2", there)
    endpoint = KNOWN.create_client("ec2", region, aws_access_key_id="a", aws_secret_access_key="b").meta.endpoint_url
    assert endpoint == f"https://ec2.{region}.{suffix(region)}"


def test_arns_are_of_the_partition_of_their_region() -> None:
    assert arn("ec2", "cn-north-1", "123456789012", "volume/v") == "arn:aws-cn:ec2:cn-north-1:123456789012:volume/v"
    assert global_arn("iam", "us-gov-west-1", "123456789012", "user/u") == "arn:aws-us-gov:iam::123456789012:user/u"
    assert global_arn("iam", "eu-west-1", "123456789012", "user/u") == "arn:aws:iam::123456789012:user/u"
    assert (zone_id("us-gov-west-1b"), zone_id("cn-northwest-1a")) == ("usgw1-az2", "cnnw1-az1")


def test_an_account_has_the_regions_of_its_partition_alone() -> None:
    with Simulator(Fleet(now=NOW, regions=("cn-north-1",))) as sim:
        ec2 = client(sim, "ec2", "cn-north-1")
        named = {one["RegionName"]: one["Endpoint"] for one in ec2.describe_regions()["Regions"]}
        assert named == {region: f"ec2.{region}.amazonaws.com.cn" for region in ("cn-north-1", "cn-northwest-1")}
        assert (
            client(sim, "sts", "cn-north-1").get_caller_identity()["Arn"]
            == "arn:aws-cn:iam::123456789012:user/simulated"
        )
        with pytest.raises(ClientError, match="AuthFailure"):
            client(sim, "ec2", "us-east-1").describe_volumes()


def test_a_disabled_region_refuses_all_calls_but_global_ones() -> None:
    unattached = Volume(id="vol-1", az="eu-west-1a", created=NOW, size_gib=1)
    with Simulator(Fleet(now=NOW, regions=("eu-west-1", "eu-west-2"), volumes=(unattached,))) as sim:
        sim.faults.apply({"close": ["eu-west-1", "eu-west-2/fsx:DescribeFileSystems"]})
        with pytest.raises(ClientError) as of_ec2:
            client(sim, "ec2", "eu-west-1").describe_volumes()
        error = of_ec2.value.response["Error"]
        assert error["Code"] == "UnauthorizedOperation"
        assert error["Message"].startswith("You are not authorized to perform this operation. User: arn:aws:sts::")
        assert "ec2:DescribeVolumes with an explicit deny in a service control policy. Encoded" in error["Message"]
        with pytest.raises(
            ClientError, match=r"AccessDenied.* on resource: arn:aws:elasticfilesystem:eu-west-1:.* with an explicit"
        ):
            client(sim, "efs", "eu-west-1").describe_file_systems()
        assert client(sim, "sts", "eu-west-1").get_caller_identity()["Account"] == "123456789012"

        assert client(sim, "ec2", "eu-west-2").describe_volumes()["Volumes"] == []
        with pytest.raises(ClientError, match="service control policy"):
            client(sim, "fsx", "eu-west-2").describe_file_systems()
        sim.faults.clear()
        assert client(sim, "fsx", "eu-west-2").describe_file_systems()["FileSystems"] == []
        assert len(client(sim, "ec2", "eu-west-1").describe_volumes()["Volumes"]) == 1
