"""Stored documents have format numbers.

Slackwater reads the current and the previous one, and refuses others with a fix.
"""

import json
from bisect import bisect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator
from moto import mock_aws
from pydantic import TypeAdapter

from slackwater.app.audit import plan as audit_plan
from slackwater.app.audit import target_documents
from slackwater.app.audit.target_documents import stored_target
from slackwater.app.slack.notify import _previous_changes
from slackwater.aws.store import cleanup_lists, outbox, table
from slackwater.aws.store.audits import DynamoAudits
from slackwater.aws.store.cleanups import DynamoCleanups
from slackwater.aws.store.documents import S3Documents
from slackwater.aws.store.findings import DynamoFindings
from slackwater.aws.store.outbox import DynamoOutbox
from slackwater.model import formats, object_keys
from slackwater.model.cleanup import ActorNote, Cleanup, Control, Removal, Restored, SubResource
from slackwater.model.formats import CURRENT, current, refusal
from slackwater.ports.errors import AwsError, BrokenAnswerError, FormatError
from support.memory_table import MOST_BYTES, MemoryTable, size_of
from support.slack_world import NOW, Bucket
from support.stored_stages import STORED, Past, logs, says

PREVIOUS: Final = STORED / "1"
AUDIT: Final = json.loads((PREVIOUS / "audit.json").read_text())
READERS: Final = json.loads((PREVIOUS / "readers.json").read_text())
ADAPTERS: Final[dict[str, TypeAdapter[Any]]] = {
    "AUDIT": table.AUDIT,
    "CLEANUP": table.CLEANUP,
    "CLEANUP-CONTROL": table.CONTROL,
    "FINDING": table.FINDING,
    "LEDGER": table.LEDGER,
    "POST": outbox.POST,
}


def kind(item: Any) -> str:
    return item["sk"]["S"].partition("#")[0]


def documents_of(items: Any) -> list[Any]:
    return [one for one in items if "document" in one]


# -- Items of the previous version


@pytest.mark.parametrize("item", documents_of(AUDIT["items"]), ids=kind)
def test_an_item_of_the_previous_version_is_read_and_says_the_same(item: Any) -> None:
    adapter = ADAPTERS[kind(item)]
    again = json.loads(adapter.dump_json(table.parsed(item, adapter)))

    assert says(again, json.loads(item["document"]["S"]))


def test_every_kind_of_item_is_among_these() -> None:
    stored = {kind(one) for one in documents_of(AUDIT["items"])} | {"CLEANUP"}

    assert stored == set(ADAPTERS) == set(READERS)


def test_the_stores_find_the_items_of_the_previous_version() -> None:
    memory = MemoryTable(items={(one["pk"]["S"], one["sk"]["S"]): one for one in AUDIT["items"]})
    ids = {name: [pk.partition("#")[2] for pk, sk in memory.items if sk == name] for name in ADAPTERS}

    audits = DynamoAudits(memory.table, None, None)  # type: ignore[arg-type]
    assert {audits.get(id_).state for id_ in ids["AUDIT"]} == {"incomplete", "failed"}
    findings = DynamoFindings(memory.table)
    assert {findings.get(id_).status for id_ in ids["FINDING"]} == {"snoozed", "dismissed"}
    assert {entry.happening for id_ in ids["FINDING"] for entry in findings.ledger(id_)} == {
        "opened",
        "snoozed",
        "dismissed",
    }
    posts = DynamoOutbox(memory.table, lambda: NOW)
    assert {posts.get(id_).state for id_ in ids["POST"]} == {"pending", "sent"}
    assert DynamoCleanups(memory.table).control().stopped.who == "ada"


