"""The report of an organization, changes since earlier audits, and more findings than a page shows."""

import copy
import json
import re
from dataclasses import replace
from html import unescape

import pytest

from slackwater.model.findings import Gap, TargetScan
from slackwater.model.resources import Target
from slackwater.views import report
from slackwater.views.report import render_report
from slackwater.views.scan import to_json as scan_json

REGIONS = ("ap-northeast-1", "eu-west-1", "us-east-1")
ACCOUNTS = (
    ("111111111111", "live", "Root/Media/Live"),
    ("222222222222", "labs", "Root/Labs"),
    ("333333333333", "spare", "Root/Media"),
)


@pytest.fixture
def organization(make):
    """Return a document of three accounts. All findings but one are in the second; the third cannot be accessed."""

    def found(account: str, id: str, usd: str | None, **changes):
        target = Target(account, REGIONS[0])
        volume = replace(make.volume(f"vol-{id}"), target=target, arn=f"arn:aws:ec2:{REGIONS[0]}:{account}:volume/{id}")
        return make.finding(usd, id=id, resource=volume, **changes)

    live, labs, spare = (id_ for id_, *_ in ACCOUNTS)
    of = {
        live: (found(live, "l1", "10.00"),),
        labs: (found(labs, "b1", "20.00", owner=None), found(labs, "b2", None, severity="low", kind="performance")),
    }

    def part(account: str, region: str, findings=(), gaps=()):
        return TargetScan(target=Target(account, region), findings=findings, unknown=(), gaps=gaps, resources={})

    denied = Gap(spare, REGIONS[0], "sts:AssumeRole", f"AccessDenied: arn:aws:iam::{spare}:role/slackwater")
    throttled = tuple(Gap(live, region, "fsx:DescribeVolumes", f"Throttling of {live}") for region in REGIONS)
    targets = [
        part(account, region, of[account] if region == REGIONS[0] else ())
        for account in (live, labs)
        for region in REGIONS
    ]
    targets[:3] = [replace(one, gaps=(gap,)) for one, gap in zip(targets[:3], throttled, strict=True)]
    doc = scan_json.document(replace(make.scan(), targets=(*targets, part(spare, REGIONS[0], gaps=(denied,)))))
    doc["scan"]["accounts"] = [{"id": id_, "name": name, "organizational_unit": unit} for id_, name, unit in ACCOUNTS]
    return doc


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def part(html: str, id_: str) -> str:
    """Return the HTML of a section, by its id."""
    return re.search(rf'<section [^>]*?(?:id|aria-labelledby)="{id_}".*?</section>', html, re.DOTALL)[0]


def rows(html: str) -> list[str]:
    return [words(row) for row in re.findall(r"<tr>.*?</tr>", html.replace("<td", " <td"), re.DOTALL)]


def options(html: str, name: str) -> list[tuple[str, str]]:
    select = re.search(rf'<select data-filter="{name}">.*?</select>', html, re.DOTALL)
    return re.findall(r'<option value="([^"]+)">([^<]*)', select[0]) if select else []


def test_units_accounts_and_owners_come_with_money_and_what_was_not_seen(organization) -> None:
    shares = part(render_report(organization), "shares")

    assert "By organizational unit, account and owner" in shares
    assert rows(shares) == [
        "Unit Accounts Findings USD a month Unpriced Regions incomplete Gaps",
        "Root 3 3 30.00 1 4 of 7 4",
        "Root/Labs 1 2 20.00 1 none 0",
        "Root/Media 2 1 10.00 0 4 of 4 4",
        "Root/Media/Live 1 1 10.00 0 3 of 3 3",
        "Account Findings USD a month Unpriced Regions incomplete Gaps",
        "labs (222222222222) 2 20.00 1 none 0",
        "live (111111111111) 1 10.00 0 3 of 3 3",
        "spare (333333333333) 0 0.00 0 1 of 1 1",
        "Owner Findings USD a month Unpriced",
        "nobody 1 20.00 0",
        "data 2 10.00 1",
    ]


