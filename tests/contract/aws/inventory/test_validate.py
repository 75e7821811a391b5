"""A record with wrong types is a broken answer. A valid record is passed on unchanged."""

from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest

from slackwater.aws.inventory.ec2 import tags_of
from slackwater.aws.inventory.inventory import READERS, AwsInventory, Reader
from slackwater.aws.inventory.records import records
from slackwater.aws.inventory.validate import sound
from slackwater.model import resources as kinds
from slackwater.model.resources import Attachment, NfsClients, Target, Volume
from slackwater.ports.errors import BrokenAnswerError
from slackwater_simulator import Fleet, demo_fleet, instant

NOW = instant("2026-11-16T09:07:00Z")
MADE = datetime(2026, 9, 1, tzinfo=UTC)
VOLUME = Volume(
    id="vol-1",
    arn="arn:aws:ec2:us-east-1:123456789012:volume/vol-1",
    target=Target("123456789012", "us-east-1"),
    tags={"Name": ""},
    volume_type="gp3",
    size_gib=8,
    iops=None,
    throughput_mib_s=125,
    state="in-use",
    created_at=MADE,
    availability_zone="us-east-1a",
    multi_attach=False,
    attachments=(Attachment(instance_id="i-1", device="", attached_at=None),),
)


def test_every_record_of_the_demo_is_valid(simulate):
    account = simulate(demo_fleet())
    account.sim.faults.unthrottle("cloudtrail:LookupEvents")
    found, gaps = AwsInventory(account.session).read(account.target, {*READERS}, set())
    assert not gaps
    assert all(sound(one) is one for kind in READERS for one in found.all(kind))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", ""),
        ("id", 7),
        ("volume_type", ""),
        ("volume_type", None),
        ("size_gib", "8"),
        ("size_gib", 8.5),
        ("size_gib", True),
        ("iops", "3000"),
        ("created_at", "2026-09-01"),
        ("created_at", None),
        ("multi_attach", "false"),
        ("tags", {"Name": 7}),
        ("tags", {7: "Name"}),
        ("tags", [("Name", "x")]),
        ("attachments", [VOLUME.attachments[0]]),
        ("attachments", (Attachment(instance_id="", device="", attached_at=None),)),
        ("attachments", (Attachment(instance_id="i-1", device="", attached_at="now"),)),
    ],
)
def test_a_field_of_another_type_is_broken_and_named(field, value):
    assert field in {each.name for each in fields(Volume)}
    with pytest.raises(BrokenAnswerError, match=field):
        sound(replace(VOLUME, **{field: value}))


def test_other_shapes_of_fields_are_looked_into_too():
    metric = kinds.AgentMetric(id="m", namespace="CWAgent", name="n", instance_id="i-1", dimensions=(("a", "b"),))
    assert sound(metric) is metric
    event = kinds.AttachmentEvent(id="vol-1", at=MADE, instance_id=None, event_name="AttachVolume")
    assert sound(event) is event
    clients = NfsClients(clients="*", options=("rw", 7))
    volume = kinds.FsxVolume(
        id="fsvol-1",
        arn="arn",
        target=VOLUME.target,
        tags=None,
        file_system_id="fs-1",
        volume_type="OPENZFS",
        state="AVAILABLE",
        created_at=MADE,
        path="",
    )
    assert sound(volume) is volume
    for wrong in (
        replace(metric, dimensions=(("a", 7),)),
        replace(metric, dimensions=(("a", "b", "c"),)),
        replace(event, event_name="CopyVolume"),
        replace(volume, nfs_export=(clients,)),
    ):
        with pytest.raises(BrokenAnswerError):
            sound(wrong)


def test_an_invalid_record_is_a_gap_and_its_neighbours_are_kept(simulate):
    account = simulate(Fleet(now=NOW))
    made = [VOLUME, replace(VOLUME, id="vol-2", size_gib="8"), replace(VOLUME, id="vol-3")]
    reader = Reader("ec2:DescribeVolumes", lambda *_: records(Volume, made, lambda one: one, id_of=lambda one: one.id))
    found, (gap,) = AwsInventory(account.session, {Volume: reader}).read(account.target, {Volume}, set())
    assert (gap.what, gap.optional) == ("ec2:DescribeVolumes", False)
    assert gap.reason == "vol-2: BrokenAnswerError: ebs-volume vol-2: size_gib is '8'"
    assert [one.id for one in found.all(Volume)] == ["vol-1", "vol-3"]
    assert found.unreadable == {}


def test_tags_lose_neither_key_nor_value():
    assert tags_of([{"Key": "keep", "Value": ""}]) == {"keep": ""}
    assert tags_of(None) == {}
    with pytest.raises(BrokenAnswerError):
        tags_of([{"Key": "", "Value": "x"}])
    with pytest.raises(BrokenAnswerError):
        tags_of([{"Value": "x"}])
    assert tags_of([{"Key": "keep-until"}]) == {"keep-until": ""}
