"""Structured logs, and metrics in the embedded metric format, with the stack's name as their only dimension.

The template sets that name in POWERTOOLS_SERVICE_NAME.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import botocore
from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

if TYPE_CHECKING:
    from slackwater.app.slack.delivery import Notified
    from slackwater.model.audits import AuditRecord

LOGGER: Final = Logger(use_rfc3339=True)  # Lambda takes a line with another kind of time for INFO, whatever it is
METRICS: Final = Metrics(namespace="Slackwater")


def log_start(environment: Mapping[str, str]) -> None:
    """Log which SDK a function uses. The command line logs nothing."""
    if "AWS_LAMBDA_FUNCTION_NAME" in environment:
        LOGGER.info("started", botocore=botocore.__version__)


log_start(os.environ)  # every function imports this module, once a cold start


def emit(values: Mapping[str, int | Decimal]) -> None:
    """Publish metrics: US dollars if the name ends with Usd, else counts."""
    for name, value in values.items():
        METRICS.add_metric(name, MetricUnit.NoUnit if name.endswith("Usd") else MetricUnit.Count, float(value))
    METRICS.flush_metrics()


def of_audit(record: AuditRecord) -> dict[str, int | Decimal]:
    """Return the metrics of an audit that has ended."""
    ended: dict[str, int | Decimal] = {
        "AuditFailed": int(record.state == "failed"),
        "AuditIncomplete": int(record.state == "incomplete"),
    }
    if record.outcome is None:
        return ended
    whole = not record.request.regions and not record.request.detectors
    if whole or record.outcome.incomplete_in_a_row:  # what looked at a part only cannot say that all is well again
        ended["IncompleteInARow"] = record.outcome.incomplete_in_a_row
    return ended | {
        "Findings": record.outcome.findings,
        "MonthlySavingsUsd": record.outcome.monthly_savings_usd,
        "FindingsOpened": record.outcome.opened,
        "FindingsResolved": record.outcome.resolved,
        "Gaps": record.outcome.gaps,
        "AuditCostUsd": record.outcome.estimated_usd,
        "MetricsRequested": record.outcome.metrics_requested,
    }


def of_posts(notified: Notified) -> dict[str, int | Decimal]:
    """Return the metrics of a run that sends Slack posts: how many wait, and how many failed or were refused."""
    return {"SlackPostsFailed": len(notified.troubles), "SlackPostsWaiting": notified.waiting}