def test_the_objects_of_the_previous_version_are_read(documents: S3Documents, s3: Any) -> None:
    for key, text in AUDIT["objects"].items():
        s3.put_object(Bucket=BUCKET, Key=key, Body=text.encode())
    (audit_id,) = {key.split("/")[1] for key in AUDIT["objects"] if key.startswith("audits/")}

    plan = audit_plan.plan_of(documents, audit_id)
    assert [target.region for target in plan.targets] == ["ap-northeast-1", "us-east-1"]
    seen = stored_target(documents, audit_id, "123456789012", "ap-northeast-1", [])
    assert (seen.kept, seen.whole) == (True, True)
    error, _ = documents.read(object_keys.target_error(audit_id, "123456789012", "us-east-1")) or ("", "")
    assert target_documents.ERROR.validate_json(error)
    changes = _previous_changes(documents, audit_id)
    assert {change.kind for change in changes} == {"new"}
    assert all(change.found["id"] == change.entry.evidence.id for change in changes)
    for key in (object_keys.known(audit_id), object_keys.targets(audit_id)):
        assert json.loads((documents.read(key) or ("", ""))[0])
    head, _ = documents.read(object_keys.head(audit_id)) or ("", "")
    assert json.loads(head)["schema"] == "slackwater.scan/1"


# -- What the previous version reads after a rollback


@pytest.mark.parametrize("name", logs(1))
@pytest.mark.parametrize("most_bytes", [cleanup_lists.MOST_BYTES, len("[]")])
def test_what_is_stored_now_is_readable_for_the_previous_version(monkeypatch, name: str, most_bytes: int) -> None:
    """The check uses the previous version's own shapes.

    That version ignores unknown fields, and drops them when it writes.
    """
    monkeypatch.setattr(cleanup_lists, "MOST_BYTES", most_bytes)
    past = Past(there=None)  # type: ignore[arg-type]
    for entry in logs(1)[name]:
        if "put" not in entry:
            continue
        past.put(entry["put"])
        item = past.items[entry["put"]["pk"], entry["put"]["sk"]]
        if kind(item) == "CLEANUP":
            stored = again(table.parsed(item, table.CLEANUP), Bucket())
            Draft202012Validator(READERS["CLEANUP"]).validate(json.loads(stored["document"]["S"]))
        elif "document" in item:
            adapter = ADAPTERS[kind(item)]
            Draft202012Validator(READERS[kind(item)]).validate(
                json.loads(adapter.dump_json(adapter.validate_json(item["document"]["S"])))
            )


def again(cleanup: Cleanup, bucket: Bucket | None = None) -> Any:
    """Return the item of a clean-up as it is stored now. Without a bucket, the item has its full lists."""
    memory = MemoryTable()
    assert DynamoCleanups(memory.table, bucket).write(replace(cleanup, revision=1))
    (item,) = [one for (_, sk), one in memory.items.items() if sk == "CLEANUP"]
    return item


def test_a_clean_up_that_is_cut_short_stops_the_previous_version_and_keeps_what_it_needs_for_ours() -> None:
    """The previous version requires sub-resources that its record does not name, so it cancels and restores nothing."""
    whole = large(1_000)
    document = json.loads(again(whole, Bucket())["document"]["S"])

    assert len(document["parts"]) > 1, "it waits for its turn, and lets it go"
    assert not {part.id for part in whole.parts} <= {one["id"] for one in document["parts"]} | set(document["children"])
    assert document["removals"], "it knows that something was removed"
    assert set(document["recorded"]) == {cleanup_lists.KEPT}, "it keeps that as it is"


def test_a_record_that_is_cut_short_still_says_that_ontap_is_not_restored(memory) -> None:
    whole = replace(large(1_000), recorded={"system": {"FileSystemType": "ONTAP", "Tags": []}, "volumes": []})
    assert whole.not_restored
    bucket = Bucket()
    store = DynamoCleanups(memory.table, bucket)
    store.write(whole)

    short = store.get("f-1")

    assert short.kept
    assert short.not_restored == whole.not_restored
    assert store.whole(short) == whole


# -- Lists that are too long for a record


