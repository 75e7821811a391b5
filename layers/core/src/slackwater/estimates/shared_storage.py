"""What servers should share files on: EFS, FSx for NetApp ONTAP or FSx for OpenZFS, what each costs, and which fits.

EFS bills what is stored and moved; the others bill what is provisioned, from a minimum on. For many small writes it is
not money that decides but how long each waits.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field

from slackwater.model.estimates import (
    Alternative,
    Answer,
    Estimate,
    InputError,
    Inputs,
    Known,
    Result,
    Usd,
    of,
    usd_words,
)
from slackwater.model.money import Change, amount, efs_storage
from slackwater.model.quantities import Rate, Size, size_words
from slackwater.model.units import GIB, HOUR_S, KIB
from slackwater.performance import efs, fsx, nfs
from slackwater.performance.efs import Load

LEAST_OPERATION_BYTES: Final = 4 * KIB
"""Assumed: each of the IOPS moves at least this much."""
REPORT: Final = 'report "Sharing WordPress content on FSx for OpenZFS" (2025-03)'

Service = Literal["efs", "ontap", "openzfs"]
NAMES: Final[Mapping[Service, str]] = {"efs": "EFS", "ontap": "FSx for NetApp ONTAP", "openzfs": "FSx for OpenZFS"}
SUITS: Final[Mapping[Service, str]] = {
    "efs": "serverless and container clients, modest performance",
    "ontap": "SMB or iSCSI besides NFS, many TB, deduplication and tiering, ONTAP tools",
    "openzfs": "EC2 instances that share modest amounts of data at high performance",
}
PROTOCOLS: Final[Mapping[Service, frozenset[str]]] = {
    "efs": frozenset({"nfs"}),
    "ontap": frozenset({"nfs", "smb", "iscsi"}),
    "openzfs": frozenset({"nfs"}),
}


class SharedStorage(Inputs):
    """What has to be shared, and how hard it is used."""

    capacity: Size = Field(description="Amount of data to store")
    throughput: Rate = Field(
        default="0B/s", validate_default=True, description="Peak throughput of all clients together"
    )
    iops: int = Field(default=0, ge=0, le=10**9, description="Peak operations per second of all clients together")
    protocol: Literal["nfs", "smb", "iscsi"] = Field(default="nfs", description="Protocol of the clients")
    multi_az: bool = Field(default=False, description="Require storage that survives the loss of an Availability Zone")
    small_writes: bool = Field(
        default=False, description="Clients write many small files and wait for each write (excludes EFS)"
    )
    read_per_month: Size = Field(default="0B", validate_default=True, description="Data read per month")
    write_per_month: Size = Field(default="0B", validate_default=True, description="Data written per month")


class Offer(Result):
    """One service: what it costs, whether it fits, and why not."""

    monthly_usd: Usd | None = of("Monthly cost", "USD/month")
    fits: bool = of("Fits")
    why_not: str | None = of("Why not", null="")
    configuration: str | None = of("Priced setup", null="none is large enough")
    minimums: str = of("Minimum")
    suits: str = of("Suited to")


class Offers(Result):
    """All three."""

    efs: Offer = of("EFS")
    ontap: Offer = of("FSx for NetApp ONTAP")
    openzfs: Offer = of("FSx for OpenZFS")


class Measured(Result):
    """Writes a second that were measured from one client."""

    storage: str = of("Storage")
    provisioned: str = of("Configuration")
    iops_4_kib: int = of("4 KiB writes", "writes/s")
    iops_1_mib: int = of("1 MiB writes", "writes/s")


class SharedStorageChoice(Result):
    """The services, and the cheapest that fits."""

    recommended: Service | None = of("Lowest-cost service that fits", null="none")
    services: Offers = of("Services")
    measured: list[Measured] = of("Measured write rates of one client")
    caveats: list[str] = of("Warnings", null="")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Priced:
    """The configuration to buy, its billed units, and the reasons against it."""

    configuration: str | None
    units: tuple[Change, ...] | None
    against: tuple[str, ...]
    minimums: str
    note: str | None = None
    """How long it carries the load, if not forever."""


def work(inputs: SharedStorage, known: Known) -> Answer[SharedStorageChoice]:
    """Calculate the cost and the fit of each service for the same demand."""
    if not inputs.capacity:
        raise InputError("capacity", "nothing to share; at least 1B, such as 64GiB")
    month_s = float(known.hours_per_month) * HOUR_S
    load = Load(
        read_bytes=inputs.read_per_month,
        write_bytes=inputs.write_per_month,
        month_s=month_s,
        peak_bytes_per_s=max(
            inputs.throughput,
            inputs.iops * LEAST_OPERATION_BYTES,
            (inputs.read_per_month + inputs.write_per_month) / month_s,
        ),
        operations_per_s=inputs.iops,
    )
    deployment = "MULTI_AZ_1" if inputs.multi_az else "SINGLE_AZ_1"
    ontap = fsx.ontap(deployment, known.region)
    priced: dict[Service, _Priced] = {
        "efs": _efs(inputs, load, known),
        "ontap": _fsx(ontap, inputs, load),
        "openzfs": _fsx(fsx.OPENZFS[deployment], inputs, load),
    }
    offers = {service: _offer(service, one, inputs, known) for service, one in priced.items()}
    recommended, choice = _choice(offers)
    note = recommended and priced[recommended].note
    elastic = _elastic(inputs, load, offers, recommended, known)
    covered = {recommended, "efs"} if elastic else {recommended}
    summary = [choice, *filter(None, [note and f"{note}.", elastic])]
    return Answer(
        summary=" ".join([*summary, *_others(offers, covered)]),
        result=SharedStorageChoice(
            recommended=recommended,
            services=Offers(efs=offers["efs"], ontap=offers["ontap"], openzfs=offers["openzfs"]),
            measured=[
                Measured(
                    storage=one.storage,
                    provisioned=one.provisioned,
                    iops_4_kib=one.iops_4_kib,
                    iops_1_mib=one.iops_1_mib,
                )
                for one in nfs.MEASURED_IOPS
            ],
            caveats=_caveats(inputs, recommended),
        ),
        assumptions=_assumptions(load, ontap),
        sources=(
            REPORT,
            'Amazon EFS User Guide, "Amazon EFS performance"',
            'Amazon EFS User Guide, "Amazon EFS quotas"',
            'Amazon FSx for OpenZFS User Guide, "Performance for SSD storage"',
            'Amazon FSx for NetApp ONTAP User Guide, "File system storage capacity and IOPS"',
            'Amazon FSx API Reference, "CreateFileSystem"',
        ),
        alternatives=tuple(_alternative(service, offer, priced[service]) for service, offer in offers.items()),
    )


def _alternative(service: Service, offer: Offer, priced: _Priced) -> Alternative:
    words = (
        f"{NAMES[service]} does not fit: {offer.why_not}"
        if offer.why_not
        else f"{NAMES[service]}: {offer.configuration}"
    )
    return Alternative(
        id=service,
        summary=f"{words}; {priced.note}" if offer.fits and priced.note else words,
        solves=offer.fits,
        changes=None if priced.units is None else tuple(Change(unit.item, -unit.quantity) for unit in priced.units),
    )


def _efs(inputs: SharedStorage, load: Load, known: Known) -> _Priced:
    """Return EFS in the lowest-cost throughput mode that carries the load."""
    provisioned_mib_s = load.provisioned_mib_s
    fits = efs.fits(
        load,
        known.region,
        one_zone=not inputs.multi_az,
        standard_bytes=inputs.capacity,
        provisioned_mib_s=provisioned_mib_s,
    )
    mode = efs.cheapest(fits, known.usd) or "elastic"
    fit = fits[mode]
    against = []
    if inputs.small_writes:
        against.append(
            f"every small write waits until EFS has replicated it, and one client measured only {nfs.EFS_OPS_PER_S} "
            "writes of 4 KiB per second"
        )
    against += [f"even in Elastic mode {why}" for why in fit.too_fast]
    provisioned = f" of {provisioned_mib_s:,} MiB/s" if mode == "provisioned" else ""
    return _Priced(
        configuration=None
        if fit.too_fast
        else (
            f"{'Regional' if inputs.multi_az else 'One Zone'}, {size_words(inputs.capacity)} in Standard,"
            f" {mode.capitalize()} throughput{provisioned}"
        ),
        units=None if fit.too_fast or fit.units is None else (_stored(inputs), *fit.units),
        against=tuple(against),
        minimums="none: AWS bills the stored data",
        note=fit.note,
    )


def _stored(inputs: SharedStorage) -> Change:
    return Change(efs_storage("Standard", one_zone=not inputs.multi_az, elastic=False), amount(inputs.capacity / GIB))


def _elastic(
    inputs: SharedStorage, load: Load, offers: Mapping[Service, Offer], recommended: Service | None, known: Known
) -> str | None:
    """Return what Elastic throughput would cost, if that depends on figures for the month that the inputs lack.

    It may cost less. Return None if this does not apply.
    """
    storage_usd = known.usd(_stored(inputs))
    offer = offers["efs"]
    if load.moved_bytes or not offer.fits or storage_usd is None or offer.monthly_usd == storage_usd:
        return None
    words = f"EFS with Elastic throughput costs {usd_words(storage_usd)} per month plus the transferred data"
    least_usd = recommended and offers[recommended].monthly_usd
    if least_usd:
        most = efs.elastic_for(least_usd - storage_usd, known.usd)
        if least_usd <= storage_usd or most is None:
            return None
        words += (
            f". In total, it costs less below {size_words(most.write)} written or {size_words(most.read)} read per "
            "month"
        )
    return f"{words}. The load counts as writes. For a definite answer, give read-per-month and write-per-month."


def _fsx(deployment: fsx.Deployment, inputs: SharedStorage, load: Load) -> _Priced:
    bought = fsx.smallest(deployment, stored_bytes=inputs.capacity, bytes_per_s=load.peak_bytes_per_s, iops=inputs.iops)
    largest = deployment.file_servers[-1]
    return _Priced(
        configuration=None
        if bought is None
        else (
            f"{deployment.deployment_type}, {bought.storage_gib:,} GiB of SSD, {bought.throughput_mb_s:,} MB/s,"
            f" {bought.iops:,} IOPS"
        ),
        units=None if bought is None else bought.monthly_units,
        against=()
        if bought
        else (
            (
                f"{deployment.deployment_type} supports at most {deployment.max_gib:,} GiB, {largest.write_mb_s:,} "
                "MB/s "
                f"of writes and {deployment.max_iops:,} IOPS"
            ),
        ),
        minimums=(
            f"{deployment.min_gib:,} GiB of SSD and {deployment.file_servers[0].throughput_mb_s} MB/s,"
            f" with {fsx.INCLUDED_IOPS_PER_GIB} IOPS per GiB"
        ),
    )


def _offer(service: Service, priced: _Priced, inputs: SharedStorage, known: Known) -> Offer:
    against = list(priced.against)
    if inputs.protocol not in PROTOCOLS[service]:
        against.insert(0, f"it does not support {NAMED_PROTOCOLS[inputs.protocol]}")
    return Offer(
        monthly_usd=None if priced.units is None else known.usd(*priced.units),
        fits=not against,
        why_not="; ".join(against) or None,
        configuration=priced.configuration,
        minimums=priced.minimums,
        suits=SUITS[service],
    )


NAMED_PROTOCOLS: Final = {"nfs": "NFS", "smb": "SMB", "iscsi": "iSCSI"}


def _choice(offers: Mapping[Service, Offer]) -> tuple[Service | None, str]:
    """Return the lowest-cost service that fits, with a sentence. If only one fits, its price may be unknown."""
    fitting = [service for service, offer in offers.items() if offer.fits]
    if not fitting:
        return None, "None of these services fits."
    if len(fitting) == 1:
        (only,) = fitting
        return only, f"{NAMES[only]} is the only service that fits: {_price(offers[only])}."
    prices = {service: usd for service in fitting if (usd := offers[service].monthly_usd) is not None}
    if not prices:
        return None, f"{_listed(fitting)} fit, but have no known price."
    cheapest = min(prices, key=lambda service: prices[service])
    unknown = [service for service in fitting if service not in prices]
    if not unknown:
        return cheapest, f"{NAMES[cheapest]} is the lowest-cost service that fits: {_price(offers[cheapest])}."
    has = "has" if len(unknown) == 1 else "have"
    why = f"Of the services that fit and have a known price, {NAMES[cheapest]} costs least: {_price(offers[cheapest])}."
    return cheapest, f"{why} {_listed(unknown)} also fit{'s' if has == 'has' else ''}, but {has} no known price."


def _listed(services: list[Service]) -> str:
    *others, last = (NAMES[service] for service in services)
    return f"{', '.join(others)} and {last}" if others else last


def _price(offer: Offer) -> str:
    usd = "an unknown price" if offer.monthly_usd is None else f"{usd_words(offer.monthly_usd)} per month"
    return f"{usd} ({offer.configuration})"


def _others(offers: Mapping[Service, Offer], covered: Collection[Service | None]) -> list[str]:
    """Return a sentence about each service that does not fit, and each priced service that is not in `covered`."""
    words = []
    for service, offer in offers.items():
        if not offer.fits:
            words.append(f"{NAMES[service]} does not fit: {offer.why_not}.")
        elif service not in covered and offer.monthly_usd is not None:
            words.append(f"{NAMES[service]} costs {_price(offer)}.")
    return words


def _caveats(inputs: SharedStorage, recommended: Service | None) -> list[str]:
    lines = []
    if recommended == "efs" and (inputs.throughput or inputs.iops):
        efs_writes = nfs.MEASURED_IOPS[0]
        lines.append(
            f"One EFS client measured {efs_writes.iops_4_kib} writes of 4 KiB per second, or {efs_writes.iops_1_mib} of"
            " 1 MiB, when each write waited for the previous one. Only parallel writes are faster."
        )
    if recommended == "openzfs" and inputs.small_writes:
        lines.append(
            f"An export is sync unless its options list async. A sync export reaches {nfs.SYNC_OPS_PER_S} small "
            "writes per "
            f"second, regardless of the provisioned IOPS. An async export reaches {nfs.ASYNC_OPS_PER_S:,}. "
            f"{nfs.ASYNC_CAVEAT[0].upper()}{nfs.ASYNC_CAVEAT[1:]}"
        )
    if recommended == "ontap" and inputs.small_writes:
        lines.append("Slackwater has no measurements of small writes on ONTAP. Test it before you buy it.")
    if not inputs.multi_az:
        lines.append(
            "All of these options are in one Availability Zone. If the zone is lost, the data is lost. Keep backups."
        )
    return lines


def _assumptions(load: Load, ontap: fsx.Deployment) -> tuple[str, ...]:
    written = ", ".join(f"{one.throughput_mb_s:,} MB/s sustain {one.write_mb_s:,}" for one in ontap.file_servers)
    lines = [
        (
            "rule: EFS does not fit if you set small-writes, because each small write waits. Without it, EFS fits if "
            "it "
            "supports the protocol and its limits allow the load."
        ),
        "rule: each FSx configuration is the smallest that sustains the load as writes without bursting.",
        (
            "rule: ONTAP replicates each write over its network, so writes are slower than its throughput capacity: "
            f"{written}."
        ),
        f"measured: one t3a.small client measured the writes per second. No price depends on them ({REPORT}).",
        "rule: AWS bills FSx for the provisioned storage, for all throughput, and for IOPS above 3 per GiB.",
        "assumed: FSx's MBps are 10^6 bytes per second. AWS does not document the unit.",
        "assumed: ONTAP is a first-generation file system with one pair of file servers.",
        (
            "assumed: the whole capacity is on SSD and in EFS Standard storage. AWS recommends filling FSx to at "
            "most 80 "
            "%."
        ),
        "assumed: an operation transfers at least 4 KiB.",
        "assumed: prices are list prices, without backups and traffic between zones.",
    ]
    if load.moved_bytes:
        lines.append(
            "rule: the throughput is at least the month's average. On EFS, it has the month's mix of reads and writes."
        )
    else:
        lines.append("assumed: throughput and iops consist of writes, because you gave no data per month.")
    return tuple(lines)


ESTIMATE = Estimate(
    title="Which storage servers should share files on: EFS, FSx for NetApp ONTAP or FSx for OpenZFS",
    inputs=SharedStorage,
    result=SharedStorageChoice,
    work=work,
)
