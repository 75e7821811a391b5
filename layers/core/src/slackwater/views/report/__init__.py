"""The report: a scan as one HTML file for people, which needs nothing but a browser.

The savings and the failed calls come first. They and the list of findings can be read without JavaScript. The details
of a finding are stored as JSON, and a script draws them when you open the finding.
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

from markupsafe import Markup, escape

from slackwater.model.findings import ALSO_FOUND, REGION_DISABLED, STRONGER_FINDING
from slackwater.model.rank import SEVERITIES
from slackwater.model.verdicts import Severity
from slackwater.views.report.details import details, visible
from slackwater.views.report.headline import (
    beside,
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
from slackwater.views.text.money import charges, dollars
from slackwater.views.text.words import NOUNS, ceiling, count, gaps_title, inconclusive, is_held_back, missing, reasons

if TYPE_CHECKING:
    from jinja2 import Template

REPORT_FINDINGS: Final = 5_000
"""Maximum number of findings in a report; the most severe are kept.

A report of this size has 8 MB. A browser opens it in 0.4 s, or in 2.3 s with a sixth of the processor. With a sixth of
the processor, twice as many findings take 15 MB and 5 s. Eight times as many take 56 MB and 46 s, and minutes to sort.
"""

FILTERS: Final = ("severity", "kind", "detector", "account", "region", "owner", "confidence")
UNIT: Final = "unit"
OPTION: Final = re.compile(r"(?<= )(--[a-z-]+)")
"""The filter by organizational unit, which includes the units below. It exists only if accounts have units."""
LABELS: Final = {UNIT: "Organizational unit"}
KINDS: Final = ("waste", "performance", "risk")
NOBODY: Final = "(none)"
"""Value of the owner filter for findings without an owner."""
NOWHERE: Final = "(unknown)"
"""Value of the unit filter for accounts whose organizational unit is unknown."""
SHARES: Final = 20
"""Rows that each table of organizational units, accounts or owners shows before it is unfolded."""
ACCOUNTS_SHOWN: Final = 10
"""Incomplete accounts that are shown before the list is unfolded."""
FOLDED: Final = 2_000
"""Rows of each of these lists that can be unfolded. The rest is counted."""
TARGETS: Final = 60
"""Scanned targets that are named. If there are more, they are counted instead."""
NAMED: Final = 12
"""Resources that are named beside a reason. The rest is counted."""
REASONS: Final = 100
"""Reasons that are listed. The rest is counted."""
FAILURES: Final = 12
"""Kinds of failure that are listed. The rest is counted, because the list may come before the findings."""

LONG: Final = 1_500
"""If there are more findings, the browser lays out only the visible ones."""
WAVE: Final = "M" + " ".join(f"{x} {18 - 15 * abs(x / 600 - 1) ** 2.5 * cos(x / 17):.1f}" for x in range(0, 1201, 4))
"""SVG path of the wave in the page's header. Its amplitude falls to zero in the middle."""

_COVERED: Final = re.compile("(.+)".join(map(re.escape, ALSO_FOUND.split("{}"))))
"""Matches the caveat that names the other findings that a finding covers."""

_INDENT: Final = re.compile(r"^\s+", re.MULTILINE)


