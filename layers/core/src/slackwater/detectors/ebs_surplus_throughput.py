"""gp3 volumes with far more throughput than they ever used.

## What it finds
An attached gp3 volume that pays for throughput above the 125 MiB/s included, and whose busiest minute of the last 35 days
stayed below 40 % of it. The *peak* counts, reads and writes together: an average, or even a 99th percentile, would miss a
ten-minute batch at night, and two weeks a job that runs once a month. CloudWatch's own exceeded check must not have raised
once. All of the last 14 days must be there, and all since the volume was attached and its instance last started; where it was
watched for less than the window, or without an exceeded check, the confidence is medium.

## Why it matters
Throughput is billed by the MiB/s a month, used or not. Often it was bought for a restore or a migration that is over, or the
instance could never carry it ("The performance of EBS-optimised instances", 2017-07-10).

## When it is wrong
A quarterly batch needs more than 35 days can show: lengthen `window_days`, up to 60. A day without metrics makes the answer
unknown, unless it was before the start of the instance, or CloudWatch's first: a job that ran before is not seen. A minute's
sum hides seconds; the exceeded check tells of seconds at the present setting, and not of those between that and the suggested
one. On Xen instances CloudWatch has no per-minute peaks; five-minute sums stand in, and the confidence is low.

## What to do
Lower the throughput to the suggested value: online, without a restart, and at most four changes of a volume in 24 hours.
Raise it again the same way. IOPS above 3,000 that were bought only for the throughput can follow once it is lower.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Seen, limit
from slackwater.model.money import EBS_GP3_THROUGHPUT, Change, size_class
from slackwater.model.resources import Attachment, Instance, InstanceType, Target, Volume
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Ask, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import ebs
from slackwater.rules import ebs as ebs_change
from slackwater.rules.advice import by_program
from slackwater.rules.ebs_peaks import (
    BYTES,
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


class SurplusThroughputLimits(PeakLimits):
    """How far below its setting a volume must stay, and what it keeps."""

    peak_percent: float = limit(40, unit="percent", gt=0, lt=100, why="a doubled load still fits")


def judge(volume: Volume, seen: Seen, limits: SurplusThroughputLimits) -> Verdict:
    """Flag a gp3 volume whose busiest minute stayed far below the throughput it pays for."""
    provisioned = volume.throughput_mib_s
    if volume.volume_type != "gp3":
        return Fine(f"{volume.volume_type} has no throughput of its own")
    if provisioned is None:
        return Unknown("EC2 did not say its throughput")
    if provisioned <= ebs.GP3_INCLUDED_MIB_S:
        return Fine("it has the throughput that every gp3 includes")
    kind = carrier(volume, seen)
    if not isinstance(kind, InstanceType):
        return kind
    xen, ceiling = kind.hypervisor == "xen", provisioned * limits.peak_percent / 100
    look = Look(volume=volume, measure=BYTES, seen=seen, limits=limits, xen=xen)
    if lacking := seen.lacking(look.needs):
        return Ask(lacking)
    if look.doubt:
        return look.doubt
    if look.least >= ceiling:
        return Fine("it used what it pays for")
    if look.most >= ceiling:  # read and write peaks may lie hours apart
        look = look.nearer()
    checked = checks(volume, limits, THROUGHPUT_EXCEEDED, xen=xen)
    if lacking := seen.lacking([*look.needs, *checked]):
        return Ask(lacking)
    if look.most >= ceiling:
        return Fine("it used what it pays for, reads and writes together") if look.least >= ceiling else look.lost
    if raised(checked, seen):
        return Fine("CloudWatch saw it exceed its throughput")
    return _flag(volume, provisioned, kind, look, limits, checked=answered(checked, seen))


def _flag(
    volume: Volume, provisioned: int, kind: InstanceType, look: Look, limits: SurplusThroughputLimits, *, checked: bool
) -> Verdict:
    iops, target = volume.iops or ebs.GP3_INCLUDED_IOPS, ebs.gp3_throughput_for(look.most, limits.headroom_percent)
    if target >= provisioned:
        return Fine("what it needs with headroom is what it has")
    needed, to = ebs.least_iops("gp3", provisioned), ebs_change.gp3(iops, target)
    both = (ebs_change.BOTH,) if iops > needed else ()
    afterwards = (ebs_change.AFTERWARDS,) if needed > ebs.GP3_INCLUDED_IOPS else ()
    return Flagged(
        summary=(
            f"{provisioned:,} MiB/s provisioned, and the busiest {look.span} moved at most {look.most:,.1f} MiB/s:"
            f" {target:,} would do"
        ),
        confidence=look.confidence(checked=checked),
        evidence=(
            Evidence(label="Provisioned throughput", value=provisioned, unit="MiB/s"),
            look.evidence(provisioned, Line("Provisioned", provisioned), Line("Proposed", target)),
            Evidence(label="Provisioned IOPS", value=iops, unit="IOPS"),
            *carried(kind),
        ),
        advice=(
            Advice(
                action="lower-throughput",
                summary=f"Set {target:,} MiB/s: the peak and {limits.headroom_percent:g} % more. IOPS stay as they are.",
                changes=(Change(EBS_GP3_THROUGHPUT, Decimal(provisioned - target)),),
                risk=f"A load that comes less often than the window is slowed until it is raised again. {ebs_change.ONLINE}",
                reversible=True,
                command=ebs_change.modify_command(volume, to),
                setting=by_program(volume, to),
            ),
        ),
        gist=(provisioned, size_class(target)),
        caveats=(*look.lowering_caveats, *both, *afterwards, *ebs_change.managed_caveats(volume)),
    )


_TARGET = Target("123456789012", "us-east-1")
_INSTANCE = Instance(
    id="i-0bbbbbbbbbbbbbbbb",
    arn="arn:aws:ec2:us-east-1:123456789012:instance/i-0bbbbbbbbbbbbbbbb",
    target=_TARGET,
    tags={"Name": "warehouse"},
    instance_type="m5.large",
    state="running",
    launched_at=CASE_NOW - timedelta(days=300),
    stopped_at=None,
    detailed_monitoring=False,
    root_device="/dev/xvda",
)
_M5_LARGE = InstanceType(
    id="m5.large",
    vcpus=2,
    hypervisor="nitro",
    network_baseline_gbps=0.75,
    network_peak_gbps=10,
    network_cards=1,
    ebs_baseline_mbps=650,
    ebs_maximum_mbps=4750,
    ebs_baseline_iops=3600,
    ebs_maximum_iops=18750,
    source="a worked example",
)
_VOLUME = Volume(
    id="vol-0fedcba9876543210",
    arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-0fedcba9876543210",
    target=_TARGET,
    tags={"Name": "warehouse-data"},
    volume_type="gp3",
    size_gib=500,
    iops=4000,
    throughput_mib_s=1000,
    state="in-use",
    created_at=CASE_NOW - timedelta(days=200),
    availability_zone="us-east-1a",
    multi_attach=False,
    attachments=(Attachment(instance_id=_INSTANCE.id, device="/dev/sdf", attached_at=CASE_NOW - timedelta(days=200)),),
)
_HOST = (_INSTANCE, _M5_LARGE)


def _minute(mib_s: float) -> float:
    return mib_s * MIB * MINUTE_S


_READ_PEAK, _WRITE_PEAK, _DAYS = READ_BYTES.peak, WRITTEN_BYTES.peak, 36
_CALM: Final = {
    (_READ_PEAK, DAY_S): [_minute(40)] * _DAYS,
    (_WRITE_PEAK, DAY_S): [_minute(20)] * _DAYS,
    (THROUGHPUT_EXCEEDED, DAY_S): [0.0] * _DAYS,
}
_ONCE_A_MONTH = [_minute(20)] * 8 + [_minute(700)] + [_minute(20)] * 27
_POINTS: Final = 35 * 288
_ON_XEN: Final = {
    (READ_BYTES.total, FIVE_MINUTES_S): [30.0 * MIB * FIVE_MINUTES_S] * _POINTS,
    (READS.total, FIVE_MINUTES_S): [120.0 * FIVE_MINUTES_S] * _POINTS,
    (WRITES.total, FIVE_MINUTES_S): [0.0] * _POINTS,
}

DETECTOR = Detector(
    title="gp3 throughput nobody uses",
    kind="waste",
    resource=Volume,
    limits=SurplusThroughputLimits,
    reads=(Instance, InstanceType),
    judge=judge,
    cases=(
        Case(
            title="1,000 MiB/s bought, 60 used",
            resource=_VOLUME,
            records=_HOST,
            metrics=_CALM,
            expect=Flagged,
            says="moved at most 60.0 MiB/s: 125 would do",
        ),
        Case(
            title="a ten-minute batch at full throughput every night",
            resource=_VOLUME,
            records=_HOST,
            metrics={**_CALM, (_READ_PEAK, DAY_S): [_minute(980)] * _DAYS},
            expect=Fine,
            says="used what it pays for",
        ),
        Case(
            title="one busy night in two weeks",
            resource=_VOLUME,
            records=_HOST,
            metrics={**_CALM, (_WRITE_PEAK, DAY_S): [_minute(20)] * 30 + [_minute(700)] + [_minute(20)] * 5},
            expect=Fine,
        ),
        Case(
            title="one busy night a month, four weeks ago",
            resource=_VOLUME,
            records=_HOST,
            metrics={**_CALM, (_WRITE_PEAK, DAY_S): _ONCE_A_MONTH},
            expect=Fine,
        ),
        Case(
            title="the exceeded check raised once",
            resource=_VOLUME,
            records=_HOST,
            metrics={**_CALM, (THROUGHPUT_EXCEEDED, DAY_S): [0.0] * 35 + [1.0]},
            expect=Fine,
            says="exceed",
        ),
        Case(
            title="reads by day and writes by night, each below the line",
            resource=_VOLUME,
            records=_HOST,
            metrics={
                (_READ_PEAK, DAY_S): [_minute(300)] * _DAYS,
                (_WRITE_PEAK, DAY_S): [_minute(200)] * _DAYS,
                (_READ_PEAK, FIVE_MINUTES_S): ([_minute(300)] * 6 + [0.0] * 282) * 35,
                (_WRITE_PEAK, FIVE_MINUTES_S): ([0.0] * 144 + [_minute(200)] * 6 + [0.0] * 138) * 35,
                (THROUGHPUT_EXCEEDED, DAY_S): [0.0] * _DAYS,
            },
            expect=Flagged,
            says="300.0 MiB/s: 360 would do",
        ),
        Case(
            title="reads and writes in the same minute, together above the line",
            resource=_VOLUME,
            records=_HOST,
            metrics={
                (_READ_PEAK, DAY_S): [_minute(300)] * _DAYS,
                (_WRITE_PEAK, DAY_S): [_minute(200)] * _DAYS,
                (_READ_PEAK, FIVE_MINUTES_S): [_minute(300)] * _POINTS,
                (_WRITE_PEAK, FIVE_MINUTES_S): [_minute(200)] * _POINTS,
                (THROUGHPUT_EXCEEDED, DAY_S): [0.0] * _DAYS,
            },
            expect=Fine,
            says="together",
        ),
        Case(
            title="a day without metrics",
            resource=_VOLUME,
            records=_HOST,
            metrics={**_CALM, (_READ_PEAK, DAY_S): [_minute(40)] * 28 + [None] + [_minute(40)] * 7},
            expect=Unknown,
            says="no point on 1 of the last 14 days",
        ),
        Case(
            title="one busy night a month, four weeks ago, and its point is not there",
            resource=_VOLUME,
            records=_HOST,
            metrics={**_CALM, (_WRITE_PEAK, DAY_S): [_minute(20)] * 8 + [None] + [_minute(20)] * 27},
            expect=Unknown,
            says="no point on 1 of the 35 days since",
        ),
        Case(
            title="its instance was stopped for five days, three weeks ago",
            resource=_VOLUME,
            records=(replace(_INSTANCE, launched_at=CASE_NOW - timedelta(days=21)), _M5_LARGE),
            metrics={**_CALM, (_READ_PEAK, DAY_S): [_minute(40)] * 9 + [None] * 5 + [_minute(40)] * 22},
            expect=Flagged,
            says="minute of 30 days",
        ),
        Case(
            title="attached three weeks ago",
            resource=replace(
                _VOLUME,
                attachments=(replace(_VOLUME.attachments[0], attached_at=CASE_NOW - timedelta(days=21)),),
            ),
            records=_HOST,
            metrics=_CALM,
            expect=Flagged,
            says="minute of 20 days",
        ),
        Case(title="no metrics at all", resource=_VOLUME, records=_HOST, expect=Unknown, says="14 of the last 14 days"),
        Case(
            title="attached four days ago",
            resource=replace(
                _VOLUME,
                attachments=(replace(_VOLUME.attachments[0], attached_at=CASE_NOW - timedelta(days=4)),),
            ),
            records=_HOST,
            metrics=_CALM,
            expect=Unknown,
            says="attached less than 14 whole days ago",
        ),
        Case(
            title="on a Xen instance, by five-minute means",
            resource=_VOLUME,
            records=(_INSTANCE, replace(_M5_LARGE, hypervisor="xen")),
            metrics=_ON_XEN,
            expect=Flagged,
            says="five minutes",
        ),
        Case(
            title="on a Xen instance, watched for 15 days",
            resource=_VOLUME,
            records=(_INSTANCE, replace(_M5_LARGE, hypervisor="xen")),
            metrics={key: values[: 15 * 288] for key, values in _ON_XEN.items()},
            expect=Flagged,
            says="five minutes of 15 days",
        ),
        Case(
            title="on a Xen instance for an hour",
            resource=replace(
                _VOLUME, attachments=(replace(_VOLUME.attachments[0], attached_at=CASE_NOW - timedelta(hours=1)),)
            ),
            records=(_INSTANCE, replace(_M5_LARGE, hypervisor="xen")),
            metrics=_ON_XEN,
            expect=Unknown,
            says="attached less than 14 days ago",
        ),
        Case(
            title="on a Xen instance, busy for ten minutes",
            resource=_VOLUME,
            records=(_INSTANCE, replace(_M5_LARGE, hypervisor="xen")),
            metrics={
                **_ON_XEN,
                (WRITTEN_BYTES.total, FIVE_MINUTES_S): [None] * 7_000 + [900.0 * MIB * FIVE_MINUTES_S] * 2 + [None] * 3_078,
                (WRITES.total, FIVE_MINUTES_S): [0.0] * 7_000 + [3_600.0 * FIVE_MINUTES_S] * 2 + [0.0] * 3_078,
            },
            expect=Fine,
            says="used what it pays for",
        ),
        Case(
            title="on a Xen instance, and bytes are missing while there were operations",
            resource=_VOLUME,
            records=(_INSTANCE, replace(_M5_LARGE, hypervisor="xen")),
            metrics={key: values for key, values in _ON_XEN.items() if key[0] != READ_BYTES.total},
            expect=Unknown,
            says="five-minute points",
        ),
        Case(
            title="on bare metal, which publishes peaks as Nitro does",
            resource=_VOLUME,
            records=(_INSTANCE, replace(_M5_LARGE, hypervisor="other")),
            metrics=_CALM,
            expect=Flagged,
            says="busiest minute",
        ),
        Case(
            title="on a stopped instance",
            resource=_VOLUME,
            records=(replace(_INSTANCE, state="stopped"), _M5_LARGE),
            expect=Fine,
            says="stopped",
        ),
        Case(
            title="its instance could not be read",
            resource=_VOLUME,
            unreadable={Instance: "AccessDenied"},
            expect=Unknown,
            says="AccessDenied",
        ),
        Case(
            title="125 MiB/s, as every gp3",
            resource=replace(_VOLUME, throughput_mib_s=125),
            records=_HOST,
            expect=Fine,
            says="includes",
        ),
    ),
)
