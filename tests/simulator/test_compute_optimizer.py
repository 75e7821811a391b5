"""Compute Optimizer reports what was planted, but only to enrolled accounts."""

from dataclasses import replace

import pytest
from botocore.exceptions import ClientError

from slackwater_simulator import (
    Fleet,
    IdleRecommendation,
    Simulator,
    VolumeOption,
    VolumeRecommendation,
    demo_fleet,
    instant,
)

NOW = instant("2026-11-16T09:07:00Z")
REGION = "ap-northeast-1"
LOWER_COST = VolumeOption(type="gp3", size_gib=8, iops=3_000, throughput=125, risk=1.0, saves=3.2)
FLEET = Fleet(
    now=NOW,
    enrollment="Active",
    volume_recommendations=[
        VolumeRecommendation(
            volume_id=f"vol-{n}", region=REGION, finding="NotOptimized", refreshed=NOW - 86_400, options=(LOWER_COST,)
        )
        for n in range(1_001)
    ],
    idle_recommendations=[
        IdleRecommendation(resource_id=f"i-{n}", region=REGION, type="EC2Instance", refreshed=NOW, saves=1.0)
        for n in range(101)
    ],
)


@pytest.fixture(scope="module")
def enrolled():
    with Simulator(FLEET) as running:
        yield running


def test_an_account_is_not_enrolled_unless_its_fleet_says_so(demo, clients):
    optimizer = clients(demo, "compute-optimizer")
    assert optimizer.get_enrollment_status()["status"] == "Inactive"
    for call in (optimizer.get_ebs_volume_recommendations, optimizer.get_idle_recommendations):
        with pytest.raises(ClientError, match="OptInRequiredException"):
            call()


def test_recommendations_come_in_pages(enrolled, clients):
    optimizer = clients(enrolled, "compute-optimizer")
    assert optimizer.get_enrollment_status()["status"] == "Active"
    first = optimizer.get_ebs_volume_recommendations(maxResults=1_000)
    rest = optimizer.get_ebs_volume_recommendations(maxResults=1_000, nextToken=first["nextToken"])
    assert [len(page["volumeRecommendations"]) for page in (first, rest)] == [1_000, 1]
    assert "nextToken" not in rest
    assert len(optimizer.get_idle_recommendations()["idleRecommendations"]) == 100
    with pytest.raises(ClientError, match="InvalidParameterValueException"):
        optimizer.get_idle_recommendations(maxResults=101)
    with pytest.raises(ClientError, match="InvalidParameterValueException"):
        optimizer.get_idle_recommendations(nextToken="made-up")


def test_a_recommendation_carries_what_real_answers_carry(enrolled, clients):
    optimizer = clients(enrolled, "compute-optimizer")
    sized = optimizer.get_ebs_volume_recommendations(maxResults=1)["volumeRecommendations"][0]
    (option,) = sized["volumeRecommendationOptions"]
    assert sized["volumeArn"] == f"arn:aws:ec2:{REGION}:{FLEET.account}:volume/vol-0"
    assert (sized["lastRefreshTimestamp"].timestamp(), sized["lookBackPeriodInDays"]) == (NOW - 86_400, 14)
    assert option["configuration"]["volumeBaselineThroughput"] == 125
    assert option["savingsOpportunity"]["estimatedMonthlySavings"] == {"currency": "USD", "value": 3.2}
    idle = optimizer.get_idle_recommendations(maxResults=1)["idleRecommendations"][0]
    assert (idle["resourceId"], idle["resourceType"], idle["finding"]) == ("i-0", "EC2Instance", "Idle")


def test_filters_choose_and_what_is_not_known_is_refused(enrolled, clients):
    optimizer = clients(enrolled, "compute-optimizer")
    volumes = [{"name": "ResourceType", "values": ["EBSVolume"]}]
    assert optimizer.get_idle_recommendations(filters=volumes)["idleRecommendations"] == []
    optimized = [{"name": "Finding", "values": ["Optimized"]}]
    assert optimizer.get_ebs_volume_recommendations(filters=optimized)["volumeRecommendations"] == []
    with pytest.raises(ClientError, match="cannot filter by ResourceType"):
        optimizer.get_ebs_volume_recommendations(filters=volumes)


def test_recommendations_are_of_one_region(clients):
    with Simulator(
        replace(demo_fleet(), enrollment="Active", idle_recommendations=FLEET.idle_recommendations)
    ) as running:
        assert (
            clients(running, "compute-optimizer", "us-east-1").get_idle_recommendations()["idleRecommendations"] == []
        )