def render_report(doc: ScanDocument, notice: str = "") -> str:
    """Render the scan as one HTML file without external references. The same document gives the same file.

    Args:
        doc: The scan document. If it has more than `REPORT_FINDINGS` findings, the most severe are shown. It may
            contain only these, if its totals count all. `unknown` and `unlisted` are iterated once.
        notice: Text at the top of the page, such as that the data is not real.
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
        beside=beside(findings, totals, whole=not more),
        fixes=top_fixes(findings),
        bars=[] if more else [("owner", by_owner(findings)), ("service", by_service(findings))],
        order=_order(findings),
        usages=[usage(finding) for finding in findings],
        most_severe=_most_severe(findings),
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
    """The findings of a detector that are waste, or those that are not.

    Attributes:
        kinds: The other kinds, as text; empty for waste.
        places: Indexes of the findings in the document.
        usd: Savings from waste with the best option of each resource, US dollars a month.
        by_best: Whether `usd` differs from the sum of the rows.
        bar: `usd` relative to the group with the highest savings, in percent.
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
    """A call that failed for the same reason in one or more places."""

    what: str
    reason: str
    optional: bool
    places: tuple[str, ...]
    often: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table of shares.

    Attributes:
        filter: Name of the filter that its rows link to.
        title: Title of the table.
        of: Noun for a row.
        rows: For each row the value of the filter, the name to show, and the share. The value is empty if the report
            shows no finding of the row.
    """

    filter: str
    title: str
    of: str
    rows: tuple[tuple[str, str, Share], ...]


def _groups(findings: Sequence[FindingDocument]) -> list[Group]:
    """Group findings by detector: first performance issues and risks, by severity, so that nobody overlooks them.

    Groups of waste follow, by savings.
    """
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
    """Return the highest saving of the recommendations after the first, if the first saves less; else None."""
    first, *others = [to_do["monthly_savings_usd"] for to_do in finding["recommendations"]] or [None]
    best = max((Decimal(usd) for usd in others if usd is not None), default=Decimal(0))
    return best if best > max(Decimal(0), Decimal(first or 0)) else None


def _detectors(totals: TotalsDocument, groups: Iterable[Group]) -> list[tuple[str, str, int, Decimal, float]]:
    """Return a bar for each detector that found something, by savings.

    A bar is the detector's id, the id of a group with its findings (empty if there is none), the number of its
    findings, US dollars a month, and the bar's length in percent.
    """
    anchors = {group.detector: group.id for group in groups}
    found = [(id_, of["findings"], Decimal(of["monthly_savings_usd"])) for id_, of in totals["by_detector"].items()]
    most = max((usd for *_, usd in found), default=Decimal(0)) or Decimal(1)
    by_money = sorted(found, key=lambda one: (-one[2], -one[1], one[0]))
    return [(id_, anchors.get(id_, ""), many, usd, float(usd / most) * 100) for id_, many, usd in by_money]


def _is_shared(totals: TotalsDocument, groups: Iterable[Group], more: int) -> bool:
    """Return whether the bars of several detectors count the same resource."""
    if more:
        bars = sum(Decimal(of["monthly_savings_usd"]) for of in totals["by_detector"].values())
        return bars != Decimal(totals["monthly_savings_usd"])
    waste = totals["by_kind"].get("waste")
    return waste is not None and sum(group.usd for group in groups) != Decimal(waste["monthly_savings_usd"])


def _levels(findings: Sequence[FindingDocument], more: int) -> list[tuple[Severity, str]]:
    """Return the number of findings of each severity.

    If `more` findings are not shown, the lowest severity that is shown gets "at least", and lower ones are left out.
    """
    found = Counter(finding["severity"] for finding in findings)
    if not more:
        return [(severity, f"{found[severity]:,}") for severity in SEVERITIES]
    shown = SEVERITIES[: SEVERITIES.index(findings[-1]["severity"]) + 1] if findings else ()
    return [(one, f"{'at least ' if one == shown[-1] else ''}{found[one]:,}") for one in shown]


def _order(findings: Sequence[FindingDocument]) -> list[int]:
    """Return the indexes of the findings in list order: by saving, then by severity. Unknown savings come last."""

    def key(place: int) -> tuple[Decimal, int]:
        one = findings[place]
        usd = one["monthly_savings_usd"] if one["recommendations"] else None
        return -Decimal(usd or "-Infinity"), SEVERITIES.index(one["severity"])

    return sorted(range(len(findings)), key=key)


def _most_severe(findings: Iterable[FindingDocument]) -> dict[str, list[FindingDocument]]:
    """Return the findings of high severity, by kind."""
    by_kind: dict[str, list[FindingDocument]] = {kind: [] for kind in KINDS}
    for finding in findings:
        if finding["severity"] == "high":
            by_kind[finding["kind"]].append(finding)
    return by_kind


def _failures(gaps: Iterable[GapDocument], organization: Organization | None) -> list[Failure]:
    """Group failed calls: required calls first, then by how often they failed.

    In an organization, reasons that differ only by the account id are treated as the same.
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
    """Yield the places where a call failed. In an organization, each account appears once."""
    if what == REGION_DISABLED:  # usually the same regions in many accounts
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
    """Return a function that returns the filter values of a finding."""
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
    """Return the tables of organizational units, accounts and owners. Empty for a single account.

    A row links to its filter if the report shows one of its findings.
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
        shares: The totals of each unit, account or owner.
        shown: The keys of units, accounts or owners with a finding in the report.
        names: Names to show instead of keys.
        nobody: The value of the filter for an empty key.
    """
    return tuple(((one.key or nobody) if one.key in shown else "", names.get(one.key, one.key), one) for one in shares)


