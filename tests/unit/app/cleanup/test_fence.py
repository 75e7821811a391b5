"""How long Slackwater watches an unmountable EFS file system before it deletes it."""

from datetime import timedelta

import pytest

from slackwater.app.cleanup.delete import fence_left_s
from slackwater.model.detector import CASE_NOW


@pytest.mark.parametrize(
    ("since", "caught_up", "left_s"),
    [
        (timedelta(0), True, 120),
        (timedelta(minutes=14), True, 60),
        (timedelta(minutes=14, seconds=59.5), True, 1),
        (timedelta(minutes=15), True, 0),
        (timedelta(minutes=15), False, 120),
        (timedelta(hours=5, minutes=59), False, 120),
        (timedelta(hours=6), False, 0),
    ],
)
def test_it_is_watched_for_15_minutes_and_until_cloudwatch_has_caught_up_for_6_hours_at_most(
    since: timedelta, caught_up: bool, left_s: int
) -> None:
    assert fence_left_s(CASE_NOW, CASE_NOW + since, caught_up=caught_up) == left_s
