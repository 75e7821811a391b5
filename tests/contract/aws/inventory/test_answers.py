"""A broken record never affects its neighbours, whichever members of the answer are absent, empty or unknown."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Final

import pytest
from botocore.exceptions import ClientError

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.inventory.inventory import READERS, AwsInventory
from slackwater.aws.metrics.cloudwatch import CloudWatchMetrics
from slackwater.aws.pricing.price_list import PriceList
from slackwater.engine.evaluation import Enabled, EvaluationQueue
from slackwater.engine.plan import MetricCall, MetricQuery, Window
from slackwater.engine.registry import registry
from slackwater.model import resources as kinds
from slackwater.model.detector import CASE_NOW
from slackwater.model.fleet import Fleet, UnreadableRecord
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import ebs_iops, ebs_storage
from slackwater.model.resources import Record, Target
from support.aws_answers import (
    EMPTY,
    MADE,
    UNHEARD_OF,
    AnsweringSession,
    broken,
    item_shape,
    operation,
    placed,
    texts,
    whole,
)
from support.effort import effort

HERE: Final = Target("123456789012", "ap-northeast-1")
NEIGHBOURS: Final = 4
TRIES: Final = effort(600, 40)
ODDS: Final = (0.02, 0.1, 0.4, 1.0)
ARN: Final = "arn:aws:service:ap-northeast-1:123456789012:thing"
TAGS: Final = [{"Key": "Name", "Value": "a name"}]


def efs(n: int) -> kinds.EfsFileSystem:
    return kinds.EfsFileSystem(
        id=f"fs-{n}", arn=ARN, target=HERE, tags={}, state="available", created_at=MADE, throughput_mode="elastic",
        provisioned_mib_s=None, performance_mode="generalPurpose", availability_zone=None, mount_targets=1,
        is_replica=False, stored_bytes={"Standard": 1 << 40, "IA": 0, "Archive": 0},
    )  # fmt: skip


def instance(n: int) -> kinds.Instance:
    return kinds.Instance(
        id=f"i-{n}", arn=ARN, target=HERE, tags={}, instance_type=TYPES[n], state="running", launched_at=MADE,
        stopped_at=None, detailed_monitoring=False, root_device="/dev/xvda",
    )  # fmt: skip


def volume(n: int) -> kinds.Volume:
    return kinds.Volume(
        id=f"vol-{n}", arn=ARN, target=HERE, tags={}, volume_type="gp3", size_gib=8, iops=3000, throughput_mib_s=125,
        state="available", created_at=datetime(2026, 1, 1, tzinfo=UTC), availability_zone="a", multi_attach=False,
    )  # fmt: skip


TYPES: Final = ("t3.micro", "t3.small", "m6i.large", "c6i.large", "t3.medium")
BEFORE: Final = Fleet(
    [
        *map(efs, range(5)),
        *map(instance, range(5)),
        *map(volume, range(5)),
        *(
            kinds.InstanceType(
                id=one, vcpus=2, hypervisor="nitro", network_baseline_gbps=0.1, network_peak_gbps=5.0, network_cards=1,
                ebs_baseline_mbps=None, ebs_maximum_mbps=None, ebs_baseline_iops=None, ebs_maximum_iops=None,
                source="test",
            )
            for one in TYPES
        ),
        kinds.OptimizerEnrollment(id=HERE.account),
    ],
    {kinds.FsxFileSystem: "not read"},
)  # fmt: skip


@dataclass(frozen=True)
class Listing:
    """An operation that is read: where its items are, what identifies them, and which items make no record."""

    kind: type[Record]
    service: str
    name: str
    path: str
    own: Callable[[int], Mapping[str, Any]]
    id_of: Callable[[int], str]
    read_again: bool = False
    """Whether an unreadable record is read again by its id."""
    one_each: bool = False
    """Whether each item is the answer to a separate call."""
    is_of_another: Callable[[Any], bool] = field(default=lambda _: False)
    """Returns whether an item, as it is now, does not belong to the inventory."""

    @property
    def action(self) -> str:
        return READERS[self.kind].action


def event(n: int) -> Mapping[str, Any]:
    parameters = {"requestParameters": {"volumeId": f"vol-{n}", "instanceId": f"i-{n}"}}
    resources = [{"ResourceType": "AWS::EC2::Volume", "ResourceName": f"vol-{n}"}]
    return {
        "EventName": "DetachVolume",
        "EventTime": MADE,
        "CloudTrailEvent": json.dumps(parameters),
        "Resources": resources,
    }


def dimensions(metric: Any) -> Mapping[Any, Any]:
    return {one.get("Name"): one.get("Value") for one in metric.get("Dimensions", ())}


def no_instance(metric: Any) -> bool:
    """Return whether a metric of the CloudWatch agent belongs to no instance of the fleet."""
    named = dimensions(metric)
    return None not in named and None not in named.values() and not str(named.get("InstanceId")).startswith("i-")


LISTINGS: Final = (
    Listing(
        kinds.Volume, "ec2", "DescribeVolumes", "Volumes",
        lambda n: {
            "VolumeId": f"vol-{n}", "State": "in-use", "VolumeType": "gp3", "Tags": TAGS,
            "Attachments": [{"InstanceId": f"i-{n}", "Device": "/dev/sdf", "AttachTime": MADE, "State": "attached"}],
        },
        lambda n: f"vol-{n}", read_again=True,
    ),
    Listing(
        kinds.Instance, "ec2", "DescribeInstances", "Reservations.Instances",
        lambda n: {"InstanceId": f"i-{n}", "State": {"Name": "running", "Code": 16}, "Tags": TAGS},
        lambda n: f"i-{n}", read_again=True,
    ),
    Listing(
        kinds.InstanceType, "ec2", "DescribeInstanceTypes", "InstanceTypes",
        lambda n: {"InstanceType": TYPES[n]},
        lambda n: TYPES[n],
    ),
    Listing(
        kinds.EfsFileSystem, "efs", "DescribeFileSystems", "FileSystems",
        lambda n: {"FileSystemId": f"fs-{n}", "LifeCycleState": "available", "Tags": TAGS,
                   "SizeInBytes": {"Value": 24}},
        lambda n: f"fs-{n}", read_again=True,
    ),
    Listing(
        kinds.EfsReplication, "efs", "DescribeReplicationConfigurations", "Replications",
        lambda n: {"SourceFileSystemId": f"fs-{n}",
                   "Destinations": [{"FileSystemId": f"fs-copy-{n}", "Status": "ENABLED"}]},
        lambda n: f"fs-{n}",
    ),
    Listing(
        kinds.EfsLifecycle, "efs", "DescribeLifecycleConfiguration", "LifecyclePolicies",
        lambda _: {},
        lambda n: f"fs-{n}", one_each=True,
    ),
    Listing(
        kinds.EfsMountTarget, "efs", "DescribeMountTargets", "MountTargets",
        lambda n: {"MountTargetId": f"fsmt-{n}", "FileSystemId": f"fs-{n}", "LifeCycleState": "available"},
        lambda n: f"fsmt-{n}", one_each=True,
    ),
    Listing(
        kinds.FsxFileSystem, "fsx", "DescribeFileSystems", "FileSystems",
        lambda n: {"FileSystemId": f"fs-{n}", "Lifecycle": "AVAILABLE", "FileSystemType": "OPENZFS", "Tags": TAGS},
        lambda n: f"fs-{n}", read_again=True,
    ),
    Listing(
        kinds.FsxVolume, "fsx", "DescribeVolumes", "Volumes",
        lambda n: {
            "VolumeId": f"fsvol-{n}", "FileSystemId": f"fs-{n}", "Lifecycle": "AVAILABLE", "VolumeType": "OPENZFS",
            "Tags": TAGS,
        },
        lambda n: f"fsvol-{n}", read_again=True,
    ),
    Listing(
        kinds.AttachmentEvent, "cloudtrail", "LookupEvents", "Events", event, lambda n: f"vol-{n}",
        # An event from before the volume existed.
        is_of_another=lambda item: item.get("EventTime") == datetime(1970, 1, 1, tzinfo=UTC),
    ),
    Listing(
        kinds.DiskMetric, "cloudwatch", "ListMetrics", "Metrics",
        lambda n: {"Dimensions": [{"Name": "InstanceId", "Value": f"i-{n}"}, {"Name": "path", "Value": "/"}]},
        lambda n: f"disk_used_percent/InstanceId=i-{n}/path=/", is_of_another=no_instance,
    ),
    Listing(
        kinds.AgentMetric, "cloudwatch", "ListMetrics", "Metrics",
        lambda n: {"Dimensions": [{"Name": "InstanceId", "Value": f"i-{n}"}]},
        lambda n: f"ethtool_bw_in_allowance_exceeded/InstanceId=i-{n}", is_of_another=no_instance,
    ),
    Listing(
        kinds.VolumeRecommendation, "compute-optimizer", "GetEBSVolumeRecommendations", "volumeRecommendations",
        lambda n: {"volumeArn": f"{ARN}/vol-{n}"},
        lambda n: f"vol-{n}",
    ),
    Listing(
        kinds.IdleRecommendation, "compute-optimizer", "GetIdleRecommendations", "idleRecommendations",
        lambda n: {"resourceId": f"vol-{n}"},
        lambda n: f"vol-{n}",
    ),
)  # fmt: skip


def test_every_list_of_the_inventory_is_tried() -> None:
    """The exception is Compute Optimizer's enrollment: a single record, without neighbours."""
    assert {one.kind for one in LISTINGS} == {*READERS} - {kinds.OptimizerEnrollment}
    assert {one.action for one in LISTINGS} | {"compute-optimizer:GetEnrollmentStatus"} == {
        r.action for r in READERS.values()
    }


