"""Checks a role's permissions with IAM's policy simulator, before the first sub-resource is deleted.

The simulator evaluates the role's policies, its permissions boundary and the organization's policies, but not the
policies of resources (Amazon IAM API Reference, "SimulatePrincipalPolicy"). The policy of an EFS file system can still
deny the deletion.
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
"""Resources per call. AWS documents no limit. A response has one result for each."""
TAG_KEY: Final = "aws:ResourceTag/"
NETWORK_INTERFACE: Final = ":network-interface/"
VIA_SERVICE: Final = {"ContextKeyName": "aws:ViaAWSService", "ContextKeyType": "boolean", "ContextKeyValues": ["true"]}
"""EFS deletes a mount target's network interface with the caller's permissions. The role cannot delete one directly."""


class SimulatedPermissions:
    """The `Permissions` port, for one role."""

    def __init__(self, session: AwsSession, role_arn: str) -> None:
        """Make no call."""
        self._session, self._role_arn = session, role_arn

    @remedies()
    def denied(self, actions: Mapping[str, Collection[str]], tags: Mapping[str, str]) -> Sequence[str]:
        """Return `ec2:DeleteVolume on arn:…` for each action that IAM would deny on a resource with these tags.

        Resources with the same actions share a call, up to `A_CALL` of them.

        Raises:
            AwsError: IAM did not answer, or not for all resources.
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
            ):  # the decision for all is only a summary
                decisions[one["EvalActionName"], each["EvalResourceName"]] = each["EvalResourceDecision"]
        asked = [(action, arn) for arn in arns for action in actions]
        if unsaid := [f"{action} is allowed on {arn}" for action, arn in asked if (action, arn) not in decisions]:
            raise BrokenAnswerError(f"IAM does not say whether {unsaid[0]}")
        return [f"{action} on {arn}" for action, arn in asked if decisions[action, arn] != ALLOWED]


def _context(arn: str, tags: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the condition keys of a call.

    A network interface does not have Slackwater's tags, and AWS itself makes the call.
    """
    if NETWORK_INTERFACE in arn:
        return [VIA_SERVICE]
    return [
        {"ContextKeyName": f"{TAG_KEY}{key}", "ContextKeyType": "string", "ContextKeyValues": [value]}
        for key, value in tags.items()
    ]
