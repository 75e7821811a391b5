"""The version of a policy."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyVersion:
    """A policy by its S3 version (None: a file) and the SHA-256 of its text. Both are None for the defaults."""

    version: str | None
    sha256: str | None


DEFAULTS: Final = PolicyVersion(version=None, sha256=None)
"""No policy: the defaults apply."""