@dataclass
class Tally:
    """The outcomes of an operation's answers."""

    answers: int = 0
    exceptions: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    gaps: int = 0

    def __str__(self) -> str:
        return (
            f"{self.answers:>6} answers, {self.gaps:>6} gaps of one record, {len(self.exceptions)} exceptions, "
            f"{len(self.lost)} neighbours lost, {len(self.silent)} records lost in silence"
        )

    @property
    def problems(self) -> list[str]:
        return [*self.exceptions, *self.lost, *self.silent]


@pytest.fixture(scope="module")
def session() -> AnsweringSession:
    return AnsweringSession()


@pytest.fixture(scope="module")
def tallies() -> Iterator[dict[str, Tally]]:
    """Collect the outcomes by operation, and print them at the end."""
    found: dict[str, Tally] = {}
    yield found
    total = Tally()
    for action, one in found.items():
        print(f"\n{action:<58} {one}", end="")
        for name in ("exceptions", "lost", "silent"):
            getattr(total, name).extend(getattr(one, name))
        total.answers += one.answers
        total.gaps += one.gaps
    print(f"\n{len({action.partition(' ')[0] for action in found}):>3} operations {'':<44} {total}")


class Played:
    """A listing's items, and the records that a reader makes of them."""

    def __init__(self, session: AnsweringSession, listing: Listing) -> None:
        self.session, self.listing = session, listing
        self.model = operation(listing.service, listing.name)
        self.shape = item_shape(self.model, listing.path)
        self.items = [whole(self.shape, listing.own(n)) for n in range(NEIGHBOURS + 1)]
        self.truth, self.broken = self.read(self.items, self.items)
        self.own = [self._own(n) for n in range(NEIGHBOURS + 1)]
        """For each item, the ids of the records that depend on it."""

    def _own(self, number: int) -> set[str]:
        others, _ = self.read([None if n == number else one for n, one in enumerate(self.items)], self.items)
        return {key for key, one in self.truth.items() if others.get(key) != one}

    def read(self, items: list[Any], again: list[Any]) -> tuple[dict[str, Record], list[UnreadableRecord]]:
        """Return the records by id, and the unreadable records. `again` is the answer to a second read."""
        listing, ids = self.listing, {self.listing.id_of(n) for n in range(NEIGHBOURS + 1)}

        def answer(_: Any, params: Mapping[str, Any]) -> Any:
            if listing.one_each:
                some = [items[int(params["FileSystemId"].partition("-")[2])]]
            elif listing.read_again and (wanted := ids & {*texts(params)}):
                some = [one for one in again if wanted & {*texts(one)}]
            else:
                some = items
            return placed(listing.path, [one for one in some if one is not None])

        self.session.answer = answer
        found = [*READERS[listing.kind].read(self.session, HERE, BEFORE)]
        return {one.id: one for one in found if isinstance(one, Record)}, [
            one for one in found if not isinstance(one, Record)
        ]


