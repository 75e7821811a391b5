"""A recording contains what a scan needs, and nothing that identifies anyone."""

import errno
import gzip
import io
import json
import os
import stat
from dataclasses import fields, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from math import nan
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from slackwater.app.policy.file import parse_policy
from slackwater.app.recording.file import KINDS, RecordingError, RecordingWriter, lines
from slackwater.app.recording.pseudonyms import KEPT, PUBLIC_KEYS, Pseudonyms
from slackwater.app.recording.record import Recorder
from slackwater.app.recording.replay import (
    NOT_RECORDED,
    PolicyPrices,
    RecordedInventory,
    RecordedMetrics,
    RecordedPrices,
    Recording,
)
from slackwater.app.recording.show import remaining
from slackwater.engine.exempt import tags_exempt
from slackwater.engine.plan import MetricCall, MetricQuery, Window
from slackwater.engine.registry import registry
from slackwater.model import resources as kinds
from slackwater.model.findings import Gap
from slackwater.model.fleet import Fleet, UnreadableRecord
from slackwater.model.metrics import Metric, Series
from slackwater.model.money import Price, PriceItem
from slackwater.model.ownership import managed_by
from slackwater.model.policy import Policy
from slackwater.model.resources import Record, Target, Volume
from slackwater.ports.metrics import MetricAnswer
from support.effort import effort

NOW = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)
FIXTURES = Path(__file__).parents[3] / "fixtures" / "recordings"
HERE = Target("481516234299", "ap-northeast-1")
POLICY = """
[exempt]
keep_tags = ["HandsOff"]
keep_until_tags = ["Spare-Until"]
[owners]
tags = ["cost-centre"]
managed_tags = ["Made-By=our-terraform"]
[detectors.efs-abandoned]
tag = "Pipeline=nightly-encode"
"""
RULES = parse_policy(POLICY, "a test", registry())
SECRET = st.text("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789 /:.-_é", min_size=6, max_size=40).map(
    lambda text: f"qz{text}qz"
)
ONE_WORD = st.text("abcdefghijklmnopqrstuvwxyz0123456789.-_", min_size=2, max_size=20).map(lambda text: f"qz{text}qz")
READS = Metric("AWS/EBS", "VolumeReadOps", "Sum", "operations")
STORAGE, IOPS = PriceItem("ebs.gp3.storage", "GiB-month"), PriceItem("ebs.gp3.iops", "IOPS-month")


def foundations(wanted: Any) -> set[type[Record]]:
    return set(wanted)


def written(file: Path) -> bytes:
    with gzip.open(file) as opened:
        return opened.read()


def recorder(writer: RecordingWriter, policy: Policy = RULES) -> Recorder:
    return Recorder(writer, policy, NOW, date(2026, 11, 16), foundations)


TAGS = st.dictionaries(SECRET, SECRET, max_size=4) | st.none()
SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "integer": st.integers(0, 1000),
    "number": st.floats(0, 1000),
}
FILLED: dict[Any, st.SearchStrategy[Any]] = {}


def filled_string(kind: type[Record], name: str, spec: dict[str, Any]) -> st.SearchStrategy[str]:
    if spec.get("format") == "date-time":
        return st.just("2026-09-01T00:00:00Z")
    if spec.get("pattern"):
        return st.just("12.50")
    if name in ("region", "partition"):
        return st.just("ap-northeast-1")
    if name in KEPT or kind is kinds.InstanceType:
        return st.sampled_from(["gp3", "in-use", "t3.micro"]) | ONE_WORD | SECRET
    return SECRET


def filled(kind: type[Record]) -> st.SearchStrategy[Any]:
    """Return a strategy for records of a kind. Each string that AWS does not define contains a secret."""
    schema = TypeAdapter(kind).json_schema()

    def of(name: str, spec: dict[str, Any]) -> st.SearchStrategy[Any]:
        if "$ref" in spec:
            return of(name, schema["$defs"][spec["$ref"].rpartition("/")[2]])
        if "anyOf" in spec:
            return st.one_of(*(of(name, one) for one in spec["anyOf"]))
        if "enum" in spec or "const" in spec:
            return st.sampled_from(spec.get("enum") or [spec["const"]])
        match spec.get("type"):
            case "object" if "properties" in spec:
                return st.fixed_dictionaries({key: of(key, one) for key, one in spec["properties"].items()})
            case "object":
                return st.just({"Standard": 7, "IA": 7, "Archive": 7}) if name == "stored_bytes" else TAGS
            case "array" if "prefixItems" in spec:
                return st.tuples(*(of(name, one) for one in spec["prefixItems"])).map(list)
            case "array":
                return st.lists(of(name, spec["items"]), max_size=3)
            case "string":
                return filled_string(kind, name, spec)
            case simple:
                return SIMPLE.get(simple, st.none())

    return of("", schema).map(TypeAdapter(kind).validate_python)


