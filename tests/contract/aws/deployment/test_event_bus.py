"""Events reach EventBridge in order and within its limits. No lost event goes unnoticed."""

from datetime import UTC, datetime

import pytest
from botocore.exceptions import ClientError

from slackwater.aws.deployment.event_bus import MAX_BYTES, EventBridgeBus
from slackwater.ports.events import Event, NotSentError

NOW = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)


def event(number: int, bytes_: int = 10) -> Event:
    return Event("Finding Opened", NOW, (f"arn:{number}",), {"number": number, "padding": "x" * bytes_})


class Bus:
    """An event bus that refuses chosen events or fails at a chosen call."""

    home = "us-east-1"

    def __init__(self, refuses=(), cuts=None, fails_at=None) -> None:
        self.calls, self.refuses, self.cuts, self.fails_at = [], refuses, cuts, fails_at

    def client(self, service, region):
        assert service == "events"
        return self

    def put_events(self, Entries):
        self.calls.append(Entries)
        if self.fails_at == len(self.calls):
            raise ClientError({"Error": {"Code": "ThrottlingException", "Message": "Rate exceeded"}}, "PutEvents")
        answers = [
            {"ErrorCode": "InternalFailure", "ErrorMessage": "sorry"}
            if entry["Resources"][0] in self.refuses
            else {"EventId": "e"}
            for entry in Entries
        ]
        return {"FailedEntryCount": 0, "Entries": answers[: self.cuts]}


def sent(bus: Bus, events) -> None:
    EventBridgeBus(bus, "default").send(events)


def test_events_go_ten_a_call_in_their_order() -> None:
    bus = Bus()
    sent(bus, [event(number) for number in range(23)])

    assert [len(call) for call in bus.calls] == [10, 10, 3]
    assert [entry["Resources"] for call in bus.calls for entry in call] == [[f"arn:{number}"] for number in range(23)]
    assert bus.calls[0][0] | {"Detail": ""} == {
        "EventBusName": "default", "Source": "slackwater", "DetailType": "Finding Opened", "Time": NOW,
        "Resources": ["arn:0"], "Detail": "",
    }  # fmt: skip


def test_a_call_is_no_larger_than_the_bus_takes() -> None:
    bus = Bus()
    sent(bus, [event(number, 100_000) for number in range(5)])

    assert [len(call) for call in bus.calls] == [2, 2, 1]


def test_an_event_that_no_call_can_hold_is_named_and_those_before_it_are_sent() -> None:
    bus = Bus()
    with pytest.raises(NotSentError, match=r"event 12 .* where EventBridge takes 262144") as caught:
        sent(bus, [*(event(number) for number in range(12)), event(12, MAX_BYTES), event(13)])

    assert caught.value.index == 12
    assert sum(len(call) for call in bus.calls) == 12


@pytest.mark.parametrize(
    ("bus", "index", "says"),
    [
        (Bus(refuses={"arn:13", "arn:15"}), 13, "InternalFailure: sorry"),
        (Bus(fails_at=2), 10, "ThrottlingException: Rate exceeded"),
        (Bus(cuts=4), 4, "no word of this event"),
    ],
)
def test_the_first_event_that_was_not_accepted_is_named(bus, index, says) -> None:
    with pytest.raises(NotSentError, match=says) as caught:
        sent(bus, [event(number) for number in range(30)])

    assert caught.value.index == index
    assert len(bus.calls) <= 2


def test_without_events_there_is_no_call() -> None:
    bus = Bus()
    sent(bus, [])

    assert bus.calls == []
