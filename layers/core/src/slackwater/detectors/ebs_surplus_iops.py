"""Volumes with far more provisioned IOPS than they use.

## What it finds
An attached gp3 volume with more than the 3,000 included IOPS, or an io1 or io2 volume, that used less than 40 % of its
IOPS in the busiest minute of the last 35 days. The *peak* counts, reads and writes together: a percentile would miss a
ten-minute batch at night.

EBS counts an operation above 256 KiB once per 256 KiB, and CloudWatch may count it once. For io1 and io2, both the
operations and the bytes in units of 256 KiB must stay below 40 %, and the proposal has room for the sum of both.

CloudWatch must have recorded each of the last 14 days, and every day since the volume was attached and its instance
started. Its exceeded checks must not have been raised. The confidence is medium if it recorded less than the window, or
no exceeded checks.

## Why it matters
AWS bills provisioned IOPS every month, used or not. On io1 and io2 they cost more than the storage. People buy them for
a migration, a load test or a guess, and do not lower them again.

## When it is wrong
- A quarterly job needs more than 35 days. Set `window_days` to up to 60.
- One-minute sums hide shorter bursts. The exceeded checks report seconds at the current limit, not between it and the
  proposal. Multi-Attach volumes have no such checks.
- On Xen instances CloudWatch has no one-minute peaks. Five-minute sums replace them, and the confidence is low.
- A missing day makes the answer unknown, except before CloudWatch's first point or the start of the instance.

## What to do
Lower the IOPS to the proposal. EBS does this online, without a restart, up to four times in 24 hours. Throughput
depends on IOPS, so the proposal keeps what the used throughput requires: gp3 needs one IOPS per provisioned 0.25 MiB/s,
io2 provides 0.256 MiB/s per IOPS, and io1 provides more than 500 MiB/s only above 32,000 IOPS. If an io2 volume needs
neither its durability nor its steady latency, gp3 may cost less.
"""

from __future__ import annotations

from dataclasses import replace

from slackwater.model.detector import Detector, Seen, limit
from slackwater.model.money import difference, size_class
from slackwater.model.resources import Instance, InstanceType, Volume
from slackwater.model.settings import VolumeSetting
from slackwater.model.units import FIVE_MINUTES_S, KIB, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import ebs as formulas
from slackwater.rules import advice, ebs, ebs_peaks, examples
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
)
from slackwater.rules.examples import Cases, Metrics, days, every_day


class SurplusIopsLimits(ebs_peaks.PeakLimits):
    """How far below its IOPS a volume must stay."""

    peak_percent: float = limit(40, unit="percent", gt=0, lt=100, why="a load that doubles still fits")


def judge(volume: Volume, seen: Seen, limits: SurplusIopsLimits) -> Verdict:
    """Flag a volume whose busiest minute stayed far below its provisioned IOPS."""
    type_, iops, gp3 = volume.volume_type, volume.iops, volume.volume_type == "gp3"
    if type_ not in {"gp3", "io1", "io2"}:
        return Fine(f"{type_} has no provisioned IOPS")
    if iops is None:
        return Unknown("EC2 did not return its IOPS")
    required = formulas.least_iops(type_, (volume.throughput_mib_s or formulas.GP3_INCLUDED_MIB_S) if gp3 else 0)
    if iops <= required:
        return Fine(_no_fewer(type_, iops))
    kind = ebs_peaks.carrier(volume, seen)
    if not isinstance(kind, InstanceType):
        return kind

    # The cheapest metrics first: operations by the day, then bytes by the day, then both by five minutes.
    xen, ceiling = kind.hypervisor == "xen", iops * limits.peak_percent / 100
    exceeded = (IOPS_EXCEEDED,) if gp3 else (IOPS_EXCEEDED, THROUGHPUT_EXCEEDED)
    checks = ebs_peaks.checks(volume, limits, *exceeded, xen=xen)
    look = Look(volume=volume, measure=OPERATIONS, seen=seen, limits=limits, xen=xen)
    for measure, besides in ((OPERATIONS, ()),) if gp3 else ((OPERATIONS, ()), (CONSUMED, checks)):
        look = replace(look, measure=measure)
        seen.read(*look.needs, *besides)
        if look.unknown:
            return look.unknown
        if look.least >= ceiling:
            return Fine("it used its IOPS")
    if look.counted >= ceiling:  # the peaks of reads and writes may be hours apart
        look = look.in_detail()
    seen.read(*look.needs, *checks)
    if look.counted >= ceiling:
        return Fine("it used its IOPS, reads and writes together") if look.least >= ceiling else look.undecided
    if ebs_peaks.raised(checks, seen):
        return Fine("CloudWatch saw it exceed its IOPS or its throughput")

    moved = 0 if gp3 else replace(look, measure=BYTES).most
    if not gp3:
        required = formulas.least_iops(type_, formulas.with_headroom(moved, limits.headroom_percent))
    target = max(required, formulas.with_headroom(look.most, limits.headroom_percent))
    if target >= iops:
        return Fine("with headroom, it needs its IOPS")
    return _flag(volume, iops, target, look, moved, kind, checked=ebs_peaks.answered(checks, seen))


