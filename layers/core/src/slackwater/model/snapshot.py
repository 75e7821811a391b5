"""The inventory snapshot of a target that fits in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from slackwater.model.findings import Gap
from slackwater.model.fleet import Fleet
from slackwater.model.resources import RESOURCE_KINDS


@dataclass(frozen=True, slots=True)
class WholeSnapshot:
    """A `ports.InventorySnapshot` with one chunk. `known` are its gaps, without those of kinds that are still being
    read.
    """

    whole: Fleet
    known: Sequence[Gap]
    parts: int = 1
    file: None = None

    @property
    def gaps(self) -> Sequence[Gap]:
        """The failed calls. Waits for kinds that are still being read."""
        return [*self.known, *self.whole.late_gaps()]

    @property
    def resources(self) -> Mapping[str, int]:
        """The number of resources by kind."""
        return counted(self.whole)

    def fleet(self, part: int) -> Fleet:
        """Return the one chunk.

        Raises:
            ValueError: `part` is not 1.
        """
        if part != 1:
            raise ValueError(f"there is no part {part} of 1")
        return self.whole

    def __enter__(self) -> Self:
        """Do nothing: there is no file to open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: there is no file to delete."""


def counted(fleet: Fleet) -> Mapping[str, int]:
    """Return the number of resources of each kind that the fleet has."""
    counts = {kind.KIND: len(fleet.all(kind)) for kind in RESOURCE_KINDS}
    return {kind: count for kind, count in counts.items() if count}
