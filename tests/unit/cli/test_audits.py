"""`slackwater audits`."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import boto3
import pytest

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession
from slackwater.aws.store.audits import DynamoAudits
from slackwater.aws.store.table import Table
from slackwater.model import object_keys
from slackwater.model.audits import AuditOutcome, AuditRecord, AuditRequest, AuditState, IncompleteTarget, RunningAudits
from slackwater.model.policy_version import PolicyVersion
from slackwater.views.scan.to_json import dump
from slackwater_cli.commands import audits
from slackwater_cli.exits import ExitStatus
from slackwater_cli.progress import waiting
from slackwater_cli.stopping import Stopped

ADA = "arn:aws:sts::123456789012:assumed-role/Admin/ada"
NOW = datetime(2026, 11, 16, 9, 7, tzinfo=UTC)
OUTCOME = AuditOutcome(
    targets=3, incomplete_targets=1,
    incomplete=(IncompleteTarget(account="123456789012", region="us-east-1", why="denied"),), gaps=2, findings=7,
    monthly_savings_usd=Decimal("1234.50"), unpriced=1, opened=2, changed=1, resolved=3, api_calls=40,
    metrics_requested=500, estimated_usd=Decimal("0.005"), incomplete_in_a_row=1,
)  # fmt: skip
SCAN = {
    "scan": {
        "targets": [{"account": "123456789012", "region": "us-east-1", "complete": False}],
        "gaps": [
            {
                "account": "123456789012", "region": "us-east-1", "what": "fsx:DescribeVolumes",
                "reason": "AccessDenied: no", "optional": False,
            },
        ],
    },
    "totals": {},
}  # fmt: skip


def record(id: str, state: AuditState, n: int = 0, **changes: Any) -> AuditRecord:
    values: dict[str, Any] = {
        "finished_at": None if state == "running" else NOW + timedelta(hours=n, minutes=5),
        "request": AuditRequest(requested_by="schedule", occasion=f"weekly/{n}"),
        "policy": PolicyVersion(version="v1", sha256="abc"),
        "outcome": OUTCOME if state in {"complete", "incomplete"} else None,
        "error": "PolicyError: every detector is off" if state == "failed" else None,
    }
    return AuditRecord(id=id, state=state, started_at=NOW + timedelta(hours=n), **values | changes)


@pytest.fixture
def store(service) -> DynamoAudits:
    return DynamoAudits(Table(AwsSession(meter=CallMeter()), "findings-table"), timedelta(days=4_000), lambda: NOW)


@pytest.fixture
def while_waiting(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that takes steps. Each sleep of the command runs the next step."""

    def happen(*steps: Callable[[], object]) -> None:
        left = iter(steps)
        monkeypatch.setattr(audits.time, "sleep", lambda _: next(left)())

    return happen


def test_an_audit_is_started_under_the_callers_name_and_its_id_is_all_that_is_printed(run, service) -> None:
    done = run("audits", "start", "--region", "us-east-1", "--region", "eu-west-1", "--detector", "efs-idle")

    (started,) = service.started
    assert (done.status, done.out) == (0, f"{started['name']}\n")
    request = json.loads(started["input"])
    assert request["requested_by"] == "arn:aws:sts::123456789012:user/moto"
    assert (request["regions"], request["detectors"]) == (["us-east-1", "eu-west-1"], ["efs-idle"])
    assert started["stateMachineArn"] == "arn:aws:states:eu-west-1:123456789012:stateMachine:audit"
    assert f"slackwater audits show {started['name']}" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["start", "--region", "eu-wset-1"], "--region: no region 'eu-wset-1'; did you mean eu-west-1?"),
        (["start", "--region", ""], "--region: no region ''"),
        (["start", "--detector", ""], "no detector ''"),
        (["start", "--detector", "efs-idel"], "no detector 'efs-idel'; did you mean efs-idle?"),
        (["show", "nobody"], "no audit 'nobody'"),
    ],
)
def test_wrong_usage_starts_nothing(arguments: list[str], message: str, run, service) -> None:
    done = run("audits", *arguments)

    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert service.started == []


