"""The version of a policy."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyVersion:
    """A policy's S3 version (None for a local file) and the SHA-256 of its text. Both are None for the defaults."""

    version: str | None
    sha256: str | None


DEFAULTS: Final = PolicyVersion(version=None, sha256=None)
"""The version if there is no policy, so that the defaults apply."""
