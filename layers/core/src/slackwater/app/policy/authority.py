"""Refuses callers of the API and the command line whom the policy does not let decide or start audits."""

from collections.abc import Callable

from slackwater.app.findings.findings import NotAllowedError
from slackwater.app.policy.file import PolicyError
from slackwater.engine.authority import SIGNED, may_audit, may_decide
from slackwater.model.policy import Policy


def check_decider(who: str, policy: Policy) -> None:
    """Refuse a caller whom the policy does not let snooze, dismiss and reopen.

    Raises:
        NotAllowedError: The policy does not let them.
    """
    if not may_decide(who, policy):
        raise NotAllowedError(f"the policy's api.deciders does not name {who}")


def check_auditor(who: str, policy: Callable[[], Policy]) -> None:
    """Refuse a caller whom the policy does not let start audits.

    If the policy is invalid, a caller whom IAM let in may still start one: its record says what is wrong with the
    policy.

    Raises:
        NotAllowedError: The policy does not let them.
        PolicyError: The policy is invalid, and IAM did not let this caller in.
    """
    try:
        found = policy()
    except PolicyError:
        if who.startswith(SIGNED):
            return
        raise
    if not may_audit(who, found):
        raise NotAllowedError(f"the policy's api.auditors does not name {who}")
