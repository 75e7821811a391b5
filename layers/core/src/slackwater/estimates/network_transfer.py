"""How long a transfer takes once the network credits are gone, and what would carry it.

An instance whose peak is above its baseline starts with a full bucket of credits and bursts on it, usually for 5 to 60
minutes; then it has its baseline. AWS publishes no bucket's size, so the answer is a range.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Final

from pydantic import Field

from slackwater.model.estimates import Alternative, Answer, Estimate, Figure, InputError, Inputs, Known, Result, Usd, of
from slackwater.model.money import VPC_ENDPOINT_GIB, VPC_ENDPOINT_HOUR, Change, amount, ec2_hour, hours
from slackwater.model.quantities import Rate, Size, duration_words, rate_words, size_words
from slackwater.model.resources import InstanceType
from slackwater.model.units import GIB, MINUTE_S
from slackwater.performance import network

REPORT: Final = 'report "Your network I/O credits are zero!" (2023-12-06)'


class NetworkTransfer(Inputs):
    """A transfer through one instance, in one direction."""

    instance_type: str = Field(max_length=64, description="The instance it goes through")
    bytes: Size | None = Field(default=None, description="How much goes through it")
    needed_rate: Rate | None = Field(default=None, description="How fast it should go; as fast as its peak without it")
    families: list[Annotated[str, Field(max_length=32)]] = Field(
        default=[], max_length=20, description="Families to look for a type in; its own and a general one without it"
    )


class Carrier(Result):
    """An instance type, and whether its baseline carries what is needed."""

    instance_type: str = of("Type")
    carries: bool = of("Carries it")
    baseline_mb_per_s: Figure = of("Baseline", "MB/s")
    peak_mb_per_s: Figure = of("Peak", "MB/s")
    hourly_usd: Usd | None = of("Price", "USD/hour")


class Endpoint(Result):
    """A VPC endpoint: what it costs, and whom it helps."""

    hourly_usd: Usd | None = of("By the hour", "USD/hour")
    per_gib_usd: Usd | None = of("By the GiB", "USD/GiB")
    monthly_usd: Usd | None = of("A month of it", "USD/month")
    transfer_usd: Usd | None = of("This transfer", "USD", null="")
    helps: str = of("Whom it helps")


class Endpoints(Result):
    """Ways past the instance, for traffic to AWS services."""

    gateway: Endpoint = of("Gateway endpoint")
    interface: Endpoint = of("Interface endpoint in one zone")


class Transfer(Result):
    """How fast, how long, and on what else."""

    baseline_mb_per_s: Figure = of("Baseline", "MB/s")
    peak_mb_per_s: Figure = of("Peak", "MB/s")
    needed_mb_per_s: Figure = of("Needed", "MB/s")
    seconds_at_baseline: Figure | None = of("With the burst gone", "s", null="")
    seconds_range: tuple[Figure, Figure] | None = of("With a burst of 60 to 5 minutes first", "s", null="")
    instance_types: list[Carrier] = of("The smallest type of each family that carries it, else its largest")
    without_burst: list[Carrier] = of("The smallest of each that carries it and has no burst")
    endpoints: Endpoints = of("Past the instance")


def work(inputs: NetworkTransfer, known: Known) -> Answer[Transfer]:
    """The transfer on the instance's own baseline and burst, then on larger types and past it."""
    this = known.instance_type(inputs.instance_type, "instance_type")
    baseline, peak = network.baseline(this), network.peak(this)
    if not baseline:
        raise InputError("instance_type", f"EC2 publishes no network bandwidth for {this.id}")
    if inputs.needed_rate == 0:
        raise InputError("needed_rate", "must be above 0; leave it out for as fast as the instance can")
    needed = inputs.needed_rate or peak
    at_baseline, at_best, at_worst = None, None, None
    if inputs.bytes is not None:
        slow, fast = min(baseline, needed), min(peak, needed)
        at_baseline = inputs.bytes / slow
        at_worst, at_best = (
            network.transfer_s(inputs.bytes, slow, fast, minutes * MINUTE_S) for minutes in network.BURST_MINUTES
        )
    families = inputs.families or [*filter(None, (this.family, network.general_family(this.id)))]
    by_family = [
        [one for one in known.family(family, "families") if family == this.family or one.vcpus >= this.vcpus]
        for family in dict.fromkeys(families)
    ]
    smallest = network.smallest_that_carries
    steady_by_family = [[one for one in types if not network.can_burst(one)] for types in by_family]
    carriers = [found for types in by_family if (found := smallest(types, needed) or network.largest(types))]
    steady = [found for types in steady_by_family if (found := smallest(types, needed))]
    result = Transfer(
        baseline_mb_per_s=baseline / 1e6,
        peak_mb_per_s=peak / 1e6,
        needed_mb_per_s=needed / 1e6,
        seconds_at_baseline=at_baseline,
        seconds_range=None if at_best is None or at_worst is None else (at_best, at_worst),
        instance_types=[_carrier(one, needed, known) for one in carriers],
        without_burst=[_carrier(one, needed, known) for one in steady],
        endpoints=_endpoints(inputs.bytes, known),
    )
    return Answer(
        summary=_summary(this, inputs, result),
        result=result,
        assumptions=_assumptions(inputs, this),
        sources=(
            'Amazon EC2 User Guide, "Amazon EC2 instance network bandwidth"',
            f"{this.id}: {this.source}",
            REPORT,
        ),
        alternatives=_alternatives(this, carriers, steady, needed, inputs.bytes),
    )


