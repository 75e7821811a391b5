"""Volumes of an earlier type, of which the present one gives at least the same for less.

## What it finds
An attached gp2 or io1 volume that gp3 could replace, with the IOPS and MiB/s that its busiest minute of the last 35 days used
and 20 % more, never more than it has now. What gp3 does not include, above 3,000 IOPS and 125 MiB/s, is priced with it, and
where that makes gp3 the dearer one nothing is listed. EBS counts an operation once for each 256 KiB, and CloudWatch may count
it once: both added are what was used at most. All of the last 14 days must be there, and all since the volume was attached and
its instance last started; where it was watched for less than the window, or without exceeded checks or BurstBalance, the
confidence is medium.

A magnetic volume (`standard`) that had 200 IOPS or 90 MiB/s on several days, the most that there are, is reported as slow:
gp3 costs more by the GiB and nothing by the I/O, whose price is not known here. Of others nothing is said.

## Why it matters
gp3 costs a fifth less by the GiB than gp2, and its performance does not depend on the size. io1 is billed for every IOPS. A
volume keeps the type it was made with, and templates are copied for years.

## When it is wrong
What a volume did is no more than it could: a gp2 volume out of credits, or anything that raised one of CloudWatch's exceeded
checks, or whose BurstBalance has holes, is given all that it had at its burst. Where it gets less than that, bursts of seconds
between the two are not seen: a minute's sum hides them, and the checks tell of the present setting alone. A quarterly job needs
more than 35 days can show: lengthen `window_days`, up to 60. On Xen instances CloudWatch has no per-minute peaks; five-minute
sums stand in, and the confidence is low. io1 delivers its IOPS more evenly than gp3. A magnetic volume may be at its limit
below 200 IOPS: they have 40 to 200, and nobody says which.

## What to do
Change the type in place: online, root volumes too, without a restart. Name IOPS and throughput, always: without them AWS sets
3,000 and 125 or what gp2 had, by documents that contradict each other, and bills it. At most four changes of a volume in 24
hours. A volume with Multi-Attach cannot become gp3, and its type cannot be changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, NamedTuple

from slackwater.model.detector import CASE_NOW, Case, Detector, Seen, limit
from slackwater.model.metrics import Metric, Need
from slackwater.model.money import difference, size_class
from slackwater.model.resources import Attachment, Instance, InstanceType, Target, Volume
from slackwater.model.settings import VolumeSetting
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, KIB, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Ask, Confidence, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import ebs
from slackwater.rules import ebs as ebs_change
from slackwater.rules.advice import by_program
from slackwater.rules.ebs_peaks import (
    BYTES,
    CONSUMED,
    IOPS_EXCEEDED,
    OPERATIONS,
    READ_BYTES,
    READS,
    THROUGHPUT_EXCEEDED,
    WRITES,
    WRITTEN_BYTES,
    Look,
    PeakLimits,
    answered,
    carried,
    carrier,
    checks,
    raised,
)

BALANCE: Final = Metric("AWS/EBS", "BurstBalance", "Minimum", "percent")
GONE_PERCENT: Final = 1
"""A bucket with less than this was empty for a moment."""
AT_LIMIT: Final = 0.95
"""A magnetic volume's minute with this share of the most that there is was at its limit."""


class OutdatedTypeLimits(PeakLimits):
    """What the new type keeps, and when a magnetic volume is slow."""

    limited_days: int = limit(
        3, unit="days", ge=1, le=60, why="on which a magnetic volume was at its limit; fewer are a start, or a copy"
    )


class Had(NamedTuple):
    """The most that a volume can do now."""

    mib_s: float
    iops: float


def judge(volume: Volume, seen: Seen, limits: OutdatedTypeLimits) -> Verdict:
    """Flag a volume whose type has a successor that gives it at least the same."""
    if volume.volume_type not in {"gp2", "io1", "standard"}:
        return Fine(f"{volume.volume_type} is of the present generation")
    if volume.volume_type == "io1" and volume.iops is None:
        return Unknown("EC2 did not say its IOPS")
    kind = carrier(volume, seen)
    if not isinstance(kind, InstanceType):
        return kind
    if volume.multi_attach:
        return _shared(volume)
    if volume.volume_type == "standard":
        return _magnetic(volume, kind, seen, limits)
    return _ssd(volume, kind, seen, limits)


