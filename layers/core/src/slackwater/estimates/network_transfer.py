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
from slackwater.model.units import GIB, MINUTE_S, bytes_per_s_of_gbps
from slackwater.performance import network

REPORT: Final = 'report "Your network I/O credits are zero!" (2023-12-06)'


class NetworkTransfer(Inputs):
    """A transfer through one instance, in one direction."""

    instance_type: str = Field(description="The instance it goes through")
    bytes: Size | None = Field(default=None, description="How much goes through it")
    needed_rate: Rate | None = Field(default=None, description="How fast it should go; as fast as its peak without it")
    families: list[Annotated[str, Field(pattern="^[a-z0-9-]+$")]] = Field(
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
    """A VPC endpoint, an interface endpoint in one Availability Zone."""

    hourly_usd: Usd | None = of("By the hour", "USD/hour")
    per_gib_usd: Usd | None = of("By the GiB", "USD/GiB")
    monthly_usd: Usd | None = of("A month of it", "USD/month")
    transfer_usd: Usd | None = of("This transfer", "USD")
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
    seconds_at_baseline: Figure | None = of("With the burst gone", "s")
    seconds_range: tuple[Figure, Figure] | None = of("With a burst of 60 to 5 minutes first", "s")
    instance_types: list[Carrier] = of("The smallest type of each family that carries it, else its largest")
    without_burst: list[Carrier] = of("The smallest of each family that carries it and has no burst: it never drops")
    endpoints: Endpoints = of("Past the instance")


def work(inputs: NetworkTransfer, known: Known) -> Answer[Transfer]:
    """The transfer on the instance's own baseline and burst, then on larger types and past it."""
    this = known.instance_type(inputs.instance_type, "instance_type")
    if this.network_baseline_gbps is None or this.network_peak_gbps is None:
        raise InputError("instance_type", f"EC2 publishes no network bandwidth for {this.id}")
    baseline, peak = (bytes_per_s_of_gbps(gbps) for gbps in (this.network_baseline_gbps, this.network_peak_gbps))
    needed = inputs.needed_rate or peak
    at_baseline, at_best, at_worst = None, None, None
    if inputs.bytes is not None:
        at_baseline = inputs.bytes / min(baseline, needed)
        at_worst, at_best = (
            network.transfer_s(inputs.bytes, min(baseline, needed), min(peak, needed), minutes * MINUTE_S)
            for minutes in network.BURST_MINUTES
        )
    families = inputs.families or [*dict.fromkeys(filter(None, (this.family, network.general_family(this.id))))]
    by_family = [
        [one for one in known.family(family, "families") if family == this.family or one.vcpus >= this.vcpus]
        for family in families
    ]
    carriers = [found for types in by_family if (found := _smallest(types, needed))]
    steady = [found for types in by_family if (found := network.smallest_that_carries(_steady(types), _gbps(needed)))]
    return Answer(
        summary=_summary(this, baseline, peak, needed, inputs.bytes, at_baseline, at_best, at_worst),
        result=Transfer(
            baseline_mb_per_s=baseline / 1e6,
            peak_mb_per_s=peak / 1e6,
            needed_mb_per_s=needed / 1e6,
            seconds_at_baseline=at_baseline,
            seconds_range=None if at_best is None or at_worst is None else (at_best, at_worst),
            instance_types=[_carrier(one, needed, known) for one in carriers],
            without_burst=[_carrier(one, needed, known) for one in steady],
            endpoints=_endpoints(inputs.bytes, known),
        ),
        assumptions=_assumptions(inputs, this),
        sources=(
            'Amazon EC2 User Guide, "Amazon EC2 instance network bandwidth"',
            f"{this.id}: {this.source}",
            REPORT,
        ),
        alternatives=_alternatives(this, [*carriers, *steady], needed, inputs.bytes or 0),
    )


def _summary(
    this: InstanceType,
    baseline: float,
    peak: float,
    needed: float,
    size: float | None,
    at_baseline: float | None,
    at_best: float | None,
    at_worst: float | None,
) -> str:
    bandwidth = f"{this.id} has {rate_words(baseline)} for as long as you like"
    if peak > baseline:
        bandwidth += f", and up to {rate_words(peak)} while its hidden credits last"
    if size is None or at_baseline is None or at_best is None or at_worst is None:
        verdict = "carries" if baseline >= needed else "does not carry"
        return f"{bandwidth}: it {verdict} {rate_words(needed)}."
    words = f"{bandwidth}: {size_words(size)} take {duration_words(at_baseline)} with the burst gone"
    if at_best == at_baseline:
        return f"{words}."
    if round(at_best) == round(at_worst):
        return f"{words}, {duration_words(at_best)} within a burst."
    return f"{words}, {duration_words(at_best)} to {duration_words(at_worst)} with a burst first."


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


def _steady(types: list[InstanceType]) -> list[InstanceType]:
    return [one for one in types if not network.can_burst(one)]


def _smallest(types: list[InstanceType], needed: float) -> InstanceType | None:
    return network.smallest_that_carries(types, _gbps(needed)) or network.largest(types)


def _gbps(bytes_per_s: float) -> float:
    return bytes_per_s * 8 / 1e9


def _carrier(one: InstanceType, needed: float, known: Known) -> Carrier:
    baseline = bytes_per_s_of_gbps(one.network_baseline_gbps or 0)
    return Carrier(
        instance_type=one.id,
        carries=baseline >= needed,
        baseline_mb_per_s=baseline / 1e6,
        peak_mb_per_s=bytes_per_s_of_gbps(one.network_peak_gbps or 0) / 1e6,
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


def _alternatives(this: InstanceType, carriers: list[InstanceType], needed: float, size: float) -> tuple[Alternative, ...]:
    others = {one.id: one for one in carriers if one.id != this.id}
    now = Change(ec2_hour(this.id), hours())
    return (
        *(_resized(one, needed, (now, Change(ec2_hour(one.id), -hours()))) for one in others.values()),
        Alternative(
            id=INTERFACE,
            summary=f"an interface endpoint in one zone takes the traffic past the instance: for {FOR_INTERFACE}",
            solves=True,
            changes=(Change(VPC_ENDPOINT_HOUR, -hours()), Change(VPC_ENDPOINT_GIB, amount(-size / GIB))),
        ),
        Alternative(id=GATEWAY, summary=f"a gateway endpoint is free: for {FOR_GATEWAY}", solves=True, changes=()),
    )


INTERFACE: Final = "interface-endpoint"
GATEWAY: Final = "gateway-endpoint"


def _resized(one: InstanceType, needed: float, changes: tuple[Change, ...]) -> Alternative:
    baseline = bytes_per_s_of_gbps(one.network_baseline_gbps or 0)
    carries = baseline >= needed
    steady = "" if network.can_burst(one) else "; it has no burst that could run dry"
    which = "the smallest of its family that" if carries else "the largest of its family, which"
    return Alternative(
        id=one.id,
        summary=(
            f"{one.id}, {which} {'carries' if carries else 'does not carry'} {rate_words(needed)}: {rate_words(baseline)}"
            f" without credits{steady}"
        ),
        solves=carries,
        changes=changes,
    )


ESTIMATE = Estimate(
    title="How long a transfer takes once the network credits are gone, and what would carry it",
    inputs=NetworkTransfer,
    result=Transfer,
    work=work,
)
