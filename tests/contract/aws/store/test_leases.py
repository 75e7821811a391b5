"""Concurrent scans of one account and region share its rate limit. A scan that died is soon forgotten."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError

from slackwater.aws.store.leases import LASTS, RENEWED_AFTER, DynamoLeases
from slackwater.model.resources import Target

TOKYO = Target("123456789012", "ap-northeast-1")


class Wall:
    def __init__(self):
        self.now = datetime(2026, 11, 16, 9, tzinfo=UTC)

    def __call__(self):
        return self.now

    def later(self, by):
        self.now += by


@pytest.fixture
def wall():
    return Wall()


@pytest.fixture
def warned():
    return []


@pytest.fixture
def leases(stored, moto_session, wall, warned):
    return DynamoLeases(moto_session, "slackwater", wall, warned.append)


@pytest.fixture
def asked(stored, monkeypatch):
    """Record the names of the calls to the table."""
    names = []
    make = stored.client._make_api_call

    def noted(name, parameters):
        names.append(name)
        return make(name, parameters)

    monkeypatch.setattr(stored.client, "_make_api_call", noted)
    return names


def broken(*_, **__):
    raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "Query")


def test_a_scan_that_is_alone_has_it_all_and_asks_three_times(leases, asked, warned):
    with leases.hold(TOKYO, "one") as share:
        assert [share() for _ in range(100)] == [1] * 100
    assert asked == ["PutItem", "Query", "PutItem"]
    assert warned == []


def test_scans_at_the_same_time_share_and_who_ends_leaves_its_part(leases, wall):
    with leases.hold(TOKYO, "one") as one:
        with leases.hold(TOKYO, "two") as two, leases.hold(TOKYO, "three") as three:
            assert [one(), two(), three()] == [1, 1 / 2, 1 / 3]
            wall.later(RENEWED_AFTER)
            assert [one(), two(), three()] == [1 / 3] * 3
        assert one() == 1 / 3
        wall.later(RENEWED_AFTER)
        assert one() == 1


def test_another_region_or_account_has_its_own_rate_limit(leases):
    with leases.hold(TOKYO, "one"), leases.hold(Target("210987654321", TOKYO.region), "two") as two:
        assert two() == 1
        with leases.hold(Target(TOKYO.account, "eu-west-1"), "three") as three:
            assert three() == 1


def test_a_dead_scan_counts_for_two_minutes_and_a_running_one_for_as_long_as_it_runs(leases, wall, stored):
    with ExitStack() as stack:
        share = stack.enter_context(leases.hold(TOKYO, "one"))
        died = leases.hold(TOKYO, "died")
        died.__enter__()  # the scan dies: it never renews or releases its lease
        for _ in range(3):
            wall.later(RENEWED_AFTER)
            assert share() == 1 / 2
        wall.later(LASTS - 3 * RENEWED_AFTER - timedelta(seconds=1))
        with leases.hold(TOKYO, "new") as new:
            assert new() == 1 / 3
        wall.later(timedelta(seconds=1))
        assert share() == 1
        with leases.hold(TOKYO, "later") as later:
            assert later() == 1 / 2
    expiries = {int(one["expires_at"]["N"]) for one in stored.items()}
    assert max(expiries) <= wall.now.timestamp()


def test_it_is_renewed_no_more_often_than_every_half_minute_and_once(leases, wall, asked):
    with leases.hold(TOKYO, "one") as share:
        asked.clear()
        wall.later(RENEWED_AFTER - timedelta(seconds=1))
        share()
        assert asked == []
        wall.later(timedelta(seconds=1))
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: share(), range(64)))
        assert asked == ["PutItem", "Query"]


@pytest.mark.parametrize("call", ["put_item", "query"])
@pytest.mark.parametrize("error", [ConnectTimeoutError(endpoint_url="http://x"), None])
def test_if_the_table_does_not_answer_the_scan_continues_at_half_its_rate_and_warns(
    leases, stored, wall, warned, monkeypatch, call, error
):
    def fails(*_, **__):
        if error:
            raise error
        broken()

    with monkeypatch.context() as patch:
        patch.setattr(stored.client, call, fails)
        with leases.hold(TOKYO, "one") as share:
            assert [share(), share()] == [1 / 2, 1 / 2]
            (warning,) = warned
            assert warning.startswith(
                "50% of the calls a second, as other scans of LEASE#123456789012/ap-northeast-1 are not to be seen"
            )
            patch.undo()
            wall.later(RENEWED_AFTER)
            assert share() == 1
    assert len(warned) == 1


def test_a_table_that_fails_later_takes_nothing_that_others_were_given(leases, stored, wall, warned, monkeypatch):
    with ExitStack() as stack:
        shares = [stack.enter_context(leases.hold(TOKYO, str(n))) for n in range(4)]
        assert shares[3]() == 1 / 4
        with monkeypatch.context() as patch:
            patch.setattr(stored.client, "query", broken)
            wall.later(RENEWED_AFTER)
            assert [share() for share in shares] == [1 / 2, 1 / 2, 1 / 3, 1 / 4]
    assert len(warned) == 4


def test_a_lease_that_cannot_be_ended_is_logged_and_hides_no_error_of_the_scan(leases, stored, warned, monkeypatch):
    def scan():
        with leases.hold(TOKYO, "one"):
            monkeypatch.setattr(stored.client, "put_item", broken)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        scan()
    (warning,) = warned
    assert "make room for this one for two minutes more" in warning


def test_after_its_end_nothing_is_renewed(leases, wall, asked):
    with leases.hold(TOKYO, "one") as share:
        pass
    asked.clear()
    wall.later(10 * RENEWED_AFTER)
    share()
    assert asked == []
