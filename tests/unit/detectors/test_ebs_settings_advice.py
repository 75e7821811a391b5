"""Advice on a volume's type, IOPS and throughput, where a wrong word would cause damage."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import chain

import pytest

from slackwater.detectors import ebs_outdated_type, ebs_surplus_iops, ebs_surplus_throughput
from slackwater.engine.cases import play
from slackwater.model.detector import CASE_NOW, AnyDetector, Case
from slackwater.model.metrics import Metric
from slackwater.model.money import EBS_GP3_THROUGHPUT, Change, ebs_iops, ebs_iops_tier, ebs_storage
from slackwater.model.resources import Instance, InstanceType, Volume
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, MIB, MINUTE_S
from slackwater.model.verdicts import Fine, Flagged, Unknown, Verdict
from slackwater.rules import ebs as ebs_change
from slackwater.rules.ebs_peaks import (
    IOPS_EXCEEDED,
    READ_BYTES,
    READS,
    THROUGHPUT_EXCEEDED,
    WRITES,
    WRITTEN_BYTES,
    Part,
)
from support.further_cases import FURTHER

type Metrics = Mapping[tuple[Metric, int], Sequence[float | None]]

IOPS, THROUGHPUT, TYPE = ebs_surplus_iops.DETECTOR, ebs_surplus_throughput.DETECTOR, ebs_outdated_type.DETECTOR
SECONDS = "One-minute averages hide shorter bursts above the proposed limit."
BOUGHT = "1,000 MiB/s bought, 60 used"
MANY = "12,000 IOPS on gp3, 1,500 used"
PAGES = "12,000 IOPS on io2, 1,500 operations of 8 KiB used"
GP2 = "500 GiB gp2 at 60 MiB/s"
SLOW = "magnetic, and at its limit every night"
IO1 = "io1 with 10,000 IOPS, of which 1,500 are used"
HITS = [
    pytest.param(THROUGHPUT, BOUGHT, READ_BYTES, id="throughput"),
    pytest.param(IOPS, MANY, READS, id="iops"),
    pytest.param(TYPE, GP2, READ_BYTES, id="type"),
]


def case(detector: AnyDetector, title: str) -> Case:
    further = (cases for one, cases in FURTHER if one is detector)
    return next(case for case in chain(detector.cases, *further) if case.title == title)


def played(detector: AnyDetector, title: str, **changes: object) -> Verdict:
    return play(detector, replace(case(detector, title), **changes))  # type: ignore[arg-type]


def flagged(detector: AnyDetector, title: str, **changes: object) -> Flagged:
    verdict = played(detector, title, **changes)
    assert isinstance(verdict, Flagged), verdict
    return verdict


def volume(detector: AnyDetector, title: str, **changes: object) -> Volume:
    resource = case(detector, title).resource
    assert isinstance(resource, Volume)
    return replace(resource, **changes)  # type: ignore[arg-type]


def metrics(detector: AnyDetector, title: str, changes: Metrics) -> Metrics:
    return {**case(detector, title).metrics, **changes}


def on(detector: AnyDetector, title: str, **changes: object) -> tuple[object, ...]:
    """Return the records of a case with changes to the instance's type."""
    return tuple(
        replace(one, **changes) if isinstance(one, InstanceType) else one  # type: ignore[arg-type]
        for one in case(detector, title).records
    )


def a_minute(a_second: float) -> list[float | None]:
    return [a_second * MINUTE_S] * 36


def records(detector: AnyDetector, title: str, **changes: object) -> tuple[object, ...]:
    """Return the records of a case with changes to the instance."""
    return tuple(
        replace(one, **changes) if isinstance(one, Instance) else one  # type: ignore[arg-type]
        for one in case(detector, title).records
    )


