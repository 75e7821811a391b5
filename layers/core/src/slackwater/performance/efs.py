"""EFS: how fast a file system can be, its burst credits, and what AWS bills for it.

Sources: Amazon EFS User Guide, "Amazon EFS performance", "Amazon EFS quotas" and "Metering"; Amazon EFS pricing. All
values are for the General Purpose performance mode. `standard_bytes` are in Standard, which alone earns throughput.
"""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from math import ceil, inf
from typing import Final, Literal, NamedTuple

from slackwater.model import money
from slackwater.model.metrics import Series
from slackwater.model.money import Change, amount, efs_storage
from slackwater.model.quantities import binary_rate_words, duration_words, size_words
from slackwater.model.resources import EfsFileSystem
from slackwater.model.units import GIB, KIB, MIB, TIB

type EfsMode = Literal["bursting", "provisioned", "elastic"]

EARNED_BYTES_PER_S_PER_GIB: Final = 50 * KIB
"""The burst credits a second that each GiB in Standard earns ("Amazon EFS performance", "Bursting throughput")."""
LEAST_BYTES_PER_S: Final = MIB  # metered; AWS does not say whether credits are also earned at this rate
BURST_BYTES_PER_S: Final = 100 * MIB  # metered, up to 1 TiB; a larger file system has it for each TiB
CREDITS_BYTES: Final = 2_308_974_418_330
"""2.1 TiB: the credits of a new file system, and the most that it can save up to 1 TiB; above, for each TiB."""
READ_DISCOUNT: Final = 3
"""A byte read is metered as a third of a byte written. Elastic throughput bills both in full."""


def earned_bytes_per_s(standard_bytes: float) -> float:
    """Return the credits earned a second, at worst: without the minimum that AWS states for throughput."""
    return EARNED_BYTES_PER_S_PER_GIB * standard_bytes / GIB


def baseline_bytes_per_s(standard_bytes: float) -> float:
    """Return the metered throughput without credits, in bytes a second."""
    return max(LEAST_BYTES_PER_S, earned_bytes_per_s(standard_bytes))


def burst_bytes_per_s(standard_bytes: float) -> float:
    """Return the metered throughput with credits, in bytes a second. A Region may allow less."""
    return BURST_BYTES_PER_S * max(1.0, standard_bytes / TIB)


def full_credits_bytes(standard_bytes: float) -> int:
    """Return the most credits that a file system can have, in bytes. A new file system has as many."""
    return round(CREDITS_BYTES * max(1.0, standard_bytes / TIB))


def metered_bytes(written_bytes: float, read_bytes: float) -> float:
    """Return what these bytes (or rates) are metered as: their cost in credits, and their part of a limit."""
    return written_bytes + read_bytes / READ_DISCOUNT


def seconds_to_empty(credits_bytes: float, metered_bytes_per_s: float, standard_bytes: float) -> float | None:
    """Return how many seconds these credits last; None if the rate is not above the baseline."""
    net = metered_bytes_per_s - baseline_bytes_per_s(standard_bytes)
    return credits_bytes / net if net > 0 else None


def lowest_credits(metered_bytes: Iterable[float], period_s: float, standard_bytes: float, held_bytes: float) -> float:
    """Return the lowest balance of credits if these bytes are metered, one value a period; 0 if the credits run out.

    The balance starts at `held_bytes`. Credits are earned by size alone, the lower reading of AWS's documentation. A
    missing point (NaN) counts as the point before it.
    """
    most, earned, last = full_credits_bytes(standard_bytes), earned_bytes_per_s(standard_bytes) * period_s, 0.0
    balance = lowest = min(most, held_bytes)
    for used in metered_bytes:  # no calls to min, because a file system has ten thousand points
        last = used if used == used else last  # noqa: PLR0124 -- not NaN
        balance += earned - last
        if balance > most:
            balance = most
        elif balance < lowest:
            lowest = balance
    return max(0.0, lowest)


def credits_left(file_system: EfsFileSystem, metered: Iterable[Series], times: float = 1) -> float:
    """Return the lowest balance in bytes, from full credits, if `times` as much is metered as in one of the series."""
    standard, full = file_system.standard_bytes, full_credits_bytes(file_system.standard_bytes)
    return min(lowest_credits((used * times for used in one.values), one.period_s, standard, full) for one in metered)


class Allowance(NamedTuple):
    """The most that clients may read or write: bytes or operations, a second or a month. A mix uses a part of each."""

    read: float
    write: float

    def used(self, read: float, write: float) -> float:
        """Return the share of the allowance that a mix uses. Above 1, the mix is too much."""
        return read / self.read + write / self.write


