"""Advice on EFS throughput and burst credits: sizes, bills, dates and limits."""

import shlex
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from math import ceil

import pytest

from slackwater.detectors import efs_credits_draining as draining
from slackwater.detectors import efs_throughput_mismatch as mismatch
from slackwater.engine.cases import play, play_with_queries
from slackwater.engine.registry import documentation
from slackwater.model.detector import CASE_NOW, AnyDetector, Case
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import EFS_ELASTIC_READ, EFS_ELASTIC_WRITE, EFS_PROVISIONED_THROUGHPUT, PriceItem
from slackwater.model.quantities import duration_words
from slackwater.model.resources import EfsFileSystem
from slackwater.model.units import DAY_S, GIB, HOUR_S, MIB
from slackwater.model.verdicts import Advice, Fine, Flagged, Unknown, Verdict
from slackwater.performance import efs
from slackwater.rules.efs_throughput import METADATA_READ, Demand

TWO_WEEKS = 14
MODE = mismatch.DETECTOR
CREDITS = draining.DETECTOR


def case(detector: AnyDetector, title: str) -> Case:
    (found,) = [case for case in detector.cases if case.title == title]
    return found


def file_system(detector: AnyDetector, title: str, **changes: object) -> EfsFileSystem:
    """Return the file system of a case with changes."""
    resource = case(detector, title).resource
    assert isinstance(resource, EfsFileSystem)
    return replace(resource, **changes)  # type: ignore[arg-type]


def verdict(detector: AnyDetector, title: str, **changes: object) -> Verdict:
    return play(detector, replace(case(detector, title), **changes))  # type: ignore[arg-type]


def flagged(detector: AnyDetector, title: str, **changes: object) -> Flagged:
    result = verdict(detector, title, **changes)
    assert isinstance(result, Flagged), result
    return result


def units(advice: Advice) -> Mapping[PriceItem, Decimal]:
    assert advice.changes is not None
    return {change.item: change.quantity for change in advice.changes}


def ways(result: Flagged) -> dict[str, Advice]:
    return {advice.action: advice for advice in result.advice}


def moving(*spans: tuple[float, int], **more: float) -> Mapping[tuple[Metric, int], list[float | None]]:
    """Return the metrics of the detector's cases for spans of (rate in MiB/s, minutes of a day)."""
    made = mismatch.paid("", Fine, metrics=mismatch.moving(*spans, **more))
    return {key: list(points) for key, points in made.metrics.items()}


CALM = "256 MiB/s provisioned, and 8 used"
STEADY = "512 MiB/s provisioned, and a steady 60 used"
NIGHTLY = "256 MiB/s provisioned for ten minutes a night"
ALWAYS = "Elastic, and always the same"
ELASTIC_CALM = "Elastic, and so calm that bursting carries it"
AT_LIMIT = "at what is provisioned for hours every night"
AT_BURST = "at full burst for two hours every day, with credits left"


@pytest.mark.parametrize("title", [AT_LIMIT, AT_BURST])
def test_at_a_limit_nothing_is_sized_and_elastic_has_no_price(title: str) -> None:
    result = flagged(MODE, title)
    steps, elastic = result.advice

    assert result.kind == "performance"
    assert (steps.action, elastic.action) == ("raise-provisioned-in-steps", "change-to-elastic")
    assert elastic.changes is None
    assert "1.5 times the limit" in steps.summary
    assert not result.cheapest_first
    assert "the demand is unknown" in result.summary


def test_the_first_step_is_priced_without_what_the_size_includes() -> None:
    (steps, _), (from_burst, _) = flagged(MODE, AT_LIMIT).advice, flagged(MODE, AT_BURST).advice

    assert units(steps) == {EFS_PROVISIONED_THROUGHPUT: 64 - 96}
    assert units(from_burst) == {EFS_PROVISIONED_THROUGHPUT: 15 - 150}


def test_commands_name_the_file_system_the_region_and_the_amount() -> None:
    begin = [
        "aws",
        "efs",
        "update-file-system",
        "--file-system-id",
        "fs-0a1b2c3d4e5f60718",
        "--region",
        "ap-northeast-1",
    ]
    lower, bursting = flagged(MODE, STEADY).advice[0], flagged(MODE, CALM).advice[0]

    assert shlex.split(lower.command or "") == [
        *begin, "--throughput-mode", "provisioned", "--provisioned-throughput-in-mibps", "72"
    ]  # fmt: skip
    assert shlex.split(bursting.command or "") == [*begin, "--throughput-mode", "bursting"]


