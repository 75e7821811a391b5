"""For each kind: one AccessDenied, one throttled call, one answer lost after the call took effect, and one stale read.

The explorer tries every fault at every call, and checks the invariants. These tests also check how the clean-up ends.
"""

from typing import Final, Literal

import pytest

from support.cleanup_world import CHANGED, KINDS, World, world
from support.sub_resources import sub_resources

type Fault = Literal["denied", "throttled", "answer lost", "stale"]

THROTTLED: Final = {"ec2": "RequestLimitExceeded"}
"""The throttling error code, by service. All other services answer ThrottlingException."""
TIMES: Final = 3
"""How many consecutive calls are throttled or stale."""
FAULTS: Final[list[tuple[str, str, Fault]]] = [
    ("ebs", "ec2:CreateSnapshot", "denied"),
    ("ebs", "ec2:DeleteVolume", "answer lost"),
    ("efs", "backup:StartBackupJob", "answer lost"),
    ("efs", "elasticfilesystem:DeleteMountTarget", "throttled"),
    ("efs-orphaned", "elasticfilesystem:DescribeMountTargets", "stale"),
    ("efs-abandoned", "elasticfilesystem:DeleteFileSystem", "denied"),
    ("openzfs", "fsx:CreateBackup", "answer lost"),
    ("gp3", "ec2:ModifyVolume", "answer lost"),
    ("efs-throughput", "elasticfilesystem:UpdateFileSystem", "throttled"),
]


def fail(there: World, action: str, fault: Fault) -> None:
    """Let an action fail in this way."""
    faults = there.simulator.faults
    match fault:
        case "denied":
            faults.deny(action)
        case "throttled":
            faults.error(action, THROTTLED.get(action.partition(":")[0], "ThrottlingException"), 400, times=TIMES)
        case "answer lost":
            faults.lost_answer(action, times=1)
        case "stale":
            faults.lagging(action, times=TIMES)


@pytest.mark.parametrize(("kind", "action", "fault"), FAULTS)
def test_a_fault_loses_nothing_and_is_reported(kind: str, action: str, fault: Fault) -> None:
    with world(kind) as there:
        id_ = there.finding(kind).sighting.resource.id
        before = sub_resources(there.account, id_)
        fail(there, action, fault)
        calls = there.simulator.calls.get(action, 0)
        there.cleaned(kind)

        assert there.simulator.calls.get(action, 0) > calls, f"the clean-up of {kind} never called {action}"
        cleanup = there.cleanup(kind)
        assert cleanup.why
        if not there.account.exists(id_):
            assert cleanup.backups
            assert all(backup.state == "verified" for backup in cleanup.backups)
        elif kind not in CHANGED:
            assert sub_resources(there.account, id_) == before or cleanup.stage == "failed"
            assert cleanup.stage in {"called-off", "failed"}
        if fault != "denied":  # the other faults pass, and the clean-up reaches its end
            assert cleanup.stage == "done"


def test_each_kind_and_each_fault_is_tried() -> None:
    assert {kind for kind, _, _ in FAULTS} == {*KINDS}
    assert {fault for _, _, fault in FAULTS} == {*Fault.__value__.__args__}
