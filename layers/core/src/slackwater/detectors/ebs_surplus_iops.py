"""Volumes with far more IOPS provisioned than they ever used.

## What it finds
An attached gp3 volume that pays for IOPS above the 3,000 included, or an io1 or io2 volume, whose busiest minute of the last 35
days stayed below 40 % of its IOPS. The *peak* counts, reads and writes together: a percentile would miss a ten-minute batch at
night, and two weeks a job that runs once a month. EBS counts an operation larger than 256 KiB once for each 256 KiB, and
CloudWatch may count it once. For io1 and io2 both count, the operations and the bytes in units of 256 KiB: each must stay below
the 40 %, and the new setting has room for both added, which is never too little; where that is not below the old one, nothing
is said. CloudWatch's own exceeded checks must not have raised once. All of the last 14 days must be there, and all since the
volume was attached and its instance last started; where it was watched for less than the window, or without exceeded checks,
the confidence is medium.

## Why it matters
Provisioned IOPS are billed by the month, used or not, and on io1 and io2 they cost more than the storage they belong to. They
are bought for a migration, a load test or a guess, and nobody comes back to lower them.

## When it is wrong
A quarterly job needs more than 35 days can show: lengthen `window_days`, up to 60. A day without metrics makes the answer
unknown, unless it was before the start of the instance, or CloudWatch's first. A minute's sum hides seconds. The exceeded
checks tell of seconds at the present setting, and not of those between that and the suggested one; Multi-Attach volumes have
none. On Xen instances CloudWatch has no per-minute peaks; five-minute sums stand in, and the confidence is low.

## What to do
Lower the IOPS to the suggested value: online, without a restart, and at most four changes of a volume in 24 hours. Throughput
depends on IOPS, so never below what carries it: gp3 needs one IOPS for each 0.25 MiB/s that is provisioned, io2 has 0.256 MiB/s
for each IOPS, and io1 more than 500 MiB/s only above 32,000 IOPS. The suggested value keeps all that was used.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Seen, limit
from slackwater.model.money import difference, size_class
from slackwater.model.resources import Attachment, Instance, InstanceType, Target, Volume
from slackwater.model.settings import VolumeSetting
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, KIB, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Ask, Evidence, Fine, Flagged, Line, Unknown, Verdict
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


class SurplusIopsLimits(PeakLimits):
    """How far below its setting a volume must stay, and what it keeps."""

    peak_percent: float = limit(40, unit="percent", gt=0, lt=100, why="a doubled load still fits")


def judge(volume: Volume, seen: Seen, limits: SurplusIopsLimits) -> Verdict:
    """Flag a volume whose busiest minute stayed far below the IOPS it pays for."""
    if volume.volume_type not in {"gp3", "io1", "io2"}:
        return Fine(f"{volume.volume_type} has no IOPS of its own")
    if volume.iops is None:
        return Unknown("EC2 did not say its IOPS")
    by_iops = volume.volume_type != "gp3"  # throughput comes with the IOPS
    least = ebs.least_iops(volume.volume_type, 0 if by_iops else volume.throughput_mib_s or ebs.GP3_INCLUDED_MIB_S)
    if volume.iops <= least:
        return Fine(_no_fewer(volume))
    kind = carrier(volume, seen)
    if not isinstance(kind, InstanceType):
        return kind
    xen, ceiling = kind.hypervisor == "xen", volume.iops * limits.peak_percent / 100
    checked = checks(volume, limits, IOPS_EXCEEDED, *((THROUGHPUT_EXCEEDED,) if by_iops else ()), xen=xen)
    look = Look(volume=volume, measure=OPERATIONS, seen=seen, limits=limits, xen=xen)
    for measure, besides in ((OPERATIONS, ()), (CONSUMED, checked)) if by_iops else ((OPERATIONS, ()),):
        look = replace(look, measure=measure)
        if lacking := seen.lacking([*look.needs, *besides]):
            return Ask(lacking)
        if look.doubt:
            return look.doubt
        if look.least >= ceiling:
            return Fine("it used what it pays for")
    if look.counted >= ceiling:  # the peaks may lie hours apart
        look = look.nearer()
    if lacking := seen.lacking([*look.needs, *checked]):
        return Ask(lacking)
    if look.counted >= ceiling:
        return Fine("it used what it pays for, reads and writes together") if look.least >= ceiling else look.lost
    if raised(checked, seen):
        return Fine("CloudWatch saw it exceed its IOPS or its throughput")
    moved = replace(look, measure=BYTES).most if by_iops else 0
    carrying = ebs.least_iops(volume.volume_type, ebs.with_headroom(moved, limits.headroom_percent)) if by_iops else least
    target = max(carrying, ebs.with_headroom(look.most, limits.headroom_percent))
    if target >= volume.iops:
        return Fine("what it needs with headroom is what it has")
    return _flag(volume, target, kind, look, moved, checked=answered(checked, seen))


def _no_fewer(volume: Volume) -> str:
    """Why its IOPS cannot be lowered."""
    if volume.volume_type != "gp3":
        return f"it has the fewest IOPS that {volume.volume_type} may have"
    if (volume.iops or 0) <= ebs.GP3_INCLUDED_IOPS:
        return "it has the IOPS that every gp3 includes"
    return "it has the IOPS that its throughput needs"


def _flag(volume: Volume, target: int, kind: InstanceType, look: Look, moved: float, *, checked: bool) -> Flagged:
    iops, type_ = volume.iops or 0, volume.volume_type
    throughput = volume.throughput_mib_s or ebs.GP3_INCLUDED_MIB_S if type_ == "gp3" else None
    to = VolumeSetting(volume_type=type_, iops=target, throughput_mib_s=throughput)
    then = ebs.volume_limits(type_, volume.size_gib, target)
    up_to = then.baseline.rate(then.largest_operation_bytes) / MIB
    keeps = (
        f"Throughput stays {throughput:,} MiB/s."
        if throughput
        else f"Up to {up_to:,.0f} MiB/s come with them; at most {moved:,.1f} were used."
    )
    return Flagged(
        summary=(
            f"{iops:,} IOPS provisioned ({type_}), and the busiest {look.span} used at most {look.most:,.0f}:"
            f" {target:,} would do"
        ),
        confidence=look.confidence(checked=checked),
        evidence=(
            Evidence(label="Provisioned IOPS", value=iops, unit="IOPS"),
            look.evidence(iops, Line("Provisioned", iops), Line("Proposed", target)),
            *((Evidence(label="Provisioned throughput", value=throughput, unit="MiB/s"),) if throughput else ()),
            *(() if throughput else (Evidence(label="Most moved", value=round(moved, 1), unit="MiB/s"),)),
            *carried(kind),
        ),
        advice=(
            Advice(
                action="lower-iops",
                summary=f"Set {target:,} IOPS: the peak, with headroom, and what its throughput takes. {keeps}",
                changes=difference(ebs.monthly_units(volume), ebs.monthly_units(replace(volume, iops=target))),
                risk=f"A load that comes less often than the window is slowed until it is raised again. {ebs_change.ONLINE}",
                reversible=True,
                command=None if _is_fixed(volume) else ebs_change.modify_command(volume, to),
                setting=None if _is_fixed(volume) else by_program(volume, to),
            ),
        ),
        gist=(type_, iops, size_class(target)),
        caveats=(*look.lowering_caveats, *_caveats(volume), *ebs_change.managed_caveats(volume)),
    )


def _is_fixed(volume: Volume) -> bool:
    """EBS changes neither type, size nor IOPS of an io1 volume with Multi-Attach ("Requirements when modifying volumes")."""
    return volume.multi_attach and volume.volume_type == "io1"


def _caveats(volume: Volume) -> tuple[str, ...]:
    caveats = []
    if volume.volume_type == "gp3" and (volume.throughput_mib_s or 0) > ebs.GP3_INCLUDED_MIB_S:
        caveats.append(ebs_change.BOTH)
    if volume.multi_attach:
        caveats.append("Multi-Attach volumes have no exceeded checks: seconds at the present limit would not be seen either.")
    if _is_fixed(volume):
        caveats.append("EBS cannot change an io1 volume with Multi-Attach: make a new one (io2) of a snapshot of it.")
    if volume.volume_type == "io2" and not volume.multi_attach:
        caveats.append("Where neither io2's durability nor its even latency is needed, gp3 may do the same for less.")
    return tuple(caveats)


_TARGET = Target("123456789012", "us-east-1")
_INSTANCE = Instance(
    id="i-0dddddddddddddddd",
    arn="arn:aws:ec2:us-east-1:123456789012:instance/i-0dddddddddddddddd",
    target=_TARGET,
    tags={"Name": "ledger"},
    instance_type="r6i.2xlarge",
    state="running",
    launched_at=CASE_NOW - timedelta(days=300),
    stopped_at=None,
    detailed_monitoring=False,
    root_device="/dev/xvda",
)
_R6I = InstanceType(
    id="r6i.2xlarge",
    vcpus=8,
    hypervisor="nitro",
    network_baseline_gbps=3.125,
    network_peak_gbps=12.5,
    network_cards=1,
    ebs_baseline_mbps=2500,
    ebs_maximum_mbps=10000,
    ebs_baseline_iops=12000,
    ebs_maximum_iops=40000,
    source="a worked example",
)
_GP3 = Volume(
    id="vol-0aaaabbbbccccdddd",
    arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-0aaaabbbbccccdddd",
    target=_TARGET,
    tags={"Name": "ledger-data"},
    volume_type="gp3",
    size_gib=800,
    iops=12000,
    throughput_mib_s=125,
    state="in-use",
    created_at=CASE_NOW - timedelta(days=200),
    availability_zone="us-east-1a",
    multi_attach=False,
    attachments=(Attachment(instance_id=_INSTANCE.id, device="/dev/sdf", attached_at=CASE_NOW - timedelta(days=200)),),
)
_IO2 = replace(_GP3, volume_type="io2", throughput_mib_s=None)
_HOST = (_INSTANCE, _R6I)
_DAYS, _POINTS = 36, 35 * 288


def _minute(iops: float) -> float:
    return iops * MINUTE_S


_CALM: Final = {
    (READS.peak, DAY_S): [_minute(900)] * _DAYS,
    (WRITES.peak, DAY_S): [_minute(600)] * _DAYS,
    (IOPS_EXCEEDED, DAY_S): [0.0] * _DAYS,
}
_PAGES: Final = {
    **_CALM,
    (READ_BYTES.peak, DAY_S): [_minute(900) * 8 * KIB] * _DAYS,
    (WRITTEN_BYTES.peak, DAY_S): [_minute(600) * 8 * KIB] * _DAYS,
    (THROUGHPUT_EXCEEDED, DAY_S): [0.0] * _DAYS,
}
_LARGE: Final = {
    **_PAGES,
    (READ_BYTES.peak, DAY_S): [_minute(900) * MIB] * _DAYS,
    (WRITTEN_BYTES.peak, DAY_S): [_minute(600) * MIB] * _DAYS,
    (READ_BYTES.peak, FIVE_MINUTES_S): [_minute(900) * MIB] * _POINTS,
    (WRITTEN_BYTES.peak, FIVE_MINUTES_S): [_minute(600) * MIB] * _POINTS,
    (READS.peak, FIVE_MINUTES_S): [_minute(900)] * _POINTS,
    (WRITES.peak, FIVE_MINUTES_S): [_minute(600)] * _POINTS,
}

DETECTOR = Detector(
    title="IOPS nobody uses",
    kind="waste",
    resource=Volume,
    limits=SurplusIopsLimits,
    reads=(Instance, InstanceType),
    judge=judge,
    cases=(
        Case(
            title="12,000 IOPS on gp3, 1,500 used",
            resource=_GP3,
            records=_HOST,
            metrics=_CALM,
            expect=Flagged,
            says="minute of 35 days used at most 1,500: 3,000 would do",
        ),
        Case(
            title="12,000 IOPS on io2, 1,500 operations of 8 KiB used",
            resource=_IO2,
            records=_HOST,
            metrics=_PAGES,
            expect=Flagged,
            says="used at most 1,547: 1,857 would do",
        ),
        Case(
            title="io2, and few operations of a MiB each",
            resource=_IO2,
            records=_HOST,
            metrics=_LARGE,
            expect=Fine,
            says="used what it pays for",
        ),
        Case(
            title="a ten-minute batch of 10,000 IOPS every night",
            resource=_GP3,
            records=_HOST,
            metrics={**_CALM, (WRITES.peak, DAY_S): [_minute(10_000)] * _DAYS},
            expect=Fine,
            says="used what it pays for",
        ),
        Case(
            title="one busy night a month, four weeks ago",
            resource=_GP3,
            records=_HOST,
            metrics={**_CALM, (READS.peak, DAY_S): [_minute(900)] * 8 + [_minute(9_000)] + [_minute(900)] * 27},
            expect=Fine,
        ),
        Case(
            title="reads by day and writes by night, each below the line",
            resource=_GP3,
            records=_HOST,
            metrics={
                (READS.peak, DAY_S): [_minute(4_000)] * _DAYS,
                (WRITES.peak, DAY_S): [_minute(3_000)] * _DAYS,
                (READS.peak, FIVE_MINUTES_S): ([_minute(4_000)] * 6 + [0.0] * 282) * 35,
                (WRITES.peak, FIVE_MINUTES_S): ([0.0] * 144 + [_minute(3_000)] * 6 + [0.0] * 138) * 35,
                (IOPS_EXCEEDED, DAY_S): [0.0] * _DAYS,
            },
            expect=Flagged,
            says="used at most 4,000: 4,800 would do",
        ),
        Case(
            title="reads and writes in the same minute, together above the line",
            resource=_GP3,
            records=_HOST,
            metrics={
                (READS.peak, DAY_S): [_minute(4_000)] * _DAYS,
                (WRITES.peak, DAY_S): [_minute(3_000)] * _DAYS,
                (READS.peak, FIVE_MINUTES_S): [_minute(4_000)] * _POINTS,
                (WRITES.peak, FIVE_MINUTES_S): [_minute(3_000)] * _POINTS,
                (IOPS_EXCEEDED, DAY_S): [0.0] * _DAYS,
            },
            expect=Fine,
            says="together",
        ),
        Case(
            title="the exceeded check raised once",
            resource=_GP3,
            records=_HOST,
            metrics={**_CALM, (IOPS_EXCEEDED, DAY_S): [0.0] * 20 + [1.0] + [0.0] * 15},
            expect=Fine,
            says="exceed",
        ),
        Case(
            title="io2, and its throughput exceeded check raised once",
            resource=_IO2,
            records=_HOST,
            metrics={**_PAGES, (THROUGHPUT_EXCEEDED, DAY_S): [0.0] * 20 + [1.0] + [0.0] * 15},
            expect=Fine,
            says="exceed",
        ),
        Case(
            title="4,000 IOPS, which 1,000 MiB/s need",
            resource=replace(_GP3, iops=4000, throughput_mib_s=1000),
            records=_HOST,
            expect=Fine,
            says="its throughput needs",
        ),
        Case(
            title="6,000 IOPS, of which 1,000 MiB/s need 4,000",
            resource=replace(_GP3, iops=6000, throughput_mib_s=1000),
            records=_HOST,
            metrics=_CALM,
            expect=Flagged,
            says="4,000 would do",
        ),
        Case(
            title="io1 with 64,000 IOPS, of which 700 MiB/s need 53,760",
            resource=replace(_IO2, volume_type="io1", iops=64_000, size_gib=2_000),
            records=_HOST,
            metrics={
                **_PAGES,
                (READ_BYTES.peak, DAY_S): [_minute(400) * MIB] * _DAYS,
                (WRITTEN_BYTES.peak, DAY_S): [_minute(300) * MIB] * _DAYS,
            },
            expect=Flagged,
            says="53,760 would do",
        ),
        Case(
            title="a day without metrics",
            resource=_GP3,
            records=_HOST,
            metrics={**_CALM, (READS.peak, DAY_S): [_minute(900)] * 28 + [None] + [_minute(900)] * 7},
            expect=Unknown,
            says="no point on 1 of the last 14 days",
        ),
        Case(
            title="one busy night a month, four weeks ago, and its writes are not there",
            resource=_GP3,
            records=_HOST,
            metrics={**_CALM, (WRITES.peak, DAY_S): [_minute(600)] * 8 + [None] + [_minute(600)] * 27},
            expect=Unknown,
            says="no point on 1 of the 35 days since",
        ),
        Case(title="no metrics at all", resource=_GP3, records=_HOST, expect=Unknown, says="14 of the last 14 days"),
        Case(
            title="io2, and operations of 256 KiB, which CloudWatch counts once, as EBS does",
            resource=_IO2,
            records=_HOST,
            metrics={
                **_PAGES,
                (READS.peak, DAY_S): [_minute(3_000)] * _DAYS,
                (WRITES.peak, DAY_S): [0.0] * _DAYS,
                (READ_BYTES.peak, DAY_S): [_minute(3_000) * 256 * KIB] * _DAYS,
                (WRITTEN_BYTES.peak, DAY_S): [0.0] * _DAYS,
            },
            expect=Flagged,
            says="used at most 6,000: 7,200 would do",
        ),
        Case(
            title="100 IOPS on io2", resource=replace(_IO2, iops=100), records=_HOST, expect=Fine, says="fewest IOPS that io2"
        ),
        Case(
            title="on two instances, without exceeded checks",
            resource=replace(
                _IO2, multi_attach=True, attachments=(_IO2.attachments[0], replace(_IO2.attachments[0], instance_id="i-2"))
            ),
            records=(*_HOST, replace(_INSTANCE, id="i-2")),
            metrics=_PAGES,
            expect=Flagged,
            says="used at most 3,094",  # twice: the maximum may be one instance's
        ),
        Case(
            title="on a Xen instance, by five-minute means",
            resource=_GP3,
            records=(_INSTANCE, replace(_R6I, hypervisor="xen")),
            metrics={
                (READS.total, FIVE_MINUTES_S): [500.0 * FIVE_MINUTES_S] * _POINTS,
                (WRITES.total, FIVE_MINUTES_S): [100.0 * FIVE_MINUTES_S] * _POINTS,
            },
            expect=Flagged,
            says="five minutes of 35 days used at most 600",
        ),
        Case(
            title="on a Xen instance, and nothing is published",
            resource=_GP3,
            records=(_INSTANCE, replace(_R6I, hypervisor="xen")),
            expect=Unknown,
            says="five-minute points",
        ),
        Case(
            title="on a stopped instance",
            resource=_GP3,
            records=(replace(_INSTANCE, state="stopped"), _R6I),
            expect=Fine,
            says="stopped",
        ),
        Case(
            title="its instance could not be read",
            resource=_GP3,
            unreadable={Instance: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
        Case(
            title="3,000 IOPS, as every gp3",
            resource=replace(_GP3, iops=3000),
            records=_HOST,
            expect=Fine,
            says="every gp3 includes",
        ),
        Case(
            title="gp2",
            resource=replace(_GP3, volume_type="gp2", throughput_mib_s=None),
            records=_HOST,
            expect=Fine,
            says="gp2 has no IOPS of its own",
        ),
    ),
)
