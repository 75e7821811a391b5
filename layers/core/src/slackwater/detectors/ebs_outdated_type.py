"""Volumes of an earlier type that a current type replaces for less.

## What it finds
An attached gp2 or io1 volume that would cost less as gp3 with the IOPS and MiB/s of its busiest minute in 35 days plus
20 %, but not more than its present limits. The IOPS are enough whether a large operation counts once or per 256 KiB.

A magnetic volume (`standard`) that costs more than gp3, its I/O requests included. The finding is a performance issue
instead if it reached 200 IOPS or 90 MiB/s, the most of this type, on several days while requests waited.

## Why it matters
gp3 costs a fifth less per GiB than gp2, and its performance does not depend on the size. AWS bills every IOPS of io1.

## When it is wrong
- Metrics show what the volume did, not what it wanted. The gp3 gets the old volume's full burst performance if that ran
  out of credits, has no BurstBalance on a day with I/O, or raised VolumeIOPSExceededCheck or that of throughput.
- The peak of a job that runs less often than every 35 days is not seen. Set `window_days` to up to 60.
- io1 delivers its IOPS 99.9 % of the time, and gp3 99 %.
- A magnetic volume may have a limit from 40 to 200 IOPS, and EC2 does not return which.

## What to do
Change the type online, but not with Multi-Attach. Always set IOPS and throughput.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from slackwater.model.detector import Detector, Seen, limit, unless_decided
from slackwater.model.metrics import Need, Series
from slackwater.model.money import EBS_MAGNETIC_REQUESTS, Change, amount, size_class
from slackwater.model.resources import Instance, InstanceType, Volume
from slackwater.model.units import FIVE_MINUTES_S, HOUR_S, HOURS_PER_MONTH, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import ebs as formulas
from slackwater.rules import ebs, ebs_peaks, examples
from slackwater.rules.ebs_peaks import BYTES, READ_BYTES, READS, WRITES, WRITTEN_BYTES, Look
from slackwater.rules.examples import ON_NITRO, ON_XEN, Cases, Metrics, days, days_ago, in_turns, peaks

GONE_PERCENT: Final = 1  # with a lower balance, the bucket was empty for a moment
AT_LIMIT: Final = 0.95  # the share of the type's maximum at which a magnetic volume counts as at its limit


class OutdatedTypeLimits(ebs_peaks.PeakLimits):
    """What the new type keeps, and when a magnetic volume is slow."""

    limited_days: int = limit(3, unit="days", ge=1, le=60, why="magnetic at its limit; fewer are a start or a copy")


def judge(volume: Volume, seen: Seen, limits: OutdatedTypeLimits) -> Verdict:
    """Flag a volume whose type has a successor that gives it at least the same."""
    type_ = volume.volume_type
    if type_ not in {"gp2", "io1", "standard"}:
        return Fine(f"{type_} is a current type")
    if type_ == "io1" and volume.iops is None:
        return Unknown("EC2 did not return its IOPS")
    kind = unless_decided(ebs.carrier(volume, seen))
    if volume.multi_attach:
        return _shared(volume)
    look = Look(volume, BYTES, seen, limits, kind)
    if type_ == "standard":
        return _magnetic(look, limits)

    now = formulas.volume_limits(type_, volume.size_gib, volume.iops if type_ == "io1" else None)
    had = formulas.Allowance(now.burst.rate(now.largest_operation_bytes), now.burst.iops)
    needs_iops = had.iops > formulas.GP3_INCLUDED_IOPS  # every gp3 volume has the included IOPS
    looks = [look, replace(look, measure=ebs_peaks.CONSUMED)] if needs_iops else [look]
    _read(looks)
    kept = 1 + limits.headroom_percent / 100
    free = (formulas.GP3_INCLUDED_MIB_S, formulas.GP3_INCLUDED_IOPS)
    looks = [  # read and write peaks may be hours apart: read hours if that changes the price
        look.by(HOUR_S) if look.most * kept > included and look.least * kept < most else look
        for look, included, most in zip(looks, free, (had.mib_s, had.iops), strict=False)
    ]
    checks = ebs_peaks.checks(look, *(ebs_peaks.THROUGHPUT_EXCEEDED, ebs_peaks.IOPS_EXCEEDED)[: len(looks)])
    balance = ebs.daily(volume, limits.window_days, ebs.BALANCE) if now.credits else []
    _read(looks, *checks, *balance)
    credits_left = [look.while_active(series) for series in seen.read(*balance)]
    limited = _limited(look, checks, credits_left)
    if not limited and _is_open(looks, had):
        looks = [look.by(FIVE_MINUTES_S) if look.period_s == HOUR_S else look for look in looks]
        _read(looks)
    unwatched = any(seen.finished(one, one.start).missing for one in credits_left)
    checked = ebs_peaks.answered(checks, seen) and not unwatched
    return _flag(looks, had, limited, checked=checked)


def _is_open(looks: Sequence[Look], had: formulas.Allowance) -> bool:
    """Return whether gp3 costs less than gp2 at the lower bounds of the peaks, but not at the upper bounds."""
    volume = looks[0].volume
    worst, best = (_setting(looks, had, most=most) for most in (True, False))
    cheaper = [formulas.costs_less_than_gp2(volume.size_gib, one) for one in (worst, best) if one]
    return volume.volume_type == "gp2" and cheaper == [False, True]


def _setting(looks: Sequence[Look], had: formulas.Allowance, *, most: bool = True) -> formulas.Gp3 | None:
    """Return the gp3 settings for the busiest minute with headroom, at most what the volume had; None if impossible."""
    volume, percent = looks[0].volume, looks[0].limits.headroom_percent
    peaks = [formulas.with_headroom(look.most if most else look.least, percent) for look in looks]
    mib_s, iops = [*peaks, 0][:2]
    return formulas.gp3_for(volume.size_gib, min(iops, had.iops), min(mib_s, had.mib_s))


def _read(looks: Sequence[Look], *besides: Need) -> None:
    """Read the metrics of all looks, and `besides`. Stop the judgement if the metrics are incomplete."""
    looks[0].seen.read(*(need for look in looks for need in look.needs), *besides)
    for look in looks:
        unless_decided(look.unknown)


def _limited(look: Look, checks: Sequence[Need], credits_left: Sequence[Series]) -> str:
    """Return why the load may have needed more than the volume gave; empty if it did not."""
    if ebs_peaks.raised(checks, look.seen):
        return "reached its limit"
    for series in credits_left:
        if min(series.present, default=100) < GONE_PERCENT:
            return "ran out of credits"
        if look.hole(series):
            return "may have run out of credits (BurstBalance has missing days)"
    return ""


def _flag(looks: Sequence[Look], had: formulas.Allowance, limited: str, *, checked: bool) -> Verdict:
    moved, volume = looks[0], looks[0].volume
    type_, days = volume.volume_type, min(look.days for look in looks)
    whole = formulas.gp3_for(volume.size_gib, had.iops, had.mib_s)
    setting = whole if limited else _setting(looks, had)
    if setting is None or whole is None:
        return Fine("gp3 does not reach its performance")
    why = f"all that its burst has, because it {limited}" if limited else "the busiest minute with headroom"
    options = [_to_gp3(volume, setting, "move-to-gp3", why)]
    if whole != setting:
        why = "all that the volume can do now, for a load that the window did not show"
        options.append(_to_gp3(volume, whole, "move-to-gp3-as-fast", why))
    if type_ == "io1" and (volume.iops or 0) > formulas.IO2_TIER_IOPS[0]:
        why = "io2 with the same IOPS. It costs less above 32,000 IOPS, and is more durable and steadier."
        io2 = replace(volume, volume_type="io2")
        options.append(ebs.modify(volume, io2, "move-to-io2", why, "None for the data."))
    did = limited or f"moved at most {moved.most:,.1f} MiB/s"
    return Flagged(
        summary=(
            f"{volume.size_gib:,} GiB {type_} that {did} in {days} days: gp3 with {setting.iops:,} IOPS and"
            f" {setting.mib_s:,} MiB/s is enough"
        ),
        confidence=min((look.confidence(checked=checked) for look in looks), key=("low", "medium", "high").index),
        evidence=(
            Evidence("Size", volume.size_gib, "GiB"),
            Evidence(f"Limit of this {type_}", round(had.mib_s), "MiB/s"),
            Evidence(f"Limit of this {type_}", round(had.iops), "IOPS"),
            *(
                look.evidence(most, Line(f"{type_} at most", round(most)), Line("gp3 proposed", to))
                for look, most, to in zip(looks, (had.mib_s, had.iops), (setting.mib_s, setting.iops), strict=False)
            ),
            *((Evidence("At its limit", f"it {limited}", "words"),) if limited else ()),
            *ebs.carried(moved.kind),
        ),
        advice=tuple(options),
        fingerprint_inputs=(type_, size_class(setting.iops), size_class(setting.mib_s)),
        caveats=tuple(dict.fromkeys(c for look in looks for c in look.lowering_caveats)) if setting != whole else (),
        cheapest_first=True,
    )


def _to_gp3(volume: Volume, to: formulas.Gp3, action: str, why: str) -> Advice:
    summary = f"gp3 with {to.iops:,} IOPS and {to.mib_s:,} MiB/s: {why}."
    evenly = "gp3 delivers its IOPS 99 % of the time, io1 99.9 %. " if volume.volume_type == "io1" else ""
    risk = f"{evenly}During the change, the performance is between that of the two types."
    return ebs.modify(volume, ebs.gp3(volume, to.iops, to.mib_s), action, summary, risk)


def _shared(volume: Volume) -> Verdict:
    """Judge io1 on several instances: gp3 is impossible, and io2 costs the same up to 32,000 IOPS."""
    iops, same = volume.iops or 0, formulas.IO2_TIER_IOPS[0]
    if iops <= same:
        return Fine(f"gp3 has no Multi-Attach, and io2 costs the same up to {same:,} IOPS")
    steps = (
        "EBS cannot change the type of a volume with Multi-Attach. Take a snapshot while nothing writes, create an io2"
        " volume with Multi-Attach and the same IOPS from it, and attach that instead. It costs less above 32,000 IOPS."
    )
    by_hand = ebs.modify(volume, replace(volume, volume_type="io2"), "move-to-io2", steps, "")
    return Flagged(
        summary=f"{iops:,} IOPS on an io1 volume with Multi-Attach: io2 costs less",
        confidence="high",
        evidence=(
            Evidence("Size", volume.size_gib, "GiB"),
            Evidence("Provisioned IOPS", iops, "IOPS"),
            Evidence("Instances", len(volume.attachments), "count"),
        ),
        advice=(replace(by_hand, risk="The cluster is stopped meanwhile.", command=None, setting=None),),
        fingerprint_inputs=("io1", iops),
    )


def _magnetic(look: Look, limits: OutdatedTypeLimits) -> Verdict:
    """Judge a magnetic volume. gp3 is many times faster and costs more per GiB, so flag one that was at its limit."""
    most = formulas.most_of(look.volume)
    looks = [replace(look, measure=measure) for measure in (ebs_peaks.OPERATIONS, BYTES)]
    _read(looks)
    # Read and write peaks may be hours apart.
    near = [one.by(FIVE_MINUTES_S) for one in looks if one.most >= most.of(one.measure.unit) * AT_LIMIT]
    sums = ebs.daily(look.volume, limits.window_days, READS.total, WRITES.total)
    queue = ebs.needs(look.volume, FIVE_MINUTES_S, limits.window_days, ebs_peaks.QUEUE[look.xen]) if near else []
    _read(near or looks, *sums, *queue)
    by_day = [look.seen.finished(series, series.start) for series in look.seen.read(*sums)]
    # A missing day counts as a day without requests, which makes the saving of gp3 the lowest.
    millions = sum(sum(series.present) for series in by_day) / len(by_day[0]) / 24 * HOURS_PER_MONTH / 1e6
    for one in near:
        top, (length,) = most.of(one.measure.unit), look.seen.read(*queue)
        if (limited := one.days_at(top * AT_LIMIT, length)) >= limits.limited_days:
            slow = f"Magnetic (standard), at its limit of {top:,.0f} {one.measure.unit} on {limited} of {one.days} days"
            return replace(_flag_magnetic(one, top, millions, slow), kind="performance", severity="low")
        if (slow_days := one.days_at(top * AT_LIMIT, length, unknown=True)) >= limits.limited_days:
            return Unknown(
                f"VolumeQueueLength lacks points on {slow_days - limited} days, on which it may have been slow"
            )
    if millions < formulas.MAGNETIC_MILLIONS_PER_GIB * look.volume.size_gib:
        return Fine(f"gp3 costs more than {millions:,.1f} million I/O requests a month")
    paid = f"{look.volume.size_gib:,} GiB magnetic (standard) with {millions:,.0f} million billed I/O requests a month"
    operations = next((one for one in near if one.measure is ebs_peaks.OPERATIONS), looks[0])
    return _flag_magnetic(operations, most.iops, millions, paid)


def _flag_magnetic(look: Look, top: float, millions: float, summary: str) -> Flagged:
    gp3 = formulas.Gp3(formulas.GP3_INCLUDED_IOPS, formulas.GP3_INCLUDED_MIB_S)
    change = _to_gp3(look.volume, gp3, "move-to-gp3", "many times as fast, and nothing for I/O requests")
    changes = (*(change.changes or ()), Change(EBS_MAGNETIC_REQUESTS, amount(millions)))
    return Flagged(
        summary=summary,
        confidence=look.confidence(checked=False),
        evidence=(
            Evidence("Size", look.volume.size_gib, "GiB"),
            Evidence("I/O requests a month", round(millions, 1), "million requests"),
            look.evidence(top, Line("Magnetic at most", top)),
        ),
        # EBS may not allow a change back to magnetic, so a person decides.
        advice=(replace(change, changes=changes, setting=None),),
        fingerprint_inputs=("standard",),
        caveats=("The saving assumes as many I/O requests as in the window. AWS may bill large ones several times.",),
    )


def reading(mib_s: float, iops: float) -> Metrics:
    """Return reads only, all day."""
    rates = {"read_mib_s": mib_s, "written_mib_s": 0, "reads": iops, "writes": 0}
    unraised = dict.fromkeys((ebs_peaks.THROUGHPUT_EXCEEDED, ebs_peaks.IOPS_EXCEEDED), 0.0)
    return {**peaks(**rates), **peaks(range(288), **rates), **unraised}


def operations(reads: float, writes: float, points: range, write_points: range | None = None) -> Metrics:
    """Return operations of 16 KiB in these five-minute points of each day."""
    mib_s = {"read_mib_s": reads * 16 / 1024, "written_mib_s": writes * 16 / 1024}
    return in_turns(points, write_points or points, reads=reads, writes=writes, **mib_s)


GP2 = examples.volume(examples.instance(), volume_type="gp2", iops=1_500, throughput_mib_s=None)
FOUR_DAYS_AGO = replace(GP2.attachments[0], attached_at=days_ago(4))
READ, WRITTEN = 40.0 * MIB * MINUTE_S, 20.0 * MIB * MINUTE_S
CALM = {READ_BYTES.peak: READ, WRITTEN_BYTES.peak: WRITTEN, ebs_peaks.THROUGHPUT_EXCEEDED: 0.0, ebs.BALANCE: 90.0}
AT_128 = peaks(read_mib_s=128, written_mib_s=0)
DAY, NIGHT, RAISED = range(6), range(144, 150), days(0.0, {0: 1.0})
ONCE, LOST_NIGHT = {READ_BYTES.peak: days(READ, {27: 6.2 * READ})}, {WRITTEN_BYTES.peak: days(WRITTEN, {27: None})}
WITHIN_AN_HOUR = in_turns(range(3), range(6, 9), read_mib_s=100, written_mib_s=100)
LONG_QUEUE, SHORT_QUEUE = ({(ebs_peaks.QUEUE[False], FIVE_MINUTES_S): [length] * 36 * 288} for length in (4.0, 0.3))
AT_LIMIT_NIGHTLY = {**operations(120, 80, DAY), **LONG_QUEUE}
IN_TURNS = {**operations(120, 120, DAY, NIGHT), **LONG_QUEUE}
FREE = {**operations(60, 30, range(288)), READS.total: 30_000.0, WRITES.total: 0.0}
BILLED = {**FREE, READS.total: 60 * 86_400.0, WRITES.total: 30 * 86_400.0}
SILENT = {
    READ_BYTES.peak: days(READ, {range(3, 9): 0.0}),
    WRITTEN_BYTES.peak: days(WRITTEN, {range(3, 9): 0.0}),
    ebs.BALANCE: days(90.0, {range(3, 9): None}),
}
EXCEEDED = {**reading(40, 1_000), ebs_peaks.IOPS_EXCEEDED: RAISED}
BY_TURNS = in_turns(DAY, NIGHT, read_mib_s=100, written_mib_s=90)
gp2 = Cases(GP2, CALM, records=ON_NITRO)
small = Cases(replace(GP2, size_gib=200, iops=600), CALM, records=ON_NITRO)
large = Cases(replace(GP2, size_gib=3_000, iops=9_000), records=ON_NITRO)
io1 = Cases(replace(GP2, volume_type="io1", iops=10_000), records=ON_NITRO)
shared = Cases(replace(GP2, volume_type="io1", iops=10_000, multi_attach=True), records=ON_NITRO)
magnetic = Cases(replace(GP2, volume_type="standard", size_gib=200, iops=None), records=ON_NITRO)
xen = Cases(GP2, {**examples.READING_ON_XEN, ebs.BALANCE: 100.0}, records=ON_XEN)
bare = Cases(GP2, records=ON_NITRO)

DETECTOR = Detector(
    title="Volume of an earlier type",
    kind="waste",
    resource=Volume,
    limits=OutdatedTypeLimits,
    reads=(Instance, InstanceType),
    judge=judge,
    outranks=("ebs-surplus-iops",),
    cases=(
        gp2("500 GiB gp2 at 60 MiB/s", Flagged, "at most 60.0 MiB/s in 35 days: gp3 with 3,000 IOPS and 125 MiB/s is"),
        gp2("gp2 at 170 MiB/s", Flagged, "3,000 IOPS and 204 MiB/s", metrics=peaks(read_mib_s=170, written_mib_s=0)),
        gp2("gp2 at full speed once a month", Flagged, "250 MiB/s", metrics=ONCE),
        gp2("gp2 that reads by day and writes by night", Flagged, "100.0 MiB/s in 35 days", metrics=BY_TURNS),
        small("200 GiB gp2, reads and writes in turns within an hour", Flagged, "125 MiB/s", metrics=WITHIN_AN_HOUR),
        gp2("gp2 without I/O and BurstBalance for six days", Flagged, "and 125 MiB/s is", metrics=SILENT),
        gp2("gp2 that ran out of credits", Flagged, "and 250 MiB/s is", metrics={ebs.BALANCE: days(90.0, {15: 0.0})}),
        gp2("gp2 without BurstBalance", Flagged, "(BurstBalance has missing days)", metrics={ebs.BALANCE: None}),
        gp2("gp2 whose throughput check raised once", Flagged, "250", metrics={ebs_peaks.THROUGHPUT_EXCEEDED: RAISED}),
        gp2("100 GiB gp2 at its 128 MiB/s", Flagged, "IOPS and 128 MiB/s", size_gib=100, iops=300, metrics=AT_128),
        large("3,000 GiB gp2 that uses 5,000 of 9,000 IOPS", Flagged, "6,192 IOPS and 125", metrics=reading(40, 5_000)),
        large("3,000 GiB gp2 whose IOPS exceeded check raised once", Flagged, "9,000 IOPS and 250", metrics=EXCEEDED),
        io1("io1 with 10,000 IOPS, of which 1,500 are used", Flagged, "3,000 IOPS and 125", metrics=reading(40, 1_500)),
        io1("io1 at its limit", Flagged, "gp3 with 10,000 IOPS and 125 MiB/s", metrics=reading(80, 9_900)),
        shared("io1 on several instances", Fine, "gp3 has no Multi-Attach"),
        shared("io1 on several instances, with 40,000 IOPS", Flagged, "io2 costs less", iops=40_000, size_gib=1_000),
        gp2("a busy night four weeks ago, without a point", Unknown, "on 1 of the 35 days since", metrics=LOST_NIGHT),
        magnetic("magnetic, and at its limit every night", Flagged, "200 IOPS on 35 of", metrics=AT_LIMIT_NIGHTLY),
        magnetic("magnetic, and a program that chooses 200 IOPS", Fine, "I/O", metrics=AT_LIMIT_NIGHTLY | SHORT_QUEUE),
        magnetic("magnetic, and the queue is unknown", Unknown, "on 35 days", metrics=operations(120, 80, DAY)),
        magnetic("magnetic, reads by day and writes by night", Fine, "I/O", metrics=IN_TURNS),
        magnetic("magnetic, and 237 million I/O requests a month", Flagged, "with 237 million", metrics=BILLED),
        magnetic("magnetic, and a million I/O requests a month", Fine, "gp3 costs more", metrics=FREE),
        xen("on a Xen instance, by five-minute means", Flagged, "at most 30.0 MiB/s"),
        gp2("attached four days ago", Unknown, "less than 14 whole days ago", attachments=(FOUR_DAYS_AGO,)),
        *examples.without_io(bare),
        bare("gp3", Fine, "current type", volume_type="gp3", iops=3_000, throughput_mib_s=125),
    ),
)
