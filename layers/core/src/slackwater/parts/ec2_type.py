"""Another type for an instance: what to do, and what it takes."""

from __future__ import annotations

from slackwater.model.money import Change
from slackwater.model.ownership import managed_by
from slackwater.model.resources import Instance
from slackwater.model.verdicts import Advice


def change_type(instance: Instance, instance_type: str, summary: str, changes: tuple[Change, ...] | None) -> Advice:
    """Stop it, change its type, start it; without a command where another program manages it and would undo that."""
    region, owner = f"--region {instance.target.region}", managed_by(instance.tags)
    these = f"{region} --instance-ids {instance.id}"
    return Advice(
        action=f"change-instance-type-to-{instance_type}",
        summary=f"{summary} Change it in {owner}, which manages it." if owner else summary,
        changes=changes,
        risk="A stop and a start: minutes of downtime, and a new public address unless it is an Elastic IP.",
        reversible=True,
        command=None
        if owner
        else (
            f"aws ec2 stop-instances {these} && aws ec2 wait instance-stopped {these}"
            f" && aws ec2 modify-instance-attribute {region} --instance-id {instance.id}"
            f" --instance-type Value={instance_type} && aws ec2 start-instances {these}"
        ),
    )
