"""Finds a deployed installation by the name of its CloudFormation stack."""

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
    """The stack does not exist, or is not a stack of Slackwater."""


def stack_outputs(session: AwsSession, name: str, region: str) -> tuple[Mapping[str, str], str]:
    """Return the outputs of a stack, and its status. Makes one call.

    Raises:
        StackError: There is no stack with this name.
        AwsError: It cannot be read.
    """
    with remedies():
        try:
            stacks = session.client("cloudformation", region).describe_stacks(StackName=name)["Stacks"]
        except ClientError as error:
            if error.response["Error"]["Code"] == "ValidationError":  # CloudFormation's code for a missing stack
                raise StackError(f"There is no stack {name!r} in {region}") from error
            raise
    if len(stacks) != 1:
        raise BrokenAnswerError(f"{len(stacks)} stacks of one name")
    outputs = stacks[0].get("Outputs", ())
    return {output["OutputKey"]: output["OutputValue"] for output in outputs}, stacks[0]["StackStatus"]
