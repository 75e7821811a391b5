"""What the scans of an audit left of their targets: a document each, or several of a target that was too large for one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import batched, count
from typing import Final

from pydantic import TypeAdapter, ValidationError

from slackwater.app.step_error import StepError, said
from slackwater.aws.errors import reason
from slackwater.model import object_keys
from slackwater.model.audits import AuditPlan
from slackwater.model.findings import Gap
from slackwater.model.resources import Target
from slackwater.ports import Documents
from slackwater.views.document import ScanDocument

DOCUMENT: Final = TypeAdapter(ScanDocument)

AT_ONCE: Final = 16
"""Targets whose documents are on their way: as many as a client keeps connections."""

AHEAD: Final = 4 * AT_ONCE
"""Targets whose documents are held."""

ERROR: Final = TypeAdapter(StepError)


@dataclass(frozen=True, slots=True)
class SeenTarget:
    """What there is of a target, and why there is no more."""

    parts: Sequence[ScanDocument]
    gap: Gap | None


def seen_targets(documents: Documents, plan: AuditPlan) -> Iterator[SeenTarget]:
    """What an audit's scans left of each target, in the order of the plan; a few are held at a time.

    Raises:
        AwsError: the bucket did not say.
    """
    known = {(gap.account, gap.region): gap for gap in plan.gaps}

    def look(target: Target) -> SeenTarget:
        if gap := known.get((target.account, target.region)):
            return SeenTarget((), gap)
        return _seen(documents, plan.audit_id, target)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for some in batched(plan.targets, AHEAD, strict=False):
            yield from pool.map(look, some)


def parts_of(
    documents: Documents, audit_id: str, account: str, region: str, parse: Callable[[str], ScanDocument] = json.loads
) -> Iterator[ScanDocument | None]:
    """The documents of a target, part by part; at the end None where one is missing: the target was not seen whole.

    A part that another attempt left is as good as missing: it may have divided the target otherwise.

    Raises:
        AwsError: the bucket did not say.
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


def saw_all(parts: Iterable[ScanDocument | None]) -> bool:
    """Whether a target was seen whole, by all its documents. A region that is closed was not seen."""
    targets = [target for part in parts for target in (part["scan"]["targets"] if part else [None])]
    return bool(targets) and all(target is not None and target["complete"] and "closed" not in target for target in targets)


def put_error(documents: Documents, audit_id: str, target: Target, error: StepError) -> None:
    """Keep why the scan of a target ended."""
    documents.write(object_keys.target_error(audit_id, target.account, target.region), ERROR.dump_json(error).decode())


def _seen(documents: Documents, audit_id: str, target: Target) -> SeenTarget:
    parts = list[ScanDocument]()
    try:
        for part in parts_of(documents, audit_id, target.account, target.region, DOCUMENT.validate_json):
            if part is None:
                return SeenTarget(parts, _why_none(documents, audit_id, target, len(parts) + 1))
            parts.append(part)
    except (ValidationError, UnicodeDecodeError) as broken:
        key = object_keys.target_scan(audit_id, target.account, target.region, len(parts) + 1)
        return SeenTarget(
            parts, Gap(target.account, target.region, "s3:GetObject", f"{key} is no scan document: {reason(broken)}")
        )
    return SeenTarget(parts, None)


def _why_none(documents: Documents, audit_id: str, target: Target, part: int) -> Gap:
    """Why a document is not there: what ended the scan, if that was told."""
    if stored := documents.read(object_keys.target_error(audit_id, target.account, target.region)):
        return Gap(target.account, target.region, "lambda:Invoke", said(ERROR.validate_json(stored[0])))
    key = object_keys.target_scan(audit_id, target.account, target.region, part)
    return Gap(target.account, target.region, "s3:GetObject", f"the scan left no document at {key}")
