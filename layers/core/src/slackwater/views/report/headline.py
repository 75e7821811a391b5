"""The report's first screen: the headline, the most valuable fixes, and savings by owner and service."""

import pkgutil
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib import import_module
from typing import Final

from slackwater import detectors
from slackwater.model.verdicts import FindingKind
from slackwater.views.scan.document import FindingDocument, RecommendationDocument, TotalsDocument
from slackwater.views.scan.savings import total_savings, ways
from slackwater.views.text.money import dollars
from slackwater.views.text.words import ISSUE_NOUNS, count, measure, number, only_backs_up, undo

FIXES: Final = 5
"""Fixes on the first screen."""
BARS: Final = 8
"""Owners and services that have a bar of their own. The last bar adds up the others."""
FLAT: Final = 0.2
"""Fraction of the paid capacity. A series that varies by less looks flat in a sparkline, so a bar replaces it."""
SERVICES: Final = {"ebs": "EBS", "ec2": "EC2", "efs": "EFS", "fsx": "FSx"}


@dataclass(frozen=True, slots=True)
class Fix:
    """A fix for the first screen: its finding, the recommendation, and the work that it takes.

    `only_backs_up` says that its command is only the first step of a deletion: people do the rest.
    """

    finding: FindingDocument
    to_do: RecommendationDocument
    effort: str
    only_backs_up: bool
    undo: str


@dataclass(frozen=True, slots=True)
class Bar:
    """Savings of an owner or a service.

    Attributes:
        name: The owner, empty for resources without one, or the service.
        usd: US dollars a month.
        percent: Length of the bar, relative to the longest.
        others: How many owners or services this bar adds up; 0 if it is of one.
    """

    name: str
    findings: int
    usd: Decimal
    percent: float
    others: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """How much of a paid capacity is used: words such as `660 of 8,000 IOPS`, and the share in percent."""

    words: str
    percent: float


def short_dollars(usd: Decimal) -> str:
    """Format an amount with two to four significant digits: `$9.6k`, `$115k`, `$1.2M`, `$640`."""
    for unit, name in ((Decimal(1_000_000), "M"), (Decimal(1_000), "k")):
        amount = usd / unit
        if round(amount, 2) >= 1:
            return f"${amount:.1f}{name}" if amount < 100 else f"${amount:,.0f}{name}"
    return dollars(usd)


def confidence(totals: TotalsDocument, usd: Decimal) -> str:
    """Return how much of the waste has high confidence: `$6.4k a month of it with high confidence`.

    Empty if that is unknown, or if there is no waste.
    """
    sure = totals.get("high_confidence_usd")
    if sure is None or not usd:
        return ""
    if Decimal(sure) >= usd:
        return "all with high confidence"
    amount = f"{short_dollars(Decimal(sure))} a month" if Decimal(sure) > 0 else "none"
    return f"{amount} of it with high confidence"


def top_fixes(findings: Iterable[FindingDocument]) -> list[Fix]:
    """Return the fixes that save most, one for each resource. If none saves: the fixes of the most severe issues."""
    able = [finding for finding in findings if finding["recommendations"]]
    saving = sorted((one for one in able if _usd(one) > 0 and one["kind"] == "waste"), key=_usd, reverse=True)
    by_resource: dict[str, FindingDocument] = {}
    for finding in saving or able:
        by_resource.setdefault(finding["resource"]["arn"], finding)
    return [
        Fix(finding, to_do, effort(to_do), only_backs_up(to_do), undo(to_do))
        for finding in list(by_resource.values())[:FIXES]
        for to_do in finding["recommendations"][:1]
    ]


def effort(to_do: RecommendationDocument) -> str:
    """Return how much work a recommendation takes, judged by its command."""
    command = to_do.get("command")
    if command is None:
        return "manual change"
    if only_backs_up(to_do):
        return "several steps"
    return (
        "several commands"
        if "\n" in command.strip() or command.startswith("for ") or " && " in command
        else "one command"
    )


def by_owner(findings: Sequence[FindingDocument]) -> list[Bar]:
    """Return savings from waste by owner. A resource has one owner, so that the bars add up to the headline."""
    return _bars((finding["owner"] or "", finding) for finding in findings)


def by_service(findings: Sequence[FindingDocument]) -> list[Bar]:
    """Return savings from waste by AWS service. A resource has one service, so the bars add up to the headline."""
    return _bars((_service(finding), finding) for finding in findings)


def _service(finding: FindingDocument) -> str:
    prefix = finding["resource"]["type"].split("-")[0]
    return SERVICES.get(prefix, prefix)


