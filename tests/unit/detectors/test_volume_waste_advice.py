"""Advice on unused volumes, where a wrong word would cause damage, and the boundary of each limit."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from slackwater.engine.cases import play, words
from slackwater.engine.registry import registry
from slackwater.model.detector import CASE_NOW, Case, Seen
from slackwater.model.fleet import Fleet
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import EBS_GP3_THROUGHPUT, EBS_SNAPSHOT_STORAGE, Change, ebs_iops, ebs_storage, efs_storage
from slackwater.model.resources import Attachment, AttachmentEvent, DiskMetric, Instance, Volume
from slackwater.model.units import DAY_S
from slackwater.model.verdicts import Fine, Flagged, Unknown, Verdict
from slackwater.rules.series import hole_words

IDLE_TIME = Metric("AWS/EBS", "VolumeIdleTime", "Sum", "seconds")
READS = Metric("AWS/EBS", "VolumeReadOps", "Sum", "operations")
WRITES = Metric("AWS/EBS", "VolumeWriteOps", "Sum", "operations")
SAMPLES = Metric("AWS/EBS", "VolumeWriteOps", "SampleCount", "points")
USED = Metric("CWAgent", "disk_used_percent", "Maximum", "percent", optional=True)
CLAIM = {
    "CSIVolumeName": "pvc-1",
    "kubernetes.io/created-for/pvc/name": "db",
    "kubernetes.io/created-for/pvc/namespace": "shop",
}


def case(detector_id: str, title: str) -> Case:
    return next(case for case in registry()[detector_id].cases if case.title == title)


def judged(detector_id: str, title: str, **changes: object) -> Verdict:
    return play(registry()[detector_id], replace(case(detector_id, title), **changes))  # type: ignore[arg-type]


def flagged(detector_id: str, title: str, **changes: object) -> Flagged:
    verdict = judged(detector_id, title, **changes)
    assert isinstance(verdict, Flagged), words(verdict)
    return verdict


def volume(detector_id: str, title: str, **changes: object) -> Volume:
    resource = case(detector_id, title).resource
    assert isinstance(resource, Volume)
    return replace(resource, **changes)  # type: ignore[arg-type]


def host(detector_id: str, title: str, **changes: object) -> Instance:
    (instance,) = [one for one in case(detector_id, title).records if isinstance(one, Instance)]
    return replace(instance, **changes)  # type: ignore[arg-type]


STOPPED = "ebs-on-stopped-instance", "its instance was stopped 76 days ago"
IDLE = "ebs-idle", "five weeks of zeros"
EMPTY = "ebs-surplus-size", "a tenth of it is used"
UNATTACHED = "ebs-unattached", "detached three weeks ago"


@pytest.mark.parametrize(("detector_id", "title"), [STOPPED, IDLE, EMPTY])
@pytest.mark.parametrize("tags", [{}, CLAIM, None])
def test_no_command_takes_an_attached_volume_away(detector_id: str, title: str, tags: dict[str, str] | None) -> None:
    verdict = flagged(detector_id, title, resource=volume(detector_id, title, tags=tags))

    for advice in verdict.advice:
        for word in ("delete", "detach-volume", "terminate-instances", "modify-volume"):
            assert word not in (advice.command or ""), advice.command


@pytest.mark.parametrize(("detector_id", "title"), [STOPPED, IDLE, EMPTY, UNATTACHED])
def test_a_volume_of_kubernetes_is_called_so(detector_id: str, title: str) -> None:
    verdict = flagged(detector_id, title, resource=volume(detector_id, title, tags=CLAIM))

    assert any("Kubernetes (claim shop/db)" in caveat for caveat in verdict.caveats)


@pytest.mark.parametrize(("detector_id", "title"), [STOPPED, IDLE])
def test_an_instance_that_a_stack_made_is_called_so(detector_id: str, title: str) -> None:
    owned = host(detector_id, title, tags={"aws:cloudformation:stack-name": "shop"})
    verdict = flagged(detector_id, title, records=(owned,))

    assert any("CloudFormation stack shop" in caveat for caveat in verdict.caveats)


# whole days


@pytest.mark.parametrize(
    ("values", "began", "hole"),
    [
        ([1.0] * 30, 30, None),
        ([1.0] * 10, 30, "has no data on 4 of the last 14 days"),
        ([1.0] * 29 + [None], 0, "has no data on 1 of the last 14 days"),  # it was stopped and started today
        ([None] * 10 + [1.0] * 20, 30, None),  # it is younger, as far as CloudWatch shows
        ([1.0] * 5 + [None] * 2 + [1.0] * 23, 30, "has no data on 2 of the 30 days since 2026-10-17"),
        ([None] * 3 + [1.0] * 2 + [None] + [1.0] * 24, 30, "has no data on 1 of the 27 days since 2026-10-20"),
        ([1.0] * 5 + [None] * 2 + [1.0] * 23, 23, None),  # it was off
    ],
)
def test_a_hole_is_among_the_newest_or_after_it_began(values: list[float | None], began: int, hole: str | None) -> None:
    midnight = CASE_NOW.replace(hour=0)
    days = Series.of(int((midnight - timedelta(days=len(values))).timestamp()), DAY_S, values)

    assert hole_words(days, 14, midnight - timedelta(days=began)) == hole


# the snapshot

LONG_GONE = AttachmentEvent(
    id="vol-0123456789abcdef0", at=CASE_NOW - timedelta(days=40), instance_id="i-1", event_name="DetachVolume"
)


def test_the_command_for_an_unattached_volume_only_creates_a_snapshot() -> None:
    first = flagged(*UNATTACHED, records=(LONG_GONE,)).advice[0]

    assert first.deletes
    assert (first.command or "").startswith("aws ec2 create-snapshot ")
    assert "delete-volume" not in (first.command or "")


@pytest.mark.parametrize("name", ["old, but {good}", "it's=cmd|'/c calc'!A1 $(reboot) `id`", "n" * 255, "ü\n2"])
def test_a_snapshot_says_what_it_was_made_of(name: str) -> None:
    bought = volume(*UNATTACHED, tags={"Name": name}, iops=4_000, throughput_mib_s=225)
    command = flagged(*UNATTACHED, resource=bought).advice[0].command or ""
    words = shlex.split(command)

    assert words[:7] == [
        "aws",
        "ec2",
        "create-snapshot",
        "--region",
        "ap-northeast-1",
        "--volume-id",
        "vol-0123456789abcdef0",
    ]
    assert words[7:9] == ["--description", "vol-0123456789abcdef0: gp3, 500 GiB, 4000 IOPS, 225 MiB/s, ap-northeast-1a"]
    assert words[9] == "--tag-specifications"
    assert json.loads(words[10]) == [{"ResourceType": "snapshot", "Tags": [{"Key": "Name", "Value": name}]}]


def test_a_snapshot_of_a_volume_without_a_name_or_iops_has_its_id() -> None:
    nameless = volume(*UNATTACHED, tags=None, volume_type="st1", iops=None, throughput_mib_s=None)
    command = flagged(*UNATTACHED, resource=nameless).advice[0].command or ""

    assert "'vol-0123456789abcdef0: st1, 500 GiB, ap-northeast-1a'" in command
    assert '"Value": "vol-0123456789abcdef0"' in command


# ebs-unattached


def on_and_off(*spans: tuple[int, int]) -> dict[tuple[Metric, int], list[float | None]]:
    """Return daily VolumeIdleTime for pairs of days attached and days unattached, until today."""
    return {(IDLE_TIME, DAY_S): [value for on, off in spans for value in [86_000.0] * on + [None] * off]}


def unattached_for(*spans: tuple[int, int], **limits: object) -> Verdict:
    """Return the verdict on a volume without CloudTrail events."""
    return judged(*UNATTACHED, records=(), metrics=on_and_off(*spans), limits=limits)


@pytest.mark.parametrize(
    ("pause", "still"),
    [
        (6, 13),  # a week, and a skipped week
        (27, 42),  # a month, and the longest month after the shortest
    ],
)
def test_a_volume_in_rotation_is_waited_for(pause: int, still: int) -> None:
    assert isinstance(unattached_for((1, pause), (1, pause), (1, still)), Fine)
    assert isinstance(unattached_for((1, pause), (1, pause), (1, still + 5)), Flagged)


def test_what_was_attached_for_weeks_is_in_no_rotation() -> None:
    assert isinstance(unattached_for((14, 20), (3, 15)), Fine)
    assert isinstance(unattached_for((15, 20), (3, 15)), Flagged)
    assert isinstance(unattached_for((15, 20), (3, 15), rotation_days=15), Fine)


def deletes(verdict: Flagged) -> bool:
    return any(advice.deletes for advice in verdict.advice)


@pytest.mark.parametrize(
    ("event", "deletable"),
    [
        (None, False),
        (replace(LONG_GONE, event_name="AttachVolume", at=CASE_NOW - timedelta(days=95)), False),
        (replace(LONG_GONE, at=CASE_NOW - timedelta(days=80)), False),  # it published for three more weeks
        (replace(LONG_GONE, at=CASE_NOW - timedelta(days=60)), True),
    ],
)
def test_a_metric_that_ends_says_that_the_instance_stopped_and_deletes_nothing(
    event: AttachmentEvent | None, deletable: bool
) -> None:
    verdict = flagged(*UNATTACHED, records=(event,) if event else (), metrics=on_and_off((30, 60)))

    assert deletes(verdict) is deletable
    assert ("on no running instance since 2026-09-18" in verdict.summary) is not deletable
    assert (
        any("may have been on a stopped instance until later" in caveat for caveat in verdict.caveats) is not deletable
    )
    assert verdict.evidence[0].label == ("On no instance for" if deletable else "On no running instance for")
    assert verdict.confidence == ("high" if deletable else "medium")
    assert "detached" not in verdict.summary or deletable


def test_a_day_that_cloudwatch_lost_is_no_rotation_to_speak_of() -> None:
    assert isinstance(unattached_for((10, 1), (10, 1), (10, 12)), Flagged)


def test_no_command_deletes_what_was_in_rotation() -> None:
    gone = AttachmentEvent(
        id="vol-0123456789abcdef0", at=CASE_NOW - timedelta(days=59.5), instance_id="i-1", event_name="DetachVolume"
    )
    verdict = flagged(*UNATTACHED, records=(gone,), metrics=on_and_off((1, 6), (1, 6), (1, 60)))
    once = flagged(*UNATTACHED, records=(gone,), metrics=on_and_off((1, 60)))

    assert not deletes(verdict)
    assert any("again and again" in caveat for caveat in verdict.caveats)
    assert deletes(once)


def test_the_last_instance_is_named_where_it_is_known() -> None:
    def last(title: str) -> object:
        return next(one.value for one in flagged("ebs-unattached", title).evidence if one.label == "Last instance")

    assert last("detached three weeks ago") == "i-0aaaaaaaaaaaaaaaa"
    assert last("attached, and its instance was terminated") == "i-0aaaaaaaaaaaaaaaa"
    assert last("no event; it last published a month ago") == "unknown"


# ebs-on-stopped-instance


def test_thirty_days_are_counted_from_the_last_stop_or_attachment() -> None:
    def after(days: float) -> Verdict:
        return judged(*STOPPED, records=(host(*STOPPED, stopped_at=CASE_NOW - timedelta(days=days)),))

    assert isinstance(after(29.9), Fine)
    assert isinstance(after(30.1), Flagged)


def test_what_is_freed_is_the_whole_volume_and_a_snapshot_that_is_kept_costs() -> None:
    bought = volume(*STOPPED, iops=4_000, throughput_mib_s=225)
    delete, keep, archived, image = flagged(*STOPPED, resource=bought).advice
    freed = {ebs_storage("gp3"): 120, ebs_iops("gp3"): 1_000, EBS_GP3_THROUGHPUT: 100}

    assert {change.item: change.quantity for change in delete.changes or ()} == freed
    assert {change.item: change.quantity for change in keep.changes or ()} == {**freed, EBS_SNAPSHOT_STORAGE: -120}
    assert archived.changes is None
    assert image.changes == keep.changes  # its snapshots stay


def test_a_root_volume_is_deleted_with_its_instance_or_not_at_all() -> None:
    root = flagged("ebs-on-stopped-instance", "the root volume of that instance")
    unsaid = flagged(*STOPPED, records=(host(*STOPPED, root_device=""),))

    for verdict in (root, unsaid):
        assert [advice.action for advice in verdict.advice] == ["image-and-terminate"]
        assert any("hibernated" in caveat for caveat in verdict.caveats)
        assert "One image is for all volumes of the instance" in verdict.advice[0].summary


@pytest.mark.parametrize("title", ["shared by two stopped instances", "the same, as an unknown device"])
def test_nobody_makes_an_image_of_one_of_two_instances(title: str) -> None:
    shared = flagged("ebs-on-stopped-instance", title)

    assert not any("hibernated" in caveat for caveat in shared.caveats)
    assert [advice.action for advice in shared.advice] == [
        "snapshot-and-delete",
        "keep-as-snapshot",
        "keep-as-archived-snapshot",
    ]


def test_started_and_stopped_again_is_another_case() -> None:
    again = host(*STOPPED, stopped_at=CASE_NOW - timedelta(days=40))

    assert flagged(*STOPPED).fingerprint_inputs != flagged(*STOPPED, records=(again,)).fingerprint_inputs


# ebs-idle


def operations(writes: Sequence[float | None], reads: Sequence[float | None] = (0.0,) * 36) -> dict[str, Any]:
    return {"metrics": {(WRITES, DAY_S): writes, (READS, DAY_S): reads, (SAMPLES, DAY_S): [1_440.0] * len(writes)}}


def test_one_operation_a_day_on_average_is_use() -> None:
    assert isinstance(judged(*IDLE, **operations([0.0] * 20 + [35.0] + [0.0] * 15)), Flagged)
    assert isinstance(judged(*IDLE, **operations([0.0] * 20 + [36.0] + [0.0] * 15)), Fine)
    assert isinstance(judged(*IDLE, **operations([0.0] * 36, [0.0] * 20 + [36.0] + [0.0] * 15)), Fine)
    assert isinstance(judged(*IDLE, **operations([0.0] * 20 + [18.0] + [0.0] * 15, [18.0] + [0.0] * 35)), Fine)


def test_two_weeks_are_enough_and_five_are_sure() -> None:
    def attached(days: float) -> Verdict:
        since = Attachment(instance_id=host(*IDLE).id, device="/dev/sdf", attached_at=CASE_NOW - timedelta(days=days))
        points = [0.0] * min(36, int(days + 1))
        return judged(*IDLE, resource=volume(*IDLE, attachments=(since,)), **operations(points, points))

    assert isinstance(attached(14.9), Fine)
    young, old = attached(15.1), attached(36)
    assert isinstance(young, Flagged)
    assert isinstance(old, Flagged)
    assert (young.confidence, old.confidence) == ("medium", "high")
    assert any("monthly job" in caveat for caveat in young.caveats)
    assert not old.caveats


def test_a_hole_while_it_was_off_lowers_the_confidence_and_one_while_it_ran_leaves_it_open() -> None:
    hole = operations([0.0] * 8 + [None] * 7 + [0.0] * 21)
    off = judged(*IDLE, records=(host(*IDLE, launched_at=CASE_NOW - timedelta(days=20)),), **hole)

    assert isinstance(off, Flagged)
    assert off.confidence == "medium"
    assert isinstance(judged(*IDLE, **hole), Unknown)


def test_the_advice_is_to_wait_before_anything_is_deleted() -> None:
    first = flagged(*IDLE).advice[0]

    assert "wait a week" in first.summary
    assert "by hand" in first.summary
    assert (first.command or "").startswith(
        f"aws ec2 create-snapshot --region ap-northeast-1 --volume-id {volume(*IDLE).id} "
    )
    assert "day" not in first.summary


def test_idleness_is_sure_only_without_a_single_operation() -> None:
    for few in ([0.0] * 20 + [30.0] + [0.0] * 15, [0.0] * 35 + [1.0]):
        for which in (operations(few), operations([0.0] * 36, few)):
            verdict = judged(*IDLE, **which)

            assert isinstance(verdict, Flagged)
            assert verdict.confidence == "medium"
            assert any("looks the same" in caveat for caveat in verdict.caveats)


# ebs-surplus-size


def filled(*percents: float | None) -> dict[str, Any]:
    return {"metrics": {(USED, DAY_S): [*percents]}}


def test_forty_percent_is_the_line_now_and_in_half_a_year() -> None:
    assert isinstance(judged(*EMPTY, **filled(*[39.9] * 36)), Flagged)
    assert isinstance(judged(*EMPTY, **filled(*[40.0] * 36)), Fine)
    tenth_a_day = [20 + day / 10 for day in range(36)]
    assert isinstance(judged(*EMPTY, **filled(*tenth_a_day)), Fine)
    assert isinstance(judged(*EMPTY, **filled(*tenth_a_day), limits={"growth_days": 60}), Flagged)
    assert isinstance(judged(*EMPTY, **filled(*reversed(tenth_a_day))), Flagged)


def test_one_day_does_not_make_it_grow() -> None:
    verdict = judged(*EMPTY, **filled(*[10.0] * 34, 30.0, 10.0))

    assert isinstance(verdict, Flagged)
    assert "420 GiB are enough" in verdict.summary


def of_late(verdict: Verdict) -> bool:
    assert isinstance(verdict, Flagged), words(verdict)
    return any("hardly in the last week" in caveat for caveat in verdict.caveats)


def test_a_single_copy_is_no_growth_a_week_later() -> None:
    def copied(days_ago: int) -> Verdict:
        return judged(*EMPTY, **filled(*[10.0] * (36 - days_ago), *[30.0] * days_ago))

    assert isinstance(copied(5), Fine)
    assert isinstance(copied(8), Fine)
    assert all(of_late(copied(days)) for days in (10, 12, 20))
    assert not of_late(judged(*EMPTY, **filled(*[10.0] * 36)))


@pytest.mark.parametrize("weekday", range(7))
def test_growth_by_the_week_is_growth_on_any_day(weekday: int) -> None:
    steps = [15.0 + 2 * ((day + weekday) // 7) for day in range(36)]
    workdays = [0.8 if (day + weekday) % 7 < 5 else 0.0 for day in range(36)]

    assert isinstance(judged(*EMPTY, **filled(*steps)), Fine)
    assert isinstance(judged(*EMPTY, **filled(*[10 + sum(workdays[:day]) for day in range(36)])), Fine)


def agent_metric(path: str = "/data", device: str = "nvme1n1", kind: str = "xfs", volume_id: str = "") -> DiskMetric:
    """Return an agent's metric for a file system. If `volume_id` is set, the metric names the volume."""
    (disk,) = [one for one in case(*EMPTY).records if isinstance(one, DiskMetric)]
    new = {"path": path, "device": device, "fstype": kind, "VolumeId": volume_id}
    dimensions = tuple((key, new.get(key, value)) for key, value in disk.dimensions if new.get(key, value))
    return replace(disk, id=f"{path} {device} {kind}", dimensions=dimensions)


