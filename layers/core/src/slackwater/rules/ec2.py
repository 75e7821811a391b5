"""EC2: metrics and recommendations that several detectors share."""

from __future__ import annotations

import re
from typing import Final

from slackwater.model.detector import Seen
from slackwater.model.metrics import Metric, Need
from slackwater.model.money import Change, ec2_hour, hours
from slackwater.model.resources import Instance, InstanceType
from slackwater.model.units import DAY_S
from slackwater.model.verdicts import Advice
from slackwater.performance import ebs
from slackwater.performance.ebs import Allowance

LOCAL_DISKS: Final = re.compile(
    r"[a-z]+\d+[a-z]*d|(i|im|is|d)\d|(h1|hs1|x1e?|f[12]|g2|g[56]e?|g6f|gr6f?|p[56][a-z-]*|trn\d)[.n]"
    r"|([cm]1|m2|[cmr]3|cc2|cr1)\."
)
"""Types with instance store volumes: a d after the generation, and families of storage, accelerators and the past.

Source: Amazon EC2 User Guide, "Instance store volume limits".
"""


def has_local_disks(instance: Instance) -> bool:
    """Whether its type has instance store volumes, which a stop erases."""
    return LOCAL_DISKS.match(instance.instance_type) is not None


def daily(instance: Instance, days: float, *metrics: Metric) -> list[Need]:
    """These metrics of the last `days`, with a point for each day."""
    return needs(instance, DAY_S, days, *metrics)


def needs(instance: Instance, period_s: int, days: float, *metrics: Metric) -> list[Need]:
    """These metrics of the last `days`, with a point for each period."""
    return [metric.need(("InstanceId", instance.id), period_s=period_s, days=days) for metric in metrics]


def change_type(instance: Instance, instance_type: str, summary: str, changes: tuple[Change, ...] | None) -> Advice:
    """Stop it, change its type, start it; without a command where that is not for a command to do (`restart`).

    Of what is not on demand nobody knows the price.
    """
    change = (
        f"aws ec2 modify-instance-attribute --region {instance.target.region} --instance-id {instance.id}"
        f" --instance-type Value={instance_type}"
    )
    return Advice(
        action=f"change-instance-type-to-{instance_type}",
        summary=f"{summary}{not_by_command(instance)}",
        changes=None if instance.lifecycle else changes,
        risk=(
            "A stop and a start: minutes of downtime, and a new public address unless it is an Elastic IP."
            + local_data(instance)
        ),
        reversible=True,
        command=restart(instance, change),
    )


def restart(instance: Instance, change: str) -> str | None:
    """Stop it, change it, start it; None where it may be replaced when it is stopped, or cannot be stopped."""
    these = f"--region {instance.target.region} --instance-ids {instance.id}"
    if not_by_command(instance):
        return None
    steps = (
        f"aws ec2 stop-instances {these}",
        f"aws ec2 wait instance-stopped {these}",
        change,
        f"aws ec2 start-instances {these}",
    )
    return " && ".join(steps)


def not_by_command(instance: Instance) -> str:
    """A sentence that says why it is not to be stopped by a command; empty where it may be.

    An Auto Scaling group replaces a member that is stopped, and only a tag tells of the group.
    """
    if owner := instance.managed_by:
        return f" Change it in {owner}, which manages it."
    if instance.tags is None:
        return " Its tags could not be read: an Auto Scaling group, if it is in one, would replace it once it is stopped."
    if instance.lifecycle:
        return f" It is {instance.lifecycle}: it may not be possible to stop it, so start another in its place."
    return ""


def local_data(instance: Instance) -> str:
    """A sentence that says what a stop loses; empty where its type has no disks of its own."""
    return " What is on its local disks (instance store) is lost." if has_local_disks(instance) else ""


def larger(instance: Instance, this: InstanceType, needed: Allowance, seen: Seen, *, when: str, what: str) -> Advice | None:
    """To the smallest size of its family whose baseline carries `needed`; None where there is none, or it is this one.

    `when` opens the sentence ("If the slow hours hurt"), and `what` says what is carried.
    """
    family = (one for one in seen.fleet.all(InstanceType) if one.family == this.family)
    found = ebs.smallest_that_carries(family, needed)
    if found is None or found.id == this.id:
        return None
    return change_type(
        instance,
        found.id,
        f"{when}: {found.id}, the smallest {this.family} whose baseline carries {what}.",
        (Change(ec2_hour(this.id), hours()), Change(ec2_hour(found.id), -hours())),
    )
