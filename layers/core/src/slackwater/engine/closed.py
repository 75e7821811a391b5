"""A region that an account cannot use at all: one gap says so, instead of one for each call that failed there.

Sources: IAM User Guide, "Troubleshoot access denied error messages"; AWS Account Management Reference Guide, "Enable or
disable AWS Regions in your account"; errors that services answer there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from slackwater.model.findings import CLOSED, NOT_ENABLED, Gap
from slackwater.model.resources import EfsFileSystem, FsxFileSystem, FsxVolume, Instance, Record, Target, Volume

LISTED: Final[Mapping[type[Record], str]] = {
    Volume: "ec2:DescribeVolumes",
    Instance: "ec2:DescribeInstances",
    EfsFileSystem: "elasticfilesystem:DescribeFileSystems",
    FsxFileSystem: "fsx:DescribeFileSystems",
    FsxVolume: "fsx:DescribeVolumes",
}
"""The calls without which nothing of a kind is seen, and that need nothing to be known before."""

DENIED: Final = re.compile(
    r"(?:with an explicit deny in a service control policy|because no service control policy allows)(?:.*?(arn:\S+/p-\w+))?"
)
"""How services say it, and the policy, which some name."""

UNKNOWN_THERE: Final = re.compile(r"(?:AuthFailure|InvalidClientTokenId|OptInRequired|UnrecognizedClientException)\b.*")
"""How services answer credentials that are good elsewhere: EC2, those of the query protocol, and those that speak JSON."""


def summed_up(target: Target, required: Collection[type[Record]], gaps: Sequence[Gap], seen: int) -> list[Gap]:
    """The gaps of a target's inventory, of which `seen` records were read; one alone where the account cannot be there.

    Where only some of what is required failed so, or something was seen, they stay as they are.
    """
    failed = [gap for gap in gaps if not gap.optional]
    listed = {LISTED[kind] for kind in required if kind in LISTED}
    if seen or not listed or not listed <= {gap.what for gap in failed}:
        return [*gaps]
    if all(denied := [DENIED.search(gap.reason) for gap in failed]):
        policies = {said[1] for said in denied if said and said[1]}
        why = f"region closed by a service control policy{f': {min(policies)}' if policies else ''}"
        return [Gap(target.account, target.region, CLOSED, why, optional=True)]
    if all(unknown := [UNKNOWN_THERE.match(gap.reason) for gap in failed]):
        said = min(one[0] for one in unknown if one)
        why = f"the region is not enabled in the account, or not one of partition {target.partition}"
        return [Gap(target.account, target.region, NOT_ENABLED, f"{why}: enable it there, or leave it out ({said})")]
    return [*gaps]
