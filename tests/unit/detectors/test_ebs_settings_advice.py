"""What is advised about a volume's type, IOPS and throughput, where a wrong word would hurt."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from slackwater.detectors import ebs_outdated_type, ebs_surplus_iops, ebs_surplus_throughput
from slackwater.engine.cases import play
from slackwater.model.detector import CASE_NOW, AnyDetector, Case
from slackwater.model.metrics import Metric
from slackwater.model.money import EBS_GP3_THROUGHPUT, Change, ebs_iops, ebs_iops_tier, ebs_storage
from slackwater.model.resources import InstanceType, Volume
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, MIB, MINUTE_S
from slackwater.model.verdicts import Fine, Flagged, Unknown, Verdict
from slackwater.parts.ebs_peaks import IOPS_EXCEEDED, READ_BYTES, READS, THROUGHPUT_EXCEEDED, WRITES, WRITTEN_BYTES

type Metrics = Mapping[tuple[Metric, int], Sequence[float | None]]

IOPS, THROUGHPUT, TYPE = ebs_surplus_iops.DETECTOR, ebs_surplus_throughput.DETECTOR, ebs_outdated_type.DETECTOR
BOUGHT = "1,000 MiB/s bought, 60 used"
MANY = "12,000 IOPS on gp3, 1,500 used"
PAGES = "12,000 IOPS on io2, 1,500 operations of 8 KiB used"
GP2 = "500 GiB gp2 at 60 MiB/s"
IO1 = "io1 with 10,000 IOPS, of which 1,500 are used"
HITS = [
    pytest.param(THROUGHPUT, BOUGHT, READ_BYTES, id="throughput"),
    pytest.param(IOPS, MANY, READS, id="iops"),
    pytest.param(TYPE, GP2, READ_BYTES, id="type"),
]


def case(detector: AnyDetector, title: str) -> Case:
    return next(case for case in detector.cases if case.title == title)


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
    """The records of a case, the instance's type changed."""
    return tuple(
        replace(one, **changes) if isinstance(one, InstanceType) else one  # type: ignore[arg-type]
        for one in case(detector, title).records
    )


def a_minute(a_second: float) -> list[float | None]:
    return [a_second * MINUTE_S] * 36


def command(verdict: Flagged, place: int = 0) -> str:
    return (verdict.advice[place].command or "").partition("--volume-type ")[2]


def test_iops_and_throughput_are_both_named_and_the_other_one_stays() -> None:
    assert command(flagged(THROUGHPUT, BOUGHT)) == "gp3 --iops 4000 --throughput 125"
    assert command(flagged(IOPS, MANY)) == "gp3 --iops 3000 --throughput 125"
    assert command(flagged(IOPS, "6,000 IOPS, of which 1,000 MiB/s need 4,000")) == "gp3 --iops 4000 --throughput 1000"
    assert command(flagged(TYPE, GP2)) == "gp3 --iops 3000 --throughput 125"


def test_io2_is_set_by_its_iops_alone_and_the_throughput_that_comes_with_them_is_said() -> None:
    verdict = flagged(IOPS, PAGES)

    assert command(verdict) == "io2 --iops 1857"
    assert "Up to 464 MiB/s come with them; 11.7 were used." in verdict.advice[0].summary


def test_who_does_what_both_detectors_say_is_warned_that_one_change_would_undo_the_other() -> None:
    both = volume(IOPS, MANY, throughput_mib_s=500)

    assert any("set both in one change" in one for one in flagged(IOPS, MANY, resource=both).caveats)
    assert any("set both in one change" in one for one in flagged(THROUGHPUT, BOUGHT).caveats)
    assert not any("both" in one for one in flagged(IOPS, MANY).caveats)


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


@pytest.mark.parametrize(("reads", "writes", "verdict"), [(2_399, 2_400, Flagged), (2_400, 2_400, Fine), (4_800, 0, Fine)])
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
def test_of_the_last_14_days_none_may_be_missing_and_of_older_ones_any(detector: AnyDetector, title: str, part: object) -> None:
    for missing_days_ago, verdict, confidence in ((1, Unknown, ""), (14, Unknown, ""), (15, Flagged, "medium")):
        values = list(case(detector, title).metrics[part.peak, DAY_S])  # type: ignore[attr-defined]
        values[-1 - missing_days_ago] = None
        answer = played(detector, title, metrics=metrics(detector, title, {(part.peak, DAY_S): values}))  # type: ignore[attr-defined]

        assert isinstance(answer, verdict), missing_days_ago
        assert not isinstance(answer, Flagged) or answer.confidence == confidence


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
        answer = played(detector, title, metrics=metrics(detector, title, {(part.peak, DAY_S): values}))  # type: ignore[attr-defined]

        assert isinstance(answer, Fine) or "250 MiB/s would do" in answer.summary  # type: ignore[union-attr]


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
    assert "Five-minute means hide shorter peaks." in verdict.caveats


def test_scattered_and_late_points_are_usual_and_many_may_hide_what_was_needed() -> None:
    title = "reads by day and writes by night, each below the line"
    for lost, verdict in ((3 + 10_080 // 200, Flagged), (4 + 10_080 // 200, Unknown)):
        values, night = list(case(IOPS, title).metrics[READS.peak, FIVE_MINUTES_S]), 20 * 288 + 144
        values[night : night + lost] = [None] * lost
        answer = played(IOPS, title, metrics=metrics(IOPS, title, {(READS.peak, FIVE_MINUTES_S): values}))

        assert isinstance(answer, verdict), lost


def test_on_xen_missing_operations_are_no_idleness() -> None:
    title = "on a Xen instance, by five-minute means"
    for lost, verdict in ((3 + 4_032 // 200, Flagged), (4 + 4_032 // 200, Unknown)):
        values = list(case(IOPS, title).metrics[WRITES.total, FIVE_MINUTES_S])
        values[-lost:] = [None] * lost
        answer = played(IOPS, title, metrics=metrics(IOPS, title, {(WRITES.total, FIVE_MINUTES_S): values}))

        assert isinstance(answer, verdict), lost


def test_an_io1_volume_with_multi_attach_cannot_be_changed_and_no_command_tries() -> None:
    shared = volume(IOPS, PAGES, volume_type="io1", multi_attach=True)
    verdict = flagged(IOPS, PAGES, resource=shared)

    assert verdict.advice[0].command is None
    assert verdict.confidence == "medium"
    assert any("make a new one (io2)" in caveat for caveat in verdict.caveats)
    assert flagged(TYPE, "io1 on several instances, with 40,000 IOPS").advice[0].command is None


def test_iops_are_never_below_what_the_throughput_takes() -> None:
    """io1 has more than 500 MiB/s only above 32,000 IOPS; 0.256 MiB/s come with each of io2."""
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
    balance: Metrics = {(ebs_outdated_type.BALANCE, DAY_S): [80.0] * 20 + [percent] + [80.0] * 15}

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


def test_what_a_magnetic_volume_saves_is_not_known_and_that_is_said() -> None:
    verdict = flagged(TYPE, "magnetic")

    assert [one.changes for one in verdict.advice] == [None]
    assert verdict.severity == "low"
    assert any("not known" in caveat for caveat in verdict.caveats)
    assert command(verdict) == "gp3 --iops 3000 --throughput 125"


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
