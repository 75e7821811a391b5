"""Composes a scan and an estimate of a session's account."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from slackwater.app.audit.scan import Audit, Progress, Sources
    from slackwater.app.estimates.estimates import Estimates
    from slackwater.aws.client.meter import CallMeter
    from slackwater.aws.client.session import AwsSession
    from slackwater.engine.registry import Registry
    from slackwater.model.policy import Policy
    from slackwater.model.resources import Target
    from slackwater.ports.inventory import Inventory
    from slackwater.ports.metrics import Spending


def clock() -> datetime:
    """Return the current time, in UTC."""
    return datetime.now(UTC)


def audit(  # noqa: PLR0913 -- what an audit is composed of
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
    large: Lock | None = None,
) -> Audit:
    """Compose the audit of a session's account, or of an inventory of part of it.

    This gives the session the policy's rate limit, or none if its account is simulated.

    Args:
        session: The AWS session.
        meter: Counts calls.
        registry: The detectors.
        policy: The policy.
        cache_dir: Where to keep prices; None keeps none.
        progress: Receives the progress.
        inventory: An inventory to use instead of the account's.
        share: Returns this scan's share of the rate limit, in (0, 1].
        spending: A budget shared with other scans; None is the policy's budget, for this audit alone.
        large: The lock that audits share if they run at the same time; None for an audit alone.
    """
    from slackwater.app.audit.scan import Audit, Sources
    from slackwater.aws.client.rate_limit import RateLimit
    from slackwater.aws.inventory.inventory import AwsInventory
    from slackwater.aws.metrics.cloudwatch import CloudWatchMetrics
    from slackwater.aws.metrics.spending import LocalSpending
    from slackwater.aws.pricing.price_list import PolicyPrices, PriceList

    overrides = {
        region: {item: Decimal(str(usd)) for item, usd in prices.items()}
        for region, prices in policy.prices.overrides.items()
    }
    own = PolicyPrices(discount=policy.discount, overrides=overrides)
    rate_limit = session.rate_limit = (
        None
        if session.simulated
        else RateLimit(policy.scan.calls_per_second, policy.scan.datapoints_per_second, share=share)
    )
    spending = spending or LocalSpending(policy.scan.most_metrics_usd)

    def sources(target: Target) -> Sources:
        metrics = CloudWatchMetrics(session, target, meter, rate_limit=rate_limit, spending=spending)
        whole = AwsInventory(session)
        return Sources(inventory or whole, metrics, whole.open)

    return Audit(
        registry=registry,
        policy=policy,
        sources=sources,
        prices=PriceList(session, cache_dir, clock().date(), own),
        meter=meter,
        clock=clock,
        progress=progress,
        large=large or Lock(),
    )


def estimating(
    session: AwsSession | None, cache_dir: Path | None, default_region: str, regions: Collection[str]
) -> Estimates:
    """Compose estimates with prices and instance types from a session's account; from the package if it is None."""
    from slackwater.app.estimates.estimates import Estimates
    from slackwater.aws.pricing.packaged import PackagedPrices, PackagedTypes

    if session is None:
        return Estimates(prices=PackagedPrices(), types=PackagedTypes(), default_region=default_region, regions=regions)
    from slackwater.aws.client.deadline import Deadline
    from slackwater.aws.pricing.instance_types import DescribedTypes
    from slackwater.aws.pricing.price_list import PriceList

    deadline = Deadline()
    return Estimates(
        prices=PriceList(session, cache_dir, clock().date(), deadline=deadline),
        types=DescribedTypes(session, deadline),
        default_region=default_region,
        regions=regions,
    )


def warm_cache_dir() -> Path:
    """Return the folder in which a function keeps prices between invocations."""
    return Path(tempfile.gettempdir()) / "slackwater"
