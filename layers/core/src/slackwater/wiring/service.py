"""Composes the functions of the service. Each imports its own adapters, so that a function loads only what it uses."""

from __future__ import annotations

import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import cache, partial
from threading import Lock
from typing import TYPE_CHECKING

from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import API_RETRIES, SLACK_RETRIES, AwsSession
from slackwater.wiring.settings import NotDeployedError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from contextlib import AbstractContextManager

    from slackwater.app.audit.audits import Audits
    from slackwater.app.audit.limits import AuditLimits
    from slackwater.app.audit.plan import Planner
    from slackwater.app.audit.publish import Publisher
    from slackwater.app.audit.scan import Audit
    from slackwater.app.audit.scan_target import Scanner
    from slackwater.app.cleanup.backups import Backups
    from slackwater.app.cleanup.cleanups import Cleanups
    from slackwater.app.estimates.estimates import Estimates
    from slackwater.app.findings.announce import Announcer
    from slackwater.app.findings.findings import Findings
    from slackwater.app.policy.stored import Policies
    from slackwater.app.slack.acknowledge import Acknowledger
    from slackwater.app.slack.answer import Answerer
    from slackwater.app.slack.notify import Notifier
    from slackwater.aws.client.members import Members
    from slackwater.aws.store.table import Table
    from slackwater.model.audits import AuditPlan
    from slackwater.model.identity import Identity
    from slackwater.model.policy import Policy
    from slackwater.model.resources import Target
    from slackwater.model.slack_secret import SlackSecret
    from slackwater.ports.metrics import Leases, Spending
    from slackwater.ports.slack import Channel
    from slackwater.ports.store import AuditStore, FindingStore
    from slackwater.slack.bot import BotChannel
    from slackwater.wiring.settings import DeploymentSettings

from slackwater.wiring.scan import audit, clock, estimating, warm_cache_dir

type Sharing = Callable[[Policy, AuditPlan, Target, str], AbstractContextManager[tuple[Callable[[], float], Spending]]]


def among_others(deployed: DeploymentSettings) -> Sharing:
    """Return a function for what the service's scans share: the rate limit of a target, and the budget for metrics.

    The function takes the policy, the audit's plan, the target, and a name that no other scan has. It returns a context
    manager, which gives `share` and `spending` for `audit` and must stay open during the scan. If the leases cannot be
    read or written, the scan logs a warning and uses at most half of the rate limit.
    """
    from slackwater.app.telemetry import LOGGER
    from slackwater.aws.client.session import OPTIONAL_RETRIES
    from slackwater.aws.metrics.spending import Budget, DynamoSpending
    from slackwater.aws.store.leases import DynamoLeases

    for_leases, own = (AwsSession(meter=CallMeter(), retries=retries) for retries in (OPTIONAL_RETRIES, API_RETRIES))
    leases: Leases = DynamoLeases(for_leases, deployed.table_name, clock, LOGGER.warning)

    @contextmanager
    def hold(
        policy: Policy, plan: AuditPlan, target: Target, holder: str
    ) -> Iterator[tuple[Callable[[], float], Spending]]:
        budget = Budget(
            audit_id=plan.audit_id,
            most_usd=policy.scan.most_metrics_usd,
            day_usd=policy.scan.most_metrics_usd_per_day,
            account=target.account,
            accounts=len({one.account for one in plan.to_scan}),
        )
        ceiling = DynamoSpending(own, deployed.table_name, budget, clock=clock, warn=LOGGER.warning)
        with leases.hold(target, holder) as share, ceiling as spending:
            yield share, spending

    return hold


def policies(deployed: DeploymentSettings, session: AwsSession) -> Policies:
    """Return access to the service's policy."""
    from slackwater.app.policy.stored import Policies
    from slackwater.aws.client.regions import enabled_regions, known_regions
    from slackwater.aws.store.documents import S3Documents
    from slackwater.engine.registry import registry
    from slackwater.model.object_keys import POLICY

    return Policies(
        documents=S3Documents(session, deployed.bucket_name),
        registry=registry(),
        place=f"s3://{deployed.bucket_name}/{POLICY}",
        known_regions=partial(known_regions, session),
        enabled_regions=partial(enabled_regions, session),
    )


