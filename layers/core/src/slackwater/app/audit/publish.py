"""Ends an audit: merges its scan documents, updates the stored findings, and records the result.

Everything can run again after a crash at any step, with the same result. The documents are read one after the other
into a temporary file, because those of an organization may not fit into memory.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, groupby, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pydantic import TypeAdapter

from slackwater.app.audit.document_file import ScanFile
from slackwater.app.audit.plan import plan_of
from slackwater.app.audit.step_error import StepError, error_text
from slackwater.app.audit.target_documents import seen_targets
from slackwater.app.audit.trend import ended_before, trend_of
from slackwater.app.cleanup.observe import observe
from slackwater.app.telemetry import LOGGER, emit
from slackwater.engine.merge import merge_one, pairs
from slackwater.model import object_keys
from slackwater.model.audits import (
    TARGETS_NAMED,
    AuditOutcome,
    AuditPlan,
    AuditRecord,
    AuditRequest,
    IncompleteTarget,
)
from slackwater.model.findings import Gap, Scan, TargetScan, Usage
from slackwater.model.resources import Target
from slackwater.model.tracking import SERVICE, FindingRecord, Happening, LedgerEntry, TargetReport, TrackedFinding
from slackwater.ports.clock import Clock
from slackwater.ports.store import AuditStore, CleanupStore, Documents, FindingStore
from slackwater.views.api.to_json import joined, report
from slackwater.views.scan import to_json as scan_json
from slackwater.views.scan.document import AccountDocument, FindingDocument, ScanDocument
from slackwater.views.slack.news import FindingChange
from slackwater.views.text.words import is_held_back

CHANGE: Final = TypeAdapter(FindingChange)

AT_ONCE: Final = 16
"""Concurrent requests to the store: as many as a client has connections."""

TRIES: Final = 5
"""How often to retry a finding that other writers change. After that, the whole publication is retried."""

MOST_WITH_EVIDENCE: Final = 1_000
"""How many changed findings are stored with their evidence: many times what a digest shows."""


class NoAuditError(Exception):
    """The audit is not on record."""


class ContendedError(Exception):
    """Others kept changing a finding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """Ends audits, with the adapters that this needs. `render` returns the HTML report of a scan file."""

    documents: Documents
    audits: AuditStore
    findings: FindingStore
    cleanups: CleanupStore
    render: Callable[[ScanFile], str]
    clock: Clock

    def publish(self, audit_id: str) -> AuditRecord:
        """Merge the scans of an audit, and return its record. An audit that has ended does not change.

        Raises:
            NoPlanError, NoAuditError: There is no such audit.
            ContendedError: A finding could not be merged.
        """
        record = self._record(audit_id)
        if record.state != "running":
            self._report_if_missing(record)
            return record
        plan = plan_of(self.documents, audit_id)
        with ScanFile() as scan_file:
            reports = self._collect(plan, record, scan_file)
            head = scan_file.head()
            with TemporaryDirectory(prefix="slackwater-") as folder:
                file = Path(folder) / "document.json"
                scan_file.write(file)
                self.documents.write_file(object_keys.scan(audit_id), file)
                self.documents.write(object_keys.head(audit_id), scan_json.dump(head))
                entries = self._merge(plan, reports)
                with file.open("w", encoding="utf-8") as out:
                    out.writelines(changes_json(entries, scan_file.findings()))
                self.documents.write_file(object_keys.changes(audit_id), file)
            # Store the result before making the report, which could need more memory or time than there is.
            ended = self._end(self._with_outcome(record, head, len(reports), entries))
            self._observe(plan, reports)
            self._report(audit_id, scan_file)
        return ended

    def _collect(self, plan: AuditPlan, record: AuditRecord, scan_file: ScanFile) -> list[TargetReport]:
        """Read the scans' documents into the scan file, and return a report for each target that was read."""
        trend = trend_of(self.audits, record)
        organization = [
            AccountDocument(id=a.id, name=a.name, organizational_unit=a.organizational_unit) for a in plan.accounts
        ]
        reports = []
        for target in seen_targets(self.documents, plan):
            parts, whole = list[TargetReport](), True
            for one in target:
                part = _unseen(plan, one) if isinstance(one, Gap) else one
                if organization:
                    part["scan"]["accounts"] = organization
                if trend:
                    part["scan"]["trend"] = trend
                scan_file.add(part)
                if isinstance(one, Gap):
                    whole = False
                else:
                    parts.append(report(part))
            if parts:
                reports.append(joined(parts, whole=whole))
        return reports

    def _with_outcome(
        self, record: AuditRecord, head: ScanDocument, seen: int, entries: Sequence[LedgerEntry]
    ) -> AuditRecord:
        if not seen:
            gap = head["scan"]["gaps"][0]
            return replace(record, state="failed", error=f"No target could be scanned: {gap['what']}: {gap['reason']}")
        if all("closed" in target for target in head["scan"]["targets"]):
            return replace(
                record, state="failed", error=f"No target could be scanned: {head['scan']['gaps'][0]['reason']}"
            )
        outcome = _outcome(head, Counter(entry.happening for entry in entries))
        if not outcome.incomplete_targets:
            return replace(record, state="complete", outcome=outcome)
        outcome = replace(outcome, incomplete_in_a_row=1 + self._incomplete_before(record))
        return replace(record, state="incomplete", outcome=outcome)

    def fail(self, audit_id: str, request: AuditRequest, error: StepError) -> AuditRecord:
        """Record that an audit failed, even one that was never begun. An audit that has ended does not change.

        The changes that it merged before it failed are stored.
        """
        now = self.clock()
        failed = AuditRecord(
            id=audit_id,
            state="failed",
            started_at=now,
            finished_at=now,
            request=request,
            policy=None,
            outcome=None,
            error=error_text(error),
        )
        if self.audits.begin(failed):
            return failed
        record = self._record(audit_id)
        if record.state != "running":
            return record
        self._changes_if_missing(audit_id)
        return self._end(replace(record, state="failed", error=failed.error))

    def _record(self, audit_id: str) -> AuditRecord:
        record = self.audits.get(audit_id)
        if record is None:
            raise NoAuditError(f"audit {audit_id} is not on record")
        return record

    def _end(self, record: AuditRecord) -> AuditRecord:
        ended = replace(record, finished_at=self.clock())
        return ended if self.audits.end(ended) else self._record(record.id)

    def _changes_if_missing(self, audit_id: str) -> None:
        """Store what an audit changed before it failed, as in the ledgers. An error here is only logged, because the
        failure must be recorded.
        """
        try:
            if stored := self.documents.read(object_keys.known(audit_id)):
                changes = changes_json(self._in_ledgers(audit_id, json.loads(stored[0])))
                self.documents.write_once(object_keys.changes(audit_id), "".join(changes))
        except Exception:  # noqa: BLE001 -- whatever the error, the audit's end must be recorded
            LOGGER.exception("no changes", audit_id=audit_id)

    def _report_if_missing(self, record: AuditRecord) -> None:
        """Create the report of an audit that has ended, if the first attempt was killed before it was stored."""
        if not self.documents.has(object_keys.report(record.id)) and self.documents.has(object_keys.head(record.id)):
            with ScanFile() as scan_file:
                self._collect(plan_of(self.documents, record.id), record, scan_file)
                self._report(record.id, scan_file)

    def _report(self, audit_id: str, scan_file: ScanFile) -> None:
        """Store the report. If it cannot be created, the audit is still valid, and the log has the reason."""
        try:
            text = self.render(scan_file)
        except Exception:  # noqa: BLE001 -- whatever the error, the findings are more important than the report
            LOGGER.exception("no report", audit_id=audit_id)
            emit({"ReportsFailed": 1})
            return
        self.documents.write(object_keys.report(audit_id), text)

    def _observe(self, plan: AuditPlan, reports: Sequence[TargetReport]) -> None:
        """Record what the audit saw of each finished clean-up. If that fails, the next audit does it."""
        try:
            observe(self.cleanups, reports, plan.audit_id, plan.now)
        except Exception:  # noqa: BLE001 -- whatever the error, the audit itself has succeeded
            LOGGER.exception("savings not observed", audit_id=plan.audit_id)

    def _merge(self, plan: AuditPlan, reports: Sequence[TargetReport]) -> list[LedgerEntry]:
        """Merge the reports into the stored findings, and return the ledger entries that this audit has written."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            known_of = pool.map(lambda one: list(self.findings.unresolved(one.account, one.region)), reports)
            tasks = [
                (known, record, one)
                for one, unresolved in zip(reports, known_of, strict=True)
                for known, record in pairs(unresolved, one)
            ]
        ids = {one.id for known, record, _ in tasks for one in (known, record) if one}
        before = self._known_before(plan.audit_id, ids)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            entries = list(pool.map(lambda task: self._merge_one(plan, *task), tasks))
        if before is not None:  # an earlier attempt has merged some findings: only the ledgers have all entries
            return self._in_ledgers(plan.audit_id, ids | before)
        return _sorted(entries)

    def _in_ledgers(self, audit_id: str, ids: Collection[str]) -> list[LedgerEntry]:
        """Return the ledger entries that an audit has written about these findings."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return _sorted(pool.map(lambda id_: self._all_entries(audit_id, id_), ids))

    def _known_before(self, audit_id: str, ids: Collection[str]) -> set[str] | None:
        """Return the ids of all findings of the first attempt. On the first attempt, store the ids, and return None."""
        key = object_keys.known(audit_id)
        if stored := self.documents.read(key):
            return set(json.loads(stored[0]))
        self.documents.write(key, json.dumps(sorted(ids)))
        return None

    def _merge_one(
        self, plan: AuditPlan, known: TrackedFinding | None, record: FindingRecord | None, report: TargetReport
    ) -> Sequence[LedgerEntry]:
        """Merge one finding, and return the ledger entries that this audit has written about it."""
        write = merge_one(known, record, report, plan.audit_id, plan.now)
        if write is None:
            return ()
        if self.findings.write(write):
            return (write.entry,) if write.entry else ()
        # Another writer was faster: another audit, a person, or this audit itself if a response was lost.
        id_ = write.finding.id
        for _ in range(TRIES):
            write = merge_one(self.findings.get(id_), record, report, plan.audit_id, plan.now)
            if write is None or self.findings.write(write):
                return self._all_entries(plan.audit_id, id_)
        raise ContendedError(f"finding {id_} changed whenever it was to be merged")

    def _all_entries(self, audit_id: str, id_: str) -> list[LedgerEntry]:
        ledger = self.findings.ledger(id_)
        return [entry for entry in ledger if (entry.audit_id, entry.who) == (audit_id, SERVICE)]

    def _incomplete_before(self, record: AuditRecord) -> int:
        """Count the audits of this schedule that ended incomplete or failed since the last complete one."""
        of_schedule = (
            one for one in ended_before(self.audits, record) if _schedule(one.request) == _schedule(record.request)
        )
        return sum(1 for _ in takewhile(lambda one: one.state != "complete", of_schedule))


