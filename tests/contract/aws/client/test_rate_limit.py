"""Calls never exceed the rate limit. Throttling slows them down, but no more than needed."""

import heapq
import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st

from slackwater.aws.client.errors import THROTTLED
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.rate_limit import LEAST, POINTS_PER_SECOND, RECOVERS_S, Bucket, RateLimit
from slackwater.aws.client.session import NO_RETRIES, AwsSession, Endpoint, RetrySettings
from slackwater.model.policy import ScanSection
from slackwater.model.services import CALLS_PER_SECOND
from slackwater_simulator import Fleet, instant
from slackwater_simulator.resources import Role

NOW = instant("2026-11-16T09:07:00Z")
REGION = "ap-northeast-1"


class Time:
    """A clock that only sleeping moves. `slept` holds the waits in seconds."""

    def __init__(self, *, stopped=False):
        self.now, self.slept, self.stopped = 0.0, [], stopped

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += 0 if self.stopped else seconds


def bucket(per_second, time, share=lambda: 1):
    return Bucket(per_second, share=share, clock=time, sleep=time.sleep)


def sent(of, time, count):
    """Take this many tokens one after the other. Return when each was granted, in seconds."""
    times = []
    for _ in range(count):
        of.take()
        times.append(time.now)
    return times


def rate(times):
    return (len(times) - 1) / (times[-1] - times[0])


@given(
    per_second=st.floats(0.2, 50),
    share=st.sampled_from([1, 0.5, 0.125]),
    gaps=st.lists(st.lists(st.floats(0, 3), min_size=1, max_size=12), min_size=1, max_size=6),
    throttled=st.sets(st.integers(0, 40)),
)
def test_no_window_ever_holds_more_than_its_rate_and_a_burst(per_second, share, gaps, throttled):
    """Each list in `gaps` is a thread's work before each of its calls, in seconds. Threads call while others wait."""
    time = Time(stopped=True)
    of = bucket(per_second, time, lambda: share)
    due = [(works[0], n, 0) for n, works in enumerate(gaps)]
    heapq.heapify(due)
    went = []
    while due:
        time.now, thread, call = heapq.heappop(due)
        if len(went) in throttled:
            of.throttled()
        time.slept.clear()
        of.take()
        went.append(time.now + sum(time.slept))
        if call + 1 < len(gaps[thread]):
            heapq.heappush(due, (went[-1] + gaps[thread][call + 1], thread, call + 1))
    went.sort()
    burst = max(1, per_second * share)
    for first in range(len(went)):
        for last in range(first, len(went)):
            assert last - first + 1 <= burst + per_second * share * (went[last] - went[first]) + 1e-6


def test_threads_that_come_at_once_take_turns_and_none_is_lost():
    time = Time(stopped=True)
    of = bucket(10, time)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: of.take(), range(400)))
    assert sorted(time.slept) == pytest.approx([n / 10 for n in range(1, 391)])


def test_what_is_slower_than_the_rate_never_waits():
    time = Time()
    of = bucket(10, time)
    for _ in range(100):
        of.take()
        time.now += 0.11
    assert time.slept == []


def test_a_throttled_scan_continues_at_half_the_rate_and_recovers_within_half_a_minute():
    time = Time()
    of = bucket(10, time)
    sent(of, time, 20)
    of.throttled()
    assert rate(sent(of, time, 10)) == pytest.approx(5, rel=0.15)
    after = sent(of, time, 400)
    gaps = [b - a for a, b in pairwise(after)]
    assert all(b <= a + 1e-9 for a, b in pairwise(gaps))
    assert rate([at for at in after if at > RECOVERS_S / 2]) == pytest.approx(10, rel=0.01)
    assert next(at for at, gap in zip(after, gaps, strict=False) if gap < 0.1001) > RECOVERS_S / 3


def test_calls_that_are_refused_together_halve_the_rate_once():
    time = Time()
    of = bucket(16, time)
    sent(of, time, 16)
    for _ in range(8):
        of.throttled()
    assert rate(sent(of, time, 4)) == pytest.approx(8, rel=0.1)


def test_a_scan_continues_however_often_it_is_throttled():
    time = Time()
    of = bucket(10, time)
    for _ in range(50):
        of.throttled()
        of.take()
    time.slept.clear()
    of.throttled()
    of.take()
    assert time.slept[0] <= 1 / (10 * LEAST) + 1e-9


def test_the_share_is_asked_anew_for_every_call():
    time, shares = Time(), [1.0]
    of = bucket(10, time, lambda: shares[0])
    sent(of, time, 10)
    assert rate(sent(of, time, 10)) == pytest.approx(10)
    shares[0] = 0.25
    assert rate(sent(of, time, 10)[1:]) == pytest.approx(2.5)


def test_each_service_in_each_region_has_a_bucket_and_what_has_no_rate_does_not_wait():
    time = Time(stopped=True)
    of = RateLimit({"fsx": 1}, clock=time, sleep=time.sleep)
    for _ in range(1_000):
        of.call("dynamodb", REGION)
    of.call("fsx", REGION)
    of.call("fsx", "eu-west-1")
    of.call("ec2", REGION)
    assert time.slept == []
    of.call("fsx", REGION)
    assert time.slept == [1]


def test_data_points_have_their_own_rate_limit_and_one_call_may_exceed_a_second():
    time = Time()
    of = RateLimit(points_per_second=50_000, clock=time, sleep=time.sleep)
    for _ in range(4):
        of.points(REGION, 100_000)
    assert time.now == (400_000 - 50_000) / 50_000


