"""Ten thousand invalid requests to the API and to Slack's endpoint. None of them causes an internal error.

A 5xx answer is an internal error, and so is any exception of a handler. Every test run sends a few hundred.
"""

import base64
import json
from collections import Counter
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from tests.contract.functions.test_api import (
    AUDIT,
    BUCKET,
    CONTEXT,
    ID,
    JANE,
    REGION,
    api,  # noqa: F401 -- a fixture
    filled,  # noqa: F401
    prices,  # noqa: F401
    routes,
    served,  # noqa: F401
)
from tests.contract.slack.test_endpoint import NOW, POST, Endpoint, endpoint, logged  # noqa: F401

from slackwater.model import object_keys
from support.fuzz import changed, sent, text, value
from support.slack_server import SIGNING_SECRET, signed

QUICK, WHOLE = 300, 10_000
CALLERS = [
    JANE,
    {"jwt": {"claims": {"sub": "7d1f", "email": "ada@example.com", "email_verified": "true"}, "scopes": None}},
    {"jwt": {"claims": {"sub": "7d1f", "email": ["a", {}], "email_verified": 1}}},
    {"iam": {"userArn": "arn:aws:sts::123456789012:assumed-role/Storage/ada"}},
    {"iam": {"userArn": ""}},
    {"iam": None},
    None,
    {},
]
POLICY = b"""
[api]
deciders = ["ada@example.com", "arn:aws:iam::123456789012:user/jane"]
[cleanup]
accounts = ["123456789012"]
regions = ["ap-northeast-1"]
resource_types = ["efs-file-system"]
detectors = ["efs-idle"]
approver_identities = ["ada@example.com", "arn:aws:iam::123456789012:user/jane"]
delete_without_warning = true
"""
ACTIONS = ("approve", "dismiss", "snooze", "details", "report", "stop")
BODY = {
    "why": "its owner is on leave", "until": "2026-12-01T00:00:00Z", "days": 30, "fingerprint": f"f-{ID}",
    "findings": [ID], "regions": ["ap-northeast-1"], "detectors": ["efs-idle"], "accounts": ["123456789012"],
    "retry_of": AUDIT, "backup": "snap-1", "places": ["subnet-1"], "region": "ap-northeast-1", "used": "30GiB",
    "allocated": "60GiB", "hours": "1h", "bytes": "1TB", "files": 40, "capacity": "64GiB", "throughput": "160MB/s",
    "stored": "1GiB", "input_rate": "1Mbps", "instance_type": "t3.micro", "size": "1GiB", "volume_type": "gp2",
    "metered_rate": "1MiB/s", "families": ["t3"], "hours_per_month": 730,
}  # fmt: skip
"""Valid body fields of all routes. A request has a few of them."""
QUERY = (
    "limit",
    "cursor",
    "status",
    "detector",
    "account",
    "region",
    "severity",
    "sort",
    "minimum_monthly_savings_usd",
    "findings",
)


def request_of(random: Random, known: list[tuple[str, str]]) -> dict[str, Any]:
    """Return a random request as API Gateway sends it."""
    method, path = random.choice(known)
    path = path.replace(ID, random.choice((ID, ID, AUDIT, quote(text(random)[:200].encode(errors="replace"), safe=""))))
    if random.random() < 0.05:
        method = random.choice(("PUT", "GET", "POST", "DELETE", "HEAD", "OPTIONS"))
        path = f"/{quote(text(random)[:80].encode(errors='replace'))}"
    few = {key: BODY[key] for key in random.sample(sorted(BODY), random.randrange(6))}
    body = sent(random, few) if method == "POST" and random.random() < 0.9 else b""
    encoded = random.random() < 0.2
    query = {random.choice(QUERY): text(random) for _ in range(random.choice((0, 0, 1, 1, 2)))}
    headers = {
        "content-type": random.choice(
            ("application/json", "application/json; charset=utf-8", "text/plain", text(random))
        )
    }
    if random.random() < 0.2:
        headers[random.choice(("idempotency-key", "Idempotency-Key", "x-forwarded-for", "host"))] = text(random)
    return {
        "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": urlencode(query, errors="replace"),
        "headers": headers,
        **({"queryStringParameters": query} if query else {}),
        "requestContext": {
            **({"authorizer": caller} if (caller := random.choice((JANE, *CALLERS))) is not None else {}),
            "domainName": "api.example.com", "requestId": "r", "stage": "$default",
            "http": {"method": method, "path": path},
        },
        "body": base64.b64encode(body).decode() if encoded else body.decode(errors="replace"),
        "isBase64Encoded": encoded,
    }  # fmt: skip


