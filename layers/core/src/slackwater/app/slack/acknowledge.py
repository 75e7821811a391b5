"""Takes what Slack sends, and answers before Slack hangs up, after three seconds: the work is handed over.

Nothing here, or imported here, loads pydantic: a cold start is a part of those seconds.
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

from slackwater.model.slack_requests import Asked, Asker, Command, Dismissal, Press, dumped
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
"""Of a body: Slack sends the whole message with a press, and a message has some hundred thousand at most."""
MOST_FIELDS: Final = 100
LONGEST_TEXT: Final = 500
"""Characters of a command, and of what a button carries."""


class Guard(Protocol):
    """Lets each request through once."""

    def take(self, id: str, by: str) -> bool:
        """Record a request as taken; return False if another process had."""
        ...

    def give_back(self, id: str, by: str) -> None:
        """Remove our own record."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer: empty, a line, or JSON. `asked` is what was handed over; `note` is for the log."""

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
    """Everything that it takes.

    `signing_secret` is fetched when first needed; `open_modal` raises as a Channel does.
    """

    signing_secret: Callable[[], str]
    check: SignatureCheck
    guard: Guard
    hand_over: Callable[[str], None]
    open_modal: Callable[[str, Mapping[str, Any]], None]
    clock: Callable[[], datetime]

    def acknowledge(self, event: Mapping[str, Any]) -> Reply:
        """The answer to an HTTP request, as API Gateway's payload format 2.0 has it.

        Raises:
            AwsError: the secret could not be read, or the request not be handed over: it may come again.
        """
        try:
            return self._acknowledge(event)
        except RefusedError as error:
            return Reply(status=error.status, content=str(error), note=str(error))

    def _acknowledge(self, event: Mapping[str, Any]) -> Reply:
        headers = {str(name).lower(): str(value) for name, value in (event.get("headers") or {}).items()}
        body = _body(event)
        form = _form(headers, body)
        if form and form.get("ssl_check") == "1":  # Slack sees to the certificate, and signs nothing
            return Reply()
        try:
            signed_at = self.check(self.signing_secret(), headers, body, self.clock())
        except NotSlackError as error:
            raise RefusedError(HTTPStatus.UNAUTHORIZED, str(error)) from error
        if form is None:
            raise RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Slack sends {FORM} here")
        # Every press and every command has a trigger of its own: requests of one body are one, however they are signed.
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
        except Exception:  # whatever it was: nobody has it, so it may come again
            self.guard.give_back(sent.id, by)
            raise

    def _take(self, asked: Asked | None, sent: "_Sent") -> Reply:
        if asked is None:
            return Reply(note="nothing to do")
        if isinstance(asked, Press) and asked.action == "dismiss":
            # Here and now: a trigger is good for three seconds.
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
    """What Slack sent: an interaction has a payload, a command has none."""

    id: str
    at: datetime
    form: Mapping[str, str]
    payload: Mapping[str, Any]

    def text(self, *path: str) -> str:
        """The text at the end of a path of keys in the payload; empty where there is none."""
        value: Any = self.payload
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value if isinstance(value, str) and _unicode(value) else ""

    def common(self) -> dict[str, Any]:
        """What all that is asked has in common."""
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
    """The body, byte for byte as it was signed."""
    content = event.get("body") or ""
    if len(content) > MOST_BYTES * 4 / 3 + 4:
        raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body has more than {MOST_BYTES:,} bytes")
    try:
        body: bytes = b64decode(content, validate=True) if event.get("isBase64Encoded") else content.encode()
    except (binascii.Error, ValueError) as error:  # half of a surrogate pair is no text either
        raise RefusedError(HTTPStatus.BAD_REQUEST, "the body cannot be decoded") from error
    if len(body) > MOST_BYTES:
        raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body has more than {MOST_BYTES:,} bytes")
    return body


def _form(headers: Mapping[str, str], body: bytes) -> dict[str, str] | None:
    """The fields of a form, the first of each name; None where the body is none."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        return None
    try:
        fields = parse_qs(body.decode(errors="replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:  # more fields than Slack would send
        return {}
    return {name: values[0] for name, values in fields.items()}


def _payload(form: Mapping[str, str]) -> Mapping[str, Any]:
    """An interaction's JSON; empty where there is none."""
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
    """What somebody asks for; None where there is nothing to do."""
    if not sent.payload:
        if not sent.form.get("command"):
            raise RefusedError(HTTPStatus.BAD_REQUEST, "neither a command nor an interaction")
        return Command(**sent.common(), text=sent.form.get("text", "")[:LONGEST_TEXT])
    match sent.text("type"):
        case "block_actions":
            return _press(sent)
        case "view_submission":
            return _dismissal(sent)
        case _:
            raise RefusedError(HTTPStatus.BAD_REQUEST, "neither a press of a button nor a form")


def _press(sent: _Sent) -> Press | None:
    """The first of the presses: Slack sends one at a time."""
    if "view" in sent.payload and "message" not in sent.payload:  # a form tells all when it is sent
        return None
    actions = sent.payload.get("actions")
    action = replace(sent, payload=actions[0]) if isinstance(actions, list) and actions else None
    if action is None or not action.text("action_id"):
        raise RefusedError(HTTPStatus.BAD_REQUEST, "the press is of no button")
    post, _, about = action.text("block_id").partition("/")
    value = action.text("value") or action.text("selected_option", "value")
    return Press(**sent.common(), action=action.text("action_id"), post=post, about=about, value=value[:LONGEST_TEXT])


def _errors(sent: _Sent) -> dict[str, str]:
    """What is wrong with the dismissal's form, by field, as Slack shows it; nothing where it is none."""
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
    """JSON can hold halves of surrogate pairs, which are no text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
