"""The functions as Lambda calls them, each with its event, on a simulated account and moto's table and bucket."""

import gc
import importlib.util
import json
import tempfile
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError
from jsonschema import Draft202012Validator
from moto import mock_aws
from pydantic import ValidationError

from slackwater.app.audit import publish as audit_publish
from slackwater.app.audit.limits import TooManyAuditsError
from slackwater.app.policy.file import PolicyError
from slackwater.app.telemetry import LOGGER, METRICS
from slackwater.aws.client.errors import remedies
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession
from slackwater.aws.deployment.event_bus import EventBridgeBus
from slackwater.aws.inventory.snapshot import SnapshotWriter
from slackwater.aws.store.outbox import DynamoOutbox
from slackwater.aws.store.table import Table
from slackwater.engine.registry import registry
from slackwater.model import object_keys
from slackwater.model.posts import Message, Post
from slackwater.model.resources import OptimizerEnrollment
from slackwater.ports.errors import AwsError
from slackwater.ports.events import NotSentError
from slackwater.views.scan import to_json as scan_json
from slackwater.wiring import scan as scan_wiring
from slackwater.wiring import service as service_wiring
from slackwater.wiring.garbage import THRESHOLDS
from slackwater_simulator import Simulator, demo_fleet
from support.slack_server import Fault, SlackServer

ROOT = Path(__file__).parents[3]

NOW = datetime(2026, 11, 16, 9, 7, 42, tzinfo=UTC)
SIMULATED = ("EC2", "EFS", "FSX", "CLOUDWATCH", "CLOUDTRAIL", "COMPUTE_OPTIMIZER", "PRICING", "STS")
CONTEXT = SimpleNamespace(
    function_name="slackwater", memory_limit_in_mb=1769, aws_request_id="1-2-3",
    invoked_function_arn="arn:aws:lambda:ap-northeast-1:123456789012:function:slackwater",
    get_remaining_time_in_millis=lambda: 900_000,
)  # fmt: skip


def event(name: str):
    return json.loads((ROOT / "events" / f"{name}.json").read_text())


AUDIT = event("plan")["audit_id"]
ASKED = {"efs-idle", "efs-orphaned", "ebs-unattached", "ebs-idle", "ec2-idle", "fsx-idle", "fsx-oversized"}
FEW = "".join(f"[detectors.{id_}]\nenabled = false\n" for id_ in registry() if id_ not in ASKED)
"""A policy that shortens a scan by a second. The functions do not depend on which detectors run."""
assert registry().keys() >= ASKED


