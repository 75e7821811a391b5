"""Advice on instances that are idle, pay for surplus CPU credits, or depend on network credits."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from slackwater.engine.cases import play
from slackwater.engine.evaluation import Enabled, FlaggedResource
from slackwater.engine.price import price
from slackwater.engine.registry import registry
from slackwater.model.detector import CASE_NOW, Case
from slackwater.model.findings import Finding
from slackwater.model.money import Change, Price, PriceItem, ec2_cpu_credits, ec2_hour
from slackwater.model.verdicts import Fine, Flagged, Unknown

IDLE, CREDITS, NETWORK = "ec2-idle", "ec2-cpu-credits-surcharged", "ec2-network-over-baseline"
ALWAYS = "a t3.large whose CPU averages 60 %"
UPLOADS = "an hour at 250 MB/s every day, on a baseline of 94"


def case(detector_id: str, title: str, **changes: object) -> Case:
    (found,) = [one for one in registry()[detector_id].cases if one.title == title]
    resource = replace(found.resource, **changes.pop("instance", {}))  # type: ignore[arg-type]
    return replace(found, resource=resource, **changes)  # type: ignore[arg-type]


def flagged(detector_id: str, title: str, **changes: object) -> Flagged:
    verdict = play(registry()[detector_id], case(detector_id, title, **changes))
    assert isinstance(verdict, Flagged), verdict
    return verdict


def by_day(detector_id: str, title: str, metric: str, *values: float | None) -> dict[object, list[float | None]]:
    """Return the case's metrics with other values for the last days before today."""
    metrics = dict(case(detector_id, title).metrics)
    (key,) = [one for one in metrics if one[0].name == metric]
    changed = [*metrics[key]]
    changed[-1 - len(values) : -1] = values
    return {**metrics, key: changed}


def priced(detector_id: str, verdict: Flagged, table: dict[PriceItem, str]) -> Finding:
    detector = registry()[detector_id]
    prices = {item: Price(Decimal(usd), "a test", CASE_NOW.date()) for item, usd in table.items()}
    instance = detector.cases[0].resource
    return price(FlaggedResource(Enabled(detector_id, detector, detector.limits()), instance, verdict), prices)


# ec2-idle


def test_an_idle_instance_is_stopped_and_nothing_more_is_done_by_a_command() -> None:
    stop, terminate = flagged(IDLE, "five weeks of next to nothing").advice

    assert stop.command == "aws ec2 stop-instances --region ap-northeast-1 --instance-ids i-0bbbbbbbbbbbbbbbb"
    assert terminate.command is None
    assert "instance store" in stop.risk
    assert "AWS bills its EBS volumes (100 GiB) meanwhile" in stop.summary


def test_stopping_saves_the_hours_and_terminating_the_volumes_too_less_their_snapshots() -> None:
    stop, terminate = flagged(IDLE, "five weeks of next to nothing").advice

    assert stop.changes == (Change(ec2_hour("m6i.large"), Decimal(730)),)
    assert terminate.changes is not None
    assert [(change.item.id, change.quantity) for change in terminate.changes] == [
        ("ec2.m6i.large.hour", 730),
        ("ebs.gp3.storage", 100),
        ("ebs.snapshot.storage", -100),
    ]


def test_what_a_group_runs_is_not_stopped_behind_its_back() -> None:
    verdict = flagged(IDLE, "an instance of an Auto Scaling group")

    assert [advice.command for advice in verdict.advice] == [None, None]
    assert "take it out of Auto Scaling group workers" in verdict.advice[0].summary


def test_savings_of_a_spot_instance_are_unknown_and_so_is_whether_it_can_be_stopped() -> None:
    verdict = flagged(IDLE, "a Spot Instance")

    assert [(advice.command, advice.changes) for advice in verdict.advice] == [(None, None), (None, None)]
    assert any("It is spot" in caveat for caveat in verdict.caveats)


def test_a_stop_that_empties_local_disks_is_no_command_and_cannot_be_undone() -> None:
    stop, terminate = flagged(IDLE, "local disks, which a stop erases").advice

    assert (stop.command, stop.reversible, terminate.reversible) == (None, False, False)
    assert "starts again with empty ones" in stop.summary
    assert "as it was" not in stop.summary
    assert "Local disks are not in the image" in terminate.risk


