"""What was explored, and what was found."""

from dataclasses import dataclass, field

from explorer.facts import Violation


@dataclass(frozen=True)
class Found:
    """A violation with the shortest trace that leads to it."""

    kind: str
    violation: Violation
    trace: tuple[str, ...]
    times: int = 1


@dataclass
class Coverage:
    """How much of a kind was explored."""

    kind: str
    steps: set[str] = field(default_factory=set)
    interrupted: set[str] = field(default_factory=set)
    stages: set[str] = field(default_factory=set)
    """The stages that an undisturbed clean-up goes through."""
    singles: int = 0
    covered: int = 0
    pairs: int = 0
    pairs_covered: int = 0
    triples: int = 0
    branches: int = 0
    states: int = 0
    windows: int = 0
    seconds: float = 0.0
    found: dict[tuple[str, str], Found] = field(default_factory=dict)

    @property
    def never(self) -> int:
        """Return the number of steps that make calls and were never interrupted."""
        return len(self.steps - self.interrupted)
