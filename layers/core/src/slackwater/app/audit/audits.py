"""What people ask of audits: start one, list them, look at one."""

from __future__ import annotations

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
from slackwater.ports.errors import AwsError
from slackwater.ports.executions import AuditStarter
from slackwater.ports.store import AuditStore, Documents
from slackwater.views.api import to_json as service_json
from slackwater.views.api.document import AuditDetailDocument, ReportDocument
from slackwater.views.scan.document import GapDocument, ScanDocument, TargetDocument
from slackwater.views.scan.to_json import rfc3339

LINK_S: Final = 3_600
REPORT_LINK_S: Final = 900
SHOWN: Final = 2_000
"""Targets and gaps of one audit that are shown, first those that were not seen whole: an answer may have 6 MB."""
LOOKED_AT: Final = 200
"""Audits among which the newest that left a report is looked for: more than the hourly ones of a week."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audits:
    """Everything that it takes. `policy` reads the newest one."""

    audits: AuditStore
    limits: AuditLimits
    policy: Callable[[], Policy]
    documents: Documents
    starter: AuditStarter
    registry: Callable[[], Registry]
    clock: Clock

    def start(self, request: AuditRequest, key: str | None = None) -> str:
        """Start an audit; its id. What one requester calls by the same `key` is one audit, however often it is started.

        Raises:
            AuditRequestError: a detector that nobody knows.
            TooManyAuditsError: as many audits run as may.
            SpentError: what the metrics of a day may cost is spent.
        """
        if request.detectors:
            check_detectors(request, self.registry())
        audit_id = keyed_id(request.requested_by, key) if key else new_id(self.clock())
        self.limits.admit(audit_id, self._scan_section())
        try:
            self.starter.start(audit_id, request)
        except AwsError:
            self.limits.leave(audit_id)  # should it have started all the same, its first state takes a place again
            raise
        return audit_id

    def allowance(self) -> Allowance | None:
        """What audits may still do; None where the policy cannot be used."""
        try:
            scan = self.policy().scan
        except PolicyError:
            return None
        return self.limits.allowance(scan)

    def _scan_section(self) -> ScanSection:
        """The policy's, or the defaults where the policy cannot be used: the audit's own record then says why it failed."""
        try:
            return self.policy().scan
        except PolicyError:
            return ScanSection()

    def listed(self, limit: int, cursor: str | None = None) -> Page[AuditRecord]:
        """Audits, the newest first.

        Raises:
            BadCursorError: the cursor is not one of this list's.
        """
        return self.audits.list(limit, cursor)

    def shown(self, id: str) -> AuditDetailDocument:
        """One audit: what it covered and what it could not see, and a link to its scan document, once there is one.

        Raises:
            NotFoundError: there is no such audit.
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
        """Where to read the report of the newest audit that has ended, for 15 minutes. One that failed may have left none.

        One that was asked for everything goes before one that was not, such as an hourly one of a few detectors.

        Raises:
            NotFoundError: none has ended, or it left no report.
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
                    f"audit {record.id} left no report: the log of PublishFunction says why, or it is of an older version"
                )
        raise NotFoundError("no audit has left a report yet")


def _some[T: TargetDocument | GapDocument](all_: list[T], harmless: Literal["complete", "optional"]) -> list[T]:
    """As many as may be shown: of too many first those that are not harmless."""
    return all_ if len(all_) <= SHOWN else sorted(all_, key=itemgetter(harmless))[:SHOWN]


def _is_partial(record: AuditRecord) -> bool:
    request = record.request
    return bool(request.detectors or request.regions or request.accounts or request.retry_of)
