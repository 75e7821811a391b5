"""Requests from Slack, as the function that must answer at once passes them on. Does not import pydantic, to start
fast.
"""

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asks. `team` is the user's own workspace, because ids are only unique within one."""

    user: str
    team: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonPress:
    """A pressed button, or a chosen option.

    Attributes:
        id: The id of the request. It stays the same if the request is passed on again, and so does `at`.
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
    """The submitted form of a dismissal; `days` None does not expire. Other fields as in ButtonPress."""

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
    """The slash command with its text. Other fields as in ButtonPress."""

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
