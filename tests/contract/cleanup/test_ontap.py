"""FSx for ONTAP is found and never deleted. Clean-ups that older versions began end without further deletions."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest

from slackwater.app.cleanup.cleanups import not_undoable
from slackwater.app.policy.file import parse_policy
from slackwater.engine.cleanup import approval_blocker
from slackwater.engine.registry import registry
from slackwater.model.cleanup import (
    ACT_AFTER,
    CLEANUP_TAG,
    ONTAP_STAYS,
    Backup,
    Cleanup,
    Removal,
    Subject,
    SubResource,
    Tagging,
)
from slackwater.model.tracking import TrackedFinding
from slackwater_simulator import Simulator
from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import GIB, instant
from support.asl import Checkpoint, Execution
from support.cleanup_world import ACCOUNT, NOW, POLICY, REGION, World, line, wired

WAITING: Final = ("LoadFinding", "Recheck", "MarkAndWarn", "CheckGrace", "CheckApproval", "RecheckApproved")
NOT_BACKED_UP: Final = ("LoadFinding", "Preflight", "BackUp")
BACKED_UP: Final = ("LoadFinding", "BackUp", "LookAtBackup", "VerifyBackup", "RecheckBackedUp", "Delete")
"""The states in which an execution can be when its clean-up is at that stage."""

RESTORES_NOTHING: Final = (
    "Slackwater does not restore FSx for ONTAP file systems; aws fsx create-volume-from-backup restores a volume from"
)


@pytest.fixture
def there() -> Iterator[World]:
    """Provide an idle ONTAP file system whose finding an older version marked for deletion, and which is approved."""
    build = Builder(instant(NOW), REGION)
    build.server("quiet-ontap", "ONTAP", "SINGLE_AZ_1", storage_gib=1_024, throughput=128, volumes=("home", "projects"))
    with Simulator(build.fleet(ACCOUNT), port=line().port) as simulator:
        there = wired(simulator, parse_policy(POLICY, "slackwater.toml", registry()))
        found = only(there)
        there.findings.findings[found.id] = replace(found, sighting=replace(found.sighting, deletes=True))
        there.approve(only(there))
        yield there


def only(there: World) -> TrackedFinding:
    (found,) = there.findings.findings.values()
    return found


def record(there: World) -> Cleanup:
    return there.cleanups.cleanups[only(there).id]


def volumes(there: World) -> list[str]:
    return sorted(one.id for one in there.account.fleet.fsx_volumes if there.account.exists(one.id))


def marked(there: World) -> list[str]:
    """Return the ids of all resources that carry the clean-up tag or its date."""
    fleet = there.account.fleet
    return [
        one.id for one in (*fleet.fsx, *fleet.fsx_volumes, *fleet.svms) if {CLEANUP_TAG, ACT_AFTER} & one.tags.keys()
    ]


def mark(there: World) -> Cleanup:
    """Begin the clean-up and tag the file system, its volumes and its SVM, as an older version did."""
    cleanup, fleet = there.begin(only(there)), there.account.fleet
    (system,), (machine,) = fleet.fsx, fleet.svms
    base = f"arn:aws:fsx:{REGION}:{ACCOUNT}"
    parts = [SubResource(kind="fsx-volume", id=id_, arn=f"{base}:volume/{system.id}/{id_}") for id_ in volumes(there)]
    parts.append(
        SubResource(
            kind="storage-virtual-machine",
            id=machine.id,
            arn=f"{base}:storage-virtual-machine/{system.id}/{machine.id}",
        )
    )
    parts.append(SubResource(kind="file-system", id=system.id, arn=cleanup.resource.arn))
    for part in parts:
        there.account.tag(part.id, CLEANUP_TAG, cleanup.finding_id)
        there.account.tag(part.id, ACT_AFTER, "2026-11-18T09:00:00Z")
    now = there.now()
    return stored(
        there,
        replace(
            cleanup,
            stage="waiting",
            parts=tuple(parts),
            children=tuple(part.id for part in parts[:-1]),
            recorded={
                "system": {"FileSystemType": "ONTAP"},
                "machines": [{"Name": "svm"}],
                "volumes": [],
                "children": [],
            },
            marked=Tagging(at=now - timedelta(days=2), act_after=now - timedelta(minutes=1), tagged=True),
        ),
    )


def working(there: World) -> Cleanup:
    """Return the clean-up at the end of its grace period."""
    cleanup = mark(there)
    found = only(there)
    there.findings.findings[found.id] = replace(found, status="cleaning", revision=found.revision + 1)
    return stored(there, replace(cleanup, stage="working"))


def backed_up(there: World) -> Cleanup:
    """Return the clean-up with a verified backup of each volume."""
    cleanup, client = working(there), line().once.client("fsx", REGION)
    backups = []
    for n, id_ in enumerate(volumes(there)):
        expires_at = there.now() + timedelta(days=90)
        token = f"{cleanup.execution}-{n}"
        tags: Any = {
            "slackwater:backup-of": cleanup.resource.arn,
            "slackwater:token": token,
            "slackwater:expires-at": f"{expires_at:%Y-%m-%dT%H:%M:%SZ}",
        }
        tags = [{"Key": key, "Value": value} for key, value in tags.items()]
        made = client.create_backup(VolumeId=id_, ClientRequestToken=token, Tags=tags)["Backup"]["BackupId"]
        subject = Subject(id=id_, size_bytes=512 * GIB)
        backups.append(
            Backup(subject=subject, token=token, asked_at=there.now(), expires_at=expires_at, state="verified", id=made)
        )
    there.simulator.advance(1_000)
    return stored(there, replace(cleanup, backups=tuple(backups)))


def half_deleted(there: World) -> Cleanup:
    """Return the clean-up after its first volume was deleted."""
    cleanup = backed_up(there)
    there.account.remove(cleanup.parts[0].id)
    removal = Removal(part=cleanup.parts[0], asked_at=there.now())
    return stored(there, replace(cleanup, has_turn=True, removals=(removal,)))


def stored(there: World, cleanup: Cleanup) -> Cleanup:
    written = replace(cleanup, revision=cleanup.revision + 1)
    assert there.cleanups.write(written)
    return written


def run(there: World, state: str) -> Execution:
    """Run an execution that an older version began, from this state on."""
    execution = there.execution(only(there))
    data = {"finding_id": only(there).id, "begun": {"answer": {"outcome": "go", "kind": "delete"}}}
    execution.checkpoint = Checkpoint(state, data)
    return execution.run()


def nothing_was_done(there: World) -> None:
    """Check that neither the clean-up nor its undo created, changed or deleted anything in FSx."""
    assert not [
        call for call in there.simulator.calls if call.startswith("fsx:") and ("Delete" in call or "Update" in call)
    ]
    assert not [call for call in there.simulator.calls if call.startswith("fsx:CreateFileSystem")]


# -- What this version finds


def test_it_is_found_and_its_advice_is_not_for_a_program(there: World) -> None:
    found = only(wired(there.simulator, there.policy))

    assert found.sighting.detector == "fsx-idle"
    assert found.sighting.monthly_savings_usd
    assert not found.sighting.deletes
    assert approval_blocker(found.sighting, there.policy.cleanup) == ONTAP_STAYS


# -- What older versions began


@pytest.mark.parametrize("state", WAITING)
def test_a_waiting_clean_up_is_cancelled_and_all_its_tags_are_removed(there: World, state: str) -> None:
    mark(there)

    execution = run(there, state)

    assert execution.status == "SUCCEEDED", (execution.error, execution.cause)
    assert (record(there).stage, record(there).why) == ("called-off", ONTAP_STAYS)
    assert only(there).status == "open"
    assert marked(there) == []
    assert there.account.backups() == []
    nothing_was_done(there)


@pytest.mark.parametrize("state", NOT_BACKED_UP)
def test_one_that_was_about_to_be_backed_up_is_called_off(there: World, state: str) -> None:
    working(there)

    execution = run(there, state)

    assert execution.status == "SUCCEEDED", (execution.error, execution.cause)
    assert (record(there).stage, record(there).why) == ("called-off", ONTAP_STAYS)
    assert marked(there) == []
    assert there.account.backups() == []
    nothing_was_done(there)


@pytest.mark.parametrize("state", BACKED_UP)
def test_one_that_was_backed_up_is_called_off_and_its_backups_are_swept_once_expired(there: World, state: str) -> None:
    backups = [one.id for one in backed_up(there).backups]

    execution = run(there, state)

    assert execution.status == "SUCCEEDED", (execution.error, execution.cause)
    assert (record(there).stage, record(there).why) == ("called-off", ONTAP_STAYS)
    assert marked(there) == []
    assert len(volumes(there)) == 2
    nothing_was_done(there)
    there.simulator.advance(2 * 86_400)
    assert there.sweep.sweep().deleted == ()
    there.simulator.advance(400 * 86_400)
    assert [id_ for id_, _ in there.sweep.sweep().deleted] == backups


@pytest.mark.parametrize("state", ["LoadFinding", "Delete", "RecheckBackedUp"])
def test_one_that_was_half_deleted_fails_and_its_backups_stay_until_they_expire(there: World, state: str) -> None:
    cleanup = half_deleted(there)
    (gone, _), ids = cleanup.backups, [one.id for one in cleanup.backups]

    run(there, state)

    ended = record(there)
    assert ended.stage == "failed"
    assert ended.why.startswith(f"not restored: fsx-volume {cleanup.parts[0].id}; {RESTORES_NOTHING}")
    assert f"{gone.id} of {gone.subject.id} until 2027-02-14" in ended.why
    assert "cleanup undo" not in ended.why
    called_off = [entry.why for entry in there.findings.entries if entry.happening == "called-off"]
    assert [why.startswith(ONTAP_STAYS) for why in called_off] == [True]
    assert only(there).status == "failed"
    assert marked(there) == []
    assert len(volumes(there)) == 1
    nothing_was_done(there)
    there.simulator.advance(89 * 86_400)
    assert there.sweep.sweep().deleted == ()
    there.simulator.advance(2 * 86_400)
    assert [id_ for id_, _ in there.sweep.sweep().deleted] == ids


@pytest.mark.parametrize("state", ["LoadFinding", "Delete"])
def test_one_that_is_not_known_to_be_ontap_by_its_finding_is_called_off_at_a_look(there: World, state: str) -> None:
    backed_up(there)
    found = only(there)
    there.findings.findings[found.id] = replace(found, sighting=replace(found.sighting, summary="nobody uses it"))

    assert run(there, state).status == "SUCCEEDED"

    assert (record(there).stage, record(there).why) == ("called-off", ONTAP_STAYS)
    nothing_was_done(there)


def test_one_that_fsx_is_deleting_is_waited_for_and_on_record_as_deleted(there: World) -> None:
    cleanup = backed_up(there)
    (system,) = there.account.fleet.fsx
    there.account.put(replace(system, phase="DELETING"))
    there.account.after(900, lambda: there.account.remove(system.id))
    stored(there, replace(cleanup, removals=tuple(Removal(part=part, asked_at=there.now()) for part in cleanup.parts)))

    assert run(there, "Delete").status == "SUCCEEDED"

    assert record(there).stage == "done"
    assert "deleted; its data is in backup-" in record(there).why
    assert str(not_undoable(record(there))).startswith(RESTORES_NOTHING)
    nothing_was_done(there)


@pytest.mark.parametrize("gone", [True, False])
def test_an_undo_that_an_older_version_began_fails_and_names_the_backups(there: World, *, gone: bool) -> None:
    cleanup = half_deleted(there)
    if gone:
        there.account.remove(cleanup.resource.id)
    stored(there, replace(cleanup, stage="done", has_turn=False, ended_at=there.now()))
    there.ask_undo(only(there))

    assert there.execution(only(there)).run().status == "FAILED"

    assert record(there).stage == "failed"
    assert record(there).why.startswith("not restored: fsx-volume ")
    assert f"; the undo failed: {RESTORES_NOTHING}" in record(there).why
    assert str(not_undoable(record(there))).startswith(RESTORES_NOTHING)
    nothing_was_done(there)
