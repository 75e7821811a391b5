"""EFS file systems that keep untouched data in the Standard class.

## What it finds
A file system of 30 days or more with at least 100 GiB in Standard and no lifecycle policy, at least a quarter of which
was neither read nor written in the last 36 days. EFS does not publish the age of files, so the answer is the worst
case: each byte that was read or written is another one, and each read of a month comes from Infrequent Access.

It is not flagged if lifecycle would take throughput that it uses: the burst depends on the data in Standard.

## Why it matters
Infrequent Access costs about a tenth of Standard. Without a policy, no file ever moves there.

## When it is wrong
- Files move whole. The saving is lower if a few huge files are read in part, or if files are smaller than 128 KiB. If
  less than half was untouched, the confidence is low.
- Data that is needed once a year is slower then: tens of milliseconds to the first byte, and a charge per GiB.
- CloudWatch may publish nothing instead of zeros while no client is connected. That counts as zero if `StorageBytes`
  shows that CloudWatch was recording. Hours that it did not record lower the confidence.

## What to do
Set a lifecycle policy: to Infrequent Access after 30 days, and back at the first access, so that AWS does not charge
for the same read again. Elastic file systems can add Archive. An empty policy stops it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final, NamedTuple

from slackwater.model import money
from slackwater.model.detector import Detector, Limits, Seen, limit, unless_decided
from slackwater.model.metrics import Need, Series
from slackwater.model.money import Change, PriceItem, amount, size_class
from slackwater.model.quantities import binary_rate_words
from slackwater.model.resources import EfsFileSystem, EfsLifecycle, EfsReplication, EfsStorageClass
from slackwater.model.settings import EfsLifecycleSetting
from slackwater.model.units import DAY_S, DAYS_PER_MONTH, FIVE_MINUTES_S, GIB, MIB, TIB
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import efs as formulas
from slackwater.rules import advice, efs, examples
from slackwater.rules.efs import METERED, READ, SAMPLES, STORED, WRITTEN
from slackwater.rules.efs_throughput import without_holes
from slackwater.rules.examples import Cases, Metrics, days, days_ago

CHARGED: Final[Mapping[EfsStorageClass, tuple[PriceItem, PriceItem]]] = {
    "IA": (money.EFS_IA_READ, money.EFS_IA_TIERING),
    "Archive": (money.EFS_ARCHIVE_READ, money.EFS_ARCHIVE_TIERING),
}
LEFT_BYTES: Final = formulas.LEAST_BYTES_PER_S / formulas.EARNED_BYTES_PER_S_PER_GIB * GIB
"""The bytes that earn the lowest baseline, which may be all that is left after the cold files have moved."""


class ColdDataLimits(Limits):
    """How much must be untouched, and for how long."""

    standard_gib: int = limit(100, unit="GiB", ge=EfsLifecycle.LEAST_STANDARD_GIB, why="below, policies are not read")
    window_days: int = limit(36, unit="days", ge=31, le=60, why="covers a job on the first Monday of every month")
    quiet_days: int = limit(30, unit="days", ge=30, le=60, why="without a missing day: the 30 days of the policy")
    cold_percent: float = limit(25, unit="percent", gt=0, le=100, why="files move whole, so the bound needs room")
    headroom_percent: float = limit(20, unit="percent", ge=0, le=400, why="above the throughput that it uses")


class Touched(NamedTuple):
    """Daily reads and writes. `sure`: the window is whole, and each day has a point and was recorded as a whole."""

    read: Series
    written: Series
    total_bytes: float
    days: int
    sure: bool


def judge(file_system: EfsFileSystem, seen: Seen, limits: ColdDataLimits) -> Verdict:
    """Flag a file system without a lifecycle policy that stores far more than it reads and writes in a month."""
    unless_decided(efs.exempt(file_system, seen, limits.quiet_days, sources=False))
    if file_system.standard_bytes < limits.standard_gib * GIB:
        return Fine(f"it has less than {limits.standard_gib} GiB in Standard")
    # Read the cheapest metrics first, and StorageBytes only if nothing moved: it shows that CloudWatch was recording.
    warm_bytes = file_system.standard_bytes * (1 - limits.cold_percent / 100)
    (read,) = seen.read(*efs.daily(file_system, limits.window_days, READ))
    if sum(read.present) > warm_bytes:
        return Fine("it reads so much that most of it may be in use")
    watch, needs = efs.daily(file_system, limits.window_days, STORED, SAMPLES), _metered_needs(file_system, limits)
    unread = _silent(file_system, seen, read)  # then writes will hardly decide, so its lifecycle comes first
    at_once = watch if unread and unless_decided(_lifecycle(file_system, seen)) else []
    written, *_ = seen.read(*efs.daily(file_system, limits.window_days, WRITTEN), *at_once)
    silent = seen.read(*watch, *needs)[:2] if at_once or _silent(file_system, seen, written) else ()  # one round
    touched = _touched(file_system, seen, limits, (read, written), *silent)
    if isinstance(touched, Touched) and touched.total_bytes > warm_bytes:
        return Fine("it reads and writes so much that most of it may be in use")
    lifecycle = unless_decided(_lifecycle(file_system, seen))  # one call for each file system, so ask it late
    touched = unless_decided(touched)
    metered, holes = seen.read(*needs), list[str]()
    for series in metered:
        holes += unless_decided(_needs_its_throughput(file_system, seen, series, limits, touched))
    baselines = (formulas.baseline_bytes_per_s(size) for size in (file_system.standard_bytes, 0))
    falls = "Its baseline falls from {} to as little as {}.".format(*map(binary_rate_words, baselines))
    averages = (sum(one.present) / one.period_s / max(1, len(one.present)) for one in metered)
    slower = "".join(f" {falls} It used {binary_rate_words(average)} on average." for average in averages)
    return _flag(file_system, lifecycle, touched, slower, holes)


def _lifecycle(file_system: EfsFileSystem, seen: Seen) -> EfsLifecycle | Fine | Unknown:
    """Return its lifecycle, which moves no cold files; otherwise the verdict."""
    lifecycle = seen.fleet.get(EfsLifecycle, file_system.id)
    if lifecycle and (lifecycle.transition_to_ia or lifecycle.transition_to_archive):
        return Fine("its lifecycle policy moves cold files")
    return lifecycle or Unknown("its lifecycle policies were not read")


def _silent(file_system: EfsFileSystem, seen: Seen, series: Series) -> bool:
    """Return whether no finished day has a point above 0. Today does not prove that CloudWatch recorded before."""
    return not any(seen.finished(series, file_system.created_at).present)


def _metered_needs(file_system: EfsFileSystem, limits: ColdDataLimits) -> list[Need]:
    """Return the needs that show whether it needs its size's throughput: by five minutes if its peaks matter too."""
    if not formulas.bursts(file_system):
        return []
    period_s = FIVE_MINUTES_S if _ceiling(file_system) else DAY_S
    return efs.needs(file_system, period_s, limits.window_days, METERED)


