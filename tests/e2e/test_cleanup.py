"""Clean-up on the same deployment: absent until enabled; then approved, deleted, undone and stopped.

ministack replaces AWS for the service itself, and the simulated account for the resources. This leaves unproven:

- Waits. Executions do not wait, so they check again and again. The functions use the real clock, and a grace period of
  two days takes two days. `days_pass` moves a recorded tagging into the past; only here does a test act in the
  service's place. AWS's operations finish once the simulated account's clock was advanced.
- Errors. ministack reports every exception of a function as `Runtime.HandlerError`. tests/template covers which errors
  are retried.
- Permissions. ministack enforces roles for the services that it provides: DynamoDB, S3, Lambda, Step Functions, Secrets
  Manager, STS, and in one test below EC2 and EFS. The simulated account allows everything, and answers
  iam:SimulatePrincipalPolicy with "allowed". tests/template checks from the policies that a role may do what its
  function does there, with the tags that exist by then. None of this was tested on AWS.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws import REGION, STACK, until

VOLUME, OTHER_VOLUME, FILE_SYSTEM, OPENZFS = "encode-scratch-02", "encode-scratch-01", "reports-2024", "render-farm"
DELETED = (VOLUME, FILE_SYSTEM, OPENZFS)
GP2, ONE_MORE = "covers", "encode-job-20260912"
DETECTORS = ("ebs-unattached", "efs-idle", "fsx-idle", "ebs-outdated-type")
VOLUMES = "G0PRIVATE"
"""The channel for unattached volumes."""
CLEANUP_TAG = "slackwater:marked"
REMOVALS = ("ec2:DeleteVolume", "elasticfilesystem:DeleteFileSystem", "fsx:DeleteFileSystem")


@pytest.fixture(scope="module")
def found(service) -> dict[str, Any]:
    """Return the findings that these tests use, as the first audits reported them, by resource name."""
    if not service.findings():
        service.push(service.policy)
        service.audit()
    open_ = [one for one in service.findings().values() if one["detector"] in DETECTORS]
    return {one["resource"]["name"]: one for one in open_}


@pytest.fixture(scope="module")
def contents(service, found) -> dict[str, str]:
    """Return the contents of the resources to delete. Backups and restored resources have the same contents."""
    return {name: holds(service, found[name]["resource"]["id"]) for name in DELETED}


def holds(service, id: str) -> str:
    """Return what represents a resource's data in the simulator."""
    return service.aws.simulator_says(f"contents?id={id}")["contents"]


def exists(service, id: str) -> bool:
    """Return whether a resource exists, and nobody has asked to delete it."""
    return service.aws.simulator_says(f"exists?id={id}")["exists"]


def backups(service, id: str) -> list[dict[str, Any]]:
    """Return the backups of a resource."""
    return [one for one in service.aws.simulator_says("backups")["backups"] if one["of"] == id]


def calls(service) -> dict[str, int]:
    """Return how often the simulated account was asked to delete something, by action."""
    made = service.aws.simulator_says("calls")["calls"]
    return {action: made.get(action, 0) for action in REMOVALS}


def volume(service, id: str) -> dict[str, Any]:
    """Return a volume as EC2 describes it."""
    return service.aws.simulated("ec2").describe_volumes(VolumeIds=[id])["Volumes"][0]


def tags(service, resource: dict[str, Any], id: str | None = None) -> dict[str, str]:
    """Return the tags of a resource, or of another one of the same type."""
    id_, arn = id or resource["id"], resource["arn"].replace(resource["id"], id or resource["id"])
    match resource["type"]:
        case "ebs-volume":
            listed = volume(service, id_)["Tags"]
        case "efs-file-system":
            listed = service.aws.simulated("efs").list_tags_for_resource(ResourceId=id_)["Tags"]
        case _:
            listed = service.aws.simulated("fsx").list_tags_for_resource(ResourceARN=arn)["Tags"]
    return {one["Key"]: one["Value"] for one in listed}


def cleanup(service, finding: dict[str, Any]) -> dict[str, Any]:
    """Return a finding's clean-up as it is now."""
    return service.get(f"/cleanups/{finding['id']}")


