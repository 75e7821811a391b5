"""gp3 volumes with far more throughput than they ever used.

## What it finds
An attached gp3 volume that pays for throughput above the 125 MiB/s included, and whose busiest minute of the last 14 days
stayed below 40 % of it. The *peak* counts, reads and writes together: an average, or even a 99th percentile, would miss a
ten-minute batch at night. CloudWatch's own exceeded check must not have raised once.

## Why it matters
Throughput is billed by the MiB/s a month, used or not. Often it was bought for a restore or a migration that is over, or the
instance could never carry it ("The performance of EBS-optimised instances", 2017-07-10).

## When it is wrong
A quarterly batch needs more than 14 days can show: lengthen `window_days`, up to 60. A day without metrics makes the answer
unknown. On Xen instances CloudWatch has no per-minute peaks; five-minute sums stand in, and the confidence is low.

## What to do
Lower the throughput to the suggested value: online, without a restart, and at most four changes of a volume in 24 hours.
Raise it again the same way.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import chain
from math import isnan
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Need, Series
from slackwater.model.money import EBS_GP3_THROUGHPUT, Change, size_class
from slackwater.model.resources import Attachment, Instance, InstanceType, Target, Volume
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, MIB, MINUTE_S
from slackwater.model.verdicts import Advice, Ask, Confidence, Evidence, Fine, Flagged, Unknown, Verdict
from slackwater.performance import ebs

READ_PEAK = Metric("AWS/EBS", "VolumeReadBytes", "Maximum", "bytes a minute")
WRITE_PEAK = Metric("AWS/EBS", "VolumeWriteBytes", "Maximum", "bytes a minute")
READ = Metric("AWS/EBS", "VolumeReadBytes", "Sum", "bytes")
WRITTEN = Metric("AWS/EBS", "VolumeWriteBytes", "Sum", "bytes")
EXCEEDED = Metric("AWS/EBS", "VolumeThroughputExceededCheck", "Maximum", "0 or 1")


class SurplusThroughputLimits(Limits):
    """How far below its setting a volume must stay, and what it keeps."""

    window_days: int = limit(14, unit="days", ge=7, le=60, why="two weekly rhythms; five-minute points are kept 63 days")
    peak_percent: float = limit(40, unit="percent", gt=0, lt=100, why="a doubled load still fits")
    headroom_percent: float = limit(20, unit="percent", ge=0, le=400, why="kept above the busiest minute")


def judge(volume: Volume, seen: Seen, limits: SurplusThroughputLimits) -> Verdict:
    """Flag a gp3 volume whose busiest minute stayed far below the throughput it pays for."""
    provisioned = volume.throughput_mib_s
    if volume.volume_type != "gp3":
        return Fine(f"{volume.volume_type} has no throughput of its own")
    if provisioned is None:
        return Unknown("EC2 did not say its throughput")
    if provisioned <= ebs.GP3_INCLUDED_MIB_S:
        return Fine("it has the throughput that every gp3 includes")
    if not volume.attachments:
        return Fine("it is on no instance")
    instance = seen.fleet.get(Instance, volume.attachments[0].instance_id)
    instance_type = seen.fleet.get(InstanceType, instance.instance_type) if instance else None
    if not instance or not instance_type:
        return Unknown(f"its instance {volume.attachments[0].instance_id} is not in the inventory")
    if instance.state != "running":
        return Fine(f"its instance is {instance.state}: there is no I/O to judge by")
    judge_one = _judge_xen if instance_type.hypervisor == "xen" else _judge_nitro
    return judge_one(volume, provisioned, instance_type, seen, limits)


def _judge_nitro(
    volume: Volume, provisioned: int, instance_type: InstanceType, seen: Seen, limits: SurplusThroughputLimits
) -> Verdict:
    """Nitro publishes the busiest minute of every day; the peaks of reads and writes added are an upper bound."""
    ceiling = provisioned * limits.peak_percent / 100
    by_day = tuple(_need(volume, metric, DAY_S, limits) for metric in (READ_PEAK, WRITE_PEAK))
    if lacking := seen.lacking(by_day):
        return Ask(lacking)
    if unwatched := _unwatched(volume, seen, [seen[need] for need in by_day]):
        return unwatched
    read, written = (seen[need] for need in by_day)
    if max(chain(read.present, written.present)) / MINUTE_S / MIB >= ceiling:
        return Fine("it used what it pays for")
    needs = tuple(_exceeded(volume, attachment.instance_id, limits) for attachment in volume.attachments)
    peaks = _added(read, written, MINUTE_S)
    if max(peaks.present) >= ceiling:  # read and write peaks may lie hours apart: look closer
        by_five_minutes = tuple(_need(volume, metric, FIVE_MINUTES_S, limits) for metric in (READ_PEAK, WRITE_PEAK))
        if lacking := seen.lacking([*by_five_minutes, *needs]):
            return Ask(lacking)
        read_closer, written_closer = (seen[need] for need in by_five_minutes)
        peaks = _added(_bounded(read_closer, read), _bounded(written_closer, written), MINUTE_S)
        if max(peaks.present) >= ceiling:
            return Fine("it used what it pays for, reads and writes together")
    elif lacking := seen.lacking(needs):
        return Ask(lacking)
    checks = [seen[need] for need in needs]
    if any(max(check.present, default=0) >= 1 for check in checks):
        return Fine("CloudWatch saw it exceed its throughput")
    confidence: Confidence = "high" if all(check.present for check in checks) else "medium"
    return _flag(volume, provisioned, instance_type, peaks, limits, confidence)


def _judge_xen(
    volume: Volume, provisioned: int, instance_type: InstanceType, seen: Seen, limits: SurplusThroughputLimits
) -> Verdict:
    """Xen publishes no per-minute peaks, so five-minute means stand in."""
    needs = tuple(_need(volume, metric, FIVE_MINUTES_S, limits) for metric in (READ, WRITTEN))
    if lacking := seen.lacking(needs):
        return Ask(lacking)
    means = _added(seen[needs[0]], seen[needs[1]], FIVE_MINUTES_S)
    if _attached_since(volume).timestamp() > means.start_s:
        return Unknown(f"it was attached less than {limits.window_days} days ago")
    if not means.present:
        return Unknown("VolumeReadBytes and VolumeWriteBytes have no point: on Xen that is idleness or no telemetry")
    if max(means.present) >= provisioned * limits.peak_percent / 100:
        return Fine("it used what it pays for")
    return _flag(volume, provisioned, instance_type, means, limits, "low")


def _need(volume: Volume, metric: Metric, period_s: int, limits: SurplusThroughputLimits) -> Need:
    return metric.need(("VolumeId", volume.id), period_s=period_s, days=limits.window_days)


def _exceeded(volume: Volume, instance_id: str, limits: SurplusThroughputLimits) -> Need:
    return EXCEEDED.need(("InstanceId", instance_id), ("VolumeId", volume.id), period_s=DAY_S, days=limits.window_days)


def _unwatched(volume: Volume, seen: Seen, series: list[Series]) -> Unknown | None:
    since = _attached_since(volume)
    for one in series:
        wanted, had = len(seen.finished(one, one.start)), seen.finished(one, since)
        if len(had) - had.missing < wanted:
            return Unknown(f"VolumeReadBytes or VolumeWriteBytes has {len(had) - had.missing} of {wanted} days")
    return None


def _attached_since(volume: Volume) -> datetime:
    return max([volume.created_at, *(a.attached_at for a in volume.attachments if a.attached_at)])


def _bounded(five_minutes: Series, by_day: Series) -> Series:
    """Five-minute peaks; where a point is missing, the peak of its day stands in, which is never too low."""
    if not five_minutes.missing:
        return five_minutes
    days = [(five_minutes.start_s + i * FIVE_MINUTES_S - by_day.start_s) // DAY_S for i in range(len(five_minutes))]
    filled = (by_day.values[d] if isnan(v) else v for v, d in zip(five_minutes.values, days, strict=True))
    return Series.of(five_minutes.start_s, FIVE_MINUTES_S, filled)


def _added(read: Series, written: Series, per_s: int) -> Series:
    """Reads and writes together in MiB/s; one without a point in a period counts as nothing, both without as missing."""
    return Series.of(
        read.start_s,
        read.period_s,
        [
            None if isnan(r) and isnan(w) else ((0 if isnan(r) else r) + (0 if isnan(w) else w)) / per_s / MIB
            for r, w in zip(read.values, written.values, strict=True)
        ],
    )


def _flag(
    volume: Volume,
    provisioned: int,
    instance_type: InstanceType,
    mib_per_s: Series,
    limits: SurplusThroughputLimits,
    confidence: Confidence,
) -> Verdict:
    peak = max(mib_per_s.present)
    target = ebs.gp3_throughput_for(peak, limits.headroom_percent)
    if target >= provisioned:
        return Fine("what it needs with headroom is what it has")
    evidence = [
        Evidence(label="Provisioned throughput", value=provisioned, unit="MiB/s"),
        Evidence(
            label=f"Busiest of {limits.window_days} days",
            value=round(peak, 1),
            unit="MiB/s",
            series=mib_per_s,
            scale=provisioned,
        ),
        Evidence(label="Provisioned IOPS", value=volume.iops or ebs.GP3_INCLUDED_IOPS, unit="IOPS"),
    ]
    if instance_type.ebs_maximum_mbps:
        carried = instance_type.ebs_maximum_mbps * 1e6 / 8 / MIB
        evidence.append(Evidence(label=f"What {instance_type.id} carries at most", value=round(carried, 1), unit="MiB/s"))
    xen = mib_per_s.period_s == FIVE_MINUTES_S and confidence == "low"
    return Flagged(
        summary=(
            f"{provisioned:,} MiB/s provisioned, and the busiest {'five minutes' if xen else 'minute'} of"
            f" {limits.window_days} days moved {peak:,.1f} MiB/s: {target:,} would do"
        ),
        confidence=confidence,
        evidence=tuple(evidence),
        advice=(
            Advice(
                action="lower-throughput",
                summary=f"Set {target:,} MiB/s: the peak and {limits.headroom_percent:g} % more. IOPS stay as they are.",
                changes=(Change(EBS_GP3_THROUGHPUT, Decimal(provisioned - target)),),
                risk="A load that comes less often than the window would be slowed until it is raised again.",
                reversible=True,
                command=(
                    f"aws ec2 modify-volume --volume-id {volume.id} --region {volume.target.region} --volume-type gp3"
                    f" --iops {volume.iops or ebs.GP3_INCLUDED_IOPS} --throughput {target}"
                ),
            ),
        ),
        gist=(provisioned, size_class(target)),
        caveats=("Five-minute means hide shorter peaks.",) if xen else (),
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


_CALM: Final = {
    (READ_PEAK, DAY_S): [_minute(40)] * 15,
    (WRITE_PEAK, DAY_S): [_minute(20)] * 15,
    (EXCEEDED, DAY_S): [0.0] * 15,
}
_FIVE_MINUTE_POINTS: Final = 14 * 288

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
            says="moved 60.0 MiB/s: 125 would do",
        ),
        Case(
            title="a ten-minute batch at full throughput every night",
            resource=_VOLUME,
            records=_HOST,
            metrics={**_CALM, (READ_PEAK, DAY_S): [_minute(980)] * 15},
            expect=Fine,
            says="used what it pays for",
        ),
        Case(
            title="one busy night in two weeks",
            resource=_VOLUME,
            records=_HOST,
            metrics={**_CALM, (WRITE_PEAK, DAY_S): [_minute(20)] * 9 + [_minute(700)] + [_minute(20)] * 5},
            expect=Fine,
        ),
        Case(
            title="the exceeded check raised once",
            resource=_VOLUME,
            records=_HOST,
            metrics={**_CALM, (EXCEEDED, DAY_S): [0.0] * 14 + [1.0]},
            expect=Fine,
            says="exceed",
        ),
        Case(
            title="reads by day and writes by night, each below the line",
            resource=_VOLUME,
            records=_HOST,
            metrics={
                (READ_PEAK, DAY_S): [_minute(300)] * 15,
                (WRITE_PEAK, DAY_S): [_minute(200)] * 15,
                (READ_PEAK, FIVE_MINUTES_S): ([_minute(300)] * 6 + [0.0] * 282) * 14,
                (WRITE_PEAK, FIVE_MINUTES_S): ([0.0] * 144 + [_minute(200)] * 6 + [0.0] * 138) * 14,
                (EXCEEDED, DAY_S): [0.0] * 15,
            },
            expect=Flagged,
            says="300.0 MiB/s: 360 would do",
        ),
        Case(
            title="reads and writes in the same minute, together above the line",
            resource=_VOLUME,
            records=_HOST,
            metrics={
                (READ_PEAK, DAY_S): [_minute(300)] * 15,
                (WRITE_PEAK, DAY_S): [_minute(200)] * 15,
                (READ_PEAK, FIVE_MINUTES_S): [_minute(300)] * _FIVE_MINUTE_POINTS,
                (WRITE_PEAK, FIVE_MINUTES_S): [_minute(200)] * _FIVE_MINUTE_POINTS,
                (EXCEEDED, DAY_S): [0.0] * 15,
            },
            expect=Fine,
            says="together",
        ),
        Case(
            title="a day without metrics",
            resource=_VOLUME,
            records=_HOST,
            metrics={**_CALM, (READ_PEAK, DAY_S): [_minute(40)] * 7 + [None] + [_minute(40)] * 7},
            expect=Unknown,
            says="13 of 14 days",
        ),
        Case(title="no metrics at all", resource=_VOLUME, records=_HOST, expect=Unknown, says="0 of 14 days"),
        Case(
            title="attached four days ago",
            resource=replace(
                _VOLUME,
                attachments=(replace(_VOLUME.attachments[0], attached_at=CASE_NOW - timedelta(days=4)),),
            ),
            records=_HOST,
            metrics=_CALM,
            expect=Unknown,
            says="3 of 14 days",
        ),
        Case(
            title="on a Xen instance, by five-minute means",
            resource=_VOLUME,
            records=(_INSTANCE, replace(_M5_LARGE, hypervisor="xen")),
            metrics={(READ, FIVE_MINUTES_S): [30.0 * MIB * FIVE_MINUTES_S] * _FIVE_MINUTE_POINTS},
            expect=Flagged,
            says="five minutes",
        ),
        Case(
            title="on a Xen instance for an hour",
            resource=replace(
                _VOLUME, attachments=(replace(_VOLUME.attachments[0], attached_at=CASE_NOW - timedelta(hours=1)),)
            ),
            records=(_INSTANCE, replace(_M5_LARGE, hypervisor="xen")),
            metrics={(READ, FIVE_MINUTES_S): [30.0 * MIB * FIVE_MINUTES_S] * 12},
            expect=Unknown,
            says="attached less than 14 days ago",
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
