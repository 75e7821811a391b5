"""Report what the SDK of the function's environment reads and writes. This function is not part of the product."""

from typing import Any

import boto3
import botocore
from botocore.config import Config
from botocore.session import Session

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.services import SERVICES
from slackwater.aws.client.session import AwsSession
from slackwater.aws.inventory.organization import Organization
from slackwater.model.policy import OrganizationSection

PARTITIONS = ("us-east-1", "cn-north-1", "us-gov-west-1")
"""A region of each partition."""
QUERY = {"Id": "q0", "Expression": "SELECT 1", "Period": 60}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Return the SDK's versions and what `event` asks for."""
    asked = {"answers": answers, "clients": clients}[event["ask"]]
    return {"boto3": boto3.__version__, "botocore": botocore.__version__, **asked()}


def answers() -> dict[str, Any]:
    """Return what Slackwater reads from the answers of FSx, AWS Organizations and CloudWatch."""
    session = AwsSession(meter=CallMeter())
    (system,) = session.client("fsx", session.home).describe_file_systems()["FileSystems"]
    selected = Organization(session).accounts(OrganizationSection(organizational_units=["r-ab12"]))
    metrics = session.client("cloudwatch", session.home).get_metric_data(
        MetricDataQueries=[QUERY], StartTime=0, EndTime=3_600
    )["MetricDataResults"]
    return {
        "network_type": system.get("NetworkType"),
        "ipv6_range": system["OpenZFSConfiguration"].get("EndpointIpv6AddressRange"),
        "accounts": [account.id for account in selected.accounts],
        "left_out": selected.left_out,
        "unknown": [gap.account for gap in selected.gaps],
        "values": [value for result in metrics for value in result["Values"]],
    }


def clients() -> dict[str, Any]:
    """Return the capabilities of the clients of all services in use, in each partition."""
    session, config = Session(), Config(ignore_configured_endpoint_urls=True)
    made = {
        (service, region): session.create_client(service, region, config=config)
        for service in sorted(SERVICES)
        for region in PARTITIONS
    }
    return {
        "services": session.get_available_services(),
        "endpoints": {f"{service} {region}": client.meta.endpoint_url for (service, region), client in made.items()},
        "protocols": {service: client.meta.service_model.resolved_protocol for (service, _), client in made.items()},
        "versions": {service: client.meta.service_model.api_version for (service, _), client in made.items()},
        "waiters": {service: client.waiter_names for (service, _), client in made.items()},
        "paginators": {
            service: [name for name in client.meta.method_to_api_mapping if client.can_paginate(name)]
            for (service, _), client in made.items()
        },
    }
