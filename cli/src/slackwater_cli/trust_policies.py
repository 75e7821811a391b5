"""Reads from IAM the trust policies of roles that a policy names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slackwater.ports.errors import AwsError
from slackwater_cli.slow import endpoint_hint, waiting_for

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession


class TrustPolicies:
    """Reads trust policies of roles in the caller's account. After a call without an answer, it makes no more calls."""

    def __init__(self, profile: str | None) -> None:
        """Use the credentials of this profile, or those of the environment. Makes no call yet."""
        self._profile = profile
        self._caller: tuple[AwsSession, str] | None = None
        self._no_answer = False

    def pins_session_name(self, account: str, role: str) -> bool | None:
        """Return whether a role's trust policy pins the name of its sessions; None if it cannot be read."""
        from slackwater.aws.deployment.trust import trust_policy
        from slackwater.engine.authority import pins_session_name

        if self._no_answer:
            return None
        try:
            with waiting_for(f"AWS{endpoint_hint()} to read the trust policy of {role}"):
                self._caller = self._caller or self._identified()
                session, own_account = self._caller
                return pins_session_name(trust_policy(session, role)) if own_account == account else None
        except AwsError as error:
            self._no_answer = self._caller is None or error.transient
            return None

    def _identified(self) -> tuple[AwsSession, str]:
        """Return a session and its account id."""
        from slackwater.aws.client.identity import identity
        from slackwater.aws.client.meter import CallMeter
        from slackwater.aws.client.session import OPTIONAL_RETRIES, AwsSession
        from slackwater_cli.credentials import check_credentials

        session = AwsSession(self._profile, meter=CallMeter(), retries=OPTIONAL_RETRIES)
        check_credentials(session)
        return session, identity(session).account
