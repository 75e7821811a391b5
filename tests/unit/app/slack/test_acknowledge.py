"""Which requests the endpoint accepts, refuses and hands over, with fakes for Slack and the stores."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.signature import SignatureVerifier

from slackwater.app.slack.acknowledge import MOST_BYTES, Acknowledger, Reply
from slackwater.ports.errors import AwsError, BrokenAnswerError
from slackwater.ports.slack import ChannelRefusedError, NotSlackError
from slackwater.slack.signature import WINDOW_S, check
from slackwater.views.slack import modals

NOW = datetime(2026, 11, 16, 9, 7, 42, 250_000, tzinfo=UTC)
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
URL = "https://hooks.slack.com/actions/T0TEAM/1/2"
FORM = {"content-type": "application/x-www-form-urlencoded"}

PRESS = {
    "type": "block_actions", "user": {"id": "U0JANE", "username": "jane", "team_id": "T0TEAM"}, "api_app_id": "A0APP",
    "team": {"id": "T0OTHER", "domain": "acme"}, "enterprise": None, "trigger_id": "1.2.3", "response_url": URL,
    "container": {"type": "message", "message_ts": "1.2", "channel_id": "C0DEFAULT"},
    "message": {"ts": "1.2", "blocks": []},
    "actions": [{
        "action_id": "snooze", "block_id": "monday.0.0/f00d", "type": "static_select",
        "selected_option": {"text": {"type": "plain_text", "text": "30 days"}, "value": "30"},
    }],
}  # fmt: skip
DISMISS = {
    **PRESS,
    "actions": [{"action_id": "dismiss", "block_id": "monday.0.0/f00d", "type": "button", "value": "f00d"}],
}
COMMAND = {
    "command": "/slackwater", "text": "top 3", "user_id": "U0JANE", "team_id": "T0TEAM", "trigger_id": "1.2.3",
    "response_url": URL, "channel_id": "C0DEFAULT", "api_app_id": "A0APP",
}  # fmt: skip


def submission(why: Any = "a museum", until: Any = "30", **view: Any) -> dict[str, Any]:
    """Return the submitted dismissal form, as Slack sends it."""
    values = {
        "why": {"why": {"type": "plain_text_input", "value": why}},
        "until": {"until": {"selected_option": {"value": until}}},
    }
    opened = modals.dismissal("monday.0.0", "f00d", URL)
    sent = {
        "callback_id": opened["callback_id"],
        "private_metadata": opened["private_metadata"],
        "state": {"values": values},
    }
    return {
        "type": "view_submission", "user": {"id": "U0JANE"}, "team": {"id": "T0TEAM"}, "enterprise": {"id": "E0ORG"},
        "trigger_id": "1.2.4", "view": sent | view,
    }  # fmt: skip


def interaction(payload: Any) -> bytes:
    return urlencode({"payload": json.dumps(payload)}).encode()


def signed(body: bytes, at: datetime = NOW, secret: str = SECRET) -> dict[str, str]:
    timestamp = str(int(at.timestamp()))
    signature = SignatureVerifier(secret).generate_signature(timestamp=timestamp, body=body)
    return {"x-slack-request-timestamp": timestamp, "x-slack-signature": str(signature)}


def event(body: bytes, headers: Mapping[str, str] | None = None, *, encoded: bool = False) -> dict[str, Any]:
    """Return a request as API Gateway passes it on. It is signed unless `headers` are given."""
    return {
        "version": "2.0",
        "headers": FORM | (signed(body) if headers is None else dict(headers)),
        "requestContext": {"requestId": "JKJaXmPLvHcESHA="},
        "body": b64encode(body).decode() if encoded else body.decode(errors="surrogateescape"),
        "isBase64Encoded": encoded,
    }


@dataclass
class World:
    """Everything that the endpoint needs.

    If `broken` is set, handing over raises it. If `modal` is set, opening a modal raises it.
    """

    broken: Exception | None = None
    modal: Exception | None = None
    request_ids: dict[str, str] = field(default_factory=dict)
    handed_over: list[dict[str, Any]] = field(default_factory=list)
    opened: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    now: datetime = NOW

    def take(self, id: str, by: str) -> bool:
        return self.request_ids.setdefault(id, by) == by

    def release(self, id: str, by: str) -> None:
        assert self.request_ids.pop(id) == by

    def hand_over(self, task: str) -> None:
        if self.broken:
            raise self.broken
        self.handed_over.append(json.loads(task))

    def open_modal(self, trigger_id: str, view: Mapping[str, Any]) -> None:
        if self.modal:
            raise self.modal
        self.opened.append((trigger_id, view))

    def acknowledge(self, event: Mapping[str, Any]) -> Reply:
        return Acknowledger(
            signing_secret=lambda: SECRET,
            check=check,
            guard=self,
            hand_over=self.hand_over,
            open_modal=self.open_modal,
            clock=lambda: self.now,
        ).acknowledge(event)


def send(payload: Any, world: World | None = None) -> tuple[Reply, World]:
    world = world or World()
    return world.acknowledge(event(interaction(payload))), world


def request_id(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


# -- The signature


def test_what_slack_signed_is_good_from_five_minutes_before_to_five_after() -> None:
    body = b"payload=%7B%7D"
    for seconds in (-WINDOW_S, 0, WINDOW_S):
        at = NOW.replace(microsecond=0)
        check(SECRET, signed(body, at), body, at + timedelta(seconds=seconds))
    for seconds in (-WINDOW_S - 1, WINDOW_S + 1, 86_400):
        with pytest.raises(NotSlackError, match="within 5 minutes"):
            check(SECRET, signed(body, NOW), body, NOW.replace(microsecond=0) + timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({}, "not signed"),
        ({"x-slack-signature": ""}, "not signed"),
        ({"x-slack-request-timestamp": ""}, "not signed"),
        ({"x-slack-request-timestamp": "soon"}, "no time"),
        ({"x-slack-request-timestamp": "1e9"}, "no time"),
        ({"x-slack-request-timestamp": "-5"}, "no time"),
        ({"x-slack-request-timestamp": "１７９４"}, "no time"),
        ({"x-slack-request-timestamp": "9" * 5_000}, "no time"),
        ({"x-slack-signature": "v0="}, "does not fit"),
        ({"x-slack-signature": "v0=" + "0" * 64}, "does not fit"),
        ({"x-slack-signature": "v0=" + "é" * 64}, "does not fit"),
        ({"x-slack-signature": "v1=" + "0" * 64}, "does not fit"),
    ],
)
def test_a_request_that_slack_did_not_sign_is_refused_with_the_reason(headers: dict[str, str], why: str) -> None:
    body = b"payload=%7B%7D"
    given = signed(body) | headers if headers else {}

    with pytest.raises(NotSlackError, match=why):
        check(SECRET, given, body, NOW)


def test_a_request_that_was_tampered_with_is_refused() -> None:
    body = interaction(PRESS)
    later = str(int(NOW.timestamp()) + 1)
    for headers, sent in (
        (signed(body), body.replace(b"U0JANE", b"U0EVIL")),
        (signed(body), body + b"&"),
        (signed(body) | {"x-slack-request-timestamp": later}, body),
        (signed(body, secret="another"), body),
        (signed(body), b"\xff\xfe"),
    ):
        world = World()
        reply = world.acknowledge(event(sent, headers, encoded=True))
        assert (reply.status, reply.content) == (401, "the signature does not fit the request")
        assert not world.request_ids
        assert not world.handed_over


def test_an_unsigned_and_a_late_request_are_refused_in_a_line() -> None:
    body = interaction(PRESS)
    for headers, why in (
        ({}, "the request is not signed"),
        (signed(body, NOW - timedelta(seconds=301)), "the request is not from within 5 minutes of now"),
        (signed(body, NOW + timedelta(seconds=302)), "the request is not from within 5 minutes of now"),
        ({**signed(body), "x-slack-request-timestamp": "soon"}, "the request's time stamp is no time"),
    ):
        world = World()
        reply = world.acknowledge(event(body, headers))
        assert (reply.status, reply.content, reply.note) == (401, why, why)
        assert not world.handed_over


@given(body=st.binary(), timestamp=st.text(), signature=st.text())
def test_whatever_the_headers_hold_is_refused_with_a_reason(body: bytes, timestamp: str, signature: str) -> None:
    with pytest.raises(NotSlackError):
        check(SECRET, {"x-slack-request-timestamp": timestamp, "x-slack-signature": signature}, body, NOW)


# -- Requests that are handed over


@pytest.mark.parametrize("encoded", [False, True])
def test_a_press_is_handed_over_with_what_it_takes_to_answer_it(encoded: bool) -> None:
    world, body = World(), interaction(PRESS)
    reply = world.acknowledge(event(body, encoded=encoded))

    assert (reply.status, reply.content) == (200, "")
    assert world.handed_over == [{
        "kind": "press", "id": request_id(body), "at": "2026-11-16T09:07:42+00:00", "response_url": URL,
        "asker": {"user": "U0JANE", "team": "T0TEAM"},
        "action": "snooze", "post": "monday.0.0", "about": "f00d", "value": "30",
    }]  # fmt: skip
    assert world.request_ids == {request_id(body): "JKJaXmPLvHcESHA="}


def test_header_names_may_be_written_in_any_case() -> None:
    body = interaction(PRESS)
    headers = {name.title(): value for name, value in (FORM | signed(body)).items()}

    assert World().acknowledge({**event(body), "headers": headers}).status == 200


def test_without_a_users_team_it_is_the_workspaces() -> None:
    _, world = send({**PRESS, "user": {"id": "U0JANE"}, "enterprise": {"id": "E0ORG"}})

    assert world.handed_over[0]["asker"] == {"user": "U0JANE", "team": "T0OTHER"}


def test_a_command_is_handed_over() -> None:
    world, body = World(), urlencode(COMMAND).encode()
    reply = world.acknowledge(event(body))

    assert (reply.status, reply.content) == (200, "")
    assert world.handed_over == [{
        "kind": "command", "id": request_id(body), "at": "2026-11-16T09:07:42+00:00", "response_url": URL,
        "asker": {"user": "U0JANE", "team": "T0TEAM"}, "text": "top 3",
    }]  # fmt: skip


def test_a_command_is_cut_to_what_one_could_mean() -> None:
    world = World()
    world.acknowledge(event(urlencode(COMMAND | {"text": "x" * 9_000}).encode()))

    assert world.handed_over[0]["text"] == "x" * 500


def test_the_dismissals_form_is_opened_at_once_and_nothing_handed_over() -> None:
    reply, world = send(DISMISS)

    assert (reply.status, reply.content, world.handed_over) == (200, "", [])
    assert world.opened == [("1.2.3", modals.dismissal("monday.0.0", "f00d", URL))]


def test_a_form_that_could_not_be_opened_is_reported() -> None:
    reply, world = send(DISMISS, World(modal=ChannelRefusedError("expired_trigger_id")))

    assert reply.status == 200
    assert [(one["action"], one["value"]) for one in world.handed_over] == [("dismiss", "expired_trigger_id")]


@pytest.mark.parametrize(("until", "days"), [("30", 30), ("365", 365), ("for-good", None)])
def test_a_dismissal_is_handed_over_with_its_reason(until: str, days: int | None) -> None:
    payload = submission("  a museum\n", until)
    reply, world = send(payload)

    assert (reply.status, reply.content) == (200, "")
    assert world.handed_over == [{
        "kind": "dismissal", "id": request_id(interaction(payload)), "at": "2026-11-16T09:07:42+00:00",
        "response_url": URL, "asker": {"user": "U0JANE", "team": "T0TEAM"},
        "post": "monday.0.0", "about": "f00d", "why": "a museum", "days": days,
    }]  # fmt: skip


@pytest.mark.parametrize(
    ("why", "until", "fields"),
    [
        ("", "30", {"why"}),
        (" \n\t", "30", {"why"}),
        (None, "30", {"why"}),
        ("x" * 1_001, "30", {"why"}),
        ("half \ud83d", "30", {"why"}),
        ("a museum", "31", {"until"}),
        ("a museum", None, {"until"}),
        (None, None, {"why", "until"}),
    ],
)
def test_a_form_that_is_not_filled_in_is_shown_again_with_what_is_wrong(why: Any, until: Any, fields: set[str]) -> None:
    reply, world = send(submission(why, until))

    assert reply.status == 200
    assert isinstance(reply.content, Mapping)
    assert (reply.content["response_action"], reply.content["errors"].keys()) == ("errors", fields)
    assert all(reply.content["errors"].values())
    assert not world.handed_over
    assert not world.request_ids


def test_a_field_within_a_form_is_nothing_to_answer() -> None:
    world = World()
    payload = {name: value for name, value in PRESS.items() if name != "message"} | {
        "view": {"callback_id": "dismissal"}
    }

    assert send(payload, world)[0].status == 200
    assert not world.handed_over


# -- Replays and retries


def test_a_replayed_request_is_refused_and_a_retried_one_is_good_and_nothing_is_done_again() -> None:
    world, body = World(), interaction(PRESS)
    first = event(body)
    again = {**first, "requestContext": {"requestId": "another"}}

    assert world.acknowledge(first).status == 200
    replayed = world.acknowledge(again)
    assert (replayed.status, replayed.content) == (401, "the request was taken before")
    retried = world.acknowledge({**again, "headers": {**again["headers"], "x-slack-retry-num": "1"}})
    assert (retried.status, retried.content) == (200, "")
    assert len(world.handed_over) == 1


def test_without_a_request_id_of_the_gateways_a_replay_is_refused_too() -> None:
    world, body = World(), interaction(PRESS)
    first = {name: value for name, value in event(body).items() if name != "requestContext"}

    assert world.acknowledge(first).status == 200
    assert world.acknowledge(first).status == 401
    assert world.acknowledge({**first, "requestContext": {"requestId": ""}}).status == 401
    assert len(world.handed_over) == 1


def test_a_repeated_request_has_the_time_of_its_signature() -> None:
    world, body = World(), interaction(PRESS)
    world.acknowledge(event(body))
    world.request_ids.clear()  # the request id is given back, although Lambda received the task
    world.now = NOW + timedelta(seconds=200)
    world.acknowledge(event(body))

    assert [one["at"] for one in world.handed_over] == ["2026-11-16T09:07:42+00:00"] * 2


def test_a_retry_that_is_signed_anew_is_the_same_request() -> None:
    world, body = World(), interaction(PRESS)
    world.acknowledge(event(body))
    headers = signed(body, NOW + timedelta(seconds=60)) | {
        "x-slack-retry-num": "1",
        "x-slack-retry-reason": "http_timeout",
    }

    assert world.acknowledge({**event(body, headers), "requestContext": {"requestId": "another"}}).status == 200
    assert len(world.handed_over) == 1


@pytest.mark.parametrize("broken", [OSError("throttled"), AwsError("throttled"), BrokenAnswerError("throttled")])
def test_what_could_not_be_handed_over_may_come_again(broken: Exception) -> None:
    world, first = World(broken=broken), event(interaction(PRESS))
    with pytest.raises(type(broken), match="throttled"):
        world.acknowledge(first)
    assert not world.request_ids

    world.broken = None
    again = {
        **first,
        "headers": {**first["headers"], "x-slack-retry-num": "1"},
        "requestContext": {"requestId": "another"},
    }
    assert world.acknowledge(again).status == 200
    assert len(world.handed_over) == 1


# -- Requests that are not for Slackwater


def test_the_check_of_the_certificate_is_answered_and_asks_for_no_secret() -> None:
    def never() -> Any:
        raise AssertionError

    world = World()
    acknowledger = Acknowledger(
        signing_secret=never, check=check, guard=world, hand_over=never, open_modal=never, clock=lambda: NOW
    )
    reply = acknowledger.acknowledge(event(b"ssl_check=1&token=x", {}))

    assert (reply.status, reply.content) == (200, "")


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b'{"type": "url_verification"}', "application/json", 415),
        (b"x=1", None, 415),
        (b"", "application/x-www-form-urlencoded; charset=utf-8", 400),
        (b"payload=%7B", "application/x-www-form-urlencoded", 400),
        (b"payload=%5B%5D", "application/x-www-form-urlencoded", 400),
        (b"payload=" + b"%5B" * 100_000, "application/x-www-form-urlencoded", 400),
        (b"&".join(b"x%d=1" % n for n in range(101)), "application/x-www-form-urlencoded", 400),
        (b"&".join([urlencode(COMMAND).encode(), *(b"x%d=1" % n for n in range(100))]),
         "application/x-www-form-urlencoded", 400),
        (interaction({"type": "shortcut", "user": {"id": "U0JANE"}}), "application/x-www-form-urlencoded", 400),
        (interaction({**PRESS, "actions": []}), "application/x-www-form-urlencoded", 400),
        (interaction({**PRESS, "user": {}}), "application/x-www-form-urlencoded", 400),
        (interaction(submission(callback_id="another")), "application/x-www-form-urlencoded", 400),
        (interaction(submission(private_metadata="{")), "application/x-www-form-urlencoded", 400),
        (b"ssl_check=0", "application/x-www-form-urlencoded", 400),
    ],
)  # fmt: skip
def test_what_is_signed_and_none_of_ours_has_a_status_that_says_so(body: bytes, kind: str | None, status: int) -> None:
    world = World()
    headers = signed(body) | ({"content-type": kind} if kind else {})
    reply = world.acknowledge({**event(body), "headers": headers})

    assert reply.status == status
    assert isinstance(reply.content, str)
    assert 0 < len(reply.content) < 100
    assert not world.request_ids
    assert not world.handed_over


def test_a_body_that_is_too_large_or_not_decodable_is_refused_unread() -> None:
    large = b"x" * (MOST_BYTES + 1)
    for encoded in (False, True):
        assert World().acknowledge(event(large, encoded=encoded)).status == 413
    endless = {**event(b""), "body": "?" * (2 * MOST_BYTES), "isBase64Encoded": True}
    assert World().acknowledge(endless).status == 413
    broken = {**event(b""), "body": "?", "isBase64Encoded": True}
    assert World().acknowledge(broken).status == 400
    assert World().acknowledge({**event(b""), "body": "\ud800"}).status == 400
    assert World().acknowledge(event(b"payload=" + b"x" * (MOST_BYTES - 8), encoded=True)).status == 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def mangled(draw: st.DrawFn) -> Any:
    """Return one of Slack's payloads with a part of it replaced by random JSON."""
    payload = json.loads(json.dumps(draw(st.sampled_from([PRESS, DISMISS, submission()]))))
    part: Any = payload
    while True:
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        key = draw(st.sampled_from(keys))
        if not part[key] or not isinstance(part[key], dict | list) or draw(st.booleans()):
            part[key] = draw(JSON)
            return payload
        part = part[key]


@given(payload=mangled() | JSON)
def test_no_payload_is_more_than_it_can_bear(payload: Any) -> None:
    reply, world = send(payload)

    assert reply.status in {200, 400}
    if isinstance(reply.content, str) and reply.status == 400:
        assert reply.content
    for task in world.handed_over:
        json.dumps(task).encode()
        assert task["asker"]["user"]


@given(
    body=st.binary(), encoded=st.booleans(), kind=st.sampled_from(["application/x-www-form-urlencoded", "text/plain"])
)
def test_no_body_is_more_than_it_can_bear(body: bytes, encoded: bool, kind: str) -> None:
    world = World()
    for headers in (
        {},
        {"x-slack-request-timestamp": str(int(NOW.timestamp())), "x-slack-signature": "v0=" + "0" * 64},
    ):
        reply = world.acknowledge(event(body, {**headers, "content-type": kind}, encoded=encoded))
        assert reply.status in {200, 400, 401}
    assert not world.handed_over
