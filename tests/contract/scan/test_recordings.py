"""Recordings of simulated fleets replay to the same findings without AWS, and contain no names."""

import gzip
import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from recordings import FLEETS, FOLDER, MOST_BYTES, documents, record, replayed
from slackwater.app.recording.file import KINDS
from slackwater.app.recording.replay import NOT_RECORDED
from slackwater_simulator import Fleet

KEPT = [*FLEETS]
VOCABULARY = " ".join(field.name for kind in KINDS.values() for field in fields(kind))


def names_of(fleet: Fleet) -> set[str]:
    """Return every string of six characters or more that identifies the account, its resources or its people."""
    found = {fleet.account}
    for some in (fleet.volumes, fleet.instances, fleet.efs, fleet.fsx, fleet.fsx_volumes):
        for one in some:
            found |= {one.id, *(one.tags or {}).values()}
    for volume in fleet.fsx_volumes:
        found |= {volume.path, volume.name, *(export.clients for export in volume.exports)}
    # A tag's value can be a word of our own field names, such as "monitoring".
    return {text for text in found if len(text) >= 6 and text not in VOCABULARY}


@pytest.mark.parametrize(
    "name", [name if name == "demo" else pytest.param(name, marks=pytest.mark.slow) for name in KEPT]
)
def test_a_recording_is_small_and_holds_no_name(name: str) -> None:
    fleet, _ = FLEETS[name]
    file = FOLDER / f"{name}.recording"
    raw = gzip.decompress(file.read_bytes())
    planted = names_of(fleet())
    there = sorted(text for text in planted if text.encode() in raw)
    print(
        f"{name}: {file.stat().st_size:,} bytes, {len(raw):,} decompressed; {len(planted):,} strings searched, "
        f"{len(there)} found"
    )
    assert file.stat().st_size <= MOST_BYTES
    assert len(planted) > 20
    assert there == []


@pytest.mark.parametrize("name", KEPT)
def test_a_replay_finds_what_was_found(name: str) -> None:
    """If a detector reads more than was recorded, its check is inconclusive. `tools/recordings.py` records again."""
    file = FOLDER / f"{name}.recording"
    scans = replayed(file)
    beyond = {
        (one.detector, one.resource.id)
        for scan in scans
        for target in scan.targets
        for one in target.unknown
        if NOT_RECORDED in one.reason
    }
    found, expected = (
        {(one["detector"], one["resource"]) for one in some} - beyond
        for some in (documents(scans), json.loads(file.with_suffix(".json").read_text("utf-8")))
    )
    assert found == expected
    gaps = [gap for scan in scans for target in scan.targets for gap in target.gaps]
    assert all(NOT_RECORDED in gap.reason or gap.what == "pricing:GetProducts" for gap in gaps), gaps
    assert not any("mistake" in gap.reason for gap in gaps)


def test_the_recordings_have_something_to_find() -> None:
    found = {name: json.loads((FOLDER / f"{name}.json").read_text("utf-8")) for name in KEPT}
    assert len({one["detector"] for some in found.values() for one in some}) >= 25
    assert len(found["demo"]) > 30


@pytest.fixture
def demo() -> Path:
    return FOLDER / "demo.recording"


def test_a_detector_that_reads_beyond_the_recorded_time_is_inconclusive_and_reported(demo: Path) -> None:
    def patient(audit: Any) -> Any:
        limits = dict(audit.policy.limits)
        limits["ebs-idle"] = limits["ebs-idle"].model_copy(update={"window_days": 60})
        return replace(audit, policy=replace(audit.policy, limits=limits))

    scans = replayed(demo, patient)
    unknown = {
        one.detector
        for scan in scans
        for target in scan.targets
        for one in target.unknown
        if NOT_RECORDED in one.reason
    }
    assert unknown == {"ebs-idle"}
    assert {gap.what for scan in scans for target in scan.targets for gap in target.gaps} == {
        "cloudwatch:GetMetricData"
    }
    assert not all(target.complete for scan in scans for target in scan.targets)


@pytest.mark.slow
def test_a_scan_and_its_replay_say_the_same(tmp_path: Path) -> None:
    """All numbers are equal. Only names, and the texts that contain them, differ."""
    fleet, policy = FLEETS["demo"]
    file = tmp_path / "demo.recording"
    live, again = record(fleet(), policy, file), replayed(file)

    def numbers(scans: list[Any]) -> list[tuple[Any, ...]]:
        return sorted(
            (
                one.detector, one.kind, one.severity, one.confidence, str(one.monthly_savings_usd),
                tuple((e.label, repr(e.value)) for e in one.evidence if not isinstance(e.value, str)),
                tuple(str(each.monthly_savings_usd) for each in one.recommendations),
                tuple((basis.item.id, str(basis.price.usd)) for basis in one.price_basis),
            )
            for scan in scans for target in scan.targets for one in target.findings
        )  # fmt: skip

    def answers(scans: list[Any], of: Callable[[Any], Any]) -> list[Any]:
        return sorted(
            of(one) for scan in scans for target in scan.targets for one in (*target.unknown, *target.unlisted)
        )

    assert numbers(live) == numbers(again)
    assert answers(live, lambda one: one.detector) == answers(again, lambda one: one.detector)
    assert [target.resources for scan in live for target in scan.targets] == [
        target.resources for scan in again for target in scan.targets
    ]