def tried(played: Played, number: int, tally: Tally) -> None:
    """Break one item of an answer, read the answer, and count the outcome."""
    chance = random.Random(number)
    bad, heals = chance.randrange(NEIGHBOURS + 1), chance.random() < 0.2
    items = [*played.items]
    items[bad] = broken(played.shape, items[bad], chance, chance.choice(ODDS))
    tally.answers += 1
    where = f"{played.listing.name} {number}"
    try:
        found, unreadable = played.read(items, played.items if heals else items)
    except Exception as error:  # noqa: BLE001 -- counts the exceptions
        tally.exceptions.append(f"{where}: {error!r}")
        return
    listing, own = played.listing, played.own[bad]
    tally.gaps += len(unreadable)
    tally.lost += [f"{where}: {key}" for key in played.truth.keys() - own if found.get(key) != played.truth[key]]
    is_there = any(found.get(key) for key in own) or found.keys() - played.truth.keys()
    if not is_there and not unreadable and not listing.is_of_another(items[bad]):
        tally.silent.append(f"{where}: {items[bad]}")
    named = listing.id_of(bad) in {*texts(items[bad])}
    if heals and listing.read_again and named and (unreadable or not own <= found.keys()):
        tally.silent.append(f"{where}: {own} could be read the second time")


@pytest.mark.parametrize("listing", LISTINGS, ids=lambda one: f"{one.kind.__name__}")
def test_a_record_is_read_or_a_gap_and_its_neighbours_are_what_they_are(
    session: AnsweringSession, tallies: dict[str, Tally], listing: Listing
) -> None:
    played = Played(session, listing)
    assert not played.broken
    assert all(listing.id_of(n) in own for n, own in enumerate(played.own))
    tally = tallies[f"{listing.action} {listing.kind.KIND}"] = Tally()
    for number in range(TRIES):
        tried(played, number, tally)
    assert not tally.problems, tally.problems[:5]
    assert tally.gaps or listing.kind is kinds.EfsLifecycle  # every member of this answer is optional


