"""What the functions say of themselves: structured logs, and metrics in the embedded format, under the service's name alone."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from slackwater.model.audits import AuditRecord
from slackwater.model.tracking import SERVICE

LOGGER: Final = Logger(service=SERVICE)
METRICS: Final = Metrics(namespace="Slackwater", service=SERVICE)


def emit(values: Mapping[str, int | Decimal]) -> None:
    """Publish metrics: US dollars where the name ends so, counts otherwise."""
    for name, value in values.items():
        METRICS.add_metric(name, MetricUnit.NoUnit if name.endswith("Usd") else MetricUnit.Count, float(value))
    METRICS.flush_metrics()


def of_audit(record: AuditRecord) -> dict[str, int | Decimal]:
    """The metrics of an audit that has ended."""
    ended: dict[str, int | Decimal] = {
        "AuditFailed": int(record.state == "failed"),
        "AuditIncomplete": int(record.state == "incomplete"),
    }
    if record.outcome is None:
        return ended
    return ended | {
        "Findings": record.outcome.findings,
        "MonthlySavingsUsd": record.outcome.monthly_savings_usd,
        "FindingsOpened": record.outcome.opened,
        "FindingsResolved": record.outcome.resolved,
        "Gaps": record.outcome.gaps,
        "AuditCostUsd": record.outcome.estimated_usd,
        "MetricsRequested": record.outcome.metrics_requested,
        "IncompleteInARow": record.outcome.incomplete_in_a_row,
    }
