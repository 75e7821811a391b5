"""EFS file systems that no client uses.

## What it finds
A file system that is at least a week old and had no client in the last 36 days, or in its whole life if it is younger.
CloudWatch must have recorded the last 30 days, or the whole life of a younger one: it publishes `StorageBytes` for
every file system, used or not, so a day without it makes the check inconclusive. An older such day lowers confidence.

## Why it matters
EFS bills stored data until someone deletes it. A Spot Instance may be interrupted before its job deletes its file
system ("Can Amazon EFS replace EBS?", 2025-02-19). AWS does not report that.

## When it is wrong
- Data that you keep on purpose and read once a year looks the same. Tag it `keep`.
- A file system of a job that runs less often than once in `look_back_days` looks idle: raise it. The confidence is high
  only after that many days, and never before 36.
- Bytes that move without a client come from AWS Backup, a replication, a lifecycle transition or AWS Transfer Family.
  They lower the confidence, so Slackwater does not delete the file system: somebody may use it through Transfer Family.
- If CloudWatch publishes no connections at all, the confidence is lower. If bytes moved too, it is inconclusive.

## What to do
Ask the owner. Then back up and delete the file system with its mount targets, or move its data to a colder class.
"""

from itertools import takewhile
from math import isnan
from typing import Final

from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.money import size_class
from slackwater.model.quantities import size_words
from slackwater.model.resources import EfsFileSystem, EfsReplication
from slackwater.model.units import DAY_S, GIB, MIB
from slackwater.model.verdicts import Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.rules import advice, efs, examples
from slackwater.rules.efs import CLIENTS, METERED, READ, SAMPLES, STORED, WRITTEN
from slackwater.rules.examples import Cases, Metrics, days, days_ago

SURE_DAYS: Final = 36
"""With a shorter silence, the confidence is never high: first Mondays may be 35 days apart, and a job may be late."""


class IdleLimits(Limits):
    """When a file system counts as idle."""

    quiet_days: int = limit(
        30, unit="days", ge=7, le=450, why="recorded without a missing day; CloudWatch keeps 455 days"
    )
    look_back_days: int = limit(
        36, unit="days", ge=7, le=450, why="any client counts; a monthly job can pause for 35 days and start late"
    )
    minimum_age_days: int = limit(7, unit="days", ge=1, why="a new file system may wait for its first client")


def judge(file_system: EfsFileSystem, seen: Seen, limits: IdleLimits) -> Verdict:
    """Flag a file system that had no client while CloudWatch was recording."""
    unless_decided(efs.exempt(file_system, seen, limits.minimum_age_days))
    window = max(limits.look_back_days, limits.quiet_days)
    (clients,) = seen.read(*efs.daily(file_system, window, CLIENTS))
    if minutes := sum(clients.present):
        return Fine(f"clients were connected for {minutes:,.0f} minutes in {window} days")

    needs = efs.daily(file_system, window, STORED, SAMPLES, METERED, READ, WRITTEN)
    stored, samples, metered, read, written = seen.read(*needs)
    recorded = efs.recorded(file_system, seen, stored, samples)
    recent = recorded.newest(limits.quiet_days)
    zeros = seen.finished(clients, file_system.created_at).since(recent.start_s)
    data_bytes, metered_bytes = sum(read.present) + sum(written.present), sum(metered.present)
    if not len(recorded):
        return Unknown("CloudWatch has not recorded a whole day yet")
    if recent.missing:
        lost = f"{recent.missing} of {len(recent)} days"
        return Unknown(f"StorageBytes lacks points on {lost}: CloudWatch was not recording")
    if zeros.present and zeros.missing:
        return Unknown(f"ClientConnections has zeros, but no data on {zeros.missing} of {len(zeros)} days")
    if (data_bytes or metered_bytes) and not zeros.present:
        return Unknown("data moved, but ClientConnections was not published: the client is unknown")

    quiet = sum(1 for _ in takewhile(lambda stored: not isnan(stored), reversed(recorded.values)))
    whole_days = (seen.finished(one, file_system.created_at) for one in (clients, metered, read, written))
    zeros_are_real = not any(one.since(recorded.end_s - quiet * DAY_S).missing for one in whole_days)
    sure = quiet >= max(SURE_DAYS, limits.look_back_days) and zeros_are_real and not data_bytes and not metered_bytes
    return Flagged(
        summary=f"{efs.describe(file_system)}, and no client for {quiet} days",
        confidence="high" if sure else "medium",
        evidence=(
            Evidence("Days without a client", quiet, "days"),
            efs.sum_of("Metered I/O per day", metered, "bytes"),
            *efs.facts(file_system),
        ),
        advice=efs.removal(file_system, sure=sure),
        fingerprint_inputs=(file_system.mount_targets > 0, size_class(file_system.total_bytes)),
        caveats=(
            *_caveats(data_bytes, metered_bytes, zeros_are_real=zeros_are_real, lost_days=recorded.missing),
            *advice.protection(file_system),
        ),
    )