def metric_query(n: int) -> MetricQuery:
    start = 1_794_733_200
    reads = Metric("AWS/EBS", "VolumeReadOps", "Sum", "operations")
    return MetricQuery(reads, (("VolumeId", f"vol-{n}"),), 3_600, Window(start, start + 86_400))


def test_a_metric_is_read_or_failed_and_its_neighbours_are_what_they_are(
    session: AnsweringSession, tallies: dict[str, Tally]
) -> None:
    asked = tuple(metric_query(n) for n in range(NEIGHBOURS + 1))
    call = MetricCall(asked[0].window, asked)
    shape = item_shape(operation("cloudwatch", "GetMetricData"), "MetricDataResults")
    times = [datetime.fromtimestamp(asked[0].window.start_s + n * 3_600, UTC) for n in range(24)]
    own = {"Timestamps": times, "Values": [float(n) for n in range(24)], "StatusCode": "Complete"}
    items = [whole(shape, {"Id": f"q{n}", **own}) for n in range(NEIGHBOURS + 1)]
    tally = tallies["cloudwatch:GetMetricData"] = Tally()
    failed = 0
    for number in range(TRIES):
        chance = random.Random(number)
        bad = chance.randrange(NEIGHBOURS + 1)
        results = [*items]
        results[bad] = broken(shape, items[bad], chance, chance.choice(ODDS))
        session.answer = lambda *_, results=results: {"MetricDataResults": results, "Messages": []}
        tally.answers += 1
        try:
            answer = CloudWatchMetrics(session, HERE, CallMeter()).fetch(call)
        except Exception as error:  # noqa: BLE001 -- counts the exceptions
            tally.exceptions.append(repr(error))
            continue
        others = [one for n, one in enumerate(asked) if n != bad]
        tally.lost += [
            f"{number}: {one}" for one in others if one not in answer.series or len(answer.series[one].present) != 24
        ]
        tally.silent += [f"{number}"] if asked[bad] not in {*answer.series, *answer.failed} else []
        failed += asked[bad] in answer.failed
    tally.gaps = failed
    assert not tally.problems, tally.problems[:5]
    assert failed


