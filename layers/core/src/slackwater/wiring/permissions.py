"""The IAM permissions of each function, as composed in `wiring`, and of each person. The template grants these."""

from typing import Final

from slackwater.aws.cleanup import adopted as cleanup_adopted
from slackwater.aws.cleanup import keys, permissions
from slackwater.aws.cleanup.ebs import cleanup as cleanup_ebs
from slackwater.aws.cleanup.ebs import restore as cleanup_ebs_restore
from slackwater.aws.cleanup.ebs import snapshots as cleanup_ebs_snapshots
from slackwater.aws.cleanup.efs import change as cleanup_efs_change
from slackwater.aws.cleanup.efs import cleanup as cleanup_efs
from slackwater.aws.cleanup.efs import recovery_points
from slackwater.aws.cleanup.efs import restore as cleanup_efs_restore
from slackwater.aws.cleanup.fsx import backups as cleanup_fsx_backups
from slackwater.aws.cleanup.fsx import cleanup as cleanup_fsx
from slackwater.aws.cleanup.fsx import restore as cleanup_fsx_restore
from slackwater.aws.client import identity, regions, session
from slackwater.aws.deployment import audit_starter, background, cleanup_starter, event_bus, secrets, stack, trust
from slackwater.aws.inventory import inventory, organization
from slackwater.aws.metrics import cloudwatch, spending
from slackwater.aws.pricing import instance_types
from slackwater.aws.pricing import price_list as pricing
from slackwater.aws.store import audits as audit_store
from slackwater.aws.store import cleanups as cleanup_store
from slackwater.aws.store import documents, installation, leases, outbox, request_guard
from slackwater.aws.store import findings as finding_store

PLAN: Final = (
    identity.ACTIONS
    | regions.ACTIONS
    | organization.ACTIONS
    | session.ACTIONS
    | documents.READ
    | documents.WRITE
    | audit_store.AUDIT_CLAIM
    | audit_starter.LOOK_ACTIONS
)
SCAN: Final = (
    inventory.ACTIONS
    | cloudwatch.ACTIONS
    | pricing.ACTIONS
    | session.ACTIONS
    | leases.ACTIONS
    | spending.ACTIONS
    | documents.READ
    | documents.READ_VERSION
    | documents.WRITE
)
"""Of PLAN and SCAN, the template grants the actions of Organizations and `sts:AssumeRole` only if a role for other
accounts is named.
"""
MEMBER: Final = inventory.ACTIONS | cloudwatch.ACTIONS | pricing.ACTIONS | regions.ACTIONS
"""The actions that the role in template-member.yaml allows in another account, for planning and scanning."""
PUBLISH: Final = (
    documents.READ
    | documents.WRITE
    | audit_store.AUDIT_READ
    | audit_store.AUDIT_WRITE
    | finding_store.FINDING_READ
    | finding_store.FINDING_WRITE
)
NOTIFY: Final = (
    documents.READ
    | documents.READ_VERSION
    | documents.HISTORY
    | audit_store.AUDIT_READ
    | outbox.READ
    | outbox.WRITE
    | secrets.ACTIONS
)
ANNOUNCE: Final = event_bus.ACTIONS
DECIDE: Final = (
    documents.READ
    | audit_starter.ACTIONS
    | audit_starter.LOOK_ACTIONS
    | audit_store.AUDIT_READ
    | finding_store.FINDING_READ
    | finding_store.FINDING_WRITE
    | cleanup_starter.LOOK_ACTIONS
    | cleanup_store.LISTS_WRITE
)
"""LISTS_WRITE is for clean-ups that an older version stored in one large item, which may have no room for a change."""
ESTIMATE: Final = pricing.ACTIONS | instance_types.ACTIONS
"""What an estimate reads if it is allowed to. Otherwise it uses the packaged prices and instance types."""
_BACKUPS: Final = cleanup_adopted.ACTIONS | installation.INSTALLATION_READ
"""Actions that list backups, and adopt one."""
SERVE: Final = DECIDE | ESTIMATE | regions.ACTIONS | _BACKUPS
ACKNOWLEDGE: Final = secrets.ACTIONS | request_guard.ACTIONS | background.ACTIONS
ANSWER: Final = secrets.ACTIONS | outbox.READ | DECIDE | identity.ACTIONS | regions.ACTIONS
OPERATE: Final = (
    DECIDE
    | documents.READ_VERSION
    | documents.WRITE
    | documents.HISTORY
    | stack.ACTIONS
    | identity.ACTIONS
    | secrets.ACTIONS
    | regions.ACTIONS
    | trust.ACTIONS
    | _BACKUPS
)
"""Everything that the command line does with the deployed service."""


def _reading(actions: frozenset[str]) -> frozenset[str]:
    """Return the actions that change nothing."""
    return frozenset(
        action for action in actions if action.partition(":")[2].startswith(("Describe", "Get", "List", "Lookup"))
    )


_RECORD: Final = documents.READ | regions.ACTIONS | cleanup_store.CLEANUP_READ | cleanup_store.CLEANUP_WRITE
"""Actions for the policy, and for a clean-up's record with its finding."""
_WATCHERS: Final = cleanup_ebs.WATCHER_ACTIONS | cleanup_efs.WATCHER_ACTIONS | cleanup_fsx.WATCHER_ACTIONS
_TAKERS: Final = (
    cleanup_ebs_snapshots.BACKUP_ACTIONS | recovery_points.BACKUP_ACTIONS | cleanup_fsx_backups.BACKUP_ACTIONS
)
_RECHECK: Final = inventory.ACTIONS | cloudwatch.ACTIONS | pricing.ACTIONS | _reading(_WATCHERS)
_LISTS: Final = cleanup_store.LISTS_READ | cleanup_store.LISTS_WRITE
"""Actions for the lists of a clean-up that do not fit into its record."""
WATCH: Final = _RECORD | _LISTS | _RECHECK | _WATCHERS | permissions.ACTIONS | outbox.READ | outbox.WRITE
BACK_UP: Final = _RECORD | _TAKERS | keys.ACTIONS | installation.INSTALLATION_WRITE
DELETE: Final = (
    _RECORD
    | _LISTS
    | _RECHECK
    | _reading(_TAKERS)
    | keys.ACTIONS
    | cleanup_ebs.REMOVER_ACTIONS
    | cleanup_efs.REMOVER_ACTIONS
    | cleanup_fsx.REMOVER_ACTIONS
)
CHANGE: Final = _RECORD | _RECHECK | cleanup_ebs.CHANGER_ACTIONS | cleanup_efs_change.CHANGER_ACTIONS
RESTORE: Final = (
    _LISTS
    | cleanup_store.CLEANUP_READ
    | cleanup_store.CLEANUP_WRITE
    | cleanup_ebs_restore.RESTORER_ACTIONS
    | cleanup_efs_restore.RESTORER_ACTIONS
    | cleanup_fsx_restore.RESTORER_ACTIONS
    | _reading(cleanup_fsx_backups.BACKUP_ACTIONS)
    | keys.ACTIONS
)
SWEEP: Final = (
    cleanup_store.CLEANUP_READ
    | cleanup_store.CLEANUP_WRITE
    | cleanup_ebs_snapshots.SWEEPER_ACTIONS
    | recovery_points.SWEEPER_ACTIONS
    | cleanup_fsx_backups.SWEEPER_ACTIONS
)
RUN: Final = _RECORD | cleanup_starter.ACTIONS
