"""Advice on EFS data in the wrong class, zone or service, and the boundary of each limit."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from math import ceil, nan
from random import Random
from typing import Any

import pytest

from slackwater.detectors import efs_cold_data, efs_serial_small_writes, efs_single_client, efs_single_zone_use
from slackwater.engine.cases import play, play_with_queries, words
from slackwater.engine.price import savings
from slackwater.model.detector import CASE_NOW, AnyDetector, Case
from slackwater.model.metrics import Metric
from slackwater.model.money import (
    EBS_GP3_THROUGHPUT,
    EFS_ELASTIC_READ,
    EFS_ELASTIC_WRITE,
    EFS_IA_READ,
    EFS_IA_TIERING,
    EFS_PROVISIONED_THROUGHPUT,
    Price,
    ebs_iops,
    ebs_storage,
    efs_storage,
)
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, GIB, MIB
from slackwater.model.verdicts import Advice, Fine, Flagged, Unknown, Verdict
from slackwater.performance import nfs

COLD, ZONE, CLIENT, SERIAL = (
    module.DETECTOR for module in (efs_cold_data, efs_single_zone_use, efs_single_client, efs_serial_small_writes)
)
US_EAST_1 = {
    item: Price(Decimal(usd), "published", date(2026, 8, 1))
    for item, usd in (
        (efs_storage("Standard", one_zone=False, elastic=False), "0.30"),
        (efs_storage("IA", one_zone=False, elastic=False), "0.025"),
        (efs_storage("Standard", one_zone=True, elastic=False), "0.16"),
        (ebs_storage("gp3"), "0.08"),
        (EFS_IA_READ, "0.01"),
        (EFS_IA_TIERING, "0.01"),
        (EFS_PROVISIONED_THROUGHPUT, "6.00"),
    )
}

type Metrics = Mapping[tuple[Metric, int], Sequence[float | None]]


def case(detector: AnyDetector, title: str, resource: Mapping[str, Any] | None = None, **changes: Any) -> Case:
    """Return a worked case with changes to its resource or to the case itself."""
    (one,) = [one for one in detector.cases if one.title == title]
    return replace(one, resource=replace(one.resource, **(resource or {})), **changes)


def verdict(detector: AnyDetector, title: str, resource: Mapping[str, Any] | None = None, **changes: Any) -> Verdict:
    return play(detector, case(detector, title, resource, **changes))


def flagged(detector: AnyDetector, title: str, resource: Mapping[str, Any] | None = None, **changes: Any) -> Flagged:
    found = verdict(detector, title, resource, **changes)
    assert isinstance(found, Flagged), found
    return found


def stored(standard: float, cold: float = 0, archive: float = 0) -> dict[str, Any]:
    return {"stored_bytes": {"Standard": int(standard * GIB), "IA": int(cold * GIB), "Archive": int(archive * GIB)}}


def units(advice: Advice) -> dict[str, Decimal]:
    assert advice.changes is not None
    return {change.item.id: change.quantity for change in advice.changes}


PLACES = (COLD, ZONE, CLIENT, SERIAL)
HITS = [
    pytest.param(detector, one, id=f"{number}: {one.title}")
    for number, detector in enumerate(PLACES)
    for one in detector.cases
    if one.expect is Flagged
]


@pytest.mark.parametrize(("detector", "one"), HITS)
def test_no_command_deletes_and_each_can_be_typed(detector: AnyDetector, one: Case) -> None:
    found = play(detector, one)

    assert isinstance(found, Flagged)
    assert found.advice
    for advice in found.advice:
        command = shlex.split(advice.command or "aws")
        assert command[0] == "aws"
        assert not [word for word in command if "delete" in word or "terminate" in word]
        assert not [word for word in command if "None" in word]


@pytest.mark.parametrize(("detector", "one"), HITS)
def test_its_manager_is_named(detector: AnyDetector, one: Case) -> None:
    if detector is SERIAL:
        return  # its advice is about the clients or another file system
    owned = replace(one, resource=replace(one.resource, tags={"aws:cloudformation:stack-name": "media"}))
    found = play(detector, owned)

    assert isinstance(found, Flagged)
    assert "It is managed by CloudFormation stack media: change it there." in found.caveats


# --- cold data --------------------------------------------------------------------------------------------------------

LITTLE = "800 GiB of which 55 were touched"
READ, WRITTEN, METERED, STORED = efs_cold_data.READ, efs_cold_data.WRITTEN, efs_cold_data.METERED, efs_cold_data.STORED
SAMPLES = efs_cold_data.SAMPLES


def moved(read: float, written: float, metered_bytes_per_s: float = 0) -> Metrics:
    """Return metrics of this many GiB in 37 daily points. The last point is today's."""
    return {
        (READ, DAY_S): [read * GIB / 37] * 37,
        (WRITTEN, DAY_S): [written * GIB / 37] * 37,
        (METERED, DAY_S): [metered_bytes_per_s * DAY_S] * 37,
    }


