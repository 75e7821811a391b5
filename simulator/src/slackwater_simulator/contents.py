"""What volumes and file systems hold, version by version. A text stands for the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

CLIENT: Final = "client"
"""Anyone who uses a resource."""
SERVICE: Final = "aws"
"""AWS, which creates a resource empty or restores a backup into it."""


@dataclass(frozen=True, slots=True)
class Version:
    """What a resource held from `at` (epoch seconds) on, and who wrote it."""

    contents: str
    who: str
    at: int
