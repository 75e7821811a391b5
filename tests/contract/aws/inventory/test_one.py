"""Reading one resource alone gives the same findings for it as reading the whole account."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, Final

import pytest

from slackwater.app.audit.scan import judge, kinds_read
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.aws.inventory.inventory import AwsInventory
from slackwater.aws.inventory.one import OneInventory
from slackwater.aws.metrics.cloudwatch import CloudWatchMetrics
from slackwater.engine.evaluation import Enabled, EvaluationQueue
from slackwater.engine.price import price
from slackwater.engine.registry import registry
from slackwater.model import resources as kinds
from slackwater.model.resources import EfsFileSystem, FsxFileSystem, Resource, Target, Volume
from slackwater.model.tracking import TrackedResource
from slackwater.ports.inventory import Inventory
from slackwater_simulator import Attachment, Fleet, Instance, Simulator, TrailEvent, demo_fleet, instant
from slackwater_simulator import Volume as Made

NOW: Final = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)
NARROW: Final = (Volume, EfsFileSystem, FsxFileSystem)
DAY: Final = 86_400
ZONE: Final = "ap-northeast-1a"

type ActorNote = dict[tuple[str, str], tuple[object, ...]]
"""By detector and resource: a finding's id, fingerprint and other fields, or why the check is inconclusive."""


def limits(id_: str) -> Any:
    given = registry()[id_].limits()
    return given.model_copy(update={"tag": "Job"}) if id_ == "efs-abandoned" else given


DETECTORS: Final = {
    id_: Enabled(id_, detector, limits(id_)) for id_, detector in registry().items() if detector.resource in NARROW
}


def judged(there: Any, inventory: Inventory, enabled: Iterable[Enabled]) -> tuple[ActorNote, dict[str, Resource]]:
    """Return the detectors' results on an inventory, and its resources by id."""
    chosen = list(enabled)
    fleet, gaps = inventory.read(there.target, *kinds_read(chosen))
    assert gaps == []
    queue = EvaluationQueue(fleet, chosen, NOW)
    judge(queue, CloudWatchMetrics(there.session, there.target, there.meter), lambda _: None)
    assert not queue.failures
    findings = [price(one, {}) for one in queue.flagged]
    flagged = {
        (one.detector, one.resource.id): (one.id, one.fingerprint, replace(one, evidence=())) for one in findings
    }
    unknown = {(one.detector, one.resource.id): (one.reason,) for one in queue.unknown}
    return flagged | unknown, {one.id: one for kind in NARROW for one in fleet.all(kind)}


def tracked(resource: Resource) -> TrackedResource:
    return TrackedResource(
        arn=resource.arn,
        id=resource.id,
        type=resource.KIND,
        name=resource.name,
        account=resource.target.account,
        region=resource.target.region,
    )


@pytest.fixture(scope="module")
def demo() -> Any:
    with Simulator(demo_fleet()) as sim:
        sim.faults.unthrottle("cloudtrail:LookupEvents")
        meter = CallMeter()
        session = AwsSession(meter=meter, endpoint=Endpoint(sim.url, "AKIADUMMY", "dummy"))
        there = SimpleNamespace(
            sim=sim, session=session, meter=meter, target=Target(sim.fleet.account, sim.fleet.regions[0])
        )
        there.whole, there.resources = judged(there, AwsInventory(session), DETECTORS.values())
        yield there


WITH_EXAMPLE: Final = {
    "ebs-burst-draining",
    "ebs-idle",
    "ebs-on-stopped-instance",
    "ebs-outdated-type",
    "ebs-surplus-iops",
    "ebs-surplus-size",
    "ebs-surplus-throughput",
    "ebs-unattached",
    "efs-abandoned",
    "efs-cold-data",
    "efs-credits-draining",
    "efs-idle",
    "efs-orphaned",
    "efs-serial-small-writes",
    "efs-single-client",
    "efs-single-zone-use",
    "efs-throughput-mismatch",
    "fsx-idle",
    "fsx-oversized",
    "fsx-surplus-iops",
    "fsx-surplus-throughput",
}
"""Detectors with an example in the demo. A new detector may come without one."""


def test_these_detectors_find_something_there(demo: Any) -> None:
    """Without these findings, the tests below would prove nothing."""
    assert {detector for (detector, _), what in demo.whole.items() if len(what) > 1} >= WITH_EXAMPLE


