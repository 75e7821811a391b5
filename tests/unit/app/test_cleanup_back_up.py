"""What a backup says of itself."""

from slackwater.app.cleanup_back_up import NAME_CHARACTERS, legal, tags
from slackwater.model.cleanup import BACKUP_OF, EXPIRES_AT, OWNER, RESTORE, TOKEN, Backup, Cleanup, Subject
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
    backup = Backup(subject=Subject(id="vol-1", size_bytes=1), token="f1-1-0", asked_at=CASE_NOW, expires_at=CASE_NOW)

    assert tags(cleanup, backup) == {
        "Name": f"{'x' * NAME_CHARACTERS} before it was deleted",
        BACKUP_OF: ARN,
        TOKEN: "f1-1-0",
        EXPIRES_AT: "2026-11-16T09:00:00Z",
        RESTORE: "slackwater cleanup undo f1",
        OWNER: "data and others",
    }
