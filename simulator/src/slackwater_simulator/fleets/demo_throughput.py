"""EFS: throughput modes and credits that do not suit the work."""

from __future__ import annotations

from .builder import Builder


def throughput(build: Builder) -> None:
    """Troubles and their innocent twins."""
