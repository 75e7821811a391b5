"""What an exploration covered and found, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from explorer.coverage import Coverage
from explorer.known import cause, stale

HEAD: Final = (
    f"{'kind':15}{'steps':>6}{'never':>7}{'singles':>16}{'pairs':>22}{'triples':>9}"
    f"{'branches':>10}{'states':>8}{'window':>8}{'new':>5}{'known':>7}{'CPU s':>8}"
)
NOTE: Final = (
    "never: steps with calls that were never interrupted. window: losses in the moment between the last look and the call, where\n"
    "AWS has no fence (EBS: an attachment up to 15 minutes before). Singles and pairs are covered of all, after merging equal states\n"
    "(tests/explorer/state.py says which are equal); triples are sampled."
)


def table(explored: Sequence[Coverage], seed: int) -> Iterator[str]:
    """A line for each kind."""
    yield HEAD
    for one in explored:
        new = [each for each in one.found.values() if cause(one.kind, each.violation) is None]
        pairs = f"{one.pairs_covered}/{one.pairs}"
        yield (
            f"{one.kind:15}{len(one.steps):>6}{one.never:>7}{f'{one.covered}/{one.singles}':>16}{pairs:>22}{one.triples:>9}"
            f"{one.branches:>10}{one.states:>8}{one.windows:>8}{len(new):>5}{len(one.found) - len(new):>7}{one.seconds:>8.1f}"
        )
    yield f"{NOTE} Seed {seed}."


def violations(explored: Sequence[Coverage]) -> Iterator[str]:
    """Each violation with the shortest way to it, the new ones first."""
    every = [(cause(one.kind, found.violation), one.kind, found) for one in explored for found in one.found.values()]
    for known, kind, found in sorted(
        every, key=lambda each: (each[0] is not None, str(each[0]), each[1], each[2].violation.check)
    ):
        named = f"known, cause {known}" if known else "NEW"
        yield f"{named}: {kind}: {found.violation.invariant} {found.violation.check}, {found.times} times: {found.violation.detail}"
        yield from (f"    {step}" for step in found.trace)


def failures(explored: Sequence[Coverage], *, whole: bool = True) -> list[str]:
    """Why the exploration fails; nothing where it does not. Only a whole one can tell that a known violation is gone."""
    found = [(one.kind, each.violation) for one in explored for each in one.found.values()]
    new = [f"{kind}: {one.invariant} {one.check}: {one.detail}" for kind, one in found if cause(kind, one) is None]
    missed = [f"{one.kind}: {one.covered} of {one.singles} singles" for one in explored if one.covered != one.singles]
    never = [f"{one.kind}: {one.never} steps were never interrupted" for one in explored if one.never]
    return [*new, *(missed + never + stale(found, [one.kind for one in explored]) if whole else [])]
