"""Decide when two states of a world are equal.

What counts: every resource without its metrics (only how many series it has, and when each began), every backup, AWS's
pending work, the records, the findings' states, the posts, the policy, the position of the execution, and what the
oracle remembers. Revisions and the texts of posts do not count.

Times are relative to now and rounded down: to a minute within 20 minutes, to ten minutes within two hours, to an hour
within two days, and to a day beyond. The product's own limits (10 minutes, an hour, a day) are multiples of these. Ids
and tokens are numbered in the order in which they appear.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from explorer.world import Small

UNSEEN: Final = frozenset({"telemetry", "activity", "clients", "revision", "numbers"})
VARIES: Final = re.compile(
    r"(?P<id>\b(?:vol|snap|fs|fsmt|fsap|fsvol|backup|svm)-[0-9a-f]{4,}(?:copy)?"
    r"|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{8}(?:[0-9a-fA-F]{4}|copy)|\b[0-9a-f]{32,64}\b)"
    r"|datetime\.datetime\((?P<parts>[\d, ]+?)(?:, tzinfo=[\w.]+)?\)"
    r"|\b(?P<text>20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?)(?:\.\d+)?(?:Z| UTC|\+00:00)?"
    r"|\b(?P<epoch>1[78]\d{8})(?:\.\d+)?\b"
)

type Piece = str | float | tuple[str]
"""A piece of a text: constant text, a time (epoch seconds), or an id."""


class Hasher:
    """Computes the hash of a world's state. Caches the text of each object, because branches share most objects."""

    def __init__(self) -> None:
        self._written: dict[int, tuple[Any, tuple[Piece, ...]]] = {}

    def of(self, world: Small) -> str:
        """Return the hash of a world's state."""
        account, ours = world.account, world.ours
        state = account._state
        fleet = state.fleet
        every = (*fleet.volumes, *fleet.efs, *fleet.fsx, *fleet.fsx_volumes)
        due = sorted((at, getattr(what, "__qualname__", "partial")) for at, _, what in account._due)
        tables = [table for name, table in state.tables.items() if name != "tokens"]
        parts: list[tuple[Piece, ...] | str] = [
            *(self._text(one) for one in every),
            str([event.at for event in fleet.events[-4:]]),
            *(self._text(one) for one in state.backups.values()),
            *(str([*table]) for table in tables),
            *(self._text(value) for table in tables for value in table.values()),
            str(state.contents),
            str(due),
            *(self._text(one) for one in ours.cleanups.cleanups.values()),
            str(ours.cleanups.holds),
            self._text(ours.cleanups.control_),
            str(
                [
                    (one.id, one.status, one.decision)
                    for one in ours.findings.findings.values()
                    if one.id == world.finding_id
                ]
            ),
            str([entry.happening for entry in ours.findings.entries]),
            str([(id_, post.state, post.sent_at, post.created_at) for id_, post in ours.outbox.posts.items()]),
            str({key: [len(text or "") for text in texts] for key, texts in ours.documents.texts.items()}),
            self._policy(ours.policies[-1]),
            repr(replace(world.position, started=0.0, events=0, steps=0)),
            repr(replace(world.oracle.facts, was=None)),
            *(self._text(one) for one in world.oracle.facts.was or ()),
        ]
        return hashlib.sha256("\n".join(self._same(parts, account.now)).encode()).hexdigest()[:24]

    @staticmethod
    def _policy(policy: Any) -> str:
        return repr(policy) if isinstance(policy, Exception) else repr(policy.cleanup)

    def _text(self, one: Any) -> tuple[Piece, ...]:
        known = self._written.get(id(one))
        if known is None:
            if len(self._written) > 100_000:
                self._written.clear()
            known = self._written[id(one)] = one, short(self._written_out(one))
        return known[1]

    def _written_out(self, one: Any) -> str:
        if isinstance(one, dict):
            return str({key: self._written_out(value) for key, value in one.items()})
        if isinstance(one, tuple | list):
            return str([self._written_out(value) for value in one])
        if not is_dataclass(one):
            return repr(one)
        seen = [
            f"{each.name}={self._written_out(getattr(one, each.name))}"
            for each in fields(one)
            if each.name not in UNSEEN
        ]
        telemetry = getattr(one, "telemetry", None)
        if telemetry:
            seen.append(
                str(sorted((name, len(track), track[-1].since if track else 0) for name, track in telemetry.items()))
            )
        return f"{type(one).__name__}({', '.join(seen)})"

    @staticmethod
    def _same(parts: list[tuple[Piece, ...] | str], now: float) -> Iterator[str]:
        ids: dict[str, str] = {}
        for part in parts:
            for piece in short(part) if isinstance(part, str) else part:
                if isinstance(piece, str):
                    yield piece
                elif isinstance(piece, tuple):
                    yield ids.setdefault(piece[0], f"<id {len(ids)}>")
                else:
                    yield rounded(now - piece)


def rounded(ago: float) -> str:
    """Return an age in seconds as rounded text. A negative age is in the future."""
    size = abs(ago)
    step = 60 if size <= 1_200 else 600 if size <= 7_200 else 3_600 if size <= 172_800 else 86_400
    return f"<{ago // step * step:.0f}>"


def pieces(text: str) -> tuple[Piece, ...]:
    """Split a text into pieces."""
    found, end = list[Piece](), 0
    for one in VARIES.finditer(text):
        found.append(text[end : one.start()])
        end = one.end()
        if one["id"]:
            found.append((one["id"],))
        elif one["parts"]:
            parts = map(int, one["parts"].split(","))
            found.append(datetime(*parts, tzinfo=UTC).timestamp())  # type: ignore[arg-type, misc]
        elif one["epoch"]:
            found.append(float(one["epoch"]))
        else:
            found.append(datetime.fromisoformat(one["text"]).replace(tzinfo=UTC).timestamp())
    return (*found, text[end:])


short: Final = lru_cache(20_000)(pieces)
