"""The composition root: adapters for the use cases. Each imports its own, so that a function loads only what it uses."""

from __future__ import annotations

import tempfile
import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from slackwater.app.settings import NotDeployedError
from slackwater.aws.meter import CallMeter
from slackwater.aws.session import SLACK_WAITS, SOMEBODY_WAITS, AwsSession

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from contextlib import AbstractContextManager

    from slackwater.app.announce import Announcer
    from slackwater.app.audit_plan import Planner
    from slackwater.app.audit_publish import Publisher
    from slackwater.app.audit_scan import Scanner
    from slackwater.app.audits import Audits
    from slackwater.app.cleanup_backups import Backups
    from slackwater.app.cleanups import Cleanups
    from slackwater.app.estimates import Estimates
    from slackwater.app.findings import Findings
    from slackwater.app.notify import Notifier
    from slackwater.app.policies import Policies
    from slackwater.app.scan import Audit, Progress, Sources
    from slackwater.app.settings import Deployed
    from slackwater.app.slack_acknowledge import Acknowledger
    from slackwater.app.slack_answer import Answerer
    from slackwater.aws.members import Members
    from slackwater.aws.table import Table
    from slackwater.engine.registry import Registry
    from slackwater.model.audits import AuditPlan
    from slackwater.model.identity import Identity
    from slackwater.model.policy import Policy
    from slackwater.model.resources import Target
    from slackwater.model.slack_secret import SlackSecret
    from slackwater.ports import AuditStore, Channel, FindingStore, Inventory, Leases, Spending
    from slackwater.slack.bot import BotChannel


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
    from slackwater.app.scan import Audit, Sources
    from slackwater.aws.cloudwatch import CloudWatchMetrics
    from slackwater.aws.inventory import AwsInventory
    from slackwater.aws.pace import Pace
    from slackwater.aws.pricing import PriceList
    from slackwater.aws.spending import LocalSpending

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


type Sharing = Callable[[Policy, str, Target, str], AbstractContextManager[tuple[Callable[[], float], Spending]]]


def among_others(deployed: Deployed) -> Sharing:
    """What the scans of the service share: given a policy, an audit's id, a target and a name that no other scan has.

    It gives, while the scan goes on, what `audit` takes: `share` and `spending`. What it goes on without is in the log.
    """
    from slackwater.app.telemetry import LOGGER
    from slackwater.aws.leases import DynamoLeases
    from slackwater.aws.session import ASIDE
    from slackwater.aws.spending import DynamoSpending

    aside, own = (AwsSession(meter=CallMeter(), patience=patience) for patience in (ASIDE, SOMEBODY_WAITS))
    leases: Leases = DynamoLeases(aside, deployed.table_name, clock, LOGGER.warning)

    @contextmanager
    def hold(policy: Policy, audit_id: str, target: Target, holder: str) -> Iterator[tuple[Callable[[], float], Spending]]:
        ceiling = DynamoSpending(
            own, deployed.table_name, audit_id, policy.scan.most_metrics_usd, clock=clock, warn=LOGGER.warning
        )
        with leases.hold(target, holder) as share, ceiling as spending:
            yield share, spending

    return hold


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
    from slackwater.engine.registry import registry
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
    from slackwater.aws.organization import Organization

    session = AwsSession(meter=CallMeter())
    of_bucket = policies(deployed, session)

    @cache
    def members(who: Identity) -> Members:
        return _members(deployed, session, who.account, who.partition)

    return Planner(
        policies=of_bucket,
        documents=of_bucket.documents,
        audits=_audits(deployed, session),
        identity=partial(identity, session),
        accounts=lambda section: Organization(session).accounts(section),
        regions=lambda who, account: members(who).regions(account),
        home=session.home,
        clock=clock,
    )


def scanning(deployed: Deployed) -> Scanner:
    """What ScanFunction does."""
    from slackwater.app.audit_scan import Scanner
    from slackwater.aws.stock import open_stock

    of_bucket, others = policies(deployed, AwsSession(meter=CallMeter())), among_others(deployed)

    @contextmanager
    def of_policy(policy: Policy, plan: AuditPlan, target: Target) -> Iterator[Audit]:
        meter = CallMeter()
        own = AwsSession(meter=meter)  # another one each time: it counts for the meter of this scan
        session = _members(deployed, own, plan.own_account or target.account, target.partition).session(target.account)
        with others(policy, plan.audit_id, target, uuid.uuid4().hex) as (share, spending):
            yield audit(
                session,
                meter,
                registry=of_bucket.registry,
                policy=policy,
                cache_dir=kept_while_warm(),
                progress=lambda *_: None,
                share=share,
                spending=spending,
            )

    return Scanner(documents=of_bucket.documents, policies=of_bucket, audit=of_policy, open_stock=open_stock, clock=clock)


