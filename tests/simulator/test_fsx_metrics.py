"""The metrics that FSx publishes for idle file systems, and for oversized ones."""

import numpy as np
import pytest

from slackwater_simulator.fleets.builder import Builder
from slackwater_simulator.fleets.labelled import ordinary, scenarios
from slackwater_simulator.fleets.labelled.draw import Draw
from slackwater_simulator.fsx_metrics import WORK, fsx_names
from slackwater_simulator.resources import GIB, instant
from slackwater_simulator.series import DAY, statistic
from slackwater_simulator.telemetry import Telemetry

IDLE, OVERSIZED = "fsx-idle", "fsx-oversized"
EACH = 3


@pytest.fixture(scope="module")
def build():
    return Builder(instant("2026-10-16T09:07:00Z"), "ap-northeast-1", 4)


@pytest.fixture(scope="module")
def planted(build):
    """Return the ids of the file systems that each scenario planted, and of the ordinary ones."""
    ids = {}
    for detector in (IDLE, OVERSIZED):
        for one in scenarios()[detector]:
            names = (f"{detector}-{one.name}-{n}" for n in range(EACH))
            draws = [Draw(build.shapes.random(name), build, name) for name in names]
            ids[detector, one.name] = [one.plant(d).id for d in draws]
    ids["ordinary"] = [ordinary.server(Draw(build.shapes.random(n), build, f"ordinary-{n}")).id for n in range(8)]
    return ids


@pytest.fixture(scope="module")
def fleet(build, planted):
    return build.fleet("123456789012")


@pytest.fixture(scope="module")
def systems(fleet):
    return {system.id: system for system in fleet.fsx}


@pytest.fixture(scope="module")
def ask(fleet):
    """Return `ask(name, stat, days, **dimensions)`, which returns a metric's daily values."""
    telemetry = Telemetry(fleet)

    def values(name, stat, days, **dimensions):
        track = telemetry.track(fleet.regions[0], "AWS/FSx", name, tuple(sorted(dimensions.items())))
        return statistic(track, stat, int(fleet.now - days * DAY), fleet.now, DAY)[1] if track else np.empty(0)

    return values


@pytest.fixture(scope="module")
def drawn(planted):
    """Return `drawn(detector, *scenarios)`, which returns file system ids of these scenarios or of all issues."""

    def ids(detector, *names):
        names = names or [one.name for one in scenarios()[detector] if one.issue]
        return [id_ for name in names for id_ in planted[detector, name]]

    return ids


@pytest.fixture(scope="module")
def fullest(systems, ask):
    """Return a function that returns the greatest fill level of a file system in some days, as a fraction."""

    def share(id_, days):
        system = systems[id_]
        whole = system.storage_gib * GIB
        match system.kind:
            case "OPENZFS":
                return max(ask("UsedStorageCapacity", "Maximum", days, FileSystemId=id_)) / whole
            case "WINDOWS":
                return 1 - min(ask("FreeStorageCapacity", "Minimum", days, FileSystemId=id_)) / whole
        return max(ask("StorageUsed", "Maximum", days, FileSystemId=id_, StorageTier="SSD", DataType="All")) / whole

    return share


def test_small_windows_publishes_operations_and_free_space_only():
    build = Builder(instant("2026-11-16T09:07:00Z"), "eu-west-1")
    small = build.server("small", "WINDOWS", "SINGLE_AZ_1", storage_gib=32, throughput=16)
    large = build.server("large", "WINDOWS", "SINGLE_AZ_1", storage_gib=32, throughput=32)

    assert set(fsx_names(small)) == {*WORK, "FreeStorageCapacity"}
    assert {"ClientConnections", "CPUUtilization"} <= set(fsx_names(large))