def marked(service, finding: dict[str, Any]) -> Any:
    """Wait until a clean-up has tagged its resource."""
    return until("the mark", lambda: "marked" in ledger_events(service, finding))


def ledger_events(service, finding: dict[str, Any]) -> list[str]:
    """Return the events in a finding's ledger."""
    return [entry["happening"] for entry in service.get(f"/findings/{finding['id']}")["ledger"]]


def posted(service, title: str, channel: str = "C0DEFAULT") -> str:
    """Wait for a message with this title, and return the newest one."""
    until(title, lambda: [one for one in service.slack.channels[channel].seen() if one.text.startswith(title)])
    return [one.text for one in service.slack.channels[channel].seen() if one.text.startswith(title)][-1]


def channel_of(name: str) -> str:
    """Return the channel that receives messages about a resource."""
    return VOLUMES if name in {VOLUME, OTHER_VOLUME} else "C0DEFAULT"


def title(what: str, finding: dict[str, Any]) -> str:
    """Return how a message about a finding begins."""
    return f"{what}: {finding['resource']['name']} ({finding['resource']['id']})"


def days_pass(service, finding: dict[str, Any], days: float) -> None:
    """Move the recorded tagging into the past, between two steps, instead of waiting."""
    until("a moment between two writes", lambda: service.aws.days_pass(finding["id"], days))


def fence_stood(service, finding: dict[str, Any]) -> None:
    """Move the removal of the last mount target half an hour into the past."""

    def earlier(document: dict[str, Any]) -> bool:
        assert document["stage"] not in {"done", "called-off", "failed", "undone"}, document["why"]
        if document.get("fenced_at") is None:
            return False
        document["fenced_at"] = (datetime.fromisoformat(document["fenced_at"]) - timedelta(minutes=30)).isoformat()
        return True

    in_time(
        service,
        f"the fence of {finding['resource']['name']}",
        lambda: service.aws.change_cleanup(finding["id"], earlier),
    )


def in_time[T](service, what: str, look: Callable[[], T]) -> T:
    """Return what `look` finds. Before each try, the simulated account's time advances by five minutes."""

    def later() -> T:
        service.aws.simulate("advance", seconds=300)
        return look()

    return until(what, later)


def ended(service, finding: dict[str, Any], stage: str) -> dict[str, Any]:
    """Wait until a clean-up has ended, check that it ended in this stage, and return it."""
    over = in_time(
        service,
        f"the end of {finding['resource']['name']}",
        lambda: (now := cleanup(service, finding))["stage"] in {"done", "called-off", "failed", "undone"} and now,
    )
    assert over["stage"] == stage, over["why"]
    return over


def looks(service, execution: dict[str, Any]) -> int:
    """Return how often an execution has checked whether the grace period is over."""
    events = service.states.get_execution_history(executionArn=execution["executionArn"], maxResults=1_000)["events"]
    return [event["stateEnteredEventDetails"]["name"] for event in events if "stateEnteredEventDetails" in event].count(
        "CheckGrace"
    )


def succeeded(service, machine: str) -> None:
    """Check that all executions of a state machine succeed. They end shortly after their last visible effect."""

    def statuses() -> set[str]:
        return {one["status"] for one in service.executions(machine)}

    until(f"the end of {machine}", lambda: "RUNNING" not in statuses())
    assert statuses() == {"SUCCEEDED"}


