"""EBS volumes: what is included, what is provisioned, and how fast volumes and their instances are.

Sources: Amazon EBS User Guide, "Amazon EBS General Purpose SSD volumes", "Amazon EBS Provisioned IOPS SSD volumes",
"Amazon EBS Throughput Optimized HDD and Cold HDD volumes", "Amazon EBS previous generation volumes"; Amazon EC2 User
Guide, "Amazon EBS-optimized instance types". EBS states throughput in MiB/s, and EC2 bandwidth in Mbps (decimal bits).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import groupby
from math import ceil, inf
from typing import Final, Literal, NamedTuple

from slackwater.model.money import EBS_GP3_THROUGHPUT, Change, ebs_iops, ebs_iops_tier, ebs_storage
from slackwater.model.resources import InstanceType, Volume
from slackwater.model.units import GIB, KIB, MIB, MINUTE_S, TIB

GP3_INCLUDED_IOPS: Final = 3_000
GP3_INCLUDED_MIB_S: Final = 125
GP2_IOPS_PER_GIB: Final = 3
GP2_BURST_IOPS: Final = 3_000
GP2_CREDITS: Final = 5_400_000  # in a full bucket, in I/O operations; the same for every size
GP2_SMALL_GIB: Final = 170
GP2_SMALL_MIB_S: Final = 128
"""The throughput of a gp2 volume of up to 170 GiB. Larger ones have 250 MiB/s if their IOPS are enough."""
MIB_S_PER_IOPS: Final = {"gp3": 0.25, "io1": 16 / KIB, "io2": 0.256}
"""The MiB/s that each IOPS brings (io1, io2) or allows you to provision (gp3)."""
IO1_FLAT_MIB_S: Final = 500  # up to 32,000 IOPS; above, the IOPS decide
IO2_TIER_IOPS: Final = (32_000, 64_000)
"""io2 IOPS have one price up to the first limit, another up to the second, and a third above."""
XEN_PROVISIONED_IOPS: Final = 32_000  # the most for io1 or io2 on an instance that is not built on Nitro
INSTANCE_BURST_S: Final = 30 * MINUTE_S
"""How long an instance sustains its maximum, at least once in 24 hours, if the maximum is above its baseline."""

type Bound = Literal["instance", "volume"]
type Limit = Literal["throughput", "iops"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeType:
    """The limits of a volume type. Pairs are the least and the most."""

    gib: tuple[int, int]
    iops: tuple[int, int]
    most_mib_s: int
    operation_bytes: int = 256 * KIB  # the largest I/O that counts as one operation; EBS splits larger I/O
    iops_per_gib: int | None = None  # how many you may provision; None if the size decides

    def most_iops(self, size_gib: int) -> int:
        """Return the most IOPS to provision at this size. If the size decides the IOPS: the maximum of the type."""
        least, most = self.iops
        return most if self.iops_per_gib is None else max(least, min(most, self.iops_per_gib * size_gib))


VOLUME_TYPES: Final[Mapping[str, VolumeType]] = {
    "gp3": VolumeType(gib=(1, 65_536), iops=(GP3_INCLUDED_IOPS, 80_000), most_mib_s=2_000, iops_per_gib=500),
    "gp2": VolumeType(gib=(1, 16_384), iops=(100, 16_000), most_mib_s=250),
    "io2": VolumeType(gib=(4, 65_536), iops=(100, 256_000), most_mib_s=4_000, iops_per_gib=1_000),
    "io1": VolumeType(gib=(4, 16_384), iops=(100, 64_000), most_mib_s=1_000, iops_per_gib=50),
    "st1": VolumeType(gib=(125, 16_384), iops=(1, 500), most_mib_s=500, operation_bytes=MIB),
    "sc1": VolumeType(gib=(125, 16_384), iops=(1, 250), most_mib_s=250, operation_bytes=MIB),
    "standard": VolumeType(gib=(1, 1_024), iops=(40, 200), most_mib_s=90, operation_bytes=MIB),
}

HDD_MIB_S: Final[Mapping[str, tuple[tuple[int, int], tuple[int, int]]]] = {
    "st1": ((40, 500), (250, 500)),
    "sc1": ((12, 192), (80, 250)),
}
"""Baseline and burst of a hard disk volume, each as MiB/s for each TiB and the maximum MiB/s."""
MAGNETIC_MILLIONS_PER_GIB: Final = 0.2
"""With fewer I/O requests (millions a month per GiB), gp3 costs more. In us-east-1 it is 0.6, so prices decide."""
MAGNETIC_MIB_S: Final = 40  # 40 to 90 MiB/s and 40 to 200 IOPS: Slackwater assumes the lower ends


@dataclass(frozen=True, slots=True)
class Allowance:
    """The most bytes and the most operations a second. Whichever is reached first is the limit."""

    bytes_per_s: float
    iops: float

    @property
    def mib_s(self) -> float:
        """The throughput in MiB/s."""
        return self.bytes_per_s / MIB

    def of(self, unit: str) -> float:
        """Return the limit in this unit, `IOPS` or `MiB/s`."""
        return self.iops if unit == "IOPS" else self.mib_s

    def rate(self, operation_bytes: float) -> float:
        """Return the bytes a second with operations of this size."""
        return min(self.bytes_per_s, self.iops * operation_bytes)

    def limit(self, operation_bytes: float) -> Limit:
        """Return which of the two limits operations of this size reach first."""
        return "throughput" if self.bytes_per_s <= self.iops * operation_bytes else "iops"

    def within(self, other: "Allowance") -> "Allowance":
        """Return the smaller bytes and the smaller operations of both."""
        return Allowance(min(self.bytes_per_s, other.bytes_per_s), min(self.iops, other.iops))


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeLimits:
    """The burst of a volume, while it has credits, and its baseline. If it has no bucket, both are equal."""

    baseline: Allowance
    burst: Allowance
    credits: float  # in a full bucket; each allows one operation above the baseline
    largest_operation_bytes: int

    def operation_bytes(self, io_bytes: float) -> float:
        """Return the average size of the operations into which EBS splits I/O of this size."""
        return io_bytes / ceil(io_bytes / self.largest_operation_bytes)

    def dry_after_s(self, iops: float, balance: float = 1) -> float:
        """Return the seconds until the bucket is empty at this rate. `balance` is a fraction of a full bucket."""
        above = iops - self.baseline.iops
        return balance * self.credits / above if above > 0 else inf

    @property
    def refill_s(self) -> float:
        """The seconds until an empty bucket is full again if there is no I/O."""
        return self.credits / self.baseline.iops


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceLimits:
    """The burst of an instance, which lasts half an hour, and its baseline. If it cannot burst, both are equal."""

    baseline: Allowance
    burst: Allowance


UNBOUND: Final = InstanceLimits(baseline=Allowance(inf, inf), burst=Allowance(inf, inf))  # never the limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A part of a transfer with a constant rate: its duration, its rate, and what limits it."""

    seconds: float
    bytes_per_s: float
    bound_by: Bound
    limit: Limit