@pytest.mark.parametrize("requests", [QUICK, pytest.param(WHOLE, marks=pytest.mark.slow)])
def test_no_request_to_the_api_is_a_mistake_of_ours(api, requests: int) -> None:  # noqa: F811
    api.session.client("s3", REGION).put_object(Bucket=BUCKET, Key=object_keys.POLICY, Body=POLICY)
    known, answered = routes(api), Counter[int]()
    for seed in range(requests):
        request = request_of(Random(seed), known)
        answer = api.module.handler(json.loads(json.dumps(request)), CONTEXT)
        assert answer["statusCode"] < 500, (seed, request, answer)
        assert isinstance(json.loads(answer["body"]), dict), (seed, answer)
        answered[answer["statusCode"]] += 1

    assert sum(answered.values()) == requests
    # Valid requests succeed, and invalid ones are refused for each reason. Otherwise the test would prove nothing.
    assert {200, 401, 403, 404, 415, 422} <= {*answered}, answered


def slack_body(random: Random, trigger: int) -> bytes:
    """Return a random press, form or command as Slack sends it, usually with an error in it."""
    who = {
        "user": {"id": "U0JANE", "team_id": "T0TEAM"},
        "team": {"id": "T0TEAM"},
        "enterprise": None,
        "trigger_id": str(trigger),
    }
    values = {"why": {"why": {"value": "x"}}, "until": {"until": {"selected_option": {"value": "for-good"}}}}
    press = {
        **who, "type": "block_actions", "response_url": "https://hooks.slack.com/actions/1", "message": {"text": "x"},
        "actions": [{"action_id": random.choice((*ACTIONS, text(random))),
                     "block_id": f"{POST}/{ID}", "value": random.choice((ID, f"{ID}:abc123", text(random))),
                     "selected_option": {"value": random.choice(("7", text(random)))}}],
    }  # fmt: skip
    view = {"private_metadata": json.dumps({"post": POST, "about": ID}), "state": {"values": values}}
    form = {**who, "type": "view_submission", "view": view}
    command = {
        "command": "/slackwater", "text": random.choice(("status", "top", "audit", "help", text(random))),
        "user_id": "U0JANE", "team_id": "T0TEAM", "trigger_id": str(trigger),
        "response_url": "https://hooks.slack.com/commands/1",
    }  # fmt: skip
    kind = random.randrange(8)
    if kind < 5:
        good = press if kind < 3 else form
        payload = sent(random, good)
        return b"payload=" + quote(payload).encode()
    if kind < 7:
        return urlencode({key: str(changed(random, one)) for key, one in command.items()}, errors="replace").encode()
    return random.choice(
        (
            random.randbytes(100),
            b"payload=",
            b"ssl_check=1",
            b"&&&===",
            json.dumps(value(random)).encode(errors="replace"),
        )
    )


@pytest.mark.parametrize("requests", [QUICK, pytest.param(WHOLE, marks=pytest.mark.slow)])
def test_no_request_to_slacks_endpoint_is_a_mistake_of_ours(endpoint: Endpoint, requests: int) -> None:  # noqa: F811
    answered, read = Counter[int](), 0
    for seed in range(requests):
        random = Random(seed)
        body = slack_body(random, seed)
        at = NOW.timestamp() - random.choice((0, 0, 0, 0, 299, 301, -400))
        headers: dict[str, Any] = signed(random.choice((*[SIGNING_SECRET] * 9, "other")), body, at)
        if random.random() < 0.1:
            headers[random.choice(sorted(headers))] = text(random)
        encoded = random.random() < 0.5
        event = {
            "version": "2.0", "headers": random.choice((headers, headers, headers, headers, None, {})),
            "requestContext": {"requestId": str(seed)}, "isBase64Encoded": encoded,
            "body": base64.b64encode(body).decode() if encoded else body.decode(errors="replace"),
        }  # fmt: skip
        answer = endpoint.event(json.loads(json.dumps(event)))
        assert answer["statusCode"] < 500, (seed, event, answer)
        answered[answer["statusCode"]] += 1
        # The other function must be able to read each task.
        tasks, endpoint.background = endpoint.background, []
        for task in tasks:
            endpoint.function("answer").EVENT.validate_json(task)
            read += 1

    assert sum(answered.values()) == requests
    assert {200, 401, 415} <= {*answered}, answered
    assert read > requests / 20
    assert "Traceback" not in logged()
