"""The HTTP API as API Gateway calls it, on moto's table, bucket and state machine, checked against its document."""

import base64
import importlib.util
import io
import json
import re
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import pytest
import schemathesis
from botocore.exceptions import ClientError, EndpointConnectionError
from hypothesis import HealthCheck, settings
from jsonschema import Draft202012Validator
from moto import mock_aws
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from slackwater.app.telemetry import LOGGER
from slackwater.aws.client.errors import reason, translated
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession
from slackwater.aws.store.audits import DynamoAudits
from slackwater.aws.store.cleanups import DynamoCleanups
from slackwater.aws.store.findings import DynamoFindings
from slackwater.aws.store.outbox import DynamoOutbox
from slackwater.aws.store.table import Table
from slackwater.engine.merge import merge_one
from slackwater.engine.registry import estimates
from slackwater.model import object_keys
from slackwater.model.audits import AuditOutcome, AuditRecord, AuditRequest, IncompleteTarget
from slackwater.model.cleanup import BACKUP_OF, INSTALLATION, Copy, Observed, Removal, SubResource
from slackwater.model.policy_version import PolicyVersion
from slackwater.model.tracking import SERVICE, TargetReport
from slackwater.model.units import GIB
from slackwater.ports.errors import BrokenAnswerError, BusyError
from slackwater.views.api import to_json as service_json
from slackwater.wiring import scan as scan_wiring
from slackwater.wiring import service as service_wiring
from slackwater.wiring.service import Serving
from slackwater_simulator import Fleet, Simulator, instant
from support.effort import effort

ROOT = Path(__file__).parents[3]
NOW = datetime(2026, 11, 16, 9, 7, 42, tzinfo=UTC)
REGION = "ap-northeast-1"
TABLE, BUCKET = "slackwater-table", "slackwater-bucket"
MACHINE = f"arn:aws:states:{REGION}:123456789012:stateMachine:audit"
CLEANUP_MACHINE, UNDO_MACHINE = (
    f"arn:aws:states:{REGION}:123456789012:stateMachine:{name}" for name in ("cleanup", "undo")
)
JANE = {"iam": {"userArn": "arn:aws:iam::123456789012:user/jane"}}
REQUEST_ID = "6f1c2d3e-8a54-4f0b-9d0c-4a0a2f1d7a11"
CONTEXT = SimpleNamespace(
    function_name="serve", memory_limit_in_mb=1769, aws_request_id=REQUEST_ID, invoked_function_arn="arn:aws:lambda:x"
)
AUDIT = "20261116T090000Z-1f0c22ab"
ID = json.loads((ROOT / "events/serve-show.json").read_text())["pathParameters"]["id"]
RESOLVED, CHEAP, UNPRICED = "00000000000000aa", "00000000000000bb", "00000000000000cc"


def finding(id_: str = ID, **changes):
    """Return a finding as in a scan document."""
    resource = {
        "arn": f"arn:aws:elasticfilesystem:{REGION}:123456789012:file-system/fs-{id_}", "id": f"fs-{id_}",
        "type": "efs-file-system", "name": "scratch", "account": "123456789012", "region": REGION,
        "tags": {"Job": "encode"},
    }  # fmt: skip
    return {
        "id": id_, "detector": "efs-idle", "severity": "high", "kind": "waste", "confidence": "medium",
        "resource": resource, "owner": None, "summary": "Nobody has used it for 30 days.",
        "evidence": [{"label": "clients", "value": 0, "unit": "",
                      "series": {"start": "2026-11-01T00:00:00Z", "period_s": 86400, "values": [0, None]}}],
        "monthly_savings_usd": "120.00", "price_basis": [], "recommendations": [], "caveats": [],
        "fingerprint": f"f-{id_}",
    } | changes  # fmt: skip


class Api:
    """The deployed API."""

    def __init__(self, module, session: AwsSession) -> None:
        self.module, self.session = module, session

    def event(self, event):
        answer = self.module.handler(event, CONTEXT)
        assert_documented(event, answer["statusCode"])
        return answer["statusCode"], answer["headers"], json.loads(answer["body"])

    def __call__(self, method: str, path: str, body=None, query: str = "", headers=None, authorizer=JANE):
        """Send one request and return status, headers and document. Bytes are sent unchanged, other bodies as JSON."""
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        return self.event(gateway_event(method, path, query, sent, headers or {}, authorizer))

    def wsgi(self, environ, start_response):
        """Serve the API as a WSGI application, for schemathesis."""
        headers = {
            name[5:].lower().replace("_", "-"): value for name, value in environ.items() if name.startswith("HTTP_")
        }
        if environ.get("CONTENT_TYPE"):
            headers["content-type"] = environ["CONTENT_TYPE"]
        path = environ["PATH_INFO"].encode("latin-1").decode(errors="replace")
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        event = gateway_event(environ["REQUEST_METHOD"], path, environ["QUERY_STRING"], body or None, headers, JANE)
        answer = self.module.handler(event, CONTEXT)
        start_response(f"{answer['statusCode']} x", list(answer["headers"].items()))
        return [answer["body"].encode()]


def assert_documented(event, status: int) -> None:
    """Check that the OpenAPI document has this status, if the request is for a route of it."""
    paths = json.loads((ROOT / "docs/openapi.json").read_text())["paths"]
    for path, operations in paths.items():
        operation = operations.get(event["requestContext"]["http"]["method"].lower())
        if operation and re.fullmatch(path.replace("{id}", "[^/]+"), event["rawPath"]):
            if "{id}" in path and event["rawPath"] in paths:
                continue  # the path belongs to another route
            assert str(status) in operation["responses"]


def gateway_event(method, path, query, body, headers, authorizer):
    """Return a request in payload format 2.0.

    Repeated parameters are joined by a comma. Binary bodies are in base64.
    """
    parameters: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        parameters[name] = f"{parameters[name]},{value}" if name in parameters else value
    try:
        text = body and body.decode()
        encoded = False
    except UnicodeDecodeError:
        text, encoded = base64.b64encode(body).decode(), True
    return {
        "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": query, "headers": headers,
        **({"queryStringParameters": parameters} if parameters else {}),
        "requestContext": {
            "authorizer": authorizer, "domainName": "api.example.com", "requestId": "r", "stage": "$default",
            "http": {"method": method, "path": path},
        },
        **({"body": text} if body else {}), "isBase64Encoded": encoded,
    }  # fmt: skip


def fill(session: AwsSession) -> None:
    """Store an audit that found four things, one of which is resolved by now, and an audit that still runs."""
    table = Table(session, TABLE)
    findings, audits = DynamoFindings(table), DynamoAudits(table, timedelta(days=400), lambda: NOW)
    answered = [
        finding(),
        finding(RESOLVED),
        finding(CHEAP, severity="low", monthly_savings_usd="0.50"),
        finding(UNPRICED, severity="medium", monthly_savings_usd=None),
    ]
    report = TargetReport(
        account="123456789012",
        region=REGION,
        complete=True,
        detectors=frozenset({"efs-idle"}),
        records=(),
        unknown=frozenset(),
    )
    for number, one in enumerate(answered):
        assert findings.write(
            merge_one(None, service_json.finding_record(one), report, AUDIT, NOW + timedelta(seconds=number))
        )
    assert findings.write(merge_one(findings.get(RESOLVED), None, report, AUDIT, NOW + timedelta(hours=1)))

    running = AuditRecord(
        id=AUDIT, state="running", started_at=NOW, finished_at=None, request=AuditRequest(requested_by="schedule"),
        policy=PolicyVersion(version="v1", sha256="00"), outcome=None, error=None,
    )  # fmt: skip
    ended = AuditOutcome(
        targets=2, incomplete_targets=1,
        incomplete=(IncompleteTarget(account="123456789012", region="us-east-1", why="denied"),), gaps=1, findings=4,
        monthly_savings_usd=Decimal("240.50"), unpriced=1, opened=4, changed=0, resolved=0, api_calls=9,
        metrics_requested=100, estimated_usd=Decimal("0.001"), incomplete_in_a_row=1,
    )  # fmt: skip
    for id_ in (AUDIT, "key-1_2"):
        audits.begin(AuditRecord(**{name: getattr(running, name) for name in running.__slots__} | {"id": id_}))
    audits.end(
        AuditRecord(
            **{name: getattr(running, name) for name in running.__slots__}
            | {"state": "incomplete", "finished_at": NOW + timedelta(minutes=5), "outcome": ended}
        )
    )

    targets = [{"account": "123456789012", "region": r, "complete": r == REGION} for r in (REGION, "us-east-1")]
    gap = {"account": "123456789012", "region": "us-east-1", "what": "efs:x", "reason": "denied", "optional": False}
    s3 = session.client("s3", REGION)
    for key, document in {
        object_keys.target_scan(AUDIT, "123456789012", REGION): {"scan": {}, "findings": answered},
        object_keys.head(AUDIT): {"scan": {"targets": targets, "gaps": [gap]}, "findings": [], "totals": {}},
        object_keys.report(AUDIT): "the report",
    }.items():
        s3.put_object(Bucket=BUCKET, Key=key, Body=json.dumps(document).encode())