def volume_limits(
    volume_type: str, size_gib: int, iops: int | None = None, bytes_per_s: float | None = None
) -> VolumeLimits:
    """Return the limits of a volume. Its throughput is that of the type unless `bytes_per_s` is given.

    `iops` are the provisioned IOPS; None means the fewest possible. For gp2, st1 and sc1 they are only an upper limit.
    """
    kind = VOLUME_TYPES[volume_type]
    bucket = 0
    match volume_type:
        case "gp2":
            base = min(kind.iops[1], max(kind.iops[0], GP2_IOPS_PER_GIB * size_gib))
            throughput = (GP2_SMALL_MIB_S if size_gib <= GP2_SMALL_GIB else kind.most_mib_s) * MIB
            baseline, burst = Allowance(throughput, base), Allowance(throughput, max(base, GP2_BURST_IOPS))
            bucket = GP2_CREDITS
        case "st1" | "sc1":
            mib_s = [min(most, per_tib * size_gib * GIB / TIB) for per_tib, most in HDD_MIB_S[volume_type]]
            baseline, burst = (Allowance(one * MIB, one) for one in mib_s)
            bucket = size_gib * GIB // MIB
        case _:
            provisioned = iops or kind.iops[0]
            baseline = burst = Allowance(included_mib_s(volume_type, provisioned) * MIB, provisioned)
    if iops is not None:
        baseline, burst = (replace(one, iops=min(one.iops, iops)) for one in (baseline, burst))
    if bytes_per_s is not None:
        baseline, burst = (replace(one, bytes_per_s=bytes_per_s) for one in (baseline, burst))
    full = bucket if burst.iops > baseline.iops else 0
    return VolumeLimits(baseline=baseline, burst=burst, credits=full, largest_operation_bytes=kind.operation_bytes)