@pytest.mark.parametrize(("state", "status"), [("complete", 0), ("incomplete", 3), ("failed", 3)])
def test_waiting_for_an_audit_reports_how_it_ended(
    state: AuditState, status: int, run, service, store: DynamoAudits, while_waiting
) -> None:
    def id_() -> str:
        return str(service.started[0]["name"])

    while_waiting(lambda: store.begin(record(id_(), "running")), lambda: None, lambda: store.end(record(id_(), state)))

    done = run("audits", "start", "--wait")

    assert done.status == status
    assert done.err == f"Audit {id_()} is on its way.\n"
    assert done.out.startswith(f"{id_()}: {state}\n")


def test_an_audit_that_never_begins_is_not_waited_for_for_ever(run, service, while_waiting) -> None:
    while_waiting(*[lambda: None] * (audits.TO_BEGIN_S // audits.POLL_S))

    done = run("audits", "start", "--wait")

    assert (done.status, done.out) == (3, "")
    assert f"Audit {service.started[0]['name']} has not begun after 300 seconds" in done.err


def test_an_audit_that_never_ends_is_not_waited_for_for_ever(
    run, service, store: DynamoAudits, while_waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audits, "POLL_S", 3_600)
    while_waiting(lambda: store.begin(record(str(service.started[0]["name"]), "running")), *[lambda: None] * 11)

    done = run("audits", "start", "--wait")

    assert (done.status, done.out) == (3, "")
    assert f"Audit {service.started[0]['name']} has not ended after 12 hours: its execution" in done.err


def test_audits_are_listed_the_newest_first(run, store: DynamoAudits) -> None:
    for n, state in enumerate(("complete", "incomplete", "failed", "running")):
        store.begin(record(f"audit-{n}", state, n))  # type: ignore[arg-type]

    lines = run("audits", "list").out.splitlines()
    few = run("audits", "list", "--limit", "2")

    assert [line.split()[:2] for line in lines[1:5]] == [
        ["audit-3", "running"],
        ["audit-2", "failed"],
        ["audit-1", "incomplete"],
        ["audit-0", "complete"],
    ]
    assert "1,234.50" in lines[3]
    assert "There are older ones: --limit 0 shows all." in few.out
    document = json.loads(run("audits", "list", "--limit", "2", "--format", "json").out)
    assert [audit["id"] for audit in document["audits"]] == ["audit-3", "audit-2"]
    assert document["more"] is True
    assert json.loads(run("audits", "list", "--format", "json").out)["more"] is False
    assert set(document) == {"audits", "more", "allowance"}


def test_a_history_without_audits_is_reported(run, service) -> None:
    assert run("audits", "list").out.startswith("No audit is kept.\n")


def test_the_list_has_todays_remaining_number_of_audits(run, service, store: DynamoAudits) -> None:
    store.write_running(RunningAudits(since={"audit-1": NOW, "audit-2": NOW}, revision=1))
    store.begin(record("audit-1", "complete"))
    day = datetime.now(UTC).date().isoformat()
    spent = {"pk": {"S": f"SPEND#day/{day}"}, "sk": {"S": "SPEND"}, "metrics": {"N": "321000"}}
    boto3.client("dynamodb", "eu-west-1").put_item(TableName="findings-table", Item=spent)

    assert run("audits", "list").out.endswith(
        "\nLeft today: 46.79 of 50.00 USD for metrics; 1 of 3 audits is running.\n"
    )
    assert json.loads(run("audits", "list", "--format", "json").out)["allowance"] == {
        "running": ["audit-2"], "most_running": 3, "day": day, "spent_usd": "3.21", "most_usd": "50.00",
        "left_usd": "46.79",
    }  # fmt: skip


def test_whom_the_policy_does_not_name_neither_audits_nor_decides(run, service, store: DynamoAudits) -> None:
    text = b'[api]\nauditors = ["ada@example.com"]\ndeciders = ["ada@example.com"]\n'
    boto3.client("s3", "eu-west-1").put_object(Bucket="slackwater-bucket", Key=object_keys.POLICY, Body=text)

    for command, key in (
        (("audits", "start"), "auditors"),
        (("findings", "dismiss", "f00d", "--why", "x"), "deciders"),
    ):
        refused = run(*command)
        assert (refused.status, refused.out, service.started) == (4, "", [])
        assert f"the policy's api.{key} does not name arn:aws:sts::123456789012:" in refused.err


def test_one_audit_too_many_is_refused_with_those_that_run(run, service, store: DynamoAudits) -> None:
    for _ in range(2):
        assert run("audits", "start").status == 0
    running = [str(one["name"]) for one in service.started]

    refused = run("audits", "start")

    assert (refused.status, refused.out, len(service.started)) == (2, "", 2)
    assert (
        f"2 audits are running, as many as scan.most_running_audits allows one caller: {', '.join(running)}"
        in refused.err
    )


def test_an_audit_is_shown_with_what_it_could_not_see_and_where_its_document_is(run, store: DynamoAudits) -> None:
    store.begin(record("audit-1", "incomplete"))
    boto3.client("s3", "eu-west-1").put_object(
        Bucket="slackwater-bucket", Key=object_keys.head("audit-1"), Body=dump(SCAN).encode()
    )

    done = run("audits", "show", "audit-1")

    assert done.status == 0
    for part in (
        "audit-1: incomplete\n",
        "started 2026-11-16 09:07 UTC, ended 2026-11-16 09:12 UTC.",
        "By policy version v1: all enabled detectors, in the policy's regions.",
        "7 findings, 1,234.50 USD a month, performance fixes included (1 unpriced).\n2 opened, 1 changed, 3 resolved.",
        "3 regions, 1 incomplete; 40 requests, 500 metrics, AWS charges: under $0.01.",
        "  fsx:DescribeVolumes in us-east-1\n    AccessDenied: no\n",
        "`slackwater audits show audit-1 --format json` has a link to its scan document.",
    ):
        assert part in done.out
    assert " ".join(done.out.split()).endswith("`slackwater audits report` links to the newest report.")
    assert "https:" not in done.out
    document = json.loads(run("audits", "show", "audit-1", "--format", "json").out)
    assert document["gaps"] == SCAN["scan"]["gaps"]
    assert document["scan_url"].startswith(
        "https://slackwater-bucket.s3.eu-west-1.amazonaws.com/audits/audit-1/scan.json?"
    )


def test_the_newest_report_has_a_link(run, store: DynamoAudits) -> None:
    store.begin(record("audit-1", "incomplete"))
    none = run("audits", "report")
    boto3.client("s3", "eu-west-1").put_object(
        Bucket="slackwater-bucket", Key=object_keys.report("audit-1"), Body=b"<!doctype html>"
    )
    link = run("audits", "report").out
    document = json.loads(run("audits", "report", "--format", "json").out)

    assert (none.status, none.out) == (2, "")
    assert "audit audit-1 left no report" in none.err
    assert link.startswith("https://slackwater-bucket.s3.eu-west-1.amazonaws.com/audits/audit-1/report.html?")
    assert link.count("\n") == 1
    assert document["audit_id"] == "audit-1"
    assert document["url"].partition("?")[0] == link.partition("?")[0]


def test_the_reason_of_a_failed_audit_is_shown(run, store: DynamoAudits) -> None:
    store.begin(record("audit-1", "failed"))

    assert "PolicyError: every detector is off\n" in run("audits", "show", "audit-1").out


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("PolicyError: every detector is off", "PolicyError: every detector is off"),
        (
            "Runtime.HandlerError: s3://b/policy/slackwater.toml:3: no such key",
            "s3://b/policy/slackwater.toml:3: no such key",
        ),
    ],
)
def test_an_audit_that_failed_by_its_policy_asks_to_fix_it(error: str, message: str, run, store: DynamoAudits) -> None:
    store.begin(record("audit-1", "failed", error=error, policy=None))

    lines = run("audits", "show", "audit-1").out.splitlines()

    assert lines[2] == "Asked for: all enabled detectors, in the policy's regions."
    assert message in lines
    assert lines[-2:] == [
        "`slackwater policy pull --output slackwater.toml`, fix it,",
        "`slackwater policy push slackwater.toml`.",
    ]


