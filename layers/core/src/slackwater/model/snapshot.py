"""An inventory snapshot that is held in memory, as one chunk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from slackwater.model.findings import Gap
from slackwater.model.fleet import Fleet
from slackwater.model.resources import RESOURCE_KINDS


@dataclass(frozen=True, slots=True)
class WholeSnapshot:
    """A `ports.InventorySnapshot` with one chunk.

    `known_errors` has the failed calls so far, without those for kinds that are still being read.
    """

    full_fleet: Fleet
    known_errors: Sequence[Gap]
    parts: int = 1
    file: None = None

    @property
    def gaps(self) -> Sequence[Gap]:
        """All failed calls. Reading it waits for the kinds that are still being read."""
        return [*self.known_errors, *self.full_fleet.late_gaps()]

    @property
    def resources(self) -> Mapping[str, int]:
        """The number of resources by kind."""
        return counted(self.full_fleet)

    def fleet(self, part: int) -> Fleet:
        """Return the only chunk.

        Raises:
            ValueError: `part` is not 1.
        """
        if part != 1:
            raise ValueError(f"There is no chunk {part}: the snapshot has 1 chunk.")
        return self.full_fleet

    def __enter__(self) -> Self:
        """Do nothing: there is no file to open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: there is no file to delete."""


def counted(fleet: Fleet) -> Mapping[str, int]:
    """Return the number of resources of each kind that the fleet has."""
    counts = {kind.KIND: len(fleet.all(kind)) for kind in RESOURCE_KINDS}
    return {kind: count for kind, count in counts.items() if count}
