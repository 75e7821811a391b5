"""Findings in the template's table: atomic writes, which writer wins, and complete lists."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import permutations

import pytest
from botocore.exceptions import ClientError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from slackwater.aws.store import listing
from slackwater.aws.store.findings import DynamoFindings, _listed
from slackwater.aws.store.table import LEDGER, PROJECTED, parsed
from slackwater.engine.merge import merge_one
from slackwater.model.listing import FINDING_ORDERS, BadCursorError, FindingQuery
from slackwater.model.tracking import FindingRecord, TargetReport, TrackedFinding, TrackedResource, Write
from slackwater.ports.errors import AccessDeniedError, AwsError, BrokenAnswerError, BusyError

MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)
DAY = timedelta(days=1)
HERE = ("123456789012", "eu-west-1")


def sighting(id_: str = "f-1", usd: str | None = "12.30", **changes) -> FindingRecord:
    account, region = changes.pop("target", HERE)
    resource = TrackedResource(
        arn=f"arn:{id_}", id=f"fs-{id_}", type="efs-file-system", name="日本", account=account, region=region
    )
    return replace(
        FindingRecord(
            id=id_, detector="efs-idle", kind="waste", severity="medium", confidence="high", owner=None, summary="idle",
            resource=resource, monthly_savings_usd=None if usd is None else Decimal(usd), fingerprint="a",
        ),
        **changes,
    )  # fmt: skip


REPORT = TargetReport(
    account=HERE[0], region=HERE[1], complete=True, detectors=frozenset({"efs-idle"}), records=(), unknown=frozenset()
)  # fmt: skip


def merged(
    known: TrackedFinding | None, seen: FindingRecord | None, now: datetime = MONDAY, audit_id: str = "monday"
) -> Write:
    target = known.sighting.resource if known else seen.resource
    report = replace(
        REPORT, account=target.account, region=target.region, detectors=frozenset({(seen or known.sighting).detector})
    )
    write = merge_one(known, seen, report, audit_id, now)
    assert write
    return write


@pytest.fixture
def store(stored) -> DynamoFindings:
    return DynamoFindings(stored.table)


def put(store: DynamoFindings, *records: FindingRecord, now: datetime = MONDAY) -> None:
    for one in records:
        assert store.write(merged(None, one, now))


def resolve(store: DynamoFindings, id_: str) -> None:
    assert store.write(merged(store.get(id_), None, MONDAY + DAY))


# -- Write


def test_a_finding_and_its_ledger_come_back_as_they_were_stored(store) -> None:
    first = merged(None, sighting(usd=None, owner="data"))
    assert store.write(first)
    second = merged(first.finding, None, MONDAY + timedelta(days=1, microseconds=7))
    assert store.write(second)

    assert store.get("f-1") == second.finding
    assert list(store.ledger("f-1")) == [first.entry, second.entry]
    assert (store.get("f-2"), list(store.ledger("f-2"))) == (None, [])


def test_two_findings_whose_ids_begin_alike_have_their_own_ledgers(store) -> None:
    put(store, sighting("f-1"), sighting("f-10"))

    assert [entry.evidence.id for entry in store.ledger("f-1")] == ["f-1"]


def test_a_finding_that_is_stored_already_is_not_stored_anew(store, stored) -> None:
    put(store, sighting())
    before = stored.items()

    assert not store.write(merged(None, sighting(summary="another")))
    assert stored.items() == before


def test_who_read_first_and_writes_last_stores_nothing(store, stored) -> None:
    put(store, sighting())
    known = store.get("f-1")
    assert store.write(merged(known, sighting(fingerprint="b"), MONDAY + DAY))
    before = stored.items()

    assert not store.write(merged(known, sighting(fingerprint="c"), MONDAY + DAY))
    assert not store.write(merged(known, sighting(usd="13"), MONDAY + 2 * DAY))
    assert stored.items() == before


def test_an_older_audit_takes_nothing_back_though_the_revision_has_not_moved(store) -> None:
    put(store, sighting())
    known = store.get("f-1")
    assert store.write(merged(known, sighting(usd="14"), MONDAY + 2 * DAY, "wednesday"))

    assert not store.write(merged(known, sighting(usd="13"), MONDAY + DAY, "tuesday"))
    assert not store.write(merged(known, sighting(fingerprint="b"), MONDAY + DAY, "tuesday"))
    assert store.get("f-1").audit_id == "wednesday"


@pytest.mark.parametrize("order", sorted(set(permutations("aabb"))), ids="".join)
def test_of_two_writers_one_wins_and_the_ledger_has_each_revision_once(store, order) -> None:
    put(store, sighting())
    read: dict[str, TrackedFinding] = {}
    won: list[bool] = []
    for writer in order:  # each writer reads first and writes later
        if writer in read:
            won.append(store.write(merged(read[writer], sighting(fingerprint=f"by {writer}"), MONDAY + DAY, writer)))
        else:
            read[writer] = store.get("f-1")

    ledger = list(store.ledger("f-1"))
    assert won == ([True, True] if order[0] == order[1] else [True, False])
    assert [entry.revision for entry in ledger] == list(range(1, 2 + sum(won)))
    assert store.get("f-1").sighting == ledger[-1].evidence


def test_what_is_seen_unchanged_writes_one_item_and_touches_no_index(store, stored, monkeypatch) -> None:
    put(store, sighting())
    (before,) = [one for one in stored.items() if one["sk"]["S"] == "FINDING"]
    monkeypatch.setattr(stored.client, "transact_write_items", None)
    assert store.write(merged(store.get("f-1"), sighting(summary="idle for longer"), MONDAY + DAY))
    (after,) = [one for one in stored.items() if one["sk"]["S"] == "FINDING"]

    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"document", "last_seen_at"}
    assert {"listing", "target", "saving_key", "age_key", *PROJECTED} <= set(before)


def test_the_streams_image_of_an_entry_is_read_as_it_was_written(store, stored) -> None:
    write = merged(None, sighting())
    store.write(write)
    (image,) = [one for one in stored.items() if one["sk"]["S"].startswith("LEDGER#")]

    assert (image["sk"]["S"], parsed(image, LEDGER)) == ("LEDGER#0000000001", write.entry)
    assert "expires_at" not in image


def refused(code: str, reasons: list[str] | None = None) -> ClientError:
    answer = {"Error": {"Code": code, "Message": ""}}
    return ClientError(
        answer | ({"CancellationReasons": [{"Code": one} for one in reasons]} if reasons else {}), "Write"
    )  # type: ignore[arg-type]


def fails_first(stored, monkeypatch, operation: str, *errors: ClientError) -> None:
    """Let the first calls fail with these errors. Later calls succeed."""
    left, works = list(errors), getattr(stored.client, operation)

    def call(**parameters):
        if left:
            raise left.pop(0)
        return works(**parameters)

    monkeypatch.setattr(stored.client, operation, call)


CANCELLED = "TransactionCanceledException"


@pytest.mark.parametrize(
    "reasons", [["ThrottlingError", "None"], ["None", "TransactionConflict"], ["ProvisionedThroughputExceeded", "None"]]
)
def test_a_transaction_that_met_another_or_was_throttled_is_tried_again(store, stored, monkeypatch, reasons) -> None:
    fails_first(stored, monkeypatch, "transact_write_items", *[refused(CANCELLED, reasons)] * 4)

    assert store.write(merged(None, sighting()))
    assert stored.pauses == [0.1, 0.2, 0.4, 0.8]


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        ([refused(CANCELLED, ["ThrottlingError", "None"])] * 5, BusyError),
        ([refused("ThrottlingException")], AwsError),
        ([refused(CANCELLED)], AwsError),
        ([refused(CANCELLED, ["ValidationError", "ConditionalCheckFailed"])], AwsError),
        ([refused("AccessDeniedException")], AccessDeniedError),
    ],
    ids=["busy for long", "throttled", "no reason given", "a mistake", "denied"],
)
def test_a_write_that_fails_never_looks_like_one_that_was_late(store, stored, monkeypatch, errors, message) -> None:
    fails_first(stored, monkeypatch, "transact_write_items", *errors)

    with pytest.raises(message):
        store.write(merged(None, sighting()))
    assert stored.items() == []


def test_seeing_again_is_tried_again_while_a_transaction_holds_the_finding(store, stored, monkeypatch) -> None:
    put(store, sighting())
    fails_first(stored, monkeypatch, "put_item", refused("TransactionConflictException"))

    assert store.write(merged(store.get("f-1"), sighting(usd="13"), MONDAY + DAY))


# -- Read


def test_a_target_has_what_is_not_resolved_there(store) -> None:
    many = [sighting(f"f-{number:03d}") for number in range(130)]
    put(
        store,
        *many,
        sighting("else-1", target=("123456789012", "us-east-1")),
        sighting("else-2", target=("210987654321", "eu-west-1")),
    )
    resolve(store, "f-007")

    assert sorted(one.id for one in store.unresolved(*HERE)) == [one.id for one in many if one.id != "f-007"]
    assert list(store.unresolved("123456789012", "ap-northeast-1")) == []


def test_what_is_resolved_leaves_its_target_and_is_left_out_while_the_index_still_shows_it(
    store, stored, monkeypatch
) -> None:
    put(store, sighting("f-1"), sighting("f-2"))
    asked = {"TableName": "slackwater", "IndexName": "by_target"}
    stale = stored.client.scan(**asked)
    resolve(store, "f-2")

    assert [one["pk"]["S"] for one in stored.client.scan(**asked)["Items"]] == ["FINDING#f-1"]
    monkeypatch.setattr(stored.client, "query", lambda **_: stale)
    assert [one.id for one in store.unresolved(*HERE)] == ["f-1"]


def test_a_target_and_a_ledger_are_read_over_all_pages(store, stored, monkeypatch) -> None:
    put(store, *[sighting(f"f-{number}") for number in range(3)])
    resolve(store, "f-1")
    works = stored.client.query
    monkeypatch.setattr(stored.client, "query", lambda **question: works(**question, Limit=1))

    assert sorted(one.id for one in store.unresolved(*HERE)) == ["f-0", "f-2"]
    assert [entry.happening for entry in store.ledger("f-1")] == ["opened", "resolved"]


def test_keys_that_were_left_over_are_asked_for_again(store, stored, monkeypatch) -> None:
    put(store, *[sighting(f"f-{number}") for number in range(5)])
    works = stored.client.batch_get_item

    def one_at_a_time(RequestItems):
        request = RequestItems["slackwater"]
        assert request["ConsistentRead"]
        answer = works(RequestItems={"slackwater": request | {"Keys": request["Keys"][:1]}})
        left = request["Keys"][1:]
        return answer | {"UnprocessedKeys": {"slackwater": request | {"Keys": left}} if left else {}}

    monkeypatch.setattr(stored.client, "batch_get_item", one_at_a_time)
    assert len(list(store.unresolved(*HERE))) == 5
    assert stored.pauses == [0.1, 0.2, 0.4, 0.8]


def test_keys_that_are_left_over_for_ever_are_an_error(store, stored, monkeypatch) -> None:
    monkeypatch.setattr(
        stored.client,
        "batch_get_item",
        lambda RequestItems: {"Responses": {"slackwater": []}, "UnprocessedKeys": RequestItems},
    )
    with pytest.raises(BusyError, match="slackwater"):
        store.get("f-1")


@pytest.mark.parametrize(
    "answer", [{}, {"Responses": {"slackwater": []}}, {"UnprocessedKeys": {}}, {"Responses": {}, "UnprocessedKeys": {}}]
)
def test_an_answer_that_is_not_whole_is_not_an_empty_one(store, stored, monkeypatch, answer) -> None:
    monkeypatch.setattr(stored.client, "batch_get_item", lambda **_: answer)
    monkeypatch.setattr(stored.client, "query", lambda **_: answer)

    for ask in (
        lambda: store.get("f-1"),
        lambda: list(store.unresolved(*HERE)),
        lambda: list(store.ledger("f-1")),
        lambda: store.list(FindingQuery()),
    ):
        with pytest.raises(AwsError):
            ask()


def test_an_item_that_cannot_be_read_is_named(store, stored) -> None:
    put(store, sighting())
    (item,) = [one for one in stored.items() if one["sk"]["S"] == "FINDING"]
    document = json.loads(item["document"]["S"]) | {"status": "lost"}
    stored.client.put_item(TableName="slackwater", Item=item | {"document": {"S": json.dumps(document)}})

    with pytest.raises(BrokenAnswerError, match="FINDING#f-1"):
        store.get("f-1")


# -- Lists


def ids(store: DynamoFindings, query: FindingQuery) -> list[str]:
    """Return all ids of a list. Each page but the last must be exactly as long as the limit."""
    found: list[str] = []
    while True:
        page = store.list(query)
        found += [one.id for one in page.items]
        if page.cursor is None:
            return found
        assert len(page.items) == query.limit
        query = replace(query, cursor=page.cursor)


SAVINGS = {
    "cheap": "0.40",
    "nothing": "0.00",
    "dear": "1000.00",
    "costs": "-3.10",
    "unpriced": None,
    "middle": "9.99",
    "also": None,
}


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 7, 200])
@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("-monthly_savings_usd", ["dear", "middle", "cheap", "nothing", "costs", "unpriced", "also"]),
        ("monthly_savings_usd", ["costs", "nothing", "cheap", "middle", "dear", "also", "unpriced"]),
        ("opened_at", list(SAVINGS)),
        ("-opened_at", list(SAVINGS)[::-1]),
    ],
)
def test_a_list_is_in_order_on_pages_of_any_length_and_unknown_savings_come_last(store, order, expected, limit) -> None:
    for number, (id_, usd) in enumerate(SAVINGS.items()):
        put(store, sighting(id_, usd), now=MONDAY + timedelta(microseconds=number))

    assert ids(store, FindingQuery(order=order, limit=limit)) == expected


@pytest.mark.parametrize("order", FINDING_ORDERS)
@pytest.mark.parametrize(
    ("minimum", "expected"),
    [("0", {"cheap", "nothing", "dear", "middle"}), ("9.985", {"middle", "dear"}), ("9.99", {"middle", "dear"}),
     ("9.991", {"dear"}), ("-3.105", {"cheap", "nothing", "dear", "middle", "costs"}), ("1e999999", set()),
     ("-1e999999", set(SAVINGS) - {"unpriced", "also"})],
)  # fmt: skip
def test_a_least_saving_is_exact_and_nothing_unknown_is_above_it(store, order, minimum, expected) -> None:
    put(store, *[sighting(id_, usd) for id_, usd in SAVINGS.items()])

    assert set(ids(store, FindingQuery(order=order, minimum_monthly_savings_usd=Decimal(minimum)))) == expected


@pytest.mark.parametrize("order", FINDING_ORDERS)
def test_a_list_is_of_one_status_and_narrowed_down_by_each_filter(store, order) -> None:
    put(
        store, sighting("plain"), sighting("volume", detector="ebs-unattached"), sighting("urgent", severity="high"),
        sighting("there", target=("123456789012", "us-east-1")),
        sighting("theirs", target=("210987654321", "eu-west-1")), sighting("gone"),
    )  # fmt: skip
    resolve(store, "gone")
    everything = {"plain", "volume", "urgent", "there", "theirs"}

    def found(**filters) -> set[str]:
        return set(ids(store, FindingQuery(order=order, limit=1, **filters)))

    assert found() == everything
    assert found(status="resolved") == {"gone"}
    assert found(status="snoozed") == set()
    assert found(detector="ebs-unattached") == {"volume"}
    assert found(severity="high") == {"urgent"}
    assert found(region="us-east-1") == {"there"}
    assert found(account="210987654321") == {"theirs"}
    assert found(detector="efs-idle", severity="medium", account="123456789012", region="eu-west-1") == {"plain"}
    assert found(detector="ebs-unattached", severity="high") == set()


def test_what_the_index_still_shows_and_is_no_more_so_is_left_out(store, stored, monkeypatch) -> None:
    put(store, sighting("f-1"), sighting("f-2"), sighting("f-3"))
    stale = stored.client.query(
        TableName="slackwater", IndexName="by_saving", KeyConditionExpression="listing = :open",
        ExpressionAttributeValues={":open": {"S": "open"}},
    )  # fmt: skip
    resolve(store, "f-2")
    monkeypatch.setattr(
        stored.client,
        "query",
        lambda **question: (
            stale
            if "ExclusiveStartKey" not in question and "1" in str(question["ExpressionAttributeValues"][":low"])
            else {"Items": []}
        ),
    )

    assert [one.id for one in store.list(FindingQuery()).items] == ["f-1", "f-3"]


def test_a_rare_finding_is_found_behind_many_others_and_the_work_for_one_page_is_bounded(
    store, stored, monkeypatch
) -> None:
    put(store, *[sighting(f"f-{number:02d}", "5") for number in range(12)], sighting("rare", "1", severity="high"))
    monkeypatch.setattr(listing, "FILTERED_READ_SIZE", 2)
    query = FindingQuery(severity="high")
    assert [one.id for one in store.list(query).items] == ["rare"]

    monkeypatch.setattr(listing, "MAX_READS", 3)
    first = store.list(query)
    assert (first.items, first.cursor is None) == ((), False)
    second = store.list(replace(query, cursor=first.cursor))
    third = store.list(replace(query, cursor=second.cursor))
    assert [one.id for page in (first, second, third) for one in page.items] == ["rare"]
    assert third.cursor is None


def test_pages_of_a_narrowed_list_leave_nothing_out_between_them(store, monkeypatch) -> None:
    put(
        store, *[sighting(f"f-{number}", str(9 - number), severity="high") for number in range(7)], sighting("low", "5")
    )
    monkeypatch.setattr(listing, "FILTERED_READ_SIZE", 3)
    query = FindingQuery(severity="high", limit=1)
    seen, cursor = [], None
    while cursor or not seen:
        page = store.list(replace(query, cursor=cursor))
        seen, cursor = [*seen, *(one.id for one in page.items)], page.cursor

    assert seen == [f"f-{number}" for number in range(7)]


# -- Cursors


@pytest.fixture
def cursor(store) -> str:
    put(store, sighting("f-1", "3"), sighting("f-2", "2"), sighting("f-3", "1"))
    given = store.list(FindingQuery(limit=1)).cursor
    assert given
    return given


def test_a_cursor_is_safe_in_an_address_and_good_for_pages_of_another_length(store, cursor) -> None:
    assert set(cursor) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    assert [one.id for one in store.list(FindingQuery(limit=2, cursor=cursor)).items] == ["f-2", "f-3"]


@pytest.mark.parametrize(
    "change",
    [
        {"status": "snoozed"}, {"detector": "efs-idle"}, {"account": "123456789012"}, {"region": "eu-west-1"},
        {"severity": "medium"}, {"minimum_monthly_savings_usd": Decimal(1)}, {"order": "monthly_savings_usd"},
        {"order": "-opened_at"},
    ],
    ids=str,
)  # fmt: skip
def test_a_cursor_is_good_for_its_own_question_only(store, cursor, change) -> None:
    with pytest.raises(BadCursorError):
        store.list(replace(FindingQuery(cursor=cursor), **change))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(data=some.data())
def test_a_cursor_that_was_tampered_with_is_refused(store, cursor, data) -> None:
    place, letter = data.draw(some.integers(0, len(cursor) - 1)), data.draw(some.characters())
    tampered = data.draw(
        some.sampled_from([cursor[:place] + letter + cursor[place + 1 :], cursor[:place], cursor + letter, letter])
    )
    if tampered != cursor:
        with pytest.raises(BadCursorError):
            store.list(FindingQuery(cursor=tampered))


@pytest.mark.parametrize("made_up", ["", "=", "AAAA", "é", "\ud800", "Cg", "CgoK", "x" * 100_000])
def test_a_cursor_that_was_made_up_is_refused(store, made_up) -> None:
    with pytest.raises(BadCursorError):
        store.list(FindingQuery(cursor=made_up))


@pytest.mark.parametrize(
    "place", [(7, "", ""), (-1, "", ""), (0, "FINDING#f-1", "9"), (0, "FINDING#f-1", ""), (0, "", "1")]
)
def test_even_a_cursor_that_somebody_sealed_must_be_of_this_list(store, place) -> None:
    with pytest.raises(BadCursorError):
        store.list(FindingQuery(cursor=listing._cursor(_listed(FindingQuery()), listing._Position(*place))))
