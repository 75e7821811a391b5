"""Plans an audit: which policy, which questions, where. What its scans have in common is fixed before the first starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

from slackwater.app.audit_request import check_detectors, check_regions
from slackwater.app.policies import Policies
from slackwater.aws.identity import Identity
from slackwater.model import object_keys
from slackwater.model.audits import AuditPlan, AuditRecord, AuditRequest
from slackwater.model.resources import Target
from slackwater.ports import AuditStore, Clock, Documents

PLAN: Final = TypeAdapter(AuditPlan)


class NoPlanError(Exception):
    """An audit that nobody planned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Everything that planning needs."""

    policies: Policies
    documents: Documents
    audits: AuditStore
    identity: Callable[[], Identity]
    clock: Clock

    def plan(self, audit_id: str, request: AuditRequest) -> AuditPlan | None:
        """Plan an audit and put it on record. Planned again, it stays as it was.

        None where there is nothing to do: its occasion is another audit's, or it has ended (an id may come again after months).

        Raises:
            PolicyError: the policy is not valid.
            AuditRequestError: a detector or region that nobody knows.
        """
        if request.occasion and self.audits.claim(request.occasion, audit_id) != audit_id:
            return None
        record = self.audits.get(audit_id)
        if record and record.state != "running":
            return None
        plan = _stored(self.documents, audit_id)
        if plan is None:
            plan = self._made(audit_id, request)
            if not self.documents.write_once(object_keys.plan(audit_id), PLAN.dump_json(plan, indent=2).decode()):
                plan = plan_of(self.documents, audit_id)  # another try was faster, and scans may have begun by its plan
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

    def _made(self, audit_id: str, request: AuditRequest) -> AuditPlan:
        check_detectors(request, self.policies.registry)
        policy = self.policies.current(request.detectors)
        if not {*request.regions} <= {*self.policies.known_regions()}:
            check_regions(request, {*self.policies.known_regions(), *self.policies.enabled_regions()})
        regions = request.regions or policy.scan.regions or self.policies.enabled_regions()
        who = self.identity()
        return AuditPlan(
            audit_id=audit_id,
            now=self.clock().replace(second=0, microsecond=0),
            request=request,
            policy=policy.version,
            detectors=tuple(policy.limits),
            targets=tuple(Target(who.account, region, who.partition) for region in dict.fromkeys(regions)),
        )


def plan_of(documents: Documents, audit_id: str) -> AuditPlan:
    """The plan of an audit.

    Raises:
        NoPlanError: there is none.
    """
    plan = _stored(documents, audit_id)
    if plan is None:
        raise NoPlanError(f"audit {audit_id} has no plan at {object_keys.plan(audit_id)}")
    return plan


def _stored(documents: Documents, audit_id: str) -> AuditPlan | None:
    stored = documents.read(object_keys.plan(audit_id))
    return PLAN.validate_json(stored[0]) if stored else None
