"""Where things are in the bucket."""

from __future__ import annotations

from typing import Final

POLICY: Final = "policy/slackwater.toml"
AUDITS: Final = "audits/"


def plan(audit_id: str) -> str:
    """What the scans of an audit have in common."""
    return f"{AUDITS}{audit_id}/plan.json"


def target_scan(audit_id: str, account: str, region: str) -> str:
    """The scan document of one target of an audit."""
    return f"{AUDITS}{audit_id}/targets/{account}/{region}.json"


def scan(audit_id: str) -> str:
    """The scan document of a whole audit."""
    return f"{AUDITS}{audit_id}/scan.json"


def known(audit_id: str) -> str:
    """The findings that were known of an audit's targets before it changed any."""
    return f"{AUDITS}{audit_id}/known.json"


def news(audit_id: str) -> str:
    """What an audit changed in what is known: entries of ledgers, once it has ended."""
    return f"{AUDITS}{audit_id}/news.json"


def report(audit_id: str) -> str:
    """The report of a whole audit, to look at."""
    return f"{AUDITS}{audit_id}/report.html"
