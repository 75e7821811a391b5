"""How long a transfer takes once the network credits are gone, and what carries it: larger types, endpoints.

An instance whose peak is above its baseline starts with a full bucket of credits and bursts on it, usually for 5 to 60
minutes; then it has its baseline. AWS publishes no bucket's size, so the answer is a range.
"""

from decimal import Decimal
from typing import Annotated, Final

from pydantic import Field

from slackwater.model.estimates import Alternative, Answer, Estimate, Figure, InputError, Inputs, Known, Result, Usd, of
from slackwater.model.money import VPC_ENDPOINT_GIB, VPC_ENDPOINT_HOUR, Change, amount, ec2_hour, hours
from slackwater.model.quantities import Rate, Size, duration_words, own_size_words, rate_words
from slackwater.model.resources import InstanceType
from slackwater.model.units import GIB, MINUTE_S, bytes_per_s_of_gbps
from slackwater.performance import network

REPORT: Final = 'report "Your network I/O credits are zero!" (2023-12-06)'


class NetworkTransfer(Inputs):
    """A transfer through one instance, in one direction."""

    instance_type: str = Field(max_length=64, description="Type of the instance that transfers the data")
    bytes: Size | None = Field(default=None, description="Amount of data to transfer")
    needed_rate: Rate | None = Field(
        default=None,
        description="Rate that you require, and the highest that is used (default: the peak of the instance)",
    )
    families: list[Annotated[str, Field(max_length=32)]] = Field(
        default=[],
        max_length=20,
        description="Instance families to search (default: its own and a general-purpose one)",
    )
    zones: int = Field(
        default=1, ge=1, le=6, description="Number of Availability Zones of an interface endpoint, for its cost"
    )


class Carrier(Result):
    """An instance type, and whether its baseline carries what is needed."""

    instance_type: str = of("Instance type")
    carries: bool = of("Sustains it")
    baseline_mb_per_s: Figure = of("Baseline rate", "MB/s")
    peak_mb_per_s: Figure = of("Peak rate", "MB/s")
    hourly_usd: Usd | None = of("Cost", "USD/hour")


class Endpoint(Result):
    """A VPC endpoint: what it costs, and whom it helps."""

    hourly_usd: Usd | None = of("Cost per hour and zone", "USD/hour")
    per_gib_usd: Usd | None = of("Cost per GiB", "USD/GiB")
    monthly_usd: Usd | None = of("Cost per month, all zones", "USD/month")
    transfer_usd: Usd | None = of("Cost of this transfer", "USD", null="")
    helps: str = of("Suitable for")


class Endpoints(Result):
    """Ways past the instance, for traffic to AWS services."""

    gateway: Endpoint = of("Gateway endpoint")
    interface: Endpoint = of("Interface endpoint")


class Transfer(Result):
    """How fast, how long, and on what else."""

    baseline_mb_per_s: Figure = of("Baseline rate", "MB/s")
    peak_mb_per_s: Figure = of("Peak rate", "MB/s")
    needed_mb_per_s: Figure = of("Required rate", "MB/s")
    seconds_at_baseline: Figure | None = of("Time without network credits", "s", null="")
    seconds_range: tuple[Figure, Figure] | None = of("Time with a 5 to 60-minute burst", "s", null="")
    instance_types: list[Carrier] = of("Smallest type per family that sustains the rate, or else the largest type")
    without_burst: list[Carrier] = of("Smallest type per family that sustains the rate and never depends on credits")
    endpoints: Endpoints = of("VPC endpoints as alternatives")


def work(inputs: NetworkTransfer, known: Known) -> Answer[Transfer]:
    """Calculate the transfer with the instance's own baseline and burst, on larger types, and through endpoints."""
    this = known.instance_type(inputs.instance_type, "instance_type")
    if not network.is_published(this):
        raise InputError("instance_type", f"EC2 publishes no network bandwidth for {this.id}")
    baseline, peak = network.baseline(this), network.peak(this)
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
    by_family = _named(inputs.families, known) if inputs.families else _like(this, known)
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
        endpoints=_endpoints(inputs, known),
    )
    return Answer(
        summary=_summary(this, inputs, result),
        result=result,
        assumptions=_assumptions(inputs, this, needed),
        sources=(
            'Amazon EC2 User Guide, "Amazon EC2 instance network bandwidth"',
            f"{this.id}: {this.source}",
            REPORT,
        ),
        alternatives=_alternatives(this, carriers, steady, needed, inputs),
    )


def _named(families: list[str], known: Known) -> list[list[InstanceType]]:
    return [known.family(family, "families") for family in dict.fromkeys(families)]


def _like(this: InstanceType, known: Known) -> list[list[InstanceType]]:
    """Return the types of its own family, and the types of a general family with at least as many vCPUs."""
    general = network.general_family(this.id)
    larger = (
        [one for one in known.sizes(general) if one.vcpus >= this.vcpus] if general and general != this.family else []
    )
    return [known.sizes(this.family), *([larger] if larger else [])]


def _summary(this: InstanceType, inputs: NetworkTransfer, result: Transfer) -> str:
    size = "" if inputs.bytes is None else own_size_words(inputs.bytes)
    baseline, peak, needed = map(_mb_words, (result.baseline_mb_per_s, result.peak_mb_per_s, result.needed_mb_per_s))
    if inputs.needed_rate is not None and result.needed_mb_per_s <= result.baseline_mb_per_s:
        takes = (
            f" At {needed}, transferring {size} takes {duration_words(result.seconds_at_baseline or 0)}."
            if size
            else ""
        )
        return f"{this.id} sustains the {needed} you need without credits. Its baseline is {baseline}.{takes}"
    text = f"{this.id} sustains {baseline}"
    if network.can_burst(this):
        text += f", and bursts to up to {peak} while its network credits last"
    if result.seconds_at_baseline is not None and result.seconds_range is not None:
        at_baseline, at_best, at_worst = map(duration_words, (result.seconds_at_baseline, *result.seconds_range))
        text += f". Transferring {size} takes {at_baseline}"
        if at_best != at_baseline:
            span = at_best if at_best == at_worst else f"{at_best} to {at_worst}"
            text += f" without credits, or {span} if it starts with a burst"
    return f"{text}." if inputs.needed_rate is None else f"{text}. {_what_carries(this, result, needed)}"


