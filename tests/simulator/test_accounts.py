"""The simulator derives account and Region from the request's signature alone."""

import json

import pytest
from botocore.exceptions import ClientError

from slackwater_simulator import Fleet, Role, Simulator, Volume, instant

NOW = instant("2026-11-16T09:07:00Z")
OTHER = "210987654321"


@pytest.fixture(scope="module")
def two_accounts():
    def fleet(account, *zones, **more):
        volumes = [Volume(id=f"vol-{account[0]}{zone}", az=zone, created=NOW - 86_400, size_gib=8) for zone in zones]
        return Fleet(now=NOW, account=account, regions=("ap-northeast-1", "us-east-1"), volumes=volumes, **more)

    own = fleet("123456789012", "ap-northeast-1a", "us-east-1a")
    other = fleet(OTHER, "us-east-1b", roles=[Role(name="audit", external_id="tide")])
    with Simulator(own, other) as simulator:
        yield simulator


def volumes(client) -> list[str]:
    return [volume["VolumeId"] for volume in client.describe_volumes()["Volumes"]]


def test_a_region_shows_only_its_own(two_accounts, clients):
    assert volumes(clients(two_accounts, "ec2", "ap-northeast-1")) == ["vol-1ap-northeast-1a"]
    assert volumes(clients(two_accounts, "ec2", "us-east-1")) == ["vol-1us-east-1a"]
    assert volumes(clients(two_accounts, "ec2", "eu-west-1")) == []


def test_a_region_that_is_not_enabled_fails_as_aws_does(two_accounts, clients):
    with pytest.raises(ClientError, match="AuthFailure"):
        clients(two_accounts, "ec2", "me-south-1").describe_volumes()


def test_an_assumed_role_sees_its_own_account(two_accounts, clients):
    given = clients(two_accounts, "sts").assume_role(
        RoleArn=f"arn:aws:iam::{OTHER}:role/audit", RoleSessionName="scan", ExternalId="tide"
    )["Credentials"]
    keys = {
        "aws_access_key_id": given["AccessKeyId"],
        "aws_secret_access_key": given["SecretAccessKey"],
        "aws_session_token": given["SessionToken"],
    }
    assert clients(two_accounts, "sts", **keys).get_caller_identity()["Account"] == OTHER
    assert volumes(clients(two_accounts, "ec2", "us-east-1", **keys)) == ["vol-2us-east-1b"]


@pytest.mark.parametrize("request_", [{}, {"ExternalId": "ebb"}])
def test_a_role_that_demands_an_external_id_is_not_had_without_it(two_accounts, clients, request_):
    with pytest.raises(ClientError, match="AccessDenied"):
        clients(two_accounts, "sts").assume_role(
            RoleArn=f"arn:aws:iam::{OTHER}:role/audit", RoleSessionName="scan", **request_
        )


def test_regions_list_the_enabled_ones(two_accounts, clients):
    assert len(clients(two_accounts, "ec2").describe_regions()["Regions"]) == 17


def test_gp3_throughput_is_priced_by_the_gibibyte_and_its_record_is_a_string(two_accounts, clients):
    wanted = {"regionCode": "ap-northeast-1", "volumeApiName": "gp3", "productFamily": "Provisioned Throughput"}
    filters = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in wanted.items()]
    (text,) = clients(two_accounts, "pricing", "us-east-1").get_products(ServiceCode="AmazonEC2", Filters=filters)[
        "PriceList"
    ]
    (term,) = json.loads(text)["terms"]["OnDemand"].values()
    (rate,) = term["priceDimensions"].values()
    assert (rate["unit"], rate["pricePerUnit"]["USD"]) == ("GiBps-mo", "49.1520000000")


def test_openzfs_and_ontap_share_a_usage_type(two_accounts, clients):
    filters = [{"Type": "TERM_MATCH", "Field": "usagetype", "Value": "APN1-Storage.MAZ:SSD"}]
    found = clients(two_accounts, "pricing", "us-east-1").get_products(ServiceCode="AmazonFSx", Filters=filters)[
        "PriceList"
    ]
    assert {json.loads(text)["product"]["attributes"]["fileSystemType"] for text in found} == {"OpenZFS", "ONTAP"}
