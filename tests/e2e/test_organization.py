"""The state machine's Distributed Map over two more accounts of an organization: one denies access, and one is slow."""

from collections import Counter

import pytest

from local_aws import ACCOUNT, REGION

ROLE, EXTERNAL_ID = "SlackwaterMember", "simulated-tide-table"
LARGE, SHUT = "300000000000", "300000000001"
"""Accounts of the simulated organization: one with resources, and one without the role."""
SLOW_S = 5


@pytest.fixture(scope="module")
def audit(service):
    """Run an audit of three accounts in two regions, one of which is slow to list its file systems."""
    service.say("sam deploy, with MemberRoleName and MemberExternalId")
    service.deploy(MemberRoleName=ROLE, MemberExternalId=EXTERNAL_ID)
    service.push(f'{service.policy}\n[organization]\norganizational_units = ["r-sim0"]\n')
    slow = {"action": f"{REGION}/elasticfilesystem:DescribeFileSystems", "seconds": SLOW_S, "times": 2}
    service.aws.faults(slow=[slow])
    yield service.audit()
    service.aws.faults()
    service.push(service.policy)


def test_of_three_accounts_one_is_denied_one_slow_and_the_others_are_seen(service, audit):
    assert audit["state"] == "incomplete", audit
    (missed,) = audit["outcome"]["incomplete"]
    assert missed["account"] == SHUT
    assert missed["why"].startswith(f"sts:AssumeRole: account {SHUT} cannot be entered")
    whole = [(one["account"], one["region"]) for one in audit["targets"] if one["complete"]]
    assert Counter(account for account, _ in whole) == {ACCOUNT: 2, LARGE: 2}
    assert {one["id"]: one["organizational_unit"] for one in audit["organization"]}[
        LARGE
    ] == "Root/Workloads/Production"
    assert audit["by_account"][ACCOUNT]["findings"] > audit["by_account"][LARGE]["findings"] > 0
    service.say(
        f"three accounts, {len(audit['targets'])} targets: incomplete, {missed['why']!r}; "
        f"{audit['by_account'][ACCOUNT]['findings']} and {audit['by_account'][LARGE]['findings']} findings in the "
        "others."
    )


def test_every_target_was_an_execution_of_its_own(service, audit):
    parent = service.aws.outputs["StateMachineArn"].replace(":stateMachine:", ":execution:")
    (run,) = service.states.list_map_runs(executionArn=f"{parent}:{audit['id']}")["mapRuns"]
    found = service.states.describe_map_run(mapRunArn=run["mapRunArn"])
    assert (found["status"], found["toleratedFailurePercentage"]) == ("SUCCEEDED", 100)
    assert (found["itemCounts"]["total"], found["itemCounts"]["succeeded"]) == (4, 4)
    service.say(
        f"the Map Run: {found['itemCounts']['succeeded']} of {found['itemCounts']['total']} children succeeded."
    )


def test_slack_messages_have_the_accounts_names(service, audit):
    found = [one.text for one in service.slack.channels["C0DEFAULT"].seen() if "production-0000" in one.text]
    assert found, service.slack.channels["C0DEFAULT"].seen()[-1].text
    service.say(f"the digest: {found[-1][:200]!r}")


def test_what_was_not_seen_is_audited_again_alone(service, audit):
    again = service.ended(service.start(retry_of=audit["id"]))
    assert again["retry_of"] == audit["id"]
    assert [(one["account"], one["complete"]) for one in again["targets"]] == [(SHUT, False)]
    assert (again["state"], again["outcome"]) == ("failed", None)
    answer = service.call("POST", "/audits", {"retry_of": audit["id"], "regions": [REGION]}, who=service.ada)
    assert answer.status == 422
    service.say(f"a retry: just the account that was denied; {again['error'][:80]!r}")
