"""Clean-up of an EFS file system with as many access points as AWS allows, stored by the real adapters."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import pytest
from botocore.exceptions import ClientError

from slackwater.app.cleanup import delete as cleanup_delete
from slackwater.app.cleanup.case import LONGEST_WHY, Cases
from slackwater.app.cleanup.cleanups import not_undoable
from slackwater.aws.cleanup.efs import cleanup as cleanup_efs
from slackwater.aws.cleanup.efs import restore as cleanup_efs_restore
from slackwater.aws.store import cleanup_lists
from slackwater.model.cleanup import ACT_AFTER, CLEANUP_TAG, ActorNote, Cleanup, Restored
from slackwater.ports.errors import AwsError
from slackwater_simulator import Simulator
from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.resources import instant
from support import cleanup_world
from support.asl import MOST_EVENTS, Execution
from support.cleanup_world import ACCOUNT, GIB, NOW, POLICY, REGION, World, parse_policy, registry, wired
from support.encoded_cleanups import EncodedCleanups
from support.many_points import Points, line_of

type Race = Callable[["Large", str], None]
MANY = 60
"""More sub-resources than Slackwater deletes one by one."""


@dataclass
class Large:
    """A world with one idle file system, its access points and its stores."""

    there: World
    points: Points
    cleanups: EncodedCleanups
    id: str

    def begun(self) -> Execution:
        """Approve the finding and begin its clean-up."""
        finding = self.there.finding("efs")
        self.there.approve(finding)
        self.there.begin(finding)
        return self.there.execution(finding)

    def undone(self) -> Execution:
        finding = self.there.finding("efs")
        self.there.ask_undo(finding)
        return self.there.execution(finding).run()

    @property
    def calls(self) -> int:
        """Return the number of calls about access points so far."""
        return sum(self.points.calls.values())


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Large]]:
    @contextmanager
    def made(number: int, call_s: float = 0.0) -> Iterator[Large]:
        build = Builder(instant(NOW), REGION)
        build.file_system("old-media", zones="ac", standard_bytes=30 * GIB)
        with Simulator(build.fleet(ACCOUNT), port=cleanup_world.line().port) as simulator:
            points, stores = Points(simulator, call_s), list[EncodedCleanups]()
            for module in (cleanup_efs, cleanup_efs_restore):
                monkeypatch.setattr(module, "monotonic", lambda: points.now)
            known = line_of(points)
            monkeypatch.setattr(cleanup_world, "line", lambda: known)

            def stored(findings):
                stores.append(EncodedCleanups(findings))
                return stores[-1]

            there = wired(simulator, parse_policy(POLICY, "slackwater.toml", registry()), cleanups_of=stored)
            system = there.finding("efs").sighting.resource.id
            points.make(system, number)
            yield Large(there, points, stores[0], system)

    with ExitStack() as stack:

        def enter(*args, **options) -> Large:
            stack.close()  # one world at a time, because they share a port
            return stack.enter_context(made(*args, **options))

        yield enter


@pytest.mark.parametrize("number", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_however_many_access_points_it_has_it_is_cleaned_up_and_undone(large, capsys, number) -> None:
    # With the largest one, no step has time to tag, delete or create all access points.
    world = large(number, call_s=0.1)
    execution = world.begun().run()

    assert execution.status == "SUCCEEDED", (execution.error, execution.cause)
    cleanup = world.there.cleanup("efs")
    assert (cleanup.stage, cleanup.removed) == ("done", number + 2 + 1)
    assert not world.there.account.exists(world.id)
    assert world.points.of(world.id) == []
    whole = world.cleanups.whole(cleanup)
    assert {one.part.id for one in whole.removals} == {part.id for part in whole.parts}

    undo = world.undone()

    assert undo.status == "SUCCEEDED", (undo.error, undo.cause)
    undone = world.there.cleanup("efs")
    assert undone.stage == "undone"
    back = world.points.of(undone.restored.id)
    assert sorted(one.path for one in back) == sorted(f"/tenants/{n}" for n in range(number))
    assert len(world.cleanups.whole(undone).restored.differences) > number
    per_point = world.calls / number
    with capsys.disabled():
        print(
            f"\n{number:,} access points: largest item {world.cleanups.memory.largest:,} bytes, {per_point:.2f} calls "
            f"a point, {execution.events:,} events of the clean-up and {undo.events:,} of the undo"
        )
    assert world.cleanups.memory.largest < 100_000
    assert per_point <= 6
    assert max(execution.events, undo.events) < MOST_EVENTS / 10


# -- Between two full checks


@pytest.fixture
def short_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every non-empty list of a clean-up too long for its record."""
    monkeypatch.setattr(cleanup_lists, "MOST_BYTES", len("[]"))


def keep(world: Large, point: str) -> None:
    found = world.points.points[point]
    world.points.points[point] = replace(found, tags={**found.tags, "keep": "true"})


def unmark(world: Large, point: str) -> None:
    found = world.points.points[point]
    world.points.points[point] = replace(found, tags={k: v for k, v in found.tags.items() if k != CLEANUP_TAG})


