"""Which writes `fsx-sync-export` uses if CloudWatch has operations by volume, or only by file system."""

from collections.abc import Collection
from dataclasses import replace

import pytest

from slackwater.detectors import fsx_surplus_iops, fsx_sync_export
from slackwater.engine.deduplicate import deduplicate
from slackwater.engine.evaluation import Enabled, EvaluationQueue, silence
from slackwater.engine.plan import MetricQuery
from slackwater.model.detector import CASE_NOW
from slackwater.model.fleet import Fleet, UnreadableRecord
from slackwater.model.metrics import Series
from slackwater.model.resources import FsxVolume
from slackwater.model.units import DAY_S
from slackwater.rules import examples
from slackwater.rules.fsx import DISK_IOPS, WRITES, WRITTEN

SYNC, IOPS = fsx_sync_export.DETECTOR, fsx_surplus_iops.DETECTOR
SERVER = examples.fsx(iops=20_000, iops_mode="USER_PROVISIONED")
WAITS = examples.fsx_volume(nfs_export=(fsx_sync_export.SYNC,))
ASYNC = replace(WAITS, id="fsvol-async", path="/fsx/async", nfs_export=(fsx_sync_export.ASYNC,))
ROOT = replace(WAITS, id="fsvol-root", path="/fsx", created_at=examples.days_ago(300))
INSIDE = replace(WAITS, id="fsvol-inside", path="/fsx/wordpress/inside", nfs_export=())
ELSEWHERE = replace(ASYNC, id="fsvol-elsewhere", file_system_id="fs-0fedcba9876543210")
READ_ONLY = replace(fsx_sync_export.READ_ONLY, id="fsvol-read-only")

WAITING = {key: list(values) for key, values in fsx_sync_export.nightly([342.0] * 24).items()}
NO_FLEET = Fleet([])


def volume_of(query: MetricQuery) -> str:
    """Return the volume that a query is for; empty if it is for the file system."""
    return dict(query.dimensions).get("VolumeId", "")


class Scan:
    """One evaluation: the series that CloudWatch has, the calls that fail, and the results."""

    def __init__(
        self,
        *volumes: FsxVolume,
        published: Collection[str] = ("",),
        failed: Collection[str] = (),
        fleet: Fleet = NO_FLEET,
    ) -> None:
        """Evaluate. `published` and `failed` are ids of volumes; the empty id is the file system."""
        self.queries: list[MetricQuery] = []
        enabled = [
            Enabled(id_, one, one.limits()) for id_, one in (("fsx-sync-export", SYNC), ("fsx-surplus-iops", IOPS))
        ]
        fleet = Fleet((SERVER, *volumes), fleet.unreadable, broken=fleet.broken)
        queue = EvaluationQueue(fleet, enabled, CASE_NOW)
        while call := queue.next_call(idle=True):
            self.queries += call.queries
            bad = {query: "AccessDenied" for query in call.queries if self.writes(query) and volume_of(query) in failed}
            good = {query: self.answer(query, published) for query in call.queries if query not in bad}
            queue.receive(good, bad)
        self.flagged = [one for one in queue.flagged if one.enabled.id == "fsx-sync-export"]
        self.unknown = {one.resource.id: one.reason for one in queue.unknown if one.detector == "fsx-sync-export"}
        self.everything = queue.flagged

    @staticmethod
    def writes(query: MetricQuery) -> bool:
        return query.metric == WRITES

    def answer(self, query: MetricQuery, published: Collection[str]) -> Series:
        if query.metric == DISK_IOPS and query.period_s == DAY_S:
            return Series.of(query.window.start_s, query.period_s, [10.0] * query.points)
        if query.metric in (WRITES, WRITTEN) and volume_of(query) not in published:
            return silence(query)
        values = WAITING[query.metric, query.period_s][-query.points :]
        return Series.of(query.window.start_s, query.period_s, [None] * (query.points - len(values)) + values)

    @property
    def asked(self) -> list[str]:
        """Return the volumes of the queries for writes, in order."""
        return [volume_of(query) for query in self.queries if self.writes(query)]


def test_with_a_series_of_the_volume_the_file_system_is_not_asked() -> None:
    scan = Scan(WAITS, ASYNC, published=("", WAITS.id))

    assert set(scan.asked) == {WAITS.id}
    (found,) = scan.flagged
    assert {row.label for row in found.verdict.evidence}.isdisjoint({"Writes of", "Volumes that may be meant"})