def secrets_of(value: Any) -> set[str]:
    """Return the secrets in a record: all strings of six or more characters that begin with "qz"."""
    if isinstance(value, str):
        return {value} if len(value) >= 6 and value.startswith("qz") else set()
    if isinstance(value, dict):
        return set().union(*(secrets_of(key) | secrets_of(one) for key, one in value.items()))
    if isinstance(value, list):
        return set().union(*map(secrets_of, value))
    return set()


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.KIND)
@settings(max_examples=effort(200, 15))
@given(st.data())
def test_no_string_that_was_read_is_in_the_decompressed_bytes(
    tmp_path_factory: pytest.TempPathFactory, kind: type[Record], data: st.DataObject
) -> None:
    record, other = data.draw(filled(kind)), data.draw(SECRET)
    file = tmp_path_factory.mktemp("secrets") / "a.recording"
    query = MetricQuery(READS, (("InstanceId", other), (other, "x")), 3600, Window(0, 3600))
    with RecordingWriter(file) as writer:
        one = recorder(writer)
        one.fleet(HERE, Fleet([record]))
        broken = UnreadableRecord(kind, other, other, (other,))
        one.failures(
            HERE, Fleet([], {kind: f"AccessDenied: {other}"}, broken=[broken]), [Gap(*("a", "b", "c:D"), f"X {other}")]
        )
        one.answer(HERE, MetricAnswer({}, {query: f"InternalError: {other}"}))
    raw = written(file).decode()
    planted = {other, HERE.account} | secrets_of(TypeAdapter(kind).dump_python(record, mode="json"))
    assert [text for text in planted if text in raw or json.dumps(text)[1:-1] in raw] == []
    assert KINDS[record.KIND] is kind
    assert any(line.get("record") == kind.KIND for line in lines(file))


def test_tags_that_the_policy_names_have_their_own_pseudonyms() -> None:
    names = Pseudonyms(RULES, NOW)
    tags = names.tags(
        {
            "HandsOff": "x",
            "handsoff": "y",
            "Pipeline": "nightly-encode",
            "Made-By": "our-terraform",
            "cost-centre": "finance-4711",
        }
    )
    assert tags is not None
    assert len(tags) == 5
    assert "policy-key-1" in tags
    assert not {"HandsOff", "Pipeline", "nightly-encode", "finance-4711"} & {*tags, *tags.values()}
    assert names.tag_named("Pipeline=nightly-encode") in {f"{key}={value}" for key, value in tags.items()}
    assert (
        names.tag_named("Pipeline=by-hand").partition("=")[0]
        == names.tag_named("Pipeline=nightly-encode").partition("=")[0]
    )


@pytest.mark.parametrize(
    "tags",
    [
        {"keep": "yes"}, {"HANDSOFF": ""}, {"handsoff": ""}, {"Spare-Until": "2026-12-31"},
        {"spare-until": "2020-01-01"}, {"Spare-Until": "for ever"}, {"keep-until": "2030-01-01T00:00:00Z"},
        {"HandsOf": "x"}, None, {},
    ],
)  # fmt: skip
def test_what_keeps_a_resource_keeps_it_in_the_recording(tmp_path: Path, tags: dict[str, str] | None) -> None:
    volume = replace(VOLUME, tags=tags)
    again = replayed(tmp_path, volume)
    (found,) = again.targets[next(iter(again.targets))].records
    assert isinstance(found, Volume)
    rules = again.policy_as_recorded(registry())
    assert tags_exempt(found.tags, rules.exempt, NOW) == tags_exempt(tags, RULES.exempt, NOW)