def planning(deployed: DeploymentSettings) -> Planner:
    """Compose PlanFunction."""
    from slackwater.app.audit.plan import Planner
    from slackwater.aws.client.identity import identity
    from slackwater.aws.inventory.organization import Organization

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
        limits=lambda machine: _limits(deployed, session, machine),
    )


def scanning(deployed: DeploymentSettings) -> Scanner:
    """Compose ScanFunction."""
    from slackwater.app.audit.scan_target import Scanner

    of_bucket, others = policies(deployed, AwsSession(meter=CallMeter())), among_others(deployed)
    large = Lock()

    @contextmanager
    def of_policy(policy: Policy, plan: AuditPlan, target: Target) -> Iterator[Audit]:
        meter = CallMeter()
        own = AwsSession(meter=meter)  # a new session for each scan, because it counts for the scan's own meter
        session = _members(deployed, own, plan.own_account or target.account, target.partition).session(target.account)
        with others(policy, plan, target, uuid.uuid4().hex) as (share, spending):
            yield audit(
                session,
                meter,
                registry=of_bucket.registry,
                policy=policy,
                cache_dir=warm_cache_dir(),
                progress=lambda *_: None,
                share=share,
                spending=spending,
                large=large,
            )

    return Scanner(documents=of_bucket.documents, policies=of_bucket, audit=of_policy, clock=clock)


def publishing(deployed: DeploymentSettings) -> Publisher:
    """Compose PublishFunction."""
    from slackwater.app.audit.publish import Publisher
    from slackwater.aws.store.cleanups import DynamoCleanups
    from slackwater.aws.store.documents import S3Documents
    from slackwater.aws.store.table import Table
    from slackwater.views.report import REPORT_FINDINGS, render_report

    session = AwsSession(meter=CallMeter())
    return Publisher(
        documents=S3Documents(session, deployed.bucket_name),
        audits=_audits(deployed, session),
        findings=_findings(deployed, session),
        cleanups=DynamoCleanups(Table(session, deployed.table_name)),
        render=lambda scan_file: render_report(scan_file.document(REPORT_FINDINGS)),
        clock=clock,
    )


def notifying(deployed: DeploymentSettings) -> Notifier | None:
    """Compose NotifyFunction; None without a secret, which means without Slack."""
    if deployed.slack_secret_arn is None:
        return None
    from slackwater.app.slack.notify import Notifier
    from slackwater.aws.deployment.secrets import Secret
    from slackwater.aws.store.outbox import DynamoOutbox
    from slackwater.aws.store.table import Table
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


def without_slack(deployed: DeploymentSettings) -> int:
    """Fail the posts about clean-ups, and return how many. NotifyFunction does this if there is no Slack."""
    from slackwater.app.slack.notify import fail_posts_without_slack
    from slackwater.aws.store.outbox import DynamoOutbox
    from slackwater.aws.store.table import Table

    return fail_posts_without_slack(DynamoOutbox(Table(AwsSession(meter=CallMeter()), deployed.table_name), clock))


def slack_channel(secret: SlackSecret, api_url: str | None) -> Channel:
    """Return the channel for a secret: a bot's or a webhook's. `api_url` replaces the URL of Slack's API."""
    if secret.bot_token:
        from slackwater.slack.bot import BotChannel

        return BotChannel(secret.bot_token, base_url=api_url)
    from slackwater.slack.webhook import WebhookChannel

    return WebhookChannel(secret.webhook_url or "")


def announcing(deployed: DeploymentSettings) -> Announcer:
    """Compose AnnounceFunction."""
    from slackwater.app.findings.announce import Announcer
    from slackwater.aws.deployment.event_bus import EventBridgeBus
    from slackwater.aws.store.table_stream import parsed_change

    if deployed.event_bus_name is None:
        raise NotDeployedError("The environment lacks 'EVENT_BUS_NAME': template.yaml sets it")
    return Announcer(bus=EventBridgeBus(AwsSession(meter=CallMeter()), deployed.event_bus_name), parsed=parsed_change)


