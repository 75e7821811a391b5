"""Write reports to test in a browser: `fixtures.py FOLDER NAME…` writes NAME.json, a scan document, and NAME.html."""

import hashlib
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema

from slackwater.views.report import render_report
from slackwater.views.scan import to_json as scan_json

type Document = dict[str, Any]

NOW = datetime(2026, 11, 22, 4, 20, tzinfo=UTC)
SEVERITIES = ("high", "medium", "low", "info")
TARGETS = (("111111111111", "eu-west-1"), ("222222222222", "us-east-1"), ("333333333333", "ap-northeast-1"))
OWNERS = ("platform", "video", "ml-research", None)

HOSTILE = {
    "element": "<img src=x onerror=\"window.hacked='element'\">",
    "script": "</script><script>window.hacked='script'</script>",
    "comment": "<!--<script>window.hacked='comment'</script>",
    "style": "</style><script>window.hacked='style'</script>",
    "textarea": "</title></textarea></noscript><svg onload=window.hacked='textarea'>",
    "attribute": '"><svg onload="window.hacked=\'attribute\'">',
    "quote": "' autofocus onfocus='window.hacked=\"quote\"",
    "template": "{{ 7 * 7 }}{% raw %}${7*7}{{ self.__init__.__globals__ }}",
    "link": "javascript:window.hacked='link'",
    "slack": "<!channel> & <https://example.invalid|click>",
    "prototype": "__proto__",
    "entity": "&lt;b&gt;&amp;amp;",
    "long": "n" * 300,
    "hebrew": "גיבוי של \u202eexe.cipbup",
    "emoji": "🗂️ 👩‍👩‍👧 archive",
    "separator": "one\u2028two\u2029three",
    "null": "zero\x00byte",
}


def series(period_s: int, values: Iterable[float | None], end: datetime = NOW) -> Document:
    """Return a series that ends now, or at `end`."""
    points = list(values)
    start = end - timedelta(seconds=period_s * len(points))
    return {"start": scan_json.rfc3339(start), "period_s": period_s, "values": points}


def after(known: Document, values: Iterable[float | None]) -> Document:
    """Return a forecast, which starts where the series ends."""
    return {"start": scan_json.rfc3339(NOW), "period_s": known["period_s"], "values": list(values)}


def finding(number: int, detector: str, kind: str, severity: str, saving: str | None, **other: Any) -> Document:
    """Return a finding of its own resource. `other` replaces fields."""
    account, region = TARGETS[number % len(TARGETS)]
    id_ = f"vol-{number:017x}"
    resource = {
        "arn": f"arn:aws:ec2:{region}:{account}:volume/{id_}",
        "id": id_,
        "type": "ebs-volume",
        "name": f"store-{number}",
        "account": account,
        "region": region,
        "tags": {"Name": f"store-{number}", "Env": "production" if number % 2 else "staging"},
    } | other.pop("resource", {})
    return {
        "id": hashlib.sha256(f"{number}".encode()).hexdigest()[:16],
        "detector": detector,
        "severity": severity,
        "kind": kind,
        "confidence": ("high", "medium", "low")[number % 3],
        "resource": resource,
        "owner": OWNERS[number % len(OWNERS)],
        "summary": f"{100 + number} GiB of gp3 that nothing is attached to since 2026-0{1 + number % 9}-01",
        "evidence": [
            {"label": "Size", "value": 100 + number, "unit": "GiB"},
            {"label": "Volume type", "value": "gp3", "unit": "words"},
        ],
        "monthly_savings_usd": saving,
        "price_basis": [
            {
                "item": "ebs.gp3.storage",
                "usd": "0.08",
                "unit": "GiB-month",
                "source": "AWS Price List, SKU 7U7TWP44UP36AT3R",
                "as_of": "2026-11-22",
            }
        ],
        "recommendations": [
            {
                "action": "snapshot-and-delete",
                "summary": "Take a snapshot, and delete the volume.",
                "monthly_savings_usd": saving,
                "risk": "It cannot be attached any more; a new one can be made of the snapshot.",
                "reversible": True,
                "command": f"aws ec2 create-snapshot --region {region} --volume-id {id_}",
            }
        ],
        "caveats": ["What is on it cannot be seen from outside."],
        "fingerprint": hashlib.sha256(f"print {number}".encode()).hexdigest()[:16],
    } | other


