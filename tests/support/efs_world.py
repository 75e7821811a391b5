"""A simulated account with an EFS file system to clean up, with sessions for reading and for changes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from slackwater.aws.cleanup.efs.change import EfsChanger
from slackwater.aws.cleanup.efs.cleanup import EfsRemover, EfsWatcher
from slackwater.aws.cleanup.efs.recovery_points import EfsBackupTaker, EfsSweeper
from slackwater.aws.cleanup.efs.restore import EfsRestorer
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import NO_RETRIES, AwsSession, Endpoint
from slackwater.model.cleanup import BACKUP_OF, EXPIRES_AT, TOKEN, ActorNote, Backup, Cleanup, Restored, Subject
from slackwater.model.tracking import TrackedResource
from slackwater_simulator import AccessPoint, ElasticFileSystem, Fleet, MountTarget, Simulator, instant

NOW = instant("2026-11-16T09:07:00Z")
DAY, GIB = 86_400, 1 << 30
REGION, VAULT = "ap-northeast-1", "slackwater"

POINT = AccessPoint(
    id="fsap-1",
    token="theirs",
    user={"Uid": 1_000, "Gid": 1_000, "SecondaryGids": [7]},
    root={"Path": "/web", "CreationInfo": {"OwnerUid": 1_000, "OwnerGid": 1_000, "Permissions": "750"}},
    tags={"Name": "web"},
)
SYSTEM = ElasticFileSystem(
    id="fs-1",
    region=REGION,
    created=NOW - 40 * DAY,
    mode="elastic",
    standard_bytes=5 * GIB,
    ia_bytes=2 * GIB,
    lifecycle=(("TransitionToIA", "AFTER_30_DAYS"), ("TransitionToPrimaryStorageClass", "AFTER_1_ACCESS")),
    tags={"Name": "content", "team": "web"},
    mount_targets=(
        MountTarget(id="fsmt-1", az=f"{REGION}a", address="10.0.1.7", security_groups=("sg-1", "sg-2")),
        MountTarget(id="fsmt-2", az=f"{REGION}c"),
    ),
    given_points=(POINT, AccessPoint(id="fsap-2", token="other")),
)


class World:
    """A simulated account, with one session that reads and one that requests changes."""

    def __init__(self, *systems: ElasticFileSystem, **fleet: Any) -> None:
        self.fleet = Fleet(now=NOW, efs=list(systems), **fleet)
        self.sim = Simulator(self.fleet)
        self.account = self.sim.account
        self.arn = f"arn:aws:elasticfilesystem:{REGION}:{self.fleet.account}:file-system/fs-1"
        self.resource = TrackedResource(
            arn=self.arn, id="fs-1", type="efs-file-system", name="content", account=self.fleet.account, region=REGION
        )

    def __enter__(self) -> Self:
        self.sim.__enter__()
        endpoint = Endpoint(self.sim.url, "AKIADUMMY", "dummy")
        self.reading = AwsSession(meter=CallMeter(), endpoint=endpoint)
        self.asking = AwsSession(meter=CallMeter(), endpoint=endpoint, retries=NO_RETRIES)
        both, role = (self.reading, self.asking), f"arn:aws:iam::{self.fleet.account}:role/backup"
        self.watcher, self.remover, self.changer = EfsWatcher(self.reading), EfsRemover(self.asking), EfsChanger(*both)
        self.taker = EfsBackupTaker(*both, vault=VAULT, role_arn=role)
        self.restorer = EfsRestorer(*both, vault=VAULT, role_arn=role, clock=lambda: self.now)
        self.sweeper = EfsSweeper(*both, vault=VAULT)
        return self

    def __exit__(self, *_: object) -> None:
        self.sim.__exit__(None, None, None)

    @property
    def asked(self) -> set[str]:
        """Return every action that was called so far."""
        return set(self.sim.calls)

    @property
    def now(self) -> datetime:
        """Return the simulated time."""
        return datetime.fromtimestamp(self.account.now, UTC)

    def backup(self, **more: Any) -> Backup:
        """Return a backup that is on record, but not requested yet."""
        subject = Subject(id="fs-1", size_bytes=7 * GIB)
        asked = {
            "subject": subject,
            "token": "f-1-1-0",
            "asked_at": self.now,
            "expires_at": self.now + timedelta(days=30),
        }
        return Backup(**{**asked, **more})

    def tags(self, backup: Backup) -> dict[str, str]:
        """Return the tags of a backup."""
        return {
            BACKUP_OF: self.arn,
            TOKEN: backup.token,
            EXPIRES_AT: f"{backup.expires_at:%Y-%m-%dT%H:%M:%SZ}",
            "team": "web",
        }

    def backed_up(self) -> Backup:
        """Return a backup that is complete and verified."""
        backup = self.backup()
        begun = self.taker.start(self.resource, backup, self.tags(backup))
        self.sim.advance(1_300)
        return replace(backup, state="verified", id=begun.id, job=begun.job)

    def delete(self, *kinds: str) -> None:
        """Delete the sub-resources of these kinds, or everything if none is given."""
        look = self.watcher.look(self.resource)
        assert look
        for part in look.parts:
            if not kinds or part.kind in kinds:
                if part.kind == "file-system":
                    self.sim.advance(120)
                self.remover.remove(self.resource, part)
        self.sim.advance(120)

    def undo(self, *backups: Backup, **more: Any) -> Cleanup:
        """Return a clean-up that is being undone."""
        look = self.watcher.look(self.resource)
        assert look
        described = {
            "finding_id": "f-1",
            "attempt": 1,
            "execution": "f-1-1",
            "detector": "efs-idle",
            "resource": self.resource,
            "owner": None,
            "fingerprint": "p",
            "setting": None,
            "requested_by": "slack:U1",
            "started_at": self.now,
            "promised_monthly_usd": None,
            "stage": "undoing",
            "born_at": look.born_at,
            "recorded": self.watcher.record(self.resource),
            "backups": backups,
            "undone": ActorNote(who="slack:U1", why="", at=self.now),
        }
        return Cleanup(**{**described, **more})

    def restored(self, cleanup: Cleanup, steps: int = 12) -> Restored:
        """Run the undo step by step, ten minutes apart, and return its result."""
        for _ in range(steps):
            restored = self.restorer.restore(cleanup)
            if restored.state != "running":
                return restored
            cleanup = replace(cleanup, restored=restored)
            self.sim.advance(600)
        raise AssertionError(f"still running after {steps} steps: {restored}")