def test_another_failure_says_nothing_of_the_policy(run, store: DynamoAudits) -> None:
    store.begin(record("audit-1", "failed", error="States.Timeout: no end"))

    assert run("audits", "show", "audit-1").out.endswith("States.Timeout: no end\n")


def test_an_access_error_is_reported_once_with_every_region(run, store: DynamoAudits) -> None:
    def gap(region: str, optional: bool = False) -> dict[str, Any]:
        reason = f"AccessDenied: no efs in arn:aws:efs:{region}"
        return {"account": "123456789012", "region": region, "what": "efs:List", "reason": reason, "optional": optional}

    gaps = [gap("us-east-1"), gap("eu-west-1"), gap("eu-west-2", optional=True)]
    store.begin(record("audit-1", "incomplete"))
    document = dump({"scan": {"targets": [], "gaps": gaps}, "totals": {}}).encode()
    boto3.client("s3", "eu-west-1").put_object(
        Bucket="slackwater-bucket", Key=object_keys.head("audit-1"), Body=document
    )

    shown = run("audits", "show", "audit-1").out

    assert (
        "Required calls that failed:\n  efs:List in 2 regions\n    us-east-1, eu-west-1\n"
        "    AccessDenied: no efs in arn:aws:efs:us-east-1\n\n"
        "Optional calls that failed:\n  efs:List in eu-west-2\n"
    ) in shown