def without(detector: AnyDetector, title: str, part: Part, days_ago: int) -> Metrics:
    """Return the metrics of a case without the point of one day."""
    values = list(case(detector, title).metrics[part.peak, DAY_S])
    values[-1 - days_ago] = None
    return metrics(detector, title, {(part.peak, DAY_S): values})


def quarter_mib(operations: float) -> Metrics:
    """Return metrics with reads of 256 KiB. `operations` is their rate a second."""
    return metrics(
        IOPS,
        PAGES,
        {
            (READS.peak, DAY_S): a_minute(operations),
            (WRITES.peak, DAY_S): a_minute(0),
            (READ_BYTES.peak, DAY_S): a_minute(operations * MIB / 4),
            (WRITTEN_BYTES.peak, DAY_S): a_minute(0),
        },
    )


def command(verdict: Flagged, place: int = 0) -> str:
    return (verdict.advice[place].command or "").partition("--volume-type ")[2]


def test_iops_and_throughput_are_both_named_and_the_other_one_stays() -> None:
    assert command(flagged(THROUGHPUT, BOUGHT)) == "gp3 --iops 4000 --throughput 125"
    assert command(flagged(IOPS, MANY)) == "gp3 --iops 3000 --throughput 125"
    assert (
        command(flagged(IOPS, "6,000 IOPS, of which 1,000 MiB/s require 4,000")) == "gp3 --iops 4000 --throughput 1000"
    )
    assert command(flagged(TYPE, GP2)) == "gp3 --iops 3000 --throughput 125"


def test_io2_is_set_by_its_iops_alone_and_the_advice_names_the_throughput_that_follows() -> None:
    verdict = flagged(IOPS, PAGES)

    assert command(verdict) == "io2 --iops 1857"
    assert "They provide up to 464 MiB/s; it used at most 11.7." in verdict.advice[0].summary


def test_who_does_what_both_detectors_say_is_warned_that_one_change_would_undo_the_other() -> None:
    both = volume(IOPS, MANY, throughput_mib_s=500)

    assert ebs_change.BOTH in flagged(IOPS, MANY, resource=both).caveats
    assert ebs_change.BOTH in flagged(THROUGHPUT, BOUGHT, resource=volume(THROUGHPUT, BOUGHT, iops=6000)).caveats
    assert ebs_change.BOTH not in flagged(IOPS, MANY).caveats


@pytest.mark.parametrize(
    ("iops", "bought", "both", "afterwards"),
    [(4000, 1000, False, True), (6000, 1000, True, False), (4000, 500, True, False)],
)
def test_iops_that_only_the_throughput_needs_can_follow_and_the_other_detector_is_named_where_it_may_speak(
    iops: int, bought: int, both: bool, afterwards: bool
) -> None:
    caveats = flagged(
        THROUGHPUT, BOUGHT, resource=volume(THROUGHPUT, BOUGHT, iops=iops, throughput_mib_s=bought)
    ).caveats

    assert (ebs_change.BOTH in caveats) == both
    assert (ebs_change.AFTERWARDS in caveats) == afterwards
    alone = play(IOPS, replace(case(IOPS, MANY), resource=volume(IOPS, MANY, iops=iops, throughput_mib_s=bought)))
    assert isinstance(alone, Flagged) == both


def test_what_is_paid_for_no_more_is_what_is_saved() -> None:
    assert flagged(THROUGHPUT, BOUGHT).advice[0].changes == (Change(EBS_GP3_THROUGHPUT, Decimal(875)),)
    assert flagged(IOPS, MANY).advice[0].changes == (Change(ebs_iops("gp3"), Decimal(9_000)),)
    assert flagged(IOPS, PAGES).advice[0].changes == (Change(ebs_iops("io2"), Decimal(12_000 - 1_857)),)


def test_io2_saves_the_cheapest_tiers_first() -> None:
    verdict = flagged(IOPS, PAGES, resource=volume(IOPS, PAGES, iops=70_000))

    assert set(verdict.advice[0].changes or ()) == {
        Change(ebs_iops("io2"), Decimal(32_000 - 1_857)),
        Change(ebs_iops_tier(2), Decimal(32_000)),
        Change(ebs_iops_tier(3), Decimal(6_000)),
    }