def test_a_server_of_ontap_has_its_volumes_and_one_of_windows_has_none():
    build = Builder(instant("2026-11-16T09:07:00Z"), "eu-west-1")
    ontap = build.server(
        "a", "ONTAP", "MULTI_AZ_1", storage_gib=1_024, throughput=128, volumes=("x", "y"), ontap_type="DP"
    )
    build.server("b", "WINDOWS", "MULTI_AZ_1", storage_gib=1_024, throughput=64, volumes=("x",))

    assert [(one.file_system_id, one.path, one.ontap_type) for one in build.fsx_volumes] == [
        (ontap.id, "/x", "DP"),
        (ontap.id, "/y", "DP"),
    ]
    assert len({one.id for one in build.fsx_volumes}) == 2
    assert {one.svm_id for one in build.fsx_volumes} == {build.svms[0].id}


def test_nobody_came_to_an_idle_file_system_for_five_weeks(drawn, ask):
    ids = drawn(IDLE)
    assert len(ids) >= 5 * EACH
    for system in ids:
        for metric in ("DataReadOperations", "DataWriteOperations", "ClientConnections"):
            assert not ask(metric, "Sum", 36, FileSystemId=system).sum()
        assert len(ask("DataReadOperations", "Sum", 13, FileSystemId=system)) >= 12


def test_the_quiet_ones_are_used_within_five_weeks(drawn, ask):
    quiet = (
        "monthly-by-date",
        "monthly-by-weekday",
        "weekly",
        "nightly",
        "now-and-then",
        "backup-target",
        "back-today",
    )
    ids = drawn(IDLE, *quiet)
    for system in ids:
        moved = [
            ask(metric, "Sum", 36, FileSystemId=system).sum()
            for metric in ("DataReadOperations", "DataWriteOperations")
        ]
        assert max(moved) > 0
    for system in drawn(IDLE, "mounted"):
        assert ask("ClientConnections", "Maximum", 36, FileSystemId=system).min() > 0
    for system in drawn(IDLE, "listed"):
        assert ask("MetadataOperations", "Sum", 36, FileSystemId=system).sum() > 0


def test_replicas_grow_or_are_named_and_no_client_is_there(fleet, drawn, ask):
    for system in drawn(IDLE, "openzfs-replica"):
        used = ask("UsedStorageCapacity", "Maximum", 34, FileSystemId=system)
        assert used[-1] > used[0]
        assert not ask("DataWriteOperations", "Sum", 36, FileSystemId=system).sum()
    for system in drawn(IDLE, "ontap-replica"):
        assert {one.ontap_type for one in fleet.fsx_volumes if one.file_system_id == system} == {"DP"}


def test_the_dark_ones_have_no_points(drawn, ask):
    for system in drawn(IDLE, "dark"):
        assert not len(ask("DataReadOperations", "Sum", 36, FileSystemId=system))
    for system in drawn(IDLE, "half-dark"):
        assert 20 < len(ask("DataReadOperations", "Sum", 36, FileSystemId=system)) < 37


def test_what_is_far_too_large_was_never_a_sixth_full(drawn, fullest):
    for system in drawn(OVERSIZED):
        assert fullest(system, 35) < 0.16


def test_the_large_ones_are_filled_now_and_then_or_in_a_quarter(systems, drawn, ask, fullest):
    for system in drawn(OVERSIZED, "filled", "ontap-least-filled", "for-a-night", "weekly"):
        assert fullest(system, 35) > 0.25
    for system in drawn(OVERSIZED, "growing"):
        used = ask("UsedStorageCapacity", "Maximum", 8, FileSystemId=system) / systems[system].storage_gib / GIB
        assert used[-1] < 0.16
        assert used[-1] + 90 * (used[-1] - used[1]) / 7 > 0.25


def test_a_pool_holds_more_than_the_ssd_before_it(systems, drawn):
    for system in drawn(OVERSIZED, "ontap-pool"):
        assert systems[system].storage_gib == 1_024
        assert systems[system].pool_gib > 512


def test_ordinary_servers_are_used_and_well_filled(systems, planted, ask, fullest):
    for one in planted["ordinary"]:
        assert ask("DataReadOperations", "Sum", 3, FileSystemId=one).sum() > 0
        assert systems[one].kind == "LUSTRE" or fullest(one, 3) > 0.24
