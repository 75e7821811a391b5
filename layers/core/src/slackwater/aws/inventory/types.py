"""Reads the limits of the fleet's instance types, and of types that an instance could change to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from slackwater.aws.client.pages import pages
from slackwater.aws.inventory.records import ReadRecord, by_filter, named, records
from slackwater.aws.pricing.packaged import type_snapshot
from slackwater.model.resources import Instance, InstanceType
from slackwater.performance.network import GENERAL_FAMILIES

if TYPE_CHECKING:
    from slackwater.aws.client.session import AwsSession
    from slackwater.aws.inventory.snapshot import Earlier
    from slackwater.model.resources import Target

ACTIONS: Final = frozenset({"ec2:DescribeInstanceTypes"})


def instance_types(session: AwsSession, target: Target, before: Earlier) -> Iterator[ReadRecord[InstanceType]]:
    """Read the types that the fleet uses from EC2, and other sizes of their families from the packaged snapshot.

    The packaged values also apply to types that the region no longer offers.
    """
    used = sorted({instance.instance_type for instance in before.all(Instance)})
    if not used:
        return
    families = {name.partition(".")[0] for name in used} | {*GENERAL_FAMILIES.values()}
    # The packaged types come first, so that EC2's descriptions replace them in the fleet.
    yield from (kind for kind in type_snapshot() if kind.family in families)
    call = session.client("ec2", target.region).describe_instance_types
    # Use a filter: with type names, one type that the region does not have fails the whole call.
    found = by_filter(lambda filters: pages(call, "InstanceTypes", Filters=filters), "instance-type")(used)
    yield from records(InstanceType, found, instance_type, id_of=named("InstanceType"))


def instance_type(found: Any) -> InstanceType:
    """Return the type that an item of DescribeInstanceTypes describes."""
    cards = found.get("NetworkInfo", {}).get("NetworkCards", [])
    ebs = found.get("EbsInfo", {}).get("EbsOptimizedInfo", {})
    return InstanceType(
        id=found["InstanceType"],
        vcpus=found["VCpuInfo"]["DefaultVCpus"],
        hypervisor=_hypervisor(found),
        network_baseline_gbps=_sum_over(cards, "BaselineBandwidthInGbps"),
        network_peak_gbps=_sum_over(cards, "PeakBandwidthInGbps"),
        network_cards=len(cards),
        ebs_baseline_mbps=ebs.get("BaselineBandwidthInMbps"),
        ebs_maximum_mbps=ebs.get("MaximumBandwidthInMbps"),
        ebs_baseline_iops=ebs.get("BaselineIops"),
        ebs_maximum_iops=ebs.get("MaximumIops"),
        source="ec2:DescribeInstanceTypes",
    )


def _hypervisor(found: Any) -> Literal["nitro", "xen", "other"]:
    name = found.get("Hypervisor")  # EC2 names none for bare metal
    return cast("Literal['nitro', 'xen']", name) if name in {"nitro", "xen"} else "other"


def _sum_over(cards: list[Any], key: str) -> float | None:
    values = [card.get(key) for card in cards]
    return round(sum(values), 6) if values and None not in values else None