def test_a_device_that_was_renamed_at_a_reboot_is_the_same_disk() -> None:
    before, after = (agent_metric(device=device, volume_id=volume(*EMPTY).id) for device in ("nvme1n1", "nvme2n1"))
    days = {before: [10.0] * 20 + [None] * 16, after: [None] * 19 + [12.0] * 17}

    def now(days: dict[DiskMetric, list[float | None]]) -> Verdict:
        start = int(CASE_NOW.timestamp()) // DAY_S * DAY_S - 35 * DAY_S
        needs = {disk: USED.need(*disk.dimensions, period_s=DAY_S, days=35) for disk in days}
        answers = {needs[disk]: Series.of(start, DAY_S, values) for disk, values in days.items()}
        detector = registry()["ebs-surplus-size"]
        seen = Seen(CASE_NOW, Fleet((host(*EMPTY), before, after)), answers)
        return detector.verdict(volume(*EMPTY), seen, detector.limits())

    verdict = now(days)

    assert isinstance(verdict, Flagged), words(verdict)
    assert verdict.confidence == "high"
    assert next(one.value for one in verdict.evidence if one.label == "Mounted at") == "/data"
    assert isinstance(now({**days, before: [10.0] * 3 + [85.0] + [10.0] * 16 + [None] * 16}), Fine)
    assert isinstance(now({**days, before: [10.0] * 18 + [None] * 18}), Unknown)