def test_of_every_resource_every_detector_says_the_same_where_it_alone_is_read(demo: Any) -> None:
    for id_, resource in demo.resources.items():
        of_its_kind = [one for one in DETECTORS.values() if isinstance(resource, one.detector.resource)]
        alone, _ = judged(demo, OneInventory(demo.session, tracked(resource)), of_its_kind)
        assert {key: what for key, what in alone.items() if key[1] == id_} == {
            key: what for key, what in demo.whole.items() if key[1] == id_
        }


CALLS: Final = {
    kinds.Volume: "ec2:DescribeVolumes",
    kinds.Instance: "ec2:DescribeInstances",
    kinds.InstanceType: "ec2:DescribeInstanceTypes",
    kinds.DiskMetric: "cloudwatch:ListMetrics",
    kinds.AttachmentEvent: "cloudtrail:LookupEvents",
    kinds.EfsFileSystem: "elasticfilesystem:DescribeFileSystems",
    kinds.EfsReplication: "elasticfilesystem:DescribeReplicationConfigurations",
    kinds.EfsLifecycle: "elasticfilesystem:DescribeLifecycleConfiguration",
    kinds.EfsMountTarget: "elasticfilesystem:DescribeMountTargets",
    kinds.FsxFileSystem: "fsx:DescribeFileSystems",
    kinds.FsxVolume: "fsx:DescribeVolumes",
}
"""The call that reads one resource's records, by kind. A detector makes one call for each kind that it reads."""

MOST_CALLS: Final = 4
"""Clean-up makes these calls for each resource shortly before it deletes or changes it."""

AGAIN: Final = {"ebs-surplus-size": {"ec2:DescribeVolumes": 2}}
"""The detector also reads the other volumes of the instance."""


@pytest.mark.parametrize("detector", DETECTORS)
def test_a_finding_is_found_again_by_its_own_detector_alone_with_so_few_calls(demo: Any, detector: str) -> None:
    found = {id_: what for (of, id_), what in demo.whole.items() if of == detector and len(what) > 1}
    one = DETECTORS[detector].detector
    expected = {CALLS[kind]: 1 for kind in (one.resource, *one.reads, *one.reads_if_allowed)} | AGAIN.get(detector, {})
    for id_, what in found.items():
        demo.sim.reset()
        demo.sim.faults.unthrottle("cloudtrail:LookupEvents")
        inventory = OneInventory(demo.session, tracked(demo.resources[id_]))
        alone, read = judged(demo, inventory, [DETECTORS[detector]])
        assert alone[detector, id_] == what
        # This detector needs the other volumes, to assign the disk metrics to volumes.
        if detector != "ebs-surplus-size":
            assert read.keys() == {id_}
        calls = demo.sim.calls
        # Three rounds, two of which can exceed the data points of one call.
        assert calls.pop("cloudwatch:GetMetricData", 0) <= 5
        assert calls == expected
        assert sum(calls.values()) <= MOST_CALLS


# -- Deleted resources, and resources that cannot be read


@pytest.fixture
def resources(demo: Any) -> dict[str, TrackedResource]:
    """Return one resource of each kind."""
    return {
        kind.KIND: next(tracked(one) for one in demo.resources.values() if isinstance(one, kind)) for kind in NARROW
    }


GONE: Final = {"ebs-volume": "vol-00000000000000000", "efs-file-system": "fs-00000000000000000"}
GONE_FSX: Final = "fs-00000000000000001"


@pytest.mark.parametrize("kind", NARROW, ids=lambda kind: kind.KIND)
def test_what_is_gone_is_not_there_and_no_gap(
    demo: Any, resources: dict[str, TrackedResource], kind: type[Resource]
) -> None:
    gone = replace(resources[kind.KIND], id=GONE.get(kind.KIND, GONE_FSX))
    reads = {
        one for detector in DETECTORS.values() if detector.detector.resource is kind for one in detector.detector.reads
    }
    fleet, gaps = OneInventory(demo.session, gone).read(demo.target, {kind, *reads}, {kinds.AttachmentEvent})
    assert gaps == []
    assert fleet.unreadable == {}
    assert not any(fleet.all(one) for one in (kind, *reads))


