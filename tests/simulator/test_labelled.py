"""In labelled fleets, each resource's metrics show what its scenario describes."""

import numpy as np
import pytest

from slackwater_simulator import Simulator, labelled_fleet
from slackwater_simulator.fleets.labelled import scenarios
from slackwater_simulator.instance_types import TYPES
from slackwater_simulator.series import DAY, statistic
from slackwater_simulator.telemetry import Telemetry

MIB = 1 << 20
SCENARIOS = [(detector, one) for detector, ones in scenarios().items() for one in ones]
MOST = max(sum(one.issue for one in ones) for ones in scenarios().values())


@pytest.fixture(scope="module")
def fleet():
    return labelled_fleet(5, issues=MOST, controls=1, ordinary_of_a_kind=30)


@pytest.fixture(scope="module")
def ask(fleet):
    """Return `ask(namespace, metric, stat, period, days, **dimensions)`, which returns a metric's values."""
    telemetry = Telemetry(fleet)

    def values(namespace, metric, stat, period, days, **dimensions):
        track = telemetry.track(fleet.regions[0], namespace, metric, tuple(sorted(dimensions.items())))
        return statistic(track, stat, int(fleet.now - days * DAY), fleet.now, period)[1] if track else np.empty(0)

    return values


@pytest.fixture(scope="module")
def drawn(fleet):
    """Return `drawn(detector, *scenarios)`, which returns ids of planted issues or of negative controls."""

    def ids(detector, *names, issue):
        return [
            case.resource_id
            for case in fleet.planted
            if (detector in case.issues if issue else case.control_of == detector)
            and case.scenario in (names or {case.scenario})
        ]

    return ids


@pytest.mark.parametrize(
    ("detector", "scenario"), SCENARIOS, ids=[f"{detector}/{one.name}" for detector, one in SCENARIOS]
)
def test_a_scenario_is_planted_under_its_label(fleet, detector, scenario):
    cases = [
        case
        for case in fleet.planted
        if case.scenario == scenario.name and (detector in case.issues or case.control_of == detector)
    ]
    assert cases
    for case in cases:
        assert case.issues == ((detector,) if scenario.issue else ()) + scenario.also
        assert (case.control_of == detector) is not scenario.issue
        assert (case.story, case.full) == (scenario.story, scenario.full)
        assert case.name.startswith(f"{detector}-{scenario.name}")


def test_issues_are_distributed_and_each_has_its_number_of_controls(fleet):
    for detector, ones in scenarios().items():
        own = [case for case in fleet.planted if case.name.startswith(f"{detector}-")]
        assert sum(detector in case.issues for case in own) == MOST
        assert sum(case.control_of == detector for case in fleet.planted) == sum(not one.issue for one in ones)


def test_every_resource_is_labelled_once_and_the_ordinary_are_not(fleet):
    labelled = [case.resource_id for case in fleet.planted]
    assert len(labelled) == len(set(labelled))
    ordinary = [one.id for one in [*fleet.efs, *fleet.volumes] if one.tags["Name"].startswith("ordinary")]
    assert len(ordinary) >= 60
    assert not {*ordinary} & {*labelled}


def test_a_seed_draws_the_same_in_any_surroundings_and_another_seed_differs(fleet):
    again = labelled_fleet(5, issues=1, controls=1, ordinary_of_a_kind=0)
    other = labelled_fleet(6, issues=0, controls=0, ordinary_of_a_kind=30)
    first = {volume.id: volume for volume in fleet.volumes}
    for volume in again.volumes:
        if not volume.tags["Name"].endswith("-root"):
            assert (volume.size_gib, volume.created, volume.used) == (
                first[volume.id].size_gib,
                first[volume.id].created,
                first[volume.id].used,
            )
            if volume.activity:
                assert np.array_equal(volume.activity.shape.stats.total, first[volume.id].activity.shape.stats.total)
    flows = {one.id: one.net_in.signal.stats.total for one in fleet.instances if one.net_in}
    assert all(np.array_equal(one.net_in.signal.stats.total, flows[one.id]) for one in again.instances if one.net_in)
    assert again.now == fleet.now != other.now
    assert not {volume.id for volume in other.volumes} & set(first)


