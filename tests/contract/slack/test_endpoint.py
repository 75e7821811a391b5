"""Slack requests, from the HTTP request to what people see.

Both functions run on moto's table and bucket, and against a server that behaves like Slack.
"""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest
from botocore.stub import Stubber
from moto import mock_aws
from pydantic import ValidationError

from slackwater.app.slack.answer import UnfinishedError
from slackwater.app.telemetry import LOGGER, METRICS
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession
from slackwater.aws.deployment.background import Background
from slackwater.aws.store import table
from slackwater.aws.store.findings import DynamoFindings
from slackwater.aws.store.outbox import DynamoOutbox
from slackwater.aws.store.request_guard import KEPT, KIND, RequestGuard
from slackwater.aws.store.table import Table
from slackwater.model import object_keys
from slackwater.model.posts import Post, Sent
from slackwater.model.tracking import SERVICE, FindingRecord, LedgerEntry, TrackedFinding, TrackedResource, Write
from slackwater.ports.errors import AccessDeniedError, AwsError, BrokenAnswerError
from slackwater.views.slack import finding as shown_in_slack
from slackwater.views.slack.blocks import message_of
from slackwater.wiring import scan as scan_wiring
from slackwater.wiring import service as service_wiring
from support.slack_server import SIGNING_SECRET, Fault, SlackServer, signed

ROOT = Path(__file__).parents[3]
NOW = datetime(2026, 11, 16, 9, 7, 42, 250_000, tzinfo=UTC)
ID = "5d1c0b7a9e3f42d8"
POST = "20261116T090700Z-1f0c22ab.0.0"
CONTEXT = SimpleNamespace(
    function_name="slackwater", memory_limit_in_mb=1769, aws_request_id="1-2-3",
    invoked_function_arn="arn:aws:lambda:ap-northeast-1:123456789012:function:slackwater",
)  # fmt: skip
POLICY = """
[slack]
deciders = ["U0JANE", "U0JOE"]
auditors = ["U0JANE"]
[cleanup]
accounts = ["123456789012"]
regions = ["ap-northeast-1"]
resource_types = ["ebs-volume"]
detectors = ["ebs-unattached"]
approvers = ["U0JANE", "U0JOE"]
"""
FINDING = TrackedFinding(
    sighting=FindingRecord(
        id=ID, detector="ebs-unattached", kind="waste", severity="medium", confidence="high", owner="data",
        summary="Unattached.",
        resource=TrackedResource(
            arn="arn:vol-1", id="vol-1", type="ebs-volume", name="scratch", account="123456789012",
            region="ap-northeast-1",
        ),
        monthly_savings_usd=Decimal("12.30"), fingerprint="abc123", deletes=True,
    ),
    status="open", decision=None, opened_at=NOW, last_seen_at=NOW, resolved_at=None, audit_id="monday", revision=1,
)  # fmt: skip
OPENED = LedgerEntry(
    happening="opened",
    at=NOW,
    who=SERVICE,
    was=None,
    now="open",
    why="new",
    revision=1,
    audit_id="monday",
    evidence=FINDING.sighting,
)