@pytest.mark.parametrize(
    ("kind", "action"),
    [
        (Volume, "ec2:DescribeVolumes"),
        (EfsFileSystem, "elasticfilesystem:DescribeFileSystems"),
        (FsxFileSystem, "fsx:DescribeFileSystems"),
    ],
)
def test_what_cannot_be_read_is_a_gap(
    demo: Any, resources: dict[str, TrackedResource], kind: type[Resource], action: str
) -> None:
    demo.sim.faults.deny(action)
    fleet, (gap,) = OneInventory(demo.session, resources[kind.KIND]).read(demo.target, {kind}, set())
    demo.sim.faults.allow(action)
    assert (gap.what, gap.optional) == (action, False)
    assert kind in fleet.unreadable


def test_what_is_read_of_an_instance_fails_with_its_volume(demo: Any, resources: dict[str, TrackedResource]) -> None:
    demo.sim.faults.deny("ec2:DescribeInstances")
    on = next(one for one in demo.resources.values() if isinstance(one, Volume) and one.attachments)
    _, gaps = OneInventory(demo.session, tracked(on)).read(demo.target, {Volume, kinds.Instance}, set())
    demo.sim.faults.allow("ec2:DescribeInstances")
    assert [(gap.what, gap.optional) for gap in gaps] == [("ec2:DescribeInstances", False)]


def test_an_instance_brings_its_volume_along(demo: Any) -> None:
    on = next(one for one in demo.resources.values() if isinstance(one, Volume) and one.attachments)
    fleet, _ = OneInventory(demo.session, tracked(on)).read(demo.target, {kinds.InstanceType}, set())
    assert [one.id for one in fleet.all(kinds.Instance)] == [one.instance_id for one in on.attachments]
    assert fleet.get(kinds.InstanceType, fleet.all(kinds.Instance)[0].instance_type)


def test_there_is_no_narrow_inventory_of_an_instance(demo: Any, resources: dict[str, TrackedResource]) -> None:
    with pytest.raises(ValueError, match="ec2-instance is not read by itself"):
        OneInventory(demo.session, replace(resources["ebs-volume"], type="ec2-instance"))


# -- A volume's own history


def event(days_ago: float, name: str = "DetachVolume", volume: str = "vol-1") -> TrailEvent:
    return TrailEvent(
        name=name,
        at=int(NOW.timestamp() - days_ago * DAY),
        region="ap-northeast-1",
        user="anna",
        resources=(("AWS::EC2::Volume", volume), ("AWS::EC2::Instance", "i-1")),
        request={"volumeId": volume},
        response={},
    )


HISTORIES: Final = {
    "detached last": (event(40, "AttachVolume"), event(9)),
    "attached last": (event(9, "AttachVolume"), event(40)),
    "both in one second": (event(9, "AttachVolume"), event(9)),
    "others' events, and other events of it": (event(5, volume="vol-2"), event(3, "CreateTags"), event(9)),
    "before it was made, as it seems": (event(70), event(75, "AttachVolume")),
    "none": (),
}


def made(volume: str = "vol-1", *on: str) -> Made:
    attached = tuple(Attachment(instance_id=one, since=instant("2026-11-01T00:00:00Z")) for one in on)
    return Made(id=volume, az=ZONE, created=int(NOW.timestamp()) - 60 * DAY, size_gib=10, attachments=attached)


def one(there: Any, id_: str = "vol-1") -> OneInventory:
    arn = f"arn:aws:ec2:ap-northeast-1:123456789012:volume/{id_}"
    resource = TrackedResource(
        arn=arn, id=id_, type="ebs-volume", name=id_, account="123456789012", region="ap-northeast-1"
    )
    return OneInventory(there.session, resource)


@pytest.mark.parametrize("history", HISTORIES)
def test_a_volumes_own_history_says_what_the_accounts_says_of_it(simulate: Callable[..., Any], history: str) -> None:
    there = simulate(Fleet(now=int(NOW.timestamp()), volumes=[made()], events=list(HISTORIES[history])))
    there.sim.faults.unthrottle("cloudtrail:LookupEvents")
    whole, _ = there.read({Volume}, {kinds.AttachmentEvent})
    alone, gaps = one(there).read(there.target, {Volume}, {kinds.AttachmentEvent})
    assert gaps == []
    assert alone.all(kinds.AttachmentEvent) == whole.all(kinds.AttachmentEvent)