class Limits(NamedTuple):
    """What a mode allows at any size. Elastic's operations are those before a quota increase.

    `client_bytes_per_s` is for one client, reads and writes together.
    """

    read_ms: float
    write_ms: float
    operations: Allowance
    client_bytes_per_s: float


def limits(mode: EfsMode, *, one_zone: bool) -> Limits:
    """Return what a mode allows ("Amazon EFS performance", summary table).

    Elastic's read limit is for frequently used data; for other data it is 90,000 a second. Its 1,500 MiB/s for one
    client require amazon-efs-utils 2.0 or later, or the EFS CSI driver. Older clients have 500.
    """
    return ONE_ZONE if one_zone else REGIONAL[mode]


ONE_ZONE: Final = Limits(1.0, 1.6, Allowance(35_000, 7_000), 500 * MIB)
REGIONAL: Final[Mapping[EfsMode, Limits]] = {
    "bursting": Limits(1.0, 2.7, Allowance(35_000, 7_000), 500 * MIB),
    "provisioned": Limits(1.0, 2.7, Allowance(55_000, 25_000), 500 * MIB),
    "elastic": Limits(1.0, 2.7, Allowance(250_000, 50_000), 1_500 * MIB),
}

FOUR_REGIONS: Final = frozenset({"us-east-1", "us-east-2", "us-west-2", "eu-west-1"})
ELEVEN_REGIONS: Final = FOUR_REGIONS.union(
    ("ap-south-1", "ap-northeast-1", "ap-northeast-2", "ap-southeast-1", "ap-southeast-2", "eu-central-1", "eu-west-2")
)
ELSEWHERE: Final = Allowance(3 * GIB, GIB)
REGION_ALLOWS: Final[Mapping[EfsMode, tuple[frozenset[str], Allowance, Allowance]]] = {
    "bursting": (FOUR_REGIONS | {"ap-southeast-2"}, Allowance(5 * GIB, 3 * GIB), ELSEWHERE),
    "provisioned": (FOUR_REGIONS, Allowance(10 * GIB, 3.33 * GIB), ELSEWHERE),
    "elastic": (ELEVEN_REGIONS, Allowance(60 * GIB, 5 * GIB), Allowance(20 * GIB, GIB)),
}
"""By mode: Regions in which a Regional file system may be faster, its limit in bytes a second there, and its limit
elsewhere ("Amazon EFS quotas", total throughput)."""


def allows(
    mode: EfsMode, region: str, *, one_zone: bool, standard_bytes: float, provisioned_bytes_per_s: float = 0
) -> Allowance:
    """Return the limit of all clients of a file system together, in bytes a second, with credits if it has any."""
    regions, there, elsewhere = REGION_ALLOWS[mode]
    most = ELSEWHERE if one_zone else there if region in regions else elsewhere
    if mode == "elastic":
        return most
    metered = burst_bytes_per_s(standard_bytes)
    if mode == "provisioned" and not is_bursting(provisioned_bytes_per_s, standard_bytes):
        metered = provisioned_bytes_per_s
    return Allowance(min(READ_DISCOUNT * metered, most.read), min(metered, most.write))


def is_bursting(provisioned_bytes_per_s: float, standard_bytes: float) -> bool:
    """Return whether less is provisioned than the size earns. Then the file system bursts as if in bursting mode."""
    return provisioned_bytes_per_s < baseline_bytes_per_s(standard_bytes)


PROVISIONED_MIB_S: Final = (1, 3_414)
"""The least and the most that you can provision (Amazon EFS API, UpdateFileSystem, ProvisionedThroughputInMibps)."""
INCLUDED_GIB_PER_MIB_S: Final = 20  # in the price of Standard (Amazon EFS pricing, "Provisioned Throughput")

LEAST_DATA_BYTES: Final = 32 * KIB
LEAST_METADATA_BYTES: Final = 4 * KIB
"""The least that Elastic throughput bills for an operation on data or metadata; above, in 1 KiB steps ("Metering")."""


def billed_bytes(operation_bytes: float) -> int:
    """Return the bytes that Elastic throughput bills for one operation on data."""
    return max(LEAST_DATA_BYTES, ceil(operation_bytes / KIB) * KIB)


def elastic_units(read_bytes: float, write_bytes: float, operation_bytes: float | None = None) -> tuple[Change, ...]:
    """Return what Elastic throughput bills for data, in operations of this size; None means 32 KiB or more."""
    factor = billed_bytes(operation_bytes) / operation_bytes if operation_bytes else 1.0
    moved = ((money.EFS_ELASTIC_READ, read_bytes), (money.EFS_ELASTIC_WRITE, write_bytes))
    return tuple(Change(item, amount(size * factor / GIB)) for item, size in moved)