class Endpoint:
    """Both functions, and Slack. Tasks of the first function wait in `background` until `work` is called."""

    def __init__(self, slack: SlackServer, session: AwsSession) -> None:
        self.slack, self.session = slack, session
        self.table = Table(session, "slackwater-table")
        self.findings = DynamoFindings(self.table)
        self.background: list[str] = []
        self.broken: Exception | None = None
        self._functions: dict[str, Any] = {}
        self._triggers = 0

    def function(self, name: str) -> Any:
        if name not in self._functions:
            spec = importlib.util.spec_from_file_location(f"{name}_function", ROOT / "functions" / name / "app.py")
            assert spec
            assert spec.loader
            self._functions[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(self._functions[name])
        return self._functions[name]

    def call(self, body: bytes, headers: dict[str, str] | None = None, request_id: str = "1") -> dict[str, Any]:
        """Send a request and return the answer. The request is signed unless `headers` are given."""
        event = {
            "version": "2.0", "headers": signed(SIGNING_SECRET, body, NOW.timestamp()) if headers is None else headers,
            "requestContext": {"requestId": request_id}, "body": body.decode(), "isBase64Encoded": False,
        }  # fmt: skip
        return self.event(event)

    def event(self, event: Any) -> dict[str, Any]:
        return json.loads(json.dumps(self.function("acknowledge").handler(event, CONTEXT)))

    def hand_over(self, event: str) -> None:
        if self.broken:
            raise self.broken
        self.background.append(event)

    def work(self) -> list[str]:
        """Run all waiting tasks and return their outcomes."""
        tasks, self.background = self.background, []
        return [self.function("answer").handler(json.loads(task), CONTEXT)["said"] for task in tasks]

    def press(self, action: str, value: str = ID, user: str = "U0JANE") -> bytes:
        """Return a button press in the digest, as Slack sends it."""
        self._triggers += 1
        chosen = {"selected_option": {"value": value}} if action == "snooze" else {"value": value}
        return interaction({
            "type": "block_actions", "user": {"id": user, "team_id": "T0TEAM"}, "team": {"id": "T0TEAM"},
            "enterprise": None, "trigger_id": str(self._triggers), "response_url": self.slack.response_url(user),
            "message": {"text": "secret plans"},
            "actions": [{"action_id": action, "block_id": f"{POST}/{ID}", **chosen}],
        })  # fmt: skip

    def responses_to(self, user: str = "U0JANE") -> list[str]:
        return [one["text"] for one in self.slack.responses.get(user, ())]

    @property
    def seen(self) -> str:
        """Return the current content of the digest."""
        return json.dumps(self.slack.channels["C0DEFAULT"].seen()[0].blocks)


def interaction(payload: Any) -> bytes:
    return urlencode({"payload": json.dumps(payload)}).encode()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch, table_properties: dict[str, Any]) -> Iterator[Endpoint]:
    with SlackServer(clock=NOW.timestamp) as slack, mock_aws():
        for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("AWS_REGION", "ap-northeast-1")
        session = AwsSession(meter=CallMeter())
        s3 = session.client("s3", "ap-northeast-1")
        s3.create_bucket(Bucket="slackwater-bucket", CreateBucketConfiguration={"LocationConstraint": "ap-northeast-1"})
        s3.put_object(Bucket="slackwater-bucket", Key=object_keys.POLICY, Body=POLICY.encode())
        session.client("dynamodb", "ap-northeast-1").create_table(TableName="slackwater-table", **table_properties)
        secrets: Any = session.client("secretsmanager", "ap-northeast-1")
        environment = {
            "TABLE_NAME": "slackwater-table", "BUCKET_NAME": "slackwater-bucket", "RETENTION_DAYS": "400",
            "STATE_MACHINE_ARN": "arn:aws:states:ap-northeast-1:123456789012:stateMachine:audit",
            "SLACK_API_URL": slack.url,
            "SLACK_SECRET_ARN": secrets.create_secret(Name="slackwater", SecretString=slack.secret())["ARN"],
            "ANSWER_FUNCTION_NAME": "answer",
        }  # fmt: skip
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(scan_wiring, "clock", lambda: NOW)
        monkeypatch.setattr(service_wiring, "clock", lambda: NOW)
        monkeypatch.setattr(METRICS.provider, "service", "slackwater")
        monkeypatch.setattr(LOGGER.registered_handler, "stream", StringIO())

        endpoint = Endpoint(slack, session)
        monkeypatch.setattr(Background, "hand_over", lambda _, event: endpoint.hand_over(event))
        assert endpoint.findings.write(Write(finding=FINDING, entry=OPENED, expects=0))
        buttons = shown_in_slack.choices(POST, FINDING.sighting, may_decide=True, may_approve=True)
        message = message_of(*shown_in_slack.shown(FINDING.sighting), buttons)
        posted = slack.post(slack.channels["C0DEFAULT"], {"text": message.text, "blocks": list(message.blocks)})
        post = Post(
            id=POST, audit_id="monday", created_at=NOW, channel="C0DEFAULT", thread_of=None, message=message,
            findings=(ID,), state="sent", sent=Sent(channel="C0DEFAULT", ts=posted.ts),
        )  # fmt: skip
        DynamoOutbox(endpoint.table, lambda: NOW).record([post])
        yield endpoint


