"""The HTTP API: one function per route."""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic_core import from_json

from slackwater.app.api import requests
from slackwater.app.api.document import document
from slackwater.app.api.estimates import estimate_routes
from slackwater.app.api.problems import answer_problems, route
from slackwater.app.audit.request import check_regions
from slackwater.app.cleanup import responses
from slackwater.app.findings.findings import Action
from slackwater.app.policy.authority import check_auditor, check_decider
from slackwater.app.policy.names import LIST_DETECTORS, LIST_REGIONS
from slackwater.app.telemetry import LOGGER
from slackwater.aws.client.errors import as_aws_error
from slackwater.engine.registry import registry
from slackwater.model.audits import AuditRequest
from slackwater.model.cleanup import ActorNote
from slackwater.model.listing import PAGE, FindingQuery
from slackwater.model.nearest import unknown
from slackwater.views.api import to_json as service_json
from slackwater.views.api.document import (
    AuditDetailDocument,
    AuditPageDocument,
    FindingDetailDocument,
    FindingPageDocument,
    ReportDocument,
    StartedDocument,
    TrackedFindingDocument,
)
from slackwater.views.cleanup.backups import BackupListDocument
from slackwater.views.cleanup.document import (
    ApprovedDocument,
    CleanupDetailDocument,
    CleanupDocument,
    CleanupPageDocument,
    PlanDocument,
    RunDocument,
    SwitchDocument,
)
from slackwater.views.estimates import to_json as estimate_json
from slackwater.views.estimates.document import EstimateDocument
from slackwater.wiring.scan import clock
from slackwater.wiring.service import serving
from slackwater.wiring.settings import DeploymentSettings

SERVING = serving(DeploymentSettings.of(os.environ))
API = APIGatewayHttpResolver(json_body_deserializer=from_json)
answer_problems(API, as_aws_error)


@LOGGER.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_HTTP, clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Return the response to one request."""
    return API.resolve(event, context)


@route(API.get, "/findings", "A page of findings")
def list_findings(
    status: requests.StatusFilter = "open",
    detector: requests.DetectorFilter = None,
    account: requests.AccountFilter = None,
    region: requests.RegionFilter = None,
    severity: requests.SeverityFilter = None,
    minimum_monthly_savings_usd: requests.Minimum = None,
    sort: requests.Order = "-monthly_savings_usd",
    limit: requests.Limit = PAGE,
    cursor: requests.Cursor = None,
) -> FindingPageDocument:
    """List findings."""
    if detector is not None and (problem := unknown("detector", [detector], registry(), LIST_DETECTORS)):
        raise requests.invalid(["query", "detector"], *problem)
    query = FindingQuery(
        status=status,
        detector=detector,
        account=account,
        region=region,
        severity=severity,
        minimum_monthly_savings_usd=None
        if minimum_monthly_savings_usd is None
        else Decimal(minimum_monthly_savings_usd),
        order=sort,
        limit=limit,
        cursor=cursor,
    )
    return service_json.finding_page(SERVING.findings.store.list(query))


@route(API.get, "/findings/<id>", "The finding with its evidence and its ledger", 404)
def show_finding(id: requests.Id) -> FindingDetailDocument:
    """Show a finding."""
    shown = SERVING.findings.shown(id)
    return service_json.finding_detail(shown.finding, shown.ledger, shown.evidence)


@route(API.post, "/findings/<id>/snooze", "The finding as it is now", 404, 409, 413, 415)
def snooze_finding(id: requests.Id, body: requests.SnoozeBody) -> TrackedFindingDocument:
    """Snooze a finding for a while."""
    return decide(id, "snooze", body.why, body.until or clock() + timedelta(days=body.days or 0))


@route(API.post, "/findings/<id>/dismiss", "The finding as it is now", 404, 409, 413, 415)
def dismiss_finding(id: requests.Id, body: requests.DismissBody) -> TrackedFindingDocument:
    """Dismiss a finding, for a while or for good."""
    return decide(id, "dismiss", body.why, body.until)


@route(API.post, "/findings/<id>/reopen", "The finding as it is now", 404, 409, 413, 415)
def reopen_finding(id: requests.Id, body: requests.ReopenBody = requests.JUST_REOPEN) -> TrackedFindingDocument:
    """Reopen a finding."""
    return decide(id, "reopen", body.why, None)


@route(
    API.post, "/findings/<id>/approve", "The finding as it is now, and the result for its clean-up", 404, 409, 413, 415
)
def approve_finding(id: requests.Id, body: requests.ApproveBody) -> ApprovedDocument:
    """Approve the clean-up of a finding, and begin it."""
    who = requests.caller(API.current_event)
    approved = SERVING.cleanups.approve(id, who=who, fingerprint=body.fingerprint, now=clock())
    LOGGER.info("approved", finding_id=id, begun=approved.candidate and approved.candidate.state, who=who)
    return responses.approved(approved)


@route(API.get, "/cleanups/plan", "What a run would do now, and why it would skip the rest", 404, 409)
def plan_cleanups(findings: requests.Ids = None) -> PlanDocument:
    """Plan clean-ups: say what a run would do now."""
    return responses.plan(SERVING.cleanups.plan(findings.split(",") if findings else None, now=clock()))


@route(API.post, "/cleanups", "The clean-ups that started, and the reasons for those that did not", 404, 409, 413, 415)
def run_cleanups(body: requests.RunBody = requests.RUN_ALL) -> RunDocument:
    """Run clean-ups: start the named ones, or all that are approved or need no approval."""
    who = requests.caller(API.current_event)
    results = SERVING.cleanups.run(body.findings or None, who=who, now=clock())
    LOGGER.info("run", begun=[one.finding.id for one in results if one.state == "begun"], who=who)
    return responses.run(results)


@route(API.get, "/cleanups", "A page of clean-ups")
def list_cleanups(limit: requests.Limit = PAGE, cursor: requests.Cursor = None) -> CleanupPageDocument:
    """List clean-ups, the newest first. Only the first page has the totals of all clean-ups."""
    cleanups = SERVING.cleanups
    found, now = cleanups.listed(limit, cursor), clock()
    return responses.page(found, None if cursor else cleanups.totals(found, now), cleanups.control().stopped, now)


@route(API.get, "/cleanups/backups", "All backups, the oldest first")
def list_backups(region: requests.RegionFilter = None) -> BackupListDocument:
    """List every backup in the account that carries Slackwater's tags."""
    regions = [region] if region else []
    return responses.backups(SERVING.backups().listed(require_known_regions(regions, ["query", "region"])))


