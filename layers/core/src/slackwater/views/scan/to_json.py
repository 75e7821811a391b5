"""A scan as JSON: the contract that other programs read."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal
from importlib.resources import files
from json.encoder import encode_basestring
from typing import Any, Final, cast

from slackwater.model.findings import (
    BELOW_MINIMUM,
    KEPT,
    Finding,
    PriceBasis,
    Recommendation,
    Scan,
    TargetScan,
    UnknownVerdict,
    Usage,
)
from slackwater.model.metrics import Series
from slackwater.model.rank import ranked, totals
from slackwater.model.resources import Resource
from slackwater.model.settings import Setting
from slackwater.model.verdicts import Evidence
from slackwater.views.scan.document import (
    SCHEMA,
    EvidenceDocument,
    FindingDocument,
    GapDocument,
    PriceBasisDocument,
    RecommendationDocument,
    ResourceDocument,
    ScanDocument,
    SeriesDocument,
    SettingDocument,
    SomeTotals,
    TargetDocument,
    TotalsDocument,
    UnknownDocument,
    UsageDocument,
)


def render(scan: Scan) -> str:
    """Render the scan document as indented JSON, with each list of plain values on one line."""
    return dump(document(scan))


def dump(value: object) -> str:
    """Return indented JSON. A list of plain values stays on one line, because a series has thousands."""
    return _indented(value, "\n") + "\n"


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the scan document."""
    loaded: dict[str, Any] = json.loads(files(__package__).joinpath("scan.schema.json").read_text("utf-8"))
    return loaded


def document(scan: Scan) -> ScanDocument:
    """Return the scan document, with the findings of all targets ranked together."""
    findings = ranked(finding for target in scan.targets for finding in target.findings)
    gaps = sorted({*scan.gaps, *(gap for target in scan.targets for gap in target.gaps)})
    resources = sum((Counter(target.resources) for target in scan.targets), Counter[str]())
    whole: ScanDocument = {
        "schema": SCHEMA,
        "scan": {
            "id": scan.id,
            "as_of": rfc3339(scan.as_of),
            "started_at": rfc3339(scan.started_at),
            "finished_at": rfc3339(scan.finished_at),
            "complete": scan.complete,
            "targets": [_target(target) for target in scan.targets],
            "detectors": sorted(scan.detectors),
            "policy": {"version": scan.policy.version, "sha256": scan.policy.sha256},
            "gaps": [cast("GapDocument", asdict(gap)) for gap in gaps],
            "resources": dict(sorted(resources.items())),
            "usage": _usage(scan.usage),
        },
        "findings": [_finding(finding) for finding in findings],
        "unknown": [_unknown(unknown) for target in scan.targets for unknown in target.unknown],
        "unlisted": [
            {"detector": unlisted.detector, "resource": _resource(unlisted.resource), "reason": unlisted.reason}
            for target in scan.targets
            for unlisted in target.unlisted
        ],
        "totals": _totals(scan, findings),
    }
    if scan.more:
        whole["scan"]["more"] = True
    return whole


