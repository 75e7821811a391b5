"""Deletes what outlives the stack, for good: the table, and the bucket with every version of everything in it."""

from __future__ import annotations

import argparse

import boto3
from botocore.exceptions import ClientError


def empty(bucket: str) -> None:
    """Delete every version and every delete marker."""
    s3 = boto3.client("s3")
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        found = [
            {"Key": one["Key"], "VersionId": one["VersionId"]}
            for one in page.get("Versions", []) + page.get("DeleteMarkers", [])
        ]
        if found and (errors := s3.delete_objects(Bucket=bucket, Delete={"Objects": found, "Quiet": True}).get("Errors")):
            raise SystemExit(f"Not deleted: {errors[0]['Key']}: {errors[0]['Message']}")


def main() -> None:
    """Ask, then delete."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stack", default="slackwater", help="name of the stack")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    options = parser.parse_args()
    (stack,) = boto3.client("cloudformation").describe_stacks(StackName=options.stack)["Stacks"]
    outputs = {one["OutputKey"]: one["OutputValue"] for one in stack["Outputs"]}
    table, bucket = outputs["TableName"], outputs["BucketName"]
    print(f"Every finding, decision and audit in the table {table},\nevery policy and scan document in the bucket {bucket}.")
    if not options.yes and input(f"Type {options.stack} to delete them for good: ") != options.stack:
        raise SystemExit("Nothing was deleted.")
    try:
        empty(bucket)
        boto3.client("s3").delete_bucket(Bucket=bucket)
    except ClientError as error:
        if error.response["Error"]["Code"] != "NoSuchBucket":
            raise
    try:
        boto3.client("dynamodb").delete_table(TableName=table)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceNotFoundException":
            raise
    print(f"Deleted. Now the rest: sam delete --stack-name {options.stack}")


if __name__ == "__main__":
    main()