def test_what_a_group_may_run_is_not_stopped_by_a_command() -> None:
    verdict = flagged(IDLE, "its tags could not be read")
    stop = verdict.advice[0]

    assert (stop.command, stop.reversible) == (None, False)
    assert "whether an Auto Scaling group runs it" in stop.summary
    assert "its tags could not be read" in stop.summary


@pytest.mark.parametrize("instance_type", ["p3.2xlarge", "inf1.xlarge"])
def test_at_low_confidence_there_is_no_command(instance_type: str) -> None:
    stop = flagged(IDLE, "a GPU, whose work does not show", instance={"instance_type": instance_type}).advice[0]

    assert (stop.command, stop.reversible) == (None, True)


@pytest.mark.parametrize(
    ("title", "confidence"),
    [
        ("five weeks of next to nothing", "high"),
        ("started 20 days ago, and not used since", "medium"),
        ("three days without a point, three weeks ago", "medium"),
        ("a GPU, whose work does not show", "low"),
    ],
)
def test_confidence_in_an_idle_instance_needs_five_whole_weeks_and_no_accelerator(title: str, confidence: str) -> None:
    assert flagged(IDLE, title).confidence == confidence


@pytest.mark.parametrize(
    ("family", "accelerated"),
    [
        ("p5", True),
        ("g4dn", True),
        ("inf2", True),
        ("trn1", True),
        ("m6g", False),
        ("c7gn", False),
        ("t4g", False),
        ("i4i", False),
    ],
)
def test_an_accelerated_type_is_known_by_its_family(family: str, accelerated: bool) -> None:
    verdict = flagged(IDLE, "five weeks of next to nothing", instance={"instance_type": f"{family}.xlarge"})

    assert (verdict.confidence == "low") is accelerated


@pytest.mark.parametrize(
    ("metric", "below", "at"),
    [("CPUUtilization", 4.99, 5.0), ("NetworkOut", 3.89e6, 3.9e6), ("NetworkIn", 4.09e6, 4.1e6)],
)
def test_idleness_ends_at_five_percent_and_five_megabytes(metric: str, below: float, at: float) -> None:
    idle = "five weeks of next to nothing"
    flagged(IDLE, idle, metrics=by_day(IDLE, idle, metric, below, 0.0))

    assert isinstance(play(registry()[IDLE], case(IDLE, idle, metrics=by_day(IDLE, idle, metric, at, 0.0))), Fine)


def test_fourteen_whole_days_are_demanded_and_today_is_none_of_them() -> None:
    # CASE_NOW is 09:00. An instance that started at midnight 14 days ago has run for 14 whole days; one hour later, 13.
    idle, midnight = "five weeks of next to nothing", CASE_NOW - timedelta(days=14, hours=9)
    flagged(IDLE, idle, instance={"launched_at": midnight})
    later = case(IDLE, idle, instance={"launched_at": midnight + timedelta(hours=1)})

    assert isinstance(play(registry()[IDLE], later), Fine)


@pytest.mark.parametrize(("days_ago", "expected"), [(14, Unknown), (15, Flagged)])
def test_a_day_without_a_point_matters_within_fourteen_days(days_ago: int, expected: type) -> None:
    idle = "five weeks of next to nothing"
    lost = by_day(IDLE, idle, "NetworkOut", None, *[0.9e6] * (days_ago - 1))

    assert isinstance(play(registry()[IDLE], case(IDLE, idle, metrics=lost)), expected)


# ec2-cpu-credits-surcharged

TOKYO = {
    ec2_cpu_credits("t3"): "0.05",
    ec2_hour("t3.large"): "0.1088",
    ec2_hour("t3.xlarge"): "0.2176",
    ec2_hour("m6i.large"): "0.124",
}


def test_above_the_break_even_the_fixed_type_saves_most_and_comes_first() -> None:
    finding = priced(CREDITS, flagged(CREDITS, ALWAYS), TOKYO)

    assert [(r.advice.action, r.monthly_savings_usd) for r in finding.recommendations] == [
        ("change-instance-type-to-m6i.large", Decimal("10.80")),  # 438 vCPU-hours at 0.05, less 730 hours at 0.0152
        ("change-instance-type-to-t3.xlarge", Decimal("-57.52")),
        ("standard-credits", None),
    ]