def test_the_policy_is_whole_and_brings_back_what_is_read() -> None:
    (advice,) = flagged(COLD, LITTLE).advice
    command = shlex.split(advice.command or "")

    assert command[:3] == ["aws", "efs", "put-lifecycle-configuration"]
    assert command[command.index("--lifecycle-policies") + 1 :] == [
        "TransitionToIA=AFTER_30_DAYS",
        "TransitionToPrimaryStorageClass=AFTER_1_ACCESS",
    ]
    assert "replaces the whole lifecycle configuration" in advice.risk


def test_what_is_untouched_moves_and_all_that_is_read_in_a_month_is_charged_as_read_back() -> None:
    (advice,) = flagged(COLD, LITTLE, metrics=moved(36, 14)).advice
    changed = units(advice)

    assert changed["efs.standard.storage"] == -changed["efs.ia.storage"] == 750
    assert changed["efs.ia.read"] == pytest.approx(Decimal(-36) / 36 * Decimal(365) / 12)
    assert changed["efs.ia.tiering"] == pytest.approx(2 * changed["efs.ia.read"])


def test_where_nothing_is_read_no_fee_is_asked_for() -> None:
    (advice,) = flagged(COLD, LITTLE, metrics=moved(0, 0)).advice

    assert set(units(advice)) == {"efs.standard.storage", "efs.ia.storage"}


@pytest.mark.parametrize(
    ("read", "written", "expected"), [(599, 0, Flagged), (300, 299, Flagged), (601, 0, Fine), (300, 301, Fine)]
)
def test_a_quarter_of_it_has_to_be_untouched(read: float, written: float, expected: type[Verdict]) -> None:
    assert isinstance(verdict(COLD, LITTLE, metrics=moved(read, written)), expected)


@pytest.mark.parametrize(("percent_a_day", "confidence"), [(1, "medium"), (2, "low")])
def test_reading_one_or_two_percent_a_day_still_saves_in_the_worst_case(percent_a_day: float, confidence: str) -> None:
    read_gib = 8.0 * percent_a_day  # GiB a day, of 800 GiB
    found = flagged(COLD, LITTLE, metrics=moved(37 * read_gib, 0))
    changed = units(found.advice[0])

    assert found.confidence == confidence
    assert changed["efs.standard.storage"] == pytest.approx(Decimal(800 - 37 * read_gib))
    saved = savings(found.advice[0], US_EAST_1)
    assert saved is not None
    assert saved > Decimal("0.2") * changed["efs.standard.storage"]  # of 0.275 USD a GiB; reads cost the rest


def test_today_counts_too() -> None:
    metrics = {**moved(1, 1), (READ, DAY_S): [0.0] * 36 + [601.0 * GIB]}

    assert isinstance(verdict(COLD, LITTLE, metrics=metrics), Fine)


@pytest.mark.parametrize(("gib", "days", "expected"), [(100, 30, Flagged), (99.9, 30, Fine), (100, 29.9, Fine)])
def test_from_100_gib_and_30_days_on(gib: float, days: float, expected: type[Verdict]) -> None:
    made = {**stored(gib), "created_at": CASE_NOW - timedelta(days=days)}

    assert isinstance(verdict(COLD, LITTLE, made, metrics=moved(1, 1)), expected)