def _ssd(volume: Volume, kind: InstanceType, seen: Seen, limits: OutdatedTypeLimits) -> Verdict:
    """gp2 or io1: to gp3, with what its peaks need."""
    had, xen = _had(volume), kind.hypervisor == "xen"
    looks = [Look(volume=volume, measure=BYTES, seen=seen, limits=limits, xen=xen)]
    if had.iops > ebs.GP3_INCLUDED_IOPS:  # every gp3 has that many
        looks.append(replace(looks[0], measure=CONSUMED))
    if lacking := seen.lacking([need for look in looks for need in look.needs]):
        return Ask(lacking)
    for look in looks:
        if look.doubt:
            return look.doubt
    kept = 1 + limits.headroom_percent / 100
    looks = [  # read and write peaks may lie hours apart: closer, where that changes what is paid for
        look.nearer() if look.most * kept > included and look.least * kept < most else look
        for look, included, most in zip(looks, (ebs.GP3_INCLUDED_MIB_S, ebs.GP3_INCLUDED_IOPS), had, strict=False)
    ]
    metrics = (THROUGHPUT_EXCEEDED, IOPS_EXCEEDED)[: len(looks)]
    checked, balance = checks(volume, limits, *metrics, xen=xen), _balance(volume, limits)
    if lacking := seen.lacking([*(need for look in looks for need in look.needs), *checked, *balance]):
        return Ask(lacking)
    limited = _limited(looks[0], checked, balance)
    known = answered(checked, seen) and (not balance or answered(balance, seen))
    confidence = min((look.confidence(checked=known) for look in looks), key=("low", "medium", "high").index)
    return _flag(volume, kind, looks, had, limited, confidence)


def _limited(look: Look, checked: Iterable[Need], balance: Iterable[Need]) -> str:
    """How it may have wanted more than it got; empty where it did not."""
    if raised(checked, look.seen):
        return "wanted more than it has"
    for need in balance:
        if min(look.seen[need].present, default=100) < GONE_PERCENT:
            return "was out of credits"
        if look.hole(look.seen[need]):
            return "may have been out of credits (BurstBalance lacks days)"
    return ""


def _had(volume: Volume) -> Had:
    now = ebs.volume_limits(volume.volume_type, volume.size_gib, volume.iops if volume.volume_type == "io1" else None)
    return Had(now.burst.rate(now.largest_operation_bytes) / MIB, now.burst.iops)


def _balance(volume: Volume, limits: OutdatedTypeLimits) -> tuple[Need, ...]:
    """The credits of a gp2 volume that has any; it is published only while the volume is in use."""
    if not ebs.volume_limits(volume.volume_type, volume.size_gib).credits:
        return ()
    return (BALANCE.need(("VolumeId", volume.id), period_s=DAY_S, days=limits.window_days),)


