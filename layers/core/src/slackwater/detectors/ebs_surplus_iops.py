"""Volumes with far more provisioned IOPS than they use.

## What it finds
An attached gp3 volume with more than the 3,000 included IOPS, or an io1 or io2 volume, that used less than 40 % of its
IOPS in the busiest minute of the last 35 days. The *peak* counts, reads and writes together: a percentile would miss a
nightly batch. For io1 and io2 the bytes in units of 256 KiB count too. CloudWatch must have recorded the last 14 days,
and its exceeded checks must not have been raised.

## Why it matters
AWS bills provisioned IOPS, used or not. On io1 and io2 they cost more than the storage. After a test they stay high.

## When it is wrong
- A quarterly job needs more than 35 days. Set `window_days` to up to 60.
- One-minute sums hide shorter bursts. The exceeded checks report only those at the current limit.
- On Xen, five-minute sums replace one-minute peaks, and the confidence is low.

## What to do
Lower the IOPS online to the proposal, which keeps what the used throughput requires. If an io2 volume needs neither its
durability nor its steady latency, gp3 may cost less.
"""

from dataclasses import replace
from typing import Any

from slackwater.model.detector import Detector, Seen, unless_decided
from slackwater.model.metrics import Need
from slackwater.model.money import size_class
from slackwater.model.resources import Instance, InstanceType, Volume
from slackwater.model.units import FIVE_MINUTES_S, MIB, MINUTE_S
from slackwater.model.verdicts import Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import ebs as formulas
from slackwater.rules import advice, ebs, ebs_peaks, examples
from slackwater.rules.ebs_peaks import IOPS_EXCEEDED, READS, THROUGHPUT_EXCEEDED, WRITES, Look, SurplusLimits
from slackwater.rules.examples import ON_NITRO, ON_XEN, Cases, Metrics, days, in_turns, peaks


def judge(volume: Volume, seen: Seen, limits: SurplusLimits) -> Verdict:
    """Flag a volume whose busiest minute stayed far below its provisioned IOPS."""
    type_, iops, gp3 = volume.volume_type, volume.iops, volume.volume_type == "gp3"
    if type_ not in {"gp3", "io1", "io2"}:
        return Fine(f"{type_} has no provisioned IOPS")
    if iops is None:
        return Unknown("EC2 did not return its IOPS")
    required = formulas.least_iops(type_, (volume.throughput_mib_s or formulas.GP3_INCLUDED_MIB_S) if gp3 else 0)
    if iops <= required:
        return Fine("its type or its throughput requires its IOPS")
    kind = unless_decided(ebs.carrier(volume, seen))
    look, ceiling = Look(volume, ebs_peaks.OPERATIONS, seen, limits, kind), iops * limits.peak_percent / 100
    checks = ebs_peaks.checks(look, IOPS_EXCEEDED, *(() if gp3 else (THROUGHPUT_EXCEEDED,)))
    if gp3:
        moved, found = 0.0, unless_decided(ebs_peaks.below(look, ceiling, checks, *ebs_peaks.CLOSER_S))
    else:
        consumed = unless_decided(_consumed(look, ceiling, checks))
        found = unless_decided(ebs_peaks.below(consumed, ceiling, checks, FIVE_MINUTES_S))
        moved = replace(found, measure=ebs_peaks.BYTES).most
        required = formulas.least_iops(type_, formulas.with_headroom(moved, limits.headroom_percent))
    target = max(required, formulas.with_headroom(found.most, limits.headroom_percent))
    if target >= iops:
        return Fine("with headroom, it needs its IOPS")
    return _flag(iops, target, found, moved, checked=ebs_peaks.answered(checks, seen))


def _consumed(look: Look, ceiling: float, checks: tuple[Need, ...]) -> Look | Fine:
    """Return the operations as EBS counts them on io1 and io2; Fine if they reached the ceiling.

    Read the cheapest metrics first: daily operations, then daily bytes and the operations of the last days.
    """
    unless_decided(ebs_peaks.above(look, ceiling))
    recently, consumed = look.recently(ceiling), replace(look, measure=ebs_peaks.CONSUMED)
    unless_decided(ebs_peaks.above(consumed, ceiling, *checks, *recently.values()))
    if look.had(ceiling, recently) and not ebs_peaks.raised(checks, look.seen):
        return Fine("it used its IOPS, reads and writes together")
    return consumed