def test_a_lower_amount_saves_what_is_paid_for_and_a_fifth_is_kept_above_the_peak() -> None:
    result = flagged(MODE, STEADY)

    assert [way.action for way in result.advice] == ["lower-provisioned"]
    assert units(result.advice[0]) == {EFS_PROVISIONED_THROUGHPUT: 512 - 72}
    assert result.cheapest_first
    assert result.kind is None


def test_bursting_saves_all_that_is_paid_for_and_says_what_empties_it() -> None:
    way = ways(flagged(MODE, CALM))["change-to-bursting"]

    assert units(way) == {EFS_PROVISIONED_THROUGHPUT: 256 - 15}
    assert "empties the credits; then it has 14.6 MiB/s" in way.risk
    assert "alarm on BurstCreditBalance" in way.risk


def test_the_bill_of_elastic_is_stated_at_its_most_when_going_there_and_at_its_least_when_leaving() -> None:
    metrics = moving((1.0, 1440), kib=24)
    going, leaving = (
        ways(flagged(MODE, title, metrics=metrics if title == CALM else {**metrics, **PERMITTED}))
        for title in (CALM, ELASTIC_CALM)
    )
    moved = DAY_S / 1024 * 365 / 12  # GiB metered a month
    read, written, metadata = 1.5 * moved, 0.5 * moved, 200 / 1024 * 365 / 12

    gone, came = units(going["change-to-elastic"]), units(leaving["change-to-bursting"])
    assert float(gone[EFS_ELASTIC_READ]) == pytest.approx(-(read * 56 / 24 + metadata * 0.75 * 2))
    assert float(gone[EFS_ELASTIC_WRITE]) == pytest.approx(-(written * 56 / 24 + metadata * 0.25 * 2))
    assert float(came[EFS_ELASTIC_READ]) == pytest.approx(read * 32 / 24 + metadata * 0.75)
    assert float(came[EFS_ELASTIC_WRITE]) == pytest.approx(written * 32 / 24 + metadata * 0.25)


PERMITTED = {(mismatch.LEAST_PERMITTED, HOUR_S): [5120.0 * MIB] * (36 * 24)}


def test_metadata_of_unknown_direction_is_priced_at_the_higher_or_the_lower_rate() -> None:
    def without(title: str) -> dict[str, Advice]:
        metrics = {key: values for key, values in case(MODE, title).metrics.items() if key[0] != METADATA_READ}
        return ways(flagged(MODE, title, metrics=metrics))

    metadata = 200 / 1024 * 365 / 12
    going, leaving = without(CALM)["change-to-elastic"], without(ELASTIC_CALM)["change-to-bursting"]
    elastic_advice, leaving_advice = (
        ways(flagged(MODE, CALM))["change-to-elastic"],
        ways(flagged(MODE, ELASTIC_CALM))["change-to-bursting"],
    )
    assert float(units(elastic_advice)[EFS_ELASTIC_WRITE] - units(going)[EFS_ELASTIC_WRITE]) == pytest.approx(
        metadata * 0.75 * 2, rel=1e-3
    )
    assert float(units(leaving_advice)[EFS_ELASTIC_WRITE] - units(leaving)[EFS_ELASTIC_WRITE]) == pytest.approx(
        metadata * 0.25, rel=1e-3
    )


def test_infrequent_access_has_another_price_in_another_mode() -> None:
    stored = {"Standard": 300 * GIB, "IA": 100 * GIB, "Archive": 0}
    elastic = file_system(MODE, ELASTIC_CALM, stored_bytes=stored)
    changes = {
        item.id: quantity for item, quantity in units(flagged(MODE, ELASTIC_CALM, resource=elastic).advice[0]).items()
    }

    assert changes["efs.ia.storage.elastic"] == 100
    assert changes["efs.ia.storage"] == -100


