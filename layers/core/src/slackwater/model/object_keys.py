"""Keys of the objects in the bucket."""

from typing import Final

POLICY: Final = "policy/slackwater.toml"
AUDITS: Final = "audits/"
CLEANUPS: Final = "cleanups/"
TRANSIENT: Final = "transient/"
"""Objects that are useless once an audit has ended. They expire after some days."""


def plan(audit_id: str) -> str:
    """Return the key of the plan: what all scans of an audit have in common."""
    return f"{AUDITS}{audit_id}/plan.json"


def targets(audit_id: str) -> str:
    """Return the key of the list of an audit's targets. The Distributed Map of older versions' executions reads it."""
    return f"{AUDITS}{audit_id}/targets.json"


def batches(audit_id: str) -> str:
    """Return the key of the audit's targets in batches. The Distributed Map calls a function for each batch."""
    return f"{AUDITS}{audit_id}/batches.json"


def target_scan(audit_id: str, account: str, region: str, part: int = 1) -> str:
    """Return the key of the scan document of one target, or of one chunk of a large target."""
    return f"{AUDITS}{audit_id}/targets/{account}/{region}{f'.{part}' if part > 1 else ''}.json"


def snapshot(audit_id: str, account: str, region: str) -> str:
    """Return the key of the inventory snapshot (SQLite) of a large target, which all of its chunks share."""
    return f"{TRANSIENT}{audit_id}/{account}/{region}.sqlite"


def target_error(audit_id: str, account: str, region: str) -> str:
    """Return the key of the reason why the scan of a target ended without a document."""
    return f"{AUDITS}{audit_id}/targets/{account}/{region}.error.json"


def head(audit_id: str) -> str:
    """Return the key of an audit's scan document without findings, inconclusive checks and suppressed findings."""
    return f"{AUDITS}{audit_id}/head.json"


def scan(audit_id: str) -> str:
    """Return the key of the scan document of an audit."""
    return f"{AUDITS}{audit_id}/scan.json"


def known(audit_id: str) -> str:
    """Return the key of the ids of all findings, stored and new, that an audit merges. Written before any changes."""
    return f"{AUDITS}{audit_id}/known.json"


def changes(audit_id: str) -> str:
    """Return the key of the findings that an audit found new, changed or resolved. A failed audit may have none."""
    return f"{AUDITS}{audit_id}/changes.json"


def previous_changes(audit_id: str) -> tuple[str, str]:
    """Return the keys of what older versions stored instead: ledger entries, and the findings that they are about."""
    return f"{AUDITS}{audit_id}/news.json", f"{AUDITS}{audit_id}/told.json"


def report(audit_id: str) -> str:
    """Return the key of the HTML report of an audit."""
    return f"{AUDITS}{audit_id}/report.html"


def cleanup_list(finding_id: str, name: str, digest: str) -> str:
    """Return the key of a clean-up's list that does not fit into its record. The object does not expire.

    `digest` is the hash of the list's text.
    """
    return f"{CLEANUPS}{finding_id}/{name}-{digest}.json"