def large(number: int, id_: str = "f-1") -> Cleanup:
    past = Past(there=None)  # type: ignore[arg-type]
    for entry in logs(1)["efs"]:
        if "put" in entry:
            past.put(entry["put"])
    stored = next(table.parsed(one, table.CLEANUP) for (_, sk), one in past.items.items() if sk == "CLEANUP")
    points = tuple(SubResource(kind="access-point", id=f"fsap-{n:017x}", arn=f"arn:{n}") for n in range(number))
    return replace(
        stored,
        finding_id=id_,
        stage="working",
        parts=(*points, stored.parts[-1]),
        children=tuple(part.id for part in points),
        recorded={"access_points": [{"id": part.id, "tags": {}} for part in points], "policy": None},
        removals=tuple(Removal(part=part, asked_at=NOW) for part in points),
        restored=Restored(state="failed", differences=tuple(f"{part.id} is another now" for part in points)),
        revision=1,
    )


@pytest.fixture
def memory() -> MemoryTable:
    return MemoryTable()


def test_a_clean_up_comes_back_whole_and_its_item_stays_small(memory) -> None:
    bucket, whole = Bucket(), large(10_000)
    assert DynamoCleanups(memory.table, bucket).write(whole)

    store = DynamoCleanups(memory.table, bucket)
    short = store.get("f-1")

    assert store.whole(short) == whole
    assert memory.largest < 20_000
    assert short.removed == 10_000
    assert (len(short.parts), short.parts[-1]) == (10, whole.parts[-1])
    assert short.turn == whole.turn
    assert sorted(key.rpartition("-")[0] for key in bucket.texts) == [
        f"cleanups/f-1/{name}" for name in ("children", "differences", "parts", "recorded", "removals")
    ]


def test_a_short_clean_up_can_be_changed_and_keeps_its_lists(memory) -> None:
    bucket, whole = Bucket(), large(1_000)
    store = DynamoCleanups(memory.table, bucket)
    store.write(whole)
    before = dict(bucket.texts)

    assert DynamoCleanups(memory.table).write(replace(store.get("f-1"), stage="failed", why="no", revision=2))

    assert bucket.texts == before
    assert store.whole(store.get("f-1")) == replace(whole, stage="failed", why="no", revision=2)


def has_room(cleanup: Cleanup) -> bool:
    """Return whether a clean-up with full lists fits into one item."""
    try:
        return bool(again(cleanup))
    except AwsError:
        return False


def test_a_clean_up_that_an_older_version_left_in_an_item_with_no_room_can_be_stopped_failed_and_undone(memory) -> None:
    """This affected file systems with 420 to 780 access points: DynamoDB refused every write of their clean-up."""
    stored = large(bisect(range(4_000), False, key=lambda number: not has_room(large(number))) - 1)
    item = again(stored)
    memory.items["CLEANUP#f-1", "CLEANUP"] = {name: value for name, value in item.items() if name != "format"}
    note = ActorNote(who="ada", why="x" * 1_000, at=NOW)
    read = DynamoCleanups(memory.table).get("f-1")
    assert read == stored
    stopped = replace(read, stopped=note, revision=2)
    with pytest.raises(AwsError, match="Item size has exceeded"):
        DynamoCleanups(memory.table).write(stopped)

    store = DynamoCleanups(memory.table, Bucket())
    assert store.write(stopped)
    assert store.write(replace(store.get("f-1"), stage="failed", why="no", revision=3))
    assert store.write(replace(store.get("f-1"), stage="undoing", undone=note, revision=4))
    assert store.whole(store.get("f-1")).recorded == stored.recorded
    assert memory.largest < 20_000


def test_a_list_is_stored_before_the_record_and_once(memory) -> None:
    bucket = Bucket()
    store, whole = DynamoCleanups(memory.table, bucket), large(1_000)
    named: list[bool] = []
    memory.before_write = lambda: named.append(len(bucket.texts) == 5)
    store.write(whole)
    store.write(replace(whole, revision=2))

    assert named == [True, True]
    assert {len(versions) for versions in bucket.texts.values()} == {1}


