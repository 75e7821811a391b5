"""A scan as CSV: one row a finding, for spreadsheets."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from typing import Final
from unicodedata import normalize

from slackwater.model.findings import Scan
from slackwater.views.scan.document import AccountDocument, FindingDocument
from slackwater.views.scan.to_json import document
from slackwater.views.text.one_line import one_line

COLUMNS: Final = (
    "severity",
    "kind",
    "detector",
    "confidence",
    "account",
    "region",
    "type",
    "resource",
    "name",
    "owner",
    "arn",
    "monthly_savings_usd",
    "summary",
    "recommendation",
    "command",
    "id",
    "fingerprint",
)
OF_AN_ORGANIZATION: Final = ("account_name", "organizational_unit")
"""Last columns, present only if the accounts of an organization are known."""

MONEY: Final = "monthly_savings_usd"

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Characters that begin a formula, or that a spreadsheet skips before one."""


def render(scan: Scan) -> str:
    """Render the findings, ranked. An unknown saving is an empty cell. Failed calls have no row: the JSON has them."""
    doc = document(scan)
    return "".join(lines(doc["findings"], doc["scan"].get("accounts", ())))


def lines(findings: Iterable[FindingDocument], accounts: Iterable[AccountDocument] = ()) -> Iterator[str]:
    """Yield the line of column names, then a line for each finding, as the findings arrive.

    `accounts` are the accounts in the head of the scan document.
    """
    known = {account["id"]: account for account in accounts}
    text = StringIO()
    rows = csv.DictWriter(text, COLUMNS + OF_AN_ORGANIZATION if known else COLUMNS, lineterminator="\n")
    rows.writeheader()
    for finding in findings:
        yield text.getvalue()
        text.seek(text.truncate(0))
        cells = _cells(finding) | (_account(finding, known) if known else {})
        # Slackwater writes this number itself. Its minus sign begins no formula, and people sum the column.
        rows.writerow({key: cell if key == MONEY else safe(one_line(cell)) for key, cell in cells.items()})
    yield text.getvalue()


def safe(cell: str) -> str:
    """Return the cell, with an apostrophe before it if a spreadsheet could take it for a formula.

    Some spreadsheets read full-width and small signs (`＝`, `﹢`) as the plain ones, so the first character counts as
    what Unicode says that it is compatible with.
    """
    return f"'{cell}" if normalize("NFKC", cell[:1]).startswith(FORMULA) else cell


def _account(finding: FindingDocument, known: Mapping[str, AccountDocument]) -> dict[str, str]:
    account = known.get(finding["resource"]["account"])
    named = (account["name"], account["organizational_unit"]) if account else ("", "")
    return dict(zip(OF_AN_ORGANIZATION, named, strict=True))


def _cells(finding: FindingDocument) -> dict[str, str]:
    resource = finding["resource"]
    first = finding["recommendations"][0] if finding["recommendations"] else None
    return {
        "severity": finding["severity"],
        "kind": finding["kind"],
        "detector": finding["detector"],
        "confidence": finding["confidence"],
        "account": resource["account"],
        "region": resource["region"],
        "type": resource["type"],
        "resource": resource["id"],
        "name": resource["name"],
        "owner": finding["owner"] or "",
        "arn": resource["arn"],
        "monthly_savings_usd": finding["monthly_savings_usd"] or "",
        "summary": finding["summary"],
        "recommendation": first["summary"] if first else "",
        "command": first.get("command", "") if first else "",
        "id": finding["id"],
        "fingerprint": finding["fingerprint"],
    }
