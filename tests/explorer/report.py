"""Format what an exploration covered and found."""

from collections.abc import Iterator, Sequence
from typing import Final

from explorer.coverage import Coverage

HEAD: Final = (
    f"{'kind':15}{'steps':>6}{'never':>7}{'singles':>16}{'pairs':>22}{'triples':>9}"
    f"{'branches':>10}{'states':>8}{'window':>8}{'violations':>12}{'CPU s':>8}{'ms/branch':>11}"
)
NOTE: Final = (
    "never: steps with calls that were never interrupted. window: losses in the moment between the last look and the "
    "call, where\n"
    "AWS has no fence (EBS: an attachment, EFS: a write of a service, up to 15 minutes before). Singles and pairs are "
    "covered of all,\n"
    "after merging equal states (tests/explorer/state.py says which are equal); triples are sampled."
)


def table(explored: Sequence[Coverage], seed: int) -> Iterator[str]:
    """Yield a header, a line for each kind, and a note."""
    yield HEAD
    for one in explored:
        singles = f"{one.covered}/{one.singles}"
        pairs = f"{one.pairs_covered}/{one.pairs}"
        yield (
            f"{one.kind:15}{len(one.steps):>6}{one.never:>7}{singles:>16}{pairs:>22}{one.triples:>9}"
            f"{one.branches:>10}{one.states:>8}{one.windows:>8}{len(one.found):>12}{one.seconds:>8.1f}"
            f"{one.seconds / max(one.branches, 1) * 1_000:>11.1f}"
        )
    yield f"{NOTE} Seed {seed}."


def violations(explored: Sequence[Coverage]) -> Iterator[str]:
    """Yield each violation with the shortest trace that leads to it."""
    every = [(one.kind, found) for one in explored for found in one.found.values()]
    for kind, found in sorted(every, key=lambda each: (each[0], each[1].violation.check)):
        violation = found.violation
        yield f"{kind}: {violation.invariant} {violation.check}, {found.times} times: {violation.detail}"
        yield from (f"    {step}" for step in found.trace)


ENDS: Final = ("done", "undone")
"""Stages of an undisturbed clean-up. If it did not reach them, every check could pass because nothing is deleted."""


def failures(explored: Sequence[Coverage], *, whole: bool = True) -> list[str]:
    """Return why the exploration fails; empty if it passes. Only a `whole` one must cover everything."""
    found = [(one.kind, each.violation) for one in explored for each in one.found.values()]
    wrong = [f"{kind}: {one.invariant} {one.check}: {one.detail}" for kind, one in found]
    vain = [
        f"{one.kind}: undisturbed, it is never {stage}" for one in explored for stage in ENDS if stage not in one.stages
    ]
    missed = [f"{one.kind}: {one.covered} of {one.singles} singles" for one in explored if one.covered != one.singles]
    never = [f"{one.kind}: {one.never} steps were never interrupted" for one in explored if one.never]
    return [*wrong, *vain, *(missed + never if whole else [])]