def test_leaving_elastic_it_is_not_known_how_many_credits_there_are_and_leaving_provisioned_it_is() -> None:
    assert "begins with an unknown number of credits" in ways(flagged(MODE, ELASTIC_CALM))["change-to-bursting"].risk
    assert flagged(MODE, ELASTIC_CALM).confidence == "medium"
    low = {(mismatch.BALANCE, DAY_S): [0.07 * efs.full_credits_bytes(0)] * 3}
    result = flagged(MODE, CALM, metrics={**case(MODE, CALM).metrics, **low})
    assert "the present credits, 7 % of all" in ways(result)["change-to-bursting"].risk
    assert any("within 24 hours" in caveat.lower() for caveat in result.caveats)
    assert result.confidence == "high"


def test_five_minute_metrics_do_not_show_the_peak_of_a_minute() -> None:
    pulsing = file_system(MODE, STEADY, provisioned_mib_s=256)
    result = flagged(MODE, STEADY, resource=pulsing, metrics=moving((51.2, 1440)))

    assert result.confidence == "medium"
    assert any("may have reached 256 MiB/s" in caveat and "Period 60" in caveat for caveat in result.caveats)
    assert flagged(MODE, NIGHTLY).confidence == "high"  # the only advice is Elastic, which has no such limit
    assert not any("Period 60" in caveat for caveat in flagged(MODE, CALM).caveats)


def test_the_days_that_are_named_are_those_of_the_window() -> None:
    assert "five minutes of 14 days" in flagged(MODE, CALM).summary


@pytest.mark.parametrize(("hours", "result"), [(24, Flagged), (23, Fine)])
def test_a_day_in_all_at_what_is_provisioned_counts_on_however_few_days(hours: int, result: type[Verdict]) -> None:
    assert type(verdict(MODE, AT_LIMIT, metrics=_pinned(hours * 12, ended=96))) is result


@pytest.mark.parametrize(
    ("points", "late", "result"), [(72, 0, Flagged), (71, 0, Fine), (72, 3, Flagged), (72, 4, Fine)]
)
def test_six_hours_at_what_is_provisioned_count_while_they_last(points: int, late: int, result: type[Verdict]) -> None:
    assert type(verdict(MODE, AT_LIMIT, metrics=_pinned(points, late=late))) is result


def _pinned(points: int, *, ended: int = 0, late: int = 0) -> Mapping[tuple[Metric, int], list[float | None]]:
    """Return metrics with `points` five-minute points at 64 MiB/s that ended `ended` points ago.

    The last `late` points have no data yet.
    """
    full = moving((3.0, 1440), permitted=64)
    metered: list[float | None] = list(full[mismatch.METERED, 300])
    end = len(metered) - ended
    metered[end - points : end] = [64.0 * MIB * 300] * points
    metered[len(metered) - late :] = [None] * late
    return {**{key: list(values) for key, values in full.items()}, (mismatch.METERED, 300): metered}


def test_older_days_that_are_missing_only_lower_the_confidence() -> None:
    daily = list(case(MODE, CALM).metrics[mismatch.METERED, DAY_S])
    daily[3] = None

    assert (
        flagged(MODE, CALM, metrics={**case(MODE, CALM).metrics, (mismatch.METERED, DAY_S): daily}).confidence
        == "medium"
    )


def test_max_io_cannot_be_elastic() -> None:
    for title in (CALM, AT_LIMIT):
        max_io = file_system(MODE, title, performance_mode="maxIO")
        assert "change-to-elastic" not in ways(flagged(MODE, title, resource=max_io))
    assert isinstance(verdict(MODE, NIGHTLY, resource=file_system(MODE, NIGHTLY, performance_mode="maxIO")), Fine)


@pytest.mark.parametrize(("peak", "carried"), [(83.3, True), (83.4, False)])
def test_bursting_carries_a_peak_with_a_fifth_more(peak: float, carried: bool) -> None:
    result = verdict(MODE, CALM, metrics=moving((1.0, 1430), (peak, 10)))

    assert isinstance(result, Flagged)
    assert ("change-to-bursting" in ways(result)) is carried


@pytest.mark.parametrize(("rate", "carried"), [(12.1, True), (12.3, False)])
def test_bursting_carries_what_the_size_earns_with_a_fifth_more(rate: float, carried: bool) -> None:
    result = flagged(MODE, CALM, metrics=moving((rate, 1440)))  # 300 GiB earn 14.65 MiB/s

    assert ("change-to-bursting" in ways(result)) is carried


