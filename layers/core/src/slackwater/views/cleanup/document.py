"""Types of the clean-ups that the API and the command line return.

Money is a string of US dollars, a time is RFC 3339 in UTC, and null means unknown or absent.
"""

from typing import Literal, TypedDict

from slackwater.model.cleanup import BackupState, Stage
from slackwater.model.tracking import Status
from slackwater.views.api.document import LedgerEntryDocument, TrackedFindingDocument, TrackedResourceDocument

type Does = Literal["delete", "change"]


class SaidDocument(TypedDict):
    """The note of a person who stopped or undid a clean-up."""

    who: str
    why: str
    at: str


class CandidateDocument(TypedDict):
    """A finding, and what a run does about it. `state` says whether its clean-up starts or would start, and `why` gives
    the reason if not.

    `setting` is the new setting; null for a deletion. `net_monthly_usd` is the saving while the backup is kept.
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
    """What a run would do. It starts nothing if `over_cap` or `stopped` is set, or if clean-up is not `enabled`."""

    candidates: list[CandidateDocument]
    over_cap: str | None
    stopped: SaidDocument | None
    enabled: bool


class RunDocument(TypedDict):
    """What a run did about each finding."""

    candidates: list[CandidateDocument]


class ApprovedDocument(TypedDict):
    """An approved finding, and the result of starting its clean-up; null if clean-up is not enabled."""

    finding: TrackedFindingDocument
    candidate: CandidateDocument | None


class MarkedDocument(TypedDict):
    """When the resource was tagged, the earliest time of the deletion or change, and on which days before it the owner
    was warned.
    """

    at: str
    act_after: str
    warned_days: list[int]


class BackupDocument(TypedDict):
    """A backup. `id` is the snapshot's id, the recovery point's ARN, or the FSx backup's id. `of` is the resource that
    it was made from.
    """

    id: str | None
    of: str
    state: BackupState
    asked_at: str
    expires_at: str
    size_bytes: int | None
    why: str | None


class RemovalDocument(TypedDict):
    """The resource, or one of its sub-resources, that Slackwater asked AWS to delete."""

    kind: str
    id: str
    asked_at: str


class RestoredDocument(TypedDict):
    """The progress of an undo. `id` is the restored resource, `differences` what could not be restored as it was."""

    state: Literal["running", "done", "failed"]
    id: str | None
    arn: str | None
    differences: list[str]
    why: str | None


class ObservedDocument(TypedDict):
    """What the newest complete audit after the clean-up found: what the same finding would still save."""

    audit_id: str
    at: str
    left_monthly_usd: str | None


class CleanupDocument(TypedDict):
    """A clean-up. `was` and `setting` are the settings before and after a change.

    `realised_monthly_usd` is the saving that later audits show, less the cost of its backups while they are kept. If
    there are very many, `removals` and `restored.differences` have only some; `removed` is the number of all removals.
    `undo` is the command that undoes it; null if nothing can be undone.
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
    """A clean-up with the state of its finding, and its ledger. `not_undoable` says why nothing can be undone."""

    status: Status | None
    not_undoable: str | None
    ledger: list[LedgerEntryDocument]


class CleanupTotalsDocument(TypedDict):
    """The totals of all clean-ups that have ended as done or undone. `unknown` counts those of unknown saving.

    `cleanups` counts all clean-ups, also running ones.
    """

    cleanups: int
    promised_monthly_usd: str
    realised_monthly_usd: str
    unknown: int


class CleanupPageDocument(TypedDict):
    """A page of clean-ups, and the totals of all.

    `promised_monthly_usd`, `realised_monthly_usd` and `unknown` are totals of this page alone. `totals` is null on
    later pages. `cursor` requests older clean-ups; null means that there are none. `stopped` says who stopped all
    clean-ups, if anyone did.
    """

    cleanups: list[CleanupDocument]
    promised_monthly_usd: str
    realised_monthly_usd: str
    unknown: int
    totals: CleanupTotalsDocument | None
    stopped: SaidDocument | None
    cursor: str | None


class SwitchDocument(TypedDict):
    """Who stopped all clean-ups; null if they may start."""

    stopped: SaidDocument | None
