"""Labelled instances that are idle, that pay for surplus credits, or that depend on network credits."""

import pytest

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.fleets.demo_parts import NOW, REGION
from slackwater_simulator.fleets.labelled import scenarios
from slackwater_simulator.fleets.labelled.draw import Draw
from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.resources import ACCOUNT, instant
from slackwater_simulator.series import DAY, statistic
from slackwater_simulator.telemetry import Telemetry

OF_EACH = 3


class Drawn:
    """Some instances of each scenario of a detector, and their CloudWatch metrics."""

    def __init__(self, detector):
        build = Builder(instant(NOW), REGION, 3)
        self.issues = {one.name for one in scenarios()[detector] if one.issue}
        self.instances = {}
        for one in scenarios()[detector]:
            names = [f"{detector}-{one.name}-{number}" for number in range(OF_EACH)]
            draws = [Draw(build.shapes.random(name), build, name) for name in names]
            self.instances[one.name] = [one.plant(d) for d in draws]
        self.fleet = build.fleet(ACCOUNT)
        self.telemetry = Telemetry(self.fleet)

    def of(self, *names):
        """Return the instances of these scenarios, by default of all issues."""
        return [instance for name in names or sorted(self.issues) for instance in self.instances[name]]

    def ask(self, instance, metric, stat, period=DAY, days=36):
        track = self.telemetry.track(REGION, "AWS/EC2", metric, (("InstanceId", instance.id),))
        return statistic(track, stat, int(self.fleet.now - days * DAY), self.fleet.now, period)[1]


@pytest.fixture(scope="module")
def idle():
    return Drawn("ec2-idle")


@pytest.fixture(scope="module")
def charged():
    return Drawn("ec2-cpu-credits-surcharged")


@pytest.fixture(scope="module")
def above():
    return Drawn("ec2-network-over-baseline")


def busiest(drawn, instance):
    """Return the highest CPU utilization in percent, and the traffic of the busiest day in MB."""
    moved = drawn.ask(instance, "NetworkIn", "Sum") + drawn.ask(instance, "NetworkOut", "Sum")
    return drawn.ask(instance, "CPUUtilization", "Maximum").max(), moved.max() / 1e6


def test_idle_instances_do_their_chores_and_the_others_something_in_five_weeks(idle):
    for instance in idle.of():
        percent, mb = busiest(idle, instance)
        assert percent <= 4, instance.tags["Name"]
        assert mb < 4.2, instance.tags["Name"]
    for instance in idle.of("nightly", "weekly", "monthly", "logged-in", "relay", "copies"):
        percent, mb = busiest(idle, instance)
        assert percent > 8 or mb > 8, instance.tags["Name"]


def test_those_who_pay_for_surplus_do_so_every_week(charged):
    for instance in charged.of():
        credits_charged = charged.ask(instance, "CPUSurplusCreditsCharged", "Sum", days=35)[-15:-1]
        assert len(credits_charged) == 14
        assert credits_charged[:7].sum() > 100, instance.tags["Name"]
        assert credits_charged[7:].sum() > 100, instance.tags["Name"]


def test_those_who_pay_back_or_are_in_standard_mode_are_charged_nothing(charged):
    for instance in charged.of("pays-back", "standard"):
        assert not charged.ask(instance, "CPUSurplusCreditsCharged", "Sum").sum(), instance.tags["Name"]


def test_an_incident_is_charged_for_some_days(charged):
    for instance in charged.of("incident"):
        days = charged.ask(instance, "CPUSurplusCreditsCharged", "Sum", days=35) > 0
        assert 1 <= days.sum() <= 5, instance.tags["Name"]


def hours_above(drawn, instance, way):
    """Return the hours in the last fortnight with a rate above the baseline."""
    rates = drawn.ask(instance, way, "Sum", 300, 14) / 300
    return (rates > 1.05 * TYPES[instance.type].baseline_bytes).sum() / 12


def test_those_who_live_on_credits_are_never_held_to_their_baseline(above):
    for instance in above.of():
        assert max(hours_above(above, instance, way) for way in ("NetworkIn", "NetworkOut")) > 4, instance.tags["Name"]
        for counter in ("in", "out") if instance.agent else ():
            (series,) = instance.telemetry[f"ethtool_bw_{counter}_allowance_exceeded"]
            assert series.signal.stats.high.max() == 0, instance.tags["Name"]


def test_the_others_are_above_it_for_short_seldom_or_never(above):
    for instance in above.of("below", "both-ways"):
        assert not hours_above(above, instance, "NetworkIn")
    for instance in above.of("short"):
        rates = above.ask(instance, "NetworkIn", "Sum", 300, 14) / 300 > 1.05 * TYPES[instance.type].baseline_bytes
        on_end = "".join("x" if one else " " for one in rates).split()
        assert max(map(len, on_end), default=0) < 6, instance.tags["Name"]
