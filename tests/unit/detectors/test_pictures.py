"""The charts in the evidence: their units, their reference levels, and where a forecast ends."""

import re
from dataclasses import replace
from math import isfinite, isnan

import pytest

from slackwater.engine.cases import play
from slackwater.engine.registry import registry
from slackwater.model.detector import Case
from slackwater.model.metrics import Series
from slackwater.model.quantities import duration_words
from slackwater.model.resources import Volume
from slackwater.model.units import DAY_S, HOUR_S
from slackwater.model.verdicts import Evidence, Flagged

FLAGGED = [
    pytest.param(id_, case.title, id=f"{id_}: {case.title}")
    for id_, detector in registry().items()
    for case in detector.cases
    if case.expect is Flagged
]
BY_ITSELF = "1,000 and 500 MiB/s, which take turns"
"""This case is flagged for one volume by the configuration alone. Its metrics show only that the volumes take turns."""


def case_of(detector_id: str, title: str) -> Case:
    (case,) = [case for case in registry()[detector_id].cases if case.title == title]
    return case


def flagged(detector_id: str, title: str, **changes: object) -> Flagged:
    verdict = play(registry()[detector_id], replace(case_of(detector_id, title), **changes))  # type: ignore[arg-type]
    assert isinstance(verdict, Flagged), verdict
    return verdict


def pictures(verdict: Flagged) -> list[tuple[Evidence, Series]]:
    return [(evidence, evidence.series) for evidence in verdict.evidence if evidence.series is not None]


def the_picture(verdict: Flagged, label: str) -> Evidence:
    (evidence,) = [evidence for evidence, _ in pictures(verdict) if evidence.label == label]
    return evidence


def levels(evidence: Evidence) -> dict[str, float]:
    return {line.label: line.value for line in evidence.lines}


@pytest.mark.parametrize(("detector_id", "title"), FLAGGED)
def test_a_picture_is_drawn_in_the_unit_of_its_label(detector_id: str, title: str) -> None:
    """A value is a point of its series or a summary of its points. This detects bytes beside GiB."""
    for evidence, series in pictures(flagged(detector_id, title)):
        highest = max(map(abs, series.present), default=0)
        if isinstance(evidence.value, int | float) and evidence.value:
            assert highest == 0 or 1e-5 < highest / abs(evidence.value) < 1e5, evidence.label
        if evidence.unit.startswith("percent"):
            assert highest <= 100, evidence.label


@pytest.mark.parametrize(("detector_id", "title"), FLAGGED)
def test_what_rests_on_a_metric_has_a_picture(detector_id: str, title: str) -> None:
    given = case_of(detector_id, title).metrics.values()
    if any(point is not None for points in given for point in points) and title != BY_ITSELF:
        assert pictures(flagged(detector_id, title))


@pytest.mark.parametrize(("detector_id", "title"), FLAGGED)
def test_levels_are_in_the_unit_of_their_picture_and_have_names(detector_id: str, title: str) -> None:
    """A factor of a hundred indicates another unit: a burst is rarely that far above an instance's use."""
    for evidence in flagged(detector_id, title).evidence:
        if evidence.lines:
            assert evidence.series is not None, f"{evidence.label}: levels across nothing"
            top = max([*evidence.series.present, evidence.scale or 0])
            assert all(isfinite(line.value) and 0.01 < line.value / top < 100 for line in evidence.lines), evidence
            assert len(levels(evidence)) == len(evidence.lines) <= 3
            assert all(line.label.strip() for line in evidence.lines)


@pytest.mark.parametrize(("detector_id", "title"), FLAGGED)
def test_a_forecast_continues_the_series_until_nothing_is_left(detector_id: str, title: str) -> None:
    for evidence in flagged(detector_id, title).evidence:
        if ahead := evidence.forecast:
            assert evidence.series is not None
            assert (ahead.start_s, ahead.period_s) == (evidence.series.end_s, evidence.series.period_s)
            assert 1 <= len(ahead) <= 200
            assert ahead.values[-1] == 0
            assert all(isnan(left) or 0 < left <= max(evidence.series.present) for left in ahead.values[:-1])


