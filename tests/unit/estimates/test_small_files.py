"""Many small files: the estimate's results and its alternatives."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from slackwater.estimates.small_files import ESTIMATE, STORAGES, SmallFiles, SmallFilesTime
from slackwater.model.estimates import Answer, Known
from slackwater.model.money import Change, Price, PriceTable, ebs_storage, efs_storage, fsx_storage, fsx_throughput

TOKYO: PriceTable = {
    item: Price(Decimal(usd), "published", date(2025, 3, 1))
    for item, usd in (
        (ebs_storage("gp3"), "0.096"),
        (efs_storage("Standard", one_zone=True, elastic=False), "0.192"),
        (efs_storage("Standard", one_zone=False, elastic=False), "0.36"),
        (fsx_storage("OPENZFS", "MULTI_AZ_1"), "0.216"),
        (fsx_throughput("OPENZFS", "MULTI_AZ_1"), "1.096"),
    )
}


def answered(prices: PriceTable = TOKYO, **inputs: Any) -> Answer[SmallFilesTime]:
    return ESTIMATE.work(SmallFiles.model_validate(inputs), Known("ap-northeast-1", (), prices))


def asked(**inputs: Any) -> SmallFilesTime:
    return answered(**inputs).result


def document_root(**inputs: Any) -> Answer[SmallFilesTime]:
    return answered(files=38_000, bytes="800MB", **inputs)


def test_the_document_root_waits_seventeen_minutes_sync_and_not_two_async() -> None:
    sync, fast = (document_root(storage=storage).result for storage in ("openzfs-sync", "openzfs-async"))

    assert sync.seconds == pytest.approx(17 * 60, rel=0.15)
    assert fast.seconds == pytest.approx(100, rel=0.15)
    assert sync.bound_by == fast.bound_by == "latency"
    assert sync.operations_per_second == pytest.approx(342)
    assert sync.files_per_second == pytest.approx(38)


def test_without_options_one_worker_writes_to_efs_regional() -> None:
    plain = asked(files=40_000, bytes="1.1GB")

    assert plain.seconds == pytest.approx(25 * 60 + 58, rel=0.05)
    assert plain.seconds_range == (plain.seconds, plain.seconds)
    assert plain.operations_per_second == pytest.approx(1000 / 2.7)  # one after another, 2.7 ms each


def test_the_range_runs_from_a_balanced_tree_to_one_like_usr() -> None:
    four = asked(files=40_000, bytes="1.1GB", workers=4)

    assert four.seconds_range is not None
    best, worst = four.seconds_range
    assert worst == four.seconds
    assert worst / best == pytest.approx(4 / 4**0.58)


def test_every_other_storage_and_more_workers_are_offered_with_their_prices() -> None:
    rows = asked(files=40_000, bytes="1.1GB", storage="efs-one-zone").alternatives

    assert [(row.storage, row.workers) for row in rows] == [
        ("efs-one-zone", 4),
        ("efs-one-zone", 16),
        ("ebs-gp3", 1),
        ("efs-regional", 1),
        ("openzfs-sync", 1),
        ("openzfs-async", 1),
    ]
    assert [row.monthly_usd and row.monthly_usd.quantize(Decimal("0.01")) for row in rows] == [
        *2 * [Decimal("0.20")],
        Decimal("0.19"),  # 2 GiB: EBS bills whole GiB
        Decimal("0.37"),
        *2 * [Decimal("189.18")],  # the minimum of 64 GiB and 160 MB/s
    ]


@pytest.mark.parametrize(
    ("inputs", "more"),
    [
        ({"files": 40_000, "workers": 4}, [16]),
        ({"files": 40_000, "workers": 16}, []),
        ({"files": 9, "workers": 4}, [9]),  # a file needs only one worker
        ({"files": 3}, [3]),
        ({"files": 1, "workers": 256}, []),
        ({"files": 40_000, "operation": "read"}, [4, 16]),
        ({"files": 40_000, "operation": "read", "workers": 8}, []),  # more workers showed no gain
        ({"files": 40_000, "storage": "ebs-gp3"}, [4]),  # and no gain beyond 4
        ({"files": 40_000, "bytes": "1TB"}, []),  # throughput is the limit
    ],
)
def test_more_workers_are_offered_as_long_as_they_have_files_and_gain_something(
    inputs: dict[str, Any], more: list[int]
) -> None:
    answer = answered(**{"bytes": "1MB", "storage": "efs-regional", **inputs})
    storage = inputs.get("storage", "efs-regional")

    assert [row.workers for row in answer.result.alternatives if row.storage == storage] == more
    assert ("more-workers" in {way.id for way in answer.alternatives}) == bool(more)
    assert ("orkers, it takes" in answer.summary) == bool(more)


def test_workers_without_a_file_are_not_counted() -> None:
    few, one = answered(files=3, bytes="1MB", workers=256), answered(files=1, bytes="1MB", workers=256)

    assert (
        "takes 0.038 s (work evenly distributed) to 0.06 s (unevenly, as in /usr) with 3 workers (one per file)."
        in few.summary
    )
    assert {row.workers for row in few.result.alternatives} == {3}
    assert one.summary.startswith("Writing 1 file (977 KiB) to EFS Regional takes 0.038 s with one worker.")
    assert one.result.seconds_range == (one.result.seconds, one.result.seconds)


def test_an_unknown_price_is_null_and_so_is_one_of_what_cannot_hold_the_files() -> None:
    unpriced = answered(prices={}, files=9, bytes="1MB")
    huge = asked(files=9, bytes="600TiB")

    assert unpriced.result.monthly_usd is None
    assert {row.monthly_usd for row in unpriced.result.alternatives} == {None}
    assert {row.storage for row in huge.alternatives if row.monthly_usd is None} == {
        "ebs-gp3",
        "openzfs-sync",
        "openzfs-async",
    }


@pytest.mark.parametrize("storage", ["openzfs-sync", "openzfs-async"])
def test_openzfs_reads_have_no_figure_and_the_answer_says_so(storage: str) -> None:
    read = document_root(storage=storage, operation="read")
    result = read.result

    assert (result.seconds, result.seconds_range, result.bound_by, result.operations_per_second) == (
        None,
        None,
        None,
        None,
    )
    assert "no measurements of reads from OpenZFS" in read.summary
    assert "differ only for writes" in read.summary
    assert {row.storage for row in result.alternatives} == {"ebs-gp3", "efs-one-zone", "efs-regional"}
    assert read.alternatives == ()


def test_an_estimate_of_reading_shows_nothing_about_openzfs_or_writing() -> None:
    read = answered(files=40_000, bytes="1.1GB", operation="read", workers=2)
    shown = [
        read.summary,
        *read.result.warnings,
        *read.assumptions,
        *read.sources,
        *(row.caveat for row in read.result.alternatives),
    ]

    assert {row.storage for row in read.result.alternatives} == {"ebs-gp3", "efs-one-zone", "efs-regional"}
    assert {way.id for way in read.alternatives} == {"more-workers", "ebs-gp3", "efs-one-zone"}
    for word in ("OpenZFS", "sync", "race", "page cache", "evenly"):
        assert not [inputs for inputs in shown if word in inputs], word
    assert any("TIME_WAIT" in warning and "RHEL 6" in warning for warning in read.result.warnings)


def test_the_measured_reads_are_given_as_measured() -> None:
    assert asked(files=40_000, bytes="1.1GB", workers=2, operation="read").seconds == pytest.approx(70)
    answer = answered(files=40_000, bytes="1.1GB", operation="read")
    assert any(inputs.startswith("measured: times") for inputs in answer.assumptions)
    assert not any("0.58" in inputs for inputs in answer.assumptions)


@pytest.mark.parametrize("storage", STORAGES)
def test_async_is_never_offered_without_its_caveat(storage: str) -> None:
    result = asked(files=9, bytes="1MB", storage=storage)
    rows = [row.caveat for row in result.alternatives if row.storage == "openzfs-async"]

    assert storage == "openzfs-async" or all("can be lost" in caveat for caveat in rows)
    assert any(
        "lost if the file server fails" in warning and "mission-critical" in warning for warning in result.warnings
    )


def test_it_warns_of_races_connections_and_clients_that_serialise() -> None:
    warnings = " ".join(asked(files=9, bytes="1MB").warnings)

    for word in ("conflict", "RDS", "TIME_WAIT", "RHEL 6"):
        assert word in warnings


def test_calibrated_assumed_and_measured_values_are_labelled() -> None:
    assumptions = document_root().assumptions

    assert {inputs.partition(":")[0] for inputs in assumptions} == {"calibrated", "assumed", "measured", "rule"}
    for figure in (
        "20.95 ms",
        "38.05 ms",
        "P^0.58",
        "40,000 files",
        "9 operations",
        "342",
        "3,768",
        "rough, because of the page cache",
    ):
        assert any(figure in inputs for inputs in assumptions), figure


def test_the_summary_has_the_time_the_wait_and_a_faster_way() -> None:
    assert document_root(storage="openzfs-sync").summary == (
        "Writing 38,000 files (763 MiB) to OpenZFS (sync) takes 16 min 40 s with one worker. The limit is latency, not"
        " throughput: one worker alone waits 26 ms per file for responses. With 4 workers, it takes 4 min 10 s to 7 min"
        " 28 s. On OpenZFS (async), it takes 1 min 31 s."
    )
    assert "The limit is its throughput of 100 MiB/s." in answered(files=1, bytes="1TB").summary
    crowd = answered(files=10**6, bytes="1MB", storage="efs-one-zone", workers=256)
    assert crowd.result.bound_by == "iops"
    assert "The limit is its 7,000 operations per second." in crowd.summary


def test_with_workers_the_summary_has_both_ends_and_what_a_file_takes_one_of_them() -> None:
    summary = answered(files=300_000, bytes="30GB", workers=8).summary

    assert "23 min 47 s (work evenly distributed) to 56 min 57 s (unevenly, as in /usr)" in summary
    assert "one worker alone waits 38 ms per file" in summary


def test_openzfs_has_no_more_operations_than_its_file_server() -> None:
    crowd = answered(files=10**6, bytes="1MB", workers=256, storage="openzfs-async")

    assert crowd.result.bound_by == "iops"
    assert crowd.result.operations_per_second == pytest.approx(6_250)
    assert "The limit is its 6,250 operations per second." in crowd.summary


def test_throughput_is_shown_in_the_units_of_its_service() -> None:
    assert "The limit is its throughput of 160 MB/s." in answered(files=1, bytes="1TB", storage="openzfs-sync").summary
    assert "The limit is its throughput of 125 MiB/s." in answered(files=1, bytes="1TB", storage="ebs-gp3").summary


GONE = "uses up the burst credits of EFS (2.1 TiB at the start)"


@pytest.mark.parametrize(
    ("inputs", "in_summary", "in_warnings"),
    [
        ({"files": 100, "bytes": "3TB"}, True, True),
        ({"files": 100, "bytes": "3TB", "storage": "efs-one-zone"}, True, True),
        ({"files": 100, "bytes": "3TB", "storage": "openzfs-sync"}, False, True),  # its rows include EFS
        ({"files": 100, "bytes": "2.3TB"}, False, False),
        ({"files": 100, "bytes": "3TB", "operation": "read"}, False, False),
        ({"files": 10**8, "bytes": "3TB"}, False, True),  # slow enough for the baseline, except with more workers
    ],
)
def test_bytes_that_use_up_the_burst_credits_are_warned_of(
    inputs: dict[str, Any], in_summary: bool, in_warnings: bool
) -> None:
    answer = answered(**inputs)
    rows = [row.caveat for row in answer.result.alternatives]

    assert (GONE in answer.summary) == in_summary
    assert any(GONE in warning for warning in answer.result.warnings) == in_warnings
    assert any("credits run out" in caveat for caveat in rows) == in_warnings


def test_what_it_rests_on_is_short_and_in_words_that_are_shown() -> None:
    for operation in ("write", "read"):
        assumptions = answered(files=9, bytes="1GB", operation=operation).assumptions

        assert len(assumptions) <= 10
        assert max(map(len, assumptions)) < 200
        assert not [inputs for inputs in assumptions if "_" in inputs]  # no names of JSON fields
    assert any("rsync" in inputs and "renames" in inputs for inputs in document_root().assumptions)
    assert not [inputs for inputs in answered(files=1, bytes="1GB").assumptions if "P workers" in inputs]


def test_for_a_finding_the_ways_out_begin_with_what_costs_nothing() -> None:
    ways = document_root(prices={}, storage="openzfs-sync").alternatives
    by_id = {way.id: way for way in ways}

    assert [way.id for way in ways] == ["more-workers", "ebs-gp3", "efs-one-zone", "efs-regional", "openzfs-async"]
    assert (by_id["more-workers"].changes, by_id["openzfs-async"].changes) == ((), ())
    assert by_id["more-workers"].summary == "4 workers side by side are 2.2 to 4 times as fast"
    assert by_id["openzfs-async"].summary == "OpenZFS (async) is 11 times as fast"
    assert by_id["efs-regional"].summary == "EFS Regional is 1.4 times as slow"
    assert [way.id for way in ways if not way.solves] == ["efs-regional"]
    assert by_id["ebs-gp3"].changes == (
        Change(fsx_storage("OPENZFS", "MULTI_AZ_1"), Decimal(64)),
        Change(fsx_throughput("OPENZFS", "MULTI_AZ_1"), Decimal(160)),
        Change(ebs_storage("gp3"), Decimal(-1)),
    )


def test_a_way_out_that_changes_nothing_is_no_way_out() -> None:
    bound = answered(files=1, bytes="1TB", storage="openzfs-sync").alternatives

    assert "more-workers" not in {way.id for way in bound}
    (way,) = [one for one in bound if one.id == "openzfs-async"]
    assert way.summary == "OpenZFS (async) is as fast"
    assert not way.solves


def test_files_of_no_bytes_still_wait() -> None:
    assert asked(files=1_000, bytes="0B").seconds == pytest.approx(38.05)


@pytest.mark.parametrize(
    "wrong",
    [
        {"files": 0},
        {"files": -1},
        {"workers": 0},
        {"workers": 257},
        {"storage": "ebs"},
        {"operation": "copy"},
        {"bytes": "5"},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SmallFiles.model_validate({"files": 1, "bytes": "1MB", **wrong})


@given(
    storage=st.sampled_from([one for one in STORAGES if "openzfs" not in one]),
    operation=st.sampled_from(["write", "read"]),
    files=st.one_of(st.integers(1, 300), st.integers(1, 10**8)),
    mib=st.integers(0, 10**8),
    workers=st.integers(1, 255),
)
def test_more_never_takes_less_and_more_workers_never_take_longer(
    storage: str, operation: str, files: int, mib: int, workers: int
) -> None:
    def seconds(**more: Any) -> float:
        inputs = {"files": files, "bytes": f"{mib}MiB", "workers": workers, "storage": storage, "operation": operation}
        found = asked(**{**inputs, **more}).seconds
        assert found is not None
        return found

    now = seconds()
    assert seconds(files=files * 2) >= now
    assert seconds(bytes=f"{mib * 2}MiB") >= now
    assert seconds(workers=workers + 1) <= now * (1 + 1e-9)