def test_a_clean_up_of_few_parts_is_all_in_its_item(memory) -> None:
    store = DynamoCleanups(memory.table)
    whole = large(20)
    assert store.write(whole)

    assert store.get("f-1") == store.whole(store.get("f-1")) == whole
    assert json.loads(memory.items["CLEANUP#f-1", "CLEANUP"]["document"]["S"])["recorded"] == whole.recorded


def test_lists_that_all_just_fit_stay_far_below_what_an_item_may_have(memory) -> None:
    def longest(number: int) -> int:
        return max(len(one.adapter.dump_json(one.get(large(number)))) for one in cleanup_lists.LISTS.values())

    most = large(bisect(range(1_000), cleanup_lists.MOST_BYTES, key=longest) - 1)
    DynamoCleanups(memory.table).write(replace(most, children=("x" * (cleanup_lists.MOST_BYTES - 4),)))

    assert MOST_BYTES / 8 < memory.largest < MOST_BYTES / 2


def test_a_list_that_is_missing_or_not_what_was_stored_is_an_error_that_names_it(memory) -> None:
    bucket = Bucket()
    store = DynamoCleanups(memory.table, bucket)
    store.write(large(1_000))
    (key,) = [one for one in bucket.texts if "/parts-" in one]
    short = store.get("f-1")

    bucket.write(key, "[]")
    with pytest.raises(BrokenAnswerError, match=f"{key} is not as it was stored: restore its first version"):
        store.whole(short)
    bucket.write(key, None)
    with pytest.raises(
        AwsError, match=f"the parts of the clean-up of finding f-1 are missing: restore the object {key}"
    ):
        store.whole(short)


def test_a_record_shows_whether_anybody_changed_it_or_stopped_them_all(memory) -> None:
    store = DynamoCleanups(memory.table)
    cleanup = large(1)
    store.write(cleanup)
    assert store.unchanged(cleanup)

    store.write(replace(cleanup, why="no", revision=2))
    assert not store.unchanged(cleanup)
    assert store.unchanged(replace(cleanup, revision=2))

    stopped = json.loads(next(one for one in AUDIT["items"] if kind(one) == "CLEANUP-CONTROL")["document"]["S"])[
        "stopped"
    ]
    store.write_control(Control(stopped=table.CONTROL.validate_python({"stopped": stopped}).stopped, revision=1))
    assert not store.unchanged(replace(cleanup, revision=2))


# -- Format numbers


@pytest.mark.parametrize(
    ("of", "found"), [("CLEANUP", None), ("CLEANUP", "1"), ("CLEANUP", "2"), ("FINDING", None), ("FINDING", "1")]
)
def test_the_current_format_and_the_previous_one_are_read(of: str, found: str | None) -> None:
    assert refusal(of, "it", found) is None


@pytest.mark.parametrize(
    ("of", "found", "says"),
    [
        (
            "CLEANUP",
            "3",
            "it has format 3, and this version of Slackwater reads 1 and 2; a newer version wrote it: deploy that",
        ),
        (
            "FINDING",
            "2",
            "it has format 2, and this version of Slackwater reads 1; a newer version wrote it: deploy that version",
        ),
        (
            "FINDING",
            "II",
            "it has format II, and this version of Slackwater reads 1; a newer version wrote it: deploy that",
        ),
        (
            "CLEANUP",
            "0",
            "it has format 0, and this version of Slackwater reads 1 and 2; an older version wrote it: deploy the",
        ),
    ],
)
def test_any_other_format_is_refused_with_the_remedy(of: str, found: str, says: str) -> None:
    assert (refusal(of, "it", found) or "").startswith(says)