@pytest.mark.parametrize(
    "tags",
    [
        {"aws:cloudformation:stack-name": "shop-production"}, {"kubernetes.io/cluster/prod-eu": "owned"},
        {"CreatedBy": "EC2 Image Builder"}, {"CreatedBy": "somebody"}, {"Made-By": "our-terraform"},
        {"made-by": "OUR-TERRAFORM"}, {"Made-By": "hand"}, {"eks:whatever-comes": "x"},
        {"drs.amazonaws.com-new-thing": ""}, {"x.csi.aws.com/y": ""}, {},
    ],
)  # fmt: skip
def test_what_is_managed_is_managed_in_the_recording(tmp_path: Path, tags: dict[str, str]) -> None:
    again = replayed(tmp_path, replace(VOLUME, tags=tags))
    (found,) = again.targets[next(iter(again.targets))].records
    assert isinstance(found, Volume)
    named = again.policy_as_recorded(registry()).owners.managed_tags
    assert bool(managed_by(found.tags, named)) == bool(managed_by(tags, RULES.owners.managed_tags))
    assert not {"shop-production", "prod-eu", "our-terraform"} & set(
        "/".join((*(found.tags or {}), *(found.tags or {}).values())).split("/")
    )


VOLUME = Volume(
    id="vol-0123456789abcdef0", arn="arn:aws:ec2:ap-northeast-1:481516234299:volume/vol-0123456789abcdef0", target=HERE,
    tags={}, volume_type="gp3", size_gib=8, iops=3000, throughput_mib_s=125, state="in-use", created_at=NOW,
    multi_attach=False, availability_zone="ap-northeast-1a",
    attachments=(kinds.Attachment(instance_id="i-0123456789abcdef0", device="/dev/sdf", attached_at=None),),
)  # fmt: skip


def replayed(folder: Path, *records: Record) -> Recording:
    with RecordingWriter(folder / "a.recording") as writer:
        one = recorder(writer)
        one.kinds(HERE, {Volume})
        one.fleet(HERE, Fleet(records))
    return Recording.read(folder / "a.recording")


def test_a_record_comes_back_but_for_its_names(tmp_path: Path) -> None:
    again = replayed(tmp_path, VOLUME)
    (target,) = again.targets
    (found,) = again.targets[target].records
    assert isinstance(found, Volume)
    assert target.account != HERE.account
    assert found.target == target
    assert found.arn == f"arn:aws:ec2:ap-northeast-1:{target.account}:volume/{found.id}"
    assert found.id.startswith("vol-")
    assert found.attachments[0].instance_id.startswith("i-")
    same = {field.name for field in fields(Volume)} - {"id", "arn", "target", "attachments"}
    assert {name: getattr(found, name) for name in same} == {name: getattr(VOLUME, name) for name in same}
    assert found.attachments[0].device == "/dev/sdf"


def test_two_recordings_have_other_placeholders(tmp_path: Path) -> None:
    ids = set()
    for name in "ab":
        (tmp_path / name).mkdir()
        again = replayed(tmp_path / name, VOLUME)
        ids |= {record.id for of in again.targets.values() for record in of.records} | {
            target.account for target in again.targets
        }
    assert len(ids) == 4


def test_a_new_field_is_never_kept_by_accident() -> None:
    """KEPT names only fields that exist. Every other string is replaced."""
    texts = {
        field.name
        for kind in vars(kinds).values()
        if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__")
        for field in fields(kind)
    }
    assert texts >= KEPT
    assert not {"id", "arn", "tags", "path", "clients", "manager", "dimensions", "account"} & KEPT
    assert {"Name", "keep", "keep-until", "Owner"} <= PUBLIC_KEYS


def test_the_file_is_its_owners_alone_and_there_only_when_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.recording"
    with pytest.raises(TypeError), RecordingWriter(file) as writer:
        writer.write({"odd": object()})
    assert [*tmp_path.iterdir()] == []
    with RecordingWriter(file) as writer:
        recorder(writer)
        assert not file.exists()
        assert {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()} == {0o600}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [*tmp_path.iterdir()] == [file]


class FullDisk(io.FileIO):
    """Accepts some bytes and then fails, as a full disk does."""

    left_bytes = 0

    def write(self, data: Any) -> int:
        """Raise OSError for data that does not fit."""
        if len(data) > self.left_bytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.left_bytes -= len(data)
        return super().write(data) or 0


def fill(file: Path, lines: int, error: type[Exception] | None = None) -> None:
    """Record lines that hardly compress. Then raise `error`, if given."""
    with RecordingWriter(file) as writer:
        for n in range(lines):
            writer.write({"random": Random(n).randbytes(48).hex()})
        if error:
            raise error


@pytest.mark.parametrize("left_bytes", [0, 5_000, 200_000])
def test_a_full_disk_leaves_no_draft_and_says_which_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left_bytes: int
) -> None:
    monkeypatch.setattr(FullDisk, "left_bytes", left_bytes)
    monkeypatch.setattr("os.fdopen", lambda fd, mode: io.BufferedWriter(FullDisk(fd, mode)))
    with pytest.raises(RecordingError, match=r"a\.recording cannot be written: No space left"):
        fill(tmp_path / "a.recording", 4_000)
    assert [*tmp_path.iterdir()] == []


