"""How long a transfer to or from an EBS volume takes, and whether the volume or the instance binds.

A volume is only as fast as the instance's EBS bandwidth. Both may burst: a gp2, st1 or sc1 volume on its credits, a
smaller instance for half an hour.
"""

from collections.abc import Iterable
from decimal import Decimal
from math import ceil
from typing import Final, Literal

from pydantic import Field

from slackwater.model.estimates import (
    LIST_TYPES,
    Alternative,
    Answer,
    Estimate,
    Figure,
    InputError,
    Inputs,
    Known,
    Result,
    Usd,
    of,
)
from slackwater.model.money import Change, ec2_hour, hours
from slackwater.model.nearest import did_you_mean
from slackwater.model.quantities import Rate, Size, duration_words, own_size_words, rate_words, size_words
from slackwater.model.resources import InstanceType
from slackwater.model.units import GIB, MIB, MINUTE_S
from slackwater.performance import ebs
from slackwater.performance.ebs import Bound, InstanceLimits, Limit, Phase, VolumeLimits

REPORT: Final = 'report "The performance of EBS-optimised instances" (2017-07-10)'
BLOCK_BYTES: Final = 512
"""The smallest I/O of a block device."""


class EbsTransfer(Inputs):
    """A transfer to or from one volume, through one instance."""

    instance_type: str = Field(max_length=64, description="Type of the instance that the volume is attached to")
    volume_type: Literal["gp3", "gp2", "io1", "io2", "st1", "sc1", "standard"] = Field(
        default="gp3", description="Type of the volume"
    )
    size: Size = Field(description="Size of the volume")
    bytes: Size = Field(description="Amount of data to write or read")
    volume_throughput: Rate | None = Field(
        default=None, description="Provisioned throughput (gp3), or a limit that replaces the limit of the volume type"
    )
    volume_iops: int | None = Field(
        default=None,
        ge=1,
        description="Provisioned IOPS (gp3, io1, io2), or a limit that replaces the limit of the volume type",
    )
    io_size: Size = Field(default="1MiB", validate_default=True, description="Size of one I/O (EBS splits large ones)")


class TransferPhase(Result):
    """A part of the transfer in which nothing changes."""

    seconds: Figure = of("Time", "s")
    mb_per_s: Figure = of("Throughput", "MB/s")
    bound_by: Literal["instance", "volume"] = of("Limited by")
    limit: Literal["throughput", "iops"] = of("Kind of limit")


class EbsTransferred(Result):
    """How long, how fast, what binds, and on what it would not."""

    seconds: Figure = of("Time", "s")
    mb_per_s: Figure = of("Average throughput", "MB/s")
    bound_by: Literal["instance", "volume"] = of("Limited most of the time by")
    limit: Literal["throughput", "iops"] = of("Kind of limit")
    phases: list[TransferPhase] = of("Phases of the transfer")
    instance_mb_per_s: Figure = of("EBS throughput of the instance", "MB/s")
    instance_burst_mb_per_s: Figure = of("Instance throughput in a 30-minute burst", "MB/s")
    volume_mb_per_s: Figure = of("Throughput of the volume", "MB/s")
    volume_burst_mb_per_s: Figure = of("Volume throughput with burst credits", "MB/s")
    volume_refill_seconds: Figure | None = of("Time to refill all credits without load", "s", null="")
    unbound_seconds: Figure = of("Time if the instance is not the limit", "s")
    volume_monthly_usd: Usd | None = of("Cost of the volume", "USD/month")
    hourly_usd: Usd | None = of("Cost of the instance", "USD/hour")
    smallest_unbound_instance_type: str | None = of("Smallest size that is not the limit", null="none")
    smallest_unbound_hourly_usd: Usd | None = of("Cost of that size", "USD/hour")


