"""Finds the service or program that manages a resource. You change such a resource there; Slackwater never touches it.

MANAGERS is the only table of tags. Detectors and clean-up use it, and a test compares it with the conditions of the
role that deletes (`template-cleanup.yaml`). The policy's `owners.managed_tags` adds your own tags, such as Terraform's.
EC2 also returns the operator of a resource.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase, translate
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    """A service or program, and the tags that identify its resources.

    Attributes:
        name: Its name in recommendations.
        source: Where AWS or the program's authors document the tags; "unverified" if no document was found.
        keys: Tag keys, with any value.
        values: Values by tag key, for keys that identify it only with these values.
        patterns: Tag keys with `*`. IAM conditions cannot test them, because a condition needs the whole key.
        label: What exactly manages the resource (a stack, a cluster), with a `{}` for each of `label_keys`.
        label_keys: Tag keys whose values complete the label. If one is missing, recommendations use the name alone.
    """

    name: str
    source: str
    keys: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] | None = None
    patterns: tuple[str, ...] = ()
    label: str = ""
    label_keys: tuple[str, ...] = ()

    def manages(self, tags: Mapping[str, str]) -> bool:
        """Return whether it manages a resource with these tags."""
        return (
            any(key in tags for key in self.keys)
            or any(tags.get(key) in values for key, values in (self.values or {}).items())
            or any(fnmatchcase(key, pattern) for key in tags for pattern in self.patterns)
        )

    def called(self, tags: Mapping[str, str]) -> str:
        """Return its name in recommendations for a resource with these tags: `Auto Scaling group workers`."""
        found = [tags[key] for key in self.label_keys if tags.get(key)]
        if not found or len(found) < len(self.label_keys):
            return self.name
        return self.label.format(*(value.rpartition("/")[2] if value.startswith("arn:") else value for value in found))


MANAGERS: Final = (
    Manager(
        name="AWS Elastic Disaster Recovery",
        source="AWS managed policies, AWSElasticDisasterRecoveryServiceRolePolicy; drs.amazonaws.com-*: unverified",
        keys=("AWSElasticDisasterRecoveryManaged", "drs.amazonaws.com-job", "drs.amazonaws.com-source-server"),
        patterns=("drs.amazonaws.com-*",),
    ),
    Manager(
        name="AWS Application Migration Service",
        source="AWS managed policies, AWSApplicationMigrationServiceRolePolicy",
        keys=("AWSApplicationMigrationServiceManaged",),
    ),
    Manager(
        name="AWS Backup restore testing",
        source="AWS Backup Developer Guide, Restore testing",
        keys=("awsbackup-restore-test",),
    ),
    Manager(
        name="Amazon Data Lifecycle Manager",
        source="Amazon EBS User Guide, Amazon Data Lifecycle Manager",
        keys=("aws:dlm:lifecycle-policy-id", "aws:dlm:lifecycle-schedule-name"),
        patterns=("aws:dlm:*",),
    ),
    Manager(
        name="EC2 Image Builder",
        source="AWS managed policies, AWSServiceRoleForImageBuilder",
        values={"CreatedBy": ("EC2 Image Builder",)},
    ),
    Manager(
        name="EC2 Fast Launch",
        source="AWS managed policies, EC2FastLaunchServiceRolePolicy",
        values={"CreatedBy": ("EC2 Fast Launch",)},
    ),
    Manager(
        name="Amazon RDS Custom",
        source="Amazon RDS User Guide, Setting up your environment for RDS Custom",
        keys=("AWSRDSCustom",),
    ),
    Manager(
        # SageMaker does not delete an EFS file system with its domain; the tag has the domain's ARN.
        name="SageMaker",
        source="Amazon SageMaker Developer Guide, AWS managed policies for SageMaker notebooks",
        keys=("ManagedByAmazonSageMakerResource",),
        label="SageMaker domain {}",
        label_keys=("ManagedByAmazonSageMakerResource",),
    ),
    Manager(
        name="AWS Elastic Beanstalk",
        source="AWS Elastic Beanstalk Developer Guide, Tagging resources in your environments",
        keys=("elasticbeanstalk:environment-id", "elasticbeanstalk:environment-name"),
        patterns=("elasticbeanstalk:*",),
        label="AWS Elastic Beanstalk environment {}",
        label_keys=("elasticbeanstalk:environment-name",),
    ),
    Manager(
        name="Amazon EMR",
        source="Amazon EMR Management Guide, Tag and categorize cluster resources",
        keys=(
            "aws:elasticmapreduce:job-flow-id",
            "aws:elasticmapreduce:instance-group-role",
            "aws:elasticmapreduce:editor-id",
        ),
        patterns=("aws:elasticmapreduce:*",),
        label="Amazon EMR cluster {}",
        label_keys=("aws:elasticmapreduce:job-flow-id",),
    ),
    Manager(
        name="AWS Batch",
        source="AWS managed policies, AWSBatchServiceRole; the other AWSBatch* keys: unverified",
        keys=("AWSBatchServiceTag",),
        patterns=("AWSBatch*",),
    ),
    Manager(
        name="AWS ParallelCluster",
        source="AWS ParallelCluster User Guide, AWS ParallelCluster resources and tagging",
        keys=("parallelcluster:cluster-name",),
        patterns=("parallelcluster:*",),
        label="AWS ParallelCluster {}",
        label_keys=("parallelcluster:cluster-name",),
    ),
    Manager(
        name="AWS PCS",
        source="AWS PCS User Guide, Connecting to your cluster",
        keys=("aws:pcs:cluster-id", "aws:pcs:compute-node-group-id"),
        patterns=("aws:pcs:*",),
    ),
    Manager(
        name="AWS Cloud9",
        source="AWS managed policies, AWSCloud9User",
        keys=("aws:cloud9:environment",),
    ),
    Manager(
        name="Kubernetes",
        source="kubernetes-sigs: docs of aws-ebs-csi-driver, aws-efs-csi-driver and aws-fsx-openzfs-csi-driver;"
        " AWS managed policies, AmazonEKSBlockStoragePolicy",
        keys=(
            *("CSIVolumeName", "kubernetes.io/created-for/pvc/name", "kubernetes.io/created-for/pvc/namespace"),
            *("ebs.csi.aws.com/cluster", "efs.csi.aws.com/cluster", "fsx.openzfs.csi.aws.com/cluster"),
            "ebs.csi.eks.amazonaws.com/cluster",
        ),
        patterns=("kubernetes.io/created-for/*", "*.csi.aws.com/*", "*.csi.eks.amazonaws.com/*"),
        label="Kubernetes (claim {}/{})",
        label_keys=("kubernetes.io/created-for/pvc/namespace", "kubernetes.io/created-for/pvc/name"),
    ),
    Manager(
        name="Karpenter",
        source="Karpenter documentation, Reference: CloudFormation; NodeClasses",
        keys=("karpenter.sh/nodepool", "karpenter.sh/nodeclaim", "karpenter.sh/provisioner-name"),
        patterns=("karpenter.sh/*", "karpenter.k8s.aws/*"),
        label="Karpenter node pool {}",
        label_keys=("karpenter.sh/nodepool",),
    ),
    Manager(
        name="Amazon EKS",
        source=(
            "Amazon EKS User Guide, Organize Amazon EKS resources with tags; Learn about EKS Auto Mode managed "
            "instances"
        ),
        keys=("eks:cluster-name", "eks:nodegroup-name", "eks:eks-cluster-name", "aws:eks:cluster-name"),
        patterns=("eks:*",),
    ),
    Manager(
        name="Kubernetes",
        source="Amazon EKS User Guide, Organize Amazon EKS resources with tags; kOps documentation, Labels",
        keys=("KubernetesCluster",),
        patterns=("kubernetes.io/cluster/*",),
    ),
    Manager(
        name="Amazon ECS",
        source="Amazon ECS API Reference, EBSTagSpecification; Developer Guide, Amazon ECS capacity providers",
        keys=("AmazonECSManaged", "AmazonECSCreated"),
    ),
    Manager(
        name="CloudFormation",
        source="AWS CloudFormation User Guide, Resource tag",
        keys=("aws:cloudformation:stack-name", "aws:cloudformation:stack-id"),
        patterns=("aws:cloudformation:*",),
        label="CloudFormation stack {}",
        label_keys=("aws:cloudformation:stack-name",),
    ),
    Manager(
        name="Auto Scaling",
        source="Amazon EC2 Auto Scaling User Guide, Tag Auto Scaling groups and instances",
        keys=("aws:autoscaling:groupName",),
        label="Auto Scaling group {}",
        label_keys=("aws:autoscaling:groupName",),
    ),
    Manager(
        name="EC2 Fleet",
        source="AWS managed policies, AWSEC2FleetServiceRolePolicy",
        keys=("aws:ec2:fleet-id",),
        label="EC2 Fleet {}",
        label_keys=("aws:ec2:fleet-id",),
    ),
    Manager(
        name="Spot Fleet",
        source="AWS managed policies, AmazonEC2SpotFleetTaggingRole",
        keys=("aws:ec2spot:fleet-request-id",),
        label="Spot Fleet {}",
        label_keys=("aws:ec2spot:fleet-request-id",),
    ),
)
"""The most specific manager comes first: a Beanstalk environment is also a CloudFormation stack with an Auto Scaling
group.
"""

ANY_KEY: Final = re.compile(
    "|".join(translate(key) for one in MANAGERS for key in (*one.keys, *(one.values or ()), *one.patterns))
)
"""Matches the keys of all rows at once. Most tags belong to no manager, so one check is faster than a check per row."""

RESTORED: Final[Mapping[str, str]] = {
    "slackwater:restored-from": "Slackwater",
    "aws:backup:source-resource": "AWS Backup",
}
"""Tags of resources that were restored from a backup, and what restored them. Somebody may need such a resource soon.