def publishing(deployed: Deployed) -> Publisher:
    """What PublishFunction does."""
    from slackwater.app.audit_publish import Publisher
    from slackwater.aws.cleanup_store import DynamoCleanups
    from slackwater.aws.documents import S3Documents
    from slackwater.aws.table import Table
    from slackwater.views.report import REPORT_FINDINGS, render_report

    session = AwsSession(meter=CallMeter())
    return Publisher(
        documents=S3Documents(session, deployed.bucket_name),
        audits=_audits(deployed, session),
        findings=_findings(deployed, session),
        cleanups=DynamoCleanups(Table(session, deployed.table_name)),
        render=lambda spool: render_report(spool.document(REPORT_FINDINGS)),
        clock=clock,
    )


def notifying(deployed: Deployed) -> Notifier | None:
    """What NotifyFunction does; None where there is no secret, and so no Slack."""
    if deployed.slack_secret_arn is None:
        return None
    from slackwater.app.notify import Notifier
    from slackwater.aws.outbox import DynamoOutbox
    from slackwater.aws.secrets import Secret
    from slackwater.aws.table import Table
    from slackwater.slack.secret import parse

    session = AwsSession(meter=CallMeter())
    of_bucket = policies(deployed, session)
    secret = Secret(session, deployed.slack_secret_arn)
    return Notifier(
        documents=of_bucket.documents,
        audits=_audits(deployed, session),
        policies=of_bucket,
        outbox=DynamoOutbox(Table(session, deployed.table_name), clock),
        channel=lambda: slack_channel(parse(secret()), deployed.slack_api_url),
        clock=clock,
        sleep=time.sleep,
        cleans_up=deployed.cleanup_enabled,
    )


def without_slack(deployed: Deployed) -> int:
    """What NotifyFunction does with what clean-ups have to tell, where there is no Slack; how many posts that were."""
    from slackwater.app.notify import nobody_hears
    from slackwater.aws.outbox import DynamoOutbox
    from slackwater.aws.table import Table

    return nobody_hears(DynamoOutbox(Table(AwsSession(meter=CallMeter()), deployed.table_name), clock))


def slack_channel(secret: SlackSecret, api_url: str | None) -> Channel:
    """The channel that a secret is for: a bot's, or a webhook's. `api_url` stands in for Slack's own."""
    if secret.bot_token:
        from slackwater.slack.bot import BotChannel

        return BotChannel(secret.bot_token, base_url=api_url)
    from slackwater.slack.webhook import WebhookChannel

    return WebhookChannel(secret.webhook_url or "")


def announcing(deployed: Deployed) -> Announcer:
    """What AnnounceFunction does."""
    from slackwater.app.announce import Announcer
    from slackwater.aws.event_bus import EventBridgeBus
    from slackwater.aws.table_stream import parsed_change

    if deployed.event_bus_name is None:
        raise NotDeployedError("The environment lacks 'EVENT_BUS_NAME': template.yaml sets it")
    return Announcer(bus=EventBridgeBus(AwsSession(meter=CallMeter()), deployed.event_bus_name), parsed=parsed_change)


def acknowledging(deployed: Deployed) -> Acknowledger:
    """What AcknowledgeFunction does. Nothing here loads pydantic: somebody waits for its cold start."""
    from slackwater.app.slack_acknowledge import Acknowledger
    from slackwater.aws.background import Background
    from slackwater.aws.request_guard import RequestGuard
    from slackwater.slack.signature import check

    if deployed.answer_function_name is None:
        raise NotDeployedError("The environment lacks 'ANSWER_FUNCTION_NAME': template.yaml sets it")
    session = AwsSession(meter=CallMeter(), patience=SLACK_WAITS)
    # What every request takes: made while the function starts, which Lambda may do ahead. A modal needs no client for Lambda.
    session.client("secretsmanager", session.home)
    session.client("dynamodb", session.home)
    secret = _of_slack(deployed, session)
    return Acknowledger(
        signing_secret=lambda: secret()[1],
        check=check,
        guard=RequestGuard(session, deployed.table_name, clock),
        hand_over=Background(session, deployed.answer_function_name).hand_over,
        open_modal=lambda trigger_id, view: _bot(deployed, secret()[0], timeout_s=2).open_modal(trigger_id, view),
        clock=clock,
    )