STORAGE, IOPS = ebs_storage("gp3"), ebs_iops("gp3")
RECORD: Final = {
    "product": {
        "productFamily": "Storage", "sku": "SKU1",
        "attributes": {"volumeApiName": "gp3", "usagetype": "APN1-EBS:VolumeUsage.gp3", "regionCode": HERE.region},
    },
    "terms": {
        "OnDemand": {
            "SKU1.A": {
                "effectiveDate": "2026-09-01T00:00:00Z",
                "priceDimensions": {"SKU1.A.B": {"unit": "GB-Mo", "beginRange": "0", "pricePerUnit": {"USD": "0.096"}}},
            }
        }
    },
}  # fmt: skip


def broken_json(value: Any, chance: random.Random, odds: float) -> Any:
    """Return JSON in which random members are missing, empty or unknown. No shape describes this JSON."""
    if isinstance(value, dict):
        kept = {key: broken_json(one, chance, odds) for key, one in value.items() if chance.random() >= odds / 2}
        return {
            key: chance.choice(("", None, UNHEARD_OF, {}, [])) if chance.random() < odds / 2 else one
            for key, one in kept.items()
        }
    return value


def test_a_price_is_read_or_a_gap_and_its_neighbours_are_what_they_are(
    session: AnsweringSession, tallies: dict[str, Tally]
) -> None:
    tally = tallies["pricing:GetProducts"] = Tally()
    iops = json.loads(json.dumps(RECORD))
    iops["product"] |= {"productFamily": "System Operation"}
    iops["product"]["attributes"]["usagetype"] = "APN1-EBS:VolumeP-IOPS.gp3"
    iops["terms"]["OnDemand"]["SKU1.A"]["priceDimensions"]["SKU1.A.B"]["unit"] = "IOPS-Mo"
    for number in range(TRIES):
        chance = random.Random(number)
        bad = chance.choice((json.dumps(broken_json(RECORD, chance, chance.choice(ODDS))), "", UNHEARD_OF, "[]", "7"))

        def answer(_: Any, params: Mapping[str, Any], bad: str = bad) -> Any:
            return {
                "FormatVersion": "aws_v1",
                "PriceList": [bad if "Storage" in {*texts(params)} else json.dumps(iops)],
            }

        session.answer = answer
        tally.answers += 1
        try:
            prices = PriceList(session, None, date(2026, 11, 23))
            table, gaps = prices.of([STORAGE, IOPS], HERE.region)
        except Exception as error:  # noqa: BLE001 -- counts the exceptions
            tally.exceptions.append(f"{bad}: {error!r}")
            continue
        tally.gaps += len(gaps)
        tally.lost += [bad] if IOPS not in table or not table[IOPS].source.startswith("AWS") else []
        tally.silent += [bad] if STORAGE not in table and not any(STORAGE.id in gap.reason for gap in gaps) else []
    assert not tally.problems, tally.problems[:5]
    assert 0 < tally.gaps < TRIES


