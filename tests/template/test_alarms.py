"""Alarms and the dashboard use metrics that exist, with dimensions that exist, and every alarm notifies somebody."""

import json
import runpy
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from slackwater.app import telemetry
from slackwater.app.slack.notify import Notified
from slackwater.model.audits import AuditOutcome, AuditRecord, AuditRequest

ROOT = Path(__file__).parents[2]

HOLDS = "ignore"
"""If a metric has points only every few days, an alarm keeps its last state between them."""
CLEARS = "notBreaching"

ALARMS = {
    "AuditFailedAlarm": ("Slackwater", "AuditFailed", "Sum", 1, CLEARS),
    "ExecutionFailedAlarm": ("AWS/States", "ExecutionsFailed", "Sum", 1, CLEARS),
    "ExecutionAbortedAlarm": ("AWS/States", "ExecutionsAborted", "Sum", 1, CLEARS),
    "ReportsFailedAlarm": ("Slackwater", "ReportsFailed", "Sum", 1, CLEARS),
    "FailedInvocationsAlarm": ("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", 1, CLEARS),
    "AuditsIncompleteAlarm": ("Slackwater", "IncompleteInARow", "Maximum", 2, HOLDS),
    "PolicyInvalidAlarm": ("Slackwater", "PolicyInvalid", "Maximum", 1, HOLDS),
    "ScheduleDeadLettersAlarm": ("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", 1, CLEARS),
    "AnnounceDeadLettersAlarm": ("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", 1, CLEARS),
    "ApiErrorsAlarm": ("AWS/ApiGateway", "5xx", "Sum", 1, CLEARS),
}
WITH_SLACK = {
    "NotifyErrorsAlarm": ("AWS/Lambda", "Errors", "Sum", 1, CLEARS),
    "SlackPostsFailedAlarm": ("Slackwater", "SlackPostsFailed", "Sum", 1, CLEARS),
    "SlackRequestsRefusedAlarm": ("Slackwater", "SlackRequestsRefused", "Sum", 10, CLEARS),
    "AnswerDeadLettersAlarm": ("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", 1, CLEARS),
}
OF_CLEANUP = {
    "CleanupFailedAlarm": ("Slackwater", "CleanupFailed", "service", "AWS::StackName"),
    "CleanupCapBreachedAlarm": ("Slackwater", "CleanupCapBreached", "service", "AWS::StackName"),
    "SweepTroublesAlarm": ("Slackwater", "SweepTroubles", "service", "AWS::StackName"),
    "CleanupExecutionFailedAlarm": ("AWS/States", "ExecutionsFailed", "StateMachineArn", "CleanupStateMachine"),
    "UndoExecutionFailedAlarm": ("AWS/States", "ExecutionsFailed", "StateMachineArn", "UndoStateMachine"),
    "CleanupExecutionAbortedAlarm": ("AWS/States", "ExecutionsAborted", "StateMachineArn", "CleanupStateMachine"),
    "UndoExecutionAbortedAlarm": ("AWS/States", "ExecutionsAborted", "StateMachineArn", "UndoStateMachine"),
    "RunErrorsAlarm": ("AWS/Lambda", "Errors", "FunctionName", "RunFunction"),
    "SweepErrorsAlarm": ("AWS/Lambda", "Errors", "FunctionName", "SweepFunction"),
}
"""Alarms of the nested stack. Each triggers at the first point."""
OTHERS = {"PolicyInvalid": 0, "ReportsFailed": 1, "SlackRequestsRefused": 1} | telemetry.of_posts(
    Notified(waiting=1, wait_s=60)
)
"""Metrics that do not come from an audit's record. A test below checks that something publishes them."""
AUDITED = AuditRecord(
    id="1",
    state="incomplete",
    started_at=datetime(2026, 11, 16, 9, tzinfo=UTC),
    finished_at=datetime(2026, 11, 16, 10, tzinfo=UTC),
    request=AuditRequest(requested_by="schedule"),
    policy=None,
    outcome=AuditOutcome(
        targets=1, incomplete_targets=1, incomplete=(), gaps=1, findings=1, monthly_savings_usd=Decimal(1), unpriced=0,
        opened=1, changed=0, resolved=0, api_calls=1, metrics_requested=1, estimated_usd=Decimal(1),
        incomplete_in_a_row=1,
    ),
    error=None,
)  # fmt: skip


