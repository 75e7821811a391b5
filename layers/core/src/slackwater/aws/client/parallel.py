"""Makes several calls in parallel, where AWS describes only one resource per call."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

AT_ONCE: Final = 8
"""Maximum parallel calls: fewer than the connections of a client (`session.POOL`)."""


def parallel_map[T, R](ask: Callable[[T], R], things: Iterable[T], at_once: int = AT_ONCE) -> Iterator[R]:
    """Yield the result of `ask` for each thing, in order. At most `at_once` calls are running or have results waiting.

    The first error is raised at its position. Calls that are running then are awaited, and no further call starts.
    """
    with ThreadPoolExecutor(at_once) as pool:
        asked = deque[Future[R]]()
        for thing in things:
            if len(asked) == at_once:
                yield asked.popleft().result()
            asked.append(pool.submit(ask, thing))
        while asked:
            yield asked.popleft().result()
