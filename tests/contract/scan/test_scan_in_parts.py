"""Scanning a target in chunks gives the same findings and inconclusive checks as scanning it whole."""

from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from slackwater.app.audit.scan import Audit
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.parallel import AT_ONCE
from slackwater.aws.client.session import AwsSession, Endpoint
from slackwater.aws.inventory.inventory import AwsInventory
from slackwater.aws.inventory.snapshot import SCHEMA, SnapshotError
from slackwater.engine.registry import registry
from slackwater.model.policy import Policy
from slackwater.model.resources import AttachmentEvent, EfsMountTarget, Instance, Target, Volume
from slackwater.views.scan.document import ScanDocument
from slackwater.views.scan.merge import merged
from slackwater.views.scan.to_json import document
from slackwater.wiring.scan import audit
from slackwater_simulator import Fleet, Simulator, demo_fleet, mixed_fleet

NOW = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)


LIFECYCLE = "elasticfilesystem:DescribeLifecycleConfiguration"


def auditing(account: Any, part_records: int | None = None) -> Audit:
    """Return the audit use case for an account, with all detectors. A new session gives it its own call meter."""
    meter = CallMeter()
    session = AwsSession(meter=meter, endpoint=Endpoint(account.sim.url, "AKIADUMMY", "dummy"))
    return audit(
        session,
        meter,
        registry=registry(),
        policy=Policy(limits={id_: detector.limits() for id_, detector in registry().items()}),
        cache_dir=None,
        progress=lambda *_: None,
        inventory=AwsInventory(session, part_records=part_records) if part_records else None,
    )


def content(doc: ScanDocument) -> dict[str, Any]:
    """Return a document's content without its usage, and with the order of inconclusive checks removed."""
    lists = {
        name: sorted(
            (one["detector"], one["resource"]["id"], one["reason"])
            for one in doc[name]  # type: ignore[literal-required]
        )
        for name in ("unknown", "unlisted")
    }
    head = {
        name: doc["scan"][name]  # type: ignore[literal-required]
        for name in ("complete", "targets", "gaps", "resources")
    }
    return {"findings": doc["findings"], **lists, **head, "totals": doc["totals"]}


@pytest.fixture(scope="module", params=[pytest.param("demo", marks=pytest.mark.slow), "mixed"])
def account(request: pytest.FixtureRequest) -> Any:
    fleet = demo_fleet() if request.param == "demo" else mixed_fleet(250)
    with Simulator(fleet) as sim:
        sim.faults.unthrottle("cloudtrail:LookupEvents")
        there = SimpleNamespace(sim=sim, target=Target(fleet.account, fleet.regions[0]))
        there.whole = document(auditing(there).run([there.target], NOW))
        yield there


def test_in_parts_it_says_what_the_whole_says_and_counts_what_it_asked(account: Any) -> None:
    use_case = auditing(account, 60)
    scans = [*use_case.parts(account.target, NOW)]
    whole = merged([document(scan) for scan in scans])

    assert len(scans) > 2
    assert content(whole) == content(account.whole)
    assert whole["scan"]["usage"]["metrics_requested"] == use_case.meter.metrics_requested()
    assert whole["scan"]["usage"]["api_calls"] == dict(sorted(use_case.meter.api_calls().items()))
    listing = {action for action in whole["scan"]["usage"]["api_calls"] if ":Describe" in action or ":List" in action}
    assert LIFECYCLE in listing
    for action in listing - {LIFECYCLE}:  # once, however many chunks there are
        assert whole["scan"]["usage"]["api_calls"][action] == account.whole["scan"]["usage"]["api_calls"][action]