def _no_fewer(type_: str, iops: int) -> str:
    """Why the IOPS cannot be lower."""
    if type_ != "gp3":
        return f"it has the fewest IOPS that {type_} allows"
    if iops <= formulas.GP3_INCLUDED_IOPS:
        return "it has only the included IOPS"
    return "its throughput requires its IOPS"


def _flag(
    volume: Volume, iops: int, target: int, look: Look, moved: float, kind: InstanceType, *, checked: bool
) -> Flagged:
    type_, fewer = volume.volume_type, replace(volume, iops=target)
    throughput = (volume.throughput_mib_s or formulas.GP3_INCLUDED_MIB_S) if type_ == "gp3" else None
    to = VolumeSetting(volume_type=type_, iops=target, throughput_mib_s=throughput)
    then = formulas.volume_limits(type_, volume.size_gib, target)
    if throughput:
        moves = Evidence(label="Provisioned throughput", value=throughput, unit="MiB/s")
        keeps = f"Its throughput stays {throughput:,} MiB/s."
    else:
        moves = Evidence(label="Highest throughput", value=round(moved, 1), unit="MiB/s")
        mib_s = then.baseline.rate(then.largest_operation_bytes) / MIB
        keeps = f"They provide up to {mib_s:,.0f} MiB/s; it used at most {moved:,.1f}."
    # EBS cannot modify an io1 volume with Multi-Attach (Amazon EBS User Guide, "Requirements when modifying volumes").
    fixed = volume.multi_attach and type_ == "io1"
    return Flagged(
        summary=(
            f"{iops:,} IOPS provisioned ({type_}), at most {look.most:,.0f} used in the busiest {look.span}:"
            f" {target:,} are enough"
        ),
        confidence=look.confidence(checked=checked),
        evidence=(
            Evidence(label="Provisioned IOPS", value=iops, unit="IOPS"),
            look.evidence(iops, Line("Provisioned", iops), Line("Proposed", target)),
            moves,
            *ebs_peaks.carried(kind),
        ),
        advice=(
            Advice(
                action="lower-iops",
                summary=f"Set {target:,} IOPS: the peak with headroom, and what its throughput requires. {keeps}",
                changes=difference(formulas.monthly_units(volume), formulas.monthly_units(fewer)),
                risk=f"A load that comes less often than the window is slower until you raise them again. {ebs.ONLINE}",
                reversible=True,
                command=None if fixed else ebs.modify_command(volume, to),
                setting=None if fixed else advice.by_program(volume, to),
            ),
        ),
        gist=(type_, iops, size_class(target)),
        caveats=(*look.lowering_caveats, *_caveats(volume, fixed=fixed)),
    )


def _caveats(volume: Volume, *, fixed: bool) -> tuple[str, ...]:
    if fixed:
        return ("EBS cannot modify an io1 volume with Multi-Attach. Create an io2 volume from a snapshot instead.",)
    if volume.multi_attach:
        return ("CloudWatch has no exceeded checks for Multi-Attach volumes and does not show seconds at the limit.",)
    if volume.volume_type == "gp3" and (volume.throughput_mib_s or 0) > formulas.GP3_INCLUDED_MIB_S:
        return (ebs.BOTH,)
    return ()


def by_minute(reads: float, writes: float, read_kib: float = 0, written_kib: float = 0) -> Metrics:
    """The same busiest minute every day: operations a second, and the size of each if bytes matter."""
    operations = {READS.peak: reads * MINUTE_S, WRITES.peak: writes * MINUTE_S}
    if not read_kib and not written_kib:
        return operations
    read, written = reads * MINUTE_S * read_kib * KIB, writes * MINUTE_S * written_kib * KIB
    return {**operations, READ_BYTES.peak: read, WRITTEN_BYTES.peak: written}


def closer(metrics: Metrics) -> Metrics:
    """The same by five minutes too."""
    return {**metrics, **{(metric, FIVE_MINUTES_S): value for metric, value in metrics.items()}}


SERVER = examples.instance(id="i-0dddddddddddddddd", instance_type="r6i.2xlarge")
R6I = examples.instance_type("r6i.2xlarge", vcpus=8, ebs_mbps=(2_500, 10_000), ebs_iops=(12_000, 40_000))
XEN = (SERVER, replace(R6I, hypervisor="xen"))
GP3 = examples.volume(SERVER, id="vol-0aaaabbbbccccdddd", size_gib=800, iops=12_000)
IO2 = replace(GP3, volume_type="io2", throughput_mib_s=None)
SHARED = (IO2.attachments[0], replace(IO2.attachments[0], instance_id="i-2"))
READING, WRITING = 900.0 * MINUTE_S, 600.0 * MINUTE_S
RAISED_ONCE = days(0.0, {15: 1.0})

