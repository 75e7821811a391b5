"""Advice on FSx file servers and IOPS that are too large, where a wrong word would cause damage."""

import json
import shlex
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from math import sin

import pytest

from slackwater.detectors import fsx_surplus_iops, fsx_surplus_throughput, fsx_sync_export
from slackwater.engine.cases import play
from slackwater.model.detector import CASE_NOW, AnyDetector, Case
from slackwater.model.metrics import Metric
from slackwater.model.money import Change, fsx_iops, fsx_throughput
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, HOUR_S
from slackwater.model.verdicts import Fine, Flagged, Unknown, Verdict
from slackwater.rules.fsx import DISK_IOPS, NETWORK, SERVER_DISK_IOPS, WRITES, WRITTEN

THROUGHPUT, IOPS, SYNC = fsx_surplus_throughput.DETECTOR, fsx_surplus_iops.DETECTOR, fsx_sync_export.DETECTOR


def case(detector: AnyDetector, title: str) -> Case:
    return next(case for case in detector.cases if case.title == title)


def played(detector: AnyDetector, title: str, **changes: object) -> Verdict:
    return play(detector, replace(case(detector, title), **changes))  # type: ignore[arg-type]


def flagged(detector: AnyDetector, title: str, **changes: object) -> Flagged:
    verdict = played(detector, title, **changes)
    assert isinstance(verdict, Flagged), verdict
    return verdict


QUIET = "640 MB/s, 9 % busy at most"
TENTH = "20,000 IOPS, a tenth used"


def test_only_the_throughput_is_set_and_only_the_throughput_is_saved() -> None:
    (advice,) = flagged(THROUGHPUT, QUIET).advice

    assert advice.changes == (Change(fsx_throughput("OPENZFS", "MULTI_AZ_1"), Decimal(480)),)
    assert (advice.command or "").endswith("--open-zfs-configuration ThroughputCapacity=160")
    assert advice.reversible
    assert "fails over" in advice.risk


@pytest.mark.parametrize(
    ("deployment", "word"), [("SINGLE_AZ_2", "down for minutes"), ("SINGLE_AZ_HA_2", "fails over")]
)
def test_what_changing_a_file_server_means_depends_on_whether_it_has_a_standby(deployment: str, word: str) -> None:
    resource = replace(case(THROUGHPUT, QUIET).resource, deployment_type=deployment)

    assert word in flagged(THROUGHPUT, QUIET, resource=resource).advice[0].risk


@pytest.mark.parametrize(("percent", "fits"), [(24.9, "320"), (25.0, None), (12.0, "160"), (12.1, "320")])
def test_the_smallest_is_chosen_that_stays_below_half(percent: float, fits: str | None) -> None:
    """The network falls from 1,550 MB/s to 775 or 375 MB/s."""
    metrics = {**case(THROUGHPUT, QUIET).metrics, (NETWORK, DAY_S): [percent] * 36}
    verdict = played(THROUGHPUT, QUIET, metrics=metrics)

    assert isinstance(verdict, Flagged if fits else Fine)
    if isinstance(verdict, Flagged):
        assert (verdict.advice[0].command or "").endswith(f"ThroughputCapacity={fits}")


@pytest.mark.parametrize("metric", fsx_surplus_throughput.SERVER, ids=lambda metric: metric.name)
def test_each_part_of_the_server_counts(metric: Metric) -> None:
    metrics = {**case(THROUGHPUT, QUIET).metrics, (metric, DAY_S): [8.0] * 35 + [60.0]}

    assert isinstance(played(THROUGHPUT, QUIET, metrics=metrics), Fine)


@pytest.mark.parametrize("balance", fsx_surplus_throughput.BALANCES, ids=lambda metric: metric.name)
def test_each_balance_counts(balance: Metric) -> None:
    for lowest, verdict in ((90.0, Flagged), (89.9, Fine)):
        metrics = {**case(THROUGHPUT, QUIET).metrics, (balance, DAY_S): [100.0] * 35 + [lowest]}

        assert isinstance(played(THROUGHPUT, QUIET, metrics=metrics), verdict)