def test_what_is_judged_while_slow_kinds_are_still_read_is_what_the_whole_says(account: Any) -> None:
    use_case = auditing(account)
    with use_case.snapshot(account.target) as snapshot:
        assert snapshot.fleet(1).awaited == {AttachmentEvent, EfsMountTarget}
        (scan,) = use_case.parts(account.target, NOW, snapshot)
    seen = document(scan)

    assert content(seen) == content(account.whole)
    assert 0 < seen["scan"]["usage"]["api_calls"][LIFECYCLE] < account.whole["scan"]["usage"]["api_calls"][LIFECYCLE]


def test_a_cloudtrail_that_cannot_be_read_is_a_gap_of_a_target_that_was_judged_meanwhile(
    simulate: Callable[..., Any],
) -> None:
    there = simulate(mixed_fleet(60))
    there.sim.faults.deny("cloudtrail:LookupEvents")
    (scan,) = auditing(there).parts(there.target, NOW)

    (gap,) = [gap for gap in scan.targets[0].gaps if gap.what == "cloudtrail:LookupEvents"]
    assert "AccessDenied" in gap.reason
    assert content(document(scan)) == content(document(auditing(there).run([there.target], NOW)))


@pytest.mark.parametrize("part_records", [None, 60])
def test_after_a_denial_no_other_lifecycle_is_asked_for_and_only_open_questions_are_unknown(
    simulate: Callable[..., Any], part_records: int | None
) -> None:
    there = simulate(mixed_fleet(250))
    (good,) = auditing(there).parts(there.target, NOW)
    there.sim.faults.deny(LIFECYCLE)
    use_case = auditing(there, part_records)
    scan = merged([document(one) for one in use_case.parts(there.target, NOW)])
    (whole,) = auditing(there).run([there.target], NOW).targets

    cold = [one for one in scan["unknown"] if one["detector"] == "efs-cold-data" and "AccessDenied" in one["reason"]]
    assert 0 < len(cold) < sum("AccessDenied" in one.reason for one in whole.unknown)
    assert {one["resource"]["id"] for one in cold} >= {
        one.resource.id for one in good.targets[0].findings if one.detector == "efs-cold-data"
    }
    assert [gap["optional"] for gap in scan["scan"]["gaps"] if gap["what"] == LIFECYCLE] == [False]
    assert 0 < use_case.meter.api_calls()[LIFECYCLE] <= min(AT_ONCE, good.usage.api_calls[LIFECYCLE])


def test_one_process_lists_and_judges_the_first_chunk_and_another_continues(account: Any) -> None:
    first, second = auditing(account, 60), auditing(account)
    with first.snapshot(account.target) as snapshot:
        one = document(next(first.parts(account.target, NOW, snapshot)))
        assert snapshot.file is not None
        with second.open_snapshot(account.target, snapshot.file) as same:
            others = [document(scan) for scan in second.parts(account.target, NOW, same, first=2)]

    assert content(merged([one, *others])) == content(account.whole)
    assert not [action for action in others[0]["scan"]["usage"]["api_calls"] if action.startswith(("ec2:", "fsx:"))]


def test_an_empty_region_is_known_to_be_empty_by_four_calls(simulate: Callable[..., Any]) -> None:
    there = simulate(Fleet(now=int(NOW.timestamp())))
    scan = auditing(there).run([there.target], NOW)

    assert scan.complete
    assert scan.usage.api_calls == {
        "ec2:DescribeInstances": 1,
        "ec2:DescribeVolumes": 1,
        "elasticfilesystem:DescribeFileSystems": 1,
        "fsx:DescribeFileSystems": 1,
    }
    assert dict(there.sim.calls) == dict(scan.usage.api_calls)


def test_an_inventory_for_which_there_is_no_room_ends_the_scan_and_is_no_gap(
    simulate: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    there = simulate(mixed_fleet(60))
    monkeypatch.setattr("slackwater.aws.inventory.snapshot.SCHEMA", f"PRAGMA max_page_count = 4; {SCHEMA}")
    with pytest.raises(SnapshotError, match=r"cannot be kept in .*full"):
        AwsInventory(there.session, part_records=1).snapshot(there.target, {Volume, Instance}, set())