def test_nobody_was_connected_to_an_idle_file_system_for_as_long_as_lies_between_two_first_mondays(drawn, ask):
    for system in drawn("efs-idle", issue=True):
        assert not ask("AWS/EFS", "ClientConnections", "Sum", DAY, 36, FileSystemId=system).sum()
        assert len(ask("AWS/EFS", "StorageBytes", "Average", DAY, 13, FileSystemId=system, StorageClass="Total")) >= 12


def test_somebody_was_connected_to_the_quiet_ones_within_five_weeks(drawn, ask):
    quiet = ("monthly-by-date", "monthly-by-weekday", "weekly", "nightly", "now-and-then", "mounted", "back-today")
    ids = drawn("efs-idle", *quiet, issue=False)
    assert len(ids) == len(quiet)
    for system in ids:
        assert ask("AWS/EFS", "ClientConnections", "Sum", DAY, 36, FileSystemId=system).sum() > 0


def test_unattached_volumes_have_published_no_metrics_since_they_were_detached(fleet, drawn, ask):
    volumes = {volume.id: volume for volume in fleet.volumes}
    for volume in drawn("ebs-unattached", issue=True):
        assert not volumes[volume].attachments
        assert not len(ask("AWS/EBS", "VolumeIdleTime", "Sum", DAY, 8, VolumeId=volume))
    for volume in drawn("ebs-unattached", "weekly-rotation", "monthly-rotation", issue=False):
        assert not volumes[volume].attachments
        assert 2 < len(ask("AWS/EBS", "VolumeIdleTime", "Sum", DAY, 90, VolumeId=volume)) < 40
    for volume in drawn("ebs-unattached", "in-use", "instance-stopped", issue=False):
        assert volumes[volume].attachments


def _operations(ask, volume):
    return sum(
        ask("AWS/EBS", metric, "Sum", DAY, 36, VolumeId=volume).sum() for metric in ("VolumeReadOps", "VolumeWriteOps")
    )


def test_idle_volumes_did_next_to_nothing_for_five_weeks_and_quiet_ones_something(drawn, ask):
    for volume in drawn("ebs-idle", issue=True):
        assert _operations(ask, volume) < 35
        assert len(ask("AWS/EBS", "VolumeWriteOps", "Sum", DAY, 14, VolumeId=volume)) >= 14
    quiet = ("nightly", "weekly", "monthly-by-date", "monthly-by-weekday", "heartbeat", "read-only", "back-today")
    for volume in drawn("ebs-idle", *quiet, issue=False):
        assert _operations(ask, volume) > 72


def test_volumes_of_instances_that_nobody_started_again_published_nothing_for_a_month(fleet, drawn, ask):
    instances = {instance.id: instance for instance in fleet.instances}
    volumes = {volume.id: volume for volume in fleet.volumes}
    for id_ in drawn("ebs-on-stopped-instance", issue=True):
        hosts = [instances[attachment.instance_id] for attachment in volumes[id_].attachments]
        assert all(fleet.now - host.stopped > 32 * DAY for host in hosts)
        assert not len(ask("AWS/EBS", "VolumeIdleTime", "Sum", DAY, 32, VolumeId=id_))


def test_nearly_empty_volumes_were_never_full_and_their_controls_were(fleet, drawn):
    volumes = {volume.id: volume for volume in fleet.volumes}

    def fullest(id_):
        used = volumes[id_].disk.used
        return used.signal.stats.high.max() * used.scale

    assert all(fullest(id_) < 34 for id_ in drawn("ebs-surplus-size", issue=True))
    filled = ("full", "nightly", "weekly", "monthly-by-date", "monthly-by-weekday")
    assert all(fullest(id_) > 49 for id_ in drawn("ebs-surplus-size", *filled, issue=False))


def _peaks(ask, volume, kind):
    """Return the greatest minute of reads and of writes in five weeks, in bytes or operations a second."""
    return [
        max(ask("AWS/EBS", f"Volume{way}{kind}", "Maximum", 60, 35, VolumeId=volume.id), default=0) / 60
        for way in ("Read", "Write")
    ]


