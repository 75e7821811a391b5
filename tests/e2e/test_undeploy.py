"""At the end, the deployment can be removed, and nothing is left."""

import sys

from local_aws import ARTIFACT_BUCKET, STACK, must


def test_it_is_removed_without_trace(service):
    environment = service.aws.environment()
    must(sys.executable, "tools/remove.py", "--yes", environment=environment)

    assert service.aws.client("dynamodb").list_tables()["TableNames"] == []
    (yours,) = service.aws.client("s3").list_buckets()["Buckets"]
    assert yours["Name"] == ARTIFACT_BUCKET
    assert service.aws.client("lambda").list_functions()["Functions"] == []
    assert service.aws.client("logs").describe_log_groups()["logGroups"] == []
    stacks = service.aws.client("cloudformation").list_stacks()["StackSummaries"]
    assert "DELETE_COMPLETE" in {stack["StackStatus"] for stack in stacks if stack["StackName"] == STACK}
    service.say("tools/remove.py: the stack, the table, the bucket and the logs are gone")
