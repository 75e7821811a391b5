"""What a role of ours may do, as IAM's own policy simulator says: asked before the first part of anything is deleted.

It weighs the role's policies, its boundary, and the organisation's, not those of a resource (Amazon IAM API Reference,
"SimulatePrincipalPolicy"): an EFS file system's own policy may still refuse.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import batched
from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.client.errors import remedies
from slackwater.aws.client.pages import TokenNames, pages
from slackwater.ports.errors import BrokenAnswerError

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession

ACTIONS: Final = frozenset({"iam:SimulatePrincipalPolicy"})

ALLOWED: Final = "allowed"
A_CALL: Final = 50
"""Resources in one call. AWS names no limit of their number; an answer has one result for each."""
TAG_KEY: Final = "aws:ResourceTag/"
NETWORK_INTERFACE: Final = ":network-interface/"
VIA_SERVICE: Final = {"ContextKeyName": "aws:ViaAWSService", "ContextKeyType": "boolean", "ContextKeyValues": ["true"]}
"""A mount target's network interface is deleted by EFS, with the caller's permissions: the role may delete none by
itself.
"""


class SimulatedPermissions:
    """The Permissions of a role."""

    def __init__(self, session: AwsSession, role_arn: str) -> None:
        """Makes no call."""
        self._session, self._role_arn = session, role_arn

    @remedies()
    def denied(self, actions: Mapping[str, Collection[str]], tags: Mapping[str, str]) -> Sequence[str]:
        """`ec2:DeleteVolume on arn:…` of each action that would be denied on a resource with these tags.

        Resources for which the same is asked share a call, as many as `A_CALL`.

        Raises:
            AwsError: IAM did not say, or not of all of them.
        """
        alike: dict[tuple[tuple[str, ...], bool], list[str]] = {}
        for arn, wanted in actions.items():
            alike.setdefault((tuple(sorted(wanted)), NETWORK_INTERFACE in arn), []).append(arn)
        return [
            denied
            for (wanted, _), arns in alike.items()
            for some in batched(arns, A_CALL)
            for denied in self._denied(some, wanted, tags)
        ]

    def _denied(self, arns: Sequence[str], actions: Sequence[str], tags: Mapping[str, str]) -> list[str]:
        client = self._session.client("iam", self._session.home)
        decisions = dict[tuple[str, str], str]()
        for one in pages(
            client.simulate_principal_policy,
            "EvaluationResults",
            tokens=TokenNames("Marker", "Marker"),
            PolicySourceArn=self._role_arn,
            ActionNames=[*actions],
            ResourceArns=[*arns],
            ContextEntries=_context(arns[0], tags),
        ):
            if len(arns) == 1:
                decisions[one["EvalActionName"], arns[0]] = one["EvalDecision"]
            for each in (
                one["ResourceSpecificResults"] if len(arns) > 1 else ()
            ):  # what is said of all is no more than a sum
                decisions[one["EvalActionName"], each["EvalResourceName"]] = each["EvalResourceDecision"]
        asked = [(action, arn) for arn in arns for action in actions]
        if unsaid := [f"{action} is allowed on {arn}" for action, arn in asked if (action, arn) not in decisions]:
            raise BrokenAnswerError(f"IAM does not say whether {unsaid[0]}")
        return [f"{action} on {arn}" for action, arn in asked if decisions[action, arn] != ALLOWED]


def _context(arn: str, tags: Mapping[str, str]) -> list[dict[str, Any]]:
    """What is true of a call for a resource. A network interface carries no tag of ours, and AWS itself asks for it."""
    if NETWORK_INTERFACE in arn:
        return [VIA_SERVICE]
    return [
        {"ContextKeyName": f"{TAG_KEY}{key}", "ContextKeyType": "string", "ContextKeyValues": [value]}
        for key, value in tags.items()
    ]
