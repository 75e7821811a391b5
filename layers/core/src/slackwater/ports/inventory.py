"""Protocols that list the resources of an account."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the function that Slack calls imports this module and must not load pydantic
    from pathlib import Path
    from typing import Self

    from slackwater.model.findings import Gap
    from slackwater.model.fleet import Fleet
    from slackwater.model.resources import InstanceType, Record, Target


class Inventory(Protocol):
    """Lists the resources of one target."""

    def read(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> tuple[Fleet, list[Gap]]:
        """Return every record of these kinds, in memory, and the gaps. A kind with a gap is unreadable in the fleet.

        Args:
            target: The account and region.
            required: Kinds whose failed calls are required gaps.
            optional: Kinds whose failed calls are optional gaps.
        """
        ...

    def snapshot(
        self, target: Target, required: Collection[type[Record]], optional: Collection[type[Record]]
    ) -> InventorySnapshot:
        """List the same records once, and store them so that a large target can be evaluated in chunks."""
        ...


class InventorySnapshot(Protocol):
    """The inventory of a target. A context manager: on exit, it deletes its file.

    Resources that share metrics, or that a detector reads together, are in the same chunk. So a detector never needs
    two chunks.
    """

    @property
    def gaps(self) -> Sequence[Gap]:
        """The failed calls, for all chunks. Waits for kinds that are still being read."""
        ...

    @property
    def resources(self) -> Mapping[str, int]:
        """The number of resources by kind."""
        ...

    @property
    def parts(self) -> int:
        """The number of chunks, at least one."""
        ...

    @property
    def file(self) -> Path | None:
        """A file that another process can open to continue with a later chunk; None if there is only one chunk."""
        ...

    def fleet(self, part: int) -> Fleet:
        """Return the records of a chunk, counted from 1. Some kinds are still being read, or are read on demand."""
        ...

    def __enter__(self) -> Self:
        """Return the snapshot."""
        ...

    def __exit__(self, *_: object) -> None:
        """Delete its file."""
        ...


class InstanceTypes(Protocol):
    """Reads what EC2 publishes about instance types."""

    def of(self, families: Iterable[str], region: str) -> tuple[Iterable[InstanceType], list[Gap]]:
        """Return every type of these families, at least the packaged types of all other families, and the gaps."""
        ...
