"""A larger size of an instance's family, as a way out of a limit of its EBS bandwidth."""

from __future__ import annotations

from slackwater.model.detector import Seen
from slackwater.model.money import Change, ec2_hour, hours
from slackwater.model.resources import Instance, InstanceType
from slackwater.model.verdicts import Advice
from slackwater.parts.ec2_type import change_type
from slackwater.performance import ebs
from slackwater.performance.ebs import Allowance


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
