"""The report: a scan as one HTML file that needs nothing but a browser, for people to look at.

The money and what was not seen come first and can be read without JavaScript, as can every finding; what opens under a finding
is kept as data, and drawn when it is asked for.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import cos
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from slackwater.model.rank import SEVERITIES
from slackwater.model.verdicts import FindingKind, Severity
from slackwater.views.document import FindingDocument, GapDocument, ScanDocument
from slackwater.views.report.details import details, visible
from slackwater.views.report.pictures import album, drawn, sparkline
from slackwater.views.words import NOUNS, count, gaps_title, reasons
from slackwater.views.worth import ways, worth

if TYPE_CHECKING:
    from jinja2 import Template

FILTERS: Final = ("severity", "kind", "detector", "account", "region", "owner", "confidence")
KINDS: Final = ("waste", "performance", "risk")
NOBODY: Final = "(none)"
"""How the filters call an owner who is not named."""
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

_INDENT: Final = re.compile(r"^\s+", re.MULTILINE)


def render_report(doc: ScanDocument, notice: str = "") -> str:
    """The scan as HTML: one file without a reference to another, the same for the same document.

    A `notice` stands above all else, such as that nothing of it is real.
    """
    findings = doc["findings"]
    groups = _groups(findings)
    waste = doc["totals"]["by_kind"].get("waste")
    seen = doc["scan"].get("as_of", doc["scan"]["finished_at"])
    pictures = album(findings, until=seen)
    return _template().render(
        _fixed(),
        notice=notice,
        as_of=doc["scan"].get("as_of"),
        doc=doc,
        head=doc["scan"],
        totals=doc["totals"],
        findings=findings,
        places=_places(doc),
        gaps_title=gaps_title(doc),
        severities=Counter(finding["severity"] for finding in findings),
        waste=waste,
        beside=_beside(findings),
        grave=_grave(findings),
        groups=groups,
        shared=waste and sum(group.usd for group in groups) != Decimal(waste["monthly_savings_usd"]),
        best=[_best(finding) for finding in findings],
        filters=[(name, _choices(findings, name)) for name in FILTERS],
        sparks=[_spark(finding, seen) for finding in findings],
        left_out=pictures.left_out,
        gaps=_failures(doc["scan"]["gaps"]),
        unknown=reasons(doc["unknown"], NAMED),
        unlisted=reasons(doc["unlisted"], NAMED),
        wanted=_wanted(doc),
        snapshot=any(basis["source"].startswith("snapshot") for finding in findings for basis in finding["price_basis"]),
        silent=[id_ for id_ in doc["scan"]["detectors"] if id_ not in doc["totals"]["by_detector"]],
        details=Markup(details(findings, pictures)),  # noqa: S704 -- inert JSON
    )


@dataclass(frozen=True, slots=True)
class Group:
    """A detector's findings of waste, or its others, by their places; `kinds` is empty where they are waste.

    `usd` is what waste comes to by the best way out of each resource, and `by_best` whether that is not what its rows say;
    `bar` is its part of the dearest one's, in percent.
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
    """A call that failed in the same way in some places."""

    what: str
    reason: str
    optional: bool
    places: tuple[str, ...]


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
    usd, _ = worth(map(ways, some)) if is_waste else (Decimal(0), 0)
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


def _beside(findings: Iterable[FindingDocument]) -> str:
    """What was found beside waste: how much of it, and what its ways out cost and save."""
    others = [finding for finding in findings if finding["kind"] != "waste"]
    kinds = Counter(finding["kind"] for finding in others)
    nouns: dict[FindingKind, str] = {"performance": "performance trouble", "risk": "risk"}
    cost, _ = worth((one["resource"]["arn"], [-Decimal(one["monthly_savings_usd"] or 0)]) for one in others)
    saved, _ = worth(map(ways, others))
    told = " and ".join(count(kinds[kind], noun) for kind, noun in nouns.items() if kinds[kind])
    money = [
        *([f"the first ways out would cost {usd(cost)} USD a month in all"] if cost else []),
        *([f"the best {'' if cost else 'ways out '}would save up to {usd(saved)} USD a month"] if saved else []),
    ]
    return ": ".join(part for part in (told, ", ".join(money)) if part)


def _grave(findings: Iterable[FindingDocument]) -> dict[str, list[FindingDocument]]:
    """What is of high severity, by kind."""
    grave: dict[str, list[FindingDocument]] = {kind: [] for kind in KINDS}
    for finding in findings:
        if finding["severity"] == "high":
            grave[finding["kind"]].append(finding)
    return grave


def _failures(gaps: Iterable[GapDocument]) -> list[Failure]:
    """What is required first, then what failed most often."""
    places: defaultdict[tuple[bool, str, str], list[str]] = defaultdict(list)
    for gap in gaps:
        where = " of ".join(part for part in (gap["region"], gap["account"]) if part)
        places[gap["optional"], gap["what"], gap["reason"]].append(where or "everywhere")
    failures = (Failure(what, reason, optional, tuple(where)) for (optional, what, reason), where in places.items())
    return sorted(failures, key=lambda one: (one.optional, -len(one.places), one.what, one.reason))


def filed(finding: FindingDocument) -> dict[str, str]:
    """What a finding is filtered by."""
    resource = finding["resource"]
    return {
        "severity": finding["severity"],
        "kind": finding["kind"],
        "detector": finding["detector"],
        "account": resource["account"],
        "region": resource["region"],
        "owner": finding["owner"] or NOBODY,
        "confidence": finding["confidence"],
    }


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


def _choices(findings: Iterable[FindingDocument], name: str) -> list[tuple[str, int]]:
    found = Counter(filed(finding)[name] for finding in findings)
    levels = list(SEVERITIES)
    return sorted(found.items(), key=lambda each: (levels.index(each[0]) if each[0] in levels else -1, each[0]))


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

    environment = Environment(autoescape=True, undefined=StrictUndefined, finalize=clean, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"usd": usd, "at": at, "counted": count}
    environment.globals |= {"KINDS": KINDS, "LONG": LONG, "NOUNS": NOUNS, "REASONS": REASONS, "SEVERITIES": SEVERITIES}
    environment.globals |= {"FAILURES": FAILURES, "NAMED": NAMED, "filed": filed}
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
    return {name: Markup(text) for name, text in {**ours, "licence": _text("vendor/LICENSE")}.items()}  # noqa: S704 -- no data


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    """How a content security policy names an element's text."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
