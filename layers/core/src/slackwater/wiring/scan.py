"""Composes a scan and an estimate of a session's account."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import AwsSession

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from slackwater.app.audit.scan import Audit, Progress, Sources
    from slackwater.app.estimates.estimates import Estimates
    from slackwater.engine.registry import Registry
    from slackwater.model.policy import Policy
    from slackwater.model.resources import Target
    from slackwater.ports.inventory import Inventory
    from slackwater.ports.metrics import Spending


def clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def audit(
    session: AwsSession,
    meter: CallMeter,
    *,
    registry: Registry,
    policy: Policy,
    cache_dir: Path | None,
    progress: Progress,
    inventory: Inventory | None = None,
    share: Callable[[], float] = lambda: 1,
    spending: Spending | None = None,
) -> Audit:
    """The audit of what a session may see, or of an inventory of part of it. `cache_dir` keeps prices; None keeps none.

    From here on the session asks as fast as the policy says, unless its account is simulated; `share` is our part of that.
    Without a `spending` that others share, the policy's ceiling is that of this audit alone.
    """
    from slackwater.app.audit.scan import Audit, Sources
    from slackwater.aws.client.rate_limit import Pace
    from slackwater.aws.inventory.inventory import AwsInventory
    from slackwater.aws.metrics.cloudwatch import CloudWatchMetrics
    from slackwater.aws.metrics.spending import LocalSpending
    from slackwater.aws.pricing.price_list import PriceList

    overrides = {
        region: {item: Decimal(str(usd)) for item, usd in prices.items()} for region, prices in policy.prices.overrides.items()
    }

    pace = session.pace = (
        None if session.simulated else Pace(policy.scan.calls_per_second, policy.scan.datapoints_per_second, share=share)
    )
    spending = spending or LocalSpending(policy.scan.most_metrics_usd)

    def sources(target: Target) -> Sources:
        metrics = CloudWatchMetrics(session, target, meter, pace=pace, spending=spending)
        return Sources(inventory or AwsInventory(session), metrics)

    return Audit(
        registry=registry,
        policy=policy,
        sources=sources,
        prices=PriceList(session, cache_dir, policy.discount, overrides, clock().date()),
        meter=meter,
        clock=clock,
        progress=progress,
    )


def estimating(session: AwsSession | None, cache_dir: Path | None, default_region: str, regions: Collection[str]) -> Estimates:
    """Estimates as a session's account sees prices and instance types; without a session, from what is packaged."""
    from slackwater.app.estimates.estimates import Estimates
    from slackwater.aws.client.deadline import Deadline
    from slackwater.aws.pricing.instance_types import DescribedTypes, PackagedTypes
    from slackwater.aws.pricing.price_list import PackagedPrices, PriceList

    deadline = Deadline()
    return Estimates(
        prices=PriceList(session, cache_dir, Decimal(1), {}, clock().date(), deadline) if session else PackagedPrices(),
        types=DescribedTypes(session, deadline) if session else PackagedTypes(),
        default_region=default_region,
        regions=regions,
    )


def kept_while_warm() -> Path:
    """Where a function keeps prices from one invocation to the next."""
    return Path(tempfile.gettempdir()) / "slackwater"
