"""Scans one target of an audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from slackwater.app.audit_plan import plan_of
from slackwater.app.policies import Policies
from slackwater.app.scan import Audit
from slackwater.model import object_keys
from slackwater.model.policy import Policy
from slackwater.model.resources import Target
from slackwater.ports import Documents
from slackwater.views import scan_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanner:
    """Everything that scanning a target needs. `audit` wires an audit, with a meter of its own, for a policy."""

    documents: Documents
    policies: Policies
    audit: Callable[[Policy], Audit]

    def scan(self, audit_id: str, target: Target) -> bool:
        """Scan a target as the plan says and put its document, in one piece, at the end. True where it was seen whole.

        Raises:
            NoPlanError: there is no such audit.
            PolicyError: the policy is not there as it was planned with.
        """
        plan = plan_of(self.documents, audit_id)
        policy = self.policies.at(plan.policy, plan.detectors)
        scan = replace(self.audit(policy).run([target], plan.now), id=audit_id)
        self.documents.write(object_keys.target_scan(audit_id, target.account, target.region), scan_json.render(scan))
        return scan.complete
