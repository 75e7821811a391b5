"""EC2 instances that run and do nothing.

## What it finds
A running instance whose CPU stayed below 5 %, even in its busiest minutes, and whose network moved less than 5 MB a day
in and out together, as in AWS Compute Optimizer. CloudWatch must have recorded each of the last 14 days. The three
weeks before count too if they were recorded, so that a monthly job shows.

## Why it matters
AWS bills a running instance per hour. Trials run for years, because nobody checks that they are still needed.

## When it is wrong
- Some instances wait on purpose: a bastion host, a license server, a standby. Tag them `keep`.
- CPU and network do not show the work of a GPU (low confidence), nor a job on local disks once a quarter.
- An instance that a schedule stops every evening is not flagged.

## What to do
Ask the owner and stop the instance. It can start again, and AWS bills its volumes meanwhile. If nobody misses it for a
month, create an image and terminate it. If another program runs it, change it there. Neither keeps local disks.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from slackwater.model.detector import Detector, Limits, Seen, limit
from slackwater.model.metrics import Metric
from slackwater.model.money import Change, difference, ec2_hour, hours
from slackwater.model.resources import Instance, Volume
from slackwater.model.units import HOUR_S
from slackwater.model.verdicts import Advice, Confidence, Evidence, Fine, Flagged, Line, Unknown, Verdict
from slackwater.performance import ebs as formulas
from slackwater.rules import advice, ebs, ec2, examples
from slackwater.rules.ebs_peaks import added
from slackwater.rules.ec2_network import DIRECTIONS
from slackwater.rules.examples import Cases, days, days_ago

CPU = Metric("AWS/EC2", "CPUUtilization", "Maximum", "percent")
IN, OUT = (way.traffic for way in DIRECTIONS)

MB: Final = 1e6

ACCELERATED: Final = re.compile(r"(p|g|gr|inf|trn|dl|vt|f)\d")
"""Families with a GPU, an FPGA or a special chip (Amazon EC2 Instance Types, "Accelerated computing")."""


class IdleLimits(Limits):
    """When an instance counts as idle."""

    window_days: int = limit(35, unit="days", ge=14, le=450, why="covers a monthly job; CloudWatch keeps 455 days")
    least_days: int = limit(14, unit="days", ge=7, le=450, why="as in Compute Optimizer; two weekly rhythms")
    cpu_percent: float = limit(5, unit="percent", gt=0, le=20, why="as in Compute Optimizer; an empty system uses less")
    network_mb: float = limit(5, unit="MB", gt=0, le=1_000, why="per day, in and out, as in Compute Optimizer")


def judge(instance: Instance, seen: Seen, limits: IdleLimits) -> Verdict:
    """Flag an instance whose busiest minute and busiest day were next to nothing."""
    if instance.state != "running":
        return Fine(f"it is {instance.state}")
    if seen.is_younger(instance.launched_at, days=limits.least_days):
        return Fine(f"it was started less than {limits.least_days} days ago")

    hourly = [seen.if_read(need) for need in ec2.needs(instance, HOUR_S, limits.least_days, IN, OUT)]
    moved_mb = sum(sum(one.present) for one in hourly if one) / MB
    if moved_mb >= limits.network_mb * (limits.least_days + 1):  # these hours touch one day more
        return Fine(f"it moved {moved_mb:,.0f} MB in {limits.least_days} days")
    # Days before the last start count too: if the instance was busy then, someone may need it again.
    (cpu,) = seen.read(*ec2.daily(instance, limits.window_days, CPU))
    if (percent := max(cpu.present, default=0)) >= limits.cpu_percent:
        return Fine(f"its CPU reached {percent:.0f} %")
    if (whole := len(seen.finished(cpu, instance.launched_at))) < limits.least_days:
        return Fine(f"it has run for {whole} whole days")
    received, sent = seen.read(*ec2.daily(instance, limits.window_days, IN, OUT))
    if (busiest_mb := max(added([received, sent]).present, default=0) / MB) >= limits.network_mb:
        return Fine(f"it moved {busiest_mb:,.0f} MB in a day")

    recorded = [seen.finished(one, instance.launched_at) for one in (cpu, received, sent)]
    if missing := max(one.newest(limits.least_days).missing for one in recorded):
        return Unknown(f"CPU or network metrics have no data on {missing} of {limits.least_days} days")
    complete = whole >= limits.window_days and not any(one.missing for one in recorded)
    confidence: Confidence = "low" if ACCELERATED.match(instance.instance_type) else "high" if complete else "medium"
    accelerated = f"{instance.instance_type} has an accelerator, and CPU and network do not show its work."
    price = "Priced for Linux On-Demand. Windows costs more, and AWS bills a Reserved Instance or Savings Plan anyway."
    if instance.lifecycle:
        price = f"It is {instance.lifecycle}, so its price is unknown, and you may not be able to stop it."
    volumes, below = seen.fleet.volumes_of(instance.id), (Line("Idle below", limits.cpu_percent),)
    return Flagged(
        summary=f"{instance.instance_type}: at most {percent:.1f} % CPU and {busiest_mb:.1f} MB a day for {whole} days",
        confidence=confidence,
        evidence=(
            Evidence("Highest CPU of each day", round(percent, 2), "percent", recorded[0], 100, below),
            Evidence("Network on the busiest day", round(busiest_mb, 2), "MB"),
            Evidence("Days without use", whole, "days"),
            Evidence("Running since", f"{instance.launched_at:%Y-%m-%d}", "date"),
            Evidence("Attached volumes", f"{len(volumes)} ({sum(one.size_gib for one in volumes):,} GiB)", "words"),
        ),
        advice=(_stop(instance, volumes, sure=confidence != "low"), _terminate(instance, volumes)),
        fingerprint_inputs=(instance.instance_type, instance.managed_by or ""),
        caveats=advice.caveats((accelerated, confidence == "low"), (price, True)),
    )


def _stop(instance: Instance, volumes: Sequence[Volume], *, sure: bool) -> Advice:
    """Recommend a stop. There is no command if the instance would not start as it was, or a group may replace it."""
    local_disks, unread = ec2.has_local_disks(instance), instance.tags is None
    if instance.managed_by:
        how = f"take it out of {instance.managed_by}, which manages it and may replace a stopped instance."
    elif local_disks:
        how = "copy what you need from its local disks, and stop it. It starts again with empty ones."
    elif unread:
        how = "check whether an Auto Scaling group runs it, because its tags could not be read. Stop it if none does."
    else:
        how = "stop it. It can start again as it was."
    if volumes and not instance.managed_by:
        how += f" AWS bills its EBS volumes ({sum(one.size_gib for one in volumes):,} GiB) meanwhile."
    by_hand = instance.managed_by or instance.lifecycle or unread or local_disks or not sure
    stop = f"aws ec2 stop-instances --region {instance.target.region} --instance-ids {instance.id}"
    return Advice(
        action="stop",
        summary=f"Ask the owner, and {how}",
        changes=None if instance.lifecycle else (Change(ec2_hour(instance.instance_type), hours()),),
        risk=(
            "You lose the data on instance store volumes and in memory. A public address changes unless it is an"
            " Elastic IP address, which AWS bills meanwhile."
        ),
        reversible=not local_disks and not unread,
        command=None if by_hand else stop,
    )


def _terminate(instance: Instance, volumes: Sequence[Volume]) -> Advice:
    billed = [Change(ec2_hour(instance.instance_type), hours())]
    billed += [unit for one in volumes for unit in (*formulas.monthly_units(one), ebs.stored_whole(one))]
    without = " Local disks are not in the image." if ec2.has_local_disks(instance) else ""
    return Advice(
        action="image-and-terminate",
        summary=(
            "If nobody misses it for a month, create an image, wait until it is available, and terminate the"
            " instance. Delete the volumes that remain. The saving assumes that the image stores every block of them."
        ),
        changes=None if instance.lifecycle else difference(billed, ()),
        risk=f"An instance from the image has another ID and other addresses.{without}",
        reversible=not without,
    )


TRIAL = examples.instance(tags={"Name": "codec-trial"}, instance_type="m6i.large", launched_at=days_ago(200))
ROOT = examples.volume(TRIAL, device="/dev/xvda", id="vol-0ffffffffffffffff", size_gib=100)

idle = Cases(TRIAL, {CPU: 2.1, IN: 1.1 * MB, OUT: 0.9 * MB}, records=(ROOT,))
USED_BEFORE: dict[str, Any] = {"launched_at": days_ago(20), "metrics": {CPU: days(2.1, {range(25, 30): 70.0})}}
busy = "its CPU reached"

DETECTOR = Detector(
    title="EC2 instance that does nothing",
    kind="waste",
    resource=Instance,
    limits=IdleLimits,
    reads_if_allowed=(Volume,),
    judge=judge,
    judge_last=True,
    cases=(
        idle("five weeks of next to nothing", Flagged, "m6i.large: at most 2.1 % CPU and 2.0 MB a day for 35 days"),
        idle("started 20 days ago, and not used since", Flagged, "for 19 days", launched_at=days_ago(20)),
        idle("three days without a point, three weeks ago", Flagged, metrics={CPU: days(2.1, {range(20, 23): None})}),
        idle("an instance of an Auto Scaling group", Flagged, tags={"aws:autoscaling:groupName": "workers"}),
        idle("a Spot Instance", Flagged, "It is spot, so its price is unknown", lifecycle="spot"),
        idle("a GPU, whose work does not show", Flagged, instance_type="g5.xlarge"),
        idle("local disks, which a stop erases", Flagged, instance_type="i4i.large"),
        idle("its tags could not be read", Flagged, tags=None),
        idle("a job on one day a month", Fine, f"{busy} 80 %", metrics={CPU: days(2.1, {27: 80.0})}),
        idle("someone logged in this morning", Fine, f"{busy} 30 %", metrics={CPU: days(2.1, {0: 30.0})}),
        idle("3 MB in and 3 MB out", Fine, "6 MB in a day", metrics={IN: 3 * MB, OUT: 3 * MB}),
        idle("a copy of 50 MB on one day", Fine, "51 MB in a day", metrics={OUT: days(0.9 * MB, {30: 50 * MB})}),
        idle("started three days ago", Fine, "less than 14 days ago", launched_at=days_ago(3)),
        idle("used until it was stopped and started, 20 days ago", Fine, f"{busy} 70 %", **USED_BEFORE),
        idle("a day without a point last week", Unknown, "1 of 14 days", metrics={IN: days(1.1 * MB, {4: None})}),
        idle("no metrics", Unknown, "14 of 14 days", metrics=dict.fromkeys((CPU, IN, OUT))),
        idle("stopped", Fine, "stopped", state="stopped"),
    ),
)
