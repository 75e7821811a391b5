"""Protocols that check IAM permissions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the endpoint that Slack calls imports this, and not pydantic
    from slackwater.model.access import Answer


class PermissionChecks(Protocol):
    """Asks AWS, once for each action, whether the caller may do it. Changes nothing. Thread-safe."""

    def is_there(self, action: str, region: str) -> bool:
        """Return whether the action's service has an endpoint in a region. Makes no call."""
        ...

    def once(self, action: str) -> bool:
        """Return whether one call answers for all regions."""
        ...

    def ask(self, action: str, region: str | None) -> Answer:
        """Make the action's smallest call. An error is an answer, too: nothing is raised."""
        ...


class Permissions(Protocol):
    """Knows what the role that deletes may do."""

    def denied(self, actions: Mapping[str, Collection[str]], tags: Mapping[str, str]) -> Sequence[str]:
        """Those of the actions, by ARN, that would be denied on resources with these tags: `ec2:DeleteVolume on arn:…`.

        Raises:
            AwsError: IAM did not say.
        """
        ...
