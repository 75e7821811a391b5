"""Who made a resource, where its tags say so: what a program manages must be changed in that program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

KUBERNETES_KEYS: Final = ("kubernetes.io/created-for/pvc/name", "CSIVolumeName")
"""Tags that the in-tree provisioner and the EBS CSI driver put on what they create."""
CSI: Final = ".csi.aws.com/"
"""In the keys of tags that AWS's CSI drivers put on it: `efs.csi.aws.com/cluster`, and the like for EBS and FSx."""

SAGEMAKER_KEY: Final = "ManagedByAmazonSageMakerResource"
"""On an EFS file system that SageMaker made, and does not delete with its domain; holds the domain's ARN."""


def managed_by(tags: Mapping[str, str] | None) -> str | None:
    """`Kubernetes (claim shop/db)`, `CloudFormation stack x`, `Auto Scaling group y`, `SageMaker domain z`, or None."""
    tags = tags or {}
    if any(key in KUBERNETES_KEYS or key.startswith("kubernetes.io/cluster/") or CSI in key for key in tags):
        claim = tags.get("kubernetes.io/created-for/pvc/name")
        namespace = tags.get("kubernetes.io/created-for/pvc/namespace")
        return f"Kubernetes (claim {namespace or '?'}/{claim})" if claim else "Kubernetes"
    if stack := tags.get("aws:cloudformation:stack-name"):
        return f"CloudFormation stack {stack}"
    if group := tags.get("aws:autoscaling:groupName"):
        return f"Auto Scaling group {group}"
    if domain := tags.get(SAGEMAKER_KEY):
        return f"SageMaker domain {domain.rpartition('/')[2]}"
    return None