@pytest.fixture(params=["", "secret"], ids=["without Slack", "with Slack"])
def stack(request: pytest.FixtureRequest, deploy: Any) -> Any:
    return deploy(SlackSecretArn=request.param)


@pytest.fixture
def sent(stack: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return, by namespace: metric names, their dimension and its values.

    AWS's metrics are from AWS's documentation.
    """
    sent = {
        "AWS/States": (
            {"ExecutionsFailed", "ExecutionsAborted", "ExecutionTime"},
            "StateMachineArn",
            {"AuditStateMachine"},
        ),
        "AWS/SQS": (
            {"ApproximateNumberOfMessagesVisible"},
            "QueueName",
            {f"{queue}.QueueName" for queue in stack.of("AWS::SQS::Queue")},
        ),
        # HTTP APIs use these names. REST APIs use 4XXError and 5XXError.
        "AWS/ApiGateway": ({"Count", "4xx", "5xx"}, "ApiId", {"Api"}),
        "AWS/Lambda": ({"Errors", "Throttles", "Duration"}, "FunctionName", set(stack.of("AWS::Serverless::Function"))),
    }
    for name in ("PlanFunction", "PublishFunction", "NotifyFunction"):
        with monkeypatch.context() as environment:
            environment.delenv("POWERTOOLS_SERVICE_NAME", raising=False)
            for variable, value in stack[name]["Environment"]["Variables"].items():
                environment.setenv(variable, str(value))
            runpy.run_path(telemetry.__file__)["emit"](telemetry.of_audit(AUDITED) | OTHERS)
        texts = json.loads(capsys.readouterr().out)
        (ours,) = texts["_aws"]["CloudWatchMetrics"]
        ((dimension,),) = ours["Dimensions"]
        sent[ours["Namespace"]] = ({metric["Name"] for metric in ours["Metrics"]}, dimension, {texts[dimension]})
    return sent


def watched(stack: Any) -> list[tuple[str, str, str, str]]:
    """Return namespace, metric, dimension and value of each line of the dashboard. "." repeats the line above."""
    lines = []
    for widget in json.loads(stack["AuditDashboard"]["DashboardBody"])["widgets"]:
        above: list[str] = []
        for line in widget["properties"]["metrics"]:
            texts = [one for one in line if isinstance(one, str)]
            if texts[:1] == ["..."]:
                texts = [*above[:3], *texts[1:]]
            above = [above[at] if one == "." else one for at, one in enumerate(texts)]
            if above:  # otherwise the line is an expression
                lines.append(tuple(above))
    return lines


def test_alarms_go_when_the_page_says_and_hold_or_clear(stack: Any) -> None:
    alarms = stack.of("AWS::CloudWatch::Alarm")
    fields = ("Namespace", "MetricName", "Statistic", "Threshold", "TreatMissingData")

    expected = ALARMS | (WITH_SLACK if "SlackRoute" in stack else {})
    assert {name: tuple(alarm[field] for field in fields) for name, alarm in alarms.items()} == expected
    for alarm in alarms.values():
        assert (alarm["ComparisonOperator"], alarm["EvaluationPeriods"]) == ("GreaterThanOrEqualToThreshold", 1)


def test_alarms_and_dashboard_watch_what_is_sent(stack: Any, sent: dict[str, Any]) -> None:
    alarms = [
        (alarm["Namespace"], alarm["MetricName"], one["Name"], one["Value"])
        for alarm in stack.of("AWS::CloudWatch::Alarm").values()
        for one in alarm["Dimensions"]
    ]

    assert len(alarms) == len(stack.of("AWS::CloudWatch::Alarm"))
    for namespace, metric, dimension, value in alarms + watched(stack):
        metrics, by, values = sent[namespace]
        assert metric in metrics
        assert (dimension, value in values) == (by, True)


def test_what_we_send_is_shown(stack: Any, sent: dict[str, Any]) -> None:
    assert {line[1] for line in watched(stack) if line[0] == "Slackwater"} == sent["Slackwater"][0]


def test_a_failed_audit_raises_an_alarm_before_slack_is_notified(stack: Any) -> None:
    """Publish reports the failure when it records it. The execution fails once no post waits, after a day at most."""
    failed = replace(AUDITED, state="failed", outcome=None)
    alarm = stack["AuditFailedAlarm"]

    assert (alarm["Namespace"], telemetry.of_audit(failed)[alarm["MetricName"]]) == ("Slackwater", alarm["Threshold"])


def test_somebody_sends_each_of_the_others() -> None:
    code = "".join(
        path.read_text() for folder in ("functions", "layers/core/src") for path in (ROOT / folder).rglob("*.py")
    )

    assert [name for name in OTHERS if f'"{name}": ' not in code] == []


def test_every_dead_letter_is_noticed_and_every_alarm_is_heard(deploy: Any) -> None:
    for parameters, topic in (
        ({}, "AlarmTopic"),
        ({"AlarmTopicArn": "arn:of:yours"}, "arn:of:yours"),
        ({"SlackSecretArn": "secret"}, "AlarmTopic"),
    ):
        stack = deploy(**parameters)
        alarms = stack.of("AWS::CloudWatch::Alarm").values()
        noticed = {alarm["Dimensions"][0]["Value"] for alarm in alarms if alarm["Namespace"] == "AWS/SQS"}

        assert noticed == {f"{queue}.QueueName" for queue in stack.of("AWS::SQS::Queue")}
        assert all(alarm["AlarmActions"] == [topic] and alarm["AlarmDescription"] for alarm in alarms)
        assert ("AlarmTopic" in stack) == (topic == "AlarmTopic")


def test_clean_up_has_its_alarms_which_are_heard_where_the_others_are(deploy_cleanup: Any) -> None:
    for parameters, topic in (({}, "AlarmTopic"), ({"AlarmTopicArn": "arn:of:yours"}, "arn:of:yours")):
        stack = deploy_cleanup(**parameters)
        alarms = stack.of("AWS::CloudWatch::Alarm")
        watched = {
            name: (alarm["Namespace"], alarm["MetricName"], one["Name"], one["Value"])
            for name, alarm in alarms.items()
            for one in alarm["Dimensions"]
        }

        assert watched == OF_CLEANUP
        assert {value for *_, dimension, value in watched.values() if dimension != "service"} <= set(stack)
        for alarm in alarms.values():
            assert (alarm["Statistic"], alarm["Threshold"], alarm["EvaluationPeriods"]) == ("Sum", 1, 1)
            assert (alarm["ComparisonOperator"], alarm["TreatMissingData"]) == ("GreaterThanOrEqualToThreshold", CLEARS)
            assert alarm["AlarmActions"] == [topic]
            assert alarm["AlarmDescription"]


def test_what_clean_up_sends_is_shown_where_there_is_clean_up_and_somebody_sends_it(deploy: Any) -> None:
    def shown(stack: Any) -> set[tuple[str, ...]]:
        return {line for line in watched(stack) if line[1].startswith(("Cleanup", "Sweep", "Backups"))}

    code = "".join(
        path.read_text() for folder in ("functions", "layers/core/src") for path in (ROOT / folder).rglob("*.py")
    )
    metrics = {"CleanupFailed", "CleanupCapBreached", "BackupsSwept", "SweepTroubles"}

    assert shown(deploy(CleanupEnabled="true")) == {("Slackwater", one, "service", "AWS::StackName") for one in metrics}
    assert shown(deploy()) == set()
    assert [one for one in sorted(metrics) if f'"{one}": ' not in code] == []