USED = ("nightly", "weekly", "monthly", "first-weekday", "by-day", "steady")


def test_surplus_throughput_was_not_used_and_that_of_the_controls_was(fleet, drawn, ask):
    volumes = {volume.id: volume for volume in fleet.volumes}
    for id_ in drawn("ebs-surplus-throughput", issue=True):
        if volumes[id_].nitro:  # on Xen, a sample is one operation
            assert max(_peaks(ask, volumes[id_], "Bytes")) / MIB < 0.34 * volumes[id_].throughput
    for id_ in drawn("ebs-surplus-throughput", *USED, issue=False):
        assert sum(_peaks(ask, volumes[id_], "Bytes")) / MIB > 0.5 * volumes[id_].throughput


def test_surplus_iops_were_not_used_and_those_of_the_controls_were(fleet, drawn, ask):
    volumes = {volume.id: volume for volume in fleet.volumes}
    planted = {case.resource_id for case in fleet.planted if case.name.startswith("ebs-surplus-iops-")}
    for id_ in {*drawn("ebs-surplus-iops", issue=True)} & planted:
        assert max(_peaks(ask, volumes[id_], "Ops")) < 0.34 * volumes[id_].iops
    for id_ in drawn("ebs-surplus-iops", *USED, issue=False):
        assert sum(_peaks(ask, volumes[id_], "Ops")) > 0.5 * volumes[id_].iops
    for id_ in drawn("ebs-surplus-iops", "large-operations", "for-throughput", issue=False):
        assert sum(_peaks(ask, volumes[id_], "Ops")) < 0.4 * volumes[id_].iops
        assert sum(_peaks(ask, volumes[id_], "Bytes")) / (MIB / 4) > 0.5 * volumes[id_].iops


def test_gp2_volumes_never_run_out_of_credits_and_only_some_need_all_their_throughput(fleet, drawn, ask):
    volumes = {volume.id: volume for volume in fleet.volumes}
    for id_ in (case.resource_id for case in fleet.planted if case.name.startswith("ebs-outdated-type-")):
        if volumes[id_].type == "gp2":
            balance = ask("AWS/EBS", "BurstBalance", "Minimum", DAY, 35, VolumeId=id_)
            assert min(balance, default=100) > 20
    for id_ in drawn("ebs-outdated-type", "nightly", "weekly", "monthly", "first-weekday", issue=False):
        assert 200 < sum(_peaks(ask, volumes[id_], "Bytes")) / MIB < 251


def test_throttled_instances_run_at_their_baseline_and_the_driver_counts_it(fleet, drawn, ask):
    instances = {instance.id: instance for instance in fleet.instances}
    for id_ in drawn("ec2-network-throttled", issue=True):
        baseline = TYPES[instances[id_].type].baseline_bytes
        at_baseline = [
            ((rates > 0.9 * baseline) & (rates < 1.03 * baseline)).sum()
            for way in ("NetworkIn", "NetworkOut")
            if (rates := ask("AWS/EC2", way, "Sum", 300, 14, InstanceId=id_) / 300) is not None
        ]
        assert max(at_baseline) >= 12, id_


def test_no_packet_of_a_control_is_delayed(fleet, drawn):
    controls = {*drawn("ec2-network-throttled", issue=False)}
    counters = [
        one.telemetry["ethtool_bw_out_allowance_exceeded"]
        for one in fleet.instances
        if one.id in controls and one.agent
    ]
    assert counters
    for (series,) in counters:
        assert series.signal.stats.high.max() == series.signal.stats.low.min()


def test_sync_writers_wait_for_an_hour_or_more(fleet, drawn, ask):
    volumes = {volume.id: volume for volume in fleet.fsx_volumes}
    for id_ in drawn("fsx-sync-export", issue=True):
        assert any("async" not in export.options for export in volumes[id_].exports)
        both = {"FileSystemId": volumes[id_].file_system_id, "VolumeId": id_}
        writes = ask("AWS/FSx", "DataWriteOperations", "Sum", 300, 14, **both) / 300
        plateau = writes[writes > 0.7 * writes.max()]
        assert len(plateau) >= 12
        assert plateau.mean() > 100