def changes_json(entries: Iterable[LedgerEntry], findings: Iterable[FindingDocument] = ()) -> Iterator[str]:
    """Yield the changes as JSON, each with its finding of the scan. Only the most severe have their evidence."""
    left = {change.entry.evidence.id: change for change in changes_of(entries)}
    found = enumerate(finding for finding in findings if finding["id"] in left)
    with_findings = (
        replace(left.pop(one["id"]), found=one if n < MOST_WITH_EVIDENCE else {**one, "evidence": []})
        for n, one in found
    )
    yield "["
    for n, change in enumerate(chain(with_findings, left.values())):
        yield f"{',' if n else ''}\n{CHANGE.dump_json(change).decode()}"
    yield "\n]\n"


def changes_of(entries: Iterable[LedgerEntry]) -> Iterator[FindingChange]:
    """Yield one change for each finding. Leaves out findings that people have snoozed or dismissed.

    The entries of a finding must follow each other, the oldest first.
    """
    for _, of_finding in groupby(entries, lambda entry: entry.evidence.id):
        history = list(of_finding)
        last, events = history[-1], {entry.happening for entry in history}
        if last.now == "open" and events & {"opened", "reopened"}:
            yield FindingChange(kind="new", entry=last)
        elif last.now == "open" and "changed" in events:
            yield FindingChange(kind="changed", entry=last)
        elif last.now == "resolved" and last.was != "dismissed":
            yield FindingChange(kind="gone", entry=last)