def _flag(iops: int, target: int, look: Look, moved: float, *, checked: bool) -> Flagged:
    volume, type_ = look.volume, look.volume.volume_type
    throughput = (volume.throughput_mib_s or formulas.GP3_INCLUDED_MIB_S) if type_ == "gp3" else None
    if throughput:
        moves = Evidence("Provisioned throughput", throughput, "MiB/s")
        keeps = f"Its throughput stays {throughput:,} MiB/s."
    else:
        moves = Evidence("Highest throughput", round(moved, 1), "MiB/s")
        then = formulas.volume_limits(type_, volume.size_gib, target)
        mib_s = then.baseline.rate(then.largest_operation_bytes) / MIB
        keeps = f"They provide up to {mib_s:,.0f} MiB/s; it used at most {moved:,.1f}."
    lower = ebs.modify(
        volume,
        replace(volume, iops=target, throughput_mib_s=throughput),
        "lower-iops",
        f"Set {target:,} IOPS: the peak with headroom, and what its throughput requires. {keeps}",
        ebs.LOWERED,
    )
    # EBS cannot modify an io1 volume with Multi-Attach (Amazon EBS User Guide, "Requirements when modifying volumes").
    fixed = volume.multi_attach and type_ == "io1"
    caveats = advice.caveats(
        ("EBS cannot modify an io1 volume with Multi-Attach. Create an io2 volume from a snapshot instead.", fixed),
        (
            "CloudWatch has no exceeded checks for Multi-Attach volumes and does not show seconds at the limit.",
            volume.multi_attach and not fixed,
        ),
        (ebs.BOTH, throughput and throughput > formulas.GP3_INCLUDED_MIB_S and not volume.multi_attach),
    )
    return Flagged(
        summary=(
            f"{iops:,} IOPS provisioned ({type_}), at most {look.most:,.0f} used in the busiest {look.span}:"
            f" {target:,} are enough"
        ),
        confidence=look.confidence(checked=checked),
        evidence=(
            Evidence("Provisioned IOPS", iops, "IOPS"),
            look.evidence(iops, Line("Provisioned", iops), Line("Proposed", target)),
            moves,
            *ebs.carried(look.kind),
        ),
        advice=(replace(lower, command=None, setting=None) if fixed else lower,),
        fingerprint_inputs=(type_, iops, size_class(target)),
        caveats=(*look.lowering_caveats, *caveats),
    )


def by_minute(reads: float, writes: float, kib: float = 0) -> Metrics:
    """Return the same busiest minute every day: operations a second, and the size of each if bytes matter."""
    mib_s = {"read_mib_s": reads * kib / 1024, "written_mib_s": writes * kib / 1024} if kib else {}
    return peaks(reads=reads, writes=writes, **mib_s)


def closer(metrics: Metrics) -> Metrics:
    """Return the same metrics, by five minutes too."""
    return {**metrics, **{(metric, FIVE_MINUTES_S): value for metric, value in metrics.items()}}


GP3 = examples.volume(examples.instance(), size_gib=800, iops=12_000)
IO2 = replace(GP3, volume_type="io2", throughput_mib_s=None)
ON_TWO = (IO2.attachments[0], replace(IO2.attachments[0], instance_id="i-2"))
TWO = (*ON_NITRO, replace(ON_NITRO[0], id="i-2"))
SHARED: dict[str, Any] = {"multi_attach": True, "attachments": ON_TWO, "records": TWO}
UNCHECKED = {IOPS_EXCEEDED: None, THROUGHPUT_EXCEEDED: None}
READING, WRITING = 900.0 * MINUTE_S, 600.0 * MINUTE_S
AT_700, LOST_NIGHT = peaks(read_mib_s=400, written_mib_s=300), {WRITES.peak: days(WRITING, {27: None})}
MEANS = {(READS.total, FIVE_MINUTES_S): 150_000.0, (WRITES.total, FIVE_MINUTES_S): 30_000.0}
RAISED_ONCE = days(0.0, {15: 1.0})
IN_AN_HOUR = in_turns(range(3), range(6, 9), reads=4_000, writes=3_000)
BY_TURNS = in_turns(range(6), range(144, 150), reads=4_000, writes=3_000)

