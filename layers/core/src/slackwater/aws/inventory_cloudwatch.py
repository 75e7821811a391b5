"""Metrics that the CloudWatch agent publishes about the ENA driver's allowances.

CloudWatch finds a metric only by its exact dimensions, and what the agent appends is each installation's choice: so they are
listed, not guessed. ListMetrics shows what had points in the last two weeks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from slackwater.aws.pages import pages
from slackwater.model.resources import AgentMetric, Instance, InstanceType

if TYPE_CHECKING:
    from slackwater.aws.session import AwsSession
    from slackwater.model.fleet import Fleet
    from slackwater.model.resources import Target

ACTIONS: Final = frozenset({"cloudwatch:ListMetrics"})

NAMESPACE: Final = "CWAgent"
METRICS: Final = ("ethtool_bw_in_allowance_exceeded", "ethtool_bw_out_allowance_exceeded")


def agent_metrics(session: AwsSession, target: Target, before: Fleet) -> Iterator[AgentMetric]:
    """The allowance counters of the fleet's instances. Nothing is asked when no instance's network bursts."""
    instances = before.all(Instance)
    if not any(_bursts(before.get(InstanceType, instance.instance_type)) for instance in instances):
        return
    known = {instance.id for instance in instances}
    call = session.client("cloudwatch", target.region).list_metrics
    for name in METRICS:
        for metric in pages(call, "Metrics", Namespace=NAMESPACE, MetricName=name):
            dimensions = {d["Name"]: d["Value"] for d in metric["Dimensions"]}
            instance_id = dimensions.get("InstanceId")
            if instance_id in known:
                yield AgentMetric(
                    id="/".join([name, *(f"{key}={value}" for key, value in sorted(dimensions.items()))]),
                    namespace=NAMESPACE,
                    name=name,
                    instance_id=instance_id,
                    dimensions=tuple(sorted(dimensions.items())),
                )


def _bursts(kind: InstanceType | None) -> bool:
    return (
        kind is not None
        and kind.network_baseline_gbps is not None
        and kind.network_peak_gbps is not None
        and kind.network_peak_gbps > kind.network_baseline_gbps
    )