def included_mib_s(volume_type: str, iops: int) -> float:
    """Return the MiB/s that these IOPS include, for a type whose size does not decide."""
    if volume_type == "standard":
        return MAGNETIC_MIB_S
    if volume_type == "gp3":
        return GP3_INCLUDED_MIB_S
    flat_mib_s = IO1_FLAT_MIB_S if volume_type == "io1" else 0
    return min(VOLUME_TYPES[volume_type].most_mib_s, max(flat_mib_s, iops * MIB_S_PER_IOPS[volume_type]))


def least_iops(volume_type: str, mib_s: float) -> int:
    """Return the fewest IOPS that a gp3, io1 or io2 volume needs for this throughput."""
    needs_more = volume_type != "io1" or mib_s > IO1_FLAT_MIB_S
    return max(VOLUME_TYPES[volume_type].iops[0], ceil(mib_s / MIB_S_PER_IOPS[volume_type]) if needs_more else 0)


def sized_limits(volume_type: str, size_gib: int) -> Allowance | None:
    """Return the burst of a volume whose size decides its IOPS; None if they are provisioned or vary."""
    return volume_limits(volume_type, size_gib).burst if volume_type in {"gp2", *HDD_MIB_S} else None


def st1_gib_for(mib_s: float) -> int:
    """Return the smallest size of an st1 volume with this baseline, in GiB. `mib_s` is at most 500."""
    per_tib, _ = HDD_MIB_S["st1"][0]
    return max(VOLUME_TYPES["st1"].gib[0], ceil(mib_s / per_tib * TIB / GIB))


def instance_limits(instance_type: InstanceType, volume_type: str) -> InstanceLimits | None:
    """Return the limits of an instance for a volume of this type; None if EC2 publishes none."""
    baseline = _allowance(instance_type.ebs_baseline_mbps, instance_type.ebs_baseline_iops)
    burst = _allowance(instance_type.ebs_maximum_mbps, instance_type.ebs_maximum_iops)
    if baseline is None or burst is None:
        return None
    if instance_type.hypervisor == "xen" and volume_type in {"io1", "io2"}:
        most = Allowance(included_mib_s(volume_type, XEN_PROVISIONED_IOPS) * MIB, XEN_PROVISIONED_IOPS)
        baseline, burst = baseline.within(most), burst.within(most)
    return InstanceLimits(baseline=baseline, burst=burst)


def most_of(volume: Volume) -> Allowance:
    """Return the most that a volume can do, including its burst; infinite if the type is unknown."""
    kind = VOLUME_TYPES.get(volume.volume_type)
    if kind is None:
        return UNBOUND.burst
    if volume.volume_type == "standard":
        return Allowance(kind.most_mib_s * MIB, kind.iops[1])
    if volume.volume_type == "gp3":
        return Allowance((volume.throughput_mib_s or kind.most_mib_s) * MIB, volume.iops or kind.iops[1])
    iops = (volume.iops or kind.iops[1]) if kind.iops_per_gib else None
    return volume_limits(volume.volume_type, volume.size_gib, iops).burst


def most_of_all(volumes: Iterable[Volume]) -> Allowance:
    """Return the most that volumes can do together, including their bursts."""
    most = [most_of(volume) for volume in volumes]
    return Allowance(sum(one.bytes_per_s for one in most), sum(one.iops for one in most))


def can_burst(instance_type: InstanceType) -> bool:
    """Return whether an instance's EBS bandwidth or IOPS can exceed their baseline for half an hour."""
    limits = instance_limits(instance_type, "gp3")
    return limits is not None and limits.burst != limits.baseline


def smallest_that_carries(types: Iterable[InstanceType], needed: Allowance) -> InstanceType | None:
    """Return the type with the lowest baseline EBS bandwidth that carries a load without burst; None if none does."""
    carrying = [
        one for one in types if (limits := instance_limits(one, "gp3")) and limits.baseline.within(needed) == needed
    ]
    return min(carrying, key=lambda one: (one.ebs_baseline_mbps, one.vcpus, one.id), default=None)


def _allowance(mbps: float | None, iops: int | None) -> Allowance | None:
    return None if mbps is None or iops is None else Allowance(mbps * 1e6 / 8, iops)