@pytest.mark.parametrize(
    ("reads", "writes", "verdict"), [(2_399, 2_400, Flagged), (2_400, 2_400, Fine), (4_800, 0, Fine)]
)
def test_the_line_is_forty_percent_of_what_is_provisioned_reads_and_writes_together(
    reads: float, writes: float, verdict: type[Verdict]
) -> None:
    peaks: Metrics = {
        (READS.peak, DAY_S): a_minute(reads),
        (WRITES.peak, DAY_S): a_minute(writes),
        (READS.peak, FIVE_MINUTES_S): [reads * MINUTE_S] * 288 * 35,
        (WRITES.peak, FIVE_MINUTES_S): [writes * MINUTE_S] * 288 * 35,
    }

    assert isinstance(played(IOPS, MANY, metrics=metrics(IOPS, MANY, peaks)), verdict)


def test_a_policy_decides_how_much_is_kept() -> None:
    assert command(flagged(IOPS, PAGES, limits={"headroom_percent": 100.0})) == "io2 --iops 3094"
    assert isinstance(played(THROUGHPUT, BOUGHT, limits={"peak_percent": 4.0}), Fine)


@pytest.mark.parametrize(("detector", "title", "part"), HITS)
def test_a_hole_is_unknown_unless_it_lies_before_the_start_of_the_instance_and_before_14_days(
    detector: AnyDetector, title: str, part: Part
) -> None:
    restarted = records(detector, title, launched_at=CASE_NOW - timedelta(days=20))
    for missing_days_ago in (1, 14, 18):
        lost = without(detector, title, part, missing_days_ago)
        assert isinstance(played(detector, title, metrics=lost), Unknown), missing_days_ago
        assert isinstance(played(detector, title, metrics=lost, records=restarted), Unknown), missing_days_ago
    for missing_days_ago in (21, 28):
        lost = without(detector, title, part, missing_days_ago)
        assert isinstance(played(detector, title, metrics=lost), Unknown), missing_days_ago
        assert flagged(detector, title, metrics=lost, records=restarted).confidence == "medium"


@pytest.mark.parametrize(("detector", "title", "part"), HITS)
def test_days_before_the_first_that_cloudwatch_has_only_lower_the_confidence(
    detector: AnyDetector, title: str, part: Part
) -> None:
    for first_days_ago, verdict in ((13, Unknown), (14, Flagged)):
        values = list(case(detector, title).metrics[part.peak, DAY_S])
        values[: -1 - first_days_ago] = [None] * (35 - first_days_ago)
        answer = played(detector, title, metrics=metrics(detector, title, {(part.peak, DAY_S): values}))

        assert isinstance(answer, verdict), first_days_ago
        assert not isinstance(answer, Flagged) or answer.confidence == "medium"


@pytest.mark.parametrize(("detector", "title", "part"), HITS)
def test_a_caveat_says_that_bursts_of_seconds_between_the_settings_are_not_seen(
    detector: AnyDetector, title: str, part: Part
) -> None:
    assert SECONDS in flagged(detector, title).caveats


def test_where_gp3_gets_all_that_there_was_no_seconds_are_hidden() -> None:
    assert SECONDS not in flagged(TYPE, "gp2 that ran out of credits").caveats


@pytest.mark.parametrize("lost", [[5], [20], list(range(1, 34))])
def test_a_bucket_that_was_not_watched_may_have_been_empty(lost: list[int]) -> None:
    values: list[float | None] = [90.0] * 36
    for days_ago in lost:
        values[-1 - days_ago] = None
    verdict = flagged(TYPE, GP2, metrics=metrics(TYPE, GP2, {(ebs_change.BALANCE, DAY_S): values}))

    assert "may have run out of credits" in verdict.summary
    assert command(verdict).endswith("--throughput 250")
    assert verdict.confidence == "medium"


