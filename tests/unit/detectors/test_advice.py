"""Advice of several detectors, where a wrong word would cause damage."""

import shlex
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from slackwater.engine.cases import play
from slackwater.engine.registry import registry
from slackwater.model.detector import CASE_NOW, Case
from slackwater.model.money import VPC_ENDPOINT_GIB, VPC_ENDPOINT_HOUR, Change, ec2_hour
from slackwater.model.resources import AttachmentEvent
from slackwater.model.verdicts import Flagged


def flagged(detector_id: str, title: str, **changes: object) -> Flagged:
    detector = registry()[detector_id]
    (case,) = [case for case in detector.cases if case.title == title]
    verdict = play(detector, replace(case, **changes))  # type: ignore[arg-type]
    assert isinstance(verdict, Flagged), verdict
    return verdict


def detached(days: float) -> tuple[AttachmentEvent, ...]:
    at = CASE_NOW - timedelta(days=days)
    return (AttachmentEvent(id="vol-0123456789abcdef0", at=at, instance_id="i-1", event_name="DetachVolume"),)


def case(detector_id: str, title: str) -> Case:
    return next(case for case in registry()[detector_id].cases if case.title == title)


def deletes(verdict: Flagged) -> bool:
    return any(advice.deletes for advice in verdict.advice)


def test_no_command_deletes_what_kubernetes_made_or_what_has_tags_that_nobody_read() -> None:
    volume = case("ebs-unattached", "detached three weeks ago").resource
    claimed = replace(volume, tags={"ebs.csi.aws.com/cluster": "true"})
    owned = flagged("ebs-unattached", "detached three weeks ago", resource=claimed, records=detached(days=40))
    unread = flagged(
        "ebs-unattached", "detached three weeks ago", resource=replace(volume, tags=None), records=detached(days=40)
    )

    assert any("Kubernetes" in caveat for caveat in owned.caveats)
    assert not deletes(owned)
    assert not deletes(unread)


def test_no_command_deletes_a_file_system_that_was_not_recorded_without_a_break() -> None:
    assert deletes(flagged("fsx-idle", "a month of zeros"))
    for title, caveat in (
        ("two hours of a day are missing", "did not record it for 120 minutes"),
        ("every second minute is missing", "less than one point a minute"),
    ):
        partly = flagged("fsx-idle", title)
        assert (deletes(partly), partly.confidence) == (False, "medium")
        assert caveat in partly.caveats[0]


def test_no_command_deletes_a_volume_before_its_time() -> None:
    assert not deletes(flagged("ebs-unattached", "detached three weeks ago", records=detached(days=31.9)))
    assert deletes(flagged("ebs-unattached", "detached three weeks ago", records=detached(days=32.1)))


@pytest.mark.parametrize(
    "title",
    [
        "neither event nor point in 90 days",
        "CloudTrail denied, and no data",
        "created 20 days ago, and no sign of an instance",
        "attached to an instance that never ran",
    ],
)
def test_a_volume_without_a_witness_is_of_low_confidence_and_never_deleted(title: str) -> None:
    verdict = flagged("ebs-unattached", title)

    assert verdict.confidence == "low"
    assert not deletes(verdict)


def test_a_history_that_was_not_read_to_its_end_is_no_high_confidence() -> None:
    cut_short = {AttachmentEvent: "more than 1,500 AttachVolume events"}

    assert flagged("ebs-unattached", "detached three weeks ago").confidence == "high"
    assert flagged("ebs-unattached", "detached three weeks ago", unreadable=cut_short).confidence == "medium"


def test_a_volume_that_was_used_in_between_is_another_case_and_an_older_one_is_not() -> None:
    first, again = (
        flagged("ebs-unattached", "detached three weeks ago", records=detached(days=days)) for days in (60, 20)
    )

    assert first.fingerprint_inputs != again.fingerprint_inputs
    same = flagged("ebs-unattached", "detached three weeks ago", records=detached(days=60))
    assert same.fingerprint_inputs == first.fingerprint_inputs


def test_the_export_list_is_sent_whole_and_keeps_crossmnt() -> None:
    verdict = flagged("fsx-sync-export", "one client entry of two is sync")
    command = verdict.advice[1].command or ""

    assert '"Clients": "10.1.0.0/16"' in command
    assert '"Clients": "10.0.0.0/16"' in command
    assert command.count('"crossmnt"') == command.count('"async"') == 2
    assert shlex.split(command)[-1].startswith("{")
    assert verdict.advice[0].action == "client-side-first"
    assert "async" not in (verdict.advice[0].command or "")


def test_a_sync_export_has_two_ways_out_that_cost_nothing_and_the_safe_one_comes_first() -> None:
    verdict = flagged("fsx-sync-export", "4 KiB writes to a document root")
    clients, fast = verdict.advice

    assert (clients.action, fast.action) == ("client-side-first", "async-export")
    assert (clients.changes, fast.changes) == ((), ())
    assert "several writers in parallel" in clients.summary
    assert "OpenZFS (async) is 11 times as fast" in fast.summary
    assert clients.risk == "None for the data."
    assert fast.risk.startswith("Acknowledged writes are lost")
    assert any("Not for mission-critical data" in caveat for caveat in verdict.caveats)
    assert verdict.fingerprint_inputs == ("10.0.0.0/16",)