def test_an_error_of_the_scan_is_not_hidden_by_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fdopen", lambda fd, mode: io.BufferedWriter(FullDisk(fd, mode)))
    with pytest.raises(ZeroDivisionError):
        fill(tmp_path / "a.recording", 1, ZeroDivisionError)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("how", ["cut", "other schema", "no gzip", "half", "more", "unknown line"])
def test_a_file_that_is_no_recording_is_refused_with_what_to_do(tmp_path: Path, how: str) -> None:
    replayed(tmp_path, VOLUME)
    file = tmp_path / "a.recording"
    whole = written(file).splitlines(keepends=True)
    match how:
        case "cut":
            file.write_bytes(gzip.compress(b"".join(whole[:-1])))
        case "other schema":
            file.write_bytes(gzip.compress(whole[0].replace(b"recording/1", b"recording/9") + b"".join(whole[1:])))
        case "no gzip":
            file.write_bytes(b"".join(whole))
        case "half":
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        case "more":
            file.write_bytes(gzip.compress(b"".join([*whole, whole[1]])))
        case _:
            last = json.dumps({"end": len(whole) + 1}).encode()
            odd = json.dumps({"target": json.loads(whole[2])["target"], "weather": "fair"}).encode()
            file.write_bytes(gzip.compress(b"".join([*whole[:-1], odd + b"\n", last + b"\n"])))
    with pytest.raises(RecordingError, match=r"a\.recording"):
        Recording.read(file)


def query(start: int, end: int, dimension: str = "vol-1") -> MetricQuery:
    return MetricQuery(READS, (("VolumeId", dimension),), 3600, Window(start * 3600, end * 3600))


def test_series_are_replayed_exactly_and_what_was_not_recorded_is_reported(tmp_path: Path) -> None:
    values = [1.0, nan, 0.1 + 0.2, 1e300, 0.0]
    early, late = query(0, 5), query(3, 7)
    with RecordingWriter(tmp_path / "a.recording") as writer:
        one = recorder(writer)
        one.answer(HERE, MetricAnswer({early: Series.of(0, 3600, values)}, {}))
        one.answer(HERE, MetricAnswer({late: Series.of(3 * 3600, 3600, [1e300, 0.0, 5.0, 6.0])}, {}))
        one.answer(HERE, MetricAnswer({}, {query(0, 5, "vol-2"): "InternalError: of vol-2"}))
        names = one._names
        first, second = names.id("vol-1"), names.id("vol-2")
    (of,) = Recording.read(tmp_path / "a.recording").targets.values()
    asked = [query(0, 5, first), query(1, 7, first), query(0, 8, first), query(0, 5, second), query(0, 5, "vol-9")]
    answer = RecordedMetrics(of).fetch(MetricCall(asked[0].window, tuple(asked)))
    assert [repr(one) for one in answer.series[asked[0]].values] == [repr(one) for one in values]
    assert answer.series[asked[1]].optional() == [None, 0.1 + 0.2, 1e300, 0.0, 5.0, 6.0]
    assert answer.failed == {asked[2]: NOT_RECORDED, asked[3]: "InternalError: (text left out)", asked[4]: NOT_RECORDED}


def test_kinds_that_were_not_read_are_gaps_and_unreadable(tmp_path: Path) -> None:
    (of,) = replayed(tmp_path, VOLUME).targets.values()
    inventory = RecordedInventory(of, foundations, lambda kind: f"x:{kind.__name__}")
    fleet, gaps = inventory.read(HERE, {Volume, kinds.Instance}, {kinds.DiskMetric})
    assert len(fleet.all(Volume)) == 1
    assert {*fleet.unreadable} == {kinds.Instance, kinds.DiskMetric}
    assert [(gap.what, gap.reason, gap.optional) for gap in gaps] == [
        ("x:DiskMetric", NOT_RECORDED, True),
        ("x:Instance", NOT_RECORDED, False),
    ]