@pytest.fixture(scope="module")
def prices():
    """Serve the account that the estimates read: its price list and instance types."""
    with Simulator(Fleet(now=instant("2026-11-16T09:07:00Z"))) as running:
        yield running


@pytest.fixture(scope="module")
def served(prices, tmp_path_factory):
    """Load the function once."""
    warm = str(tmp_path_factory.mktemp("warm"))
    environment = {
        **{f"AWS_ENDPOINT_URL_{service}": prices.url for service in ("BACKUP", "EC2", "FSX", "PRICING")},
        "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": REGION, "TABLE_NAME": TABLE,
        "BUCKET_NAME": BUCKET, "RETENTION_DAYS": "400", "STATE_MACHINE_ARN": MACHINE,
        "POWERTOOLS_SERVICE_NAME": "slackwater", "CLEANUP_STATE_MACHINE_ARN": CLEANUP_MACHINE,
        "UNDO_STATE_MACHINE_ARN": UNDO_MACHINE,
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION"):
            patch.delenv(name, raising=False)
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setattr(scan_wiring, "clock", lambda: NOW)
        patch.setattr(service_wiring, "clock", lambda: NOW)
        patch.setattr(tempfile, "gettempdir", lambda: warm)
        spec = importlib.util.spec_from_file_location("serve_function", ROOT / "functions/serve/app.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield Api(module, AwsSession(meter=CallMeter()))


@pytest.fixture(scope="module")
def filled(served, table_properties):
    """Return the items and objects that `fill` stores, so that it does not run for each test."""
    session = served.session
    with mock_aws():
        dynamodb, s3 = session.client("dynamodb", REGION), session.client("s3", REGION)
        dynamodb.create_table(TableName=TABLE, **table_properties)
        s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        fill(session)
        items = dynamodb.scan(TableName=TABLE)["Items"]
        keys = [one["Key"] for one in s3.list_objects_v2(Bucket=BUCKET)["Contents"]]
        return items, {key: s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys}


@pytest.fixture
def api(served, filled, table_properties):
    session = served.session
    items, objects = filled
    with mock_aws():
        dynamodb, s3 = session.client("dynamodb", REGION), session.client("s3", REGION)
        dynamodb.create_table(TableName=TABLE, **table_properties)
        s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        for start in range(0, len(items), 25):
            puts = [{"PutRequest": {"Item": item}} for item in items[start : start + 25]]
            assert not dynamodb.batch_write_item(RequestItems={TABLE: puts})["UnprocessedItems"]
        for key, body in objects.items():
            s3.put_object(Bucket=BUCKET, Key=key, Body=body)
        for name in ("audit", "cleanup", "undo"):
            session.client("stepfunctions", REGION).create_state_machine(
                name=name,
                definition='{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 1, "End": true}}}',
                roleArn=f"arn:aws:iam::123456789012:role/{name}",
            )
        yield served


@pytest.fixture(autouse=True)
def well(prices):
    """Reset the account before each test, so that nothing fails unless the test says so."""
    prices.reset()


@pytest.fixture
def log(monkeypatch) -> io.StringIO:
    answered = io.StringIO()
    monkeypatch.setattr(LOGGER.handlers[0], "stream", answered)
    return answered


@pytest.mark.parametrize("path", sorted(ROOT.glob("events/serve-*.json")), ids=lambda path: path.stem)
def test_each_event_is_answered(api, path) -> None:
    status, headers, _ = api.event(json.loads(path.read_text()))
    assert status in {200, 202, 302}
    assert headers["Content-Type"] == "application/json"


# -- Findings


def listed(api, query: str = ""):
    status, _, page = api("GET", "/findings", query=query)
    assert status == 200
    return [one["id"] for one in page["findings"]]


def test_open_findings_are_listed_the_most_expensive_first_and_the_unpriced_last(api) -> None:
    assert listed(api) == [ID, CHEAP, UNPRICED]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("status=resolved", [RESOLVED]),
        ("status=snoozed", []),
        ("severity=low", [CHEAP]),
        ("account=123456789012&region=ap-northeast-1&detector=efs-idle", [ID, CHEAP, UNPRICED]),
        ("account=999999999999", []),
        ("region=us-east-1", []),
        ("detector=ebs-unattached", []),
        ("minimum_monthly_savings_usd=0.5", [ID, CHEAP]),
        ("minimum_monthly_savings_usd=120.01", []),
        ("sort=monthly_savings_usd", [CHEAP, ID, UNPRICED]),
        ("sort=opened_at", [ID, CHEAP, UNPRICED]),
        ("sort=-opened_at", [UNPRICED, CHEAP, ID]),
    ],
)
def test_a_list_is_narrowed_down_and_sorted(api, query: str, ids: list[str]) -> None:
    assert listed(api, query) == ids


def test_a_cursor_leads_through_the_list_and_no_other(api) -> None:
    found, cursor = [], ""
    while cursor is not None:
        _, _, page = api("GET", "/findings", query=f"limit=1{cursor and f'&cursor={cursor}'}")
        found += [one["id"] for one in page["findings"]]
        one_cursor, cursor = cursor, page["cursor"]
    assert found == [ID, CHEAP, UNPRICED]
    status, _, problem = api("GET", "/findings", query=f"limit=1&severity=low&cursor={one_cursor}")
    assert (status, problem["errors"]) == (
        422,
        [{"where": "query.cursor", "problem": "not a cursor of this very list"}],
    )


def test_a_finding_is_shown_with_its_evidence_and_its_ledger(api) -> None:
    status, _, shown = api("GET", f"/findings/{ID}")
    assert (status, shown["id"], shown["status"], shown["monthly_savings_usd"]) == (200, ID, "open", "120.00")
    assert shown["finding"] == finding()
    assert [(entry["happening"], entry["who"]) for entry in shown["ledger"]] == [("opened", "slackwater")]


def test_a_finding_is_snoozed_dismissed_and_reopened_by_the_caller_of_the_gateway(api) -> None:
    api("POST", f"/findings/{ID}/snooze", {"days": 30, "why": " on leave "})
    api("POST", f"/findings/{ID}/snooze", {"until": "2026-12-01T09:00:00+09:00"})
    api("POST", f"/findings/{ID}/dismiss", {"why": "it is a museum", "until": None})
    status, _, after = api("POST", f"/findings/{ID}/reopen")
    assert (status, after["status"], after["decision"]) == (200, "open", None)
    _, _, shown = api("GET", f"/findings/{ID}")
    assert [(entry["happening"], entry["who"], entry["why"]) for entry in shown["ledger"][1:]] == [
        ("snoozed", "arn:aws:iam::123456789012:user/jane", "on leave"),
        ("snoozed", "arn:aws:iam::123456789012:user/jane", ""),
        ("dismissed", "arn:aws:iam::123456789012:user/jane", "it is a museum"),
        ("reopened", "arn:aws:iam::123456789012:user/jane", ""),
    ]