def button(service, channel: str, finding: dict[str, Any], action_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the block of the newest message that has this button for a finding, and the button."""
    for message in reversed(service.slack.channels[channel].seen()):
        for block in message.blocks:
            if block["type"] == "actions" and block["block_id"].endswith(f"/{finding['id']}"):
                return block, next(one for one in block["elements"] if one["action_id"] == action_id)
    raise LookupError(f"nobody was told of {finding['id']} in {channel}")


def press_approve(service, user: str, finding: dict[str, Any]) -> str:
    """Press "Approve clean-up" as a user, and return what Slack shows them."""
    block, approve = button(service, VOLUMES, finding, "approve")
    service.slack.responses.clear()
    assert service.from_slack(service.press(user, block, "approve", value=approve["value"]))[0] == 200
    return until("the answer", lambda: service.slack.responses.get(user))[-1]["text"]


def test_without_its_parameter_nothing_of_it_is_there(service, found):
    assert "CleanupStateMachineArn" not in service.aws.outputs
    parts = service.aws.client("cloudformation").list_stack_resources(StackName=STACK)["StackResourceSummaries"]
    assert "Cleanup" not in {part["LogicalResourceId"] for part in parts}
    functions = [one["FunctionName"] for one in service.aws.client("lambda").list_functions()["Functions"]]
    assert functions
    assert [name for name in functions if "Cleanup" in name] == []

    answer = press_approve(service, "U0ADA", found[OTHER_VOLUME])
    assert "CleanupEnabled" in answer
    status, answered = service.cli_status("cleanup", "run")
    assert status == 2
    assert "CleanupEnabled=true" in answered
    refused = service.call("POST", "/cleanups", {}, who=service.ada)
    assert refused.status == 409, refused
    assert "CleanupEnabled=true" in refused.body["detail"]
    assert set(calls(service).values()) == {0}
    service.say(
        f"clean-up is off: an approval is kept, and {answer.splitlines()[-1]!r}; `slackwater cleanup run`: "
        f"{answered[:60]!r}"
    )


def test_a_parameter_deploys_it(service):
    service.enable_cleanup()
    stacks = service.aws.client("cloudformation").describe_stacks()["Stacks"]
    ours = {one["StackName"]: one["StackStatus"] for one in stacks if one["StackName"].startswith(STACK)}
    assert sorted(ours.values()) == ["CREATE_COMPLETE", "UPDATE_COMPLETE"], ours
    assert service.executions("CleanupStateMachineArn") == []
    service.say(f"enabled: {', '.join(ours)}; what was approved before is not begun by that")


def test_it_is_approved_in_slack_over_the_api_and_on_the_command_line(service, found, contents):
    assert press_approve(service, "U0EVE", found[VOLUME]).startswith("Not allowed")
    path, seen = f"/findings/{found[FILE_SYSTEM]['id']}/approve", {"fingerprint": found[FILE_SYSTEM]["fingerprint"]}
    assert service.call("POST", path, seen, who=service.bob).status == 403
    eve = service.call("POST", path, seen, who=service.eve)
    assert (eve.status, "approver_identities" in eve.body["detail"]) == (403, True), eve
    assert service.call("POST", path, {"fingerprint": "0" * 16}, who=service.ada).status == 409
    assert service.executions("CleanupStateMachineArn") == []

    answer = press_approve(service, "U0ADA", found[VOLUME])
    approved = service.call("POST", path, seen, who=service.ada)
    assert (approved.status, approved.body["candidate"]["state"]) == (200, "begun"), approved
    service.cli("cleanup", "approve", found[OPENZFS]["id"], "--yes")
    service.say(
        f"approved with a button, a request and a command; those who may not were refused: {answer.splitlines()[-1]!r}"
    )

    for name in DELETED:
        marked(service, found[name])
        assert tags(service, found[name]["resource"])[CLEANUP_TAG] == found[name]["id"]
        assert " or later" in posted(service, title("Marked for clean-up", found[name]), channel_of(name))
        assert ledger_events(service, found[name]) == ["opened", "approved", "marked"]
        assert service.get(f"/findings/{found[name]['id']}")["decision"]["who"].endswith(("U0ADA", "user/ada", ":root"))
    service.say("marked: three tags, and three messages that tell when, and how to keep it")


def test_nothing_is_done_before_its_time(service, found):
    running = service.executions("CleanupStateMachineArn")
    assert [one["status"] for one in running] == ["RUNNING"] * 3
    until("three looks at each", lambda: min(looks(service, one) for one in running) >= 3)
    days_pass(service, found[FILE_SYSTEM], 1.5)
    assert "1 day left" in posted(service, title("1 day left", found[FILE_SYSTEM]))
    until("the warning in the ledger", lambda: ledger_events(service, found[FILE_SYSTEM])[-1] == "warned")
    for name in DELETED:
        assert cleanup(service, found[name])["stage"] == "waiting"
        assert exists(service, found[name]["resource"]["id"])
        assert backups(service, found[name]["resource"]["id"]) == []
    service.say(
        "a day and a half later its owner is warned once more; each looked at "
        f"{min(map(partial(looks, service), running))} times, and nothing touched"
    )


def test_it_is_backed_up_and_only_then_deleted(service, found, contents):
    # The account's clock is ahead of the functions' clock, so the backup's reads would look like later use.
    service.aws.simulate("hide_backups", arguments=[])
    for name in DELETED:
        days_pass(service, found[name], 2)
    for name in DELETED:
        (backup,) = until(f"a backup of {name}", lambda name=name: backups(service, found[name]["resource"]["id"]))
        assert backup["state"] in {"pending", "CREATING"}
        assert backup["tags"]["slackwater:backup-of"] == found[name]["resource"]["arn"]
        assert exists(service, found[name]["resource"]["id"])
        assert service.get(f"/findings/{found[name]['id']}")["status"] == "cleaning"
    assert set(calls(service).values()) == {0}
    service.say(
        "the grace is over: a snapshot, a recovery point and an FSx backup are under way, and all is still there"
    )

    fence_stood(service, found[FILE_SYSTEM])
    for name in DELETED:
        over, resource = ended(service, found[name], "done"), found[name]["resource"]
        assert not exists(service, resource["id"])
        made = backups(service, resource["id"])
        assert len(made) == (2 if name == OPENZFS else 1)  # FSx makes a final one too
        assert {one["state"].lower() for one in made} <= {"completed", "available"}
        assert {one["contents"] for one in made} == {contents[name]}
        assert {(one["id"], one["state"]) for one in over["backups"]} == {(one["id"], "verified") for one in made}
        story = ledger_events(service, found[name])
        assert story[-4:] == ["cleaning", "backed-up", "removing", "cleaned"], story
        assert service.get(f"/findings/{found[name]['id']}")["status"] == "resolved"
        assert found[name]["id"] in posted(service, title("Deleted", found[name]), channel_of(name))
    shown = service.cli("cleanup", "status", found[OPENZFS]["id"])
    assert {"tagged", "backed", "deleting", "done"} <= set(shown.split())
    assert f"slackwater cleanup undo {found[OPENZFS]['id']}" in shown
    assert set(calls(service).values()) == {1}
    succeeded(service, "CleanupStateMachineArn")
    service.say(
        "backed up, verified, deleted, each once; Slack, the API and `slackwater cleanup status` tell the story"
    )


def test_a_volume_becomes_gp3_and_gp2_again(service, found):
    id_, before = found[GP2]["resource"]["id"], volume(service, found[GP2]["resource"]["id"])
    assert (before["VolumeType"], before["State"]) == ("gp2", "in-use")
    service.cli("cleanup", "approve", found[GP2]["id"], "--yes")
    changed = ended(service, found[GP2], "done")
    assert volume(service, id_)["VolumeType"] == "gp3"
    assert (changed["was"], changed["backups"], changed["removals"]) == ("gp2", [], [])
    service.cli("cleanup", "undo", found[GP2]["id"], "--why", "slower")
    ended(service, found[GP2], "undone")
    after = volume(service, id_)
    assert (after["VolumeType"], after["Iops"], after["Tags"]) == (before["VolumeType"], before["Iops"], before["Tags"])
    assert service.get(f"/findings/{found[GP2]['id']}")["status"] == "open"
    service.say("a volume in use is changed to gp3, and back to gp2: no grace, no backup, and no tag of ours is left")


def test_stopping_all_clean_ups_stops_the_one_under_way(service, found):
    stopped, deleted = found[OTHER_VOLUME], calls(service)
    ran = json.loads(service.cli("cleanup", "run", "--format", "json"))
    begun = [one["finding_id"] for one in ran["candidates"] if one["state"] == "begun"]
    assert begun == [stopped["id"]]  # approved before clean-up was enabled
    marked(service, stopped)
    days_pass(service, stopped, 2)
    (backup,) = until("its backup", lambda: backups(service, stopped["resource"]["id"]))
    assert backup["state"] == "pending"

    service.cli("cleanup", "stop", "--all", "--why", "we are moving house")
    over = ended(service, stopped, "called-off")
    assert "we are moving house" in over["why"]
    assert exists(service, stopped["resource"]["id"])
    assert calls(service) == deleted
    assert CLEANUP_TAG not in tags(service, stopped["resource"])
    assert service.get(f"/findings/{stopped['id']}")["status"] == "open"
    assert "Nothing was deleted" in posted(service, title("Cancelled", stopped), VOLUMES)
    status, answer = service.cli_status("cleanup", "run")
    assert (status, "we are moving house" in answer) == (2, True), answer
    assert service.call("POST", "/cleanups", {}, who=service.ada).status == 409
    service.say(f"stopped while it was backed up: nothing was deleted, the mark is off; and now {answer[:70]!r}")
    service.cli("cleanup", "stop", "--all", "--lift")


def test_one_more_than_the_cap_and_none_is_begun(service, found):
    before = service.executions("CleanupStateMachineArn")
    service.push(service.policy + f"most_resources = {len(before)}\n")
    status, answer = service.cli_status("cleanup", "approve", found[ONE_MORE]["id"], "--yes")
    assert (status, "most_resources" in answer) == (0, True), answer
    status, answer = service.cli_status("cleanup", "run")
    assert (status, "no clean-up started" in answer) == (2, True), answer
    assert service.call("POST", "/cleanups", {}, who=service.ada).status == 409
    assert len(service.executions("CleanupStateMachineArn")) == len(before)
    assert CLEANUP_TAG not in tags(service, found[ONE_MORE]["resource"])
    assert service.call("GET", f"/cleanups/{found[ONE_MORE]['id']}", who=service.ada).status == 404
    service.bring_forward("NotifySchedule")
    assert "most_resources" in posted(service, "🔴 Over the cap").replace("\u2060", "")
    service.say(f"one over the cap: {answer[:110]!r}; Slack is told within the hour")

    service.push(service.policy)
    assert service.call("POST", f"/findings/{found[ONE_MORE]['id']}/reopen", {}, who=service.ada).status == 200


def statuses(service) -> dict[str, Any]:
    """Return `slackwater cleanup status` as JSON."""
    return json.loads(service.cli("cleanup", "status", "--format", "json"))


def test_the_next_audit_sees_what_it_saved(service, found):
    done = {found[name]["id"]: found[name] for name in DELETED}
    before = [one for one in statuses(service)["cleanups"] if one["finding_id"] in done]
    assert {one["realised_monthly_usd"] for one in before} == {None}
    last = max(datetime.fromisoformat(one["ended_at"]) for one in before)
    # An audit's time is the minute in which it began.
    until("the next minute", lambda: datetime.now(UTC).replace(second=0, microsecond=0) > last)
    audit = service.audit()
    assert audit["state"] == "complete", audit
    after = statuses(service)
    for one in after["cleanups"]:
        if one["finding_id"] in done:
            assert (one["observed"]["audit_id"], one["observed"]["left_monthly_usd"]) == (audit["id"], "0.00")
    seen = [one for one in after["cleanups"] if one["finding_id"] in done and one["backup_monthly_usd"] is not None]
    assert found[VOLUME]["id"] in {one["finding_id"] for one in seen}
    less = {
        one["finding_id"]: Decimal(one["promised_monthly_usd"]) - Decimal(one["backup_monthly_usd"]) for one in seen
    }
    assert {one["finding_id"]: Decimal(one["realised_monthly_usd"]) for one in seen} == less
    assert Decimal(after["realised_monthly_usd"]) == sum(less.values()) > 0
    service.say(
        f"the next audit does not find them: {after['promised_monthly_usd']} USD promised,"
        f" {after['realised_monthly_usd']} realised, {after['unknown']} unknown, as their backups have no price"
    )


def test_it_is_undone_and_the_data_is_back(service, found, contents):
    assert service.call("POST", f"/cleanups/{found[VOLUME]['id']}/undo", {}, who=service.eve).status == 403
    undone = service.call("POST", f"/cleanups/{found[VOLUME]['id']}/undo", {"why": "needed after all"}, who=service.ada)
    assert (undone.status, undone.body["stage"]) == (200, "undoing"), undone
    service.cli("cleanup", "undo", found[FILE_SYSTEM]["id"], "--why", "the auditors ask for it")
    service.cli("cleanup", "undo", found[OPENZFS]["id"])
    for name in DELETED:
        over, resource = ended(service, found[name], "undone"), found[name]["resource"]
        back = over["restored"]["id"]
        assert back != resource["id"]
        assert contents[name] in holds(service, back)
        kept = {
            key: value
            for key, value in tags(service, resource, back).items()
            if not key.startswith(("aws:", "slackwater:"))
        }
        assert kept["Name"] == name
        assert not {CLEANUP_TAG, "slackwater:act-after"} & set(tags(service, resource, back))
        assert back in posted(service, title("Undone", found[name]), channel_of(name))
        assert over["restored"]["differences"]
        assert ledger_events(service, found[name])[-1] == "undone"
    assert "Restored as vol-" in service.cli("cleanup", "status", found[VOLUME]["id"])
    succeeded(service, "UndoStateMachineArn")
    service.say("undone over the API and on the command line: new ids, the same data, and a list of what differs")


def allowed(call: Callable[..., Any], **arguments: Any) -> bool:
    """Return whether ministack allows a role to make a call."""
    try:
        call(**arguments)
    except ClientError as error:
        if error.response["Error"]["Code"] not in {"UnauthorizedOperation", "AccessDeniedException"}:
            raise
        return False
    return True


@pytest.fixture
def on_ministack(service) -> tuple[str, str]:
    """Create a volume and a file system on ministack itself, which the service does not know."""
    ec2, efs = service.aws.client("ec2"), service.aws.client("efs")
    volume = ec2.create_volume(AvailabilityZone=f"{REGION}a", Size=1)["VolumeId"]
    return volume, efs.create_file_system(CreationToken="here")["FileSystemId"]


def test_only_the_delete_role_deletes_and_only_tagged_resources_without_a_keep_tag(service, on_ministack):
    volume, system = on_ministack
    roles = service.aws.client("iam").list_roles()["Roles"]
    of_functions = [
        one["RoleName"] for one in roles if "lambda.amazonaws.com" in json.dumps(one["AssumeRolePolicyDocument"])
    ]
    clients = {name: (service.aws.as_role(name, "ec2"), service.aws.as_role(name, "efs")) for name in of_functions}
    (delete,) = (name for name in of_functions if "-DeleteRole-" in name)

    def may_delete(name: str) -> list[bool]:
        ec2, efs = clients[name]
        return [allowed(ec2.delete_volume, VolumeId=volume), allowed(efs.delete_file_system, FileSystemId=system)]

    assert {name: may_delete(name) for name in clients} == {name: [False, False] for name in clients}
    # As the account's root user, because ministack cannot match tagging calls to resources, and would deny them to all
    # roles.
    ec2, efs = service.aws.client("ec2"), service.aws.client("efs")
    tag = [{"Key": key, "Value": "x"} for key in (CLEANUP_TAG, "keep")]
    ec2.create_tags(Resources=[volume], Tags=tag)
    efs.tag_resource(ResourceId=system, Tags=tag)
    assert may_delete(delete) == [False, False]  # the `keep` tag prevents it
    ec2.delete_tags(Resources=[volume], Tags=[{"Key": "keep"}])
    efs.untag_resource(ResourceId=system, TagKeys=["keep"])
    others = set(clients) - {delete}
    assert {name: may_delete(name) for name in others} == {name: [False, False] for name in others}
    assert may_delete(delete) == [True, True]
    service.say(f"{len(clients)} roles: without the mark none deletes a volume or a file system, with it only {delete}")
