"""Worked cases are made from an example and its changes."""

from math import isclose

import pytest

from slackwater.model.detector import CASE_NOW
from slackwater.model.metrics import Metric
from slackwater.model.units import DAY_S, HOUR_S
from slackwater.model.verdicts import Fine
from slackwater.rules import examples
from slackwater.rules.examples import Cases, days, days_ago, every_day

READ, WRITTEN = (Metric("AWS/EFS", name, "Sum", "bytes") for name in ("Read", "Written"))
BASE = Cases(examples.efs(), {READ: 1.0, WRITTEN: 2.0}, limits={"quiet_days": 30})


def test_a_number_is_the_value_of_every_day() -> None:
    assert BASE("a case", Fine).metrics == {(READ, DAY_S): (1.0,) * 37, (WRITTEN, DAY_S): (2.0,) * 37}


def test_a_number_fills_other_periods_and_windows_too() -> None:
    hourly = Cases(examples.efs(), {READ: 1.0, (WRITTEN, DAY_S): 2.0}, period_s=HOUR_S, days=2)("a case", Fine)

    assert hourly.metrics == {(READ, HOUR_S): (1.0,) * 48, (WRITTEN, DAY_S): (2.0,) * 2}


def test_a_case_replaces_one_metric_and_drops_another() -> None:
    assert BASE("a case", Fine, metrics={READ: [3.0], WRITTEN: None}).metrics == {(READ, DAY_S): [3.0]}


def test_a_case_replaces_fields_of_the_resource_and_limits() -> None:
    case = BASE("a case", Fine, "replica", limits={"look_back_days": 40}, is_replica=True)

    assert case.resource == examples.efs(is_replica=True)
    assert (case.title, case.expect, case.says) == ("a case", Fine, "replica")
    assert case.limits == {"quiet_days": 30, "look_back_days": 40}


def test_a_misspelt_field_is_an_error() -> None:
    with pytest.raises(TypeError, match="is_replicated"):
        BASE("a case", Fine, is_replicated=True)


def test_days_are_counted_back_from_today() -> None:
    assert days(0.0, {0: 1.0, range(2, 4): None}, count=5) == [0.0, None, None, 0.0, 1.0]


def test_points_that_repeat_every_day() -> None:
    assert every_day(0.0, {range(1, 3): 5.0}, 6 * HOUR_S, count=2) == [0.0, 5.0, 5.0, 0.0] * 2


def test_an_arn_names_the_resource_it_is_of() -> None:
    assert examples.efs(id="fs-1").arn == "arn:aws:elasticfilesystem:ap-northeast-1:123456789012:file-system/fs-1"
    assert examples.volume(examples.instance(id="i-1"), id="vol-1").arn.endswith(
        "ec2:ap-northeast-1:123456789012:volume/vol-1"
    )


def test_an_attached_volume_is_in_use_since_it_was_made() -> None:
    (attachment,) = examples.volume(examples.instance(id="i-1"), created_at=days_ago(9)).attachments

    assert attachment.instance_id == "i-1"
    assert isclose((CASE_NOW - (attachment.attached_at or CASE_NOW)).total_seconds(), 9 * DAY_S)
