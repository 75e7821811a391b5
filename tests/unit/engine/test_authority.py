"""Who may decide, audit and read according to the policy, and when a role's session name identifies a person."""

import pytest

from slackwater.engine.authority import may_audit, may_decide, may_view, named, pins_session_name
from slackwater.model.policy import ApiSection, CleanupSection, Policy, SlackSection

ROLE = "arn:aws:sts::123456789012:assumed-role/Storage"
ADA = "ada@example.com"


@pytest.mark.parametrize(("may", "key"), [(may_decide, "deciders"), (may_audit, "auditors")])
@pytest.mark.parametrize(
    ("who", "named", "good"),
    [
        (f"{ROLE}/ada", [], True),  # IAM allowed the call
        ("arn:aws:iam::123456789012:user/ada", [], True),
        (ADA, [], False),  # a token for the audience is not enough
        ("7d1f-subject", [], False),
        (ADA, [ADA], True),
        (ADA, ["Ada@Example.com"], True),  # e-mail addresses are compared without case
        ("ADA@example.com", [ADA], True),
        ("7D1F-SUBJECT", ["7d1f-subject"], False),
        (f"{ROLE}/Ada@example.com", [f"{ROLE}/ada@example.com"], False),
        (ADA, [f"{ROLE}/ada"], False),
        (f"{ROLE}/ada", [ROLE], True),
        (f"{ROLE}/ada", [f"{ROLE}/ada"], True),
        (f"{ROLE}/eve", [f"{ROLE}/ada"], False),
        (f"{ROLE}/ada", [ADA], False),  # a list with entries also applies to callers that IAM allowed
        ("arn:aws:sts::123456789012:assumed-role/Storage2/ada", [ROLE], False),
    ],
)
def test_those_are_let_whom_the_list_names_and_of_an_empty_one_those_whom_iam_let_in(
    may, key, who, named, good
) -> None:
    assert may(who, Policy(limits={}, api=ApiSection(**{key: named}))) is good
    assert not may(who, Policy(limits={}, api=ApiSection(**{key: ["nobody"]})))


def test_an_empty_list_of_viewers_is_everybody_and_who_may_do_something_may_read() -> None:
    some = Policy(
        limits={},
        slack=SlackSection(viewers=["U0VIEW"], deciders=["U0DECIDE"], auditors=["U0AUDIT"]),
        cleanup=CleanupSection(approvers=["U0APPROVE"]),
    )

    assert may_view("U0EVE", Policy(limits={}))
    assert [user for user in ("U0VIEW", "U0DECIDE", "U0AUDIT", "U0APPROVE", "U0EVE") if may_view(user, some)] == [
        "U0VIEW", "U0DECIDE", "U0AUDIT", "U0APPROVE",
    ]  # fmt: skip


def trusts(*statements: dict) -> dict:
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **one} for one in statements]}


ROOT = {"Principal": {"AWS": "arn:aws:iam::123456789012:root"}, "Action": "sts:AssumeRole"}
PINNED = {"Condition": {"StringEquals": {"sts:RoleSessionName": "${aws:username}"}}}
SAML = {"Principal": {"Federated": "arn:aws:iam::123456789012:saml-provider/idp"}, "Action": "sts:AssumeRoleWithSAML"}


@pytest.mark.parametrize(
    ("trust", "pinned"),
    [
        (trusts(ROOT), False),
        (trusts(ROOT | PINNED), True),
        (trusts(ROOT | {"Condition": {"StringLike": {"STS:rolesessionname": ["ada"]}}}), True),
        (trusts(ROOT | {"Condition": {"StringLike": {"sts:RoleSessionName": "ada-*"}}}), False),
        (trusts(ROOT | {"Condition": {"StringLike": {"sts:RoleSessionName": "?*a?*"}}}), False),
        (trusts(ROOT | {"Condition": {"StringEquals": {"sts:RoleSessionName": ["ada", "bob"]}}}), False),
        (
            trusts(ROOT | {"Condition": {"StringEquals": {"sts:RoleSessionName": ["${aws:username}", "${saml:sub}"]}}}),
            True,
        ),
        (trusts(ROOT | {"Condition": {"StringEquals": {"sts:RoleSessionName": []}}}), False),
        (trusts(ROOT | {"Condition": {"StringLike": {"sts:RoleSessionName": "*"}}}), False),
        (trusts(ROOT | {"Condition": {"StringLike": {"sts:RoleSessionName": ["ada", "?*"]}}}), False),
        (trusts(ROOT | {"Condition": {"StringEquals": {"sts:ExternalId": "tide"}}}), False),
        (trusts(ROOT | {"Condition": {"StringNotEquals": {"sts:RoleSessionName": "eve"}}}), False),
        (trusts(ROOT | {"Condition": {"StringEqualsIfExists": {"sts:RoleSessionName": "ada"}}}), False),
        (trusts(ROOT | PINNED, ROOT), False),
        (trusts(ROOT | PINNED | {"Action": ["sts:TagSession", "STS:AssumeRole"]}), True),
        (trusts(ROOT | {"Action": "sts:*"}), False),
        (trusts(ROOT | {"Action": "sts:Assume*"}), False),
        (trusts(SAML), True),
        (trusts({"Principal": {"Federated": "accounts.google.com"}, "Action": "sts:AssumeRoleWithWebIdentity"}), False),
        (trusts({"Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}), True),
        (trusts({"Principal": "*", "NotAction": "sts:TagSession"}), False),
        ({"Statement": ROOT | PINNED | {"Effect": "Allow"}}, True),
        ({"Statement": [ROOT | {"Effect": "Deny"}]}, True),
    ],
)
def test_a_trust_policy_pins_the_name_where_every_way_in_does(trust: dict, pinned: bool) -> None:
    assert pins_session_name(trust) is pinned


def test_two_addresses_that_only_look_alike_are_two() -> None:
    assert named("Ada@Example.com", ["ada@example.com"])
    assert not named("gross@example.com", ["groß@example.com"])