@route(
    API.post,
    "/cleanups/backups/adopt",
    "The record of the adopted backup; undo it to restore from the backup",
    404,
    409,
    413,
    415,
)
def adopt_backup(body: requests.AdoptBody) -> CleanupDocument:
    """Adopt a backup that this deployment has not recorded, so that you can restore from it."""
    who, now = requests.caller(API.current_event), clock()
    regions = require_known_regions([body.region] if body.region else [], ["body", "region"])
    note = ActorNote(who=who, why=body.why, at=now)
    adopted = SERVING.backups().adopt(body.backup, note, places=body.places, regions=regions)
    LOGGER.info("adopted", backup=body.backup, finding_id=adopted.finding_id, who=who)
    return responses.cleanup(adopted, now)


@route(API.get, "/cleanups/<id>", "The clean-up with the ledger of its finding", 404)
def show_cleanup(id: requests.Id) -> CleanupDetailDocument:
    """Show the clean-up of a finding: all that happened to its resource."""
    now = clock()
    return responses.cleanup_detail(SERVING.cleanups.shown(id, now=now), now)


@route(API.post, "/cleanups/<id>/undo", "The clean-up as it is now; the undo has been requested", 404, 409, 413, 415)
def undo_cleanup(id: requests.Id, body: requests.ReasonBody = requests.NO_REASON) -> CleanupDocument:
    """Undo the clean-up of a finding: restore what it deleted, or change back what it changed."""
    who, now = requests.caller(API.current_event), clock()
    undoing = SERVING.cleanups.undo(id, who=who, why=body.why, now=now)
    LOGGER.info("undoing", finding_id=id, who=who)
    return responses.cleanup(undoing, now)


@route(API.post, "/cleanups/<id>/stop", "The clean-up as it is now; its next step cancels it", 404, 409, 413, 415)
def stop_cleanup(id: requests.Id, body: requests.ReasonBody = requests.NO_REASON) -> CleanupDocument:
    """Stop the clean-up of a finding."""
    who, now = requests.caller(API.current_event), clock()
    stopped = SERVING.cleanups.stop(id, who=who, why=body.why, now=now)
    LOGGER.info("stopped", finding_id=id, who=who)
    return responses.cleanup(stopped, now)