def test_a_bucket_is_not_doubted_for_days_before_the_instance_started() -> None:
    values: list[float | None] = [90.0] * 10 + [None] + [90.0] * 25
    restarted = records(TYPE, GP2, launched_at=CASE_NOW - timedelta(days=20))
    verdict = flagged(TYPE, GP2, records=restarted, metrics=metrics(TYPE, GP2, {(ebs_change.BALANCE, DAY_S): values}))

    assert "credits" not in verdict.summary
    assert verdict.confidence == "medium"


def test_the_days_and_the_confidence_are_those_of_all_that_was_asked() -> None:
    """Bytes have points for five weeks, operations for three."""
    values: list[float | None] = [None] * 15 + [1_500.0 * MINUTE_S] * 21
    verdict = flagged(TYPE, IO1, metrics=metrics(TYPE, IO1, {(READS.peak, DAY_S): values}))

    assert "moved at most 40.0 MiB/s in 20 days" in verdict.summary
    assert verdict.confidence == "medium"


@pytest.mark.parametrize("detector", [THROUGHPUT, IOPS, TYPE])
def test_on_xen_the_days_are_those_that_were_watched(detector: AnyDetector) -> None:
    title = "on a Xen instance, by five-minute means"
    fifteen: Metrics = {
        (metric, period_s): values[: 15 * 288] if period_s == FIVE_MINUTES_S else values
        for (metric, period_s), values in case(detector, title).metrics.items()
    }

    assert "15 days" in flagged(detector, title, metrics=fifteen).summary


def test_on_xen_a_hole_weeks_ago_is_unknown_too_unless_it_was_a_stop() -> None:
    title = "on a Xen instance, by five-minute means"
    values = list(case(IOPS, title).metrics[READS.total, FIVE_MINUTES_S])
    values[10 * 288 : 12 * 288] = [None] * 576
    lost = metrics(IOPS, title, {(READS.total, FIVE_MINUTES_S): values})
    restarted = records(IOPS, title, launched_at=CASE_NOW - timedelta(days=20))

    assert isinstance(played(IOPS, title, metrics=lost), Unknown)
    assert "of 33 days" in flagged(IOPS, title, metrics=lost, records=restarted).summary


def test_large_operations_are_not_counted_twice_for_what_was_used_and_are_for_what_is_kept() -> None:
    """CloudWatch counts 4,000 operations. At 256 KiB each, EBS counted between 4,000 and 8,000 IOPS."""
    for iops, verdict in ((10_000, Fine), (10_001, Flagged)):
        answer = played(IOPS, PAGES, resource=volume(IOPS, PAGES, iops=iops), metrics=quarter_mib(4_000))

        assert isinstance(answer, verdict), iops
    assert command(flagged(IOPS, PAGES, resource=volume(IOPS, PAGES), metrics=quarter_mib(4_000))) == "io2 --iops 9600"
    full = played(
        IOPS, PAGES, resource=volume(IOPS, PAGES), metrics=quarter_mib(4_700), limits={"headroom_percent": 40.0}
    )
    assert isinstance(full, Fine)
    assert full.reason == "with headroom, it needs its IOPS"


def test_the_maximum_of_a_multi_attach_volume_may_be_one_instances_or_all() -> None:
    """At least 4,000 and at most 8,000 of 12,000 IOPS were used."""
    title = "on two instances, without exceeded checks"
    operations: Metrics = {
        (READS.peak, DAY_S): a_minute(4_000),
        (READS.peak, FIVE_MINUTES_S): [4_000.0 * MINUTE_S] * 288 * 35,
        (WRITES.peak, DAY_S): a_minute(0),
    }
    answer = played(IOPS, title, metrics=metrics(IOPS, title, operations))
    more = metrics(IOPS, title, {(READS.peak, DAY_S): a_minute(4_800), (WRITES.peak, DAY_S): a_minute(0)})

    assert isinstance(answer, Unknown)
    assert "only one of its instances" in answer.reason
    assert played(IOPS, title, metrics=more) == Fine("it used its IOPS")