def transfer(size_bytes: float, io_bytes: float, volume: VolumeLimits, instance: InstanceLimits) -> list[Phase]:
    """Return the phases of a transfer, at least one. The volume and the instance start with their full burst."""
    phases = _phases(size_bytes, volume.operation_bytes(io_bytes), volume, instance)
    alike = groupby(phases, key=lambda phase: replace(phase, seconds=0))
    return [replace(phase, seconds=sum(one.seconds for one in parts)) for phase, parts in alike]


def _phases(left: float, operation_bytes: float, volume: VolumeLimits, instance: InstanceLimits) -> Iterator[Phase]:
    """Yield the phases. A phase ends when the instance's half hour ends, the bucket is empty, or nothing is left.

    An instance's limit only falls. So credits that the volume earns afterwards are not needed.
    """
    burst_s, balance = float(INSTANCE_BURST_S), 1.0 if volume.credits else 0.0
    while True:
        allowed: dict[Bound, Allowance] = {  # if both are equal, the volume limits: a larger instance would not help
            "volume": volume.burst if balance else volume.baseline,
            "instance": instance.burst if burst_s > 0 else instance.baseline,
        }
        bound_by, binding = min(allowed.items(), key=lambda one: one[1].rate(operation_bytes))
        rate = binding.rate(operation_bytes)
        moved_s, slower_s = left / rate, burst_s if burst_s > 0 else inf
        dry_s = volume.dry_after_s(rate / operation_bytes, balance) if balance else inf
        seconds = min(moved_s, slower_s, dry_s)
        yield Phase(seconds=seconds, bytes_per_s=rate, bound_by=bound_by, limit=binding.limit(operation_bytes))
        if seconds == moved_s:
            return
        left = max(0.0, left - seconds * rate)
        burst_s -= seconds
        balance *= 1 - seconds / dry_s


def with_headroom(peak: float, headroom_percent: float) -> int:
    """Return the smallest whole number that is `headroom_percent` above a peak."""
    return ceil(round(peak * (1 + headroom_percent / 100), 6))  # float error: 1.1 times 100 must not become 111


class Gp3(NamedTuple):
    """The settings of a gp3 volume."""

    iops: int
    mib_s: int


def gp3_for(size_gib: int, iops: float, mib_s: float) -> Gp3 | None:
    """Return the lowest-cost gp3 settings with at least these IOPS and MiB/s; None if this size cannot have them."""
    kind, throughput = VOLUME_TYPES["gp3"], max(GP3_INCLUDED_MIB_S, ceil(mib_s))
    wanted = max(least_iops("gp3", throughput), ceil(iops))
    return Gp3(wanted, throughput) if wanted <= kind.most_iops(size_gib) and throughput <= kind.most_mib_s else None


def costs_less_than_gp2(size_gib: int, to: Gp3) -> bool:
    """Return whether gp3 with these settings costs less than gp2 of the same size.

    Prices of us-east-1 and Tokyo, September 2026: gp2 costs 25% more; a gp3 GiB costs as much as 2 MiB/s or 16 IOPS.
    """
    return size_gib / 4 > (to.mib_s - GP3_INCLUDED_MIB_S) / 2 + (to.iops - GP3_INCLUDED_IOPS) / 16


def monthly_units(volume: Volume) -> tuple[Change, ...]:
    """Return everything that AWS bills for a volume in a month, attached or not."""
    return units(volume.volume_type, volume.size_gib, volume.iops or 0, volume.throughput_mib_s or 0)


def units(volume_type: str, size_gib: int, iops: int, throughput_mib_s: int) -> tuple[Change, ...]:
    """Return what AWS bills for a volume in a month: the size, and the IOPS and MiB/s above those included."""
    billed = {ebs_storage(volume_type): size_gib}
    if volume_type == "gp3":
        billed[ebs_iops("gp3")] = iops - GP3_INCLUDED_IOPS
        billed[EBS_GP3_THROUGHPUT] = throughput_mib_s - GP3_INCLUDED_MIB_S
    elif volume_type == "io1":
        billed[ebs_iops("io1")] = iops
    elif volume_type == "io2":
        first, second = IO2_TIER_IOPS
        billed[ebs_iops("io2")] = min(iops, first)
        billed |= {ebs_iops_tier(2): min(iops, second) - first, ebs_iops_tier(3): iops - second}
    return tuple(Change(item, Decimal(quantity)) for item, quantity in billed.items() if quantity > 0)
