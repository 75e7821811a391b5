"""Checks each action of a scan with the smallest possible call. Changes nothing.

In each region, it requests one metric, which costs 0.00001 USD. All other calls are free.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal

from botocore.exceptions import ClientError

from slackwater.aws.client.errors import reason, translated
from slackwater.aws.inventory.cloudwatch import ALLOWANCES, NAMESPACE
from slackwater.aws.metrics import cloudwatch
from slackwater.aws.pricing import price_list as pricing
from slackwater.model.access import UNNAMED, Answer, Refusal
from slackwater.ports.errors import AccessDeniedError, AwsError, BrokenAnswerError, NoCredentialsError, UnreachableError

if TYPE_CHECKING:
    from slackwater.aws.client.meter import CallMeter
    from slackwater.aws.client.services import Service
    from slackwater.aws.client.session import AwsSession

ANSWERS: Final = frozenset({"FileSystemNotFound", "OptInRequiredException", "ReplicationNotFound"})
"""Error codes that an allowed call can return."""

DENY: Final = re.compile(r"\bexplicit(ly)? den(y|ied)\b", re.IGNORECASE)
LACK: Final = re.compile(r"\bbecause no\b", re.IGNORECASE)
POLICY_TYPE: Final = re.compile(
    r"\b(?:in|by|because) (?:an?|no|the) ([\w -]+? policy|permissions boundary)\b", re.IGNORECASE
)
"""AWS IAM User Guide, "Troubleshooting access denied error messages". Not every service names the policy type, or uses
these words.
"""


@dataclass(frozen=True, slots=True)
class PermissionCheck:
    """A call: botocore's service and method, and the key that its response must have.

    `where` says whether to call it in each region, once in the home region, or once at the price list. A service that
    is not `everywhere` is called only where it has an endpoint.
    """

    service: Service
    method: str
    holds: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    where: Literal["region", "home", "prices"] = "region"
    everywhere: bool = True


NO_FILE_SYSTEM: Final = "fs-00000000000000000"
"""The file system id for EFS operations that require one. It does not exist."""

EC2_LEAST: Final = 5
"""EC2's minimum page size."""

PERMISSION_CHECKS: Final[Mapping[str, PermissionCheck]] = {
    "cloudtrail:LookupEvents": PermissionCheck("cloudtrail", "lookup_events", "Events", {"MaxResults": 1}),
    "cloudwatch:GetMetricData": PermissionCheck(
        "cloudwatch",
        "get_metric_data",
        "MetricDataResults",
        {
            "MetricDataQueries": [
                {
                    "Id": "q0",
                    "MetricStat": {
                        "Metric": {"Namespace": "AWS/EBS", "MetricName": "VolumeReadOps"},
                        "Period": 3_600,
                        "Stat": "Sum",
                    },
                }
            ]
        },
    ),
    "cloudwatch:ListMetrics": PermissionCheck(
        "cloudwatch", "list_metrics", "Metrics", {"Namespace": NAMESPACE, "MetricName": ALLOWANCES[0]}
    ),
    "compute-optimizer:GetEBSVolumeRecommendations": PermissionCheck(
        "compute-optimizer",
        "get_ebs_volume_recommendations",
        "volumeRecommendations",
        {"maxResults": 1},
        everywhere=False,
    ),
    "compute-optimizer:GetEnrollmentStatus": PermissionCheck(
        "compute-optimizer", "get_enrollment_status", "status", everywhere=False
    ),
    "compute-optimizer:GetIdleRecommendations": PermissionCheck(
        "compute-optimizer", "get_idle_recommendations", "idleRecommendations", {"maxResults": 1}, everywhere=False
    ),
    "ec2:DescribeInstanceTypes": PermissionCheck(
        "ec2", "describe_instance_types", "InstanceTypes", {"MaxResults": EC2_LEAST}
    ),
    "ec2:DescribeInstances": PermissionCheck("ec2", "describe_instances", "Reservations", {"MaxResults": EC2_LEAST}),
    "ec2:DescribeRegions": PermissionCheck("ec2", "describe_regions", "Regions", where="home"),
    "ec2:DescribeVolumes": PermissionCheck("ec2", "describe_volumes", "Volumes", {"MaxResults": EC2_LEAST}),
    "elasticfilesystem:DescribeFileSystems": PermissionCheck(
        "efs", "describe_file_systems", "FileSystems", {"MaxItems": 1}
    ),
    "elasticfilesystem:DescribeLifecycleConfiguration": PermissionCheck(
        "efs", "describe_lifecycle_configuration", "LifecyclePolicies", {"FileSystemId": NO_FILE_SYSTEM}
    ),
    "elasticfilesystem:DescribeMountTargets": PermissionCheck(
        "efs", "describe_mount_targets", "MountTargets", {"FileSystemId": NO_FILE_SYSTEM}
    ),
    "elasticfilesystem:DescribeReplicationConfigurations": PermissionCheck(
        "efs", "describe_replication_configurations", "Replications", {"MaxResults": 1}
    ),
    "fsx:DescribeFileSystems": PermissionCheck("fsx", "describe_file_systems", "FileSystems", {"MaxResults": 1}),
    "fsx:DescribeVolumes": PermissionCheck("fsx", "describe_volumes", "Volumes", {"MaxResults": 1}),
    "pricing:GetProducts": PermissionCheck(
        "pricing",
        "get_products",
        "PriceList",
        {"ServiceCode": "AmazonEFS", "FormatVersion": "aws_v1", "MaxResults": 1},
        where="prices",
    ),
    "sts:GetCallerIdentity": PermissionCheck("sts", "get_caller_identity", "Arn", where="home"),
}
ACTIONS: Final = frozenset(PERMISSION_CHECKS)