def test_only_what_nobody_touched_while_every_day_was_seen_is_certain() -> None:
    recorded: Metrics = {(STORED, DAY_S): [800.0 * GIB] * 37, (SAMPLES, DAY_S): [96.0] * 37}
    nothing, gone = {**moved(0, 0), **recorded}, [None, *([0.0] * 36)]
    hours_lost = {**nothing, (SAMPLES, DAY_S): [96.0] * 20 + [80.0] + [96.0] * 16}

    assert flagged(COLD, LITTLE, metrics=nothing).confidence == "high"
    assert flagged(COLD, LITTLE, metrics=hours_lost).confidence == "medium"
    assert flagged(COLD, LITTLE, metrics=moved(0, 0.001)).confidence == "medium"
    assert flagged(COLD, LITTLE, metrics={**nothing, (WRITTEN, DAY_S): gone}).confidence == "medium"
    assert flagged(COLD, LITTLE, {"created_at": CASE_NOW - timedelta(days=33)}, metrics=nothing).confidence == "medium"
    assert flagged(COLD, "nothing published, while CloudWatch was recording").confidence == "medium"


def test_a_short_hole_is_named_and_lowers_the_confidence() -> None:
    whole, hole = flagged(COLD, "6 TiB, never fast"), flagged(COLD, "6 TiB, and two hours without a point")

    assert not any("has no data" in one for one in whole.caveats)
    assert any("MeteredIOBytes has no data for 2 h of the last 30 days" in one for one in hole.caveats)
    quiet = {**moved(0, 0), (STORED, DAY_S): [6e12] * 37, (SAMPLES, DAY_S): [96.0] * 37}
    metered = [0.0] * 37 * 288
    sure = {**quiet, (METERED, FIVE_MINUTES_S): metered}
    unsure = {**quiet, (METERED, FIVE_MINUTES_S): [*metered[:6000], *[None] * 24, *metered[6024:]]}
    assert flagged(COLD, "6 TiB, never fast", metrics=sure).confidence == "high"
    assert flagged(COLD, "6 TiB, never fast", metrics=unsure).confidence == "medium"


def test_a_metric_that_is_published_on_some_days_is_missing_on_the_others() -> None:
    metrics: Metrics = {
        **moved(0, 0),
        (STORED, DAY_S): [GIB] * 37,
        (WRITTEN, DAY_S): [*([0.0] * 30), None, *([0.0] * 6)],
    }

    assert isinstance(verdict(COLD, LITTLE, metrics=metrics), Unknown)


def test_elastic_may_go_on_to_archive_and_one_zone_may_not() -> None:
    elastic = {"throughput_mode": "elastic"}
    archive = flagged(COLD, LITTLE, elastic).advice[1]

    changed = units(archive)
    assert changed["efs.archive.storage"] == -changed["efs.standard.storage"]
    assert changed["efs.archive.read"] == pytest.approx(-37 / Decimal(36) * Decimal(365) / 12, rel=Decimal("0.01"))
    assert changed["efs.archive.tiering"] == pytest.approx(2 * changed["efs.archive.read"])
    assert "TransitionToIA=AFTER_30_DAYS TransitionToArchive=AFTER_90_DAYS TransitionToPrimary" in (
        archive.command or ""
    )
    assert [
        len(flagged(COLD, LITTLE, mode).advice) for mode in ({}, {**elastic, "availability_zone": "us-east-1a"})
    ] == [1, 1]
    assert "efs.ia.storage.elastic" in units(flagged(COLD, LITTLE, elastic).advice[0])


def test_provisioned_throughput_that_the_size_includes_is_paid_for_afterwards() -> None:
    above = flagged(COLD, LITTLE, {"throughput_mode": "provisioned", "provisioned_mib_s": 100.0}, metrics=moved(0, 0))
    (advice,) = above.advice

    assert units(advice)["efs.provisioned.throughput"] == -40  # 800 GiB include 40 MiB/s
    assert savings(advice, US_EAST_1) == Decimal("-20.00")  # it costs more, so it is not listed


@pytest.mark.parametrize(("mib_s", "expected"), [(0.8, Flagged), (0.86, Fine)])
def test_a_bursting_file_system_may_use_what_is_left_but_a_sixth(mib_s: float, expected: type[Verdict]) -> None:
    assert isinstance(verdict(COLD, LITTLE, metrics=moved(1, 1, mib_s * MIB)), expected)


def test_a_day_that_takes_half_of_the_credits_is_too_much() -> None:
    day = 1_100.0 * GIB
    metrics = {**moved(1, 1), (METERED, DAY_S): [*([0.0] * 20), day, day / 2, *([0.0] * 15)]}

    assert "with credits" in words(verdict(COLD, LITTLE, metrics=metrics))


