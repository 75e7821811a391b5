"""What people ask for in Slack, as the function that somebody waits for hands it to the one that has time. No pydantic here."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asks: ids. `team` is the user's own workspace: elsewhere somebody else may have the same id."""

    user: str
    team: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """A button pressed, or an option chosen: of which post, about what (a finding's id), and the value that it carries.

    `id` is the request's, `at` the time at which Slack signed it: the same however often it is handed over. `response_url`
    takes answers.
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
    """The dismissal's form, sent; `days` None is for good. Otherwise as a press."""

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
    """The slash command with what follows it. Otherwise as a press."""

    id: str
    at: datetime
    asker: Asker
    response_url: str | None
    text: str
    kind: Literal["command"] = "command"


type Asked = Press | Dismissal | Command


def dumped(asked: Asked) -> str:
    """As JSON; times are RFC 3339."""
    return json.dumps(asdict(asked), default=datetime.isoformat)