def test_with_one_export_the_writes_of_the_file_system_are_those_of_the_volume() -> None:
    scan = Scan(WAITS, INSIDE, ELSEWHERE, READ_ONLY)
    by_volume = Scan(WAITS, published=(WAITS.id,))

    (found,), (same,) = scan.flagged, by_volume.flagged
    assert (found.verdict.summary, found.verdict.confidence) == (same.verdict.summary, same.verdict.confidence)
    assert (found.verdict.fingerprint_inputs, found.verdict.advice) == (
        same.verdict.fingerprint_inputs,
        same.verdict.advice,
    )
    assert [row.label for row in found.verdict.evidence][-1] == "Writes of"
    assert scan.asked == [WAITS.id, "", ""]


def test_with_several_exports_one_finding_names_all_candidates_and_no_async() -> None:
    scan = Scan(ROOT, WAITS, ASYNC)

    (found,) = scan.flagged
    assert found.resource == WAITS  # the root volume is older, but rarely has data
    assert found.verdict.confidence == "medium"
    assert "one of 3 volumes" in found.verdict.summary
    for one in (ROOT, WAITS, ASYNC):
        assert f"{one.id} ({one.path})" in found.verdict.caveats[0]
    assert {advice.action for advice in found.verdict.advice} == {"client-side-first"}
    assert not scan.unknown


def test_a_caveat_names_five_candidates_and_the_evidence_all() -> None:
    (found,) = Scan(WAITS, *(replace(ASYNC, id=f"fsvol-{i}") for i in range(6))).flagged

    assert "fsvol-3 (/fsx/async) and 2 more." in found.verdict.caveats[0]
    assert found.verdict.evidence[-1].value.count("fsvol-") == 7  # type: ignore[union-attr]


def test_a_volume_without_operations_is_unknown_where_another_volume_has_some() -> None:
    scan = Scan(WAITS, ASYNC, published=("", ASYNC.id))

    assert not scan.flagged
    assert scan.unknown == {WAITS.id: "DataWriteOperations has no data in 14 days"}


@pytest.mark.parametrize("failed", [WAITS.id, ASYNC.id, ""])
def test_a_failed_call_is_not_silence(failed: str) -> None:
    scan = Scan(WAITS, ASYNC, failed=(failed,))

    assert not scan.flagged
    assert scan.unknown == {WAITS.id: "DataWriteOperations could not be read: AccessDenied"}
    assert "" in scan.asked or failed == WAITS.id


def test_without_all_volumes_the_exported_one_is_unknown() -> None:
    partial = Scan(WAITS, fleet=Fleet([], {FsxVolume: "AccessDenied"}))
    broken = UnreadableRecord(FsxVolume, "fsvol-broken", "no Options", (SERVER.id,))
    one_missing = Scan(WAITS, fleet=Fleet([], broken=[broken]))
    elsewhere = Scan(WAITS, fleet=Fleet([], broken=[replace(broken, owners=("fs-0fedcba9876543210",))]))

    assert "incomplete: AccessDenied" in partial.unknown[WAITS.id]
    assert "fsvol-broken could not be read" in one_missing.unknown[WAITS.id]
    assert elsewhere.flagged


def test_writes_from_before_the_volume_are_not_its_own() -> None:
    young = Scan(replace(WAITS, created_at=examples.days_ago(3.5)))
    new = Scan(replace(WAITS, created_at=examples.days_ago(0.5)))

    (found,) = young.flagged
    assert next(row.value for row in found.verdict.evidence if row.label == "Duration") == 6.0  # three nights
    assert new.unknown


def test_a_volume_created_after_the_scan_began_asks_for_no_empty_window() -> None:
    scan = Scan(replace(WAITS, created_at=examples.days_ago(-1.5)))

    assert scan.unknown
    assert all(query.window.start_s < query.window.end_s for query in scan.queries)


@pytest.mark.parametrize("volumes", [(WAITS,), (ROOT, WAITS, ASYNC)])
def test_it_still_suppresses_what_was_bought_for_the_file_system(volumes: tuple[FsxVolume, ...]) -> None:
    reported, suppressed = deduplicate(Scan(*volumes).everything)

    assert [one.enabled.id for one in reported] == ["fsx-sync-export"]
    assert [one.enabled.id for one in suppressed] == ["fsx-surplus-iops"]


def test_a_silent_volume_is_unknown_if_the_oldest_export_is_judged_by_its_own_series() -> None:
    younger = replace(WAITS, id="fsvol-younger", path="/fsx/younger", created_at=examples.days_ago(90))
    older = replace(WAITS, created_at=examples.days_ago(200))
    scan = Scan(older, younger, published=("", older.id))

    assert scan.unknown.keys() == {younger.id}
