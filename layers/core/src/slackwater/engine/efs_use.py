"""Checks whether an EFS file system was used after its clean-up began to work on it.

A connected client counts as use, and so does any write at any time. Reads count too, except while the clean-up's own
backup is made. AWS Backup reads the file system then, and AWS does not document whether CloudWatch counts these reads.
The metered size is no evidence, because overwriting files does not change it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from math import isnan
from typing import Final

from slackwater.engine.plan import MetricCall, MetricQuery, Window
from slackwater.model.cleanup import Cleanup
from slackwater.model.metrics import Metric, Series
from slackwater.model.quantities import size_words
from slackwater.model.units import FIVE_MINUTES_S, MINUTE_S
from slackwater.rules import efs
from slackwater.rules.efs import TOTAL

CLIENTS: Final = efs.CLIENTS.optionally()
METERED: Final = efs.METERED.optionally()
WRITTEN: Final = efs.WRITTEN.optionally()
METADATA_WRITTEN: Final = efs.METADATA_WRITTEN.optionally()
STORED: Final = efs.STORED.optionally()

PUBLISHED_WITHIN: Final = timedelta(minutes=15)
"""How late CloudWatch may publish a point. AWS states no figure for EFS, which sends its metrics every minute (EFS User
Guide, "Monitoring metrics with Amazon CloudWatch"). This is the longest time that the CloudWatch API reference gives
for a new metric to appear (PutMetricData). `StorageBytes` then shows whether CloudWatch has caught up.
"""
SEEN_BEFORE: Final = timedelta(hours=1)
"""Use in this time before the clean-up began to work counts too: CloudWatch may have published it after the last audit.
"""
BY_THE_MINUTE: Final = timedelta(days=14)
"""The longest time to read as one-minute points, which CloudWatch keeps for 15 days. A longer time is read as
five-minute points.
"""
LONGEST_GAP_S: Final[Mapping[Metric, int]] = {CLIENTS: 15 * MINUTE_S, STORED: 40 * MINUTE_S}
"""For how many seconds points may be missing. `StorageBytes` has a point every 15 minutes: after 40 minutes, two are
missing.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """When use starts to count, and when AWS Backup made the clean-up's own backup (None: no backup)."""

    start: datetime
    backup_start: datetime | None = None
    backup_end: datetime | None = None


def began(cleanup: Cleanup) -> datetime | None:
    """Return when the clean-up began to work, at the earliest; None if it has not.

    Records of older versions do not have this time. For them, it is the time of the first backup request.
    """
    if cleanup.begun_at or cleanup.stage != "working":
        return cleanup.begun_at
    asked = [backup.asked_at for backup in cleanup.backups]
    return min(asked, default=cleanup.marked.act_after if cleanup.marked else None)


def period(cleanup: Cleanup, start: datetime, now: datetime) -> Period:
    """Return the period to check for a clean-up that began to work at `start`."""
    if not cleanup.backups:
        return Period(start=start - SEEN_BEFORE)
    backup_end = cleanup.backed_up_at or cleanup.fenced_at or now
    return Period(start=start - SEEN_BEFORE, backup_start=start, backup_end=backup_end)


def question(file_system_id: str, since: datetime, now: datetime) -> MetricCall:
    """Return the CloudWatch call for the time from `since` to now, including the minute that is not over."""
    start_s = int(since.timestamp()) // FIVE_MINUTES_S * FIVE_MINUTES_S
    end_s = -(-int(now.timestamp()) // FIVE_MINUTES_S) * FIVE_MINUTES_S
    window = Window(start_s, end_s)
    period_s = MINUTE_S if now - since <= BY_THE_MINUTE else FIVE_MINUTES_S
    named = ("FileSystemId", file_system_id)
    counted = tuple(
        MetricQuery(metric, (named,), period_s, window) for metric in (CLIENTS, WRITTEN, METADATA_WRITTEN, METERED)
    )
    return MetricCall(window, (*counted, MetricQuery(STORED, (named, TOTAL), FIVE_MINUTES_S, window)))


def use(answered: Mapping[Metric, Series], during: Period) -> str | None:
    """Return what shows that the file system was used; None if nothing does."""
    for metric in (CLIENTS, WRITTEN, METADATA_WRITTEN, METERED):
        for at, value in answered[metric].points():
            if value and at >= _bucket(during.start, answered[metric]):
                if metric is METERED and _is_of_backup(at, answered[metric], during):
                    continue
                return f"it is in use: {_words(metric, value)} at {at:%Y-%m-%d %H:%M} UTC"
    return None


def unknown(answered: Mapping[Metric, Series], during: Period, fenced_at: datetime | None) -> str | None:
    """Return why use cannot be ruled out; None if it can.

    Args:
        answered: The series of the metrics that `question` asked for.
        during: The period to check.
        fenced_at: The time after which nothing could mount the file system; None if clients still can.
    """
    if fenced_at is None:
        return "it can still be mounted"
    stored, clients = (_since(during.start, answered[metric]) for metric in (STORED, CLIENTS))
    if not stored.since(fenced_at.timestamp()).present:
        return f"CloudWatch has published no StorageBytes since {fenced_at:%Y-%m-%d %H:%M} UTC"
    for metric, series in ((STORED, stored), (CLIENTS, clients)):
        until_then = series.between(series.start_s, fenced_at.timestamp())
        gap_s = _gap_s(until_then)
        if (until_then.present or metric is STORED) and gap_s > LONGEST_GAP_S[metric]:
            return f"CloudWatch has no {metric.name} for {gap_s // MINUTE_S} minutes"
    return None


def _bucket(at: datetime, series: Series) -> datetime:
    """Return the start of the point that contains this time."""
    return datetime.fromtimestamp(int(at.timestamp()) // series.period_s * series.period_s, UTC)


def _since(at: datetime, series: Series) -> Series:
    return series.since(_bucket(at, series).timestamp())


def _is_of_backup(at: datetime, series: Series, during: Period) -> bool:
    """Return whether a point overlaps the time in which the clean-up's own backup was made."""
    if during.backup_start is None or during.backup_end is None:
        return False
    return _bucket(during.backup_start, series) <= at < during.backup_end


def _gap_s(series: Series) -> int:
    """Return the longest time without a point, in seconds."""
    longest = max((sum(1 for _ in run) for missing, run in groupby(series.values, isnan) if missing), default=0)
    return longest * series.period_s


def _words(metric: Metric, value: float) -> str:
    if metric is CLIENTS:
        return "a client was connected"
    return f"{size_words(value)} of {metric.name}"
