"""Checks which permissions a scan would have, with the smallest call of each action."""

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from slackwater.model.access import Check, Examination, Need
from slackwater.model.identity import Identity
from slackwater.ports.access import PermissionChecks

AT_ONCE: Final = 16


def examined(
    who: Identity, in_regions: Sequence[str], needed: Collection[Need], permission_checks: PermissionChecks
) -> Examination:
    """Check every action that a scan of these regions uses, in each region unless one call is enough for all.

    Args:
        who: The caller.
        in_regions: The regions to check.
        needed: The actions that a scan uses.
        permission_checks: Makes the calls.
    """
    asked: list[tuple[Need, str | None]] = []
    for need in needed:
        there = [region for region in in_regions if permission_checks.is_there(need.action, region)]
        asked += [(need, None)] if there and permission_checks.once(need.action) else [(need, one) for one in there]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = pool.map(lambda one: permission_checks.ask(one[0].action, one[1]), asked)
        checks = tuple(
            Check(need=need, region=region, answer=answer)
            for (need, region), answer in zip(asked, answers, strict=True)
        )
    return Examination(
        account=who.account, arn=who.arn, partition=who.partition, regions=tuple(in_regions), checks=checks
    )
