"""Chooses the Slack channel of a finding."""

from slackwater.model.policy import SlackSection
from slackwater.model.tracking import FindingRecord


def route(record: FindingRecord, slack: SlackSection) -> str | None:
    """Return the channel of the first route that a finding matches; None if it matches none."""
    has = {"owner": record.owner, "account": record.resource.account, "detector": record.detector}
    for one in slack.routes:
        if all(getattr(one, name) in {None, value} for name, value in has.items()):
            return one.channel
    return None


def default(slack: SlackSection) -> str | None:
    """Return the channel of findings that match no route; None if the policy has none."""
    return slack.channel or slack.fallback_channel
