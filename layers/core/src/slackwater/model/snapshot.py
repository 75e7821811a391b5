"""What a target holds, where it fits in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from slackwater.model.findings import Gap
from slackwater.model.fleet import Fleet
from slackwater.model.resources import RESOURCE_KINDS


@dataclass(frozen=True, slots=True)
class WholeSnapshot:
    """A `ports.Stock` of one part; `known` are its gaps but for those of what is awaited."""

    whole: Fleet
    known: Sequence[Gap]
    parts: int = 1
    file: None = None

    @property
    def gaps(self) -> Sequence[Gap]:
        """What could not be read: waits for what is still being read."""
        return [*self.known, *self.whole.late_gaps()]

    @property
    def resources(self) -> Mapping[str, int]:
        """How many there are, by kind."""
        return counted(self.whole)

    def fleet(self, part: int) -> Fleet:
        """All of it."""
        if part != 1:
            raise ValueError(f"there is no part {part} of 1")
        return self.whole

    def __enter__(self) -> Self:
        """Nothing is taken."""
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is to be given back."""


def counted(fleet: Fleet) -> Mapping[str, int]:
    """How many resources there are of each kind that there is."""
    counts = {kind.KIND: len(fleet.all(kind)) for kind in RESOURCE_KINDS}
    return {kind: count for kind, count in counts.items() if count}