def test_below_the_break_even_every_change_costs_more_and_the_first_says_so() -> None:
    third = by_day(CREDITS, ALWAYS, "CPUSurplusCreditsCharged", *[216.0] * 35)
    mean = {
        key: [37.5] * 36 if key[0].name == "CPUUtilization" else values  # type: ignore[index]
        for key, values in third.items()
    }
    finding = priced(CREDITS, flagged(CREDITS, ALWAYS, metrics=mean), TOKYO)

    assert finding.recommendations[0].monthly_savings_usd is not None
    assert finding.recommendations[0].monthly_savings_usd < 0


def test_a_larger_size_saves_a_day_no_more_than_it_earns_more() -> None:
    _, larger, _ = flagged(CREDITS, ALWAYS).advice
    saved = {change.item: change.quantity for change in larger.changes or ()}[ec2_cpu_credits("t3")]

    assert "t3.xlarge. It earns 96 CPU credits an hour instead of 36" in larger.summary
    # 864 credits a day are charged. The larger size earns 60 an hour more, so all of them are saved. Of 2,000, it saves
    # 1,440.
    assert float(saved) == pytest.approx(864 / 60 * 365 / 12)
    more = by_day(CREDITS, ALWAYS, "CPUSurplusCreditsCharged", *[2000.0] * 35)
    _, larger, _ = flagged(CREDITS, ALWAYS, metrics=more).advice
    saved = {change.item: change.quantity for change in larger.changes or ()}[ec2_cpu_credits("t3")]
    assert float(saved) == pytest.approx(1440 / 60 * 365 / 12)


def test_a_larger_size_must_carry_the_mean_load() -> None:
    busy = {
        key: [90.0] * 36 if key[0].name == "CPUUtilization" else values
        for key, values in case(CREDITS, ALWAYS).metrics.items()
    }
    actions = [advice.action for advice in flagged(CREDITS, ALWAYS, metrics=busy).advice]

    # 90 % of two vCPUs use 108 credits an hour. A t3.xlarge earns only 96.
    assert actions == ["change-instance-type-to-m6i.large", "change-instance-type-to-t3.2xlarge", "standard-credits"]


def test_a_size_whose_credits_are_not_published_is_not_advised_and_hides_nothing() -> None:
    newer = replace(next(one for one in case(CREDITS, ALWAYS).records if one.id == "t3.large"), id="t3.3xlarge")
    verdict = flagged(CREDITS, ALWAYS, records=(*case(CREDITS, ALWAYS).records, newer))

    assert verdict.advice == flagged(CREDITS, ALWAYS).advice


def test_standard_mode_has_a_price_only_where_it_gets_the_work_done() -> None:
    saves = flagged(CREDITS, "a day a week far above its baseline, and little on the others").advice[-1]
    behind = flagged(CREDITS, ALWAYS).advice[-1]
    unknown = flagged(CREDITS, "its mean CPU is unknown").advice[-1]

    assert saves.changes is not None
    assert [change.item for change in saves.changes] == [ec2_cpu_credits("t3")]
    assert behind.changes is None
    assert "uses 72 credits an hour and earns 36" in behind.summary
    assert unknown.changes is None
    assert saves.command == (
        "aws ec2 modify-instance-credit-specification --region ap-northeast-1"
        " --instance-credit-specification InstanceId=i-0bbbbbbbbbbbbbbbb,CpuCredits=standard"
    )


def test_the_hours_of_a_spot_instance_have_no_known_price() -> None:
    fixed, larger, _ = flagged(CREDITS, ALWAYS, instance={"lifecycle": "spot"}).advice

    assert (fixed.changes, larger.changes) == (None, None)


def test_what_a_group_runs_is_changed_there() -> None:
    verdict = flagged(CREDITS, ALWAYS, instance={"tags": {"aws:autoscaling:groupName": "renderers"}})

    assert all(advice.command is None and "Auto Scaling group renderers" in advice.summary for advice in verdict.advice)


