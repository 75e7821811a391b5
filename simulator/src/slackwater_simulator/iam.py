"""IAM over the query protocol: what a role might do. Everything, but for what a fault denies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from .account import cut
from .partitions import partition
from .wire import AwsError, Call, Operation, Reply, offset_of, token
from .xml import members, query_document, tag

_NAMESPACE = "https://iam.amazonaws.com/doc/2010-05-08/"
_SOURCE = re.compile(r"arn:(aws[a-z-]*):iam::(\d{12}):(user|group|role)/.+")
_ACTION = re.compile(r"[\w-]+:[\w*]+")
PREFIX = "iam-simulated:"
"""Of a denial that only the policy simulator knows: `iam-simulated:ec2:DeleteVolume`, with ` on ARN` of one resource."""
PAGE = 100
"""Results a page, when MaxItems is not given."""


def operations(denied: Callable[[str], bool]) -> dict[str, Operation]:
    """IAM's operations; `denied` says whether there is a denial of this name."""

    def simulate_principal_policy(call: Call) -> Reply:
        """One result an action. With several resources it is an aggregate, and each has its own beneath it."""
        source = _SOURCE.fullmatch(str(call.input.get("PolicySourceArn", "")))
        if source is None or source[1] != partition(call.region):
            raise AwsError("InvalidInput", "Invalid Entity Arn: a user's, a group's or a role's is needed.")
        if source[2] != call.account.id:
            raise AwsError("NoSuchEntity", f"The {source[3]} {source[0]} cannot be found.", 404)
        actions: Sequence[str] = call.input.get("ActionNames") or ()
        arns: Sequence[str] = call.input.get("ResourceArns") or ("*",)
        if not actions or not all(_ACTION.fullmatch(action) for action in actions):
            raise AwsError("ValidationError", "ActionNames has to name actions: service:Action.")
        size = int(call.input.get("MaxItems", PAGE))
        if not 1 <= size <= 1000:
            raise AwsError("ValidationError", "MaxItems has to be between 1 and 1000.")
        shown, following = cut(actions, offset_of(call.input.get("Marker"), "InvalidInput"), size)
        results = members("EvaluationResults", (_result(action, arns, denied) for action in shown), "member")
        more = tag("IsTruncated", following is not None) + (
            tag("Marker", token(following)) if following is not None else ""
        )
        return Reply(query_document(call.operation, _NAMESPACE, results + more), "text/xml")

    return {"simulateprincipalpolicy": simulate_principal_policy}


def _result(action: str, arns: Sequence[str], denied: Callable[[str], bool]) -> str:
    decisions = {
        arn: "implicitDeny" if denied(PREFIX + action) or denied(f"{PREFIX}{action} on {arn}") else "allowed"
        for arn in arns
    }
    best = "allowed" if "allowed" in decisions.values() else "implicitDeny"
    specific: Iterable[str] = (
        tag("EvalResourceName", arn) + tag("EvalResourceDecision", decision) + _matched(decision)
        for arn, decision in decisions.items()
    )
    return (
        tag("EvalActionName", action)
        + tag("EvalResourceName", arns[0] if len(arns) == 1 else "*")
        + tag("EvalDecision", best)
        + _matched(best)
        + members("ResourceSpecificResults", () if arns == ("*",) else specific, "member")
    )


def _matched(decision: str) -> str:
    statement = tag("SourcePolicyId", "simulated") + tag("SourcePolicyType", "role")
    return (
        members("MatchedStatements", (statement,) if decision == "allowed" else (), "member")
        + "<MissingContextValues/>"
    )
