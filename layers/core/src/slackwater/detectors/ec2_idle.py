"""EC2 instances that run and do nothing.

## What it finds
A running instance whose CPU stayed below 5 %, even in its busiest minutes, and whose network moved less than 5 MB a day, in and
out together: AWS Compute Optimizer's rule. The last 14 days have to be there, whole; the three weeks before them are looked at
too, where they are there, so that a monthly job shows. The instance must have run for those 14 days: Compute Optimizer is
content with 30 hours of data, which say nothing of the rest of a week.

## Why it matters
A running instance is billed by the hour, whatever it does. Test machines, trials and the second half of a migration run on for
years, because nobody dares to stop what may be somebody's.

## When it is wrong
Some instances wait on purpose: a bastion, a licence server, a standby. Tag them `keep`. CPU and network do not show what a GPU
does (such types are of low confidence), nor a job that only works on local disks once a quarter. An instance that a schedule
stops every evening is never idle for 14 days on end, and is not seen. A day without a point makes the answer unknown.

## What to do
Ask the owner. Stop it: it starts again as it was, and its volumes stay, and stay billed. If nobody misses it, make an image
and terminate it. What an Auto Scaling group or another program runs, change there: it would start another. Local disks are the
exception: a stop empties them, and an image leaves them out. No command is given there, at low confidence, and where the tags,
which would name such a group, could not be read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Final

from slackwater.model.detector import CASE_NOW, Case, Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import EBS_SNAPSHOT_STORAGE, Change, difference, ec2_hour, hours
from slackwater.model.resources import Attachment, Instance, Target, Volume
from slackwater.model.units import DAY_S
from slackwater.model.verdicts import Advice, Ask, Confidence, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import ebs
from slackwater.rules.ec2 import LOCAL_DISKS

CPU = Metric("AWS/EC2", "CPUUtilization", "Maximum", "percent")
IN = Metric("AWS/EC2", "NetworkIn", "Sum", "bytes")
OUT = Metric("AWS/EC2", "NetworkOut", "Sum", "bytes")

MB: Final = 1e6

ACCELERATED: Final = re.compile(r"(p|g|gr|inf|trn|dl|vt|f)\d")
"""Families with a GPU, an FPGA, or a chip for inference, training or media (EC2 instance types, "Accelerated computing")."""


class IdleLimits(Limits):
    """When an instance does nothing."""

    window_days: int = limit(35, unit="days", ge=14, le=450, why="covers a monthly job; CloudWatch keeps 455 days")
    least_days: int = limit(14, unit="days", ge=7, le=450, why="Compute Optimizer's look-back: two weekly rhythms")
    cpu_percent: float = limit(5, unit="percent", gt=0, le=20, why="Compute Optimizer's: what an empty system does by itself")
    network_mb: float = limit(5, unit="MB", gt=0, le=1_000, why="a day, in and out: Compute Optimizer's")


@dataclass(frozen=True, slots=True)
class Quiet:
    """How little it did."""

    cpu: Series
    """The highest percent of each whole day."""
    cpu_peak: float
    network_peak_mb: float
    """On its busiest day."""
    complete: bool
    """Whether every day of the window is there."""


def judge(instance: Instance, seen: Seen, limits: IdleLimits) -> Verdict:
    """Flag an instance whose busiest minute and busiest day were next to nothing."""
    if instance.state != "running":
        return Fine(f"it is {instance.state}")
    if seen.age(instance.launched_at) < timedelta(days=limits.least_days):
        return Fine(f"it was started less than {limits.least_days} days ago: its week is not known yet")

    cpu, *network = (
        metric.need(("InstanceId", instance.id), period_s=DAY_S, days=limits.window_days) for metric in (CPU, IN, OUT)
    )
    if lacking := seen.lacking([cpu]):
        return Ask(lacking)
    # Days from before its last start count as use, if it was used: it may be needed again.
    if (cpu_peak := max(seen[cpu].present, default=0)) >= limits.cpu_percent:
        return Fine(f"its CPU reached {cpu_peak:.0f} %")
    whole = len(seen.finished(seen[cpu], instance.launched_at))
    if whole < limits.least_days:
        return Fine(f"it has run for {whole} whole days: its week is not known yet")
    if lacking := seen.lacking(network):
        return Ask(lacking)
    network_peak_mb = _peak(*(seen[need] for need in network)) / MB
    if network_peak_mb >= limits.network_mb:
        return Fine(f"it moved {network_peak_mb:,.0f} MB in a day")

    days = [seen.finished(seen[need], instance.launched_at) for need in (cpu, *network)]
    newest = [series.since(series.end_s - limits.least_days * DAY_S) for series in days]
    if missing := max(series.missing for series in newest):
        names = "CPUUtilization, NetworkIn or NetworkOut"
        return Unknown(f"{names} has no point on {missing} of {limits.least_days} days: nobody knows what it did")
    complete = whole >= limits.window_days and not any(series.missing for series in days)
    return _flag(instance, seen, Quiet(days[0], cpu_peak, network_peak_mb, complete), limits)


def _peak(received: Series, sent: Series) -> float:
    """Bytes of the busiest day, in and out together; a day without a point has none."""
    days = zip(received.optional(), sent.optional(), strict=True)
    return max(((a or 0) + (b or 0) for a, b in days), default=0)


def _flag(instance: Instance, seen: Seen, quiet: Quiet, limits: IdleLimits) -> Flagged:
    accelerated, owner = ACCELERATED.match(instance.instance_type), instance.managed_by
    volumes = seen.fleet.volumes_of(instance.id)
    size_gib = sum(volume.size_gib for volume in volumes)
    confidence: Confidence = "low" if accelerated else "high" if quiet.complete else "medium"
    caveats = [
        "Some instances wait on purpose: a bastion, a licence server, a standby. Tag them keep.",
        "Priced for Linux on demand: Windows costs more; a Reserved Instance or Savings Plan is paid on, used or not.",
    ]
    if accelerated:
        caveats.append(f"{instance.instance_type} has an accelerator, whose work neither CPU nor network shows.")
    if instance.tags is None:
        caveats.append("Its tags could not be read: where an Auto Scaling group runs it, a stop makes the group replace it.")
    if owner:
        caveats.append(f"It is managed by {owner}: change it there; what is stopped behind its back may be replaced.")
    if instance.lifecycle:
        caveats.append(f"It is {instance.lifecycle}: what its hours cost is not known, and it may not be possible to stop it.")
    return Flagged(
        summary=(
            f"{instance.instance_type}: CPU at {quiet.cpu_peak:.1f} % and network at {quiet.network_peak_mb:.1f} MB a day, at"
            f" most, for {len(quiet.cpu)} days"
        ),
        confidence=confidence,
        evidence=(
            Evidence(
                label="Highest CPU of each day",
                value=round(quiet.cpu_peak, 2),
                unit="percent",
                series=quiet.cpu,
                scale=100,
                lines=(Line("Idle below", limits.cpu_percent),),
            ),
            Evidence(label="Network on its busiest day", value=round(quiet.network_peak_mb, 2), unit="MB"),
            Evidence(label="Days without use", value=len(quiet.cpu), unit="days"),
            Evidence(label="Running since", value=f"{instance.launched_at:%Y-%m-%d}", unit="date"),
            Evidence(label="Volumes on it", value=f"{len(volumes)} ({size_gib:,} GiB)", unit="words"),
        ),
        advice=_advice(instance, volumes, owner, confidence),
        gist=(instance.instance_type, owner or ""),
        caveats=tuple(caveats),
    )


def _advice(instance: Instance, volumes: Sequence[Volume], owner: str | None, confidence: Confidence) -> tuple[Advice, ...]:
    """Stop it; or make an image and terminate it, which only a person does. Of what is not on demand nobody knows the price.

    A command only stops what starts again as it was, and what nobody starts anew.
    """
    local_disks = bool(LOCAL_DISKS.match(instance.instance_type))
    by_hand = owner or instance.lifecycle or instance.tags is None or local_disks or confidence == "low"
    running = (Change(ec2_hour(instance.instance_type), hours()),)
    disks = [unit for volume in volumes for unit in ebs.monthly_units(volume)]
    image = [Change(EBS_SNAPSHOT_STORAGE, Decimal(volume.size_gib)) for volume in volumes]
    size_gib = sum(volume.size_gib for volume in volumes)
    stays = f" What it has on EBS ({size_gib:,} GiB) stays, and stays billed." if volumes else ""
    if owner:
        stop = f"Ask the owner, and take it out of {owner}, which manages it."
    elif local_disks:
        stop = f"Ask the owner, copy what is needed from its local disks, and stop it: it starts again with empty ones.{stays}"
    elif instance.tags is None:
        stop = f"Ask the owner, look whether an Auto Scaling group runs it, and stop it if none does.{stays}"
    else:
        stop = f"Ask the owner, and stop it: it starts again as it was.{stays}"
    return (
        Advice(
            action="stop",
            summary=stop,
            changes=None if instance.lifecycle else running,
            risk=(
                "What is on instance store volumes, or only in memory, is gone; a public address that is no Elastic IP changes,"
                " and an Elastic IP stays billed."
            ),
            reversible=not local_disks and instance.tags is not None,
            command=None
            if by_hand
            else f"aws ec2 stop-instances --region {instance.target.region} --instance-ids {instance.id}",
        ),
        Advice(
            action="image-and-terminate",
            summary=(
                "When nobody has missed it for a month: make an image, wait until it is available, and terminate the instance;"
                " delete the volumes that stay behind (priced as if every block of them were in use)."
            ),
            changes=None if instance.lifecycle else difference((*running, *disks), image),
            risk="An instance made from the image has another id and other addresses."
            + (" Local disks are not in it." if local_disks else ""),
            reversible=not local_disks,
        ),
    )


_TRIAL = Instance(
    id="i-0ffffffffffffffff",
    arn="arn:aws:ec2:ap-northeast-1:123456789012:instance/i-0ffffffffffffffff",
    target=Target("123456789012", "ap-northeast-1"),
    tags={"Name": "codec-trial"},
    instance_type="m6i.large",
    state="running",
    launched_at=CASE_NOW - timedelta(days=200),
    stopped_at=None,
    detailed_monitoring=False,
    root_device="/dev/xvda",
)
_ROOT = Volume(
    id="vol-0ffffffffffffffff",
    arn="arn:aws:ec2:ap-northeast-1:123456789012:volume/vol-0ffffffffffffffff",
    target=_TRIAL.target,
    tags={},
    volume_type="gp3",
    size_gib=100,
    iops=3000,
    throughput_mib_s=125,
    state="in-use",
    created_at=_TRIAL.launched_at,
    availability_zone="ap-northeast-1a",
    multi_attach=False,
    attachments=(Attachment(instance_id=_TRIAL.id, device="/dev/xvda", attached_at=_TRIAL.launched_at),),
)

type _Values = dict[tuple[Metric, int], list[float | None]]


def _days(percent: float | None, mb_in: float | None, mb_out: float | None) -> _Values:
    """Every day of the window the same; today's follows."""
    values = {CPU: percent, IN: mb_in and mb_in * MB, OUT: mb_out and mb_out * MB}
    return {(metric, DAY_S): [value] * 36 for metric, value in values.items() if value is not None}