@pytest.mark.parametrize(("weeks", "expected"), [(2, Fine), (3, Flagged)])
def test_a_surcharge_is_a_habit_from_the_third_week_on(weeks: int, expected: type) -> None:
    values = [0.0] * 7 * (5 - weeks) + [1500.0, *[0.0] * 6] * weeks
    metrics = by_day(CREDITS, ALWAYS, "CPUSurplusCreditsCharged", *values)

    assert isinstance(play(registry()[CREDITS], case(CREDITS, ALWAYS, metrics=metrics)), expected)


@pytest.mark.parametrize(
    ("title", "confidence"),
    [
        (ALWAYS, "high"),
        ("its mean CPU is unknown", "medium"),
        ("charged every day since it was made 20 days ago", "medium"),
        ("charged on each of the only 14 days that have a point", "medium"),
        ("charged on each of the last 14 days, and never before", "medium"),
    ],
)
def test_confidence_in_a_surcharge_needs_five_whole_weeks_and_a_known_load(title: str, confidence: str) -> None:
    assert flagged(CREDITS, title).confidence == confidence


def test_no_larger_size_is_advised_for_an_unknown_load() -> None:
    actions = [advice.action for advice in flagged(CREDITS, "its mean CPU is unknown").advice]

    assert actions == ["change-instance-type-to-m6i.large", "standard-credits"]


@pytest.mark.parametrize(("before", "expected"), [(0.0, Fine), (864.0, Flagged)])
def test_the_last_fourteen_days_alone_must_each_have_been_charged(before: float, expected: type) -> None:
    values = [0.0] * 21 + [before, *[864.0] * 13]
    metrics = by_day(CREDITS, ALWAYS, "CPUSurplusCreditsCharged", *values)

    assert isinstance(play(registry()[CREDITS], case(CREDITS, ALWAYS, metrics=metrics)), expected)


def test_a_week_without_a_point_is_no_week_without_a_charge_and_one_without_a_charge_is() -> None:
    a_week, none = [1500.0, *[0.0] * 6], [None] * 7
    for values, expected in (
        ([*none * 3, *a_week * 2], Flagged),
        ([*none * 2, *[0.0] * 7, *a_week * 2], Fine),
        ([*none * 3, *[0.0] * 7, *a_week], Fine),
    ):
        metrics = by_day(CREDITS, ALWAYS, "CPUSurplusCreditsCharged", *values)
        assert isinstance(play(registry()[CREDITS], case(CREDITS, ALWAYS, metrics=metrics)), expected)


@pytest.mark.parametrize(("vcpu_hours", "expected"), [(19.9, Fine), (20.1, Flagged)])
def test_twenty_vcpu_hours_a_month_are_flagged(vcpu_hours: float, expected: type) -> None:
    a_day = vcpu_hours * 60 * 12 / 365
    metrics = by_day(CREDITS, ALWAYS, "CPUSurplusCreditsCharged", *[a_day] * 35)

    assert isinstance(play(registry()[CREDITS], case(CREDITS, ALWAYS, metrics=metrics)), expected)


# ec2-network-over-baseline


def test_the_ways_out_are_for_the_time_before_the_credits_are_gone() -> None:
    verdict = flagged(NETWORK, UPLOADS)

    assert verdict.summary == (
        "14 of 14 days above its network baseline of 93.8 MB/s (out) for 30 minutes without a break, up to 250 MB/s"
    )
    assert [way.action for way in verdict.advice] == [
        "let-it-take-longer",
        "change-instance-type-to-m5.2xlarge",
        "change-instance-type-to-m6i.2xlarge",
        "change-instance-type-to-m6i.8xlarge",
        "interface-endpoint",
        "gateway-endpoint",
    ]
    assert verdict.advice[1].summary == (
        "Before the credits are gone: m5.2xlarge, the smallest m5 that carries 250 MB/s: 312 MB/s without credits."
    )
    assert any("best effort" in caveat for caveat in verdict.caveats)
    assert any("shorter than five minutes" in caveat for caveat in verdict.caveats)


def test_what_can_wait_needs_no_other_type_if_a_day_has_hours_enough() -> None:
    # 60 minutes at 250 MB/s and 23 hours at 3,333 bytes/s are 900 GB: 2.7 hours at 93.75 MB/s.
    slower = flagged(NETWORK, UPLOADS).advice[0]
    all_day = flagged(NETWORK, UPLOADS, metrics=uploads(200, 720))

    assert slower.summary.endswith("at 93 MB/s, the busiest day's traffic takes 2.7 hours and no credits.")
    assert (slower.changes, slower.command) == ((), None)
    assert "let-it-take-longer" not in [way.action for way in all_day.advice]