def work(inputs: EbsTransfer, known: Known) -> Answer[EbsTransferred]:
    """Calculate the phases of the transfer, and the smallest type of the family that never limits it."""
    this = known.instance_type(inputs.instance_type, "instance_type")
    instance = ebs.instance_limits(this, inputs.volume_type)
    if instance is None:
        raise InputError(
            "instance_type", f"EC2 publishes no EBS bandwidth for {this.id}{_like(this, known.types.values())}"
        )
    if inputs.io_size < BLOCK_BYTES:
        raise InputError("io_size", f"an I/O has at least {BLOCK_BYTES}B")
    volume = _volume(inputs)
    operation_bytes = volume.operation_bytes(inputs.io_size)
    phases = ebs.transfer(inputs.bytes, inputs.io_size, volume, instance)
    alone = ebs.transfer(inputs.bytes, inputs.io_size, volume, ebs.UNBOUND)
    bound_by, limit = _most_of_the_time(phases)
    unbound = _smallest_unbound(known.family(this.family, "instance_type"), inputs.volume_type, volume, operation_bytes)
    result = EbsTransferred(
        seconds=_seconds(phases),
        mb_per_s=(inputs.bytes / _seconds(phases) if inputs.bytes else phases[0].bytes_per_s) / 1e6,
        bound_by=bound_by,
        limit=limit,
        phases=[
            TransferPhase(seconds=one.seconds, mb_per_s=one.bytes_per_s / 1e6, bound_by=one.bound_by, limit=one.limit)
            for one in phases
        ],
        instance_mb_per_s=instance.baseline.rate(operation_bytes) / 1e6,
        instance_burst_mb_per_s=instance.burst.rate(operation_bytes) / 1e6,
        volume_mb_per_s=volume.baseline.rate(operation_bytes) / 1e6,
        volume_burst_mb_per_s=volume.burst.rate(operation_bytes) / 1e6,
        volume_refill_seconds=volume.refill_s if volume.credits else None,
        volume_monthly_usd=_volume_usd(inputs, known),
        hourly_usd=known.price(ec2_hour(this.id)),
        unbound_seconds=_seconds(alone),
        smallest_unbound_instance_type=unbound.id if unbound else None,
        smallest_unbound_hourly_usd=known.price(ec2_hour(unbound.id)) if unbound else None,
    )
    return Answer(
        summary=_summary(inputs, this, result),
        result=result,
        assumptions=_assumptions(inputs, this, instance, volume),
        sources=(
            f'Amazon EBS User Guide, "{PAGES[inputs.volume_type]}"',
            'Amazon EC2 User Guide, "Amazon EBS-optimized instance types"',
            f"{this.id}: {this.source}",
            REPORT,
        ),
        alternatives=_alternatives(this, unbound, result),
    )


PAGES: Final = {
    "gp3": "Amazon EBS General Purpose SSD volumes",
    "gp2": "Amazon EBS General Purpose SSD volumes",
    "io1": "Amazon EBS Provisioned IOPS SSD volumes",
    "io2": "Amazon EBS Provisioned IOPS SSD volumes",
    "st1": "Amazon EBS Throughput Optimized HDD and Cold HDD volumes",
    "sc1": "Amazon EBS Throughput Optimized HDD and Cold HDD volumes",
    "standard": "Amazon EBS previous generation volumes",
}