@pytest.mark.parametrize(
    ("metric", "percent", "fits"),
    [
        (NETWORK, 20.8, True),
        (NETWORK, 20.9, False),  # of 1,500 MB/s; 625 remain
        (SERVER_DISK_IOPS, 23.4, True),
        (SERVER_DISK_IOPS, 23.5, False),  # of 40,000; 18,750 remain
        (fsx_surplus_throughput.SERVER[0], 24.9, True),
        (fsx_surplus_throughput.SERVER[0], 25.0, False),
    ],
)
def test_each_metric_counts_by_its_own_column_of_the_table(metric: Metric, percent: float, fits: bool) -> None:
    """ONTAP in Tokyo has 1,024 MB/s. The next smaller size has 512 MB/s."""
    ontap = "ONTAP, whose next smaller file server has less than half the network"
    quiet = {key: [100.0 if "Balance" in key[0].name else 2.0] * 36 for key in case(THROUGHPUT, ontap).metrics}
    verdict = played(THROUGHPUT, ontap, metrics={**quiet, (metric, DAY_S): [percent] * 36})

    assert isinstance(verdict, Flagged if fits else Fine)
    if isinstance(verdict, Flagged):
        assert "512 MB/s would be at most 50 % busy" in verdict.summary


def test_a_throughput_that_is_in_no_table_is_not_judged() -> None:
    resource = replace(case(THROUGHPUT, QUIET).resource, throughput_mb_s=700)

    assert isinstance(played(THROUGHPUT, QUIET, resource=resource), Fine)


def test_a_short_window_is_made_as_long_as_must_be_watched_and_an_age_is_the_file_systems() -> None:
    short = {"window_days": 7}

    for detector, title in ((THROUGHPUT, QUIET), (IOPS, TENTH)):
        assert "of 14 days" in flagged(detector, title, limits=short).summary
        young = replace(case(detector, title).resource, created_at=CASE_NOW - timedelta(days=14.9))
        assert isinstance(played(detector, title, resource=young), Fine)
        old = replace(young, created_at=CASE_NOW - timedelta(days=15))
        assert "of 14 days" in flagged(detector, title, resource=old).summary


def test_what_a_program_manages_is_changed_there() -> None:
    for detector, title in ((THROUGHPUT, QUIET), (IOPS, TENTH)):
        resource = replace(case(detector, title).resource, tags={"aws:cloudformation:stack-name": "render"})

        assert any(
            "CloudFormation stack render" in caveat for caveat in flagged(detector, title, resource=resource).caveats
        )


@pytest.mark.parametrize(
    ("detector", "title", "kind"),
    [
        (detector, title, kind)
        for detector, title in ((THROUGHPUT, QUIET), (IOPS, TENTH))
        for kind in ("ONTAP", "OPENZFS")
    ],
)
def test_any_two_changes_of_ontap_lie_six_hours_apart(detector: AnyDetector, title: str, kind: str) -> None:
    """This holds in a single Availability Zone, where OpenZFS can change its throughput at any time."""
    deployed = {"file_system_type": kind, "deployment_type": "SINGLE_AZ_1", "throughput_mb_s": 2_048}
    resource = replace(case(detector, title).resource, **deployed)
    (caveat,) = flagged(detector, title, resource=resource).caveats

    assert ("any two changes of SSD storage, IOPS or throughput" in caveat) == (kind == "ONTAP")


def test_a_file_server_without_burst_is_not_asked_for_credits() -> None:
    metrics = {key: values for key, values in case(THROUGHPUT, QUIET).metrics.items() if "Balance" not in key[0].name}
    resource = replace(case(THROUGHPUT, QUIET).resource, throughput_mb_s=2_560)

    assert isinstance(flagged(THROUGHPUT, QUIET, resource=resource, metrics=metrics), Flagged)


def test_three_weeks_are_less_sure_than_five() -> None:
    assert flagged(THROUGHPUT, QUIET).confidence == flagged(IOPS, TENTH).confidence == "high"
    assert flagged(THROUGHPUT, "recorded for three weeks").confidence == "medium"
    assert flagged(IOPS, "recorded for three weeks").confidence == "medium"


def test_iops_are_set_as_a_whole_or_given_back_to_the_size() -> None:
    def setting(title: str) -> dict[str, object]:
        command = flagged(IOPS, title).advice[0].command or ""
        return json.loads(shlex.split(command)[-1])["DiskIopsConfiguration"]  # type: ignore[no-any-return]

    assert setting(TENTH) == {"Mode": "USER_PROVISIONED", "Iops": 4_001}  # at 4,000 it is half busy
    assert setting("the included IOPS are enough") == {"Mode": "AUTOMATIC"}


def test_only_iops_above_the_included_are_saved() -> None:
    (change,) = flagged(IOPS, "the included IOPS are enough").advice[0].changes or ()

    assert change == Change(fsx_iops("OPENZFS", "MULTI_AZ_1"), Decimal(17_000))


@pytest.mark.parametrize(("percent", "verdict"), [(39.9, Flagged), (40.0, Fine)])
def test_iops_of_which_two_fifths_were_used_are_left_alone(percent: float, verdict: type[Verdict]) -> None:
    metrics = {(DISK_IOPS, DAY_S): [1.0] * 35 + [percent]}

    assert isinstance(played(IOPS, TENTH, metrics=metrics), verdict)