@pytest.mark.parametrize(
    ("disks", "expected"),
    [
        ((agent_metric("/", "nvme0n1p1"), agent_metric("/home", "nvme0n1p3")), Fine),
        (
            (agent_metric("/", "nvme0n1p1"), agent_metric("/home", "nvme0n1p3"), agent_metric("/tank", "tank", "zfs")),
            Fine,
        ),
        ((agent_metric("/", "nvme0n1p1"), agent_metric(), agent_metric("/tank", "tank", "zfs")), Fine),
        ((agent_metric("/boot", "nvme1n1p1"), agent_metric("/", "dm-0"), agent_metric("/home", "nvme1n1p2")), Fine),
        ((agent_metric("/home", "nvme0n1p3"),), Fine),  # it has no data about /
        ((agent_metric("/home", "xvda3", "ext4"),), Fine),
        ((agent_metric("/", "nvme0n1p1"), agent_metric(device="md0")), Fine),
        ((agent_metric("/", "nvme0n1p1"), agent_metric(device="")), Fine),
        ((agent_metric("/", "nvme0n1p1"), agent_metric(kind="")), Fine),
        ((agent_metric("/", "nvme0n1p1"), agent_metric("/nfs", "10.0.0.1:/", "nfs4"), agent_metric()), Flagged),
        ((agent_metric("/", "nvme1n1p1"), agent_metric(device="nvme0n1")), Flagged),
        ((agent_metric("/", "xvda1", "ext4"), agent_metric(device="xvdf", kind="ext4")), Flagged),
        ((agent_metric(),), Flagged),
    ],
)
def test_an_agent_that_names_no_volume_is_believed_where_the_disk_is_plain(
    disks: tuple[DiskMetric, ...], expected: type[Verdict]
) -> None:
    assert isinstance(judged(*EMPTY, records=(host(*EMPTY), *disks)), expected)


