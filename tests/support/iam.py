"""How IAM evaluates policy documents, as far as the templates' roles need. It refuses what it does not know.

After the IAM User Guide, "Policy evaluation logic" and "IAM JSON policy elements: Condition operators": a request is
allowed where a statement allows it on each resource that it touches, and none denies it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

type Context = Mapping[str, str | Sequence[str]]
"""What is known of a request, by condition key: one value, or several."""

KNOWN = {"Sid", "Effect", "Action", "Resource", "Condition"}


def allowed(
    statements: Iterable[Mapping[str, Any]], action: str, resource: str, context: Context | None = None
) -> bool:
    """Whether the statements of a principal's policies allow an action on one resource."""
    keys = {key.lower(): value for key, value in (context or {}).items()}
    effects = {one["Effect"] for one in statements if _is_about(one, action, resource, keys)}
    return effects == {"Allow"}


def all_allowed(statements: Sequence[Mapping[str, Any]], action: str, touched: Mapping[str, Context]) -> bool:
    """Whether they allow a request that touches several resources; of each the context is its own."""
    return all(allowed(statements, action, resource, context) for resource, context in touched.items())


def like(pattern: str, text: str, *, ignore_case: bool = False) -> bool:
    """Whether a text is as a pattern has it: `*` is any run of characters, `?` any one."""
    if "${" in pattern:
        raise NotImplementedError(pattern)
    expression = "".join({"*": ".*", "?": "."}.get(one, re.escape(one)) for one in pattern)
    return re.fullmatch(expression, text, re.DOTALL | (re.IGNORECASE if ignore_case else 0)) is not None


def listed(value: Any) -> list[Any]:
    """One is a list of one."""
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
"""Whether one value is as the policy wants it."""


def _holds(operator: str, found: str | Sequence[str] | None, wanted: Sequence[str]) -> bool:
    """Whether a condition holds of what a request has under its key; None where it has nothing."""
    if operator == "Null":
        return [str(found is None).lower()] == [one.lower() for one in wanted]
    every, _, name = operator.rpartition(":")
    met = [OPERATORS[name](wanted, value) for value in (listed(found) if found is not None else [])]
    match every:
        case "ForAllValues":
            return all(met)  # and so of none
        case "ForAnyValue":
            return any(met)
        case "":
            if isinstance(found, list | tuple):
                raise NotImplementedError(f"{operator} of {found}")
            return all(met) if "Not" in name else any(met)  # a key that is not there is not any value
        case _:
            raise NotImplementedError(operator)
