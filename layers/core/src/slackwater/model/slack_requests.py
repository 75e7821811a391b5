"""Requests from Slack, in the form in which the function that must answer at once passes them on.

This module does not import pydantic, so that the function starts fast.
"""

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """The user who sent the request. `team` is the user's own workspace, because ids are unique only within one."""

    user: str
    team: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonPress:
    """A pressed button, or a chosen option.

    Attributes:
        id: The id of the request. If the request is passed on again, `id` and `at` stay the same.
        at: When Slack signed the request.
        response_url: Where to send answers.
        post: The post with the button.
        about: The finding's id.
        value: The value of the button.
    """

    id: str
    at: datetime
    asker: Asker
    response_url: str | None
    action: str
    post: str
    about: str
    value: str
    kind: Literal["press"] = "press"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dismissal:
    """The submitted form of a dismissal. If `days` is None, it does not expire. For other fields, see ButtonPress."""

    id: str
    at: datetime
    asker: Asker
    response_url: str | None
    post: str
    about: str
    why: str
    days: int | None
    kind: Literal["dismissal"] = "dismissal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """The slash command with its text. For other fields, see ButtonPress."""

    id: str
    at: datetime
    asker: Asker
    response_url: str | None
    text: str
    kind: Literal["command"] = "command"


type Asked = ButtonPress | Dismissal | Command


def dumped(asked: Asked) -> str:
    """Return a request as JSON, with RFC 3339 times."""
    return json.dumps(asdict(asked), default=datetime.isoformat)
