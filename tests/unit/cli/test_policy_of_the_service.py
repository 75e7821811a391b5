"""`slackwater policy push | pull | history`, and how commands find the service."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import boto3
import pytest

GOOD = "[detectors.efs-idle]\nenabled = false\n"
BETTER = "# Übrigens: besser\n[scan]\nregions = ['eu-west-1']\n"
BAD = "[detectors.efs-idel]\n[scan]\nregion = 1\n"


@pytest.fixture
def push(run, nowhere: Path):
    def push_it(text: str, *arguments: str):
        (nowhere / "mine.toml").write_text(text, "utf-8")
        return run("policy", "push", "mine.toml", *arguments)

    return push_it


def test_a_good_policy_is_pushed_and_pulled_as_it_was(push, run, service, nowhere: Path) -> None:
    first, second = push(GOOD), push(BETTER)

    assert (first.status, second.status) == (0, 0)
    assert "mine.toml: valid" in first.err
    assert run("policy", "pull").out == BETTER
    old = run("policy", "pull", "--version", first.out.strip(), "--output", "old.toml")
    assert (old.status, old.out) == (0, "")
    assert (nowhere / "old.toml").read_text("utf-8") == GOOD


def test_every_version_is_in_the_history_the_newest_first(push, run, service) -> None:
    pushed = [push(GOOD).out.strip(), push(BETTER).out.strip()]

    document = json.loads(run("policy", "history", "--format", "json").out)
    lines = run("policy", "history").out.splitlines()

    assert [version["version"] for version in document] == pushed[::-1]
    assert [version["size_bytes"] for version in document] == [len(BETTER.encode()), len(GOOD)]
    assert [line.split()[0] for line in lines] == ["Version", *pushed[::-1]]
    assert "Stored (UTC)" in lines[0]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", " ".join(lines[1].split()[1:3]))


def test_an_invalid_policy_is_reported_with_every_mistake_and_not_stored(push, run, service) -> None:
    push(GOOD)

    done = push(BAD)

    assert (done.status, done.out) == (2, "")
    assert [line.split(" ")[1] for line in done.err.splitlines()] == ["mine.toml:1:", "mine.toml:3:"]
    assert run("policy", "pull").out == GOOD


def test_an_invalid_policy_is_reported_before_any_call_to_aws(push) -> None:
    done = push(BAD)

    assert done.status == 2
    assert done.err.startswith("Error: mine.toml:1: detectors.efs-idel: no such detector")


def test_a_push_shows_the_policys_warnings(push, service) -> None:
    done = push("[cleanup]\naccounts = ['123456789012']\n")

    assert done.status == 0
    warning, stored = done.err.splitlines()
    assert warning.startswith("Warning: ")
    assert warning.split(" ")[2] == "cleanup:"
    assert stored.split(" ")[1] == "valid,"


def test_a_policy_is_pulled_to_standard_output(push, run, service, nowhere: Path) -> None:
    push(GOOD)

    assert run("policy", "pull", "--output", "-").out == GOOD
    assert [path.name for path in nowhere.iterdir()] == ["mine.toml"]


def test_a_deleted_policy_is_shown_as_such_in_the_history(push, run, service) -> None:
    pushed = push(GOOD).out.strip()
    boto3.client("s3", "eu-west-1").delete_object(Bucket="slackwater-bucket", Key="policy/slackwater.toml")

    document = json.loads(run("policy", "history", "--format", "json").out)
    lines = run("policy", "history").out.splitlines()
    gone = run("policy", "pull", "--version", document[0]["version"])

    assert [(one["deleted"], one["size_bytes"]) for one in document] == [(True, None), (False, len(GOOD))]
    assert [line.split()[-1] for line in lines] == ["Bytes", "deleted", str(len(GOOD))]
    assert (gone.status, gone.err) == (2, f"Error: There is no policy version {document[0]['version']!r}\n")
    assert run("policy", "pull", "--version", pushed).out == GOOD


def test_a_policy_that_is_not_text_is_reported_with_the_command_that_fetches_it(run, service) -> None:
    boto3.client("s3", "eu-west-1").put_object(
        Bucket="slackwater-bucket", Key="policy/slackwater.toml", Body=b"\xff\xfe[scan]"
    )

    done = run("policy", "pull")

    assert (done.status, done.out) == (2, "")
    assert "is not UTF-8 text; `aws s3 cp s3://slackwater-bucket/policy/slackwater.toml slackwater.toml`" in done.err


def test_an_unknown_region_is_a_mistake(push, service) -> None:
    done = push("[scan]\nregions = ['eu-wset-1']\n")

    assert (done.status, done.out) == (2, "")
    assert "mine.toml:2: scan.regions: no region 'eu-wset-1'; did you mean eu-west-1?" in done.err


def test_without_a_policy_the_defaults_hold(run, service, nowhere: Path) -> None:
    pulled, named = run("policy", "pull", "--output", "mine.toml"), run("policy", "pull", "--version", "v1")

    assert (pulled.status, pulled.out) == (2, "")
    assert pulled.err == "Error: No policy is stored, so the defaults apply\n"
    assert named.err == "Error: There is no policy version 'v1'\n"
    assert run("policy", "pull", "--version", "").err == "Error: There is no policy version ''\n"
    assert list(nowhere.iterdir()) == []
    assert run("policy", "history").out == "No policy is stored, so the defaults apply.\n"


def test_a_missing_file_is_reported_before_any_call_to_aws(run) -> None:
    done = run("policy", "push", "mine.toml")

    assert (done.status, done.err) == (2, "Error: mine.toml: cannot be read: No such file or directory\n")


def test_a_refusal_of_s3_is_reported_with_exit_code_4(run, service, monkeypatch: pytest.MonkeyPatch) -> None:
    boto3.client("s3", "eu-west-1").delete_bucket(Bucket="slackwater-bucket")

    done = run("policy", "history")

    assert (done.status, done.out) == (4, "")
    assert "NoSuchBucket" in done.err


def test_a_stack_of_another_name_is_found_by_it(push, run, service) -> None:
    service.outputs = {"night-audit": service.outputs["slackwater"]}

    assert push(GOOD, "--stack", "night-audit").status == 0
    done = run("policy", "pull")

    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "Error: There is no stack 'slackwater' in eu-west-1. Set its name with --stack and its region with"
        " --stack-region, or deploy it. This command needs a deployed Slackwater; for a scan use"
        " `slackwater scan --details`\n"
    )


def test_the_stacks_region_comes_from_its_option_or_the_environment(
    run, service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.outputs.clear()

    assert "in us-east-2." in run("policy", "pull", "--stack-region", "us-east-2").err
    assert "in eu-west-1." in run("policy", "pull").err
    assert (
        "--stack-region: no region 'eu-wset-1'; did you mean eu-west-1?"
        in run("policy", "pull", "--stack-region", "eu-wset-1").err
    )
    assert "--stack-region: no region ''" in run("policy", "pull", "--stack-region", "").err
    monkeypatch.delenv("AWS_REGION")
    nowhere = run("policy", "pull")
    assert (nowhere.status, nowhere.out) == (2, "")
    assert "--stack-region or AWS_REGION" in nowhere.err


@pytest.mark.parametrize("status", ["CREATE_IN_PROGRESS", "CREATE_COMPLETE"])
def test_a_stack_that_is_not_finished_or_not_slackwaters_is_reported(status: str, run, service) -> None:
    service.status = status
    del service.outputs["slackwater"]["BucketName"]

    done = run("policy", "pull")

    assert (done.status, done.out) == (2, "")
    assert f"no output 'BucketName'. The stack is {status}, or it is not a Slackwater stack" in done.err


@pytest.mark.parametrize("how_many", [0, 2])
def test_just_one_stack_is_meant(how_many: int, run, service, monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"StackName": "slackwater", "StackStatus": "CREATE_COMPLETE", "Outputs": []}
    monkeypatch.setattr(
        "slackwater.aws.client.session.AwsSession.client",
        lambda *_: SimpleNamespace(describe_stacks=lambda **_: {"Stacks": [one] * how_many}),
    )

    done = run("policy", "pull")

    assert (done.status, done.out, done.err) == (4, "", f"Error: {how_many} stacks of one name\n")


@pytest.mark.parametrize(("refusal", "message"), [("AccessDenied", "Not allowed"), ("ExpiredToken", "expired")])
def test_a_stack_that_may_not_be_read_leaves_with_4(refusal: str, message: str, run, service) -> None:
    service.refusal = refusal

    done = run("policy", "pull")

    assert (done.status, done.out) == (4, "")
    assert message in done.err