@pytest.mark.parametrize("type_", ["io2", "gp3"])
def test_there_may_be_no_fewer_iops_than_the_type_allows(type_: str) -> None:
    verdict = played(IOPS, PAGES, resource=volume(IOPS, PAGES, volume_type=type_, iops=100))

    assert verdict == Fine("its type or its throughput requires its IOPS")


@pytest.mark.parametrize(("detector", "title", "part"), HITS)
def test_confidence_is_high_only_if_the_whole_window_and_the_exceeded_checks_are_there(
    detector: AnyDetector, title: str, part: object
) -> None:
    whole = case(detector, title)
    unchecked = {key: values for key, values in whole.metrics.items() if "Exceeded" not in key[0].name}
    (attached,) = volume(detector, title).attachments
    recently = replace(attached, attached_at=CASE_NOW - timedelta(days=21))

    assert flagged(detector, title).confidence == "high"
    assert flagged(detector, title, metrics=unchecked).confidence == "medium"
    assert flagged(detector, title, resource=volume(detector, title, attachments=(recently,))).confidence == "medium"


@pytest.mark.parametrize(("detector", "title", "part"), HITS)
def test_a_month_ago_is_not_too_long_ago_to_count(detector: AnyDetector, title: str, part: object) -> None:
    for days_ago in (15, 28, 35):
        values = list(case(detector, title).metrics[part.peak, DAY_S])  # type: ignore[attr-defined]
        values[-1 - days_ago] = 1e12
        changed = metrics(detector, title, {(part.peak, DAY_S): values})  # type: ignore[attr-defined]
        answer = played(detector, title, metrics=changed)

        assert isinstance(answer, Fine) or "250 MiB/s is enough" in answer.summary  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("detector", "title", "changes"),
    [
        (THROUGHPUT, "on a Xen instance, by five-minute means", {}),
        (IOPS, "on a Xen instance, by five-minute means", {}),
        (TYPE, "on a Xen instance, by five-minute means", {}),
    ],
)
def test_on_xen_the_confidence_is_low_and_it_says_why(detector: AnyDetector, title: str, changes: object) -> None:
    verdict = flagged(detector, title)

    assert verdict.confidence == "low"
    assert "Five-minute averages hide shorter bursts." in verdict.caveats


