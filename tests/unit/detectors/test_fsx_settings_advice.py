"""What is advised about FSx file servers and IOPS that are too large, where a wrong word would hurt."""

import json
import shlex
from dataclasses import replace
from decimal import Decimal

import pytest

from slackwater.detectors import fsx_surplus_iops, fsx_surplus_throughput, fsx_sync_export
from slackwater.engine.cases import play
from slackwater.model.detector import AnyDetector, Case
from slackwater.model.metrics import Metric
from slackwater.model.money import Change, fsx_iops, fsx_throughput
from slackwater.model.units import DAY_S, FIVE_MINUTES_S
from slackwater.model.verdicts import Fine, Flagged, Verdict

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


@pytest.mark.parametrize(("deployment", "word"), [("SINGLE_AZ_2", "down for minutes"), ("SINGLE_AZ_HA_2", "fails over")])
def test_what_changing_a_file_server_means_depends_on_whether_it_has_a_standby(deployment: str, word: str) -> None:
    resource = replace(case(THROUGHPUT, QUIET).resource, deployment_type=deployment)

    assert word in flagged(THROUGHPUT, QUIET, resource=resource).advice[0].risk


@pytest.mark.parametrize(("percent", "fits"), [(24.9, "320"), (25.0, None), (12.4, "160"), (12.5, "320")])
def test_the_smallest_is_chosen_that_stays_below_half(percent: float, fits: str | None) -> None:
    metrics = {**case(THROUGHPUT, QUIET).metrics, (fsx_surplus_throughput.NETWORK, DAY_S): [percent] * 36}
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


def test_a_file_server_without_burst_is_not_asked_for_credits() -> None:
    metrics = {key: values for key, values in case(THROUGHPUT, QUIET).metrics.items() if "Balance" not in key[0].name}
    resource = replace(case(THROUGHPUT, QUIET).resource, throughput_mb_s=2_560)

    assert isinstance(flagged(THROUGHPUT, QUIET, resource=resource, metrics=metrics), Flagged)


def test_three_weeks_are_less_sure_than_five() -> None:
    assert flagged(THROUGHPUT, QUIET).confidence == flagged(IOPS, TENTH).confidence == "high"
    assert flagged(THROUGHPUT, "watched for three weeks").confidence == "medium"
    assert flagged(IOPS, "watched for three weeks").confidence == "medium"


def test_iops_are_set_as_a_whole_or_given_back_to_the_size() -> None:
    def setting(title: str) -> dict[str, object]:
        command = flagged(IOPS, title).advice[0].command or ""
        return json.loads(shlex.split(command)[-1])["DiskIopsConfiguration"]  # type: ignore[no-any-return]

    assert setting(TENTH) == {"Mode": "USER_PROVISIONED", "Iops": 4_000}
    assert setting("what is included would do") == {"Mode": "AUTOMATIC"}


def test_only_iops_above_the_included_are_saved() -> None:
    (change,) = flagged(IOPS, "what is included would do").advice[0].changes or ()

    assert change == Change(fsx_iops("OPENZFS", "MULTI_AZ_1"), Decimal(17_000))


@pytest.mark.parametrize(("percent", "verdict"), [(39.9, Flagged), (40.0, Fine)])
def test_iops_of_which_two_fifths_were_used_are_left_alone(percent: float, verdict: type[Verdict]) -> None:
    metrics = {(fsx_surplus_iops.DISKS, DAY_S): [1.0] * 35 + [percent]}

    assert isinstance(played(IOPS, TENTH, metrics=metrics), verdict)


WAITING = "a document root on a sync export, 4 KiB writes, disks at rest"


def test_an_export_that_waits_explains_what_was_bought_for_its_file_system() -> None:
    verdict = flagged(SYNC, WAITING)

    assert verdict.covers == (case(SYNC, WAITING).resource.file_system_id,)
    assert set(SYNC.outranks) == {"fsx-surplus-iops", "fsx-surplus-throughput"}


@pytest.mark.parametrize(("spread", "verdict"), [(0.09, Flagged), (0.30, Fine)])
def test_a_wait_has_a_ceiling_and_a_demand_has_none(spread: float, verdict: type[Verdict]) -> None:
    """Writes that vary evenly around 342 a second, for two hours a night."""
    metrics = {}
    for (metric, period_s), values in case(SYNC, WAITING).metrics.items():
        varied = metric.name.startswith("DataWrite") and period_s == FIVE_MINUTES_S
        factors = [1 + spread * ((i * 7 % 24) / 11.5 - 1) if varied and i % 288 < 24 else 1 for i in range(len(values))]
        metrics[metric, period_s] = [value and value * factor for value, factor in zip(values, factors, strict=True)]

    assert isinstance(played(SYNC, WAITING, metrics=metrics), verdict)