@pytest.mark.parametrize(
    ("body", "until"),
    [
        ({"days": 30}, "2026-12-16T09:07:42Z"),
        ({"until": "2026-12-01T09:00:00+09:00"}, "2026-12-01T00:00:00Z"),
        ({"until": None, "days": 1}, "2026-11-17T09:07:42Z"),
    ],
)
def test_a_snooze_ends(api, body, until: str) -> None:
    _, _, snoozed = api("POST", f"/findings/{ID}/snooze", body)
    assert (snoozed["status"], snoozed["decision"]["until"]) == ("snoozed", until)
    assert listed(api, "status=snoozed") == [ID]


def test_a_dismissal_is_for_good_or_until_a_time(api) -> None:
    _, _, for_good = api("POST", f"/findings/{ID}/dismiss", {"why": "museum"})
    _, _, until = api("POST", f"/findings/{CHEAP}/dismiss", {"why": "museum", "until": "2027-01-01T00:00:00Z"})
    assert (for_good["decision"]["until"], until["decision"]["until"]) == (None, "2027-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("claims", "who"),
    [
        ({"sub": "8f14e45f", "email": "boss@example.com"}, "8f14e45f"),
        ({"sub": "8f14e45f", "email": "jane@example.com", "email_verified": "True"}, "jane@example.com"),
        ({"sub": "8f14e45f", "email": "jane@example.com", "email_verified": "true"}, "jane@example.com"),
        ({"sub": "8f14e45f", "email": "boss@example.com", "email_verified": "false"}, "8f14e45f"),
        ({"sub": "8f14e45f"}, "8f14e45f"),
    ],
)
def test_the_bearer_of_a_token_is_who_it_says(api, claims, who: str) -> None:
    push(api, f'[api]\ndeciders = ["{who}"]\n')
    _, _, decided = api(
        "POST", f"/findings/{ID}/dismiss", {"why": "x"}, authorizer={"jwt": {"claims": claims, "scopes": None}}
    )
    assert decided["decision"]["who"] == who


def test_the_caller_is_the_signer_of_the_request_whatever_a_token_says(api) -> None:
    claims = {"sub": "8f14e45f", "email": "boss@example.com", "email_verified": "true"}
    _, _, decided = api("POST", f"/findings/{ID}/dismiss", {"why": "x"}, authorizer=JANE | {"jwt": {"claims": claims}})
    assert decided["decision"]["who"] == JANE["iam"]["userArn"]


def test_a_decision_is_logged(api, log) -> None:
    api("POST", f"/findings/{ID}/dismiss", {"why": "x"})
    (logged,) = [json.loads(line) for line in log.getvalue().splitlines()]
    assert (logged["level"], logged["message"], logged["finding_id"]) == ("INFO", "decided", ID)
    assert (logged["action"], logged["status"], logged["who"]) == ("dismiss", "dismissed", JANE["iam"]["userArn"])


# -- Audits


def push(api, policy: str) -> None:
    api.session.client("s3", REGION).put_object(Bucket=BUCKET, Key=object_keys.POLICY, Body=policy.encode())


def executions(api):
    client = api.session.client("stepfunctions", REGION)
    found = client.list_executions(stateMachineArn=MACHINE)["executions"]
    return {
        one["name"]: json.loads(client.describe_execution(executionArn=one["executionArn"])["input"]) for one in found
    }


def test_an_audit_is_started(api) -> None:
    status, headers, started = api("POST", "/audits", {"regions": [REGION], "detectors": ["efs-idle"]})
    assert (status, headers["Location"]) == (202, f"/audits/{started['id']}")
    assert executions(api) == {
        started["id"]: {
            "requested_by": JANE["iam"]["userArn"],
            "regions": [REGION],
            "detectors": ["efs-idle"],
            "occasion": None,
            "accounts": [],
            "retry_of": None,
        }
    }


def test_without_a_body_an_audit_is_as_the_policy_says(api) -> None:
    _, _, started = api("POST", "/audits")
    assert executions(api)[started["id"]]["regions"] == []


def test_one_idempotency_key_is_one_audit(api) -> None:
    ids = {api("POST", "/audits", headers={"Idempotency-Key": "monday"})[2]["id"] for _ in range(3)}
    assert len(ids) == 1
    assert ids == set(executions(api))
    assert api("POST", "/audits", headers={"idempotency-key": "tuesday"})[2]["id"] not in ids


def test_audits_are_listed_the_newest_first(api) -> None:
    status, _, page = api("GET", "/audits")
    assert (status, {one["id"] for one in page["audits"]}, page["cursor"]) == (200, {AUDIT, "key-1_2"}, None)


def test_a_token_of_the_audience_may_neither_decide_nor_audit_unless_the_policy_names_it(api) -> None:
    token = {"jwt": {"claims": {"sub": "7d1f", "email": "ada@example.com", "email_verified": "true"}, "scopes": None}}
    asked = [("/audits", {}), *((f"/findings/{ID}/{what}", {"why": "x"}) for what in ("dismiss", "reopen"))]

    for path, body in asked:
        problem = assert_problem(api("POST", path, body, authorizer=token), 403)
        key = "auditors" if path == "/audits" else "deciders"
        assert (
            problem["detail"] == f"The policy does not allow it: the policy's api.{key} does not name ada@example.com."
        )
    assert_problem(api("POST", f"/findings/{ID}/snooze", {"days": 3}, authorizer=token), 403)
    assert executions(api) == {}

    push(api, '[api]\ndeciders = ["ada@example.com"]\nauditors = ["ada@example.com"]\n')
    assert [api("POST", path, body, authorizer=token)[0] for path, body in asked] == [202, 200, 200]
    for path, body in asked:  # a list of names also restricts callers with IAM permissions
        assert_problem(api("POST", path, body), 403)

    push(api, "[scan]\nwrong = 1\n")
    for path, body in asked:
        assert_problem(api("POST", path, body, authorizer=token), 409)
    assert api("POST", "/audits")[0] == 202  # the audit's record reports the policy's mistake
    assert_problem(api("POST", f"/findings/{ID}/dismiss", {"why": "x"}), 409)


def test_one_audit_too_many_is_refused_with_those_that_run(api) -> None:
    running = [api("POST", "/audits")[2]["id"] for _ in range(2)]
    # The limit per caller leaves room for others.
    assert assert_problem(api("POST", "/audits"), 409)["running"] == running
    running.append(api("POST", "/audits", authorizer=JOE)[2]["id"])

    problem = assert_problem(api("POST", "/audits"), 409)

    assert problem["running"] == running
    assert problem["detail"].endswith(f"as many as scan.most_running_audits allows: {', '.join(running)}")
    assert set(executions(api)) == {*running}


def test_the_first_page_has_the_remaining_number_of_audits(api) -> None:
    api.session.client("dynamodb", REGION).put_item(
        TableName=TABLE,
        Item={"pk": {"S": f"SPEND#day/{NOW:%Y-%m-%d}"}, "sk": {"S": "SPEND"}, "metrics": {"N": "4999000"}},
    )
    started = api("POST", "/audits")[2]["id"]

    _, _, page = api("GET", "/audits", query="limit=1")

    assert page["allowance"] == {
        "running": [started], "most_running": 3, "day": f"{NOW:%Y-%m-%d}", "spent_usd": "49.99", "most_usd": "50.00",
        "left_usd": "0.01",
    }  # fmt: skip
    assert api("GET", "/audits", query=f"limit=1&cursor={page['cursor']}")[2]["allowance"] is None


