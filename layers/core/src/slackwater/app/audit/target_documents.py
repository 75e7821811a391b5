"""Reads the scan documents of an audit's targets. Each has one, and a large target has one for each chunk."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import batched, count
from typing import Final, Protocol

from pydantic import TypeAdapter, ValidationError

from slackwater.app.audit.step_error import StepError, error_text
from slackwater.model import object_keys
from slackwater.model.audits import AuditPlan
from slackwater.model.findings import Gap
from slackwater.model.resources import Target
from slackwater.ports.errors import reason_of
from slackwater.ports.store import Documents
from slackwater.views.scan.document import FindingDocument, ScanDocument

DOCUMENT: Final = TypeAdapter(ScanDocument)

AT_ONCE: Final = 8
"""How many targets are read ahead. A chunk of a large one has 50 MB."""

ERROR: Final = TypeAdapter(StepError)


class Texts(Protocol):
    """A source of texts."""

    def read(self, key: str) -> tuple[str, str] | None:
        """Return the text and its version; None if there is none."""
        ...


def seen_targets(documents: Documents, plan: AuditPlan) -> Iterator[Iterator[ScanDocument | Gap]]:
    """Yield an iterator of documents for each target of the plan, in order. If one is missing, the iterator ends with a
    gap.

    The first document of a few targets is read ahead. Nothing else is kept in memory.

    Raises:
        AwsError: The bucket did not answer.
    """
    known = {(gap.account, gap.region): gap for gap in plan.gaps}

    def begun(target: Target) -> Iterator[ScanDocument | Gap]:
        if gap := known.get((target.account, target.region)):
            return iter((gap,))
        return _seen(
            _ReadAhead(documents, object_keys.target_scan(plan.audit_id, target.account, target.region)), plan, target
        )

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for some in batched(plan.targets, AT_ONCE):
            yield from pool.map(begun, some)


class _ReadAhead:
    """A source of texts that has already read one of them."""

    def __init__(self, documents: Documents, key: str) -> None:
        self._documents = documents
        self._read: dict[str, tuple[str, str] | UnicodeDecodeError | None] = {}
        try:
            self._read[key] = documents.read(key)
        except UnicodeDecodeError as broken:
            self._read[key] = broken

    def read(self, key: str) -> tuple[str, str] | None:
        text = self._read.pop(key) if key in self._read else self._documents.read(key)
        if isinstance(text, UnicodeDecodeError):
            raise text
        return text


def parts_of(
    documents: Texts, audit_id: str, account: str, region: str, parse: Callable[[str], ScanDocument] = json.loads
) -> Iterator[ScanDocument | None]:
    """Yield the documents of a target, chunk by chunk. If one is missing, the last is None: the target is incomplete.

    A chunk of another attempt counts as missing, because it may have divided the target differently.

    Raises:
        AwsError: The bucket did not answer.
    """
    started_at = None
    for part in count(1):
        stored = documents.read(object_keys.target_scan(audit_id, account, region, part))
        document = parse(stored[0]) if stored else None
        if document and part > 1 and document["scan"]["started_at"] != started_at:
            document = None
        yield document
        if document is None or not document["scan"].get("more"):
            return
        started_at = document["scan"]["started_at"]
        del stored, document  # free the memory before the next one is read


@dataclass(frozen=True, slots=True)
class StoredTarget:
    """What is stored about a target.

    Attributes:
        kept: Whether there is any document.
        whole: Whether the whole target was read.
        findings: The requested findings, by id.
    """

    kept: bool
    whole: bool
    findings: Mapping[str, FindingDocument]


def stored_target(
    documents: Documents, audit_id: str, account: str, region: str, ids: Collection[str] = ()
) -> StoredTarget:
    """Read a target's documents one after the other, because all of a large target do not fit into memory.

    Raises:
        AwsError: The bucket did not answer.
    """
    kept, whole, findings = False, True, dict[str, FindingDocument]()
    for part in parts_of(documents, audit_id, account, region):
        if part is None:
            whole = False
        else:
            kept = True
            whole = whole and _is_complete(part)
            findings |= {found["id"]: found for found in part["findings"] if found["id"] in ids}
        del part
    return StoredTarget(kept, whole, findings)


def _is_complete(part: ScanDocument) -> bool:
    """Return whether the target is complete. A disabled region counts as not read."""
    targets = part["scan"]["targets"]
    return bool(targets) and all(target["complete"] and "closed" not in target for target in targets)


def put_error(documents: Documents, audit_id: str, target: Target, error: StepError) -> None:
    """Store why the scan of a target ended."""
    documents.write(object_keys.target_error(audit_id, target.account, target.region), ERROR.dump_json(error).decode())


def _seen(documents: Texts, plan: AuditPlan, target: Target) -> Iterator[ScanDocument | Gap]:
    seen = 0
    try:
        for part in parts_of(documents, plan.audit_id, target.account, target.region, DOCUMENT.validate_json):
            seen += 1
            yield part or _missing_document_gap(documents, plan.audit_id, target, seen)
            del part
    except (ValidationError, UnicodeDecodeError) as broken:
        key = object_keys.target_scan(plan.audit_id, target.account, target.region, seen + 1)
        yield Gap(target.account, target.region, "s3:GetObject", f"{key} is no scan document: {reason_of(broken)}")


def _missing_document_gap(documents: Texts, audit_id: str, target: Target, part: int) -> Gap:
    """Return the gap for a missing document. Its reason is the error that ended the scan, if that was stored."""
    if stored := documents.read(object_keys.target_error(audit_id, target.account, target.region)):
        return Gap(target.account, target.region, "lambda:Invoke", error_text(ERROR.validate_json(stored[0])))
    key = object_keys.target_scan(audit_id, target.account, target.region, part)
    return Gap(target.account, target.region, "s3:GetObject", f"the scan left no document at {key}")