gp3 = Cases(GP3, {**by_minute(900, 600), IOPS_EXCEEDED: 0.0}, records=ON_NITRO)
io2 = Cases(IO2, {**by_minute(900, 600, 8), IOPS_EXCEEDED: 0.0, THROUGHPUT_EXCEEDED: 0.0}, records=ON_NITRO)
io1 = Cases(replace(IO2, volume_type="io1", iops=64_000, size_gib=2_000), io2.metrics, records=ON_NITRO)
bare = Cases(GP3, records=ON_NITRO)

DETECTOR = Detector(
    title="IOPS nobody uses",
    kind="waste",
    resource=Volume,
    limits=SurplusLimits,
    reads=(Instance, InstanceType),
    judge=judge,
    cases=(
        gp3("12,000 IOPS on gp3, 1,500 used", Flagged, "1,500 used in the busiest minute of 35 days: 3,000 are"),
        io2("12,000 IOPS on io2, 1,500 operations of 8 KiB used", Flagged, "at most 1,547 used"),
        io2("few operations of a MiB each on io2", Fine, "its IOPS", metrics=closer(by_minute(900, 600, 1024))),
        gp3("a ten-minute batch of 10,000 IOPS every night", Fine, "used its IOPS", metrics=by_minute(900, 10_000)),
        gp3("one busy night four weeks ago", Fine, metrics={READS.peak: days(READING, {27: 10 * READING})}),
        gp3("reads by day and writes by night, each below the line", Flagged, "4,000 used in", metrics=BY_TURNS),
        gp3("reads and writes in turns within an hour", Flagged, "4,000 used in", metrics=IN_AN_HOUR),
        gp3("reads and writes at once, above the limit", Fine, "together", metrics=closer(by_minute(4_000, 3_000))),
        gp3("an exceeded check was raised once", Fine, "exceed", metrics={IOPS_EXCEEDED: RAISED_ONCE}),
        io2("the throughput check of io2 was raised once", Fine, "exceed", metrics={THROUGHPUT_EXCEEDED: RAISED_ONCE}),
        bare("4,000 IOPS, which 1,000 MiB/s require", Fine, "requires its IOPS", iops=4_000, throughput_mib_s=1_000),
        gp3("6,000 IOPS, of which 1,000 MiB/s require 4,000", Flagged, "4,000 are", iops=6_000, throughput_mib_s=1_000),
        io1("64,000 IOPS, of which 700 MiB/s require 53,760", Flagged, "53,760", metrics=AT_700),
        gp3("an older day without writes", Unknown, "1 of the 35 days", metrics=LOST_NIGHT),
        bare("no metrics at all", Unknown, "14 of the last 14 days"),
        io2("operations of 256 KiB, counted once", Flagged, "at most 6,000 used", metrics=by_minute(3_000, 0, 256)),
        io2("100 IOPS on io2", Fine, "its type", metrics=dict.fromkeys(io2.metrics), iops=100),
        # Counts twice, because CloudWatch's maximum may be that of one instance.
        io2("on two instances, without exceeded checks", Flagged, "at most 3,094 used", metrics=UNCHECKED, **SHARED),
        bare("on a Xen instance, by five-minute means", Flagged, "at most 600 used", records=ON_XEN, metrics=MEANS),
        bare("on a Xen instance without points", Unknown, "five-minute points", records=ON_XEN),
        *examples.without_io(bare),
        bare("3,000 IOPS, as every gp3", Fine, "its type", iops=3_000),
        bare("gp2", Fine, "gp2 has no provisioned IOPS", volume_type="gp2", throughput_mib_s=None),
    ),
)
