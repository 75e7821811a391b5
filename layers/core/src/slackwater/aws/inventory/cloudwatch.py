"""Lists metrics that the CloudWatch agent publishes: the ENA driver's allowances, and disk usage.

CloudWatch finds a metric only by its exact dimensions. Each installation of the agent can add dimensions, so the
metrics are listed instead of guessed. ListMetrics returns metrics that had datapoints in the last two weeks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from slackwater.aws.client.pages import pages
from slackwater.aws.inventory.records import ReadRecord, records
from slackwater.aws.inventory.snapshot import is_any
from slackwater.model.resources import AgentMetric, DiskMetric, Instance, InstanceType

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.aws.inventory.snapshot import Earlier
    from slackwater.model.resources import Target

ACTIONS: Final = frozenset({"cloudwatch:ListMetrics"})

NAMESPACE: Final = "CWAgent"
ALLOWANCES: Final = ("ethtool_bw_in_allowance_exceeded", "ethtool_bw_out_allowance_exceeded")
DISKS: Final = ("disk_used_percent",)


def agent_metrics(session: AwsSession, target: Target, before: Earlier) -> Iterator[ReadRecord[AgentMetric]]:
    """Read the allowance counters of the fleet's instances.

    Makes no call if no instance has burstable network bandwidth.
    """
    used = {instance.instance_type for instance in before.all(Instance)}
    if any(_bursts(before.get(InstanceType, name)) for name in used):
        yield from _listed(session, target, AgentMetric, ALLOWANCES, before)


def disk_metrics(session: AwsSession, target: Target, before: Earlier) -> Iterator[ReadRecord[DiskMetric]]:
    """Read which disk usage metrics the fleet's instances have. Makes no call if there is no instance."""
    if is_any(before, Instance):
        yield from _listed(session, target, DiskMetric, DISKS, before)


def _listed[M: AgentMetric](
    session: AwsSession, target: Target, kind: type[M], names: Iterable[str], before: Earlier
) -> Iterator[ReadRecord[M]]:
    call = session.client("cloudwatch", target.region).list_metrics
    found = (
        (name, metric) for name in names for metric in pages(call, "Metrics", Namespace=NAMESPACE, MetricName=name)
    )

    def read(one: tuple[str, Any]) -> M | None:
        name, metric = one
        dimensions = {each["Name"]: each["Value"] for each in metric.get("Dimensions", ())}
        instance_id = dimensions.get("InstanceId")
        if not instance_id or before.get(Instance, instance_id) is None:
            return None
        return kind(
            id="/".join([name, *(f"{key}={value}" for key, value in sorted(dimensions.items()))]),
            namespace=NAMESPACE,
            name=name,
            instance_id=instance_id,
            dimensions=tuple(sorted(dimensions.items())),
        )

    return records(
        kind,
        found,
        read,
        id_of=lambda one: f"{one[0]} of {_instance_of(one)}",
        owners_of=lambda one: (_instance_of(one),),
    )


def _instance_of(one: tuple[str, Any]) -> str:
    """Return the instance that a metric names, even if another of its dimensions cannot be read."""
    return next(str(each["Value"]) for each in one[1]["Dimensions"] if each.get("Name") == "InstanceId")


def _bursts(kind: InstanceType | None) -> bool:
    return (
        kind is not None
        and kind.network_baseline_gbps is not None
        and kind.network_peak_gbps is not None
        and kind.network_peak_gbps > kind.network_baseline_gbps
    )
