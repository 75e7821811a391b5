"""One target's inventory, to look things up in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from slackwater.model.resources import Record


class Fleet:
    """Every record that was read of one target, and which kinds could not be read to the end."""

    def __init__(self, records: Iterable[Record], unreadable: Mapping[type[Record], str] | None = None) -> None:
        """Index `records`; `unreadable` maps a kind to the reason it is missing or partial."""
        self._by_kind: dict[type[Record], dict[str, Record]] = {}
        for record in records:
            self._by_kind.setdefault(type(record), {})[record.id] = record
        self.unreadable: Mapping[type[Record], str] = dict(unreadable or {})

    def all[R: Record](self, kind: type[R]) -> Sequence[R]:
        """All records of a kind, in the order they were read."""
        return list(self._by_kind.get(kind, {}).values())  # type: ignore[arg-type]

    def get[R: Record](self, kind: type[R], id: str) -> R | None:
        """The record with this id, or None. None means "does not exist" only if the kind is readable."""
        return self._by_kind.get(kind, {}).get(id)  # type: ignore[return-value]