def test_once_the_day_is_spent_no_audit_starts(api) -> None:
    api.session.client("dynamodb", REGION).put_item(
        TableName=TABLE,
        Item={"pk": {"S": f"SPEND#day/{NOW:%Y-%m-%d}"}, "sk": {"S": "SPEND"}, "metrics": {"N": "5000000"}},
    )

    assert "audits start again the next day" in assert_problem(api("POST", "/audits"), 409)["detail"]
    assert executions(api) == {}


def test_an_audit_is_shown_with_what_it_covered_and_a_link(api) -> None:
    status, _, shown = api("GET", f"/audits/{AUDIT}")
    assert (status, shown["state"], shown["outcome"]["incomplete"][0]["region"]) == (200, "incomplete", "us-east-1")
    assert [target["complete"] for target in shown["targets"]] == [True, False]
    assert shown["gaps"][0]["reason"] == "denied"
    assert object_keys.scan(AUDIT) in shown["scan_url"]
    assert (api("GET", "/audits/key-1_2")[2]["state"], api("GET", "/audits/key-1_2")[2]["scan_url"]) == (
        "running",
        None,
    )


# -- Estimates

TERABYTE = {"instance_type": "t3.micro", "bytes": "1TB", "needed_rate": "350MB/s", "families": ["t3", "m6i"]}


def test_the_latest_report_is_redirected_to_for_a_quarter_of_an_hour(api) -> None:
    status, headers, found = api("GET", "/reports/latest")
    link = urlsplit(headers["Location"])

    assert (status, found["url"], found["audit_id"]) == (302, headers["Location"], AUDIT)
    assert found["expires_at"] == "2026-11-16T09:22:42Z"
    assert link.path.endswith(object_keys.report(AUDIT))
    assert dict(parse_qsl(link.query))["X-Amz-Expires"] == "900"
    assert headers["Cache-Control"] == "no-store"


def test_where_no_report_is_a_problem_says_why(api) -> None:
    api.session.client("s3", REGION).delete_object(Bucket=BUCKET, Key=object_keys.report(AUDIT))
    problem = assert_problem(api("GET", "/reports/latest"), 404)

    assert problem["detail"].startswith(f"audit {AUDIT} left no report: the log of PublishFunction says why")


def test_an_estimate_is_worked_with_the_accounts_own_prices_and_types(api, prices) -> None:
    status, _, answered = api("POST", "/estimates/network-transfer", TERABYTE)
    assert (status, answered["schema"], answered["kind"]) == (200, "slackwater.estimate/1", "network-transfer")
    assert (answered["result"]["baseline_mb_per_s"], answered["result"]["seconds_at_baseline"]) == (8, 125_000)
    assert answered["inputs"] == {"region": REGION, "hours_per_month": 730, "zones": 1, **TERABYTE}
    assert {price["source"].partition(",")[0] for price in answered["price_basis"]} == {"AWS Price List"}
    assert "t3.micro: ec2:DescribeInstanceTypes" in answered["sources"]
    assert prices.calls["ec2:DescribeInstanceTypes"] == 1
    assert api("POST", "/estimates/network-transfer", answered["inputs"])[2] == answered


EXAMPLES = {
    "ebs-transfer": {"instance_type": "m5.large", "size": "500GiB", "bytes": "400GiB"},
    "efs-credits": {"input_rate": "147Mbps", "duration": "30min"},
    "efs-throughput-mode": {"stored": "500GiB", "read_per_month": "6TiB", "peak": "120MiB/s"},
    "efs-vs-ebs": {"usage_csv": "minute,GiB\n0,0\n59,40\n", "allocated": "60GiB", "efs": "one-zone"},
    "network-transfer": TERABYTE,
    "shared-storage": {"capacity": "64GiB", "throughput": "160MB/s", "multi_az": True},
    "small-files": {"files": 40_000, "bytes": "1.1GB", "workers": 4},
}


@pytest.mark.parametrize("kind", estimates())
def test_every_estimate_answers_as_its_document_says_and_its_inputs_can_be_sent_again(api, kind: str) -> None:
    document = json.loads((ROOT / "docs/openapi.json").read_text())
    operation = document["paths"][f"/estimates/{kind}"]["post"]
    assert operation["summary"] == estimates()[kind].title
    schemas = [
        operation["requestBody"]["content"]["application/json"]["schema"],
        operation["responses"]["200"]["content"]["application/json"]["schema"],
    ]
    takes, answers = (Draft202012Validator(schema | {"components": document["components"]}) for schema in schemas)
    status, _, answered = api("POST", f"/estimates/{kind}", EXAMPLES[kind])
    assert (status, answered["kind"]) == (200, kind), answered
    answers.validate(answered)
    takes.validate(answered["inputs"])
    assert api("POST", f"/estimates/{kind}", answered["inputs"])[2] == answered


def test_an_estimate_is_for_the_region_that_is_named(api) -> None:
    _, _, answered = api(
        "POST", "/estimates/network-transfer", TERABYTE | {"region": "us-east-1", "hours_per_month": 720}
    )
    assert (answered["inputs"]["region"], answered["inputs"]["hours_per_month"]) == ("us-east-1", 720)
    assert answered["result"]["endpoints"]["interface"]["monthly_usd"] == "7.20"


def test_prices_and_types_that_may_not_be_read_are_packaged_and_reported(api, prices) -> None:
    asked = TERABYTE | {"needed_rate": "90MB/s", "families": ["c6i"], "region": "us-east-1"}
    for action in ("pricing:GetProducts", "ec2:DescribeInstanceTypes"):
        prices.faults.deny(action)
    status, _, answered = api("POST", "/estimates/network-transfer", asked)
    assert (status, {gap["what"] for gap in answered["gaps"]}) == (
        200,
        {"pricing:GetProducts", "ec2:DescribeInstanceTypes"},
    )
    assert all("not authorized" in gap["reason"] for gap in answered["gaps"])
    sources = {price["item"]: price["source"] for price in answered["price_basis"]}
    assert sources["ec2.c6i.large.hour"].startswith("snapshot: ")

    prices.reset()  # a warm function asks again after a failure
    _, _, answered = api("POST", "/estimates/network-transfer", asked)
    assert {gap["what"] for gap in answered["gaps"]} <= {"pricing:GetProducts"}
    assert "not authorized" not in json.dumps(answered)


def test_an_estimate_reports_all_mistakes_at_once_with_the_nearest_valid_values(api) -> None:
    wrong = {
        "instance_typ": "t3.micro",
        "bytes": "1TBit",
        "needed_rate": -1,
        "families": "t3",
        "region": "ap-norhteast-1",
    }
    status, _, problem = api("POST", "/estimates/network-transfer", wrong)
    assert status == 422
    assert {one["where"]: one["problem"] for one in problem["errors"]} == {
        "body.instance_type": "is needed: type of the instance that transfers the data",
        "body.instance_typ": "no such input; did you mean instance_type?",
        "body.bytes": "'1TBit': no unit 'TBit' of a size; did you mean TB?",
        "body.needed_rate": "-1: a rate is a text with a unit, such as '100MiB/s'",
        "body.families": "'t3': a list is needed",
        "body.region": "no region 'ap-norhteast-1'; did you mean ap-northeast-1?",
    }


