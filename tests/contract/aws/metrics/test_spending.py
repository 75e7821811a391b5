"""The spending limit for an audit's metrics, over all its scans."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import repeat
from threading import Lock

import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError
from moto.core.botocore_stubber import MockRawResponse

from slackwater.app.audit.limits import AuditLimits
from slackwater.app.findings.findings import ConflictError
from slackwater.aws.metrics.spending import BLOCK, Budget, DynamoDays, DynamoSpending, LocalSpending, refusal
from slackwater.aws.store.audits import DynamoAudits
from slackwater.model.audits import AuditRecord, AuditRequest, RunningAudits
from slackwater.model.findings import CEILING, DAY_CEILING, HELD_BACK
from slackwater.model.money import USD_PER_METRIC
from slackwater.model.policy import ScanSection
from slackwater.ports.errors import AccessDeniedError

NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)
AUDIT = AuditRecord(
    id="", state="running", started_at=NOW, finished_at=None, request=AuditRequest(requested_by=""), policy=None,
    outcome=None, error=None,
)  # fmt: skip
DAY = "scan.most_metrics_usd_per_day would be passed: {} of {} USD were spent"
SPENT = "scan.most_metrics_usd would be passed: {} of {} USD were spent"


@pytest.fixture
def warned():
    return []


@pytest.fixture
def scan(stored, moto_session, warned):
    def of(most_usd, audit_id="1", now=NOW, **more):
        return DynamoSpending(
            moto_session,
            "slackwater",
            Budget(audit_id=audit_id, most_usd=most_usd, **more),
            clock=lambda: now,
            warn=warned.append,
        )

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
def test_spending_is_reported_as_precisely_as_the_limit_and_never_rounded_up(most_usd, spent, says) -> None:
    assert refusal(most_usd, spent) == SPENT.format(*says)
    assert refusal(most_usd, spent).startswith(CEILING)
    held = HELD_BACK.fullmatch(refusal(most_usd, spent))
    assert held
    assert (held["spent"], held["most"]) == says


def test_what_is_too_much_counts_nothing_and_less_may_still_fit() -> None:
    spending = LocalSpending(0.01)
    assert spending.take(600) is None
    message = spending.take(500)
    assert message == SPENT.format("0.006", "0.01")
    assert spending.take(400) is None
    assert spending.take(1) == message


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


def test_a_call_that_costs_more_than_the_limit_is_refused_before_anything_is_counted(scan, stored) -> None:
    with scan(0.001) as spending:
        assert spending.take(500) == SPENT.format("0", "0.001")
        assert spending.take(100) is None
    assert counted(stored) == {"SPEND#1": 100}


def test_what_was_refused_is_not_asked_of_the_table_again(scan, stored, monkeypatch) -> None:
    with scan(0.01) as spending:
        assert spending.take(900) is None
        message = spending.take(500)
        monkeypatch.setattr(stored.client, "update_item", failing()[0])
        assert [spending.take(500), spending.take(700)] == [message, message]
        assert spending.take(1) == message  # the table fails now, but the reason stays the same


def test_where_the_table_does_not_count_nothing_is_asked_and_the_reason_says_so(scan, stored, monkeypatch) -> None:
    fails, left = failing()
    monkeypatch.setattr(stored.client, "update_item", fails)
    with scan(25) as spending:
        answers = [spending.take(500), spending.take(1)]
    (message,) = set(answers)
    assert message.startswith("not asked: what the audit has spent on metrics could not be counted (Not allowed")
    assert left == [0]  # one attempt


def test_metrics_that_cannot_be_given_back_are_logged(scan, stored, moto_session, warned, monkeypatch) -> None:
    with scan(25) as spending:
        spending.take(500)
        spending.take(1)
        monkeypatch.setattr(spending._once.client("dynamodb", moto_session.home), "update_item", failing()[0])
    (message,) = warned
    assert message.startswith("499 metrics that were not asked stay counted for the audit 1")


def test_what_is_given_back_is_sent_once_though_its_answer_is_lost(
    scan, stored, moto_session, warned, monkeypatch
) -> None:
    """A second request would return the metrics twice, and another scan could exceed the limit."""
    sent, spending = [], scan(25)
    client = spending._once.client("dynamodb", moto_session.home)

    def answers(request, **_):
        sent.append(request.url)
        return AWSResponse(request.url, 500, {}, MockRawResponse(b"{}"))

    with spending:
        spending.take(500)
        spending.take(1)
        client.meta.events.register_first("before-send.dynamodb.UpdateItem", answers)
    assert len(sent) == 1
    assert warned


def test_threads_of_a_scan_never_ask_more_than_is_counted(scan, stored) -> None:
    with scan(0.2) as spending, ThreadPoolExecutor(8) as pool:
        asked = 500 * list(pool.map(spending.take, repeat(500, 60))).count(None)
    assert asked == 20_000
    assert counted(stored) == {"SPEND#1": asked}


# -- A day


def test_all_audits_of_a_day_stop_at_one_ceiling_and_the_next_day_has_its_own(scan, stored) -> None:
    """Twenty audits with a limit of 0.01 USD each, on a day with a limit of 0.05 USD."""
    taken = []
    for number in range(20):
        with scan(0.01, f"a{number}", day_usd=0.05) as spending:
            taken += [spending.take(250) for _ in range(5)]
    assert 250 * taken.count(None) == 5_000
    assert set(taken) == {None, SPENT.format("0.01", "0.01"), DAY.format("0.05", "0.05")}
    assert HELD_BACK.fullmatch(DAY.format("0.05", "0.05"))["key"] == "scan.most_metrics_usd_per_day"
    assert counted(stored)["SPEND#day/2026-11-16"] == 5_000
    assert DynamoDays(stored.table).spent_usd(NOW) == Decimal("0.05")

    tomorrow = NOW + timedelta(days=1)
    assert DynamoDays(stored.table).spent_usd(tomorrow) == 0
    with scan(0.01, "a20", tomorrow, day_usd=0.05) as spending:
        assert spending.take(250) is None


def test_what_an_audit_does_not_ask_the_day_gets_back(scan, stored) -> None:
    with scan(25, day_usd=50) as spending:
        assert [spending.take(n) for n in (500, 10, 500, 500)] == [None] * 4
    with scan(0.01, "2", day_usd=50) as spending:
        assert spending.take(1_001)
    assert counted(stored) == {"SPEND#1": 1_510, "SPEND#day/2026-11-16": 1_510}


def test_where_the_audit_cannot_be_counted_the_day_is_not_either(scan, stored, monkeypatch) -> None:
    update = stored.client.update_item

    def only_days(**request):
        if "day/" not in request["Key"]["pk"]["S"]:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "UpdateItem")
        return update(**request)

    monkeypatch.setattr(stored.client, "update_item", only_days)
    with scan(25, day_usd=50) as spending:
        assert spending.take(500).startswith("not asked: ")
    assert counted(stored) == {"SPEND#day/2026-11-16": 0}


def test_a_day_without_an_answer_of_the_table_does_not_count_as_free(stored, monkeypatch) -> None:
    def denied(**_):
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "BatchGetItem")

    monkeypatch.setattr(stored.client, "batch_get_item", denied)
    with pytest.raises(AccessDeniedError):
        DynamoDays(stored.table).spent_usd(NOW)


# -- Accounts


def test_an_account_cannot_use_up_what_the_others_need(scan, stored) -> None:
    """One of four accounts requests first and without end. Each of the others still gets an eighth of the limit."""
    with scan(0.8, account="greedy", accounts=4) as greedy:
        taken = [greedy.take(500) for _ in range(200)]
    assert 500 * taken.count(None) == 50_000  # its own share of 10,000 and the common 40,000
    (why,) = {one for one in taken if one}
    assert why == SPENT.format("0.5", "0.8") + " beside what is kept for other accounts"
    assert HELD_BACK.fullmatch(why)["kept"]
    for name in ("a", "b", "c"):
        with scan(0.8, account=name, accounts=4) as modest:
            assert 500 * [modest.take(500) for _ in range(30)].count(None) == 10_000
    assert sum(counted(stored).values()) == 80_000


def test_a_day_that_cannot_pay_the_audit_is_what_accounts_share(scan, stored) -> None:
    with scan(1.6, account="greedy", accounts=4, day_usd=0.8) as greedy:
        assert 500 * [greedy.take(500) for _ in range(200)].count(None) == 50_000
        why = greedy.take(500)
    assert why.startswith(DAY_CEILING)
    assert HELD_BACK.fullmatch(why)["kept"]
    for name in ("a", "b", "c"):
        with scan(1.6, account=name, accounts=4, day_usd=0.8) as modest:
            assert 500 * [modest.take(500) for _ in range(30)].count(None) == 10_000
    assert counted(stored)["SPEND#day/2026-11-16"] == 80_000


def test_what_one_account_leaves_of_its_share_stays_its_own_and_the_rest_is_for_all(scan, stored) -> None:
    for name in ("a", "b"):
        with scan(0.4, account=name, accounts=2) as spending:
            assert 500 * [spending.take(500) for _ in range(100)].count(None) == (30_000 if name == "a" else 10_000)
    assert sum(counted(stored).values()) == 40_000


def test_a_lone_account_has_the_whole_ceiling(scan) -> None:
    with scan(0.1, account="a", accounts=1) as spending:
        assert [spending.take(500) for _ in range(21)].count(None) == 20


def test_many_accounts_at_once_never_ask_more_than_the_ceiling(scan, stored, monkeypatch) -> None:
    update, one_at_a_time = DynamoSpending._update, Lock()

    def updated(*arguments):
        with one_at_a_time:  # DynamoDB updates an item atomically, moto does not
            return update(*arguments)

    monkeypatch.setattr(DynamoSpending, "_update", updated)

    def asks(number):
        with scan(0.2, account=f"a{number}", accounts=10, day_usd=1) as spending:
            return 100 * [spending.take(100) for _ in range(100)].count(None)

    with ThreadPoolExecutor(8) as pool:
        asked = sum(pool.map(asks, range(10)))
    assert 15_000 <= asked <= 20_000
    assert counted(stored)["SPEND#day/2026-11-16"] == asked


# -- A flood


def test_what_a_hundred_audits_in_a_minute_cost_at_most(scan, stored, moto_session) -> None:
    """Five callers request a hundred audits. Each may spend 25 USD, so without limits they could cost 2,500 USD.

    An audit that ends makes room for the next. The first two spend the day's 50 USD, and nothing starts after that.
    """
    store = DynamoAudits(stored.table, timedelta(days=1), lambda: NOW)
    days = DynamoDays(stored.table)
    executions = {}
    limits = AuditLimits(
        audits=store, state=lambda id_: executions.get(id_, "none"), spent_usd=days.spent_usd, clock=lambda: NOW
    )
    rules = ScanSection()
    admitted, refused = [], Counter()
    for number in range(100):
        id_ = f"a{number}"
        try:
            limits.admit(id_, AuditRequest(requested_by=f"caller {number % 5}"), rules)
        except ConflictError as error:
            refused[type(error).__name__] += 1
        else:
            admitted.append(id_)
            executions[id_] = "running"
            store.begin(replace(AUDIT, id=id_, request=AuditRequest(requested_by=f"caller {number % 5}")))
        if number % 10 == 9 and (running := [one for one in admitted if executions[one] == "running"]):
            with scan(rules.most_metrics_usd, running[0], day_usd=rules.most_metrics_usd_per_day) as spending:
                spending.take(37)  # so that no call ends exactly at the limit
                while spending.take(100_000) is None:
                    pass
                while spending.take(500) is None:
                    pass
            executions[running[0]] = "ended"

    assert admitted == ["a0", "a1", "a2", "a10"]
    assert refused == {"TooManyAuditsError": 16, "SpentError": 80}
    assert Decimal("49.99") < days.spent_usd(NOW) <= 50


def test_an_audit_takes_a_place_in_the_table_once_however_many_ask_at_once(stored) -> None:
    store = DynamoAudits(stored.table, timedelta(days=1), lambda: NOW)
    assert store.running() == RunningAudits(since={})
    first = RunningAudits(since={"a": NOW}, revision=1)

    assert store.write_running(first)
    assert not store.write_running(RunningAudits(since={"b": NOW}, revision=1))
    assert store.running() == first
    assert store.write_running(RunningAudits(since={"a": NOW, "b": NOW}, revision=2))
    assert not store.write_running(RunningAudits(since={}, revision=2))
