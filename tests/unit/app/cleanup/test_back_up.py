"""The tags of a backup, and how Slackwater recognizes its backups."""

from dataclasses import replace
from datetime import timedelta

from slackwater.app.cleanup.back_up import NAME_CHARACTERS, legal, made_for, tags
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
)
from slackwater.model.detector import CASE_NOW
from slackwater.model.tracking import TrackedResource

ARN = "arn:aws:ec2:us-east-1:123456789012:volume/vol-1"


def test_a_value_is_what_every_service_takes() -> None:
    assert legal("films (tokyo), \u201cday\u201d shift") == "films tokyo day shift"
    assert legal("arn:aws:fsx:r:1:file-system/fs-1=a+b@c_d") == "arn:aws:fsx:r:1:file-system/fs-1=a+b@c_d"
    assert legal("映像 é 1") == "映像 é 1"
    assert len(legal("x" * 300)) == 256


def test_a_backup_says_of_what_it_is_for_whom_how_long_and_how_to_restore_it() -> None:
    resource = TrackedResource(arn=ARN, id="vol-1", type="ebs-volume", name="x" * 255, account="1", region="us-east-1")
    cleanup = Cleanup(
        finding_id="f1",
        attempt=1,
        execution="f1-1",
        detector="ebs-unattached",
        resource=resource,
        owner="data, and (others)",
        fingerprint="p",
        setting=None,
        requested_by="x",
        started_at=CASE_NOW,
        promised_monthly_usd=None,
    )
    backup = Backup(
        subject=Subject(id="vol-1", size_bytes=1),
        token="f1-1-0",
        asked_at=CASE_NOW,
        expires_at=CASE_NOW,
        installation="here",
    )

    assert tags(cleanup, backup) == {
        "Name": f"{'x' * NAME_CHARACTERS} before it was deleted",
        BACKUP_OF: ARN,
        TOKEN: "f1-1-0",
        EXPIRES_AT: "2026-11-16T09:00:00Z",
        RESTORE: "slackwater cleanup undo f1",
        INSTALLATION: "here",
        OWNER: "data and others",
    }


class TestWhatAwsMade:
    BACKUP = Backup(
        subject=Subject(id="vol-1", size_bytes=1),
        token="7f3a",
        asked_at=CASE_NOW,
        expires_at=CASE_NOW,
        installation="here",
    )
    FIRST = Copy(
        id="snap-1", of="vol-1", state="complete", size_bytes=1, made_at=CASE_NOW, token="7f3a", tags={BACKUP_OF: ARN}
    )
    SECOND = replace(FIRST, id="snap-2", made_at=CASE_NOW + timedelta(minutes=12))

    def made(self, *copies: Copy, **backup: object) -> list[str | None]:
        return [one.id for one in made_for(replace(self.BACKUP, **backup), copies, ARN)]

    def test_of_a_request_that_was_sent_once_is_one_backup_and_what_is_younger_is_somebodys_copy(self) -> None:
        assert self.made(self.SECOND, self.FIRST) == ["snap-1"]

    def test_of_a_request_that_was_sent_twice_there_may_be_two(self) -> None:
        third = replace(self.SECOND, id="snap-3", made_at=CASE_NOW + timedelta(hours=1))
        assert self.made(third, self.SECOND, self.FIRST, asked=2) == ["snap-1", "snap-2"]

    def test_what_is_on_record_comes_first_and_what_failed_last(self) -> None:
        assert self.made(self.FIRST, self.SECOND, asked=2, id="snap-2") == ["snap-2", "snap-1"]
        assert self.made(replace(self.FIRST, state="failed"), self.SECOND, asked=2) == ["snap-2", "snap-1"]

    def test_what_only_looks_like_it_is_left_out(self) -> None:
        assert self.made(replace(self.FIRST, token="f1-1-0"), replace(self.FIRST, tags={})) == []