def _ceiling(file_system: EfsFileSystem) -> float | None:
    """Return its limit in bytes per second after the move; None if the move does not lower it (up to 1 TiB)."""
    if file_system.throughput_mode == "provisioned":
        return (file_system.provisioned_mib_s or 0) * MIB
    return formulas.burst_bytes_per_s(LEFT_BYTES) if file_system.standard_bytes > TIB else None


def _touched(
    file_system: EfsFileSystem, seen: Seen, limits: ColdDataLimits, moved: tuple[Series, Series], *watch: Series
) -> Touched | Unknown:
    """Return its reads and writes, or why they are unknown. `watch` replaces a metric that was never published."""
    read, written = moved
    whole = seen.finished(read, file_system.created_at)
    sure = len(whole) == len(seen.finished(read, read.start))
    for metric, series in ((READ, read), (WRITTEN, written)):
        recorded, named = seen.finished(series, file_system.created_at), metric.name
        if not recorded.present:
            recorded, sure = seen.finished(watch[0], file_system.created_at), False
            named += " was never published, and StorageBytes"
        missing = recorded.newest(limits.quiet_days).missing
        if missing or not len(recorded):
            return Unknown(f"{named} has no data on {missing} of {limits.quiet_days} days")
        sure = sure and not recorded.missing
    lost = efs.recorded(file_system, seen, watch[0], watch[1]).missing if watch else 0
    total_bytes = sum(read.present) + sum(written.present)
    return Touched(read, written, total_bytes, len(whole), sure and not lost)


