"""Malformed answers, and misleading page tokens: each fault does what its name says, and repeats with the same seed."""

import json
from itertools import pairwise

import pytest

from slackwater_simulator import ElasticFileSystem, Fleet, Simulator, Volume, instant
from slackwater_simulator.malformed import OF_METRICS, WAYS, malform
from slackwater_simulator.paging import WAYS as PAGING
from slackwater_simulator.wire import Reply

pytestmark = pytest.mark.over_http

NOW = instant("2026-11-16T09:07:00Z")
SYSTEMS = Reply(
    json.dumps({"FileSystems": [{"FileSystemId": "fs-1", "SizeInBytes": {"Value": 5}, "Tags": []}]}).encode(),
    "application/json",
)
VOLUMES = Reply(
    b'<R xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">'
    b"<requestId>r</requestId><volumeSet><item><volumeId>vol-1</volumeId>"
    b"<size>8</size><createTime>2026-09-01T10:20:30Z</createTime></item></volumeSet></R>",
    "text/xml;charset=UTF-8",
)
POINTS = {"Id": "q0", "Timestamps": [0, 300, 600], "Values": [1.0, 2.0, 3.0], "StatusCode": "Complete", "Label": "x"}
METRICS = Reply(
    json.dumps({"MetricDataResults": [POINTS, {**POINTS, "Id": "q1"}]}).encode(), "application/x-amz-json-1.0"
)


@pytest.mark.parametrize("reply", [SYSTEMS, VOLUMES, METRICS], ids=["json", "xml", "metrics"])
@pytest.mark.parametrize("how", [way for way in WAYS if way not in OF_METRICS])
def test_an_answer_is_another_one_and_the_same_for_the_same_seed(reply, how):
    assert malform(reply, how, 1) == malform(reply, how, 1) != reply
    failure = Reply(reply.body, reply.content_type, 400)
    assert malform(failure, how, 1) == failure


@pytest.mark.parametrize("how", OF_METRICS)
def test_points_are_others_and_nothing_else_is(how):
    assert malform(METRICS, how, 1) == malform(METRICS, how, 1) != METRICS
    assert json.loads(malform(SYSTEMS, how, 1).body) == json.loads(SYSTEMS.body)
    assert malform(VOLUMES, how, 1) == VOLUMES


@pytest.mark.parametrize("seed", range(20))
def test_what_a_service_may_leave_out_is_never_left_out(seed):
    assert all(
        "Tags" in one for one in json.loads(malform(SYSTEMS, "missing", seed).body).get("FileSystems", [{"Tags": 0}])
    )
    assert b"<requestId>r</requestId>" in malform(VOLUMES, "missing", seed).body.replace(b"ns0:", b"")


def test_the_clock_moves_by_whole_hours_for_all_metrics_alike():
    moved = json.loads(malform(METRICS, "shifted", 1).body)["MetricDataResults"]
    (by,) = {
        after - before for one in moved for after, before in zip(one["Timestamps"], POINTS["Timestamps"], strict=True)
    }
    assert by
    assert by % 3600 == 0


@pytest.fixture
def simulator():
    volumes = [Volume(id=f"vol-{n:02}", az="ap-northeast-1a", created=NOW - 86_400, size_gib=8) for n in range(25)]
    systems = [ElasticFileSystem(id=f"fs-{n:02}", region="ap-northeast-1", created=NOW - 86_400) for n in range(25)]
    with Simulator(Fleet(now=NOW, volumes=volumes, efs=systems)) as running:
        running.faults.short_pages(items=10, points=1_000)
        yield running


def volumes_of(page):
    return [volume["VolumeId"] for volume in page["Volumes"]]


def walk(simulator, clients, most=12):
    """Return pages of volumes with their tokens, up to the last page or to `most` pages."""
    ec2, token, found = clients(simulator, "ec2"), None, []
    while len(found) < most and (token or not found):
        page = ec2.describe_volumes(MaxResults=1000, **({"NextToken": token} if token else {}))
        token = page.get("NextToken")
        found.append((volumes_of(page), token))
    return found


def test_pages_are_short_where_they_are_to_be(simulator, clients):
    assert [len(items) for items, _ in walk(simulator, clients)] == [10, 10, 5]
    systems = clients(simulator, "efs").describe_file_systems()
    assert (len(systems["FileSystems"]), "NextMarker" in systems) == (10, True)
    simulator.reset()
    assert [len(items) for items, _ in walk(simulator, clients)] == [25]


def test_a_page_comes_again_with_the_token_that_led_to_it(simulator, clients):
    simulator.faults.paging("ec2:DescribeVolumes", "again")
    first, second = walk(simulator, clients, most=2)
    assert first == second


def test_a_page_comes_again_instead_of_another(simulator, clients):
    simulator.faults.paging("ec2:DescribeVolumes", "instead", times=1)
    first, second, third = walk(simulator, clients)
    assert first[0] == second[0]
    assert first[1] != second[1]
    assert len(third[0]) == 5


def test_a_token_leads_to_an_empty_end(simulator, clients):
    simulator.faults.paging("ec2:DescribeVolumes", "nowhere")
    assert [(len(items), bool(token)) for items, token in walk(simulator, clients)] == [(10, True), (0, False)]


@pytest.mark.parametrize(("how", "sizes"), [("endless", [10, 10, 5, 0, 0, 0]), ("circle", [10, 10, 5, 10, 10, 5])])
def test_tokens_without_end_are_others_each_time(simulator, clients, how, sizes):
    simulator.faults.paging("ec2:DescribeVolumes", how)
    found = walk(simulator, clients, most=6)
    assert [len(items) for items, _ in found] == sizes
    assert all(before[1] != after[1] for before, after in pairwise(found))


def test_a_token_is_refused_once(simulator, clients):
    simulator.faults.paging("ec2:DescribeVolumes", "refused", times=1)
    with pytest.raises(Exception, match="InvalidNextToken"):
        walk(simulator, clients)
    assert len(walk(simulator, clients)) == 3


def test_markers_of_efs_lead_astray_too(simulator, clients):
    simulator.faults.paging("elasticfilesystem:DescribeFileSystems", "instead")
    efs = clients(simulator, "efs")
    first = efs.describe_file_systems()
    second = efs.describe_file_systems(Marker=first["NextMarker"])
    assert first["FileSystems"] == second["FileSystems"]
    assert first["NextMarker"] != second["NextMarker"]


def test_a_way_that_is_none_is_refused(simulator):
    with pytest.raises(ValueError, match=", ".join(WAYS)):
        simulator.faults.malformed("*", "sideways")
    with pytest.raises(ValueError, match=", ".join(PAGING)):
        simulator.faults.paging("*", "sideways")