def test_prices_are_list_prices_to_which_another_policy_may_give_another_discount(tmp_path: Path) -> None:
    price = Price(Decimal("0.10"), "AWS Price List, SKU A", date(2026, 11, 16))
    with RecordingWriter(tmp_path / "a.recording") as writer:
        recorder(writer).priced("us-east-1", [STORAGE, IOPS], {STORAGE: price}, [])
    recorded = RecordedPrices(Recording.read(tmp_path / "a.recording"))
    assert recorded.of([STORAGE, IOPS], "us-east-1") == ({STORAGE: price}, [])
    _, (gap,) = recorded.of([PriceItem("new.item", "x")], "us-east-1")
    assert gap.reason == "not recorded: new.item"
    rules = parse_policy(
        '[prices]\ndiscount_percent = 10\n[prices.overrides.us-east-1]\n"ebs.gp3.iops" = 0.004\n', "p", registry()
    )
    table, gaps = PolicyPrices(recorded, rules, date(2026, 11, 16)).of([STORAGE, IOPS], "us-east-1")
    assert (table[STORAGE].usd, table[IOPS].usd, gaps) == (Decimal("0.0900"), Decimal("0.004"), [])
    assert table[IOPS].source == "policy"


def test_what_remains_is_listed_to_the_last_string(tmp_path: Path) -> None:
    replayed(tmp_path, replace(VOLUME, tags={"Name": "the-shop-database"}))
    found = remaining(tmp_path / "a.recording")
    assert {"gp3", "in-use", "/dev/sdf", "ap-northeast-1a", "Name", "tags"} <= {*found.words}
    assert any(text.startswith("vol-") for text in found.placeholders)
    assert not any("shop" in text for text in (*found.words, *found.placeholders))
    every = {text for line in lines(tmp_path / "a.recording") for text in json.dumps(line).split('"')[1::2]}
    assert every <= {*found.words, *found.placeholders}


@pytest.mark.parametrize("name", ["payroll-prod-2", "netflix-eu", "backup-vault-4711", "i-love-it", "acme-0a1b2c3d"])
def test_only_an_id_of_aws_keeps_its_kind(name: str) -> None:
    names = Pseudonyms(RULES, NOW)
    assert names.id(name).startswith("x-")
    assert names.id("vol-0a1b2c3d4e5f60718").startswith("vol-")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        *((one, True) for one in ("gp3", "in-use", "m5.large", "generalPurpose", "SINGLE_AZ_HA_2", "CWAgent",
                                  "snapshot 2026-11-21")),
        *((one, True) for one in ("ap-northeast-1a", "us-west-2-lax-1a", "us-east-1-wl1-bos-wlz-1", "")),
        *((one, False) for one in ("payroll", "Payroll", "gp3-payroll", "acme-prod-1a", "481516234299",
                                   "snapshot of 2026")),
    ],
)  # fmt: skip
def test_a_word_stays_if_aws_or_slackwater_uses_it(text: str, kept: bool) -> None:
    assert (Pseudonyms(RULES, NOW).word(text) == text) is kept


def test_every_word_of_the_recordings_in_the_tests_stays() -> None:
    """Words that botocore's models do not list would be missing from a replay."""
    lost = set[str]()
    names = Pseudonyms(RULES, NOW)
    for file in FIXTURES.glob("*.recording"):
        for line in lines(file):
            if "record" in line and isinstance(value := line["value"], dict):
                fields_of_words = value if line["record"] == kinds.InstanceType.KIND else KEPT & {*value}
                lost |= {
                    value[key]
                    for key in fields_of_words
                    if isinstance(value[key], str) and names.word(value[key]) != value[key]
                }
    assert lost == set()


@pytest.mark.parametrize("device", ["/dev/sdpayroll", "sdacme1", "nvmeacme", "/dev/sd481516234299"])
def test_a_device_that_somebody_named_is_a_placeholder(device: str) -> None:
    again = Pseudonyms(RULES, NOW).record(replace(VOLUME, attachments=(replace(VOLUME.attachments[0], device=device),)))
    assert again.attachments[0].device.startswith("text-")


def test_an_accounts_number_is_replaced_in_any_text(tmp_path: Path) -> None:
    file = tmp_path / "a.recording"
    with RecordingWriter(file) as writer:
        one = recorder(writer)
        one.fleet(
            HERE,
            Fleet([replace(VOLUME, arn=f"arn:aws:ec2:{HERE.account}:{HERE.account}:volume/vol-0123456789abcdef0")]),
        )
        gap = Gap(HERE.account, HERE.region, f"sts:AssumeRole in {HERE.account}", "AccessDenied: no")
        one.failures(HERE, Fleet([]), [gap])
        price = Price(Decimal("0.10"), f"contract of {HERE.account}", date(2026, 11, 16))
        one.priced("us-east-1", [STORAGE], {STORAGE: price}, [replace(gap, reason="Throttled: no")])
    assert HERE.account.encode() not in written(file)
