"""EFS file systems of jobs that are over.

## What it finds
A file system that was created for one job and had no client in the last six hours. The policy names the tag that your
jobs set: `tag = "Job"`, or `tag = "Job=encode"` if other jobs keep theirs, in a line of its own below
`[detectors.efs-abandoned]`. Without it this detector is off.

CloudWatch must have been recording: it publishes `StorageBytes` every 15 minutes for each file system, used or not. If
three of its points in a row, or more than three points of `ClientConnections`, are missing, the answer is unknown.

## Why it matters
A job leaves its file system behind if its Spot Instance is interrupted ("Can Amazon EFS replace EBS?", 2025-02-19).
AWS does not report that. `efs-idle` reports it 36 days after the last client, or after a week if there was none.

## When it is wrong
- A job that waits for longer than `quiet_hours` without mounting its file system looks the same: for a Spot Instance,
  or for a person. A mounted client is connected, whatever it does.
- A client of the last 15 minutes may not be published yet. Look again before you delete anything.
- Bytes that move without a client come from a backup or a lifecycle transition. They lower the confidence.
- If CloudWatch published no connections at all, the confidence is lower. If a byte moved too, the answer is unknown.

`efs-orphaned` reports a file system without a mount target.

## What to do
Check that the job is over, and keep its results. Then back up, delete the mount targets, and delete the file system.
"""

from typing import Final

from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.metrics import Series
from slackwater.model.money import size_class
from slackwater.model.resources import EfsFileSystem, EfsReplication
from slackwater.model.units import FIVE_MINUTES_S, GIB, MIB
from slackwater.model.verdicts import Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.rules import advice, efs, examples
from slackwater.rules.efs import CLIENTS, METERED, STORED
from slackwater.rules.examples import Cases, Metrics, days_ago
from slackwater.rules.series import longest_gap

MOST_MISSING: Final = {CLIENTS: 3, STORED: 8}
"""How many five-minute points may be missing in a row. `StorageBytes` has every third: with 8, two are missing."""


class AbandonedLimits(Limits):
    """Which file systems are created for a job, and when the job is over."""

    tag: str | None = limit(
        None,
        unit="tag",
        min_length=1,
        max_length=385,  # the most in AWS: a key of 128 characters, "=", a value of 256
        pattern=r"^[^\s=]",
        examples=["Job", "Job=encode"],
        why="the tag that your jobs set on their file systems: a key, or key=value",
    )
    quiet_hours: int = limit(6, unit="hours", ge=1, le=336, why="a job may wait for its next step or Spot Instance")
    minimum_age_hours: int = limit(6, unit="hours", ge=1, why="a new file system waits for its job to start")

    @property
    def lacks(self) -> str | None:
        """The tag, without which the detector has nothing to judge."""
        return None if self.tag else "tag"


def judge(file_system: EfsFileSystem, seen: Seen, limits: AbandonedLimits) -> Verdict:
    """Flag a job's file system that had no client for hours while CloudWatch was recording."""
    tag = unless_decided(_tag(file_system, seen, limits))
    (connections,) = seen.read(*efs.needs(file_system, FIVE_MINUTES_S, limits.quiet_hours / 24, CLIENTS))
    clients = seen.finished(connections, file_system.created_at)
    if minutes := sum(clients.present):
        return Fine(f"clients were connected for {minutes:,.0f} minutes in {limits.quiet_hours} hours")
    if clients.present and (gap := longest_gap(clients)) > MOST_MISSING[CLIENTS]:
        return Unknown(f"ClientConnections has zeros, but no data for {5 * gap} minutes: a client may have come")
    stored, metered = seen.read(*efs.needs(file_system, FIVE_MINUTES_S, limits.quiet_hours / 24, STORED, METERED))
    if (gap := longest_gap(seen.finished(stored, file_system.created_at))) > MOST_MISSING[STORED]:
        return Unknown(f"StorageBytes has no data for {5 * gap} minutes: CloudWatch was not recording")
    moved_bytes = sum(metered.present)
    if moved_bytes and not clients.present:
        return Unknown("data moved, but ClientConnections was not published: the client is unknown")
    return _flag(file_system, tag, limits.quiet_hours, clients, moved_bytes)


def _tag(file_system: EfsFileSystem, seen: Seen, limits: AbandonedLimits) -> str | Fine | Unknown:
    """Return its job's tag as `Job=encode`, or the verdict if no metrics are needed. A limit `Job` allows any value."""
    if limits.tag is None:
        return Fine("the policy names no tag of the file systems that jobs create: detectors.efs-abandoned.tag")
    if file_system.tags is None:
        return Unknown(f"its tags could not be read, so whether it has {limits.tag} is unknown")
    key, equals, value = limits.tag.partition("=")
    if key not in file_system.tags or (equals and file_system.tags[key] != value):
        return Fine(f"it is not a job's: it has no tag {limits.tag}")
    hours = max(limits.minimum_age_hours, limits.quiet_hours)
    if seen.is_younger(file_system.created_at, hours=hours):
        return Fine(f"it is younger than {hours} hours")
    unless_decided(efs.exempt(file_system, seen))
    if EfsReplication in seen.fleet.unreadable:
        return Unknown(f"replications could not be read: {seen.fleet.unreadable[EfsReplication]}")
    return f"{key}={file_system.tags[key]}"