def test_without_its_scan_document_an_audit_still_says_what_was_incomplete(run, store: DynamoAudits) -> None:
    store.begin(record("audit-1", "incomplete"))

    assert (
        "Required calls that failed:\n  us-east-1 of 123456789012\n    denied\n" in run("audits", "show", "audit-1").out
    )


@pytest.mark.parametrize(("columns", "asked_by"), [(80, []), (100, ["Admin/ada"]), (160, [ADA])])
def test_a_list_drops_who_asked_and_never_cuts_an_id(
    columns: int, asked_by: list[str], run, store: DynamoAudits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    document = record(f"20261116T090700Z-{'0' * 8}", "incomplete", request=AuditRequest(requested_by=ADA))
    store.begin(replace(document, started_at=NOW.replace(microsecond=5)))

    head, line, *_ = run("audits", "list").out.splitlines()

    assert "Started (UTC)" in head
    assert line.split() == [
        "20261116T090700Z-00000000",
        "incomplete",
        "2026-11-16",
        "09:07",
        "7",
        "1,234.50",
        *asked_by,
    ]


def test_an_id_longer_than_the_terminal_is_whole(run, store: DynamoAudits, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    store.begin(record(f"key-{'0' * 32}", "incomplete"))

    assert run("audits", "list").out.splitlines()[1].startswith(f"key-{'0' * 32}  incomplete  2026-11-16 09:07")


def test_an_interrupted_wait_reports_that_the_audit_continues(
    run, service, while_waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop() -> None:
        raise Stopped(ExitStatus.INTERRUPTED)

    left: list[int] = []
    monkeypatch.setattr("os._exit", lambda status: left.append(status) or sys.exit(status))
    while_waiting(stop)

    done = run("audits", "start", "--wait")

    id_ = service.started[0]["name"]
    assert left == [130]
    assert done.err.endswith(f"interrupted; the audit continues; `slackwater audits show {id_}` shows its state\n")


def test_who_waits_at_a_terminal_sees_the_time_go_by(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")

    with waiting("Auditing"):
        pass

    assert "Auditing 0:00:00" in capsys.readouterr().err