def test_one_that_is_two_formats_old_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(formats, "CURRENT", {"CLEANUP": 3})

    assert refusal("CLEANUP", "it", "2") is None
    assert "deploy the version before this one, which reads it" in (refusal("CLEANUP", "it", None) or "")


def stores(memory: MemoryTable) -> dict[str, Callable[[], Any]]:
    """Return, by kind of item, a function that reads the first item of that kind."""
    first = {sk.partition("#")[0]: pk.partition("#")[2] for pk, sk in memory.items}
    findings = DynamoFindings(memory.table)
    return {
        "AUDIT": lambda: DynamoAudits(memory.table, None, None).get(first["AUDIT"]),  # type: ignore[arg-type]
        "CLEANUP": lambda: DynamoCleanups(memory.table).get(first["CLEANUP"]),
        "CLEANUP-CONTROL": DynamoCleanups(memory.table).control,
        "FINDING": lambda: findings.get(first["FINDING"]),
        "HOLD": lambda: DynamoCleanups(memory.table).holder(first["HOLD"]),
        "LEDGER": lambda: list(findings.ledger(first["LEDGER"])),
        "POST": lambda: DynamoOutbox(memory.table, lambda: NOW).get(first["POST"]),
    }


@pytest.mark.parametrize("of", [*ADAPTERS, "HOLD"])
def test_an_item_of_a_newer_format_is_refused_by_name(memory, of: str) -> None:
    memory.items = {(one["pk"]["S"], one["sk"]["S"]): one for one in AUDIT["items"]}
    DynamoCleanups(memory.table).write(large(1))
    read = stores(memory)[of]
    assert read()

    newer = {"format": {"N": str(current(of) + 1)}}
    memory.items = {key: {**one, **(newer if kind(one) == of else {})} for key, one in memory.items.items()}

    with pytest.raises(
        FormatError, match=r"the item \S+ has format \d, and .* a newer version wrote it: deploy that version"
    ):
        read()


def test_every_item_is_written_with_the_number_of_its_kind(memory) -> None:
    DynamoCleanups(memory.table).write(large(1))

    assert {kind(one): one["format"] for one in memory.items.values()} == {"CLEANUP": {"N": "2"}, "HOLD": {"N": "1"}}
    assert size_of(memory.items["CLEANUP#f-1", "CLEANUP"]) < MOST_BYTES


def test_every_kind_with_a_number_of_its_own_has_fixtures_of_the_one_before() -> None:
    for number in CURRENT.values():
        assert (STORED / str(number - 1)).is_dir()


BUCKET: Final = "slackwater-bucket"


@pytest.fixture
def s3(moto_session):
    with mock_aws():
        client = moto_session.client("s3", moto_session.home)
        client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": moto_session.home})
        yield client


@pytest.fixture
def documents(moto_session, s3) -> S3Documents:
    return S3Documents(moto_session, BUCKET)


def test_every_object_is_written_with_a_number_and_one_of_another_is_refused(documents, s3, tmp_path: Path) -> None:
    file = tmp_path / "stock.sqlite"
    file.write_bytes(b"rows")
    documents.write("audits/a/plan.json", "{}")
    documents.write_once("audits/a/known.json", "[]")
    documents.write_file("transient/a/stock.sqlite", file)
    for key in ("audits/a/plan.json", "audits/a/known.json", "transient/a/stock.sqlite"):
        assert s3.head_object(Bucket=BUCKET, Key=key)["Metadata"] == {"format": "1"}
        s3.put_object(Bucket=BUCKET, Key=key, Body=b"{}", Metadata={"format": "2"})

    with pytest.raises(
        FormatError, match=f"s3://{BUCKET}/audits/a/plan.json has format 2, .* a newer version wrote it"
    ):
        documents.read("audits/a/plan.json")
    with pytest.raises(FormatError, match=r"stock\.sqlite has format 2"):
        documents.read_file("transient/a/stock.sqlite", tmp_path / "back")
    assert not (tmp_path / "back").exists()