def _summary(this: InstanceType, inputs: NetworkTransfer, result: Transfer) -> str:
    bandwidth = f"{this.id} carries {_mb_words(result.baseline_mb_per_s)} for as long as you like"
    if network.can_burst(this):
        bandwidth += f", and up to {_mb_words(result.peak_mb_per_s)} while its hidden credits last"
    if inputs.bytes is not None and result.seconds_at_baseline is not None and result.seconds_range is not None:
        at_baseline, at_best, at_worst = map(duration_words, (result.seconds_at_baseline, *result.seconds_range))
        bandwidth += f": {size_words(inputs.bytes)} takes {at_baseline}"
        if at_best != at_baseline:
            span = at_best if at_best == at_worst else f"{at_best} to {at_worst}"
            bandwidth += f" with the burst gone, {span} with a burst first"
    carrying = [one.instance_type for one in result.instance_types if one.carries]
    lacking = [one.instance_type.partition(".")[0] for one in result.instance_types if not one.carries]
    some = f"{' or '.join(carrying)} does" if carrying else ""
    none = f"no {' or '.join(lacking)} does" if lacking else ""
    needed = _mb_words(result.needed_mb_per_s)
    if result.needed_mb_per_s <= result.baseline_mb_per_s:
        return f"{bandwidth}."
    return f"{bandwidth}. It does not carry {needed} without credits; {', '.join(filter(None, (some, none)))}."


def _mb_words(mb_per_s: float) -> str:
    return rate_words(mb_per_s * 1e6)


def _assumptions(inputs: NetworkTransfer, this: InstanceType) -> tuple[str, ...]:
    shortest, longest = network.BURST_MINUTES
    flow = f"{network.SINGLE_FLOW_GBPS:g} Gbps"
    said = [
        (
            f"assumed: a burst lasts {shortest} to {longest} minutes, as AWS says it usually does; no bucket's size is"
            " published, and a burst is best effort even with credits"
        ),
        (
            f"rule: one flow carries at most {flow} outside a cluster placement group, and an instance of less than 32 vCPUs"
            " as much through an internet gateway: use several flows"
        ),
        "rule: each direction has an allowance and credits of its own, and a proxy uses both",
        "assumed: nothing else goes through the instance, and neither packets a second nor CPU is its limit",
        "assumed: Linux on demand, list prices",
        "assumed: other families' types are no smaller than it in vCPUs; Graviton and x86 do not run each other's images",
    ]
    if inputs.needed_rate is None:
        said.append(f"assumed: needed is what {this.id} reaches at its peak, as no rate was named")
    return tuple(said)


def _carrier(one: InstanceType, needed: float, known: Known) -> Carrier:
    return Carrier(
        instance_type=one.id,
        carries=network.baseline(one) >= needed,
        baseline_mb_per_s=network.baseline(one) / 1e6,
        peak_mb_per_s=network.peak(one) / 1e6,
        hourly_usd=known.price(ec2_hour(one.id)),
    )


def _endpoints(size: float | None, known: Known) -> Endpoints:
    hour = known.price(VPC_ENDPOINT_HOUR)
    free = Decimal(0)
    return Endpoints(
        gateway=Endpoint(
            hourly_usd=free,
            per_gib_usd=free,
            monthly_usd=free,
            transfer_usd=None if size is None else free,
            helps=FOR_GATEWAY,
        ),
        interface=Endpoint(
            hourly_usd=hour,
            per_gib_usd=known.price(VPC_ENDPOINT_GIB),
            monthly_usd=None if hour is None else hour * known.hours_per_month,
            transfer_usd=None if size is None else known.usd(Change(VPC_ENDPOINT_GIB, amount(size / GIB))),
            helps=FOR_INTERFACE,
        ),
    )


FOR_GATEWAY: Final = (
    "clients inside the VPC that talk to S3 or DynamoDB: they need no proxy then. Not for on-premises traffic: it is reached"
    " only from inside its VPC."
)
FOR_INTERFACE: Final = "anybody who reaches the VPC, on premises too (Direct Connect, VPN), for the AWS service it is made for."


def _alternatives(
    this: InstanceType, carriers: list[InstanceType], steady: list[InstanceType], needed: float, size: float | None
) -> tuple[Alternative, ...]:
    """Types that carry it first, then the largest that do not, then what goes past the instance."""
    rate = rate_words(needed)
    which = {
        one: f"smallest {one.family} that carries {rate}"
        if network.baseline(one) >= needed
        else f"largest {one.family}, which does not carry {rate}"
        for one in carriers
    } | {one: f"smallest {one.family} that carries {rate} and has no burst that could run dry" for one in steady}
    resized = [
        Alternative(
            id=one.id,
            summary=f"{one.id}, the {words}: {rate_words(network.baseline(one))} without credits",
            solves=network.baseline(one) >= needed,
            changes=(Change(ec2_hour(this.id), hours()), Change(ec2_hour(one.id), -hours())),
        )
        for one, words in which.items()
        if one != this
    ]
    endpoint = Change(VPC_ENDPOINT_HOUR, -hours())
    return (
        *sorted(resized, key=lambda one: not one.solves),
        Alternative(
            id="interface-endpoint",
            summary=f"an interface endpoint in one zone takes the traffic past the instance: for {FOR_INTERFACE}",
            solves=True,
            changes=None if size is None else (endpoint, Change(VPC_ENDPOINT_GIB, amount(-size / GIB))),
        ),
        Alternative(id="gateway-endpoint", summary=f"a gateway endpoint is free: for {FOR_GATEWAY}", solves=True, changes=()),
    )


ESTIMATE = Estimate(
    title="How long a transfer takes once the network credits are gone, and what would carry it",
    inputs=NetworkTransfer,
    result=Transfer,
    work=work,
)