class Deployment:
    """The resources that the template creates, and its functions."""

    def __init__(self, simulator: Simulator, session: AwsSession) -> None:
        self.simulator, self.session = simulator, session

    def call(self, function: str, payload=None):
        """Load a function and call it, by default with its event in `events`."""
        spec = importlib.util.spec_from_file_location(f"{function}_function", ROOT / "functions" / function / "app.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return json.loads(json.dumps(module.handler(event(function) if payload is None else payload, CONTEXT)))

    def state_of(self, audit_id: str) -> str:
        """Return the stored state of an audit."""
        (found,) = [one["state"]["S"] for one in self.items if one["pk"]["S"] == f"AUDIT#{audit_id}"]
        return found

    def document(self, key: str):
        answer = self.session.client("s3", "ap-northeast-1").get_object(Bucket="slackwater-bucket", Key=key)
        return json.loads(answer["Body"].read())

    def stored(self, key: str) -> tuple[str, str]:
        """Return an object of the bucket as text, and its content type."""
        answer = self.session.client("s3", "ap-northeast-1").get_object(Bucket="slackwater-bucket", Key=key)
        return answer["Body"].read().decode(), answer["ContentType"]

    def audit(self) -> str:
        """Run one audit from plan to publish. Return its final state."""
        self.call("plan")
        for target in self.document(object_keys.targets(AUDIT)):
            self.call("scan", {"audit_id": AUDIT, "target": target, "part": 1})
        return self.call("publish")["state"]

    def put_policy(self, text: str) -> None:
        self.session.client("s3", "ap-northeast-1").put_object(
            Bucket="slackwater-bucket", Key=object_keys.POLICY, Body=text.encode()
        )

    @property
    def items(self):
        return self.session.client("dynamodb", "ap-northeast-1").scan(TableName="slackwater-table")["Items"]


@pytest.fixture(scope="module")
def simulator():
    with Simulator(demo_fleet()) as running:
        yield running


@pytest.fixture
def deployed(monkeypatch, tmp_path, simulator, table_properties):
    environment = {
        "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "ap-northeast-1",
        "TABLE_NAME": "slackwater-table", "BUCKET_NAME": "slackwater-bucket", "RETENTION_DAYS": "400",
        "EVENT_BUS_NAME": "default", **{f"AWS_ENDPOINT_URL_{service}": simulator.url for service in SIMULATED},
    }  # fmt: skip
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION", "SLACK_SECRET_ARN", "SLACK_API_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(scan_wiring, "clock", lambda: NOW)
    monkeypatch.setattr(service_wiring, "clock", lambda: NOW)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(audit_publish, "AT_ONCE", 1)  # moto's transactions are not thread-safe
    monkeypatch.setattr(METRICS.provider, "service", "slackwater")
    monkeypatch.setattr(LOGGER.registered_handler, "stream", StringIO())
    simulator.faults.clear()
    with mock_aws():
        session = AwsSession(meter=CallMeter())
        make_bucket(session)
        session.client("dynamodb", "ap-northeast-1").create_table(TableName="slackwater-table", **table_properties)
        there = Deployment(simulator, session)
        there.put_policy(FEW)
        yield there


def make_bucket(session: AwsSession) -> None:
    s3 = session.client("s3", "ap-northeast-1")
    s3.create_bucket(Bucket="slackwater-bucket", CreateBucketConfiguration={"LocationConstraint": "ap-northeast-1"})
    s3.put_bucket_versioning(Bucket="slackwater-bucket", VersioningConfiguration={"Status": "Enabled"})


def metrics(capsys) -> dict[str, float]:
    """Return the metrics published since the last call, from the embedded metric format."""
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    found = {}
    for line in lines:
        for directive in line.get("_aws", {}).get("CloudWatchMetrics", []):
            assert (directive["Namespace"], directive["Dimensions"]) == ("Slackwater", [["service"]])
            assert line["service"] == "slackwater"
            found |= {metric["Name"]: line[metric["Name"]][0] for metric in directive["Metrics"]}
    return found


def test_an_audit_runs_through_its_functions(deployed, capsys) -> None:
    planned = deployed.call("plan")
    assert (planned["audit_id"], planned["duplicate"]) == (AUDIT, False)
    targets = deployed.document(object_keys.targets(AUDIT))
    assert {"account": "123456789012", "region": "ap-northeast-1", "partition": "aws"} in targets
    assert planned["to_scan"] == len(targets)
    assert metrics(capsys) == {"PolicyInvalid": 0.0}

    results = [deployed.call("scan", {"audit_id": AUDIT, "target": target, "part": 1}) for target in targets]
    assert [(result["complete"], result["next_part"]) for result in results] == [(True, 0)] * len(targets)
    target = deployed.document(object_keys.target_scan(AUDIT, "123456789012", "ap-northeast-1"))
    assert target["scan"]["id"] == AUDIT
    assert len(target["findings"]) > 5
    capsys.readouterr()

    assert deployed.call("publish") == {"audit_id": AUDIT, "state": "complete"}
    whole = deployed.document(object_keys.scan(AUDIT))
    Draft202012Validator(scan_json.schema()).validate(whole)
    published = metrics(capsys)
    count = whole["totals"]["findings"]
    assert published == {
        "AuditFailed": 0.0, "AuditIncomplete": 0.0, "Findings": count, "FindingsOpened": count, "FindingsResolved": 0.0,
        "Gaps": len(whole["scan"]["gaps"]), "IncompleteInARow": 0.0,
        "MetricsRequested": whole["scan"]["usage"]["metrics_requested"],
        "MonthlySavingsUsd": float(whole["totals"]["monthly_savings_usd"]),
        "AuditCostUsd": float(whole["scan"]["usage"]["estimated_usd"]),
    }  # fmt: skip
    changes = deployed.document(object_keys.changes(AUDIT))
    assert {change["kind"] for change in changes} == {"new"}
    assert [change["entry"]["evidence"]["id"] for change in changes] == [finding["id"] for finding in whole["findings"]]
    assert [change["found"] for change in changes] == whole["findings"]
    report, kind = deployed.stored(object_keys.report(AUDIT))
    assert kind == "text/html; charset=utf-8"
    assert report.lower().startswith("<!doctype html>")
    assert [finding["id"] for finding in whole["findings"] if finding["id"] not in report] == []
    kinds = [item["sk"]["S"].partition("#")[0] for item in deployed.items]
    assert (kinds.count("FINDING"), kinds.count("LEDGER"), kinds.count("AUDIT"), kinds.count("OCCASION")) == (
        count,
        count,
        1,
        1,
    )


def test_the_scan_counts_its_own_calls_however_warm_it_is(deployed) -> None:
    deployed.call("plan")
    spec = importlib.util.spec_from_file_location("warm", ROOT / "functions" / "scan" / "app.py")
    module = importlib.util.module_from_spec(spec)
    before = gc.get_threshold()
    gc.set_threshold(2_000, 10, 10)
    spec.loader.exec_module(module)
    assert gc.get_threshold() == THRESHOLDS
    gc.set_threshold(*before)
    usages = []
    for _ in range(2):
        module.handler(event("scan"), CONTEXT)
        usages.append(
            deployed.document(object_keys.target_scan(AUDIT, "123456789012", "ap-northeast-1"))["scan"]["usage"]
        )

    assert usages[0]["api_calls"]["ec2:DescribeVolumes"] == usages[1]["api_calls"]["ec2:DescribeVolumes"]
    assert usages[0]["metrics_requested"] == usages[1]["metrics_requested"] > 0


def test_what_a_scan_that_was_killed_left_behind_is_gone_with_the_next_and_nothing_else_is(deployed, tmp_path) -> None:
    killed = SnapshotWriter(part_records=0)
    killed.add([OptimizerEnrollment(id="123456789012")])
    (left,) = tmp_path.glob("slackwater-*")
    others = [
        tmp_path / "slackwater/prices.json",
        tmp_path / "slackwater-spool/document.json",
        tmp_path / "tmp1/stock.sqlite",
    ]
    for file in others:
        file.parent.mkdir()
        file.touch()
    deployed.call("plan")
    assert left.exists()

    assert deployed.call("scan")["complete"] is True
    assert not left.exists()
    assert [file for file in others if not file.exists()] == []
    killed.close()


def test_a_table_that_throttles_half_way_fails_the_step_and_its_retry_loses_nothing(deployed, monkeypatch) -> None:
    deployed.put_policy("[scan]\nregions = ['ap-northeast-1']\n")
    deployed.call("plan")
    deployed.call("scan")
    put, answers = Table.put, iter([True] * 5)

    def throttled(table: Table, *puts):
        if next(answers, False):
            return put(table, *puts)
        refused = {"Error": {"Code": "ThrottlingException", "Message": "Rate exceeded"}}
        with remedies():
            raise ClientError(refused, "TransactWriteItems")

    with monkeypatch.context() as busy:
        busy.setattr(Table, "put", throttled)
        with pytest.raises(AwsError, match="Rate exceeded"):
            deployed.call("publish")

    def stored(kind: str) -> list[str]:
        return sorted(item["pk"]["S"] for item in deployed.items if item["sk"]["S"].startswith(kind))

    assert len(stored("FINDING")) == len(stored("LEDGER#")) == 5

    assert deployed.call("publish")["state"] == "complete"
    whole = deployed.document(object_keys.scan(AUDIT))
    assert stored("FINDING") == stored("LEDGER#") == sorted(f"FINDING#{finding['id']}" for finding in whole["findings"])


def test_a_target_that_failed_is_named(deployed, capsys) -> None:
    deployed.put_policy("[scan]\nregions = ['ap-northeast-1', 'us-east-1']\n")
    deployed.call("plan")
    deployed.call("scan")
    assert deployed.call("publish", event("publish-not-scanned")) == {"audit_id": AUDIT}
    capsys.readouterr()

    assert deployed.call("publish") == {"audit_id": AUDIT, "state": "incomplete"}
    gap = {"account": "123456789012", "region": "us-east-1", "what": "lambda:Invoke", "optional": False}
    (found,) = [gap for gap in deployed.document(object_keys.scan(AUDIT))["scan"]["gaps"] if not gap["optional"]]
    assert found | gap == found
    assert found["reason"].endswith("Task timed out after 900.00 seconds")
    published = metrics(capsys)
    assert (published["AuditIncomplete"], published["IncompleteInARow"], published["AuditFailed"]) == (1.0, 1.0, 0.0)


def test_what_may_not_be_read_leaves_the_audit_incomplete(deployed) -> None:
    deployed.simulator.faults.deny("ec2:DescribeVolumes")
    deployed.put_policy("[scan]\nregions = ['ap-northeast-1']\n")
    deployed.call("plan")
    result = deployed.call("scan")

    assert result["complete"] is False
    assert deployed.call("publish")["state"] == "incomplete"


def test_the_same_turn_again_is_a_duplicate(deployed) -> None:
    deployed.call("plan")

    assert deployed.call("plan", event("plan") | {"audit_id": "another"}) == {
        "audit_id": "another", "duplicate": True, "to_scan": 0,
    }  # fmt: skip


def test_planning_asks_step_functions_whether_others_still_run(deployed) -> None:
    """Step Functions does not know the first audit's execution, so the third audit marks it as failed."""
    deployed.call("plan")
    another = event("plan") | {"audit_id": "another", "request": {"requested_by": "me"}}

    assert (
        deployed.call("plan", another | {"machine": None})["duplicate"] is False
    )  # an execution of the previous version
    assert deployed.state_of(AUDIT) == "running"

    assert deployed.call("plan", another | {"audit_id": "third"})["duplicate"] is False
    assert (deployed.state_of(AUDIT), deployed.state_of("another"), deployed.state_of("third")) == (
        "failed",
        "failed",
        "running",
    )


def test_planning_refuses_one_audit_too_many(deployed) -> None:
    deployed.put_policy("[scan]\nmost_running_audits = 1\n")
    deployed.call("plan")

    with pytest.raises(TooManyAuditsError, match=f"^1 audit is running, as many as .*: {AUDIT}$"):
        deployed.call("plan", {"audit_id": "another", "request": {"requested_by": "me"}})


def test_a_policy_that_is_not_valid_is_counted_and_the_audit_is_on_record_as_failed(deployed, capsys) -> None:
    deployed.put_policy("[detectors.efs-idel]\n")
    with pytest.raises(PolicyError, match=r"s3://slackwater-bucket/policy/slackwater.toml:1: .*efs-idle"):
        deployed.call("plan")
    assert metrics(capsys) == {"PolicyInvalid": 1.0}

    failed = event("publish-failed")
    assert deployed.call("publish", failed) == {"audit_id": failed["audit_id"], "state": "failed"}
    assert metrics(capsys) == {"AuditFailed": 1.0, "AuditIncomplete": 0.0}
    (record,) = [json.loads(item["document"]["S"]) for item in deployed.items if item["sk"]["S"] == "AUDIT"]
    assert record["error"].startswith(
        "PolicyError: s3://slackwater-bucket/policy/slackwater.toml:7: detectors.efs-idel"
    )
    assert "stackTrace" not in record["error"]


def test_a_failure_is_recorded_even_where_the_request_is_its_cause(deployed) -> None:
    failed = event("publish-failed") | {"request": {"detector": "efs-idle"}}

    assert deployed.call("publish", failed)["state"] == "failed"


@pytest.mark.parametrize(
    ("function", "payload"),
    [
        ("plan", {"audit_id": "a", "request": {"requested_by": "me", "detector": ["efs-idle"]}}),
        ("plan", {"request": {"requested_by": "me"}}),
        ("scan", {"audit_id": "a", "target": {"account": "1"}}),
        ("publish", {"audit_id": "a", "target": {"region": "us-east-1"}}),
        ("publish", {}),
        ("notify", {"audit_id": "a", "request": {}}),
        ("notify", {"audit_ids": []}),
    ],
)
def test_an_unknown_event_is_refused(deployed, function, payload) -> None:
    with pytest.raises(ValidationError):
        deployed.call(function, payload)


def test_without_a_secret_nothing_is_posted_and_nothing_requested(deployed, capsys) -> None:
    before = deployed.items

    assert deployed.call("notify") == {"waiting": 0, "wait_s": 0}
    assert (deployed.items, metrics(capsys)) == (before, {})


def of_a_cleanup(deployed: Deployment) -> DynamoOutbox:
    """Return the outbox, with a post that a clean-up recorded."""
    outbox = DynamoOutbox(Table(deployed.session, "slackwater-table"), lambda: NOW)
    outbox.record(
        [
            Post(
                id="cleanup.f00d.1.marked", audit_id=None, created_at=NOW, channel="C0DEFAULT", thread_of=None,
                message=Message(text="Marked for clean-up"),
            )
        ]
    )  # fmt: skip
    return outbox


def test_without_a_secret_news_of_clean_ups_is_not_queued(deployed) -> None:
    outbox = of_a_cleanup(deployed)

    assert deployed.call("notify", {}) == {"waiting": 0, "wait_s": 0}
    given_up = outbox.get("cleanup.f00d.1.marked")
    assert given_up
    assert (given_up.state, given_up.why) == ("failed", "there is no Slack")


@pytest.fixture
def slack(deployed, monkeypatch):
    """Serve Slack on the loopback, and store the secret for it."""
    with SlackServer(clock=NOW.timestamp) as running:
        secrets = deployed.session.client("secretsmanager", "ap-northeast-1")
        made = secrets.create_secret(Name="slackwater/slack", SecretString=running.secret())
        monkeypatch.setenv("SLACK_SECRET_ARN", made["ARN"])
        monkeypatch.setenv("SLACK_API_URL", running.url)
        monkeypatch.setattr(service_wiring, "time", SimpleNamespace(sleep=lambda _: None))
        yield running


IN_SLACK = "[scan]\nregions = ['ap-northeast-1']\n[slack]\nchannel = 'C0DEFAULT'\ndeciders = ['U0ADA']\n"


def test_an_audit_is_posted_to_slack_once(deployed, slack, capsys) -> None:
    deployed.put_policy(IN_SLACK)
    assert deployed.audit() == "complete"
    capsys.readouterr()

    assert deployed.call("notify") == {"waiting": 0, "wait_s": 0}
    assert metrics(capsys) == {"SlackPostsFailed": 0.0, "SlackPostsWaiting": 0.0}
    (digest,) = slack.channels["C0DEFAULT"].seen()
    assert slack.channels["C0DEFAULT"].seen(digest.ts)
    seen = slack.channels["C0DEFAULT"].messages
    findings = [finding["id"] for finding in deployed.document(object_keys.scan(AUDIT))["findings"]]
    assert next(block["block_id"].split("/")[1] for block in digest.blocks if block["type"] == "actions") in findings

    posted = len(seen)
    assert deployed.call("notify") == {"waiting": 0, "wait_s": 0}
    assert len(seen) == posted


def test_news_of_clean_ups_is_delivered_once_without_an_audit(deployed, slack, capsys) -> None:
    deployed.put_policy(IN_SLACK)
    outbox = of_a_cleanup(deployed)

    for _ in range(2):
        assert deployed.call("notify", {}) == {"waiting": 0, "wait_s": 0}
    (seen,) = slack.channels["C0DEFAULT"].seen()
    assert seen.text == "Marked for clean-up"
    sent = outbox.get("cleanup.f00d.1.marked")
    assert sent
    assert sent.state == "sent"
    assert metrics(capsys) == {"SlackPostsFailed": 0.0, "SlackPostsWaiting": 0.0}


def test_a_slack_that_is_busy_is_waited_for(deployed, slack) -> None:
    deployed.put_policy(IN_SLACK)
    deployed.audit()
    slack.faults = lambda method: Fault("busy", retry_after_s=40) if method == "chat.postMessage" else None
    waits = deployed.call("notify")

    assert waits["waiting"] > 1
    assert waits["wait_s"] == 40


def test_a_channel_that_takes_nothing_is_counted(deployed, slack, capsys) -> None:
    deployed.put_policy(IN_SLACK.replace("C0DEFAULT", "C0ARCHIVED"))
    deployed.audit()
    capsys.readouterr()

    assert deployed.call("notify")["waiting"] == 0
    assert metrics(capsys)["SlackPostsFailed"] >= 1.0


def test_an_invalid_policy_is_reported_in_the_channel_of_the_last_valid_one(deployed, slack) -> None:
    deployed.put_policy(IN_SLACK)
    deployed.put_policy("[detectors.efs-idel]\n")
    failed = event("publish-failed")
    deployed.call("publish", failed)
    deployed.call("notify", {"audit_id": failed["audit_id"]})
    (line,) = slack.channels["C0DEFAULT"].seen()

    assert "efs-idel" in line.text


def test_changes_are_announced(deployed, monkeypatch) -> None:
    sent = []
    monkeypatch.setattr(EventBridgeBus, "send", lambda _, events: sent.extend(events))

    assert deployed.call("announce") == {"batchItemFailures": []}
    assert [one.detail_type for one in sent] == ["Finding Opened", "Audit Completed"]


def test_the_bus_takes_them(deployed) -> None:
    assert deployed.call("announce") == {"batchItemFailures": []}


def test_what_could_not_be_announced_comes_again(deployed, monkeypatch) -> None:
    def refuses(_, events):
        raise NotSentError(1, "ThrottlingException")

    monkeypatch.setattr(EventBridgeBus, "send", refuses)
    (_, second) = event("announce")["Records"]

    assert deployed.call("announce") == {
        "batchItemFailures": [{"itemIdentifier": second["dynamodb"]["SequenceNumber"]}]
    }