def _volume(inputs: EbsTransfer) -> VolumeLimits:
    name, kind = inputs.volume_type, ebs.VOLUME_TYPES[inputs.volume_type]
    size_gib = ceil(inputs.size / GIB)
    smallest, largest = kind.gib
    if not smallest <= size_gib <= largest:
        raise InputError("size", f"a volume of type {name} has {smallest}GiB to {largest}GiB")

    iops, (least_iops, _), most_iops = inputs.volume_iops, kind.iops, kind.most_iops(size_gib)
    least_mib_s, most_mib_s, why = 0.0, float(kind.most_mib_s), ""
    if sized := ebs.sized_limits(name, size_gib):
        most_iops = int(sized.iops)
        if name != "gp2":
            most_mib_s, why = sized.iops, f" with {size_gib} GiB"
    allowed = f"{least_iops} to {most_iops}" if least_iops < most_iops else f"{least_iops}"
    if iops is None and name in {"io1", "io2"}:
        raise InputError(
            "volume_iops", f"{name} has what is provisioned, {allowed} IOPS for {size_gib} GiB: say how many"
        )
    if iops is not None and not least_iops <= iops <= most_iops:
        ratio = f", up to {kind.iops_per_gib} for each GiB" if kind.iops_per_gib else ""
        raise InputError("volume_iops", f"a volume of type {name} and {size_gib} GiB has {allowed} IOPS{ratio}")

    if name == "gp3":
        iops = iops or ebs.GP3_INCLUDED_IOPS
        least_mib_s, most_mib_s = ebs.GP3_INCLUDED_MIB_S, min(kind.most_mib_s, iops * ebs.MIB_S_PER_IOPS[name])
        why = f" with {iops} IOPS, {ebs.MIB_S_PER_IOPS[name]:g} for each of them"
    throughput = inputs.volume_throughput
    if throughput is not None and not (throughput > 0 and least_mib_s <= throughput / MIB <= most_mib_s):
        least = f"{least_mib_s:g}MiB/s to" if least_mib_s else "more than nothing, and at most"
        raise InputError("volume_throughput", f"a volume of type {name} has {least} {most_mib_s:g}MiB/s{why}")
    return ebs.volume_limits(name, size_gib, iops, throughput)


def _volume_usd(inputs: EbsTransfer, known: Known) -> Decimal | None:
    throughput_mib_s = ceil((inputs.volume_throughput or 0) / MIB)
    return known.usd(*ebs.units(inputs.volume_type, ceil(inputs.size / GIB), inputs.volume_iops or 0, throughput_mib_s))


def _like(this: InstanceType, types: Iterable[InstanceType]) -> str:
    """Return a question with the most similar type for which EC2 publishes a bandwidth; empty if there is none."""
    size = this.id.removeprefix(this.family)
    alike = [one.id for one in types if one.id[0] == this.id[0] and one.id.endswith(size) and one.ebs_baseline_mbps]
    return f"; {did_you_mean(this.id, alike, LIST_TYPES)}" if alike else ""


def _seconds(phases: Iterable[Phase]) -> float:
    return sum(phase.seconds for phase in phases)


def _most_of_the_time(phases: Iterable[Phase]) -> tuple[Bound, Limit]:
    seconds: dict[tuple[Bound, Limit], float] = {}
    for phase in phases:
        seconds[phase.bound_by, phase.limit] = seconds.get((phase.bound_by, phase.limit), 0) + phase.seconds
    return max(seconds, key=lambda binding: seconds[binding])


def _smallest_unbound(
    family: Iterable[InstanceType], volume_type: str, volume: VolumeLimits, operation_bytes: float
) -> InstanceType | None:
    """Return the type with the lowest baseline EBS bandwidth that carries the volume's burst; None if none does."""
    needed = volume.burst.rate(operation_bytes)
    unbound = [
        one
        for one in family
        if (limits := ebs.instance_limits(one, volume_type)) and limits.baseline.rate(operation_bytes) >= needed
    ]
    return min(unbound, key=lambda one: (one.ebs_baseline_mbps, one.vcpus, one.id), default=None)


def _summary(inputs: EbsTransfer, this: InstanceType, result: EbsTransferred) -> str:
    average = " on average" if len(result.phases) > 1 else ""
    mostly = " most of the time" if len({(one.bound_by, one.limit) for one in result.phases}) > 1 else ""
    binding = "the volume's" if result.bound_by == "volume" else f"{this.id}'s EBS"
    limit = "IOPS" if result.limit == "iops" else "throughput"
    instance = _rates(result.instance_mb_per_s, result.instance_burst_mb_per_s, "for 30 minutes")
    volume = _rates(result.volume_mb_per_s, result.volume_burst_mb_per_s, "while its burst credits last")
    if result.smallest_unbound_instance_type is None:
        unbound = f"No {this.family} sustains the volume's maximum throughput."
    else:
        time = (
            f" The transfer then takes {duration_words(result.unbound_seconds)}."
            if result.bound_by == "instance"
            else ""
        )
        smallest = result.smallest_unbound_instance_type
        unbound = f"{smallest} is the smallest {this.family} that does not limit the volume.{time}"
    return (
        f"Transferring {own_size_words(inputs.bytes)} takes {duration_words(result.seconds)} at"
        f" {rate_words(result.mb_per_s * 1e6)}{average}. The limit{mostly} is {binding} {limit}. {this.id} sustains"
        f" {instance}. The volume sustains {volume}. {unbound}"
    )


