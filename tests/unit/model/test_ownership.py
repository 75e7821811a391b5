"""The table of services that manage resources, and what the policy and EC2 add to it."""

import re
from pathlib import Path

import pytest

from slackwater.model.ownership import MANAGERS, RESTORED, managed_by, operated_by, restored_by

ARN = "arn:aws:sagemaker:eu-west-1:123456789012:domain/d-1"
CLAIM = "kubernetes.io/created-for/pvc/"


@pytest.mark.parametrize(
    ("tags", "owner"),
    [
        ({"AWSElasticDisasterRecoveryManaged": "drs.amazonaws.com"}, "AWS Elastic Disaster Recovery"),
        ({"drs.amazonaws.com-source-server": "s-1"}, "AWS Elastic Disaster Recovery"),
        ({"drs.amazonaws.com-anything": ""}, "AWS Elastic Disaster Recovery"),
        ({"AWSApplicationMigrationServiceManaged": "mgn.amazonaws.com"}, "AWS Application Migration Service"),
        ({"aws:elasticmapreduce:job-flow-id": "j-1"}, "Amazon EMR cluster j-1"),
        ({"aws:elasticmapreduce:instance-group-role": "CORE"}, "Amazon EMR"),
        ({"elasticbeanstalk:environment-name": "shop"}, "AWS Elastic Beanstalk environment shop"),
        ({"elasticbeanstalk:environment-id": "e-1"}, "AWS Elastic Beanstalk"),
        ({"aws:ec2:fleet-id": "fleet-1"}, "EC2 Fleet fleet-1"),
        ({"aws:ec2spot:fleet-request-id": "sfr-1"}, "Spot Fleet sfr-1"),
        ({"karpenter.sh/nodepool": "spot"}, "Karpenter node pool spot"),
        ({"karpenter.sh/discovery": "shop"}, "Karpenter"),
        ({"eks:nodegroup-name": "workers"}, "Amazon EKS"),
        ({"aws:eks:cluster-name": "shop"}, "Amazon EKS"),
        ({"kubernetes.io/cluster/shop": "owned"}, "Kubernetes"),
        ({"KubernetesCluster": "shop"}, "Kubernetes"),
        ({"ebs.csi.aws.com/cluster": "true"}, "Kubernetes"),
        ({"s3.csi.aws.com/x": "true"}, "Kubernetes"),
        ({"CSIVolumeName": "pvc-1"}, "Kubernetes"),
        ({f"{CLAIM}name": "db", f"{CLAIM}namespace": "shop"}, "Kubernetes (claim shop/db)"),
        ({f"{CLAIM}name": "db"}, "Kubernetes"),
        ({"AWSBatchServiceTag": "batch"}, "AWS Batch"),
        ({"AWSBatchComputeEnvironment": "x"}, "AWS Batch"),
        ({"AmazonECSManaged": ""}, "Amazon ECS"),
        ({"aws:dlm:lifecycle-policy-id": "policy-1"}, "Amazon Data Lifecycle Manager"),
        ({"aws:dlm:expirationTime": "x"}, "Amazon Data Lifecycle Manager"),
        ({"CreatedBy": "EC2 Image Builder"}, "EC2 Image Builder"),
        ({"CreatedBy": "EC2 Fast Launch"}, "EC2 Fast Launch"),
        ({"awsbackup-restore-test": "plan"}, "AWS Backup restore testing"),
        ({"aws:cloudformation:stack-name": "shop"}, "CloudFormation stack shop"),
        ({"aws:autoscaling:groupName": "web/blue"}, "Auto Scaling group web/blue"),
        ({"ManagedByAmazonSageMakerResource": ARN}, "SageMaker domain d-1"),
    ],
)
def test_each_tag_names_its_owner(tags: dict[str, str], owner: str) -> None:
    assert managed_by({"Name": "x", **tags}) == owner


