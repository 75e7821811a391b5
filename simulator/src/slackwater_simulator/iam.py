"""Simulate IAM's SimulatePrincipalPolicy. It allows every action unless a fault denies it."""

import re
from collections.abc import Callable, Sequence

from .partitions import partition
from .wire import AwsError, Call, Json, Reply, page_of, page_size, xml_reply

_SOURCE = re.compile(r"arn:(aws[a-z-]*):iam::(\d{12}):(user|group|role)/.+")
SIMULATED_DENIAL_PREFIX = "iam-simulated:"
"""Prefix of a fault that denies an action in the policy simulator only, such as `iam-simulated:ec2:DeleteVolume`.

The fault can end with ` on ARN`.
"""
PAGE = 100
"""Results a page without MaxItems."""


def simulate_principal_policy(call: Call) -> Reply:
    """Return one result per action. For several resources, the result combines and lists theirs."""
    source = _SOURCE.fullmatch(str(call.input.get("PolicySourceArn", "")))
    if source is None or source[1] != partition(call.region):
        raise AwsError("InvalidInput", "Invalid Entity Arn: use the ARN of a user, a group or a role.")
    if source[2] != call.account.id:
        raise AwsError("NoSuchEntity", f"The {source[3]} {source[0]} cannot be found.", 404)
    actions: Sequence[str] = call.input["ActionNames"]
    arns: Sequence[str] = call.input.get("ResourceArns") or ("*",)
    denied, size = call.simulator.faults.denies, page_size(call, 1000, PAGE)
    page = page_of(call, "EvaluationResults", actions, lambda action: _result(action, arns, denied), size)
    return xml_reply(call, page | {"IsTruncated": "Marker" in page})


def _result(action: str, arns: Sequence[str], denied: Callable[[str], bool]) -> Json:
    allowed = {
        arn: not denied(SIMULATED_DENIAL_PREFIX + action) and not denied(f"{SIMULATED_DENIAL_PREFIX}{action} on {arn}")
        for arn in arns
    }
    specific = [
        {"EvalResourceName": arn} | _decision_fields("EvalResourceDecision", each) for arn, each in allowed.items()
    ]
    return {
        "EvalActionName": action,
        "EvalResourceName": arns[0] if len(arns) == 1 else "*",
        **_decision_fields("EvalDecision", any(allowed.values())),
        "ResourceSpecificResults": [] if arns == ("*",) else specific,
    }


def _decision_fields(name: str, allowed: bool) -> Json:
    statements = [{"SourcePolicyId": "simulated", "SourcePolicyType": "role"}] if allowed else []
    decision = "allowed" if allowed else "implicitDeny"
    return {name: decision, "MatchedStatements": statements, "MissingContextValues": []}