@pytest.mark.parametrize(("hours", "carried"), [(5, True), (7, False)])
def test_bursting_is_named_only_where_a_quarter_of_the_credits_would_have_been_left(hours: int, carried: bool) -> None:
    once = [0.3 * MIB * 300] * (36 * 288)
    once[-288 * 4 : -288 * 4 + hours * 12] = [80.0 * MIB * 300] * (hours * 12)
    days = [sum(once[i : i + 288]) for i in range(0, len(once), 288)]
    metrics = {
        **moving((0.3, 1440)),
        (mismatch.METERED, 300): once,
        (mismatch.METERED, DAY_S): [days[0], *days],
    }
    small = file_system(MODE, CALM, stored_bytes={"Standard": 100 * GIB, "IA": 0, "Archive": 0})

    assert ("change-to-bursting" in ways(flagged(MODE, CALM, resource=small, metrics=metrics))) is carried


@pytest.mark.parametrize(("rate", "carried"), [(60, True), (80, False)])
def test_what_a_day_earns_comes_too_late_for_a_load_that_empties_the_credits_before(rate: float, carried: bool) -> None:
    tib = file_system(MODE, CALM, stored_bytes={"Standard": 1024 * GIB, "IA": 0, "Archive": 0})
    metrics = moving((0.1, 720), (rate, 720))

    assert ("change-to-bursting" in ways(flagged(MODE, CALM, resource=tib, metrics=metrics))) is carried


def test_no_more_metrics_are_read_if_bursting_is_too_slow_and_no_mode_costs_less() -> None:
    peaks = replace(
        case(MODE, CALM),
        resource=file_system(MODE, CALM, provisioned_mib_s=105),
        metrics=moving((10.0, 1430), (90.0, 10), permitted=105),
    )
    result, queries = play_with_queries(MODE, peaks)

    assert isinstance(result, Fine)
    assert len(queries) == 12


@pytest.mark.parametrize(("provisioned", "result"), [(91, Flagged), (89, Fine)])
def test_an_amount_is_lowered_by_a_fifth_at_least(provisioned: int, result: type[Verdict]) -> None:
    resource = file_system(MODE, STEADY, provisioned_mib_s=provisioned)

    assert type(verdict(MODE, STEADY, resource=resource)) is result


@pytest.mark.parametrize(("minutes", "result"), [(60, Flagged), (55, Fine)])
def test_an_hour_a_day_at_the_limit_counts(minutes: int, result: type[Verdict]) -> None:
    metrics = moving((64.0, minutes), (3.0, 1440 - minutes), permitted=64)

    assert type(verdict(MODE, AT_LIMIT, metrics=metrics)) is result


@pytest.mark.parametrize(("days", "result"), [(5, Flagged), (4, Fine)])
def test_five_days_at_the_limit_count(days: int, result: type[Verdict]) -> None:
    full = moving((64.0, 180), (3.0, 1260), permitted=64)
    metered = list(full[mismatch.METERED, 300])
    metered[: -days * 288] = [3.0 * MIB * 300] * (len(metered) - days * 288)

    assert type(verdict(MODE, AT_LIMIT, metrics={**full, (mismatch.METERED, 300): metered})) is result


@pytest.mark.parametrize(("share", "result"), [(0.96, Fine), (0.94, Flagged)])
def test_one_point_at_the_limit_hides_the_demand(share: float, result: type[Verdict]) -> None:
    metrics = moving((256.0 * share, 5), (3.0, 1435))

    assert type(verdict(MODE, CALM, metrics=metrics)) is result


def test_one_client_cannot_move_more_than_500_mib_a_second_outside_elastic() -> None:
    large = file_system(MODE, ALWAYS, stored_bytes={"Standard": 40_000 * GIB, "IA": 0, "Archive": 0})
    result = verdict(MODE, ALWAYS, resource=large, metrics=moving((270.0, 1440), permitted=5120))

    assert isinstance(result, Fine)
    assert "500 MiB/s" in result.reason