def answering(deployed: Deployed) -> Answerer:
    """What AnswerFunction does."""
    from slackwater.app.slack_answer import Answerer
    from slackwater.aws.identity import identity
    from slackwater.aws.outbox import DynamoOutbox
    from slackwater.aws.table import Table
    from slackwater.engine.registry import registry
    from slackwater.slack.webhook import respond

    session = AwsSession(meter=CallMeter(), patience=SOMEBODY_WAITS)
    of_api = serving(deployed, session)
    secret = _of_slack(deployed, session)

    @cache
    def home(token: str) -> str | None:
        found, _ = _bot(deployed, token).call("auth.test")
        return found.get("team_id")

    return Answerer(
        findings=of_api.findings,
        cleanups=of_api.cleanups,
        audits=of_api.audits,
        outbox=DynamoOutbox(Table(session, deployed.table_name), clock),
        channel=lambda: _bot(deployed, secret()[0]),
        respond=respond,
        origin=deployed.slack_api_url and deployed.slack_api_url.removesuffix("/api/"),
        home=lambda: home(secret()[0]),
        policy=policies(deployed, session).current,
        registry=registry,
        account=lambda: identity(session).account,
        known_regions=of_api.known_regions,
        pause=time.sleep,
    )


def _of_slack(deployed: Deployed, session: AwsSession) -> Callable[[], tuple[str, str]]:
    """What gives the bot's token, and what Slack signs with."""
    from slackwater.aws.secrets import Secret
    from slackwater.slack.secret import SecretError, parse

    if deployed.slack_secret_arn is None:
        raise NotDeployedError("The environment lacks 'SLACK_SECRET_ARN': template.yaml sets it, given one")
    text = Secret(session, deployed.slack_secret_arn)

    def secret() -> tuple[str, str]:
        found = parse(text())
        if found.bot_token is None or found.signing_secret is None:
            raise SecretError("Slack's secret has no bot_token: a webhook has no buttons and no command")
        return found.bot_token, found.signing_secret

    return secret


def _bot(deployed: Deployed, token: str, **options: int) -> BotChannel:
    from slackwater.slack.bot import BotChannel

    return BotChannel(token, base_url=deployed.slack_api_url, **options)


@dataclass(frozen=True, slots=True)
class Serving:
    """What the API and the command line do."""

    findings: Findings
    audits: Audits
    cleanups: Cleanups
    known_regions: Callable[[], Collection[str]]
    estimates: Callable[[], Estimates]
    """Made anew for each question, whose time runs from then on."""
    backups: Callable[[], Backups]
    """Made when a request needs it."""


def serving(deployed: Deployed, session: AwsSession | None = None, *, tells: bool = True) -> Serving:
    """What ServeFunction does, and the command line with a session of its own, which `tells` nobody else of the cap."""
    from slackwater.app.audits import Audits
    from slackwater.app.findings import Findings
    from slackwater.aws.audit_starter import StateMachineStarter
    from slackwater.aws.documents import S3Documents
    from slackwater.aws.regions import known_regions
    from slackwater.engine.registry import registry

    if deployed.state_machine_arn is None:
        raise NotDeployedError("The environment lacks 'STATE_MACHINE_ARN': template.yaml sets it")
    session, machine_arn = session or AwsSession(meter=CallMeter(), patience=SOMEBODY_WAITS), deployed.state_machine_arn
    documents = S3Documents(session, deployed.bucket_name)
    findings = Findings(store=_findings(deployed, session), documents=documents)
    return Serving(
        findings=findings,
        cleanups=_cleanups(deployed, session, findings, tells=tells),
        audits=Audits(
            audits=_audits(deployed, session),
            documents=documents,
            starter=StateMachineStarter(session, machine_arn),
            registry=registry,
            clock=clock,
        ),
        known_regions=partial(known_regions, session),
        estimates=lambda: estimating(session, kept_while_warm(), session.home, known_regions(session)),
        backups=lambda: _backups(deployed, session, machine_arn),
    )


def running(deployed: Deployed) -> Cleanups:
    """What RunFunction does."""
    from slackwater.app.findings import Findings
    from slackwater.aws.documents import S3Documents

    session = AwsSession(meter=CallMeter())
    findings = Findings(store=_findings(deployed, session), documents=S3Documents(session, deployed.bucket_name))
    return _cleanups(deployed, session, findings, tells=True)


