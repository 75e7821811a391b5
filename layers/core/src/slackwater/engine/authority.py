"""Checks whom the policy lets decide, start audits and read, and whether a role's session name identifies its user."""

import re
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from slackwater.model.policy import Policy

SIGNED: Final = "arn:"
"""The prefix of callers that IAM let in. The name in a token must not begin with it."""
SESSION: Final = re.compile(r"arn:aws[a-z-]*:sts::(?P<account>\d{12}):assumed-role/(?P<role>[^/]+)/(?P<session>.+)")
"""The STS ARN of an assumed role, with the name of its session."""
BY_IDENTITY_CENTER: Final = "AWSReservedSSO_"
"""The prefix of roles of IAM Identity Center, which names their sessions after its users."""
NAMES_SESSION: Final = ("sts:assumerole", "sts:assumerolewithwebidentity")
"""Actions of a trust policy that let the caller choose the session's name. With SAML, the identity provider chooses it.
"""


def named(who: str, identities: Collection[str]) -> bool:
    """Return whether the identities include this caller.

    They may name an assumed role's ARN without the session's name. Letter case in e-mail addresses does not matter.
    """
    role = who.rpartition("/")[0] if ":assumed-role/" in who else who
    return not {_comparable(who), role}.isdisjoint(map(_comparable, identities))


def _comparable(who: str) -> str:
    # ASCII only: casefold would make groß@ and gross@ the same address.
    return who.lower() if "@" in who and who.isascii() and not who.startswith(SIGNED) else who


def may_decide(who: str, policy: Policy) -> bool:
    """Return whether the policy lets a caller of the API or the command line snooze, dismiss and reopen."""
    return _may(who, policy.api.deciders)


def may_audit(who: str, policy: Policy) -> bool:
    """Return whether the policy lets a caller of the API or the command line start audits."""
    return _may(who, policy.api.auditors)


def may_view(user: str, policy: Policy) -> bool:
    """Return whether the policy lets a member of Slack read. Members who may do anything else may also read."""
    slack = policy.slack
    return not slack.viewers or user in {*slack.viewers, *slack.deciders, *slack.auditors, *policy.cleanup.approvers}


def _may(who: str, names: Collection[str]) -> bool:
    """Return whether the list allows this caller. An empty list allows all whom IAM let in, and nobody with a token."""
    return named(who, names) if names else who.startswith(SIGNED)


def pins_session_name(trust: Mapping[str, Any]) -> bool:
    """Return whether a role's trust policy lets nobody choose the name of the session.

    Each statement that lets people in must have a condition on `sts:RoleSessionName` that leaves no choice: one fixed
    name, or only names with a variable such as `${aws:username}`.
    """
    return all(
        _pinned(statement)
        for statement in _listed(trust.get("Statement"))
        if statement.get("Effect") == "Allow" and _by_caller(statement)
    )


def _by_caller(statement: Mapping[str, Any]) -> bool:
    """Return whether the statement lets in a caller who chooses the session's name. AWS services do not count."""
    principal = statement.get("Principal", "*")
    if isinstance(principal, dict) and set(principal) == {"Service"}:
        return False
    return "NotAction" in statement or any(
        fnmatchcase(action, pattern.lower()) for pattern in _listed(statement.get("Action")) for action in NAMES_SESSION
    )


def _pinned(statement: Mapping[str, Any]) -> bool:
    return any(
        operator.rpartition(":")[2] in {"StringEquals", "StringEqualsIgnoreCase", "StringLike"}
        and not any("*" in value or "?" in value for value in values)
        and (len(values) == 1 or (values and all("${" in value for value in values)))
        for operator, values in _conditions(statement)
    )


def _conditions(statement: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield the operators and values of conditions on the session's name.

    `_pinned` ignores operators with `IfExists`, because they are also true if there is no name.
    """
    for operator, conditions in statement.get("Condition", {}).items():
        for key, values in conditions.items():
            if key.lower() == "sts:rolesessionname":
                yield operator, _listed(values)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