@pytest.mark.parametrize(
    ("body", "where", "problem"),
    [
        ({"instance_type": "t3.mirco"}, "body.instance_type", "no instance type 't3.mirco'; did you mean t3.micro?"),
        (TERABYTE | {"families": ["t33"]}, "body.families", "no instance family 't33'; did you mean t3?"),
        (TERABYTE | {"bytes": "30"}, "body.bytes",
         "'30': a size needs a unit: 30B, 30KB, 30MB, 30GB, 30TB, 30PB, 30KiB, 30MiB, 30GiB, 30TiB, 30PiB"),
        (TERABYTE | {"bytes": "-30GiB"}, "body.bytes", "'-30GiB': a size cannot be negative"),
        (TERABYTE | {"bytes": 10**400}, "body.bytes", "a size is a text with a unit, such as '30GiB'"),
        (TERABYTE | {"hours_per_month": 745}, "body.hours_per_month", "745: at most 744 is allowed"),
        (TERABYTE | {"hours_per_month": "730"}, "body.hours_per_month", "'730': a number is needed"),
        (TERABYTE | {"hours_per_month": float("nan")}, "body.hours_per_month", "nan: a finite number is needed"),
        (TERABYTE | {"bytes": "x" * 100_000}, "body.bytes", f"'{'x' * 60}'…: not a size, such as 30GiB"),
        (TERABYTE | {"x" * 300: 1}, f"body.{'x' * 194}…", None),
        (TERABYTE | {"region": ""}, "body.region", None),
        ([TERABYTE], "body", "is not a JSON object"),
        (None, "body", "is needed: a JSON object of inputs"),
        (b'{"bytes": ' + b"9" * 5_000 + b"}", "body", None),
        (b"{", "body", None),
    ],
)  # fmt: skip
def test_an_input_that_makes_no_sense_is_refused_and_named(api, body, where, problem) -> None:
    status, _, answered = api("POST", "/estimates/network-transfer", body)
    assert (status, [one["where"] for one in answered["errors"]]) == (422, [where])
    assert problem in {None, answered["errors"][0]["problem"]}


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("network-transfr", "no estimate 'network-transfr'; did you mean network-transfer?"),
        ("NETWORK-TRANSFER", "no estimate 'NETWORK-TRANSFER'; did you mean network-transfer?"),
        ("x" * 300, f"no estimate '{'x' * 186}…"),
    ],
)
def test_an_estimate_that_there_is_not_is_not_found_and_the_nearest_named(api, kind: str, problem: str) -> None:
    for body in (TERABYTE, None, b"{"):
        assert assert_problem(api("POST", f"/estimates/{kind}", body), 404)["detail"] == problem


def test_an_estimate_takes_json_only(api) -> None:
    assert_problem(api("POST", "/estimates/network-transfer", TERABYTE, headers={"content-type": "text/plain"}), 415)
    assert_problem(api("POST", "/estimates/network-transfer", TERABYTE, query="dry=1"), 422, "query.dry")
    assert_problem(api("GET", "/estimates/network-transfer"), 404)


# -- Clean-ups

REMOVABLE, OTHER = "00000000000000dd", "00000000000000ee"
POLICY = f"""
[cleanup]
accounts = ["123456789012"]
regions = ["{REGION}"]
resource_types = ["efs-file-system"]
detectors = ["efs-idle"]
approver_identities = ["arn:aws:iam::123456789012:user/jane"]
most_resources = 1
"""
JOE = {"iam": {"userArn": "arn:aws:iam::123456789012:user/joe"}}


def write_policy(session: AwsSession, text: str) -> None:
    session.client("s3", REGION).put_object(Bucket=BUCKET, Key=object_keys.POLICY, Body=text.encode())


@pytest.fixture
def cleaner(api):
    """Provide the API, a policy that lets jane approve, and two findings that allow clean-up."""
    table = Table(api.session, TABLE)
    advice = {"action": "back-up-and-delete", "monthly_savings_usd": "120.00", "deletes": True}
    answered = [finding(id_, recommendations=[advice]) for id_ in (REMOVABLE, OTHER)]
    report = TargetReport(
        account="123456789012", region=REGION, complete=True, detectors=frozenset({"efs-idle"}), records=(),
        unknown=frozenset(),
    )  # fmt: skip
    for one in answered:
        assert DynamoFindings(table).write(merge_one(None, service_json.finding_record(one), report, AUDIT, NOW))
    scan = {
        "scan": {"targets": [{"account": "123456789012", "region": REGION, "complete": True}]},
        "findings": answered,
    }
    key = object_keys.target_scan(AUDIT, "123456789012", REGION)
    api.session.client("s3", REGION).put_object(Bucket=BUCKET, Key=key, Body=json.dumps(scan).encode())
    write_policy(api.session, POLICY)
    return api


def begun_by(api, machine: str) -> list[tuple[str, object]]:
    client = api.session.client("stepfunctions", REGION)
    found = client.list_executions(stateMachineArn=machine)["executions"]
    return [
        (one["name"], json.loads(client.describe_execution(executionArn=one["executionArn"])["input"])) for one in found
    ]


def approve(api, id_: str = REMOVABLE, fingerprint: str | None = None, **options):
    return api("POST", f"/findings/{id_}/approve", {"fingerprint": fingerprint or f"f-{id_}"}, **options)


def test_an_approval_begins_the_clean_up_of_what_was_seen(cleaner) -> None:
    status, _, answered = approve(cleaner)

    assert (status, answered["finding"]["status"], answered["finding"]["decision"]["who"]) == (
        200,
        "approved",
        JANE["iam"]["userArn"],
    )
    assert (answered["candidate"]["state"], answered["candidate"]["does"], answered["candidate"]["acts_after"]) == (
        "begun", "delete", "2026-12-16T09:07:42Z",
    )  # fmt: skip
    assert begun_by(cleaner, CLEANUP_MACHINE) == [(f"{REMOVABLE}-1", {"finding_id": REMOVABLE})]
    status, _, shown = cleaner("GET", f"/cleanups/{REMOVABLE}")
    assert (status, shown["stage"], shown["status"], shown["undo"]) == (200, "starting", "approved", None)
    assert [entry["happening"] for entry in shown["ledger"]] == ["opened", "approved"]
    assert (shown["promised_monthly_usd"], shown["realised_monthly_usd"]) == ("120.00", None)


def test_nothing_is_approved_that_was_not_seen_or_by_whom_the_policy_does_not_name(cleaner) -> None:
    assert "has changed" in assert_problem(approve(cleaner, fingerprint="old"), 409)["detail"]
    answered = assert_problem(approve(cleaner, authorizer=JOE), 403)
    assert answered["detail"] == (
        "The policy does not allow it: the policy's cleanup.approver_identities does not name "
        "arn:aws:iam::123456789012:user/joe."
    )
    assert_problem(cleaner("POST", f"/findings/{REMOVABLE}/approve", {}), 422, "body.fingerprint")
    assert_problem(cleaner("POST", f"/findings/{REMOVABLE}/approve"), 422, "body")
    assert_problem(approve(cleaner, "ffff"), 404)
    assert_problem(approve(cleaner, ID), 403)  # none of its recommendations can be carried out by Slackwater
    assert begun_by(cleaner, CLEANUP_MACHINE) == []
    assert cleaner("GET", f"/findings/{REMOVABLE}")[2]["status"] == "open"


def test_a_plan_says_what_a_run_would_do(cleaner) -> None:
    status, _, plan = cleaner("GET", "/cleanups/plan", query=f"findings={REMOVABLE},{ID}")
    assert (status, plan["enabled"], plan["over_cap"], plan["stopped"]) == (200, True, None, None)
    assert [(one["finding_id"], one["state"]) for one in plan["candidates"]] == [
        (REMOVABLE, "refused"),
        (ID, "refused"),
    ]
    assert "cleanup approve" in plan["candidates"][0]["why"]
    assert cleaner("GET", "/cleanups/plan")[2]["candidates"] == []
    assert_problem(cleaner("GET", "/cleanups/plan", query="findings=ffff"), 404)
    assert_problem(cleaner("GET", "/cleanups/plan", query="findings=a,,b"), 422, "query.findings")
    assert begun_by(cleaner, CLEANUP_MACHINE) == []


