"""FSx: file servers that nobody uses, or that are far too large."""

from __future__ import annotations

from .builder import Builder


def servers(build: Builder) -> None:
    """Troubles and their innocent twins."""
