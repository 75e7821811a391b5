"""Finds what was deployed, by the name of its CloudFormation stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from slackwater.aws.client.errors import remedies
from slackwater.ports.errors import BrokenAnswerError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"cloudformation:DescribeStacks"})


class StackError(Exception):
    """There is no such stack, or it is not one of ours."""


def stack_outputs(session: AwsSession, name: str, region: str) -> tuple[Mapping[str, str], str]:
    """The outputs of a stack, and its status. One call.

    Raises:
        StackError: there is no stack of this name.
        AwsError: it cannot be read.
    """
    with remedies():
        try:
            stacks = session.client("cloudformation", region).describe_stacks(StackName=name)["Stacks"]
        except ClientError as error:
            if error.response["Error"]["Code"] == "ValidationError":  # CloudFormation's word for "there is none"
                raise StackError(f"There is no stack {name!r} in {region}") from error
            raise
    if len(stacks) != 1:
        raise BrokenAnswerError(f"{len(stacks)} stacks of one name")
    outputs = stacks[0].get("Outputs", ())
    return {output["OutputKey"]: output["OutputValue"] for output in outputs}, stacks[0]["StackStatus"]