class Moved(NamedTuple):
    """Transferred bytes of one kind, and their number of operations. AWS bills each for at least `least_bytes`."""

    size_bytes: float
    operations: float
    least_bytes: int = LEAST_DATA_BYTES

    @property
    def billed_at_least(self) -> float:
        """The bytes that Elastic throughput bills if all operations have the same size."""
        return max(self.size_bytes, self.operations * self.least_bytes)

    @property
    def billed_at_most(self) -> float:
        """The most bytes that Elastic throughput bills: for no operation more than its size plus the minimum."""
        return self.size_bytes + self.operations * self.least_bytes


def provisioned_units(provisioned_mib_s: float, standard_bytes: float) -> Change:
    """Return the throughput that AWS bills for a month: the provisioned amount above what the size includes."""
    paid = max(0.0, provisioned_mib_s - standard_bytes / GIB / INCLUDED_GIB_PER_MIB_S)
    return Change(money.EFS_PROVISIONED_THROUGHPUT, amount(paid))


def paid_mib_s(file_system: EfsFileSystem, provisioned_mib_s: float) -> float:
    """Return the part of a provisioned amount that the price of storage does not include."""
    return float(provisioned_units(provisioned_mib_s, file_system.standard_bytes).quantity)


def as_written_gib(elastic: tuple[Change, ...]) -> float:
    """Return how many GiB written cost as much as this bill of Elastic. Reads cost half (Amazon EFS pricing)."""
    read, written = elastic
    return float(read.quantity) / 2 + float(written.quantity)


def elastic_for(
    usd: Decimal, cost: Callable[..., Decimal | None], operation_bytes: float | None = None
) -> Allowance | None:
    """Return the bytes that Elastic moves for this amount; None if a price is unknown. `cost` is `Known.usd`."""
    read_usd, write_usd = map(cost, elastic_units(GIB, GIB, operation_bytes))
    return Allowance(GIB * float(usd / read_usd), GIB * float(usd / write_usd)) if read_usd and write_usd else None


NOISE: Final = 1e-9  # the error of binary floats: a share of 1 is within the limit


class Load(NamedTuple):
    """What clients transfer in a month, and their peak in bytes and operations a second.

    The peak has the month's mix of reads and writes. Without figures for the month, all of it counts as writes.
    """

    read_bytes: float
    write_bytes: float
    month_s: float
    peak_bytes_per_s: float
    operations_per_s: float = 0
    operation_bytes: float | None = None

    @property
    def moved_bytes(self) -> float:
        """The bytes that clients move in the month; 0 without figures."""
        return self.read_bytes + self.write_bytes

    @property
    def read_share(self) -> float:
        """The share of reads in the bytes."""
        return self.read_bytes / self.moved_bytes if self.moved_bytes else 0.0

    @property
    def metered_per_byte(self) -> float:
        """What a byte of the mix is metered as."""
        return metered_bytes(1 - self.read_share, self.read_share)

    @property
    def provisioned_mib_s(self) -> int:
        """The MiB/s to provision for the peak."""
        least, most = PROVISIONED_MIB_S
        return min(most, max(least, ceil(self.peak_bytes_per_s * self.metered_per_byte / MIB * (1 - NOISE))))


class Fit(NamedTuple):
    """How well a mode carries a load."""

    allowed: Allowance
    units: tuple[Change, ...] | None  # billed for throughput; None for Elastic without figures for the month
    too_fast: tuple[str, ...]  # why it does not carry the peak
    credits_last_s: float | None  # from full, at the month's average; None if they never run out
    runs_dry: str | None  # why it does not carry the month
    note: str | None  # how long it carries the load, if not forever

    @property
    def carries(self) -> bool:
        """Whether it carries the peak and the month."""
        return not self.too_fast and self.runs_dry is None

    @property
    def why_not(self) -> str | None:
        """Why the mode does not carry the load, as text; None if it does."""
        return "; ".join([*self.too_fast, *filter(None, [self.runs_dry])]) or None


def fits(
    load: Load, region: str, *, one_zone: bool, standard_bytes: float, provisioned_mib_s: float
) -> dict[EfsMode, Fit]:
    """Return how well each mode carries a load."""
    provisioned = provisioned_mib_s * MIB
    units: dict[EfsMode, tuple[Change, ...] | None] = {
        "bursting": (),
        "provisioned": (provisioned_units(provisioned_mib_s, standard_bytes),),
        "elastic": elastic_units(load.read_bytes, load.write_bytes, load.operation_bytes) if load.moved_bytes else None,
    }
    found: dict[EfsMode, Fit] = {}
    for mode, billed in units.items():
        of = {"standard_bytes": standard_bytes, "provisioned_bytes_per_s": provisioned}
        allowed, operations = allows(mode, region, one_zone=one_zone, **of), limits(mode, one_zone=one_zone).operations
        bursting = mode == "bursting" or (mode == "provisioned" and is_bursting(provisioned, standard_bytes))
        credits_ = _credits(load, standard_bytes, allowed.write) if bursting else (None, None, None)
        found[mode] = Fit(allowed, billed, _too_fast(load, allowed, operations), *credits_)
    return found


