"""Tests of `Seen`, the data that a detector uses."""

from datetime import timedelta

from slackwater.model.detector import CASE_NOW, Seen
from slackwater.model.fleet import Fleet


def test_a_resource_exactly_as_old_as_the_limit_is_not_younger() -> None:
    seen, week_ago = Seen(CASE_NOW, Fleet([]), {}), CASE_NOW - timedelta(days=7)

    assert not seen.is_younger(week_ago, days=7)
    assert seen.is_younger(week_ago, days=7, hours=1)
    assert seen.is_younger(CASE_NOW + timedelta(hours=1), hours=1)
