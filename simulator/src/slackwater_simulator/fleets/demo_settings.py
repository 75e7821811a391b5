"""EBS: volume types and settings that cost more than the work needs."""

from __future__ import annotations

from .builder import Builder


def settings(build: Builder) -> None:
    """Troubles and their innocent twins."""
