"""Types of the clean-ups that the API and the command line return.

Money is a string of US dollars, a time is RFC 3339 in UTC, and null means unknown or absent.
"""

from typing import Literal, TypedDict

from slackwater.model.cleanup import BackupState, Stage
from slackwater.model.tracking import Status
from slackwater.views.api.document import LedgerEntryDocument, TrackedFindingDocument, TrackedResourceDocument

type Does = Literal["delete", "change"]


class SaidDocument(TypedDict):
    """What a person said, to stop or to undo."""

    who: str
    why: str
    at: str


class CandidateDocument(TypedDict):
    """A finding, and what a run does about it: `state` says whether it is, or would be, begun, and `why` not.

    `setting` is what it would change to, null where it would delete. `net_monthly_usd` is the saving while the backup
    is kept.
    """

    finding_id: str
    detector: str
    resource: TrackedResourceDocument
    owner: str | None
    status: Status
    state: Literal["ready", "begun", "under-way", "refused", "failed"]
    why: str
    does: Does
    setting: str | None
    unattended: bool
    backed_up: bool
    acts_after: str | None
    monthly_savings_usd: str | None
    backup_monthly_usd: str | None
    net_monthly_usd: str | None
    fingerprint: str


class PlanDocument(TypedDict):
    """What a run would do; with `over_cap` or `stopped` it would begin nothing, nor where clean-up is not `enabled`."""

    candidates: list[CandidateDocument]
    over_cap: str | None
    stopped: SaidDocument | None
    enabled: bool


class RunDocument(TypedDict):
    """What a run did about each finding."""

    candidates: list[CandidateDocument]


class ApprovedDocument(TypedDict):
    """An approved finding, and what came of beginning its clean-up; null where clean-up is not enabled."""

    finding: TrackedFindingDocument
    candidate: CandidateDocument | None


class MarkedDocument(TypedDict):
    """When it was marked, from when on it may be acted upon, and for how many days ahead its owner was warned."""

    at: str
    act_after: str
    warned_days: list[int]


class BackupDocument(TypedDict):
    """A backup: `id` is the snapshot's, the recovery point's ARN, or the FSx backup's; `of` what it was made of."""

    id: str | None
    of: str
    state: BackupState
    asked_at: str
    expires_at: str
    size_bytes: int | None
    why: str | None


class RemovalDocument(TypedDict):
    """A part whose removal was asked for."""

    kind: str
    id: str
    asked_at: str


class RestoredDocument(TypedDict):
    """How far an undo is; `id` is what came back, `differences` what is not as it was."""

    state: Literal["running", "done", "failed"]
    id: str | None
    arn: str | None
    differences: list[str]
    why: str | None


class ObservedDocument(TypedDict):
    """What the newest whole audit after it saw: what the same finding would still save."""

    audit_id: str
    at: str
    left_monthly_usd: str | None


class CleanupDocument(TypedDict):
    """A clean-up. `was` and `setting` are the settings before and after a change.

    `realised_monthly_usd` is what it saves as the audits after it show, less what its backups cost while they are kept.
    `removals` and `restored.differences` name some of very many; `removed` is the number of all removals.
    `undo` is the command that undoes it, null where nothing can be undone.
    """

    finding_id: str
    attempt: int
    execution: str
    stage: Stage
    detector: str
    resource: TrackedResourceDocument
    owner: str | None
    does: Does
    setting: str | None
    was: str | None
    unattended: bool
    backed_up: bool
    requested_by: str
    approved_by: str | None
    started_at: str
    ended_at: str | None
    why: str
    marked: MarkedDocument | None
    backups: list[BackupDocument]
    removals: list[RemovalDocument]
    removed: int
    stopped: SaidDocument | None
    undone: SaidDocument | None
    restored: RestoredDocument | None
    promised_monthly_usd: str | None
    backup_monthly_usd: str | None
    observed: ObservedDocument | None
    realised_monthly_usd: str | None
    undo: str | None


class CleanupDetailDocument(CleanupDocument):
    """A clean-up with what became of its finding, and its ledger; `not_undoable` is why nothing can be undone."""

    status: Status | None
    not_undoable: str | None
    ledger: list[LedgerEntryDocument]


class CleanupTotalsDocument(TypedDict):
    """The sums of all clean-ups that have ended done or undone; `unknown` counts those whose saving nobody knows.

    `cleanups` counts all of them, those that have not ended too.
    """

    cleanups: int
    promised_monthly_usd: str
    realised_monthly_usd: str
    unknown: int


class CleanupPageDocument(TypedDict):
    """Some clean-ups, and the totals of all.

    `promised_monthly_usd`, `realised_monthly_usd` and `unknown` are the same sums of this page alone. `totals` is null
    on later pages. `cursor` asks for older ones, null is the end. `stopped` is who has stopped all clean-ups, if
    anybody has.
    """

    cleanups: list[CleanupDocument]
    promised_monthly_usd: str
    realised_monthly_usd: str
    unknown: int
    totals: CleanupTotalsDocument | None
    stopped: SaidDocument | None
    cursor: str | None


class SwitchDocument(TypedDict):
    """Who has stopped all clean-ups; null where they may begin."""

    stopped: SaidDocument | None
