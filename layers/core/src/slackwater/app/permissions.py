"""What each function, wired as in `wiring`, and each person needs IAM to allow. The template's roles allow just this."""

from __future__ import annotations

from typing import Final

from slackwater.aws import (
    audit_starter,
    audit_store,
    background,
    cloudwatch,
    documents,
    event_bus,
    finding_store,
    identity,
    instance_types,
    inventory,
    outbox,
    pricing,
    regions,
    request_guard,
    secrets,
    stack,
)

PLAN: Final = identity.ACTIONS | regions.ACTIONS | documents.READ | documents.WRITE | audit_store.AUDIT_CLAIM
SCAN: Final = (
    inventory.ACTIONS | cloudwatch.ACTIONS | pricing.ACTIONS | documents.READ | documents.READ_VERSION | documents.WRITE
)
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
    documents.READ | audit_starter.ACTIONS | audit_store.AUDIT_READ | finding_store.FINDING_READ | finding_store.FINDING_WRITE
)
ESTIMATE: Final = pricing.ACTIONS | instance_types.ACTIONS
"""What an estimate asks, if it may: what is packaged stands in."""
SERVE: Final = DECIDE | ESTIMATE
ACKNOWLEDGE: Final = secrets.ACTIONS | request_guard.ACTIONS | background.ACTIONS
ANSWER: Final = secrets.ACTIONS | outbox.READ | DECIDE | identity.ACTIONS | regions.ACTIONS
OPERATE: Final = (
    DECIDE | documents.READ_VERSION | documents.WRITE | documents.HISTORY | stack.ACTIONS | identity.ACTIONS | secrets.ACTIONS
)
"""Everything that the command line does with the deployed service."""
