"""The report, which is one HTML file."""

import html
import json
import re
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.model.findings import ALSO_FOUND, CEILING, REGION_DISABLED, Gap, TargetScan, UnknownVerdict, Unlisted
from slackwater.model.metrics import Series
from slackwater.model.resources import Target
from slackwater.model.verdicts import Evidence, Line
from slackwater.views import report
from slackwater.views.report import render_report
from slackwater.views.report.details import inert
from slackwater.views.report.headline import by_owner, short_dollars, title
from slackwater.views.scan import to_json as scan_json
from slackwater.views.text.words import undo
from support.effort import effort

HOSTILE = (
    '<img src=x onerror="alert(1)">',
    "</script><script>alert(1)</script>",
    "<!channel> <!-- <script> -->",
    "' onmouseover='alert(1)",
    '" autofocus onfocus="alert(1)',
    "{{ 7 * 7 }}{% include 'x' %}",
    "n" * 300,
    "גיבוי של הלקוח",
    "🌊 ebb & flow",
    "line\u2028and\u2029paragraph",
)
MANY = 1_000
MEGABYTE = 1_000_000


class Page(HTMLParser):
    """The tags and attributes of a page, and the text in each kind of element."""

    VOID = frozenset({"meta", "link", "br", "input", "img"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str | None]] = []
        self.texts: dict[str, list[str]] = {}
        self.inside: dict[str, str] = {}
        self._open: list[tuple[str, str | None]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self._add(" ")
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.VOID:
            self._open.append((tag, dict(attrs).get("id")))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass  # rows and cells need no end tag

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts.setdefault(self._open[-1][0], []).append(data)
        self._add(data)

    def _add(self, text: str) -> None:
        for _, id_ in self._open:
            if id_:
                self.inside[id_] = self.inside.get(id_, "") + text

    def values(self, name: str) -> list[str | None]:
        return [value for _, each, value in self.attributes if each == name]


def page(*arguments: Any) -> Page:
    return Page(rendered(*arguments))


def rendered(scan: Any) -> str:
    return render_report(scan_json.document(scan))


def data(shown: Page) -> dict[str, Any]:
    return json.loads(shown.inside["details"])


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_money_comes_first_then_what_was_not_seen_then_the_findings(make) -> None:
    shown = page(
        make.scan(
            make.finding("12.30"), make.finding(None, id="f2", resource=make.volume("vol-2")), unknown=(make.unknown(),)
        )
    )
    text = words(shown.inside["sum"])

    assert text == "Save $12 a month · $148 a year"
    assert "All with high confidence" in words(" ".join(shown.texts["p"]))
    assert "waste: $12.30 a month" in words(shown.inside["found-and-not"])
    assert "2 findings, 1 unpriced" in words(shown.inside["found-and-not"])
    order = [
        id_
        for id_ in shown.values("id")
        if id_ in {"sum", "fixes", "by-owner", "not-seen", "detectors", "findings", "unknown", "cost"}
    ]
    assert order == ["sum", "fixes", "by-owner", "not-seen", "findings", "detectors", "unknown", "cost"]


def test_every_number_is_the_documents(make) -> None:
    scan = make.scan(make.finding("1234.50"), kept=2, below_minimum=1)
    doc = scan_json.document(scan)
    shown = page(scan)

    assert "waste: $1,234.50 a month" in words(shown.inside["found-and-not"])
    assert words(shown.inside["f1"]).endswith(" saves $1,234.50")
    cost = words(shown.inside["cost"])
    assert f"about {doc['scan']['usage']['estimated_usd']} USD" in cost
    assert "Requests to AWS 3 Read from CloudWatch 7 metrics, 70 points" in cost
    assert "ec2:DescribeVolumes 3" in cost
    assert "ap-northeast-1 of 123456789012" in cost
    assert "3 EBS volumes" in cost
    assert "the defaults" in cost
    assert "2 kept by their tags, 1 below the least saving" in words(shown.inside["found-and-not"])


def test_what_could_not_be_seen_is_as_loud_as_what_was_found(make) -> None:
    optional = Gap("1", "eu-west-1", "pricing:GetProducts", "Throttling", optional=True)
    unknown = [make.unknown(f"vol-{n}") for n in range(20)] + [
        UnknownVerdict("efs-idle", make.volume("vol-x"), "no StorageBytes")
    ]
    shown = page(make.scan(make.finding("5.00"), gaps=(make.gap(), optional), unknown=tuple(unknown)))

    assert words(shown.inside["sum"]) == "Save at least $5 a month · at least $60 a year"
    assert "Incomplete" in shown.texts["strong"]
    seen = words(shown.inside["found-and-not"])
    assert "Incomplete: 1 required call failed" in seen
    assert "2 calls failed, 1 of them optional" in seen
    assert "21 inconclusive checks" in seen
    gaps = words(shown.inside["gaps"])
    assert "fsx:DescribeVolumes" in gaps
    assert "AccessDenied: not yours" in gaps
    assert gaps.index("fsx:DescribeVolumes") < gaps.index("pricing:GetProducts"), "what is required comes first"
    shown_text = words(shown.inside["unknown"])
    assert "0 of 14 days" in shown_text
    assert "and 8 more" in shown_text
    assert "no StorageBytes" in shown_text


def test_what_the_ceiling_on_metrics_held_back_did_not_fail(make) -> None:
    held = Gap(
        "123456789012", "ap-northeast-1", "cloudwatch:GetMetricData", f"{CEILING}: 25 of 25 USD were spent (7 times)"
    )
    reached = "the ceiling of 25 USD on metrics is reached (scan.most_metrics_usd in the policy raises it)"

    def seen(*gaps: Gap) -> str:
        return words(page(make.scan(make.finding("5.00"), gaps=gaps)).inside["found-and-not"])

    assert f"Incomplete: {reached} 1 of 1 target incomplete" in seen(held)
    assert "0 calls failed 0 inconclusive" in seen(held)
    assert f"Incomplete: 1 required call failed, and {reached} 1 of 1 target" in seen(held, make.gap())
    assert "1 call failed, 0 of them optional" in seen(held, make.gap())
    assert f"0 calls failed Optional metrics were left out: {reached} 0 inconclusive" in seen(
        replace(held, optional=True)
    )


def test_suppressed_findings_are_counted_with_the_reason(make) -> None:
    shown = page(make.scan(unlisted=(Unlisted("efs-idle", make.volume("vol-kept"), "a stronger finding tells of it"),)))

    unlisted = words(shown.inside["unlisted"])
    assert unlisted.startswith("1 suppressed")
    assert "covered by another finding" in unlisted
    assert "vol-kept" in unlisted


def test_a_suppressed_finding_names_the_one_that_covers_it(make) -> None:
    others = "ebs-surplus-iops, ec2-idle of vol-7"
    stronger = make.finding(detector="ebs-idle", caveats=(ALSO_FOUND.format(others),))
    reason = "a stronger finding tells of it"
    hidden = (
        Unlisted("ebs-surplus-iops", stronger.resource, reason),
        Unlisted("ec2-idle", make.volume("vol-7"), reason),
        Unlisted("efs-idle", make.volume("vol-8"), reason),
    )
    shown = page(make.scan(stronger, unlisted=hidden))

    named = "covered by another finding: EBS volume that nothing reads or writes 1"
    rows = words(shown.inside["unlisted"])
    assert f"ebs-surplus-iops {named} scratch" in rows
    assert f"ec2-idle {named} vol-7" in rows
    assert "efs-idle covered by another finding 1 vol-8" in rows


def test_no_failed_call_is_no_link(make) -> None:
    assert "<li><b>0</b> calls failed</li>" in rendered(make.scan())
    assert '<a href="#gaps"><b>1</b> call failed</a>' in rendered(make.scan(gaps=(make.gap(),)))


def test_the_headline_is_the_waste_and_what_else_there_is_comes_below_it(make) -> None:
    slow = make.finding(
        "-3.00", "4.00", id="slow", kind="performance", detector="ec2-ebs-throttled", resource=make.volume("v-2")
    )
    risk = make.finding("-2.00", id="risk", kind="risk", detector="ec2-idle", resource=make.volume("v-3"))
    shown = page(make.scan(make.finding("12.30", "15.00"), slow, risk))

    assert words(shown.inside["sum"]) == "Save $15 a month · $180 a year"
    assert (
        "3 findings: 1 shows waste, 1 is a performance issue, and 1 is a risk. The savings are from waste"
        " only. Fixing the other 2 would cost $5 a month; that is not subtracted."
    ) in words(" ".join(shown.texts["p"]))
    assert "Slackwater: 3 findings, $15.00 a month" in shown.texts["title"]
    assert "1 waste: $15.00 a month 1 performance; high: vol-2 1 risk; high: vol-3".replace("vol", "v") in words(
        shown.inside["found-and-not"]
    )
    assert "#slow" in shown.values("href")


@pytest.mark.parametrize(
    ("savings", "says"),
    [
        (["-3.00"], "would cost $3 a month."),
        (["2.74"], "would save $2.74 a month."),
        ([None, None], "would have an unknown cost."),
        (["0.00", "0.00"], "would be free."),
        (["-3.00", "0.00", "2.50", None], "would cost $0.50 a month. The cost of 1 is unknown."),
        (["0.00", None], "would be free for 1. The cost of 1 is unknown."),
        ([""], ""),
    ],
)
def test_one_sentence_says_what_the_fixes_of_issues_cost(make, savings: list[str | None], says: str) -> None:
    def slow(number: int, usd: str | None) -> Any:
        advice = {"recommendations": ()} if usd == "" else {}
        of = {"id": f"f{number}", "kind": "performance", "resource": make.volume(f"v-{number}")}
        return make.finding(usd or None, **of, **advice)

    found = [slow(number, usd) for number, usd in enumerate(savings)]
    issues = f"{len(found)} performance issue{'s' * (len(found) > 1)}"

    them = "them" if len(found) > 1 else "it"
    assert beside_of(make.scan(*found)) == (f"{issues}. Fixing {them} {says}" if says else f"{issues}.")


@pytest.mark.parametrize(
    ("usd", "says"),
    [
        ("-3.00", "Fixing the other one would cost $3 a month; that is not subtracted."),
        ("2.74", "Fixing the other one would save $2.74 a month; that is not included."),
        ("0.00", "Fixing the other one would be free."),
    ],
)
def test_besides_waste_the_sentence_says_that_the_savings_do_not_include_it(make, usd: str, says: str) -> None:
    slow = make.finding(usd, id="slow", kind="performance", resource=make.volume("v-2"))

    assert beside_of(make.scan(make.finding(), slow)).endswith(f"The savings are from waste only. {says}")


def test_issues_without_a_recommendation_are_not_counted_as_fixed(make) -> None:
    found = [
        make.finding(usd, id=f"f{n}", kind="performance", resource=make.volume(f"v-{n}"), **advice)
        for n, (usd, advice) in enumerate([("-3.00", {}), ("-4.00", {}), (None, {"recommendations": ()})])
    ]

    assert beside_of(make.scan(*found)) == "3 performance issues. Fixing 2 of them would cost $7 a month."
    assert (
        "and 3 are performance issues. The savings are from waste only. Fixing 2 of the other 3 would cost $7 a month;"
        in beside_of(make.scan(make.finding(), *found))
    )


def beside_of(scan: Any) -> str:
    return words(re.search(r'class="beside">(.*?)</p>', rendered(scan))[1])


def test_without_waste_the_headline_says_so(make) -> None:
    slow = make.finding("0.00", kind="performance")

    assert words(page(make.scan(slow)).inside["sum"]) == "No waste found · 1 finding"
    assert words(page(make.scan(slow, gaps=(make.gap(),))).inside["sum"]) == "No waste found so far · 1 finding"
    assert beside_of(make.scan(slow)) == "1 performance issue. Fixing it would be free."


def test_waste_that_nobody_can_price_is_not_zero(make) -> None:
    assert words(page(make.scan(make.finding(None))).inside["sum"]) == "1 case of waste · saving unknown"


def test_findings_come_by_saving_and_groups_of_issues_come_first_without_a_sum(make) -> None:
    found = [
        make.finding("99.00", id="waste", detector="ebs-idle"),
        make.finding("1.00", id="mild", kind="performance", severity="medium", detector="a-b"),
        make.finding("0.00", id="bad", kind="performance", detector="z-z", resource=make.volume("v-2")),
        make.finding("7.00", id="mixed", kind="risk", severity="low", detector="ebs-idle", resource=make.volume("v-3")),
    ]
    shown = page(make.scan(*found))

    ids = [id_ for tag, name, id_ in shown.attributes if tag == "li" and name == "id"]
    assert ids == ["waste", "mixed", "mild", "bad", "slow-z-z", "slow-a-b", "slow-ebs-idle", "in-ebs-idle"]
    assert words(shown.inside["slow-z-z"]) == "z-z z-z 1 finding performance"
    assert words(shown.inside["in-ebs-idle"]) == "EBS volume that nothing reads or writes ebs-idle 1 finding $99.00"
    assert words(shown.inside["bad"]).endswith("costs nothing")


def test_a_sum_that_its_rows_do_not_come_to_says_by_what_it_is(make) -> None:
    cheap = make.finding("0.00", "15.55", id="cheap", detector="ebs-idle", resource=make.volume("v-1"))
    twice = [
        make.finding("3.00", id=id_, detector=id_, resource=make.volume("v-2")) for id_ in ("efs-idle", "fsx-idle")
    ]
    shown = page(make.scan(cheap, *twice))

    assert words(shown.inside["cheap"]).endswith("100 GiB on no instance saves up to $15.55")
    assert words(shown.inside["in-ebs-idle"]).endswith(" ebs-idle 1 finding up to $15.55")
    assert words(shown.inside["in-efs-idle"]).endswith(" efs-idle 1 finding $3.00")
    assert "waste: $18.55 a month" in words(shown.inside["found-and-not"]), (
        "the resource that two detectors flag counts once"
    )
    shared = "A resource that several detectors flag is in the bar of each"
    assert shared in " ".join(shown.texts["p"])
    assert shared not in " ".join(page(make.scan(cheap)).texts["p"])


def test_the_time_is_what_the_scan_judged_as_of(make) -> None:
    doc = scan_json.document(make.scan(make.finding()))
    shown = Page(render_report(doc))

    assert "as of 2026-11-15 23:00 UTC. The scan cost " in words(" ".join(shown.texts["p"]))
    times = "Data up to 2026-11-15 23:00 UTC Scan started 2026-11-16 09:07 UTC Scan ended 2026-11-16 09:07 UTC"
    assert times in words(shown.inside["cost"])
    del doc["scan"]["as_of"]
    assert "scanned on 2026-11-16 09:07 UTC. The scan cost " in words(" ".join(Page(render_report(doc)).texts["p"]))


def test_a_notice_is_shown_above_all_else(make) -> None:
    doc = scan_json.document(make.scan())
    shown = Page(render_report(doc, notice="Nothing is <b>real</b>."))

    assert words(shown.texts["p"][0]) == "Nothing is <b>real</b>."
    assert "notice" in shown.values("class")
    assert "notice" not in Page(render_report(doc)).values("class")


def test_the_same_failure_in_many_places_is_one_line_and_there_are_not_too_many(make) -> None:
    places = [Gap(f"{n}", "eu-west-1", "fsx:DescribeVolumes", "AccessDenied") for n in range(180)]
    others = [Gap("1", "r", f"ec2:Describe{n:02}", "no", optional=True) for n in range(13)]
    text = rendered(make.scan(gaps=(*places, Gap("", "", "sts:AssumeRole", "no"), *others), unknown=(make.unknown(),)))
    shown = Page(text)

    gaps = words(shown.inside["gaps"])
    assert gaps.count("fsx:DescribeVolumes") == 1
    assert re.search(r"fsx:DescribeVolumes AccessDenied yes 180 (eu-west-1 of \d+ ?,? ){4}and 176 more", gaps)
    assert "sts:AssumeRole no yes 1 everywhere" in gaps
    assert "3 more kinds of failure are in the scan document." in gaps
    assert re.findall(r'data-label="(?:Which|Where)">(?!<span>)', text) == [], (
        "on a phone a cell is a grid: of one thing"
    )


def test_packaged_prices_are_labelled_as_such(make) -> None:
    basis = make.finding().price_basis[0]
    packaged = replace(basis, price=replace(basis.price, source="snapshot of 2026-11-01"))

    notice = "Prices: packaged snapshot, not live"
    assert notice in words(page(make.scan(make.finding(price_basis=(packaged,)))).inside["found-and-not"])
    assert notice not in words(page(make.scan(make.finding())).inside["found-and-not"])


def test_inconclusive_checks_are_counted_in_their_title(make) -> None:
    shown = page(make.scan(unknown=(make.unknown(), make.unknown("vol-8"))))

    assert words(shown.inside["unknown-title"]) == "2 inconclusive checks"
    assert "hidden" not in [name for tag, name, _ in shown.attributes if tag in {"section", "h2"}]


@pytest.mark.parametrize(("gaps", "says"), [(0, "Nothing found"), (1, "Unknown: nothing could be checked")])
def test_nothing_found_is_not_the_same_as_nothing_seen(make, gaps: int, says: str) -> None:
    assert words(page(make.scan(gaps=(make.gap(),) * gaps)).inside["sum"]) == says


def test_reasons_beyond_a_hundred_are_counted(make) -> None:
    shown = page(make.scan(unknown=tuple(make.unknown(f"vol-{n}", f"{n} of 14 days") for n in range(103))))

    assert "3 more reasons, about 3 resources" in words(shown.inside["unknown"])


def test_every_finding_has_an_anchor_and_what_it_is_filtered_and_sorted_by(make) -> None:
    findings = [
        make.finding("12.30", id="a1"),
        make.finding(
            None, id="a2", owner=None, severity="low", confidence="medium", kind="performance", detector="ebs-idle"
        ),
        make.finding("-3.00", id="a3"),
        make.finding(id="a4", recommendations=()),
    ]
    text = rendered(make.scan(*findings))
    shown = Page(text)
    rows = {row["data-finding"]: row for row in attributes_of_rows(text)}

    assert set(rows) == {"a1", "a2", "a3", "a4"}
    assert all(row["id"] == id_ for id_, row in rows.items())
    assert {name: rows["a2"][f"data-{name}"] for name in report.FILTERS} == {
        "severity": "low",
        "kind": "performance",
        "detector": "ebs-idle",
        "account": "123456789012",
        "region": "ap-northeast-1",
        "owner": "(none)",
        "confidence": "medium",
    }
    assert {id_: row.get("data-saving") for id_, row in rows.items()} == {
        "a1": "12.30",
        "a2": None,
        "a3": "-3.00",
        "a4": None,
    }
    assert words(shown.inside["a3"]).endswith(" +$3.00")
    assert words(shown.inside["a2"]).endswith("unknown")
    assert "unknown" not in shown.inside["a4"]
    assert "low (1)" in shown.texts["option"]


def attributes_of_rows(text: str) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = []

    class Rows(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "li" and "data-finding" in dict(attrs):
                rows.append({name: value or "" for name, value in attrs})

    Rows().feed(text)
    return rows


def test_details_show_everything_about_a_finding(make) -> None:
    start = int(make.now.timestamp()) - 4 * 86_400
    series = Series.of(start, 86_400, [1.0, None, 3.0])
    ahead = Series.of(start + 3 * 86_400, 86_400, [2.0, 0.0])
    drawn = Evidence(
        label="Balance", value=3.0, unit="MiB/s", series=series, lines=(Line("Baseline", 2.5),), forecast=ahead
    )
    silent = Evidence(label="Read", value=0, unit="bytes", series=Series.of(0, 60, [None, None]))
    finding = make.finding(
        "12.30",
        evidence=(drawn, silent),
        recommendations=(make.recommendation("12.30"), make.recommendation(None, None)),
    )
    kept = data(page(make.scan(finding)))
    text, shown_text = kept["texts"], kept["findings"]["f1"]

    [balance, read] = shown_text["evidence"]
    assert [text[n] for n in balance[:2]] == ["Balance", "3 MiB/s"]
    assert balance[2] == {
        "unit": "MiB/s",
        "start": start,
        "period": 86_400,
        "values": [1, None, 3],
        "lines": [["Baseline", 2.5]],
        "forecast": {"start": start + 3 * 86_400, "period": 86_400, "values": [2, 0]},
    }
    assert [text[n] for n in read] == ["Read", "no data published"]
    assert [[text[n] for n in way] for way in shown_text["advice"]] == [
        ["Delete it.", "saves $12.30 a month", "cannot be undone", "It is gone.", "aws ec2 delete-volume"],
        ["Delete it.", "saving unknown", "cannot be undone", "It is gone."],
    ]
    assert [text[n] for n in shown_text["prices"]] == [
        "ebs.gp3.throughput: 0.048 USD per MiB/s-month (AWS Price List, as of 2026-11-01)"
    ]
    assert [text[n] for n in shown_text["caveats"]] == ["It may be wanted."]
    assert [[text[n] for n in tag] for tag in shown_text["tags"]] == [["Name", "scratch"]]
    assert text[shown_text["arn"]] == finding.resource.arn
    assert len(text) == len(set(text)), "every text is there once"


@pytest.mark.parametrize("name", HOSTILE)
def test_untrusted_text_is_never_markup(make, name: str) -> None:
    plain = page(
        make.scan(everywhere(make, "scratch"), gaps=(Gap("1", "r", "a:B", "x"),), unknown=(make.unknown("v", "x"),))
    )
    shown = page(
        make.scan(everywhere(make, name), gaps=(Gap("1", "r", "a:B", name),), unknown=(make.unknown("v", name),))
    )

    assert shown.tags == plain.tags
    assert Counter((tag, attribute) for tag, attribute, _ in shown.attributes) == Counter(
        (tag, attribute) for tag, attribute, _ in plain.attributes
    )
    visible = name.replace("\u2028", "<U+2028>").replace("\u2029", "<U+2029>")
    assert visible in shown.texts["bdi"]
    assert visible in data(shown)["texts"]


def everywhere(make, name: str) -> Any:
    volume = make.volume(tags={"Name": name, name[:99] or "x": name})
    facts = (Evidence(label=name, value=name, unit="words"),)
    advice = (make.recommendation("1.00", name, summary=name, risk=name),)
    return make.finding(
        resource=volume, owner=name, summary=name, evidence=facts, recommendations=advice, caveats=(name,)
    )


@settings(max_examples=effort(60, 20), deadline=None)
@given(name=st.text(min_size=1))
def test_whatever_a_name_holds_the_page_can_be_written_and_its_data_read(make, name: str) -> None:
    text = rendered(make.scan(everywhere(make, name)))

    text.encode("utf-8")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u2028-\u202e\u2066-\u2069]", text)
    assert set(data(Page(text))["findings"]) == {"f1"}


def test_a_character_that_no_page_can_hold_shows_as_its_code_point(make) -> None:
    text = rendered(make.scan(everywhere(make, "a\x00b\ud800c\u202ed")))

    assert "a&lt;U+0000&gt;b&lt;U+D800&gt;c&lt;U+202E&gt;d" in text
    assert "\ufffd" not in text


def test_inert_json_is_json_and_has_no_markup() -> None:
    value = {"</script>": ["<!--", "&amp;", "\u2028"]}

    assert json.loads(inert(value)) == value
    assert not set(inert(value)) & set("<>&\u2028")


def test_nothing_is_fetched_and_only_what_is_ours_runs(make) -> None:
    text = rendered(make.scan(make.finding()))
    shown = Page(text)

    links = [value for name in ("src", "href", "action", "srcset", "poster", "data") for value in shown.values(name)]
    assert all(link and link.startswith(("#", "data:image/svg+xml,")) for link in links), links
    assert not [name for _, name, _ in shown.attributes if name.startswith("on") or name == "style"]
    [policy] = [value for value in shown.values("content") if value and value.startswith("default-src 'none'")]
    assert "unsafe" not in policy
    for body in re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", text, re.DOTALL):
        assert f"'sha256-{b64encode(sha256(body.encode()).digest()).decode()}'" in policy
    assert not re.search(r"@import|url\(", text)


def test_our_script_makes_no_markup_of_data() -> None:
    script = files(report).joinpath("report.js").read_text("utf-8")

    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", script)


def test_the_same_document_makes_the_same_page(make) -> None:
    scan = make.scan(make.finding("1.00"), make.finding("2.00", id="f2"), unknown=(make.unknown(),))

    assert rendered(scan) == rendered(scan)


def test_a_thousand_findings_with_their_series_stay_under_3_mb(make) -> None:
    text = rendered(make.scan(*(busy(make, n) for n in range(MANY))))

    assert len(text.encode()) < 3 * MEGABYTE
    kept = data(Page(text))["findings"]
    assert len(kept) == text.count('data-finding="') == MANY
    assert all(len(fact) == 3 for shown_text in kept.values() for fact in shown_text["evidence"][:1]), (
        "every picture is there"
    )
    assert 'id="left-out"' not in text


def busy(make, n: int) -> Any:
    """Return a finding of maximum length with a week of hourly data."""
    hours = Series.of(int(make.now.timestamp()), 3_600, [(n * 7 + hour * 13) % 997 / 7 for hour in range(168)])
    facts = (
        Evidence(
            label="Busiest minute of each hour",
            value=n * 1.5,
            unit="MiB/s",
            series=hours,
            lines=(Line("Provisioned", 1000),),
        ),
        *(Evidence(label=f"Fact {number}", value=n * number, unit="IOPS") for number in range(5)),
    )
    volume = make.volume(f"vol-{n:017x}", tags={"Name": f"node-{n}", "Owner": "data", "Env": "production"})
    command = (
        f"aws ec2 modify-volume --region ap-northeast-1 --volume-id {volume.id}"
        f" --throughput {n} --iops {n * 3} --size {n}"
    )
    ways = [
        make.recommendation(
            f"{n}.{way}0", command, summary=f"Set {n + way} MiB/s. " + "And then wait. " * 10, risk="It may hurt. " * 10
        )
        for way in range(2)
    ]
    return make.finding(
        id=f"{n:016x}",
        resource=volume,
        evidence=facts,
        recommendations=tuple(ways),
        summary=f"{n} MiB/s " + "were provisioned " * 6,
    )


@pytest.mark.parametrize("key", ["as_of", "finished_at"])
@pytest.mark.parametrize(("early_s", "part", "path"), [(0, False, "M0 0h0L48 0L96 20"), (1, True, "M0 0h0L96 0")])
def test_a_day_that_was_not_over_when_it_was_judged_is_no_whole_day(
    make, key: str, early_s: int, part: bool, path: str
) -> None:
    over = make.now - timedelta(days=2)
    series = Series.of(int(over.timestamp()) - 3 * 86_400, 86_400, [96.0, 96.0, 2.0])
    read = Evidence(label="Read", value=96.0, unit="MiB/s", series=series)
    document = scan_json.document(make.scan(make.finding("1.00", evidence=(read,))))
    del document["scan"]["as_of"]  # older documents do not have it
    document["scan"][key] = scan_json.rfc3339(over - timedelta(seconds=early_s))
    shown = Page(render_report(document))

    [shown_text] = data(shown)["findings"].values()
    assert shown_text["evidence"][0][2].get("part", False) is part
    assert path in shown.values("d")


def test_pictures_without_room_are_counted(make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "album", lambda findings, until: report.pictures.album(findings, 500, until=until))
    shown = page(make.scan(*(busy(make, n) for n in range(20))))

    assert "10 pictures of the less pressing findings" in words(shown.inside["left-out"])
    assert len([1 for shown_text in data(shown)["findings"].values() if len(shown_text["evidence"][0]) == 3]) == 10


def test_detectors_come_by_money_and_each_with_its_findings(make) -> None:
    found = [
        make.finding("1.00", id="f1", detector="ebs-idle"),
        make.finding("9.00", id="f2", detector="ebs-unattached", resource=make.volume("vol-2")),
        make.finding("2.00", id="f3", detector="ebs-idle", resource=make.volume("vol-3")),
    ]
    shown = page(make.scan(*found))

    ids = [id_ for tag, name, id_ in shown.attributes if tag == "li" and name == "id"]
    assert ids == ["f2", "f3", "f1", "in-ebs-unattached", "in-ebs-idle"]
    widths = [value for tag, name, value in shown.attributes if tag == "rect" and name == "width"][-4:]
    assert widths == ["100", "100.00", "100", "33.33"]


def test_a_scan_of_many_places_names_the_incomplete_ones(make) -> None:
    scan = make.scan(make.finding())
    blind = TargetScan(
        target=Target("210987654321", "eu-west-1"), findings=(), unknown=(), gaps=(make.gap(),), resources={}
    )
    shown = page(replace(scan, targets=(*scan.targets, blind)))

    assert "eu-west-1 of 210987654321 (incomplete)" in words(shown.inside["cost"])
    assert "1 of 2 accounts incomplete: 210987654321 (eu-west-1)" in words(shown.inside["found-and-not"])
    assert "ap-northeast-1" in words(shown.inside["f1"]), "where it is matters once there are several places"


def test_times_are_shown_in_utc(make) -> None:
    scan = make.scan()
    later = replace(scan, finished_at=make.now + timedelta(hours=12, minutes=3))

    assert "Scan started 2026-11-16 09:07 UTC Scan ended 2026-11-16 21:10 UTC" in words(page(later).inside["cost"])


def test_a_region_that_is_disabled_in_many_accounts_is_one_line_of_gaps(make) -> None:
    part = make.scan().targets[0]
    shut = [
        replace(
            part,
            target=Target(f"{number:012}", region),
            gaps=(Gap(f"{number:012}", region, REGION_DISABLED, "closed", optional=True),),
        )
        for number in range(312)
        for region in (("eu-south-1", "me-south-1") if number < 5 else ("eu-south-1",))
    ]
    shown_text = words(page(replace(make.scan(), targets=tuple(shut))).inside["gaps"])

    assert "eu-south-1 in 312 accounts" in shown_text
    assert "me-south-1 in 5 accounts" in shown_text
    assert "000000000007" not in shown_text


def test_the_headline_says_how_much_is_of_high_confidence(make) -> None:
    sure = make.finding("20.00", id="a")
    unsure = make.finding("10.00", id="b", confidence="medium", resource=make.volume("v-2"))
    low = make.finding("30.00", id="c", confidence="low", resource=make.volume("v-3"))

    def said(*findings: Any) -> str:
        return re.search(r'</h1>\s*<p class="sure">(.*?)</p>', rendered(make.scan(*findings)))[1]

    assert said(sure, unsure) == "$20 a month of it with high confidence"
    assert said(unsure, low) == "None of it with high confidence"
    assert said(sure) == "All with high confidence"


@pytest.mark.parametrize(
    ("usd", "says"),
    [
        ("0.5", "$0.50"),
        ("640", "$640"),
        ("994.99", "$995"),
        ("9615.04", "$9.6k"),
        ("115380.48", "$115k"),
        ("999999", "$1.0M"),
    ],
)
def test_amounts_in_the_headline_are_short(usd: str, says: str) -> None:
    assert short_dollars(Decimal(usd)) == says


def test_complete_has_a_badge_and_incomplete_a_box_that_says_why(make) -> None:
    complete, incomplete = page(make.scan(make.finding())), page(make.scan(make.finding(), gaps=(make.gap(),)))

    assert "badge" in complete.values("class")
    assert "stop" not in complete.values("class")
    assert "badge" not in incomplete.values("class")
    assert "1 required call failed. There may be more waste than this report shows." in words(
        " ".join(incomplete.texts["p"])
    )


def test_the_badge_is_about_calls_and_the_next_lines_about_inconclusive_checks(make) -> None:
    one = make.scan(make.finding(), unknown=(make.unknown(),))

    assert re.search(r'class="badge">(.*?)</p>', rendered(one))[1] == (
        "<b>Scan complete</b> Every required AWS call succeeded"
    )
    assert '<a href="#unknown">1 check is inconclusive</a>.' in rendered(one)
    assert "inconclusive</a>" not in rendered(make.scan(make.finding()))
    assert "<b>Scan complete</b> Every required AWS call succeeded" in rendered(make.scan())
    assert words(page(one).inside["gaps"]) == "No AWS call failed."


def test_an_option_of_a_command_is_one_word_for_the_browser_and_the_command_stays_as_it_is(make) -> None:
    command = "aws ec2 delete-volume --volume-id 'v --x<b>' --dry-run"
    one = make.finding("5.00", recommendations=(make.recommendation("5.00", command),))
    shown = re.search(r'<code dir="ltr">(.*?)</code>', rendered(make.scan(one)))[1]

    assert "<span>--volume-id</span>" in shown
    assert "<b>" not in shown
    assert html.unescape(re.sub(r"</?span>", "", shown)) == command


def test_the_top_fixes_are_the_best_five_of_different_resources(make) -> None:
    found = [
        make.finding(f"{n}.00", id=f"f{n}", resource=make.volume(f"v-{min(n, 7)}"), severity="low") for n in range(1, 9)
    ]
    slow = make.finding("99.00", id="slow", kind="performance", resource=make.volume("v-9"))
    text = rendered(make.scan(*found, slow))

    assert re.search(r'<h2 id="fixes">(.*?)</h2>', text)[1] == "Top five fixes"
    assert re.findall(r'class="what"><a href="#(\w+)"', text) == ["f8", "f6", "f5", "f4", "f3"]
    assert text.count("data-copy aria-label") == 5


def test_a_fix_says_what_it_saves_what_it_takes_and_whether_it_can_be_undone(make) -> None:
    by_hand = make.finding(
        "5.00", id="f2", resource=make.volume("v-2"), recommendations=(make.recommendation("5.00", None),)
    )
    text = rendered(make.scan(make.finding("1234.50", owner="web", confidence="medium"), by_hand))
    items = re.findall(r'<li>\s*(<p class="what".*?)</li>', text, re.DOTALL)
    first, second = (words(re.sub(r"<[^>]+>", "", item)) for item in items)

    for part in (
        "Delete it.",
        "$1,234/mo",
        "one command",
        "cannot be undone",
        "Owner: web",
        "medium confidence",
        "Copy",
    ):
        assert part in first, part
    assert "manual change" in second
    assert "Copy" not in second


def test_a_deletion_says_that_its_command_only_backs_up(make) -> None:
    backs_up = make.recommendation("5.00", "aws ec2 create-snapshot", action="snapshot-and-delete", reversible=True)
    changes = make.recommendation("4.00", action="lower", reversible=True)
    shown = rendered(
        make.scan(
            make.finding(recommendations=(backs_up,)),
            make.finding(id="f2", resource=make.volume("v-2"), recommendations=(changes,)),
        )
    )
    first, second = re.findall(r'<li>\s*<p class="what".*?</li>', shown, re.DOTALL)

    for part in (">only backs up</span> <button", ">several steps<", ">can be undone from the backup<"):
        assert part in first, part
    assert "step 1" not in second
    assert ">can be undone<" in second
    assert ">high confidence<" in second
    assert undo({"action": "move-to-efs", "reversible": True}) == "can be undone by copying back"
    assert undo({"action": "image-and-terminate", "reversible": True}).endswith("the image")
    assert {"can be undone from the backup", "can be undone"} <= set(data(Page(shown))["texts"])


def test_bars_by_owner_and_service_add_up_to_the_headline(make) -> None:
    found = [
        make.finding("10.00", id="a", owner="web"),
        make.finding("4.00", id="b", owner=None, resource=make.volume("v-2")),
        make.finding("4.00", id="again", owner=None, detector="ebs-idle", resource=make.volume("v-2")),
        make.finding("50.00", id="slow", owner="db", kind="performance", resource=make.volume("v-3")),
    ]
    shown = rendered(make.scan(*found))

    def bars(by: str) -> list[str]:
        section = re.search(rf'<h2 id="by-{by}">.*?</ol>', shown, re.DOTALL)[0]
        return [words(re.sub(r"<[^>]+>", " ", bar)) for bar in re.findall(r"<li>.*?</li>", section)]

    note = "A resource with several findings counts once, with its best option."
    assert note in re.search(r'<h2 id="by-owner">.*?</section>', shown, re.DOTALL)[0]
    assert bars("owner") == ["web 1 finding $10", "no owner tag 2 findings $4"]
    assert bars("service") == ["EBS 3 findings $14"]
    assert "waste: $14.00 a month" in shown


def test_owners_beyond_the_longest_bars_are_added_up(make) -> None:
    found = [make.finding(f"{n}.00", id=f"f{n}", owner=f"o-{n}", resource=make.volume(f"v-{n}")) for n in range(1, 11)]
    bars = by_owner(scan_json.document(make.scan(*found))["findings"])

    assert [bar.name for bar in bars] == [*(f"o-{n}" for n in range(10, 3, -1)), ""]
    assert (bars[-1].others, bars[-1].findings, bars[-1].usd) == (3, 3, Decimal(6))


@pytest.mark.parametrize(
    ("values", "says"),
    [([660.0, 655.0, None], "660 of 8,000 IOPS"), ([660.0, 7_000.0], None), ([9_000.0, 8_999.0], None)],
)
def test_a_flat_series_is_a_bar_of_used_against_paid(make, values: list[float | None], says: str | None) -> None:
    used = Evidence(label="Used", value=660, unit="IOPS", series=Series.of(0, 3_600, values), scale=8_000.0)
    text = rendered(make.scan(make.finding(evidence=(used,))))

    assert ('class="spark"' in text) == (says is None)
    assert (f"<span>{says}</span>" in text) == (says is not None)
    if says:
        assert 'width="8.25"' in text


def test_a_bar_shows_what_is_left_now_and_not_the_most_there_was(make) -> None:
    left = Evidence(
        label="Credits left", value=1 << 30, unit="bytes", series=Series.of(0, 3_600, [1.5 * (1 << 30), 1 << 30]),
        scale=float(10 << 30),
    )  # fmt: skip
    text = rendered(make.scan(make.finding(evidence=(left,))))

    assert "<span>1 GiB of 10 GiB</span>" in text
    assert 'width="10.00"' in text


def test_a_detector_has_its_title_and_one_that_is_unknown_its_id() -> None:
    assert title("ebs-idle") == "EBS volume that nothing reads or writes"
    assert title("../x") == "../x"


def test_there_are_tabs_only_if_there_is_something_in_both(make) -> None:
    slow = make.finding(id="slow", kind="performance", resource=make.volume("v-2"))
    assert page(make.scan(make.finding(), slow)).values("data-tab") == ["waste", "other", ""]
    assert page(make.scan(make.finding())).values("data-tab") == []


def test_a_filter_with_one_choice_is_left_out(make) -> None:
    slow = make.finding(id="slow", severity="low", kind="performance", resource=make.volume("v-2"))
    assert page(make.scan(make.finding(), slow)).values("data-filter") == ["severity", "kind"]


def test_an_owner_is_named_as_one(make) -> None:
    assert "Owner: web" in words(page(make.scan(make.finding(owner="web"))).inside["f1"])


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (None, "manual change"),
        ("aws a", "one command"),
        ("aws a\naws b", "several commands"),
        ("for id in 1 2; do a; done", "several commands"),
    ],
)
def test_the_effort_of_a_fix_is_read_from_its_command(make, command: str | None, says: str) -> None:
    finding = make.finding(recommendations=(make.recommendation("5.00", command),))
    assert f"<span>{says}</span>" in rendered(make.scan(finding))
