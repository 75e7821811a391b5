"""Advice of efs-idle, efs-orphaned and efs-abandoned, where a wrong word could lead to a deletion."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from slackwater.engine.cases import play, play_with_queries
from slackwater.engine.registry import registry
from slackwater.model.detector import CASE_NOW, Case
from slackwater.model.units import DAY_S, FIVE_MINUTES_S, GIB, KIB, MIB
from slackwater.model.verdicts import Fine, Flagged, Unknown, Verdict

IDLE, ORPHANED, ABANDONED = (
    ("efs-idle", "a month of zeros"),
    ("efs-orphaned", "no mount target"),
    ("efs-abandoned", "six hours of zeros"),
)
EACH = pytest.mark.parametrize(("detector_id", "title"), [IDLE, ORPHANED, ABANDONED])


def case(detector_id: str, title: str) -> Case:
    return next(case for case in registry()[detector_id].cases if case.title == title)


def judged(detector_id: str, title: str, **changes: object) -> Verdict:
    """Return the verdict on a case with changes to its resource and limits."""
    one = case(detector_id, title)
    limits = {**one.limits, **changes.pop("limits", {})}  # type: ignore[dict-item]
    metrics = changes.pop("metrics", one.metrics)
    resource = replace(one.resource, **changes)  # type: ignore[arg-type]
    changed = replace(one, resource=resource, limits=limits, metrics=metrics)  # type: ignore[arg-type]
    return play(registry()[detector_id], changed)


def flagged(detector_id: str, title: str, **changes: object) -> Flagged:
    verdict = judged(detector_id, title, **changes)
    assert isinstance(verdict, Flagged), verdict
    return verdict


def series(base: tuple[str, str], name: str, values: Sequence[float | None]) -> dict:
    """Return the metrics of a case with another series for the metric of this name."""
    return {key: values if key[0].name == name else given for key, given in case(*base).metrics.items()}


@EACH
def test_a_command_backs_up_or_tiers_and_none_deletes(detector_id: str, title: str) -> None:
    delete, colder = flagged(detector_id, title).advice

    assert (delete.action, colder.action) == ("back-up-and-delete", "tier-to-infrequent-access")
    assert "start-backup-job" in (delete.command or "")
    assert "When it is complete" in delete.summary
    assert "put-lifecycle-configuration" in (colder.command or "")
    assert "replaces the lifecycle policies" in colder.risk
    assert not any("delete" in (advice.command or "") for advice in (delete, colder))


@EACH
def test_the_recovery_point_expires_and_the_advice_says_so(detector_id: str, title: str) -> None:
    delete = flagged(detector_id, title).advice[0]
    command = shlex.split(delete.command or "")

    assert command[command.index("--lifecycle") + 1] == "DeleteAfterDays=90"
    assert "kept for 90 days" in delete.summary
    assert "expire after 90 days" in delete.risk
    assert "vault Default and the role AWSBackupDefaultServiceRole must exist" in delete.risk


@EACH
@pytest.mark.parametrize(
    ("stored", "costs_more"), [(("Standard",), False), (("Standard", "IA"), True), (("Archive",), True)]
)
def test_what_the_recovery_point_costs_is_named(
    detector_id: str, title: str, stored: tuple[str, ...], costs_more: bool
) -> None:
    risk = flagged(detector_id, title, stored_bytes=dict.fromkeys(stored, 50 * GIB)).advice[0].risk

    assert "$0.05 per GiB-month" in risk
    assert "The saving does not include that" in risk
    assert ("costs more than Infrequent Access or Archive" in risk) is costs_more


def test_what_hangs_on_a_file_system_is_deleted_first() -> None:
    assert "delete the access points and mount targets, wait" in flagged(*IDLE).advice[0].summary
    assert "delete the access points, wait" in flagged(*ORPHANED).advice[0].summary


@EACH
@pytest.mark.parametrize(
    ("tags", "owner"),
    [
        ({"aws:cloudformation:stack-name": "clips"}, "CloudFormation stack clips"),
        ({"efs.csi.aws.com/cluster": "true"}, "Kubernetes"),
        ({"ManagedByAmazonSageMakerResource": "arn:aws:sagemaker:eu-west-1:1:domain/d-abc"}, "SageMaker domain d-abc"),
    ],
)
def test_who_manages_it_is_named(detector_id: str, title: str, tags: dict[str, str], owner: str) -> None:
    assert (
        f"It is managed by {owner}: change it there." in flagged(detector_id, title, tags={"Job": "x", **tags}).caveats
    )


@pytest.mark.parametrize(("detector_id", "title"), [IDLE, ORPHANED])
def test_tags_that_nobody_could_read_may_protect(detector_id: str, title: str) -> None:
    assert "Its tags could not be read, so it may be protected." in flagged(detector_id, title, tags=None).caveats


@EACH
def test_an_empty_file_system_has_nothing_to_keep_in_a_colder_class(detector_id: str, title: str) -> None:
    empty = {"Standard": 12 * KIB, "IA": 0, "Archive": 0}

    assert len(flagged(detector_id, title, stored_bytes=empty).advice) == 1
    assert flagged(detector_id, title, stored_bytes=empty).summary.startswith("No file (")
    assert len(flagged(detector_id, title, stored_bytes={**empty, "Standard": 13 * KIB}).advice) == 2


@EACH
def test_what_is_cold_already_cannot_get_colder(detector_id: str, title: str) -> None:
    assert len(flagged(detector_id, title, stored_bytes={"Standard": 0, "IA": 50 * GIB, "Archive": 0}).advice) == 1


@EACH
def test_the_stronger_finding_speaks_alone(detector_id: str, title: str) -> None:
    same = {"efs-cold-data", "efs-single-client", "efs-single-zone-use", "efs-throughput-mismatch"}
    left_behind = {"efs-idle": set(), "efs-abandoned": {"efs-idle"}, "efs-orphaned": {"efs-abandoned", "efs-idle"}}

    assert {*registry()[detector_id].outranks} == same | left_behind[detector_id]


def test_throughput_that_is_paid_for_is_saved_with_an_orphan() -> None:
    paid = flagged(*ORPHANED, throughput_mode="provisioned", provisioned_mib_s=100.0).advice[0].changes or ()

    assert [change.item.id for change in paid] == ["efs.standard.storage", "efs.provisioned.throughput"]


def test_a_file_system_is_orphaned_from_its_seventh_day_on() -> None:
    assert isinstance(judged(*ORPHANED, created_at=CASE_NOW - timedelta(days=6.9)), Fine)
    assert flagged(*ORPHANED, created_at=CASE_NOW - timedelta(days=7.1)).confidence == "medium"


def test_a_caveat_says_that_the_age_of_an_orphan_is_unknown() -> None:
    assert flagged(*ORPHANED).confidence == "medium"
    assert any(
        "does not report when the last mount target was deleted" in caveat for caveat in flagged(*ORPHANED).caveats
    )


@pytest.mark.parametrize(
    ("tag", "tags", "of_a_job"),
    [
        ("Job", {"Job": "encode"}, True),
        ("Job", {"Job": ""}, True),
        ("Job=encode", {"Job": "encode"}, True),
        ("Job=a=b", {"Job": "a=b"}, True),
        ("Job=", {"Job": ""}, True),
        ("Job=", {"Job": "encode"}, False),
        ("Job=encode", {"Job": "encode-2"}, False),
        ("Job=encode", {"Owner": "encode"}, False),
        ("Job", {"job": "encode"}, False),
        ("Job", {"Name": "Job"}, False),
    ],
)
def test_a_jobs_file_system_is_known_by_its_tag_and_by_nothing_else(
    tag: str, tags: dict[str, str], of_a_job: bool
) -> None:
    verdict = judged(*ABANDONED, tags=tags, limits={"tag": tag})

    assert isinstance(verdict, Flagged if of_a_job else Fine)


def test_without_a_tag_nothing_is_a_jobs_and_nothing_is_asked() -> None:
    off = replace(case(*ABANDONED), limits={})
    verdict, queries = play_with_queries(registry()["efs-abandoned"], off)

    assert isinstance(verdict, Fine)
    assert not queries


def test_a_deletion_without_approval_needs_zeros_and_no_byte() -> None:
    moved = series(ABANDONED, "MeteredIOBytes", [0.0] * 71 + [4.0 * KIB])

    assert flagged(*ABANDONED).confidence == "high"
    assert flagged(*ABANDONED, metrics=moved).confidence == "medium"
    assert flagged("efs-abandoned", "six hours without points, while CloudWatch was recording").confidence == "medium"


@pytest.mark.parametrize("place", [0, 35, 71])
def test_one_minute_of_one_client_is_use(place: int) -> None:
    minutes = [0.0] * 72
    minutes[place] = 1.0

    assert isinstance(judged(*ABANDONED, metrics=series(ABANDONED, "ClientConnections", minutes)), Fine)


@pytest.mark.parametrize("place", [0, 35, 69])
def test_a_client_may_hide_for_a_quarter_of_an_hour_and_no_longer(place: int) -> None:
    hole = [0.0] * place + [None] * 3 + [0.0] * (69 - place)
    longer = [0.0] * min(place, 68) + [None] * 4 + [0.0] * (68 - min(place, 68))

    assert isinstance(judged(*ABANDONED, metrics=series(ABANDONED, "ClientConnections", hole)), Flagged)
    assert isinstance(judged(*ABANDONED, metrics=series(ABANDONED, "ClientConnections", longer)), Unknown)


@pytest.mark.parametrize("lost", [0, 1, 2, 3])
@pytest.mark.parametrize("last", [24, 12])
def test_two_points_of_storage_may_be_lost_or_late_and_no_more(lost: int, last: int) -> None:
    stored: list[float | None] = [None, None, 1.0] * 24
    stored[3 * (last - lost) : 3 * last] = [None] * 3 * lost
    verdict = judged(*ABANDONED, metrics=series(ABANDONED, "StorageBytes", stored))

    assert isinstance(verdict, Unknown if lost > 2 else Flagged), verdict


def test_the_policy_says_how_long_a_job_may_wait() -> None:
    old_client = [5.0] + [0.0] * 71

    assert isinstance(judged(*ABANDONED, metrics=series(ABANDONED, "ClientConnections", old_client)), Fine)
    shorter = flagged(*ABANDONED, metrics=series(ABANDONED, "ClientConnections", old_client), limits={"quiet_hours": 5})
    assert "no client in 5 hours" in shorter.summary
    assert isinstance(judged(*ABANDONED, limits={"quiet_hours": 32}), Fine), "it is 31 hours old"


@pytest.mark.parametrize("hours", [6, 7])
def test_no_file_system_is_abandoned_before_it_could_be_quiet_for_so_long(hours: int) -> None:
    made = CASE_NOW - timedelta(hours=6.5)

    assert isinstance(
        judged(*ABANDONED, created_at=made, limits={"quiet_hours": hours}), Flagged if hours == 6 else Fine
    )
    assert isinstance(
        judged(*ABANDONED, created_at=made, limits={"minimum_age_hours": hours}), Flagged if hours == 6 else Fine
    )


def test_a_point_that_is_not_over_yet_does_not_count() -> None:
    _, queries = play_with_queries(registry()["efs-abandoned"], case(*ABANDONED))

    assert {query.period_s for query in queries} == {FIVE_MINUTES_S}
    assert all(query.window.end_s <= CASE_NOW.timestamp() for query in queries)


@pytest.mark.parametrize("days_ago", [0, 1, 29, 30, 31, 35, 36])
def test_a_client_on_any_of_36_days_is_use(days_ago: int) -> None:
    connected = [1.0 if day == days_ago else 0.0 for day in reversed(range(37))]

    assert isinstance(judged(*IDLE, metrics=series(IDLE, "ClientConnections", connected)), Fine)


@pytest.mark.parametrize(("days_ago", "confidence"), [(30, None), (31, "medium"), (36, "medium"), (37, "high")])
def test_a_day_without_metrics_is_inconclusive_or_lowers_the_confidence(days_ago: int, confidence: str | None) -> None:
    stored = [None if day == days_ago else 32.0 * GIB for day in reversed(range(37))]
    verdict = judged(*IDLE, metrics=series(IDLE, "StorageBytes", stored))

    assert isinstance(verdict, Unknown) if confidence is None else isinstance(verdict, Flagged)
    if isinstance(verdict, Flagged):
        assert verdict.confidence == confidence
        assert any("did not record 1 earlier days" in caveat for caveat in verdict.caveats) is (confidence == "medium")


@pytest.mark.parametrize(("age_days", "confidence"), [(20, "medium"), (36, "medium"), (37, "high")])
def test_only_a_silence_in_which_every_monthly_job_would_have_run_is_sure(age_days: int, confidence: str) -> None:
    assert flagged(*IDLE, created_at=CASE_NOW - timedelta(days=age_days, hours=1)).confidence == confidence


def test_a_policy_can_look_back_less_and_is_never_sure_then() -> None:
    assert flagged(*IDLE, limits={"look_back_days": 30}).confidence == "medium"


@pytest.mark.parametrize(("limits", "points"), [({}, 37), ({"quiet_days": 60}, 61), ({"look_back_days": 100}, 101)])
def test_a_policy_can_look_back_further(limits: dict[str, int], points: int) -> None:
    _, queries = play_with_queries(registry()["efs-idle"], replace(case(*IDLE), limits=limits))

    assert {(query.period_s, query.points) for query in queries} == {(DAY_S, points)}


def test_bytes_without_a_client_may_be_transfer_familys() -> None:
    read = series(IDLE, "DataReadIOBytes", [5.0 * MIB] * 37)

    (caveat,) = flagged(*IDLE, metrics=read).caveats
    assert caveat.startswith("185 MiB were read or written without a client, probably by AWS Backup")
    assert "AWS Transfer Family" in caveat


@pytest.mark.parametrize("gib_a_day", [0.3, 100.0])
def test_no_number_of_bytes_without_a_client_is_use(gib_a_day: float) -> None:
    metered = series(IDLE, "MeteredIOBytes", [gib_a_day * GIB] * 37)
    small = {"Standard": 8 * GIB, "IA": 0, "Archive": 0}

    assert flagged(*IDLE, metrics=metered, stored_bytes=small).confidence == "medium"


def test_metadata_without_a_client_is_called_that_and_what_is_shown_is_true() -> None:
    found = flagged(*IDLE, metrics=series(IDLE, "MeteredIOBytes", [5.0 * MIB] * 37))

    (caveat,) = found.caveats
    assert caveat.startswith("185 MiB of I/O without data, probably metadata, were metered without a client")
    assert found.confidence == "medium"
    assert not any("data I/O" in one.label for one in found.evidence)
    assert flagged(*IDLE).caveats == ()


@pytest.mark.parametrize("name", ["MeteredIOBytes", "DataReadIOBytes", "DataWriteIOBytes"])
@pytest.mark.parametrize("days_ago", [0, 18, 36])
def test_one_byte_of_unknown_origin_makes_it_inconclusive(name: str, days_ago: int) -> None:
    silent = case("efs-idle", "a month without points, while CloudWatch was recording").metrics
    (moved,) = (key for key in case(*IDLE).metrics if key[0].name == name)
    byte = [1.0 if day == days_ago else None for day in reversed(range(37))]
    verdict = judged(*IDLE, metrics={**silent, moved: byte})

    assert isinstance(verdict, Unknown)
    assert "the client is unknown" in verdict.reason


@pytest.mark.parametrize("job", [0, 36])
def test_a_client_decides_it_with_one_metric(job: int) -> None:
    connected = [1.0 if day == job else 0.0 for day in reversed(range(37))]
    _, queries = play_with_queries(
        registry()["efs-idle"], replace(case(*IDLE), metrics=series(IDLE, "ClientConnections", connected))
    )

    assert [query.metric.name for query in queries] == ["ClientConnections"]


@pytest.mark.parametrize(
    "title", [case.title for case in registry()["efs-orphaned"].cases if "nothing deletes it" in case.title]
)
def test_an_orphan_that_a_service_may_use_is_reported_and_not_deleted(title: str) -> None:
    (one,) = [case for case in registry()["efs-orphaned"].cases if case.title == title]
    verdict = play(registry()["efs-orphaned"], one)

    assert isinstance(verdict, Flagged)
    assert not any(advice.deletes for advice in verdict.advice)
    assert any(caveat.endswith("Slackwater does not delete it.") for caveat in verdict.caveats)


@pytest.mark.parametrize(("look_back_days", "confidence"), [(30, "medium"), (36, "high"), (75, "medium")])
def test_a_file_system_is_surely_idle_only_after_the_pause_that_the_policy_allows_for(
    look_back_days: int, confidence: str
) -> None:
    created = CASE_NOW - timedelta(days=45)
    verdict = flagged(*IDLE, created_at=created, limits={"look_back_days": look_back_days})

    assert verdict.confidence == confidence
    assert verdict.advice[0].deletes == (confidence == "high")