def pictures() -> Iterator[Document]:
    """Yield evidence of every shape that the report can draw."""
    plateau = series(
        300, [None if 800 <= n < 900 else min(3000, 1800 + 1500 * math.sin(n / 60) + n % 7) for n in range(4032)]
    )
    yield {
        "label": "IOPS, busiest minute",
        "value": 3000,
        "unit": "IOPS",
        "series": plateau,
        "scale": 16000,
        "lines": [{"label": "Provisioned", "value": 16000}, {"label": "What the instance carries", "value": 3000}],
    }
    credits_ = series(3600, [2_300_000_000_000 - 5_000_000_000 * n for n in range(336)])
    yield {
        "label": "Burst credits",
        "value": 620_000_000_000,
        "unit": "bytes",
        "series": credits_,
        "lines": [{"label": "Empty", "value": 0}],
        "forecast": after(credits_, [620_000_000_000 - 5_000_000_000 * n for n in range(124)]),
    }
    yield {"label": "Read and written by day", "value": 0, "unit": "GiB", "series": series(86400, [0.0] * 36)}
    yield {
        "label": "Network by day",
        "value": 7.2,
        "unit": "percent",
        "series": series(86400, [*[None] * 20, 7.2, *[None] * 15]),
        "scale": 100,
    }
    yield {
        "label": "Connections by day",
        "value": "nobody knows",
        "unit": "words",
        "series": series(86400, [None] * 36),
    }
    yield {"label": "Nothing published", "value": "nobody knows", "unit": "words", "series": series(86400, [])}
    yield {
        "label": "From tiny to huge",
        "value": 1.5e15,
        "unit": "IOPS",
        "series": series(3600, [1e-9, None, -4.0, 1.5e15, None, None, 0.1, 1e-300]),
    }


def heights() -> Iterator[Document]:
    """Yield evidence whose chart is misleading if its heights, times or end are drawn incorrectly."""
    levels = [{"label": "Baseline", "value": 8.0}, {"label": "Burst", "value": 625.0}]
    for label, values in {
        "A plateau after a peak": [348.0, *[7.96] * 49, 0.0],
        "A plateau alone": [7.96 + n % 3 / 100 for n in range(86)],
        "On a power of ten": [1.0] * 40,
    }.items():
        yield {"label": label, "value": 7.96, "unit": "MB/s", "series": series(300, values), "lines": levels}
    empty = [{"label": "Empty", "value": 0}, levels[1]]
    yield {"label": "Far below", "value": 1e-5, "unit": "MB/s", "series": series(300, [1e-5] * 40), "lines": empty}
    tonight = NOW.replace(hour=0, minute=0) + timedelta(days=1)
    yield {
        "label": "Used of what is provisioned",
        "value": 660,
        "unit": "IOPS",
        "series": series(86400, [*[660.0] * 35, 20.0], tonight),
        "scale": 8000,
        "lines": [{"label": "Provisioned", "value": 8000}, {"label": "Proposed", "value": 792}],
    }
    yield {
        "label": "Highest CPU",
        "value": 4.2,
        "unit": "percent",
        "series": series(3600, [1.8, 4.2, *[1.8] * 70]),
        "scale": 100,
        "lines": [{"label": "Idle below", "value": 5}],
    }
    yield {
        "label": "Next to no credits",
        "value": 0,
        "unit": "bytes",
        "series": series(3600, [n % 24 * 4e8 for n in range(168)]),
        "scale": 2_308_974_418_330,
    }
    balance = series(3600, [2_300_000_000_000 - 5_000_000_000 * n for n in range(336)])
    yield {
        "label": "Credits and what becomes of them",
        "value": 620_000_000_000,
        "unit": "bytes",
        "series": balance,
        "forecast": after(balance, [620_000_000_000 - 5_000_000_000 * n for n in range(124)]),
    }
    spike = series(300, [10.0 if n == 1000 else 1 + n % 7 / 10 for n in range(4032)])
    yield {"label": "A spike among thousands", "value": 10, "unit": "IOPS", "series": spike}