def _cleanups(deployed: Deployed, session: AwsSession, findings: Findings, *, tells: bool) -> Cleanups:
    from slackwater.app.cleanups import Cleanups
    from slackwater.aws.cleanup_starter import StateMachineCleanups
    from slackwater.aws.cleanup_store import DynamoCleanups
    from slackwater.aws.table import Table

    machine, table = deployed.cleanup_state_machine_arn, Table(session, deployed.table_name)
    return Cleanups(
        store=DynamoCleanups(table, findings.documents),
        findings=findings,
        starter=StateMachineCleanups(session, machine, deployed.undo_state_machine_arn) if machine else None,
        policy=lambda: policies(deployed, session).current(),  # most requests need none
        account=own.split(":")[4] if (own := machine or deployed.state_machine_arn) else None,
        breached=partial(_tell_of_breach, table) if tells else lambda *_: None,
    )


def _backups(deployed: Deployed, session: AwsSession, machine_arn: str) -> Backups:
    from slackwater.app.cleanup_backups import Backups
    from slackwater.aws.cleanup_adopted import EbsBackupLister, EfsBackupLister, FsxBackupLister
    from slackwater.aws.cleanup_store import DynamoCleanups
    from slackwater.aws.installation import Installation
    from slackwater.aws.regions import enabled_regions
    from slackwater.aws.table import Table
    from slackwater.model.resources import EfsFileSystem, FsxFileSystem, Volume

    table = Table(session, deployed.table_name)
    return Backups(
        store=DynamoCleanups(table),
        listers={
            Volume.KIND: EbsBackupLister(session),
            EfsFileSystem.KIND: EfsBackupLister(session),
            FsxFileSystem.KIND: FsxBackupLister(session),
        },
        regions=lambda: enabled_regions(session),
        account=machine_arn.split(":")[4],
        installation=Installation(table, deployed.installation_id).known,
        price=backup_prices(session),
        policy=lambda: policies(deployed, session).current(),
    )


def backup_prices(session: AwsSession) -> Callable[[str, str, int], Decimal | None]:
    """What so many bytes of backups of a kind cost a month in a region, before discounts; None where the price is unknown."""
    from slackwater.aws.pricing import PriceList
    from slackwater.model.money import EBS_SNAPSHOT_STORAGE, EFS_BACKUP_STORAGE, OPENZFS_BACKUP_STORAGE
    from slackwater.model.resources import EfsFileSystem, FsxFileSystem, Volume
    from slackwater.model.units import GIB

    prices = PriceList(session, None, Decimal(1), {}, clock().date())
    items = {
        Volume.KIND: EBS_SNAPSHOT_STORAGE,
        EfsFileSystem.KIND: EFS_BACKUP_STORAGE,
        FsxFileSystem.KIND: OPENZFS_BACKUP_STORAGE,
    }

    @cache
    def per_gib(kind: str, region: str) -> Decimal | None:
        table, _ = prices.of([items[kind]], region)
        price = table.get(items[kind])
        return price.usd if price else None

    def monthly_usd(kind: str, region: str, size_bytes: int) -> Decimal | None:
        usd = per_gib(kind, region)
        return None if usd is None else usd * size_bytes / GIB

    return monthly_usd


def _tell_of_breach(table: Table, why: str, wanted: int, policy: Policy) -> None:
    """Have the alarm and Slack told of a run over the cap. Whether Slack can be or not, nothing is begun."""
    from slackwater.app.cleanup_news import CleanupNews
    from slackwater.app.telemetry import LOGGER, emit
    from slackwater.aws.errors import AwsError
    from slackwater.aws.outbox import DynamoOutbox

    emit({"CleanupCapBreached": 1})
    LOGGER.warning("over the cap", reason=why, wanted=wanted)
    try:
        CleanupNews(outbox=DynamoOutbox(table, clock), clock=clock).cap(why, wanted, policy)
    except AwsError:
        LOGGER.exception("Slack is not told")


def kept_while_warm() -> Path:
    """Where a function keeps prices from one invocation to the next."""
    return Path(tempfile.gettempdir()) / "slackwater"


def _findings(deployed: Deployed, session: AwsSession) -> FindingStore:
    from slackwater.aws.finding_store import DynamoFindings
    from slackwater.aws.table import Table

    return DynamoFindings(Table(session, deployed.table_name))


def _members(deployed: Deployed, session: AwsSession, own_account: str, partition: str) -> Members:
    from slackwater.aws.members import Members

    return Members(session, own_account, partition, deployed.member_role_name, deployed.member_external_id)


def _audits(deployed: Deployed, session: AwsSession) -> AuditStore:
    from slackwater.aws.audit_store import DynamoAudits
    from slackwater.aws.table import Table

    return DynamoAudits(Table(session, deployed.table_name), timedelta(days=deployed.retention_days), clock)