def test_over_the_cap_nothing_is_begun_and_the_alarm_and_slack_hear_of_it(cleaner, capsys) -> None:
    approve(cleaner)
    capsys.readouterr()

    _, _, answered = approve(cleaner, OTHER)

    assert (answered["finding"]["status"], answered["candidate"]["state"]) == ("approved", "refused")
    assert answered["candidate"]["why"].startswith(
        "no clean-up started: 2 clean-ups in 24 hours (1 of them started already)"
    )
    (post,) = DynamoOutbox(Table(cleaner.session, TABLE), lambda: NOW).waiting()
    assert post.id.startswith("cleanup.cap.20261116.")
    problem = assert_problem(cleaner("POST", "/cleanups"), 409)
    assert (
        problem["detail"]
        == "no clean-up started: 2 clean-ups in 24 hours: the policy's cleanup.most_resources allows 1"
    )
    assert [name for name, _ in begun_by(cleaner, CLEANUP_MACHINE)] == [f"{REMOVABLE}-1"]
    assert '"CleanupCapBreached":[1.0]' in capsys.readouterr().out.replace(" ", "")


def test_a_run_begins_what_is_approved_and_lists_what_it_does_not(cleaner) -> None:
    write_policy(cleaner.session, POLICY.replace("most_resources = 1", "most_resources = 9"))
    cleaner("POST", "/cleanups/stop", {"why": "not yet"})
    approve(cleaner)
    assert "not yet" in assert_problem(cleaner("POST", "/cleanups"), 409)["detail"]
    cleaner("POST", "/cleanups/go-on")

    status, _, answered = cleaner("POST", "/cleanups", {"findings": [REMOVABLE, OTHER]})

    assert (status, [(one["finding_id"], one["state"]) for one in answered["candidates"]]) == (
        200, [(REMOVABLE, "begun"), (OTHER, "refused")],
    )  # fmt: skip
    again = cleaner("POST", "/cleanups")[2]["candidates"]
    # The execution may not have started, so it is started again.
    assert [(one["finding_id"], one["state"]) for one in again] == [(REMOVABLE, "begun")]
    assert [name for name, _ in begun_by(cleaner, CLEANUP_MACHINE)] == [f"{REMOVABLE}-1"]
    assert_problem(cleaner("POST", "/cleanups", authorizer=JOE), 403)
    assert_problem(cleaner("POST", "/cleanups", {"findings": ["ffff"]}), 404)
    assert_problem(cleaner("POST", "/cleanups", {"finding": []}), 422, "body.finding")


def test_one_is_stopped_and_all_are(cleaner) -> None:
    approve(cleaner)
    status, _, answered = cleaner("POST", f"/cleanups/{REMOVABLE}/stop", {"why": " they came back "})
    assert (status, answered["stopped"]) == (
        200, {"who": JANE["iam"]["userArn"], "why": "they came back", "at": "2026-11-16T09:07:42Z"},
    )  # fmt: skip
    assert_problem(cleaner("POST", f"/cleanups/{OTHER}/stop"), 404)
    assert_problem(cleaner("POST", f"/cleanups/{REMOVABLE}/stop", authorizer=JOE), 403)
    assert_problem(cleaner("POST", "/cleanups/stop", authorizer=JOE), 403)
    assert_problem(cleaner("POST", "/cleanups/go-on", authorizer=JOE), 403)

    assert cleaner("POST", "/cleanups/stop")[2]["stopped"]["who"] == JANE["iam"]["userArn"]
    assert cleaner("GET", "/cleanups")[2]["stopped"]["who"] == JANE["iam"]["userArn"]
    assert cleaner("POST", "/cleanups/go-on")[2] == {"stopped": None}
    assert cleaner("GET", "/cleanups")[2]["stopped"] is None


def test_what_was_deleted_is_undone_and_what_was_not_cannot_be(cleaner) -> None:
    approve(cleaner)
    assert "has not ended" in assert_problem(cleaner("POST", f"/cleanups/{REMOVABLE}/undo"), 409)["detail"]
    store = DynamoCleanups(Table(cleaner.session, TABLE))
    begun = store.get(REMOVABLE)
    gone = Removal(part=SubResource(kind="file-system", id="fs-1", arn=None), asked_at=NOW)
    assert store.write(replace(begun, stage="done", removals=(gone,), ended_at=NOW, revision=2))
    assert cleaner("GET", f"/cleanups/{REMOVABLE}")[2]["undo"] == f"slackwater cleanup undo {REMOVABLE}"
    assert_problem(cleaner("POST", f"/cleanups/{REMOVABLE}/undo", authorizer=JOE), 403)

    status, _, answered = cleaner("POST", f"/cleanups/{REMOVABLE}/undo", {"why": "they came back"})

    assert (status, answered["stage"], answered["undone"]["why"]) == (200, "undoing", "they came back")
    assert begun_by(cleaner, UNDO_MACHINE) == [(f"{REMOVABLE}-1-undo-1", {"finding_id": REMOVABLE})]


def test_clean_ups_are_listed_with_their_sums(cleaner) -> None:
    write_policy(cleaner.session, POLICY.replace("most_resources = 1", "most_resources = 9"))
    approve(cleaner)
    approve(cleaner, OTHER)
    store = DynamoCleanups(Table(cleaner.session, TABLE))
    observed = Observed(audit_id=AUDIT, at=NOW, left_monthly_usd=Decimal(20))
    assert store.write(replace(store.get(OTHER), stage="done", observed=observed, ended_at=NOW, revision=2))

    _, _, page = cleaner("GET", "/cleanups", query="limit=1")
    _, _, rest = cleaner("GET", "/cleanups", query=f"limit=1&cursor={page['cursor']}")

    both = {one["finding_id"]: one for one in page["cleanups"] + rest["cleanups"]}
    assert [len(page["cleanups"]), len(rest["cleanups"]), rest["cursor"]] == [1, 1, None]
    assert both[OTHER]["realised_monthly_usd"] == "100.00"
    sums = [(one["promised_monthly_usd"], one["realised_monthly_usd"], one["unknown"]) for one in (page, rest)]
    assert sorted(sums) == [("0.00", "0.00", 0), ("120.00", "100.00", 0)]
    assert (page["totals"], rest["totals"]) == (
        {"cleanups": 2, "promised_monthly_usd": "120.00", "realised_monthly_usd": "100.00", "unknown": 0},
        None,
    )
    assert_problem(cleaner("GET", "/cleanups/ffff"), 404)


class Snapshots:
    """A BackupLister with one snapshot, which another installation made."""

    needs_place = "the zone that the volume is to be in"

    def copies(self, account: str, region: str):
        tags = {BACKUP_OF: f"arn:aws:ec2:{region}:{account}:volume/vol-9", INSTALLATION: "another"}
        yield Copy(id="snap-9", of="vol-9", state="complete", size_bytes=8 * GIB, made_at=NOW, tags=tags)

    def not_restorable(self, copy: Copy) -> None:
        return None

    def recorded(self, region: str, copy: Copy, places):
        return {"availability_zone": places[0]}


