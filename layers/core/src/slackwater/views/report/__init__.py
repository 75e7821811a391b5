"""The report: a scan as one HTML file that needs nothing but a browser, for people to look at.

The money and what was not seen come first and can be read without JavaScript, as can every finding; what opens under a finding
is kept as data, and drawn when it is asked for.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import cos
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from slackwater.model.rank import SEVERITIES
from slackwater.views.document import FindingDocument, ScanDocument, UnknownDocument, UnlistedDocument
from slackwater.views.report.details import details, visible
from slackwater.views.report.pictures import album, drawn, sparkline
from slackwater.views.words import NOUNS, count, gaps_title

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

LONG: Final = 1_500
"""Findings, from which on a browser lays out only those in sight."""
TIDES: Final = "M" + " ".join(f"{x} {18 - 15 * abs(x / 600 - 1) ** 2.5 * cos(x / 17):.1f}" for x in range(0, 1201, 4))
"""A wave that comes to rest in the middle."""

_INDENT: Final = re.compile(r"^\s+", re.MULTILINE)


def render_report(doc: ScanDocument) -> str:
    """The scan as HTML: one file without a reference to another, the same for the same document."""
    findings = doc["findings"]
    pictures = album(findings)
    return _template().render(
        _fixed(),
        doc=doc,
        head=doc["scan"],
        totals=doc["totals"],
        findings=findings,
        places=_places(doc),
        gaps_title=gaps_title(doc),
        severities=Counter(finding["severity"] for finding in findings),
        groups=_groups(doc),
        filters=[(name, _choices(findings, name)) for name in FILTERS],
        sparks=[_spark(finding) for finding in findings],
        left_out=pictures.left_out,
        unknown=_reasons(doc["unknown"]),
        unlisted=_reasons(doc["unlisted"]),
        wanted=_wanted(doc),
        snapshot=any(basis["source"].startswith("snapshot") for finding in findings for basis in finding["price_basis"]),
        silent=[id_ for id_ in doc["scan"]["detectors"] if id_ not in doc["totals"]["by_detector"]],
        details=Markup(details(findings, pictures)),  # noqa: S704 -- inert JSON
    )


@dataclass(frozen=True, slots=True)
class Group:
    """A detector's findings by their places, and what they come to; `bar` is its part of the dearest one's, in percent."""

    detector: str
    places: tuple[int, ...]
    usd: Decimal
    unpriced: int
    bar: float


@dataclass(frozen=True, slots=True)
class Why:
    """Why a detector gave no finding, how often, and the first resources that it is about."""

    detector: str
    reason: str
    count: int
    names: tuple[str, ...]


def _groups(doc: ScanDocument) -> list[Group]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, finding in enumerate(doc["findings"]):
        places[finding["detector"]].append(place)
    totals = doc["totals"]["by_detector"]
    money = {id_: Decimal(totals[id_]["monthly_savings_usd"]) for id_ in places}
    most = max((*money.values(), Decimal(0)))
    return [
        Group(id_, tuple(places[id_]), money[id_], totals[id_]["unpriced"], float(money[id_] / (most or 1)) * 100)
        for id_ in sorted(places, key=lambda id_: (-money[id_], -len(places[id_]), id_))
    ]


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


def _reasons(questions: Iterable[UnknownDocument | UnlistedDocument]) -> list[Why]:
    names: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for question in questions:
        names[question["detector"], question["reason"]].append(question["resource"]["name"])
    grouped = (Why(id_, why, len(who), tuple(who[:NAMED])) for (id_, why), who in names.items())
    return sorted(grouped, key=lambda why: (-why.count, why.detector, why.reason))


def _spark(finding: FindingDocument) -> str:
    """The picture of the first fact that has one."""
    return next((sparkline(fact) for fact in finding["evidence"] if drawn(fact)), "")


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
    environment.globals |= {"filed": filed}
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