def logged() -> str:
    return LOGGER.registered_handler.stream.getvalue()


def metrics(capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    return {name: line[name][0] for line in lines for name in line if name.startswith("Slack")}


# -- From the request to what people see


def test_a_press_is_acknowledged_at_once_and_decided_in_the_background(endpoint: Endpoint) -> None:
    answer = endpoint.call(endpoint.press("snooze", "30"))
    assert (answer["statusCode"], answer["body"]) == (200, "")
    assert endpoint.findings.get(ID) == FINDING

    endpoint.work()
    finding = endpoint.findings.get(ID)
    assert finding
    assert finding.decision
    assert (finding.status, finding.decision.who, finding.decision.until) == (
        "snoozed",
        "slack:U0JANE",
        (NOW + timedelta(days=30)).replace(microsecond=0),
    )
    assert "Snoozed until 2026-12-16 by <@U0JANE>" in endpoint.seen
    assert '"type": "actions"' not in endpoint.seen
    assert ["Snoozed until 2026-12-16 by <@U0JANE>" in one for one in endpoint.responses_to()] == [True]
    assert endpoint.slack.responses["U0JANE"][0]["response_type"] == "ephemeral"
    assert endpoint.slack.responses["U0JANE"][0]["replace_original"] is False


def test_a_dismissal_asks_for_its_reason_at_once(endpoint: Endpoint) -> None:
    assert endpoint.call(endpoint.press("dismiss"))["statusCode"] == 200
    assert not endpoint.background
    [view] = endpoint.slack.views

    def sent(why: str, trigger: str) -> bytes:
        values = {"why": {"why": {"value": why}}, "until": {"until": {"selected_option": {"value": "for-good"}}}}
        return interaction({
            "type": "view_submission", "user": {"id": "U0JANE"}, "team": {"id": "T0TEAM"}, "trigger_id": trigger,
            "view": {**view, "state": {"values": values}},
        })  # fmt: skip

    empty = endpoint.call(sent(" ", "a"))
    assert empty["headers"]["content-type"] == "application/json"
    assert json.loads(empty["body"]) == {"response_action": "errors", "errors": {"why": "A dismissal needs a reason."}}

    assert endpoint.call(sent("<!channel> & co", "b"))["body"] == ""
    endpoint.work()
    finding = endpoint.findings.get(ID)
    assert finding
    assert finding.decision
    assert (finding.status, finding.decision.why, finding.decision.until) == ("dismissed", "<!channel> & co", None)
    assert "Dismissed for good by <@U0JANE>" in endpoint.responses_to()[0]
    assert "<!channel>" not in endpoint.responses_to()[0]
    assert "<!channel>" not in endpoint.seen


def test_a_form_that_slack_does_not_open_is_reported(endpoint: Endpoint) -> None:
    endpoint.slack.faults = [Fault("refused", error="expired_trigger_id")]
    assert endpoint.call(endpoint.press("dismiss"))["statusCode"] == 200
    endpoint.work()

    assert "expired" in endpoint.responses_to()[0]


def test_the_first_of_two_approvals_wins_and_both_people_learn_it(endpoint: Endpoint) -> None:
    for user in ("U0JANE", "U0JOE"):
        assert endpoint.call(endpoint.press("approve", f"{ID}:abc123", user))["statusCode"] == 200
    endpoint.work()

    finding = endpoint.findings.get(ID)
    assert finding
    assert finding.decision
    assert (finding.status, finding.decision.who, finding.decision.fingerprint) == (
        "approved",
        "slack:U0JANE",
        "abc123",
    )
    assert [entry.happening for entry in endpoint.findings.ledger(ID)] == ["opened", "approved"]
    assert "Approved by <@U0JANE> until 2026-12-23" in endpoint.seen
    assert "Nothing was changed" not in endpoint.responses_to("U0JANE")[0]
    assert "Nothing was changed" in endpoint.responses_to("U0JOE")[0]
    assert "Approved by <@U0JANE>" in endpoint.responses_to("U0JOE")[0]


def test_a_stop_reaches_the_clean_up_in_the_background(endpoint: Endpoint) -> None:
    """No clean-up has begun here. A permitted user gets this answer. Another user is refused."""
    for user in ("U0JOE", "U0EVE"):
        assert endpoint.call(endpoint.press("stop", ID, user))["statusCode"] == 200
    endpoint.work()

    assert f"there is no clean-up of finding {ID}" in endpoint.responses_to("U0JOE")[0]
    assert "Not allowed" in endpoint.responses_to("U0EVE")[0]


def test_a_command_is_answered(endpoint: Endpoint) -> None:
    def given(text: str, team: str = "T0TEAM") -> bytes:
        return urlencode({
            "command": "/slackwater", "text": text, "user_id": "U0EVE", "team_id": team, "trigger_id": f"{text}{team}",
            "response_url": endpoint.slack.response_url("U0EVE"),
        }).encode()  # fmt: skip

    for text, team in (("top", "T0TEAM"), ("audit", "T0TEAM"), ("top", "T0OTHER")):
        assert endpoint.call(given(text, team))["statusCode"] == 200
    endpoint.work()

    top, audit, elsewhere = endpoint.responses_to("U0EVE")
    assert "scratch" in top
    assert "Not allowed" in audit
    assert "scratch" not in elsewhere
    assert len(endpoint.slack.called("auth.test")) == 1


def test_what_is_asked_of_an_answer_twice_is_done_once(endpoint: Endpoint) -> None:
    endpoint.call(endpoint.press("approve", f"{ID}:abc123"))
    endpoint.background *= 2
    once, again = endpoint.work()

    assert once == again
    assert len(list(endpoint.findings.ledger(ID))) == 2


def test_a_message_that_slack_does_not_change_is_changed_when_lambda_calls_again(endpoint: Endpoint) -> None:
    endpoint.call(endpoint.press("snooze", "7"))
    task = endpoint.background[0]
    endpoint.slack.faults = lambda method: Fault("busy", retry_after_s=60) if method == "chat.update" else None
    with pytest.raises(UnfinishedError):
        endpoint.work()
    assert '"type": "actions"' in endpoint.seen

    endpoint.slack.faults = []
    endpoint.background = [task]
    endpoint.work()
    assert "Snoozed until 2026-11-23" in endpoint.seen
    assert len(list(endpoint.findings.ledger(ID))) == 2


# -- Refused requests


def test_tampered_late_and_unsigned_requests_are_refused_and_counted(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    body = endpoint.press("approve", f"{ID}:abc123")
    good = signed(SIGNING_SECRET, body, NOW.timestamp())
    unsigned = {name: value for name, value in good.items() if name != "x-slack-signature"}
    for headers, sent, why in (
        (unsigned, body, "the request is not signed"),
        (good, body.replace(b"U0JANE", b"U0MALL"), "the signature does not fit the request"),
        (signed("another-secret", body, NOW.timestamp()), body, "the signature does not fit the request"),
        (signed(SIGNING_SECRET, body, NOW.timestamp() - 302), body, "the request is not from within 5 minutes of now"),
        (signed(SIGNING_SECRET, body, NOW.timestamp() + 302), body, "the request is not from within 5 minutes of now"),
        ({**good, "x-slack-request-timestamp": "yesterday"}, body, "the request's time stamp is no time"),
    ):
        answer = endpoint.call(sent, headers)
        assert (answer["statusCode"], answer["body"]) == (401, why)
        assert metrics(capsys) == {"SlackRequestsRefused": 1.0}
    assert not endpoint.background
    assert "secret plans" not in logged()
    assert "secret%20plans" not in logged().replace("+", "%20")
    assert request_ids(endpoint) == []


def request_ids(endpoint: Endpoint) -> list[dict[str, Any]]:
    items = endpoint.session.client("dynamodb", "ap-northeast-1").scan(TableName="slackwater-table")["Items"]
    return [one for one in items if one["sk"]["S"] == KIND]


def test_a_replayed_request_is_refused_and_a_retry_is_good(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    body = endpoint.press("snooze", "30")
    headers = signed(SIGNING_SECRET, body, NOW.timestamp())
    assert endpoint.call(body, headers, "1")["statusCode"] == 200
    assert metrics(capsys) == {}

    replayed = endpoint.call(body, headers, "2")
    assert (replayed["statusCode"], replayed["body"]) == (401, "the request was taken before")
    assert metrics(capsys) == {"SlackRequestsRefused": 1.0}
    retried = endpoint.call(body, signed(SIGNING_SECRET, body, NOW.timestamp(), **{"x-slack-retry-num": "1"}), "3")
    assert (retried["statusCode"], retried["body"]) == (200, "")
    assert len(endpoint.background) == 1


def test_what_could_not_be_handed_over_is_taken_when_slack_comes_again(endpoint: Endpoint) -> None:
    body = endpoint.press("snooze", "30")
    endpoint.broken = AwsError("Rate exceeded")
    answer = endpoint.call(body, request_id="1")
    assert answer["statusCode"] == 503
    assert "Traceback" not in answer["body"]
    assert "Rate exceeded" not in answer["body"]
    assert request_ids(endpoint) == []

    endpoint.broken = None
    headers = signed(SIGNING_SECRET, body, NOW.timestamp(), **{"x-slack-retry-num": "1"})
    assert endpoint.call(body, headers, "2")["statusCode"] == 200
    assert len(endpoint.background) == 1


@pytest.mark.parametrize("secret", [None, "{", '{"webhook_url": "https://hooks.slack.com/services/T/B/x"}'])
def test_without_a_usable_secret_every_request_is_refused_without_a_reason(
    endpoint: Endpoint, secret: str | None
) -> None:
    secrets: Any = endpoint.session.client("secretsmanager", "ap-northeast-1")
    if secret is None:
        secrets.delete_secret(SecretId="slackwater", ForceDeleteWithoutRecovery=True)
    else:
        secrets.put_secret_value(SecretId="slackwater", SecretString=secret)
    answer = endpoint.call(endpoint.press("snooze", "30"))

    assert (answer["statusCode"], answer["body"]) == (503, "Slackwater cannot take this now. Try again in a minute.")
    assert not endpoint.background
    assert "not taken" in logged()


@pytest.mark.parametrize("path", sorted((ROOT / "events").glob("acknowledge-*.json")), ids=lambda path: path.stem)
def test_the_events_are_what_slack_sends_and_are_handed_over_as_the_answers_events(
    endpoint: Endpoint, path: Path
) -> None:
    answer = endpoint.event(json.loads(path.read_text()))
    [task] = [json.loads(one) for one in endpoint.background]

    assert (answer["statusCode"], answer["body"]) == (200, "")
    kind = task["kind"]
    example = json.loads((ROOT / "events" / f"answer-{kind}.json").read_text())
    differs = {"id", "response_url"}
    assert {name: value for name, value in task.items() if name not in differs} == {
        name: value for name, value in example.items() if name not in differs
    }
    assert endpoint.work()


def test_an_event_that_cannot_be_read_is_refused_without_a_word_of_it(endpoint: Endpoint) -> None:
    event = json.loads((ROOT / "events" / "answer-dismissal.json").read_text())
    with pytest.raises(ValidationError) as refused:
        endpoint.function("answer").handler({**event, "days": "plans", "why": ["secret plans"]}, CONTEXT)

    assert "days" in str(refused.value)
    assert "plans" not in str(refused.value)
    assert event["response_url"] not in str(refused.value)


def test_an_event_of_the_version_before_is_good(endpoint: Endpoint) -> None:
    event = json.loads((ROOT / "events" / "answer-command.json").read_text())
    event["asker"]["enterprise"] = None

    assert endpoint.function("answer").handler(event, CONTEXT)["said"]


# -- The adapters


def test_a_request_id_is_kept_longer_than_its_signature_is_valid(endpoint: Endpoint) -> None:
    guard = RequestGuard(endpoint.session, "slackwater-table", lambda: NOW)

    assert guard.take("a", "1")
    assert guard.take("a", "1"), "botocore asks again when an answer is lost"
    assert not guard.take("a", "2")
    [mark] = request_ids(endpoint)
    assert {name: mark[name] for name in ("pk", "sk")} == table.key(KIND, "a")
    assert mark[table.EXPIRES_AT] == {"N": str(int((NOW + KEPT).timestamp()))}
    assert timedelta(minutes=10) <= KEPT

    guard.release("a", "2")
    assert not guard.take("a", "2")
    guard.release("a", "1")
    assert guard.take("a", "2")


def test_a_table_that_cannot_be_written_is_an_error_and_no_replay(endpoint: Endpoint) -> None:
    with pytest.raises(AwsError):
        RequestGuard(endpoint.session, "another-table", lambda: NOW).take("a", "1")


def test_an_event_is_handed_over_asynchronously(moto_session: AwsSession) -> None:
    client: Any = moto_session.client("lambda", moto_session.home)
    given = {"FunctionName": "answer", "InvocationType": "Event", "Payload": '{"why": "ü"}'.encode()}
    with Stubber(client) as stubber:
        stubber.add_response("invoke", {"StatusCode": 202}, given)
        stubber.add_response("invoke", {"StatusCode": 200}, given)
        stubber.add_client_error("invoke", "AccessDeniedException", http_status_code=403)
        background = Background(moto_session, "answer")
        background.hand_over('{"why": "ü"}')
        with pytest.raises(BrokenAnswerError, match="200"):
            background.hand_over('{"why": "ü"}')
        with pytest.raises(AccessDeniedError):
            background.hand_over('{"why": "ü"}')


# -- Import time, for which users wait

HEAVY = (
    "pydantic",
    "pydantic_core",
    "jinja2",
    "aws_lambda_powertools.event_handler",
    "slackwater.engine",
    "slackwater.detectors",
)

TAKEN = """
import json, sys
sys.path[:0] = [{function!r}, {layer!r}]
from slackwater.aws.deployment import background, secrets
from slackwater.aws.store import request_guard
from slackwater.slack.bot import BotChannel
secrets.Secret.__call__ = lambda self: {secret!r}
request_guard.RequestGuard.take = lambda self, id, by: True
background.Background.hand_over = lambda self, event: None
BotChannel.open_modal = lambda self, trigger_id, view: None
import app
from datetime import datetime
then = type("Then", (), {{"now": lambda zone: datetime.fromisoformat({now!r})}})
app.ACKNOWLEDGER.clock.__globals__["datetime"] = then
class Context:
    function_name = memory_limit_in_mb = aws_request_id = invoked_function_arn = "x"
answers = [app.handler(event, Context)["statusCode"] for event in json.loads(sys.stdin.read())]
print(json.dumps([answers, sorted(sys.modules)]), file=sys.stderr)
"""


def test_neither_the_start_nor_a_request_loads_what_takes_long(tmp_path: Path) -> None:
    body = interaction({
        "type": "block_actions", "user": {"id": "U0JANE"}, "team": {"id": "T0TEAM"}, "trigger_id": "1", "message": {},
        "actions": [{"action_id": "dismiss", "block_id": f"{POST}/{ID}", "value": ID}],
    })  # fmt: skip
    dismiss = {
        "headers": signed(SIGNING_SECRET, body, NOW.timestamp()),
        "body": body.decode(),
        "isBase64Encoded": False,
    }
    events = [dismiss, *(json.loads(path.read_text()) for path in sorted((ROOT / "events").glob("acknowledge-*.json")))]
    layer = str(ROOT / "layers/core/src")
    secret = json.dumps({"bot_token": "xoxb-1-test", "signing_secret": SIGNING_SECRET})
    text = TAKEN.format(function=str(ROOT / "functions/acknowledge"), layer=layer, secret=secret, now=NOW.isoformat())
    environment = {
        "TABLE_NAME": "t", "BUCKET_NAME": "b", "RETENTION_DAYS": "400", "ANSWER_FUNCTION_NAME": "answer",
        "AWS_REGION": "eu-west-1",
        "SLACK_SECRET_ARN": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:slackwater", "HOME": str(tmp_path),
    }  # fmt: skip
    ran = subprocess.run(
        [sys.executable, "-c", text],
        input=json.dumps(events),
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        cwd=tmp_path,
    )

    assert ran.returncode == 0, ran.stderr
    answers, loaded = json.loads(ran.stderr.splitlines()[-1])
    assert answers == [200] * len(events)
    assert [one for one in loaded if one.startswith(tuple(f"{name}." for name in HEAVY)) or one in HEAVY] == []