def take_over(world: Large, point: str) -> None:
    found = world.points.points[point]
    world.points.points[point] = replace(found, tags={**found.tags, "efs.csi.aws.com/cluster": "true"})


def stop_all(world: Large, _: str) -> None:
    control = world.cleanups.control()
    note = ActorNote(who="ada", why="wait", at=world.there.now())
    assert world.cleanups.write_control(replace(control, stopped=note, revision=control.revision + 1))


def stop(world: Large, _: str) -> None:
    cleanup = world.there.cleanup("efs")
    note = ActorNote(who="ada", why="wait", at=world.there.now())
    assert world.cleanups.write(replace(cleanup, stopped=note, revision=cleanup.revision + 1))


@pytest.mark.usefixtures("short_records")
@pytest.mark.parametrize(
    ("race", "says"),
    [
        (keep, "a tag protects access-point fsap-0000000000000000a"),
        (unmark, f"somebody removed its tag: {CLEANUP_TAG} of its access-point fsap-0000000000000000a"),
        (take_over, "Kubernetes manages its access-point fsap-0000000000000000a"),
        (stop, "ada stopped it: wait"),
        (stop_all, "ada stopped all clean-ups: wait"),
    ],
)
def test_what_speaks_against_it_while_many_parts_go_stops_it_before_the_next_one(large, race: Race, says: str) -> None:
    world = large(MANY)
    doomed = sorted(world.points.points)[10]

    def before(operation: str) -> None:
        if operation == "DeleteAccessPoint" and world.points.calls[operation] == 9:  # the tenth deletion follows
            race(world, doomed)

    world.points.before = before
    execution = world.begun()
    execution.run()

    assert (execution.status, execution.trace[-1]) == ("SUCCEEDED", "CalledOff")
    assert world.points.calls["DeleteAccessPoint"] == 10
    cleanup = world.there.cleanup("efs")
    assert says in cleanup.why
    assert "asked AWS to delete" not in cleanup.why
    removed = world.cleanups.whole(cleanup).removals
    assert [one.part.id for one in removed] == sorted(world.points.points)[:10]
    (ended,) = [entry for entry in world.there.findings.entries if entry.happening == "called-off"]
    assert ended.why.count("access-point fsap-") == 10 + (race not in {stop, stop_all})
    assert sorted(one.path for one in world.points.of(world.id)) == sorted(f"/tenants/{n}" for n in range(MANY))
    assert not [one for one in world.points.of(world.id) if {CLEANUP_TAG, ACT_AFTER} & one.tags.keys()]


@pytest.mark.usefixtures("short_records")
def test_a_call_that_is_refused_among_many_is_the_last_on_record_and_what_had_gone_comes_back(large) -> None:
    world = large(MANY)

    def before(operation: str) -> None:
        if operation == "DeleteAccessPoint" and world.points.calls[operation] >= 10:
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, operation)

    world.points.before = before
    execution = world.begun().run()

    cleanup = world.cleanups.whole(world.there.cleanup("efs"))
    assert (execution.status, cleanup.stage) == ("FAILED", "failed")
    assert [one.part.id for one in cleanup.removals] == sorted(world.points.points)[:11]
    assert "and 1 more" in cleanup.why
    assert len(world.points.of(world.id)) == MANY


def test_a_part_that_somebody_else_deletes_meanwhile_is_no_reason_to_stop_and_no_removal(large) -> None:
    world = large(MANY)
    theirs = sorted(world.points.points)[10]

    def before(operation: str) -> None:
        if operation == "DeleteAccessPoint" and world.points.calls[operation] == 9:
            found = world.points.points[theirs]
            world.points.points[theirs] = replace(found, gone_at=world.points.now)

    world.points.before = before
    assert world.begun().run().status == "SUCCEEDED"
    cleanup = world.cleanups.whole(world.there.cleanup("efs"))
    assert cleanup.stage == "done"
    assert theirs not in {one.part.id for one in cleanup.removals}
    assert cleanup.removed == MANY - 1 + 2 + 1


# -- More than a step has time for


def test_tags_access_points_and_deletions_that_take_longer_than_a_step_go_on_in_the_next(large, monkeypatch) -> None:
    # Before each of the last few deletions everything is checked, which takes long.
    monkeypatch.setattr(cleanup_delete, "FEW", 2)
    world = large(MANY, call_s=15)
    execution = world.begun().run()

    assert (execution.status, world.there.cleanup("efs").stage) == ("SUCCEEDED", "done")
    raised = [(call.state, call.raised) for call in execution.calls if call.raised]
    assert ("MarkAndWarn", "BusyError") in raised
    assert {error for _, error in raised} == {"BusyError"}, "no step took longer than its function may"
    assert world.points.calls["TagResource"] == MANY, "tagged once each"
    assert sum(call.state == "Delete" for call in execution.calls) > MANY * 30 / 600

    undo = world.undone()

    assert undo.status == "SUCCEEDED"
    assert {call.raised for call in undo.calls} == {None}
    assert world.points.calls["CreateAccessPoint"] == MANY
    assert sum(call.state == "Restore" for call in undo.calls) > MANY * 15 / 600


