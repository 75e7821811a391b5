"""The outbox in the template's table and the tests' outbox pass the same tests. Then come tests of the table alone."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from slackwater.aws.store.outbox import DynamoOutbox
from slackwater.model.posts import Message, Post, Sent
from slackwater.ports.errors import AwsError, BrokenAnswerError
from slackwater.ports.slack import Outbox
from support.slack_world import MemoryOutbox

MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)
NOW = MONDAY + timedelta(hours=1)
MINUTE = timedelta(minutes=1)
BLOCK = {"type": "section", "block_id": "a/1", "text": {"type": "plain_text", "text": "日本 & <b>", "emoji": False}}


def post(id_: str = "audit-1.0.0", **changes) -> Post:
    made = Post(
        id=id_, audit_id="audit-1", created_at=MONDAY, channel="C0DEFAULT", thread_of=None,
        message=Message(text="New: 3", blocks=(BLOCK,)), findings=("f-1", "f-2"),
    )  # fmt: skip
    return replace(made, **changes)


@pytest.fixture(params=["table", "memory"])
def outbox(request) -> Outbox:
    return MemoryOutbox() if request.param == "memory" else request.getfixturevalue("dynamo")


@pytest.fixture
def dynamo(stored) -> DynamoOutbox:
    return DynamoOutbox(stored.table, lambda: NOW)


def ids(outbox: Outbox) -> list[str]:
    return [one.id for one in outbox.waiting()]


def test_a_post_comes_back_as_it_was_recorded(outbox) -> None:
    outbox.record([post()])

    assert outbox.get("audit-1.0.0") == post()
    assert outbox.get("audit-1.0.1") is None
    assert list(outbox.waiting()) == [post()]


def test_a_post_that_went_its_way_comes_back_as_it_was_written(outbox) -> None:
    outbox.record([post()])
    sending = post(
        state="sending", attempts=1, tried_at=MONDAY + timedelta(microseconds=7), not_before=NOW, why="busy", revision=1
    )
    sent = replace(sending, state="sent", sent=Sent(channel="C0DEFAULT", ts="1794820062.000001"), revision=2)

    assert outbox.write(sending)
    assert list(outbox.waiting()) == [sending]
    assert outbox.write(sent)
    assert outbox.get(sent.id) == sent


def test_a_post_that_is_there_stays_as_it_is_and_those_after_it_are_recorded(outbox) -> None:
    outbox.record([post()])
    outbox.write(post(state="sent", revision=1))
    outbox.record([post(message=Message(text="another")), post("audit-1.0.1")])

    assert outbox.get("audit-1.0.0") == post(state="sent", revision=1)
    assert ids(outbox) == ["audit-1.0.1"]


@pytest.mark.parametrize("revision", [0, 1, 3])
def test_who_did_not_read_what_is_stored_writes_nothing(outbox, revision) -> None:
    outbox.record([post()])
    assert outbox.write(post(why="first", revision=1))

    assert not outbox.write(post(why="late", revision=revision))
    assert outbox.get("audit-1.0.0").why == "first"


def test_a_post_that_was_never_recorded_is_not_written(outbox) -> None:
    assert not outbox.write(post(revision=1))
    assert outbox.get("audit-1.0.0") is None


def test_of_two_who_take_the_same_post_one_has_it(outbox) -> None:
    outbox.record([post()])

    assert [outbox.write(post(state="sending", why=who, revision=1)) for who in "ab"] == [True, False]


@pytest.mark.parametrize("state", ["sent", "failed"])
def test_only_what_is_on_its_way_waits(outbox, state) -> None:
    outbox.record([post(f"audit-1.0.{n}") for n in range(3)])
    outbox.write(post("audit-1.0.0", state="sending", revision=1))
    outbox.write(post("audit-1.0.1", state=state, revision=1))

    assert ids(outbox) == ["audit-1.0.0", "audit-1.0.2"]


def test_what_waits_comes_in_the_order_in_which_it_was_recorded(outbox) -> None:
    of_one = [f"audit-1.{slot}.{n}" for slot in (0, 1, 2, 10, 11) for n in range(12)]
    later = [post(f"audit-0.0.{n}", created_at=MONDAY + MINUTE) for n in range(2)]
    outbox.record(later)
    outbox.record([post(id_) for id_ in of_one])

    assert ids(outbox) == [*of_one, "audit-0.0.0", "audit-0.0.1"]


# -- The table


def test_more_waits_than_is_read_at_once(dynamo, stored, monkeypatch) -> None:
    of_one = [f"audit-1.0.{n}" for n in range(130)]
    dynamo.record([post(id_) for id_ in of_one])
    works = stored.client.query
    monkeypatch.setattr(stored.client, "query", lambda **question: works(**question, Limit=50))

    assert ids(dynamo) == of_one


def test_a_stale_entry_of_the_index_is_returned_in_its_current_state(dynamo, stored, monkeypatch) -> None:
    dynamo.record([post("audit-1.0.0"), post("audit-1.0.1")])
    stale = stored.client.scan(TableName="slackwater", IndexName="by_age")
    dynamo.write(post("audit-1.0.0", state="sent", revision=1))
    dynamo.write(post("audit-1.0.1", state="sending", revision=1))
    monkeypatch.setattr(stored.client, "query", lambda **_: stale)

    assert [(one.id, one.state) for one in dynamo.waiting()] == [("audit-1.0.1", "sending")]


def test_a_post_that_waits_does_not_expire_and_one_that_is_done_does_after_ninety_days(dynamo, stored) -> None:
    dynamo.record([post()])
    (item,) = stored.items()
    assert "expires_at" not in item
    assert item["listing"] == {"S": "post-waiting"}

    dynamo.write(post(state="failed", why="is_archived", revision=1))
    (item,) = stored.items()
    assert item["expires_at"] == {"N": str(int((NOW + timedelta(days=90)).timestamp()))}
    assert not {"listing", "age_key"} & set(item)


def test_a_table_that_does_not_answer_is_not_an_empty_outbox(dynamo, stored, monkeypatch) -> None:
    monkeypatch.setattr(stored.client, "query", lambda **_: {})
    monkeypatch.setattr(stored.client, "batch_get_item", lambda **_: {})

    for ask in (lambda: list(dynamo.waiting()), lambda: dynamo.get("audit-1.0.0")):
        with pytest.raises(AwsError):
            ask()


def test_a_post_that_cannot_be_read_is_named(dynamo, stored) -> None:
    dynamo.record([post()])
    (item,) = stored.items()
    stored.client.put_item(TableName="slackwater", Item=item | {"document": {"S": "{}"}})

    with pytest.raises(BrokenAnswerError, match=r"POST#audit-1\.0\.0"):
        dynamo.get("audit-1.0.0")


STATES = some.sampled_from(["pending", "sending", "sent", "failed"])


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=some.lists(some.tuples(some.integers(0, 3), STATES, some.integers(-1, 2)), max_size=25))
def test_whatever_is_written_both_hold_the_same(stored, steps) -> None:
    for item in stored.items():
        stored.client.delete_item(TableName="slackwater", Key={"pk": item["pk"], "sk": item["sk"]})
    both: tuple[Outbox, Outbox] = (DynamoOutbox(stored.table, lambda: NOW), MemoryOutbox())
    for n, state, ahead in steps:
        id_ = f"audit-1.0.{n}"
        one = post(id_, state=state, revision=max(0, (getattr(both[1].get(id_), "revision", 0)) + ahead))
        if state == "pending" and ahead < 0:
            for outbox in both:
                outbox.record([replace(one, revision=0)])
        else:
            written = [outbox.write(one) for outbox in both]
            assert written[0] == written[1]
    assert list(both[0].waiting()) == list(both[1].waiting())
    assert [both[0].get(f"audit-1.0.{n}") for n in range(4)] == [both[1].get(f"audit-1.0.{n}") for n in range(4)]
