"""EFS: data in the wrong class, zone or service."""

from __future__ import annotations

from .builder import Builder


def placement(build: Builder) -> None:
    """Troubles and their innocent twins."""
