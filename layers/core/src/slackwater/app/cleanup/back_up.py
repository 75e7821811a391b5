"""The backup steps of a clean-up: request a backup, check until it is complete, verify it. They delete nothing."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal, assert_never

from slackwater.app.cleanup.case import GO, LONGEST_WAIT, Answer, Cases, UnsafeError, wait_since
from slackwater.engine.cleanup import identity_error, verification_error
from slackwater.model.cleanup import (
    BACKUP_OF,
    EXPIRES_AT,
    INSTALLATION,
    OWNER,
    RESTORE,
    TOKEN,
    Backup,
    Cleanup,
    Copy,
    Subject,
    timestamp,
)
from slackwater.model.policy import Policy
from slackwater.model.resources import EfsFileSystem, FsxFileSystem
from slackwater.ports.cleanup import BackupTaker, Keys
from slackwater.ports.errors import AccessDeniedError, AwsError, BusyError

type BackUpStep = Literal["start", "look", "verify"]

LOOK_AT_BACKUP_S: Final = 600
"""The first interval, in seconds, between checks: a backup may take days, and an execution's history is limited."""
SHOWS_WITHIN: Final = timedelta(minutes=10)
"""AWS lists a backup within seconds of its start. If it does not within this time, the backup was not started."""
FINAL_SHOWS_WITHIN: Final = timedelta(hours=1)
"""If FSx lists no final backup within this time, there is none."""
IN_TAGS: Final = "_.:/=+-@"
"""Characters that EFS, FSx and AWS Backup accept in a tag's value, beside letters, digits and spaces."""
TAG_CHARACTERS: Final = 256
NAME_CHARACTERS: Final = 200
MOST_ASKED: Final = 6
"""How many times a clean-up requests one backup if AWS never lists it."""
UNTIL_DELETED: Final = timedelta(days=2)
"""How long a deletion may take after its backup is verified, not counting the wait for the lock. The policy's
`backup_days` start at the deletion.
"""
METERED: Final = frozenset({EfsFileSystem.KIND})
"""Resource kinds whose size AWS meters. Other kinds have a provisioned size."""
OLDER: Final = "an older version of Slackwater requested its backup, without a token to identify it: approve it again"