def test_a_long_history_is_read_no_further_than_its_newest_attachment(simulate: Callable[..., Any]) -> None:
    tagged = [event(day / 100, "CreateTags") for day in range(60)]
    older = [event(50 + day / 100) for day in range(90)]
    there = simulate(Fleet(now=int(NOW.timestamp()), volumes=[made()], events=[*tagged, event(9), *older]))
    there.sim.faults.unthrottle("cloudtrail:LookupEvents")
    alone, _ = one(there).read(there.target, {Volume}, {kinds.AttachmentEvent})
    (found,) = alone.all(kinds.AttachmentEvent)
    assert (NOW - found.at).days == 9
    assert there.sim.calls["cloudtrail:LookupEvents"] == 2


def test_the_history_of_what_is_attached_is_not_asked_for(simulate: Callable[..., Any]) -> None:
    carrier = Instance(id="i-1", type="t3.micro", az=ZONE, launched=int(NOW.timestamp()) - DAY)
    there = simulate(Fleet(now=int(NOW.timestamp()), volumes=[made("vol-1", "i-1")], instances=[carrier]))
    one(there).read(there.target, {Volume}, {kinds.AttachmentEvent})
    assert "cloudtrail:LookupEvents" not in there.sim.calls


@pytest.mark.usefixtures("impatient")
def test_a_history_that_cannot_be_read_is_an_optional_gap(simulate: Callable[..., Any]) -> None:
    there = simulate(Fleet(now=int(NOW.timestamp()), volumes=[made()], events=[event(9)]))
    there.sim.faults.deny("cloudtrail:LookupEvents")
    alone, (gap,) = one(there).read(there.target, {Volume}, {kinds.AttachmentEvent})
    assert (gap.what, gap.optional) == ("cloudtrail:LookupEvents", True)
    assert kinds.AttachmentEvent in alone.unreadable


def test_the_volumes_beside_it_are_read_only_where_it_counts_which_disk_is_which(simulate: Callable[..., Any]) -> None:
    carriers = [
        Instance(id=id_, type="t3.micro", az=ZONE, launched=int(NOW.timestamp()) - DAY) for id_ in ("i-1", "i-2")
    ]
    volumes = [made("vol-1", "i-1"), made("vol-2", "i-1"), made("vol-3", "i-2"), made("vol-4")]
    there = simulate(Fleet(now=int(NOW.timestamp()), volumes=volumes, instances=carriers))
    alone, _ = one(there).read(there.target, {Volume, kinds.Instance}, set())
    assert [volume.id for volume in alone.all(Volume)] == ["vol-1"]
    beside, _ = one(there).read(there.target, {Volume, kinds.Instance}, {kinds.DiskMetric})
    assert [volume.id for volume in beside.all(Volume)] == ["vol-1", "vol-2"]
    assert [instance.id for instance in beside.all(kinds.Instance)] == ["i-1"]
    unattached, _ = one(there, "vol-4").read(there.target, {Volume, kinds.Instance}, {kinds.DiskMetric})
    assert [volume.id for volume in unattached.all(Volume)] == ["vol-4"]


def test_of_an_fsx_file_system_its_own_volumes_are_read(demo: Any) -> None:
    whole, _ = AwsInventory(demo.session).read(demo.target, {FsxFileSystem, kinds.FsxVolume}, set())
    for system in whole.all(FsxFileSystem):
        alone, _ = OneInventory(demo.session, tracked(system)).read(
            demo.target, {FsxFileSystem, kinds.FsxVolume}, set()
        )
        assert alone.all(FsxFileSystem) == [system]
        assert alone.all(kinds.FsxVolume) == [v for v in whole.all(kinds.FsxVolume) if v.file_system_id == system.id]


def test_compute_optimizers_views_are_not_read(simulate: Callable[..., Any]) -> None:
    there = simulate(Fleet(now=int(NOW.timestamp()), volumes=[made()]))
    _, gaps = one(there).read(there.target, {Volume}, {kinds.IdleRecommendation, kinds.VolumeRecommendation})
    assert gaps == []
    assert there.sim.calls == {"ec2:DescribeVolumes": 1}
