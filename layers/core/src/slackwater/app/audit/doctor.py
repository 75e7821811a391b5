"""What a scan would see, before the first scan: every action that it uses is asked once, as cheaply as can be."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from slackwater.model.access import Check, Examination, Need
from slackwater.model.identity import Identity
from slackwater.ports.access import PermissionChecks

AT_ONCE: Final = 16


def examined(who: Identity, in_regions: Sequence[str], needed: Collection[Need], probes: PermissionChecks) -> Examination:
    """Ask for every action, in each region unless one answer holds for all."""
    asked = [
        (need, region)
        for need in needed
        for region in ([None] if probes.once(need.action) else in_regions)
        if region is None or probes.is_there(need.action, region)
    ]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = pool.map(lambda one: probes.ask(one[0].action, one[1]), asked)
        checks = tuple(
            Check(need=need, region=region, answer=answer) for (need, region), answer in zip(asked, answers, strict=True)
        )
    return Examination(account=who.account, arn=who.arn, partition=who.partition, regions=tuple(in_regions), checks=checks)
