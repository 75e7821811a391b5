"""The composition root: adapters for the use cases. Each imports its own, so that a function loads only what it uses."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from slackwater.app.settings import NotDeployedError
from slackwater.aws.meter import CallMeter
from slackwater.aws.session import SOMEBODY_WAITS, AwsSession
from slackwater.engine.registry import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from slackwater.app.announce import Announcer
    from slackwater.app.audit_plan import Planner
    from slackwater.app.audit_publish import Publisher
    from slackwater.app.audit_scan import Scanner
    from slackwater.app.audits import Audits
    from slackwater.app.estimates import Estimates
    from slackwater.app.findings import Findings
    from slackwater.app.policies import Policies
    from slackwater.app.scan import Audit, Progress, Sources
    from slackwater.app.settings import Deployed
    from slackwater.engine.registry import Registry
    from slackwater.model.policy import Policy
    from slackwater.model.resources import Target
    from slackwater.ports import AuditStore, FindingStore


def clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def audit(
    session: AwsSession, meter: CallMeter, *, registry: Registry, policy: Policy, cache_dir: Path | None, progress: Progress
) -> Audit:
    """The audit of what a session may see. `cache_dir` keeps prices between scans; None keeps none."""
    from slackwater.app.scan import Audit, Sources
    from slackwater.aws.cloudwatch import CloudWatchMetrics
    from slackwater.aws.inventory import AwsInventory
    from slackwater.aws.pricing import PriceList

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


def estimating(session: AwsSession | None, cache_dir: Path | None, default_region: str, regions: Collection[str]) -> Estimates:
    """Estimates as a session's account sees prices and instance types; without a session, from what is packaged."""
    from slackwater.app.estimates import Estimates
    from slackwater.aws.deadline import Deadline
    from slackwater.aws.instance_types import DescribedTypes, PackagedTypes
    from slackwater.aws.pricing import PackagedPrices, PriceList

    deadline = Deadline()
    return Estimates(
        prices=PriceList(session, cache_dir, Decimal(1), {}, clock().date(), deadline) if session else PackagedPrices(),
        types=DescribedTypes(session, deadline) if session else PackagedTypes(),
        default_region=default_region,
        regions=regions,
    )


def policies(deployed: Deployed, session: AwsSession) -> Policies:
    """The policy that the service goes by."""
    from slackwater.app.policies import Policies
    from slackwater.aws.documents import S3Documents
    from slackwater.aws.regions import enabled_regions, known_regions
    from slackwater.model.object_keys import POLICY

    return Policies(
        documents=S3Documents(session, deployed.bucket_name),
        registry=registry(),
        place=f"s3://{deployed.bucket_name}/{POLICY}",
        known_regions=partial(known_regions, session),
        enabled_regions=partial(enabled_regions, session),
    )


def planning(deployed: Deployed) -> Planner:
    """What PlanFunction does."""
    from slackwater.app.audit_plan import Planner
    from slackwater.aws.identity import identity

    session = AwsSession(meter=CallMeter())
    of_bucket = policies(deployed, session)
    return Planner(
        policies=of_bucket,
        documents=of_bucket.documents,
        audits=_audits(deployed, session),
        identity=partial(identity, session),
        clock=clock,
    )


def scanning(deployed: Deployed) -> Scanner:
    """What ScanFunction does."""
    from slackwater.app.audit_scan import Scanner

    of_bucket = policies(deployed, AwsSession(meter=CallMeter()))

    def of_policy(policy: Policy) -> Audit:
        meter = CallMeter()
        return audit(
            AwsSession(meter=meter),  # another one each time: it counts for the meter of this scan
            meter,
            registry=of_bucket.registry,
            policy=policy,
            cache_dir=_kept_while_warm(),
            progress=lambda *_: None,
        )

    return Scanner(documents=of_bucket.documents, policies=of_bucket, audit=of_policy)


def publishing(deployed: Deployed) -> Publisher:
    """What PublishFunction does."""
    from slackwater.app.audit_publish import Publisher
    from slackwater.aws.documents import S3Documents

    session = AwsSession(meter=CallMeter())
    return Publisher(
        documents=S3Documents(session, deployed.bucket_name),
        audits=_audits(deployed, session),
        findings=_findings(deployed, session),
        clock=clock,
    )


def announcing(deployed: Deployed) -> Announcer:
    """What AnnounceFunction does."""
    from slackwater.app.announce import Announcer
    from slackwater.aws.event_bus import EventBridgeBus

    if deployed.event_bus_name is None:
        raise NotDeployedError("The environment lacks 'EVENT_BUS_NAME': template.yaml sets it")
    return Announcer(bus=EventBridgeBus(AwsSession(meter=CallMeter()), deployed.event_bus_name))


@dataclass(frozen=True, slots=True)
class Serving:
    """What the API and the command line do."""

    findings: Findings
    audits: Audits
    known_regions: Callable[[], Collection[str]]
    estimates: Callable[[], Estimates]
    """Made anew for each question, whose time runs from then on."""


def serving(deployed: Deployed, session: AwsSession | None = None) -> Serving:
    """What ServeFunction does, and the command line with a session of its own."""
    from slackwater.app.audits import Audits
    from slackwater.app.findings import Findings
    from slackwater.aws.audit_starter import StateMachineStarter
    from slackwater.aws.documents import S3Documents
    from slackwater.aws.regions import known_regions

    if deployed.state_machine_arn is None:
        raise NotDeployedError("The environment lacks 'STATE_MACHINE_ARN': template.yaml sets it")
    session = session or AwsSession(meter=CallMeter(), patience=SOMEBODY_WAITS)
    documents = S3Documents(session, deployed.bucket_name)
    return Serving(
        findings=Findings(store=_findings(deployed, session), documents=documents),
        audits=Audits(
            audits=_audits(deployed, session),
            documents=documents,
            starter=StateMachineStarter(session, deployed.state_machine_arn),
            registry=registry,
            clock=clock,
        ),
        known_regions=partial(known_regions, session),
        estimates=lambda: estimating(session, _kept_while_warm(), session.home, known_regions(session)),
    )


def _kept_while_warm() -> Path:
    return Path(tempfile.gettempdir()) / "slackwater"


def _findings(deployed: Deployed, session: AwsSession) -> FindingStore:
    from slackwater.aws.finding_store import DynamoFindings
    from slackwater.aws.table import Table

    return DynamoFindings(Table(session, deployed.table_name))


def _audits(deployed: Deployed, session: AwsSession) -> AuditStore:
    from slackwater.aws.audit_store import DynamoAudits
    from slackwater.aws.table import Table

    return DynamoAudits(Table(session, deployed.table_name), timedelta(days=deployed.retention_days), clock)