def test_a_smaller_volume_and_efs_are_priced_side_by_side() -> None:
    copy, efs = flagged(*EMPTY).advice

    assert copy.changes == (Change(ebs_storage("gp3"), Decimal(860)),)
    assert efs.changes is not None
    assert {change.item: change.quantity for change in efs.changes} == {
        ebs_storage("gp3"): 1_000,
        efs_storage("Standard", one_zone=True, elastic=False): -100,
    }


@pytest.mark.parametrize(
    ("kind", "settings", "wanted"),
    [
        ("gp3", {"iops": 6_000, "throughput_mib_s": 500}, "--volume-type gp3 --size 140 --iops 6000 --throughput 500"),
        ("gp2", {"iops": 3_000, "throughput_mib_s": None}, "--volume-type gp3 --size 140 --iops 3000 --throughput 250"),
        ("st1", {"iops": None, "throughput_mib_s": None}, "--volume-type gp3 --size 140 --iops 3000 --throughput 245"),
        (
            "standard",
            {"iops": None, "throughput_mib_s": None},
            "--volume-type gp3 --size 140 --iops 3000 --throughput 125",
        ),
        ("io2", {"iops": 8_000, "throughput_mib_s": None}, "--volume-type io2 --size 140 --iops 8000"),
        ("io1", {"iops": 10_000, "throughput_mib_s": None}, "--volume-type io1 --size 200 --iops 10000"),
        (
            "gp3",
            {"iops": 80_000, "throughput_mib_s": 125},
            "--volume-type gp3 --size 160 --iops 80000 --throughput 125",
        ),
    ],
)
def test_the_smaller_volume_is_as_fast(kind: str, settings: dict[str, Any], wanted: str) -> None:
    verdict = flagged(*EMPTY, resource=volume(*EMPTY, volume_type=kind, **settings))

    assert (verdict.advice[0].command or "").endswith(wanted)


def test_the_fullest_of_several_file_systems_counts() -> None:
    (disk,) = [one for one in case(*EMPTY).records if isinstance(one, DiskMetric)]
    other = replace(
        disk, id="other", dimensions=tuple((key, "/logs" if key == "path" else value) for key, value in disk.dimensions)
    )
    detector, empty = registry()[EMPTY[0]], case(*EMPTY)
    both = replace(empty, records=(*empty.records, other))

    verdict = play(detector, both)

    assert isinstance(verdict, Flagged)
    assert next(one.value for one in verdict.evidence if one.label == "Mounted at") == "/data, /logs"


def test_an_agent_that_names_no_volume_is_believed_less() -> None:
    verdict = flagged("ebs-surplus-size", "the only data volume, and an agent that names none")

    assert verdict.confidence == "medium"
    assert flagged(*EMPTY).confidence == "high"
    assert any("only data volume" in caveat for caveat in verdict.caveats)


def test_a_fleet_has_the_file_systems_that_an_agent_reports() -> None:
    records = case(*EMPTY).records
    (disk,) = [one for one in records if isinstance(one, DiskMetric)]

    assert list(Fleet(records).disks_of(disk.instance_id)) == [disk]
    assert not Fleet(records).disks_of("i-other")