def _suppressed(
    unlisted: Iterable[UnlistedDocument], findings: Iterable[FindingDocument]
) -> Iterator[UnlistedDocument | UnknownDocument]:
    """Yield suppressed findings. The reason names the detector of the stronger finding, if a caveat shows it."""
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
    """Return which regions and accounts were scanned, in a few words."""
    targets = doc["scan"]["targets"]
    if len(targets) == 1:
        return f"{targets[0]['region']} of account {targets[0]['account']}"
    regions, accounts = {target["region"] for target in targets}, {target["account"] for target in targets}
    return f"{count(len(regions), 'region')} of {count(len(accounts), 'account')}"


def _wanted(doc: ScanDocument) -> list[str]:
    """Return how many findings tags and the policy's minimum saving suppressed."""
    kept, small = doc["totals"]["kept"], doc["totals"]["below_minimum"]
    many = {"kept by their tags": kept, "below the least saving worth reporting": small}
    return [f"{number:,} {why}" for why, number in many.items() if number]


def _filters(
    findings: Sequence[FindingDocument],
    filed: Callable[[FindingDocument], dict[str, str]],
    organization: Organization | None,
) -> list[tuple[str, str, list[tuple[str, str, int]]]]:
    """Return each filter with its label and its choices.

    A choice is a value, the name to show, and the number of findings in the report.
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
    """Return the sparkline of the first fact that has a series; empty without one."""
    return next((sparkline(fact, until) for fact in finding["evidence"] if drawn(fact)), "")


def usd(amount: str | Decimal) -> str:
    """Format an amount as `1,234.50`, with a real minus sign (U+2212)."""
    return f"{Decimal(amount):,.2f}".replace("-", "\u2212")


def at(time: str) -> str:
    """Format a time as `2026-11-16 09:07 UTC`."""
    return f"{datetime.fromisoformat(time):%Y-%m-%d %H:%M} UTC"


def unbroken(command: str) -> Markup:
    """Return a command as HTML. A browser does not break its options at their hyphens."""
    words = OPTION.split(visible(command))  # every second one is an option
    return Markup().join(Markup("<span>{}</span>").format(one) if n % 2 else escape(one) for n, one in enumerate(words))


def clean(value: object) -> object:
    """Return a value for the page: untrusted text with invisible characters shown, own markup unchanged."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined  # the import takes 0.1 s: only reports pay for it

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=clean, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"usd": usd, "at": at, "counted": count, "titled": title, "short": short_dollars}
    environment.filters |= {"inconclusive": inconclusive, "charges": charges}
    environment.filters["dollars"] = lambda amount: dollars(Decimal(amount))
    environment.filters["unbroken"] = unbroken
    environment.globals |= {"KINDS": KINDS, "LONG": LONG, "NOUNS": NOUNS, "REASONS": REASONS, "SEVERITIES": SEVERITIES}
    environment.globals |= {"FAILURES": FAILURES, "NAMED": NAMED, "SHARES": SHARES, "FOLDED": FOLDED}
    environment.globals |= {
        "ACCOUNTS_SHOWN": ACCOUNTS_SHOWN,
        "TARGETS": TARGETS,
        "WIDTH": WIDTH,
        "HEIGHT": HEIGHT,
        "day": trend.day,
    }
    return environment.from_string(_INDENT.sub("", _text("report.html.j2")))


@cache
def _fixed() -> dict[str, str]:
    """Return the parts that are the same in every report.

    The content security policy allows exactly these styles and scripts, and no requests.
    """
    style = f"{_text('vendor/uPlot.min.css')}\n{_text('report.css')}"
    bare = _text("noscript.css")
    first = _text("first.js")
    script = f"{_text('vendor/uPlot.iife.min.js')}\n{_text('report.js')}"
    policy = (
        f"default-src 'none'; style-src {_hash(style)} {_hash(bare)}; script-src {_hash(first)} {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    ours = {"policy": policy, "style": style, "bare": bare, "first": first, "script": script, "wave": WAVE}
    return {name: Markup(text) for name, text in {**ours, "licence": _text("vendor/LICENSE")}.items()}  # noqa: S704


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    """Return the hash source with which a content security policy allows an element's text."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