def _bars(filed: Iterable[tuple[str, FindingDocument]]) -> list[Bar]:
    by: defaultdict[str, list[FindingDocument]] = defaultdict(list)
    for name, finding in filed:
        if finding["kind"] == "waste":
            by[name].append(finding)
    sums = [(name, len(some), total_savings(map(ways, some))[0]) for name, some in by.items()]
    sums.sort(key=lambda one: (-one[2], -one[1], one[0]))
    own, rest = (sums, []) if len(sums) <= BARS else (sums[: BARS - 1], sums[BARS - 1 :])
    merged = [(name, many, usd, 0) for name, many, usd in own]
    if rest:
        merged.append(("", sum(one[1] for one in rest), sum((one[2] for one in rest), Decimal(0)), len(rest)))
    longest = max((one[2] for one in merged), default=Decimal(0)) or Decimal(1)
    return [Bar(name, many, usd, float(usd / longest) * 100, others) for name, many, usd, others in merged]


def usage(finding: FindingDocument) -> Usage | None:
    """Return the use of a paid capacity, or the rest of a credit balance, from the first fact with a series.

    The bar shows the value of the fact, as its summary does. None if no fact has a series, if that fact has no scale,
    or if its series is not flat or leaves the range from 0 to the scale.
    """
    for fact in finding["evidence"]:
        series, paid = fact.get("series"), fact.get("scale")
        values = [value for value in series["values"] if value is not None] if series else []
        if not values:
            continue
        most, least = max(values), min(values)
        if not paid or least < 0 or most > paid or most - least > FLAT * paid:
            return None
        value, unit = fact["value"], fact["unit"]
        if isinstance(value, str):
            value = most
        if not 0 <= value <= paid:
            return None
        used = measure(value, unit) if unit in {"bytes", "percent"} else number(value)
        return Usage(f"{used} of {measure(paid, unit)}", value / paid * 100)
    return None


def title(detector_id: str) -> str:
    """Return the title of a detector, or its id if this version does not have the detector."""
    return _titles().get(detector_id, detector_id)


@cache
def _titles() -> dict[str, str]:
    modules = [info.name for info in pkgutil.iter_modules(detectors.__path__)]
    return {name.replace("_", "-"): import_module(f"{detectors.__name__}.{name}").DETECTOR.title for name in modules}


def _usd(finding: FindingDocument) -> Decimal:
    return Decimal(finding["monthly_savings_usd"] or 0)


def beside(findings: Iterable[FindingDocument], totals: TotalsDocument, *, whole: bool) -> str:
    """Return how the findings divide, and what the fixes of issues and risks do to the bill.

    Example: `54 findings: 42 show waste, 10 are performance issues, and 2 are risks. The savings are from waste only.
    Fixing the other 12 would cost $1,420 a month; that is not subtracted.` Empty if all findings are waste.

    Args:
        findings: The findings in the report.
        totals: The totals of the scan.
        whole: Whether `findings` are all findings of the scan. If not, the result does not say what the fixes cost.
    """
    many = {kind: of["findings"] for kind, of in totals["by_kind"].items()}
    waste = many.get("waste", 0)
    others = sum(many.values()) - waste
    if not others:
        return ""
    kinds = [kind for kind in ISSUE_NOUNS if kind in many]
    if waste:
        parts = [f"{waste:,} {'shows' if waste == 1 else 'show'} waste"]
        parts += [f"{many[kind]:,} {'is a' if many[kind] == 1 else 'are'} {_noun(kind, many[kind])}" for kind in kinds]
        first = f"{count(sum(many.values()), 'finding')}: {', '.join(parts[:-1])}, and {parts[-1]}."
    else:
        first = f"{' and '.join(f'{many[kind]:,} {_noun(kind, many[kind])}' for kind in kinds)}."
    fixes = [one for one in findings if one["kind"] != "waste" and one["recommendations"]] if whole else []
    if not fixes:
        return first
    fixed = f"{len(fixes):,} of " if len(fixes) < others else ""
    effect = _effect(fixes, besides_waste=bool(waste))
    if not waste:
        return f"{first} Fixing {fixed}{'it' if others == 1 else 'them'} {effect}"
    which = "one" if others == 1 else f"{others:,}"
    return f"{first} The savings are from waste only. Fixing {fixed}the other {which} {effect}"


def _noun(kind: FindingKind, many: int = 1) -> str:
    return f"{ISSUE_NOUNS[kind]}{'' if many == 1 else 's'}"


def _effect(fixes: Sequence[FindingDocument], *, besides_waste: bool) -> str:
    """Return what the recommended fixes of these issues and risks would do to the bill, as the end of a sentence.

    With `besides_waste`, it also says that the savings in the headline do not include that.
    """
    unknown = sum(finding["monthly_savings_usd"] is None for finding in fixes)
    if unknown == len(fixes):
        return "would have an unknown cost."
    cost, saved = (total_savings((one["resource"]["arn"], [sign * _usd(one)]) for one in fixes)[0] for sign in (-1, 1))
    more = f" The cost of {unknown:,} is unknown." if unknown else ""
    if cost > saved:
        end = "; that is not subtracted" if besides_waste else ""
        return f"would cost {dollars(cost - saved)} a month{end}.{more}"
    if cost < saved:
        end = "; that is not included" if besides_waste else ""
        return f"would save {dollars(saved - cost)} a month{end}.{more}"
    return f"would be free for {len(fixes) - unknown:,}.{more}" if unknown else "would be free."