gp3 = Cases(GP3, {**by_minute(900, 600), IOPS_EXCEEDED: 0.0}, records=(SERVER, R6I))
io2 = Cases(IO2, {**by_minute(900, 600, 8, 8), IOPS_EXCEEDED: 0.0, THROUGHPUT_EXCEEDED: 0.0}, records=(SERVER, R6I))
bare = Cases(GP3, records=(SERVER, R6I))

DETECTOR = Detector(
    title="IOPS nobody uses",
    kind="waste",
    resource=Volume,
    limits=SurplusIopsLimits,
    reads=(Instance, InstanceType),
    judge=judge,
    cases=(
        gp3("12,000 IOPS on gp3, 1,500 used", Flagged, "1,500 used in the busiest minute of 35 days: 3,000 are"),
        io2("12,000 IOPS on io2, 1,500 operations of 8 KiB used", Flagged, "at most 1,547 used"),
        io2("few operations of a MiB each on io2", Fine, "its IOPS", metrics=closer(by_minute(900, 600, 1024, 1024))),
        gp3("a ten-minute batch of 10,000 IOPS every night", Fine, "used its IOPS", metrics=by_minute(900, 10_000)),
        gp3("one busy night four weeks ago", Fine, metrics={READS.peak: days(READING, {27: 10 * READING})}),
        gp3(
            "reads by day and writes by night, each below the line",
            Flagged,
            "at most 4,000 used in the busiest minute of 35 days: 4,800 are",
            metrics={
                **by_minute(4_000, 3_000),
                (READS.peak, FIVE_MINUTES_S): every_day(0.0, {range(6): 4_000.0 * MINUTE_S}, FIVE_MINUTES_S),
                (WRITES.peak, FIVE_MINUTES_S): every_day(0.0, {range(144, 150): 3_000.0 * MINUTE_S}, FIVE_MINUTES_S),
            },
        ),
        gp3("reads and writes at once, above the limit", Fine, "together", metrics=closer(by_minute(4_000, 3_000))),
        gp3("an exceeded check was raised once", Fine, "exceed", metrics={IOPS_EXCEEDED: RAISED_ONCE}),
        io2("the throughput check of io2 was raised once", Fine, "exceed", metrics={THROUGHPUT_EXCEEDED: RAISED_ONCE}),
        bare("4,000 IOPS, which 1,000 MiB/s require", Fine, "requires its IOPS", iops=4_000, throughput_mib_s=1_000),
        gp3("6,000 IOPS, of which 1,000 MiB/s require 4,000", Flagged, "4,000 are", iops=6_000, throughput_mib_s=1_000),
        io2(
            "io1 with 64,000 IOPS, of which 700 MiB/s require 53,760",
            Flagged,
            "53,760 are",
            volume_type="io1",
            iops=64_000,
            size_gib=2_000,
            metrics={READ_BYTES.peak: 400.0 * MIB * MINUTE_S, WRITTEN_BYTES.peak: 300.0 * MIB * MINUTE_S},
        ),
        gp3("a day without reads", Unknown, "1 of the last 14 days", metrics={READS.peak: days(READING, {7: None})}),
        gp3(
            "an older day without writes", Unknown, "1 of the 35 days", metrics={WRITES.peak: days(WRITING, {27: None})}
        ),
        bare("no metrics at all", Unknown, "14 of the last 14 days"),
        io2(
            "operations of 256 KiB, counted once", Flagged, "at most 6,000 used", metrics=by_minute(3_000, 0, 256, 256)
        ),
        io2("100 IOPS on io2", Fine, "fewest IOPS that io2", metrics=dict.fromkeys(io2.metrics), iops=100),
        io2(
            "on two instances, without exceeded checks",
            Flagged,
            "at most 3,094 used",  # twice as many: CloudWatch's maximum may be that of one instance
            multi_attach=True,
            attachments=SHARED,
            records=(SERVER, R6I, replace(SERVER, id="i-2")),
            metrics={IOPS_EXCEEDED: None, THROUGHPUT_EXCEEDED: None},
        ),
        bare(
            "on a Xen instance, by five-minute means",
            Flagged,
            "at most 600 used in the busiest five minutes of 35 days",
            records=XEN,
            metrics={(READS.total, FIVE_MINUTES_S): 150_000.0, (WRITES.total, FIVE_MINUTES_S): 30_000.0},
        ),
        bare("on a Xen instance without points", Unknown, "five-minute points", records=XEN),
        bare("on a stopped instance", Fine, "stopped", records=(replace(SERVER, state="stopped"), R6I)),
        bare("its instance could not be read", Unknown, "denied", records=(), unreadable={Instance: "denied"}),
        bare("3,000 IOPS, as every gp3", Fine, "included IOPS", iops=3_000),
        bare("gp2", Fine, "gp2 has no provisioned IOPS", volume_type="gp2", throughput_mib_s=None),
    ),
)
