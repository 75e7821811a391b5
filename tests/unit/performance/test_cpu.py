"""CPU credits, compared with the table in the EC2 User Guide."""

import pytest

from slackwater.performance import UnpublishedError, cpu


@pytest.mark.parametrize(
    ("instance_type", "vcpus", "an_hour", "baseline_percent"),
    [
        ("t2.nano", 1, 3, 5),
        ("t2.micro", 1, 6, 10),
        ("t2.small", 1, 12, 20),
        ("t2.medium", 2, 24, 20),
        ("t2.large", 2, 36, 30),
        ("t2.xlarge", 4, 54, 22.5),
        ("t2.2xlarge", 8, 81.6, 17),
        ("t3.nano", 2, 6, 5),
        ("t3.micro", 2, 12, 10),
        ("t3.small", 2, 24, 20),
        ("t3a.medium", 2, 24, 20),
        ("t3.large", 2, 36, 30),
        ("t4g.xlarge", 4, 96, 40),
        ("t4g.2xlarge", 8, 192, 40),
    ],
)
def test_what_a_type_earns_is_its_baseline(
    instance_type: str, vcpus: int, an_hour: float, baseline_percent: float
) -> None:
    assert cpu.earned_per_hour(instance_type) == an_hour
    assert cpu.used_per_hour(baseline_percent, vcpus) == pytest.approx(an_hour)


@pytest.mark.parametrize("instance_type", ["m6i.large", "t8i.large", "t9.large", "t3.huge", "t2.4xlarge"])
def test_what_is_not_published_is_unknown_and_not_nothing(instance_type: str) -> None:
    with pytest.raises(UnpublishedError, match=instance_type):
        cpu.earned_per_hour(instance_type)


def test_another_size_saves_at_most_what_it_earns_more_each_day() -> None:
    assert cpu.saved_by_earning([0, 100, 1_000], more_per_hour=12) == [0, 100, 288]
