"""Advice where the instance or a burst bucket is the limit, and the boundary of each limit."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from slackwater.engine.cases import play
from slackwater.engine.registry import registry
from slackwater.model.detector import Case
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import EBS_GP3_THROUGHPUT, Change, ebs_iops, ebs_storage, ec2_hour
from slackwater.model.resources import Instance, InstanceType, Record, Volume
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S, MIB
from slackwater.model.verdicts import Advice, Fine, Flagged, Verdict
from slackwater.rules.ec2 import change_type, local_data
from slackwater.rules.series import filled

BOUND, DRAINING, THROTTLED = "ebs-instance-bound", "ebs-burst-draining", "ec2-ebs-throttled"
SERVER: Any = registry()[THROTTLED].cases[0].resource
type Metrics = Mapping[tuple[Metric, int], Sequence[float | None]]


def case(detector_id: str, title: str) -> Case:
    return next(case for case in registry()[detector_id].cases if case.title == title)


def played(detector_id: str, title: str, **changes: Any) -> Verdict:
    return play(registry()[detector_id], replace(case(detector_id, title), **changes))


def flagged(detector_id: str, title: str, **changes: Any) -> Flagged:
    verdict = played(detector_id, title, **changes)
    assert isinstance(verdict, Flagged), verdict
    return verdict


def advised(verdict: Flagged, action: str) -> Advice:
    return next(advice for advice in verdict.advice if advice.action == action)


def settings(advice: Advice) -> dict[str, tuple[str, ...]]:
    """Return the flags of the modify-volume command for each volume."""
    found = {}
    for command in (advice.command or "").split(" && "):
        words = shlex.split(command)
        assert words[:3] == ["aws", "ec2", "modify-volume"]
        flags = dict(zip(words[3::2], words[4::2], strict=True))
        assert flags.pop("--region") == "ap-northeast-1"
        volume = flags.pop("--volume-id")
        found[volume] = tuple(f"{name[2:]}={value}" for name, value in flags.items())
    return found


# ebs-instance-bound

LOG_VOLUME, DB = "1,000 MiB/s on an instance that carries 566", "32,000 IOPS on an instance that carries 18,750"
TWO = "two volumes of 500 MiB/s each, never busy"


def records(title: str, *, volumes: Mapping[str, Any] | None = None, **limits: Any) -> tuple[Record, ...]:
    """Return a case's records with changes to its volumes or to the instance's type."""
    found: list[Record] = []
    for record in case(BOUND, title).records:
        if isinstance(record, Volume) and volumes:
            found.append(replace(record, **volumes))
        elif isinstance(record, InstanceType) and record.id == "m5.large" and limits:
            found.append(replace(record, **limits))
        else:
            found.append(record)
    return tuple(found)


def test_a_setting_is_lowered_to_what_the_instance_carries_and_the_other_one_stays() -> None:
    verdict = flagged(BOUND, LOG_VOLUME)
    lower = verdict.advice[0]

    assert settings(lower) == {"vol-spool": ("volume-type=gp3", "iops=4000", "throughput=567")}
    assert lower.changes == (Change(EBS_GP3_THROUGHPUT, 1000 - 567),)
    assert verdict.covers == ("vol-spool",)


def test_where_the_speed_is_wanted_the_family_has_a_larger_size() -> None:
    larger = flagged(BOUND, LOG_VOLUME).advice[1]

    assert larger.action == "change-instance-type-to-m5.12xlarge"
    assert larger.changes == (Change(ec2_hour("m5.large"), 730), Change(ec2_hour("m5.12xlarge"), -730))


@pytest.mark.parametrize(("mib_s", "expect"), [(622, Fine), (623, Flagged)])
def test_a_tenth_beyond_the_maximum_is_no_mistake(mib_s: int, expect: type[Verdict]) -> None:
    assert isinstance(
        played(BOUND, LOG_VOLUME, records=records(LOG_VOLUME, volumes={"throughput_mib_s": mib_s})), expect
    )


@pytest.mark.parametrize(("iops", "expect"), [(20_625, Fine), (20_626, Flagged)])
def test_so_it_is_with_iops(iops: int, expect: type[Verdict]) -> None:
    assert isinstance(played(BOUND, DB, records=records(DB, volumes={"iops": iops})), expect)


def test_what_every_gp3_includes_is_kept_where_the_instance_carries_less() -> None:
    slow = {
        "ebs_baseline_mbps": 450.0,
        "ebs_maximum_mbps": 450.0,
        "ebs_baseline_iops": 2_000,
        "ebs_maximum_iops": 2_000,
    }
    verdict = flagged(BOUND, LOG_VOLUME, records=records(LOG_VOLUME, **slow))

    assert settings(verdict.advice[0]) == {"vol-spool": ("volume-type=gp3", "iops=3000", "throughput=125")}


def test_iops_are_kept_that_the_throughput_takes() -> None:
    fast = {"ebs_maximum_mbps": 10_000.0, "ebs_maximum_iops": 3_600}
    verdict = flagged(BOUND, LOG_VOLUME, records=records(LOG_VOLUME, volumes={"iops": 20_000}, **fast))

    assert settings(verdict.advice[0]) == {"vol-spool": ("volume-type=gp3", "iops=4000", "throughput=1000")}


@pytest.mark.parametrize(("iops", "lowered"), [(60_000, 51_880), (50_000, None)])
def test_an_io1_keeps_the_iops_that_bring_the_throughput_which_the_instance_carries(
    iops: int, lowered: int | None
) -> None:
    m5_8xlarge = {"ebs_maximum_mbps": 6_800.0, "ebs_maximum_iops": 30_000}
    verdict = played(BOUND, DB, records=records(DB, volumes={"volume_type": "io1", "iops": iops}, **m5_8xlarge))

    if lowered is None:
        assert isinstance(verdict, Fine)
    else:
        assert isinstance(verdict, Flagged)
        assert settings(verdict.advice[0]) == {"vol-db": ("volume-type=io1", f"iops={lowered}")}
        assert verdict.advice[0].changes == (Change(ebs_iops("io1"), iops - lowered),)


def test_several_are_lowered_to_what_they_can_have_at_once() -> None:
    verdict = flagged(BOUND, TWO)

    expected = ("volume-type=gp3", "iops=3000", "throughput=283")
    assert settings(verdict.advice[0]) == {"vol-data": expected, "vol-log": expected}
    assert set(verdict.covers) == {"vol-data", "vol-log"}
    assert verdict.confidence == "medium"
    assert "60 MiB/s of vol-data" in verdict.caveats[0]


def busiest(mib_s: float) -> Metrics:
    return {
        key: [mib_s / 2 * MIB * 60] * len(values) if key[1] == DAY_S else values
        for key, values in case(BOUND, TWO).metrics.items()
    }


@pytest.mark.parametrize(("mib_s", "expect"), [(235, Flagged), (236.5, Fine)])
def test_they_take_turns_where_their_busiest_minutes_with_headroom_are_more_than_it_carries(
    mib_s: float, expect: type[Verdict]
) -> None:
    assert isinstance(played(BOUND, TWO, metrics=busiest(mib_s)), expect)


def test_none_is_lowered_below_what_it_has_for_nothing() -> None:
    slow = {"ebs_baseline_mbps": 87.0, "ebs_maximum_mbps": 1_500.0}
    verdict = flagged(BOUND, TWO, records=records(TWO, volumes={"throughput_mib_s": 190}, **slow), metrics=busiest(20))

    expected = ("volume-type=gp3", "iops=3000", "throughput=125")
    assert settings(verdict.advice[0]) == {"vol-data": expected, "vol-log": expected}


def test_nothing_is_lowered_where_all_iops_are_there_for_their_throughput() -> None:
    m5_8xlarge = {"ebs_maximum_mbps": 6_800.0, "ebs_maximum_iops": 30_000}
    two = records(TWO, volumes={"volume_type": "io1", "iops": 32_064, "throughput_mib_s": None}, **m5_8xlarge)
    peaks = {
        (replace(key[0], name=name), DAY_S): [0.0] * 36
        for key in busiest(0)
        for name in ("VolumeReadBytes", "VolumeWriteBytes")
    }
    operations = {
        (replace(key[0], name=name, unit="operations a minute"), DAY_S): [0.0] * 36
        for key in busiest(0)
        for name in ("VolumeReadOps", "VolumeWriteOps")
    }

    assert isinstance(played(BOUND, TWO, records=two, metrics=peaks | operations), Fine)


def test_a_volume_of_a_program_is_changed_there() -> None:
    tags = {"Name": "spool", "ebs.csi.aws.com/cluster": "true"}

    assert any(
        "Kubernetes" in caveat
        for caveat in flagged(BOUND, LOG_VOLUME, records=records(LOG_VOLUME, volumes={"tags": tags})).caveats
    )


def test_it_speaks_for_the_surplus_of_the_volumes_that_it_covers() -> None:
    assert set(registry()[BOUND].outranks) == {"ebs-outdated-type", "ebs-surplus-iops", "ebs-surplus-throughput"}


def test_one_that_is_beyond_it_alone_is_shared_out_with_the_others_at_once() -> None:
    verdict = flagged(BOUND, "1,000 and 500 MiB/s, never busy")
    lowered = settings(verdict.advice[0])

    assert lowered == {
        "vol-data": ("volume-type=gp3", "iops=4000", "throughput=296"),
        "vol-log": ("volume-type=gp3", "iops=3000", "throughput=270"),
    }
    assert verdict.confidence == "medium"
    assert flagged(BOUND, "1,000 and 500 MiB/s, which take turns").confidence == "high"


# ebs-burst-draining

NIGHTLY, SCANS, SOON = (
    "gone for two hours every night",
    "an st1 whose scans last longer than its credits",
    "a little less every day",
)
YOUNG = "a little less every day since it was attached four days ago"


def test_gp2_moves_to_gp3_with_the_iops_of_its_burst() -> None:
    (move,) = moves(flagged(DRAINING, NIGHTLY))

    assert settings(move)["vol-0fedcba9876543210"] == ("volume-type=gp3", "iops=3000", "throughput=128")
    assert move.changes == (
        Change(ebs_storage("gp2"), 100),
        Change(ebs_storage("gp3"), -100),
        Change(EBS_GP3_THROUGHPUT, -3),
    )


def moves(verdict: Flagged) -> list[Advice]:
    return [advice for advice in verdict.advice if advice.action == "move-to-gp3"]


def test_less_will_do_only_where_it_was_never_out_of_credits_and_its_busiest_minute_is_known() -> None:
    unknown = {key: values for key, values in case(DRAINING, SOON).metrics.items() if key[0].name == "BurstBalance"}
    known, unseen = flagged(DRAINING, SOON), flagged(DRAINING, SOON, metrics=unknown)

    assert [settings(one)["vol-0fedcba9876543210"][2] for one in moves(known)] == ["throughput=125", "throughput=128"]
    assert [settings(one)["vol-0fedcba9876543210"][2] for one in moves(unseen)] == ["throughput=128"]
    assert any("MiB/s" in evidence.unit for evidence in known.evidence)
    assert not any("MiB/s" in evidence.unit for evidence in unseen.evidence)
    assert any("Its throughput is unknown" in caveat for caveat in unseen.caveats)


def test_what_nobody_saw_move_is_not_high() -> None:
    unknown = {key: values for key, values in case(DRAINING, NIGHTLY).metrics.items() if key[0].name == "BurstBalance"}

    assert flagged(DRAINING, NIGHTLY, metrics=unknown).confidence == "medium"


def test_it_speaks_for_the_outdated_type() -> None:
    assert registry()[DRAINING].outranks == ("ebs-outdated-type",)


def test_an_st1_moves_or_grows_and_what_has_grown_does_not_shrink() -> None:
    verdict = flagged(DRAINING, SCANS)
    grow = advised(verdict, "grow-st1")

    assert settings(grow) == {"vol-0fedcba9876543210": ("volume-type=st1", "size=6400")}
    assert grow.changes == (Change(ebs_storage("st1"), 1_024 - 6_400),)
    assert not grow.reversible
    assert settings(advised(verdict, "move-to-gp3")) == {
        "vol-0fedcba9876543210": ("volume-type=gp3", "iops=3000", "throughput=250")
    }
    assert verdict.cheapest_first


def test_an_sc1_may_become_an_st1_of_its_size() -> None:
    cold = replace(case(DRAINING, SCANS).resource, volume_type="sc1")  # type: ignore[call-arg]
    move = advised(flagged(DRAINING, SCANS, resource=cold), "move-to-st1")

    assert settings(move) == {"vol-0fedcba9876543210": ("volume-type=st1",)}
    assert move.reversible


def test_what_is_gone_hurts_and_what_will_be_gone_is_a_risk() -> None:
    now, soon, young = (flagged(DRAINING, title) for title in (NIGHTLY, SOON, YOUNG))

    assert (now.kind, now.confidence, now.severity) == (None, "high", "medium")
    assert (soon.kind, soon.confidence, soon.severity) == ("risk", "medium", "medium")
    assert young.confidence == "low"
    assert any("a week ago is unknown" in caveat for caveat in young.caveats)


def gone(minutes: int, days: int) -> Metrics:
    """Return metrics of a burst balance that is empty for this many minutes on each of the last days."""
    metrics: dict[tuple[Metric, int], Sequence[float | None]] = dict(case(DRAINING, NIGHTLY).metrics)
    least, mean = (
        next(key for key in metrics if key[0].name == "BurstBalance" and key[1] == s) for s in (HOUR_S, FIVE_MINUTES_S)
    )
    day = [100.0] * 144 + [0.5] * (minutes // 5) + [100.0] * (144 - minutes // 5)
    points = [100.0] * 288 * (8 - days) + day * days
    return metrics | {mean: points, least: [min(points[i : i + 12]) for i in range(0, len(points), 12)]}


@pytest.mark.parametrize(
    ("minutes", "days", "expect"), [(60, 3, Flagged), (55, 7, Fine), (300, 2, Fine), (60, 7, Flagged)]
)
def test_an_hour_on_three_of_seven_days_counts(minutes: int, days: int, expect: type[Verdict]) -> None:
    assert isinstance(played(DRAINING, NIGHTLY, metrics=gone(minutes, days)), expect)


def test_a_day_without_credits_in_a_week_is_grave() -> None:
    assert flagged(DRAINING, NIGHTLY, metrics=gone(240, 7)).severity == "high"


@pytest.mark.parametrize(("hours", "expect"), [(9, Flagged), (8, Fine)])
def test_nine_hours_without_a_break_until_now_count(hours: int, expect: type[Verdict]) -> None:
    metrics = dict(gone(0, 0))
    for (metric, period_s), values in metrics.items():
        if metric.name == "BurstBalance":
            points = hours * HOUR_S // period_s
            metrics[metric, period_s] = [*values[:-points], *[0.0] * points]

    assert isinstance(played(DRAINING, NIGHTLY, metrics=metrics), expect)


@pytest.mark.parametrize(
    ("fall", "end", "expect"), [(20, 19, Flagged), (20, 21, Fine), (2.9, 2, Fine), (3.1, 2, Flagged)]
)
def test_it_drains_where_one_more_day_like_the_last_ones_empties_it(
    fall: float, end: float, expect: type[Verdict]
) -> None:
    metrics = dict(case(DRAINING, SOON).metrics)
    key = next(key for key in metrics if key[0].name == "BurstBalance" and key[1] == HOUR_S)
    metrics[key] = [100.0] * 96 + [min(100.0, end + fall * (95 - hour) / 24) for hour in range(96)]

    assert isinstance(played(DRAINING, SOON, metrics=metrics), expect)


@pytest.mark.parametrize(("hours", "expect"), [(24, Flagged), (12, Flagged), (11, Fine)])
def test_half_a_day_of_falling_counts_with_low_confidence(hours: int, expect: type[Verdict]) -> None:
    verdict = played(DRAINING, SOON, metrics=fallen([100.0] * (192 - hours), hours))

    assert isinstance(verdict, expect)
    assert not isinstance(verdict, Flagged) or (verdict.kind, verdict.confidence) == ("risk", "low")


def test_a_fall_that_comes_every_day_or_every_week_is_a_rhythm() -> None:
    daily = [*[100.0] * 6, *[100.0 - 5 * hour for hour in range(1, 19)]]
    weekly = [*daily, *[100.0] * (192 - 24 - 18)]

    assert isinstance(played(DRAINING, SOON, metrics=fallen(daily * 8, 0)), Fine)
    assert isinstance(played(DRAINING, SOON, metrics=fallen(weekly, 18, 5)), Fine)


def fallen(before: list[float], hours: int, percent: float = 3.8) -> Metrics:
    """Return metrics of an hourly burst balance that falls by `percent` an hour for this many hours."""
    metrics = dict(case(DRAINING, SOON).metrics)
    key = next(key for key in metrics if key[0].name == "BurstBalance" and key[1] == HOUR_S)
    return metrics | {key: [*before, *[100 - percent * hour for hour in range(1, hours + 1)]]}


# ec2-ebs-throttled

BATCH, SMALL, QUIET = (
    "a batch of six hours on a burst of half an hour",
    "small I/O: the IOPS are at their limit",
    "never at its limit",
)
UNCHECKED = "the same, and the checks are not published"


def at_limit(*shares: float) -> Metrics:
    """Return metrics of a day whose first hours are at the throughput limit for these shares of their minutes."""
    metrics = dict(case(THROTTLED, BATCH).metrics)
    check = next(key for key in metrics if key[0].name == "InstanceEBSThroughputExceededCheck")
    metrics[check] = [*[0.0] * 168, *shares, *[0.0] * (24 - len(shares))]
    return metrics


@pytest.mark.parametrize(
    ("shares", "expect"),
    [
        ((0.05, 0.05, 0.05), Flagged),
        ((0.05, 0.05, 0.049), Fine),
        ((0.5, 0.2), Fine),
        ((0.4, 0.35), Fine),
        ((0.4, 0.36), Flagged),
        ((1.0,), Flagged),
    ],
)
def test_three_hours_of_a_day_or_45_minutes_count(shares: tuple[float, ...], expect: type[Verdict]) -> None:
    assert isinstance(played(THROTTLED, BATCH, metrics=at_limit(*shares)), expect)


def test_three_hours_on_three_days_do_not() -> None:
    metrics = dict(at_limit())
    check = next(key for key in metrics if key[0].name == "InstanceEBSThroughputExceededCheck")
    metrics[check] = [0.5 if hour in {12, 36, 60} else 0.0 for hour in range(192)]

    assert isinstance(played(THROTTLED, BATCH, metrics=metrics), Fine)


def test_the_summary_says_how_long_and_on_how_many_days() -> None:
    every_day = flagged(THROTTLED, "40 minutes every day, with nothing left of the burst")

    assert every_day.summary == "5.2 hours at the EBS throughput limit of m6i.large on 8 of 8 days"


def test_two_metrics_make_it_grave() -> None:
    both, check, balance = (flagged(THROTTLED, title) for title in (BATCH, SMALL, UNCHECKED))

    assert (both.severity, both.confidence) == ("high", "high")
    assert (check.severity, check.confidence) == ("medium", "high")
    assert (balance.severity, balance.confidence) == ("medium", "medium")


def test_words_in_fingerprints_never_change() -> None:
    assert [flagged(THROTTLED, title).fingerprint_inputs for title in (BATCH, SMALL)] == [
        ("m6i.large", "throughput", True),
        ("m6i.large", "IOPS", False),
    ]


def test_a_finding_says_that_it_rests_on_the_balance_alone() -> None:
    assert "no exceeded checks" in flagged(THROTTLED, UNCHECKED).caveats[0]
    assert "weighting is ebs-1" in weighted(BATCH, bandwidth_weighting="ebs-1").caveats[0]


@pytest.mark.parametrize(("level", "minutes", "expect"), [(9.9, 30, Flagged), (10, 30, Fine), (9.9, 25, Fine)])
def test_a_balance_decides_alone_when_it_is_stuck_below_a_tenth_for_half_an_hour(
    level: float, minutes: int, expect: type[Verdict]
) -> None:
    metrics = dict(case(THROTTLED, UNCHECKED).metrics)
    five = next(key for key in metrics if key[0].name == "EBSByteBalance%" and key[1] == FIVE_MINUTES_S)
    stuck = minutes // 5
    metrics[five] = [100.0] * (8 * 288 - 100) + [level] * stuck + [50.0 + i / 2 for i in range(100 - stuck)]

    assert isinstance(played(THROTTLED, UNCHECKED, metrics=metrics), expect)


def test_the_larger_instance_carries_what_was_seen_for_good() -> None:
    verdict = flagged(THROTTLED, BATCH)
    larger = advised(verdict, "change-instance-type-to-m6i.2xlarge")

    assert "150 MiB/s" in larger.summary
    assert larger.changes == (Change(ec2_hour("m6i.large"), 730), Change(ec2_hour("m6i.2xlarge"), -730))
    stop, wait, change, start = (larger.command or "").split(" && ")
    assert [one.split()[2] for one in (stop, wait, change, start)] == [
        "stop-instances",
        "wait",
        "modify-instance-attribute",
        "start-instances",
    ]


def test_what_was_seen_is_no_less_than_the_limit_that_it_met() -> None:
    """At the limit of 3,600 IOPS the demand is unknown, so at least 4,320 are advised."""
    quiet = {
        key: [0.0] * len(values) if key[1] == FIVE_MINUTES_S else values
        for key, values in case(THROTTLED, SMALL).metrics.items()
    }
    verdict = flagged(THROTTLED, SMALL, metrics=quiet)

    assert "4,320 IOPS" in advised(verdict, "change-instance-type-to-m6i.xlarge").summary


def weighted(title: str, **changes: Any) -> Flagged:
    instance = case(THROTTLED, title).resource
    assert isinstance(instance, Instance)
    return flagged(THROTTLED, title, resource=replace(instance, **changes))


def test_bandwidth_is_shifted_where_the_family_may_have_it_and_throughput_is_short() -> None:
    def shifts(verdict: Flagged) -> list[Advice]:
        return [advice for advice in verdict.advice if advice.action == "shift-bandwidth-to-ebs"]

    (shift,) = shifts(weighted(BATCH, instance_type="m8g.large"))
    assert "--bandwidth-weighting ebs-1" in (shift.command or "")
    assert shift.changes == ()
    assert not shifts(weighted(BATCH, instance_type="m6i.large"))
    assert not shifts(weighted(SMALL, instance_type="m8g.large"))
    assert not shifts(weighted(BATCH, instance_type="m8g.large", bandwidth_weighting="ebs-1"))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tags": {"aws:autoscaling:groupName": "renders"}}, "Auto Scaling group renders"),
        ({"tags": None}, "tags could not be read"),
        ({"lifecycle": "spot"}, "It is spot"),
    ],
)
def test_no_command_stops_what_may_be_replaced_or_cannot_be_stopped(changes: dict[str, Any], says: str) -> None:
    for instance_type in ("m6i.large", "m8g.large"):
        verdict = weighted(BATCH, instance_type=instance_type, **changes)
        assert not any(advice.command for advice in verdict.advice)
        assert says in verdict.advice[0].summary


def test_what_another_type_saves_is_not_known_of_spot() -> None:
    larger = advised(weighted(BATCH, lifecycle="spot"), "change-instance-type-to-m6i.2xlarge")

    assert larger.changes is None


@pytest.mark.parametrize(
    ("instance_type", "lost"),
    [
        *(
            (name, True)
            for name in ("m5d.large", "m6idn.large", "i4i.large", "i3en.large", "im4gn.large", "c6gd.large")
        ),
        *(
            (name, True)
            for name in ("d3.xlarge", "g4dn.xlarge", "g5.xlarge", "z1d.large", "x2gd.large", "x1e.xlarge", "h1.2xlarge")
        ),
        *(
            (name, True)
            for name in ("p4de.24xlarge", "p5en.48xlarge", "gr6.4xlarge", "f1.2xlarge", "m3.large", "trn1n.32xlarge")
        ),
        *(
            (name, False)
            for name in ("m5.large", "m6i.large", "m5n.large", "t3.micro", "inf2.xlarge", "g3.4xlarge", "g5g.xlarge")
        ),
        *((name, False) for name in ("p3.2xlarge", "c8gn.large", "u7i-6tb.112xlarge", "mac2.metal")),
    ],
)
def test_data_on_local_disks_is_lost_by_a_stop(instance_type: str, lost: bool) -> None:
    assert ("instance store" in local_data(replace(SERVER, instance_type=instance_type))) is lost


def test_the_risk_says_that_local_data_is_lost() -> None:
    change = change_type(replace(SERVER, instance_type="m5d.large"), "m5d.xlarge", "More.", ())

    assert "instance store" in change.risk
    assert change.command


# both metrics together

FORTY = "40 minutes every day, with nothing left of the burst"


def days_of(days: int) -> Metrics:
    """Return the metrics of the case on the last days only."""
    found: dict[tuple[Metric, int], Sequence[float | None]] = {}
    for key, values in case(THROTTLED, FORTY).metrics.items():
        rest = 100.0 if key[0].name.endswith("%") else 0.0
        a_day = DAY_S // key[1]
        found[key] = [*[rest] * (len(values) - days * a_day), *values[len(values) - days * a_day :]]
    return found


@pytest.mark.parametrize(("days", "expect"), [(3, Flagged), (2, Fine)])
def test_check_and_balance_that_agree_on_three_days_count(days: int, expect: type[Verdict]) -> None:
    verdict = played(THROTTLED, FORTY, metrics=days_of(days))

    assert isinstance(verdict, expect)
    assert not isinstance(verdict, Flagged) or (verdict.severity, verdict.confidence) == ("medium", "medium")


# scattered and late points


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([None, 1, None, None, None, 2, None], [None, 1, 1, 1, 1, 2, 2]),
        ([1, None, None, None, None, 2], [1, None, None, None, None, 2]),
    ],
)
def test_a_few_missing_points_are_as_the_one_before_them(
    values: list[float | None], expected: list[float | None]
) -> None:
    assert filled(Series.of(0, HOUR_S, values)).optional() == expected