def _needs_its_throughput(
    file_system: EfsFileSystem, seen: Seen, metered: Series, limits: ColdDataLimits, touched: Touched
) -> Fine | tuple[str, ...]:
    """Return why it needs the throughput of its size; caveats about holes if it does not."""
    newest = seen.finished(metered, max(file_system.created_at, seen.now - timedelta(days=limits.quiet_days)))
    used, holes = list(metered.present), tuple[str, ...]()
    if newest.present or touched.total_bytes:
        filled, holes = unless_decided(without_holes(newest, METERED, limits.quiet_days))
        before, today = metered.between(metered.start_s, newest.start_s), metered.since(newest.end_s)
        used = [*before.present, *filled.present, *today.present]
    average, room = sum(used) / max(1, len(used)) / metered.period_s, 1 + limits.headroom_percent / 100
    peak = max(used, default=0) / metered.period_s
    if (ceiling := _ceiling(file_system)) and peak * room > ceiling:
        return Fine("it bursts faster than it could with less in Standard")
    full, earned = formulas.full_credits_bytes(LEFT_BYTES), formulas.baseline_bytes_per_s(LEFT_BYTES)
    lowest = partial(formulas.lowest_credits, used, metered.period_s, LEFT_BYTES, full)
    if file_system.throughput_mode != "provisioned" and (average * room > earned or lowest() < full / 2):
        return Fine(f"it uses {binary_rate_words(average)}, with credits that its data in Standard earns")
    return holes


def _flag(
    file_system: EfsFileSystem, lifecycle: EfsLifecycle, touched: Touched, slower: str, holes: list[str]
) -> Flagged:
    standard = file_system.standard_bytes
    cold_bytes, read_gib = standard - touched.total_bytes, sum(touched.read.present) / GIB
    cold, all_ = f"{cold_bytes / GIB:,.0f}", f"{standard / GIB:,.0f}"
    saving = (
        f"Between {cold} and {all_} GiB are cold. The saving assumes {cold} GiB, and that all reads of a month come"
        " from Infrequent Access. It is lower if files are huge and used in part, or smaller than 128 KiB."
    )
    monthly_read_gib = read_gib / touched.days * DAYS_PER_MONTH
    sure = touched.sure and not touched.total_bytes and not holes
    few = cold_bytes < standard / 2  # then it matters that EFS moves whole files
    return Flagged(
        summary=(
            f"At least {cold} of {all_} GiB in Standard were neither read nor written in {touched.days} days, and no"
            " lifecycle policy moves them"
        ),
        confidence="low" if few else "high" if sure else "medium",
        evidence=(
            efs.gib("In Standard", standard),
            efs.gib("Untouched, at least", cold_bytes),
            Evidence("Read per day", round(read_gib, 3), "GiB", touched.read.over(GIB)),
            efs.gib("Written", sum(touched.written.present), digits=3),
            Evidence("Days observed", touched.days, "days"),
        ),
        advice=tuple(_advice(file_system, lifecycle, cold_bytes, monthly_read_gib, slower=slower)),
        fingerprint_inputs=(size_class(standard), size_class(cold_bytes)),
        caveats=(saving, efs.one_way_caveat("efs-cold-data"), *holes),
    )


