"""Where in Slack a finding is told of."""

from __future__ import annotations

from slackwater.model.policy import SlackSection
from slackwater.model.tracking import Sighting


def route(sighting: Sighting, slack: SlackSection) -> str | None:
    """The channel of the first route that a finding fits; None where it fits none."""
    has = {"owner": sighting.owner, "account": sighting.resource.account, "detector": sighting.detector}
    for one in slack.routes:
        if all(getattr(one, name) in {None, value} for name, value in has.items()):
            return one.channel
    return None


def default(slack: SlackSection) -> str | None:
    """The channel of what fits no route; None where the policy names none."""
    return slack.channel or slack.fallback_channel
