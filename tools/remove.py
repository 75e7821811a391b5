"""Delete a deployed Slackwater: its table, its bucket with every version, the code that SAM uploaded, and the stack.

The stack is deleted last, because it names the other resources. If the command is interrupted, run it again.
"""

import argparse
import os
from typing import Any

import boto3
from botocore.exceptions import ClientError

SAMS_STACK = "aws-sam-cli-managed-default"
UPLOADS = "slackwater/"
"""Prefix in SAM's bucket to which samconfig.toml uploads the code."""


def outputs_of(cloudformation: Any, stack: str) -> dict[str, str]:
    """Return the outputs of a stack; empty if the stack does not exist."""
    try:
        (found,) = cloudformation.describe_stacks(StackName=stack)["Stacks"]
    except ClientError as error:
        if "does not exist" in str(error):
            return {}
        raise
    return {one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", [])}


def empty(s3: Any, bucket: str, prefix: str = "") -> None:
    """Delete every object version and every delete marker in a bucket, below a prefix."""
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=prefix):
        found = [
            {"Key": one["Key"], "VersionId": one["VersionId"]}
            for one in page.get("Versions", []) + page.get("DeleteMarkers", [])
        ]
        if found and (
            errors := s3.delete_objects(Bucket=bucket, Delete={"Objects": found, "Quiet": True}).get("Errors")
        ):
            raise SystemExit(f"Not deleted: {errors[0]['Key']}: {errors[0]['Message']}")


def main() -> None:
    """Ask, then delete."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stack", default="slackwater", help="name of the stack")
    parser.add_argument(
        "--region", default=os.environ.get("AWS_REGION"), help="its region, if not AWS_REGION or the profile's"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")
    options = parser.parse_args()
    session = boto3.Session(region_name=options.region)
    cloudformation, s3, dynamodb = (session.client(name) for name in ("cloudformation", "s3", "dynamodb"))
    account = session.client("sts").get_caller_identity()["Account"]

    outputs = outputs_of(cloudformation, options.stack)
    if not {"TableName", "BucketName", "StateMachineArn", "RetentionDays"} <= outputs.keys():
        raise SystemExit(
            f"No stack of Slackwater's is called {options.stack} in {session.region_name} of account {account}."
        )
    table, bucket = outputs["TableName"], outputs["BucketName"]
    print(
        f"In {session.region_name} of account {account}:\n"
        f"  every finding, decision and audit, in the table {table}\n"
        f"  every policy and scan document, in the bucket {bucket}\n"
        f"  everything else of the stack {options.stack}"
    )
    if not options.yes and input(f"Type {options.stack} to delete them for good: ") != options.stack:
        raise SystemExit("Nothing was deleted.")
    try:
        empty(s3, bucket)
        s3.delete_bucket(Bucket=bucket)
    except ClientError as error:
        if error.response["Error"]["Code"] != "NoSuchBucket":
            raise
    try:
        dynamodb.update_table(TableName=table, DeletionProtectionEnabled=False)
        dynamodb.get_waiter("table_exists").wait(TableName=table)  # until it is active again
        dynamodb.delete_table(TableName=table)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceNotFoundException":
            raise
    if sams := outputs_of(cloudformation, SAMS_STACK).get("SourceBucket"):
        try:
            empty(s3, sams, UPLOADS)
        except ClientError as error:  # other stacks use this bucket too
            print(f"Not deleted: {UPLOADS} in the bucket {sams}: {error}")
    cloudformation.delete_stack(StackName=options.stack)
    print("Deleting the stack takes some minutes …")
    cloudformation.get_waiter("stack_delete_complete").wait(StackName=options.stack)
    print("Deleted.")


if __name__ == "__main__":
    main()