def _but(values: _Values, metric: Metric, days_ago: int, value: float | None, count: int = 1) -> _Values:
    """The same, but for some days: the last of them so many days ago."""
    changed = [*values[metric, DAY_S]]
    changed[36 - days_ago - count : 36 - days_ago] = [value] * count
    return {**values, (metric, DAY_S): changed}


_NOTHING = _days(2.1, 1.1, 0.9)

DETECTOR = Detector(
    title="EC2 instance that does nothing",
    kind="waste",
    resource=Instance,
    limits=IdleLimits,
    reads_if_allowed=(Volume,),
    judge=judge,
    cases=(
        Case(
            title="five weeks of next to nothing",
            resource=_TRIAL,
            records=(_ROOT,),
            metrics=_NOTHING,
            expect=Flagged,
            says="m6i.large: CPU at 2.1 % and network at 2.0 MB a day, at most, for 35 days",
        ),
        Case(
            title="started 20 days ago, and not used since",
            resource=replace(_TRIAL, launched_at=CASE_NOW - timedelta(days=20)),
            metrics=_NOTHING,
            expect=Flagged,
            says="for 19 days",
        ),
        Case(
            title="three days, three weeks ago, without a point",
            resource=_TRIAL,
            metrics=_but(_NOTHING, CPU, 20, None, count=3),
            expect=Flagged,
        ),
        Case(
            title="an instance of an Auto Scaling group",
            resource=replace(_TRIAL, tags={"aws:autoscaling:groupName": "workers"}),
            metrics=_NOTHING,
            expect=Flagged,
        ),
        Case(
            title="a spot instance",
            resource=replace(_TRIAL, lifecycle="spot"),
            metrics=_NOTHING,
            expect=Flagged,
        ),
        Case(
            title="a GPU, whose work does not show",
            resource=replace(_TRIAL, instance_type="g5.xlarge"),
            metrics=_NOTHING,
            expect=Flagged,
        ),
        Case(
            title="local disks, which a stop empties",
            resource=replace(_TRIAL, instance_type="i4i.large"),
            metrics=_NOTHING,
            expect=Flagged,
        ),
        Case(
            title="its tags could not be read",
            resource=replace(_TRIAL, tags=None),
            metrics=_NOTHING,
            expect=Flagged,
        ),
        Case(
            title="five minutes of work every night",
            resource=_TRIAL,
            metrics=_days(60, 1, 1),
            expect=Fine,
            says="its CPU reached 60 %",
        ),
        Case(
            title="a job on one day a month",
            resource=_TRIAL,
            metrics=_but(_NOTHING, CPU, 27, 80),
            expect=Fine,
            says="its CPU reached 80 %",
        ),
        Case(
            title="somebody logged in this morning",
            resource=_TRIAL,
            metrics=_but(_NOTHING, CPU, 0, 30),
            expect=Fine,
            says="its CPU reached 30 %",
        ),
        Case(
            title="a relay: no CPU to speak of, and 400 MB a day",
            resource=_TRIAL,
            metrics=_days(2, 200, 200),
            expect=Fine,
            says="400 MB in a day",
        ),
        Case(
            title="3 MB in and 3 MB out",
            resource=_TRIAL,
            metrics=_days(2, 3, 3),
            expect=Fine,
            says="6 MB in a day",
        ),
        Case(
            title="a copy of 50 MB, once in the five weeks",
            resource=_TRIAL,
            metrics=_but(_NOTHING, OUT, 30, 50 * MB),
            expect=Fine,
            says="51 MB in a day",
        ),
        Case(
            title="started three days ago",
            resource=replace(_TRIAL, launched_at=CASE_NOW - timedelta(days=3)),
            expect=Fine,
            says="less than 14 days ago",
        ),
        Case(
            title="used until it was stopped and started, 20 days ago",
            resource=replace(_TRIAL, launched_at=CASE_NOW - timedelta(days=20)),
            metrics=_but(_NOTHING, CPU, 25, 70, count=5),
            expect=Fine,
            says="its CPU reached 70 %",
        ),
        Case(
            title="a day without a point, last week",
            resource=_TRIAL,
            metrics=_but(_NOTHING, IN, 4, None),
            expect=Unknown,
            says="no point on 1 of 14 days",
        ),
        Case(title="no metrics", resource=_TRIAL, expect=Unknown, says="no point on 14 of 14 days"),
        Case(title="stopped", resource=replace(_TRIAL, state="stopped"), expect=Fine, says="stopped"),
    ),
)
