"""Advice on FSx file systems that are unused or far too large, and the boundary of each limit."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from slackwater.detectors import fsx_idle, fsx_oversized
from slackwater.engine.cases import play, words
from slackwater.engine.remedies import resolved
from slackwater.model.detector import CASE_NOW, AnyDetector, Case
from slackwater.model.metrics import Metric
from slackwater.model.money import Change, PriceItem, efs_storage, fsx_iops, fsx_storage, fsx_throughput
from slackwater.model.resources import FsxVolume
from slackwater.model.units import DAY_S, GIB, MIB
from slackwater.model.verdicts import Advice, Fine, Flagged, Unknown, Verdict
from slackwater.performance import fsx
from slackwater.rules.fsx import DISK_IOPS, IN_POOL, METADATA, READS, USED, WRITES

type Given = Mapping[tuple[Metric, int], Sequence[float | None]]

IDLE, OVERSIZED = fsx_idle.DETECTOR, fsx_oversized.DETECTOR


def case(detector: AnyDetector, title: str) -> Case:
    return next(case for case in detector.cases if case.title == title)


def verdict(detector: AnyDetector, title: str, resource: Mapping[str, Any] | None = None, **changes: Any) -> Verdict:
    """Return the verdict on a case with changes to its resource or to the case itself."""
    one = case(detector, title)
    return play(detector, replace(one, resource=replace(one.resource, **(resource or {})), **changes))


def flagged(detector: AnyDetector, title: str, resource: Mapping[str, Any] | None = None, **changes: Any) -> Flagged:
    result = verdict(detector, title, resource, **changes)
    assert isinstance(result, Flagged), words(result)
    return resolved(result, "ap-northeast-1", ())


def with_days(detector: AnyDetector, title: str, *metrics: Metric, days: Sequence[float | None]) -> Given:
    """Return the metrics of a case with these daily values for some metrics."""
    return {**case(detector, title).metrics, **{(metric, DAY_S): days for metric in metrics}}


def by_action(result: Flagged) -> dict[str, Advice]:
    return {advice.action: advice for advice in result.advice}


def units(advice: Advice) -> dict[PriceItem, Decimal]:
    assert advice.changes is not None
    return {change.item: change.quantity for change in advice.changes}


ZEROS = "a month of zeros"
ONTAP_ZEROS = "ONTAP, a month of zeros"


@pytest.mark.parametrize("one", [one for one in IDLE.cases if one.expect is Flagged], ids=lambda one: one.title)
def test_no_command_about_an_idle_file_system_deletes_anything(one: Case) -> None:
    result = play(IDLE, one)

    assert isinstance(result, Flagged)
    assert not [advice for advice in result.advice if "delete" in (advice.command or "")]
    assert "Back it up" in result.advice[0].summary or result.advice[0].command is None


def test_openzfs_is_backed_up_whole_and_its_children_are_named_before_it_is_deleted() -> None:
    child = replace(
        case(IDLE, ONTAP_ZEROS).records[0], path="/fsx/projects", volume_type="OPENZFS", ontap_volume_type=None
    )
    advice = flagged(IDLE, ZEROS, records=(child,)).advice[0]

    assert advice.command == "aws fsx create-backup --region ap-northeast-1 --file-system-id fs-0123456789abcdef0"
    assert "DELETE_CHILD_VOLUMES_AND_SNAPSHOTS" in advice.summary
    assert "S3 access points" in advice.summary
    assert "/fsx/projects" in advice.summary
    assert "automatic backups are deleted with it" in advice.risk


def test_ontap_is_backed_up_volume_by_volume() -> None:
    (volume,) = case(IDLE, ONTAP_ZEROS).records
    assert isinstance(volume, FsxVolume)
    elsewhere = replace(volume, id="fsvol-9", file_system_id="fs-other")
    advice = flagged(IDLE, ONTAP_ZEROS, records=(volume, replace(volume, id="fsvol-2"), elsewhere)).advice[0]

    assert advice.command == (
        "for id in fsvol-0123456789abcdef0 fsvol-2; do aws fsx create-backup --region ap-northeast-1 --volume-id "
        '"$id"; done'
    )
    assert "volumes (SnapLock may forbid that), then its storage virtual machines" in advice.summary
    assert "not the settings of its storage virtual machines" in advice.risk


def test_ontap_without_a_volume_has_nothing_to_back_up() -> None:
    advice = flagged(IDLE, ONTAP_ZEROS, records=()).advice[0]

    assert advice.command is None
    assert advice.action == "delete"
    assert not advice.reversible
    assert "FSx lists no volume of it" in advice.summary
    assert "delete its volumes" not in advice.summary
    assert "backup" not in advice.summary + advice.risk


def test_a_scratch_lustre_has_no_backup_and_a_persistent_one_may_have() -> None:
    title = "scratch Lustre, a month of zeros"
    scratch = flagged(IDLE, title).advice[0]
    persistent = flagged(IDLE, title, {"deployment_type": "PERSISTENT_2"}).advice[0]

    assert scratch.command is None
    assert not scratch.reversible
    assert "backups" not in scratch.risk
    assert "export to S3" in scratch.summary
    assert "create-backup" in (persistent.command or "")
    assert "linked to S3" in persistent.risk


def test_what_is_paid_no_more_is_everything_that_was_provisioned_and_unknown_of_windows() -> None:
    bought = units(flagged(IDLE, ZEROS, {"iops": 10_000}).advice[0])

    assert bought == {
        fsx_storage("OPENZFS", "MULTI_AZ_1"): 1_024,
        fsx_throughput("OPENZFS", "MULTI_AZ_1"): 320,
        fsx_iops("OPENZFS", "MULTI_AZ_1"): 10_000 - 3 * 1_024,
    }
    assert flagged(IDLE, "Windows, a month of zeros").advice[0].changes is None
    assert flagged(IDLE, ZEROS, {"storage_type": "INTELLIGENT_TIERING", "storage_gib": 0}).advice[0].changes is None


def test_the_data_may_stay_on_the_smallest_file_server_where_there_is_a_smaller_one() -> None:
    kept = by_action(flagged(IDLE, ZEROS))["smallest-file-server"]

    assert units(kept) == {fsx_throughput("OPENZFS", "MULTI_AZ_1"): 160}
    assert kept.command is not None
    assert kept.command.endswith("--open-zfs-configuration ThroughputCapacity=160")
    assert "smallest-file-server" not in by_action(flagged(IDLE, ZEROS, {"throughput_mb_s": 160}))
    assert "smallest-file-server" not in by_action(flagged(IDLE, ONTAP_ZEROS, {"deployment_type": "MULTI_AZ_2"}))


def test_only_a_watched_month_without_clients_is_of_high_confidence() -> None:
    assert flagged(IDLE, ZEROS).confidence == "high"
    assert flagged(IDLE, ONTAP_ZEROS).confidence == "medium"
    assert flagged(IDLE, "recorded for a month, from a noon on").confidence == "medium"
    assert flagged(IDLE, "quiet since it was created two weeks ago").confidence == "medium"
    probed = flagged(IDLE, "metadata operations without a client")
    assert probed.confidence == "medium"
    assert any("444 metadata operations" in caveat for caveat in probed.caveats)


@pytest.mark.parametrize("metric", [READS, WRITES, fsx_idle.CLIENTS], ids=lambda metric: metric.name)
@pytest.mark.parametrize("days_ago", [0, 1, 29, 35, 36])
def test_one_operation_or_client_within_36_days_is_use(metric: Metric, days_ago: int) -> None:
    once = [0.0] * (36 - days_ago) + [1.0] + [0.0] * days_ago

    assert isinstance(verdict(IDLE, ZEROS, metrics=with_days(IDLE, ZEROS, metric, days=once)), Fine)


def test_metadata_is_use_only_where_clients_are_not_published() -> None:
    title = "Windows, a month of zeros"
    listed = with_days(IDLE, title, METADATA, days=[1.0] * 37)

    assert isinstance(verdict(IDLE, title, {"throughput_mb_s": 32}, metrics=listed), Flagged)
    assert isinstance(verdict(IDLE, title, {"throughput_mb_s": 31}, metrics=listed), Fine)
    assert isinstance(verdict(IDLE, ONTAP_ZEROS, metrics=listed), Fine)


def test_clients_that_are_not_published_where_they_should_be_are_unknown_and_not_absent() -> None:
    dark = with_days(IDLE, ZEROS, fsx_idle.CLIENTS, days=[])

    assert isinstance(verdict(IDLE, ZEROS, metrics=dark), Unknown)


@pytest.mark.parametrize(("mib", "expected"), [(10.1, Fine), (10.0, Flagged)])
def test_openzfs_whose_data_grows_without_a_client_is_written_by_replication(
    mib: float, expected: type[Verdict]
) -> None:
    grown = with_days(IDLE, ZEROS, USED, days=[300.0 * GIB] * 20 + [300.0 * GIB + mib * MIB] * 17)
    shrunk = with_days(IDLE, ZEROS, USED, days=[300.0 * GIB + mib * MIB] * 20 + [300.0 * GIB] * 17)

    assert isinstance(verdict(IDLE, ZEROS, metrics=grown), expected)
    assert isinstance(verdict(IDLE, ZEROS, metrics=shrunk), Flagged)


def test_what_it_held_before_it_was_made_is_no_growth() -> None:
    """A file system that was created from a backup starts with data."""
    restored = with_days(IDLE, ZEROS, USED, days=[0.0] * 23 + [300.0 * GIB] * 14)

    assert isinstance(verdict(IDLE, ZEROS, {"created_at": CASE_NOW - timedelta(days=13.5)}, metrics=restored), Flagged)


@pytest.mark.parametrize(("days", "expected"), [(6.9, Fine), (8.0, Flagged)])
def test_a_file_system_gets_a_week_to_find_its_first_client(days: float, expected: type[Verdict]) -> None:
    assert isinstance(verdict(IDLE, ZEROS, {"created_at": CASE_NOW - timedelta(days=days)}), expected)


def test_load_sharing_mirrors_are_replicas_too_and_other_file_systems_replicas_do_not_count() -> None:
    (volume,) = case(IDLE, ONTAP_ZEROS).records
    assert isinstance(volume, FsxVolume)
    mirror = replace(volume, ontap_volume_type="LS")

    assert isinstance(verdict(IDLE, ONTAP_ZEROS, records=(volume, replace(mirror, id="fsvol-2"))), Fine)
    assert isinstance(verdict(IDLE, ONTAP_ZEROS, records=(replace(mirror, file_system_id="fs-other"),)), Flagged)


def test_volumes_that_could_not_be_read_matter_to_ontap_alone() -> None:
    assert isinstance(verdict(IDLE, ZEROS, unreadable={FsxVolume: "AccessDenied"}), Flagged)


def test_what_a_program_manages_is_changed_there() -> None:
    tags = {"aws:cloudformation:stack-name": "render"}

    assert any("CloudFormation stack render" in caveat for caveat in flagged(IDLE, ZEROS, {"tags": tags}).caveats)
    title = "2,000 GiB of OpenZFS, 150 used"
    assert any("CloudFormation stack render" in caveat for caveat in flagged(OVERSIZED, title, {"tags": tags}).caveats)


def test_an_idle_file_system_is_no_matter_of_size() -> None:
    assert set(IDLE.outranks) == {"fsx-oversized", "fsx-surplus-throughput", "fsx-surplus-iops"}


ZFS = "2,000 GiB of OpenZFS, 150 used"
LEAST = "ONTAP at its minimum, 90 GiB used"
SHRINKS = "ONTAP of the second generation, which shrinks"
MULTI = ("OPENZFS", "MULTI_AZ_1")


def test_a_smaller_openzfs_is_half_full_and_has_twice_the_iops_that_were_used() -> None:
    move = by_action(flagged(OVERSIZED, ZFS))["move-to-smaller"]

    assert "300 GiB of SSD and 960 IOPS" in move.summary
    assert units(move) == {fsx_storage(*MULTI): 1_700, fsx_iops(*MULTI): 3 * 300 - 960}
    assert move.command is None


def test_without_knowing_its_disks_it_keeps_all_its_iops() -> None:
    result = flagged(OVERSIZED, ZFS, metrics=with_days(OVERSIZED, ZFS, DISK_IOPS, days=[]))

    assert "6,000 IOPS" in by_action(result)["move-to-smaller"].summary
    assert any("keeps all of its IOPS" in caveat for caveat in result.caveats)


def test_efs_is_priced_for_what_lies_there_and_replaces_everything_that_was_provisioned() -> None:
    result = flagged(OVERSIZED, ZFS)
    efs = units(by_action(result)["move-to-efs"])

    assert efs[fsx_storage(*MULTI)] == 2_000
    assert efs[fsx_throughput(*MULTI)] == 160
    assert efs[efs_storage("Standard", one_zone=False, elastic=False)] == -150
    assert result.cheapest_first
    assert set(by_action(result)) == {"move-to-smaller", "move-to-efs"}


def test_in_one_zone_efs_is_one_zone() -> None:
    result = flagged(OVERSIZED, ZFS, {"deployment_type": "SINGLE_AZ_1"})

    assert efs_storage("Standard", one_zone=True, elastic=False) in units(by_action(result)["move-to-efs"])


def test_at_ontaps_minimum_only_the_smaller_services_are_left() -> None:
    result = flagged(OVERSIZED, LEAST)
    openzfs = units(by_action(result)["move-to-openzfs"])

    assert set(by_action(result)) == {"move-to-openzfs", "move-to-efs"}
    assert openzfs == {
        fsx_storage("ONTAP", "MULTI_AZ_1"): 1_024,
        fsx_throughput("ONTAP", "MULTI_AZ_1"): 128,
        fsx_storage(*MULTI): -180,
        fsx_throughput(*MULTI): -160,
    }
    assert all("speak NFS" in advice.risk for advice in result.advice)


def test_what_does_not_carry_the_load_is_not_advised() -> None:
    """EFS does not support 100 GB a second."""
    busy = with_days(OVERSIZED, ZFS, fsx_oversized.WRITE_PEAK, days=[60 * 100e9] * 37)

    assert set(by_action(flagged(OVERSIZED, ZFS, metrics=busy))) == {"move-to-smaller"}


def test_ontap_of_the_second_generation_shrinks_in_place() -> None:
    shrink = by_action(flagged(OVERSIZED, SHRINKS))["shrink-ssd"]

    assert shrink.command == (
        "aws fsx update-file-system --region ap-northeast-1 --file-system-id fs-0123456789abcdef0"
        " --storage-capacity 1400 --ontap-configuration 'DiskIopsConfiguration={Mode=AUTOMATIC}'"
    )
    busy = with_days(OVERSIZED, SHRINKS, DISK_IOPS, days=[40.0] * 37)
    busier = by_action(flagged(OVERSIZED, SHRINKS, metrics=busy))["shrink-ssd"].command or ""
    assert busier.endswith("'DiskIopsConfiguration={Mode=USER_PROVISIONED,Iops=19661}'")
    assert "shrink-ssd" not in by_action(flagged(OVERSIZED, SHRINKS, {"deployment_type": "MULTI_AZ_1"}))


def test_iops_that_are_not_known_are_not_set() -> None:
    shrink = by_action(flagged(OVERSIZED, SHRINKS, {"iops": None, "iops_mode": None}))["shrink-ssd"]

    assert (shrink.command or "").endswith("--storage-capacity 1400")


def test_a_half_full_ontap_begins_to_tier_and_openzfs_does_not() -> None:
    def tiering(title: str) -> bool:
        return any("AUTO or SNAPSHOT_ONLY" in caveat for caveat in flagged(OVERSIZED, title).caveats)

    assert tiering(SHRINKS)
    assert not tiering(ZFS)
    assert not tiering(LEAST)  # it gets no smaller


def test_a_minimum_counts_for_each_pair_of_file_servers() -> None:
    """4,608 MB/s in one zone may be three pairs, which need at least 3,072 GiB. The number of pairs is not read."""
    three = {"deployment_type": "SINGLE_AZ_2", "throughput_mb_s": 4_608}
    shrink = by_action(flagged(OVERSIZED, SHRINKS, three))["shrink-ssd"]

    assert "--storage-capacity 3072 " in (shrink.command or "")


def test_the_largest_ontap_file_server_has_a_minimum_of_its_own() -> None:
    largest = {"throughput_mb_s": 4_096, "target": replace(case(OVERSIZED, LEAST).resource.target, region="us-east-1")}
    result = flagged(OVERSIZED, LEAST, {**largest, "storage_gib": 20_480, "iops": 160_000})

    assert "5,120 GiB of SSD and 160,000 IOPS" in by_action(result)["move-to-smaller"].summary


def test_nothing_is_priced_for_windows() -> None:
    (move,) = flagged(OVERSIZED, "2,000 GiB of Windows, 1,900 free").advice

    assert move.changes is None
    assert "200 GiB of SSD" in move.summary


@pytest.mark.parametrize(("gib", "expected"), [(399.9, Flagged), (400, Fine)])
def test_a_fifth_full_is_the_line(gib: float, expected: type[Verdict]) -> None:
    assert isinstance(verdict(OVERSIZED, ZFS, metrics=with_days(OVERSIZED, ZFS, USED, days=[gib * GIB] * 37)), expected)


@pytest.mark.parametrize("days_ago", [0, 1, 13, 35])
def test_one_day_on_which_it_was_full_is_enough(days_ago: int) -> None:
    once = [150.0 * GIB] * (36 - days_ago) + [1_500.0 * GIB] + [150.0 * GIB] * days_ago

    assert isinstance(verdict(OVERSIZED, ZFS, metrics=with_days(OVERSIZED, ZFS, USED, days=once)), Fine)


@pytest.mark.parametrize(("a_day", "expected"), [(2.9, Fine), (2.6, Flagged), (-5.0, Flagged)])
def test_what_grows_is_carried_on_for_a_quarter(a_day: float, expected: type[Verdict]) -> None:
    """150 GiB are used, and a fifth of 2,000 GiB is 400: 2.8 GiB a day fill the other 250 in 90 days."""
    line = with_days(OVERSIZED, ZFS, USED, days=[(150 + a_day * (day - 36)) * GIB for day in range(37)])

    assert isinstance(verdict(OVERSIZED, ZFS, metrics=line), expected)


@pytest.mark.parametrize("days_ago", range(1, 14))
def test_one_step_is_no_growth(days_ago: int) -> None:
    """Data was copied once. That does not predict more growth, even if a little is added every day."""
    copied = [(100 + 200 * (day >= 36 - days_ago) + 0.1 * day) * GIB for day in range(37)]

    assert isinstance(verdict(OVERSIZED, ZFS, metrics=with_days(OVERSIZED, ZFS, USED, days=copied)), Flagged)


def test_growth_that_stopped_a_week_ago_is_none_and_growth_after_a_step_is_some() -> None:
    stopped = [(100 + 20 * max(0, min(day, 28) - 22)) * GIB for day in range(37)]
    grows = [(50 + 100 * (day >= 30) + 3 * day) * GIB for day in range(37)]

    assert isinstance(verdict(OVERSIZED, ZFS, metrics=with_days(OVERSIZED, ZFS, USED, days=stopped)), Flagged)
    assert isinstance(verdict(OVERSIZED, ZFS, metrics=with_days(OVERSIZED, ZFS, USED, days=grows)), Fine)


def test_usage_that_rises_and_falls_is_no_growth() -> None:
    scratch = [(30 + 250 * ((7 * day) % 11) / 10) * GIB for day in range(37)]

    assert isinstance(verdict(OVERSIZED, ZFS, metrics=with_days(OVERSIZED, ZFS, USED, days=scratch)), Flagged)


@pytest.mark.parametrize(("gib", "expected"), [(163, Fine), (164, Flagged)])
def test_nobody_copies_a_file_system_for_less_than_100_gib(gib: int, expected: type[Verdict]) -> None:
    small = with_days(OVERSIZED, ZFS, USED, days=[5.0 * GIB] * 37)
    idle_disks: Given = {**small, (DISK_IOPS, DAY_S): [1.0] * 37}

    assert isinstance(verdict(OVERSIZED, ZFS, {"storage_gib": gib, "iops": 3 * gib}, metrics=idle_disks), expected)


@pytest.mark.parametrize(("pool_gib", "expected"), [(100, Flagged), (200, Fine)])
def test_at_the_minimum_of_ontap_the_capacity_pool_counts(pool_gib: float, expected: type[Verdict]) -> None:
    pooled = with_days(OVERSIZED, LEAST, IN_POOL, days=[pool_gib * GIB] * 37)

    assert isinstance(verdict(OVERSIZED, LEAST, metrics=pooled), expected)


def test_the_other_services_hold_what_lies_in_the_pool_as_well() -> None:
    pooled = with_days(OVERSIZED, LEAST, IN_POOL, days=[100.0 * GIB] * 37)
    result = flagged(OVERSIZED, LEAST, metrics=pooled)

    assert units(by_action(result)["move-to-efs"])[efs_storage("Standard", one_zone=False, elastic=False)] == -190
    assert any("capacity pool" in caveat for caveat in result.caveats)


def test_two_weeks_of_points_are_enough_with_less_confidence() -> None:
    late = [None] * 20 + [150.0 * GIB] * 17
    later = [None] * 24 + [150.0 * GIB] * 13

    assert flagged(OVERSIZED, ZFS).confidence == "high"
    assert flagged(OVERSIZED, ZFS, metrics=with_days(OVERSIZED, ZFS, USED, days=late)).confidence == "medium"
    assert isinstance(verdict(OVERSIZED, ZFS, metrics=with_days(OVERSIZED, ZFS, USED, days=later)), Unknown)


def test_it_needs_two_weeks_to_fill() -> None:
    assert isinstance(verdict(OVERSIZED, ZFS, {"created_at": CASE_NOW - timedelta(days=14.9)}), Fine)
    assert isinstance(verdict(OVERSIZED, ZFS, {"created_at": CASE_NOW - timedelta(days=15.1)}), Flagged)


def test_it_is_billed_for_what_is_provisioned_above_what_is_included() -> None:
    ontap = case(OVERSIZED, LEAST).resource
    kind = ("ONTAP", "MULTI_AZ_1")

    assert fsx.monthly_units(replace(ontap, iops=5_000)) == (
        Change(fsx_storage(*kind), Decimal(1_024)),
        Change(fsx_throughput(*kind), Decimal(128)),
        Change(fsx_iops(*kind), Decimal(5_000 - 3_072)),
    )
    assert fsx.monthly_units(replace(ontap, file_system_type="WINDOWS")) is None
    assert fsx.monthly_units(replace(ontap, throughput_mb_s=None)) is None