def _flag(volume: Volume, kind: InstanceType, looks: Sequence[Look], had: Had, limited: str, confidence: Confidence) -> Verdict:
    type_, moved, days = volume.volume_type, looks[0], min(look.days for look in looks)
    peaks = [*(ebs.with_headroom(look.most, look.limits.headroom_percent) for look in looks), 0]
    whole = ebs.gp3_for(volume.size_gib, had.iops, had.mib_s)
    setting = whole if limited else ebs.gp3_for(volume.size_gib, min(peaks[1], had.iops), min(peaks[0], had.mib_s))
    if setting is None or whole is None:
        return Fine("gp3 cannot be set so high")
    why = f"all that it had at its burst, for it {limited}" if limited else "what its busiest minute needed, with headroom"
    advice = [_to_gp3(volume, setting, "move-to-gp3", why)]
    if whole != setting:
        advice.append(
            _to_gp3(volume, whole, "move-to-gp3-as-fast", "all that it has now, for a load that the window did not show")
        )
    if type_ == "io1" and (volume.iops or 0) > ebs.IO2_TIER_IOPS[0]:
        to = VolumeSetting(volume_type="io2", iops=volume.iops, throughput_mib_s=None)
        advice.append(_to_io2(volume, "io2 with the same IOPS, for less above 32,000, more durable and more even.", to))
    did = f"{limited} in {days} days" if limited else f"moved {moved.most:,.1f} MiB/s at most in {days} days"
    return Flagged(
        summary=(
            f"{volume.size_gib:,} GiB {type_} that {did}: gp3 with {setting.iops:,} IOPS and {setting.mib_s:,} MiB/s would do"
        ),
        confidence=confidence,
        evidence=(
            Evidence(label="Size", value=volume.size_gib, unit="GiB"),
            Evidence(label=f"What {type_} of this size and setting can do", value=round(had.mib_s), unit="MiB/s"),
            Evidence(label=f"What {type_} of this size and setting can do", value=round(had.iops), unit="IOPS"),
            *(
                look.evidence(most, Line(f"{type_} at most", round(most)), Line("gp3 proposed", proposed))
                for look, most, proposed in zip(looks, had, (setting.mib_s, setting.iops), strict=False)
            ),
            *((Evidence(label="At its limit", value=f"it {limited}", unit="words"),) if limited else ()),
            *carried(kind),
        ),
        advice=tuple(advice),
        gist=(type_, size_class(setting.iops), size_class(setting.mib_s)),
        caveats=(*(moved.lowering_caveats if setting != whole else ()), *ebs_change.managed_caveats(volume)),
        cheapest_first=True,
    )


def _to_gp3(volume: Volume, to: ebs.Gp3, action: str, why: str) -> Advice:
    setting = ebs_change.gp3(to.iops, to.mib_s)
    evenly = "gp3 delivers its IOPS 99 % of the time, io1 99.9 %. " if volume.volume_type == "io1" else ""
    return Advice(
        action=action,
        summary=f"gp3 with {to.iops:,} IOPS and {to.mib_s:,} MiB/s: {why}.",
        changes=difference(ebs.monthly_units(volume), ebs.units("gp3", volume.size_gib, to.iops, to.mib_s)),
        risk=f"{evenly}Until it is done its performance lies between that of the two types. {ebs_change.ONLINE}",
        reversible=True,
        command=ebs_change.modify_command(volume, setting),
        setting=by_program(volume, setting),
    )


def _to_io2(volume: Volume, summary: str, to: VolumeSetting | None) -> Advice:
    return Advice(
        action="move-to-io2",
        summary=summary,
        changes=difference(ebs.monthly_units(volume), ebs.units("io2", volume.size_gib, volume.iops or 0, 0)),
        risk=f"None for the data. {ebs_change.ONLINE}" if to else "The cluster is stopped while it changes over.",
        reversible=True,
        command=ebs_change.modify_command(volume, to) if to else None,
        setting=by_program(volume, to) if to else None,
    )


def _shared(volume: Volume) -> Verdict:
    """io1 on several instances: gp3 cannot be, and io2 costs the same up to 32,000 IOPS."""
    iops, same = volume.iops or 0, ebs.IO2_TIER_IOPS[0]
    if iops <= same:
        return Fine(f"Multi-Attach rules gp3 out, and io2 costs the same up to {same:,} IOPS")
    steps = (
        "EBS cannot change the type of a volume with Multi-Attach: take a snapshot while nobody writes, make an io2 volume with"
        " Multi-Attach and the same IOPS of it, and attach that in its place. It costs less above 32,000 IOPS."
    )
    return Flagged(
        summary=f"{iops:,} IOPS on io1, on several instances: io2 has them for less",
        confidence="high",
        evidence=(
            Evidence(label="Size", value=volume.size_gib, unit="GiB"),
            Evidence(label="Provisioned IOPS", value=iops, unit="IOPS"),
            Evidence(label="Instances", value=len(volume.attachments), unit="count"),
        ),
        advice=(_to_io2(volume, steps, None),),
        gist=("io1", iops),
        caveats=ebs_change.managed_caveats(volume),
    )


