"""One deployment, from the first start to the last fault.

The tests run in order, and each leaves the service working.
"""

import json
import os
import signal
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jsonschema

from local_aws import REGION, ROOT, until
from support.slack_server import TEAM, Fault, signed, texts

SCHEMA = json.loads((ROOT / "layers/core/src/slackwater/views/scan/scan.schema.json").read_text())


def fetch(service, url: str) -> bytes:
    """Return what a URL serves."""
    with urllib.request.urlopen(url, context=service.trust if url.startswith("https") else None) as answer:
        return answer.read()


def ledger_events(service, ids: Any) -> Counter[str]:
    """Return the events in the ledgers of these findings, with their numbers."""
    return Counter(entry["happening"] for finding in ids for entry in service.get(f"/findings/{finding}")["ledger"])


def test_the_stack_comes_up_whole(service):
    resources = service.aws.client("cloudformation").list_stack_resources(StackName="slackwater")[
        "StackResourceSummaries"
    ]
    assert {resource["ResourceStatus"] for resource in resources} == {"CREATE_COMPLETE"}
    service.say(f"deployed: {len(resources)} resources, {', '.join(service.aws.outputs)}")


def test_the_api_identifies_its_callers(service):
    assert service.call("GET", "/findings").status == 403
    assert service.call("GET", "/findings", who=service.bob).status == 403
    assert service.get("/findings") == {"findings": [], "cursor": None}
    assert service.get("/openapi.json")["openapi"].startswith("3.1")
    service.say(
        "the API answers a signed request, and refuses an unsigned one and a caller without execute-api:Invoke with 403"
    )


def test_a_policy_is_pushed(service):
    service.push(service.policy)
    assert service.cli("policy", "pull") == service.policy
    service.say("slackwater policy push: the two regions to audit")


def test_the_schedule_fires_and_the_audit_completes(service):
    assert not service.executions()
    turn = service.bring_forward()
    (execution,) = until("the schedule's execution", service.executions)
    assert execution["startDate"] >= turn
    audit = service.ended(execution["name"])
    assert audit["state"] == "complete", audit
    assert audit["requested_by"] == "schedule"
    assert {target["region"] for target in audit["targets"]} == {REGION, "us-east-1"}

    scan = service.document(f"audits/{audit['id']}/scan.json")
    jsonschema.Draft202012Validator(SCHEMA).validate(scan)
    assert json.loads(fetch(service, audit["scan_url"])) == scan
    found = service.findings()
    assert found
    assert set(found) == {finding["id"] for finding in scan["findings"]}
    assert audit["outcome"]["opened"] == audit["outcome"]["findings"] == len(found)
    assert ledger_events(service, found) == {"opened": len(found)}
    listed = json.loads(service.cli("findings", "list", "--limit", "0", "--format", "json"))
    assert {finding["id"] for finding in listed["findings"]} == set(found)
    service.say(
        f"the schedule fired: audit {audit['id']} is complete, {len(found)} findings, "
        f"{audit['outcome']['monthly_savings_usd']} USD a month"
    )


def digests(service) -> list[Any]:
    """Return what people see in the channel, oldest first."""
    return service.slack.channels["C0DEFAULT"].seen()


def test_the_audit_is_posted_to_slack_and_its_report_opens(service):
    (digest,) = digests(service)
    found = service.findings()
    assert {block["block_id"].partition("/")[2] for block in digest.blocks if block["type"] == "actions"} <= {
        *found,
        "report",
    }
    assert service.slack.channels["C0DEFAULT"].seen(digest.ts)

    answer = service.call("GET", "/reports/latest", who=service.ada)
    assert answer.status == 302, answer
    report = fetch(service, answer.headers["location"]).decode()
    assert [finding for finding in found if finding not in report] == []
    assert service.call("GET", "/reports/latest").status == 403
    service.say(
        f"the digest is in the channel: {digest.text.splitlines()[0]!r}; GET /reports/latest leads to {len(report):,} "
        "characters"
    )


