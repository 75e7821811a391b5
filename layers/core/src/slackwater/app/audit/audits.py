"""Requests about audits: start one, list them, read one."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from operator import itemgetter
from typing import Final, Literal

from slackwater.app.audit.limits import AuditLimits
from slackwater.app.audit.request import check_detectors, keyed_id, new_id
from slackwater.app.findings.findings import NotFoundError
from slackwater.app.policy.file import PolicyError
from slackwater.engine.registry import Registry
from slackwater.model import object_keys
from slackwater.model.audits import Allowance, AuditRecord, AuditRequest
from slackwater.model.listing import Page
from slackwater.model.policy import Policy, ScanSection
from slackwater.ports.clock import Clock
from slackwater.ports.executions import AuditStarter
from slackwater.ports.store import AuditStore, Documents
from slackwater.views.api import to_json as service_json
from slackwater.views.api.document import AuditDetailDocument, ReportDocument
from slackwater.views.scan.document import GapDocument, ScanDocument, TargetDocument
from slackwater.views.scan.to_json import rfc3339

LINK_S: Final = 3_600
REPORT_LINK_S: Final = 900
SHOWN: Final = 2_000
"""How many targets and gaps of one audit are returned, incomplete ones first. A response can have 6 MB at most."""
LOOKED_AT: Final = 200
"""How many recent audits to search for the newest with a report. A week of hourly audits has fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audits:
    """The use cases, with the adapters that they need. `policy` reads the newest policy."""

    audits: AuditStore
    limits: AuditLimits
    policy: Callable[[], Policy]
    documents: Documents
    starter: AuditStarter
    registry: Callable[[], Registry]
    clock: Clock

    def start(self, request: AuditRequest, key: str | None = None) -> str:
        """Start an audit, and return its id.

        Args:
            request: What to audit.
            key: Requests by one requester with the same key start one audit only.

        Raises:
            AuditRequestError: A detector does not exist.
            TooManyAuditsError: The maximum number of audits is running.
            SpentError: The day's budget for metrics is spent.
        """
        if request.detectors:
            check_detectors(request, self.registry())
        audit_id = keyed_id(request.requested_by, key) if key else new_id(self.clock())
        self.limits.admit(audit_id, request, self._scan_section())
        # If this fails, the audit may have started all the same, so it keeps its place. A place without an execution
        # expires.
        self.starter.start(audit_id, request)
        return audit_id

    def allowance(self) -> Allowance | None:
        """Return how many audits run and may run, and the money spent and left today; None if the policy is invalid."""
        try:
            scan = self.policy().scan
        except PolicyError:
            return None
        return self.limits.allowance(scan)

    def _scan_section(self) -> ScanSection:
        """Return the policy's scan section, or the defaults if the policy is invalid. The audit's record then has the
        error.
        """
        try:
            return self.policy().scan
        except PolicyError:
            return ScanSection()

    def listed(self, limit: int, cursor: str | None = None) -> Page[AuditRecord]:
        """Return audits, the newest first.

        Raises:
            BadCursorError: The cursor is not from this list.
        """
        return self.audits.list(limit, cursor)

    def shown(self, id: str) -> AuditDetailDocument:
        """Return one audit, with its targets, its gaps, and a link to its scan document if there is one.

        Raises:
            NotFoundError: There is no such audit.
        """
        record = self.audits.get(id)
        if record is None:
            raise NotFoundError(f"no audit {id!r}")
        stored = self.documents.read(object_keys.head(id))
        scan: ScanDocument | None = json.loads(stored[0]) if stored else None
        return {
            **service_json.audit(record),
            "targets": _some(scan["scan"]["targets"], "complete") if scan else [],
            "gaps": _some(scan["scan"]["gaps"], "optional") if scan else [],
            "organization": scan["scan"].get("accounts", []) if scan else [],
            "by_account": scan["totals"].get("by_account", {}) if scan else {},
            "scan_url": self.documents.link(object_keys.scan(id), LINK_S) if scan else None,
            "scan_url_expires_at": rfc3339(self.clock() + timedelta(seconds=LINK_S)) if scan else None,
        }

    def latest_report(self) -> ReportDocument:
        """Return a link to the report of the newest audit that has ended, valid for 15 minutes.

        A full audit comes before a partial one, such as an hourly audit with a few detectors. A failed audit without a
        report is skipped.

        Raises:
            NotFoundError: No audit has left a report, or the first that did not fail has none.
        """
        ended = [record for record in self.audits.list(LOOKED_AT, None).items if record.state != "running"]
        for record in sorted(ended, key=_is_partial):
            key = object_keys.report(record.id)
            if self.documents.has(key):
                until = self.clock() + timedelta(seconds=REPORT_LINK_S)
                link = self.documents.link(key, REPORT_LINK_S)
                return ReportDocument(audit_id=record.id, url=link, expires_at=rfc3339(until))
            if record.state != "failed":
                raise NotFoundError(
                    f"audit {record.id} left no report: the log of PublishFunction says why, or it is of an older "
                    "version"
                )
        raise NotFoundError("no audit has left a report yet")


def _some[T: TargetDocument | GapDocument](all_: list[T], harmless: Literal["complete", "optional"]) -> list[T]:
    """Return at most SHOWN entries. If there are more, return first those that are not harmless."""
    return all_ if len(all_) <= SHOWN else sorted(all_, key=itemgetter(harmless))[:SHOWN]


def _is_partial(record: AuditRecord) -> bool:
    request = record.request
    return bool(request.detectors or request.regions or request.accounts or request.retry_of)