def test_cold_data_was_hardly_touched_in_five_weeks_and_that_of_the_controls_was(fleet, drawn, ask):
    systems = {system.id: system for system in fleet.efs}

    def touched(id_):
        moved = sum(
            ask("AWS/EFS", metric, "Sum", DAY, 36, FileSystemId=id_).sum()
            for metric in ("DataReadIOBytes", "DataWriteIOBytes")
        )
        return moved / systems[id_].standard_bytes

    cold = drawn("efs-cold-data", issue=True)
    warm = drawn("efs-cold-data", "monthly", "weekly", "busy", "rewritten", issue=False)
    assert max(map(touched, cold)) < 0.42
    assert min(map(touched, warm)) > 0.65
    assert not any("TransitionToIA" in dict(systems[id_].lifecycle) for id_ in (*cold, *warm))


def test_what_is_mounted_in_one_zone_is_kept_in_several(fleet, drawn):
    systems = {system.id: system for system in fleet.efs}
    for id_ in drawn("efs-single-zone-use", issue=True):
        assert len(systems[id_].mount_targets) == 1
        assert systems[id_].one_zone is None


def test_a_single_client_is_alone_and_those_of_the_controls_are_not(drawn, ask):
    for id_ in drawn("efs-single-client", issue=True):
        minutes = ask("AWS/EFS", "ClientConnections", "Sum", 60, 36, FileSystemId=id_)
        assert minutes.max() == 1
        assert minutes.mean() > 0.9
    for id_ in drawn(
        "efs-single-client", "several", "nightly-second", "monthly-second", "overlap", "in-gaps", issue=False
    ):
        assert ask("AWS/EFS", "ClientConnections", "Sum", 60, 36, FileSystemId=id_).max() > 1


def test_serial_writers_keep_one_rate_for_an_hour_or_more(drawn, ask):
    for id_ in drawn("efs-serial-small-writes", issue=True):
        count, size = (
            ask("AWS/EFS", "DataWriteIOBytes", stat, 300, 14, FileSystemId=id_) / 300 for stat in ("SampleCount", "Sum")
        )
        plateau = count > 0.7 * count.max()
        assert plateau.sum() >= 12
        assert count[plateau].mean() > 60
        assert (size[plateau] / count[plateau]).max() <= 64 * 1024


def test_draining_credits_are_gone_or_fewer_than_a_week_ago_and_those_of_the_controls_last(drawn, ask):
    for id_ in drawn("efs-credits-draining", issue=True):
        balance = ask("AWS/EFS", "BurstCreditBalance", "Minimum", 3600, 14, FileSystemId=id_)
        assert balance[-168:].min() == 0 or balance[-1] < balance[-168] - 0.01 * balance.max(), id_
    controls = ("below", "nightly-dip", "weekly-dip", "import", "running", "closing")
    for id_ in drawn("efs-credits-draining", *controls, issue=False):
        assert ask("AWS/EFS", "BurstCreditBalance", "Minimum", 3600, 14, FileSystemId=id_).min() > 0.05 * 2.1 * (
            1 << 40
        )


def _use(ask, id_):
    """Return the metered I/O of two weeks in 5-minute periods, as fractions of the permitted throughput."""
    metered = ask("AWS/EFS", "MeteredIOBytes", "Sum", 300, 14, FileSystemId=id_)
    permitted = ask("AWS/EFS", "PermittedThroughput", "Average", 300, 14, FileSystemId=id_)
    return metered / 300 / permitted[: len(metered)]


def test_file_systems_at_their_limit_are_there_for_hours_and_the_others_are_not(drawn, ask):
    for id_ in drawn("efs-throughput-mismatch", "at-its-amount", "at-its-burst", issue=True):
        assert (_use(ask, id_) > 0.95).sum() > 14 * 12
    for id_ in drawn("efs-throughput-mismatch", "hardly-used", "bought-for-more", "for-minutes", issue=True):
        assert _use(ask, id_).max() < 0.95
    for id_ in drawn("efs-throughput-mismatch", "well-used", "by-day", "nightly", issue=False):
        assert 0.6 < _use(ask, id_).max() < 0.95


