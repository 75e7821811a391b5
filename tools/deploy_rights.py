"""Write the IAM policy for people who deploy a bundle: `python tools/deploy_rights.py FILE`, run by `make docs`.

The policy is made from the templates. CloudFormation's resource schemas, which cfn-lint packages, list the IAM actions
to create, read, update and delete a resource with all properties. Actions for properties that the templates do not use
are left out.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from samcli.yamlhelper import yaml_parse

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = ("template.yaml", "template-cleanup.yaml")
MADE_OF: Mapping[str, tuple[str, ...]] = {
    "AWS::Serverless::Function": ("AWS::Lambda::Function", "AWS::Lambda::EventSourceMapping"),
    "AWS::Serverless::LayerVersion": ("AWS::Lambda::LayerVersion",),
    "AWS::Serverless::StateMachine": ("AWS::StepFunctions::StateMachine",),
    "AWS::Serverless::Application": ("AWS::CloudFormation::Stack",),
}
"""The CloudFormation types to which SAM translates its own types."""
OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "ec2:*": ("VpcConfig",),
    "elasticfilesystem:*": ("FileSystemConfigs",),
    "s3files:*": ("FileSystemConfigs",),
    "kms:*": (
        "KmsKeyArn",
        "KMSMasterKeyID",
        "KmsKeyId",
        "KmsMasterKeyId",
        "SSESpecification",
        "EncryptionConfiguration",
    ),
    "kinesis:*": ("KinesisStreamSpecification",),
    "s3tables:*": ("MetadataTableConfiguration", "MetadataConfiguration"),
    "s3:*BucketMetadata*": ("MetadataTableConfiguration", "MetadataConfiguration"),
    "s3:GetObjectMetadata": ("ImportSourceSpecification",),
    "s3:REST.PUT.OBJECT": ("DataProtectionPolicy",),
    "s3:PutObjectAcl": ("AccessControl",),
    "s3:PutBucketAcl": ("AccessControl",),
    "s3:*Accelerate*": ("AccelerateConfiguration",),
    "s3:*Analytics*": ("AnalyticsConfigurations",),
    "s3:*Abac": ("AbacStatus",),
    "s3:*BucketCors": ("CorsConfiguration",),
    "s3:PutBucketCORS": ("CorsConfiguration",),
    "s3:PutBucketLogging": ("LoggingConfiguration",),
    "s3:PutBucketNotification": ("NotificationConfiguration",),
    "s3:PutBucketObjectLockConfiguration": ("ObjectLockConfiguration",),
    "s3:PutObjectLockConfiguration": ("ObjectLockConfiguration",),
    "s3:PutBucketReplication": ("ReplicationConfiguration",),
    "s3:PutReplicationConfiguration": ("ReplicationConfiguration",),
    "s3:DeleteBucketReplication": ("ReplicationConfiguration",),
    "s3:*BucketWebsite": ("WebsiteConfiguration",),
    "s3:PutIntelligentTiering*": ("IntelligentTieringConfigurations",),
    "s3:PutInventory*": ("InventoryConfigurations",),
    "s3:*MetricsConfiguration": ("MetricsConfigurations",),
    "dynamodb:*Replica": ("Replicas",),
    "dynamodb:*Import*": ("ImportSourceSpecification",),
    "dynamodb:*ableKinesis*": ("KinesisStreamSpecification",),
    "dynamodb:UpdateKinesis*": ("KinesisStreamSpecification",),
    "dynamodb:*Item": ("ImportSourceSpecification",),
    "dynamodb:Query": ("ImportSourceSpecification",),
    "dynamodb:Scan": ("ImportSourceSpecification",),
    "dynamodb:UpdateContributorInsights": ("ContributorInsightsSpecification",),
    "dynamodb:*eteResourcePolicy": ("ResourcePolicy",),
    "dynamodb:PutResourcePolicy": ("ResourcePolicy",),
    "iam:CreateServiceLinkedRole": ("Replicas",),
    "iam:*PermissionsBoundary": ("PermissionsBoundary",),
    "iam:*UserPolicy": ("Users",),
    "iam:*GroupPolicy": ("Groups",),
    "firehose:*": ("DeliveryLogs",),
    "logs:CreateLogDelivery": ("DeliveryLogs",),
    "logs:*ssociateKmsKey": ("KmsKeyId",),
    "logs:*eteDataProtectionPolicy": ("DataProtectionPolicy",),
    "*:PutDataProtectionPolicy": ("DataProtectionPolicy",),
    "logs:*IndexPolicy": ("FieldIndexPolicies",),
    "logs:PutBearerTokenAuthentication": ("BearerTokenAuthenticationEnabled",),
    "logs:PutLogGroupDeletionProtection": ("DeletionProtection",),
    "logs:CreateLogStream": ("ImportSourceSpecification",),
    "logs:DescribeLogStreams": ("ImportSourceSpecification",),
    "logs:PutLogEvents": ("ImportSourceSpecification",),
    "lambda:AssociateRuntimeAlias": ("RuntimeAlias",),
    "lambda:*FunctionCodeSigningConfig": ("CodeSigningConfigArn",),
    "lambda:PassCapacityProvider": ("CapacityProviderConfig",),
    "lambda:PutFunctionScalingConfig": ("FunctionScalingConfig",),
    "lambda:PutFunctionRecursionConfig": ("RecursiveLoop",),
    "lambda:PutRuntimeManagementConfig": ("RuntimeManagementConfig",),
    "lambda:PublishVersion": ("PublishToLatestPublished",),
    "cloudformation:*StackPolicy": ("StackPolicyBody",),
    "cloudformation:UpdateTerminationProtection": ("EnableTerminationProtection",),
}
"""Actions that are needed only if a resource has one of these properties."""
HANDLERS = ("create", "read", "update", "delete")
ALWAYS_READ = ("lambda:GetFunctionCodeSigningConfig",)
"""Actions that match a pattern in OPTIONAL, but that are always needed to read a resource."""
COMMANDS = (
    "cloudformation:CreateChangeSet",
    "cloudformation:DeleteChangeSet",
    "cloudformation:DescribeChangeSet",
    "cloudformation:DescribeStackEvents",
    "cloudformation:DescribeStackResource",
    "cloudformation:DescribeStackResources",
    "cloudformation:ExecuteChangeSet",
    "cloudformation:GetTemplateSummary",
    "lambda:ListTags",
    # This and the next four are for an API stage with AccessLogSettings, which its schema does not list.
    "logs:CreateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:GetLogDelivery",
    "logs:ListLogDeliveries",
    "logs:UpdateLogDelivery",
    "s3:GetBucketLocation",
    "s3:GetObject",
    "s3:ListBucket",
    "s3:PutObject",
)
"""Actions that the commands of docs/install.md call, directly or through CloudFormation."""
WHERE: Mapping[str, tuple[str, ...]] = {
    "iam": ("arn:*:iam::*:policy/slackwater-*", "arn:*:iam::*:role/slackwater-*"),
    "s3": ("arn:*:s3:::slackwater-*",),
}
"""Resources of the actions of a service. CloudFormation's names begin with the stack's. Other services have `*`."""


def properties(value: Any) -> Iterator[str]:
    """Yield every key of a document, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from properties(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from properties(inner)


def actions() -> set[str]:
    """Return every IAM action that is needed to deploy, update and delete the templates' stacks.

    Raises:
        SystemExit: An entry of OPTIONAL matches no action, so it is not needed.
    """
    from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER  # imports sympy, which takes each test worker 3 s

    resources = [one for name in TEMPLATES for one in yaml_parse((ROOT / name).read_text())["Resources"].values()]
    used = set(properties([one.get("Properties", {}) for one in resources]))
    named: set[str] = set()
    for type_ in {made for one in resources for made in MADE_OF.get(one["Type"], (one["Type"],))}:
        schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", type_).schema
        named |= {
            action for handler in HANDLERS for action in schema["handlers"].get(handler, {}).get("permissions", ())
        }
    left_out = {pattern for pattern, needed_by in OPTIONAL.items() if used.isdisjoint(needed_by)}
    if idle := [pattern for pattern in OPTIONAL if not any(fnmatchcase(action, pattern) for action in named)]:
        raise SystemExit(f"Remove from OPTIONAL, they cover no action: {', '.join(idle)}")
    kept = {one for one in named if not any(fnmatchcase(one, pattern) for pattern in left_out) or one in ALWAYS_READ}
    return {f"{one.split(':')[0]}:{one.split(':')[1][0].upper()}{one.split(':')[1][1:]}" for one in kept} | {*COMMANDS}


def policy() -> dict[str, Any]:
    """Return the policy document, with a statement for each service."""
    by_service: dict[str, list[str]] = {}
    for action in sorted(actions()):
        by_service.setdefault(action.partition(":")[0], []).append(action)
    statements = [
        {
            "Sid": f"Deploy{service.title().replace('-', '')}",
            "Effect": "Allow",
            "Action": named,
            "Resource": list(WHERE.get(service, ("*",))),
        }
        for service, named in by_service.items()
    ]
    return {"Version": "2012-10-17", "Statement": statements}


def main() -> None:
    """Write the policy into the file that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.parse_args().file.write_text(json.dumps(policy(), indent=2) + "\n")


if __name__ == "__main__":
    main()
