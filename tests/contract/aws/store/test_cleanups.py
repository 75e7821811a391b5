"""Clean-ups in the template's table: one per finding, one at a time per resource, and no write overwrites another."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from botocore.exceptions import ClientError

from slackwater.aws.deployment.cleanup_starter import StateMachineCleanups
from slackwater.aws.store.cleanups import DynamoCleanups
from slackwater.aws.store.findings import DynamoFindings
from slackwater.aws.store.installation import Installation
from slackwater.aws.store.table import INDEXES
from slackwater.engine.merge import merge_one
from slackwater.model.cleanup import (
    ActorNote,
    Backup,
    Begun,
    Cleanup,
    Control,
    Observed,
    Removal,
    Restored,
    Subject,
    SubResource,
    Tagging,
)
from slackwater.model.listing import BadCursorError
from slackwater.model.settings import EfsLifecycleSetting, EfsThroughputSetting, VolumeSetting
from slackwater.model.tracking import FindingRecord, LedgerEntry, TargetReport, TrackedResource, Write
from slackwater.ports.errors import AccessDeniedError, AwsError, BrokenAnswerError

MONDAY = datetime(2026, 11, 16, 9, 7, 42, 7, tzinfo=UTC)
HOUR = timedelta(hours=1)
FILE_SYSTEM = TrackedResource(
    arn="arn:aws:elasticfilesystem:eu-west-1:123456789012:file-system/fs-1", id="fs-1", type="efs-file-system",
    name="日本", account="123456789012", region="eu-west-1",
)  # fmt: skip


def cleanup(id_: str = "f-1", **changes) -> Cleanup:
    base = Cleanup(
        finding_id=id_, attempt=1, execution=f"{id_}-1", detector="efs-idle", resource=FILE_SYSTEM, owner=None,
        fingerprint="a", setting=None, requested_by="ada", started_at=MONDAY, promised_monthly_usd=Decimal("12.30"),
        revision=1,
    )  # fmt: skip
    return replace(base, **changes)


def of(arn: str, id_: str, **changes) -> Cleanup:
    return cleanup(id_, resource=replace(FILE_SYSTEM, arn=arn), **changes)


@pytest.fixture
def store(stored) -> DynamoCleanups:
    return DynamoCleanups(stored.table)


def write(store: DynamoCleanups, one: Cleanup) -> Cleanup:
    assert store.write(one)
    return one


def moved(one: Cleanup, **changes) -> Cleanup:
    return replace(one, revision=one.revision + 1, **changes)


# -- One clean-up


@pytest.mark.parametrize(
    "setting",
    [
        None,
        VolumeSetting(volume_type="gp3", iops=3000, throughput_mib_s=None),
        EfsThroughputSetting(mode="provisioned", provisioned_mib_s=1.5),
        EfsLifecycleSetting(transition_to_ia="AFTER_30_DAYS"),
    ],
)
def test_a_clean_up_comes_back_as_it_was_stored(store, setting) -> None:
    note = ActorNote(who="ada", why="日本", at=MONDAY)
    part = SubResource(kind="mount-target", id="fsmt-1", arn=None, going=True)
    whole = cleanup(
        setting=setting, was=setting, stage="failed", unattended=True, scratch=True, born_at=MONDAY, size_bytes=7,
        parts=(part,), recorded={"subnet": ["a", 1, None]},
        marked=Tagging(at=MONDAY, act_after=MONDAY + HOUR, warned_days=(7, 1)), approved_by="ada", changed_at=MONDAY,
        backup_monthly_usd=Decimal("0.05"), removals=(Removal(part=part, asked_at=MONDAY),),
        backups=(
            Backup(subject=Subject(id="fs-1", size_bytes=7), token="t", asked_at=MONDAY, expires_at=MONDAY + HOUR,
                   state="verified", id="r"),
        ),
        restored=Restored(state="failed", id="fs-2", differences=("another id",), why="no"), stopped=note, undone=note,
        ended_at=MONDAY, why="it broke", observed=Observed(audit_id="a", at=MONDAY, left_monthly_usd=None),
    )  # fmt: skip

    write(store, whole)

    assert store.get("f-1") == whole
    assert store.get("f-2") is None


def test_a_second_clean_up_of_a_finding_is_not_stored_as_the_first(store, stored) -> None:
    write(store, cleanup())
    before = stored.items()

    assert not store.write(cleanup(requested_by="joe"))
    assert stored.items() == before


def test_who_read_first_and_writes_last_stores_nothing(store, stored) -> None:
    read = write(store, cleanup())
    write(store, moved(read, stage="waiting"))
    before = stored.items()

    assert not store.write(moved(read, stage="working"))
    assert not store.write(replace(read, stage="working", revision=5))
    assert stored.items() == before


# -- One resource


def test_a_resource_is_in_one_clean_up_until_that_has_ended(store) -> None:
    mine = write(store, cleanup("f-1"))
    assert store.holder(FILE_SYSTEM.arn) == "f-1"
    assert not store.write(cleanup("f-2"))
    assert store.get("f-2") is None
    waiting = write(store, moved(mine, stage="waiting"))

    write(store, moved(waiting, stage="called-off"))

    assert store.holder(FILE_SYSTEM.arn) is None
    write(store, cleanup("f-2"))
    assert store.holder(FILE_SYSTEM.arn) == "f-2"


def test_what_has_ended_may_be_written_while_another_has_the_resource_and_does_not_let_it_go(store) -> None:
    mine = write(store, cleanup("f-1"))
    done = write(store, moved(mine, stage="done"))
    write(store, cleanup("f-2"))

    observed = moved(done, observed=Observed(audit_id="a", at=MONDAY, left_monthly_usd=Decimal(0)))
    write(store, observed)

    assert (store.get("f-1"), store.holder(FILE_SYSTEM.arn)) == (observed, "f-2")


def test_an_undo_takes_the_resource_again_and_not_from_another(store) -> None:
    done = write(store, moved(write(store, cleanup("f-1")), stage="done"))
    other = write(store, cleanup("f-2"))

    assert not store.write(moved(done, stage="undoing"))
    assert store.get("f-1") == done

    write(store, moved(other, stage="called-off"))
    write(store, moved(done, stage="undoing"))
    assert store.holder(FILE_SYSTEM.arn) == "f-1"
    assert not store.write(moved(store.get("f-2"), stage="starting"))


@pytest.mark.parametrize("stage", ["starting", "waiting", "working", "undoing"])
def test_every_stage_that_is_no_end_has_the_resource(store, stage) -> None:
    write(store, cleanup("f-1", stage=stage))

    assert not store.write(cleanup("f-2"))


@pytest.mark.parametrize("stage", ["done", "called-off", "failed", "undone"])
def test_every_end_lets_it_go(store, stage) -> None:
    write(store, moved(write(store, cleanup("f-1")), stage=stage))

    assert store.holder(FILE_SYSTEM.arn) is None


# -- One after the other

PARTS = (
    SubResource(kind="mount-target", id="fsmt-1", arn=None),
    SubResource(kind="file-system", id="fs-1", arn="arn:1"),
)


def test_of_one_type_in_one_place_one_is_taken_apart_at_a_time(store) -> None:
    first = write(store, of("arn:1", "f-1", stage="working", parts=PARTS))
    second = write(store, of("arn:2", "f-2", stage="working", parts=PARTS))
    begun = write(store, moved(first, has_turn=True))
    assert store.holder(begun.turn) == "f-1"

    assert not store.write(moved(second, has_turn=True))
    assert store.get("f-2") == second

    failed = write(store, moved(begun, stage="failed"))
    assert (store.holder("arn:1"), store.holder(begun.turn)) == (None, "f-1"), "until it is put back"
    write(store, moved(failed, has_turn=False))
    assert (store.holder("arn:1"), store.holder(begun.turn)) == (None, None)
    write(store, moved(second, has_turn=True))
    assert store.holder(begun.turn) == "f-2"


def test_elsewhere_and_of_what_has_no_parts_others_go_on(store) -> None:
    write(store, moved(write(store, of("arn:1", "f-1", stage="working", parts=PARTS)), has_turn=True))
    elsewhere = cleanup(
        "f-2", stage="working", parts=PARTS, resource=replace(FILE_SYSTEM, arn="arn:2", region="eu-north-1")
    )
    others = cleanup(
        "f-4", stage="working", parts=PARTS, resource=replace(FILE_SYSTEM, arn="arn:4", account="210987654321")
    )
    another = cleanup(
        "f-5", stage="working", parts=PARTS, resource=replace(FILE_SYSTEM, arn="arn:5", type="fsx-file-system")
    )
    alone = of("arn:3", "f-3", stage="working", parts=PARTS[1:])

    for one in (elsewhere, others, another, alone):
        write(store, moved(write(store, one), has_turn=True))


def test_an_undo_lets_others_have_their_turn(store) -> None:
    begun = write(store, moved(write(store, of("arn:1", "f-1", stage="working", parts=PARTS)), has_turn=True))
    write(store, moved(write(store, moved(begun, stage="done", has_turn=False)), stage="undoing"))

    assert (store.holder("arn:1"), store.holder(begun.turn)) == ("f-1", None)


# -- With its finding


def opened(id_: str = "f-1") -> Write:
    seen = FindingRecord(
        id=id_, detector="efs-idle", kind="waste", severity="low", confidence="high", resource=FILE_SYSTEM, owner=None,
        summary="idle", monthly_savings_usd=None, fingerprint="a",
    )  # fmt: skip
    report = TargetReport(
        account="123456789012", region="eu-west-1", complete=True, detectors=frozenset({"efs-idle"}), records=(),
        unknown=frozenset(),
    )  # fmt: skip
    write = merge_one(None, seen, report, "monday", MONDAY)
    assert write
    return write


def marked(known: Write) -> Write:
    finding = replace(known.finding, revision=2)
    entry = LedgerEntry(
        happening="marked", at=MONDAY, who="slackwater", was="open", now="open", why="", revision=2, audit_id="monday",
        evidence=finding.sighting,
    )  # fmt: skip
    return Write(finding=finding, entry=entry, expects=1)


def test_a_clean_up_and_what_it_makes_of_its_finding_are_stored_together(store, stored) -> None:
    findings, known = DynamoFindings(stored.table), opened()
    assert findings.write(known)
    one = write(store, cleanup())

    assert store.write(moved(one, stage="waiting"), marked(known))

    assert findings.get("f-1") == marked(known).finding
    assert [entry.happening for entry in findings.ledger("f-1")] == ["opened", "marked"]
    assert store.get("f-1").stage == "waiting"


@pytest.mark.parametrize("stale", ["clean-up", "finding", "resource"])
def test_where_one_of_them_has_moved_neither_is_stored(store, stored, stale) -> None:
    findings, known = DynamoFindings(stored.table), opened()
    assert findings.write(known)
    one = write(store, cleanup())
    if stale == "resource":
        one = write(store, moved(one, stage="called-off"))
        write(store, cleanup("f-2"))
    before = stored.items()
    late = replace(marked(known), expects=7) if stale == "finding" else marked(known)

    assert not store.write(
        replace(moved(one, stage="waiting"), revision=9 if stale == "clean-up" else one.revision + 1), late
    )
    assert stored.items() == before


# -- Lists


def test_clean_ups_are_listed_the_newest_first_page_by_page(store) -> None:
    ids = [f"f-{n}" for n in range(5)]
    for n, id_ in enumerate(ids):
        write(store, of(f"arn:{n}", id_, started_at=MONDAY + n * HOUR))
    again = write(store, moved(store.get("f-1"), started_at=MONDAY + 9 * HOUR, attempt=2))

    found, cursor = [], None
    while True:
        page = store.list(2, cursor)
        found += page.items
        cursor = page.cursor
        if cursor is None:
            break

    assert [one.finding_id for one in found] == ["f-1", "f-4", "f-3", "f-2", "f-0"]
    assert found[0] == again
    with pytest.raises(BadCursorError):
        store.list(2, "nonsense")


def test_holds_and_the_switch_are_in_no_list(store, stored) -> None:
    write(store, cleanup())
    assert store.write_control(Control(revision=1))

    indexed = {hash_ for hash_, _ in INDEXES.values()}
    assert [one["pk"]["S"] for one in stored.items() if indexed & one.keys()] == ["CLEANUP#f-1"]
    assert not any("expires_at" in one for one in stored.items())


# -- Rules for all writes


def test_the_stop_switch_and_the_count_are_one_item_that_only_its_last_reader_writes(store) -> None:
    assert store.control() == Control()
    first = Control(begun=(Begun(finding_id="f-1", at=MONDAY, monthly_usd=Decimal("1.10")),), revision=1)
    assert store.write_control(first)
    assert not store.write_control(first)
    assert not store.write_control(replace(first, revision=3))

    second = replace(first, stopped=ActorNote(who="ada", why="", at=MONDAY), revision=2)
    assert store.write_control(second)
    assert not store.write_control(replace(first, revision=2))
    assert store.control() == second


# -- Errors


def test_what_cannot_be_read_is_an_error_and_never_taken_for_nothing(store, stored) -> None:
    write(store, cleanup())
    assert store.write_control(Control(revision=1))
    for pk, sk in (("CLEANUP#f-1", "CLEANUP"), ("CLEANUP-CONTROL", "CLEANUP-CONTROL")):
        stored.client.update_item(
            TableName="slackwater", Key={"pk": {"S": pk}, "sk": {"S": sk}}, UpdateExpression="SET document = :d",
            ExpressionAttributeValues={":d": {"S": '{"stopped": 7}'}},
        )  # fmt: skip

    with pytest.raises(BrokenAnswerError):
        store.get("f-1")
    with pytest.raises(BrokenAnswerError):
        store.control()


def test_reads_see_the_last_write(store, stored, monkeypatch) -> None:
    asked = []
    real = stored.client.batch_get_item
    monkeypatch.setattr(stored.client, "batch_get_item", lambda **note: (asked.append(note), real(**note))[1])

    store.get("f-1")
    store.holder("arn")
    store.control()

    assert [note["RequestItems"]["slackwater"]["ConsistentRead"] for note in asked] == [True] * 3


# -- Start an execution


class Machines:
    """Step Functions, which answers with an error code or accepts the execution."""

    home = "eu-west-1"

    def __init__(self, code: str | None = None) -> None:
        self.code = code
        self.started = []
        self.status = "RUNNING"

    def client(self, service: str, region: str):
        assert (service, region) == ("stepfunctions", "eu-west-1")
        return self

    def describe_execution(self, **note):
        self.described = note
        if self.code:
            raise ClientError({"Error": {"Code": self.code, "Message": ""}}, "DescribeExecution")
        return {"status": self.status}

    def start_execution(self, **note) -> None:
        self.started.append(note)
        if self.code:
            raise ClientError({"Error": {"Code": self.code, "Message": ""}}, "StartExecution")


def test_an_execution_is_given_nothing_but_the_findings_id() -> None:
    machines = Machines()
    starter = StateMachineCleanups(machines, "arn:cleanup", "arn:undo")

    starter.start("f-1", "f-1-1")
    starter.undo("f-1", "f-1-1-undo-1")

    assert machines.started == [
        {"stateMachineArn": "arn:cleanup", "name": "f-1-1", "input": '{"finding_id": "f-1"}'},
        {"stateMachineArn": "arn:undo", "name": "f-1-1-undo-1", "input": '{"finding_id": "f-1"}'},
    ]


def test_one_that_was_started_before_is_fine_and_anything_else_is_an_error() -> None:
    StateMachineCleanups(Machines("ExecutionAlreadyExists"), "arn:cleanup", None).start("f-1", "f-1-1")
    with pytest.raises(AccessDeniedError):
        StateMachineCleanups(Machines("AccessDeniedException"), "arn:cleanup", None).start("f-1", "f-1-1")
    with pytest.raises(AwsError):
        StateMachineCleanups(Machines("ExecutionLimitExceeded"), "arn:cleanup", "arn:undo").undo("f-1", "f-1-1-undo-1")
    with pytest.raises(ValueError, match="undos"):
        StateMachineCleanups(Machines(), "arn:cleanup", None).undo("f-1", "f-1-1-undo-1")


# -- The installation's id


def test_the_first_that_asks_makes_the_installations_id_and_all_others_get_the_same(stored) -> None:
    first, second = Installation(stored.table, None), Installation(stored.table, None)
    assert first.known() is None
    made = first()
    assert len(made) == 32
    assert (first(), second(), second.known()) == (made, made, made)
    assert Installation(stored.table, None).known() == made


def test_where_two_make_it_at_once_the_first_write_counts(stored) -> None:
    class Late(Installation):
        """Reads nothing the first time, as if another process had not written yet."""

        looks = 0

        def known(self) -> str | None:
            self.looks += 1
            return None if self.looks == 1 else super().known()

    made = Installation(stored.table, None)()
    assert Late(stored.table, None)() == made


def test_an_id_that_was_given_at_deploy_is_used_as_it_is(stored) -> None:
    given = Installation(stored.table, "ours")
    assert (given.known(), given()) == ("ours", "ours")
    assert Installation(stored.table, None).known() is None


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("RUNNING", "running"),
        *((status, "ended") for status in ("SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED", "PENDING_REDRIVE")),
    ],
)
@pytest.mark.parametrize("undo", [False, True])
def test_an_execution_is_asked_after_by_its_name(status, state, undo) -> None:
    machines = Machines()
    machines.status = status
    arn = "arn:aws:states:eu-west-1:123456789012:stateMachine:{}"
    starter = StateMachineCleanups(machines, arn.format("cleanup"), arn.format("undo"))

    assert starter.state("f-1-1", undo=undo) == state
    name = "undo" if undo else "cleanup"
    asked = f"arn:aws:states:eu-west-1:123456789012:execution:{name}:f-1-1"
    assert machines.described == {"executionArn": asked}


def test_an_execution_that_never_was_is_none_and_anything_else_is_an_error() -> None:
    assert StateMachineCleanups(Machines("ExecutionDoesNotExist"), "arn:cleanup", None).state("f-1-1") == "none"
    with pytest.raises(AccessDeniedError):
        StateMachineCleanups(Machines("AccessDeniedException"), "arn:cleanup", None).state("f-1-1")
