"""Limits on the audits that run at a time and on their cost in a day. An audit whose execution died blocks nobody."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from pydantic import TypeAdapter
from tests.unit.app.audit.test_audits import ANYBODY, NOW, WEEKLY, Service

from slackwater.app.audit.limits import SpentError, TooManyAuditsError
from slackwater.app.audit.request import AuditRequestError
from slackwater.app.findings.findings import ConflictError
from slackwater.model import object_keys
from slackwater.model.audits import AuditRequest, RunningAudits
from slackwater.ports.errors import UnreachableError


@pytest.fixture
def service() -> Service:
    return Service()


def policy(service: Service, text: str) -> None:
    service.bucket.write(object_keys.POLICY, f"[scan]\n{text}\n")


def test_of_a_hundred_requests_by_five_callers_three_run_and_the_others_learn_which(service: Service) -> None:
    callers = [AuditRequest(requested_by=f"arn:aws:iam::123456789012:user/{name}") for name in "abcde"]

    def ask(number: int) -> str | TooManyAuditsError:
        try:
            return service.audits.start(callers[number % 5])
        except TooManyAuditsError as refused:
            return refused

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(ask, range(100)))

    started = [id_ for id_, _ in service.started]
    refused = [one for one in answers if isinstance(one, TooManyAuditsError)]
    assert (len(started), len(refused)) == (3, 97)
    assert {one for one in answers if isinstance(one, str)} == {*started}
    assert {*refused[-1].running} == {*started}
    assert str(refused[-1]).startswith("3 audits are running, as many as scan.most_running_audits allows: ")


def test_of_a_hundred_turns_of_schedules_three_run_and_one_that_comes_twice_is_one(service: Service) -> None:
    """Schedules start executions directly. The first state refuses, and the state machine retries for an hour."""
    refused = 0
    for number in range(100):
        request = AuditRequest(requested_by="schedule", occasion=f"hourly/{number // 2}")
        try:
            service.planner.plan(f"a-{number}", request, "machine")
        except TooManyAuditsError:
            refused += 1

    running = [one.id for one in service.records.kept.values() if one.state == "running"]
    assert running == ["a-0", "a-2", "a-4"]
    assert refused == 47  # each other occasion starts twice: its first start is refused


def test_an_audit_that_has_ended_makes_room(service: Service) -> None:
    policy(service, "most_running_audits = 1")
    service.audits.start(ANYBODY)
    with pytest.raises(TooManyAuditsError, match=r"^1 audit is running"):
        service.audits.start(ANYBODY)

    service.run(service.started[0][0])

    assert service.audits.start(ANYBODY)
    assert len(service.records.places.since) == 1


def test_the_same_request_again_counts_once(service: Service) -> None:
    policy(service, "most_running_audits = 1")
    id_ = service.audits.start(ANYBODY, "mine")

    assert service.audits.start(ANYBODY, "mine") == id_
    service.planner.plan(id_, ANYBODY, "machine")
    service.planner.plan(id_, ANYBODY, "machine")
    service.run(id_)
    assert service.audits.start(ANYBODY, "mine") == id_  # it has ended, so it takes no place
    assert service.audits.start(ANYBODY)


def test_an_audit_whose_start_failed_keeps_its_place_as_it_may_be_running(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object) -> None:
        raise UnreachableError("states")

    monkeypatch.setattr(Service, "start", unreachable)
    with pytest.raises(UnreachableError):
        service.audits.start(ANYBODY, "monday")

    assert len(service.records.places.since) == 1


@pytest.mark.parametrize(
    "caller",
    [
        "slack:U012",
        "arn:aws:iam::123456789012:user/ann",
        "arn:aws:sts::123456789012:assumed-role/deployer/{}",
        "arn:aws:sts::123456789012:assumed-role/AWSReservedSSO_Dev_0123/ann",
    ],
)
def test_one_caller_leaves_a_place_to_others(service: Service, caller: str) -> None:
    """The names of a role's sessions make no difference."""
    own = [service.audits.start(AuditRequest(requested_by=caller.format(name))) for name in "ab"]
    with pytest.raises(
        TooManyAuditsError, match=r"^2 audits are running, as many as .* allows one caller: "
    ) as refused:
        service.audits.start(AuditRequest(requested_by=caller.format("c")))

    assert {*refused.value.running} == {*own}
    assert service.audits.start(AuditRequest(requested_by="slack:U999"))


def test_people_of_identity_center_are_callers_of_their_own(service: Service) -> None:
    session = "arn:aws:sts::123456789012:assumed-role/AWSReservedSSO_Dev_0123/{}"

    assert len({service.audits.start(AuditRequest(requested_by=session.format(name))) for name in "abc"}) == 3


