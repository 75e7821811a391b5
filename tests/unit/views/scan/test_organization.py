"""Totals of an audit of several accounts, by organizational unit, account and owner."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.model.findings import CEILING
from slackwater.views.scan.organization import organized, within


def totals(findings: int, usd: str, unpriced: int = 0):
    return {"findings": findings, "monthly_savings_usd": usd, "unpriced": unpriced}


def account(id: str, unit: str = "", name: str | None = None):
    return {"id": id, "name": name or id, "organizational_unit": unit}


def gap(account: str, what: str = "ec2:DescribeVolumes", reason: str = "denied", *, optional: bool = False):
    return {"account": account, "region": "r", "what": what, "reason": reason, "optional": optional}


def audited(by_account, accounts=(), *, regions=("r",), incomplete=(), gaps=(), by_owner=None):
    """Return a document's head and totals. `incomplete` has pairs of account and region."""
    ids = [one["id"] for one in accounts] or [*by_account]
    targets = [{"account": id_, "region": r, "complete": (id_, r) not in incomplete} for id_ in ids for r in regions]
    head = {"targets": targets, "gaps": [*gaps], **({"accounts": [*accounts]} if accounts else {})}
    return {"scan": head, "totals": {"by_account": by_account, "by_owner": by_owner or {}}}


HELD = f"{CEILING}: 25 of 25 USD were spent (7 times)"
TREE = [
    account("1", "Root/Media/Live", "live"),
    account("2", "Root/Media"),
    account("3", "Root/Labs", "labs"),
    account("4"),
]
SPENT = {"1": totals(2, "10.00", 1), "2": totals(1, "5.50"), "3": totals(7, "40.00", 2), "4": totals(1, "1.00")}


def test_one_account_is_no_organization_and_an_older_document_says_too_little() -> None:
    assert organized(audited({"1": totals(1, "1.00")}, regions=("a", "b"))) is None
    older = audited(SPENT)
    del older["totals"]["by_account"]
    assert organized(older) is None


def test_a_unit_comes_to_all_that_is_below_it() -> None:
    found = organized(
        audited(SPENT, TREE, regions=("a", "b"), incomplete={("1", "a"), ("3", "b")}, gaps=[gap("1"), gap("1")])
    )
    by_unit = {share.key: share for share in found.by_unit}

    assert {key: (share.usd, share.findings, share.unpriced, share.below) for key, share in by_unit.items()} == {
        "Root": (Decimal("55.50"), 10, 3, 3),
        "Root/Media": (Decimal("15.50"), 3, 1, 2),
        "Root/Media/Live": (Decimal("10.00"), 2, 1, 1),
        "Root/Labs": (Decimal("40.00"), 7, 2, 1),
        "": (Decimal("1.00"), 1, 0, 1),
    }
    assert (by_unit["Root"].targets, by_unit["Root"].incomplete, by_unit["Root"].gaps) == (6, 2, 2)
    assert (by_unit["Root/Media"].targets, by_unit["Root/Media"].incomplete, by_unit["Root/Media"].gaps) == (4, 1, 2)


def test_the_most_expensive_accounts_come_first_and_accounts_without_findings_are_listed() -> None:
    found = organized(
        audited({"1": SPENT["1"], "3": SPENT["3"]}, TREE, by_owner={"": totals(2, "3.00"), "web": totals(1, "9.00")})
    )

    assert [share.key for share in found.by_account] == ["3", "1", "2", "4"]
    assert [share.key for share in found.by_owner] == ["web", ""]
    assert [share.key for share in found.by_unit[:2]] == ["Root", "Root/Labs"]
    assert found.found_in == 2
    assert found.names == {"1": "live (1)", "2": "2", "3": "labs (3)", "4": "4"}


def test_without_units_there_are_none() -> None:
    assert organized(audited(SPENT)).by_unit == ()


@given(
    st.dictionaries(
        st.sampled_from("123456789"),
        st.tuples(st.sampled_from(["", "a", "a/b", "a/b/c", "d"]), st.integers(0, 10**6)),
        min_size=2,
    )
)
def test_units_at_the_top_add_up_to_all_accounts(accounts) -> None:
    spent = {id_: totals(1, f"{cents / 100:.2f}") for id_, (_, cents) in accounts.items()}
    found = organized(audited(spent, [account(id_, unit) for id_, (unit, _) in accounts.items()]))
    top = [share for share in found.by_unit if "/" not in share.key]

    assert not top or sum(share.usd for share in top) == sum(share.usd for share in found.by_account)
    assert not top or sum(share.below for share in top) == len(accounts)


def test_an_account_that_was_not_seen_whole_is_named_once_with_its_first_reason() -> None:
    blind = {("1", "a"), ("2", "a"), ("2", "b"), ("2", "c"), ("3", "a"), ("3", "b"), ("4", "a"), ("5", "a")}
    gaps = [
        gap("1", "sts:AssumeRole", "AccessDenied"),
        gap("2", "pricing:GetProducts", "no", optional=True),
        gap("2", reason="first"),
        gap("2", reason="second"),
        gap("3", "cloudwatch:GetMetricData", HELD),
        gap("3", reason="denied"),
        gap("4", "cloudwatch:GetMetricData", HELD),
        gap("4", reason="not seen, but optional", optional=True),
    ]
    tree = [*TREE, account("5")]
    found = organized(audited(SPENT, tree, regions=("a", "b", "c", "d"), incomplete=blind, gaps=gaps))

    assert [(one.account, one.extent, one.why) for one in found.unseen] == [
        ("1", "all of it", "sts:AssumeRole: AccessDenied"),
        ("2", "3 of 4 regions", "ec2:DescribeVolumes: first"),
        ("3", "a, b", "ec2:DescribeVolumes: denied"),
        ("4", "a", f"cloudwatch:GetMetricData: {HELD}"),
        ("5", "a", "the reason is unknown"),
    ]


@pytest.mark.parametrize(
    ("accounts", "most_expensive"),
    [
        (TREE[:3], ["Root/Labs", "Root/Media/Live"]),
        (TREE, ["labs (3)", "live (1)"]),
        ([account("1", "Root", "live"), account("2", "Root")], ["live (1)", "2"]),
    ],
)
def test_most_could_be_saved_in_units_or_where_they_say_nothing_in_accounts(accounts, most_expensive) -> None:
    assert [name for name, _ in organized(audited(SPENT, accounts)).most_expensive(2)] == most_expensive


def test_where_nothing_could_be_saved_is_not_where_most_could() -> None:
    assert organized(audited({"1": totals(1, "0.00"), "2": totals(1, "2.00")})).most_expensive(3) == [
        ("2", Decimal("2.00"))
    ]


def test_a_path_is_within_all_above_it() -> None:
    assert within("Root/Media/Live") == ["Root", "Root/Media", "Root/Media/Live"]
    assert within("") == [""]