def _magnetic(volume: Volume, kind: InstanceType, seen: Seen, limits: OutdatedTypeLimits) -> Verdict:
    """gp3 is many times faster, and costs more by the GiB: of use to one that is at its limit, whatever its I/O cost."""
    most = ebs.most_of(volume)
    tops = {OPERATIONS: most.iops * AT_LIMIT, BYTES: most.bytes_per_s / MIB * AT_LIMIT}
    xen = kind.hypervisor == "xen"
    looks = [Look(volume=volume, measure=measure, seen=seen, limits=limits, xen=xen) for measure in tops]
    if lacking := seen.lacking([need for look in looks for need in look.needs]):
        return Ask(lacking)
    for look in looks:
        if look.doubt:
            return look.doubt
    looks = [look.nearer() if look.most >= tops[look.measure] else look for look in looks]  # reads and writes together
    if lacking := seen.lacking([need for look in looks for need in look.needs]):
        return Ask(lacking)
    for look in looks:
        if (days := look.days_at(tops[look.measure])) >= limits.limited_days:
            return _flag_magnetic(volume, look, days)
    return Fine("whether gp3 costs less depends on its I/O, whose price is not known here")


def _flag_magnetic(volume: Volume, look: Look, days: int) -> Flagged:
    gp3 = ebs.Gp3(ebs.GP3_INCLUDED_IOPS, ebs.GP3_INCLUDED_MIB_S)
    most = ebs.most_of(volume)
    top = most.iops if look.measure is OPERATIONS else most.bytes_per_s / MIB
    return Flagged(
        summary=f"Magnetic (standard), and at its limit of {top:,.0f} {look.measure.unit} on {days} of {look.days} days",
        kind="performance",
        severity="low",
        confidence=look.confidence(checked=False),
        evidence=(Evidence(label="Size", value=volume.size_gib, unit="GiB"), look.evidence(top, Line("Magnetic at most", top))),
        advice=(_unpriced(_to_gp3(volume, gp3, "move-to-gp3", "many times what a magnetic volume can do")),),
        gist=("standard",),
        caveats=(
            "gp3 costs more by the GiB and nothing by the I/O, whose price is not known here: in all it may cost more or less.",
            *ebs_change.managed_caveats(volume),
        ),
    )


def _unpriced(advice: Advice) -> Advice:
    """Whether it costs more nobody knows, nor whether EBS takes a magnetic volume back: a person decides, and does it."""
    return replace(advice, changes=None, setting=None)


_TARGET = Target("123456789012", "us-east-1")
_INSTANCE = Instance(
    id="i-0eeeeeeeeeeeeeeee",
    arn="arn:aws:ec2:us-east-1:123456789012:instance/i-0eeeeeeeeeeeeeeee",
    target=_TARGET,
    tags={"Name": "erp"},
    instance_type="m5.4xlarge",
    state="running",
    launched_at=CASE_NOW - timedelta(days=300),
    stopped_at=None,
    detailed_monitoring=False,
    root_device="/dev/xvda",
)
_M5 = InstanceType(
    id="m5.4xlarge",
    vcpus=16,
    hypervisor="nitro",
    network_baseline_gbps=5,
    network_peak_gbps=10,
    network_cards=1,
    ebs_baseline_mbps=4750,
    ebs_maximum_mbps=4750,
    ebs_baseline_iops=18750,
    ebs_maximum_iops=18750,
    source="a worked example",
)
_GP2 = Volume(
    id="vol-0111122223333aaaa",
    arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-0111122223333aaaa",
    target=_TARGET,
    tags={"Name": "erp-data"},
    volume_type="gp2",
    size_gib=500,
    iops=1500,
    throughput_mib_s=None,
    state="in-use",
    created_at=CASE_NOW - timedelta(days=900),
    availability_zone="us-east-1a",
    multi_attach=False,
    attachments=(Attachment(instance_id=_INSTANCE.id, device="/dev/xvda", attached_at=CASE_NOW - timedelta(days=300)),),
)
_LARGE_GP2 = replace(_GP2, size_gib=3_000, iops=9_000)
_IO1 = replace(_GP2, volume_type="io1", iops=10_000)
_MAGNETIC = replace(_GP2, volume_type="standard", size_gib=200, iops=None)
_HOST = (_INSTANCE, _M5)
_DAYS, _POINTS = 36, 35 * 288


