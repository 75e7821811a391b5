"""Keeps the process small under many threads."""

import ctypes
from typing import Final

M_ARENA_MAX: Final = -8
"""Parameter of mallopt, from glibc's malloc.h."""
ARENAS: Final = 2


def share_arenas() -> bool:
    """Let threads share two heaps. Return whether the C library supports it.

    By default, glibc gives each thread its own heap, and a heap keeps the memory of a large CloudWatch response. With
    separate heaps, a scan of 20,000 resources used 230 MiB instead of 180 MiB. Call this before any thread starts.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # not glibc, or Windows, where CDLL(None) fails
        return False
    return bool(mallopt(M_ARENA_MAX, ARENAS))