def hostile(number: int, text: str) -> Document:
    """Return a finding in which every free text is `text`."""
    one = finding(number, "ebs-unattached", "waste", "medium", "1.00")
    command = f"aws ec2 delete-volume --volume-id '{text}'"
    return one | {
        "resource": one["resource"]
        | {"name": text, "tags": {"Name": text, text: text}, "arn": f"{one['resource']['arn']}{text}"},
        "owner": text,
        "summary": text,
        "evidence": [
            {"label": text, "value": text, "unit": text},
            {
                "label": f"Drawn {text}",
                "value": 1,
                "unit": text,
                "series": series(3600, [1.0, 2.0, None, 3.0]),
                "lines": [{"label": text, "value": 2}],
            },
        ],
        "price_basis": [one["price_basis"][0] | {"item": text, "unit": text, "source": text}],
        "recommendations": [
            one["recommendations"][0] | {"action": text, "summary": text, "risk": text, "command": command}
        ],
        "caveats": [text],
    }


def document(findings: list[Document], **other: Any) -> Document:
    """Return a scan document with these findings. `other` replaces fields of its scan, or `unknown` and `unlisted`."""
    # Slackwater sorts findings like this: severity, money, detector, id.
    findings.sort(
        key=lambda f: (SEVERITIES.index(f["severity"]), -Decimal(f["monthly_savings_usd"] or 0), f["detector"], f["id"])
    )
    outer = {key: other.pop(key, []) for key in ("unknown", "unlisted")}
    api_calls = {"cloudwatch:GetMetricData": 24, "ec2:DescribeVolumes": 3, "pricing:GetProducts": 39}
    head = {
        "id": "2851caa4-0b71-4b3c-aaf5-6c2ae495adf7",
        "started_at": "2026-11-22T04:20:00.624436Z",
        "finished_at": "2026-11-22T04:21:12.584634Z",
        "complete": True,
        "targets": [{"account": account, "region": region, "complete": True} for account, region in TARGETS],
        "detectors": sorted({f["detector"] for f in findings} | {"ebs-unattached", "efs-idle"}),
        "policy": {"version": "3sL4kqtJlcpXroDTDmJ+rmSpXd3dIbrHY", "sha256": hashlib.sha256(b"").hexdigest()},
        "gaps": [],
        "resources": {"ebs-volume": max(93, len(findings)), "ec2-instance": 50, "efs-file-system": 36},
        "usage": {"api_calls": api_calls, "metrics_requested": 736, "datapoints": 524338, "estimated_usd": "0.00736"},
    } | other
    by: defaultdict[str, defaultdict[str, list[Document]]] = defaultdict(lambda: defaultdict(list))
    for one in findings:
        filed = {
            "detector": one["detector"],
            "kind": one["kind"],
            "account": one["resource"]["account"],
            "owner": one["owner"],
        }
        for key, value in filed.items():
            by[key][value or ""].append(one)
    return {
        "schema": "slackwater.scan/1",
        "scan": head,
        "findings": findings,
        **outer,
        "totals": {
            **come_to(findings),
            "kept": sum(u["reason"] == "kept by a tag" for u in outer["unlisted"]),
            "below_minimum": sum("minimum" in u["reason"] for u in outer["unlisted"]),
            "unknown": len(outer["unknown"]),
            **{
                f"by_{key}": {name: come_to(some) for name, some in sorted(by[key].items())}
                for key in ("detector", "kind", "account", "owner")
            },
        },
    }


def come_to(findings: list[Document]) -> Document:
    """Return the totals of findings that each have their own resource."""
    savings = [None if (usd := f["monthly_savings_usd"]) is None else max(Decimal(usd), Decimal(0)) for f in findings]
    known = sum((usd for usd in savings if usd is not None), Decimal("0.00"))
    return {"findings": len(findings), "monthly_savings_usd": str(known), "unpriced": savings.count(None)}


