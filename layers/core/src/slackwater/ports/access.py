"""Protocols for IAM permissions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the function that Slack calls imports this module and must not load pydantic
    from slackwater.model.access import Answer


class PermissionChecks(Protocol):
    """Tests each action once with a call that changes nothing. Thread-safe."""

    def is_there(self, action: str, region: str) -> bool:
        """Return whether a scan of a region may use the action; False if its service is not there. Makes no call."""
        ...

    def once(self, action: str) -> bool:
        """Return whether one call answers for all regions."""
        ...

    def ask(self, action: str, region: str | None) -> Answer:
        """Make the smallest call of the action. An error is returned as an answer; nothing is raised.

        Args:
            action: As IAM names it.
            region: None if one call is enough for all regions.
        """
        ...


class Permissions(Protocol):
    """Simulates the permissions of the role that deletes."""

    def denied(self, actions: Mapping[str, Collection[str]], tags: Mapping[str, str]) -> Sequence[str]:
        """Return the actions, with their ARN, that would be denied on resources with these tags: `ec2:DeleteVolume on
        arn:…`.

        Args:
            actions: The actions by ARN.
            tags: The tags that the resources would have.

        Raises:
            AwsError: IAM did not answer.
        """
        ...