def random_token() -> str:
    """Return a token that no other request has: 128 random bits, in a form that every service accepts."""
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackUp:
    """The steps and their dependencies. `installation` returns this installation's id."""

    cases: Cases
    policy: Callable[[], Policy]
    backup_takers: Mapping[str, BackupTaker]
    keys: Keys
    installation: Callable[[], str]

    def step(self, step: BackUpStep, finding_id: str, execution: str) -> Answer:
        """Run one step, and return the answer for the state machine.

        Raises:
            NotMineError, UnsafeError: The step must not run.
            MovedError, AwsError: The step may run again.
        """
        cleanup = self.cases.short(finding_id, execution)
        if cleanup.stage != "working" or cleanup.scratch or not cleanup.deletes:
            raise UnsafeError(f"the clean-up is {cleanup.stage}, and has nothing to back up")
        if step != "verify" and (why := self.cases.objection(cleanup, self.cases.finding(cleanup), self.policy())):
            return self.cases.over(cleanup, why)
        if any(backup.installation is None for backup in cleanup.backups):
            return self.cases.over(
                cleanup, self.cases.objection(cleanup, self.cases.finding(cleanup), self.policy()) or OLDER
            )
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
        """Record the backup, and then request it.

        If the backup is already on record, an earlier run of the step recorded it and then crashed. The next check
        finds out whether AWS received the request, because AWS may not list a very recent backup yet.
        """
        if not cleanup.backups:
            backup = self._planned(self.backup_takers[cleanup.resource.type].subject(cleanup.resource))
            cleanup = self._ask(self.cases.write(replace(cleanup, backups=(backup,))), backup)
        return self._failed(cleanup) or GO

    def _look(self, cleanup: Cleanup) -> Answer:
        taker = self.backup_takers[cleanup.resource.type]
        for backup in cleanup.prior_backups:  # not the final backup, which a delayed step may find on the record
            if backup.state not in {"asked", "running"}:
                continue
            copies = made_for(backup, taker.copies(cleanup.resource, backup), cleanup.resource.arn)
            if copies:
                cleanup = self.cases.write(with_backup(cleanup, _with_spares(_seen(backup, copies[0]), copies[1:])))
            elif self.cases.clock() - (backup.asked_again_at or backup.asked_at) < SHOWS_WITHIN:
                continue
            elif backup.state == "running":
                return self.cases.failed(cleanup, f"the backup {backup.id} no longer exists")
            elif backup.asked >= MOST_ASKED:
                last = f": {backup.why}" if backup.why else ""
                return self.cases.failed(cleanup, f"AWS never listed the backup of {backup.subject.id}{last}")
            else:
                again = replace(backup, asked=backup.asked + 1, asked_again_at=self.cases.clock())
                cleanup = self._ask(self.cases.write(with_backup(cleanup, again)), again)
        return self._failed(cleanup) or self._wait_for_aws(cleanup)

    def _wait_for_aws(self, cleanup: Cleanup) -> Answer:
        """Wait while AWS makes a backup; fail if that takes too long."""
        under_way = [backup for backup in cleanup.prior_backups if backup.state in {"asked", "running"}]
        if not under_way:
            return GO
        first, now = min(under_way, key=lambda backup: backup.asked_at), self.cases.clock()
        if now - first.asked_at >= LONGEST_WAIT:
            return self.cases.failed(
                cleanup, f"the backup of {first.subject.id} takes longer than {LONGEST_WAIT.days} days"
            )
        return wait_since(first.asked_at, now, LOOK_AT_BACKUP_S)

    def _ask(self, cleanup: Cleanup, backup: Backup) -> Cleanup:
        """Request a recorded backup once. Even after an error, AWS may have received the request."""
        try:
            copy = self.backup_takers[cleanup.resource.type].start(cleanup.resource, backup, tags(cleanup, backup))
        except AccessDeniedError as error:
            answered = replace(backup, state="failed", why=str(error))
        except AwsError as error:
            answered = replace(backup, why=str(error))
        else:
            answered = _seen(backup, copy)
        return self.cases.write(with_backup(cleanup, answered))

    def _failed(self, cleanup: Cleanup) -> Answer | None:
        bad = next((backup for backup in cleanup.prior_backups if backup.state == "failed"), None)
        if bad is None:
            return None
        return self.cases.failed(cleanup, f"the backup of {bad.subject.id} failed: {bad.why or 'AWS gave no reason'}")

    def _verify(self, cleanup: Cleanup) -> Answer:
        """Check that each backup, as AWS shows it now, contains what it must and is kept long enough from now."""
        taker = self.backup_takers[cleanup.resource.type]
        kept_from = self.cases.clock() + timedelta(days=self.policy().cleanup.backup_days)
        slow = cleanup.turn or cleanup.resource.type == FsxFileSystem.KIND  # FSx takes a final backup before it deletes
        until = kept_from + UNTIL_DELETED + (LONGEST_WAIT if slow else timedelta(0))
        prior = cleanup.prior_backups
        refused = [self._keep(cleanup, backup, until) for backup in prior]
        if why := verified_now(cleanup, taker, self.keys, kept_from):
            return self.cases.failed(cleanup, "; ".join([why, *filter(None, refused)]))
        seen = [made_for(backup, taker.copies(cleanup.resource, backup), cleanup.resource.arn) for backup in prior]
        verified = tuple(_verified(*both) for both in zip(prior, seen, strict=True))
        backups = (*verified, *(backup for backup in cleanup.backups if backup.final))
        if any(backup.state != "verified" for backup in prior):
            ids = ", ".join(
                f"{backup.id} of {backup.subject.id}, until {backup.expires_at:%Y-%m-%d}" for backup in verified
            )
            known = replace(cleanup, backups=backups, backed_up_at=self.cases.clock())
            self.cases.record_event(known, "backed-up", f"verified: {ids}")
        elif backups != cleanup.backups:
            self.cases.write(replace(cleanup, backups=backups))
        return GO

    def _keep(self, cleanup: Cleanup, backup: Backup, until: datetime) -> str | None:
        """Extend the time for which a backup is kept, if needed. Return why AWS refuses; None if it does not.

        Raises:
            AwsError: AWS did not answer, or still shows the old time. The step may run again.
        """
        taker = self.backup_takers[cleanup.resource.type]
        copy = copy_of(cleanup, backup, taker)
        if copy is None or identity_error(copy, backup, cleanup.resource.arn) or not _ends_before(copy, until):
            return None
        try:
            taker.keep(cleanup.resource, copy, until)
        except AwsError as error:
            if error.transient:
                raise
            return f"AWS refused to keep it until {until:%Y-%m-%d}: {error}"
        copy = copy_of(cleanup, backup, taker)
        if copy and _ends_before(copy, until - timedelta(seconds=1)):  # tags have whole seconds
            raise BusyError(f"AWS does not show yet that it keeps {backup.id} until {until:%Y-%m-%d}")
        return None

    def _planned(self, subject: Subject) -> Backup:
        now = self.cases.clock()
        return Backup(
            subject=subject,
            token=random_token(),
            asked_at=now,
            expires_at=now + timedelta(days=self.policy().cleanup.backup_days),
            installation=self.installation(),
        )


def made_for(backup: Backup, copies: Sequence[Copy], of_arn: str) -> list[Copy]:
    """Return the backups that AWS made from a request: first the one on record, then the others, oldest first.

    The result has at most as many backups as requests were sent. Copies that somebody else made are younger, so they
    are cut off. The backup on record needs no identity check: AWS returned its id, or it was checked when recorded.
    """
    mine = [one for one in copies if _recorded(one, backup) or identity_error(one, backup, of_arn) is None]
    return sorted(mine, key=lambda one: (not _recorded(one, backup), one.state == "failed", one.made_at))[
        : backup.asked
    ]


