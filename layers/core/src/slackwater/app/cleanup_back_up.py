"""The steps of a clean-up that back up: ask, look until it is complete, verify. They delete nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Literal, assert_never

from slackwater.app.cleanup_case import GO, LONGEST_WAIT, Answer, Cases, UnsafeError, wait_since
from slackwater.aws.errors import AccessDeniedError, AwsError
from slackwater.engine.cleanup import unverified
from slackwater.model.cleanup import BACKUP_OF, EXPIRES_AT, OWNER, RESTORE, TOKEN, Backup, Cleanup, Copy, Subject
from slackwater.model.policy import Policy
from slackwater.model.resources import EfsFileSystem
from slackwater.ports import BackupTaker

type BackUpStep = Literal["start", "look", "verify"]

LOOK_AT_BACKUP_S: Final = 600
"""Between looks, at first: a backup may take days, and an execution's history is finite."""
SHOWS_WITHIN: Final = timedelta(minutes=10)
"""After which a backup that AWS does not list was not begun: AWS lists what it began within seconds."""
IN_TAGS: Final = "_.:/=+-@"
"""Signs that EFS, FSx and AWS Backup take in a tag's value, beside letters, digits and blanks."""
TAG_CHARACTERS: Final = 256
NAME_CHARACTERS: Final = 200
MOST_ASKED: Final = 6
"""How often one backup is asked for where AWS never shows one."""
METERED: Final = frozenset({EfsFileSystem.KIND})
"""Kinds whose sizes AWS meters, rather than provisions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackUp:
    """Everything that backing up takes."""

    cases: Cases
    policy: Callable[[], Policy]
    takers: Mapping[str, BackupTaker]

    def step(self, step: BackUpStep, finding_id: str, execution: str) -> Answer:
        """Take one step; what comes of it.

        Raises:
            NotMineError, UnsafeError: it must not be taken.
            MovedError, AwsError: it may be taken again.
        """
        cleanup = self.cases.get(finding_id, execution)
        if cleanup.stage != "working" or cleanup.scratch or not cleanup.deletes:
            raise UnsafeError(f"the clean-up is {cleanup.stage}, and has nothing to back up")
        if step != "verify" and (why := self.cases.objection(cleanup, self.cases.finding(cleanup), self.policy())):
            return self.cases.over(cleanup, why)
        match step:
            case "start":
                return self._start(cleanup)
            case "look":
                return self._look(cleanup)
            case "verify":
                return self._verify(cleanup)
            case _:
                assert_never(step)

    def _start(self, cleanup: Cleanup) -> Answer:
        """Ask for the backup, once it is on record that it is asked for.

        One that is on record already was asked for by a step that died: whether AWS heard it shows at the next look, as what it
        began a moment ago may not be listed yet.
        """
        if not cleanup.backups:
            backup = self._planned(cleanup, self.takers[cleanup.resource.type].subject(cleanup.resource))
            cleanup = self._ask(self.cases.write(replace(cleanup, backups=(backup,))), backup)
        return self._failed(cleanup) or GO

    def _look(self, cleanup: Cleanup) -> Answer:
        taker = self.takers[cleanup.resource.type]
        for backup in cleanup.backups:
            if backup.state not in {"asked", "running"}:
                continue
            copies = taker.copies(cleanup.resource, backup)
            if copies:
                copy = min(copies, key=lambda one: one.made_at)  # should there be two, the sweeper takes the other
                cleanup = self.cases.write(with_backup(cleanup, _seen(backup, copy)))
            elif self.cases.clock() - backup.asked_at < SHOWS_WITHIN:
                continue
            elif backup.state == "running":
                return self.cases.failed(cleanup, f"the backup {backup.id} is gone")
            elif backup.asked >= MOST_ASKED:
                last = f": {backup.why}" if backup.why else ""
                return self.cases.failed(cleanup, f"AWS never showed the backup of {backup.subject.id}{last}")
            else:
                again = replace(backup, asked=backup.asked + 1, asked_at=self.cases.clock())
                cleanup = self._ask(self.cases.write(with_backup(cleanup, again)), again)
        return self._failed(cleanup) or self._wait_for_aws(cleanup)

    def _wait_for_aws(self, cleanup: Cleanup) -> Answer:
        """Come again while a backup is under way; "failed" where that takes too long."""
        under_way = [backup for backup in cleanup.backups if backup.state in {"asked", "running"}]
        if not under_way:
            return GO
        first, now = min(under_way, key=lambda backup: backup.asked_at), self.cases.clock()
        if now - first.asked_at >= LONGEST_WAIT:
            return self.cases.failed(cleanup, f"the backup of {first.subject.id} takes longer than {LONGEST_WAIT.days} days")
        return wait_since(first.asked_at, now, LOOK_AT_BACKUP_S)

    def _ask(self, cleanup: Cleanup, backup: Backup) -> Cleanup:
        """Ask AWS, once; it is on record that it is asked. What AWS answers else is no proof that it did nothing."""
        try:
            copy = self.takers[cleanup.resource.type].start(cleanup.resource, backup, tags(cleanup, backup))
        except AccessDeniedError as error:
            answered = replace(backup, state="failed", why=str(error))
        except AwsError as error:
            answered = replace(backup, why=str(error))
        else:
            answered = _seen(backup, copy)
        return self.cases.write(with_backup(cleanup, answered))

    def _failed(self, cleanup: Cleanup) -> Answer | None:
        bad = next((backup for backup in cleanup.backups if backup.state == "failed"), None)
        if bad is None:
            return None
        return self.cases.failed(cleanup, f"the backup of {bad.subject.id} failed: {bad.why or 'AWS does not say why'}")

    def _verify(self, cleanup: Cleanup) -> Answer:
        """Each backup, read anew, holds what it was asked to hold."""
        if why := verified_now(cleanup, self.takers[cleanup.resource.type]):
            return self.cases.failed(cleanup, why)
        if any(backup.state != "verified" for backup in cleanup.backups):
            backups = tuple(replace(backup, state="verified") for backup in cleanup.backups)
            ids = ", ".join(f"{backup.id} of {backup.subject.id}, until {backup.expires_at:%Y-%m-%d}" for backup in backups)
            self.cases.tell(replace(cleanup, backups=backups), "backed-up", f"verified: {ids}")
        return GO

    def _planned(self, cleanup: Cleanup, subject: Subject) -> Backup:
        now = self.cases.clock()
        return Backup(
            subject=subject,
            token=f"{cleanup.execution}-0",
            asked_at=now,
            expires_at=now + timedelta(days=self.policy().cleanup.backup_days),
        )


def verified_now(cleanup: Cleanup, taker: BackupTaker) -> str | None:
    """Why what was backed up could not all be brought back, as AWS has it now; None where it could."""
    if not cleanup.backups:
        return "there is no backup"
    for backup in cleanup.backups:
        copy = next((one for one in taker.copies(cleanup.resource, backup) if one.id and one.id == backup.id), None)
        if copy is None:
            return f"the backup {backup.id} of {backup.subject.id} is not there"
        if why := unverified(copy, backup.subject, metered=cleanup.resource.type in METERED):
            return f"the backup {backup.id} of {backup.subject.id} does not hold what it should: {why}"
    return None


def tags(cleanup: Cleanup, backup: Backup) -> dict[str, str]:
    """What a backup says of itself: of what it is, for whom, how long it is kept, how to restore it."""
    return {
        "Name": f"{legal(cleanup.resource.name)[:NAME_CHARACTERS]} before it was deleted",
        BACKUP_OF: cleanup.resource.arn,
        TOKEN: backup.token,
        EXPIRES_AT: f"{backup.expires_at:%Y-%m-%dT%H:%M:%SZ}",
        RESTORE: f"slackwater cleanup undo {cleanup.finding_id}",
        **({OWNER: legal(cleanup.owner)} if cleanup.owner else {}),
    }


def legal(value: str) -> str:
    """A tag's value as every service takes it: other signs left out, and cut to the length that all allow."""
    kept = "".join(sign if sign.isalnum() or sign in IN_TAGS else " " for sign in value)
    return " ".join(kept.split())[:TAG_CHARACTERS]


def with_backup(cleanup: Cleanup, backup: Backup) -> Cleanup:
    """The clean-up with this backup in the place of the one of the same token."""
    return replace(cleanup, backups=tuple(backup if one.token == backup.token else one for one in cleanup.backups))


def _seen(backup: Backup, copy: Copy) -> Backup:
    return replace(
        backup,
        state="complete" if copy.state == "complete" else copy.state,
        id=copy.id or backup.id,
        job=copy.job or backup.job,
        size_bytes=copy.size_bytes,
        why=copy.why,
    )