def _sorted(entries: Iterable[Iterable[LedgerEntry]]) -> list[LedgerEntry]:
    return sorted(chain.from_iterable(entries), key=lambda entry: (entry.evidence.id, entry.revision))


def _unseen(plan: AuditPlan, gap: Gap) -> ScanDocument:
    """Return the document of a target that was not scanned, with the reason."""
    target = TargetScan(target=Target(gap.account, gap.region), findings=(), unknown=(), gaps=(gap,), resources={})
    return scan_json.document(
        Scan(
            id=plan.audit_id,
            as_of=plan.now,
            started_at=plan.now,
            finished_at=plan.now,
            targets=(target,),
            gaps=(),
            usage=Usage(api_calls={}, metrics_requested=0, datapoints=0, estimated_usd=Decimal(0)),
            detectors=plan.detectors,
            policy=plan.policy,
        )
    )


def _outcome(document: ScanDocument, happened: Mapping[Happening, int]) -> AuditOutcome:
    head, totals = document["scan"], document["totals"]
    incomplete = [target for target in head["targets"] if not target["complete"]]
    whys = dict[tuple[str, str], str]()
    for gap in sorted(head["gaps"], key=lambda gap: is_held_back(gap["reason"])):  # prefer calls that failed
        if not gap["optional"]:
            whys.setdefault((gap["account"], gap["region"]), f"{gap['what']}: {gap['reason']}")
    return AuditOutcome(
        targets=len(head["targets"]),
        incomplete_targets=len(incomplete),
        incomplete=tuple(
            IncompleteTarget(account=one["account"], region=one["region"], why=whys[one["account"], one["region"]])
            for one in incomplete[:TARGETS_NAMED]
        ),
        gaps=len(head["gaps"]),
        findings=totals["findings"],
        monthly_savings_usd=Decimal(totals["monthly_savings_usd"]),
        unpriced=totals["unpriced"],
        opened=happened.get("opened", 0) + happened.get("reopened", 0),
        changed=happened.get("changed", 0),
        resolved=happened.get("resolved", 0),
        api_calls=sum(head["usage"]["api_calls"].values()),
        metrics_requested=head["usage"]["metrics_requested"],
        estimated_usd=Decimal(head["usage"]["estimated_usd"]),
        incomplete_in_a_row=0,
    )


def _schedule(request: AuditRequest) -> str | None:
    return request.occasion.partition("/")[0] if request.occasion else None