def _caveats(data_bytes: float, metered_bytes: float, *, zeros_are_real: bool, lost_days: int) -> tuple[str, ...]:
    """Return the reasons for medium confidence."""
    who = "probably by AWS Backup, a replication, a lifecycle transition or AWS Transfer Family."
    metadata = f"{size_words(metered_bytes)} of I/O without data, probably metadata, were metered"
    return advice.caveats(
        (f"{size_words(data_bytes)} were read or written without a client, {who}", data_bytes),
        (f"{metadata} without a client, {who}", metered_bytes and not data_bytes),
        ("CloudWatch published nothing instead of zeros, although it was recording.", not zeros_are_real),
        (f"CloudWatch did not record {lost_days} earlier days, when a monthly job may have run.", lost_days),
    )


SILENT = {STORED: 32.0 * GIB, SAMPLES: 96.0, METERED: 0.0, CLIENTS: 0.0, READ: 0.0, WRITTEN: 0.0}


def used(days_ago: int, minutes: float | None = 90.0) -> Metrics:
    """Return clients on one day."""
    return {CLIENTS: days(0.0, {days_ago: minutes})}


idle = Cases(examples.efs(), SILENT)
unpublished = Cases(examples.efs(), {STORED: 32.0 * GIB, SAMPLES: 96.0})
LOST_BEFORE, LOST_DAY = ({SAMPLES: days(96.0, {day: None})} for day in (33, 30))
UNSEEN = "while connections are not published"

DETECTOR = Detector(
    title="EFS file system that nobody uses",
    kind="waste",
    resource=EfsFileSystem,
    limits=IdleLimits,
    reads=(EfsReplication,),
    judge=judge,
    outranks=efs.SAVERS,
    cases=(
        idle("a month of zeros", Flagged, "no client for 36 days"),
        unpublished("a month without points, while CloudWatch was recording", Flagged),
        idle("an older day that CloudWatch did not record", Flagged, "32 days", metrics=LOST_BEFORE),
        idle("no metric at all", Unknown, "not recording", metrics=dict.fromkeys(SILENT)),
        idle("a recent day that CloudWatch did not record", Unknown, "1 of 30 days", metrics=LOST_DAY),
        idle("hours that CloudWatch did not record", Unknown, "1 of 30", metrics={SAMPLES: days(96.0, {9: 80.0})}),
        idle("a day with one point less", Flagged, "36 days", metrics={SAMPLES: days(96.0, {9: 95.0})}),
        idle("a job that runs once a month", Fine, "clients were connected", metrics=used(18)),
        idle("a job on the first Monday that starts after midnight", Fine, "in 36 days", metrics=used(36)),
        idle("a client this morning", Fine, metrics=used(0)),
        idle("read by a backup every night", Flagged, metrics={READ: 5.0 * MIB, METERED: 2.0 * MIB}),
        idle("read whole by a backup every night", Flagged, "36 days", metrics={READ: 3.0 * GIB, METERED: 1.0 * GIB}),
        unpublished(f"written {UNSEEN}", Unknown, "client is unknown", metrics={WRITTEN: 5.0 * MIB}),
        unpublished(f"read {UNSEEN}", Unknown, "client is unknown", metrics={READ: 5.0 * MIB}),
        unpublished(f"metered {UNSEEN}", Unknown, "client is unknown", metrics={METERED: 5.0 * MIB}),
        idle("no connections, and a day without a point", Unknown, "1 of 30 days", metrics=used(18, None)),
        idle("three days old", Fine, "younger than 7 days", created_at=days_ago(3)),
        idle("quiet since it was created two weeks ago", Flagged, "13 days", created_at=days_ago(14)),
        idle("used on the day it was created, five weeks ago", Fine, created_at=days_ago(34), metrics=used(34)),
        *examples.exempt_efs(idle),
    ),
)
