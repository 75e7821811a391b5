"""Chooses the account and regions to scan."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from slackwater.app.policy.names import LIST_REGIONS
from slackwater.model.nearest import unknown
from slackwater.ports.errors import AwsError
from slackwater_cli.credentials import check_credentials
from slackwater_cli.exits import UsageError
from slackwater_cli.slow import endpoint_hint, waiting_for

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.model.policy import Policy
    from slackwater.model.resources import Target


def regions_without_asking() -> list[str]:
    """Return the regions in this version's botocore. AWS may have newer ones."""
    from slackwater.aws.client.offline import packaged_regions

    return packaged_regions()


def check_named_regions(session: AwsSession, named: Sequence[str]) -> None:
    """Check that this version or the account has the named regions.

    Calls AWS only for regions that this version lacks.

    Raises:
        UsageError: A region is unknown. The message has a line for each.
        AwsError: The caller may not list the enabled regions.
    """
    from slackwater.aws.client.regions import enabled_regions, known_regions

    known = known_regions(session)
    if {*named} <= {*known}:
        return
    try:
        enabled = enabled_regions(session)
    except AwsError:
        refuse_unknown("--region", named, known)  # a misspelt region is the more helpful error
        raise
    refuse_unknown("--region", named, {*known, *enabled})


def refuse_unknown(origin: str, regions: Iterable[str], valid: Collection[str]) -> None:
    """Check that all regions are valid.

    Raises:
        UsageError: Some are not. The message has a line for each, with `origin`, the place where they were set.
    """
    if problem := unknown("region", regions, valid, LIST_REGIONS):
        raise UsageError("\n".join(f"{origin}: {line}" for line in problem))


def targets_to_scan(
    session: AwsSession, named: Sequence[str], policy: Policy, policy_file: Path | None, *, every: bool
) -> list[Target]:
    """Return the targets: the caller's account in the named regions, or with `every` in all enabled regions.

    Without named regions, the policy's regions are used; if it names none, the default region.

    Raises:
        UsageError: A region is unknown, or there is none at all.
        PolicyError: The policy names an unknown region.
        AwsError: The caller has no valid credentials, or may not list the enabled regions.
    """
    from slackwater.app.policy.file import check_regions
    from slackwater.aws.client.identity import identity
    from slackwater.aws.client.regions import default_region, enabled_regions, known_regions
    from slackwater.model.resources import Target

    if named and every:
        raise UsageError("--region and --all-regions exclude each other")
    default = default_region(session)
    regions = named or policy.scan.regions or ([default] if default else [])
    if not regions and not every:
        raise UsageError("No region: name one with --region, use --all-regions, or set AWS_REGION")

    def refuse_all_but(valid: Collection[str]) -> None:
        if policy_file is not None:
            check_regions(policy_file, valid)
        refuse_unknown("--region" if named else "AWS_REGION or the profile", regions, valid)

    known = known_regions(session)
    new_to_us = not {*regions, *policy.regions} <= {*known}
    try:
        with waiting_for("AWS credentials"):
            check_credentials(session)
        with waiting_for(f"AWS STS in {session.home}{endpoint_hint()}"):
            who = identity(session)
        enabled = enabled_regions(session) if every or new_to_us else []
    except AwsError:
        refuse_all_but(known)  # a misspelt region is the more helpful error
        raise
    refuse_all_but({*known, *enabled})
    return [Target(who.account, region, who.partition) for region in (enabled if every else dict.fromkeys(regions))]
