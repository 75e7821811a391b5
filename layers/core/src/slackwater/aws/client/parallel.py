"""Asks for one thing at a time what AWS tells of only one thing at a time, several at once."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

AT_ONCE: Final = 8
"""Fewer than a client has connections (`session.POOL`)."""


def parallel_map[T, R](ask: Callable[[T], R], things: Iterable[T], at_once: int = AT_ONCE) -> Iterator[R]:
    """What `ask` gives for each, in their order; no more than `at_once` are on their way, or wait to be taken.

    The first error is raised in its turn; what was on its way then is waited for, and nothing more is asked.
    """
    with ThreadPoolExecutor(at_once) as pool:
        asked = deque[Future[R]]()
        for thing in things:
            if len(asked) == at_once:
                yield asked.popleft().result()
            asked.append(pool.submit(ask, thing))
        while asked:
            yield asked.popleft().result()