def test_one_audit_of_a_schedule_runs_though_people_have_all_places(service: Service) -> None:
    policy(service, "most_running_audits = 2")
    for name in "ab":
        service.audits.start(AuditRequest(requested_by=f"slack:U{name}"))

    assert service.planner.plan("weekly", WEEKLY, "machine")
    with pytest.raises(TooManyAuditsError, match=r"^3 audits are running"):
        service.planner.plan("hourly", replace(WEEKLY, occasion="hourly/2026-11-16T09:00:00Z"), "machine")
    with pytest.raises(TooManyAuditsError):
        service.audits.start(AuditRequest(requested_by="slack:Uc"))


def test_places_that_an_older_version_stored_have_no_caller(service: Service) -> None:
    stored = TypeAdapter(RunningAudits).validate_python({"since": {"a": NOW, "b": NOW}, "revision": 2})
    service.records.places = stored

    assert service.audits.start(ANYBODY)


def test_a_request_that_is_repeated_while_its_audit_runs_does_not_free_its_place(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object) -> None:
        raise UnreachableError("states")

    started = service.audits.start(ANYBODY, "monday")
    monkeypatch.setattr(Service, "start", unreachable)
    with pytest.raises(UnreachableError):
        service.audits.start(ANYBODY, "monday")

    assert set(service.records.places.since) == {started}


@pytest.mark.parametrize(("minutes", "has_room"), [(4, False), (6, True)])
def test_a_place_without_an_execution_is_free_after_five_minutes(
    service: Service, minutes: int, has_room: bool
) -> None:
    policy(service, "most_running_audits = 1")
    service.states["a"] = "none"
    service.records.places = RunningAudits(since={"a": service.now - timedelta(minutes=minutes)})

    if has_room:
        assert service.audits.start(ANYBODY)
    else:
        with pytest.raises(TooManyAuditsError):
            service.audits.start(ANYBODY)


def test_an_audit_whose_execution_died_is_put_on_record_as_failed_and_makes_room(service: Service) -> None:
    policy(service, "most_running_audits = 1")
    service.planner.plan("a-1", ANYBODY, "machine")
    service.states["a-1"] = "ended"

    service.audits.start(ANYBODY)

    dead = service.records.kept["a-1"]
    assert (dead.state, dead.finished_at is not None) == ("failed", True)
    assert dead.error == "its execution ended without putting that on record; Step Functions says why"


def test_an_audit_whose_execution_died_can_be_tried_again(service: Service) -> None:
    """Three attempts to record its end failed, so its record would say "running" forever."""
    service.planner.plan("a-1", ANYBODY, "machine")
    again = replace(ANYBODY, retry_of="a-1")
    with pytest.raises(AuditRequestError, match="has not ended yet"):
        service.planner.plan("a-2", again, "machine")

    service.states["a-1"] = "ended"

    plan = service.planner.plan("a-2", again, "machine")
    assert plan
    assert plan.targets == service.planner.plan("a-3", ANYBODY, "machine").targets
    assert service.records.kept["a-1"].state == "failed"


def test_nothing_starts_once_the_day_is_spent_and_everything_the_next_day(service: Service) -> None:
    policy(service, "most_metrics_usd_per_day = 20.5")
    service.spent_usd = Decimal("20.5")

    for refused in (lambda: service.audits.start(ANYBODY), lambda: service.planner.plan("a-1", WEEKLY, "machine")):
        with pytest.raises(SpentError, match=r"^20\.50 of 20\.5 USD are spent on metrics on 2026-11-16 \(UTC\)"):
            refused()
    assert service.records.places.since == {}

    service.spent_usd = Decimal("20.4")
    assert service.audits.start(ANYBODY)


def test_the_allowance_is_reported_without_changing_it(service: Service) -> None:
    id_ = service.audits.start(ANYBODY)
    service.run(service.audits.start(ANYBODY))
    service.spent_usd = Decimal(60)
    before = service.records.places

    left = service.audits.allowance()

    assert left
    assert (left.running, left.most_running, left.day, left.left_usd) == ((id_,), 3, NOW.date(), 0)
    assert service.records.places == before


def test_by_a_policy_that_cannot_be_used_an_audit_starts_that_says_so(service: Service) -> None:
    policy(service, "most_running_audits = 0")

    assert service.audits.allowance() is None
    assert service.audits.start(ANYBODY)


def test_a_caller_that_loses_every_race_is_asked_to_try_again(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service.records, "write_running", lambda _: False)

    with pytest.raises(ConflictError, match="others keep starting audits: try again"):
        service.audits.start(ANYBODY)