@pytest.mark.parametrize(
    "tags",
    [
        None,
        {},
        {"Name": "karpenter.sh/nodepool", "Owner": "aws:elasticmapreduce:job-flow-id"},
        {"CreatedBy": "jane"},
        {"notkubernetes.io/cluster/x": "owned"},
        {"aws:ec2launchtemplate:id": "lt-1"},
        {"aws:backup:source-resource": "arn"},
        {"ManagedBy": "terraform"},
    ],
)
def test_what_says_nothing_of_an_owner_has_none(tags: dict[str, str] | None) -> None:
    assert managed_by(tags) is None


def test_who_has_to_be_asked_comes_before_what_they_use() -> None:
    group = {"aws:autoscaling:groupName": "asg"}
    stack = {"aws:cloudformation:stack-name": "awseb-e-1-stack", **group}

    assert managed_by(stack) == "CloudFormation stack awseb-e-1-stack"
    assert (
        managed_by({**stack, "elasticbeanstalk:environment-name": "shop"}) == "AWS Elastic Beanstalk environment shop"
    )
    assert managed_by({**group, "AWSBatchServiceTag": "batch"}) == "AWS Batch"


def test_every_row_has_a_source_and_a_tag_and_no_key_is_in_two() -> None:
    keys = [key for one in MANAGERS for key in one.keys]

    assert all(one.source and (one.keys or one.values or one.patterns) for one in MANAGERS)
    assert len(keys) == len({*keys, *RESTORED}) - len(RESTORED)
    assert all("*" in pattern for one in MANAGERS for pattern in one.patterns)
    assert not any("*" in key for key in keys)


def test_the_docs_name_every_pattern_that_iam_cannot_test() -> None:
    page = (Path(__file__).parents[3] / "docs/permissions.md").read_text("utf-8")
    listed = page.partition("because a condition needs a whole key:")[2].partition(". For most")[0]

    assert {*re.findall(r"`([^`]+)`", listed)} == {pattern for one in MANAGERS for pattern in one.patterns}


@pytest.mark.parametrize(
    ("named", "tags"),
    [
        ("terraform", {"terraform": "true"}),
        ("terraform", {"Terraform": ""}),
        ("ManagedBy=terraform", {"ManagedBy": "terraform"}),
        ("managedby=TERRAFORM", {"ManagedBy": "Terraform"}),
        ("ManagedBy=", {"ManagedBy": ""}),
    ],
)
def test_the_policy_names_tags_of_other_programs_whatever_their_case(named: str, tags: dict[str, str]) -> None:
    assert managed_by(tags, [named]) == f"the program that its tag {named} names"
    assert managed_by(tags, ["pulumi", named]) == f"the program that its tag {named} names"
    assert managed_by(tags) is None


@pytest.mark.parametrize(
    ("named", "tags"),
    [
        ("terraform", {"terraformed": "x", "Name": "terraform"}),
        ("ManagedBy=terraform", {"ManagedBy": "jane"}),
        ("ManagedBy=terraform", {"ManagedBy": "terraform-2"}),
        ("ManagedBy=terraform", None),
    ],
)
def test_another_tag_is_not_the_one_that_the_policy_names(named: str, tags: dict[str, str] | None) -> None:
    assert managed_by(tags, [named]) is None


def test_a_known_service_is_named_before_the_policys_tag() -> None:
    assert managed_by({"aws:autoscaling:groupName": "g", "terraform": ""}, ["terraform"]) == "Auto Scaling group g"


@pytest.mark.parametrize(
    ("operator", "owner"),
    [
        ({"Managed": True, "Principal": "eks.amazonaws.com"}, "eks.amazonaws.com"),
        ({"Managed": True}, "a service of AWS"),
        ({"Managed": False, "Principal": "eks.amazonaws.com"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_the_operator_is_who_ec2_says(operator: dict[str, object] | None, owner: str | None) -> None:
    assert operated_by(operator) == owner


def test_what_was_restored_says_who_restored_it() -> None:
    assert restored_by({"aws:backup:source-resource": "arn"}) == "AWS Backup"
    assert restored_by({"aws:backup:source-resource": "arn", "slackwater:restored-from": "snap-1"}) == "Slackwater"
    assert restored_by({"Name": "x"}) is restored_by(None) is None
