"""Composes a scan that is recorded, and a scan of a recording."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from slackwater.app.audit.scan import Audit, Sources
from slackwater.app.recording.record import Recorder
from slackwater.app.recording.replay import (
    NoCallMeter,
    PolicyPrices,
    RecordedInventory,
    RecordedMetrics,
    RecordedPrices,
    Recording,
)
from slackwater.aws.inventory.inventory import READERS, with_foundations
from slackwater.aws.pricing.price_list import PriceList
from slackwater.wiring.scan import clock

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from slackwater.app.audit.scan import Progress
    from slackwater.app.recording.file import RecordingWriter
    from slackwater.aws.client.session import AwsSession
    from slackwater.engine.registry import Registry
    from slackwater.model.policy import Policy
    from slackwater.model.resources import Target


def recorded(
    audit: Audit, session: AwsSession, cache_dir: Path | None, writer: RecordingWriter, now: datetime
) -> Audit:
    """Return the same audit, which also records everything that it reads.

    Args:
        audit: The audit.
        session: The AWS session.
        cache_dir: Where to keep prices; None keeps none.
        writer: Writes the recording.
        now: The time as of which the audit evaluates, with a time zone.
    """
    today = clock().date()
    recorder = Recorder(writer, audit.policy, now, today, with_foundations)
    listed = PriceList(session, cache_dir, today)

    def sources(target: Target) -> Sources:
        inner = audit.sources(target)
        return Sources(recorder.inventory(inner.inventory), recorder.metrics(inner.metrics, target))

    return replace(audit, sources=sources, prices=PolicyPrices(recorder.prices(listed), audit.policy, today))


def replaying(recording: Recording, registry: Registry, policy: Policy, progress: Progress) -> Audit:
    """Return an audit of the targets in a recording, which makes no AWS call."""

    def sources(target: Target) -> Sources:
        of = recording.targets[target]
        return Sources(RecordedInventory(of, with_foundations, lambda kind: READERS[kind].action), RecordedMetrics(of))

    return Audit(
        registry=registry,
        policy=policy,
        sources=sources,
        prices=PolicyPrices(RecordedPrices(recording), policy, recording.today),
        meter=NoCallMeter(),
        clock=clock,
        progress=progress,
    )