def test_backups_are_listed_and_one_is_adopted(cleaner, monkeypatch) -> None:
    def backups():
        listed = {"ebs-volume": Snapshots()}
        return replace(serving.backups(), listers=listed, regions=lambda: [REGION], price=lambda *_: Decimal("0.40"))

    serving = cleaner.module.SERVING
    monkeypatch.setattr(cleaner.module, "SERVING", replace(serving, backups=backups))

    status, _, found = cleaner("GET", "/cleanups/backups")
    assert (status, found["complete"], found["monthly_usd"], found["installation"]) == (200, True, "0.40", None)
    ((one),) = found["backups"]
    assert (one["id"], one["whose"], one["installation"], one["finding_id"], one["undo"]) == (
        "snap-9",
        "other",
        "another",
        None,
        None,
    )
    assert_problem(cleaner("GET", "/cleanups/backups", query="region=eu-west-99"), 422, "query.region")

    wanted = {"backup": "snap-9", "why": "their stack is gone", "places": [f"{REGION}a"]}
    assert_problem(cleaner("POST", "/cleanups/backups/adopt", wanted, authorizer=JOE), 403)
    assert_problem(cleaner("POST", "/cleanups/backups/adopt", wanted | {"backup": "snap-1"}), 404)
    assert_problem(cleaner("POST", "/cleanups/backups/adopt", wanted | {"places": []}), 422, "body.places")
    status, _, adopted = cleaner("POST", "/cleanups/backups/adopt", wanted)
    id_ = adopted["finding_id"]
    assert (status, adopted["stage"], adopted["undo"]) == (200, "done", f"slackwater cleanup undo {id_}")
    assert cleaner("GET", "/cleanups/backups")[2]["backups"][0]["finding_id"] == id_
    assert cleaner("GET", f"/cleanups/{id_}")[2]["ledger"][0]["happening"] == "adopted"
    assert cleaner("POST", f"/cleanups/{id_}/undo", {"why": "needed"})[0] == 200


def test_without_clean_up_an_approval_is_stored_and_nothing_begins(cleaner, monkeypatch) -> None:
    serving = cleaner.module.SERVING
    off = replace(serving, cleanups=replace(serving.cleanups, starter=None))
    monkeypatch.setattr(cleaner.module, "SERVING", off)

    assert approve(cleaner)[2]["candidate"] is None
    assert "CleanupEnabled=true" in assert_problem(cleaner("POST", "/cleanups"), 409)["detail"]
    assert "CleanupEnabled=true" in assert_problem(cleaner("POST", f"/cleanups/{REMOVABLE}/undo"), 409)["detail"]
    assert cleaner("GET", "/cleanups/plan")[2]["enabled"] is False


def test_by_a_policy_that_cannot_be_read_nobody_does_anything_but_stop(cleaner) -> None:
    write_policy(cleaner.session, "[cleanup]\napprover = 7\n")

    for answer in (
        approve(cleaner),
        cleaner("POST", "/cleanups"),
        cleaner("GET", "/cleanups/plan"),
        cleaner("POST", "/cleanups/go-on"),
    ):
        assert assert_problem(answer, 409)["detail"].startswith("The policy cannot be used, so nobody may do this: ")
    assert cleaner("POST", "/cleanups/stop")[0] == 200


# -- Problems


def assert_problem(answer, status: int, where: str | None = None):
    got, headers, problem = answer
    assert (got, headers["Content-Type"]) == (status, "application/problem+json")
    assert (problem["status"], problem["type"], problem["instance"]) == (
        status,
        "about:blank",
        f"urn:uuid:{REQUEST_ID}",
    )
    assert problem["detail"]
    assert [error["where"] for error in problem.get("errors", [])] == ([where] if where else [])
    return problem


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("statsu=open", "query.statsu"),
        ("status=shut", "query.status"),
        ("status=open&status=resolved", "query.status"),
        ("severity=", "query.severity"),
        ("detector=efs-idel", "query.detector"),
        ("account=1234", "query.account"),
        ("region=Tokyo", "query.region"),
        ("minimum_monthly_savings_usd=-1", "query.minimum_monthly_savings_usd"),
        ("minimum_monthly_savings_usd=1e999999999", "query.minimum_monthly_savings_usd"),
        ("minimum_monthly_savings_usd=NaN", "query.minimum_monthly_savings_usd"),
        ("sort=size", "query.sort"),
        ("limit=0", "query.limit"),
        ("limit=201", "query.limit"),
        ("cursor=nonsense", "query.cursor"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_and_named(api, query: str, where: str) -> None:
    assert_problem(api("GET", "/findings", query=query), 422, where)


def test_problems_of_a_request_are_short(api) -> None:
    sent = {"x" * 1_000: 1} | {f"x{n}": 1 for n in range(30)}
    _, _, problem = api("POST", f"/findings/{ID}/reopen", sent)
    assert len(problem["errors"]) == 20
    assert problem["errors"][0]["where"] == f"body.{'x' * 194}…"
    problem = assert_problem(api("GET", "/findings", query=f"{'y' * 1_000}=1"), 422, f"query.{'y' * 193}…")
    problem = assert_problem(api("POST", f"/findings/{ID}/reopen", {}, headers={"content-type": "z" * 1_000}), 415)
    assert len(problem["detail"]) == 200


def test_the_answer_to_a_misspelt_filter_names_the_right_one(api) -> None:
    problem = assert_problem(api("GET", "/findings", query="statsu=resolved"), 422, "query.statsu")
    assert problem["errors"][0]["problem"] == "no such parameter; did you mean status?"
    problem = assert_problem(api("GET", "/findings", query="detector=efs-idel"), 422, "query.detector")
    assert problem["errors"][0]["problem"] == "no detector 'efs-idel'; did you mean efs-idle?"
    assert_problem(api("GET", "/audits", query="status=failed"), 422, "query.status")


@pytest.mark.parametrize(
    ("action", "body", "where"),
    [
        ("snooze", None, "body"),
        ("snooze", {}, "body"),
        ("snooze", {"days": 3, "until": "2026-12-01T00:00:00Z"}, "body"),
        ("snooze", {"days": None}, "body"),
        ("snooze", {"days": 0}, "body.days"),
        ("snooze", {"days": 367}, "body.days"),
        ("snooze", {"days": "3"}, "body.days"),
        ("snooze", {"days": 3, "who": "boss"}, "body.who"),
        ("snooze", {"until": "2026-12-01"}, "body.until"),
        ("snooze", {"until": "2026-13-01T00:00:00Z"}, "body.until"),
        ("snooze", {"until": "9999-12-31T23:59:59-14:00"}, "body.until"),
        ("snooze", {"until": 1_800_000_000}, "body.until"),
        ("snooze", {"until": "2026-11-16T09:00:00Z"}, "body.until"),
        ("snooze", {"until": "2028-01-01T00:00:00Z"}, "body.until"),
        ("dismiss", {"why": "   "}, "body.why"),
        ("dismiss", {"why": "x" * 1_001}, "body.why"),
        ("dismiss", {"why": " " + "x" * 1_000}, "body.why"),  # counted before trimming, as the document says
        ("dismiss", {"why": "x", "until": "2026-11-16T09:00:00Z"}, "body.until"),
        ("dismiss", {}, "body.why"),
        ("reopen", {"wyh": ""}, "body.wyh"),
        ("snooze", [{"days": 3}], "body"),
        ("reopen", b"null", "body"),
        ("reopen", b"{", "body"),
        ("reopen", b"[" * 100_000, "body"),
        ("reopen", b'{"why": "\xff"}', "body"),
        ("reopen", b'{"why": "\\ud800"}', "body"),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused_and_named(api, action: str, body, where: str) -> None:
    assert_problem(api("POST", f"/findings/{ID}/{action}", body), 422, where)
    assert [entry["happening"] for entry in api("GET", f"/findings/{ID}")[2]["ledger"]] == ["opened"]


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain", "application/jsonp"]
)
def test_a_body_that_is_not_json_is_refused(api, kind: str) -> None:
    assert_problem(api("POST", f"/findings/{ID}/dismiss", b"why=x", headers={"Content-Type": kind}), 415)


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "application/json ;charset=utf-8", "Application/JSON"]
)
def test_json_may_say_its_charset_and_be_written_in_any_case(api, kind: str) -> None:
    kind = {"content-type": kind}
    assert api("POST", f"/findings/{ID}/dismiss", {"why": "x"}, headers=kind)[0] == 200


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"regions": ["Tokyo"]}, "body.regions.0"),
        ({"regions": ["ap-norhteast-1"]}, "body"),
        ({"detectors": ["efs-idel"]}, "body"),
        ({"region": [REGION]}, "body.region"),
    ],
)
def test_an_audit_that_cannot_be_is_refused(api, body, where: str) -> None:
    assert_problem(api("POST", "/audits", body), 422, where)
    assert executions(api) == {}