LEVELS = [
    (
        "ec2-network-throttled", "a t3.micro proxy at 350 MB/s, and then at 8 for nine hours",
        "Network out around the longest plateau", {"Baseline": 8.0, "Burst": 625.0},
    ),
    (
        "ec2-network-over-baseline", "an hour at 250 MB/s every day, on a baseline of 94",
        "Network out around the longest time above the baseline", {"Baseline": 93.75, "Burst": 1250.0},
    ),
    (
        "ec2-ebs-throttled", "a batch of six hours on a burst of half an hour",
        "Busiest five minutes", {"Baseline": 77.49, "Burst": 1192.09},
    ),
    ("ec2-ebs-throttled", "small I/O: the IOPS are at their limit", "Busiest five minutes",
     {"Baseline": 3600, "Burst": 40_000}),
    ("ec2-ebs-throttled", "a type without burst, at its limit for hours", "Busiest five minutes", {"At most": 566.24}),
    (
        "ec2-ebs-throttled", "a batch of six hours on a burst of half an hour",
        "Lowest throughput burst balance, per hour", {"Low below": 10},
    ),
    (
        "ec2-ebs-throttled", "a batch of six hours on a burst of half an hour",
        "Minutes at its throughput limit, per hour", {"Counts from": 3},
    ),
    ("ec2-idle", "a Spot Instance", "Highest CPU of each day", {"Idle below": 5}),
    (
        "ec2-cpu-credits-surcharged", "a t3.large whose CPU averages 60 %",
        "Mean CPU", {"Baseline": 30, "Fits": 24},
    ),
    (
        "ebs-surplus-iops", "12,000 IOPS on gp3, 1,500 used",
        "Busiest minute of 35 days", {"Provisioned": 12_000, "Proposed": 3_000},
    ),
    (
        "ebs-surplus-throughput", "1,000 MiB/s bought, 60 used",
        "Busiest minute of 35 days", {"Provisioned": 1_000, "Proposed": 125},
    ),
    ("ebs-surplus-size", "a tenth of it is used", "Highest use of each day",
     {"Provisioned (1,000 GiB)": 100, "Proposed (140 GiB)": 14}),
    (
        "ebs-outdated-type", "gp2 at 170 MiB/s",
        "Busiest minute of 35 days", {"gp2 at most": 250, "gp3 proposed": 204},
    ),
    ("ebs-outdated-type", "magnetic, and at its limit every night", "Busiest minute of 35 days",
     {"Magnetic at most": 200}),
    (
        "ebs-burst-draining", "an st1 whose scans last longer than its credits",
        "Busiest minute of 35 days", {"Baseline": 40, "Burst": 250},
    ),
    ("ebs-burst-draining", "gone since yesterday", "Busiest minute of 35 days", {"At most": 128}),
    (
        "ebs-instance-bound", "two volumes of 500 MiB/s each, never busy",
        "Sum of their busiest minutes, per day", {"Provisioned": 1_000, "Baseline": 77.49, "Burst": 566.24},
    ),
    (
        "efs-throughput-mismatch", "256 MiB/s provisioned, and 8 used",
        "Busiest five minutes, metered", {"Provisioned": 256, "Bursting at most": 100},
    ),
    (
        "efs-throughput-mismatch", "512 MiB/s provisioned, and a steady 60 used",
        "Busiest five minutes, metered", {"Provisioned": 512, "Proposed": 72},
    ),
    ("efs-throughput-mismatch", "Elastic, and always the same", "Busiest five minutes, metered", {"Proposed": 72}),
    (
        "efs-throughput-mismatch", "256 MiB/s provisioned for ten minutes a night",
        "Busiest five minutes, metered", {"Provisioned": 256},
    ),
    (
        "efs-throughput-mismatch", "at full burst for two hours every day, with credits left",
        "Busiest five minutes, metered", {"Burst limit": 100},
    ),
    (
        "efs-credits-draining", "gone for days, and all of the baseline is used",
        "Metered on the last day", {"Baseline": 1.953},
    ),
    (
        "efs-serial-small-writes", "two hours of 8 KiB writes every night, one after the other",
        "Writes by five minutes", {"One writer that waits for each answer": 370.4},
    ),
    (
        "fsx-sync-export", "two writers, and later one",
        "Writes, per five minutes", {"Ceiling": 600},
    ),
    ("fsx-oversized", "2,000 GiB of OpenZFS, 150 used", "Used SSD, per day",
     {"Provisioned": 2_000, "Option: smaller SSD": 300}),
    ("fsx-oversized", "ONTAP at its minimum, 90 GiB used", "Used SSD, per day", {"Provisioned": 1_024}),
    (
        "fsx-surplus-iops", "the included IOPS are enough",
        "Busiest minute of the disks, per day",
        {"Provisioned (20,000 IOPS)": 100, "Limit at 3,000 IOPS, on today's scale": 15},
    ),
    (
        "fsx-surplus-throughput", "a quarter of it is used",
        "Busiest minute of the network, per day",
        {"Provisioned (640 MB/s)": 100, "Limit at 320 MB/s, on today's scale": 50},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("detector_id", "title", "label", "lines"), LEVELS)
def test_a_picture_has_what_a_person_would_compare_it_with(
    detector_id: str, title: str, label: str, lines: dict[str, float]
) -> None:
    assert levels(the_picture(flagged(detector_id, title), label)) == lines


def test_of_two_limits_only_the_one_that_was_met_is_drawn() -> None:
    verdict = flagged("ec2-ebs-throttled", "small I/O: the IOPS are at their limit")

    drawn = {evidence.unit: evidence.series is not None for evidence in verdict.evidence if "five" in evidence.label}
    assert drawn == {"MiB/s": False, "IOPS": True}


def test_the_plateau_is_drawn_by_the_hour_at_its_highest() -> None:
    picture = the_picture(
        flagged("ec2-ebs-throttled", "a batch of six hours on a burst of half an hour"), "Busiest five minutes"
    )

    assert picture.series is not None
    assert (picture.series.period_s, len(picture.series)) == (HOUR_S, 8 * 24)
    assert max(picture.series.present) == picture.value


def test_an_hour_of_the_plateau_is_its_busiest_five_minutes() -> None:
    title = "a batch of six hours on a burst of half an hour"
    metrics = dict(case_of("ec2-ebs-throttled", title).metrics)
    for key in [key for key in metrics if key[0].name == "EBSReadBytes"]:
        metrics[key] = [*metrics[key][:-5], 3 * max(point or 0 for point in metrics[key]), *metrics[key][-4:]]
    picture = the_picture(flagged("ec2-ebs-throttled", title, metrics=metrics), "Busiest five minutes")

    assert picture.series is not None
    assert max(picture.series.present) == picture.value > 150


def test_an_amount_that_is_not_advised_is_not_drawn() -> None:
    """The use is high enough to consider an amount, but the bill is too low for it to save money."""
    title = "Elastic, and so calm that bursting carries it"
    times = {"MeteredIOBytes": 2, "PermittedThroughput": 1}
    metrics = {
        key: [point and point * times.get(key[0].name, 0.01) for point in points]
        for key, points in case_of("efs-throughput-mismatch", title).metrics.items()
    }
    verdict = flagged("efs-throughput-mismatch", title, metrics=metrics)

    assert [advice.action for advice in verdict.advice] == ["change-to-bursting"]
    assert levels(the_picture(verdict, "Busiest five minutes, metered")).keys() == {"Bursting at most"}


@pytest.mark.parametrize(
    "title",
    [
        "more than the baseline, day and night",
        "faster of late: the two ways to the date differ",
        "less comes back at each weekend than each week takes",
        "five days old, and draining since it was created",
        "ten days old, drained from Monday to Friday, and seen at the end of the weekend",
    ],
)
def test_the_credits_are_drawn_until_the_hour_in_the_text(title: str) -> None:
    verdict = flagged("efs-credits-draining", title)
    (shown,) = [evidence.value for evidence in verdict.evidence if evidence.label.startswith("Gone, by the balance")]
    ahead = the_picture(verdict, "Credits left").forecast

    assert ahead is not None
    assert f"in {duration_words(len(ahead) * HOUR_S)}" == shown


def test_the_credits_are_drawn_as_the_week_that_repeats() -> None:
    """Five days use credits, and the weekend restores fewer. The forecast repeats this, lower by each week's loss."""
    verdict = flagged("efs-credits-draining", "less comes back at each weekend than each week takes")
    picture = the_picture(verdict, "Credits left")
    assert picture.series is not None
    assert picture.forecast is not None
    week, ahead = list(picture.series.values), list(picture.forecast.values)

    lost = {round(before - after) for before, after in zip(week, ahead[:-1], strict=False)}
    assert len(lost) == 1
    assert lost.pop() > 0


def test_credits_that_are_gone_have_no_forecast() -> None:
    for title in ("gone for days, and all of the baseline is used", "empty every night, and back by day"):
        assert the_picture(flagged("efs-credits-draining", title), "Credits left").forecast is None
    balance = "Burst balance, each hour's least"
    assert the_picture(flagged("ebs-burst-draining", "gone since yesterday"), balance).forecast is None


def balance_of(title: str, late: int = 0) -> tuple[Flagged, Series]:
    """Return the verdict and forecast for a volume whose newest `late` hours have no data yet."""
    metrics = dict(case_of("ebs-burst-draining", title).metrics)
    ((by_hour, points),) = [(key, list(points)) for key, points in metrics.items() if key[1] == HOUR_S]
    metrics[by_hour] = points[: len(points) - late] + [None] * late
    verdict = flagged("ebs-burst-draining", title, metrics=metrics)
    picture = the_picture(verdict, "Burst balance, each hour's least")
    assert picture.series is not None
    assert picture.forecast is not None
    assert picture.forecast.start_s == picture.series.end_s
    return verdict, picture.forecast


def hours_shown(verdict: Flagged) -> int:
    found = re.search(r"about (\d+) more hours", verdict.summary)
    assert found, verdict.summary
    return int(found[1])


def test_a_volume_s_balance_is_drawn_until_the_hour_in_the_text() -> None:
    verdict, ahead = balance_of("a little less every day")

    assert len(ahead) == hours_shown(verdict) == 8
    assert list(ahead.values) == [8.75, 7.5, 6.25, 5.0, 3.75, 2.5, 1.25, 0.0]


def test_late_points_are_no_part_of_what_is_projected() -> None:
    verdict, ahead = balance_of("a little less every day", late=2)

    assert len(ahead) == hours_shown(verdict) - 2


def test_a_fall_of_half_a_day_is_drawn_as_a_straight_line() -> None:
    verdict, ahead = balance_of("it has fallen to 9 % in a day")
    steps = [before - after for before, after in zip(ahead.values[:-2], ahead.values[1:-1], strict=True)]

    assert len(ahead) - 1 < hours_shown(verdict) + 1 <= len(ahead) + 1
    assert steps == pytest.approx([steps[0]] * len(steps))
    assert ahead.values[0] + steps[0] == pytest.approx(9)


def test_a_week_that_was_late_leaves_a_hole_in_what_is_projected_too() -> None:
    title = "more than the baseline, day and night"
    metrics = dict(case_of("efs-credits-draining", title).metrics)
    ((by_hour, points),) = [
        (key, list(points)) for key, points in metrics.items() if key[0].name == "BurstCreditBalance"
    ]
    points[-160] = None
    picture = the_picture(flagged("efs-credits-draining", title, metrics=metrics | {by_hour: points}), "Credits left")

    assert picture.forecast is not None
    assert [i for i, left in enumerate(picture.forecast.values) if isnan(left)] == [7 * 24 - 160]


def test_volumes_of_one_instance_are_added_day_by_day() -> None:
    """Each volume reads 40 and writes 20 MiB/s at most. On a day where one has no data, only the other counts."""
    title = "two volumes of 500 MiB/s each, never busy"
    verdict = flagged("ebs-instance-bound", title)
    picture = the_picture(verdict, "Sum of their busiest minutes, per day")
    assert picture.series is not None

    volumes = [one for one in case_of("ebs-instance-bound", title).records if isinstance(one, Volume)]
    assert len(volumes) == 2
    assert set(picture.series.present) == {picture.value} == {120.0}
    assert picture.series.period_s == DAY_S


def test_one_client_all_day_is_a_hundred_percent() -> None:
    picture = the_picture(flagged("efs-single-client", "one client, always"), "Connected")

    assert picture.series is not None
    assert set(picture.series.present) == {100.0}


def test_the_picture_of_an_unattached_volume_starts_with_its_days_on_an_instance() -> None:
    title = "attached every week, until two months ago"
    picture = the_picture(flagged("ebs-unattached", title), "Idle on a running instance, per day")

    assert picture.series is not None
    assert not isnan(picture.series.values[0])
    assert isnan(picture.series.values[-1])
    assert picture.value == round(picture.series.present[-1], 1) == 23.9
