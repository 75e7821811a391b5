"""The ceiling on what the metrics of an audit cost, over all its scans."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import repeat

import pytest
from botocore.exceptions import ClientError

from slackwater.aws.metrics.spending import BLOCK, DynamoSpending, LocalSpending, refusal
from slackwater.model.findings import CEILING, HELD_BACK
from slackwater.model.money import USD_PER_METRIC

NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)
SPENT = "scan.most_metrics_usd would be passed: {} of {} USD were spent"


@pytest.fixture
def warned():
    return []


@pytest.fixture
def scan(stored, moto_session, warned):
    def of(most_usd, audit_id="1"):
        return DynamoSpending(moto_session, "slackwater", audit_id, most_usd, clock=lambda: NOW, warn=warned.append)

    return of


def counted(stored):
    return {one["pk"]["S"]: int(one["metrics"]["N"]) for one in stored.items()}


def failing(times=1):
    left = [times]

    def fails(**_):
        left[0] -= 1
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "UpdateItem")

    return fails, left


@pytest.mark.parametrize("metrics", [1, 7, 4_999, 2_500_000])
def test_a_ceiling_buys_as_many_metrics_as_the_scan_says_that_it_cost(metrics) -> None:
    spending = LocalSpending(float(metrics * USD_PER_METRIC))
    assert spending.take(metrics) is None
    assert spending.take(1)


def test_a_process_asks_up_to_its_ceiling_and_says_why_it_does_not_go_on() -> None:
    spending = LocalSpending(0.01)
    assert [spending.take(500), spending.take(499), spending.take(1)] == [None] * 3
    refused = [spending.take(500), spending.take(1)]
    assert refused == [SPENT.format("0.01", "0.01")] * 2


@pytest.mark.parametrize(
    ("most_usd", "spent", "says"),
    [
        (0.001, 57, ("0.00057", "0.001")),
        (0.001, 0, ("0", "0.001")),
        (0.00003, 2, ("0.00002", "0.00003")),
        (0.1, 9_999, ("0.099", "0.1")),
        (1, 99_999, ("0.99", "1")),
        (25, 2_499_999, ("24.99", "25")),
        (25, 2_500_000, ("25", "25")),
        (1_000, 99_999_900, ("999.99", "1000")),
    ],
)
def test_what_is_spent_is_told_as_finely_as_the_ceiling_and_never_as_more_than_it_is(most_usd, spent, says) -> None:
    assert refusal(most_usd, spent) == SPENT.format(*says)
    assert refusal(most_usd, spent).startswith(CEILING)
    held = HELD_BACK.fullmatch(refusal(most_usd, spent))
    assert held
    assert (held["spent"], held["most"]) == says


def test_what_is_too_much_counts_nothing_and_less_may_still_fit() -> None:
    spending = LocalSpending(0.01)
    assert spending.take(600) is None
    said = spending.take(500)
    assert said == SPENT.format("0.006", "0.01")
    assert spending.take(400) is None
    assert spending.take(1) == said


def test_threads_together_keep_to_it() -> None:
    spending = LocalSpending(0.5)
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(spending.take, repeat(7, 10_000)))
    assert taken.count(None) == 50_000 // 7


def test_a_scan_counts_what_it_asked_for_the_audit_and_no_more(scan, stored) -> None:
    for _ in range(2):
        with scan(25) as spending:
            assert [spending.take(n) for n in (500, 10, 500, 500)] == [None] * 4
    with scan(25, "2") as spending:
        assert spending.take(3) is None
    assert counted(stored) == {"SPEND#1": 3_020, "SPEND#2": 3}
    assert {int(one["expires_at"]["N"]) for one in stored.items()} == {int((NOW + timedelta(days=2)).timestamp())}


def test_a_scan_that_asks_nothing_leaves_nothing(scan, stored) -> None:
    with scan(25):
        pass
    assert stored.items() == []


def test_a_large_scan_writes_once_for_ten_full_calls(scan, stored, monkeypatch) -> None:
    writes = []
    update = stored.client.update_item
    monkeypatch.setattr(stored.client, "update_item", lambda **request: (writes.append(request), update(**request))[1])
    with scan(25) as spending:
        for _ in range(200):
            assert spending.take(500) is None
    assert len(writes) <= 100_000 / BLOCK + 6
    assert counted(stored) == {"SPEND#1": 100_000}


def test_all_scans_of_an_audit_stop_at_one_ceiling(scan, stored) -> None:
    with scan(0.1) as one, scan(0.1) as two:
        taken = [[spending.take(500) for _ in range(20)] for spending in (one, two)]
    asked = sum(answers.count(None) for answers in taken)
    assert asked == 20
    assert counted(stored) == {"SPEND#1": 10_000}
    assert {why for answers in taken for why in answers if why} == {SPENT.format("0.1", "0.1")}


def test_the_last_that_fits_is_asked_though_a_block_does_not_fit(scan) -> None:
    with scan(0.1) as spending:
        assert [spending.take(4_000), spending.take(4_000), spending.take(2_000)] == [None] * 3
        assert spending.take(1) == SPENT.format("0.1", "0.1")


def test_a_call_that_is_dearer_than_the_ceiling_is_refused_though_nothing_is_counted(scan, stored) -> None:
    with scan(0.001) as spending:
        assert spending.take(500) == SPENT.format("0", "0.001")
        assert spending.take(100) is None
    assert counted(stored) == {"SPEND#1": 100}


def test_what_was_refused_is_not_asked_of_the_table_again(scan, stored, monkeypatch) -> None:
    with scan(0.01) as spending:
        assert spending.take(900) is None
        said = spending.take(500)
        monkeypatch.setattr(stored.client, "update_item", failing()[0])
        assert [spending.take(500), spending.take(700)] == [said, said]
        assert spending.take(1) == said  # the table fails now, and the wording stays


def test_where_the_table_does_not_count_nothing_is_asked_and_the_reason_says_so(scan, stored, monkeypatch) -> None:
    fails, left = failing()
    monkeypatch.setattr(stored.client, "update_item", fails)
    with scan(25) as spending:
        answers = [spending.take(500), spending.take(1)]
    (said,) = set(answers)
    assert said.startswith("not asked: what the audit has spent on metrics could not be counted (Not allowed")
    assert left == [0]  # asked once


def test_what_cannot_be_given_back_is_told(scan, stored, warned, monkeypatch) -> None:
    with scan(25) as spending:
        spending.take(500)
        spending.take(1)
        monkeypatch.setattr(stored.client, "update_item", failing()[0])
    (said,) = warned
    assert said.startswith("499 metrics that were not asked stay counted for the audit 1")


def test_threads_of_a_scan_never_ask_more_than_is_counted(scan, stored) -> None:
    with scan(0.2) as spending, ThreadPoolExecutor(8) as pool:
        asked = 500 * list(pool.map(spending.take, repeat(500, 60))).count(None)
    assert asked == 20_000
    assert counted(stored) == {"SPEND#1": asked}
