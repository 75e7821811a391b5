"""RunFunction as the schedule calls it, on moto's table, bucket and state machine."""

import importlib.util
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from moto import mock_aws
from pydantic import ValidationError

from slackwater.app.telemetry import LOGGER
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession
from slackwater.aws.store.cleanups import DynamoCleanups
from slackwater.aws.store.findings import DynamoFindings
from slackwater.aws.store.outbox import DynamoOutbox
from slackwater.aws.store.table import Table
from slackwater.engine.merge import merge_one
from slackwater.model import object_keys
from slackwater.model.cleanup import ActorNote, Control
from slackwater.model.tracking import FindingRecord, TargetReport, TrackedResource
from slackwater.ports.errors import AccessDeniedError
from slackwater.wiring import scan as scan_wiring
from slackwater.wiring import service as service_wiring

ROOT = Path(__file__).parents[3]
REGION = "ap-northeast-1"
NOW = datetime(2026, 11, 16, 9, 7, 42, tzinfo=UTC)
MACHINE = f"arn:aws:states:{REGION}:123456789012:stateMachine:cleanup"
CONTEXT = SimpleNamespace(
    function_name="run", memory_limit_in_mb=512, aws_request_id="1-2-3", invoked_function_arn="arn:aws:lambda:x"
)
POLICY = f"""
[cleanup]
accounts = ["123456789012"]
regions = ["{REGION}"]
resource_types = ["efs-file-system"]
detectors = ["efs-abandoned"]
most_resources = 2

[[cleanup.unattended]]
tag = "Job"
grace_hours = 3

[detectors.efs-abandoned]
tag = "Job"
"""