def test_credits_are_gone_or_fall_and_those_of_the_controls_recover(drawn, ask):
    for id_ in drawn("ebs-burst-draining", issue=True):
        left = ask("AWS/EBS", "BurstBalance", "Average", 300, 7, VolumeId=id_)
        assert (left < 1).sum() >= 36 or left[-1] < left[-288] < left[-2 * 288], id_
    for id_ in drawn("ebs-burst-draining", "refilled-gp2", "refilled-disk", "working-week", issue=False):
        assert ask("AWS/EBS", "BurstBalance", "Minimum", 300, 35, VolumeId=id_).min() > 5
    for id_ in drawn("ebs-burst-draining", "weekly", issue=False):
        assert (ask("AWS/EBS", "BurstBalance", "Average", 300, 35, VolumeId=id_) < 1).sum() >= 4 * 12


def _at_limit(ask, instance):
    """Return how many hours of the last eight days an instance was at one of its EBS limits."""
    checks = ("InstanceEBSThroughputExceededCheck", "InstanceEBSIOPSExceededCheck")
    return max(ask("AWS/EC2", check, "Sum", 86_400, 8, InstanceId=instance).sum() for check in checks) / 60


def test_throttled_instances_are_at_their_limit_for_hours_and_batches_for_half_an_hour_a_day(drawn, ask):
    assert all(_at_limit(ask, id_) > 1.5 for id_ in drawn("ec2-ebs-throttled", issue=True))
    for id_ in drawn("ec2-ebs-throttled", "in-time", "half-hour", "below", "volume-bound", "minutes", issue=False):
        assert _at_limit(ask, id_) <= 8 * 0.5


def test_volumes_do_no_more_than_what_is_left_of_their_instances_burst_lets_through(fleet, drawn, ask):
    kinds = {instance.id: instance.kind.ebs for instance in fleet.instances}
    held = 0
    for id_ in drawn("ec2-ebs-throttled", issue=True):
        limit = kinds[id_]
        for names, balance, base in (
            (("EBSReadBytes", "EBSWriteBytes"), "EBSByteBalance%", limit.baseline_mbps * 125_000),
            (("EBSReadOps", "EBSWriteOps"), "EBSIOBalance%", limit.baseline_iops),
        ):
            rates = sum(ask("AWS/EC2", name, "Sum", 300, 7, InstanceId=id_) for name in names) / 300
            left = ask("AWS/EC2", balance, "Maximum", 300, 7, InstanceId=id_)
            gone = rates[1:][(left[1:] == 0) & (left[:-1] == 0)] if len(left) == len(rates) else rates[:0]
            if len(gone):
                held += 1
                assert np.quantile(gone, 0.25) == pytest.approx(base, rel=0.01), (
                    id_
                )  # the root volume adds operations at times
    assert held >= 5


def test_bound_instances_have_volumes_set_above_their_maximum(fleet, drawn):
    instances = {instance.id: instance for instance in fleet.instances}
    for id_ in drawn("ebs-instance-bound", issue=True):
        most = instances[id_].kind.ebs
        paying = [volume for volume in fleet.volumes_of[id_] if volume.throughput or volume.iops]
        assert sum(volume.throughput or 0 for volume in paying) * MIB > 1.2 * most.maximum_mbps * 125_000 or (
            sum(volume.iops or 0 for volume in paying) > 1.2 * most.maximum_iops
        )


def test_a_labelled_fleet_is_served_with_its_truth(clients):
    fleet = labelled_fleet(5, issues=0, controls=0, ordinary_of_a_kind=10)
    with Simulator(fleet) as simulator:
        assert len(clients(simulator, "efs").describe_file_systems()["FileSystems"]) == 10
        assert len(clients(simulator, "ec2").describe_volumes()["Volumes"]) == 11