def test_events_are_announced(service):
    found = service.findings()
    heard = service.events(
        lambda events: any(event["detail-type"].startswith("Audit") for event in events) and len(events) > len(found)
    )
    assert Counter(event["detail-type"] for event in heard) == {"Finding Opened": len(found), "Audit Completed": 1}
    assert {event["detail"]["finding"]["id"] for event in heard if "finding" in event["detail"]} == set(found)
    service.say(f"events on a queue: {len(found)} × Finding Opened, Audit Completed")


def test_a_decision_outlives_the_next_audit(service):
    before = service.findings()
    chosen = next(iter(before))
    answer = service.call(
        "POST", f"/findings/{chosen}/snooze", {"days": 30, "why": "the job runs in June"}, who=service.ada
    )
    assert answer.status == 200, answer
    audit = service.audit()
    assert audit["state"] == "complete", audit
    assert (audit["outcome"]["opened"], audit["outcome"]["resolved"]) == (0, 0), audit["outcome"]
    (snoozed,) = service.findings("snoozed").values()
    assert snoozed["id"] == chosen
    assert snoozed["decision"]["who"].endswith("user/ada")
    assert snoozed["audit_id"] == audit["id"]
    assert set(service.findings()) == set(before) - {chosen}
    assert ledger_events(service, before) == {"opened": len(before), "snoozed": 1}
    service.say(
        f"{chosen} is snoozed over the API, and stays so through a second audit, which opened and resolved nothing"
    )


def test_an_estimate_is_answered_with_the_accounts_prices(service):
    path, asked = "/estimates/network-transfer", {"instance_type": "t3.micro", "bytes": "1TB", "needed_rate": "350MB/s"}
    assert service.call("POST", path, asked).status == 403
    answer = service.call("POST", path, asked, who=service.ada)
    assert answer.status == 200, answer
    kinds = service.get("/openapi.json")
    schema = kinds["paths"][path]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.Draft202012Validator(schema | {"components": kinds["components"]}).validate(answer.body)
    assert answer.body["inputs"] == {"region": REGION, "hours_per_month": 730, "families": [], "zones": 1, **asked}
    assert answer.body["gaps"] == []
    assert {price["source"].partition(",")[0] for price in answer.body["price_basis"]} == {"AWS Price List"}
    assert "t3.micro: ec2:DescribeInstanceTypes" in answer.body["sources"]
    wrong = service.call("POST", path, asked | {"bytes": "1TBit"}, who=service.ada)
    assert wrong.status == 422, wrong
    assert [error["where"] for error in wrong.body["errors"]] == ["body.bytes"]
    assert service.call("POST", "/estimates/network-transfr", asked, who=service.ada).status == 404
    service.say(f"an estimate over the API: {answer.body['summary']}")


def test_starting_twice_does_no_harm(service):
    before = len(service.executions())
    ids = {
        service.call("POST", "/audits", {}, who=service.ada, **{"Idempotency-Key": "once"}).body["id"] for _ in range(2)
    }
    assert len(ids) == 1
    assert len(service.executions()) == before + 1
    service.ended(*ids)

    first = next(execution for execution in reversed(service.executions()))
    request = service.states.describe_execution(executionArn=first["executionArn"])["input"]
    assert "occasion" in json.loads(request)
    audits = len(service.get("/audits")["audits"])
    service.states.start_execution(
        stateMachineArn=service.aws.outputs["StateMachineArn"], name="delivered-again", input=request
    )
    assert service.execution("delivered-again")["status"] == "SUCCEEDED"
    assert len(service.get("/audits")["audits"]) == audits
    service.say("one Idempotency-Key is one audit; the schedule's turn delivered again ends as a duplicate")


def test_a_denied_call_makes_an_incomplete_audit(service):
    before = service.findings()
    service.aws.faults(deny=[f"{REGION}/elasticfilesystem:DescribeFileSystems"])
    audit = service.audit()
    service.aws.faults()
    assert audit["state"] == "incomplete", audit
    (target,) = audit["outcome"]["incomplete"]
    assert target["region"] == REGION
    assert any(
        gap["what"] == "elasticfilesystem:DescribeFileSystems" and gap["region"] == REGION for gap in audit["gaps"]
    )
    assert audit["outcome"]["resolved"] == 0
    assert set(service.findings()) == set(before)
    service.events(lambda events: any(event["detail-type"] == "Audit Incomplete" for event in events))
    service.say(f"EFS denied in {REGION}: incomplete, {target['why']}; nothing is resolved")