@pytest.mark.parametrize(
    ("missing", "confidence"), [((11,), "high"), ((29,), "medium"), ((36,), "medium"), ((37,), None), ((33,) * 8, None)]
)
def test_a_hole_of_three_hours_lowers_the_confidence_and_is_named(
    missing: tuple[int, ...], confidence: str | None
) -> None:
    metered = list(case(MODE, CALM).metrics[mismatch.METERED, 300])
    for day, points in enumerate(missing, 1):
        metered[-250 * day : -250 * day + points] = [None] * points
    result = verdict(MODE, CALM, metrics={**case(MODE, CALM).metrics, (mismatch.METERED, 300): metered})

    assert (result.confidence if isinstance(result, Flagged) else None) == confidence
    if confidence == "medium" and isinstance(result, Flagged):
        assert (
            f"MeteredIOBytes has no data for {duration_words(missing[0] * 300)} of the last 14 days"
            in result.caveats[0]
        )


def test_a_hole_that_no_other_week_covers_is_unknown() -> None:
    metered = list(case(MODE, CALM).metrics[mismatch.METERED, 300])
    for weeks in range(3):
        first = -800 - weeks * 7 * 288
        metered[first : first + 24] = [None] * 24
    result = verdict(MODE, CALM, metrics={**case(MODE, CALM).metrics, (mismatch.METERED, 300): metered})

    assert isinstance(result, Unknown)


def test_what_the_same_time_of_another_week_needed_counts_for_a_hole() -> None:
    metered = list(case(MODE, CALM).metrics[mismatch.METERED, 300])
    at = -800
    metered[at - 2016 : at - 2016 + 3] = [150.0 * MIB * 300] * 3
    metered[at : at + 24] = [None] * 24
    result = flagged(MODE, CALM, metrics={**case(MODE, CALM).metrics, (mismatch.METERED, 300): metered})

    assert "150 MiB/s" in result.summary


@pytest.mark.parametrize(("hours", "five_minutes"), [(3, 1), (4, 0)])
def test_missing_hours_that_nothing_can_fill_are_unknown_without_five_minute_metrics(
    hours: int, five_minutes: int
) -> None:
    holes = case(MODE, CALM).metrics
    metered, by_hour = list(holes[mismatch.METERED, 300]), list(holes[mismatch.METERED, 3_600])
    metered[-1200 : -1200 + hours * 12] = [None] * hours * 12
    by_hour[-100 : -100 + hours] = [None] * hours
    holes = {**holes, (mismatch.METERED, 300): metered, (mismatch.METERED, 3_600): by_hour}
    result, queries = play_with_queries(MODE, replace(case(MODE, CALM), metrics=holes))

    assert sum(query.period_s == 300 for query in queries) == five_minutes
    assert isinstance(result, Flagged if five_minutes else Unknown)
    if isinstance(result, Unknown):
        assert result.reason == "MeteredIOBytes has no data for at least 4 h of the last 14 days"


def test_a_peak_that_is_its_limit_but_for_the_rounding_is_at_it() -> None:
    file_system, hour, used = case(MODE, CALM).resource, 33_080_261.0, 8_931_670_470.0
    metered, permitted = Series.of(0, 300, [used, 0.0, None]), Series.of(0, 3_600, [hour])
    demand = Demand(file_system, metered, metered, permitted, used / 300)  # type: ignore[arg-type]

    assert demand.at_limit(0.9) == [True, False, None]
    assert demand._replace(peak=used / 301).at_limit(0.9) == [False, False, None]


@pytest.mark.parametrize(("mib_s", "five_minutes"), [(1.3, 0), (1.5, 1)])
def test_calm_hours_decide_it_without_five_minute_metrics(mib_s: float, five_minutes: int) -> None:
    calm = replace(case(MODE, CALM), metrics=moving((mib_s, 1440), permitted=256))
    result, queries = play_with_queries(MODE, calm)

    assert isinstance(result, Flagged)
    assert result.advice[0].action == "change-to-bursting"
    assert result.confidence == "high"
    assert ("at most" in result.summary) is not five_minutes
    assert sum(query.period_s == 300 for query in queries) == five_minutes


