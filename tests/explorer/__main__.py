"""Explore all kinds (`make explore`), or one: `PYTHONPATH=tests python -m explorer ebs`.

Uses two processes by default.
"""

import argparse
import logging
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Final

from explorer.coverage import Coverage
from explorer.kinds import EXPLORED
from explorer.report import failures, table, violations
from explorer.search import Explorer
from explorer.wire import Dice, determined

LONGEST_FIRST: Final = (
    "efs",
    "efs-abandoned",
    "efs-orphaned",
    "openzfs",
    "ebs",
    "efs-throughput",
    "efs-lifecycle",
    "gp3",
)


def explored(kind: str, pairs: int, triples: int, seed: int) -> Coverage:
    """Explore one kind in a process of its own."""
    logging.disable(logging.CRITICAL)
    dice = Dice()
    with determined(dice):
        found = Explorer(kind, seed, dice=dice).explore(pairs=pairs, triples=triples)
    print(f"{kind}: {len(found.found)} violations, {found.seconds:.0f} s", file=sys.stderr, flush=True)
    return found


def main() -> int:
    """Return 0 if every kind was covered and no invariant was violated."""
    parser = argparse.ArgumentParser(prog="explorer", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(EXPLORED)}; all of them unless named")
    parser.add_argument("--pairs", type=int, default=5_000, help="branches of pairs to run, of each kind")
    parser.add_argument("--triples", type=int, default=500, help="branches of triples to run, of each kind")
    parser.add_argument("--seed", type=int, default=18, help="of the order of pairs and triples")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    given = parser.parse_args()
    kinds = given.kinds or [*LONGEST_FIRST]
    if unknown := {*kinds} - {*EXPLORED}:
        parser.error(f"there is no kind {', '.join(sorted(unknown))}")
    began = time.monotonic()
    with ProcessPoolExecutor(given.jobs) as pool:
        each = [pool.submit(explored, kind, given.pairs, given.triples, given.seed) for kind in kinds]
        done = [one.result() for one in each]
    print("\n".join([*violations(done), "", *table(done, given.seed)]))
    wrong = failures(done)
    print(f"{time.monotonic() - began:.0f} s; {len(wrong)} failures", *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