def volumes_asked(service) -> int:
    """Return how often the simulated account was asked for volumes."""
    return json.loads(fetch(service, f"{service.aws.simulator}/_simulator/calls"))["calls"].get(
        "ec2:DescribeVolumes", 0
    )


def scans(service) -> list[int]:
    """Return the ids of the processes that run ScanFunction."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if (
            f"TMPDIR={service.aws.home}" in environment
            and "AWS_LAMBDA_FUNCTION_NAME=slackwater-ScanFunction" in environment
        ):
            found.append(int(folder.name))
    return found


def audit_with_kills(service, times: int) -> tuple[Any, int]:
    """Return an audit whose scan of one region is killed at each attempt, at most `times`, and the number of kills."""
    # A throttled scan stays in its retries. The other region's scan is over once its document is stored.
    service.aws.faults(throttle=[{"action": f"{REGION}/ec2:DescribeVolumes", "per_second": 0, "burst": 0}])
    audit_id = service.start()
    until("the other region", lambda: service.keys(f"audits/{audit_id}/targets/"))
    killed, asked = 0, volumes_asked(service)
    while killed < times and service.running(audit_id):
        if volumes_asked(service) > asked:
            for pid in scans(service):
                os.kill(pid, signal.SIGKILL)
            killed, asked = killed + 1, volumes_asked(service)
    service.aws.faults()
    return service.ended(audit_id), killed


def test_a_scan_killed_half_way_loses_nothing(service):
    before = service.findings()
    audit, killed = audit_with_kills(service, times=100)
    assert killed > 1
    assert audit["state"] == "incomplete", audit
    (target,) = audit["outcome"]["incomplete"]
    assert target["region"] == REGION
    assert target["why"].startswith("lambda:Invoke: ")
    assert (audit["outcome"]["opened"], audit["outcome"]["resolved"]) == (0, 0)
    assert set(service.findings()) == set(before)
    service.say(
        f"the scan of {REGION} killed half-way {killed} times: incomplete, {target['why'][:80]!r}; nothing is resolved"
    )

    audit, _ = audit_with_kills(service, times=1)
    assert audit["state"] == "complete", audit
    assert (audit["outcome"]["opened"], audit["outcome"]["resolved"]) == (0, 0), audit["outcome"]
    assert set(service.findings()) == set(before)
    service.say(
        "killed half-way once: its retry makes the audit complete; nothing was lost, nothing opened or resolved"
    )


def test_a_policy_that_is_not_valid_stops_the_audit(service):
    before = service.findings()
    wrong = service.policy + "\n[detectors.efs-idel]\nenabled = false\n"
    file = service.aws.home / "wrong.toml"
    file.write_text(wrong)
    status, output = service.cli_status("policy", "push", file)
    assert status == 2
    assert "efs-idle" in output
    assert service.cli("policy", "pull") == service.policy

    # Somebody can still write an unchecked policy to the bucket.
    service.aws.client("s3").put_object(
        Bucket=service.aws.outputs["BucketName"], Key="policy/slackwater.toml", Body=wrong.encode()
    )
    audit_id = service.start()
    assert service.execution(audit_id)["status"] == "FAILED"
    audit = service.get(f"/audits/{audit_id}")
    assert audit["state"] == "failed", audit
    assert "efs-idel" in audit["error"]
    assert set(service.findings()) == set(before)
    service.say(f"a policy with a mistake: failed, {audit['error'][:110]}")

    service.push(service.policy)
    audit = service.audit()
    assert audit["state"] == "complete", audit
    service.say("slackwater policy push mends it")


def test_without_a_permission_the_audit_fails_and_says_so(service):
    before = service.findings()
    iam = service.aws.client("iam")
    roles = [role["RoleName"] for role in iam.list_roles()["Roles"]]
    (role,) = (name for name in roles if "PublishRole" in name)
    kept = iam.get_role_policy(RoleName=role, PolicyName="publish")["PolicyDocument"]
    lacking = json.loads(json.dumps(kept).replace('"s3:PutObject"', '"s3:GetBucketTagging"'))
    iam.put_role_policy(RoleName=role, PolicyName="publish", PolicyDocument=json.dumps(lacking))
    audit_id = service.start()
    assert service.execution(audit_id)["status"] == "FAILED"
    audit = service.get(f"/audits/{audit_id}")
    assert audit["state"] == "failed", audit
    assert set(service.findings()) == set(before)
    service.say(f"publish without s3:PutObject: failed, {audit['error'][:110]}")

    iam.put_role_policy(RoleName=role, PolicyName="publish", PolicyDocument=json.dumps(kept))
    audit = service.audit()
    assert audit["state"] == "complete", audit
    assert set(service.findings()) == set(before)
    service.say("with it again: complete")


def test_only_slack_is_heard(service):
    press = next(block for block in digests(service)[0].blocks if block["type"] == "actions")
    body = service.press("U0ADA", press, "details", value="x")
    assert service.from_slack(body, **{"x-slack-signature": "v0=" + "0" * 64})[0] == 401
    assert service.from_slack(body + b"&more=1", **signed(service.slack.signing_secret, body, time.time()))[0] == 401
    assert service.from_slack(body, **signed(service.slack.signing_secret, body, time.time() - 301))[0] == 401
    service.say("Slack's route needs no IAM, and refuses what is not signed, tampered with, or late")


def test_a_button_decides_and_the_message_shows_it(service):
    digest = digests(service)[0]
    open_ = service.findings()
    block = next(
        one for one in digest.blocks if one["type"] == "actions" and one["block_id"].partition("/")[2] in open_
    )
    chosen = block["block_id"].partition("/")[2]
    body = service.press("U0EVE", block, "snooze", selected_option={"value": "30"})
    assert service.from_slack(body)[0] == 200
    until("Eve's answer", lambda: service.slack.responses.get("U0EVE"))
    assert chosen in service.findings()

    body = service.press("U0ADA", block, "snooze", selected_option={"value": "30"})
    began = time.monotonic()
    assert service.from_slack(body)[0] == 200
    took_s = time.monotonic() - began
    assert service.from_slack(body)[0] == 401  # the same request again is a replay
    (response,) = until("Ada's answer", lambda: service.slack.responses.get("U0ADA"))
    (decision,) = [one["decision"] for one in service.findings("snoozed").values() if one["id"] == chosen]
    assert decision["who"] == "slack:U0ADA"
    assert digest.edited
    assert any("<@U0ADA>" in text for text in texts(digest.blocks))
    service.say(
        f"Eve may not, Ada may: {chosen} is snoozed, answered in {took_s:.2f} s, {response['text'][:80]!r}; "
        "the message says so"
    )
    assert service.call("POST", f"/findings/{chosen}/reopen", {}, who=service.ada).status == 200


def test_the_slash_command_answers(service):
    form = {"command": "/slackwater", "text": "status", "user_id": "U0EVE", "team_id": TEAM}
    for text in ("status", "explain efs-idle"):
        service.slack.responses.clear()
        body = urlencode(form | {"text": text, "response_url": service.slack.response_url("slash")}).encode()
        assert service.from_slack(body)[0] == 200
        (response,) = until("the answer", lambda: service.slack.responses.get("slash"))
        service.say(f"/slackwater {text}: {response['text'][:90]!r}")


def test_slack_can_be_away_while_an_audit_runs(service):
    before = len(digests(service))
    service.slack.faults = lambda method: (
        Fault("busy", retry_after_s=1) if service.slack.called(method)[3:] == [] else None
    )
    service.slack.calls.clear()
    audit = service.audit()
    service.slack.faults = []
    assert audit["state"] == "complete", audit
    assert len(service.slack.called("chat.postMessage")) > 3
    assert len(digests(service)) == before + 1
    service.say("Slack too busy three times: the audit is complete, and its line arrived once")