def _minute(a_second: float) -> float:
    return a_second * MINUTE_S


def _bytes(read_mib_s: float, written_mib_s: float) -> dict[tuple[Metric, int], Sequence[float | None]]:
    return {
        (READ_BYTES.peak, DAY_S): [_minute(read_mib_s * MIB)] * _DAYS,
        (WRITTEN_BYTES.peak, DAY_S): [_minute(written_mib_s * MIB)] * _DAYS,
        (THROUGHPUT_EXCEEDED, DAY_S): [0.0] * _DAYS,
        (BALANCE, DAY_S): [90.0] * _DAYS,
    }


def _both(mib_s: float, iops: float) -> dict[tuple[Metric, int], Sequence[float | None]]:
    """Reads alone."""
    return {
        **{key: values for key, values in _bytes(mib_s, 0).items() if key[0] != BALANCE},
        (READS.peak, DAY_S): [_minute(iops)] * _DAYS,
        (WRITES.peak, DAY_S): [0.0] * _DAYS,
        (IOPS_EXCEEDED, DAY_S): [0.0] * _DAYS,
    }


def _magnetic_metrics(reads: float, writes: float, minutes: int) -> dict[tuple[Metric, int], Sequence[float | None]]:
    """Operations of 16 KiB for some minutes every day."""
    busy = minutes // 5

    def of(peak: float) -> dict[int, list[float | None]]:
        day: list[float | None] = [*[peak] * busy, *[0.0] * (288 - busy)]
        return {DAY_S: [peak for _ in range(_DAYS)], FIVE_MINUTES_S: day * 35}

    parts = ((READS, reads), (WRITES, writes), (READ_BYTES, reads * 16 * KIB), (WRITTEN_BYTES, writes * 16 * KIB))
    return {(part.peak, period_s): values for part, rate in parts for period_s, values in of(_minute(rate)).items()}


_CALM: Final = _bytes(40, 20)
_BY_TURNS: Final = {
    **_bytes(100, 90),
    (READ_BYTES.peak, FIVE_MINUTES_S): ([_minute(100 * MIB)] * 6 + [0.0] * 282) * 35,
    (WRITTEN_BYTES.peak, FIVE_MINUTES_S): ([0.0] * 144 + [_minute(90 * MIB)] * 6 + [0.0] * 138) * 35,
}
_ON_XEN: Final = {
    (READ_BYTES.total, FIVE_MINUTES_S): [30.0 * MIB * FIVE_MINUTES_S] * _POINTS,
    (READS.total, FIVE_MINUTES_S): [120.0 * FIVE_MINUTES_S] * _POINTS,
    (WRITES.total, FIVE_MINUTES_S): [0.0] * _POINTS,
    (BALANCE, DAY_S): [100.0] * _DAYS,
}