def rfc3339(at: datetime) -> str:
    """Return a time in UTC, such as `2026-11-16T09:07:00Z`; with fractions of a second only if they are not zero."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _target(scan: TargetScan) -> TargetDocument:
    where = scan.target
    target: TargetDocument = {"account": where.account, "region": where.region, "complete": scan.complete}
    if scan.closed:
        target["closed"] = True
    return target


def _usage(usage: Usage) -> UsageDocument:
    return {
        "api_calls": dict(sorted(usage.api_calls.items())),
        "metrics_requested": usage.metrics_requested,
        "datapoints": usage.datapoints,
        "estimated_usd": _exact(usage.estimated_usd),
    }


def _finding(finding: Finding) -> FindingDocument:
    return {
        "id": finding.id,
        "detector": finding.detector,
        "severity": finding.severity,
        "kind": finding.kind,
        "confidence": finding.confidence,
        "resource": _resource(finding.resource),
        "owner": finding.owner,
        "summary": finding.summary,
        "evidence": [_evidence(evidence) for evidence in finding.evidence],
        "monthly_savings_usd": _usd(finding.monthly_savings_usd),
        "price_basis": [price_basis(basis) for basis in finding.price_basis],
        "recommendations": [_recommendation(recommendation) for recommendation in finding.recommendations],
        "caveats": list(finding.caveats),
        "fingerprint": finding.fingerprint,
    }


def _resource(resource: Resource) -> ResourceDocument:
    return {
        "arn": resource.arn,
        "id": resource.id,
        "type": resource.KIND,
        "name": resource.name,
        "account": resource.target.account,
        "region": resource.target.region,
        "tags": None if resource.tags is None else dict(resource.tags),
    }


def _evidence(evidence: Evidence) -> EvidenceDocument:
    fact: EvidenceDocument = {"label": evidence.label, "value": evidence.value, "unit": evidence.unit}
    if evidence.series is not None:
        fact["series"] = _series(evidence.series)
    if evidence.scale is not None:
        fact["scale"] = evidence.scale
    if evidence.lines:
        fact["lines"] = [{"label": line.label, "value": line.value} for line in evidence.lines]
    if evidence.forecast is not None and len(evidence.forecast):
        fact["forecast"] = _series(evidence.forecast)
    return fact


def _series(series: Series) -> SeriesDocument:
    return {"start": rfc3339(series.start), "period_s": series.period_s, "values": series.optional()}


def price_basis(basis: PriceBasis) -> PriceBasisDocument:
    """Return a unit price with its source and date."""
    return {
        "item": basis.item.id,
        "usd": _exact(basis.price.usd),
        "unit": basis.item.unit,
        "source": basis.price.source,
        "as_of": basis.price.as_of.isoformat(),
    }


def _recommendation(recommendation: Recommendation) -> RecommendationDocument:
    advice = recommendation.advice
    to_do: RecommendationDocument = {
        "action": advice.action,
        "summary": advice.summary,
        "monthly_savings_usd": _usd(recommendation.monthly_savings_usd),
        "risk": advice.risk,
        "reversible": advice.reversible,
    }
    if advice.command is not None:
        to_do["command"] = advice.command
    if advice.new_value is not None:
        to_do["new_value"] = advice.new_value
    if advice.deletes:
        to_do["deletes"] = True
    if advice.setting is not None:
        to_do["setting"] = setting(advice.setting)
    return to_do


def setting(setting: Setting) -> SettingDocument:
    """Return the document of a setting. Its `kind` says which fields it has."""
    return cast("SettingDocument", asdict(setting))


def _unknown(unknown: UnknownVerdict) -> UnknownDocument:
    return {"detector": unknown.detector, "resource": _resource(unknown.resource), "reason": unknown.reason}


def _totals(scan: Scan, findings: Iterable[Finding]) -> TotalsDocument:
    reasons = Counter(unlisted.reason for target in scan.targets for unlisted in target.unlisted)
    waste = [finding for finding in findings if finding.kind == "waste"]
    return {
        **_sum(findings),
        "waste_monthly_savings_usd": _sum(waste)["monthly_savings_usd"],
        "high_confidence_usd": _sum(one for one in waste if one.confidence == "high")["monthly_savings_usd"],
        "kept": reasons[KEPT],
        "below_minimum": reasons[BELOW_MINIMUM],
        "unknown": sum(len(target.unknown) for target in scan.targets),
        "by_detector": _by(findings, lambda finding: finding.detector),
        "by_kind": _by(findings, lambda finding: finding.kind),
        "by_account": _by(findings, lambda finding: finding.resource.target.account),
        "by_owner": _by(findings, lambda finding: finding.owner or ""),
    }


def _by[K: str](findings: Iterable[Finding], key: Callable[[Finding], K]) -> dict[K, SomeTotals]:
    some: defaultdict[K, list[Finding]] = defaultdict(list)
    for finding in findings:
        some[key(finding)].append(finding)
    return {one: _sum(of_one) for one, of_one in sorted(some.items())}


def _sum(findings: Iterable[Finding]) -> SomeTotals:
    total = totals(findings)
    return {
        "findings": total.findings,
        "monthly_savings_usd": f"{total.monthly_savings_usd:.2f}",
        "unpriced": total.unpriced,
    }


def _exact(usd: Decimal) -> str:
    return f"{usd.normalize():f}"


def _usd(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:.2f}"


_plain: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""One encoder for all values: `json.dumps` with options that are not the defaults makes a new one for each call.

For a text or an integer, `encode_basestring` or `repr` returns the same and is several times as fast.
"""

_NESTED: Final = (dict, list)


def _indented(value: object, newline: str) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if type(value) is int:  # not a boolean
        return repr(value)
    deeper = newline + "  "
    if isinstance(value, dict) and value:
        inside = f",{deeper}".join([f"{encode_basestring(k)}: {_indented(v, deeper)}" for k, v in value.items()])
        return f"{{{deeper}{inside}{newline}}}"
    if isinstance(value, list) and any(isinstance(v, _NESTED) for v in value):
        return f"[{deeper}{f',{deeper}'.join([_indented(v, deeper) for v in value])}{newline}]"
    return _plain(value)
