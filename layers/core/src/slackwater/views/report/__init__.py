"""The report: a scan as one HTML file that needs nothing but a browser, for people to look at.

The money and what was not seen come first and can be read without JavaScript, as can every finding; what opens under a
finding is kept as data, and drawn when it is asked for.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import cos
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from slackwater.model.findings import ALSO_FOUND, REGION_DISABLED, STRONGER_FINDING
from slackwater.model.rank import SEVERITIES
from slackwater.model.verdicts import FindingKind, Severity
from slackwater.views.report.details import details, visible
from slackwater.views.report.headline import (
    also,
    by_owner,
    by_service,
    confidence,
    short_dollars,
    title,
    top_fixes,
    usage,
)
from slackwater.views.report.pictures import album, drawn, sparkline
from slackwater.views.report.trends import HEIGHT, WIDTH
from slackwater.views.report.trends import pictures as trends
from slackwater.views.scan import trend
from slackwater.views.scan.document import (
    FindingDocument,
    GapDocument,
    ScanDocument,
    TotalsDocument,
    UnknownDocument,
    UnlistedDocument,
)
from slackwater.views.scan.organization import Organization, Share, organized, within
from slackwater.views.scan.savings import total_savings, ways
from slackwater.views.text.money import dollars
from slackwater.views.text.words import NOUNS, ceiling, count, gaps_title, is_held_back, missing, reasons

if TYPE_CHECKING:
    from jinja2 import Template

REPORT_FINDINGS: Final = 5_000
"""Findings in a report, the worst: 8 MB, which a browser opens in 0.4 s, and in 2.3 s with a sixth of the processor.
Twice as many take 15 MB and 5 s there; eight times as many 56 MB and 46 s, and to sort them minutes."""

FILTERS: Final = ("severity", "kind", "detector", "account", "region", "owner", "confidence")
UNIT: Final = "unit"
"""The filter by organizational unit, of which those below it are part; there where accounts have units."""
LABELS: Final = {UNIT: "Organizational unit"}
KINDS: Final = ("waste", "performance", "risk")
NOBODY: Final = "(none)"
"""How the filters call an owner who is not named."""
NOWHERE: Final = "(unknown)"
"""How they call the unit of an account of which none is known."""
SHARES: Final = 20
"""Organizational units, accounts and owners that are in sight at once."""
BLIND: Final = 10
"""Accounts in sight that were not seen whole."""
FOLDED: Final = 2_000
"""Of each, those that can be unfolded besides; the rest are counted."""
TARGETS: Final = 60
"""Targets that are named where the scan looked; where there are more, they are counted."""
NAMED: Final = 12
"""Resources that are named beside a reason; the rest are counted."""
REASONS: Final = 100
"""Reasons that are told; the rest are counted."""
FAILURES: Final = 12
"""Ways to fail that are told, as they may stand above the findings; the rest are counted."""

LONG: Final = 1_500
"""Findings, from which on a browser lays out only those in sight."""
TIDES: Final = "M" + " ".join(f"{x} {18 - 15 * abs(x / 600 - 1) ** 2.5 * cos(x / 17):.1f}" for x in range(0, 1201, 4))
"""A wave that comes to rest in the middle."""

_COVERED: Final = re.compile("(.+)".join(map(re.escape, ALSO_FOUND.split("{}"))))
"""The caveat that names what a finding covers."""

_INDENT: Final = re.compile(r"^\s+", re.MULTILINE)


def render_report(doc: ScanDocument, notice: str = "") -> str:
    """The scan as HTML: one file without a reference to another, the same for the same document.

    A `notice` stands above all else, such as that nothing of it is real. Of more than `REPORT_FINDINGS` findings the
    worst are shown, and the document may come with these alone, as long as its totals are of all; unknown and unlisted
    are gone through once.
    """
    totals, head = doc["totals"], doc["scan"]
    findings = doc["findings"][:REPORT_FINDINGS]
    more = max(0, totals["findings"] - len(findings))
    groups = _groups(findings)
    waste = totals["by_kind"].get("waste")
    waste_usd = Decimal(waste["monthly_savings_usd"] if waste else 0)
    seen = head.get("as_of", head["finished_at"])
    pictures = album(findings, until=seen)
    organization = organized(doc)
    points = trend.points(doc)
    filed = _filing(organization)
    return _template().render(
        _fixed(),
        notice=notice,
        as_of=head.get("as_of"),
        doc=doc,
        head=head,
        totals=totals,
        findings=findings,
        more=more,
        filed=filed,
        places=_places(doc),
        gaps_title=gaps_title(doc),
        missing=missing(doc),
        ceiling=ceiling(gap["reason"] for gap in head["gaps"]),
        failed=[gap for gap in head["gaps"] if not is_held_back(gap["reason"])],
        severities=Counter(finding["severity"] for finding in findings),
        levels=_levels(findings, more),
        waste=waste,
        waste_usd=waste_usd,
        sure=confidence(totals, waste_usd),
        also=also(findings, _others(totals), whole=not more),
        fixes=top_fixes(findings),
        bars=[] if more else [("owner", by_owner(findings)), ("service", by_service(findings))],
        order=_order(findings),
        usages=[usage(finding) for finding in findings],
        grave=_grave(findings),
        groups=groups,
        detectors=_detectors(totals, groups) if more else [],
        shared=_is_shared(totals, groups, more),
        best=[_best(finding) for finding in findings],
        filters=_filters(findings, filed, organization),
        sparks=[_spark(finding, seen) for finding in findings],
        left_out=pictures.left_out,
        organization=organization,
        shares=_shares(organization, findings),
        since=trend.since(points[-2], points[-1]) if points else "",
        points=points,
        trends=trends(points),
        gaps=_failures(head["gaps"], organization),
        unknown=reasons(doc["unknown"], NAMED),
        unlisted=reasons(_suppressed(doc["unlisted"], findings), NAMED),
        wanted=_wanted(doc),
        snapshot=any(
            basis["source"].startswith("snapshot") for finding in findings for basis in finding["price_basis"]
        ),
        silent=[id_ for id_ in head["detectors"] if id_ not in totals["by_detector"]],
        details=Markup(details(findings, pictures)),  # noqa: S704 -- inert JSON
    )


@dataclass(frozen=True, slots=True)
class Group:
    """A detector's findings of waste, or its others, by their places; `kinds` is empty where they are waste.

    `usd` is what waste comes to by the best way out of each resource, and `by_best` whether that is not what its rows
    say; `bar` is its part of the dearest one's, in percent.
    """

    id: str
    detector: str
    kinds: str
    worst: Severity
    places: tuple[int, ...]
    usd: Decimal
    by_best: bool
    bar: float = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """What could not be read in some places, for the same reason."""

    what: str
    reason: str
    optional: bool
    places: tuple[str, ...]
    often: int


@dataclass(frozen=True, slots=True)
class Table:
    """Shares to show: their name for the filters, a title, what a row is of, and the rows, each with what filters by
    it.

    The filter is empty where nothing of a row is shown that could be filtered.
    """

    filter: str
    title: str
    of: str
    rows: tuple[tuple[str, str, Share], ...]


def _groups(findings: Sequence[FindingDocument]) -> list[Group]:
    """First what is slow or at risk, the worst before the rest, as nobody must overlook it; then waste, by money."""
    places: defaultdict[tuple[str, bool], list[int]] = defaultdict(list)
    for place, finding in enumerate(findings):
        places[finding["detector"], finding["kind"] == "waste"].append(place)
    groups = [_group(id_, findings, where, is_waste=is_waste) for (id_, is_waste), where in places.items()]
    most = max((group.usd for group in groups), default=Decimal(0)) or Decimal(1)
    slow = [group for group in groups if group.kinds]  # in the order of the document: by severity
    waste = [replace(group, bar=float(group.usd / most) * 100) for group in groups if not group.kinds]
    return [*slow, *sorted(waste, key=lambda group: (-group.usd, -len(group.places), group.detector))]


def _group(id_: str, findings: Sequence[FindingDocument], places: Sequence[int], *, is_waste: bool) -> Group:
    some = [findings[place] for place in places]
    usd, _ = total_savings(map(ways, some)) if is_waste else (Decimal(0), 0)
    rows = sum((max(Decimal(0), Decimal(one["monthly_savings_usd"] or 0)) for one in some), Decimal(0))
    return Group(
        id=f"{'in' if is_waste else 'slow'}-{id_}",
        detector=id_,
        kinds="" if is_waste else ", ".join(kind for kind in KINDS if any(one["kind"] == kind for one in some)),
        worst=some[0]["severity"],  # a document has its findings by severity
        places=tuple(places),
        usd=usd,
        by_best=is_waste and usd != rows,
    )


def _best(finding: FindingDocument) -> Decimal | None:
    """What another recommendation than the first saves, if that is more."""
    first, *others = [to_do["monthly_savings_usd"] for to_do in finding["recommendations"]] or [None]
    best = max((Decimal(usd) for usd in others if usd is not None), default=Decimal(0))
    return best if best > max(Decimal(0), Decimal(first or 0)) else None


def _detectors(totals: TotalsDocument, groups: Iterable[Group]) -> list[tuple[str, str, int, Decimal, float]]:
    """What each detector found in all, by money: its id, the group where some of it is, findings, USD a month, and its
    bar.
    """
    anchors = {group.detector: group.id for group in groups}
    found = [(id_, of["findings"], Decimal(of["monthly_savings_usd"])) for id_, of in totals["by_detector"].items()]
    most = max((usd for *_, usd in found), default=Decimal(0)) or Decimal(1)
    by_money = sorted(found, key=lambda one: (-one[2], -one[1], one[0]))
    return [(id_, anchors.get(id_, ""), many, usd, float(usd / most) * 100) for id_, many, usd in by_money]


def _is_shared(totals: TotalsDocument, groups: Iterable[Group], more: int) -> bool:
    """Whether a resource is in the bars of several detectors."""
    if more:
        bars = sum(Decimal(of["monthly_savings_usd"]) for of in totals["by_detector"].values())
        return bars != Decimal(totals["monthly_savings_usd"])
    waste = totals["by_kind"].get("waste")
    return waste is not None and sum(group.usd for group in groups) != Decimal(waste["monthly_savings_usd"])


def _levels(findings: Sequence[FindingDocument], more: int) -> list[tuple[Severity, str]]:
    """How many findings are of each severity; where more are not shown, of the least that is shown there are more."""
    found = Counter(finding["severity"] for finding in findings)
    if not more:
        return [(severity, f"{found[severity]:,}") for severity in SEVERITIES]
    shown = SEVERITIES[: SEVERITIES.index(findings[-1]["severity"]) + 1] if findings else ()
    return [(one, f"{'at least ' if one == shown[-1] else ''}{found[one]:,}") for one in shown]


def _others(totals: TotalsDocument) -> list[str]:
    """How many findings are not waste: `3 performance issues`, `1 risk`."""
    nouns: dict[FindingKind, str] = {"performance": "performance issue", "risk": "risk"}
    found = {kind: of["findings"] for kind, of in totals["by_kind"].items()}
    return [count(found[kind], noun) for kind, noun in nouns.items() if found.get(kind)]


def _order(findings: Sequence[FindingDocument]) -> list[int]:
    """The places of the findings as the list shows them: by saving, then by severity. Unknown savings come last."""

    def key(place: int) -> tuple[Decimal, int]:
        one = findings[place]
        usd = one["monthly_savings_usd"] if one["recommendations"] else None
        return -Decimal(usd or "-Infinity"), SEVERITIES.index(one["severity"])

    return sorted(range(len(findings)), key=key)


def _grave(findings: Iterable[FindingDocument]) -> dict[str, list[FindingDocument]]:
    """What is of high severity, by kind."""
    grave: dict[str, list[FindingDocument]] = {kind: [] for kind in KINDS}
    for finding in findings:
        if finding["severity"] == "high":
            grave[finding["kind"]].append(finding)
    return grave


def _failures(gaps: Iterable[GapDocument], organization: Organization | None) -> list[Failure]:
    """What is required first, then what failed most often.

    Of several accounts what differs only by their ids is the same.
    """
    places: defaultdict[tuple[bool, str, str], list[tuple[str, str]]] = defaultdict(list)
    for gap in gaps:
        reason, account = gap["reason"], gap["account"]
        if organization and account:
            reason = reason.replace(account, "{account}")
        places[gap["optional"], gap["what"], reason].append((account, gap["region"]))
    failures = (
        Failure(what, reason, optional, tuple(_where(what, some, organization)), len(some))
        for (optional, what, reason), some in places.items()
    )
    return sorted(failures, key=lambda one: (one.optional, -one.often, one.what, one.reason))


def _where(what: str, places: Iterable[tuple[str, str]], organization: Organization | None) -> Iterator[str]:
    """Where a call failed, each account of several once."""
    if what == REGION_DISABLED:  # the same regions in many accounts
        yield from _counted(region for _, region in places)
        return
    regions: defaultdict[str, list[str]] = defaultdict(list)
    for account, region in places:
        regions[account].append(region)
    for account, some in regions.items():
        name = organization.names.get(account, account) if organization else account
        few = [count(len(some), "region")] if organization and len(some) > 1 else some
        yield from (" of ".join(part for part in (where, name) if part) or "everywhere" for where in few)


def _counted(regions: Iterable[str]) -> Iterator[str]:
    for region, accounts in Counter(regions).most_common():
        yield f"{region} in {count(accounts, 'account')}"


def _filing(organization: Organization | None) -> Callable[[FindingDocument], dict[str, str]]:
    """What finds for a finding what it is filtered by."""
    units = organization.units if organization and organization.by_unit else None

    def filed(finding: FindingDocument) -> dict[str, str]:
        resource = finding["resource"]
        return {
            "severity": finding["severity"],
            "kind": finding["kind"],
            "detector": finding["detector"],
            "account": resource["account"],
            "region": resource["region"],
            "owner": finding["owner"] or NOBODY,
            "confidence": finding["confidence"],
        } | ({} if units is None else {UNIT: units.get(resource["account"]) or NOWHERE})

    return filed


def _shares(organization: Organization | None, findings: Iterable[FindingDocument]) -> list[Table]:
    """What organizational units, accounts and owners come to; a row of which a finding is shown leads to the filter by
    it.
    """
    if organization is None:
        return []
    accounts = {finding["resource"]["account"] for finding in findings}
    owners = {finding["owner"] or "" for finding in findings}
    units = {path for account in accounts for path in within(organization.units.get(account, ""))}

    of_units = _rows(organization.by_unit, units, {"": "unknown"}, NOWHERE)
    of_accounts = _rows(organization.by_account, accounts, organization.names, NOWHERE)
    of_owners = _rows(organization.by_owner, owners, {"": "nobody"}, NOBODY)
    tables = (
        Table(UNIT, "Organizational units", "unit", of_units),
        Table("account", "Accounts", "account", of_accounts),
        Table("owner", "Owners", "owner", of_owners),
    )
    return [one for one in tables if one.rows]


def _rows(
    shares: Iterable[Share], shown: Collection[str], names: Mapping[str, str], nobody: str
) -> tuple[tuple[str, str, Share], ...]:
    """Return the rows of a table.

    Args:
        shares: What each unit, account or owner comes to.
        shown: The keys of which the report shows a finding.
        names: Names to show instead of keys.
        nobody: The value of the filter for an empty key.
    """
    return tuple(((one.key or nobody) if one.key in shown else "", names.get(one.key, one.key), one) for one in shares)


def _suppressed(
    unlisted: Iterable[UnlistedDocument], findings: Iterable[FindingDocument]
) -> Iterator[UnlistedDocument | UnknownDocument]:
    """What is not listed, with the name of the finding that covers it, if a caveat of one says so."""
    covering: dict[str, str] = {}
    for finding in findings:
        for caveat in finding["caveats"]:
            for found in _COVERED.findall(caveat):
                for other in found.split(", "):
                    of = other if " of " in other else f"{other} of {finding['resource']['id']}"
                    covering[of] = title(finding["detector"])
    for one in unlisted:
        if one["reason"] != STRONGER_FINDING:
            yield one
            continue
        by = covering.get(f"{one['detector']} of {one['resource']['id']}")
        why = f"covered by another finding{f': {by}' if by else ''}"
        yield {"detector": one["detector"], "resource": one["resource"], "reason": why}


def _places(doc: ScanDocument) -> str:
    """Where the scan looked, in a few words."""
    targets = doc["scan"]["targets"]
    if len(targets) == 1:
        return f"{targets[0]['region']} of account {targets[0]['account']}"
    regions, accounts = {target["region"] for target in targets}, {target["account"] for target in targets}
    return f"{count(len(regions), 'region')} of {count(len(accounts), 'account')}"


def _wanted(doc: ScanDocument) -> list[str]:
    """How much was flagged and is not listed because somebody wants it so."""
    kept, small = doc["totals"]["kept"], doc["totals"]["below_minimum"]
    many = {"kept by their tags": kept, "below the least saving worth reporting": small}
    return [f"{number:,} {why}" for why, number in many.items() if number]


def _filters(
    findings: Sequence[FindingDocument],
    filed: Callable[[FindingDocument], dict[str, str]],
    organization: Organization | None,
) -> list[tuple[str, str, list[tuple[str, str, int]]]]:
    """Each filter with its label and what there is to choose: a value, what it is called, and how many findings are
    shown.
    """
    by = [filed(finding) for finding in findings]
    found = {name: Counter(one[name] for one in by) for name in FILTERS}
    names = {"account": organization.names} if organization else {}
    if organization and organization.by_unit:
        found[UNIT] = Counter(path for one in by for path in within(one[UNIT]))
    return [
        (name, LABELS.get(name, name.capitalize()), _choices(counts, names.get(name, {})))
        for name, counts in found.items()
    ]


def _choices(found: Mapping[str, int], names: Mapping[str, str]) -> list[tuple[str, str, int]]:
    levels = list[str](SEVERITIES)
    choices = [(value, names.get(value, value), many) for value, many in found.items()]
    return sorted(choices, key=lambda each: (levels.index(each[0]) if each[0] in levels else -1, each[1]))


def _spark(finding: FindingDocument, until: str) -> str:
    """The picture of the first fact that has one."""
    return next((sparkline(fact, until) for fact in finding["evidence"] if drawn(fact)), "")


def usd(amount: str | Decimal) -> str:
    """`1,234.50`, with a minus that is one."""
    return f"{Decimal(amount):,.2f}".replace("-", "\u2212")


def at(time: str) -> str:
    """`2026-11-16 09:07 UTC`."""
    return f"{datetime.fromisoformat(time):%Y-%m-%d %H:%M} UTC"


def clean(value: object) -> object:
    """What is written into the page: foreign text harmless, markup of ours as it is."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined  # a tenth of a second, for which only who wants a report shall wait

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=clean, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"usd": usd, "at": at, "counted": count, "titled": title, "short": short_dollars}
    environment.filters["dollars"] = lambda amount: dollars(Decimal(amount))
    environment.globals |= {"KINDS": KINDS, "LONG": LONG, "NOUNS": NOUNS, "REASONS": REASONS, "SEVERITIES": SEVERITIES}
    environment.globals |= {"FAILURES": FAILURES, "NAMED": NAMED, "SHARES": SHARES, "FOLDED": FOLDED}
    environment.globals |= {"BLIND": BLIND, "TARGETS": TARGETS, "WIDTH": WIDTH, "HEIGHT": HEIGHT, "day": trend.day}
    return environment.from_string(_INDENT.sub("", _text("report.html.j2")))


@cache
def _fixed() -> dict[str, str]:
    """What is in every report, and the policy that lets a browser run and apply just that, and fetch nothing."""
    style = f"{_text('vendor/uPlot.min.css')}\n{_text('report.css')}"
    bare = _text("noscript.css")
    first = _text("first.js")
    script = f"{_text('vendor/uPlot.iife.min.js')}\n{_text('report.js')}"
    policy = (
        f"default-src 'none'; style-src {_hash(style)} {_hash(bare)}; script-src {_hash(first)} {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    ours = {"policy": policy, "style": style, "bare": bare, "first": first, "script": script, "tides": TIDES}
    return {name: Markup(text) for name, text in {**ours, "licence": _text("vendor/LICENSE")}.items()}  # noqa: S704


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    """How a content security policy names an element's text."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