def test_a_row_leads_to_the_filter_by_it_if_there_is_anything_to_show(organization) -> None:
    html = render_report(organization)
    links = re.findall(r'data-narrow="([^"]+)" data-value="([^"]+)"', html)

    assert ("owner", "(none)") in links
    assert ("account", "333333333333") not in links, "nothing was found there"
    assert ("unit", "Root/Media") in links
    for name, value in links:
        of_rows = set(re.findall(rf'<li id="\w+" data-finding.*? data-{name}="([^"]*)"', html))
        choices = [choice for choice, _ in options(html, name)]
        assert value in choices or (not choices and of_rows == {value}), "a filter with one choice is left out"


def test_findings_are_filtered_by_unit_with_what_is_below_it_and_by_accounts_that_have_names(organization) -> None:
    html = render_report(organization)

    assert options(html, "unit") == [
        ("Root", "Root (3)"), ("Root/Labs", "Root/Labs (2)"), ("Root/Media", "Root/Media (1)"),
        ("Root/Media/Live", "Root/Media/Live (1)"),
    ]  # fmt: skip
    assert options(html, "account") == [
        ("222222222222", "labs (222222222222) (2)"),
        ("111111111111", "live (111111111111) (1)"),
    ]
    assert re.findall(r'id="(\w+)" data-finding.*?data-unit="([^"]+)"', html) == [
        ("b1", "Root/Labs"), ("l1", "Root/Media/Live"), ("b2", "Root/Labs"),
    ]  # fmt: skip


def test_gaps_of_an_account_are_shown_once_above_the_findings(organization) -> None:
    html = render_report(organization)
    gaps = part(html, "gaps")

    assert html.index('id="gaps"') < html.index('id="findings"') < html.index('id="shares"')
    assert (
        "2 of 3 accounts incomplete: live (111111111111) ( 3 of 3 regions ), spare (333333333333) ( all of it )"
        in words(part(html, "not-seen"))
        .replace("(3 of 3 regions)", "( 3 of 3 regions )")
        .replace("(all of it)", "( all of it )")
    )
    assert rows(gaps) == [
        "Account Not seen whole Why",
        "live (111111111111) 3 of 3 regions fsx:DescribeVolumes: Throttling of 111111111111",
        "spare (333333333333) all of it sts:AssumeRole: AccessDenied: arn:aws:iam::333333333333:role/slackwater",
        "What Reason Required How often Where",
        "fsx:DescribeVolumes Throttling of {account} yes 3 3 regions of live (111111111111)",
        (
            "sts:AssumeRole AccessDenied: arn:aws:iam::{account}:role/slackwater yes 1 ap-northeast-1 of spare "
            "(333333333333)"
        ),
    ]


def test_many_accounts_that_fail_alike_are_one_kind_of_failure_and_more_than_ten_are_folded(organization, make) -> None:
    head = organization["scan"]
    ids = [f"{n:012}" for n in range(30)]
    head["targets"] += [{"account": id_, "region": "eu-west-1", "complete": False} for id_ in ids]
    head["gaps"] = [denied_to(id_) for id_ in ids]
    html = render_report(organization)
    gaps = part(html, "gaps")

    assert len([row for row in rows(gaps) if row.startswith("sts:AssumeRole")]) == 1
    assert "yes 30 eu-west-1 of 000000000000 , " in rows(gaps)[-1]
    assert "22 more accounts" in words(gaps)
    assert gaps.index("<details") < gaps.index("000000000010")
    assert 'and <a href="#gaps">27 more</a>' in part(html, "not-seen")


def denied_to(account: str):
    return {
        "account": account, "region": "eu-west-1", "what": "sts:AssumeRole", "reason": f"no role in {account}",
        "optional": False,
    }  # fmt: skip


def test_one_account_has_neither_table_nor_filter_nor_name(make) -> None:
    doc = scan_json.document(make.scan(make.finding()))
    doc["scan"]["accounts"] = [{"id": "123456789012", "name": "harbour", "organizational_unit": "Root"}]
    html = render_report(doc)

    assert 'id="shares"' not in html
    assert options(html, "unit") == []
    assert "harbour" not in html