@pytest.mark.parametrize(
    ("title", "metrics"), [(CALM, 12), (AT_LIMIT, 12), ("bursting, and calm", 2), ("a replica", 0)]
)
def test_a_throughput_mode_is_judged_by_this_number_of_metrics(title: str, metrics: int) -> None:
    assert len(play_with_queries(MODE, case(MODE, title))[1]) == metrics


GONE = "gone for days, and all of the baseline is used"
GOING = "more than the baseline, day and night"
APART = "faster of late: the two ways to the date differ"


def test_without_credits_nothing_is_sized_and_the_bounded_bill_comes_first() -> None:
    result = flagged(CREDITS, GONE)
    steps, elastic = result.advice

    assert (result.kind, result.severity, result.confidence) == (None, "high", "high")
    assert (steps.action, elastic.action) == ("raise-provisioned-in-steps", "change-to-elastic")
    assert units(steps) == {EFS_PROVISIONED_THROUGHPUT: 2 - 4}
    assert elastic.changes is None
    assert "rose fourteenfold" in elastic.risk
    assert not result.cheapest_first
    assert any("is the limit, not the demand" in caveat for caveat in result.caveats)
    assert result.fingerprint_inputs[0] == "gone"


def test_what_was_reached_on_credits_is_where_the_steps_begin() -> None:
    steps, _ = flagged(CREDITS, "empty every night, and back by day").advice
    busiest = max(case(CREDITS, "empty every night, and back by day").metrics[draining.METERED, HOUR_S][-168:])

    assert f"--provisioned-throughput-in-mibps {ceil(1.2 * busiest / HOUR_S / MIB)}" in (steps.command or "")
    assert "the busiest hour of the week, while there were credits" in steps.summary
    assert "no burst" in steps.risk


def test_one_week_that_is_taken_to_repeat_is_of_low_confidence() -> None:
    result = flagged(CREDITS, "ten days old, drained from Monday to Friday, and seen at the end of the weekend")

    assert result.confidence == "low"
    assert any("Only one week is known, and assumed to repeat" in caveat for caveat in result.caveats)


def test_the_page_says_what_does_not_help() -> None:
    page = documentation("efs-credits-draining")

    assert "Dummy data raises the baseline, but 1 MiB/s takes 20 GiB in Standard" in page
    assert "One Zone has the same credits" in page


@pytest.mark.parametrize(("mode", "waits"), [("bursting", False), ("provisioned", True)])
def test_leaving_provisioned_may_have_to_wait(mode: str, waits: bool) -> None:
    below = file_system(CREDITS, GONE, throughput_mode=mode, provisioned_mib_s=1.0 if waits else None)

    assert ("Within 24 hours" in ways(flagged(CREDITS, GONE, resource=below))["change-to-elastic"].risk) is waits


def test_what_will_be_gone_is_a_risk_with_a_date_got_in_two_ways() -> None:
    result = flagged(CREDITS, GOING)
    words = {fact.label: fact.value for fact in result.evidence}

    assert (result.kind, result.severity, result.confidence) == ("risk", "medium", "high")
    assert "gone around 2026-11-21" in result.summary
    assert str(words["Gone, by the balance a week before"]).startswith("in 5 d")
    assert str(words["Gone, by what is metered above the baseline"]).startswith("in 5 d")
    assert result.fingerprint_inputs == flagged(CREDITS, APART).fingerprint_inputs


def test_two_ways_that_differ_make_a_range_and_less_confidence() -> None:
    result = flagged(CREDITS, APART)

    assert "between 2026-11-17 and 2026-11-21" in result.summary
    assert result.confidence == "medium"
    assert any("Trust the earlier" in caveat for caveat in result.caveats)


def test_a_few_days_are_of_low_confidence() -> None:
    assert flagged(CREDITS, "five days old, and draining since it was created").confidence == "low"


def test_known_usage_is_priced_in_both_modes_and_the_lower_cost_option_comes_first() -> None:
    result = flagged(CREDITS, GOING)
    found = ways(result)

    assert result.cheapest_first
    assert units(found["change-to-provisioned"]) == {EFS_PROVISIONED_THROUGHPUT: 2 - 4}  # 3.2 MiB/s plus a fifth
    assert units(found["change-to-elastic"])[EFS_ELASTIC_READ] < 0
    assert "--provisioned-throughput-in-mibps 4" in (found["change-to-provisioned"].command or "")


