"""Accepts requests from Slack, and answers within the three seconds that Slack waits. Another function does the work.

Neither this module nor its imports load pydantic, because a cold start is a part of those three seconds.
"""

import binascii
import hashlib
import json
import uuid
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final, Protocol
from urllib.parse import parse_qs

from slackwater.model.slack_requests import Asked, Asker, ButtonPress, Command, Dismissal, dumped
from slackwater.ports.slack import (
    ChannelBusyError,
    ChannelRefusedError,
    DeliveryUnknownError,
    NotSlackError,
    SignatureCheck,
)
from slackwater.views.slack import modals

FORM: Final = "application/x-www-form-urlencoded"
MOST_BYTES: Final = 1_000_000
"""The largest body, in bytes. Slack sends the whole message with a press, which has a few hundred thousand at most."""
MOST_FIELDS: Final = 100
LONGEST_TEXT: Final = 500
"""The longest text of a command, and value of a button, in characters."""


class Guard(Protocol):
    """Lets each request through once."""

    def take(self, id: str, by: str) -> bool:
        """Record that `by` handles a request; return False if another one has already recorded it."""
        ...

    def release(self, id: str, by: str) -> None:
        """Remove this process's own record."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The response: empty, a line, or JSON. `asked` is the request that was handed over; `note` is for the log."""

    status: HTTPStatus = HTTPStatus.OK
    content: str | Mapping[str, Any] = ""
    asked: Asked | None = None
    note: str | None = None