@pytest.mark.parametrize(
    ("lost", "apart", "confidence"),
    [
        (3 + 10_080 // 200, 10, "high"),  # CloudWatch may lose this many
        (4 + 10_080 // 200, 10, "medium"),
        (3, 1, "high"),
        (4, 1, "medium"),
        (36, 1, "medium"),  # three hours
        (37, 1, None),
        (504, 8, "medium"),  # 5 %
        (505, 8, None),
    ],
)
def test_the_same_time_of_other_weeks_replaces_short_holes(lost: int, apart: int, confidence: str | None) -> None:
    title = "reads and writes in turns within an hour"
    values, night = list(case(IOPS, title).metrics[READS.peak, FIVE_MINUTES_S]), 20 * 288 + 6
    for i in range(lost):
        values[night + apart * i] = None
    answer = played(IOPS, title, metrics=metrics(IOPS, title, {(READS.peak, FIVE_MINUTES_S): values}))

    assert (answer.confidence if isinstance(answer, Flagged) else None) == confidence, answer
    assert isinstance(answer, Flagged | Unknown)
    if isinstance(answer, Flagged):
        held = any("The same time of another week stands for it." in caveat for caveat in answer.caveats)
        assert held == (confidence == "medium")


@pytest.mark.parametrize("peak_times", [1, 2])
def test_a_hole_that_may_hold_the_peak_of_its_day_has_it(peak_times: float) -> None:
    """For the day, CloudWatch has a busier minute than all remaining five-minute points."""
    title = "reads and writes in turns within an hour"
    by_day, points = (list(case(IOPS, title).metrics[READS.peak, s]) for s in (DAY_S, FIVE_MINUTES_S))
    by_day[22] = peak_times * (by_day[22] or 0)
    points[20 * 288 + 3 : 20 * 288 + 3 + 36] = [None] * 36
    changed: Metrics = {(READS.peak, DAY_S): by_day, (READS.peak, FIVE_MINUTES_S): points}
    answer = played(IOPS, title, metrics=metrics(IOPS, title, changed))

    assert isinstance(answer, Flagged) == (peak_times == 1), answer


@pytest.mark.parametrize(
    ("hole", "verdict"), [(3 + 4_032 // 200, Flagged), (4 + 4_032 // 200, Flagged), (36, Flagged), (37, Unknown)]
)
def test_on_xen_missing_operations_are_no_idleness(hole: int, verdict: type[Verdict]) -> None:
    title = "on a Xen instance, by five-minute means"
    values = list(case(IOPS, title).metrics[WRITES.total, FIVE_MINUTES_S])
    values[-hole:] = [None] * hole
    answer = played(IOPS, title, metrics=metrics(IOPS, title, {(WRITES.total, FIVE_MINUTES_S): values}))

    assert isinstance(answer, verdict), answer
    filled = [caveat for caveat in getattr(answer, "caveats", ()) if caveat.startswith("VolumeWriteOps has no data")]
    assert bool(filled) == (hole == 4 + 4_032 // 200 or hole == 36)


def test_an_io1_volume_with_multi_attach_cannot_be_changed_and_no_command_tries() -> None:
    shared = volume(IOPS, PAGES, volume_type="io1", multi_attach=True)
    verdict = flagged(IOPS, PAGES, resource=shared)

    assert verdict.advice[0].command is None
    assert verdict.confidence == "medium"
    assert any("Create an io2 volume from a snapshot" in caveat for caveat in verdict.caveats)
    assert flagged(TYPE, "io1 on several instances, with 40,000 IOPS").advice[0].command is None


def test_iops_are_never_below_what_the_throughput_takes() -> None:
    """io1 exceeds 500 MiB/s only above 32,000 IOPS. Each IOPS of io2 includes 0.256 MiB/s."""
    io1 = volume(IOPS, PAGES, volume_type="io1", iops=64_000, size_gib=2_000)
    moving: Metrics = {(READ_BYTES.peak, DAY_S): a_minute(410 * MIB), (WRITTEN_BYTES.peak, DAY_S): a_minute(0)}
    faster: Metrics = {**moving, (READ_BYTES.peak, DAY_S): a_minute(420 * MIB)}

    assert command(flagged(IOPS, PAGES, resource=io1, metrics=metrics(IOPS, PAGES, moving))) == "io1 --iops 3768"
    assert command(flagged(IOPS, PAGES, resource=io1, metrics=metrics(IOPS, PAGES, faster))) == "io1 --iops 32256"


def test_no_more_is_bought_than_the_volume_could_use_before() -> None:
    assert command(flagged(TYPE, "100 GiB gp2 at its 128 MiB/s")) == "gp3 --iops 3000 --throughput 128"
    assert command(flagged(TYPE, "io1 at its limit")).startswith("gp3 --iops 10000 ")
    assert command(flagged(TYPE, GP2, metrics=metrics(TYPE, GP2, {(READ_BYTES.peak, DAY_S): a_minute(249 * MIB)}))) == (
        "gp3 --iops 3000 --throughput 250"
    )


@pytest.mark.parametrize(("mib_s", "set_to"), [(104, 125), (104.1, 125), (105, 126), (200, 240)])
def test_a_fifth_more_than_the_peak_is_kept(mib_s: float, set_to: int) -> None:
    peaks: Metrics = {
        (READ_BYTES.peak, DAY_S): a_minute(mib_s * MIB),
        (WRITTEN_BYTES.peak, DAY_S): a_minute(0),
        (READ_BYTES.peak, FIVE_MINUTES_S): [mib_s * MIB * MINUTE_S] * 288 * 35,
    }

    assert command(flagged(TYPE, GP2, metrics=metrics(TYPE, GP2, peaks))) == f"gp3 --iops 3000 --throughput {set_to}"


def test_gp3_is_priced_with_all_that_it_does_not_include_and_beside_it_as_fast_as_before() -> None:
    needed, as_fast = flagged(TYPE, GP2).advice
    no_more, no_less = Change(ebs_storage("gp2"), Decimal(500)), Change(ebs_storage("gp3"), Decimal(-500))

    assert needed.changes == (no_more, no_less)
    assert as_fast.changes == (no_more, no_less, Change(EBS_GP3_THROUGHPUT, Decimal(-125)))
    assert as_fast.command is not None
    assert as_fast.command.endswith("--iops 3000 --throughput 250")


@pytest.mark.parametrize(("percent", "throughput"), [(1.0, 125), (0.9, 250)])
def test_a_bucket_that_was_empty_gives_all_that_it_had(percent: float, throughput: int) -> None:
    balance: Metrics = {(ebs_change.BALANCE, DAY_S): [80.0] * 20 + [percent] + [80.0] * 15}

    assert command(flagged(TYPE, GP2, metrics=metrics(TYPE, GP2, balance))).endswith(f"--throughput {throughput}")


def test_io1_has_two_ways_and_io2_is_one_only_where_it_saves() -> None:
    many = volume(TYPE, IO1, iops=40_000, size_gib=1_000)
    calm: Metrics = {(IOPS_EXCEEDED, DAY_S): [0.0] * 36, (THROUGHPUT_EXCEEDED, DAY_S): [0.0] * 36}
    few, much = flagged(TYPE, IO1), flagged(TYPE, IO1, resource=many, metrics=metrics(TYPE, IO1, calm))

    assert [one.action for one in few.advice] == ["move-to-gp3", "move-to-gp3-as-fast"]
    assert [one.action for one in much.advice] == ["move-to-gp3", "move-to-gp3-as-fast", "move-to-io2"]
    assert set(much.advice[-1].changes or ()) >= {
        Change(ebs_iops("io1"), Decimal(40_000)),
        Change(ebs_iops("io2"), Decimal(-32_000)),
        Change(ebs_iops_tier(2), Decimal(-8_000)),
    }
    assert command(much, 2) == "io2 --iops 40000"
    assert "99.9 %" in few.advice[0].risk
    assert few.cheapest_first


def test_a_magnetic_volume_is_slow_and_its_requests_are_priced() -> None:
    billed = metrics(TYPE, SLOW, {(READS.total, DAY_S): [4e6] * 35 + [1e9], (WRITES.total, DAY_S): [None] + [2e6] * 35})
    verdict = flagged(TYPE, SLOW, metrics=billed)

    assert verdict.kind == "performance"
    assert [(one.item.id, round(one.quantity, 3)) for one in verdict.advice[0].changes or ()] == [
        ("ebs.standard.storage", 200),
        ("ebs.gp3.storage", -200),
        ("ebs.standard.requests", round(Decimal((35 * 4 + 34 * 2) / 35 * 730 / 24), 3)),
    ]
    assert any("The saving assumes as many I/O requests" in caveat for caveat in verdict.caveats)
    assert command(verdict) == "gp3 --iops 3000 --throughput 125"


@pytest.mark.parametrize(("millions", "verdict"), [(39, Fine), (41, Flagged)])
def test_a_magnetic_volume_with_few_requests_costs_less_than_gp3(millions: float, verdict: type[Verdict]) -> None:
    title = "magnetic, and a million I/O requests a month"  # 200 GiB
    a_day = {(READS.total, DAY_S): [millions * 1e6 * 24 / 730] * 36}

    assert isinstance(played(TYPE, title, metrics=metrics(TYPE, title, a_day)), verdict)


def test_a_silent_bucket_is_doubted_only_on_days_with_io() -> None:
    title = "gp2 without I/O and BurstBalance for six days"
    moved = list(case(TYPE, title).metrics[READ_BYTES.peak, DAY_S])
    moved[-5] = 1.0
    doubted = flagged(TYPE, title, metrics=metrics(TYPE, title, {(READ_BYTES.peak, DAY_S): moved}))

    assert flagged(TYPE, title).confidence == "high"
    assert "may have run out of credits" in doubted.summary


@pytest.mark.parametrize(("days", "verdict"), [(2, Fine), (3, Flagged)])
def test_a_magnetic_volume_is_at_its_limit_on_several_days(days: int, verdict: type[Verdict]) -> None:
    calm, busy = [50.0 * MINUTE_S] * (36 - days), [195.0 * MINUTE_S] * days
    alone: Metrics = {
        (READS.peak, DAY_S): calm + busy,
        (WRITES.peak, DAY_S): a_minute(0),
        (READS.peak, FIVE_MINUTES_S): [value for value in [*calm, *busy][-35:] for _ in range(288)],
        (WRITES.peak, FIVE_MINUTES_S): [0.0] * 288 * 35,
    }

    assert isinstance(played(TYPE, SLOW, metrics=metrics(TYPE, SLOW, alone)), verdict)


def test_reads_and_writes_of_a_magnetic_volume_that_come_in_turns_are_not_added() -> None:
    title = "magnetic, reads by day and writes by night"  # 120 operations a second each
    billed = metrics(TYPE, title, {(READS.total, DAY_S): [60 * 86_400.0] * 36})
    verdict = flagged(TYPE, title, metrics=billed)

    assert verdict.kind is None
    assert verdict.evidence[2].value == 120


def test_a_magnetic_volume_is_not_judged_with_holes() -> None:
    assert isinstance(played(TYPE, SLOW, metrics=without(TYPE, SLOW, WRITES, 10)), Unknown)


@pytest.mark.parametrize(("detector", "title", "part"), HITS)
def test_what_a_program_manages_is_changed_there(detector: AnyDetector, title: str, part: object) -> None:
    claimed = volume(detector, title, tags={"ebs.csi.aws.com/cluster": "true"})

    assert any("Kubernetes" in caveat for caveat in flagged(detector, title, resource=claimed).caveats)


@pytest.mark.parametrize(("detector", "title", "part"), HITS)
def test_four_changes_a_day_are_all_that_ebs_takes(detector: AnyDetector, title: str, part: object) -> None:
    assert "at most four changes of a volume in 24 hours" in flagged(detector, title).advice[0].risk


def test_the_picture_is_a_bar_a_day_even_where_it_was_looked_at_closer() -> None:
    title = "reads by day and writes by night, each below the line"
    (picture,) = [one.series for one in flagged(IOPS, title).evidence if one.series]

    assert (picture.period_s, len(picture)) == (DAY_S, 35)
    assert set(picture.present) == {4_000.0}


def test_an_unknown_type_of_instance_is_no_evidence() -> None:
    only_the_instance = tuple(one for one in case(IOPS, MANY).records if not isinstance(one, InstanceType))

    assert isinstance(played(IOPS, MANY, records=only_the_instance), Unknown)
    assert isinstance(played(IOPS, MANY, records=()), Unknown)
    assert isinstance(flagged(IOPS, MANY, records=on(IOPS, MANY, ebs_maximum_mbps=None)), Flagged)