def people() -> Document:
    """Return a typical report: few detectors, three accounts, access errors, inconclusive checks, hostile names."""
    shapes = list(pictures())
    findings = [
        finding(1, "ebs-instance-bound", "performance", "high", "166.58", evidence=shapes),
        finding(2, "efs-throughput-mismatch", "waste", "high", "1819.67", evidence=shapes[:2]),
        finding(3, "efs-credits-draining", "performance", "high", None, evidence=[shapes[1]]),
        finding(4, "fsx-sync-export", "risk", "high", "0.00", recommendations=[]),
        finding(5, "fsx-oversized", "waste", "high", "10363.36"),
        finding(6, "ec2-network-throttled", "risk", "medium", "0.00", caveats=[], recommendations=[]),
        finding(7, "ec2-cpu-credits-surcharged", "waste", "medium", "-3.10", price_basis=[]),
        finding(10, "ebs-idle", "waste", "low", "28.80", evidence=[shapes[2]], resource={"tags": None}),
        finding(8, "ebs-idle", "waste", "low", "9.99", evidence=[shapes[4], shapes[5]]),
        finding(9, "ebs-outdated-type", "waste", "info", "0.07", resource={"tags": {}}),
        finding(31, "ebs-outdated-type", "waste", "info", None),
        finding(32, "ebs-outdated-type", "waste", "medium", "9.99"),
        finding(33, "ebs-unattached", "risk", "low", "0.00"),
        *(finding(n, "ebs-unattached", "waste", SEVERITIES[n % 4], f"{n * 7 % 50}.{n:02}") for n in range(11, 31)),
        *(hostile(100 + n, text) for n, text in enumerate(HOSTILE.values())),
    ]
    nobody = finding(900, "efs-idle", "waste", "low", None)["resource"]
    ill = HOSTILE["element"]
    (account, region), *others = TARGETS
    return document(
        findings,
        complete=False,
        targets=[
            {"account": account, "region": region, "complete": False},
            *({"account": a, "region": r, "complete": True} for a, r in others),
        ],
        gaps=[
            {"account": account, "region": region, "what": "elasticfilesystem:DescribeFileSystems",
             "reason": "AccessDeniedException: User is not authorized", "optional": False},
            {"account": account, "region": region, "what": "compute-optimizer:GetEnrollmentStatus",
             "reason": "OptInRequiredException", "optional": True},
            {"account": "", "region": "", "what": ill, "reason": ill, "optional": False},
        ],
        unknown=[
            {"detector": "efs-idle", "resource": nobody, "reason": "no metric for 9 of 36 days"},
            {"detector": "efs-idle", "resource": nobody | {"name": ill, "id": ill}, "reason": ill},
        ],
        unlisted=[
            {"detector": "ebs-unattached", "resource": nobody, "reason": reason}
            for reason in ("kept by a tag", "kept by a tag", "saves less than the policy's minimum",
                           "to change it would cost more", "a stronger finding tells of it")
        ],
    )  # fmt: skip


def many(count: int) -> Document:
    """Return a large fleet, with as many charts and points as a real one."""
    detectors = ("ebs-unattached", "ebs-idle", "efs-idle", "fsx-oversized", "ec2-idle", "ebs-surplus-iops")
    periods = ((86400, 36), (86400, 36), (86400, 36), (86400, 36), (86400, 36), (3600, 336), (300, 4032))

    def evidence(number: int) -> list[Document]:
        period_s, points = periods[number % len(periods)]
        values = [(50 + 40 * math.sin(n / 11 + number)) * (1 + (n * 7919 + number) % 13 / 17) for n in range(points)]
        drawn = {
            "label": "Used by day",
            "value": round(max(values), 2),
            "unit": "MiB/s",
            "series": series(period_s, values),
            "scale": 200.0,
        }
        return [drawn, {"label": "Size", "value": 100 + number, "unit": "GiB"}]

    return document(
        [
            finding(
                n, detectors[n % 6], "waste", SEVERITIES[n % 4], f"{n * 37 % 2000}.{n % 100:02}", evidence=evidence(n)
            )
            for n in range(count)
        ]
    )