def _changes(file_system: EfsFileSystem, to: EfsStorageClass, cold: int, read_gib: float) -> tuple[Change, ...]:
    """Return the change of a month's bill with `cold` bytes in class `to`. All reads are from it, and move twice."""
    stored = file_system.stored_bytes
    after = {**stored, "Standard": stored["Standard"] - cold, to: stored.get(to, 0) + cold}
    saved = efs.saved(file_system, stored_bytes=after)
    read, moved = CHARGED[to]
    charged = Change(read, -amount(read_gib)), Change(moved, -amount(2 * read_gib))
    return (*saved, *(one for one in charged if one.quantity))


def _advice(
    file_system: EfsFileSystem, lifecycle: EfsLifecycle, cold_bytes: float, monthly_read_gib: float, *, slower: str
) -> Iterator[Advice]:
    cold = round(cold_bytes)
    to = EfsLifecycleSetting(
        transition_to_ia="AFTER_30_DAYS",
        transition_to_archive=lifecycle.transition_to_archive,
        transition_to_primary=lifecycle.transition_to_primary or "AFTER_1_ACCESS",
    )
    yield Advice(
        action="tier-to-infrequent-access",
        summary="Move files that nobody touches for 30 days to Infrequent Access, and back when someone reads them.",
        changes=_changes(file_system, "IA", cold, monthly_read_gib),
        risk=(
            "AWS charges per GiB once for the move, and again for each read. The first byte of a cold file takes tens"
            f" of milliseconds.{slower} The command replaces the whole lifecycle configuration."
        ),
        reversible=True,
        command=efs.put_command(file_system, to),
        setting=advice.by_program(file_system, to),
    )
    if file_system.throughput_mode == "elastic" and file_system.availability_zone is None:
        yield Advice(
            action="tier-to-archive-too",
            summary=(
                "The same, and move what nobody touches for 90 days to Archive. The saving assumes that all cold data"
                " moves there, and that all reads of a month come from there."
            ),
            changes=_changes(file_system, "Archive", cold, monthly_read_gib),
            risk=(
                "AWS bills Archive for at least 90 days, and reads from it cost more. With data in Archive, the"
                " throughput mode must stay Elastic. The command replaces the whole lifecycle configuration."
            ),
            reversible=True,
            command=efs.put_command(file_system, replace(to, transition_to_archive="AFTER_90_DAYS")),
        )


def moving(read_gib: float, written_gib: float, metered_mib_s: float = 0.01) -> Metrics:
    """Return the same reads and writes every day."""
    return {READ: read_gib * GIB, WRITTEN: written_gib * GIB, METERED: metered_mib_s * MIB * DAY_S}


def five_minutes(mib_s: float, *lost: int) -> Metrics:
    """Return metrics of a 6 TiB file system with the same throughput in all points except the `lost` ones."""
    points = [None if i in lost else mib_s * MIB * FIVE_MINUTES_S for i in range(37 * 288)]
    return {**moving(20, 10), METERED: None, (METERED, FIVE_MINUTES_S): points}


FILES = examples.efs(availability_zone=None, stored_bytes={"Standard": 800 * GIB})
NO_POLICY = EfsLifecycle(id=FILES.id, transition_to_ia=None, transition_to_archive=None, transition_to_primary=None)
MOVES = replace(NO_POLICY, transition_to_ia="AFTER_60_DAYS")
BRINGS_BACK = replace(NO_POLICY, transition_to_primary="AFTER_1_ACCESS")
SIX_TIB = {"Standard": 6 * TIB}
ONE_NIGHT = {READ: days(0.0, {34: 800.0 * GIB})}
DARK_DAYS = {METERED: days(MIB, {range(4, 7): None})}
A_WEEK = [400.0 * MIB * FIVE_MINUTES_S] * 2 + [MIB] * 2014
WEEKLY = {**five_minutes(0), (METERED, FIVE_MINUTES_S): [*A_WEEK * 5, *[MIB] * 288]}
SINCE_TODAY: Metrics = {STORED: 800.0 * GIB, READ: [GIB], WRITTEN: [GIB], METERED: MIB}
A_LOST_DAY, LONG_AGO = {READ: days(GIB, {16: None})}, {READ: days(GIB, {35: None})}
TWO_HOURS, FIVE_HOURS = five_minutes(0.2, *range(6_000, 6_024)), five_minutes(0.2, *range(6_000, 6_060))

