"""Detects a region that an account cannot use at all, and reports it as one gap instead of one for each failed call.

Sources: IAM User Guide, "Troubleshoot access denied error messages"; AWS Account Management Reference Guide, "Enable or
disable AWS Regions in your account"; recorded errors of the services.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from slackwater.model.findings import NOT_ENABLED, REGION_DISABLED, Gap
from slackwater.model.resources import EfsFileSystem, FsxFileSystem, FsxVolume, Instance, Record, Target, Volume

LISTED: Final[Mapping[type[Record], str]] = {
    Volume: "ec2:DescribeVolumes",
    Instance: "ec2:DescribeInstances",
    EfsFileSystem: "elasticfilesystem:DescribeFileSystems",
    FsxFileSystem: "fsx:DescribeFileSystems",
    FsxVolume: "fsx:DescribeVolumes",
}
"""The call that lists each kind. It needs no other call before it."""

DENIED: Final = re.compile(
    r"(?:with an explicit deny in a service control policy|because no service control policy "
    r"allows)(?:.*?(arn:\S+/p-\w+))?"
)
"""How services report a service control policy, with its ARN if they name it."""

UNKNOWN_THERE: Final = re.compile(r"(?:AuthFailure|InvalidClientTokenId|OptInRequired|UnrecognizedClientException)\b.*")
"""How services answer valid credentials in a region that is not enabled: EC2, the query protocol, and the JSON
protocols.
"""


def summarize_gaps(target: Target, required: Collection[type[Record]], gaps: Sequence[Gap], seen: int) -> list[Gap]:
    """Return the gaps of a target's inventory, or a single gap if the account cannot use the region at all.

    If only some of the required calls failed this way, or any record was read, the gaps stay as they are.

    Args:
        target: The account and region.
        required: The kinds of record that the detectors need.
        gaps: The failed calls of the inventory.
        seen: How many records were read.
    """
    failed = [gap for gap in gaps if not gap.optional]
    listed = {LISTED[kind] for kind in required if kind in LISTED}
    if seen or not listed or not listed <= {gap.what for gap in failed}:
        return [*gaps]
    if all(denied := [DENIED.search(gap.reason) for gap in failed]):
        policies = {found[1] for found in denied if found and found[1]}
        why = f"region closed by a service control policy{f': {min(policies)}' if policies else ''}"
        return [Gap(target.account, target.region, REGION_DISABLED, why, optional=True)]
    if all(unknown := [UNKNOWN_THERE.match(gap.reason) for gap in failed]):
        error = min(one[0] for one in unknown if one)
        why = f"the region is not enabled in the account, or not one of partition {target.partition}"
        return [Gap(target.account, target.region, NOT_ENABLED, f"{why}: enable it there, or leave it out ({error})")]
    return [*gaps]
