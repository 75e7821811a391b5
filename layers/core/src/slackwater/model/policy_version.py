"""Which policy something went by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyVersion:
    """Which policy an audit went by: the S3 version (None: a file) and the SHA-256 of its text; both None are the defaults."""

    version: str | None
    sha256: str | None


DEFAULTS: Final = PolicyVersion(version=None, sha256=None)
"""No policy."""
