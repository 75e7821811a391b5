"""Injected faults look like AWS's errors."""

import json
import urllib.error
import urllib.request

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from slackwater_simulator import Fleet, Simulator, Volume, instant

pytestmark = pytest.mark.over_http

NOW = instant("2026-11-16T09:07:00Z")


@pytest.fixture
def simulator():
    volume = Volume(id="vol-1", az="ap-northeast-1a", created=NOW - 86_400, size_gib=8)
    with Simulator(Fleet(now=NOW, volumes=[volume])) as running:
        yield running


# action: (service, method, error code if denied, error code if throttled, HTTP status if throttled)
CALLS = {
    "ec2:DescribeVolumes": ("ec2", "describe_volumes", "UnauthorizedOperation", "RequestLimitExceeded", 503),
    "elasticfilesystem:DescribeFileSystems": (
        "efs",
        "describe_file_systems",
        "AccessDeniedException",
        "ThrottlingException",
        429,
    ),
    "fsx:DescribeFileSystems": ("fsx", "describe_file_systems", "AccessDeniedException", "ThrottlingException", 400),
    "cloudwatch:ListMetrics": ("cloudwatch", "list_metrics", "AccessDenied", "ThrottlingException", 400),
    "cloudtrail:LookupEvents": ("cloudtrail", "lookup_events", "AccessDeniedException", "ThrottlingException", 400),
    "compute-optimizer:GetEnrollmentStatus": (
        "compute-optimizer",
        "get_enrollment_status",
        "AccessDeniedException",
        "ThrottlingException",
        400,
    ),
    "sts:GetCallerIdentity": ("sts", "get_caller_identity", "AccessDenied", "Throttling", 400),
}


@pytest.mark.parametrize("action", CALLS)
def test_a_denied_call_names_the_action(simulator, clients, action):
    service, method, code, _, _ = CALLS[action]
    simulator.faults.deny(action)
    with pytest.raises(ClientError) as caught:
        getattr(clients(simulator, service), method)()
    assert caught.value.response["Error"]["Code"] == code
    assert action in caught.value.response["Error"]["Message"]


def test_a_fault_in_one_region_does_not_affect_others(simulator, clients):
    simulator.faults.deny("us-east-1/ec2:DescribeVolumes")
    with pytest.raises(ClientError, match="ec2:DescribeVolumes"):
        clients(simulator, "ec2", "us-east-1").describe_volumes()
    assert clients(simulator, "ec2").describe_volumes()["Volumes"]


@pytest.mark.parametrize("action", CALLS)
def test_a_throttled_call_returns_the_error_of_its_service(simulator, clients, action):
    service, method, _, code, status = CALLS[action]
    simulator.faults.throttle(action, per_second=0, burst=1)
    client = clients(simulator, service)
    getattr(client, method)()
    with pytest.raises(ClientError) as caught:
        getattr(client, method)()
    assert caught.value.response["Error"]["Code"] == code
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == status


def test_cloudtrail_throttles_the_third_call_by_default(simulator, clients):
    trail = clients(simulator, "cloudtrail")
    trail.lookup_events()
    trail.lookup_events()
    with pytest.raises(ClientError, match="ThrottlingException"):
        trail.lookup_events()


def test_an_injected_error_occurs_as_often_as_configured(simulator, clients):
    simulator.faults.error("ec2:DescribeVolumes", "InternalError", status=500, times=1)
    ec2 = clients(simulator, "ec2")
    with pytest.raises(ClientError, match="InternalError"):
        ec2.describe_volumes()
    assert len(ec2.describe_volumes()["Volumes"]) == 1


def test_a_dropped_call_closes_the_connection(simulator, clients):
    simulator.faults.drop("ec2:DescribeVolumes", times=1)
    with pytest.raises(ConnectionClosedError):
        clients(simulator, "ec2").describe_volumes()


def test_a_truncated_json_body_parses_as_an_answer_without_its_key(simulator, clients):
    simulator.faults.truncate("elasticfilesystem:DescribeFileSystems", times=1)
    efs = clients(simulator, "efs")
    assert "FileSystems" not in efs.describe_file_systems()
    assert efs.describe_file_systems()["FileSystems"] == []


def test_a_partial_response_has_a_status_for_each_query(simulator, clients):
    simulator.faults.partial(every=2)
    metric = {"Metric": {"Namespace": "AWS/EBS", "MetricName": "VolumeReadOps"}, "Period": 300, "Stat": "Sum"}
    queries = [{"Id": f"m{number}", "MetricStat": metric} for number in range(4)]
    answer = clients(simulator, "cloudwatch").get_metric_data(
        MetricDataQueries=queries, StartTime=NOW - 3600, EndTime=NOW
    )
    assert [result["StatusCode"] for result in answer["MetricDataResults"]] == ["Complete", "InternalError"] * 2


def test_faults_can_be_set_over_http(simulator, clients):
    body = json.dumps({"deny": ["fsx:DescribeVolumes"]}).encode()
    with urllib.request.urlopen(urllib.request.Request(simulator.url + "/_simulator/faults", body)):
        pass
    with pytest.raises(ClientError, match="AccessDeniedException"):
        clients(simulator, "fsx").describe_volumes()


def test_an_unsigned_request_is_refused(simulator):
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(simulator.url + "/?Action=DescribeVolumes")
    assert caught.value.code == 403
    assert b"MissingAuthenticationToken" in caught.value.read()
    caught.value.close()