def verified_now(cleanup: Cleanup, taker: BackupTaker, keys: Keys, kept_from: datetime) -> str | None:
    """Return why the backups, as AWS shows them now, may not restore everything until `kept_from`; None if they can."""
    if not cleanup.backups:
        return "there is no backup"
    for backup in cleanup.prior_backups:
        copy = copy_of(cleanup, backup, taker)
        if copy is None:
            return f"the backup {backup.id} of {backup.subject.id} does not exist"
        metered = cleanup.resource.type in METERED
        if why := identity_error(copy, backup, cleanup.resource.arn) or verification_error(
            copy, backup.subject, metered=metered
        ):
            return f"the backup {backup.id} of {backup.subject.id} cannot restore it: {why}"
        if _ends_before(copy, kept_from):
            return (
                f"the backup {backup.id} of {backup.subject.id} is kept only until {copy.kept_until:%Y-%m-%d %H:%M} UTC"
            )
        if copy.key is not None and (why := keys.unusable(copy.key, cleanup.resource.region, kept_from)):
            return f"the backup {backup.id} of {backup.subject.id} may be unusable: {why}"
    return None


def copy_of(cleanup: Cleanup, backup: Backup, taker: BackupTaker) -> Copy | None:
    """Return the backup with the recorded id as AWS shows it now; None if AWS lists none."""
    return next((one for one in taker.copies(cleanup.resource, backup) if one.id and one.id == backup.id), None)


def _ends_before(copy: Copy, at: datetime) -> bool:
    return copy.kept_until is not None and copy.kept_until < at


def _verified(backup: Backup, copies: Sequence[Copy]) -> Backup:
    """Return the record of a verified backup with its expiry time. The first of `copies` is this backup."""
    kept_until = copies[0].kept_until if copies else None
    return _with_spares(replace(backup, state="verified", expires_at=kept_until or backup.expires_at), copies[1:])


def _with_spares(backup: Backup, others: Sequence[Copy]) -> Backup:
    return replace(backup, spares=tuple(sorted({*backup.spares, *(one.id for one in others if one.id)})))


def final_backup(cleanup: Cleanup) -> Backup | None:
    """Return FSx's final backup of a file system; None if there is none, or if its result is already on record."""
    return next((one for one in cleanup.backups if one.final and one.state not in {"verified", "failed"}), None)


def ended_final_backup(cleanup: Cleanup, final: Backup, taker: BackupTaker, keys: Keys, now: datetime) -> Backup | None:
    """Return the final backup as "verified" or "failed"; None if FSx has not finished it.

    Raises:
        AwsError: The step may run again.
    """
    copy = next(iter(made_for(final, taker.copies(cleanup.resource, final), cleanup.resource.arn)), None)
    since = now - final.asked_at
    if since < LONGEST_WAIT and (copy.state == "running" if copy else since < FINAL_SHOWS_WITHIN):
        return None
    if copy is None:
        return replace(final, state="failed", why="FSx lists no final backup")
    why = identity_error(copy, final, cleanup.resource.arn) or verification_error(copy, final.subject, metered=False)
    if why is None and copy.key is not None:
        why = keys.unusable(copy.key, cleanup.resource.region, now)
    state: Literal["verified", "failed"] = "failed" if why else "verified"
    return replace(final, state=state, id=copy.id, size_bytes=copy.size_bytes, why=why)


def tags(cleanup: Cleanup, backup: Backup) -> dict[str, str]:
    """Return the tags of a backup: its resource and owner, how long it is kept, and how to restore it."""
    return {
        "Name": f"{legal(cleanup.resource.name)[:NAME_CHARACTERS]} before it was deleted",
        BACKUP_OF: cleanup.resource.arn,
        TOKEN: backup.token,
        EXPIRES_AT: timestamp(backup.expires_at),
        RESTORE: f"slackwater cleanup undo {cleanup.finding_id}",
        **({INSTALLATION: backup.installation} if backup.installation else {}),
        **({OWNER: legal(cleanup.owner)} if cleanup.owner else {}),
    }


def legal(value: str) -> str:
    """Return a tag value that every service accepts: other characters become spaces, and a long value is cut."""
    kept = "".join(sign if sign.isalnum() or sign in IN_TAGS else " " for sign in value)
    return " ".join(kept.split())[:TAG_CHARACTERS]


def with_backup(cleanup: Cleanup, backup: Backup) -> Cleanup:
    """Return the clean-up with the backup that has the same token replaced."""
    return replace(cleanup, backups=tuple(backup if one.token == backup.token else one for one in cleanup.backups))


def _seen(backup: Backup, copy: Copy) -> Backup:
    return replace(
        backup,
        state="complete" if copy.state == "complete" else copy.state,
        id=copy.id or backup.id,
        job=copy.job or backup.job,
        size_bytes=copy.size_bytes,
        why=copy.why,
        started_at=copy.made_at,
        vault=copy.vault or backup.vault,
    )


def _recorded(copy: Copy, backup: Backup) -> bool:
    return (copy.id is not None and copy.id == backup.id) or (copy.job is not None and copy.job == backup.job)