def _rates(baseline_mb_per_s: float, burst_mb_per_s: float, how_long: str) -> str:
    baseline, burst = (rate_words(mb_per_s * 1e6) for mb_per_s in (baseline_mb_per_s, burst_mb_per_s))
    return baseline if baseline == burst else f"{baseline}, and bursts to {burst} {how_long}"


def _assumptions(
    inputs: EbsTransfer, this: InstanceType, instance: InstanceLimits, volume: VolumeLimits
) -> tuple[str, ...]:
    lines = [
        (
            f"assumed: each I/O that reaches EBS has {size_words(inputs.io_size)}. EBS splits an I/O larger than"
            f" {size_words(volume.largest_operation_bytes)} into several operations. Enough I/O runs in parallel to "
            "reach the limits."
        ),
        (
            "assumed: the other end of the transfer is fast enough, and nothing else uses the instance's EBS "
            "bandwidth. The volume is initialised: the first read of a block from a snapshot is slower."
        ),
        "rule: EC2 publishes decimal Mbps (8 Mbps are 1 MB/s). EBS uses MiB of 1,048,576 bytes.",
        (
            f"rule: the smallest type that does not limit the volume is the {this.family} with the lowest baseline EBS "
            "bandwidth, then the fewest vCPUs. Its baseline sustains the volume's maximum throughput with I/O of this "
            "size, burst included."
        ),
        "assumed: prices are list prices for On-Demand Linux instances.",
    ]
    if inputs.size % GIB:
        lines.append(f"assumed: a volume has whole GiB. This one has {ceil(inputs.size / GIB):,} GiB.")
    if volume.credits:
        lines.append("assumed: the volume's burst bucket is full at the start.")
    if instance.burst != instance.baseline:
        minutes = ebs.INSTANCE_BURST_S // MINUTE_S
        lines.append(
            f"rule: {this.id} reaches its maximum for {minutes} minutes at least once every 24 hours. This estimate "
            "counts one burst, from the start."
        )
    if inputs.volume_type in {"io1", "io2"} and this.hypervisor == "xen":
        lines.append(
            f"rule: {this.id} is not built on Nitro, so it supports at most {ebs.XEN_PROVISIONED_IOPS:,} IOPS to an "
            f"{inputs.volume_type} volume."
        )
    if inputs.volume_type == "standard":
        lines.append(
            "assumed: a magnetic volume has 40 to 200 IOPS and 40 to 90 MiB/s. The estimate uses the lower ends unless "
            "you give other values. AWS also bills its I/O."
        )
    return tuple(lines)


def _alternatives(this: InstanceType, unbound: InstanceType | None, result: EbsTransferred) -> tuple[Alternative, ...]:
    if unbound is None or unbound == this:
        return ()
    return (
        Alternative(
            id=unbound.id,
            summary=(
                f"{unbound.id}, the smallest {this.family} whose baseline carries all that the volume can do,"
                f" {rate_words(result.volume_burst_mb_per_s * 1e6)}"
            ),
            solves=result.bound_by == "instance",
            changes=(Change(ec2_hour(this.id), hours()), Change(ec2_hour(unbound.id), -hours())),
        ),
    )


ESTIMATE = Estimate(
    title="How long a transfer to or from an EBS volume takes, and whether the volume or the instance limits it",
    inputs=EbsTransfer,
    result=EbsTransferred,
    work=work,
)
