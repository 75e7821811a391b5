"""gp3 volumes with far more throughput than they use.

## What it finds
An attached gp3 volume with more than the included 125 MiB/s that used less than 40 % of its throughput in the busiest
minute of the last 35 days. The *peak* counts, reads and writes together: a percentile would miss a nightly batch.
CloudWatch must have recorded the last 14 days, and its exceeded check must not have been raised.

## Why it matters
AWS bills throughput per MiB/s a month, used or not. People buy it for a migration, or their instance never reaches it.

## When it is wrong
- A quarterly batch needs more than 35 days. Set `window_days` to up to 60.
- One-minute sums hide shorter bursts. The exceeded check reports seconds at the current limit, not at the proposal.
- On Xen, five-minute sums replace one-minute peaks, and the confidence is low.

## What to do
Lower the throughput online to the proposal. You can raise it again, up to four times in 24 hours. If you bought IOPS
above 3,000 only for the throughput, lower them afterwards.
"""

from dataclasses import replace

from slackwater.model.detector import Detector, Seen, unless_decided
from slackwater.model.money import size_class
from slackwater.model.resources import Instance, InstanceType, Volume
from slackwater.model.units import FIVE_MINUTES_S, MIB, MINUTE_S
from slackwater.model.verdicts import Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import ebs as formulas
from slackwater.rules import ebs, ebs_peaks, examples
from slackwater.rules.ebs_peaks import READ_BYTES, WRITES, WRITTEN_BYTES, Look, SurplusLimits
from slackwater.rules.examples import Cases, Metrics, days, days_ago, in_turns, peaks


def judge(volume: Volume, seen: Seen, limits: SurplusLimits) -> Verdict:
    """Flag a gp3 volume whose busiest minute stayed far below its provisioned throughput."""
    provisioned = volume.throughput_mib_s
    if volume.volume_type != "gp3":
        return Fine(f"{volume.volume_type} has no provisioned throughput")
    if provisioned is None:
        return Unknown("EC2 did not return its throughput")
    if provisioned <= formulas.GP3_INCLUDED_MIB_S:
        return Fine("it has only the included throughput")
    kind = unless_decided(ebs.carrier(volume, seen))
    look = Look(volume, ebs_peaks.BYTES, seen, limits, kind)
    checks = ebs_peaks.checks(look, ebs_peaks.THROUGHPUT_EXCEEDED)
    ceiling = provisioned * limits.peak_percent / 100
    found = unless_decided(ebs_peaks.below(look, ceiling, checks, *ebs_peaks.CLOSER_S))
    target = max(formulas.GP3_INCLUDED_MIB_S, formulas.with_headroom(found.most, limits.headroom_percent))
    if target >= provisioned:
        return Fine("with headroom, it needs its throughput")

    iops, required = volume.iops or formulas.GP3_INCLUDED_IOPS, formulas.least_iops("gp3", provisioned)
    other = ebs.BOTH if iops > required else ebs.AFTERWARDS
    summary = f"Set {target:,} MiB/s: the peak and {limits.headroom_percent:g} % more. IOPS stay {iops:,}."
    return Flagged(
        summary=(
            f"{provisioned:,} MiB/s provisioned, at most {found.most:,.1f} used in the busiest {found.span}:"
            f" {target:,} are enough"
        ),
        confidence=found.confidence(checked=ebs_peaks.answered(checks, seen)),
        evidence=(
            Evidence("Provisioned throughput", provisioned, "MiB/s"),
            found.evidence(provisioned, Line("Provisioned", provisioned), Line("Proposed", target)),
            Evidence("Provisioned IOPS", iops, "IOPS"),
            *ebs.carried(kind),
        ),
        advice=(ebs.modify(volume, ebs.gp3(volume, iops, target), "lower-throughput", summary, ebs.LOWERED),),
        fingerprint_inputs=(provisioned, size_class(target)),
        caveats=(*found.lowering_caveats, *((other,) if iops > formulas.GP3_INCLUDED_IOPS else ())),
    )