def cheapest(modes: Mapping[EfsMode, Fit], cost: Callable[..., Decimal | None]) -> EfsMode | None:
    """Return the lowest-cost mode that carries the load; None if there is none at a known cost. `cost` is `Known.usd`.

    Storage costs the same in all modes, so its price is not needed.
    """
    bills = {mode: cost(*fit.units) for mode, fit in modes.items() if fit.carries and fit.units is not None}
    known = {mode: usd for mode, usd in bills.items() if usd is not None}
    return min(known, key=lambda mode: known[mode], default=None)


def _too_fast(load: Load, allowed: Allowance, operations: Allowance) -> tuple[str, ...]:
    """Return the reasons why the limits do not carry the peak; empty if they do."""
    peaks = (
        (allowed, load.peak_bytes_per_s, binary_rate_words),
        (operations, load.operations_per_s, "{:,.0f} operations/s".format),
    )
    return tuple(
        f"the peak is {_times(share)} what it allows, {words(most.read)} read or {words(most.write)} written"
        for most, per_s, words in peaks
        if (share := most.used(per_s * load.read_share, per_s * (1 - load.read_share))) > 1 + NOISE
    )


def _times(share: float) -> str:
    return f"{max(1.01, share):,.2f}".rstrip("0").rstrip(".") + " times"


def _credits(load: Load, standard_bytes: float, most: float) -> tuple[float | None, str | None, str | None]:
    """Return how many seconds full credits last, why they do not carry the month, and a note if they do."""
    baseline = baseline_bytes_per_s(standard_bytes)
    average = metered_bytes(load.write_bytes, load.read_bytes) / load.month_s
    last_s = seconds_to_empty(full_credits_bytes(standard_bytes), min(average, most), standard_bytes)
    if last_s is None:
        size, is_open = size_words(baseline * load.month_s), not load.moved_bytes and load.peak_bytes_per_s > baseline
        note = f"Burst credits last while no more than {size} are written a month, or three times as much is read"
        return None, None, note if is_open else None
    if last_s >= load.month_s:
        return last_s, None, f"Burst credits last for {duration_words(last_s)}"
    rates = f"{binary_rate_words(average)} metered and its baseline {binary_rate_words(baseline)}"
    return last_s, f"the month's average is {rates}, so its credits are gone after {duration_words(last_s)}", None


def bursts(file_system: EfsFileSystem) -> bool:
    """Return whether it depends on credits: in bursting mode, or with less provisioned than its size earns."""
    earns_more = is_bursting((file_system.provisioned_mib_s or inf) * MIB, file_system.standard_bytes)
    return file_system.throughput_mode == "bursting" or (file_system.throughput_mode == "provisioned" and earns_more)


def metered_ceiling(mode: EfsMode, file_system: EfsFileSystem, provisioned_mib_s: float = 0) -> float:
    """Return the metered limit in this mode, in bytes a second; with credits if the file system bursts."""
    region, one_zone = file_system.target.region, file_system.availability_zone is not None
    of = {"standard_bytes": file_system.standard_bytes, "provisioned_bytes_per_s": provisioned_mib_s * MIB}
    return allows(mode, region, one_zone=one_zone, **of).write


def provisioned_for(file_system: EfsFileSystem, metered_bytes_per_s: float) -> int | None:
    """Return the MiB/s to provision; None if AWS does not offer as much, or if the size earns more."""
    amount = max(PROVISIONED_MIB_S[0], ceil(metered_bytes_per_s / MIB * (1 - NOISE)))
    offered = metered_ceiling("provisioned", file_system, amount) >= amount * MIB
    return amount if offered and not is_bursting(amount * MIB, file_system.standard_bytes) else None


def monthly_units(file_system: EfsFileSystem) -> tuple[Change, ...]:
    """Return what AWS bills for an idle file system in a month: storage, and throughput above what is included."""
    one_zone = file_system.availability_zone is not None
    elastic = file_system.throughput_mode == "elastic"
    units = [
        Change(efs_storage(storage_class, one_zone=one_zone, elastic=elastic), amount(size / GIB))
        for storage_class, size in file_system.stored_bytes.items()
    ]
    units.append(provisioned_units(file_system.provisioned_mib_s or 0, file_system.standard_bytes))
    return tuple(unit for unit in units if unit.quantity)
