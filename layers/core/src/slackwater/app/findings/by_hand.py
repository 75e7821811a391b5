"""Says why people must carry out a recommendation themselves."""

from collections.abc import Callable

from slackwater.engine.cleanup import BY_HAND, CLEANABLE
from slackwater.model.ownership import managed_by
from slackwater.model.tracking import FindingRecord
from slackwater.views.scan.document import FindingDocument


def with_cause(why: str, record: FindingRecord, evidence: Callable[[], FindingDocument | None]) -> str:
    """Return a reason against a clean-up. If Slackwater cannot carry out the recommendation, add why not.

    Args:
        why: The reason.
        record: The finding.
        evidence: Returns the finding with its caveats, as the audit stored it; None if it cannot be read.
    """
    if not why.startswith(BY_HAND):
        return why
    return f"{why}{_cause(record, evidence())}. For details: `slackwater findings show {record.id}`"


def _cause(record: FindingRecord, evidence: FindingDocument | None) -> str:
    """Return a clause or sentences that start with punctuation; empty if the cause is unknown."""
    if record.detector not in CLEANABLE:
        return f", because Slackwater only gives advice for {record.detector}"
    if evidence and (owner := managed_by(evidence["resource"]["tags"])):
        return f", because {owner} manages the resource"
    caveats = " ".join(evidence.get("caveats", ())).removesuffix(".") if evidence else ""
    if record.confidence != "high":
        more = f". {caveats}" if caveats else ""
        return f". Its confidence is {record.confidence}, not high{more}"
    return f". {caveats}" if caveats else ""
