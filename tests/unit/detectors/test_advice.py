"""What detectors advise, where a wrong word would hurt."""

import shlex
from dataclasses import replace
from datetime import timedelta

import pytest

from slackwater.engine.cases import play
from slackwater.engine.registry import registry
from slackwater.model.detector import CASE_NOW, Case
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


def test_a_loose_volume_is_deleted_only_after_its_snapshot_is_complete() -> None:
    command = flagged("ebs-unattached", "detached three weeks ago", records=detached(days=40)).advice[0].command or ""

    create, waiting, delete = command.split(" && ")
    assert "create-snapshot" in create
    assert "wait snapshot-completed" in waiting
    assert delete.startswith("aws ec2 delete-volume")


def deletes(verdict: Flagged) -> bool:
    return any("delete-volume" in (advice.command or "") for advice in verdict.advice)


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


def test_no_command_deletes_a_volume_before_its_time() -> None:
    assert not deletes(flagged("ebs-unattached", "detached three weeks ago", records=detached(days=31.9)))
    assert deletes(flagged("ebs-unattached", "detached three weeks ago", records=detached(days=32.1)))


@pytest.mark.parametrize(
    "title",
    [
        "neither event nor point in 90 days",
        "CloudTrail denied, and no point",
        "made 20 days ago, and no sign of an instance",
        "attached by hand to an instance that never ran, and gone from it",
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
    first, again = (flagged("ebs-unattached", "detached three weeks ago", records=detached(days=days)) for days in (60, 20))

    assert first.gist != again.gist
    assert flagged("ebs-unattached", "detached three weeks ago", records=detached(days=60)).gist == first.gist


def test_the_export_list_is_sent_whole_and_keeps_crossmnt() -> None:
    verdict = flagged("fsx-sync-export", "one client entry of two is sync")
    command = verdict.advice[1].command or ""

    assert '"Clients": "10.1.0.0/16"' in command
    assert '"Clients": "10.0.0.0/16"' in command
    assert command.count('"crossmnt"') == command.count('"async"') == 2
    assert shlex.split(command)[-1].startswith("{")
    assert verdict.advice[0].action == "client-side-first"
    assert "async" not in (verdict.advice[0].command or "")


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
    assert "does not carry 350 MB/s" in ways[2].summary


def test_confidence_in_idleness_needs_real_zeros_over_the_whole_window() -> None:
    assert flagged("efs-idle", "a month of zeros").confidence == "high"
    assert flagged("efs-idle", "a month of silence, while it was watched").confidence == "medium"
    assert flagged("efs-idle", "quiet since it was made, two weeks ago").confidence == "medium"
    assert flagged("efs-idle", "a backup reads it every night, and nobody else").confidence == "medium"
