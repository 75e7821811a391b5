"""The composition root: adapters for a use case."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from slackwater.app.scan import Audit, Progress, Sources
from slackwater.aws.cloudwatch import CloudWatchMetrics
from slackwater.aws.inventory import AwsInventory
from slackwater.aws.meter import CallMeter
from slackwater.aws.pricing import PriceList
from slackwater.aws.session import AwsSession
from slackwater.engine.registry import Registry
from slackwater.model.policy import Policy
from slackwater.model.resources import Target


def clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def audit(
    session: AwsSession, meter: CallMeter, *, registry: Registry, policy: Policy, cache_dir: Path | None, progress: Progress
) -> Audit:
    """The audit of what a session may see. `cache_dir` keeps prices between scans; None keeps none."""
    overrides = {
        region: {item: Decimal(str(usd)) for item, usd in prices.items()} for region, prices in policy.prices.overrides.items()
    }

    def sources(target: Target) -> Sources:
        return Sources(AwsInventory(session), CloudWatchMetrics(session, target, meter))

    return Audit(
        registry=registry,
        policy=policy,
        sources=sources,
        prices=PriceList(session, cache_dir, policy.discount, overrides, clock().date()),
        meter=meter,
        clock=clock,
        progress=progress,
    )