Source of AWS Backup's tag: its developer guide, and the condition in AWSBackupServiceRolePolicyForBackup.
"""


def managed_by(tags: Mapping[str, str] | None, managed_tags: Iterable[str] = ()) -> str | None:
    """Return the service or program that manages a resource: `CloudFormation stack shop`; None if none does.

    Args:
        tags: The resource's tags; None if they could not be read.
        managed_tags: The policy's tags: `key`, or `key=value`. Case does not matter.
    """
    tags = tags or {}
    if any(ANY_KEY.match(key) for key in tags) and (
        known := next((one for one in MANAGERS if one.manages(tags)), None)
    ):
        return known.called(tags)
    return tagged_as_managed(tags, managed_tags)


def tagged_as_managed(tags: Mapping[str, str] | None, managed_tags: Iterable[str]) -> str | None:
    """Return the program that one of the policy's `managed_tags` stands for; None if the resource has none of them."""
    named = next((named for named in managed_tags if has_tag(tags or {}, named)), None)
    return named and f"the program that its tag {named} names"


def has_tag(tags: Mapping[str, str], named: str) -> bool:
    """Return whether a tag matches: `key` matches any value, `key=value` only that one. Case does not matter."""
    wanted = named.casefold()
    return any(wanted in {key.casefold(), f"{key}={value}".casefold()} for key, value in tags.items())


def operated_by(operator: Mapping[str, object] | None) -> str | None:
    """Return the service that manages a volume or instance according to EC2 (`eks.amazonaws.com`); None if none does.

    Source: Amazon EC2 API Reference, OperatorResponse.
    """
    if not operator or not operator.get("Managed"):
        return None
    return str(operator.get("Principal") or "a service of AWS")


def restored_by(tags: Mapping[str, str] | None) -> str | None:
    """Return what restored the resource from a backup (AWS Backup or Slackwater); None if nothing did."""
    return next((who for key, who in RESTORED.items() if key in (tags or {})), None)