WAITING = "4 KiB writes to a document root"


def test_an_export_that_waits_explains_what_was_bought_for_its_file_system() -> None:
    verdict = flagged(SYNC, WAITING)

    assert verdict.covers == (case(SYNC, WAITING).resource.file_system_id,)
    assert set(SYNC.outranks) == {"fsx-surplus-iops", "fsx-surplus-throughput"}


@pytest.mark.parametrize(("spread", "verdict"), [(0.09, Flagged), (0.30, Fine)])
def test_a_wait_has_a_ceiling_and_a_demand_has_none(spread: float, verdict: type[Verdict]) -> None:
    """Writes vary evenly around 342 a second, for two hours a night."""
    metrics = {}
    for (metric, period_s), values in case(SYNC, WAITING).metrics.items():
        varied = metric.name.startswith("DataWrite") and period_s == FIVE_MINUTES_S
        factors = [1 + spread * ((i * 7 % 24) / 11.5 - 1) if varied and i % 288 < 24 else 1 for i in range(len(values))]
        metrics[metric, period_s] = [value and value * factor for value, factor in zip(values, factors, strict=True)]

    assert isinstance(played(SYNC, WAITING, metrics=metrics), verdict)


def nightly(*per_s: float) -> dict[tuple[Metric, int], list[float]]:
    """Return metrics with these writes a second, each rate for five minutes, every night.

    A write has 4 KiB, and the disks are idle.
    """
    day = [rate * FIVE_MINUTES_S for rate in per_s]
    ops = (day + [300.0] * (288 - len(day))) * 14
    return {
        (WRITES, HOUR_S): [sum(ops[i : i + 12]) for i in range(0, len(ops), 12)],
        (WRITES, FIVE_MINUTES_S): ops,
        (WRITTEN, FIVE_MINUTES_S): [count * 4096 for count in ops],
        **{(metric, FIVE_MINUTES_S): [8.0] * len(ops) for metric in fsx_sync_export.DISKS},
    }


@pytest.mark.parametrize(
    ("title", "per_s", "verdict"),
    [
        ("two writers, then one", [600] * 6 + [300] * 18, Flagged),
        ("three, then two", [900] * 12 + [600] * 12, Flagged),
        ("a fifth of it lies elsewhere", [600] * 9 + [420] * 5 + [300] * 10, Fine),
        ("three levels", [600] * 8 + [420] * 8 + [290] * 8, Fine),
        ("it rises and falls a little, through what lies between", [450 + 50 * sin(i / 4) for i in range(96)], Fine),
    ],
)
def test_two_ceilings_are_a_wait_where_little_lies_between(
    title: str, per_s: list[float], verdict: type[Verdict]
) -> None:
    result = played(SYNC, WAITING, metrics=nightly(*per_s))

    assert isinstance(result, verdict), title


@pytest.mark.parametrize("metric", [WRITES, WRITTEN], ids=lambda metric: metric.name)
@pytest.mark.parametrize(("nights", "expected"), [(14, Unknown), (13, Unknown), (1, Flagged)])
def test_busy_hours_without_five_minutes_are_unknown_where_nothing_else_was_found(
    metric: Metric, nights: int, expected: type[Verdict]
) -> None:
    metrics = nightly(*[342] * 5 if nights == 13 else [342] * 24)
    missing = [None if i // 288 < nights else value for i, value in enumerate(metrics[metric, FIVE_MINUTES_S])]

    assert isinstance(played(SYNC, WAITING, metrics={**metrics, (metric, FIVE_MINUTES_S): missing}), expected)


@pytest.mark.parametrize("metric", fsx_sync_export.DISKS, ids=lambda metric: metric.name)
def test_disks_are_at_rest_only_where_all_three_metrics_were_seen(metric: Metric) -> None:
    metrics = nightly(*[342] * 24)
    others = [one for one in fsx_sync_export.DISKS if one != metric]
    nothing, busy = [None] * 4032, [90.0] * 4032
    unseen = {**metrics, (metric, FIVE_MINUTES_S): nothing}

    assert isinstance(played(SYNC, WAITING, metrics=unseen), Unknown)
    assert isinstance(played(SYNC, WAITING, metrics={**unseen, (others[0], FIVE_MINUTES_S): busy}), Fine)
    once = {**metrics, (metric, FIVE_MINUTES_S): [None] * 288 + [8.0] * 3744}
    assert isinstance(played(SYNC, WAITING, metrics=once), Flagged)
