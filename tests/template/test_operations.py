"""The page on operations is right about the monthly cost, and about removing everything."""

import os
import re
import runpy
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

ROOT = Path(__file__).parents[2]
COST = runpy.run_path(str(ROOT / "tools" / "running_cost.py"))
PAGE = (ROOT / "docs" / "running-cost.md").read_text()
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
README = (ROOT / "README.md").read_text()
TROUBLESHOOTING = (ROOT / "docs" / "troubleshooting.md").read_text()


def quantity(what: str, when: str = "idle") -> int:
    items = tomllib.loads((ROOT / "tools" / "running_cost.toml").read_text())["items"]
    return int(next(item[when] for item in items if item["what"] == what))


def test_the_page_says_what_the_prices_say() -> None:
    assert COST["page"]() == PAGE, "run 'make docs'"


def test_the_sums_on_other_pages_are_those_of_the_table() -> None:
    (idle, busy, with_slack) = re.findall(r"\*\*(\d+\.\d\d)\*\*", PAGE)

    assert f"{idle} USD a month idle, {busy} with weekly audits, {with_slack} with Slack" in OPERATIONS
    assert f"An idle service costs {idle} USD a month" in README


def test_the_standing_charges_are_those_of_the_template(resources: dict[str, Any], stack: Any, with_slack: Any) -> None:
    alarms, with_alarms = (len(one.of("AWS::CloudWatch::Alarm")) for one in (stack, with_slack))

    assert (quantity("CloudWatch alarms"), quantity("CloudWatch alarms", "slack")) == (alarms, with_alarms - alarms)
    assert quantity("CloudWatch dashboard") == len(with_slack.of("AWS::CloudWatch::Dashboard"))
    # These would cost money even when idle, and the table does not list them.
    types = {one["Type"] for one in resources.values()}
    assert not {"AWS::KMS::Key", "AWS::SecretsManager::Secret", "AWS::EC2::NatGateway"} & types


def test_every_alarm_is_on_the_page_with_what_to_do(resources: dict[str, Any]) -> None:
    alarms = [name for name, one in resources.items() if one["Type"] == "AWS::CloudWatch::Alarm"]

    assert [name for name in alarms if f"| {name} |" not in TROUBLESHOOTING] == []


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in (("ACCESS_KEY_ID", "x"), ("SECRET_ACCESS_KEY", "x"), ("DEFAULT_REGION", "us-east-1")):
        monkeypatch.setenv(f"AWS_{name}", value)
    with mock_aws():
        s3, dynamodb = boto3.client("s3"), boto3.client("dynamodb")
        dynamodb.create_table(
            TableName="table",
            BillingMode="PAY_PER_REQUEST",
            DeletionProtectionEnabled=True,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        )
        s3.create_bucket(Bucket="bucket")
        s3.put_bucket_versioning(Bucket="bucket", VersioningConfiguration={"Status": "Enabled"})
        for text in (b"one", b"two"):
            s3.put_object(Bucket="bucket", Key="policy/slackwater.toml", Body=text)
        s3.delete_object(Bucket="bucket", Key="policy/slackwater.toml")
        s3.create_bucket(Bucket="sams")
        s3.put_bucket_versioning(Bucket="sams", VersioningConfiguration={"Status": "Enabled"})
        for key in ("slackwater/code", "slackwater/code", "slackwater-two/code"):
            s3.put_object(Bucket="sams", Key=key, Body=b"code")
        stacks = Stacks()
        clients = {"cloudformation": stacks, "s3": s3, "dynamodb": dynamodb, "sts": boto3.client("sts")}
        monkeypatch.setattr(
            "boto3.Session", lambda region_name: SimpleNamespace(client=clients.__getitem__, region_name=region_name)
        )
        yield Deployed(s3, stacks)


class Stacks:
    """The part of CloudFormation that the code calls."""

    def __init__(self) -> None:
        ours = {"TableName": "table", "BucketName": "bucket", "StateMachineArn": "arn", "RetentionDays": "400"}
        somebodys = {"TableName": "table", "BucketName": "bucket"}
        self.there = {"slackwater": ours, "orders": somebodys, "aws-sam-cli-managed-default": {"SourceBucket": "sams"}}

    def describe_stacks(self, StackName: str) -> Any:
        if StackName not in self.there:
            raise ClientError(
                {"Error": {"Code": "ValidationError", "Message": f"{StackName} does not exist"}}, "DescribeStacks"
            )
        outputs = [{"OutputKey": key, "OutputValue": value} for key, value in self.there[StackName].items()]
        return {"Stacks": [{"Outputs": outputs}]}

    def delete_stack(self, StackName: str) -> None:
        del self.there[StackName]

    def get_waiter(self, name: str) -> Any:
        return SimpleNamespace(wait=lambda **_: name)


@dataclass
class Deployed:
    s3: Any
    stacks: Stacks

    def keys(self, bucket: str) -> list[str]:
        return [one["Key"] for one in self.s3.list_object_versions(Bucket=bucket).get("Versions", [])]


def remove(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["remove.py", *arguments])
    runpy.run_path(str(ROOT / "tools" / "remove.py"), run_name="__main__")


def test_the_code_is_uploaded_to_where_it_is_removed_from() -> None:
    settings = tomllib.loads((ROOT / "samconfig.toml").read_text())["default"]["deploy"]["parameters"]

    assert runpy.run_path(str(ROOT / "tools" / "remove.py"))["UPLOADS"] == settings["s3_prefix"] + "/"


def test_nothing_of_it_is_left_and_only_of_it(deployed: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    remove(monkeypatch, "--yes", "--region", "us-east-1")

    assert [bucket["Name"] for bucket in deployed.s3.list_buckets()["Buckets"]] == ["sams"]
    assert deployed.keys("sams") == ["slackwater-two/code"]
    assert boto3.client("dynamodb").list_tables()["TableNames"] == []
    assert "slackwater" not in deployed.stacks.there


def test_after_an_interruption_the_next_run_continues(deployed: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    delete_stack = deployed.stacks.delete_stack
    deployed.stacks.delete_stack = Mock(side_effect=KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        remove(monkeypatch, "--yes", "--region", "us-east-1")
    deployed.stacks.delete_stack = delete_stack

    remove(monkeypatch, "--yes", "--region", "us-east-1")

    assert "slackwater" not in deployed.stacks.there


def test_it_says_where_and_deletes_nothing_without_the_stacks_name(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "yes")
    monkeypatch.setenv("AWS_REGION", "us-east-1")

    with pytest.raises(SystemExit, match="Nothing was deleted"):
        remove(monkeypatch)

    assert "In us-east-1 of account 123456789012:" in capsys.readouterr().out
    assert deployed.keys("bucket") != []


@pytest.mark.parametrize("stack", ["orders", "slakwater"])
def test_somebody_elses_stack_is_left_alone(deployed: Deployed, monkeypatch: pytest.MonkeyPatch, stack: str) -> None:
    with pytest.raises(SystemExit, match="No stack of Slackwater's"):
        remove(monkeypatch, "--yes", "--stack", stack, "--region", "us-east-1")

    assert deployed.keys("bucket") != []