def test_a_tag_that_takes_long_to_remove_is_removed_at_the_end(large) -> None:
    world = large(MANY)
    execution = world.begun()
    while execution.checkpoint.state != "CheckGrace":
        execution.step()
    stop(world, "")
    world.points.call_s = 15

    assert execution.run().status == "SUCCEEDED"
    assert world.there.cleanup("efs").stage == "called-off"
    assert not [one for one in world.points.of(world.id) if {CLEANUP_TAG, ACT_AFTER} & one.tags.keys()]
    assert world.points.calls["UntagResource"] == MANY
    assert [call.raised for call in execution.calls if call.state == "CallOff"] == ["BusyError", None]


# -- Crashes and lost lists


class Dies(BaseException):
    """The worker died. Nothing catches this."""


@pytest.mark.slow
@pytest.mark.usefixtures("short_records")
def test_a_worker_that_dies_between_a_list_and_the_record_that_names_it_loses_neither(large, monkeypatch) -> None:
    monkeypatch.setattr(cleanup_lists, "SHOWN", 1)
    lists = _dying(large, 0)
    assert lists > 5
    for at in range(1, lists + 1):
        assert _dying(large, at) >= at


def _dying(large, at: int) -> int:
    world, known = large(3), set[str]()
    write = world.cleanups.bucket.write

    def stored(key: str, text: str) -> str:
        version = write(key, text)
        new = key not in known
        known.add(key)
        if new and len(known) == at:
            raise Dies
        return version

    world.cleanups.bucket.write = stored
    for execution in (world.begun(), None):
        here = execution or _undo(world)
        _again(here.run)
        assert here.status == "SUCCEEDED", (at, here.error, here.cause)
    cleanup = world.there.cleanup("efs")
    assert cleanup.stage == "undone"
    whole = world.cleanups.whole(cleanup)
    assert {part.id for part in whole.parts} == {one.part.id for one in whole.removals}
    assert sorted(one.path for one in world.points.of(cleanup.restored.id)) == [f"/tenants/{n}" for n in range(3)]
    return len(known)


def _undo(world: Large) -> Execution:
    finding = world.there.finding("efs")
    world.there.ask_undo(finding)
    return world.there.execution(finding)


def _again(run: Callable[[], object]) -> None:
    try:
        run()
    except Dies:
        run()


@pytest.mark.usefixtures("short_records")
def test_without_its_lists_it_still_fails_lets_go_and_can_be_undone_once_they_are_back(large) -> None:
    world = large(3)
    execution = world.begun()
    while not world.there.cleanup("efs").removals:
        execution.step()
    texts, world.cleanups.bucket.texts = world.cleanups.bucket.texts, {}

    execution.run()

    failed = world.there.cleanup("efs")
    assert (execution.status, failed.stage) == ("FAILED", "failed")
    assert "are missing: restore the object cleanups/" in failed.why
    assert world.cleanups.holder(failed.resource.arn) is None
    assert not_undoable(failed) is None
    with pytest.raises(AwsError, match="are missing"):
        world.cleanups.whole(failed)

    world.cleanups.bucket.texts = texts
    assert world.undone().status == "SUCCEEDED"
    assert len(world.points.of(world.id)) == 3


@pytest.mark.usefixtures("short_records")
def test_it_can_be_stopped_without_its_lists(large) -> None:
    world = large(3)
    execution = world.begun()
    while execution.checkpoint.state != "CheckGrace":
        execution.step()
    stop(world, "")
    world.cleanups.bucket.texts = {}

    execution.run()

    cleanup: Cleanup = world.there.cleanup("efs")
    assert cleanup.stage in {"called-off", "failed"}
    assert world.cleanups.holder(cleanup.resource.arn) is None


def test_what_aws_refuses_of_ten_thousand_parts_is_a_short_reason(large) -> None:
    world = large(0)
    cleanup = world.there.begin(world.there.finding("efs"))
    why = "; ".join(f"its access point fsap-{n} could not be restored: AccessDenied" for n in range(10_000))
    cases = Cases(store=world.cleanups, findings=world.there.findings, clock=world.there.now)

    restored = Restored(state="failed", why=why, differences=tuple(f"fsap-{n} is new" for n in range(10_000)))
    cases.failed(replace(cleanup, restored=restored), why)
    recorded, _ = cases.record_event(cases.get(cleanup.finding_id, cleanup.execution), "failed", why, status="failed")

    entry = world.there.findings.entries[-1]
    assert [len(one) for one in (recorded.why, recorded.restored.why, entry.why)] == [LONGEST_WHY] * 3
    assert world.cleanups.memory.largest < 20_000
    assert (
        world.there.cleanup("efs")
        .restored.differences[-1]
        .startswith("9,990 more: the bucket has all of them at cleanups/")
    )