def test_the_least_baseline_is_named_beside_todays() -> None:
    assert "from 39.1 MiB/s to as little as 1 MiB/s" in flagged(COLD, LITTLE).advice[0].risk


# --- one zone ---------------------------------------------------------------------------------------------------------

ONE_TARGET = "its only mount target is in one zone"


def test_the_way_to_one_zone_is_a_second_file_system_and_its_price_is_named() -> None:
    found = flagged(ZONE, ONE_TARGET)
    (advice,) = found.advice

    assert found.confidence == "low"
    assert shlex.split(advice.command or "") == [
        *("aws", "efs", "create-replication-configuration", "--region", "ap-northeast-1"),
        *("--source-file-system-id", "fs-0c3d4e5f607182930"),
        *("--destinations", "Region=ap-northeast-1,AvailabilityZoneName=ap-northeast-1c"),
    ]
    for lost in ("99.9 %", "the loss of its zone loses the data", "no Archive", "AWS bills both"):
        assert lost in advice.risk
    assert units(advice) == {"efs.standard.storage": 400, "efs.one-zone.standard.storage": -400}


def test_what_is_in_archive_becomes_infrequent_access() -> None:
    (advice,) = flagged(ZONE, ONE_TARGET, {**stored(10, 20, 500), "throughput_mode": "elastic"}).advice

    assert units(advice) == {
        "efs.standard.storage": 10,
        "efs.ia.storage.elastic": 20,
        "efs.archive.storage": 500,
        "efs.one-zone.standard.storage": -10,
        "efs.one-zone.ia.storage": -520,
    }


@pytest.mark.parametrize(("days", "expected"), [(7, Flagged), (6.9, Fine)])
def test_a_week_is_given_to_make_the_other_mount_targets(days: float, expected: type[Verdict]) -> None:
    assert isinstance(verdict(ZONE, ONE_TARGET, {"created_at": CASE_NOW - timedelta(days=days)}), expected)


def test_the_advice_for_elastic_names_the_lower_operations_of_one_zone() -> None:
    elastic = flagged(ZONE, ONE_TARGET, {"throughput_mode": "elastic"})

    assert "35,000 reads or 7,000 writes" in elastic.advice[0].risk
    assert "35,000" not in flagged(ZONE, ONE_TARGET).advice[0].risk


# --- one client -------------------------------------------------------------------------------------------------------

ALONE = "one client, always"
POINTS = 36 * 288
CLIENTS = efs_single_client.CLIENTS


def connected(points: Sequence[float | None], **more: Any) -> Metrics:
    return efs_single_client.connected(points, **more)


@pytest.mark.parametrize("zone", ["ap-northeast-1a", None])
def test_the_volume_is_created_in_the_unknown_zone_of_the_instance(zone: str | None) -> None:
    (advice,) = flagged(CLIENT, ALONE, {"availability_zone": zone}).advice

    assert advice.command is None
    assert "--volume-type gp3 --size 120 --iops 3000 --throughput 125 --encrypted" in advice.summary
    assert "--availability-zone` and the zone of the instance" in advice.summary
    assert "ap-northeast-1a" not in advice.summary
    assert "cannot attach it in another zone" in advice.risk


def test_the_volume_has_room() -> None:
    (advice,) = flagged(CLIENT, ALONE).advice

    assert units(advice) == {"efs.one-zone.standard.storage": 80, "ebs.gp3.storage": -120}
    assert savings(advice, US_EAST_1) == Decimal("3.20")


def test_regional_is_priced_as_such() -> None:
    (advice,) = flagged(CLIENT, ALONE, {"availability_zone": None}).advice

    assert units(advice)["efs.standard.storage"] == 80


def test_a_busy_client_needs_a_faster_volume_which_is_paid_for() -> None:
    (advice,) = flagged(CLIENT, ALONE, metrics=connected([5.0] * POINTS, mib_s=199.5)).advice

    assert units(advice)[EBS_GP3_THROUGHPUT.id] == 125 - 300  # 200 MiB/s plus half
    assert "--throughput 300" in advice.summary


def test_many_small_operations_need_iops_which_are_paid_for() -> None:
    metrics = connected([5.0] * POINTS, mib_s=31.25, kib=8)  # 4,000 reads and 8 writes a second
    found = flagged(CLIENT, ALONE, metrics=metrics)
    (advice,) = found.advice
    most = 4_008 + 31.75 * 4  # each operation may be split once for every 256 KiB

    assert f"--iops {ceil(most * 1.5)} --throughput 125" in advice.summary
    assert units(advice)[ebs_iops("gp3").id] == 3_000 - ceil(most * 1.5)
    assert (round(most), "operations/s") in {(one.value, one.unit) for one in found.evidence}


