"""Backups with Slackwater's tags, as listed for users."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from slackwater.model.cleanup import Cleanup, Copy

type Whose = Literal["own", "other", "older"]
"""Who made a backup: this installation, another one, or an older Slackwater version, which did not record the maker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedBackup:
    """A backup.

    Attributes:
        kind: The type of its resource, such as `ebs-volume`.
        resource_arn: The ARN of its resource.
        whose: Who made it.
        cleanup: The clean-up whose record names it, or that adopted it; None if there is none.
        monthly_usd: What it costs a month, in USD; None if unknown.
    """

    copy: Copy
    kind: str
    account: str
    region: str
    resource_arn: str
    whose: Whose
    cleanup: Cleanup | None
    monthly_usd: Decimal | None

    @property
    def size_bytes(self) -> int | None:
        """The billed size in bytes; if unknown, the size of its contents. None if both are unknown."""
        return self.copy.size_bytes if self.copy.stored_bytes is None else self.copy.stored_bytes