def test_a_draw_of_less_than_five_minutes_of_burst_is_a_small_risk() -> None:
    # 60 minutes at 156.25 MB/s above the baseline equal 8.1 minutes at the peak, which is 1,156.25 MB/s above it.
    deep, shallow = (flagged(NETWORK, title) for title in (UPLOADS, "half an hour on five days"))

    assert [(one.label, one.value) for one in deep.evidence if one.unit == "minutes"] == [
        ("Deepest draw, as a burst at its peak (usually 5 to 60 minutes)", 8.1)
    ]
    assert (deep.severity, shallow.severity) == ("medium", "low")


def test_a_baseline_that_may_be_another_is_of_low_confidence() -> None:
    weighted = flagged(NETWORK, UPLOADS, instance={"bandwidth_weighting": "ebs-1"})

    assert (flagged(NETWORK, UPLOADS).confidence, weighted.confidence) == ("medium", "low")


def by_period(values: list[float]) -> dict[int, list[float]]:
    """Return five-minute sums, and those of quarter hours and hours."""
    return {n * 300: [sum(values[i : i + n]) for i in range(0, len(values), n)] for n in (1, 3, 12)}


def uploads(mb_s: float, minutes: int, days: int = 14) -> dict[object, list[float]]:
    day = [mb_s * 1e6 * 300] * (minutes // 5)
    values = ([1e6] * 288) * (14 - days) + [*day, *[1e6] * (288 - len(day))] * days
    metrics = case(NETWORK, UPLOADS).metrics
    new = by_period(values)
    return {
        key: new[key[1]] if key[0].name == "NetworkOut" else [*old]  # type: ignore[misc]
        for key, old in metrics.items()
    }


@pytest.mark.parametrize(
    ("mb_s", "minutes", "days", "expected"),
    [
        (99, 30, 5, Flagged),  # 93.75 MB/s and 5 % are 98.4 MB/s
        (98, 30, 14, Fine),
        (250, 25, 14, Fine),
        (250, 30, 4, Fine),
    ],
)
def test_half_an_hour_above_the_baseline_on_five_days(mb_s: float, minutes: int, days: int, expected: type) -> None:
    verdict = play(registry()[NETWORK], case(NETWORK, UPLOADS, metrics=uploads(mb_s, minutes, days)))

    assert isinstance(verdict, expected)


def test_a_run_over_midnight_counts_once_and_one_of_days_for_each() -> None:
    def days(values: list[float]) -> str:
        new = by_period(values)
        metrics = {
            key: new[key[1]] if key[0].name == "NetworkOut" else old
            for key, old in case(NETWORK, UPLOADS).metrics.items()
        }
        verdict = play(registry()[NETWORK], case(NETWORK, UPLOADS, metrics=metrics))
        return verdict.summary if isinstance(verdict, Flagged) else str(verdict)

    high, low = 250e6 * 300, 1e6
    nights = [low] * 282 + ([high] * 12 + [low] * 276) * 4 + [low] * (4032 - 282 - 4 * 288)
    week = [low] * 288 + [high] * 7 * 288 + [low] * 6 * 288

    # The window begins and ends at 09:00, during a job with a short pause. The job runs every other day, five times.
    mornings = [high] * 8 + [low] * 268 + ([high] * 12 + [low] + [high] * 12 + [low] * 551) * 4
    mornings += [low] * (4032 - len(mornings))

    assert "on 4 of 14 days" in days(nights)
    assert days(week).startswith("7 of 14 days above its network baseline")
    assert days(mornings).startswith("5 of 14 days above its network baseline")


def test_words_in_fingerprints_never_change() -> None:
    both = "in and out alike: a proxy moves every byte twice"

    assert [flagged(NETWORK, title).fingerprint_inputs for title in (UPLOADS, both)] == [
        ("m5.large", "out"),
        ("m5.large", "in and out"),
    ]


def test_where_credits_are_gone_already_the_stronger_speaks() -> None:
    assert registry()["ec2-network-throttled"].outranks == (NETWORK,)
