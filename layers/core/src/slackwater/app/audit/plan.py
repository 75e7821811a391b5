"""Plans an audit: its policy, detectors and targets, fixed before the first scan starts."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pydantic import TypeAdapter

from slackwater.app.audit.limits import AuditLimits
from slackwater.app.audit.request import AuditRequestError, check_accounts, check_detectors, check_regions
from slackwater.app.policy.stored import Policies
from slackwater.app.telemetry import LOGGER
from slackwater.model import object_keys
from slackwater.model.audits import AuditPlan, AuditRecord, AuditRequest, ScanBatch, ScanTask
from slackwater.model.findings import Gap
from slackwater.model.identity import Identity
from slackwater.model.organization import Account, SelectedAccounts
from slackwater.model.policy import OrganizationSection, Policy
from slackwater.model.resources import Target
from slackwater.ports.clock import Clock
from slackwater.ports.errors import AwsError
from slackwater.ports.store import AuditStore, Documents

PLAN: Final = TypeAdapter(AuditPlan)
TARGETS: Final = TypeAdapter(tuple[Target, ...])
BATCHES: Final = TypeAdapter(tuple[ScanBatch, ...])

MOST_BATCHED: Final = 20
"""How many targets one function call scans at most. Most regions are empty: 20 of them take a few seconds."""
FEWEST_BATCHES: Final = 100
"""An audit has at least this many batches, or one for each target if it has fewer, so that it scans as many targets at
the same time as it may.
"""

ACCOUNTS_AT_ONCE: Final = 16
"""How many accounts are asked for their regions at the same time."""


class NoPlanError(Exception):
    """The audit has no plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Plans audits, with the adapters that this needs.

    Attributes:
        accounts: Returns the accounts that a policy's section selects.
        regions: Returns the enabled regions of an account; raises AwsError if it cannot be entered.
        home: The region in which Slackwater tries to enter accounts.
        limits: Returns the limits of a state machine, by its ARN.
    """

    policies: Policies
    documents: Documents
    audits: AuditStore
    identity: Callable[[], Identity]
    accounts: Callable[[OrganizationSection], SelectedAccounts]
    regions: Callable[[Identity, str], Collection[str]]
    home: str
    clock: Clock
    limits: Callable[[str | None], AuditLimits]

    def plan(self, audit_id: str, request: AuditRequest, machine: str | None = None) -> AuditPlan | None:
        """Plan an audit and record it. Planning it again changes nothing.

        Args:
            audit_id: The audit.
            request: What to audit.
            machine: The ARN of the state machine; None in executions of older versions.

        Returns:
            The plan. None if there is nothing to do: the occasion belongs to another audit, or this one has ended (its
            name may be reused after months).

        Raises:
            PolicyError: The policy is invalid.
            AuditRequestError: A detector, account or region does not exist.
            TooManyAuditsError: The maximum number of audits is running.
            SpentError: The day's budget for metrics is spent.
        """
        if request.occasion and self.audits.claim(request.occasion, audit_id) != audit_id:
            return None
        record = self.audits.get(audit_id)
        if record and record.state != "running":
            return None
        plan = _stored(self.documents, audit_id)
        if plan is None:
            plan = self._create_plan(audit_id, request, self.limits(machine))
            if not self.documents.write_once(object_keys.plan(audit_id), PLAN.dump_json(plan, indent=2).decode()):
                plan = plan_of(self.documents, audit_id)  # another attempt was faster, and scans may use its plan
        self.documents.write(object_keys.targets(audit_id), TARGETS.dump_json(plan.to_scan).decode())
        self.documents.write(object_keys.batches(audit_id), BATCHES.dump_json(batches_of(plan.to_scan)).decode())
        self.audits.begin(
            AuditRecord(
                id=audit_id,
                state="running",
                started_at=self.clock(),
                finished_at=None,
                request=request,
                policy=plan.policy,
                outcome=None,
                error=None,
            )
        )
        return plan

    def _create_plan(self, audit_id: str, request: AuditRequest, limits: AuditLimits) -> AuditPlan:
        check_detectors(request, self.policies.registry)
        before = self._plan_to_retry(request.retry_of, limits) if request.retry_of else None
        policy = self.policies.current(before.detectors if before else request.detectors)
        limits.admit(audit_id, request, policy.scan)
        if not {*request.regions} <= {*self.policies.known_regions()}:
            check_regions(request, {*self.policies.known_regions(), *self.policies.enabled_regions()})
        who = self.identity()
        accounts, targets, gaps = (
            self._targets_to_retry(who, before, policy) if before else self._selected_targets(who, policy, request)
        )
        if not targets:
            raise AuditRequestError(
                "there is nothing to audit: none of the accounts has enabled any of the wanted regions"
            )
        return AuditPlan(
            audit_id=audit_id,
            now=self.clock().replace(second=0, microsecond=0),
            request=request,
            policy=policy.version,
            detectors=tuple(policy.limits),
            targets=targets,
            accounts=accounts,
            gaps=gaps,
            own_account=who.account,
        )

    def _selected_targets(self, who: Identity, policy: Policy, request: AuditRequest) -> "_Selection":
        """Return the targets that the request and the policy select."""
        wanted = request.regions or tuple(policy.scan.regions)
        if not policy.organization.names_any:
            check_accounts(request, {who.account})
            regions = wanted or self.policies.enabled_regions()
            return (), tuple(Target(who.account, region, who.partition) for region in dict.fromkeys(regions)), ()
        selected = self.accounts(policy.organization)
        for line in selected.left_out:
            LOGGER.info(line)
        check_accounts(request, {account.id for account in selected.accounts})
        chosen = tuple(one for one in selected.accounts if one.id in request.accounts or not request.accounts)
        if not chosen:
            raise AuditRequestError(
                "the policy's organization section names no account: look at `organization` in the policy"
            )
        unknown = {gap.account: gap for gap in selected.gaps}
        targets, gaps = self._enabled_targets(who, [account.id for account in chosen], wanted, unknown)
        there = {target.account for target in targets}
        if left := [account.id for account in chosen if account.id not in there]:
            LOGGER.info("none of the wanted regions is enabled there", accounts=left)
        return tuple(account for account in chosen if account.id in there), targets, gaps

    def _enabled_targets(
        self,
        who: Identity,
        accounts: Iterable[str],
        wanted: Collection[str],
        unknown: Mapping[str, Gap] = MappingProxyType({}),
    ) -> tuple[tuple[Target, ...], tuple[Gap, ...]]:
        """Return the selected regions that accounts have enabled. An account that cannot be entered is one target with
        a gap.

        Accounts in `unknown`, which has their gaps, are not entered.
        """
        targets, gaps = list[Target](), list[Gap]()

        def enter(account: str) -> Collection[str] | Gap:
            if account in unknown:
                return unknown[account]
            try:
                return self.regions(who, account)
            except AwsError as error:
                return Gap(account, self.home, "sts:AssumeRole", str(error))

        accounts = list(accounts)
        with ThreadPoolExecutor(ACCOUNTS_AT_ONCE) as pool:
            for account, found in zip(accounts, pool.map(enter, accounts), strict=True):
                if isinstance(found, Gap):
                    targets.append(Target(account, found.region, who.partition))
                    gaps.append(found)
                else:
                    here = [region for region in dict.fromkeys(wanted or found) if region in found]
                    targets += [Target(account, region, who.partition) for region in here]
        return tuple(targets), tuple(gaps)

    def _plan_to_retry(self, audit_id: str, limits: AuditLimits) -> AuditPlan:
        """Return the plan of the audit to retry. An audit has ended if its execution has, whatever its record says.

        Raises:
            AuditRequestError: There is no such audit, or it has not ended.
        """
        record, plan = self.audits.get(audit_id), _stored(self.documents, audit_id)
        if record is None or plan is None:
            raise AuditRequestError(
                f"retry_of: there is no audit {audit_id!r} with a plan; `slackwater audits list` shows them"
            )
        if limits.reconciled(record).state == "running":
            raise AuditRequestError(f"retry_of: audit {audit_id} has not ended yet")
        return plan

    def _targets_to_retry(self, who: Identity, before: AuditPlan, policy: Policy) -> "_Selection":
        """Return the targets that an audit did not read completely. Accounts that it could not enter are tried again.

        Raises:
            AuditRequestError: The audit was complete.
        """
        missed = before.targets
        # A failed audit may have merged nothing, whatever it read. So all of its targets are retried.
        if (record := self.audits.get(before.audit_id)) and record.state != "failed":
            stored = self.documents.read(object_keys.head(before.audit_id))
            missed = _missed(before, stored[0]) if stored else missed
        if not missed:
            raise AuditRequestError(f"retry_of: audit {before.audit_id} saw all of its targets whole")
        shut = {gap.account for gap in before.gaps}
        again = tuple(target for target in missed if target.account not in shut)
        accounts = {target.account for target in missed}
        entered, gaps = self._enabled_targets(who, sorted(shut), before.request.regions or policy.scan.regions)
        return tuple(one for one in before.accounts if one.id in accounts), (*again, *entered), gaps


def batches_of(targets: Sequence[Target]) -> tuple[ScanBatch, ...]:
    """Divide targets into batches for one function call each.

    A batch scans only a few targets at the same time, and the regions of an account follow each other in `targets`. So
    neighbours go to different batches: otherwise, the regions of a large account would wait for each other.
    """
    size = min(MOST_BATCHED, max(1, len(targets) // FEWEST_BATCHES))
    batches = -(-len(targets) // size)
    return tuple(ScanBatch(tuple(map(ScanTask, targets[n::batches]))) for n in range(batches))


type _Selection = tuple[tuple[Account, ...], tuple[Target, ...], tuple[Gap, ...]]
"""Accounts of the organization, targets, and why some of them are not scanned."""


def _missed(plan: AuditPlan, head: str) -> tuple[Target, ...]:
    """Return the incomplete targets of an audit, from the head of its document."""
    whole = {(one["account"], one["region"]) for one in json.loads(head)["scan"]["targets"] if one["complete"]}
    return tuple(target for target in plan.targets if (target.account, target.region) not in whole)


def plan_of(documents: Documents, audit_id: str) -> AuditPlan:
    """Return the plan of an audit.

    Raises:
        NoPlanError: There is none.
    """
    plan = _stored(documents, audit_id)
    if plan is None:
        raise NoPlanError(f"audit {audit_id} has no plan at {object_keys.plan(audit_id)}")
    return plan


def _stored(documents: Documents, audit_id: str) -> AuditPlan | None:
    stored = documents.read(object_keys.plan(audit_id))
    return PLAN.validate_json(stored[0]) if stored else None