def _flag(file_system: EfsFileSystem, tag: str, quiet_hours: int, clients: Series, moved_bytes: float) -> Flagged:
    waits = f"A job that waits for longer than {quiet_hours} hours looks the same. Check that it is over."
    moved = f"{moved_bytes / MIB:,.1f} MiB moved without a client, probably by AWS Backup or a lifecycle transition."
    silent = "CloudWatch published nothing instead of zeros, although it was recording."
    caveats = advice.caveats((moved, moved_bytes), (silent, not clients.present))
    return Flagged(
        summary=f"{efs.describe(file_system)} of a job ({tag}), and no client in {quiet_hours} hours",
        confidence="medium" if caveats else "high",
        evidence=(
            Evidence("Hours without a client", quiet_hours, "hours"),
            Evidence("Created for a job", tag, "words"),
            efs.sum_of("Clients connected, by five minutes", clients, "connection-minutes"),
            *efs.facts(file_system),
        ),
        advice=efs.removal(file_system, sure=not caveats),
        fingerprint_inputs=(tag, file_system.mount_targets > 0, size_class(file_system.total_bytes)),
        caveats=(waits, *caveats, *advice.protection(file_system)),
    )


EVERY_15_MINUTES: list[float | None] = [None, None, 32.0 * GIB] * 24
LATE = {CLIENTS: [0.0] * 69 + [None] * 3, STORED: [*EVERY_15_MINUTES[:66], *[None] * 6]}
LEFT_BEHIND = examples.efs(tags={"Name": "encode-job-4711", "Job": "encode"}, created_at=days_ago(31 / 24))
SILENT: Metrics = {STORED: EVERY_15_MINUTES, CLIENTS: [0.0] * 72, METERED: [0.0] * 72}
NO_ZEROS, WRITTEN = {CLIENTS: None, METERED: None}, {CLIENTS: None, METERED: 9.0 * MIB}
TWENTY_MINUTES = {CLIENTS: [0.0] * 28 + [None] * 4 + [0.0] * 40}
AN_HOUR_LOST = {STORED: [*EVERY_15_MINUTES[:24], *[None] * 12, *EVERY_15_MINUTES[:36]], CLIENTS: None, METERED: None}

job = Cases(LEFT_BEHIND, SILENT, limits={"tag": "Job"}, period_s=FIVE_MINUTES_S)

DETECTOR = Detector(
    title="EFS file system of a job that is over",
    kind="waste",
    resource=EfsFileSystem,
    limits=AbandonedLimits,
    reads_if_allowed=(EfsReplication,),
    judge=judge,
    outranks=("efs-idle", *efs.SAVERS),
    cases=(
        job("six hours of zeros", Flagged, "of a job (Job=encode), and no client in 6 hours"),
        job("the key and its value", Flagged, limits={"tag": "Job=encode"}),
        job("six hours without points, while CloudWatch was recording", Flagged, metrics=NO_ZEROS),
        job("the last points are late", Flagged, metrics=LATE),
        job("only AWS Backup reads it", Flagged, metrics={METERED: [0.0] * 70 + [5.0 * MIB, 9.0 * MIB]}),
        job("no tag is named", Fine, "the policy names no tag", limits={"tag": None}),
        job("another job's", Fine, "no tag Job=report", limits={"tag": "Job=report"}),
        job("not a job's", Fine, "not a job's", tags={"Name": "home"}),
        job("tags could not be read", Unknown, "tags could not be read", tags=None),
        job("a client that is mounted, and does nothing", Fine, "clients were connected", metrics={CLIENTS: 5.0}),
        job("a job that waits: its client left an hour ago", Fine, metrics={CLIENTS: [5.0] * 60 + [0.0] * 12}),
        job("a client that came this minute", Fine, metrics={CLIENTS: [0.0] * 71 + [1.0]}),
        job("created five hours ago", Fine, "younger than 6 hours", created_at=days_ago(5 / 24)),
        *examples.exempt_efs(job),
        job("no metric at all", Unknown, "CloudWatch was not recording", metrics=dict.fromkeys(SILENT)),
        job("zeros, and twenty minutes without a point", Unknown, "no data for 20 minutes", metrics=TWENTY_MINUTES),
        job("an hour that CloudWatch did not record", Unknown, "no data for 70 minutes", metrics=AN_HOUR_LOST),
        job("something writes, and connections are not published", Unknown, "client is unknown", metrics=WRITTEN),
    ),
)