class RefusedError(Exception):
    """A request is refused."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        """Create the error with a line that quotes nothing of the request."""
        super().__init__(why)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledger:
    """Accepts requests from Slack, with the adapters that this needs.

    `signing_secret` is fetched when it is first needed. `open_modal` raises the same errors as a Channel.
    """

    signing_secret: Callable[[], str]
    check: SignatureCheck
    guard: Guard
    hand_over: Callable[[str], None]
    open_modal: Callable[[str, Mapping[str, Any]], None]
    clock: Callable[[], datetime]

    def acknowledge(self, event: Mapping[str, Any]) -> Reply:
        """Return the response to an HTTP request in API Gateway's payload format 2.0.

        Raises:
            AwsError: The secret could not be read, or the request could not be handed over. Slack may send it again.
        """
        try:
            return self._acknowledge(event)
        except RefusedError as error:
            return Reply(status=error.status, content=str(error), note=str(error))

    def _acknowledge(self, event: Mapping[str, Any]) -> Reply:
        headers = {str(name).lower(): str(value) for name, value in (event.get("headers") or {}).items()}
        body = _body(event)
        form = _form(headers, body)
        if form and form.get("ssl_check") == "1":  # Slack checks the certificate with an unsigned request
            return Reply()
        try:
            signed_at = self.check(self.signing_secret(), headers, body, self.clock())
        except NotSlackError as error:
            raise RefusedError(HTTPStatus.UNAUTHORIZED, str(error)) from error
        if form is None:
            raise RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Slack sends {FORM} here")
        # Every press and every command has a trigger id of its own. So requests with the same body are the same
        # request, even if their signatures differ.
        sent = _Sent(id=hashlib.sha256(body).hexdigest(), at=signed_at, form=form, payload=_payload(form))
        if errors := _errors(sent):
            return Reply(content={"response_action": "errors", "errors": errors})
        asked = _asked(sent)
        by = str(event.get("requestContext", {}).get("requestId") or uuid.uuid4().hex)
        if not self.guard.take(sent.id, by):
            if "x-slack-retry-num" in headers:
                return Reply(note="came again")
            raise RefusedError(HTTPStatus.UNAUTHORIZED, "the request was taken before")
        try:
            return self._take(asked, sent)
        except Exception:  # whatever the error, the request was not handed over, so Slack may send it again
            self.guard.release(sent.id, by)
            raise

    def _take(self, asked: Asked | None, sent: "_Sent") -> Reply:
        if asked is None:
            return Reply(note="nothing to do")
        if isinstance(asked, ButtonPress) and asked.action == "dismiss":
            # Open the form here, because a trigger id is valid for three seconds only.
            try:
                self.open_modal(
                    sent.text("trigger_id"), modals.dismissal(asked.post, asked.about, asked.response_url or "")
                )
                return Reply(note="asked for the reason")
            except (ChannelBusyError, ChannelRefusedError, DeliveryUnknownError) as error:
                asked = replace(asked, value=str(error))
        self.hand_over(dumped(asked))
        return Reply(asked=asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """A request from Slack. An interaction has a payload; a command has none."""

    id: str
    at: datetime
    form: Mapping[str, str]
    payload: Mapping[str, Any]

    def text(self, *path: str) -> str:
        """Return the text at a path of keys in the payload; an empty text if there is none."""
        value: Any = self.payload
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value if isinstance(value, str) and _unicode(value) else ""

    def common(self) -> dict[str, Any]:
        """Return the fields that every kind of request has."""
        if self.payload:
            user, team = self.text("user", "id"), self.text("user", "team_id") or self.text("team", "id")
            response_url = self.text("response_url")
        else:
            user, team, response_url = (self.form.get(name, "") for name in ("user_id", "team_id", "response_url"))
        if not user:
            raise RefusedError(HTTPStatus.BAD_REQUEST, "the request names no user")
        return {
            "id": self.id,
            "at": self.at,
            "asker": Asker(user=user, team=team or None),
            "response_url": response_url or None,
        }


def _body(event: Mapping[str, Any]) -> bytes:
    """Return the body, byte for byte as Slack signed it."""
    content = event.get("body") or ""
    if len(content) > MOST_BYTES * 4 / 3 + 4:
        raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body has more than {MOST_BYTES:,} bytes")
    try:
        body: bytes = b64decode(content, validate=True) if event.get("isBase64Encoded") else content.encode()
    except (binascii.Error, ValueError) as error:  # a text with half a surrogate pair cannot be encoded
        raise RefusedError(HTTPStatus.BAD_REQUEST, "the body cannot be decoded") from error
    if len(body) > MOST_BYTES:
        raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body has more than {MOST_BYTES:,} bytes")
    return body


def _form(headers: Mapping[str, str], body: bytes) -> dict[str, str] | None:
    """Return the fields of a form, the first of each name; None if the body is not a form."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        return None
    try:
        fields = parse_qs(body.decode(errors="replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:  # more fields than Slack would send
        return {}
    return {name: values[0] for name, values in fields.items()}


def _payload(form: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the JSON of an interaction; empty if there is none."""
    if "payload" not in form:
        return {}
    try:
        payload = json.loads(form["payload"])
    except (ValueError, RecursionError) as error:
        raise RefusedError(HTTPStatus.BAD_REQUEST, "the payload is not JSON") from error
    if not isinstance(payload, dict) or not payload:
        raise RefusedError(HTTPStatus.BAD_REQUEST, "the payload is no interaction")
    return payload


def _asked(sent: _Sent) -> Asked | None:
    """Return what the person asks for; None if there is nothing to do."""
    if not sent.payload:
        if not sent.form.get("command"):
            raise RefusedError(HTTPStatus.BAD_REQUEST, "neither a command nor an interaction")
        return Command(**sent.common(), text=sent.form.get("text", "")[:LONGEST_TEXT])
    match sent.text("type"):
        case "block_actions":
            return _button_press(sent)
        case "view_submission":
            return _dismissal(sent)
        case _:
            raise RefusedError(HTTPStatus.BAD_REQUEST, "neither a press of a button nor a form")


def _button_press(sent: _Sent) -> ButtonPress | None:
    """Return the first press in the request: Slack sends one at a time. None for a choice in an open form."""
    if "view" in sent.payload and "message" not in sent.payload:  # Slack sends all choices when the form is submitted
        return None
    actions = sent.payload.get("actions")
    action = replace(sent, payload=actions[0]) if isinstance(actions, list) and actions else None
    if action is None or not action.text("action_id"):
        raise RefusedError(HTTPStatus.BAD_REQUEST, "the press is of no button")
    post, _, about = action.text("block_id").partition("/")
    value = action.text("value") or action.text("selected_option", "value")
    return ButtonPress(
        **sent.common(), action=action.text("action_id"), post=post, about=about, value=value[:LONGEST_TEXT]
    )


def _errors(sent: _Sent) -> dict[str, str]:
    """Return what is wrong with the form of a dismissal, by field, for Slack to show; empty for other requests."""
    if sent.text("type") != "view_submission" or sent.text("view", "callback_id") != modals.DISMISSAL:
        return {}
    why, until = _why(sent), _field(sent, modals.UNTIL, "selected_option", "value")
    errors = {}
    if not why:
        errors[modals.WHY] = "A dismissal needs a reason."
    elif len(why) > modals.LONGEST_WHY:
        errors[modals.WHY] = f"At most {modals.LONGEST_WHY:,} characters."
    if until not in modals.TERMS:
        errors[modals.UNTIL] = "Choose one."
    return errors


def _dismissal(sent: _Sent) -> Dismissal:
    if sent.text("view", "callback_id") != modals.DISMISSAL:
        raise RefusedError(HTTPStatus.BAD_REQUEST, "the form is none of ours")
    try:
        about = replace(sent, payload=json.loads(sent.text("view", "private_metadata")))
    except (ValueError, RecursionError) as error:
        raise RefusedError(HTTPStatus.BAD_REQUEST, "the form does not say what it is about") from error
    until = _field(sent, modals.UNTIL, "selected_option", "value")
    return Dismissal(
        **sent.common() | {"response_url": about.text("response_url") or None},
        post=about.text("post"),
        about=about.text("finding"),
        why=_why(sent),
        days=None if until == modals.FOR_GOOD else int(until),
    )


def _why(sent: _Sent) -> str:
    return _field(sent, modals.WHY, "value").strip()


def _field(sent: _Sent, name: str, *path: str) -> str:
    return sent.text("view", "state", "values", name, name, *path)


def _unicode(text: str) -> bool:
    """Return whether a text can be encoded. JSON can contain half a surrogate pair, which cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
