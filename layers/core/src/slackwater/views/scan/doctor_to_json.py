"""A permission check as JSON, and the wording that its views share."""

from collections.abc import Iterable
from typing import Any, Final, Literal, TypedDict

from slackwater.model.access import Access, Check, Examination, Need, Refusal

SCHEMA: Final = "slackwater.doctor/1"

ORGANISATION: Final = ("service control policy", "resource control policy")


class CallerDocument(TypedDict):
    """The caller. `role` is the name of the assumed role; null if there is none."""

    account: str
    arn: str
    partition: str
    role: str | None


class CheckDocument(TypedDict):
    """Access to an action in a region, and what a scan cannot do without it. A null region stands for all regions."""

    action: str
    region: str | None
    access: Access
    optional: bool
    reason: str | None
    blind: list[str]
    weaker: list[str]
    without: str


class DoctorDocument(TypedDict):
    """The permissions of a caller.

    `ready` says that a scan can make every required call. `statement` is the IAM statement that is missing; null if
    none is.
    """

    schema: Literal["slackwater.doctor/1"]
    caller: CallerDocument
    regions: list[str]
    ready: bool
    checks: list[CheckDocument]
    statement: dict[str, Any] | None
    hints: list[str]


def document(seen: Examination) -> DoctorDocument:
    """Return the document of a permission check."""
    return {
        "schema": SCHEMA,
        "caller": {"account": seen.account, "arn": seen.arn, "partition": seen.partition, "role": seen.role},
        "regions": list(seen.regions),
        "ready": seen.ready,
        "checks": [_check(check) for check in seen.checks],
        "statement": statement(seen.lacking) if seen.lacking else None,
        "hints": hints(seen),
    }


def statement(actions: Iterable[str]) -> dict[str, Any]:
    """Return the IAM statement that allows these actions.

    Its resource is `*`, because a narrower scope would not show the whole account.
    """
    return {"Sid": "SlackwaterScan", "Effect": "Allow", "Action": sorted(actions), "Resource": "*"}


def consequence(need: Need) -> str:
    """Return what a scan cannot do without an action."""
    parts = [f"{', '.join(need.blind)} cannot judge"] if need.blind else []
    parts += [f"{', '.join(need.weaker)} can say less"] if need.weaker else []
    return "; ".join([*parts, *filter(None, [need.without])])


def hints(seen: Examination) -> list[str]:
    """Return the obstacles that an Allow in the caller's own policy does not remove."""
    hints = [_hint(refusal, actions) for refusal, actions in seen.refused.items()]
    hints += [
        f"Nothing answers in {region}: is it enabled for this account, and can it be reached?"
        for region in seen.silent_regions
    ]
    return hints


def _hint(refusal: Refusal, actions: Iterable[str]) -> str:
    named = ", ".join(actions)
    who = " by the organization's administrators" if refusal.policy_type.lower() in ORGANISATION else ""
    if refusal.explicit:
        return (
            f"A Deny in the {refusal.policy_type} forbids {named}. It wins over every Allow: it must be changed "
            f"there{who}."
        )
    return f"The {refusal.policy_type} does not allow {named}: it must be allowed there{who}, whatever else allows it."


def _check(check: Check) -> CheckDocument:
    return {
        "action": check.need.action,
        "region": check.region,
        "access": check.answer.access,
        "optional": check.need.optional,
        "reason": check.answer.reason,
        "blind": list(check.need.blind),
        "weaker": list(check.need.weaker),
        "without": check.need.without,
    }
