"""Keys of the objects in the bucket."""

from typing import Final

POLICY: Final = "policy/slackwater.toml"
AUDITS: Final = "audits/"
CLEANUPS: Final = "cleanups/"
TRANSIENT: Final = "transient/"
"""Objects that are useless once an audit has ended. They expire after some days."""


def plan(audit_id: str) -> str:
    """What all scans of an audit have in common."""
    return f"{AUDITS}{audit_id}/plan.json"


def targets(audit_id: str) -> str:
    """The list of an audit's targets. The Distributed Map of executions that an older version started reads it."""
    return f"{AUDITS}{audit_id}/targets.json"


def batches(audit_id: str) -> str:
    """The audit's targets in batches, which the Distributed Map reads: one function call scans the targets of
    a batch.
    """
    return f"{AUDITS}{audit_id}/batches.json"


def target_scan(audit_id: str, account: str, region: str, part: int = 1) -> str:
    """The scan document of one target, or of one chunk of a large target."""
    return f"{AUDITS}{audit_id}/targets/{account}/{region}{f'.{part}' if part > 1 else ''}.json"


def snapshot(audit_id: str, account: str, region: str) -> str:
    """The inventory snapshot of a large target, listed once for all of its chunks (SQLite)."""
    return f"{TRANSIENT}{audit_id}/{account}/{region}.sqlite"


def target_error(audit_id: str, account: str, region: str) -> str:
    """Why the scan of a target ended without a document."""
    return f"{AUDITS}{audit_id}/targets/{account}/{region}.error.json"


def head(audit_id: str) -> str:
    """The scan document of an audit without its findings, unknown verdicts and suppressed findings."""
    return f"{AUDITS}{audit_id}/head.json"


def scan(audit_id: str) -> str:
    """The scan document of an audit."""
    return f"{AUDITS}{audit_id}/scan.json"


def known(audit_id: str) -> str:
    """The stored findings of an audit's targets, as they were before the audit changed any."""
    return f"{AUDITS}{audit_id}/known.json"


def news(audit_id: str) -> str:
    """The ledger entries that an audit wrote, once it has ended."""
    return f"{AUDITS}{audit_id}/news.json"


def changed_findings(audit_id: str) -> str:
    """The findings of a complete audit that are new or have changed."""
    return f"{AUDITS}{audit_id}/told.json"


def report(audit_id: str) -> str:
    """The HTML report of an audit."""
    return f"{AUDITS}{audit_id}/report.html"


def cleanup_list(finding_id: str, name: str, digest: str) -> str:
    """A list of a clean-up that does not fit into its record, by the hash of its text. It does not expire."""
    return f"{CLEANUPS}{finding_id}/{name}-{digest}.json"
