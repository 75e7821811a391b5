"""Backups with Slackwater's tags, as the API and the command line return them.

Money is a string of US dollars a month, a time is RFC 3339 in UTC, and null means unknown or absent.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import Literal, TypedDict

from slackwater.model.backups import ListedBackup
from slackwater.views.api.to_json import usd
from slackwater.views.cleanup.to_json import undo_command
from slackwater.views.scan.to_json import rfc3339


class ListedBackupDocument(TypedDict):
    """A backup. `of` is the ARN of the resource that it was made from, and `type` that resource's type.

    `whose` is "own" for this installation, "other" for another one, and "older" for an older version, whose backups do
    not name their installation. `finding_id` is the clean-up whose record names the backup. `undo` is the command that
    restores from it. It is null if there is nothing to restore, or if you have to adopt the backup first. `monthly_usd`
    is the most that it costs.
    """

    id: str | None
    type: str
    of: str
    account: str
    region: str
    state: Literal["running", "complete", "failed"]
    created_at: str
    expires_at: str | None
    size_bytes: int | None
    monthly_usd: str | None
    whose: Literal["own", "other", "older"]
    installation: str | None
    finding_id: str | None
    undo: str | None


class BackupListDocument(TypedDict):
    """Backups with Slackwater's tags, the oldest first, with their total cost. `unpriced` counts those without a price.

    `installation` is this installation's id; null before its first backup. `gaps` has what could not be listed.
    """

    backups: list[ListedBackupDocument]
    installation: str | None
    monthly_usd: str
    unpriced: int
    complete: bool
    gaps: list[str]


def listed_backup(one: ListedBackup, *, undoable: bool) -> ListedBackupDocument:
    """Return a backup. `undoable` is whether its clean-up can be undone."""
    copy, finding_id = one.copy, one.cleanup.finding_id if one.cleanup else None
    return {
        "id": copy.id,
        "type": one.kind,
        "of": one.resource_arn,
        "account": one.account,
        "region": one.region,
        "state": copy.state,
        "created_at": rfc3339(copy.made_at),
        "expires_at": None if copy.kept_until is None else rfc3339(copy.kept_until),
        "size_bytes": one.size_bytes,
        "monthly_usd": usd(one.monthly_usd),
        "whose": one.whose,
        "installation": copy.installation,
        "finding_id": finding_id,
        "undo": undo_command(finding_id) if finding_id and undoable else None,
    }


def backup_list(
    backups: Iterable[ListedBackupDocument], installation: str | None, gaps: Iterable[str]
) -> BackupListDocument:
    """Return backups with the sum of their costs."""
    listed, missing = list(backups), list(gaps)
    costs = [Decimal(one["monthly_usd"]) for one in listed if one["monthly_usd"] is not None]
    return {
        "backups": listed,
        "installation": installation,
        "monthly_usd": f"{sum(costs, Decimal(0)):.2f}",
        "unpriced": len(listed) - len(costs),
        "complete": not missing,
        "gaps": missing,
    }
