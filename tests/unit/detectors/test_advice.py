"""What detectors advise, where a wrong word would hurt."""

import shlex
from dataclasses import replace

from slackwater.engine.cases import play
from slackwater.engine.registry import registry
from slackwater.model.detector import Case
from slackwater.model.verdicts import Flagged


def flagged(detector_id: str, title: str, **changes: object) -> Flagged:
    detector = registry()[detector_id]
    (case,) = [case for case in detector.cases if case.title == title]
    verdict = play(detector, replace(case, **changes))  # type: ignore[arg-type]
    assert isinstance(verdict, Flagged), verdict
    return verdict


def case(detector_id: str, title: str) -> Case:
    return next(case for case in registry()[detector_id].cases if case.title == title)


def test_a_loose_volume_is_deleted_only_after_its_snapshot_is_complete() -> None:
    command = flagged("ebs-unattached", "detached three weeks ago").advice[0].command or ""

    create, waiting, delete = command.split(" && ")
    assert "create-snapshot" in create
    assert "wait snapshot-completed" in waiting
    assert delete.startswith("aws ec2 delete-volume")


def test_no_command_deletes_a_volume_that_kubernetes_made_or_of_which_little_is_known() -> None:
    claimed = replace(case("ebs-unattached", "detached three weeks ago").resource, tags={"ebs.csi.aws.com/cluster": "true"})
    owned = flagged("ebs-unattached", "detached three weeks ago", resource=claimed)
    doubtful = flagged("ebs-unattached", "CloudTrail denied, and no point")

    assert doubtful.confidence == "low"
    assert any("Kubernetes" in caveat for caveat in owned.caveats)
    assert not any("delete-volume" in (advice.command or "") for advice in (*owned.advice, *doubtful.advice))


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
