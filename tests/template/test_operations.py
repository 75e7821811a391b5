"""What the page on operations promises: what a month costs, and that nothing is left."""

import os
import runpy
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from moto import mock_aws

ROOT = Path(__file__).parents[2]
COST = runpy.run_path(str(ROOT / "tools" / "running_cost.py"))
PAGE = (ROOT / "docs" / "operations.md").read_text()


def quantity(what: str) -> str:
    items = tomllib.loads((ROOT / "tools" / "running_cost.toml").read_text())["items"]
    return next(item["idle"] for item in items if item["what"] == what)


def test_the_page_says_what_the_prices_say() -> None:
    assert COST["page"](PAGE) == PAGE, "run 'make docs'"


def test_the_standing_charges_are_those_of_the_template(resources: dict[str, Any]) -> None:
    types = [one["Type"] for one in resources.values()]

    assert int(quantity("CloudWatch alarms")) == types.count("AWS::CloudWatch::Alarm")
    assert int(quantity("CloudWatch dashboard")) == types.count("AWS::CloudWatch::Dashboard")
    # These would stand idle for money, and are not in the table.
    assert not {"AWS::KMS::Key", "AWS::SecretsManager::Secret", "AWS::EC2::NatGateway"} & set(types)


def test_every_alarm_is_on_the_page_with_what_to_do(resources: dict[str, Any]) -> None:
    alarms = [name for name, one in resources.items() if one["Type"] == "AWS::CloudWatch::Alarm"]

    assert [name for name in alarms if f"| {name} |" not in PAGE] == []


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
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        )
        s3.create_bucket(Bucket="bucket")
        s3.put_bucket_versioning(Bucket="bucket", VersioningConfiguration={"Status": "Enabled"})
        for text in (b"one", b"two"):
            s3.put_object(Bucket="bucket", Key="policy/slackwater.toml", Body=text)
        s3.delete_object(Bucket="bucket", Key="policy/slackwater.toml")
        outputs = {"TableName": "table", "BucketName": "bucket"}
        stack = {"Outputs": [{"OutputKey": key, "OutputValue": value} for key, value in outputs.items()]}
        stacks = SimpleNamespace(describe_stacks=lambda StackName: {"Stacks": [stack]})
        clients = {"cloudformation": stacks, "s3": s3, "dynamodb": dynamodb}
        monkeypatch.setattr("boto3.client", clients.__getitem__)
        yield s3


def remove(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["remove.py", *arguments])
    runpy.run_path(str(ROOT / "tools" / "remove.py"), run_name="__main__")


def test_nothing_is_left_of_table_and_bucket_and_once_more_does_no_harm(deployed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    remove(monkeypatch, "--yes")
    remove(monkeypatch, "--yes")

    assert deployed.list_buckets()["Buckets"] == []
    assert boto3.client("dynamodb").list_tables()["TableNames"] == []


def test_nothing_is_deleted_without_the_stacks_name(deployed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "yes")

    with pytest.raises(SystemExit, match="Nothing was deleted"):
        remove(monkeypatch)

    assert len(deployed.list_buckets()["Buckets"]) == 1