def test_the_answer_to_a_misspelt_region_names_the_right_one(api) -> None:
    problem = assert_problem(api("POST", "/audits", {"regions": ["ap-norhteast-1"]}), 422, "body")
    assert problem["errors"][0]["problem"] == "no region 'ap-norhteast-1'; did you mean ap-northeast-1?"


def test_an_idempotency_key_is_short(api) -> None:
    assert_problem(api("POST", "/audits", headers={"Idempotency-Key": "x" * 65}), 422, "header.idempotency-key")


@pytest.mark.parametrize(
    "what",
    [
        ("GET", "/findings/none"), ("POST", "/findings/none/snooze", {"days": 1}),
        ("POST", "/findings/none/dismiss", {"why": "x"}),
        ("POST", "/findings/none/reopen"), ("GET", "/audits/none"), ("GET", "/nowhere"), ("DELETE", f"/findings/{ID}"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_not_found(api, what) -> None:
    assert_problem(api(*what), 404)


def test_a_finding_that_is_gone_cannot_be_decided_about(api) -> None:
    problem = assert_problem(api("POST", f"/findings/{RESOLVED}/dismiss", {"why": "x"}), 409)
    assert "resolved" in problem["detail"]


def routes(api):
    return [
        (route.method, route.path.replace("<id>", ID))
        for route in api.module.API._dynamic_routes + api.module.API._static_routes
    ]


@pytest.mark.parametrize(
    "authorizer",
    [
        None, {}, {"iam": None}, {"iam": {"userArn": None}}, {"jwt": {"claims": None}}, {"lambda": {}},
        {"jwt": {"claims": {"sub": SERVICE}}}, {"jwt": {"claims": {"sub": f" {SERVICE} "}}},
        {"jwt": {"claims": {"sub": ""}}}, {"jwt": {"claims": {"sub": "slack:U0ADA"}}},
        {"jwt": {"claims": {"sub": " arn:aws:iam::123456789012:user/jane"}}},
    ],
)  # fmt: skip
def test_a_route_that_was_left_open_answers_nobody(api, authorizer) -> None:
    assert len(routes(api)) == 22 + len(estimates())
    for method, path in routes(api):
        # The answer reports no other problem of the request.
        assert_problem(api(method, path, b"{", "nonsense=1", {"content-type": "text/plain"}, authorizer), 401)
    assert executions(api) == {}


class Broken:
    """Use cases that always fail, and so do their stores."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str):
        return self

    def __call__(self, *_, **__):
        # The same error is raised repeatedly, and its traceback would grow each time.
        raise self._error.with_traceback(None)


def refused(code: str, status: int) -> ClientError:
    return ClientError(
        {"Error": {"Code": code, "Message": "slackwater-table"}, "ResponseMetadata": {"HTTPStatusCode": status}},
        "Query",
    )


def caused_by(error: Exception) -> Exception:
    """Return the problem as `remedies` raises it."""
    problem = translated(error)
    problem.__cause__ = error
    return problem


def answers(api, monkeypatch, error: Exception):
    world = Broken(error)
    monkeypatch.setattr(
        api.module,
        "SERVING",
        Serving(
            findings=world,
            audits=world,
            cleanups=world,
            policy=world.policy,
            known_regions=lambda: (),
            estimates=lambda: world,
            backups=lambda: world,
        ),
    )
    adopt = {"backup": "snap-1", "why": "x"}
    bodies = {"approve": {"fingerprint": "x"}, "dismiss": {"why": "x"}, "snooze": {"days": 1}, "adopt": adopt} | {
        kind: {} for kind in estimates()
    }
    return [
        api(method, path, bodies.get(path.rpartition("/")[2]))
        for method, path in routes(api)
        if path != "/openapi.json"
    ]


@pytest.mark.parametrize(
    "error",
    [
        refused("ProvisionedThroughputExceededException", 400),
        caused_by(refused("ThrottlingException", 400)),
        caused_by(refused("InternalServerError", 500)),
        refused("SlowDown", 503),
        caused_by(EndpointConnectionError(endpoint_url="https://slackwater-table")),
        BusyError("DynamoDB was too busy to write to the table slackwater-table"),
    ],
    ids=str,
)
def test_what_may_pass_is_to_be_tried_again(api, monkeypatch, error, log) -> None:
    for answer in answers(api, monkeypatch, error):
        problem = assert_problem(answer, 503)
        assert answer[1]["Retry-After"] == "5"
        assert "slackwater-table" not in json.dumps(problem)
        logged = json.loads(log.getvalue().splitlines()[-1])
        assert (logged["level"], logged["message"], logged["function_request_id"]) == (
            "WARNING",
            "out of reach",
            REQUEST_ID,
        )
        assert logged["reason"].endswith(reason(error))
    assert len(log.getvalue().splitlines()) == len(routes(api)) - 1


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("slackwater-table"),
        caused_by(refused("AccessDeniedException", 400)),
        refused("ResourceNotFoundException", 400),
        BrokenAnswerError("slackwater-table"),
    ],
    ids=str,
)
def test_an_internal_error_is_logged_and_not_shown(api, monkeypatch, error, log) -> None:
    for answer in answers(api, monkeypatch, error):
        assert "slackwater-table" not in json.dumps(assert_problem(answer, 500))
        logged = json.loads(log.getvalue().splitlines()[-1])
        assert (logged["level"], logged["function_request_id"]) == ("ERROR", REQUEST_ID)
        assert "slackwater-table" in logged["exception"]


# -- The OpenAPI document


def test_the_document_is_current(api) -> None:
    """`make docs` generates the document."""
    spec = importlib.util.spec_from_file_location("openapi", ROOT / "tools/openapi.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.text() == (ROOT / "docs/openapi.json").read_text()


def test_the_document_says_where_it_was_asked_and_how(api) -> None:
    _, _, signed = api("GET", "/openapi.json")
    assert (signed["openapi"], signed["servers"], signed["security"]) == (
        "3.1.0",
        [{"url": "https://api.example.com"}],
        [{"sigv4": []}],
    )
    event = gateway_event("GET", "/prod/openapi.json", "", None, {}, JANE)
    event["requestContext"]["stage"] = "prod"
    assert api.event(event)[2]["servers"] == [{"url": "https://api.example.com/prod"}]
    _, _, with_token = api("GET", "/openapi.json", authorizer={"jwt": {"claims": {"sub": "x"}}})
    assert with_token["security"] == [{"bearer": []}]
    assert with_token["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"


def test_the_document_is_whole(api) -> None:
    _, _, document = api("GET", "/openapi.json")
    answered = {
        (method.upper(), path.replace("{id}", ID)) for path, methods in document["paths"].items() for method in methods
    }
    assert answered == {(method, path) for method, path in routes(api) if path != "/estimates/<kind>"}
    references = {part.split('"')[0] for part in json.dumps(document).split("#/components/schemas/")[1:]}
    assert references == set(document["components"]["schemas"])
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_headers_conformance,
    response_schema_conformance, negative_data_rejection,
]  # fmt: skip


DOCUMENT = schemathesis.openapi.from_path(
    ROOT / "docs/openapi.json",
    config=schemathesis.Config.from_dict(
        {"seed": 3, "generation": {"deterministic": True, "database": "none", "with-security-parameters": False}}
    ),
)


@DOCUMENT.parametrize()
@settings(max_examples=effort(50, 4), derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_api_keeps_to_its_document(api, case) -> None:
    case.call_and_validate(checks=CHECKS, app=api.wsgi)
    if "id" in case.path_parameters:  # repeat the request for an id that exists
        case.path_parameters["id"] = AUDIT if case.path.startswith("/audits") else ID
        case.call_and_validate(checks=CHECKS, app=api.wsgi)