HOST, M5 = examples.ON_NITRO
RESTARTED = (replace(HOST, launched_at=days_ago(21)), M5)
FAST = examples.volume(HOST, iops=4_000, throughput_mib_s=1_000)
HOUR_OLD, FOUR_DAYS_OLD, OLD = (replace(FAST.attachments[0], attached_at=days_ago(age)) for age in (1 / 24, 4, 21))
READ, WRITTEN = 40.0 * MIB * MINUTE_S, 20.0 * MIB * MINUTE_S
LOST_NIGHT = {WRITTEN_BYTES.peak: days(WRITTEN, {27: None})}
ONCE, STOPPED_WEEK = (
    {WRITTEN_BYTES.peak: days(WRITTEN, {27: 35 * WRITTEN})},
    {READ_BYTES.peak: days(READ, {range(22, 27): None})},
)
TOGETHER, DAY, NIGHT = peaks(read_mib_s=300, written_mib_s=200), range(6), range(144, 150)
BY_TURNS = in_turns(DAY, NIGHT, read_mib_s=300, written_mib_s=200)
AT_ONCE = {**TOGETHER, **peaks(range(288), read_mib_s=300, written_mib_s=200)}
QUIET = examples.READING_ON_XEN
RAISED = {ebs_peaks.THROUGHPUT_EXCEEDED: days(0.0, {0: 1.0})}
FEW_DAYS, NO_BYTES = {key: [value] * (15 * 288) for key, value in QUIET.items()}, {next(iter(QUIET)): None}
METAL = (HOST, replace(M5, hypervisor="other"))
TEN_MINUTES: Metrics = {
    (WRITTEN_BYTES.total, FIVE_MINUTES_S): [None] * 7_000 + [900.0 * MIB * FIVE_MINUTES_S] * 2 + [None] * 3_078,
    (WRITES.total, FIVE_MINUTES_S): [0.0] * 7_000 + [3_600.0 * FIVE_MINUTES_S] * 2 + [0.0] * 3_078,
}


gp3 = Cases(FAST, {**peaks(read_mib_s=40, written_mib_s=20), ebs_peaks.THROUGHPUT_EXCEEDED: 0.0}, records=(HOST, M5))
xen = Cases(FAST, QUIET, records=examples.ON_XEN)
bare = Cases(FAST, records=(HOST, M5))

DETECTOR = Detector(
    title="gp3 throughput nobody uses",
    kind="waste",
    resource=Volume,
    limits=SurplusLimits,
    reads=(Instance, InstanceType),
    judge=judge,
    cases=(
        gp3("1,000 MiB/s bought, 60 used", Flagged, "at most 60.0 used in the busiest minute of 35 days: 125 are"),
        gp3("a ten-minute batch at full throughput every night", Fine, "used its", metrics=peaks(read_mib_s=980)),
        gp3("one busy night a month, four weeks ago", Fine, metrics=ONCE),
        gp3("the exceeded check raised once", Fine, "exceed", metrics=RAISED),
        gp3("reads by day and writes by night, each below the line", Flagged, "300.0 used", metrics=BY_TURNS),
        gp3("reads and writes in the same minute, above the line", Fine, "together", metrics=AT_ONCE),
        gp3("a busy night four weeks ago, without a point", Unknown, "1 of the 35 days since", metrics=LOST_NIGHT),
        gp3("its instance was stopped for five days", Flagged, "of 30 days", records=RESTARTED, metrics=STOPPED_WEEK),
        gp3("attached three weeks ago", Flagged, "minute of 20 days", attachments=(OLD,)),
        bare("no metrics at all", Unknown, "14 of the last 14 days"),
        gp3("attached four days ago", Unknown, "less than 14 whole days ago", attachments=(FOUR_DAYS_OLD,)),
        xen("on a Xen instance, by five-minute means", Flagged, "five minutes"),
        xen("on a Xen instance, watched for 15 days", Flagged, "five minutes of 15 days", metrics=FEW_DAYS),
        xen("on a Xen instance for an hour", Unknown, "attached less than 14 days ago", attachments=(HOUR_OLD,)),
        xen("on a Xen instance, busy for ten minutes", Fine, "used its", metrics=TEN_MINUTES),
        xen("on a Xen instance, without bytes of operations", Unknown, "five-minute points", metrics=NO_BYTES),
        gp3("on bare metal, which publishes as Nitro does", Flagged, "busiest minute", records=METAL),
        *examples.without_io(bare),
        bare("125 MiB/s, as every gp3", Fine, "included", throughput_mib_s=125),
    ),
)