def test_stored_fingerprints_keep_their_words() -> None:
    words = [flagged(*one).fingerprint_inputs[0] for one in ((MODE, AT_LIMIT), (CREDITS, GONE), (CREDITS, GOING))]

    assert words == ["at its limit", "gone", "going"]


def test_a_burst_at_its_limit_hides_the_demand_too() -> None:
    hours = ([3.0] * 23 + [99.0]) * 16
    result = flagged(
        CREDITS, GOING, metrics=draining.by_hour([min(h, 3.4) if i < 150 else h for i, h in enumerate(hours)])
    )

    assert result.advice[-1].changes is None
    assert result.advice[0].action == "raise-provisioned-in-steps"


def test_elastic_has_no_price_where_nobody_counted_the_bytes() -> None:
    metrics = {key: values for key, values in case(CREDITS, GOING).metrics.items() if key[1] == HOUR_S}

    assert ways(flagged(CREDITS, GOING, metrics=metrics))["change-to-elastic"].changes is None


@pytest.mark.parametrize(("days", "result"), [(3, Flagged), (2, Fine)])
def test_empty_on_three_of_seven_days_counts_although_it_refills(days: int, result: type[Verdict]) -> None:
    empty_night = [0.0] + [0.3 * draining.ALL] * 23
    full_night = [0.6 * draining.ALL] + [0.3 * draining.ALL] * 23
    busy = [3.0 * MIB * HOUR_S] + [1.0 * MIB * HOUR_S] * 23
    metrics = {
        (draining.BALANCE, HOUR_S): full_night * (15 - days) + empty_night * days + [0.3 * draining.ALL] * 24,
        (draining.METERED, HOUR_S): busy * 16,
        (draining.PERMITTED, HOUR_S): [100.0 * MIB] * (16 * 24),
    }

    assert type(verdict(CREDITS, GONE, metrics=metrics)) is result


def test_an_empty_hour_in_which_nobody_wanted_more_than_the_baseline_does_not_count() -> None:
    metrics = {**case(CREDITS, GONE).metrics, (draining.METERED, HOUR_S): [1.8 * MIB * HOUR_S] * (15 * 24)}

    assert isinstance(verdict(CREDITS, GONE, metrics=metrics), Fine)


@pytest.mark.parametrize(("rate", "result"), [(3.2, Flagged), (2.9, Fine)])
def test_credits_that_last_longer_than_a_week_are_no_finding_yet(rate: float, result: type[Verdict]) -> None:
    assert type(verdict(CREDITS, GOING, metrics=draining.by_hour([rate] * (15 * 24)))) is result


def test_a_provisioned_file_system_that_bursts_lives_on_credits() -> None:
    below = file_system(CREDITS, GONE, throughput_mode="provisioned", provisioned_mib_s=1.0)
    above = replace(below, provisioned_mib_s=3.0)

    assert isinstance(verdict(CREDITS, GONE, resource=below), Flagged)
    assert isinstance(verdict(CREDITS, GONE, resource=above), Fine)


@pytest.mark.parametrize(
    ("title", "metrics"),
    [(GONE, 4), (GOING, 11), ("a batch every night that is earned again by day", 2), ("all its credits", 1)],
)
def test_credits_are_judged_by_this_number_of_metrics(title: str, metrics: int) -> None:
    assert len(play_with_queries(CREDITS, case(CREDITS, title))[1]) == metrics


def test_credits_that_run_out_speak_for_a_mode_that_does_not_suit() -> None:
    assert CREDITS.outranks == ("efs-throughput-mismatch",)


def test_a_young_file_system_is_not_judged_by_its_first_load() -> None:
    young = file_system(MODE, CALM, created_at=CASE_NOW - timedelta(days=TWO_WEEKS - 0.1))

    assert isinstance(verdict(MODE, CALM, resource=young), Fine)


def test_what_kubernetes_made_is_changed_there() -> None:
    for detector, title in ((MODE, CALM), (MODE, AT_LIMIT), (CREDITS, GONE), (CREDITS, GOING)):
        claimed = file_system(detector, title, tags={"efs.csi.aws.com/cluster": "true"})
        assert any("Kubernetes" in caveat for caveat in flagged(detector, title, resource=claimed).caveats)
