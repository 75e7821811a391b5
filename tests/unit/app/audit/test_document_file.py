"""A ScanFile gives the same result as merging the documents, byte for byte."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.app.audit.document_file import CHUNK, ScanFile, ScanFileError
from slackwater.views.scan.merge import merged
from slackwater.views.scan.to_json import dump
from support.effort import effort

WORDS = st.text(st.characters(codec="utf-8"), max_size=12)
MONEY = st.one_of(st.none(), st.integers(-10_000, 10_000).map(lambda cents: f"{cents / 100:.2f}"))
COUNT = st.integers(0, 5)
SUM = st.fixed_dictionaries(
    {"findings": COUNT, "monthly_savings_usd": COUNT.map(lambda n: f"{n}.50"), "unpriced": COUNT}
)
RESOURCE = st.fixed_dictionaries({"id": WORDS, "tags": st.dictionaries(WORDS, WORDS, max_size=2)})
EVIDENCE = st.fixed_dictionaries(
    {"label": WORDS, "value": st.floats(allow_nan=False, allow_infinity=False), "series": st.lists(COUNT)}
)
FINDING = st.fixed_dictionaries(
    {
        "id": st.text("ab\U0001f30a\uffff", min_size=1, max_size=3),
        "detector": st.sampled_from(["ebs-idle", "efs-idle"]),
        "severity": st.sampled_from(["high", "medium", "low", "info"]),
        "monthly_savings_usd": MONEY,
        "summary": WORDS,
        "evidence": st.lists(EVIDENCE, max_size=2),
    }
)
QUESTION = st.fixed_dictionaries({"detector": WORDS, "resource": RESOURCE, "reason": WORDS})
GAP = st.fixed_dictionaries(
    {
        "account": st.just("1"),
        "region": st.just("r"),
        "what": st.sampled_from(["cloudwatch:GetMetricData", "ec2:DescribeVolumes", "pricing:GetProducts"]),
        "reason": st.sampled_from(["denied", "slow", "slow (3 times)"]),
        "optional": st.booleans(),
    }
)


@st.composite
def part(draw: st.DrawFn) -> dict[str, Any]:
    region, minute = draw(st.sampled_from("rst")), draw(st.integers(10, 59))
    head = {
        "id": "s1",
        "started_at": f"2026-11-16T09:{minute}:00Z",
        "finished_at": f"2026-11-16T09:{minute}:01Z",
        "complete": draw(st.booleans()),
        "targets": [{"account": "1", "region": region, "complete": draw(st.booleans())}],
        "detectors": ["ebs-idle"],
        "policy": {"version": None, "sha256": None},
        "gaps": draw(st.lists(GAP, max_size=2)),
        "resources": {"ebs-volume": 1 + draw(COUNT)},
        "usage": {"api_calls": {"ec2:X": 1}, "metrics_requested": 1, "datapoints": 2, "estimated_usd": "0.00001"},
    }
    head |= draw(
        st.sampled_from([{}, {"more": True}, {"accounts": [{"id": "1", "name": "a", "organizational_unit": "Root"}]}])
    )
    sums = st.dictionaries(st.sampled_from("abc"), SUM, max_size=2)
    return {
        "schema": "slackwater.scan/1",
        "scan": head,
        "findings": draw(st.lists(FINDING, max_size=3)),
        "unknown": draw(st.lists(QUESTION, max_size=2)),
        "unlisted": draw(st.lists(QUESTION, max_size=2)),
        "totals": draw(SUM)
        | {"kept": draw(COUNT), "below_minimum": draw(COUNT), "by_detector": draw(sums), "by_kind": draw(sums),
           "by_owner": draw(sums)},
    }  # fmt: skip


@settings(max_examples=effort(40, 15), deadline=None)
@given(st.lists(st.tuples(part(), st.integers(0, 2)), min_size=1, max_size=4))
def test_the_written_findings_are_the_merged_ones(parts: list[tuple[Any, int]]) -> None:
    whole = merged([one for one, _ in sorted(parts, key=lambda each: each[1])])
    with ScanFile() as scan_file:
        for one, place in parts:
            scan_file.add(one, place)
        out = StringIO()
        scan_file.write(out)

        assert out.getvalue() == dump(whole)
        assert [*scan_file.findings()] == whole["findings"]
        assert [*scan_file.findings(2)] == whole["findings"][:2]
        assert [*scan_file.document()["findings"]] == whole["findings"]
        assert len(scan_file.document()["findings"]) == len(whole["findings"])
        assert [*scan_file.unknown()] == whole["unknown"]
        assert [*scan_file.unlisted()] == whole["unlisted"]
        assert scan_file.head() == whole | {"findings": [], "unknown": [], "unlisted": []}


def some(n: int) -> dict[str, Any]:
    """Return a document that is large enough for several chunks."""
    question = {"detector": "ebs-idle", "resource": {"name": "n"}, "reason": "because"}
    totals = {"findings": n, "monthly_savings_usd": "0.00", "unpriced": 0, "kept": 0, "below_minimum": 0}
    usage = {"api_calls": {}, "metrics_requested": 0, "datapoints": 0, "estimated_usd": "0"}
    head = {
        "started_at": "2026-11-16T09:00:00Z", "finished_at": "2026-11-16T09:00:00Z", "complete": True, "targets": [],
        "gaps": [], "resources": {}, "usage": usage,
    }  # fmt: skip
    finding = {"severity": "low", "monthly_savings_usd": None, "detector": "ebs-idle"}
    return {
        "scan": head,
        "findings": [{**finding, "id": f"{i:05}"} for i in range(n)],
        "unknown": [{**question, "number": i} for i in range(n)],
        "unlisted": [],
        "totals": totals | {"by_detector": {}, "by_kind": {}},
    }


def test_a_document_to_view_holds_the_worst_findings_and_reads_the_rest_from_disk(tmp_path: Path) -> None:
    n = CHUNK * 2 + 7
    with ScanFile() as scan_file:
        scan_file.add(some(n))
        doc = scan_file.document(3)

        assert [finding["id"] for finding in doc["findings"]] == ["00000", "00001", "00002"]
        assert doc["totals"]["findings"] == n
        assert (len(doc["unknown"]), bool(doc["unknown"]), bool(doc["unlisted"])) == (n, True, False)
        assert [one["number"] for one in doc["unknown"]] == list(range(n))
        assert doc["unknown"][-1]["number"] == n - 1
        scan_file.write(tmp_path / "scan.json")
    assert len(json.loads((tmp_path / "scan.json").read_text("utf-8"))["unknown"]) == n


def test_it_leaves_nothing_behind_and_without_a_part_there_is_no_document() -> None:
    with ScanFile() as scan_file:
        folder = scan_file._path.parent
        assert folder.exists()
        with pytest.raises(ValueError, match="without any document"):
            scan_file.head()
    assert not folder.exists()


def test_a_full_disk_is_reported() -> None:
    with ScanFile() as scan_file:
        scan_file._db.execute("PRAGMA max_page_count = 12")
        with pytest.raises(ScanFileError, match=r"cannot be kept in .*full"):
            scan_file.add(some(3_000))