@route(API.post, "/cleanups/stop", "Who stopped all clean-ups", 409, 413, 415)
def stop_cleanups(body: requests.ReasonBody = requests.NO_REASON) -> SwitchDocument:
    """Stop all clean-ups, and prevent new ones from starting."""
    who = requests.caller(API.current_event)
    stopped = SERVING.cleanups.stop_all(who=who, why=body.why, now=clock())
    LOGGER.info("stopped all", who=who)
    return responses.switch(stopped)


@route(API.post, "/cleanups/go-on", "Clean-ups may start again", 409, 413, 415)
def let_cleanups_go_on() -> SwitchDocument:
    """Resume clean-ups."""
    who = requests.caller(API.current_event)
    before = SERVING.cleanups.resume(who=who)
    LOGGER.info("resumed", who=who, stopped_by=before and before.who)
    return responses.switch(None)


@route(
    API.post,
    "/audits",
    "The audit has started",
    409,
    413,
    415,
    status=202,
    headers={"Location": "The URL of the audit"},
)
def start_audit(
    body: requests.StartBody = requests.POLICY_DEFAULTS, idempotency_key: requests.IdempotencyKey = None
) -> Response[StartedDocument]:
    """Start an audit."""
    who = requests.caller(API.current_event)
    check_auditor(who, SERVING.policy)  # a callable: the check handles an unreadable policy
    request = AuditRequest(
        requested_by=who,
        regions=tuple(body.regions),
        detectors=tuple(body.detectors),
        accounts=tuple(body.accounts),
        retry_of=body.retry_of,
    )
    if request.regions:
        check_regions(request, SERVING.known_regions())
    id_ = SERVING.audits.start(request, idempotency_key)
    LOGGER.info("started", audit_id=id_, requested_by=who)
    return Response(HTTPStatus.ACCEPTED, requests.JSON, StartedDocument(id=id_), {"Location": f"/audits/{id_}"})


@route(API.get, "/audits", "A page of audits")
def list_audits(limit: requests.Limit = PAGE, cursor: requests.Cursor = None) -> AuditPageDocument:
    """List audits, the newest first. Only the first page has the remaining allowance."""
    page = SERVING.audits.listed(limit, cursor)
    return service_json.audit_page(page, None if cursor else SERVING.audits.allowance())


@route(API.get, "/audits/<id>", "The audit with what it covered, and a link to its scan document", 404)
def show_audit(id: requests.Id) -> AuditDetailDocument:
    """Show an audit."""
    return SERVING.audits.shown(id)


@route(
    API.get,
    "/reports/latest",
    "A redirect to the report",
    404,
    status=302,
    headers={"Location": "The URL of the report, valid for at most 15 minutes"},
)
def show_latest_report() -> Response[ReportDocument]:
    """Show the report of the newest audit that has ended."""
    found = SERVING.audits.latest_report()
    return Response(HTTPStatus.FOUND, requests.JSON, found, {"Location": found["url"], "Cache-Control": "no-store"})


@estimate_routes(API)
def estimate(kind: str, given: Mapping[str, Any]) -> EstimateDocument[dict[str, Any]]:
    """Return an estimate for resources that need not exist yet. `given` is the request body as it was sent."""
    return estimate_json.document(SERVING.estimates().answer(kind, given))


@route(API.get, "/openapi.json", "OpenAPI 3.1")
def show_openapi() -> dict[str, Any]:
    """Show this document."""
    return document(API, API.current_event)


def require_known_regions(regions: list[str], where: Sequence[str]) -> list[str]:
    """Return the regions.

    Raises:
        RequestValidationError: A region does not exist.
    """
    if problem := unknown("region", regions, SERVING.known_regions(), LIST_REGIONS):
        raise requests.invalid(where, *problem)
    return regions


def decide(id: str, action: Action, why: str, until: datetime | None) -> TrackedFindingDocument:
    """Store the caller's decision about a finding, and return the finding."""
    who = requests.caller(API.current_event)
    check_decider(who, SERVING.policy())
    finding = SERVING.findings.decided(id, action, ActorNote(who=who, why=why, at=clock()), until=until)
    LOGGER.info("decided", finding_id=id, action=action, status=finding.status, who=who)
    return service_json.tracked_finding(finding)
