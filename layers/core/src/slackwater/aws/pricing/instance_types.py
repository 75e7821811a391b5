"""Reads the limits of instance types from EC2 if there is an account, and otherwise from the packaged snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from slackwater.aws.client.errors import reason
from slackwater.aws.client.pages import pages
from slackwater.aws.inventory.types import instance_type
from slackwater.aws.pricing.packaged import type_snapshot
from slackwater.model.findings import Gap

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import FilterTypeDef

    from slackwater.aws.client.deadline import Deadline
    from slackwater.aws.client.session import AwsSession
    from slackwater.model.resources import InstanceType

ACTIONS: Final = frozenset({"ec2:DescribeInstanceTypes"})


FAMILY: Final = re.compile("[a-z0-9-]{1,32}")
"""Valid family names. A wildcard would match other families."""


class DescribedTypes:
    """Instance types as EC2 describes them in a region, in addition to the packaged snapshot."""

    def __init__(self, session: AwsSession, deadline: Deadline) -> None:
        """Make no call."""
        self._session = session
        self._deadline = deadline
        self._refused: dict[str, Gap] = {}

    def of(self, families: Iterable[str], region: str) -> tuple[Iterable[InstanceType], list[Gap]]:
        """Return the types of these families that the region has, and every packaged type of other families.

        If the call fails, there is an optional gap, the packaged types are returned, and the region is not asked again.
        """
        found = {one.id: one for one in type_snapshot()}
        wanted = sorted({family for family in families if FAMILY.fullmatch(family)})
        if wanted and region not in self._refused:
            try:
                call = self._session.client("ec2", region).describe_instance_types
                filters: list[FilterTypeDef] = [
                    {"Name": "instance-type", "Values": [f"{family}.*" for family in wanted]}
                ]
                self._deadline.check()
                described = {}
                for one in pages(call, "InstanceTypes", Filters=filters):
                    described[one["InstanceType"]] = instance_type(one)
                    self._deadline.check()
                found = {name: one for name, one in found.items() if one.family not in wanted} | described
            except Exception as error:  # noqa: BLE001 -- after any error, the snapshot is used
                self._refused[region] = Gap("", region, "ec2:DescribeInstanceTypes", reason(error), optional=True)
        return found.values(), [self._refused[region]] if wanted and region in self._refused else []
