"""An evaluator of IAM policy documents. It supports what the templates' roles use, and raises for anything else.

It follows the IAM User Guide, "Policy evaluation logic" and "IAM JSON policy elements: Condition operators". A request
is allowed if, for each resource that it touches, a statement allows it and none denies it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

type Context = Mapping[str, str | Sequence[str]]
"""The context of a request: one or several values for each condition key."""

KNOWN = {"Sid", "Effect", "Action", "Resource", "Condition"}


def allowed(
    statements: Iterable[Mapping[str, Any]], action: str, resource: str, context: Context | None = None
) -> bool:
    """Return whether the statements of a principal's policies allow an action on one resource."""
    keys = {key.lower(): value for key, value in (context or {}).items()}
    effects = {one["Effect"] for one in statements if _is_about(one, action, resource, keys)}
    return effects == {"Allow"}


def all_allowed(statements: Sequence[Mapping[str, Any]], action: str, touched: Mapping[str, Context]) -> bool:
    """Return whether they allow a request that touches several resources. `touched` maps each one to its context."""
    return all(allowed(statements, action, resource, context) for resource, context in touched.items())


def like(pattern: str, text: str, *, ignore_case: bool = False) -> bool:
    """Return whether a text matches a pattern: `*` matches any characters, `?` exactly one."""
    if "${" in pattern:
        raise NotImplementedError(pattern)
    expression = "".join({"*": ".*", "?": "."}.get(one, re.escape(one)) for one in pattern)
    return re.fullmatch(expression, text, re.DOTALL | (re.IGNORECASE if ignore_case else 0)) is not None


def listed(value: Any) -> list[Any]:
    """Return a list or tuple as a list, and any other value as a list of one."""
    return list(value) if isinstance(value, list | tuple) else [value]


def _is_about(statement: Mapping[str, Any], action: str, resource: str, keys: Context) -> bool:
    if unknown := set(statement) - KNOWN:
        raise NotImplementedError(unknown)
    return (
        any(like(one, action, ignore_case=True) for one in listed(statement["Action"]))
        and any(like(one, resource) for one in listed(statement["Resource"]))
        and all(
            _holds(operator, keys.get(key.lower()), [str(one) for one in listed(wanted)])
            for operator, conditions in statement.get("Condition", {}).items()
            for key, wanted in conditions.items()
        )
    )


OPERATORS: Mapping[str, Callable[[Sequence[str], str], bool]] = {
    "StringEquals": lambda wanted, value: value in wanted,
    "StringNotEquals": lambda wanted, value: value not in wanted,
    "StringNotEqualsIgnoreCase": lambda wanted, value: value.lower() not in [one.lower() for one in wanted],
    "StringLike": lambda wanted, value: any(like(one, value) for one in wanted),
    "Bool": lambda wanted, value: value.lower() in [one.lower() for one in wanted],
}
"""Functions that compare one value of a request with the values in the policy."""


def _holds(operator: str, found: str | Sequence[str] | None, wanted: Sequence[str]) -> bool:
    """Return whether a condition holds. `found` is the request's value for the key; None if the key is missing."""
    if operator == "Null":
        return [str(found is None).lower()] == [one.lower() for one in wanted]
    every, _, name = operator.rpartition(":")
    met = [OPERATORS[name](wanted, value) for value in (listed(found) if found is not None else [])]
    match every:
        case "ForAllValues":
            return all(met)  # holds if there is no value
        case "ForAnyValue":
            return any(met)
        case "":
            if isinstance(found, list | tuple):
                raise NotImplementedError(f"{operator} of {found}")
            return all(met) if "Not" in name else any(met)  # negated operators hold if the key is missing
        case _:
            raise NotImplementedError(operator)