def test_a_small_volume_grows_to_what_its_iops_ask_for() -> None:
    metrics = connected([5.0] * POINTS, mib_s=31.25, kib=8)
    found = flagged(CLIENT, ALONE, stored(1), metrics=metrics)

    assert "--size 13 --iops 6203" in found.advice[0].summary  # 500 IOPS for each GiB
    assert "of 13 GiB is enough" in found.summary


def test_a_caveat_names_operations_without_metrics() -> None:
    (unseen,) = flagged(CLIENT, "one client, and operations that are not published").advice
    (known,) = flagged(CLIENT, ALONE).advice

    assert "CloudWatch published no operations" in unseen.risk
    assert "published" not in known.risk


def test_what_was_moved_on_some_points_is_of_the_whole_month() -> None:
    (advice,) = flagged(CLIENT, "one client, which reads for an hour a day", {"throughput_mode": "elastic"}).advice
    an_hour_a_day = 40 * 3_600 * 365 / 12 / 1024

    assert float(units(advice)[EFS_ELASTIC_READ.id]) == pytest.approx(an_hour_a_day, rel=1e-6)


@pytest.mark.parametrize(
    ("detector", "title", "others"),
    [
        (COLD, LITTLE, "efs-single-client or efs-single-zone-use"),
        (ZONE, ONE_TARGET, "efs-cold-data or efs-single-client"),
        (CLIENT, ALONE, "efs-cold-data or efs-single-zone-use"),
    ],
)
def test_what_excludes_each_other_says_so(detector: AnyDetector, title: str, others: str) -> None:
    assert (
        f"If {others} also flags this file system, follow only one of them: their savings do not add up."
        in flagged(detector, title).caveats
    )


def test_the_words_of_the_cold_saving_do_not_contradict_each_other() -> None:
    (caveat,) = [one for one in flagged(COLD, LITTLE).caveats if "saving" in one and "GiB" in one]

    assert "Between 744 and 800 GiB are cold. The saving assumes 744 GiB" in caveat
    assert "lower if files are huge" in caveat


def test_what_efs_bills_for_throughput_is_saved() -> None:
    bought = {"throughput_mode": "provisioned", "provisioned_mib_s": 24.0}
    (provisioned,), (elastic,) = (
        flagged(CLIENT, ALONE, mode).advice for mode in (bought, {"throughput_mode": "elastic"})
    )

    assert units(provisioned)["efs.provisioned.throughput"] == 20  # 80 GiB include 4 MiB/s
    month_s = 365 / 12 * DAY_S
    assert float(units(elastic)[EFS_ELASTIC_READ.id]) == pytest.approx(4 * month_s / 1024, rel=1e-6)
    assert float(units(elastic)[EFS_ELASTIC_WRITE.id]) == pytest.approx(0.5 * month_s / 1024, rel=1e-6)


@pytest.mark.parametrize(("away", "expected"), [(28, Flagged), (30, Fine)])
def test_nine_minutes_of_ten_are_always(away: int, expected: type[Verdict]) -> None:
    points = ([5.0] * (288 - away) + [0.0] * away) * 36

    assert isinstance(verdict(CLIENT, ALONE, metrics=connected(points)), expected)


def test_one_five_minutes_with_a_second_client_are_enough() -> None:
    points = [*([5.0] * 5_000), 0.0, 6.0, 0.0, *([5.0] * (POINTS - 5_003))]

    assert "two clients" in words(verdict(CLIENT, ALONE, metrics=connected(points)))


@pytest.mark.parametrize(("gone", "expected"), [(86, Flagged), (87, Unknown)])
def test_one_point_in_a_hundred_may_be_missing(gone: int, expected: type[Verdict]) -> None:
    points = [*([5.0] * (POINTS - gone)), *([None] * gone)]
    metrics = {**connected([5.0] * POINTS), (CLIENTS, FIVE_MINUTES_S): points}

    assert isinstance(verdict(CLIENT, ALONE, metrics=metrics), expected)


