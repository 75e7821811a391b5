"""A simulated account with an EBS volume to clean up, with sessions for reading and for changes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Self
from unittest.mock import patch

from botocore import session
from botocore.loaders import create_loader

from slackwater.aws.cleanup.ebs.cleanup import EbsChanger, EbsRemover, EbsWatcher
from slackwater.aws.cleanup.ebs.restore import EbsRestorer
from slackwater.aws.cleanup.ebs.snapshots import EbsBackupTaker, EbsSweeper
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import NO_RETRIES, AwsSession, Endpoint
from slackwater.model.cleanup import (
    BACKUP_OF,
    CLEANUP_TAG,
    EXPIRES_AT,
    TOKEN,
    ActorNote,
    Backup,
    Cleanup,
    Removal,
    Restored,
    Subject,
    SubResource,
)
from slackwater.model.tracking import TrackedResource
from slackwater_simulator import Fleet, Instance, Simulator, Volume, instant

NOW = instant("2026-11-16T09:07:00Z")
DAY, GIB = 86_400, 1 << 30
REGION = "ap-northeast-1"
ZONE = f"{REGION}c"
ID = "vol-0123456789abcdef0"
KEY = f"arn:aws:kms:{REGION}:123456789012:key/mine"

VOLUME = Volume(
    id=ID,
    az=ZONE,
    created=NOW - 90 * DAY,
    size_gib=200,
    iops=4_000,
    throughput=250,
    kms_key=KEY,
    tags={"Name": "old database", "team": "web"},
)
READ_ONCE = cache(create_loader)
"""Loads EC2's model once for all sessions, because that takes half a second."""

INSTANCE = Instance(id="i-1", type="t3.micro", az=ZONE, launched=NOW - 30 * DAY)


class World:
    """A simulated account, with one session that reads and one that requests changes."""

    def __init__(self, *volumes: Volume) -> None:
        self.fleet = Fleet(now=NOW, volumes=list(volumes or (VOLUME,)), instances=[INSTANCE])
        self.sim = Simulator(self.fleet)
        self.account = self.sim.account
        self.arn = f"arn:aws:ec2:{REGION}:{self.fleet.account}:volume/{ID}"
        self.resource = TrackedResource(
            arn=self.arn, id=ID, type="ebs-volume", name="old database", account=self.fleet.account, region=REGION
        )

    def __enter__(self) -> Self:
        self.sim.__enter__()
        endpoint = Endpoint(self.sim.url, "AKIADUMMY", "dummy")
        with patch.object(session, "create_loader", READ_ONCE):
            self.reading = AwsSession(meter=CallMeter(), endpoint=endpoint)
            self.asking = AwsSession(meter=CallMeter(), endpoint=endpoint, retries=NO_RETRIES)
            both = self.reading, self.asking
            for each in both:
                each.client("ec2", REGION)
        self.watcher, self.remover = EbsWatcher(self.reading), EbsRemover(self.asking)
        self.taker, self.sweeper = EbsBackupTaker(*both), EbsSweeper(*both)
        self.changer, self.restorer = EbsChanger(*both, lambda: self.now), EbsRestorer(*both, lambda: self.now)
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

    @property
    def volumes(self) -> list[Volume]:
        """Return the volumes that exist, without those that are being deleted."""
        return [one for one in self.account.fleet.volumes if self.account.exists(one.id)]

    @property
    def part(self) -> SubResource:
        """Return the sub-resource to delete."""
        return SubResource(kind="volume", id=ID, arn=self.arn)

    def backup(self, **more: Any) -> Backup:
        """Return a backup that is on record, but not requested yet."""
        subject = Subject(id=ID, size_bytes=200 * GIB)
        asked = {
            "subject": subject,
            "token": "f-1-1-0",
            "asked_at": self.now,
            "expires_at": self.now + timedelta(days=30),
        }
        return Backup(**{**asked, **more})

    def tags(self, backup: Backup) -> dict[str, str]:
        """Return the tags of a backup."""
        return {BACKUP_OF: self.arn, TOKEN: backup.token, EXPIRES_AT: f"{backup.expires_at:%Y-%m-%dT%H:%M:%SZ}"}

    def backed_up(self) -> Backup:
        """Return a backup that is complete and verified."""
        backup = self.backup()
        begun = self.taker.start(self.resource, backup, self.tags(backup))
        self.sim.advance(300)
        return replace(backup, state="verified", id=begun.id)

    def deleted(self, *backups: Backup, gone: bool = True, **more: Any) -> Cleanup:
        """Tag, record and delete the volume, and return the clean-up while it is being undone.

        If `gone`, wait until the deletion has ended.
        """
        self.account.tag(ID, CLEANUP_TAG, "f-1")
        look, recorded = self.watcher.look(self.resource), self.watcher.record(self.resource)
        assert look
        self.remover.remove(self.resource, self.part)
        if gone:
            self.sim.advance(60)
        described = {
            "finding_id": "f-1",
            "attempt": 1,
            "execution": "f-1-1",
            "detector": "ebs-unattached",
            "resource": self.resource,
            "owner": None,
            "fingerprint": "p",
            "setting": None,
            "requested_by": "slack:U1",
            "started_at": self.now,
            "promised_monthly_usd": None,
            "stage": "undoing",
            "born_at": look.born_at,
            "recorded": recorded,
            "backups": backups,
            "removals": (Removal(part=self.part, asked_at=self.now),),
            "undone": ActorNote(who="slack:U1", why="", at=self.now),
        }
        return Cleanup(**{**described, **more})

    def restored(self, cleanup: Cleanup, steps: int = 8, pause_s: int = 600) -> Restored:
        """Run the undo step by step, and return its result."""
        for _ in range(steps):
            restored = self.restorer.restore(cleanup)
            if restored.state != "running":
                return restored
            cleanup = replace(cleanup, restored=restored)
            self.sim.advance(pause_s)
        raise AssertionError(f"still running after {steps} steps: {restored}")
