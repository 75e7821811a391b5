"""Where things are in the bucket."""

from __future__ import annotations

from typing import Final

POLICY: Final = "policy/slackwater.toml"
AUDITS: Final = "audits/"
CLEANUPS: Final = "cleanups/"
TRANSIENT: Final = "transient/"
"""What is of no use once an audit has ended: it expires in days."""


def plan(audit_id: str) -> str:
    """What the scans of an audit have in common."""
    return f"{AUDITS}{audit_id}/plan.json"


def targets(audit_id: str) -> str:
    """The targets of an audit that are to be scanned: a list, for the Distributed Map to read."""
    return f"{AUDITS}{audit_id}/targets.json"


def target_scan(audit_id: str, account: str, region: str, part: int = 1) -> str:
    """The scan document of one target of an audit, or of a part of a target that is large."""
    return f"{AUDITS}{audit_id}/targets/{account}/{region}{f'.{part}' if part > 1 else ''}.json"


def snapshot(audit_id: str, account: str, region: str) -> str:
    """What a large target holds, listed once for all of its parts: SQLite."""
    return f"{TRANSIENT}{audit_id}/{account}/{region}.sqlite"


def target_error(audit_id: str, account: str, region: str) -> str:
    """Why the scan of a target ended without a document."""
    return f"{AUDITS}{audit_id}/targets/{account}/{region}.error.json"


def head(audit_id: str) -> str:
    """The scan document of a whole audit without its findings, its unknown and its unlisted."""
    return f"{AUDITS}{audit_id}/head.json"


def scan(audit_id: str) -> str:
    """The scan document of a whole audit."""
    return f"{AUDITS}{audit_id}/scan.json"


def known(audit_id: str) -> str:
    """The findings that were known of an audit's targets before it changed any."""
    return f"{AUDITS}{audit_id}/known.json"


def news(audit_id: str) -> str:
    """What an audit changed in what is known: entries of ledgers, once it has ended."""
    return f"{AUDITS}{audit_id}/news.json"


def told(audit_id: str) -> str:
    """Of the findings of a whole audit those of which there is something new to tell."""
    return f"{AUDITS}{audit_id}/told.json"


def report(audit_id: str) -> str:
    """The report of a whole audit, to look at."""
    return f"{AUDITS}{audit_id}/report.html"


def cleanup_list(finding_id: str, name: str, digest: str) -> str:
    """A list of a clean-up that its record has no room for, by the hash of its text. It does not expire."""
    return f"{CLEANUPS}{finding_id}/{name}-{digest}.json"