DETECTOR = Detector(
    title="Volume of an earlier type",
    kind="waste",
    resource=Volume,
    limits=OutdatedTypeLimits,
    reads=(Instance, InstanceType),
    judge=judge,
    outranks=("ebs-surplus-iops",),
    cases=(
        Case(
            title="500 GiB gp2 at 60 MiB/s",
            resource=_GP2,
            records=_HOST,
            metrics=_CALM,
            expect=Flagged,
            says="moved 60.0 MiB/s at most in 35 days: gp3 with 3,000 IOPS and 125 MiB/s would do",
        ),
        Case(
            title="gp2 at 170 MiB/s",
            resource=_GP2,
            records=_HOST,
            metrics=_bytes(170, 0),
            expect=Flagged,
            says="3,000 IOPS and 204 MiB/s",
        ),
        Case(
            title="gp2 that once a month does all it can",
            resource=_GP2,
            records=_HOST,
            metrics={
                **_CALM,
                (READ_BYTES.peak, DAY_S): [_minute(40 * MIB)] * 8 + [_minute(248 * MIB)] + [_minute(40 * MIB)] * 27,
            },
            expect=Flagged,
            says="3,000 IOPS and 250 MiB/s",
        ),
        Case(
            title="gp2 that reads by day and writes by night",
            resource=_GP2,
            records=_HOST,
            metrics=_BY_TURNS,
            expect=Flagged,
            says="moved 100.0 MiB/s at most in 35 days: gp3 with 3,000 IOPS and 125 MiB/s",
        ),
        Case(
            title="gp2 that ran out of credits gets what it had at its burst",
            resource=_GP2,
            records=_HOST,
            metrics={**_CALM, (BALANCE, DAY_S): [90.0] * 20 + [0.0] + [90.0] * 15},
            expect=Flagged,
            says="was out of credits in 35 days: gp3 with 3,000 IOPS and 250 MiB/s",
        ),
        Case(
            title="gp2 of which nobody knows whether it ran out of credits",
            resource=_GP2,
            records=_HOST,
            metrics={key: values for key, values in _CALM.items() if key[0] != BALANCE},
            expect=Flagged,
            says="may have been out of credits",
        ),
        Case(
            title="gp2 whose throughput exceeded check raised once",
            resource=_GP2,
            records=_HOST,
            metrics={**_CALM, (THROUGHPUT_EXCEEDED, DAY_S): [0.0] * 35 + [1.0]},
            expect=Flagged,
            says="250 MiB/s",
        ),
        Case(
            title="100 GiB gp2 at its 128 MiB/s",
            resource=replace(_GP2, size_gib=100, iops=300),
            records=_HOST,
            metrics=_bytes(128, 0),
            expect=Flagged,
            says="3,000 IOPS and 128 MiB/s",
        ),
        Case(
            title="3,000 GiB gp2 with 9,000 IOPS, of which 5,000 are used",
            resource=_LARGE_GP2,
            records=_HOST,
            metrics={
                **_both(40, 5_000),
                (READS.peak, FIVE_MINUTES_S): [_minute(5_000)] * _POINTS,
                (WRITES.peak, FIVE_MINUTES_S): [0.0] * _POINTS,
                (READ_BYTES.peak, FIVE_MINUTES_S): [_minute(40 * MIB)] * _POINTS,
                (WRITTEN_BYTES.peak, FIVE_MINUTES_S): [0.0] * _POINTS,
            },
            expect=Flagged,
            says="6,192 IOPS and 125 MiB/s",
        ),
        Case(
            title="3,000 GiB gp2 whose IOPS exceeded check raised once",
            resource=_LARGE_GP2,
            records=_HOST,
            metrics={**_both(40, 1_000), (IOPS_EXCEEDED, DAY_S): [0.0] * 35 + [1.0]},
            expect=Flagged,
            says="9,000 IOPS and 250 MiB/s",
        ),
        Case(
            title="io1 with 10,000 IOPS, of which 1,500 are used",
            resource=_IO1,
            records=_HOST,
            metrics=_both(40, 1_500),
            expect=Flagged,
            says="gp3 with 3,000 IOPS and 125 MiB/s",
        ),
        Case(
            title="io1 at its limit",
            resource=_IO1,
            records=_HOST,
            metrics=_both(80, 9_900),
            expect=Flagged,
            says="gp3 with 10,000 IOPS and 125 MiB/s",
        ),
        Case(
            title="io1 on several instances",
            resource=replace(_IO1, multi_attach=True),
            records=_HOST,
            expect=Fine,
            says="Multi-Attach rules gp3 out",
        ),
        Case(
            title="io1 on several instances, with 40,000 IOPS",
            resource=replace(_IO1, multi_attach=True, iops=40_000, size_gib=1_000),
            records=_HOST,
            expect=Flagged,
            says="io2 has them for less",
        ),
        Case(
            title="gp2 whose BurstBalance is known on one day",
            resource=_GP2,
            records=_HOST,
            metrics={**_CALM, (BALANCE, DAY_S): [None] * 34 + [90.0] * 2},
            expect=Flagged,
            says="may have been out of credits (BurstBalance lacks days) in 35 days: gp3 with 3,000 IOPS and 250 MiB/s",
        ),
        Case(
            title="one busy night a month, four weeks ago, and its point is not there",
            resource=_GP2,
            records=_HOST,
            metrics={
                **_CALM,
                (WRITTEN_BYTES.peak, DAY_S): [_minute(20 * MIB)] * 8 + [None] + [_minute(20 * MIB)] * 27,
            },
            expect=Unknown,
            says="no point on 1 of the 35 days since",
        ),
        Case(
            title="magnetic, and at its limit every night",
            resource=_MAGNETIC,
            records=_HOST,
            metrics=_magnetic_metrics(reads=120, writes=80, minutes=30),
            expect=Flagged,
            says="at its limit of 200 IOPS on 35 of 35 days",
        ),
        Case(
            title="magnetic, reads by day and writes by night",
            resource=_MAGNETIC,
            records=_HOST,
            metrics={
                **_magnetic_metrics(reads=120, writes=120, minutes=30),
                (WRITES.peak, FIVE_MINUTES_S): ([0.0] * 144 + [_minute(120)] * 6 + [0.0] * 138) * 35,
            },
            expect=Fine,
            says="depends on its I/O",
        ),
        Case(
            title="magnetic, and millions of I/O a month",
            resource=_MAGNETIC,
            records=_HOST,
            metrics=_magnetic_metrics(reads=60, writes=30, minutes=1_440),
            expect=Fine,
            says="depends on its I/O, whose price is not known here",
        ),
        Case(
            title="magnetic, and no metrics", resource=_MAGNETIC, records=_HOST, expect=Unknown, says="14 of the last 14 days"
        ),
        Case(
            title="on a Xen instance, by five-minute means",
            resource=_GP2,
            records=(_INSTANCE, replace(_M5, hypervisor="xen")),
            metrics=_ON_XEN,
            expect=Flagged,
            says="moved 30.0 MiB/s at most",
        ),
        Case(
            title="a day without metrics",
            resource=_GP2,
            records=_HOST,
            metrics={**_CALM, (READ_BYTES.peak, DAY_S): [_minute(40 * MIB)] * 28 + [None] + [_minute(40 * MIB)] * 7},
            expect=Unknown,
            says="no point on 1 of the last 14 days",
        ),
        Case(
            title="attached four days ago",
            resource=replace(_GP2, attachments=(replace(_GP2.attachments[0], attached_at=CASE_NOW - timedelta(days=4)),)),
            records=_HOST,
            metrics=_CALM,
            expect=Unknown,
            says="attached less than 14 whole days ago",
        ),
        Case(
            title="on a stopped instance",
            resource=_GP2,
            records=(replace(_INSTANCE, state="stopped"), _M5),
            expect=Fine,
            says="stopped",
        ),
        Case(title="on no instance", resource=replace(_GP2, attachments=()), records=_HOST, expect=Fine, says="not attached"),
        Case(
            title="its instance could not be read",
            resource=_GP2,
            unreadable={Instance: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
        Case(
            title="gp3",
            resource=replace(_GP2, volume_type="gp3", iops=3000, throughput_mib_s=125),
            records=_HOST,
            expect=Fine,
            says="present generation",
        ),
        Case(title="io2", resource=replace(_IO1, volume_type="io2"), records=_HOST, expect=Fine, says="present generation"),
        Case(
            title="st1",
            resource=replace(_GP2, volume_type="st1", iops=None),
            records=_HOST,
            expect=Fine,
            says="present generation",
        ),
    ),
)