def _what_carries(this: InstanceType, result: Transfer, needed: str) -> str:
    """Return a sentence about a rate above the baseline, and which types carry it."""
    carrying = [one.instance_type for one in result.instance_types if one.carries]
    lacking = [one.instance_type.partition(".")[0] for one in result.instance_types if not one.carries]
    some = f"{' or '.join(carrying)} does" if carrying else ""
    none = f"no {' or '.join(lacking)} does" if lacking else ""
    others = ", ".join(filter(None, (some, none)))
    if result.needed_mb_per_s <= result.peak_mb_per_s:
        return f"It does not sustain {needed} without credits: {others}."
    bursting = " even in a burst" if network.can_burst(this) else ""
    return f"It does not reach {needed}{bursting}. Without credits, {others}."


def _mb_words(mb_per_s: float) -> str:
    return rate_words(mb_per_s * 1e6)


FIRST_TIER_BYTES: Final = 10**15
"""Data through an interface endpoint has its first price up to a petabyte a month, and lower prices above.

Source: AWS PrivateLink pricing.
"""


def _assumptions(inputs: NetworkTransfer, this: InstanceType, needed: float) -> tuple[str, ...]:
    shortest, longest = network.BURST_MINUTES
    lines = []
    if network.can_burst(this) and needed > network.baseline(this):
        lines.append(
            f"assumed: a burst lasts {shortest} to {longest} minutes, which AWS documents as typical. AWS does not "
            "publish the number of credits, and a burst is best effort even with credits."
        )
    if inputs.needed_rate is None:
        lines.append(f"assumed: the required rate is the peak of {this.id}, because you gave no rate.")
    elif inputs.bytes is not None and needed < network.peak(this):
        lines.append("rule: the transfer never exceeds the required rate, even if the instance could transfer faster.")
    if needed > bytes_per_s_of_gbps(network.SINGLE_FLOW_GBPS):
        lines.append(
            f"rule: one flow reaches at most {network.SINGLE_FLOW_GBPS:g} Gbps outside a cluster placement group. The "
            "same limit applies to an instance with fewer than 32 vCPUs through an internet gateway. Use several flows."
        )
    lines += [
        "rule: inbound and outbound traffic have separate limits and credits. A proxy uses both.",
        "assumed: the instance has no other traffic, and neither packets per second nor CPU limits it.",
        "assumed: prices are list prices for On-Demand Linux instances.",
    ]
    general = network.general_family(this.id)
    if not inputs.families and general not in {None, this.family}:
        lines.append(f"assumed: a suitable {general} type has at least as many vCPUs as {this.id}.")
    if inputs.bytes is not None and inputs.bytes > FIRST_TIER_BYTES:
        lines.append(
            "assumed: all data through an interface endpoint has the price of the first petabyte. Above, it costs less."
        )
    return tuple(lines)


def _carrier(one: InstanceType, needed: float, known: Known) -> Carrier:
    return Carrier(
        instance_type=one.id,
        carries=network.baseline(one) >= needed,
        baseline_mb_per_s=network.baseline(one) / 1e6,
        peak_mb_per_s=network.peak(one) / 1e6,
        hourly_usd=known.price(ec2_hour(one.id)),
    )


def _endpoints(inputs: NetworkTransfer, known: Known) -> Endpoints:
    size, hour = inputs.bytes, known.price(VPC_ENDPOINT_HOUR)
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
            monthly_usd=None if hour is None else hour * known.hours_per_month * inputs.zones,
            transfer_usd=None if size is None else known.usd(Change(VPC_ENDPOINT_GIB, amount(size / GIB))),
            helps=FOR_INTERFACE,
        ),
    )


FOR_GATEWAY: Final = (
    "clients inside the VPC that use S3 or DynamoDB, without a proxy. Not for on-premises traffic: a gateway endpoint "
    "is reachable only from inside its VPC."
)
FOR_INTERFACE: Final = (
    "clients that can reach the VPC, also from on premises (Direct Connect or VPN), for one AWS service."
)


def _alternatives(
    this: InstanceType, carriers: list[InstanceType], steady: list[InstanceType], needed: float, inputs: NetworkTransfer
) -> tuple[Alternative, ...]:
    """Return the types that carry the rate, then the largest types that do not, then endpoints."""
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
    size, where = inputs.bytes, "one zone" if inputs.zones == 1 else f"{inputs.zones} zones"
    return (
        *sorted(resized, key=lambda one: not one.solves),
        Alternative(
            id="interface-endpoint",
            summary=f"an interface endpoint in {where} takes the traffic past the instance: for {FOR_INTERFACE}",
            solves=True,
            changes=None
            if size is None
            else (Change(VPC_ENDPOINT_HOUR, -hours(inputs.zones)), Change(VPC_ENDPOINT_GIB, amount(-size / GIB))),
        ),
        Alternative(
            id="gateway-endpoint", summary=f"a gateway endpoint is free: for {FOR_GATEWAY}", solves=True, changes=()
        ),
    )


ESTIMATE = Estimate(
    title="How long a transfer takes without network credits, and which instance types or endpoints sustain it",
    inputs=NetworkTransfer,
    result=Transfer,
    work=work,
)
