"""What a deletion refuses before it calls AWS."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from slackwater.app.cleanup.case import UnsafeError
from slackwater.app.cleanup.delete import Delete
from slackwater.model.cleanup import Backup, Cleanup, Subject, SubResource
from slackwater.model.detector import CASE_NOW
from slackwater.model.tracking import TrackedResource

VOLUME = TrackedResource(
    arn="arn:vol-1", id="vol-1", type="ebs-volume", name="scratch", account="123456789012", region="eu-west-1"
)
BACKUP = Backup(
    subject=Subject(id="vol-1", size_bytes=1), token="7f3a", asked_at=CASE_NOW, expires_at=CASE_NOW, state="verified"
)
WORKING = Cleanup(
    finding_id="f-1", attempt=1, execution="f-1-1", detector="ebs-unattached", resource=VOLUME, owner=None,
    fingerprint="abc", setting=None, requested_by="ada", started_at=CASE_NOW, promised_monthly_usd=None, revision=1,
    stage="working", parts=(SubResource(kind="volume", id="vol-1", arn=None),), backups=(BACKUP,),
)  # fmt: skip


def refused(cleanup: Cleanup) -> str:
    """Return why the deletion is refused. Using anything except the record raises another kind of error."""
    cases: Any = SimpleNamespace(get=lambda *_: cleanup)
    nothing: Any = None
    everything = dict.fromkeys(Delete.__dataclass_fields__, nothing) | {"cases": cases}
    with pytest.raises(UnsafeError) as error:
        Delete(**everything).delete("f-1", "f-1-1")
    return str(error.value)


@pytest.mark.parametrize(
    "backups", [(), (replace(BACKUP, state="running"),), (BACKUP, replace(BACKUP, state="failed"))]
)
def test_without_a_verified_backup_of_everything_nothing_is_deleted(backups: tuple[Backup, ...]) -> None:
    assert refused(replace(WORKING, backups=backups)) == "it has no verified backup"


@pytest.mark.parametrize("stage", ["waiting", "called-off", "done", "undoing"])
def test_only_a_clean_up_at_work_deletes(stage: Any) -> None:
    assert refused(replace(WORKING, stage=stage)) == f"the clean-up is {stage}: it has nothing to delete"