def test_what_was_not_seen_whole_is_of_low_confidence() -> None:
    young = {"created_at": CASE_NOW - timedelta(days=33)}
    dark = {**connected([5.0] * POINTS), (CLIENTS, FIVE_MINUTES_S): [*([None] * 300), *([5.0] * (POINTS - 300))]}

    assert flagged(CLIENT, ALONE).confidence == "medium"
    assert flagged(CLIENT, ALONE, young).confidence == "low"
    assert flagged(CLIENT, ALONE, metrics=dark).confidence == "low"


# --- serial writes ----------------------------------------------------------------------------------------------------

NIGHTLY = "two hours of 8 KiB writes every night, one after the other"
writing = partial(efs_serial_small_writes.writing, metadata_per_s=200)  # half a writer waits even without writes


def nights(*spell: float, rest: float = 2) -> list[float]:
    """Return the rate of writes a second for each five-minute point. `spell` is repeated every night."""
    return [*([rest] * 36), *spell, *([rest] * (252 - len(spell)))] * 14


WELL_BELOW = partial(writing, nights(*[340] * 24))


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        pytest.param(writing(nights(*[340] * 6)), Flagged, id="six points"),
        pytest.param(writing(nights(*[340] * 5)), Fine, id="five points"),
        pytest.param(writing(nights(*[51] * 24)), Flagged, id="51 a second"),
        pytest.param(writing(nights(*[49] * 24)), Fine, id="49 a second"),
        pytest.param(writing(nights(*[100] * 24), 64), Flagged, id="64 KiB"),
        pytest.param(writing(nights(*[100] * 24), 65), Fine, id="65 KiB"),
        pytest.param(writing(nights(*[260, 380] * 12)), Flagged, id="a fifth up and down"),
        pytest.param(writing(nights(*[250, 450] * 12)), Fine, id="28 % up and down"),
        pytest.param(WELL_BELOW(metered_mib_s=17), Flagged, id="19.7 % of the permitted"),
        pytest.param(WELL_BELOW(metered_mib_s=18), Fine, id="20.7 % of the permitted"),
        pytest.param(WELL_BELOW(io=49), Flagged, id="half of the operations"),
        pytest.param(WELL_BELOW(io=51), Fine, id="more than half of the operations"),
        pytest.param(writing(nights(*[5_900] * 24), 2), Flagged, id="sixteen writers' worth"),
        pytest.param(writing(nights(*[6_000] * 24), 2), Fine, id="more than sixteen"),
        pytest.param(writing(nights(*[340] * 24, rest=49)), Flagged, id="after a rest"),
        pytest.param(writing(nights(*[340] * 24, rest=51)), Flagged, id="on top of what is usual"),
        pytest.param(writing(nights(*[100] * 24, *[340] * 24)), Fine, id="it begins with less for two hours"),
        pytest.param(writing(nights(*[80] * 24, rest=39)), Flagged, id="it doubles"),
        pytest.param(writing(nights(*[80] * 24, rest=41)), Fine, id="it hardly doubles"),
        pytest.param(writing(nights(170, *[340] * 23)), Flagged, id="it begins in the middle of a point"),
        pytest.param(writing(nights(*[340] * 24, *[170] * 12, *[85] * 12)), Flagged, id="fewer and fewer have work"),
        pytest.param(writing(nights(*[340] * 8, *[600] * 2)), Flagged, id="then it is faster for ten minutes"),
        pytest.param(writing(nights(*[340] * 8, *[600] * 3)), Fine, id="then it is faster"),
    ],
)
def test_the_edges_of_what_waits(metrics: Metrics, expected: type[Verdict]) -> None:
    assert isinstance(verdict(SERIAL, NIGHTLY, metrics=metrics), expected)


@pytest.mark.parametrize(
    ("metadata_per_s", "expected"), [(126, Flagged), (124, Fine), (nan, Unknown)]
)  # 0.5 writers at 2.7 ms are 185 operations a second
def test_half_a_writer_has_to_wait(metadata_per_s: float, expected: type[Verdict]) -> None:
    metrics = writing(nights(*[60] * 24), metadata_per_s=metadata_per_s)

    assert isinstance(verdict(SERIAL, NIGHTLY, metrics=metrics), expected)


def test_it_is_never_certain_and_hardly_so_where_it_never_stops() -> None:
    assert flagged(SERIAL, NIGHTLY).confidence == "medium"
    assert flagged(SERIAL, "all day and all night").confidence == "low"
    assert any("chooses to send so many writes looks the same" in one for one in flagged(SERIAL, NIGHTLY).caveats)