class AwsPermissionChecks:
    """Checks the permissions of a session. Thread-safe."""

    def __init__(self, session: AwsSession, meter: CallMeter, now: datetime) -> None:
        """Make no call. The metric is requested for the hour before `now`."""
        self._session, self._meter, self._now = session, meter, now

    def is_there(self, action: str, region: str) -> bool:
        """Return False if a scan of the region never uses the action. Makes no call.

        Then its service has no endpoint there, or the price list has no prices in USD for the region's partition.
        """
        check = PERMISSION_CHECKS[action]
        if check.where == "prices":
            return self._session.partition_of(region) == pricing.PARTITION
        return check.everywhere or region in self._session.regions_of(check.service)

    def once(self, action: str) -> bool:
        """Return whether one call covers all regions."""
        return PERMISSION_CHECKS[action].where != "region"

    def ask(self, action: str, region: str | None) -> Answer:
        """Make the action's call, and return its result. An error is also a result, so nothing is raised."""
        check = PERMISSION_CHECKS[action]
        place = region or (pricing.PRICING_REGION if check.where == "prices" else self._session.home)
        parameters = dict(check.parameters)
        if action in cloudwatch.ACTIONS:
            parameters |= {"StartTime": self._now - timedelta(hours=1), "EndTime": self._now}
            self._meter.count_metrics(1)
        try:
            answer = getattr(self._session.client(check.service, place), check.method)(**parameters)
        except Exception as error:  # noqa: BLE001 -- the other actions must still be checked
            return _answer(error)
        if answer.get(check.holds) is None:
            return Answer(access="failed", reason=reason(BrokenAnswerError(f"the answer holds no {check.holds}")))
        return Answer(access="allowed")


def _answer(error: Exception) -> Answer:
    if isinstance(error, ClientError) and error.response.get("Error", {}).get("Code") in ANSWERS:
        return Answer(access="allowed")
    match error if isinstance(error, AwsError) else translated(error):
        case AccessDeniedError():
            return Answer(access="denied", reason=reason(error), refusal=_refusal(error))
        case UnreachableError() | NoCredentialsError():
            return Answer(access="unreachable", reason=reason(error))
        case _:
            return Answer(access="failed", reason=reason(error))


def _refusal(error: Exception) -> Refusal | None:
    """Return what the message says about the denying policy, or None if it says nothing.

    It reads the complete message: a `reason` is truncated, and the policy comes last.
    """
    message = error.response.get("Error", {}).get("Message", "") if isinstance(error, ClientError) else str(error)
    explicit, named = DENY.search(message) is not None, POLICY_TYPE.search(message)
    if not explicit and not (named and LACK.search(message)):
        return None
    return Refusal(named[1] if named else UNNAMED, explicit=explicit)