def test_larger_writes_gain_less_from_async_as_throughput_binds_them() -> None:
    larger = case("fsx-sync-export", "4 KiB writes to a document root")
    written = {
        key: [None if value is None else value * 16 for value in values] if key[0].name == "DataWriteBytes" else values
        for key, values in larger.metrics.items()
    }
    verdict = flagged("fsx-sync-export", larger.title, metrics=written)

    assert "of 64 KiB" in verdict.summary
    assert "OpenZFS (async) is 7.1 times as fast" in verdict.advice[1].summary


def test_without_counters_throttling_is_at_most_medium() -> None:
    unconfirmed = flagged("ec2-network-throttled", "a t3.micro proxy at 350 MB/s, and then at 8 for nine hours")
    confirmed = flagged("ec2-network-throttled", "the ENA driver counted what it held back")

    assert (unconfirmed.severity, unconfirmed.confidence) == ("medium", "medium")
    assert (confirmed.severity, confirmed.confidence) == ("high", "high")


def test_the_ways_out_say_which_types_carry_the_load() -> None:
    ways = flagged("ec2-network-throttled", "a t3.micro proxy at 350 MB/s, and then at 8 for nine hours").advice

    assert [way.action for way in ways] == [
        "change-instance-type-to-m6i.2xlarge",
        "change-instance-type-to-m6i.8xlarge",
        "change-instance-type-to-t3.2xlarge",
        "interface-endpoint",
        "gateway-endpoint",
    ]
    assert ways[0].summary == (
        "If the slow hours hurt: m6i.2xlarge, the smallest m6i that carries 350 MB/s: 391 MB/s without credits."
    )
    assert "no burst that could run dry" in ways[1].summary
    assert "does not carry 350 MB/s" in ways[2].summary
    assert all(way.reversible for way in ways)


def test_another_type_costs_what_it_costs_more_and_an_endpoint_its_hours_and_the_traffic_of_a_month() -> None:
    verdict = flagged("ec2-network-throttled", "a t3.micro proxy at 350 MB/s, and then at 8 for nine hours")
    larger, *_, interface, gateway = verdict.advice
    out = case("ec2-network-throttled", "a t3.micro proxy at 350 MB/s, and then at 8 for nine hours").metrics
    (in_14_days,) = [
        sum(v or 0 for v in values)
        for (metric, period_s), values in out.items()
        if (metric.name, period_s) == ("NetworkOut", 300)
    ]
    monthly_gib = in_14_days / 2**30 / 14 * 365 / 12

    assert larger.changes == (
        Change(ec2_hour("t3.micro"), Decimal(730)),
        Change(ec2_hour("m6i.2xlarge"), Decimal(-730)),
    )
    hour, data = interface.changes or ()
    assert hour == Change(VPC_ENDPOINT_HOUR, Decimal(-730))
    assert data.item == VPC_ENDPOINT_GIB
    assert float(data.quantity) == pytest.approx(-monthly_gib, abs=0.001)
    assert f"priced with {monthly_gib:,.0f} GiB a month, as now" in interface.summary
    assert gateway.changes == ()
    assert "on-premises" in gateway.risk


def test_another_type_is_set_while_the_instance_is_stopped() -> None:
    way = flagged("ec2-network-throttled", "a t3.micro proxy at 350 MB/s, and then at 8 for nine hours").advice[0]

    assert [part.split()[2] for part in (way.command or "").split(" && ")] == [
        "stop-instances",
        "wait",
        "modify-instance-attribute",
        "start-instances",
    ]
    assert all("--region ap-northeast-1" in part and "i-0bbb" in part for part in (way.command or "").split(" && "))
    assert "--instance-type Value=m6i.2xlarge" in (way.command or "")
    assert "downtime" in way.risk


def test_what_makes_a_person_look_again_at_a_throttled_instance_is_its_type_and_whether_it_is_confirmed() -> None:
    confirmed = flagged("ec2-network-throttled", "the ENA driver counted what it held back")
    likely = flagged("ec2-network-throttled", "a t3.micro proxy at 350 MB/s, and then at 8 for nine hours")

    assert confirmed.fingerprint_inputs == ("t3.micro", True)
    assert likely.fingerprint_inputs == ("t3.micro", False)


def test_confidence_in_idleness_needs_real_zeros_over_the_whole_window() -> None:
    assert flagged("efs-idle", "a month of zeros").confidence == "high"
    assert flagged("efs-idle", "a month without points, while CloudWatch was recording").confidence == "medium"
    assert flagged("efs-idle", "quiet since it was created two weeks ago").confidence == "medium"
    assert flagged("efs-idle", "read by a backup every night").confidence == "medium"