def test_accounts_of_unknown_units_have_a_row_of_their_own_or_no_table(organization) -> None:
    nowhere = copy.deepcopy(organization)
    for account in nowhere["scan"]["accounts"]:
        account["organizational_unit"] = ""
    html = render_report(nowhere)
    assert "By account and owner" in part(html, "shares")
    assert options(html, "unit") == []

    nowhere["scan"]["accounts"][0]["organizational_unit"] = "Root"
    html = render_report(nowhere)
    assert "unknown 2 2 20.00 1 1 of 4 1" in rows(part(html, "shares"))
    assert options(html, "unit") == [("(unknown)", "(unknown) (2)"), ("Root", "Root (1)")]


def test_beyond_twenty_rows_the_others_are_counted_and_folded_and_beyond_a_fold_counted(
    organization, monkeypatch
) -> None:
    monkeypatch.setattr(report, "FOLDED", 5)
    report._template.cache_clear()
    ids = [f"{n:012}" for n in range(27)]
    organization["scan"]["targets"] += [{"account": id_, "region": "eu-west-1", "complete": True} for id_ in ids]
    organization["totals"]["by_account"] |= {
        id_: {"findings": 1, "monthly_savings_usd": "0.00", "unpriced": 1} for id_ in ids
    }
    shares = part(render_report(organization), "shares")
    report._template.cache_clear()

    assert "10 more accounts" in words(shares)
    assert "5 more accounts: the scan document's totals have them." in words(shares)
    assert shares.index("000000000017") < shares.index("<details") < shares.index("000000000018")


def test_seventeen_thousand_places_are_counted_and_not_named(organization) -> None:
    head = organization["scan"]
    head["targets"] += [{"account": "222222222222", "region": f"r-{n}", "complete": True} for n in range(60)]
    cost = words(part(render_report(organization), "cost"))

    assert "Where 63 regions of 3 accounts; the scan document names each" in cost
    assert "r-7" not in cost


def test_earlier_audits_are_drawn_and_listed_for_one_account_too(make) -> None:
    doc = scan_json.document(
        make.scan(make.finding("12.30"), make.finding("9.00", id="f2", resource=make.volume("vol-2")))
    )
    assert 'id="trend"' not in render_report(doc)
    doc["scan"]["trend"] = [
        {
            "audit_id": "a<1>",
            "as_of": "2026-11-02T09:00:00Z",
            "complete": False,
            "findings": 4,
            "monthly_savings_usd": "7.00",
        },
        {
            "audit_id": "a2",
            "as_of": "2026-11-09T09:00:00Z",
            "complete": True,
            "findings": 1,
            "monthly_savings_usd": "141.30",
        },
    ]
    html = render_report(doc)
    trend = part(html, "trend")

    text = "Since the audit of 2026-11-09: +1 finding, −120.00 USD a month"
    assert f'<a href="#trend">{text}</a>' in html
    assert text in words(trend)
    assert re.findall(r'role="img" aria-label="([^"]+)"', trend) == [
        "USD a month: 2026-11-02 7.00 (incomplete), 2026-11-09 141.30, 2026-11-15 21.30",
        "Findings: 2026-11-02 4 (incomplete), 2026-11-09 1, 2026-11-15 2",
    ]
    assert [' class="hollow"' in dot for dot in re.findall(r"<circle[^>]*>", trend)] == [True, False, False] * 2
    assert "Hollow: the audit was incomplete" in trend
    assert rows(trend) == [
        "As of Audit Complete Findings USD a month",
        "2026-11-02 09:00 UTC a<1> no 4 7.00",
        "2026-11-09 09:00 UTC a2 yes 1 141.30",
        "2026-11-15 23:00 UTC s1 yes 2 21.30",
    ]


@pytest.fixture
def many(make, monkeypatch):
    """Return a document with seven findings of three severities. A report shows five of them."""
    monkeypatch.setattr(report, "REPORT_FINDINGS", 5)
    found = [
        make.finding("1.00", id="h0", kind="performance", detector="ec2-idle", resource=make.volume("v-h")),
        *(
            make.finding(f"{90 - n}.00", id=f"m{n}", severity="medium", resource=make.volume(f"v-m{n}"))
            for n in range(5)
        ),
        make.finding("50.00", id="l0", severity="low", detector="efs-idle", owner="late", resource=make.volume("v-l")),
    ]
    return scan_json.document(make.scan(*found, unknown=(make.unknown(), make.unknown("vol-8")), kept=2))


