"""EC2: metrics and recommendations that several detectors share."""

import re
from typing import Final

from slackwater.model.detector import Seen
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import Change, ec2_hour, hours
from slackwater.model.resources import Instance, InstanceType
from slackwater.model.verdicts import Advice
from slackwater.performance import ebs
from slackwater.rules.series import Reader

_READER: Final = Reader("InstanceId")
daily, needs = _READER.daily, _READER.needs

LOCAL_DISKS: Final = re.compile(
    r"[a-z]+\d+[a-z]*d|(i|im|is|d)\d|(h1|hs1|x1e?|f[12]|g2|g[56]e?|g6f|gr6f?|p[56][a-z-]*|trn\d)[.n]"
    r"|([cm]1|m2|[cmr]3|cc2|cr1)\."
)
"""Types with instance store volumes: a d after the generation, and storage, accelerated and old families.

Source: Amazon EC2 User Guide, "Instance store volume limits"."""


def has_local_disks(instance: Instance) -> bool:
    """Return whether its type has instance store volumes, which a stop erases."""
    return LOCAL_DISKS.match(instance.instance_type) is not None


def read_since_start(instance: Instance, seen: Seen, period_s: int, days: float, *metrics: Metric) -> list[Series]:
    """Return the series of these metrics since the last start: before it, the type may have been another one."""
    started_s = instance.launched_at.timestamp()
    return [series.since(started_s) for series in seen.read(*needs(instance, period_s, days, *metrics))]


def change_type(instance: Instance, instance_type: str, summary: str, changes: tuple[Change, ...] | None) -> Advice:
    """Recommend another type. The price is unknown if the instance is not On-Demand. For the command, see `restart`."""
    return Advice(
        action=f"change-instance-type-to-{instance_type}",
        summary=f"{summary}{not_by_command(instance)}",
        changes=None if instance.lifecycle else changes,
        risk=(
            "The instance stops and starts: minutes of downtime, and a new public address unless it is an Elastic IP."
            + local_data(instance)
        ),
        reversible=True,
        command=restart(instance, "modify-instance-attribute", f"--instance-type Value={instance_type}"),
    )


def restart(instance: Instance, operation: str, options: str) -> str | None:
    """Return the command that stops, changes and starts the instance; None if `not_by_command` has a reason."""
    region, id_ = f"--region {instance.target.region}", instance.id
    these = f"{region} --instance-ids {id_}"
    command = (
        f"aws ec2 stop-instances {these} && aws ec2 wait instance-stopped {these} && aws ec2 {operation} {region}"
        f" --instance-id {id_} {options} && aws ec2 start-instances {these}"
    )
    return None if not_by_command(instance) else command


def not_by_command(instance: Instance) -> str:
    """Return why no command may stop the instance, as a sentence that starts with a space; empty if one may.

    An Auto Scaling group replaces a stopped member. Only a tag of the instance names the group.
    """
    if owner := instance.managed_by:
        return f" Change it in {owner}, which manages it."
    if instance.tags is None:
        return " Its tags could not be read. If an Auto Scaling group runs it, change it there."
    if instance.lifecycle:
        return f" It is {instance.lifecycle}, so you may not be able to stop it. Start another instance instead."
    return ""


def local_data(instance: Instance) -> str:
    """Return what a stop erases, as a sentence that starts with a space; empty if the type has no local disks."""
    return " You lose the data on its local disks (instance store)." if has_local_disks(instance) else ""


def larger(instance: Instance, needed: ebs.Allowance, seen: Seen, *, when: str, what: str) -> Advice | None:
    """Recommend the smallest size of the family whose EBS baseline carries a load; None if there is no other such size.

    `when` begins the sentence ("If the slow hours hurt"), and `what` is the load in words.
    """
    this = instance.instance_type
    family, _, _ = this.partition(".")
    found = ebs.smallest_that_carries((one for one in seen.fleet.all(InstanceType) if one.family == family), needed)
    if found is None or found.id == this:
        return None
    summary = f"{when}: {found.id}, the smallest {family} whose baseline carries {what}."
    changes = Change(ec2_hour(this), hours()), Change(ec2_hour(found.id), -hours())
    return change_type(instance, found.id, summary, changes)


MAY_WEIGHT: Final = re.compile(r"[cmrx]8")
"""Families of the eighth generation. Many support a bandwidth weighting, but no API says which."""


def shift_to_ebs(instance: Instance) -> Advice:
    """Recommend to shift bandwidth from the network to EBS."""
    return Advice(
        action="shift-bandwidth-to-ebs",
        summary=(
            "Set the bandwidth weighting ebs-1, if the type supports it: 25 % more baseline throughput for EBS, taken"
            f" from the network. IOPS stay the same.{not_by_command(instance)}"
        ),
        changes=(),
        risk=f"The network has less bandwidth. The instance stops and starts.{local_data(instance)}",
        reversible=True,
        command=restart(instance, "modify-instance-network-performance-options", "--bandwidth-weighting ebs-1"),
    )