def acknowledging(deployed: DeploymentSettings) -> Acknowledger:
    """Compose AcknowledgeFunction. Nothing here loads pydantic, because a person waits for the cold start."""
    from slackwater.app.slack.acknowledge import Acknowledger
    from slackwater.aws.deployment.background import Background
    from slackwater.aws.store.request_guard import RequestGuard
    from slackwater.slack.signature import check

    if deployed.answer_function_name is None:
        raise NotDeployedError("The environment lacks 'ANSWER_FUNCTION_NAME': template.yaml sets it")
    session = AwsSession(meter=CallMeter(), retries=SLACK_RETRIES)
    # Every request needs these clients. Creating them here makes them part of the start, which Lambda may do ahead of a
    # request. The client for Lambda is created later, because a modal does not need it.
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


def answering(deployed: DeploymentSettings) -> Answerer:
    """Compose AnswerFunction."""
    from slackwater.app.slack.answer import Answerer
    from slackwater.aws.client.identity import identity
    from slackwater.aws.store.outbox import DynamoOutbox
    from slackwater.aws.store.table import Table
    from slackwater.engine.registry import registry
    from slackwater.slack.webhook import respond

    session = AwsSession(meter=CallMeter(), retries=API_RETRIES)
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


def _of_slack(deployed: DeploymentSettings, session: AwsSession) -> Callable[[], tuple[str, str]]:
    """Return a function for the bot token and the signing secret."""
    from slackwater.aws.deployment.secrets import Secret
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


def _bot(deployed: DeploymentSettings, token: str, **options: int) -> BotChannel:
    from slackwater.slack.bot import BotChannel

    return BotChannel(token, base_url=deployed.slack_api_url, **options)


@dataclass(frozen=True, slots=True)
class Serving:
    """The use cases of the API, of Slack and of the command line."""

    findings: Findings
    audits: Audits
    cleanups: Cleanups
    policy: Callable[[], Policy]
    known_regions: Callable[[], Collection[str]]
    estimates: Callable[[], Estimates]
    """Creates the estimates for one request, whose time limit starts then."""
    backups: Callable[[], Backups]
    """Creates the use case when a request needs it."""


def serving(deployed: DeploymentSettings, session: AwsSession | None = None, *, notify: bool = True) -> Serving:
    """Compose the use cases of ServeFunction, of AnswerFunction and of the command line.

    Args:
        deployed: The settings.
        session: The session to use; None creates one.
        notify: Whether to report a run over the cap to the alarm and to Slack. The command line does not.
    """
    from slackwater.app.audit.audits import Audits
    from slackwater.app.findings.findings import Findings
    from slackwater.aws.client.regions import known_regions
    from slackwater.aws.deployment.audit_starter import StateMachineStarter
    from slackwater.aws.store.documents import S3Documents
    from slackwater.engine.registry import registry

    if deployed.state_machine_arn is None:
        raise NotDeployedError("The environment lacks 'STATE_MACHINE_ARN': template.yaml sets it")
    session, machine_arn = session or AwsSession(meter=CallMeter(), retries=API_RETRIES), deployed.state_machine_arn
    documents = S3Documents(session, deployed.bucket_name)
    findings = Findings(store=_findings(deployed, session), documents=documents)
    return Serving(
        findings=findings,
        policy=lambda: policies(deployed, session).current(),
        cleanups=_cleanups(deployed, session, findings, notify=notify),
        audits=Audits(
            audits=_audits(deployed, session),
            limits=_limits(deployed, session, machine_arn),
            policy=lambda: policies(deployed, session).current(),
            documents=documents,
            starter=StateMachineStarter(session, machine_arn),
            registry=registry,
            clock=clock,
        ),
        known_regions=partial(known_regions, session),
        estimates=lambda: estimating(session, warm_cache_dir(), session.home, known_regions(session)),
        backups=lambda: _backups(deployed, session, machine_arn),
    )


def running(deployed: DeploymentSettings) -> Cleanups:
    """Compose RunFunction."""
    from slackwater.app.findings.findings import Findings
    from slackwater.aws.store.documents import S3Documents

    session = AwsSession(meter=CallMeter())
    findings = Findings(store=_findings(deployed, session), documents=S3Documents(session, deployed.bucket_name))
    return _cleanups(deployed, session, findings, notify=True)


