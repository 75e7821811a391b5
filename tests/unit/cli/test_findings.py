"""`slackwater findings`."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import boto3
import pytest

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession
from slackwater.aws.store.findings import DynamoFindings
from slackwater.aws.store.table import Table
from slackwater.model import object_keys
from slackwater.model.listing import MAX_PAGE, Page
from slackwater.model.tracking import (
    SERVICE,
    Decision,
    FindingRecord,
    LedgerEntry,
    TrackedFinding,
    TrackedResource,
    Write,
)
from slackwater.ports.errors import AccessDeniedError
from slackwater.views.scan.to_json import dump
from slackwater_cli.listing import first_items

OPENED = datetime(2026, 11, 1, 6, 0, tzinfo=UTC)
LATER = f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%dT%H:%M:%SZ}"
CALLER = "arn:aws:sts::123456789012:user/moto"


def tracked(id: str, usd: str | None = "12.30", **changes: Any) -> TrackedFinding:
    """Return an open finding about a volume. `changes` replace fields of the finding record."""
    resource = TrackedResource(
        arn=f"arn:aws:ec2:eu-west-1:123456789012:volume/vol-{id}",
        id=f"vol-{id}",
        type="ebs-volume",
        name=f"scratch-{id}",
        account="123456789012",
        region=changes.pop("region", "eu-west-1"),
    )
    values: dict[str, Any] = {
        "detector": "ebs-unattached",
        "kind": "waste",
        "severity": "medium",
        "confidence": "high",
        "owner": "data",
        "summary": "100 GiB on no instance",
        "fingerprint": "abc",
    }
    seen = FindingRecord(id=id, resource=resource, monthly_savings_usd=usd and Decimal(usd), **values | changes)
    return TrackedFinding(
        sighting=seen,
        status="open",
        decision=None,
        opened_at=OPENED,
        last_seen_at=OPENED,
        resolved_at=None,
        audit_id="audit-1",
        revision=1,
    )


@pytest.fixture
def store(service) -> Callable[..., None]:
    findings = DynamoFindings(Table(AwsSession(meter=CallMeter()), "findings-table"))

    def store_them(*them: TrackedFinding) -> None:
        for finding in them:
            opened = LedgerEntry(
                happening="opened", at=OPENED, who=SERVICE, was=None, now="open", why="new", revision=1,
                audit_id="audit-1", evidence=finding.sighting,
            )  # fmt: skip
            assert findings.write(Write(finding=finding, entry=opened, expects=0))

    return store_them


@pytest.fixture
def listed(run):
    def ids(*arguments: str) -> list[str]:
        done = run("findings", "list", "--format", "json", *arguments)
        assert done.status == 0, done.err
        return [finding["id"] for finding in json.loads(done.out)["findings"]]

    return ids


def test_without_a_service_a_scan_is_named(run) -> None:
    done = run("findings", "list")

    assert done.status == 2
    assert done.err.startswith("Error: No region: ")
    assert done.err.endswith("; for a scan use `slackwater scan --details`\n")


def test_open_findings_are_listed_the_most_expensive_first(run, store) -> None:
    store(tracked("a", "2"), tracked("b", "1234.5"), tracked("c", None), tracked("d", "0", kind="performance"))

    lines = run("findings", "list").out.splitlines()

    assert lines[0] == "4 open findings, 1,236.50 USD a month (1 unpriced), all in eu-west-1 of 123456789012"
    assert [line.split() for line in lines[3:]] == [
        ["b", "medium", "saves", "$1,234", "ebs-unattached", "scratch-b", "vol-b"],
        ["a", "medium", "saves", "$2", "ebs-unattached", "scratch-a", "vol-a"],
        ["d", "medium", "ebs-unattached", "scratch-d", "vol-d"],
        ["c", "medium", "unknown", "ebs-unattached", "scratch-c", "vol-c"],
    ]


def test_what_costs_money_is_listed_as_such_and_a_resource_counts_once(run, store) -> None:
    twice = tracked("a", "3")
    again = replace(twice, sighting=replace(twice.sighting, id="b", monthly_savings_usd=Decimal(2)))
    store(twice, again, tracked("c", "-352.15", kind="performance"))

    lines = run("findings", "list").out.splitlines()

    assert lines[0].startswith("3 open findings, 3.00 USD a month, ")
    assert lines[-1].split()[:4] == ["c", "medium", "costs", "$352"]


def test_filters_are_shown_and_regions_if_they_differ(run, store) -> None:
    store(tracked("a", "2"), tracked("b", "3", region="us-east-1"))

    both, one = run("findings", "list").out, run("findings", "list", "--region", "us-east-1").out

    assert [line.split()[-1] for line in both.splitlines()[2:]] == ["Region", "us-east-1", "eu-west-1"]
    assert one.startswith("1 open finding matches these filters, 3.00 USD a month, in us-east-1 of 123456789012\n")
    assert "Region" not in one


def test_on_a_narrow_terminal_no_name_is_broken(run, store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    store(tracked("0123456789abcdef", "2"), tracked("b", "3", region="us-east-1"))

    lines = [line.strip() for line in run("findings", "list").out.splitlines()]

    assert lines[-3].endswith("scratch-0123456789abcdef")
    assert lines[-2:] == ["vol-0123456789abcdef", "ebs-unattached, eu-west-1"]


def test_a_list_is_narrowed_down_and_ordered(listed, store) -> None:
    store(
        tracked("a", "2"), tracked("b", "30", severity="high"), tracked("c", "4", region="us-east-1"),
        replace(tracked("d", "5", detector="efs-idle"), opened_at=OPENED + timedelta(days=1)),
    )  # fmt: skip

    assert listed() == ["b", "d", "c", "a"]
    assert listed("--severity", "HIGH") == ["b"]
    assert listed("--region", "us-east-1") == ["c"]
    assert listed("--detector", "efs-idle") == ["d"]
    assert listed("--account", "123456789012", "--min-saving", "4.50") == ["b", "d"]
    assert listed("--account", "210987654321") == []
    assert listed("--status", "resolved") == []
    assert listed("--sort", "-opened_at")[0] == "d"
    assert listed("--sort", "monthly_savings_usd") == ["a", "c", "d", "b"]


def test_the_limit_spans_pages_and_the_remaining_number_is_shown(
    run, listed, store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slackwater_cli.listing.MAX_PAGE", 2)
    store(*(tracked(str(n), str(n)) for n in range(1, 8)))

    assert listed("--limit", "5") == ["7", "6", "5", "4", "3"]
    assert listed("--limit", "0") == ["7", "6", "5", "4", "3", "2", "1"]
    few, all_ = run("findings", "list", "--limit", "5").out, run("findings", "list").out
    assert few.startswith("The first 5 open findings, 25.00 USD a month, ")
    assert "There are more: --limit 0 shows all." in few
    assert all_.startswith("7 open findings, 28.00 USD a month, ")
    assert "more" not in all_
    document = json.loads(run("findings", "list", "--limit", "5", "--format", "json").out)
    assert (set(document), document["more"]) == ({"findings", "more"}, True)
    assert json.loads(run("findings", "list", "--format", "json").out)["more"] is False


def test_no_more_is_asked_for_than_a_page_holds() -> None:
    asked = []

    def page_of(size: int, cursor: str | None) -> Page[int]:
        asked.append(size)
        return Page(items=tuple(range(size)), cursor="on")

    assert len(first_items(MAX_PAGE * 2 + 1, page_of).items) == MAX_PAGE * 2 + 1
    assert asked == [MAX_PAGE, MAX_PAGE, 1]


def test_where_regions_may_not_be_listed_a_misspelt_one_is_still_named(
    run, service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_: object) -> None:
        raise AccessDeniedError("ec2:DescribeRegions")

    monkeypatch.setattr("slackwater.aws.client.regions.enabled_regions", denied)

    done = run("findings", "list", "--region", "eu-wset-1")

    assert (done.status, done.out) == (2, "")
    assert done.err == "Error: --region: no region 'eu-wset-1'; did you mean eu-west-1?\n"


def test_a_region_that_is_new_to_us_counts_if_it_is_enabled(listed, store, monkeypatch: pytest.MonkeyPatch) -> None:
    store(tracked("a", region="mars-north-1"))
    monkeypatch.setattr("slackwater.aws.client.regions.enabled_regions", lambda _: ["mars-north-1"])

    assert listed("--region", "mars-north-1") == ["a"]


def test_money_is_shown_to_the_cent(run, store) -> None:
    store(tracked("a", "90071992547409.93"))

    assert "90,071,992,547,409.93" in run("findings", "list").out


def test_the_stacks_region_is_where_the_table_is(run, store, monkeypatch: pytest.MonkeyPatch) -> None:
    store(tracked("a"))
    monkeypatch.setenv("AWS_REGION", "us-east-2")

    assert run("findings", "list", "--stack-region", "eu-west-1").out.startswith("1 open finding, ")


def test_an_empty_result_is_reported(run, service) -> None:
    assert run("findings", "list", "--status", "snoozed").out == "0 snoozed findings\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--detector", "efs-idel"], "--detector: no detector 'efs-idel'; did you mean efs-idle?"),
        (["--detector", ""], "--detector: no detector ''"),
        (["--account", ""], "--account '': an account has twelve digits"),
        (["--account", "1234567890123"], "an account has twelve digits"),
        (["--account", "١٢٣٤٥٦٧٨٩٠١٢"], "an account has twelve digits"),
        (["--region", ""], "--region: no region ''"),
        (["--min-saving", ""], "--min-saving '': must be an amount"),
        (["--account", "12345"], "--account '12345': an account has twelve digits"),
        (["--min-saving", "-1"], "--min-saving '-1': must be an amount"),
        (["--min-saving", "nan"], "--min-saving 'nan': must be an amount"),
        (
            ["--status", "closed"],
            "--status 'closed': there are open, snoozed, dismissed, approved, cleaning, resolved, failed\n",
        ),
        (["--sort", "age"], "--sort 'age': there are -monthly_savings_usd"),
        (["--region", "eu-wset-1"], "--region: no region 'eu-wset-1'; did you mean eu-west-1?"),
        (["--limit", "-1"], "--limit"),
    ],
)
def test_a_filter_that_cannot_match_is_wrong_usage(arguments: list[str], message: str, run, service) -> None:
    done = run("findings", "list", *arguments)

    assert (done.status, done.out) == (2, "")
    assert message in done.err


EVIDENCE = {
    "id": "a", "detector": "ebs-unattached", "severity": "medium", "kind": "waste", "confidence": "high",
    "owner": "data",
    "resource": {
        "arn": "arn:aws:ec2:eu-west-1:123456789012:volume/vol-a", "id": "vol-a", "type": "ebs-volume",
        "name": "scratch-a", "account": "123456789012", "region": "eu-west-1", "tags": {},
    },
    "summary": "100 GiB on no instance", "monthly_savings_usd": "12.30", "price_basis": [],
    "caveats": ["It may be wanted."], "evidence": [{"label": "Size", "value": 100, "unit": "GiB"}],
    "recommendations": [
        {"action": "delete", "summary": "Delete it.", "monthly_savings_usd": "12.30", "risk": "Gone.",
         "reversible": False},
        {"action": "keep", "summary": "Archive it.", "monthly_savings_usd": "9.00", "risk": "Slow.",
         "reversible": True},
    ],
    "fingerprint": "abc",
}  # fmt: skip


def test_a_finding_is_shown_as_a_scan_draws_it_with_what_became_of_it(run, store) -> None:
    store(tracked("a"))
    key = object_keys.target_scan("audit-1", "123456789012", "eu-west-1")
    boto3.client("s3", "eu-west-1").put_object(
        Bucket="slackwater-bucket", Key=key, Body=dump({"findings": [EVIDENCE]}).encode()
    )
    run("findings", "snooze", "a", "--until", LATER, "--why", "moving house")

    done = run("findings", "show", "a")

    assert done.status == 0
    for part in (
        "ebs-unattached  severity medium, high confidence",
        "saves $12/mo",
        "! It may be wanted.",
        "→ Delete it. You cannot undo this.  saves $12/mo\n          Risk: Gone.",
        "→ Archive it.  saves $9/mo\n          Risk: Slow.",
        f"a: snoozed until {LATER} by {CALLER}: moving house",
        "Opened 2026-11-01 06:00, last seen 2026-11-01 06:00 by audit audit-1 (UTC).",
        "opened   new",
        "snoozed  moving house",
    ):
        assert part in done.out
    document = json.loads(run("findings", "show", "a", "--format", "json").out)
    assert document["finding"] == EVIDENCE
    assert [entry["happening"] for entry in document["ledger"]] == ["opened", "snoozed"]


def test_a_finding_whose_evidence_is_gone_is_shown_without(run, store) -> None:
    store(tracked("a"))

    message = run("findings", "show", "a").out

    assert "ebs-unattached  severity medium" in message
    assert "scratch-a  vol-a  owner data  eu-west-1, account 123456789012" in message
    assert "Its evidence is no longer kept." in message


def test_a_decision_is_recorded_under_the_callers_name(run, listed, store) -> None:
    store(tracked("a"))

    done = run("findings", "dismiss", "a", "--why", "it is a spare")

    assert (done.status, done.out) == (0, f"a: dismissed by {CALLER}: it is a spare\n")
    assert listed() == []
    assert listed("--status", "dismissed") == ["a"]
    assert run("findings", "reopen", "a", "--why", "no longer").out == "a: open\n"
    assert listed() == ["a"]
    ledger = json.loads(run("findings", "show", "a", "--format", "json").out)["ledger"]
    assert [(entry["happening"], entry["who"], entry["why"]) for entry in ledger] == [
        ("opened", SERVICE, "new"),
        ("dismissed", CALLER, "it is a spare"),
        ("reopened", CALLER, "no longer"),
    ]


def test_a_snooze_for_days_ends_after_them(run, store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slackwater.wiring.scan.clock", lambda: datetime(2036, 12, 1, 12, 0, 0, 5, tzinfo=UTC))
    store(tracked("a"))

    assert run("findings", "snooze", "a", "--days", "7").out == f"a: snoozed until 2036-12-08T12:00:00Z by {CALLER}\n"
    assert run("findings", "list", "--status", "snoozed").out.splitlines()[3].endswith("vol-a        2036-12-08 12:00")


def test_an_end_may_be_a_day_which_counts_whole(run, store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slackwater.wiring.scan.clock", lambda: datetime(2036, 12, 1, 12, tzinfo=UTC))
    store(tracked("a"))

    assert (
        run("findings", "snooze", "a", "--until", "2036-12-01").out
        == f"a: snoozed until 2036-12-01T23:59:59Z by {CALLER}\n"
    )
    assert run("findings", "dismiss", "a", "--why", "x", "--until", "9999-12-31").status == 0


def test_an_approval_is_listed_and_taken_back_before_anything_else_is_decided(run, listed, store) -> None:
    until = datetime(2036, 12, 1, tzinfo=UTC)
    approval = Decision(status="approved", who="slack:U0JANE", why="", at=OPENED, until=until, fingerprint="abc")
    store(replace(tracked("a"), status="approved", decision=approval), tracked("b"))

    assert listed("--status", "approved") == ["a"]
    for decide in (["snooze", "a", "--days", "7"], ["dismiss", "a", "--why", "it is a spare"]):
        refused = run("findings", *decide)
        assert (refused.status, refused.out) == (2, "")
        assert "the finding a is approved; reopen it first" in refused.err
    reopened = run("findings", "reopen", "a", "--why", "not yet")
    assert (reopened.status, reopened.out) == (0, "a: open\n")
    assert reopened.err == "Before: approved until 2036-12-01T00:00:00Z\n"
    assert sorted(listed()) == ["a", "b"]
    ledger = json.loads(run("findings", "show", "a", "--format", "json").out)["ledger"]
    assert [(entry["happening"], entry["was"], entry["now"]) for entry in ledger[1:]] == [
        ("reopened", "approved", "open")
    ]


def test_a_decision_says_what_it_replaces(run, store) -> None:
    store(tracked("a"))

    assert run("findings", "reopen", "a").err == "The finding is already open.\n"
    assert run("findings", "dismiss", "a", "--why", "it is a spare").err == ""
    assert run("findings", "dismiss", "a", "--why", "it is a spare").err == "The finding is already dismissed.\n"
    assert run("findings", "snooze", "a", "--until", LATER).err == "Before: dismissed for good: it is a spare\n"
    assert run("findings", "reopen", "a").err == f"Before: snoozed until {LATER}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "nobody"], "nobody"),
        (["snooze", "nobody", "--days", "7"], "nobody"),
        (["snooze", "a"], "either --days or --until"),
        (["snooze", "a", "--days", "7", "--until", LATER], "either --days or --until"),
        (["snooze", "a", "--days", "367"], "--days: at most 366"),
        (["snooze", "a", "--until", "2020-01-01T00:00:00Z"], "--until: not in the future"),
        (["snooze", "a", "--until", "2026-13-01"], "--until"),
        (["snooze", "a", "--until", "tomorrow"], "--until 'tomorrow': not a time"),
        (["snooze", "a", "--until", ""], "--until '': not a time"),
        (["dismiss", "a", "--why", "x", "--until", ""], "--until '': not a time"),
        (["dismiss", "a"], "--why"),
        (["dismiss", "a", "--why", " "], "--why: a dismissal needs a reason"),
        (["dismiss", "a", "--why", "x", "--until", "2020-01-01T00:00:00Z"], "future"),
    ],
)
def test_what_cannot_be_decided_is_wrong_usage_and_changes_nothing(
    arguments: list[str], message: str, run, listed, store
) -> None:
    store(tracked("a"))

    done = run("findings", *arguments)

    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert listed() == ["a"]


def test_a_finding_that_was_resolved_cannot_be_snoozed(run, store) -> None:
    store(replace(tracked("a"), status="resolved", resolved_at=OPENED))

    done = run("findings", "snooze", "a", "--days", "7")

    assert (done.status, done.out) == (2, "")
    assert "resolved" in done.err


def test_a_table_that_is_gone_leaves_with_4(run, service) -> None:
    boto3.client("dynamodb", "eu-west-1").delete_table(TableName="findings-table")

    done = run("findings", "list")

    assert (done.status, done.out) == (4, "")
    assert "ResourceNotFoundException" in done.err