class Deployed:
    """The resources that the template creates for RunFunction. No finding is approved."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.patch = patch
        self.log = StringIO()
        patch.setattr(LOGGER.registered_handler, "stream", self.log)
        self.table = Table(AwsSession(meter=CallMeter()), "table")
        self.store = DynamoCleanups(self.table)
        self.states = boto3.client("stepfunctions", REGION)

    def found(self, *ids: str, tags: dict[str, str] | None) -> None:
        documents = []
        report = TargetReport(
            account="123456789012", region=REGION, complete=True, detectors=frozenset({"efs-abandoned"}), records=(),
            unknown=frozenset(),
        )  # fmt: skip
        for id_ in ids:
            resource = TrackedResource(
                arn=f"arn:{id_}",
                id=f"fs-{id_}",
                type="efs-file-system",
                name=id_,
                account="123456789012",
                region=REGION,
            )
            seen = FindingRecord(
                id=id_, detector="efs-abandoned", kind="waste", severity="low", confidence="high", resource=resource,
                owner=None, summary="", monthly_savings_usd=None, fingerprint="a", deletes=True,
            )  # fmt: skip
            assert DynamoFindings(self.table).write(merge_one(None, seen, report, "monday", NOW))
            documents.append(
                {"id": id_, "resource": {"tags": tags}, "monthly_savings_usd": None, "recommendations": []}
            )
        scan = {"scan": {"targets": [{"complete": True}]}, "findings": documents}
        self.put(object_keys.target_scan("monday", "123456789012", REGION), json.dumps(scan))

    def put(self, key: str, text: str) -> None:
        boto3.client("s3", REGION).put_object(Bucket="bucket", Key=key, Body=text.encode())

    def started(self) -> list[str]:
        return sorted(one["name"] for one in self.states.list_executions(stateMachineArn=MACHINE)["executions"])

    def call(self, event: Any = None) -> Any:
        """Load the function and call it."""
        spec = importlib.util.spec_from_file_location("run_function", ROOT / "functions/run/app.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sent = json.loads((ROOT / "events/run.json").read_text()) if event is None else event
        return json.loads(json.dumps(module.handler(sent, CONTEXT)))


@pytest.fixture
def deployed(monkeypatch, table_properties):
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION", "STATE_MACHINE_ARN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": REGION, "TABLE_NAME": "table",
        "BUCKET_NAME": "bucket", "RETENTION_DAYS": "400", "CLEANUP_STATE_MACHINE_ARN": MACHINE,
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(scan_wiring, "clock", lambda: NOW)
    monkeypatch.setattr(service_wiring, "clock", lambda: NOW)
    with mock_aws():
        boto3.client("dynamodb", REGION).create_table(TableName="table", **table_properties)
        boto3.client("s3", REGION).create_bucket(
            Bucket="bucket", CreateBucketConfiguration={"LocationConstraint": REGION}
        )
        made = Deployed(monkeypatch)
        made.states.create_state_machine(
            name="cleanup",
            definition='{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 1, "End": true}}}',
            roleArn="arn:aws:iam::123456789012:role/cleanup",
        )
        made.put(object_keys.POLICY, POLICY)
        yield made


def cap_breached(capsys) -> list[float]:
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "CleanupCapBreached" in line]
    return [one["CleanupCapBreached"][0] for one in lines]


def test_what_needs_no_approval_is_begun_and_nothing_else(deployed, capsys) -> None:
    deployed.found("a", "b", tags={"Job": "encode"})

    assert deployed.call() == {"begun": 2, "refused": 0}

    assert deployed.started() == ["a-1", "b-1"]
    begun = deployed.store.get("a")
    assert (begun.unattended, begun.scratch, begun.requested_by, begun.approved_by) == (True, False, "slackwater", None)
    assert cap_breached(capsys) == [0]


def test_without_the_tag_nothing_is_begun(deployed) -> None:
    deployed.found("a", tags={"Name": "home"})

    assert deployed.call() == {"begun": 0, "refused": 1}
    assert deployed.call({"finding_ids": ["a"]}) == {"begun": 0, "refused": 1}
    assert deployed.started() == []
    assert "nobody has approved it" in deployed.log.getvalue()


def test_over_the_cap_nothing_is_begun_and_the_alarm_and_slack_hear_of_it(deployed, capsys) -> None:
    deployed.found("a", "b", "c", tags={"Job": "encode"})

    answer = deployed.call()

    assert (answer["begun"], answer["why"]) == (
        0,
        "no clean-up started: 3 clean-ups in 24 hours: the policy's cleanup.most_resources allows 2",
    )
    assert (deployed.started(), deployed.store.control(), cap_breached(capsys)) == ([], Control(), [1])
    (post,) = DynamoOutbox(deployed.table, lambda: NOW).waiting()
    assert post.id.startswith("cleanup.cap.")


def test_a_run_that_slack_does_not_receive_starts_nothing_either(deployed, capsys) -> None:
    deployed.found("a", "b", "c", tags={"Job": "encode"})
    real = Table.put

    def denied(table: Table, *puts: Any) -> bool:
        if any(put.item["pk"]["S"].startswith("POST#") for put in puts):
            raise AccessDeniedError("Not allowed")
        return real(table, *puts)

    deployed.patch.setattr(Table, "put", denied)

    assert deployed.call()["begun"] == 0
    assert (deployed.started(), cap_breached(capsys)) == ([], [1])
    assert "Slack is not told" in deployed.log.getvalue()


def test_while_all_are_stopped_the_schedule_begins_nothing_and_is_no_failure(deployed) -> None:
    deployed.found("a", tags={"Job": "encode"})
    stopped = ActorNote(who="ada", why="moving house", at=NOW)
    assert deployed.store.write_control(Control(stopped=stopped, revision=1))

    answer = deployed.call()

    assert (answer["begun"], "moving house" in answer["why"], deployed.started()) == (0, True, [])


def test_what_is_not_known_to_have_started_is_an_error_and_the_next_turn_starts_it(deployed) -> None:
    deployed.found("a", "b", tags={"Job": "encode"})
    deployed.patch.setenv("CLEANUP_STATE_MACHINE_ARN", f"{MACHINE}-gone")

    with pytest.raises(Exception, match=r"b: AWS did not confirm the start.*a: AWS did not confirm") as failed:
        deployed.call()

    assert type(failed.value).__name__ == "NotStartedError"
    assert deployed.store.get("a").stage == "starting"
    deployed.patch.setenv("CLEANUP_STATE_MACHINE_ARN", MACHINE)
    assert deployed.call() == {"begun": 2, "refused": 0}
    assert (deployed.started(), deployed.store.get("a").attempt) == (["a-1", "b-1"], 1)


def test_what_a_person_stopped_the_schedule_does_not_begin_again(deployed) -> None:
    deployed.found("a", tags={"Job": "encode"})
    deployed.call()
    begun = deployed.store.get("a")
    lines = ActorNote(who="ada", why="", at=NOW - timedelta(hours=1))
    assert deployed.store.write(replace(begun, stage="called-off", stopped=lines, ended_at=NOW, revision=2))

    assert deployed.call() == {"begun": 0, "refused": 1}
    assert deployed.started() == ["a-1"]


def test_an_event_that_it_does_not_know_is_refused(deployed) -> None:
    with pytest.raises(ValidationError):
        deployed.call({"resource": "fs-1"})