def test_a_few_points_may_stand_out_of_what_never_stops() -> None:
    points = [340.0] * 4_032
    points[2_000:2_030] = [0.0] * 30

    assert isinstance(verdict(SERIAL, NIGHTLY, metrics=writing(points)), Flagged)


def test_a_hole_is_no_beginning() -> None:
    by_day = [20.0] * 100 + [60.0 + n for n in range(100)] + [20.0 + n / 2 for n in range(88, 0, -1)]
    metrics = {key: list(values) for key, values in writing(by_day * 14).items()}
    for key, values in metrics.items():
        if key[1] == FIVE_MINUTES_S:
            for day in range(14):
                values[288 * day + 90 : 288 * day + 150] = [None] * 60

    assert isinstance(verdict(SERIAL, NIGHTLY, metrics=metrics), Fine)


def test_parallel_writers_come_first_and_an_export_that_loses_writes_is_not_advised() -> None:
    found = flagged(SERIAL, NIGHTLY)

    assert [one.action for one in found.advice] == [
        "write-in-parallel",
        "move-to-one-zone",
        "move-to-openzfs",
        "move-to-gp3",
    ]
    assert found.advice[0].changes == ()
    assert "4 workers side by side are 2.2 to 4 times as fast" in found.advice[0].summary
    assert "EFS One Zone is 1.8 times as fast" in found.advice[1].summary
    assert "OpenZFS (sync) is 1.4 times as fast" in found.advice[2].summary


def test_one_zone_is_not_advised_to_one_zone() -> None:
    assert "move-to-one-zone" not in {one.action for one in flagged(SERIAL, "on One Zone").advice}


def test_what_is_stored_is_priced_where_it_would_go() -> None:
    _, one_zone, openzfs, gp3 = (units(one) if one.changes else {} for one in flagged(SERIAL, NIGHTLY).advice)

    assert one_zone == {"efs.standard.storage": 60, "efs.one-zone.standard.storage": -60}
    assert openzfs["efs.standard.storage"] == 60
    assert openzfs["fsx.openzfs.multi_az_1.throughput"] == -160
    assert gp3 == {"efs.standard.storage": 60, "ebs.gp3.storage": -90}


def test_what_leaves_elastic_throughput_has_no_known_price() -> None:
    advice = {one.action: one.changes for one in flagged(SERIAL, NIGHTLY, {"throughput_mode": "elastic"}).advice}

    assert advice["move-to-openzfs"] is advice["move-to-gp3"] is None
    assert advice["move-to-one-zone"]


def test_max_io_has_no_limit_on_operations_to_ask_for() -> None:
    found, queries = play_with_queries(SERIAL, case(SERIAL, NIGHTLY, {"performance_mode": "maxIO"}))

    assert isinstance(found, Flagged)
    assert "PercentIOLimit" not in {query.metric.name for query in queries}


def test_writers_in_turn_are_what_the_documented_answer_allows() -> None:
    assert nfs.waiting_writers(370.4, one_zone=False) == pytest.approx(1, rel=1e-3)
    assert nfs.waiting_writers(1_250, one_zone=True) == pytest.approx(2)


# --- missing data -----------------------------------------------------------------------------------------------------


def silenced(one: Case, random: Random, *, whole: bool) -> Case:
    """Return the case with some points of each metric missing. With `whole`, whole metrics may be missing too."""
    metrics: dict[tuple[Metric, int], list[float | None]] = {}
    for key, values in one.metrics.items():
        share = random.choice([0, 0.02, 0.3, *([1] if whole else [])])
        metrics[key] = [None if random.random() < share else value for value in values]
    return replace(one, metrics=metrics)


INNOCENT = [
    pytest.param(detector, one, id=f"{number}: {one.title}")
    for number, detector in enumerate(PLACES)
    for one in detector.cases
    if one.expect is not Flagged and one.metrics
]


@pytest.mark.parametrize(("detector", "one"), INNOCENT)
def test_missing_points_never_make_a_finding(detector: AnyDetector, one: Case) -> None:
    random = Random(one.title)
    for _ in range(15):
        found = play(detector, silenced(one, random, whole=detector in (CLIENT, SERIAL)))

        assert not isinstance(found, Flagged), words(found)
