"""A deleted volume is restored from its snapshot once, with its data. The clean-up reports every difference."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta

import pytest

from slackwater.aws.cleanup.ebs.restore import KEY_ACTIONS, RESTORER_ACTIONS
from slackwater.model.cleanup import ACT_AFTER, CLEANUP_TAG, RESTORED_FROM, Restored
from slackwater.ports.errors import AwsError
from support.ebs_world import ID, KEY, REGION, VOLUME, World

CREATE = "ec2:CreateVolume"


@pytest.fixture
def of() -> Iterator[Callable[..., World]]:
    with ExitStack() as stack:
        yield lambda *volumes: stack.enter_context(World(*volumes))


@pytest.fixture
def world(of) -> World:
    return of()


@pytest.mark.parametrize(
    "volume",
    [
        VOLUME,
        replace(VOLUME, type="gp2", iops=None, throughput=None),
        replace(VOLUME, type="io2", throughput=None, multi_attach=True),
        replace(VOLUME, type="st1", iops=None, throughput=None, encrypted=False, kms_key=""),
    ],
    ids=lambda volume: volume.type,
)
def test_it_comes_back_as_it_was_with_what_it_held_but_for_its_id(of, volume) -> None:
    world = of(volume)
    held = world.account.contents(ID)
    cleanup = world.deleted(world.backed_up())
    before = world.asked
    restored = world.restored(cleanup)
    (made,) = world.volumes
    assert (restored.state, restored.id, restored.arn) == ("done", made.id, world.arn.replace(ID, made.id))
    assert world.account.contents(made.id) == held
    same = ("az", "size_gib", "type", "iops", "throughput", "multi_attach", "encrypted")
    assert [getattr(made, name) for name in same] == [getattr(volume, name) for name in same]
    assert (made.kms_key or None) == (volume.kms_key or None)
    snapshot = cleanup.backups[0].id
    assert made.tags == {**VOLUME.tags, "slackwater:restored-from": snapshot}
    assert restored.differences == (
        f"its id is {made.id}, not {ID}: change everything that refers to the old id",
        f"it reads slowly until each block was fetched from {snapshot} once",
        "it has a tag slackwater:restored-from",
    )
    assert world.asked - before <= RESTORER_ACTIONS
    assert world.asked | {"ec2:CreateTags"} >= RESTORER_ACTIONS - KEY_ACTIONS


def test_reserved_tags_and_the_cleanup_tag_are_not_restored_and_only_the_reserved_are_reported(of) -> None:
    world = of(replace(VOLUME, tags={"aws:backup:x": "y", "team": "web", CLEANUP_TAG: "f-1", ACT_AFTER: "then"}))
    restored = world.restored(world.deleted(world.backed_up()))
    (made,) = world.volumes
    assert made.tags.keys() == {"team", "slackwater:restored-from"}
    assert "it lacks the tags aws:backup:x (AWS keeps names that begin with aws: to itself)" in restored.differences


def test_differences_after_a_restore_are_reported(world) -> None:
    cleanup = world.deleted(world.backed_up())
    first = world.restorer.restore(cleanup)
    world.account.put(replace(world.account.find(first.id), iops=3_000, tags={"team": "ours"}))
    restored = world.restored(replace(cleanup, restored=first))
    assert "its IOPS is 3000, not 4000" in restored.differences
    assert "it lacks the tags Name, team" in restored.differences


def test_where_it_is_still_there_and_was_not_to_go_nothing_is_done(world) -> None:
    cleanup = world.deleted(world.backed_up(), removals=())
    world.account.put(VOLUME)
    assert world.restorer.restore(cleanup) == Restored(state="done", id=ID, arn=world.arn)
    assert CREATE not in world.asked


def test_where_it_was_to_go_it_is_still_there_only_once_it_was_seen_twice(world) -> None:
    """EC2 can still show a deleted volume for a while."""
    cleanup = world.deleted(world.backed_up())
    world.account.put(VOLUME)
    first = world.restorer.restore(cleanup)
    assert first == Restored(state="running", id=ID, arn=world.arn)
    assert world.restorer.restore(replace(cleanup, restored=first)) == Restored(state="done", id=ID, arn=world.arn)
    assert CREATE not in world.asked
    world.account.remove(ID)
    assert world.restored(replace(cleanup, restored=first)).id != ID


def test_what_is_being_deleted_or_is_another_of_the_same_id_is_not_there(world) -> None:
    backup = world.backed_up()
    cleanup = world.deleted(backup, gone=False)
    assert world.restorer.restore(cleanup).id not in {None, ID}
    other = replace(cleanup, born_at=cleanup.born_at - timedelta(days=1))
    world.account.put(VOLUME)
    assert world.restorer.restore(other).id not in {None, ID}


def test_dying_after_it_was_asked_for_makes_no_second_one(world) -> None:
    cleanup = world.deleted(world.backed_up())
    world.sim.faults.lost_answer(CREATE)
    with pytest.raises(AwsError):
        world.restorer.restore(cleanup)
    assert world.sim.calls[CREATE] == 1
    world.sim.faults.clear()
    assert world.restored(cleanup).state == "done"
    assert len(world.volumes) == 1


def test_one_that_does_not_show_yet_is_asked_for_by_the_same_token(world) -> None:
    cleanup = world.deleted(world.backed_up())
    ids = []
    for _ in range(2):
        world.sim.faults.lagging("ec2:DescribeVolumes", times=9)
        ids.append(world.restorer.restore(cleanup).id)
        world.sim.faults.clear()
    assert ids[0] == ids[1]
    assert len(world.volumes) == 1
    assert world.sim.calls[CREATE] == 2


def test_one_that_was_made_is_found_even_where_the_token_is_forgotten(world) -> None:
    cleanup = world.deleted(world.backed_up())
    first = world.restorer.restore(cleanup)
    world.account.forget("ec2-volume-tokens", next(iter(world.account.table("ec2-volume-tokens"))))
    assert world.restorer.restore(cleanup) == first
    assert len(world.volumes) == 1


def test_a_volume_to_which_somebody_copied_the_tag_is_not_taken_for_the_restored_one(world) -> None:
    cleanup = world.deleted(world.backed_up())
    other = replace(
        VOLUME, id="vol-0dddddddddddddddd", tags={RESTORED_FROM: cleanup.backups[0].id}, snapshot_id="snap-1"
    )
    world.account.put(other)

    assert world.restorer.restore(cleanup).id != other.id


def test_it_is_not_done_while_it_is_being_made(world) -> None:
    cleanup = world.deleted(world.backed_up())
    first = world.restorer.restore(cleanup)
    known = replace(cleanup, restored=first)
    assert world.restorer.restore(known) == first
    world.sim.advance(10)
    assert world.restorer.restore(known).state == "done"


def test_one_that_never_shows_was_given_up_and_the_next_undo_makes_another(world) -> None:
    cleanup = world.deleted(world.backed_up())
    first = world.restorer.restore(cleanup)
    world.account.remove(first.id)
    known = replace(cleanup, restored=first)
    assert world.restorer.restore(known) == first
    world.sim.advance(3_600)
    failed = world.restorer.restore(known)
    assert (failed.state, failed.id) == ("failed", first.id)
    assert "may its KMS key be used" in failed.why
    again = world.restored(replace(cleanup, restored=failed))
    assert again.state == "done"
    assert again.id != first.id


def test_one_in_error_was_given_up(world) -> None:
    cleanup = world.deleted(world.backed_up())
    first = world.restorer.restore(cleanup)
    world.account.put(replace(world.account.find(first.id), phase="error"))
    failed = world.restorer.restore(replace(cleanup, restored=first))
    assert failed.state == "failed"
    assert world.restorer.restore(replace(cleanup, restored=failed)).id != first.id


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"backups": ()}, "there is no verified backup of it"),
        ({"backups": (), "scratch": True}, "it was deleted without a backup"),
        ({"recorded": None}, "what it was like was not recorded"),
    ],
)
def test_what_cannot_come_back_says_why(world, change, why) -> None:
    cleanup = replace(world.deleted(world.backed_up()), **change)
    assert world.restorer.restore(cleanup) == Restored(state="failed", why=why)
    assert CREATE not in world.asked


def test_a_backup_that_was_not_verified_is_none(world) -> None:
    cleanup = world.deleted(replace(world.backed_up(), state="complete"))
    assert world.restorer.restore(cleanup).state == "failed"


@pytest.mark.parametrize("action", [CREATE, "ec2:DescribeVolumes"])
def test_what_ec2_does_not_say_is_an_error(world, action) -> None:
    cleanup = world.deleted(world.backed_up())
    world.sim.faults.deny(action)
    with pytest.raises(AwsError, match="Not allowed"):
        world.restorer.restore(cleanup)


def test_its_own_key_is_named_and_not_left_to_ec2(world) -> None:
    asked = []
    events = world.asking.client("ec2", REGION).meta.events
    events.register("provide-client-params.ec2.CreateVolume", lambda params, **_: asked.append(params))
    world.restorer.restore(world.deleted(world.backed_up()))
    assert [(one["Encrypted"], one["KmsKeyId"]) for one in asked] == [(True, KEY)]
    assert len(asked[0]["ClientToken"]) <= 64, "more than EC2 takes"
