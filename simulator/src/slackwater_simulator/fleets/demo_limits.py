"""EBS and EC2: where the instance, or a bucket of credits, is the limit."""

from __future__ import annotations

from .builder import Builder


def limits(build: Builder) -> None:
    """Troubles and their innocent twins."""