def _cleanups(deployed: DeploymentSettings, session: AwsSession, findings: Findings, *, notify: bool) -> Cleanups:
    from slackwater.app.cleanup.cleanups import Cleanups
    from slackwater.aws.deployment.cleanup_starter import StateMachineCleanups
    from slackwater.aws.store.cleanups import DynamoCleanups
    from slackwater.aws.store.table import Table

    machine, table = deployed.cleanup_state_machine_arn, Table(session, deployed.table_name)
    return Cleanups(
        store=DynamoCleanups(table, findings.documents),
        findings=findings,
        starter=StateMachineCleanups(session, machine, deployed.undo_state_machine_arn) if machine else None,
        policy=lambda: policies(deployed, session).current(),  # read when needed: most requests need no policy
        account=own.split(":")[4] if (own := machine or deployed.state_machine_arn) else None,
        breached=partial(_report_breach, table) if notify else lambda *_: None,
    )


def _backups(deployed: DeploymentSettings, session: AwsSession, machine_arn: str) -> Backups:
    from slackwater.app.cleanup.backups import Backups
    from slackwater.aws.cleanup.adopted import EbsBackupLister, EfsBackupLister, FsxBackupLister
    from slackwater.aws.client.regions import enabled_regions
    from slackwater.aws.store.cleanups import DynamoCleanups
    from slackwater.aws.store.installation import Installation
    from slackwater.aws.store.table import Table
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
    """Return a function for the monthly price of backups, by kind, region and bytes, before discounts."""
    from slackwater.aws.pricing.price_list import PriceList
    from slackwater.model.money import EBS_SNAPSHOT_STORAGE, EFS_BACKUP_STORAGE, OPENZFS_BACKUP_STORAGE
    from slackwater.model.resources import EfsFileSystem, FsxFileSystem, Volume
    from slackwater.model.units import GIB

    prices = PriceList(session, None, clock().date())
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


def _report_breach(table: Table, why: str, wanted: int, policy: Policy) -> None:
    """Report a run over the cap to the alarm and to Slack. If the post cannot be stored, the log has the error."""
    from slackwater.app.cleanup.news import CleanupNews
    from slackwater.app.telemetry import LOGGER, emit
    from slackwater.aws.store.outbox import DynamoOutbox
    from slackwater.ports.errors import AwsError

    emit({"CleanupCapBreached": 1})
    LOGGER.warning("over the cap", reason=why, wanted=wanted)
    try:
        CleanupNews(outbox=DynamoOutbox(table, clock), clock=clock).cap(why, wanted, policy)
    except AwsError:
        LOGGER.exception("Slack is not told")


def _findings(deployed: DeploymentSettings, session: AwsSession) -> FindingStore:
    from slackwater.aws.store.findings import DynamoFindings
    from slackwater.aws.store.table import Table

    return DynamoFindings(Table(session, deployed.table_name))


def _members(deployed: DeploymentSettings, session: AwsSession, own_account: str, partition: str) -> Members:
    from slackwater.aws.client.members import Members

    return Members(session, own_account, partition, deployed.member_role_name, deployed.member_external_id)


def _audits(deployed: DeploymentSettings, session: AwsSession) -> AuditStore:
    from slackwater.aws.store.audits import DynamoAudits
    from slackwater.aws.store.table import Table

    return DynamoAudits(Table(session, deployed.table_name), timedelta(days=deployed.retention_days), clock)


def _limits(deployed: DeploymentSettings, session: AwsSession, machine_arn: str | None) -> AuditLimits:
    """Return the limits of a state machine's audits. If the state machine is unknown, only an audit's record says
    whether it is running.
    """
    from slackwater.app.audit.limits import AuditLimits
    from slackwater.aws.deployment.audit_starter import execution_state
    from slackwater.aws.metrics.spending import DynamoDays
    from slackwater.aws.store.table import Table

    return AuditLimits(
        audits=_audits(deployed, session),
        state=lambda audit_id: execution_state(session, machine_arn, audit_id) if machine_arn else "running",
        spent_usd=DynamoDays(Table(session, deployed.table_name)).spent_usd,
        clock=clock,
    )