def test_throttled_cloudwatch_slows_its_calls_and_its_points_and_no_other():
    time = Time(stopped=True)
    of = RateLimit({"cloudwatch": 1, "fsx": 1}, points_per_second=1, clock=time, sleep=time.sleep)
    of.throttled("cloudwatch", REGION)
    of.throttled("dynamodb", REGION)
    of.call("cloudwatch", "eu-west-1")
    of.call("fsx", REGION)
    assert time.slept == []
    of.call("cloudwatch", REGION)
    of.points(REGION, 1)
    assert time.slept == [2, 2]


def test_the_defaults_leave_room_below_what_aws_says():
    assert CALLS_PER_SECOND["cloudtrail"] < 2
    assert CALLS_PER_SECOND["cloudwatch"] < 25  # ListMetrics
    assert CALLS_PER_SECOND["ec2"] <= 20 / 2
    assert POINTS_PER_SECOND < 396_000 * 0.8
    assert ScanSection().datapoints_per_second == POINTS_PER_SECOND


def test_the_rates_are_those_of_the_documentation():
    page = (Path(__file__).parents[4] / "docs" / "operations.md").read_text()
    documented = re.findall(r"^\| `([\w-]+)` \| ([\d.]+) \|", page, re.MULTILINE)
    assert {service: float(rate) for service, rate in documented} == CALLS_PER_SECOND
    assert f"A scan uses up to {POINTS_PER_SECOND:,} of those points" in page


@pytest.fixture
def account(simulate):
    return simulate(Fleet(now=NOW), retries=RetrySettings(3, 10, retry_mode="standard"))


def test_every_request_waits_for_its_turn_whichever_client_makes_it(account):
    time = Time()
    account.session.client("fsx", REGION)  # created before the session had a rate limit
    account.session.rate_limit = RateLimit({"fsx": 2}, clock=time, sleep=time.sleep)
    for _ in range(6):
        account.session.client("fsx", REGION).describe_file_systems()
    assert time.slept == [0.5] * 4
    other = AwsSession(meter=CallMeter(), endpoint=Endpoint(account.sim.url, "AKIADUMMY", "dummy"))
    other.rate_limit = account.session.rate_limit
    other.client("fsx", REGION).describe_file_systems()
    assert time.slept == [0.5] * 5


@pytest.mark.parametrize(
    ("service", "action"), [("ec2", "ec2:DescribeVolumes"), ("efs", "elasticfilesystem:DescribeFileSystems")]
)
def test_a_service_that_throttles_is_asked_half_as_often_retries_included(account, monkeypatch, service, action):
    time = Time()
    monkeypatch.setattr("botocore.retries.standard.time.sleep", lambda _: None)
    iam = action.partition(":")[0]
    account.session.rate_limit = RateLimit({iam: 2}, clock=time, sleep=time.sleep)
    account.sim.faults.throttle(action, per_second=0, burst=0)
    client = account.session.client(service, REGION)
    ask = client.describe_volumes if service == "ec2" else client.describe_file_systems
    with pytest.raises(ClientError):
        ask()
    assert account.sim.calls[action] == 3
    assert time.slept[0] == pytest.approx(1)  # the first retry takes one token, at half of 2 tokens a second
    assert time.slept[1] > 1  # and at a quarter
    account.sim.faults.clear()
    time.slept.clear()
    ask()
    assert time.slept[0] > 1


def test_errors_of_other_kinds_slow_nothing_down(simulate):
    account, time = simulate(Fleet(now=NOW), retries=NO_RETRIES), Time()
    account.session.rate_limit = RateLimit({"fsx": 1}, clock=time, sleep=time.sleep)
    account.sim.faults.deny("fsx:DescribeFileSystems")
    for _ in range(3):
        with pytest.raises(ClientError):
            account.session.client("fsx", REGION).describe_file_systems()
    assert time.slept == [1, 1]


def test_a_request_is_signed_after_its_turn_has_come(account):
    order = []
    account.session.rate_limit = RateLimit({"fsx": 1}, clock=Time(), sleep=lambda _: order.append("waited"))
    client = account.session.client("fsx", REGION)
    client.meta.events.register("before-sign", lambda **_: order.append("signed"))
    client.describe_file_systems()
    client.describe_file_systems()
    assert order == ["signed", "waited", "signed"]


def test_every_throttling_code_of_botocore_is_recognized():
    """Some codes of botocore's list are excluded, because no service in use answers with them."""
    from botocore.retries.standard import ThrottledRetryableChecker

    others = {
        "BandwidthLimitExceeded",  # S3
        "LimitExceededException",  # a quota, in most services
        "PriorRequestNotComplete",  # Route 53
        "RequestThrottledException",
        "TransactionInProgressException",  # DynamoDB
    }
    assert set(ThrottledRetryableChecker._THROTTLED_ERROR_CODES) - others <= THROTTLED


def test_a_session_of_another_account_has_its_own_rate_limit(simulate):
    other = Fleet(now=NOW, account="210987654321", roles=[Role(name="audit", external_id="tide-table")])
    account, time = simulate(Fleet(now=NOW), other), Time()
    account.session.rate_limit = RateLimit({"fsx": 1}, clock=time, sleep=time.sleep)
    there = account.session.assuming("arn:aws:iam::210987654321:role/audit", "tide-table")
    for session in (account.session, there, there):
        session.client("fsx", REGION).describe_file_systems()
    assert time.slept == []
