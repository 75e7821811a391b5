"""The policy evaluator that the tests of roles use follows the IAM User Guide."""

from typing import Any

import pytest

from support.iam import all_allowed, allowed

ANY = {"Effect": "Allow", "Action": "ec2:*", "Resource": "*"}


def when(operator: str, key: str, *values: str) -> list[dict[str, Any]]:
    return [
        {"Effect": "Allow", "Action": "ec2:DeleteVolume", "Resource": "*", "Condition": {operator: {key: list(values)}}}
    ]


def test_what_nothing_allows_is_denied_and_a_denial_wins() -> None:
    deny = {"Effect": "Deny", "Action": "ec2:Delete*", "Resource": "arn:2"}

    assert not allowed([], "ec2:DeleteVolume", "arn:1")
    assert allowed([ANY, deny], "ec2:DeleteVolume", "arn:1")
    assert not allowed([ANY, deny], "ec2:DeleteVolume", "arn:2")
    assert not all_allowed([ANY, deny], "ec2:DeleteVolume", {"arn:1": {}, "arn:2": {}})


@pytest.mark.parametrize(
    ("action", "resource", "good"),
    [
        ("ec2:deletevolume", "arn:aws:ec2:eu-west-1:1:volume/vol-1", True),
        ("ec2:DeleteVolumes", "arn:aws:ec2:eu-west-1:1:volume/vol-1", False),
        ("ec2:DeleteVolume", "arn:aws:ec2:eu-west-1:2:volume/vol-1", False),
        ("ec2:DeleteVolume", "arn:aws:ec2:eu-west-1:1:Volume/vol-1", False),
        ("ec2:DeleteVolume", "arn:aws:ec2:eu-west-1:1:snapshot/volume/vol-1", False),
        ("ec2:DeleteVolume", "*", False),
    ],
)
def test_actions_are_known_whatever_their_case_and_resources_by_patterns(
    action: str, resource: str, good: bool
) -> None:
    statement = {"Effect": "Allow", "Action": "ec2:DeleteVolume", "Resource": "arn:aws:ec2:*:1:volume/*"}

    assert allowed([statement], action, resource) is good


@pytest.mark.parametrize(
    ("operator", "values", "found", "good"),
    [
        ("StringEquals", ["a", "b"], "b", True),
        ("StringEquals", ["a"], "A", False),
        ("StringEquals", ["?*"], "a", False),
        ("StringEquals", ["a"], None, False),
        ("StringNotEquals", ["a", "b"], "c", True),
        ("StringNotEquals", ["a", "b"], "b", False),
        ("StringNotEquals", ["a"], None, True),
        ("StringLike", ["?*"], "a", True),
        ("StringLike", ["?*"], "", False),
        ("StringLike", ["*"], None, False),
        ("StringLike", ["a.c"], "abc", False),
        ("Bool", ["true"], "true", True),
        ("Bool", ["true"], "false", False),
        ("Bool", ["true"], None, False),
        ("Null", ["true"], None, True),
        ("Null", ["false"], None, False),
        ("Null", ["false"], "a", True),
        ("ForAllValues:StringEquals", ["a", "b"], ["b", "a"], True),
        ("ForAllValues:StringEquals", ["a", "b"], ["a", "c"], False),
        ("ForAllValues:StringEquals", ["a"], None, True),
        ("ForAllValues:StringNotEquals", ["a"], ["b", "c"], True),
        ("ForAllValues:StringNotEquals", ["a"], ["b", "a"], False),
        ("ForAllValues:StringNotEqualsIgnoreCase", ["a"], ["b", "c"], True),
        ("ForAllValues:StringNotEqualsIgnoreCase", ["a"], ["b", "A"], False),
        ("ForAllValues:StringNotEqualsIgnoreCase", ["a"], None, True),
        ("ForAnyValue:StringEquals", ["a"], ["b", "a"], True),
        ("ForAnyValue:StringEquals", ["a"], ["b"], False),
        ("ForAnyValue:StringEquals", ["a"], None, False),
    ],
)
def test_conditions_hold_as_iam_has_them(operator: str, values: list[str], found: Any, good: bool) -> None:
    context = {} if found is None else {"AWS:ResourceTag/own": found}

    assert allowed(when(operator, "aws:ResourceTag/Own", *values), "ec2:DeleteVolume", "arn:1", context) is good


def test_all_conditions_have_to_hold() -> None:
    both = [{**ANY, "Condition": {"StringEquals": {"a": "1", "b": "2"}, "Null": {"c": "true"}}}]

    assert allowed(both, "ec2:DeleteVolume", "*", {"a": "1", "b": "2"})
    assert not allowed(both, "ec2:DeleteVolume", "*", {"a": "1"})
    assert not allowed(both, "ec2:DeleteVolume", "*", {"a": "1", "b": "2", "c": "3"})


@pytest.mark.parametrize(
    "statement",
    [
        {"Effect": "Allow", "NotAction": "ec2:DeleteVolume", "Resource": "*"},
        {**ANY, "Resource": "arn:${aws:username}"},
        {**ANY, "Condition": {"StringEqualsIfExists": {"a": "1"}}},
        {**ANY, "Condition": {"StringNotEquals": {"a": "1"}}},
        {**ANY, "Condition": {"StringEquals": {"a": "1"}}},
    ],
)
def test_what_it_does_not_know_it_does_not_guess(statement: dict[str, Any]) -> None:
    with pytest.raises((NotImplementedError, KeyError)):
        allowed([statement], "ec2:DeleteVolume", "arn:1", {"a": ["1", "2"]})