@pytest.mark.parametrize("asked", [1, 2], ids=["healed", "still broken"])
def test_a_volume_in_use_on_nothing_is_read_again_by_its_id(session: AnsweringSession, asked: int) -> None:
    """EC2 is eventually consistent: a volume's attachment can appear later than its state."""
    listing = LISTINGS[0]
    shape = item_shape(operation("ec2", "DescribeVolumes"), "Volumes")
    good = [whole(shape, listing.own(n)) for n in range(2)]
    unsettled = {**good[0], "Attachments": []}
    filters = []

    def answer(_: Any, params: Mapping[str, Any]) -> Any:
        filters.append(params.get("Filters"))
        again = unsettled if len(filters) <= asked else good[0]
        return {"Volumes": [again, good[1]] if len(filters) == 1 else [again]}

    session.answer = answer
    found, gaps = AwsInventory(session).read(HERE, {kinds.Volume}, set())
    assert filters == [None, [{"Name": "volume-id", "Values": ["vol-0"]}]]
    if asked == 1:
        assert [one.attachments[0].instance_id for one in found.all(kinds.Volume)] == ["i-1", "i-0"]
        assert gaps == []
    else:
        assert [one.id for one in found.all(kinds.Volume)] == ["vol-1"]
        assert [(gap.what, gap.reason, gap.optional) for gap in gaps] == [
            ("ec2:DescribeVolumes", "vol-0: BrokenAnswerError: vol-0 is in use, and on nothing", False)
        ]


def test_a_volume_that_a_filter_does_not_find_again_is_a_gap(session: AnsweringSession) -> None:
    """EC2 is eventually consistent: an empty result of a filter does not prove that the volume is deleted."""
    listing = LISTINGS[0]
    good = whole(item_shape(operation("ec2", "DescribeVolumes"), "Volumes"), listing.own(0))
    session.answer = lambda _, params: {"Volumes": [] if params.get("Filters") else [{**good, "Attachments": []}]}
    found, gaps = AwsInventory(session).read(HERE, {kinds.Volume}, set())
    assert found.all(kinds.Volume) == []
    assert [gap.reason for gap in gaps] == ["vol-0: BrokenAnswerError: vol-0 is in use, and on nothing"]


def test_a_file_system_that_does_not_exist_when_it_is_read_again_is_no_gap(session: AnsweringSession) -> None:
    """FSx answers explicitly that an id does not exist."""
    shape = item_shape(operation("fsx", "DescribeFileSystems"), "FileSystems")

    def answer(_: Any, params: Mapping[str, Any]) -> Any:
        if params.get("FileSystemIds"):
            raise ClientError({"Error": {"Code": "FileSystemNotFound", "Message": "no"}}, "DescribeFileSystems")
        return {"FileSystems": [{**whole(shape, {"FileSystemId": "fs-0"}), "CreationTime": EMPTY}]}

    session.answer = answer
    found, gaps = AwsInventory(session).read(HERE, {kinds.FsxFileSystem}, set())
    assert (found.all(kinds.FsxFileSystem), gaps) == ([], [])


def test_many_records_with_one_reason_are_one_gap(session: AnsweringSession) -> None:
    listing = LISTINGS[0]
    shape = item_shape(operation("ec2", "DescribeVolumes"), "Volumes")
    items = [{**whole(shape, listing.own(n)), "Size": EMPTY} for n in range(9)]
    session.answer = lambda *_: {"Volumes": items}
    _, (gap,) = AwsInventory(session).read(HERE, {kinds.Volume}, set())
    assert gap.reason == "vol-0, vol-1, vol-2, vol-3, vol-4 and 4 more: BrokenAnswerError: Size is ''"


