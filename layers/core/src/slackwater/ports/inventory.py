"""Protocols that read what an account holds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the endpoint that Slack calls imports this, and not pydantic
    from pathlib import Path
    from typing import Self

    from slackwater.model.findings import Gap
    from slackwater.model.fleet import Fleet
    from slackwater.model.resources import InstanceType, Record, Target


class Inventory(Protocol):
    """Reads what one target holds."""

    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        """Every record of these kinds. What could not be read is a gap, and its kind is unreadable in the fleet."""
        ...

    def snapshot(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> InventorySnapshot:
        """The same, listed once, and held so that a large target can be judged part by part."""
        ...


class InventorySnapshot(Protocol):
    """What a target holds. A context manager: a file that it keeps is gone at its end.

    `resources` counts them by kind. No question needs more than one of the `parts`: resources that share metrics, or that a
    detector looks at together, are in the same. `gaps` are of all parts. `file` is what another process can open to go on with
    a later part; None where there is but one.
    """

    @property
    def gaps(self) -> Sequence[Gap]:
        """What could not be read: waits for what is still being read."""
        ...

    @property
    def resources(self) -> Mapping[str, int]:
        """How many there are, by kind."""
        ...

    @property
    def parts(self) -> int:
        """How many parts it has, one or more."""
        ...

    @property
    def file(self) -> Path | None:
        """Where it is kept."""
        ...

    def fleet(self, part: int) -> Fleet:
        """The records of a part, of which some may be awaited; the first is 1."""
        ...

    def __enter__(self) -> Self:
        """Keep it for a while."""
        ...

    def __exit__(self, *_: object) -> None:
        """Let go of it."""
        ...


class InstanceTypes(Protocol):
    """Reads what EC2 allows instance types."""

    def of(self, families: Iterable[str], region: str) -> tuple[Iterable[InstanceType], list[Gap]]:
        """Every type of these families, and at least the packaged ones of all others; what could not be read is a gap."""
        ...