def test_of_too_many_findings_the_worst_are_shown_and_the_sums_are_of_all(many) -> None:
    html = render_report(many)

    assert re.findall(r'data-finding="(\w+)"', html) == ["m0", "m1", "m2", "m3", "h0"]
    assert [*json.loads(re.search(r'id="details">(.*?)</script>', html)[1])["findings"]] == [
        "h0",
        "m0",
        "m1",
        "m2",
        "m3",
    ]
    more = "5 of 7 findings are shown, the worst first; the others are in the scan document (JSON, CSV)."
    assert more in words(part(html, "findings-title"))
    found = words(part(html, "found"))
    assert "7 findings high 1 medium at least 4 6 waste: $490.00 a month 1 performance; high: v-h" in found
    assert "$490 a month · $5.9k a year All with high confidence" in words(html[html.index("<h1") :])
    assert 'class="beside">7 findings: 6 show waste, and 1 is a performance issue.</p>' in html
    assert "<title>Slackwater: 7 findings, $490.00 a month" in html


def test_no_bar_sum_or_choice_is_of_what_is_shown_alone_nor_leads_to_what_is_not(many) -> None:
    html = render_report(many)

    bars = [words(bar) for bar in re.findall(r"<li>(?:<a|<span).*?</li>", part(html, "detectors"), re.DOTALL)]
    assert bars == [
        "EBS volume on no instance ebs-unattached 5 findings $440.00",
        "EFS file system that nobody uses efs-idle 1 finding $50.00",
        "EC2 instance that does nothing ec2-idle 1 finding $1.00",
    ]
    assert 'data-narrow="detector" data-value="efs-idle"' not in html
    assert [name for name, _ in options(html, "detector")] == ["ebs-unattached", "ec2-idle"]
    assert options(html, "severity") == [("high", "high (1)"), ("medium", "medium (4)")]
    assert options(html, "owner") == [], "all that are shown are of one owner"
    assert re.search(r'data-group="ebs-unattached".*?<span class="usd"></span>', html), (
        "its sum would be of four findings"
    )


def test_the_worst_findings_alone_make_the_same_page_as_all(many) -> None:
    whole = render_report(many)

    assert render_report({**many, "findings": many["findings"][:5]}) == whole
    assert render_report({**many, "unknown": iter(many["unknown"]), "unlisted": iter(many["unlisted"])}) == whole
    assert "2 inconclusive checks" in words(whole)
    assert "2 kept by their tags" in words(whole)


def test_a_page_that_holds_all_promises_no_more(many, monkeypatch) -> None:
    monkeypatch.setattr(report, "REPORT_FINDINGS", 7)
    html = render_report(many)

    assert 'id="more"' not in html
    assert "at least" not in words(part(html, "found"))
    assert 'data-narrow="detector" data-value="efs-idle"' in html


def test_without_any_of_its_findings_the_page_still_says_how_many_there_are(many) -> None:
    html = render_report({**many, "findings": []})

    assert "0 of 7 findings are shown" in words(html)
    assert "No check found anything" not in html
    assert "7 findings" in words(part(html, "found"))


@pytest.mark.parametrize(
    "name", ['<img src=x onerror="alert(1)">', "</script><b>", "' onmouseover='x", "{{ 7 * 7 }}", "a\u202eb"]
)
def test_names_of_accounts_units_and_reasons_are_never_markup(organization, name: str) -> None:
    hostile = copy.deepcopy(organization)
    for account in hostile["scan"]["accounts"]:
        account |= {"name": name, "organizational_unit": f"Root/{name.replace('/', '')}"}
    for gap in hostile["scan"]["gaps"]:
        gap["reason"] = name
    html = render_report(hostile)

    if "<" in name:
        assert name not in html
    assert "49" not in re.findall(r"<bdi>(\d+)</bdi>", html)
    assert "\u202e" not in html
    assert html.count("<script") == render_report(organization).count("<script")
    assert html.count("<img") == html.count('onerror="') == 0