def test_types_are_asked_for_by_a_filter_and_one_that_the_region_lacks_costs_no_other(
    session: AnsweringSession,
) -> None:
    shape = item_shape(operation("ec2", "DescribeInstanceTypes"), "InstanceTypes")
    known = [whole(shape, {"InstanceType": one}) for one in TYPES[1:]]
    asked = []
    session.answer = lambda _, params: asked.append(params) or {"InstanceTypes": known}
    found = [*READERS[kinds.InstanceType].read(session, HERE, BEFORE)]
    assert asked == [{"Filters": [{"Name": "instance-type", "Values": sorted(TYPES)}]}]
    by_ec2 = {
        one.id for one in found if isinstance(one, kinds.InstanceType) and one.source == "ec2:DescribeInstanceTypes"
    }
    assert by_ec2 == {*TYPES[1:]}
    assert next(one.source for one in found if one.id == TYPES[0]).startswith("snapshot")


@pytest.mark.parametrize(
    ("size", "stored"),
    [
        ({"Value": 9}, (9, 0, 0)),
        ({"Value": 9, "ValueInStandard": 5, "ValueInIA": 4}, (5, 4, 0)),
        ({"Value": 9, "ValueInIA": 4, "ValueInArchive": 2}, (3, 4, 2)),
        ({"Value": 9, "ValueInStandard": 9}, (9, 0, 0)),
        ({"Value": 9, "ValueInStandard": 2, "ValueInArchive": 3}, (2, 4, 3)),
        ({"Value": 9, "ValueInStandard": 5}, None),
        ({"Value": 9, "ValueInIA": 5}, None),
        ({"ValueInStandard": 5}, None),
    ],
)
def test_bytes_of_a_class_that_efs_does_not_name_are_what_the_total_leaves(
    session: AnsweringSession, size: Any, stored: tuple[int, int, int] | None
) -> None:
    shape = item_shape(operation("efs", "DescribeFileSystems"), "FileSystems")
    item = {**whole(shape, {"FileSystemId": "fs-1", "LifeCycleState": "available"}), "SizeInBytes": size}
    session.answer = lambda *_: {"FileSystems": [item]}
    (found,) = READERS[kinds.EfsFileSystem].read(session, HERE, BEFORE)
    if stored is None:
        assert isinstance(found, UnreadableRecord)
    else:
        assert isinstance(found, kinds.EfsFileSystem)
        assert found.stored_bytes == dict(zip(("Standard", "IA", "Archive"), stored, strict=True))


def test_an_efs_answer_without_tags_is_protected_and_not_bare(session: AnsweringSession) -> None:
    shape = item_shape(operation("efs", "DescribeFileSystems"), "FileSystems")
    item = whole(shape, {"FileSystemId": "fs-1", "LifeCycleState": "available"})
    del item["Tags"]
    session.answer = lambda *_: {"FileSystems": [item]}
    (found,) = READERS[kinds.EfsFileSystem].read(session, HERE, BEFORE)
    assert isinstance(found, kinds.EfsFileSystem)
    assert found.tags is None


JUDGED = {kinds.Volume, kinds.Instance, kinds.InstanceType, kinds.EfsFileSystem, kinds.FsxFileSystem, kinds.FsxVolume}


@pytest.mark.parametrize("listing", [one for one in LISTINGS if one.kind in JUDGED], ids=lambda one: one.kind.__name__)
def test_detectors_make_no_mistake_about_records_with_members_absent_or_unheard_of(
    session: AnsweringSession, listing: Listing
) -> None:
    played = Played(session, listing)
    enabled = [Enabled(id_, one, one.limits()) for id_, one in registry().items()]
    for number in range(effort(60, 6)):
        chance = random.Random(number)
        items = [broken(played.shape, one, chance, chance.choice(ODDS)) for one in played.items]
        found, unreadable = played.read(items, items)
        before = {(type(one), one.id): one for kind in READERS for one in BEFORE.all(kind)}
        records = before | {(type(one), one.id): one for one in found.values()}
        queue = EvaluationQueue(Fleet(records.values(), broken=unreadable), enabled, CASE_NOW)
        while call := queue.next_call(idle=True):
            queue.receive(
                {one: Series.of(one.window.start_s, one.period_s, [5.0] * one.points) for one in call.queries}, {}
            )
        assert not queue.failures, (number, queue.failures)