little = Cases(FILES, moving(1, 0.5), records=(NO_POLICY,))
bare = Cases(FILES, records=(NO_POLICY,))
PAID = {"throughput_mode": "provisioned", "provisioned_mib_s": 64.0, "stored_bytes": SIX_TIB}

DETECTOR = Detector(
    title="EFS file system that keeps cold data in Standard",
    kind="waste",
    resource=EfsFileSystem,
    limits=ColdDataLimits,
    reads=(EfsReplication, EfsLifecycle),
    judge=judge,
    cases=(
        little("800 GiB of which 55 were touched", Flagged, "At least 744 of 800 GiB in Standard were neither"),
        bare("nothing published, while CloudWatch was recording", Flagged, "800 of 800", metrics={STORED: 800.0 * GIB}),
        bare("nothing published at all", Unknown, "and StorageBytes has no data"),
        bare("mounted again this morning", Flagged, "At least 798 of 800", metrics=SINCE_TODAY),
        little("2 % of it is read a day", Flagged, "At least 208 of 800", metrics=moving(15.9, 0.1)),
        little("a day without a point", Unknown, "DataReadIOBytes has no data on 1 of 30", metrics=A_LOST_DAY),
        little("a day without a point, five weeks ago", Flagged, metrics=LONG_AGO),
        little("read from end to end on one night of the month", Fine, "reads so much", metrics=ONE_NIGHT),
        little("written again every month", Fine, "reads and writes so much", metrics=moving(1, 20)),
        bare("its policy moves cold files already", Fine, "its lifecycle policy", records=(MOVES,)),
        little("a policy that only brings files back", Flagged, records=(BRINGS_BACK,)),
        bare("99 GiB in Standard", Fine, "less than 100 GiB", stored_bytes={"Standard": 99 * GIB}),
        little("three weeks old", Fine, "younger than 30 days", created_at=days_ago(21)),
        bare("being deleted", Fine, "deleting", state="deleting"),
        little("a replica", Fine, "destination of a replication", is_replica=True),
        little("the source of a replication", Flagged, records=(NO_POLICY, examples.replicated(FILES))),
        little("lists its directories all day", Fine, "it uses 5 MiB/s, with credits", metrics=moving(1, 0.5, 5)),
        little("lists its directories since today", Fine, "with credits", metrics={METERED: days(MIB, {0: 3.0 * TIB})}),
        bare("6 TiB, and ten minutes a week at 400 MiB/s", Fine, "faster", metrics=WEEKLY, stored_bytes=SIX_TIB),
        bare("6 TiB, never fast", Flagged, metrics=five_minutes(0.2), stored_bytes=SIX_TIB),
        bare("6 TiB, and two hours without a point", Flagged, metrics=TWO_HOURS, stored_bytes=SIX_TIB),
        bare("6 TiB, and five hours without a point", Unknown, "for 5 h", metrics=FIVE_HOURS, stored_bytes=SIX_TIB),
        bare("less provisioned than its size earns, and needed", Fine, "faster", metrics=five_minutes(60), **PAID),
        little("its need of throughput is unknown", Unknown, "MeteredIOBytes has no data", metrics=DARK_DAYS),
        little("Elastic: no credits to lose", Flagged, throughput_mode="elastic", metrics=moving(1, 0.5, 5)),
        little("its policy is not among what was read", Unknown, "not read", records=()),
        bare("policies could not be read", Unknown, "denied", records=(), unreadable={EfsLifecycle: "denied"}),
    ),
)