ACCOUNTS, DENIED, HALF = 60, 23, 2
"""The number of accounts in the organization, of those that deny access, and of those with one incomplete region."""


def organization() -> Document:
    """Return many accounts in organizational units after five audits. Some deny access, and the list is incomplete."""
    units = ("Root/Media/Production", "Root/Media/Staging", "Root/Research", "Root/Sandbox", "Root")
    ill = [*HOSTILE.values()]
    accounts = [
        {
            "id": f"{210_000_000_000 + n}",
            "name": ill[n].replace("\0", "") if n < len(ill) else f"team-{n}",
            "organizational_unit": units[n % len(units)] if n % 7 else f"{units[n % len(units)]}/{ill[n % len(ill)]}",
        }
        for n in range(ACCOUNTS)
    ]
    targets, gaps = [], []
    for n, account in enumerate(accounts):
        denied, half = n < DENIED, DENIED <= n < DENIED + HALF
        regions = [TARGETS[0][1]] if denied else [region for _, region in TARGETS]
        targets += [
            {"account": account["id"], "region": one, "complete": not denied and not (half and one == "us-east-1")}
            for one in regions
        ]
        role = f"arn:aws:iam::{account['id']}:role/slackwater"
        reason = f"AccessDenied: not authorized to perform: sts:AssumeRole on resource: {role}"
        if denied:
            gaps.append(
                {
                    "account": account["id"],
                    "region": regions[0],
                    "what": "sts:AssumeRole",
                    "reason": reason,
                    "optional": False,
                }
            )
        elif half:
            gaps.append(
                {
                    "account": account["id"],
                    "region": "us-east-1",
                    "what": "fsx:DescribeVolumes",
                    "reason": "Throttling",
                    "optional": False,
                }
            )
    findings = [
        finding(
            n,
            ("ebs-idle", "ebs-unattached", "ec2-network-throttled")[n % 3],
            ("waste", "waste", "performance")[n % 3],
            SEVERITIES[n % 3],
            f"{n * 37 % 900}.00" if n % 3 < 2 else None,
            owner=f"owner-{n % 31}" if n % 31 else None,
            resource={"account": accounts[DENIED + n % (ACCOUNTS - DENIED)]["id"]},
        )
        for n in range(120)
    ]
    trend = [
        {
            "audit_id": f"2026{month:02}01T040000Z-0000000{month}",
            "as_of": f"2026-{month:02}-01T04:00:00Z",
            "complete": month != 8,
            "findings": 90 + month,
            "monthly_savings_usd": f"{31_000 + 700 * (month % 4)}.50",
        }
        for month in (6, 7, 8, 9, 11)
    ]
    made = document(findings, complete=False, targets=targets, gaps=gaps, accounts=accounts, trend=trend)
    made["findings"] = made["findings"][:100]
    return made


DOCUMENTS = {
    "organization": organization,
    "heights": lambda: document(
        [finding(1, "ebs-instance-bound", "performance", "high", "1.00", evidence=list(heights()))]
    ),
    "two-hundred": lambda: many(200),
    "people": people,
    "nothing": lambda: document([]),
    "blind": lambda: document(
        [],
        complete=False,
        targets=[{"account": "111111111111", "region": "eu-west-1", "complete": False}],
        gaps=[
            {
                "account": "111111111111",
                "region": "eu-west-1",
                "what": "sts:AssumeRole",
                "reason": "AccessDenied",
                "optional": False,
            }
        ],
    ),
    "thousand": lambda: many(1000),
    "five-thousand": lambda: many(5000),
}


CHECKED = 100
"""How many findings are validated against the schema. Longer lists have similar findings."""


def main(folder: Path, names: list[str]) -> None:
    """Write the named reports."""
    for name in names:
        made = DOCUMENTS[name]()
        jsonschema.validate(made | {"findings": made["findings"][:CHECKED]}, scan_json.schema())
        (folder / f"{name}.json").write_text(json.dumps(made), "utf-8")
        (folder / f"{name}.html").write_text(render_report(made), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
