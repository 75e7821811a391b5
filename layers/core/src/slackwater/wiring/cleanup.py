"""The composition root of clean-up: builds each Lambda function with the adapters that its IAM role allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from slackwater.app.cleanup.case import Cases
from slackwater.aws.cleanup.keys import KmsKeys
from slackwater.aws.client.meter import CallMeter
from slackwater.aws.client.session import NO_RETRIES, AwsSession
from slackwater.aws.store.cleanups import DynamoCleanups
from slackwater.aws.store.findings import DynamoFindings
from slackwater.aws.store.installation import Installation
from slackwater.aws.store.table import Table
from slackwater.model.resources import EfsFileSystem, FsxFileSystem, Volume
from slackwater.wiring.scan import clock
from slackwater.wiring.service import backup_prices, policies
from slackwater.wiring.settings import DeploymentSettings, NotDeployedError

if TYPE_CHECKING:
    from slackwater.app.audit.scan import Audit
    from slackwater.app.cleanup.back_up import BackUp
    from slackwater.app.cleanup.change import Change
    from slackwater.app.cleanup.delete import Delete
    from slackwater.app.cleanup.recheck import Rechecker
    from slackwater.app.cleanup.restore import Restore
    from slackwater.app.cleanup.sweep import Sweep
    from slackwater.app.cleanup.watch import Watch
    from slackwater.model.policy import Policy
    from slackwater.ports.cleanup import BackupTaker, Changer, Watcher
    from slackwater.ports.inventory import Inventory
    from slackwater.ports.prices import Prices
    from slackwater.ports.store import Documents


def watching(deployed: DeploymentSettings) -> Watch:
    """Compose WatchFunction."""
    from slackwater.app.cleanup.news import CleanupNews
    from slackwater.app.cleanup.watch import Watch
    from slackwater.aws.cleanup.permissions import SimulatedPermissions
    from slackwater.aws.store.documents import S3Documents
    from slackwater.aws.store.outbox import DynamoOutbox

    session, _ = _sessions()
    table, documents = Table(session, deployed.table_name), S3Documents(session, deployed.bucket_name)
    delete_role_arn = _required_variable(deployed.delete_role_arn, "DELETE_ROLE_ARN")
    return Watch(
        account=delete_role_arn.split(":")[4],  # the role is in the same account as the stack
        cases=_cases(table, documents),
        documents=documents,
        policy=policies(deployed, session).current,
        rechecker=_rechecker(session),
        watchers=_watchers(session),
        permissions=SimulatedPermissions(session, delete_role_arn),
        backup_monthly_usd=backup_prices(session),
        news=CleanupNews(outbox=DynamoOutbox(table, clock), clock=clock),
    )


def backing_up(deployed: DeploymentSettings) -> BackUp:
    """Compose BackUpFunction."""
    from slackwater.app.cleanup.back_up import BackUp

    session, no_retry_session = _sessions()
    table = Table(session, deployed.table_name)
    return BackUp(
        cases=_cases(table),
        policy=policies(deployed, session).current,
        backup_takers=_backup_takers(deployed, session, no_retry_session),
        keys=KmsKeys(session),
        installation=Installation(table, deployed.installation_id),
    )


def deleting(deployed: DeploymentSettings) -> Delete:
    """Compose DeleteFunction."""
    from slackwater.app.cleanup.delete import Delete
    from slackwater.aws.cleanup.ebs.cleanup import EbsRemover
    from slackwater.aws.cleanup.efs.cleanup import ACCESS_POINT, EfsRemover, EfsWatcher
    from slackwater.aws.cleanup.fsx.cleanup import FsxRemover
    from slackwater.aws.store.documents import S3Documents

    session, no_retry_session = _sessions()
    return Delete(
        cases=_cases(Table(session, deployed.table_name), S3Documents(session, deployed.bucket_name)),
        policy=policies(deployed, session).current,
        rechecker=_rechecker(session),
        backup_takers=_backup_takers(deployed, session, no_retry_session),
        removers={
            Volume.KIND: EbsRemover(no_retry_session),
            EfsFileSystem.KIND: EfsRemover(no_retry_session),
            FsxFileSystem.KIND: FsxRemover(session, no_retry_session),
        },
        keys=KmsKeys(session),
        sub_resource_watchers={ACCESS_POINT: EfsWatcher(session)},
    )


def changing(deployed: DeploymentSettings) -> Change:
    """Compose ChangeFunction."""
    from slackwater.app.cleanup.change import Change
    from slackwater.aws.cleanup.ebs.cleanup import EbsChanger
    from slackwater.aws.cleanup.efs.change import EfsChanger

    session, no_retry_session = _sessions()
    changers: Mapping[str, Changer] = {
        Volume.KIND: EbsChanger(session, no_retry_session),
        EfsFileSystem.KIND: EfsChanger(session, no_retry_session, lambda: _prices(session)),
    }
    return Change(
        cases=_cases(Table(session, deployed.table_name)),
        policy=policies(deployed, session).current,
        rechecker=_rechecker(session),
        changers=changers,
    )


def restoring(deployed: DeploymentSettings) -> Restore:
    """Compose RestoreFunction."""
    from slackwater.app.cleanup.restore import Restore
    from slackwater.aws.cleanup.ebs.restore import EbsRestorer
    from slackwater.aws.cleanup.efs.restore import EfsRestorer
    from slackwater.aws.cleanup.fsx.restore import FsxRestorer
    from slackwater.aws.store.documents import S3Documents

    session, no_retry_session = _sessions()
    backup = _aws_backup_settings(deployed)
    return Restore(
        cases=_cases(Table(session, deployed.table_name), S3Documents(session, deployed.bucket_name)),
        restorers={
            Volume.KIND: EbsRestorer(session, no_retry_session),
            EfsFileSystem.KIND: EfsRestorer(session, no_retry_session, backup["vault"], backup["role_arn"]),
            FsxFileSystem.KIND: FsxRestorer(session, no_retry_session),
        },
        backup_takers=_backup_takers(deployed, session, no_retry_session),
        keys=KmsKeys(session),
    )


def sweeping(deployed: DeploymentSettings) -> Sweep:
    """Compose SweepFunction."""
    from slackwater.app.cleanup.sweep import Sweep
    from slackwater.aws.cleanup.ebs.snapshots import EbsSweeper
    from slackwater.aws.cleanup.efs.recovery_points import EfsSweeper
    from slackwater.aws.cleanup.fsx.backups import FsxSweeper

    session, no_retry_session = _sessions()
    table = Table(session, deployed.table_name)
    return Sweep(
        cases=_cases(table),
        sweepers={
            Volume.KIND: EbsSweeper(session, no_retry_session),
            EfsFileSystem.KIND: EfsSweeper(session, no_retry_session),
            FsxFileSystem.KIND: FsxSweeper(session, no_retry_session),
        },
        installation=Installation(table, deployed.installation_id).known,
    )


def _sessions() -> tuple[AwsSession, AwsSession]:
    """Return a session with retries, and one without."""
    meter = CallMeter()
    return AwsSession(meter=meter), AwsSession(meter=meter, retries=NO_RETRIES)


def _cases(table: Table, documents: Documents | None = None) -> Cases:
    """Return access to clean-up records. Reading a complete clean-up requires `documents`, which stores long lists."""
    return Cases(store=DynamoCleanups(table, documents), findings=DynamoFindings(table), clock=clock)


def _watchers(session: AwsSession) -> Mapping[str, Watcher]:
    from slackwater.aws.cleanup.ebs.cleanup import EbsWatcher
    from slackwater.aws.cleanup.efs.cleanup import EfsWatcher
    from slackwater.aws.cleanup.fsx.cleanup import FsxWatcher

    return {
        Volume.KIND: EbsWatcher(session),
        EfsFileSystem.KIND: EfsWatcher(session),
        FsxFileSystem.KIND: FsxWatcher(session),
    }


def _backup_takers(
    deployed: DeploymentSettings, session: AwsSession, no_retry_session: AwsSession
) -> Mapping[str, BackupTaker]:
    from slackwater.aws.cleanup.ebs.snapshots import EbsBackupTaker
    from slackwater.aws.cleanup.efs.recovery_points import EfsBackupTaker
    from slackwater.aws.cleanup.fsx.backups import FsxBackupTaker

    return {
        Volume.KIND: EbsBackupTaker(session, no_retry_session),
        EfsFileSystem.KIND: EfsBackupTaker(session, no_retry_session, **_aws_backup_settings(deployed)),
        FsxFileSystem.KIND: FsxBackupTaker(session, no_retry_session),
    }


def _rechecker(session: AwsSession) -> Rechecker:
    from slackwater.app.cleanup.recheck import Rechecker
    from slackwater.aws.inventory.one import OneInventory

    return Rechecker(
        watchers=_watchers(session),
        inventory=lambda resource: OneInventory(session, resource),
        audit=lambda policy, inventory: _audit(session, policy, inventory),
        clock=clock,
    )


def _audit(session: AwsSession, policy: Policy, inventory: Inventory) -> Audit:
    from slackwater.engine.registry import registry
    from slackwater.wiring.scan import audit, warm_cache_dir

    return audit(
        session,
        CallMeter(),
        registry=registry(),
        policy=policy,
        cache_dir=warm_cache_dir(),
        progress=lambda *_: None,
        inventory=inventory,
    )


def _prices(session: AwsSession) -> Prices:
    """Return list prices, without AWS's or the policy's discounts."""
    from slackwater.aws.pricing.price_list import PriceList

    return PriceList(session, None, clock().date())


def _aws_backup_settings(deployed: DeploymentSettings) -> dict[str, str]:
    """Return AWS Backup's vault and role."""
    return {
        "vault": _required_variable(deployed.backup_vault_name, "BACKUP_VAULT_NAME"),
        "role_arn": _required_variable(deployed.backup_role_arn, "BACKUP_ROLE_ARN"),
    }


def _required_variable(value: str | None, variable: str) -> str:
    if value is None:
        raise NotDeployedError(
            f"The environment variable '{variable}' is not set. Deploy template-cleanup.yaml, which sets it."
        )
    return value
